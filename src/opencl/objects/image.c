/* image.c - Image: pixels in 1, 2 or 3 dimensions, or an array of such, in a format that the device
 * converts. */
#include "common/track.h"
#include "opencl/api/info.h"
#include "opencl/api/roles.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/memory.h"
#include "opencl/objects/image.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"

enum {
#define IMAGE_INFO(attr, KIND, number, PARAM, unit, text) ROW_##attr,
#include "opencl/api/info.def"
    ROW_COUNT
};
static const Info Image_info[] = {
#define IMAGE_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};

/* An image to be created, in the driver's terms, after checks. */
typedef struct {
    cl_image_format format;
    cl_image_desc desc;
    size_t element; /* bytes per pixel; 0 if unknown */
    size_t bytes;   /* size required of host memory or the buffer; 0 if unknown */
    Memory *buffer; /* owned, or NULL */
} Plan;

static cl_int Image_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetImageInfo, ((Memory *)self)->mem, param, size, value, size_ret);
    return status;
}

static int is_image(cl_mem_object_type type) {
    return ocl_image_kind(type) != NULL;
}
static int is_array(cl_mem_object_type type) {
    return type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

Memory *ocl_as_image(const Queue *queue, PyObject *obj, const char *call, const char *name) {
    Memory *self = queue != NULL
                       ? ocl_as_memory(queue->state, obj, call, name, queue->context->context)
                       : NULL;
    if (self != NULL && !is_image(self->type)) {
        PyErr_Format(PyExc_TypeError, "%s: %s must be an Image, not %s", call, name,
                     pg_type_name(obj));
        return NULL;
    }
    return self;
}

int ocl_image_extent(Memory *self, ImageExtent *extent) {
    cl_mem_object_type type = self->type;
    *extent = (ImageExtent){.type = type, .n = 1, .size = {1, 1, 1}};
    cl_int status =
        Image_query(self, CL_IMAGE_FORMAT, sizeof extent->format, &extent->format, NULL);
    if (status == CL_SUCCESS) {
        status = Image_query(self, CL_IMAGE_ELEMENT_SIZE, sizeof extent->element, &extent->element,
                             NULL);
    }
    if (status == CL_SUCCESS) {
        status = Image_query(self, CL_IMAGE_WIDTH, sizeof extent->size[0], &extent->size[0], NULL);
    }
    if (status == CL_SUCCESS &&
        (type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
         type == CL_MEM_OBJECT_IMAGE3D)) {
        status =
            Image_query(self, CL_IMAGE_HEIGHT, sizeof(size_t), &extent->size[extent->n++], NULL);
    }
    if (status == CL_SUCCESS && type == CL_MEM_OBJECT_IMAGE3D) {
        status =
            Image_query(self, CL_IMAGE_DEPTH, sizeof(size_t), &extent->size[extent->n++], NULL);
    }
    if (status == CL_SUCCESS && is_array(type)) {
        status = Image_query(self, CL_IMAGE_ARRAY_SIZE, sizeof(size_t), &extent->size[extent->n++],
                             NULL);
    }
    if (status != CL_SUCCESS) {
        ocl_raise(self->state, "clGetImageInfo", status);
        return -1;
    }
    return 0;
}

/* ---- creation: reading the arguments --------------------------------------------------------- */

static int dimensions(cl_mem_object_type type) {
    return type == CL_MEM_OBJECT_IMAGE3D                                          ? 3
           : type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? 2
                                                                                  : 1;
}

static void set_extents(Plan *plan, cl_mem_object_type type, const size_t *shape, size_t layers) {
    int n = dimensions(type); /* drivers expect 1, not 0, for extents that a kind does not have */
    plan->desc.image_type = type;
    plan->desc.image_width = shape[0];
    plan->desc.image_height = n >= 2 ? shape[1] : 1;
    plan->desc.image_depth = n >= 3 ? shape[2] : 1;
    plan->desc.image_array_size = is_array(type) ? layers : 1;
}

/* Plans from shape, is_array and buffer: the length of the shape determines the kind. Without a
 * shape, that of hostbuf is used. */
static int plan_from_shape(State *state, Plan *plan, PyObject *shape_arg, const Py_buffer *host,
                           int array, PyObject *pitches) {
    size_t shape[3] = {1, 1, 1}, pitch[2] = {0, 0};
    int n;
    if (shape_arg != NULL && shape_arg != Py_None) {
        n = pg_as_sizes(shape_arg, "Image", "shape", shape, 3);
        if (n < 0) {
            return -1;
        }
    } else if (host == NULL || host->shape == NULL) {
        ocl_reject_type(state, "Image", CL_INVALID_VALUE,
                        "shape is missing; only a hostbuf that is an array can replace it");
        return -1;
    } else {
        n = host->ndim;
        for (int i = 0; i < n && i < 3; i++) {
            shape[i] = (size_t)host->shape[i];
        }
    }
    if (n < 1 || n > 3) {
        ocl_reject(state, "Image", CL_INVALID_VALUE,
                   "the shape has %d entries; an image has 1, 2 or 3", n);
        return -1;
    }
    if (array && plan->buffer != NULL) {
        ocl_reject(state, "Image", CL_INVALID_VALUE, "buffer and is_array exclude each other");
        return -1;
    }
    if (array && n == 1) {
        ocl_reject_type(state, "Image", CL_INVALID_VALUE,
                        "with is_array the shape is (width, count) or (width, height, count)");
        return -1;
    }
    if (plan->buffer != NULL && n == 3) {
        ocl_reject_type(state, "Image", CL_INVALID_VALUE,
                        "a 3-d image cannot be made from a buffer");
        return -1;
    }
    if (pitches != NULL && pitches != Py_None &&
        pg_as_sizes(pitches, "Image", "pitches", pitch, 2) < 0) {
        return -1;
    }
    plan->desc.image_row_pitch = pitch[0];
    plan->desc.image_slice_pitch = pitch[1];
    switch (n) {
    case 1:
        set_extents(plan,
                    plan->buffer != NULL ? CL_MEM_OBJECT_IMAGE1D_BUFFER : CL_MEM_OBJECT_IMAGE1D,
                    shape, 1);
        break;
    case 2:
        set_extents(plan, array ? CL_MEM_OBJECT_IMAGE1D_ARRAY : CL_MEM_OBJECT_IMAGE2D, shape,
                    shape[1]);
        break;
    default:
        set_extents(plan, array ? CL_MEM_OBJECT_IMAGE2D_ARRAY : CL_MEM_OBJECT_IMAGE3D, shape,
                    shape[2]);
    }
    return 0;
}

static int plan_from_descriptor(State *state, Plan *plan, const ImageDescriptor *from) {
    const char *kind = ocl_image_kind(from->type);
    if (kind == NULL) {
        ocl_reject(state, "Image", CL_INVALID_IMAGE_DESCRIPTOR,
                   "desc.image_type = %u is not an image of mem_object_type", (unsigned)from->type);
        return -1;
    }
    int n = dimensions(from->type), array = is_array(from->type);
    if (from->n_shape < n + (array && !from->has_array_size)) {
        ocl_reject(state, "Image", CL_INVALID_IMAGE_DESCRIPTOR,
                   "desc.shape has %d entries, too few (kind: %s)", from->n_shape, kind);
        return -1;
    }
    size_t layers = from->has_array_size ? from->array_size
                    : from->type == CL_MEM_OBJECT_IMAGE1D_ARRAY && from->shape[1] != 1
                        ? from->shape[1]
                        : from->shape[2];
    for (int i = n; i < from->n_shape; i++) {
        if (from->shape[i] != 1 && !(array && from->shape[i] == layers)) {
            ocl_reject(state, "Image", CL_INVALID_IMAGE_DESCRIPTOR,
                       "desc.shape has %d entries, too many (kind: %s)", from->n_shape, kind);
            return -1;
        }
    }
    set_extents(plan, from->type, from->shape, layers);
    plan->desc.image_row_pitch = from->pitches[0];
    plan->desc.image_slice_pitch = from->pitches[1];
    plan->desc.num_mip_levels = from->num_mip_levels;
    plan->desc.num_samples = from->num_samples;
    return 0;
}

/* ---- creation: checks ------------------------------------------------------------------------ */

/* The largest answer of any device; 0 if none answers. */
static size_t greatest(Context *context, cl_uint param) {
    cl_ulong most = 0;
    for (Py_ssize_t i = 0; i < context->n_devices; i++) {
        cl_ulong value = ocl_info_number(context->devices[i], ocl_device_query, param);
        most = value > most ? value : most;
    }
    return most < PY_SSIZE_T_MAX ? (size_t)most : (size_t)PY_SSIZE_T_MAX;
}

static int check_extents(State *state, Context *context, const Plan *plan) {
    const cl_image_desc *desc = &plan->desc;
    if (desc->image_type != CL_MEM_OBJECT_IMAGE2D && desc->image_type != CL_MEM_OBJECT_IMAGE3D &&
        ocl_need_version(state, "clCreateImage", context->version, 120) < 0) {
        return -1;
    }
    int solid = desc->image_type == CL_MEM_OBJECT_IMAGE3D, flat = dimensions(desc->image_type) == 2;
    const struct {
        const char *name;
        size_t value;
        cl_uint param; /* 0: this kind lacks that extent */
        const char *attribute;
    } rows[] = {
        {"width", desc->image_width,
         desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? CL_DEVICE_IMAGE_MAX_BUFFER_SIZE
         : solid                                          ? CL_DEVICE_IMAGE3D_MAX_WIDTH
                                                          : CL_DEVICE_IMAGE2D_MAX_WIDTH,
         desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? "image_max_buffer_size"
         : solid                                          ? "image3d_max_width"
                                                          : "image2d_max_width"},
        {"height", desc->image_height,
         solid  ? CL_DEVICE_IMAGE3D_MAX_HEIGHT
         : flat ? CL_DEVICE_IMAGE2D_MAX_HEIGHT
                : 0,
         solid ? "image3d_max_height" : "image2d_max_height"},
        {"depth", desc->image_depth, solid ? CL_DEVICE_IMAGE3D_MAX_DEPTH : 0, "image3d_max_depth"},
        {"number of images", desc->image_array_size,
         is_array(desc->image_type) ? CL_DEVICE_IMAGE_MAX_ARRAY_SIZE : 0, "image_max_array_size"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].param == 0) {
            continue;
        }
        if (rows[i].value == 0) {
            ocl_reject(state, "Image", CL_INVALID_IMAGE_SIZE,
                       "the %s is 0; an image has at least one pixel", rows[i].name);
            return -1;
        }
        size_t limit = greatest(context, rows[i].param);
        if (limit > 0 && rows[i].value > limit) {
            ocl_reject(state, "Image", CL_INVALID_IMAGE_SIZE,
                       "the %s %zu is more than the %zu that the device allows (Device.%s)",
                       rows[i].name, rows[i].value, limit, rows[i].attribute);
            return -1;
        }
    }
    return 0;
}

