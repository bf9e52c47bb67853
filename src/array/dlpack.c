/* dlpack.c - DLPack capsules: exported for an array's memory, and imported from other libraries.
 *
 * pygpu/_src/array/interchange.py decides on the memory, device and stream. */
#include "common/dlpack.h"
#include "array/arraymod.h"

/* The ml_dtypes types that DLPack has. NumPy numbers them in the order of their registration. */
static const struct {
    const char *name;
    uint8_t code, bits;
} ml_types[] = {
    {"bfloat16", DL_BFLOAT, 16},
    {"float8_e3m4", DL_FLOAT8_E3M4, 8},
    {"float8_e4m3", DL_FLOAT8_E4M3, 8},
    {"float8_e4m3b11fnuz", DL_FLOAT8_E4M3B11FNUZ, 8},
    {"float8_e4m3fn", DL_FLOAT8_E4M3FN, 8},
    {"float8_e4m3fnuz", DL_FLOAT8_E4M3FNUZ, 8},
    {"float8_e5m2", DL_FLOAT8_E5M2, 8},
    {"float8_e5m2fnuz", DL_FLOAT8_E5M2FNUZ, 8},
    {"float8_e8m0fnu", DL_FLOAT8_E8M0FNU, 8},
};
#define ML_TYPES (sizeof ml_types / sizeof *ml_types)

/* ---- export ---------------------------------------------------------------------------------- */

/* Whether a dtype is from ml_dtypes, and which; -1 with an exception. */
static int ml_type_of(PyArray_Descr *dtype, DLDataType *out) {
    PyObject *module = PyObject_GetAttrString((PyObject *)dtype->typeobj, "__module__");
    if (module == NULL) {
        return -1;
    }
    int ours = PyUnicode_Check(module) &&
               PyUnicode_CompareWithASCIIString(module, "ml_dtypes") == 0;
    Py_DECREF(module);
    PyObject *name = ours ? PyObject_GetAttrString((PyObject *)dtype->typeobj, "__name__") : NULL;
    if (name == NULL) {
        return ours ? -1 : 0;
    }
    int found = 0;
    for (size_t i = 0; i < ML_TYPES && !found; i++) {
        if (PyUnicode_CompareWithASCIIString(name, ml_types[i].name) == 0) {
            *out = (DLDataType){ml_types[i].code, ml_types[i].bits, 1};
            found = 1;
        }
    }
    Py_DECREF(name);
    return found;
}

static int no_type(PyArray_Descr *dtype) {
    PyErr_Format(PyExc_BufferError, "__dlpack__: DLPack has no type for dtype %R",
                 (PyObject *)dtype);
    return -1;
}

static int type_of(PyArray_Descr *dtype, DLDataType *out) {
    if (dtype->type_num >= NPY_USERDEF) { /* user-defined types, whose kind is meaningless */
        int found = ml_type_of(dtype, out);
        return found > 0 ? 0 : found < 0 ? -1 : no_type(dtype);
    }
    switch (dtype->kind) {
    case 'b':
        out->code = DL_BOOL;
        break;
    case 'i':
        out->code = DL_INT;
        break;
    case 'u':
        out->code = DL_UINT;
        break;
    case 'f':
        out->code = DL_FLOAT;
        break;
    case 'c':
        out->code = DL_COMPLEX;
        break;
    default:
        return no_type(dtype);
    }
    out->bits = (uint8_t)(8 * PyDataType_ELSIZE(dtype));
    out->lanes = 1;
    return 0;
}

