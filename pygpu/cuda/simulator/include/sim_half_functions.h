/* sim_half_functions.h - read once by cuda_fp16.h and once by cuda_bf16.h: a type of 16 bits, its pairs, and their functions.
 *
 * PGS_X is half or bfloat16, PGS_TWICE the function that makes a pair of one, PGS_T and PGS_T2 are the types, PGS_RAW and PGS_RAW2 their bare forms. */

struct PGS_RAW { unsigned short x; };
struct alignas(4) PGS_RAW2 { unsigned short x, y; };

struct alignas(2) PGS_T {
    unsigned short __x;
    PGS_T() = default;
    PGS_F PGS_T(const PGS_RAW &raw) : __x(raw.x) {}
    PGS_F PGS_T(float v) : __x(pygpu_sim::PGS_J(float_to_, PGS_X, )(v)) {}
    PGS_F PGS_T(double v) : __x(pygpu_sim::PGS_J(double_to_, PGS_X, )(v, pygpu_sim::half_nearest)) {}
#define PGS_ROW(I) PGS_F PGS_T(I v) : __x(pygpu_sim::PGS_J(double_to_, PGS_X, )(pygpu_sim::odd_double(v), pygpu_sim::half_nearest)) {}
    PGS_ROW(short) PGS_ROW(unsigned short) PGS_ROW(int) PGS_ROW(unsigned) PGS_ROW(long) PGS_ROW(unsigned long) PGS_ROW(long long)
    PGS_ROW(unsigned long long)
#undef PGS_ROW
    PGS_F operator PGS_RAW() const { return PGS_RAW{__x}; }
    PGS_F operator float() const { return pygpu_sim::PGS_J(PGS_X, _to_float, )(__x); }
    PGS_F operator bool() const { return (__x & 0x7fff) != 0; }
#define PGS_ROW(I) PGS_F operator I() const { return pygpu_sim::half_integer<I>(float(*this)); }
    PGS_ROW(char) PGS_ROW(signed char) PGS_ROW(unsigned char) PGS_ROW(short) PGS_ROW(unsigned short) PGS_ROW(int) PGS_ROW(unsigned)
    PGS_ROW(long) PGS_ROW(unsigned long) PGS_ROW(long long) PGS_ROW(unsigned long long)
#undef PGS_ROW
    PGS_F PGS_T &operator=(float v) { return *this = PGS_T(v); }
    PGS_F PGS_T &operator=(double v) { return *this = PGS_T(v); }
#define PGS_ROW(I) PGS_F PGS_T &operator=(I v) { return *this = PGS_T(v); }
    PGS_ROW(short) PGS_ROW(unsigned short) PGS_ROW(int) PGS_ROW(unsigned) PGS_ROW(long long) PGS_ROW(unsigned long long)
#undef PGS_ROW
};
struct alignas(4) PGS_T2 {
    PGS_T x, y;
    PGS_T2() = default;
    PGS_F PGS_T2(const PGS_T &a, const PGS_T &b) : x(a), y(b) {}
    PGS_F PGS_T2(const PGS_RAW2 &raw) : x(PGS_RAW{raw.x}), y(PGS_RAW{raw.y}) {}
    PGS_F operator PGS_RAW2() const { return PGS_RAW2{x.__x, y.__x}; }
};

namespace pygpu_sim {
PGS_F PGS_T PGS_J(PGS_X, _bits, )(unsigned b) { return PGS_RAW{(unsigned short)b}; }
/* One number or two at a time, with a function of floats. */
template <class F> PGS_F PGS_T2 PGS_J(PGS_X, _each, )(PGS_T2 a, F f) { return PGS_T2(f(a.x), f(a.y)); }
template <class F> PGS_F PGS_T2 PGS_J(PGS_X, _each, )(PGS_T2 a, PGS_T2 b, F f) { return PGS_T2(f(a.x, b.x), f(a.y, b.y)); }
template <class F> PGS_F PGS_T2 PGS_J(PGS_X, _each, )(PGS_T2 a, PGS_T2 b, PGS_T2 c, F f) { return PGS_T2(f(a.x, b.x, c.x), f(a.y, b.y, c.y)); }
} // namespace pygpu_sim

