/* openclfeatures.h - the names that Random123's headers expect of a compiler, for OpenCL C.
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
#ifndef PYGPU_R123_OPENCLFEATURES_H
#define PYGPU_R123_OPENCLFEATURES_H

#ifndef R123_STATIC_INLINE
#if defined(__OPENCL_C_VERSION__) && __OPENCL_C_VERSION__ >= 120
#define R123_STATIC_INLINE static inline
#else
#define R123_STATIC_INLINE inline
#endif
#endif

#ifndef R123_CUDA_DEVICE
#define R123_CUDA_DEVICE
#endif

#ifndef R123_USE_PHILOX_64BIT
#define R123_USE_PHILOX_64BIT 1
#endif

#define R123_64BIT(x) ((ulong) (x##UL))
#define UINT64_C(x) R123_64BIT(x)

typedef uchar uint8_t;
typedef uint uint32_t;
typedef ulong uint64_t;

#endif
