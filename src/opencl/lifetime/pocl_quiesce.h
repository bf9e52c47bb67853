/* pocl_quiesce.h - stops PoCL's threads while commands are made to fail; see pocl_quiesce.c. */
#ifndef PYGPU_POCL_QUIESCE_H
#define PYGPU_POCL_QUIESCE_H

#include "opencl/opencl.h"

/* The device whose threads must be stopped while a user event of the context fails; NULL if that
 * is unnecessary. */
cl_device_id ocl_quiesce_device(Context *context);
/* Stops them; releases the GIL while it waits. Returns 1 if they are stopped: the GIL must then
 * not be released before ocl_quiesce_end(), which must be called. 0: not needed, not possible, or
 * not within the given seconds. -1: a signal handler raised, if interruptible. */
int ocl_quiesce_begin(cl_device_id device, double seconds, int interruptible);
void ocl_quiesce_end(void);
void ocl_quiesce_register(Context *context); /* records that PoCL is in use */
void ocl_quiesce_at_exit(void);              /* called when the process ends */

#endif
