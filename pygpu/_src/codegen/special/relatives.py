"""Kelvin's functions by Bessel functions of complex numbers and DLMF 10.65, Struve's by DLMF 11.2.1
and 11.6, Tricomi's U by its integral DLMF 13.4.4, Owen's T by Gauss's rule, Voigt's profile by
Faddeeva's function, Legendre's functions by DLMF 14.3.1 and recurrences, R_J by duplication."""

from __future__ import annotations

TEXT = r"""
/* want: 0 ber, 1 bei, 2 ker, 3 kei; plus 4 for the derivative. DLMF 10.65.1 to 10.65.5, termwise */
REAL sp_kelvin_series(REAL x, int want)
{
    const int odd = want & 1, slope = want & 4, second = want & 2;
    REAL q = 0.25 * x * x, term = odd ? q : 1.0, shift = odd ? 0.42278433509846714 : -0.57721566490153286;
    REAL first = 0.0, other = 0.0, step = odd ? 1.0 : 0.0, sum, crossed = 0.0, l = log(0.5 * x);
    REAL partner = odd ? 1.0 : q, partner_step = odd ? 0.0 : 1.0;
    for (int k = 0; k < 14; k++) {
        REAL power = slope ? 2.0 * step / x : 1.0, n = step + 1.0, m = partner_step + 1.0;
        first += term * power;
        other += term * shift * power;
        sum = slope ? term / x : 0.0;
        crossed += partner * (slope ? 2.0 * partner_step / x : 1.0);
        if (second)
            other -= sum;
        shift += 1.0 / n + 1.0 / (n + 1.0);
        term *= -q * q / (n * n * (n + 1.0) * (n + 1.0));
        partner *= -q * q / (m * m * (m + 1.0) * (m + 1.0));
        step += 2.0;
        partner_step += 2.0;
    }
    if (!second)
        return first;
    return other - l * first + (odd ? -0.78539816339744831 : 0.78539816339744831) * crossed;
}

REAL sp_kelvin_any(REAL x, int want)
{
    const int even = (want & 1) == 0, slope = want & 4, second = want & 2;
    REAL a = fabs(x), s = 0.70710678118654752440 * a, sign = slope && x < 0.0 ? -1.0 : 1.0;
    CPLX w, value;
    if (isnan(x) || (second && x < 0.0))
        return NAN_;
    if (a == 0.0) {
        if (second)
            return slope ? (even ? -INF : 0.0) : (even ? INF : -0.78539816339744831);
        return want == 0 ? 1.0 : 0.0;
    }
    if (isinf(a))
        return second ? 0.0 : NAN_;
    if (a < (second ? 2.0 : 4.0))
        return sign * sp_kelvin_series(a, want);
    w.re = s;
    w.im = s;
    value = second ? sp_c_kv(slope ? 1.0 : 0.0, w) : sp_c_iv(slope ? 1.0 : 0.0, w);
    if (slope) {
        CPLX turn;
        turn.re = second ? -0.70710678118654752440 : 0.70710678118654752440;
        turn.im = turn.re;
        value = cx_mul(value, turn);
    }
    if (a > 20.0) { /* what s lacks of a / sqrt(2): both functions are nearly exponentials */
        REAL lost = fma(0.70710678118654752440, a, -s) - 4.8336466567264567e-17 * a;
        CPLX factor;
        factor.re = second ? 1.0 - lost : 1.0 + lost;
        factor.im = second ? -lost : lost;
        value = cx_mul(value, factor);
    }
    return sign * (even ? value.re : value.im);
}

REAL sp_ber(REAL x)
{
    return sp_kelvin_any(x, 0);
}

REAL sp_bei(REAL x)
{
    return sp_kelvin_any(x, 1);
}

REAL sp_ker(REAL x)
{
    return sp_kelvin_any(x, 2);
}

REAL sp_kei(REAL x)
{
    return sp_kelvin_any(x, 3);
}

REAL sp_berp(REAL x)
{
    return sp_kelvin_any(x, 4);
}

REAL sp_beip(REAL x)
{
    return sp_kelvin_any(x, 5);
}

REAL sp_kerp(REAL x)
{
    return sp_kelvin_any(x, 6);
}

REAL sp_keip(REAL x)
{
    return sp_kelvin_any(x, 7);
}

/* the first term of Struve's series, (x/2)**(v+1) / (gamma(3/2) gamma(v+3/2)) */
REAL sp_struve_start(REAL v, REAL h)
{
    REAL p = v + 1.5;
    if (fabs(v) < 100.0 && fabs((v + 1.0) * log(h)) < 0.5 * MAXLOG)
        return pow(h, v + 1.0) * 1.1283791670955126 * sp_rgamma(p);
    return sp_gammasgn(p) * exp((v + 1.0) * log(h) + 0.12078223763524522 - sp_gammaln(p));
}

/* DLMF 11.2.1 and 11.2.2: terms and sums are pairs of numbers, because they cancel */
REAL sp_struve_series(REAL v, REAL x, REAL sign)
{
    REAL h = 0.5 * x, zh = h * h, zl = fma(h, h, -zh), start = sp_struve_start(v, h);
    REAL th = 1.0, tl = 0.0, sh = 1.0, sl = 0.0, most = 1.0;
    for (int k = 0; k < 2000; k++) {
        REAL a = k + 1.5, b = a + v, bb = b - a, bl = (a - (b - bb)) + (v - bb);
        REAL dh = a * b, dl = fma(a, b, -dh) + a * bl;
        REAL ph = th * zh, pl = fma(th, zh, -ph) + (th * zl + tl * zh);
        REAL q = ph / dh, r = (fma(-q, dh, ph) + pl - q * dl) / dh, t, u;
        th = sign * (q + r);
        tl = sign * (r - (q + r - q));
        t = sh + th;
        u = t - sh;
        sl += (sh - (t - u)) + (th - u) + tl;
        sh = t;
        most = fmax(most, fabs(th));
        if (fabs(th) < 0.01 * EPS * fabs(sh + sl) && b > h)
            break;
    }
    sh += sl;
    return most * EPS * EPS > 1e-5 * fabs(sh) || isnan(sh) ? NAN_ : start * sh;
}

/* DLMF 11.6.1 and 11.6.2, without the Bessel function: decreasing terms down to exp(-x) */
REAL sp_struve_rest(REAL v, REAL x, REAL sign)
{
    REAL h = 0.5 * x, term = 1.0, sum = 0.0, scale;
    for (int k = 0; k < 400; k++) {
        REAL next = sign * term * (k + 0.5) * (v - 0.5 - k) / (h * h);
        sum += term;
        if (fabs(next) < 0.1 * EPS * fabs(sum) || (fabs(next) > fabs(term) && k > v))
            break;
        term = next;
    }
    scale = fabs(v) < 100.0 ? pow(h, v - 1.0) * sp_rgamma(v + 0.5)
                            : sp_gammasgn(v + 0.5) * exp((v - 1.0) * log(h) - sp_gammaln(v + 0.5));
    return 0.56418958354775629 * scale * sum;
}

int sp_struve_turned(REAL v)
{
    REAL n = -v - 0.5;
    return n >= 0.0 && n == floor(n);
}

REAL sp_struve_edge(REAL v, REAL x)
{
    if (isnan(v) || isnan(x) || (x < 0.0 && v != floor(v)))
        return NAN_;
    if (v == -1.0)
        return 0.63661977236758134;
    return v > -1.0 ? 0.0 : INF * sp_gammasgn(v + 1.5);
}

REAL sp_struve(REAL v, REAL x)
{
    REAL a = fabs(x), value;
    if (isnan(v) || isnan(x) || x == 0.0 || (x < 0.0 && v != floor(v)))
        return sp_struve_edge(v, x);
    if (sp_struve_turned(v)) {
        value = sp_jv(-v, a);
        return fmod(-v - 0.5, 2.0) == 0.0 ? value : -value;
    }
    if (a > (EPS < 1e-10 ? 40.0 : 20.0) && fabs(v) < a)
        value = sp_yv(v, a) + sp_struve_rest(v, a, 1.0);
    else
        value = sp_struve_series(v, a, -1.0);
    return x < 0.0 && fmod(v, 2.0) == 0.0 ? -value : value;
}

REAL sp_modstruve(REAL v, REAL x)
{
    REAL a = fabs(x), value;
    if (isnan(v) || isnan(x) || x == 0.0 || (x < 0.0 && v != floor(v)))
        return sp_struve_edge(v, x);
    if (sp_struve_turned(v))
        return sp_iv(-v, a);
    if (a > (EPS < 1e-10 ? 40.0 : 20.0) && fabs(v) < a)
        value = sp_iv(-v, a) - sp_struve_rest(v, a, -1.0);
    else
        value = sp_struve_series(v, a, 1.0);
    return x < 0.0 && fmod(v, 2.0) == 0.0 ? -value : value;
}

/* DLMF 13.4.4 in log t, for a >= 1: its integrand is positive and has one maximum */
REAL sp_hyperu_integral(REAL a, REAL b, REAL x)
{
    REAL p = b - 1.0 - x, q = sqrt(p * p + 4.0 * a * x), sum, h, mode, top, t;
    t = p > 0.0 ? (p + q) / (2.0 * x) : 2.0 * a / (q - p);
    h = 1.0 / sqrt(x * t - (b - a - 1.0) * (t / (1.0 + t)) / (1.0 + t));
    h = fmin(0.2, 0.55 * h);
    mode = log(t);
    top = a * mode - x * t + (b - a - 1.0) * log1p(t);
    sum = 1.0;
    for (int side = -1; side < 2; side += 2)
        for (int k = 1; k < 4000; k++) {
            REAL away = side * (h * k), grown = expm1(away), here = t * exp(away), term;
            term = exp(a * away - x * t * grown + (b - a - 1.0) * log1p(t / (1.0 + t) * grown));
            sum += term;
            if (term < 0.01 * EPS * sum || isnan(here))
                break;
        }
    return h * sum * exp(top - sp_gammaln(a));
}

REAL sp_hyperu(REAL a, REAL b, REAL x)
{
    REAL factor = 1.0, shifted, above, here;
    int steps;
    if (isnan(a + b + x) || x < 0.0)
        return NAN_;
    if (a == 0.0)
        return 1.0;
    if (x == 0.0) {
        if (b >= 1.0 && !(a <= 0.0 && a == floor(a)))
            return INF;
        return b < 1.0 ? sp_gamma(1.0 - b) * sp_rgamma(a - b + 1.0) : sp_poch(b, -a) * cos(PI * a);
    }
    if (isinf(x))
        return a > 0.0 ? 0.0 : INF;
    if (a < 0.0 && a != floor(a) && a - b + 1.0 > 0.0) { /* DLMF 13.2.40 */
        factor = pow(x, 1.0 - b);
        a = a - b + 1.0;
        b = 2.0 - b;
    }
    if (fabs(a) > 2000.0 || fabs(b) > 2000.0)
        return NAN_;
    if (a >= 1.0)
        return factor * sp_hyperu_integral(a, b, x);
    steps = a == floor(a) ? (int)-a : (int)(1.0 - floor(a));
    shifted = a + steps;
    here = a == floor(a) ? 1.0 : sp_hyperu_integral(shifted, b, x);
    above = a == floor(a) ? 0.0 : sp_hyperu_integral(shifted + 1.0, b, x);
    for (; steps > 0; steps--) { /* DLMF 13.3.7, downwards */
        REAL below = (x - b + 2.0 * shifted) * here - shifted * (shifted - b + 1.0) * above;
        above = here;
        here = below;
        shifted -= 1.0;
    }
    return factor * here;
}

/* R_J by duplication (B. C. Carlson, 1995); of p < 0 the principal value, DLMF 19.20.14 */
REAL sp_elliprj_right(REAL x, REAL y, REAL z, REAL p)
{
    REAL a = (x + y + z + 2.0 * p) / 5.0, dx, dy, dz, dp, power = 1.0, sum = 0.0;
    REAL delta = (p - x) * (p - y) * (p - z), small;
    dx = a - x;
    dy = a - y;
    dz = a - z;
    dp = fabs(a - p);
    small = fmax(fmax(fabs(dx), fabs(dy)), fmax(fabs(dz), dp));
    for (int k = 0; k < 60; k++) {
        REAL q = sqrt(x), r = sqrt(y), s = sqrt(z), u = sqrt(p);
        REAL shift = q * r + (q + r) * s, d = (u + q) * (u + r) * (u + s);
        if (power * small < 0.0015 * a)
            break;
        sum += power / d * sp_elliprc(1.0, 1.0 + delta * power * power * power / (d * d));
        x = 0.25 * (x + shift);
        y = 0.25 * (y + shift);
        z = 0.25 * (z + shift);
        p = 0.25 * (p + shift);
        a = 0.25 * (a + shift);
        power *= 0.25;
    }
    dx *= power / a;
    dy *= power / a;
    dz *= power / a;
    dp = -0.5 * (dx + dy + dz);
    return power * sp_carlson_sum(dx, dy, dz, dp) / (a * sqrt(a)) + 6.0 * sum;
}

REAL sp_elliprj(REAL x, REAL y, REAL z, REAL p)
{
    REAL low = fmin(x, fmin(y, z)), high = fmax(x, fmax(y, z)), q, middle;
    if (isnan(x + y + z + p) || low < 0.0)
        return NAN_;
    if (isinf(high) || isinf(p))
        return 0.0;
    middle = fmax(fmin(x, y), fmin(fmax(x, y), z));
    if (p == 0.0 || middle == 0.0)
        return p == 0.0 && middle > 0.0 ? NAN_ : INF;
    if (p > 0.0)
        return sp_elliprj_right(x, y, z, p);
    q = (high * (low + middle - p) - low * middle) / (high - p);
    return ((q - high) * sp_elliprj_right(x, y, z, q) - 3.0 * sp_elliprf(x, y, z) +
            3.0 * sqrt(low * middle * high / (low * middle - p * q)) *
                sp_elliprc(low * middle - p * q, -p * q)) / (high - p);
}

/* the integral over [0, a] of exp(-h**2 (1 + t**2) / 2) / (1 + t**2), for 0 <= a <= 1 */
REAL sp_owens_near(REAL h, REAL a)
{
    REAL end = fmin(a, 8.7 / fmax(h, 1e-30)), sum = 0.0;
    for (int k = 0; k < 20; k++) {
        REAL node = TABLE(gauss_nodes)[k], weight = TABLE(gauss_weights)[k];
        REAL s = 0.5 * end * (1.0 - node), t = 0.5 * end * (1.0 + node);
        sum += weight * (exp(-0.5 * h * h * s * s) / (1.0 + s * s) +
                         exp(-0.5 * h * h * t * t) / (1.0 + t * t));
    }
    return 0.5 * end * sum * sp_exp_square(h, -0.5) / (2.0 * PI);
}

REAL sp_owens_t(REAL h, REAL a)
{
    REAL b = fabs(a), value, p, q;
    if (isnan(h) || isnan(a))
        return NAN_;
    h = fabs(h);
    if (isinf(h) || a == 0.0)
        return 0.0;
    if (b <= 1.0)
        value = sp_owens_near(h, b);
    else {
        p = sp_ndtr(-h);
        q = isinf(b) ? (h == 0.0 ? 0.5 : 0.0) : sp_ndtr(-h * b);
        value = isinf(b) ? 0.5 * p : 0.5 * (p + q) - p * q - sp_owens_near(h * b, 1.0 / b);
    }
    return a < 0.0 ? -value : value;
}

REAL sp_voigt_profile(REAL x, REAL sigma, REAL g)
{
    CPLX z;
    if (isnan(x + sigma + g))
        return NAN_;
    if (sigma == 0.0)
        return g == 0.0 ? (x == 0.0 ? INF : 0.0) : g / PI / (x * x + g * g);
    if (g == 0.0)
        return 0.39894228040143268 / sigma * exp(-0.5 * (x / sigma) * (x / sigma));
    z.re = 0.70710678118654752440 * x / sigma;
    z.im = 0.70710678118654752440 * g / sigma;
    return sp_c_wofz(z).re / sigma * 0.39894228040143268;
}

/* order -m of a degree below m + 1, whose terms do not alternate: DLMF 14.3.1; beside -1, where
 * 1 + x must not be computed from (1 - x) / 2, by 15.8.10, also of larger degrees */
REAL sp_legendre_below(INT m, REAL v, REAL x)
{
    REAL y = 0.5 * (1.0 + x), z = 0.5 * (1.0 - x);
    if (x < -0.8)
        return pow(z / y, 0.5 * m) * sp_rgamma(1.0 + m) * sp_hyp2f1_whole(-v, 1.0 + v, m, y);
    return pow(y * z, 0.5 * m) * sp_rgamma(1.0 + m) *
           sp_hyp2f1_series(1.0 + m + v, m - v, 1.0 + m, z);
}

/* the same of degree v > m, by the recurrence DLMF 14.10.3, which beside -1 begins where the
 * function no longer falls with the degree: the other solution would grow there */
REAL sp_legendre_above(INT m, REAL v, REAL x)
{
    REAL n = m + (v - floor(v)), begin = fmax((REAL)m, 3.0) / sqrt(2.0 + 2.0 * x), p, before;
    if (x < -0.8 && begin > n)
        n = v <= begin ? v : v - ceil(v - begin);
    p = sp_legendre_below(m, n, x);
    before = n < v ? sp_legendre_below(m, n - 1.0, x) : 0.0;
    for (; n < v; n += 1.0) {
        REAL next = ((2.0 * n + 1.0) * x * p - (n - m) * before) / (n + m + 1.0);
        before = p;
        p = next;
    }
    return p;
}

REAL sp_lpmv(INT m, REAL v, REAL x)
{
    const int a = m < 0 ? -m : m;
    REAL p = 1.0, before = 0.0, s;
    if (isnan(v + x) || fabs(x) > 1.0 || a > 100000)
        return NAN_;
    if (v < 0.0)
        v = -1.0 - v;
    if (v != floor(v)) {
        if (x == -1.0)
            return a == 0 ? -INF : copysign(INF, -sp_gammasgn(v - a + 1.0));
        p = v > a ? sp_legendre_above(a, v, x) : sp_legendre_below(a, v, x);
        if (m > 0 && a > 100)
            return (a % 2 ? -p : p) * sp_poch(v - a + 1.0, 2.0 * a);
        for (int k = 1; k <= m; k++)
            p *= -((v - k + 1.0) * (v + k));
        return p;
    }
    if (v < a || v > 1e6)
        return v < a ? 0.0 : NAN_;
    s = sqrt((1.0 - x) * (1.0 + x));
    for (int k = 1; k <= a; k++) /* for a negative order over gamma(v + a + 1) / gamma(v - a + 1) */
        p *= (m > 0 ? -(2.0 * k - 1.0) : 1.0 / (2.0 * k)) * s;
    for (REAL n = a; n < v; n += 1.0) {
        REAL next = ((2.0 * n + 1.0) * x * p - (m > 0 ? n + a : n - a) * before) /
                    (m > 0 ? n - a + 1.0 : n + a + 1.0);
        before = p;
        p = next;
    }
    return p;
}

/* the normalized function of spherical harmonics */
REAL sp_sph_legendre_p(INT n, INT m, REAL theta)
{
    const int a = m < 0 ? -m : m;
    REAL x = cos(theta), s = fabs(sin(theta)), p = 0.28209479177387814, before = 0.0, r = 0.0;
    if (isnan(theta) || n < 0)
        return NAN_;
    if (a > n)
        return 0.0;
    for (int k = 1; k <= a; k++)
        p *= -s * sqrt((2.0 * k + 1.0) / (2.0 * k));
    for (int k = a + 1; k <= n; k++) {
        REAL q = sqrt((2.0 * k - 1.0) * (2.0 * k + 1.0) / (((REAL)k - a) * ((REAL)k + a)));
        REAL next = q * (x * p - r * before);
        r = 1.0 / q;
        before = p;
        p = next;
    }
    return m < 0 && a % 2 ? -p : p;
}

REAL sp_kolmogi(REAL p)
{
    REAL low = 0.0, high = EPS < 1e-10 ? 20.0 : 8.0;
    if (!(p >= 0.0 && p <= 1.0))
        return NAN_;
    if (p == 0.0 || p == 1.0)
        return p == 0.0 ? INF : 0.0;
    for (int k = 0; k < 80; k++) {
        REAL x = 0.5 * (low + high);
        if (x == low || x == high)
            break;
        if (sp_kolmogorov(x) > p)
            low = x;
        else
            high = x;
    }
    return low;
}

/* what Stirling's formula lacks of the logarithm of x! */
REAL sp_stirling_error(REAL x)
{
    if (x > 15.0)
        return sp_stirling_rest(x);
    return sp_gammaln(x + 1.0) - (x + 0.5) * log(x) + x - 0.91893853320467274178;
}

/* Terms of Smirnov's sum: binomial probabilities of k among n, of which each succeeds with d + k/n,
 * times d / (d + k/n). Up to *most* tries they are powers of bases in two parts, else what C. Loader
 * (2000) writes instead, whose exponent loses digits. */
REAL sp_smirnov(INT n, REAL d)
{
    const int most = EPS < 1e-10 ? 1000 : 100;
    REAL sum = 0.0, lost = 0.0, choices = 1.0, rest = 0.0;
    REAL whole = d * n, low = fma(d, (REAL)n, -whole);
    if (n < 1 || !(d >= 0.0 && d <= 1.0))
        return NAN_;
    if (d == 0.0)
        return 1.0;
    for (int k = 0; k < n; k++) {
        REAL q = (REAL)k / n, p = (REAL)(n - k) / n, s = d + q, t = p - d, term, y, next;
        REAL a = k, b = n - k;
        if (!(t > 0.0))
            break;
        if (k > 0 && n <= most) { /* the number of choices of k */
            REAL product = choices * (n - k + 1.0);
            REAL more = fma(choices, n - k + 1.0, -product) + rest * (n - k + 1.0);
            choices = product / k;
            rest = (fma(-choices, a, product) + more) / k;
        }
        if (n <= most) {
            REAL high = fmax(d, q), s_low = fmin(d, q) - (s - high) + fma(-q, (REAL)n, a) / n;
            REAL t_low = (p - (t - (t - p))) - (d + (t - p)) + fma(-p, (REAL)n, b) / n;
            term = d * (choices * pow(s, a - 1.0)) * pow(t, b);
            term *= 1.0 + ((a - 1.0) * (s_low / s) + b * (t_low / t) + rest / choices);
        } else if (k == 0)
            term = exp(b * log1p(-d));
        else {
            y = sp_stirling_error((REAL)n) - sp_stirling_error(a) - sp_stirling_error(b);
            y += a * sp_log1pmx(whole / a) + b * sp_log1pmx(-whole / b);
            y -= low * (whole / (a + whole) + whole / (b - whole));
            term = d / s * sqrt(n / (2.0 * PI * a * b)) * exp(y);
        }
        y = term - lost;
        next = sum + y;
        lost = (next - sum) - y;
        sum = next;
    }
    return fmin(sum, 1.0);
}

REAL sp_smirnovi(INT n, REAL p)
{
    REAL low = 0.0, high = 1.0;
    if (n < 1 || !(p >= 0.0 && p <= 1.0))
        return NAN_;
    if (p == 0.0 || p == 1.0)
        return 1.0 - p;
    for (int k = 0; k < 120; k++) {
        REAL d = 0.5 * (low + high);
        if (d == low || d == high)
            break;
        if (sp_smirnov(n, d) > p)
            low = d;
        else
            high = d;
    }
    return low;
}

/* Tukey's lambda distribution: bisection of its quantile (p**lambda - (1-p)**lambda) / lambda */
REAL sp_tklmbda(REAL x, REAL lambda)
{
    REAL low = 0.0, high = 0.5, a = fabs(x);
    if (isnan(x + lambda))
        return NAN_;
    if (lambda > 0.0 && a >= 1.0 / lambda)
        return x < 0.0 ? 0.0 : 1.0;
    if (fabs(lambda) < 1e-12)
        return sp_expit(x);
    for (int k = 0; k < 1100; k++) { /* of p below 1/2 */
        REAL p = 0.5 * (low + high), up, down;
        if (p == low || p == high)
            break;
        up = expm1(lambda * log(p));
        down = expm1(lambda * log1p(-p));
        if ((down - up) / lambda > a)
            low = p;
        else
            high = p;
    }
    return x < 0.0 ? low : 1.0 - low;
}
"""
