/* duplicate.c - copy() and astype(): new arrays with the items of another one, in the order of its
 * axes. */
#include "array/chain.h"
#include "array/fastpath.h"

/* Computes contiguous strides whose axes are in the same memory order as those of *self* (NumPy's
 * order "K"). Returns the size of all items in bytes. The array must not be empty. */
static Py_ssize_t keep_order(const GPUArray *self, Py_ssize_t step, Py_ssize_t *strides) {
    int order[ARRAY_MAX_DIMS];
    const Py_ssize_t *given = ARRAY_STRIDES(self);
    for (int k = 0; k < self->ndim; k++) { /* insertion sort, largest stride first */
        int at = k;
        for (; at > 0 && Py_ABS(given[order[at - 1]]) < Py_ABS(given[k]); at--) {
            order[at] = order[at - 1];
        }
        order[at] = k;
    }
    for (int i = self->ndim - 1; i >= 0; i--) {
        Py_ssize_t k = self->flags & ARRAY_C   ? i
                       : self->flags & ARRAY_F ? self->ndim - 1 - i
                                               : order[i],
                   n = ARRAY_SHAPE(self)[k];
        strides[k] = step;
        step *= n > 0 ? n : 1;
    }
    return step;
}

/* A new, uninitialized array on the same queue as self. */
static GPUArray *make(GPUArray *self, PyArray_Descr *dtype, Py_ssize_t *nbytes) {
    Py_ssize_t strides[ARRAY_MAX_DIMS];
    *nbytes = keep_order(self, (Py_ssize_t)PyDataType_ELSIZE(dtype), strides);
    PyObject *data = table_allocate(self->table, self->backend, self->allocator, *nbytes);
    return data != NULL
               ? (GPUArray *)arr_new_with_layout(self, dtype, data, self->ndim, ARRAY_SHAPE(self),
                                                 self->flags & ARRAY_C ? NULL : strides)
               : NULL;
}

/* Sets the items of a new array with a kernel known for these layouts. Returns as arr_fast(). */
static int convert(PyObject *self, GPUArray *made) {
    static PyObject *copy_word;
    if (copy_word == NULL && (copy_word = PyUnicode_InternFromString("copy")) == NULL) {
        return -1;
    }
    PyObject *result;
    Py_ssize_t id = arr_id(copy_word, 0);
    int state = id >= 0 ? arr_fast(id, &self, 1, made, &result) : 0;
    if (state > 0) {
        Py_DECREF(result);
    }
    return state;
}

/* The items of an array without gaps, in new memory, or later with a chain. 0, or -1 with an
 * exception. */
static int copy(GPUArray *self, GPUArray *made, Py_ssize_t nbytes) {
    int op = arr_chain_mode != 0 && self->offset == 0 ? chain_copy_operation(self->dtype->type_num)
                                                      : 0;
    if (op != 0) {
        ChainLaunch launch = {.op = op};
        PyObject *operand = (PyObject *)self;
        if (chain_add(&launch, self, made, &operand, 1)) {
            return 0;
        }
    }
    int status = arr_copy_items(self, made, nbytes);
    if (op != 0) {
        chain_launched();
    }
    return status;
}

/* An allocator of a program's is called once, which only Python can promise where a kernel may not
 * be known yet. */
static PyObject *duplicate(GPUArray *self, PyArray_Descr *dtype, int same) {
    if (!of_own_class(self) || self->allocator != Py_None || !arr_can_command(self) ||
        (self->table->cuda && arr_cuda.copy == NULL)) {
        return NULL;
    }
    Py_ssize_t nbytes, itemsize = (Py_ssize_t)PyDataType_ELSIZE(dtype);
    if (self->size == 0 || itemsize == 0 ||
        self->size > ((Py_ssize_t)1 << 62) / itemsize) { /* with repeated items (stride 0) the size
                                                          * may exceed any memory */
        return NULL;
    }
    GPUArray *made = make(self, dtype, &nbytes);
    int state = -1;
    if (made != NULL) {
        state = !same || self->flags == 0      ? convert((PyObject *)self, made)
                : copy(self, made, nbytes) < 0 ? -1
                                               : 1;
    }
    if (state <= 0) {
        Py_CLEAR(made);
    }
    return (PyObject *)made;
}

static int is_keep(PyObject *order) {
    return order == NULL ||
           (PyUnicode_CheckExact(order) && PyUnicode_CompareWithASCIIString(order, "K") == 0);
}

/* self, queue or stream, order */
PyObject *fast_copy(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *self = as_array(a[0]);
    if (self == NULL || self->table == NULL || !is_keep(a[2])) {
        return NULL;
    }
    int here = a[1] == NULL ||
               (self->table->cuda ? a[1] == Py_None
                                  : a[1] == self->queue && a[1] != Py_None); /* OpenCL: None means
                                                                              * without a queue */
    return here ? duplicate(self, self->dtype, 1) : NULL;
}

/* self, dtype, queue or stream, copy, order, casting, subok */
PyObject *fast_astype(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *self = as_array(a[0]);
    if (self == NULL || self->table == NULL || a[1] == NULL || !omitted(a[2]) || !is_keep(a[4]) ||
        a[5] != NULL || (a[3] != NULL && !PyBool_Check(a[3]))) {
        return NULL;
    }
    PyArray_Descr *dtype = arr_read_dtype(a[1]);
    if (dtype == NULL) {
        return NULL;
    }
    int same = PyArray_EquivTypes(dtype, self->dtype);
    PyObject *result = drops_imaginary(self->dtype, dtype) ? NULL
                       : same && a[3] == Py_False
                           ? Py_NewRef(a[0])
                           : duplicate(self, same ? self->dtype : dtype, same);
    Py_DECREF((PyObject *)dtype);
    return result;
}
