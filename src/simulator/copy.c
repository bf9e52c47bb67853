/* copy.c - copies of plain bytes between host and device, and within either. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

#define STAGED 65536u /* asynchronous copies of ordinary host memory up to this size [bytes] are taken at the call */

/* One end of a copy: an address, and what is known of it. */
typedef struct {
    uintptr_t address;
    bool device;   /* must be in the table; else it may be ordinary memory of the program */
    bool ordinary; /* found to be */
    const char *name;
} End;

static CUresult check_end(End *end, size_t size) {
    SimBlock block;
    bool known = sim_memory_find(end->address, &block);
    if (end->device || (known && block.freed)) {
        return sim_memory_check(end->address, size, end->name);
    }
    if (known) { /* page-locked or unified memory */
        return sim_memory_check(end->address, size, end->name);
    }
    end->ordinary = true;
    if (end->address == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL", end->name);
    }
    if (sim_memory_near(end->address, &block) && block.freed && end->address - block.base < block.size &&
        !sim_memory_readable((void *)end->address, size)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%s: %#zx lies in the %zu-byte allocation at %#zx, which was freed", end->name,
                        (size_t)end->address, block.size, (size_t)block.base);
    }
    if (!sim_memory_readable((void *)end->address, size)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%s: there is no memory at %#zx, or less than %zu bytes", end->name, (size_t)end->address,
                        size);
    }
    return CUDA_SUCCESS;
}

static SimWork copy_work(uintptr_t to, uintptr_t from, size_t size) {
    return (SimWork){.kind = WORK_COPY, .copy = {.box = {.to = to, .from = from, .width = size, .height = 1, .depth = 1}}};
}

/* From device to device the caller goes on at once; if the host takes part, it returns when the bytes are there. */
static CUresult copy_now(End to, End from, size_t size) {
    HELD SimContext *context = NULL;
    HELD SimStream *stream = NULL;
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_capture_forbid(context, "a copy that waits"));
    if (size == 0) {
        return CUDA_SUCCESS;
    }
    SIM_TRY(check_end(&to, size));
    SIM_TRY(check_end(&from, size));
    SIM_TRY(sim_stream_take(context, NULL, &stream));
    SimWork work = copy_work(to.address, from.address, size);
    if (to.device && from.device) {
        return sim_stream_submit(stream, &work, NULL);
    }
    return sim_stream_do(stream, &work);
}

/* The order of the stream. Ordinary memory of the program is read, or has been written, when the call returns. */
static CUresult copy_later(End to, End from, size_t size, CUstream handle) {
    HELD SimContext *context = NULL;
    HELD SimStream *stream = NULL;
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_stream_take(context, handle, &stream));
    if (size == 0) {
        return CUDA_SUCCESS;
    }
    SIM_TRY(check_end(&to, size));
    SIM_TRY(check_end(&from, size));
    SimWork work = copy_work(to.address, from.address, size);
    if (stream->capture != NULL) {
        return sim_stream_submit(stream, &work, NULL);
    }
    if (to.ordinary || (from.ordinary && size > STAGED)) {
        return sim_stream_do(stream, &work);
    }
    if (from.ordinary) {
        work.copy.staging = malloc(size);
        if (work.copy.staging == NULL) {
            return sim_stream_do(stream, &work);
        }
        memcpy(work.copy.staging, (const void *)from.address, size);
        work.copy.box.from = (uintptr_t)work.copy.staging;
    }
    return sim_stream_submit(stream, &work, NULL);
}

static End device_end(CUdeviceptr address, const char *name) {
    return (End){.address = (uintptr_t)address, .device = true, .name = name};
}

static End any_end(CUdeviceptr address, const char *name) {
    return (End){.address = (uintptr_t)address, .name = name};
}

static End host_end(const void *address, const char *name) {
    return (End){.address = (uintptr_t)address, .name = name};
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
    SIM_CALL(cuMemcpy);
    return copy_now(any_end(dst, "dst"), any_end(src, "src"), ByteCount);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
    SIM_CALL(cuMemcpyAsync);
    return copy_later(any_end(dst, "dst"), any_end(src, "src"), ByteCount, hStream);
}

CUresult cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount) {
    SIM_CALL(cuMemcpyHtoD);
    return copy_now(device_end(dstDevice, "dstDevice"), host_end(srcHost, "srcHost"), ByteCount);
}

CUresult cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    SIM_CALL(cuMemcpyDtoH);
    return copy_now(host_end(dstHost, "dstHost"), device_end(srcDevice, "srcDevice"), ByteCount);
}

CUresult cuMemcpyDtoD(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
    SIM_CALL(cuMemcpyDtoD);
    return copy_now(device_end(dstDevice, "dstDevice"), device_end(srcDevice, "srcDevice"), ByteCount);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream) {
    SIM_CALL(cuMemcpyHtoDAsync);
    return copy_later(device_end(dstDevice, "dstDevice"), host_end(srcHost, "srcHost"), ByteCount, hStream);
}

CUresult cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
    SIM_CALL(cuMemcpyDtoHAsync);
    return copy_later(host_end(dstHost, "dstHost"), device_end(srcDevice, "srcDevice"), ByteCount, hStream);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
    SIM_CALL(cuMemcpyDtoDAsync);
    return copy_later(device_end(dstDevice, "dstDevice"), device_end(srcDevice, "srcDevice"), ByteCount, hStream);
}

static CUresult check_peers(CUcontext to, CUcontext from) {
    HELD SimContext *first = NULL;
    HELD SimContext *second = NULL;
    SIM_TRY(sim_context_take(to, &first));
    return sim_context_take(from, &second);
}

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount) {
    SIM_CALL(cuMemcpyPeer);
    SIM_TRY(check_peers(dstContext, srcContext));
    /* In step with the work of both, as the documentation has it. */
    for (int i = 0; i < 2; i++) {
        HELD SimContext *context = NULL;
        SIM_TRY(sim_context_take(i == 0 ? dstContext : srcContext, &context));
        sim_context_wait_default(context);
    }
    return copy_now(device_end(dstDevice, "dstDevice"), device_end(srcDevice, "srcDevice"), ByteCount);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
                           CUstream hStream) {
    SIM_CALL(cuMemcpyPeerAsync);
    SIM_TRY(check_peers(dstContext, srcContext));
    return copy_later(device_end(dstDevice, "dstDevice"), device_end(srcDevice, "srcDevice"), ByteCount, hStream);
}
