/* pyopencl-hankel-complex.cl - Hankel functions of the first kind, of the orders 0 and 1, for complex arguments.
 *
 *     hankel_01_complex(z, &h0, &h1, 1)    H(1) of order 0 and 1; z and the results are cdouble_t
 *     hankel_01_complex(z, &h0, &h1, 0)    both times exp(-i z), which neither over- nor underflows above the real axis
 *
 * The cut is along the negative real axis, which belongs to the upper half-plane. There
 *   |z| <= 2      power series (DLMF 10.2.2, 10.8.1);
 *   |z| <= 25     as modified Bessel functions K of -i z (10.27.8) by Temme's continued fraction;
 *   |z| > 25      Hankel's asymptotic expansion (10.17.5), continued to the third quadrant by 10.11.5.
 * Below, H(1) = 2 J - H(2) with H(2)(z) the conjugate of H(1)(conj z). Errors are a few 1e-14 relative to |H|.
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
#ifndef PYGPU_HANKEL_COMPLEX_CL
#define PYGPU_HANKEL_COMPLEX_CL

#include <pyopencl-bessel-j-complex.cl>

/* J0 + i Y0 and J1 + i Y1 by power series. */
PGB_FUNCTION void pygpu_hankel_near(cdouble_t z, cdouble_t *h0, cdouble_t *h1)
{
    cdouble_t halved = cdouble_mulr(z, 0.5), minus_square = cdouble_neg(cdouble_mul(halved, halved));
    cdouble_t log_half = cdouble_addr(cdouble_log(halved), PGB_EULER), term = cdouble_fromreal(1), part;
    cdouble_t j0 = term, j1 = term, y0 = cdouble_fromreal(0), y1 = cdouble_fromreal(1);
    double harmonic = 0;
    for (int k = 1; k < 60 && cdouble_abs_squared(term) > 1e-40; ++k) {
        term = cdouble_mul(term, cdouble_divider(minus_square, (double) k * k));
        harmonic += 1.0 / k;
        part = cdouble_divider(term, k + 1.0);
        j0 = cdouble_add(j0, term);
        y0 = cdouble_add(y0, cdouble_mulr(term, harmonic));
        j1 = cdouble_add(j1, part);
        y1 = cdouble_add(y1, cdouble_mulr(part, 2 * harmonic + 1.0 / (k + 1)));
    }
    j1 = cdouble_mul(halved, j1);
    y1 = cdouble_mul(halved, y1);
    y0 = cdouble_mulr(cdouble_sub(cdouble_mul(log_half, j0), y0), M_2_PI);
    y1 = cdouble_sub(cdouble_mulr(cdouble_mul(log_half, j1), M_2_PI), cdouble_mulr(y1, M_1_PI));
    y1 = cdouble_sub(y1, cdouble_rdivide(M_2_PI, z));
    *h0 = cdouble_new(j0.real - y0.imag, j0.imag + y0.real);
    *h1 = cdouble_new(j1.real - y1.imag, j1.imag + y1.real);
}

/* exp(-i z) H(1) for 2 < |z| <= 25 and Im z >= 0, from exp(w) K(w), w = -i z: N. M. Temme, J. Comput. Phys. 19
   (1975), 324-337, as in pyopencl-airy.cl but complex. */
