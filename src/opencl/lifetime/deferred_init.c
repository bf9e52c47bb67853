/* deferred_init.c - objects of subclasses that are made by an __init__ of their own.
 *
 * Objects are made by tp_new. A program that subclasses as Python classes are subclassed does it
 * otherwise: its __init__ takes what it likes and calls super().__init__(context, ...). Then tp_new
 * gives a hollow object, without context and handle, that this call fills. All that takes a hollow
 * object refuses it as it refuses one that was released. A subclass with a __new__ of its own is
 * left as it
 * is. */
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
        ocl_forget(made);
    size_t start = sizeof(OclObject), size = end - start;
    memcpy((char *)op + start, (char *)made + start, size);
    memset((char *)made + start, 0,
           size); /* its dealloc finds nothing: another object owns it now */
    if (known) {
        ocl_remember(op);
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
