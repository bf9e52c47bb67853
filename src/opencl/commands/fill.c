/* fill.c - commands without host memory: fill, migrate, marker, barrier, and copies between
 * devices. */
#include "opencl/commands/pieces.h"
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/usage.h"
#include "opencl/memory.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"
#include "opencl/queue.h"

PG_DOC(enqueue_fill_buffer__doc__, "enqueue_fill_buffer",
       "queue, mem, pattern, offset, size, wait_for=None",
       "(queue: CommandQueue, mem: MemoryObjectHolder, pattern: HostBuffer, offset: int, size: "
       "int, wait_for: Sequence[Event] | None = None) -> Event",
       "Repeat *pattern* (1, 2, 4, ..., 128 bytes) over *size* bytes from *offset* on; both are "
       "multiples of its length (OpenCL 1.2).");
static int check_fill(const Memory *memory, const char *call, const OclFill *fill) {
    State *state = memory->state;
    size_t end;
    if (ocl_check_pattern(state, call, fill->length) < 0) {
        return -1;
    }
    if (fill->offset % fill->length != 0 || fill->size % fill->length != 0) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "offset %zu and size %zu must be multiples of the pattern's %zu bytes",
                   fill->offset, fill->size, fill->length);
        return -1;
    }
    if (pg_add(fill->offset, fill->size, &end) < 0 || end > memory->size) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "%zu bytes at offset %zu end past the %zu bytes of the buffer", fill->size,
                   fill->offset, memory->size);
        return -1;
    }
    return 0;
}

PG_FUNCTION(enqueue_fill_buffer, 6)
static PyObject *enqueue_fill_buffer_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    PyObject *result = NULL;
    OclFill fill = {0};
    Py_buffer pattern;
    WaitList list;
    const char *call = "enqueue_fill_buffer";
    Queue *queue = ocl_as_queue(state, a[0], call);
    Memory *memory = ocl_queue_buffer(queue, a[1], call, "mem");
    if (memory == NULL || pg_as_size(a[3], call, "offset", &fill.offset) < 0 ||
        pg_as_size(a[4], call, "size", &fill.size) < 0 ||
        ocl_need_version(state, "clEnqueueFillBuffer", queue->device->version, 120) < 0 ||
        pg_get_buffer(a[2], call, "pattern", 0, &pattern) < 0) {
        return NULL;
    }
    fill.pattern = pattern.buf;
    fill.length = (size_t)pattern.len;
    if (check_fill(memory, call, &fill) < 0 || ocl_wait_list(state, a[5], call, queue, &list) < 0) {
        goto done;
    }
    if (fill.size == 0) {
        result = ocl_enqueue_empty(queue, &list);
        goto done;
    }
    if (ocl_memory_alive(memory, call) < 0 || ocl_memory_prepare(memory, queue) < 0) {
        ocl_wait_list_clear(&list);
        goto done;
    }
    cl_event event = NULL;
    fill.mem = memory->mem;
    ocl_memory_pin(memory);
    cl_int status = ocl_enqueue_fill(queue, &fill, &list, &event);
    ocl_memory_unpin(memory);
    if (status != CL_SUCCESS) {
        ocl_piece_release(event);
    }
    result = ocl_finish_enqueue(queue, "clEnqueueFillBuffer", status, event, &list);
done:
    PyBuffer_Release(&pattern); /* safe: the driver has copied it */
    return result;
}

PG_DOC(enqueue_migrate__doc__, "enqueue_migrate_mem_objects",
       "queue, mem_objects, flags=0, wait_for=None",
       "(queue: CommandQueue, mem_objects: Sequence[MemoryObjectHolder], flags: int = 0, wait_for: "
       "Sequence[Event] | None = None) -> Event",
       "Move memory objects to the queue's device, or to the host (mem_migration_flags.HOST) "
       "(OpenCL 1.2).");
/* Returns the handles of memory objects, prepared for the queue, as PyMem memory; NULL with an
 * exception. */
