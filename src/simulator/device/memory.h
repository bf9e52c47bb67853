/* memory.h - the table of allocations, as the driver's calls need it. The rest is in sim.h. */
#ifndef PYGPU_SIM_MEMORY_H
#define PYGPU_SIM_MEMORY_H

#include "simulator/sim.h"

#define SIM_MAX_DEVICES 64

/* What is charged for device memory beside its device. The table of allocations keeps it: charge is
 * called when it begins to, refund when it ends. */
typedef struct SimPayer {
    void (*charge)(struct SimPayer *self, size_t size);
    void (*refund)(struct SimPayer *self, size_t size);
    uintptr_t handle; /* of a pool */
} SimPayer;

typedef struct {
    SimBlock block;
    SimPayer *payer; /* NULL: none */
    unsigned long long id;
    CUdevice device;
    bool sync_memops;
    bool retired; /* freed by a call, but work that is queued still uses it: no block any more for
                     calls, one for kernels */
} SimBlockInfo;

bool sim_memory_info(uintptr_t address, SimBlockInfo *out);
/* [address, address + size) lies in one allocation. what names the argument in the message. */
CUresult sim_memory_check(uintptr_t address, size_t size, const char *what);
/* Like this for a box; also says where its width or pitch is wrong. */
CUresult sim_memory_check_box(uintptr_t address, size_t width, size_t height, size_t depth,
                              size_t pitch, size_t slice, const char *what);
/* Memory that is not in the table is the program's own: false if there is none, or it may not be
 * read, or written. */
bool sim_memory_reachable(const void *start, size_t size, bool write);
/* For cuMemGetInfo. */
size_t sim_memory_used(CUdevice device);
void sim_memory_free_context(CUcontext context);
/* cuMemFreeAsync: the block is the caller's no more, but its memory is still in use until it is
 * freed by its number. */
CUresult sim_memory_retire(uintptr_t base, unsigned long long *id);
void sim_memory_unretire(uintptr_t base, unsigned long long id);
void sim_memory_free_retired(uintptr_t base, unsigned long long id);
CUresult sim_memory_alloc_pool(SimOwner owner, size_t size, SimPayer *payer, uintptr_t *out);
/* Of the block with this number at base, only the first size bytes are in use; shrink: also where
 * that is less than before. */
void sim_memory_set_used(uintptr_t base, unsigned long long id, size_t size, bool shrink);
CUresult sim_memory_set_sync(uintptr_t address, bool sync);

#endif
