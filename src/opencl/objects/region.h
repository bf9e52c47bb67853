/* region.h - the driver's handles of the regions of a buffer. */
#ifndef PYGPU_OPENCL_REGION_H
#define PYGPU_OPENCL_REGION_H

#include "opencl/memory.h"

/* region.c: all regions but those that commands never used go through this, where they are
 * listed. */
typedef struct Region Region;
int ocl_regions_are_listed(const Memory *self);
/* The handle of such a region, if it is listed (*out), with one more reference; *status tells what
 * kept it from that. */
cl_mem ocl_region_again(Memory *buffer, size_t origin, size_t size, cl_mem_flags flags,
                        cl_int *status, Region **out);
/* Lists a new handle, and takes over its reference: the object gets another one. NULL with
 * *status. */
Region *ocl_region_list(Memory *buffer, cl_mem mem, size_t origin, size_t size, cl_mem_flags flags,
                        cl_int *status);
void ocl_region_let_go(Memory *self),
    ocl_region_drop_unused(Memory *whole); /* an object's, when it has no reference any more */

#endif
