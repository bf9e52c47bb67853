"""Functions of complex numbers, whose type is CPLX and whose arithmetic is cx_<name> of the prelude.

wofz: the Taylor series, the Laplace fraction, and between them Gautschi's expansion (G. P. M. Poppe,
C. M. J. Wijers, Algorithm 680, 1990); erf and its relatives are made of it. loggamma: Stirling's
series and the recurrence, with the branch counted (D. E. G. Hare, 1997). lambertw: Halley's steps
(R. Corless, G. Gonnet, D. Hare, D. Jeffrey, D. Knuth, 1996).
"""

from __future__ import annotations

TEXT = r"""
CPLX sp_c_nan(REAL x)
{
    return cx_make(NAN_, NAN_ + 0.0 * x);
}

/* a + b z */
CPLX sp_c_step(REAL a, CPLX b, CPLX z)
{
    CPLX product = cx_mul(b, z);
    return cx_make(a + product.re, product.im);
}

/* w(z) of Im z >= 0 */
CPLX sp_c_w_upper(REAL x, REAL y)
{
    REAL a = fabs(x), xq = a / 6.3, yq = y / 4.4, rho = xq * xq + yq * yq, re, im;
    if (isnan(x) || isnan(y))
        return sp_c_nan(x);
    if (isinf(a) || isinf(y))
        return cx_make(0.0, 0.0);
    if (rho < 0.085264) {
        CPLX square = cx_make((a - y) * (a + y), 2.0 * a * y), sum = cx_make(0.0, 0.0), e, inner;
        int n = (int)(6.5 + 72.0 * (1.0 - 0.85 * yq) * sqrt(rho)), j = 2 * n + 1;
        sum.re = 1.0 / j;
        for (int i = n; i > 0; i--) {
            j -= 2;
            sum = cx_scale(cx_mul(sum, square), 1.0 / i);
            sum.re += 1.0 / j;
        }
        inner = cx_scale(cx_mul(sum, cx_make(-y, a)), 1.1283791670955125739);
        inner.re += 1.0;
        e = cx_exp(cx_neg(square));
        e = cx_mul(inner, e);
        re = e.re;
        im = e.im;
    } else {
        REAL h = 0.0, power = 0.0, rx = 0.0, ry = 0.0, sx = 0.0, sy = 0.0;
        int terms = 0, n;
        if (rho > 1.0) {
            n = (int)(3.0 + 1442.0 / (26.0 * sqrt(rho) + 77.0));
        } else {
            rho = (1.0 - yq) * sqrt(1.0 - rho);
            h = 1.88 * rho;
            terms = (int)(7.5 + 34.0 * rho);
            n = (int)(16.5 + 26.0 * rho);
            power = h > 0.0 ? pow(2.0 * h, (REAL)terms) : 0.0;
        }
        for (; n >= 0; n--) {
            REAL tx = y + h + (n + 1) * rx, ty = a - (n + 1) * ry;
            if (rho > 1.0 && tx < 1e-150 && ty > 1e150) { /* whose square would overflow */
                rx = 0.0;
                ry = 0.5 / ty;
            } else {
                REAL c = 0.5 / (tx * tx + ty * ty);
                rx = c * tx;
                ry = c * ty;
            }
            if (h > 0.0 && n <= terms) {
                REAL s = power + sx;
                sx = rx * s - ry * sy;
                sy = ry * s + rx * sy;
                power /= 2.0 * h;
            }
        }
        re = 1.1283791670955125739 * (h > 0.0 ? sx : rx);
        im = 1.1283791670955125739 * (h > 0.0 ? sy : ry);
    }
    if (y == 0.0)
        re = exp(-a * a);
    return cx_make(re, x < 0.0 ? -im : im);
}

CPLX sp_c_wofz(CPLX z)
{
    CPLX upper, e;
    if (z.im >= 0.0 || isnan(z.im))
        return sp_c_w_upper(z.re, z.im);
    upper = sp_c_w_upper(-z.re, -z.im);
    e = cx_exp(cx_make((z.im - z.re) * (z.im + z.re), -2.0 * z.re * z.im));
    return cx_sub(cx_scale(e, 2.0), upper);
}

CPLX sp_c_erfcx(CPLX z)
{
    if (z.im == 0.0)
        return cx_make(sp_erfcx(z.re), -z.im);
    return sp_c_wofz(cx_make(-z.im, z.re));
}

/* exp(-z^2) */
CPLX sp_c_gauss(CPLX z)
{
    return cx_exp(cx_make((z.im - z.re) * (z.im + z.re), -2.0 * z.re * z.im));
}

/* erf(z) / (2 z / sqrt(pi)) near 0 */
CPLX sp_c_erf_near(CPLX z)
{
    CPLX square = cx_mul(z, z), term = cx_make(1.0, 0.0), sum = cx_make(1.0, 0.0);
    for (int k = 1; k < 24; k++) {
        term = cx_scale(cx_mul(term, square), -1.0 / k);
        sum = cx_add(sum, cx_scale(term, 1.0 / (2 * k + 1)));
    }
    return sum;
}

CPLX sp_c_erfc(CPLX z)
{
    CPLX value;
    if (z.im == 0.0)
        return cx_make(sp_erfc(z.re), -z.im);
    if (z.re < 0.0) {
        value = sp_c_erfc_right(cx_neg(z));
        return cx_make(2.0 - value.re, -value.im);
    }
    return sp_c_erfc_right(z);
}

CPLX sp_c_erfc_right(CPLX z)
{
    return cx_mul(sp_c_gauss(z), sp_c_w_upper(-z.im, z.re));
}

CPLX sp_c_erf(CPLX z)
{
    CPLX value;
    if (z.im == 0.0)
        return cx_make(sp_erf(z.re), z.im);
    if (z.re * z.re + z.im * z.im < 1.0)
        return cx_scale(cx_mul(z, sp_c_erf_near(z)), 1.1283791670955125739);
    if (z.re == 0.0)
        return cx_make(z.re, sp_erfi(z.im));
    value = sp_c_erfc_right(z.re < 0.0 ? cx_neg(z) : z);
    return z.re < 0.0 ? cx_make(value.re - 1.0, value.im) : cx_make(1.0 - value.re, -value.im);
}

CPLX sp_c_erfi(CPLX z)
{
    CPLX value = sp_c_erf(cx_make(-z.im, z.re));
    return cx_make(value.im, -value.re);
}

CPLX sp_c_dawsn(CPLX z)
{
    CPLX value, i;
    REAL s = z.im < 0.0 ? -1.0 : 1.0;
    if (z.im == 0.0)
        return cx_make(sp_dawsn(z.re), z.im);
    if (z.re * z.re + z.im * z.im < 1.0) {
        i = cx_make(-z.im, z.re);
        return cx_mul(sp_c_gauss(z), cx_mul(z, sp_c_erf_near(i)));
    }
    z = cx_scale(z, s);
    value = cx_sub(sp_c_gauss(z), sp_c_w_upper(z.re, z.im));
    return cx_scale(cx_make(-value.im, value.re), s * 0.88622692545275801365);
}

CPLX sp_c_ndtr(CPLX z)
{
    return cx_scale(sp_c_erfc(cx_scale(z, -0.70710678118654752440)), 0.5);
}

CPLX sp_c_loggamma_stirling(CPLX z)
{
    CPLX r = cx_div(cx_make(1.0, 0.0), z), square = cx_div(r, z), sum, log_z = cx_log(z);
    sum = cx_make(-2.955065359477124183e-2, 0.0);
    sum = sp_c_step(6.4102564102564102564e-3, sum, square);
    sum = sp_c_step(-1.9175269175269175269e-3, sum, square);
    sum = sp_c_step(8.4175084175084175084e-4, sum, square);
    sum = sp_c_step(-5.952380952380952381e-4, sum, square);
    sum = sp_c_step(7.9365079365079365079e-4, sum, square);
    sum = sp_c_step(-2.7777777777777777778e-3, sum, square);
    sum = sp_c_step(8.3333333333333333333e-2, sum, square);
    sum = cx_mul(sum, r);
    sum.re += 0.91893853320467274178;
    return cx_add(cx_sub(cx_mul(cx_make(z.re - 0.5, z.im), log_z), z), sum);
}

CPLX sp_c_loggamma_one(CPLX w)
{
    CPLX sum = cx_make(0.0, 0.0);
    for (int k = 23; k >= 0; k--)
        sum = sp_c_step(TABLE(loggamma_one)[k], sum, w);
    return cx_mul(sum, w);
}

/* Re z > 0, Im z >= 0 */
CPLX sp_c_loggamma_shifted(CPLX z)
{
    CPLX product = z, at = cx_make(z.re + 1.0, z.im), value;
    int turns = 0, below = 0;
    while (at.re <= 7.0) {
        int now;
        product = cx_mul(product, at);
        now = product.im < 0.0;
        turns += now && !below;
        below = now;
        at.re += 1.0;
    }
    value = cx_sub(sp_c_loggamma_stirling(at), cx_log(product));
    value.im -= 6.2831853071795864769 * turns;
    return value;
}

CPLX sp_c_loggamma_right(CPLX z)
{
    CPLX one = cx_make(z.re - 1.0, z.im), two = cx_make(z.re - 2.0, z.im), value;
    if (z.re > 7.0 || fabs(z.im) > 7.0)
        return sp_c_loggamma_stirling(z);
    if (cx_abs(one) <= 0.2)
        return sp_c_loggamma_one(one);
    if (cx_abs(two) <= 0.2)
        return cx_add(sp_c_log1p(two), sp_c_loggamma_one(two));
    if (!signbit(z.im))
        return sp_c_loggamma_shifted(z);
    value = sp_c_loggamma_shifted(cx_conj(z));
    return cx_conj(value);
}

CPLX sp_c_loggamma(CPLX z)
{
    CPLX s, value;
    if (isnan(z.re) || isnan(z.im) || (z.im == 0.0 && z.re <= 0.0 && z.re == floor(z.re)))
        return sp_c_nan(z.re);
    if (z.re >= 0.1 || fabs(z.im) > 7.0)
        return sp_c_loggamma_right(z);
    s = cx_make(sp_sinpi(z.re) * cosh(PI * z.im), sp_cospi(z.re) * sinh(PI * z.im));
    value = cx_add(cx_log(s), sp_c_loggamma_right(cx_make(1.0 - z.re, -z.im)));
    return cx_make(1.1447298858494001741 - value.re,
                   copysign(6.2831853071795864769, z.im) * floor(0.5 * z.re + 0.25) - value.im);
}

CPLX sp_c_gamma(CPLX z)
{
    if (z.im == 0.0)
        return z.re <= 0.0 && z.re == floor(z.re) ? sp_c_nan(z.re) : cx_make(sp_gamma(z.re), z.im);
    return cx_exp(sp_c_loggamma(z));
}

CPLX sp_c_rgamma(CPLX z)
{
    if (z.im == 0.0)
        return cx_make(sp_rgamma(z.re), -z.im);
    return cx_exp(cx_neg(sp_c_loggamma(z)));
}

CPLX sp_c_digamma(CPLX z)
{
    CPLX value = cx_make(0.0, 0.0), square, sum, one = cx_make(1.0, 0.0);
    if (isnan(z.re) || isnan(z.im))
        return sp_c_nan(z.re);
    if (z.im == 0.0)
        return z.re <= 0.0 && z.re == floor(z.re) ? sp_c_nan(z.re) : cx_make(sp_digamma(z.re), z.im);
    if (z.re < 0.0) { /* -pi cot(pi z) of the reflection */
        REAL s = sp_sinpi(z.re), h = sinh(PI * z.im), below = s * s + h * h;
        value = fabs(z.im) > 10.0
                    ? cx_make(0.0, copysign(PI, z.im))
                    : cx_make(-PI * s * sp_cospi(z.re) / below,
                              PI * h * cosh(PI * z.im) / below);
        z = cx_make(1.0 - z.re, -z.im);
    }
    while (z.re * z.re + z.im * z.im < 256.0) {
        value = cx_sub(value, cx_div(one, z));
        z.re += 1.0;
    }
    square = cx_div(one, cx_mul(z, z));
    sum = cx_make(-8.3333333333333333333e-2, 0.0);
    sum = sp_c_step(2.1092796092796092796e-2, sum, square);
    sum = sp_c_step(-7.5757575757575757576e-3, sum, square);
    sum = sp_c_step(4.1666666666666666667e-3, sum, square);
    sum = sp_c_step(-3.9682539682539682540e-3, sum, square);
    sum = sp_c_step(8.3333333333333333333e-3, sum, square);
    sum = sp_c_step(-8.3333333333333333333e-2, sum, square);
    value = cx_add(value, cx_mul(sum, square));
    value = cx_sub(value, cx_div(cx_make(0.5, 0.0), z));
    return cx_add(value, cx_log(z));
}

/* the size of 1 + z by the exact products, where x^2 + 2 x + y^2 cancels */
CPLX sp_c_log1p(CPLX z)
{
    REAL x = z.re, y = z.im, xx = x * x, yy = y * y, sum, part, rest;
    if (y == 0.0 && x >= -1.0)
        return cx_make(log1p(x), y);
    if (!(xx + yy < 0.5))
        return cx_log(cx_make(1.0 + x, y));
    rest = fma(x, x, -xx) + fma(y, y, -yy);
    sum = 2.0 * x + yy;
    part = sum - 2.0 * x;
    rest += (2.0 * x - (sum - part)) + (yy - part);
    part = sum + xx;
    rest += (sum - part) + xx;
    return cx_make(0.5 * log1p(part + rest), atan2(y, 1.0 + x));
}

CPLX sp_c_expm1(CPLX z)
{
    return cx_expm1(z);
}

CPLX sp_c_xlogy(CPLX x, CPLX y)
{
    if (x.re == 0.0 && x.im == 0.0 && !isnan(y.re) && !isnan(y.im))
        return cx_make(0.0, 0.0);
    return cx_mul(x, cx_log(y));
}

CPLX sp_c_xlog1py(CPLX x, CPLX y)
{
    if (x.re == 0.0 && x.im == 0.0 && !isnan(y.re) && !isnan(y.im))
        return cx_make(0.0, 0.0);
    return cx_mul(x, sp_c_log1p(y));
}

/* exp1(z) by the series DLMF 6.6.2 near zero and near the negative axis, where its terms do not
 * cancel, else by the fraction 6.9.1, contracted, which needs fewer terms far from that axis */
CPLX sp_c_exp1(CPLX z)
{
    REAL size = cx_abs(z), near;
    CPLX value;
    if (isnan(z.re) || isnan(z.im))
        return sp_c_nan(z.re);
    if (size == 0.0)
        return cx_make(INF, z.im);
    if (z.im == 0.0 && z.re > 0.0)
        return cx_make(sp_exp1(z.re), -z.im);
    near = z.re > fabs(z.im) ? 1.5 : z.re > 0.0 ? 2.2 : z.re > -fabs(z.im) ? 3.0 : 8.0;
    if (z.re < -2.0 * fabs(z.im))
        near = 40.0;
    if (size < near) {
        CPLX term = cx_make(1.0, 0.0), sum = term;
        for (int k = 1; k < 500; k++) {
            term = cx_scale(cx_mul(term, z), -(REAL)k / ((k + 1.0) * (k + 1.0)));
            sum = cx_add(sum, term);
            if (cx_abs(term) <= 0.5 * EPS * cx_abs(sum))
                break;
        }
        value = cx_sub(cx_mul(z, sum), cx_log(z));
        value.re -= 0.57721566490153286061;
        return value;
    }
    value = cx_make(z.re + 401.0, z.im);
    if (z.re > 0.0)
        value.re = z.re + 161.0;
    for (int k = z.re > 0.0 ? 80 : 200; k > 0; k--)
        value = cx_sub(cx_make(z.re + 2 * k - 1, z.im), cx_div(cx_make((REAL)k * k, 0.0), value));
    value = cx_div(cx_exp(cx_neg(z)), value);
    if (z.im == 0.0)
        value.im = signbit(z.im) ? PI : -PI;
    return value;
}

CPLX sp_c_expi(CPLX z)
{
    CPLX value;
    if (z.im == 0.0)
        return cx_make(sp_expi(z.re), z.im);
    value = cx_neg(sp_c_exp1(cx_neg(z)));
    value.im += copysign(PI, z.im);
    return value;
}

CPLX sp_c_lambertw(CPLX z, INT branch)
{
    CPLX w, ez;
    REAL size = cx_abs(z);
    if (isnan(z.re) || isnan(z.im))
        return sp_c_nan(z.re);
    if (isinf(size)) {
        w = cx_log(z);
        return cx_make(INF, w.im + 6.2831853071795864769 * branch);
    }
    if (size == 0.0)
        return branch == 0 ? z : cx_make(-INF, 0.0);
    /* e z + 1 = e (z + 1/e), whose rest is the digits that 1/e does not have */
    ez = cx_scale(cx_make(z.re + 0.36787944117144232160 - 1.2428753672788363168e-17, z.im),
                  2.7182818284590452354);
    if (cx_abs(ez) < 0.8 && (branch == 0 || (branch == -1 && !signbit(z.im)) ||
                             (branch == 1 && signbit(z.im)))) {
        CPLX p = cx_sqrt(cx_scale(ez, 2.0));
        if (branch != 0)
            p = cx_neg(p);
        w = sp_c_step(0.15277777777777777778, cx_make(-7.9629629629629629630e-2, 0.0), p);
        w = sp_c_step(-0.33333333333333333333, w, p);
        w = sp_c_step(1.0, w, p);
        w = sp_c_step(-1.0, w, p);
        if (cx_abs(p) < 1e-5)
            return w;
    } else if (branch == 0 && size < 3.0 && cx_abs(cx_make(z.re + 1.0, z.im)) > 0.3) { /* S. Winitzki (2003) */
        CPLX l = sp_c_log1p(z);
        w = cx_div(sp_c_log1p(l), cx_make(2.0 + l.re, l.im));
        w = cx_mul(l, cx_make(1.0 - w.re, -w.im));
    } else if (branch == -1 && z.im == 0.0 && z.re < 0.0 && z.re > -0.3678794411714423) {
        w = cx_make(log(-z.re), 0.0);
        w.re -= log(-w.re);
    } else {
        w = cx_log(z);
        w.im += 6.2831853071795864769 * branch;
        w = cx_sub(w, cx_log(w));
    }
    for (int k = 0; k < 100; k++) {
        CPLX f = cx_sub(w, cx_mul(z, cx_exp(cx_neg(w)))), next = cx_make(w.re + 1.0, w.im), step;
        step = cx_div(cx_mul(cx_make(w.re + 2.0, w.im), f), cx_scale(next, 2.0));
        step = cx_div(f, cx_sub(next, step));
        w = cx_sub(w, step);
        if (!(cx_abs(step) > 1e-9 * cx_abs(w)))
            break;
    }
    return w;
}
"""
