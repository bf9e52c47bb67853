/* pocl_quiesce.h - PoCL's threads held still while commands are made to fail; see pocl_quiesce.c.
 */
#ifndef PYGPU_STANDSTILL_H
#define PYGPU_STANDSTILL_H

#include "opencl/opencl.h"

/* The device whose threads must stand still while a user event of the context fails; NULL if there
 * is no need. */
cl_device_id ocl_quiesce_device(Context *context);
/* Stops them, with the GIL released while it waits. 1: they stand, and the GIL must not be released
 * before _end(), which must be called; 0: not needed, not possible, or not within the seconds; -1:
 * a signal handler raised, if interruptible. */
int ocl_quiesce_begin(cl_device_id device, double seconds, int interruptible);
void ocl_quiesce_end(void);
void ocl_quiesce_note(Context *context); /* PoCL is in use */
void ocl_quiesce_at_exit(void);          /* the process ends */

#endif
