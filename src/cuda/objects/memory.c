/* memory.c - DeviceAllocation: device memory, and the functions that allocate it.
 *
 * An allocation belongs to the context that was current when it was made, and is given back there
 * from whatever thread it is dropped in. The driver may wait for running kernels when it takes
 * memory back, so the GIL is released for that. */
#include "common/track.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/lifetime/usage.h"
#include "cuda/memory.h"
#include "cuda/objects/pointer.h"

CUdeviceptr cud_memory_alloc(State *state, size_t size, size_t asked) {
    CUdeviceptr ptr = 0;
    CUresult status;
    int tries = 0, again;
    do {
        status = CUDA_SUCCESS;
        CU_NOGIL(status, cuMemAlloc, &ptr, size);
        again = status == CUDA_SUCCESS ? 0 : cud_retry(state, status, &tries);
    } while (again == 1);
    if (status != CUDA_SUCCESS) {
        if (again == 0) {
            cud_raise_with(state, "cuMemAlloc", status, "asked for %zu bytes", asked);
        }
        return 0;
    }
    cud_live[LIVE_MEM]++;
    return ptr;
}

/* Whether memory in another library's context still exists; the context may be gone. */
static int is_still_there(Context *context, CUdeviceptr ptr) {
    CUcontext owner = NULL;
    CUresult status = CUDA_SUCCESS;
    CU_BESIDE(status, cuPointerGetAttribute, &owner, 1 /* CONTEXT */, ptr);
    return status == CUDA_SUCCESS && owner == context->handle;
}

void cud_memory_free(Context *context, CUdeviceptr ptr) {
    ContextGuard guard;
    CUresult status;
    cud_live[LIVE_MEM]--;
    if (context->kind == CONTEXT_FOREIGN ? !pg_is_ending() && is_still_there(context, ptr) &&
                                               cud_context_enter(context, &guard, &status) == 0
                                         : cud_context_enter_free(context, &guard, &status) == 0) {
        Py_BEGIN_ALLOW_THREADS
        CU_CALL(status, cuMemFree, ptr); /* its status is ignored: there is nobody to report it
                                          * to */
        Py_END_ALLOW_THREADS
        cud_context_leave(&guard);
    }
}

Allocation *cud_allocation_new(State *state, PyTypeObject *type, Context *context, CUdeviceptr ptr,
                               size_t size, int kind) {
    Allocation *self = (Allocation *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
        self->ptr = ptr;
        self->size = size;
        self->context = (Context *)Py_NewRef((PyObject *)context);
        self->kind = kind;
        if (kind != MEMORY_POOLED && kind != MEMORY_IPC) {
            pg_memory_made((PyObject *)self, size);
        }
    }
    return self;
}

/* Call when nothing uses it any more. */
static void give_back(Allocation *self) {
    CUdeviceptr ptr = self->ptr;
    self->ptr = 0;
    if (ptr == 0) {
        if (self->kind == MEMORY_ORDERED) {
            cud_ordered_forget(self);
        }
        return;
    }
    switch (self->kind) {
    case MEMORY_ORDERED:
        self->ptr = ptr;
        cud_ordered_free(self);
        self->ptr = 0;
        break;
    case MEMORY_IPC:
        self->ptr = ptr;
        cud_ipc_close(self);
        self->ptr = 0;
        break;
    case MEMORY_MANAGED:
        cud_memory_free(self->context, ptr);
        cud_context_drop_host_memory(self->context);
        break;
    default:
        cud_memory_free(self->context, ptr);
    }
}

void cud_unpin_last(Allocation *self) {
    if (self->kind == MEMORY_POOLED) {
        cud_pooled_free(self);
    } else {
        give_back(self);
    }
}

void cud_allocation_free(Allocation *self) {
    self->freed = 1;
    if (self->users == 0) {
        cud_unpin_last(self);
    }
}

