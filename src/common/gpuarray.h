/* gpuarray.h - the header of a device array, shared by the files of _array and by the kernels of
 * both backends.
 *
 * Kernels read this struct when an array is passed to them: _opencl and _cuda know the type,
 * through _set_array_type(), but not the module. */
#ifndef PG_GPUARRAY_H
#define PG_GPUARRAY_H

#include "common/pg.h"

#define ARRAY_MAX_DIMS    32
#define ARRAY_INLINE_DIMS 4

enum { ARRAY_C = 1, ARRAY_F = 2 };

typedef struct Table Table; /* src/array/launch_table.h */

/* Attributes that programs read often. They are made together with the array, because reading a
 * member is faster than creating an int or a tuple each time. */
typedef struct {
    PyObject *shape, *strides, *size, *nbytes, *itemsize;
} LayoutObjects;

typedef struct {
    PyObject_HEAD
    PyObject *backend;   /* a pygpu._src.runtime.backend.Backend */
    Table *table;        /* the backend's table, or NULL */
    PyObject *queue;     /* OpenCL: CommandQueue, or None before one is known; CUDA: Stream, or None
                          * for the default stream */
    PyObject *base_data; /* owns the memory; None for an array without memory */
    PyObject *allocator; /* a callable, or None for the backend's pool */
    PyObject *events;    /* an EventList shared with views, or NULL if there are no events yet */
    PyObject *event;     /* the latest event, if it is not in the list yet, or NULL */
    PyObject *context;   /* OpenCL: the Context, or NULL */
    PyArray_Descr *dtype;
    Py_ssize_t offset;     /* byte offset of the first item in the memory */
    Py_ssize_t size;       /* in items */
    LayoutObjects objects; /* the layout as Python objects */
    PyObject *offset_object;
    int ndim, flags;
    char foreign; /* some events may belong to other queues than `queue`, so commands have to wait
                   * for them */
    Py_ssize_t *dims; /* shape, then strides in bytes; points to inline_dims if they fit */
    Py_ssize_t inline_dims[2 * ARRAY_INLINE_DIMS];
    PyObject *weakrefs;
} GPUArray;

#define ARRAY_SHAPE(a)    ((a)->dims)
#define ARRAY_STRIDES(a)  ((a)->dims + (a)->ndim)
#define ARRAY_ITEMSIZE(a) ((Py_ssize_t)PyDataType_ELSIZE((a)->dtype))

#endif
