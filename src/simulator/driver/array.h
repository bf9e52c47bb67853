/* array.h - arrays, whose texels are stored without gaps. */
#ifndef PYGPU_SIM_ARRAY_H
#define PYGPU_SIM_ARRAY_H

#include "simulator/driver/handle.h"

typedef struct {
    SimObject object;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    uintptr_t data;       /* texels without gaps */
    size_t element;       /* size of a texel with all channels [bytes] */
    size_t pitch, slice;  /* [bytes] */
    size_t height, depth; /* at least 1 */
} SimArray;

CUresult sim_array_take(CUarray handle, SimArray **out);
/* Bytes of a texel; 0: the simulator does not support the format or number of channels. */
size_t sim_texel_size(CUarray_format format, unsigned channels);

#endif
