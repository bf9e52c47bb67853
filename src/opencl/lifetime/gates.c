/* gates.c - tracks which commands of Intel's CPU runtime depend on user events, and fails them
 * with these.
 *
 * When a command's wait list fails, this runtime skips the command, but reports its event as
 * complete, so commands that wait for that event or follow in an in-order queue still run. It
 * crashes if a command waits for a skipped one, and with out-of-order queues in any case. The
 * driver therefore gets a failure only where it was seen to survive it: if all commands that
 * wait for the user event belong to one in-order queue and wait for no other user event. Commands
 * merely enqueued after those are made to wait for the user event as well. In all other cases the
 * user event is completed without an error, and the driver runs the commands that wait for it.
 *
 * In both cases each Event records the user events that it depends on, and reports their failure
 * as its own. The GIL is held throughout. */
#include "opencl/context.h"
#include "opencl/event.h"
#include "opencl/lifetime/gates.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

static int wanted_always; /* for tests: use gates on every driver */

int ocl_gates_wanted(const Context *context) {
    return wanted_always || (context->devices[0]->platform->quirks & OCL_QUIRK_FAILED_IS_COMPLETE);
}

void ocl_gate_release(Gate *gate) {
    if (gate != NULL && --gate->refs == 0) {
        PyMem_Free(gate);
    }
}

