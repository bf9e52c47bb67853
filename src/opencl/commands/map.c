/* map.c - MemoryMap and enqueue_map_buffer(): an ndarray over device memory.
 *
 * The ndarray's base is the MemoryMap, which unmaps when the last array over it is gone. After an
 * explicit release() the array may still exist. It is then made empty, so that it can neither show
 * stale bytes nor access memory that the driver took back. Earlier views of it cannot be found.
 * For their sake the map owns a reference to the driver's memory object for its whole life, so
 * that releasing the buffer affects neither the views nor the unmapping. */
#include "opencl/commands/box.h"
#include "opencl/commands/map.h"
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gates.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/usage.h"
#include "opencl/memory.h"
#include "common/host_array.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

typedef struct {
    OCL_HEAD
    void *pointer; /* NULL if nothing is mapped, or no longer */
    Queue *queue;
    Memory *memory;
    cl_mem mem;      /* with its own reference */
    Event *mapped;   /* must complete before anything is unmapped */
    PyObject *array; /* weak reference to the returned ndarray */
    void *scalar;    /* what a 0-d array shows after release() */
    PyObject *dict;
} MemoryMap;

static int MemoryMap_traverse(PyObject *op, visitproc visit, void *arg) {
    MemoryMap *self = (MemoryMap *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->queue);
    Py_VISIT(self->memory);
    Py_VISIT(self->array);
    Py_VISIT(self->dict);
    return 0;
}

static int MemoryMap_clear(PyObject *op) { /* queue and memory are still needed for unmapping */
    Py_CLEAR(((MemoryMap *)op)->dict);
    return 0;
}

/* Unmaps where a failure cannot be reported. after: the event of the mapping, or NULL. */
static void unmap(Queue *queue, cl_mem mem, void *pointer, cl_event after) {
    cl_int status = CL_SUCCESS, exec = CL_COMPLETE;
    cl_event event = NULL;
    if (after != NULL) { /* not if it failed: some drivers would then wait forever */
        CL_CALL(status, clGetEventInfo, after, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof exec,
                &exec, NULL);
    }
    cl_uint n = exec > CL_COMPLETE ? 1 : 0;
    (void)ocl_queue_may_block(queue);
    CL_CALL(status, clEnqueueUnmapMemObject, queue->queue, mem, pointer, n, n > 0 ? &after : NULL,
            &event);
    if (status == CL_SUCCESS && event != NULL) {
        ocl_live[LIVE_EVENT]++;
        ocl_event_release(event);
    }
}

void ocl_unmap_discarded(Queue *queue, cl_mem mem, void *pointer, cl_event event) {
    unmap(queue, mem, pointer, event);
    ocl_live[LIVE_EVENT]++;
    ocl_event_release(event);
}

static void MemoryMap_dealloc(PyObject *op) {
    MemoryMap *self = (MemoryMap *)op;
    pg_untrack(op, self->weakrefs);
    if (self->pointer != NULL) {
        unmap(self->queue, self->mem, self->pointer,
              self->mapped != NULL ? self->mapped->event : NULL);
    }
    if (self->mem != NULL) {
        CL_RELEASE(LIVE_MEM, clReleaseMemObject, self->mem);
    }
    MemoryMap_clear(op);
    PyMem_Free(self->scalar);
    Py_XDECREF(self->array);
    Py_XDECREF(self->mapped);
    Py_XDECREF(self->memory);
    Py_XDECREF(self->queue);
    pg_object_free(op);
}

PG_DOC(MemoryMap_release__doc__, "release", "$self, queue=None, wait_for=None",
       "(queue: CommandQueue | None = None, wait_for: Sequence[Event] | None = None) -> Event",
       "Unmap: return the memory to the device. The array is empty from then on.\n\nqueue: by "
       "default the one that mapped.");
