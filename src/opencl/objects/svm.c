/* svm.c - SVMPointer and SVM: addresses shared by the host and devices.
 *
 * Shared virtual memory is owned, and freed, by a capsule (svm_allocation.c) or by a pool's block.
 * The objects here only decide when to release it: not before the commands on the queues in its
 * usage have completed, and not while arrays view it. */
#include "opencl/api/roles.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/usage.h"
#include "opencl/objects/repr.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"
#include "opencl/queue.h"
#include "opencl/svm.h"

/* The object that owns the memory: an SVM around an array in an allocation counts as that
 * allocation. */
static Svm *Svm_owner(Svm *self) {
    return self->base != NULL ? self->base : self;
}

static int Svm_alive(Svm *self, const char *call) {
    if (PG_UNLIKELY(Svm_owner(self)->pointer == NULL)) {
        ocl_reject(self->state, call, CL_INVALID_VALUE, "the %s was released",
                   pg_type_name((PyObject *)Svm_owner(self)));
        return -1;
    }
    return 0;
}

int ocl_svm_pointer(State *state, PyObject *obj, const char *call, const char *name,
                    cl_context context, void **pointer, size_t *size) {
    if (!ocl_is_svm(state, obj)) {
        PyErr_Format(PyExc_TypeError,
                     "%s: %s must be shared virtual memory (SVM, SVMAllocation, ...), not %s", call,
                     name, pg_type_name(obj));
        return -1;
    }
    Svm *self = (Svm *)obj, *owner = Svm_owner(self);
    if (PG_UNLIKELY(owner->pointer == NULL)) {
        ocl_reject(state, call, CL_INVALID_VALUE, "%s: the %s was released", name,
                   pg_type_name((PyObject *)owner));
        return -1;
    }
    if (context != NULL && owner->context != NULL && owner->context->context != context) {
        ocl_reject(state, call, CL_INVALID_CONTEXT, "%s belongs to another context", name);
        return -1;
    }
    *pointer = self->pointer;
    *size = self->size;
    return 0;
}

int ocl_svm_used_first(State *state, PyObject *obj, Queue *queue) {
    Svm *owner = Svm_owner((Svm *)obj);
    if (owner->context == NULL &&
        !(ocl_device_limits(queue->device)->svm_capabilities & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM)) {
        if (!PyErr_Occurred()) {
            ocl_reject(state, "SVM", CL_INVALID_OPERATION,
                       "%R cannot use the host's own memory (it lacks FINE_GRAIN_SYSTEM); allocate "
                       "with svm_empty, csvm_empty or fsvm_empty",
                       (PyObject *)queue->device);
        }
        return -1;
    }
    if (owner->usage == NULL) {
        return Svm_alive(owner, "SVM");
    }
    ocl_svm_pin(obj); /* ordering after a former owner may release the GIL */
    int result = ocl_usage_add(owner->usage, queue);
    ocl_svm_unpin(obj);
    return result < 0 ? -1 : Svm_alive(owner, "SVM");
}

/* Returns the memory to the driver or its pool once nothing uses it. Never waits. */
static void return_memory(Svm *self) {
    PyObject *memory = self->memory;
    self->memory = NULL;
    if (self->pool != NULL) {
        ocl_pool_return_svm(self);
    }
    if (memory != NULL) {
        ocl_usage_hold(&self->own_usage, memory);
        Py_DECREF(memory);
    }
}

void ocl_svm_pin(PyObject *obj) {
    Svm_owner((Svm *)obj)->users++;
}

void ocl_svm_unpin(PyObject *obj) {
    Svm *owner = Svm_owner((Svm *)obj);
    if (--owner->users == 0 && owner->retired) {
        owner->retired = 0;
        return_memory(owner);
    }
}

int ocl_svm_supported(State *state, Context *context, const char *call, cl_svm_mem_flags flags) {
    const cl_svm_mem_flags known = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY |
                                   CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
    if (flags & ~known) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "flags = %s has bits that svm_mem_flags does not know", pg_hex(flags).text);
        return -1;
    }
    if ((flags & CL_MEM_SVM_ATOMICS) && !(flags & CL_MEM_SVM_FINE_GRAIN_BUFFER)) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "svm_mem_flags.SVM_ATOMICS needs SVM_FINE_GRAIN_BUFFER too");
        return -1;
    }
    if (ocl_need_version(state, call, context->version, 200) < 0) {
        return -1;
    }
    cl_bitfield needed = (flags & CL_MEM_SVM_ATOMICS)
                             ? CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS
                         : (flags & CL_MEM_SVM_FINE_GRAIN_BUFFER) ? CL_DEVICE_SVM_FINE_GRAIN_BUFFER
                                                                  : 0;
    for (Py_ssize_t i = 0; i < context->n_devices; i++) {
        cl_bitfield has = ocl_device_limits(context->devices[i])->svm_capabilities;
        if (has != 0 && (has & needed) == needed) {
            return 0;
        }
    }
    ocl_reject(state, call, CL_INVALID_OPERATION,
               "no device of the context has %sshared virtual memory (see Device.svm_capabilities)",
               needed & CL_DEVICE_SVM_ATOMICS ? "atomic "
               : needed != 0                  ? "fine-grained "
                                              : "");
    return -1;
}

