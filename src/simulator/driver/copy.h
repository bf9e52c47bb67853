/* copy.h - copies between checked ends. */
#ifndef PYGPU_SIM_COPY_H
#define PYGPU_SIM_COPY_H

#include "simulator/driver/work.h"

typedef struct SimContext SimContext;

/* One end of a copy of bytes: an address, and what is known of it. */
typedef struct {
    uintptr_t address;
    bool device;      /* must be in the table of allocations; else it may be ordinary memory of the
                         program */
    bool ordinary;    /* found to be */
    bool written;     /* the end where bytes go to */
    const char *name; /* in messages */
} SimEnd;
CUresult sim_end_check(SimEnd *end, size_t size);
/* Queues a WORK_COPY between checked ends. now: on the default stream, and the caller waits if the
 * host takes part. */
CUresult sim_copy_submit(SimContext *context, CUstream handle, SimWork *work, const SimEnd *to,
                         const SimEnd *from, bool now);

#endif
