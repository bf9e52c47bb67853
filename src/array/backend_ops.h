/* backend_ops.h - the classes and commands of each backend that C uses directly. */
#ifndef PYGPU_ARRAY_BACKEND_OPS_H
#define PYGPU_ARRAY_BACKEND_OPS_H

#include "array/arraymod.h"

/* A backend registers these when it is imported; NULL before that, and for what it lacks. */
/* clang-format off */
#define BACKEND_OPS(X) \
    X(array_class)       /* the class of its arrays */ \
    X(pools)             /* types of our allocators, whose memory has the requested size */ \
    X(copy)              /* OpenCL: any copy; CUDA: copies on the device */ \
    X(fill)              /* repeats one byte */ \
    X(to_device)         /* CUDA: from the host */ \
    X(to_host)           /* CUDA */ \
    X(current_context)   /* CUDA */ \
    X(default_allocator) /* CUDA: what allocator=None means as well */ \
    X(address_range)     /* CUDA: (start, size) of the allocation at an address */ \
    X(shared_memory)     /* OpenCL: the type of SVM pointers, which copies treat differently */ \
    X(zero_byte)         /* OpenCL: the pattern for fill */
/* clang-format on */

typedef struct {
#define X(name) PyObject *name;
    BACKEND_OPS(X)
#undef X
} BackendOps;
extern BackendOps arr_cuda, arr_opencl;

/* Common to both backends. */
typedef struct {
    PyObject *flags;      /* tuple of 4: the flags objects for C and F contiguity */
    PyObject *no_backend; /* of an array whose __init__() was not called */
} ArrayValues;
extern ArrayValues arr_values;

void arr_clear_backends(void); /* called when the process ends */

#endif
