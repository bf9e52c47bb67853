/* program.h - functions of @pygpu.fuse as lists of steps that need no Python. */
#ifndef PYGPU_ARRAY_PROGRAM_H
#define PYGPU_ARRAY_PROGRAM_H

#include "array/dispatch.h"

/* What a step does. RUN: an operation by name with a new result; LAUNCH: a plan that writes
 * operands; VIEW, NEW: of a layout; NUMBER: computed from the arguments; PYTHON: anything else. */
enum { STEP_RUN, STEP_LAUNCH, STEP_VIEW, STEP_NEW, STEP_NUMBER, STEP_PYTHON };

typedef struct {
    int code, n_in, n_out, n_drop;
    int16_t *registers;   /* in, then out, then those that no later step needs */
    Py_ssize_t id, extra; /* RUN, LAUNCH: as for arr_fast() and by plan */
    PyObject *function;   /* what C leaves to Python */
    PyObject *type;       /* NUMBER: that the value must have; VIEW, NEW: the dtype */
    int ndim;             /* VIEW, NEW */
    Py_ssize_t delta;     /* VIEW: bytes from the first item of the operand */
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

/* Whether names still refer to what they did; -1 with an exception. */
int program_fresh(const Program *self);
/* The results for arguments; NotImplemented (nothing was done): plain code has to do it. */
PyObject *program_run(Program *self, PyObject *args);

#endif
