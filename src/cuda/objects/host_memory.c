/* host_memory.c - host memory known to the driver: page-locked, aligned, registered. These objects
 * are the base of the arrays over it.
 *
 * After free() the returned array is made empty, so that it cannot access memory that is gone.
 * Earlier views of it cannot be found. They keep the array, and thereby this object, alive, and
 * the memory is freed together with this object. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/host_array.h"
#include "cuda/host_memory.h"
#include "cuda/objects/managed.h"

static void release(HostMemory *self) {
    ContextGuard guard;
    CUresult status;
    void *data = self->data;
    self->data = NULL;
    if (data == NULL || self->kind == HOST_ALIGNED) {
        PyMem_RawFree(self->allocated);
        self->allocated = NULL;
        return;
    }
    if (self->kind == HOST_POOLED) {
        cud_host_block_return(self, data);
        return;
    }
    cud_live[LIVE_HOST]--;
    if (cud_context_enter_free(self->context, &guard, &status) == 0) {
        if (self->kind == HOST_PAGELOCKED) {
            CU_NOGIL(status, cuMemFreeHost, data);
        }
        for (int tries = 0; self->kind == HOST_REGISTERED && tries < 2;
             tries++) { /* if it stayed locked, the memory could never be locked again */
            CU_NOGIL(status, cuMemHostUnregister, data);
            if (status == CUDA_SUCCESS) {
                break;
            }
        }
        cud_context_leave(&guard);
    }
    if (self->kind == HOST_PAGELOCKED) {
        cud_context_drop_host_memory(self->context);
    }
}

static int HostPointer_traverse(PyObject *op, visitproc visit, void *arg) {
    HostMemory *self = (HostMemory *)op;
    CUD_VISIT(op);
    Py_VISIT(self->owner);
    Py_VISIT((PyObject *)self->context);
    return 0; /* no tp_clear, because the device may be using the owner's memory */
}

void cud_host_memory_dealloc(PyObject *op) {
    HostMemory *self = (HostMemory *)op;
    pg_untrack(op, self->weakrefs);
    release(self);
    PyMem_Free(self->scalar);
    Py_XDECREF(self->array);
    Py_XDECREF((PyObject *)self->context);
    Py_XDECREF(self->owner);
    cud_object_free(op);
}

HostMemory *cud_host_memory_new(State *state, PyTypeObject *type, int kind, Context *context) {
    HostMemory *self = (HostMemory *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
        self->kind = kind;
        self->context = (Context *)Py_XNewRef((PyObject *)context);
    }
    return self;
}

static int alive(HostMemory *self, const char *call) {
    if (self->freed) {
        cud_reject(self->state, call, CUDA_ERROR_INVALID_HANDLE, "the %s was already freed",
                   pg_type_name((PyObject *)self));
        return -1;
    }
    return self->context != NULL ? cud_context_check(self->context, call) : 0;
}

static PyObject *HostPointer_get_device_pointer(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    HostMemory *self = (HostMemory *)op;
    CUdeviceptr ptr = 0;
    CUresult status = CUDA_SUCCESS;
    Context *context =
        alive(self, "HostPointer.get_device_pointer") < 0 ? NULL : cud_context_current(self->state);
    if (context == NULL) {
        return NULL;
    }
    CU_BESIDE(status, cuMemHostGetDevicePointer, &ptr, self->data, 0);
    Py_DECREF((PyObject *)context);
    return status != CUDA_SUCCESS ? cud_raise(self->state, "cuMemHostGetDevicePointer", status)
                                  : PyLong_FromUnsignedLongLong(ptr);
}

PyObject *cud_host_memory_free(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    HostMemory *self = (HostMemory *)op;
    if (self->freed) {
        return cud_reject(self->state, "HostPointer.free", CUDA_ERROR_INVALID_HANDLE,
                          "the %s was already freed", pg_type_name(op));
    }
    PyArrayObject *array = pg_revocable_array(self->array);
    if (array == NULL) {
        self->freed = 1;
        release(self);
        Py_RETURN_NONE;
    }
    int axes = PyArray_NDIM(array);
    Py_DECREF(array);
    if (axes == 0 && (self->scalar = PyMem_Calloc(1, self->size > 0 ? self->size : 1)) == NULL) {
        return PyErr_NoMemory(); /* a 0-d array needs memory for its item */
    }
    self->freed = 1;
    pg_revoke_array(self->array, self->scalar);
    Py_RETURN_NONE;
}

