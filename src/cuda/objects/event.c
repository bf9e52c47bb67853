/* event.c - Event: a marker in a stream, with its time. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/event.h"
#include "cuda/keepalive.h"
#include "cuda/stream.h"

PG_DOC(Event__doc__, "Event", "flags=0", "(flags: int = 0)",
       "A new event in the current context. flags: of event_flags.");
static ArgSpec Event_args = PG_ARGSPEC(Event__doc__);

static Event *event_new(State *state, PyTypeObject *type, Context *context) {
    Event *self = (Event *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
        self->context = (Context *)Py_NewRef((PyObject *)context);
    }
    return self;
}

static int event_flags(PyObject *args, PyObject *kwargs, uint32_t *flags) {
    PyObject *a[1];
    return pg_args_tuple(&Event_args, args, kwargs, a) < 0 ? -1
           : a[0] != NULL ? pg_as_u32(a[0], "Event", "flags", flags)
                          : 0;
}

static int Event_init(PyObject *op, PyObject *args, PyObject *kwargs);

static PyObject *Event_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    uint32_t flags = 0;
    State *state = cud_state_of(type);
    if (state == NULL ||
        (!cud_has_init(type, Event_init) && event_flags(args, kwargs, &flags) < 0)) {
        return NULL;
    }
    Context *context = cud_context_current(state);
    Event *self = context != NULL ? event_new(state, type, context) : NULL;
    Py_XDECREF(context);
    if (self == NULL) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_BESIDE(status, cuEventCreate, &self->handle, flags);
    if (status != CUDA_SUCCESS) {
        Py_DECREF(self);
        return cud_raise(state, "cuEventCreate", status);
    }
    self->owned = 1;
    self->flags = flags;
    cud_live[LIVE_EVENT]++;
    return (PyObject *)self;
}

/* See Stream_init. */
static int Event_init(PyObject *op, PyObject *args, PyObject *kwargs) {
    Event *self = (Event *)op;
    uint32_t flags = 0;
    CUevent handle = NULL;
    ContextGuard guard;
    CUresult status;
    if (!cud_has_init(Py_TYPE(op), Event_init)) {
        return 0;
    }
    if (event_flags(args, kwargs, &flags) < 0) {
        return -1;
    }
    if (flags == 0) {
        return 0;
    }
    if (self->spare != NULL || !self->owned) {
        cud_reject(self->state, "Event", CUDA_ERROR_INVALID_HANDLE,
                   "this Event is initialized already: create another one");
        return -1;
    }
    if (cud_context_enter(self->context, &guard, &status) < 0) {
        cud_raise(self->state, "cuCtxPushCurrent", status);
        return -1;
    }
    CU_BESIDE(status, cuEventCreate, &handle, flags);
    cud_context_leave(&guard);
    if (status != CUDA_SUCCESS) {
        cud_raise(self->state, "cuEventCreate", status);
        return -1;
    }
    self->spare = self->handle;
    self->handle = handle;
    self->flags = flags;
    return 0;
}

static int Event_traverse(PyObject *op, visitproc visit, void *arg) {
    CUD_VISIT(op);
    Py_VISIT(((Event *)op)->context);
    return 0;
}

static void Event_dealloc(PyObject *op) {
    Event *self = (Event *)op;
    pg_untrack(op, self->weakrefs);
    if (self->owned) {
        ContextGuard guard;
        CUresult status;
        if (cud_context_enter_free(self->context, &guard, &status) == 0) {
            CU_BESIDE(status, cuEventDestroy, self->handle);
            if (self->spare != NULL) {
                CU_BESIDE(status, cuEventDestroy, self->spare);
            }
            cud_context_leave(&guard);
        }
        cud_live[LIVE_EVENT]--;
    }
    Py_XDECREF(self->context);
    cud_object_free(op);
}

PG_DOC(Event_record__doc__, "record", "$self, /, stream=None",
       "(stream: Stream | int | None = None) -> Event",
       "Record the event after the work queued so far on *stream* (None: the default stream). "
       "Returns the event.");
