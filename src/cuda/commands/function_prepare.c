/* function_prepare.c - prepare(), prepared_call() and similar methods: the argument types are
 * declared once, as format characters of the struct module, and numbers are converted as struct
 * does, with its exceptions. */
#include "cuda/cuda.h"
#include "cuda/memory.h"
#include "cuda/objects/function.h"

typedef struct {
    char code;
    uint32_t size, offset;
} Item;

struct Prepared {
    int refs; /* owned by the function, and by launches whose arguments may run code that prepares
               * it again */
    int n;
    size_t size;      /* of all parameters, in bytes */
    PyObject *format; /* str */
    Item items[1];    /* n */
};

void prepared_free(Prepared *prepared) {
    if (prepared != NULL && --prepared->refs == 0) {
        Py_XDECREF(prepared->format);
        PyMem_Free(prepared);
    }
}

static PyObject *struct_error(void) {
    static PyObject *error; /* cached until the process ends */
    if (error == NULL) {
        PyObject *module = PyImport_ImportModule("struct");
        error = module != NULL ? PyObject_GetAttrString(module, "error") : NULL;
        Py_XDECREF(module);
    }
    return error;
}

static int raise_struct(const char *format, ...) {
    PyObject *error = struct_error();
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        PyErr_FormatV(error, format, arguments);
        va_end(arguments);
    }
    return -1;
}

/* ---- declaration ----------------------------------------------------------------------------- */

static int size_of_code(char code, unsigned *size, unsigned *align) {
    switch (code) {
    case '?':
    case 'b':
    case 'B':
        *size = *align = 1;
        return 1;
    case 'h':
    case 'H':
    case 'e':
        *size = *align = 2;
        return 1;
    case 'i':
    case 'I':
    case 'f':
        *size = *align = 4;
        return 1;
    case 'l':
    case 'L':
        *size = *align = sizeof(long);
        return 1;
    case 'q':
    case 'Q':
    case 'd':
    case 'n':
    case 'N':
    case 'P':
        *size = *align = 8;
        return 1;
    case 'F':
        *size = 8;
        *align = 4;
        return 1;
    case 'D':
        *size = 16;
        *align = 8;
        return 1;
    default:
        return 0;
    }
}

/* Returns the format characters for one entry of arg_types: those of a NumPy type or dtype, a str
 * unchanged, "P" for anything else. */
static PyObject *chars_of(PyObject *entry) {
    if (PyUnicode_Check(entry)) {
        return Py_NewRef(entry);
    }
    PyArray_Descr *dtype = NULL;
    if (PyArray_DescrCheck(entry)) {
        dtype = (PyArray_Descr *)Py_NewRef(entry);
    } else if (PyType_Check(entry) &&
               PyType_IsSubtype((PyTypeObject *)entry, &PyGenericArrType_Type)) {
        dtype = PyArray_DescrFromTypeObject(entry);
        if (dtype == NULL) {
            return NULL;
        }
    }
    if (dtype == NULL) {
        return PyUnicode_FromString("P");
    }
    PyObject *chars = NULL;
    size_t size = (size_t)PyDataType_ELSIZE(dtype);
    if (PyDataType_REFCHK(dtype)) {
        PyErr_Format(PyExc_TypeError, "prepare: a kernel takes no Python objects (dtype %S)",
                     (PyObject *)dtype);
    } else if (dtype->type == 'V' || dtype->type == 'S' || dtype->type == 'U') {
        chars = PyUnicode_FromFormat("%zus", size);
    } else {
        char type = dtype->type;
        chars = PyUnicode_FromFormat("%c", type == 'p'                  ? 'n'
                                           : type == 'm' || type == 'M' ? 'q'
                                                                        : type);
    }
    Py_DECREF(dtype);
    return chars;
}

