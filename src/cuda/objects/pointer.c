/* pointer.c - device addresses: which objects calls accept as one, how much memory follows it,
 * PointerHolderBase, views. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/lifetime/usage.h"
#include "cuda/memory.h"
#include "cuda/objects/pointer.h"

/* The allocation that is the base of an ndarray, or NULL. Borrowed. */
static Allocation *managed_base(State *state, PyObject *array) {
    for (int depth = 0; depth < 64 && array != NULL; depth++) {
        if (PyObject_TypeCheck(array, state->ManagedAllocationType)) {
            return (Allocation *)array;
        }
        array = PyArray_Check(array) ? PyArray_BASE((PyArrayObject *)array) : NULL;
    }
    return NULL;
}

/* An address as a number. */
static int from_integer(PyObject *obj, const char *call, const char *name, DevicePointer *out) {
    uint64_t address;
    if (pg_as_u64(obj, call, name, &address) < 0) {
        return -1;
    }
    out->ptr = address;
    out->size = address != 0 ? cud_bytes_at(address, 0) : 0;
    out->allocation = NULL;
    return 0;
}

static int from_allocation(Allocation *self, const char *call, DevicePointer *out) {
    if (cud_allocation_alive(self, call) < 0) {
        return -1;
    }
    out->ptr = self->ptr;
    out->size = self->size;
    out->allocation = (Allocation *)Py_NewRef((PyObject *)self);
    return 0;
}

/* The first number of __cuda_array_interface__["data"]. */
static int from_interface(PyObject *interface, const char *call, const char *name,
                          DevicePointer *out) {
    PyObject *key = PyUnicode_FromString("data"),
             *data = key != NULL && PyDict_Check(interface)
                         ? PyDict_GetItemWithError(interface, key)
                         : NULL;
    Py_XDECREF(key);
    if (PyErr_Occurred()) {
        return -1;
    }
    PyObject *first = data != NULL && PyTuple_Check(data) && PyTuple_GET_SIZE(data) > 0
                          ? PyTuple_GET_ITEM(data, 0)
                          : NULL;
    if (first == NULL || !PyIndex_Check(first)) {
        PyErr_Format(PyExc_TypeError,
                     "%s: the __cuda_array_interface__ of %s has no address in \"data\"", call,
                     name);
        return -1;
    }
    Py_INCREF(first); /* the __index__ of a number may change the dict */
    int result = from_integer(first, call, name, out);
    Py_DECREF(first);
    return result;
}

static PyObject *attribute(PyObject *obj, const char *name) {
    PyObject *value = PyObject_GetAttrString(obj, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
    }
    return value;
}

static int find(State *state, PyObject *obj, const char *call, const char *name, DevicePointer *out,
                int depth);

/* The result of a method or an attribute. */
static int find_in(State *state, PyObject *value, const char *call, const char *name,
                   DevicePointer *out, int depth) {
    int result = depth > 8 ? -1 : find(state, value, call, name, out, depth + 1);
    if (depth > 8) {
        PyErr_Format(PyExc_TypeError, "%s: %s leads from object to object without an address", call,
                     name);
    }
    Py_DECREF(value);
    return result;
}

static int find(State *state, PyObject *obj, const char *call, const char *name, DevicePointer *out,
                int depth) {
    if (cud_is_allocation(state, obj)) {
        return from_allocation((Allocation *)obj, call, out);
    }
    if (PyLong_Check(obj)) {
        return from_integer(obj, call, name, out);
    }
    PyObject *value;
    if (PyObject_TypeCheck(obj, state->PointerHolderBaseType)) {
        value = PyObject_CallMethod(obj, "get_pointer", NULL);
        return value == NULL ? -1 : find_in(state, value, call, name, out, depth);
    }
    if (PyArray_Check(obj)) {
        Allocation *managed = managed_base(state, obj);
        if (managed != NULL && from_allocation(managed, call, out) == 0) {
            out->ptr = (CUdeviceptr)(uintptr_t)PyArray_DATA((PyArrayObject *)obj);
            size_t offset = (size_t)(out->ptr - managed->ptr);
            out->size = offset <= managed->size ? managed->size - offset : 0;
            return 0;
        }
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError,
                         "%s: %s must be device memory, and this ndarray is in host memory", call,
                         name);
        }
        return -1;
    }
    if ((value = attribute(obj, "gpudata")) != NULL && value != Py_None) {
        return find_in(state, value, call, name, out, depth);
    }
    Py_XDECREF(value);
    if (PyErr_Occurred()) {
        return -1;
    }
    if ((value = attribute(obj, "__cuda_array_interface__")) != NULL) {
        int result = from_interface(value, call, name, out);
        Py_DECREF(value);
        return result;
    }
    if (PyErr_Occurred()) {
        return -1;
    }
    if (PyIndex_Check(obj)) {
        return from_integer(obj, call, name, out);
    }
    if ((value = attribute(obj, "ptr")) != NULL) {
        return find_in(state, value, call, name, out, depth);
    }
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_TypeError,
                     "%s: %s must be device memory (a DeviceAllocation, an address, an array of "
                     "the device), not %s",
                     call, name, pg_type_name(obj));
    }
    return -1;
}

