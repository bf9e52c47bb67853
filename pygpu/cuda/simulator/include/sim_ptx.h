/* sim_ptx.h - the instructions of inline PTX that programs use, as functions.
 *
 * src/simulator/compiler/asm.c turns asm("add.u32 %0, %1, %2;" ...) into calls of these: the name is pgs_ptx_ with the instruction and what of its
 * modifiers changes the result; the types behind it are template arguments. Operands come as pgs_ptx_value, which has bits and no type,
 * as registers have. Where a rounding is not the nearest one, or an instruction is not here, the program is refused. */
#ifndef PYGPU_SIM_PTX_H
#define PYGPU_SIM_PTX_H

#pragma GCC system_header
#include "sim_atomics.h"
#include "sim_base.h"
#include "sim_intrinsics.h"
#include "sim_math.h"
#include "sim_runtime.h"
#include "sim_warp.h"

PGS_UNIT(asm __asm__ __asm pgs_ptx)
struct pgs_ptx_value {
    unsigned long long bits;
    template <class T> PGS_F pgs_ptx_value(T x) : bits(0) { set(x, pygpu_sim::enable<true, T>()); }
    template <class T> PGS_F operator T() const {
        T x;
        static_assert(sizeof(T) <= 8, "a PTX operand has 64 bits at most");
        __builtin_memcpy(&x, &bits, sizeof x);
        return x;
    }
private:
    template <class T, class Tag> PGS_F void set(T x, Tag) { __builtin_memcpy(&bits, &x, sizeof x); }
#define PGS_ROW(T) PGS_F void set(T x, pygpu_sim::enable<true, T>) { bits = (unsigned long long)(long long)x; }
    PGS_ROW(signed char) PGS_ROW(char) PGS_ROW(short) PGS_ROW(int) PGS_ROW(long) PGS_ROW(long long)
#undef PGS_ROW
};
/* The result of an instruction goes into a variable or register of the same size, or a larger one for whole numbers. */
template <class D, class S> PGS_F void pgs_ptx_set(D &to, S from) {
    if constexpr (pygpu_sim::is_integer<D>::value && pygpu_sim::is_integer<S>::value) {
        to = (D)from;
    } else {
        static_assert(sizeof(D) >= sizeof(S), "the result of this PTX instruction is larger than the variable it is stored in");
        __builtin_memcpy(&to, &from, sizeof from);
    }
}
template <class T> PGS_F unsigned long long pgs_ptx_address(T p, long long offset) {
    static_assert(sizeof(T) == 8, "the simulator's addresses have 64 bits, also those of shared memory: pass the pointer itself to inline PTX");
    return pgs_ptx_value(p).bits + (unsigned long long)offset;
}
PGS_F float pgs_ptx_float(unsigned bits) { return pygpu_sim::bits<float>(bits); }
PGS_F double pgs_ptx_double(unsigned long long bits) { return pygpu_sim::bits<double>(bits); }
namespace pygpu_sim {
template <class T> struct wider;
template <> struct wider<short> { typedef int type; };
template <> struct wider<unsigned short> { typedef unsigned type; };
template <> struct wider<int> { typedef long long type; };
template <> struct wider<unsigned> { typedef unsigned long long type; };
template <> struct wider<long long> { typedef __int128 type; };
template <> struct wider<unsigned long long> { typedef unsigned __int128 type; };
template <class T> struct as_unsigned { typedef T type; };
template <> struct as_unsigned<signed char> { typedef unsigned char type; };
template <> struct as_unsigned<short> { typedef unsigned short type; };
template <> struct as_unsigned<int> { typedef unsigned type; };
template <> struct as_unsigned<long long> { typedef unsigned long long type; };
} // namespace pygpu_sim
#define PGS_V pgs_ptx_value

