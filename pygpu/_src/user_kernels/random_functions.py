"""Building blocks of random numbers in the common language: random words as numbers in an
interval, logarithms, and the rotation of Box and Muller's method.

The functions are implemented here, because those of drivers handle arguments that do not occur
(infinities, zeros, tiny numbers, large angles), take twice the time, and differ between drivers.
"""

from __future__ import annotations


def _polynomial(z: str, values: str) -> str:
    """The polynomial in *z* with these float coefficients, the constant first, by Horner's rule."""
    text, *others = (f"{value}f" for value in reversed(values.split()))
    for value in others:
        text = f"PG_FMAF({text}, {z}, {value})"
    return text


_numbers: list[str] = []


def _polynomial64(z: str, values: str) -> str:
    """The same in double. The coefficients are in memory: as literals, each would need two more
    instructions on NVIDIA GPUs, which is a third of all."""
    _numbers.extend(value for value in values.split() if value not in _numbers)
    *others, text = (f"pg_numbers[{_numbers.index(value)}]" for value in values.split())
    for value in reversed(others):
        text = f"PG_FMA({text}, {z}, {value})"
    return text


# Doubles are assembled from 32 bits each of the upper and lower part, as the mantissas of two
# numbers, whose difference from a constant is exact: GPUs convert 64-bit integers slowly.
UNIT = """\
PG_INLINE pg_f32 pg_unit32(pg_u32 w) /* [0, 1) */
{ return (pg_f32)(w >> 8) * 5.9604644775390625e-8f; }
PG_INLINE pg_f32 pg_open32(pg_u32 w) /* (0, 1] */
{ return (pg_f32)w * 2.3283064365386963e-10f + 1.1641532182693481e-10f; }
PG_INLINE pg_f32 pg_inner32(pg_u32 w) /* (0, 1) */
{ return ((pg_f32)(w >> 9) + 0.5f) * 1.1920928955078125e-7f; }
PG_INLINE pg_f32 pg_signed32(pg_f32 x, pg_u32 sign) /* turned by the uppermost bit */
{ return PG_FROM_BITS_F32(PG_BITS_F32(x) ^ (sign & 0x80000000u)); }
#ifdef PG_FP64
PG_INLINE pg_f64 pg_signed64(pg_f64 x, pg_u32 sign)
{ return PG_FROM_BITS_F64(PG_BITS_F64(x) ^ (pg_u64)(sign & 0x80000000u) << 32); }
PG_INLINE pg_f64 pg_joined(pg_u32 exponent, pg_u32 mantissa)
{ return PG_FROM_BITS_F64((pg_u64)exponent << 32 | mantissa); }
PG_INLINE pg_f64 pg_unit64(pg_u32 a, pg_u32 b)
{
    return (pg_joined(0x41E00000u, a >> 11) - 2147483648.5)
           + pg_joined(0x3FE00000u, a << 21 | b >> 11);
}
PG_INLINE pg_f64 pg_open64(pg_u32 a, pg_u32 b)
{ return pg_unit64(a, b) + 1.1102230246251565e-16; }
PG_INLINE pg_f64 pg_inner64(pg_u32 a, pg_u32 b)
{
    return (pg_joined(0x41E00000u, a >> 11) - 2147483648.5)
           + pg_joined(0x3FE00000u, a << 21 | b >> 11 | 1u);
}
#endif
"""

# log2(m) = m - 1 + (m - 1)(2 - m) P(m - 3/2) for m from 1 to 2, here -2**23 P, so that log2 of a
# number in (0, 1] has a relative error of 2e-7 at most; and log((1 + s) / (1 - s)) = 2 s
# + s**3 R(s**2) in double, with 2e-18.
_LOG32 = """-2850870.75 1281903.25 -645711.25 345533.34375 -196719.109375 122955.625
-57577.23046875"""
_LOG64 = """0.6666666666666698 0.399999999996144 0.2857142870316105 0.22222202224734533
0.1818338914051195 0.15318239130185923 0.14756426641631695"""

# sin(pi x) / x and cos(pi x) in x**2, for |x| <= 1/4: relative errors of 3e-8, 5e-8, 4e-18, 5e-20.
_SIN32 = "3.1415927410125732 -5.167733192443848 2.550795078277588 -0.5997388362884521"
_COS32 = "1.0 -4.93479061126709 4.057651519775391 -1.3067060708999634"
_SIN64 = """3.141592653589793 -5.167712780049954 2.5501640398733763 -0.5992645289396449
0.08214586918000175 -0.007370021586907771 0.000461531855383581"""
_COS64 = """1.0 -4.934802200544679 4.058712126416747 -1.3352627688519174 0.23533063019088787
-0.025806885652951306 0.0019294657440800042 -0.00010356747255199479"""

