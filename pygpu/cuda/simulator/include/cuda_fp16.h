/* cuda_fp16.h - __half and __half2, as CUDA's header of this name has them; see sim_half.h. */
#ifndef PYGPU_SIM_CUDA_FP16_H
#define PYGPU_SIM_CUDA_FP16_H
#define __CUDA_FP16_H__
#define __CUDA_FP16_TYPES_EXIST__

#pragma GCC system_header
#include "sim_half.h"

#include "sim_hide.h"
#define PGS_X half
#define PGS_T __half
#define PGS_T2 __half2
#define PGS_RAW __half_raw
#define PGS_RAW2 __half2_raw
#define PGS_TWICE __half2half2
#include "sim_half_functions.h"
#undef PGS_X
#undef PGS_T
#undef PGS_T2
#undef PGS_RAW
#undef PGS_RAW2
#undef PGS_TWICE

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)

#include "sim_show.h"
#endif
