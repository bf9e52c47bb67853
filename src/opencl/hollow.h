/* hollow.h - objects of subclasses that are made by an __init__ of their own; see hollow.c. */
#ifndef PYGPU_HOLLOW_H
#define PYGPU_HOLLOW_H

#include "opencl.h"

/* Name_construct(type, args, kwargs) makes an object; one has a context or the handle once it is made. The struct ends in its dict. */
int ocl_is_made_by_init(PyTypeObject *type, PyTypeObject *base, PyObject *args);
PyObject *ocl_hollow(State *state, PyTypeObject *type);
int ocl_fill_hollow(PyObject *op, PyObject *made, size_t dict_offset);
int ocl_refuse_hollow(State *state, const char *call, const char *what, cl_int status); /* -1, with an exception */
#define OCL_MADE_BY_INIT(Name, Struct, TypeInState, handle)                                                                   \
    static PyObject *Name##_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {                                       \
        State *state = ocl_state_of(type);                                                                                    \
        if (state == NULL) {                                                                                                  \
            return NULL;                                                                                                      \
        }                                                                                                                     \
        return ocl_is_made_by_init(type, state->TypeInState, args) ? ocl_hollow(state, type) : Name##_construct(type, args, kwargs); \
    }                                                                                                                         \
    static int Name##_init(PyObject *op, PyObject *args, PyObject *kwargs) {                                                  \
        Struct *self = (Struct *)op;                                                                                          \
        if (self->context != NULL || self->handle != NULL) {                                                                  \
            return 0; /* it is made */                                                                                        \
        }                                                                                                                     \
        return ocl_fill_hollow(op, Name##_construct(self->state->TypeInState, args, kwargs), offsetof(Struct, dict));         \
    }

#endif
