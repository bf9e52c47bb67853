/* fastpath.c - FastPath: a Python function with a fast path in C for the arguments of nearly all
 * calls.
 *
 * Everything else (rare options, any mistake) goes to the Python function, so that its rules and
 * errors are written only once. */
#include "array/fastpath.h"

#define PARAMETERS_MAX 16

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    FastFunction fast;
    int variadic, n_positional, n;
    PyObject *function;
    PyObject *names; /* of the parameters: a tuple of interned strings */
} FastPath;

/* ---- arguments ------------------------------------------------------------------------------- */

PyArray_Descr *arr_read_dtype(PyObject *obj) {
    PyArray_Descr *dtype = NULL;
    if (PyArray_DescrCheck(obj)) {
        dtype = (PyArray_Descr *)Py_NewRef(obj);
    } else if (!PyType_Check(obj) && !PyUnicode_CheckExact(obj)) {
        return NULL;
    } else if (!PyArray_DescrConverter(obj, &dtype)) {
        PyErr_Clear();
        return NULL;
    }
    int number = dtype->type_num;
    if ((number < 0 || number > NPY_CLONGDOUBLE) && number != NPY_HALF) {
        Py_CLEAR(dtype);
    } else if (!PyArray_ISNBO(dtype->byteorder)) {
        Py_CLEAR(dtype);
    }
    return dtype;
}

int arr_read_int(PyObject *obj, Py_ssize_t *out) {
    if (!PyLong_CheckExact(obj) && Py_TYPE(obj) != &PyInt64ArrType_Type &&
        Py_TYPE(obj) != &PyInt32ArrType_Type) {
        return 0;
    }
    *out = PyNumber_AsSsize_t(obj, PyExc_OverflowError);
    if (*out == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return 1;
}

PyObject *fast_native(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    return a[0] != NULL ? (PyObject *)arr_read_dtype(a[0]) : NULL;
}

/* Puts the arguments in the order of the parameters. Returns 0 if some are missing, too many, or
 * have names that the function must check. */
static int bind(const FastPath *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                PyObject **a) {
    if (nargs > self->n_positional) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < self->n; i++) {
        a[i] = i < nargs ? args[i] : NULL;
    }
    Py_ssize_t named = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    for (Py_ssize_t k = 0; k < named; k++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, k);
        int i = 0;
        while (i < self->n && PyTuple_GET_ITEM(self->names, i) != name) {
            i++;
        }
        if (i == self->n || a[i] != NULL) {
            return 0;
        }
        a[i] = args[nargs + k];
    }
    return 1;
}

/* For a function without a fast path: one of pygpu.xp, which may be called while a function is
 * traced. */
PyObject *fast_traced(PyObject *const *Py_UNUSED(a), Py_ssize_t Py_UNUSED(n)) {
    return NULL;
}

/* For a method without a fast path, of which only the frames are hidden. */
PyObject *fast_python(PyObject *const *Py_UNUSED(a), Py_ssize_t Py_UNUSED(n)) {
    return NULL;
}

static PyObject *trace(PyObject *function, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames) {
    PyObject *all = PyTuple_New(nargs), *options = PyDict_New(), *result = NULL;
    Py_ssize_t named = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    int failed = all == NULL || options == NULL;
    for (Py_ssize_t i = 0; i < nargs && all != NULL; i++) {
        PyTuple_SET_ITEM(all, i, Py_NewRef(args[i]));
    }
    for (Py_ssize_t i = 0; i < named && !failed; i++) {
        failed = PyDict_SetItem(options, PyTuple_GET_ITEM(kwnames, i), args[nargs + i]) < 0;
    }
    if (!failed) {
        result = PyObject_CallFunctionObjArgs(arr_state->trace, function, all, options, NULL);
    }
    Py_XDECREF(all);
    Py_XDECREF(options);
    return result;
}

/* Whether a frame belongs to pygpu: to the package or a module in it. */
static int is_own_frame(PyFrameObject *frame) {
    PyObject *globals = PyFrame_GetGlobals(frame);
    PyObject *name = globals != NULL ? PyDict_GetItemString(globals, "__name__") : NULL;
    const char *text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    int own = text != NULL && strncmp(text, "pygpu", 5) == 0 && (text[5] == '\0' || text[5] == '.');
    Py_XDECREF(globals);
    return own;
}

/* Whether an exception means that the caller made a mistake. Others (AttributeError, KeyError,
 * AssertionError, ...) are more likely ours, and keep their traceback. */
static int is_mistake(PyObject *type) {
    PyObject *const mistakes[] = {PyExc_TypeError,          PyExc_ValueError,  PyExc_IndexError,
                                  PyExc_OverflowError,      PyExc_MemoryError, PyExc_BufferError,
                                  PyExc_NotImplementedError};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        if (PyErr_GivenExceptionMatches(type, mistakes[i])) {
            return 1;
        }
    }
    return 0;
}

/* Removes pygpu's own exceptions from the contexts of an error ("During handling of the above
 * exception, ..."): those of the program's remain. */
