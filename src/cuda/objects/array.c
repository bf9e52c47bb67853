/* array.c - Array: device memory in a layout known only to the driver, for textures and surfaces;
 * ArrayDescriptor, ArrayDescriptor3D. */
#include "cuda/api/enums.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/objects/array.h"

/* ---- descriptors ----------------------------------------------------------------------------- */

typedef struct {
    CUD_HEAD
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* an ArrayDescriptor leaves Depth and Flags 0 */
} Descriptor;

static PyObject *Descriptor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    if (!cud_has_init(type, cud_init_nothing) &&
        (PyTuple_GET_SIZE(args) > 0 || (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0))) {
        return PyErr_Format(PyExc_TypeError, "%s() takes no arguments; set its attributes",
                            type->tp_name);
    }
    return PG_NEW(type);
}

typedef struct {
    const char *name;
    size_t offset;
    int wide;
} Field;

static PyObject *Descriptor_get(PyObject *op, void *closure) {
    const Field *field = closure;
    const char *at = (const char *)op + field->offset;
    size_t wide;
    uint32_t narrow;
    if (field->wide) {
        memcpy(&wide, at, sizeof wide);
        return PyLong_FromSize_t(wide);
    }
    memcpy(&narrow, at, sizeof narrow);
    if (field->offset == offsetof(Descriptor, descriptor.Format)) {
        return cud_member("array_format", (long)narrow);
    }
    return PyLong_FromUnsignedLong(narrow);
}

static int Descriptor_set(PyObject *op, PyObject *value, void *closure) {
    const Field *field = closure;
    char *at = (char *)op + field->offset;
    size_t wide;
    uint32_t narrow;
    if (value == NULL) {
        PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", field->name);
        return -1;
    }
    if (field->wide) {
        if (pg_as_size(value, pg_type_name(op), field->name, &wide) < 0) {
            return -1;
        }
        memcpy(at, &wide, sizeof wide);
        return 0;
    }
    if (pg_as_u32(value, pg_type_name(op), field->name, &narrow) < 0) {
        return -1;
    }
    memcpy(at, &narrow, sizeof narrow);
    return 0;
}

static PyObject *Descriptor_repr(PyObject *op) {
    const CUDA_ARRAY3D_DESCRIPTOR *d = &((Descriptor *)op)->descriptor;
    return PyUnicode_FromFormat(
        "<%s width=%zu height=%zu depth=%zu format=%d num_channels=%u flags=%u>", pg_type_name(op),
        d->Width, d->Height, d->Depth, d->Format, d->NumChannels, d->Flags);
}

#define FIELD(attribute, member, wide, text)                                 \
    {                                                                        \
#attribute, Descriptor_get, Descriptor_set, "int: " text, &(Field) { \
#attribute, offsetof(Descriptor, descriptor.member), wide        \
        }                                                                    \
    }
#define FLAT_FIELDS                                            \
    FIELD(width, Width, 1, "elements of a row"),               \
        FIELD(height, Height, 1, "rows; 0: one dimension"),    \
        FIELD(format, Format, 0, "array_format of a channel"), \
        FIELD(num_channels, NumChannels, 0, "channels of an element: 1, 2 or 4")

static PyGetSetDef ArrayDescriptor_getset[] = {FLAT_FIELDS, {NULL, NULL, NULL, NULL, NULL}};
static PyGetSetDef ArrayDescriptor3D_getset[] = {
    FLAT_FIELDS,
    FIELD(depth, Depth, 1, "slices, or layers; 0: two dimensions"),
    FIELD(flags, Flags, 0, "array3d_flags added with |"),
    {NULL, NULL, NULL, NULL, NULL}};

#define DESCRIPTOR(Name, doc)                                                                 \
    static PyType_Slot Name##_slots[] = {{Py_tp_doc, (void *)(#Name "()\n--\n\n()\n\n" doc)}, \
                                         {Py_tp_new, (void *)Descriptor_new},                 \
                                         {Py_tp_dealloc, (void *)cud_object_dealloc},         \
                                         {Py_tp_repr, (void *)Descriptor_repr},               \
                                         {Py_tp_getset, Name##_getset},                       \
                                         {Py_tp_traverse, (void *)cud_object_traverse},       \
                                         {Py_tp_setattro, (void *)cud_set_field},             \
                                         {Py_tp_init, (void *)cud_init_nothing},              \
                                         {0, NULL}};                                          \
    CUD_TYPE(Name, Descriptor, Py_TPFLAGS_BASETYPE)

DESCRIPTOR(ArrayDescriptor,
           "Describes an Array of one or two dimensions; all attributes are initially zero.");
DESCRIPTOR(ArrayDescriptor3D, "Describes an Array of up to three dimensions, or one for surfaces; "
                              "all attributes are initially zero.");

