/* init.c - the extension module pygpu._array: the array header and its operators. */
#define PG_IMPORT_NUMPY
#include "array/chain.h"
#include "array/fastpath.h"
#include "array/launch_codes.h"
#include "array/launch_plan.h"
#include "common/module_state.h"

State *arr_state; /* there is only one interpreter: see module_exec() */
int arr_tracing;

static const char set_operate_doc[] =
    "_set_operate(operate, /)\n--\n\n(operate: Callable[..., Any], /) -> None\n\nWhat does the "
    "work of operators: operate(name, out, a[, b]).";

static PyObject *set_operate(PyObject *module, PyObject *operate) {
    State *state = PyModule_GetState(module);
    Py_XSETREF(state->operate, Py_NewRef(operate));
    Py_RETURN_NONE;
}

static const char set_trace_doc[] =
    "_set_trace(trace, /)\n--\n\n(trace: Callable[..., Any], /) -> None\n\nWhat does the calls of "
    "pygpu.xp while a function is traced: trace(function, args, options).";

static PyObject *set_trace(PyObject *module, PyObject *trace) {
    State *state = PyModule_GetState(module);
    Py_XSETREF(state->trace, Py_NewRef(trace));
    Py_RETURN_NONE;
}

static const char tracing_doc[] =
    "_tracing(change, /)\n--\n\n(change: int, /) -> None\n\nOne function more (1) or less (-1) is "
    "being traced.";

static PyObject *tracing(PyObject *Py_UNUSED(module), PyObject *change) {
    long by = PyLong_AsLong(change);
    if (by == -1 && PyErr_Occurred()) {
        return NULL;
    }
    arr_tracing += by < 0 ? -1 : 1;
    Py_RETURN_NONE;
}

static const char dlpack_import_doc[] =
    "_dlpack_import(capsule, /)\n--\n\n(capsule: Any, /) -> DLPackTensor\n\nTake over what a "
    "DLPack capsule holds. Raises BufferError, ValueError, TypeError.";

static PyMethodDef functions[] = {
    {"_set_operate", set_operate, METH_O, set_operate_doc},
    {"_set_trace", set_trace, METH_O, set_trace_doc},
    {"_tracing", tracing, METH_O, tracing_doc},
    {"_dlpack_export", FAST(arr_dlpack_export), arr_dlpack_export__doc__},
    {"_dlpack_import", arr_dlpack_import, METH_O, dlpack_import_doc},
    {"_record", arr_record, METH_NOARGS, arr_record_doc},
    {NULL, NULL, 0, NULL},
};

static int make_operation_names(State *state) {
    static const char *const names[OP_COUNT] = {
#define OP2(name, slot)   #name,
#define OP1(name, slot)   #name,
#define OPC(name, python) #name,
#include "array/ops.def"
#undef OP2
#undef OP1
#undef OPC
        "power", "divmod"};
    state->ids = PyDict_New();
    for (int i = 0; i < OP_COUNT; i++) {
        state->names[i] = PyUnicode_InternFromString(names[i]);
        PyObject *id = PyLong_FromLong(i);
        int failed = state->ids == NULL || state->names[i] == NULL || id == NULL ||
                     PyDict_SetItem(state->ids, state->names[i], id) < 0;
        Py_XDECREF(id);
        if (failed) {
            return -1;
        }
    }
    return 0;
}

static int make_strings(State *state) {
    const struct {
        PyObject **at;
        const char *text;
    } rows[] = {
#define X(name, text) {&state->name, text},
        ARR_STRINGS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if ((*rows[i].at = PyUnicode_InternFromString(rows[i].text)) == NULL) {
            return -1;
        }
    }
    return 0;
}

