/* copy_box.c - copies of rectangles, boxes and arrays. */
#include "simulator/driver/array.h"
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/copy.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/work.h"

/* One side of a copy, as the fields of its structure describe it. */
typedef struct {
    SimEnd end;
    size_t pitch, slice;
    SimArray *array; /* counted reference, or NULL */
} Side;

typedef struct {
    size_t x, y, z, lod; /* [bytes], rows, slices, level */
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, height;
} Fields;

typedef struct {
    size_t width, height, depth;
} Shape;

static void drop_side(Side *side) {
    sim_object_drop(side->array);
}
#define SIDE __attribute__((cleanup(drop_side))) Side

static CUresult array_side(Side *side, const Fields *f, Shape shape) {
    SIM_TRY(sim_array_take(f->array, &side->array));
    const SimArray *a = side->array;
    if (f->x % a->element != 0 || shape.width % a->element != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%s: %zu bytes from byte %zu of a row are not whole texels of %zu bytes",
                        side->end.name, shape.width, f->x, a->element);
    }
    if (f->x > a->pitch || shape.width > a->pitch - f->x || f->y > a->height ||
        shape.height > a->height - f->y || f->z > a->depth || shape.depth > a->depth - f->z) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%s: %zu bytes x %zu x %zu from (%zu, %zu, %zu) are not inside the array "
                        "of %zu bytes x %zu x %zu",
                        side->end.name, shape.width, shape.height, shape.depth, f->x, f->y, f->z,
                        a->pitch, a->height, a->depth);
    }
    side->end.address = a->data + f->z * a->slice + f->y * a->pitch + f->x;
    side->end.device = true;
    side->pitch = a->pitch;
    side->slice = a->slice;
    return CUDA_SUCCESS;
}

static CUresult memory_side(Side *side, const Fields *f, Shape shape) {
    size_t rows, offset, size, slices;
    const char *name = side->end.name;
    uintptr_t base = f->type == CU_MEMORYTYPE_HOST ? (uintptr_t)f->host : (uintptr_t)f->device;
    bool tall = shape.height > 1 || f->y > 0, deep = shape.depth > 1 || f->z > 0;
    if ((tall || deep) && (f->pitch < shape.width || f->pitch - shape.width < f->x)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%s: the pitch of %zu bytes is less than %zu bytes from byte %zu on", name,
                        f->pitch, shape.width, f->x);
    }
    if (deep && (f->height < shape.height || f->height - shape.height < f->y)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%s: the height of %zu rows is less than %zu rows from row %zu on", name,
                        f->height, shape.height, f->y);
    }
    side->pitch = f->pitch;
    if (__builtin_mul_overflow(f->pitch, f->height, &side->slice) ||
        __builtin_mul_overflow(side->slice, f->z, &slices) ||
        __builtin_mul_overflow(f->pitch, f->y, &rows) ||
        __builtin_add_overflow(slices, rows, &offset) ||
        __builtin_add_overflow(offset, f->x, &offset) ||
        __builtin_add_overflow(base, offset, &side->end.address) ||
        __builtin_mul_overflow(side->slice, shape.depth - 1, &slices) ||
        __builtin_mul_overflow(f->pitch, shape.height - 1, &rows) ||
        __builtin_add_overflow(slices, rows, &size) ||
        __builtin_add_overflow(size, shape.width, &size)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%s: pitch, height and position exceed the address space", name);
    }
    if (base == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%s: the address is NULL", name);
    }
    side->end.device = f->type == CU_MEMORYTYPE_DEVICE;
    return sim_end_check(&side->end, size);
}

static CUresult find_side(Side *side, const Fields *f, Shape shape) {
    if (f->lod != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%s: level of detail %zu is not 0",
                        side->end.name, f->lod);
    }
    switch (f->type) {
    case CU_MEMORYTYPE_ARRAY:
        return array_side(side, f, shape);
    case CU_MEMORYTYPE_HOST:
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        return memory_side(side, f, shape);
    default:
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%s: %d is not a memory_type", side->end.name,
                        f->type);
    }
}

