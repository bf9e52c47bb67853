/* wait.c - waits for commands with the GIL released; in Python's main thread, signals can
 * interrupt the wait. */
#include "common/pthread_compat.h"
#include "opencl/event.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gates.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

#define SPIN_SECONDS                                                                   \
    20e-6           /* short transfers complete within this time, and a callback costs \
                     * more */
#define SLICE_MS 40 /* the maximum delay of Ctrl-C */
#define POLL_SPIN_SECONDS \
    2e-3 /* for drivers without callbacks, whose own wait would spin forever */
#define POLL_OFTEN_SECONDS 100e-6 /* after this time, sleep between two polls */
#define POLL_YIELDS        8
#define POLL_MOST_US       500

/* Shared by the waiting thread and the driver's callback; the last of the two frees it. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int done;
    int users;
} Waiter;

static void Waiter_leave(Waiter *waiter) { /* Call with the lock held. */
    int left = --waiter->users;
    pthread_mutex_unlock(&waiter->lock);
    if (left == 0) {
        PyMem_RawFree(waiter);
    }
}

static void CL_CALLBACK on_done(cl_event event, cl_int status, void *op) {
    Waiter *waiter = op;
    (void)event;
    (void)status;
    pthread_mutex_lock(&waiter->lock);
    waiter->done = 1;
    pthread_cond_signal(&waiter->changed);
    Waiter_leave(waiter);
}

/* Returns 1 if the command has completed or failed, 0 if not yet. *exec is its status. Touches no
 * Python objects. */
static int is_done(cl_event event, cl_int *exec, cl_int *status) {
    *exec = CL_QUEUED;
    *status = CL_SUCCESS;
    CL_CALL(*status, clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *exec, exec,
            NULL);
    return *status != CL_SUCCESS || *exec <= CL_COMPLETE;
}

/* Registers a callback for the end of the command. Returns NULL if that fails. */
static Waiter *Waiter_hook(cl_event event) {
    Waiter *waiter = PyMem_RawCalloc(1, sizeof *waiter);
    cl_int hooked = CL_OUT_OF_HOST_MEMORY;
    if (waiter != NULL) {
        *waiter = (Waiter){
            .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .users = 2};
        CL_CALL(hooked, clSetEventCallback, event, CL_COMPLETE, on_done, waiter);
        if (hooked != CL_SUCCESS) {
            PyMem_RawFree(waiter);
            waiter = NULL;
        }
    }
    return waiter;
}

/* Waits in the main thread. Returns 0 and sets *status and *exec, or -1 with an exception from a
 * signal handler. */
static int wait_interruptibly(cl_event event, cl_int *exec, cl_int *status) {
    int done = 0;
    const int polls = (ocl_quirks_in_use & OCL_QUIRK_CALLS_BACK_LATE) != 0;
    const double begin = pg_seconds(), spin = polls ? POLL_SPIN_SECONDS : SPIN_SECONDS;
    Py_BEGIN_ALLOW_THREADS
    for (double passed = 0; !(done = is_done(event, exec, status)) && passed < spin;
         passed = pg_seconds() - begin) {
        for (int k = passed < POLL_OFTEN_SECONDS ? 1 : POLL_YIELDS; k > 0; k--) {
            pg_yield_cpu();
        }
    }
    Py_END_ALLOW_THREADS
    if (done) {
        return 0;
    }
    Waiter *waiter = polls ? NULL : Waiter_hook(event); /* NULL means polling instead */
    int result = 0, asked = 0;
    while (result == 0) {
        Py_BEGIN_ALLOW_THREADS
        if (waiter != NULL) {
            pthread_mutex_lock(&waiter->lock);
            if (!waiter->done) {
                pg_cond_wait_ms(&waiter->changed, &waiter->lock, SLICE_MS);
            }
            done = waiter->done;
            pthread_mutex_unlock(&waiter->lock);
            if (!done) {
                done = asked = is_done(event, exec, status); /* because some drivers do not call
                                                              * back for a failed command */
            }
        } else {
            double pause = (pg_seconds() - begin) *
                           (1e6 / 16); /* so the end is noticed with a delay of at most a sixteenth
                                        * of the time */
            pg_sleep_us(pause < POLL_MOST_US ? (long)pause + 10 : POLL_MOST_US);
            done = asked = is_done(event, exec, status);
        }
        Py_END_ALLOW_THREADS
        if (done) {
            break;
        }
        result = PyErr_CheckSignals();
    }
    if (waiter != NULL) {
        pthread_mutex_lock(&waiter->lock);
        Waiter_leave(waiter);
    }
    if (result == 0 && !asked) { /* not twice: a driver error must not get lost */
        is_done(event, exec, status);
    }
    return result;
}

