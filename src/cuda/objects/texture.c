/* texture.c - TextureObject and SurfaceObject: handles with which kernels read arrays or linear
 * memory through the texture units, or write to arrays; and the texture references of before CUDA
 * 12, which only say what to use instead. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/memory.h"
#include "cuda/objects/array.h"
#include "cuda/objects/pointer.h"

#define LINEAR  2 /* CUresourcetype */
#define PITCH2D 3

typedef struct {
    CUD_HEAD
    unsigned long long handle;
    Context *context;
    PyObject *resource; /* Array or allocation; the driver does not keep it alive */
    Allocation *pinned; /* the resource as an allocation, or NULL */
    ArrayObject *array; /* the resource as an array, or NULL */
    int surface;
} Texture;

static int Texture_traverse(PyObject *op, visitproc visit, void *arg) {
    CUD_VISIT(op);
    Py_VISIT(((Texture *)op)->resource);
    Py_VISIT((PyObject *)((Texture *)op)->context);
    return 0;
}

static void Texture_dealloc(PyObject *op) {
    Texture *self = (Texture *)op;
    ContextGuard guard;
    CUresult status;
    pg_untrack(op, self->weakrefs);
    if (self->handle != 0) {
        cud_live[LIVE_TEXTURE]--;
        if (cud_context_enter_free(self->context, &guard, &status) == 0) {
            if (self->surface) {
                CU_BESIDE(status, cuSurfObjectDestroy, self->handle);
            } else {
                CU_BESIDE(status, cuTexObjectDestroy, self->handle);
            }
            cud_context_leave(&guard);
        }
    }
    cud_unpin(self->pinned);
    if (self->array != NULL) {
        cud_array_unpin(self->array);
    }
    Py_XDECREF(self->resource);
    Py_XDECREF((PyObject *)self->context);
    cud_object_free(op);
}

static Texture *texture_new(State *state, PyTypeObject *type, int surface) {
    Context *context = cud_context_current(state);
    Texture *self = context != NULL ? (Texture *)PG_NEW(type) : NULL;
    if (self == NULL) {
        Py_XDECREF((PyObject *)context);
        return NULL;
    }
    self->state = state;
    self->context = context;
    self->surface = surface;
    return self;
}

/* Keeps the array alive, and makes its free() wait, as long as this object exists. */
static void use_array(Texture *self, PyObject *obj, ArrayObject *array,
                      CUDA_RESOURCE_DESC *resource) {
    resource->resType = 0; /* array */
    resource->res.array.hArray = array->handle;
    array->users++;
    self->array = array;
    self->resource = Py_NewRef(obj);
}

typedef struct {
    PyObject *format, *channels, *size, *width, *height, *pitch;
} Linear;

static int is_given(PyObject *obj) {
    return obj != NULL && obj != Py_None;
}

/* All the memory that follows an address. */
static size_t bytes_after(const DevicePointer *at) {
    return at->allocation == NULL && at->ptr != 0 ? cud_bytes_at(at->ptr, SIZE_MAX) : at->size;
}

/* The format of linear memory, and the size of an element in bytes. */
static int read_format(State *state, const char *call, const Linear *how, CUarray_format *format,
                       uint32_t *channels, size_t *element) {
    uint32_t number;
    *channels = 1;
    if (pg_as_u32(how->format, call, "format", &number) < 0 ||
        (is_given(how->channels) && pg_as_u32(how->channels, call, "num_channels", channels) < 0)) {
        return -1;
    }
    *format = (CUarray_format)number;
    *element = cud_format_size(*format) * *channels;
    if (*element == 0 || (*channels != 1 && *channels != 2 && *channels != 4)) {
        cud_reject(state, call, CUDA_ERROR_INVALID_VALUE,
                   "format = %u with num_channels = %u is not possible for linear memory", number,
                   *channels);
        return -1;
    }
    return 0;
}

