/* completion.c - what must happen when a command has completed: host memory is released, and
 * Python callbacks run.
 *
 * A driver calls back from its own threads. The callbacks only push a record onto a list, and one
 * dispatcher thread takes the GIL and processes the list. No dealloc therefore ever waits for a
 * device, and dropping an Event or an array has no effect on running commands. The dispatcher is
 * started like a Python thread, so that its thread state is made once, where lack of memory is an
 * error and not a crash.
 *
 * NVIDIA's driver (580.159) gets no callbacks: registering one costs the caller some 5 us, and the
 * driver thread that runs it starts 40 us late, long after a short copy has completed. Its events
 * are polled instead. At exit the dispatcher stops before the interpreter is finalized; whatever
 * is still pending is left to the operating system. */
#define OCL_NOT_COUNTED /* the dispatcher waits here, as does exit itself */
#include "common/pthread_compat.h"
#include "opencl/event.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/gates.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/keepalive.h"
#include "opencl/lifetime/pocl_quiesce.h"
#include "opencl/opencl.h"

typedef struct Pending {
    struct Pending *next;
    struct Pending *later, **link; /* links of the list of records whose event has not called back
                                    * yet; under lock */
    cl_event event;                /* of such a record, with its own reference */
    int given_up; /* processed although the driver has not called back: it still may, so the record
                   * must stay */
    int polled;   /* there will be no callback: the dispatcher polls the event */
    cl_int at;    /* the status that the event is to reach */
    Py_buffer view; /* released if has_view */
    int has_view;
    PyObject *object;   /* to be dropped */
    PyObject *function; /* to be called with override or else status, then dropped */
    cl_int status, override;
    Gates *gates; /* the user events that the command depends on */
} Pending;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static Pending *first, **last = &first; /* under lock */
static int running, stopping, busy;     /* under lock */
static int failures_due;                /* under lock: user events must be failed now */
static double retry_at;    /* under lock: when to try again to fail user events, or 0 */
static int retry_delay_ms; /* under lock: the delay before the latest of these attempts */
static int n_polled,
    poll_keepalives;         /* under lock: keepalive.c has objects that the dispatcher must poll */
static int exiting;          /* GIL held */
static Pending *outstanding; /* under lock */
static double suspect_until; /* under lock: until then, events may fail without a callback */

/* Polling intervals: for a driver that may have failed to call back, and for one that never
 * does. */
#define LOOK_MS       10
#define LOOK_OFTEN_MS 1
/* The longest pause between attempts to fail user events when the driver refuses. The first pause
 * is LOOK_MS. */
#define PAUSE_MOST_MS 1000

/* Reserve records for when memory runs out: without a record, what it keeps alive would leak. */
#define N_SPARE 16
static Pending spare[N_SPARE];
static char spare_used[N_SPARE]; /* GIL held */

static Pending *Pending_new(void) {
    Pending *record = PyMem_RawCalloc(1, sizeof *record);
    for (int i = 0; record == NULL && i < N_SPARE; i++) {
        if (!spare_used[i]) {
            spare_used[i] = 1;
            record = &spare[i];
            *record = (Pending){0};
        }
    }
    return record;
}

static void Pending_free(Pending *record) {
    for (int i = 0; i < N_SPARE; i++) {
        if (record == &spare[i]) {
            spare_used[i] = 0;
            return;
        }
    }
    PyMem_RawFree(record);
}

/* GIL held */
static void Pending_finish(Pending *record) {
    if (record->function != NULL) {
        cl_int failed = record->override != 0 ? record->override : ocl_gates_failed(record->gates);
        PyObject *result = PyObject_CallFunction(record->function, "i",
                                                 (int)(failed != 0 ? failed : record->status));
        if (result == NULL) {
            PyErr_WriteUnraisable(record->function);
        }
        Py_XDECREF(result);
    }
    if (record->has_view) {
        PyBuffer_Release(&record->view);
    }
    Py_XDECREF(record->object);
    Py_XDECREF(record->function);
    ocl_gates_release(record->gates);
    record->gates = NULL;
    if (record->event != NULL) {
        ocl_event_release(record->event);
    }
    if (!record->given_up) {
        Pending_free(record);
    }
}

