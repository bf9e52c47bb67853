/* stream.h - streams, and waiting for their work. */
#ifndef PYGPU_CUDA_STREAM_H
#define PYGPU_CUDA_STREAM_H

#include "cuda/context.h"

struct Stream {
    CUD_HEAD
    CUstream handle;
    CUstream
        spare; /* what it had before a subclass's __init__ said what it shall be; goes with it */
    Context *context;
    int owned;
    int capturing;      /* between begin_capture and end_capture */
    PyObject *captured; /* list: what the commands captured so far use; moves into the graph */
    Stream *next;       /* State.streams */
};

/* The next of cud_streams from *from* on, kept for the walk, which lets go of *last*: while code
 * runs, streams come and go. */
Stream *cud_stream_walk(Stream *from, Stream *last);
/* None or left out (NULL): the default stream, *object NULL. A Stream, an int, or anything with
 * __cuda_stream__ or handle. *object is borrowed from obj. -1 with an exception. */
int cud_as_stream(State *state, PyObject *obj, const char *call, CUstream *handle, Stream **object);
/* Work queued on *later* from now on comes after what is queued on *first*; both are of the current
 * context. *routine: what failed. */
CUresult cud_order_after(CUstream later, CUstream first, const char **routine);
/* Waits, with the GIL released and interruptibly in Python's main thread, for all work queued so
 * far on the stream (NULL: the default stream). Raises the driver's error. */
int cud_wait_stream(State *state, const char *routine, CUstream stream);
int cud_wait_event(State *state, const char *routine, CUevent event);

#endif
