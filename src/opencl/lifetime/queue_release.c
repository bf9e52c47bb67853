/* queue_release.c - releases the program's reference to a queue.
 *
 * Intel's CPU runtime hangs forever if an out-of-order queue is released while its last command is
 * being destroyed: one of its threads then destroys the queue's list of tasks from within one of
 * these tasks, and waits for itself. A command is reported as complete a moment before that, so
 * nobody can know when it is safe. Such queues are therefore kept until all their commands have
 * been complete for a while, and are released when the next queue is created or dropped.
 *
 * As in pocl_quiesce.c, calls that the program did not request bypass CL_CALL. */
#include "opencl/opencl.h"
#include "opencl/queue.h"

#define KEPT_SECONDS 2.0

typedef struct {
    cl_command_queue queue;
    cl_event marker; /* completes when all commands have; NULL once it was seen complete */
    double since;    /* when that was */
} Retired;

static Retired *retired; /* GIL held */
static size_t n_retired, room;

static int is_over(cl_event event) {
    cl_int exec = CL_QUEUED;
    return cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof exec, &exec, NULL) ==
               CL_SUCCESS &&
           exec <= CL_COMPLETE;
}

static void release_now(cl_command_queue queue) {
    cl_int status = CL_SUCCESS; /* ignored: there is nobody to report it to */
    CL_CALL(status, clReleaseCommandQueue, queue);
    (void)status;
}

void ocl_queue_release_retired(void) {
    if (n_retired == 0 || (pg_trap & PG_TRAP_FORKED)) {
        return;
    }
    double now = pg_seconds();
    size_t kept = 0;
    for (size_t i = 0; i < n_retired; i++) {
        Retired one = retired[i];
        if (one.marker != NULL && is_over(one.marker)) {
            cl.clReleaseEvent(one.marker);
            one.marker = NULL;
            one.since = now;
        }
        if (one.marker == NULL && now - one.since > KEPT_SECONDS) {
            release_now(one.queue);
        } else {
            retired[kept++] = one;
        }
    }
    n_retired = kept;
}

static void retire(cl_command_queue queue) {
    if (n_retired == room) {
        size_t more = room > 0 ? room * 2 : 16;
        Retired *list = PyMem_Realloc(retired, more * sizeof *list);
        if (list == NULL) {
            return; /* leaks it: better than a hang */
        }
        retired = list;
        room = more;
    }
    cl_event marker = NULL;
    if (cl.clEnqueueMarkerWithWaitList == NULL ||
        cl.clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker) != CL_SUCCESS) {
        marker = NULL;
    }
    cl.clFlush(queue);
    retired[n_retired++] = (Retired){queue, marker, pg_seconds()};
}

void ocl_queue_release(Queue *self) {
    cl_command_queue queue = self->queue;
    int delicate = self->device != NULL &&
                   (self->device->platform->quirks & OCL_QUIRK_QUEUE_RELEASE_HANGS) &&
                   (self->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    ocl_live[LIVE_QUEUE]--;
    ocl_queue_release_retired();
    if (!delicate || (pg_trap & PG_TRAP_FORKED)) {
        release_now(queue); /* flushes without waiting (OpenCL 1.1, section 5.1) */
        return;
    }
    retire(queue);
}
