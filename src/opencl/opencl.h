/* opencl.h - what all files of pygpu._opencl share: module state, the head of an object, helpers.
 *
 * Lifetimes: an object embeds (strongly) what its handle needs, so the order of release is the
 * order of dealloc. Errors: helpers return -1 or NULL with a Python exception set; driver calls
 * leave their status in an
 * int. */
#ifndef PYGPU_OPENCL_H
#define PYGPU_OPENCL_H

#include "opencl/api/driver.h"
#include "opencl/api/error.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/quirks.h"

/* ---- module state ---------------------------------------------------------------------------- */

/* clang-format off */
#define OCL_TYPES(X) \
    X(Platform) X(Device) X(Context) X(CommandQueue) X(Event) X(NannyEvent) X(UserEvent) \
    X(Profile) X(MemoryObjectHolder) X(MemoryObject) X(Buffer) X(MemoryMap) X(ImageFormat) \
    X(ImageDescriptor) X(Image) X(Sampler) X(Pipe) X(SVMPointer) X(SVM) X(SVMAllocation) \
    X(Program) X(Kernel) X(LocalMemory) X(AllocatorBase) X(ImmediateAllocator) \
    X(DeferredAllocator) X(SVMAllocator) X(MemoryPool) X(SVMPool) X(PooledBuffer) X(PooledSVM) \
    X(GLBuffer) X(GLRenderBuffer) X(GLTexture)
/* clang-format on */
/* clang-format off */
#define OCL_OBJECTS(X) \
    X(Error) X(LogicError) X(MemoryError) X(RuntimeError) X(make_error) X(NameVersion) \
    X(array_type) X(reporter)
/* clang-format on */

typedef struct Platform Platform;
typedef struct Device Device;
typedef struct Context Context;
typedef struct Queue Queue;
typedef struct Event Event;
typedef struct Memory Memory;
typedef struct Program Program;

typedef struct State {
#define X(name) PyTypeObject *name##Type;
    OCL_TYPES(X)
#undef X
#define X(name) PyObject *name;
    OCL_OBJECTS(X)
#undef X
    PyObject *module;               /* borrowed: the module owns its state */
    const volatile int32_t *report; /* see pg_report() */
} State;

extern PyModuleDef ocl_module;
State *ocl_state_of(
    PyTypeObject *type); /* also for subclasses made in Python; NULL with an exception */

/* ---- objects --------------------------------------------------------------------------------- */

#define OCL_HEAD  \
    PyObject_HEAD \
    State *state; \
    PyObject *weakrefs;

#define OCL_KNOWN_HEAD(type, name) \
    OCL_HEAD type name;            \
    PyObject *next_instance; /* of a kind that is found by its handle: instance_registry.h */

typedef struct {
    OCL_HEAD
} OclObject;

/* Every object that owns a handle has it right after the head, so that handle.c serves them all.
 * NULL: released. */
typedef struct {
    OCL_HEAD
    void *handle;
} OclHandle;

int ocl_as_handle(State *state, PyObject *obj, const char *call, size_t *out);
Py_hash_t ocl_handle_hash(PyObject *op);
PyObject *ocl_handle_int_ptr(PyObject *op, void *closure);
PyObject *ocl_handle_compare(PyObject *op, PyObject *other, int how);
int ocl_compares_by(PyObject *op,
                    richcmpfunc compare); /* of one of our types, or of a class made of one */
#define OCL_HANDLE_SLOTS                              \
    {Py_tp_hash, (void *)ocl_handle_hash}, {          \
        Py_tp_richcompare, (void *)ocl_handle_compare \
    }
#define OCL_HANDLE_GETSET(kind) \
    { "int_ptr", ocl_handle_int_ptr, NULL, "int: the " kind " of the driver", NULL }

/* ---- methods of the module, by file ---------------------------------------------------------- */

extern PyMethodDef ocl_platform_functions[], ocl_event_functions[], ocl_transfer_functions[],
    ocl_buffer_functions[], ocl_image_functions[], ocl_svm_functions[], ocl_program_functions[],
    ocl_kernel_functions[], ocl_fill_functions[], ocl_map_functions[], ocl_rect_functions[],
    ocl_enum_functions[], ocl_gl_functions[], ocl_region_functions[];

#define X(name) extern PyType_Spec ocl_##name##_spec;
OCL_TYPES(X)
#undef X
#define OCL_FLAGS Py_TPFLAGS_DEFAULT /* classes can be given attributes, as PyOpenCL's */

#endif
