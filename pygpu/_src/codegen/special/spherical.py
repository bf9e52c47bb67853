"""Spherical Bessel functions and Airy functions of real numbers.

Spherical: the recurrence DLMF 10.51.1 from orders 0 and 1, upwards where it is stable, else downwards
from the fraction of the ratio (10.33.1 and 10.10.1 of order n + 1/2). Airy: the series DLMF 9.4, and
Bessel functions of orders 1/3 and 2/3, DLMF 9.6, with the argument in two parts.
"""

from __future__ import annotations

TEXT = r"""
/* j (s = -1) or i (s = 1) of order n > 0 by the recurrence downwards; x > 0. first, second: those of
   orders 0 and 1, of which the larger is matched */
REAL sp_spherical_down(INT n, REAL x, REAL s, REAL first, REAL second)
{
    REAL r = SMALLEST * 1e8, c = r, d = 0.0, now = 1.0, above, start = 1.0;
    for (int k = 1; k < 200000; k++) {
        REAL b = (2.0 * (n + k) + 1.0) / x, change;
        d = k == 1 ? b : b + s * d;
        c = k == 1 ? b + 1.0 / c : b + s / c;
        d = 1.0 / (fabs(d) < SMALLEST ? SMALLEST : d);
        c = fabs(c) < SMALLEST ? SMALLEST : c;
        change = c * d;
        r *= change;
        if (fabs(change - 1.0) < 0.5 * EPS)
            break;
    }
    above = r;
    for (int k = n; k > 0; k--) {
        REAL next = (2.0 * k + 1.0) / x * now + s * above;
        above = now;
        now = next;
        if (fabs(now) > HUGE_) {
            now /= HUGE_;
            above /= HUGE_;
            start /= HUGE_;
        }
    }
    return fabs(first) >= fabs(second) ? first / now * start : second / above * start;
}

REAL sp_spherical_jn(INT n, REAL x)
{
    REAL s, c, first, second, sign = 1.0;
    if (isnan(x) || n < 0 || n > 100000)
        return NAN_;
    if (x < 0.0) {
        x = -x;
        sign = n % 2 == 0 ? 1.0 : -1.0;
    }
    if (x == 0.0 || isinf(x))
        return x == 0.0 && n == 0 ? 1.0 : 0.0;
    s = sin(x);
    c = cos(x);
    first = s / x;
    second = (first - c) / x;
    if (n == 0)
        return first;
    if (x <= 1.0 || x < n)
        return sign * sp_spherical_down(n, x, -1.0, first, second);
    for (int k = 1; k < n; k++) {
        REAL next = (2.0 * k + 1.0) / x * second - first;
        first = second;
        second = next;
    }
    return sign * second;
}

REAL sp_spherical_yn(INT n, REAL x)
{
    REAL s, c, first, second, sign = 1.0;
    if (isnan(x) || n < 0 || n > 100000)
        return NAN_;
    if (x < 0.0) {
        x = -x;
        sign = n % 2 == 0 ? -1.0 : 1.0;
    }
    if (x == 0.0 || isinf(x))
        return x == 0.0 ? sign * -INF : 0.0;
    s = sin(x);
    c = cos(x);
    first = -c / x;
    second = (first - s) / x;
    if (n == 0)
        return sign * first;
    for (int k = 1; k < n && !isinf(second); k++) {
        REAL next = (2.0 * k + 1.0) / x * second - first;
        first = second;
        second = next;
    }
    return sign * second;
}

REAL sp_spherical_in(INT n, REAL x)
{
    REAL sign = 1.0, first, e;
    if (isnan(x) || n < 0 || n > 100000)
        return NAN_;
    if (x < 0.0) {
        x = -x;
        sign = n % 2 == 0 ? 1.0 : -1.0;
    }
    if (x == 0.0)
        return n == 0 ? 1.0 : 0.0;
    if (isinf(x))
        return sign * INF;
    first = sinh(x) / x;
    if (isinf(first)) {
        e = exp(0.5 * x);
        first = 0.5 * e / x * e;
    }
    if (n == 0 || isinf(first))
        return sign * first;
    return sign * sp_spherical_down(n, x, 1.0, first, 0.0);
}

REAL sp_spherical_kn(INT n, REAL x)
{
    REAL first, second;
    if (isnan(x) || n < 0 || n > 100000 || x < 0.0)
        return NAN_;
    if (x == 0.0 || isinf(x))
        return x == 0.0 ? INF : 0.0;
    first = 1.57079632679489661923 * exp(-x) / x;
    second = first + first / x;
    if (n == 0)
        return first;
    for (int k = 1; k < n && !isinf(second); k++) {
        REAL next = (2.0 * k + 1.0) / x * second + first;
        first = second;
        second = next;
    }
    return second;
}

/* the derivatives, DLMF 10.51.2 */
REAL sp_spherical_jn_d(INT n, REAL x)
{
    if (n == 0)
        return -sp_spherical_jn(1, x);
    if (x == 0.0)
        return n == 1 ? 0.33333333333333333333 : n < 0 ? NAN_ : 0.0;
    return sp_spherical_jn(n - 1, x) - (n + 1.0) * sp_spherical_jn(n, x) / x;
}

REAL sp_spherical_yn_d(INT n, REAL x)
{
    if (n == 0)
        return -sp_spherical_yn(1, x);
    if (x == 0.0)
        return n < 0 ? NAN_ : INF;
    return sp_spherical_yn(n - 1, x) - (n + 1.0) * sp_spherical_yn(n, x) / x;
}

REAL sp_spherical_in_d(INT n, REAL x)
{
    if (n == 0)
        return sp_spherical_in(1, x);
    if (x == 0.0)
        return n == 1 ? 0.33333333333333333333 : n < 0 ? NAN_ : 0.0;
    return sp_spherical_in(n + 1, x) + n * sp_spherical_in(n, x) / x;
}

REAL sp_spherical_kn_d(INT n, REAL x)
{
    if (n == 0)
        return -sp_spherical_kn(1, x);
    return x == 0.0 ? (n < 0 ? NAN_ : -INF)
                    : -sp_spherical_kn(n - 1, x) - (n + 1.0) * sp_spherical_kn(n, x) / x;
}

/* 2/3 x^(3/2) in two parts; x > 0 */
REAL sp_airy_zeta(REAL x, REAL *rest)
{
    REAL root = sqrt(x), product = x * root, zeta = product * 0.66666666666666666667;
    REAL low = fma(x, root, -product) + 0.5 * x * fma(-root, root, x) / root;
    *rest = fma(product, 0.66666666666666666667, -zeta) + low * 0.66666666666666666667;
    if (sizeof(REAL) == 8)
        *rest += 3.7007434154171886e-17 * product;
    else
        *rest -= 1.9868215e-8 * product;
    return zeta;
}

/* c1 f(x) and c2 g(x) of DLMF 9.4, or their derivatives; |x| is small */
void sp_airy_series(REAL x, int slope, REAL *first, REAL *second)
{
    REAL cube = x * x * x, f = slope ? 0.5 * x * x : 1.0, g = slope ? 1.0 : x, p = f, q = g;
    for (int k = 1; k < 40; k++) {
        REAL n = 3.0 * k;
        p *= slope ? cube / (n * (n + 2.0)) : cube / (n * (n - 1.0));
        q *= slope ? cube / (n * (n - 2.0)) : cube / (n * (n + 1.0));
        f += p;
        g += q;
        if (fabs(p) < 0.25 * EPS * fabs(f) && fabs(q) < 0.25 * EPS * fabs(g))
            break;
    }
    *first = 0.35502805388781723926 * f;
    *second = 0.25881940379280679841 * g;
}

/* want: 0 Ai, 1 Ai', 2 Bi, 3 Bi'; scaled: times exp(2/3 x^(3/2)) or its inverse */
REAL sp_airy_any(REAL x, int want, int scaled)
{
    int slope = want % 2, bi = want > 1;
    REAL a = fabs(x), zeta, rest, order = slope ? 0.66666666666666666667 : 0.33333333333333333333;
    REAL value, factor, j, y;
    if (isnan(x) || (x < 0.0 && scaled && !bi))
        return NAN_;
    if (isinf(x)) {
        if (x > 0.0)
            return bi ? (scaled ? (slope ? INF : 0.0) : INF) : (scaled && slope ? -INF : 0.0);
        return slope ? NAN_ : 0.0;
    }
    if (a <= 1.0) {
        REAL f, g;
        sp_airy_series(x, slope, &f, &g);
        value = bi ? 1.73205080756887729353 * (f + g) : f - g;
        if (scaled && x > 0.0) {
            zeta = sp_airy_zeta(x, &rest);
            value *= exp(bi ? -zeta : zeta);
        }
        return value;
    }
    zeta = sp_airy_zeta(a, &rest);
    factor = slope ? a : sqrt(a);
    if (x < 0.0) {
        j = sp_jy(order, zeta, 0);
        y = sp_jy(order, zeta, 1);
        value = j - rest * y;
        y += rest * j;
        j = value;
        if (slope)
            value = bi ? j * 0.57735026918962576451 - y : j + y * 0.57735026918962576451;
        else
            value = bi ? -j * 0.57735026918962576451 - y : j - y * 0.57735026918962576451;
        return 0.5 * factor * value;
    }
    value = sp_ik(order, zeta, 1); /* exp(zeta) K */
    if (!bi) {
        value *= factor * 0.18377629847393068317;
        if (slope)
            value = -value;
        return scaled ? value : value * exp(-zeta) * (1.0 - rest);
    }
    y = 2.0 * sp_ik(order, zeta, 0) + 0.55132889542179204951 * exp(-2.0 * zeta) * value;
    y *= factor * 0.57735026918962576451;
    return scaled ? y : sp_grown(y, zeta) * (1.0 + rest);
}

REAL sp_airy_ai(REAL x)
{
    return sp_airy_any(x, 0, 0);
}

REAL sp_airy_ai_d(REAL x)
{
    return sp_airy_any(x, 1, 0);
}

REAL sp_airy_bi(REAL x)
{
    return sp_airy_any(x, 2, 0);
}

REAL sp_airy_bi_d(REAL x)
{
    return sp_airy_any(x, 3, 0);
}

REAL sp_airye_ai(REAL x)
{
    return sp_airy_any(x, 0, 1);
}

REAL sp_airye_ai_d(REAL x)
{
    return sp_airy_any(x, 1, 1);
}

REAL sp_airye_bi(REAL x)
{
    return sp_airy_any(x, 2, 1);
}

REAL sp_airye_bi_d(REAL x)
{
    return sp_airy_any(x, 3, 1);
}
"""
