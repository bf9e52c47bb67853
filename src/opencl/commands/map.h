/* map.h - the common end of all calls that map memory. */
#ifndef PYGPU_MAP_H
#define PYGPU_MAP_H

#include "opencl/event.h"
#include "opencl/lifetime/gates.h"
#include "common/host_array.h"

/* Returns (ndarray, Event). Takes over the event and the layout's dtype, and unmaps on failure.
 * Clears the list. */
PyObject *ocl_map_result(Queue *queue, Memory *memory, const char *routine, void *pointer,
                         cl_event event, WaitList *list, PgArrayLayout *layout, int blocking,
                         int writable);

/* Unmaps a mapping that was never handed to the caller, and releases its event. */
void ocl_unmap_discarded(Queue *queue, cl_mem mem, void *pointer, cl_event event);

#endif
