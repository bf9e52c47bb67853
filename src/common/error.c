/* error.c - raises exceptions of the classes that OpenCL and CUDA share. */
#include "common/pg.h"

const PgStatus *pg_find_status(const PgStatus *rows, size_t n, int code) {
    for (size_t i = 0; i < n; i++) {
        if (rows[i].code == code) {
            return &rows[i];
        }
    }
    return NULL;
}

PyObject *pg_raise(PyObject *make_error, const PgError *error, PyObject *extra) {
    PyObject *made = PyObject_CallFunction(make_error, "sssisOs", error->kind, error->twin,
                                           error->routine, error->code, error->name,
                                           extra != NULL ? extra : Py_None, error->hint);
    if (made != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(made), made);
        Py_DECREF(made);
    }
    return NULL;
}

PyObject *pg_refuse_pickle(PyObject *op, PyObject *Py_UNUSED(protocol)) {
    return PyErr_Format(PyExc_TypeError,
                        "cannot pickle or copy a '%s': it belongs to a driver in this process; "
                        "pass what it is made from instead",
                        Py_TYPE(op)->tp_name);
}
