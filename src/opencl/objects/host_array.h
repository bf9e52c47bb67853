/* host_array.h - ndarrays over memory of the driver. */
#ifndef PYGPU_OPENCL_HOST_ARRAY_H
#define PYGPU_OPENCL_HOST_ARRAY_H

#include "opencl/opencl.h"

#define OCL_MAX_DIMS 32
typedef struct {
    int n;
    npy_intp dims[OCL_MAX_DIMS], strides[OCL_MAX_DIMS];
    PyArray_Descr *dtype; /* owned */
    size_t size;          /* bytes from the first to the end of the last item */
} ArrayLayout;

/* Reads shape, dtype, order ('C' or 'F') and strides (bytes, or None); checks for overflow. */
int ocl_array_layout(const char *call, PyObject *shape, PyObject *dtype, PyObject *order,
                     PyObject *strides, ArrayLayout *layout);
/* An ndarray at pointer whose base is owner; takes the layout's dtype. */
PyArrayObject *ocl_array_from_layout(PyObject *owner, ArrayLayout *layout, void *pointer,
                                     int writable);
/* Both in one, for size bytes at pointer. NULL with an exception if the array would reach past the
 * end. */
PyArrayObject *ocl_array_over(PyObject *owner, const char *call, PyObject *shape, PyObject *dtype,
                              PyObject *order, PyObject *strides, void *pointer, size_t size,
                              int writable);

#endif
