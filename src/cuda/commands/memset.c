/* memset.c - fills device memory, contiguous or in rows, with a repeated value of 1, 2 or 4
 * bytes. */
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/memory.h"
#include "cuda/objects/pointer.h"
#include "cuda/stream.h"

typedef struct {
    const char *name;
    unsigned width; /* bytes per value */
    int rows, async;
} Fill;

static CUresult fill_whole(const Fill *fill, CUdeviceptr to, uint32_t value, size_t n,
                           CUstream stream) {
    CUresult status = CUDA_SUCCESS;
    if (fill->width == 1) {
        CU_QUEUED(status, cuMemsetD8Async, to, (unsigned char)value, n, stream);
    } else if (fill->width == 2) {
        CU_QUEUED(status, cuMemsetD16Async, to, (unsigned short)value, n, stream);
    } else {
        CU_QUEUED(status, cuMemsetD32Async, to, value, n, stream);
    }
    return status;
}

static CUresult fill_whole_now(const Fill *fill, CUdeviceptr to, uint32_t value, size_t n) {
    CUresult status = CUDA_SUCCESS;
    if (fill->width == 1) {
        CU_CALL(status, cuMemsetD8, to, (unsigned char)value, n);
    } else if (fill->width == 2) {
        CU_CALL(status, cuMemsetD16, to, (unsigned short)value, n);
    } else {
        CU_CALL(status, cuMemsetD32, to, value, n);
    }
    return status;
}

static CUresult fill_rows(const Fill *fill, CUdeviceptr to, size_t pitch, uint32_t value,
                          size_t width, size_t height, CUstream stream) {
    CUresult status = CUDA_SUCCESS;
    if (fill->width == 1) {
        CU_QUEUED(status, cuMemsetD2D8Async, to, pitch, (unsigned char)value, width, height,
                  stream);
    } else if (fill->width == 2) {
        CU_QUEUED(status, cuMemsetD2D16Async, to, pitch, (unsigned short)value, width, height,
                  stream);
    } else {
        CU_QUEUED(status, cuMemsetD2D32Async, to, pitch, value, width, height, stream);
    }
    return status;
}

static CUresult fill_rows_now(const Fill *fill, CUdeviceptr to, size_t pitch, uint32_t value,
                              size_t width, size_t height) {
    CUresult status = CUDA_SUCCESS;
    if (fill->width == 1) {
        CU_CALL(status, cuMemsetD2D8, to, pitch, (unsigned char)value, width, height);
    } else if (fill->width == 2) {
        CU_CALL(status, cuMemsetD2D16, to, pitch, (unsigned short)value, width, height);
    } else {
        CU_CALL(status, cuMemsetD2D32, to, pitch, value, width, height);
    }
    return status;
}

/* Parses a value of the fill's width; negative ones become their two's complement. */
static int as_value(PyObject *obj, const Fill *fill, uint32_t *out) {
    int64_t value, limit = (int64_t)1 << (8 * fill->width);
    if (pg_as_i64(obj, fill->name, "data", &value) < 0) {
        return -1;
    }
    if (value >= limit || value < -limit / 2) {
        PyErr_Format(PyExc_OverflowError, "%s: data = %lld does not fit into %u bits", fill->name,
                     (long long)value, 8 * fill->width);
        return -1;
    }
    *out = (uint32_t)(value & (limit - 1));
    return 0;
}

/* The extent of a fill. */
typedef struct {
    size_t width, height, pitch; /* in items, rows and bytes; a contiguous fill has only width */
    size_t bytes;                /* from the start of the first item to the end of the last */
} Extent;

/* values: size, or width, height and pitch. Returns 0, or -1 with an exception. */
static inline int read_extent(const Fill *fill, PyObject *const values[3], Extent *to) {
    to->height = to->pitch = 0;
    if (!fill->rows) {
        return pg_as_size(values[0], fill->name, "size", &to->width);
    }
    return pg_as_size(values[0], fill->name, "width", &to->width) < 0 ||
                   pg_as_size(values[1], fill->name, "height", &to->height) < 0 ||
                   pg_as_size(values[2], fill->name, "pitch", &to->pitch) < 0
               ? -1
               : 0;
}

