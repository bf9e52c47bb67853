/* device.h - devices and their limits. */
#ifndef PYGPU_OPENCL_DEVICE_H
#define PYGPU_OPENCL_DEVICE_H

#include "opencl/platform.h"

/* Limits for the checks before a command, queried once per device. 0 means unknown: unchecked. */
typedef struct {
    int queried;
    cl_uint max_work_item_dimensions;
    size_t max_work_item_sizes[10];
    size_t max_work_group_size;
    cl_ulong local_mem_size;
    cl_ulong max_mem_alloc_size;
    cl_uint mem_base_addr_align; /* in bits */
    cl_bitfield svm_capabilities;
} DeviceLimits;

typedef struct Device {
    OCL_INSTANCE_HEAD(cl_device_id, id)
    Platform *platform;
    int version;
    int owned;     /* a sub-device, whose handle must be released */
    int shares_gl; /* 1, or -1 if it does not; 0 if not queried yet */
    DeviceLimits limits;
    PyObject *dict;
} Device;

PyObject *ocl_device_wrap(State *state, cl_device_id id, Platform *platform,
                          int owned); /* platform may be NULL */
cl_int ocl_device_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret);
const DeviceLimits *ocl_device_limits(Device *self);
/* Returns 1 if the device has this extension, 0 if not, -1 with an exception. */
int ocl_device_has_extension(Device *self, const char *name);
Device *ocl_as_device(State *state, PyObject *obj, const char *call, const char *name);
/* Gets device handles from None (all of the context), a Device, or an iterable of Devices. *out is
 * PyMem memory with *n entries. keep receives a list that keeps the Device objects alive. */
int ocl_as_devices(State *state, PyObject *obj, const char *call, cl_device_id **out, cl_uint *n,
                   PyObject **keep);

#endif
