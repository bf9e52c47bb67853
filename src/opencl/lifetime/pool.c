/* pool.c - MemoryPool and SVMPool: hold freed memory by size class for later requests, so that
 * most need no driver call.
 *
 * A request takes any held block of its bin, even if commands of a former owner still use it: the
 * block records their queues, and the new owner's first command on another queue waits for them
 * (usage.c). */
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/pool.h"
#include "opencl/lifetime/usage.h"
#include "opencl/opencl.h"
#include "opencl/svm.h"

static PgPool *pools; /* all pools; protected by the GIL */

/* ---- blocks ---------------------------------------------------------------------------------- */

static Block *block_of(PgBlock *head) {
    return (Block *)(void *)((char *)head - offsetof(Block, head));
}

/* Call with a block that is neither held nor owned. */
void ocl_block_free(Block *block) {
    block->pool->held.managed_bytes -= (Py_ssize_t)block->head.size;
    if (block->mem != NULL) {
        CL_RELEASE(LIVE_MEM, clReleaseMemObject,
                   block->mem); /* the driver waits for commands that still use it */
    }
    if (block->memory != NULL) {
        ocl_usage_hold(&block->usage, block->memory);
        Py_DECREF(block->memory);
    }
    if (block->shell != NULL) {
        PyTypeObject *type = Py_TYPE(block->shell);
        Py_XDECREF(block->shell->context);
        type->tp_free(block->shell);
        Py_DECREF(type);
    }
    ocl_usage_clear(&block->usage);
    PyMem_Free(block);
}

void ocl_block_return(Block *block) {
    Pool *pool = block->pool;
    if (pool->held.stopped) {
        ocl_block_free(block);
        return;
    }
    ocl_usage_change_owner(&block->usage);
    pg_pool_hold(&pool->held, &block->head, pool->held.leading_bits);
}

static int Block_visit_own(Block *block, visitproc visit, void *arg) {
    int result = ocl_svm_memory_visit(block->memory, visit, arg);
    return result != 0 ? result : ocl_usage_visit(&block->usage, visit, arg);
}

int ocl_block_visit(void *op, visitproc visit, void *arg) {
    Block *block = op;
    Py_VISIT((PyObject *)block->pool);
    return Block_visit_own(block, visit, arg);
}

