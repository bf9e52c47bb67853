/* event_release.c - releases the program's last reference to an event.
 *
 * PoCL 3.1 aborts the process when a command fails because an event it waited for failed, a later
 * command of the same queue depends on it, and only the driver references its event. Only user
 * events can cause such failures at arbitrary times. So while any user event has no status, events
 * of unfinished commands are put aside instead of released.
 *
 * PoCL also leaves a failed event in the lists of the commands before it and accesses it when they
 * complete. These may be waiting for another user event or for their turn. Failed events are
 * therefore kept until there is no such user event and all queues have been idle once. A program
 * that never finishes its queues keeps the latest FAILED_MOST / 2 events and more. Even then they
 * are not released immediately: PoCL's threads may still be using them, and one process in five
 * aborted. */
#include "opencl/event.h"
#include "opencl/lifetime/queue_idle.h"
#include "opencl/opencl.h"

#define FAILED_KEPT 1024 /* fewer are not worth the effort */
#define FAILED_MOST 65536

typedef struct {
    cl_event *events;
    size_t n, room;
} EventList;

static EventList aside, failed; /* failed: oldest first */
static size_t
    failed_done; /* this many of them, the oldest, have only completed commands before them */
static unsigned failures;

void ocl_event_failures_seen(void) {
    failures++;
}
unsigned ocl_event_failures(void) {
    return failures;
}

void ocl_event_queues_idle(void) {
    failed_done = failed.n;
}

static cl_int execution_status(cl_event event) {
    cl_int exec = CL_QUEUED, status = CL_SUCCESS;
    CL_CALL(status, clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof exec, &exec,
            NULL);
    return status == CL_SUCCESS ? exec : CL_QUEUED;
}

static int is_done(cl_event event) {
    return execution_status(event) <= CL_COMPLETE;
}

static void release_now(cl_event event) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clReleaseEvent, event);
    (void)status;
}

/* Returns -1 if out of memory: the event then leaks, which is better than an abort by the
 * driver. */
static int make_room(EventList *list) {
    size_t more = list->room > 0 ? list->room * 2 : 64;
    cl_event *events = PyMem_Realloc(list->events, more * sizeof *events);
    if (events == NULL) {
        return -1;
    }
    list->events = events;
    list->room = more;
    return 0;
}

static void release(cl_event event) {
    if (!PG_UNLIKELY(failures > 0) || execution_status(event) >= CL_COMPLETE) {
        release_now(event);
        return;
    }
    if (failed.n == failed.room && make_room(&failed) < 0) {
        return;
    }
    failed.events[failed.n++] = event;
    if (failed.n >= 2 * FAILED_KEPT &&
        ocl_user_events_pending() == 0) { /* many at once, so that moving the rest is cheap */
        size_t n = failed.n >= FAILED_MOST      ? FAILED_MOST / 2
                   : failed_done >= FAILED_KEPT ? failed_done
                                                : 0;
        for (size_t i = 0; i < n; i++) {
            release_now(failed.events[i]);
        }
        if (n > 0) {
            failed.n -= n;
            failed_done = failed_done > n ? failed_done - n : 0;
            memmove(failed.events, failed.events + n, failed.n * sizeof *failed.events);
        }
    }
}

size_t ocl_events_kept(void) {
    return aside.n + failed.n;
}

/* Releases everything, or what has completed. */
static void release_kept(int everything) {
    size_t kept = 0;
    for (size_t i = 0; i < aside.n; i++) {
        if (everything || is_done(aside.events[i])) {
            release(aside.events[i]);
        } else {
            aside.events[kept++] = aside.events[i];
        }
    }
    aside.n = kept;
}

void ocl_event_release(cl_event event) {
    ocl_live[LIVE_EVENT]--;
    if (aside.n == 0 && failures == 0 && ocl_user_events_pending() == 0) { /* the case of most
                                                                            * programs */
        release_now(event);
        return;
    }
    if (PG_UNLIKELY(aside.n > 0) && ocl_user_events_pending() == 0) {
        release_kept(1);
    }
    if (ocl_user_events_pending() == 0 || is_done(event)) {
        release(event);
        return;
    }
    if (aside.n == aside.room) {
        release_kept(0); /* rare, because the room doubles each time */
        if (aside.n * 2 >= aside.room && make_room(&aside) < 0) {
            return;
        }
    }
    aside.events[aside.n++] = event;
}
