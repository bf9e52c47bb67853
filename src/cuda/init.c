/* init.c - the extension module pygpu._cuda: its state, its types, its functions. */
#define PG_IMPORT_NUMPY
#include "cuda/cuda.h"

typedef struct {
    PyType_Spec *spec;
    const char *base;
    size_t offset;
} TypeRow;

static const TypeRow type_rows[] = {
#define X(name, base) {&cud_##name##_spec, #base, offsetof(State, name##Type)},
    CUD_TYPES(X)
#undef X
};
#define N_TYPES (sizeof type_rows / sizeof type_rows[0])

static const char *const type_names[] = {
#define X(name, base) #name,
    CUD_TYPES(X)
#undef X
};

State *cud_state_of(PyTypeObject *type) {
    PyObject *module = PyType_GetModuleByDef(type, &cud_module);
    return module != NULL ? PyModule_GetState(module) : NULL;
}

static PyObject *type_named(State *state, const char *name) {
    for (size_t i = 0; i < N_TYPES; i++) {
        if (strcmp(type_names[i], name) == 0) {
            return *(PyObject **)((char *)state + type_rows[i].offset);
        }
    }
    return NULL; /* object */
}

static PyObject *refuse_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                            PyObject *Py_UNUSED(kwargs)) {
    return PyErr_Format(
        PyExc_TypeError,
        "%s cannot be made without its own __new__: it needs a handle of the driver",
        type->tp_name);
}

static void Object_dealloc(PyObject *op) {
    PyObject_GC_UnTrack(op);
    if (((CudObject *)op)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    cud_object_free(op);
}

/* What all types derive from. As it cannot be changed, object.__new__ makes none of them, even if a
 * program assigns to their __new__. */
static PyMemberDef Object_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(CudObject, weakrefs), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(CudObject, dict), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyGetSetDef Object_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict,
     "dict[str, Any]: attributes that the program gave the object", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot Object_slots[] = {
    {Py_tp_doc, (void *)"What all types of this module derive from."},
    {Py_tp_new, (void *)refuse_new},
    {Py_tp_traverse, (void *)cud_object_traverse},
    {Py_tp_dealloc, (void *)Object_dealloc},
    {Py_tp_members, Object_members},
    {Py_tp_getset, Object_getset},
    {0, NULL},
};
static PyType_Spec Object_spec = {.name = "pygpu.cuda.driver._Object",
                                  .basicsize = sizeof(CudObject),
                                  .slots = Object_slots,
                                  .flags = CUD_FLAGS | Py_TPFLAGS_BASETYPE |
                                           Py_TPFLAGS_IMMUTABLETYPE};

static int add_types(PyObject *module, State *state) {
    PyObject *root = PyType_FromModuleAndSpec(module, &Object_spec, NULL);
    for (size_t i = 0; root != NULL && i < N_TYPES; i++) {
        PyObject *base = type_named(state, type_rows[i].base), *bases = NULL;
        base = base != NULL ? base : root;
        if (type_rows[i].spec == &cud_InOut_spec) { /* the only one of two */
            bases = PyTuple_Pack(2, state->InType, state->OutType);
            base = bases;
        }
        PyObject *type = base != NULL ? PyType_FromModuleAndSpec(module, type_rows[i].spec, base)
                                      : NULL;
        Py_XDECREF(bases);
        *(PyObject **)((char *)state + type_rows[i].offset) = type;
        if (type == NULL || PyModule_AddType(module, (PyTypeObject *)type) < 0) {
            Py_CLEAR(root);
        }
    }
    int done = root != NULL ? 0 : -1;
    Py_XDECREF(root); /* the types hold it */
    return done;
}

static int add_errors(State *state) {
    PyObject *errors = PyImport_ImportModule("pygpu.errors");
    if (errors == NULL) {
        return -1;
    }
    state->Error = PyObject_GetAttrString(errors, "Error");
    state->LogicError = PyObject_GetAttrString(errors, "LogicError");
    state->MemoryError = PyObject_GetAttrString(errors, "MemoryError");
    state->RuntimeError = PyObject_GetAttrString(errors, "RuntimeError");
    state->LaunchError = PyObject_GetAttrString(errors, "LaunchError");
    state->make_error = PyObject_GetAttrString(errors, "_make_error");
    Py_DECREF(errors);
    return state->Error && state->LogicError && state->MemoryError && state->RuntimeError &&
                   state->LaunchError && state->make_error
               ? 0
               : -1;
}

static int module_exec(PyObject *module) {
    if (PyInterpreterState_Get() !=
        PyInterpreterState_Main()) { /* Python 3.12 sees to this by itself */
        PyErr_SetString(PyExc_ImportError, "pygpu.cuda cannot be imported in a sub-interpreter: a "
                                           "driver has one set of threads and contexts "
                                           "in a process; use the main interpreter, or processes");
        return -1;
    }
    State *state = PyModule_GetState(module);
    state->module = module;
    import_array1(-1);
    pg_is_main_thread();
    PyMethodDef *const tables[] = {
#define X(table) table,
        CUD_FUNCTIONS(X)
#undef X
    };
    if (add_errors(state) < 0 || add_types(module, state) < 0) {
        return -1;
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (PyModule_AddFunctions(module, tables[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
#define X(name, base) Py_VISIT(state->name##Type);
    CUD_TYPES(X)
#undef X
#define X(name) Py_VISIT(state->name);
    CUD_OBJECTS(X)
#undef X
    return 0;
}

static int module_clear(PyObject *module) {
    /* Types keep using the state through their objects until the module itself goes, so the error
     * classes stay too. */
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->last_function);
#define X(name, base) Py_CLEAR(state->name##Type);
    CUD_TYPES(X)
#undef X
    return 0;
}

static void module_free(void *op) {
    State *state = PyModule_GetState((PyObject *)op);
    if (state == NULL) {
        return;
    }
    module_clear((PyObject *)op);
#define X(name) Py_CLEAR(state->name);
    CUD_OBJECTS(X)
#undef X
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)module_exec},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL}};

PyModuleDef cud_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pygpu._cuda",
    .m_doc = "CUDA as C extension types. Use it through the package pygpu.cuda.",
    .m_size = sizeof(State),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__cuda(void);
PyMODINIT_FUNC PyInit__cuda(void) {
    return PyModuleDef_Init(&cud_module);
}
