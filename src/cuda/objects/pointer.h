/* pointer.h - addresses of device memory, and views of it. */
#ifndef PYGPU_CUDA_POINTER_H
#define PYGPU_CUDA_POINTER_H

#include "cuda/memory.h"

typedef struct {
    CUdeviceptr ptr;
    size_t size; /* bytes from there to the end; SIZE_MAX: not known. Without allocation at least as
                    many: see cud_room_at() */
    Allocation *allocation; /* owned, as what gave it may drop it in any code of a program; NULL:
                               not known */
} DevicePointer;

/* 0, and *out is to be released; -1 with an exception. */
int cud_device_pointer(State *state, PyObject *obj, const char *call, const char *name,
                       DevicePointer *out);
/* The same with a check that n bytes fit. */
int cud_device_range(State *state, PyObject *obj, const char *call, const char *name, size_t n,
                     DevicePointer *out);
/* The check alone: -1 with a LogicError if n bytes do not fit. May find that there are more than
 * *at says. */
int cud_check_range(State *state, const char *call, const char *name, DevicePointer *at, size_t n);
static inline void cud_device_release(DevicePointer *at) {
    Py_CLEAR(at->allocation);
}
/* Bytes from ptr to the end of the memory that it lies in; SIZE_MAX if the driver does not know it.
 * n: how many are of interest, as memory may consist of many pieces, and only as many of them are
 * looked at. See range.c. */
size_t cud_room_at(CUdeviceptr ptr, size_t n);
PyObject *cud_view(State *state, PyObject *owner, Allocation *allocation, CUdeviceptr ptr,
                   size_t room, const char *call, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames);
/* The allocation that the base of an ndarray is, or NULL. Borrowed. */
Allocation *cud_managed_base(State *state, PyObject *array);

#endif
