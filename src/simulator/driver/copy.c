/* copy.c - copies of bytes between host and device, or within one of them. */
#include "simulator/device/memory.h"
#include "simulator/device/pages.h"
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/copy.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/stream.h"
#include "simulator/driver/work.h"

#include <stdlib.h>
#include <string.h>

/* Asynchronous copies from pageable memory up to this size [bytes] copy the source during the
 * call. */
#define STAGED 65536u

typedef SimEnd End;

CUresult sim_end_check(SimEnd *end, size_t size) {
    SimBlock block;
    bool known = sim_memory_find(end->address, &block);
    if (known || end->device ||
        sim_pages_own((void *)end->address)) { /* page-locked and unified memory is checked as
                                                * closely as device memory */
        return sim_memory_check(end->address, size, end->name);
    }
    end->ordinary = true;
    if (end->address == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL", end->name);
    }
    if (sim_memory_reachable((void *)end->address, size, end->written)) {
        return CUDA_SUCCESS;
    }
    if (sim_memory_near(end->address, &block) && block.freed) {
        return sim_memory_check(end->address, size, end->name); /* its message says that it was
                                                                 * freed */
    }
    return sim_fail(CUDA_ERROR_INVALID_VALUE,
                    "%s: the program has no %zu bytes at %#zx that can be %s", end->name, size,
                    (size_t)end->address, end->written ? "written" : "read");
}

/* Copies the bytes of a pageable source now, so that the caller may change them. Returns false if
 * out of memory. */
static bool stage(SimWork *work, size_t size) {
    SimBox *box = &work->copy.box, gather = *box;
    void *staging = malloc(size);
    if (staging == NULL) {
        return false;
    }
    gather.to = (uintptr_t)staging;
    gather.to_pitch = box->width;
    gather.to_slice = box->width * box->height;
    sim_box_copy(&gather);
    box->from = gather.to;
    box->from_pitch = gather.to_pitch;
    box->from_slice = gather.to_slice;
    work->copy.staging = staging;
    return true;
}

CUresult sim_copy_submit(SimContext *context, CUstream handle, SimWork *work, const SimEnd *to,
                         const SimEnd *from, bool now) {
    HELD SimStream *stream = NULL;
    CUresult status = sim_stream_take(context, now ? NULL : handle, &stream);
    if (status != CUDA_SUCCESS) {
        sim_work_clear(work);
        return status;
    }
    const SimBox *box = &work->copy.box;
    size_t size = box->width * box->height * box->depth;
    bool wait = now ? !(to->device && from->device)
                    : to->ordinary || (from->ordinary && size > STAGED);
    if (!now && stream->capture != NULL) {
        wait = false;
    } else if (!now && from->ordinary && !wait && !stage(work, size)) {
        wait = true;
    }
    return wait ? sim_stream_do(stream, work) : sim_stream_submit(stream, work, NULL);
}

/* Copies from device to device return at once; copies with the host return when the bytes are
 * there. Pageable memory has been read or written when any call returns, even an asynchronous
 * one. */
static CUresult copy(End to, End from, size_t size, CUstream handle, bool now) {
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (now) {
        SIM_TRY(sim_capture_forbid(context, "a copy that waits"));
    }
    if (size == 0) {
        return CUDA_SUCCESS;
    }
    to.written = true;
    SIM_TRY(sim_end_check(&to, size));
    SIM_TRY(sim_end_check(&from, size));
    SimWork work = {
        .kind = WORK_COPY,
        .copy = {
            .box = {
                .to = to.address, .from = from.address, .width = size, .height = 1, .depth = 1}}};
    return sim_copy_submit(context, handle, &work, &to, &from, now);
}

static CUresult copy_now(End to, End from, size_t size) {
    return copy(to, from, size, NULL, true);
}

static CUresult copy_later(End to, End from, size_t size, CUstream handle) {
    return copy(to, from, size, handle, false);
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
    return copy_now(device_end(dstDevice, "dstDevice"), device_end(srcDevice, "srcDevice"),
                    ByteCount);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                           CUstream hStream) {
    SIM_CALL(cuMemcpyHtoDAsync);
    return copy_later(device_end(dstDevice, "dstDevice"), host_end(srcHost, "srcHost"), ByteCount,
                      hStream);
}

CUresult cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                           CUstream hStream) {
    SIM_CALL(cuMemcpyDtoHAsync);
    return copy_later(host_end(dstHost, "dstHost"), device_end(srcDevice, "srcDevice"), ByteCount,
                      hStream);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                           CUstream hStream) {
    SIM_CALL(cuMemcpyDtoDAsync);
    return copy_later(device_end(dstDevice, "dstDevice"), device_end(srcDevice, "srcDevice"),
                      ByteCount, hStream);
}

static CUresult check_peers(CUcontext to, CUcontext from) {
    HELD SimContext *second = NULL;
    SIM_TAKE(SimContext, first, sim_context_take(to, &first));
    return sim_context_take(from, &second);
}

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                      CUcontext srcContext, size_t ByteCount) {
    SIM_CALL(cuMemcpyPeer);
    SIM_TRY(check_peers(dstContext, srcContext));
    /* Ordered after the work of both contexts, as documented. */
    for (int i = 0; i < 2; i++) {
        HELD SimContext *context = NULL;
        SIM_TRY(sim_context_take(i == 0 ? dstContext : srcContext, &context));
        sim_context_wait_default(context);
    }
    return copy_now(device_end(dstDevice, "dstDevice"), device_end(srcDevice, "srcDevice"),
                    ByteCount);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                           CUcontext srcContext, size_t ByteCount, CUstream hStream) {
    SIM_CALL(cuMemcpyPeerAsync);
    SIM_TRY(check_peers(dstContext, srcContext));
    return copy_later(device_end(dstDevice, "dstDevice"), device_end(srcDevice, "srcDevice"),
                      ByteCount, hStream);
}
