/* memory.h - allocations: every kind of device memory that a kernel accepts. */
#ifndef PYGPU_CUDA_MEMORY_H
#define PYGPU_CUDA_MEMORY_H

#include "cuda/lifetime/usage.h"

/* Device memory. All kinds that a kernel accepts have this head: DeviceAllocation and its
 * subclasses (ManagedAllocation, PooledDeviceAllocation, IPCMemoryHandle). */
typedef struct {
    CUD_HEAD
    CUdeviceptr ptr; /* 0 after free() and for an allocation of zero bytes */
    size_t size;     /* in bytes, as requested */
    Context *context;
    int freed;    /* 1 after free(): any use is an error */
    int kind;     /* determines how it is freed */
    int users;    /* number of calls and views that need it: free() takes effect after the last of
                   * them */
    Usage *usage; /* NULL if nobody else gets the memory while work may be using it */
} Allocation;

/* Allocation.kind */
enum { MEMORY_PLAIN, MEMORY_MANAGED, MEMORY_POOLED, MEMORY_ORDERED, MEMORY_IPC };

/* Makes an object for existing memory, and keeps the context alive. NULL with an exception: the
 * caller still owns the memory. */
Allocation *cud_allocation_new(State *state, PyTypeObject *type, Context *context, CUdeviceptr ptr,
                               size_t size, int kind);
void cud_allocation_dealloc(PyObject *op);
int cud_allocation_traverse(PyObject *op, visitproc visit, void *arg);
/* Frees the memory now, or when its last user is done. */
void cud_allocation_free(Allocation *self);
PyObject *cud_allocation_free_method(PyObject *op, const char *call);
/* Memory that cannot be freed in its own context was destroyed with that context: the driver is
 * then not called. */
void cud_memory_free(Context *context, CUdeviceptr ptr);
/* Calls cuMemAlloc for size > 0 bytes, and again after a garbage collection if that fails. Returns
 * 0 with an exception. */
CUdeviceptr cud_memory_alloc(State *state, size_t size,
                             size_t asked); /* asked: the size that the user asked for, for the
                                             * message */

/* Pin what a call uses without the GIL, or what a view shows. */
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

/* Call before work that uses it is queued on a stream (handle and stream as returned by
 * cud_as_stream): orders that work after a former owner's. Costs one comparison, unless it is pool
 * memory that is new to the stream. Returns -1 with an exception. Call with the GIL held; may
 * release it. */
int cud_allocation_use_first(Allocation *self, CUstream handle, Stream *stream);
static inline int cud_allocation_use(Allocation *self, CUstream handle, Stream *stream) {
    return self->usage == NULL || self->usage->latest == handle
               ? 0
               : cud_allocation_use_first(self, handle, stream);
}
/* Returns -1 with a LogicError after free(), or if its context was destroyed. */
int cud_allocation_alive(Allocation *self, const char *call);
/* The allocation's address is given to code that may use it on any stream. */
int cud_allocation_expose(Allocation *self, const char *call);
/* Launches what arrays deferred, because somebody is about to access the memory without calling
 * us. Returns 0, or -1 with an exception. */
int cud_launch_deferred(Allocation *self, const char *call);

/* Whether it is an allocation of any kind. */
static inline int cud_is_allocation(State *state, PyObject *obj) {
    return Py_IS_TYPE(obj, state->DeviceAllocationType) ||
           Py_IS_TYPE(obj, state->PooledDeviceAllocationType) ||
           PyObject_TypeCheck(obj, state->DeviceAllocationType);
}

void cud_ordered_free(Allocation *self);   /* stream_memory.c */
void cud_ordered_forget(Allocation *self); /* an allocation of zero bytes */
void cud_ipc_close(Allocation *self);      /* ipc.c */
void cud_pooled_free(Allocation *self);    /* pool_device.c */

#endif
