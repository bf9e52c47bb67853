/* curand_philox4x32_x.h - part of curand_kernel.h here. */
#pragma once
#include "curand_kernel.h"