static int read_dims(DLTensor *tensor, PyObject *shape, PyObject *strides, Py_ssize_t itemsize) {
    if (!PyTuple_Check(shape) || !PyTuple_Check(strides) ||
        PyTuple_GET_SIZE(shape) != PyTuple_GET_SIZE(strides) ||
        PyTuple_GET_SIZE(shape) > ARRAY_MAX_DIMS) {
        PyErr_SetString(
            PyExc_TypeError,
            "_dlpack_export: shape and strides must be tuples of one length, at most 32");
        return -1;
    }
    int n = (int)PyTuple_GET_SIZE(shape);
    for (int axis = 0; axis < n; axis++) {
        Py_ssize_t length = PyNumber_AsSsize_t(PyTuple_GET_ITEM(shape, axis), PyExc_OverflowError);
        Py_ssize_t stride =
            PyNumber_AsSsize_t(PyTuple_GET_ITEM(strides, axis), PyExc_OverflowError);
        if ((length == -1 || stride == -1) && PyErr_Occurred()) {
            return -1;
        }
        if (itemsize == 0 || stride % itemsize != 0) {
            PyErr_Format(PyExc_BufferError,
                         "__dlpack__: items %zd bytes apart, of %zd bytes each, are not for "
                         "DLPack: make a copy of the array first",
                         stride, itemsize);
            return -1;
        }
        tensor->shape[axis] = length;
        tensor->strides[axis] = stride / itemsize;
    }
    tensor->ndim = n;
    return 0;
}

const char arr_dlpack_export__doc__[] =
    "_dlpack_export(owner, address, device, shape, strides, dtype, offset, versioned, "
    "flags)\n--\n\n"
    "(owner: Any, address: int, device: tuple[int, int], shape: tuple[int, ...], strides: "
    "tuple[int, ...], dtype: np.dtype[Any], offset: int, "
    "versioned: bool, flags: int) -> Any\n\n"
    "A DLPack capsule that keeps *owner*. address: a pointer, or a cl_mem; strides and offset in "
    "bytes. Raises BufferError.";
PG_SHARED_FUNCTION(arr_dlpack_export, 9)
static PyObject *arr_dlpack_export_impl(PyObject *Py_UNUSED(module), PyObject *const *a) {
    const char *call = "_dlpack_export";
    uint64_t address, offset, flags;
    size_t device[2];
    int versioned;
    if (pg_as_u64(a[1], call, "address", &address) < 0 ||
        pg_as_u64(a[6], call, "offset", &offset) < 0 || (versioned = pg_as_bool(a[7], 0)) < 0 ||
        pg_as_u64(a[8], call, "flags", &flags) < 0) {
        return NULL;
    }
    int n = pg_as_sizes(a[2], call, "device", device, 2);
    if (n != 2 || !PyArray_DescrCheck(a[5])) {
        return n < 0 ? NULL
                     : PyErr_Format(PyExc_TypeError,
                                    "%s: device must be two ints and dtype a numpy.dtype", call);
    }
    PyArray_Descr *dtype = (PyArray_Descr *)a[5];
    int64_t lengths[ARRAY_MAX_DIMS], steps[ARRAY_MAX_DIMS];
    DLTensor tensor = {.data = (void *)(uintptr_t)address,
                       .device = {(int32_t)device[0], (int32_t)device[1]},
                       .shape = lengths,
                       .strides = steps,
                       .byte_offset = offset};
    if (type_of(dtype, &tensor.dtype) < 0 ||
        read_dims(&tensor, a[3], a[4], (Py_ssize_t)PyDataType_ELSIZE(dtype)) < 0) {
        return NULL;
    }
    return pg_dlpack_capsule(&tensor, a[0], NULL, versioned, flags);
}

/* ---- import ---------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    DLManagedTensor *plain; /* one of these is set once we own the tensor */
    DLManagedTensorVersioned *versioned;
    PyArray_Descr *dtype;
    uint64_t address, offset;
    DLDevice device;
    uint64_t flags;
    int ndim;
    Py_ssize_t shape[ARRAY_MAX_DIMS], strides[ARRAY_MAX_DIMS]; /* in bytes */
} Tensor;

static int refuse(const char *why) {
    PyErr_Format(PyExc_BufferError, "from_dlpack: %s", why);
    return -1;
}

