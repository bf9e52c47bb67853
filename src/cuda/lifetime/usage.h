/* usage.h - which streams may still use memory that may be handed to another owner. */
#ifndef PYGPU_CUDA_USAGE_H
#define PYGPU_CUDA_USAGE_H

#include "cuda/stream.h"

/* Which streams may still use memory that can get another owner (usage.c): from a pool, or
 * allocated in stream order. */
typedef struct {
    CUstream handle;
    Stream *
        stream; /* keeps the handle valid; NULL: the default stream, or a handle that is not ours */
    Context *context;
} StreamUse;

typedef struct {
    StreamUse first, *more; /* first.context is NULL in an empty set */
    int n_more;
} UseSet;

typedef struct {
    CUstream
        latest; /* the stream that the owner used last, which needs no check; CUD_NO_STREAM: none */
    UseSet now, before; /* of this owner; of the previous one, whose work must complete before this
                         * one's begins */
    char exposed, was_exposed; /* the address was given away, so unknown streams may use it */
} Usage;
#define CUD_NO_STREAM ((CUstream)(uintptr_t)-1)

int cud_usage_add(State *state, Usage *usage, Context *home, CUstream handle, Stream *stream);
void cud_usage_change_owner(Usage *usage); /* the owner is gone */
void cud_usage_clear(Usage *usage);
int cud_usage_visit(Usage *usage, visitproc visit, void *arg);
int cud_usage_expose(State *state, Usage *usage, Context *home);
/* Orders the stream after all work known to use the memory; for freeing it in that stream's order.
 * Sets no exception. */
CUresult cud_usage_join(State *state, Usage *usage, Context *home, CUstream handle, Stream *stream);
int cud_usage_captured(const Usage *usage); /* a former owner's stream is being captured, so its
                                             * work cannot be waited for */

#endif