size_t cud_format_size(CUarray_format format) {
    switch (format) {
    case 0x01:
    case 0x08:
        return 1; /* 8 bits, unsigned and signed */
    case 0x02:
    case 0x09:
    case 0x10:
        return 2; /* 16 bits, and half */
    case 0x03:
    case 0x0a:
    case 0x20:
        return 4; /* 32 bits, and float */
    default:
        return 0;
    }
}

size_t cud_array_bytes(const ArrayObject *self) {
    const CUDA_ARRAY3D_DESCRIPTOR *d = &self->descriptor;
    return d->Width * cud_format_size(d->Format) * d->NumChannels *
           (d->Height > 0 ? d->Height : 1) * (d->Depth > 0 ? d->Depth : 1);
}

/* ---- Array ----------------------------------------------------------------------------------- */

PG_DOC(Array__doc__, "Array", "descr", "(descr: ArrayDescriptor | ArrayDescriptor3D)",
       "Device memory in a layout for textures and surfaces, filled and read with copies.\n\n"
       "Raises MemoryError if the device is out of memory, LogicError for sizes or formats that it "
       "rejects.");
static ArgSpec Array_args = PG_ARGSPEC(Array__doc__);

static PyObject *Array_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[1];
    State *state = cud_state_of(type);
    if (state == NULL || pg_args_tuple(&Array_args, args, kwargs, a) < 0) {
        return NULL;
    }
    int deep = PyObject_TypeCheck(a[0], state->ArrayDescriptor3DType);
    if (!deep && !PyObject_TypeCheck(a[0], state->ArrayDescriptorType)) {
        return cud_reject_type(state, "Array",
                               "descr must be an ArrayDescriptor or an ArrayDescriptor3D, not %s",
                               pg_type_name(a[0]));
    }
    const CUDA_ARRAY3D_DESCRIPTOR d = ((Descriptor *)a[0])->descriptor;
    const char *routine = deep ? "cuArray3DCreate" : "cuArrayCreate";
    if (d.Width == 0 || (cud_format_size(d.Format) > 0 && d.NumChannels != 1 &&
                         d.NumChannels != 2 && d.NumChannels != 4)) {
        return cud_reject(state, routine, CUDA_ERROR_INVALID_VALUE,
                          "width = %zu must be positive and num_channels = %u 1, 2 or 4", d.Width,
                          d.NumChannels);
    }
    Context *context = cud_context_current(state);
    ArrayObject *self = context != NULL ? (ArrayObject *)PG_NEW(type) : NULL;
    if (self == NULL) {
        Py_XDECREF((PyObject *)context);
        return NULL;
    }
    self->state = state;
    self->context = context;
    self->descriptor = d;
    CUDA_ARRAY_DESCRIPTOR flat = {d.Width, d.Height, d.Format, d.NumChannels};
    CUresult status;
    CUarray handle = NULL;
    int tries = 0, again;
    do {
        status = CUDA_SUCCESS;
        if (deep) {
            CU_NOGIL(status, cuArray3DCreate, &handle, &d);
        } else {
            CU_NOGIL(status, cuArrayCreate, &handle, &flat);
        }
        again = status == CUDA_SUCCESS ? 0 : cud_retry(state, status, &tries);
    } while (again == 1);
    if (status != CUDA_SUCCESS) {
        if (again == 0) {
            cud_raise_with(state, routine, status,
                           "asked for %zu x %zu x %zu elements of %u channels of format %d",
                           d.Width, d.Height, d.Depth, d.NumChannels, d.Format);
        }
        Py_DECREF(self);
        return NULL;
    }
    cud_live[LIVE_ARRAY]++;
    self->handle = handle;
    return (PyObject *)self;
}

static void destroy(ArrayObject *self) {
    CUresult status;
    CUarray handle = self->handle;
    self->handle = NULL;
    if (handle == NULL) {
        return;
    }
    cud_live[LIVE_ARRAY]--;
    FREE_IN_CONTEXT(
        self->context, status,
        CU_NOGIL(status, cuArrayDestroy, handle)); /* waits for work that still uses it */
}

void cud_array_unpin(ArrayObject *self) {
    if (--self->users == 0 && self->freed) {
        destroy(self);
    }
}

static int Array_traverse(PyObject *op, visitproc visit, void *arg) {
    CUD_VISIT(op);
    Py_VISIT((PyObject *)((ArrayObject *)op)->context);
    return 0;
}

static void Array_dealloc(PyObject *op) {
    ArrayObject *self = (ArrayObject *)op;
    pg_untrack(op, self->weakrefs);
    destroy(self);
    Py_XDECREF((PyObject *)self->context);
    cud_object_free(op);
}