/* Checks the pitches and computes plan->bytes. */
static int check_layout(State *state, Context *context, Plan *plan) {
    cl_image_desc *desc = &plan->desc;
    size_t rows = desc->image_height, slices = desc->image_type == CL_MEM_OBJECT_IMAGE3D
                                                   ? desc->image_depth
                                                   : desc->image_array_size;
    size_t row_bytes, least, row, slice;
    int layered = desc->image_type == CL_MEM_OBJECT_IMAGE3D || is_array(desc->image_type);
    plan->bytes = 0;
    if (plan->element == 0) {
        return 0;
    }
    if (pg_mul(desc->image_width, plan->element, &row_bytes) < 0) {
        goto too_big;
    }
    row = desc->image_row_pitch != 0 ? desc->image_row_pitch : row_bytes;
    if (row < row_bytes || row % plan->element != 0) {
        ocl_reject(
            state, "Image", CL_INVALID_IMAGE_DESCRIPTOR,
            "a row pitch of %zu bytes does not suit rows of %zu pixels of %zu bytes: it must be at "
            "least %zu and a multiple of the pixel",
            row, desc->image_width, plan->element, row_bytes);
        return -1;
    }
    if (pg_mul(row, rows, &least) < 0) {
        goto too_big;
    }
    slice = layered && desc->image_slice_pitch != 0 ? desc->image_slice_pitch : least;
    if (slice < least || slice % row != 0) {
        ocl_reject(state, "Image", CL_INVALID_IMAGE_DESCRIPTOR,
                   "a slice pitch of %zu bytes does not suit slices of %zu rows of %zu bytes: it "
                   "must be at "
                   "least %zu and a multiple of the row pitch",
                   slice, rows, row, least);
        return -1;
    }
    if (!layered) {
        desc->image_slice_pitch = 0;
    }
    if (pg_mul(slice, slices, &plan->bytes) < 0 || plan->bytes > (size_t)PY_SSIZE_T_MAX) {
        goto too_big;
    }
    size_t memory = greatest(context, CL_DEVICE_GLOBAL_MEM_SIZE); /* some drivers allocate only
                                                                   * when the image is first used */
    if (memory > 0 && plan->bytes > memory) {
        ocl_raise_with(state, "Image", CL_MEM_OBJECT_ALLOCATION_FAILURE,
                       "asked for %zu bytes, Device.global_mem_size is %zu", plan->bytes, memory);
        return -1;
    }
    return 0;
too_big:
    ocl_reject(state, "Image", CL_INVALID_IMAGE_SIZE, "the image is larger than any memory");
    return -1;
}

