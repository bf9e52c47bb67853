"""Building blocks of random numbers in the common language: random words as numbers in an
interval, logarithms, and the rotation of Box and Muller's method.

The functions are implemented here, because those of drivers handle arguments that do not occur
(infinities, zeros, tiny numbers, large angles), take twice the time, and differ between drivers.
"""

from __future__ import annotations

__all__ = ["UNIT", "functions"]


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
    first = len(_numbers)
    _numbers.extend(values.split())
    *others, text = (f"pg_numbers[{k}]" for k in range(first, len(_numbers)))
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

# log(1 + f) = f + f**2 * Q(f) for 1 + f from sqrt(1/2) to sqrt(2); Q by interpolation at Chebyshev
# nodes, relative errors of 8e-9 and 1e-16.
_LOG32 = """-0.49999997 0.33333331 -0.25000781 0.20001234 -0.16626646 0.14204855 -0.13127555
0.12722673 -0.07673641"""
_LOG64 = """-0.49999999999999994 0.3333333333333186 -0.2500000000000365 0.2000000000073276
-0.1666666666658193 0.14285714179289014 -0.12499999892994784 0.11111118017076488
-0.10000012544787762 0.09090675715160862 -0.08332740123370899 0.07696569127755222
-0.07157185810386904 0.06628203586242362 -0.060659034582028856 0.05966902721981284
-0.0670715780261015 0.06266064657674121 -0.02841188980419935"""

# sin(pi x) / x and cos(pi x) in x**2, for |x| <= 1/4: relative errors of 4e-9, 7e-11, 4e-18, 5e-20.
_SIN32 = "3.1415927410125732 -5.167707920074463 2.549767017364502 -0.5890750885009766"
_COS32 = "1.0 -4.934802055358887 4.058707237243652 -1.335044503211975 0.2313287854194641"
_SIN64 = """3.141592653589793 -5.167712780049954 2.5501640398733763 -0.5992645289396449
0.08214586918000175 -0.007370021586907771 0.000461531855383581"""
_COS64 = """1.0 -4.934802200544679 4.058712126416747 -1.3352627688519174 0.23533063019088787
-0.025806885652951306 0.0019294657440800042 -0.00010356747255199479"""

# Products are added without rounding them first where that is fast, whatever the options. The
# angle is a 32-bit (64-bit) fraction of a turn: the nearest quarter turn, plus x half turns.
_ROOT = """\
#ifdef PG_CPU
#define PG_ROOT(x, above_zero) sqrt(x)
#else
#define PG_ROOT(x, above_zero) ((x) * rsqrt((x) + (above_zero)))
#endif
"""
_FLOAT = f"""\
#if !defined(__OPENCL_VERSION__) || defined(FP_FAST_FMAF)
#define PG_FMAF(a, b, c) fma(a, b, c)
#else
#define PG_FMAF(a, b, c) mad(a, b, c)
#endif
PG_INLINE pg_f32 pg_log32(pg_f32 u) /* of a normal number above 0 */
{{
    const pg_u32 bits = PG_BITS_F32(u) - 0x3F3504F3u;
    const pg_f32 f = PG_FROM_BITS_F32((bits & 0x007FFFFFu) + 0x3F3504F3u) - 1.0f, ff = f * f;
    const pg_f32 q = {_polynomial("f", _LOG32)};
    return PG_FMAF((pg_f32)((pg_i32)bits >> 23), 0.6931472f, PG_FMAF(ff, q, f));
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
PG_INLINE pg_f32 pg_radius32(pg_f32 u)
{{ const pg_f32 square = -2.0f * pg_log32(u); return PG_ROOT(square, 1e-30f); }}
PG_INLINE void pg_normal32(pg_u32 a, pg_u32 b, pg_f32 *z) /* two numbers */
{{
    const pg_f32 r = pg_radius32(pg_open32(a));
    pg_f32 c, s;
    pg_turn32(b, &c, &s);
    z[0] = r * c;
    z[1] = r * s;
}}
PG_INLINE pg_f32 pg_laplace32(pg_u32 w) /* log(2 u) in the left half, -log(2 - 2 u) in the right */
{{
    const pg_u32 right = (pg_u32)((pg_i32)w >> 31);
    return pg_signed32(pg_log32(pg_open32((w << 1) ^ right)), w);
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
    const pg_f64 f = pg_joined((high & 0x000FFFFFu) + 0x3FE6A09Eu, (pg_u32)bits) - 1.0, ff = f * f;
    const pg_f64 q = {_polynomial64("f", _LOG64)};
    const pg_f64 e = pg_joined(0x43300000u, (high >> 20) ^ 0x800u) - 4503599627372544.0;
    return PG_FMA(e, 0.6931471805599453, PG_FMA(ff, q, f));
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
PG_INLINE pg_f64 pg_radius64(pg_f64 u)
{{ const pg_f64 square = -2.0 * pg_log64(u); return PG_ROOT(square, 1e-300); }}
PG_INLINE void pg_normal64(pg_u32 a, pg_u32 b, pg_u32 turn, pg_u32 low, pg_f64 *z)
{{
    const pg_f64 r = pg_radius64(pg_inner64(a, b));
    pg_f64 c, s;
    pg_turn64(turn, low, &c, &s);
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
    need UNIT."""
    return _ROOT + {"f32": _FLOAT, "f64": _DOUBLE}[code] if code[0] == "f" else ""