/* ---- operators ------------------------------------------------------------------------------------------------------ */

#define PGS_ROW(op) \
    PGS_F PGS_T operator op(const PGS_T &a, const PGS_T &b) { return PGS_T((float)a op (float)b); } \
    PGS_F PGS_T &operator op##=(PGS_T &a, const PGS_T &b) { return a = PGS_T((float)a op (float)b); } \
    PGS_F PGS_T2 operator op(const PGS_T2 &a, const PGS_T2 &b) { return PGS_T2(a.x op b.x, a.y op b.y); } \
    PGS_F PGS_T2 &operator op##=(PGS_T2 &a, const PGS_T2 &b) { return a = PGS_T2(a.x op b.x, a.y op b.y); }
PGS_ROW(+) PGS_ROW(-) PGS_ROW(*) PGS_ROW(/)
#undef PGS_ROW
#define PGS_ROW(op) \
    PGS_F bool operator op(const PGS_T &a, const PGS_T &b) { return (float)a op (float)b; } \
    PGS_F bool operator op(const PGS_T2 &a, const PGS_T2 &b) { return (float)a.x op (float)b.x && (float)a.y op (float)b.y; }
PGS_ROW(==) PGS_ROW(!=) PGS_ROW(<) PGS_ROW(<=) PGS_ROW(>) PGS_ROW(>=)
#undef PGS_ROW
PGS_F PGS_T operator+(const PGS_T &a) { return a; }
PGS_F PGS_T operator-(const PGS_T &a) { return pygpu_sim::PGS_J(PGS_X, _bits, )(a.__x ^ 0x8000u); }
PGS_F PGS_T2 operator+(const PGS_T2 &a) { return a; }
PGS_F PGS_T2 operator-(const PGS_T2 &a) { return PGS_T2(-a.x, -a.y); }
PGS_F PGS_T &operator++(PGS_T &a) { return a = PGS_T((float)a + 1.0f); }
PGS_F PGS_T &operator--(PGS_T &a) { return a = PGS_T((float)a - 1.0f); }
PGS_F PGS_T operator++(PGS_T &a, int) { PGS_T before = a; ++a; return before; }
PGS_F PGS_T operator--(PGS_T &a, int) { PGS_T before = a; --a; return before; }
PGS_F PGS_T2 &operator++(PGS_T2 &a) { ++a.x; ++a.y; return a; }
PGS_F PGS_T2 &operator--(PGS_T2 &a) { --a.x; --a.y; return a; }
PGS_F PGS_T2 operator++(PGS_T2 &a, int) { PGS_T2 before = a; ++a; return before; }
PGS_F PGS_T2 operator--(PGS_T2 &a, int) { PGS_T2 before = a; --a; return before; }

/* ---- conversions ---------------------------------------------------------------------------------------------------- */

PGS_UNIT(PGS_J(__float2, PGS_X, ) PGS_J(__float2, PGS_X, _rn) PGS_J(__float2, PGS_X, _rz) PGS_J(__float2, PGS_X, _ru)
         PGS_J(__float2, PGS_X, _rd) PGS_J(__double2, PGS_X, ) PGS_J(__, PGS_X, 2float))
PGS_F PGS_T PGS_J(__float2, PGS_X, )(float a) { return PGS_T(a); }
PGS_F PGS_T PGS_J(__float2, PGS_X, _rn)(float a) { return PGS_T(a); }
#define PGS_ROW(s, mode) \
    PGS_F PGS_T PGS_J(__float2, PGS_X, s)(float a) \
    { return pygpu_sim::PGS_J(PGS_X, _bits, )(pygpu_sim::PGS_J(double_to_, PGS_X, )(a, pygpu_sim::mode)); }