/* mov and similar instructions */
template <class T> PGS_F T pgs_ptx_mov(PGS_V a) { return a; }
template <class T> PGS_F T pgs_ptx_cvta(PGS_V a) { return a; }
template <class T> PGS_F T pgs_ptx_cvta_to(PGS_V a) { return a; }
template <class T, class A, class B> PGS_F T pgs_ptx_pack(A a, B b) {
    return (T)pgs_ptx_value((PGS_V(a).bits & (~0ull >> (64 - 4 * sizeof(T)))) | PGS_V(b).bits << (4 * sizeof(T)));
}
template <class T, class A, class B> PGS_F void pgs_ptx_unpack(A &a, B &b, PGS_V v) {
    const unsigned long long low = v.bits & (~0ull >> (64 - 4 * sizeof(T))), high = (unsigned long long)(T)v >> (4 * sizeof(T));
    __builtin_memcpy(&a, &low, sizeof(T) / 2);
    __builtin_memcpy(&b, &high, sizeof(T) / 2);
}
template <class T> PGS_F T pgs_ptx_selp(PGS_V a, PGS_V b, bool p) { return p ? (T)a : (T)b; }

/* Arithmetic: whole numbers wrap, floating point is rounded to nearest and never contracted. */
namespace pygpu_sim {
template <class T, class F> PGS_F T wrap(T a, T b, F f) {
    if constexpr (is_integer<T>::value) { typedef typename as_unsigned<T>::type U; return (T)(U)f((U)a, (U)b); }
    else return opaque<T>(f(a, b));
}
}
#define PGS_ROW(n, op) template <class T> PGS_F T pgs_ptx_##n(PGS_V a, PGS_V b) { return pygpu_sim::wrap<T>(a, b, [](auto x, auto y) { return x op y; }); }
PGS_ROW(add, +) PGS_ROW(sub, -) PGS_ROW(mul, *) PGS_ROW(mul_lo, *)
#undef PGS_ROW
template <class T> PGS_F T pgs_ptx_mul_hi(PGS_V a, PGS_V b) { typedef typename pygpu_sim::wider<T>::type W; return (T)((W)(T)a * (W)(T)b >> (8 * sizeof(T))); }
template <class T> PGS_F typename pygpu_sim::wider<T>::type pgs_ptx_mul_wide(PGS_V a, PGS_V b) { typedef typename pygpu_sim::wider<T>::type W; return (W)(T)a * (W)(T)b; }
template <class T> PGS_F T pgs_ptx_mad_lo(PGS_V a, PGS_V b, PGS_V c) { return pgs_ptx_add<T>(pgs_ptx_mul_lo<T>(a, b), c); }
template <class T> PGS_F T pgs_ptx_mad_hi(PGS_V a, PGS_V b, PGS_V c) { return pgs_ptx_add<T>(pgs_ptx_mul_hi<T>(a, b), c); }
template <class T> PGS_F typename pygpu_sim::wider<T>::type pgs_ptx_mad_wide(PGS_V a, PGS_V b, PGS_V c) {
    typedef typename pygpu_sim::wider<T>::type W;
    return pgs_ptx_add<W>(pgs_ptx_mul_wide<T>(a, b), c);
}
template <class T> PGS_F T pgs_ptx_mul24_lo(PGS_V a, PGS_V b) { return (T)((T)-1 < 0 ? (unsigned)__mul24(a, b) : __umul24(a, b)); }
template <class T> PGS_F T pgs_ptx_fma(PGS_V a, PGS_V b, PGS_V c) {
    if constexpr (sizeof(T) == 4) return __builtin_fmaf(a, b, c); else return __builtin_fma(a, b, c);
}
template <class T> PGS_F T pgs_ptx_mad(PGS_V a, PGS_V b, PGS_V c) { return pgs_ptx_fma<T>(a, b, c); }
template <class T> PGS_F T pgs_ptx_div(PGS_V a, PGS_V b) {
    if constexpr (pygpu_sim::is_integer<T>::value) return (T)b == 0 ? (T)-1 : (T)b == (T)-1 && (T)-1 < (T)0 ? (T)-(T)a : (T)((T)a / (T)b);
    else return (T)a / (T)b;
}
template <class T> PGS_F T pgs_ptx_rem(PGS_V a, PGS_V b) { return (T)b == 0 ? (T)a : (T)b == (T)-1 && (T)-1 < (T)0 ? (T)0 : (T)((T)a % (T)b); }
#define PGS_ROW(n, op) template <class T> PGS_F T pgs_ptx_##n(PGS_V a, PGS_V b) { const T x = a, y = b; return x != x ? y : y op x ? y : x; }
PGS_ROW(min, <) PGS_ROW(max, >)
#undef PGS_ROW
template <class T> PGS_F T pgs_ptx_abs(PGS_V a) { const T x = a; return x < 0 ? (T)-x : x == 0 ? (T)0 : x; }
template <class T> PGS_F T pgs_ptx_neg(PGS_V a) { if constexpr (pygpu_sim::is_integer<T>::value) return pgs_ptx_sub<T>(0, a); else return -(T)a; }
template <class T> PGS_F T pgs_ptx_sad(PGS_V a, PGS_V b, PGS_V c) { const T x = a, y = b; return pgs_ptx_add<T>(c, x > y ? pgs_ptx_sub<T>(a, b) : pgs_ptx_sub<T>(b, a)); }
template <class T> PGS_F T pgs_ptx_copysign(PGS_V a, PGS_V b) { return (T)__builtin_copysign((T)b, (T)a); }
template <class T, class U> PGS_F T pgs_ptx_dp4a(PGS_V a, PGS_V b, PGS_V c) {
    if constexpr ((T)-1 < 0) return __dp4a((int)a, (int)b, (int)c); else return __dp4a((unsigned)a, (unsigned)b, (unsigned)c);
}
/* With a carry, kept within one asm statement */
template <class T> PGS_F T pgs_ptx_add_cc(PGS_V a, PGS_V b, unsigned &carry) { const T s = (T)((T)a + (T)b); carry = s < (T)a; return s; }
template <class T> PGS_F T pgs_ptx_addc_cc(PGS_V a, PGS_V b, unsigned &carry) {
    typedef typename pygpu_sim::as_unsigned<T>::type U;
    const unsigned __int128 s = (unsigned __int128)(U)a + (U)b + carry;
    carry = (unsigned)(s >> (8 * sizeof(T))) & 1;
    return (T)s;
}
template <class T> PGS_F T pgs_ptx_addc(PGS_V a, PGS_V b, unsigned &carry) { return (T)((T)a + (T)b + (T)carry); }
template <class T> PGS_F T pgs_ptx_sub_cc(PGS_V a, PGS_V b, unsigned &carry) { typedef typename pygpu_sim::as_unsigned<T>::type U; carry = (U)a < (U)b; return (T)((U)a - (U)b); }
template <class T> PGS_F T pgs_ptx_subc_cc(PGS_V a, PGS_V b, unsigned &carry) {
    typedef typename pygpu_sim::as_unsigned<T>::type U;
    const unsigned __int128 s = (unsigned __int128)(U)a - (U)b - carry;
    carry = (unsigned)(s >> (8 * sizeof(T))) & 1;
    return (T)s;
}
template <class T> PGS_F T pgs_ptx_subc(PGS_V a, PGS_V b, unsigned &carry) { return (T)((T)a - (T)b - (T)carry); }
#define PGS_ROW(part) \
    template <class T> PGS_F T pgs_ptx_mad_##part##_cc(PGS_V a, PGS_V b, PGS_V c, unsigned &carry) { return pgs_ptx_add_cc<T>(pgs_ptx_mul_##part<T>(a, b), c, carry); } \
    template <class T> PGS_F T pgs_ptx_madc_##part##_cc(PGS_V a, PGS_V b, PGS_V c, unsigned &carry) { return pgs_ptx_addc_cc<T>(pgs_ptx_mul_##part<T>(a, b), c, carry); } \
    template <class T> PGS_F T pgs_ptx_madc_##part(PGS_V a, PGS_V b, PGS_V c, unsigned &carry) { return pgs_ptx_addc<T>(pgs_ptx_mul_##part<T>(a, b), c, carry); }
