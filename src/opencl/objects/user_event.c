/* user_event.c - UserEvent: an event that the program sets, and what happens to those it forgets.
 *
 * Failing a user event needs care with PoCL: its threads must be stopped meanwhile
 * (pocl_quiesce.c), which may have to wait for running kernels. set_status() does that wait
 * itself; for a dropped event the dispatcher of completion.c does.
 *
 * Intel's CPU runtime may be told of a failure only in some cases; see gates.c. */
#include "opencl/context.h"
#include "opencl/event.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gates.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/pocl_quiesce.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"

/* How long to wait for PoCL's threads. After that, a long kernel is running, which is unlikely to
 * end in the one critical moment. */
#define PATIENCE_SECONDS      10.0
#define EXIT_PATIENCE_SECONDS 1.0

/* User events without an outcome, so that exit can set one. Protected by the GIL. */
struct UserEventRecord {
    struct UserEventRecord *next, **link;
    cl_event event;
    cl_device_id device; /* its threads must be stopped while the event fails; NULL: none */
    Gate *gate;          /* NULL if the driver can handle failures */
    int settled;         /* exit has set an outcome */
    int dropped; /* the object is gone but the status is not set yet: the record owns the event */
};
static struct UserEventRecord *unset;
int ocl_user_events_unset;
int ocl_user_events_dropped;

static void link_record(struct UserEventRecord *record) {
    record->next = unset;
    record->link = &unset;
    if (unset != NULL) {
        unset->link = &record->next;
    }
    unset = record;
    ocl_user_events_unset++;
}

static void unlink_record(struct UserEventRecord *record) {
    *record->link = record->next;
    if (record->next != NULL) {
        record->next->link = record->link;
    }
    ocl_user_events_unset--;
}

/* The status to pass to the driver instead. */
static cl_int driver_status(const struct UserEventRecord *record, cl_int status) {
    return status < 0 && record->gate != NULL && record->gate->report_as_complete ? CL_COMPLETE
                                                                                  : status;
}

static void set_outcome(struct UserEventRecord *record, cl_int outcome) {
    if (record->gate != NULL) {
        record->gate->outcome = outcome;
    }
}

static void free_record(struct UserEventRecord *record) {
    ocl_gate_release(record->gate);
    PyMem_Free(record);
}

/* Fails the commands that wait for the event. The driver may run callbacks here; ours do not need
 * the GIL. Returns 0 if another attempt is worthwhile later, for example because the driver was
 * out of memory. */
static int abandon(struct UserEventRecord *record) {
    ocl_override_callbacks(record->event, -1);
    set_outcome(record, -1);
    for (int tries = 0; tries < 3; tries++) {
        cl_int status = CL_SUCCESS;
        CL_CALL(status, clSetUserEventStatus, record->event, driver_status(record, -1));
        if (status == CL_SUCCESS || status == CL_INVALID_OPERATION /* already set */ ||
            status == PG_STATUS_FORKED) {
            return 1;
        }
    }
    return 0;
}

static cl_device_id any_device(int dropped) {
    for (struct UserEventRecord *record = unset; record != NULL; record = record->next) {
        if (record->device != NULL && record->dropped >= dropped) {
            return record->device;
        }
    }
    return NULL;
}

void ocl_abandon_user_events(void) {
    int still = ocl_quiesce_begin(any_device(0), EXIT_PATIENCE_SECONDS, 0);
    for (struct UserEventRecord *record = unset; record != NULL; record = record->next) {
        record->settled = abandon(record);
    }
    if (still) {
        ocl_quiesce_end();
    }
}

/* Fails dropped user events, or tries again if the driver refused. */
static void abandon_dropped(int still) {
    for (struct UserEventRecord *record = unset, *next;
         ocl_user_events_dropped > 0 && record != NULL; record = next) {
        next = record->next;
        if (record->dropped && (still || record->device == NULL) && abandon(record)) {
            unlink_record(record);
            ocl_user_events_dropped--;
            ocl_suspect_failures();
            ocl_live[LIVE_EVENT]++; /* the record dropped it from the count, and the release will
                                     * do so again */
            ocl_event_release(record->event);
            free_record(record);
        }
    }
}

