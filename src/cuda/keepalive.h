/* keepalive.h - objects that must live until the work queued so far on a stream is done. */
#ifndef PYGPU_CUDA_KEEPALIVE_H
#define PYGPU_CUDA_KEEPALIVE_H

#include "cuda/stream.h"

/* Keeps owner alive until the work queued so far on the stream is done, or as long as the graph if
 * the stream is being captured. Never waits and never fails for the caller, except that without
 * memory it waits for the work. Call with the GIL held, after the asynchronous call. */
void cud_keepalive(State *state, Context *context, CUstream handle, Stream *stream,
                   PyObject *owner);
/* The same for the host memory of a copy of this size. Small copies are batched, so their memory
 * may be kept for a few more copies. */
void cud_keepalive_copy(State *state, Context *context, CUstream handle, Stream *stream,
                        PyObject *owner, size_t size);
/* Releases what is no longer used. Called from time to time by calls that are not hot, and by
 * every synchronization. */
void cud_keepalive_drain(State *state);
/* The same after a wait for the stream, or for all streams of the context, that began when
 * cud_keepalive_mark() returned that number. */
unsigned long cud_keepalive_mark(void);
void cud_keepalive_done(State *state, Context *context, CUstream handle, int all,
                        unsigned long mark);
/* Call before a capture begins, and before a stream is destroyed: closes the open batch of
 * copies. */
void cud_keepalive_close(void);
void cud_keepalive_stream_gone(CUstream handle);
/* Call before a context is destroyed: waits for what is kept in it, then releases it. */
void cud_keepalive_forget(State *state, Context *context);
/* Nothing refers to the context any more: frees what was kept in it for reuse. */
void cud_keepalive_context_gone(Context *context);

#endif
