/* queue.h - queues. */
#ifndef PYGPU_OPENCL_QUEUE_H
#define PYGPU_OPENCL_QUEUE_H

#include "opencl/context.h"

typedef struct Queue {
    OCL_INSTANCE_HEAD(cl_command_queue, queue)
    Context *context;
    Device *device;
    cl_bitfield properties;
    int finalized; /* left as a context manager */
    int shared;    /* its handle may have got commands that this object does not know of */
    unsigned enqueued, finished; /* commands, and those known to be done: the driver's queue may be
                                    full of the others */
    unsigned failures;      /* of ocl_event_failures(): those that its order has been kept over; see
                               pocl_order.c */
    cl_command_queue other; /* the handle with which a profile exchanges it; NULL: none yet */
    size_t n_marks, room_for_marks;
    cl_event *marks;
    struct Gates *gates; /* the user events that its last command depends on, and so does the next
                          * one if it is in-order; see gates.h */
    PyObject *dict;
} Queue;

/* Returns the existing object, or a new one with its own reference. */
PyObject *ocl_queue_wrap(State *state, cl_command_queue handle);
/* Also launches deferred work, because a command follows. Other functions that begin a command do
 * the same. */
Queue *ocl_as_queue(State *state, PyObject *obj, const char *call);
int ocl_launch_deferred(Queue *self); /* 0, or -1 with an exception */
/* Exchanges the handle for one that records times (on), or back. 1; 0 if that cannot be; -1 with an
 * exception. */
int ocl_queue_profile(Queue *self, int on);
extern int ocl_queues_profiled; /* new queues record times */
/* Call before each command. Returns 1 if the command might block in the driver, so that the GIL
 * should be released. Always 0 on PoCL, where the GIL keeps enqueueing and failing apart
 * (pocl_quiesce.c); there it also restores the queue's order. */
int ocl_queue_may_block(Queue *self);
void ocl_queue_keep_order(Queue *self),
    ocl_queue_forget_order(Queue *self); /* before a command is enqueued on PoCL; when the queue is
                                          * destroyed */
void ocl_queue_release(Queue *self),
    ocl_queue_release_retired(
        void); /* releases the handle now or later; releases those that are due: queue_release.c */

/* Gets an event that completes when all commands so far on the queue have; it counts as live. */
cl_int ocl_enqueue_marker(Queue *queue, cl_event *event);
cl_int ocl_flush(Queue *queue);

#endif
