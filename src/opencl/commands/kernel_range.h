/* kernel_range.h - the sizes of a launch. */
#ifndef PYGPU_KERNEL_RANGE_H
#define PYGPU_KERNEL_RANGE_H

#include "opencl/context.h"
#include "opencl/lifetime/usage.h"
#include "opencl/memory.h"
#include "opencl/objects/kernel.h"

#define KERNEL_MAX_DIMS 10 /* the device's own limit, nearly always 3, is checked separately */

typedef struct {
    int n, has_local, empty;
    size_t global[KERNEL_MAX_DIMS], local[KERNEL_MAX_DIMS], offset[KERNEL_MAX_DIMS];
    int has_offset;
} KernelRange;

/* Reads sizes and checks them against the device. With allow_empty, a launch with a size of 0 does
 * nothing, whatever its other sizes are. Returns 0, or -1 with an exception. */
int kernel_read_range(Kernel *self, Queue *queue, PyObject *global, PyObject *local,
                      PyObject *offset, int g_times_l, int allow_empty, KernelRange *range);
/* Before OpenCL 2.1, a work size of 0 is an error unless explicitly allowed. */
int kernel_check_empty(Kernel *self, const Queue *queue, const KernelRange *range, int allowed);

#endif
