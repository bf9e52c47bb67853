/* usage.h - which streams use memory that somebody else may get afterwards. */
#ifndef PYGPU_CUDA_USAGE_H
#define PYGPU_CUDA_USAGE_H

#include "cuda/stream.h"

/* Which streams use memory that somebody else may get afterwards (usage.c): of a pool, or allocated
 * in a stream's order. */
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
        latest; /* that the owner used last and need not be looked at again; CUD_NO_STREAM: none */
    UseSet now, before; /* of this owner; of the one before, whose work must be over when this one's
                           begins */
    char exposed, was_exposed; /* the address was given away, so that streams which nobody told us
                                  of may use it */
} Usage;
#define CUD_NO_STREAM ((CUstream)(uintptr_t)-1)

int cud_usage_add(State *state, Usage *usage, Context *home, CUstream handle, Stream *stream);
void cud_usage_pass_on(Usage *usage); /* the owner has gone */
void cud_usage_clear(Usage *usage);
int cud_usage_visit(Usage *usage, visitproc visit, void *arg);
int cud_usage_expose(State *state, Usage *usage, Context *home);
/* A stream comes after all that is known to use the memory; for giving it back in that stream's
 * order. No exception. */
CUresult cud_usage_join(State *state, Usage *usage, Context *home, CUstream handle, Stream *stream);
int cud_usage_captured(const Usage *usage); /* a former owner's stream is being captured: its work
                                               cannot be waited for */

#endif
