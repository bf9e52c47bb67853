/* pack_arguments.c - converts Python objects to kernel parameters, which are written to where the
 * kernel reads them, according to the parameter's size and, if the source or the PTX declares it,
 * its kind. The last type converted for each parameter is remembered (Param.exact), so that
 * arguments of the usual types come here only once. */
#include "common/gpuarray.h"
#include "cuda/cuda.h"
#include "cuda/objects/function.h"

#define NUMBER_AT                                                                  \
    offsetof(PyIntScalarObject, obval) /* NumPy's number follows the object's head \
                                        * \ */

/* ---- errors ---------------------------------------------------------------------------------- */

PyObject *function_argument_name(Function *self, Py_ssize_t i) {
    Plan *plan = self->plan;
    PyObject *declaration = i < plan->n_params || i < plan->n_declared ? plan->params[i].declaration
                                                                       : NULL;
    return PyUnicode_FromFormat("kernel '%U', parameter #%zd (0-based)%s%V%s", self->name, i,
                                declaration != NULL ? " '" : "", declaration, "",
                                declaration != NULL ? "'" : "");
}

static void raise_at(Function *self, Py_ssize_t i, PyObject *type, const char *format,
                     va_list arguments) {
    PyObject *what = PyUnicode_FromFormatV(format, arguments),
             *name = what != NULL ? function_argument_name(self, i) : NULL;
    if (name != NULL) {
        PyErr_Format(type, "%U: %U", name, what);
    }
    Py_XDECREF(what);
    Py_XDECREF(name);
}

int function_refuse(Function *self, Py_ssize_t i, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    raise_at(self, i, PyExc_TypeError, format, arguments);
    va_end(arguments);
    return -1;
}

int function_refuse_range(Function *self, Py_ssize_t i, PyObject *arg, const char *to) {
    PyErr_Clear();
    PyObject *text = PyObject_Repr(arg);
    if (text == NULL) { /* before the next line, which must not replace the error */
        PyErr_Clear();
    }
    PyObject *name = function_argument_name(self, i);
    if (name != NULL) {
        PyErr_Format(PyExc_OverflowError, "%U: %V does not fit into %s", name, text, "the number",
                     to);
    }
    Py_XDECREF(text);
    Py_XDECREF(name);
    return -1;
}

const char *function_numpy_type(const Param *param) {
    switch (param->kind) {
    case PARAM_FLOAT:
        return param->size == 4   ? "numpy.float32"
               : param->size == 8 ? "numpy.float64"
                                  : "numpy.float16";
    case PARAM_INTEGER:
        return param->size == 4   ? (param->sign == SIGN_UNSIGNED ? "numpy.uint32" : "numpy.int32")
               : param->size == 8 ? (param->sign == SIGN_UNSIGNED ? "numpy.uint64" : "numpy.int64")
               : param->size == 2 ? (param->sign == SIGN_UNSIGNED ? "numpy.uint16" : "numpy.int16")
                                  : (param->sign == SIGN_UNSIGNED ? "numpy.uint8" : "numpy.int8");
    case PARAM_COMPLEX:
        return param->size == 8 ? "numpy.complex64" : "numpy.complex128";
    case PARAM_BOOL:
        return "numpy.bool_";
    default:
        return "";
    }
}

/* Programs written for PyCUDA, which does not check dtypes, get a warning instead of an error.
 * given: the dtype. */
int function_refuse_items(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                          PyObject *given) {
    PyTypeObject *ours = (PyTypeObject *)self->state->common.array_type;
    const char *raw = ours != NULL && PyObject_TypeCheck(arg, ours) ? ".gpudata or " : "";
    PyObject *message = pg_items_message(&param->items, arg, given, raw);
    PyObject *name = message != NULL ? function_argument_name(self, i) : NULL;
    PyObject *text = name != NULL ? PyUnicode_FromFormat("%U: %U", name, message) : NULL;
    int warned = text != NULL ? pg_items_warn("pycuda", text) : -1;
    param->items.warned |= warned > 0;
    param->items.wrong = warned <= 0;
    if (warned == 0) {
        PyErr_SetObject(PyExc_TypeError, text);
    }
    Py_XDECREF(message);
    Py_XDECREF(name);
    Py_XDECREF(text);
    return warned > 0 ? 0 : -1;
}

