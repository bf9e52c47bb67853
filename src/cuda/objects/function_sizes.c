/* function_sizes.c - reads block, grid, cluster and shared memory of a launch and checks them
 * against the limits of the kernel and the device before the driver is called. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/objects/function.h"

static const char *const call = "cuLaunchKernel";

/* The fast path for a tuple or list of at most 3 plain ints that fit; 0 for anything else. */
static int read_plain(PyObject *obj, unsigned *out) {
    PyObject **items;
    Py_ssize_t n;
    if (PyTuple_CheckExact(obj)) {
        items = &PyTuple_GET_ITEM(obj, 0);
        n = PyTuple_GET_SIZE(obj);
    } else if (PyList_CheckExact(obj)) {
        items = ((PyListObject *)obj)->ob_item;
        n = PyList_GET_SIZE(obj);
    } else {
        return 0;
    }
    if (n < 1 || n > 3) {
        return 0;
    }
    out[0] = out[1] = out[2] = 1;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!PyLong_CheckExact(items[i])) {
            return 0;
        }
        long value = PyLong_AsLong(items[i]);
        if (value < 0 || value > (long)UINT32_MAX) {
            PyErr_Clear();
            return 0;
        }
        out[i] = (unsigned)value;
    }
    return 1;
}

static int read_dims(Function *self, PyObject *obj, const char *name, unsigned *out) {
    if (read_plain(obj, out)) {
        return 0;
    }
    size_t sizes[8];
    int n = pg_as_sizes(obj, "kernel call", name, sizes, 8);
    if (n < 0) {
        return -1;
    }
    if (n > 3) {
        cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
                   "too many %s dimensions in kernel launch: %d, at most 3 are allowed", name, n);
        return -1;
    }
    if (n == 0) {
        cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE, "kernel '%U': %s is empty",
                   self->name, name);
        return -1;
    }
    for (int i = 0; i < 3; i++) {
        if (i < n && sizes[i] > UINT32_MAX) {
            cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
                       "kernel '%U': %s[%d] = %zu is too large", self->name, name, i, sizes[i]);
            return -1;
        }
        out[i] = i < n ? (unsigned)sizes[i] : 1;
    }
    return 0;
}

static int check_dims(Function *self, const char *name, const unsigned *dims,
                      const unsigned *most) {
    for (int i = 0; i < 3; i++) {
        if (dims[i] == 0) {
            cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
                       "kernel '%U': %s[%d] is 0; skip the launch if there is nothing to do",
                       self->name, name, i);
            return -1;
        }
        if (dims[i] > most[i]) {
            cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
                       "kernel '%U': %s[%d] = %u, but this device allows %u", self->name, name, i,
                       dims[i], most[i]);
            return -1;
        }
    }
    return 0;
}

/* Caches a tuple of plain ints, which is immutable. */
static void cache_sizes(PyObject **cached, unsigned *cached_dims, PyObject *obj,
                        const unsigned *dims) {
    if (!PyTuple_CheckExact(obj)) {
        return;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(obj); i++) {
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(obj, i))) {
            return;
        }
    }
    memcpy(cached_dims, dims, 3 * sizeof *dims);
    Py_XSETREF(*cached, Py_NewRef(obj));
}

int function_read_block(Function *self, PyObject *block, unsigned *out) {
    Plan *plan = self->plan;
    if (read_dims(self, block, "block", out) < 0 ||
        check_dims(self, "block", out, plan->max_block) < 0) {
        return -1;
    }
    uint64_t threads = (uint64_t)out[0] * out[1] * out[2]; /* the device's limits keep this from
                                                            * overflowing */
    if (threads > plan->device_threads) {
        cud_reject(
            self->state, call, CUDA_ERROR_INVALID_VALUE,
            "kernel '%U': a block of (%u, %u, %u) has %llu threads, but this device allows %u",
            self->name, out[0], out[1], out[2], (unsigned long long)threads, plan->device_threads);
        return -1;
    }
    if (threads > plan->max_threads) {
        cud_raise_own(self->state, call, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                      "kernel '%U' runs in blocks of at most %u threads (its registers or "
                      "__launch_bounds__ say so), and (%u, %u, %u) has %llu",
                      self->name, plan->max_threads, out[0], out[1], out[2],
                      (unsigned long long)threads);
        return -1;
    }
    cache_sizes(&plan->block_object, plan->block, block, out);
    return 0;
}

int function_read_grid(Function *self, PyObject *grid, unsigned *out) {
    Plan *plan = self->plan;
    if (read_dims(self, grid, "grid", out) < 0 ||
        check_dims(self, "grid", out, plan->max_grid) < 0) {
        return -1;
    }
    cache_sizes(&plan->grid_object, plan->grid, grid, out);
    return 0;
}

int function_read_cluster(Function *self, PyObject *cluster, Launch *launch) {
    unsigned *dims = launch->cluster;
    if (read_dims(self, cluster, "cluster", dims) < 0) {
        return -1;
    }
    enum { MOST_BLOCKS = 16 }; /* maximum cluster size on any device so far; 8 without opting in */
    uint64_t blocks = 1;
    for (int i = 0; i < 3; i++) {
        if (dims[i] == 0 || launch->grid[i] % dims[i] != 0) {
            cud_reject(self->state, "cuLaunchKernelEx", CUDA_ERROR_INVALID_CLUSTER_SIZE,
                       "kernel '%U': grid[%d] = %u is not a multiple of cluster[%d] = %u",
                       self->name, i, launch->grid[i], i, dims[i]);
            return -1;
        }
        blocks = dims[i] > MOST_BLOCKS ? MOST_BLOCKS + 1 : blocks * dims[i];
    }
    if (blocks > MOST_BLOCKS) {
        cud_reject(self->state, "cuLaunchKernelEx", CUDA_ERROR_INVALID_CLUSTER_SIZE,
                   "kernel '%U': a cluster of (%u, %u, %u); devices allow 8 blocks, some 16",
                   self->name, dims[0], dims[1], dims[2]);
        return -1;
    }
    launch->clustered = 1;
    return 0;
}

/* Opts in to so much dynamic shared memory if that is necessary. */
static int allow_shared(Function *self, unsigned shared) {
    Plan *plan = self->plan;
    if ((uint64_t)shared + plan->shared_static > plan->shared_most) {
        cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
                   "kernel '%U': %u bytes of dynamic shared memory and the kernel's own %u; a "
                   "block on this device has at most %u",
                   self->name, shared, plan->shared_static, plan->shared_most);
        return -1;
    }
    if ((uint64_t)shared + plan->shared_static <= plan->shared_default &&
        plan->shared_allowed == 0) {
        return 0; /* the driver does not report its default limit */
    }
    CUresult status = CUDA_SUCCESS;
    IN_CONTEXT(self->context, status,
               CU_BESIDE(status, cuFuncSetAttribute, plan->handle, 8,
                         (int)shared)); /* MAX_DYNAMIC_SHARED_SIZE_BYTES */
    if (status != CUDA_SUCCESS) {
        cud_raise_with(self->state, "cuFuncSetAttribute", status,
                       "kernel '%U': %u bytes of dynamic shared memory", self->name, shared);
        return -1;
    }
    plan->shared_allowed = shared;
    return 0;
}

int function_read_shared(Function *self, PyObject *shared, unsigned *out) {
    uint32_t bytes = 0;
    if (shared != Py_None && pg_as_u32(shared, "kernel call", "shared", &bytes) < 0) {
        return -1;
    }
    *out = bytes;
    return bytes > self->plan->shared_allowed ? allow_shared(self, bytes) : 0;
}
