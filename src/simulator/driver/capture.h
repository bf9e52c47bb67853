/* capture.h - work that goes into a graph instead of running; what a running capture forbids. */
#ifndef PYGPU_SIM_CAPTURE_H
#define PYGPU_SIM_CAPTURE_H

#include "simulator/driver/work.h"

typedef struct SimContext SimContext;
typedef struct SimStream SimStream;
/* A place in a capture: what an event recorded there stands for. */
typedef struct SimCaptured SimCaptured;

/* A call that a running capture forbids (it would wait or have effects at once): fails and spoils
 * the capture. */
CUresult sim_capture_forbid(SimContext *context, const char *what);
/* A call that waits for, or asks about, this stream. */
CUresult sim_capture_forbid_stream(SimStream *stream, const char *what);
/* Takes the place of queueing while a stream is captured. */
CUresult sim_capture_work(SimStream *stream, SimWork *work);
CUresult sim_capture_record(SimStream *stream,
                            SimCaptured **out); /* NULL: the stream is not captured */
CUresult sim_capture_join(SimStream *stream, SimCaptured *captured);
CUresult sim_capture_spoil(SimStream *stream, CUresult status, const char *text);
void sim_capture_abandon(SimStream *stream);   /* the stream is destroyed */
void sim_captured_keep(SimCaptured *captured); /* NULL does nothing */
void sim_captured_drop(SimCaptured *captured);

uint64_t sim_this_thread(void); /* a number for each thread, from 1 */

#endif
