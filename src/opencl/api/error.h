/* error.h - exceptions for the driver's status codes and for what is found wrong before. */
#ifndef PYGPU_OPENCL_ERROR_H
#define PYGPU_OPENCL_ERROR_H

#include "common/pg.h"
#include "opencl/api/cl_api.h"

typedef struct State State;

/* "ROUTINE failed: STATUS[ - extra]"; return NULL (or -1) so that callers can return it. */
PyObject *ocl_raise(State *state, const char *routine, cl_int status);
PyObject *ocl_raise_with(State *state, const char *routine, cl_int status, const char *format, ...);
/* For what our own checks find before the driver is asked. Raises a LogicError with the given
 * status code that is also a ValueError (code INVALID_VALUE, INVALID_CONTEXT, ...), or for
 * ocl_reject_type also a TypeError. */
PyObject *ocl_reject(State *state, const char *routine, cl_int status, const char *format, ...);
PyObject *ocl_reject_type(State *state, const char *routine, cl_int status, const char *format,
                          ...);
/* For a command whose event has ended with exec, a status below 0. */
PyObject *ocl_raise_ended(State *state, const char *routine, cl_int exec);
const char *ocl_status_name(cl_int status);
int ocl_is_out_of_memory(cl_int status);
/* After an allocating call failed: 1 if memory was freed (garbage collected, arguments of kernels
 * dropped, pools trimmed) and the call should be repeated. *tries starts at 0. -1 with an
 * exception. */
int ocl_retry(State *state, cl_int status, int *tries);
/* What it frees: what pools hold; memory that was given to calls of kernels and that nobody else
 * has by now. */
int ocl_trim_pools(State *state); /* 1 if something was freed, -1 with an exception */
void ocl_kernels_let_go(void);

#endif
