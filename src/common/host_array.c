/* host_array.c - ndarrays over memory that the driver owns: mapped regions, host pointers, shared
 * virtual memory. */
#include "common/host_array.h"

/* Order of the strides: 0 for C, 1 for Fortran, -1 with an exception. */
static int as_order(PyObject *order, const char *call) {
    if (order == NULL || order == Py_None) {
        return 0;
    }
    const char *text = PyUnicode_Check(order) ? PyUnicode_AsUTF8(order) : NULL;
    if (text != NULL && (strcmp(text, "C") == 0 || strcmp(text, "c") == 0)) {
        return 0;
    }
    if (text != NULL && (strcmp(text, "F") == 0 || strcmp(text, "f") == 0)) {
        return 1;
    }
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s: order must be 'C' or 'F', got %R", call, order);
    return -1;
}

/* The end offset of an array with these strides; -1 if it overflows or the array reaches below its
 * start. */
static int extent(int n, const npy_intp *dims, const npy_intp *strides, size_t itemsize,
                  size_t *out) {
    size_t end = itemsize;
    for (int i = 0; i < n; i++) {
        if (dims[i] == 0) {
            *out = 0;
            return 0;
        }
    }
    for (int i = 0; i < n; i++) {
        size_t reach;
        if (dims[i] > 1 &&
            (strides[i] < 0 || pg_mul((size_t)(dims[i] - 1), (size_t)strides[i], &reach) < 0 ||
             pg_add(end, reach, &end) < 0)) {
            return -1;
        }
    }
    *out = end;
    return 0;
}

int pg_as_dtype(PyObject *obj, const char *call, const char *name, PyArray_Descr **out) {
    if (PyArray_DescrConverter(obj, out) == NPY_SUCCEED) {
        return 0;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (value == NULL || !PyErr_GivenExceptionMatches(type, PyExc_TypeError)) {
        PyErr_Restore(type, value, traceback);
        return -1;
    }
    PyErr_Format(PyExc_TypeError, "%s: %s: %S", call, name, value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return -1;
}

int pg_array_layout(const char *call, PyObject *shape, PyObject *dtype, PyObject *order,
                    PyObject *strides, PgArrayLayout *layout) {
    size_t sizes[PG_ARRAY_DIMS], step;
    layout->dtype = NULL;
    layout->n = pg_as_sizes(shape, call, "shape", sizes, PG_ARRAY_DIMS);
    layout->fortran = as_order(order, call);
    if (layout->n < 0 || layout->fortran < 0) {
        return -1;
    }
    if (pg_as_dtype(dtype, call, "dtype", &layout->dtype) < 0) {
        return -1;
    }
    if (PyDataType_REFCHK(layout->dtype)) {
        PyErr_Format(PyExc_TypeError,
                     "%s: dtype %S holds Python objects, which a device cannot use", call,
                     (PyObject *)layout->dtype);
        goto fail;
    }
    for (int i = 0; i < layout->n; i++) {
        layout->dims[i] = (npy_intp)sizes[i];
    }
    step = (size_t)PyDataType_ELSIZE(layout->dtype);
    for (int k = 0; k < layout->n; k++) {
        int i = layout->fortran ? k : layout->n - 1 - k;
        layout->strides[i] = (npy_intp)step;
        if (layout->dims[i] > 0 &&
            (pg_mul(step, sizes[i], &step) < 0 || step > (size_t)PY_SSIZE_T_MAX / 2)) {
            PyErr_Format(PyExc_ValueError, "%s: an array of this shape does not fit into memory",
                         call);
            goto fail;
        }
    }
    if (strides != NULL && strides != Py_None) {
        size_t given[PG_ARRAY_DIMS];
        int n = pg_as_sizes(strides, call, "strides", given, PG_ARRAY_DIMS);
        if (n < 0) {
            goto fail;
        }
        if (n != layout->n) {
            PyErr_Format(PyExc_ValueError, "%s: shape has %d dimensions, strides has %d", call,
                         layout->n, n);
            goto fail;
        }
        for (int i = 0; i < n; i++) {
            layout->strides[i] = (npy_intp)given[i];
        }
    }
    if (extent(layout->n, layout->dims, layout->strides, (size_t)PyDataType_ELSIZE(layout->dtype),
               &layout->size) < 0) {
        PyErr_Format(PyExc_ValueError,
                     "%s: an array of this shape and these strides does not fit into memory", call);
        goto fail;
    }
    return 0;
fail:
    Py_CLEAR(layout->dtype);
    return -1;
}

PyArrayObject *pg_array_from_layout(PyObject *owner, PgArrayLayout *layout, void *pointer,
                                    int writable) {
    PyArray_Descr *dtype = layout->dtype;
    layout->dtype = NULL; /* PyArray_NewFromDescr takes it over */
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, dtype, layout->n, layout->dims,
                                           layout->strides, pointer,
                                           writable ? NPY_ARRAY_WRITEABLE : 0, NULL);
    if (array != NULL && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(owner)) < 0) {
        Py_CLEAR(array);
    }
    return (PyArrayObject *)array;
}

PyArrayObject *pg_array_over(PyObject *owner, const char *call, PyObject *shape, PyObject *dtype,
                             PyObject *order, PyObject *strides, void *pointer, size_t size,
                             int writable) {
    PgArrayLayout layout;
    if (pg_array_layout(call, shape, dtype, order, strides, &layout) < 0) {
        return NULL;
    }
    if (layout.size > size) {
        PyErr_Format(PyExc_ValueError, "%s: the array needs %zu bytes, and there are %zu", call,
                     layout.size, size);
        Py_CLEAR(layout.dtype);
        return NULL;
    }
    return pg_array_from_layout(owner, &layout, pointer, writable);
}