/* The dtype of one of ml_types; the first such tensor imports the package. */
static PyArray_Descr *ml_dtype(const char *name) {
    PyObject *module = PyImport_ImportModule("ml_dtypes");
    if (module == NULL) {
        if (PyErr_ExceptionMatches(PyExc_ImportError)) {
            PyErr_Clear();
            PyErr_Format(PyExc_BufferError,
                         "from_dlpack: NumPy has no %s: install ml_dtypes (pip install "
                         "pygpu[ml-dtypes]), or convert it to float32 first",
                         name);
        }
        return NULL;
    }
    PyObject *type = PyObject_GetAttrString(module, name);
    Py_DECREF(module);
    PyArray_Descr *dtype = NULL;
    if (type != NULL && !PyArray_DescrConverter(type, &dtype)) {
        dtype = NULL;
    }
    Py_XDECREF(type);
    return dtype;
}

static PyArray_Descr *dtype_of(DLDataType type) {
    static const struct {
        uint8_t code, bits;
        int num;
    } formats[] = {
        {DL_BOOL, 8, NPY_BOOL},       {DL_INT, 8, NPY_INT8},          {DL_INT, 16, NPY_INT16},
        {DL_INT, 32, NPY_INT32},      {DL_INT, 64, NPY_INT64},        {DL_UINT, 8, NPY_UINT8},
        {DL_UINT, 16, NPY_UINT16},    {DL_UINT, 32, NPY_UINT32},      {DL_UINT, 64, NPY_UINT64},
        {DL_FLOAT, 16, NPY_HALF},     {DL_FLOAT, 32, NPY_FLOAT},      {DL_FLOAT, 64, NPY_DOUBLE},
        {DL_COMPLEX, 64, NPY_CFLOAT}, {DL_COMPLEX, 128, NPY_CDOUBLE},
    };
    for (size_t i = 0; type.lanes == 1 && i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].code == type.code && formats[i].bits == type.bits) {
            return PyArray_DescrFromType(formats[i].num);
        }
    }
    for (size_t i = 0; type.lanes == 1 && i < ML_TYPES; i++) {
        if (ml_types[i].code == type.code && ml_types[i].bits == type.bits) {
            return ml_dtype(ml_types[i].name);
        }
    }
    PyErr_Format(PyExc_BufferError,
                 "from_dlpack: NumPy has no dtype for DLPack's type (code %d, %d bits, %d lanes)",
                 type.code, type.bits, type.lanes);
    return NULL;
}

/* Copies the header after checking that it makes sense. */
static int read_header(Tensor *self, const DLTensor *tensor) {
    int n = tensor->ndim;
    if (n < 0 || n > ARRAY_MAX_DIMS || (n > 0 && tensor->shape == NULL)) {
        return refuse("the number of axes is not between 0 and 32, or the shape is missing");
    }
    self->dtype = dtype_of(tensor->dtype);
    if (self->dtype == NULL) {
        return -1;
    }
    int64_t itemsize = (int64_t)PyDataType_ELSIZE(self->dtype), step = itemsize,
            most = INT64_MAX / 2, reach = 0;
    int empty = 0;
    for (int axis = n - 1; axis >= 0; axis--) {
        int64_t length = tensor->shape[axis];
        if (length < 0 || (length > 0 && step > most / length)) {
            return refuse("a length is negative, or the array is larger than any memory");
        }
        empty |= length == 0;
        int64_t stride = step;
        if (tensor->strides != NULL && tensor->strides[axis] != step / itemsize) {
            int64_t items = tensor->strides[axis];
            if (items > most / itemsize || items < -(most / itemsize)) {
                return refuse(
                    "a stride is larger than any memory (CuPy exports negative strides so: "
                    "xp.asarray takes such arrays)");
            }
            stride = items * itemsize;
        }
        int64_t size = stride < 0 ? -stride : stride;
        if (length > 1) {
            if (size > (most - reach) / (length - 1)) {
                return refuse("the strides span more than any memory");
            }
            reach += size * (length - 1);
        }
        self->shape[axis] = (Py_ssize_t)length;
        self->strides[axis] = (Py_ssize_t)stride;
        step *= length > 0 ? length : 1;
    }
    if (tensor->data == NULL && !empty) {
        return refuse("the array has items, but its address is NULL");
    }
    if (tensor->byte_offset > (uint64_t)most) {
        return refuse("the offset is larger than any memory");
    }
    self->ndim = n;
    self->device = tensor->device;
    self->address = (uint64_t)(uintptr_t)tensor->data;
    self->offset = tensor->byte_offset;
    return 0;
}

