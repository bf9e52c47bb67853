/* pool.c - the common part of the memory pools: they hold freed memory by size class for later
 * requests, so that most need no driver call.
 *
 * A request takes any held block of its bin, even if work of a former owner still uses it: the
 * block records the streams, and the new owner's first work on another stream waits for them
 * (usage.c). */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/host_memory.h"
#include "cuda/lifetime/pool.h"
#include "cuda/lifetime/usage.h"
#include "cuda/memory.h"
#include "cuda/simulator_hooks.h"

static PgPool *pools; /* all pools; protected by the GIL */

/* ---- blocks ---------------------------------------------------------------------------------- */

static Block *block_of(PgBlock *head) {
    return (Block *)(void *)((char *)head - offsetof(Block, head));
}

/* Call with a block that is neither held nor owned. */
static void Block_free(Block *block) {
    Pool *pool = block->pool;
    Context *context = pool->context;
    CUdeviceptr ptr = block->ptr;
    void *data = block->data;
    pool->held.managed_bytes -= (Py_ssize_t)block->head.size;
    if (block->shell != NULL) {
        PyTypeObject *type = Py_TYPE(block->shell);
        Py_XDECREF((PyObject *)block->shell->head.context);
        type->tp_free((PyObject *)block->shell);
        Py_DECREF(type);
    }
    Usage usage = block->usage;
    PyMem_Free(block);
    Py_INCREF((PyObject *)context);
    if (ptr != 0) {
        cud_memory_free(context, ptr); /* the driver waits for work that still uses it */
    }
    if (data != NULL) {
        CUresult status;
        cud_live[LIVE_HOST]--;
        FREE_IN_CONTEXT(context, status, CU_NOGIL(status, cuMemFreeHost, data));
        cud_context_drop_host_memory(context);
    }
    cud_usage_clear(&usage);
    Py_DECREF((PyObject *)context);
}

static int (*use_hook)(CUdeviceptr base, size_t size); /* pygpuSimUse, if the simulator checks the
                                                        * use of memory */

void cud_pools_set_use_hook(void *function) {
    *(void **)(void *)&use_hook = function;
    if (use_hook != NULL && use_hook(0, 0) == 0) {
        use_hook = NULL;
    }
}

void cud_block_return(Block *block) {
    Pool *pool = block->pool;
    pg_pool_count_back(&pool->held, &block->head);
    if (pool->held.stopped || !pool->context->alive) {
        Block_free(block);
    } else {
        cud_usage_change_owner(&block->usage);
        pg_pool_hold(&pool->held, &block->head, POOL_BITS);
    }
    Py_DECREF((PyObject *)pool);
}

/* Allocates memory for a new block in the pool's own context. */
static int Block_fill(Pool *self, Block *block, size_t asked, const char *call) {
    ContextGuard guard;
    CUresult status;
    if (cud_context_enter(self->context, &guard, &status) < 0) {
        if (cud_context_check(self->context, call) == 0) {
            cud_raise(self->state, "cuCtxPushCurrent", status);
        }
        return -1;
    }
    if (self->host) {
        block->data = cud_host_alloc(self->context, block->head.size, asked, self->flags);
    } else {
        block->ptr = cud_memory_alloc(self->state, block->head.size, asked);
    }
    cud_context_leave(&guard);
    return block->data != NULL || block->ptr != 0 ? 0 : -1;
}