int ocl_event_ended(cl_event event) {
    cl_int exec, status;
    return is_done(event, &exec, &status) && status == CL_SUCCESS;
}

int ocl_wait_done(State *state, cl_event event, int *failed) {
    cl_int exec, status;
    (void)state;
    int result = wait_interruptibly(event, &exec, &status);
    *failed = status == CL_SUCCESS && exec < 0;
    if (result == 0 && status != CL_SUCCESS) { /* the driver did not report the command's status,
                                                * but may be able to wait */
        CL_NOGIL(status, clWaitForEvents, 1, &event);
    }
    return result;
}

/* Earlier commands may still be in the queue's buffer; a wait that the driver does not know about
 * must flush them. */
static void flush_queue_of(cl_event event) {
    cl_command_queue queue = NULL;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetEventInfo, event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL);
    if (status == CL_SUCCESS && queue != NULL) {
        CL_NOGIL(status, clFlush, queue);
    }
}

int ocl_wait(State *state, cl_event event, const char *routine, int *interrupted) {
    cl_int exec = CL_COMPLETE, status = CL_SUCCESS;
    if (interrupted != NULL) {
        *interrupted = 0;
    }
    if (pg_is_main_thread()) {
        if (!is_done(event, &exec, &status)) {
            flush_queue_of(event);
            if (wait_interruptibly(event, &exec, &status) < 0) {
                if (interrupted != NULL) {
                    *interrupted = 1;
                }
                return -1;
            }
        }
        if ((ocl_quirks_in_use & OCL_QUIRK_CALLS_BACK_LATE) && status == CL_SUCCESS &&
            exec == CL_COMPLETE) { /* a query is not a synchronization point (OpenCL 1.2, 5.9), but
                                    * this wait is */
            CL_NOGIL(status, clWaitForEvents, 1, &event);
            if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
                is_done(event, &exec, &status);
                exec = exec < 0 ? exec : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
            }
        }
    } else {
        CL_NOGIL(status, clWaitForEvents, 1, &event);
        if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
            is_done(event, &exec, &status);
        }
        if (PG_UNLIKELY(ocl_is_exiting()) && (status != CL_SUCCESS || exec < 0)) {
            /* Only daemon threads are left, and the failure was caused by exit giving up its user
             * events. Block this thread forever, as Python does with daemon threads that request
             * the GIL now. */
            Py_BEGIN_ALLOW_THREADS
            for (;;) {
                pg_sleep_us(1000000);
            }
            Py_END_ALLOW_THREADS
        }
    }
    if (status != CL_SUCCESS) {
        ocl_raise(state, routine, status);
        return -1;
    }
    if (exec < 0) {
        ocl_raise_ended(state, routine, exec);
        return -1;
    }
    return 0;
}

cl_int ocl_event_failed(const Event *self) {
    return ocl_gates_failed(self->gates);
}

int ocl_event_check(const Event *self, const char *routine) {
    return ocl_gates_check(self->state, self->gates, routine);
}

/* ---- wait lists ------------------------------------------------------------------------------ */

