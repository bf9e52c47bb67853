/* host_array.c - ndarrays over host memory known to the driver: their layouts, creation, and
 * emptying them after free(). */
#include "cuda/cuda.h"
#include "cuda/host_array.h"

int cud_array_layout(const char *call, PyObject *shape, PyObject *dtype, PyObject *order,
                     PgArrayLayout *layout) {
    if (pg_array_layout(call, shape, dtype, order, NULL, layout) < 0) {
        return -1;
    }
    if (PyDataType_HASSUBARRAY(layout->dtype)) {
        PyErr_Format(PyExc_TypeError, "%s: dtype %S has a shape of its own; add it to shape", call,
                     (PyObject *)layout->dtype);
        Py_CLEAR(layout->dtype);
        return -1;
    }
    return 0;
}

int cud_array_layout_like(const char *call, PyObject *other, PgArrayLayout *layout) {
    /* One after the other, because no code of the program may run with an exception set. */
    PyObject *shape = PyObject_GetAttrString(other, "shape"),
             *dtype = shape != NULL ? PyObject_GetAttrString(other, "dtype") : NULL,
             *flags = dtype != NULL ? PyObject_GetAttrString(other, "flags") : NULL,
             *c = flags != NULL ? PyObject_GetAttrString(flags, "c_contiguous") : NULL,
             *f = c != NULL ? PyObject_GetAttrString(flags, "f_contiguous") : NULL;
    int result = -1, is_c = f != NULL ? PyObject_IsTrue(c) : -1,
        is_f = is_c >= 0 ? PyObject_IsTrue(f) : -1;
    if (is_f < 0) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError,
                         "%s: array must be an ndarray (with shape, dtype and flags), not %s", call,
                         pg_type_name(other));
        }
    } else if (!is_c && !is_f) {
        PyErr_Format(
            PyExc_ValueError,
            "%s: could not detect array order: the array is neither C nor Fortran contiguous",
            call);
    } else {
        PyObject *order = PyUnicode_FromString(is_c ? "C" : "F");
        result = order != NULL ? cud_array_layout(call, shape, dtype, order, layout) : -1;
        Py_XDECREF(order);
    }
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    Py_XDECREF(flags);
    Py_XDECREF(c);
    Py_XDECREF(f);
    return result;
}

PyObject *cud_array_over(PyObject *owner, PgArrayLayout *layout, void *data, PyObject **weak) {
    PyObject *array = (PyObject *)pg_array_from_layout(owner, layout, data, 1);
    if (array != NULL && weak != NULL && (*weak = PyWeakref_NewRef(array, NULL)) == NULL) {
        Py_CLEAR(array);
    }
    return array;
}

void cud_array_zero(PyObject *array) {
    memset(PyArray_DATA((PyArrayObject *)array), 0, (size_t)PyArray_NBYTES((PyArrayObject *)array));
}
