/* pool_device.c - DeviceMemoryPool and PooledDeviceAllocation: device memory that returns to its
 * pool.
 *
 * The object of a returned block stays with the block as a shell: without references, but whole.
 * The next request makes it alive again, so that allocating and freeing costs neither memory
 * management nor a driver call. */
#include "common/track.h"
#include "cuda/cuda.h"
#include "cuda/lifetime/pool.h"
#include "cuda/lifetime/usage.h"
#include "cuda/memory.h"
#include "cuda/stream.h"

static PyObject *wrap(Block *block) {
    Pool *pool = block->pool;
    PyTypeObject *type = pool->state->PooledDeviceAllocationType;
    Pooled *self = block->shell;
    if (self != NULL) {
        block->shell = NULL;
        PyObject_Init((PyObject *)self, type);
        Py_DECREF(type); /* the shell kept its reference to the type */
        PyObject_GC_Track((PyObject *)self);
    } else {
        self = (Pooled *)cud_allocation_new(pool->state, type, pool->context, block->ptr, 0,
                                            MEMORY_POOLED);
        if (self == NULL) {
            return NULL;
        }
    }
    self->head.size = block->head.asked;
    self->head.usage = &block->usage;
    self->block = block;
    pg_memory_made((PyObject *)self, self->head.size);
    return (PyObject *)self;
}

static int Pooled_traverse(PyObject *op, visitproc visit, void *arg) {
    Block *block = ((Pooled *)op)->block;
    CUD_VISIT(op);
    Py_VISIT((PyObject *)((Pooled *)op)->head.context);
    if (block == NULL) {
        return 0;
    }
    Py_VISIT((PyObject *)block->pool);
    return cud_usage_visit(&block->usage, visit, arg);
}

static void Pooled_dealloc(PyObject *op) {
    Pooled *self = (Pooled *)op;
    PyObject_GC_UnTrack(op);
    if (PG_UNLIKELY(self->head.weakrefs != NULL)) {
        PyObject_ClearWeakRefs(op);
    }
    if (PG_UNLIKELY(self->head.dict != NULL)) {
        Py_CLEAR(self->head.dict); /* the object will be reused by the next request */
    }
    Block *block = self->block;
    if (block != NULL && !block->pool->held.stopped) {
        block->shell = self;
        self->block = NULL;
        cud_block_return(
            block); /* possibly the last reference to the pool: this then frees the shell */
        return;
    }
    self->head.ptr = 0;
    self->head.usage = NULL;
    self->block = NULL;
    if (block != NULL) {
        cud_block_return(block);
    }
    cud_allocation_dealloc(op);
}

void cud_pooled_free(Allocation *allocation) {
    Pooled *self = (Pooled *)allocation;
    Block *block = self->block;
    self->block = NULL;
    self->head.ptr = 0;
    self->head.usage = NULL;
    if (block != NULL) {
        cud_block_return(block);
    }
}

static PyObject *Pooled_free(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return cud_allocation_free_method(op, "PooledDeviceAllocation.free");
}

static Py_ssize_t Pooled_length(PyObject *op) {
    return (Py_ssize_t)((Allocation *)op)->size;
}

PG_DOC(Pooled_bind_to_stream__doc__, "bind_to_stream", "$self, stream=None",
       "(stream: object = None) -> None",
       "Declare that work on *stream* uses the memory without pygpu knowing, because it only "
       "received the address as a number.");
