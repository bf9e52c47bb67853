/* platform.h - platforms. */
#ifndef PYGPU_OPENCL_PLATFORM_H
#define PYGPU_OPENCL_PLATFORM_H

#include "opencl/opencl.h"

typedef struct Platform {
    OCL_INSTANCE_HEAD(cl_platform_id, id)
    int version;     /* 100, 110, 120, 200, 210, 220, 300 */
    unsigned quirks; /* OCL_QUIRK_...: quirks.h */
    PyObject *dict;
} Platform;

PyObject *ocl_platform_wrap(State *state, cl_platform_id id);
/* Around calls for which a driver starts its devices; without the GIL. Lock returns what unlock
 * needs. */
int ocl_lock_devices(void);
void ocl_unlock_devices(int locked);
/* clGetDeviceIDs under that lock. */
cl_int ocl_device_ids(cl_platform_id platform, cl_device_type type, cl_uint n, cl_device_id *ids,
                      cl_uint *found);
int ocl_version_number(const char *text); /* "OpenCL 1.2 ..." -> 120 */
/* Returns -1 with a LogicError (INVALID_OPERATION) unless version >= needed (e.g. 200). */
int ocl_need_version(State *state, const char *routine, int version, int needed);

#endif
