/* pieces.c - splits commands on large memory into several, and fills with wider patterns.
 *
 * NVIDIA's driver (580) counts the patterns of a fill in 32 bits, including those before the
 * offset. One-byte patterns over 2 GiB never end. Beyond 2 GiB one-byte patterns, and beyond 4 GiB
 * two-byte patterns, are written to the wrong place, and so is a single command that writes 2**32
 * four-byte patterns. One-byte patterns are also ten times slower than four-byte ones. On this
 * driver, therefore, fills with short patterns are widened, no command of this file covers more
 * than 1 GiB, and a fill only writes where few enough patterns precede it. The rest is copied from
 * what is already filled, because copies are correct everywhere. On other drivers patterns are
 * left alone: PoCL, for example, is three times as fast with one byte as with sixteen.
 *
 * Each piece waits for the previous one, even in an in-order queue: if what they wait for fails,
 * all of them fail. */
#include "opencl/commands/pieces.h"
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/completion.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

#define NVIDIA_PIECE ((size_t)1 << 30)
/* Fills may write this many bytes from the start of a buffer, as tested with patterns of four
 * bytes and more. One- and two-byte patterns may write a quarter of it. */
#define NVIDIA_REACH  ((size_t)1 << 32)
#define WIDE          16   /* bytes of a widened pattern */
#define WIDE_ENOUGH   4    /* patterns of this width are as fast as wider ones */
#define WORTH_CUTTING 4096 /* bytes; fewer do not pay for a second command */
#define SEED          4096 /* bytes to fill elsewhere and copy, where no fill can start */
#define LONGEST       128  /* bytes of the longest pattern */

static size_t test_piece, test_reach; /* for tests; 0 means the driver's limit */

static size_t piece_of(const Queue *queue) {
    return test_piece != 0                                                            ? test_piece
           : (queue->device->platform->quirks & OCL_QUIRK_COUNTS_PATTERNS_IN_32_BITS) ? NVIDIA_PIECE
                                                                                      : SIZE_MAX;
}

static size_t reach_of(const OclFill *fill) {
    size_t reach = test_reach != 0 ? test_reach : NVIDIA_REACH;
    return fill->length < WIDE_ENOUGH ? reach / 4 : reach;
}

static int is_trusted(const Queue *queue) {
    return test_piece == 0 &&
           !(queue->device->platform->quirks & OCL_QUIRK_COUNTS_PATTERNS_IN_32_BITS);
}

void ocl_piece_release(cl_event event) {
    if (event != NULL) {
        ocl_live[LIVE_EVENT]++; /* it was not counted when it was made */
        ocl_event_release(event);
    }
}

/* The events that the next piece waits for: the previous piece's, or for the first piece the
 * command's wait list. */
typedef struct {
    cl_uint n;
    const cl_event *events;
    cl_event last; /* NULL before the first piece */
} Chain;

