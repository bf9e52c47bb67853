/* stream_memory.c - memory that is allocated and freed in stream order: mem_alloc_async,
 * mem_free_async.
 *
 * The driver reuses it as soon as the stream gets there, without any wait. An allocation that is
 * dropped is freed in the order of the stream on which it was made, after the work on other
 * streams that is known to use it. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/lifetime/usage.h"
#include "cuda/memory.h"
#include "cuda/stream.h"

typedef struct {
    Usage usage;     /* must be first: Allocation.usage points here */
    CUstream handle; /* the stream of the allocation */
    Stream *stream;
} Ordered;

static void free_on(Allocation *self, CUstream handle) {
    CUresult status = CUDA_SUCCESS;
    CU_QUEUED(status, cuMemFreeAsync, self->ptr, handle);
    if (status != CUDA_SUCCESS) { /* the stream may be in a capture */
        CU_NOGIL(status, cuMemFree, self->ptr);
    }
    cud_live[LIVE_MEM]--;
}

static void release_order(Ordered *order) {
    cud_usage_clear(&order->usage);
    Py_CLEAR(order->stream);
}

void cud_ordered_forget(Allocation *self) {
    if (self->usage != NULL) { /* NULL if its creation failed half-way */
        release_order((Ordered *)self->usage);
    }
}

void cud_ordered_free(Allocation *self) {
    Ordered *order = (Ordered *)self->usage;
    ContextGuard guard;
    CUresult status;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (cud_context_enter_free(self->context, &guard, &status) == 0) {
        cud_usage_join(self->state, &order->usage, self->context, order->handle, order->stream);
        free_on(self, order->handle);
        cud_context_leave(&guard);
    } else {
        cud_live[LIVE_MEM]--;
    }
    release_order(order);
    PyErr_Restore(type, value, traceback);
}

PG_DOC(mem_alloc_async__doc__, "mem_alloc_async", "bytes, stream=None",
       "(bytes: int, stream: object = None) -> DeviceAllocation",
       "Device memory that exists from this point in the order of *stream* on (default: the "
       "default stream), without waiting.\n\n"
       "Dropped or passed to mem_free_async(), the memory is reused once the stream reaches that "
       "point. Other streams must be ordered after the allocation; pygpu's calls that receive the "
       "object ensure this.\n\n"
       "Raises MemoryError if the device is out of memory, LogicError if it has no memory pools.");
/* Makes a new allocation, without memory yet, in a stream's order. NULL with an exception. */
static Allocation *new_ordered(State *state, Context *context, size_t size, CUstream handle,
                               Stream *stream) {
    Ordered *order = PyMem_Calloc(1, sizeof *order);
    if (order == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    Allocation *self =
        cud_allocation_new(state, state->DeviceAllocationType, context, 0, size, MEMORY_ORDERED);
    if (self == NULL) {
        PyMem_Free(order);
        return NULL;
    }
    order->usage.latest = CUD_NO_STREAM;
    order->handle = handle;
    order->stream = (Stream *)Py_XNewRef((PyObject *)stream);
    self->usage = &order->usage;
    return self;
}

/* Returns 0, or -1 with an exception. */
static int allocate(Allocation *self, size_t size, CUstream handle) {
    CUresult status;
    int tries = 0, again;
    do {
        status = CUDA_SUCCESS;
        CU_NOGIL(status, cuMemAllocAsync, &self->ptr, size, handle);
        again = status == CUDA_SUCCESS ? 0 : cud_retry(self->state, status, &tries);
    } while (again == 1);
    if (status == CUDA_SUCCESS) {
        cud_live[LIVE_MEM]++;
        return 0;
    }
    self->ptr = 0;
    if (again == 0) {
        cud_raise_with(self->state, "cuMemAllocAsync", status, "asked for %zu bytes", size);
    }
    return -1;
}

PG_FUNCTION(mem_alloc_async, 2)
static PyObject *mem_alloc_async_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "mem_alloc_async";
    size_t size;
    CUstream handle = NULL;
    Stream *stream = NULL;
    if (pg_as_size(a[0], call, "bytes", &size) < 0) {
        return NULL;
    }
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    Allocation *self = NULL;
    if (cud_as_stream(state, a[1], call, &handle, &stream) < 0) {
        goto done;
    }
    if (stream != NULL) {
        Py_SETREF(context, (Context *)Py_NewRef((PyObject *)stream->context));
    }
    self = new_ordered(state, context, size, handle, stream);
    if (self == NULL) {
        goto done;
    }
    Usage *usage = self->usage;
    if (size > 0 && allocate(self, size, handle) < 0) {
        release_order((Ordered *)usage);
        Py_CLEAR(self);
    } else if (cud_usage_add(state, usage, context, handle, stream) < 0) {
        Py_CLEAR(self);
    } else {
        cud_usage_change_owner(usage); /* other streams must wait for the allocation */
    }
done:
    Py_DECREF((PyObject *)context);
    return (PyObject *)self;
}

PG_DOC(mem_free_async__doc__, "mem_free_async", "allocation, stream=None",
       "(allocation: DeviceAllocation, stream: object = None) -> None",
       "Free memory of mem_alloc_async() once *stream* reaches this point (default: the stream "
       "that it was allocated on).\n\n"
       "Work on other streams that uses it must be ordered before; pygpu ensures this for its own "
       "calls.");
PG_FUNCTION(mem_free_async, 2)
static PyObject *mem_free_async_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "mem_free_async";
    CUstream handle = NULL;
    Stream *stream = NULL;
    if (!cud_is_allocation(state, a[0]) || ((Allocation *)a[0])->kind != MEMORY_ORDERED) {
        return cud_reject_type(
            state, call,
            "allocation must be from mem_alloc_async(), not %s; drop others, or call free()",
            pg_type_name(a[0]));
    }
    Allocation *self = (Allocation *)a[0];
    if (cud_allocation_alive(self, call) < 0 ||
        (a[1] != NULL && a[1] != Py_None &&
         cud_as_stream(state, a[1], call, &handle, &stream) < 0)) {
        return NULL;
    }
    Ordered *order = (Ordered *)self->usage;
    if (a[1] != NULL && a[1] != Py_None) {
        order->handle = handle;
        Py_XSETREF(order->stream, (Stream *)Py_XNewRef((PyObject *)stream));
    }
    cud_allocation_free(self);
    Py_RETURN_NONE;
}

PyMethodDef cud_stream_memory_functions[] = {
    {"mem_alloc_async", FAST(mem_alloc_async), mem_alloc_async__doc__},
    {"mem_free_async", FAST(mem_free_async), mem_free_async__doc__},
    {NULL, NULL, 0, NULL},
};
