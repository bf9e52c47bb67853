/* index.c - a[...] with ints, slices, Ellipsis and None: makes a view without Python. */
#include "array/fastpath.h"

/* The view under construction; at: the next axis of the array. */
typedef struct {
    const GPUArray *array;
    int at, ndim;
    Py_ssize_t offset, shape[ARRAY_MAX_DIMS], strides[ARRAY_MAX_DIMS];
} Walk;

/* These return 1, or 0 to leave the call to Python. */

static int add(Walk *walk, Py_ssize_t length, Py_ssize_t stride) {
    if (walk->ndim == ARRAY_MAX_DIMS) {
        return 0;
    }
    walk->shape[walk->ndim] = length;
    walk->strides[walk->ndim++] = stride;
    return 1;
}

static int add_int(Walk *walk, Py_ssize_t i) {
    Py_ssize_t n = ARRAY_SHAPE(walk->array)[walk->at];
    if (i < -n || i >= n) {
        return 0;
    }
    walk->offset += (i < 0 ? i + n : i) * ARRAY_STRIDES(walk->array)[walk->at];
    walk->at++;
    return 1;
}

static int add_slice(Walk *walk, PyObject *slice) {
    const PySliceObject *given = (PySliceObject *)slice;
    Py_ssize_t start, stop, step, ignored, stride = ARRAY_STRIDES(walk->array)[walk->at];
    PyObject *const ends[] = {given->start, given->stop, given->step};
    for (int k = 0; k < 3; k++) { /* only ints, because reading them runs no code of the program;
                                   * huge ones are clipped below */
        if (ends[k] != Py_None && !PyLong_CheckExact(ends[k]) && !arr_read_int(ends[k], &ignored)) {
            return 0;
        }
    }
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) {
        PyErr_Clear();
        return 0;
    }
    Py_ssize_t n = PySlice_AdjustIndices(ARRAY_SHAPE(walk->array)[walk->at], &start, &stop, step);
    Py_ssize_t most = stride != 0 ? PY_SSIZE_T_MAX / (stride < 0 ? -stride : stride)
                                  : PY_SSIZE_T_MAX;
    if (n > 0) {
        walk->offset += start * stride;
    }
    walk->at++;
    return add(walk, n,
               step <= most && step >= -most ? step * stride : stride); /* a single item, or none */
}

static int add_axes(Walk *walk, int n) {
    for (int k = 0; k < n; k++, walk->at++) {
        if (!add(walk, ARRAY_SHAPE(walk->array)[walk->at], ARRAY_STRIDES(walk->array)[walk->at])) {
            return 0;
        }
    }
    return 1;
}

static int add_item(Walk *walk, PyObject *item, int left) {
    Py_ssize_t i;
    return item == Py_None          ? add(walk, 1, 0)
           : item == Py_Ellipsis    ? add_axes(walk, left)
           : PySlice_Check(item)    ? add_slice(walk, item)
           : arr_read_int(item, &i) ? add_int(walk, i)
                                    : 0;
}

/* Where the items of a basic index are: 1, or 0 for what is left to Python. */
static int find(Walk *walk, GPUArray *self, PyObject *const *key) {
    int tuple = PyTuple_CheckExact(*key), left = self->ndim, dots = 0;
    Py_ssize_t count = tuple ? PyTuple_GET_SIZE(*key) : 1;
    PyObject *const *items = tuple ? &PyTuple_GET_ITEM(*key, 0) : key;
    for (Py_ssize_t k = 0; k < count; k++) {
        dots += items[k] == Py_Ellipsis;
        left -= items[k] != Py_Ellipsis && items[k] != Py_None;
    }
    if (left < 0 || dots > 1) {
        return 0;
    }
    walk->array = self;
    walk->offset = self->offset;
    walk->at = walk->ndim = 0;
    for (Py_ssize_t k = 0; k < count; k++) {
        if (!add_item(walk, items[k], left)) {
            return 0;
        }
    }
    return dots != 0 || add_axes(walk, left);
}

static PyObject *view_of(GPUArray *self, const Walk *walk) {
    return arr_view(self, self->dtype, walk->offset, walk->ndim, walk->shape, walk->strides);
}

PyObject *fast_getitem(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *self = as_array(a[0]);
    Walk walk;
    return self != NULL && a[1] != NULL && find(&walk, self, &a[1]) ? view_of(self, &walk) : NULL;
}

static int same_shape(const Walk *walk, const GPUArray *value) {
    return walk->ndim == value->ndim &&
           memcmp(walk->shape, ARRAY_SHAPE(value), (size_t)value->ndim * sizeof *walk->shape) == 0;
}

/* Whether the value is the items themselves: a[key] += b has written them already. */
static int is_same(const Walk *walk, const GPUArray *self, const GPUArray *value) {
    return value->base_data == self->base_data && value->offset == walk->offset &&
           value->dtype == self->dtype &&
           memcmp(walk->strides, ARRAY_STRIDES(value),
                  (size_t)value->ndim * sizeof *walk->strides) == 0;
}

/* self, key, value: arrays of the same shape, by a kernel that is known. */
PyObject *fast_setitem(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    static PyObject *copy_word;
    GPUArray *self = as_array(a[0]), *value = as_array(a[2]);
    Walk walk;
    if (self == NULL || value == NULL || a[1] == NULL || Py_TYPE(self) != Py_TYPE(value) ||
        !of_own_class(self) || !find(&walk, self, &a[1]) || !same_shape(&walk, value) ||
        drops_imaginary(value->dtype, self->dtype)) {
        return NULL;
    }
    if (is_same(&walk, self, value)) {
        Py_RETURN_NONE;
    }
    if (copy_word == NULL && (copy_word = PyUnicode_InternFromString("copy")) == NULL) {
        return NULL;
    }
    Py_ssize_t id = arr_id(copy_word, 0);
    PyObject *view = id >= 0 ? view_of(self, &walk) : NULL, *result = NULL;
    if (view == NULL) {
        return NULL;
    }
    int state = arr_fast(id, &a[2], 1, (GPUArray *)view, &result);
    Py_DECREF(view);
    if (state <= 0) {
        return NULL;
    }
    Py_DECREF(result);
    Py_RETURN_NONE;
}
