/* layout.c - the layout of an array: shape and strides, contiguity, and these as Python objects. */
#include "array/arraymod.h"

/* ---- Python objects -------------------------------------------------------------------------- */

static void clear_told(Told *told) {
    Py_CLEAR(told->shape);
    Py_CLEAR(told->strides);
    Py_CLEAR(told->size);
    Py_CLEAR(told->nbytes);
    Py_CLEAR(told->itemsize);
}

static void copy_told(Told *told, const Told *from) {
    *told = (Told){Py_NewRef(from->shape), Py_NewRef(from->strides), Py_NewRef(from->size),
                   Py_NewRef(from->nbytes), Py_NewRef(from->itemsize)};
}

static int make_told(Told *told, const GPUArray *array) {
    *told = (Told){pg_tuple_of(ARRAY_SHAPE(array), array->ndim),
                   pg_tuple_of(ARRAY_STRIDES(array), array->ndim), PyLong_FromSsize_t(array->size),
                   PyLong_FromSsize_t(array->size * ARRAY_ITEMSIZE(array)),
                   PyLong_FromSsize_t(ARRAY_ITEMSIZE(array))};
    if (told->shape == NULL || told->strides == NULL || told->size == NULL ||
        told->nbytes == NULL || told->itemsize == NULL) {
        clear_told(told);
        return -1;
    }
    return 0;
}

/* Programs make many arrays of few layouts, so the objects are shared. */
#define RECENT 64
static struct {
    int ndim;
    Py_ssize_t itemsize, size, dims[2 * ARRAY_INLINE_DIMS];
    Told told; /* shape is NULL in an empty slot */
} recent[RECENT];

int arr_tell_layout(GPUArray *self) {
    Told old = self->told, told;
    if (self->ndim > ARRAY_INLINE_DIMS) {
        if (make_told(&told, self) < 0) {
            return -1;
        }
    } else {
        Py_ssize_t itemsize = ARRAY_ITEMSIZE(self);
        uint64_t key = (uint64_t)itemsize << 3 ^ (uint64_t)self->ndim;
        int n = 2 * self->ndim;
        for (int i = 0; i < n; i++) {
            key = (key ^ (uint64_t)self->dims[i]) * 0x9E3779B97F4A7C15u;
        }
        size_t at = (size_t)(key >> 32) % RECENT;
        int known = recent[at].told.shape != NULL && recent[at].ndim == self->ndim &&
                    recent[at].itemsize == itemsize && recent[at].size == self->size;
        for (int i = 0; known && i < n; i++) {
            known = recent[at].dims[i] == self->dims[i];
        }
        if (known) {
            copy_told(&told, &recent[at].told);
        } else {
            if (make_told(&told, self) < 0) {
                return -1;
            }
            Told before = recent[at].told;
            copy_told(&recent[at].told, &told);
            recent[at].ndim = self->ndim;
            recent[at].itemsize = itemsize;
            recent[at].size = self->size;
            memcpy(recent[at].dims, self->dims, (size_t)n * sizeof *self->dims);
            clear_told(&before);
        }
    }
    self->told = told;
    clear_told(&old);
    return 0;
}

void arr_forget_layouts(void) {
    for (int i = 0; i < RECENT; i++) {
        clear_told(&recent[i].told);
    }
}

int arr_set_offset(GPUArray *self, Py_ssize_t offset) {
    PyObject *told = PyLong_FromSsize_t(offset);
    if (told == NULL) {
        return -1;
    }
    self->offset = offset;
    Py_XSETREF(self->offset_told, told);
    return 0;
}

void arr_clear_layout(GPUArray *self) {
    clear_told(&self->told);
    Py_CLEAR(self->offset_told);
    if (self->dims != self->inline_dims) {
        PyMem_Free(self->dims);
        self->dims = self->inline_dims;
    }
}

/* ---- shape and strides ----------------------------------------------------------------------- */

static int contiguous(const GPUArray *self, int first, int step) {
    Py_ssize_t expected = ARRAY_ITEMSIZE(self);
    const Py_ssize_t *shape = ARRAY_SHAPE(self), *strides = ARRAY_STRIDES(self);
    for (int k = 0, axis = first; k < self->ndim; k++, axis += step) {
        if (shape[axis] == 1) {
            continue;
        }
        if (strides[axis] != expected) {
            return 0;
        }
        expected *= shape[axis];
    }
    return 1;
}

int arr_set_layout(GPUArray *self, int ndim, const Py_ssize_t *shape, const Py_ssize_t *strides) {
    Py_ssize_t *dims = self->inline_dims;
    if (ndim > ARRAY_INLINE_DIMS) {
        dims = PyMem_Malloc(2 * (size_t)ndim * sizeof *dims);
        if (dims == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    self->dims = dims;
    self->ndim = ndim;
    Py_ssize_t size = 1, step = ARRAY_ITEMSIZE(self);
    for (int axis = ndim - 1; axis >= 0; axis--) {
        size *= shape[axis];
        dims[axis] = shape[axis];
        dims[ndim + axis] = strides != NULL ? strides[axis] : step;
        step *= shape[axis] > 0 ? shape[axis] : 1;
    }
    self->size = size;
    if (strides == NULL) {
        self->flags = ARRAY_C | (ndim <= 1 || size == 0 || contiguous(self, 0, 1) ? ARRAY_F : 0);
    } else {
        self->flags = size == 0 ? ARRAY_C | ARRAY_F
                                : (contiguous(self, ndim - 1, -1) ? ARRAY_C : 0) |
                                      (contiguous(self, 0, 1) ? ARRAY_F : 0);
    }
    return arr_tell_layout(self);
}
