/* signature.c - inspect.signature() for kernels. This runs only on demand: for an editor, a
 * notebook, help(). */
#include "common/signature.h"

enum { POSITIONAL_ONLY = 0, VAR_POSITIONAL = 2, KEYWORD_ONLY = 3 }; /* inspect._ParameterKind */

/* Appends a parameter of this name, with underscores appended if it is taken or not a Python
 * identifier. */
static int add(PyObject *list, PyObject *make, PyObject *taken, PyObject *name, int kind,
               PyObject *annotation, PyObject *standard) {
    PyObject *iskeyword = NULL, *module = PyImport_ImportModule("keyword"),
             *unique = Py_NewRef(name);
    int result = -1, again = module == NULL ? -1 : 1;
    if (module != NULL && (iskeyword = PyObject_GetAttrString(module, "iskeyword")) == NULL) {
        again = -1;
    }
    while (again == 1 && unique != NULL) {
        PyObject *reserved = PyObject_CallOneArg(iskeyword, unique);
        again = reserved == NULL ? -1 : PyObject_IsTrue(reserved);
        Py_XDECREF(reserved);
        if (again == 0) {
            again = PySet_Contains(taken, unique);
        }
        if (again == 1) {
            Py_SETREF(unique, PyUnicode_FromFormat("%U_", unique));
        }
    }
    PyObject *args = again == 0 && unique != NULL ? Py_BuildValue("(Oi)", unique, kind) : NULL;
    PyObject *kwargs = args != NULL ? PyDict_New() : NULL, *parameter = NULL;
    if (kwargs != NULL && PySet_Add(taken, unique) == 0 &&
        (annotation == NULL || PyDict_SetItemString(kwargs, "annotation", annotation) == 0) &&
        (standard == NULL || PyDict_SetItemString(kwargs, "default", standard) == 0)) {
        parameter = PyObject_Call(make, args, kwargs);
    }
    if (parameter != NULL) {
        result = PyList_Append(list, parameter);
    }
    Py_XDECREF(parameter);
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    Py_XDECREF(unique);
    Py_XDECREF(iskeyword);
    Py_XDECREF(module);
    return result;
}

/* Returns the default value that the text denotes, as a new reference: one of the few that
 * keywords of kernels have. */
static PyObject *default_of(const char *text) {
    return strcmp(text, "False") == 0    ? Py_NewRef(Py_False)
           : strcmp(text, "0") == 0      ? PyLong_FromLong(0)
           : strcmp(text, "()") == 0     ? PyTuple_New(0)
           : strcmp(text, "(1, 1)") == 0 ? Py_BuildValue("(ii)", 1, 1)
                                         : Py_NewRef(Py_None);
}

static int add_named(PyObject *list, PyObject *make, PyObject *taken, const char *const *names,
                     int kind) {
    for (; *names != NULL; names++) {
        const char *equals = strchr(*names, '=');
        size_t length = equals != NULL ? (size_t)(equals - *names) : strlen(*names);
        PyObject *name = PyUnicode_FromStringAndSize(*names, (Py_ssize_t)length);
        PyObject *standard = equals != NULL ? default_of(equals + 1) : NULL;
        int result = -1;
        if (name != NULL && (standard != NULL || equals == NULL)) {
            result = add(list, make, taken, name, kind, NULL, standard);
        }
        Py_XDECREF(name);
        Py_XDECREF(standard);
        if (result < 0) {
            return -1;
        }
    }
    return 0;
}

/* "const float *a" becomes a parameter a annotated "const float *"; without a name it becomes
 * argN. */
static int add_declared(PyObject *list, PyObject *make, PyObject *taken, PyObject *declaration,
                        Py_ssize_t number) {
    PyObject *name = NULL, *type = NULL;
    if (PyUnicode_Check(declaration)) {
        Py_ssize_t end = PyUnicode_GET_LENGTH(declaration), start = end;
        while (start > 0) {
            Py_UCS4 c = PyUnicode_READ_CHAR(declaration, start - 1);
            if (!Py_UNICODE_ISALNUM(c) && c != '_') {
                break;
            }
            start--;
        }
        name = PyUnicode_Substring(declaration, start, end);
        int is_name = name != NULL && start > 0 && PyUnicode_IsIdentifier(name);
        if (!is_name) {
            Py_CLEAR(name);
            start = end;
        }
        while (start > 0 && PyUnicode_READ_CHAR(declaration, start - 1) == ' ') {
            start--;
        }
        type = PyUnicode_Substring(declaration, 0, start);
    } else {
        type = Py_NewRef(Py_None);
    }
    if (name == NULL) {
        PyErr_Clear();
        name = PyUnicode_FromFormat("arg%zd", number);
    }
    int result = -1;
    if (name != NULL && type != NULL) {
        result = add(list, make, taken, name, POSITIONAL_ONLY, type == Py_None ? NULL : type, NULL);
    }
    Py_XDECREF(name);
    Py_XDECREF(type);
    return result;
}

