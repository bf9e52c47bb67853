/* pygpu-complex-functions.h - the functions of one complex type; included by pyopencl-complex.h once for each.
 *
 * The includer defines PGC_REAL, PGC_TYPE, PGC(NAME), the limits and PGC_FUNCTION. Literals are float, which is exact
 * for all that are used here and needs no double on the device.
 *
 * Sources: division: M. Baudin, R. L. Smith, "A Robust Complex Division in Scilab", arXiv:1210.4539 (2012).
 * sqrt and tanh: W. Kahan, "Branch Cuts for Complex Elementary Functions", in The State of the Art in Numerical
 * Analysis (1987). Special values: ISO C99, Annex G.
 *
 * Copyright (c) the pygpu developers. MIT licence, see LICENSE.
 */

PGC_FUNCTION PGC_TYPE PGC(new)(PGC_REAL real, PGC_REAL imag)
{
    PGC_TYPE z;
    z.real = real;
    z.imag = imag;
    return z;
}

PGC_FUNCTION PGC_TYPE PGC(fromreal)(PGC_REAL real) { return PGC(new)(real, 0); }

PGC_FUNCTION PGC_REAL PGC(real)(PGC_TYPE z) { return z.real; }
PGC_FUNCTION PGC_REAL PGC(imag)(PGC_TYPE z) { return z.imag; }
PGC_FUNCTION PGC_REAL PGC(abs)(PGC_TYPE z) { return hypot(z.real, z.imag); }
PGC_FUNCTION PGC_REAL PGC(abs_squared)(PGC_TYPE z) { return z.real * z.real + z.imag * z.imag; }

PGC_FUNCTION PGC_TYPE PGC(neg)(PGC_TYPE z) { return PGC(new)(-z.real, -z.imag); }
PGC_FUNCTION PGC_TYPE PGC(conj)(PGC_TYPE z) { return PGC(new)(z.real, -z.imag); }

/* --- sums and products */

PGC_FUNCTION PGC_TYPE PGC(add)(PGC_TYPE a, PGC_TYPE b) { return PGC(new)(a.real + b.real, a.imag + b.imag); }
PGC_FUNCTION PGC_TYPE PGC(addr)(PGC_TYPE a, PGC_REAL b) { return PGC(new)(a.real + b, a.imag); }
PGC_FUNCTION PGC_TYPE PGC(radd)(PGC_REAL a, PGC_TYPE b) { return PGC(new)(a + b.real, b.imag); }

PGC_FUNCTION PGC_TYPE PGC(sub)(PGC_TYPE a, PGC_TYPE b) { return PGC(new)(a.real - b.real, a.imag - b.imag); }
PGC_FUNCTION PGC_TYPE PGC(subr)(PGC_TYPE a, PGC_REAL b) { return PGC(new)(a.real - b, a.imag); }
PGC_FUNCTION PGC_TYPE PGC(rsub)(PGC_REAL a, PGC_TYPE b) { return PGC(new)(a - b.real, -b.imag); }

PGC_FUNCTION PGC_TYPE PGC(mul)(PGC_TYPE a, PGC_TYPE b)
{
    return PGC(new)(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real);
}

PGC_FUNCTION PGC_TYPE PGC(mulr)(PGC_TYPE a, PGC_REAL b) { return PGC(new)(a.real * b, a.imag * b); }
PGC_FUNCTION PGC_TYPE PGC(rmul)(PGC_REAL a, PGC_TYPE b) { return PGC(new)(a * b.real, a * b.imag); }

PGC_FUNCTION PGC_TYPE PGC(fma)(PGC_TYPE a, PGC_TYPE b, PGC_TYPE c)
{
    return PGC(new)(fma(-a.imag, b.imag, fma(a.real, b.real, c.real)),
                    fma(a.imag, b.real, fma(a.real, b.imag, c.imag)));
}

/* --- quotients */

/* (a + b r) t, where r = d / c and t = 1 / (c + d r), without losing b r to underflow. */
PGC_FUNCTION PGC_REAL PGC(divide_part)(PGC_REAL a, PGC_REAL b, PGC_REAL c, PGC_REAL d, PGC_REAL r, PGC_REAL t)
{
    PGC_REAL br = b * r;
    if (br != 0)
        return (a + br) * t;
    return r != 0 ? a * t + (b * t) * r : (a + d * (b / c)) * t;
}

