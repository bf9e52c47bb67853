/* pocl_order.c - keeps the order of a PoCL queue when commands fail.
 *
 * In PoCL 3.1 each command of an in-order queue waits for the previous one. If that has failed,
 * the next one waits for nothing, and runs concurrently with earlier commands that are still
 * running. So while a user event might fail, a marker is put before each command. After a failure,
 * the queue continues after another marker, which waits for all commands that are left.
 *
 * As in pocl_quiesce.c, calls that the program did not request bypass CL_CALL. */
#include "opencl/event.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

static cl_int outcome(cl_event event) {
    cl_int exec = CL_QUEUED;
    return cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof exec, &exec, NULL) ==
                   CL_SUCCESS
               ? exec
               : CL_QUEUED;
}

static void release_event(cl_event event) {
    ocl_live[LIVE_EVENT]++; /* it was not counted when it was made */
    ocl_event_release(event);
}

/* Removes events that have completed or failed, which no longer matter. */
static void prune(Queue *self) {
    size_t kept = 0;
    for (size_t i = 0; i < self->n_marks; i++) {
        cl_event mark = self->marks[i];
        if (outcome(mark) > CL_COMPLETE) {
            self->marks[kept++] = mark;
        } else {
            release_event(mark);
        }
    }
    self->n_marks = kept;
}

static void set_mark(Queue *self) {
    cl_event mark = NULL;
    if (self->n_marks == self->room_for_marks) {
        prune(self);
        if (self->n_marks * 2 >= self->room_for_marks) {
            size_t more = self->room_for_marks > 0 ? self->room_for_marks * 2 : 16;
            cl_event *marks = PyMem_Realloc(self->marks, more * sizeof *marks);
            if (marks == NULL) {
                return; /* no worse than the driver alone */
            }
            self->marks = marks;
            self->room_for_marks = more;
        }
    }
    if (cl.clEnqueueMarkerWithWaitList(self->queue, 0, NULL, &mark) == CL_SUCCESS) {
        self->marks[self->n_marks++] = mark;
    }
}

void ocl_queue_keep_order(Queue *self) {
    if ((self->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) || (pg_trap & PG_TRAP_FORKED) ||
        cl.clEnqueueMarkerWithWaitList == NULL) {
        return;
    }
    unsigned failures = ocl_event_failures();
    if (self->failures != failures) {
        self->failures = failures;
        prune(self);
        cl_event after = NULL;
        if (self->n_marks > 0 &&
            cl.clEnqueueMarkerWithWaitList(self->queue, (cl_uint)self->n_marks, self->marks,
                                           &after) == CL_SUCCESS) {
            release_event(after);
        }
    }
    if (ocl_user_events_pending() > 0) {
        set_mark(self);
    } else if (self->n_marks > 0) {
        prune(self);
    }
}

void ocl_queue_forget_order(Queue *self) {
    for (size_t i = 0; i < self->n_marks; i++) {
        release_event(self->marks[i]);
    }
    self->n_marks = 0;
    PyMem_Free(self->marks);
    self->marks = NULL;
}