/* ---- life cycle ------------------------------------------------------------------------------ */

PyObject *ocl_svm_release(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Svm *self = (Svm *)op;
    if (self->pointer == NULL) {
        return ocl_reject(self->state, "release", CL_INVALID_VALUE, "the %s was already released",
                          pg_type_name(op));
    }
    self->pointer = NULL;
    self->usage =
        NULL; /* so that a kernel that holds it cannot take the fast path in ocl_svm_used() */
    if (self->exposed) {
        /* Arrays view the memory; they keep this object alive, and it keeps the memory. */
    } else if (self->users > 0) {
        self->retired = 1;
    } else {
        return_memory(self);
    }
    Py_RETURN_NONE;
}

static int Svm_traverse(PyObject *op, visitproc visit, void *arg) {
    Svm *self = (Svm *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->context);
    Py_VISIT(self->mem);
    Py_VISIT(self->base);
    Py_VISIT(self->bound);
    Py_VISIT(self->interface);
    Py_VISIT(self->dict);
    int result = self->pool != NULL ? ocl_block_visit(self->pool, visit, arg) : 0;
    if (result == 0) {
        result = ocl_svm_memory_visit(self->memory, visit, arg);
    }
    return result != 0 ? result : ocl_usage_visit(&self->own_usage, visit, arg);
}

static int Svm_clear(PyObject *op) { /* the rest is needed to release the memory */
    Py_CLEAR(((Svm *)op)->dict);
    return 0;
}

void ocl_svm_dealloc(PyObject *op) {
    Svm *self = (Svm *)op;
    pg_untrack(op, self->weakrefs);
    return_memory(self);
    ocl_usage_clear(&self->own_usage);
    Py_XDECREF(self->mem);
    Py_XDECREF(self->base);
    Py_XDECREF(self->bound);
    Py_XDECREF(self->interface);
    Py_XDECREF(self->context);
    Py_XDECREF(self->dict);
    pg_object_free(op);
}

/* ---- methods; mapping is done in Python, see pygpu/_src/runtime/opencl/svm.py ---------------- */

static PyObject *call_python(const char *function, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames) {
    PyObject *module = ocl_role("svm"),
             *callable = module != NULL ? PyObject_GetAttrString(module, function) : NULL;
    PyObject *result =
        callable != NULL ? PyObject_Vectorcall(callable, args, (size_t)nargs, kwnames) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(callable);
    return result;
}

/* Passes the object itself and args[0..n), with None for omitted arguments. */
static PyObject *Svm_map_with(PyObject *op, PyObject *queue, PyObject *flags, PyObject *is_blocking,
                              PyObject *wait_for, PyObject *size) {
    PyObject *args[] = {op,
                        queue,
                        flags,
                        is_blocking != NULL ? is_blocking : Py_True,
                        wait_for != NULL ? wait_for : Py_None,
                        size != NULL ? size : Py_None};
    return Svm_alive((Svm *)op, "SVMPointer.map") < 0 ? NULL : call_python("_map", args, 6, NULL);
}

PG_DOC(Svm_map__doc__, "map", "$self, /, queue, flags, is_blocking=True, wait_for=None, size=None",
       "(queue: CommandQueue, flags: int, is_blocking: bool = True, wait_for: Sequence[Event] | "
       "None = None, size: int | None = None) -> SVMMap",
       "Let the host use the memory until the SVMMap that this returns is released (`with "
       "svm.map_rw(queue) as array:`).\n\n"
       "flags: map_flags. size: bytes from the start, by default all. The array is the wrapped one "
       "for an SVM, otherwise one of bytes.");
PG_FUNCTION(Svm_map, 5)
static PyObject *Svm_map_impl(PyObject *op, PyObject *const *a) {
    return Svm_map_with(op, a[0], a[1], a[2], a[3], a[4]);
}