static PyObject *format_of(PyObject *arg_types) {
    if (PyUnicode_Check(arg_types)) {
        return Py_NewRef(arg_types);
    }
    PyObject *entries =
        pg_tuple(arg_types, "prepare", "arg_types", "types or struct characters", 32764);
    PyObject *list = entries != NULL ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; list != NULL && i < PyTuple_GET_SIZE(entries); i++) {
        pg_append(&list, chars_of(PyTuple_GET_ITEM(entries, i)));
    }
    Py_XDECREF(entries);
    return pg_join("", list);
}

#define MOST_BYTES 32764 /* the most that a kernel can take */

/* Parses the format. If out is NULL it only counts. */
static int parse(const char *text, Prepared *out, int *count, size_t *size) {
    int n = 0;
    size_t end = 0;
    const char *p = text;
    if (*p == '@') {
        p++;
    }
    while (*p != '\0') {
        if (*p == ' ') {
            p++;
            continue;
        }
        size_t repeat = 1;
        if (*p >= '0' && *p <= '9') {
            repeat = 0;
            while (*p >= '0' && *p <= '9' && repeat <= MOST_BYTES) {
                repeat = repeat * 10 + (size_t)(*p++ - '0');
            }
            if (repeat > MOST_BYTES) {
                return raise_struct("'%s': more than the %d bytes that a kernel may take", text,
                                    MOST_BYTES);
            }
        }
        char code = *p;
        unsigned item_size, align;
        if (code == 's') {
            item_size = (unsigned)repeat;
            align = 1;
            repeat = 1;
        } else if (code == 'x') {
            end += repeat;
            p++;
            continue;
        } else if (!size_of_code(code, &item_size, &align)) {
            return raise_struct("bad char in struct format: '%s'; allowed: ? b B h H i I l L q Q "
                                "n N e f d F D P s",
                                text);
        }
        p++;
        for (size_t k = 0; k < repeat; k++) {
            end = (end + align - 1) / align * align;
            if (end + item_size > MOST_BYTES) {
                return raise_struct("'%s': more than the %d bytes that a kernel may take", text,
                                    MOST_BYTES);
            }
            if (out != NULL) {
                out->items[n].code = code;
                out->items[n].size = item_size;
                out->items[n].offset = (uint32_t)end;
            }
            n++;
            end += item_size;
        }
    }
    *count = n;
    *size = end;
    return 0;
}

/* Moves the items to the offsets that the kernel reads. Each declared type must have the
 * parameter's size or more bytes. */
static int fit_to_parameters(Function *self, Prepared *prepared) {
    const Plan *plan = self->plan;
    if (plan->n_params < 0) {
        return 0;
    }
    int same = plan->n_params == prepared->n;
    int first = 0;
    while (same && first < prepared->n && prepared->items[first].size == plan->params[first].size) {
        first++;
    }
    if (same && first == prepared->n) {
        for (int i = 0; i < prepared->n; i++) {
            prepared->items[i].offset = plan->params[i].offset;
        }
        prepared->size = plan->size;
        return 0;
    }
    if (prepared->size == plan->size) {
        return 0; /* a struct whose members are declared one by one */
    }
    if (!same) {
        PyErr_Format(PyExc_TypeError,
                     "prepare: '%U' declares %d argument%s of %zu bytes in all, and kernel '%U' "
                     "takes %d of %zu",
                     prepared->format, prepared->n, prepared->n == 1 ? "" : "s", prepared->size,
                     self->name, plan->n_params, plan->size);
        return -1;
    }
    return function_refuse(self, first, "expected %u bytes, but '%c' of '%U' declares %u",
                           (unsigned)plan->params[first].size, prepared->items[first].code,
                           prepared->format, (unsigned)prepared->items[first].size);
}

PG_DOC_SHARED(
    Function_prepare__doc__, "prepare", "$self, /, arg_types, texrefs=None",
    "(arg_types: str | Iterable[str | type | np.dtype[Any]], texrefs: Sequence[Any] | None = None) "
    "-> Function",
    "Declare the types of the arguments, for prepared_call() and the other prepared calls; returns "
    "the function itself.\n\n"
    "arg_types: characters of the struct module (? b B h H i I l L q Q n N e f d, P for a pointer, "
    "F and D for complex numbers, 16s for\n"
    "bytes), or a sequence of those, of NumPy types and of dtypes; anything else means a pointer.\n"
    "Raises struct.error for other characters, TypeError if the kernel takes something else.");