int function_compare_dtype(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                           PyArray_Descr *dtype) {
    if (pg_items_take(&param->items, dtype)) {
        return 0;
    }
    Py_INCREF(dtype); /* the warning may run any code */
    int result = function_refuse_items(self, i, param, arg, (PyObject *)dtype);
    Py_DECREF(dtype);
    return result;
}

/* Checks what In, Out and InOut copy. A subclass may put anything into the memory that it
 * provides. */
static int check_handler(Function *self, Py_ssize_t i, Param *param, Handler *handler) {
    if (pg_items_unchecked(&param->items) || handler->array == NULL ||
        !handler_is_plain(self->state, (PyObject *)handler)) {
        return 0;
    }
    PyObject *array = Py_NewRef(handler->array), *given = NULL;
    int result;
    if (PyArray_Check(array)) {
        PyArray_Descr *dtype = PyArray_DESCR((PyArrayObject *)array);
        result = function_check_dtype(self, i, param, (PyObject *)handler, dtype);
    } else {
        result = pg_items_take_buffer(&param->items, array, &given);
    }
    if (given != NULL) {
        result = function_refuse_items(self, i, param, (PyObject *)handler, given);
        Py_DECREF(given);
    }
    Py_DECREF(array);
    return result;
}

static int refuse_size(Function *self, Py_ssize_t i, const Param *param, PyObject *arg,
                       size_t given) {
    const char *fits = function_numpy_type(param);
    return function_refuse(self, i, "expected %u bytes, but %s has %zu%s%s", (unsigned)param->size,
                           Py_TYPE(arg)->tp_name, given, *fits ? "; pass a " : "", fits);
}

static int refuse_kind(Function *self, Py_ssize_t i, const Param *param, PyObject *arg) {
    if (param->kind == PARAM_POINTER) {
        return function_refuse(self, i,
                               "expected device memory, got %s; pass an allocation or an array on "
                               "the device, or wrap a "
                               "host array in In, Out or InOut",
                               Py_TYPE(arg)->tp_name);
    }
    return function_refuse(self, i, "a %s is not what the kernel reads here; pass a %s",
                           Py_TYPE(arg)->tp_name, function_numpy_type(param));
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int store_real(Function *self, Py_ssize_t i, const Param *param, PyObject *arg,
                      double number, unsigned char *at) {
    if (param->size == 4) {
        float narrow = (float)number;
        if (PG_UNLIKELY(Py_IS_INFINITY(narrow)) && !Py_IS_INFINITY(number)) {
            return function_refuse_range(self, i, arg, "a float");
        }
        memcpy(at, &narrow, 4);
    } else if (param->size == 8) {
        memcpy(at, &number, 8);
    } else if (PyFloat_Pack2(number, (char *)at, 1) < 0) {
        return function_refuse_range(self, i, arg, "a half");
    }
    return 0;
}

/* Rounds to nearest, ties to even; a NaN stays a NaN. */
static int store_bfloat(Function *self, Py_ssize_t i, PyObject *arg, double number,
                        unsigned char *at) {
    float narrow = (float)number;
    uint32_t bits;
    memcpy(&bits, &narrow, 4);
    uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1);
    uint16_t half = narrow != narrow ? (uint16_t)(bits >> 16 | 0x40) : (uint16_t)(rounded >> 16);
    if ((half & 0x7FFF) == 0x7F80 && !Py_IS_INFINITY(number)) {
        return function_refuse_range(self, i, arg, "a bfloat16");
    }
    memcpy(at, &half, 2);
    return 0;
}

