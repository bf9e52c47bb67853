"""Exponential, trigonometric, hyperbolic and Fresnel integrals, complete elliptic integrals, the
dilogarithm.

expn: the series DLMF 8.19.8 and the continued fraction DLMF 8.19.17. expi: DLMF 6.6.2 and 6.12.2.
The others: the approximations of Cephes.
"""

from __future__ import annotations

TEXT = r"""
REAL sp_expn(INT n, REAL x)
{
    REAL sum, psi, power = 1.0;
    if (isnan(x) || n < 0 || x < 0.0)
        return NAN_;
    if (x > 745.0)
        return 0.0;
    if (x == 0.0)
        return n < 2 ? INF : 1.0 / (n - 1.0);
    if (n == 0)
        return exp(-x) / x;
    if (x > 0.5 || n > 20) { /* the even part of the fraction, from its end */
        REAL t = 0.0;
        for (int k = 20 + (int)(80.0 / fmax(x, 0.5)); k > 0; k--)
            t = k * (n + (k - 1.0)) / (x + n + 2.0 * k - t);
        return exp(-x) / (x + n - t);
    }
    psi = -0.57721566490153286061 - log(x);
    sum = n == 1 ? 0.0 : 1.0 / (n - 1.0);
    for (int k = 1; k < n; k++)
        psi += 1.0 / k;
    for (int k = 1; k < 200; k++) {
        REAL term;
        power *= -x / k;
        if (k == n - 1) {
            sum += power * psi;
            continue;
        }
        term = power / (k - (n - 1.0));
        sum -= term;
        if (k >= n && fabs(term) < 0.25 * EPS * fabs(sum))
            break;
    }
    return n == 1 ? sum + psi : sum;
}

REAL sp_exp1(REAL x)
{
    return x < 0.0 ? NAN_ : sp_expn(1, x);
}

REAL sp_expi(REAL x)
{
    REAL sum = 1.0, term = 1.0;
    if (isnan(x) || x == 0.0)
        return isnan(x) ? x : -INF;
    if (x < 0.0)
        return -sp_expn(1, -x);
    if (x == INF)
        return x;
    if (x <= 40.0) {
        for (int k = 1; k < 200; k++) {
            term *= x * k / ((k + 1.0) * (k + 1.0));
            sum += term;
            if (term < 0.5 * EPS * sum)
                break;
        }
        return 0.57721566490153286061 + log(x) + x * sum;
    }
    for (int k = 1; k < 50; k++) {
        if (k > x)
            break;
        term *= k / x;
        sum += term;
        if (term < 0.5 * EPS * sum)
            break;
    }
    return x < MAXLOG ? exp(x) / x * sum : exp(0.5 * x) / x * sum * exp(0.5 * x);
}

REAL sp_ellipk_core(REAL p)
{
    if (p > EPS)
        return POLY(ellipk_p, p) - log(p) * POLY(ellipk_q, p);
    return 1.38629436111989061883 - 0.5 * log(p);
}

REAL sp_ellipkm1(REAL p)
{
    if (!(p >= 0.0))
        return NAN_;
    if (p > 1.0)
        return isinf(p) ? 0.0 : sp_ellipk_core(1.0 / p) / sqrt(p);
    return p == 0.0 ? INF : sp_ellipk_core(p);
}

REAL sp_ellipk(REAL m)
{
    return sp_ellipkm1(1.0 - m);
}

REAL sp_ellipe_core(REAL p)
{
    return POLY(ellipe_p, p) - log(p) * (p * POLY(ellipe_q, p));
}

REAL sp_ellipe(REAL m)
{
    REAL p = 1.0 - m;
    if (!(p > 0.0))
        return p == 0.0 ? 1.0 : NAN_;
    if (isinf(p))
        return INF;
    return p > 1.0 ? sp_ellipe_core(1.0 / p) * sqrt(p) : sp_ellipe_core(p);
}

REAL sp_spence(REAL x)
{
    REAL w, y, z = x;
    if (!(x >= 0.0))
        return NAN_;
    if (x == 0.0 || x == 1.0)
        return x == 0.0 ? 1.64493406684822643647 : 0.0;
    if (isinf(x))
        return -INF;
    if (x > 2.0)
        z = 1.0 / x;
    w = z > 1.5 ? 1.0 / z - 1.0 : z < 0.5 ? -z : z - 1.0;
    y = -w * (POLY(spence_p, w) / POLY(spence_q, w));
    if (z < 0.5)
        y = 1.64493406684822643647 - log(z) * log(1.0 - z) - y;
    if (x > 1.5) {
        z = log(x);
        y = -0.5 * z * z - y;
    }
    return y;
}

/* 0: S, 1: C */
REAL sp_fresnel_either(REAL x, int want_c)
{
    REAL a = fabs(x), square = a * a, value, s, c, f = 1.0, g, t, u;
    if (isinf(x))
        return x < 0.0 ? -0.5 : 0.5;
    if (square < 2.5625) {
        t = square * square;
        if (want_c)
            return x * (POLY(fresnel_cn, t) / POLY(fresnel_cd, t));
        return x * square * (POLY(fresnel_sn, t) / POLY(fresnel_sd, t));
    }
    t = PI * square;
    u = 1.0 / (t * t);
    g = 0.0;
    if (a < 36974.0) {
        f = 1.0 - u * (POLY(fresnel_fn, u) / POLY(fresnel_fd, u));
        g = POLY(fresnel_gn, u) / POLY(fresnel_gd, u) / t;
    }
    c = sp_cospi(0.5 * square);
    s = sp_sinpi(0.5 * square);
    t = 0.5 * PI * fma(a, a, -square); /* what the square lost turns the angle */
    u = c - t * s;
    s += t * c;
    c = u;
    value = want_c ? 0.5 + (f * s - g * c) / (PI * a) : 0.5 - (f * c + g * s) / (PI * a);
    return x < 0.0 ? -value : value;
}

REAL sp_fresnel_s(REAL x)
{
    return sp_fresnel_either(x, 0);
}

REAL sp_fresnel_c(REAL x)
{
    return sp_fresnel_either(x, 1);
}

REAL sp_sici_f(REAL x, REAL z)
{
    if (x < 8.0)
        return POLY(sici_f4_p, z) / (x * POLY(sici_f4_q, z));
    return POLY(sici_f8_p, z) / (x * POLY(sici_f8_q, z));
}

REAL sp_sici_g(REAL z)
{
    if (z > 0.015625)
        return z * (POLY(sici_g4_p, z) / POLY(sici_g4_q, z));
    return z * (POLY(sici_g8_p, z) / POLY(sici_g8_q, z));
}

REAL sp_si(REAL x)
{
    REAL a = fabs(x), z = a * a, value;
    if (isinf(x))
        return x < 0.0 ? -1.57079632679489661923 : 1.57079632679489661923;
    if (a <= 4.0)
        return x * (POLY(si_p, z) / POLY(si_q, z));
    z = 1.0 / z;
    value = 1.57079632679489661923 - sp_sici_f(a, z) * cos(a) - sp_sici_g(z) * sin(a);
    return x < 0.0 ? -value : value;
}

REAL sp_ci(REAL x)
{
    REAL a = fabs(x), z = a * a;
    if (isinf(x))
        return x < 0.0 ? NAN_ : 0.0;
    if (a <= 4.0)
        return 0.57721566490153286061 + log(a) + z * (POLY(ci_p, z) / POLY(ci_q, z));
    z = 1.0 / z;
    return sp_sici_f(a, z) * sin(a) - sp_sici_g(z) * cos(a);
}

/* 0: Shi, 1: Chi without its logarithm */
REAL sp_shichi_either(REAL x, int want_chi)
{
    REAL a = fabs(x), term = 1.0, shi = 1.0, chi = 0.0, scale, z;
    if (a < 8.0) {
        for (int k = 2; k < 100; k += 2) {
            term *= a * a / k;
            chi += term / k;
            term /= k + 1.0;
            shi += term / (k + 1.0);
            if (term < EPS * shi)
                break;
        }
        return want_chi ? chi : x * shi;
    }
    if (a > 88.0) { /* (Ei(x) -+ E1(x)) / 2, of which the first is left */
        z = 0.5 * sp_expi(a);
        return !want_chi && x < 0.0 ? -z : z;
    }
    scale = exp(a) / a;
    if (a < 18.0) {
        z = (576.0 / a - 52.0) / 10.0;
        z = want_chi ? CHEB(chi_8, z) : CHEB(shi_8, z);
    } else {
        z = (6336.0 / a - 212.0) / 70.0;
        z = want_chi ? CHEB(chi_18, z) : CHEB(shi_18, z);
    }
    z *= scale;
    return !want_chi && x < 0.0 ? -z : z;
}

REAL sp_shi(REAL x)
{
    return isnan(x) || isinf(x) ? x : sp_shichi_either(x, 0);
}

REAL sp_chi(REAL x)
{
    REAL a = fabs(x);
    if (isnan(x) || isinf(x))
        return isnan(x) ? x : INF;
    if (a == 0.0)
        return -INF;
    if (a > 88.0)
        return sp_shichi_either(x, 1);
    return 0.57721566490153286061 + log(a) + sp_shichi_either(x, 1);
}
"""
