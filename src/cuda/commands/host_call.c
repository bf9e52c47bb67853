/* host_call.c - launch_host_func(): queues a Python function on a stream.
 *
 * The driver runs a callback on its own thread, and continues the stream when that returns. The
 * callback runs no Python code: our own thread, started with the first such function, calls it
 * while the driver's waits. So a driver thread cannot be killed by an interpreter that is shutting
 * down, or fail for lack of memory for a thread state. Only if our thread is kept busy by another
 * function for long does the driver's thread take the GIL itself, because one function may be
 * waiting for the other.
 *
 * While such a function may be called (cud_host_calls), calls that may wait for the device release
 * the GIL. */
#include "common/pthread_compat.h"
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/keepalive.h"
#include "cuda/stream.h"

#define CALL_NAME        "pygpu.host_call"
#define PATIENCE_SECONDS 0.2 /* how long a function waits for the previous one */
#define EXIT_SECONDS     2.0 /* how long functions that have started may take at exit */

long cud_host_calls;

typedef struct {
    PyObject *function, *args;
} HostCall;

/* ---- the calling thread ---------------------------------------------------------------------- */

enum { JOB_WAITING, JOB_RUNNING, JOB_DONE };
typedef struct Job {
    struct Job *next;
    HostCall *call;
    int state;
} Job;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static Job *first, **last = &first; /* under lock, as are all below */
static int running, stopping;
static double stopped_at;

/* Call with the GIL held. */
static void call_function(HostCall *self) {
    PyObject *function = Py_NewRef(self->function), *args = Py_NewRef(self->args);
    PyObject *result = PyObject_CallObject(function, args);
    if (result == NULL) {
        PyErr_WriteUnraisable(function);
    }
    Py_XDECREF(result);
    Py_DECREF(args);
    Py_DECREF(function);
}

static void unlink_job(Job *job) {
    Job **link = &first;
    while (*link != NULL && *link != job) {
        link = &(*link)->next;
    }
    if (*link == job) {
        *link = job->next;
    }
    for (last = &first; *last != NULL; last = &(*last)->next) {
    }
}

/* Runs on the driver's thread. */
static void call_here(HostCall *self) {
    PyGILState_STATE gil = PyGILState_Ensure();
    call_function(self);
    PyGILState_Release(gil);
}

static void CUDA_CB run(void *data) {
    Job *job = malloc(sizeof *job);
    pthread_mutex_lock(&lock);
    if (stopping || job == NULL) { /* the interpreter is shutting down or gone; or out of memory */
        pthread_mutex_unlock(&lock);
        free(job);
        return;
    }
    *job = (Job){NULL, data, JOB_WAITING};
    *last = job;
    last = &job->next;
    pthread_cond_signal(&wake);
    double patience = pg_seconds() + PATIENCE_SECONDS;
    int here = 0;
    while (job->state != JOB_DONE && !here &&
           !(stopping && (job->state == JOB_WAITING || pg_seconds() > stopped_at + EXIT_SECONDS))) {
        pg_cond_wait_ms(&done, &lock, 50);
        here = job->state == JOB_WAITING && !stopping && pg_seconds() > patience;
    }
    if (job->state == JOB_WAITING) {
        unlink_job(job);
    }
    int forget = job->state == JOB_RUNNING; /* the function seems to take forever: its thread may
                                             * still access the job */
    pthread_mutex_unlock(&lock);
    if (!forget) {
        free(job);
    }
    if (here) {
        call_here(data);
    }
}

/* Waits, without the GIL, for the next job; NULL to stop. */
static Job *next_job(void) {
    pthread_mutex_lock(&lock);
    while (first == NULL && !stopping) {
        pthread_cond_wait(&wake, &lock);
    }
    Job *job = stopping ? NULL : first;
    if (job != NULL) {
        unlink_job(job);
        job->state = JOB_RUNNING;
    }
    pthread_mutex_unlock(&lock);
    return job;
}

