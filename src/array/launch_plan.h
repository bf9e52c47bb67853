/* launch_plan.h - launches that are remembered by everything they were made from: the shapes,
 * strides and dtypes of their operands. */
#ifndef PYGPU_ARRAY_PLAN_H
#define PYGPU_ARRAY_PLAN_H

#include "array/launch_table.h"

#define PLAN_OPERANDS 16
#define PLAN_STEPS    2
#define PLAN_WORDS    160

#define PLAN_SCRATCH 4

enum {
    PLAN_RESULT = -1,
    PLAN_FIRST_SCRATCH = -2
}; /* beside numbers of operands; further scratch memory is -3, -4, ... */

typedef struct {
    PyObject *kernel, *sizes, *local;
    PyObject *numbers; /* tuple, the arguments after the operands */
    int whole;         /* arrays are one argument each, as users' kernels take them; else memory and
                        * offset */
    int n;
    signed char operands[PLAN_OPERANDS + PLAN_SCRATCH + 2];
} Step;

typedef struct Plan {
    PyObject_HEAD
    uint64_t hash;
    size_t words;
    Py_ssize_t *key;
    PyObject *keep;       /* objects whose addresses are in the key */
    PyArray_Descr *dtype; /* of a new result, or NULL: there is none */
    int ndim;
    Py_ssize_t *dims; /* shape and strides of it */
    int n_scratch;    /* for what is between two steps: arrays of so many items */
    Py_ssize_t scratch[PLAN_SCRATCH];
    PyArray_Descr *scratch_dtypes[PLAN_SCRATCH];
    int op;           /* which operation, for chains (chain.h): of a single step over the result and
                       * the operands in their order; 0: none of them */
    uint32_t written; /* operands that depend on the last event then, bits */
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

/* The *extra* of a key: what the caller tells apart, and whether the last operand is out. */
static inline Py_ssize_t plan_extra(Py_ssize_t extra, int has_out) {
    return extra + (has_out ? (Py_ssize_t)1 << 40 : 0);
}

/* 1: the key of a call; 0: nothing that is remembered (arrays on several queues, with foreign
 * events, strange objects). */
int plan_key(Key *key, Py_ssize_t id, Py_ssize_t extra, PyObject *const *operands, int n);
Plan *plans_find(const Plans *self, const Key *key);
/* The key of a call that may be run; 0: nothing that is remembered. */
int plans_key_of(Key *key, Py_ssize_t id, PyObject *const *operands, Py_ssize_t n);
/* Runs what is remembered for the key: a new result, or the event in a tuple; None: nothing. */
PyObject *plans_run(const Plans *self, const Key *key, PyObject *const *operands);
/* A new result, or the event if the plan has no result. NULL on failure. */
PyObject *plan_run(Plan *plan, GPUArray *first, PyObject *const *operands);
/* The new result of a plan that has one, to be computed; NULL on failure. */
PyObject *plan_new_result(const Plan *plan, GPUArray *first);
/* plan_run() for a result that was made, which it takes over (NULL: the plan has none). */
PyObject *plan_run_into(Plan *plan, GPUArray *first, PyObject *const *operands, PyObject *result);

#endif
