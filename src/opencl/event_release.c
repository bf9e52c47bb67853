/* event_release.c - giving up the last reference of the program to an event.
 *
 * PoCL 3.1 aborts the process when a command fails because an event it waited for failed, a later command of the same queue
 * depends on it, and nobody but the driver holds its event. Only user events can fail this way at any time, so while one has no
 * status, events of commands that are not done are put aside instead of released.
 *
 * It also leaves the failed event in the lists of the commands before it, and looks at it when these are done. So the last FAILED_KEPT
 * events that failed are kept; by then those commands are long past.
 */
#include "opencl.h"

#define FAILED_KEPT 1024

static cl_event *aside;
static size_t n_aside, room;
static cl_event failed[FAILED_KEPT]; /* the oldest is at next_failed */
static size_t next_failed;
static int failures; /* there has been one */

void ocl_event_failures_seen(void) { failures = 1; }

static cl_int execution_status(cl_event event) {
    cl_int exec = CL_QUEUED, status = CL_SUCCESS;
    CL_CALL(status, clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof exec, &exec, NULL);
    return status == CL_SUCCESS ? exec : CL_QUEUED;
}

static int is_done(cl_event event) { return execution_status(event) <= CL_COMPLETE; }

static void release(cl_event event) {
    cl_int status = CL_SUCCESS;
    if (PG_UNLIKELY(failures) && execution_status(event) < CL_COMPLETE) {
        cl_event oldest = failed[next_failed];
        failed[next_failed] = event;
        next_failed = (next_failed + 1) % FAILED_KEPT;
        if (oldest == NULL) {
            return;
        }
        event = oldest;
    }
    CL_CALL(status, clReleaseEvent, event);
    (void)status;
}

/* Releases what can be: everything, or what is done. */
static void tidy(int everything) {
    size_t kept = 0;
    for (size_t i = 0; i < n_aside; i++) {
        if (everything || is_done(aside[i])) {
            release(aside[i]);
        } else {
            aside[kept++] = aside[i];
        }
    }
    n_aside = kept;
}

void ocl_event_let_go(cl_event event) {
    ocl_live[LIVE_EVENT]--;
    if (PG_UNLIKELY(n_aside > 0) && ocl_user_events_pending() == 0) {
        tidy(1);
    }
    if (ocl_user_events_pending() == 0 || is_done(event)) {
        release(event);
        return;
    }
    if (n_aside == room) {
        tidy(0); /* seldom: twice the room each time */
        if (n_aside * 2 >= room) {
            size_t more = room > 0 ? room * 2 : 64;
            cl_event *list = PyMem_Realloc(aside, more * sizeof *list);
            if (list == NULL) {
                return; /* lost: better than the driver's abort */
            }
            aside = list;
            room = more;
        }
    }
    aside[n_aside++] = event;
}
