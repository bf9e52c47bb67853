/* rect.c - copies of boxes: 2-D and 3-D regions between host memory and buffers and between buffers (OpenCL 1.1, 5.2.4). */
#include "opencl.h"

typedef struct {
    size_t origin[3], pitch[2]; /* bytes; pitch of a row and of a slice */
} Side;

/* Reads up to three numbers; missing ones are otherwise. */
static int as_triple(PyObject *obj, const char *call, const char *name, size_t otherwise, size_t out[3]) {
    out[0] = out[1] = out[2] = otherwise;
    return obj == NULL || obj == Py_None ? 0 : pg_as_sizes(obj, call, name, out, 3) < 0 ? -1 : 0;
}

static int as_pitches(PyObject *obj, const char *call, const char *name, size_t out[2]) {
    out[0] = out[1] = 0;
    return obj == NULL || obj == Py_None ? 0 : pg_as_sizes(obj, call, name, out, 2) < 0 ? -1 : 0;
}

/* Fills in default pitches and checks that the box ends within total bytes; what names the side in errors. */
static int check_side(State *state, const char *call, const char *what, Side *side, const size_t region[3], size_t total) {
    size_t rows, slices, end, last;
    if (side->pitch[0] == 0) {
        side->pitch[0] = region[0];
    }
    if (side->pitch[0] < region[0]) {
        ocl_reject(state, call, CL_INVALID_VALUE, "the row pitch of the %s, %zu bytes, is less than the %zu bytes of a row", what, side->pitch[0], region[0]);
        return -1;
    }
    if (side->pitch[1] == 0) {
        if (pg_mul(side->pitch[0], region[1], &side->pitch[1]) < 0) {
            goto too_far;
        }
    } else if (pg_mul(side->pitch[0], region[1], &rows) < 0 || side->pitch[1] < rows || side->pitch[1] % side->pitch[0] != 0) {
        ocl_reject(state, call, CL_INVALID_VALUE, "the slice pitch of the %s, %zu bytes, must be a multiple of its row pitch, %zu, and hold %zu rows", what,
                   side->pitch[1], side->pitch[0], region[1]);
        return -1;
    }
    if (pg_add(side->origin[1], region[1] - 1, &last) < 0 || pg_mul(last, side->pitch[0], &rows) < 0 ||
        pg_add(side->origin[2], region[2] - 1, &last) < 0 || pg_mul(last, side->pitch[1], &slices) < 0 ||
        pg_add(side->origin[0], region[0], &end) < 0 || pg_add(end, rows, &end) < 0 || pg_add(end, slices, &end) < 0 || end > total) {
        goto too_far;
    }
    if (region[1] == 1 && region[2] == 1) { /* one row: pitches that reach past the end mean nothing, but NVIDIA's driver refuses them */
        side->origin[0] += side->origin[1] * side->pitch[0] + side->origin[2] * side->pitch[1];
        side->origin[1] = side->origin[2] = 0;
        side->pitch[0] = side->pitch[1] = region[0];
    }
    return 0;
too_far:
    ocl_reject(state, call, CL_INVALID_VALUE, "the region reaches past the %zu bytes of the %s", total, what);
    return -1;
}

static int as_region(State *state, PyObject *obj, const char *call, size_t out[3]) {
    if (as_triple(obj, call, "region", 1, out) < 0) {
        return -1;
    }
    if (out[0] == 0 || out[1] == 0 || out[2] == 0) {
        ocl_reject(state, call, CL_INVALID_VALUE, "region must be positive in every direction");
        return -1;
    }
    return 0;
}

PG_DOC(enqueue_read_buffer_rect__doc__, "_enqueue_read_buffer_rect",
       "queue, mem, hostbuf, buffer_origin, host_origin, region, buffer_pitches=None, host_pitches=None, wait_for=None, is_blocking=True",
       "(queue: CommandQueue, mem: MemoryObjectHolder, hostbuf: HostBuffer, buffer_origin: Sequence[int], host_origin: Sequence[int], region: Sequence[int], "
       "buffer_pitches: Sequence[int] | None = None, host_pitches: Sequence[int] | None = None, wait_for: Sequence[Event] | None = None, "
       "is_blocking: bool = True) -> NannyEvent",
       "Copy a box to the host: origins and region are (bytes, rows, slices), pitches (row, slice) in bytes.");
