/* host_memory.h - memory of the host: arrays that are copied, and memory that the driver knows. */
#ifndef PYGPU_CUDA_HOST_MEMORY_H
#define PYGPU_CUDA_HOST_MEMORY_H

#include "cuda/context.h"

typedef struct {
    void *data;
    size_t size;
    PyObject
        *array; /* an ndarray is used as it is: its buffer protocol costs more than a small copy */
    Py_buffer view;
} HostBytes;

/* Contiguous bytes of a host array; -1 with an exception that names call and argument. */
int cud_host_bytes(State *state, PyObject *obj, const char *call, const char *name, int write,
                   HostBytes *out);
void cud_host_release(HostBytes *bytes);
/* What keeps the bytes in place until a stream has done its work; new, NULL with an exception. */
PyObject *cud_host_owner(PyObject *obj);

enum { HOST_PAGELOCKED, HOST_ALIGNED, HOST_REGISTERED, HOST_POOLED };

typedef struct {
    CUD_HEAD
    void *data;
    size_t size;
    Context *context; /* NULL: HOST_ALIGNED */
    int freed, kind;
    void *allocated;     /* HOST_ALIGNED: what malloc gave */
    PyObject *array;     /* weak reference to the ndarray that was returned */
    PyObject *owner;     /* HOST_REGISTERED: whose memory it is; HOST_POOLED: the pool */
    struct Block *block; /* HOST_POOLED */
    void *scalar;        /* what a 0-d array shows after free() */
} HostMemory;

HostMemory *cud_host_memory_new(State *state, PyTypeObject *type, int kind,
                                Context *context); /* context may be NULL */
void cud_host_memory_dealloc(PyObject *op);
PyObject *cud_host_memory_free(PyObject *op, PyObject *ignored);
void *cud_host_alloc(Context *context, size_t size, size_t asked,
                     unsigned int flags); /* cuMemHostAlloc; NULL with an exception */
/* Bytes of memory that the machine can still give; SIZE_MAX if that is not known, or size is too
 * small to matter. */
size_t cud_host_room(size_t size);                        /* host_room.c */
void cud_host_block_return(HostMemory *self, void *data); /* pool_host.c */

/* Copies of host memory first wait here, where Ctrl-C is heard. 1: nothing is pending, so a short
 * call may keep the GIL. */
int cud_wait_before_copy(State *state, const char *routine, size_t size);

#endif
