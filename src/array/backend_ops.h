/* backend_ops.h - the classes and commands of each backend that C uses without asking Python. */
#ifndef PYGPU_ARRAY_BACKEND_OPS_H
#define PYGPU_ARRAY_BACKEND_OPS_H

#include "array/arraymod.h"

/* What a backend registers when it is imported; NULL until then, and what it does not have. */
/* clang-format off */
#define BACKEND_OPS(X) \
    X(array_class)       /* the class of its arrays */ \
    X(pools)             /* types of our allocators, whose memory has the size asked for */ \
    X(copy)              /* OpenCL: every copy; CUDA: on the device */ \
    X(fill)              /* repeats a byte */ \
    X(to_device)         /* CUDA: from the host */ \
    X(to_host)           /* CUDA */ \
    X(current_context)   /* CUDA */ \
    X(default_allocator) /* CUDA: what allocator=None is, too */ \
    X(address_range)     /* CUDA: (start, size) of the allocation that holds an address */ \
    X(shared_memory)     /* OpenCL: the type of SVM pointers, which copies treat apart */ \
    X(zero_byte)         /* OpenCL: the pattern that fill takes */
/* clang-format on */

typedef struct {
#define X(name) PyObject *name;
    BACKEND_OPS(X)
#undef X
} BackendOps;
extern BackendOps arr_cuda, arr_opencl;

/* What is the same for both. */
typedef struct {
    PyObject *flags;      /* tuple of 4: the flags objects for C and F contiguity */
    PyObject *no_backend; /* of an array whose __init__() was not called */
} ArrayValues;
extern ArrayValues arr_values;

void arr_forget_backends(void); /* at the end of the process */

#endif
