/* gates.h - user events of a driver that cannot handle their failure, and the commands that depend
 * on them; see gates.c. */
#ifndef PYGPU_GATES_H
#define PYGPU_GATES_H

#include "opencl/event.h"
#include "opencl/opencl.h"

/* A user event. Reference counted by the sets that contain it and by the user event's record. */
typedef struct Gate {
    size_t refs;
    cl_int outcome;         /* CL_SUBMITTED while there is none */
    int report_as_complete; /* the driver would crash if told of a failure */
    cl_command_queue queue; /* the queue of the commands that wait for it, as long as there is only
                             * one; borrowed */
    cl_event event;         /* the user event until it has an outcome; borrowed */
    unsigned long seen;
} Gate;

/* The user events that a command depends on: directly, through the events in its wait list, or
 * through the order of its queue. Shared and immutable. */
typedef struct Gates {
    size_t refs;
    size_t n;
    Gate *gate[];
} Gates;

void ocl_gate_release(Gate *gate); /* accepts NULL */
/* Makes the Event of a command, which fails together with the user events that it depends on.
 * Takes over the handle, as ocl_event_make() does, and clears the list. */
PyObject *ocl_event_after(Queue *queue, cl_event event, WaitList *list);
cl_int ocl_event_failed(const Event *self); /* the failure, if the driver does not report it;
                                             * otherwise 0 */
/* Returns 0, or -1 with an exception if it failed that way. */
int ocl_event_check(const Event *self, const char *routine);

int ocl_gates_wanted(const Context *context); /* whether the context's user events need gates */
Gates *ocl_gates_new(cl_event event);         /* for a new user event; NULL with an exception */
void ocl_gates_release(Gates *self);          /* accepts NULL */
static inline Gates *ocl_gates_share(Gates *self) {
    if (self != NULL) {
        self->refs++;
    }
    return self;
}
cl_int ocl_gates_failed(
    const Gates *self); /* the status of the first that failed, or 0; self may be NULL */
int ocl_gates_check(State *state, const Gates *self,
                    const char *routine); /* returns 0, or -1 with an exception if one failed */
/* Sets list->gates for a command of queue, from the events in its tuple and from what the queue's
 * last command depends on. May add to the events. Returns -1 with an exception. */
int ocl_gates_collect(WaitList *list, Queue *queue);
void ocl_gates_enqueued(Queue *queue,
                        Gates *self); /* counts a command that depends on them; self may be NULL */
/* For a command that must run even if what it waits for fails. */
void ocl_gates_must_run(const Gates *self);

#endif
