/* fault_injection.c - the seam through which every driver call goes when it must not simply be
 * made: tests inject failures by the call's name, calls are counted, and in a child of fork() no
 * driver is called at all. */
#include "common/pg.h"

#ifndef _WIN32
#include <pthread.h>
#endif

int pg_trap = 0;
PgFault pg_fault;
int (*pg_flush)(void) = NULL;

/* Of OpenCL's calls, those that reach a queue or wait. A launch is not among them: it is made while
 * its kernel is locked, which a deferred one may need, so launches begin with
 * pg_launch_deferred(). */
static int is_command(const char *name) {
    static const char launch[] = "clEnqueueNDRangeKernel";
    return strncmp(name, "clFinish", 8) == 0 || strncmp(name, "clFlush", 7) == 0 ||
           strncmp(name, "clWaitForEvents", 15) == 0 ||
           (strncmp(name, "clEnqueue", 9) == 0 && strcmp(name, launch) != 0);
}

/* Calls that only ask, and whose answers no launch changes. */
static int only_asks(const char *name) {
    if (strncmp(name, "cl", 2) == 0) {
        return !is_command(name);
    }
    static const char *const beginnings[] = {"cuCtxGet",     "cuGetError",          "cuDevice",
                                             "cuDriver",     "cuFuncGet",           "nvrtc",
                                             "cuPointerGet", "cuMemGetAddressRange"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

int pg_trapped(const char *name, long *count, int *status) {
    /* Touches no Python object: it also runs where the GIL is released. (Deferred work takes
     * the GIL.) */
    if (pg_trap & PG_TRAP_FORKED) {
        *status = PG_STATUS_FORKED;
        return 1;
    }
    if ((pg_trap & PG_TRAP_DEFERRED) && pg_flush != NULL && !only_asks(name)) {
        int failed = pg_flush();
        if (failed != 0) { /* what was to come before this call did not */
            *status = failed;
            return 1;
        }
    }
    if ((pg_trap & PG_TRAP_COUNT) && count != NULL &&
        (!(pg_trap & PG_TRAP_HELD) || PyGILState_Check())) {
        ++*count;
    }
    if ((pg_trap & PG_TRAP_FAULT) && pg_fault.name != NULL && strcmp(pg_fault.name, name) == 0) {
        if (pg_fault.skip > 0) {
            pg_fault.skip--;
        } else if (pg_fault.times > 0) {
            pg_fault.times--;
            pg_fault.hits++;
            *status = (int)pg_fault.code;
            return 1;
        }
    }
    return 0;
}

#ifndef _WIN32
static void mark_forked(void) {
    pg_trap |= PG_TRAP_FORKED;
}
#endif

void pg_trap_watch_fork(void) {
#ifndef _WIN32
    static int watching = 0;
    if (!watching) {
        watching = pthread_atfork(NULL, NULL, mark_forked) == 0;
    }
#endif
}

void pg_collect(void) {
    int enabled = PyGC_Enable(); /* PyGC_Collect() does nothing while it is off */
    PyGC_Collect();
    if (!enabled) {
        PyGC_Disable();
    }
}
