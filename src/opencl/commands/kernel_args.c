/* kernel_args.c - converts Python objects to kernel arguments by the types that the kernel
 * declares, and checks them. */
#include "common/gpuarray.h"
#include "opencl/commands/box.h"
#include "opencl/context.h"
#include "opencl/memory.h"
#include "opencl/objects/kernel.h"
#include "opencl/objects/sampler.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"
#include "opencl/svm.h"

/* ---- errors ---------------------------------------------------------------------------------- */

int kernel_refuse(Kernel *self, cl_uint i, const char *format, ...) {
    PyObject *declaration = self->slots[i].declaration;
    PG_FORMATTED(what,
                 ocl_reject_type(self->state, "Kernel.set_arg", CL_INVALID_VALUE,
                                 "when processing arg#%u (1-based) of kernel '%U'%s%V%s: %U",
                                 (unsigned)(i + 1), self->name, declaration != NULL ? ", '" : "",
                                 declaration, "", declaration != NULL ? "'" : "", what),
                 -1);
}

static int refuse_range(Kernel *self, cl_uint i, PyObject *arg) {
    PyErr_Clear();
    PyObject *text = PyObject_Repr(arg), *declaration = self->slots[i].declaration;
    if (text == NULL) {
        PyErr_Clear();
    }
    PyErr_Format(PyExc_OverflowError, "kernel '%U', arg#%u (1-based)%s%V%s: %V does not fit",
                 self->name, (unsigned)(i + 1), declaration != NULL ? ", '" : "", declaration, "",
                 declaration != NULL ? "'" : "", text, "the number");
    Py_XDECREF(text);
    return -1;
}