/* Appends the event wait_for[i] to the list. Returns 0, or -1 with an exception. */
static inline int add_event(State *state, const char *call, cl_context context, WaitList *list,
                            Py_ssize_t i) {
    PyObject *item = PyTuple_GET_ITEM(list->keep, i);
    if (!PyObject_TypeCheck(item, state->EventType)) {
        PyErr_Format(PyExc_TypeError, "%s: wait_for[%zd] must be an Event, not %s", call, i,
                     pg_type_name(item));
        return -1;
    }
    Event *event = (Event *)item;
    if (ocl_event_is_made(event, call) < 0) {
        return -1;
    }
    list->events[i] = event->event;
    if (context == NULL) {
        return 0;
    }
    if (event->context != context) {
        ocl_reject(state, call, CL_INVALID_CONTEXT, "wait_for[%zd] is an event of another context",
                   i);
        return -1;
    }
    cl_int status, exec = 0, failed = ocl_event_failed(event);
    if (failed == 0 && is_done(event->event, &exec, &status) && status == CL_SUCCESS && exec < 0) {
        failed = exec; /* some drivers would wait forever */
    }
    if (failed != 0) {
        ocl_raise_with(state, call, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                       "wait_for[%zd] has failed with %s (%d)", i, ocl_status_name(failed),
                       (int)failed);
        return -1;
    }
    return 0;
}

/* Flushes the other queues of the events, for which a command of this queue will wait. */
static void flush_others(const Queue *queue, const WaitList *list) {
    for (cl_uint i = 0; i < list->n; i++) {
        cl_command_queue other = NULL; /* stays NULL for a user event */
        cl_int status = CL_SUCCESS;
        CL_CALL(status, clGetEventInfo, list->events[i], CL_EVENT_COMMAND_QUEUE, sizeof other,
                &other, NULL);
        if (status == CL_SUCCESS && other != NULL && other != queue->queue) {
            CL_CALL(status, clFlush, other); /* if it fails, the commands will */
        }
    }
}

int ocl_wait_list(State *state, PyObject *wait_for, const char *call, Queue *queue,
                  WaitList *list) {
    cl_context context = queue != NULL ? queue->context->context : NULL;
    list->n = 0;
    list->events = NULL;
    list->keep = NULL;
    list->gates = NULL;
    list->own = NULL;
    int gated = queue != NULL && queue->gates != NULL;
    if (wait_for == NULL || wait_for == Py_None) {
        goto done;
    }
    if (PyObject_TypeCheck(wait_for, state->EventType)) {
        list->keep = PyTuple_Pack(1, wait_for); /* a bare Event, which PyOpenCL refuses although the
                                                 * meaning is clear */
    } else { /* a copy that nobody can change while the GIL is released */
        list->keep = pg_tuple(wait_for, call, "wait_for", "Events (or None)", 1 << 20);
    }
    if (list->keep == NULL) {
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(list->keep);
    if (n == 0) {
        Py_CLEAR(list->keep);
        goto done;
    }
    list->events = n <= OCL_WAIT_LOCAL ? list->local : PyMem_Malloc((size_t)n * sizeof(cl_event));
    if (list->events == NULL) {
        PyErr_NoMemory();
        goto fail;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (add_event(state, call, context, list, i) < 0) {
            goto fail;
        }
        gated |= ((Event *)PyTuple_GET_ITEM(list->keep, i))->gates != NULL;
    }
    list->n = (cl_uint)n;
    if (PG_UNLIKELY(queue != NULL &&
                    (queue->device->platform->quirks & OCL_QUIRK_WAITS_FOR_FLUSH))) {
        flush_others(queue, list);
    }
done:
    if (!gated || queue == NULL || ocl_gates_collect(list, queue) == 0) {
        return 0;
    }
fail:
    ocl_wait_list_clear(list);
    return -1;
}

void ocl_wait_list_clear(WaitList *list) {
    if (list->events != list->local) {
        PyMem_Free(list->events);
    }
    list->events = NULL;
    list->n = 0;
    ocl_gates_release(list->gates);
    list->gates = NULL;
    if (list->own != NULL) {
        ocl_event_release(list->own);
        list->own = NULL;
    }
    Py_CLEAR(list->keep);
}
