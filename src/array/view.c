/* view.c - views with another shape, order of axes or dtype: reshape, ravel, transpose, squeeze,
 * view. */
#include "array/fastpath.h"

PyObject *arr_view(GPUArray *self, PyArray_Descr *dtype, Py_ssize_t offset, int ndim,
                   const Py_ssize_t *shape, const Py_ssize_t *strides) {
    if (!of_own_class(self)) { /* a program's class, which may have to pass attributes on to
                                * views */
        PyObject *lengths = pg_tuple_of(shape, ndim),
                 *steps = strides != NULL ? pg_tuple_of(strides, ndim) : Py_NewRef(Py_None);
        PyObject *made = lengths != NULL && steps != NULL
                             ? PyObject_CallMethod((PyObject *)self, "_view", "OOnO", lengths,
                                                   steps, offset, dtype)
                             : NULL;
        Py_XDECREF(lengths);
        Py_XDECREF(steps);
        return made;
    }
    GPUArray *view = (GPUArray *)arr_new_with_layout(self, dtype, Py_NewRef(self->base_data), ndim,
                                                     shape, strides);
    if (view != NULL) {
        if ((offset != 0 && arr_set_offset(view, offset) < 0) ||
            arr_share_events(view, self) < 0) { /* operations on one must be seen by the other */
            Py_CLEAR(view);
        }
    }
    return (PyObject *)view;
}

/* Reads the ints after self, or those of a single tuple or list. Returns how many, or -1 to leave
 * the call to Python. */
static int read_ints(PyObject *const *a, Py_ssize_t n, Py_ssize_t *out) {
    PyObject *const *items = a + 1;
    Py_ssize_t count = n - 1;
    if (count == 1 && (PyTuple_CheckExact(a[1]) || PyList_CheckExact(a[1]))) {
        items = PySequence_Fast_ITEMS(a[1]);
        count = PySequence_Fast_GET_SIZE(a[1]);
    }
    if (count > ARRAY_MAX_DIMS) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!arr_read_int(items[i], &out[i])) {
            return -1;
        }
    }
    return (int)count;
}

/* ---- order of axes --------------------------------------------------------------------------- */

static PyObject *reversed(GPUArray *self) {
    Py_ssize_t shape[ARRAY_MAX_DIMS], strides[ARRAY_MAX_DIMS];
    for (int i = 0, k = self->ndim - 1; k >= 0; i++, k--) {
        shape[i] = ARRAY_SHAPE(self)[k];
        strides[i] = ARRAY_STRIDES(self)[k];
    }
    return arr_view(self, self->dtype, self->offset, self->ndim, shape, strides);
}

PyObject *fast_transposed(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *self = as_array(a[0]);
    return self != NULL && of_own_class(self) ? reversed(self) : NULL;
}

PyObject *fast_transpose(PyObject *const *a, Py_ssize_t n) {
    GPUArray *self = n > 0 ? as_array(a[0]) : NULL;
    Py_ssize_t order[ARRAY_MAX_DIMS], shape[ARRAY_MAX_DIMS], strides[ARRAY_MAX_DIMS];
    if (self == NULL) {
        return NULL;
    }
    if (n == 1) {
        return reversed(self);
    }
    if (read_ints(a, n, order) != self->ndim) {
        return NULL;
    }
    uint32_t seen = 0;
    for (int i = 0; i < self->ndim; i++) {
        Py_ssize_t k = order[i] < 0 ? order[i] + self->ndim : order[i];
        if (k < 0 || k >= self->ndim || (seen >> k & 1)) {
            return NULL;
        }
        seen |= 1u << k;
        shape[i] = ARRAY_SHAPE(self)[k];
        strides[i] = ARRAY_STRIDES(self)[k];
    }
    return arr_view(self, self->dtype, self->offset, self->ndim, shape, strides);
}

PyObject *fast_squeeze(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *self = as_array(a[0]);
    Py_ssize_t shape[ARRAY_MAX_DIMS], strides[ARRAY_MAX_DIMS];
    int ndim = 0;
    if (self == NULL || !omitted(a[1])) {
        return NULL;
    }
    for (int k = 0; k < self->ndim; k++) {
        if (ARRAY_SHAPE(self)[k] != 1) {
            shape[ndim] = ARRAY_SHAPE(self)[k];
            strides[ndim++] = ARRAY_STRIDES(self)[k];
        }
    }
    return arr_view(self, self->dtype, self->offset, ndim, shape, strides);
}

/* ---- shape ----------------------------------------------------------------------------------- */

/* Computes the length for -1, and checks the number of items. Returns 1, or 0 if the shape does
 * not fit. */
static int complete(Py_ssize_t *shape, int ndim, Py_ssize_t size) {
    Py_ssize_t product = 1;
    int unknown = -1;
    for (int k = 0; k < ndim; k++) {
        if (shape[k] == -1 && unknown < 0) {
            unknown = k;
        } else if (shape[k] < 0 || (shape[k] > 0 && product > PY_SSIZE_T_MAX / shape[k])) {
            return 0;
        } else {
            product *= shape[k];
        }
    }
    if (unknown >= 0) {
        if (product == 0 || size % product != 0) {
            return 0;
        }
        shape[unknown] = size / product;
        return 1;
    }
    return product == size;
}

PyObject *fast_reshape(PyObject *const *a, Py_ssize_t n) {
    GPUArray *self = n > 1 ? as_array(a[0]) : NULL;
    Py_ssize_t shape[ARRAY_MAX_DIMS];
    if (self == NULL || !(self->flags & ARRAY_C)) {
        return NULL;
    }
    int ndim = read_ints(a, n, shape);
    if (ndim < 0 || !complete(shape, ndim, self->size)) {
        return NULL;
    }
    return arr_view(self, self->dtype, self->offset, ndim, shape, NULL);
}

PyObject *fast_ravel(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *self = as_array(a[0]);
    if (self == NULL || a[1] != NULL || !(self->flags & ARRAY_C) || !of_own_class(self)) {
        return NULL;
    }
    return arr_view(self, self->dtype, self->offset, 1, &self->size, NULL);
}

/* ---- dtype ----------------------------------------------------------------------------------- */

PyObject *fast_view(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *self = as_array(a[0]);
    Py_ssize_t shape[ARRAY_MAX_DIMS];
    if (self == NULL) {
        return NULL;
    }
    if (omitted(a[1])) {
        return arr_view(self, self->dtype, self->offset, self->ndim, ARRAY_SHAPE(self),
                        ARRAY_STRIDES(self));
    }
    PyArray_Descr *dtype = arr_read_dtype(a[1]);
    if (dtype == NULL) {
        return NULL;
    }
    PyObject *view = NULL;
    Py_ssize_t old = ARRAY_ITEMSIZE(self), new = (Py_ssize_t)PyDataType_ELSIZE(dtype);
    if (old == new) {
        view =
            arr_view(self, dtype, self->offset, self->ndim, ARRAY_SHAPE(self), ARRAY_STRIDES(self));
    } else if (self->ndim > 0 && (self->flags & ARRAY_C)) {
        memcpy(shape, ARRAY_SHAPE(self), (size_t)self->ndim * sizeof *shape);
        Py_ssize_t *last = &shape[self->ndim - 1];
        if (old > 0 && new > 0 && (new > old || old % new == 0) && *last * old % new == 0) {
            *last = *last * old / new;
            view = arr_view(self, dtype, self->offset, self->ndim, shape, NULL);
        }
    }
    Py_DECREF((PyObject *)dtype);
    return view;
}
