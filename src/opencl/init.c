/* init.c - the extension module pygpu._opencl: its state, types and functions. */
#define PG_IMPORT_NUMPY
#include "opencl/commands/box.h"
#include "opencl/commands/pieces.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/event.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gates.h"
#include "opencl/lifetime/instance_registry.h"
#include "opencl/objects/image.h"
#include "opencl/objects/kernel.h"
#include "opencl/objects/program.h"
#include "opencl/objects/sampler.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"
#include "opencl/svm.h"

State *ocl_state_of(PyTypeObject *type) {
    PyObject *module = PyType_GetModuleByDef(type, &ocl_module);
    return module != NULL ? PyModule_GetState(module) : NULL;
}

static PyStructSequence_Field name_version_fields[] = {
    {"version", "int: packed as major << 22 | minor << 12 | patch"},
    {"name", "str: name of the extension, language or layer"},
    {NULL, NULL}};
static PyStructSequence_Desc name_version_desc = {
    "pygpu.NameVersion", "A name with its version, as OpenCL 3.0 reports them.",
    name_version_fields, 2};

/* For types created in large numbers: vectorcall avoids the tuple and dict of arguments. A program
 * may have assigned another __init__ to the type, though. */
#define MADE_BY_VECTORCALL(Name, prefix)                                               \
    static initproc Name##_init;                                                       \
    static newfunc Name##_new;                                                         \
    static PyObject *Name##_make(PyObject *op, PyObject *const *args, size_t nargsf,   \
                                 PyObject *kwnames) {                                  \
        PyTypeObject *type = (PyTypeObject *)op;                                       \
        if (PG_UNLIKELY(type->tp_init != Name##_init || type->tp_new != Name##_new)) { \
            return pg_call_by_tuple(PyType_Type.tp_call, op, args, nargsf, kwnames);   \
        }                                                                              \
        return prefix##_vectorcall(op, args, nargsf, kwnames);                         \
    }                                                                                  \
    static void Name##_is_made(PyTypeObject *type) {                                   \
        Name##_init = type->tp_init;                                                   \
        Name##_new = type->tp_new;                                                     \
        type->tp_vectorcall = Name##_make;                                             \
    }
MADE_BY_VECTORCALL(Buffer, ocl_buffer)
MADE_BY_VECTORCALL(LocalMemory, ocl_local_memory)
MADE_BY_VECTORCALL(ImageFormat, ocl_image_format)
MADE_BY_VECTORCALL(SVM, ocl_svm)
MADE_BY_VECTORCALL(SVMAllocation, ocl_svm_allocation)
MADE_BY_VECTORCALL(UserEvent, ocl_user_event)

static PyType_Slot Object_slots[] = {
    {Py_tp_doc, (void *)"What all types of this module derive from."},
    {Py_tp_new, (void *)pg_refuse_new},
    {0, NULL},
};
static PyType_Spec Object_spec = {.name = "pygpu._Object",
                                  .basicsize = sizeof(PyObject),
                                  .slots = Object_slots,
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                                           Py_TPFLAGS_IMMUTABLETYPE};

static const PgTypeRow type_rows[] = {{&Object_spec, offsetof(State, objectType), 0, 0},
#define X(name, base) \
    {&ocl_##name##_spec, offsetof(State, name##Type), offsetof(State, base##Type), 0},
                                      OCL_TYPES(X)
#undef X
};
static const size_t object_offsets[] = {offsetof(State, NameVersion), offsetof(State, value_names)};
static const PgStateLayout layout = {type_rows, sizeof type_rows / sizeof type_rows[0],
                                     object_offsets,
                                     sizeof object_offsets / sizeof object_offsets[0]};

static int add_types(PyObject *module, State *state) {
    if (pg_add_types(module) < 0) {
        return -1;
    }
    Buffer_is_made(state->BufferType);
    LocalMemory_is_made(state->LocalMemoryType);
    ImageFormat_is_made(state->ImageFormatType);
    SVM_is_made(state->SVMType);
    SVMAllocation_is_made(state->SVMAllocationType);
    UserEvent_is_made(state->UserEventType);
    if (ocl_keep_class_methods(module, state) < 0 || ocl_kernel_add_signature(state) < 0) {
        return -1;
    }
    state->NameVersion = (PyObject *)PyStructSequence_NewType(&name_version_desc);
    state->value_names = PyDict_New();
    return state->NameVersion == NULL || state->value_names == NULL
               ? -1
               : PyModule_AddObjectRef(module, "NameVersion", state->NameVersion);
}

static int module_exec(PyObject *module) {
    State *state = PyModule_GetState(module);
    if (pg_state_init(module, &ocl_driver, &layout, "pygpu") < 0 || add_types(module, state) < 0) {
        return -1;
    }
    import_array1(-1);
    pg_is_main_thread();
    PyMethodDef *const tables[] = {
#define X(table) table,
        OCL_FUNCTIONS(X)
#undef X
    };
    if (pg_add_functions(module, tables, sizeof tables / sizeof tables[0]) < 0) {
        return -1;
    }
    return ocl_pending_ready(state);
}

static PyModuleDef_Slot module_slots[] = PG_MODULE_SLOTS(module_exec);

PyModuleDef ocl_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pygpu._opencl",
    .m_doc = "OpenCL as C extension types. Use it through the package pygpu.",
    .m_size = sizeof(State),
    .m_slots = module_slots,
    .m_traverse = pg_module_traverse,
    .m_clear = pg_module_clear,
    .m_free = pg_module_free,
};

PyMODINIT_FUNC PyInit__opencl(void);
PyMODINIT_FUNC PyInit__opencl(void) {
    return PyModuleDef_Init(&ocl_module);
}
