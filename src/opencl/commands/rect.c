/* rect.c - copies of boxes: 2-D and 3-D regions between host memory and buffers, and between
 * buffers (OpenCL 1.1, 5.2.4). */
#include "opencl/commands/blocking.h"
#include "opencl/commands/box.h"
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/usage.h"
#include "opencl/memory.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

typedef struct {
    size_t origin[3], pitch[2]; /* in bytes; pitches of a row and of a slice */
} Side;

/* Reads up to three numbers; missing ones become otherwise. */
static int as_triple(PyObject *obj, const char *call, const char *name, size_t otherwise,
                     size_t out[3]) {
    out[0] = out[1] = out[2] = otherwise;
    return obj == NULL || obj == Py_None ? 0 : pg_as_sizes(obj, call, name, out, 3) < 0 ? -1 : 0;
}

static int as_pitches(PyObject *obj, const char *call, const char *name, size_t out[2]) {
    out[0] = out[1] = 0;
    return obj == NULL || obj == Py_None ? 0 : pg_as_sizes(obj, call, name, out, 2) < 0 ? -1 : 0;
}

/* Makes a row and a slice of an origin that is given as bytes beyond 4 GiB: NVIDIA's driver (580)
 * loses the upper half of that number. */
static void shorten_origin(Side *side) {
    if (side->origin[0] > UINT32_MAX) {
        for (int i = 2; i > 0; i--) {
            side->origin[i] += side->origin[0] / side->pitch[i - 1];
            side->origin[0] %= side->pitch[i - 1];
        }
    }
}

/* Fills in default pitches and checks that the box fits into total bytes. what names this side in
 * errors. */
static int check_side(State *state, const char *call, const char *what, Side *side,
                      const size_t region[3], size_t total) {
    size_t rows, slices, end, last;
    if (side->pitch[0] == 0) {
        side->pitch[0] = region[0];
    }
    if (side->pitch[0] < region[0]) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "the row pitch of the %s, %zu bytes, is less than the %zu bytes of a row", what,
                   side->pitch[0], region[0]);
        return -1;
    }
    if (side->pitch[1] == 0) {
        if (pg_mul(side->pitch[0], region[1], &side->pitch[1]) < 0) {
            goto too_far;
        }
    } else if (pg_mul(side->pitch[0], region[1], &rows) < 0 || side->pitch[1] < rows ||
               side->pitch[1] % side->pitch[0] != 0) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "the slice pitch of the %s, %zu bytes, must be a multiple of its row pitch, "
                   "%zu, and hold %zu rows",
                   what, side->pitch[1], side->pitch[0], region[1]);
        return -1;
    }
    if (pg_add(side->origin[1], region[1] - 1, &last) < 0 ||
        pg_mul(last, side->pitch[0], &rows) < 0 ||
        pg_add(side->origin[2], region[2] - 1, &last) < 0 ||
        pg_mul(last, side->pitch[1], &slices) < 0 || pg_add(side->origin[0], region[0], &end) < 0 ||
        pg_add(end, rows, &end) < 0 || pg_add(end, slices, &end) < 0 || end > total) {
        goto too_far;
    }
    if (region[1] == 1 && region[2] == 1) { /* one row: pitches do not matter */
        side->origin[0] += side->origin[1] * side->pitch[0] + side->origin[2] * side->pitch[1];
        side->origin[1] = side->origin[2] = 0;
        side->pitch[0] = side->pitch[1] = region[0];
    }
    shorten_origin(side);
    return 0;
too_far:
    ocl_reject(state, call, CL_INVALID_VALUE, "the region reaches past the %zu bytes of the %s",
               total, what);
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

/* ---- enqueueing ------------------------------------------------------------------------------ */

typedef enum { BOX_READ, BOX_WRITE, BOX_COPY } BoxKind;
static const char *const routines[] = {"clEnqueueReadBufferRect", "clEnqueueWriteBufferRect",
                                       "clEnqueueCopyBufferRect"};
static const char *const row_routines[] = {"clEnqueueReadBuffer", "clEnqueueWriteBuffer",
                                           "clEnqueueCopyBuffer"};

