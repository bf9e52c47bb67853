/* image_copy.c - creates images; copies them to and from the host, buffers and each other; fills
 * them. */
#include "opencl/commands/blocking.h"
#include "opencl/commands/box.h"
#include "opencl/context.h"
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/usage.h"
#include "opencl/memory.h"
#include "opencl/objects/image.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"
#include "opencl/queue.h"

#define ENQUEUE_OR_RETRY(queue, status, again, fn, ...) \
    COPY_OR_RETRY(queue, OCL_WAIT_NOT, status, again, fn, __VA_ARGS__)
#define COPY_OR_RETRY(queue, blocking, status, again, fn, ...)                                 \
    do {                                                                                       \
        int tries_ = 0;                                                                        \
        do {                                                                                   \
            (status) = CL_SUCCESS;                                                             \
            OCL_ENQUEUE_COPY(queue, blocking, status, fn, __VA_ARGS__);                        \
            (again) = (status) == CL_SUCCESS ? 0 : ocl_retry((queue)->state, status, &tries_); \
        } while ((again) == 1);                                                                \
    } while (0)

int ocl_as_origin(PyObject *obj, const char *call, const char *name, ImageBox *box) {
    memset(box->origin, 0, sizeof box->origin);
    return pg_as_sizes(obj, call, name, box->origin, 3) < 0 ? -1 : 0;
}

int ocl_as_region(PyObject *obj, const char *call, ImageBox *box) {
    box->region[0] = box->region[1] = box->region[2] = 1;
    box->rest = obj == Py_None;
    return box->rest ? 0 : pg_as_sizes(obj, call, "region", box->region, 3) < 0 ? -1 : 0;
}

static void fill_in_rest(const ImageExtent *extent, ImageBox *box) {
    for (int i = 0; i < 3; i++) { /* counted one past the end, so that the check reports it */
        box->region[i] = box->origin[i] < extent->size[i] ? extent->size[i] - box->origin[i] : 1;
    }
}

int ocl_image_check_box(State *state, const char *call, const char *what, const ImageExtent *extent,
                        ImageBox *box) {
    if (box->rest) {
        fill_in_rest(extent, box);
    }
    for (int i = 0; i < 3; i++) {
        size_t end;
        if (box->region[i] == 0) {
            ocl_reject(state, call, CL_INVALID_VALUE,
                       "region[%d] is 0; every entry must be positive", i);
            return -1;
        }
        if (pg_add(box->origin[i], box->region[i], &end) < 0 || end > extent->size[i]) {
            static const char *const names[] = {"width", "height", "depth"};
            int layers = extent->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
                         extent->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
            const char *name = layers && i == extent->n - 1 ? "number of images"
                               : i < extent->n              ? names[i]
                                                            : "extent";
            ocl_reject(state, call, CL_INVALID_VALUE,
                       "%s: a region of %zu from %zu on ends past the %s %zu (%s)", what,
                       box->region[i], box->origin[i], name, extent->size[i],
                       ocl_image_kind(extent->type));
            return -1;
        }
    }
    return 0;
}

/* The size in bytes of a box of densely packed pixels; -1 with an exception. */
static int box_bytes(State *state, const char *call, const ImageExtent *extent, const ImageBox *box,
                     size_t *out) {
    size_t bytes = extent->element;
    for (int i = 0; i < 3; i++) {
        if (pg_mul(bytes, box->region[i], &bytes) < 0) {
            ocl_reject(state, call, CL_INVALID_VALUE, "the region is larger than any memory");
            return -1;
        }
    }
    *out = bytes;
    return 0;
}

/* ---- image and host -------------------------------------------------------------------------- */

/* Checks the pitches of host memory and that the box fits into it. Converts the pitches to what
 * the driver expects. */
