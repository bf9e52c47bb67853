/* transfer.c - copies between the host and device memory, within a device, and between devices.
 *
 * Sizes are checked against the allocation before the driver is called. A blocking copy first
 * waits in a way that Ctrl-C can interrupt, and then makes the driver's call. Host memory that an
 * asynchronous copy reads or writes is kept alive until the copy is done. */
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/host_array.h"
#include "cuda/host_memory.h"
#include "cuda/keepalive.h"
#include "cuda/memory.h"
#include "cuda/objects/pointer.h"
#include "cuda/print.h"
#include "cuda/stream.h"

#define SMALL 65536 /* a copy of this size takes less time than getting the GIL back would */

int cud_host_bytes(State *state, PyObject *obj, const char *call, const char *name, int write,
                   HostBytes *out) {
    out->array = NULL;
    if (PyArray_CheckExact(obj)) {
        PyArrayObject *array = (PyArrayObject *)obj;
        if ((PyArray_IS_C_CONTIGUOUS(array) || PyArray_IS_F_CONTIGUOUS(array)) &&
            (!write || PyArray_ISWRITEABLE(array)) && !PyDataType_REFCHK(PyArray_DESCR(array))) {
            out->array = Py_NewRef(obj);
            out->data = PyArray_DATA(array);
            out->size = (size_t)PyArray_NBYTES(array);
            return 0;
        }
    } else if (cud_is_allocation(state, obj)) {
        PyErr_Format(PyExc_TypeError, "%s: %s must be host memory, not %s", call, name,
                     pg_type_name(obj));
        return -1;
    }
    if (pg_get_buffer(obj, call, name, write, &out->view) < 0) {
        return -1;
    }
    out->data = out->view.buf;
    out->size = (size_t)out->view.len;
    return 0;
}

void cud_host_release(HostBytes *bytes) {
    if (bytes->array != NULL) {
        Py_DECREF(bytes->array);
    } else {
        PyBuffer_Release(&bytes->view);
    }
}

PyObject *cud_host_owner(PyObject *obj) {
    return PyArray_Check(obj) || PyBytes_Check(obj) ? Py_NewRef(obj) : PyMemoryView_FromObject(obj);
}

int cud_wait_before_copy(State *state, const char *routine, size_t size) {
    CUresult status = CUDA_SUCCESS;
    CUcontext current = NULL;
    CU_CALL(status, cuCtxGetCurrent, &current);
    if (status == CUDA_SUCCESS && current != NULL &&
        current == cud_idle) { /* the copy itself waits for work queued by other libraries */
        return 0;
    }
    CU_BESIDE(status, cuStreamQuery, NULL);
    if (status == CUDA_SUCCESS) {
        cud_idle = current;
        cud_print();
        return size <= SMALL && cud_host_calls == 0;
    }
    if (status == CUDA_ERROR_NOT_READY) {
        return cud_wait_stream(state, routine, NULL) < 0 ? -1 : 0;
    }
    cud_raise(state, routine, status);
    return -1;
}

/* ---- host and device ------------------------------------------------------------------------- */

/* Returns the current context, creating one if necessary; -1 with an exception. */
static int have_context(State *state) {
    Context *context = cud_context_current(state);
    Py_XDECREF((PyObject *)context);
    return context != NULL ? 0 : -1;
}

static PyObject *copy_to_device(State *state, const char *call, PyObject *dest, PyObject *src) {
    HostBytes host;
    DevicePointer to = {0, 0, NULL};
    if (have_context(state) < 0 || cud_host_bytes(state, src, call, "src", 0, &host) < 0) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    int idle = 0, failed = cud_device_range(state, dest, call, "dest", host.size, &to) < 0;
    if (!failed && host.size > 0) {
        failed = (to.allocation != NULL && cud_allocation_use(to.allocation, NULL, NULL) < 0) ||
                 (idle = cud_wait_before_copy(state, "cuMemcpyHtoD", host.size)) < 0 ||
                 (to.allocation != NULL && cud_allocation_alive(to.allocation, call) < 0);
    }
    if (!failed && host.size > 0) {
        if (idle) {
            CU_CALL(status, cuMemcpyHtoD, to.ptr, host.data, host.size);
        } else {
            cud_pin(to.allocation);
            CU_NOGIL(status, cuMemcpyHtoD, to.ptr, host.data, host.size);
            cud_unpin(to.allocation);
        }
    }
    cud_device_release(&to);
    cud_host_release(&host);
    return failed                   ? NULL
           : status != CUDA_SUCCESS ? cud_raise(state, "cuMemcpyHtoD", status)
                                    : Py_NewRef(Py_None);
}

