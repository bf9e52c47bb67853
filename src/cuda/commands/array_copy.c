/* array_copy.c - copies of contiguous bytes to and from arrays: memcpy_htoa, atoh, dtoa, atod,
 * atoa. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/host_memory.h"
#include "cuda/memory.h"
#include "cuda/objects/array.h"
#include "cuda/objects/pointer.h"

/* Parses an array and a range of n bytes at offset index in it. Pins the array on success. */
static int take_array(State *state, PyObject *obj, const char *call, const char *name,
                      PyObject *index_arg, size_t n, ArrayObject **out, size_t *index) {
    if (pg_as_size(index_arg, call, "index", index) < 0 ||
        cud_as_array(state, obj, call, name, out) < 0) { /* the __index__ of a number may free it */
        return -1;
    }
    size_t bytes = cud_array_bytes(*out);
    if (bytes > 0 && (*index > bytes || n > bytes - *index)) {
        cud_reject(state, call, CUDA_ERROR_INVALID_VALUE,
                   "%zu bytes at index %zu end past the %zu of %s", n, *index, bytes, name);
        return -1;
    }
    (*out)->users++;
    return 0;
}

static PyObject *finish(State *state, const char *routine, CUresult status) {
    return status != CUDA_SUCCESS ? cud_raise(state, routine, status) : Py_NewRef(Py_None);
}

/* Copies between host memory and an array; write: to the host. */
static PyObject *with_host(State *state, const char *call, PyObject *array_arg, PyObject *index_arg,
                           PyObject *host_arg, int write) {
    HostBytes host;
    ArrayObject *array;
    size_t index;
    const char *routine = write ? "cuMemcpyAtoH" : "cuMemcpyHtoA";
    if (cud_context_ensure(state) < 0 ||
        cud_host_bytes(state, host_arg, call, write ? "dest" : "src", write, &host) < 0) {
        return NULL;
    }
    PyObject *result = NULL;
    if (take_array(state, array_arg, call, "ary", index_arg, host.size, &array, &index) == 0) {
        CUresult status = CUDA_SUCCESS;
        int failed = host.size > 0 && cud_wait_before_copy(state, routine, host.size) < 0;
        if (!failed && host.size > 0) {
            if (write) {
                CU_NOGIL(status, cuMemcpyAtoH, host.data, array->handle, index, host.size);
            } else {
                CU_NOGIL(status, cuMemcpyHtoA, array->handle, index, host.data, host.size);
            }
        }
        result = failed ? NULL : finish(state, routine, status);
        cud_array_unpin(array);
    }
    cud_host_release(&host);
    return result;
}