static int store_complex(Function *self, Py_ssize_t i, const Param *param, PyObject *arg,
                         double real, double imag, unsigned char *at) {
    if (param->size == 8) {
        float narrow[2] = {(float)real, (float)imag};
        if ((Py_IS_INFINITY(narrow[0]) && !Py_IS_INFINITY(real)) ||
            (Py_IS_INFINITY(narrow[1]) && !Py_IS_INFINITY(imag))) {
            return function_refuse_range(self, i, arg, "a complex of floats");
        }
        memcpy(at, narrow, 8);
    } else {
        double both[2] = {real, imag};
        memcpy(at, both, 16);
    }
    return 0;
}

static int store_integer(Function *self, Py_ssize_t i, const Param *param, PyObject *arg,
                         unsigned char *at) {
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(arg, &overflow);
    uint64_t bits = (uint64_t)number;
    unsigned size = param->size;
    const char *to = param->sign == SIGN_SIGNED     ? "a signed integer of this size"
                     : param->sign == SIGN_UNSIGNED ? "an unsigned integer of this size"
                                                    : "an integer of this size";
    if (overflow > 0 && size == 8 && param->sign != SIGN_SIGNED) {
        bits = PyLong_AsUnsignedLongLong(arg);
        if (bits == (uint64_t)-1 && PyErr_Occurred()) {
            return function_refuse_range(self, i, arg, to);
        }
    } else if (overflow != 0) {
        return function_refuse_range(self, i, arg, to);
    } else if (size == 8 ? param->sign == SIGN_UNSIGNED && number < 0 : 0) {
        return function_refuse_range(self, i, arg, to);
    } else if (size < 8) {
        long long low = param->sign == SIGN_UNSIGNED ? 0 : -(1LL << (size * 8 - 1));
        long long high = (1LL << (size * 8 - (param->sign == SIGN_SIGNED))) - 1;
        if (number < low || number > high) {
            return function_refuse_range(self, i, arg, to);
        }
    }
    memcpy(at, &bits, size); /* all GPU hosts are little-endian, so the low bytes come first */
    return 0;
}

static int unknown_kind(Function *self, Py_ssize_t i, const Param *param, PyObject *arg) {
    return function_refuse(self, i,
                           "a Python %s cannot be converted, as only the size of the parameter is "
                           "known (%u bytes); pass a NumPy number of its type (numpy.int32, "
                           "numpy.float32, ..., numpy.uintp for an address)",
                           Py_TYPE(arg)->tp_name, (unsigned)param->size);
}

/* Python's own numbers: int, bool, float, complex. */
/* An object of a type that no parameter takes. */
static int refuse_type(Function *self, Py_ssize_t i, const Param *param, PyObject *arg) {
    const char *advice = "; pass a number";
    if (param->kind == PARAM_POINTER) {
        advice = "; pass an allocation or an array on the device, or wrap a NumPy array in In, Out "
                 "or InOut";
    } else if (param->kind == PARAM_STRUCT || param->kind == PARAM_UNKNOWN) {
        advice = "; pass a NumPy scalar of the same dtype";
    }
    return function_refuse(self, i, "invalid type: %s%s", Py_TYPE(arg)->tp_name, advice);
}

static int use_number(Function *self, Py_ssize_t i, const Param *param, PyObject *arg,
                      unsigned char *at) {
    double real = 0.0, imag = 0.0;
    if (param->kind == PARAM_UNKNOWN || param->kind == PARAM_STRUCT) {
        return unknown_kind(self, i, param, arg);
    }
    if (PyLong_Check(arg)) {
        if (param->kind == PARAM_POINTER) {
            return PyBool_Check(arg) ? refuse_kind(self, i, param, arg)
                                     : function_store_address(self, i, param, arg, arg, at);
        }
        if (param->kind == PARAM_INTEGER) {
            return store_integer(self, i, param, arg, at);
        }
        if (param->kind == PARAM_BOOL) {
            *at = PyObject_IsTrue(arg) == 1;
            return 0;
        }
        real = PyLong_AsDouble(arg);
        if (real == -1.0 && PyErr_Occurred()) {
            return function_refuse_range(self, i, arg, "a floating-point number");
        }
    } else if (PyFloat_Check(arg)) {
        real = PyFloat_AS_DOUBLE(arg);
    } else {
        Py_complex number = PyComplex_AsCComplex(arg);
        if (param->kind != PARAM_COMPLEX) {
            return refuse_kind(self, i, param, arg);
        }
        real = number.real;
        imag = number.imag;
    }
    switch (param->kind) {
    case PARAM_FLOAT:
        return store_real(self, i, param, arg, real, at);
    case PARAM_BFLOAT:
        return store_bfloat(self, i, arg, real, at);
    case PARAM_COMPLEX:
        return store_complex(self, i, param, arg, real, imag, at);
    default:
        return refuse_kind(self, i, param, arg);
    }
}

