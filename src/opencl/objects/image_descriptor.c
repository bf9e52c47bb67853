/* image_descriptor.c - ImageDescriptor: the kind and extents of an image to be created, as
 * clCreateImage takes them. */
#include "opencl/lifetime/deferred_init.h"
#include "opencl/memory.h"
#include "opencl/objects/image.h"
#include "opencl/opencl.h"

PG_DOC(ImageDescriptor__doc__, "ImageDescriptor", "", "()",
       "Kind, extents and origin of an image, for Image(context, flags, format, desc=...).\n\n"
       "create_image() with a shape is shorter; this class has all options.");
static ArgSpec ImageDescriptor_args = PG_ARGSPEC(ImageDescriptor__doc__);

static PyObject *ImageDescriptor_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[1];
    State *state = ocl_state_of(type);
    if (state == NULL || pg_args_tuple(&ImageDescriptor_args, args, kwargs, a) < 0) {
        return NULL;
    }
    ImageDescriptor *self = (ImageDescriptor *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
    }
    return (PyObject *)self;
}

static int always_made(const ImageDescriptor *Py_UNUSED(self)) {
    return 1;
} /* it contains only what was assigned */
OCL_MADE_BY_INIT_IF(ImageDescriptor, ImageDescriptor, ImageDescriptorType, always_made,
                    sizeof(ImageDescriptor), NULL)

static int ImageDescriptor_traverse(PyObject *op, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((ImageDescriptor *)op)->buffer);
    return 0;
}

static int ImageDescriptor_clear(PyObject *op) {
    Py_CLEAR(((ImageDescriptor *)op)->buffer);
    return 0;
}

static void ImageDescriptor_dealloc(PyObject *op) {
    PyObject_GC_UnTrack(op);
    ImageDescriptor_clear(op);
    pg_object_free(op);
}

static int deleted(PyObject *value, const char *name) {
    if (value == NULL) {
        PyErr_Format(PyExc_AttributeError, "ImageDescriptor: %s cannot be deleted", name);
    }
    return value == NULL;
}

/* image_type, num_mip_levels and num_samples; the closure is the member's offset */
static const char *uint_name(void *closure) {
    switch ((intptr_t)closure) {
    case offsetof(ImageDescriptor, type):
        return "image_type";
    case offsetof(ImageDescriptor, num_mip_levels):
        return "num_mip_levels";
    default:
        return "num_samples";
    }
}

static PyObject *ImageDescriptor_get_uint(PyObject *op, void *closure) {
    return PyLong_FromUnsignedLong(*(cl_uint *)(void *)((char *)op + (intptr_t)closure));
}

static int ImageDescriptor_set_uint(PyObject *op, PyObject *value, void *closure) {
    cl_uint number;
    if (deleted(value, uint_name(closure)) ||
        pg_as_u32(value, "ImageDescriptor", uint_name(closure), &number) < 0) {
        return -1;
    }
    *(cl_uint *)(void *)((char *)op + (intptr_t)closure) = number;
    return 0;
}

static PyObject *ImageDescriptor_get_shape(PyObject *op, void *Py_UNUSED(closure)) {
    ImageDescriptor *self = (ImageDescriptor *)op;
    if (self->n_shape == 0) {
        Py_RETURN_NONE;
    }
    PyObject *shape = PyTuple_New(self->n_shape);
    for (int i = 0; shape != NULL && i < self->n_shape; i++) {
        PyObject *item = PyLong_FromSize_t(self->shape[i]);
        if (item == NULL) {
            Py_CLEAR(shape);
            break;
        }
        PyTuple_SET_ITEM(shape, i, item);
    }
    return shape;
}

static int ImageDescriptor_set_shape(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    ImageDescriptor *self = (ImageDescriptor *)op;
    size_t shape[3] = {1, 1, 1};
    int n;
    if (deleted(value, "shape") ||
        (n = pg_as_sizes(value, "ImageDescriptor", "shape", shape, 3)) < 0) {
        return -1;
    }
    if (n == 0) {
        ocl_reject(self->state, "ImageDescriptor", CL_INVALID_VALUE,
                   "shape is empty; it is (width,), (width, height) or (width, height, depth)");
        return -1;
    }
    self->n_shape = n;
    memcpy(self->shape, shape, sizeof shape);
    self->has_array_size = 0;
    return 0;
}

