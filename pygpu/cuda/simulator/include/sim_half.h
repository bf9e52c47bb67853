/* sim_half.h - what cuda_fp16.h and cuda_bf16.h share: conversions between the numbers of 16 bits and the others.
 *
 * A number is kept as its bits and computed with in float: a sum, product, quotient or root of two numbers of p bits, computed with
 * 2 p + 2 bits or more and rounded again, is what one rounding would have given (S. A. Figueroa, "When is double rounding innocuous?",
 * SIGNUM Newsletter 30(3), 1995). The processor's own conversions are used where the compiler knows _Float16 and they are there. */
#ifndef PYGPU_SIM_HALF_H
#define PYGPU_SIM_HALF_H

#pragma GCC system_header
#include "sim_base.h"
#include "sim_hide.h"

namespace pygpu_sim {
enum { half_nearest, half_zero, half_up, half_down };

/* x rounded to P bits behind the leading one, with smallest exponent E and exponent field all ones from F on. */
template <int P, int E, unsigned F> PGS_I unsigned short narrow(double x, int mode = half_nearest) {
    const unsigned long long b = bits<unsigned long long>(x), magnitude = b & 0x7fffffffffffffffull;
    const unsigned sign = (unsigned)(b >> 63) << 15, infinity = F << P;
    if (magnitude > 0x7ff0000000000000ull) return 0x7fff; /* NaN: the one that CUDA makes */
    if (magnitude == 0x7ff0000000000000ull) return (unsigned short)(sign | infinity);
    if (magnitude == 0) return (unsigned short)sign;
    const int field = (int)(magnitude >> 52), e = field == 0 ? -1022 : field - 1023;
    unsigned long long m = magnitude & 0xfffffffffffffull;
    if (field != 0) m |= 0x10000000000000ull;
    const int q = (e > E ? e : E) - P, shift = q - (e - 52) < 62 ? q - (e - 52) : 62;
    unsigned long long n = m >> shift;
    const unsigned long long rest = m & ((1ull << shift) - 1), middle = 1ull << (shift - 1);
    const bool away = mode == half_nearest ? rest > middle || (rest == middle && (n & 1))
                      : rest != 0 && (mode == half_up ? !sign : mode == half_down ? sign != 0 : false);
    unsigned code = (unsigned)(n + away) + ((unsigned)(q - (E - P)) << P);
    if (code >= infinity) {
        const bool finite = mode == half_zero || (mode == half_up && sign) || (mode == half_down && !sign);
        code = finite ? infinity - 1 : infinity;
    }
    return (unsigned short)(sign | code);
}

/* a b + c in double, rounded to odd: rounded once more to a narrower format it gives what one rounding would have. */
PGS_I double fused(double a, double b, double c) {
    const double p = opaque(a * b), s = opaque(p + c); /* p is exact: the factors have 24 bits at most */
    const double t = opaque(s - p), rest = opaque(p - opaque(s - t)) + opaque(c - t);
    if (!(rest != 0.0) || s - s != 0.0) return s;
    const unsigned long long u = bits<unsigned long long>(s);
    return bits<double>(((rest > 0.0) == (s > 0.0) ? u : u - 1) | 1);
}

PGS_F float half_to_float(unsigned short h) {
#if defined(__F16C__) && defined(__FLT16_MANT_DIG__) && (!defined(__clang__) || __clang_major__ >= 15)
    return (float)bits<_Float16>(h);
#else
    const unsigned magnitude = (unsigned)(h & 0x7fff) << 13, special = (h & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
    const unsigned u = bits<unsigned>(bits<float>(magnitude) * 0x1p112f); /* the other bias; also right for subnormals */
    return bits<float>(u | special | (unsigned)(h & 0x8000) << 16);
#endif
}
PGS_I unsigned short float_to_half(float x) {
#if defined(__F16C__) && defined(__FLT16_MANT_DIG__) && (!defined(__clang__) || __clang_major__ >= 15)
    return x != x ? (unsigned short)0x7fff : bits<unsigned short>((_Float16)x);
#else
    const unsigned u = bits<unsigned>(x), a = u & 0x7fffffffu, sign = u >> 16 & 0x8000u;
    if (a > 0x7f800000u) return 0x7fff;
    if (a >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u); /* from 65520 on */
    if (a < 0x38800000u) { /* subnormal: adding 0.5 leaves a unit of 2^-24 in the last place */
        return (unsigned short)(sign | (bits<unsigned>(bits<float>(a) + 0.5f) - 0x3f000000u));
    }
    return (unsigned short)(sign | ((a + 0xfffu + (a >> 13 & 1u) - 0x38000000u) >> 13));
#endif
}
PGS_F float bfloat16_to_float(unsigned short h) { return bits<float>((unsigned)h << 16); }
PGS_F unsigned short float_to_bfloat16(float x) {
    const unsigned u = bits<unsigned>(x);
    return x != x ? (unsigned short)0x7fff : (unsigned short)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
PGS_F unsigned short double_to_half(double x, int mode) { return narrow<10, -14, 31>(x, mode); }
PGS_F unsigned short double_to_bfloat16(double x, int mode) { return narrow<7, -126, 255>(x, mode); }
PGS_F float half_saturate(float x) { return x > 0.0f ? x < 1.0f ? x : 1.0f : 0.0f; } /* NaN is 0 */
/* A whole number as a double from which every narrower rounding is right: beyond 2^53 the bits that do not fit become one odd bit. */
template <class I> PGS_F double odd_double(I a) {
    const I high = (I)(a >> 10 >> 1);
    return (double)a < 0x1p53 && (double)a > -0x1p53 ? (double)a : (double)(I)(high | (I)((a & 2047) != 0)) * 2048.0;
}
/* Cut towards zero; too large numbers give the largest, NaN gives 0, or the highest bit alone where there are 64. */
template <class I> PGS_F I half_integer(float x) {
    constexpr int width = 8 * sizeof(I);
    constexpr bool is_signed = (I)-1 < (I)0;
    constexpr I top = (I)((I)1 << (width - 1 - (is_signed ? 1 : 0)));
    constexpr I highest = (I)(top - 1 + top);
    const float limit = (float)top * 2;
    if (x >= limit) return highest;
    if (x <= (is_signed ? -limit : 0.0f)) return is_signed ? (I)(-highest - 1) : (I)0;
    return x != x ? (width == 64 ? (I)(1ull << 63) : (I)0) : (I)x;
}
} // namespace pygpu_sim

/* Names made of three parts; sim_half_functions.h is read with two sets of names. */
#define PGS_J(a, b, c) PGS_J_(a, b, c)
#define PGS_J_(a, b, c) a##b##c

#include "sim_show.h"
#endif