PGS_ROW(lo) PGS_ROW(hi)
#undef PGS_ROW

/* Bits */
#define PGS_ROW(n, op) template <class T> PGS_F T pgs_ptx_##n(PGS_V a, PGS_V b) { return (T)((T)a op (T)b); }
PGS_ROW(and, &) PGS_ROW(or, |) PGS_ROW(xor, ^)
#undef PGS_ROW
template <class T> PGS_F T pgs_ptx_not(PGS_V a) { if constexpr (pygpu_sim::same<T, bool>::value) return !(T)a; else return (T)~(T)a; }
template <class T> PGS_F T pgs_ptx_cnot(PGS_V a) { return (T)a == 0; }
template <class T> PGS_F T pgs_ptx_shl(PGS_V a, unsigned n) { return n >= 8 * sizeof(T) ? (T)0 : (T)((T)a << n); }
template <class T> PGS_F T pgs_ptx_shr(PGS_V a, unsigned n) { return n >= 8 * sizeof(T) ? ((T)a < 0 ? (T)-1 : (T)0) : (T)((T)a >> n); }
template <class T> PGS_F unsigned pgs_ptx_shf_l_wrap(PGS_V a, PGS_V b, PGS_V n) { return __funnelshift_l(a, b, n); }
template <class T> PGS_F unsigned pgs_ptx_shf_r_wrap(PGS_V a, PGS_V b, PGS_V n) { return __funnelshift_r(a, b, n); }
template <class T> PGS_F unsigned pgs_ptx_shf_l_clamp(PGS_V a, PGS_V b, PGS_V n) { return __funnelshift_lc(a, b, n); }
template <class T> PGS_F unsigned pgs_ptx_shf_r_clamp(PGS_V a, PGS_V b, PGS_V n) { return __funnelshift_rc(a, b, n); }
template <class T> PGS_F unsigned pgs_ptx_popc(PGS_V a) { return (unsigned)__builtin_popcountll((unsigned long long)(T)a); }
template <class T> PGS_F unsigned pgs_ptx_clz(PGS_V a) { return (T)a == 0 ? 8 * sizeof(T) : (unsigned)__builtin_clzll((unsigned long long)(T)a) - (64 - 8 * (unsigned)sizeof(T)); }
template <class T> PGS_F T pgs_ptx_brev(PGS_V a) { if constexpr (sizeof(T) == 4) return __brev(a); else return __brevll(a); }
/* The position of the highest bit that differs from the sign; ~0 if there is none. */
template <class T> PGS_F unsigned pgs_ptx_bfind(PGS_V a) {
    T x = a;
    if (x < 0) x = (T)~x;
    return x == 0 ? 0xffffffffu : 63u - (unsigned)__builtin_clzll((unsigned long long)x);
}
template <class T> PGS_F unsigned pgs_ptx_bfind_shiftamt(PGS_V a) { const unsigned position = pgs_ptx_bfind<T>(a); return position == 0xffffffffu ? position : 8 * (unsigned)sizeof(T) - 1 - position; }
/* n bits from position p on; the sign is that of the highest bit there is. */
template <class T> PGS_I T pgs_ptx_bfe(PGS_V a, unsigned p, unsigned n) {
    constexpr unsigned width = 8 * sizeof(T);
    typedef typename pygpu_sim::as_unsigned<T>::type U;
    const U x = a;
    p &= 255;
    n &= 255;
    const unsigned top = p + n - 1 < width - 1 ? p + n - 1 : width - 1;
    const bool sign = (T)-1 < (T)0 && n != 0 && (x >> top & 1);
    U result = p >= width ? 0 : (U)(x >> p);
    if (n < width) result &= ((U)1 << n) - 1;
    const unsigned there = n == 0 ? width : p >= width ? 0 : n < width - p ? n : width - p;
    if (sign && there < width) result |= (U)~(U)0 << there;
    return n == 0 ? (T)0 : (T)result;
}
template <class T> PGS_I T pgs_ptx_bfi(PGS_V a, PGS_V b, unsigned p, unsigned n) {
    constexpr unsigned width = 8 * sizeof(T);
    p &= 255;
    n &= 255;
    if (p >= width || n == 0) return b;
    const T mask = (T)((n >= width ? (T)~(T)0 : (T)(((T)1 << n) - 1)) << p);
    return (T)(((T)b & ~mask) | ((T)((T)a << p) & mask));
}
template <class T> PGS_F unsigned pgs_ptx_prmt(PGS_V a, PGS_V b, PGS_V c) { return pgs_permute(a, b, c); }
template <class T> PGS_I unsigned pgs_ptx_lop3(unsigned a, unsigned b, unsigned c, unsigned table) {
    unsigned result = 0;
    for (int i = 0; i < 8; i++) {
        if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    }
    return result;
}

