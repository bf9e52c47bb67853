/* link.c - the linker: takes one image of the simulator's compiler and gives it back. An image is complete, so there is nothing to put
 * together; several ones would have to be compiled as one program. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    SimObject object;
    pthread_mutex_t lock;
    void *image;
    size_t size;
    unsigned n_options;
    CUjit_option *options;
    void **given;  /* as they were at first: the sizes of the logs are replaced by how much was written */
    void **values; /* the caller's, who keeps them as long as the linker lives: logs are filled through them */
} Link;

enum { INPUT_CUBIN = 0, INPUT_PTX = 1, INPUT_LAST = 5 };

static void link_free(void *op) {
    Link *self = op;
    free(self->image);
    free(self->options);
    free(self->given);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static CUresult take_link(CUlinkState handle, Link **out) {
    *out = sim_object_take((uintptr_t)handle, SIM_LINK);
    return *out != NULL ? CUDA_SUCCESS : sim_fail(CUDA_ERROR_INVALID_HANDLE, "%p is no linker, or no longer one", (void *)handle);
}

CUresult cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut) {
    SIM_CALL(cuLinkCreate);
    HELD SimContext *context = NULL;
    SIM_NOT_NULL(stateOut);
    SIM_TRY(sim_context_current(&context));
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

/* Takes bytes over, also on failure. */
static CUresult add(Link *self, CUjitInputType type, void *bytes, size_t size, const char *name) {
    CUresult status = CUDA_SUCCESS;
    pthread_mutex_lock(&self->lock);
    if (type < INPUT_CUBIN || type > INPUT_LAST) {
        status = sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is no jit_input_type", type);
    } else if (size == 0) {
        status = sim_fail(CUDA_ERROR_INVALID_IMAGE, "%.200s is empty", name);
    } else if (self->image != NULL) {
        status = sim_fail(CUDA_ERROR_NOT_SUPPORTED, "%.200s is a second input: the simulator's linker takes one image; compile the sources as one",
                          name);
    } else {
        self->image = bytes;
        self->size = size;
        bytes = NULL;
    }
    pthread_mutex_unlock(&self->lock);
    free(bytes);
    sim_jit_report(self->n_options, self->options, self->given, self->values, status);
    return status;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name, unsigned int numOptions,
                       CUjit_option *options, void **optionValues) {
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

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions, CUjit_option *options,
                       void **optionValues) {
    SIM_CALL(cuLinkAddFile);
    HELD Link *linker = NULL;
    void *bytes;
    size_t size;
    SIM_TRY(take_link(state, &linker));
    SIM_NOT_NULL(path);
    SIM_TRY(sim_jit_check(numOptions, options, optionValues));
    SIM_TRY(sim_read_file(path, &bytes, &size));
    return add(linker, type, bytes, size, path);
}

/* The image belongs to the linker. */
CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut) {
    SIM_CALL(cuLinkComplete);
    HELD Link *linker = NULL;
    CUresult status = CUDA_SUCCESS;
    SIM_NOT_NULL(cubinOut);
    SIM_TRY(take_link(state, &linker));
    pthread_mutex_lock(&linker->lock);
    if (linker->image == NULL) {
        status = sim_fail(CUDA_ERROR_INVALID_IMAGE, "nothing was added to the linker");
    } else {
        *cubinOut = linker->image;
        if (sizeOut != NULL) {
            *sizeOut = linker->size;
        }
    }
    pthread_mutex_unlock(&linker->lock);
    sim_jit_report(linker->n_options, linker->options, linker->given, linker->values, status);
    return status;
}

CUresult cuLinkDestroy(CUlinkState state) {
    SIM_CALL(cuLinkDestroy);
    HELD Link *linker = NULL;
    SIM_TRY(take_link(state, &linker));
    sim_object_close(linker);
    return CUDA_SUCCESS;
}
