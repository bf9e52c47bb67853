/* error.h - exceptions for the driver's status codes and for mistakes found before the driver is
 * called. */
#ifndef PYGPU_CUDA_ERROR_H
#define PYGPU_CUDA_ERROR_H

#include "common/pg.h"
#include "cuda/api/cu_api.h"

typedef struct State State;
typedef struct Context Context;

/* Raises "ROUTINE failed: text of cuGetErrorString[ - extra]". Returns NULL so that callers can
 * return the result. */
PyObject *cud_raise(State *state, const char *routine, CUresult status);
PyObject *cud_raise_with(State *state, const char *routine, CUresult status, const char *format,
                         ...);
PyObject *cud_raise_own(State *state, const char *routine, CUresult status, const char *format,
                        ...); /* found by our own checks, not by the driver */
/* For mistakes found by our own checks: raises a LogicError that is also a ValueError, or for
 * _type a TypeError. */
PyObject *cud_reject(State *state, const char *routine, CUresult status, const char *format, ...);
PyObject *cud_reject_type(State *state, const char *routine, const char *format, ...);
/* Call after an allocation failed. Returns 1 if memory was freed (by collecting garbage and
 * trimming pools), so that the call should be repeated; -1 with an exception. *tries starts at
 * 0. */
int cud_retry(State *state, CUresult status, int *tries);
/* Frees the blocks held by all pools, or by those of one context. */
void cud_pools_trim(Context *of);

#endif
