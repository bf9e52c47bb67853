/* profile.h - what a profile records: commands as they are given to a driver.
 *
 * While a profile is active, entries of a driver's table of functions are replaced by functions of
 * the same types that record the call. So nothing is tested where none is active. They run with the
 * GIL held or not. */
#ifndef PG_PROFILE_H
#define PG_PROFILE_H

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

/* 1 if the record is kept; 0 if the limit is reached or there is no memory. */
int pg_profile_add(const PgRecord *record);
/* Begins a list of at most so many records. -1 with an exception. */
int pg_profile_begin(size_t limit);
/* Ends the list: what it has, how many, how many were left out. Free it by PyMem_RawFree. */
PgRecord *pg_profile_take(size_t *n, size_t *left_out);
/* Around each command while NVTX's functions are known; nothing otherwise. They take no GIL. */
typedef int (*PgNvtxPush)(const char *name);
typedef int (*PgNvtxPop)(void);
void pg_profile_push(const char *name), pg_profile_pop(void);
extern PyMethodDef pg_profile_functions[];
void pg_profile_name(PgRecord *record, const char *name);

#endif