static int make_types(PyObject *module, State *state) {
    const struct {
        PyTypeObject **at;
        PyType_Spec *spec;
        PyTypeObject *base;
        int is_public;
    } rows[] = {
#define X(name, base, public) {&state->name##Type, &arr_##name##_spec, base, public},
        ARR_TYPES(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i].at = (PyTypeObject *)PyType_FromModuleAndSpec(module, rows[i].spec,
                                                               (PyObject *)rows[i].base);
        if (*rows[i].at == NULL ||
            (rows[i].is_public && PyModule_AddType(module, *rows[i].at) < 0)) {
            return -1;
        }
    }
    return 0;
}

/* The constants with which Python describes launches. */
static int add_constants(PyObject *module) {
#define ROW(name) \
    { "_" #name, name }
    static const struct {
        const char *name;
        long value;
    } rows[] = {ROW(CALL_MAX),    ROW(KIND_INT),           ROW(KIND_FLOAT),   ROW(KIND_SCALAR),
                ROW(PLAN_RESULT), ROW(PLAN_FIRST_SCRATCH), ROW(GIVE_NUMBER),  ROW(GIVE_MEMORY),
                ROW(GIVE_OFFSET), ROW(GIVE_SHAPE),         ROW(GIVE_STRIDES), ROW(GIVE_RECORD),
                ROW(GIVE_ID),     ROW(TEST_CONSTANT),      ROW(TEST_VALUE),   ROW(TEST_SHAPE),
                ROW(TEST_GROUPS), ROW(TEST_SIZE),          ROW(TEST_ADD),     ROW(TEST_TIMES),
                ROW(TEST_FLOOR),  ROW(TEST_MIN),           ROW(TEST_MAX),     ROW(TEST_FITS),
                ROW(TEST_MINUS),  ROW(TEST_LESS),          ROW(RECORD_BYTES)};
#undef ROW
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (PyModule_AddIntConstant(module, rows[i].name, rows[i].value) < 0) {
            return -1;
        }
    }
    return 0;
}

static int module_exec(PyObject *module) {
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "pygpu cannot be imported in a sub-interpreter; use the "
                                           "main interpreter, or processes");
        return -1;
    }
    import_array1(-1);
    State *state = PyModule_GetState(module);
    arr_state = state;
    const char *full = getenv("PYGPU_FULL_TRACEBACKS");
    state->full_tracebacks = full != NULL && *full != '\0' && strcmp(full, "0") != 0;
    if (make_operation_names(state) < 0 || make_strings(state) < 0 ||
        make_types(module, state) < 0 || add_constants(module) < 0) {
        return -1;
    }
    PyMethodDef *const tables[] = {
#define X(table) table,
        ARR_FUNCTIONS(X)
#undef X
    };
    return pg_add_functions(module, tables, sizeof tables / sizeof tables[0]);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
#define X(name, base, public) Py_VISIT(state->name##Type);
    ARR_TYPES(X)
#undef X
    Py_VISIT(state->operate);
    Py_VISIT(state->trace);
    Py_VISIT(state->ids);
    return 0;
}

static int module_clear(PyObject *module) {
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->operate);
    return 0;
}

static void module_free(void *op) {
    State *state = PyModule_GetState((PyObject *)op);
    if (state == NULL) {
        return;
    }
    module_clear((PyObject *)op);
#define X(name, base, public) Py_CLEAR(state->name##Type);
    ARR_TYPES(X)
#undef X
    Py_CLEAR(state->trace);
    arr_clear_chains();
    arr_clear_backends();
    arr_clear_layout_cache();
    Py_CLEAR(state->ids);
#define X(name, text) Py_CLEAR(state->name);
    ARR_STRINGS(X)
#undef X
    for (int i = 0; i < OP_COUNT; i++) {
        Py_CLEAR(state->names[i]);
    }
}

static PyModuleDef_Slot module_slots[] = PG_MODULE_SLOTS(module_exec);

PyModuleDef arr_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pygpu._array",
    .m_doc = "Arrays on devices as a C extension type. Use it through pygpu.array and "
             "pygpu.cuda.gpuarray.",
    .m_size = sizeof(State),
    .m_methods = functions,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__array(void);
PyMODINIT_FUNC PyInit__array(void) {
    return PyModuleDef_Init(&arr_module);
}
