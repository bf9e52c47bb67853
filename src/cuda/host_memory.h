/* host_memory.h - host memory: arrays that are copied, and memory known to the driver. */
#ifndef PYGPU_CUDA_HOST_MEMORY_H
#define PYGPU_CUDA_HOST_MEMORY_H

#include "cuda/context.h"

typedef struct {
    void *data;
    size_t size;
    PyObject *array; /* an ndarray is used directly, because its buffer protocol costs more than a
                      * small copy */
    Py_buffer view;
} HostBytes;

/* Gets the contiguous bytes of a host array. Returns -1 with an exception that names call and
 * argument. */
int cud_host_bytes(State *state, PyObject *obj, const char *call, const char *name, int write,
                   HostBytes *out);
void cud_host_release(HostBytes *bytes);
/* A new reference to what keeps the bytes in place until a stream has done its work; NULL with an
 * exception. */
PyObject *cud_host_owner(PyObject *obj);

enum { HOST_PAGELOCKED, HOST_ALIGNED, HOST_REGISTERED, HOST_POOLED };

typedef struct {
    CUD_HEAD
    void *data;
    size_t size;
    Context *context; /* NULL for HOST_ALIGNED */
    int freed, kind;
    void *allocated;     /* HOST_ALIGNED: the result of malloc */
    PyObject *array;     /* weak reference to the returned ndarray */
    PyObject *owner;     /* HOST_REGISTERED: the owner of the memory; HOST_POOLED: the pool */
    struct Block *block; /* HOST_POOLED */
    void *scalar;        /* what a 0-d array shows after free() */
} HostMemory;

HostMemory *cud_host_memory_new(State *state, PyTypeObject *type, int kind,
                                Context *context); /* context may be NULL */
void cud_host_memory_dealloc(PyObject *op);
PyObject *cud_host_memory_free(PyObject *op, PyObject *ignored);
void *cud_host_alloc(Context *context, size_t size, size_t asked,
                     unsigned int flags); /* calls cuMemHostAlloc; NULL with an exception */
/* The bytes of memory that the machine can still provide; SIZE_MAX if unknown, or if size is too
 * small to matter. */
size_t cud_host_available(size_t size);                   /* host_available.c */
void cud_host_block_return(HostMemory *self, void *data); /* pool_host.c */

/* Copies of host memory first wait here, where Ctrl-C works. Returns 1 if nothing is pending, so
 * that a short call may keep the GIL. */
int cud_wait_before_copy(State *state, const char *routine, size_t size);

#endif