static int check_host(State *state, const char *call, const ImageExtent *extent,
                      const ImageBox *box, size_t pitch[2], size_t total) {
    size_t row_bytes, row, slice, rows, slices, end;
    if (extent->type == CL_MEM_OBJECT_IMAGE1D_ARRAY && pitch[1] != 0) {
        /* For the distance between 1-d images the specification uses the slice pitch, whereas it is
         * the row pitch of the region: they must agree. */
        if (pitch[0] != 0 && pitch[0] != pitch[1]) {
            ocl_reject(state, call, CL_INVALID_VALUE,
                       "row pitch %zu and slice pitch %zu both say how far the 1-d images are "
                       "apart; give one of them",
                       pitch[0], pitch[1]);
            return -1;
        }
        pitch[0] = pitch[1];
    }
    if (extent->n < 3) {
        pitch[1] = 0;
    }
    if (pg_mul(box->region[0], extent->element, &row_bytes) < 0) {
        goto too_far;
    }
    row = pitch[0] != 0 ? pitch[0] : row_bytes;
    if (row < row_bytes) {
        ocl_reject(
            state, call, CL_INVALID_VALUE,
            "the row pitch of %zu bytes is less than a row of the region: %zu pixels of %zu bytes",
            row, box->region[0], extent->element);
        return -1;
    }
    if (pg_mul(row, box->region[1], &slice) < 0) {
        goto too_far;
    }
    if (pitch[1] != 0 && pitch[1] < slice) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "the slice pitch of %zu bytes is less than a slice of the region: %zu rows of "
                   "%zu bytes",
                   pitch[1], box->region[1], row);
        return -1;
    }
    slice = pitch[1] != 0 ? pitch[1] : slice;
    if (pg_mul(row, box->region[1] - 1, &rows) < 0 ||
        pg_mul(slice, box->region[2] - 1, &slices) < 0 || pg_add(row_bytes, rows, &end) < 0 ||
        pg_add(end, slices, &end) < 0 || end > total) {
        goto too_far;
    }
    return 0;
too_far:
    ocl_reject(
        state, call, CL_INVALID_VALUE,
        "the region of %zu x %zu x %zu pixels of %zu bytes reaches past the %zu bytes of hostbuf",
        box->region[0], box->region[1], box->region[2], extent->element, total);
    return -1;
}

PG_DOC(ocl_enqueue_read_image__doc__, "_enqueue_read_image",
       "queue, mem, origin, region, hostbuf, row_pitch=0, slice_pitch=0, wait_for=None, "
       "is_blocking=True",
       "(queue: CommandQueue, mem: Image | GLRenderBuffer, origin: Sequence[int], region: "
       "Sequence[int] | None, hostbuf: HostBuffer, row_pitch: int = 0, slice_pitch: int = 0, "
       "wait_for: Sequence[Event] | None = None, is_blocking: bool = True) -> NannyEvent",
       "Copy region [pixels] of an image, from origin on, to the host. Pitches are bytes between "
       "rows and slices of hostbuf.");

PG_DOC(ocl_enqueue_write_image__doc__, "_enqueue_write_image",
       "queue, mem, origin, region, hostbuf, row_pitch=0, slice_pitch=0, wait_for=None, "
       "is_blocking=True",
       "(queue: CommandQueue, mem: Image | GLRenderBuffer, origin: Sequence[int], region: "
       "Sequence[int] | None, hostbuf: HostBuffer, row_pitch: int = 0, slice_pitch: int = 0, "
       "wait_for: Sequence[Event] | None = None, is_blocking: bool = True) -> NannyEvent",
       "Copy from the host to region [pixels] of an image, from origin on. Pitches are bytes "
       "between rows and slices of hostbuf.");

