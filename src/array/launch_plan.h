/* launch_plan.h - launches cached by all they depend on: the shapes, strides and dtypes of their
 * operands. */
#ifndef PYGPU_ARRAY_LAUNCH_PLAN_H
#define PYGPU_ARRAY_LAUNCH_PLAN_H

#include "array/launch_table.h"

#define PLAN_OPERANDS 16
#define PLAN_STEPS    2
#define PLAN_WORDS    160

#define PLAN_SCRATCH 4

enum {
    PLAN_RESULT = -1,
    PLAN_FIRST_SCRATCH = -2
}; /* special values besides operand numbers; further scratch memory is -3, -4, ... */

typedef struct {
    PyObject *kernel, *sizes, *local;
    PyObject *numbers; /* tuple of the arguments after the operands */
    int whole;         /* arrays are passed as one argument, as user kernels take them; otherwise
                        * as memory and offset */
    int n;
    signed char operands[PLAN_OPERANDS + PLAN_SCRATCH + 2];
} Step;

typedef struct Plan {
    PyObject_HEAD
    uint64_t hash;
    size_t words;
    Py_ssize_t *key;
    PyObject *keep;       /* keeps objects alive whose addresses are in the key */
    PyArray_Descr *dtype; /* of the new result; NULL: there is none */
    int ndim;
    Py_ssize_t *dims; /* its shape and strides */
    int n_scratch;    /* temporary arrays between steps, with these numbers of items */
    Py_ssize_t scratch[PLAN_SCRATCH];
    PyArray_Descr *scratch_dtypes[PLAN_SCRATCH];
    int op;           /* for chains (chain.h): the operation of a single step over the result and
                       * the operands in order; 0: not one of them */
    uint32_t written; /* bit set of the operands that will depend on the last event */
    int n_steps;
    Step steps[PLAN_STEPS];
} Plan;

typedef struct {
    PyObject_HEAD
    PyObject *weakrefs;
    size_t used, room;
    Plan **plans;
} Plans;

typedef struct {
    GPUArray *first;
    size_t words;
    int n_keep;
    PyObject *keep[PLAN_OPERANDS + 1]; /* borrowed */
    Py_ssize_t key[PLAN_WORDS];
} Key;

/* The *extra* of a key: the caller's own distinction, and whether the last operand is out. */
static inline Py_ssize_t plan_extra(Py_ssize_t extra, int has_out) {
    return extra + (has_out ? (Py_ssize_t)1 << 40 : 0);
}

/* Returns 1 with the key of a call; 0 if it cannot be cached (arrays on several queues, with
 * foreign events, unusual objects). */
int plan_key(Key *key, Py_ssize_t id, Py_ssize_t extra, PyObject *const *operands, int n);
Plan *plans_find(const Plans *self, const Key *key);
/* The key of a call that may be run now; 0 if it cannot be cached. */
int plans_key_of(Key *key, Py_ssize_t id, PyObject *const *operands, Py_ssize_t n);
/* Runs the plan cached for the key: returns a new result, or the event in a tuple; None if there
 * is no plan. */
PyObject *plans_run(const Plans *self, const Key *key, PyObject *const *operands);
/* Returns a new result, or the event if the plan has no result. NULL on failure. */
PyObject *plan_run(Plan *plan, GPUArray *first, PyObject *const *operands);
/* Makes the uninitialized result of a plan that has one; NULL on failure. */
PyObject *plan_new_result(const Plan *plan, GPUArray *first);
/* plan_run() for a result made before, which it takes over (NULL: the plan has none). */
PyObject *plan_run_into(Plan *plan, GPUArray *first, PyObject *const *operands, PyObject *result);

#endif
