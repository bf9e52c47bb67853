/* pyopencl-airy.cl - Airy functions in double precision.
 *
 *     int airy(x, &ai, &aip, &bi, &bip)    Ai(x), Ai'(x), Bi(x), Bi'(x)
 *
 * Returns 0, or -1 where Bi overflows (x > 104; Ai is 0 and Bi infinite then). Errors are a few 1e-15 relative to
 * the function's size; near the zeros on the negative axis they are absolute ones. Sources: DLMF 9.4 (power series),
 * 9.6 (as Bessel functions of order one third), 9.7 (asymptotic expansions).
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
#ifndef PYGPU_AIRY_CL
#define PYGPU_AIRY_CL

#include <pyopencl-eval-tbl.cl>
#include "pygpu-bessel.h"

#define PGB_AI0 0.355028053887817239260     /* Ai(0) */
#define PGB_MINUS_AIP0 0.258819403792806798405  /* -Ai'(0) */
#define PGB_SQRT3 1.73205080756887729353

/* The two power series f = 1 + x^3/6 + ..., g = x + x^4/12 + ... and their derivatives. */
PGB_FUNCTION void pygpu_airy_series(double x, double *f, double *fp, double *g, double *gp)
{
    double cube = x * x * x, a = 1, b = x, c = 0.5 * x * x, d = 1;
    *f = a;
    *g = b;
    *fp = c;
    *gp = d;
    for (int k = 3; k < 600; k += 3) {
        a *= cube / ((k - 1.0) * k);
        b *= cube / (k * (k + 1.0));
        c *= cube / (k * (k + 2.0));
        d *= cube / ((k - 2.0) * k);
        *f += a;
        *g += b;
        *fp += c;
        *gp += d;
        if (fabs(a) <= 1e-18 * fabs(*f) && fabs(d) <= 1e-18 * fabs(*gp))
            break;
    }
}

/* exp(x) K of the orders mu and mu + 1, |mu| <= 1/2, for x >= 1.5: N. M. Temme, "On the Numerical Evaluation of the
   Modified Bessel Function of the Third Kind", J. Comput. Phys. 19 (1975), 324-337; the continued fraction by
   Steed's method, the normalising sum along with it. */
PGB_FUNCTION void pygpu_bessel_k_pair(double mu, double x, double *k0, double *k1)
{
    double a1 = 0.25 - mu * mu, a = -a1, b = 2 * (1 + x), d = 1 / b, step = d, fraction = d;
    double before = 0, last = 1, c = a1, q = a1, sum = 1 + q * step;
    for (int i = 2; i < 160; ++i) {
        double next, part;
        a -= 2 * (i - 1);
        c = -a * c / i;
        next = (before - b * last) / a;
        before = last;
        last = next;
        q += c * next;
        b += 2;
        d = 1 / (b + a * d);
        step *= b * d - 1;
        fraction += step;
        part = q * step;
        sum += part;
        if (fabs(part) < 1e-17 * fabs(sum))
            break;
    }
    *k0 = sqrt(M_PI / (2 * x)) / sum;
    *k1 = *k0 * (mu + x + 0.5 - a1 * fraction) / x;
}

/* The sums of 9.7.7 and 9.7.8: Bi = exp(zeta) / sqrt(pi) / x^(1/4) u, Bi' = exp(zeta) / sqrt(pi) x^(1/4) v. */
PGB_FUNCTION void pygpu_airy_far(double zeta, double *u, double *v)
{
    double term = 1;
    *u = *v = 1;
    for (int k = 1; k < 40 && term > 1e-18; ++k) {
        term *= (6 * k - 5.0) * (6 * k - 3.0) * (6 * k - 1.0) / (216.0 * k * (2 * k - 1) * zeta);
        *u += term;
        *v -= term * (6 * k + 1) / (6 * k - 1);
    }
}

PGB_FUNCTION int airy(double x, double *ai, double *aip, double *bi, double *bip)
{
    double f, fp, g, gp, size = fabs(x), root = sqrt(size), zeta = 2 * size * root / 3;
    if (isnan(x)) {
        *ai = *aip = *bi = *bip = x;
        return 0;
    }
    if (x > 110) {
        *ai = *aip = 0;
        *bi = *bip = INFINITY;
        return -1;
    }
    if (x < -1) {
        double j1_3, j4_3, j2_3, j5_3, minus1_3, minus2_3;
        pygpu_bessel_pair(1.0 / 3, zeta, &j1_3, &j4_3);
        pygpu_bessel_pair(2.0 / 3, zeta, &j2_3, &j5_3);
        minus1_3 = 4 / (3 * zeta) * j2_3 - j5_3;
        minus2_3 = 2 / (3 * zeta) * j1_3 - j4_3;
        *ai = root / 3 * (j1_3 + minus1_3);
        *aip = size / 3 * (j2_3 - minus2_3);
        *bi = root / PGB_SQRT3 * (minus1_3 - j1_3);
        *bip = size / PGB_SQRT3 * (minus2_3 + j2_3);
        return 0;
    }
    if (zeta <= PGB_ASYMPTOTIC) {
        pygpu_airy_series(x, &f, &fp, &g, &gp);
        *ai = PGB_AI0 * f - PGB_MINUS_AIP0 * g;
        *aip = PGB_AI0 * fp - PGB_MINUS_AIP0 * gp;
        *bi = PGB_SQRT3 * (PGB_AI0 * f + PGB_MINUS_AIP0 * g);
        *bip = PGB_SQRT3 * (PGB_AI0 * fp + PGB_MINUS_AIP0 * gp);
    }
    else {
        double u, v, halved = exp(0.5 * zeta), fourth = sqrt(root) * sqrt(M_PI);
        pygpu_airy_far(zeta, &u, &v);
        *bi = halved * (halved * (u / fourth));
        *bip = halved * (halved * (v * root / fourth));
    }
    if (zeta > 1.5) {   /* in the series Ai is a small difference of large numbers there */
        double k1_3, k2_3, decay = exp(-zeta);
        pygpu_bessel_k_pair(-1.0 / 3, zeta, &k1_3, &k2_3);
        *ai = M_1_PI * root / PGB_SQRT3 * k1_3 * decay;
        *aip = -M_1_PI * x / PGB_SQRT3 * k2_3 * decay;
    }
    return isinf(*bi) ? -1 : 0;
}

#endif