void ocl_fail_dropped_user_events(void) {
    int still = ocl_quiesce_begin(any_device(1), PATIENCE_SECONDS, 0);
    abandon_dropped(1);
    if (still) {
        ocl_quiesce_end();
    }
}

static void retry_dropped(void) {
    if (ocl_user_events_dropped > 0) {
        abandon_dropped(0);
        if (any_device(1) != NULL) {
            ocl_schedule_failures();
        }
    }
}

PG_DOC(UserEvent__doc__, "UserEvent", "context", "(context: Context)",
       "An event that the program sets itself; commands that wait for it do not run before.\n\n"
       "Dropped without set_status(), it fails, and so do the commands that wait for it.");
static ArgSpec UserEvent_args = PG_ARGSPEC(UserEvent__doc__);

static PyObject *UserEvent_make(PyTypeObject *type, PyObject *const *a) {
    Context *context;
    State *state = ocl_state_of(type);
    if (state == NULL || (context = ocl_as_context(state, a[0], "UserEvent")) == NULL ||
        ocl_need_version(state, "clCreateUserEvent", context->version, 110) < 0) {
        return NULL;
    }
    retry_dropped();
    struct UserEventRecord *record = PyMem_Calloc(1, sizeof *record);
    if (record == NULL) {
        return PyErr_NoMemory();
    }
    cl_int status = CL_SUCCESS;
    cl_event event;
    CL_MAKE(event, status, clCreateUserEvent, context->context);
    if (status != CL_SUCCESS || event == NULL) {
        PyMem_Free(record);
        return ocl_raise(state, "clCreateUserEvent",
                         status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES);
    }
    Event *self = ocl_event_make(state, type, event, context->context);
    if (self == NULL) {
        PyMem_Free(record);
        return NULL;
    }
    record->event = event;
    record->device = ocl_quiesce_device(context);
    link_record(record);
    self->user = record;
    if (ocl_gates_wanted(context)) {
        if ((self->gates = ocl_gates_new(event)) == NULL) {
            Py_DECREF(self);
            return NULL;
        }
        record->gate = self->gates->gate[0];
        record->gate->refs++;
    }
    return (PyObject *)self;
}
PG_NEW_BY(UserEvent, ocl_user_event, 1)

static int is_made(const Event *self) {
    return self->event != NULL;
}
static void moved(PyObject *op, PyObject *made) { /* everything but the attributes */
    Event *self = (Event *)op, *from = (Event *)made;
    self->event = from->event;
    self->context = from->context;
    self->user = from->user;
    self->keeps_context = from->keeps_context;
    self->gates = from->gates;
    from->gates = NULL;
    from->event = NULL;
    from->user = NULL;
    from->keeps_context = 0;
}
OCL_MADE_BY_INIT_IF(UserEvent, Event, UserEventType, is_made, sizeof(OclObject), moved)

/* No command may wait forever for an event that is gone. It does not matter if its class has been
 * changed. */
void ocl_user_event_dropped(Event *self) {
    struct UserEventRecord *record = self->user;
    int later = record->device != NULL && !record->settled && !(pg_trap & PG_TRAP_FORKED),
        still = 0;
    if (later && ocl_schedule_failures() < 0) { /* there is no dispatcher: do it here */
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        still = ocl_quiesce_begin(record->device, PATIENCE_SECONDS, 0);
        PyErr_Restore(type, value, traceback);
        later = 0;
    }
    if (!later && (record->settled || abandon(record))) {
        unlink_record(record);
        free_record(record);
        ocl_suspect_failures();
    } else {
        record->dropped = 1;
        ocl_user_events_dropped++;
        self->event = NULL;
        ocl_live[LIVE_EVENT]--;
        if (!later) {
            (void)ocl_schedule_failures(); /* if there is no dispatcher to try again, the next user
                                            * event does */
        }
    }
    self->user = NULL;
    if (still) {
        ocl_quiesce_end();
    }
}

static int UserEvent_traverse(PyObject *op, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((Event *)op)->ward_or_dict);
    return 0;
}

