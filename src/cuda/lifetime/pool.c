/* pool.c - the memory pools' common part: freed memory held by size class for the next request, so
 * that most need no driver call.
 *
 * A request takes any held block of its bin. Whether work of a former owner still uses it is no
 * question then: the block remembers the streams, and the first work of the new owner on another
 * stream waits for it (usage.c). */
#include "cuda/lifetime/pool.h"

static Pool *pools; /* all there are; GIL held */

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Not held, nobody's. */
static void Block_free(Block *block) {
    Pool *pool = block->pool;
    Context *context = pool->context;
    CUdeviceptr ptr = block->ptr;
    void *data = block->data;
    pool->managed_bytes -= (Py_ssize_t)block->size;
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
        cud_memory_free(context, ptr); /* the driver waits for work that uses it */
    }
    if (data != NULL) {
        ContextGuard guard;
        CUresult status;
        cud_live[LIVE_HOST]--;
        if (cud_context_enter_free(context, &guard, &status) == 0) {
            Py_BEGIN_ALLOW_THREADS
            CU_CALL(status, cuMemFreeHost, data);
            Py_END_ALLOW_THREADS
            cud_context_leave(&guard);
        }
        cud_context_returned(context);
    }
    cud_usage_clear(&usage);
    Py_DECREF((PyObject *)context);
}

static int (*tell_use)(CUdeviceptr base, size_t size); /* pygpuSimUse, if it looks at that */

void cud_pools_tell(void *function) {
    *(void **)(void *)&tell_use = function;
    if (tell_use != NULL && tell_use(0, 0) == 0) {
        tell_use = NULL;
    }
}

static Block **bin_of(Pool *self, uint32_t bin) {
    Block **exponent = self->bins[bin >> POOL_BITS];
    return exponent == NULL ? NULL : &exponent[bin & ((1u << POOL_BITS) - 1u)];
}

void cud_block_return(Block *block) {
    Pool *pool = block->pool;
    pool->active_blocks--;
    pool->active_bytes -= (Py_ssize_t)block->asked;
    if (pool->stopped || !pool->context->alive) {
        Block_free(block);
    } else {
        cud_usage_pass_on(&block->usage);
        Block **bin = bin_of(pool, block->bin);
        block->next = *bin;
        *bin = block;
        pool->held_blocks++;
    }
    Py_DECREF((PyObject *)pool);
}

/* Memory for a new block, in the pool's own context. */
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
        block->data = cud_host_alloc(self->context, block->size, asked, self->flags);
    } else {
        block->ptr = cud_memory_alloc(self->state, block->size, asked);
    }
    cud_context_leave(&guard);
    return block->data != NULL || block->ptr != 0 ? 0 : -1;
}