PyObject *kernel_raise_set(Kernel *self, cl_uint i, const char *routine, cl_int status) {
    PyObject *declaration = self->slots[i].declaration;
    return ocl_raise_with(self->state, routine, status,
                          "when processing arg#%u (1-based) of kernel '%U'%s%V%s%s",
                          (unsigned)(i + 1), self->name, declaration != NULL ? ", '" : "",
                          declaration, "", declaration != NULL ? "'" : "",
                          status == CL_INVALID_ARG_SIZE ? ": the value has another size" : "");
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int store_integer(Kernel *self, cl_uint i, PyObject *arg, cl_long number, ArgValue *out) {
    const ArgSlot *slot = &self->slots[i];
    if (slot->size < 8) {
        int bits = (int)slot->size * 8 - slot->is_signed;
        cl_long low = slot->is_signed ? -((cl_long)1 << bits) : 0, high = ((cl_long)1 << bits) - 1;
        if (number < low || number > high) {
            return refuse_range(self, i, arg);
        }
    } else if (!slot->is_signed && number < 0) {
        return refuse_range(self, i, arg);
    }
    out->value.integer =
        number; /* all hosts with OpenCL are little-endian, so the low bytes come first */
    out->size = slot->size;
    return 0;
}

static int integer_from_long(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(arg, &overflow);
    if (overflow > 0 && self->slots[i].size == 8 && !self->slots[i].is_signed) {
        unsigned long long large = PyLong_AsUnsignedLongLong(arg);
        if (large == (unsigned long long)-1 && PyErr_Occurred()) {
            return refuse_range(self, i, arg);
        }
        out->value.integer = (cl_long)large;
        out->size = 8;
        return 0;
    }
    if (overflow != 0) {
        return refuse_range(self, i, arg);
    }
    return store_integer(self, i, arg, number, out);
}

static int store_float(Kernel *self, cl_uint i, PyObject *arg, double number, ArgValue *out) {
    size_t size = self->slots[i].size;
    out->size = size;
    out->value.integer = 0;
    int fits = size == 2
                   ? PyFloat_Pack2(number, (char *)out->value.bytes, 1) == 0
                   : kernel_float_word(size, number, &out->value.integer) || Py_IS_INFINITY(number);
    return fits ? 0 : refuse_range(self, i, arg);
}

static int store_complex(Kernel *self, cl_uint i, PyObject *arg, double real, double imag,
                         ArgValue *out) {
    out->size = self->slots[i].size;
    if (out->size == 8) {
        float narrow[2] = {(float)real, (float)imag};
        if ((Py_IS_INFINITY(narrow[0]) && !Py_IS_INFINITY(real)) ||
            (Py_IS_INFINITY(narrow[1]) && !Py_IS_INFINITY(imag))) {
            return refuse_range(self, i, arg);
        }
        memcpy(out->value.numbers, narrow, sizeof narrow);
    } else {
        out->value.pair[0] = real;
        out->value.pair[1] = imag;
    }
    return 0;
}

/* Returns 1 and the kind ('b', 'i', 'u', 'f', 'c') and value if arg is a NumPy number, 0 if not
 * (also if it is longer than double), -1 on error. */
typedef struct {
    char kind;
    int size;
    cl_long integer; /* the bits of an integer or bool */
    double real, imag;
} Number;

static int read_numpy(PyObject *arg, Number *out) {
#define READ(Type, type, code, as)                           \
    if (Py_TYPE(arg) == &Py##Type##ArrType_Type) {           \
        type value = ((Py##Type##ScalarObject *)arg)->obval; \
        out->kind = code;                                    \
        out->size = (int)sizeof value;                       \
        as;                                                  \
        return 1;                                            \
    }
    READ(Float, float, 'f', out->real = value)
    READ(Double, double, 'f', out->real = value)
    READ(Int, int, 'i', out->integer = value)
    READ(Long, long, 'i', out->integer = value)
    READ(UInt, unsigned int, 'u', out->integer = value)
    READ(ULong, unsigned long, 'u', out->integer = (cl_long)value)
    READ(LongLong, long long, 'i', out->integer = value)
    READ(ULongLong, unsigned long long, 'u', out->integer = (cl_long)value)
    READ(Short, short, 'i', out->integer = value)
    READ(UShort, unsigned short, 'u', out->integer = value)
    READ(Byte, signed char, 'i', out->integer = value)
    READ(UByte, unsigned char, 'u', out->integer = value)
    READ(Bool, npy_bool, 'b', out->integer = value)
    READ(CFloat, npy_cfloat, 'c', (out->real = npy_crealf(value), out->imag = npy_cimagf(value)))
    READ(CDouble, npy_cdouble, 'c', (out->real = npy_creal(value), out->imag = npy_cimag(value)))
#undef READ
    if (Py_TYPE(arg) == &PyHalfArrType_Type) {
        out->kind = 'f';
        out->size = 2;
        out->real = PyFloat_Unpack2((const char *)&((PyHalfScalarObject *)arg)->obval, 1);
        return 1;
    }
    return 0;
}

static int from_number(Kernel *self, cl_uint i, PyObject *arg, const Number *number,
                       ArgValue *out) {
    const ArgSlot *slot = &self->slots[i];
    int whole = number->kind == 'i' || number->kind == 'u' || number->kind == 'b';
    double real = whole ? number->kind == 'u' ? (double)(cl_ulong)number->integer
                                              : (double)number->integer
                        : number->real;
    switch (slot->kind) {
    case ARG_INTEGER:
        if (!whole) {
            return kernel_refuse(
                self, i,
                "a %s number is not converted to an integer; pass int(...) or a NumPy integer",
                pg_type_name(arg));
        }
        if (number->kind != 'b' &&
            number->size == (int)slot->size) { /* converted as in C, between signed and unsigned */
            out->value.integer = number->integer;
            out->size = slot->size;
            return 0;
        }
        if (number->kind == 'u' && number->integer < 0) { /* 2**63 or more, for a smaller type */
            return refuse_range(self, i, arg);
        }
        return store_integer(self, i, arg, number->integer, out);
    case ARG_FLOAT:
        return number->kind == 'c'
                   ? kernel_refuse(self, i, "a complex number is not converted to a real one")
                   : store_float(self, i, arg, real, out);
    default:
        return store_complex(self, i, arg, real, number->kind == 'c' ? number->imag : 0.0, out);
    }
}

/* Raises the error for an arg that is not a number and has no bytes. */
static int refuse_object(Kernel *self, cl_uint i, PyObject *arg) {
    const ArgSlot *slot = &self->slots[i];
    if (slot->kind == ARG_BYTES && slot->size != 0 && PyNumber_Check(arg)) {
        return kernel_refuse(self, i,
                             "expected a struct of %zu bytes, not a Python %s; pass a "
                             "NumPy scalar of a structured dtype",
                             slot->size, pg_type_name(arg));
    }
    if (slot->kind == ARG_BYTES && slot->size == 0 && (PyNumber_Check(arg) || PyBool_Check(arg))) {
        return kernel_refuse(self, i,
                             "the type's size is not known here, so a Python %s cannot be "
                             "converted; pass a NumPy scalar of the right dtype",
                             pg_type_name(arg));
    }
    return kernel_refuse(self, i, "invalid kernel argument: %s%s", pg_type_name(arg),
                         slot->kind == ARG_BYTES ? "; pass a number" : "");
}

static void refuse_size(Kernel *self, cl_uint i, PyObject *arg, size_t size) {
    const ArgSlot *slot = &self->slots[i];
    if (slot->size != 0) {
        ocl_reject_type(
            self->state, "Kernel.set_arg", CL_INVALID_ARG_SIZE,
            "when processing arg#%u (1-based) of kernel '%U', '%V': it has %zu bytes, not %zu",
            (unsigned)(i + 1), self->name, slot->declaration, "", size, slot->size);
    } else {
        kernel_refuse(self, i, "the %s is empty", pg_type_name(arg));
    }
}

/* Takes the bytes of other objects that have a buffer (bytes, ctypes, structs). */
static int convert_bytes(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    const ArgSlot *slot = &self->slots[i];
    Py_buffer view;
    if (PyArray_IsScalar(arg, Void) || PyArray_Check(arg) || PyArray_IsScalar(arg, Generic)) {
        PyArray_Descr *dtype = PyArray_Check(arg)
                                   ? (PyArray_Descr *)Py_NewRef(PyArray_DESCR((PyArrayObject *)arg))
                                   : PyArray_DescrFromScalar(arg);
        int has_objects = dtype == NULL || PyDataType_REFCHK(dtype);
        Py_XDECREF(dtype);
        if (has_objects) {
            PyErr_Clear();
            return kernel_refuse(self, i, "the %s holds Python objects", pg_type_name(arg));
        }
    }
    if (PyUnicode_Check(arg) ||
        PyObject_GetBuffer(arg, &view, PyBUF_ANY_CONTIGUOUS) < 0) { /* numpy.str_ has a buffer,
                                                                     * too */
        PyErr_Clear();
        return refuse_object(self, i, arg);
    }
    size_t size = (size_t)view.len;
    int result = -1;
    if (size == 0 || (slot->size != 0 && size != slot->size &&
                      !(slot->of_three && size * 4 == slot->size * 3))) {
        refuse_size(self, i, arg, size);
        goto done;
    }
    unsigned char *bytes = out->value.bytes;
    size_t room = slot->size > size ? slot->size : size;
    if (room > sizeof out->value.bytes) {
        bytes = out->large = PyMem_Malloc(room);
        if (bytes == NULL) {
            PyErr_NoMemory();
            goto done;
        }
    }
    out->value.integer = 0;
    memset(bytes + size, 0, room - size);
    if (PyBuffer_ToContiguous(bytes, &view, view.len, 'A') < 0) {
        goto done;
    }
    out->size = room;
    result = 0;
done:
    PyBuffer_Release(&view);
    return result;
}

/* For NumPy scalars that read_numpy() does not know: their bytes are not always what the argument
 * means. */
static int convert_scalar(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    const ArgSlot *slot = &self->slots[i];
    if (PyArray_IsScalar(arg, LongDouble) && slot->kind != ARG_INTEGER) {
        double real = PyFloat_AsDouble(arg);
        if (real == -1.0 && PyErr_Occurred()) {
            return -1;
        }
        return slot->kind == ARG_FLOAT ? store_float(self, i, arg, real, out)
                                       : store_complex(self, i, arg, real, 0.0, out);
    }
    PyArray_Descr *dtype = PyArray_DescrFromScalar(arg);
    if (dtype == NULL) {
        return -1;
    }
    char kind = dtype->kind;
    Py_DECREF(dtype);
    if (kind == 'V' || kind == 'S' || ((kind == 'm' || kind == 'M') && slot->kind == ARG_INTEGER)) {
        return convert_bytes(self, i, arg, out);
    }
    PyObject *array = strchr("biufc", kind) != NULL ? PyArray_FromScalar(arg, NULL)
                                                    : NULL; /* possibly a subclass */
    PyObject *plain = array != NULL ? PyArray_ToScalar(PyArray_DATA((PyArrayObject *)array),
                                                       (PyArrayObject *)array)
                                    : NULL;
    int result =
        plain != NULL && Py_TYPE(plain) != Py_TYPE(arg) ? kernel_convert(self, i, plain, out)
        : PyErr_Occurred()
            ? -1
            : kernel_refuse(self, i, "a %s is not converted to this type", pg_type_name(arg));
    Py_XDECREF(array);
    Py_XDECREF(plain);
    return result;
}

static int convert_number(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    const ArgSlot *slot = &self->slots[i];
    Number number = {0, 0, 0, 0.0, 0.0};
    if (PyLong_Check(arg)) { /* includes bool */
        if (slot->kind == ARG_INTEGER) {
            return integer_from_long(self, i, arg, out);
        }
        double real = PyLong_AsDouble(arg);
        if (real == -1.0 && PyErr_Occurred()) {
            return refuse_range(self, i, arg);
        }
        return slot->kind == ARG_FLOAT ? store_float(self, i, arg, real, out)
                                       : store_complex(self, i, arg, real, 0.0, out);
    }
    int is_numpy = read_numpy(arg, &number);
    if (is_numpy) {
        return from_number(self, i, arg, &number, out);
    }
    if (PyFloat_Check(arg)) {
        if (slot->kind == ARG_INTEGER) {
            return kernel_refuse(self, i, "a float is not converted to an integer; pass int(...)");
        }
        double real = PyFloat_AS_DOUBLE(arg);
        return slot->kind == ARG_FLOAT ? store_float(self, i, arg, real, out)
                                       : store_complex(self, i, arg, real, 0.0, out);
    }
    if (PyComplex_Check(arg)) {
        if (slot->kind != ARG_COMPLEX) {
            return kernel_refuse(self, i, "a complex number is not converted to a real one");
        }
        Py_complex value = PyComplex_AsCComplex(arg);
        return store_complex(self, i, arg, value.real, value.imag, out);
    }
    if (PyArray_Check(arg) && PyArray_SIZE((PyArrayObject *)arg) == 1 &&
        PyArray_DESCR((PyArrayObject *)arg)->kind != 'O' &&
        PyArray_DESCR((PyArrayObject *)arg)->kind != 'V') {
        PyObject *scalar =
            PyArray_ToScalar(PyArray_DATA((PyArrayObject *)arg), (PyArrayObject *)arg);
        int result = scalar != NULL && !PyArray_Check(scalar) ? kernel_convert(self, i, scalar, out)
                                                              : -1;
        Py_XDECREF(scalar);
        return result;
    }
    if (PyArray_Check(arg) && PyArray_SIZE((PyArrayObject *)arg) != 1) {
        return kernel_refuse(
            self, i,
            "an array of %zd items is not a number; a kernel reads arrays through a Buffer",
            PyArray_SIZE((PyArrayObject *)arg));
    }
    if (PyArray_IsScalar(arg, Generic)) {
        return convert_scalar(self, i, arg, out);
    }
    if (slot->kind != ARG_FLOAT && PyIndex_Check(arg) && !PyArray_Check(arg)) {
        PyObject *index = PyNumber_Index(arg);
        int result = index != NULL ? kernel_convert(self, i, index, out) : -1;
        Py_XDECREF(index);
        return result;
    }
    return convert_bytes(self, i, arg, out);
}

/* ---- objects --------------------------------------------------------------------------------- */

static int convert_local(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    if (!PyObject_TypeCheck(arg, self->state->LocalMemoryType)) {
        return kernel_refuse(self, i, "a __local pointer takes a LocalMemory(bytes), not %s",
                             pg_type_name(arg));
    }
    if (((LocalMemory *)arg)->size == 0) {
        return kernel_refuse(
            self, i, "the %s was not made yet: its __init__ has to call super().__init__() first",
            pg_type_name(arg));
    }
    out->set = SET_LOCAL;
    out->size = ((LocalMemory *)arg)->size;
    return 0;
}

static int convert_handle(Kernel *self, cl_uint i, PyObject *arg, PyTypeObject *type,
                          const char *wanted, ArgValue *out) {
    if (!PyObject_TypeCheck(arg, type)) {
        return kernel_refuse(self, i, "the kernel expects %s here, not %s", wanted,
                             pg_type_name(arg));
    }
    Context *context = type == self->state->SamplerType ? ((Sampler *)arg)->context
                                                        : ((Queue *)arg)->context;
    if (context == NULL) {
        return kernel_refuse(
            self, i, "the %s was not made yet: its __init__ has to call super().__init__() first",
            pg_type_name(arg));
    }
    if (context->context != self->context->context) {
        return kernel_refuse(self, i, "the %s belongs to another context", pg_type_name(arg));
    }
    out->value.handle = ((OclHandle *)arg)->handle;
    out->size = sizeof(void *);
    out->hold = arg;
    return 0;
}

static int convert_memory(Kernel *self, cl_uint i, PyObject *arg, int pipe, ArgValue *out) {
    const char *wanted = pipe ? "a pipe" : "an image";
    if (!PyObject_TypeCheck(arg, self->state->MemoryObjectHolderType)) {
        return kernel_refuse(self, i, "the kernel expects %s here, not %s", wanted,
                             pg_type_name(arg));
    }
    Memory *memory = (Memory *)arg;
    int is_pipe = memory->type == CL_MEM_OBJECT_PIPE,
        is_buffer = memory->type == CL_MEM_OBJECT_BUFFER;
    if (is_buffer || is_pipe != pipe) {
        return kernel_refuse(self, i, "the kernel expects %s here, not %s", wanted,
                             kernel_memory_kind(memory));
    }
    return kernel_use_memory(self, i, memory, out);
}

/* Nothing is known about the parameter, so the object's type decides. */
static int convert_unknown(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    State *state = self->state;
    if (PyObject_TypeCheck(arg, state->MemoryObjectHolderType)) {
        return kernel_use_memory(self, i, (Memory *)arg, out);
    }
    if (arg == Py_None || ocl_is_svm(state, arg)) {
        return kernel_convert_global(self, i, arg, out);
    }
    if (PyObject_TypeCheck(arg, state->LocalMemoryType)) {
        return convert_local(self, i, arg, out);
    }
    if (PyObject_TypeCheck(arg, state->SamplerType)) {
        return convert_handle(self, i, arg, state->SamplerType, "a Sampler", out);
    }
    if (PyObject_TypeCheck(arg, state->CommandQueueType)) {
        return convert_handle(self, i, arg, state->CommandQueueType, "a CommandQueue", out);
    }
    if (!PyObject_CheckBuffer(arg)) {
        if (PyNumber_Check(arg)) {
            return kernel_refuse(
                self, i,
                "the argument's type is not known (the program was made from a binary), so a "
                "Python %s cannot be converted; pass a NumPy scalar, "
                "or declare the types with set_scalar_arg_dtypes",
                pg_type_name(arg));
        }
        return kernel_use_array(self, i, arg, out);
    }
    return convert_bytes(self, i, arg, out);
}

/* Whether the numbers of an array, or of the first field of a struct, have the vector's kind and
 * size, so that their bytes can be used. */
static int fits_vector(const ArgSlot *slot, PyArray_Descr *dtype) {
    while (PyDataType_HASFIELDS(dtype) || PyDataType_HASSUBARRAY(dtype)) {
        if (PyDataType_HASSUBARRAY(dtype)) {
            dtype = PyDataType_SUBARRAY(dtype)->base;
            continue;
        }
        PyObject *names = PyDataType_NAMES(dtype);
        PyObject *field = PyTuple_GET_SIZE(names) > 0
                              ? PyDict_GetItem(PyDataType_FIELDS(dtype), PyTuple_GET_ITEM(names, 0))
                              : NULL;
        if (field == NULL) {
            return 1;
        }
        dtype = (PyArray_Descr *)PyTuple_GET_ITEM(field, 0);
    }
    int is_float = dtype->kind == 'f' || dtype->kind == 'c';
    if (!is_float && dtype->kind != 'i' && dtype->kind != 'u' && dtype->kind != 'b') {
        return 1; /* plain bytes */
    }
    npy_intp size = PyDataType_ELSIZE(dtype) / (dtype->kind == 'c' ? 2 : 1);
    return is_float == slot->of_floats && size == slot->item_size &&
           PyArray_ISNBO(dtype->byteorder);
}

static int convert_vector(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    const ArgSlot *slot = &self->slots[i];
    if (slot->scalar_size !=
        0) { /* float2 and double2: pyopencl-complex.h makes complex numbers of them */
        Number number = {0, 0, 0, 0.0, 0.0};
        if (PyComplex_Check(arg) && !PyArray_IsScalar(arg, Generic)) {
            Py_complex value = PyComplex_AsCComplex(arg);
            return store_complex(self, i, arg, value.real, value.imag, out);
        }
        if (read_numpy(arg, &number) && number.kind == 'c') {
            return store_complex(self, i, arg, number.real, number.imag, out);
        }
    }
    if (PyArray_Check(arg) || PyArray_IsScalar(arg, Generic)) {
        PyArray_Descr *dtype = PyArray_Check(arg)
                                   ? (PyArray_Descr *)Py_NewRef(PyArray_DESCR((PyArrayObject *)arg))
                                   : PyArray_DescrFromScalar(arg);
        if (dtype == NULL) {
            return -1;
        }
        int fits = fits_vector(slot, dtype);
        if (!fits) {
            kernel_refuse(self, i, "numbers of dtype %S are not converted to those of the vector",
                          (PyObject *)dtype);
        }
        Py_DECREF(dtype);
        if (!fits) {
            return -1;
        }
    }
    return convert_bytes(self, i, arg, out);
}

/* An array and its offset in bytes, for a VectorArg(with_offset=True). */
static int convert_with_offset(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    PyTypeObject *ours = (PyTypeObject *)self->state->common.array_type;
    PyObject *base, *offset;
    int result = -1;
    if (ours != NULL && PyObject_TypeCheck(arg, ours)) {
        if (kernel_check_dtype(self, i, arg, ((GPUArray *)arg)->dtype, ".data or ") < 0) {
            return -1;
        }
        base = Py_NewRef(((GPUArray *)arg)->base_data);
        offset = PyLong_FromSsize_t(((GPUArray *)arg)->offset);
    } else {
        base = PyObject_GetAttrString(arg, "base_data");
        offset = base != NULL ? PyObject_GetAttrString(arg, "offset") : NULL;
    }
    if (offset == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        kernel_refuse(self, i, "expected an Array (declared as VectorArg), not %s",
                      pg_type_name(arg));
    } else if (offset != NULL && kernel_convert_global(self, i, base, out) == 0) {
        if (out->hold == base) {
            out->hold = Py_NewRef(base);
            out->owns_hold = 1;
        }
        result = kernel_convert(self, i + 1, offset, out + 1);
    }
    Py_XDECREF(base);
    Py_XDECREF(offset);
    return result;
}

int kernel_convert_other(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    const ArgSlot *slot = &self->slots[i];
    if (PG_UNLIKELY(slot->with_offset)) {
        out[1].hold = NULL;
        out[1].owns_hold = 0;
        out[1].large = NULL;
        return convert_with_offset(self, i, arg, out);
    }
    switch (slot->kind) {
    case ARG_GLOBAL:
        return kernel_convert_global(self, i, arg, out);
    case ARG_INTEGER:
    case ARG_FLOAT:
    case ARG_COMPLEX:
        return convert_number(self, i, arg, out);
    case ARG_LOCAL:
        return convert_local(self, i, arg, out);
    case ARG_IMAGE:
        return convert_memory(self, i, arg, 0, out);
    case ARG_PIPE:
        return convert_memory(self, i, arg, 1, out);
    case ARG_SAMPLER:
        return convert_handle(self, i, arg, self->state->SamplerType, "a Sampler", out);
    case ARG_QUEUE:
        return convert_handle(self, i, arg, self->state->CommandQueueType, "a CommandQueue", out);
    case ARG_VECTOR:
        return convert_vector(self, i, arg, out);
    case ARG_BYTES:
        return convert_bytes(self, i, arg, out);
    case ARG_UNKNOWN:
        break;
    }
    return convert_unknown(self, i, arg, out);
}

int kernel_held_alive(Kernel *self, cl_uint i, PyObject *held) {
    int released = 0;
    if (held == NULL) {
        return 0;
    }
    if (kernel_is_memory(self, held)) {
        released = ((Memory *)held)->mem == NULL;
    } else if (ocl_is_svm(self->state, held)) {
        const Svm *svm = (Svm *)held, *owner = svm->base != NULL ? svm->base : svm;
        released = svm->pointer == NULL || owner->pointer == NULL;
    }
    return released ? kernel_refuse(self, i, "the %s was released", pg_type_name(held)) : 0;
}
