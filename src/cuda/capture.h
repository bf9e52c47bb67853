/* capture.h - stream captures, for the code that queues work. */
#ifndef PYGPU_CUDA_CAPTURE_H
#define PYGPU_CUDA_CAPTURE_H

#include "cuda/stream.h"

enum { CAPTURE_NONE, CAPTURE_BEGUN, CAPTURE_JOINED, CAPTURE_ENDING }; /* Stream.capturing */
extern long cud_capturing; /* number of streams between begin_capture() and end_capture() */
/* Call after queueing work on the stream. If the stream is being captured, the graph keeps owner
 * alive, and this returns 1. Never fails for the caller. */
int cud_capture_keep(State *state, CUstream handle, Stream *stream, PyObject *owner);
/* Call when the stream was made to wait for an event: if the event belongs to a capture, the
 * stream joins it. */
void cud_capture_join(Stream *stream);
/* Call when the stream goes away without end_capture(): discards what was captured. */
void cud_capture_abandon(Stream *stream);

#endif