static ArgSpec enqueue_read_buffer_rect_args = PG_ARGSPEC(enqueue_read_buffer_rect__doc__);
PG_DOC(enqueue_write_buffer_rect__doc__, "_enqueue_write_buffer_rect",
       "queue, mem, hostbuf, buffer_origin, host_origin, region, buffer_pitches=None, host_pitches=None, wait_for=None, is_blocking=True",
       "(queue: CommandQueue, mem: MemoryObjectHolder, hostbuf: HostBuffer, buffer_origin: Sequence[int], host_origin: Sequence[int], region: Sequence[int], "
       "buffer_pitches: Sequence[int] | None = None, host_pitches: Sequence[int] | None = None, wait_for: Sequence[Event] | None = None, "
       "is_blocking: bool = True) -> NannyEvent",
       "Copy a box to the device: origins and region are (bytes, rows, slices), pitches (row, slice) in bytes.");
static ArgSpec enqueue_write_buffer_rect_args = PG_ARGSPEC(enqueue_write_buffer_rect__doc__);

static PyObject *host_rect(PyObject *module, ArgSpec *spec, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, int write) {
    State *state = PyModule_GetState(module);
    PyObject *a[10];
    Side device, host;
    size_t region[3];
    int blocking;
    Py_buffer view;
    WaitList list;
    const char *call = spec->function, *routine = write ? "clEnqueueWriteBufferRect" : "clEnqueueReadBufferRect";
    if (pg_args(spec, args, nargs, kwnames, a) < 0 || (blocking = pg_as_bool(a[9], 1)) < 0) {
        return NULL;
    }
    Queue *queue = ocl_as_queue(state, a[0], call);
    Memory *memory = queue != NULL ? ocl_as_memory(state, a[1], call, "the buffer", queue->context->context) : NULL;
    if (memory == NULL || as_triple(a[3], call, "buffer_origin", 0, device.origin) < 0 || as_triple(a[4], call, "host_origin", 0, host.origin) < 0 ||
        as_region(state, a[5], call, region) < 0 || as_pitches(a[6], call, "buffer_pitches", device.pitch) < 0 ||
        as_pitches(a[7], call, "host_pitches", host.pitch) < 0 || check_side(state, call, "buffer", &device, region, memory->size) < 0 ||
        pg_get_buffer(a[2], call, "the host array", !write, &view) < 0) {
        return NULL;
    }
    if (check_side(state, call, "host array", &host, region, (size_t)view.len) < 0 || ocl_wait_list(state, a[8], call, queue->context->context, &list) < 0) {
        PyBuffer_Release(&view);
        return NULL;
    }
    if (ocl_memory_alive(memory, call) < 0 || ocl_memory_prepare(memory, queue) < 0) {
        ocl_wait_list_clear(&list);
        PyBuffer_Release(&view);
        return NULL;
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    cl_mem mem = memory->mem;
    ocl_memory_pin(memory);
    if (write) {
        OCL_ENQUEUE(queue, status, clEnqueueWriteBufferRect, queue->queue, mem, CL_FALSE, device.origin, host.origin, region, device.pitch[0],
                    device.pitch[1], host.pitch[0], host.pitch[1], view.buf, list.n, list.events, &event);
    } else {
        OCL_ENQUEUE(queue, status, clEnqueueReadBufferRect, queue->queue, mem, CL_FALSE, device.origin, host.origin, region, device.pitch[0],
                    device.pitch[1], host.pitch[0], host.pitch[1], view.buf, list.n, list.events, &event);
    }
    ocl_memory_unpin(memory);
    return ocl_finish_host_copy(queue, routine, status, event, &list, &view, a[2], blocking);
}

static PyObject *enqueue_read_buffer_rect(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    return host_rect(module, &enqueue_read_buffer_rect_args, args, nargs, kwnames, 0);
}

static PyObject *enqueue_write_buffer_rect(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    return host_rect(module, &enqueue_write_buffer_rect_args, args, nargs, kwnames, 1);
}

PG_DOC(enqueue_copy_buffer_rect__doc__, "_enqueue_copy_buffer_rect",
       "queue, src, dst, src_origin, dst_origin, region, src_pitches=None, dst_pitches=None, wait_for=None",
       "(queue: CommandQueue, src: MemoryObjectHolder, dst: MemoryObjectHolder, src_origin: Sequence[int], dst_origin: Sequence[int], region: Sequence[int], "
       "src_pitches: Sequence[int] | None = None, dst_pitches: Sequence[int] | None = None, wait_for: Sequence[Event] | None = None) -> Event",
       "Copy a box between buffers: origins and region are (bytes, rows, slices), pitches (row, slice) in bytes.");
static ArgSpec enqueue_copy_buffer_rect_args = PG_ARGSPEC(enqueue_copy_buffer_rect__doc__);

static PyObject *enqueue_copy_buffer_rect(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    State *state = PyModule_GetState(module);
    PyObject *a[9];
    Side from, to;
    size_t region[3];
    WaitList list;
    const char *call = "_enqueue_copy_buffer_rect";
    if (pg_args(&enqueue_copy_buffer_rect_args, args, nargs, kwnames, a) < 0) {
        return NULL;
    }
    Queue *queue = ocl_as_queue(state, a[0], call);
    Memory *src = queue != NULL ? ocl_as_memory(state, a[1], call, "the source", queue->context->context) : NULL;
    Memory *dst = src != NULL ? ocl_as_memory(state, a[2], call, "the destination", queue->context->context) : NULL;
    if (dst == NULL || as_triple(a[3], call, "src_origin", 0, from.origin) < 0 || as_triple(a[4], call, "dst_origin", 0, to.origin) < 0 ||
        as_region(state, a[5], call, region) < 0 || as_pitches(a[6], call, "src_pitches", from.pitch) < 0 ||
        as_pitches(a[7], call, "dst_pitches", to.pitch) < 0 || check_side(state, call, "source", &from, region, src->size) < 0 ||
        check_side(state, call, "destination", &to, region, dst->size) < 0 || ocl_wait_list(state, a[8], call, queue->context->context, &list) < 0) {
        return NULL;
    }
    if (ocl_memory_alive(src, call) < 0 || ocl_memory_alive(dst, call) < 0 || ocl_memory_prepare(src, queue) < 0 || ocl_memory_prepare(dst, queue) < 0) {
        ocl_wait_list_clear(&list);
        return NULL;
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    cl_mem from_mem = src->mem, to_mem = dst->mem;
    ocl_memory_pin(src);
    ocl_memory_pin(dst);
    OCL_ENQUEUE(queue, status, clEnqueueCopyBufferRect, queue->queue, from_mem, to_mem, from.origin, to.origin, region, from.pitch[0], from.pitch[1],
                to.pitch[0], to.pitch[1], list.n, list.events, &event);
    ocl_memory_unpin(dst);
    ocl_memory_unpin(src);
    return ocl_finish_enqueue(queue, "clEnqueueCopyBufferRect", status, event, &list);
}

PyMethodDef ocl_rect_functions[] = {
    {"_enqueue_read_buffer_rect", FAST(enqueue_read_buffer_rect), enqueue_read_buffer_rect__doc__},
    {"_enqueue_write_buffer_rect", FAST(enqueue_write_buffer_rect), enqueue_write_buffer_rect__doc__},
    {"_enqueue_copy_buffer_rect", FAST(enqueue_copy_buffer_rect), enqueue_copy_buffer_rect__doc__},
    {NULL, NULL, 0, NULL},
};