/* Describes memory in rows, *size bytes from devPtr. */
static int describe_rows(State *state, const char *call, const Linear *how, CUdeviceptr ptr,
                         CUDA_RESOURCE_DESC *resource, size_t *size) {
    size_t width = 0, height = 0, pitch = 0, element, row;
    CUarray_format format;
    uint32_t channels;
    if (read_format(state, call, how, &format, &channels, &element) < 0) {
        return -1;
    }
    if (!is_given(how->width) || !is_given(how->height) ||
        pg_as_size(how->width, call, "width", &width) < 0 ||
        pg_as_size(how->height, call, "height", &height) < 0) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError,
                            "TextureObject: width and height must be given together");
        }
        return -1;
    }
    if (is_given(how->pitch) ? pg_as_size(how->pitch, call, "pitch", &pitch) < 0
                             : pg_mul(width, element, &pitch) < 0) {
        if (!PyErr_Occurred()) {
            cud_reject(state, call, CUDA_ERROR_INVALID_VALUE,
                       "width = %zu is larger than any memory", width);
        }
        return -1;
    }
    if (width == 0 || height == 0 || pg_mul(width, element, &row) < 0 || pitch < row ||
        pg_mul(pitch, height - 1, size) < 0 || pg_add(*size, row, size) < 0) {
        cud_reject(state, call, CUDA_ERROR_INVALID_VALUE,
                   "width = %zu and height = %zu must be positive, and pitch = %zu at least a row",
                   width, height, pitch);
        return -1;
    }
    resource->resType = PITCH2D;
    resource->res.pitch2D.devPtr = ptr;
    resource->res.pitch2D.format = format;
    resource->res.pitch2D.numChannels = channels;
    resource->res.pitch2D.width = width;
    resource->res.pitch2D.height = height;
    resource->res.pitch2D.pitchInBytes = pitch;
    return 0;
}

/* Describes memory as one line of *size bytes. */
static int describe_line(State *state, const char *call, const Linear *how, const DevicePointer *at,
                         CUDA_RESOURCE_DESC *resource, size_t *size) {
    size_t element;
    CUarray_format format;
    uint32_t channels;
    if (read_format(state, call, how, &format, &channels, &element) < 0) {
        return -1;
    }
    if (is_given(how->size) ? pg_as_size(how->size, call, "size", size) < 0
                            : (*size = bytes_after(at)) == SIZE_MAX) {
        if (!PyErr_Occurred()) {
            cud_reject(state, call, CUDA_ERROR_INVALID_VALUE,
                       "size is required: the extent of the memory is not known");
        }
        return -1;
    }
    if (*size < element) {
        cud_reject(state, call, CUDA_ERROR_INVALID_VALUE,
                   "size = %zu bytes are less than one element of %zu", *size, element);
        return -1;
    }
    resource->resType = LINEAR;
    resource->res.linear.devPtr = at->ptr;
    resource->res.linear.format = format;
    resource->res.linear.numChannels = channels;
    resource->res.linear.sizeInBytes = *size;
    return 0;
}

static int use_memory_at(Texture *self, PyObject *obj, DevicePointer *pointer, const Linear *how,
                         CUDA_RESOURCE_DESC *resource) {
    State *state = self->state;
    const char *call = "TextureObject";
    DevicePointer at = *pointer;
    size_t size = 0;
    if ((is_given(how->width) || is_given(how->height)
             ? describe_rows(state, call, how, at.ptr, resource, &size)
             : describe_line(state, call, how, &at, resource, &size)) < 0 ||
        cud_check_range(state, call, "resource", &at, size) < 0 ||
        (at.allocation != NULL && cud_allocation_expose(at.allocation, call) < 0)) {
        return -1;
    }
    self->resource = at.allocation != NULL ? (PyObject *)at.allocation : Py_NewRef(obj);
    self->pinned = at.allocation;
    cud_pin(at.allocation);
    pointer->allocation = NULL; /* now owned by the resource */
    return 0;
}

static int use_memory(Texture *self, PyObject *obj, const Linear *how,
                      CUDA_RESOURCE_DESC *resource) {
    DevicePointer at;
    if (!is_given(how->format)) {
        cud_reject_type(self->state, "TextureObject",
                        "format must be given for linear memory (or the resource be an Array): "
                        "dtype_to_array_format(dtype)");
        return -1;
    }
    if (cud_device_pointer(self->state, obj, "TextureObject", "resource", &at) < 0) {
        return -1;
    }
    int result = use_memory_at(self, obj, &at, how, resource);
    cud_device_release(&at);
    return result;
}

/* One number for all three dimensions, or up to three numbers. */
static int as_modes(PyObject *obj, CUaddress_mode out[3]) {
    size_t modes[3];
    if (!is_given(obj)) {
        return 0;
    }
    int n = pg_as_sizes(obj, "TextureObject", "address_mode", modes, 3);
    for (int i = 0; i < 3 && n > 0; i++) {
        size_t mode = modes[i < n ? i : n - 1];
        if (mode > 3) {
            PyErr_Format(PyExc_ValueError,
                         "TextureObject: address_mode = %zu is not one of address_mode", mode);
            return -1;
        }
        out[i] = (CUaddress_mode)mode;
    }
    return n < 0 ? -1 : 0;
}

