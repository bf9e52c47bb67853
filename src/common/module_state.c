/* module_state.c - the part of the module state that pygpu._opencl and pygpu._cuda share. */
#include "common/module_state.h"

/* ---- types ----------------------------------------------------------------------------------- */

PyObject *pg_refuse_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                        PyObject *Py_UNUSED(kwargs)) {
    return PyErr_Format(
        PyExc_TypeError,
        "%s cannot be made without its own __new__: it needs a handle of the driver",
        type->tp_name);
}

static int add_type(PyObject *module, char *state, const PgTypeRow *row) {
    PyObject **slot = (PyObject **)(void *)(state + row->slot);
    if (row->base == 0) {
        *slot = PyType_FromModuleAndSpec(module, row->spec, NULL);
        return *slot != NULL ? 0 : -1;
    }
    PyObject *base = Py_NewRef(*(PyObject **)(void *)(state + row->base));
    if (row->second != 0) {
        Py_SETREF(base, PyTuple_Pack(2, base, *(PyObject **)(void *)(state + row->second)));
    }
    *slot = base != NULL ? PyType_FromModuleAndSpec(module, row->spec, base) : NULL;
    Py_XDECREF(base);
    return *slot != NULL ? PyModule_AddType(module, (PyTypeObject *)*slot) : -1;
}

int pg_add_types(PyObject *module) {
    PgState *state = PyModule_GetState(module);
    const PgStateLayout *layout = state->layout;
    for (size_t i = 0; i < layout->n_types; i++) {
        if (add_type(module, (char *)state, &layout->types[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

int pg_add_functions(PyObject *module, PyMethodDef *const *tables, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (PyModule_AddFunctions(module, tables[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- module methods -------------------------------------------------------------------------- */

static PyObject *watch(PyObject *module, PyObject *args) {
    PgState *self = PyModule_GetState(module);
    PyObject *memory, *reporter;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "OO:_watch", &memory, &reporter) ||
        PyObject_GetBuffer(memory, &view, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    if (view.len < (Py_ssize_t)sizeof *self->report) {
        PyBuffer_Release(&view);
        PyErr_SetString(PyExc_ValueError, "_watch: memory of at least 4 bytes is needed");
        return NULL;
    }
    self->report = view.buf;
    PyBuffer_Release(&view); /* safe: the reporter keeps the memory alive, or it is never freed */
    Py_XSETREF(self->reporter, Py_NewRef(reporter));
    Py_RETURN_NONE;
}

static PyObject *set_array_type(PyObject *module, PyObject *type) {
    PgState *self = PyModule_GetState(module);
    if (!PyType_Check(type)) {
        return PyErr_Format(PyExc_TypeError, "_set_array_type: a type is needed, not %s",
                            pg_type_name(type));
    }
    Py_XSETREF(self->array_type, Py_NewRef(type));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_watch", watch, METH_VARARGS,
     "_watch(memory, reporter, /)\n--\n\n(memory: Any, reporter: Callable[[], None], /) -> None\n\n"
     "Call *reporter*, which may raise, after each wait that finds the first word of *memory* not "
     "to be 0."},
    {"_set_array_type", set_array_type, METH_O,
     "_set_array_type(type, /)\n--\n\n(type: type, /) -> None\n\nThe type of arrays, which kernels "
     "take as they are."},
    {NULL, NULL, 0, NULL},
};

/* ---- state ----------------------------------------------------------------------------------- */

int pg_state_init(PyObject *module, PgDriver *driver, const PgStateLayout *layout,
                  const char *package) {
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_Format(PyExc_ImportError,
                     "%s cannot be imported in a sub-interpreter: a process has one driver, with "
                     "its own threads; use the main interpreter, or processes",
                     package);
        return -1;
    }
    PgState *self = PyModule_GetState(module);
    self->module = module;
    self->driver = driver;
    self->layout = layout;
    PyObject *errors = PyImport_ImportModule("pygpu.errors");
    if (errors == NULL) {
        return -1;
    }
    self->LogicError = PyObject_GetAttrString(errors, "LogicError");
    self->RuntimeError = PyObject_GetAttrString(errors, "RuntimeError");
    self->make_error = PyObject_GetAttrString(errors, "_make_error");
    Py_DECREF(errors);
    return self->LogicError != NULL && self->RuntimeError != NULL && self->make_error != NULL &&
                   PyModule_AddFunctions(module, pg_driver_methods) == 0 &&
                   PyModule_AddFunctions(module, methods) == 0
               ? 0
               : -1;
}

static PyObject **object_at(PgState *self, size_t offset) {
    return (PyObject **)(void *)((char *)self + offset);
}

int pg_module_traverse(PyObject *module, visitproc visit, void *arg) {
    PgState *self = PyModule_GetState(module);
    const PgStateLayout *layout = self->layout;
    if (layout == NULL) {
        return 0; /* the module is being made */
    }
    for (size_t i = 0; i < layout->n_types; i++) {
        Py_VISIT(*object_at(self, layout->types[i].slot));
    }
    for (size_t i = 0; i < layout->n_objects; i++) {
        Py_VISIT(*object_at(self, layout->objects[i]));
    }
#define X(name) Py_VISIT(self->name);
    PG_STATE_OBJECTS(X)
#undef X
    return 0;
}

int pg_module_clear(PyObject *module) {
    PgState *self = PyModule_GetState(module);
    const PgStateLayout *layout = self->layout;
    for (size_t i = 0; layout != NULL && i < layout->n_types; i++) {
        Py_CLEAR(*object_at(self, layout->types[i].slot));
    }
    return 0;
}

void pg_module_free(void *module) {
    PgState *self = PyModule_GetState(module);
    if (self == NULL || self->layout == NULL) {
        return;
    }
    const PgStateLayout *layout = self->layout;
    pg_module_clear(module);
    for (size_t i = 0; i < layout->n_objects; i++) {
        Py_CLEAR(*object_at(self, layout->objects[i]));
    }
#define X(name) Py_CLEAR(self->name);
    PG_STATE_OBJECTS(X)
#undef X
}
