/* pyopencl-bessel-y.cl - Bessel functions of the second kind and integer order in double precision.
 *
 *     bessel_y0(x)  bessel_y1(x)  bessel_yn(n, x)     -infinity at 0, NaN below
 *
 * Up to x = 25 by Neumann's expansions in Bessel functions of the first kind, A&S 9.1.88 and 9.1.89 (M. Abramowitz,
 * I. A. Stegun, Handbook of Mathematical Functions, 1964); beyond by Hankel's asymptotic expansion. Errors are
 * absolute ones of a few 1e-16 times the size that Y has nearby.
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
#ifndef PYGPU_BESSEL_Y_CL
#define PYGPU_BESSEL_Y_CL

#include <pyopencl-eval-tbl.cl>
#include <pyopencl-bessel-j.cl>
#include "pygpu-bessel.h"

typedef double bessel_y_scalar_type;

/* Y of the orders 0 and 1 for x > 0. */
PGB_FUNCTION void pygpu_bessel_y01(double x, double *y0, double *y1)
{
    double above = 0, here = 1, below, sum = 0, even = 0, odd = 0, log_half, j;
    if (x > PGB_ASYMPTOTIC) {
        pygpu_bessel_far(0, x, &j, y0);
        pygpu_bessel_far(1, x, &j, y1);
        return;
    }
    if (x < 1e-8) {     /* the first terms are all, and the recurrence would overflow */
        *y0 = M_2_PI * (log(0.5 * x) + PGB_EULER);
        *y1 = -M_2_PI / x;
        return;
    }
    for (int n = pygpu_bessel_start(x) | 1; n > 0; --n) {
        int k = n / 2;
        double sign = (k & 1) ? -1 : 1;
        if (n & 1) {
            if (k > 0)
                odd += sign * n / (k * (k + 1.0)) * here;
        }
        else {
            even += sign / k * here;
            sum += 2 * here;
        }
        below = 2 * n / x * here - above;
        above = here;
        here = below;
        if (fabs(here) > PGB_BIG) {
            here /= PGB_BIG;
            above /= PGB_BIG;
            even /= PGB_BIG;
            odd /= PGB_BIG;
            sum /= PGB_BIG;
        }
    }
    sum += here;
    log_half = log(0.5 * x) + PGB_EULER;
    *y0 = M_2_PI * (log_half * here - 2 * even) / sum;
    *y1 = M_2_PI * (-here / x + (log_half - 1) * above - odd) / sum;
}

PGB_FUNCTION bessel_y_scalar_type bessel_yn(int n, bessel_y_scalar_type x)
{
    double y0, y1, next, sign = (n < 0 && (n & 1)) ? -1 : 1;
    if (!(x >= 0))
        return NAN;
    if (x == 0)
        return -sign * INFINITY;
    if (isinf(x))
        return 0;
    n = (int) abs(n);
    pygpu_bessel_y01(x, &y0, &y1);
    for (int k = 1; k <= n; ++k) {
        if (isinf(y1))
            return sign * y1;   /* going on would subtract infinities */
        next = 2 * k / x * y1 - y0;
        y0 = y1;
        y1 = next;
    }
    return sign * y0;
}

PGB_FUNCTION bessel_y_scalar_type bessel_y0(bessel_y_scalar_type x) { return bessel_yn(0, x); }
PGB_FUNCTION bessel_y_scalar_type bessel_y1(bessel_y_scalar_type x) { return bessel_yn(1, x); }

#endif
