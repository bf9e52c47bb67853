/* arraymod.h - what the files of the module pygpu._array share. */
#ifndef PYGPU_ARRAYMOD_H
#define PYGPU_ARRAYMOD_H

#include "array/types.h"
#include "common/gpuarray.h"

typedef enum {
#define OP2(name, slot)   OP_##name,
#define OP1(name, slot)   OP_##name,
#define OPC(name, python) OP_##name,
#include "array/ops.def"
#undef OP2
#undef OP1
#undef OPC
    OP_power,
    OP_divmod,
    OP_COUNT
} Op;

typedef struct {
#define X(name, base, public) PyTypeObject *name##Type;
    ARR_TYPES(X)
#undef X
#define X(name, text) PyObject *name;
    ARR_STRINGS(X)
#undef X
    PyObject *ids;     /* dict: an operation's number by its name or NumPy ufunc */
    PyObject *trace;   /* trace(function, args, options): handles calls of pygpu.xp while a
                        * function is traced; see pygpu/_src/array/trace_arrays.py */
    PyObject *operate; /* operate(name, out or None, *operands): handles what the fast path cannot;
                        * see pygpu/_src/array/operators.py */
    PyObject *names[OP_COUNT]; /* interned */
    int full_tracebacks;       /* tracebacks of mistakes keep pygpu's frames */
} State;

extern int arr_tracing;  /* number of functions being traced, in any thread */
extern State *arr_state; /* of the only interpreter */
extern PyModuleDef arr_module;
#define ARR_TYPE(Name, Struct, flags) \
    PG_TYPE(arr, "pygpu._array." #Name, Name, Struct, Py_TPFLAGS_DEFAULT | (flags))
#define X(name, base, public) extern PyType_Spec arr_##name##_spec;
ARR_TYPES(X)
#undef X
#define X(table) extern PyMethodDef table[];
ARR_FUNCTIONS(X)
#undef X

/* The classes of the backends' arrays, borrowed; NULL: not loaded. */
extern PyTypeObject *arr_classes[2];

/* fastpath.c: removes pygpu's frames from the start of the traceback of the error that is set, if
 * it is a mistake of the caller. */
void arr_hide_frames(void);

static inline int arr_is_array(PyObject *op) {
    const PyTypeObject *type = Py_TYPE(op);
    return type == arr_classes[0] || type == arr_classes[1] ||
           (!PyFloat_CheckExact(op) && !PyLong_CheckExact(op) &&
            PyObject_TypeCheck(op, arr_state->GPUArrayType));
}

/* Returns a new reference to what a weak reference (or NULL) refers to; NULL without an exception
 * if that is gone. */
static inline PyObject *arr_weakref_get(PyObject *weak) {
    PyObject *found = NULL;
#if PY_VERSION_HEX >= 0x030D0000
    if (weak != NULL && PyWeakref_GetRef(weak, &found) < 0) {
        PyErr_Clear();
    }
#else
    found = weak != NULL ? PyWeakref_GetObject(weak) : NULL;
    found = found != NULL && found != Py_None ? Py_NewRef(found) : NULL;
#endif
    return found;
}

/* Whether a weak reference (or NULL) refers to op. */
static inline int arr_weakref_is(PyObject *weak, const PyObject *op) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *found = arr_weakref_get(weak);
    Py_XDECREF(found);
    return found != NULL && found == op;
#else
    return weak != NULL && PyWeakref_GET_OBJECT(weak) == op;
#endif
}

/* gpuarray.c */
/* A new array with the same type, backend, queue, allocator, shape and order as like. Takes over
 * data. */
PyObject *arr_new_like(GPUArray *like, PyArray_Descr *dtype, PyObject *data);
/* The same with another layout: shape, and strides in bytes. */
PyObject *arr_new_with_layout(GPUArray *like, PyArray_Descr *dtype, PyObject *data, int ndim,
                              const Py_ssize_t *shape, const Py_ssize_t *strides);
/* Initializes a header, possibly not for the first time. The array begins at the start of memory,
 * which it takes over. Returns 0, or -1 with an exception. */
int arr_init_header(GPUArray *self, PyObject *backend, Table *table, PyObject *queue,
                    PyObject *data, PyObject *allocator, PyArray_Descr *dtype, int ndim,
                    const Py_ssize_t *shape, const Py_ssize_t *strides);

/* layout.c: all return 0, or -1 with an exception */
int arr_set_layout(GPUArray *self, int ndim, const Py_ssize_t *shape,
                   const Py_ssize_t *strides); /* strides NULL means C order; dtype must be set */
int arr_set_offset(GPUArray *self, Py_ssize_t offset);
int arr_make_layout_objects(
    GPUArray *self); /* call after setting dims, size or dtype in other ways */
void arr_clear_layout(GPUArray *self);
void arr_clear_layout_cache(void); /* called when the process ends */

/* events.c */
int arr_has_foreign_events(const GPUArray *self); /* whether events may belong to other queues than
                                                   * the array's */
void arr_mark_foreign(GPUArray *self);            /* records that they may from now on */
int arr_share_events(GPUArray *view, GPUArray *self); /* returns 0, or -1 with an exception */
int arr_set_event(GPUArray *self, PyObject *event);   /* makes it the only event; Py_None: no event.
                                                       * Returns 0, or -1 with an exception */
int arr_owns_events(const GPUArray *self); /* whether no program has a reference to the list */
void arr_drop_events(GPUArray *self);
PyObject *arr_get_events(PyObject *op, void *closure);
int arr_set_events(PyObject *op, PyObject *value, void *closure);
PyObject *arr_get_foreign(PyObject *op, void *closure);
int arr_set_foreign(PyObject *op, PyObject *value, void *closure);

/* dlpack.c */
/* Parses the tests of launches into numbers, and checks the arguments they refer to. Returns -1
 * with an exception; *numbers may have to be freed even then. */
int arr_tests_read(PyObject *tests, PyObject *args, int64_t **numbers, Py_ssize_t *count);
/* Whether the tests hold. args: of the kinds that arr_tests_read() checked. */
int arr_tests_hold(const int64_t *tests, Py_ssize_t n, PyObject *grid, PyObject *block,
                   PyObject *const *args);
extern volatile int32_t arr_record_words[];
extern const char arr_record_doc[];
PyObject *arr_record(PyObject *module, PyObject *unused);
extern const char arr_dlpack_export__doc__[];
PyObject *arr_dlpack_export(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames);
PyObject *arr_dlpack_import(PyObject *module, PyObject *capsule);

/* operators.c */
extern PyType_Slot arr_operator_slots[];
PyObject *arr_richcompare(PyObject *a, PyObject *b, int op);

#endif
