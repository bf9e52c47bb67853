/* pyopencl-bessel-j-complex.cl - Bessel functions of the first kind, complex argument and integer order.
 *
 *     bessel_j_complex(v, z, &j_v, &j_vp1)     J of the orders v and v + 1; z and the results are cdouble_t
 *
 * By the size of z, as in pygpu-bessel.h: power series (DLMF 10.2.2), backward recurrence normalised by the
 * generating function at t = +-i (10.12.1), or the asymptotic expansion (10.17.5) and the recurrence.
 * Errors are a few 1e-15 relative to |J|. A large |z| off the real axis takes a loop of about |z| steps.
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
#ifndef PYGPU_BESSEL_J_COMPLEX_CL
#define PYGPU_BESSEL_J_COMPLEX_CL

#ifndef PYOPENCL_DEFINE_CDOUBLE
#define PYOPENCL_DEFINE_CDOUBLE
#endif
#include <pyopencl-complex.h>
#include "pygpu-bessel.h"

PGB_FUNCTION cdouble_t pygpu_bessel_series_complex(int n, cdouble_t z)
{
    cdouble_t halved = cdouble_mulr(z, 0.5), minus_square = cdouble_neg(cdouble_mul(halved, halved));
    cdouble_t factor = cdouble_new(1, 0), term = factor, sum = factor;
    for (int k = 1; k <= n && (factor.real != 0 || factor.imag != 0); ++k)
        factor = cdouble_mul(factor, cdouble_divider(halved, k));
    for (int k = 1; cdouble_abs_squared(term) > 1e-36; ++k) {
        term = cdouble_mul(term, cdouble_divider(minus_square, (double) k * (n + k)));
        sum = cdouble_add(sum, term);
    }
    return cdouble_mul(factor, sum);
}

/* Hankel's expansion: H(1) of order nu is exp(i z) times this, for |z| > 25 and -pi < arg z < 2 pi, not near the
   ends; H(2) is exp(-i z) times the conjugate of this at conj z. */
PGB_FUNCTION cdouble_t pygpu_hankel_amplitude(int nu, cdouble_t z)
{
    cdouble_t term = cdouble_new(1, 0), sum = term, i_over_8z = cdouble_divide(cdouble_new(0, 0.125), z);
    double size = 1;
    for (int k = 1; k < 100; ++k) {
        double factor = (2.0 * nu - 2 * k + 1) * (2.0 * nu + 2 * k - 1) / k, next_size;
        cdouble_t next = cdouble_mul(term, cdouble_mulr(i_over_8z, factor));
        next_size = cdouble_abs_squared(next);
        if (next_size < 1e-36 || (next_size > size && k > nu))
            break;
        term = next;
        size = next_size;
        sum = cdouble_add(sum, term);
    }
    /* exp(-i (nu / 2 + 1 / 4) pi) sqrt(2 / (pi z)) */
    term = cdouble_new(cospi(0.5 * nu + 0.25), -sinpi(0.5 * nu + 0.25));
    return cdouble_mul(sum, cdouble_mul(term, cdouble_divide(cdouble_fromreal(sqrt(M_2_PI)), cdouble_sqrt(z))));
}

/* J of order nu for |z| > 25 and Re z >= 0: the mean of both Hankel functions. */
PGB_FUNCTION cdouble_t pygpu_bessel_far_complex(int nu, cdouble_t z)
{
    cdouble_t up = cdouble_exp(cdouble_new(-z.imag, z.real)), down = cdouble_exp(cdouble_new(z.imag, -z.real));
    cdouble_t h1 = cdouble_mul(pygpu_hankel_amplitude(nu, z), up);
    cdouble_t h2 = cdouble_mul(cdouble_conj(pygpu_hankel_amplitude(nu, cdouble_conj(z))), down);
    return cdouble_mulr(cdouble_add(h1, h2), 0.5);
}