PG_FUNCTION(Event_record, 1)
static PyObject *Event_record_impl(PyObject *op, PyObject *const *a) {
    Event *self = (Event *)op;
    CUstream handle;
    Stream *stream;
    if (cud_context_check(self->context, "cuEventRecord") < 0 ||
        cud_as_stream(self->state, a[0], "cuEventRecord", &handle, &stream) < 0) {
        return NULL;
    }
    ContextGuard guard;
    CUresult status;
    if (cud_context_enter(self->context, &guard, &status) == 0) {
        CU_QUEUED(status, cuEventRecord, self->handle, handle);
        cud_context_leave(&guard);
    }
    return status == CUDA_SUCCESS ? Py_NewRef(op) : cud_raise(self->state, "cuEventRecord", status);
}

static PyObject *Event_synchronize(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Event *self = (Event *)op;
    ContextGuard guard;
    CUresult status;
    if (cud_context_check(self->context, "cuEventSynchronize") < 0) {
        return NULL;
    }
    if (cud_context_enter(self->context, &guard, &status) <
        0) { /* the thread may have no current context, or another one */
        return cud_raise(self->state, "cuEventSynchronize", status);
    }
    int failed = cud_wait_event(self->state, "cuEventSynchronize", self->handle) < 0;
    cud_context_leave(&guard);
    if (failed) {
        return NULL;
    }
    cud_keepalive_drain(self->state);
    return pg_report(&self->state->common) < 0 ? NULL : Py_NewRef(op);
}

static PyObject *Event_query(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Event *self = (Event *)op;
    if (cud_context_check(self->context, "cuEventQuery") < 0) {
        return NULL;
    }
    CUresult status;
    IN_CONTEXT(self->context, status, CU_BESIDE(status, cuEventQuery, self->handle));
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_READY) {
        return cud_raise(self->state, "cuEventQuery", status);
    }
    return PyBool_FromLong(status == CUDA_SUCCESS);
}

/* The milliseconds from one event to the other. */
static PyObject *elapsed(Event *self, PyObject *other, int backwards, const char *call) {
    if (!PyObject_TypeCheck(other, self->state->EventType)) {
        return cud_reject_type(self->state, call, "event must be an Event, not %s",
                               pg_type_name(other));
    }
    Event *from = backwards ? (Event *)other : self, *to = backwards ? self : (Event *)other;
    if (cud_context_check(from->context, "cuEventElapsedTime") < 0 ||
        cud_context_check(to->context, "cuEventElapsedTime") < 0) {
        return NULL;
    }
    if ((from->flags | to->flags) & CU_EVENT_DISABLE_TIMING) {
        return cud_reject(self->state, "cuEventElapsedTime", CUDA_ERROR_INVALID_HANDLE,
                          "an event made with event_flags.DISABLE_TIMING has no time");
    }
    float ms = 0;
    CUresult status;
    ContextGuard guard;
    CU_BESIDE(status, cuEventElapsedTime, &ms, from->handle,
              to->handle); /* checking first which context is current would take just as long */
    if ((status == CUDA_ERROR_INVALID_CONTEXT || status == CUDA_ERROR_INVALID_HANDLE ||
         status == CUDA_ERROR_CONTEXT_IS_DESTROYED) &&
        cud_context_enter(from->context, &guard, &status) == 0) {
        CU_BESIDE(status, cuEventElapsedTime, &ms, from->handle, to->handle);
        cud_context_leave(&guard);
    }
    if (status == CUDA_ERROR_NOT_READY || status == CUDA_ERROR_INVALID_HANDLE) {
        return cud_raise_with(self->state, "cuEventElapsedTime", status,
                              "both events must have been recorded and be done: call synchronize() "
                              "on the later one first");
    }
    return status == CUDA_SUCCESS ? PyFloat_FromDouble(ms)
                                  : cud_raise(self->state, "cuEventElapsedTime", status);
}

static PyObject *Event_time_since(PyObject *op, PyObject *other) {
    return elapsed((Event *)op, other, 1, "Event.time_since");
}
static PyObject *Event_time_till(PyObject *op, PyObject *other) {
    return elapsed((Event *)op, other, 0, "Event.time_till");
}