/* lock held */
static void append(Pending *record) {
    record->next = NULL;
    *last = record;
    last = &record->next;
}

/* lock held */
static void remove_outstanding(Pending *record) {
    if (record->link != NULL) {
        *record->link = record->later;
        if (record->later != NULL) {
            record->later->link = record->link;
        }
        record->link = NULL;
        n_polled -= record->polled;
    }
}

/* lock held */
static void add_outstanding(Pending *record) {
    record->later = outstanding;
    record->link = &outstanding;
    if (outstanding != NULL) {
        outstanding->link = &record->later;
    }
    outstanding = record;
}

/* PoCL does not call back for a command whose wait list failed, so after a failure the outstanding
 * events are polled. GIL held: only the dispatcher frees records, and nobody else can take one
 * back meanwhile. The lock must not be held during the driver's query, because the driver may hold
 * a lock of its own while it calls push(). */
static void collect_silent(void) {
    Pending *on_stack[64], **all = on_stack;
    size_t n = 0, room = sizeof on_stack / sizeof on_stack[0];
    pthread_mutex_lock(&lock);
    for (Pending *record = outstanding; record != NULL; record = record->later) {
        n++;
    }
    if (n > room && (all = PyMem_RawMalloc(n * sizeof *all)) != NULL) {
        room = n;
    } else {
        all = on_stack; /* out of memory: handle the first ones, which makes room for the others */
    }
    n = 0;
    for (Pending *record = outstanding; record != NULL && n < room; record = record->later) {
        all[n++] = record;
    }
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < n; i++) {
        cl_int exec = CL_QUEUED, status = CL_SUCCESS;
        CL_CALL(status, clGetEventInfo, all[i]->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                sizeof exec, &exec, NULL);
        pthread_mutex_lock(&lock);
        if (status == CL_SUCCESS &&
            (exec < CL_COMPLETE || (all[i]->polled && exec <= all[i]->at)) &&
            all[i]->link != NULL) {
            remove_outstanding(all[i]);
            all[i]->given_up = !all[i]->polled;
            all[i]->status = exec;
            append(all[i]);
        }
        pthread_mutex_unlock(&lock);
    }
    if (all != on_stack) {
        PyMem_RawFree(all);
    }
}

void ocl_suspect_failures(void) {
    ocl_event_failures_seen();
    pthread_mutex_lock(&lock);
    suspect_until = pg_seconds() + 2.0;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
}

/* Waits, without the GIL, until there is something to do, and takes the list. Returns 0 to stop.
 * *suspect: events may fail without a callback; if set on entry, they have just been polled and
 * are left alone for one interval. *fail_events: user events must be failed. */
static int wait_for_work(Pending **list, int *suspect, int *fail_events) {
    int looked = *suspect;
    pthread_mutex_lock(&lock);
    busy = 0;
    for (;;) {
        *suspect = (outstanding != NULL && pg_seconds() < suspect_until) || n_polled > 0 ||
                   poll_keepalives;
        if (retry_at > 0 && pg_seconds() >= retry_at) {
            failures_due = 1;
        }
        if (stopping || first != NULL || failures_due || (*suspect && !looked)) {
            break;
        }
        if (*suspect) {
            pg_cond_wait_ms(&wake, &lock,
                            (ocl_quirks_in_use & OCL_QUIRK_CALLS_BACK_LATE) && n_polled > 0
                                ? LOOK_OFTEN_MS
                                : LOOK_MS);
        } else if (retry_at > 0) {
            pg_cond_wait_ms(&wake, &lock, retry_delay_ms);
        } else {
            pthread_cond_wait(&wake, &lock);
        }
        looked = 0;
    }
    int go_on = !stopping;
    *fail_events = failures_due;
    failures_due = 0;
    *list = NULL;
    if (go_on && first != NULL) {
        *list = first;
        first = NULL;
        last = &first;
        busy = 1;
    }
    pthread_mutex_unlock(&lock);
    return go_on;
}

