/* handle.h - objects behind handles: counted, and found by a number that never comes again. */
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

/* First member of each. Counted: the table of handles has one reference until the handle is closed,
 * who works with it has others. */
typedef struct SimObject {
    uintptr_t handle;
    SimType type;
    bool alone;          /* not to be closed with its context (graphs, pools) */
    SimContext *context; /* owner, counted; NULL for contexts and what belongs to none */
    struct SimObject *next, *previous; /* siblings, under the owner's lock */
    void (*free)(void *self);          /* nobody uses it any more; frees the memory */
} SimObject;

/* Gives object its handle, with one reference for the table and one for the caller. OUT_OF_MEMORY:
 * object is as before. */
CUresult sim_object_open(void *object, SimType type, SimContext *context, void (*free)(void *self));
/* The object of a handle with a reference, NULL if it is stale, wild or of another type. */
void *sim_object_take(uintptr_t handle, SimType type);
void *sim_object_keep(void *object);    /* one more reference to what the caller has one of */
bool sim_object_try_keep(void *object); /* the same for an object that may have none left, under a
                                           lock that delays its free */
void sim_object_drop(void *object);     /* NULL does nothing */
bool sim_object_close(void *object); /* the handle is stale from now on; false if it was before */

static inline void sim_drop_held(void *variable) {
    sim_object_drop(*(void **)variable);
}
#define HELD __attribute__((cleanup(sim_drop_held)))

#endif
