/* enqueue.h - what all enqueued commands have in common. */
#ifndef PYGPU_OPENCL_ENQUEUE_H
#define PYGPU_OPENCL_ENQUEUE_H

#include "opencl/event.h"
#include "opencl/memory.h"
#include "opencl/queue.h"

/* Makes an enqueue call, releasing the GIL if the driver may have to wait for space in its
 * queue. */
#define OCL_ENQUEUE(queue, status, fn, ...)    \
    do {                                       \
        if (ocl_queue_may_block(queue)) {      \
            CL_NOGIL(status, fn, __VA_ARGS__); \
        } else {                               \
            CL_CALL(status, fn, __VA_ARGS__);  \
        }                                      \
    } while (0)

/* Returns a live buffer of the queue's context, or NULL with an exception; NULL for no queue. */
static inline Memory *ocl_queue_buffer(const Queue *queue, PyObject *obj, const char *call,
                                       const char *name) {
    return queue != NULL ? ocl_as_buffer(queue->state, obj, call, name, queue->context->context)
                         : NULL;
}

/* The common end of all enqueue_* functions: turns status into an exception or event into an
 * Event, and clears the wait list. */
PyObject *ocl_finish_enqueue(Queue *queue, const char *routine, cl_int status, cl_event event,
                             WaitList *list);
/* The same for a command that reads or writes host memory; takes over *view. host becomes the
 * NannyEvent's ward. A blocking command was enqueued as non-blocking and is waited for here, so
 * that Ctrl-C works and other threads can run. */
PyObject *ocl_finish_host_copy(Queue *queue, const char *routine, cl_int status, cl_event event,
                               WaitList *list, Py_buffer *view, PyObject *host, int blocking);
/* An Event for a command with nothing to do: a marker after the wait list. */
PyObject *ocl_enqueue_empty(Queue *queue, WaitList *list);

#endif
