/* enqueue.h - what commands that are enqueued have in common. */
#ifndef PYGPU_OPENCL_ENQUEUE_H
#define PYGPU_OPENCL_ENQUEUE_H

#include "opencl/event.h"

/* Makes an enqueue call; with the GIL released if the driver may have to wait for room. */
#define OCL_ENQUEUE(queue, status, fn, ...)   \
    do {                                      \
        if (ocl_queue_may_block(queue)) {     \
            Py_BEGIN_ALLOW_THREADS            \
            CL_CALL(status, fn, __VA_ARGS__); \
            Py_END_ALLOW_THREADS              \
        } else {                              \
            CL_CALL(status, fn, __VA_ARGS__); \
        }                                     \
    } while (0)

/* A command on the device: finishes what every enqueue_* function ends with. Turns status into an
 * exception or event into an Event; clears the wait list. */
PyObject *ocl_finish_enqueue(Queue *queue, const char *routine, cl_int status, cl_event event,
                             WaitList *list);
/* The same for a command that reads or writes host memory: takes over *view. host becomes the
 * NannyEvent's ward. A blocking command was enqueued without blocking and is waited for here, so
 * that Ctrl-C works and other threads run. */
PyObject *ocl_finish_host_copy(Queue *queue, const char *routine, cl_int status, cl_event event,
                               WaitList *list, Py_buffer *view, PyObject *host, int blocking);
/* An Event for a command that has nothing to do: a marker after the wait list. */
PyObject *ocl_enqueue_nothing(Queue *queue, WaitList *list);

#endif
