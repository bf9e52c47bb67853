/* fill.c - commands that need no host memory: fill, migrate, marker, barrier, copies between
 * devices. */
#include "opencl/commands/pieces.h"

PG_DOC(enqueue_fill_buffer__doc__, "enqueue_fill_buffer",
       "queue, mem, pattern, offset, size, wait_for=None",
       "(queue: CommandQueue, mem: MemoryObjectHolder, pattern: HostBuffer, offset: int, size: "
       "int, wait_for: Sequence[Event] | None = None) -> Event",
       "Repeat *pattern* (1, 2, 4, ..., 128 bytes) over *size* bytes from *offset* on; both are "
       "multiples of its length (OpenCL 1.2).");
static ArgSpec enqueue_fill_buffer_args = PG_ARGSPEC(enqueue_fill_buffer__doc__);

static PyObject *enqueue_fill_buffer(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                     PyObject *kwnames) {
    State *state = PyModule_GetState(module);
    PyObject *a[6], *result = NULL;
    size_t offset, size, end;
    Py_buffer pattern;
    WaitList list;
    const char *call = "enqueue_fill_buffer";
    if (pg_args(&enqueue_fill_buffer_args, args, nargs, kwnames, a) < 0) {
        return NULL;
    }
    Queue *queue = ocl_as_queue(state, a[0], call);
    Memory *memory =
        queue != NULL ? ocl_as_buffer(state, a[1], call, "mem", queue->context->context) : NULL;
    if (memory == NULL || pg_as_size(a[3], call, "offset", &offset) < 0 ||
        pg_as_size(a[4], call, "size", &size) < 0 ||
        ocl_need_version(state, "clEnqueueFillBuffer", queue->device->version, 120) < 0 ||
        pg_get_buffer(a[2], call, "pattern", 0, &pattern) < 0) {
        return NULL;
    }
    size_t length = (size_t)pattern.len;
    if (length == 0 || length > 128 || (length & (length - 1)) != 0) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "pattern must have 1, 2, 4, 8, 16, 32, 64 or 128 bytes, not %zu", length);
        goto done;
    }
    if (offset % length != 0 || size % length != 0) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "offset %zu and size %zu must be multiples of the pattern's %zu bytes", offset,
                   size, length);
        goto done;
    }
    if (pg_add(offset, size, &end) < 0 || end > memory->size) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "%zu bytes at offset %zu end past the %zu bytes of the buffer", size, offset,
                   memory->size);
        goto done;
    }
    if (ocl_wait_list(state, a[5], call, queue, &list) < 0) {
        goto done;
    }
    if (size == 0) {
        result = ocl_enqueue_nothing(queue, &list);
        goto done;
    }
    if (ocl_memory_alive(memory, call) < 0 || ocl_memory_prepare(memory, queue) < 0) {
        ocl_wait_list_clear(&list);
        goto done;
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    OclFill fill = {memory->mem, NULL, offset, size, pattern.buf, length};
    ocl_memory_pin(memory);
    status = ocl_enqueue_fill(queue, &fill, &list, &event);
    ocl_memory_unpin(memory);
    if (status != CL_SUCCESS) {
        ocl_piece_let_go(event);
    }
    result = ocl_finish_enqueue(queue, "clEnqueueFillBuffer", status, event, &list);
done:
    PyBuffer_Release(&pattern); /* the driver has copied it */
    return result;
}

PG_DOC(enqueue_migrate__doc__, "enqueue_migrate_mem_objects",
       "queue, mem_objects, flags=0, wait_for=None",
       "(queue: CommandQueue, mem_objects: Sequence[MemoryObjectHolder], flags: int = 0, wait_for: "
       "Sequence[Event] | None = None) -> Event",
       "Move memory objects to the queue's device, or to the host (mem_migration_flags.HOST) "
       "(OpenCL 1.2).");
static ArgSpec enqueue_migrate_args = PG_ARGSPEC(enqueue_migrate__doc__);

