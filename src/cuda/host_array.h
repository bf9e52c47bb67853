/* host_array.h - ndarrays over host memory known to the driver. */
#ifndef PYGPU_CUDA_HOST_ARRAY_H
#define PYGPU_CUDA_HOST_ARRAY_H

#include "common/host_array.h"
#include "cuda/cuda.h"

/* pg_array_layout() without strides; refuses dtypes with a shape. */
int cud_array_layout(const char *call, PyObject *shape, PyObject *dtype, PyObject *order,
                     PgArrayLayout *layout);
/* The shape and dtype of another array, in the order of its axes. */
int cud_array_layout_like(const char *call, PyObject *other, PgArrayLayout *layout);
/* pg_array_from_layout() for writable memory. *weak: set to a weak reference to the array. */
PyObject *cud_array_over(PyObject *owner, PgArrayLayout *layout, void *data, PyObject **weak);
void cud_array_zero(PyObject *array);

#endif
