/* host_array.h - ndarrays over driver memory. */
#ifndef PYGPU_OPENCL_HOST_ARRAY_H
#define PYGPU_OPENCL_HOST_ARRAY_H

#include "opencl/opencl.h"

#define OCL_MAX_DIMS 32
typedef struct {
    int n;
    npy_intp dims[OCL_MAX_DIMS], strides[OCL_MAX_DIMS];
    PyArray_Descr *dtype; /* owned */
    size_t size;          /* distance in bytes from the first to the end of the last item */
} ArrayLayout;

/* Reads shape, dtype, order ('C' or 'F') and strides (bytes, or None); checks for overflow. */
int ocl_array_layout(const char *call, PyObject *shape, PyObject *dtype, PyObject *order,
                     PyObject *strides, ArrayLayout *layout);
/* Makes an ndarray at pointer whose base is owner; takes over the layout's dtype. */
PyArrayObject *ocl_array_from_layout(PyObject *owner, ArrayLayout *layout, void *pointer,
                                     int writable);
/* Both steps, for size bytes at pointer. NULL with an exception if the array would exceed them. */
PyArrayObject *ocl_array_over(PyObject *owner, const char *call, PyObject *shape, PyObject *dtype,
                              PyObject *order, PyObject *strides, void *pointer, size_t size,
                              int writable);

#endif
