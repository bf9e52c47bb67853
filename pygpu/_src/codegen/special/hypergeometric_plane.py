"""Hypergeometric functions 0F1, 1F1 and 2F1 of complex numbers and real parameters.

The methods are those that J. Pearson, S. Olver and M. Porter compare (Numerical methods for the
computation of the confluent and Gauss hypergeometric functions, 2017). 0F1 and 1F1: the series in
twice the digits, which leaves all of them where its terms cancel, then Bessel functions (DLMF
10.39.9) and the expansion 13.7.2 with both exponentials. 2F1: the series, the transformations
15.8.1, 15.8.4, 15.8.10, and Taylor's series of the differential equation 15.10.1 from point to
point, which reaches exp(i pi / 3) and the parameters for which 15.8.4 divides by nearly 0.

A number in two parts is a CPLX here, whose im is the rest that re has no digits for.
"""

from __future__ import annotations

TEXT = r"""
/* a + b exactly */
CPLX sp_two_sum(REAL a, REAL b)
{
    REAL s = a + b, t = s - a;
    return cx_make(s, (a - (s - t)) + (b - t));
}

CPLX sp_two_add(CPLX a, CPLX b)
{
    CPLX s = sp_two_sum(a.re, b.re);
    return sp_two_sum(s.re, s.im + (a.im + b.im));
}

CPLX sp_two_mul(CPLX a, CPLX b)
{
    REAL p = a.re * b.re;
    return sp_two_sum(p, fma(a.re, b.re, -p) + (a.re * b.im + a.im * b.re));
}

CPLX sp_two_div(CPLX a, CPLX b)
{
    REAL q = a.re / b.re;
    return sp_two_sum(q, (fma(-q, b.re, a.re) + (a.im - q * b.im)) / b.re);
}

/* 1F1 by its series in two parts, 0F1 where upper is 0; a is in two parts. lost is set to the size
 * of the error relative to the sum */
CPLX sp_c_hyp_two(INT upper, CPLX a, REAL b, CPLX z, REAL *lost)
{
    CPLX x = cx_make(z.re, 0.0), y = cx_make(z.im, 0.0), minus = cx_make(-z.im, 0.0), one, re, im;
    CPLX sum_re, sum_im = cx_make(0.0, 0.0), term_re, term_im = sum_im;
    REAL most = 1.0;
    one = term_re = sum_re = cx_make(1.0, 0.0);
    for (int k = 0; k < 10000 && !(upper && a.re + k == 0.0); k++) {
        CPLX ratio = upper ? sp_two_add(a, cx_make((REAL)k, 0.0)) : one;
        REAL size, so_far;
        ratio = sp_two_div(ratio, sp_two_mul(sp_two_sum(b, (REAL)k), cx_make(k + 1.0, 0.0)));
        re = sp_two_add(sp_two_mul(term_re, x), sp_two_mul(term_im, minus));
        im = sp_two_add(sp_two_mul(term_re, y), sp_two_mul(term_im, x));
        term_re = sp_two_mul(re, ratio);
        term_im = sp_two_mul(im, ratio);
        sum_re = sp_two_add(sum_re, term_re);
        sum_im = sp_two_add(sum_im, term_im);
        size = fabs(term_re.re) + fabs(term_im.re);
        so_far = fabs(sum_re.re) + fabs(sum_im.re);
        most = fmax(most, size);
        if (size == 0.0)
            break;
        if (!(size > 0.1 * EPS * so_far) && k > -b && (!upper || k > -a.re))
            break;
    }
    *lost = most * EPS * EPS * 16.0 / (fabs(sum_re.re) + fabs(sum_im.re));
    if (!isfinite(sum_re.re) || !isfinite(sum_im.re) || isnan(*lost))
        *lost = INF;
    return cx_make(sum_re.re, sum_im.re);
}

CPLX sp_c_hyp0f1(REAL b, CPLX z)
{
    CPLX value, root, power;
    REAL lost;
    if (isnan(b) || isinf(b) || !isfinite(z.re) || !isfinite(z.im) || sp_is_pole(b))
        return sp_c_nan(z.re);
    if (z.im == 0.0) {
        lost = sp_hyp0f1(b, z.re);
        if (!isnan(lost))
            return cx_make(lost, z.im);
    }
    if (cx_abs(z) < 300.0 + 16.0 * fabs(b)) {
        value = sp_c_hyp_two(0, cx_make(0.0, 0.0), b, z, &lost);
        if (lost < EPS)
            return value;
    }
    if (fabs(b) > 1e5)
        return sp_c_nan(z.re);
    root = cx_sqrt(z);
    value = sp_c_ive(b - 1.0, cx_scale(root, 2.0));
    power = cx_pow(root, cx_make(1.0 - b, 0.0));
    lost = cx_abs(power);
    if (fabs(b) < 150.0 && 2.0 * root.re < MAXLOG - 10.0 && lost > 0.0 && isfinite(lost))
        return cx_scale(cx_mul(power, value), sp_gamma(b) * exp(2.0 * root.re));
    power = cx_scale(cx_log(root), 1.0 - b);
    power.re += 2.0 * root.re + sp_gammaln(b);
    return cx_scale(cx_mul(cx_exp(power), value), sp_gammasgn(b));
}

/* the sum of (p)_k (q)_k / k! w^k up to its smallest term, whose size is left */
CPLX sp_c_hyp2f0(REAL p, REAL q, CPLX w, REAL *left)
{
    CPLX sum = cx_make(1.0, 0.0), term = sum, next;
    REAL size = 1.0, most = 1.0, now;
    for (int k = 0; k < 500; k++) {
        next = cx_scale(cx_mul(term, w), (p + k) * ((q + k) / (k + 1.0)));
        now = cx_abs(next);
        if (now > size && k > -p && k > -q)
            break;
        term = next;
        size = now;
        most = fmax(most, size);
        sum = cx_add(sum, term);
        if (size <= 0.25 * EPS * cx_abs(sum) && k > -p && k > -q)
            break;
    }
    *left = fmax(size, most * EPS);
    return sum;
}

/* gamma(b) / gamma(a) exp(z) u^p, where u is z or -z */
CPLX sp_c_hyp1f1_factor(REAL a, REAL b, CPLX z, CPLX u, REAL p)
{
    CPLX power = cx_log(u), value;
    REAL size;
    if (sp_is_pole(a))
        return cx_make(0.0, 0.0);
    power = cx_scale(power, p);
    size = power.re + z.re;
    if (fabs(a) < 150.0 && fabs(b) < 150.0 && fabs(power.re) < 0.5 * MAXLOG &&
        fabs(z.re) < 0.9 * MAXLOG && fabs(size) < 0.5 * MAXLOG) {
        value = cx_mul(cx_exp(z), cx_exp(power));
        return cx_scale(value, sp_gamma(b) * sp_rgamma(a));
    }
    value = cx_exp(cx_make(size + sp_gammaln(b) - sp_gammaln(a), power.im));
    value = cx_mul(value, cx_make(cos(z.im), sin(z.im)));
    return cx_scale(value, sp_gammasgn(a) * sp_gammasgn(b));
}

/* DLMF 13.7.2 */
CPLX sp_c_hyp1f1_far(REAL a, REAL b, CPLX z, REAL *lost)
{
    CPLX w = cx_div(cx_make(1.0, 0.0), z), zero = cx_make(0.0, 0.0), first, second, one, two;
    REAL one_left = 0.0, two_left = 0.0;
    first = sp_c_hyp1f1_factor(a, b, z, z, a - b);
    second = sp_c_hyp1f1_factor(b - a, b, zero, cx_neg(z), -a);
    one = sp_c_hyp2f0(1.0 - a, b - a, w, &one_left);
    two = sp_c_hyp2f0(a, a - b + 1.0, cx_neg(w), &two_left);
    one = cx_abs(first) == 0.0 ? zero : cx_mul(first, one);
    two = cx_abs(second) == 0.0 ? zero : cx_mul(second, two);
    w = cx_add(one, two);
    *lost = (cx_abs(first) * one_left + cx_abs(second) * two_left) / cx_abs(w);
    if (isnan(*lost))
        *lost = INF;
    return w;
}

/* a = -n: DLMF 13.3.1 */
CPLX sp_c_hyp1f1_polynomial(INT n, REAL b, CPLX z)
{
    CPLX above = cx_make(1.0, 0.0), now = cx_make(1.0 - z.re / b, -z.im / b), next;
    for (int k = 1; k < n; k++) {
        next = cx_mul(cx_make(b + 2.0 * k - z.re, -z.im), now);
        next = cx_scale(cx_sub(next, cx_scale(above, (REAL)k)), 1.0 / (b + k));
        above = now;
        now = next;
    }
    return now;
}

CPLX sp_c_hyp1f1(REAL a, REAL b, CPLX z)
{
    CPLX near, far = cx_make(0.0, 0.0);
    REAL near_lost = INF, far_lost = INF;
    if (isnan(a) || isnan(b) || isinf(a) || isinf(b) || !isfinite(z.re) || !isfinite(z.im))
        return sp_c_nan(z.re);
    if (sp_is_pole(b) && !(sp_is_pole(a) && a >= b))
        return cx_make(INF, 0.0);
    if (a == 0.0 || (z.re == 0.0 && z.im == 0.0))
        return cx_make(1.0, 0.0);
    if (z.im == 0.0) {
        near_lost = sp_hyp1f1(a, b, z.re);
        if (!isnan(near_lost))
            return cx_make(near_lost, z.im);
        near_lost = INF;
    }
    if (a == b && !sp_is_pole(a))
        return cx_exp(z);
    if (cx_abs(z) > 20.0 && !sp_is_pole(a)) {
        far = sp_c_hyp1f1_far(a, b, z, &far_lost);
        if (far_lost < 8.0 * EPS)
            return far;
    }
    if (z.re < 0.0 && !sp_is_pole(a)) { /* DLMF 13.2.39 */
        near = sp_c_hyp_two(1, sp_two_sum(b, -a), b, cx_neg(z), &near_lost);
        near = cx_mul(near, cx_exp(z));
    } else {
        near = sp_c_hyp_two(1, cx_make(a, 0.0), b, z, &near_lost);
    }
    if (sp_is_pole(a) && a > -10000.0 && !(near_lost < 8.0 * EPS))
        return sp_c_hyp1f1_polynomial((int)-a, b, z);
    if (far_lost < near_lost) {
        near = far;
        near_lost = far_lost;
    }
    return near_lost < 1e-6 ? near : sp_c_nan(z.re);
}

/* the series for |z| < 1, and how much it loses to cancellation */
CPLX sp_c_hyp2f1_series(REAL a, REAL b, REAL c, CPLX z, REAL *lost)
{
    CPLX sum = cx_make(1.0, 0.0), term = sum;
    REAL most = 1.0, size;
    for (int k = 0; k < 5000 && a + k != 0.0 && b + k != 0.0; k++) {
        term = cx_scale(cx_mul(term, z), (a + k) / (c + k) * ((b + k) / (k + 1.0)));
        sum = cx_add(sum, term);
        size = fabs(term.re) + fabs(term.im);
        most = fmax(most, size);
        if (!(size > 0.1 * EPS * (fabs(sum.re) + fabs(sum.im))) && k > -a && k > -b && k > -c)
            break;
    }
    *lost = 4.0 * EPS * most / cx_abs(sum);
    if (isnan(*lost))
        *lost = INF;
    return sum;
}

/* (1 - z)^p, on the side of the cut that the sign of zero says */
CPLX sp_c_hyp2f1_power(CPLX z, REAL p)
{
    return cx_exp(cx_scale(sp_c_log1p(cx_neg(z)), p));
}

/* DLMF 15.8.1: 0 the series of z, 1 and 2 those of z / (z - 1), 3 the other one of z */
CPLX sp_c_hyp2f1_form(INT form, REAL a, REAL b, REAL c, CPLX z, REAL *lost)
{
    CPLX power;
    if (form == 0)
        return sp_c_hyp2f1_series(a, b, c, z, lost);
    power = sp_c_hyp2f1_power(z, form == 1 ? -a : form == 2 ? -b : c - a - b);
    if (form == 3)
        return cx_mul(power, sp_c_hyp2f1_series(c - a, c - b, c, z, lost));
    z = cx_div(z, cx_make(z.re - 1.0, z.im));
    if (form == 1)
        return cx_mul(power, sp_c_hyp2f1_series(a, c - b, c, z, lost));
    return cx_mul(power, sp_c_hyp2f1_series(c - a, b, c, z, lost));
}

/* z or z / (z - 1) is in the circle: the form that converges best, or others where it cancels */
CPLX sp_c_hyp2f1_disc(REAL a, REAL b, REAL c, CPLX z, REAL *lost)
{
    REAL size = cx_abs(z), other = size / cx_abs(cx_make(z.re - 1.0, z.im)), next_lost = INF;
    int first = size <= other || size < 0.1 ? 0 : fabs(a) <= fabs(b) ? 1 : 2;
    CPLX value = sp_c_hyp2f1_form(first, a, b, c, z, lost), next;
    for (int form = 0; form < 4 && *lost > 64.0 * EPS; form++) {
        if (form == first || (form % 3 == 0 ? size : other) > 0.9)
            continue;
        next = sp_c_hyp2f1_form(form, a, b, c, z, &next_lost);
        if (next_lost < *lost) {
            value = next;
            *lost = next_lost;
        }
    }
    return value;
}

/* a = -n: DLMF 15.5.11 */
CPLX sp_c_hyp2f1_polynomial(INT n, REAL b, REAL c, CPLX z)
{
    CPLX above = cx_make(1.0, 0.0), now = cx_make(1.0 - b * z.re / c, -b * z.im / c), next;
    if (n == 0)
        return above;
    for (int k = 1; k < n; k++) {
        next = cx_mul(cx_make(c + 2.0 * k - (b + k) * z.re, -(b + k) * z.im), now);
        above = cx_scale(cx_mul(cx_make(z.re - 1.0, z.im), above), (REAL)k);
        above = cx_scale(cx_add(next, above), 1.0 / (c + k));
        next = now;
        now = above;
        above = next;
    }
    return now;
}

/* a = -n: the series, or the recurrence where that is stable */
CPLX sp_c_hyp2f1_finite(REAL a, REAL b, REAL c, CPLX z, REAL *lost)
{
    CPLX value = sp_c_hyp2f1_series(a, b, c, z, lost);
    if (*lost < 64.0 * EPS || a < -100000.0)
        return value;
    if (b > 0.0 && c > 0.0) {
        *lost = 256.0 * EPS;
        return sp_c_hyp2f1_polynomial((int)-a, b, c, z);
    }
    return value;
}

/* y = 1 - z, |y| < 1 and c - a - b = m >= 0: DLMF 15.8.10 */
CPLX sp_c_hyp2f1_whole(REAL a, REAL b, INT m, CPLX y, REAL *lost)
{
    CPLX finite = cx_make(0.0, 0.0), sum = finite, term = cx_make(1.0, 0.0), ln = cx_log(y), part;
    REAL c = a + b + m, most = 0.0, scale = sp_gammas(c, 1.0, a, b) * sp_rgamma(m + 1.0);
    for (int k = 0; k < m; k++) {
        finite = cx_add(finite, term);
        if (k < m - 1)
            term = cx_scale(cx_mul(term, y), (a + k) / (k + 1.0) * ((b + k) / (k + 1.0 - m)));
    }
    if (m > 0)
        finite = cx_scale(finite, sp_gammas(c, (REAL)m, a + m, b + m));
    term = cx_make(1.0, 0.0);
    for (int k = 0; k < 500; k++) {
        part = ln;
        part.re += sp_digamma(a + k + m) - sp_digamma(k + 1.0);
        part.re += sp_digamma(b + k + m) - sp_digamma(k + m + 1.0);
        part = cx_mul(term, part);
        sum = cx_add(sum, part);
        most = fmax(most, cx_abs(part));
        term = cx_scale(cx_mul(term, y), (a + m + k) / (k + 1.0) * ((b + m + k) / (k + m + 1.0)));
        if (cx_abs(part) < 0.1 * EPS * cx_abs(sum))
            break;
    }
    for (int k = 0; k < m; k++) {
        sum = cx_neg(cx_mul(sum, y));
        most *= cx_abs(y);
    }
    most = most * fabs(scale) + cx_abs(finite);
    sum = cx_sub(finite, cx_scale(sum, scale));
    *lost = EPS * most / cx_abs(sum);
    return sum;
}

/* gamma(p) gamma(q) / (gamma(r) gamma(s)) */
REAL sp_gammas(REAL p, REAL q, REAL r, REAL s)
{
    REAL most = fmax(fmax(fabs(p), fabs(q)), fmax(fabs(r), fabs(s))), sign;
    if (sp_is_pole(r) || sp_is_pole(s))
        return 0.0;
    if (most < 80.0)
        return sp_gamma(p) * sp_rgamma(r) * (sp_gamma(q) * sp_rgamma(s));
    sign = sp_gammasgn(p) * sp_gammasgn(q) * sp_gammasgn(r) * sp_gammasgn(s);
    return sign * exp((sp_gammaln(p) - sp_gammaln(r)) + (sp_gammaln(q) - sp_gammaln(s)));
}

/* y = 1 - z: DLMF 15.8.4 */
CPLX sp_c_hyp2f1_unit(REAL a, REAL b, REAL c, CPLX y, REAL *lost)
{
    REAL s = c - a - b, first = sp_gammas(c, s, c - a, c - b), second = sp_gammas(c, -s, a, b);
    REAL error = 0.0;
    CPLX sum = cx_make(0.0, 0.0), value;
    *lost = 0.0;
    if (first != 0.0) {
        sum = cx_scale(sp_c_hyp2f1_disc(a, b, 1.0 - s, y, &error), first);
        *lost = (error + EPS) * cx_abs(sum);
    }
    if (second != 0.0) {
        value = sp_c_hyp2f1_disc(c - a, c - b, 1.0 + s, y, &error);
        value = cx_mul(cx_exp(cx_scale(cx_log(y), s)), cx_scale(value, second));
        *lost += (error + EPS) * cx_abs(value);
        sum = cx_add(sum, value);
    }
    *lost /= cx_abs(sum);
    return sum;
}

/* Taylor's series of a solution of DLMF 15.10.1, from z = 1 - one to z + h; value and
 * slope are moved, and the largest term returned */
REAL sp_c_hyp2f1_move(REAL a, REAL b, REAL c, CPLX one, CPLX h, CPLX *value, CPLX *slope)
{
    /* t_k = f_k h^k: q (k + 2) (k + 1) t_k+2 = -(k + 1) p h t_k+1 + (a + k) (b + k) h^2 t_k */
    CPLX z = cx_make(1.0 - one.re, -one.im), q = cx_mul(z, one), twice, now, next, sum, rise, after;
    CPLX ratio = cx_div(h, q), square = cx_mul(ratio, h);
    REAL size, most = 0.0;
    twice = cx_make(1.0 - 2.0 * z.re, -2.0 * z.im);
    now = *value;
    next = cx_mul(*slope, h);
    sum = cx_add(now, next);
    rise = next;
    for (int k = 0; k < 500; k++) {
        CPLX p = cx_scale(twice, (REAL)k);
        p = cx_add(p, cx_make(c - (a + b + 1.0) * z.re, -(a + b + 1.0) * z.im));
        after = cx_scale(cx_mul(square, now), (a + k) * (b + k) / (k + 1.0));
        after = cx_sub(after, cx_mul(cx_mul(ratio, p), next));
        after = cx_scale(after, 1.0 / (k + 2.0));
        now = next;
        next = after;
        sum = cx_add(sum, next);
        rise = cx_add(rise, cx_scale(next, k + 2.0));
        size = (cx_abs(next) + cx_abs(now)) * (k + 2.0);
        most = fmax(most, size);
        if (!(size > 0.1 * EPS * fmin(cx_abs(sum), cx_abs(rise))) && k > -a && k > -b)
            break;
    }
    *value = sum;
    *slope = cx_div(rise, h);
    return most;
}

/* along a straight line from inside the circle of the series to 1 - y, together with a solution
 * that has the size of the errors */
CPLX sp_c_hyp2f1_walk(REAL a, REAL b, REAL c, CPLX y, REAL *lost)
{
    REAL turn = fmax(atan2(fabs(y.im), 1.0 - y.re), 1.0471975511965977462), left, radius;
    REAL most, part = 0.55 / (1.0 + 0.05 * (fabs(a) + fabs(b) + fabs(c)));
    CPLX at = cx_make(0.5 * cos(turn), copysign(0.5 * sin(turn), -y.im)), h, from;
    CPLX value, slope, error, error_slope;
    from = cx_make(1.0 - at.re, -at.im); /* 1 - at, with all digits near 1 */
    value = sp_c_hyp2f1_disc(a, b, c, at, &left);
    error = cx_scale(value, left);
    slope = cx_scale(sp_c_hyp2f1_disc(a + 1.0, b + 1.0, c + 1.0, at, &left), a * b / c);
    error_slope = cx_scale(slope, -left);
    for (int k = 0; k < 2000; k++) {
        h = cx_sub(from, y);
        left = cx_abs(h);
        at = cx_make(1.0 - from.re, -from.im);
        radius = part * fmin(cx_abs(at), cx_abs(from));
        if (left > radius)
            h = cx_scale(h, radius / left);
        if (left != 0.0) {
            most = EPS * sp_c_hyp2f1_move(a, b, c, from, h, &value, &slope);
            sp_c_hyp2f1_move(a, b, c, from, h, &error, &error_slope);
            error = cx_add(error, cx_scale(value, 2.0 * EPS + most / cx_abs(value)));
            error_slope = cx_sub(error_slope, cx_scale(slope, 2.0 * EPS));
            error_slope = cx_sub(error_slope, cx_scale(cx_div(slope, h), most / cx_abs(slope)));
        }
        if (left <= radius)
            break;
        from = cx_sub(from, h);
    }
    *lost = cx_abs(error) / cx_abs(value);
    return value;
}

/* near 1 - y = 1, by the method that c - a - b allows */
CPLX sp_c_hyp2f1_near(REAL a, REAL b, REAL c, CPLX y, REAL *lost)
{
    REAL s = c - a - b, m = floor(s + 0.5), rest = fabs(s - m), size = cx_abs(y), other;
    REAL walk_lost = INF;
    CPLX value = cx_make(NAN_, NAN_), walk;
    other = size / cx_abs(cx_make(1.0 - y.re, -y.im));
    *lost = INF;
    if (rest > 0.0 && fmin(size, other) <= 0.8) {
        value = sp_c_hyp2f1_unit(a, b, c, y, lost);
        *lost *= 1.0 + 0.1 * (fabs(a) + fabs(b) + fabs(c)) / rest; /* of gamma(s) near its pole */
    } else if (rest == 0.0 && size <= 0.8 && m >= 0.0 && m < 1000.0) {
        value = sp_c_hyp2f1_whole(a, b, (int)m, y, lost);
    } else if (rest == 0.0 && size <= 0.8 && m < 0.0 && m > -1000.0) {
        value = sp_c_hyp2f1_whole(c - a, c - b, (int)-m, y, lost);
        value = cx_mul(cx_exp(cx_scale(cx_log(y), s)), value);
    }
    if (*lost < 64.0 * EPS)
        return value;
    walk = sp_c_hyp2f1_walk(a, b, c, y, &walk_lost);
    if (*lost < walk_lost)
        return value;
    *lost = walk_lost;
    return walk;
}

/* beyond the circles of z and z / (z - 1) */
CPLX sp_c_hyp2f1_outside(REAL a, REAL b, REAL c, CPLX z, REAL *lost)
{
    CPLX y = cx_make(1.0 - z.re, -z.im), power;
    REAL size = cx_abs(z), other = cx_abs(y), swapped = a;
    if (other * fmax(size, other) * fmin(1.0, 1.0 / size) <= 1.0)
        return sp_c_hyp2f1_near(a, b, c, y, lost);
    if (fabs(b) < fabs(a)) { /* DLMF 15.8.1: 1 - z / (z - 1) is small */
        a = b;
        b = swapped;
    }
    power = sp_c_hyp2f1_power(z, -a);
    return cx_mul(power, sp_c_hyp2f1_near(a, c - b, c, cx_div(cx_make(1.0, 0.0), y), lost));
}

CPLX sp_c_hyp2f1(REAL a, REAL b, REAL c, CPLX z)
{
    CPLX value = cx_make(NAN_, NAN_), outside;
    REAL lost = INF, outside_lost = INF;
    if (isnan(a) || isnan(b) || isnan(c) || isinf(a) || isinf(b) || isinf(c) || !isfinite(z.re) ||
        !isfinite(z.im))
        return sp_c_nan(z.re);
    if (z.im == 0.0 && z.re <= 1.0)
        return cx_make(sp_hyp2f1(a, b, c, z.re), z.im);
    if (sp_is_pole(b) && (!sp_is_pole(a) || a < b)) {
        REAL other = a;
        a = b;
        b = other;
    }
    if (sp_is_pole(c) && !(sp_is_pole(a) && a >= c))
        return cx_make(INF, 0.0);
    if (a == 0.0 || b == 0.0)
        return cx_make(1.0, 0.0);
    if (sp_is_pole(c - a) && !sp_is_pole(a) && (!sp_is_pole(c - b) || b > a)) {
        REAL other = a;
        a = b;
        b = other;
    }
    if (sp_is_pole(a)) {
        value = sp_c_hyp2f1_finite(a, b, c, z, &lost);
    } else if (sp_is_pole(c - b)) { /* DLMF 15.8.1 */
        value = sp_c_hyp2f1_finite(c - b, c - a, c, z, &lost);
        value = cx_mul(sp_c_hyp2f1_power(z, c - a - b), value);
    } else if (cx_abs(z) < 0.8 * fmax(1.0, cx_abs(cx_make(z.re - 1.0, z.im)))) {
        value = sp_c_hyp2f1_disc(a, b, c, z, &lost);
    }
    if (!(lost < 1e4 * EPS)) {
        outside = sp_c_hyp2f1_outside(a, b, c, z, &outside_lost);
        if (outside_lost < lost) {
            value = outside;
            lost = outside_lost;
        }
    }
    return lost < 1e-6 ? value : sp_c_nan(z.re);
}
"""
