/* wait.c - waits for the device with the GIL released; in Python's main thread, signals can
 * interrupt the wait. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/print.h"
#include "cuda/simulator_hooks.h"
#include "cuda/stream.h"

#define SPIN_SECONDS  100e-6 /* polls without pause for this long: most waits end within it */
#define SLICE_SECONDS 40e-3  /* the maximum delay of Ctrl-C */
#define STOP_SECONDS  1.0    /* for kernels to stop after Ctrl-C */
#define STOP_IDLE     10 /* in milliseconds: no kernel runs, so the wait is for something else */

typedef enum { WAIT_STREAM, WAIT_EVENT } WaitKind;

static CUresult query_status(WaitKind kind, void *handle) {
    CUresult status = CUDA_SUCCESS;
    if (kind == WAIT_STREAM) {
        CU_CALL(status, cuStreamQuery, (CUstream)handle);
    } else {
        CU_CALL(status, cuEventQuery, (CUevent)handle);
    }
    return status;
}

static int (*stop_launches)(char *text, size_t size); /* pygpuSimStop */

void cud_wait_set_stop_hook(void *function) {
    *(void **)(void *)&stop_launches = function;
}

/* A signal handler raised in a wait. If it was Ctrl-C on the simulator, stops the kernels that this
 * thread has launched, which a GPU cannot do; a note of the exception says where the first was. */
static void stop_kernels(WaitKind kind, void *handle) {
    char text[1000] = "";
    PyObject *type, *value, *traceback;
    if (stop_launches == NULL || !PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Py_BEGIN_ALLOW_THREADS
    double end = pg_seconds() + STOP_SECONDS;
    int idle = 0;
    do {
        idle = stop_launches(text, sizeof(text)) > 0 ? 0 : idle + 1;
        pg_sleep_us(1000);
    } while (query_status(kind, handle) == CUDA_ERROR_NOT_READY && idle < STOP_IDLE &&
             pg_seconds() < end);
    stop_launches(text, sizeof(text));
    Py_END_ALLOW_THREADS
    if (text[0] != '\0') {
        PyObject *none = PyObject_CallMethod(value, "add_note", "s", text);
        if (none == NULL) {
            PyErr_Clear();
        }
        Py_XDECREF(none);
    }
    PyErr_Restore(type, value, traceback);
}

/* Polls until the work is done or has failed, or a signal handler raised (-1). The pauses are a
 * sixteenth of the time waited so far, so that a long wait neither keeps a core busy nor ends much
 * too late. */
static int poll(WaitKind kind, void *handle, CUresult *status) {
    double begin = pg_seconds();
    for (;;) {
        Py_BEGIN_ALLOW_THREADS
        double slice = pg_seconds() + SLICE_SECONDS;
        for (;;) {
            *status = query_status(kind, handle);
            double now = pg_seconds();
            if (*status != CUDA_ERROR_NOT_READY || now > slice) {
                break;
            }
            if (now - begin < SPIN_SECONDS) {
                pg_yield_cpu();
            } else {
                double pause = (now - begin) / 16;
                pg_sleep_us(pause > 500e-6 ? 500 : (long)(pause * 1e6));
            }
        }
        Py_END_ALLOW_THREADS
        if (*status != CUDA_ERROR_NOT_READY) {
            return 0;
        }
        if (PyErr_CheckSignals() < 0) {
            stop_kernels(kind, handle);
            return -1;
        }
    }
}

unsigned cud_queued;
CUcontext cud_idle;

#define LOOK_AGAIN                                                                           \
    128                 /* after a call that did not wait, this many commands until the next \
                         * check */
#define LONG_CALL 50e-6 /* in seconds: a call this long had to wait */

void cud_queue_waited(double seconds) {
    if (cud_queued > CUD_QUEUE_MANY && seconds < LONG_CALL) {
        cud_queued = CUD_QUEUE_MANY - LOOK_AGAIN;
    }
}

static CUcontext waited; /* the context that was waited for as a whole, if nothing was queued in
                          * any context since */

static int report(State *state, const char *routine, CUresult status) {
    if (cud_queued != 0) {
        waited = NULL;
    }
    cud_queued = 0;
    cud_print();
    if (status != CUDA_SUCCESS) {
        cud_raise(state, routine, status);
        return -1;
    }
    return 0;
}

int cud_wait_stream(State *state, const char *routine, CUstream stream) {
    CUresult status = CUDA_SUCCESS;
    if (pg_is_main_thread()) {
        if (poll(WAIT_STREAM, stream, &status) < 0) {
            return -1;
        }
    } else {
        CU_NOGIL(status, cuStreamSynchronize, stream);
    }
    return report(state, routine, status);
}

int cud_wait_event(State *state, const char *routine, CUevent event) {
    CUresult status = CUDA_SUCCESS;
    if (pg_is_main_thread()) {
        if (poll(WAIT_EVENT, event, &status) < 0) {
            return -1;
        }
    } else {
        CU_NOGIL(status, cuEventSynchronize, event);
    }
    return report(state, routine, status);
}

int cud_wait_context(State *state, const char *routine) {
    CUresult status = CUDA_SUCCESS;
    CUcontext current = NULL;
    unsigned queued = cud_queued;
    CU_CALL(status, cuCtxGetCurrent, &current);
    int capturing = 0, quiet = current != NULL && current == waited && cud_queued == 0 &&
                               cud_host_calls == 0; /* then the driver's wait returns at once */
    for (Stream *stream = cud_streams; stream != NULL; stream = stream->next) {
        capturing |= stream->capturing; /* a query would invalidate the capture, whereas the driver
                                         * refuses the wait without that */
    }
    if (!quiet && !capturing && pg_is_main_thread()) { /* first the part that can be interrupted,
                                                        * then whatever other libraries queued */
        if (poll(WAIT_STREAM, NULL, &status) < 0) {
            return -1;
        }
        Stream *stream = cud_stream_next(cud_streams, NULL);
        while (stream != NULL && status == CUDA_SUCCESS) {
            int ours = stream->owned &&
                       stream->context->handle ==
                           current; /* another library may have destroyed its streams */
            if (ours && poll(WAIT_STREAM, stream->handle, &status) < 0) {
                Py_DECREF(stream);
                return -1;
            }
            stream = cud_stream_next(stream->next, stream);
        }
        Py_XDECREF(stream);
    }
    if (status == CUDA_SUCCESS) {
        CU_NOGIL(status, cuCtxSynchronize);
    }
    int alone = cud_queued == queued; /* no other thread queued anything in the meantime */
    int failed = report(state, routine, status);
    waited = failed == 0 && alone ? current : NULL;
    return failed;
}
