/* opencl.h - what all files of pygpu._opencl share: module state, the head of an object, helpers.
 *
 * Lifetimes: an object owns references to what its handle needs, so deallocs release handles in
 * the right order. Errors: helpers return -1 or NULL with a Python exception set; driver calls
 * leave their status in an int. */
#ifndef PYGPU_OPENCL_H
#define PYGPU_OPENCL_H

#include "common/module_state.h"
#include "opencl/api/driver.h"
#include "opencl/api/error.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/quirks.h"

/* ---- module state ---------------------------------------------------------------------------- */

#include "opencl/types.h"

typedef struct Platform Platform;
typedef struct Device Device;
typedef struct Context Context;
typedef struct Queue Queue;
typedef struct Event Event;
typedef struct Memory Memory;
typedef struct Program Program;

typedef struct State {
    PgState common;
    PyTypeObject *objectType; /* the base of all types */
#define X(name, base) PyTypeObject *name##Type;
    OCL_TYPES(X)
#undef X
    PyObject *NameVersion; /* a struct sequence */
    PyObject *value_names; /* {param: a dict from its answers to ints that name them} */
} State;

extern PyModuleDef ocl_module;
State *ocl_state_of(PyTypeObject *type); /* also for Python subclasses; NULL with an exception */

/* ---- objects --------------------------------------------------------------------------------- */

#define OCL_HEAD  \
    PyObject_HEAD \
    State *state; \
    PyObject *weakrefs;

#define OCL_INSTANCE_HEAD(type, name) \
    OCL_HEAD type name;               \
    PyObject *next_instance; /* of a kind that is found by handle: instance_registry.h */

typedef struct {
    OCL_HEAD
} OclObject;

/* Every object that owns a handle has it right after the head, so that handle.c works for all of
 * them. NULL after release(). */
typedef struct {
    OCL_HEAD
    void *handle;
} OclHandle;

int ocl_as_handle(State *state, PyObject *obj, const char *call, size_t *out);
void ocl_note_platforms(const cl_platform_id *ids, cl_uint count); /* all: for ocl_as_handle() */
void ocl_note_device(cl_device_id id);
Py_hash_t ocl_handle_hash(PyObject *op);
PyObject *ocl_handle_int_ptr(PyObject *op, void *closure);
PyObject *ocl_handle_compare(PyObject *op, PyObject *other, int how);
int ocl_compares_by(PyObject *op, richcmpfunc compare); /* whether it is an instance of one of our
                                                         * types or of a subclass */
/* from_int_ptr() of a type: parses the arguments, and returns what wrap() makes of the handle. */
typedef PyObject *(*OclWrap)(State *state, PyTypeObject *type, void *handle, int retain);
PyObject *ocl_from_int_ptr(PyObject *type, PyObject *const *a, const char *call, OclWrap wrap);
/* Defines it for a type whose handles are counted; it ends in Name_of_handle(), an OclWrap. */
#define OCL_FROM_INT_PTR(Name, cls, returned, subject)                                        \
    PG_DOC(Name##_from_int_ptr__doc__, "from_int_ptr", "int_ptr_value, retain=True",          \
           "(int_ptr_value: int, retain: bool = True) -> " returned,                          \
           subject " that another library passed as an integer; retain=False takes over its " \
                   "reference.\n\nLogicError for most wrong numbers (on Linux).");            \
    PG_FUNCTION(Name##_from_int_ptr, 2)                                                       \
    static PyObject *Name##_from_int_ptr_impl(PyObject *type, PyObject *const *a) {           \
        return ocl_from_int_ptr(type, a, cls ".from_int_ptr", Name##_of_handle);              \
    }
#define OCL_FROM_INT_PTR_METHOD(Name)                                              \
    {                                                                              \
        "from_int_ptr", (PyCFunction)(void (*)(void))Name##_from_int_ptr,          \
            METH_FASTCALL | METH_KEYWORDS | METH_CLASS, Name##_from_int_ptr__doc__ \
    }
#define OCL_VERSION_METHOD(Name)                                                            \
    {                                                                                       \
        "_get_cl_version", Name##_get_cl_version, METH_NOARGS,                              \
            "_get_cl_version($self, /)\n--\n\n() -> tuple[int, int]\n\nThe OpenCL version " \
            "that holds here."                                                              \
    }
#define OCL_HANDLE_SLOTS                              \
    {Py_tp_hash, (void *)ocl_handle_hash}, {          \
        Py_tp_richcompare, (void *)ocl_handle_compare \
    }
#define OCL_HANDLE_GETSET(kind) \
    { "int_ptr", ocl_handle_int_ptr, NULL, "int: the " kind " of the driver", NULL }

#define X(name, base) extern PyType_Spec ocl_##name##_spec;
OCL_TYPES(X)
#undef X

#define X(table) extern PyMethodDef table[];
OCL_FUNCTIONS(X)
#undef X

#define OCL_FLAGS Py_TPFLAGS_DEFAULT /* programs can assign class attributes, as with PyOpenCL */
#define OCL_TYPE(Name, Struct, flags) \
    PG_TYPE(ocl, "pygpu." #Name, Name, Struct, OCL_FLAGS | (flags))

#endif
