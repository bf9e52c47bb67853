/* handle.h - objects behind handles: reference-counted, and found by a number that is never
 * reused. */
#ifndef PYGPU_SIM_HANDLE_H
#define PYGPU_SIM_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "simulator/sim.h"

typedef enum {
    SIM_CONTEXT = 1,
    SIM_STREAM,
    SIM_EVENT,
    SIM_MODULE,
    SIM_FUNCTION,
    SIM_ARRAY_OBJECT,
    SIM_GRAPH,
    SIM_NODE,
    SIM_GRAPH_EXEC,
    SIM_POOL,
    SIM_LINK,
    SIM_TEXTURE
} SimType;

typedef struct SimContext SimContext;

/* First member of each object. The table of handles holds one reference until the handle is
 * closed; users of the object hold others. */
typedef struct SimObject {
    uintptr_t handle;
    SimType type;
    bool alone;          /* not closed with its context (graphs, pools) */
    SimContext *context; /* owner, counted; NULL for contexts and objects without one */
    struct SimObject *next, *previous; /* siblings, protected by the owner's lock */
    void (*free)(void *self);          /* called without references left; frees the memory */
} SimObject;

/* Gives object its handle, with one reference for the table and one for the caller. OUT_OF_MEMORY:
 * object is unchanged. */
CUresult sim_object_open(void *object, SimType type, SimContext *context, void (*free)(void *self));
/* Returns a handle's object with a reference, NULL if the handle is stale, invalid or of another
 * type. */
void *sim_object_take(uintptr_t handle, SimType type);
void *sim_object_keep(void *object);    /* takes another reference; the caller has one */
bool sim_object_try_keep(void *object); /* the same if the object may have no references left;
                                         * under a lock that delays its free */
void sim_object_drop(void *object);     /* accepts NULL */
bool sim_object_close(void *object);    /* makes the handle stale; false if it was already */

static inline void sim_drop_held(void *variable) {
    sim_object_drop(*(void **)variable);
}
#define HELD __attribute__((cleanup(sim_drop_held)))
/* Declares a held reference and makes the call that fills it, or returns the call's failure. */
#define SIM_TAKE(Type, name, call) \
    HELD Type *name = NULL;        \
    SIM_TRY(call)

#endif