static PyObject *host_copy(PyObject *module, PyObject *const *a, int write) {
    State *state = PyModule_GetState(module);
    const char *call = "enqueue_copy"; /* the function that the user called */
    ImageBox box;
    ImageExtent extent;
    size_t pitch[2] = {0, 0};
    Py_buffer view;
    WaitList list = {0};
    int blocking;
    Queue *queue = ocl_as_queue(state, a[0], call);
    Memory *image = ocl_as_image(queue, a[1], call, "mem");
    if (image == NULL || ocl_as_origin(a[2], call, "origin", &box) < 0 ||
        ocl_as_region(a[3], call, &box) < 0 ||
        (a[5] != NULL && pg_as_size(a[5], call, "row_pitch", &pitch[0]) < 0) ||
        (a[6] != NULL && pg_as_size(a[6], call, "slice_pitch", &pitch[1]) < 0) ||
        (blocking = pg_as_bool(a[8], 1)) < 0 ||
        pg_get_buffer(a[4], call, "hostbuf", !write, &view) < 0) {
        return NULL;
    }
    /* After the wait list has been read, no user code runs, so later checks stay valid. */
    if (ocl_wait_list(state, a[7], call, queue, &list) < 0 ||
        ocl_memory_prepare(image, queue) < 0 || ocl_memory_alive(image, call) < 0 ||
        ocl_image_extent(image, &extent) < 0 ||
        ocl_image_check_box(state, call, "image", &extent, &box) < 0 ||
        check_host(state, call, &extent, &box, pitch, (size_t)view.len) < 0) {
        goto fail;
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    int again = -1;
    cl_mem mem = image->mem;
    ocl_memory_pin(image);
    blocking = ocl_choose_wait(queue, &list, (size_t)view.len, blocking);
    if (blocking < 0) { /* interrupted */
    } else if (write) {
        COPY_OR_RETRY(queue, blocking, status, again, clEnqueueWriteImage, queue->queue, mem,
                      OCL_BLOCKS(blocking), box.origin, box.region, pitch[0], pitch[1], view.buf,
                      list.n, list.events, &event);
    } else {
        COPY_OR_RETRY(queue, blocking, status, again, clEnqueueReadImage, queue->queue, mem,
                      OCL_BLOCKS(blocking), box.origin, box.region, pitch[0], pitch[1], view.buf,
                      list.n, list.events, &event);
    }
    ocl_memory_unpin(image);
    if (again >= 0) {
        return ocl_finish_host_copy(queue, write ? "clEnqueueWriteImage" : "clEnqueueReadImage",
                                    status, event, &list, &view, a[4], blocking);
    }
fail:
    ocl_wait_list_clear(&list);
    PyBuffer_Release(&view);
    return NULL;
}

PG_SHARED_FUNCTION(ocl_enqueue_read_image, 9)
static PyObject *ocl_enqueue_read_image_impl(PyObject *module, PyObject *const *a) {
    return host_copy(module, a, 0);
}

PG_SHARED_FUNCTION(ocl_enqueue_write_image, 9)
static PyObject *ocl_enqueue_write_image_impl(PyObject *module, PyObject *const *a) {
    return host_copy(module, a, 1);
}

/* ---- image to image -------------------------------------------------------------------------- */

static int overlap(const ImageBox *a, const size_t origin[3]) {
    for (int i = 0; i < 3; i++) {
        if (a->origin[i] >= origin[i] + a->region[i] || origin[i] >= a->origin[i] + a->region[i]) {
            return 0;
        }
    }
    return 1;
}

static int check_formats(State *state, const char *call, const ImageExtent *src,
                         const ImageExtent *dest) {
    if (memcmp(&src->format, &dest->format, sizeof src->format) == 0) {
        return 0;
    }
    PyObject *src_format = ocl_image_format_new(state, src->format);
    PyObject *dest_format = src_format != NULL ? ocl_image_format_new(state, dest->format) : NULL;
    if (dest_format != NULL) {
        ocl_reject(state, call, CL_IMAGE_FORMAT_MISMATCH,
                   "src has %R and dest %R, and a copy does not convert", src_format, dest_format);
    }
    Py_XDECREF(src_format);
    Py_XDECREF(dest_format);
    return -1;
}

/* Makes both boxes the same size: if no region was given, the rest of the smaller image. */
static void share_region(const ImageExtent *from_extent, ImageBox *from,
                         const ImageExtent *to_extent, ImageBox *to) {
    if (from->rest) {
        fill_in_rest(from_extent, from);
        fill_in_rest(to_extent, to);
        for (int i = 0; i < 3; i++) {
            from->region[i] = from->region[i] < to->region[i] ? from->region[i] : to->region[i];
        }
        from->rest = 0;
    }
    memcpy(to->region, from->region, sizeof to->region);
    to->rest = 0;
}

PG_DOC(ocl_enqueue_copy_image__doc__, "_enqueue_copy_image",
       "queue, src, dest, src_origin, dest_origin, region, wait_for=None",
       "(queue: CommandQueue, src: Image | GLRenderBuffer, dest: Image | GLRenderBuffer, "
       "src_origin: Sequence[int], dest_origin: Sequence[int], region: Sequence[int] | None, "
       "wait_for: Sequence[Event] | None = None) -> Event",
       "Copy region [pixels] from one image to another of the same format.");
PG_SHARED_FUNCTION(ocl_enqueue_copy_image, 7)
static PyObject *ocl_enqueue_copy_image_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "enqueue_copy", *routine = "clEnqueueCopyImage";
    ImageBox from, to;
    ImageExtent from_extent, to_extent;
    WaitList list = {0};
    Queue *queue = ocl_as_queue(state, a[0], call);
    Memory *src = ocl_as_image(queue, a[1], call, "src");
    Memory *dest = src != NULL ? ocl_as_image(queue, a[2], call, "dest") : NULL;
    if (dest == NULL || ocl_as_origin(a[3], call, "src_origin", &from) < 0 ||
        ocl_as_origin(a[4], call, "dest_origin", &to) < 0 || ocl_as_region(a[5], call, &from) < 0 ||
        ocl_wait_list(state, a[6], call, queue, &list) < 0) {
        return NULL;
    }
    if (ocl_memory_prepare(src, queue) < 0 || ocl_memory_prepare(dest, queue) < 0 ||
        ocl_memory_alive(src, call) < 0 || ocl_memory_alive(dest, call) < 0 ||
        ocl_image_extent(src, &from_extent) < 0 || ocl_image_extent(dest, &to_extent) < 0) {
        goto fail;
    }
    share_region(&from_extent, &from, &to_extent, &to);
    if (ocl_image_check_box(state, call, "src", &from_extent, &from) < 0 ||
        ocl_image_check_box(state, call, "dest", &to_extent, &to) < 0 ||
        check_formats(state, call, &from_extent, &to_extent) < 0) {
        goto fail;
    }
    if (src->mem == dest->mem && overlap(&from, to.origin)) {
        ocl_reject(state, call, CL_MEM_COPY_OVERLAP,
                   "source and destination are the same image, and the regions overlap");
        goto fail;
    }
    cl_event event = NULL;
    cl_int status;
    int again;
    cl_mem from_mem = src->mem, to_mem = dest->mem;
    ocl_memory_pin(src);
    ocl_memory_pin(dest);
    ENQUEUE_OR_RETRY(queue, status, again, clEnqueueCopyImage, queue->queue, from_mem, to_mem,
                     from.origin, to.origin, from.region, list.n, list.events, &event);
    ocl_memory_unpin(dest);
    ocl_memory_unpin(src);
    if (again >= 0) {
        return ocl_finish_enqueue(queue, routine, status, event, &list);
    }
fail:
    ocl_wait_list_clear(&list);
    return NULL;
}

