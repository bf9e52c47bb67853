/* occupancy.c - methods of Function that report how many blocks of a kernel can run at once, and
 * which sizes suit it. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/objects/function.h"

/* Reads a block's shape and enters the function's context; -1 with an exception. */
static int read_block(Function *self, PyObject *block, int *threads) {
    unsigned dims[3];
    if (function_ready(self) < 0 || function_read_block(self, block, dims) < 0) {
        return -1;
    }
    *threads = (int)(dims[0] * dims[1] * dims[2]); /* at most the kernel's max_threads_per_block */
    return 0;
}

PG_DOC_SHARED(
    Function_max_active_blocks__doc__, "max_active_blocks", "$self, /, block, shared=0, flags=0",
    "(block: int | Sequence[int], shared: int = 0, flags: int = 0) -> int",
    "How many blocks of this size run on one multiprocessor at once.\n\n"
    "block: threads, an int or up to 3; shared: dynamic shared memory [bytes]. Multiplied by the "
    "device's multiprocessor_count, this is the largest grid of a cooperative launch.");
PG_SHARED_FUNCTION(Function_max_active_blocks, 3)
static PyObject *Function_max_active_blocks_impl(PyObject *op, PyObject *const *a) {
    Function *self = (Function *)op;
    int threads, blocks = 0;
    size_t shared = 0;
    uint32_t flags = 0;
    if (read_block(self, a[0], &threads) < 0 ||
        (a[1] != NULL && pg_as_size(a[1], "Function.max_active_blocks", "shared", &shared) < 0) ||
        (a[2] != NULL && pg_as_u32(a[2], "Function.max_active_blocks", "flags", &flags) < 0)) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    ContextGuard guard;
    const char *routine = flags == 0 ? "cuOccupancyMaxActiveBlocksPerMultiprocessor"
                                     : "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags";
    if (cud_context_enter(self->context, &guard, &status) == 0) {
        if (flags == 0) {
            CU_BESIDE(status, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                      self->plan->handle, threads, shared);
        } else {
            CU_BESIDE(status, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, &blocks,
                      self->plan->handle, threads, shared, flags);
        }
        cud_context_leave(&guard);
    }
    return status == CUDA_SUCCESS
               ? PyLong_FromLong(blocks)
               : cud_raise_with(self->state, routine, status, "kernel '%U'", self->name);
}

/* The driver's callback, which runs in the calling thread, takes no user-data pointer. */
static _Thread_local PyObject *shared_of_block;

static size_t CUDA_CB ask_shared(int block_size) {
    size_t shared = 0;
    PyObject *answer =
        PyErr_Occurred() == NULL ? PyObject_CallFunction(shared_of_block, "i", block_size) : NULL;
    if (answer != NULL) {
        if (pg_as_size(answer, "Function.suggest_block", "what shared returned", &shared) < 0) {
            shared = 0;
        }
        Py_DECREF(answer);
    }
    return shared;
}

PG_DOC_SHARED(Function_suggest_block__doc__, "suggest_block", "$self, /, shared=0, limit=0",
              "(shared: int | Callable[[int], int] = 0, limit: int = 0) -> tuple[int, int]",
              "The grid and the block, in blocks and threads, with which the kernel fills the "
              "device: (least grid, block).\n\n"
              "shared: dynamic shared memory of a block [bytes], or a function of the number of "
              "its threads; limit: threads of a block, 0: none.");
PG_SHARED_FUNCTION(Function_suggest_block, 2)
static PyObject *Function_suggest_block_impl(PyObject *op, PyObject *const *a) {
    PyObject *callback = NULL;
    Function *self = (Function *)op;
    size_t shared = 0, limit = 0;
    int grid = 0, block = 0;
    if (a[0] != NULL && PyCallable_Check(a[0])) {
        callback = a[0];
    } else if (a[0] != NULL && pg_as_size(a[0], "Function.suggest_block", "shared", &shared) < 0) {
        return NULL;
    }
    if ((a[1] != NULL && pg_as_size(a[1], "Function.suggest_block", "limit", &limit) < 0) ||
        cud_context_check(self->context, "cuOccupancyMaxPotentialBlockSize") < 0) {
        return NULL;
    }
    if (limit > INT32_MAX) {
        return cud_reject(self->state, "cuOccupancyMaxPotentialBlockSize", CUDA_ERROR_INVALID_VALUE,
                          "limit = %zu is too large", limit);
    }
    CUresult status = CUDA_SUCCESS;
    PyObject *outer = shared_of_block; /* a callback may query another kernel's occupancy */
    shared_of_block = callback;
    IN_CONTEXT(self->context, status,
               CU_CALL(status, cuOccupancyMaxPotentialBlockSize, &grid, &block, self->plan->handle,
                       callback != NULL ? ask_shared : NULL, shared, (int)limit));
    shared_of_block = outer;
    if (PyErr_Occurred()) {
        return NULL;
    }
    return status == CUDA_SUCCESS ? Py_BuildValue("(ii)", grid, block)
                                  : cud_raise_with(self->state, "cuOccupancyMaxPotentialBlockSize",
                                                   status, "kernel '%U'", self->name);
}