static CUresult copy_box(const Fields *to_fields, const Fields *from_fields, Shape shape,
                         CUstream handle, bool now) {
    SIDE to = {.end = {.name = "destination", .written = true}};
    SIDE from = {.end = {.name = "source"}};
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (now) {
        SIM_TRY(sim_capture_forbid(context, "a copy that waits"));
    }
    if (shape.width == 0 || shape.height == 0 || shape.depth == 0) {
        return CUDA_SUCCESS;
    }
    SIM_TRY(find_side(&to, to_fields, shape));
    SIM_TRY(find_side(&from, from_fields, shape));
    SimWork work = {.kind = WORK_COPY};
    work.copy.box = (SimBox){.to = to.end.address,
                             .from = from.end.address,
                             .width = shape.width,
                             .height = shape.height,
                             .depth = shape.depth,
                             .to_pitch = to.pitch,
                             .to_slice = to.slice,
                             .from_pitch = from.pitch,
                             .from_slice = from.slice};
    work.copy.objects[0] = to.array != NULL ? sim_object_keep(to.array) : NULL;
    work.copy.objects[1] = from.array != NULL ? sim_object_keep(from.array) : NULL;
    return sim_copy_submit(context, handle, &work, &to.end, &from.end, now);
}

#define TO_2D(c)                                                                                \
    {                                                                                           \
        c->dstXInBytes, c->dstY, 0, 0, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, \
            c->dstPitch, 0                                                                      \
    }
#define FROM_2D(c)                                                                              \
    {                                                                                           \
        c->srcXInBytes, c->srcY, 0, 0, c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, \
            c->srcPitch, 0                                                                      \
    }
#define TO_3D(c)                                                                                 \
    {                                                                                            \
        c->dstXInBytes, c->dstY, c->dstZ, c->dstLOD, c->dstMemoryType, c->dstHost, c->dstDevice, \
            c->dstArray, c->dstPitch, c->dstHeight                                               \
    }
#define FROM_3D(c)                                                                               \
    {                                                                                            \
        c->srcXInBytes, c->srcY, c->srcZ, c->srcLOD, c->srcMemoryType, c->srcHost, c->srcDevice, \
            c->srcArray, c->srcPitch, c->srcHeight                                               \
    }

static CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream stream, bool now) {
    SIM_NOT_NULL(c);
    Fields to = TO_2D(c), from = FROM_2D(c);
    return copy_box(&to, &from, (Shape){c->WidthInBytes, c->Height, 1}, stream, now);
}

static CUresult copy_3d(const CUDA_MEMCPY3D *c, CUstream stream, bool now) {
    SIM_NOT_NULL(c);
    Fields to = TO_3D(c), from = FROM_3D(c);
    return copy_box(&to, &from, (Shape){c->WidthInBytes, c->Height, c->Depth}, stream, now);
}

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, CUstream stream, bool now) {
    SIM_NOT_NULL(c);
    SIM_TAKE(SimContext, to_context, sim_context_take(c->dstContext, &to_context));
    SIM_TAKE(SimContext, from_context, sim_context_take(c->srcContext, &from_context));
    if (now) { /* ordered after the work of both contexts */
        sim_context_wait_default(to_context);
        sim_context_wait_default(from_context);
    }
    Fields to = TO_3D(c), from = FROM_3D(c);
    return copy_box(&to, &from, (Shape){c->WidthInBytes, c->Height, c->Depth}, stream, now);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *pCopy) {
    SIM_CALL(cuMemcpy2D);
    return copy_2d(pCopy, NULL, true);
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *pCopy) {
    SIM_CALL(cuMemcpy2DUnaligned);
    return copy_2d(pCopy, NULL, true);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    SIM_CALL(cuMemcpy2DAsync);
    return copy_2d(pCopy, hStream, false);
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D *pCopy) {
    SIM_CALL(cuMemcpy3D);
    return copy_3d(pCopy, NULL, true);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *pCopy, CUstream hStream) {
    SIM_CALL(cuMemcpy3DAsync);
    return copy_3d(pCopy, hStream, false);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy) {
    SIM_CALL(cuMemcpy3DPeer);
    return copy_3d_peer(pCopy, NULL, true);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream) {
    SIM_CALL(cuMemcpy3DPeerAsync);
    return copy_3d_peer(pCopy, hStream, false);
}

