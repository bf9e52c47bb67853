/* memset.c - fills device memory with units of 1, 2 or 4 bytes. */
#include "simulator/device/memory.h"
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/stream.h"
#include "simulator/driver/work.h"

/* pitch 0: one row. Never makes the host wait. */
static CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width,
                     size_t height, CUstream handle, bool asynchronous) {
    HELD SimStream *stream = NULL;
    size_t bytes;
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (!asynchronous) {
        SIM_TRY(sim_capture_forbid(context, "a fill on the default stream"));
    }
    SIM_TRY(sim_stream_take(context, handle, &stream));
    if (to % element != 0 || (height > 1 && pitch % element != 0)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "address %#llx or pitch %zu is not a multiple of the element's %u bytes",
                        to, pitch, element);
    }
    if (__builtin_mul_overflow(width, (size_t)element, &bytes)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%zu elements are beyond all memory", width);
    }
    if (width == 0 || height == 0) {
        return CUDA_SUCCESS;
    }
    SIM_TRY(sim_memory_check_box((uintptr_t)to, bytes, height, 1, pitch, 0, "dstDevice"));
    SimWork work = {.kind = WORK_SET,
                    .set = {.to = (uintptr_t)to,
                            .pitch = pitch,
                            .width = width,
                            .height = height,
                            .value = value,
                            .element = element}};
    return sim_stream_submit(stream, &work, NULL);
}

CUresult cuMemsetD8(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
    SIM_CALL(cuMemsetD8);
    return fill(dstDevice, 0, uc, 1, N, 1, NULL, false);
}

CUresult cuMemsetD16(CUdeviceptr dstDevice, unsigned short us, size_t N) {
    SIM_CALL(cuMemsetD16);
    return fill(dstDevice, 0, us, 2, N, 1, NULL, false);
}

CUresult cuMemsetD32(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
    SIM_CALL(cuMemsetD32);
    return fill(dstDevice, 0, ui, 4, N, 1, NULL, false);
}

CUresult cuMemsetD2D8(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                      size_t Height) {
    SIM_CALL(cuMemsetD2D8);
    return fill(dstDevice, dstPitch, uc, 1, Width, Height, NULL, false);
}

CUresult cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                       size_t Height) {
    SIM_CALL(cuMemsetD2D16);
    return fill(dstDevice, dstPitch, us, 2, Width, Height, NULL, false);
}

CUresult cuMemsetD2D32(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                       size_t Height) {
    SIM_CALL(cuMemsetD2D32);
    return fill(dstDevice, dstPitch, ui, 4, Width, Height, NULL, false);
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
    SIM_CALL(cuMemsetD8Async);
    return fill(dstDevice, 0, uc, 1, N, 1, hStream, true);
}

CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream) {
    SIM_CALL(cuMemsetD16Async);
    return fill(dstDevice, 0, us, 2, N, 1, hStream, true);
}

CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
    SIM_CALL(cuMemsetD32Async);
    return fill(dstDevice, 0, ui, 4, N, 1, hStream, true);
}

CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                           size_t Height, CUstream hStream) {
    SIM_CALL(cuMemsetD2D8Async);
    return fill(dstDevice, dstPitch, uc, 1, Width, Height, hStream, true);
}

CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                            size_t Height, CUstream hStream) {
    SIM_CALL(cuMemsetD2D16Async);
    return fill(dstDevice, dstPitch, us, 2, Width, Height, hStream, true);
}

CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                            size_t Height, CUstream hStream) {
    SIM_CALL(cuMemsetD2D32Async);
    return fill(dstDevice, dstPitch, ui, 4, Width, Height, hStream, true);
}