static PyObject *HostPointer_repr(PyObject *op) {
    HostMemory *self = (HostMemory *)op;
    return self->freed ? PyUnicode_FromFormat("<%s freed>", pg_type_name(op))
                       : PyUnicode_FromFormat("<%s of %zu bytes at %p>", pg_type_name(op),
                                              self->size, self->data);
}

static PyObject *Pagelocked_get_flags(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    HostMemory *self = (HostMemory *)op;
    unsigned int flags = 0;
    CUresult status = CUDA_SUCCESS;
    Context *context = alive(self, "PagelockedHostAllocation.get_flags") < 0
                           ? NULL
                           : cud_context_current(self->state);
    if (context == NULL) {
        return NULL;
    }
    CU_BESIDE(status, cuMemHostGetFlags, &flags, self->data);
    Py_DECREF((PyObject *)context);
    return status != CUDA_SUCCESS ? cud_raise(self->state, "cuMemHostGetFlags", status)
                                  : PyLong_FromUnsignedLong(flags);
}

static PyObject *Registered_unregister(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    HostMemory *self = (HostMemory *)op;
    const char *call = "RegisteredHostMemory.unregister";
    ContextGuard guard;
    CUresult status;
    if (alive(self, call) < 0) {
        return NULL;
    }
    if (cud_context_enter(self->context, &guard, &status) < 0) {
        return cud_raise(self->state, call, status);
    }
    self->freed = 1;
    int failed = cud_wait_context(self->state, call) < 0; /* copies of it may be in progress */
    cud_context_leave(&guard);
    if (failed) {
        self->freed = 0;
        return NULL;
    }
    release(self);
    Py_RETURN_NONE;
}

#define FREE_DOC                                                                                  \
    "free($self, /)\n--\n\n() -> None\n\nEnd its use: the array is empty from now on, any other " \
    "use raises. The memory goes as soon as no view of the array is left."

static PyMethodDef HostPointer_methods[] = {
    PG_NO_PICKLE,
    {"get_device_pointer", HostPointer_get_device_pointer, METH_NOARGS,
     "get_device_pointer($self, /)\n--\n\n() -> int\n\nThe address at which kernels access the "
     "memory.\n\nRaises LogicError if it is not page-locked."},
    {NULL, NULL, 0, NULL},
};
static PyMethodDef Pagelocked_methods[] = {
    {"free", cud_host_memory_free, METH_NOARGS, FREE_DOC},
    {"get_flags", Pagelocked_get_flags, METH_NOARGS,
     "get_flags($self, /)\n--\n\n() -> int\n\nThe host_alloc_flags that it has."},
    {NULL, NULL, 0, NULL},
};
static PyMethodDef Aligned_methods[] = {{"free", cud_host_memory_free, METH_NOARGS, FREE_DOC},
                                        {NULL, NULL, 0, NULL}};
