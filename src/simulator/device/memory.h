/* memory.h - the table of allocations, for the driver's calls. The rest is in sim.h. */
#ifndef PYGPU_SIM_MEMORY_H
#define PYGPU_SIM_MEMORY_H

#include "simulator/sim.h"

#define SIM_MAX_DEVICES 64

/* Who is charged for device memory, besides the device. The table of allocations calls charge when
 * it adds a block, and refund when it removes it. */
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
    bool retired; /* freed by a call, but queued work still uses it: calls treat it as freed,
                   * kernels may use it */
} SimBlockInfo;

bool sim_memory_info(uintptr_t address, SimBlockInfo *out);
/* Checks that [address, address + size) is inside one allocation. what: the argument's name in the
 * message. */
CUresult sim_memory_check(uintptr_t address, size_t size, const char *what);
/* The same for a box; the message also says if its width or pitch is wrong. */
CUresult sim_memory_check_box(uintptr_t address, size_t width, size_t height, size_t depth,
                              size_t pitch, size_t slice, const char *what);
/* For memory outside the table, which is the program's own: whether it exists and can be read, or
 * written. */
bool sim_memory_reachable(const void *start, size_t size, bool write);
/* For cuMemGetInfo. */
size_t sim_memory_used(CUdevice device);
void sim_memory_free_context(CUcontext context);
/* For cuMemFreeAsync: calls treat the block as freed, but its memory stays in use until it is
 * freed by its number. */
CUresult sim_memory_retire(uintptr_t base, unsigned long long *id);
void sim_memory_unretire(uintptr_t base, unsigned long long id);
void sim_memory_free_retired(uintptr_t base, unsigned long long id);
CUresult sim_memory_alloc_pool(SimOwner owner, size_t size, SimPayer *payer, uintptr_t *out);
/* Sets how many bytes are in use of the block with this number at base; shrink: even if fewer than
 * before. */
void sim_memory_set_used(uintptr_t base, unsigned long long id, size_t size, bool shrink);
CUresult sim_memory_set_sync(uintptr_t address, bool sync);

#endif
