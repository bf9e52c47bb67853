/* capture.h - captures of streams, as those need to know them who queue work. */
#ifndef PYGPU_CUDA_CAPTURE_H
#define PYGPU_CUDA_CAPTURE_H

#include "cuda/stream.h"

enum { CAPTURE_NONE, CAPTURE_BEGUN, CAPTURE_JOINED, CAPTURE_ENDING }; /* Stream.capturing */
extern long cud_capturing; /* streams with begin_capture() and without end_capture() */
/* Work has been queued on the stream: if it is part of a capture, the graph keeps owner, and this
 * is 1. Never fails for the caller. */
int cud_capture_keep(State *state, CUstream handle, Stream *stream, PyObject *owner);
/* The stream waits for an event from now on: if that is of a capture, the stream takes part in
 * it. */
void cud_capture_join(Stream *stream);
/* The stream goes without end_capture(): what was captured goes too. */
void cud_capture_abandon(Stream *stream);

#endif