PyObject *arr_dlpack_import(PyObject *Py_UNUSED(module), PyObject *capsule) {
    int plain = PyCapsule_IsValid(capsule, DL_PLAIN);
    if (!plain && !PyCapsule_IsValid(capsule, DL_VERSIONED)) {
        const char *name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : NULL;
        int used = name != NULL && strncmp(name, "used_", 5) == 0;
        PyErr_Clear();
        return PyErr_Format(
            used ? PyExc_ValueError : PyExc_TypeError,
            used ? "from_dlpack: the capsule was already consumed, which is possible only once"
                 : "from_dlpack: a capsule named dltensor or dltensor_versioned is needed, not %s",
            pg_type_name(capsule));
    }
    Tensor *self = (Tensor *)PG_NEW(arr_state->TensorType);
    if (self == NULL) {
        return NULL;
    }
    /* If anything fails below, the capsule still owns its tensor and deletes it. */
    if (plain) {
        DLManagedTensor *managed = PyCapsule_GetPointer(capsule, DL_PLAIN);
        if (managed == NULL || read_header(self, &managed->tensor) < 0 ||
            PyCapsule_GetPointer(capsule, DL_PLAIN) != managed || /* taken by another thread */
            PyCapsule_SetName(capsule, DL_USED_PLAIN) < 0) {
            goto fail;
        }
        self->plain = managed;
    } else {
        DLManagedTensorVersioned *managed = PyCapsule_GetPointer(capsule, DL_VERSIONED);
        if (managed == NULL) {
            goto fail;
        }
        if (managed->version.major != DL_MAJOR) {
            PyErr_Format(PyExc_BufferError,
                         "from_dlpack: DLPack version %u.%u is not supported; 1.x is",
                         managed->version.major, managed->version.minor);
            goto fail;
        }
        if (read_header(self, &managed->tensor) < 0 ||
            PyCapsule_GetPointer(capsule, DL_VERSIONED) != managed ||
            PyCapsule_SetName(capsule, DL_USED_VERSIONED) < 0) {
            goto fail;
        }
        self->flags = managed->flags;
        self->versioned = managed;
    }
    return (PyObject *)self;
fail:
    Py_DECREF(self);
    return NULL;
}

static void Tensor_dealloc(PyObject *op) {
    Tensor *self = (Tensor *)op;
    PyObject *type, *value, *traceback; /* the deleter may run Python code */
    PyErr_Fetch(&type, &value, &traceback);
    if (self->plain != NULL && self->plain->deleter != NULL) {
        self->plain->deleter(self->plain);
    }
    if (self->versioned != NULL && self->versioned->deleter != NULL) {
        self->versioned->deleter(self->versioned);
    }
    PyErr_Restore(type, value, traceback);
    Py_XDECREF((PyObject *)self->dtype);
    pg_object_free(op);
}

