"""Hypergeometric functions 0F1, 1F1 and 2F1 of real numbers.

0F1: its series, Bessel functions (DLMF 10.39.9 and 10.16.9). 1F1: the series and the expansion 13.7.1,
Kummer's transformation 13.2.39 for negative numbers, the recurrence 13.3.1 for parameters below 0.
2F1: the series, the transformations 15.8.1, 15.8.4 and 15.8.10, the recurrence 15.5.11 for polynomials.
"""

from __future__ import annotations

TEXT = r"""
int sp_is_pole(REAL x)
{
    return x <= 0.0 && x == floor(x);
}

REAL sp_hyp0f1(REAL b, REAL x)
{
    REAL sum = 1.0, term = 1.0, root, order = fabs(b - 1.0), scale, value;
    if (isnan(b) || isnan(x) || sp_is_pole(b))
        return NAN_;
    if (isinf(x))
        return x > 0.0 ? INF : NAN_;
    if ((x >= 0.0 && b > 0.0 && x < 1e5) || fabs(x) < 0.5 * (1.0 + fabs(b))) {
        for (int k = 0; k < 2000; k++) {
            term *= x / ((b + k) * (k + 1.0));
            sum += term;
            if (fabs(term) < 0.25 * EPS * fabs(sum) && k > -b)
                break;
        }
        return sum;
    }
    root = sqrt(fabs(x));
    scale = sp_gammasgn(b) * exp(sp_gammaln(b) + (1.0 - b) * log(root));
    if (fabs(b) < 30.0)
        scale = sp_gamma(b) * pow(root, 1.0 - b);
    value = x < 0.0 ? sp_jv(b - 1.0, 2.0 * root) : sp_iv(b - 1.0, 2.0 * root);
    return order > 1e5 ? NAN_ : scale * value;
}

/* exp(-x) 1F1 for large x, NaN where the expansion does not reach all digits */
REAL sp_hyp1f1_far(REAL a, REAL b, REAL x)
{
    REAL sum = 1.0, term = 1.0, most = 1.0;
    for (int k = 0; k < 300; k++) {
        REAL next = term * ((b - a + k) / x) * ((1.0 - a + k) / (k + 1.0));
        if (fabs(next) > fabs(term) && k > 2 && k > a && k > a - b)
            break;
        term = next;
        sum += term;
        most = fmax(most, fabs(term));
        if (most > 16.0 * fabs(sum) && k > a)
            break;
        if (fabs(term) < 0.25 * EPS * fabs(sum) && k > a && k > a - b) {
            if (fabs(b) < 150.0 && fabs(a) < 150.0 && fabs((a - b) * log(x)) < 500.0)
                return sp_gamma(b) * sp_rgamma(a) * pow(x, a - b) * sum;
            return sp_gammasgn(b) * sp_gammasgn(a) * sum *
                   exp(sp_gammaln(b) - sp_gammaln(a) + (a - b) * log(x));
        }
    }
    return NAN_;
}

/* exp(-x) 1F1 by its series, in two parts, of which cancellation leaves one; NaN if it does not */
REAL sp_hyp1f1_near(REAL a, REAL b, REAL x)
{
    REAL sum = 1.0, low = 0.0, term = 1.0, rest = 0.0, most = 1.0;
    for (int k = 0; k < 20000; k++) {
        REAL n = a + k, d = b + k, n_low = (a - (n - (n - a))) + (k - (n - a));
        REAL d_low = (b - (d - (d - b))) + (k - (d - b)), p, p_low, q, q_low, s, t;
        /* p = n x, q = d (k + 1), t = term p / q, all in two parts */
        p = n * x;
        p_low = fma(n, x, -p) + n_low * x;
        q = d * (k + 1.0);
        q_low = fma(d, k + 1.0, -q) + d_low * (k + 1.0);
        s = p / q;
        t = (fma(-s, q, p) + p_low - s * q_low) / q;
        p = term * s;
        rest = fma(term, s, -p) + term * t + rest * s;
        term = p + rest;
        rest = (p - term) + rest;
        s = sum + term;
        t = s - sum;
        low += (sum - (s - t)) + (term - t) + rest;
        sum = s;
        most = fmax(most, fabs(term));
        if (fabs(term) < 0.1 * EPS * fabs(sum + low) && k > -a && k > -b)
            break;
    }
    if (isinf(sum) || isinf(most))
        return isinf(most) && a < 0.0 ? NAN_ : sum;
    return most * EPS > fabs(sum + low) ? NAN_ : (sum + low) * exp(-x);
}

/* exp(-x) 1F1 for x > 0 */
REAL sp_hyp1f1_scaled(REAL a, REAL b, REAL x)
{
    REAL now, above;
    int steps;
    if (x > 40.0) {
        now = sp_hyp1f1_far(a, b, x);
        if (!isnan(now) || x > MAXLOG - 10.0)
            return now;
    }
    now = sp_hyp1f1_near(a, b, x);
    steps = (int)ceil(fmin(-a, 20000.0) - 200.0 / x);
    if (!isnan(now) || steps < 2)
        return now;
    a += steps;
    if (steps > 10000 || x > 30.0 - 4.0 * a + 1.5 * fabs(b))
        return NAN_; /* the recurrence would lose all digits */
    now = sp_hyp1f1_near(a, b, x);
    above = sp_hyp1f1_near(a + 1.0, b, x);
    for (int k = 0; k < steps; k++) {
        REAL at = a - k, next;
        next = ((b - 2.0 * at - x) * now + at * above) / (b - at);
        above = now;
        now = next;
    }
    return now;
}

REAL sp_hyp1f1(REAL a, REAL b, REAL x)
{
    REAL now = 1.0, above, next;
    if (isnan(a) || isnan(b) || isnan(x) || isinf(a) || isinf(b))
        return NAN_;
    if (sp_is_pole(b) && !(sp_is_pole(a) && a >= b))
        return INF;
    if (x == 0.0 || a == 0.0)
        return 1.0;
    if (a == b && !sp_is_pole(a))
        return exp(x);
    if (sp_is_pole(a) && a >= -10000.0) {
        above = 1.0;
        now = 1.0 - x / b;
        for (int k = 1; k < -a; k++) {
            next = ((b + 2.0 * k - x) * now - k * above) / (b + k);
            above = now;
            now = next;
        }
        return now;
    }
    if (isinf(x))
        return x > 0.0 ? sp_gammasgn(a) * sp_gammasgn(b) * INF : NAN_;
    if (x < 0.0)
        return sp_hyp1f1_scaled(b - a, b, -x);
    next = sp_hyp1f1_scaled(a, b, x);
    return isinf(next) ? next : sp_grown(next, x);
}

/* the series for |x| < 1 */
REAL sp_hyp2f1_series(REAL a, REAL b, REAL c, REAL x)
{
    REAL sum = 1.0, term = 1.0;
    for (int k = 0; k < 20000; k++) {
        term *= (a + k) / (c + k) * ((b + k) / (k + 1.0) * x);
        sum += term;
        if (fabs(term) < 0.1 * EPS * fabs(sum) && k > -a && k > -b && k > -c)
            break;
    }
    return sum;
}

/* a = -n */
REAL sp_hyp2f1_polynomial(INT n, REAL b, REAL c, REAL x)
{
    REAL above = 1.0, now = 1.0 - b * x / c;
    if (n == 0)
        return 1.0;
    for (int k = 1; k < n; k++) {
        REAL next = ((c + 2.0 * k - (b + k) * x) * now + k * (x - 1.0) * above) / (c + k);
        above = now;
        now = next;
    }
    return now;
}

/* y = 1 - x is small, and c - a - b = m >= 0 */
REAL sp_hyp2f1_whole(REAL a, REAL b, INT m, REAL y)
{
    REAL finite = 0.0, sum = 0.0, term = 1.0, ln = log(y), c = a + b + m, power = 1.0;
    for (int k = 0; k < m; k++) {
        finite += term;
        if (k < m - 1)
            term *= (a + k) * (b + k) / ((k + 1.0) * (m - 1.0 - k)) * -y;
    }
    if (m > 0)
        finite *= sp_gamma((REAL)m) * sp_rgamma(a + m) * sp_rgamma(b + m);
    term = sp_rgamma(m + 1.0);
    for (int k = 0; k < 500; k++) {
        REAL part = ln - sp_digamma(k + 1.0) - sp_digamma(k + m + 1.0) + sp_digamma(a + k + m) +
                    sp_digamma(b + k + m);
        sum += term * part;
        term *= (a + m + k) / (k + 1.0) * ((b + m + k) / (k + m + 1.0)) * y;
        if (fabs(term * part) < 0.1 * EPS * fabs(sum))
            break;
    }
    for (int k = 0; k < m; k++)
        power *= -y;
    return sp_gamma(c) * (finite - power * sp_rgamma(a) * sp_rgamma(b) * sum);
}

/* 0 <= x < 1, y = 1 - x */
REAL sp_hyp2f1_unit(REAL a, REAL b, REAL c, REAL x, REAL y)
{
    REAL s = c - a - b, m = floor(s + 0.5), far = fabs(s - m), first, second;
    if (x <= 0.9 || (far < 0.05 && far > 0.0 && x <= 0.995))
        return s < 0.0 && a > 0.0 && b > 0.0 && (c - a < 0.0 || c - b < 0.0)
                   ? sp_hyp2f1_series(a, b, c, x)
                   : s < 0.0 && x > 0.5 ? pow(y, s) * sp_hyp2f1_series(c - a, c - b, c, x)
                                        : sp_hyp2f1_series(a, b, c, x);
    if (fabs(m) < 1000.0 && far == 0.0)
        return m < 0.0 ? pow(y, s) * sp_hyp2f1_whole(c - a, c - b, (int)-m, y)
                       : sp_hyp2f1_whole(a, b, (int)m, y);
    first = sp_gamma(s) * sp_rgamma(c - a) * sp_rgamma(c - b);
    second = sp_gamma(-s) * sp_rgamma(a) * sp_rgamma(b) * pow(y, s);
    if (first != 0.0)
        first *= sp_hyp2f1_series(a, b, 1.0 - s, y);
    if (second != 0.0)
        second *= sp_hyp2f1_series(c - a, c - b, 1.0 + s, y);
    return sp_gamma(c) * (first + second);
}

REAL sp_hyp2f1(REAL a, REAL b, REAL c, REAL x)
{
    REAL s = c - a - b;
    if (isnan(a) || isnan(b) || isnan(c) || isnan(x) || isinf(a) || isinf(b) || isinf(c))
        return NAN_;
    if (sp_is_pole(b) && (!sp_is_pole(a) || a < b)) {
        REAL other = a;
        a = b;
        b = other;
    }
    if (x == 0.0)
        return 1.0;
    if (sp_is_pole(c) && !(sp_is_pole(a) && a >= c))
        return INF;
    if (a == 0.0 || b == 0.0)
        return 1.0;
    if (sp_is_pole(a) && a > -100000.0 && !isinf(x))
        return sp_hyp2f1_polynomial((int)-a, b, c, x);
    if (x == 1.0)
        return s > 0.0 ? sp_gamma(c) * sp_gamma(s) * sp_rgamma(c - a) * sp_rgamma(c - b) : INF;
    if (x > 1.0 || isinf(x))
        return x > 1.0 ? INF : NAN_;
    if (c == a || c == b)
        return pow(1.0 - x, c == a ? -b : -a);
    if (x > 0.0)
        return sp_hyp2f1_unit(a, b, c, x, 1.0 - x);
    if (fabs(b) < fabs(a)) { /* the smaller power of 1 - x, DLMF 15.8.1 */
        REAL other = a;
        a = b;
        b = other;
    }
    if (sp_is_pole(c - b) && c - b > -100000.0)
        return pow(1.0 - x, -a) * sp_hyp2f1_polynomial((int)(b - c), a, c, x / (x - 1.0));
    return pow(1.0 - x, -a) * sp_hyp2f1_unit(a, c - b, c, x / (x - 1.0), 1.0 / (1.0 - x));
}
"""
