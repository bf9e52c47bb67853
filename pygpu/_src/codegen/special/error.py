"""The error function and its relatives.

erf, erfc: the rational approximations of Cephes. Their inverses: AMS 55 26.2.23 and Halley's steps.
dawsn: the series DLMF 7.6.3 near 0, Rybicki's sum (1989), and the asymptotic series DLMF 7.12.
"""

from __future__ import annotations

TEXT = r"""
/* exp(s x^2) for s = 1 or -1; the square is taken in two parts, as its rounding would be seen */
REAL sp_exp_square(REAL x, REAL s)
{
    REAL a = fabs(x), high = rint(a * 16.0) / 16.0, low = (a - high) * (a + high);
    if (s * x * x > MAXLOG)
        return INF;
    if (a > 1e4)
        return 0.0;
    return exp(s * high * high) * exp(s * low);
}

REAL sp_erf_near(REAL x)
{
    REAL z = x * x;
    return x * (POLY(erf_small_p, z) / POLY(erf_small_q, z));
}

/* exp(x^2) erfc(x) for x >= 1 */
REAL sp_erfcx_far(REAL x)
{
    if (x > 60.0) { /* DLMF 7.12.1 */
        REAL z = 0.5 / (x * x);
        if (x > 1e8)
            return 0.56418958354775628695 / x;
        z = 1.0 - z * (1.0 - 3.0 * z * (1.0 - 5.0 * z * (1.0 - 7.0 * z)));
        return 0.56418958354775628695 / x * z;
    }
    if (x < 8.0)
        return POLY(erfc_p, x) / POLY(erfc_q, x);
    return POLY(erfc_far_p, x) / POLY(erfc_far_q, x);
}

REAL sp_erfc(REAL x)
{
    REAL a = fabs(x), tail;
    if (isnan(x))
        return x;
    if (a < 1.0)
        return 1.0 - sp_erf_near(x);
    tail = a > 40.0 ? 0.0 : sp_exp_square(a, -1.0) * sp_erfcx_far(a);
    return x < 0.0 ? 2.0 - tail : tail;
}

REAL sp_erf(REAL x)
{
    if (isnan(x) || fabs(x) < 1.0)
        return sp_erf_near(x);
    return x < 0.0 ? sp_erfc(-x) - 1.0 : 1.0 - sp_erfc(x);
}

REAL sp_erfcx(REAL x)
{
    if (x >= 1.0)
        return sp_erfcx_far(x);
    if (x > -1.0)
        return exp(x * x) * (1.0 - sp_erf_near(x));
    if (isnan(x))
        return x;
    return sp_exp_square(x, 1.0) * sp_erfc(x);
}

/* x > 0 with erfc(x) = y for 0 < y < 0.75 */
REAL sp_erfcinv_tail(REAL y)
{
    REAL t = sqrt(-2.0 * log(0.5 * y)), x;
    x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    x *= 0.70710678118654752440;
    for (int k = 0; k < 2; k++) {
        REAL step = (sp_erfcx_far(x) - y * sp_exp_square(x, 1.0)) * 0.88622692545275801365;
        if (x < 1.0)
            step = (sp_erfc(x) - y) * exp(x * x) * 0.88622692545275801365;
        x += step / (1.0 - x * step);
    }
    return x;
}

/* x with erf(x) = y for |y| <= 0.5; the first terms of DLMF 7.17.2 are the start */
REAL sp_erfinv_near(REAL y)
{
    REAL z = 0.78539816339744830962 * y * y, x;
    x = 0.88622692545275801365 * y *
        (1.0 + z * (0.33333333333333333333 + z * (0.23333333333333333333 +
         z * (0.20158730158730158730 + z * 0.19263668430335097002))));
    if (y == 0.0)
        return y;
    for (int k = 0; k < 2; k++) {
        REAL step = (sp_erf_near(x) - y) * exp(x * x) * 0.88622692545275801365;
        x -= step / (1.0 + x * step);
    }
    return x;
}

REAL sp_erfinv(REAL y)
{
    REAL a = fabs(y), x;
    if (!(a <= 1.0))
        return NAN_;
    if (a <= 0.5)
        return sp_erfinv_near(y);
    x = a == 1.0 ? INF : sp_erfcinv_tail(1.0 - a);
    return y < 0.0 ? -x : x;
}

REAL sp_erfcinv(REAL y)
{
    if (!(y >= 0.0 && y <= 2.0))
        return NAN_;
    if (y >= 0.5 && y <= 1.5)
        return sp_erfinv_near(1.0 - y);
    if (y < 0.5)
        return y == 0.0 ? INF : sp_erfcinv_tail(y);
    return y == 2.0 ? -INF : -sp_erfcinv_tail(2.0 - y);
}

/* 0.5 erfc(x / sqrt(2)) for x >= 1.5, from exp(-x^2 / 2) of x itself */
REAL sp_ndtr_tail(REAL x)
{
    REAL high = rint(x * 16.0) / 16.0, low = (x - high) * (x + high);
    if (x > 1e4)
        return 0.0;
    return 0.5 * exp(-0.5 * high * high) * exp(-0.5 * low) *
           sp_erfcx_far(x * 0.70710678118654752440);
}

REAL sp_ndtr(REAL x)
{
    REAL z = x * 0.70710678118654752440, tail;
    if (isnan(x))
        return x;
    if (fabs(z) < 1.0)
        return 0.5 + 0.5 * sp_erf_near(z);
    tail = fabs(x) < 1.5 ? 0.5 * sp_erfc(fabs(z)) : sp_ndtr_tail(fabs(x));
    return x > 0.0 ? 1.0 - tail : tail;
}

REAL sp_log_ndtr(REAL x)
{
    REAL t = x * 0.70710678118654752440;
    if (x < -1.0)
        return log(0.5 * sp_erfcx(-t)) - 0.5 * x * x;
    return log1p(-(x < 1.5 ? 0.5 * sp_erfc(t) : sp_ndtr_tail(x)));
}

REAL sp_ndtri(REAL p)
{
    if (!(p >= 0.0 && p <= 1.0))
        return NAN_;
    if (p <= 0.5)
        return -1.4142135623730950488 * sp_erfcinv(2.0 * p);
    return 1.4142135623730950488 * sp_erfcinv(2.0 * (1.0 - p));
}

REAL sp_dawsn(REAL x)
{
    REAL a = fabs(x), sum = a, term = a, base, near;
    if (isnan(x))
        return x;
    if (a < 1.0) {
        for (int k = 1; k < 40; k++) {
            term *= -2.0 * a * a / (2.0 * k + 1.0);
            sum += term;
            if (fabs(term) < 0.25 * EPS * sum)
                break;
        }
    } else if (a > 12.0) {
        REAL z = 0.5 / (a * a);
        sum = 0.5 / a;
        term = sum;
        for (int k = 1; k < 30; k++) {
            term *= (2.0 * k - 1.0) * z;
            sum += term;
            if (term < EPS * sum)
                break;
        }
    } else {
        base = 2.0 * rint(a * 2.5);
        near = a - base * 0.2;
        sum = 0.0;
        for (int k = 1; k < 34; k += 2) {
            REAL below = near + 0.2 * k, above = near - 0.2 * k;
            sum += exp(-above * above) / (base + k) + exp(-below * below) / (base - k);
        }
        sum *= 0.56418958354775628695;
    }
    return x < 0.0 ? -sum : sum;
}
"""
