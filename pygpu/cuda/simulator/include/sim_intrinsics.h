/* sim_intrinsics.h - CUDA's integer intrinsics, type conversions with a given rounding, and operations on parts of a word. */
#ifndef PYGPU_SIM_INTRINSICS_H
#define PYGPU_SIM_INTRINSICS_H

#pragma GCC system_header
#include "sim_base.h"

/* ---- bits of whole numbers ---------------------------------------------------------------------------------------- */

PGS_UNIT(__clz __clzll)
PGS_F int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
PGS_F int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
PGS_END
PGS_UNIT(__popc __popcll __ffs __ffsll)
PGS_F int __popc(unsigned x) { return __builtin_popcount(x); }
PGS_F int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
PGS_C int __ffs(int x) noexcept { return __builtin_ffs(x); }
PGS_C int __ffsll(long long x) noexcept { return __builtin_ffsll(x); }
PGS_END
PGS_UNIT(__nv_bswap16 __nv_bswap32 __nv_bswap64)
PGS_F unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
PGS_F unsigned __nv_bswap32(unsigned x) { return __builtin_bswap32(x); }
PGS_F unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }
PGS_END
PGS_UNIT(__brev __brevll)
PGS_I unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
PGS_I unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
PGS_END
/* The position of the n-th set bit from base on (n > 0: upwards, n < 0: downwards, 0: base itself if set), ~0 if there is none. */
PGS_UNIT(__fns)
PGS_I unsigned __fns(unsigned mask, unsigned base, int n) {
    if (n == 0) return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
    for (int i = (int)base, step = n > 0 ? 1 : -1, left = n > 0 ? n : -n; i >= 0 && i < 32; i += step) {
        if ((mask >> i & 1) && --left == 0) return (unsigned)i;
    }
    return 0xffffffffu;
}
PGS_END
PGS_UNIT(__byte_perm pgs_permute)
/* Bytes of y:x; bit 3 of a selector repeats the byte's sign. */
PGS_I unsigned pgs_permute(unsigned x, unsigned y, unsigned selector) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned s = selector >> (4 * i), byte = (unsigned)(bytes >> (8 * (s & 7))) & 0xff;
        result |= (s & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * i);
    }
    return result;
}
PGS_F unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) { return pgs_permute(x, y, selector & 0x7777u); }
PGS_END
PGS_UNIT(__funnelshift_l __funnelshift_r __funnelshift_lc __funnelshift_rc)
PGS_F unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) { return (unsigned)(((unsigned long long)high << 32 | low) << (n & 31) >> 32); }
PGS_F unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) { return (unsigned)(((unsigned long long)high << 32 | low) >> (n & 31)); }
PGS_F unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned n) { return n >= 32 ? low : __funnelshift_l(low, high, n); }
PGS_F unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned n) { return n >= 32 ? high : __funnelshift_r(low, high, n); }
PGS_END

/* ---- products, sums, means ---------------------------------------------------------------------------------------- */

