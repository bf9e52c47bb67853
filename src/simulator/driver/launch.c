/* launch.c - launches: arguments are copied during the call, so the caller need not keep them. */
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/function.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/stream.h"
#include "simulator/driver/work.h"

#include <stdlib.h>
#include <string.h>

/* extra: a list of (key, pointer) pairs, ended by END, which passes all arguments as one block of
 * memory. */
static CUresult read_extra(const SimFunction *function, void **extra, const unsigned char **buffer,
                           size_t *size) {
    bool sized = false;
    *buffer = NULL;
    *size = 0;
    for (int i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            *buffer = extra[i + 1];
        } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1] != NULL) {
            memcpy(size, extra[i + 1], sizeof(*size));
            sized = true;
        } else {
            return sim_fail(CUDA_ERROR_INVALID_VALUE, "extra[%d] is %p, no CU_LAUNCH_PARAM_*", i,
                            extra[i]);
        }
    }
    if (function->n_bytes > 0 && (*buffer == NULL || !sized || *size < function->n_bytes)) {
        return sim_fail(
            CUDA_ERROR_INVALID_VALUE, "extra gives %zu bytes of arguments; %s takes %zu",
            *buffer == NULL ? 0 : *size, sim_kernel_name(function->kernel), function->n_bytes);
    }
    return CUDA_SUCCESS;
}

static CUresult fill_params(SimWork *work, const SimFunction *function, void **params,
                            void **extra) {
    unsigned char *to = work->kernel.params;
    const unsigned char *buffer = NULL;
    size_t size;
    if (extra != NULL && params != NULL) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "both kernelParams and extra are given");
    }
    if (extra != NULL) {
        SIM_TRY(read_extra(function, extra, &buffer, &size));
    } else if (params == NULL && function->n_params > 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%s takes %d arguments, kernelParams is NULL",
                        sim_kernel_name(function->kernel), function->n_params);
    }
    if (function->n_bytes > SIM_INLINE_PARAMS) {
        to = work->kernel.more = malloc(function->n_bytes);
        if (to == NULL) {
            return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
        }
    }
    if (buffer != NULL) {
        memcpy(to, buffer, function->n_bytes);
        return CUDA_SUCCESS;
    }
    for (int i = 0; i < function->n_params; i++) {
        if (params[i] == NULL) {
            return sim_fail(CUDA_ERROR_INVALID_VALUE,
                            "kernelParams[%d] is NULL; %s takes %d arguments", i,
                            sim_kernel_name(function->kernel), function->n_params);
        }
        memcpy(&to[function->params[i].offset], params[i], function->params[i].size);
    }
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction handle, SimDim3 grid, SimDim3 block, size_t shared,
                       CUstream stream_handle, bool cooperative, void **params, void **extra) {
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, stream_handle, &stream));
    SIM_TAKE(SimFunction, function, sim_function_take(stream->object.context, handle, &function));
    SimLaunch checked = {.grid = grid,
                         .block = block,
                         .cluster = {1, 1, 1},
                         .shared = shared,
                         .cooperative = cooperative};
    SIM_TRY(sim_exec_check(function->kernel, &checked));
    SimWork work;
    work.kind = WORK_KERNEL;
    work.kernel.grid = grid;
    work.kernel.block = block;
    work.kernel.shared = shared;
    work.kernel.n_bytes = function->n_bytes;
    work.kernel.cooperative = cooperative;
    work.kernel.more = NULL;
    CUresult status = fill_params(&work, function, params, extra);
    if (status != CUDA_SUCCESS) {
        free(work.kernel.more);
        return status;
    }
    work.kernel.function = sim_object_keep(function);
    return sim_stream_submit(stream, &work, NULL);
}

int pygpuSimStop(char *text, size_t size) {
    return sim_exec_stop(sim_last_origin(), text, size);
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                        unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                        unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                        void **kernelParams, void **extra) {
    SIM_CALL(cuLaunchKernel);
    return launch(f, (SimDim3){gridDimX, gridDimY, gridDimZ},
                  (SimDim3){blockDimX, blockDimY, blockDimZ}, sharedMemBytes, hStream, false,
                  kernelParams, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX,
                                   unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream,
                                   void **kernelParams) {
    SIM_CALL(cuLaunchCooperativeKernel);
    return launch(f, (SimDim3){gridDimX, gridDimY, gridDimZ},
                  (SimDim3){blockDimX, blockDimY, blockDimZ}, sharedMemBytes, hStream, true,
                  kernelParams, NULL);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                          void **extra) {
    SIM_CALL(cuLaunchKernelEx);
    bool cooperative = false;
    SIM_NOT_NULL(config);
    if (config->numAttrs > 0) {
        SIM_NOT_NULL(config->attrs);
    }
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        switch (attribute->id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            cooperative = attribute->value.cooperative != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            if (attribute->value.clusterDim.x != 1 || attribute->value.clusterDim.y != 1 ||
                attribute->value.clusterDim.z != 1) {
                return sim_fail(CUDA_ERROR_NOT_SUPPORTED,
                                "the simulator has no clusters of blocks");
            }
            break;
        case 0:
        case 1:
        case 3:
        case 5:
        case 9:
        case 10:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY: /* hints: caches, order, priority; no effect here */
            break;
        default:
            return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "the simulator has no launch attribute %d",
                            attribute->id);
        }
    }
    return launch(f, (SimDim3){config->gridDimX, config->gridDimY, config->gridDimZ},
                  (SimDim3){config->blockDimX, config->blockDimY, config->blockDimZ},
                  config->sharedMemBytes, config->hStream, cooperative, kernelParams, extra);
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) {
    SIM_CALL(cuLaunchHostFunc);
    SIM_NOT_NULL((void *)(uintptr_t)fn);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    return sim_stream_submit(stream, &(SimWork){.kind = WORK_HOST, .host = {fn, userData}}, NULL);
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
                             unsigned int flags) {
    SIM_CALL(cuStreamAddCallback);
    SIM_NOT_NULL((void *)(uintptr_t)callback);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    if (flags != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not 0", flags);
    }
    if (stream->capture != NULL) {
        return sim_capture_forbid_stream(stream, "cuStreamAddCallback");
    }
    return sim_stream_submit(
        stream, &(SimWork){.kind = WORK_CALLBACK, .callback = {callback, userData, hStream}}, NULL);
}