/* Video: four or two numbers in a word; _add: their sum and c, else c is what lanes without a result would have */
template <class T> PGS_F int pgs_ptx_lane(unsigned word, int at, int width) {
    const unsigned high = word << (32 - width - at);
    return (T)-1 < (T)0 ? (int)high >> (32 - width) : (int)(high >> (32 - width));
}
#define PGS_VIDEO(n, width, e) \
    template <class T, class A, class B> PGS_I unsigned pgs_ptx_##n(unsigned a, unsigned b, unsigned) { \
        unsigned all = 0; \
        for (int i = 0; i < 32; i += width) { \
            const int x = pgs_ptx_lane<A>(a, i, width), y = pgs_ptx_lane<B>(b, i, width); \
            all |= ((unsigned)(e) & ((1u << width) - 1)) << i; \
        } \
        return all; \
    } \
    template <class T, class A, class B> PGS_I unsigned pgs_ptx_##n##_add(unsigned a, unsigned b, unsigned c) { \
        for (int i = 0; i < 32; i += width) { \
            const int x = pgs_ptx_lane<A>(a, i, width), y = pgs_ptx_lane<B>(b, i, width); \
            c += (unsigned)(e); \
        } \
        return c; \
    }
#define PGS_ROW(n, e) PGS_VIDEO(n##2, 16, e) PGS_VIDEO(n##4, 8, e)
PGS_ROW(vadd, x + y) PGS_ROW(vsub, x - y) PGS_ROW(vavrg, (x + y + (x + y >= 0)) >> 1) PGS_ROW(vabsdiff, x > y ? x - y : y - x)
PGS_ROW(vmin, x < y ? x : y) PGS_ROW(vmax, x < y ? y : x)
#undef PGS_ROW
#undef PGS_VIDEO