PGC_FUNCTION PGC_TYPE PGC(divide)(PGC_TYPE a, PGC_TYPE b)
{
    PGC_REAL a_size = fmax(fabs(a.real), fabs(a.imag)), b_size = fmax(fabs(b.real), fabs(b.imag));
    PGC_REAL scale = 1, r, t;
    if (b.real == 0 && b.imag == 0)
        return PGC(new)(a.real / fabs(b.real), a.imag / fabs(b.real));
    if (a_size >= 0.5f * PGC_MAX) {
        a = PGC(mulr)(a, 0.5f);
        scale = 2;
    }
    if (b_size >= 0.5f * PGC_MAX) {
        b = PGC(mulr)(b, 0.5f);
        scale *= 0.5f;
    }
    if (a_size <= PGC_SMALL) {
        a = PGC(mulr)(a, PGC_SCALE);
        scale /= PGC_SCALE;
    }
    if (b_size <= PGC_SMALL) {
        b = PGC(mulr)(b, PGC_SCALE);
        scale *= PGC_SCALE;
    }
    if (fabs(b.imag) <= fabs(b.real)) {
        r = b.imag / b.real;
        t = 1 / (b.real + b.imag * r);
        return PGC(new)(PGC(divide_part)(a.real, a.imag, b.real, b.imag, r, t) * scale,
                        PGC(divide_part)(a.imag, -a.real, b.real, b.imag, r, t) * scale);
    }
    r = b.real / b.imag;
    t = 1 / (b.imag + b.real * r);
    return PGC(new)(PGC(divide_part)(a.imag, a.real, b.imag, b.real, r, t) * scale,
                    PGC(divide_part)(-a.real, a.imag, b.imag, b.real, r, t) * scale);
}

PGC_FUNCTION PGC_TYPE PGC(divider)(PGC_TYPE a, PGC_REAL b) { return PGC(new)(a.real / b, a.imag / b); }
PGC_FUNCTION PGC_TYPE PGC(rdivide)(PGC_REAL a, PGC_TYPE b) { return PGC(divide)(PGC(fromreal)(a), b); }

/* --- square root, exponential, logarithm, powers */

PGC_FUNCTION PGC_TYPE PGC(sqrt)(PGC_TYPE z)
{
    PGC_REAL x = fabs(z.real), y = fabs(z.imag), scale = 1, root, other;
    if (x == 0 && y == 0)
        return PGC(new)(0, z.imag);
    if (isinf(y))
        return PGC(new)(y, z.imag);
    if (isinf(x))
        return z.real > 0 ? PGC(new)(x, isnan(y) ? y : copysign((PGC_REAL) 0, z.imag))
                          : PGC(new)(isnan(y) ? y : (PGC_REAL) 0, copysign(x, z.imag));
    if (fmax(x, y) >= 0.25f * PGC_MAX) {
        x *= 0.0625f;
        y *= 0.0625f;
        scale = 4;
    }
    else if (fmax(x, y) <= PGC_SMALL) {
        x *= PGC_SCALE * 2;     /* an even power of two, so that its root is one */
        y *= PGC_SCALE * 2;
        scale = 1 / sqrt(PGC_SCALE * 2);
    }
    root = sqrt(0.5f * (x + hypot(x, y)));
    other = y / (2 * root);
    if (z.real >= 0 || isnan(z.real))
        return PGC(new)(root * scale, copysign(other * scale, z.imag));
    return PGC(new)(other * scale, copysign(root * scale, z.imag));
}

/* exp(x) f, finite wherever the product is although exp(x) is not. */
PGC_FUNCTION PGC_REAL PGC(exp_times)(PGC_REAL x, PGC_REAL f)
{
    PGC_REAL root = exp(0.5f * x);
    return f == 0 ? f : (root * f) * root;
}

PGC_FUNCTION PGC_TYPE PGC(exp)(PGC_TYPE z)
{
    PGC_REAL c, s;
    if (z.imag == 0)
        return PGC(new)(exp(z.real), z.imag);
    if (isinf(z.real) && z.real < 0 && !isfinite(z.imag))
        return PGC(new)(0, 0);
    s = sincos(z.imag, &c);
    if (z.real <= PGC_EXP_LIMIT) {
        PGC_REAL e = exp(z.real);
        return PGC(new)(e * c, e * s);
    }
    return PGC(new)(PGC(exp_times)(z.real, c), PGC(exp_times)(z.real, s));
}

