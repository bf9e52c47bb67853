/* pieces.c - commands on much memory as several commands, and fills by wide patterns.
 *
 * NVIDIA's driver counts what it fills in 32 bits: one-byte patterns over 2 GiB never end, and over
 * 4 GiB most of the memory keeps its old contents, without an error. It is also ten times slower
 * with them than with four bytes. So its patterns are widened where offset and size allow it, and
 * no command of this file has more than 1 GiB there. Elsewhere patterns stay as they are: PoCL, for
 * one, is three times as fast with a single byte as with sixteen.
 *
 * Each piece waits for the one before, also in an in-order queue: if what they wait for fails, all
 * of them do.
 */
#include "pieces.h"

#define NVIDIA_PIECE ((size_t)1 << 30)
#define WIDE 16            /* bytes of a widened pattern */
#define WIDE_ENOUGH 4      /* such patterns fill as fast as wider ones */
#define WORTH_CUTTING 4096 /* for fewer bytes, another command costs more than narrow patterns do \
                            */

static size_t test_piece; /* 0: the driver's */

static size_t piece_of(const Queue *queue) {
    return test_piece != 0                      ? test_piece
           : queue->device->platform->is_nvidia ? NVIDIA_PIECE
                                                : SIZE_MAX;
}

static int is_trusted(const Queue *queue) {
    return test_piece == 0 && !queue->device->platform->is_nvidia;
}

void ocl_piece_let_go(cl_event event) {
    if (event != NULL) {
        ocl_live[LIVE_EVENT]++; /* it never counted */
        ocl_event_let_go(event);
    }
}

/* The events that a piece waits for: the one before it, or at first the command's wait list. */
typedef struct {
    cl_uint n;
    const cl_event *events;
    cl_event last; /* NULL: no piece was enqueued yet */
} Chain;

static cl_int add_piece(Chain *chain, Queue *queue, OclPiece piece, const void *command,
                        size_t start, size_t size) {
    cl_event next = NULL;
    cl_int status = piece(queue, command, start, size, chain->n, chain->events, &next);
    if (status != CL_SUCCESS) {
        return status;
    }
    ocl_piece_let_go(chain->last);
    chain->last = next;
    chain->n = 1;
    chain->events = &chain->last;
    return status;
}

static cl_int add_all(Chain *chain, Queue *queue, OclPiece piece, const void *command, size_t start,
                      size_t size) {
    size_t most = piece_of(queue), end = start + size;
    cl_int status = CL_SUCCESS;
    for (; status == CL_SUCCESS && start < end; start += size) {
        size = end - start < most ? end - start : most;
        status = add_piece(chain, queue, piece, command, start, size);
    }
    return status;
}

cl_int ocl_in_pieces(Queue *queue, OclPiece piece, const void *command, size_t size,
                     const WaitList *list, cl_event *event) {
    if (size <= piece_of(queue)) {
        return piece(queue, command, 0, size, list->n, list->events, event);
    }
    Chain chain = {list->n, list->events, NULL};
    cl_int status = add_all(&chain, queue, piece, command, 0, size);
    *event = chain.last;
    return status;
}

static cl_int fill_piece(Queue *queue, const void *command, size_t start, size_t size, cl_uint n,
                         const cl_event *events, cl_event *event) {
    const OclFill *fill = command;
    cl_int status = CL_SUCCESS;
    if (fill->mem != NULL) {
        OCL_ENQUEUE(queue, status, clEnqueueFillBuffer, queue->queue, fill->mem, fill->pattern,
                    fill->length, fill->offset + start, size, n, events, event);
    } else {
        OCL_ENQUEUE(queue, status, clEnqueueSVMMemFill, queue->queue, fill->svm + start,
                    fill->pattern, fill->length, size, n, events, event);
    }
    return status;
}

/* The fill by the widest pattern that offset and size allow. If none is wide enough, all but *head
 * bytes at the start and a rest. */
static OclFill widened(const OclFill *fill, unsigned char wide[WIDE], size_t *head) {
    OclFill middle = *fill;
    size_t place = fill->mem != NULL ? fill->offset : (size_t)(uintptr_t)fill->svm;
    *head = 0;
    if (fill->length >= WIDE) {
        return middle;
    }
    for (size_t i = 0; i < WIDE; i += fill->length) {
        memcpy(wide + i, fill->pattern, fill->length);
    }
    middle.pattern = wide;
    while (middle.length < WIDE && (place | fill->size) % (2 * middle.length) == 0) {
        middle.length *= 2;
    }
    if (middle.length < WIDE_ENOUGH && fill->size >= WORTH_CUTTING) {
        middle.length = WIDE;
        *head = (WIDE - place % WIDE) % WIDE;
        middle.size = (fill->size - *head) / WIDE * WIDE;
    }
    return middle;
}

cl_int ocl_enqueue_fill(Queue *queue, const OclFill *fill, const WaitList *list, cl_event *event) {
    unsigned char wide[WIDE];
    size_t head;
    if (is_trusted(queue)) {
        return fill_piece(queue, fill, 0, fill->size, list->n, list->events, event);
    }
    OclFill middle = widened(fill, wide, &head);
    if (middle.size == fill->size && middle.size <= piece_of(queue)) {
        return fill_piece(queue, &middle, 0, middle.size, list->n, list->events, event);
    }
    Chain chain = {list->n, list->events, NULL};
    size_t tail = head + middle.size;
    cl_int status = add_all(&chain, queue, fill_piece, fill, 0, head);
    if (status == CL_SUCCESS) {
        status = add_all(&chain, queue, fill_piece, &middle, head, middle.size);
    }
    if (status == CL_SUCCESS) {
        status = add_all(&chain, queue, fill_piece, fill, tail, fill->size - tail);
    }
    *event = chain.last;
    return status;
}

static PyObject *set_piece(PyObject *Py_UNUSED(module), PyObject *size) {
    size_t wanted;
    if (pg_as_size(size, "_set_piece", "size", &wanted) < 0) {
        return NULL;
    }
    if (wanted % 128 != 0) {
        return PyErr_Format(PyExc_ValueError, "_set_piece: size must be a multiple of 128, got %zu",
                            wanted);
    }
    test_piece = wanted;
    Py_RETURN_NONE;
}

PyMethodDef ocl_piece_functions[] = {
    {"_set_piece", set_piece, METH_O,
     "_set_piece(size, /)\n--\n\n(size: int, /) -> None\n\nThe most bytes of one fill or copy "
     "between buffers; 0: what the "
     "driver can be trusted with. For tests only."},
    {NULL, NULL, 0, NULL},
};
