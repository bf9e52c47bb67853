/* keepalive.h - what must live until the work queued so far on a stream is done. */
#ifndef PYGPU_CUDA_KEEPALIVE_H
#define PYGPU_CUDA_KEEPALIVE_H

#include "cuda/stream.h"

/* Keeps owner alive until the work queued so far on the stream is done (or with the graph, if the
 * stream is being captured). Never waits, never fails for the caller: without memory the work is
 * waited for. GIL held, after the asynchronous call. */
void cud_keepalive(State *state, Context *context, CUstream handle, Stream *stream,
                   PyObject *owner);
/* The same for the host memory of a copy of so many bytes; that of small copies may be kept until a
 * few more have come. */
void cud_keepalive_copy(State *state, Context *context, CUstream handle, Stream *stream,
                        PyObject *owner, size_t size);
/* Lets go of what is over; called now and then by calls that are not hot, and by every
 * synchronization. */
void cud_keepalive_drain(State *state);
/* The same after a wait for the stream, or all streams of the context, that began when
 * cud_keepalive_mark() gave that number. */
unsigned long cud_keepalive_mark(void);
void cud_keepalive_done(State *state, Context *context, CUstream handle, int all,
                        unsigned long mark);
/* Before a capture begins, and before a stream goes: no more copies join those that are kept
 * together. */
void cud_keepalive_close(void);
void cud_keepalive_stream_gone(CUstream handle);
/* Before a context is destroyed: waits for what is held in it and lets it go. */
void cud_keepalive_forget(State *state, Context *context);
/* Nobody refers to the context any more: what was kept for it to be used again goes too. */
void cud_keepalive_context_gone(Context *context);

#endif
