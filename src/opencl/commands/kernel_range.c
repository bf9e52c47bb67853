/* kernel_range.c - reads the sizes of a launch and checks them against the device's limits. */
#include "opencl/commands/box.h"
#include "opencl/commands/kernel_range.h"
#include "opencl/device.h"
#include "opencl/objects/kernel.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

static const char routine[] = "clEnqueueNDRangeKernel";

/* The fast path for a tuple or list of plain ints. Returns 0 for anything else. */
static int fast_sizes(PyObject *obj, size_t *out, int *n) {
    PyObject **items;
    Py_ssize_t size;
    if (PyTuple_CheckExact(obj)) {
        items = &PyTuple_GET_ITEM(obj, 0);
        size = PyTuple_GET_SIZE(obj);
    } else if (PyList_CheckExact(obj)) {
        items = &PyList_GET_ITEM(obj, 0);
        size = PyList_GET_SIZE(obj);
    } else {
        return 0;
    }
    if (size < 1 || size > 3) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        if (!PyLong_CheckExact(items[i])) {
            return 0;
        }
        Py_ssize_t value = PyLong_AsSsize_t(items[i]);
        if (value < 0) {
            PyErr_Clear();
            return 0;
        }
        out[i] = (size_t)value;
    }
    *n = (int)size;
    return 1;
}

static int read_sizes(PyObject *obj, const char *call, const char *name, size_t *out, int *n) {
    if (fast_sizes(obj, out, n)) {
        return 0;
    }
    *n = pg_as_sizes(obj, call, name, out, KERNEL_MAX_DIMS);
    return *n < 0 ? -1 : 0;
}

/* Whether any size is 0. */
static int has_zero(const size_t *sizes, int n) {
    for (int i = 0; i < n; i++) {
        if (sizes[i] == 0) {
            return 1;
        }
    }
    return 0;
}

/* Reads the sizes as given. *n_local and *n_offset get the number of dimensions given. */
static inline int read_given(PyObject *global, PyObject *local, PyObject *offset,
                             KernelRange *range, int *n_local, int *n_offset) {
    const char *name = "kernel call";
    range->has_local = local != NULL && local != Py_None;
    range->has_offset = offset != NULL && offset != Py_None;
    range->empty = 0;
    return read_sizes(global, name, "global_size", range->global, &range->n) < 0 ||
                   (range->has_local &&
                    read_sizes(local, name, "local_size", range->local, n_local) < 0) ||
                   (range->has_offset &&
                    read_sizes(offset, name, "global_offset", range->offset, n_offset) < 0)
               ? -1
               : 0;
}

/* Converts sizes and offset from work-groups to work-items. Missing dimensions are 1. */
static int times_local(Kernel *self, KernelRange *range, int *n_local, int *n_offset) {
    int n = range->n > *n_local ? range->n : *n_local;
    for (int i = range->n; i < n; i++) {
        range->global[i] = 1;
    }
    for (int i = *n_local; i < n; i++) {
        range->local[i] = 1;
    }
    for (int i = *n_offset; range->has_offset && i < n; i++) {
        range->offset[i] = 0;
    }
    *n_offset = *n_local = range->n = n;
    for (int i = 0; i < n; i++) {
        if (pg_mul(range->global[i], range->local[i], &range->global[i]) < 0 ||
            (range->has_offset &&
             pg_mul(range->offset[i], range->local[i], &range->offset[i]) < 0)) {
            ocl_reject(self->state, routine, CL_INVALID_GLOBAL_WORK_SIZE,
                       "global size times local size overflows in dimension %d", i);
            return -1;
        }
    }
    return 0;
}

static inline int check_dimensions(Kernel *self, const DeviceLimits *limits,
                                   const KernelRange *range, int n_local, int n_offset) {
    if (range->n < 1 || (limits->max_work_item_dimensions != 0 &&
                         (cl_uint)range->n > limits->max_work_item_dimensions)) {
        ocl_reject(self->state, routine, CL_INVALID_WORK_DIMENSION,
                   "the global size has %d dimensions; this device allows 1 to %u", range->n,
                   (unsigned)limits->max_work_item_dimensions);
        return -1;
    }
    if (range->has_local && n_local != range->n) {
        ocl_reject(self->state, routine, CL_INVALID_VALUE,
                   "global/local work sizes have differing dimensions (%d and %d)", range->n,
                   n_local);
        return -1;
    }
    if (range->has_offset && n_offset != range->n) {
        ocl_reject(self->state, routine, CL_INVALID_VALUE,
                   "global work size and offset have differing dimensions (%d and %d)", range->n,
                   n_offset);
        return -1;
    }
    return 0;
}