PGC_FUNCTION PGC_TYPE PGC(log)(PGC_TYPE z)
{
    PGC_REAL x = fabs(z.real), y = fabs(z.imag), angle = atan2(z.imag, z.real);
    PGC_REAL big = y > x ? y : x, small = y > x ? x : y;    /* not fmax: a NaN must stay */
    PGC_REAL big2, small2;
    if (big >= 0.5f * PGC_MAX && !isinf(big))
        return PGC(new)(log(hypot(0.25f * big, 0.25f * small)) + log((PGC_REAL) 4), angle);
    if (big <= PGC_SMALL && big > 0)
        return PGC(new)(log(hypot(PGC_SCALE * big, PGC_SCALE * small)) - log((PGC_REAL) PGC_SCALE), angle);
    big2 = big * big;
    small2 = small * small;
    if (big2 + small2 >= 0.5f && big2 + small2 <= 3) {
        /* |z| is near 1, so log |z| near 0: sum |z|^2 - 1 with the rounding errors of both squares. */
        PGC_REAL errors = fma(big, big, -big2) + fma(small, small, -small2);
        return PGC(new)(0.5f * log1p((big2 - 1) + small2 + errors), angle);
    }
    return PGC(new)(log(hypot(big, small)), angle);
}

PGC_FUNCTION PGC_TYPE PGC(pow)(PGC_TYPE a, PGC_TYPE b)
{
    if (b.real == 0 && b.imag == 0)
        return PGC(new)(1, 0);
    if (a.real == 0 && a.imag == 0)
        return b.real > 0 ? PGC(new)(0, 0) : PGC(new)(NAN, NAN);
    return PGC(exp)(PGC(mul)(b, PGC(log)(a)));
}

PGC_FUNCTION PGC_TYPE PGC(powr)(PGC_TYPE a, PGC_REAL b)
{
    PGC_REAL size, c, s;
    if (b == 0)
        return PGC(new)(1, 0);
    if (a.real == 0 && a.imag == 0)
        return b > 0 ? PGC(new)(0, 0) : PGC(new)(NAN, NAN);
    size = pow(PGC(abs)(a), b);
    s = sincos(b * atan2(a.imag, a.real), &c);
    return PGC(new)(size * c, size * s);
}

PGC_FUNCTION PGC_TYPE PGC(rpow)(PGC_REAL a, PGC_TYPE b) { return PGC(pow)(PGC(fromreal)(a), b); }

/* --- hyperbolic and trigonometric functions; f(i z) gives the second kind from the first */

PGC_FUNCTION PGC_TYPE PGC(sinh)(PGC_TYPE z)
{
    PGC_REAL c, s = sincos(z.imag, &c);
    if (fabs(z.real) <= PGC_EXP_LIMIT || z.imag == 0)
        return PGC(new)(sinh(z.real) * c, z.imag == 0 ? z.imag : cosh(z.real) * s);
    return PGC(new)(copysign((PGC_REAL) 1, z.real) * PGC(exp_times)(fabs(z.real), 0.5f * c),
                    PGC(exp_times)(fabs(z.real), 0.5f * s));
}

PGC_FUNCTION PGC_TYPE PGC(cosh)(PGC_TYPE z)
{
    PGC_REAL c, s = sincos(z.imag, &c);
    if (fabs(z.real) <= PGC_EXP_LIMIT)
        return PGC(new)(cosh(z.real) * c, sinh(z.real) * s);
    return PGC(new)(PGC(exp_times)(fabs(z.real), 0.5f * c),
                    copysign((PGC_REAL) 1, z.real) * PGC(exp_times)(fabs(z.real), 0.5f * s));
}

PGC_FUNCTION PGC_TYPE PGC(tanh)(PGC_TYPE z)
{
    PGC_REAL t, s, beta, rho, denominator;
    if (fabs(z.real) > PGC_TANH_LIMIT) {
        PGC_REAL c, sine = sincos(z.imag, &c);
        return PGC(new)(copysign((PGC_REAL) 1, z.real), 4 * sine * c * exp(-2 * fabs(z.real)));
    }
    t = tan(z.imag);
    s = sinh(z.real);
    rho = sqrt(1 + s * s);
    if (isinf(t))
        return PGC(new)(rho / s, 1 / t);
    beta = 1 + t * t;
    denominator = 1 + beta * s * s;
    return PGC(new)(beta * rho * s / denominator, t / denominator);
}

PGC_FUNCTION PGC_TYPE PGC(sin)(PGC_TYPE z)
{
    PGC_TYPE w = PGC(sinh)(PGC(new)(-z.imag, z.real));
    return PGC(new)(w.imag, -w.real);
}

PGC_FUNCTION PGC_TYPE PGC(cos)(PGC_TYPE z) { return PGC(cosh)(PGC(new)(-z.imag, z.real)); }

PGC_FUNCTION PGC_TYPE PGC(tan)(PGC_TYPE z)
{
    PGC_TYPE w = PGC(tanh)(PGC(new)(-z.imag, z.real));
    return PGC(new)(w.imag, -w.real);
}

#undef PGC_REAL
#undef PGC_TYPE
#undef PGC
#undef PGC_MAX
#undef PGC_SMALL
#undef PGC_SCALE
#undef PGC_EXP_LIMIT
#undef PGC_TANH_LIMIT