/* ---- NumPy ----------------------------------------------------------------------------------- */

/* Whether bytes of a NumPy type of this kind are what the kernel reads. */
static int kind_fits(const Param *param, char kind, size_t size) {
    int whole = kind == 'i' || kind == 'u' || kind == 'b';
    switch (param->kind) {
    case PARAM_POINTER:
        return (kind == 'i' || kind == 'u') && size == sizeof(CUdeviceptr);
    case PARAM_INTEGER:
        return whole || kind == 'm' || kind == 'M' || kind == 'V';
    case PARAM_BOOL:
        return whole;
    case PARAM_FLOAT:
        return kind == 'f' || kind == 'V';
    case PARAM_BFLOAT:
        return kind == 'V' || kind == 'u';
    case PARAM_COMPLEX:
        return kind == 'c' || kind == 'V' ||
               kind == 'f'; /* some use float2 as a complex number, others as two floats or as an
                             * array of two */
    default:
        return 1;
    }
}

static uint8_t copy_of(size_t size) {
    return size == 1   ? COPY_1
           : size == 2 ? COPY_2
           : size == 4 ? COPY_4
           : size == 8 ? COPY_8
                       : COPY_16;
}

/* The size of a plain number, whose bytes follow the object header; 0 if it is not one. */
static size_t plain_number(PyTypeObject *type, char *kind) {
#define NUMBER(Type, c_type, code)         \
    if (type == &Py##Type##ArrType_Type) { \
        *kind = code;                      \
        return sizeof(c_type);             \
    }
    NUMBER(Int, int, 'i')
    NUMBER(Float, float, 'f')
    NUMBER(Double, double, 'f')
    NUMBER(Long, long, 'i')
    NUMBER(UInt, int, 'u')
    NUMBER(ULong, long, 'u')
    NUMBER(LongLong, long long, 'i')
    NUMBER(ULongLong, long long, 'u')
    NUMBER(Byte, char, 'i')
    NUMBER(UByte, char, 'u')
    NUMBER(Short, short, 'i')
    NUMBER(UShort, short, 'u')
    NUMBER(Bool, char, 'b')
    NUMBER(Half, npy_half, 'f')
    NUMBER(CFloat, npy_cfloat, 'c')
    NUMBER(CDouble, npy_cdouble, 'c')
#undef NUMBER
    return 0;
}

static int use_scalar(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                      unsigned char *at) {
    char kind = 'V';
    size_t size = plain_number(Py_TYPE(arg), &kind);
    if (size != 0) {
        if (kind == 'b' && param->size != 1) { /* numpy.bool_ is treated like Python's bool */
            PyObject *number = PyBool_FromLong(((PyBoolScalarObject *)arg)->obval);
            int result = use_number(self, i, param, number, at);
            Py_DECREF(number);
            return result;
        }
        if (size != param->size) {
            return refuse_size(self, i, param, arg, size);
        }
        if (!kind_fits(param, kind, size)) {
            return refuse_kind(self, i, param, arg);
        }
        memcpy(at, (const char *)arg + NUMBER_AT, size);
        param->exact = Py_TYPE(arg);
        param->copy = copy_of(size);
        return 0;
    }
    PyArray_Descr *dtype = PyArray_DescrFromScalar(arg);
    if (dtype == NULL) {
        return -1;
    }
    size = (size_t)PyDataType_ELSIZE(dtype);
    kind = dtype->kind;
    int result = 0;
    if (PyDataType_REFCHK(dtype)) {
        result = function_refuse(self, i, "the %s holds Python objects", Py_TYPE(arg)->tp_name);
    } else if (kind == 'U' || kind == 'S') {
        result = refuse_type(self, i, param, arg);
    } else if (size != param->size) {
        result = refuse_size(self, i, param, arg, size);
    } else if (!kind_fits(param, kind, size)) {
        result = refuse_kind(self, i, param, arg);
    } else if (PyArray_IsScalar(arg, Void)) {
        memcpy(at, ((PyVoidScalarObject *)arg)->obval, size);
    } else {
        PyArray_ScalarAsCtype(arg, at);
    }
    Py_DECREF(dtype);
    return result;
}