typedef struct {
    BoxKind kind;
    cl_mem mem[2]; /* BOX_COPY: source and destination; otherwise only the buffer */
    void *host;
    int blocking;    /* OCL_WAIT_...; not for BOX_COPY */
    Side side[2];    /* of mem[0], and of the host or mem[1] */
    size_t total[2]; /* size of the buffers in bytes; 0 for the host, whose end drivers do not
                      * know */
    size_t region[3];
} Box;

static int is_row(const Box *box) {
    return box->region[1] == 1 && box->region[2] == 1;
}

/* Names for error messages. */
static const char *routine_of(const Box *box) {
    return is_row(box) ? row_routines[box->kind] : routines[box->kind];
}

static size_t start_of(const Side *side) {
    return side->origin[0] + side->origin[1] * side->pitch[0] + side->origin[2] * side->pitch[1];
}

/* A box of one row is enqueued as what it is, a piece of the buffer: NVIDIA's driver refuses boxes
 * whose pitches reach past the end, and writes a row beyond 4 GiB elsewhere. */
static cl_int enqueue_row(Queue *queue, const Box *box, cl_uint n, const cl_event *events,
                          cl_event *event) {
    size_t a = start_of(&box->side[0]), b = start_of(&box->side[1]), size = box->region[0];
    cl_int status = CL_SUCCESS;
    switch (box->kind) {
    case BOX_READ:
        OCL_ENQUEUE_COPY(queue, box->blocking, status, clEnqueueReadBuffer, queue->queue,
                         box->mem[0], OCL_BLOCKS(box->blocking), a, size, (char *)box->host + b, n,
                         events, event);
        break;
    case BOX_WRITE:
        OCL_ENQUEUE_COPY(queue, box->blocking, status, clEnqueueWriteBuffer, queue->queue,
                         box->mem[0], OCL_BLOCKS(box->blocking), a, size, (char *)box->host + b, n,
                         events, event);
        break;
    default:
        OCL_ENQUEUE(queue, status, clEnqueueCopyBuffer, queue->queue, box->mem[0], box->mem[1], a,
                    b, size, n, events, event);
    }
    return status;
}

static cl_int enqueue_box(Queue *queue, const Box *box, cl_uint n, const cl_event *events,
                          cl_event *event) {
    const Side *a = &box->side[0], *b = &box->side[1];
    cl_int status = CL_SUCCESS;
    if (is_row(box)) {
        return enqueue_row(queue, box, n, events, event);
    }
    switch (box->kind) {
    case BOX_READ:
        OCL_ENQUEUE_COPY(queue, box->blocking, status, clEnqueueReadBufferRect, queue->queue,
                         box->mem[0], OCL_BLOCKS(box->blocking), a->origin, b->origin, box->region,
                         a->pitch[0], a->pitch[1], b->pitch[0], b->pitch[1], box->host, n, events,
                         event);
        break;
    case BOX_WRITE:
        OCL_ENQUEUE_COPY(queue, box->blocking, status, clEnqueueWriteBufferRect, queue->queue,
                         box->mem[0], OCL_BLOCKS(box->blocking), a->origin, b->origin, box->region,
                         a->pitch[0], a->pitch[1], b->pitch[0], b->pitch[1], box->host, n, events,
                         event);
        break;
    default:
        OCL_ENQUEUE(queue, status, clEnqueueCopyBufferRect, queue->queue, box->mem[0], box->mem[1],
                    a->origin, b->origin, box->region, a->pitch[0], a->pitch[1], b->pitch[0],
                    b->pitch[1], n, events, event);
    }
    return status;
}

/* Whether the padding after the last row or slice, which is not part of the box, extends past the
 * end of a buffer. Everything fits into size_t: check_side() has multiplied nearly the same
 * numbers. */
static int gap_reaches_out(const Box *box) {
    for (int i = 0; i < 2; i++) {
        const Side *side = &box->side[i];
        if (box->total[i] > 0 &&
            ((side->origin[2] + box->region[2]) * side->pitch[1] > box->total[i] ||
             (side->origin[1] + box->region[1]) * side->pitch[0] > box->total[i])) {
            return 1;
        }
    }
    return 0;
}