PG_FUNCTION(Pooled_bind_to_stream, 1)
static PyObject *Pooled_bind_to_stream_impl(PyObject *op, PyObject *const *a) {
    Allocation *self = (Allocation *)op;
    const char *call = "PooledDeviceAllocation.bind_to_stream";
    CUstream handle;
    Stream *stream;
    if (cud_allocation_alive(self, call) < 0 ||
        cud_as_stream(self->state, a[0], call, &handle, &stream) < 0 ||
        cud_allocation_use(self, handle, stream) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PG_DOC(Pooled_address__doc__, "_address", "$self, stream=None", "(stream: object = None) -> int",
       "The address, for work that the caller queues on *stream* at once and on no other: unlike "
       "int(), it leaves the memory to operations that are deferred.");
PG_FUNCTION(Pooled_address, 1)
static PyObject *Pooled_address_impl(PyObject *op, PyObject *const *a) {
    Allocation *self = (Allocation *)op;
    const char *call = "PooledDeviceAllocation._address";
    CUstream handle;
    Stream *stream;
    if (cud_allocation_alive(self, call) < 0 ||
        cud_as_stream(self->state, a[0], call, &handle, &stream) < 0) {
        return NULL;
    }
    Context *current = cud_context_current(self->state);
    int home = current == self->context;
    Py_XDECREF((PyObject *)current);
    if (current == NULL) {
        return NULL;
    }
    /* The default stream of another context is not the one that the caller means. */
    int failed = handle == NULL && !home ? cud_allocation_expose(self, call)
                                         : cud_allocation_use(self, handle, stream);
    if (failed == 0) {
        failed = cud_launch_deferred(self, call);
    }
    return failed < 0 ? NULL : PyLong_FromUnsignedLongLong(self->ptr);
}

static PyMethodDef Pooled_methods[] = {
    {"free", Pooled_free, METH_NOARGS,
     "free($self, /)\n--\n\n() -> None\n\nReturn the memory to the pool now. Any later use raises "
     "an error."},
    {"bind_to_stream", FAST(Pooled_bind_to_stream), Pooled_bind_to_stream__doc__},
    {"_address", FAST(Pooled_address), Pooled_address__doc__},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot PooledDeviceAllocation_slots[] = {
    {Py_tp_doc, (void *)"Device memory of a DeviceMemoryPool. Dropped or freed, it returns to the "
                        "pool. len() and size are the requested size."},
    {Py_tp_traverse, (void *)Pooled_traverse},
    {Py_tp_dealloc, (void *)Pooled_dealloc},
    {Py_mp_length, (void *)Pooled_length},
    {Py_tp_methods, Pooled_methods},
    {0, NULL},
};
CUD_TYPE(PooledDeviceAllocation, Pooled, Py_TPFLAGS_DISALLOW_INSTANTIATION);

/* ---- pools ----------------------------------------------------------------------------------- */

PG_DOC(DeviceMemoryPool__doc__, "DeviceMemoryPool", "", "()",
       "A pool of device memory, which keeps dropped memory for reuse.\n\n"
       "It belongs to the context that is current at the first request, and may be subclassed.");
static ArgSpec DeviceMemoryPool_args = PG_ARGSPEC(DeviceMemoryPool__doc__);

static PyObject *DeviceMemoryPool_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[1];
    State *state = cud_state_of(type);
    if (state == NULL || (type == state->DeviceMemoryPoolType &&
                          pg_args_tuple(&DeviceMemoryPool_args, args, kwargs, a) < 0)) {
        return NULL; /* a subclass may be constructed in its own way */
    }
    return (PyObject *)cud_pool_new(type, 0, 0);
}

PG_DOC(DeviceMemoryPool_allocate__doc__, "allocate", "$self, /, size",
       "(size: int) -> PooledDeviceAllocation",
       "Memory of at least *size* bytes, reused or new.\n\nRaises MemoryError if there is not "
       "enough memory even after freeing all held blocks.");
static ArgSpec DeviceMemoryPool_allocate_args = PG_ARGSPEC(DeviceMemoryPool_allocate__doc__);

static PyObject *DeviceMemoryPool_allocate(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                           PyObject *kwnames) {
    PyObject *a[1];
    size_t size;
    if (nargs == 1 && kwnames == NULL) {
        a[0] = args[0];
    } else if (pg_args(&DeviceMemoryPool_allocate_args, args, nargs, kwnames, a) < 0) {
        return NULL;
    }
    if (pg_as_size(a[0], "DeviceMemoryPool.allocate", "size", &size) < 0) {
        return NULL;
    }
    Block *block = cud_pool_take((Pool *)op, size, "DeviceMemoryPool.allocate");
    PyObject *result = block != NULL ? wrap(block) : NULL;
    if (result == NULL && block != NULL) {
        cud_block_return(block);
    }
    return result;
}

static PyMethodDef DeviceMemoryPool_methods[] = {
    {"allocate", FAST(DeviceMemoryPool_allocate), DeviceMemoryPool_allocate__doc__},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot DeviceMemoryPool_slots[] = {
    {Py_tp_doc, (void *)DeviceMemoryPool__doc__}, {Py_tp_new, (void *)DeviceMemoryPool_new},
    {Py_tp_traverse, (void *)cud_pool_traverse},  {Py_tp_dealloc, (void *)cud_pool_dealloc},
    {Py_tp_methods, DeviceMemoryPool_methods},    {0, NULL},
};
PG_TYPE(cud, "pygpu.cuda.tools.DeviceMemoryPool", DeviceMemoryPool, Pool,
        CUD_FLAGS | Py_TPFLAGS_BASETYPE);

static PyObject *MemoryPoolBase_repr(PyObject *op) {
    return pg_pool_repr(op, &((Pool *)op)->held);
}

static PyType_Slot MemoryPoolBase_slots[] = {
    {Py_tp_repr, (void *)MemoryPoolBase_repr},
    {Py_tp_doc, (void *)"The base of DeviceMemoryPool and PageLockedMemoryPool."},
    {Py_tp_traverse, (void *)cud_pool_traverse},
    {Py_tp_dealloc, (void *)cud_pool_dealloc},
    {Py_tp_methods, cud_pool_methods},
    {Py_tp_members, cud_pool_members},
    {0, NULL},
};
PG_TYPE(cud, "pygpu.cuda.tools.MemoryPoolBase", MemoryPoolBase, Pool,
        CUD_FLAGS | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);