static PyObject *owner_of(PyArrayObject *array) {
    PyObject *base = PyArray_BASE(array);
    while (base != NULL && PyArray_Check(base)) {
        base = PyArray_BASE((PyArrayObject *)base);
    }
    return base;
}

static int use_array(Function *self, Py_ssize_t i, Param *param, PyObject *arg, unsigned char *at,
                     const Launch *launch, Keep *keep) {
    PyArrayObject *array = (PyArrayObject *)arg;
    PyObject *owner = owner_of(array);
    if (owner != NULL && PyObject_TypeCheck(owner, self->state->ManagedAllocationType)) {
        CUdeviceptr pointer; /* managed memory has the same address on host and device */
        PyTypeObject *exact = param->exact;
        uint8_t copy = param->copy;
        if (function_check_dtype(self, i, param, arg, PyArray_DESCR(array)) < 0) {
            return -1;
        }
        int result =
            function_use_allocation(self, i, param, owner, (unsigned char *)&pointer, launch);
        param->exact = exact;
        param->copy = copy;
        if (result == 0) {
            pointer = (CUdeviceptr)(uintptr_t)PyArray_DATA(array);
            memcpy(at, &pointer, sizeof pointer);
            result = keep_add(keep, Py_NewRef(owner));
        }
        return result;
    }
    PyArray_Descr *dtype = PyArray_DESCR(array);
    size_t size = (size_t)PyArray_NBYTES(array);
    if (PyDataType_REFCHK(dtype)) {
        return function_refuse(self, i, "the array holds Python objects");
    }
    if (param->kind == PARAM_POINTER &&
        !(PyArray_NDIM(array) == 0 && kind_fits(param, dtype->kind, size))) {
        return refuse_kind(self, i, param, arg); /* even one of 8 bytes, because it is not an
                                                  * address */
    }
    if (size != param->size) {
        return function_refuse(self, i,
                               "expected %u bytes, but the array passed by value has %zu; wrap "
                               "it in In, Out or InOut to pass a pointer to its values",
                               (unsigned)param->size, size);
    }
    if (!kind_fits(param, dtype->kind, size) && PyArray_SIZE(array) == 1) {
        return refuse_kind(self, i, param, arg);
    }
    if (PyArray_ISNOTSWAPPED(array) &&
        (PyArray_IS_C_CONTIGUOUS(array) || PyArray_IS_F_CONTIGUOUS(array))) {
        memcpy(at, PyArray_DATA(array), size);
        return 0;
    }
    return function_refuse(
        self, i, "an array passed by value must be contiguous and in the machine's byte order");
}

/* One of our arrays: passes the address of its first item. */
static int use_device_array(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                            unsigned char *at, const Launch *launch, Keep *keep) {
    GPUArray *array = (GPUArray *)arg;
    if (array->base_data == Py_None) {
        return function_refuse(self, i, "the array has no memory");
    }
    if (function_check_dtype(self, i, param, arg, array->dtype) < 0) {
        return -1;
    }
    int result =
        function_use_pointer(self, i, param, arg, Py_NewRef(array->base_data), at, launch, keep);
    if (result == 0 && array->offset != 0) {
        CUdeviceptr pointer;
        memcpy(&pointer, at, sizeof pointer);
        pointer += (CUdeviceptr)array->offset;
        memcpy(at, &pointer, sizeof pointer);
    }
    return result;
}

/* ---- all other types ------------------------------------------------------------------------- */