static PyMethodDef Registered_methods[] = {
    {"unregister", Registered_unregister, METH_NOARGS,
     "unregister($self, /)\n--\n\n() -> None\n\nWait for the device, and turn the memory back into "
     "ordinary memory. The array stays valid."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef HostPointer_getset[] = {PG_FIELD("size", size, HostMemory, size, "int: [bytes]"),
                                           {NULL, NULL, NULL, NULL, NULL}};

#define HOST_FLAGS (CUD_FLAGS | Py_TPFLAGS_DISALLOW_INSTANTIATION)
static PyType_Slot HostPointer_slots[] = {
    {Py_tp_doc, (void *)"Host memory that the driver knows; the base of the arrays of "
                        "pagelocked_empty() and similar functions."},
    {Py_tp_traverse, (void *)HostPointer_traverse},
    {Py_tp_dealloc, (void *)cud_host_memory_dealloc},
    {Py_tp_repr, (void *)HostPointer_repr},
    {Py_tp_methods, HostPointer_methods},
    {Py_tp_getset, HostPointer_getset},
    {0, NULL},
};
CUD_TYPE(HostPointer, HostMemory, HOST_FLAGS | Py_TPFLAGS_BASETYPE);

#define KIND(Name, table, doc)                                                             \
    static PyType_Slot Name##_slots[] = {{Py_tp_doc, (void *)doc},                         \
                                         {Py_tp_traverse, (void *)HostPointer_traverse},   \
                                         {Py_tp_dealloc, (void *)cud_host_memory_dealloc}, \
                                         {Py_tp_methods, table},                           \
                                         {0, NULL}};                                       \
    CUD_TYPE(Name, HostMemory, HOST_FLAGS)

KIND(PagelockedHostAllocation, Pagelocked_methods,
     "Page-locked host memory, which the device copies without the processor's help.");
KIND(AlignedHostAllocation, Aligned_methods,
     "Ordinary host memory that begins at a multiple of its alignment.");
KIND(RegisteredHostMemory, Registered_methods,
     "An array's memory, page-locked by register_host_memory() until it is unregistered or "
     "dropped.");

/* ---- functions ------------------------------------------------------------------------------- */

static PyObject *over(HostMemory *self, PgArrayLayout *layout) {
    self->size = layout->size;
    PyObject *array = cud_array_over((PyObject *)self, layout, self->data, &self->array);
    Py_DECREF(self);
    return array;
}

/* Takes over layout->dtype, as all of these do. */
static PyObject *new_pagelocked(State *state, PgArrayLayout *layout, PyObject *flags_arg,
                                const char *call) {
    uint32_t flags = 0;
    Context *context = flags_arg != NULL && pg_as_u32(flags_arg, call, "mem_flags", &flags) < 0
                           ? NULL
                           : cud_context_current(state);
    HostMemory *self = context != NULL
                           ? cud_host_memory_new(state, state->PagelockedHostAllocationType,
                                                 HOST_PAGELOCKED, context)
                           : NULL;
    Py_XDECREF((PyObject *)context);
    if (self == NULL ||
        (self->data = cud_host_alloc(context, layout->size, layout->size, flags)) == NULL) {
        Py_XDECREF((PyObject *)self);
        Py_CLEAR(layout->dtype);
        return NULL;
    }
    return over(self, layout);
}

void *cud_host_alloc(Context *context, size_t size, size_t asked, unsigned int flags) {
    State *state = context->state;
    void *data = NULL;
    cud_context_add_host_memory(context);
    CUresult status;
    int tries = 0, again;
    size_t room;
    do {
        status = CUDA_SUCCESS;
        room = cud_host_available(size);
        if (size > room) {
            status = CUDA_ERROR_OUT_OF_MEMORY;
            again = cud_retry(state, status, &tries);
            continue;
        }
        CU_NOGIL(status, cuMemHostAlloc, &data, size > 0 ? size : 1, flags);
        again = status == CUDA_SUCCESS ? 0 : cud_retry(state, status, &tries);
    } while (again == 1);
    if (status != CUDA_SUCCESS) {
        if (again == 0) {
            if (size > room) {
                cud_raise_with(
                    state, "cuMemHostAlloc", status,
                    "asked for %zu bytes of page-locked memory, but the machine has %zu left",
                    asked, room);
            } else {
                cud_raise_with(state, "cuMemHostAlloc", status, "asked for %zu bytes", asked);
            }
        }
        cud_context_drop_host_memory(context);
        return NULL;
    }
    cud_live[LIVE_HOST]++;
    return data;
}

static PyObject *new_aligned(State *state, PgArrayLayout *layout, PyObject *alignment_arg,
                             const char *call) {
    size_t alignment = 4096, size;
    HostMemory *self = NULL;
    if (alignment_arg != NULL && pg_as_size(alignment_arg, call, "alignment", &alignment) < 0) {
        goto fail;
    }
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        cud_reject(state, call, CUDA_ERROR_INVALID_VALUE, "alignment = %zu must be a power of two",
                   alignment);
        goto fail;
    }
    self = cud_host_memory_new(state, state->AlignedHostAllocationType, HOST_ALIGNED, NULL);
    if (self == NULL) {
        goto fail;
    }
    self->allocated = pg_add(layout->size, alignment, &size) < 0 ? NULL : PyMem_RawMalloc(size);
    if (self->allocated == NULL) {
        PyErr_NoMemory();
        goto fail;
    }
    self->data =
        (void *)(((uintptr_t)self->allocated + alignment - 1) & ~(uintptr_t)(alignment - 1));
    return over(self, layout);
fail:
    Py_XDECREF((PyObject *)self);
    Py_CLEAR(layout->dtype);
    return NULL;
}

