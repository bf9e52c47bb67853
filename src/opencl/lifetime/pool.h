/* pool.h - what the files of the memory pools share: pool, blocks, allocator. */
#ifndef PYGPU_POOL_H
#define PYGPU_POOL_H

#include "common/pool.h"
#include "opencl/lifetime/usage.h"
#include "opencl/opencl.h"

/* AllocatorBase and its subclasses, and SVMAllocator. */
typedef struct {
    OCL_HEAD
    Context *context;
    Queue *queue; /* ImmediateAllocator: its queue; SVMAllocator: the allocations' queue, or NULL */
    cl_bitfield flags;
    size_t alignment; /* SVMAllocator */
} Allocator;

PyObject *ocl_allocator_repr(PyObject *op); /* in opencl/objects/repr.c */

struct Pool;

/* Device memory that a pool owns, held or handed out. */
typedef struct Block {
    Usage usage; /* must be first: the objects handed out reach their block through it */
    PgBlock head;
    struct Pool *pool; /* borrowed from the owner while held, a strong reference while handed out */
    cl_mem mem;        /* NULL if lost to a command of another thread; see PooledBuffer_release */
    Memory *shell; /* held: its last owner's dead object, which is revived for the next request */
    PyObject *memory; /* SVM: its address, and the capsule that frees it */
    void *pointer;
} Block;

typedef struct Pool {
    OCL_HEAD
    vectorcallfunc call;
    Allocator *allocator;
    PgPool held;
    int (*make)(struct Pool *self, Block *block); /* allocates block->size bytes */
    PyObject *(*wrap)(Block *block); /* makes an object that owns the block; NULL with an exception:
                                      * the block is still unowned */
} Pool;

/* Call when its owner is gone: the block is held for the next request, or freed. */
void ocl_block_return(Block *block);
void ocl_block_free(Block *block);
/* Makes a Buffer with an allocator. asked: the size that the user asked for, for the message. */
PyObject *ocl_allocator_buffer(Allocator *self, size_t size, size_t asked);

int ocl_pool_make_buffer(Pool *pool, Block *block);
PyObject *ocl_pool_wrap_buffer(Block *block);
int ocl_pool_make_svm(Pool *pool, Block *block);
PyObject *ocl_pool_wrap_svm(Block *block);

#endif