static PyObject *ImageDescriptor_get_array_size(PyObject *op, void *Py_UNUSED(closure)) {
    ImageDescriptor *self = (ImageDescriptor *)op;
    if (self->has_array_size || self->n_shape == 0) {
        return PyLong_FromSize_t(self->array_size);
    }
    return PyLong_FromSize_t(self->type == CL_MEM_OBJECT_IMAGE1D_ARRAY && self->n_shape == 2
                                 ? self->shape[1]
                                 : self->shape[2]);
}

static int ImageDescriptor_set_array_size(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    ImageDescriptor *self = (ImageDescriptor *)op;
    size_t size;
    if (deleted(value, "array_size") ||
        pg_as_size(value, "ImageDescriptor", "array_size", &size) < 0) {
        return -1;
    }
    self->array_size = size;
    self->has_array_size = 1;
    return 0;
}

static PyObject *ImageDescriptor_get_pitches(PyObject *op, void *Py_UNUSED(closure)) {
    const size_t *pitches = ((ImageDescriptor *)op)->pitches;
    return Py_BuildValue("(nn)", (Py_ssize_t)pitches[0], (Py_ssize_t)pitches[1]);
}

static int ImageDescriptor_set_pitches(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    size_t pitches[2] = {0, 0};
    if (deleted(value, "pitches") ||
        (value != Py_None && pg_as_sizes(value, "ImageDescriptor", "pitches", pitches, 2) < 0)) {
        return -1;
    }
    memcpy(((ImageDescriptor *)op)->pitches, pitches, sizeof pitches);
    return 0;
}

static PyObject *ImageDescriptor_get_buffer(PyObject *op, void *Py_UNUSED(closure)) {
    Memory *buffer = ((ImageDescriptor *)op)->buffer;
    return Py_NewRef(buffer != NULL ? (PyObject *)buffer : Py_None);
}

static int ImageDescriptor_set_buffer(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    ImageDescriptor *self = (ImageDescriptor *)op;
    Memory *buffer = NULL;
    if (deleted(value, "buffer") ||
        (value != Py_None &&
         (buffer = ocl_as_memory(self->state, value, "ImageDescriptor", "buffer", NULL)) == NULL)) {
        return -1;
    }
    Py_XSETREF(self->buffer, (Memory *)Py_XNewRef(buffer));
    return 0;
}

static PyGetSetDef ImageDescriptor_getset[] = {
    {"image_type", ImageDescriptor_get_uint, ImageDescriptor_set_uint,
     "int: kind of image, of mem_object_type", (void *)offsetof(ImageDescriptor, type)},
    {"shape", ImageDescriptor_get_shape, ImageDescriptor_set_shape,
     "tuple[int, ...]: width, height, depth [pixels] as many as the kind has; for an array of "
     "images their number comes last. None until set",
     NULL},
    {"array_size", ImageDescriptor_get_array_size, ImageDescriptor_set_array_size,
     "int: number of images in an array, unless the shape contains it; setting the shape resets it",
     NULL},
    {"pitches", ImageDescriptor_get_pitches, ImageDescriptor_set_pitches,
     "tuple[int, int]: distance between rows and between slices in host memory [bytes]; 0 if there "
     "are no gaps",
     NULL},
    {"num_mip_levels", ImageDescriptor_get_uint, ImageDescriptor_set_uint,
     "int: mip levels; 0 without", (void *)offsetof(ImageDescriptor, num_mip_levels)},
    {"num_samples", ImageDescriptor_get_uint, ImageDescriptor_set_uint,
     "int: samples of a pixel; 0 without", (void *)offsetof(ImageDescriptor, num_samples)},
    {"buffer", ImageDescriptor_get_buffer, ImageDescriptor_set_buffer,
     "Buffer | None: memory that the image shares", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyObject *ImageDescriptor_repr(PyObject *op) {
    static const char *const names[] = {"image_type", "shape", "array_size", "pitches", NULL};
    return pg_attributes_repr(op, names);
}

static PyType_Slot ImageDescriptor_slots[] = {
    PG_NEW_SLOTS(ImageDescriptor),
    PG_GC_SLOTS(ImageDescriptor),
    {Py_tp_repr, (void *)ImageDescriptor_repr},
    {Py_tp_getset, ImageDescriptor_getset},
    {0, NULL},
};
OCL_TYPE(ImageDescriptor, ImageDescriptor, Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE);