/* Functions of floating point */
#define PGS_ROW(n, f, d) template <class T> PGS_F T pgs_ptx_##n(PGS_V a) { const T x = a; if constexpr (sizeof(T) == 4) return f; else return d; }
PGS_ROW(rcp, 1.0f / x, 1.0 / x)
PGS_ROW(sqrt, __builtin_sqrtf(x), __builtin_sqrt(x))
PGS_ROW(rsqrt, 1.0f / __builtin_sqrtf(x), 1.0 / __builtin_sqrt(x))
PGS_ROW(sin, __builtin_sinf(x), __builtin_sin(x))
PGS_ROW(cos, __builtin_cosf(x), __builtin_cos(x))
PGS_ROW(lg2, __builtin_log2f(x), __builtin_log2(x))
PGS_ROW(ex2, __builtin_exp2f(x), __builtin_exp2(x))
PGS_ROW(tanh, __builtin_tanhf(x), __builtin_tanh(x))
#undef PGS_ROW
#define PGS_ROW(n, e) template <class T> PGS_F bool pgs_ptx_testp_##n(PGS_V a) { const T x = a; return e; }
PGS_ROW(finite, __builtin_isfinite(x)) PGS_ROW(infinite, __builtin_isinf(x)) PGS_ROW(number, x == x) PGS_ROW(notanumber, x != x)
PGS_ROW(normal, __builtin_isnormal(x)) PGS_ROW(subnormal, x != 0 && __builtin_isfinite(x) && !__builtin_isnormal(x))
#undef PGS_ROW
/* Comparisons; with u, a NaN makes them true */
#define PGS_ROW(n, e) template <class T> PGS_F bool pgs_ptx_setp_##n(PGS_V a, PGS_V b) { const T x = a, y = b; return e; }
PGS_ROW(eq, x == y) PGS_ROW(ne, x != y && x == x && y == y) PGS_ROW(lt, x < y) PGS_ROW(le, x <= y) PGS_ROW(gt, x > y) PGS_ROW(ge, x >= y)
PGS_ROW(lo, x < y) PGS_ROW(ls, x <= y) PGS_ROW(hi, x > y) PGS_ROW(hs, x >= y)
PGS_ROW(equ, !(x < y || x > y)) PGS_ROW(neu, x != y) PGS_ROW(ltu, !(x >= y)) PGS_ROW(leu, !(x > y)) PGS_ROW(gtu, !(x <= y)) PGS_ROW(geu, !(x < y))
PGS_ROW(num, x == x && y == y) PGS_ROW(nan, x != x || y != y)
#undef PGS_ROW

