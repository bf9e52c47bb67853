/* error.h - exceptions for the driver's status codes and for mistakes found before the driver is
 * called. */
#ifndef PYGPU_OPENCL_ERROR_H
#define PYGPU_OPENCL_ERROR_H

#include "common/pg.h"
#include "opencl/api/cl_api.h"

typedef struct State State;

/* Raises "ROUTINE failed: STATUS[ - extra]". Returns NULL (or -1) so that callers can return the
 * result. */
PyObject *ocl_raise(State *state, const char *routine, cl_int status);
PyObject *ocl_raise_with(State *state, const char *routine, cl_int status, const char *format, ...);
/* For mistakes found by our own checks. Raises a LogicError with the given status code that is
 * also a ValueError (INVALID_VALUE, INVALID_CONTEXT, ...); ocl_reject_type raises one that is also
 * a TypeError. */
PyObject *ocl_reject(State *state, const char *routine, cl_int status, const char *format, ...);
PyObject *ocl_reject_type(State *state, const char *routine, cl_int status, const char *format,
                          ...);
/* For a command whose event ended with exec, a negative status. */
PyObject *ocl_raise_ended(State *state, const char *routine, cl_int exec);
const char *ocl_status_name(cl_int status);
int ocl_is_out_of_memory(cl_int status);
/* Call after an allocation failed. Returns 1 if memory was freed (by collecting garbage, dropping
 * kernel arguments and trimming pools), so that the call should be repeated; -1 with an exception.
 * *tries starts at 0. */
int ocl_retry(State *state, cl_int status, int *tries);
/* Free memory for that: blocks held by pools; and memory that only a kernel still references, as
 * an argument of a former call. */
int ocl_trim_pools(State *state); /* 1 if something was freed, -1 with an exception */
void ocl_kernels_drop_arguments(void);

#endif
