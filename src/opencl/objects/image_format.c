/* image_format.c - ImageFormat: the channels of a pixel and how each is stored. */
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/objects/image.h"
#include "opencl/opencl.h"

typedef struct {
    cl_uint value;
    const char *name;
    int count; /* channels in memory, including unused ones */
} OrderRow;

static const OrderRow orders[] = {
    {CL_R, "R", 1},
    {CL_A, "A", 1},
    {CL_INTENSITY, "INTENSITY", 1},
    {CL_LUMINANCE, "LUMINANCE", 1},
    {CL_DEPTH, "DEPTH", 1},
    {CL_RG, "RG", 2},
    {CL_RA, "RA", 2},
    {CL_Rx, "Rx", 2},
    {CL_RGB, "RGB", 3},
    {CL_RGx, "RGx", 3},
    {CL_sRGB, "sRGB", 3},
    {CL_RGBA, "RGBA", 4},
    {CL_BGRA, "BGRA", 4},
    {CL_ARGB, "ARGB", 4},
    {CL_ABGR, "ABGR", 4},
    {CL_RGBx, "RGBx", 4},
    {CL_sRGBx, "sRGBx", 4},
    {CL_sRGBA, "sRGBA", 4},
    {CL_sBGRA, "sBGRA", 4},
    {CL_DEPTH_STENCIL, "DEPTH_STENCIL", 2},
};

typedef struct {
    cl_uint value;
    const char *name;
    size_t size; /* bytes per channel, or of all of them together */
    int packed;
} TypeRow;

static const TypeRow types[] = {
    {CL_SNORM_INT8, "SNORM_INT8", 1, 0},
    {CL_SNORM_INT16, "SNORM_INT16", 2, 0},
    {CL_UNORM_INT8, "UNORM_INT8", 1, 0},
    {CL_UNORM_INT16, "UNORM_INT16", 2, 0},
    {CL_UNORM_SHORT_565, "UNORM_SHORT_565", 2, 1},
    {CL_UNORM_SHORT_555, "UNORM_SHORT_555", 2, 1},
    {CL_UNORM_INT_101010, "UNORM_INT_101010", 4, 1},
    {CL_UNORM_INT_101010_2, "UNORM_INT_101010_2", 4, 1},
    {CL_SIGNED_INT8, "SIGNED_INT8", 1, 0},
    {CL_SIGNED_INT16, "SIGNED_INT16", 2, 0},
    {CL_SIGNED_INT32, "SIGNED_INT32", 4, 0},
    {CL_UNSIGNED_INT8, "UNSIGNED_INT8", 1, 0},
    {CL_UNSIGNED_INT16, "UNSIGNED_INT16", 2, 0},
    {CL_UNSIGNED_INT32, "UNSIGNED_INT32", 4, 0},
    {CL_HALF_FLOAT, "HALF_FLOAT", 2, 0},
    {CL_FLOAT, "FLOAT", 4, 0},
    {CL_UNORM_INT24, "UNORM_INT24", 4, 1}, /* a depth, with or without 8 stencil bits */
};

static const OrderRow *find_order(cl_uint value) {
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (orders[i].value == value) {
            return &orders[i];
        }
    }
    return NULL;
}

static const TypeRow *find_type(cl_uint value) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].value == value) {
            return &types[i];
        }
    }
    return NULL;
}

size_t ocl_image_format_size(cl_image_format format) {
    const OrderRow *order = find_order(format.image_channel_order);
    const TypeRow *type = find_type(format.image_channel_data_type);
    if (type == NULL || (order == NULL && !type->packed)) {
        return 0;
    }
    return type->packed ? type->size : type->size * (size_t)order->count;
}

const char *ocl_image_kind(cl_mem_object_type type) {
    switch (type) {
    case CL_MEM_OBJECT_IMAGE1D:
        return "1-d image";
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
        return "1-d image made from a buffer";
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        return "array of 1-d images";
    case CL_MEM_OBJECT_IMAGE2D:
        return "2-d image";
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
        return "array of 2-d images";
    case CL_MEM_OBJECT_IMAGE3D:
        return "3-d image";
    default:
        return NULL;
    }
}