static void poll_outstanding(void) {
    collect_silent();
    pthread_mutex_lock(&lock);
    int wanted = poll_keepalives;
    poll_keepalives = 0; /* others may set it again from now on */
    pthread_mutex_unlock(&lock);
    if (wanted && ocl_keepalive_poll() > 0) {
        pthread_mutex_lock(&lock);
        poll_keepalives = 1;
        pthread_mutex_unlock(&lock);
    }
}

/* Fails dropped user events. If the driver refuses, it is tried again later, because nobody else
 * can end the commands that wait for them. */
static void fail_dropped_events(void) {
    ocl_fail_dropped_user_events();
    pthread_mutex_lock(&lock);
    if (ocl_user_events_dropped == 0) {
        retry_at = 0;
        retry_delay_ms = 0;
    } else {
        retry_delay_ms = retry_delay_ms == 0                  ? LOOK_MS
                         : retry_delay_ms < PAUSE_MOST_MS / 2 ? retry_delay_ms * 2
                                                              : PAUSE_MOST_MS;
        retry_at = pg_seconds() + retry_delay_ms * 1e-3;
    }
    pthread_mutex_unlock(&lock);
}

static unsigned long dispatcher; /* its thread id */

/* The thread's function. It ends with the GIL held, and at_exit() waits for the GIL, so when that
 * continues the thread is gone. */
static void dispatch(void) {
    int go_on = 1, suspect = 0, fail_events = 0;
    dispatcher = PyThread_get_thread_ident();
    while (go_on) {
        Pending *list;
        Py_BEGIN_ALLOW_THREADS
        go_on = wait_for_work(&list, &suspect, &fail_events);
        Py_END_ALLOW_THREADS
        while (list != NULL) {
            Pending *record = list;
            list = record->next;
            Pending_finish(record);
        }
        if (go_on && fail_events) {
            fail_dropped_events();
        }
        if (go_on && suspect) {
            poll_outstanding();
        }
    }
    pthread_mutex_lock(&lock);
    running = 0;
    pthread_mutex_unlock(&lock);
}

/* Runs in any thread, with or without the GIL. */
static void push(Pending *record) {
    pthread_mutex_lock(&lock);
    if (!stopping && !record->given_up) { /* while stopping the record stays: the interpreter is
                                           * being finalized */
        remove_outstanding(record);
        append(record);
        pthread_cond_signal(&wake);
    }
    pthread_mutex_unlock(&lock);
}

