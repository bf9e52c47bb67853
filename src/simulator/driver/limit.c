/* limit.c - a context's limits and preferences. */
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"

enum {
    LIMIT_STACK = 0,
    LIMIT_PRINTF = 1,
    LIMIT_HEAP = 2,
    LIMIT_SYNC_DEPTH = 3,
    LIMIT_PENDING_LAUNCHES = 4,
    LIMIT_FETCH = 5,
    LIMIT_L2 = 6
};

CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit) {
    SIM_CALL(cuCtxGetLimit);
    SIM_NOT_NULL(pvalue);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (limit < 0 || limit > LIMIT_L2) {
        return sim_fail(limit < 0 || limit > 9 ? CUDA_ERROR_INVALID_VALUE
                                               : CUDA_ERROR_UNSUPPORTED_LIMIT,
                        "the simulator has no limit %d", limit);
    }
    pthread_mutex_lock(&context->lock);
    *pvalue = context->limits[limit];
    pthread_mutex_unlock(&context->lock);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    SIM_CALL(cuCtxSetLimit);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (limit < 0 || limit > LIMIT_L2) {
        return sim_fail(limit < 0 || limit > 9 ? CUDA_ERROR_INVALID_VALUE
                                               : CUDA_ERROR_UNSUPPORTED_LIMIT,
                        "the simulator has no limit %d", limit);
    }
    if (limit == LIMIT_SYNC_DEPTH && value > 24) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "a depth of %zu is more than 24", value);
    }
    if (value > sim_device_memory()) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes are more than the device has", value);
    }
    if (limit == LIMIT_STACK) { /* these two apply to all contexts from now on */
        SIM_TRY(sim_set_stack_size(value));
    } else if (limit == LIMIT_HEAP) {
        sim_set_heap_size(value);
    }
    pthread_mutex_lock(&context->lock);
    context->limits[limit] = value;
    pthread_mutex_unlock(&context->lock);
    return CUDA_SUCCESS;
}

/* The two below are hints for a GPU's caches: stored, but without effect. */
CUresult cuCtxGetCacheConfig(CUfunc_cache *pconfig) {
    SIM_CALL(cuCtxGetCacheConfig);
    SIM_NOT_NULL(pconfig);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    pthread_mutex_lock(&context->lock);
    *pconfig = context->cache_config;
    pthread_mutex_unlock(&context->lock);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    SIM_CALL(cuCtxSetCacheConfig);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (config < 0 || config > 3) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a func_cache", config);
    }
    pthread_mutex_lock(&context->lock);
    context->cache_config = config;
    pthread_mutex_unlock(&context->lock);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *pConfig) {
    SIM_CALL(cuCtxGetSharedMemConfig);
    SIM_NOT_NULL(pConfig);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    pthread_mutex_lock(&context->lock);
    *pConfig = context->shared_config == 0 ? 1 : context->shared_config; /* 4-byte banks */
    pthread_mutex_unlock(&context->lock);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    SIM_CALL(cuCtxSetSharedMemConfig);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (config < 0 || config > 2) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a shared_config", config);
    }
    pthread_mutex_lock(&context->lock);
    context->shared_config = config;
    pthread_mutex_unlock(&context->lock);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority) {
    SIM_CALL(cuCtxGetStreamPriorityRange);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (leastPriority != NULL) {
        *leastPriority = 0;
    }
    if (greatestPriority != NULL) {
        *greatestPriority = -5;
    }
    return CUDA_SUCCESS;
}