static cl_mem *read_memories(PyObject *objects, const char *call, Queue *queue) {
    Py_ssize_t n = PyTuple_GET_SIZE(objects);
    cl_mem *mems = PyMem_Calloc((size_t)n + 1, sizeof *mems);
    if (mems == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        Memory *memory = ocl_as_memory(queue->state, PyTuple_GET_ITEM(objects, i), call,
                                       "each of mem_objects", queue->context->context);
        if (memory == NULL || ocl_memory_prepare(memory, queue) < 0) {
            PyMem_Free(mems);
            return NULL;
        }
        mems[i] = memory->mem;
    }
    return mems;
}

/* Iterating over wait_for may have run code that released one. */
static int all_alive(PyObject *objects, const char *call) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(objects); i++) {
        if (ocl_memory_alive((Memory *)PyTuple_GET_ITEM(objects, i), call) < 0) {
            return 0;
        }
    }
    return 1;
}

PG_FUNCTION(enqueue_migrate, 4)
static PyObject *enqueue_migrate_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    PyObject *result = NULL;
    uint64_t flags = 0;
    WaitList list;
    const char *call = "enqueue_migrate_mem_objects";
    Queue *queue = ocl_as_queue(state, a[0], call);
    if (queue == NULL || (a[2] != NULL && pg_as_u64(a[2], call, "flags", &flags) < 0) ||
        ocl_need_version(state, "clEnqueueMigrateMemObjects", queue->device->version, 120) < 0) {
        return NULL;
    }
    PyObject *objects = pg_tuple(a[1], call, "mem_objects", "memory objects", 1 << 20);
    if (objects == NULL) {
        return NULL;
    }
    cl_uint n = (cl_uint)PyTuple_GET_SIZE(objects);
    cl_mem *mems = read_memories(objects, call, queue);
    if (mems == NULL || ocl_wait_list(state, a[3], call, queue, &list) < 0) {
        goto done;
    }
    if (n == 0) {
        result = ocl_enqueue_empty(queue, &list);
        goto done;
    }
    if (!all_alive(objects, call)) {
        ocl_wait_list_clear(&list);
        goto done;
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    (void)ocl_queue_may_block(queue);
    CL_CALL(status, clEnqueueMigrateMemObjects, queue->queue, n, mems, flags, list.n, list.events,
            &event);
    if (status == CL_SUCCESS && (queue->device->platform->quirks & OCL_QUIRK_READS_LISTS_LATE)) {
        ocl_keepalive_array(state, event, mems);
        mems = NULL;
    }
    result = ocl_finish_enqueue(queue, "clEnqueueMigrateMemObjects", status, event, &list);
done:
    PyMem_Free(mems);
    Py_DECREF(objects);
    return result;
}

PG_DOC(enqueue_marker__doc__, "enqueue_marker", "queue, wait_for=None",
       "(queue: CommandQueue, wait_for: Sequence[Event] | None = None) -> Event",
       "An event that completes when the events of wait_for do, or without wait_for, all earlier "
       "commands.");
PG_DOC(enqueue_barrier__doc__, "enqueue_barrier", "queue, wait_for=None",
       "(queue: CommandQueue, wait_for: Sequence[Event] | None = None) -> Event",
       "Like enqueue_marker, but later commands wait for it, even in an out-of-order queue.");
PG_FUNCTION(enqueue_marker, 2)
static PyObject *enqueue_marker_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    WaitList list;
    Queue *queue;
    if ((queue = ocl_as_queue(state, a[0], "enqueue_marker")) == NULL ||
        ocl_wait_list(state, a[1], "enqueue_marker", queue, &list) < 0) {
        return NULL;
    }
    return ocl_enqueue_empty(queue, &list);
}

