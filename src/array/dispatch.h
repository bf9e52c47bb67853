/* dispatch.h - calls by name or operator that are handled without Python. */
#ifndef PYGPU_ARRAY_DISPATCH_H
#define PYGPU_ARRAY_DISPATCH_H

#include "array/launch_plan.h"

/* Returns 1 if done (*result is new), 0 to leave the call to Python, -1 with an exception. id: of
 * the operation; out: NULL for a new array. */
int arr_fast(Py_ssize_t id, PyObject *const *operands, int n, GPUArray *out, PyObject **result);
/* The same for operations that only plans handle; extra: as in a Plan's key, the axes of a
 * reduction. */
int arr_fast_plan(Py_ssize_t id, Py_ssize_t extra, PyObject *const *operands, int n,
                  PyObject **result);
/* The id of the operation with this name (or ufunc); -1 if there is none, or, if add is set, with
 * an exception. */
Py_ssize_t arr_id(PyObject *name, int add);

PyObject *arr_array_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames);
extern const char arr_array_ufunc_doc[];

#endif
