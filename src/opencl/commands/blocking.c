/* blocking.c - copies for which the driver itself waits.
 *
 * A blocking copy is normally enqueued as non-blocking and then waited for, so that Ctrl-C works
 * (wait.c). NVIDIA's driver (580.159) is slow at that: a blocking copy to ordinary host memory
 * runs in the calling thread, but a non-blocking one runs in a driver thread that takes 40 us to
 * start. On that driver the copy is therefore made blocking if it cannot take long: all earlier
 * commands have completed (after a wait that Ctrl-C can interrupt), no other queue of this process
 * can keep the device busy, and the copy is not large. */
#include "opencl/commands/blocking.h"
#include "opencl/event.h"
#include "opencl/lifetime/queue_idle.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

#define MOST_BYTES ((size_t)64 << 20) /* takes 20 ms on a slow bus */
#define MOST_EVENTS                                              \
    16 /* each costs a query; usually they are an array's latest \
        * events */

int ocl_choose_wait(Queue *queue, const WaitList *list, size_t bytes, int blocking) {
    if (blocking != OCL_WAIT_HERE ||
        !(queue->device->platform->quirks & OCL_QUIRK_SLOW_UNLESS_BLOCKING)) {
        return blocking;
    }
    int busy = queue->enqueued != queue->finished;
    if (bytes > MOST_BYTES || list->n > MOST_EVENTS || ocl_user_events_pending() > 0 ||
        ocl_queues_busy > busy) {
        return OCL_WAIT_HERE;
    }
    if (busy || ocl_queues_shared) {
        cl_int status;
        int failed = 0;
        if (ocl_queue_wait(queue, &status, &failed) < 0) {
            return -1;
        }
        if (status != CL_SUCCESS || failed || ocl_user_events_pending() > 0 ||
            ocl_queues_busy > 0) { /* other threads ran in the meantime */
            return OCL_WAIT_HERE;
        }
    }
    for (cl_uint i = 0; i < list->n; i++) {
        cl_int state = CL_SUBMITTED, status = CL_SUCCESS;
        CL_CALL(status, clGetEventInfo, list->events[i], CL_EVENT_COMMAND_EXECUTION_STATUS,
                sizeof state, &state, NULL);
        if (status != CL_SUCCESS || state != CL_COMPLETE) { /* from another library, or it failed */
            return OCL_WAIT_HERE;
        }
    }
    return OCL_WAIT_DRIVER;
}