static int UserEvent_clear(PyObject *op) {
    Py_CLEAR(((Event *)op)->ward_or_dict);
    return 0;
}

static void UserEvent_dealloc(PyObject *op) {
    PyObject_GC_UnTrack(op);
    UserEvent_clear(op);
    if (ocl_user_events_dropped > 0) {
        abandon_dropped(0);
    }
    ocl_event_dealloc(op);
}

/* Sets the status in the driver. Returns -1 with an exception if PoCL's threads could not be
 * stopped, else 0 and the driver's *status. */
static int set_driver_status(Event *self, struct UserEventRecord *record, cl_int number,
                             cl_int *status) {
    cl_int sent = driver_status(record, number);
    *status = CL_SUCCESS;
    if (number < 0) {
        set_outcome(record, number); /* set first, because the driver's call wakes those who wait */
        ocl_override_callbacks(self->event,
                               number); /* PoCL calls back with COMPLETE all the same */
    }
    int still = number < 0 ? ocl_quiesce_begin(record->device, PATIENCE_SECONDS, 1) : 0;
    if (record->device != NULL && still >= 0) {
        CL_CALL(*status, clSetUserEventStatus, self->event, sent);
    } else if (still >= 0) {
        CL_NOGIL(*status, clSetUserEventStatus, self->event, sent);
    }
    if (still > 0) {
        ocl_quiesce_end();
    }
    return still < 0 ? -1 : 0;
}

static PyObject *UserEvent_set_status(PyObject *op, PyObject *value) {
    Event *self = (Event *)op;
    int64_t number;
    if (pg_as_i64(value, "UserEvent.set_status", "status", &number) < 0) {
        return NULL;
    }
    if (number > CL_COMPLETE || number < INT32_MIN) {
        return ocl_reject(self->state, "UserEvent.set_status", CL_INVALID_VALUE,
                          "status must be command_execution_status.COMPLETE (0) or a negative "
                          "error code, got %lld",
                          (long long)number);
    }
    if (ocl_event_is_made(self, "UserEvent.set_status") < 0) {
        return NULL;
    }
    if (self->user == NULL) {
        return ocl_reject(self->state, "UserEvent.set_status", CL_INVALID_OPERATION,
                          "the status was already set; it can be set only once");
    }
    cl_int status;
    struct UserEventRecord *record = self->user;
    Py_INCREF(op); /* the GIL is released below, so set it now to keep others from setting the
                    * status */
    self->user = NULL;
    unlink_record(record);
    ocl_user_events_unset++; /* until the call has returned: it may fail commands whose events must
                              * not be released meanwhile */
    int sent = set_driver_status(self, record, (cl_int)number, &status);
    ocl_user_events_unset--;
    PyObject *result = NULL;
    if (sent < 0 || status != CL_SUCCESS) { /* commands are still waiting: another attempt, or
                                             * dropping the event, must reach them */
        link_record(record);
        self->user = record;
        set_outcome(record, CL_SUBMITTED);
        ocl_override_callbacks(self->event, 0);
        if (sent >= 0) {
            ocl_raise(self->state, "clSetUserEventStatus", status);
        }
    } else {
        set_outcome(record, (cl_int)number);
        free_record(record);
        if (number < 0) {
            ocl_suspect_failures();
        }
        result = Py_NewRef(Py_None);
    }
    Py_DECREF(op);
    return result;
}

static PyMethodDef UserEvent_methods[] = {
    {"set_status", UserEvent_set_status, METH_O,
     "set_status($self, status, /)\n--\n\n(status: int, /) -> None\n\nLet waiting commands run "
     "(command_execution_status.COMPLETE) or fail (a negative number). It can be called once."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef UserEvent_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef UserEvent_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Event, ward_or_dict), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot UserEvent_slots[] = {
    PG_NEW_SLOTS(UserEvent),
    PG_GC_SLOTS(UserEvent),
    PG_TABLE_SLOTS(UserEvent),
    {0, NULL},
};
OCL_TYPE(UserEvent, Event, Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE);