PGB_FUNCTION void pygpu_hankel_middle(cdouble_t z, cdouble_t *h0, cdouble_t *h1)
{
    cdouble_t w = cdouble_new(z.imag, -z.real), b = cdouble_mulr(cdouble_addr(w, 1), 2);
    cdouble_t d = cdouble_rdivide(1, b), step = d, fraction = d, sum, before, last, next, q, part, k0;
    double a = -0.25, c = 0.25;
    before = cdouble_fromreal(0);
    last = cdouble_fromreal(1);
    q = cdouble_fromreal(c);
    sum = cdouble_radd(1, cdouble_mul(q, step));
    for (int i = 2; i < 160; ++i) {
        a -= 2 * (i - 1);
        c = -a * c / i;
        next = cdouble_divider(cdouble_sub(before, cdouble_mul(b, last)), a);
        before = last;
        last = next;
        q = cdouble_add(q, cdouble_mulr(next, c));
        b = cdouble_addr(b, 2);
        d = cdouble_rdivide(1, cdouble_add(b, cdouble_mulr(d, a)));
        step = cdouble_mul(step, cdouble_addr(cdouble_mul(b, d), -1));
        fraction = cdouble_add(fraction, step);
        part = cdouble_mul(q, step);
        sum = cdouble_add(sum, part);
        if (cdouble_abs_squared(part) < 1e-34 * cdouble_abs_squared(sum))
            break;
    }
    k0 = cdouble_divide(cdouble_sqrt(cdouble_rdivide(M_PI_2, w)), sum);
    /* H0 = 2 / (pi i) K0, H1 = -2 / pi K1, K1 = K0 (w + 1 / 2 - fraction / 4) / w */
    *h0 = cdouble_new(M_2_PI * k0.imag, -M_2_PI * k0.real);
    part = cdouble_sub(cdouble_addr(w, 0.5), cdouble_mulr(fraction, 0.25));
    *h1 = cdouble_mulr(cdouble_divide(cdouble_mul(k0, part), w), -M_2_PI);
}

/* exp(-i z) H(1) for |z| > 25. */
PGB_FUNCTION cdouble_t pygpu_hankel_far(int nu, cdouble_t z)
{
    cdouble_t amplitude, turned, twice;
    if (z.real >= 0 || z.imag >= 0)
        return pygpu_hankel_amplitude(nu, z);
    /* With u = -z in the first quadrant: H(1)(z) = (-1)^nu (2 H(1)(u) + H(2)(u)), and exp(-i z) = exp(i u). */
    z = cdouble_neg(z);
    amplitude = cdouble_conj(pygpu_hankel_amplitude(nu, cdouble_conj(z)));
    twice = cdouble_exp(cdouble_new(-2 * z.imag, 2 * z.real));
    turned = cdouble_mulr(cdouble_mul(pygpu_hankel_amplitude(nu, z), twice), 2);
    amplitude = cdouble_add(amplitude, turned);
    return (nu & 1) ? cdouble_neg(amplitude) : amplitude;
}

PGB_FUNCTION void hankel_01_complex(cdouble_t z, cdouble_t *h0, cdouble_t *h1, int ifexpon)
{
    double size = cdouble_abs(z);
    /* exp(-i z), by which the result so far has been multiplied */
    int scaled = 1, below = z.imag < 0;
    cdouble_t up = below ? cdouble_conj(z) : z, factor, a, b;
    if (size > PGB_ASYMPTOTIC) {
        *h0 = pygpu_hankel_far(0, z);
        *h1 = pygpu_hankel_far(1, z);
    }
    else {
        scaled = size > 2;
        if (scaled)
            pygpu_hankel_middle(up, h0, h1);
        else
            pygpu_hankel_near(up, h0, h1);
        if (below) {
            if (scaled) {
                factor = cdouble_exp(cdouble_new(-up.imag, up.real));
                *h0 = cdouble_mul(*h0, factor);
                *h1 = cdouble_mul(*h1, factor);
                scaled = 0;
            }
            bessel_j_complex(0, z, &a, &b);
            *h0 = cdouble_sub(cdouble_mulr(a, 2), cdouble_conj(*h0));
            *h1 = cdouble_sub(cdouble_mulr(b, 2), cdouble_conj(*h1));
        }
    }
    if (scaled == (ifexpon == 0))
        return;
    factor = cdouble_exp(ifexpon ? cdouble_new(-z.imag, z.real) : cdouble_new(z.imag, -z.real));
    *h0 = cdouble_mul(*h0, factor);
    *h1 = cdouble_mul(*h1, factor);
}

#endif
