/* image_map.c - enqueue_map_image(): an ndarray over a mapped region of an image. */
#include "opencl/commands/map.h"
#include "opencl/event.h"
#include "opencl/lifetime/gates.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/usage.h"
#include "opencl/memory.h"
#include "common/host_array.h"
#include "opencl/objects/image.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

/* Adjusts an array of dense pixels to the pitches of the mapping. Starting with the fastest
 * dimension, dimensions are merged until they make up a row, then a slice. Returns -1 with an
 * exception if they do not. */
static int follow_pitches(const char *call, PgArrayLayout *layout, int fortran, size_t row_bytes,
                          size_t rows, size_t row_pitch, size_t slice_pitch) {
    if (row_pitch == row_bytes) { /* no gaps between rows: treat a slice as one long row */
        row_bytes *= rows;
        if (slice_pitch == row_bytes) {
            return 0;
        }
        row_pitch = slice_pitch;
        rows = SIZE_MAX;
    }
    size_t step = (size_t)PyDataType_ELSIZE(layout->dtype),
           done = 0;      /* level completed: 0 within a row, 1 within a slice, 2 beyond */
    size_t within = step; /* bytes, or rows, covered by the dimensions so far */
    for (int k = 0; k < layout->n; k++) {
        int i = fortran ? k : layout->n - 1 - k;
        size_t n = (size_t)layout->dims[i];
        if (done == 0 && within == row_bytes && n > 1) {
            done = 1;
            step = row_pitch;
            within = 1;
        }
        if (done == 1 && within == rows && n > 1) {
            done = 2;
            step = slice_pitch;
        }
        layout->strides[i] = (npy_intp)step;
        if (pg_mul(step, n, &step) < 0 || pg_mul(within, n, &within) < 0 ||
            (done == 0 && within > row_bytes) || (done == 1 && within > rows)) {
            PyErr_Format(PyExc_ValueError,
                         "%s: this shape does not divide into rows of %zu bytes, which lie %zu "
                         "bytes apart; give strides",
                         call, row_bytes, row_pitch);
            return -1;
        }
    }
    return 0;
}

/* The distance in bytes from the first to the end of the last item. */
static int bytes_spanned(const PgArrayLayout *layout, size_t *out) {
    size_t end = (size_t)PyDataType_ELSIZE(layout->dtype), way;
    for (int i = 0; i < layout->n; i++) {
        if (layout->dims[i] > 1 &&
            (pg_mul((size_t)(layout->dims[i] - 1), (size_t)layout->strides[i], &way) < 0 ||
             pg_add(end, way, &end) < 0)) {
            return -1;
        }
    }
    *out = end;
    return 0;
}

/* Not PG_DOC, because the function table that refers to it is in image_copy.c. */
const char ocl_enqueue_map_image__doc__[] =
    "enqueue_map_image(queue, img, flags, origin, region, shape, dtype, order='C', strides=None, "
    "wait_for=None, is_blocking=True)\n--\n\n"
    "(queue: CommandQueue, img: Image | GLRenderBuffer, flags: int, origin: Sequence[int], region: "
    "Sequence[int] | None, shape: int | Sequence[int], dtype: DTypeLike, "
    "order: str = 'C', strides: Sequence[int] | None = None, wait_for: Sequence[Event] | None = "
    "None, is_blocking: bool = True) "
    "-> tuple[numpy.ndarray, Event, int, int]\n\n"
    "Map region [pixels] of an image, from origin on, and return it as an array, with the event of "
    "the mapping and the distances\n"
    "between rows and between slices [bytes].\n\n"
    "flags: map_flags.READ, WRITE, WRITE_INVALIDATE_REGION; with READ alone the array is "
    "read-only. Without strides the array follows\n"
    "the distances, if its shape divides into rows, as (height, width, channels) does. The region "
    "is unmapped by\n"
    "array.base.release(), by `with array.base:`, or when the array is dropped. Raises ValueError "
    "past the end.";
/* The array that the caller wants over the mapping. */
typedef struct {
    PgArrayLayout layout;
    int dense;   /* without explicit strides it follows the pitches of the mapping */
    int fortran; /* order of the axes */
} Wanted;

