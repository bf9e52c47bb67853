/* module_api.c - modules for the driver's calls: images that module.c loads, with their kernels
 * and variables. */
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/function.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void module_free(void *op) {
    SimDriverModule *self = op;
    sim_module_unload(self->module);
    free(self);
}

static CUresult module_new(SimContext *context, const void *image, size_t size, CUmodule *out) {
    SimDriverModule *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    CUresult status = sim_module_load(sim_context_owner(context), image, size, &self->module);
    if (status != CUDA_SUCCESS) {
        free(self);
        return status;
    }
    status = sim_object_open(self, SIM_MODULE, context, module_free);
    if (status != CUDA_SUCCESS) {
        sim_module_unload(self->module);
        free(self);
        return status;
    }
    *out = (CUmodule)self->object.handle;
    sim_object_drop(self);
    return CUDA_SUCCESS;
}

static CUresult take_module(CUmodule handle, SimDriverModule **out) {
    *out = sim_object_take((uintptr_t)handle, SIM_MODULE);
    if (*out == NULL) {
        return sim_fail(CUDA_ERROR_INVALID_HANDLE, "%p is not a module, or was destroyed",
                        (void *)handle);
    }
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    SIM_CALL(cuModuleLoadData);
    SIM_NOT_NULL(module);
    SIM_NOT_NULL(image);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    return module_new(context, image, 0, module);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin) {
    SIM_CALL(cuModuleLoadFatBinary);
    SIM_NOT_NULL(module);
    SIM_NOT_NULL(fatCubin);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    return module_new(context, fatCubin, 0, module);
}

/* ---- options: logs are filled, the others concern code generation, which has already happened  */

enum {
    JIT_WALL_TIME = 2,
    JIT_INFO_LOG = 3,
    JIT_INFO_SIZE = 4,
    JIT_ERROR_LOG = 5,
    JIT_ERROR_SIZE = 6,
    JIT_LAST = 34
};

CUresult sim_jit_check(unsigned int n, const CUjit_option *options, void *const *values) {
    if (n > 0 && (options == NULL || values == NULL)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%u options, and NULL in place of them", n);
    }
    for (unsigned i = 0; i < n; i++) {
        if (options[i] < 0 || options[i] > JIT_LAST + 16) {
            return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a jit_option", options[i]);
        }
    }
    return CUDA_SUCCESS;
}

/* Writes text into the log (JIT_INFO_LOG or JIT_ERROR_LOG) if the options have one, and its length
 * into the option after it. */
static void fill_log(unsigned int n, const CUjit_option *options, void *const *given, void **values,
                     CUjit_option which, const char *text) {
    char *buffer = NULL;
    for (unsigned i = 0; i < n; i++) {
        if (options[i] == which) {
            buffer = given[i];
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (options[i] == which + 1) {
            size_t size = (uintptr_t)given[i] & 0xffffffffu,
                   length = 0; /* an unsigned int stored in place of a pointer */
            if (buffer != NULL && size > 0) {
                length = (size_t)snprintf(buffer, size, "%s", text);
                length = length < size ? length : size - 1;
            }
            values[i] = (void *)length;
        }
    }
}

void sim_jit_report(unsigned int n, const CUjit_option *options, void *const *given, void **values,
                    CUresult status) {
    fill_log(n, options, given, values, JIT_INFO_LOG, "");
    fill_log(n, options, given, values, JIT_ERROR_LOG,
             status != CUDA_SUCCESS ? pygpuSimLastErrorDetail() : "");
    for (unsigned i = 0; i < n; i++) {
        if (options[i] == JIT_WALL_TIME) {
            float nothing = 0;
            memcpy(&values[i], &nothing, sizeof(nothing));
        }
    }
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                            CUjit_option *options, void **optionValues) {
    SIM_CALL(cuModuleLoadDataEx);
    SIM_NOT_NULL(module);
    SIM_NOT_NULL(image);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(sim_jit_check(numOptions, options, optionValues));
    CUresult status = module_new(context, image, 0, module);
    sim_jit_report(numOptions, options, optionValues, optionValues, status);
    return status;
}

CUresult sim_read_file(const char *path, void **out, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return sim_fail(CUDA_ERROR_FILE_NOT_FOUND, "%.800s cannot be opened", path);
    }
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *bytes = length >= 0 && length < 1L << 40 ? malloc((size_t)length + 1) : NULL;
    bool read = bytes != NULL && fseek(file, 0, SEEK_SET) == 0 &&
                fread(bytes, 1, (size_t)length, file) == (size_t)length;
    fclose(file);
    if (!read) {
        free(bytes);
        return sim_fail(CUDA_ERROR_FILE_NOT_FOUND, "%.800s cannot be read", path);
    }
    bytes[length] = '\0'; /* images may be text */
    *out = bytes;
    *size = (size_t)length;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoad(CUmodule *module, const char *fname) {
    SIM_CALL(cuModuleLoad);
    void *image;
    size_t size;
    SIM_NOT_NULL(module);
    SIM_NOT_NULL(fname);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(sim_read_file(fname, &image, &size));
    CUresult status = size == 0 ? sim_fail(CUDA_ERROR_INVALID_IMAGE, "%.800s is empty", fname)
                                : module_new(context, image, size, module);
    free(image);
    return status;
}

void sim_driver_module_close(SimDriverModule *module) {
    SimFunction *function;
    pthread_mutex_lock(&module->object.context->lock);
    function = module->functions;
    module->functions = NULL;
    pthread_mutex_unlock(&module->object.context->lock);
    while (function != NULL) {
        SimFunction *next = function->next;
        sim_object_close(function);
        sim_object_drop(function);
        function = next;
    }
    sim_object_close(module);
}

/* Queued or running kernels keep the code alive until they finish. */
CUresult cuModuleUnload(CUmodule hmod) {
    SIM_CALL(cuModuleUnload);
    SIM_TAKE(SimDriverModule, module, take_module(hmod, &module));
    sim_driver_module_close(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name) {
    SIM_CALL(cuModuleGetGlobal);
    uintptr_t address;
    size_t size;
    SIM_NOT_NULL(name);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimDriverModule, module, take_module(hmod, &module));
    SIM_TRY(sim_module_variable(module->module, name, &address, &size));
    if (dptr != NULL) {
        *dptr = address;
    }
    if (bytes != NULL) {
        *bytes = size;
    }
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name) {
    SIM_CALL(cuModuleGetFunction);
    SimKernel *kernel;
    SIM_NOT_NULL(hfunc);
    SIM_NOT_NULL(name);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimDriverModule, module, take_module(hmod, &module));
    SIM_TRY(sim_module_kernel(module->module, name, &kernel));
    SIM_TAKE(SimFunction, function, sim_function_of(module, kernel, &function));
    *hfunc = (CUfunction)function->object.handle;
    return CUDA_SUCCESS;
}