/* Conversions */
namespace pygpu_sim {
template <class To, class From> PGS_I To ptx_convert(From x, int mode) { /* 0: nearest even or none, 1: to zero, 2: down, 3: up */
    if constexpr (is_integer<To>::value && is_integer<From>::value) {
        return (To)x;
    } else if constexpr (is_integer<To>::value) {
        const double d = (double)x;
        return to_integer<To>((From)(mode == 1 ? __builtin_trunc(d) : mode == 2 ? __builtin_floor(d) : mode == 3 ? __builtin_ceil(d) : __builtin_rint(d)));
    } else if constexpr (is_integer<From>::value) {
        return mode == 1 ? from_integer<To, towards_zero>(x) : mode == 2 ? from_integer<To, downwards>(x) : mode == 3 ? from_integer<To, upwards>(x) : (To)x;
    } else if constexpr (sizeof(To) < sizeof(From)) {
        return mode == 1 ? from_double<towards_zero>(x) : mode == 2 ? from_double<downwards>(x) : mode == 3 ? from_double<upwards>(x) : (To)x;
    } else {
        return (To)x;
    }
}
template <class T> PGS_I T ptx_whole(T x, int mode) { return (T)(mode == 1 ? __builtin_trunc(x) : mode == 2 ? __builtin_floor(x) : mode == 3 ? __builtin_ceil(x) : __builtin_rint(x)); }
}
#define PGS_ROW(n, mode) template <class To, class From> PGS_F To pgs_ptx_cvt##n(PGS_V a) { return pygpu_sim::ptx_convert<To, From>(a, mode); }
PGS_ROW(, 0) PGS_ROW(_rn, 0) PGS_ROW(_rz, 1) PGS_ROW(_rm, 2) PGS_ROW(_rp, 3)
#undef PGS_ROW
#define PGS_ROW(n, mode) \
    template <class To, class From> PGS_F To pgs_ptx_cvt##n(PGS_V a) { \
        if constexpr (pygpu_sim::is_integer<To>::value) return pygpu_sim::ptx_convert<To, From>(a, mode); \
        else return (To)pygpu_sim::ptx_whole<From>(a, mode); \
    }
PGS_ROW(_rni, 0) PGS_ROW(_rzi, 1) PGS_ROW(_rmi, 2) PGS_ROW(_rpi, 3)
#undef PGS_ROW
template <class To, class From> PGS_F To pgs_ptx_cvt_sat(PGS_V a) {
    const From x = a;
    if constexpr (!pygpu_sim::is_integer<To>::value) {
        return x > 0 ? x < 1 ? (To)x : (To)1 : (To)0;
    } else {
        const __int128 v = x, one = 1, low = (To)-1 < (To)0 ? -(one << (8 * sizeof(To) - 1)) : 0, high = (one << (8 * sizeof(To) - ((To)-1 < (To)0))) - 1;
        return (To)(v < low ? low : v > high ? high : v);
    }
}