/* Reduces pitches that the box does not need to the size of its rows. */
static void tighten(Box *box) {
    for (int i = 0; i < 2; i++) {
        Side *side = &box->side[i];
        if (box->region[2] == 1) {
            side->pitch[0] = box->region[1] == 1 ? box->region[0] : side->pitch[0];
            side->pitch[1] = side->pitch[0] * box->region[1];
        }
        shorten_origin(side);
    }
}

/* Moves the last slice of a box, or its last row if there is only one slice, to another box. */
static void cut(Box *box, Box *last) {
    int direction = box->region[2] > 1 ? 2 : 1;
    for (int i = 0; i < 2; i++) {
        Side *side = &box->side[i];
        side->origin[0] += side->origin[1] * side->pitch[0] + side->origin[2] * side->pitch[1];
        side->origin[1] = side->origin[2] = 0;
    }
    *last = *box;
    box->region[direction]--;
    for (int i = 0; i < 2; i++) {
        last->side[i].origin[0] += box->region[direction] * box->side[i].pitch[direction - 1];
    }
    last->region[direction] = 1;
    tighten(box);
    tighten(last);
}

/* Enqueues one command, or two if the driver (NVIDIA's) wants even the padding after the box to
 * lie inside the buffer. *event is the last one's. */
static cl_int enqueue(Queue *queue, Box *box, const WaitList *list, cl_event *event) {
    cl_int status = enqueue_box(queue, box, list->n, list->events, event);
    if (status != CL_INVALID_VALUE || is_row(box) || !gap_reaches_out(box)) {
        return status;
    }
    Box last;
    cl_event first = NULL;
    cut(box, &last);
    status = enqueue_box(queue, box, list->n, list->events, &first);
    if (status != CL_SUCCESS) {
        return status;
    }
    status = enqueue_box(queue, &last, 1, &first, event);
    if (status != CL_SUCCESS) { /* wait: the caller will free the memory */
        cl_int ignored = CL_SUCCESS;
        Py_BEGIN_ALLOW_THREADS
        CL_CALL(ignored, clWaitForEvents, 1, &first);
        Py_END_ALLOW_THREADS(void)
        ignored;
    }
    ocl_live[LIVE_EVENT]++;
    ocl_event_release(first);
    return status;
}

/* Whether two boxes that lie distance bytes apart in the same grid of rows and slices overlap. */
static int boxes_meet(size_t distance, const size_t region[3], const size_t pitch[2]) {
    /* distance = x + y * row pitch + z * slice pitch with |x|, |y|, |z| less than the region, so y
     * and z are these quotients or one more. */
    for (size_t z = distance / pitch[1]; z <= distance / pitch[1] + 1; z++) {
        size_t slices = z * pitch[1],
               rest = distance > slices ? distance - slices : slices - distance;
        for (size_t y = rest / pitch[0]; y <= rest / pitch[0] + 1; y++) {
            size_t rows = y * pitch[0], x = rest > rows ? rest - rows : rows - rest;
            if (x < region[0] && y < region[1] && z < region[2]) {
                return 1;
            }
        }
    }
    return 0;
}

/* OpenCL 1.1, 5.2.4: within a buffer, the pitches must be equal and the boxes must not overlap.
 * NVIDIA's driver does not check this. */
static int check_overlap(State *state, const Memory *src, const Memory *dst, const Box *box) {
    const Side *from = &box->side[0], *to = &box->side[1];
    if (src->mem != dst->mem) {
        return 0;
    }
    if (from->pitch[0] != to->pitch[0] || from->pitch[1] != to->pitch[1]) {
        ocl_reject(state, routines[BOX_COPY], CL_INVALID_VALUE,
                   "source and destination are the same buffer, so src_pitches and dst_pitches "
                   "must be the same");
        return -1;
    }
    size_t a = start_of(from), b = start_of(to);
    if (boxes_meet(a > b ? a - b : b - a, box->region, from->pitch)) {
        ocl_reject(state, routines[BOX_COPY], CL_MEM_COPY_OVERLAP,
                   "source and destination overlap in the same buffer");
        return -1;
    }
    return 0;
}

