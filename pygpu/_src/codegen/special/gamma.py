"""The gamma function, its logarithm and derivatives, Riemann's and Hurwitz's zeta functions.

gamma and gammaln follow Cephes: a rational function between 2 and 3 and the recurrence, Stirling's
series, reflection. digamma: Boost's rational function between 1 and 2, the asymptotic series. zeta:
the Euler-Maclaurin sum, DLMF 25.11.28.
"""

from __future__ import annotations

TEXT = r"""
REAL sp_stirling(REAL x)
{
    REAL w = 1.0 / x, middle;
    if (x >= 171.624376956302725)
        return INF;
    w = 1.0 + w * POLY(gamma_stirling, w);
    middle = pow(x, 0.5 * x - 0.25); /* its square could overflow */
    return 2.50662827463100050242 * w * middle * (middle / exp(x));
}

REAL sp_gamma(REAL x)
{
    REAL z = 1.0, a = fabs(x);
    if (!isfinite(x))
        return x > 0.0 ? x : NAN_;
    if (x == 0.0)
        return copysign(INF, x);
    if (x < 0.0 && x == floor(x))
        return NAN_;
    if (a > 33.0) {
        REAL integer_part = floor(a);
        if (x > 0.0)
            return sp_stirling(x);
        z = fabs(a * sp_sinpi(a - integer_part));
        z = PI / (z * sp_stirling(a));
        return fmod(integer_part, 2.0) == 0.0 ? -z : z;
    }
    while (x >= 3.0) {
        x -= 1.0;
        z *= x;
    }
    while (x < 2.0) {
        if (fabs(x) < 1e-9)
            return z / ((1.0 + 0.57721566490153286061 * x) * x);
        z /= x;
        x += 1.0;
    }
    x -= 2.0;
    return z * POLY(gamma_p, x) / POLY(gamma_q, x);
}

REAL sp_rgamma(REAL x)
{
    if (x <= 0.0 && x == floor(x))
        return x == -INF ? NAN_ : 0.0;
    if (fabs(x) < 170.0)
        return 1.0 / sp_gamma(x);
    return sp_gammasgn(x) * exp(-sp_gammaln(x));
}

REAL sp_gammasgn(REAL x)
{
    if (isnan(x) || x > 0.0)
        return isnan(x) ? x : 1.0;
    if (x == 0.0)
        return copysign(1.0, x);
    if (x == floor(x))
        return NAN_;
    return fmod(floor(x), 2.0) != 0.0 ? -1.0 : 1.0;
}

/* log(gamma(1 + t)) for |t| < 0.4 and beyond */
REAL sp_gammaln1p(REAL t)
{
    return t * POLY(lgamma_at_1, t);
}

REAL sp_gammaln_right(REAL x)
{
    REAL z = 1.0, w;
    if (fabs(x - 1.0) < 0.3)
        return sp_gammaln1p(x - 1.0);
    if (x < 13.0) {
        REAL u = x;
        while (u >= 3.0) {
            u -= 1.0;
            z *= u;
        }
        while (u < 2.0) {
            z /= u;
            u += 1.0;
        }
        u -= 2.0;
        w = u * POLY(lgamma_p, u) / POLY(lgamma_q, u);
        return z == 1.0 ? w : log(fabs(z)) + w;
    }
    if (x > BIGGEST / 750.0)
        return INF;
    w = (x - 0.5) * log(x) - x + 0.91893853320467274178;
    if (x > 1e8)
        return w;
    z = 1.0 / (x * x);
    return w + POLY(lgamma_far, z) / x;
}

REAL sp_gammaln(REAL x)
{
    REAL a = -x, integer_part, z;
    if (!isfinite(x))
        return x;
    if (x <= 0.0 && x == floor(x))
        return INF;
    if (x > -34.0)
        return sp_gammaln_right(x);
    integer_part = floor(a);
    z = a - integer_part;
    if (z > 0.5)
        z = 1.0 - z;
    z = a * sp_sinpi(z);
    return 1.14472988584940017414 - log(z) - sp_gammaln_right(a);
}

REAL sp_loggamma(REAL x)
{
    return x < 0.0 || x == -INF ? NAN_ : sp_gammaln(x);
}

REAL sp_digamma(REAL x)
{
    REAL y = 0.0, z;
    if (isnan(x) || x == INF)
        return x;
    if (x == 0.0)
        return copysign(INF, -x);
    if (fabs(x + 0.504083008264455409) < 0.3) { /* Taylor's series about the root, DLMF 5.15.1 */
        REAL power = -1.0, d = x + 0.504083008264455409;
        y = 7.2897639029768949e-17;
        for (int n = 1; n < 100; n++) {
            power *= -d;
            z = power * sp_hurwitz(n + 1.0, -0.504083008264455409);
            y += z;
            if (fabs(z) < EPS * fabs(y))
                break;
        }
        return y;
    }
    if (x < 0.0) {
        z = x - (x < 0.0 ? ceil(x) : floor(x));
        if (z == 0.0 || x == -INF)
            return NAN_;
        y = -PI / tan(PI * z);
        x = 1.0 - x;
    }
    if (x < 1.0) {
        y -= 1.0 / x;
        x += 1.0;
    }
    if (x < 10.0) {
        while (x > 2.0) {
            x -= 1.0;
            y += 1.0 / x;
        }
        z = x - 1569415565.0 / 1073741824.0;
        z -= 381566830.0 / 1073741824.0 / 1073741824.0;
        z -= 9.016312093258695918e-20;
        x -= 1.0;
        return y + z * 0.99558162689208984 + z * (POLY(psi_p, x) / POLY(psi_q, x));
    }
    z = x < 1e17 ? 1.0 / (x * x) : 0.0;
    return y + (log(x) - 0.5 / x - z * POLY(psi_far, z));
}

/* The sum of (q + k)^-x over k >= 0 for x > 1 */
REAL sp_hurwitz(REAL x, REAL q)
{
    REAL a = q, b = 0.0, sum, factor = 1.0, w;
    int k = 0;
    if (q > 1e8)
        return (1.0 / (x - 1.0) + 1.0 / (2.0 * q)) * pow(q, 1.0 - x);
    sum = pow(q, -x);
    while (k < 9 || a <= 9.0) {
        k++;
        a += 1.0;
        b = pow(a, -x);
        sum += b;
        if (fabs(b) < EPS * fabs(sum))
            return sum;
    }
    w = a;
    sum += b * w / (x - 1.0) - 0.5 * b;
    for (k = 0; k < 12; k++) {
        REAL term;
        factor *= x + 2 * k;
        b /= w;
        term = factor * b / TABLE(zeta_terms)[k];
        sum += term;
        if (fabs(term) < EPS * fabs(sum))
            break;
        factor *= x + 2 * k + 1;
        b /= w;
    }
    return sum;
}

REAL sp_zeta(REAL x, REAL q)
{
    if (isnan(x) || isnan(q))
        return NAN_;
    if (q == 1.0)
        return sp_riemann(x);
    if (x == 1.0)
        return INF;
    if (x < 1.0)
        return NAN_;
    if (q <= 0.0) {
        if (q == floor(q))
            return INF;
        if (x != floor(x) || q < -1e6)
            return NAN_;
    }
    return sp_hurwitz(x, q);
}

/* DLMF 25.4.1 left of 0 */
REAL sp_riemann(REAL x)
{
    REAL s = 1.0 - x, middle = 0.5 * x, size;
    if (isnan(x) || x == INF)
        return isnan(x) ? x : 1.0;
    if (x == -INF)
        return NAN_;
    if (x == 1.0)
        return INF;
    if (fabs(x) < 0.01)
        return 1.0 + POLY(zeta_at_0, x);
    if (x > 0.0)
        return x > 1.0 ? sp_hurwitz(x, 1.0) : 1.0 + POLY(zeta_p, x) / (s * POLY(zeta_q, x));
    if (middle == floor(middle))
        return 0.0;
    size = s < 170.0 ? sp_gamma(s) * pow(6.28318530717958647693, -s)
                     : exp(sp_gammaln(s) - s * 1.83787706640934548356);
    return 2.0 * sp_sinpi(middle) * size * sp_hurwitz(s, 1.0);
}

REAL sp_polygamma(INT n, REAL x)
{
    REAL value;
    if (n < 0)
        return NAN_;
    if (n == 0)
        return sp_digamma(x);
    value = sp_gamma(n + 1.0) * sp_zeta(n + 1.0, x);
    return n % 2 == 0 ? -value : value;
}

REAL sp_lanczos(REAL x)
{
    REAL y = x;
    if (x <= 1.0)
        return POLY(lanczos_p, y) / POLY(lanczos_q, y);
    y = 1.0 / x; /* the same, from the other end, as powers of x could overflow */
    return REVERSED(lanczos_p, y) / REVERSED(lanczos_q, y);
}
"""