/* bytes, ctypes structures and similar: the bytes of a struct. */
static int use_bytes(Function *self, Py_ssize_t i, const Param *param, PyObject *arg,
                     unsigned char *at) {
    Py_buffer view;
    if (PyObject_GetBuffer(arg, &view, PyBUF_ANY_CONTIGUOUS) < 0) {
        return -1;
    }
    int result = 0;
    if ((size_t)view.len != param->size) {
        result = refuse_size(self, i, param, arg, (size_t)view.len);
    } else {
        result = PyBuffer_ToContiguous(at, &view, view.len, 'A');
    }
    PyBuffer_Release(&view);
    return result;
}

/* Objects recognized by their attributes or by the protocols they implement. */
static int use_protocol(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                        unsigned char *at, const Launch *launch, Keep *keep) {
    int used = function_use_gpudata(self, i, param, arg, at, launch, keep);
    if (used == 0) {
        used = function_use_interface(self, i, param, arg, at, launch, keep);
    }
    if (used != 0) {
        return used < 0 ? -1 : 0;
    }
    if (PyIndex_Check(arg) && param->kind != PARAM_FLOAT && param->kind != PARAM_BFLOAT &&
        param->kind != PARAM_COMPLEX) { /* handles of textures and similar */
        PyObject *number = PyNumber_Index(arg);
        if (number == NULL) {
            return -1;
        }
        int result = param->size == 8 && param->kind == PARAM_UNKNOWN
                         ? function_store_address(self, i, param, arg, number, at)
                         : use_number(self, i, param, number, at);
        Py_DECREF(number);
        return result;
    }
    if (PyObject_CheckBuffer(arg) && param->kind != PARAM_POINTER) {
        return use_bytes(self, i, param, arg, at);
    }
    if (param->kind == PARAM_POINTER && arg == Py_None) {
        return function_refuse(self, i, "None is not a pointer; pass 0 for a null pointer");
    }
    return refuse_type(self, i, param, arg);
}

int function_convert(Function *self, Py_ssize_t i, Param *param, PyObject *arg, unsigned char *at,
                     const Launch *launch, Keep *keep) {
    State *state = self->state;
    if (Py_TYPE(arg) == param->exact && param->copy == COPY_GPUDATA) {
        int used = function_use_gpudata(self, i, param, arg, at, launch, keep);
        if (used != 0) {
            return used < 0 ? -1 : 0;
        }
    }
    if (state->common.array_type != NULL &&
        PyObject_TypeCheck(arg, (PyTypeObject *)state->common.array_type)) {
        return use_device_array(self, i, param, arg, at, launch, keep);
    }
    if (PyLong_Check(arg) || (PyFloat_Check(arg) && !PyArray_IsScalar(arg, Generic)) ||
        (PyComplex_Check(arg) && !PyArray_IsScalar(arg, Generic))) {
        return use_number(self, i, param, arg, at);
    }
    if (PyObject_TypeCheck(arg, state->DeviceAllocationType) ||
        PyObject_TypeCheck(arg, state->PooledDeviceAllocationType)) {
        return function_use_allocation(self, i, param, arg, at, launch);
    }
    if (PyArray_IsScalar(arg, Generic)) {
        return use_scalar(self, i, param, arg, at);
    }
    if (PyArray_Check(arg)) {
        return use_array(self, i, param, arg, at, launch, keep);
    }
    if (PyObject_TypeCheck(arg, state->ArgumentHandlerType)) {
        if (check_handler(self, i, param, (Handler *)arg) < 0) {
            return -1;
        }
        PyObject *allocation = handler_device_alloc((Handler *)arg);
        return allocation != NULL
                   ? function_use_pointer(self, i, param, arg, allocation, at, launch, keep)
                   : -1;
    }
    if (PyObject_TypeCheck(arg, state->PointerHolderBaseType)) {
        return function_use_pointer(self, i, param, arg, Py_NewRef(arg), at, launch, keep);
    }
    return use_protocol(self, i, param, arg, at, launch, keep);
}

