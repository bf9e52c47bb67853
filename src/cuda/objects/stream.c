/* stream.c - Stream: a queue of work that runs in order, concurrently with other streams. */
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/event.h"
#include "cuda/keepalive.h"
#include "cuda/objects/graph.h"
#include "cuda/stream.h"

CUresult cud_order_after(CUstream later, CUstream first, const char **routine) {
    CUevent event = NULL;
    CUresult status = CUDA_SUCCESS, ignored = CUDA_SUCCESS;
    *routine = "cuEventCreate";
    CU_BESIDE(status, cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
    if (status == CUDA_SUCCESS) {
        *routine = "cuEventRecord";
        CU_QUEUED(status, cuEventRecord, event, first);
        if (status == CUDA_SUCCESS) {
            *routine = "cuStreamWaitEvent";
            CU_QUEUED(status, cuStreamWaitEvent, later, event, 0);
        }
        CU_BESIDE(ignored, cuEventDestroy, event);
        (void)ignored;
    }
    return status;
}

Stream *cud_streams;

Stream *cud_stream_next(Stream *from, Stream *last) {
    while (from != NULL &&
           Py_REFCNT((PyObject *)from) ==
               0) { /* a subclass's stream that is being deallocated but is still in the list */
        from = from->next;
    }
    Py_XINCREF((PyObject *)from);
    Py_XDECREF((PyObject *)last);
    return from;
}

static Stream *stream_new(State *state, PyTypeObject *type, Context *context, CUstream handle,
                          int owned) {
    Stream *self = (Stream *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
        self->context = (Context *)Py_NewRef((PyObject *)context);
        self->handle = handle;
        self->owned = owned;
        self->next = cud_streams;
        cud_streams = self;
        cud_live[LIVE_STREAM] += owned;
    }
    return self;
}

PG_DOC(Stream__doc__, "Stream", "flags=0, priority=None",
       "(flags: int = 0, priority: int | None = None)",
       "A new stream in the current context.\n\n"
       "flags: of stream_flags; priority: smaller numbers have higher priority, see "
       "Context.get_stream_priority_range().");
static ArgSpec Stream_args = PG_ARGSPEC(Stream__doc__);

typedef struct {
    uint32_t flags;
    int has_priority;
    int64_t priority;
} StreamKind;

static int stream_kind(State *state, PyObject *args, PyObject *kwargs, StreamKind *out) {
    PyObject *a[2];
    memset(out, 0, sizeof *out);
    if (pg_args_tuple(&Stream_args, args, kwargs, a) < 0 ||
        (a[0] != NULL && pg_as_u32(a[0], "Stream", "flags", &out->flags) < 0)) {
        return -1;
    }
    out->has_priority = a[1] != NULL && a[1] != Py_None;
    if (out->has_priority && pg_as_i64(a[1], "Stream", "priority", &out->priority) < 0) {
        return -1;
    }
    if (out->priority < INT32_MIN || out->priority > INT32_MAX) {
        cud_reject(state, "cuStreamCreateWithPriority", CUDA_ERROR_INVALID_VALUE,
                   "priority = %lld is not a priority", (long long)out->priority);
        return -1;
    }
    return 0;
}

/* Makes a stream in the current context. Returns -1 with an exception. */
static int stream_create(State *state, const StreamKind *kind, CUstream *handle) {
    CUresult status = CUDA_SUCCESS;
    Py_BEGIN_ALLOW_THREADS
    if (kind->has_priority) {
        CU_CALL(status, cuStreamCreateWithPriority, handle, kind->flags, (int)kind->priority);
    } else {
        CU_CALL(status, cuStreamCreate, handle, kind->flags);
    }
    Py_END_ALLOW_THREADS
    if (status != CUDA_SUCCESS) {
        cud_raise(state, kind->has_priority ? "cuStreamCreateWithPriority" : "cuStreamCreate",
                  status);
        return -1;
    }
    return 0;
}

static int Stream_init(PyObject *op, PyObject *args, PyObject *kwargs);

static PyObject *Stream_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    State *state = cud_state_of(type);
    StreamKind kind = {0, 0, 0};
    if (state == NULL ||
        (!cud_has_init(type, Stream_init) && stream_kind(state, args, kwargs, &kind) < 0)) {
        return NULL;
    }
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CUstream handle = NULL;
    if (stream_create(state, &kind, &handle) < 0) {
        Py_DECREF(context);
        return NULL;
    }
    Stream *self = stream_new(state, type, context, handle, 1);
    Py_DECREF(context);
    if (self == NULL) {
        CU_BESIDE(status, cuStreamDestroy, handle);
    }
    return (PyObject *)self;
}