PG_SHARED_FUNCTION(Function_prepare, 2)
static PyObject *Function_prepare_impl(PyObject *op, PyObject *const *a) {
    Function *self = (Function *)op;
    if (function_ready(self) < 0) {
        return NULL;
    }
    if (a[1] != NULL && a[1] != Py_None) {
        Py_ssize_t n = PyObject_Length(a[1]);
        if (n != 0) {
            return n < 0 ? NULL
                         : cud_raise_own(self->state, "cuParamSetTexRef", CUDA_ERROR_NOT_SUPPORTED,
                                         "CUDA 12 removed texture references; pass a TextureObject "
                                         "to the kernel as a parameter");
        }
    }
    PyObject *format = format_of(a[0]);
    const char *text = format != NULL ? PyUnicode_AsUTF8(format) : NULL;
    int n = 0;
    size_t size = 0;
    if (text == NULL || parse(text, NULL, &n, &size) < 0) {
        Py_XDECREF(format);
        return NULL;
    }
    Prepared *prepared = PyMem_Calloc(1, sizeof *prepared + (size_t)n * sizeof(Item));
    if (prepared == NULL) {
        Py_DECREF(format);
        return PyErr_NoMemory();
    }
    prepared->refs = 1;
    prepared->n = n;
    prepared->size = size;
    prepared->format = format;
    if (parse(text, prepared, &n, &size) < 0 || fit_to_parameters(self, prepared) < 0) {
        prepared_free(prepared);
        return NULL;
    }
    Prepared *old = self->prepared;
    self->prepared = prepared;
    prepared_free(old);
    return Py_NewRef(op);
}

PyObject *Function_get_arg_format(PyObject *op, void *Py_UNUSED(closure)) {
    const Prepared *prepared = ((Function *)op)->prepared;
    if (prepared == NULL) {
        PyErr_SetString(PyExc_AttributeError, "arg_format: the function was not prepared");
        return NULL;
    }
    return Py_NewRef(prepared->format);
}

/* ---- packing --------------------------------------------------------------------------------- */

/* As in struct.pack: __index__, and a range check for the type. */
static int pack_integer(const Item *item, PyObject *arg, unsigned char *at) {
    PyObject *index = PyLong_CheckExact(arg) ? Py_NewRef(arg) : PyNumber_Index(arg);
    if (index == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            return raise_struct("required argument is not an integer, but a %s (format '%c')",
                                Py_TYPE(arg)->tp_name, item->code);
        }
        return -1;
    }
    int is_signed = strchr("bhilqn", item->code) != NULL;
    unsigned bits = item->size * 8;
    int overflow = 0, fits = 1;
    long long number = PyLong_AsLongLongAndOverflow(index, &overflow);
    uint64_t value = (uint64_t)number;
    if (overflow != 0) {
        fits = overflow > 0 && !is_signed && bits == 64;
        if (fits) {
            value = PyLong_AsUnsignedLongLong(index);
            if (value == (uint64_t)-1 && PyErr_Occurred()) {
                PyErr_Clear();
                fits = 0;
            }
        }
    } else if (!is_signed) {
        fits = number >= 0 && (bits == 64 || number < 1LL << bits);
    } else if (bits < 64) {
        fits = number >= -(1LL << (bits - 1)) && number < 1LL << (bits - 1);
    }
    Py_DECREF(index);
    if (!fits) {
        return raise_struct("argument out of range for format '%c'", item->code);
    }
    memcpy(at, &value, item->size);
    return 0;
}

