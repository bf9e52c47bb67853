/* module_state.h - the state that pygpu._opencl and pygpu._cuda have in common, and how the
 * modules make their types. */
#ifndef PG_MODULE_STATE_H
#define PG_MODULE_STATE_H

#include "common/driver_table.h"

/* LogicError, RuntimeError, make_error: from pygpu.errors. array_type: pygpu.GPUArray, once arrays
 * are used. reporter: see pg_report(). */
#define PG_STATE_OBJECTS(X) X(LogicError) X(RuntimeError) X(make_error) X(array_type) X(reporter)

/* A type of a module, and where its state stores the type and its bases. Bases must precede it. */
typedef struct {
    PyType_Spec *spec;
    size_t slot, base, second; /* offsets; 0 means no such base */
} PgTypeRow;

/* The part of a module's state after PgState: types, and other objects by their offsets. */
typedef struct {
    const PgTypeRow *types;
    size_t n_types;
    const size_t *objects;
    size_t n_objects;
} PgStateLayout;

/* The first member of a module's state. */
typedef struct {
    PyObject *module; /* borrowed, because the module owns its state */
    PgDriver *driver;
    const PgStateLayout *layout; /* static */
#define X(name) PyObject *name;
    PG_STATE_OBJECTS(X)
#undef X
    const volatile int32_t *report; /* NULL if nothing reports */
} PgState;

/* Call first in a module's exec. Returns -1 with an exception. It also fails in a sub-interpreter,
 * which Python 3.12 would refuse by itself: package cannot be imported there. */
int pg_state_init(PyObject *module, PgDriver *driver, const PgStateLayout *layout,
                  const char *package);

/* m_traverse, m_clear and m_free of a module whose state begins with PgState. Objects use the state
 * until the module itself is destroyed, so m_clear drops the types only. */
int pg_module_traverse(PyObject *module, visitproc visit, void *arg);
int pg_module_clear(PyObject *module);
void pg_module_free(void *module);

/* Kernels on CPU devices report errors by setting a word of memory; reporter() then raises the
 * error, and this returns -1. */
static inline int pg_report(const PgState *self) {
    if (!PG_UNLIKELY(self->report != NULL && *self->report != 0)) {
        return 0;
    }
    PyObject *done = PyObject_CallNoArgs(self->reporter);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

/* Makes the types of the layout and adds them to the module, except the one without a base: the
 * root from which all others derive. Returns -1 with an exception. */
int pg_add_types(PyObject *module);

/* Adds the functions of all tables. Returns 0, or -1 with an exception. */
int pg_add_functions(PyObject *module, PyMethodDef *const *tables, size_t n);

/* tp_new of the root. The root is immutable, so object.__new__ cannot bypass this, even if a
 * program assigns to a type's __new__. */
PyObject *pg_refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);

#ifdef Py_mod_multiple_interpreters
#define PG_ONE_INTERPRETER \
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#else
#define PG_ONE_INTERPRETER
#endif
#define PG_MODULE_SLOTS(exec)                             \
    {                                                     \
        {Py_mod_exec, (void *)exec}, PG_ONE_INTERPRETER { \
            0, NULL                                       \
        }                                                 \
    }

#endif
