/* stream.h - streams, and waiting for their work. */
#ifndef PYGPU_CUDA_STREAM_H
#define PYGPU_CUDA_STREAM_H

#include "cuda/context.h"

struct Stream {
    CUD_HEAD
    CUstream handle;
    CUstream spare; /* its stream from before a subclass's __init__ chose the flags; destroyed
                     * together with it */
    Context *context;
    PyObject *owner; /* another library's stream object, which lives as long as this one */
    int owned;
    int capturing;      /* between begin_capture and end_capture */
    PyObject *captured; /* list of what the commands captured so far use; moves into the graph */
    Stream *next;       /* next in State.streams */
};

/* Walks cud_streams: returns a new reference to the next one, starting at *from*, and releases
 * *last*, because code may run that creates and destroys streams. */
Stream *cud_stream_next(Stream *from, Stream *last);
/* None or NULL means the default stream, with *object NULL. Otherwise a Stream, an int, or
 * anything with __cuda_stream__ or handle. *object is borrowed from obj. Returns -1 with an
 * exception. */
int cud_as_stream(State *state, PyObject *obj, const char *call, CUstream *handle, Stream **object);
/* Orders later work on *later* after the work queued so far on *first*; both are of the current
 * context. *routine: the call that failed. */
CUresult cud_order_after(CUstream later, CUstream first, const char **routine);
/* Waits with the GIL released for all work queued so far on the stream (NULL: the default stream);
 * signals can interrupt it in Python's main thread. Raises the driver's error. */
int cud_wait_stream(State *state, const char *routine, CUstream stream);
int cud_wait_event(State *state, const char *routine, CUevent event);

#endif
