/* init.c - the extension module pygpu._cuda: its state, types and functions. */
#define PG_IMPORT_NUMPY
#include "cuda/cuda.h"
#include "cuda/objects/function.h"

State *cud_state_of(PyTypeObject *type) {
    PyObject *module = PyType_GetModuleByDef(type, &cud_module);
    return module != NULL ? PyModule_GetState(module) : NULL;
}

PG_DICT_MEMBERS(Object, CudObject);
static PyGetSetDef Object_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict,
     "dict[str, Any]: attributes that the program gave the object", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot Object_slots[] = {
    {Py_tp_doc, (void *)"What all types of this module derive from."},
    {Py_tp_new, (void *)pg_refuse_new},
    {Py_tp_traverse, (void *)cud_object_traverse},
    {Py_tp_dealloc, (void *)cud_object_dealloc},
    {Py_tp_members, Object_members},
    {Py_tp_getset, Object_getset},
    {0, NULL},
};
static PyType_Spec Object_spec = {.name = "pygpu.cuda.driver._Object",
                                  .basicsize = sizeof(CudObject),
                                  .slots = Object_slots,
                                  .flags = CUD_FLAGS | Py_TPFLAGS_BASETYPE |
                                           Py_TPFLAGS_IMMUTABLETYPE};

static const PgTypeRow type_rows[] = {{&Object_spec, offsetof(State, objectType), 0, 0},
#define SLOT(name) offsetof(State, name##Type)
#define X(name, base) \
    {&cud_##name##_spec, SLOT(name), SLOT(base), SLOT(name) == SLOT(InOut) ? SLOT(Out) : 0},
                                      CUD_TYPES(X)
#undef X
};
static const size_t object_offsets[] = {
#define X(name) offsetof(State, name),
    CUD_OBJECTS(X)
#undef X
};
static const PgStateLayout layout = {type_rows, sizeof type_rows / sizeof type_rows[0],
                                     object_offsets,
                                     sizeof object_offsets / sizeof object_offsets[0]};

static int module_exec(PyObject *module) {
    State *state = PyModule_GetState(module);
    if (pg_state_init(module, &cud_driver, &layout, "pygpu.cuda") < 0 || pg_add_types(module) < 0 ||
        cud_function_add_signature(state) < 0) {
        return -1;
    }
    import_array1(-1);
    pg_is_main_thread();
    PyMethodDef *const tables[] = {
#define X(table) table,
        CUD_FUNCTIONS(X)
#undef X
    };
    return pg_add_functions(module, tables, sizeof tables / sizeof tables[0]);
}

static int module_clear(PyObject *module) {
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->last_function);
    return pg_module_clear(module);
}

static PyModuleDef_Slot module_slots[] = PG_MODULE_SLOTS(module_exec);

PyModuleDef cud_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pygpu._cuda",
    .m_doc = "CUDA as C extension types. Use it through the package pygpu.cuda.",
    .m_size = sizeof(State),
    .m_slots = module_slots,
    .m_traverse = pg_module_traverse,
    .m_clear = module_clear,
    .m_free = pg_module_free,
};

PyMODINIT_FUNC PyInit__cuda(void);
PyMODINIT_FUNC PyInit__cuda(void) {
    return PyModuleDef_Init(&cud_module);
}