int cud_device_pointer(State *state, PyObject *obj, const char *call, const char *name,
                       DevicePointer *out) {
    if (Py_IS_TYPE(obj, state->DeviceAllocationType) && !((Allocation *)obj)->freed &&
        ((Allocation *)obj)->context->alive) {
        out->ptr = ((Allocation *)obj)->ptr;
        out->size = ((Allocation *)obj)->size;
        out->allocation = (Allocation *)Py_NewRef(obj);
        return 0;
    }
    return find(state, obj, call, name, out, 0);
}

int cud_check_range(State *state, const char *call, const char *name, DevicePointer *at, size_t n) {
    if (n <= at->size) {
        return 0;
    }
    if (at->ptr == 0) {
        cud_reject(state, call, CUDA_ERROR_INVALID_VALUE,
                   "%s is the address 0, which is not memory", name);
        return -1;
    }
    if (at->allocation == NULL) {
        at->size = cud_bytes_at(at->ptr, n);
    }
    if (n > at->size) {
        cud_reject(state, call, CUDA_ERROR_INVALID_VALUE,
                   "%zu bytes end past the %zu that %s has at %p", n, at->size, name,
                   (void *)(uintptr_t)at->ptr);
        return -1;
    }
    return 0;
}

int cud_device_range(State *state, PyObject *obj, const char *call, const char *name, size_t n,
                     DevicePointer *out) {
    if (cud_device_pointer(state, obj, call, name, out) < 0) {
        return -1;
    }
    if (cud_check_range(state, call, name, out, n) < 0) {
        cud_device_release(out);
        return -1;
    }
    return 0;
}

int cud_launch_deferred(Allocation *self, const char *call) {
    if (PG_UNLIKELY(pg_trap & PG_TRAP_DEFERRED) && pg_flush != NULL) {
        CUresult status = (CUresult)pg_flush();
        if (status != CUDA_SUCCESS) {
            cud_raise(self->state, call, status);
            return -1;
        }
    }
    return 0;
}

int cud_allocation_expose(Allocation *self, const char *call) {
    if (cud_allocation_alive(self, call) < 0 ||
        (self->usage != NULL && !self->usage->exposed &&
         cud_usage_expose(self->state, self->usage, self->context) < 0)) {
        return -1;
    }
    return cud_launch_deferred(self, call); /* from now on the memory may be read without calling
                                             * us */
}

/* ---- views ----------------------------------------------------------------------------------- */

/* The owner of a memoryview of device memory. */
typedef struct {
    CUD_HEAD
    PyObject *owner;
    Allocation *allocation; /* pinned, or NULL */
    CUdeviceptr ptr;
    size_t size;
} View;

static int DeviceView_getbuffer(PyObject *op, Py_buffer *view, int flags) {
    View *self = (View *)op;
    return PyBuffer_FillInfo(view, op, (void *)(uintptr_t)self->ptr, (Py_ssize_t)self->size, 0,
                             flags);
}

static int DeviceView_traverse(PyObject *op, visitproc visit, void *arg) {
    CUD_VISIT(op);
    Py_VISIT(((View *)op)->owner);
    Py_VISIT((PyObject *)((View *)op)->allocation);
    return 0;
}

static void DeviceView_dealloc(PyObject *op) {
    View *self = (View *)op;
    pg_untrack(op, self->weakrefs);
    cud_unpin(self->allocation);
    Py_XDECREF((PyObject *)self->allocation);
    Py_XDECREF(self->owner);
    cud_object_free(op);
}

static PyType_Slot DeviceView_slots[] = {
    {Py_tp_doc, (void *)"The object behind the memoryview of as_buffer()."},
    {Py_tp_dealloc, (void *)DeviceView_dealloc},
    {Py_tp_traverse, (void *)DeviceView_traverse},
    {Py_bf_getbuffer, (void *)DeviceView_getbuffer},
    {0, NULL},
};
CUD_TYPE(DeviceView, View, Py_TPFLAGS_DISALLOW_INSTANTIATION);