/* GIL held; an exception may be set. */
static int start_dispatcher(void) {
    pthread_mutex_lock(&lock);
    int needed = !running && !stopping;
    running |= needed; /* set now, because Python may run other code below */
    pthread_mutex_unlock(&lock);
    if (!needed) {
        return 0;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    int failed = pg_start_thread(dispatch) < 0;
    PyErr_Restore(type, value,
                  traceback); /* drop a new exception: callers know what to do on failure */
    if (failed) {
        pthread_mutex_lock(&lock);
        running = 0;
        pthread_mutex_unlock(&lock);
    }
    return failed ? -1 : 0;
}

int ocl_schedule_failures(void) {
    if (start_dispatcher() < 0) {
        return -1;
    }
    pthread_mutex_lock(&lock);
    int accepted = !stopping;
    failures_due |= accepted;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    return accepted ? 0 : -1;
}

void ocl_schedule_keepalive_check(void) {
    if (start_dispatcher() == 0) {
        pthread_mutex_lock(&lock);
        poll_keepalives = 1;
        pthread_cond_signal(&wake);
        pthread_mutex_unlock(&lock);
    }
}

static void CL_CALLBACK on_event(cl_event event, cl_int status, void *op) {
    Pending *record = op;
    (void)event;
    pthread_mutex_lock(&lock);
    if (!record->given_up) {
        record->status = status;
    }
    pthread_mutex_unlock(&lock);
    push(record);
}

static void CL_CALLBACK on_destroyed(cl_mem mem, void *record) {
    (void)mem;
    push(record);
}

/* Registers a callback, which then owns the record. If the driver refuses and may_poll is set, the
 * dispatcher polls the event instead. GIL held. */
static cl_int watch(Pending *record, cl_event event, cl_int at, int may_poll) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clRetainEvent, event);
    if (status != CL_SUCCESS) {
        return status;
    }
    ocl_live[LIVE_EVENT]++;
    record->event = event;
    record->at = at;
    pthread_mutex_lock(&lock);
    add_outstanding(record);
    pthread_mutex_unlock(&lock);
    if (ocl_quirks_in_use & OCL_QUIRK_CALLS_BACK_LATE) {
        status = CL_INVALID_OPERATION;
        may_poll = 1;
    } else {
        CL_CALL(status, clSetEventCallback, event, at, on_event, record);
    }
    if (status == CL_SUCCESS) {
        return CL_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    if (may_poll) {
        record->polled = 1;
        n_polled++;
        pthread_cond_signal(&wake);
        status = CL_SUCCESS;
    } else {
        remove_outstanding(record);
    }
    pthread_mutex_unlock(&lock);
    if (!may_poll) {
        record->event = NULL;
        ocl_event_release(event);
    }
    return status;
}

/* Ties the record to the event. If that fails, waits for the event instead: this is rare, and
 * nothing may be lost. */
static void attach_record(State *state, cl_event event, Pending *record) {
    cl_int status = CL_SUCCESS;
    if (start_dispatcher() == 0) {
        status = watch(record, event, CL_COMPLETE, 1);
        if (status == CL_SUCCESS) {
            return;
        }
    }
    if (status == PG_STATUS_FORKED) {
        return; /* leaks the record in the forked child, which is inert */
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    CL_NOGIL(status, clWaitForEvents, 1, &event);
    if (status == CL_SUCCESS || status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
        Pending_finish(record);
    } /* otherwise it is unknown when the memory is free, so it is kept */
    PyErr_Restore(type, value, traceback);
    (void)state;
}

void ocl_keepalive_buffer(State *state, cl_event event, Py_buffer *view) {
    Pending *record = Pending_new();
    if (record == NULL) { /* leaks the memory: better than a device that writes into freed memory */
        return;
    }
    record->view = *view;
    record->has_view = 1;
    attach_record(state, event, record);
}

void ocl_keepalive_object(State *state, cl_event event, PyObject *object) {
    Py_INCREF(object);
    Pending *record = Pending_new();
    if (record == NULL) { /* leaks it, as above */
        return;
    }
    record->object = object;
    attach_record(state, event, record);
}

#define ARRAY_NAME "pygpu.array"

static void free_array(PyObject *capsule) {
    PyMem_Free(PyCapsule_GetPointer(capsule, ARRAY_NAME));
}

void ocl_keepalive_array(State *state, cl_event event, void *array) {
    PyObject *capsule = PyCapsule_New(array, ARRAY_NAME, free_array);
    if (capsule == NULL) { /* leaks it, as above */
        PyErr_Clear();
        return;
    }
    ocl_keepalive_object(state, event, capsule);
    Py_DECREF(capsule);
}

int ocl_keepalive_until_destroyed(State *state, cl_mem mem, Py_buffer *view) {
    Pending *record = Pending_new();
    if (record == NULL || start_dispatcher() < 0) {
        Pending_free(record);
        PyBuffer_Release(view);
        PyErr_NoMemory();
        return -1;
    }
    record->view = *view;
    record->has_view = 1;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clSetMemObjectDestructorCallback, mem, on_destroyed, record);
    if (status != CL_SUCCESS) {
        PyBuffer_Release(view);
        Pending_free(record);
        ocl_raise(state, "clSetMemObjectDestructorCallback", status);
        return -1;
    }
    return 0;
}