PGS_UNIT(__mulhi __umulhi __mul64hi __umul64hi)
PGS_F int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
PGS_F unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
PGS_F long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
PGS_F unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return (unsigned long long)((unsigned __int128)x * y >> 64); }
PGS_END
PGS_UNIT(__mul24 __umul24)
/* The low 24 bits count, with their sign; the low 32 bits of the product are the result. */
PGS_F int __mul24(int x, int y) { return (int)((unsigned)((int)((unsigned)x << 8) >> 8) * (unsigned)((int)((unsigned)y << 8) >> 8)); }
PGS_F unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
PGS_END
PGS_UNIT(__sad __usad)
PGS_F unsigned __sad(int x, int y, unsigned z) { return (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x) + z; }
PGS_F unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x > y ? x - y : y - x) + z; }
PGS_END
PGS_UNIT(__hadd __rhadd __uhadd __urhadd)
PGS_F int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
PGS_F int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
PGS_F unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
PGS_F unsigned __urhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y + 1) >> 1); }
PGS_END
PGS_UNIT(__dp4a __dp2a_lo __dp2a_hi)
namespace pygpu_sim {
/* Sum of products of four bytes, or of two 16-bit halves of a with two bytes of b from bit `from` on; modulo 2^32. */
template <class A, class B> PGS_I unsigned dot4(unsigned a, unsigned b, unsigned sum) {
    for (int i = 0; i < 32; i += 8) sum += (unsigned)((int)(A)(a >> i) * (int)(B)(b >> i));
    return sum;
}
template <class A, class B> PGS_I unsigned dot2(unsigned a, unsigned b, unsigned sum, int from) {
    for (int i = 0; i < 2; i++) sum += (unsigned)((int)(A)(a >> (16 * i)) * (int)(B)(b >> (from + 8 * i)));
    return sum;
}
PGS_F unsigned join(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { return x | y << 8 | z << 16 | (unsigned)w << 24; }
} // namespace pygpu_sim
PGS_F int __dp4a(int a, int b, int c) { return (int)pygpu_sim::dot4<signed char, signed char>((unsigned)a, (unsigned)b, (unsigned)c); }
PGS_F unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return pygpu_sim::dot4<unsigned char, unsigned char>(a, b, c); }
PGS_F int __dp2a_lo(int a, int b, int c) { return (int)pygpu_sim::dot2<short, signed char>((unsigned)a, (unsigned)b, (unsigned)c, 0); }
PGS_F unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return pygpu_sim::dot2<unsigned short, unsigned char>(a, b, c, 0); }
PGS_F int __dp2a_hi(int a, int b, int c) { return (int)pygpu_sim::dot2<short, signed char>((unsigned)a, (unsigned)b, (unsigned)c, 16); }
PGS_F unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return pygpu_sim::dot2<unsigned short, unsigned char>(a, b, c, 16); }
#ifdef PYGPU_SIMULATOR
PGS_I int __dp4a(char4 a, char4 b, int c) { return __dp4a(pygpu_sim::bits<int>(a), pygpu_sim::bits<int>(b), c); }
PGS_I unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return __dp4a(pygpu_sim::bits<unsigned>(a), pygpu_sim::bits<unsigned>(b), c); }
PGS_I int __dp2a_lo(short2 a, char4 b, int c) { return __dp2a_lo(pygpu_sim::bits<int>(a), pygpu_sim::bits<int>(b), c); }
PGS_I unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) { return __dp2a_lo(pygpu_sim::bits<unsigned>(a), pygpu_sim::bits<unsigned>(b), c); }
PGS_I int __dp2a_hi(short2 a, char4 b, int c) { return __dp2a_hi(pygpu_sim::bits<int>(a), pygpu_sim::bits<int>(b), c); }
PGS_I unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) { return __dp2a_hi(pygpu_sim::bits<unsigned>(a), pygpu_sim::bits<unsigned>(b), c); }
#endif
PGS_END

/* ---- the same bits as another type -------------------------------------------------------------------------------- */

PGS_UNIT(__float_as_int __float_as_uint __int_as_float __uint_as_float)
PGS_F int __float_as_int(float x) { return pygpu_sim::bits<int>(x); }
PGS_F unsigned __float_as_uint(float x) { return pygpu_sim::bits<unsigned>(x); }
PGS_F float __int_as_float(int x) { return pygpu_sim::bits<float>(x); }
PGS_F float __uint_as_float(unsigned x) { return pygpu_sim::bits<float>(x); }
PGS_END
PGS_UNIT(__double_as_longlong __longlong_as_double __double2hiint __double2loint __hiloint2double)
PGS_F long long __double_as_longlong(double x) { return pygpu_sim::bits<long long>(x); }
PGS_F double __longlong_as_double(long long x) { return pygpu_sim::bits<double>(x); }
PGS_F int __double2hiint(double x) { return (int)(pygpu_sim::bits<unsigned long long>(x) >> 32); }
PGS_F int __double2loint(double x) { return (int)pygpu_sim::bits<unsigned long long>(x); }
PGS_F double __hiloint2double(int high, int low) { return pygpu_sim::bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low); }
PGS_END

