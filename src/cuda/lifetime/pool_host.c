/* pool_host.c - PageLockedMemoryPool, PageLockedAllocator and PooledHostAllocation: page-locked
 * host memory that returns to its pool. */
#include "cuda/cuda.h"
#include "cuda/host_array.h"
#include "cuda/host_memory.h"
#include "cuda/lifetime/pool.h"

void cud_host_block_return(HostMemory *self, void *Py_UNUSED(data)) {
    Block *block = self->block;
    self->block = NULL;
    if (block != NULL) {
        cud_block_return(block);
    }
}

/* ---- PooledHostAllocation -------------------------------------------------------------------- */

static Py_ssize_t PooledHost_length(PyObject *op) {
    return (Py_ssize_t)((HostMemory *)op)->size;
}

static int PooledHost_traverse(PyObject *op, visitproc visit, void *arg) {
    Block *block = ((HostMemory *)op)->block;
    CUD_VISIT(op);
    if (block != NULL) {
        Py_VISIT((PyObject *)block->pool);
    }
    return 0;
}

static PyMethodDef PooledHost_methods[] = {
    {"free", cud_host_memory_free, METH_NOARGS,
     "free($self, /)\n--\n\n() -> None\n\nMake the array empty and release the memory. It returns "
     "to the pool once no view of the array is left."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot PooledHostAllocation_slots[] = {
    {Py_tp_doc, (void *)"Page-locked host memory of a PageLockedMemoryPool, the base of an array."},
    {Py_tp_traverse, (void *)PooledHost_traverse},
    {Py_tp_dealloc, (void *)cud_host_memory_dealloc},
    {Py_mp_length, (void *)PooledHost_length},
    {Py_tp_methods, PooledHost_methods},
    {0, NULL},
};
CUD_TYPE(PooledHostAllocation, HostMemory, Py_TPFLAGS_DISALLOW_INSTANTIATION);

/* ---- PageLockedAllocator --------------------------------------------------------------------- */

typedef struct {
    CUD_HEAD
    unsigned int flags;
} PageLockedAllocator;

PG_DOC(PageLockedAllocator__doc__, "PageLockedAllocator", "flags=0", "(flags: int = 0)",
       "The allocator of a PageLockedMemoryPool.\n\nflags: host_alloc_flags added with |.");
static ArgSpec PageLockedAllocator_args = PG_ARGSPEC(PageLockedAllocator__doc__);

static int PageLockedAllocator_init(PyObject *op, PyObject *args, PyObject *kwargs) {
    PyObject *a[1];
    uint32_t flags = 0;
    if (pg_args_tuple(&PageLockedAllocator_args, args, kwargs, a) < 0 ||
        (a[0] != NULL && pg_as_u32(a[0], "PageLockedAllocator", "flags", &flags) < 0)) {
        return -1;
    }
    ((PageLockedAllocator *)op)->flags = flags;
    return 0;
}

static PyMemberDef PageLockedAllocator_members[] = {
    {"flags", T_UINT, offsetof(PageLockedAllocator, flags), READONLY, "int: host_alloc_flags"},
    {NULL, 0, 0, 0, NULL},
};
static PyObject *PageLockedAllocator_repr(PyObject *op) {
    static const char *const names[] = {"flags", NULL};
    return pg_attributes_repr(op, names);
}

static PyType_Slot PageLockedAllocator_slots[] = {
    {Py_tp_doc, (void *)PageLockedAllocator__doc__}, {Py_tp_new, (void *)cud_object_new},
    {Py_tp_init, (void *)PageLockedAllocator_init},  {Py_tp_dealloc, (void *)cud_object_dealloc},
    {Py_tp_repr, (void *)PageLockedAllocator_repr},  {Py_tp_traverse, (void *)cud_object_traverse},
    {Py_tp_members, PageLockedAllocator_members},    {0, NULL},
};
PG_TYPE(cud, "pygpu.cuda.tools.PageLockedAllocator", PageLockedAllocator, PageLockedAllocator,
        CUD_FLAGS | Py_TPFLAGS_BASETYPE);

/* ---- PageLockedMemoryPool -------------------------------------------------------------------- */

PG_DOC(PageLockedMemoryPool__doc__, "PageLockedMemoryPool", "allocator=None",
       "(allocator: PageLockedAllocator | None = None)",
       "A pool of page-locked host memory, which keeps the memory of dropped arrays for reuse. It "
       "may be "
       "subclassed.");
static ArgSpec PageLockedMemoryPool_args = PG_ARGSPEC(PageLockedMemoryPool__doc__);

static PyObject *PageLockedMemoryPool_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[1] = {NULL};
    State *state = cud_state_of(type);
    if (state == NULL || (type == state->PageLockedMemoryPoolType &&
                          pg_args_tuple(&PageLockedMemoryPool_args, args, kwargs, a) < 0)) {
        return NULL; /* a subclass passes it to __init__ */
    }
    return (PyObject *)cud_pool_new(type, 1, 0);
}

static int PageLockedMemoryPool_init(PyObject *op, PyObject *args, PyObject *kwargs) {
    Pool *self = (Pool *)op;
    PyObject *a[1];
    if (pg_args_tuple(&PageLockedMemoryPool_args, args, kwargs, a) < 0) {
        return -1;
    }
    if (a[0] != NULL && a[0] != Py_None) {
        if (!PyObject_TypeCheck(a[0], self->state->PageLockedAllocatorType)) {
            PyErr_Format(PyExc_TypeError,
                         "PageLockedMemoryPool: allocator must be a PageLockedAllocator, not %s",
                         pg_type_name(a[0]));
            return -1;
        }
        self->flags = ((PageLockedAllocator *)a[0])->flags;
    }
    return 0;
}

PG_DOC(PageLockedMemoryPool_allocate__doc__, "allocate", "$self, /, shape, dtype, order=\"C\"",
       "(shape: int | Sequence[int], dtype: DTypeLike, order: str = \"C\") -> NDArray[Any]",
       "An array in page-locked memory, reused or new, uninitialized. Its base is a "
       "PooledHostAllocation.\n\n"
       "Raises MemoryError if there is not enough memory even after freeing all held blocks.");
PG_FUNCTION(PageLockedMemoryPool_allocate, 3)
static PyObject *PageLockedMemoryPool_allocate_impl(PyObject *op, PyObject *const *a) {
    Pool *pool = (Pool *)op;
    State *state = pool->state;
    const char *call = "PageLockedMemoryPool.allocate";
    PgArrayLayout layout;
    if (cud_array_layout(call, a[0], a[1], a[2], &layout) < 0) {
        return NULL;
    }
    Block *block = cud_pool_take(pool, layout.size, call);
    HostMemory *self = block != NULL ? cud_host_memory_new(state, state->PooledHostAllocationType,
                                                           HOST_POOLED, pool->context)
                                     : NULL;
    if (self == NULL) {
        if (block != NULL) {
            cud_block_return(block);
        }
        Py_CLEAR(layout.dtype);
        return NULL;
    }
    self->block = block;
    self->data = block->data;
    self->size = layout.size;
    PyObject *array = cud_array_over((PyObject *)self, &layout, self->data, &self->array);
    Py_DECREF((PyObject *)self);
    return array;
}

static PyMethodDef PageLockedMemoryPool_methods[] = {
    {"allocate", FAST(PageLockedMemoryPool_allocate), PageLockedMemoryPool_allocate__doc__},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot PageLockedMemoryPool_slots[] = {
    PG_NEW_SLOTS(PageLockedMemoryPool),
    {Py_tp_traverse, (void *)cud_pool_traverse},
    {Py_tp_dealloc, (void *)cud_pool_dealloc},
    {Py_tp_methods, PageLockedMemoryPool_methods},
    {0, NULL},
};
PG_TYPE(cud, "pygpu.cuda.tools.PageLockedMemoryPool", PageLockedMemoryPool, Pool,
        CUD_FLAGS | Py_TPFLAGS_BASETYPE);
