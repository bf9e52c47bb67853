/* event.h - events, lists of events, and waiting. */
#ifndef PYGPU_OPENCL_EVENT_H
#define PYGPU_OPENCL_EVENT_H

#include "opencl/queue.h"

typedef struct Event {
    OCL_HEAD
    cl_event event;
    cl_context context; /* for checks; the event keeps it alive in the driver, or if keeps_context
                           this object does */
    PyObject *ward_or_dict; /* NannyEvent: host object of the command, until wait(); UserEvent: its
                               attributes */
    struct UserEventRecord *user; /* UserEvent: where its outcome is kept */
    cl_int keeps_context;
    struct Gates *gates; /* what it is behind, itself for a UserEvent; NULL: nothing that the driver
                            does not tell of. See gates.h */
} Event;

typedef struct {
    PyObject_HEAD
    Event *event;
} Profile;

#define OCL_WAIT_LOCAL 8
typedef struct {
    cl_uint n;
    cl_event *events; /* NULL if n is 0 */
    cl_event local[OCL_WAIT_LOCAL];
    PyObject *keep;      /* owns the Event objects */
    struct Gates *gates; /* what the Event of the command is behind; see gates.h */
    cl_event own;        /* one of the events, that keep does not own; NULL: none */
} WaitList;

/* wait_for: NULL, None or an iterable of Events; for a command of queue those of its context (NULL:
 * any). */
int ocl_wait_list(State *state, PyObject *wait_for, const char *call, Queue *queue, WaitList *list);
void ocl_wait_list_clear(WaitList *list);
/* Take over the handle (released if the object cannot be made). */
Event *ocl_event_make(State *state, PyTypeObject *type, cl_event event, cl_context context);
PyObject *ocl_event_new(State *state, cl_event event, cl_context context);
PyObject *ocl_nanny_event_new(State *state, cl_event event, cl_context context, PyObject *ward);
/* In place of CL_RELEASE(LIVE_EVENT, clReleaseEvent, event) for the event of a command that may not
 * be done; see event_release.c. */
void ocl_event_let_go(cl_event event);
void ocl_event_failures_seen(void), ocl_event_dealloc(PyObject *op),
    ocl_user_event_dropped(Event *self);
unsigned ocl_event_failures(void); /* how many times user events failed */
size_t ocl_events_kept(void);      /* let go, and not released yet */
/* Waits for the event with the GIL released, interruptible in the main thread. 0, or -1 with an
 * exception. *interrupted, if not NULL, is set to 1 when a signal handler raised: the command is
 * still running then. */
int ocl_wait(State *state, cl_event event, const char *routine, int *interrupted);
/* Whether the command has ended, well or not; 0 if the driver would not say. After a wait that
 * failed: if 0, keep its memory. */
int ocl_is_over(cl_event event);
/* Waits in the main thread for an event whose queue was flushed and whose failure is no error. */
int ocl_wait_done(State *state, cl_event event, int *failed);
void ocl_suspect_failures(
    void); /* some event was made to fail: others that wait for it may, unannounced */
void ocl_abandon_user_events(void);      /* at exit: those without a status fail */
void ocl_fail_dropped_user_events(void); /* may release the GIL */
extern int ocl_user_events_dropped,
    ocl_user_events_unset; /* how many wait for that; how many UserEvents have no status yet */
static inline int ocl_user_events_pending(void) {
    return ocl_user_events_unset;
}
PG_VECTORCALL(ocl_user_event);

#endif
