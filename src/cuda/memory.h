/* memory.h - allocations: device memory of every kind that a kernel takes. */
#ifndef PYGPU_CUDA_MEMORY_H
#define PYGPU_CUDA_MEMORY_H

#include "cuda/lifetime/usage.h"

/* Device memory. All kinds that a kernel takes have this head: DeviceAllocation and what derives
 * from it (ManagedAllocation, PooledDeviceAllocation, IPCMemoryHandle). */
typedef struct {
    CUD_HEAD
    CUdeviceptr ptr; /* 0 after free() or for an allocation of no bytes */
    size_t size;     /* bytes, as asked for */
    Context *context;
    int freed;    /* 1 after free(): use is an error */
    int kind;     /* how it is given back: memory.h */
    int users;    /* calls and views that need it: free() takes effect after the last of them */
    Usage *usage; /* NULL: nobody else gets the memory as long as work may be using it */
} Allocation;

/* Allocation.kind */
enum { MEMORY_PLAIN, MEMORY_MANAGED, MEMORY_POOLED, MEMORY_ORDERED, MEMORY_IPC };

/* A new object for memory that exists; context is kept. NULL with an exception: the memory is still
 * the caller's. */
Allocation *cud_allocation_new(State *state, PyTypeObject *type, Context *context, CUdeviceptr ptr,
                               size_t size, int kind);
void cud_allocation_dealloc(PyObject *op);
int cud_allocation_traverse(PyObject *op, visitproc visit, void *arg);
/* Gives the memory back: at once, or when the last user has gone. */
void cud_allocation_free(Allocation *self);
PyObject *cud_allocation_free_method(PyObject *op, const char *call);
/* Memory that cannot be given back in its own context is lost with that context: then nothing is
 * called. */
void cud_memory_free(Context *context, CUdeviceptr ptr);
/* cuMemAlloc of size > 0 bytes with garbage collection and a second try; 0 and an exception if that
 * fails. */
CUdeviceptr cud_memory_alloc(State *state, size_t size,
                             size_t asked); /* asked: by the user, for the message */

/* What a call uses with the GIL released, or a view shows, is pinned. */
static inline void cud_pin(Allocation *self) {
    if (self != NULL) {
        self->users++;
    }
}
void cud_unpin_last(Allocation *self);
static inline void cud_unpin(Allocation *self) {
    if (self != NULL && --self->users == 0 && PG_UNLIKELY(self->freed)) {
        cud_unpin_last(self);
    }
}

/* Before work that uses it is queued on a stream (handle and stream as cud_as_stream gave them):
 * that work comes after what a former owner of the memory has queued. Costs one comparison unless
 * the memory is a pool's and new to the stream. -1 with an exception. GIL held; may release it. */
int cud_allocation_use_first(Allocation *self, CUstream handle, Stream *stream);
static inline int cud_allocation_use(Allocation *self, CUstream handle, Stream *stream) {
    return self->usage == NULL || self->usage->latest == handle
               ? 0
               : cud_allocation_use_first(self, handle, stream);
}
/* -1 with a LogicError after free(), or if its context was destroyed. */
int cud_allocation_alive(Allocation *self, const char *call);
/* The address of an allocation goes to somebody who may use it on any stream. */
int cud_allocation_expose(Allocation *self, const char *call);
/* What arrays deferred is launched: somebody looks who makes no call of ours. 0, or -1 with an
 * exception. */
int cud_launch_deferred(Allocation *self, const char *call);

/* Of any kind. */
static inline int cud_is_allocation(State *state, PyObject *obj) {
    return Py_IS_TYPE(obj, state->DeviceAllocationType) ||
           Py_IS_TYPE(obj, state->PooledDeviceAllocationType) ||
           PyObject_TypeCheck(obj, state->DeviceAllocationType);
}

void cud_ordered_free(Allocation *self);   /* stream_memory.c */
void cud_ordered_forget(Allocation *self); /* one of no bytes */
void cud_ipc_close(Allocation *self);      /* ipc.c */
void cud_pooled_free(Allocation *self);    /* pool_device.c */

#endif