static int pack_real(const Item *item, PyObject *arg, unsigned char *at) {
    double number = PyFloat_CheckExact(arg) ? PyFloat_AS_DOUBLE(arg) : PyFloat_AsDouble(arg);
    if (number == -1.0 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            return raise_struct("required argument is not a float, but a %s (format '%c')",
                                Py_TYPE(arg)->tp_name, item->code);
        }
        return -1;
    }
    if (item->code == 'd') {
        memcpy(at, &number, 8);
    } else if (item->code == 'f') {
        float narrow = (float)number;
        if (Py_IS_INFINITY(narrow) && !Py_IS_INFINITY(number)) {
            PyErr_SetString(PyExc_OverflowError,
                            "float too large to pack with f format"); /* struct's message */
            return -1;
        }
        memcpy(at, &narrow, 4);
    } else if (PyFloat_Pack2(number, (char *)at, 1) < 0) {
        return -1;
    }
    return 0;
}

static int pack_complex(const Item *item, PyObject *arg, unsigned char *at) {
    Py_complex number = PyComplex_AsCComplex(arg);
    if (number.real == -1.0 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            return raise_struct("required argument is not a complex number, but a %s (format '%c')",
                                Py_TYPE(arg)->tp_name, item->code);
        }
        return -1;
    }
    if (item->code == 'F') {
        float both[2] = {(float)number.real, (float)number.imag};
        memcpy(at, both, 8);
    } else {
        double both[2] = {number.real, number.imag};
        memcpy(at, both, 16);
    }
    return 0;
}

static int pack_bytes(const Item *item, PyObject *arg, unsigned char *at) {
    Py_buffer view;
    if (PyUnicode_Check(arg) || PyObject_GetBuffer(arg, &view, PyBUF_ANY_CONTIGUOUS) < 0) {
        if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError)) {
            return -1;
        }
        PyErr_Clear();
        return raise_struct("argument for 's' must be a bytes-like object, not %s",
                            Py_TYPE(arg)->tp_name);
    }
    int result = 0;
    if ((size_t)view.len > item->size) {
        result = raise_struct("argument for '%us' has %zd bytes", (unsigned)item->size, view.len);
    } else {
        memset(at, 0, item->size);
        result = PyBuffer_ToContiguous(at, &view, view.len, 'A');
    }
    PyBuffer_Release(&view);
    return result;
}

/* A pointer: accepts whatever a launch accepts; otherwise raises struct's error. */
static int pack_pointer(Function *self, int n, int i, PyObject *arg, unsigned char *at,
                        const Launch *launch, Keep *keep) {
    static const Param pointer = {.size = sizeof(CUdeviceptr), .kind = PARAM_POINTER};
    if (Py_TYPE(arg) == self->state->DeviceAllocationType) {
        const Allocation *allocation = (const Allocation *)arg;
        if (!allocation->freed && allocation->context == self->context &&
            allocation->usage == NULL) {
            memcpy(at, &allocation->ptr, sizeof allocation->ptr);
            return 0;
        }
    }
    const Plan *plan = self->plan; /* the kernel's plan does not change */
    Param param = pointer;
    int is_declared = n == plan->n_params || n == plan->n_declared;
    PgItems *items = is_declared ? &plan->params[i].items : &param.items;
    param.items = *items;
    param.items.wrong = 0;
    int result = function_convert(self, i, &param, arg, at, launch, keep);
    *items = param.items;
    if (result < 0) {
        if (param.items.wrong) {
            return -1; /* an error that struct does not have */
        }
        if (PyErr_ExceptionMatches(PyExc_TypeError) &&
            !PyErr_ExceptionMatches(self->state->common.LogicError)) {
            PyErr_Clear();
            return raise_struct(
                "required argument is not a pointer to device memory, but a %s (format 'P')",
                Py_TYPE(arg)->tp_name);
        }
        if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear();
            return raise_struct("argument out of range for format 'P'");
        }
        return -1;
    }
    return 0;
}

