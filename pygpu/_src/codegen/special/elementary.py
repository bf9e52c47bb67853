"""Functions made of exponentials and logarithms, and the sums that polynomials are."""

from __future__ import annotations

TEXT = r"""
REAL sp_expit(REAL x)
{
    REAL e = exp(-fabs(x));
    return x < 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
}

REAL sp_logit(REAL p)
{
    REAL s = 2.0 * (p - 0.5);
    if (p < 0.3 || p > 0.65)
        return log(p / (1.0 - p));
    return log1p(s) - log1p(-s);
}

REAL sp_log_expit(REAL x)
{
    REAL tail = log1p(exp(-fabs(x)));
    return x < 0.0 ? x - tail : -tail;
}

REAL sp_xlogy(REAL x, REAL y)
{
    return x == 0.0 && !isnan(y) ? 0.0 : x * log(y);
}

REAL sp_xlog1py(REAL x, REAL y)
{
    return x == 0.0 && !isnan(y) ? 0.0 : x * log1p(y);
}

REAL sp_entr(REAL x)
{
    if (isnan(x))
        return x;
    return x > 0.0 ? -x * log(x) : x == 0.0 ? 0.0 : -INF;
}

REAL sp_rel_entr(REAL x, REAL y)
{
    REAL ratio = x / y;
    if (isnan(x) || isnan(y))
        return NAN_;
    if (x <= 0.0 || y <= 0.0)
        return x == 0.0 && y >= 0.0 ? 0.0 : INF;
    if (ratio > 0.5 && ratio < 2.0)
        return x * log1p((x - y) / y);
    if (ratio > SMALLEST && ratio < INF)
        return x * log(ratio);
    return x * (log(x) - log(y));
}

REAL sp_kl_div(REAL x, REAL y)
{
    if (isnan(x) || isnan(y))
        return NAN_;
    if (x > 0.0 && y > 0.0)
        return fabs(y - x) < 0.5 * x ? -x * sp_log1pmx((y - x) / x) : x * log(x / y) - x + y;
    return x == 0.0 && y >= 0.0 ? y : INF;
}

REAL sp_huber(REAL delta, REAL r)
{
    if (delta < 0.0)
        return INF;
    return fabs(r) <= delta ? 0.5 * r * r : delta * (fabs(r) - 0.5 * delta);
}

REAL sp_pseudo_huber(REAL delta, REAL r)
{
    REAL v = r / delta;
    if (delta < 0.0)
        return INF;
    if (delta == 0.0 || r == 0.0)
        return 0.0;
    return delta * delta * expm1(0.5 * log1p(v * v));
}

REAL sp_exprel(REAL x)
{
    if (fabs(x) < EPS)
        return 1.0;
    return x > 717.0 ? INF : expm1(x) / x;
}

/* cos(x) - 1 without the cancellation at 0 */
REAL sp_cosm1(REAL x)
{
    REAL s = sin(0.5 * x);
    return -2.0 * s * s;
}

REAL sp_sinc(REAL x)
{
    return x == 0.0 ? 1.0 : sp_sinpi(x) / (PI * x);
}

/* sin(pi x), cos(pi x), exact at multiples of 1/2 */
REAL sp_sinpi(REAL x)
{
    REAL s = x < 0.0 ? -1.0 : 1.0, r = fmod(fabs(x), 2.0);
    if (r < 0.5)
        return s * sin(PI * r);
    return r > 1.5 ? s * sin(PI * (r - 2.0)) : -s * sin(PI * (r - 1.0));
}

REAL sp_cospi(REAL x)
{
    REAL r = fmod(fabs(x), 2.0);
    if (r == 0.5)
        return 0.0;
    return r < 1.0 ? -sin(PI * (r - 0.5)) : sin(PI * (r - 1.5));
}

REAL sp_boxcox(REAL x, REAL lambda)
{
    REAL s = lambda * log(x);
    if (fabs(lambda) < 1e-19)
        return log(x);
    if (s < MAXLOG)
        return expm1(s) / lambda;
    return copysign(1.0, lambda) * exp(s - log(fabs(lambda))) - 1.0 / lambda;
}

REAL sp_boxcox1p(REAL x, REAL lambda)
{
    REAL s = log1p(x);
    if (fabs(lambda) < 1e-19 || (fabs(s) < SMALLEST && fabs(lambda) < 1.0))
        return s;
    if (lambda * s < MAXLOG)
        return expm1(lambda * s) / lambda;
    return copysign(1.0, lambda) * exp(lambda * s - log(fabs(lambda))) - 1.0 / lambda;
}

REAL sp_inv_boxcox(REAL x, REAL lambda)
{
    if (lambda == 0.0)
        return exp(x);
    return exp(log1p(lambda * x) / lambda);
}

REAL sp_inv_boxcox1p(REAL x, REAL lambda)
{
    if (lambda == 0.0)
        return expm1(x);
    if (fabs(lambda * x) < SMALLEST)
        return x;
    return expm1(log1p(lambda * x) / lambda);
}

REAL sp_exp10(REAL x)
{
    return pow(10.0, x);
}

REAL sp_exp2(REAL x)
{
    return exp2(x);
}

REAL sp_expm1(REAL x)
{
    return expm1(x);
}

REAL sp_log1p(REAL x)
{
    return log1p(x);
}

REAL sp_cbrt(REAL x)
{
    return cbrt(x);
}

REAL sp_round(REAL x)
{
    return rint(x);
}

/* sine and cosine of degrees, exact at multiples of 30 and 45: turned to -45 to 45 first */
REAL sp_sine_of(REAL rest, INT quarter)
{
    REAL r = rest * 1.7453292519943295769e-2, value = quarter & 1 ? cos(r) : sin(r);
    if (fabs(rest) == 30.0 && !(quarter & 1))
        value = copysign(0.5, rest);
    return quarter & 2 ? -value : value;
}

REAL sp_sindg(REAL x)
{
    REAL r = fmod(fabs(x), 360.0), turns = rint(r / 90.0), value;
    if (!(fabs(x) < INF))
        return NAN_;
    value = sp_sine_of(r - 90.0 * turns, (int)turns);
    return x < 0.0 ? -value : value;
}

REAL sp_cosdg(REAL x)
{
    REAL r = fmod(fabs(x), 360.0), turns = rint(r / 90.0);
    if (!(fabs(x) < INF))
        return NAN_;
    return sp_sine_of(r - 90.0 * turns, (int)turns + 1);
}

REAL sp_tandg(REAL x)
{
    REAL r = fmod(fabs(x), 180.0), value;
    if (!(fabs(x) < INF))
        return NAN_;
    if (r == 90.0)
        return INF;
    value = r > 90.0 ? r - 180.0 : r;
    value = fabs(value) == 45.0 ? copysign(1.0, value) : tan(value * 1.7453292519943295769e-2);
    return x < 0.0 ? -value : value;
}

REAL sp_cotdg(REAL x)
{
    REAL r = fmod(fabs(x), 180.0), value;
    if (!(fabs(x) < INF))
        return NAN_;
    if (r == 0.0)
        return INF;
    value = r > 90.0 ? r - 180.0 : r;
    if (fabs(value) < 45.0)
        value = 1.0 / tan(value * 1.7453292519943295769e-2);
    else if (fabs(value) == 45.0)
        value = copysign(1.0, value);
    else
        value = tan((copysign(90.0, value) - value) * 1.7453292519943295769e-2);
    return x < 0.0 ? -value : value;
}

/* degrees, minutes and seconds in radians */
REAL sp_radian(REAL d, REAL m, REAL s)
{
    return ((d * 60.0 + m) * 60.0 + s) * 4.848136811095359935899141e-6;
}

/* log(1 + x) - x */
REAL sp_log1pmx(REAL x)
{
    REAL power = x, sum = 0.0;
    if (fabs(x) >= 0.5)
        return log1p(x) - x;
    for (int n = 2; n < 500; n++) {
        REAL term;
        power *= -x;
        term = power / n;
        sum += term;
        if (fabs(term) < EPS * fabs(sum))
            break;
    }
    return sum;
}

/* Three-term recurrences, AMS 55 22.7; below degree 0 those of DLMF 14.9.5 or NaN. */
REAL sp_eval_legendre(INT n, REAL x)
{
    REAL p = x, d = x - 1.0;
    if (n < 0)
        n = -(n + 1);
    if (n < 2 || isnan(x))
        return n == 0 ? 1.0 : x;
    if (fabs(x) < 0.5) {
        d = 1.0;
        for (int k = 1; k < n; k++) {
            REAL next = ((2.0 * k + 1.0) * x * p - k * d) / (k + 1.0);
            d = p;
            p = next;
        }
        return p;
    }
    for (int k = 1; k < n; k++) {
        d = (2.0 * k + 1.0) / (k + 1.0) * (x - 1.0) * p + (REAL)k / (k + 1.0) * d;
        p += d;
    }
    return p;
}

REAL sp_eval_chebyt(INT n, REAL x)
{
    REAL before = x, now = 1.0;
    if (isnan(x))
        return x;
    if (n < 0)
        n = -n;
    for (int k = 0; k < n; k++) {
        REAL next = 2.0 * x * now - before;
        before = now;
        now = next;
    }
    return now;
}

REAL sp_eval_chebyu(INT n, REAL x)
{
    REAL before = 0.0, now = 1.0;
    REAL s = 1.0;
    if (n == -1 || isnan(x))
        return isnan(x) ? x : 0.0;
    if (n < -1) {
        n = -n - 2;
        s = -1.0;
    }
    for (int k = 0; k < n; k++) {
        REAL next = 2.0 * x * now - before;
        before = now;
        now = next;
    }
    return s * now;
}

REAL sp_eval_hermite(INT n, REAL x)
{
    REAL before = 0.0, now = 1.0;
    if (n < 0 || isnan(x))
        return NAN_;
    for (int k = 0; k < n; k++) {
        REAL next = 2.0 * (x * now - k * before);
        before = now;
        now = next;
    }
    return now;
}

REAL sp_eval_hermitenorm(INT n, REAL x)
{
    REAL before = 0.0, now = 1.0;
    if (n < 0 || isnan(x))
        return NAN_;
    for (int k = 0; k < n; k++) {
        REAL next = x * now - k * before;
        before = now;
        now = next;
    }
    return now;
}

REAL sp_eval_laguerre(INT n, REAL x)
{
    REAL d = -x, p = 1.0 - x;
    if (n < 0 || isnan(x))
        return isnan(x) ? x : 0.0;
    if (n < 2)
        return n == 0 ? 1.0 : p;
    for (int k = 1; k < n; k++) {
        d = -x / (k + 1.0) * p + (REAL)k / (k + 1.0) * d;
        p += d;
    }
    return p;
}

REAL sp_eval_chebyc(INT n, REAL x)
{
    return 2.0 * sp_eval_chebyt(n, 0.5 * x);
}

REAL sp_eval_chebys(INT n, REAL x)
{
    return sp_eval_chebyu(n, 0.5 * x);
}

REAL sp_eval_sh_chebyt(INT n, REAL x)
{
    return sp_eval_chebyt(n, 2.0 * x - 1.0);
}

REAL sp_eval_sh_chebyu(INT n, REAL x)
{
    return sp_eval_chebyu(n, 2.0 * x - 1.0);
}

REAL sp_eval_sh_legendre(INT n, REAL x)
{
    return sp_eval_legendre(n, 2.0 * x - 1.0);
}

/* AMS 55 22.7.3 */
REAL sp_eval_gegenbauer(INT n, REAL a, REAL x)
{
    REAL before = 1.0, now = 2.0 * a * x;
    if (n < 0 || isnan(a) || isnan(x))
        return n < 0 && !isnan(x) && !isnan(a) ? 0.0 : NAN_;
    if (n == 0)
        return 1.0;
    for (int k = 1; k < n; k++) {
        REAL next = (2.0 * (k + a) * x * now - (k + 2.0 * a - 1.0) * before) / (k + 1.0);
        before = now;
        now = next;
    }
    return now;
}

/* AMS 55 22.7.12, as steps of the polynomial */
REAL sp_eval_genlaguerre(INT n, REAL a, REAL x)
{
    REAL d = -x / (a + 1.0), p = d + 1.0;
    if (!(a > -1.0) || isnan(x))
        return NAN_;
    if (n < 1)
        return n < 0 ? 0.0 : 1.0;
    for (int k = 1; k < n; k++) {
        d = -x / (k + a + 1.0) * p + (REAL)k / (k + a + 1.0) * d;
        p += d;
    }
    return sp_binom(n + a, (REAL)n) * p;
}

/* AMS 55 22.7.1, as steps of the polynomial divided by its value at 1 */
REAL sp_eval_jacobi(INT n, REAL a, REAL b, REAL x)
{
    REAL d = (a + b + 2.0) * (x - 1.0) / (2.0 * (a + 1.0)), p = d + 1.0;
    if (n == 0)
        return 1.0;
    if (isnan(a) || isnan(b) || isnan(x))
        return NAN_;
    if (n < 0)
        return 0.0;
    if (n == 1)
        return 0.5 * (2.0 * (a + 1.0) + (a + b + 2.0) * (x - 1.0));
    for (int j = 1; j < n; j++) {
        REAL k = j, t = 2.0 * k + a + b;
        d = (t * (t + 1.0) * (t + 2.0) * (x - 1.0) * p + 2.0 * k * (k + b) * (t + 2.0) * d) /
            (2.0 * (k + a + 1.0) * (k + a + b + 1.0) * t);
        p += d;
    }
    return sp_binom(n + a, (REAL)n) * p;
}

REAL sp_eval_sh_jacobi(INT n, REAL p, REAL q, REAL x)
{
    return sp_eval_jacobi(n, p - q, q - 1.0, 2.0 * x - 1.0) / sp_binom(2.0 * n + p - 1.0, (REAL)n);
}
"""
