/* deferred_init.c - objects of subclasses that are initialized by their own __init__.
 *
 * Normally tp_new makes the complete object. A conventional Python subclass works differently: its
 * __init__ takes arguments of its own and calls super().__init__(context, ...). For such a class
 * tp_new returns an uninitialized object, without context and handle, which that call fills. Every
 * function that receives an uninitialized object refuses it, like a released one. A subclass with
 * its own __new__ is left alone. */
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/instance_registry.h"
#include "opencl/opencl.h"

int ocl_is_made_by_init(PyTypeObject *type, PyTypeObject *base, PyObject *args) {
    return type->tp_init != base->tp_init &&
           (type->tp_new == base->tp_new || PyTuple_GET_SIZE(args) == 0);
}

PyObject *ocl_uninitialized(State *state, PyTypeObject *type) {
    OclObject *self = (OclObject *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
    }
    return (PyObject *)self;
}

int ocl_fill_uninitialized(PyObject *op, PyObject *made, size_t end,
                           void (*moved)(PyObject *op, PyObject *made)) {
    if (made == NULL) {
        return -1;
    }
    const State *state = ((OclObject *)op)->state;
    int known =
        (Py_IS_TYPE(made, state->ContextType) || Py_IS_TYPE(made, state->CommandQueueType)) &&
        ocl_unregister_instance(made);
    size_t start = sizeof(OclObject), size = end - start;
    memcpy((char *)op + start, (char *)made + start, size);
    memset((char *)made + start, 0,
           size); /* made is now empty, so its dealloc does nothing: op owns the contents */
    if (known) {
        ocl_register_instance(op);
    }
    if (moved != NULL) {
        moved(op, made);
    }
    Py_DECREF(made);
    return 0;
}

int ocl_refuse_uninitialized(State *state, const char *call, const char *what, cl_int status) {
    ocl_reject(state, call, status,
               "the %s was not made yet: its __init__ has to call super().__init__() first", what);
    return -1;
}