# PG_OPAQUE: the compiler takes the value as unknown and keeps it in a register. It would compute
# Philox's keys anew for every block otherwise, a fifth of all instructions. Square roots and
# quotients are NVIDIA's approximations, in double with a step of Newton's.
NATIVE = """\
#if !defined(PG_CPU) && (defined(__CUDA_ARCH__) || defined(__NV_CL_C_VERSION))
#define PG_OPAQUE(x) asm("" : "+r"(x))
PG_INLINE pg_f32 pg_root32(pg_f32 x)
{ pg_f32 r; asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
#ifdef PG_FP64
PG_INLINE pg_f64 pg_root64(pg_f64 x)
{
    pg_f64 y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x + 1e-300));
    const pg_f64 h = x * y, e = fma(-h, y, 1.0);
    return fma(h, e * fma(0.375, e, 0.5), h);
}
PG_INLINE pg_f64 pg_quotient64(pg_f64 a, pg_f64 b)
{
    pg_f64 r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
    r = fma(r, fma(-b, r, 1.0), r);
    const pg_f64 q = a * r;
    return fma(r, fma(-q, b, a), q);
}
#endif
#else
#define PG_OPAQUE(x) ((void)0)
#ifdef PG_CPU
#define pg_root32(x) sqrt(x)
#define pg_root64(x) sqrt(x)
#else
#define pg_root32(x) ((x) * rsqrt((x) + 1e-30f))
#define pg_root64(x) ((x) * rsqrt((x) + 1e-300))
#endif
#define pg_quotient64(a, b) ((a) / (b))
#endif
"""