/* ---- image and buffer ------------------------------------------------------------------------ */

PG_DOC(ocl_enqueue_copy_image_to_buffer__doc__, "_enqueue_copy_image_to_buffer",
       "queue, src, dest, origin, region, offset=0, wait_for=None",
       "(queue: CommandQueue, src: Image | GLRenderBuffer, dest: MemoryObjectHolder, origin: "
       "Sequence[int], region: Sequence[int] | None, offset: int = 0, "
       "wait_for: Sequence[Event] | None = None) -> Event",
       "Copy region [pixels] of an image to a buffer, from offset [bytes] on, without gaps.");
PG_DOC(ocl_enqueue_copy_buffer_to_image__doc__, "_enqueue_copy_buffer_to_image",
       "queue, src, dest, offset, origin, region, wait_for=None",
       "(queue: CommandQueue, src: MemoryObjectHolder, dest: Image | GLRenderBuffer, offset: int, "
       "origin: Sequence[int], region: Sequence[int] | None, "
       "wait_for: Sequence[Event] | None = None) -> Event",
       "Copy pixels that lie without gaps in a buffer, from offset [bytes] on, to region [pixels] "
       "of an image.");
/* Checks that the operands are alive, prepares them for the queue, and checks that the box and its
 * bytes are within bounds. Returns 0, or -1 with an exception. */