static PyObject *copy_to_host(State *state, const char *call, PyObject *src, void *data,
                              size_t size) {
    DevicePointer from;
    CUresult status = CUDA_SUCCESS;
    int idle;
    if (have_context(state) < 0 || cud_device_range(state, src, call, "src", size, &from) < 0) {
        return NULL;
    }
    if (size == 0) {
        cud_device_release(&from);
        Py_RETURN_NONE;
    }
    if ((from.allocation != NULL && cud_allocation_use(from.allocation, NULL, NULL) < 0) ||
        (idle = cud_wait_before_copy(state, "cuMemcpyDtoH", size)) < 0 ||
        (from.allocation != NULL && cud_allocation_alive(from.allocation, call) < 0)) {
        cud_device_release(&from);
        return NULL;
    }
    if (idle) {
        CU_CALL(status, cuMemcpyDtoH, data, from.ptr, size);
    } else {
        cud_pin(from.allocation);
        CU_NOGIL(status, cuMemcpyDtoH, data, from.ptr, size);
        cud_unpin(from.allocation);
    }
    cud_device_release(&from);
    if (status != CUDA_SUCCESS) {
        return cud_raise(state, "cuMemcpyDtoH", status);
    }
    return pg_report(&state->common) < 0 ? NULL : Py_NewRef(Py_None);
}

PG_DOC(memcpy_htod__doc__, "memcpy_htod", "dest, src", "(dest: object, src: HostBuffer) -> None",
       "Copy all bytes of the host array *src* to device memory, after all work on the default "
       "stream.\n\n"
       "src: contiguous (C or Fortran order). Raises ValueError if it is not, or has more bytes "
       "than there are at dest.");
PG_FUNCTION(memcpy_htod, 2)
static PyObject *memcpy_htod_impl(PyObject *module, PyObject *const *a) {
    return copy_to_device(PyModule_GetState(module), "memcpy_htod", a[0], a[1]);
}

PG_DOC(memcpy_dtoh__doc__, "memcpy_dtoh", "dest, src", "(dest: HostBuffer, src: object) -> None",
       "Fill the host array *dest* from device memory, after all work on the default stream.\n\n"
       "dest: writable and contiguous (C or Fortran order). Raises ValueError if it is not, or has "
       "more bytes than there are at src.");
PG_FUNCTION(memcpy_dtoh, 2)
static PyObject *memcpy_dtoh_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    HostBytes host;
    if (cud_host_bytes(state, a[0], "memcpy_dtoh", "dest", 1, &host) < 0) {
        return NULL;
    }
    PyObject *result = copy_to_host(state, "memcpy_dtoh", a[1], host.data, host.size);
    cud_host_release(&host);
    return result;
}

/* A new reference to what keeps the host memory in place; NULL with an exception. */
static inline PyObject *owner_of(PyObject *host) {
    PyObject *owner = cud_host_owner(host);
    if (owner == NULL &&
        PyErr_ExceptionMatches(PyExc_TypeError)) { /* for example, the unusual dtype of an ndarray
                                                    * subclass */
        PyErr_Clear();
        owner = Py_NewRef(host);
    }
    return owner;
}

