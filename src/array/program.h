/* program.h - functions of @pygpu.fuse as lists of steps that run without Python. */
#ifndef PYGPU_ARRAY_PROGRAM_H
#define PYGPU_ARRAY_PROGRAM_H

#include "array/dispatch.h"

/* Kinds of steps. RUN: an operation by name with a new result; LAUNCH: a plan that writes
 * operands; VIEW, NEW: an array with a given layout; NUMBER: a number computed from the arguments;
 * PYTHON: anything else. */
enum { STEP_RUN, STEP_LAUNCH, STEP_VIEW, STEP_NEW, STEP_NUMBER, STEP_PYTHON };

typedef struct {
    int code, n_in, n_out, n_drop;
    int16_t *registers;   /* inputs, then outputs, then those that no later step needs */
    Py_ssize_t id, extra; /* RUN, LAUNCH: as for arr_fast(), and the key's extra for plans */
    PyObject *function;   /* called where C cannot handle the step */
    PyObject *type;       /* NUMBER: the type that the value must have; VIEW, NEW: the dtype */
    int ndim;             /* VIEW, NEW */
    Py_ssize_t delta;     /* VIEW: byte offset from the operand's first item */
    Py_ssize_t *dims;     /* shape, then strides */
} ProgramStep;

typedef struct Program {
    PyObject_HEAD
    int n_registers, n_steps, n_results;
    char shaped;  /* made for the shapes and strides of the arguments, too */
    char mutates; /* writes to arguments: cannot be begun again */
    ProgramStep *steps;
    int16_t *results;
    PyObject *constants; /* tuple of (register, value) */
    PyObject *form;      /* of what is returned: containers as given, None for each result */
    PyObject *watched;   /* tuple of (dict or cell, name, value) */
} Program;

/* Whether the watched names still have the same values; -1 with an exception. */
int program_fresh(const Program *self);
/* Returns the results for the arguments; NotImplemented (nothing was done) if the plain function
 * has to run. */
PyObject *program_run(Program *self, PyObject *args);

#endif