/* The alignment of a struct in C: that of its most aligned member. */
static size_t align_of(PyArray_Descr *dtype) {
    size_t align = (size_t)PyDataType_ALIGNMENT(dtype);
    if (PyDataType_HASSUBARRAY(dtype)) {
        return align_of(PyDataType_SUBARRAY(dtype)->base);
    }
    if (PyDataType_HASFIELDS(dtype)) {
        PyObject *key, *field;
        Py_ssize_t at = 0;
        while (PyDict_Next(PyDataType_FIELDS(dtype), &at, &key, &field)) {
            size_t of_field = align_of((PyArray_Descr *)PyTuple_GET_ITEM(field, 0));
            align = of_field > align ? of_field : align;
        }
        while (align > 1 && (size_t)PyDataType_ELSIZE(dtype) % align != 0) {
            align /= 2; /* a packed struct */
        }
    }
    return align > 0 ? align : 1;
}

/* For a ctypes Structure, Union, Array or number; other objects are ignored. Returns -1 with an
 * exception. */
static int ctypes_align(PyObject *arg, size_t *align) {
    PyObject *modules = PyImport_GetModuleDict(),
             *ctypes = Py_XNewRef(PyDict_GetItemString(modules, "ctypes")); /* a program with such
                                                                             * an object has
                                                                             * imported it */
    PyObject *base = ctypes != NULL ? PyObject_GetAttrString(ctypes, "Structure") : NULL,
             *answer = NULL;
    PyObject *data = base != NULL ? PyObject_GetAttrString(base, "__base__") : NULL; /* _CData */
    int is = data != NULL ? PyObject_IsInstance(arg, data) : ctypes != NULL ? -1 : 0;
    if (is > 0) {
        answer = PyObject_CallMethod(ctypes, "alignment", "O", arg);
        size_t bytes = 1;
        is = answer == NULL || pg_as_size(answer, "kernel call", "alignment", &bytes) < 0 ? -1 : 0;
        *align = bytes > 0 ? bytes : 1;
    }
    Py_XDECREF(answer);
    Py_XDECREF(data);
    Py_XDECREF(base);
    Py_XDECREF(ctypes);
    return is;
}

int function_natural(Function *self, Py_ssize_t i, PyObject *arg, size_t *size, size_t *align) {
    *size = *align = sizeof(CUdeviceptr);
    if (PyLong_Check(arg) || (PyFloat_Check(arg) && !PyArray_IsScalar(arg, Generic)) ||
        (PyComplex_Check(arg) && !PyArray_IsScalar(arg, Generic))) {
        return function_refuse(
            self, i,
            "a Python %s cannot be converted, as nothing is known of the parameters (the driver is "
            "older than 12.4, and the module has no PTX); "
            "pass a NumPy number (numpy.int32, numpy.float32, ..., numpy.uintp for an address)",
            Py_TYPE(arg)->tp_name);
    }
    PyArray_Descr *dtype = NULL;
    if (PyArray_IsScalar(arg, Generic)) {
        dtype = PyArray_DescrFromScalar(arg);
        if (dtype == NULL) {
            return -1;
        }
        *size = (size_t)PyDataType_ELSIZE(dtype);
    } else if (PyArray_Check(arg)) {
        PyObject *owner = owner_of((PyArrayObject *)arg);
        if (owner != NULL && PyObject_TypeCheck(owner, self->state->ManagedAllocationType)) {
            return 0;
        }
        dtype = (PyArray_Descr *)Py_NewRef(PyArray_DESCR((PyArrayObject *)arg));
        *size = (size_t)PyArray_NBYTES((PyArrayObject *)arg);
    }
    if (dtype != NULL) {
        *align = align_of(dtype);
        Py_DECREF(dtype);
    } else if (PyObject_CheckBuffer(arg) &&
               !PyObject_TypeCheck(arg, self->state->DeviceAllocationType)) {
        Py_buffer view;
        if (PyObject_GetBuffer(arg, &view, PyBUF_ANY_CONTIGUOUS) < 0) {
            return -1;
        }
        *size = (size_t)view.len;
        *align = 1;
        PyBuffer_Release(&view);
        return ctypes_align(arg, align);
    }
    return 0;
}
