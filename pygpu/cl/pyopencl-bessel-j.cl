/* pyopencl-bessel-j.cl - Bessel functions of the first kind in double precision.
 *
 *     bessel_j0(x)  bessel_j1(x)  bessel_jn(n, x)    integer orders, any x
 *     bessel_jv(v, x)                                 real orders; NaN for x < 0 unless v is an integer
 *
 * Absolute errors are a few 1e-16, relative ones the same away from zeros; see pygpu-bessel.h for the formulas.
 * An order above x takes a loop of about that many steps.
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
#ifndef PYGPU_BESSEL_J_CL
#define PYGPU_BESSEL_J_CL

#include <pyopencl-eval-tbl.cl>
#include <pyopencl-airy.cl>
#include "pygpu-bessel.h"

typedef double bessel_j_scalar_type;

PGB_FUNCTION double pygpu_bessel_j_negative(double nu, double x)
{
    /* J(-nu): from two orders in [0, 2) downward, which is the direction that it grows in. */
    int n = (int) floor(nu) + 1;
    double mu = n - nu, j0, j1, below;
    pygpu_bessel_pair(mu, x, &j0, &j1);
    for (int k = 0; k < n; ++k) {
        below = 2 * (mu - k) / x * j0 - j1;
        j1 = j0;
        j0 = below;
    }
    return j0;
}

PGB_FUNCTION double bessel_jv(double v, double x)
{
    int odd = fmod(v, 2.0) != 0, whole = v == floor(v);
    if (isnan(v) || isnan(x) || (x < 0 && !whole))
        return NAN;
    if (v < 0 && !whole)
        return x == 0 ? INFINITY : pygpu_bessel_j_negative(-v, x);
    return (odd && (v < 0) != (x < 0) ? -1 : 1) * pygpu_bessel_j(fabs(v), fabs(x));
}

#define bessel_jn bessel_jv

PGB_FUNCTION bessel_j_scalar_type bessel_j0(bessel_j_scalar_type x) { return bessel_jv(0, x); }
PGB_FUNCTION bessel_j_scalar_type bessel_j1(bessel_j_scalar_type x) { return bessel_jv(1, x); }

#endif
