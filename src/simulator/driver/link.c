/* link.c - the linker's calls: a single image is returned unchanged, several are combined by
 * relocatable.c. */
#include "simulator/compiler/compiler.h"
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/function.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/work.h"
#include "simulator/image/elf.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    SimObject object;
    pthread_mutex_t lock;
    LinkInput *inputs; /* the linker owns names and images */
    size_t n_inputs;
    void *linked; /* the result, once complete */
    size_t linked_size;
    unsigned n_options;
    CUjit_option *options;
    void **given;  /* the original values: the calls replace the sizes of the logs by the number of
                    * bytes written */
    void **values; /* owned by the caller, who keeps them as long as the linker exists: logs are
                    * filled through them */
} Link;

enum { INPUT_CUBIN = 0, INPUT_PTX = 1, INPUT_LIBRARY = 4, INPUT_LAST = 5 };

static void link_free(void *op) {
    Link *self = op;
    for (size_t i = 0; i < self->n_inputs; i++) {
        free((void *)(uintptr_t)self->inputs[i].name);
        free((void *)(uintptr_t)self->inputs[i].image);
    }
    free(self->inputs);
    free(self->linked);
    free(self->options);
    free(self->given);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static CUresult take_link(CUlinkState handle, Link **out) {
    *out = sim_object_take((uintptr_t)handle, SIM_LINK);
    return *out != NULL ? CUDA_SUCCESS
                        : sim_fail(CUDA_ERROR_INVALID_HANDLE,
                                   "%p is not a linker, or was destroyed", (void *)handle);
}

CUresult cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues,
                      CUlinkState *stateOut) {
    SIM_CALL(cuLinkCreate);
    SIM_NOT_NULL(stateOut);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(sim_jit_check(numOptions, options, optionValues));
    Link *self = calloc(1, sizeof(*self));
    if (self == NULL || (self->options = malloc((numOptions + 1) * sizeof(*options))) == NULL ||
        (self->given = malloc((numOptions + 1) * sizeof(*optionValues))) == NULL) {
        if (self != NULL) {
            free(self->options);
        }
        free(self);
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    if (numOptions > 0) {
        memcpy(self->options, options, numOptions * sizeof(*options));
        memcpy(self->given, optionValues, numOptions * sizeof(*optionValues));
    }
    self->n_options = numOptions;
    self->values = optionValues;
    pthread_mutex_init(&self->lock, NULL);
    CUresult status = sim_object_open(self, SIM_LINK, context, link_free);
    if (status != CUDA_SUCCESS) {
        link_free(self);
        return status;
    }
    *stateOut = (CUlinkState)self->object.handle;
    sim_object_drop(self);
    return CUDA_SUCCESS;
}

/* Replaces bytes by the image that they encode. */
static CUresult decode(void **bytes, size_t *size, const char *name) {
    Elf elf;
    uint64_t address, length;
    if (elf_size(*bytes, *size) == 0) {
        void *decoded;
        SIM_TRY(compiler_decode_text(*bytes, 0, &decoded, size)); /* followed by a 0 */
        free(*bytes);
        *bytes = decoded;
    }
    if (!elf_open(&elf, *bytes, *size) || !elf_section(&elf, "sim_abi", &address, &length)) {
        return sim_fail(CUDA_ERROR_INVALID_IMAGE,
                        "%.200s is an object, but not one that the simulator's compiler made",
                        name);
    }
    if (!seal_holds(&elf)) {
        return sim_fail(CUDA_ERROR_INVALID_IMAGE,
                        "%.200s is damaged: it is no longer what the compiler made", name);
    }
    return CUDA_SUCCESS;
}

static CUresult append(Link *self, void **bytes, size_t size, const char *name) {
    LinkInput *more = realloc(self->inputs, (self->n_inputs + 1) * sizeof(*more));
    char *copy = strdup(name);
    if (more != NULL) {
        self->inputs = more;
    }
    if (more == NULL || copy == NULL) {
        free(copy);
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    self->inputs[self->n_inputs++] = (LinkInput){copy, *bytes, size};
    *bytes = NULL;
    return CUDA_SUCCESS;
}

/* Takes over bytes, which are followed by a 0, even if it fails. Archives of the toolkit
 * (cudadevrt) contain nothing that is needed here. */
static CUresult add(Link *self, CUjitInputType type, void *bytes, size_t size, const char *name) {
    CUresult status = CUDA_SUCCESS;
    if (type < INPUT_CUBIN || type > INPUT_LAST) {
        status = sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a jit_input_type", type);
    } else if (size == 0) {
        status = sim_fail(CUDA_ERROR_INVALID_IMAGE, "%.200s is empty", name);
    } else if (type != INPUT_LIBRARY || size < 8 || memcmp(bytes, "!<arch>\n", 8) != 0) {
        status = decode(&bytes, &size, name);
        pthread_mutex_lock(&self->lock);
        if (status == CUDA_SUCCESS && self->linked != NULL) {
            status = sim_fail(CUDA_ERROR_INVALID_VALUE,
                              "%.200s comes too late: the linker is complete", name);
        }
        if (status == CUDA_SUCCESS) {
            status = append(self, &bytes, size, name);
        }
        pthread_mutex_unlock(&self->lock);
    }
    free(bytes);
    sim_jit_report(self->n_options, self->options, self->given, self->values, status);
    return status;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                       const char *name, unsigned int numOptions, CUjit_option *options,
                       void **optionValues) {
    SIM_CALL(cuLinkAddData);
    HELD Link *linker = NULL;
    SIM_TRY(take_link(state, &linker));
    SIM_NOT_NULL(data);
    SIM_TRY(sim_jit_check(numOptions, options, optionValues));
    char *bytes = malloc(size + 1);
    if (bytes == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    return add(linker, type, bytes, size, name != NULL ? name : "the input");
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                       unsigned int numOptions, CUjit_option *options, void **optionValues) {
    SIM_CALL(cuLinkAddFile);
    void *bytes;
    size_t size;
    SIM_TAKE(Link, linker, take_link(state, &linker));
    SIM_NOT_NULL(path);
    SIM_TRY(sim_jit_check(numOptions, options, optionValues));
    SIM_TRY(sim_read_file(path, &bytes, &size));
    return add(linker, type, bytes, size, path);
}

/* The linker owns the image. */
CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut) {
    SIM_CALL(cuLinkComplete);
    CUresult status = CUDA_SUCCESS;
    SIM_NOT_NULL(cubinOut);
    SIM_TAKE(Link, linker, take_link(state, &linker));
    pthread_mutex_lock(&linker->lock);
    if (linker->n_inputs == 0) {
        status = sim_fail(CUDA_ERROR_INVALID_IMAGE, "nothing was added to the linker");
    } else if (linker->linked == NULL) {
        const LinkInput *first = &linker->inputs[0];
        if (linker->n_inputs > 1 || relocatable_has_object(first->image, first->size)) {
            status = relocatable_link_images(linker->inputs, linker->n_inputs, &linker->linked,
                                             &linker->linked_size);
        } else if ((linker->linked = malloc(first->size)) != NULL) {
            memcpy(linker->linked, first->image, first->size);
            linker->linked_size = first->size;
        } else {
            status = sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
        }
    }
    if (status == CUDA_SUCCESS) {
        *cubinOut = linker->linked;
        if (sizeOut != NULL) {
            *sizeOut = linker->linked_size;
        }
    }
    pthread_mutex_unlock(&linker->lock);
    sim_jit_report(linker->n_options, linker->options, linker->given, linker->values, status);
    return status;
}

CUresult cuLinkDestroy(CUlinkState state) {
    SIM_CALL(cuLinkDestroy);
    SIM_TAKE(Link, linker, take_link(state, &linker));
    sim_object_close(linker);
    return CUDA_SUCCESS;
}
