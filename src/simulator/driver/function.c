/* function.c - kernels: their parameters, attributes and module. */
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/function.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/work.h"

#include <stdlib.h>
#include <string.h>

static void function_free(void *op) {
    SimFunction *self = op;
    sim_object_drop(self->module);
    free(self->params);
    free(self);
}

static CUresult function_new(SimDriverModule *module, SimKernel *kernel, SimFunction **out) {
    int n = sim_kernel_n_params(kernel);
    SimFunction *self = calloc(1, sizeof(*self));
    if (self == NULL || (self->params = calloc((size_t)n + 1, sizeof(*self->params))) == NULL) {
        free(self);
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    self->kernel = kernel;
    self->n_params = n;
    for (int i = 0; i < n; i++) {
        sim_kernel_param(kernel, i, &self->params[i].offset, &self->params[i].size);
        size_t end = self->params[i].offset + self->params[i].size;
        self->n_bytes = end > self->n_bytes ? end : self->n_bytes;
    }
    CUresult status = sim_object_open(self, SIM_FUNCTION, module->object.context, function_free);
    if (status != CUDA_SUCCESS) {
        free(self->params);
        free(self);
        return status;
    }
    self->module = sim_object_keep(module);
    *out = self;
    return CUDA_SUCCESS;
}

/* A kernel always has the same handle. The module holds a reference to each of its functions until
 * it is unloaded; each function holds one to the module. */
CUresult sim_function_of(SimDriverModule *module, SimKernel *kernel, SimFunction **out) {
    SimContext *context = module->object.context;
    SimFunction *fresh = NULL;
    for (int attempt = 0; attempt < 2; attempt++) {
        pthread_mutex_lock(&context->lock);
        for (SimFunction *function = module->functions; function != NULL;
             function = function->next) {
            if (function->kernel == kernel) {
                *out = sim_object_keep(function);
                pthread_mutex_unlock(&context->lock);
                if (fresh != NULL) {
                    sim_object_close(fresh);
                    sim_object_drop(fresh);
                }
                return CUDA_SUCCESS;
            }
        }
        if (fresh != NULL) {
            fresh->next = module->functions;
            module->functions = sim_object_keep(fresh);
        }
        pthread_mutex_unlock(&context->lock);
        if (fresh == NULL) {
            SIM_TRY(function_new(module, kernel, &fresh));
        } else {
            break;
        }
    }
    *out = fresh;
    return CUDA_SUCCESS;
}

CUresult sim_function_take(SimContext *context, CUfunction handle, SimFunction **out) {
    *out = sim_object_take((uintptr_t)handle, SIM_FUNCTION);
    if (*out == NULL) {
        return sim_fail(CUDA_ERROR_INVALID_HANDLE,
                        "%p is not a function, or its module was unloaded", (void *)handle);
    }
    if (context != NULL && (*out)->object.context != context) {
        return sim_fail(CUDA_ERROR_INVALID_HANDLE,
                        "%s belongs to another context than the current one",
                        sim_kernel_name((*out)->kernel));
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc) {
    SIM_CALL(cuFuncGetAttribute);
    SIM_NOT_NULL(pi);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimFunction, function, sim_function_take(NULL, hfunc, &function));
    return sim_kernel_attribute(function->kernel, attrib, pi);
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
    SIM_CALL(cuFuncSetAttribute);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimFunction, function, sim_function_take(NULL, hfunc, &function));
    return sim_kernel_set_attribute(function->kernel, attrib, value);
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
    SIM_CALL(cuFuncSetCacheConfig);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimFunction, function, sim_function_take(NULL, hfunc, &function));
    return config < 0 || config > 3
               ? sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a func_cache", config)
               : CUDA_SUCCESS;
}

CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
    SIM_CALL(cuFuncSetSharedMemConfig);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimFunction, function, sim_function_take(NULL, hfunc, &function));
    return config < 0 || config > 2
               ? sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a shared_config", config)
               : CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc) {
    SIM_CALL(cuFuncGetModule);
    SIM_NOT_NULL(hmod);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimFunction, function, sim_function_take(NULL, hfunc, &function));
    *hmod = (CUmodule)function->module->object.handle;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction hfunc) {
    SIM_CALL(cuFuncGetName);
    SIM_NOT_NULL(name);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimFunction, function, sim_function_take(NULL, hfunc, &function));
    *name = sim_kernel_name(function->kernel);
    return CUDA_SUCCESS;
}

/* Callers count the parameters by asking until they get INVALID_VALUE. */
CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                            size_t *paramSize) {
    SIM_CALL(cuFuncGetParamInfo);
    SIM_NOT_NULL(paramOffset);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimFunction, function, sim_function_take(NULL, func, &function));
    if (paramIndex >= (size_t)function->n_params) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%s has %d parameters, no number %zu",
                        sim_kernel_name(function->kernel), function->n_params, paramIndex);
    }
    *paramOffset = function->params[paramIndex].offset;
    if (paramSize != NULL) {
        *paramSize = function->params[paramIndex].size;
    }
    return CUDA_SUCCESS;
}