int cud_allocation_traverse(PyObject *op, visitproc visit, void *arg) {
    Allocation *self = (Allocation *)op;
    CUD_VISIT(op);
    Py_VISIT((PyObject *)self->context);
    return self->usage != NULL ? cud_usage_visit(self->usage, visit, arg) : 0;
}

void cud_allocation_dealloc(PyObject *op) {
    Allocation *self = (Allocation *)op;
    pg_untrack(op, self->weakrefs);
    give_back(self);
    if (self->usage != NULL) {
        cud_usage_clear(self->usage);
        PyMem_Free(self->usage);
    }
    Py_XDECREF((PyObject *)self->context);
    cud_object_free(op);
}

int cud_allocation_alive(Allocation *self, const char *call) {
    if (PG_UNLIKELY(self->freed)) {
        cud_reject(self->state, call, CUDA_ERROR_INVALID_HANDLE, "the %s was already freed",
                   pg_type_name((PyObject *)self));
        return -1;
    }
    return PG_UNLIKELY(!self->context->alive) ? cud_context_check(self->context, call) : 0;
}

/* ---- methods --------------------------------------------------------------------------------- */

PyObject *cud_allocation_free_method(PyObject *op, const char *call) {
    Allocation *self = (Allocation *)op;
    if (self->freed) {
        return cud_reject(self->state, call, CUDA_ERROR_INVALID_HANDLE, "the %s was already freed",
                          pg_type_name(op));
    }
    if (cud_launch_deferred(self, call) < 0) { /* a deferred launch may use this memory */
        return NULL;
    }
    cud_allocation_free(self);
    Py_RETURN_NONE;
}

static PyObject *DeviceAllocation_free(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return cud_allocation_free_method(op, "DeviceAllocation.free");
}

static PyObject *DeviceAllocation_index(PyObject *op) {
    Allocation *self = (Allocation *)op;
    return cud_allocation_expose(self, "DeviceAllocation.__int__") < 0
               ? NULL
               : PyLong_FromUnsignedLongLong(self->ptr);
}

static PyObject *DeviceAllocation_long(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return DeviceAllocation_index(op);
}

static PyObject *DeviceAllocation_repr(PyObject *op) {
    Allocation *self = (Allocation *)op;
    if (self->freed) {
        return PyUnicode_FromFormat("<%s freed>", pg_type_name(op));
    }
    return PyUnicode_FromFormat("<%s of %zu bytes at %p>", pg_type_name(op), self->size,
                                (void *)(uintptr_t)self->ptr);
}

static PyObject *DeviceAllocation_as_buffer(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                            PyObject *kwnames) {
    Allocation *self = (Allocation *)op;
    const char *call = "DeviceAllocation.as_buffer";
    return cud_allocation_expose(self, call) < 0
               ? NULL
               : cud_view(self->state, op, self, self->ptr, self->size, call, args, nargs, kwnames);
}

