/* pool.h - pools of memory. */
#ifndef PYGPU_SIM_POOL_H
#define PYGPU_SIM_POOL_H

#include <stdatomic.h>

#include "simulator/device/memory.h"
#include "simulator/driver/handle.h"

/* Of an allocation, only the first size bytes are in use: what the pool of allocations that it
 * belongs to was asked for. Work that is pending may have been given more: it is waited for, and if
 * that takes long the larger of both sizes counts. Not 0 if anybody looks at that, as with
 * PYGPU_SIM_CHECK; a base of 0 only asks. */
SIM_EXPORT int pygpuSimUse(CUdeviceptr base, size_t size);

typedef struct SimPool {
    SimObject object;
    SimPayer payer; /* of what is allocated from it, which keeps it */
    CUdevice device;
    bool is_default;
    _Atomic uint64_t threshold, used, used_high;
    _Atomic int reuse[3];
} SimPool;

#endif