/* ---- functions ------------------------------------------------------------------------------- */

PG_DOC(ocl_enqueue_read_buffer_rect__doc__, "_enqueue_read_buffer_rect",
       "queue, mem, hostbuf, buffer_origin, host_origin, region, buffer_pitches=None, "
       "host_pitches=None, wait_for=None, is_blocking=True",
       "(queue: CommandQueue, mem: MemoryObjectHolder, hostbuf: HostBuffer, buffer_origin: "
       "Sequence[int], host_origin: Sequence[int], region: Sequence[int], "
       "buffer_pitches: Sequence[int] | None = None, host_pitches: Sequence[int] | None = None, "
       "wait_for: Sequence[Event] | None = None, "
       "is_blocking: bool = True) -> NannyEvent",
       "Copy a box to the host: origins and region are (bytes, rows, slices), pitches (row, slice) "
       "in bytes.");
PG_DOC(ocl_enqueue_write_buffer_rect__doc__, "_enqueue_write_buffer_rect",
       "queue, mem, hostbuf, buffer_origin, host_origin, region, buffer_pitches=None, "
       "host_pitches=None, wait_for=None, is_blocking=True",
       "(queue: CommandQueue, mem: MemoryObjectHolder, hostbuf: HostBuffer, buffer_origin: "
       "Sequence[int], host_origin: Sequence[int], region: Sequence[int], "
       "buffer_pitches: Sequence[int] | None = None, host_pitches: Sequence[int] | None = None, "
       "wait_for: Sequence[Event] | None = None, "
       "is_blocking: bool = True) -> NannyEvent",
       "Copy a box to the device: origins and region are (bytes, rows, slices), pitches (row, "
       "slice) in bytes.");

static PyObject *host_rect(PyObject *module, PyObject *const *a, int write) {
    State *state = PyModule_GetState(module);
    Box box = {.kind = write ? BOX_WRITE : BOX_READ};
    Side *device = &box.side[0], *host = &box.side[1];
    size_t *region = box.region;
    int blocking;
    Py_buffer view;
    WaitList list;
    const char *call = "enqueue_copy";
    if ((blocking = pg_as_bool(a[9], 1)) < 0) {
        return NULL;
    }
    Queue *queue = ocl_as_queue(state, a[0], call);
    Memory *memory = ocl_queue_buffer(queue, a[1], call, "the buffer");
    if (memory == NULL || as_triple(a[3], call, "buffer_origin", 0, device->origin) < 0 ||
        as_triple(a[4], call, "host_origin", 0, host->origin) < 0 ||
        as_region(state, a[5], call, region) < 0 ||
        as_pitches(a[6], call, "buffer_pitches", device->pitch) < 0 ||
        as_pitches(a[7], call, "host_pitches", host->pitch) < 0 ||
        check_side(state, call, "buffer", device, region, memory->size) < 0 ||
        pg_get_buffer(a[2], call, "the host array", !write, &view) < 0) {
        return NULL;
    }
    if (check_side(state, call, "host array", host, region, (size_t)view.len) < 0 ||
        ocl_wait_list(state, a[8], call, queue, &list) < 0) {
        PyBuffer_Release(&view);
        return NULL;
    }
    if (ocl_memory_alive(memory, call) < 0 || ocl_memory_prepare(memory, queue) < 0) {
        ocl_wait_list_clear(&list);
        PyBuffer_Release(&view);
        return NULL;
    }
    cl_event event = NULL;
    box.mem[0] = memory->mem;
    box.total[0] = memory->size;
    box.host = view.buf;
    ocl_memory_pin(memory);
    box.blocking = ocl_choose_wait(queue, &list, region[0] * region[1] * region[2], blocking);
    cl_int status = box.blocking < 0 ? CL_SUCCESS : enqueue(queue, &box, &list, &event);
    ocl_memory_unpin(memory);
    if (box.blocking < 0) {
        ocl_wait_list_clear(&list);
        PyBuffer_Release(&view);
        return NULL;
    }
    return ocl_finish_host_copy(queue, routine_of(&box), status, event, &list, &view, a[2],
                                box.blocking);
}