/* Adds the kernel and the argument to an error of struct's. */
static void name_argument(Function *self, int i) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (value == NULL || (type != PyExc_OverflowError && type != struct_error())) {
        PyErr_Restore(type, value, traceback);
        return;
    }
    PyErr_Format(type, "kernel '%U', argument #%d (0-based): %S", self->name, i, value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

static int pack(Function *self, const Prepared *prepared, PyObject *const *args,
                unsigned char *params, const Launch *launch, Keep *keep) {
    for (int i = 0; i < prepared->n; i++) {
        const Item *item = &prepared->items[i];
        PyObject *arg = args[i];
        unsigned char *at = params + item->offset;
        int result;
        switch (item->code) {
        case 'P':
            result = pack_pointer(self, prepared->n, i, arg, at, launch, keep);
            break;
        case 'f':
        case 'd':
        case 'e':
            result = pack_real(item, arg, at);
            break;
        case 'F':
        case 'D':
            result = pack_complex(item, arg, at);
            break;
        case 's':
            result = pack_bytes(item, arg, at);
            break;
        case '?': {
            int truth = PyObject_IsTrue(arg);
            *at = truth == 1;
            result = truth < 0 ? -1 : 0;
            break;
        }
        default:
            result = pack_integer(item, arg, at);
        }
        if (PG_UNLIKELY(result < 0)) {
            name_argument(self, i);
            return -1;
        }
    }
    return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static PyObject *shared_size_name;

/* Reads shared_size, the only keyword. Others raise PyCUDA's exception. */
static int read_shared_size(Function *self, PyObject *const *values, PyObject *kwnames,
                            unsigned *out) {
    if (shared_size_name == NULL &&
        (shared_size_name = PyUnicode_InternFromString("shared_size")) == NULL) {
        return -1;
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); k++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, k);
        if (name != shared_size_name && PyUnicode_Compare(name, shared_size_name) != 0) {
            PyErr_Format(PyExc_TypeError, "unknown keyword arguments: %U", name);
            return -1;
        }
        if (function_read_shared(self, values[k], out) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Reads everything but the arguments. Returns 0, or -1 with an exception. */
static inline int read_launch(Function *self, int n_leading, PyObject *const *args,
                              PyObject *const *values, PyObject *kwnames, Launch *launch) {
    launch->stream = NULL;
    launch->stream_object = NULL;
    launch->shared = 0;
    launch->cooperative = launch->clustered = 0;
    return function_grid(self, args[0], launch->grid) < 0 ||
                   function_block(self, args[1], launch->block) < 0 ||
                   (n_leading == 3 && args[2] != Py_None &&
                    function_read_stream(self, args[2], launch) < 0) ||
                   (kwnames != NULL && read_shared_size(self, values, kwnames, &launch->shared) < 0)
               ? -1
               : 0;
}

static int launch_prepared(Function *self, const Prepared *prepared, const char *call,
                           int n_leading, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames) {
    if (PG_UNLIKELY(nargs < n_leading)) {
        PyErr_Format(PyExc_TypeError, "%s: grid, block%s come before the arguments of kernel '%U'",
                     call, n_leading == 3 ? " and stream" : "", self->name);
        return -1;
    }
    if (PG_UNLIKELY(nargs - n_leading != prepared->n)) {
        return raise_struct("pack requires exactly %d arguments: kernel '%U' was prepared with "
                            "'%U', and %zd were given",
                            prepared->n, self->name, prepared->format, nargs - n_leading);
    }
    Launch launch;
    if (read_launch(self, n_leading, args, args + nargs, kwnames, &launch) < 0) {
        return -1;
    }
    union {
        unsigned char bytes[PARAMS_ON_STACK];
        double aligned;
    } local;
    unsigned char *params = local.bytes;
    size_t size = prepared->size;
    if (PG_UNLIKELY(size > sizeof local.bytes)) {
        params = PyMem_Malloc(size);
        if (params == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    Keep keep;
    keep.n = 0;
    keep.more = NULL;
    int result = -1;
    if (pack(self, prepared, args + n_leading, params, &launch, &keep) == 0 &&
        function_check_allocations(self, args + n_leading, nargs - n_leading, &keep) == 0) {
        result = function_submit(self, &launch, params, size, args + n_leading, nargs - n_leading);
    }
    if (PG_UNLIKELY(keep.n > 0)) {
        keep_clear(&keep);
    }
    if (PG_UNLIKELY(params != local.bytes)) {
        PyMem_Free(params);
    }
    return result;
}

/* n_leading: the number of arguments before the kernel's: grid, block and, for the asynchronous
 * call, the stream. */
int function_prepared_launch(Function *self, const char *call, int n_leading, PyObject *const *args,
                             Py_ssize_t nargs, PyObject *kwnames) {
    Prepared *prepared = self->prepared;
    if (PG_UNLIKELY(prepared == NULL)) {
        PyErr_Format(PyExc_AttributeError, "%s: call prepare() on kernel '%U' first", call,
                     self->name);
        return -1;
    }
    prepared->refs++;
    int result = launch_prepared(self, prepared, call, n_leading, args, nargs, kwnames);
    prepared_free(prepared);
    return result;
}

#define PREPARED_TYPED "*args: Any, shared_size: int = 0)"

PG_DOC_SHARED(Function_prepared_call__doc__, "prepared_call",
              "$self, grid, block, /, *args, shared_size=0",
              "(grid: int | Sequence[int], block: int | Sequence[int], /, " PREPARED_TYPED
              " -> None",
              "Launch with arguments of the types passed to prepare().\n\n"
              "shared_size: dynamic shared memory [bytes]. Raises struct.error for a wrong number "
              "of arguments, or one that does not fit its type.");

PyObject *Function_prepared_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *kwnames) {
    return function_prepared_launch((Function *)op, "prepared_call", 2, args, nargs, kwnames) < 0
               ? NULL
               : Py_NewRef(Py_None);
}

PG_DOC_SHARED(Function_prepared_async_call__doc__, "prepared_async_call",
              "$self, grid, block, stream, /, *args, shared_size=0",
              "(grid: int | Sequence[int], block: int | Sequence[int], stream: Stream | None, "
              "/, " PREPARED_TYPED " -> None",
              "prepared_call() on a stream.");

PyObject *Function_prepared_async_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                       PyObject *kwnames) {
    return function_prepared_launch((Function *)op, "prepared_async_call", 3, args, nargs,
                                    kwnames) < 0
               ? NULL
               : Py_NewRef(Py_None);
}

/* ---- packed parameters ----------------------------------------------------------------------- */

PyObject *Function_launch_kernel(PyObject *op, PyObject *const *args, Py_ssize_t nargs) {
    Function *self = (Function *)op;
    Launch launch;
    Py_buffer view;
    memset(&launch, 0, sizeof launch);
    if (nargs != 5) {
        return PyErr_Format(
            PyExc_TypeError,
            "_launch_kernel takes grid, block, params, shared and stream; %zd arguments were given",
            nargs);
    }
    if (function_ready(self) < 0 || function_read_grid(self, args[0], launch.grid) < 0 ||
        function_read_block(self, args[1], launch.block) < 0 ||
        function_read_shared(self, args[3], &launch.shared) < 0 ||
        (args[4] != Py_None && function_read_stream(self, args[4], &launch) < 0) ||
        pg_get_buffer(args[2], "_launch_kernel", "params", 0, &view) < 0) {
        return NULL;
    }
    PyObject *result = NULL;
    if (self->plan->n_params >= 0 && (size_t)view.len != self->plan->size) {
        PyErr_Format(PyExc_TypeError,
                     "_launch_kernel: params has %zd bytes, and kernel '%U' takes %zu", view.len,
                     self->name, self->plan->size);
    } else if (function_submit(self, &launch, view.buf, (size_t)view.len, args + 2, 1) == 0) {
        result = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&view);
    return result;
}