static int check_format(State *state, Context *context, cl_mem_flags flags, const Plan *plan) {
    cl_mem_flags access = flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY |
                                   CL_MEM_KERNEL_READ_AND_WRITE);
    cl_image_format *formats;
    cl_uint n;
    int found = 0;
    if (ocl_image_formats(state, context, access != 0 ? access : CL_MEM_READ_WRITE,
                          plan->desc.image_type, &formats, &n) < 0) {
        return -1;
    }
    for (cl_uint i = 0; i < n && !found; i++) {
        found = memcmp(&formats[i], &plan->format, sizeof plan->format) == 0;
    }
    PyMem_Free(formats);
    if (!found) {
        PyObject *format = ocl_image_format_new(state, plan->format);
        if (format != NULL) {
            ocl_reject(state, "Image", CL_IMAGE_FORMAT_NOT_SUPPORTED,
                       "no device of the context supports %R for a %s; "
                       "get_supported_image_formats() lists others",
                       format, ocl_image_kind(plan->desc.image_type));
            Py_DECREF(format);
        }
        return -1;
    }
    return 0;
}

static int check_buffer(State *state, Context *context, const Plan *plan) {
    if (plan->buffer == NULL) {
        if (plan->desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
            ocl_reject(state, "Image", CL_INVALID_IMAGE_DESCRIPTOR,
                       "buffer is missing, but the image is one over a buffer");
            return -1;
        }
        return 0;
    }
    if (plan->desc.image_type == CL_MEM_OBJECT_IMAGE2D) {
        int offered = 0;
        for (Py_ssize_t i = 0; i < context->n_devices && !offered; i++) {
            int version = context->devices[i]->version; /* always supported by 2.x */
            offered =
                version >= 200 && version < 300
                    ? 1
                    : ocl_device_has_extension(context->devices[i], "cl_khr_image2d_from_buffer");
            if (offered < 0) {
                return -1;
            }
        }
        if (!offered) {
            ocl_reject_type(state, "Image", CL_INVALID_OPERATION,
                            "no device of the context can make 2-d images from a buffer "
                            "(cl_khr_image2d_from_buffer)");
            return -1;
        }
        size_t pixels = greatest(context, CL_DEVICE_IMAGE_PITCH_ALIGNMENT);
        size_t row = plan->desc.image_row_pitch != 0 ? plan->desc.image_row_pitch
                                                     : plan->desc.image_width * plan->element;
        if (pixels > 1 && plan->element > 0 && row % (pixels * plan->element) != 0) {
            ocl_reject(state, "Image", CL_INVALID_IMAGE_DESCRIPTOR,
                       "a row pitch of %zu bytes in a buffer is not a multiple of %zu pixels of "
                       "%zu bytes, as "
                       "the device demands (Device.image_pitch_alignment); give pitches",
                       row, pixels, plan->element);
            return -1;
        }
    } else if (plan->desc.image_type != CL_MEM_OBJECT_IMAGE1D_BUFFER) {
        ocl_reject(state, "Image", CL_INVALID_IMAGE_DESCRIPTOR,
                   "an image of this kind cannot be made from a buffer: %s",
                   ocl_image_kind(plan->desc.image_type));
        return -1;
    }
    if (plan->bytes > plan->buffer->size) {
        ocl_reject(state, "Image", CL_INVALID_IMAGE_SIZE,
                   "the image needs %zu bytes, but the buffer has %zu", plan->bytes,
                   plan->buffer->size);
        return -1;
    }
    return 0;
}

