/* threads_stub.c - kernels without a compiler, for threads.c: a few functions in place of what runs device code. */
#include "simulator/compiler/compiler.h"
#include "simulator/sim.h"

#include <stdlib.h>
#include <string.h>

struct SimKernel {
    const char *name;
    int n;
    SimModule *module;
};

struct SimModule {
    struct SimKernel kernels[4];
    float variable[4];
};

CUresult sim_module_load(SimOwner owner, const void *image, size_t size, SimModule **out) {
    static const struct SimKernel kernels[] = {{"nop", 0, NULL}, {"add", 3, NULL}, {"fault", 0, NULL}, {"copy", 2, NULL}};
    (void)size;
    if (strcmp(image, "stub") != 0) {
        return sim_fail(CUDA_ERROR_INVALID_IMAGE, "not the stub");
    }
    SimModule *module = calloc(1, sizeof(*module));
    if (module == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(module->kernels, kernels, sizeof(kernels));
    for (int i = 0; i < 4; i++) {
        module->kernels[i].module = module;
    }
    *out = module;
    return sim_memory_adopt(owner, (uintptr_t)module->variable, sizeof(module->variable), SIM_VARIABLE, 0);
}

void sim_module_unload(SimModule *module) {
    sim_memory_free((uintptr_t)module->variable, SIM_VARIABLE);
    free(module);
}

CUresult sim_module_kernel(SimModule *module, const char *name, SimKernel **out) {
    for (int i = 0; i < 4; i++) {
        if (strcmp(module->kernels[i].name, name) == 0) {
            *out = &module->kernels[i];
            return CUDA_SUCCESS;
        }
    }
    return sim_fail(CUDA_ERROR_NOT_FOUND, "no kernel %s", name);
}

CUresult sim_module_variable(SimModule *module, const char *name, uintptr_t *address, size_t *size) {
    (void)name;
    *address = (uintptr_t)module->variable;
    *size = sizeof(module->variable);
    return CUDA_SUCCESS;
}

const char *sim_kernel_name(const SimKernel *kernel) { return kernel->name; }
SimModule *sim_kernel_module(const SimKernel *kernel) { return kernel->module; }
int sim_kernel_n_params(const SimKernel *kernel) { return kernel->n; }

/* add(float *, float *, int), copy(struct of 400 bytes, void *) */
void sim_kernel_param(const SimKernel *kernel, int index, size_t *offset, size_t *size) {
    size_t first = kernel->name[0] == 'a' ? 8 : 400;
    *offset = index == 0 ? 0 : first + 8 * (size_t)(index - 1);
    *size = index == 0 ? first : index == 2 ? 4 : 8;
}

CUresult sim_kernel_attribute(const SimKernel *kernel, CUfunction_attribute attribute, int *value) {
    (void)kernel;
    *value = attribute == 0 ? 1024 : 0;
    return CUDA_SUCCESS;
}

CUresult sim_kernel_set_attribute(SimKernel *kernel, CUfunction_attribute attribute, int value) {
    (void)kernel;
    (void)attribute;
    (void)value;
    return CUDA_SUCCESS;
}

CUresult sim_exec_check(const SimKernel *kernel, const SimLaunch *launch) {
    (void)kernel;
    return launch->grid.x == 0 || launch->block.x == 0 ? sim_fail(CUDA_ERROR_INVALID_VALUE, "empty") : CUDA_SUCCESS;
}

CUresult sim_exec(const SimKernel *kernel, const SimLaunch *launch, SimError *error) {
    if (strcmp(kernel->name, "add") == 0) {
        float *a = *(float **)launch->params[0];
        const float *b = *(float **)launch->params[1];
        for (int i = 0; i < *(int *)launch->params[2]; i++) {
            a[i] += b[i];
        }
    } else if (strcmp(kernel->name, "copy") == 0) {
        memcpy(*(void **)launch->params[1], launch->params[0], 400);
    } else if (strcmp(kernel->name, "fault") == 0) {
        strcpy(error->text, "a fault");
        return error->code = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    return CUDA_SUCCESS;
}

void sim_output_flush(void) {}
size_t sim_heap_size(void) { return 1 << 23; }
void sim_set_heap_size(size_t size) { (void)size; }
size_t sim_stack_size(void) { return 65536; }
CUresult sim_set_stack_size(size_t size) { return size > 1 << 20 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }

/* The linker is not what is tested here. */
size_t elf_size(const void *image, size_t size) { (void)image; return size; }
bool elf_open(Elf *elf, const void *image, size_t size) { (void)elf, (void)image, (void)size; return false; }
bool seal_holds(const Elf *elf) { (void)elf; return true; }
bool elf_section(const Elf *elf, const char *name, uint64_t *address, uint64_t *size) {
    (void)elf, (void)name, (void)address, (void)size;
    return false;
}
CUresult compiler_decode_text(const void *text, size_t size, void **image, size_t *image_size) {
    (void)text, (void)size, (void)image, (void)image_size;
    return CUDA_ERROR_NOT_SUPPORTED;
}
bool relocatable_has_object(const void *image, size_t size) { (void)image, (void)size; return false; }
CUresult relocatable_link_images(const LinkInput *inputs, size_t n, void **image, size_t *size) {
    (void)inputs, (void)n, (void)image, (void)size;
    return CUDA_ERROR_NOT_SUPPORTED;
}

bool sim_guarded(void (*act)(const void *what), const void *what, uintptr_t *address) {
    (void)address;
    act(what);
    return true;
}
