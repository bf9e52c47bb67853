/* completion.h - what is done when a command has ended: host memory, objects, callbacks. */
#ifndef PYGPU_OPENCL_COMPLETION_H
#define PYGPU_OPENCL_COMPLETION_H

#include "opencl/event.h"

int ocl_owe_failures(void); /* has the dispatcher call that; -1 if there is none */
void ocl_owe_look_at_holds(
    void); /* has the dispatcher call ocl_keepalive_look_after() until it returns 0 */
/* Host memory of a command: *view is taken over and released when the event is complete, whatever
 * becomes of the Event. */
void ocl_keepalive_buffer(State *state, cl_event event, Py_buffer *view);
/* The same for a Python object (a strong reference is taken). */
void ocl_keepalive_object(State *state, cl_event event, PyObject *object);
int ocl_is_exiting(void);            /* the exit hook has begun */
int ocl_pending_ready(State *state); /* module exec: registers the exit hook */
/* override: the status to call with, or 0 for the driver's; after a failure of gates, theirs. */
int ocl_add_callback(State *state, cl_event event, cl_int at, PyObject *function, cl_int override,
                     struct Gates *gates);
void ocl_override_callbacks(cl_event event, cl_int override); /* of those that wait for it now */
/* Host memory lent to a memory object: *view is taken over (also on failure) and released when the
 * driver has let go of it. */
int ocl_keepalive_until_destroyed(State *state, cl_mem mem, Py_buffer *view);
/* PyMem memory that a command was given: freed when the event is complete. For NVIDIA's driver
 * (580.159): after a migration that had to wait, the process crashed later on, and the suspicion is
 * that it reads the array of what to migrate only when it does so. */
void ocl_keepalive_array(State *state, cl_event event, void *array);

#endif