PG_SHARED_FUNCTION(ocl_enqueue_read_buffer_rect, 10)
static PyObject *ocl_enqueue_read_buffer_rect_impl(PyObject *module, PyObject *const *a) {
    return host_rect(module, a, 0);
}

PG_SHARED_FUNCTION(ocl_enqueue_write_buffer_rect, 10)
static PyObject *ocl_enqueue_write_buffer_rect_impl(PyObject *module, PyObject *const *a) {
    return host_rect(module, a, 1);
}

PG_DOC(ocl_enqueue_copy_buffer_rect__doc__, "_enqueue_copy_buffer_rect",
       "queue, src, dst, src_origin, dst_origin, region, src_pitches=None, dst_pitches=None, "
       "wait_for=None",
       "(queue: CommandQueue, src: MemoryObjectHolder, dst: MemoryObjectHolder, src_origin: "
       "Sequence[int], dst_origin: Sequence[int], region: Sequence[int], "
       "src_pitches: Sequence[int] | None = None, dst_pitches: Sequence[int] | None = None, "
       "wait_for: Sequence[Event] | None = None) -> Event",
       "Copy a box between buffers: origins and region are (bytes, rows, slices), pitches (row, "
       "slice) in bytes.");
PG_SHARED_FUNCTION(ocl_enqueue_copy_buffer_rect, 9)
static PyObject *ocl_enqueue_copy_buffer_rect_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    Box box = {.kind = BOX_COPY};
    Side *from = &box.side[0], *to = &box.side[1];
    size_t *region = box.region;
    WaitList list;
    const char *call = "enqueue_copy";
    Queue *queue = ocl_as_queue(state, a[0], call);
    Memory *src = ocl_queue_buffer(queue, a[1], call, "the source");
    Memory *dst = src != NULL ? ocl_queue_buffer(queue, a[2], call, "the destination") : NULL;
    if (dst == NULL || as_triple(a[3], call, "src_origin", 0, from->origin) < 0 ||
        as_triple(a[4], call, "dst_origin", 0, to->origin) < 0 ||
        as_region(state, a[5], call, region) < 0 ||
        as_pitches(a[6], call, "src_pitches", from->pitch) < 0 ||
        as_pitches(a[7], call, "dst_pitches", to->pitch) < 0 ||
        check_side(state, call, "source", from, region, src->size) < 0 ||
        check_side(state, call, "destination", to, region, dst->size) < 0 ||
        check_overlap(state, src, dst, &box) < 0 ||
        ocl_wait_list(state, a[8], call, queue, &list) < 0) {
        return NULL;
    }
    if (ocl_memory_alive(src, call) < 0 || ocl_memory_alive(dst, call) < 0 ||
        ocl_memory_prepare(src, queue) < 0 || ocl_memory_prepare(dst, queue) < 0) {
        ocl_wait_list_clear(&list);
        return NULL;
    }
    cl_event event = NULL;
    box.mem[0] = src->mem;
    box.mem[1] = dst->mem;
    box.total[0] = src->size;
    box.total[1] = dst->size;
    ocl_memory_pin(src);
    ocl_memory_pin(dst);
    cl_int status = enqueue(queue, &box, &list, &event);
    ocl_memory_unpin(dst);
    ocl_memory_unpin(src);
    return ocl_finish_enqueue(queue, routine_of(&box), status, event, &list);
}

PyMethodDef ocl_rect_functions[] = {
    {"_enqueue_read_buffer_rect", FAST(ocl_enqueue_read_buffer_rect),
     ocl_enqueue_read_buffer_rect__doc__},
    {"_enqueue_write_buffer_rect", FAST(ocl_enqueue_write_buffer_rect),
     ocl_enqueue_write_buffer_rect__doc__},
    {"_enqueue_copy_buffer_rect", FAST(ocl_enqueue_copy_buffer_rect),
     ocl_enqueue_copy_buffer_rect__doc__},
    {NULL, NULL, 0, NULL},
};
