"""Complex arithmetic of the common language: pg_c64_mul(a, b) and so on, which both languages
lack.

Products and quotients are those of NumPy (plain product; Smith's quotient). Functions follow C99's
Annex G, which the array API standard repeats, for infinities, NaN and the sign of zero on a branch
cut.
"""

from __future__ import annotations

import re
from functools import cache

_TEXT = """\
PG_INLINE pg_C pg_C_make(pg_R re, pg_R im) { pg_C z; z.re = re; z.im = im; return z; }
PG_INLINE pg_C pg_C_add(pg_C a, pg_C b) { return pg_C_make(a.re + b.re, a.im + b.im); }
PG_INLINE pg_C pg_C_sub(pg_C a, pg_C b) { return pg_C_make(a.re - b.re, a.im - b.im); }
PG_INLINE pg_C pg_C_mul(pg_C a, pg_C b) { return pg_C_make(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
PG_INLINE pg_C pg_C_neg(pg_C a) { return pg_C_make(-a.re, -a.im); }
PG_INLINE pg_C pg_C_conj(pg_C a) { return pg_C_make(a.re, -a.im); }
PG_INLINE pg_C pg_C_scale(pg_C a, pg_R s) { return pg_C_make(a.re * s, a.im * s); }
PG_INLINE int pg_C_eq(pg_C a, pg_C b) { return a.re == b.re && a.im == b.im; }
PG_INLINE int pg_C_isnan(pg_C a) { return isnan(a.re) || isnan(a.im); }
PG_INLINE int pg_C_lt(pg_C a, pg_C b) /* NumPy's order: by the real part first; NaN last */
{
    return a.re < b.re ? !isnan(a.im) || isnan(b.im)
         : a.re > b.re ? isnan(b.im) && !isnan(a.im)
         : a.re == b.re || (isnan(a.re) && isnan(b.re)) ? a.im < b.im || (isnan(b.im) && !isnan(a.im))
         : isnan(b.re);
}
PG_INLINE pg_C pg_C_div(pg_C a, pg_C b)
{
    pg_R big = fabs(b.re), small = fabs(b.im);
    if (big >= small) {
        if (big == (pg_R)0 && small == (pg_R)0)
            return pg_C_make(a.re / big, a.im / big);
        pg_R ratio = b.im / b.re, scale = (pg_R)1 / (b.re + b.im * ratio);
        return pg_C_make((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
    }
    pg_R ratio = b.re / b.im, scale = (pg_R)1 / (b.im + b.re * ratio);
    return pg_C_make((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);
}
PG_INLINE pg_R pg_C_abs(pg_C a) { return hypot(a.re, a.im); }
PG_INLINE pg_R pg_C_arg(pg_C a) { return atan2(a.im, a.re); }
PG_INLINE pg_C pg_C_exp(pg_C a)
{
    if (a.im == (pg_R)0)
        return pg_C_make(exp(a.re), a.im);
    if (isinf(a.re) && !isfinite(a.im))
        return a.re < 0 ? pg_C_make((pg_R)0, (pg_R)0) : pg_C_make(a.re, PG_NAN_X);
    pg_R e = exp(a.re);
    if (isinf(e) && isfinite(a.re)) { /* the sine or cosine may bring it back */
        pg_R h = exp(a.re * (pg_R)0.5);
        return pg_C_make(h * cos(a.im) * h, h * sin(a.im) * h);
    }
    if (isnan(a.re))
        return pg_C_make(a.re, a.re);
    if (e == (pg_R)0 && isfinite(a.im))
        return pg_C_make(copysign((pg_R)0, cos(a.im)), copysign((pg_R)0, sin(a.im)));
    return pg_C_make(e * cos(a.im), e * sin(a.im));
}
PG_INLINE pg_C pg_C_expm1(pg_C a)
{
    if (a.im == (pg_R)0)
        return pg_C_make(expm1(a.re), a.im);
    if (isinf(a.re) && !isfinite(a.im))
        return a.re < 0 ? pg_C_make((pg_R)-1, (pg_R)0) : pg_C_make(a.re, PG_NAN_X);
    if (a.re > (pg_R)40) {
        pg_C e = pg_C_exp(a);
        return pg_C_make(e.re - (pg_R)1, e.im);
    }
    pg_R s = sin(a.im * (pg_R)0.5);
    return pg_C_make(expm1(a.re) * cos(a.im) - 2 * s * s, exp(a.re) * sin(a.im));
}
PG_INLINE pg_R pg_C_logabs(pg_C a) /* log |a| without losing it near 1, or to overflow */
{
    pg_R x = fabs(a.re), y = fabs(a.im);
    if (x < y) { pg_R t = x; x = y; y = t; }
    if (x > (pg_R)0.5 && x < (pg_R)2)
        return (pg_R)0.5 * log1p((x - 1) * (x + 1) + y * y);
    return log(hypot(x, y));
}
PG_INLINE pg_C pg_C_log(pg_C a) { return pg_C_make(pg_C_logabs(a), atan2(a.im, a.re)); }
PG_INLINE pg_C pg_C_sqrt(pg_C a)
{
    if (isinf(a.im))
        return pg_C_make(PG_INF_X, a.im);
    if (isnan(a.re))
        return pg_C_make(a.re, a.re);
    if (isinf(a.re)) {
        pg_R t = isnan(a.im) ? PG_NAN_X : (pg_R)0;
        return a.re > 0 ? pg_C_make(a.re, isnan(a.im) ? a.im : copysign((pg_R)0, a.im))
                        : pg_C_make(t, copysign(PG_INF_X, a.im));
    }
    if (a.re == (pg_R)0 && a.im == (pg_R)0)
        return pg_C_make((pg_R)0, a.im);
    pg_R x = fabs(a.re), y = fabs(a.im), m = x > y ? x : y, s = (pg_R)1;
    if (m > PG_LARGE_X) { x *= (pg_R)0.0625; y *= (pg_R)0.0625; s = (pg_R)4; }
    else if (m < PG_SMALL_X) { x *= PG_UP_X; y *= PG_UP_X; s = PG_ROOT_X; }
    pg_R t = sqrt((pg_R)0.5 * (x + hypot(x, y))) * s;
    pg_R u = fabs(a.im) / (2 * t);
    return a.re >= 0 ? pg_C_make(t, copysign(u, a.im)) : pg_C_make(u, copysign(t, a.im));
}
PG_INLINE pg_C pg_C_pow(pg_C a, pg_C b)
{
    if (b.re == (pg_R)0 && b.im == (pg_R)0)
        return pg_C_make((pg_R)1, (pg_R)0);
    if (a.re == (pg_R)0 && a.im == (pg_R)0) {
        if (b.re > 0)
            return pg_C_make((pg_R)0, (pg_R)0);
        return pg_C_make(PG_NAN_X, PG_NAN_X);
    }
    if (b.im == (pg_R)0 && fabs(b.re) < (pg_R)100 && b.re == trunc(b.re)) {
        int n = (int)fabs(b.re);
        pg_C result = pg_C_make((pg_R)1, (pg_R)0), p = a;
        for (int first = 1;;) {
            if (n & 1) { result = first ? p : pg_C_mul(result, p); first = 0; }
            if ((n >>= 1) == 0)
                break;
            p = pg_C_mul(p, p);
        }
        return b.re < 0 ? pg_C_div(pg_C_make((pg_R)1, (pg_R)0), result) : result;
    }
    return pg_C_exp(pg_C_mul(b, pg_C_log(a)));
}
PG_INLINE pg_C pg_C_sinh(pg_C a)
{
    if (a.im == (pg_R)0)
        return pg_C_make(sinh(a.re), a.im);
    if (a.re == (pg_R)0)
        return pg_C_make(isfinite(a.im) ? a.re * cos(a.im) : a.re, sin(a.im));
    if (isinf(a.re) && !isfinite(a.im))
        return pg_C_make(a.re, PG_NAN_X);
    return pg_C_make(sinh(a.re) * cos(a.im), cosh(a.re) * sin(a.im));
}
PG_INLINE pg_C pg_C_cosh(pg_C a)
{
    if (a.im == (pg_R)0)
        return pg_C_make(cosh(a.re), isnan(a.re) ? a.im : copysign((pg_R)0, a.re) * a.im);
    if (a.re == (pg_R)0)
        return pg_C_make(cos(a.im), isfinite(a.im) ? a.re * sin(a.im) : a.re);
    if (isinf(a.re) && !isfinite(a.im))
        return pg_C_make(PG_INF_X, PG_NAN_X);
    return pg_C_make(cosh(a.re) * cos(a.im), sinh(a.re) * sin(a.im));
}
PG_INLINE pg_C pg_C_tanh(pg_C a)
{
    if (!isfinite(a.im))
        return isinf(a.re) ? pg_C_make(copysign((pg_R)1, a.re), (pg_R)0)
             : pg_C_make(a.re == (pg_R)0 ? a.re : PG_NAN_X, PG_NAN_X);
    if (fabs(a.re) > (pg_R)20) {
        pg_R e = exp(-fabs(a.re));
        return pg_C_make(copysign((pg_R)1, a.re), (pg_R)4 * sin(a.im) * cos(a.im) * e * e);
    }
    if (a.im == (pg_R)0)
        return pg_C_make(tanh(a.re), a.im);
    pg_R t = tan(a.im), beta = 1 + t * t, s = sinh(a.re), rho = sqrt(1 + s * s);
    if (isinf(t))
        return pg_C_make(rho / s, 1 / t);
    pg_R d = 1 + beta * s * s;
    return pg_C_make(beta * rho * s / d, t / d);
}
PG_INLINE pg_C pg_C_mul_i(pg_C a) { return pg_C_make(-a.im, a.re); }
PG_INLINE pg_C pg_C_div_i(pg_C a) { return pg_C_make(a.im, -a.re); }
PG_INLINE pg_C pg_C_sin(pg_C a) { return pg_C_div_i(pg_C_sinh(pg_C_mul_i(a))); }
PG_INLINE pg_C pg_C_cos(pg_C a) { return pg_C_cosh(pg_C_mul_i(a)); }
PG_INLINE pg_C pg_C_tan(pg_C a) { return pg_C_div_i(pg_C_tanh(pg_C_mul_i(a))); }
/* Kahan's forms by square roots: exact on the cuts. */
PG_INLINE pg_C pg_C_asinh(pg_C a)
{
    if (isinf(a.re) || isinf(a.im))
        return pg_C_make(copysign(PG_INF_X, a.re), atan2(a.im, fabs(a.re)));
    if (isnan(a.re) && a.im == (pg_R)0)
        return a;
    pg_C p = pg_C_sqrt(pg_C_make((pg_R)1 - a.im, a.re)), m = pg_C_sqrt(pg_C_make((pg_R)1 + a.im, -a.re));
    return pg_C_make(asinh(p.im * m.re - p.re * m.im), atan2(a.im, p.re * m.re - p.im * m.im));
}
PG_INLINE pg_C pg_C_asin(pg_C a) { return pg_C_div_i(pg_C_asinh(pg_C_mul_i(a))); }
PG_INLINE pg_C pg_C_acos(pg_C a)
{
    if (isinf(a.re) || isinf(a.im))
        return pg_C_make(atan2(fabs(a.im), a.re), -copysign(PG_INF_X, a.im));
    if (a.re == (pg_R)0 && isnan(a.im))
        return pg_C_make((pg_R)1.57079632679489661923, a.im);
    pg_C m = pg_C_sqrt(pg_C_make((pg_R)1 - a.re, -a.im)), p = pg_C_sqrt(pg_C_make((pg_R)1 + a.re, a.im));
    return pg_C_make(2 * atan2(m.re, p.re), asinh(p.re * m.im - p.im * m.re));
}
PG_INLINE pg_C pg_C_acosh(pg_C a)
{
    if (isinf(a.re) || isinf(a.im))
        return pg_C_make(PG_INF_X, atan2(a.im, a.re));
    if (a.re == (pg_R)0 && isnan(a.im))
        return pg_C_make(a.im, (pg_R)1.57079632679489661923);
    pg_C m = pg_C_sqrt(pg_C_make(a.re - (pg_R)1, a.im)), p = pg_C_sqrt(pg_C_make(a.re + (pg_R)1, a.im));
    return pg_C_make(asinh(m.re * p.re + m.im * p.im), 2 * atan2(m.im, p.re));
}
PG_INLINE pg_C pg_C_atanh(pg_C a)
{
    pg_R x = fabs(a.re), y = fabs(a.im), d = ((pg_R)1 - x) * ((pg_R)1 - x) + y * y;
    pg_R re = x > PG_LARGE_ROOT_X || y > PG_LARGE_ROOT_X
        ? (isinf(x) || isinf(y) ? (pg_R)0 : x / hypot(x, y) / hypot(x, y))
        : (pg_R)0.25 * log1p(4 * x / d);
    pg_R im = x > PG_LARGE_ROOT_X || y > PG_LARGE_ROOT_X
        ? (pg_R)1.57079632679489661923
        : (pg_R)0.5 * atan2(2 * y, ((pg_R)1 - x) * ((pg_R)1 + x) - y * y);
    if (isnan(x) || isnan(y))
        re = isinf(x) || isinf(y) || x == (pg_R)0 ? (pg_R)0 : PG_NAN_X,
        im = isinf(y) ? (pg_R)1.57079632679489661923 : PG_NAN_X;
    return pg_C_make(copysign(re, a.re), copysign(im, a.im));
}
PG_INLINE pg_C pg_C_atan(pg_C a) { return pg_C_div_i(pg_C_atanh(pg_C_mul_i(a))); }
"""

