/* region.h - the driver's sub-buffer handles. */
#ifndef PYGPU_OPENCL_REGION_H
#define PYGPU_OPENCL_REGION_H

#include "opencl/memory.h"

/* region.c: the entry of a listed sub-buffer. Those that commands never used need no entry. */
typedef struct Region Region;
int ocl_regions_are_listed(const Memory *self);
/* Sets *out to the handle of such a sub-buffer, if it is listed, with a new reference; *status
 * reports a failure. */
cl_mem ocl_region_again(Memory *buffer, size_t origin, size_t size, cl_mem_flags flags,
                        cl_int *status, Region **out);
/* Lists a new handle and takes over its reference: the object gets another one. NULL with
 * *status. */
Region *ocl_region_list(Memory *buffer, cl_mem mem, size_t origin, size_t size, cl_mem_flags flags,
                        cl_int *status);
void ocl_region_release(Memory *self),
    ocl_region_drop_unused(Memory *whole); /* for an object that no longer has a reference */

#endif