static int as_color(PyObject *obj, float out[4]) {
    if (!is_given(obj)) {
        return 0;
    }
    PyObject *items = pg_tuple(obj, "TextureObject", "border_color", "numbers", 4);
    for (Py_ssize_t i = 0; items != NULL && i < PyTuple_GET_SIZE(items); i++) {
        double value = PyFloat_AsDouble(PyTuple_GET_ITEM(items, i));
        if (value == -1 && PyErr_Occurred()) {
            Py_CLEAR(items);
            break;
        }
        out[i] = (float)value;
    }
    Py_XDECREF(items);
    return items != NULL ? 0 : -1;
}

PG_DOC(TextureObject__doc__, "TextureObject",
       "resource, address_mode=1, filter_mode=0, read_as_integer=False, "
       "normalized_coordinates=False, srgb=False, max_anisotropy=0, border_color=None, *, "
       "format=None, num_channels=1, size=None, width=None, height=None, pitch=None",
       "(resource: object, address_mode: int | Sequence[int] = 1, filter_mode: int = 0, "
       "read_as_integer: bool = False, "
       "normalized_coordinates: bool = False, srgb: bool = False, max_anisotropy: int = 0, "
       "border_color: Sequence[float] | None = None, *, "
       "format: int | None = None, num_channels: int = 1, size: int | None = None, width: int | "
       "None = None, height: int | None = None, "
       "pitch: int | None = None)",
       "Lets kernels read an Array, or linear memory: tex2D<float>(texture, x, y) with a parameter "
       "cudaTextureObject_t texture.\n\n"
       "resource: an Array, or device memory with its format and num_channels: *size* bytes of one "
       "dimension, or *height* rows of\n"
       "*width* elements every *pitch* bytes. address_mode: what to read outside, for all "
       "dimensions or each: WRAP, CLAMP, MIRROR, BORDER.\n"
       "filter_mode: POINT or LINEAR. read_as_integer: integers unchanged, not as fractions of "
       "their range. The object keeps its resource alive.");
static ArgSpec TextureObject_args = PG_ARGSPEC(TextureObject__doc__);

static PyObject *TextureObject_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[14];
    State *state = cud_state_of(type);
    const char *call = "TextureObject";
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC how;
    uint32_t filter = 0, anisotropy = 0;
    int flags[3];
    memset(&resource, 0, sizeof resource);
    memset(&how, 0, sizeof how);
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = 1; /* clamp */
    if (state == NULL || pg_args_tuple(&TextureObject_args, args, kwargs, a) < 0 ||
        as_modes(a[1], how.addressMode) < 0 ||
        (is_given(a[2]) && pg_as_u32(a[2], call, "filter_mode", &filter) < 0) ||
        (flags[0] = pg_as_bool(a[3], 0)) < 0 || (flags[1] = pg_as_bool(a[4], 0)) < 0 ||
        (flags[2] = pg_as_bool(a[5], 0)) < 0 ||
        (is_given(a[6]) && pg_as_u32(a[6], call, "max_anisotropy", &anisotropy) < 0) ||
        as_color(a[7], how.borderColor) < 0) {
        return NULL;
    }
    how.filterMode = (CUfilter_mode)filter;
    how.maxAnisotropy = anisotropy;
    how.flags = (flags[0] ? CU_TRSF_READ_AS_INTEGER : 0u) |
                (flags[1] ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
                (flags[2] ? 0x10u /* sRGB */ : 0u);
    Texture *self = texture_new(state, type, 0);
    if (self == NULL) {
        return NULL;
    }
    if (PyObject_TypeCheck(a[0], state->ArrayType)) {
        ArrayObject *array;
        if (cud_as_array(state, a[0], call, "resource", &array) < 0) {
            goto fail;
        }
        use_array(self, a[0], array, &resource);
    } else {
        Linear linear = {a[8], a[9], a[10], a[11], a[12], a[13]};
        if (use_memory(self, a[0], &linear, &resource) < 0) {
            goto fail;
        }
    }
    CUresult status = CUDA_SUCCESS;
    CU_BESIDE(status, cuTexObjectCreate, &self->handle, &resource, &how, NULL);
    if (status != CUDA_SUCCESS) {
        self->handle = 0;
        cud_raise(state, "cuTexObjectCreate", status);
        goto fail;
    }
    cud_live[LIVE_TEXTURE]++;
    return (PyObject *)self;
fail:
    Py_DECREF(self);
    return NULL;
}

#define ARRAY3D_SURFACE_LDST 2u

