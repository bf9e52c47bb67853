/* pool.h - what the files of the memory pools share: the pool, its blocks, its allocator. */
#ifndef PYGPU_POOL_H
#define PYGPU_POOL_H

#include "common/pool.h"
#include "opencl/lifetime/usage.h"
#include "opencl/opencl.h"

/* AllocatorBase and what derives from it, and SVMAllocator. */
typedef struct {
    OCL_HEAD
    Context *context;
    Queue *queue; /* ImmediateAllocator; SVMAllocator: of the allocations, or NULL */
    cl_bitfield flags;
    size_t alignment; /* SVMAllocator */
} Allocator;

struct Pool;

/* Device memory that a pool owns, held or handed out. */
typedef struct Block {
    Usage usage; /* first: the objects that are handed out know their block as this */
    PgBlock head;
    struct Pool *pool; /* held: the owner; handed out: a strong reference */
    cl_mem mem;        /* NULL: lost to a command of another thread, see PooledBuffer_release */
    Memory *shell; /* held: the dead object of its last owner, made alive again for the next one */
    PyObject *memory; /* SVM: the capsule that frees it, and its address */
    void *pointer;
} Block;

typedef struct Pool {
    OCL_HEAD
    vectorcallfunc call;
    Allocator *allocator;
    PgPool held;
    int (*make)(struct Pool *self, Block *block); /* gets memory of block->size bytes */
    PyObject *(*wrap)(
        Block *block); /* an object that owns the block; NULL with an exception: nobody does */
} Pool;

/* An owner has gone: its block is held for the next one, or freed. */
void ocl_block_return(Block *block);
void ocl_block_free(Block *block);
/* A Buffer of an allocator. asked: by the user, for the message. */
PyObject *ocl_allocator_buffer(Allocator *self, size_t size, size_t asked);

int ocl_pool_make_buffer(Pool *pool, Block *block);
PyObject *ocl_pool_wrap_buffer(Block *block);
int ocl_pool_make_svm(Pool *pool, Block *block);
PyObject *ocl_pool_wrap_svm(Block *block);

#endif