int cud_as_array(State *state, PyObject *obj, const char *call, const char *name,
                 ArrayObject **out) {
    if (!PyObject_TypeCheck(obj, state->ArrayType)) {
        cud_reject_type(state, call, "%s must be an Array, not %s", name, pg_type_name(obj));
        return -1;
    }
    *out = (ArrayObject *)obj;
    if ((*out)->freed) {
        cud_reject(state, call, CUDA_ERROR_INVALID_HANDLE, "the Array was already freed");
        return -1;
    }
    return cud_context_check((*out)->context, call);
}

static PyObject *Array_free(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    ArrayObject *self = (ArrayObject *)op;
    if (self->freed) {
        return cud_reject(self->state, "Array.free", CUDA_ERROR_INVALID_HANDLE,
                          "the Array was already freed");
    }
    self->freed = 1;
    if (self->users == 0) {
        destroy(self);
    }
    Py_RETURN_NONE;
}

static PyObject *describe(PyObject *op, const char *call, int deep) {
    ArrayObject *self;
    State *state = ((ArrayObject *)op)->state;
    CUDA_ARRAY3D_DESCRIPTOR found = {0, 0, 0, 0, 0, 0};
    CUDA_ARRAY_DESCRIPTOR flat = {0, 0, 0, 0};
    CUresult status;
    if (cud_as_array(state, op, call, "self", &self) < 0) {
        return NULL;
    }
    self->users++;
    if (deep) {
        IN_CONTEXT(self->context, status,
                   CU_BESIDE(status, cuArray3DGetDescriptor, &found, self->handle));
    } else {
        IN_CONTEXT(self->context, status,
                   CU_BESIDE(status, cuArrayGetDescriptor, &flat, self->handle));
        found =
            (CUDA_ARRAY3D_DESCRIPTOR){flat.Width, flat.Height, 0, flat.Format, flat.NumChannels, 0};
    }
    cud_array_unpin(self);
    if (status != CUDA_SUCCESS) {
        return cud_raise(state, deep ? "cuArray3DGetDescriptor" : "cuArrayGetDescriptor", status);
    }
    Descriptor *result =
        (Descriptor *)PG_NEW(deep ? state->ArrayDescriptor3DType : state->ArrayDescriptorType);
    if (result != NULL) {
        result->descriptor = found;
    }
    return (PyObject *)result;
}

static PyObject *Array_get_descriptor(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return describe(op, "Array.get_descriptor", 0);
}

static PyObject *Array_get_descriptor_3d(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return describe(op, "Array.get_descriptor_3d", 1);
}

static PyObject *Array_get_handle(PyObject *op, void *Py_UNUSED(closure)) {
    ArrayObject *self;
    return cud_as_array(((ArrayObject *)op)->state, op, "Array.handle", "self", &self) < 0
               ? NULL
               : PyLong_FromVoidPtr(self->handle);
}

static PyObject *Array_repr(PyObject *op) {
    ArrayObject *self = (ArrayObject *)op;
    const CUDA_ARRAY3D_DESCRIPTOR *d = &self->descriptor;
    const char *name = Py_TYPE(op)->tp_name;
    size_t bits = 8 * cud_format_size(d->Format);
    if (self->freed || self->handle == NULL) {
        return PyUnicode_FromFormat("<%s, freed>", name);
    }
    return PyUnicode_FromFormat(
        "<%s width=%zu, height=%zu, depth=%zu, %u channels of %zu bits on device %d at %p>", name,
        d->Width, d->Height, d->Depth, d->NumChannels, bits, self->context->device,
        (void *)self->handle);
}

static PyMethodDef Array_methods[] = {
    PG_NO_PICKLE,
    {"free", Array_free, METH_NOARGS,
     "free($self, /)\n--\n\n() -> None\n\nFree the memory now. Any later use raises an error."},
    {"get_descriptor", Array_get_descriptor, METH_NOARGS,
     "get_descriptor($self, /)\n--\n\n() -> ArrayDescriptor\n\nThe descriptor of the array, "
     "without depth and flags."},
    {"get_descriptor_3d", Array_get_descriptor_3d, METH_NOARGS,
     "get_descriptor_3d($self, /)\n--\n\n() -> ArrayDescriptor3D\n\nWhat the array is."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Array_getset[] = {
    {"handle", Array_get_handle, NULL, "int: the driver's handle", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot Array_slots[] = {
    {Py_tp_doc, (void *)Array__doc__},
    {Py_tp_new, (void *)Array_new},
    {Py_tp_dealloc, (void *)Array_dealloc},
    {Py_tp_methods, Array_methods},
    {Py_tp_init, (void *)cud_init_nothing},
    {Py_tp_traverse, (void *)Array_traverse},
    {Py_tp_getset, Array_getset},
    {Py_tp_repr, (void *)Array_repr},
    {0, NULL},
};
CUD_TYPE(Array, ArrayObject, Py_TPFLAGS_BASETYPE);
