/* deferral.h - the interface through which arrays defer launches. A backend must run the deferred
 * launches before any other command reaches the driver. */
#ifndef PG_DEFERRAL_H
#define PG_DEFERRAL_H

#include "common/pg.h"

/* Whether only commands of this backend can access the memory (any object), and no capture records
 * its owner. */
typedef int (*PgPrivate)(PyObject *memory);
/* Whether launches on the queue (any object) may be deferred: it runs in order, and nothing rules
 * that out at the moment. */
typedef int (*PgMayWait)(PyObject *queue);
/* Launches the deferred work, with or without the GIL. Returns 0 or the driver's status. */
typedef int (*PgFlush)(void);

/* A backend's functions and flags, passed in a capsule of this name. */
#define PG_DEFERRAL_CAPSULE "pygpu.deferral"
typedef struct {
    PgPrivate is_private;
    PgMayWait may_wait;
    int unknown;    /* reported when a launch failed without a status */
    int *trap;      /* the backend's pg_trap; its bit PG_TRAP_DEFERRED is set while launches are
                     * deferred */
    PgFlush *flush; /* the backend's pg_flush */
} PgDeferral;

#endif