/* Handles super().__init__(flags, priority) of a subclass whose __init__ takes other arguments.
 * Before that it is a default stream; that stream is kept, because its handle may already be in
 * use. */
static int Stream_init(PyObject *op, PyObject *args, PyObject *kwargs) {
    Stream *self = (Stream *)op;
    StreamKind kind;
    CUstream handle = NULL;
    ContextGuard guard;
    CUresult status;
    if (!cud_has_init(Py_TYPE(op), Stream_init)) {
        return 0;
    }
    if (stream_kind(self->state, args, kwargs, &kind) < 0) {
        return -1;
    }
    if (kind.flags == 0 && !kind.has_priority) {
        return 0;
    }
    if (self->spare != NULL || !self->owned || self->capturing != CAPTURE_NONE) {
        cud_reject(self->state, "Stream", CUDA_ERROR_INVALID_HANDLE,
                   "this Stream is initialized already: create another one");
        return -1;
    }
    if (cud_context_enter(self->context, &guard, &status) < 0) {
        cud_raise(self->state, "cuCtxPushCurrent", status);
        return -1;
    }
    int made = stream_create(self->state, &kind, &handle);
    cud_context_leave(&guard);
    if (made < 0) {
        return -1;
    }
    self->spare = self->handle;
    self->handle = handle;
    return 0;
}

static int Stream_traverse(PyObject *op, visitproc visit, void *arg) {
    Stream *self = (Stream *)op;
    CUD_VISIT(op);
    Py_VISIT(self->context);
    Py_VISIT(self->owner);
    Py_VISIT(self->captured);
    return 0;
}

static void Stream_dealloc(PyObject *op) {
    Stream *self = (Stream *)op;
    PyObject_GC_UnTrack(op);
    if (self->state != NULL) {
        for (Stream **link = &cud_streams; *link != NULL; link = &(*link)->next) {
            if (*link == self) {
                *link = self->next;
                break;
            }
        }
    }
    if (self->weakrefs != NULL) { /* unlinked first, because code that runs now must not find it in
                                   * the list */
        PyObject_ClearWeakRefs(op);
    }
    if (self->capturing != CAPTURE_NONE) {
        cud_capture_abandon(self);
    }
    if (self->owned) {
        ContextGuard guard;
        CUresult status;
        if (cud_context_enter_free(self->context, &guard, &status) == 0) {
            /* Does not wait: the driver destroys it when its work is done. Under a tool
             * (compute-sanitizer) it does wait, though, perhaps for a Python host function that
             * another library queued. */
            cud_keepalive_stream_gone(self->handle);
            if (self->spare != NULL) {
                cud_keepalive_stream_gone(self->spare);
            }
            CU_NOGIL(status, cuStreamDestroy, self->handle);
            if (self->spare != NULL) {
                CU_BESIDE(status, cuStreamDestroy, self->spare);
            }
            cud_context_leave(&guard);
        }
        cud_live[LIVE_STREAM]--;
    }
    Py_XDECREF(self->captured);
    Py_XDECREF(self->owner);
    Py_XDECREF(self->context);
    cud_object_free(op);
}

/* The driver would dereference any number, so values that cannot be pointers are refused. 1 and 2
 * name the default streams. */
