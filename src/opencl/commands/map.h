/* map.h - what ends every call that maps memory. */
#ifndef PYGPU_MAP_H
#define PYGPU_MAP_H

#include "opencl/lifetime/gates.h"

/* (ndarray, Event); takes over event and the layout's dtype, unmaps on failure. Clears the list. */
PyObject *ocl_map_result(Queue *queue, Memory *memory, const char *routine, void *pointer,
                         cl_event event, WaitList *list, ArrayLayout *layout, int blocking,
                         int writable);

#endif