/* J of the orders n >= 0 and n + 1 for Re z >= 0. */
PGB_FUNCTION void pygpu_bessel_pair_complex(int n, cdouble_t z, cdouble_t *jn, cdouble_t *jn1)
{
    double size = cdouble_abs(z);
    cdouble_t j0, j1, above, here, below, sum, want, want1, turn, power, inverse;
    int far = size > PGB_ASYMPTOTIC;
    if (size * size <= 4 * (n + 1.0)) {
        *jn = pygpu_bessel_series_complex(n, z);
        *jn1 = pygpu_bessel_series_complex(n + 1, z);
        return;
    }
    inverse = cdouble_rdivide(2, z);
    if (far) {
        j0 = pygpu_bessel_far_complex(0, z);
        j1 = pygpu_bessel_far_complex(1, z);
        /* Forward the recurrence gains a factor of about exp(n^2 |Im z| / |z|^2) on J; backward it takes |z| steps. */
        if (n == 0 || size > 1e8 || (n + 1 < size && (n + 1.0) * (n + 1.0) * fabs(z.imag) <= size * size)) {
            for (int k = 1; k <= n; ++k) {
                below = cdouble_sub(cdouble_mul(cdouble_mulr(inverse, k), j1), j0);
                j0 = j1;
                j1 = below;
            }
            *jn = j0;
            *jn1 = j1;
            return;
        }
    }
    /* exp(-+ i z) = J0 + 2 sum of (-+ i)^k Jk, of both the one that is large, so that nothing cancels. */
    above = want = want1 = sum = cdouble_fromreal(0);
    here = cdouble_fromreal(1);
    turn = cdouble_new(0, z.imag >= 0 ? -1 : 1);
    for (int k = pygpu_bessel_start(fmax(n + 1.0, size)); k > 0; --k) {
        power = (k & 1) ? turn : cdouble_fromreal(1);
        if ((k & 3) >= 2)
            power = cdouble_neg(power);
        sum = cdouble_add(sum, cdouble_mul(power, cdouble_mulr(here, 2)));
        below = cdouble_sub(cdouble_mul(cdouble_mulr(inverse, k), here), above);
        above = here;
        here = below;
        if (k - 1 == n) {
            want = here;
            want1 = above;
        }
        if (fabs(here.real) > PGB_BIG || fabs(here.imag) > PGB_BIG) {
            here = cdouble_divider(here, PGB_BIG);
            above = cdouble_divider(above, PGB_BIG);
            want = cdouble_divider(want, PGB_BIG);
            want1 = cdouble_divider(want1, PGB_BIG);
            sum = cdouble_divider(sum, PGB_BIG);
        }
    }
    if (!far)
        power = cdouble_divide(cdouble_exp(cdouble_mul(turn, z)), cdouble_add(sum, here));
    else if (cdouble_abs(here) > cdouble_abs(above))
        power = cdouble_divide(j0, here);
    else
        power = cdouble_divide(j1, above);
    *jn = cdouble_mul(want, power);
    *jn1 = cdouble_mul(want1, power);
}

PGB_FUNCTION void bessel_j_complex(int v, cdouble_t z, cdouble_t *j_v, cdouble_t *j_vp1)
{
    cdouble_t a, b;
    int left = z.real < 0, n = v >= 0 ? v : -v - 1;
    pygpu_bessel_pair_complex(n, left ? cdouble_neg(z) : z, &a, &b);
    if (left) {     /* Jn(-z) = (-1)^n Jn(z) */
        if (n & 1)
            a = cdouble_neg(a);
        else
            b = cdouble_neg(b);
    }
    if (v >= 0) {
        *j_v = a;
        *j_vp1 = b;
        return;
    }
    /* J(-n) = (-1)^n J(n): the orders v and v + 1 are -(n + 1) and -n. */
    *j_v = (n & 1) ? b : cdouble_neg(b);
    *j_vp1 = (n & 1) ? cdouble_neg(a) : a;
}

#endif