int ocl_need_images(State *state, const char *call, Context *context) {
    for (Py_ssize_t i = 0; i < context->n_devices; i++) {
        cl_bool has = CL_FALSE;
        cl_int status =
            ocl_device_query(context->devices[i], CL_DEVICE_IMAGE_SUPPORT, sizeof has, &has, NULL);
        if (status != CL_SUCCESS) {
            ocl_raise(state, "clGetDeviceInfo", status);
            return -1;
        }
        if (has) {
            return 0;
        }
    }
    ocl_reject(state, call, CL_INVALID_OPERATION,
               "no device of the context has images (Device.image_support)");
    return -1;
}

int ocl_image_formats(State *state, Context *context, cl_mem_flags flags, cl_mem_object_type type,
                      cl_image_format **out, cl_uint *n) {
    cl_uint count = 0, returned = 0;
    cl_int status = CL_SUCCESS;
    *out = NULL;
    *n = 0;
    CL_CALL(status, clGetSupportedImageFormats, context->context, flags, type, 0, NULL, &count);
    if (status == CL_SUCCESS && count > 0) {
        *out = PyMem_Calloc(count, sizeof **out);
        if (*out == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        CL_CALL(status, clGetSupportedImageFormats, context->context, flags, type, count, *out,
                &returned);
    }
    if (status != CL_SUCCESS) {
        PyMem_Free(*out);
        *out = NULL;
        ocl_raise(state, "clGetSupportedImageFormats", status);
        return -1;
    }
    *n = returned < count ? returned : count;
    return 0;
}

/* ---- ImageFormat ----------------------------------------------------------------------------- */

PG_DOC(ImageFormat__doc__, "ImageFormat", "order, type", "(order: int, type: int)",
       "The channels of a pixel (of channel_order) and how each is stored (of channel_type).\n\n"
       "Formats compare and hash by value. get_supported_image_formats() lists those of a device.");
static ArgSpec ImageFormat_args = PG_ARGSPEC(ImageFormat__doc__);

static PyObject *format_new(PyTypeObject *type, State *state, cl_image_format format) {
    ImageFormat *self = (ImageFormat *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
        self->format = format;
    }
    return (PyObject *)self;
}

PyObject *ocl_image_format_new(State *state, cl_image_format format) {
    return format_new(state->ImageFormatType, state, format);
}

static PyObject *ImageFormat_make(PyTypeObject *type, PyObject *const *a) {
    cl_image_format format;
    State *state = ocl_state_of(type);
    if (state == NULL || pg_as_u32(a[0], "ImageFormat", "order", &format.image_channel_order) < 0 ||
        pg_as_u32(a[1], "ImageFormat", "type", &format.image_channel_data_type) < 0) {
        return NULL;
    }
    return format_new(type, state, format);
}
PG_NEW_BY(ImageFormat, ocl_image_format, 2)

static int is_made(const ImageFormat *self) {
    return self->format.image_channel_order != 0;
}
static void moved(PyObject *op, PyObject *made) {
    ((ImageFormat *)op)->format = ((ImageFormat *)made)->format;
}
OCL_MADE_BY_INIT_IF(ImageFormat, ImageFormat, ImageFormatType, is_made, sizeof(OclObject),
                    moved) /* no weak references: moved() moves them */

static void ImageFormat_dealloc(PyObject *op) {
    pg_object_free(op);
}

static PyObject *ImageFormat_repr(PyObject *op) {
    cl_image_format format = ((ImageFormat *)op)->format;
    const OrderRow *order = find_order(format.image_channel_order);
    const TypeRow *type = find_type(format.image_channel_data_type);
    char order_text[48], type_text[48];
    PyOS_snprintf(order_text, sizeof order_text, "<unknown channel order 0x%x>",
                  (unsigned)format.image_channel_order);
    PyOS_snprintf(type_text, sizeof type_text, "<unknown channel data type 0x%x>",
                  (unsigned)format.image_channel_data_type);
    return PyUnicode_FromFormat("ImageFormat(%s, %s)", order != NULL ? order->name : order_text,
                                type != NULL ? type->name : type_text);
}

static Py_hash_t ImageFormat_hash(PyObject *op) {
    cl_image_format format = ((ImageFormat *)op)->format;
    return (
        Py_hash_t)(((uint64_t)format.image_channel_order << 16 ^ format.image_channel_data_type) &
                   (uint64_t)PY_SSIZE_T_MAX);
}

static PyObject *ImageFormat_compare(PyObject *op, PyObject *other, int how) {
    if ((how != Py_EQ && how != Py_NE) ||
        !PyObject_TypeCheck(other, ((ImageFormat *)op)->state->ImageFormatType)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    cl_image_format a = ((ImageFormat *)op)->format, b = ((ImageFormat *)other)->format;
    int equal = a.image_channel_order == b.image_channel_order &&
                a.image_channel_data_type == b.image_channel_data_type;
    return PyBool_FromLong(equal == (how == Py_EQ));
}

static PyObject *ImageFormat_reduce(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    cl_image_format format = ((ImageFormat *)op)->format;
    return Py_BuildValue("O(II)", (PyObject *)Py_TYPE(op), (unsigned)format.image_channel_order,
                         (unsigned)format.image_channel_data_type);
}

/* closure: 0 for the order, 1 for the type */
static cl_uint *member(PyObject *op, void *closure) {
    cl_image_format *format = &((ImageFormat *)op)->format;
    return closure == NULL ? &format->image_channel_order : &format->image_channel_data_type;
}

static PyObject *ImageFormat_get(PyObject *op, void *closure) {
    return PyLong_FromUnsignedLong(*member(op, closure));
}

static int ImageFormat_set(PyObject *op, PyObject *value, void *closure) {
    const char *name = closure == NULL ? "channel_order" : "channel_data_type";
    cl_uint number;
    if (value == NULL) {
        PyErr_Format(PyExc_AttributeError, "ImageFormat: %s cannot be deleted", name);
        return -1;
    }
    if (pg_as_u32(value, "ImageFormat", name, &number) < 0) {
        return -1;
    }
    *member(op, closure) = number;
    return 0;
}

/* Raises the error shared by channel_count, dtype_size and itemsize. */
static PyObject *unknown(ImageFormat *self, const char *call) {
    return ocl_raise_with(self->state, call, CL_INVALID_VALUE,
                          "the size of %R is not known; Image.element_size has it",
                          (PyObject *)self);
}

static PyObject *ImageFormat_get_channel_count(PyObject *op, void *Py_UNUSED(closure)) {
    ImageFormat *self = (ImageFormat *)op;
    const OrderRow *order = find_order(self->format.image_channel_order);
    return order != NULL ? PyLong_FromLong(order->count)
                         : unknown(self, "ImageFormat.channel_count");
}

static PyObject *ImageFormat_get_dtype_size(PyObject *op, void *Py_UNUSED(closure)) {
    ImageFormat *self = (ImageFormat *)op;
    const TypeRow *type = find_type(self->format.image_channel_data_type);
    return type != NULL ? PyLong_FromSize_t(type->size) : unknown(self, "ImageFormat.dtype_size");
}

static PyObject *ImageFormat_get_itemsize(PyObject *op, void *Py_UNUSED(closure)) {
    ImageFormat *self = (ImageFormat *)op;
    size_t size = ocl_image_format_size(self->format);
    return size > 0 ? PyLong_FromSize_t(size) : unknown(self, "ImageFormat.itemsize");
}

static PyMethodDef ImageFormat_methods[] = {
    {"__reduce__", ImageFormat_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\n() -> tuple[type, tuple[int, int]]\n\nFor copy and pickle."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef ImageFormat_getset[] = {
    {"channel_order", ImageFormat_get, ImageFormat_set,
     "int: which channels in which order, of channel_order", NULL},
    {"channel_data_type", ImageFormat_get, ImageFormat_set,
     "int: how a channel is stored, of channel_type", (void *)1},
    {"channel_count", ImageFormat_get_channel_count, NULL, "int: channels of a pixel in memory",
     NULL},
    {"dtype_size", ImageFormat_get_dtype_size, NULL,
     "int: size of a channel, or of the pixel if its channels are packed [bytes]", NULL},
    {"itemsize", ImageFormat_get_itemsize, NULL, "int: size of a pixel [bytes]", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot ImageFormat_slots[] = {
    PG_NEW_SLOTS(ImageFormat),
    {Py_tp_dealloc, (void *)ImageFormat_dealloc},
    {Py_tp_repr, (void *)ImageFormat_repr},
    {Py_tp_hash, (void *)ImageFormat_hash},
    {Py_tp_richcompare, (void *)ImageFormat_compare},
    {Py_tp_methods, ImageFormat_methods},
    {Py_tp_getset, ImageFormat_getset},
    {0, NULL},
};
OCL_TYPE(ImageFormat, ImageFormat, Py_TPFLAGS_BASETYPE);
