/* host_array.c - ndarrays over host memory known to the driver: shapes, orders, creation, and
 * emptying them after free(). */
#include "cuda/cuda.h"
#include "cuda/host_array.h"

/* Returns 0 for C, 1 for Fortran, -1 with an exception. */
static int as_order(PyObject *order, const char *call) {
    const char *text = order == NULL || order == Py_None ? "C"
                       : PyUnicode_Check(order)          ? PyUnicode_AsUTF8(order)
                                                         : NULL;
    if (text != NULL && text[0] != '\0' && text[1] == '\0') {
        if (*text == 'C' || *text == 'c') {
            return 0;
        }
        if (*text == 'F' || *text == 'f') {
            return 1;
        }
    }
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s: order must be 'C' or 'F', got %R", call, order);
    return -1;
}

static int set_size(const char *call, ArrayLayout *layout) {
    size_t size = (size_t)PyDataType_ELSIZE(layout->dtype);
    int empty = 0;
    for (int i = 0; i < layout->n; i++) {
        empty |= layout->dims[i] == 0;
    }
    for (int i = 0; i < layout->n; i++) {
        if (layout->dims[i] > 0 && (pg_mul(size, (size_t)layout->dims[i], &size) < 0 ||
                                    size > (size_t)PY_SSIZE_T_MAX / 2)) {
            PyErr_Format(PyExc_ValueError, "%s: an array of this shape does not fit into memory",
                         call);
            Py_CLEAR(layout->dtype);
            return -1;
        }
    }
    layout->size = empty ? 0 : size;
    return 0;
}

int cud_array_layout(const char *call, PyObject *shape, PyObject *dtype, PyObject *order,
                     ArrayLayout *layout) {
    size_t sizes[CUD_MAX_DIMS];
    layout->dtype = NULL;
    layout->n = pg_as_sizes(shape, call, "shape", sizes, CUD_MAX_DIMS);
    layout->fortran = as_order(order, call);
    if (layout->n < 0 || layout->fortran < 0) {
        return -1;
    }
    for (int i = 0; i < layout->n; i++) {
        layout->dims[i] = (npy_intp)sizes[i];
    }
    if (PyArray_DescrConverter(dtype, &layout->dtype) == NPY_FAIL) {
        return -1;
    }
    if (PyDataType_REFCHK(layout->dtype) || PyDataType_HASSUBARRAY(layout->dtype)) {
        PyErr_Format(PyExc_TypeError, "%s: dtype %S %s", call, (PyObject *)layout->dtype,
                     PyDataType_REFCHK(layout->dtype)
                         ? "holds Python objects, which a device cannot use"
                         : "has a shape of its own; add it to shape");
        Py_CLEAR(layout->dtype);
        return -1;
    }
    return set_size(call, layout);
}

int cud_array_layout_like(const char *call, PyObject *other, ArrayLayout *layout) {
    PyObject *shape = PyObject_GetAttrString(other, "shape"),
             *dtype = PyObject_GetAttrString(other, "dtype"),
             *flags = PyObject_GetAttrString(other, "flags");
    PyObject *c = flags != NULL ? PyObject_GetAttrString(flags, "c_contiguous") : NULL,
             *f = flags != NULL ? PyObject_GetAttrString(flags, "f_contiguous") : NULL;
    int result = -1, is_c = c != NULL ? PyObject_IsTrue(c) : -1,
        is_f = f != NULL ? PyObject_IsTrue(f) : -1;
    if (shape == NULL || dtype == NULL || is_c < 0 || is_f < 0) {
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
    } else if ((result = cud_array_layout(call, shape, dtype, NULL, layout)) == 0) {
        layout->fortran = !is_c;
    }
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    Py_XDECREF(flags);
    Py_XDECREF(c);
    Py_XDECREF(f);
    return result;
}

PyObject *cud_array_over(PyObject *owner, ArrayLayout *layout, void *data, PyObject **weak) {
    PyArray_Descr *dtype = layout->dtype;
    layout->dtype = NULL; /* PyArray_NewFromDescr takes it over */
    PyObject *array =
        PyArray_NewFromDescr(&PyArray_Type, dtype, layout->n, layout->dims, NULL, data,
                             layout->fortran ? NPY_ARRAY_FARRAY : NPY_ARRAY_CARRAY, NULL);
    if (array != NULL && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(owner)) < 0) {
        Py_CLEAR(array);
    }
    if (array != NULL && weak != NULL && (*weak = PyWeakref_NewRef(array, NULL)) == NULL) {
        Py_CLEAR(array);
    }
    return array;
}

void cud_array_zero(PyObject *array) {
    memset(PyArray_DATA((PyArrayObject *)array), 0, (size_t)PyArray_NBYTES((PyArrayObject *)array));
}
