/* error.c - exceptions that both systems raise. */
#include "common/pg.h"

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

int pg_set_array_type(PyObject **slot, PyObject *type) {
    if (!PyType_Check(type)) {
        PyErr_Format(PyExc_TypeError, "_set_array_type: a type is needed, not %s",
                     pg_type_name(type));
        return -1;
    }
    Py_XSETREF(*slot, Py_NewRef(type));
    return 0;
}