typedef PyObject *(*Make)(State *state, PgArrayLayout *layout, PyObject *last, const char *call);

/* Arguments: shape, dtype, order and a last one; or array and a last one. */
static PyObject *make_array(PyObject *module, ArgSpec *spec, PyObject *const *args,
                            Py_ssize_t nargs, PyObject *kwnames, Make make, int like, int zero) {
    PyObject *a[4] = {NULL, NULL, NULL, NULL};
    PgArrayLayout layout;
    if (pg_args(spec, args, nargs, kwnames, a) < 0 ||
        (like ? cud_array_layout_like(spec->function, a[0], &layout)
              : cud_array_layout(spec->function, a[0], a[1], a[2], &layout)) < 0) {
        return NULL;
    }
    PyObject *array = make(PyModule_GetState(module), &layout, like ? a[1] : a[3], spec->function);
    if (array != NULL && zero) {
        cud_array_zero(array);
    }
    return array;
}

#define FAMILY(prefix, make, last, last_type, text)                                        \
    MEMBER(prefix##_empty, "shape, dtype, order=\"C\", " last,                             \
           "(shape: int | Sequence[int], dtype: DTypeLike, order: str = \"C\", " last_type \
           ") -> NDArray[Any]",                                                            \
           "A new array in " text, make, 0, 0)                                             \
    MEMBER(prefix##_zeros, "shape, dtype, order=\"C\", " last,                             \
           "(shape: int | Sequence[int], dtype: DTypeLike, order: str = \"C\", " last_type \
           ") -> NDArray[Any]",                                                            \
           "A new array of zeros in " text, make, 0, 1)                                    \
    MEMBER(prefix##_empty_like, "array, " last,                                            \
           "(array: NDArray[Any], " last_type ") -> NDArray[Any]",                         \
           "A new array of another's shape, dtype and order in " text, make, 1, 0)         \
    MEMBER(prefix##_zeros_like, "array, " last,                                            \
           "(array: NDArray[Any], " last_type ") -> NDArray[Any]",                         \
           "A new array of zeros, of another's shape, dtype and order, in " text, make, 1, 1)
