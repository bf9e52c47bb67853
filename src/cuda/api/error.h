/* error.h - exceptions for the driver's status codes and for what is found wrong before. */
#ifndef PYGPU_CUDA_ERROR_H
#define PYGPU_CUDA_ERROR_H

#include "common/pg.h"
#include "cuda/api/cu_api.h"

typedef struct State State;
typedef struct Context Context;

/* "ROUTINE failed: what cuGetErrorString says[ - extra]"; return NULL so that callers can return
 * it. */
PyObject *cud_raise(State *state, const char *routine, CUresult status);
PyObject *cud_raise_with(State *state, const char *routine, CUresult status, const char *format,
                         ...);
PyObject *cud_raise_own(State *state, const char *routine, CUresult status, const char *format,
                        ...); /* found here, not by the driver */
/* For what our own checks find before the driver is asked: a LogicError that is also a ValueError,
 * or for _type a TypeError. */
PyObject *cud_reject(State *state, const char *routine, CUresult status, const char *format, ...);
PyObject *cud_reject_type(State *state, const char *routine, const char *format, ...);
/* After an allocating call failed: 1 if memory was freed (garbage collected, pools trimmed) and the
 * call should be repeated. *tries starts at 0. -1 with an exception. */
int cud_retry(State *state, CUresult status, int *tries);
/* Frees what all pools hold, or those of one context. */
void cud_pools_trim(Context *of);

#endif