/* ---- bytes of arrays, in the order of their texels ------------------------------------------- */

typedef struct {
    CUarray array; /* NULL: memory */
    size_t offset;
    SimEnd end;
} Part;

static CUresult find_part(Part *part, Side *side, size_t size) {
    side->end = part->end;
    if (part->end.name != NULL) {
        return size == 0 ? CUDA_SUCCESS : sim_end_check(&side->end, size);
    }
    side->end.name = "array";
    SIM_TRY(sim_array_take(part->array, &side->array));
    const SimArray *a = side->array;
    size_t whole = a->slice * a->depth;
    if (part->offset > whole || size > whole - part->offset) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%zu bytes from byte %zu reach past the end of the array's %zu bytes", size,
                        part->offset, whole);
    }
    side->end.address = a->data + part->offset;
    side->end.device = true;
    return CUDA_SUCCESS;
}

static CUresult copy_parts(Part to_part, Part from_part, size_t size, CUstream handle, bool now) {
    SIDE to = {.array = NULL};
    SIDE from = {.array = NULL};
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (now) {
        SIM_TRY(sim_capture_forbid(context, "a copy that waits"));
    }
    to_part.end.written = true;
    SIM_TRY(find_part(&to_part, &to, size));
    SIM_TRY(find_part(&from_part, &from, size));
    if (size == 0) {
        return CUDA_SUCCESS;
    }
    SimWork work = {.kind = WORK_COPY};
    work.copy.box = (SimBox){
        .to = to.end.address, .from = from.end.address, .width = size, .height = 1, .depth = 1};
    work.copy.objects[0] = to.array != NULL ? sim_object_keep(to.array) : NULL;
    work.copy.objects[1] = from.array != NULL ? sim_object_keep(from.array) : NULL;
    return sim_copy_submit(context, handle, &work, &to.end, &from.end, now);
}

static Part array_part(CUarray array, size_t offset) {
    return (Part){.array = array, .offset = offset};
}

static Part device_part(CUdeviceptr address, const char *name) {
    return (Part){.end = {.address = (uintptr_t)address, .device = true, .name = name}};
}

static Part host_part(const void *address, const char *name) {
    return (Part){.end = {.address = (uintptr_t)address, .name = name}};
}

CUresult cuMemcpyDtoA(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount) {
    SIM_CALL(cuMemcpyDtoA);
    return copy_parts(array_part(dstArray, dstOffset), device_part(srcDevice, "srcDevice"),
                      ByteCount, NULL, true);
}

CUresult cuMemcpyAtoD(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
    SIM_CALL(cuMemcpyAtoD);
    return copy_parts(device_part(dstDevice, "dstDevice"), array_part(srcArray, srcOffset),
                      ByteCount, NULL, true);
}

CUresult cuMemcpyHtoA(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount) {
    SIM_CALL(cuMemcpyHtoA);
    return copy_parts(array_part(dstArray, dstOffset), host_part(srcHost, "srcHost"), ByteCount,
                      NULL, true);
}

CUresult cuMemcpyAtoH(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
    SIM_CALL(cuMemcpyAtoH);
    return copy_parts(host_part(dstHost, "dstHost"), array_part(srcArray, srcOffset), ByteCount,
                      NULL, true);
}

CUresult cuMemcpyAtoA(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                      size_t ByteCount) {
    SIM_CALL(cuMemcpyAtoA);
    return copy_parts(array_part(dstArray, dstOffset), array_part(srcArray, srcOffset), ByteCount,
                      NULL, true);
}

CUresult cuMemcpyHtoAAsync(CUarray dstArray, size_t dstOffset, const void *srcHost,
                           size_t ByteCount, CUstream hStream) {
    SIM_CALL(cuMemcpyHtoAAsync);
    return copy_parts(array_part(dstArray, dstOffset), host_part(srcHost, "srcHost"), ByteCount,
                      hStream, false);
}

CUresult cuMemcpyAtoHAsync(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                           CUstream hStream) {
    SIM_CALL(cuMemcpyAtoHAsync);
    return copy_parts(host_part(dstHost, "dstHost"), array_part(srcArray, srcOffset), ByteCount,
                      hStream, false);
}