PG_DOC(SurfaceObject__doc__, "SurfaceObject", "array", "(array: Array)",
       "Lets kernels read and write an Array: surf2Dwrite(value, surface, x * sizeof(value), y) "
       "with a parameter cudaSurfaceObject_t surface.\n\narray: created with "
       "array3d_flags.SURFACE_LDST. It is kept alive.");
static ArgSpec SurfaceObject_args = PG_ARGSPEC(SurfaceObject__doc__);

static PyObject *SurfaceObject_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[1];
    State *state = cud_state_of(type);
    ArrayObject *array;
    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    if (state == NULL || pg_args_tuple(&SurfaceObject_args, args, kwargs, a) < 0 ||
        cud_as_array(state, a[0], "SurfaceObject", "array", &array) < 0) {
        return NULL;
    }
    if (!(array->descriptor.Flags & ARRAY3D_SURFACE_LDST)) { /* because not every driver checks
                                                              * it */
        return cud_reject(
            state, "cuSurfObjectCreate", CUDA_ERROR_INVALID_VALUE,
            "the array was made without array3d_flags.SURFACE_LDST, so kernels cannot write it");
    }
    Texture *self = texture_new(state, type, 1);
    if (self == NULL) {
        return NULL;
    }
    use_array(self, a[0], array, &resource);
    CUresult status = CUDA_SUCCESS;
    CU_BESIDE(status, cuSurfObjectCreate, &self->handle, &resource);
    if (status != CUDA_SUCCESS) {
        self->handle = 0;
        Py_DECREF(self);
        return cud_raise(state, "cuSurfObjectCreate", status);
    }
    cud_live[LIVE_TEXTURE]++;
    return (PyObject *)self;
}

static PyObject *Texture_index(PyObject *op) {
    return PyLong_FromUnsignedLongLong(((Texture *)op)->handle);
}
static PyObject *Texture_get_handle(PyObject *op, void *Py_UNUSED(closure)) {
    return Texture_index(op);
}
static PyObject *Texture_repr(PyObject *op) {
    static const char *const names[] = {"handle", "resource", NULL};
    return pg_attributes_repr(op, names);
}

static PyMethodDef Texture_methods[] = {PG_NO_PICKLE, {NULL, NULL, 0, NULL}};
static PyGetSetDef Texture_getset[] = {
    {"handle", Texture_get_handle, NULL, "int: the value that the kernel receives (8 bytes)", NULL},
    PG_FIELD("resource", object, Texture, resource, "Any: the Array or memory that it reads"),
    {NULL, NULL, NULL, NULL, NULL},
};

#define KIND(Name)                                                                   \
    static PyType_Slot Name##_slots[] = {{Py_tp_doc, (void *)Name##__doc__},         \
                                         {Py_tp_new, (void *)Name##_new},            \
                                         {Py_tp_traverse, (void *)Texture_traverse}, \
                                         {Py_tp_dealloc, (void *)Texture_dealloc},   \
                                         {Py_nb_int, (void *)Texture_index},         \
                                         {Py_nb_index, (void *)Texture_index},       \
                                         {Py_tp_methods, Texture_methods},           \
                                         {Py_tp_getset, Texture_getset},             \
                                         {Py_tp_init, (void *)cud_init_nothing},     \
                                         {Py_tp_repr, (void *)Texture_repr},         \
                                         {0, NULL}};                                 \
    CUD_TYPE(Name, Texture, Py_TPFLAGS_BASETYPE)

KIND(TextureObject);
KIND(SurfaceObject);

/* ---- references ------------------------------------------------------------------------------ */

#define REFERENCE(Name, instead, text)                                                            \
    static PyObject *Name##_new(PyTypeObject *type, PyObject *Py_UNUSED(args),                    \
                                PyObject *Py_UNUSED(kwargs)) {                                    \
        State *state = cud_state_of(type);                                                        \
        return state == NULL                                                                      \
                   ? NULL                                                                         \
                   : cud_raise_own(                                                               \
                         state, #Name, CUDA_ERROR_NOT_SUPPORTED,                                  \
                         text " references were removed from CUDA in version 12; make a " instead \
                              " and pass it to the kernel as an argument");                       \
    }                                                                                             \
    static PyType_Slot Name##_slots[] = {                                                         \
        {Py_tp_doc,                                                                               \
         (void *)("Not available: CUDA 12 removed " text " references. See " instead ".")},       \
        {Py_tp_new, (void *)Name##_new},                                                          \
        {0, NULL}};                                                                               \
    PG_TYPE(cud, "pygpu.cuda.driver." #Name, Name, CudObject,                                     \
            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE)

REFERENCE(TextureReference, "TextureObject", "texture");
REFERENCE(SurfaceReference, "SurfaceObject", "surface");
