/* memory.h - memory objects. */
#ifndef PYGPU_OPENCL_MEMORY_H
#define PYGPU_OPENCL_MEMORY_H

#include "opencl/context.h"

/* A memory object: Buffer, Image, Pipe, PooledBuffer. mem is NULL once released. */
typedef struct Memory {
    OCL_HEAD
    cl_mem mem;
    Context *context;
    PyObject *hostbuf; /* the object given as hostbuf with USE_HOST_PTR, else NULL */
    size_t size;       /* bytes; 0 for an image */
    cl_bitfield flags,
        added_flags; /* added: what the driver was told besides; see ocl_flags_to_commit() */
    cl_mem_object_type type;
    int users, exposed; /* calls with the GIL released that use mem now; an array may look at
                           hostbuf: it stays as long as the object */
    cl_mem retired;     /* released meanwhile: given back when users is 0 */
    void *pool;         /* PooledBuffer and its regions: the block, see pool.c */
    PyObject *parent;   /* a region: the object that it is a part of; drivers differ in keeping that
                           alive themselves */
    struct Region *region; /* a region: its place in the list ... */
    struct Region
        *regions; /* ... of a buffer that is no region, see region.c; NULL where there is none */
    PyObject *dict;
} Memory;

PyObject *ocl_memory_wrap(State *state, PyTypeObject *type, cl_mem mem, int retain,
                          Context *context); /* context may be NULL */
void ocl_memory_dealloc(PyObject *op);
int ocl_memory_traverse(PyObject *op, visitproc visit, void *arg);
/* A live memory object (or buffer) of the given context (NULL: any) or NULL with an exception that
 * says what came. */
Memory *ocl_as_memory(State *state, PyObject *obj, const char *call, const char *name,
                      cl_context context),
    *ocl_as_buffer(State *state, PyObject *obj, const char *call, const char *name,
                   cl_context context);
int ocl_memory_alive(Memory *self, const char *call); /* 0, or -1 with "was released" */
/* Around a driver call that is made with the GIL released: another thread's release() takes effect
 * only afterwards. */
static inline void ocl_memory_pin(Memory *self) {
    self->users++;
}
void ocl_memory_unpin(Memory *self);
int ocl_check_mem_flags(State *state, const char *call,
                        cl_mem_flags flags); /* -1 with a LogicError */
/* Fills a fresh object with a handle that it takes over; reads size, flags and type from the
 * driver. */
int ocl_memory_fill(Memory *self, cl_mem mem, Context *context);
PG_VECTORCALL(ocl_buffer);
cl_mem_flags ocl_flags_to_commit(const Context *context, cl_mem_flags flags, size_t size);
/* asked: by the user, for the message. */
PyObject *ocl_buffer_create(State *state, PyTypeObject *type, Context *context, cl_mem_flags flags,
                            size_t size, size_t asked, void *host);

#endif
