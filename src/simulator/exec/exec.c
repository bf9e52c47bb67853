/* exec.c - launches: checks them, and distributes their blocks. */
#include <string.h>

#include "simulator/exec/exec.h"

static size_t shared_static(const SimKernel *kernel) {
    int bytes = 0;
    sim_kernel_attribute(kernel, 1 /* SHARED_SIZE_BYTES */, &bytes);
    return (size_t)bytes;
}

CUresult sim_exec_check(const SimKernel *kernel, const SimLaunch *launch) {
    const SimDim3 grid = launch->grid, block = launch->block;
    const char *name = sim_kernel_name(kernel);
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu || grid.y > 65535 ||
        grid.z > 65535) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "kernel %s: a grid of (%u, %u, %u) blocks; each must be 1 to (2147483647, "
                        "65535, 65535)",
                        name, grid.x, grid.y, grid.z);
    }
    if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > 1024 || block.y > 1024 ||
        block.z > 64 || (uint64_t)block.x * block.y * block.z > SIM_MAX_THREADS) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "kernel %s: a block of (%u, %u, %u) threads; each must be 1 to (1024, "
                        "1024, 64), and at most 1024 in all",
                        name, block.x, block.y, block.z);
    }
    const unsigned threads = block.x * block.y * block.z, most = kernel->entry->max_threads;
    if (most != 0 && threads > most) {
        return sim_fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                        "kernel %s: a block of %u threads, its __launch_bounds__ allow %u", name,
                        threads, most);
    }
    const size_t fixed = shared_static(kernel);
    if (launch->shared > (size_t)kernel->max_dynamic &&
        launch->shared + fixed > SIM_SHARED_DEFAULT) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "kernel %s: %zu bytes of dynamic and %zu of static shared memory; above %u "
                        "in all, set the attribute "
                        "MAX_DYNAMIC_SHARED_SIZE_BYTES first (at most %u)",
                        name, launch->shared, fixed, SIM_SHARED_DEFAULT, SIM_SHARED_MOST);
    }
    if (launch->cooperative && (uint64_t)grid.x * grid.y * grid.z > SIM_COOPERATIVE_BLOCKS) {
        return sim_fail(
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
            "kernel %s: a cooperative launch of %llu blocks; the simulator runs at most %u at once",
            name, (unsigned long long)grid.x * grid.y * grid.z, SIM_COOPERATIVE_BLOCKS);
    }
    return CUDA_SUCCESS;
}

CUresult sim_exec(const SimKernel *kernel, const SimLaunch *launch, SimError *error) {
    error->code = CUDA_SUCCESS;
    error->text[0] = 0;
    if (SIM_UNLIKELY(watch_stops(launch->origin)))
        return CUDA_SUCCESS;
    Job job = {.kernel = kernel, .launch = launch};
    job.blocks = (unsigned long long)launch->grid.x * launch->grid.y * launch->grid.z;
    sigset_t mask;
    error->code = diag_enter(&mask);
    if (error->code != CUDA_SUCCESS)
        return error->code;
    pool_run(&job);
    diag_leave(&mask);
    sim_output_flush();
    if (SIM_UNLIKELY(job.error.code != CUDA_SUCCESS)) {
        *error = job.error;
        if (error->code == SIM_INTERRUPTED) {
            watch_stopped(error->text);
            error->code = CUDA_SUCCESS;
        }
    }
    return error->code;
}
