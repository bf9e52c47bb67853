/* gpuarray.h - the header of an array on a device, shared by the files of _array and by the kernels
 * of both backends.
 *
 * The struct is what kernels read when they are given an array: _opencl and _cuda know the type
 * (their _set_array_type()), not the module. */
#ifndef PG_GPUARRAY_H
#define PG_GPUARRAY_H

#include "common/pg.h"

#define ARRAY_MAX_DIMS    32
#define ARRAY_INLINE_DIMS 4

enum { ARRAY_C = 1, ARRAY_F = 2 };

typedef struct Table Table; /* src/array/launch_table.h */

/* What programs ask of every array, made with it: Python reads a member faster than it makes an int
 * or a tuple. */
typedef struct {
    PyObject *shape, *strides, *size, *nbytes, *itemsize;
} Told;

typedef struct {
    PyObject_HEAD
    PyObject *backend; /* a pygpu._src.runtime.backend.Backend */
    Table *table;      /* the backend's, or NULL */
    PyObject *queue; /* CommandQueue; Stream, or None for the default stream; None: no queue yet */
    PyObject *base_data; /* what holds the memory, or None of an array without any */
    PyObject *allocator; /* callable, or None: the backend's pool */
    PyObject *events;    /* an EventList, shared with views, or NULL: none so far */
    PyObject *event;     /* the last one, not in the list yet, or NULL */
    PyObject *context;   /* OpenCL: the Context, or NULL */
    PyArray_Descr *dtype;
    Py_ssize_t offset; /* of the first item in the memory [bytes] */
    Py_ssize_t size;   /* items */
    Told told;         /* the layout in Python's terms */
    PyObject *offset_told;
    int ndim, flags;
    char foreign; /* events may be of other queues than `queue`: commands have to wait for them */
    Py_ssize_t *dims; /* shape, then strides [bytes]: inline_dims if they fit */
    Py_ssize_t inline_dims[2 * ARRAY_INLINE_DIMS];
    PyObject *weakrefs;
} GPUArray;

#define ARRAY_SHAPE(a)    ((a)->dims)
#define ARRAY_STRIDES(a)  ((a)->dims + (a)->ndim)
#define ARRAY_ITEMSIZE(a) ((Py_ssize_t)PyDataType_ELSIZE((a)->dtype))

#endif
