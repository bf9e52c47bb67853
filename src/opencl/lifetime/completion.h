/* completion.h - what is done when a command has completed: host memory, objects, callbacks. */
#ifndef PYGPU_OPENCL_COMPLETION_H
#define PYGPU_OPENCL_COMPLETION_H

#include "opencl/event.h"

/* Has the dispatcher pass on failures of user events. Returns -1 if there is no dispatcher. */
int ocl_schedule_failures(void);
/* Has the dispatcher call ocl_keepalive_poll() until it returns 0. */
void ocl_schedule_keepalive_check(void);
/* Keeps a command's host memory: *view is taken over and released when the event completes,
 * whatever happens to the Event. */
void ocl_keepalive_buffer(State *state, cl_event event, Py_buffer *view);
/* The same for a Python object (takes a new reference). */
void ocl_keepalive_object(State *state, cl_event event, PyObject *object);
int ocl_is_exiting(void);            /* the exit hook has begun */
int ocl_pending_ready(State *state); /* called by the module's exec: registers the exit hook */
/* override: the status to call the function with, or 0 for the driver's. If one of gates has
 * failed, its status is used. */
int ocl_add_callback(State *state, cl_event event, cl_int at, PyObject *function, cl_int override,
                     struct Gates *gates);
void ocl_override_callbacks(cl_event event, cl_int override); /* of callbacks that are waiting for
                                                               * it now */
/* Host memory that a memory object uses: *view is taken over (also on failure) and released when
 * the driver destroys the memory object. */
int ocl_keepalive_until_destroyed(State *state, cl_mem mem, Py_buffer *view);
/* PyMem memory that a command was given; freed when the event completes. Needed for NVIDIA's
 * driver (580.159): after a migration that had to wait, the process crashed later, presumably
 * because the driver reads the array of memory objects only when the migration runs. */
void ocl_keepalive_array(State *state, cl_event event, void *array);

#endif
