/* sampler.h - samplers. */
#ifndef PYGPU_OPENCL_SAMPLER_H
#define PYGPU_OPENCL_SAMPLER_H

#include "opencl/context.h"

typedef struct {
    OCL_HEAD
    cl_sampler sampler;
    Context *context;
    PyObject *dict;
} Sampler;

#endif