static inline int count_bytes(State *state, const Fill *fill, Extent *extent) {
    size_t last;
    int over = pg_mul(extent->width, fill->width, &extent->bytes) < 0;
    if (!over && fill->rows) {
        if (extent->height > 1 && extent->pitch < extent->bytes) {
            cud_reject(state, fill->name, CUDA_ERROR_INVALID_VALUE,
                       "pitch = %zu is less than the %zu bytes of a row", extent->pitch,
                       extent->bytes);
            return -1;
        }
        over = extent->height > 0 && (pg_mul(extent->height - 1, extent->pitch, &last) < 0 ||
                                      pg_add(last, extent->bytes, &last) < 0);
        extent->bytes = extent->height > 0 && extent->bytes > 0 ? last : 0;
    }
    if (over) {
        cud_reject(state, fill->name, CUDA_ERROR_INVALID_VALUE,
                   "the size in bytes is too large for any memory");
        return -1;
    }
    return 0;
}

static inline int check_alignment(State *state, const Fill *fill, CUdeviceptr to,
                                  const Extent *extent) {
    if (to % fill->width != 0 ||
        (fill->rows && extent->height > 1 && extent->pitch % fill->width != 0)) {
        cud_reject(state, fill->name, CUDA_ERROR_INVALID_VALUE,
                   "dest = %p%s must be a multiple of %u bytes", (void *)(uintptr_t)to,
                   fill->rows ? " and pitch" : "", fill->width);
        return -1;
    }
    return 0;
}

/* Makes the driver's call; the memory is pinned. Returns 0, or -1 with an exception. */
static inline int fill_pinned(State *state, const Fill *fill, CUdeviceptr to, uint32_t value,
                              const Extent *n, CUstream stream) {
    CUresult status;
    if (fill->async) {
        status = fill->rows ? fill_rows(fill, to, n->pitch, value, n->width, n->height, stream)
                            : fill_whole(fill, to, value, n->width, stream);
    } else {
        CU_COUNT_QUEUED();
        Py_BEGIN_ALLOW_THREADS
        status = fill->rows ? fill_rows_now(fill, to, n->pitch, value, n->width, n->height)
                            : fill_whole_now(fill, to, value, n->width);
        Py_END_ALLOW_THREADS
    }
    if (status != CUDA_SUCCESS) {
        char routine[40];
        snprintf(routine, sizeof routine, "cuMemsetD%s%u%s", fill->rows ? "2D" : "",
                 8 * fill->width, fill->async ? "Async" : "");
        cud_raise(state, routine, status);
        return -1;
    }
    return 0;
}

/* sizes: see read_extent(). */
static PyObject *run(State *state, const Fill *fill, PyObject *dest, PyObject *data,
                     PyObject *const sizes[3], PyObject *stream_arg) {
    Extent extent;
    uint32_t value;
    CUstream handle = NULL;
    Stream *stream = NULL;
    DevicePointer to = {0, 0, NULL};
    PyObject *result = NULL;
    if (read_extent(fill, sizes, &extent) < 0 || as_value(data, fill, &value) < 0) {
        return NULL;
    }
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    if (count_bytes(state, fill, &extent) < 0 ||
        cud_device_range(state, dest, fill->name, "dest", extent.bytes, &to) < 0 ||
        (fill->async && cud_as_stream(state, stream_arg, fill->name, &handle, &stream) < 0) ||
        check_alignment(state, fill, to.ptr, &extent) < 0) {
        goto done;
    }
    if (extent.bytes == 0) {
        result = Py_NewRef(Py_None);
        goto done;
    }
    if (to.allocation != NULL && (cud_allocation_use(to.allocation, handle, stream) < 0 ||
                                  cud_allocation_alive(to.allocation, fill->name) < 0)) {
        goto done;
    }
    cud_pin(to.allocation);
    int failed = fill_pinned(state, fill, to.ptr, value, &extent, handle);
    cud_unpin(to.allocation);
    if (failed == 0) {
        if (PG_UNLIKELY(cud_capturing > 0) && to.allocation != NULL) {
            cud_capture_keep(state, handle, stream, (PyObject *)to.allocation);
        }
        result = Py_NewRef(Py_None);
    }
done:
    cud_device_release(&to);
    Py_DECREF((PyObject *)context);
    return result;
}

