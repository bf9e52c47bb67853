/* allocator.c - AllocatorBase, ImmediateAllocator, DeferredAllocator, SVMAllocator: the sources of
 * memory for pools. */
#include "opencl/context.h"
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/pool.h"
#include "opencl/lifetime/queue_idle.h"
#include "opencl/memory.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"
#include "opencl/svm.h"

static int Allocator_traverse(PyObject *op, visitproc visit, void *arg) {
    Allocator *self = (Allocator *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->context);
    Py_VISIT(self->queue);
    return 0;
}

static void Allocator_dealloc(PyObject *op) {
    Allocator *self = (Allocator *)op;
    pg_untrack(op, self->weakrefs);
    Py_XDECREF(self->queue);
    Py_XDECREF(self->context);
    pg_object_free(op);
}

/* Makes the driver allocate a buffer's memory now. */
static cl_int commit(Queue *queue, cl_mem mem, const char **routine) {
    cl_event event = NULL; /* unused, but event_release.c says why PoCL needs an event */
    cl_int status = CL_SUCCESS;
    int idle = queue->enqueued == queue->finished;
    if (queue->device->version >= 120 && cl.clEnqueueMigrateMemObjects != NULL) {
        cl_mem *array =
            PyMem_Malloc(sizeof *array); /* outlives this call; see ocl_keepalive_array() */
        *routine = "clEnqueueMigrateMemObjects";
        if (array == NULL) {
            return CL_OUT_OF_HOST_MEMORY;
        }
        *array = mem;
        OCL_ENQUEUE(queue, status, clEnqueueMigrateMemObjects, queue->queue, 1, array, 0, 0, NULL,
                    &event);
        if (status == CL_SUCCESS &&
            (queue->device->platform->quirks & OCL_QUIRK_READS_LISTS_LATE)) {
            ocl_keepalive_array(queue->state, event, array);
        } else {
            PyMem_Free(array);
        }
    } else {
        static const char zero = 0; /* static, because the write may happen later */
        *routine = "clEnqueueWriteBuffer";
        OCL_ENQUEUE(queue, status, clEnqueueWriteBuffer, queue->queue, mem, CL_FALSE, 0, 1, &zero,
                    0, NULL, &event);
    }
    if (status == CL_SUCCESS) {
        /* Without this wait the queue would count as busy forever; see blocking.c. */
        if (idle && (queue->device->platform->quirks & OCL_QUIRK_SLOW_UNLESS_BLOCKING)) {
            unsigned number = queue->enqueued;
            cl_int waited = CL_SUCCESS;
            CL_NOGIL(waited, clWaitForEvents, 1, &event);
            if (waited == CL_SUCCESS) {
                ocl_queue_done(queue, number);
            }
        }
        ocl_live[LIVE_EVENT]++;
        ocl_event_release(event);
    }
    return status;
}

PyObject *ocl_allocator_buffer(Allocator *self, size_t size, size_t asked) {
    State *state = self->state;
    int tries = 0, again;
    for (;;) {
        PyObject *buffer = ocl_buffer_create(state, state->BufferType, self->context, self->flags,
                                             size, asked, NULL);
        if (buffer == NULL || self->queue == NULL) {
            return buffer;
        }
        const char *routine;
        cl_int status = commit(self->queue, ((Memory *)buffer)->mem, &routine);
        if (status == CL_SUCCESS) {
            return buffer;
        }
        Py_DECREF(buffer);
        again = ocl_retry(state, status, &tries);
        if (again <= 0) {
            return again < 0 ? NULL
                             : ocl_raise_with(state, routine, status, "asked for %zu bytes", asked);
        }
    }
}

