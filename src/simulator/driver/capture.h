/* capture.h - adds work to a graph instead of running it; forbids calls during a capture. */
#ifndef PYGPU_SIM_CAPTURE_H
#define PYGPU_SIM_CAPTURE_H

#include "simulator/driver/work.h"

typedef struct SimContext SimContext;
typedef struct SimStream SimStream;
/* A position in a capture, which an event recorded there stands for. */
typedef struct SimCaptured SimCaptured;

/* For a call that a running capture forbids, because it would wait or take effect at once: fails
 * and invalidates the capture. */
CUresult sim_capture_forbid(SimContext *context, const char *what);
/* For a call that waits for, or queries, this stream. */
CUresult sim_capture_forbid_stream(SimStream *stream, const char *what);
/* Replaces queueing while a stream is captured. */
CUresult sim_capture_work(SimStream *stream, SimWork *work);
CUresult sim_capture_record(SimStream *stream,
                            SimCaptured **out); /* NULL: the stream is not captured */
CUresult sim_capture_join(SimStream *stream, SimCaptured *captured);
CUresult sim_capture_invalidate(SimStream *stream, CUresult status, const char *text);
void sim_capture_abandon(SimStream *stream);   /* when the stream is destroyed */
void sim_captured_keep(SimCaptured *captured); /* accepts NULL */
void sim_captured_drop(SimCaptured *captured);

uint64_t sim_this_thread(void); /* a number for each thread, from 1 */

#endif
