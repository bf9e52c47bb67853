/* managed.c - ManagedAllocation: memory with the same address on host and device; the base of
 * managed_empty()'s arrays. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/host_array.h"
#include "cuda/host_memory.h"
#include "cuda/memory.h"
#include "cuda/objects/managed.h"
#include "cuda/stream.h"

static PyObject *ManagedAllocation_get_device_pointer(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Allocation *self = (Allocation *)op;
    return cud_allocation_alive(self, "ManagedAllocation.get_device_pointer") < 0
               ? NULL
               : PyLong_FromUnsignedLongLong(self->ptr);
}

enum { ATTACH_HOST = 2, ATTACH_SINGLE = 4 };

PG_DOC(
    ManagedAllocation_attach__doc__, "attach", "$self, mem_flags, stream=None",
    "(mem_flags: int, stream: object = None) -> None",
    "Declare who uses the memory from this point of *stream* on: mem_attach_flags.GLOBAL (all "
    "streams), HOST (none, so the host may access it at any time) or SINGLE (only this stream).");
PG_FUNCTION(ManagedAllocation_attach, 2)
static PyObject *ManagedAllocation_attach_impl(PyObject *op, PyObject *const *a) {
    Allocation *self = (Allocation *)op;
    const char *call = "ManagedAllocation.attach";
    uint32_t flags;
    CUstream handle;
    Stream *stream;
    if (pg_as_u32(a[0], call, "mem_flags", &flags) < 0 || cud_allocation_alive(self, call) < 0 ||
        cud_as_stream(self->state, a[1], call, &handle, &stream) < 0) {
        return NULL;
    }
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != ATTACH_HOST && flags != ATTACH_SINGLE) {
        return cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
                          "mem_flags = %u is not one of mem_attach_flags", (unsigned)flags);
    }
    if (flags == ATTACH_SINGLE && handle == NULL) {
        return cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
                          "mem_attach_flags.SINGLE needs a stream other than the default stream");
    }
    if (stream != NULL && stream->context != self->context) {
        return cud_reject(self->state, call, CUDA_ERROR_INVALID_HANDLE,
                          "the stream belongs to another context than the memory");
    }
    CUresult status = CUDA_SUCCESS;
    ContextGuard guard;
    cud_pin(self);
    if (cud_context_enter(self->context, &guard, &status) == 0) {
        CU_QUEUED(status, cuStreamAttachMemAsync, handle, self->ptr, 0, flags);
        cud_context_leave(&guard);
    }
    cud_unpin(self);
    return status != CUDA_SUCCESS ? cud_raise(self->state, "cuStreamAttachMemAsync", status)
                                  : Py_NewRef(Py_None);
}

/* As for other host memory: the array is made empty now, and the memory is freed when no view of
 * it is left. */
static PyObject *ManagedAllocation_free(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    CudManaged *self = (CudManaged *)op;
    PyArrayObject *array = self->head.freed ? NULL : pg_revocable_array(self->array);
    if (array != NULL) {
        int axes = PyArray_NDIM(array);
        Py_DECREF(array);
        if (axes == 0 && self->scalar == NULL &&
            (self->scalar = PyMem_Calloc(1, self->head.size > 0 ? self->head.size : 1)) == NULL) {
            return PyErr_NoMemory();
        }
        pg_revoke_array(self->array, self->scalar);
        self->head.freed = 1;
        Py_RETURN_NONE;
    }
    return cud_allocation_free_method(op, "ManagedAllocation.free");
}

static void ManagedAllocation_dealloc(PyObject *op) {
    CudManaged *self = (CudManaged *)op;
    PyObject_GC_UnTrack(op);
    PyMem_Free(self->scalar);
    Py_CLEAR(self->array);
    cud_allocation_dealloc(op);
}

PyObject *cud_new_managed(State *state, PgArrayLayout *layout, PyObject *flags_arg,
                          const char *call) {
    uint32_t flags = 0;
    CUdeviceptr ptr = 0;
    CUresult status = CUDA_SUCCESS;
    CudManaged *self = NULL;
    PyObject *array = NULL;
    Context *context = flags_arg != NULL && pg_as_u32(flags_arg, call, "mem_flags", &flags) < 0
                           ? NULL
                           : cud_context_current(state);
    if (context == NULL) {
        goto done;
    }
    flags = flags != 0 ? flags : CU_MEM_ATTACH_GLOBAL;
    cud_context_add_host_memory(context);
    size_t size = layout->size > 0 ? layout->size : 1; /* an empty array needs an address, too */
    int tries = 0, again;
    do {
        status = CUDA_SUCCESS;
        size_t on_device = 0, on_host = cud_host_available(size);
        if (size > on_host) {
            CU_CALL(status, cuDeviceTotalMem, &on_device, context->device);
        }
        if (size > on_host && size - on_host > on_device) {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        } else {
            CU_NOGIL(status, cuMemAllocManaged, &ptr, size, flags);
        }
        again = status == CUDA_SUCCESS ? 0 : cud_retry(state, status, &tries);
    } while (again == 1);
    if (status != CUDA_SUCCESS) {
        if (again == 0) {
            cud_raise_with(state, "cuMemAllocManaged", status,
                           "asked for %zu bytes with mem_flags = %u", layout->size, flags);
        }
        cud_context_drop_host_memory(context);
        goto done;
    }
    cud_live[LIVE_MEM]++;
    self = (CudManaged *)cud_allocation_new(state, state->ManagedAllocationType, context, ptr,
                                            layout->size, MEMORY_MANAGED);
    if (self == NULL) {
        cud_memory_free(context, ptr);
        cud_context_drop_host_memory(context);
        goto done;
    }
    array = cud_array_over((PyObject *)self, layout, (void *)(uintptr_t)ptr, &self->array);
    Py_DECREF(self);
done:
    Py_XDECREF((PyObject *)context);
    Py_CLEAR(layout->dtype);
    return array;
}

static PyMethodDef ManagedAllocation_methods[] = {
    {"get_device_pointer", ManagedAllocation_get_device_pointer, METH_NOARGS,
     "get_device_pointer($self, /)\n--\n\n() -> int\n\nThe address, the same as on the host."},
    {"attach", FAST(ManagedAllocation_attach), ManagedAllocation_attach__doc__},
    {"free", ManagedAllocation_free, METH_NOARGS,
     "free($self, /)\n--\n\n() -> None\n\nMake the array empty and release the memory; any other "
     "use raises an error. The memory is freed once no view of the array is left."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot ManagedAllocation_slots[] = {
    {Py_tp_doc, (void *)"Managed memory, the base of an array from managed_empty()."},
    {Py_tp_dealloc, (void *)ManagedAllocation_dealloc},
    {Py_tp_traverse, (void *)cud_allocation_traverse},
    {Py_tp_methods, ManagedAllocation_methods},
    {0, NULL},
};
CUD_TYPE(ManagedAllocation, CudManaged, Py_TPFLAGS_DISALLOW_INSTANTIATION);