static PyObject *release(MemoryMap *self, Queue *queue, PyObject *wait_for) {
    const char *call = "MemoryMap.release";
    WaitList list;
    if (self->pointer == NULL) {
        return ocl_reject(self->state, call, CL_INVALID_VALUE, "the memory was already unmapped");
    }
    if (ocl_wait_list(self->state, wait_for, call, queue, &list) < 0) {
        return NULL;
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    void *pointer = self->pointer;
    if (pointer == NULL) { /* code run by wait_for's __iter__ has unmapped it in the meantime */
        ocl_wait_list_clear(&list);
        return ocl_reject(self->state, call, CL_INVALID_VALUE, "the memory was already unmapped");
    }
    (void)ocl_queue_may_block(queue);
    CL_CALL(status, clEnqueueUnmapMemObject, queue->queue, self->mem, pointer, list.n, list.events,
            &event);
    if (status == CL_SUCCESS) {
        self->pointer = NULL;
        pg_revoke_array(self->array, self->scalar);
    }
    return ocl_finish_enqueue(queue, "clEnqueueUnmapMemObject", status, event, &list);
}

PG_FUNCTION(MemoryMap_release, 2)
static PyObject *MemoryMap_release_impl(PyObject *op, PyObject *const *a) {
    MemoryMap *self = (MemoryMap *)op;
    Queue *queue = self->queue;
    if ((a[0] != NULL && a[0] != Py_None &&
         (queue = ocl_as_queue(self->state, a[0], "MemoryMap.release")) == NULL)) {
        return NULL;
    }
    if (queue->context->context != self->queue->context->context) {
        return ocl_reject(self->state, "MemoryMap.release", CL_INVALID_CONTEXT,
                          "the queue belongs to another context");
    }
    return release(self, queue, a[1]);
}

static PyObject *MemoryMap_enter(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return Py_NewRef(op);
}

static PyObject *MemoryMap_exit(PyObject *op, PyObject *Py_UNUSED(args)) {
    MemoryMap *self = (MemoryMap *)op;
    PyObject *event = self->pointer != NULL ? release(self, self->queue, NULL) : Py_NewRef(Py_None);
    if (event == NULL) {
        return NULL;
    }
    Py_DECREF(event);
    Py_RETURN_NONE;
}

static PyObject *MemoryMap_repr(PyObject *op) {
    MemoryMap *self = (MemoryMap *)op;
    const char *name = Py_TYPE(op)->tp_name;
    if (self->pointer == NULL) {
        return PyUnicode_FromFormat("<%s, not mapped>", name);
    }
    return PyUnicode_FromFormat("<%s of %R at %p>", name, (PyObject *)self->memory, self->pointer);
}

static PyMethodDef MemoryMap_methods[] = {
    PG_NO_PICKLE,
    {"release", FAST(MemoryMap_release), MemoryMap_release__doc__},
    {"__enter__", MemoryMap_enter, METH_NOARGS,
     "__enter__($self, /)\n--\n\n() -> MemoryMap\n\nThe map itself."},
    {"__exit__", MemoryMap_exit, METH_VARARGS,
     "__exit__($self, /, *exc_info)\n--\n\n(*exc_info: object) -> None\n\nUnmap."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef MemoryMap_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PG_DICT_MEMBERS(MemoryMap, MemoryMap);
static PyType_Slot MemoryMap_slots[] = {
    {Py_tp_doc, (void *)"A mapped region of a memory object: the base of the ndarray that "
                        "enqueue_map_buffer returns. As a context manager it unmaps."},
    PG_GC_SLOTS(MemoryMap),
    {Py_tp_repr, (void *)MemoryMap_repr},
    PG_TABLE_SLOTS(MemoryMap),
    {0, NULL},
};
OCL_TYPE(MemoryMap, MemoryMap,
         Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);

PyObject *ocl_map_result(Queue *queue, Memory *memory, const char *routine, void *pointer,
                         cl_event event, WaitList *list, PgArrayLayout *layout, int blocking,
                         int writable) {
    State *state = queue->state;
    PyArrayObject *array = NULL;
    PyObject *wrapped = NULL, *result = NULL;
    MemoryMap *self = (MemoryMap *)PG_NEW(state->MemoryMapType);
    cl_mem mem = memory->mem;
    cl_int status = CL_SUCCESS;
    if (self != NULL) {
        CL_CALL(status, clRetainMemObject, mem);
    }
    if (self == NULL || status != CL_SUCCESS) {
        ocl_wait_list_clear(list);
        unmap(queue, mem, pointer, event);
        if (self != NULL) {
            ocl_raise(state, "clRetainMemObject", status);
        }
        goto done;
    }
    ocl_live[LIVE_MEM]++;
    self->state = state;
    self->queue = (Queue *)Py_NewRef(queue);
    self->memory = (Memory *)Py_NewRef(memory);
    self->mem = mem;
    self->pointer = pointer;
    wrapped = ocl_event_after(queue, event, list);
    event = NULL;
    if (wrapped == NULL) {
        goto done;
    }
    self->mapped = (Event *)Py_NewRef(wrapped);
    if (blocking) {
        if (ocl_wait(state, self->mapped->event, routine, NULL) < 0 ||
            ocl_event_check(self->mapped, routine) < 0) {
            goto done; /* destroying the map unmaps after the mapping has completed */
        }
        Py_CLEAR(self->mapped);
    }
    if (layout->n == 0 && (self->scalar = PyMem_Calloc(1, layout->size + 1)) == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    array = pg_array_from_layout((PyObject *)self, layout, pointer, writable);
    if (array == NULL || (self->array = PyWeakref_NewRef((PyObject *)array, NULL)) == NULL) {
        goto done;
    }
    result = PyTuple_Pack(2, (PyObject *)array, wrapped);
done:
    if (event != NULL) {
        ocl_live[LIVE_EVENT]++;
        ocl_event_release(event);
    }
    Py_CLEAR(layout->dtype);
    Py_XDECREF(array);
    Py_XDECREF(wrapped);
    Py_XDECREF(self);
    return result;
}

PG_DOC(
    enqueue_map_buffer__doc__, "enqueue_map_buffer",
    "queue, buf, flags, offset, shape, dtype, order='C', strides=None, wait_for=None, "
    "is_blocking=True",
    "(queue: CommandQueue, buf: MemoryObjectHolder, flags: int, offset: int, shape: int | "
    "Sequence[int], dtype: DTypeLike, order: str = 'C', "
    "strides: Sequence[int] | None = None, wait_for: Sequence[Event] | None = None, is_blocking: "
    "bool = True) -> tuple[numpy.ndarray, Event]",
    "Map memory from byte *offset* on and return it as an array, with the event of the mapping.\n\n"
    "flags: map_flags.READ, WRITE, WRITE_INVALIDATE_REGION; with READ alone the array is "
    "read-only. The region is unmapped by\n"
    "array.base.release(), by `with array.base:`, or when the array is dropped. Raises ValueError "
    "past the end.");
static int check_map(const Memory *memory, const char *call, size_t offset, size_t size) {
    size_t end;
    if (memory->type != CL_MEM_OBJECT_BUFFER) {
        PyErr_Format(PyExc_TypeError,
                     "%s: buf must be a buffer; an image is mapped by enqueue_map_image", call);
        return -1;
    }
    if (size == 0) {
        ocl_reject(memory->state, call, CL_INVALID_VALUE,
                   "the region is empty; map at least one byte");
        return -1;
    }
    if (pg_add(offset, size, &end) < 0 || end > memory->size) {
        ocl_reject(memory->state, call, CL_INVALID_VALUE,
                   "an array of %zu bytes at offset %zu ends past the %zu bytes of the buffer",
                   size, offset, memory->size);
        return -1;
    }
    return 0;
}

/* Enqueues the mapping. Returns its address, or NULL with an exception. */
static void *map(Queue *queue, cl_mem mem, cl_map_flags flags, size_t offset, size_t size,
                 const WaitList *list, cl_event *event) {
    cl_int status;
    int tries = 0, again;
    void *pointer;
    ocl_gates_must_run(list->gates); /* it must run, because the unmapping will follow */
    do {
        status = CL_SUCCESS;
        if (!ocl_queue_may_block(queue) &&
            (queue->device->platform->quirks & OCL_QUIRK_FAILURES_RACE)) {
            CL_MAKE(pointer, status, clEnqueueMapBuffer, queue->queue, mem, CL_FALSE, flags, offset,
                    size, list->n, list->events, event);
        } else {
            Py_BEGIN_ALLOW_THREADS
            CL_MAKE(pointer, status, clEnqueueMapBuffer, queue->queue, mem, CL_FALSE, flags, offset,
                    size, list->n, list->events, event);
            Py_END_ALLOW_THREADS
        }
        again = status == CL_SUCCESS ? 0 : ocl_retry(queue->state, status, &tries);
    } while (again == 1);
    if (again == 0 && (status != CL_SUCCESS || pointer == NULL)) {
        ocl_raise(queue->state, "clEnqueueMapBuffer",
                  status != CL_SUCCESS ? status : CL_MAP_FAILURE);
    }
    return status == CL_SUCCESS ? pointer : NULL;
}

PG_FUNCTION(enqueue_map_buffer, 10)
static PyObject *enqueue_map_buffer_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    PyObject *result = NULL;
    uint64_t flags;
    size_t offset;
    int blocking;
    PgArrayLayout layout;
    WaitList list;
    const char *call = "enqueue_map_buffer";
    if ((blocking = pg_as_bool(a[9], 1)) < 0) {
        return NULL;
    }
    Queue *queue = ocl_as_queue(state, a[0], call);
    Memory *memory =
        queue != NULL ? ocl_as_memory(state, a[1], call, "buf", queue->context->context) : NULL;
    if (memory == NULL || pg_as_u64(a[2], call, "flags", &flags) < 0 ||
        pg_as_size(a[3], call, "offset", &offset) < 0 ||
        pg_array_layout(call, a[4], a[5], a[6], a[7], &layout) < 0) {
        return NULL;
    }
    if (check_map(memory, call, offset, layout.size) < 0 ||
        ocl_wait_list(state, a[8], call, queue, &list) < 0) {
        goto done;
    }
    if (ocl_memory_alive(memory, call) < 0 || ocl_memory_prepare(memory, queue) < 0) {
        ocl_wait_list_clear(&list);
        goto done;
    }
    cl_event event = NULL;
    cl_mem mem = memory->mem;
    ocl_memory_pin(memory);
    void *pointer = map(queue, mem, flags, offset, layout.size, &list, &event);
    if (pointer != NULL && ocl_memory_alive(memory, call) < 0) {
        /* released in the meantime, by another thread or a finalizer */
        ocl_unmap_discarded(queue, mem, pointer, event);
    } else if (pointer != NULL) {
        result = ocl_map_result(queue, memory, "clEnqueueMapBuffer", pointer, event, &list, &layout,
                                blocking, (flags & ~(cl_map_flags)CL_MAP_READ) != 0);
    }
    ocl_memory_unpin(memory);
    ocl_wait_list_clear(&list);
done:
    Py_CLEAR(layout.dtype); /* NULL if the array took it over */
    return result;
}

PyMethodDef ocl_map_functions[] = {
    {"enqueue_map_buffer", FAST(enqueue_map_buffer), enqueue_map_buffer__doc__},
    {NULL, NULL, 0, NULL},
};
