/* cuda_bf16.h - __nv_bfloat16 and __nv_bfloat162, as CUDA's header of this name has them; see sim_half.h. */
#ifndef PYGPU_SIM_CUDA_BF16_H
#define PYGPU_SIM_CUDA_BF16_H
#define __CUDA_BF16_H__
#define __CUDA_BF16_TYPES_EXIST__

#pragma GCC system_header
#include "cuda_fp16.h"

#include "sim_hide.h"
#define PGS_X bfloat16
#define PGS_T __nv_bfloat16
#define PGS_T2 __nv_bfloat162
#define PGS_RAW __nv_bfloat16_raw
#define PGS_RAW2 __nv_bfloat162_raw
#define PGS_TWICE __bfloat162bfloat162
#include "sim_half_functions.h"
#undef PGS_X
#undef PGS_T
#undef PGS_T2
#undef PGS_RAW
#undef PGS_RAW2
#undef PGS_TWICE

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)

#include "sim_show.h"
#endif