static Block *Block_new(Pool *self, uint32_t bin, size_t asked, const char *call) {
    Block *block = PyMem_Calloc(1, sizeof *block);
    if (block == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    block->usage.latest = CUD_NO_STREAM;
    block->pool = self;
    if (pg_pool_size_block(&self->held, &block->head, bin) < 0 ||
        Block_fill(self, block, asked, call) < 0) {
        PyMem_Free(block);
        return NULL;
    }
    self->held.managed_bytes += (Py_ssize_t)block->head.size;
    return block;
}

/* Takes a held block off its list, preferably one whose former work can be waited for. */
static Block *take_held(PgBlock **bin) {
    for (PgBlock **link = bin; *link != NULL; link = &(*link)->next) {
        Block *block = block_of(*link);
        if (PG_UNLIKELY(block->usage.before.first.stream != NULL) &&
            cud_usage_captured(&block->usage)) {
            continue;
        }
        *link = block->head.next;
        return block;
    }
    return NULL;
}

Block *cud_pool_take(Pool *self, size_t size, const char *call) {
    if (PG_UNLIKELY(self->context == NULL) &&
        (self->context = cud_context_current(self->state)) == NULL) {
        return NULL;
    }
    if (PG_UNLIKELY(!self->context->alive)) {
        cud_context_check(self->context, call);
        return NULL;
    }
    uint32_t number = pg_bin_number(size, POOL_BITS);
    PgBlock **bin = pg_pool_bin(&self->held, number, POOL_BITS);
    Block *block = bin != NULL && *bin != NULL ? take_held(bin) : NULL;
    if (PG_UNLIKELY(self->held.trace)) {
        pg_pool_print(&self->held, size, number, block != NULL);
    }
    if (block != NULL) {
        self->held.held_blocks--;
    } else if ((block = Block_new(self, number, size, call)) == NULL) {
        return NULL;
    }
    block->head.asked = size;
    if (PG_UNLIKELY(use_hook != NULL) && block->ptr != 0) {
        (void)use_hook(block->ptr, size);
    }
    pg_pool_count_out(&self->held, &block->head);
    Py_INCREF((PyObject *)self); /* for block->pool */
    return block;
}

static void free_block(PgBlock *head) {
    Block_free(block_of(head));
}

void cud_pools_trim(Context *of) {
    for (PgPool *pool = pg_pool_from(pools); pool != NULL; pool = pg_pool_after(pool)) {
        if (of == NULL || ((Pool *)pool->owner)->context == of) {
            pg_pool_free_all(pool);
        }
    }
}

/* ---- life cycle ------------------------------------------------------------------------------ */

Pool *cud_pool_new(PyTypeObject *type, int host, unsigned int flags) {
    State *state = cud_state_of(type);
    Pool *self = state != NULL ? (Pool *)PG_NEW(type) : NULL;
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->host = host;
    self->held.leading_bits = POOL_BITS;
    self->flags = flags;
    pg_pool_join(&self->held, (PyObject *)self, &pools, free_block);
    return self;
}

static int visit_block(PgBlock *head, visitproc visit, void *arg) {
    Block *block = block_of(head);
    if (block->shell != NULL) { /* a dead object, which still keeps its context */
        Py_VISIT((PyObject *)block->shell->head.context);
    }
    return cud_usage_visit(&block->usage, visit, arg);
}

int cud_pool_traverse(PyObject *op, visitproc visit, void *arg) {
    Pool *self = (Pool *)op;
    CUD_VISIT(op);
    Py_VISIT((PyObject *)self->context);
    return pg_pool_visit(&self->held, visit_block, visit, arg);
    /* no tp_clear, because the context is needed to free blocks */
}

void cud_pool_dealloc(PyObject *op) {
    Pool *self = (Pool *)op;
    PyObject_GC_UnTrack(op);
    pg_pool_end(&self->held, op, self->weakrefs);
    Py_XDECREF((PyObject *)self->context);
    cud_object_free(op);
}

/* ---- methods --------------------------------------------------------------------------------- */

PG_DEFINE_POOL_METHODS(Pool, held)

PyMethodDef cud_pool_methods[] = {PG_NO_PICKLE, PG_POOL_METHODS, {NULL, NULL, 0, NULL}};
PyMemberDef cud_pool_members[] = {
    PG_POOL_MEMBERS(Pool, held),
    {NULL, 0, 0, 0, NULL},
};

static PyObject *bitlog2(PyObject *Py_UNUSED(module), PyObject *obj) {
    size_t value;
    return pg_as_size(obj, "bitlog2", "value", &value) < 0
               ? NULL
               : PyLong_FromUnsignedLong(pg_bin_number(value, 0));
}

PyMethodDef cud_pool_functions[] = {
    {"bitlog2", bitlog2, METH_O,
     "bitlog2(value, /)\n--\n\n(value: int, /) -> int\n\nThe position of the highest bit that is "
     "set; 0 for 0."},
    {NULL, NULL, 0, NULL},
};