static PyObject *copy_async(State *state, const char *call, PyObject *device, PyObject *host_arg,
                            PyObject *stream_arg, int write) {
    HostBytes host;
    DevicePointer at = {0, 0, NULL};
    CUstream handle;
    Stream *stream;
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    PyObject *owner = NULL, *result = NULL;
    CUresult status = CUDA_SUCCESS;
    if (cud_host_bytes(state, host_arg, call, write ? "dest" : "src", write, &host) < 0) {
        goto done;
    }
    if (cud_device_range(state, device, call, write ? "src" : "dest", host.size, &at) < 0 ||
        cud_as_stream(state, stream_arg, call, &handle, &stream) < 0) {
        goto release;
    }
    if (host.size == 0) {
        result = Py_NewRef(Py_None);
        goto release;
    }
    owner = owner_of(host_arg);
    if (owner == NULL ||
        (at.allocation != NULL && (cud_allocation_use(at.allocation, handle, stream) < 0 ||
                                   cud_allocation_alive(at.allocation, call) < 0))) {
        goto release;
    }
    cud_pin(at.allocation);
    CU_COUNT_QUEUED();
    if (write) { /* for pageable memory the driver may wait for the stream */
        CU_NOGIL(status, cuMemcpyDtoHAsync, host.data, at.ptr, host.size, handle);
    } else {
        CU_NOGIL(status, cuMemcpyHtoDAsync, at.ptr, host.data, host.size, handle);
    }
    if (status == CUDA_SUCCESS) {
        cud_keepalive_copy(state, context, handle, stream, owner, host.size);
        if (PG_UNLIKELY(cud_capturing > 0) && at.allocation != NULL) {
            cud_capture_keep(state, handle, stream, (PyObject *)at.allocation);
        }
        result = Py_NewRef(Py_None);
    } else {
        cud_raise(state, write ? "cuMemcpyDtoHAsync" : "cuMemcpyHtoDAsync", status);
    }
    cud_unpin(at.allocation);
release:
    cud_device_release(&at);
    cud_host_release(&host);
done:
    Py_XDECREF(owner);
    Py_DECREF((PyObject *)context);
    return result;
}

PG_DOC(memcpy_htod_async__doc__, "memcpy_htod_async", "dest, src, stream=None",
       "(dest: object, src: HostBuffer, stream: object = None) -> None",
       "Queue a copy of all bytes of the host array *src* to device memory; it overlaps with other "
       "work if src is page-locked.\n\n"
       "src is kept until the copy is done, and must not be changed before.");
PG_FUNCTION(memcpy_htod_async, 3)
static PyObject *memcpy_htod_async_impl(PyObject *module, PyObject *const *a) {
    return copy_async(PyModule_GetState(module), "memcpy_htod_async", a[0], a[1], a[2], 0);
}

PG_DOC(memcpy_dtoh_async__doc__, "memcpy_dtoh_async", "dest, src, stream=None",
       "(dest: HostBuffer, src: object, stream: object = None) -> None",
       "Queue a copy from device memory that fills the host array *dest*; it overlaps with other "
       "work if dest is page-locked.\n\n"
       "dest is kept until the copy is done, and must not be read before: synchronize the stream.");
PG_FUNCTION(memcpy_dtoh_async, 3)
static PyObject *memcpy_dtoh_async_impl(PyObject *module, PyObject *const *a) {
    return copy_async(PyModule_GetState(module), "memcpy_dtoh_async", a[1], a[0], a[2], 1);
}

/* ---- whole arrays ---------------------------------------------------------------------------- */

PG_DOC(to_device__doc__, "to_device", "bf_obj", "(bf_obj: HostBuffer) -> DeviceAllocation",
       "New device memory with the bytes of a host array, in C order. It need not be contiguous.");
PG_FUNCTION(to_device, 1)
static PyObject *to_device_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "to_device";
    PyObject *obj = a[0], *bytes = NULL;
    if (PyArray_Check(obj)) {
        bytes = PyArray_IS_C_CONTIGUOUS((PyArrayObject *)obj)
                    ? Py_NewRef(obj)
                    : PyArray_NewCopy((PyArrayObject *)obj, NPY_CORDER);
    } else {
        PyObject *view = PyMemoryView_FromObject(obj);
        bytes = view == NULL ? NULL
                : PyMemoryView_GET_BUFFER(view)->ndim > 0
                    ? PyObject_CallMethod(view, "tobytes", NULL)
                    : Py_NewRef(view);
        Py_XDECREF(view);
    }
    if (bytes == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            PyErr_Format(
                PyExc_TypeError,
                "%s: bf_obj must be host memory (an ndarray, bytes, bytearray, ...), not %s", call,
                pg_type_name(obj));
        }
        return NULL;
    }
    HostBytes host;
    PyObject *size = NULL, *result = NULL, *copied = NULL, *allocate = NULL;
    if (cud_host_bytes(state, bytes, call, "bf_obj", 0, &host) < 0) {
        goto done;
    }
    size = PyLong_FromSize_t(host.size);
    cud_host_release(&host);
    allocate = size != NULL ? PyObject_GetAttrString(module, "mem_alloc") : NULL;
    result = allocate != NULL ? PyObject_CallOneArg(allocate, size) : NULL;
    copied = result != NULL ? copy_to_device(state, call, result, bytes) : NULL;
    if (copied == NULL) {
        Py_CLEAR(result);
    }