/* Memory; an address has 64 bits */
template <class T> PGS_F T pgs_ptx_ld(PGS_V p) { return *(const volatile T *)p.bits; }
template <class T> PGS_F T pgs_ptx_ldu(PGS_V p) { return *(const volatile T *)p.bits; }
template <class T> PGS_F void pgs_ptx_st(PGS_V p, PGS_V x) { *(volatile T *)p.bits = (T)x; }
PGS_F void pgs_ptx_prefetch(PGS_V) {}
PGS_F void pgs_ptx_prefetchu(PGS_V) {}
PGS_F void pgs_ptx_discard(PGS_V, PGS_V) {}
template <class T, class F> PGS_I T pgs_ptx_atomic(PGS_V p, F next) {
    if constexpr (sizeof(T) == 4) return pgs_update<unsigned>((T *)p.bits, next); else return pgs_update<unsigned long long>((T *)p.bits, next);
}
#define PGS_ROW(n, e) \
    template <class T> PGS_I T pgs_ptx_atom_##n(PGS_V p, PGS_V b) { \
        return pgs_ptx_atomic<T>(p, [b](T x) -> T { const T y = b; (void)x; (void)y; return e; }); \
    } \
    template <class T> PGS_F void pgs_ptx_red_##n(PGS_V p, PGS_V b) { pgs_ptx_atom_##n<T>(p, b); }
PGS_ROW(add, pgs_ptx_add<T>(x, y))
PGS_ROW(min, y < x ? y : x)
PGS_ROW(max, y > x ? y : x)
PGS_ROW(exch, y)
PGS_ROW(inc, x >= y ? (T)0 : (T)(x + 1))
PGS_ROW(dec, x == 0 || x > y ? y : (T)(x - 1))
PGS_ROW(and, (T)(pgs_ptx_and<unsigned long long>(PGS_V(x), PGS_V(y))))
PGS_ROW(or, (T)(pgs_ptx_or<unsigned long long>(PGS_V(x), PGS_V(y))))
PGS_ROW(xor, (T)(pgs_ptx_xor<unsigned long long>(PGS_V(x), PGS_V(y))))
#undef PGS_ROW
template <class T> PGS_F T pgs_ptx_atom_cas(PGS_V p, PGS_V b, PGS_V c) {
    T compare = b;
    if (!__atomic_compare_exchange_n((T *)p.bits, &compare, (T)c, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) sim_yield();
    return compare;
}

/* Order, waiting, ending */
PGS_F void pgs_ptx_membar() { __threadfence(); }
PGS_F void pgs_ptx_fence() { __threadfence(); }
PGS_F void pgs_ptx_bar(PGS_V) { __syncthreads(); }
PGS_F void pgs_ptx_barrier(PGS_V) { __syncthreads(); }
PGS_F void pgs_ptx_bar_warp(PGS_V mask) { __syncwarp(mask); }
template <class T> PGS_F void pgs_ptx_nanosleep(PGS_V t) { __nanosleep(t); }
PGS_F void pgs_ptx_trap() { __trap(); }
PGS_F void pgs_ptx_brkpt() { __brkpt(); }
PGS_F void pgs_ptx_pmevent(PGS_V) {}

/* Lanes */
PGS_I unsigned pgs_ptx_shfl_lane(int mode, unsigned b, unsigned c, bool *inside) {
    const unsigned lane = sim_here()->linear & 31u, segment = c >> 8 & 31u, low = lane & segment, high = low | (c & 31u & ~segment);
    b &= 31;
    const int from = mode == 0 ? (int)(low | (b & ~segment)) : mode == 1 ? (int)lane - (int)b : mode == 2 ? (int)(lane + b) : (int)(lane ^ b);
    *inside = mode == 1 ? from >= (int)high : from <= (int)high;
    return *inside ? (unsigned)from : lane;
}
#define PGS_ROW(n, mode) \
    template <class T> PGS_F unsigned pgs_ptx_shfl_##n(PGS_V a, unsigned b, unsigned c, unsigned mask) { \
        bool inside; \
        const unsigned from = pgs_ptx_shfl_lane(mode, b, c, &inside); \
        return (unsigned)sim_warp(SIM_WARP_READ, mask, (unsigned)a, from); \
    } \
    template <class T> PGS_F unsigned pgs_ptx_shfl_##n##_p(bool &inside, PGS_V a, unsigned b, unsigned c, unsigned mask) { \
        const unsigned from = pgs_ptx_shfl_lane(mode, b, c, &inside); \
        return (unsigned)sim_warp(SIM_WARP_READ, mask, (unsigned)a, from); \
    }