static PyObject *Tensor_get_shape(PyObject *op, void *Py_UNUSED(closure)) {
    return pg_tuple_of(((Tensor *)op)->shape, ((Tensor *)op)->ndim);
}
static PyObject *Tensor_get_strides(PyObject *op, void *Py_UNUSED(closure)) {
    return pg_tuple_of(((Tensor *)op)->strides, ((Tensor *)op)->ndim);
}
static PyObject *Tensor_get_address(PyObject *op, void *Py_UNUSED(closure)) {
    return PyLong_FromUnsignedLongLong(((Tensor *)op)->address);
}
static PyObject *Tensor_get_offset(PyObject *op, void *Py_UNUSED(closure)) {
    return PyLong_FromUnsignedLongLong(((Tensor *)op)->offset);
}
static PyObject *Tensor_get_read_only(PyObject *op, void *Py_UNUSED(closure)) {
    return PyBool_FromLong(((Tensor *)op)->flags & DL_READ_ONLY);
}
static PyObject *Tensor_get_device(PyObject *op, void *Py_UNUSED(closure)) {
    return Py_BuildValue("(ii)", (int)((Tensor *)op)->device.type, (int)((Tensor *)op)->device.id);
}

/* Lets NumPy view host memory; the view keeps the tensor alive. */
static PyObject *Tensor_get_interface(PyObject *op, void *Py_UNUSED(closure)) {
    Tensor *self = (Tensor *)op;
    int32_t kind = self->device.type;
    if (kind != DL_CPU && kind != DL_CUDA_HOST && kind != DL_ROCM_HOST) {
        PyErr_SetString(PyExc_AttributeError,
                        "__array_interface__: the array is not in host memory");
        return NULL;
    }
    PyObject *shape = Tensor_get_shape(op, NULL), *strides = Tensor_get_strides(op, NULL);
    /* For types that NumPy lacks, a typestr can only say how many bytes there are. */
    PyObject *name = self->dtype->type_num >= NPY_USERDEF
                         ? PyUnicode_FromFormat("|V%zd", (Py_ssize_t)PyDataType_ELSIZE(self->dtype))
                         : PyObject_GetAttrString((PyObject *)self->dtype, "str");
    PyObject *read_only = self->flags & DL_READ_ONLY ? Py_True : Py_False;
    PyObject *result = NULL;
    if (shape != NULL && strides != NULL && name != NULL) {
        result = Py_BuildValue("{sOsOsOs(KO)si}", "shape", shape, "strides", strides, "typestr",
                               name, "data", (unsigned long long)(self->address + self->offset),
                               read_only, "version", 3);
    }
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    Py_XDECREF(name);
    return result;
}

static PyGetSetDef Tensor_getset[] = {
    {"shape", Tensor_get_shape, NULL, "tuple[int, ...]: Length of each axis.", NULL},
    {"strides", Tensor_get_strides, NULL,
     "tuple[int, ...]: Distance between neighbours along each axis [bytes].", NULL},
    PG_FIELD("dtype", object, Tensor, dtype, "np.dtype[Any]: Type of the items."),
    {"address", Tensor_get_address, NULL, "int: The memory: a pointer, or a cl_mem.", NULL},
    {"offset", Tensor_get_offset, NULL, "int: Where the first item lies in it [bytes].", NULL},
    {"device", Tensor_get_device, NULL,
     "tuple[int, int]: DLPack's kind of device, and the device's number.", NULL},
    {"read_only", Tensor_get_read_only, NULL, "bool: Whether the memory must not be written to.",
     NULL},
    {"__array_interface__", Tensor_get_interface, NULL,
     "dict[str, Any]: NumPy's protocol, of memory of the host.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char Tensor__doc__[] =
    "DLPackTensor()\n--\n\n()\n\nMemory taken over from another library, which gets it back when "
    "this goes. Made by _dlpack_import().";

static PyType_Slot Tensor_slots[] = {
    {Py_tp_doc, (void *)Tensor__doc__},
    {Py_tp_dealloc, (void *)Tensor_dealloc},
    {Py_tp_getset, Tensor_getset},
    {0, NULL},
};

PG_TYPE(arr, "pygpu._array.DLPackTensor", Tensor, Tensor,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE);