done:
    Py_XDECREF(copied);
    Py_XDECREF(allocate);
    Py_XDECREF(size);
    Py_DECREF(bytes);
    return result;
}

static PyObject *fill_new(State *state, const char *call, PyObject *devptr, PyObject *array) {
    PyObject *copied = array != NULL
                           ? copy_to_host(state, call, devptr, PyArray_DATA((PyArrayObject *)array),
                                          (size_t)PyArray_NBYTES((PyArrayObject *)array))
                           : NULL;
    if (copied == NULL) {
        Py_CLEAR(array);
    }
    Py_XDECREF(copied);
    return array;
}

PG_DOC(from_device__doc__, "from_device", "devptr, shape, dtype, order=\"C\"",
       "(devptr: object, shape: int | Sequence[int], dtype: DTypeLike, order: str = \"C\") -> "
       "NDArray[Any]",
       "A new host array with the contents of device memory.\n\nRaises ValueError if it needs more "
       "bytes than there are.");
PG_FUNCTION(from_device, 4)
static PyObject *from_device_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    PgArrayLayout layout;
    DevicePointer at;
    if (have_context(state) < 0 || cud_array_layout("from_device", a[1], a[2], a[3], &layout) < 0) {
        return NULL;
    }
    if (cud_device_range(state, a[0], "from_device", "devptr", layout.size, &at) <
        0) { /* before allocating memory */
        Py_DECREF(layout.dtype);
        return NULL;
    }
    cud_device_release(&at);
    return fill_new(state, "from_device", a[0],
                    PyArray_Empty(layout.n, layout.dims, layout.dtype, layout.fortran));
}

PG_DOC(from_device_like__doc__, "from_device_like", "devptr, other_ary",
       "(devptr: object, other_ary: NDArray[Any]) -> NDArray[Any]",
       "A new host array of another's shape, dtype and order, with the contents of device memory.");
PG_FUNCTION(from_device_like, 2)
static PyObject *from_device_like_impl(PyObject *module, PyObject *const *a) {
    const char *call = "from_device_like";
    if (!PyArray_Check(a[1]) || PyDataType_REFCHK(PyArray_DESCR((PyArrayObject *)a[1]))) {
        return PyErr_Format(PyExc_TypeError,
                            "%s: other_ary must be an ndarray of plain values, not %s", call,
                            pg_type_name(a[1]));
    }
    /* A contiguous array whose axes have the order of the other's strides. */
    return fill_new(PyModule_GetState(module), call, a[0],
                    PyArray_NewLikeArray((PyArrayObject *)a[1], NPY_KEEPORDER, NULL, 0));
}

PyMethodDef cud_transfer_functions[] = {
    {"memcpy_htod", FAST(memcpy_htod), memcpy_htod__doc__},
    {"memcpy_htod_async", FAST(memcpy_htod_async), memcpy_htod_async__doc__},
    {"memcpy_dtoh", FAST(memcpy_dtoh), memcpy_dtoh__doc__},
    {"memcpy_dtoh_async", FAST(memcpy_dtoh_async), memcpy_dtoh_async__doc__},
    {"to_device", FAST(to_device), to_device__doc__},
    {"from_device", FAST(from_device), from_device__doc__},
    {"from_device_like", FAST(from_device_like), from_device_like__doc__},
    {NULL, NULL, 0, NULL},
};