static int check_buffer_copy(Memory *image, Memory *buffer, const char *call, Queue *queue,
                             ImageBox *box, size_t offset) {
    ImageExtent extent;
    size_t bytes, end;
    if (ocl_memory_prepare(image, queue) < 0 || ocl_memory_prepare(buffer, queue) < 0 ||
        ocl_memory_alive(image, call) < 0 || ocl_memory_alive(buffer, call) < 0 ||
        ocl_image_extent(image, &extent) < 0 ||
        ocl_image_check_box(queue->state, call, "image", &extent, box) < 0 ||
        box_bytes(queue->state, call, &extent, box, &bytes) < 0) {
        return -1;
    }
    if (pg_add(offset, bytes, &end) < 0 || end > buffer->size) {
        ocl_reject(queue->state, call, CL_INVALID_VALUE,
                   "the region needs %zu bytes at offset %zu, but the buffer has %zu", bytes,
                   offset, buffer->size);
        return -1;
    }
    return 0;
}

/* The part common to both directions; to_image selects the enqueue call. */
static PyObject *buffer_copy(State *state, const char *call, PyObject *queue_arg,
                             PyObject *image_arg, PyObject *buffer_arg, PyObject *offset_arg,
                             PyObject *origin, PyObject *region, PyObject *wait_for, int to_image) {
    ImageBox box;
    WaitList list = {0};
    size_t offset = 0;
    Queue *queue = ocl_as_queue(state, queue_arg, call);
    Memory *image = ocl_as_image(queue, image_arg, call, to_image ? "dest" : "src");
    Memory *buffer = image != NULL
                         ? ocl_as_memory(state, buffer_arg, call, to_image ? "src" : "dest",
                                         queue->context->context)
                         : NULL;
    if (buffer == NULL) {
        return NULL;
    }
    if (buffer->type != CL_MEM_OBJECT_BUFFER) {
        return PyErr_Format(PyExc_TypeError, "%s: %s must be a Buffer, not %s", call,
                            to_image ? "src" : "dest", pg_type_name(buffer_arg));
    }
    if (ocl_as_origin(origin, call, "origin", &box) < 0 || ocl_as_region(region, call, &box) < 0 ||
        (offset_arg != NULL && pg_as_size(offset_arg, call, "offset", &offset) < 0) ||
        ocl_wait_list(state, wait_for, call, queue, &list) < 0) {
        return NULL;
    }
    if (check_buffer_copy(image, buffer, call, queue, &box, offset) < 0) {
        goto fail;
    }
    cl_event event = NULL;
    cl_int status;
    int again;
    cl_mem image_mem = image->mem, buffer_mem = buffer->mem;
    ocl_memory_pin(image);
    ocl_memory_pin(buffer);
    if (to_image) {
        ENQUEUE_OR_RETRY(queue, status, again, clEnqueueCopyBufferToImage, queue->queue, buffer_mem,
                         image_mem, offset, box.origin, box.region, list.n, list.events, &event);
    } else {
        ENQUEUE_OR_RETRY(queue, status, again, clEnqueueCopyImageToBuffer, queue->queue, image_mem,
                         buffer_mem, box.origin, box.region, offset, list.n, list.events, &event);
    }
    ocl_memory_unpin(buffer);
    ocl_memory_unpin(image);
    if (again >= 0) {
        return ocl_finish_enqueue(
            queue, to_image ? "clEnqueueCopyBufferToImage" : "clEnqueueCopyImageToBuffer", status,
            event, &list);
    }
fail:
    ocl_wait_list_clear(&list);
    return NULL;
}