static Block *Block_new(Pool *self, uint32_t bin, size_t asked, const char *call) {
    Block ***exponent =
        &self->bins[bin >> POOL_BITS]; /* made now, so that returning the block cannot fail */
    if (*exponent == NULL &&
        (*exponent = PyMem_Calloc((size_t)1 << POOL_BITS, sizeof **exponent)) == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    Block *block = PyMem_Calloc(1, sizeof *block);
    if (block == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    block->bin = bin;
    block->size = pg_bin_size(bin, POOL_BITS);
    block->usage.latest = CUD_NO_STREAM;
    block->pool = self;
    if (Block_fill(self, block, asked, call) < 0) {
        PyMem_Free(block);
        return NULL;
    }
    self->managed_bytes += (Py_ssize_t)block->size;
    return block;
}

/* Takes a held block off its list, if possible one whose former work can be waited for. */
static Block *take_held(Block **bin) {
    for (Block **link = bin; *link != NULL; link = &(*link)->next) {
        Block *block = *link;
        if (PG_UNLIKELY(block->usage.before.first.stream != NULL) &&
            cud_usage_captured(&block->usage)) {
            continue;
        }
        *link = block->next;
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
    Block **bin = bin_of(self, number),
          *block = bin != NULL && *bin != NULL ? take_held(bin) : NULL;
    if (PG_UNLIKELY(self->trace)) {
        PySys_FormatStdout("[pool] %zu bytes (bin %u): %s, %zd bytes managed\n", size,
                           (unsigned)number, block != NULL ? "held block" : "new block",
                           self->managed_bytes);
    }
    if (block != NULL) {
        self->held_blocks--;
    } else if ((block = Block_new(self, number, size, call)) == NULL) {
        return NULL;
    }
    block->asked = size;
    if (PG_UNLIKELY(tell_use != NULL) && block->ptr != 0) {
        (void)tell_use(block->ptr, size);
    }
    self->active_blocks++;
    self->active_bytes += (Py_ssize_t)size;
    Py_INCREF((PyObject *)self); /* block->pool */
    return block;
}

/* Frees all held blocks, the largest first. */
static void free_held(Pool *self) {
    for (int e = PG_BIN_EXPONENTS - 1; e >= 0; e--) {
        for (size_t m = self->bins[e] != NULL ? (size_t)1 << POOL_BITS : 0; m-- > 0;) {
            Block *block;
            while ((block = self->bins[e][m]) != NULL) {
                self->bins[e][m] = block->next;
                self->held_blocks--;
                Block_free(block);
            }
        }
    }
}

/* The next one from *from* on, kept. */
static Pool *walk(Pool *from) {
    while (from != NULL && Py_REFCNT((PyObject *)from) == 0) { /* it is being deallocated */
        from = from->next;
    }
    return (Pool *)Py_XNewRef((PyObject *)from);
}

void cud_pools_trim(Context *of) {
    for (Pool *pool = walk(pools), *next; pool != NULL; pool = next) {
        if (of == NULL || pool->context == of) {
            free_held(pool);
        }
        next = walk(pool->next);
        Py_DECREF((PyObject *)pool);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

Pool *cud_pool_new(PyTypeObject *type, int host, unsigned int flags) {
    State *state = cud_state_of(type);
    Pool *self = state != NULL ? (Pool *)PG_NEW(type) : NULL;
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->host = host;
    self->flags = flags;
    self->next = pools;
    self->link = &pools;
    if (pools != NULL) {
        pools->link = &self->next;
    }
    pools = self;
    return self;
}

int cud_pool_traverse(PyObject *op, visitproc visit, void *arg) {
    Pool *self = (Pool *)op;
    CUD_VISIT(op);
    Py_VISIT((PyObject *)self->context);
    for (int e = 0; self->held_blocks > 0 && e < PG_BIN_EXPONENTS; e++) {
        for (size_t m = self->bins[e] != NULL ? (size_t)1 << POOL_BITS : 0; m-- > 0;) {
            for (Block *block = self->bins[e][m]; block != NULL; block = block->next) {
                if (block->shell != NULL) { /* dead, but it keeps its context */
                    Py_VISIT((PyObject *)block->shell->head.context);
                }
                int result = cud_usage_visit(&block->usage, visit, arg);
                if (result != 0) {
                    return result;
                }
            }
        }
    }
    return 0; /* no tp_clear: the context is needed to free blocks */
}

void cud_pool_dealloc(PyObject *op) {
    Pool *self = (Pool *)op;
    PyObject_GC_UnTrack(op);
    if (self->link != NULL) {
        *self->link = self->next;
        if (self->next != NULL) {
            self->next->link = self->link;
        }
    }
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    free_held(self);
    for (int e = 0; e < PG_BIN_EXPONENTS; e++) {
        PyMem_Free(self->bins[e]);
    }
    Py_XDECREF((PyObject *)self->context);
    cud_object_free(op);
}

/* ---- methods --------------------------------------------------------------------------------- */

static PyObject *Pool_free_held(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    free_held((Pool *)op);
    Py_RETURN_NONE;
}

static PyObject *Pool_stop_holding(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    ((Pool *)op)->stopped = 1;
    free_held((Pool *)op);
    Py_RETURN_NONE;
}

static PyObject *Pool_bin_number(PyObject *Py_UNUSED(op), PyObject *obj) {
    size_t size;
    return pg_as_size(obj, "bin_number", "size", &size) < 0
               ? NULL
               : PyLong_FromUnsignedLong(pg_bin_number(size, POOL_BITS));
}

static PyObject *Pool_alloc_size(PyObject *Py_UNUSED(op), PyObject *obj) {
    uint32_t bin;
    if (pg_as_u32(obj, "alloc_size", "bin", &bin) < 0) {
        return NULL;
    }
    if (bin >> POOL_BITS >= PG_BIN_EXPONENTS) {
        return PyErr_Format(PyExc_ValueError, "alloc_size: there is no bin %u", (unsigned)bin);
    }
    return PyLong_FromSize_t(pg_bin_size(bin, POOL_BITS));
}

static PyObject *Pool_set_trace(PyObject *op, PyObject *flag) {
    int trace = PyObject_IsTrue(flag);
    if (trace < 0) {
        return NULL;
    }
    ((Pool *)op)->trace = (char)trace;
    Py_RETURN_NONE;
}

PyMethodDef cud_pool_methods[] = {
    CUD_NO_PICKLE,
    {"free_held", Pool_free_held, METH_NOARGS,
     "free_held($self, /)\n--\n\n() -> None\n\nFree all held blocks, the largest first."},
    {"stop_holding", Pool_stop_holding, METH_NOARGS,
     "stop_holding($self, /)\n--\n\n() -> None\n\nFree all held blocks, and from now on each block "
     "as soon as its owner drops it."},
    {"bin_number", Pool_bin_number, METH_O,
     "bin_number($self, size, /)\n--\n\n(size: int, /) -> int\n\nThe bin that serves a request of "
     "*size* bytes."},
    {"alloc_size", Pool_alloc_size, METH_O,
     "alloc_size($self, bin, /)\n--\n\n(bin: int, /) -> int\n\nThe size of the blocks of a bin "
     "[bytes]."},
    {"set_trace", Pool_set_trace, METH_O,
     "set_trace($self, flag, /)\n--\n\n(flag: bool, /) -> None\n\nPrint a line for each request."},
    {NULL, NULL, 0, NULL},
};
PyMemberDef cud_pool_members[] = {
    {"held_blocks", T_PYSSIZET, offsetof(Pool, held_blocks), READONLY,
     "int: free blocks that wait for a request"},
    {"active_blocks", T_PYSSIZET, offsetof(Pool, active_blocks), READONLY, "int: blocks in use"},
    {"managed_bytes", T_PYSSIZET, offsetof(Pool, managed_bytes), READONLY,
     "int: size of all blocks, free and in use [bytes]"},
    {"active_bytes", T_PYSSIZET, offsetof(Pool, active_bytes), READONLY,
     "int: bytes requested for the blocks in use"},
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
