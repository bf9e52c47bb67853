/* fastpath.h - functions that are handled in C if their arguments are of the common kinds,
 * otherwise in Python. */
#ifndef PYGPU_ARRAY_FASTPATH_H
#define PYGPU_ARRAY_FASTPATH_H

#include "array/backend_ops.h"
#include "array/dispatch.h"

/* a: n arguments in the order of the function's parameters, NULL where omitted; for a variadic
 * function only those given. Returns NULL without an exception if this fast path does not apply:
 * nothing was done, and Python is called. */
typedef PyObject *(*FastFunction)(PyObject *const *a, Py_ssize_t n);

#define FASTPATH(name, variadic) PyObject *fast_##name(PyObject *const *a, Py_ssize_t n);
#include "array/fastpaths.def"
#undef FASTPATH

static inline int omitted(const PyObject *value) {
    return value == NULL || value == Py_None;
}
static inline int not_set(const PyObject *value) {
    return value == NULL || value == Py_False || value == Py_None;
}

/* The argument if it is an array, otherwise NULL. */
static inline GPUArray *as_array(PyObject *op) {
    return op != NULL && arr_is_array(op) ? (GPUArray *)op : NULL;
}
/* Whether a conversion drops imaginary parts, of which Python warns. */
static inline int drops_imaginary(const PyArray_Descr *from, const PyArray_Descr *to) {
    return PyTypeNum_ISCOMPLEX(from->type_num) &&
           (PyTypeNum_ISINTEGER(to->type_num) || PyTypeNum_ISFLOAT(to->type_num));
}

/* Whether its type is exactly one of our two classes, so that no method is overridden. */
static inline int of_own_class(const GPUArray *array) {
    return (PyObject *)Py_TYPE(array) == arr_cuda.array_class ||
           (PyObject *)Py_TYPE(array) == arr_opencl.array_class;
}

/* fastpath.c */
PyArray_Descr *arr_read_dtype(PyObject *obj); /* the dtype of a number, if devices support it, new;
                                               * NULL without an exception to leave it to Python */
/* Returns 1 with *out, or 0 if it is not an int that fits. Runs no code of the program. */
int arr_read_int(PyObject *obj, Py_ssize_t *out);

/* create.c: whether a CUDA backend's context is current, so that its arrays' default stream is the
 * current one */
int arr_is_current(const PyObject *backend);

/* view.c */
PyObject *arr_view(GPUArray *self, PyArray_Descr *dtype, Py_ssize_t offset, int ndim,
                   const Py_ssize_t *shape, const Py_ssize_t *strides);

/* Bytes from which a copy to or from the host is left to Python: LONG_COPY of
 * pygpu/_src/util/progress.py. */
#define ARR_LONG_COPY ((Py_ssize_t)64 << 20)

/* transfer.c: these return 0, or -1 with an exception */
int arr_write(GPUArray *self, PyObject *host, int blocking);
int arr_fill_number(GPUArray *self, PyObject *value); /* 1: done; 0: left to Python */
int arr_copy_items(const GPUArray *self, GPUArray *made,
                   Py_ssize_t nbytes); /* without gaps, to the start of new memory */
/* The same between the starts of two memories, on a queue or stream: the event, or None; NULL with
 * an exception. */
PyObject *arr_copy_memory(const Table *table, PyObject *queue, PyObject *to, PyObject *from,
                          Py_ssize_t nbytes);
int arr_can_command(
    const GPUArray *self); /* whether commands on its queue need not wait for anything else */

#endif