static int add_parameters(PyObject *list, PyObject *make, PyObject *taken, PyObject *declarations) {
    int result = 0;
    if (declarations == Py_None) {
        PyObject *name = PyUnicode_FromString("args");
        result = name != NULL ? add(list, make, taken, name, VAR_POSITIONAL, NULL, NULL) : -1;
        Py_XDECREF(name);
        return result;
    }
    for (Py_ssize_t i = 0; result == 0 && i < PyList_GET_SIZE(declarations); i++) {
        result = add_declared(list, make, taken, PyList_GET_ITEM(declarations, i), i);
    }
    return result;
}

/* Keywords appear in calls, so they keep their names; a parameter of the same name is renamed. */
static int add_all(PyObject *list, PyObject *make, const PgCallForm *form, PyObject *declarations) {
    PyObject *taken = PySet_New(NULL), *last = PyList_New(0), *all = NULL;
    int result = -1;
    if (taken != NULL && last != NULL &&
        add_named(last, make, taken, form->keywords, KEYWORD_ONLY) == 0 &&
        add_named(list, make, taken, form->before, POSITIONAL_ONLY) == 0 &&
        add_parameters(list, make, taken, declarations) == 0) {
        all = PySequence_InPlaceConcat(list, last);
        result = all != NULL ? 0 : -1;
    }
    Py_XDECREF(all); /* the list, not its items */
    Py_XDECREF(taken);
    Py_XDECREF(last);
    return result;
}

PyObject *pg_make_signature(const PgCallForm *form, PyObject *declarations) {
    if (declarations == NULL) {
        return NULL;
    }
    PyObject *inspect = PyImport_ImportModule("inspect"), *make = NULL, *list = NULL,
             *signature = NULL;
    if (inspect != NULL && (make = PyObject_GetAttrString(inspect, "Parameter")) != NULL &&
        (list = PyList_New(0)) != NULL && add_all(list, make, form, declarations) == 0) {
        signature = PyObject_CallMethod(inspect, "Signature", "(O)", list);
    }
    Py_XDECREF(list);
    Py_XDECREF(make);
    Py_XDECREF(inspect);
    return signature;
}

PyObject *pg_join_declarations(PyObject *declarations) {
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(declarations); i++) {
        PyObject *item = PyList_GET_ITEM(declarations, i);
        pg_append(&list, PyUnicode_Check(item) ? Py_NewRef(item) : PyUnicode_FromString("?"));
    }
    return pg_join(", ", list);
}

/* ---- the descriptor -------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    getter make;
} SignatureOf;

static PyObject *SignatureOf_get(PyObject *op, PyObject *instance, PyObject *Py_UNUSED(type)) {
    if (instance == NULL || instance == Py_None) {
        PyErr_SetString(PyExc_AttributeError, "__signature__");
        return NULL;
    }
    return ((SignatureOf *)op)->make(instance, NULL);
}

static void SignatureOf_dealloc(PyObject *op) {
    pg_object_free(op);
}

static PyType_Slot SignatureOf_slots[] = {
    {Py_tp_doc, (void *)"The signature of each object of a type."},
    {Py_tp_descr_get, (void *)SignatureOf_get},
    {Py_tp_dealloc, (void *)SignatureOf_dealloc},
    {0, NULL},
};
static PyType_Spec SignatureOf_spec = {.name = "pygpu._SignatureOf",
                                       .basicsize = sizeof(SignatureOf),
                                       .slots = SignatureOf_slots,
                                       .flags = Py_TPFLAGS_DEFAULT |
                                                Py_TPFLAGS_DISALLOW_INSTANTIATION};

int pg_add_signature(PyTypeObject *type, getter make) {
    PyObject *cls = PyType_FromSpec(&SignatureOf_spec);
    if (cls == NULL) {
        return -1;
    }
    SignatureOf *self = (SignatureOf *)((PyTypeObject *)cls)->tp_alloc((PyTypeObject *)cls, 0);
    Py_DECREF(cls); /* the type now owns it */
    if (self == NULL) {
        return -1;
    }
    self->make = make;
    int result = PyObject_SetAttrString((PyObject *)type, "__signature__", (PyObject *)self);
    Py_DECREF(self);
    return result;
}