static PyObject *Allocator_call(PyObject *op, PyObject *args, PyObject *kwargs) {
    static ArgSpec spec = PG_ARGSPEC("Allocator.__call__(size)\n--\n\n");
    Allocator *self = (Allocator *)op;
    PyObject *a[1];
    size_t size;
    if (pg_args_tuple(&spec, args, kwargs, a) < 0 ||
        pg_as_size(a[0], "allocator", "size", &size) < 0) {
        return NULL;
    }
    if (self->context == NULL) {
        ocl_refuse_uninitialized(self->state, "allocator", "allocator", CL_INVALID_VALUE);
        return NULL;
    }
    if (Py_TYPE(op) == self->state->SVMAllocatorType ||
        PyObject_TypeCheck(op, self->state->SVMAllocatorType)) {
        return ocl_svm_allocation_new(self->state, self->state->SVMAllocationType, self->context,
                                      size, self->alignment, self->flags, self->queue, NULL);
    }
    return size == 0 ? Py_NewRef(Py_None)
                     : ocl_allocator_buffer(self, size, size); /* as PyOpenCL does for zero bytes */
}

/* Parses mem_flags, READ_WRITE by default. Flags that need host memory are refused, as there is
 * none. */
static int as_flags(State *state, PyObject *obj, const char *call, uint64_t *flags) {
    *flags = CL_MEM_READ_WRITE;
    if (obj != NULL && pg_as_u64(obj, call, "mem_flags", flags) < 0) {
        return -1;
    }
    if (*flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "mem_flags must not ask for host memory (USE_HOST_PTR or COPY_HOST_PTR)");
        return -1;
    }
    return 0;
}

static PyObject *Allocator_make(PyTypeObject *type, State *state, Context *context, Queue *queue,
                                uint64_t flags, size_t alignment) {
    Allocator *self = (Allocator *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
        self->context = (Context *)Py_NewRef(context);
        self->queue = (Queue *)Py_XNewRef(queue);
        self->flags = flags;
        self->alignment = alignment;
    }
    return (PyObject *)self;
}

PG_WEAKREF_MEMBERS(Allocator, Allocator);
static PyType_Slot AllocatorBase_slots[] = {
    {Py_tp_doc, (void *)"Base of allocators for MemoryPool: called with a size [bytes], an "
                        "allocator returns a Buffer, or None for 0. It cannot be instantiated."},
    {Py_tp_traverse, (void *)Allocator_traverse},
    {Py_tp_dealloc, (void *)Allocator_dealloc},
    {Py_tp_call, (void *)Allocator_call},
    {Py_tp_repr, (void *)ocl_allocator_repr},
    {Py_tp_members, Allocator_members},
    {0, NULL},
};
PG_TYPE(ocl, "pygpu.tools.AllocatorBase", AllocatorBase, Allocator,
        OCL_FLAGS | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);

/* ---- DeferredAllocator ----------------------------------------------------------------------- */

PG_DOC(Deferred__doc__, "DeferredAllocator", "context, mem_flags=1",
       "(context: Context, mem_flags: int = mem_flags.READ_WRITE)",
       "Creates buffers whose memory the driver allocates at first use, so that lack of memory is "
       "only detected then.");
static ArgSpec Deferred_args = PG_ARGSPEC(Deferred__doc__);

static PyObject *Deferred_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[2];
    Context *context;
    uint64_t flags;
    State *state = ocl_state_of(type);
    if (state == NULL || pg_args_tuple(&Deferred_args, args, kwargs, a) < 0 ||
        (context = ocl_as_context(state, a[0], "DeferredAllocator")) == NULL ||
        as_flags(state, a[1], "DeferredAllocator", &flags) < 0) {
        return NULL;
    }
    return Allocator_make(type, state, context, NULL, flags, 0);
}

OCL_MADE_BY_INIT_IF(Deferred, Allocator, DeferredAllocatorType, OCL_HAS_CONTEXT, sizeof(Allocator),
                    NULL)

static PyType_Slot DeferredAllocator_slots[] = {
    PG_NEW_SLOTS(Deferred),
    {0, NULL},
};
PG_TYPE(ocl, "pygpu.tools.DeferredAllocator", DeferredAllocator, Allocator,
        OCL_FLAGS | Py_TPFLAGS_BASETYPE);

/* ---- ImmediateAllocator ---------------------------------------------------------------------- */

PG_DOC(Immediate__doc__, "ImmediateAllocator", "queue, mem_flags=1",
       "(queue: CommandQueue, mem_flags: int = mem_flags.READ_WRITE)",
       "Creates buffers whose memory the driver allocates at once, with a command on *queue*, so "
       "that lack of memory is detected here and pools can free held blocks.");
