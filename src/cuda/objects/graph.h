/* graph.h - graphs, and the methods of streams that capture them. */
#ifndef PYGPU_CUDA_GRAPH_H
#define PYGPU_CUDA_GRAPH_H

#include "cuda/context.h"

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

typedef struct {
    CUD_HEAD
    CUgraph handle;
    Context *context;
    PyObject *owned; /* a list of what the work uses */
} Graph;
/* Takes over the handle, also on failure. */
PyObject *graph_new(State *state, CUgraph handle, Context *context, PyObject *owned);

#endif
