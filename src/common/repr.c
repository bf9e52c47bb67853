/* repr.c - reprs that name some attributes of an object. */
#include "common/pg.h"

/* "NAME=VALUE", or "" for an attribute that raises. NULL with an exception if out of memory. */
static PyObject *one_attribute(PyObject *op, const char *name) {
    PyObject *value = PyObject_GetAttrString(op, name), *text = NULL;
    if (value != NULL) {
        text = PyUnicode_FromFormat("%s=%R", name, value);
        Py_DECREF(value);
    }
    if (text == NULL && !PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear();
        text = PyUnicode_FromString("");
    }
    return text;
}

PyObject *pg_attributes_repr(PyObject *op, const char *const *names) {
    PyObject *repr = PyUnicode_FromFormat("<%s", Py_TYPE(op)->tp_name);
    for (const char *separator = " "; *names != NULL && repr != NULL; names++) {
        PyObject *one = one_attribute(op, *names), *longer = NULL;
        if (one != NULL && PyUnicode_GET_LENGTH(one) == 0) {
            Py_DECREF(one);
            continue;
        }
        if (one != NULL) {
            longer = PyUnicode_FromFormat("%U%s%U", repr, separator, one);
            separator = ", ";
        }
        Py_XDECREF(one);
        Py_SETREF(repr, longer);
    }
    if (repr != NULL) {
        Py_SETREF(repr, PyUnicode_FromFormat("%U>", repr));
    }
    return repr;
}