static cl_int add_piece(Chain *chain, Queue *queue, OclPiece piece, const void *command,
                        size_t start, size_t size) {
    cl_event next = NULL;
    cl_int status = piece(queue, command, start, size, chain->n, chain->events, &next);
    if (status != CL_SUCCESS) {
        return status;
    }
    ocl_piece_release(chain->last);
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

/* Returns the same fill with the widest pattern that offset and size allow. If no alignment
 * suffices, it covers all but *head bytes at the start and a remainder. */
static OclFill widened(const OclFill *fill, unsigned char wide[WIDE], size_t *head) {
    OclFill middle = *fill;
    size_t address = fill->mem != NULL ? fill->offset : (size_t)(uintptr_t)fill->svm;
    *head = 0;
    if (fill->length >= WIDE) {
        return middle;
    }
    for (size_t i = 0; i < WIDE; i += fill->length) {
        memcpy(wide + i, fill->pattern, fill->length);
    }
    middle.pattern = wide;
    while (middle.length < WIDE && (address | fill->size) % (2 * middle.length) == 0) {
        middle.length *= 2;
    }
    if (middle.length < WIDE_ENOUGH && fill->size >= WORTH_CUTTING) {
        middle.length = WIDE;
        *head = (WIDE - address % WIDE) % WIDE;
        middle.size = (fill->size - *head) / WIDE * WIDE;
    }
    return middle;
}

/* A copy within the range of a fill. */
typedef struct {
    const OclFill *fill;
    cl_mem from_mem; /* NULL: the fill's own memory */
    size_t from;
} FillCopy;

static cl_int copy_piece(Queue *queue, const void *command, size_t start, size_t size, cl_uint n,
                         const cl_event *events, cl_event *event) {
    const FillCopy *copy = command;
    const OclFill *fill = copy->fill;
    cl_int status = CL_SUCCESS;
    if (copy->from_mem != NULL) {
        OCL_ENQUEUE(queue, status, clEnqueueCopyBuffer, queue->queue, copy->from_mem, fill->mem,
                    copy->from, fill->offset + start, size, n, events, event);
    } else if (fill->mem != NULL) {
        OCL_ENQUEUE(queue, status, clEnqueueCopyBuffer, queue->queue, fill->mem, fill->mem,
                    fill->offset + copy->from, fill->offset + start, size, n, events, event);
    } else {
        OCL_ENQUEUE(queue, status, clEnqueueSVMMemcpy, queue->queue, CL_FALSE, fill->svm + start,
                    fill->svm + copy->from, size, n, events, event);
    }
    return status;
}

/* Copies what was filled from start to end onward, to the fill's end. */
static cl_int copy_onward(Chain *chain, Queue *queue, const OclFill *fill, size_t start,
                          size_t end) {
    size_t most = piece_of(queue);
    FillCopy copy = {fill, NULL, start};
    cl_int status = CL_SUCCESS;
    while (status == CL_SUCCESS && end < fill->size) {
        size_t size = end - start < most ? end - start : most;
        size = size < fill->size - end ? size : fill->size - end;
        status = add_piece(chain, queue, copy_piece, &copy, end, size);
        end += size;
    }
    return status;
}

#define SEED_NAME "pygpu.seed"

static void free_seed(PyObject *capsule) {
    CL_RELEASE(LIVE_MEM, clReleaseMemObject, PyCapsule_GetPointer(capsule, SEED_NAME));
}

/* Releases the memory when the event completes: NVIDIA's driver might otherwise wait for the
 * commands that use it, with the GIL held. */
static void release_seed(Queue *queue, cl_mem mem, cl_event event) {
    PyObject *capsule = PyCapsule_New(mem, SEED_NAME, free_seed);
    if (capsule == NULL) {
        PyErr_Clear();
        CL_RELEASE(LIVE_MEM, clReleaseMemObject, mem);
        return;
    }
    if (event != NULL) {
        ocl_keepalive_object(queue->state, event, capsule);
    }
    Py_DECREF(capsule);
}

/* Fills the first bytes, at most SEED, through another buffer. middle: the same fill, widened. */
static cl_int fill_seed(Chain *chain, Queue *queue, const OclFill *fill, const OclFill *middle,
                        size_t *end) {
    cl_int status = CL_SUCCESS;
    cl_mem mem;
    CL_MAKE(mem, status, clCreateBuffer, queue->context->context, CL_MEM_READ_WRITE, SEED, NULL);
    if (status != CL_SUCCESS || mem == NULL) {
        return status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES;
    }
    ocl_live[LIVE_MEM]++;
    OclFill whole = {mem, NULL, 0, SEED, middle->pattern, middle->length};
    FillCopy copy = {fill, mem, 0};
    *end = fill->size < SEED ? fill->size : SEED;
    status = add_piece(chain, queue, fill_piece, &whole, 0, SEED);
    if (status == CL_SUCCESS) {
        status = add_piece(chain, queue, copy_piece, &copy, 0, *end);
    }
    release_seed(queue, mem, chain->last);
    return status;
}

/* How many bytes of the buffer precede the fill. */
static cl_int bytes_before(const OclFill *fill, size_t *out) {
    size_t origin = 0; /* not 0 for a sub-buffer */
    cl_int status = CL_SUCCESS;
    if (fill->mem != NULL) {
        CL_CALL(status, clGetMemObjectInfo, fill->mem, CL_MEM_OFFSET, sizeof origin, &origin, NULL);
    }
    *out = origin + fill->offset;
    return status;
}

/* Splits the fill into several commands. before: the bytes of the buffer that precede it; head:
 * the bytes before the middle. */
static cl_int add_fill(Chain *chain, Queue *queue, const OclFill *fill, OclFill *middle,
                       size_t head, size_t before) {
    size_t reach = reach_of(middle), end;
    cl_int status;
    if (before > reach || reach - before < WORTH_CUTTING) {
        status = fill_seed(chain, queue, fill, middle, &end);
        return status == CL_SUCCESS ? copy_onward(chain, queue, fill, 0, end) : status;
    }
    size_t room = (reach - before - head) / LONGEST * LONGEST;
    middle->size = middle->size < room ? middle->size : room;
    end = head + middle->size;
    status = add_all(chain, queue, fill_piece, middle, head, middle->size);
    if (status == CL_SUCCESS) {
        status = copy_onward(chain, queue, fill, head, end);
    }
    if (status == CL_SUCCESS && head > 0) {
        FillCopy copy = {fill, NULL, WIDE};
        status = add_piece(chain, queue, copy_piece, &copy, 0, head);
    }
    return status;
}

int ocl_check_pattern(State *state, const char *call, size_t length) {
    if (length == 0 || length > 128 || (length & (length - 1)) != 0) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "pattern must have 1, 2, 4, 8, 16, 32, 64 or 128 bytes, not %zu", length);
        return -1;
    }
    return 0;
}

