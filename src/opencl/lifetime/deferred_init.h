/* deferred_init.h - objects of subclasses that are initialized by their own __init__; see
 * deferred_init.c. */
#ifndef PYGPU_DEFERRED_INIT_H
#define PYGPU_DEFERRED_INIT_H

#include "opencl/opencl.h"

/* Name_construct(type, args, kwargs) makes a complete object. */
int ocl_is_made_by_init(PyTypeObject *type, PyTypeObject *base, PyObject *args);
PyObject *ocl_uninitialized(State *state, PyTypeObject *type);
/* Moves the contents of made, up to end, into op. moved(op, made), if given, corrects pointers to
 * the old location. Takes over made, which may be NULL. */
int ocl_fill_uninitialized(PyObject *op, PyObject *made, size_t end,
                           void (*moved)(PyObject *op, PyObject *made));
int ocl_refuse_uninitialized(State *state, const char *call, const char *what,
                             cl_int status);                /* returns -1 with an exception */
int ocl_event_is_made(const Event *self, const char *call); /* 0, or -1 with an exception */
void ocl_svm_moved(PyObject *op, PyObject *made);
/* The object counts as initialized if is_made(object), a macro or function, is true. */
#define OCL_MADE_BY_INIT_IF(Name, Struct, TypeInState, is_made, end, moved)                      \
    static PyObject *Name##_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {          \
        State *state = ocl_state_of(type);                                                       \
        if (state == NULL) {                                                                     \
            return NULL;                                                                         \
        }                                                                                        \
        return ocl_is_made_by_init(type, state->TypeInState, args)                               \
                   ? ocl_uninitialized(state, type)                                              \
                   : Name##_construct(type, args, kwargs);                                       \
    }                                                                                            \
    static int Name##_init(PyObject *op, PyObject *args, PyObject *kwargs) {                     \
        Struct *self = (Struct *)op;                                                             \
        if (is_made(self)) {                                                                     \
            return 0;                                                                            \
        }                                                                                        \
        PyObject *made = Name##_construct(((OclObject *)op)->state->TypeInState, args, kwargs);  \
        if (made != NULL && is_made(self)) { /* initialized by another thread in the meantime */ \
            Py_DECREF(made);                                                                     \
            return 0;                                                                            \
        }                                                                                        \
        return ocl_fill_uninitialized(op, made, end, moved);                                     \
    }
/* For a struct whose last member is its dict: it is initialized once it has a context. */
#define OCL_HAS_CONTEXT(self)        ((self)->context != NULL)
#define OCL_HAS_CONTEXT_OR_MEM(self) ((self)->context != NULL || (self)->mem != NULL)
#define OCL_MADE_BY_INIT(Name, Struct, TypeInState, is_made) \
    OCL_MADE_BY_INIT_IF(Name, Struct, TypeInState, is_made, offsetof(Struct, dict), NULL)

#endif