static int check_host(State *state, cl_mem_flags flags, const Plan *plan, const Py_buffer *host) {
    int wanted = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
    if (host == NULL) {
        if (wanted) {
            ocl_reject(state, "Image", CL_INVALID_HOST_PTR,
                       "flags ask for host memory (USE_HOST_PTR or COPY_HOST_PTR), but hostbuf is "
                       "missing");
            return -1;
        }
        if (plan->buffer == NULL &&
            (plan->desc.image_row_pitch != 0 || plan->desc.image_slice_pitch != 0)) {
            ocl_reject(state, "Image", CL_INVALID_IMAGE_DESCRIPTOR,
                       "pitches describe hostbuf, which is missing");
            return -1;
        }
        return 0;
    }
    if (plan->buffer != NULL) {
        ocl_reject(state, "Image", CL_INVALID_HOST_PTR,
                   "an image made from a buffer takes no hostbuf");
        return -1;
    }
    if (!wanted) {
        if (PyErr_WarnEx(
                PyExc_UserWarning,
                "Image: hostbuf is not used without mem_flags.COPY_HOST_PTR or USE_HOST_PTR",
                1) == 0) {
            ocl_reject(state, "Image", CL_INVALID_HOST_PTR,
                       "hostbuf needs a flag that says how to use it: add "
                       "mem_flags.COPY_HOST_PTR or USE_HOST_PTR");
        }
        return -1;
    }
    if (plan->bytes == 0) {
        ocl_reject(state, "Image", CL_INVALID_HOST_PTR,
                   "pygpu does not know how large a pixel of this format is; make the image "
                   "without hostbuf");
        return -1;
    }
    if (plan->desc.num_mip_levels > 1) {
        ocl_reject(state, "Image", CL_INVALID_HOST_PTR,
                   "an image with mip levels takes no hostbuf");
        return -1;
    }
    if (plan->bytes > (size_t)host->len) {
        ocl_reject(
            state, "Image", CL_INVALID_HOST_PTR,
            "the image needs %zu bytes (pixels of %zu bytes, and pitches), but hostbuf has %zd",
            plan->bytes, plan->element, host->len);
        return -1;
    }
    return 0;
}

