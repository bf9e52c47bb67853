/* local_memory.c - LocalMemory: the size of the work-group memory for a __local pointer. */
#include "opencl/lifetime/deferred_init.h"
#include "opencl/objects/kernel.h"
#include "opencl/opencl.h"

PG_DOC(LocalMemory__doc__, "LocalMemory", "size", "(size: int)",
       "*size* bytes of local memory as an argument for a __local pointer. Raises ValueError "
       "unless size is positive.");
static ArgSpec LocalMemory_args = PG_ARGSPEC(LocalMemory__doc__);

static PyObject *LocalMemory_make(PyTypeObject *type, PyObject *const *a) {
    size_t size;
    State *state = ocl_state_of(type);
    if (state == NULL || pg_as_size(a[0], "LocalMemory", "size", &size) < 0) {
        return NULL;
    }
    if (size == 0) {
        return ocl_reject(state, "LocalMemory", CL_INVALID_ARG_SIZE, "size must be positive");
    }
    LocalMemory *self = (LocalMemory *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
        self->size = size;
    }
    return (PyObject *)self;
}
PG_NEW_BY(LocalMemory, ocl_local_memory, 1)

static int is_made(const LocalMemory *self) {
    return self->size != 0;
}
OCL_MADE_BY_INIT_IF(LocalMemory, LocalMemory, LocalMemoryType, is_made, sizeof(LocalMemory), NULL)

static void LocalMemory_dealloc(PyObject *op) {
    if (((LocalMemory *)op)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    pg_object_free(op);
}

static PyObject *LocalMemory_repr(PyObject *op) {
    return PyUnicode_FromFormat("<pygpu.LocalMemory of %zu bytes>", ((LocalMemory *)op)->size);
}

static PyGetSetDef LocalMemory_getset[] = {
    PG_FIELD("size", size, LocalMemory, size, "int: bytes"),
    {NULL, NULL, NULL, NULL, NULL},
};
PG_WEAKREF_MEMBERS(LocalMemory, LocalMemory);
static PyType_Slot LocalMemory_slots[] = {
    PG_NEW_SLOTS(LocalMemory),
    {Py_tp_dealloc, (void *)LocalMemory_dealloc},
    {Py_tp_repr, (void *)LocalMemory_repr},
    {Py_tp_getset, LocalMemory_getset},
    {Py_tp_members, LocalMemory_members},
    {0, NULL},
};
OCL_TYPE(LocalMemory, LocalMemory, Py_TPFLAGS_BASETYPE);