static ArgSpec Immediate_args = PG_ARGSPEC(Immediate__doc__);

static PyObject *Immediate_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[2];
    Queue *queue;
    uint64_t flags;
    State *state = ocl_state_of(type);
    if (state == NULL || pg_args_tuple(&Immediate_args, args, kwargs, a) < 0 ||
        (queue = ocl_as_queue(state, a[0], "ImmediateAllocator")) == NULL ||
        as_flags(state, a[1], "ImmediateAllocator", &flags) < 0) {
        return NULL;
    }
    return Allocator_make(type, state, queue->context, queue, flags, 0);
}

OCL_MADE_BY_INIT_IF(Immediate, Allocator, ImmediateAllocatorType, OCL_HAS_CONTEXT,
                    sizeof(Allocator), NULL)

static PyType_Slot ImmediateAllocator_slots[] = {
    PG_NEW_SLOTS(Immediate),
    {0, NULL},
};
PG_TYPE(ocl, "pygpu.tools.ImmediateAllocator", ImmediateAllocator, Allocator,
        OCL_FLAGS | Py_TPFLAGS_BASETYPE);

/* ---- SVMAllocator ---------------------------------------------------------------------------- */

PG_DOC(
    SVMAllocator__doc__, "SVMAllocator", "context, alignment=0, flags=1, queue=None",
    "(context: Context, alignment: int = 0, flags: int = svm_mem_flags.READ_WRITE, queue: "
    "CommandQueue | None = None)",
    "Allocates shared virtual memory: called with a size [bytes], it returns an SVMAllocation.\n\n"
    "alignment: bytes, a power of two, or 0 for the driver's choice. queue: the queue that "
    "allocations are bound to.");
static ArgSpec SVMAllocator_args = PG_ARGSPEC(SVMAllocator__doc__);

static PyObject *SVMAllocator_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[4];
    Context *context;
    Queue *queue = NULL;
    size_t alignment = 0;
    uint64_t flags = CL_MEM_READ_WRITE;
    const char *call = "SVMAllocator";
    State *state = ocl_state_of(type);
    if (state == NULL || pg_args_tuple(&SVMAllocator_args, args, kwargs, a) < 0 ||
        (context = ocl_as_context(state, a[0], call)) == NULL ||
        (a[1] != NULL && pg_as_size(a[1], call, "alignment", &alignment) < 0) ||
        (a[2] != NULL && pg_as_u64(a[2], call, "flags", &flags) < 0) ||
        (a[3] != NULL && a[3] != Py_None && (queue = ocl_as_queue(state, a[3], call)) == NULL)) {
        return NULL;
    }
    if (queue != NULL && queue->context->context != context->context) {
        return ocl_reject(state, call, CL_INVALID_CONTEXT, "queue belongs to another context");
    }
    if (alignment > UINT32_MAX / 2 || (alignment & (alignment - 1)) != 0) {
        return ocl_reject(state, call, CL_INVALID_VALUE,
                          "alignment must be 0 or a power of two, got %zu", alignment);
    }
    if (ocl_svm_supported(state, context, call, flags) < 0) {
        return NULL;
    }
    return Allocator_make(type, state, context, queue, flags, alignment);
}

OCL_MADE_BY_INIT_IF(SVMAllocator, Allocator, SVMAllocatorType, OCL_HAS_CONTEXT, sizeof(Allocator),
                    NULL)

static PyType_Slot SVMAllocator_slots[] = {
    PG_NEW_SLOTS(SVMAllocator),
    {Py_tp_traverse, (void *)Allocator_traverse},
    {Py_tp_dealloc, (void *)Allocator_dealloc},
    {Py_tp_call, (void *)Allocator_call},
    {Py_tp_members, Allocator_members},
    {Py_tp_repr, (void *)ocl_allocator_repr},
    {0, NULL},
};
PG_TYPE(ocl, "pygpu.tools.SVMAllocator", SVMAllocator, Allocator,
        OCL_FLAGS | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE);
