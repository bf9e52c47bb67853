/* handle.c - what all objects with a driver handle share: equality, hash, int_ptr, and the parsing
 * of from_int_ptr()'s argument. */
#include "opencl/opencl.h"

int ocl_as_handle(State *state, PyObject *obj, const char *call, size_t *out) {
    uint64_t value;
    if (pg_as_u64(obj, call, "int_ptr_value", &value) < 0) {
        return -1;
    }
    if (value == 0 || value > UINTPTR_MAX) {
        ocl_reject(state, call, CL_INVALID_VALUE, "int_ptr_value = %llu is not a handle",
                   (unsigned long long)value);
        return -1;
    }
    *out = (size_t)value;
    return 0;
}

Py_hash_t ocl_handle_hash(PyObject *op) {
    OclHandle *self = (OclHandle *)op;
    return _Py_HashPointer(self->handle != NULL ? self->handle : (void *)op);
}

PyObject *ocl_handle_int_ptr(PyObject *op, void *Py_UNUSED(closure)) {
    OclHandle *self = (OclHandle *)op;
    if (self->handle == NULL) {
        return ocl_reject(self->state, pg_type_name(op), CL_INVALID_VALUE,
                          "the object was released and has no handle any more");
    }
    return PyLong_FromVoidPtr(self->handle);
}

/* Whether it is an instance of one of our types that compares by handle. Its own class may
 * override the method. */
int ocl_compares_by(PyObject *op, richcmpfunc compare) {
    PyTypeObject *type = Py_TYPE(op);
    while (type != NULL && type->tp_richcompare != compare) {
        type = type->tp_base;
    }
    return type != NULL;
}

PyObject *ocl_handle_compare(PyObject *op, PyObject *other, int how) {
    /* Objects of two kinds may be compared: their handles are addresses of different live objects,
     * so they are never equal. */
    if ((how != Py_EQ && how != Py_NE) || !ocl_compares_by(other, ocl_handle_compare)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    OclHandle *a = (OclHandle *)op, *b = (OclHandle *)other;
    int equal = op == other || (a->handle != NULL && a->handle == b->handle);
    return PyBool_FromLong(equal == (how == Py_EQ));
}