#define LEAST_HANDLE    65536u
#define GREATEST_HANDLE (1ull << 56)

static int check_handle(State *state, const char *call, const char *name, uint64_t value) {
    if ((value > 2 && value < LEAST_HANDLE) || value > GREATEST_HANDLE) {
        cud_reject(state, call, CUDA_ERROR_INVALID_HANDLE, "%s = %llu is not a CUstream", name,
                   (unsigned long long)value);
        return -1;
    }
    return 0;
}

/* ---- streams as arguments -------------------------------------------------------------------- */

/* Returns NULL without an exception if there is none. */
static PyObject *attribute(PyObject *obj, const char *name) {
    PyObject *value = PyObject_GetAttrString(obj, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
    }
    return value;
}

int cud_as_stream(State *state, PyObject *obj, const char *call, CUstream *handle,
                  Stream **object) {
    *object = NULL;
    *handle = NULL;
    if (obj == NULL || obj == Py_None) {
        return 0;
    }
    if (PyObject_TypeCheck(obj, state->StreamType)) {
        Stream *stream = (Stream *)obj;
        if (cud_context_check(stream->context, call) < 0) {
            return -1;
        }
        *object = stream;
        *handle = stream->handle;
        return 0;
    }
    PyObject *number = NULL;
    if (PyType_GetModuleByDef(Py_TYPE(obj), &cud_module) !=
        NULL) { /* a Function's handle, for example, is not a stream */
        cud_reject_type(state, call, "stream must be a Stream, not %s", pg_type_name(obj));
        return -1;
    }
    PyErr_Clear();
    if (PyLong_Check(obj) && !PyBool_Check(obj)) {
        number = Py_NewRef(obj);
    } else if ((number = attribute(obj, "__cuda_stream__")) !=
               NULL) { /* cuda.core's protocol: (version, handle), or a method that returns it */
        if (PyCallable_Check(number)) {
            Py_SETREF(number, PyObject_CallNoArgs(number));
        }
        if (number != NULL) {
            Py_SETREF(number, PyTuple_Check(number) && PyTuple_GET_SIZE(number) == 2
                                  ? Py_NewRef(PyTuple_GET_ITEM(number, 1))
                                  : NULL);
        }
    } else if (!PyErr_Occurred()) {
        number = attribute(obj, "handle");
    }
    uint64_t value;
    if (number == NULL) {
        if (!PyErr_Occurred()) {
            cud_reject_type(state, call,
                            "stream must be a Stream, None, a CUstream as int or an object with "
                            "__cuda_stream__, not %s",
                            pg_type_name(obj));
        }
        return -1;
    }
    int failed = pg_as_u64(number, call, "stream", &value) < 0;
    Py_DECREF(number);
    if (failed || check_handle(state, call, "stream", value) < 0) {
        return -1;
    }
    *handle = (CUstream)(uintptr_t)value;
    return 0;
}

/* ---- methods --------------------------------------------------------------------------------- */

static PyObject *Stream_synchronize(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Stream *self = (Stream *)op;
    ContextGuard guard;
    CUresult status;
    if (cud_context_check(self->context, "cuStreamSynchronize") < 0) {
        return NULL;
    }
    if (cud_context_enter(self->context, &guard, &status) <
        0) { /* the thread may have no current context, or another one */
        return cud_raise(self->state, "cuStreamSynchronize", status);
    }
    unsigned long mark = cud_keepalive_mark();
    int failed = cud_wait_stream(self->state, "cuStreamSynchronize", self->handle) < 0;
    cud_context_leave(&guard);
    if (failed) {
        return NULL;
    }
    cud_keepalive_done(self->state, self->context, self->handle, 0, mark);
    return pg_report(&self->state->common) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *Stream_is_done(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Stream *self = (Stream *)op;
    if (cud_context_check(self->context, "cuStreamQuery") < 0) {
        return NULL;
    }
    CUresult status;
    IN_CONTEXT(self->context, status, CU_BESIDE(status, cuStreamQuery, self->handle));
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_READY) {
        return cud_raise(self->state, "cuStreamQuery", status);
    }
    return PyBool_FromLong(status == CUDA_SUCCESS);
}