# Products are added without rounding them first where that is fast, whatever the options. An angle
# is a 32-bit (64-bit) fraction of a turn: the nearest quarter turn, plus x half turns. A direction
# of pg_circle is x half turns from an axis, which two further bits name.
_FLOAT = f"""\
#if !defined(__OPENCL_VERSION__) || defined(FP_FAST_FMAF)
#define PG_FMAF(a, b, c) fma(a, b, c)
#define PG_ARCH(f) fma(-(f), f, 0.25f) /* relatively exact, too, at both ends, -1/2 and 1/2 */
#else
#define PG_FMAF(a, b, c) mad(a, b, c)
#define PG_ARCH(f) ((0.5f + (f)) * (0.5f - (f)))
#endif
/* -2**23 log2(x) from its bits and m, the number in [1, 2) with the same mantissa: as an integer,
 * the bits grow with m between powers of two, as nearly the logarithm does. */
PG_INLINE pg_f32 pg_depth32(pg_u32 bits, pg_f32 m)
{{
    const pg_f32 f = m - 1.5f, linear = (pg_f32)(pg_i32)(0x3F800000u - bits);
    return PG_FMAF(PG_ARCH(f), {_polynomial("f", _LOG32)}, linear);
}}
PG_INLINE pg_f32 pg_unit_depth32(pg_f32 u) /* for u in (0, 1] */
{{ return pg_depth32(PG_BITS_F32(u), PG_FROM_BITS_F32(PG_BITS_F32(u) | 0x3F800000u)); }}
PG_INLINE pg_f32 pg_unit_log32(pg_f32 u) /* the factor is log(2) / 2**23 */
{{ return pg_unit_depth32(u) * -8.2629582e-8f; }}
PG_INLINE pg_f32 pg_log32(pg_f32 x) /* of a normal number above 0 */
{{
    const pg_u32 bits = PG_BITS_F32(x);
    const pg_f32 m = PG_FROM_BITS_F32((bits & 0x007FFFFFu) | 0x3F800000u);
    return pg_depth32(bits, m) * -8.2629582e-8f;
}}
PG_INLINE void pg_turn32(pg_u32 turn, pg_f32 *c, pg_f32 *s)
{{
    const pg_f32 x = (pg_f32)(pg_i32)(turn << 2) * 1.1641532182693481e-10f, xx = x * x;
    const pg_f32 sine = x * {_polynomial("xx", _SIN32)};
    const pg_f32 cosine = {_polynomial("xx", _COS32)};
    const pg_u32 quarter = turn + 0x20000000u;
    const int odd = (quarter & 0x40000000u) != 0u;
    *c = pg_signed32(odd ? sine : cosine, quarter + 0x40000000u);
    *s = pg_signed32(odd ? cosine : sine, quarter);
}}
#define PG_DEVIATION 4.0652081e-4f /* sqrt(2 log(2) / 2**23) */
PG_INLINE pg_f32 pg_radius32(pg_f32 u, pg_f32 scale) /* sqrt(-2 log(u)) times scale */
{{ const pg_f32 depth = pg_unit_depth32(u); return scale * PG_DEVIATION * pg_root32(depth); }}
PG_INLINE void pg_normal32(pg_u32 a, pg_u32 b, pg_f32 scale, pg_f32 *z) /* two numbers */
{{
    const pg_f32 square = pg_unit_depth32(pg_open32(a));
    const pg_f32 x = (pg_f32)(pg_i32)(b << 2) * 1.1641532182693481e-10f, xx = x * x;
    const pg_f32 across = pg_root32(square) * (x * {_polynomial("xx", _SIN32)});
    const pg_f32 along = pg_signed32(pg_root32(PG_FMAF(-across, across, square)), b);
    pg_u32 odd = b & 0x40000000u;
    PG_OPAQUE(odd);
    scale *= PG_DEVIATION;
    z[0] = scale * (odd ? across : along);
    z[1] = scale * (odd ? along : across);
}}
PG_INLINE pg_f32 pg_laplace32(pg_u32 w) /* log(2 u) in the left half, -log(2 - 2 u) in the right */
{{
    const pg_u32 right = (pg_u32)((pg_i32)w >> 31);
    return pg_signed32(pg_unit_log32(pg_open32((w << 1) ^ right)), w);
}}
PG_INLINE pg_f32 pg_cauchy32(pg_u32 w) /* -cot(pi u) */
{{
    pg_f32 c, s;
    pg_turn32(w >> 1 | 1u, &c, &s);
    return -c / s;
}}
"""
_DOUBLE = f"""\
PG_INLINE pg_f64 pg_log64(pg_f64 u)
{{
    const pg_u64 bits = PG_BITS_F64(u);
    const pg_u32 high = (pg_u32)(bits >> 32) - 0x3FE6A09Eu;
    const pg_f64 m = pg_joined((high & 0x000FFFFFu) + 0x3FE6A09Eu, (pg_u32)bits);
    const pg_f64 s = pg_quotient64(m - 1.0, m + 1.0), ss = s * s;
    const pg_f64 r = {_polynomial64("ss", _LOG64)};
    const pg_f64 e = pg_joined(0x43300000u, (high >> 20) ^ 0x800u) - 4503599627372544.0;
    return PG_FMA(e, 0.6931471805599453, PG_FMA(s * ss, r, s + s));
}}
PG_INLINE void pg_circle64(pg_u32 turn, pg_u32 low, pg_f64 *c, pg_f64 *s)
{{
    const pg_f64 x = (pg_joined(0x41200000u, (turn << 2 | low >> 30) ^ 0x80000000u)
                      - 524288.2501220703125) + pg_joined(0x3F200000u, low << 2), xx = x * x;
    const pg_f64 sine = x * {_polynomial64("xx", _SIN64)};
    const pg_f64 cosine = pg_signed64({_polynomial64("xx", _COS64)}, turn);
    pg_u32 odd = turn & 0x40000000u;
    PG_OPAQUE(odd);
    *c = odd ? sine : cosine;
    *s = odd ? cosine : sine;
}}
PG_INLINE void pg_turn64(pg_u32 turn, pg_u32 low, pg_f64 *c, pg_f64 *s)
{{
    const pg_f64 x = (pg_joined(0x41200000u, (turn << 2 | low >> 30) ^ 0x80000000u)
                      - 524288.2501220703125) + pg_joined(0x3F200000u, low << 2), xx = x * x;
    const pg_f64 sine = x * {_polynomial64("xx", _SIN64)};
    const pg_f64 cosine = {_polynomial64("xx", _COS64)};
    const pg_u32 quarter = turn + 0x20000000u;
    const int odd = (quarter & 0x40000000u) != 0u;
    *c = pg_signed64(odd ? sine : cosine, quarter + 0x40000000u);
    *s = pg_signed64(odd ? cosine : sine, quarter);
}}
#define pg_unit_log64(u) pg_log64(u)
PG_INLINE pg_f64 pg_radius64(pg_f64 u, pg_f64 scale)
{{ const pg_f64 square = -2.0 * pg_log64(u); return scale * pg_root64(square); }}
PG_INLINE void pg_normal64(pg_u32 a, pg_u32 b, pg_u32 turn, pg_u32 low, pg_f64 scale, pg_f64 *z)
{{
    const pg_f64 r = pg_radius64(pg_inner64(a, b), scale);
    pg_f64 c, s;
    pg_circle64(turn, low, &c, &s);
    z[0] = r * c;
    z[1] = r * s;
}}
PG_INLINE pg_f64 pg_laplace64(pg_u32 a, pg_u32 b)
{{
    const pg_u32 right = (pg_u32)((pg_i32)a >> 31);
    return pg_signed64(pg_log64(pg_open64((a << 1 | b >> 31) ^ right, b << 1 ^ right)), a);
}}
PG_INLINE pg_f64 pg_cauchy64(pg_u32 a, pg_u32 b)
{{
    pg_f64 c, s;
    pg_turn64(a >> 1, a << 31 | b >> 1 | 1u, &c, &s);
    return -c / s;
}}
"""
_DOUBLE = f"""\
#if !defined(__OPENCL_VERSION__) || defined(FP_FAST_FMA)
#define PG_FMA(a, b, c) fma(a, b, c)
#else
#define PG_FMA(a, b, c) mad(a, b, c)
#endif
#ifdef __OPENCL_VERSION__
#define PG_NUMBERS __constant pg_f64
#else
#define PG_NUMBERS __constant__ pg_f64 /* not const, or they would become literals */
#endif
PG_NUMBERS pg_numbers[] = {{{", ".join(_numbers)}}};
{_DOUBLE}"""


def functions(code: str) -> str:
    """The functions in float or double ("f32" or "f64"); double only if the device has it. They
    need NATIVE and UNIT."""
    return {"f32": _FLOAT, "f64": _DOUBLE}[code] if code[0] == "f" else ""
