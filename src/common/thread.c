/* thread.c - clocks, sleeping, our own threads, and which thread handles signals. */
#include "common/pg.h"
#include "common/pthread_compat.h"

#ifdef _WIN32
#include <windows.h>

double pg_seconds(void) {
    LARGE_INTEGER frequency, now;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&now);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}
void pg_sleep_us(long us) {
    Sleep((DWORD)((us + 999) / 1000));
}
void pg_yield_cpu(void) {
    SwitchToThread();
}
#else
#include <sched.h>
#include <time.h>

double pg_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
void pg_sleep_us(long us) {
    struct timespec nap = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&nap, NULL);
}
void pg_yield_cpu(void) {
    sched_yield();
}
#endif

/* Python delivers signals only to its main thread. The first call, at import, records which thread
 * that is. */
int pg_is_main_thread(void) {
    static unsigned long main_thread = 0;
    if (main_thread == 0) {
        PyObject *threading = PyImport_ImportModule("threading");
        PyObject *thread = threading != NULL ? PyObject_CallMethod(threading, "main_thread", NULL)
                                             : NULL;
        PyObject *ident = thread != NULL ? PyObject_GetAttrString(thread, "ident") : NULL;
        main_thread = ident != NULL ? PyLong_AsUnsignedLongMask(ident) : 0;
        Py_XDECREF(ident);
        Py_XDECREF(thread);
        Py_XDECREF(threading);
        PyErr_Clear();
        if (main_thread == 0) {
            return 1;
        }
    }
    return PyThread_get_thread_ident() == main_thread;
}

/* ---- starting a thread ----------------------------------------------------------------------- */

typedef struct {
    void (*run)(void);
    PyInterpreterState *interpreter;
    PyThread_type_lock entered; /* held until the new thread has a thread state, or has failed to
                                 * get one */
    int failed;
} ThreadStart;

static void enter_thread(void *data) {
    ThreadStart *start = data;
    void (*run)(void) = start->run;
    PyThreadState *state = PyThreadState_New(start->interpreter); /* does not need the GIL */
    start->failed = state == NULL;
    PyThread_release_lock(start->entered); /* *start is no longer valid from here on */
    if (state == NULL) {
        return;
    }
    PyEval_RestoreThread(state);
    run();
    PyThreadState_Clear(state);
    PyThreadState_DeleteCurrent();
}

int pg_start_thread(void (*run)(void)) {
    ThreadStart start = {run, PyInterpreterState_Get(), PyThread_allocate_lock(), 0};
    if (start.entered == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    PyThread_acquire_lock(start.entered, WAIT_LOCK);
    pg_signal_mask mask;
    pg_block_signals(&mask); /* signals belong to Python's main thread */
    int refused = PyThread_start_new_thread(enter_thread, &start) == PYTHREAD_INVALID_THREAD_ID;
    pg_restore_signals(&mask);
    if (!refused) {
        PyThread_acquire_lock(start.entered, WAIT_LOCK);
    }
    PyThread_release_lock(start.entered);
    PyThread_free_lock(start.entered);
    if (refused) {
        PyErr_SetString(PyExc_RuntimeError, "can't start new thread");
    } else if (start.failed) {
        PyErr_NoMemory();
    }
    return refused || start.failed ? -1 : 0;
}
