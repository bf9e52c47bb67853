/* capture.c - Stream.begin_capture() and end_capture(): record work as a graph instead of running
 * it.
 *
 * The objects that captured work uses are kept in a list that moves into the graph. A second
 * stream that waits for an event of a captured one joins the capture. It gets its own list, to
 * which all captures in progress refer: keeping too much for the life of a graph is harmless. */
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/keepalive.h"
#include "cuda/memory.h"
#include "cuda/objects/function.h"
#include "cuda/objects/graph.h"
#include "cuda/stream.h"

long cud_capturing;

static int in_capture(CUstream handle) {
    CUstreamCaptureStatus answer = 0;
    CUresult status = CUDA_SUCCESS;
    CU_BESIDE(status, cuStreamIsCapturing, handle, &answer);
    return status == CUDA_SUCCESS && answer == 1;
}

#define PIN_NAME "pygpu.pin"

static void drop_pin(PyObject *capsule) {
    Allocation *allocation = PyCapsule_GetPointer(capsule, PIN_NAME);
    cud_unpin(allocation);
    Py_DECREF((PyObject *)allocation);
}

/* Returns what a capture keeps to keep an object alive: for an allocation, a pin that prevents
 * even free() from releasing the memory before the graph is gone. New reference; NULL with an
 * exception. */
static PyObject *kept_for(State *state, PyObject *owner) {
    if (PyTuple_Check(owner)) {
        Py_ssize_t n = PyTuple_GET_SIZE(owner);
        PyObject *items = PyTuple_New(n);
        for (Py_ssize_t i = 0; items != NULL && i < n; i++) {
            PyObject *item = kept_for(state, PyTuple_GET_ITEM(owner, i));
            if (item == NULL) {
                Py_CLEAR(items);
            } else {
                PyTuple_SET_ITEM(items, i, item);
            }
        }
        return items;
    }
    if (!cud_is_allocation(state, owner)) {
        return Py_NewRef(owner);
    }
    PyObject *capsule = PyCapsule_New(owner, PIN_NAME, drop_pin);
    if (capsule != NULL) {
        cud_pin((Allocation *)Py_NewRef(owner));
    }
    return capsule;
}

/* Makes every capture in progress keep the object. */
static void keep_everywhere(PyObject *owner) {
    for (Stream *stream = cud_streams; stream != NULL; stream = stream->next) {
        if (stream->capturing == CAPTURE_BEGUN && stream->captured != NULL &&
            PyList_Append(stream->captured, owner) < 0) {
            PyErr_Clear();
            Py_INCREF(owner); /* a graph may use it at any time, so leak it */
        }
    }
}

static int keep(CUstream handle, Stream *stream, PyObject *owner) {
    if (stream != NULL && stream->capturing != CAPTURE_NONE && stream->captured != NULL) {
        if (PyList_Append(stream->captured, owner) < 0) {
            PyErr_Clear();
            Py_INCREF(owner);
        }
        return 1;
    }
    if (cud_capturing > 0 && handle != NULL && handle != CU_STREAM_LEGACY && in_capture(handle)) {
        keep_everywhere(owner);
        return 1;
    }
    return 0;
}

int cud_capture_keep(State *state, CUstream handle, Stream *stream, PyObject *owner) {
    PyObject *kept = cud_capturing > 0 || (stream != NULL && stream->capturing != CAPTURE_NONE)
                         ? kept_for(state, owner)
                         : Py_NewRef(owner);
    if (kept == NULL) {
        PyErr_Clear();
        kept = Py_NewRef(owner);
    }
    int result = keep(handle, stream, kept);
    Py_DECREF(kept);
    return result;
}

void cud_capture_join(Stream *stream) {
    if (cud_capturing == 0 || stream->capturing != CAPTURE_NONE || !in_capture(stream->handle)) {
        return;
    }
    PyObject *list = PyList_New(0);
    if (list == NULL || stream->capturing != CAPTURE_NONE) { /* another thread was faster */
        Py_XDECREF(list);
        PyErr_Clear(); /* out of memory: each piece of work is then checked individually */
        return;
    }
    stream->capturing = CAPTURE_JOINED;
    Py_XSETREF(stream->captured, list);
    keep_everywhere(list);
}

PG_DOC_SHARED(Stream_begin_capture__doc__, "begin_capture", "$self, /, mode=2",
              "(mode: int = 2) -> None",
              "Record the work that is queued on the stream from now on, without running it, until "
              "end_capture().\n\n"
              "mode: of stream_capture_mode: of which threads calls that may wait for the device "
              "are errors meanwhile. RELAXED, the default: none but those on\n"
              "this stream; THREAD_LOCAL: those of this thread; GLOBAL: those of all threads.");
