/* memory.h - memory objects. */
#ifndef PYGPU_OPENCL_MEMORY_H
#define PYGPU_OPENCL_MEMORY_H

#include "opencl/context.h"

/* A memory object: Buffer, Image, Pipe, PooledBuffer. mem is NULL after release(). */
typedef struct Memory {
    OCL_HEAD
    cl_mem mem;
    Context *context;
    PyObject *hostbuf; /* the object passed as hostbuf with USE_HOST_PTR, otherwise NULL */
    size_t size;       /* in bytes; 0 for an image */
    cl_bitfield flags,
        added_flags; /* added_flags: flags added for the driver; see ocl_flags_to_commit() */
    cl_mem_object_type type;
    int users, exposed; /* users: calls that use mem now, with the GIL released. exposed: an array
                         * may view hostbuf, so it stays as long as the object */
    cl_mem retired;     /* released while in use; given back when users drops to 0 */
    void *pool;         /* PooledBuffer and its sub-buffers: the block, see pool.c */
    PyObject *parent;   /* sub-buffer: the object it is part of, as drivers differ in keeping that
                         * alive */
    struct Region *region;  /* sub-buffer: its place in the list ... */
    struct Region *regions; /* ... of the whole buffer, see region.c; NULL if there is none */
    PyObject *dict;
} Memory;

PyObject *ocl_memory_wrap(State *state, PyTypeObject *type, cl_mem mem, int retain,
                          Context *context); /* context may be NULL */
void ocl_memory_dealloc(PyObject *op);
int ocl_memory_traverse(PyObject *op, visitproc visit, void *arg);
/* Returns a live memory object (or buffer) of the given context (NULL: any), or NULL with an
 * exception that describes obj. */
Memory *ocl_as_memory(State *state, PyObject *obj, const char *call, const char *name,
                      cl_context context),
    *ocl_as_buffer(State *state, PyObject *obj, const char *call, const char *name,
                   cl_context context);
int ocl_memory_alive(Memory *self, const char *call); /* returns 0, or -1 with "was released" */
/* Around a driver call without the GIL: release() by another thread takes effect only
 * afterwards. */
static inline void ocl_memory_pin(Memory *self) {
    self->users++;
}
void ocl_memory_unpin(Memory *self);
int ocl_check_mem_flags(State *state, const char *call,
                        cl_mem_flags flags); /* returns -1 with a LogicError */
/* Fills a fresh object with a handle, which it takes over; reads size, flags and type from the
 * driver. */
int ocl_memory_fill(Memory *self, cl_mem mem, Context *context);
PG_VECTORCALL(ocl_buffer);
cl_mem_flags ocl_flags_to_commit(const Context *context, cl_mem_flags flags, size_t size);
/* asked: the size that the user asked for, for the message. */
PyObject *ocl_buffer_create(State *state, PyTypeObject *type, Context *context, cl_mem_flags flags,
                            size_t size, size_t asked, void *host);

#endif
