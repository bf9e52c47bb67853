/* curand_philox4x32_x.h - part of curand_kernel.h here. */
#pragma once
extern "C++" { /* CUDA's may be included inside of extern "C" */
#include "curand_kernel.h"
}
