/* gates.h - user events of a driver that cannot be told that they failed, and the commands behind
 * them; see gates.c. */
#ifndef PYGPU_GATES_H
#define PYGPU_GATES_H

#include "opencl/event.h"
#include "opencl/opencl.h"

/* A user event. Counted by the sets that it is in and by the user event's record. */
typedef struct Gate {
    size_t refs;
    cl_int outcome;         /* CL_SUBMITTED: none yet */
    int must_hear_complete; /* the driver would not survive hearing of a failure */
    cl_command_queue
        queue;      /* of the commands that wait for it, as long as it is but one; borrowed */
    cl_event event; /* the user event, as long as it has no outcome; borrowed */
    unsigned long seen;
} Gate;

/* Those that a command waits for: directly, by the events in its wait list, or by the order of its
 * queue. Shared, and never changed. */
typedef struct Gates {
    size_t refs;
    size_t n;
    Gate *gate[];
} Gates;

void ocl_gate_let_go(Gate *gate); /* which may be NULL */
/* The Event of a command, which fails with what it waits for; clears the list. Takes over the
 * handle, as ocl_event_make(). */
PyObject *ocl_event_after(Queue *queue, cl_event event, WaitList *list);
cl_int ocl_event_failed(const Event *self); /* how, if the driver does not say so; else 0 */
/* 0, or -1 with an exception if it failed like that. */
int ocl_event_check(const Event *self, const char *routine);

int ocl_gates_wanted(const Context *context); /* whether the context's user events need them */
Gates *ocl_gates_new(cl_event event);         /* of a new user event; NULL with an exception */
void ocl_gates_let_go(Gates *self);           /* which may be NULL */
static inline Gates *ocl_gates_share(Gates *self) {
    if (self != NULL) {
        self->refs++;
    }
    return self;
}
cl_int ocl_gates_failed(
    const Gates *self); /* how the first that failed did, or 0; self may be NULL */
int ocl_gates_check(State *state, const Gates *self,
                    const char *routine); /* 0, or -1 with an exception if one failed */
/* Sets list->gates for a command of queue, from the events of its tuple and from what the queue's
 * last command is behind. May add to the events. -1 with an exception. */
int ocl_gates_collect(WaitList *list, Queue *queue);
void ocl_gates_enqueued(Queue *queue,
                        Gates *self); /* a command that is behind them; self may be NULL */
/* For a command that must run whatever it waits for. */
void ocl_gates_must_run(const Gates *self);

#endif
