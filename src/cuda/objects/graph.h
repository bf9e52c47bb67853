/* graph.h - captures of streams and graphs: what the files that queue work have to know of them. */
#ifndef PYGPU_CUDA_GRAPH_H
#define PYGPU_CUDA_GRAPH_H

#include "cuda/cuda.h"

/* capture.c */
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
PyObject *Stream_begin_capture(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames);
PyObject *Stream_end_capture(PyObject *op, PyObject *ignored);
PyObject *Stream_get_is_capturing(PyObject *op, void *closure);
extern const char Stream_begin_capture__doc__[];
#define STREAM_CAPTURE_METHODS                                                                    \
    {"begin_capture", FAST(Stream_begin_capture), Stream_begin_capture__doc__}, {                 \
        "end_capture", Stream_end_capture, METH_NOARGS,                                           \
            "end_capture($self, /)\n--\n\n() -> Graph\n\nThe work queued since begin_capture(), " \
            "which did not run, as a Graph that owns what it uses."                               \
    }
#define STREAM_CAPTURE_GETSET                                           \
    {                                                                   \
        "is_capturing", Stream_get_is_capturing, NULL,                  \
            "bool: whether work is being captured instead of run", NULL \
    }

/* graph.c */
typedef struct {
    CUD_HEAD
    CUgraph handle;
    Context *context;
    PyObject *owned; /* list of what the work uses */
} Graph;
/* Takes the handle over, also on failure. */
PyObject *graph_new(State *state, CUgraph handle, Context *context, PyObject *owned);

#endif