static Gates *with_room(size_t n) {
    Gates *self = PyMem_Malloc(sizeof *self + n * sizeof self->gate[0]);
    if (self == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    self->refs = 1;
    self->n = 0;
    return self;
}

Gates *ocl_gates_new(cl_event event) {
    Gate *gate = PyMem_Calloc(1, sizeof *gate);
    Gates *self = gate != NULL ? with_room(1) : (Gates *)PyErr_NoMemory();
    if (self == NULL) {
        PyMem_Free(gate);
        return NULL;
    }
    gate->refs = 1;
    gate->event = event;
    gate->outcome = CL_SUBMITTED;
    gate->report_as_complete = wanted_always; /* otherwise tests would see the driver's failure
                                               * instead */
    self->gate[self->n++] = gate;
    return self;
}

void ocl_gates_release(Gates *self) {
    if (self == NULL || --self->refs > 0) {
        return;
    }
    for (size_t i = 0; i < self->n; i++) {
        ocl_gate_release(self->gate[i]);
    }
    PyMem_Free(self);
}

cl_int ocl_gates_failed(const Gates *self) {
    for (size_t i = 0; self != NULL && i < self->n; i++) {
        if (self->gate[i]->outcome < 0) {
            return self->gate[i]->outcome;
        }
    }
    return 0;
}

int ocl_gates_check(State *state, const Gates *self, const char *routine) {
    cl_int failed = ocl_gates_failed(self);
    if (PG_UNLIKELY(failed != 0)) {
        ocl_raise_ended(state, routine, failed);
    }
    return failed != 0 ? -1 : 0;
}

void ocl_gates_must_run(const Gates *self) {
    for (size_t i = 0; self != NULL && i < self->n; i++) {
        self->gate[i]->report_as_complete = 1;
    }
}

static size_t n_open(const Gates *self) { /* number of user events without an outcome */
    size_t n = 0;
    for (size_t i = 0; i < self->n; i++) {
        n += self->gate[i]->outcome == CL_SUBMITTED;
    }
    return n;
}

/* Adds those gates of more that have no outcome and are not marked yet: a user event that failed
 * before a command was enqueued does not affect it. */
static void join(Gates *self, const Gates *more, unsigned long mark) {
    for (size_t i = 0; i < more->n; i++) {
        Gate *gate = more->gate[i];
        if (gate->seen != mark && gate->outcome == CL_SUBMITTED) {
            gate->seen = mark;
            gate->refs++;
            self->gate[self->n++] = gate;
        }
    }
}

/* Makes the command wait for the user event itself. */
static int add_event(State *state, WaitList *list, cl_event event) {
    cl_int status = CL_SUCCESS;
    cl_event *events = list->events != NULL ? list->events : list->local;
    if (list->n >= OCL_WAIT_LOCAL) {
        events = PyMem_Malloc((list->n + 1) * sizeof *events);
        if (events == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        memcpy(events, list->events, list->n * sizeof *events);
        if (list->events != list->local) {
            PyMem_Free(list->events);
        }
    }
    list->events = events;
    CL_CALL(status, clRetainEvent, event); /* it may be dropped before the command is enqueued */
    if (status != CL_SUCCESS) {
        ocl_raise(state, "clRetainEvent", status);
        return -1;
    }
    ocl_live[LIVE_EVENT]++;
    list->own = event;
    list->events[list->n++] = event;
    return 0;
}

/* The events of the wait list that depend on gates. */
typedef struct {
    Event *only;
    size_t n, room;
} Found;

static Found scan_wait_list(const WaitList *list) {
    Found found = {NULL, 0, 0};
    for (Py_ssize_t i = 0; list->keep != NULL && i < PyTuple_GET_SIZE(list->keep); i++) {
        Event *event = (Event *)PyTuple_GET_ITEM(list->keep, i);
        if (event->gates != NULL && n_open(event->gates) > 0) {
            found.only = event;
            found.n++;
            found.room += event->gates->n;
        }
    }
    return found;
}

static Gates *join_all(const WaitList *list, const Gates *order, size_t room) {
    static unsigned long mark;
    Gates *self = with_room(room + (order != NULL ? order->n : 0));
    mark++;
    for (Py_ssize_t i = 0; self != NULL && list->keep != NULL && i < PyTuple_GET_SIZE(list->keep);
         i++) {
        Event *event = (Event *)PyTuple_GET_ITEM(list->keep, i);
        if (event->gates != NULL) {
            join(self, event->gates, mark);
        }
    }
    if (self != NULL && order != NULL) {
        join(self, order, mark);
    }
    return self;
}

/* Removes those with an outcome from the queue's gates. */
static int prune(Queue *queue) {
    Gates *old = queue->gates, *left = NULL;
    size_t n = old != NULL ? n_open(old) : 0;
    if (old == NULL || n == old->n) {
        return 0;
    }
    if (n > 0 && (left = join_all(&(WaitList){0}, old, 0)) == NULL) {
        return -1;
    }
    queue->gates = left;
    ocl_gates_release(old);
    return 0;
}

int ocl_gates_collect(WaitList *list, Queue *queue) {
    int in_order = !(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (prune(queue) < 0) {
        return -1;
    }
    Gates *order = queue->gates;
    Found found = scan_wait_list(list);
    if (found.n == 0 && order == NULL) {
        return 0;
    }
    if (found.n == 0 || (found.n == 1 && (order == NULL || order == found.only->gates))) {
        list->gates = ocl_gates_share(found.n == 0 ? order : found.only->gates);
    } else if ((list->gates = join_all(list, order, found.room)) == NULL) {
        return -1;
    }
    Gate *gate = list->gates->gate[0];
    int direct = found.n == 1 && found.only->user != NULL;
    if (!in_order || list->gates->n > 1 || (found.n > 0 && !direct) || gate->report_as_complete ||
        (gate->queue != NULL && gate->queue != queue->queue)) {
        ocl_gates_must_run(list->gates);
        return 0;
    }
    gate->queue = queue->queue;
    return direct ? 0 : add_event(queue->state, list, gate->event);
}

void ocl_gates_enqueued(Queue *queue, Gates *self) {
    if (self != NULL && !(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
        Gates *old = queue->gates;
        queue->gates = ocl_gates_share(self);
        ocl_gates_release(old);
    }
}

static PyObject *gate_user_events(PyObject *Py_UNUSED(module), PyObject *flag) {
    int wanted = PyObject_IsTrue(flag);
    if (wanted < 0) {
        return NULL;
    }
    wanted_always = wanted;
    Py_RETURN_NONE;
}

PyMethodDef ocl_gate_functions[] = {
    {"_gate_user_events", gate_user_events, METH_O,
     "_gate_user_events(flag, /)\n--\n\n(flag: bool, /) -> None\n\nTreat user events made from now "
     "on like those of Intel's "
     "runtime. For tests only."},
    {NULL, NULL, 0, NULL},
};