PG_SHARED_FUNCTION(ocl_enqueue_copy_image_to_buffer, 7)
static PyObject *ocl_enqueue_copy_image_to_buffer_impl(PyObject *module, PyObject *const *a) {
    return buffer_copy(PyModule_GetState(module), "enqueue_copy", a[0], a[1], a[2], a[5], a[3],
                       a[4], a[6], 0);
}

PG_SHARED_FUNCTION(ocl_enqueue_copy_buffer_to_image, 7)
static PyObject *ocl_enqueue_copy_buffer_to_image_impl(PyObject *module, PyObject *const *a) {
    return buffer_copy(PyModule_GetState(module), "enqueue_copy", a[0], a[2], a[1], a[3], a[4],
                       a[5], a[6], 1);
}

/* ---- fill ------------------------------------------------------------------------------------ */

/* The color that the driver reads: four numbers of the type that kernels see. */
typedef union {
    cl_float f[4];
    cl_int i[4];
    cl_uint u[4];
    unsigned char bytes[16];
} Color;

typedef enum { COLOR_FLOAT, COLOR_INT, COLOR_UINT } ColorKind;

static ColorKind color_kind(cl_image_format format) {
    switch (format.image_channel_data_type) {
    case CL_SIGNED_INT8:
    case CL_SIGNED_INT16:
    case CL_SIGNED_INT32:
        return COLOR_INT;
    case CL_UNSIGNED_INT8:
    case CL_UNSIGNED_INT16:
    case CL_UNSIGNED_INT32:
        return COLOR_UINT;
    default:
        return COLOR_FLOAT;
    }
}

static int as_component(PyObject *item, const char *call, ColorKind kind, int i, Color *out) {
    int64_t number;
    if (kind == COLOR_FLOAT) {
        double value = PyFloat_AsDouble(item);
        if (value == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError, "%s: color[%d] must be a number, not %s", call, i,
                         pg_type_name(item));
            return -1;
        }
        out->f[i] = (cl_float)value;
        return 0;
    }
    if (pg_as_i64(item, call, "each of color", &number) < 0) {
        return -1;
    }
    if (number < (kind == COLOR_INT ? INT32_MIN : 0) ||
        number > (kind == COLOR_INT ? INT32_MAX : (int64_t)UINT32_MAX)) {
        PyErr_Format(PyExc_OverflowError,
                     "%s: color[%d] = %lld does not fit into a 32-bit %s integer", call, i,
                     (long long)number, kind == COLOR_INT ? "signed" : "unsigned");
        return -1;
    }
    if (kind == COLOR_INT) {
        out->i[i] = (cl_int)number;
    } else {
        out->u[i] = (cl_uint)number;
    }
    return 0;
}

/* Returns 1 if obj is 16 plain bytes or exactly the array that the driver wants, either of which
 * is used unchanged; 0 otherwise. */
static int as_raw_color(PyObject *obj, const char *call, cl_image_format format, Color *out) {
    if (PyBytes_Check(obj) || PyByteArray_Check(obj)) {
        Py_ssize_t size = PyBytes_Check(obj) ? PyBytes_GET_SIZE(obj) : PyByteArray_GET_SIZE(obj);
        if (size != sizeof *out) {
            PyErr_Format(PyExc_ValueError, "%s: color must be 4 numbers or 16 bytes, got %zd bytes",
                         call, size);
            return -1;
        }
        memcpy(out->bytes, PyBytes_Check(obj) ? PyBytes_AS_STRING(obj) : PyByteArray_AS_STRING(obj),
               sizeof *out);
        return 1;
    }
    if (PyArray_CheckExact(obj) && PyArray_TYPE((PyArrayObject *)obj) == NPY_FLOAT &&
        color_kind(format) == COLOR_FLOAT && PyArray_NDIM((PyArrayObject *)obj) == 1 &&
        PyArray_DIM((PyArrayObject *)obj, 0) == 4 && PyArray_ISCARRAY_RO((PyArrayObject *)obj)) {
        memcpy(out->bytes, PyArray_DATA((PyArrayObject *)obj), sizeof *out);
        return 1;
    }
    return 0;
}