PG_FUNCTION(enqueue_barrier, 2)
static PyObject *enqueue_barrier_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    WaitList list;
    Queue *queue;
    if ((queue = ocl_as_queue(state, a[0], "enqueue_barrier")) == NULL ||
        ocl_wait_list(state, a[1], "enqueue_barrier", queue, &list) < 0) {
        return NULL;
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    if (queue->device->version >= 120 && cl.clEnqueueBarrierWithWaitList != NULL) {
        OCL_ENQUEUE(queue, status, clEnqueueBarrierWithWaitList, queue->queue, list.n, list.events,
                    &event);
        return ocl_finish_enqueue(queue, "clEnqueueBarrierWithWaitList", status, event, &list);
    }
    if (list.n > 0) {
        CL_CALL(status, clEnqueueWaitForEvents, queue->queue, list.n, list.events);
    }
    if (status == CL_SUCCESS) {
        CL_CALL(status, clEnqueueBarrier, queue->queue);
    }
    if (status == CL_SUCCESS) {
        CL_CALL(status, clEnqueueMarker, queue->queue, &event);
    }
    return ocl_finish_enqueue(queue, "clEnqueueBarrier", status, event, &list);
}

PG_DOC(
    enqueue_copy_p2p__doc__, "enqueue_copy_buffer_p2p_amd",
    "platform, queue, src, dst, byte_count=None, wait_for=None",
    "(platform: Platform, queue: CommandQueue, src: MemoryObjectHolder, dst: MemoryObjectHolder, "
    "byte_count: int | None = None, wait_for: Sequence[Event] | None = None) "
    "-> Event",
    "Copy between buffers of two devices over the bus (AMD's extension cl_amd_copy_buffer_p2p).");
PG_FUNCTION(enqueue_copy_p2p, 6)
static PyObject *enqueue_copy_p2p_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    WaitList list;
    size_t size;
    const char *call = "enqueue_copy_buffer_p2p_amd", *routine = "clEnqueueCopyBufferP2PAMD";
    if (!PyObject_TypeCheck(a[0], state->PlatformType)) {
        return PyErr_Format(PyExc_TypeError, "%s: platform must be a Platform, not %s", call,
                            pg_type_name(a[0]));
    }
    Queue *queue = ocl_as_queue(state, a[1], call);
    Memory *src = queue != NULL ? ocl_as_buffer(state, a[2], call, "src", NULL) : NULL;
    Memory *dst = src != NULL ? ocl_as_buffer(state, a[3], call, "dst", NULL) : NULL;
    if (dst == NULL) {
        return NULL;
    }
    size = src->size < dst->size ? src->size : dst->size;
    if (a[4] != NULL && a[4] != Py_None && pg_as_size(a[4], call, "byte_count", &size) < 0) {
        return NULL;
    }
    if (size > src->size || size > dst->size) {
        return ocl_reject(state, call, CL_INVALID_VALUE,
                          "byte_count = %zu is more than src (%zu) or dst (%zu) holds", size,
                          src->size, dst->size);
    }
    if (!ocl_extension_ready(((Platform *)a[0])->id, FN_clEnqueueCopyBufferP2PAMD)) {
        return ocl_raise_with(state, routine, CL_INVALID_OPERATION,
                              "the platform does not have the extension cl_amd_copy_buffer_p2p");
    }
    if (ocl_wait_list(state, a[5], call, NULL, &list) < 0) {
        return NULL;
    }
    if (ocl_memory_alive(src, call) < 0 ||
        ocl_memory_alive(dst, call) < 0) { /* iterating over wait_for may have run code that
                                            * released them */
        ocl_wait_list_clear(&list);
        return NULL;
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clEnqueueCopyBufferP2PAMD, queue->queue, src->mem, dst->mem, 0, 0, size, list.n,
            list.events, &event);
    return ocl_finish_enqueue(queue, routine, status, event, &list);
}

PyMethodDef ocl_fill_functions[] = {
    {"enqueue_fill_buffer", FAST(enqueue_fill_buffer), enqueue_fill_buffer__doc__},
    {"enqueue_migrate_mem_objects", FAST(enqueue_migrate), enqueue_migrate__doc__},
    {"enqueue_marker", FAST(enqueue_marker), enqueue_marker__doc__},
    {"enqueue_barrier", FAST(enqueue_barrier), enqueue_barrier__doc__},
    {"enqueue_copy_buffer_p2p_amd", FAST(enqueue_copy_p2p), enqueue_copy_p2p__doc__},
    {NULL, NULL, 0, NULL},
};
