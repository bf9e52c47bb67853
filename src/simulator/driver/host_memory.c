/* host_memory.c - host memory that the device can access: allocated as such, or registered later.
 * Here the device can access all memory; the table records what was declared. */
#include "simulator/device/memory.h"
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"

#define REGISTER_FLAGS 0xfu
#define ALLOC_FLAGS \
    (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED)

CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags) {
    SIM_CALL(cuMemHostAlloc);
    uintptr_t base;
    SIM_NOT_NULL(pp);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(sim_capture_forbid(context, "cuMemHostAlloc"));
    if ((Flags & ~(unsigned)ALLOC_FLAGS) != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not host_alloc_flags", Flags);
    }
    SIM_TRY(sim_memory_alloc(sim_context_owner(context), bytesize, SIM_HOST, Flags, &base));
    *pp = (void *)base;
    return CUDA_SUCCESS;
}

/* Waits for the owner's work, which may use the memory, then releases it. */
static CUresult release(void *p, SimKind kind) {
    HELD SimContext *owner = NULL;
    SimBlock block;
    SIM_TAKE(SimContext, context, sim_context_current_any(&context));
    CUresult status = CUDA_SUCCESS;
    if (sim_memory_find((uintptr_t)p, &block) && block.kind == kind && block.base == (uintptr_t)p) {
        owner = sim_object_take((uintptr_t)block.context, SIM_CONTEXT);
        if (owner != NULL) {
            status = sim_context_wait(owner);
        }
    } else if (kind == SIM_REGISTERED) {
        return sim_fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
                        "%p is not the start of registered memory", p);
    }
    CUresult freed = sim_memory_free((uintptr_t)p, kind);
    return freed != CUDA_SUCCESS ? freed : status;
}

CUresult cuMemFreeHost(void *p) {
    SIM_CALL(cuMemFreeHost);
    return p == NULL ? CUDA_SUCCESS : release(p, SIM_HOST);
}

CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags) {
    SIM_CALL(cuMemHostRegister);
    SIM_NOT_NULL(p);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if ((Flags & ~REGISTER_FLAGS) != 0 || bytesize == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes with flags %#x cannot be registered",
                        bytesize, Flags);
    }
    if ((Flags & 4) != 0) {
        return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "the simulator has no IOMEMORY");
    }
    if (!sim_memory_reachable(p, bytesize, false)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "there is no memory at %p, or less than %zu bytes", p, bytesize);
    }
    return sim_memory_adopt(sim_context_owner(context), (uintptr_t)p, bytesize, SIM_REGISTERED,
                            Flags);
}

CUresult cuMemHostUnregister(void *p) {
    SIM_CALL(cuMemHostUnregister);
    SIM_NOT_NULL(p);
    return release(p, SIM_REGISTERED);
}

static CUresult find_host(void *p, SimBlock *block) {
    if (!sim_memory_find((uintptr_t)p, block) ||
        (block->kind != SIM_HOST && block->kind != SIM_REGISTERED)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%p is neither page-locked nor registered", p);
    }
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *pdptr, void *p, unsigned int Flags) {
    SIM_CALL(cuMemHostGetDevicePointer);
    SimBlock block;
    SIM_NOT_NULL(pdptr);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (Flags != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not 0", Flags);
    }
    SIM_TRY(find_host(p, &block));
    *pdptr = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p) {
    SIM_CALL(cuMemHostGetFlags);
    SimBlock block;
    SIM_NOT_NULL(pFlags);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(find_host(p, &block));
    *pFlags = block.flags |
              CU_MEMHOSTALLOC_DEVICEMAP; /* with unified addresses, all of it is mapped */
    return CUDA_SUCCESS;
}