PGS_ROW(idx, 0) PGS_ROW(up, 1) PGS_ROW(down, 2) PGS_ROW(bfly, 3)
#undef PGS_ROW
template <class T> PGS_F unsigned pgs_ptx_vote_ballot(bool p, unsigned mask) { return __ballot_sync(mask, p); }
template <class T> PGS_F bool pgs_ptx_vote_any(bool p, unsigned mask) { return __any_sync(mask, p) != 0; }
template <class T> PGS_F bool pgs_ptx_vote_all(bool p, unsigned mask) { return __all_sync(mask, p) != 0; }
template <class T> PGS_F bool pgs_ptx_vote_uni(bool p, unsigned mask) { return __uni_sync(mask, p) != 0; }
template <class T> PGS_F unsigned pgs_ptx_match_any(PGS_V a, unsigned mask) { return __match_any_sync(mask, (T)a); }
template <class T> PGS_F unsigned pgs_ptx_match_all(PGS_V a, unsigned mask) { int p; return __match_all_sync(mask, (T)a, &p); }
template <class T> PGS_F unsigned pgs_ptx_match_all_p(bool &p, PGS_V a, unsigned mask) { int i; const unsigned m = __match_all_sync(mask, (T)a, &i); p = i; return m; }
template <class T> PGS_F unsigned pgs_ptx_activemask() { return __activemask(); }
#define PGS_ROW(n, S) template <class T> PGS_F T pgs_ptx_redux_##n(PGS_V a, unsigned mask) { return __reduce_##n##_sync(mask, (S)a); }
PGS_ROW(add, T) PGS_ROW(min, T) PGS_ROW(max, T) PGS_ROW(and, unsigned) PGS_ROW(or, unsigned) PGS_ROW(xor, unsigned)
#undef PGS_ROW

/* Special registers: % has become pgs_ptx_r_, a point an underline. */
#define PGS_ROW(n, e) PGS_F unsigned pgs_ptx_r_##n() { const SimContext *c = sim_here(); (void)c; return (unsigned)(e); }
PGS_ROW(tid_x, c->thread.x) PGS_ROW(tid_y, c->thread.y) PGS_ROW(tid_z, c->thread.z)
PGS_ROW(ntid_x, c->block_size.x) PGS_ROW(ntid_y, c->block_size.y) PGS_ROW(ntid_z, c->block_size.z)
PGS_ROW(ctaid_x, c->block.x) PGS_ROW(ctaid_y, c->block.y) PGS_ROW(ctaid_z, c->block.z)
PGS_ROW(nctaid_x, c->grid_size.x) PGS_ROW(nctaid_y, c->grid_size.y) PGS_ROW(nctaid_z, c->grid_size.z)
PGS_ROW(laneid, c->linear & 31u) PGS_ROW(warpid, c->linear / 32) PGS_ROW(nwarpid, (c->threads + 31) / 32)
PGS_ROW(smid, 0) PGS_ROW(nsmid, 1) PGS_ROW(gridid, 0)
PGS_ROW(lanemask_eq, 1u << (c->linear & 31u)) PGS_ROW(lanemask_lt, (1u << (c->linear & 31u)) - 1)
PGS_ROW(lanemask_le, (2u << (c->linear & 31u)) - 1) PGS_ROW(lanemask_gt, ~((2u << (c->linear & 31u)) - 1))
PGS_ROW(lanemask_ge, ~((1u << (c->linear & 31u)) - 1))
PGS_ROW(clock, sim_nanoseconds()) PGS_ROW(clock_hi, sim_nanoseconds() >> 32)
PGS_ROW(globaltimer_lo, sim_nanoseconds()) PGS_ROW(globaltimer_hi, sim_nanoseconds() >> 32)
PGS_ROW(dynamic_smem_size, c->dynamic_size)
#undef PGS_ROW
PGS_F unsigned long long pgs_ptx_r_clock64() { return sim_nanoseconds(); }
PGS_F unsigned long long pgs_ptx_r_globaltimer() { return sim_nanoseconds(); }
#undef PGS_V
PGS_END

#endif
