/* map.h - what ends every call that maps memory. */
#ifndef PYGPU_MAP_H
#define PYGPU_MAP_H

#include "opencl/event.h"
#include "opencl/lifetime/gates.h"
#include "opencl/objects/host_array.h"

/* (ndarray, Event); takes over event and the layout's dtype, unmaps on failure. Clears the list. */
PyObject *ocl_map_result(Queue *queue, Memory *memory, const char *routine, void *pointer,
                         cl_event event, WaitList *list, ArrayLayout *layout, int blocking,
                         int writable);

/* After a mapping that nobody gets to see: unmaps, and lets its event go. */
void ocl_unmap_unseen(Queue *queue, cl_mem mem, void *pointer, cl_event event);

#endif
