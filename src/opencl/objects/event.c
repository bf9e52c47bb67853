/* event.c - Event and NannyEvent: the progress of commands. */
#include "opencl/api/info.h"
#include "opencl/event.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gates.h"
#include "opencl/objects/program.h"
#include "opencl/objects/repr.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

enum {
#define EVENT_INFO(attr, KIND, number, PARAM, unit, text) ROW_##attr,
#include "opencl/api/info.def"
    ROW_COUNT
};
static const Info Event_info[] = {
#define EVENT_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};
enum {
#define PROFILING_INFO(attr, KIND, number, PARAM, unit, text) PROFILING_ROW_##attr,
#include "opencl/api/info.def"
    PROFILING_ROW_COUNT
};
static const Info Profiling_info[] = {
#define PROFILING_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};

static cl_int Event_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS, failed = ocl_event_failed(self);
    if (PG_UNLIKELY(((Event *)self)->event == NULL)) { /* not initialized */
        return CL_INVALID_EVENT;
    }
    CL_CALL(status, clGetEventInfo, ((Event *)self)->event, param, size, value, size_ret);
    if (failed != 0 && param == CL_EVENT_COMMAND_EXECUTION_STATUS && status == CL_SUCCESS &&
        size >= sizeof failed && value != NULL) {
        memcpy(value, &failed, sizeof failed);
    }
    return status;
}

static cl_int Event_query_profiling(void *self, cl_uint param, size_t size, void *value,
                                    size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    if (PG_UNLIKELY(((Event *)self)->event == NULL)) {
        return CL_INVALID_EVENT;
    }
    CL_CALL(status, clGetEventProfilingInfo, ((Event *)self)->event, param, size, value, size_ret);
    if (PG_UNLIKELY(ocl_quirks_in_use & OCL_QUIRK_CALLS_BACK_LATE) && status == CL_SUCCESS &&
        value != NULL) { /* NVIDIA's driver reports times, wrong ones, even for commands that have
                          * not completed */
        cl_int exec = CL_COMPLETE;
        CL_CALL(status, clGetEventInfo, ((Event *)self)->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                sizeof exec, &exec, NULL);
        status = status == CL_SUCCESS && exec > CL_COMPLETE ? CL_PROFILING_INFO_NOT_AVAILABLE
                                                            : status;
    }
    return status;
}

/* A free list: most programs create an event for each command and drop it immediately. */
#if defined(Py_GIL_DISABLED) || defined(Py_TRACE_REFS) || defined(__SANITIZE_ADDRESS__)
#define MAX_SPARE 0
#else
#define MAX_SPARE 64
#endif
static struct {
    int n;
    Event *events[MAX_SPARE + 1];
} spare;

static inline Event *new_event(State *state, PyTypeObject *type) {
    if (spare.n == 0 || type != state->EventType) {
        return (Event *)PG_NEW(type);
    }
    Event *self = spare.events[--spare.n];
    memset((char *)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
    return (Event *)PyObject_Init((PyObject *)self, type);
}

Event *ocl_event_make(State *state, PyTypeObject *type, cl_event event, cl_context context) {
    ocl_live[LIVE_EVENT]++;
    Event *self = new_event(state, type);
    if (self == NULL) {
        ocl_event_release(event);
        return NULL;
    }
    self->state = state;
    self->event = event;
    self->context = context;
    if (PG_UNLIKELY(ocl_quirks_in_use & OCL_QUIRK_EVENTS_LOSE_CONTEXT) && context != NULL) {
        cl_int status = CL_SUCCESS;
        CL_CALL(status, clRetainContext, context);
        self->keeps_context = status == CL_SUCCESS; /* otherwise the driver keeps the context
                                                     * alive */
    }
    return self;
}

PyObject *ocl_event_new(State *state, cl_event event, cl_context context) {
    return (PyObject *)ocl_event_make(state, state->EventType, event, context);
}

PyObject *ocl_event_after(Queue *queue, cl_event event, WaitList *list) {
    Gates *gates = list->gates;
    list->gates = NULL;
    if (list->keep != NULL || list->own != NULL) {
        ocl_wait_list_clear(list);
    }
    PyObject *self = ocl_event_new(queue->state, event, queue->context->context);
    if (PG_UNLIKELY(gates != NULL)) {
        ocl_gates_enqueued(queue, gates);
        if (self != NULL) {
            ((Event *)self)->gates = ocl_gates_share(gates);
        }
        ocl_gates_release(gates);
    }
    return self;
}

PyObject *ocl_nanny_event_new(State *state, cl_event event, cl_context context, PyObject *ward) {
    Event *self = ocl_event_make(state, state->NannyEventType, event, context);
    if (self != NULL) {
        self->ward_or_dict = Py_XNewRef(ward);
    }
    return (PyObject *)self;
}

int ocl_event_is_made(const Event *self, const char *call) {
    return PG_UNLIKELY(self->event == NULL)
               ? ocl_refuse_uninitialized(self->state, call, "event", CL_INVALID_EVENT)
               : 0;
}

void ocl_event_dealloc(PyObject *op) {
    Event *self = (Event *)op;
    PyTypeObject *type = Py_TYPE(op);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    if (PG_UNLIKELY(self->user != NULL)) {
        ocl_user_event_dropped(self);
    }
    if (self->event != NULL) {
        ocl_event_release(self->event);
    }
    if (PG_UNLIKELY(self->keeps_context)) {
        cl_int status = CL_SUCCESS;
        CL_CALL(status, clReleaseContext, self->context);
        (void)status;
    }
    ocl_gates_release(self->gates);
    Py_XDECREF(self->ward_or_dict);
    if (spare.n < MAX_SPARE && type == self->state->EventType) {
        spare.events[spare.n++] = self;
    } else {
        type->tp_free(op);
    }
    Py_DECREF(type);
}

static PyObject *Event_get(PyObject *op, void *closure) {
    return ocl_info(((Event *)op)->state, op, Event_query, "clGetEventInfo",
                    &Event_info[(intptr_t)closure]);
}

static PyObject *Event_get_info(PyObject *op, PyObject *param) {
    return ocl_info_by_param(((Event *)op)->state, op, Event_query, "clGetEventInfo", Event_info,
                             ROW_COUNT, Event_get, param);
}

static PyObject *Event_get_profiling_info(PyObject *op, PyObject *param) {
    return ocl_info_by_param(((Event *)op)->state, op, Event_query_profiling,
                             "clGetEventProfilingInfo", Profiling_info, PROFILING_ROW_COUNT, NULL,
                             param);
}

static PyObject *Event_wait(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Event *self = (Event *)op;
    if (ocl_event_is_made(self, "clWaitForEvents") < 0 ||
        ocl_wait(self->state, self->event, "clWaitForEvents", NULL) < 0 ||
        ocl_event_check(self, "clWaitForEvents") < 0) {
        return NULL;
    }
    if (self->ward_or_dict != NULL && PyObject_TypeCheck(op, self->state->NannyEventType)) {
        Py_CLEAR(self->ward_or_dict);
    }
    return pg_report(&self->state->common) < 0 ? NULL : Py_NewRef(Py_None);
}

PG_DOC(Event_set_callback__doc__, "set_callback", "$self, type, callback, /",
       "(type: int, callback: Callable[[int], object], /) -> None",
       "Call *callback*(status) when the command reaches the state *type* "
       "(command_execution_status.COMPLETE, ...).\n\n"
       "The callback runs in a thread of pygpu; its exceptions go to sys.unraisablehook. A status "
       "below 0 is "
       "the error of a failed command.");

static PyObject *Event_set_callback(PyObject *op, PyObject *const *args, Py_ssize_t nargs) {
    Event *self = (Event *)op;
    int64_t at;
    if (nargs != 2) {
        return PyErr_Format(PyExc_TypeError,
                            "Event.set_callback: takes a status and a callable, got %zd arguments",
                            nargs);
    }
    if (pg_as_i64(args[0], "Event.set_callback", "type", &at) < 0) {
        return NULL;
    }
    if (!PyCallable_Check(args[1])) {
        return PyErr_Format(PyExc_TypeError,
                            "Event.set_callback: callback must be callable, not %s",
                            pg_type_name(args[1]));
    }
    if (ocl_event_is_made(self, "Event.set_callback") < 0) {
        return NULL;
    }
    if (at < CL_COMPLETE || at > CL_SUBMITTED) {
        return ocl_reject(self->state, "Event.set_callback", CL_INVALID_VALUE,
                          "type must be COMPLETE, RUNNING or SUBMITTED, got %lld", (long long)at);
    }
    cl_int exec = CL_QUEUED,
           status = Event_query(self, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof exec, &exec, NULL);
    cl_int failed = status == CL_SUCCESS && exec < 0 ? exec
                                                     : 0; /* PoCL would call back with COMPLETE for
                                                           * an event that has already failed */
    return ocl_add_callback(self->state, self->event, (cl_int)at, args[1], failed, self->gates) < 0
               ? NULL
               : Py_NewRef(Py_None);
}

static PyObject *Event_get_profile(PyObject *op, void *Py_UNUSED(closure)) {
    Event *self = (Event *)op;
    Profile *profile = (Profile *)PG_NEW(self->state->ProfileType);
    if (profile != NULL) {
        profile->event = (Event *)Py_NewRef(op);
    }
    return (PyObject *)profile;
}

static PyObject *Event_of_handle(State *state, PyTypeObject *Py_UNUSED(type), void *handle,
                                 int retain) {
    cl_event event = (cl_event)handle;
    cl_context context = NULL;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetEventInfo, event, CL_EVENT_CONTEXT, sizeof context, &context, NULL);
    if (status == CL_SUCCESS && retain) {
        CL_CALL(status, clRetainEvent, event);
    }
    return status == CL_SUCCESS ? ocl_event_new(state, event, context)
                                : ocl_raise(state, "clRetainEvent", status);
}

OCL_FROM_INT_PTR(Event, "Event", "Event", "Event of a cl_event")

static PyMethodDef Event_methods[] = {
    PG_NO_PICKLE,
    {"wait", Event_wait, METH_NOARGS,
     "wait($self, /)\n--\n\n() -> None\n\nWait until the command is done. Other threads run "
     "meanwhile; Ctrl-C interrupts. Raises if the command failed."},
    {"set_callback", (PyCFunction)(void (*)(void))Event_set_callback, METH_FASTCALL,
     Event_set_callback__doc__},
    INFO_METHOD(Event_get_info, "event_info"),
    {"get_profiling_info", Event_get_profiling_info, METH_O,
     "get_profiling_info($self, param, /)\n--\n\n(param: int, /) -> int\n\nA time by number "
     "(profiling_info.NAME) [ns]."},
    OCL_FROM_INT_PTR_METHOD(Event),
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Event_getset[] = {
#define EVENT_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(ROW_##attr, #attr, Event_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    OCL_HANDLE_GETSET("cl_event"),
    {"profile", Event_get_profile, NULL,
     "_Profile: times of the command, if the queue has PROFILING_ENABLE", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PG_WEAKREF_MEMBERS(Event, Event);
static PyType_Slot Event_slots[] = {
    {Py_tp_doc, (void *)"The state of a command: wait for it, read its times, or pass it to other "
                        "commands as wait_for."},
    {Py_tp_dealloc, (void *)ocl_event_dealloc},
    {Py_tp_repr, (void *)ocl_event_repr},
    OCL_HANDLE_SLOTS,
    PG_TABLE_SLOTS(Event),
    {0, NULL},
};
/* Not tracked by the garbage collector: one is made for every command, and it refers to nothing
 * that could refer back. */
OCL_TYPE(Event, Event, Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);

/* ---- NannyEvent ------------------------------------------------------------------------------ */

static PyObject *NannyEvent_get_ward(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    PyObject *ward = ((Event *)op)->ward_or_dict;
    return Py_NewRef(ward != NULL ? ward : Py_None);
}

static PyMethodDef NannyEvent_methods[] = {
    {"get_ward", NannyEvent_get_ward, METH_NOARGS,
     "get_ward($self, /)\n--\n\n() -> object\n\nThe host object of the command, or None once "
     "wait() has returned."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot NannyEvent_slots[] = {
    {Py_tp_doc, (void *)"The Event of a copy to or from host memory. The memory is kept until the "
                        "copy is done, even if this object is dropped."},
    {Py_tp_dealloc, (void *)ocl_event_dealloc},
    {Py_tp_methods, NannyEvent_methods},
    {0, NULL},
};
OCL_TYPE(NannyEvent, Event, Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);

/* ---- Profile --------------------------------------------------------------------------------- */

static void Profile_dealloc(PyObject *op) {
    Py_XDECREF(((Profile *)op)->event);
    pg_object_free(op);
}

static PyObject *Profile_get(PyObject *op, void *closure) {
    Event *event = ((Profile *)op)->event;
    return ocl_info(event->state, event, Event_query_profiling, "clGetEventProfilingInfo",
                    &Profiling_info[(intptr_t)closure]);
}

static PyGetSetDef Profile_getset[] = {
#define PROFILING_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(PROFILING_ROW_##attr, #attr, Profile_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    {NULL, NULL, NULL, NULL, NULL},
};

/* Old programs write profile.END, which PyOpenCL accepts with a warning. Only names that are not
 * attributes get here. */
static PyObject *Profile_getattro(PyObject *op, PyObject *name) {
    PyObject *value = PyObject_GenericGetAttr(op, name), *type, *error, *traceback;
    if (value != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return value;
    }
    PyErr_Fetch(&type, &error, &traceback);
    const char *text = PyUnicode_AsUTF8(name);
    PyErr_Clear();
    for (const PyGetSetDef *row = Profile_getset; text != NULL && row->name != NULL; row++) {
        if (PyOS_stricmp(text, row->name) == 0) {
            Py_XDECREF(type), Py_XDECREF(error), Py_XDECREF(traceback);
            return PyErr_WarnFormat(PyExc_DeprecationWarning, 1,
                                    "Event.profile.%U is deprecated; use Event.profile.%s", name,
                                    row->name) < 0
                       ? NULL
                       : row->get(op, row->closure);
        }
    }
    PyErr_Restore(type, error, traceback);
    return NULL;
}

static PyObject *Profile_repr(PyObject *op) {
    static const char *const names[] = {"queued", "submit", "start", "end", NULL};
    PyObject *queued = PyObject_GetAttrString(op, names[0]);
    if (queued == NULL) {
        PyErr_Clear();
        return PyUnicode_FromFormat("<%s without times>", Py_TYPE(op)->tp_name);
    }
    Py_DECREF(queued);
    return pg_attributes_repr(op, names);
}

static PyType_Slot Profile_slots[] = {
    {Py_tp_doc,
     (void *)"Times of a command [ns]; their differences have a meaning, their zero has none."},
    {Py_tp_dealloc, (void *)Profile_dealloc},
    {Py_tp_repr, (void *)Profile_repr},
    {Py_tp_getattro, (void *)Profile_getattro},
    {Py_tp_getset, Profile_getset},
    {0, NULL},
};
PG_TYPE(ocl, "pygpu._Profile", Profile, Profile, OCL_FLAGS | Py_TPFLAGS_DISALLOW_INSTANTIATION);

/* ---- functions ------------------------------------------------------------------------------- */

static PyObject *wait_for_events(PyObject *module, PyObject *events) {
    State *state = PyModule_GetState(module);
    WaitList list;
    PyObject *result = NULL;
    if (ocl_wait_list(state, events, "wait_for_events", NULL, &list) < 0) {
        return NULL;
    }
    /* Waiting for one after the other takes no longer than for all at once. After a failure the
     * others must still be waited for, as they may be running. */
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    for (cl_uint i = 0; i < list.n; i++) {
        int interrupted = 0;
        if (ocl_wait(state, list.events[i], "clWaitForEvents", &interrupted) < 0 ||
            ocl_event_check((Event *)PyTuple_GET_ITEM(list.keep, i), "clWaitForEvents") < 0) {
            if (interrupted || type != NULL) {
                Py_XDECREF(type);
                Py_XDECREF(value);
                Py_XDECREF(traceback);
                type = value = traceback = NULL;
            }
            if (interrupted) {
                goto done;
            }
            PyErr_Fetch(&type, &value, &traceback);
        }
    }
    if (type != NULL) {
        PyErr_Restore(type, value, traceback);
    } else if (pg_report(&state->common) == 0) {
        result = Py_NewRef(Py_None);
    }
done:
    ocl_wait_list_clear(&list);
    return result;
}

PyMethodDef ocl_event_functions[] = {
    {"wait_for_events", wait_for_events, METH_O,
     "wait_for_events(events, /)\n--\n\n(events: Sequence[Event], /) -> None\n\nWait until all the "
     "events are done; an empty list returns at once."},
    {NULL, NULL, 0, NULL},
};