static PyObject *Event_ipc_handle(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Event *self = (Event *)op;
    CUipcEventHandle handle;
    memset(&handle, 0, sizeof handle);
    if (cud_context_check(self->context, "cuIpcGetEventHandle") < 0) {
        return NULL;
    }
    CUresult status;
    IN_CONTEXT(self->context, status,
               CU_BESIDE(status, cuIpcGetEventHandle, &handle, self->handle));
    return status == CUDA_SUCCESS ? PyByteArray_FromStringAndSize((char *)&handle, sizeof handle)
                                  : cud_raise(self->state, "cuIpcGetEventHandle", status);
}

PG_DOC(Event_from_ipc_handle__doc__, "from_ipc_handle", "$type, /, handle",
       "(handle: bytes | bytearray) -> Event",
       "The event of another process, from the 64 bytes of its ipc_handle().");
PG_FUNCTION(Event_from_ipc_handle, 1)
static PyObject *Event_from_ipc_handle_impl(PyObject *type, PyObject *const *a) {
    CUipcEventHandle handle;
    Py_buffer view;
    State *state = cud_state_of((PyTypeObject *)type);
    if (state == NULL || pg_get_buffer(a[0], "Event.from_ipc_handle", "handle", 0, &view) < 0) {
        return NULL;
    }
    Py_ssize_t length = view.len;
    memcpy(&handle, view.buf, length == (Py_ssize_t)sizeof handle ? sizeof handle : 0);
    PyBuffer_Release(&view);
    if (length != (Py_ssize_t)sizeof handle) {
        return cud_reject(state, "cuIpcOpenEventHandle", CUDA_ERROR_INVALID_VALUE,
                          "handle must have 64 bytes, not %zd", length);
    }
    Context *context = cud_context_current(state);
    Event *self = context != NULL ? event_new(state, (PyTypeObject *)type, context) : NULL;
    Py_XDECREF(context);
    if (self == NULL) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_BESIDE(status, cuIpcOpenEventHandle, &self->handle, handle);
    if (status != CUDA_SUCCESS) {
        Py_DECREF(self);
        return cud_raise(state, "cuIpcOpenEventHandle", status);
    }
    self->owned = 1;
    self->flags = CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    cud_live[LIVE_EVENT]++;
    return (PyObject *)self;
}

static PyObject *Event_repr(PyObject *op) {
    Event *self = (Event *)op;
    return PyUnicode_FromFormat("<pygpu.cuda.Event on device %d at %p>", self->context->device,
                                (void *)self->handle);
}

static PyMethodDef Event_methods[] = {
    {"record", FAST(Event_record), Event_record__doc__},
    {"synchronize", Event_synchronize, METH_NOARGS,
     "synchronize($self, /)\n--\n\n() -> Event\n\nWait for the event. Returns it."},
    {"query", Event_query, METH_NOARGS,
     "query($self, /)\n--\n\n() -> bool\n\nWhether the work before the event is done; True if it "
     "was never recorded."},
    {"time_since", Event_time_since, METH_O,
     "time_since($self, event, /)\n--\n\n(event: Event, /) -> float\n\nTime from *event* to this "
     "one [ms]."},
    {"time_till", Event_time_till, METH_O,
     "time_till($self, event, /)\n--\n\n(event: Event, /) -> float\n\nTime from this event to "
     "*event* [ms]."},
    {"ipc_handle", Event_ipc_handle, METH_NOARGS,
     "ipc_handle($self, /)\n--\n\n() -> bytearray\n\n64 bytes with which another process can open "
     "the event (created with INTERPROCESS | DISABLE_TIMING)."},
    {"from_ipc_handle", (PyCFunction)(void (*)(void))Event_from_ipc_handle,
     METH_FASTCALL | METH_KEYWORDS | METH_CLASS, Event_from_ipc_handle__doc__},
    PG_NO_PICKLE,
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Event_getset[] = {PG_FIELD("handle", pointer, Event, handle, "int: the CUevent"),
                                     {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot Event_slots[] = {
    PG_NEW_SLOTS(Event),
    {Py_tp_traverse, (void *)Event_traverse},
    {Py_tp_dealloc, (void *)Event_dealloc},
    {Py_tp_repr, (void *)Event_repr},
    {Py_tp_methods, Event_methods},
    {Py_tp_getset, Event_getset},
    {0, NULL},
};
CUD_TYPE(Event, Event, Py_TPFLAGS_BASETYPE);