#define TEXT(width, what)                                                                        \
    "Fill " what " with the " width "-bit integer *data*.\n\nRaises ValueError past the end of " \
    "the allocation, OverflowError if data has more bits."
#define WHOLE(bits, bytes)                                                               \
    PG_DOC(memset_d##bits##__doc__, "memset_d" #bits, "dest, data, size",                \
           "(dest: object, data: int, size: int) -> None",                               \
           TEXT(#bits, "*size* elements at *dest*"));                                    \
    PG_FUNCTION(memset_d##bits, 3)                                                       \
    static PyObject *memset_d##bits##_impl(PyObject *module, PyObject *const *a) {       \
        static const Fill fill = {"memset_d" #bits, bytes, 0, 0};                        \
        return run(PyModule_GetState(module), &fill, a[0], a[1],                         \
                   (PyObject *const[3]){a[2], NULL, NULL}, NULL);                        \
    }                                                                                    \
    PG_DOC(memset_d##bits##_async__doc__, "memset_d" #bits "_async",                     \
           "dest, data, size, stream=None",                                              \
           "(dest: object, data: int, size: int, stream: object = None) -> None",        \
           TEXT(#bits, "*size* elements at *dest*, in the order of a stream,"));         \
    PG_FUNCTION(memset_d##bits##_async, 4)                                               \
    static PyObject *memset_d##bits##_async_impl(PyObject *module, PyObject *const *a) { \
        static const Fill fill = {"memset_d" #bits "_async", bytes, 0, 1};               \
        return run(PyModule_GetState(module), &fill, a[0], a[1],                         \
                   (PyObject *const[3]){a[2], NULL, NULL}, a[3]);                        \
    }
#define ROWS(bits, bytes)                                                                         \
    PG_DOC(memset_d2d##bits##__doc__, "memset_d2d" #bits, "dest, pitch, data, width, height",     \
           "(dest: object, pitch: int, data: int, width: int, height: int) -> None",              \
           TEXT(#bits, "*height* rows of *width* elements, which begin every *pitch* bytes from " \
                       "*dest* on,"));                                                            \
    PG_FUNCTION(memset_d2d##bits, 5)                                                              \
    static PyObject *memset_d2d##bits##_impl(PyObject *module, PyObject *const *a) {              \
        static const Fill fill = {"memset_d2d" #bits, bytes, 1, 0};                               \
        return run(PyModule_GetState(module), &fill, a[0], a[2],                                  \
                   (PyObject *const[3]){a[3], a[4], a[1]}, NULL);                                 \
    }                                                                                             \
    PG_DOC(memset_d2d##bits##_async__doc__, "memset_d2d" #bits "_async",                          \
           "dest, pitch, data, width, height, stream=None",                                       \
           "(dest: object, pitch: int, data: int, width: int, height: int, stream: object = "     \
           "None) -> None",                                                                       \
           TEXT(#bits, "*height* rows of *width* elements, which begin every *pitch* bytes from " \
                       "*dest* on, in the order of a stream,"));                                  \
    PG_FUNCTION(memset_d2d##bits##_async, 6)                                                      \
    static PyObject *memset_d2d##bits##_async_impl(PyObject *module, PyObject *const *a) {        \
        static const Fill fill = {"memset_d2d" #bits "_async", bytes, 1, 1};                      \
        return run(PyModule_GetState(module), &fill, a[0], a[2],                                  \
                   (PyObject *const[3]){a[3], a[4], a[1]}, a[5]);                                 \
    }

WHOLE(8, 1)
WHOLE(16, 2)
WHOLE(32, 4)
ROWS(8, 1)
ROWS(16, 2)
ROWS(32, 4)

#define ROW(name) \
    { #name, FAST(name), name##__doc__ }
PyMethodDef cud_memset_functions[] = {
    ROW(memset_d8),        ROW(memset_d16),        ROW(memset_d32),         ROW(memset_d8_async),
    ROW(memset_d16_async), ROW(memset_d32_async),  ROW(memset_d2d8),        ROW(memset_d2d16),
    ROW(memset_d2d32),     ROW(memset_d2d8_async), ROW(memset_d2d16_async), ROW(memset_d2d32_async),
    {NULL, NULL, 0, NULL},
};