static void drop_own_contexts(PyObject *value) {
    PyObject *cause = PyException_GetCause(value);
    PyObject *context = cause == NULL ? PyException_GetContext(value) : NULL;
    int changed = 0;
    while (context != NULL) {
        PyObject *traceback = PyException_GetTraceback(context);
        int own = traceback != NULL && is_own_frame(((PyTracebackObject *)traceback)->tb_frame);
        Py_XDECREF(traceback);
        if (!own) {
            break;
        }
        Py_SETREF(context, PyException_GetContext(context));
        changed = 1;
    }
    if (changed) {
        PyException_SetContext(value, context); /* takes the reference */
    } else {
        Py_XDECREF(context);
    }
    Py_XDECREF(cause);
}

void arr_hide_frames(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (traceback != NULL && is_mistake(type) && !arr_state->full_tracebacks) {
        PyObject *rest = traceback;
        while (rest != NULL && is_own_frame(((PyTracebackObject *)rest)->tb_frame)) {
            rest = (PyObject *)((PyTracebackObject *)rest)->tb_next;
        }
        Py_XINCREF(rest);
        Py_SETREF(traceback, rest);
        PyErr_NormalizeException(&type, &value, &traceback);
        /* Python 3.14 keeps the exception's traceback where PyErr_Restore() gets none. */
        if (PyException_SetTraceback(value, rest != NULL ? rest : Py_None) < 0) {
            PyErr_Clear();
        }
        drop_own_contexts(value);
    }
    PyErr_Restore(type, value, traceback);
}

/* Whether the error that is set was raised by pygpu's own code. */
static int is_own_error(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyTracebackObject *last = (PyTracebackObject *)traceback;
    while (last != NULL && last->tb_next != NULL) {
        last = last->tb_next;
    }
    int own = last != NULL && is_own_frame(last->tb_frame);
    PyErr_Restore(type, value, traceback);
    return own;
}

/* A function that is called without an array, or with another out=, fails when it first looks at
 * it: says what is missing. Checking only then costs correct calls nothing. */
static void explain_missing_array(PyObject *function, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *kwnames) {
    Py_ssize_t named = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    PyObject *name = ((PyFunctionObject *)function)->func_name, *out = NULL;
    int arrays = 0;
    for (Py_ssize_t i = 0; i < nargs + named; i++) {
        arrays += arr_is_array(args[i]);
        if (i >= nargs &&
            PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i - nargs), "out") == 0) {
            out = args[i];
        }
    }
    int wrong_out = out != NULL && out != Py_None && !arr_is_array(out);
    if (nargs + named == 0 || (arrays && !wrong_out) || !is_own_error()) {
        return;
    }
    PyErr_Clear();
    if (wrong_out) {
        PyErr_Format(PyExc_TypeError, "%U: out must be an array on the device, not %s", name,
                     Py_TYPE(out)->tp_name);
    } else {
        PyErr_Format(PyExc_TypeError,
                     "%U: an array on a device is needed, not %s; see pygpu.xp.asarray()", name,
                     Py_TYPE(args[0])->tp_name);
    }
}

/* Calls a Python function of pygpu for the program. */
static PyObject *call_python(PyObject *function, PyObject *const *args, size_t nargsf,
                             PyObject *kwnames) {
    PyObject *result = PyObject_Vectorcall(function, args, nargsf, kwnames);
    if (PG_UNLIKELY(result == NULL)) {
        if (PyFunction_Check(function) && (PyErr_ExceptionMatches(PyExc_AttributeError) ||
                                           PyErr_ExceptionMatches(PyExc_StopIteration))) {
            explain_missing_array(function, args, PyVectorcall_NARGS(nargsf), kwnames);
        }
        arr_hide_frames();
    }
    return result;
}

static PyObject *FastPath_call(PyObject *op, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames) {
    const FastPath *self = (FastPath *)op;
    PyObject *a[PARAMETERS_MAX], *result = NULL;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (self->fast == fast_traced && PG_UNLIKELY(arr_tracing != 0) && arr_state->trace != NULL) {
        return trace(self->function, args, nargs, kwnames);
    }
    if (self->fast == fast_traced || self->fast == fast_python) {
        return call_python(self->function, args, nargsf, kwnames);
    }
    if (self->variadic) {
        result = kwnames == NULL ? self->fast(args, nargs) : NULL;
    } else if (bind(self, args, nargs, kwnames, a)) {
        result = self->fast(a, self->n);
    }
    if (result != NULL || PyErr_Occurred()) {
        return result;
    }
    return call_python(self->function, args, nargsf, kwnames);
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    FastFunction fast;
    int variadic;
} fast_paths[] = {
#define FASTPATH(name, variadic) {#name, fast_##name, variadic},
#include "array/fastpaths.def"
#undef FASTPATH
};

/* Reads the names of the parameters from the function's code. Returns 0, or -1 with an
 * exception. */
