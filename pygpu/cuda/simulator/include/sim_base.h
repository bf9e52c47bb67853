/* sim_base.h - what the simulator's device headers share: how functions are declared, and a few traits.
 *
 * Two modes. Plain: no header of the C library is read at all (that alone would double the time of a small kernel), and the functions of
 * libm are declared here. Hosted (SIM_HOSTED, defined by the compiler when the program includes the C++ library): the library's
 * own <cmath> declares them, since two declarations of ::sin(float) cannot live together.
 * Macros begin with PGS_, helpers are in pygpu_sim or begin with pgs_: nothing here may meet a user's name. */
#ifndef PYGPU_SIM_BASE_H
#define PYGPU_SIM_BASE_H

#pragma GCC system_header
#include "sim_core.h"
#define PGS_F inline __attribute__((always_inline)) /* one instruction or two: also at -O0, for the debugger's sake */
#define PGS_I inline
#define PGS_C extern "C" inline                      /* names that the C library may declare as well */
#if defined(__clang__)
#define PGS_K inline /* clang takes a constexpr function that calls libm as an error */
#else
#define PGS_K constexpr
#endif

/* PGS_UNIT(name ...) ... PGS_END: text that the compiler's front drops unless the program uses one of these names (src/simulator/compiler/prune.c).
 * A C++ compiler needs 0.07 ms for a function that nobody calls, and there are some 2000 of them. A unit may use only what stands before
 * it; units are not nested. Without the front everything stays, and works, more slowly. */
#define PGS_UNIT SIM_UNIT
#define PGS_END SIM_END

#if defined(SIM_HOSTED)
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <initializer_list>
#include <new>
#include <utility>
#else
/* Names from nvcc's host headers; NVRTC does not have them. */
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#endif

SIM_LATE(enable is_integer same is_number promote bits opaque)
namespace pygpu_sim {
template <bool, class T = void> struct enable {};
template <class T> struct enable<true, T> { typedef T type; };
template <class T> struct is_integer { static constexpr bool value = false; };
#define PGS_ROW(T) template <> struct is_integer<T> { static constexpr bool value = true; };
PGS_ROW(bool) PGS_ROW(char) PGS_ROW(signed char) PGS_ROW(unsigned char) PGS_ROW(short) PGS_ROW(unsigned short) PGS_ROW(int)
PGS_ROW(unsigned) PGS_ROW(long) PGS_ROW(unsigned long) PGS_ROW(long long) PGS_ROW(unsigned long long)
#undef PGS_ROW
template <class A, class B> struct same { static constexpr bool value = false; };
template <class A> struct same<A, A> { static constexpr bool value = true; };
template <class T> struct is_number { static constexpr bool value = is_integer<T>::value || same<T, float>::value || same<T, double>::value; };
/* The type in which a function of two numbers of different types computes: float only if both are float. */
template <class A, class B> struct promote { typedef double type; };
template <> struct promote<float, float> { typedef float type; };

template <class To, class From> PGS_F To bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "a bit cast between types of one size");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
/* A value that the optimizer takes for unknown: keeps a product from being contracted with a sum. */
template <class T> PGS_F T opaque(T x) {
#if defined(__x86_64__)
    __asm__("" : "+x"(x));
#elif defined(__aarch64__)
    __asm__("" : "+w"(x));
#else
    volatile T y = x;
    x = y;
#endif
    return x;
}
} // namespace pygpu_sim
SIM_END

#endif
