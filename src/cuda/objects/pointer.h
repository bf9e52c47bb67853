/* pointer.h - addresses of device memory, and views of it. */
#ifndef PYGPU_CUDA_POINTER_H
#define PYGPU_CUDA_POINTER_H

#include "cuda/memory.h"

typedef struct {
    CUdeviceptr ptr;
    size_t size; /* bytes from there to the end; SIZE_MAX if unknown. Without an allocation it is a
                  * lower bound: see cud_bytes_at() */
    Allocation *allocation; /* owned, because the object that returned it may drop it in any code
                             * of the program; NULL if unknown */
} DevicePointer;

/* Returns 0, and *out must be released; -1 with an exception. */
int cud_device_pointer(State *state, PyObject *obj, const char *call, const char *name,
                       DevicePointer *out);
/* The same, and checks that n bytes fit. */
int cud_device_range(State *state, PyObject *obj, const char *call, const char *name, size_t n,
                     DevicePointer *out);
/* Only the check: returns -1 with a LogicError if n bytes do not fit. May find that there is more
 * room than *at says. */
int cud_check_range(State *state, const char *call, const char *name, DevicePointer *at, size_t n);
static inline void cud_device_release(DevicePointer *at) {
    Py_CLEAR(at->allocation);
}
/* The number of bytes from ptr to the end of its memory; SIZE_MAX if the driver does not know it.
 * n: how many are needed. Memory may consist of many pieces, and only as many as necessary are
 * checked. See range.c. */
size_t cud_bytes_at(CUdeviceptr ptr, size_t n);
PyObject *cud_view(State *state, PyObject *owner, Allocation *allocation, CUdeviceptr ptr,
                   size_t room, const char *call, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames);

#endif