/* Converts numbers by value, whatever the dtype of the array. */
static int as_color(PyObject *obj, const char *call, cl_image_format format, Color *out) {
    memset(out, 0, sizeof *out);
    int raw = as_raw_color(obj, call, format, out);
    if (raw != 0) {
        return raw > 0 ? 0 : -1;
    }
    /* Arrays and NumPy scalars, including those of vector dtypes, as Python numbers. */
    PyObject *numbers = PyArray_Check(obj) || PyArray_CheckScalar(obj)
                            ? PyObject_CallMethod(obj, "tolist", NULL)
                            : Py_NewRef(obj);
    if (numbers == NULL) {
        return -1;
    }
    if (PyList_Check(numbers) && PyList_GET_SIZE(numbers) == 1 &&
        PyTuple_Check(PyList_GET_ITEM(numbers, 0))) {
        Py_SETREF(numbers, Py_NewRef(PyList_GET_ITEM(numbers, 0))); /* an array of a single
                                                                     * vector */
    }
    int result = -1, single = format.image_channel_order == CL_DEPTH;
    ColorKind kind = color_kind(format);
    if (single && PyNumber_Check(numbers) && !PySequence_Check(numbers)) {
        result = as_component(numbers, call, kind, 0, out);
        Py_DECREF(numbers);
        return result;
    }
    PyObject *items = NULL;
    if (PyMapping_Check(numbers) > PySequence_Check(numbers)) {
        PyErr_Format(PyExc_TypeError, "%s: color must be a sequence of 4 numbers, not %s", call,
                     pg_type_name(obj));
    } else {
        items = PyBytes_Check(numbers) ? PySequence_Tuple(numbers)
                                       : pg_tuple(numbers, call, "color", "4 numbers", 1000);
    }
    Py_DECREF(numbers);
    if (items == NULL) {
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    if (n != 4 && !(single && n == 1)) {
        PyErr_Format(PyExc_ValueError,
                     "%s: color must have 4 numbers (red, green, blue, alpha), got %zd", call, n);
        goto done;
    }
    for (int i = 0; i < n; i++) {
        if (as_component(PyTuple_GET_ITEM(items, i), call, kind, i, out) < 0) {
            goto done;
        }
    }
    result = 0;
done:
    Py_DECREF(items);
    return result;
}

PG_DOC(enqueue_fill_image__doc__, "enqueue_fill_image",
       "queue, mem, color, origin, region, wait_for=None",
       "(queue: CommandQueue, mem: Image | GLRenderBuffer, color: Sequence[float], origin: "
       "Sequence[int], region: Sequence[int] | None, "
       "wait_for: Sequence[Event] | None = None) -> Event",
       "Set region [pixels] of an image to a color: red, green, blue, alpha as kernels see them, "
       "whatever the channels (OpenCL 1.2).\n\n"
       "Floating-point numbers for normalized and floating-point channels, integers for integer "
       "channels.");
PG_FUNCTION(enqueue_fill_image, 6)
static PyObject *enqueue_fill_image_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "enqueue_fill_image", *routine = "clEnqueueFillImage";
    ImageBox box;
    ImageExtent extent;
    Color color;
    WaitList list = {0};
    Queue *queue = ocl_as_queue(state, a[0], call);
    Memory *image = ocl_as_image(queue, a[1], call, "mem");
    if (image == NULL || ocl_need_version(state, routine, queue->device->version, 120) < 0 ||
        ocl_image_extent(image, &extent) < 0 || as_color(a[2], call, extent.format, &color) < 0 ||
        ocl_as_origin(a[3], call, "origin", &box) < 0 || ocl_as_region(a[4], call, &box) < 0 ||
        ocl_image_check_box(state, call, "image", &extent, &box) < 0 ||
        ocl_wait_list(state, a[5], call, queue, &list) < 0) {
        return NULL;
    }
    if (ocl_memory_prepare(image, queue) < 0 || ocl_memory_alive(image, call) < 0) {
        goto fail;
    }
    cl_event event = NULL;
    cl_int status;
    int again;
    cl_mem mem = image->mem;
    ocl_memory_pin(image);
    ENQUEUE_OR_RETRY(queue, status, again, clEnqueueFillImage, queue->queue, mem, &color,
                     box.origin, box.region, list.n, list.events, &event);
    ocl_memory_unpin(image);
    if (again >= 0) {
        return ocl_finish_enqueue(queue, routine, status, event, &list);
    }
fail:
    ocl_wait_list_clear(&list);
    return NULL;
}