/* ---- conversions with a rounding ---------------------------------------------------------------------------------- */

/* To whole numbers. Too large and too small values give the largest and smallest number; NaN gives 0, or the highest bit alone where
 * either side has 64 bits, as the PTX manual says of cvt. */
PGS_UNIT(to_integer)
namespace pygpu_sim {
template <class To, class From> PGS_F To to_integer(From rounded) {
    constexpr int width = 8 * sizeof(To);
    constexpr bool is_signed = (To)-1 < (To)0;
    constexpr To top = (To)((To)1 << (width - 1 - (is_signed ? 1 : 0)));
    constexpr To highest = (To)(top - 1 + top), lowest = is_signed ? (To)(-highest - 1) : (To)0;
    const From limit = (From)top * 2; /* a power of two: exact */
    if (rounded >= limit) return highest;
    if (rounded <= (is_signed ? -limit : (From)0)) return lowest;
    if (rounded != rounded) return sizeof(To) == 8 || sizeof(From) == 8 ? (To)((unsigned long long)1 << (width - 1)) : (To)0;
    return (To)rounded;
}
} // namespace pygpu_sim
PGS_END
#define PGS_ROW(T, n, From, f) \
    PGS_UNIT(n##_rn n##_rz n##_ru n##_rd) \
    PGS_F T n##_rn(From x) { return pygpu_sim::to_integer<T>(__builtin_rint##f(x)); } \
    PGS_F T n##_rz(From x) { return pygpu_sim::to_integer<T>(__builtin_trunc##f(x)); } \
    PGS_F T n##_ru(From x) { return pygpu_sim::to_integer<T>(__builtin_ceil##f(x)); } \
    PGS_F T n##_rd(From x) { return pygpu_sim::to_integer<T>(__builtin_floor##f(x)); } \
    PGS_END
PGS_ROW(int, __float2int, float, f)
PGS_ROW(unsigned, __float2uint, float, f)
PGS_ROW(long long, __float2ll, float, f)
PGS_ROW(unsigned long long, __float2ull, float, f)
PGS_ROW(int, __double2int, double, )
PGS_ROW(unsigned, __double2uint, double, )
PGS_ROW(long long, __double2ll, double, )
PGS_ROW(unsigned long long, __double2ull, double, )
#undef PGS_ROW
/* To floating point: the nearest value, moved by one step where it lies on the wrong side. A directed mode of the processor would not do,
 * as compilers convert unsigned numbers with tricks that hold for rounding to nearest only. */
PGS_UNIT(from_integer __double2float_rn __double2float_rz __double2float_ru __double2float_rd)
namespace pygpu_sim {
enum { nearest, towards_zero, upwards, downwards };
PGS_F float step(float x, bool up) { /* the neighbour of a finite or infinite x */
    if (x == 0) return up ? bits<float>(1u) : -bits<float>(1u);
    return bits<float>((x > 0) == up ? bits<unsigned>(x) + 1 : bits<unsigned>(x) - 1);
}
PGS_F double step(double x, bool up) {
    if (x == 0) return up ? bits<double>(1ull) : -bits<double>(1ull);
    return bits<double>((x > 0) == up ? bits<unsigned long long>(x) + 1 : bits<unsigned long long>(x) - 1);
}
template <class To, int mode, class From> PGS_I To from_integer(From x) {
    To y = (To)x;
    __int128 back = (__int128)y;
    if (mode == downwards || (mode == towards_zero && x > 0)) return back > x ? step(y, false) : y;
    if (mode == upwards || mode == towards_zero) return back < x ? step(y, true) : y;
    return y;
}
template <int mode> PGS_I float from_double(double x) {
    float y = (float)x;
    if (mode == downwards || (mode == towards_zero && x > 0)) return (double)y > x ? step(y, false) : y;
    if (mode == upwards || mode == towards_zero) return (double)y < x ? step(y, true) : y;
    return y;
}
} // namespace pygpu_sim
PGS_F float __double2float_rn(double x) { return (float)x; }
PGS_F float __double2float_rz(double x) { return pygpu_sim::from_double<pygpu_sim::towards_zero>(x); }
PGS_F float __double2float_ru(double x) { return pygpu_sim::from_double<pygpu_sim::upwards>(x); }
PGS_F float __double2float_rd(double x) { return pygpu_sim::from_double<pygpu_sim::downwards>(x); }
PGS_END
#define PGS_ROW(T, n, From) \
    PGS_UNIT(n##_rn n##_rz n##_ru n##_rd) \
    PGS_F T n##_rn(From x) { return (T)x; } \
    PGS_F T n##_rz(From x) { return pygpu_sim::from_integer<T, pygpu_sim::towards_zero>(x); } \
    PGS_F T n##_ru(From x) { return pygpu_sim::from_integer<T, pygpu_sim::upwards>(x); } \
    PGS_F T n##_rd(From x) { return pygpu_sim::from_integer<T, pygpu_sim::downwards>(x); } \
    PGS_END
PGS_ROW(float, __int2float, int)
PGS_ROW(float, __uint2float, unsigned)
PGS_ROW(float, __ll2float, long long)
PGS_ROW(float, __ull2float, unsigned long long)
PGS_ROW(double, __ll2double, long long)
PGS_ROW(double, __ull2double, unsigned long long)
#undef PGS_ROW
PGS_UNIT(__int2double_rn __uint2double_rn)
PGS_F double __int2double_rn(int x) { return x; }
PGS_F double __uint2double_rn(unsigned x) { return x; }
PGS_END

/* ---- two 16-bit or four 8-bit numbers in a word ------------------------------------------------------------------- */

/* In each lane, x and y are the parts as int, and `lo` and `hi` are the limits of their type S. */
#define PGS_LANES(n, S, width, parameters, take, expression) \
    PGS_I unsigned n parameters { \
        enum : int { lo = (S)-1 < 0 ? -(1 << (width - 1)) : 0, hi = (S)-1 < 0 ? (1 << (width - 1)) - 1 : (1 << width) - 1 }; \
        unsigned result = 0; \
        for (int i = 0; i < 32; i += width) { \
            take(S) \
            result |= ((unsigned)(expression) & ((1u << width) - 1)) << i; \
        } \
        return result; \
    }
#define PGS_TAKE1(S) const int x = (S)(a >> i);
#define PGS_TAKE2(S) const int x = (S)(a >> i), y = (S)(b >> i);
#define PGS_CLAMP(v) ((v) < lo ? lo : (v) > hi ? hi : (v))
#define PGS_ONE(n, sign, expression) \
    PGS_UNIT(n##2 n##4) \
    PGS_LANES(n##2, sign short, 16, (unsigned a), PGS_TAKE1, expression) \
    PGS_LANES(n##4, sign char, 8, (unsigned a), PGS_TAKE1, expression) \
    PGS_END
#define PGS_TWO(n, sign, expression) \
    PGS_UNIT(n##2 n##4) \
    PGS_LANES(n##2, sign short, 16, (unsigned a, unsigned b), PGS_TAKE2, expression) \
    PGS_LANES(n##4, sign char, 8, (unsigned a, unsigned b), PGS_TAKE2, expression) \
    PGS_END
PGS_ONE(__vabs, signed, x < 0 ? -x : x)
PGS_ONE(__vabsss, signed, PGS_CLAMP(x < 0 ? -x : x))
PGS_ONE(__vneg, signed, -x)
PGS_ONE(__vnegss, signed, PGS_CLAMP(-x))
PGS_TWO(__vadd, unsigned, x + y)
PGS_TWO(__vaddss, signed, PGS_CLAMP(x + y))
PGS_TWO(__vaddus, unsigned, PGS_CLAMP(x + y))
PGS_TWO(__vsub, unsigned, x - y)
PGS_TWO(__vsubss, signed, PGS_CLAMP(x - y))
PGS_TWO(__vsubus, unsigned, PGS_CLAMP(x - y))
PGS_TWO(__vavgs, signed, (x + y + (x + y >= 0)) >> 1)
PGS_TWO(__vavgu, unsigned, (x + y + 1) >> 1)
PGS_TWO(__vhaddu, unsigned, (x + y) >> 1)
PGS_TWO(__vabsdiffs, signed, x > y ? x - y : y - x)
PGS_TWO(__vabsdiffu, unsigned, x > y ? x - y : y - x)
PGS_TWO(__vmaxs, signed, x > y ? x : y)
PGS_TWO(__vmaxu, unsigned, x > y ? x : y)
PGS_TWO(__vmins, signed, x < y ? x : y)
PGS_TWO(__vminu, unsigned, x < y ? x : y)
/* Comparisons: all bits of the lane, or 1. */
#define PGS_COMPARE(n, sign, op) PGS_TWO(__vcmp##n, sign, x op y ? -1 : 0) PGS_TWO(__vset##n, sign, x op y ? 1 : 0)
PGS_COMPARE(eq, unsigned, ==)
PGS_COMPARE(ne, unsigned, !=)
PGS_COMPARE(ges, signed, >=)
PGS_COMPARE(geu, unsigned, >=)
PGS_COMPARE(gts, signed, >)
PGS_COMPARE(gtu, unsigned, >)
PGS_COMPARE(les, signed, <=)
PGS_COMPARE(leu, unsigned, <=)
PGS_COMPARE(lts, signed, <)
PGS_COMPARE(ltu, unsigned, <)
#undef PGS_COMPARE
/* Sums of absolute differences */
#define PGS_ROW(n, S, width) \
    PGS_UNIT(n) \
    PGS_I unsigned n(unsigned a, unsigned b) { \
        unsigned sum = 0; \
        for (int i = 0; i < 32; i += width) { \
            PGS_TAKE2(S) \
            sum += (unsigned)(x > y ? x - y : y - x); \
        } \
        return sum; \
    } \
    PGS_END
PGS_ROW(__vsads2, short, 16)
PGS_ROW(__vsads4, signed char, 8)
PGS_ROW(__vsadu2, unsigned short, 16)
PGS_ROW(__vsadu4, unsigned char, 8)
#undef PGS_ROW
/* Largest and smallest of two or three, of a sum and a number, with or without cutting at zero (dynamic programming). */
#define PGS_DPX(kind, S16, T, pick) \
    PGS_UNIT(__vi##kind##3_##T##32 __vi##kind##3_##T##16x2 __viadd##kind##_##T##32 __viadd##kind##_##T##16x2) \
    PGS_F S16##32 __vi##kind##3_##T##32(S16##32 x, S16##32 y, S16##32 z) { S16##32 m = x pick y ? x : y; return m pick z ? m : z; } \
    PGS_F S16##32 __viadd##kind##_##T##32(S16##32 x, S16##32 y, S16##32 z) { \
        S16##32 m = (S16##32)((unsigned)x + (unsigned)y); return m pick z ? m : z; } \
    PGS_I unsigned __vi##kind##3_##T##16x2(unsigned a, unsigned b, unsigned c) { \
        unsigned result = 0; \
        for (int i = 0; i < 32; i += 16) { \
            S16##16 x = (S16##16)(a >> i), y = (S16##16)(b >> i), z = (S16##16)(c >> i), m = x pick y ? x : y; \
            result |= (unsigned)(unsigned short)(m pick z ? m : z) << i; \
        } \
        return result; \
    } \
    PGS_I unsigned __viadd##kind##_##T##16x2(unsigned a, unsigned b, unsigned c) { \
        unsigned result = 0; \
        for (int i = 0; i < 32; i += 16) { \
            S16##16 m = (S16##16)((a >> i) + (b >> i)), z = (S16##16)(c >> i); \
            result |= (unsigned)(unsigned short)(m pick z ? m : z) << i; \
        } \
        return result; \
    } \
    PGS_END
namespace pygpu_sim { typedef int s32; typedef short s16; typedef unsigned u32; typedef unsigned short u16; }
PGS_DPX(max, pygpu_sim::s, s, >)
PGS_DPX(min, pygpu_sim::s, s, <)
PGS_DPX(max, pygpu_sim::u, u, >)
PGS_DPX(min, pygpu_sim::u, u, <)
#undef PGS_DPX
#define PGS_RELU(kind, pick) \
    PGS_UNIT(__vi##kind##_s32_relu __vi##kind##_s16x2_relu __vi##kind##3_s32_relu __viadd##kind##_s32_relu __vi##kind##3_s16x2_relu \
             __viadd##kind##_s16x2_relu) \
    PGS_F int __vi##kind##_s32_relu(int x, int y) { int m = x pick y ? x : y; return m > 0 ? m : 0; } \
    PGS_F int __vi##kind##3_s32_relu(int x, int y, int z) { int m = x pick y ? x : y; m = m pick z ? m : z; return m > 0 ? m : 0; } \
    PGS_F int __viadd##kind##_s32_relu(int x, int y, int z) { int m = (int)((unsigned)x + (unsigned)y); m = m pick z ? m : z; return m > 0 ? m : 0; } \
    PGS_I unsigned pgs_vi##kind##_relu(unsigned a, unsigned b, unsigned c, bool add) { \
        unsigned result = 0; \
        for (int i = 0; i < 32; i += 16) { \
            short x = (short)(a >> i), y = (short)(b >> i), z = (short)(c >> i), m = add ? (short)(x + y) : x pick y ? x : y; \
            m = m pick z ? m : z; \
            result |= (unsigned)(unsigned short)(m > 0 ? m : 0) << i; \
        } \
        return result; \
    } \
    PGS_F unsigned __vi##kind##_s16x2_relu(unsigned a, unsigned b) { return pgs_vi##kind##_relu(a, b, b, false); } \
    PGS_F unsigned __vi##kind##3_s16x2_relu(unsigned a, unsigned b, unsigned c) { return pgs_vi##kind##_relu(a, b, c, false); } \
    PGS_F unsigned __viadd##kind##_s16x2_relu(unsigned a, unsigned b, unsigned c) { return pgs_vi##kind##_relu(a, b, c, true); } \
    PGS_END
PGS_RELU(max, >)
PGS_RELU(min, <)
#undef PGS_RELU
/* With word of which one was taken: true for the first, also where both are equal. */
#define PGS_ROW(n, T, op) \
    PGS_UNIT(n##32 n##16x2) \
    PGS_F T n##32(T x, T y, bool *first) { *first = x op y; return *first ? x : y; } \
    PGS_END
PGS_ROW(__vibmax_s, int, >=)
PGS_ROW(__vibmax_u, unsigned, >=)
PGS_ROW(__vibmin_s, int, <=)
PGS_ROW(__vibmin_u, unsigned, <=)
#undef PGS_ROW
#undef PGS_ONE
#undef PGS_TWO
#undef PGS_TAKE1
#undef PGS_TAKE2
#undef PGS_CLAMP
#undef PGS_LANES

/* ---- hints -------------------------------------------------------------------------------------------------------- */

PGS_UNIT(__prof_trigger __assume)
PGS_F void __prof_trigger(int) {}
PGS_F void __assume(bool condition) { if (!condition) __builtin_unreachable(); }
PGS_END
#if !defined(__clang__)
PGS_UNIT(__builtin_assume)
PGS_F void __builtin_assume(bool condition) { if (!condition) __builtin_unreachable(); }
PGS_END
#endif

#endif
