/* pygpu_simcuda.h - what NVRTC's compiler knows without an #include, for the CPU simulator. Included before every program.
 *
 * The parts are sim_*.h files beside this one. __global__, __device__, __shared__ and other qualifiers are not macros: the simulator's compiler
 * (src/simulator/compiler/rewrite.c) replaces them after preprocessing, and gives every kernel the parameters threadIdx, blockIdx, blockDim
 * and gridDim. No header of the system is included here: <cmath> alone would double the time of a compilation. */
#ifndef PYGPU_SIMCUDA_H
#define PYGPU_SIMCUDA_H

#include "sim_core.h"
#include "sim_vector_types.h"
#include "sim_launch.h"
#include "sim_runtime.h"
#if defined(SIM_CHECKED)
#include "sim_check.h"
#endif
#include "sim_arithmetic.h"
#include "sim_math.h"
#include "sim_intrinsics.h"
#include "sim_atomics.h"
#include "sim_warp.h"
#include "sim_texture.h"
#include "sim_ptx.h" /* the last: src/simulator/compiler/prune.c keeps it only where inline assembly comes behind it */

#endif
