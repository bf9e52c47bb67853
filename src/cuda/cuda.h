/* cuda.h - what all files of pygpu._cuda share: module state, the head of an object, helpers.
 *
 * Lifetimes: an object embeds (strongly) its Context, so a handle never outlives it; the order of
 * release is the order of dealloc. A context that was destroyed (Context.detach) stays as an object
 * with alive = 0, and nothing is called for handles inside it. Errors: helpers return -1 or NULL
 * with a Python exception set; driver calls leave their status in an int. Current context: the
 * driver's own, per thread. Where none is current, the first use makes the device's primary context
 * current. */
#ifndef PYGPU_CUDA_H
#define PYGPU_CUDA_H

#include "common/module_state.h"
#include "cuda/api/driver.h"
#include "cuda/api/error.h"

/* ---- module state ---------------------------------------------------------------------------- */

/* Types by name and base, bases first; X(name, base), the base may be object. */
#include "cuda/types.h"
/* clang-format off */
/* default_context: the primary context that a first use made current, kept for the process
 * foreign_contexts: dict: by device, the last context of another library
 * device_names: attributes that were asked for by name, see cud_attribute()
 * last_function: name of the kernel of the last launch, for the message of a kernel that failed */
#define CUD_OBJECTS(X) \
    X(default_context) X(foreign_contexts) X(device_names) X(function_names) X(last_function)
/* clang-format on */

typedef struct Context Context;
typedef struct Stream Stream;

typedef struct State {
    PgState common;
    PyTypeObject *objectType; /* what all types derive from */
#define X(name, base) PyTypeObject *name##Type;
    CUD_TYPES(X)
#undef X
#define X(name) PyObject *name;
    CUD_OBJECTS(X)
#undef X
    unsigned int last_grid[3], last_block[3];
} State;

extern PyModuleDef cud_module;
/* All live objects, borrowed, of whatever copy of the module. Not in its state: at the
 * interpreter's end that may be freed before them. */
extern Context *cud_contexts;
extern Stream *cud_streams;
State *cud_state_of(
    PyTypeObject *type); /* also for subclasses made in Python; NULL with an exception */

/* device.c: the __init__ of types whose __new__ does it all, for subclasses that call it with their
 * arguments. */
int cud_init_nothing(PyObject *self, PyObject *args, PyObject *kwargs);
/* tp_setattro of types whose attributes are fields of a structure: a new name is a misspelt one,
 * unless a subclass has it. */
int cud_set_field(PyObject *op, PyObject *name, PyObject *value);
/* Whether a subclass has an __init__ of its own, whose arguments are none of our tp_new's. */
static inline int cud_has_init(PyTypeObject *type, initproc ours) {
    return type->tp_init != ours;
}

/* ---- objects --------------------------------------------------------------------------------- */

#define CUD_HEAD        \
    PyObject_HEAD       \
    State *state;       \
    PyObject *weakrefs; \
    PyObject *dict; /* attributes that a program gave the object, or NULL */

typedef struct {
    CUD_HEAD
} CudObject;

/* The end of every tp_dealloc. Attributes go last: code that runs then finds the object in no list
 * any more. */
static inline void cud_object_free(PyObject *op) {
    PyTypeObject *type = Py_TYPE(op);
    Py_CLEAR(((CudObject *)op)->dict);
    type->tp_free(op);
    Py_DECREF(type);
}

/* The beginning of every tp_traverse. A cycle through attributes is cut where their dict is
 * cleared. */
#define CUD_VISIT(op)                        \
    do {                                     \
        Py_VISIT(Py_TYPE(op));               \
        Py_VISIT(((CudObject *)(op))->dict); \
    } while (0)
int cud_object_traverse(PyObject *op, visitproc visit,
                        void *arg); /* of what refers to nothing else */

#define X(name, base) extern PyType_Spec cud_##name##_spec;
CUD_TYPES(X)
#undef X

#define X(table) extern PyMethodDef table[];
CUD_FUNCTIONS(X)
#undef X

#define CUD_FLAGS         \
    (Py_TPFLAGS_DEFAULT | \
     Py_TPFLAGS_HAVE_GC) /* classes can be given attributes, as PyCUDA's, and so can objects */

#endif
