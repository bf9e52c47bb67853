/* range.c - finds the range of driver memory that contains an address, to check memory described
 * by other libraries. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/objects/pointer.h"

enum { OF_HOST = 1, ABOUT_TYPE = 2, ABOUT_DEVICE = 9, ABOUT_START = 11, ABOUT_SIZE = 12 };

typedef struct {
    CUdeviceptr start;
    size_t size;
    CUresult status; /* returned by range_at() */
} Range;

static int query_attribute(CUdeviceptr ptr, int attribute, void *out) {
    CUresult status = CUDA_SUCCESS;
    CU_BESIDE(status, cuPointerGetAttribute, out, (CUpointer_attribute)attribute, ptr);
    return status == CUDA_SUCCESS;
}

static size_t test_piece; /* for tests: size in bytes of the pieces that ranges are treated as; 0
                           * means the driver's */

static int range_at(CUdeviceptr ptr, Range *out) {
    out->status = CUDA_SUCCESS;
    CU_BESIDE(out->status, cuMemGetAddressRange, &out->start, &out->size, ptr);
    if (out->status != CUDA_SUCCESS || ptr < out->start || ptr - out->start >= out->size) {
        return 0;
    }
    if (PG_UNLIKELY(test_piece != 0)) {
        size_t before = (size_t)(ptr - out->start) / test_piece * test_piece;
        out->start += before;
        out->size = out->size - before < test_piece ? out->size - before : test_piece;
    }
    return 1;
}

/* The addresses reserved together. */
static int reserved_at(CUdeviceptr ptr, Range *out) {
    return query_attribute(ptr, ABOUT_START, &out->start) &&
           query_attribute(ptr, ABOUT_SIZE, &out->size) && ptr >= out->start &&
           ptr - out->start < out->size;
}

/* Extends the range: memory mapped piece by piece into one reservation (cuMemMap, torch's
 * expandable segments) is one range as far as it is mapped, although cuMemGetAddressRange reports
 * a single piece. Adjacent allocations remain separate. Checks only as far as n bytes from ptr. */
static void extend(Range *range, CUdeviceptr ptr, size_t n) {
    Range all, next;
    size_t before = (size_t)(ptr - range->start);
    size_t wanted = n < SIZE_MAX - before ? before + n : SIZE_MAX;
    if (wanted <= range->size || !reserved_at(range->start, &all)) {
        return;
    }
    size_t most = all.size - (size_t)(range->start - all.start);
    wanted = wanted < most ? wanted : most;
    while (wanted > range->size && range_at(range->start + range->size, &next) &&
           next.start == range->start + range->size) {
        range->size += next.size;
    }
}

size_t cud_bytes_at(CUdeviceptr ptr, size_t n) {
    Range range;
    if (!range_at(ptr, &range)) {
        return SIZE_MAX;
    }
    extend(&range, ptr, n);
    return range.size - (size_t)(ptr - range.start);
}

/* For mapped host memory the driver knows no allocation: its first and last byte must be mapped. */
static int host_range(CUdeviceptr ptr, size_t n, Range *out) {
    unsigned first = 0, last = 0;
    if (!query_attribute(ptr, ABOUT_TYPE, &first) ||
        !query_attribute(ptr + (n - 1), ABOUT_TYPE, &last) || first != last) {
        return 0;
    }
    if (!reserved_at(ptr, out)) {
        *out = (Range){ptr, n, CUDA_SUCCESS};
    }
    return 1;
}

PG_DOC(memory_range__doc__, "_memory_range", "address, nbytes",
       "(address: int, nbytes: int) -> tuple[int, int, int | None] | None",
       "Start and size [bytes] of the memory at an address, and the number of its device.\n\n"
       "nbytes: how many are of interest. The device is None if it is the current context's, and "
       "for memory of the host; the result is None for what the driver does not know.");
PG_FUNCTION(memory_range, 2)
static PyObject *memory_range_impl(PyObject *module, PyObject *const *a) {
    const char *call = "_memory_range";
    uint64_t address, n;
    Range range;
    if (pg_as_u64(a[0], call, "address", &address) < 0 || pg_as_u64(a[1], call, "nbytes", &n) < 0) {
        return NULL;
    }
    Context *context = cud_context_current(PyModule_GetState(module));
    if (context == NULL) {
        return NULL;
    }
    int here = context->device;
    Py_DECREF((PyObject *)context);
    if (n == 0 || n > UINT64_MAX - address) {
        return PyErr_Format(PyExc_ValueError, "%s: %llu bytes at %p", call, (unsigned long long)n,
                            (void *)(uintptr_t)address);
    }
    if (range_at(address, &range)) {
        extend(&range, address, n);
    } else if (range.status != CUDA_SUCCESS && range.status != CUDA_ERROR_INVALID_VALUE &&
               range.status != CUDA_ERROR_NOT_FOUND) { /* the context is wrong, not the address */
        return cud_raise(PyModule_GetState(module), "cuMemGetAddressRange", range.status);
    } else if (!host_range(address, n, &range)) {
        Py_RETURN_NONE;
    }
    unsigned type = 0;
    int device = -1;
    if (!query_attribute(address, ABOUT_DEVICE, &device) || device < 0 || device == here ||
        (query_attribute(address, ABOUT_TYPE, &type) && type == OF_HOST)) {
        return Py_BuildValue("(KKO)", (unsigned long long)range.start,
                             (unsigned long long)range.size, Py_None);
    }
    return Py_BuildValue("(KKi)", (unsigned long long)range.start, (unsigned long long)range.size,
                         device);
}

static PyObject *set_range_piece(PyObject *Py_UNUSED(module), PyObject *size) {
    return pg_as_size(size, "_set_range_piece", "size", &test_piece) < 0 ? NULL
                                                                         : Py_NewRef(Py_None);
}

PyMethodDef cud_range_functions[] = {
    {"_memory_range", FAST(memory_range), memory_range__doc__},
    {"_set_range_piece", set_range_piece, METH_O,
     "_set_range_piece(size, /)\n--\n\n(size: int, /) -> None\n\nTake each allocation for a "
     "reservation of addresses with pieces of so many bytes mapped into it; 0: do not. For tests "
     "only."},
    {NULL, NULL, 0, NULL},
};