/* Adapts the array to the pitches of the mapping and checks that it fits into it. Returns -1 with
 * an exception. */
static int fit_to_mapping(State *state, const char *call, Wanted *wanted, const ImageExtent *extent,
                          const size_t region[3], size_t row_pitch, size_t slice_pitch) {
    PgArrayLayout *layout = &wanted->layout;
    size_t row_bytes = region[0] * extent->element, rows, slices, end;
    if (extent->type == CL_MEM_OBJECT_IMAGE1D_ARRAY && slice_pitch != 0) {
        row_pitch =
            slice_pitch; /* the image pitch of an array, whose images are the rows of the region */
    }
    if (row_pitch == 0) { /* for an image with only one row */
        row_pitch = row_bytes;
    }
    if (slice_pitch == 0 || region[2] == 1) {
        if (pg_mul(row_pitch, region[1], &slice_pitch) < 0) {
            goto too_far;
        }
    }
    if (wanted->dense && follow_pitches(call, layout, wanted->fortran, row_bytes, region[1],
                                        row_pitch, slice_pitch) < 0) {
        return -1;
    }
    if (pg_mul(region[1] - 1, row_pitch, &rows) < 0 ||
        pg_mul(region[2] - 1, slice_pitch, &slices) < 0 || pg_add(rows, row_bytes, &end) < 0 ||
        pg_add(end, slices, &end) < 0 || bytes_spanned(layout, &layout->size) < 0 ||
        layout->size > end) {
        goto too_far;
    }
    return 0;
too_far:
    ocl_reject(state, call, CL_INVALID_VALUE,
               "the array reaches past the region of %zu x %zu x %zu pixels of %zu bytes, whose "
               "rows lie %zu bytes apart",
               region[0], region[1], region[2], extent->element, row_pitch);
    return -1;
}

/* Parses shape, dtype, order and strides. Returns 0, or -1 with an exception. */
static int read_wanted(const char *call, PyObject *const a[4], Wanted *wanted) {
    if (pg_array_layout(call, a[0], a[1], a[2], a[3], &wanted->layout) < 0) {
        return -1;
    }
    wanted->dense = a[3] == NULL || a[3] == Py_None;
    /* The layout was checked, so order is one of C, c, F, f or None. */
    wanted->fortran = a[2] != NULL && a[2] != Py_None &&
                      (PyUnicode_READ_CHAR(a[2], 0) | 0x20) == 'f';
    return 0;
}

/* Checks that the region lies in the image, and that a dense array has its size. */
static int check_region(State *state, const char *call, const Wanted *wanted,
                        const ImageExtent *extent, ImageBox *box) {
    size_t bytes, size = wanted->layout.size;
    if (ocl_image_check_box(state, call, "img", extent, box) < 0) {
        return -1;
    }
    if (size == 0) {
        ocl_reject(state, call, CL_INVALID_VALUE, "the shape has no items; map at least one");
        return -1;
    }
    if (pg_mul(box->region[0], extent->element, &bytes) < 0 ||
        pg_mul(bytes, box->region[1], &bytes) < 0 || pg_mul(bytes, box->region[2], &bytes) < 0 ||
        (wanted->dense && size > bytes)) {
        ocl_reject(
            state, call, CL_INVALID_VALUE,
            "an array of %zu bytes is more than the region of %zu x %zu x %zu pixels of %zu bytes",
            size, box->region[0], box->region[1], box->region[2], extent->element);
        return -1;
    }
    return 0;
}

/* An enqueued mapping. */
typedef struct {
    void *pointer;
    size_t row_pitch, slice_pitch;
    cl_event event;
} Mapping;

