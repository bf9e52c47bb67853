/* array.c - arrays: memory for textures, accessed through handles. Here their texels are stored in
 * rows without gaps. */
#include "simulator/driver/array.h"
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/work.h"

#include <stdlib.h>

enum { LAYERED = 1, SURFACE_LDST = 2, CUBEMAP = 4, TEXTURE_GATHER = 8 };

size_t sim_texel_size(CUarray_format format, unsigned channels) {
    size_t size;
    switch (format) {
    case 1:
    case 8:
        size = 1;
        break; /* 8 bits, unsigned and signed */
    case 2:
    case 9:
    case 16:
        size = 2;
        break; /* 16 bits, half */
    case 3:
    case 10:
    case 32:
        size = 4;
        break;
    default:
        return 0;
    }
    return channels == 1 || channels == 2 || channels == 4 ? size * channels : 0;
}

static void array_free(void *op) {
    SimArray *self = op;
    (void)sim_memory_free(self->data, SIM_ARRAY);
    free(self);
}

static CUresult check_shape(const CUDA_ARRAY3D_DESCRIPTOR *d) {
    bool layered = (d->Flags & LAYERED) != 0, cubemap = (d->Flags & CUBEMAP) != 0;
    size_t most_x, most_y, most_z;
    if (layered || cubemap) {
        most_x = most_y = 32768;
        most_z = cubemap ? 2046 : 2048;
    } else if (d->Depth != 0) {
        most_x = most_y = most_z = 16384;
    } else {
        most_x = 131072;
        most_y = 65536;
        most_z = 0;
    }
    if (d->Width == 0 || d->Width > most_x || d->Height > most_y || d->Depth > most_z) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "an array of %zu x %zu x %zu texels; at most %zu x %zu x %zu", d->Width,
                        d->Height, d->Depth, most_x, most_y, most_z);
    }
    if (!layered && !cubemap && d->Depth != 0 && d->Height == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "an array with Depth %zu and Height 0", d->Depth);
    }
    if (cubemap && (d->Width != d->Height || d->Depth % 6 != 0 || d->Depth == 0 ||
                    (!layered && d->Depth != 6))) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "a cube map of %zu x %zu x %zu texels", d->Width,
                        d->Height, d->Depth);
    }
    if (layered && d->Depth == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "a layered array without layers (Depth)");
    }
    if ((d->Flags & ~(unsigned)(LAYERED | SURFACE_LDST | CUBEMAP | TEXTURE_GATHER)) != 0) {
        return sim_fail(
            (d->Flags & ~0x1ffu) != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED,
            "flags %#x: the simulator has LAYERED, SURFACE_LDST, CUBEMAP and TEXTURE_GATHER",
            d->Flags);
    }
    return CUDA_SUCCESS;
}

static CUresult array_new(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray *out) {
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(sim_capture_forbid(context, "making an array"));
    size_t element = sim_texel_size(descriptor->Format, descriptor->NumChannels);
    if (element == 0) {
        bool plain = sim_texel_size(descriptor->Format, 1) != 0;
        return sim_fail(plain || descriptor->Format < 64 ? CUDA_ERROR_INVALID_VALUE
                                                         : CUDA_ERROR_NOT_SUPPORTED,
                        "format %#x with %u channels; the simulator has integers of 8 to 32 bits, "
                        "half and float with 1, 2 or 4",
                        (unsigned)descriptor->Format, descriptor->NumChannels);
    }
    SIM_TRY(check_shape(descriptor));
    SimArray *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    self->descriptor = *descriptor;
    self->element = element;
    self->height = descriptor->Height != 0 ? descriptor->Height : 1;
    self->depth = descriptor->Depth != 0 ? descriptor->Depth : 1;
    self->pitch = descriptor->Width * element;
    self->slice = self->pitch * self->height; /* at most 2^47 */
    CUresult status = sim_memory_alloc((SimOwner){NULL, context->device}, self->slice * self->depth,
                                       SIM_ARRAY, 0, &self->data);
    if (status != CUDA_SUCCESS) {
        free(self);
        return status;
    }
    status = sim_object_open(self, SIM_ARRAY_OBJECT, context, array_free);
    if (status != CUDA_SUCCESS) {
        array_free(self);
        return status;
    }
    *out = (CUarray)self->object.handle;
    sim_object_drop(self);
    return CUDA_SUCCESS;
}

CUresult sim_array_take(CUarray handle, SimArray **out) {
    *out = sim_object_take((uintptr_t)handle, SIM_ARRAY_OBJECT);
    return *out != NULL ? CUDA_SUCCESS
                        : sim_fail(CUDA_ERROR_INVALID_HANDLE,
                                   "%p is not an array, or was destroyed", (void *)handle);
}

CUresult cuArrayCreate(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray) {
    SIM_CALL(cuArrayCreate);
    SIM_NOT_NULL(pHandle);
    SIM_NOT_NULL(pAllocateArray);
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {.Width = pAllocateArray->Width,
                                          .Height = pAllocateArray->Height,
                                          .Format = pAllocateArray->Format,
                                          .NumChannels = pAllocateArray->NumChannels};
    return array_new(&descriptor, pHandle);
}

CUresult cuArray3DCreate(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray) {
    SIM_CALL(cuArray3DCreate);
    SIM_NOT_NULL(pHandle);
    SIM_NOT_NULL(pAllocateArray);
    return array_new(pAllocateArray, pHandle);
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    SIM_CALL(cuArrayGetDescriptor);
    SIM_NOT_NULL(pArrayDescriptor);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimArray, array, sim_array_take(hArray, &array));
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->descriptor;
    *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR){
        .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
    return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    SIM_CALL(cuArray3DGetDescriptor);
    SIM_NOT_NULL(pArrayDescriptor);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimArray, array, sim_array_take(hArray, &array));
    *pArrayDescriptor = array->descriptor;
    return CUDA_SUCCESS;
}

/* Waits for the work of its context, as cuMemFree does. Texture and surface objects keep the
 * texels alive. */
CUresult cuArrayDestroy(CUarray hArray) {
    SIM_CALL(cuArrayDestroy);
    SIM_TAKE(SimContext, context, sim_context_current_any(&context));
    SIM_TRY(sim_capture_forbid(context, "cuArrayDestroy"));
    SIM_TAKE(SimArray, array, sim_array_take(hArray, &array));
    CUresult status = sim_context_wait(array->object.context);
    return sim_object_close(array)
               ? status
               : sim_fail(CUDA_ERROR_INVALID_HANDLE, "the array was destroyed already");
}