static PyObject *Stream_wait_for_event(PyObject *op, PyObject *event_object) {
    Stream *self = (Stream *)op;
    if (!PyObject_TypeCheck(event_object, self->state->EventType)) {
        return cud_reject_type(self->state, "Stream.wait_for_event",
                               "event must be an Event, not %s", pg_type_name(event_object));
    }
    Event *event = (Event *)event_object;
    if (cud_context_check(self->context, "cuStreamWaitEvent") < 0 ||
        cud_context_check(event->context, "cuStreamWaitEvent") < 0) {
        return NULL;
    }
    CUresult status;
    ContextGuard guard;
    if (cud_context_enter(self->context, &guard, &status) == 0) {
        CU_QUEUED(status, cuStreamWaitEvent, self->handle, event->handle, 0);
        cud_context_leave(&guard);
    }
    if (status != CUDA_SUCCESS) {
        return cud_raise(self->state, "cuStreamWaitEvent", status);
    }
    cud_capture_join(self);
    Py_RETURN_NONE;
}

PG_DOC(Stream_from_handle__doc__, "from_handle", "$type, /, handle", "(handle: int) -> Stream",
       "The stream of a CUstream that another library passed as an integer. That library still "
       "owns it; pygpu does not destroy it.");
PG_FUNCTION(Stream_from_handle, 1)
static PyObject *Stream_from_handle_impl(PyObject *type, PyObject *const *a) {
    uint64_t handle;
    State *state = cud_state_of((PyTypeObject *)type);
    if (state == NULL || pg_as_u64(a[0], "Stream.from_handle", "handle", &handle) < 0 ||
        check_handle(state, "Stream.from_handle", "handle", handle) < 0) {
        return NULL;
    }
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    Stream *self = stream_new(state, (PyTypeObject *)type, context, (CUstream)(uintptr_t)handle, 0);
    Py_DECREF(context);
    return (PyObject *)self;
}

PG_DOC(Stream__of__doc__, "_of", "$type, /, stream, call",
       "(stream: Any, call: str) -> Stream | None",
       "The Stream for an argument *stream* of a function that arrays have: itself, one around "
       "another library's handle, or None for the\n"
       "default stream. Raises TypeError, with the name of the call, for what is not a stream.");
PG_FUNCTION(Stream__of, 2)
static PyObject *Stream__of_impl(PyObject *type, PyObject *const *a) {
    CUstream handle = NULL;
    Stream *stream = NULL;
    State *state = cud_state_of((PyTypeObject *)type);
    if (state == NULL) {
        return NULL;
    }
    const char *call = PyUnicode_Check(a[1]) ? PyUnicode_AsUTF8(a[1]) : "stream";
    if (call == NULL || cud_as_stream(state, a[0], call, &handle, &stream) < 0) {
        return NULL;
    }
    if (stream != NULL) {
        return Py_NewRef((PyObject *)stream);
    }
    if ((uintptr_t)handle <= 1) {
        Py_RETURN_NONE;
    }
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    stream = stream_new(state, (PyTypeObject *)type, context, handle, 0);
    Py_DECREF(context);
    if (stream != NULL) {
        stream->owner = Py_NewRef(a[0]);
    }
    return (PyObject *)stream;
}

static PyObject *Stream_cuda_stream(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return Py_BuildValue("(iN)", 0, PyLong_FromVoidPtr(((Stream *)op)->handle));
}

