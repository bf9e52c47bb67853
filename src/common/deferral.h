/* deferral.h - what arrays ask of a backend so that they may defer launches: its commands must
 * call them before any other command reaches the driver. */
#ifndef PG_DEFERRAL_H
#define PG_DEFERRAL_H

#include "common/pg.h"

/* Whether the memory (any object) is seen by nobody but through commands of this backend, and
 * belongs to nothing that a capture records. */
typedef int (*PgPrivate)(PyObject *memory);
/* Whether launches on the queue (any object) may come later: it runs in order, and nothing special
 * holds of it now. */
typedef int (*PgMayWait)(PyObject *queue);
/* Launches deferred work; with the GIL held or not. 0, or the status that the driver gave. */
typedef int (*PgFlush)(void);

/* A backend's side, in a capsule of this name. */
#define PG_DEFERRAL_CAPSULE "pygpu.deferral"
typedef struct {
    PgPrivate is_private;
    PgMayWait may_wait;
    int unknown;    /* the status of a launch that failed without one */
    int *trap;      /* its pg_trap, whose bit PG_TRAP_DEFERRED says that something is deferred */
    PgFlush *flush; /* its pg_flush */
} PgDeferral;

#endif
