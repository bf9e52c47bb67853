/* managed.h - managed memory, and the array over it. */
#ifndef PYGPU_CUDA_MANAGED_H
#define PYGPU_CUDA_MANAGED_H

#include "cuda/host_array.h"
#include "cuda/memory.h"

/* A ManagedAllocation, and the array whose base it is. */
typedef struct {
    Allocation head;
    PyObject *array; /* weak reference */
    void *scalar;    /* what a 0-d array shows after free() */
} CudManaged;

PyObject *cud_new_managed(State *state, PgArrayLayout *layout, PyObject *flags,
                          const char *call); /* managed.c */

#endif