void ocl_override_callbacks(cl_event event, cl_int override) {
    pthread_mutex_lock(&lock);
    for (Pending *record = outstanding; record != NULL; record = record->later) {
        if (record->event == event) {
            record->override = override;
        }
    }
    pthread_mutex_unlock(&lock);
}

int ocl_add_callback(State *state, cl_event event, cl_int at, PyObject *function, cl_int override,
                     Gates *gates) {
    Pending *record = Pending_new();
    if (record == NULL || start_dispatcher() < 0) {
        Pending_free(record);
        PyErr_NoMemory();
        return -1;
    }
    record->function = Py_NewRef(function);
    record->override = override;
    record->gates = ocl_gates_share(gates);
    cl_int status = watch(record, event, at, 0);
    if (status != CL_SUCCESS) {
        Py_DECREF(function);
        ocl_gates_release(gates);
        Pending_free(record);
        ocl_raise(state, "clSetEventCallback", status);
        return -1;
    }
    return 0;
}

int ocl_is_exiting(void) {
    return exiting;
}

int ocl_threads_in_driver, ocl_daemons_blocked;

void ocl_block_daemon_thread(void) {
    if (pg_is_main_thread() || PyThread_get_thread_ident() == dispatcher) {
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    for (;;) {
        pg_sleep_us(1000000);
    }
    Py_END_ALLOW_THREADS
}

#define EXIT_SECONDS 2

#ifdef __GLIBC__
void ocl_exit_immediately(int status, void *Py_UNUSED(arg)) {
    (void)fflush(NULL);
    _exit(status);
}
#endif

/* atexit callback; the interpreter is still intact. Gives user events an outcome, runs the
 * callbacks that are due, and stops the dispatcher. */
static PyObject *at_exit(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    if (pg_trap & PG_TRAP_FORKED) {
        Py_RETURN_NONE;
    }
    exiting = 1;
    ocl_daemons_blocked = (ocl_quirks_in_use & OCL_QUIRK_EXIT_CRASHES_DAEMONS) != 0;
    ocl_abandon_user_events();
    ocl_quiesce_at_exit();
    double end = pg_seconds() + EXIT_SECONDS;
    Py_BEGIN_ALLOW_THREADS
    pthread_mutex_lock(&lock);
    while (((running && (first != NULL || busy)) ||
            (ocl_daemons_blocked && ocl_threads_in_driver > 0)) &&
           pg_seconds() < end) {
        pthread_mutex_unlock(&lock);
        pg_sleep_us(500);
        pthread_mutex_lock(&lock);
    }
    stopping = 1;
    pthread_cond_signal(&wake);
    while (running && pg_seconds() < end) {
        pthread_mutex_unlock(&lock);
        pg_sleep_us(200);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    Py_END_ALLOW_THREADS
#ifdef __GLIBC__
    if (ocl_daemons_blocked && ocl_threads_in_driver > 0) {
        (void)on_exit(ocl_exit_immediately, NULL);
    }
#endif
    Py_RETURN_NONE;
}

static PyMethodDef at_exit_method = {"_at_exit", at_exit, METH_NOARGS, NULL};

int ocl_pending_ready(State *state) {
    static int registered = 0; /* once per process, however often the module is imported */
    if (registered) {
        return 0;
    }
    PyObject *atexit = PyImport_ImportModule("atexit"),
             *function = PyCFunction_New(&at_exit_method, NULL);
    PyObject *result = atexit != NULL && function != NULL
                           ? PyObject_CallMethod(atexit, "register", "O", function)
                           : NULL;
    Py_XDECREF(atexit);
    Py_XDECREF(function);
    Py_XDECREF(result);
    (void)state;
    registered = result != NULL;
    return result != NULL ? 0 : -1;
}