cl_int ocl_enqueue_fill(Queue *queue, const OclFill *fill, const WaitList *list, cl_event *event) {
    unsigned char wide[WIDE];
    size_t head, before;
    if (is_trusted(queue)) {
        return fill_piece(queue, fill, 0, fill->size, list->n, list->events, event);
    }
    cl_int status = bytes_before(fill, &before);
    if (status != CL_SUCCESS) {
        return status;
    }
    OclFill middle = widened(fill, wide, &head);
    if (middle.size == fill->size && middle.size <= piece_of(queue) &&
        before + fill->size <= reach_of(&middle)) {
        return fill_piece(queue, &middle, 0, middle.size, list->n, list->events, event);
    }
    Chain chain = {list->n, list->events, NULL};
    status = add_fill(&chain, queue, fill, &middle, head, before);
    *event = chain.last;
    return status;
}

PG_DOC(set_piece__doc__, "_set_piece", "size, reach=0", "(size: int, reach: int = 0) -> None",
       "The most bytes of one fill or copy between buffers, and the bytes of a buffer, from its "
       "start, that fills may write; 0: what the driver can be trusted with. For tests only.");
PG_FUNCTION(set_piece, 2)
static PyObject *set_piece_impl(PyObject *Py_UNUSED(module), PyObject *const *a) {
    const char *call = "_set_piece";
    size_t size, reach = 0;
    if (pg_as_size(a[0], call, "size", &size) < 0 ||
        (a[1] != NULL && pg_as_size(a[1], call, "reach", &reach) < 0)) {
        return NULL;
    }
    if (size % LONGEST != 0) {
        return PyErr_Format(PyExc_ValueError, "%s: size must be a multiple of %d, got %zu", call,
                            LONGEST, size);
    }
    if (reach != 0 && reach < 4 * WORTH_CUTTING) {
        return PyErr_Format(PyExc_ValueError, "%s: reach must be at least %d, got %zu", call,
                            4 * WORTH_CUTTING, reach);
    }
    test_piece = size;
    test_reach = reach;
    Py_RETURN_NONE;
}

PyMethodDef ocl_piece_functions[] = {
    {"_set_piece", FAST(set_piece), set_piece__doc__},
    {NULL, NULL, 0, NULL},
};