/* ---- creation: the object -------------------------------------------------------------------- */

static cl_int create(Context *context, cl_mem_flags flags, const Plan *plan, void *host,
                     cl_mem *out) {
    const cl_image_desc *desc = &plan->desc;
    cl_int status = CL_SUCCESS;
    cl_mem mem;
    Py_BEGIN_ALLOW_THREADS
    if (context->version >= 120) {
        CL_MAKE(mem, status, clCreateImage, context->context, flags, &plan->format, desc, host);
    } else if (desc->image_type == CL_MEM_OBJECT_IMAGE3D) {
        CL_MAKE(mem, status, clCreateImage3D, context->context, flags, &plan->format,
                desc->image_width, desc->image_height, desc->image_depth, desc->image_row_pitch,
                desc->image_slice_pitch, host);
    } else {
        CL_MAKE(mem, status, clCreateImage2D, context->context, flags, &plan->format,
                desc->image_width, desc->image_height, desc->image_row_pitch, host);
    }
    Py_END_ALLOW_THREADS
    *out = mem;
    return status == CL_SUCCESS && mem == NULL ? CL_OUT_OF_RESOURCES : status;
}

static PyObject *make(State *state, PyTypeObject *type, Context *context, cl_mem_flags flags,
                      Plan *plan, void *host) {
    cl_mem_object_type kind = plan->desc.image_type;
    const char *routine = context->version >= 120         ? "clCreateImage"
                          : kind == CL_MEM_OBJECT_IMAGE3D ? "clCreateImage3D"
                                                          : "clCreateImage2D";
    Memory *self = (Memory *)PG_NEW(type); /* made first, because garbage collection may run any
                                            * code */
    if (self == NULL || (plan->buffer != NULL && ocl_memory_alive(plan->buffer, "Image") < 0)) {
        Py_XDECREF(self);
        return NULL;
    }
    self->state = state;
    cl_int status;
    cl_mem mem;
    int tries = 0, again;
    cl_mem_flags added =
        host == NULL && plan->buffer == NULL ? ocl_flags_to_commit(context, flags, plan->bytes) : 0;
    if (plan->buffer != NULL) {
        plan->desc.buffer = plan->buffer->mem;
        ocl_memory_pin(plan->buffer);
    }
    do {
        status = create(context, flags | added, plan, host, &mem);
        again = status == CL_SUCCESS ? 0 : ocl_retry(state, status, &tries);
    } while (again == 1);
    if (status != CL_SUCCESS) {
        if (plan->buffer != NULL) {
            ocl_memory_unpin(plan->buffer);
        }
        if (again >= 0 && (ocl_is_out_of_memory(status) || status == CL_INVALID_BUFFER_SIZE ||
                           status == CL_INVALID_IMAGE_SIZE)) {
            ocl_raise_with(state, routine, status,
                           "asked for %zu bytes, Device.max_mem_alloc_size is %zu", plan->bytes,
                           greatest(context, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
        } else if (again >= 0) {
            ocl_raise(state, routine, status);
        }
        Py_DECREF(self);
        return NULL;
    }
    ocl_live[LIVE_MEM]++;
    self->mem = mem;
    self->added_flags = added;
    self->context = (Context *)Py_NewRef(context);
    self->size = plan->bytes;
    self->flags = flags;
    self->type = kind;
    if (plan->buffer != NULL) { /* it shares the buffer's memory, which the pool must not hand out
                                 * meanwhile; as for sub-buffers */
        self->parent = Py_NewRef(plan->buffer);
        self->pool = plan->buffer->pool;
        if (self->pool == NULL) {
            ocl_memory_unpin(plan->buffer);
        }
    } else {
        pg_memory_made((PyObject *)self, self->size);
    }
    return (PyObject *)self;
}

PG_DOC(Image__doc__, "Image",
       "context, flags, format, shape=None, pitches=None, hostbuf=None, is_array=False, "
       "buffer=None, *, desc=None",
       "(context: Context, flags: int, format: ImageFormat, shape: int | Sequence[int] | None = "
       "None, pitches: int | Sequence[int] | None = None, "
       "hostbuf: HostBuffer | None = None, is_array: bool = False, buffer: MemoryObjectHolder | "
       "None = None, *, desc: ImageDescriptor | None = None)",
       "Pixels that kernels read and write through the device's image units.\n\n"
       "shape: (width,), (width, height) or (width, height, depth) [pixels], the reverse of a "
       "C-ordered array's; with is_array the last\n"
       "entry is the number of images. Without it, hostbuf.shape is used unchanged. pitches: "
       "distance between rows and between slices\n"
       "of hostbuf [bytes]. hostbuf: memory to copy from (COPY_HOST_PTR) or to use in place "
       "(USE_HOST_PTR). buffer: memory that a 1-d image shares. desc: all of these except hostbuf "
       "in one object.\n\n"
       "Raises LogicError (a ValueError, too) if hostbuf or buffer is too small, for a format that "
       "the device does not support and for extents beyond its limits; MemoryError if the device "
       "is out of memory.");
static ArgSpec Image_args = PG_ARGSPEC(Image__doc__);

static int is_given(PyObject *arg) {
    return arg != NULL && arg != Py_None;
}

static int check_descriptor(State *state, PyObject *const *a, int array) {
    PyObject *desc = a[8];
    if (!PyObject_TypeCheck(desc, state->ImageDescriptorType)) {
        PyErr_Format(PyExc_TypeError, "Image: desc must be an ImageDescriptor, not %s",
                     pg_type_name(desc));
        return -1;
    }
    if (is_given(a[3]) || is_given(a[4]) || array || is_given(a[7])) {
        PyErr_SetString(PyExc_TypeError, "Image: shape, pitches, is_array and buffer "
                                         "cannot be given together with desc");
        return -1;
    }
    return 0;
}

static int plan_buffer(State *state, Context *context, Plan *plan, PyObject *buffer) {
    Memory *memory = ocl_as_memory(state, buffer, "Image", "buffer", context->context);
    if (memory == NULL) {
        return -1;
    }
    if (memory->type != CL_MEM_OBJECT_BUFFER) {
        PyErr_Format(PyExc_TypeError, "Image: buffer must be a Buffer, not %s",
                     pg_type_name(buffer));
        return -1;
    }
    plan->buffer = (Memory *)Py_NewRef(memory);
    return 0;
}

static int check_plan(State *state, Context *context, cl_mem_flags flags, Plan *plan,
                      const Py_buffer *host) {
    return ocl_need_images(state, "Image", context) < 0 ||
                   check_extents(state, context, plan) < 0 ||
                   check_layout(state, context, plan) < 0 ||
                   check_buffer(state, context, plan) < 0 ||
                   check_host(state, flags, plan, host) < 0 ||
                   check_format(state, context, flags, plan) < 0
               ? -1
               : 0;
}

static PyObject *Image_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[9], *self = NULL;
    Context *context;
    uint64_t flags;
    State *state = ocl_state_of(type);
    if (state == NULL || pg_args_tuple(&Image_args, args, kwargs, a) < 0 ||
        (context = ocl_as_context(state, a[0], "Image")) == NULL ||
        pg_as_u64(a[1], "Image", "flags", &flags) < 0 ||
        ocl_check_mem_flags(state, "Image", flags) < 0) {
        return NULL;
    }
    if (!PyObject_TypeCheck(a[2], state->ImageFormatType)) {
        return PyErr_Format(PyExc_TypeError, "Image: format must be an ImageFormat, not %s",
                            pg_type_name(a[2]));
    }
    PyObject *hostbuf = is_given(a[5]) ? a[5] : NULL;
    ImageDescriptor *desc = is_given(a[8]) ? (ImageDescriptor *)a[8] : NULL;
    int array = pg_as_bool(a[6], 0);
    if (array < 0 || (desc != NULL && check_descriptor(state, a, array) < 0)) {
        return NULL;
    }
    PyObject *buffer = desc != NULL ? (PyObject *)desc->buffer : a[7];
    Plan plan = {.format = ((ImageFormat *)a[2])->format};
    plan.element = ocl_image_format_size(plan.format);
    if (is_given(buffer) && plan_buffer(state, context, &plan, buffer) < 0) {
        return NULL;
    }
    Py_buffer view;
    int in_place = (flags & CL_MEM_USE_HOST_PTR) != 0,
        writes = in_place && !(flags & CL_MEM_READ_ONLY), viewed = 0;
    if (hostbuf != NULL) {
        if (pg_get_view(hostbuf, "Image", "hostbuf", writes, &view) < 0) {
            goto done;
        }
        viewed = 1;
    }
    const Py_buffer *host = viewed ? &view : NULL;
    if ((desc != NULL ? plan_from_descriptor(state, &plan, desc)
                      : plan_from_shape(state, &plan, a[3], host, array, a[4])) < 0 ||
        check_plan(state, context, flags, &plan, host) < 0) {
        goto done;
    }
    int wanted = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
    self = make(state, type, context, flags, &plan, viewed && wanted ? view.buf : NULL);
    if (self != NULL && in_place) {
        ((Memory *)self)->hostbuf = Py_NewRef(hostbuf);
        viewed = 0;
        if (ocl_keepalive_until_destroyed(state, ((Memory *)self)->mem, &view) < 0) {
            Py_CLEAR(self);
        }
    }
done:
    if (viewed) {
        PyBuffer_Release(&view);
    }
    Py_XDECREF(plan.buffer);
    return self;
}

OCL_MADE_BY_INIT(Image, Memory, ImageType, OCL_HAS_CONTEXT_OR_MEM)

/* ---- attributes ------------------------------------------------------------------------------ */

static PyObject *Image_get(PyObject *op, void *closure) {
    Memory *self = (Memory *)op;
    const Info *row = &Image_info[(intptr_t)closure];
    if (ocl_memory_alive(self, row->name) < 0) {
        return NULL;
    }
    if (row->param == CL_IMAGE_FORMAT) {
        cl_image_format format = {0, 0};
        cl_int status = Image_query(self, CL_IMAGE_FORMAT, sizeof format, &format, NULL);
        return status == CL_SUCCESS ? ocl_image_format_new(self->state, format)
                                    : ocl_raise(self->state, "clGetImageInfo", status);
    }
    return ocl_info(self->state, op, Image_query, "clGetImageInfo", row);
}

static PyObject *Image_get_image_info(PyObject *op, PyObject *param) {
    Memory *self = (Memory *)op;
    if (ocl_memory_alive(self, "get_image_info") < 0) {
        return NULL;
    }
    return ocl_info_by_param(self->state, op, Image_query, "clGetImageInfo", Image_info, ROW_COUNT,
                             Image_get, param);
}

static PyObject *Image_get_shape(PyObject *op, void *Py_UNUSED(closure)) {
    ImageExtent extent;
    if (ocl_memory_alive((Memory *)op, "shape") < 0 ||
        ocl_image_extent((Memory *)op, &extent) < 0) {
        return NULL;
    }
    PyObject *shape = PyTuple_New(extent.n);
    for (int i = 0; shape != NULL && i < extent.n; i++) {
        PyObject *item = PyLong_FromSize_t(extent.size[i]);
        if (item == NULL) {
            Py_CLEAR(shape);
            break;
        }
        PyTuple_SET_ITEM(shape, i, item);
    }
    return shape;
}

static PyObject *Image_repr_html(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    PyObject *module = ocl_role("image_html");
    PyObject *html = module != NULL ? PyObject_CallMethod(module, "image_html", "O", op) : NULL;
    Py_XDECREF(module);
    return html;
}

static PyObject *Image_get_image(PyObject *op, void *Py_UNUSED(closure)) {
    if (PyErr_WarnEx(PyExc_DeprecationWarning, "Image.image.NAME is deprecated: use Image.NAME",
                     1) < 0) {
        return NULL;
    }
    return Py_NewRef(op);
}

static PyMethodDef Image_methods[] = {
    {"_repr_html_", Image_repr_html, METH_NOARGS,
     "_repr_html_($self, /)\n--\n\n() -> str\n\nWhat notebooks show: a picture, and what repr() "
     "says."},
    {"get_image_info", Image_get_image_info, METH_O,
     "get_image_info($self, param, /)\n--\n\n(param: int, /) -> object\n\nAnswer to a query by "
     "number (image_info.NAME)."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Image_getset[] = {
#define IMAGE_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(ROW_##attr, #attr, Image_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    {"shape", Image_get_shape, NULL,
     "tuple[int, ...]: width, height, depth as far as the image has them, then the number of "
     "images of an array [pixels]",
     NULL},
    {"image", Image_get_image, NULL,
     "Image: itself, for programs with PyOpenCL's deprecated image.image.depth", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot Image_slots[] = {
    PG_NEW_SLOTS(Image),
    {Py_tp_dealloc, (void *)ocl_memory_dealloc},
    {Py_tp_methods, Image_methods},
    {Py_tp_getset, Image_getset},
    {0, NULL},
};
OCL_TYPE(Image, Memory, Py_TPFLAGS_BASETYPE);
