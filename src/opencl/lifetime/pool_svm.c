/* pool_svm.c - the blocks of an SVMPool: shared virtual memory for PooledSVM. */
#include "common/track.h"
#include "opencl/context.h"
#include "opencl/lifetime/pool.h"
#include "opencl/lifetime/usage.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"
#include "opencl/svm.h"

#define TICKET_NAME "pygpu.pooled_svm"

int ocl_pool_make_svm(Pool *pool, Block *block) {
    const Allocator *allocator = pool->allocator;
    block->memory = ocl_svm_memory_new(pool->state, allocator->context, allocator->flags,
                                       block->head.size, block->head.asked,
                                       (cl_uint)allocator->alignment, &block->pointer);
    return block->memory != NULL ? 0 : -1;
}

PyObject *ocl_pool_wrap_svm(Block *block) {
    Pool *pool = block->pool;
    Queue *queue = pool->allocator->queue;
    if (queue != NULL && ocl_usage_add(&block->usage, queue) < 0) {
        return NULL;
    }
    Svm *self = (Svm *)PG_NEW(pool->state->PooledSVMType);
    if (self != NULL) {
        self->state = pool->state;
        self->pointer = block->pointer;
        self->size = block->head.asked;
        self->context = (Context *)Py_NewRef(pool->allocator->context);
        self->usage = &block->usage;
        self->bound = (Queue *)Py_XNewRef(queue);
        self->pool = block;
        pg_memory_made((PyObject *)self, self->size);
    }
    return (PyObject *)self;
}

/* Takes over the block and its reference to the pool. */
static void return_block(Block *block) {
    Pool *pool = block->pool;
    ocl_block_return(block);
    Py_DECREF(pool);
}

static void free_ticket(PyObject *capsule) {
    return_block(PyCapsule_GetPointer(capsule, TICKET_NAME));
}

void ocl_pool_return_svm(Svm *self) {
    Block *block = self->pool;
    Pool *pool = block->pool;
    self->pool = NULL;
    pg_pool_count_back(&pool->held, &block->head);
    if (!(pool->allocator->flags & CL_MEM_SVM_FINE_GRAIN_BUFFER)) {
        return_block(block);
        return;
    }
    /* The next owner may write to it from the host without any command, so it must be idle: it
     * returns when the commands have dropped a ticket. */
    PyObject *ticket = PyCapsule_New(block, TICKET_NAME, free_ticket);
    if (ticket == NULL) {
        PyErr_Clear();
        ocl_block_free(block); /* it waits for the commands in its own way */
        Py_DECREF(pool);
        return;
    }
    ocl_usage_hold(&block->usage, ticket);
    Py_DECREF(ticket);
}
