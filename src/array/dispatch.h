/* dispatch.h - calls by name or operator that need no Python. */
#ifndef PYGPU_ARRAY_CALL_H
#define PYGPU_ARRAY_CALL_H

#include "array/launch_plan.h"

/* 1: done, *result is new; 0: not for the fast path; -1 with an exception. id: of the operation;
 * out: NULL for a new array. */
int arr_fast(Py_ssize_t id, PyObject *const *operands, int n, GPUArray *out, PyObject **result);
/* The same for what plans alone know; extra: as in a Plan's key, of a reduction its axes. */
int arr_fast_plan(Py_ssize_t id, Py_ssize_t extra, PyObject *const *operands, int n,
                  PyObject **result);
/* The id of an operation that goes by this name (or ufunc), -1 if there is none, or, if add, with
 * an exception. */
Py_ssize_t arr_id(PyObject *name, int add);

PyObject *arr_array_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames);
extern const char arr_array_ufunc_doc[];

#endif
