/* pool.h - memory pools. */
#ifndef PYGPU_SIM_POOL_H
#define PYGPU_SIM_POOL_H

#include <stdatomic.h>

#include "simulator/device/memory.h"
#include "simulator/driver/handle.h"

/* Declares that only the first size bytes of an allocation are in use: what was requested from the
 * program's own pool that it belongs to. Pending work may still use more of it: this waits for
 * such work, and if that takes long the larger of both sizes counts. Returns nonzero if anything
 * checks these sizes, as with PYGPU_SIM_CHECK; a base of 0 only queries that. */
SIM_EXPORT int pygpuSimUse(CUdeviceptr base, size_t size);

typedef struct SimPool {
    SimObject object;
    SimPayer payer; /* charged for its allocations, which keep it alive */
    CUdevice device;
    bool is_default;
    _Atomic uint64_t threshold, used, used_high;
    _Atomic int reuse[3];
} SimPool;

#endif
