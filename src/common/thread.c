/* thread.c - clocks, naps and which thread may see signals. */
#include "common/pg.h"

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

/* Python delivers signals to its main thread alone. The first caller, at import, decides which that
 * is. */
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
