/* dlpack.c - exports allocations to other libraries: DLPack and __cuda_array_interface__, as a
 * one-dimensional array of bytes. */
#include "common/dlpack.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/memory.h"
#include "cuda/stream.h"

static void unpin(PyObject *op) {
    cud_unpin((Allocation *)op);
}

static DLDevice device_of(const Allocation *self) {
    return (DLDevice){self->kind == MEMORY_MANAGED ? DL_CUDA_MANAGED : DL_CUDA,
                      self->context->device};
}

/* Orders the consumer's stream after the work queued so far. */
static int order_consumer(Allocation *self, const char *call, PyObject *stream) {
    int64_t handle = 1;
    if (stream != NULL && stream != Py_None && pg_as_i64(stream, call, "stream", &handle) < 0) {
        return -1;
    }
    if (handle < -1) {
        PyErr_Format(PyExc_ValueError, "%s: stream = %lld is not a stream", call,
                     (long long)handle);
        return -1;
    }
    if (handle >= -1 && handle <= 1) { /* the consumer wants no ordering, or uses the default
                                        * stream, which is ordered anyway */
        return 0;
    }
    ContextGuard guard;
    CUresult status;
    const char *routine;
    if (cud_context_enter(self->context, &guard, &status) < 0) {
        cud_raise(self->state, call, status);
        return -1;
    }
    status = cud_order_after((CUstream)(uintptr_t)handle, NULL, &routine);
    cud_context_leave(&guard);
    if (status != CUDA_SUCCESS) {
        cud_raise(self->state, routine, status);
        return -1;
    }
    return 0;
}

extern const char cud_dlpack__doc__[];
const char cud_dlpack__doc__[] =
    "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
    "(*, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: "
    "tuple[int, int] | None = None, "
    "copy: bool | None = None) -> object\n\n"
    "The memory as a DLPack capsule: uint8, shape (size,).\n\n"
    "stream: handle of the stream that will use it, which then waits for work queued on the "
    "default stream; -1: no waiting.\n"
    "Raises BufferError for another device or a copy.";
PyObject *cud_dlpack(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *cud_dlpack_device(PyObject *op, PyObject *ignored);
PyObject *cud_get_array_interface(PyObject *op, void *closure);

PG_SHARED_FUNCTION(cud_dlpack, 4)
static PyObject *cud_dlpack_impl(PyObject *op, PyObject *const *a) {
    Allocation *self = (Allocation *)op;
    const char *call = "DeviceAllocation.__dlpack__";
    size_t wanted[2], version[2] = {0, 0};
    int copy;
    if (cud_allocation_expose(self, call) < 0 ||
        (copy = pg_as_bool(a[3] == Py_None ? NULL : a[3], 0)) < 0) {
        return NULL;
    }
    DLDevice device = device_of(self);
    if (copy) {
        return PyErr_Format(PyExc_BufferError,
                            "%s: the memory is exported in place; copy=True is not supported",
                            call);
    }
    if (a[2] != NULL && a[2] != Py_None) {
        int n = pg_as_sizes(a[2], call, "dl_device", wanted, 2);
        if (n < 0) {
            return NULL;
        }
        if (n != 2 || wanted[0] != (size_t)device.type || wanted[1] != (size_t)device.id) {
            return PyErr_Format(
                PyExc_BufferError,
                "%s: the memory is on device (%d, %d) and cannot be exported for another", call,
                (int)device.type, (int)device.id);
        }
    }
    if (a[1] != NULL && a[1] != Py_None && pg_as_sizes(a[1], call, "max_version", version, 2) < 0) {
        return NULL;
    }
    if (order_consumer(self, call, a[0]) < 0 ||
        cud_allocation_alive(self, call) < 0) { /* parsing the arguments may have run code that
                                                 * freed it */
        return NULL;
    }
    int64_t shape[1] = {(int64_t)self->size}, strides[1] = {1};
    DLTensor tensor = {(void *)(uintptr_t)self->ptr, device, 1, {DL_UINT, 8, 1}, shape, strides, 0};
    cud_pin(self);
    PyObject *capsule = pg_dlpack_capsule(&tensor, op, unpin, version[0] >= 1, 0);
    if (capsule == NULL) {
        cud_unpin(self);
    }
    return capsule;
}

PyObject *cud_dlpack_device(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    DLDevice device = device_of((Allocation *)op);
    return Py_BuildValue("(ii)", (int)device.type, (int)device.id);
}

PyObject *cud_get_array_interface(PyObject *op, void *Py_UNUSED(closure)) {
    Allocation *self = (Allocation *)op;
    if (cud_allocation_expose(self, "__cuda_array_interface__") < 0) {
        return NULL;
    }
    return Py_BuildValue("{s(n)ss s(KO)sOsi si}", "shape", (Py_ssize_t)self->size, "typestr", "|u1",
                         "data", (unsigned long long)self->ptr, Py_False, "strides", Py_None,
                         "stream", 1 /* the legacy default stream */, "version", 3);
}
