/* completion.c - what must happen when a command is done: host memory given back, Python callbacks
 * run.
 *
 * A driver calls back from threads of its own. They only push a record onto a list; one dispatcher
 * thread takes the GIL and deals with the list. It is a thread of Python's _thread, so that its
 * thread state is made once, where a lack of memory is an error and no crash. So no dealloc ever
 * waits for a device, and dropping an Event or an array changes nothing.
 *
 * NVIDIA's driver (580.159) is never asked to call back: that costs some 5 us of the caller's time,
 * and the thread that it wakes for it comes 40 us late, when a short copy is long done. Its events
 * are looked at instead. At exit the dispatcher is stopped before the interpreter goes; what is
 * still pending then is left to the operating
 * system. */
#define OCL_NOT_COUNTED /* the dispatcher waits where it is, and so does exit itself */
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
    struct Pending *later, **link; /* among those whose event has not called back yet; under lock */
    cl_event event;                /* of such a record: a reference */
    int given_up; /* dealt with although the driver has not called back: it still may, so the record
                     stays */
    int polled;   /* the driver will not call back: the dispatcher looks at the event instead */
    cl_int at;    /* the status of the event that is waited for */
    Py_buffer view; /* released if has_view */
    int has_view;
    PyObject *object;   /* dropped */
    PyObject *function; /* called with override or else status, then dropped */
    cl_int status, override;
    Gates *gates; /* that the command is behind */
} Pending;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static Pending *first, **last = &first; /* under lock */
static int running, stopping, busy;     /* under lock */
static int owed;                        /* under lock: user events are to fail */
static double owed_from; /* under lock: 0, or when to try again to let user events fail */
static int pause_ms;     /* under lock: before the latest of these attempts */
static int n_polled,
    look_at_holds;           /* under lock: what the dispatcher has to look at again and again */
static int exiting;          /* GIL held */
static Pending *outstanding; /* under lock */
static double
    suspect_until; /* under lock: until then events may fail without the driver calling back */

/* Between looks at events of a driver that may have failed to call back, and of one that does
 * not. */
#define LOOK_MS       10
#define LOOK_OFTEN_MS 1
/* At most so long between attempts to let user events fail that the driver refused; they begin with
 * LOOK_MS. */
#define PAUSE_MOST_MS 1000

/* For when there is no memory for a record: without one, what it should keep would be lost. */
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