PG_DOC(as_buffer__doc__, "as_buffer", "$self, size, offset=0",
       "(size: int, offset: int = 0) -> memoryview", "");
static ArgSpec as_buffer_args = PG_ARGSPEC(as_buffer__doc__);

PyObject *cud_view(State *state, PyObject *owner, Allocation *allocation, CUdeviceptr ptr,
                   size_t room, const char *call, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames) {
    PyObject *a[2];
    size_t size, offset = 0;
    if (pg_args(&as_buffer_args, args, nargs, kwnames, a) < 0 ||
        pg_as_size(a[0], call, "size", &size) < 0 ||
        (a[1] != NULL && pg_as_size(a[1], call, "offset", &offset) < 0) ||
        (allocation != NULL &&
         cud_allocation_alive(allocation, call) < 0)) { /* the __index__ of a number may have freed
                                                         * it */
        return NULL;
    }
    if (allocation == NULL && (offset > room || size > room - offset) &&
        size <= SIZE_MAX - offset) {
        room = cud_bytes_at(ptr, offset + size);
    }
    if (offset > room || size > room - offset) {
        return cud_reject(state, call, CUDA_ERROR_INVALID_VALUE,
                          "%zu bytes at offset %zu end past the %zu of the memory", size, offset,
                          room);
    }
    View *self = (View *)PG_NEW(state->DeviceViewType);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->owner = Py_NewRef(owner);
    self->allocation = (Allocation *)Py_XNewRef((PyObject *)allocation);
    cud_pin(allocation);
    self->ptr = ptr + offset;
    self->size = size;
    PyObject *view = PyMemoryView_FromObject((PyObject *)self);
    Py_DECREF(self);
    return view;
}

/* ---- PointerHolderBase ----------------------------------------------------------------------- */

static PyObject *PointerHolderBase_get_pointer(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return PyErr_Format(PyExc_NotImplementedError,
                        "%s.get_pointer: a subclass of PointerHolderBase must define it and return "
                        "the device address",
                        pg_type_name(op));
}

static PyObject *PointerHolderBase_index(PyObject *op) {
    PyObject *pointer = PyObject_CallMethod(op, "get_pointer", NULL),
             *index = pointer != NULL ? PyNumber_Index(pointer) : NULL;
    Py_XDECREF(pointer);
    return index;
}

static PyObject *PointerHolderBase_long(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return PointerHolderBase_index(op);
}

static PyObject *PointerHolderBase_as_buffer(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                             PyObject *kwnames) {
    State *state = ((CudObject *)op)->state;
    const char *call = "PointerHolderBase.as_buffer";
    DevicePointer at;
    if (cud_context_ensure(state) < 0 || find(state, op, call, "get_pointer()", &at, 0) < 0) {
        return NULL;
    }
    PyObject *view =
        at.allocation != NULL && cud_allocation_expose(at.allocation, call) < 0
            ? NULL
            : cud_view(state, op, at.allocation, at.ptr, at.size, call, args, nargs, kwnames);
    cud_device_release(&at);
    return view;
}

static PyMethodDef PointerHolderBase_methods[] = {
    {"get_pointer", PointerHolderBase_get_pointer, METH_NOARGS,
     "get_pointer($self, /)\n--\n\n() -> int\n\nThe device address; for subclasses to define."},
    {"as_buffer", FAST(PointerHolderBase_as_buffer),
     "as_buffer($self, size, offset=0)\n--\n\n(size: int, offset: int = 0) -> memoryview\n\n"
     "The memory as a buffer of *size* bytes from *offset* on; see DeviceAllocation.as_buffer()."},
    {"__long__", PointerHolderBase_long, METH_NOARGS,
     "__long__($self, /)\n--\n\n() -> int\n\nThe address."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot PointerHolderBase_slots[] = {
    {Py_tp_doc, (void *)"Base for your own classes that represent device memory: define "
                        "get_pointer(), and calls and kernels accept their instances."},
    {Py_tp_new, (void *)cud_object_new},
    {Py_tp_dealloc, (void *)cud_object_dealloc},
    {Py_tp_traverse, (void *)cud_object_traverse},
    {Py_nb_int, (void *)PointerHolderBase_index},
    {Py_nb_index, (void *)PointerHolderBase_index},
    {Py_tp_methods, PointerHolderBase_methods},
    {0, NULL},
};
CUD_TYPE(PointerHolderBase, CudObject, Py_TPFLAGS_BASETYPE);