PG_DOC(Svm_map_ro__doc__, "map_ro", "$self, /, queue, is_blocking=True, wait_for=None, size=None",
       "(queue: CommandQueue, is_blocking: bool = True, wait_for: Sequence[Event] | None = None, "
       "size: int | None = None) -> SVMMap",
       "map() for reading.");

PG_DOC(Svm_map_rw__doc__, "map_rw", "$self, /, queue, is_blocking=True, wait_for=None, size=None",
       "(queue: CommandQueue, is_blocking: bool = True, wait_for: Sequence[Event] | None = None, "
       "size: int | None = None) -> SVMMap",
       "map() for reading and writing.");

static PyObject *map_as(PyObject *op, PyObject *const *a, long number) {
    PyObject *flags = PyLong_FromLong(number),
             *result = flags != NULL ? Svm_map_with(op, a[0], flags, a[1], a[2], a[3]) : NULL;
    Py_XDECREF(flags);
    return result;
}

PG_FUNCTION(Svm_map_ro, 4)
static PyObject *Svm_map_ro_impl(PyObject *op, PyObject *const *a) {
    return map_as(op, a, CL_MAP_READ);
}

PG_FUNCTION(Svm_map_rw, 4)
static PyObject *Svm_map_rw_impl(PyObject *op, PyObject *const *a) {
    return map_as(op, a, CL_MAP_READ | CL_MAP_WRITE);
}

PG_DOC(Svm_as_buffer__doc__, "as_buffer", "$self, /, ctx, *, flags=None, size=None",
       "(ctx: Context, *, flags: int | None = None, size: int | None = None) -> Buffer",
       "A Buffer over the same memory, which it keeps alive. flags: mem_flags, by default "
       "READ_WRITE; USE_HOST_PTR is added.");
PG_FUNCTION(Svm_as_buffer, 3)
static PyObject *Svm_as_buffer_impl(PyObject *op, PyObject *const *a) {
    void *pointer;
    size_t size;
    Context *context;
    Svm *self = (Svm *)op;
    if ((context = ocl_as_context(self->state, a[0], "SVMPointer.as_buffer")) == NULL ||
        ocl_svm_pointer(self->state, op, "SVMPointer.as_buffer", "the memory", context->context,
                        &pointer, &size) < 0) {
        return NULL;
    }
    PyObject *passed[] = {op, a[0], a[1] != NULL ? a[1] : Py_None, a[2] != NULL ? a[2] : Py_None};
    return call_python("_as_buffer", passed, 4, NULL);
}

static PyObject *Svm_get_buf(PyObject *op, void *Py_UNUSED(closure)) {
    Svm *self = (Svm *)op;
    npy_intp n = (npy_intp)self->size;
    if (Svm_alive(self, "SVMPointer.buf") < 0) {
        return NULL;
    }
    PyObject *array = PyArray_SimpleNewFromData(1, &n, NPY_UINT8, self->pointer);
    if (array != NULL && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(op)) < 0) {
        Py_CLEAR(array);
    }
    if (array != NULL) {
        Svm_owner(self)->exposed = 1;
    }
    return array;
}

static PyObject *Svm_get_svm_ptr(PyObject *op, void *Py_UNUSED(closure)) {
    return Svm_alive((Svm *)op, "SVMPointer.svm_ptr") < 0
               ? NULL
               : PyLong_FromVoidPtr(((Svm *)op)->pointer);
}

