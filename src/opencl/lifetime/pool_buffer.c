/* pool_buffer.c - PooledBuffer: a buffer that returns to its MemoryPool.
 *
 * The object of a returned block stays with the block as a shell: without references, but whole,
 * its driver handle included. The next request makes it alive again, so that allocating and freeing
 * costs neither memory management nor a driver call. */
#include "common/track.h"
#include "opencl/context.h"
#include "opencl/lifetime/pool.h"
#include "opencl/lifetime/usage.h"
#include "opencl/memory.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"
#include "opencl/svm.h"

int ocl_pool_make_buffer(Pool *pool, Block *block) {
    PyObject *buffer = ocl_allocator_buffer(pool->allocator, block->head.size, block->head.asked);
    if (buffer == NULL) {
        return -1;
    }
    block->mem = ((Memory *)buffer)->mem;
    ((Memory *)buffer)->mem = NULL; /* the block owns it now */
    Py_DECREF(buffer);
    return 0;
}

PyObject *ocl_pool_wrap_buffer(Block *block) {
    Pool *pool = block->pool;
    PyTypeObject *type = pool->state->PooledBufferType;
    Memory *self = block->shell;
    if (self != NULL) {
        block->shell = NULL;
        PyObject_Init((PyObject *)self, type);
        Py_DECREF(type); /* the shell kept its reference to the type */
        PyObject_GC_Track(self);
    } else {
        self = (Memory *)PG_NEW(type);
        if (self == NULL) {
            return NULL;
        }
        self->state = pool->state;
        self->mem = block->mem;
        self->context = (Context *)Py_NewRef(pool->allocator->context);
        self->size = block->head.size;
        self->flags = pool->allocator->flags;
        self->added_flags = ~self->flags & CL_MEM_ALLOC_HOST_PTR; /* CL_MEM_ALLOC_HOST_PTR may have
                                                                   * been added by
                                                                   * ocl_flags_to_commit() */
        self->type = CL_MEM_OBJECT_BUFFER;
    }
    self->pool = block;
    pg_memory_made((PyObject *)self, block->head.asked);
    return (PyObject *)self;
}

static int PooledBuffer_traverse(PyObject *op, visitproc visit, void *arg) {
    Memory *self = (Memory *)op;
    int result = self->pool != NULL ? ocl_block_visit(self->pool, visit, arg) : 0;
    return result != 0 ? result : ocl_memory_traverse(op, visit, arg);
}

static int PooledBuffer_clear(PyObject *op) { /* the rest is needed to return the block */
    Py_CLEAR(((Memory *)op)->dict);
    return 0;
}

static void PooledBuffer_dealloc(PyObject *op) {
    Memory *self = (Memory *)op;
    pg_untrack(op, self->weakrefs);
    Py_CLEAR(self->dict);
    Block *block = self->pool;
    if (block == NULL) {
        ocl_memory_dealloc(op);
        return;
    }
    Pool *pool = block->pool;
    self->pool = NULL;
    if (block->mem == NULL) { /* lost, and no longer counted; see PooledBuffer_release */
        ocl_block_free(block);
        ocl_memory_dealloc(op);
    } else if (pool->held.stopped) {
        self->mem = NULL;
        pg_pool_count_back(&pool->held, &block->head);
        ocl_block_free(block);
        ocl_memory_dealloc(op);
    } else {
        block->shell = self;
        pg_pool_count_back(&pool->held, &block->head);
        ocl_block_return(block);
    }
    Py_DECREF(pool); /* possibly the last reference: this then frees the shell */
}

static PyObject *PooledBuffer_release(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Memory *self = (Memory *)op;
    if (self->mem == NULL) {
        return ocl_reject(self->state, "PooledBuffer.release", CL_INVALID_VALUE,
                          "the PooledBuffer was already released");
    }
    cl_int status = pg_launch_deferred(); /* a deferred launch may use this memory */
    if (status != CL_SUCCESS) {
        return ocl_raise(self->state, "clEnqueueNDRangeKernel", status);
    }
    Block *block = self->pool;
    if (block == NULL) { /* made by from_int_ptr() */
        ocl_memory_pin(self);
        self->retired = self->mem;
        self->mem = NULL;
        ocl_memory_unpin(self);
        Py_RETURN_NONE;
    }
    Pool *pool = block->pool;
    pg_pool_count_back(&pool->held, &block->head);
    if (self->users > 0) {
        /* Another thread is enqueueing a command that uses the memory: it must not be reused, and
         * is freed when that thread is done. */
        self->retired = self->mem;
        self->mem = block->mem = NULL;
        Py_RETURN_NONE;
    }
    self->mem = NULL;
    self->pool = NULL;
    ocl_block_return(block);
    Py_DECREF(pool);
    Py_RETURN_NONE;
}

int ocl_memory_prepare_first(Memory *self, Queue *queue) {
    ocl_memory_pin(self); /* ordering after a former owner may release the GIL */
    int result = ocl_usage_add(self->pool, queue);
    ocl_memory_unpin(self);
    return result < 0 ? -1 : ocl_memory_alive(self, "PooledBuffer");
}

static PyObject *PooledBuffer_bind_to_queue(PyObject *op, PyObject *obj) {
    Memory *self = (Memory *)op;
    const char *call = "PooledBuffer.bind_to_queue";
    Queue *queue = ocl_as_queue(self->state, obj, call);
    if (queue == NULL || ocl_memory_alive(self, call) < 0) {
        return NULL;
    }
    if (queue->context->context != self->context->context) {
        return ocl_reject(self->state, call, CL_INVALID_CONTEXT,
                          "queue belongs to another context");
    }
    return ocl_memory_prepare(self, queue) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *PooledBuffer_unbind_from_queue(PyObject *Py_UNUSED(op),
                                                PyObject *Py_UNUSED(ignored)) {
    Py_RETURN_NONE;
}

static PyMethodDef PooledBuffer_methods[] = {
    {"release", PooledBuffer_release, METH_NOARGS,
     "release($self, /)\n--\n\n() -> None\n\nReturn the memory to the pool. Any later use raises "
     "an error."},
    {"bind_to_queue", PooledBuffer_bind_to_queue, METH_O,
     "bind_to_queue($self, queue, /)\n--\n\n(queue: CommandQueue, /) -> None\n\nDeclare that "
     "commands of *queue* use the memory, including commands that pygpu does not see."},
    {"unbind_from_queue", PooledBuffer_unbind_from_queue, METH_NOARGS,
     "unbind_from_queue($self, /)\n--\n\n() -> None\n\nDoes nothing: the next owner's commands run "
     "after this one's anyway."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot PooledBuffer_slots[] = {
    {Py_tp_doc, (void *)"A buffer of a MemoryPool. Dropped or released, it returns to the pool. "
                        "Its size is that of the block."},
    PG_GC_SLOTS(PooledBuffer),
    {Py_tp_methods, PooledBuffer_methods},
    {0, NULL},
};
PG_TYPE(ocl, "pygpu.tools.PooledBuffer", PooledBuffer, Memory,
        OCL_FLAGS | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);
