/* host_array.h - the layout of an ndarray over driver memory. */
#ifndef PYGPU_CUDA_HOST_ARRAY_H
#define PYGPU_CUDA_HOST_ARRAY_H

#include "cuda/cuda.h"

#define CUD_MAX_DIMS 32
typedef struct ArrayLayout {
    PyArray_Descr *dtype; /* owned */
    int n, fortran;
    npy_intp dims[CUD_MAX_DIMS];
    size_t size;
} ArrayLayout;

int cud_array_layout(const char *call, PyObject *shape, PyObject *dtype, PyObject *order,
                     ArrayLayout *layout);
/* Takes over layout->dtype. owner becomes the base; *weak, if given, a weak reference to the
 * array. */
PyObject *cud_array_over(PyObject *owner, ArrayLayout *layout, void *data, PyObject **weak);
/* The shape and dtype of another array, in the order of its axes. */
int cud_array_layout_like(const char *call, PyObject *other, ArrayLayout *layout);
void cud_array_zero(PyObject *array);

#endif
