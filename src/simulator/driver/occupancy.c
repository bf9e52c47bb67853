/* occupancy.c - how many blocks of a kernel a multiprocessor can hold. The answers are those of
 * the GPU that device.c describes, because programs choose block sizes by them. */
#include "simulator/driver/context.h"
#include "simulator/driver/device.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/function.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/work.h"

#define SHARED_RESERVED 1024 /* per block, by the system [bytes] */

enum { MAX_THREADS = 0, SHARED_SIZE = 1, NUM_REGS = 4, MAX_DYNAMIC = 8 };

typedef struct {
    int max_threads, shared, registers, max_dynamic;
} Needs;

static CUresult requirements_of(CUfunction handle, Needs *needs) {
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimFunction, function, sim_function_take(NULL, handle, &function));
    SIM_TRY(sim_kernel_attribute(function->kernel, MAX_THREADS, &needs->max_threads));
    SIM_TRY(sim_kernel_attribute(function->kernel, SHARED_SIZE, &needs->shared));
    SIM_TRY(sim_kernel_attribute(function->kernel, NUM_REGS, &needs->registers));
    return sim_kernel_attribute(function->kernel, MAX_DYNAMIC, &needs->max_dynamic);
}

static int blocks_of(const Needs *needs, int block_size, size_t dynamic) {
    if (block_size > needs->max_threads || dynamic + (size_t)needs->shared > SIM_SHARED_OPTIN) {
        return 0;
    }
    int threads = (block_size + 31) / 32 * 32, blocks = SIM_THREADS_MULTIPROCESSOR / threads;
    int registers = needs->registers > 0 ? 65536 / (needs->registers * threads)
                                         : SIM_BLOCKS_MULTIPROCESSOR;
    size_t shared = SIM_SHARED_MULTIPROCESSOR / (dynamic + (size_t)needs->shared + SHARED_RESERVED);
    blocks = blocks < SIM_BLOCKS_MULTIPROCESSOR ? blocks : SIM_BLOCKS_MULTIPROCESSOR;
    blocks = registers < blocks ? registers : blocks;
    const int together =
        (int)SIM_COOPERATIVE_BLOCKS /
        sim_threads(); /* a cooperative launch with so many blocks per multiprocessor must run */
    blocks = together < blocks ? (together > 1 ? together : 1) : blocks;
    return shared < (size_t)blocks ? (int)shared : blocks;
}

static CUresult max_blocks(int *n, CUfunction function, int block_size, size_t dynamic,
                           unsigned flags) {
    Needs needs;
    SIM_NOT_NULL(n);
    if ((flags & ~1u) != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not occupancy flags", flags);
    }
    SIM_TRY(requirements_of(function, &needs));
    if (block_size <= 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "a block of %d threads", block_size);
    }
    *n = blocks_of(&needs, block_size, dynamic);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize) {
    SIM_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    return max_blocks(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
                                                              int blockSize, size_t dynamicSMemSize,
                                                              unsigned int flags) {
    SIM_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
    return max_blocks(numBlocks, func, blockSize, dynamicSMemSize, flags);
}

/* Finds the block size with the most concurrent threads; the largest if several are equal. */
static CUresult potential(int *min_grid, int *block_size, CUfunction function,
                          CUoccupancyB2DSize dynamic_of, size_t dynamic, int limit,
                          unsigned flags) {
    Needs needs;
    SIM_NOT_NULL(min_grid);
    SIM_NOT_NULL(block_size);
    if ((flags & ~1u) != 0 || limit < 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x, block size limit %d", flags, limit);
    }
    SIM_TRY(requirements_of(function, &needs));
    int most = limit > 0 && limit < needs.max_threads ? limit : needs.max_threads, best = 0,
        best_threads = 0, best_blocks = 0;
    for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
        int tried = size < most ? size : most;
        int blocks = blocks_of(&needs, tried, dynamic_of != NULL ? dynamic_of(tried) : dynamic);
        if (blocks * tried > best_threads) {
            best = tried;
            best_threads = blocks * tried;
            best_blocks = blocks;
        }
    }
    *block_size = best;
    *min_grid = best_blocks * sim_device_attribute(0, 16);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                          size_t dynamicSMemSize, int blockSizeLimit) {
    SIM_CALL(cuOccupancyMaxPotentialBlockSize);
    return potential(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                     blockSizeLimit, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize,
                                                   CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned int flags) {
    SIM_CALL(cuOccupancyMaxPotentialBlockSizeWithFlags);
    return potential(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                     blockSizeLimit, flags);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
                                                 int numBlocks, int blockSize) {
    SIM_CALL(cuOccupancyAvailableDynamicSMemPerBlock);
    Needs needs;
    SIM_NOT_NULL(dynamicSmemSize);
    SIM_TRY(requirements_of(func, &needs));
    if (numBlocks <= 0 || blockSize <= 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d blocks of %d threads", numBlocks, blockSize);
    }
    if (blocks_of(&needs, blockSize, 0) < numBlocks) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%d blocks of %d threads do not fit a multiprocessor", numBlocks,
                        blockSize);
    }
    int most = SIM_SHARED_MULTIPROCESSOR / numBlocks - SHARED_RESERVED - needs.shared;
    int allowed = needs.max_dynamic > 0 ? needs.max_dynamic : SIM_SHARED_DEFAULT - needs.shared;
    most = most < allowed ? most : allowed;
    *dynamicSmemSize = most > 0 ? (size_t)most : 0;
    return CUDA_SUCCESS;
}

static CUresult no_clusters(CUfunction handle, const CUlaunchConfig *config, int *out) {
    Needs needs;
    SIM_NOT_NULL(out);
    SIM_NOT_NULL(config);
    SIM_TRY(requirements_of(handle, &needs));
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "the simulator has no clusters of blocks");
}

CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
                                            const CUlaunchConfig *config) {
    SIM_CALL(cuOccupancyMaxPotentialClusterSize);
    return no_clusters(func, config, clusterSize);
}

CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
                                      const CUlaunchConfig *config) {
    SIM_CALL(cuOccupancyMaxActiveClusters);
    return no_clusters(func, config, numClusters);
}