/* The thread's function, with the GIL held. */
static void call_jobs(void) {
    for (;;) {
        Job *job;
        Py_BEGIN_ALLOW_THREADS
        job = next_job();
        Py_END_ALLOW_THREADS
        if (job == NULL) {
            break;
        }
        call_function(job->call);
        pthread_mutex_lock(&lock);
        job->state = JOB_DONE;
        pthread_cond_broadcast(&done);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    running = 0;
    pthread_mutex_unlock(&lock);
}

/* atexit callback; the interpreter is still intact. Functions that have started may finish; no
 * others start. */
static PyObject *at_exit(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    if (pg_trap & PG_TRAP_FORKED) {
        Py_RETURN_NONE;
    }
    Py_BEGIN_ALLOW_THREADS
    pthread_mutex_lock(&lock);
    stopping = 1;
    stopped_at = pg_seconds();
    pthread_cond_broadcast(&wake);
    pthread_cond_broadcast(&done);
    while (running && pg_seconds() < stopped_at + EXIT_SECONDS) {
        pthread_mutex_unlock(&lock);
        pg_sleep_us(200);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyMethodDef at_exit_method = {"_at_exit", at_exit, METH_NOARGS, NULL};

/* Returns -1 with an exception. */
static int start_thread(void) {
    static int registered = 0;
    pthread_mutex_lock(&lock);
    int needed = !running && !stopping;
    running |= needed; /* set now, because Python may run other code below */
    pthread_mutex_unlock(&lock);
    if (!needed) {
        return 0;
    }
    PyObject *result = NULL;
    PyObject *atexit = registered ? NULL : PyImport_ImportModule("atexit"),
             *exit_function = atexit != NULL ? PyCFunction_New(&at_exit_method, NULL) : NULL;
    if (exit_function != NULL) {
        result = PyObject_CallMethod(atexit, "register", "O", exit_function);
        registered = result != NULL;
    }
    Py_XDECREF(result);
    Py_XDECREF(atexit);
    Py_XDECREF(exit_function);
    int failed = !registered || pg_start_thread(call_jobs) < 0;
    if (failed) {
        pthread_mutex_lock(&lock);
        running = 0;
        pthread_mutex_unlock(&lock);
    }
    return failed ? -1 : 0;
}

/* ---- the function ---------------------------------------------------------------------------- */

static void drop_capsule(PyObject *capsule) {
    HostCall *self = PyCapsule_GetPointer(capsule, CALL_NAME);
    cud_host_calls--;
    Py_DECREF(self->function);
    Py_DECREF(self->args);
    PyMem_Free(self);
}

/* Makes a capsule that owns the call of a function with these arguments. */
static PyObject *make_call(PyObject *function, PyObject *const *args, Py_ssize_t nargs) {
    PyObject *capsule = NULL, *tuple = PyTuple_New(nargs);
    HostCall *self = PyMem_Calloc(1, sizeof *self);
    for (Py_ssize_t i = 0; tuple != NULL && i < nargs; i++) {
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
    }
    if (self == NULL || tuple == NULL ||
        (capsule = PyCapsule_New(self, CALL_NAME, drop_capsule)) == NULL) {
        PyMem_Free(self);
        Py_XDECREF(tuple);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    self->function = Py_NewRef(function);
    self->args = tuple;
    cud_host_calls++;
    return capsule;
}

/* Keeps the capsule until the call was made, or as long as a graph may make it. */
static void keep_call(State *state, Context *context, CUstream handle, Stream *stream,
                      PyObject *capsule) {
    CUresult status;
    ContextGuard guard;
    if (cud_context_enter(context, &guard, &status) == 0) {
        if (stream == NULL || stream->capturing == CAPTURE_NONE) {
            cud_capture_keep(state, handle, stream, capsule);
        }
        cud_keepalive(state, context, handle, stream, capsule);
        cud_context_leave(&guard);
    } else { /* another thread destroyed the context, but the function may still be called, so the
              * capsule leaks */
        Py_INCREF(capsule);
    }
}

static const char launch_host_func__doc__[] =
    "launch_host_func(stream, func, /, *args)\n--\n\n(stream: Stream | None, func: Callable[..., "
    "object], /, *args: Any) -> None\n\n"
    "Call func(*args) on the host when the work queued so far on the stream is done; work queued "
    "later waits for it.\n\n"
    "It runs on another thread, usually one function at a time, and must not use CUDA. Exceptions "
    "go to sys.unraisablehook. A graph that\n"
    "captures it calls it at every launch. Functions that have not started when Python exits are "
    "not called.";

static PyObject *launch_host_func(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    State *state = PyModule_GetState(module);
    CUstream handle;
    Stream *stream;
    if (nargs < 2) {
        return PyErr_Format(PyExc_TypeError,
                            "launch_host_func takes a stream and a function; %zd argument%s given",
                            nargs, nargs == 1 ? " was" : "s were");
    }
    if (!PyCallable_Check(args[1])) {
        return PyErr_Format(PyExc_TypeError, "launch_host_func: func must be callable, not %s",
                            pg_type_name(args[1]));
    }
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    if (start_thread() < 0) {
        Py_DECREF(context);
        return NULL;
    }
    PyObject *capsule = NULL, *result = NULL;
    if (cud_as_stream(state, args[0], "cuLaunchHostFunc", &handle, &stream) < 0) {
        goto done;
    }
    if (stream != NULL) {
        Py_SETREF(context, (Context *)Py_NewRef((PyObject *)stream->context));
    }
    capsule = make_call(args[1], args + 2, nargs - 2);
    if (capsule == NULL) {
        goto done;
    }
    HostCall *self = PyCapsule_GetPointer(capsule, CALL_NAME);
    CU_COUNT_QUEUED();
    CUresult status = CUDA_SUCCESS;
    Py_BEGIN_ALLOW_THREADS
    IN_CONTEXT(context, status, CU_CALL(status, cuLaunchHostFunc, handle, run, self));
    Py_END_ALLOW_THREADS
    if (status != CUDA_SUCCESS) {
        cud_raise(state, "cuLaunchHostFunc", status);
        goto done;
    }
    keep_call(state, context, handle, stream, capsule);
    result = Py_NewRef(Py_None);
done:
    Py_XDECREF(capsule);
    Py_DECREF(context);
    return result;
}

PyMethodDef cud_host_call_functions[] = {
    {"launch_host_func", (PyCFunction)(void (*)(void))launch_host_func, METH_FASTCALL,
     launch_host_func__doc__},
    {NULL, NULL, 0, NULL},
};