static PyObject *enqueue_migrate(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *kwnames) {
    State *state = PyModule_GetState(module);
    PyObject *a[4], *result = NULL;
    uint64_t flags = 0;
    WaitList list;
    const char *call = "enqueue_migrate_mem_objects";
    if (pg_args(&enqueue_migrate_args, args, nargs, kwnames, a) < 0) {
        return NULL;
    }
    Queue *queue = ocl_as_queue(state, a[0], call);
    if (queue == NULL || (a[2] != NULL && pg_as_u64(a[2], call, "flags", &flags) < 0) ||
        ocl_need_version(state, "clEnqueueMigrateMemObjects", queue->device->version, 120) < 0) {
        return NULL;
    }
    PyObject *objects = pg_tuple(a[1], call, "mem_objects", "memory objects", 1 << 20);
    if (objects == NULL) {
        return NULL;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(objects);
    cl_mem *mems = PyMem_Calloc((size_t)n + 1, sizeof *mems);
    if (mems == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        Memory *memory = ocl_as_memory(state, PyTuple_GET_ITEM(objects, i), call,
                                       "each of mem_objects", queue->context->context);
        if (memory == NULL || ocl_memory_prepare(memory, queue) < 0) {
            goto done;
        }
        mems[i] = memory->mem;
    }
    if (ocl_wait_list(state, a[3], call, queue, &list) < 0) {
        goto done;
    }
    if (n == 0) {
        result = ocl_enqueue_nothing(queue, &list);
        goto done;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        Memory *memory = (Memory *)PyTuple_GET_ITEM(objects, i);
        if (ocl_memory_alive(memory, call) < 0) { /* an iterator of wait_for may have released it */
            ocl_wait_list_clear(&list);
            goto done;
        }
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    (void)ocl_queue_may_block(queue);
    CL_CALL(status, clEnqueueMigrateMemObjects, queue->queue, (cl_uint)n, mems, flags, list.n,
            list.events, &event);
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
static ArgSpec enqueue_marker_args = PG_ARGSPEC(enqueue_marker__doc__);
PG_DOC(enqueue_barrier__doc__, "enqueue_barrier", "queue, wait_for=None",
       "(queue: CommandQueue, wait_for: Sequence[Event] | None = None) -> Event",
       "Like enqueue_marker, but later commands wait for it, even in an out-of-order queue.");
static ArgSpec enqueue_barrier_args = PG_ARGSPEC(enqueue_barrier__doc__);

static PyObject *enqueue_marker(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames) {
    State *state = PyModule_GetState(module);
    PyObject *a[2];
    WaitList list;
    Queue *queue;
    if (pg_args(&enqueue_marker_args, args, nargs, kwnames, a) < 0 ||
        (queue = ocl_as_queue(state, a[0], "enqueue_marker")) == NULL ||
        ocl_wait_list(state, a[1], "enqueue_marker", queue, &list) < 0) {
        return NULL;
    }
    return ocl_enqueue_nothing(queue, &list);
}

static PyObject *enqueue_barrier(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *kwnames) {
    State *state = PyModule_GetState(module);
    PyObject *a[2];
    WaitList list;
    Queue *queue;
    if (pg_args(&enqueue_barrier_args, args, nargs, kwnames, a) < 0 ||
        (queue = ocl_as_queue(state, a[0], "enqueue_barrier")) == NULL ||
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
static ArgSpec enqueue_copy_p2p_args = PG_ARGSPEC(enqueue_copy_p2p__doc__);

static PyObject *enqueue_copy_p2p(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *kwnames) {
    State *state = PyModule_GetState(module);
    PyObject *a[6];
    WaitList list;
    size_t size;
    const char *call = "enqueue_copy_buffer_p2p_amd", *routine = "clEnqueueCopyBufferP2PAMD";
    if (pg_args(&enqueue_copy_p2p_args, args, nargs, kwnames, a) < 0) {
        return NULL;
    }
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
        ocl_memory_alive(dst, call) < 0) { /* an iterator of wait_for may have released them */
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
