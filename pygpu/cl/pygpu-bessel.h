/* pygpu-bessel.h - Bessel functions of real argument and real order in double precision: the common ground of
 * pyopencl-bessel-j.cl, pyopencl-bessel-y.cl and pyopencl-airy.cl.
 *
 * Formula numbers are those of the NIST Digital Library of Mathematical Functions (DLMF), https://dlmf.nist.gov.
 * Three ways to compute J, by the size of the argument x:
 *   x^2 <= 4 (order + 1)   the power series 10.2.2, which does not cancel there;
 *   x <= 25                Miller's backward recurrence, normalised by Neumann's sum 10.23.15;
 *   x > 25                 Hankel's asymptotic expansion 10.17.3 for the two lowest orders.
 * From these two other orders follow by the recurrence 10.6.1, forward while the order is below x, backward above.
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */
#ifndef PYGPU_BESSEL_H
#define PYGPU_BESSEL_H

#if defined(__OPENCL_C_VERSION__) && __OPENCL_C_VERSION__ >= 120
#define PGB_FUNCTION static inline
#else
#define PGB_FUNCTION inline
#endif

#define PGB_ASYMPTOTIC 25.0     /* from here on the asymptotic expansions reach double precision */
#define PGB_EULER 0.57721566490153286061
#define PGB_BIG 1e200           /* a backward recurrence is scaled down when it exceeds this */

/* The index from which a backward recurrence has settled to 1e-17 when it reaches order or argument m: there J has
   the size of Ai(s), s = 12 2^(1/3), by 10.19.8. */
PGB_FUNCTION int pygpu_bessel_start(double m) { return (int) (m + 12 * cbrt(m)) + 20; }

/* Hankel's P and Q: J = sqrt(2 / (pi x)) (P cos w - Q sin w), Y = ... (P sin w + Q cos w), with
   w = x - (nu / 2 + 1 / 4) pi. */
PGB_FUNCTION void pygpu_bessel_pq(double nu, double x, double *p, double *q)
{
    double term = 1, sum[2] = {1, 0};
    for (int k = 1; k < 100; ++k) {
        double next = term * (2 * nu - 2 * k + 1) * (2 * nu + 2 * k - 1) / (8 * k * x);
        if (fabs(next) < 1e-18 || (fabs(next) > fabs(term) && k > nu))
            break;
        term = next;
        sum[k & 1] += (k & 2) ? -term : term;
    }
    *p = sum[0];
    *q = sum[1];
}

/* J and Y of order nu for an x that is large against nu^2. */
PGB_FUNCTION void pygpu_bessel_far(double nu, double x, double *j, double *y)
{
    double p, q, cosine, sine, size = sqrt(2 / (M_PI * x)), c = cospi(nu / 2 + 0.25), s = sinpi(nu / 2 + 0.25);
    sine = sincos(x, &cosine);
    pygpu_bessel_pq(nu, x, &p, &q);
    /* Subtracting the phase from x would round it: add the angles by their sines instead. */
    *j = size * (p * (cosine * c + sine * s) - q * (sine * c - cosine * s));
    *y = size * (p * (sine * c - cosine * s) + q * (cosine * c + sine * s));
}

/* J of order mu + n by its power series; 0 <= mu < 1. */
PGB_FUNCTION double pygpu_bessel_series(double mu, int n, double x)
{
    double halved = 0.5 * x, factor = mu == 0 ? 1 : pow(halved, mu) / tgamma(1 + mu), term = 1, sum = 1;
    for (int k = 1; k <= n && factor != 0; ++k)
        factor *= halved / (mu + k);
    for (int k = 1; fabs(term) > 1e-18; ++k) {
        term *= -halved * halved / (k * (mu + n + k));
        sum += term;
    }
    return factor * sum;
}

/* J of the orders mu and mu + 1, where 0 <= mu < 1 and x > 0. */
PGB_FUNCTION void pygpu_bessel_pair(double mu, double x, double *j0, double *j1)
{
    double above = 0, here = 1, below, sum = 0, weight = 1, y;
    int top;
    if (x <= 2) {
        *j0 = pygpu_bessel_series(mu, 0, x);
        *j1 = pygpu_bessel_series(mu, 1, x);
        return;
    }
    if (x > PGB_ASYMPTOTIC) {
        pygpu_bessel_far(mu, x, j0, &y);
        pygpu_bessel_far(mu + 1, x, j1, &y);
        return;
    }
    /* (x / 2)^mu = sum of (mu + 2 k) gamma(mu + k) / k! J(mu + 2 k); weight is gamma(mu + k) / (k! gamma(mu + 1)). */
    top = pygpu_bessel_start(x) & ~1;
    for (int k = 2; k <= top / 2; ++k)
        weight *= (mu + k - 1) / k;
    for (int n = top; n > 0; --n) {
        if ((n & 1) == 0) {
            sum += (mu + n) * weight * here;
            weight *= (n / 2) / (mu + n / 2 - 1 + (n == 2));    /* after the last one it is not used */
        }
        below = 2 * (mu + n) / x * here - above;
        above = here;
        here = below;
    }
    sum = (sum + here) * (mu == 0 ? 1 : tgamma(1 + mu) * pow(0.5 * x, -mu));
    *j0 = here / sum;
    *j1 = above / sum;
}

/* J of the orders mu + n and mu + n + 1 from those of mu and mu + 1, where mu + n > x. */
PGB_FUNCTION void pygpu_bessel_climb(double mu, int n, double x, double j0, double j1, double *jn, double *jn1)
{
    double above = 0, here = 1, below, want = 0, want1 = 0, scale;
    for (int k = pygpu_bessel_start(n + 1); k > 0; --k) {
        below = 2 * (mu + k) / x * here - above;
        above = here;
        here = below;
        if (k - 1 == n) {
            want = here;
            want1 = above;
        }
        if (fabs(here) > PGB_BIG) {
            here /= PGB_BIG;
            above /= PGB_BIG;
            want /= PGB_BIG;
            want1 /= PGB_BIG;
        }
    }
    scale = fabs(here) > fabs(above) ? j0 / here : j1 / above;
    *jn = want * scale;
    *jn1 = want1 * scale;
}

/* J of order nu >= 0 for x >= 0. */
PGB_FUNCTION double pygpu_bessel_j(double nu, double x)
{
    int n = (int) fmin(floor(nu), 1e9);
    double mu = nu - n, j0, j1, next;
    if (isinf(x))
        return 0;
    if (nu > 1e9)
        return x < 0.9 * nu ? 0 : NAN;      /* the loop would take seconds for each value */
    if (x * x <= 4 * (nu + 1))
        return x == 0 ? (double) (nu == 0) : pygpu_bessel_series(mu, n, x);
    pygpu_bessel_pair(mu, x, &j0, &j1);
    if (n > 1 && nu > x) {
        pygpu_bessel_climb(mu, n, x, j0, j1, &j0, &next);
        return j0;
    }
    for (int k = 1; k <= n; ++k) {
        next = 2 * (mu + k) / x * j1 - j0;
        j0 = j1;
        j1 = next;
    }
    return j0;
}

#endif
