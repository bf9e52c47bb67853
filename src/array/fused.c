/* fused.c - FusedCall: a function of @pygpu.fuse, whose calls find their Program without Python.
 *
 * A program is stored by the kinds of the arguments, and if it depends on shapes and strides, by
 * these as well. Keys contain no references to backends or queues, because a function outlives
 * contexts. */
#include "array/fastpath.h"
#include "array/program.h"

#define ARGUMENTS_MOST 64
#define KEY_WORDS      1024
#define PROGRAMS_MOST  512 /* at this number all are dropped */

typedef struct {
    PyObject_HEAD
    PyObject *plain;    /* the plain function */
    PyObject *programs; /* dict: key as bytes -> Program, or None: use the longer key */
    PyObject *kept;     /* list of objects whose addresses occur in keys */
    Py_ssize_t n;       /* number of parameters */
    uint64_t is_static; /* bit set of the static ones */
} FusedCall;

/* ---- keys ------------------------------------------------------------------------------------ */

/* The same information for each array: kinds first, so that they form a key by themselves, then
 * the layouts. */
typedef struct {
    size_t kinds, words;
    Py_ssize_t key[KEY_WORDS];
} CallKey;

enum { WORD_ARRAY = 1, WORD_NUMBER, WORD_OBJECT };

static int plain_dtype(const PyArray_Descr *dtype) {
    return dtype->type_num <= NPY_CDOUBLE || dtype->type_num == NPY_HALF;
}

static int is_number(PyObject *op) {
    return PyFloat_CheckExact(op) || PyLong_CheckExact(op) || PyComplex_CheckExact(op) ||
           (PyArray_IsScalar(op, Number) && !(Py_TYPE(op)->tp_flags & Py_TPFLAGS_HEAPTYPE));
}

/* Adds three words. */
static int add_kind(CallKey *key, PyObject *op, int is_static, const Table **table) {
    Py_ssize_t *to = key->key + key->words;
    key->words += 3;
    to[2] = 0;
    if (!is_static && arr_is_array(op)) {
        const GPUArray *array = (GPUArray *)op;
        if (array->table == NULL || !plain_dtype(array->dtype) ||
            (*table != NULL && *table != array->table)) {
            return 0;
        }
        *table = array->table;
        to[0] = WORD_ARRAY | (Py_ssize_t)array->dtype->type_num << 8;
        to[1] = (Py_ssize_t)(intptr_t)Py_TYPE(op);
        to[2] = (Py_ssize_t)array->table->serial;
        return 1;
    }
    if (PyArray_Check(op)) {
        return 0;
    }
    int number = !is_static && is_number(op);
    to[0] = number ? WORD_NUMBER : WORD_OBJECT;
    to[1] = (Py_ssize_t)(intptr_t)(number ? (PyObject *)Py_TYPE(op) : op);
    return 1;
}

static int add_layout(CallKey *key, PyObject *const *args, Py_ssize_t i) {
    const GPUArray *array = (GPUArray *)args[i];
    if (key->words + 3 + 2 * (size_t)array->ndim > KEY_WORDS) {
        return 0;
    }
    Py_ssize_t same = -1, apart = 0; /* the earlier argument in the same memory, and the distance
                                      * to it */
    for (Py_ssize_t k = 0; k < i && same < 0; k++) {
        const GPUArray *other = arr_is_array(args[k]) ? (GPUArray *)args[k] : NULL;
        if (other != NULL && (other->base_data == array->base_data ||
                              (PyLong_Check(other->base_data) && PyLong_Check(array->base_data)))) {
            same = k;
            apart = array->offset - other->offset;
        }
    }
    Py_ssize_t *to = key->key + key->words;
    to[0] = (Py_ssize_t)array->ndim | (array->offset & 31) << 8;
    to[1] = same;
    to[2] = apart;
    memcpy(to + 3, array->dims, 2 * (size_t)array->ndim * sizeof *to);
    key->words += 3 + 2 * (size_t)array->ndim;
    return 1;
}

/* Returns 1, or 0 for arguments that cannot have a key. */
static int make_key(const FusedCall *self, PyObject *const *args, CallKey *key) {
    const Table *table = NULL;
    key->words = 0;
    for (Py_ssize_t i = 0; i < self->n; i++) {
        if (!add_kind(key, args[i], self->is_static >> i & 1, &table)) {
            return 0;
        }
    }
    key->kinds = key->words;
    return table != NULL;
}

static int complete_key(const FusedCall *self, PyObject *const *args, CallKey *key) {
    for (Py_ssize_t i = 0; i < self->n; i++) {
        if (!(self->is_static >> i & 1) && arr_is_array(args[i]) && !add_layout(key, args, i)) {
            return 0;
        }
    }
    return 1;
}