_LIMITS = {
    "F32": {
        "LARGE": "1e37f",
        "SMALL": "1e-30f",
        "UP": "1.125899906842624e15f",  # 2**50
        "ROOT": "2.9802322387695312e-8f",  # 2**-25
        "LARGE_ROOT": "1e18f",
    },
    "F64": {
        "LARGE": "1e307",
        "SMALL": "1e-290",
        "UP": "1.125899906842624e15",
        "ROOT": "2.9802322387695312e-8",
        "LARGE_ROOT": "1e150",
    },
}


def complex_functions(name: str) -> str:
    """The text for "c64" or "c128"."""
    real = {"c64": "f32", "c128": "f64"}[name]
    text = _TEXT.replace("pg_C", f"pg_{name}").replace("pg_R", f"pg_{real}")
    for key, value in _LIMITS[real.upper()].items():
        text = text.replace(f"PG_{key}_X", value)
    return text.replace("_X", f"_{real.upper()}")


@cache
def _functions(name: str) -> dict[str, tuple[str, frozenset[str]]]:
    """The source of each function of "c64" or "c128", in order, and the functions that it needs,
    by their names after the type's prefix."""
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for text in re.split(r"^(?=PG_INLINE )", complex_functions(name), flags=re.MULTILINE):
        called = re.findall(rf"\bpg_{name}_(\w+)\(", text)
        if called:  # the first one is the function itself; what it calls precedes it
            needed = {called[0]}.union(*(found[one][1] for one in called[1:] if one in found))
            found[called[0]] = text, frozenset(needed)
    return found


def parts_of_complex(source: str, fp64: bool) -> dict[str, str]:
    """The functions that a source names, and those that they need, by their names: compilers spend
    time on each, whether it is called or not."""
    found: dict[str, str] = {}
    for name in ("c64", "c128") if fp64 else ("c64",):
        functions = _functions(name)
        if "##" in source:  # names may be made by token pasting
            needed = set(functions)
        else:
            named = set(re.findall(rf"\bpg_{name}_(\w+)", source))
            needed = set().union(*(functions[one][1] for one in named & functions.keys()))
        found |= {f"pg_{name}_{k}": text for k, (text, _) in functions.items() if k in needed}
    return found


def used_complex_functions(source: str, fp64: bool) -> str:
    """The text of parts_of_complex()."""
    return "".join(parts_of_complex(source, fp64).values())
