/* fields.c - getters of attributes that are fields of their objects; the closure is the offset. */
#include "common/pg.h"

/* Reads a pointer of whatever type. */
static void *pointer_at(PyObject *op, void *offset) {
    void *pointer;
    memcpy(&pointer, (const char *)op + (size_t)offset, sizeof pointer);
    return pointer;
}

PyObject *pg_get_object(PyObject *op, void *offset) {
    PyObject *object = pointer_at(op, offset);
    return Py_NewRef(object != NULL ? object : Py_None);
}

PyObject *pg_get_pointer(PyObject *op, void *offset) {
    return PyLong_FromVoidPtr(pointer_at(op, offset));
}

PyObject *pg_get_size(PyObject *op, void *offset) {
    return PyLong_FromSize_t(*(const size_t *)((const char *)op + (size_t)offset));
}

PyObject *pg_get_truth(PyObject *op, void *offset) {
    return PyBool_FromLong(*(const int *)((const char *)op + (size_t)offset));
}