/* Returns a borrowed reference; NULL if there is none, or with an exception. */
static PyObject *find(const FusedCall *self, const CallKey *key, size_t words) {
    PyObject *bytes =
        PyBytes_FromStringAndSize((const char *)key->key, (Py_ssize_t)(words * sizeof *key->key));
    PyObject *found = bytes != NULL ? PyDict_GetItemWithError(self->programs, bytes) : NULL;
    Py_XDECREF(bytes);
    return found;
}

static int store(FusedCall *self, const CallKey *key, size_t words, PyObject *value) {
    PyObject *bytes =
        PyBytes_FromStringAndSize((const char *)key->key, (Py_ssize_t)(words * sizeof *key->key));
    int status = bytes != NULL ? PyDict_SetItem(self->programs, bytes, value) : -1;
    Py_XDECREF(bytes);
    return status;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Returns the program for the arguments, a new reference; NULL if there is none that can be run,
 * or with an exception. */
static Program *program_for(const FusedCall *self, PyObject *const *args) {
    CallKey key;
    if (!make_key(self, args, &key)) {
        return NULL;
    }
    PyObject *found = find(self, &key, key.kinds);
    if (found == Py_None) {
        found = complete_key(self, args, &key) ? find(self, &key, key.words) : NULL;
    }
    if (found == NULL || Py_TYPE(found) != arr_state->ProgramType) {
        return NULL;
    }
    Program *program = (Program *)Py_NewRef(found); /* a comparison may run code that forgets it */
    if (program_fresh(program) <= 0) {
        Py_CLEAR(program);
    }
    return program;
}

static PyObject *run(const FusedCall *self, Program *program, PyObject *args) {
    PyObject *result = program_run(program, args);
    int again = result == Py_NotImplemented ||
                (result == NULL && !program->mutates &&
                 PyErr_ExceptionMatches(PyExc_OverflowError)); /* the type of a step cannot
                                                                * represent it */
    if (!again) {
        return result;
    }
    PyErr_Clear();
    Py_XDECREF(result);
    return PyObject_Call(self->plain, args, NULL);
}

static PyObject *FusedCall_call(PyObject *op, PyObject *args, PyObject *kwargs) {
    const FusedCall *self = (FusedCall *)op;
    if ((kwargs == NULL || PyDict_GET_SIZE(kwargs) == 0) && PyTuple_GET_SIZE(args) == self->n) {
        Program *program = program_for(self, &PyTuple_GET_ITEM(args, 0));
        if (program != NULL) {
            PyObject *result = run(self, program, args);
            Py_DECREF((PyObject *)program);
            return result;
        }
        if (PyErr_Occurred()) {
            return NULL;
        }
    }
    PyObject *slow = PyObject_GetAttrString(op, "_call");
    PyObject *result = slow != NULL ? PyObject_Call(slow, args, kwargs) : NULL;
    Py_XDECREF(slow);
    return result;
}

/* ---- Python interface ------------------------------------------------------------------------ */

static const char find_doc[] =
    "_find($self, args, /)\n--\n\n(args: tuple[Any, ...], /) -> FusedProgram | None\n\n"
    "The program for these arguments, if there is one and the names that it reads are unchanged.";

static int check_args(const FusedCall *self, PyObject *args) {
    if (!PyTuple_Check(args) || PyTuple_GET_SIZE(args) != self->n) {
        PyErr_SetString(PyExc_TypeError, "FusedCall: a tuple of all arguments is needed");
        return -1;
    }
    return 0;
}

static PyObject *FusedCall_find(PyObject *op, PyObject *args) {
    const FusedCall *self = (FusedCall *)op;
    if (check_args(self, args) < 0) {
        return NULL;
    }
    Program *program = program_for(self, &PyTuple_GET_ITEM(args, 0));
    return program != NULL || PyErr_Occurred() ? (PyObject *)program : Py_NewRef(Py_None);
}

static const char remember_doc[] =
    "_remember($self, args, program, /)\n--\n\n"
    "(args: tuple[Any, ...], program: FusedProgram, /) -> bool\n\n"
    "Run the program for such arguments from now on. False if C cannot tell them from others.";

static PyObject *FusedCall_remember(PyObject *op, PyObject *const *args, Py_ssize_t nargs) {
    FusedCall *self = (FusedCall *)op;
    CallKey key;
    if (nargs != 2 || Py_TYPE(args[1]) != arr_state->ProgramType) {
        PyErr_SetString(PyExc_TypeError, "FusedCall._remember: arguments and a Program are needed");
        return NULL;
    }
    if (check_args(self, args[0]) < 0) {
        return NULL;
    }
    PyObject *const *values = &PyTuple_GET_ITEM(args[0], 0);
    if (!make_key(self, values, &key)) {
        Py_RETURN_FALSE;
    }
    if (PyDict_GET_SIZE(self->programs) >= PROGRAMS_MOST) {
        PyDict_Clear(self->programs);
        PyList_SetSlice(self->kept, 0, PyList_GET_SIZE(self->kept), NULL);
    }
    for (Py_ssize_t i = 0; i < self->n; i++) {
        int array = !(self->is_static >> i & 1) && arr_is_array(values[i]);
        PyObject *kept = array || is_number(values[i]) ? (PyObject *)Py_TYPE(values[i]) : values[i];
        if (PyList_Append(self->kept, kept) < 0 ||
            (kept != values[i] && (self->is_static >> i & 1) &&
             PyList_Append(self->kept, values[i]) < 0)) {
            return NULL;
        }
    }
    int shaped = ((Program *)args[1])->shaped;
    if (shaped && !complete_key(self, values, &key)) {
        Py_RETURN_FALSE;
    }
    if ((shaped && store(self, &key, key.kinds, Py_None) < 0) ||
        store(self, &key, key.words, args[1]) < 0) {
        return NULL;
    }
    Py_RETURN_TRUE;
}

static const char forget_doc[] = "_forget($self, /)\n--\n\n() -> None\n\nForget all programs.";

static PyObject *FusedCall_forget(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    PyDict_Clear(((FusedCall *)op)->programs);
    Py_RETURN_NONE;
}

PG_DOC(FusedCall_new__doc__, "FusedCall", "plain, is_static",
       "(plain: Callable[..., Any], is_static: tuple[bool, ...])",
       "A function whose calls run the Program cached for such arguments, or self._call() if there "
       "is none. is_static: for each parameter, whether its value is part of the program.");
static ArgSpec FusedCall_new_args = PG_ARGSPEC(FusedCall_new__doc__);

static PyObject *FusedCall_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[2];
    if (pg_args_tuple(&FusedCall_new_args, args, kwargs, a) < 0) {
        return NULL;
    }
    if (!PyTuple_Check(a[1])) {
        PyErr_SetString(PyExc_TypeError, "FusedCall: is_static must be a tuple");
        return NULL;
    }
    FusedCall *self = (FusedCall *)PG_NEW(type);
    if (self == NULL) {
        return NULL;
    }
    self->plain = Py_NewRef(a[0]);
    self->programs = PyDict_New();
    self->kept = PyList_New(0);
    self->n = PyTuple_GET_SIZE(a[1]);
    for (Py_ssize_t i = 0; i < self->n && i < ARGUMENTS_MOST; i++) {
        self->is_static |= (uint64_t)(PyTuple_GET_ITEM(a[1], i) == Py_True) << i;
    }
    if (self->n > ARGUMENTS_MOST) {
        self->n = -1; /* too many parameters: all calls are left to Python */
    }
    if (self->programs == NULL || self->kept == NULL) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int FusedCall_traverse(PyObject *op, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((FusedCall *)op)->plain);
    Py_VISIT(((FusedCall *)op)->programs);
    Py_VISIT(((FusedCall *)op)->kept);
    return 0;
}