PGS_ROW(_rz, half_zero) PGS_ROW(_ru, half_up) PGS_ROW(_rd, half_down)
#undef PGS_ROW
PGS_F PGS_T PGS_J(__double2, PGS_X, )(double a) { return PGS_T(a); }
PGS_F float PGS_J(__, PGS_X, 2float)(PGS_T a) { return a; }
PGS_END
PGS_UNIT(PGS_J(__, PGS_X, _as_short) PGS_J(__, PGS_X, _as_ushort) PGS_J(__short_as_, PGS_X, ) PGS_J(__ushort_as_, PGS_X, ))
PGS_F short PGS_J(__, PGS_X, _as_short)(PGS_T a) { return (short)a.__x; }
PGS_F unsigned short PGS_J(__, PGS_X, _as_ushort)(PGS_T a) { return a.__x; }
PGS_F PGS_T PGS_J(__short_as_, PGS_X, )(short a) { return pygpu_sim::PGS_J(PGS_X, _bits, )((unsigned)a); }
PGS_F PGS_T PGS_J(__ushort_as_, PGS_X, )(unsigned short a) { return pygpu_sim::PGS_J(PGS_X, _bits, )(a); }
PGS_END
/* To and from whole numbers: n is the name's part, for example int. Whole numbers up to 32 bits are exact in double. */
#define PGS_ROW(I, n) \
    PGS_UNIT(PGS_J(__, PGS_X, 2##n##_rn) PGS_J(__, PGS_X, 2##n##_rz) PGS_J(__, PGS_X, 2##n##_ru) PGS_J(__, PGS_X, 2##n##_rd)) \
    PGS_F I PGS_J(__, PGS_X, 2##n##_rn)(PGS_T a) { return pygpu_sim::half_integer<I>(__builtin_rintf((float)a)); } \
    PGS_F I PGS_J(__, PGS_X, 2##n##_rz)(PGS_T a) { return pygpu_sim::half_integer<I>(__builtin_truncf((float)a)); } \
    PGS_F I PGS_J(__, PGS_X, 2##n##_ru)(PGS_T a) { return pygpu_sim::half_integer<I>(__builtin_ceilf((float)a)); } \
    PGS_F I PGS_J(__, PGS_X, 2##n##_rd)(PGS_T a) { return pygpu_sim::half_integer<I>(__builtin_floorf((float)a)); } \
    PGS_END \
    PGS_UNIT(PGS_J(__##n##2, PGS_X, _rn) PGS_J(__##n##2, PGS_X, _rz) PGS_J(__##n##2, PGS_X, _ru) PGS_J(__##n##2, PGS_X, _rd)) \
    PGS_F PGS_T PGS_J(__##n##2, PGS_X, _rn)(I a) { return PGS_T(a); } \
    PGS_TO(I, n, _rz, half_zero) PGS_TO(I, n, _ru, half_up) PGS_TO(I, n, _rd, half_down) \
    PGS_END
#define PGS_TO(I, n, s, mode) \
    PGS_F PGS_T PGS_J(__##n##2, PGS_X, s)(I a) { \
        const double d = pygpu_sim::odd_double(a); \
        return pygpu_sim::PGS_J(PGS_X, _bits, )(pygpu_sim::PGS_J(double_to_, PGS_X, )(d, pygpu_sim::mode)); \
    }
PGS_ROW(short, short) PGS_ROW(unsigned short, ushort) PGS_ROW(int, int) PGS_ROW(unsigned, uint) PGS_ROW(long long, ll)
PGS_ROW(unsigned long long, ull)
#undef PGS_TO
#undef PGS_ROW
PGS_UNIT(PGS_J(__, PGS_X, 2char_rz) PGS_J(__, PGS_X, 2uchar_rz))
PGS_F signed char PGS_J(__, PGS_X, 2char_rz)(PGS_T a) { return (signed char)a; }
PGS_F unsigned char PGS_J(__, PGS_X, 2uchar_rz)(PGS_T a) { return (unsigned char)a; }
PGS_END

/* Pairs */
PGS_UNIT(PGS_J(__float2, PGS_X, 2_rn) PGS_J(__floats2, PGS_X, 2_rn) PGS_J(__float22, PGS_X, 2_rn) PGS_J(__, PGS_X, 22float2)
         __low2float __high2float)
PGS_F PGS_T2 PGS_J(__float2, PGS_X, 2_rn)(float a) { return PGS_T2(PGS_T(a), PGS_T(a)); }
PGS_F PGS_T2 PGS_J(__floats2, PGS_X, 2_rn)(float a, float b) { return PGS_T2(PGS_T(a), PGS_T(b)); }
PGS_F PGS_T2 PGS_J(__float22, PGS_X, 2_rn)(float2 a) { return PGS_T2(PGS_T(a.x), PGS_T(a.y)); }
PGS_F float2 PGS_J(__, PGS_X, 22float2)(PGS_T2 a) { return float2{(float)a.x, (float)a.y}; }
PGS_F float __low2float(PGS_T2 a) { return a.x; }
PGS_F float __high2float(PGS_T2 a) { return a.y; }
PGS_END
PGS_UNIT(PGS_TWICE PGS_J(__halves2, PGS_X, 2)
         PGS_J(__low2, PGS_X, ) PGS_J(__high2, PGS_X, ) PGS_J(__low2, PGS_X, 2) PGS_J(__high2, PGS_X, 2) PGS_J(__lows2, PGS_X, 2)
         PGS_J(__highs2, PGS_X, 2) __lowhigh2highlow PGS_J(make_, PGS_X, 2))
PGS_F PGS_T2 PGS_TWICE(PGS_T a) { return PGS_T2(a, a); }
PGS_F PGS_T2 PGS_J(__halves2, PGS_X, 2)(PGS_T a, PGS_T b) { return PGS_T2(a, b); }
PGS_F PGS_T2 PGS_J(make_, PGS_X, 2)(PGS_T a, PGS_T b) { return PGS_T2(a, b); }
PGS_F PGS_T PGS_J(__low2, PGS_X, )(PGS_T2 a) { return a.x; }
PGS_F PGS_T PGS_J(__high2, PGS_X, )(PGS_T2 a) { return a.y; }
PGS_F PGS_T2 PGS_J(__low2, PGS_X, 2)(PGS_T2 a) { return PGS_T2(a.x, a.x); }
PGS_F PGS_T2 PGS_J(__high2, PGS_X, 2)(PGS_T2 a) { return PGS_T2(a.y, a.y); }
PGS_F PGS_T2 PGS_J(__lows2, PGS_X, 2)(PGS_T2 a, PGS_T2 b) { return PGS_T2(a.x, b.x); }
PGS_F PGS_T2 PGS_J(__highs2, PGS_X, 2)(PGS_T2 a, PGS_T2 b) { return PGS_T2(a.y, b.y); }
PGS_F PGS_T2 __lowhigh2highlow(PGS_T2 a) { return PGS_T2(a.y, a.x); }
PGS_END

/* ---- arithmetic ----------------------------------------------------------------------------------------------------- */

/* n(a, b) and the form for pairs, n2(a, b) */
#define PGS_ROW(n, expression) \
    PGS_UNIT(n n##2) \
    PGS_F PGS_T n(PGS_T a, PGS_T b) { const float x = a, y = b; (void)x; (void)y; return PGS_T(expression); } \
    PGS_F PGS_T2 n##2(PGS_T2 a, PGS_T2 b) { return PGS_T2(n(a.x, b.x), n(a.y, b.y)); } \
    PGS_END
PGS_ROW(__hadd, x + y)
PGS_ROW(__hsub, x - y)
PGS_ROW(__hmul, x * y)
PGS_ROW(__hmax, x != x ? y : y != y ? x : x > y || (x == y && !(a.__x & 0x8000)) ? x : y)
PGS_ROW(__hmin, x != x ? y : y != y ? x : x < y || (x == y && (a.__x & 0x8000)) ? x : y)
#undef PGS_ROW
/* Forms of an operation with an ending between its name and the 2. */
#define PGS_ROW(n, s, expression) \
    PGS_UNIT(n##s n##2##s) \
    PGS_F PGS_T n##s(PGS_T a, PGS_T b) { const float x = a, y = b; return PGS_T(expression); } \
    PGS_F PGS_T2 n##2##s(PGS_T2 a, PGS_T2 b) { return PGS_T2(n##s(a.x, b.x), n##s(a.y, b.y)); } \
    PGS_END
PGS_ROW(__hadd, _rn, x + y)
PGS_ROW(__hsub, _rn, x - y)
PGS_ROW(__hmul, _rn, x * y)
PGS_ROW(__hadd, _sat, pygpu_sim::half_saturate(x + y))
PGS_ROW(__hsub, _sat, pygpu_sim::half_saturate(x - y))
PGS_ROW(__hmul, _sat, pygpu_sim::half_saturate(x * y))
PGS_ROW(__hmax, _nan, x != x || y != y ? __builtin_nanf("") : x > y || (x == y && !(a.__x & 0x8000)) ? x : y)
PGS_ROW(__hmin, _nan, x != x || y != y ? __builtin_nanf("") : x < y || (x == y && (a.__x & 0x8000)) ? x : y)
#undef PGS_ROW
PGS_UNIT(__hdiv __h2div)
PGS_F PGS_T __hdiv(PGS_T a, PGS_T b) { return PGS_T((float)a / (float)b); }
PGS_F PGS_T2 __h2div(PGS_T2 a, PGS_T2 b) { return PGS_T2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
PGS_END
PGS_UNIT(__hfma __hfma2 __hfma_sat __hfma2_sat __hfma_relu __hfma2_relu __hcmadd)
PGS_I PGS_T __hfma(PGS_T a, PGS_T b, PGS_T c) { return PGS_T(pygpu_sim::fused((float)a, (float)b, (float)c)); }
PGS_I PGS_T __hfma_sat(PGS_T a, PGS_T b, PGS_T c) { return PGS_T(pygpu_sim::half_saturate((float)__hfma(a, b, c))); }
PGS_I PGS_T __hfma_relu(PGS_T a, PGS_T b, PGS_T c) {
    const PGS_T r = __hfma(a, b, c);
    return (r.__x & 0x8000) ? PGS_T(0.0f) : r; /* a NaN stays */
}
#define PGS_ROW(s) PGS_I PGS_T2 __hfma2##s(PGS_T2 a, PGS_T2 b, PGS_T2 c) { return PGS_T2(__hfma##s(a.x, b.x, c.x), __hfma##s(a.y, b.y, c.y)); }
PGS_ROW() PGS_ROW(_sat) PGS_ROW(_relu)
#undef PGS_ROW
/* The product of two complex numbers, plus a third. */
PGS_I PGS_T2 __hcmadd(PGS_T2 a, PGS_T2 b, PGS_T2 c) {
    return PGS_T2(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
PGS_END
PGS_UNIT(__hneg __hneg2 __habs __habs2)
PGS_F PGS_T __hneg(PGS_T a) { return -a; }
PGS_F PGS_T2 __hneg2(PGS_T2 a) { return -a; }
PGS_F PGS_T __habs(PGS_T a) { return pygpu_sim::PGS_J(PGS_X, _bits, )(a.__x & 0x7fffu); }
PGS_F PGS_T2 __habs2(PGS_T2 a) { return PGS_T2(__habs(a.x), __habs(a.y)); }
PGS_END
PGS_UNIT(__hisnan __hisnan2 __hisinf)
PGS_F bool __hisnan(PGS_T a) { return (float)a != (float)a; }
PGS_F PGS_T2 __hisnan2(PGS_T2 a) { return PGS_T2(PGS_T((float)__hisnan(a.x)), PGS_T((float)__hisnan(a.y))); }
PGS_F int __hisinf(PGS_T a) { return __builtin_isinf((float)a) ? (a.__x & 0x8000 ? -1 : 1) : 0; }
PGS_END

/* ---- comparisons ---------------------------------------------------------------------------------------------------- */

/* n: one number; n2: 1 or 0 for each of two; hb..2: both; n2_mask: all bits or none for each. The forms with u are true for NaNs. */
#define PGS_ROW(n, k, op, s, extra) \
    PGS_UNIT(n##s n##s##2 __hb##k##s##2 n##s##2_mask) \
    PGS_F bool n##s(PGS_T a, PGS_T b) { const float x = a, y = b; return x op y extra; } \
    PGS_F PGS_T2 n##s##2(PGS_T2 a, PGS_T2 b) { return PGS_T2(PGS_T((float)n##s(a.x, b.x)), PGS_T((float)n##s(a.y, b.y))); } \
    PGS_F bool __hb##k##s##2(PGS_T2 a, PGS_T2 b) { return n##s(a.x, b.x) && n##s(a.y, b.y); } \
    PGS_F unsigned n##s##2_mask(PGS_T2 a, PGS_T2 b) { return (n##s(a.x, b.x) ? 0xffffu : 0u) | (n##s(a.y, b.y) ? 0xffff0000u : 0u); } \
    PGS_END
#define PGS_BOTH(k, op, ordered) PGS_ROW(__h##k, k, op, , ordered) PGS_ROW(__h##k, k, op, u, || x != x || y != y)
PGS_BOTH(eq, ==, )
PGS_BOTH(ne, !=, && x == x && y == y)
PGS_BOTH(lt, <, )
PGS_BOTH(le, <=, )
PGS_BOTH(gt, >, )
PGS_BOTH(ge, >=, )
#undef PGS_BOTH
#undef PGS_ROW

/* ---- functions ------------------------------------------------------------------------------------------------------ */

#define PGS_ROW(n, expression) \
    PGS_UNIT(h##n h2##n) \
    PGS_I PGS_T h##n(PGS_T a) { const float x = a; return PGS_T(expression); } \
    PGS_I PGS_T2 h2##n(PGS_T2 a) { return PGS_T2(h##n(a.x), h##n(a.y)); } \
    PGS_END
PGS_ROW(ceil, __builtin_ceilf(x)) PGS_ROW(floor, __builtin_floorf(x)) PGS_ROW(trunc, __builtin_truncf(x)) PGS_ROW(rint, __builtin_rintf(x))
PGS_ROW(cos, __builtin_cosf(x)) PGS_ROW(sin, __builtin_sinf(x)) PGS_ROW(tanh, __builtin_tanhf(x)) PGS_ROW(tanh_approx, __builtin_tanhf(x))
PGS_ROW(exp, __builtin_expf(x)) PGS_ROW(exp2, __builtin_exp2f(x)) PGS_ROW(exp10, (float)::exp10((double)x))
PGS_ROW(log, __builtin_logf(x)) PGS_ROW(log2, __builtin_log2f(x)) PGS_ROW(log10, __builtin_log10f(x))
PGS_ROW(rcp, 1.0f / x) PGS_ROW(sqrt, __builtin_sqrtf(x)) PGS_ROW(rsqrt, 1.0f / __builtin_sqrtf(x))
#undef PGS_ROW

/* ---- other lanes, atomics ------------------------------------------------------------------------------------------- */

PGS_UNIT(__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync shuffled)
namespace pygpu_sim {
template <> struct shuffled<PGS_T> { static constexpr bool value = true; };
template <> struct shuffled<PGS_T2> { static constexpr bool value = true; };
} // namespace pygpu_sim
PGS_END
PGS_UNIT(atomicAdd atomicAdd_block atomicAdd_system)
#define PGS_ROW(n) \
    PGS_F PGS_T n(PGS_T *p, PGS_T value) { return pgs_update<unsigned short>(p, [value](PGS_T old) -> PGS_T { return old + value; }); } \
    PGS_F PGS_T2 n(PGS_T2 *p, PGS_T2 value) { return pgs_update<unsigned>(p, [value](PGS_T2 old) -> PGS_T2 { return old + value; }); }
PGS_ROW(atomicAdd) PGS_ROW(atomicAdd_block) PGS_ROW(atomicAdd_system)
#undef PGS_ROW
PGS_END
