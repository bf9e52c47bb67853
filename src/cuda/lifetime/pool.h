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
    struct Pool *pool; /* held: the owner; handed out: a strong reference */
    CUdeviceptr ptr;   /* of the device, or */
    void *data;        /* of the host */
    Usage usage;
    struct Pooled
        *shell; /* held: the dead object of its last owner, made alive again for the next one */
} Block;

typedef struct Pooled { /* a PooledDeviceAllocation */
    Allocation head;
    Block *block;
} Pooled;

typedef struct Pool {
    CUD_HEAD
    Context *
        context; /* of all its memory: the one that was current at the first request; NULL before */
    int host;
    unsigned int flags; /* host: of its memory */
    PgPool held;
} Pool;

#define POOL_BITS 4 /* leading bits that tell bins apart, as in PyCUDA */

Pool *cud_pool_new(PyTypeObject *type, int host, unsigned int flags);
/* A block of at least size bytes, counted as handed out; NULL with an exception. */
Block *cud_pool_take(Pool *self, size_t size, const char *call);
/* Its owner has gone: it is held for the next one, or freed. Drops the owner's reference to the
 * pool. */
void cud_block_return(Block *block);
int cud_pool_traverse(PyObject *op, visitproc visit, void *arg);
void cud_pool_dealloc(PyObject *op);
extern PyMethodDef cud_pool_methods[];
extern PyMemberDef cud_pool_members[];

#endif
