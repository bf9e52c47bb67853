/* memory.h - what the files about memory share: allocations, addresses, host memory, arrays. */
#ifndef PYGPU_CUDA_MEMORY_H
#define PYGPU_CUDA_MEMORY_H

#include "cuda/cuda.h"

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

/* A ManagedAllocation, and the array that it is the base of. */
typedef struct {
    Allocation head;
    PyObject *array; /* weak reference */
    void *scalar;    /* what a 0-d array shows after free() */
} CudManaged;

/* ---- addresses: pointer.c -------------------------------------------------------------------- */

typedef struct {
    CUdeviceptr ptr;
    size_t size; /* bytes from there to the end; SIZE_MAX: not known. Without allocation at least as
                    many: see cud_room_at() */
    Allocation *allocation; /* owned, as what gave it may drop it in any code of a program; NULL:
                               not known */
} DevicePointer;

/* 0, and *out is to be released; -1 with an exception. */
int cud_device_pointer(State *state, PyObject *obj, const char *call, const char *name,
                       DevicePointer *out);
/* The same with a check that n bytes fit. */
int cud_device_range(State *state, PyObject *obj, const char *call, const char *name, size_t n,
                     DevicePointer *out);
/* The check alone: -1 with a LogicError if n bytes do not fit. May find that there are more than
 * *at says. */
int cud_check_range(State *state, const char *call, const char *name, DevicePointer *at, size_t n);
static inline void cud_device_release(DevicePointer *at) {
    Py_CLEAR(at->allocation);
}
/* Bytes from ptr to the end of the memory that it lies in; SIZE_MAX if the driver does not know it.
 * n: how many are of interest, as memory may consist of many pieces, and only as many of them are
 * looked at. See range.c. */
size_t cud_room_at(CUdeviceptr ptr, size_t n);
/* The address of an allocation goes to somebody who may use it on any stream. */
int cud_allocation_expose(Allocation *self, const char *call);
PyObject *cud_view(State *state, PyObject *owner, Allocation *allocation, CUdeviceptr ptr,
                   size_t room, const char *call, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames);
/* The allocation that the base of an ndarray is, or NULL. Borrowed. */
Allocation *cud_managed_base(State *state, PyObject *array);

/* ---- who used it: usage.c -------------------------------------------------------------------- */

int cud_usage_add(State *state, Usage *usage, Context *home, CUstream handle, Stream *stream);
void cud_usage_pass_on(Usage *usage); /* the owner has gone */
void cud_usage_clear(Usage *usage);
int cud_usage_visit(Usage *usage, visitproc visit, void *arg);
int cud_usage_expose(State *state, Usage *usage, Context *home);
/* A stream comes after all that is known to use the memory; for giving it back in that stream's
 * order. No exception. */
CUresult cud_usage_join(State *state, Usage *usage, Context *home, CUstream handle, Stream *stream);
int cud_usage_captured(const Usage *usage); /* a former owner's stream is being captured: its work
                                               cannot be waited for */

void cud_ordered_free(Allocation *self);   /* stream_memory.c */
void cud_ordered_forget(Allocation *self); /* one of no bytes */
void cud_ipc_close(Allocation *self);      /* ipc.c */
void cud_pooled_free(Allocation *self);    /* pool_device.c */

/* ---- host memory ----------------------------------------------------------------------------- */

typedef struct {
    void *data;
    size_t size;
    PyObject
        *array; /* an ndarray is used as it is: its buffer protocol costs more than a small copy */
    Py_buffer view;
} HostBytes;

/* Contiguous bytes of a host array; -1 with an exception that names call and argument. */
int cud_host_bytes(State *state, PyObject *obj, const char *call, const char *name, int write,
                   HostBytes *out);
void cud_host_release(HostBytes *bytes);
/* What keeps the bytes in place until a stream has done its work; new, NULL with an exception. */
PyObject *cud_host_owner(PyObject *obj);

enum { HOST_PAGELOCKED, HOST_ALIGNED, HOST_REGISTERED, HOST_POOLED };

typedef struct {
    CUD_HEAD
    void *data;
    size_t size;
    Context *context; /* NULL: HOST_ALIGNED */
    int freed, kind;
    void *allocated;     /* HOST_ALIGNED: what malloc gave */
    PyObject *array;     /* weak reference to the ndarray that was returned */
    PyObject *owner;     /* HOST_REGISTERED: whose memory it is; HOST_POOLED: the pool */
    struct Block *block; /* HOST_POOLED */
    void *scalar;        /* what a 0-d array shows after free() */
} HostMemory;

HostMemory *cud_host_memory_new(State *state, PyTypeObject *type, int kind,
                                Context *context); /* context may be NULL */
void cud_host_memory_dealloc(PyObject *op);
PyObject *cud_host_memory_free(PyObject *op, PyObject *ignored);
void *cud_host_alloc(Context *context, size_t size, size_t asked,
                     unsigned int flags); /* cuMemHostAlloc; NULL with an exception */
/* Bytes of memory that the machine can still give; SIZE_MAX if that is not known, or size is too
 * small to matter. */
size_t cud_host_room(size_t size);                        /* host_room.c */
void cud_host_block_return(HostMemory *self, void *data); /* pool_host.c */

#define CUD_MAX_DIMS 32
typedef struct ArrayLayout {
    PyArray_Descr *dtype; /* owned */
    int n, fortran;
    npy_intp dims[CUD_MAX_DIMS];
    size_t size;
} ArrayLayout;

PyObject *cud_new_managed(State *state, struct ArrayLayout *layout, PyObject *flags,
                          const char *call); /* managed.c */
int cud_array_layout(const char *call, PyObject *shape, PyObject *dtype, PyObject *order,
                     ArrayLayout *layout);
/* Takes layout->dtype. owner becomes the base; *weak (may be NULL) a weak reference to the
 * array. */
PyObject *cud_array_over(PyObject *owner, ArrayLayout *layout, void *data, PyObject **weak);
/* Shape and dtype of another array, in its order. */
int cud_array_layout_like(const char *call, PyObject *other, ArrayLayout *layout);
void cud_array_zero(PyObject *array);

/* Copies of host memory first wait here, where Ctrl-C is heard. 1: nothing is pending, so a short
 * call may keep the GIL. */
int cud_wait_before_copy(State *state, const char *routine, size_t size);

/* ---- arrays ---------------------------------------------------------------------------------- */

typedef struct {
    CUD_HEAD
    CUarray handle;
    Context *context;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    int users, freed;
} ArrayObject;

int cud_as_array(State *state, PyObject *obj, const char *call, const char *name,
                 ArrayObject **out);
size_t cud_format_size(CUarray_format format);   /* bytes of a channel; 0: not known */
size_t cud_array_bytes(const ArrayObject *self); /* of one row, times height and depth */
void cud_array_unpin(ArrayObject *self);

#endif