PG_DOC_SHARED(Function_available_shared__doc__, "available_shared", "$self, /, blocks, block",
              "(blocks: int, block: int | Sequence[int]) -> int",
              "The dynamic shared memory [bytes] that a block may use if *blocks* of them run on "
              "one multiprocessor at once.");
PG_SHARED_FUNCTION(Function_available_shared, 2)
static PyObject *Function_available_shared_impl(PyObject *op, PyObject *const *a) {
    Function *self = (Function *)op;
    size_t blocks, shared = 0;
    int threads;
    if (pg_as_size(a[0], "Function.available_shared", "blocks", &blocks) < 0 ||
        read_block(self, a[1], &threads) < 0) {
        return NULL;
    }
    if (blocks < 1 || blocks > INT32_MAX) {
        return cud_reject(self->state, "cuOccupancyAvailableDynamicSMemPerBlock",
                          CUDA_ERROR_INVALID_VALUE, "blocks = %zu", blocks);
    }
    CUresult status = CUDA_SUCCESS;
    IN_CONTEXT(self->context, status,
               CU_BESIDE(status, cuOccupancyAvailableDynamicSMemPerBlock, &shared,
                         self->plan->handle, (int)blocks, threads));
    return status == CUDA_SUCCESS
               ? PyLong_FromSize_t(shared)
               : cud_raise_with(self->state, "cuOccupancyAvailableDynamicSMemPerBlock", status,
                                "kernel '%U'", self->name);
}

/* ---- clusters -------------------------------------------------------------------------------- */

static int read_config(Function *self, PyObject *block, PyObject *grid, PyObject *cluster,
                       PyObject *shared, CUlaunchConfig *config, CUlaunchAttribute *attribute) {
    Launch launch;
    memset(&launch, 0, sizeof launch);
    memset(config, 0, sizeof *config);
    memset(attribute, 0, sizeof *attribute);
    launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
    if (function_ready(self) < 0 || function_read_block(self, block, launch.block) < 0 ||
        (grid != NULL && function_read_grid(self, grid, launch.grid) < 0) ||
        (cluster != NULL && function_read_cluster(self, cluster, &launch) < 0) ||
        (shared != NULL && function_read_shared(self, shared, &launch.shared) < 0)) {
        return -1;
    }
    config->gridDimX = launch.grid[0];
    config->gridDimY = launch.grid[1];
    config->gridDimZ = launch.grid[2];
    config->blockDimX = launch.block[0];
    config->blockDimY = launch.block[1];
    config->blockDimZ = launch.block[2];
    config->sharedMemBytes = launch.shared;
    if (cluster != NULL) {
        attribute->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attribute->value.clusterDim.x = launch.cluster[0];
        attribute->value.clusterDim.y = launch.cluster[1];
        attribute->value.clusterDim.z = launch.cluster[2];
        config->attrs = attribute;
        config->numAttrs = 1;
    }
    return 0;
}

PG_DOC_SHARED(Function_max_cluster_size__doc__, "max_cluster_size", "$self, /, block, shared=0",
              "(block: int | Sequence[int], shared: int = 0) -> int",
              "The largest number of blocks of a cluster with which the kernel can be launched. "
              "Raises LogicError if the device has no clusters.");
PG_SHARED_FUNCTION(Function_max_cluster_size, 2)
static PyObject *Function_max_cluster_size_impl(PyObject *op, PyObject *const *a) {
    Function *self = (Function *)op;
    CUlaunchConfig config;
    CUlaunchAttribute attribute;
    int size = 0;
    if (read_config(self, a[0], NULL, NULL, a[1], &config, &attribute) < 0) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    IN_CONTEXT(
        self->context, status,
        CU_BESIDE(status, cuOccupancyMaxPotentialClusterSize, &size, self->plan->handle, &config));
    return status == CUDA_SUCCESS
               ? PyLong_FromLong(size)
               : cud_raise_with(self->state, "cuOccupancyMaxPotentialClusterSize", status,
                                "kernel '%U'", self->name);
}

PG_DOC_SHARED(Function_max_active_clusters__doc__, "max_active_clusters",
              "$self, /, block, grid, cluster, shared=0",
              "(block: int | Sequence[int], grid: int | Sequence[int], cluster: int | "
              "Sequence[int], shared: int = 0) -> int",
              "How many clusters of this shape run on the device at once. Raises LogicError if the "
              "device has no clusters.");
PG_SHARED_FUNCTION(Function_max_active_clusters, 4)
static PyObject *Function_max_active_clusters_impl(PyObject *op, PyObject *const *a) {
    Function *self = (Function *)op;
    CUlaunchConfig config;
    CUlaunchAttribute attribute;
    int clusters = 0;
    if (read_config(self, a[0], a[1], a[2], a[3], &config, &attribute) < 0) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    IN_CONTEXT(
        self->context, status,
        CU_BESIDE(status, cuOccupancyMaxActiveClusters, &clusters, self->plan->handle, &config));
    return status == CUDA_SUCCESS ? PyLong_FromLong(clusters)
                                  : cud_raise_with(self->state, "cuOccupancyMaxActiveClusters",
                                                   status, "kernel '%U'", self->name);
}