PG_SHARED_FUNCTION(Stream_begin_capture, 1)
static PyObject *Stream_begin_capture_impl(PyObject *op, PyObject *const *a) {
    Stream *self = (Stream *)op;
    uint32_t mode = 2;
    if ((a[0] != NULL && pg_as_u32(a[0], "Stream.begin_capture", "mode", &mode) < 0) ||
        cud_context_check(self->context, "cuStreamBeginCapture") < 0) {
        return NULL;
    }
    if (mode > 2) {
        return cud_reject(self->state, "cuStreamBeginCapture", CUDA_ERROR_INVALID_VALUE,
                          "mode = %u is not a stream_capture_mode", (unsigned)mode);
    }
    if (self->capturing != CAPTURE_NONE) {
        return cud_reject(self->state, "cuStreamBeginCapture", CUDA_ERROR_ILLEGAL_STATE,
                          "the stream is being captured already");
    }
    PyObject *list = PyList_New(0);
    if (list == NULL) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    cud_keepalive_close();
    IN_CONTEXT(self->context, status,
               CU_BESIDE(status, cuStreamBeginCapture, self->handle, (CUstreamCaptureMode)mode));
    if (status != CUDA_SUCCESS) {
        Py_DECREF(list);
        return cud_raise(self->state, "cuStreamBeginCapture", status);
    }
    Py_XSETREF(self->captured, list);
    self->capturing = CAPTURE_BEGUN;
    cud_capturing++;
    Py_RETURN_NONE;
}

PyObject *Stream_end_capture(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Stream *self = (Stream *)op;
    if (self->capturing != CAPTURE_BEGUN) {
        return cud_reject(self->state, "cuStreamEndCapture", CUDA_ERROR_ILLEGAL_STATE,
                          self->capturing == CAPTURE_JOINED
                              ? "the capture was begun on another stream, which must end it"
                          : self->capturing == CAPTURE_ENDING ? "another thread ends the capture"
                                                              : "begin_capture() comes first");
    }
    CUgraph graph = NULL;
    CUresult status = CUDA_SUCCESS;
    self->capturing = CAPTURE_ENDING; /* the call may release the GIL */
    IN_CONTEXT(self->context, status, CU_BESIDE(status, cuStreamEndCapture, self->handle, &graph));
    if (status == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) { /* it is still being captured */
        self->capturing = CAPTURE_BEGUN;
        return cud_raise_with(
            self->state, "cuStreamEndCapture", status,
            "the thread that began the capture must end it; with mode RELAXED any may");
    }
    PyObject *owned = self->captured;
    self->captured = NULL;
    self->capturing = CAPTURE_NONE;
    cud_capturing--;
    for (Stream *stream = cud_stream_next(cud_streams, NULL); stream != NULL;
         stream = cud_stream_next(stream->next, stream)) {
        if (stream->capturing == CAPTURE_JOINED && !in_capture(stream->handle) &&
            stream->capturing == CAPTURE_JOINED) {
            stream->capturing = CAPTURE_NONE;
            Py_CLEAR(stream->captured); /* the graph has its own reference */
        }
    }
    PyObject *made = NULL;
    if (status != CUDA_SUCCESS || graph == NULL) {
        cud_raise(self->state, "cuStreamEndCapture",
                  status != CUDA_SUCCESS ? status : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    } else {
        made = graph_new(self->state, graph, self->context, owned);
    }
    Py_DECREF(owned);
    return made;
}

void cud_capture_abandon(Stream *stream) {
    CUgraph graph = NULL;
    CUresult status = CUDA_SUCCESS;
    ContextGuard guard;
    if (stream->capturing == CAPTURE_BEGUN) {
        cud_capturing--;
        if (cud_context_enter_free(stream->context, &guard, &status) == 0) {
            CU_BESIDE(status, cuStreamEndCapture, stream->handle, &graph);
            if (status == CUDA_SUCCESS && graph != NULL) {
                CU_BESIDE(status, cuGraphDestroy, graph);
            }
            cud_context_leave(&guard);
        }
    }
    stream->capturing = CAPTURE_NONE;
}

PyObject *Stream_get_is_capturing(PyObject *op, void *Py_UNUSED(closure)) {
    Stream *self = (Stream *)op;
    CUstreamCaptureStatus answer = 0;
    CUresult status = CUDA_SUCCESS;
    if (cud_context_check(self->context, "cuStreamIsCapturing") < 0) {
        return NULL;
    }
    IN_CONTEXT(self->context, status,
               CU_BESIDE(status, cuStreamIsCapturing, self->handle, &answer));
    return status == CUDA_SUCCESS ? PyBool_FromLong(answer != 0)
                                  : cud_raise(self->state, "cuStreamIsCapturing", status);
}