/* GIL held. */
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
    ocl_gates_let_go(record->gates);
    record->gates = NULL;
    if (record->event != NULL) {
        ocl_event_let_go(record->event);
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
static void leave_outstanding(Pending *record) {
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
static void join_outstanding(Pending *record) {
    record->later = outstanding;
    record->link = &outstanding;
    if (outstanding != NULL) {
        outstanding->link = &record->later;
    }
    outstanding = record;
}

/* PoCL does not call back for a command whose wait list failed, so after a failure the rest is
 * looked at. GIL held. Only the dispatcher frees records, and with the GIL held nobody else takes
 * one back; the lock must not be held while the driver is asked, for it may hold a lock of its own
 * while it calls push(). */
static void collect_silent(void) {
    Pending *few[64], **all = few;
    size_t n = 0, room = sizeof few / sizeof few[0];
    pthread_mutex_lock(&lock);
    for (Pending *record = outstanding; record != NULL; record = record->later) {
        n++;
    }
    if (n > room && (all = PyMem_RawMalloc(n * sizeof *all)) != NULL) {
        room = n;
    } else {
        all = few; /* without memory the first ones, which make way for others */
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
            leave_outstanding(all[i]);
            all[i]->given_up = !all[i]->polled;
            all[i]->status = exec;
            append(all[i]);
        }
        pthread_mutex_unlock(&lock);
    }
    if (all != few) {
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

/* Without the GIL: until there is something to do. Takes the list; 0 to stop. *suspect: whether
 * events may fail silently; they were just looked at if it is set on entry, and are left alone for
 * a moment. *owe: whether user events are to fail. */
static int wait_for_work(Pending **list, int *suspect, int *owe) {
    int looked = *suspect;
    pthread_mutex_lock(&lock);
    busy = 0;
    for (;;) {
        *suspect = (outstanding != NULL && pg_seconds() < suspect_until) || n_polled > 0 ||
                   look_at_holds;
        if (owed_from > 0 && pg_seconds() >= owed_from) {
            owed = 1;
        }
        if (stopping || first != NULL || owed || (*suspect && !looked)) {
            break;
        }
        if (*suspect) {
            pg_cond_wait_ms(&wake, &lock,
                            (ocl_quirks_in_use & OCL_QUIRK_CALLS_BACK_LATE) && n_polled > 0
                                ? LOOK_OFTEN_MS
                                : LOOK_MS);
        } else if (owed_from > 0) {
            pg_cond_wait_ms(&wake, &lock, pause_ms);
        } else {
            pthread_cond_wait(&wake, &lock);
        }
        looked = 0;
    }
    int go_on = !stopping;
    *owe = owed;
    owed = 0;
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

static void look_around(void) {
    collect_silent();
    pthread_mutex_lock(&lock);
    int wanted = look_at_holds;
    look_at_holds = 0; /* others may want it from now on */
    pthread_mutex_unlock(&lock);
    if (wanted && ocl_keepalive_look_after() > 0) {
        pthread_mutex_lock(&lock);
        look_at_holds = 1;
        pthread_mutex_unlock(&lock);
    }
}

/* Lets dropped user events fail, later once more where the driver refuses: who waits for one has
 * nobody else. */
static void fail_dropped(void) {
    ocl_fail_dropped_user_events();
    pthread_mutex_lock(&lock);
    if (ocl_user_events_dropped == 0) {
        owed_from = 0;
        pause_ms = 0;
    } else {
        pause_ms = pause_ms == 0                  ? LOOK_MS
                   : pause_ms < PAUSE_MOST_MS / 2 ? pause_ms * 2
                                                  : PAUSE_MOST_MS;
        owed_from = pg_seconds() + pause_ms * 1e-3;
    }
    pthread_mutex_unlock(&lock);
}

static unsigned long dispatcher; /* the thread */

/* What the thread runs. It has the GIL at the end, so at_exit(), which waits for that, goes on when
 * the thread is gone. */
static void dispatch(void) {
    int go_on = 1, suspect = 0, owe = 0;
    dispatcher = PyThread_get_thread_ident();
    while (go_on) {
        Pending *list;
        Py_BEGIN_ALLOW_THREADS
        go_on = wait_for_work(&list, &suspect, &owe);
        Py_END_ALLOW_THREADS
        while (list != NULL) {
            Pending *record = list;
            list = record->next;
            Pending_finish(record);
        }
        if (go_on && owe) {
            fail_dropped();
        }
        if (go_on && suspect) {
            look_around();
        }
    }
    pthread_mutex_lock(&lock);
    running = 0;
    pthread_mutex_unlock(&lock);
}

/* Any thread, GIL or not. */
static void push(Pending *record) {
    pthread_mutex_lock(&lock);
    if (!stopping &&
        !record->given_up) { /* while stopping it stays for ever: the interpreter is going */
        leave_outstanding(record);
        append(record);
        pthread_cond_signal(&wake);
    }
    pthread_mutex_unlock(&lock);
}

/* GIL held, perhaps with an exception. */
static int start_dispatcher(void) {
    pthread_mutex_lock(&lock);
    int needed = !running && !stopping;
    running |= needed; /* at once: Python may run other code below */
    pthread_mutex_unlock(&lock);
    if (!needed) {
        return 0;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    int failed = pg_start_thread(dispatch) < 0;
    PyErr_Restore(
        type, value,
        traceback); /* a failure's own exception goes: the callers know what to do instead */
    if (failed) {
        pthread_mutex_lock(&lock);
        running = 0;
        pthread_mutex_unlock(&lock);
    }
    return failed ? -1 : 0;
}

int ocl_owe_failures(void) {
    if (start_dispatcher() < 0) {
        return -1;
    }
    pthread_mutex_lock(&lock);
    int heard = !stopping;
    owed |= heard;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    return heard ? 0 : -1;
}

void ocl_owe_look_at_holds(void) {
    if (start_dispatcher() == 0) {
        pthread_mutex_lock(&lock);
        look_at_holds = 1;
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

/* Asks the driver to call back; the record is then its own. If it would not, the dispatcher looks
 * at the event from time to time, if may_poll. GIL held. */
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
    join_outstanding(record);
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
        leave_outstanding(record);
    }
    pthread_mutex_unlock(&lock);
    if (!may_poll) {
        record->event = NULL;
        ocl_event_let_go(event);
    }
    return status;
}

/* Hands the record to the event. If that cannot be done, waits in its stead: rare, and nothing may
 * be lost. */
static void hold(State *state, cl_event event, Pending *record) {
    cl_int status = CL_SUCCESS;
    if (start_dispatcher() == 0) {
        status = watch(record, event, CL_COMPLETE, 1);
        if (status == CL_SUCCESS) {
            return;
        }
    }
    if (status == PG_STATUS_FORKED) {
        return; /* the record leaks in the child, which is inert */
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_BEGIN_ALLOW_THREADS
    CL_CALL(status, clWaitForEvents, 1, &event);
    Py_END_ALLOW_THREADS
    if (status == CL_SUCCESS || status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
        Pending_finish(record);
    } /* else it is not known when the memory is free, so it is kept */
    PyErr_Restore(type, value, traceback);
    (void)state;
}

void ocl_keepalive_buffer(State *state, cl_event event, Py_buffer *view) {
    Pending *record = Pending_new();
    if (record ==
        NULL) { /* keep the memory: losing some beats a device that writes into freed memory */
        return;
    }
    record->view = *view;
    record->has_view = 1;
    hold(state, event, record);
}

void ocl_keepalive_object(State *state, cl_event event, PyObject *object) {
    Py_INCREF(object);
    Pending *record = Pending_new();
    if (record == NULL) { /* likewise */
        return;
    }
    record->object = object;
    hold(state, event, record);
}

#define ARRAY_NAME "pygpu.array"

static void free_array(PyObject *capsule) {
    PyMem_Free(PyCapsule_GetPointer(capsule, ARRAY_NAME));
}

void ocl_keepalive_array(State *state, cl_event event, void *array) {
    PyObject *capsule = PyCapsule_New(array, ARRAY_NAME, free_array);
    if (capsule == NULL) { /* lost, as above */
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
        ocl_gates_let_go(gates);
        Pending_free(record);
        ocl_raise(state, "clSetEventCallback", status);
        return -1;
    }
    return 0;
}

int ocl_is_exiting(void) {
    return exiting;
}

int ocl_inside, ocl_no_entry;

void ocl_stop_here(void) {
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
void ocl_leave_at_once(int status, void *Py_UNUSED(arg)) {
    (void)fflush(NULL);
    _exit(status);
}
#endif

/* atexit: the interpreter is whole still. Gives user events an outcome, lets callbacks that are due
 * run, stops the dispatcher. */
static PyObject *at_exit(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    if (pg_trap & PG_TRAP_FORKED) {
        Py_RETURN_NONE;
    }
    exiting = 1;
    ocl_no_entry = (ocl_quirks_in_use & OCL_QUIRK_EXIT_CRASHES_DAEMONS) != 0;
    ocl_abandon_user_events();
    ocl_quiesce_at_exit();
    double end = pg_seconds() + EXIT_SECONDS;
    Py_BEGIN_ALLOW_THREADS
    pthread_mutex_lock(&lock);
    while (((running && (first != NULL || busy)) || (ocl_no_entry && ocl_inside > 0)) &&
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
    if (ocl_no_entry && ocl_inside > 0) {
        (void)on_exit(ocl_leave_at_once, NULL);
    }
#endif
    Py_RETURN_NONE;
}

static PyMethodDef at_exit_method = {"_at_exit", at_exit, METH_NOARGS, NULL};

int ocl_pending_ready(State *state) {
    static int registered = 0; /* once for the process, however often the module is imported */
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
