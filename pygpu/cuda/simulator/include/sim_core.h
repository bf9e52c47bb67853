/* sim_core.h - the context of the thread that runs, and the words of CUDA C++ that are plain macros. */
#ifndef PYGPU_SIM_CORE_H
#define PYGPU_SIM_CORE_H

#pragma GCC system_header
#include "pygpu_sim_abi.h"

#define SIM_INLINE inline __attribute__((always_inline))
/* A cold way out of inlined code */
#define SIM_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Units that the compiler drops unless one of the names is used (PGS_UNIT in sim_base.h); of SIM_LATE, from the rewritten program. */
#define SIM_STRING(...) #__VA_ARGS__
#define SIM_UNIT(...) static_assert(true, "pygpu_if " SIM_STRING(__VA_ARGS__));
#define SIM_LATE(...) static_assert(true, "pygpu_late" SIM_STRING(__VA_ARGS__));
#define SIM_END static_assert(true, "pygpu_end");

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;
#define NULL __null

/* The context lies where the region of this stack begins; see pygpu_sim_abi.h. */
/* The alignment for alignas, from a number or a type. */
template <unsigned long long N> constexpr unsigned long long sim_alignment() { return N; }
template <class T> constexpr unsigned long long sim_alignment() { return alignof(T); }

SIM_LATE(SimShared)
/* &s where s may be an extern __shared__ array (of type A), which is a pointer here, or something else of that name. */
template <class A> struct SimShared {
    typedef decltype(&(*(A *)0)[0]) Pointer;
    static SIM_INLINE A *at(Pointer &p) { return (A *)p; }
    template <class X> static SIM_INLINE X *at(X &x) { return __builtin_addressof(x); }
};
SIM_END

static SIM_INLINE SimContext *sim_here() {
    unsigned long long stack;
#if defined(__x86_64__)
    __asm__("mov %%rsp, %0" : "=r"(stack));
#elif defined(__aarch64__)
    __asm__("mov %0, sp" : "=r"(stack));
#else
#error "pygpu's CUDA simulator runs on x86-64 and on aarch64"
#endif
    return (SimContext *)(stack & ~(SIM_REGION - 1));
}

/* Macros by which the toolkit's compiler identifies itself */
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __NVCC__ 1
#define __CUDA_RUNTIME_H__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define CUDA_VERSION 13000
#define CUDART_VERSION 13000
#define PYGPU_SIMULATOR 1
/* NVIDIA's C++ library (CCCL) would read its own headers for these; ours have what programs use of them, and no 8, 6 or 4 bits. */
#define CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_BF16_SUPPORT
#define CCCL_DISABLE_NVFP8_SUPPORT
#define CCCL_DISABLE_NVFP6_SUPPORT
#define CCCL_DISABLE_NVFP4_SUPPORT
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif
#ifndef __CUDA_ARCH_LIST__
#define __CUDA_ARCH_LIST__ __CUDA_ARCH__
#endif

#if defined(__clang__)
#define SIM_ERROR(text) __attribute__((unavailable(text)))
#else
#define SIM_ERROR(text) __attribute__((error(text)))
#endif

#endif
