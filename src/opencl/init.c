/* init.c - the extension module pygpu._opencl: its state, its types, its functions. */
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

typedef struct {
    PyType_Spec *spec;
    size_t offset;
    Py_ssize_t base; /* offset of the base's slot in State, -1: none of them */
    int exported;
} TypeRow;

#define SLOT(name) offsetof(State, name##Type)
#define ROW(name) \
    { &ocl_##name##_spec, SLOT(name), -1, 1 }
#define ROW_OF(name, base) \
    { &ocl_##name##_spec, SLOT(name), (Py_ssize_t)SLOT(base), 1 }

/* Bases stand before what derives from them. */
static const TypeRow type_rows[] = {
    ROW(Platform),
    ROW(Device),
    ROW(Context),
    ROW(CommandQueue),
    ROW(Event),
    ROW_OF(NannyEvent, Event),
    ROW_OF(UserEvent, Event),
    ROW(Profile),
    ROW(MemoryObjectHolder),
    ROW_OF(MemoryObject, MemoryObjectHolder),
    ROW_OF(Buffer, MemoryObject),
    ROW(MemoryMap),
    ROW(ImageFormat),
    ROW(ImageDescriptor),
    ROW_OF(Image, MemoryObject),
    ROW(Sampler),
    ROW_OF(Pipe, MemoryObject),
    ROW(SVMPointer),
    ROW_OF(SVM, SVMPointer),
    ROW_OF(SVMAllocation, SVMPointer),
    ROW(Program),
    ROW(Kernel),
    ROW(LocalMemory),
    ROW(AllocatorBase),
    ROW_OF(ImmediateAllocator, AllocatorBase),
    ROW_OF(DeferredAllocator, AllocatorBase),
    ROW(SVMAllocator),
    ROW(MemoryPool),
    ROW(SVMPool),
    ROW_OF(PooledBuffer, Buffer),
    ROW_OF(PooledSVM, SVMPointer),
    ROW_OF(GLBuffer, MemoryObject),
    ROW_OF(GLRenderBuffer, MemoryObject),
    ROW_OF(GLTexture, Image),
};

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

/* Made by the thousand, so without a tuple and a dict of their arguments; but a program may have
 * given the type another __init__. */
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

static PyObject *refuse_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                            PyObject *Py_UNUSED(kwargs)) {
    return PyErr_Format(
        PyExc_TypeError,
        "%s cannot be made without its own __new__: it needs a handle of the driver",
        type->tp_name);
}

/* What all types derive from. As it cannot be changed, object.__new__ makes none of them, even if a
 * program assigns to their __new__. */
static PyType_Slot Object_slots[] = {
    {Py_tp_doc, (void *)"What all types of this module derive from."},
    {Py_tp_new, (void *)refuse_new},
    {0, NULL},
};
static PyType_Spec Object_spec = {.name = "pygpu._Object",
                                  .basicsize = sizeof(PyObject),
                                  .slots = Object_slots,
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                                           Py_TPFLAGS_IMMUTABLETYPE};

static int add_types(PyObject *module, State *state) {
    PyObject *root = PyType_FromModuleAndSpec(module, &Object_spec, NULL);
    for (size_t i = 0; root != NULL && i < sizeof type_rows / sizeof type_rows[0]; i++) {
        const TypeRow *row = &type_rows[i];
        PyObject *base = row->base >= 0 ? *(PyObject **)((char *)state + row->base) : root;
        PyObject *type = PyType_FromModuleAndSpec(module, row->spec, base);
        *(PyObject **)((char *)state + row->offset) = type;
        if (type == NULL || PyModule_AddType(module, (PyTypeObject *)type) < 0) {
            Py_CLEAR(root);
        }
    }
    if (root == NULL) {
        return -1;
    }
    Py_DECREF(root); /* the types hold it */
    Buffer_is_made(state->BufferType);
    LocalMemory_is_made(state->LocalMemoryType);
    ImageFormat_is_made(state->ImageFormatType);
    SVM_is_made(state->SVMType);
    SVMAllocation_is_made(state->SVMAllocationType);
    UserEvent_is_made(state->UserEventType);
    if (ocl_keep_class_methods(module, state) < 0) {
        return -1;
    }
    state->NameVersion = (PyObject *)PyStructSequence_NewType(&name_version_desc);
    return state->NameVersion != NULL
               ? PyModule_AddObjectRef(module, "NameVersion", state->NameVersion)
               : -1;
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
    state->make_error = PyObject_GetAttrString(errors, "_make_error");
    Py_DECREF(errors);
    return state->Error && state->LogicError && state->MemoryError && state->RuntimeError &&
                   state->make_error
               ? 0
               : -1;
}

static int module_exec(PyObject *module) {
    if (PyInterpreterState_Get() !=
        PyInterpreterState_Main()) { /* Python 3.12 sees to this by itself */
        PyErr_SetString(PyExc_ImportError, "pygpu cannot be imported in a sub-interpreter: a "
                                           "driver has one set of threads and callbacks "
                                           "in a process; use the main interpreter, or processes");
        return -1;
    }
    State *state = PyModule_GetState(module);
    state->module = module;
    import_array1(-1);
    pg_is_main_thread();
    PyMethodDef *const tables[] = {
        ocl_driver_methods,   ocl_platform_functions, ocl_event_functions,  ocl_transfer_functions,
        ocl_buffer_functions, ocl_image_functions,    ocl_svm_functions,    ocl_program_functions,
        ocl_kernel_functions, ocl_fill_functions,     ocl_map_functions,    ocl_rect_functions,
        ocl_enum_functions,   ocl_gl_functions,       ocl_region_functions, ocl_piece_functions,
        ocl_gate_functions,   ocl_deferral_methods};
    if (add_errors(state) < 0 || add_types(module, state) < 0) {
        return -1;
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (PyModule_AddFunctions(module, tables[i]) < 0) {
            return -1;
        }
    }
    return ocl_pending_ready(state);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
#define X(name) Py_VISIT(state->name##Type);
    OCL_TYPES(X)
#undef X
#define X(name) Py_VISIT(state->name);
    OCL_OBJECTS(X)
#undef X
    return 0;
}

static int module_clear(PyObject *module) {
    /* Types keep using the state through their objects until the module itself goes, so the error
     * classes stay too. */
    State *state = PyModule_GetState(module);
#define X(name) Py_CLEAR(state->name##Type);
    OCL_TYPES(X)
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
    OCL_OBJECTS(X)
#undef X
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)module_exec},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL}};

PyModuleDef ocl_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pygpu._opencl",
    .m_doc = "OpenCL as C extension types. Use it through the package pygpu.",
    .m_size = sizeof(State),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__opencl(void);
PyMODINIT_FUNC PyInit__opencl(void) {
    return PyModuleDef_Init(&ocl_module);
}