/* ---- creation, and supported formats --------------------------------------------------------- */

PG_DOC(
    create_image__doc__, "create_image",
    "context, flags, format, shape=None, pitches=None, hostbuf=None, is_array=False, buffer=None",
    "(context: Context, flags: int, format: ImageFormat, shape: int | Sequence[int] | None = None, "
    "pitches: int | Sequence[int] | None = None, "
    "hostbuf: HostBuffer | None = None, is_array: bool = False, buffer: MemoryObjectHolder | None "
    "= None) -> Image",
    "Same as Image(...): 1-d, 2-d and 3-d images, arrays of images, and images that share the "
    "memory of a buffer.");

static PyObject *create_image(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames) {
    State *state = PyModule_GetState(module);
    return PyObject_Vectorcall((PyObject *)state->ImageType, args,
                               (size_t)PyVectorcall_NARGS((size_t)nargs), kwnames);
}

PG_DOC(get_supported_image_formats__doc__, "get_supported_image_formats",
       "context, flags, image_type",
       "(context: Context, flags: int, image_type: int) -> list[ImageFormat]",
       "Formats that images of *image_type* (of mem_object_type) with these mem_flags may have.");
PG_FUNCTION(get_supported_image_formats, 3)
static PyObject *get_supported_image_formats_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "get_supported_image_formats";
    Context *context;
    uint64_t flags;
    cl_uint type, n;
    cl_image_format *formats;
    if ((context = ocl_as_context(state, a[0], call)) == NULL ||
        pg_as_u64(a[1], call, "flags", &flags) < 0 ||
        pg_as_u32(a[2], call, "image_type", &type) < 0) {
        return NULL;
    }
    if (ocl_image_kind(type) == NULL) {
        return ocl_reject(state, call, CL_INVALID_VALUE,
                          "image_type = %u is not an image of mem_object_type", (unsigned)type);
    }
    if (ocl_image_formats(state, context, flags, type, &formats, &n) < 0) {
        return NULL;
    }
    PyObject *list = PyList_New(0);
    for (cl_uint i = 0; list != NULL && i < n; i++) {
        pg_append(&list, ocl_image_format_new(state, formats[i]));
    }
    PyMem_Free(formats);
    return list;
}

PyMethodDef ocl_image_functions[] = {
    {"create_image", FAST(create_image), create_image__doc__},
    {"get_supported_image_formats", FAST(get_supported_image_formats),
     get_supported_image_formats__doc__},
    {"_enqueue_read_image", FAST(ocl_enqueue_read_image), ocl_enqueue_read_image__doc__},
    {"_enqueue_write_image", FAST(ocl_enqueue_write_image), ocl_enqueue_write_image__doc__},
    {"_enqueue_copy_image", FAST(ocl_enqueue_copy_image), ocl_enqueue_copy_image__doc__},
    {"_enqueue_copy_image_to_buffer", FAST(ocl_enqueue_copy_image_to_buffer),
     ocl_enqueue_copy_image_to_buffer__doc__},
    {"_enqueue_copy_buffer_to_image", FAST(ocl_enqueue_copy_buffer_to_image),
     ocl_enqueue_copy_buffer_to_image__doc__},
    {"enqueue_fill_image", FAST(enqueue_fill_image), enqueue_fill_image__doc__},
    {"enqueue_map_image", FAST(ocl_enqueue_map_image), ocl_enqueue_map_image__doc__},
    {NULL, NULL, 0, NULL},
};
