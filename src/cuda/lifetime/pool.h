/* pool.h - what the files of the memory pools share. */
#ifndef PYGPU_CUDA_POOL_H
#define PYGPU_CUDA_POOL_H

#include "common/pool.h"
#include "cuda/cuda.h"
#include "cuda/lifetime/usage.h"
#include "cuda/memory.h"

struct Pool;

/* Memory that a pool owns, held or handed out. */
typedef struct Block {
    PgBlock head;
    struct Pool *pool; /* borrowed from the owner while held, a strong reference while handed out */
    CUdeviceptr ptr;   /* device memory, or */
    void *data;        /* host memory */
    Usage usage;
    struct Pooled
        *shell; /* held: its last owner's dead object, which is revived for the next request */
} Block;

typedef struct Pooled { /* a PooledDeviceAllocation */
    Allocation head;
    Block *block;
} Pooled;

typedef struct Pool {
    CUD_HEAD
    Context *
        context; /* of all its memory: the current context at the first request; NULL before that */
    int host;
    unsigned int flags; /* host: flags of its memory */
    PgPool held;
} Pool;

#define POOL_BITS 4 /* how many leading bits distinguish bins, as in PyCUDA */

Pool *cud_pool_new(PyTypeObject *type, int host, unsigned int flags);
/* Returns a block of at least size bytes, counted as handed out; NULL with an exception. */
Block *cud_pool_take(Pool *self, size_t size, const char *call);
/* Call when its owner is gone: the block is held for the next request, or freed. Drops the owner's
 * reference to the pool. */
void cud_block_return(Block *block);
int cud_pool_traverse(PyObject *op, visitproc visit, void *arg);
void cud_pool_dealloc(PyObject *op);
extern PyMethodDef cud_pool_methods[];
extern PyMemberDef cud_pool_members[];

#endif