static int FusedCall_clear(PyObject *op) {
    FusedCall *self = (FusedCall *)op;
    PyDict_Clear(self->programs);
    return PyList_SetSlice(self->kept, 0, PyList_GET_SIZE(self->kept), NULL);
}

static void FusedCall_dealloc(PyObject *op) {
    FusedCall *self = (FusedCall *)op;
    PyObject_GC_UnTrack(op);
    Py_XDECREF(self->plain);
    Py_XDECREF(self->programs);
    Py_XDECREF(self->kept);
    pg_object_free(op);
}

static PyMethodDef FusedCall_methods[] = {
    {"_find", FusedCall_find, METH_O, find_doc},
    {"_remember", (PyCFunction)(void (*)(void))FusedCall_remember, METH_FASTCALL, remember_doc},
    {"_forget", FusedCall_forget, METH_NOARGS, forget_doc},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef FusedCall_members[] = {
    {"plain", T_OBJECT_EX, offsetof(FusedCall, plain), READONLY,
     "Callable[..., Any]: The function itself."},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot FusedCall_slots[] = {
    {Py_tp_doc, (void *)FusedCall_new__doc__},
    {Py_tp_new, (void *)FusedCall_new},
    PG_GC_SLOTS(FusedCall),
    {Py_tp_call, (void *)FusedCall_call},
    {Py_tp_methods, FusedCall_methods},
    {Py_tp_members, FusedCall_members},
    {0, NULL},
};
ARR_TYPE(FusedCall, FusedCall, Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE);