static PyObject *Stream_get_priority(PyObject *op, void *Py_UNUSED(closure)) {
    Stream *self = (Stream *)op;
    int priority = 0;
    if (cud_context_check(self->context, "cuStreamGetPriority") < 0) {
        return NULL;
    }
    CUresult status;
    IN_CONTEXT(self->context, status,
               CU_BESIDE(status, cuStreamGetPriority, self->handle, &priority));
    return status == CUDA_SUCCESS ? PyLong_FromLong(priority)
                                  : cud_raise(self->state, "cuStreamGetPriority", status);
}

static PyObject *Stream_get_flags(PyObject *op, void *Py_UNUSED(closure)) {
    Stream *self = (Stream *)op;
    unsigned int flags = 0;
    if (cud_context_check(self->context, "cuStreamGetFlags") < 0) {
        return NULL;
    }
    CUresult status;
    IN_CONTEXT(self->context, status, CU_BESIDE(status, cuStreamGetFlags, self->handle, &flags));
    return status == CUDA_SUCCESS ? PyLong_FromUnsignedLong(flags)
                                  : cud_raise(self->state, "cuStreamGetFlags", status);
}

static Py_hash_t Stream_hash(PyObject *op) {
    return Py_HashPointer(((Stream *)op)->handle);
}

static PyObject *Stream_compare(PyObject *op, PyObject *other, int how) {
    Stream *self = (Stream *)op, *that = (Stream *)other;
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(other, self->state->StreamType)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return PyBool_FromLong((self == that || (self->handle == that->handle &&
                                             self->context == that->context)) == (how == Py_EQ));
}

static PyObject *Stream_repr(PyObject *op) {
    Stream *self = (Stream *)op;
    return PyUnicode_FromFormat("<pygpu.cuda.Stream on device %d at %p>", self->context->device,
                                (void *)self->handle);
}

static PyMethodDef Stream_methods[] = {
    {"synchronize", Stream_synchronize, METH_NOARGS,
     "synchronize($self, /)\n--\n\n() -> None\n\nWait for all work queued so far. Raises the error "
     "of a failed kernel."},
    {"is_done", Stream_is_done, METH_NOARGS,
     "is_done($self, /)\n--\n\n() -> bool\n\nWhether all work queued so far is done."},
    {"wait_for_event", Stream_wait_for_event, METH_O,
     "wait_for_event($self, event, /)\n--\n\n(event: Event, /) -> None\n\nMake work queued from "
     "now on wait for the event."},
    STREAM_CAPTURE_METHODS,
    {"from_handle", (PyCFunction)(void (*)(void))Stream_from_handle,
     METH_FASTCALL | METH_KEYWORDS | METH_CLASS, Stream_from_handle__doc__},
    {"_of", (PyCFunction)(void (*)(void))Stream__of, METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
     Stream__of__doc__},
    {"__cuda_stream__", Stream_cuda_stream, METH_NOARGS,
     "__cuda_stream__($self, /)\n--\n\n() -> tuple[int, int]\n\nVersion of the protocol (0) and "
     "the CUstream, for other libraries."},
    PG_NO_PICKLE,
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Stream_getset[] = {
    PG_FIELD("context", object, Stream, context, "Context: the context it was made in"),
    PG_FIELD("handle", pointer, Stream, handle, "int: the CUstream"),
    {"priority", Stream_get_priority, NULL, "int: smaller numbers have higher priority", NULL},
    {"flags", Stream_get_flags, NULL, "int: of stream_flags", NULL},
    STREAM_CAPTURE_GETSET,
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot Stream_slots[] = {
    PG_NEW_SLOTS(Stream),
    {Py_tp_traverse, (void *)Stream_traverse},
    {Py_tp_dealloc, (void *)Stream_dealloc},
    {Py_tp_repr, (void *)Stream_repr},
    {Py_tp_hash, (void *)Stream_hash},
    {Py_tp_richcompare, (void *)Stream_compare},
    {Py_tp_methods, Stream_methods},
    {Py_tp_getset, Stream_getset},
    {0, NULL},
};
CUD_TYPE(Stream, Stream, Py_TPFLAGS_BASETYPE);
