/* profile.h - what a profile records: commands as they are given to a driver.
 *
 * While a profile is active, entries of a driver's table of functions are replaced by functions of
 * the same types that record the call. So nothing is tested where none is active. They run with the
 * GIL held or not. */
#ifndef PG_PROFILE_H
#define PG_PROFILE_H

#include "common/driver_table.h"
#include "common/pg.h"

#define PG_PROFILE_NAME 96

typedef struct {
    const char *kind; /* "kernel", "copy to device", ... */
    char name[PG_PROFILE_NAME];
    void *queue;       /* handle of the queue or stream */
    uint64_t bytes;    /* that are moved; 0 of a kernel */
    double begin, end; /* of the call, as pg_seconds() */
    unsigned long thread;
    void *first, *last, *base; /* events of the driver */
    unsigned size[6];          /* of a kernel: groups, work-items of a group; 0: not known */
} PgRecord;

extern PyThread_type_lock pg_profile_lock; /* made by the first profile */
/* 1 if the record is kept; 0 if the limit is reached or there is no memory. */
int pg_profile_add(const PgRecord *record);
/* A backend's part. replace and restore change the driver's table, which is done once the driver
 * is loaded. */
typedef struct {
    PgDriver *driver;
    void (**when_ready)(void); /* called when the driver has been loaded */
    void (*replace)(void), (*restore)(void);
    /* When a command ran: a tuple of four times [s], or None; and the handle of its context. */
    PyObject *(*times)(const PgRecord *record, uint64_t *context);
    void (*drop)(PgRecord *record); /* its events */
    int active;
} PgProfiler;
/* _profile_begin() and _profile_end() of a backend. */
PyObject *pg_profile_begin(PgProfiler *profiler, PyObject *limit);
PyObject *pg_profile_end(PgProfiler *profiler);
#define PG_PROFILE_BEGIN(profiler)                                                               \
    PG_DOC(profile_begin__doc__, "_profile_begin", "limit", "(limit: int) -> bool",              \
           "Record the commands that are queued from now on, *limit* of them at most. False if " \
           "they are recorded already, or in a child of fork().");                               \
    PG_FUNCTION(profile_begin, 1)                                                                \
    static PyObject *profile_begin_impl(PyObject *Py_UNUSED(module), PyObject *const *a) {       \
        return pg_profile_begin(&(profiler), a[0]);                                              \
    }
#define PG_PROFILE_END_DOC                                                                       \
    "_profile_end()\n--\n\n() -> tuple[list[tuple[Any, ...]], int]\n\nStop recording. The "      \
    "commands, as (kind, kernel, queue, bytes, begin and end of the call, thread, times on the " \
    "device, groups, group, CUDA's context), and how many there were beyond the limit."
/* Around each command while NVTX's functions are known; nothing otherwise. They take no GIL. */
typedef int (*PgNvtxPush)(const char *name);
typedef int (*PgNvtxPop)(void);
void pg_profile_push(const char *name), pg_profile_pop(void);
extern PyMethodDef pg_profile_functions[];
void pg_profile_name(PgRecord *record, const char *name);

#endif