#define MEMBER(function, arguments, typed, text, make, like, zero)                           \
    PG_DOC(function##__doc__, #function, arguments, typed, text);                            \
    static ArgSpec function##_args = PG_ARGSPEC(function##__doc__);                          \
    static PyObject *function(PyObject *module, PyObject *const *args, Py_ssize_t nargs,     \
                              PyObject *kwnames) {                                           \
        return make_array(module, &function##_args, args, nargs, kwnames, make, like, zero); \
    }

FAMILY(pagelocked, new_pagelocked, "mem_flags=0", "mem_flags: int = 0",
       "page-locked host memory, uninitialized unless said otherwise: copies to and from it are "
       "fast and overlap with other work.\n\n"
       "mem_flags: host_alloc_flags added with |. Its base is a PagelockedHostAllocation. Raises "
       "MemoryError if there is not enough memory.")
FAMILY(aligned, new_aligned, "alignment=4096", "alignment: int = 4096",
       "host memory that begins at a multiple of *alignment* bytes, as register_host_memory() "
       "prefers.\n\n"
       "alignment: a power of two. Its base is an AlignedHostAllocation.")
FAMILY(managed, cud_new_managed, "mem_flags=1", "mem_flags: int = 1",
       "managed memory, which host and device use at the same address.\n\n"
       "mem_flags: mem_attach_flags.GLOBAL (any stream; the default, also for 0) or HOST. Its base "
       "is a ManagedAllocation. If the device has no concurrent managed access, the host must not "
       "access it while any kernel runs.")

PG_DOC(register_host_memory__doc__, "register_host_memory", "ary, flags=0",
       "(ary: NDArray[Any], flags: int = 0) -> NDArray[Any]",
       "Page-lock the memory of an array, in place, and return an array over it whose base is a "
       "RegisteredHostMemory.\n\n"
       "flags: mem_host_register_flags added with |. It stays page-locked until that array is "
       "dropped or its base unregistered.\n"
       "Raises ValueError unless ary is contiguous and has bytes.");
PG_FUNCTION(register_host_memory, 2)
static PyObject *register_host_memory_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "register_host_memory";
    uint32_t flags = 0;
    if ((a[1] != NULL && pg_as_u32(a[1], call, "flags", &flags) < 0)) {
        return NULL;
    }
    if (!PyArray_Check(a[0])) {
        return cud_reject_type(state, call, "ary must be an ndarray, not %s", pg_type_name(a[0]));
    }
    PyArrayObject *array = (PyArrayObject *)a[0];
    if ((!PyArray_IS_C_CONTIGUOUS(array) && !PyArray_IS_F_CONTIGUOUS(array)) ||
        PyArray_NBYTES(array) == 0 || PyDataType_REFCHK(PyArray_DESCR(array))) {
        return cud_reject(state, call, CUDA_ERROR_INVALID_VALUE, "ary %s",
                          PyArray_NBYTES(array) == 0 ? "is empty"
                          : PyDataType_REFCHK(PyArray_DESCR(array))
                              ? "holds Python objects, which a device cannot use"
                              : "is not contiguous");
    }
    Context *context = cud_context_current(state);
    HostMemory *self = context != NULL ? cud_host_memory_new(state, state->RegisteredHostMemoryType,
                                                             HOST_REGISTERED, context)
                                       : NULL;
    Py_XDECREF((PyObject *)context);
    if (self == NULL) {
        return NULL;
    }
    self->owner = Py_NewRef(a[0]);
    self->size = (size_t)PyArray_NBYTES(array);
    CUresult status = CUDA_SUCCESS;
    void *data = PyArray_DATA(array);
    CU_NOGIL(status, cuMemHostRegister, data, self->size, flags);
    if (status != CUDA_SUCCESS) {
        Py_DECREF(self);
        return cud_raise(state, "cuMemHostRegister", status);
    }
    self->data = data;
    cud_live[LIVE_HOST]++;
    PyArray_Descr *dtype = (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(array));
    PyObject *result = PyArray_NewFromDescr(&PyArray_Type, dtype, PyArray_NDIM(array),
                                            PyArray_DIMS(array), PyArray_STRIDES(array), data,
                                            PyArray_FLAGS(array) & ~NPY_ARRAY_OWNDATA, NULL);
    if (result != NULL &&
        PyArray_SetBaseObject((PyArrayObject *)result, Py_NewRef((PyObject *)self)) < 0) {
        Py_CLEAR(result);
    }
    Py_DECREF(self);
    return result;
}

#define ROW(name) \
    { #name, FAST(name), name##__doc__ }
PyMethodDef cud_host_memory_functions[] = {
    ROW(pagelocked_empty),      ROW(pagelocked_zeros),   ROW(pagelocked_empty_like),
    ROW(pagelocked_zeros_like), ROW(aligned_empty),      ROW(aligned_zeros),
    ROW(aligned_empty_like),    ROW(aligned_zeros_like), ROW(managed_empty),
    ROW(managed_zeros),         ROW(managed_empty_like), ROW(managed_zeros_like),
    ROW(register_host_memory),  {NULL, NULL, 0, NULL},
};