/* Returns 0, or -1 with an exception. */
static int map(Queue *queue, cl_mem mem, cl_map_flags flags, const ImageBox *box,
               const WaitList *list, Mapping *made) {
    cl_int status;
    int tries = 0, again;
    ocl_gates_must_run(list->gates); /* it must run, because the unmapping will follow */
    do {
        status = CL_SUCCESS;
        if (!ocl_queue_may_block(queue) &&
            (queue->device->platform->quirks & OCL_QUIRK_FAILURES_RACE)) {
            CL_MAKE(made->pointer, status, clEnqueueMapImage, queue->queue, mem, CL_FALSE, flags,
                    box->origin, box->region, &made->row_pitch, &made->slice_pitch, list->n,
                    list->events, &made->event);
        } else {
            Py_BEGIN_ALLOW_THREADS
            CL_MAKE(made->pointer, status, clEnqueueMapImage, queue->queue, mem, CL_FALSE, flags,
                    box->origin, box->region, &made->row_pitch, &made->slice_pitch, list->n,
                    list->events, &made->event);
            Py_END_ALLOW_THREADS
        }
        again = status == CL_SUCCESS ? 0 : ocl_retry(queue->state, status, &tries);
    } while (again == 1);
    if (status == CL_SUCCESS && made->pointer != NULL) {
        return 0;
    }
    if (again >= 0) {
        ocl_raise(queue->state, "clEnqueueMapImage",
                  status != CL_SUCCESS ? status : CL_MAP_FAILURE);
    }
    return -1;
}

/* Whether the caller may have the mapping. A blocking call waits before it fails, because Intel's
 * driver loses count if a region is unmapped before it was mapped. Another thread may release the
 * image while the GIL is released. Returns -1 with an exception. */
static int check_mapping(Queue *queue, Memory *image, const char *call, const Mapping *mapping,
                         const WaitList *list, int blocking) {
    const char *routine = "clEnqueueMapImage";
    return (blocking && (ocl_wait(queue->state, mapping->event, routine, NULL) < 0 ||
                         ocl_gates_check(queue->state, list->gates, routine) < 0)) ||
                   ocl_memory_alive(image, call) < 0
               ? -1
               : 0;
}

PG_SHARED_FUNCTION(ocl_enqueue_map_image, 11)
static PyObject *ocl_enqueue_map_image_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "enqueue_map_image";
    PyObject *result = NULL;
    uint64_t flags;
    int blocking;
    ImageBox box;
    ImageExtent extent;
    Wanted wanted;
    WaitList list = {0};
    if ((blocking = pg_as_bool(a[10], 1)) < 0) {
        return NULL;
    }
    Queue *queue = ocl_as_queue(state, a[0], call);
    Memory *image = ocl_as_image(queue, a[1], call, "img");
    if (image == NULL || pg_as_u64(a[2], call, "flags", &flags) < 0 ||
        ocl_as_origin(a[3], call, "origin", &box) < 0 || ocl_as_region(a[4], call, &box) < 0 ||
        read_wanted(call, a + 5, &wanted) < 0) {
        return NULL;
    }
    if (ocl_wait_list(state, a[9], call, queue, &list) < 0 ||
        ocl_memory_prepare(image, queue) < 0 || ocl_memory_alive(image, call) < 0 ||
        ocl_image_extent(image, &extent) < 0 ||
        check_region(state, call, &wanted, &extent, &box) < 0) {
        goto done;
    }
    Mapping made = {0};
    cl_mem mem = image->mem;
    ocl_memory_pin(image);
    if (map(queue, mem, flags, &box, &list, &made) == 0) {
        PyObject *pair = NULL;
        if (check_mapping(queue, image, call, &made, &list, blocking) < 0 ||
            fit_to_mapping(state, call, &wanted, &extent, box.region, made.row_pitch,
                           made.slice_pitch) < 0) {
            ocl_unmap_discarded(queue, mem, made.pointer, made.event);
        } else {
            pair = ocl_map_result(queue, image, "clEnqueueMapImage", made.pointer, made.event,
                                  &list, &wanted.layout, blocking,
                                  (flags & ~(cl_map_flags)CL_MAP_READ) != 0);
        }
        if (pair != NULL) {
            result = Py_BuildValue("(OOnn)", PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1),
                                   (Py_ssize_t)made.row_pitch, (Py_ssize_t)made.slice_pitch);
            Py_DECREF(pair);
        }
    }
    ocl_memory_unpin(image);
done:
    ocl_wait_list_clear(&list);
    Py_CLEAR(wanted.layout.dtype); /* NULL if the array took it over */
    return result;
}