static PyMethodDef SVMPointer_methods[] = {
    PG_NO_PICKLE,
    {"map", FAST(Svm_map), Svm_map__doc__},
    {"map_ro", FAST(Svm_map_ro), Svm_map_ro__doc__},
    {"map_rw", FAST(Svm_map_rw), Svm_map_rw__doc__},
    {"as_buffer", FAST(Svm_as_buffer), Svm_as_buffer__doc__},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef SVMPointer_getset[] = {
    {"svm_ptr", Svm_get_svm_ptr, NULL, "int: the address", NULL},
    PG_FIELD("size", size, Svm, size, "int: size [bytes]"),
    {"buf", Svm_get_buf, NULL,
     "numpy.ndarray: the memory as an array of bytes that keeps it alive; map it before use unless "
     "it is fine-grained",
     NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PG_DICT_MEMBERS(SVMPointer, Svm);
static PyType_Slot SVMPointer_slots[] = {
    {Py_tp_doc, (void *)"Memory at one address for host and devices: the base of SVM, "
                        "SVMAllocation and PooledSVM. It cannot be instantiated."},
    {Py_tp_traverse, (void *)Svm_traverse},
    {Py_tp_clear, (void *)Svm_clear},
    {Py_tp_dealloc, (void *)ocl_svm_dealloc},
    {Py_tp_repr, (void *)ocl_svm_repr},
    PG_TABLE_SLOTS(SVMPointer),
    {0, NULL},
};
OCL_TYPE(SVMPointer, Svm,
         Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);

/* ---- SVM ------------------------------------------------------------------------------------- */

PG_DOC(SVM__doc__, "SVM", "mem", "(mem: HostBuffer)",
       "Wrapper for host memory that is shared with devices, so that kernels and commands use its "
       "address.\n\n"
       "mem: a contiguous, writable array of svm_empty, csvm_empty or fsvm_empty, or a view of "
       "one; on devices with\n"
       "device_svm_capabilities.FINE_GRAIN_SYSTEM any host memory. Copies take any host memory "
       "everywhere.");
static ArgSpec SVM_args = PG_ARGSPEC(SVM__doc__);

static void release_host_buffer(PyObject *capsule) {
    Py_buffer *view = PyCapsule_GetPointer(capsule, "pygpu.host_buffer");
    PyBuffer_Release(view);
    PyMem_Free(view);
}

/* *base: the SVM object at the end of a chain of views, borrowed; NULL for ordinary host memory.
 * Returns -1 with a ValueError if one of the views is a released memoryview: what it refers to may
 * be gone. */
static int find_base(State *state, PyObject *obj, Svm **base) {
    *base = NULL;
    while (obj != NULL && !ocl_is_svm(state, obj)) {
        if (PyMemoryView_Check(obj)) {
            PyObject *viewed = PyObject_GetAttrString(obj, "obj"); /* raises if it was released */
            if (viewed == NULL) {
                return -1;
            }
            Py_DECREF(viewed); /* the view keeps it alive */
            obj = viewed;
        } else {
            obj = PyArray_Check(obj) ? PyArray_BASE((PyArrayObject *)obj) : NULL;
        }
    }
    if (obj != NULL) {
        *base = Svm_owner((Svm *)obj);
    }
    return 0;
}

static PyObject *SVM_make(PyTypeObject *type, PyObject *const *a) {
    State *state = ocl_state_of(type);
    if (state == NULL) {
        return NULL;
    }
    Py_buffer *view = PyMem_Malloc(sizeof *view);
    if (view == NULL) {
        return PyErr_NoMemory();
    }
    if (pg_get_buffer(a[0], "SVM", "mem", 1, view) < 0) {
        PyMem_Free(view);
        return NULL;
    }
    PyObject *capsule = PyCapsule_New(view, "pygpu.host_buffer", release_host_buffer);
    if (capsule == NULL) {
        PyBuffer_Release(view);
        PyMem_Free(view);
        return NULL;
    }
    Svm *base, *self = (Svm *)PG_NEW(
                   type); /* look for its base only now: up to here any code may have run */
    if (self == NULL || find_base(state, a[0], &base) < 0 ||
        (base != NULL && Svm_alive(base, "SVM") < 0)) {
        Py_XDECREF(self);
        Py_DECREF(capsule);
        return NULL;
    }
    static char
        nothing; /* not NULL, which an empty array may have and which means "released" here */
    self->state = state;
    self->pointer = view->buf != NULL ? view->buf : &nothing;
    self->size = (size_t)view->len;
    self->mem = Py_NewRef(a[0]);
    self->memory = capsule;
    if (base != NULL) {
        self->base = (Svm *)Py_NewRef(base);
        self->context = (Context *)Py_XNewRef(base->context);
    } else {
        self->usage = &self->own_usage;
    }
    return (PyObject *)self;
}
PG_NEW_BY(SVM, ocl_svm, 1)

void ocl_svm_moved(PyObject *op, PyObject *made) {
    Svm *self = (Svm *)op;
    if (self->usage == &((Svm *)made)->own_usage) {
        self->usage = &self->own_usage;
    }
}

static int is_made(const Svm *self) {
    return self->mem != NULL;
}
OCL_MADE_BY_INIT_IF(SVM, Svm, SVMType, is_made, offsetof(Svm, dict), ocl_svm_moved)

static PyGetSetDef SVM_getset[] = {
    PG_FIELD("mem", object, Svm, mem, "object: the wrapped memory"),
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot SVM_slots[] = {
    PG_NEW_SLOTS(SVM),
    {Py_tp_dealloc, (void *)ocl_svm_dealloc},
    {Py_tp_getset, SVM_getset},
    {0, NULL},
};
OCL_TYPE(SVM, Svm, Py_TPFLAGS_BASETYPE);
