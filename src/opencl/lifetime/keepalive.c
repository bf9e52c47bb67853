/* keepalive.c - keeps an object alive until the commands so far on a queue have completed, without
 * waiting for them.
 *
 * A marker's callback normally drops the object's ticket, and with it the object. But there may be
 * no memory for a ticket, or the marker may fail. The dispatcher polls such markers, as does any
 * later call here. If a marker failed, another one is enqueued: the failure of one command does
 * not mean that those before it have completed. */
#include "opencl/event.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/keepalive.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

#define TICKET_NAME  "pygpu.ticket"
#define LOOK_SECONDS 0.01 /* not at every allocation, as there may be many to poll */

typedef struct Held {
    struct Held *next, **link;
    PyObject *object;
    Queue *queue;
    cl_event event;       /* the marker's; NULL: none */
    struct Held **ticket; /* memory of the capsule that the event keeps; it points back here or is
                           * NULL */
    unsigned round;       /* of the last poll */
    int busy;             /* its marker is being enqueued, perhaps without the GIL */
} Held;

static Held *held; /* all of them; protected by the GIL */
static unsigned rounds;

static void Held_link(Held *self) {
    self->next = held;
    self->link = &held;
    if (held != NULL) {
        held->link = &self->next;
    }
    held = self;
}

static void Held_unlink(Held *self) {
    *self->link = self->next;
    if (self->next != NULL) {
        self->next->link = self->link;
    }
}

static void Held_forget_event(Held *self) {
    if (self->ticket != NULL) {
        *self->ticket = NULL;
        self->ticket = NULL;
    }
    if (self->event != NULL) {
        ocl_event_release(self->event);
        self->event = NULL;
    }
}

static void Held_end(Held *self) {
    PyObject *object = self->object, *queue = (PyObject *)self->queue;
    Held_unlink(self);
    Held_forget_event(self);
    PyMem_Free(self);
    Py_DECREF(object); /* destroying it may re-enter this file */
    Py_DECREF(queue);
}

/* Returns CL_COMPLETE, CL_QUEUED (running or unknown), or an error. */
static cl_int outcome(cl_event event) {
    cl_int exec = CL_QUEUED, status = CL_SUCCESS;
    CL_CALL(status, clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof exec, &exec,
            NULL);
    return status != CL_SUCCESS || exec > CL_COMPLETE ? CL_QUEUED : exec;
}

static void drop_ticket(PyObject *capsule) {
    Held **ticket = PyCapsule_GetPointer(capsule, TICKET_NAME), *self = *ticket;
    PyMem_Free(ticket);
    if (self != NULL) {
        self->ticket = NULL;
        if (outcome(self->event) == CL_COMPLETE) {
            Held_end(self);
        } else { /* it failed */
            ocl_schedule_keepalive_check();
        }
    }
}

/* Requests a callback for when the commands so far have completed. May free self. Returns a status
 * if no marker could be enqueued. */
static cl_int Held_watch(Held *self) {
    cl_event event = NULL;
    self->busy = 1;
    cl_int status = ocl_enqueue_marker(self->queue, &event);
    if (status == CL_SUCCESS) {
        ocl_flush(self->queue); /* the queue is kept alive until then, so nothing else might flush
                                 * it */
    }
    self->busy = 0;
    if (status != CL_SUCCESS) {
        return status;
    }
    self->event = event;
    if (outcome(event) == CL_COMPLETE) {
        Held_end(self);
        return CL_SUCCESS;
    }
    Held **ticket = PyMem_Malloc(sizeof *ticket);
    PyObject *capsule = ticket != NULL ? PyCapsule_New(ticket, TICKET_NAME, drop_ticket) : NULL;
    if (capsule == NULL) { /* then there will be no callback */
        PyErr_Clear();
        PyMem_Free(ticket);
        ocl_schedule_keepalive_check();
        return CL_SUCCESS;
    }
    *ticket = self;
    self->ticket = ticket;
    ocl_keepalive_object(self->queue->state, event, capsule);
    Py_DECREF(capsule);
    return CL_SUCCESS;
}

int ocl_keepalive_poll(void) {
    static double last = 0;
    if (held == NULL) {
        return 0;
    }
    double now = pg_seconds();
    if (now - last < LOOK_SECONDS) {
        return 1;
    }
    last = now;
    unsigned round = ++rounds;
    for (Held *self = held, *next; self != NULL; self = next) {
        next = self->next;
        if (self->round == round || self->busy) {
            continue;
        }
        self->round = round;
        cl_int found = self->event != NULL ? outcome(self->event) : CL_INVALID_EVENT;
        if (found == CL_QUEUED || (found == CL_COMPLETE && self->ticket != NULL)) {
            continue;
        }
        if (found == CL_COMPLETE) {
            Held_end(self);
        } else {
            Held_forget_event(self);
            Held_watch(self);
        }
        next = held; /* the list may have changed */
    }
    for (Held *self = held; self != NULL; self = self->next) {
        if (self->ticket == NULL) {
            return 1;
        }
    }
    return 0;
}

void ocl_keepalive_for_queue(Queue *queue, PyObject *object) {
    cl_int status = CL_OUT_OF_HOST_MEMORY;
    Held *self = PyMem_Calloc(1, sizeof *self);
    Py_INCREF(object);
    if (self != NULL) {
        self->object = object;
        self->queue = (Queue *)Py_NewRef(queue);
        self->round = rounds;
        Held_link(self);
        status = Held_watch(self);
        if (status == CL_SUCCESS) {
            return;
        }
        Held_unlink(self);
        Py_DECREF(self->queue);
        PyMem_Free(self);
    }
    if (status != PG_STATUS_FORKED) { /* the driver is failing: waiting is the only option left */
        Py_INCREF(queue);
        CL_NOGIL(status, clFinish, queue->queue);
        Py_DECREF(queue);
    }
    if (status == CL_SUCCESS) {
        Py_DECREF(object);
    } /* otherwise the device may still use it: a leak is better than corruption */
}
