/* cuda.h - what all files of pygpu._cuda share: module state, the head of an object, helpers.
 *
 * Lifetimes: an object owns a reference to its Context, so no handle outlives its context, and
 * deallocs release handles in the right order. After a context was destroyed (Context.detach), its
 * object remains with alive = 0, and the driver is not called for handles inside it. Errors:
 * helpers return -1 or NULL with a Python exception set; driver calls leave their status in an
 * int. Current context: the driver's own, per thread. If none is current, the first use makes the
 * device's primary context current. */
#ifndef PYGPU_CUDA_H
#define PYGPU_CUDA_H

#include "common/module_state.h"
#include "cuda/api/driver.h"
#include "cuda/api/error.h"

/* ---- module state ---------------------------------------------------------------------------- */

/* Types by name and base, each after its base: X(name, base). The base may be object. */
#include "cuda/types.h"
/* clang-format off */
/* default_context: the primary context that is made current in threads without one, kept until
 * the process ends; former_defaults: set of those that were it before, because they may be current
 * in threads. foreign_contexts: dict, the last context of another library for each device.
 * device_names: cache for cud_attribute(). last_function: name of the last kernel launched, for
 * the error message if it fails. */
#define CUD_OBJECTS(X) \
    X(default_context) X(former_defaults) X(foreign_contexts) X(device_names) X(function_names) \
    X(last_function)
/* clang-format on */

typedef struct Context Context;
typedef struct Stream Stream;

typedef struct State {
    PgState common;
    PyTypeObject *objectType; /* the base of all types */
#define X(name, base) PyTypeObject *name##Type;
    CUD_TYPES(X)
#undef X
#define X(name) PyObject *name;
    CUD_OBJECTS(X)
#undef X
    unsigned int last_grid[3], last_block[3];
} State;

extern PyModuleDef cud_module;
/* All live objects, borrowed, from every copy of the module. They are not in its state, which may
 * be freed before them at interpreter exit. */
extern Context *cud_contexts;
extern Stream *cud_streams;
State *cud_state_of(PyTypeObject *type); /* also for Python subclasses; NULL with an exception */

/* device.c: an __init__ that does nothing, for types whose __new__ does all the work; subclasses
 * may call it with their arguments. */
int cud_init_nothing(PyObject *self, PyObject *args, PyObject *kwargs);
/* tp_setattro of types whose attributes are fields of a structure: a new name is refused as a
 * misspelling, unless a subclass allows it. */
int cud_set_field(PyObject *op, PyObject *name, PyObject *value);
/* Whether a subclass has its own __init__, so that its arguments are not meant for our tp_new. */
static inline int cud_has_init(PyTypeObject *type, initproc ours) {
    return type->tp_init != ours;
}

/* ---- objects --------------------------------------------------------------------------------- */

#define CUD_HEAD        \
    PyObject_HEAD       \
    State *state;       \
    PyObject *weakrefs; \
    PyObject *dict; /* attributes that the program set on the object, or NULL */

typedef struct {
    CUD_HEAD
} CudObject;

/* Call at the end of every tp_dealloc. The attributes are dropped last: code that this runs can no
 * longer find the object in any list. */
static inline void cud_object_free(PyObject *op) {
    Py_CLEAR(((CudObject *)op)->dict);
    pg_object_free(op);
}

/* Call at the beginning of every tp_traverse. A cycle through attributes is broken by clearing
 * their dict. */
#define CUD_VISIT(op)                        \
    do {                                     \
        Py_VISIT(Py_TYPE(op));               \
        Py_VISIT(((CudObject *)(op))->dict); \
    } while (0)
/* For types that refer to nothing else. */
int cud_object_traverse(PyObject *op, visitproc visit, void *arg);
void cud_object_dealloc(PyObject *op);
/* tp_new of types whose __init__ does the work. */
PyObject *cud_object_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);

#define X(name, base) extern PyType_Spec cud_##name##_spec;
CUD_TYPES(X)
#undef X

#define X(table) extern PyMethodDef table[];
CUD_FUNCTIONS(X)
#undef X

#define CUD_FLAGS         \
    (Py_TPFLAGS_DEFAULT | \
     Py_TPFLAGS_HAVE_GC) /* programs can set attributes on classes and objects, as with PyCUDA */
#define CUD_TYPE(Name, Struct, flags) \
    PG_TYPE(cud, "pygpu.cuda.driver." #Name, Name, Struct, CUD_FLAGS | (flags))

#endif
