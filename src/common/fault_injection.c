/* fault_injection.c - intercepts driver calls while pg_trap is set: injects failures for tests,
 * counts calls, launches deferred work first, and blocks every call in a forked child. */
#include "common/pg.h"

#ifndef _WIN32
#include <pthread.h>
#endif

int pg_trap = 0;
PgFault pg_fault;
int (*pg_flush)(void) = NULL;

/* The OpenCL calls that submit or wait for commands. Launches are excluded: they are made while
 * their kernel is locked, and a deferred launch may need the same lock. They call
 * pg_launch_deferred() first instead. */
static int is_command(const char *name) {
    static const char launch[] = "clEnqueueNDRangeKernel";
    return strncmp(name, "clFinish", 8) == 0 || strncmp(name, "clFlush", 7) == 0 ||
           strncmp(name, "clWaitForEvents", 15) == 0 ||
           (strncmp(name, "clEnqueue", 9) == 0 && strcmp(name, launch) != 0);
}

/* Calls that neither depend on launches nor affect any: queries, new memory, new kernels. */
static int is_independent(const char *name) {
    if (strncmp(name, "cl", 2) == 0) {
        return !is_command(name);
    }
    static const char *const beginnings[] = {
        "cuCtxGet",   "cuGetError",   "cuDevice",    "cuDriver",     "cuFuncGet",           "nvrtc",
        "cuMemAlloc", "cuPointerGet", "cuModuleGet", "cuModuleLoad", "cuMemGetAddressRange"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

int pg_trapped(const char *name, long *count, int *status) {
    /* This also runs without the GIL, so it must not touch Python objects. (Launching deferred
     * work takes the GIL.) */
    if (pg_trap & PG_TRAP_FORKED) {
        *status = PG_STATUS_FORKED;
        return 1;
    }
    if ((pg_trap & PG_TRAP_DEFERRED) && pg_flush != NULL && !is_independent(name)) {
        int failed = pg_flush();
        if (failed != 0) { /* a launch that belongs before this call failed */
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
    int enabled = PyGC_Enable(); /* PyGC_Collect() does nothing while the collector is disabled */
    PyGC_Collect();
    if (!enabled) {
        PyGC_Disable();
    }
}
