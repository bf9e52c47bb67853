/* curand_precalc.h - part of curand_kernel.h here. */
#pragma once
#include "curand_kernel.h"