extern PyMethodDef cud_dlpack_methods[]; /* dlpack.c */
PyObject *cud_dlpack(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *cud_dlpack_device(PyObject *op, PyObject *ignored);
PyObject *cud_get_array_interface(PyObject *op, void *closure);
extern const char cud_dlpack__doc__[];

static PyMethodDef DeviceAllocation_methods[] = {
    PG_NO_PICKLE,
    {"free", DeviceAllocation_free, METH_NOARGS,
     "free($self, /)\n--\n\n() -> None\n\nFree the memory now. Any later use raises an error; work "
     "queued before still completes."},
    {"as_buffer", FAST(DeviceAllocation_as_buffer),
     "as_buffer($self, size, offset=0)\n--\n\n(size: int, offset: int = 0) -> memoryview\n\n"
     "The memory as a writable buffer of *size* bytes from *offset* on, for libraries that take "
     "device addresses in this form (CUDA-aware MPI). Only managed memory may be read or written "
     "through it: anything else crashes the process. "
     "Raises LogicError past the end."},
    {"__long__", DeviceAllocation_long, METH_NOARGS,
     "__long__($self, /)\n--\n\n() -> int\n\nThe address."},
    {"__dlpack__", FAST(cud_dlpack), cud_dlpack__doc__},
    {"__dlpack_device__", cud_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\n() -> tuple[int, int]\n\nDLPack's kind of device (2 CUDA, "
     "13 managed memory) and the device's number."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef DeviceAllocation_getset[] = {
    PG_FIELD("size", size, Allocation, size, "int: as asked for [bytes]"),
    {"__cuda_array_interface__", cud_get_array_interface, NULL,
     "dict[str, object]: version 3, one dimension of bytes, so that other libraries use the memory "
     "in place",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot DeviceAllocation_slots[] = {
    {Py_tp_doc,
     (void *)"Device memory, from mem_alloc(); freed when dropped. int() gives its address."},
    {Py_tp_dealloc, (void *)cud_allocation_dealloc},
    {Py_tp_traverse, (void *)cud_allocation_traverse},
    {Py_tp_repr, (void *)DeviceAllocation_repr},
    {Py_nb_int, (void *)DeviceAllocation_index},
    {Py_nb_index, (void *)DeviceAllocation_index},
    {Py_tp_methods, DeviceAllocation_methods},
    {Py_tp_getset, DeviceAllocation_getset},
    {0, NULL},
};
CUD_TYPE(DeviceAllocation, Allocation, Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);

/* ---- functions ------------------------------------------------------------------------------- */

static PyObject *allocate(State *state, size_t size) {
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    CUdeviceptr ptr = size > 0 ? cud_memory_alloc(state, size, size) : 0;
    Allocation *self = ptr != 0 || size == 0
                           ? cud_allocation_new(state, state->DeviceAllocationType, context, ptr,
                                                size, MEMORY_PLAIN)
                           : NULL;
    if (self == NULL && ptr != 0) {
        cud_memory_free(context, ptr);
    }
    Py_DECREF((PyObject *)context);
    return (PyObject *)self;
}

PG_DOC(mem_alloc__doc__, "mem_alloc", "bytes", "(bytes: int) -> DeviceAllocation",
       "Device memory of this many bytes in the current context, uninitialized; freed when "
       "dropped.\n\n"
       "Raises MemoryError if the device is out of memory even after a garbage collection and "
       "emptying all memory pools.");
PG_FUNCTION(mem_alloc, 1)
static PyObject *mem_alloc_impl(PyObject *module, PyObject *const *a) {
    size_t size;
    return pg_as_size(a[0], "mem_alloc", "bytes", &size) < 0
               ? NULL
               : allocate(PyModule_GetState(module), size);
}

PG_DOC(mem_alloc_like__doc__, "mem_alloc_like", "ary", "(ary: object) -> DeviceAllocation",
       "Device memory for as many bytes as the array has; nothing is copied.");
PG_FUNCTION(mem_alloc_like, 1)
static PyObject *mem_alloc_like_impl(PyObject *module, PyObject *const *a) {
    PyObject *array = a[0];
    PyObject *bytes = PyObject_GetAttrString(array, "nbytes");
    size_t size;
    if (bytes == NULL) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError,
                         "mem_alloc_like: ary must be an array (it needs nbytes), not %s",
                         pg_type_name(array));
        }
        return NULL;
    }
    int failed = pg_as_size(bytes, "mem_alloc_like", "ary.nbytes", &size) < 0;
    Py_DECREF(bytes);
    return failed ? NULL : allocate(PyModule_GetState(module), size);
}

PG_DOC(mem_alloc_pitch__doc__, "mem_alloc_pitch", "width, height, access_size",
       "(width: int, height: int, access_size: int) -> tuple[DeviceAllocation, int]",
       "Device memory for *height* rows of *width* bytes, and its pitch: the bytes from one row to "
       "the next, aligned so that kernels read rows quickly.\n\naccess_size: 4, 8 or 16 bytes, the "
       "most that a thread reads at once.");
PG_FUNCTION(mem_alloc_pitch, 3)
static PyObject *mem_alloc_pitch_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "mem_alloc_pitch";
    size_t width, height, size, pitch = 0;
    uint32_t access;
    if (pg_as_size(a[0], call, "width", &width) < 0 ||
        pg_as_size(a[1], call, "height", &height) < 0 ||
        pg_as_u32(a[2], call, "access_size", &access) < 0) {
        return NULL;
    }
    if (width == 0 || height == 0 || (access != 4 && access != 8 && access != 16)) {
        return cud_reject(
            state, "cuMemAllocPitch", CUDA_ERROR_INVALID_VALUE,
            "width = %zu and height = %zu must be positive, access_size = %u must be 4, 8 or 16",
            width, height, access);
    }
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    CUdeviceptr ptr = 0;
    CUresult status;
    int tries = 0, again;
    do {
        status = CUDA_SUCCESS;
        CU_NOGIL(status, cuMemAllocPitch, &ptr, &pitch, width, height, access);
        again = status == CUDA_SUCCESS ? 0 : cud_retry(state, status, &tries);
    } while (again == 1);
    Allocation *self = NULL;
    if (status == CUDA_SUCCESS) {
        cud_live[LIVE_MEM]++;
        self = pg_mul(pitch, height, &size) < 0
                   ? NULL
                   : cud_allocation_new(state, state->DeviceAllocationType, context, ptr, size,
                                        MEMORY_PLAIN);
        if (self == NULL) {
            cud_memory_free(context, ptr);
        }
    } else if (again == 0) {
        cud_raise_with(state, "cuMemAllocPitch", status, "asked for %zu rows of %zu bytes", height,
                       width);
    }
    Py_DECREF((PyObject *)context);
    return self != NULL ? Py_BuildValue("(Nn)", self, (Py_ssize_t)pitch) : NULL;
}

static PyObject *mem_get_info(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    State *state = PyModule_GetState(module);
    if (cud_context_ensure(state) < 0) {
        return NULL;
    }
    size_t unused = 0, total = 0;
    CUresult status = CUDA_SUCCESS;
    CU_NOGIL(status, cuMemGetInfo, &unused, &total);
    return status != CUDA_SUCCESS ? cud_raise(state, "cuMemGetInfo", status)
                                  : Py_BuildValue("(nn)", (Py_ssize_t)unused, (Py_ssize_t)total);
}

static PyObject *mem_get_address_range(PyObject *module, PyObject *obj) {
    State *state = PyModule_GetState(module);
    DevicePointer at;
    CUdeviceptr base = 0;
    size_t size = 0;
    CUresult status = CUDA_SUCCESS;
    if (cud_context_ensure(state) < 0 ||
        cud_device_pointer(state, obj, "mem_get_address_range", "ptr", &at) < 0) {
        return NULL;
    }
    CU_BESIDE(status, cuMemGetAddressRange, &base, &size, at.ptr);
    cud_device_release(&at);
    return status != CUDA_SUCCESS
               ? cud_raise(state, "cuMemGetAddressRange", status)
               : Py_BuildValue("(Kn)", (unsigned long long)base, (Py_ssize_t)size);
}

PyMethodDef cud_memory_functions[] = {
    {"mem_alloc", FAST(mem_alloc), mem_alloc__doc__},
    {"mem_alloc_like", FAST(mem_alloc_like), mem_alloc_like__doc__},
    {"mem_alloc_pitch", FAST(mem_alloc_pitch), mem_alloc_pitch__doc__},
    {"mem_get_info", mem_get_info, METH_NOARGS,
     "mem_get_info()\n--\n\n() -> tuple[int, int]\n\nFree and total memory of the current device "
     "[bytes]."},
    {"mem_get_address_range", mem_get_address_range, METH_O,
     "mem_get_address_range(ptr, /)\n--\n\n(ptr: object, /) -> tuple[int, int]\n\nStart and size "
     "[bytes] of the allocation that contains the address."},
    {NULL, NULL, 0, NULL},
};
