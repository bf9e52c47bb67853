/* copy.h - copies between two checked ends. */
#ifndef PYGPU_SIM_COPY_H
#define PYGPU_SIM_COPY_H

#include "simulator/driver/work.h"

typedef struct SimContext SimContext;

/* One end of a copy of bytes: an address and its properties. */
typedef struct {
    uintptr_t address;
    bool device;      /* must be an allocation; otherwise it may be ordinary memory of the
                       * program */
    bool ordinary;    /* found to be ordinary memory */
    bool written;     /* the destination */
    const char *name; /* the argument's name in messages */
} SimEnd;
CUresult sim_end_check(SimEnd *end, size_t size);
/* Queues a WORK_COPY between checked ends. now: on the default stream, and wait if the host takes
 * part. */
CUresult sim_copy_submit(SimContext *context, CUstream handle, SimWork *work, const SimEnd *to,
                         const SimEnd *from, bool now);

#endif