/* Checks each dimension and computes the number of work-items of a work-group (1 without a local
 * size) and of the launch. */
static inline int check_sizes(Kernel *self, const DeviceLimits *limits, KernelRange *range,
                              size_t *group, size_t *total) {
    size_t end;
    *group = *total = 1;
    for (int i = 0; i < range->n; i++) {
        range->empty |= range->global[i] == 0;
        if (pg_mul(*total, range->global[i], total) < 0 ||
            (range->has_offset && pg_add(range->offset[i], range->global[i], &end) < 0)) {
            ocl_reject(self->state, routine, CL_INVALID_GLOBAL_WORK_SIZE,
                       "the global size overflows in dimension %d", i);
            return -1;
        }
        if (!range->has_local) {
            continue;
        }
        if (range->local[i] == 0) {
            ocl_reject(self->state, routine, CL_INVALID_WORK_GROUP_SIZE,
                       "local_size[%d] is 0; pass None to let the driver choose", i);
            return -1;
        }
        if (limits->max_work_item_sizes[i] != 0 &&
            range->local[i] > limits->max_work_item_sizes[i]) {
            ocl_reject(self->state, routine, CL_INVALID_WORK_ITEM_SIZE,
                       "local_size[%d] = %zu, but this device allows %zu", i, range->local[i],
                       limits->max_work_item_sizes[i]);
            return -1;
        }
        if (pg_mul(*group, range->local[i], group) < 0) {
            *group = SIZE_MAX;
        }
    }
    return 0;
}

/* PoCL counts work-groups in 32 bits. */
static int check_group_count(Kernel *self, const DeviceLimits *limits, const KernelRange *range,
                             size_t group, size_t total) {
    const size_t most = limits->max_work_group_size != 0 ? limits->max_work_group_size : 1,
                 groups = total / (range->has_local ? group : most);
    if (groups > UINT32_MAX) {
        ocl_reject(self->state, routine, CL_INVALID_GLOBAL_WORK_SIZE,
                   "%zu work-groups, and PoCL counts them with 32 bits; launch larger groups, "
                   "or several times",
                   groups);
        return -1;
    }
    return 0;
}

int kernel_read_range(Kernel *self, Queue *queue, PyObject *global, PyObject *local,
                      PyObject *offset, int g_times_l, int allow_empty, KernelRange *range) {
    const DeviceLimits *limits = ocl_device_limits(queue->device);
    int n_local = 0, n_offset = 0;
    size_t group, total;
    if (read_given(global, local, offset, range, &n_local, &n_offset) < 0 ||
        (g_times_l && range->has_local && times_local(self, range, &n_local, &n_offset) < 0) ||
        check_dimensions(self, limits, range, n_local, n_offset) < 0) {
        return -1;
    }
    if (allow_empty && (has_zero(range->global, range->n) ||
                        (range->has_local && has_zero(range->local, range->n)))) {
        range->empty = 1;
        return 0;
    }
    if (check_sizes(self, limits, range, &group, &total) < 0) {
        return -1;
    }
    if (range->has_local && limits->max_work_group_size != 0 &&
        group > limits->max_work_group_size) {
        ocl_reject(self->state, routine, CL_INVALID_WORK_GROUP_SIZE,
                   "a work-group of %zu work-items, but this device allows %zu", group,
                   limits->max_work_group_size);
        return -1;
    }
    return PG_UNLIKELY(total > UINT32_MAX) &&
                   (queue->device->platform->quirks & OCL_QUIRK_COUNTS_GROUPS_IN_32_BITS)
               ? check_group_count(self, limits, range, group, total)
               : 0;
}

int kernel_check_empty(Kernel *self, const Queue *queue, const KernelRange *range, int allowed) {
    if (range->empty && !allowed && queue->device->version < 210) {
        ocl_reject(self->state, routine, CL_INVALID_GLOBAL_WORK_SIZE,
                   "the global size is 0 in some dimension; pass allow_empty_ndrange=True to make "
                   "that do nothing");
        return -1;
    }
    return 0;
}
