/* init.c - the extension module pygpu._array: the header of arrays and its operators. */
#define PG_IMPORT_NUMPY
#include "array/fastpath.h"

State *arr_state; /* one interpreter: see module_exec() */

static const char set_operate_doc[] =
    "_set_operate(operate, /)\n--\n\n(operate: Callable[..., Any], /) -> None\n\nWhat does the "
    "work of operators: operate(name, out, a[, b]).";

static PyObject *set_operate(PyObject *module, PyObject *operate) {
    State *state = PyModule_GetState(module);
    Py_XSETREF(state->operate, Py_NewRef(operate));
    Py_RETURN_NONE;
}

static const char dlpack_import_doc[] =
    "_dlpack_import(capsule, /)\n--\n\n(capsule: Any, /) -> DLPackTensor\n\nTake over what a "
    "DLPack capsule holds. Raises BufferError, ValueError, TypeError.";

static PyMethodDef functions[] = {
    {"_set_operate", set_operate, METH_O, set_operate_doc},
    {"_dlpack_export", FAST(arr_dlpack_export), arr_dlpack_export__doc__},
    {"_dlpack_import", arr_dlpack_import, METH_O, dlpack_import_doc},
    {"_record", arr_record, METH_NOARGS, arr_record_doc},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module) {
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "pygpu cannot be imported in a sub-interpreter; use the "
                                           "main interpreter, or processes");
        return -1;
    }
    static const char *const names[OP_COUNT] = {
#define OP2(name, slot)   #name,
#define OP1(name, slot)   #name,
#define OPC(name, python) #name,
#include "array/ops.def"
#undef OP2
#undef OP1
#undef OPC
        "power", "divmod"};
    import_array1(-1);
    State *state = PyModule_GetState(module);
    arr_state = state;
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
    state->array_ufunc = PyUnicode_InternFromString("_array_ufunc");
    state->call_word = PyUnicode_InternFromString("__call__");
    state->out_word = PyUnicode_InternFromString("out");
    state->table = PyUnicode_InternFromString("table");
    state->comparison_dtype = PyUnicode_InternFromString("_comparison_dtype");
    state->GPUArrayType =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &arr_GPUArray_spec, NULL);
    state->EventListType = (PyTypeObject *)PyType_FromModuleAndSpec(module, &arr_EventList_spec,
                                                                    (PyObject *)&PyList_Type);
    state->KernelTableType =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &arr_KernelTable_spec, NULL);
    state->TensorType = (PyTypeObject *)PyType_FromModuleAndSpec(module, &arr_Tensor_spec, NULL);
    if (state->TensorType == NULL || PyModule_AddType(module, state->TensorType) < 0) {
        return -1;
    }
    state->PlanType = (PyTypeObject *)PyType_FromModuleAndSpec(module, &arr_Plan_spec, NULL);
    state->PlansType = (PyTypeObject *)PyType_FromModuleAndSpec(module, &arr_Plans_spec, NULL);
    state->PlansOfBackendsType =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &arr_PlansOfBackends_spec, NULL);
    if (state->PlansOfBackendsType == NULL) {
        return -1;
    }
    state->KernelBaseType =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &arr_KernelBase_spec, NULL);
    state->LauncherType =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &arr_Launcher_spec, NULL);
    state->ShortcutType =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &arr_Shortcut_spec, NULL);
    if (state->ShortcutType == NULL || state->KernelBaseType == NULL ||
        state->LauncherType == NULL || state->PlanType == NULL || state->PlansType == NULL ||
        state->array_ufunc == NULL || state->call_word == NULL || state->out_word == NULL) {
        return -1;
    }
    if (state->table == NULL || state->comparison_dtype == NULL || state->GPUArrayType == NULL ||
        state->EventListType == NULL || state->KernelTableType == NULL) {
        return -1;
    }
    return PyModule_AddFunctions(module, arr_call_functions) < 0 ||
                   PyModule_AddFunctions(module, arr_backend_functions) < 0 ||
                   PyModule_AddFunctions(module, arr_create_functions) < 0 ||
                   PyModule_AddType(module, state->ShortcutType) < 0 ||
                   PyModule_AddType(module, state->PlansType) < 0 ||
                   PyModule_AddType(module, state->PlansOfBackendsType) < 0 ||
                   PyModule_AddType(module, state->KernelBaseType) < 0 ||
                   PyModule_AddType(module, state->LauncherType) < 0 ||
                   PyModule_AddType(module, state->GPUArrayType) < 0 ||
                   PyModule_AddType(module, state->KernelTableType) < 0
               ? -1
               : 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
    Py_VISIT(state->GPUArrayType);
    Py_VISIT(state->EventListType);
    Py_VISIT(state->KernelTableType);
    Py_VISIT(state->TensorType);
    Py_VISIT(state->operate);
    Py_VISIT(state->PlanType);
    Py_VISIT(state->PlansType);
    Py_VISIT(state->PlansOfBackendsType);
    Py_VISIT(state->KernelBaseType);
    Py_VISIT(state->LauncherType);
    Py_VISIT(state->ShortcutType);
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
    Py_CLEAR(state->GPUArrayType);
    Py_CLEAR(state->EventListType);
    Py_CLEAR(state->KernelTableType);
    Py_CLEAR(state->PlanType);
    Py_CLEAR(state->PlansType);
    Py_CLEAR(state->PlansOfBackendsType);
    Py_CLEAR(state->KernelBaseType);
    Py_CLEAR(state->LauncherType);
    Py_CLEAR(state->ShortcutType);
    arr_forget_backends();
    arr_forget_layouts();
    Py_CLEAR(state->ids);
    Py_CLEAR(state->array_ufunc);
    Py_CLEAR(state->call_word);
    Py_CLEAR(state->out_word);
    Py_CLEAR(state->TensorType);
    Py_CLEAR(state->table);
    for (int i = 0; i < OP_COUNT; i++) {
        Py_CLEAR(state->names[i]);
    }
    Py_CLEAR(state->comparison_dtype);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)module_exec},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL}};

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
