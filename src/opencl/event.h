/* event.h - events, lists of events, and waiting. */
#ifndef PYGPU_OPENCL_EVENT_H
#define PYGPU_OPENCL_EVENT_H

#include "opencl/queue.h"

typedef struct Event {
    OCL_HEAD
    cl_event event;
    cl_context context;     /* for checks; kept alive by the driver's event, or by this object if
                             * keeps_context is set */
    PyObject *ward_or_dict; /* NannyEvent: the command's host object, until wait(); UserEvent: its
                             * attributes */
    struct UserEventRecord *user; /* UserEvent: the record of its outcome */
    cl_int keeps_context;
    struct Gates *gates; /* the user events that it depends on, including itself for a UserEvent;
                          * NULL if there is nothing that the driver does not report itself. See
                          * gates.h */
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
    PyObject *keep;      /* keeps the Event objects alive */
    struct Gates *gates; /* the user events that the command's Event will depend on; see gates.h */
    cl_event own;        /* the one of the events that keep does not own; NULL: none */
} WaitList;

/* wait_for: NULL, None or an iterable of Events, which must be of the queue's context (queue NULL:
 * of any). */
int ocl_wait_list(State *state, PyObject *wait_for, const char *call, Queue *queue, WaitList *list);
void ocl_wait_list_clear(WaitList *list);
/* Takes over the handle; it is released if the object cannot be made. */
Event *ocl_event_make(State *state, PyTypeObject *type, cl_event event, cl_context context);
PyObject *ocl_event_new(State *state, cl_event event, cl_context context);
PyObject *ocl_nanny_event_new(State *state, cl_event event, cl_context context, PyObject *ward);
/* Use instead of CL_RELEASE(LIVE_EVENT, clReleaseEvent, event) if the command may not have
 * completed; see event_release.c. */
void ocl_event_release(cl_event event);
void ocl_event_failures_seen(void), ocl_event_dealloc(PyObject *op),
    ocl_user_event_dropped(Event *self);
unsigned ocl_event_failures(void); /* how often user events have failed */
size_t ocl_events_kept(void);      /* number of events whose release was put off */
/* Waits for the event with the GIL released; signals can interrupt it in the main thread. Returns
 * 0, or -1 with an exception. *interrupted, if given, is set to 1 when a signal handler raised:
 * the command is then still running. */
int ocl_wait(State *state, cl_event event, const char *routine, int *interrupted);
/* Whether the command has completed or failed; 0 if the driver does not say. Call after a failed
 * wait: if 0, the command's memory must be kept. */
int ocl_event_ended(cl_event event);
/* Waits in the main thread for an event of a flushed queue; its failure is not an error. */
int ocl_wait_done(State *state, cl_event event, int *failed);
void ocl_suspect_failures(
    void); /* an event was made to fail: others that depend on it may fail without a callback */
void ocl_abandon_user_events(void);      /* at exit: fails those without a status */
void ocl_fail_dropped_user_events(void); /* may release the GIL */
extern int ocl_user_events_dropped,
    ocl_user_events_unset; /* number of dropped user events yet to be failed; number of UserEvents
                            * without a status */
static inline int ocl_user_events_pending(void) {
    return ocl_user_events_unset;
}
PG_VECTORCALL(ocl_user_event);

#endif