/* Copies between device memory and an array; write: to device memory. */
static PyObject *with_device(State *state, const char *call, PyObject *array_arg,
                             PyObject *index_arg, PyObject *device_arg, PyObject *length_arg,
                             int write) {
    DevicePointer at;
    ArrayObject *array;
    size_t index, n;
    if (pg_as_size(length_arg, call, "len", &n) < 0 || cud_context_ensure(state) < 0 ||
        cud_device_range(state, device_arg, call, write ? "dest" : "src", n, &at) < 0) {
        return NULL;
    }
    if (take_array(state, array_arg, call, "ary", index_arg, n, &array, &index) < 0) {
        cud_device_release(&at);
        return NULL;
    }
    if (at.allocation != NULL && (cud_allocation_use(at.allocation, NULL, NULL) < 0 ||
                                  cud_allocation_alive(at.allocation, call) < 0)) {
        cud_array_unpin(array);
        cud_device_release(&at);
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    cud_pin(at.allocation);
    if (n > 0 && write) {
        CU_COUNT_QUEUED();
        CU_NOGIL(status, cuMemcpyAtoD, at.ptr, array->handle, index, n);
    } else if (n > 0) {
        CU_COUNT_QUEUED();
        CU_NOGIL(status, cuMemcpyDtoA, array->handle, index, at.ptr, n);
    }
    cud_unpin(at.allocation);
    cud_device_release(&at);
    cud_array_unpin(array);
    return finish(state, write ? "cuMemcpyAtoD" : "cuMemcpyDtoA", status);
}

PG_DOC(memcpy_htoa__doc__, "memcpy_htoa", "ary, index, src",
       "(ary: Array, index: int, src: HostBuffer) -> None",
       "Copy all bytes of a contiguous host array into an Array of one dimension, from byte "
       "*index* on.");
PG_FUNCTION(memcpy_htoa, 3)
static PyObject *memcpy_htoa_impl(PyObject *module, PyObject *const *a) {
    return with_host(PyModule_GetState(module), "memcpy_htoa", a[0], a[1], a[2], 0);
}

PG_DOC(memcpy_atoh__doc__, "memcpy_atoh", "dest, ary, index",
       "(dest: HostBuffer, ary: Array, index: int) -> None",
       "Fill a contiguous host array from an Array of one dimension, from byte *index* on.");
PG_FUNCTION(memcpy_atoh, 3)
static PyObject *memcpy_atoh_impl(PyObject *module, PyObject *const *a) {
    return with_host(PyModule_GetState(module), "memcpy_atoh", a[1], a[2], a[0], 1);
}

PG_DOC(memcpy_dtoa__doc__, "memcpy_dtoa", "ary, index, src, len",
       "(ary: Array, index: int, src: object, len: int) -> None",
       "Copy *len* bytes of device memory into an Array of one dimension, from byte *index* on.");
PG_FUNCTION(memcpy_dtoa, 4)
static PyObject *memcpy_dtoa_impl(PyObject *module, PyObject *const *a) {
    return with_device(PyModule_GetState(module), "memcpy_dtoa", a[0], a[1], a[2], a[3], 0);
}

PG_DOC(memcpy_atod__doc__, "memcpy_atod", "dest, ary, index, len",
       "(dest: object, ary: Array, index: int, len: int) -> None",
       "Copy *len* bytes of an Array of one dimension, from byte *index* on, to device memory.");
PG_FUNCTION(memcpy_atod, 4)
static PyObject *memcpy_atod_impl(PyObject *module, PyObject *const *a) {
    return with_device(PyModule_GetState(module), "memcpy_atod", a[1], a[2], a[0], a[3], 1);
}

PG_DOC(memcpy_atoa__doc__, "memcpy_atoa", "dest, dest_index, src, src_index, len",
       "(dest: Array, dest_index: int, src: Array, src_index: int, len: int) -> None",
       "Copy *len* bytes from one Array of one dimension to another.");
PG_FUNCTION(memcpy_atoa, 5)
static PyObject *memcpy_atoa_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "memcpy_atoa";
    ArrayObject *to, *from;
    size_t to_index, from_index, n;
    if (pg_as_size(a[4], call, "len", &n) < 0 || cud_context_ensure(state) < 0 ||
        take_array(state, a[0], call, "dest", a[1], n, &to, &to_index) < 0) {
        return NULL;
    }
    if (take_array(state, a[2], call, "src", a[3], n, &from, &from_index) < 0) {
        cud_array_unpin(to);
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    if (n > 0) {
        CU_COUNT_QUEUED();
        CU_NOGIL(status, cuMemcpyAtoA, to->handle, to_index, from->handle, from_index, n);
    }
    cud_array_unpin(from);
    cud_array_unpin(to);
    return finish(state, "cuMemcpyAtoA", status);
}

PyMethodDef cud_array_functions[] = {
    {"memcpy_htoa", FAST(memcpy_htoa), memcpy_htoa__doc__},
    {"memcpy_atoh", FAST(memcpy_atoh), memcpy_atoh__doc__},
    {"memcpy_dtoa", FAST(memcpy_dtoa), memcpy_dtoa__doc__},
    {"memcpy_atod", FAST(memcpy_atod), memcpy_atod__doc__},
    {"memcpy_atoa", FAST(memcpy_atoa), memcpy_atoa__doc__},
    {NULL, NULL, 0, NULL},
};
