"""Bessel and Hankel functions of complex numbers and real orders.

All are made of I and K in the right half plane: for |z| < 2 Temme's series, else his sum beside
Steed's fraction (N. M. Temme, 1975), with the fraction of I's ratio (DLMF 10.33.1) and the
Wronskian 10.28.2; for large z the expansions 10.40.2 and 10.40.5. Continuation: 10.11, 10.27, 10.34.
Airy functions: DLMF 9.2, 9.4 and 9.6.
"""

from __future__ import annotations

TEXT = r"""
/* exp(i pi a) */
CPLX sp_c_turn(REAL a)
{
    return cx_make(sp_cospi(a), sp_sinpi(a));
}

/* The sums of Temme for K of the orders mu and mu + 1; |z| < 2 */
void sp_c_temme_sums(REAL mu, CPLX z, CPLX *first, CPLX *second)
{
    REAL odd = sp_temme_odd(mu), even = sp_temme_even(mu);
    REAL turn = fabs(mu) < 1e-8 ? 1.0 : PI * mu / sin(PI * mu), size = 1.0;
    CPLX ln = cx_neg(cx_log(cx_scale(z, 0.5))), sigma = cx_scale(ln, mu), e = cx_exp(sigma);
    CPLX inverse = cx_exp(cx_neg(sigma)), sinhc = cx_mul(sigma, sigma), f, p, q, c, sum, other;
    CPLX square = cx_scale(cx_mul(z, z), 0.25);
    if (cx_abs(sigma) < 0.01) {
        CPLX inner = cx_scale(sinhc, 0.05);
        inner.re += 1.0;
        sinhc = cx_scale(cx_mul(sinhc, inner), 0.16666666666666666667);
        sinhc.re += 1.0;
    } else {
        sinhc = cx_div(cx_sinh(sigma), sigma);
    }
    f = cx_add(cx_scale(cx_add(e, inverse), 0.5 * odd), cx_scale(cx_mul(sinhc, ln), even));
    sum = f = cx_scale(f, turn);
    other = p = cx_scale(e, 0.5 / (even - mu * odd));
    q = cx_scale(inverse, 0.5 / (even + mu * odd));
    c = cx_make(1.0, 0.0);
    for (int k = 1; k < 500; k++) {
        CPLX term;
        f = cx_add(cx_add(cx_scale(f, (REAL)k), p), q);
        f = cx_scale(f, 1.0 / (k * k - mu * mu));
        c = cx_scale(cx_mul(c, square), 1.0 / k);
        p = cx_scale(p, 1.0 / (k - mu));
        q = cx_scale(q, 1.0 / (k + mu));
        term = cx_mul(c, f);
        sum = cx_add(sum, term);
        other = cx_add(other, cx_mul(c, cx_sub(p, cx_scale(f, (REAL)k))));
        size = cx_abs(term);
        if (size < 0.5 * EPS * cx_abs(sum))
            break;
    }
    *first = sum;
    *second = cx_scale(cx_div(other, z), 2.0);
}

/* exp(z) K of the orders mu and mu + 1; |z| >= 2, Re z >= 0 */
void sp_c_steed_sums(REAL mu, CPLX z, CPLX *first, CPLX *second)
{
    REAL a = mu * mu - 0.25, c = -a;
    CPLX one = cx_make(1.0, 0.0), b = cx_make(2.0 + 2.0 * z.re, 2.0 * z.im), d = cx_div(one, b);
    CPLX h = d, step = d, q = cx_make(c, 0.0), q1 = cx_make(0.0, 0.0), q2 = one, sum, term;
    sum = cx_mul(q, step);
    sum.re += 1.0;
    for (int k = 2; k < 100000; k++) {
        CPLX next;
        a -= 2.0 * (k - 1);
        c = -a * c / k;
        next = cx_scale(cx_sub(q1, cx_mul(b, q2)), 1.0 / a);
        q1 = q2;
        q2 = next;
        q = cx_add(q, cx_scale(next, c));
        b.re += 2.0;
        d = cx_scale(d, a);
        d = cx_div(one, cx_add(b, d));
        term = cx_mul(b, d);
        term.re -= 1.0;
        step = cx_mul(step, term);
        h = cx_add(h, step);
        term = cx_mul(q, step);
        sum = cx_add(sum, term);
        if (cx_abs(term) < 0.25 * EPS * cx_abs(sum))
            break;
    }
    *first = cx_div(cx_sqrt(cx_div(cx_make(1.57079632679489661923, 0.0), z)), sum);
    term = cx_make(mu + z.re + 0.5, z.im);
    term = cx_div(cx_add(term, cx_scale(h, mu * mu - 0.25)), z);
    *second = cx_mul(*first, term);
}

/* I(nu + 1) / I(nu) by Lentz's method */
CPLX sp_c_ratio(REAL nu, CPLX z)
{
    CPLX r = cx_make(SMALLEST * 1e8, 0.0), c = r, d = cx_make(0.0, 0.0), one = cx_make(1.0, 0.0);
    CPLX part = cx_div(cx_make(2.0, 0.0), z);
    for (int k = 1; k < 200000; k++) {
        CPLX b = cx_scale(part, nu + k), change;
        d = cx_add(b, d);
        c = cx_add(b, cx_div(one, c));
        if (d.re == 0.0 && d.im == 0.0)
            d.re = SMALLEST;
        if (c.re == 0.0 && c.im == 0.0)
            c.re = SMALLEST;
        d = cx_div(one, d);
        change = cx_mul(c, d);
        r = cx_mul(r, change);
        change.re -= 1.0;
        if (fabs(change.re) + fabs(change.im) < EPS)
            break;
    }
    return r;
}

/* exp(-z) I and exp(z) K for large z */
void sp_c_ik_far(REAL nu, CPLX z, CPLX *i, CPLX *k)
{
    CPLX plus = cx_make(1.0, 0.0), minus = plus, term = plus, inverse = cx_div(plus, z), root;
    for (int j = 1; j < 100; j++) {
        REAL odd = 2.0 * j - 1.0, before = cx_abs(term), now;
        CPLX next = cx_scale(cx_mul(term, inverse), (4.0 * nu * nu - odd * odd) / (j * 8.0));
        now = cx_abs(next);
        if (now > before && j > nu)
            break;
        term = next;
        plus = cx_add(plus, term);
        minus = j % 2 == 0 ? cx_add(minus, term) : cx_sub(minus, term);
        if (now < 0.25 * EPS)
            break;
    }
    root = cx_sqrt(inverse);
    *k = cx_mul(cx_scale(root, 1.25331413731550025121), plus);
    term = cx_exp(cx_scale(z, -2.0)); /* what K adds, DLMF 10.40.5 */
    term = cx_mul(cx_mul(term, sp_c_turn(z.im < 0.0 ? -nu - 0.5 : nu + 0.5)), plus);
    *i = cx_mul(cx_scale(root, 0.39894228040143267794), cx_add(minus, term));
}

/* exp(-z) I and exp(z) K of order nu >= 0; Re z >= 0, z is not 0 */
void sp_c_ik(REAL nu, CPLX z, CPLX *i, CPLX *k)
{
    int steps = (int)(nu + 0.5);
    REAL mu = nu - steps, size = cx_abs(z), start = 1.0;
    CPLX k0, k1, r, now = cx_make(1.0, 0.0), above, part;
    if (size > 25.0 + 0.5 * nu * nu) {
        sp_c_ik_far(nu, z, i, k);
        return;
    }
    if (!(size <= 1.5e5) || nu > 1e5) {
        *i = *k = sp_c_nan(0.0);
        return;
    }
    if (size < 2.0) {
        CPLX grown = cx_exp(z);
        sp_c_temme_sums(mu, z, &k0, &k1);
        k0 = cx_mul(k0, grown);
        k1 = cx_mul(k1, grown);
    } else {
        sp_c_steed_sums(mu, z, &k0, &k1);
    }
    part = cx_div(cx_make(2.0, 0.0), z);
    above = sp_c_ratio(nu, z);
    for (int j = 0; j < steps; j++) {
        CPLX next = cx_add(cx_mul(cx_scale(part, nu - j), now), above);
        above = now;
        now = next;
        if (cx_abs(now) > HUGE_) {
            now = cx_scale(now, 1.0 / HUGE_);
            above = cx_scale(above, 1.0 / HUGE_);
            start /= HUGE_;
        }
    }
    /* the Wronskian, times I: z (K(mu + 1) I(mu) + K(mu) I(mu + 1)) = 1 */
    r = cx_mul(z, cx_add(cx_mul(k1, now), cx_mul(k0, above)));
    *i = cx_div(cx_make(start, 0.0), r);
    for (int j = 1; j <= steps; j++) {
        CPLX next = cx_add(cx_mul(cx_scale(part, mu + j), k1), k0);
        k0 = k1;
        k1 = next;
        if (j < steps && (!isfinite(k1.re) || !isfinite(k1.im))) {
            k0 = cx_make(INF, NAN_);
            break;
        }
    }
    *k = k0;
}

/* those of z = 0 or where it is not finite; whether this is so */
int sp_c_edge(REAL nu, CPLX z)
{
    return isnan(nu) || isinf(nu) || !isfinite(z.re) || !isfinite(z.im);
}

/* the value of I and J at 0 */
CPLX sp_c_at_zero(REAL nu)
{
    if (nu == 0.0)
        return cx_make(1.0, 0.0);
    return nu > 0.0 || nu == floor(nu) ? cx_make(0.0, 0.0) : cx_make(INF, NAN_);
}

CPLX sp_c_ive(REAL nu, CPLX z)
{
    REAL a = fabs(nu);
    CPLX i, k, w = z.re < 0.0 ? cx_neg(z) : z;
    if (sp_c_edge(nu, z))
        return sp_c_nan(z.re);
    if (z.re == 0.0 && z.im == 0.0)
        return sp_c_at_zero(nu);
    sp_c_ik(a, w, &i, &k);
    i = cx_mul(i, cx_make(cos(w.im), sin(w.im)));
    if (nu < 0.0 && nu != floor(nu)) { /* DLMF 10.27.2 */
        k = cx_mul(k, cx_exp(cx_make(-2.0 * w.re, -w.im)));
        i = cx_add(i, cx_scale(k, 0.63661977236758134308 * sp_sinpi(a)));
    }
    if (z.re < 0.0)
        i = cx_mul(i, sp_c_turn(z.im < 0.0 ? -nu : nu));
    return i;
}

/* value exp(w) where the exponential alone could overflow */
CPLX sp_c_grown(CPLX value, CPLX w)
{
    CPLX root = cx_exp(cx_scale(w, 0.5));
    return fabs(w.re) < MAXLOG - 2.0 ? cx_mul(value, cx_exp(w)) : cx_mul(cx_mul(value, root), root);
}

CPLX sp_c_iv(REAL nu, CPLX z)
{
    return z.im == 0.0 && z.re >= 0.0 && isfinite(z.re)
               ? cx_make(sp_iv(nu, z.re), z.im)
               : sp_c_grown(sp_c_ive(nu, z), cx_make(fabs(z.re), 0.0));
}

CPLX sp_c_kve(REAL nu, CPLX z)
{
    REAL a = fabs(nu), s = z.im < 0.0 ? -1.0 : 1.0;
    CPLX i, k, w = z.re < 0.0 ? cx_neg(z) : z;
    if (sp_c_edge(nu, z))
        return sp_c_nan(z.re);
    if (z.re == 0.0 && z.im == 0.0)
        return cx_make(INF, NAN_);
    sp_c_ik(a, w, &i, &k);
    if (z.re < 0.0) { /* DLMF 10.34.2 */
        k = cx_mul(k, cx_mul(sp_c_turn(-s * a), cx_exp(cx_scale(z, 2.0))));
        k = cx_add(k, cx_make(s * PI * i.im, -s * PI * i.re));
    }
    return k;
}

CPLX sp_c_kv(REAL nu, CPLX z)
{
    return z.im == 0.0 && z.re > 0.0 && isfinite(z.re)
               ? cx_make(sp_kv(nu, z.re), -z.im)
               : sp_c_grown(sp_c_kve(nu, z), cx_neg(z));
}

/* exp(-|Im z|) J, exp(-i z) H1 and exp(i z) H2 of order nu >= 0; Re z >= 0, Im z >= 0 */
void sp_c_jh_first(REAL nu, CPLX z, CPLX *j, CPLX *first, CPLX *second)
{
    CPLX w = cx_make(z.im, -z.re), i, k, part;
    sp_c_ik(nu, w, &i, &k);
    part = cx_mul(sp_c_turn(0.5 * nu), i);
    *j = cx_mul(part, cx_make(cos(z.re), -sin(z.re)));
    *first = cx_scale(cx_mul(sp_c_turn(-0.5 * nu - 0.5), k), 0.63661977236758134308);
    k = cx_mul(*first, cx_exp(cx_scale(w, -2.0)));
    *second = cx_sub(cx_scale(part, 2.0), k);
}

/* those anywhere but at 0 */
void sp_c_jh(REAL nu, CPLX z, CPLX *j, CPLX *first, CPLX *second)
{
    int left = z.re < 0.0, below = z.im < 0.0;
    CPLX w = cx_make(fabs(z.re), fabs(z.im)), a, b;
    sp_c_jh_first(nu, w, j, &a, &b);
    if (left != below) { /* the second and fourth quadrants have those of the conjugate number */
        w = a;
        a = cx_conj(b);
        b = cx_conj(w);
        *j = cx_conj(*j);
    }
    if (left) { /* DLMF 10.11.1 to 10.11.5 */
        REAL s = below ? -1.0 : 1.0;
        CPLX turned = cx_mul(sp_c_turn(-nu), b), other = cx_mul(sp_c_turn(nu), a), far;
        *j = cx_mul(*j, sp_c_turn(s * nu));
        far = cx_exp(cx_make(-2.0 * s * z.im, 2.0 * s * z.re));
        if (below) {
            far = cx_mul(far, a);
            b = cx_neg(other);
            a = cx_add(cx_scale(far, 2.0 * sp_cospi(nu)), turned);
        } else {
            far = cx_mul(far, b);
            a = cx_neg(turned);
            b = cx_add(cx_scale(far, 2.0 * sp_cospi(nu)), other);
        }
    }
    *first = a;
    *second = b;
}

/* exp(-i z) H1 or exp(i z) H2 */
CPLX sp_c_hankel_scaled(REAL nu, CPLX z, int want_second)
{
    CPLX j, first, second;
    if (sp_c_edge(nu, z) || (z.re == 0.0 && z.im == 0.0))
        return sp_c_nan(z.re);
    sp_c_jh(fabs(nu), z, &j, &first, &second);
    if (want_second)
        return nu < 0.0 ? cx_mul(second, sp_c_turn(nu)) : second;
    return nu < 0.0 ? cx_mul(first, sp_c_turn(-nu)) : first;
}

CPLX sp_c_hankel1e(REAL nu, CPLX z)
{
    return sp_c_hankel_scaled(nu, z, 0);
}

CPLX sp_c_hankel2e(REAL nu, CPLX z)
{
    return sp_c_hankel_scaled(nu, z, 1);
}

CPLX sp_c_hankel1(REAL nu, CPLX z)
{
    if (z.im == 0.0 && z.re > 0.0 && isfinite(z.re))
        return cx_make(sp_jv(nu, z.re), sp_yv(nu, z.re));
    return sp_c_grown(sp_c_hankel1e(nu, z), cx_make(-z.im, z.re));
}

CPLX sp_c_hankel2(REAL nu, CPLX z)
{
    if (z.im == 0.0 && z.re > 0.0 && isfinite(z.re))
        return cx_make(sp_jv(nu, z.re), -sp_yv(nu, z.re));
    return sp_c_grown(sp_c_hankel2e(nu, z), cx_make(z.im, -z.re));
}

/* exp(-|Im z|) J and Y */
CPLX sp_c_jy(REAL nu, CPLX z, int want_y)
{
    REAL a = fabs(nu), y = fabs(z.im);
    CPLX j, first, second, value;
    sp_c_jh(a, z, &j, &first, &second);
    if (!want_y && (nu >= 0.0 || nu == floor(nu)))
        return nu < 0.0 && fmod(a, 2.0) != 0.0 ? cx_neg(j) : j;
    first = cx_mul(first, cx_exp(cx_make(-z.im - y, z.re)));
    second = cx_mul(second, cx_exp(cx_make(z.im - y, -z.re)));
    value = cx_sub(first, second); /* 2 i Y */
    value = cx_make(0.5 * value.im, -0.5 * value.re);
    if (nu >= 0.0)
        return value;
    if (want_y)
        return cx_add(cx_scale(j, sp_sinpi(a)), cx_scale(value, sp_cospi(a)));
    return cx_sub(cx_scale(j, sp_cospi(a)), cx_scale(value, sp_sinpi(a)));
}

CPLX sp_c_jve(REAL nu, CPLX z)
{
    if (sp_c_edge(nu, z))
        return sp_c_nan(z.re);
    return z.re == 0.0 && z.im == 0.0 ? sp_c_at_zero(nu) : sp_c_jy(nu, z, 0);
}

CPLX sp_c_yve(REAL nu, CPLX z)
{
    if (sp_c_edge(nu, z))
        return sp_c_nan(z.re);
    return z.re == 0.0 && z.im == 0.0 ? cx_make(-INF, NAN_) : sp_c_jy(nu, z, 1);
}

CPLX sp_c_jv(REAL nu, CPLX z)
{
    return z.im == 0.0 && z.re >= 0.0 && isfinite(z.re)
               ? cx_make(sp_jv(nu, z.re), z.im)
               : sp_c_grown(sp_c_jve(nu, z), cx_make(fabs(z.im), 0.0));
}

CPLX sp_c_yv(REAL nu, CPLX z)
{
    if (z.re == 0.0 && z.im == 0.0 && !isnan(nu))
        return cx_make(sp_yv(nu, 0.0), 0.0);
    return z.im == 0.0 && z.re > 0.0 && isfinite(z.re)
               ? cx_make(sp_yv(nu, z.re), z.im)
               : sp_c_grown(sp_c_yve(nu, z), cx_make(fabs(z.im), 0.0));
}

/* 2/3 z^(3/2) for |arg z| <= 2 pi / 3, whose rounding must not cross the cut of K */
CPLX sp_c_airy_zeta(CPLX z)
{
    CPLX zeta = cx_scale(cx_mul(z, cx_sqrt(z)), 0.66666666666666666667);
    if (z.re < 0.0)
        zeta.im = copysign(zeta.im, z.im);
    return zeta;
}

/* factor exp(power) Ai(z) or Ai'(z) for |arg z| <= 2 pi / 3, DLMF 9.6.2 and 9.6.3 */
CPLX sp_c_airy_part(CPLX z, int slope, CPLX power, CPLX factor)
{
    CPLX zeta = sp_c_airy_zeta(z), k;
    k = sp_c_kve(slope ? 0.66666666666666666667 : 0.33333333333333333333, zeta);
    k = slope ? cx_scale(cx_mul(z, k), -0.18377629847393068317)
              : cx_scale(cx_mul(cx_sqrt(z), k), 0.18377629847393068317);
    return cx_mul(cx_mul(factor, k), cx_exp(cx_sub(power, zeta)));
}

/* the series DLMF 9.4 of small z */
CPLX sp_c_airy_series(CPLX z, int slope, REAL s)
{
    CPLX cube = cx_mul(z, cx_mul(z, z)), one = cx_make(1.0, 0.0), f, g, p, q;
    f = p = cx_scale(slope ? cx_scale(cx_mul(z, z), 0.5) : one, 0.35502805388781723926);
    g = q = cx_scale(slope ? one : z, 0.25881940379280679841 * s);
    for (int k = 1; k < 10; k++) {
        REAL n = 3.0 * k;
        p = cx_scale(cx_mul(p, cube), 1.0 / (n * (slope ? n + 2.0 : n - 1.0)));
        q = cx_scale(cx_mul(q, cube), 1.0 / (n * (slope ? n - 2.0 : n + 1.0)));
        f = cx_add(f, p);
        g = cx_add(g, q);
    }
    return cx_add(f, g);
}

/* want: 0 Ai, 1 Ai', 2 Bi, 3 Bi'; scaled: times exp(zeta), or exp(-|Re zeta|) */
CPLX sp_c_airy_any(CPLX z, int want, int scaled)
{
    int slope = want % 2, bi = want > 1;
    CPLX root = cx_sqrt(z), zeta, power = cx_make(0.0, 0.0), value, one = cx_make(1.0, 0.0), w;
    if (!isfinite(z.re) || !isfinite(z.im))
        return sp_c_nan(z.re);
    if (z.im == 0.0 && !(scaled && z.re < 0.0))
        return cx_make(sp_airy_any(z.re, want, scaled), z.im);
    zeta = cx_scale(cx_mul(z, root), 0.66666666666666666667);
    if (scaled)
        power = bi ? cx_make(-fabs(zeta.re), 0.0) : zeta;
    if (cx_abs(z) <= 1.0) {
        value = sp_c_airy_series(z, slope, bi ? 1.0 : -1.0);
        return cx_mul(cx_scale(value, bi ? 1.73205080756887729353 : 1.0), cx_exp(power));
    }
    if (z.re > -0.5 * cx_abs(z)) {
        REAL side = z.im < 0.0 ? -1.0 : 1.0;
        if (!bi)
            return sp_c_airy_part(z, slope, power, one);
        value = sp_c_airy_part(z, slope, power, cx_make(0.0, side)); /* DLMF 9.2.11 */
        z = cx_mul(z, cx_make(-0.5, side * -0.86602540378443864676));
        one = cx_scale(sp_c_turn(side * (slope ? -0.83333333333333333333 : -0.16666666666666666667)), 2.0);
        return cx_add(value, sp_c_airy_part(z, slope, power, one));
    }
    /* DLMF 9.2.10 and 9.2.12: the numbers turned by a third to either side */
    w = cx_make(-0.5, 0.86602540378443864676);
    one = sp_c_turn(bi ? (slope ? 0.83333333333333333333 : 0.16666666666666666667)
                       : (slope ? 0.33333333333333333333 : -0.33333333333333333333));
    value = sp_c_airy_part(cx_mul(z, w), slope, power, one);
    w = cx_mul(z, cx_conj(w));
    return cx_add(value, sp_c_airy_part(w, slope, power, cx_conj(one)));
}

CPLX sp_c_airy_ai(CPLX z)
{
    return sp_c_airy_any(z, 0, 0);
}

CPLX sp_c_airye_ai(CPLX z)
{
    return sp_c_airy_any(z, 0, 1);
}

CPLX sp_c_airy_ai_d(CPLX z)
{
    return sp_c_airy_any(z, 1, 0);
}

CPLX sp_c_airye_ai_d(CPLX z)
{
    return sp_c_airy_any(z, 1, 1);
}

CPLX sp_c_airy_bi(CPLX z)
{
    return sp_c_airy_any(z, 2, 0);
}

CPLX sp_c_airye_bi(CPLX z)
{
    return sp_c_airy_any(z, 2, 1);
}

CPLX sp_c_airy_bi_d(CPLX z)
{
    return sp_c_airy_any(z, 3, 0);
}

CPLX sp_c_airye_bi_d(CPLX z)
{
    return sp_c_airy_any(z, 3, 1);
}

/* sqrt(pi / (2 z)) of order n + 1/2 */
CPLX sp_c_spherical(INT n, CPLX z, CPLX value)
{
    CPLX root = cx_sqrt(cx_div(cx_make(1.57079632679489661923, 0.0), z));
    return n < 0 ? sp_c_nan(z.re) : cx_mul(root, value);
}

CPLX sp_c_spherical_jn(INT n, CPLX z)
{
    if (z.im == 0.0 || (z.re == 0.0 && z.im == 0.0))
        return cx_make(sp_spherical_jn(n, z.re), z.im);
    return sp_c_spherical(n, z, sp_c_jv(n + 0.5, z));
}

CPLX sp_c_spherical_yn(INT n, CPLX z)
{
    if (z.im == 0.0)
        return z.re == 0.0 ? sp_c_nan(z.re) : cx_make(sp_spherical_yn(n, z.re), z.im);
    return sp_c_spherical(n, z, sp_c_yv(n + 0.5, z));
}

CPLX sp_c_spherical_in(INT n, CPLX z)
{
    if (z.im == 0.0)
        return cx_make(sp_spherical_in(n, z.re), z.im);
    return sp_c_spherical(n, z, sp_c_iv(n + 0.5, z));
}

CPLX sp_c_spherical_kn(INT n, CPLX z)
{
    if (z.im == 0.0 && z.re >= 0.0)
        return z.re == 0.0 ? sp_c_nan(z.re) : cx_make(sp_spherical_kn(n, z.re), z.im);
    return sp_c_spherical(n, z, sp_c_kv(n + 0.5, z));
}

CPLX sp_c_spherical_jn_d(INT n, CPLX z)
{
    CPLX value;
    if (n == 0)
        return cx_neg(sp_c_spherical_jn(1, z));
    if (z.re == 0.0 && z.im == 0.0)
        return cx_make(sp_spherical_jn_d(n, 0.0), 0.0);
    value = cx_div(cx_scale(sp_c_spherical_jn(n, z), n + 1.0), z);
    return cx_sub(sp_c_spherical_jn(n - 1, z), value);
}

CPLX sp_c_spherical_yn_d(INT n, CPLX z)
{
    CPLX value = cx_div(cx_scale(sp_c_spherical_yn(n, z), n + 1.0), z);
    return n == 0 ? cx_neg(sp_c_spherical_yn(1, z)) : cx_sub(sp_c_spherical_yn(n - 1, z), value);
}

CPLX sp_c_spherical_in_d(INT n, CPLX z)
{
    CPLX value;
    if (n == 0)
        return sp_c_spherical_in(1, z);
    if (z.re == 0.0 && z.im == 0.0)
        return cx_make(sp_spherical_in_d(n, 0.0), 0.0);
    value = cx_div(cx_scale(sp_c_spherical_in(n, z), (REAL)n), z);
    return cx_add(sp_c_spherical_in(n + 1, z), value);
}

CPLX sp_c_spherical_kn_d(INT n, CPLX z)
{
    CPLX value = cx_div(cx_scale(sp_c_spherical_kn(n, z), n + 1.0), z);
    if (n == 0)
        return cx_neg(sp_c_spherical_kn(1, z));
    return cx_neg(cx_add(sp_c_spherical_kn(n - 1, z), value));
}
"""
