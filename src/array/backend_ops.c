/* backend_ops.c - where backends register what C calls of theirs. */
#include "array/backend_ops.h"

BackendOps arr_cuda, arr_opencl;
ArrayValues arr_values;
PyTypeObject *arr_classes[2];

static PyTypeObject *class_of(const BackendOps *ops) {
    PyTypeObject *type = (PyTypeObject *)ops->array_class;
    return type != NULL && PyType_Check(type) && PyType_IsSubtype(type, arr_state->GPUArrayType)
               ? type
               : NULL;
}

/* The address of an entry, or NULL with an exception if there is none of that name. */
static PyObject **entry(PyObject *owner, PyObject *name) {
    BackendOps *ops = NULL;
    if (PyUnicode_CompareWithASCIIString(owner, "cuda") == 0) {
        ops = &arr_cuda;
    } else if (PyUnicode_CompareWithASCIIString(owner, "opencl") == 0) {
        ops = &arr_opencl;
    } else if (PyUnicode_CompareWithASCIIString(owner, "arrays") == 0) {
        if (PyUnicode_CompareWithASCIIString(name, "flags") == 0) {
            return &arr_values.flags;
        }
        if (PyUnicode_CompareWithASCIIString(name, "no_backend") == 0) {
            return &arr_values.no_backend;
        }
    }
#define X(field)                                                              \
    if (ops != NULL && PyUnicode_CompareWithASCIIString(name, #field) == 0) { \
        return &ops->field;                                                   \
    }
    BACKEND_OPS(X)
#undef X
    PyErr_Format(PyExc_ValueError, "_register: %R has no entry %R", owner, name);
    return NULL;
}

PyDoc_STRVAR(
    register_doc,
    "_register(owner, /, **entries)\n--\n\n"
    "(owner: str, /, **entries: Any) -> None\n\n"
    "Classes and commands that C uses of a backend, \"cuda\" or \"opencl\", or of \"arrays\".");

static PyObject *register_entries(PyObject *Py_UNUSED(module), PyObject *args, PyObject *entries) {
    PyObject *owner = NULL, *name, *value;
    if (!PyArg_ParseTuple(args, "U:_register", &owner)) {
        return NULL;
    }
    Py_ssize_t at = 0;
    while (entries != NULL && PyDict_Next(entries, &at, &name, &value)) {
        PyObject **slot = entry(owner, name);
        if (slot == NULL) {
            return NULL;
        }
        Py_XSETREF(*slot, Py_NewRef(value));
    }
    arr_classes[0] = class_of(&arr_opencl);
    arr_classes[1] = class_of(&arr_cuda);
    Py_RETURN_NONE;
}

void arr_clear_backends(void) {
    arr_classes[0] = arr_classes[1] = NULL;
#define X(field)              \
    Py_CLEAR(arr_cuda.field); \
    Py_CLEAR(arr_opencl.field);
    BACKEND_OPS(X)
#undef X
    Py_CLEAR(arr_values.flags);
    Py_CLEAR(arr_values.no_backend);
}

PyMethodDef arr_backend_functions[] = {
    {"_register", (PyCFunction)(void (*)(void))register_entries, METH_VARARGS | METH_KEYWORDS,
     register_doc},
    {NULL, NULL, 0, NULL},
};