static int read_parameters(FastPath *self) {
    PyObject *code = PyObject_GetAttrString(self->function, "__code__");
    PyObject *positional = code != NULL ? PyObject_GetAttrString(code, "co_argcount") : NULL;
    PyObject *keyword = positional != NULL ? PyObject_GetAttrString(code, "co_kwonlyargcount")
                                           : NULL;
    PyObject *names = keyword != NULL ? PyObject_GetAttrString(code, "co_varnames") : NULL;
    int failed = names == NULL;
    if (!failed) {
        self->n_positional = (int)PyLong_AsLong(positional);
        self->n = self->n_positional + (int)PyLong_AsLong(keyword);
        self->names = PyTuple_GetSlice(names, 0, self->n);
        failed = self->names == NULL;
    }
    if (!failed && self->n > PARAMETERS_MAX) {
        PyErr_Format(PyExc_ValueError, "FastPath: at most %d parameters are supported",
                     PARAMETERS_MAX);
        failed = 1;
    }
    Py_XDECREF(code);
    Py_XDECREF(positional);
    Py_XDECREF(keyword);
    Py_XDECREF(names);
    return failed ? -1 : 0;
}

PG_DOC(
    FastPath_new__doc__, "FastPath", "name, function", "(name: str, function: Callable[..., Any])",
    "A function that is done in C, by the fast path of that name, where its arguments are of the "
    "common kinds.");
static ArgSpec FastPath_new_args = PG_ARGSPEC(FastPath_new__doc__);

static PyObject *FastPath_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[2];
    if (pg_args_tuple(&FastPath_new_args, args, kwargs, a) < 0) {
        return NULL;
    }
    size_t i = 0, count = sizeof fast_paths / sizeof *fast_paths;
    while (i < count && !(PyUnicode_Check(a[0]) &&
                          PyUnicode_CompareWithASCIIString(a[0], fast_paths[i].name) == 0)) {
        i++;
    }
    if (i == count) {
        PyErr_Format(PyExc_ValueError, "FastPath: there is no fast path %R", a[0]);
        return NULL;
    }
    FastPath *self = (FastPath *)PG_NEW(type);
    if (self == NULL) {
        return NULL;
    }
    self->vectorcall = FastPath_call;
    self->fast = fast_paths[i].fast;
    self->variadic = fast_paths[i].variadic;
    self->function = Py_NewRef(a[1]);
    if (self->fast != fast_traced && self->fast != fast_python && read_parameters(self) < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static int FastPath_traverse(PyObject *op, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((FastPath *)op)->function);
    return 0;
}

/* No tp_clear: a function breaks a cycle through its globals itself. */
static void FastPath_dealloc(PyObject *op) {
    FastPath *self = (FastPath *)op;
    PyObject_GC_UnTrack(op);
    Py_XDECREF(self->function);
    Py_XDECREF(self->names);
    pg_object_free(op);
}

/* ---- acting as the function ------------------------------------------------------------------ */

static PyObject *FastPath_descr_get(PyObject *op, PyObject *obj, PyObject *Py_UNUSED(type)) {
    return obj == NULL || obj == Py_None ? Py_NewRef(op) : PyMethod_New(op, obj);
}

/* Attributes for help(), inspect and so on are the function's. */
static PyObject *FastPath_getattro(PyObject *op, PyObject *name) {
    static const char *const own[] = {"__wrapped__", "__call__",   "__get__",
                                      "__class__",   "__reduce__", "__reduce_ex__"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (PyUnicode_CompareWithASCIIString(name, own[i]) == 0) {
            return PyObject_GenericGetAttr(op, name);
        }
    }
    return PyObject_GetAttr(((FastPath *)op)->function, name);
}

static int FastPath_setattro(PyObject *op, PyObject *name, PyObject *value) {
    return PyObject_SetAttr(((FastPath *)op)->function, name, value);
}

static PyObject *FastPath_repr(PyObject *op) {
    return PyObject_Repr(((FastPath *)op)->function);
}

/* Pickled by name, like functions. */
static PyObject *FastPath_reduce(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return PyObject_GetAttrString(((FastPath *)op)->function, "__qualname__");
}

static PyMethodDef FastPath_methods[] = {
    {"__reduce__", FastPath_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\n() -> str\n\nThe name, which pickle finds it by."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef FastPath_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FastPath, vectorcall), READONLY, NULL},
    {"__wrapped__", T_OBJECT_EX, offsetof(FastPath, function), READONLY,
     "Callable[..., Any]: The function."},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot FastPath_slots[] = {
    {Py_tp_doc, (void *)FastPath_new__doc__},    {Py_tp_new, (void *)FastPath_new},
    {Py_tp_traverse, (void *)FastPath_traverse}, {Py_tp_dealloc, (void *)FastPath_dealloc},
    {Py_tp_call, (void *)PyVectorcall_Call},     {Py_tp_descr_get, (void *)FastPath_descr_get},
    {Py_tp_getattro, (void *)FastPath_getattro}, {Py_tp_setattro, (void *)FastPath_setattro},
    {Py_tp_repr, (void *)FastPath_repr},         {Py_tp_methods, FastPath_methods},
    {Py_tp_members, FastPath_members},           {0, NULL},
};
ARR_TYPE(FastPath, FastPath,
         Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_METHOD_DESCRIPTOR);
