/* pocl_order.c - keeping the order of a queue of PoCL when commands fail.
 *
 * PoCL 3.1 has each command of an in-order queue wait for the one before. When that one has failed,
 * the next waits for nothing, and runs beside those that are still on their way from before. So as
 * long as a user event might fail, a marker is put before each command; and after a failure, the
 * queue goes on behind another marker, which waits for all of those that are left.
 *
 * As in pocl_quiesce.c, the calls that nobody asked for bypass
 * CL_CALL. */
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

static void let_go(cl_event event) {
    ocl_live[LIVE_EVENT]++; /* it never counted */
    ocl_event_let_go(event);
}

/* Those that are complete or failed say nothing any more. */
static void prune(Queue *self) {
    size_t kept = 0;
    for (size_t i = 0; i < self->n_marks; i++) {
        cl_event mark = self->marks[i];
        if (outcome(mark) > CL_COMPLETE) {
            self->marks[kept++] = mark;
        } else {
            let_go(mark);
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
                return; /* no worse than the driver */
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
            let_go(after);
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
        let_go(self->marks[i]);
    }
    self->n_marks = 0;
    PyMem_Free(self->marks);
    self->marks = NULL;
}
