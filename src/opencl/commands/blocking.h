/* blocking.h - copies for which the driver itself waits; see blocking.c. */
#ifndef PYGPU_BLOCKING_H
#define PYGPU_BLOCKING_H

#include "opencl/event.h"
#include "opencl/lifetime/queue_idle.h"

/* Who waits for a copy: nobody at this point, ocl_finish_host_copy(), or the driver within the
 * enqueue call. */
enum { OCL_WAIT_NOT = 0, OCL_WAIT_HERE = 1, OCL_WAIT_DRIVER = 2 };

/* Turns OCL_WAIT_HERE into OCL_WAIT_DRIVER if that is faster and cannot take long; the queue has
 * then been waited for. May release the GIL. Returns -1 with an exception from a signal handler. */
int ocl_choose_wait(Queue *queue, const WaitList *list, size_t bytes, int blocking);

/* Makes the enqueue call of a copy. Its arguments use OCL_BLOCKS(blocking) to say whether the
 * driver waits. */
#define OCL_BLOCKS(blocking) ((blocking) == OCL_WAIT_DRIVER ? CL_TRUE : CL_FALSE)
#define OCL_ENQUEUE_COPY(queue, blocking, status, fn, ...)                 \
    do {                                                                   \
        if (ocl_queue_may_block(queue) || (blocking) == OCL_WAIT_DRIVER) { \
            CL_NOGIL(status, fn, __VA_ARGS__);                             \
        } else {                                                           \
            CL_CALL(status, fn, __VA_ARGS__);                              \
        }                                                                  \
    } while (0)

#endif
