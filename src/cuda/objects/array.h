/* array.h - CUDA arrays, which textures and surfaces use. */
#ifndef PYGPU_CUDA_ARRAY_H
#define PYGPU_CUDA_ARRAY_H

#include "cuda/context.h"

typedef struct {
    CUD_HEAD
    CUarray handle;
    Context *context;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    int users, freed;
} ArrayObject;

int cud_as_array(State *state, PyObject *obj, const char *call, const char *name,
                 ArrayObject **out);
size_t cud_format_size(CUarray_format format);   /* bytes per channel; 0 if unknown */
size_t cud_array_bytes(const ArrayObject *self); /* bytes per row, times height and depth */
void cud_array_unpin(ArrayObject *self);

#endif