/* Makes a new block of a bin, for asked bytes; NULL with an exception. */
static Block *Block_new(Pool *self, uint32_t bin, size_t asked) {
    Block *block = PyMem_Calloc(1, sizeof *block);
    if (block == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    block->head.asked = asked;
    if (pg_pool_size_block(&self->held, &block->head, bin) < 0 || self->make(self, block) < 0) {
        PyMem_Free(block);
        return NULL;
    }
    block->pool = self;
    self->held.managed_bytes += (Py_ssize_t)block->head.size;
    return block;
}

/* Returns a block for size bytes, held or new; NULL with an exception. */
static Block *Pool_take(Pool *self, size_t size) {
    PgPool *held = &self->held;
    uint32_t number = pg_bin_number(size, held->leading_bits);
    PgBlock **bin = pg_pool_bin(held, number, held->leading_bits);
    Block *block = bin != NULL && *bin != NULL ? block_of(*bin) : NULL;
    if (block != NULL) {
        *bin = block->head.next;
        held->held_blocks--;
    }
    if (PG_UNLIKELY(held->trace)) {
        pg_pool_print(held, size, number, block != NULL);
    }
    if (block == NULL && (block = Block_new(self, number, size)) == NULL) {
        return NULL;
    }
    block->head.asked = size;
    return block;
}

static PyObject *Pool_allocate_size(Pool *self, PyObject *obj) {
    size_t size;
    if (pg_as_size(obj, "allocate", "size", &size) < 0) {
        return NULL;
    }
    if (PG_UNLIKELY(self->allocator == NULL)) {
        ocl_refuse_uninitialized(self->state, "allocate", "pool", CL_INVALID_VALUE);
        return NULL;
    }
    Block *block = Pool_take(self, size);
    if (block == NULL) {
        return NULL;
    }
    PyObject *result = self->wrap(block);
    if (result == NULL) {
        ocl_block_return(block);
        return NULL;
    }
    Py_INCREF(self); /* for block->pool */
    pg_pool_count_out(&self->held, &block->head);
    return result;
}

static void free_block(PgBlock *head) {
    ocl_block_free(block_of(head));
}

int ocl_trim_pools(State *Py_UNUSED(state)) {
    Py_ssize_t n = 0;
    for (PgPool *pool = pg_pool_from(pools); pool != NULL; pool = pg_pool_after(pool)) {
        n += pg_pool_free_all(pool);
    }
    return n > 0;
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static PyObject *Pool_vectorcall(PyObject *op, PyObject *const *args, size_t nargs,
                                 PyObject *kwnames);

static PyObject *Pool_make(PyTypeObject *type, PyObject *args, PyObject *kwargs, ArgSpec *spec,
                           int svm) {
    PyObject *a[2];
    State *state = ocl_state_of(type);
    size_t leading_bits = 4;
    if (state == NULL || pg_args_tuple(spec, args, kwargs, a) < 0 ||
        (a[1] != NULL &&
         pg_as_size(a[1], spec->function, "leading_bits_in_bin_id", &leading_bits) < 0)) {
        return NULL;
    }
    PyTypeObject *wanted = svm ? state->SVMAllocatorType : state->AllocatorBaseType;
    if (!PyObject_TypeCheck(a[0], wanted)) {
        return PyErr_Format(PyExc_TypeError, "%s: allocator must be %s, not %s", spec->function,
                            svm ? "an SVMAllocator"
                                : "an ImmediateAllocator or a DeferredAllocator",
                            pg_type_name(a[0]));
    }
    if (((Allocator *)a[0])->context == NULL) {
        ocl_refuse_uninitialized(state, spec->function, "allocator", CL_INVALID_VALUE);
        return NULL;
    }
    if (leading_bits > PG_MAX_LEADING_BITS) {
        return PyErr_Format(PyExc_ValueError, "%s: leading_bits_in_bin_id must be 0 to %d, got %zu",
                            spec->function, PG_MAX_LEADING_BITS, leading_bits);
    }
    Pool *self = (Pool *)PG_NEW(type);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->call = Pool_vectorcall;
    self->allocator = (Allocator *)Py_NewRef(a[0]);
    self->held.leading_bits = (unsigned)leading_bits;
    self->make = svm ? ocl_pool_make_svm : ocl_pool_make_buffer;
    self->wrap = svm ? ocl_pool_wrap_svm : ocl_pool_wrap_buffer;
    pg_pool_join(&self->held, (PyObject *)self, &pools, free_block);
    return (PyObject *)self;
}

static int is_made(const Pool *self) {
    return self->allocator != NULL;
}

static void moved(PyObject *op, PyObject *Py_UNUSED(made)) {
    pg_pool_moved(&((Pool *)op)->held, op);
}

static int visit_block(PgBlock *head, visitproc visit, void *arg) {
    Block *block = block_of(head);
    if (block->shell != NULL) {
        Py_VISIT((PyObject *)block->shell->context);
    }
    return Block_visit_own(block, visit, arg);
}

static int Pool_traverse(PyObject *op, visitproc visit, void *arg) {
    Pool *self = (Pool *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT((PyObject *)self->allocator);
    return pg_pool_visit(&self->held, visit_block, visit, arg);
}

/* No tp_clear: reference cycles run through attributes that users set on contexts and queues, and
 * those are cleared. */
static void Pool_dealloc(PyObject *op) {
    Pool *self = (Pool *)op;
    PyObject_GC_UnTrack(op);
    pg_pool_end(&self->held, op, self->weakrefs);
    Py_XDECREF((PyObject *)self->allocator);
    pg_object_free(op);
}

/* ---- methods --------------------------------------------------------------------------------- */

PG_DOC(Pool_allocate__doc__, "allocate", "$self, /, size", "(size: int) -> PooledBuffer",
       "Memory of at least *size* bytes, reused or new. Calling the pool does the same.\n\n"
       "Raises MemoryError if there is not enough memory even after freeing all held blocks.");
static ArgSpec Pool_allocate_args = PG_ARGSPEC(Pool_allocate__doc__);

static PyObject *Pool_vectorcall(PyObject *op, PyObject *const *args, size_t nargs,
                                 PyObject *kwnames) {
    PyObject *a[1];
    if (PyVectorcall_NARGS(nargs) == 1 && kwnames == NULL) {
        return Pool_allocate_size((Pool *)op, args[0]);
    }
    return pg_args(&Pool_allocate_args, args, (Py_ssize_t)nargs, kwnames, a) < 0
               ? NULL
               : Pool_allocate_size((Pool *)op, a[0]);
}

static PyObject *Pool_tp_call(PyObject *op, PyObject *args, PyObject *kwargs) {
    Pool *self = (Pool *)op;
    if (self->call == NULL) {
        ocl_refuse_uninitialized(self->state, "allocate", "pool", CL_INVALID_VALUE);
        return NULL;
    }
    return PyVectorcall_Call(op, args, kwargs);
}

static PyObject *Pool_allocate(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames) {
    return Pool_vectorcall(op, args, (size_t)nargs, kwnames);
}

PG_DEFINE_POOL_METHODS(Pool, held)

static PyMethodDef Pool_methods[] = {
    PG_NO_PICKLE,
    {"allocate", FAST(Pool_allocate), Pool_allocate__doc__},
    PG_POOL_METHODS,
    {"_set_trace", Pool_set_trace, METH_O,
     "_set_trace($self, flag, /)\n--\n\n(flag: bool, /) -> None\n\nset_trace(), by PyOpenCL's "
     "name."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef Pool_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Pool, weakrefs), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Pool, call), READONLY, NULL},
    PG_POOL_MEMBERS(Pool, held),
    {NULL, 0, 0, 0, NULL},
};

static PyObject *Pool_repr(PyObject *op) {
    return pg_pool_repr(op, &((Pool *)op)->held);
}

#define POOL_SLOTS(doc, Name)                                                           \
    {                                                                                   \
        {Py_tp_doc, (void *)doc}, {Py_tp_new, (void *)Name##_new},                      \
            {Py_tp_init, (void *)Name##_init}, {Py_tp_traverse, (void *)Pool_traverse}, \
            {Py_tp_dealloc, (void *)Pool_dealloc}, {Py_tp_call, (void *)Pool_tp_call},  \
            {Py_tp_repr, (void *)Pool_repr}, {Py_tp_methods, Pool_methods},             \
            {Py_tp_members, Pool_members}, {0, NULL},                                   \
    }
#define POOL_FLAGS \
    (OCL_FLAGS | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL)

PG_DOC(MemoryPool__doc__, "MemoryPool", "allocator, leading_bits_in_bin_id=4",
       "(allocator: AllocatorBase, leading_bits_in_bin_id: int = 4)",
       "A pool of buffers, which keeps dropped buffers for reuse.\n\n"
       "leading_bits_in_bin_id: 0 to 12; requests share a block size if their sizes agree in the "
       "highest bit and this many after\n"
       "it, so at most 1 / 2**bits of a block is wasted.");
static ArgSpec MemoryPool_args = PG_ARGSPEC(MemoryPool__doc__);

static PyObject *MemoryPool_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    return Pool_make(type, args, kwargs, &MemoryPool_args, 0);
}
OCL_MADE_BY_INIT_IF(MemoryPool, Pool, MemoryPoolType, is_made, sizeof(Pool), moved)

static PyType_Slot MemoryPool_slots[] = POOL_SLOTS(MemoryPool__doc__, MemoryPool);
PG_TYPE(ocl, "pygpu.tools.MemoryPool", MemoryPool, Pool, POOL_FLAGS);

PG_DOC(SVMPool__doc__, "SVMPool", "allocator, leading_bits_in_bin_id=4",
       "(allocator: SVMAllocator, leading_bits_in_bin_id: int = 4)",
       "A pool of shared virtual memory, which keeps dropped memory for reuse. Like MemoryPool, "
       "but it returns PooledSVM.");
static ArgSpec SVMPool_args = PG_ARGSPEC(SVMPool__doc__);

static PyObject *SVMPool_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    return Pool_make(type, args, kwargs, &SVMPool_args, 1);
}
OCL_MADE_BY_INIT_IF(SVMPool, Pool, SVMPoolType, is_made, sizeof(Pool), moved)

static PyType_Slot SVMPool_slots[] = POOL_SLOTS(SVMPool__doc__, SVMPool);
PG_TYPE(ocl, "pygpu.tools.SVMPool", SVMPool, Pool, POOL_FLAGS);
