/* device_memory.c - device and managed memory: allocating, freeing, queries. */
#include "simulator/device/memory.h"
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/device.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/stream.h"
#include "simulator/driver/work.h"

#include <string.h>

CUresult cuMemGetInfo(size_t *free, size_t *total) {
    SIM_CALL(cuMemGetInfo);
    SIM_NOT_NULL(free);
    SIM_NOT_NULL(total);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    *total = sim_device_memory();
    *free = *total - sim_memory_used(context->device);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *dptr, size_t bytesize) {
    SIM_CALL(cuMemAlloc);
    uintptr_t base;
    SIM_NOT_NULL(dptr);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(sim_capture_forbid(context, "cuMemAlloc"));
    SIM_TRY(sim_memory_alloc(sim_context_owner(context), bytesize, SIM_DEVICE, 0, &base));
    *dptr = base;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                         unsigned int ElementSizeBytes) {
    SIM_CALL(cuMemAllocPitch);
    uintptr_t base;
    size_t pitch, size;
    SIM_NOT_NULL(dptr);
    SIM_NOT_NULL(pPitch);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(sim_capture_forbid(context, "cuMemAllocPitch"));
    if (WidthInBytes == 0 || Height == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "a pitched allocation of %zu bytes by %zu rows",
                        WidthInBytes, Height);
    }
    if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "ElementSizeBytes is %u, not 4, 8 or 16",
                        ElementSizeBytes);
    }
    if (__builtin_add_overflow(WidthInBytes, (size_t)SIM_PITCH_ALIGNMENT - 1, &pitch) ||
        __builtin_mul_overflow(pitch / SIM_PITCH_ALIGNMENT * SIM_PITCH_ALIGNMENT, Height, &size)) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY,
                        "%zu bytes by %zu rows are more than there are addresses", WidthInBytes,
                        Height);
    }
    SIM_TRY(sim_memory_alloc(sim_context_owner(context), size, SIM_DEVICE, 0, &base));
    *dptr = base;
    *pPitch = pitch / SIM_PITCH_ALIGNMENT * SIM_PITCH_ALIGNMENT;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags) {
    SIM_CALL(cuMemAllocManaged);
    uintptr_t base;
    SIM_NOT_NULL(dptr);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(sim_capture_forbid(context, "cuMemAllocManaged"));
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are neither GLOBAL nor HOST", flags);
    }
    SIM_TRY(sim_memory_alloc(sim_context_owner(context), bytesize, SIM_MANAGED, flags, &base));
    *dptr = base;
    return CUDA_SUCCESS;
}

/* Waits for the work of the context that owns it, as a GPU's driver does, so that queued work does
 * not lose its memory. */
CUresult cuMemFree(CUdeviceptr dptr) {
    SIM_CALL(cuMemFree);
    HELD SimContext *owner = NULL;
    SimBlockInfo info = {.id = 0};
    SIM_TAKE(SimContext, context, sim_context_current_any(&context));
    if (dptr == 0) {
        return CUDA_SUCCESS;
    }
    SIM_TRY(sim_capture_forbid(context, "cuMemFree"));
    bool known = sim_memory_info((uintptr_t)dptr, &info);
    SimBlock block = info.block;
    if (known && info.retired) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%#llx was freed already", dptr);
    }
    if (!known || (block.kind != SIM_DEVICE && block.kind != SIM_MANAGED)) {
        return sim_memory_free((uintptr_t)dptr, SIM_DEVICE); /* its message says what the address
                                                              * is */
    }
    owner = sim_object_take((uintptr_t)block.context, SIM_CONTEXT);
    CUresult status = CUDA_SUCCESS;
    if (owner != NULL && block.base == (uintptr_t)dptr) {
        status = sim_context_wait(owner);
    }
    CUresult freed = sim_memory_free((uintptr_t)dptr, block.kind);
    return freed != CUDA_SUCCESS ? freed : status;
}

CUresult cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr) {
    SIM_CALL(cuMemGetAddressRange);
    SimBlockInfo info = {.id = 0};
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (!sim_memory_info((uintptr_t)dptr, &info) || info.retired) {
        return sim_fail(CUDA_ERROR_NOT_FOUND, "%#llx is not a device address", dptr);
    }
    if (pbase != NULL) {
        *pbase = info.block.base;
    }
    if (psize != NULL) {
        *psize = info.block.size;
    }
    return CUDA_SUCCESS;
}

/* ---- managed memory: hints, which have no effect here ---------------------------------------- */

static CUresult check_location(CUdevice device) {
    return device == CU_DEVICE_CPU ? CUDA_SUCCESS : sim_device_check(device);
}

static CUresult check_managed(CUdeviceptr address, size_t count) {
    SimBlock block;
    if (count == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "count is 0");
    }
    SIM_TRY(sim_memory_check((uintptr_t)address, count, "devPtr"));
    if (!sim_memory_find((uintptr_t)address, &block) || block.kind != SIM_MANAGED) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%#llx is not managed memory", address);
    }
    return CUDA_SUCCESS;
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
    SIM_CALL(cuMemAdvise);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(check_managed(devPtr, count));
    if (advice < 1 || advice > 6) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a mem_advise", advice);
    }
    if (advice == 3 || advice == 5 || advice == 6) { /* the other kinds ignore the device */
        SIM_TRY(check_location(device));
    }
    return CUDA_SUCCESS;
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                            CUstream hStream) {
    SIM_CALL(cuMemPrefetchAsync);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    SIM_TRY(check_managed(devPtr, count));
    SIM_TRY(check_location(dstDevice));
    return sim_stream_submit(stream, &(SimWork){.kind = WORK_EMPTY}, NULL);
}
