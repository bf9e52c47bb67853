"""Distributions item by item, in the common language: what an elementwise kernel computes from an
item's counter and the parameters.

Each function draws as many numbers as it needs (:func:`.random_source.draws`) from counters that
belong only to its item, so a result depends on nothing else. An invalid parameter gives NaN, or -1
for integers; no parameter makes a loop endless.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.util.lazy import lazy

from .random_functions import NATIVE, UNIT, functions
from .random_source import BLOCKS, BOUNDED, POISSON, distribution, draws

if TYPE_CHECKING:
    from pygpu._src.codegen.kernels.elementwise import Operation
    from pygpu._src.runtime.backend import Backend

# dirichlet() and beta() need the log of a Gamma variate when the variate itself is 0.
_GAMMA = """\
/* G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables" (2000) */
PG_INLINE int pg_gamma_trial(pg_draws *d, pg_real b, pg_real c, pg_real *g)
{
    const pg_real x = pg_next_normal(d), u = pg_next_unit(d), root = PG_R(1.0) + c * x;
    const pg_real v = root * root * root, xx = x * x;
    *g = b * v;
    if (root <= PG_R(0.0))
        return 0;
    return u < PG_R(1.0) - PG_R(0.0331) * xx * xx
           || pg_log(u) < PG_R(0.5) * xx + b * (PG_R(1.0) - v + pg_log(v));
}
PG_INLINE pg_real pg_gamma_from_1(pg_draws *d, pg_real a)
{
    const pg_real b = a - PG_R(1.0) / PG_R(3.0), c = PG_R(1.0) / sqrt(PG_R(9.0) * b);
    pg_real g;
    /* The first trial succeeds nearly always; by itself, it uses words whose places are known. */
    if (!pg_gamma_trial(d, b, c, &g)) {
        PG_ROLLED
        while (!pg_gamma_trial(d, b, c, &g)) {
        }
    }
    return g;
}
PG_INLINE pg_real pg_gamma(pg_draws *d, pg_real a)
{
    if (!(a > PG_R(0.0)))
        return a == PG_R(0.0) ? PG_R(0.0) : PG_NAN;
    if (isinf(a))
        return a;
    const int small = a < PG_R(1.0);
    const pg_real g = pg_gamma_from_1(d, small ? a + PG_R(1.0) : a);
    return small ? g * pow(pg_next_unit(d), PG_R(1.0) / a) : g;
}
PG_INLINE pg_real pg_log_gamma_variate(pg_draws *d, pg_real a)
{
    const int small = a < PG_R(1.0);
    const pg_real g = log(pg_gamma_from_1(d, small ? a + PG_R(1.0) : a));
    return small ? g + log(pg_next_unit(d)) / a : g;
}
"""

_BETA = """\
PG_INLINE pg_real pg_beta(pg_draws *d, pg_real a, pg_real b) /* from two gamma variates */
{
    if (!(a > PG_R(0.0) && b > PG_R(0.0)))
        return PG_NAN;
    if (isinf(a) || isinf(b))
        return isinf(a) ? (isinf(b) ? PG_R(0.5) : PG_R(1.0)) : PG_R(0.0);
    if (a >= PG_R(1.0) && b >= PG_R(1.0)) {
        const pg_real x = pg_gamma_from_1(d, a), y = pg_gamma_from_1(d, b);
        return x / (x + y);
    }
    const pg_real x = pg_log_gamma_variate(d, a), y = pg_log_gamma_variate(d, b);
    return PG_R(1.0) / (PG_R(1.0) + exp(y - x));
}
"""

_CHI = """\
PG_INLINE pg_real pg_chisquare(pg_draws *d, pg_real df)
{
    return df > PG_R(0.0) ? PG_R(2.0) * pg_gamma(d, df * PG_R(0.5)) : PG_NAN;
}
PG_INLINE pg_real pg_standard_t(pg_draws *d, pg_real df)
{
    if (!(df > PG_R(0.0)))
        return PG_NAN;
    const pg_real z = pg_next_normal(d);
    return isinf(df) ? z : z * sqrt(PG_R(0.5) * df) / sqrt(pg_gamma(d, df * PG_R(0.5)));
}
PG_INLINE pg_real pg_f_variate(pg_draws *d, pg_real m, pg_real n)
{
    const pg_real x = isinf(m) ? PG_R(1.0) : pg_chisquare(d, m) / m;
    return x / (isinf(n) ? PG_R(1.0) : pg_chisquare(d, n) / n);
}
"""

_NONCENTRAL = """\
PG_INLINE pg_real pg_noncentral(pg_draws *d, pg_real df, pg_real nonc)
{
    if (!(df > PG_R(0.0) && nonc >= PG_R(0.0)))
        return PG_NAN;
    if (df > PG_R(1.0)) {
        const pg_real z = pg_next_normal(d) + sqrt(nonc);
        return pg_chisquare(d, df - PG_R(1.0)) + z * z;
    }
    const pg_real mean = PG_R(0.5) * nonc, count = pg_poisson(d, mean, pg_poisson_setup(mean));
    return pg_chisquare(d, df + PG_R(2.0) * count);
}
"""

_VONMISES = """\
/* D. J. Best, N. I. Fisher, "Efficient simulation of the von Mises distribution" (1979) */
PG_INLINE pg_real pg_vonmises(pg_draws *d, pg_real mu, pg_real kappa)
{
    if (!(kappa >= PG_R(0.0)))
        return PG_NAN;
    pg_real angle;
    if (kappa < PG_EPS) {
        angle = PG_R(3.141592653589793) * (PG_R(2.0) * pg_next_inner(d) - PG_R(1.0));
    } else if (kappa > PG_KAPPA_LARGE) { /* as good as normal */
        angle = pg_next_normal(d) / sqrt(kappa);
    } else {
        /* the paper's s, w and z by s - 1, 1 - w and 1 + z, which do not cancel */
        pg_real above = PG_R(1.0) / kappa + kappa - PG_R(1.0);
        if (kappa > PG_KAPPA_SMALL) {
            const pg_real tau = PG_R(1.0) + sqrt(PG_R(1.0) + PG_R(4.0) * kappa * kappa);
            const pg_real rho = (tau - sqrt(PG_R(2.0) * tau)) / (PG_R(2.0) * kappa);
            above = (PG_R(1.0) - rho) * (PG_R(1.0) - rho) / (PG_R(2.0) * rho);
        }
        for (;;) {
            const pg_real half_turn = PG_R(0.5) * pg_next_unit(d), u = pg_next_unit(d);
            const pg_real c = cospi(half_turn), share = above / (above + PG_R(2.0) * c * c);
            const pg_real y = kappa * share * (above + PG_R(2.0)); /* kappa (s - w) */
            angle = PG_R(2.0) * asin(fmin(sinpi(half_turn) * sqrt(share), PG_R(1.0)));
            if (y * (PG_R(2.0) - y) - u >= PG_R(0.0) || log(y / u) + PG_R(1.0) - y >= PG_R(0.0))
                break;
        }
        if (pg_next_unit(d) <= PG_R(0.5))
            angle = -angle;
    }
    const pg_real turn = PG_R(6.283185307179586), sum = mu + angle;
    return sum - turn * rint(sum / turn);
}
"""

_WALD = """\
/* J. R. Michael, W. R. Schucany, R. W. Haas, "Generating random variates using transformations with
 * multiple roots" (1976); the smaller root is computed without cancellation. */
PG_INLINE pg_real pg_wald(pg_draws *d, pg_real mean, pg_real scale)
{
    if (!(mean > PG_R(0.0) && scale > PG_R(0.0)))
        return PG_NAN;
    const pg_real z = pg_next_normal(d), y = mean / scale * z * z * PG_R(0.5);
    const pg_real part = PG_R(1.0) + y + sqrt(y * (y + PG_R(2.0))); /* mean / smaller root */
    const pg_real u = pg_next_unit(d);
    return u * (PG_R(1.0) + part) <= part ? mean / part : mean * part;
}
"""

_TRIANGULAR = """\
PG_INLINE pg_real pg_triangular(pg_draws *d, pg_real left, pg_real mode, pg_real right)
{
    if (!(left <= mode && mode <= right && left < right))
        return PG_NAN;
    const pg_real whole = right - left, below = mode - left, u = pg_next_unit(d);
    if (u * whole <= below)
        return left + sqrt(u * whole * below);
    return right - sqrt((PG_R(1.0) - u) * whole * (right - mode));
}
"""

_BINOMIAL = """\
PG_INLINE pg_real pg_stirling(pg_real k) /* the rest of Stirling's formula for log k! */
{
    const pg_real x = PG_R(1.0) / (k + PG_R(1.0)), xx = x * x;
    if (k < PG_R(10.0))
        return lgamma(k + PG_R(1.0)) - (k + PG_R(0.5)) * log(k + PG_R(1.0)) + (k + PG_R(1.0))
               - PG_R(0.9189385332046728);
    return x * (PG_R(0.08333333333333333) - xx * (PG_R(0.002777777777777778)
           - xx * (PG_R(0.0007936507936507937) - xx * PG_R(0.0005952380952380953))));
}
/* V. Kachitvichyanukul, B. W. Schmeiser, "Binomial random variate generation" (1988), BINV */
PG_INLINE pg_real pg_binomial_small(pg_draws *d, pg_real n, pg_real p, pg_real first)
{
    const pg_real q = PG_R(1.0) - p;
    const pg_real bound = fmin(n, n * p + PG_R(10.0) * sqrt(n * p * q + PG_R(1.0)));
    pg_real k = PG_R(0.0), share = first, u = pg_next_unit(d);
    while (u > share) {
        k += PG_R(1.0);
        if (k > bound) {
            k = PG_R(0.0);
            share = first;
            u = pg_next_unit(d);
        } else {
            u -= share;
            share = (n - k + PG_R(1.0)) * p * share / (k * q);
        }
    }
    return k;
}
/* W. Hoermann, "The generation of binomial random variates" (1993), BTRS */
typedef struct { pg_real first, a, b, alpha, vr, odds; } pg_binomial_terms;
PG_INLINE pg_binomial_terms pg_binomial_setup(pg_real n, pg_real all)
{
    pg_binomial_terms t = {PG_R(0.0), PG_R(0.0), PG_R(0.0), PG_R(0.0), PG_R(0.0), PG_R(0.0)};
    const pg_real p = all > PG_R(0.5) ? PG_R(1.0) - all : all, q = PG_R(1.0) - p;
    if (n * p < PG_R(10.0)) {
        t.first = exp(n * log1p(-p));
    } else {
        const pg_real spread = sqrt(n * p * q);
        t.b = PG_R(1.15) + PG_R(2.53) * spread;
        t.a = PG_R(-0.0873) + PG_R(0.0248) * t.b + PG_R(0.01) * p;
        t.alpha = (PG_R(2.83) + PG_R(5.1) / t.b) * spread;
        t.vr = PG_R(0.92) - PG_R(4.2) / t.b;
        t.odds = p / q;
    }
    return t;
}
PG_INLINE pg_real pg_binomial_large(pg_draws *d, pg_real n, pg_real p, pg_binomial_terms t)
{
    const pg_real a = t.a, b = t.b, odds = t.odds, one = PG_R(1.0), h = PG_R(0.5);
    const pg_real m = floor((n + one) * p);
    for (;;) {
        const pg_real u = pg_next_unit(d) - h, us = h - fabs(u);
        pg_real v = pg_next_unit(d);
        const pg_real k = floor((PG_R(2.0) * a / us + b) * u + n * p + h);
        if (!(k >= PG_R(0.0) && k <= n))
            continue;
        if (us >= PG_R(0.07) && v <= t.vr)
            return k;
        v = log(v * t.alpha / (a / (us * us) + b));
        const pg_real log_ratio = (m + h) * log((m + one) / (odds * (n - m + one)))
            + (n + one) * log1p((k - m) / (n - k + one))
            + (k + h) * log(odds * (n - k + one) / (k + one))
            + pg_stirling(m) + pg_stirling(n - m) - pg_stirling(k) - pg_stirling(n - k);
        if (v <= log_ratio)
            return k;
    }
}
PG_INLINE pg_real pg_binomial(pg_draws *d, pg_real n, pg_real p, pg_binomial_terms terms)
{
    if (!(n >= PG_R(0.0) && p >= PG_R(0.0) && p <= PG_R(1.0)) || isinf(n))
        return PG_R(-1.0);
    const int turned = p > PG_R(0.5);
    const pg_real q = turned ? PG_R(1.0) - p : p;
    pg_real k = PG_R(0.0);
    if (n * q >= PG_R(10.0))
        k = pg_binomial_large(d, n, q, terms);
    else if (n * q > PG_R(0.0))
        k = pg_binomial_small(d, n, q, terms.first);
    return turned ? n - k : k;
}
"""

_COUNTS = """\
PG_INLINE pg_real pg_poisson_or_minus(pg_draws *d, pg_real mean, pg_poisson_terms terms)
{
    return mean >= PG_R(0.0) && !isinf(mean) ? pg_poisson(d, mean, terms) : PG_R(-1.0);
}
PG_INLINE pg_real pg_failures(pg_real p) /* 1 / log(1 - p), without branches */
{
    const pg_real q = PG_R(1.0) - p, rest = PG_R(1.0) - q - p; /* 1 - p is q + rest */
    const pg_real factor = PG_R(1.0) / (pg_log(q) + rest / q);
    return p < PG_R(1.0) ? factor : PG_R(0.0);
}
/* inversion; failures: pg_failures(p), which is made once if p is a number */
PG_INLINE pg_real pg_geometric(pg_draws *d, pg_real p, pg_real failures)
{
    const pg_real k = ceil(pg_log(pg_next_unit(d)) * failures);
    return p > PG_R(0.0) && p <= PG_R(1.0) ? fmax(k, PG_R(1.0)) : PG_R(-1.0);
}
"""

_NEGATIVE_BINOMIAL = """\
PG_INLINE pg_real pg_negative_binomial(pg_draws *d, pg_real n, pg_real p) /* Poisson of gamma */
{
    if (!(n > PG_R(0.0) && p > PG_R(0.0) && p <= PG_R(1.0)))
        return PG_R(-1.0);
    const pg_real mean = pg_gamma(d, n) * ((PG_R(1.0) - p) / p);
    return pg_poisson_or_minus(d, mean, pg_poisson_setup(mean));
}
"""

_HYPERGEOMETRIC = """\
PG_INLINE pg_real pg_log_arrangements(pg_real k, pg_real low, pg_real m, pg_real high)
{
    return lgamma(k + PG_R(1.0)) + lgamma(low - k + PG_R(1.0)) + lgamma(m - k + PG_R(1.0))
           + lgamma(high - m + k + PG_R(1.0));
}
PG_INLINE pg_real pg_urn(pg_draws *d, pg_real good, pg_real total, pg_real m)
{
    pg_real left = good;
    for (pg_real k = PG_R(0.0); k < m && left > PG_R(0.0); k += PG_R(1.0))
        if (pg_next_unit(d) * (total - k) <= left)
            left -= PG_R(1.0);
    return good - left;
}
/* E. Stadlober, "Sampling from Poisson, binomial and hypergeometric distributions: ratio of
 * uniforms as a simple and fast alternative" (1989), HRUA */
typedef struct { pg_real centre, width, bound, most_log; } pg_hrua_terms;
PG_INLINE pg_hrua_terms pg_hrua_setup(pg_real good, pg_real bad, pg_real sample)
{
    pg_hrua_terms t = {PG_R(0.0), PG_R(0.0), PG_R(0.0), PG_R(0.0)};
    const pg_real low = fmin(good, bad), high = fmax(good, bad);
    const pg_real total = low + high, m = fmin(sample, total - sample);
    if (m < PG_R(10.0) || low <= PG_R(0.0))
        return t;
    const pg_real share = low / total, one = PG_R(1.0), h = PG_R(0.5);
    t.centre = m * share + h;
    const pg_real spread = sqrt((total - m) * m * share * (one - share) / (total - one) + h);
    t.width = PG_R(1.7155277699214135) * spread + PG_R(0.8989161620588988);
    const pg_real mode = floor((m + one) * (low + one) / (total + PG_R(2.0)));
    t.most_log = pg_log_arrangements(mode, low, m, high);
    t.bound = fmin(fmin(m, low) + one, floor(t.centre + PG_R(16.0) * spread));
    return t;
}
PG_INLINE pg_real pg_hrua(pg_draws *d, pg_real low, pg_real high, pg_real m, pg_hrua_terms terms)
{
    const pg_real one = PG_R(1.0), h = PG_R(0.5);
    for (;;) {
        const pg_real x = pg_next_unit(d), y = pg_next_unit(d);
        const pg_real w = terms.centre + terms.width * (y - h) / x;
        if (!(w >= PG_R(0.0) && w < terms.bound))
            continue;
        const pg_real k = floor(w), t = terms.most_log - pg_log_arrangements(k, low, m, high);
        if (x * (PG_R(4.0) - x) - PG_R(3.0) <= t)
            return k;
        if (x * (x - t) < one && PG_R(2.0) * log(x) <= t)
            return k;
    }
}
PG_INLINE pg_real pg_hypergeometric(
    pg_draws *d, pg_real good, pg_real bad, pg_real sample, pg_hrua_terms terms)
{
    const pg_real total = good + bad;
    if (!(good >= PG_R(0.0) && bad >= PG_R(0.0) && sample >= PG_R(0.0) && sample <= total)
        || total > PG_R(2e9)) /* beyond, log-factorials are too coarse */
        return PG_R(-1.0);
    const pg_real m = fmin(sample, total - sample); /* of the smaller part, then of the other */
    pg_real k;
    if (m < PG_R(10.0)) {
        k = pg_urn(d, good, total, m);
    } else if (good == PG_R(0.0) || bad == PG_R(0.0)) {
        k = bad == PG_R(0.0) ? m : PG_R(0.0);
    } else {
        k = pg_hrua(d, fmin(good, bad), fmax(good, bad), m, terms);
        if (good > bad)
            k = m - k;
    }
    return m < sample ? good - k : k;
}
"""

_ZIPF = """\
/* L. Devroye, "Non-uniform random variate generation" (1986), X.6.1 */
PG_INLINE pg_real pg_zipf(pg_draws *d, pg_real a)
{
    if (!(a > PG_R(1.0)))
        return PG_R(-1.0);
    if (a >= PG_R(100.0))
        return PG_R(1.0); /* others have a probability of 2**-100 */
    const pg_real s = a - PG_R(1.0), most = PG_R(9.2e18), least = pow(most, -s);
    const pg_real b = expm1(s * PG_R(0.6931471805599453));
    for (;;) {
        const pg_real u = least + (PG_R(1.0) - least) * pg_next_unit(d), v = pg_next_unit(d);
        const pg_real x = floor(pow(u, PG_R(-1.0) / s));
        if (!(x >= PG_R(1.0) && x <= most))
            continue;
        const pg_real t = s * log1p(PG_R(1.0) / x);
        if (v * x * expm1(t) * (b + PG_R(1.0)) <= exp(t) * b)
            return x;
    }
}
"""

_LOGSERIES = """\
/* A. W. Kemp, "Efficient generation of logarithmically distributed pseudo-random variables" (1981),
 * LK */
PG_INLINE pg_real pg_logseries(pg_draws *d, pg_real p)
{
    if (!(p >= PG_R(0.0) && p < PG_R(1.0)))
        return PG_R(-1.0);
    const pg_real v = pg_next_unit(d), q = -expm1(log1p(-p) * pg_next_unit(d));
    if (v >= p || v >= q)
        return PG_R(1.0);
    if (v > q * q)
        return PG_R(2.0);
    return fmax(floor(PG_R(1.0) + log(v) / log(q)), PG_R(1.0));
}
"""

_TEXTS = {
    "gamma": _GAMMA,
    "beta": _BETA,
    "chi": _CHI,
    "poisson": POISSON,
    "noncentral": _NONCENTRAL,
    "vonmises": _VONMISES,
    "wald": _WALD,
    "triangular": _TRIANGULAR,
    "binomial": _BINOMIAL,
    "counts": _COUNTS,
    "negative_binomial": _NEGATIVE_BINOMIAL,
    "hypergeometric": _HYPERGEOMETRIC,
    "zipf": _ZIPF,
    "logseries": _LOGSERIES,
}

# For each distribution: the expression of an item, with parameters a, b, c, and the helpers that
# it needs.
FUNCTIONS = {
    "gamma": (
        "b > PG_R(0.0) ? b * pg_gamma(&d, a) : b == PG_R(0.0) ? PG_R(0.0) : PG_NAN",
        "gamma",
    ),
    "beta": ("pg_beta(&d, a, b)", "gamma beta"),
    "chisquare": ("pg_chisquare(&d, a)", "gamma chi"),
    "noncentral_chisquare": ("pg_noncentral(&d, a, b)", "gamma chi poisson noncentral"),
    "f": ("pg_f_variate(&d, a, b)", "gamma chi"),
    "noncentral_f": (
        "pg_noncentral(&d, a, c) / a / (pg_chisquare(&d, b) / b)",
        "gamma chi poisson noncentral",
    ),
    "standard_t": ("pg_standard_t(&d, a)", "gamma chi"),
    "vonmises": ("pg_vonmises(&d, a, b)", "vonmises"),
    "wald": ("pg_wald(&d, a, b)", "wald"),
    "triangular": ("pg_triangular(&d, a, b, c)", "triangular"),
    "binomial": ("pg_binomial(&d, a, b, terms)", "binomial"),
    "poisson": ("pg_poisson_or_minus(&d, a, terms)", "poisson counts"),
    "geometric": ("pg_geometric(&d, a, failures)", "poisson counts"),
    "negative_binomial": (
        "pg_negative_binomial(&d, a, b)",
        "gamma poisson counts negative_binomial",
    ),
    "hypergeometric": ("pg_hypergeometric(&d, a, b, c, terms)", "hypergeometric"),
    "zipf": ("pg_zipf(&d, a)", "zipf"),
    "logseries": ("pg_logseries(&d, a)", "logseries"),
}
# What a distribution computes from the parameters alone: once if they are numbers.
_SETUPS = {
    "binomial": "const pg_binomial_terms terms = pg_binomial_setup(a, b);",
    "geometric": "const pg_real failures = pg_failures(a);",
    "poisson": "const pg_poisson_terms terms = pg_poisson_setup(a);",
    "hypergeometric": "const pg_hrua_terms terms = pg_hrua_setup(a, b, c);",
}
WHOLE = frozenset(
    "binomial poisson geometric negative_binomial hypergeometric zipf logseries".split()
)
_REJECTING = frozenset(
    "binomial poisson negative_binomial hypergeometric zipf noncentral_chisquare noncentral_f "
    "multinomial multivariate_hypergeometric".split()
)
_U64 = np.dtype(np.uint64)


def check_driver(name: str, backend: Backend) -> None:
    """Refuse a distribution whose loops the device's driver miscompiles (quirks.py has the fault:
    the gamma distribution's loops are not concerned)."""
    if not backend.rejection and name in _REJECTING:
        raise NotImplementedError(
            f"{name}: the driver of {backend.label} compiles the kernel to wrong numbers "
            "- draw on another device, or copy NumPy's"
        )


def needed(names: str, real: str) -> str:
    """Return the helpers with these names in _TEXTS, computing in "f32" or "f64"."""
    bits = real[1:]
    small, large, eps = ("0.05", "1e4", "1e-6") if real == "f32" else ("1e-3", "1e6", "1e-12")
    text = draws(real)
    text += f"#define PG_NAN PG_NAN_F{bits}\n#define PG_EPS PG_R({eps})\n"
    text += f"#define PG_KAPPA_SMALL PG_R({small})\n#define PG_KAPPA_LARGE PG_R({large})\n"
    return text + "".join(_TEXTS[name] for name in names.split())


def _made(
    name: str,
    inputs: tuple[Any, ...],
    out: np.dtype[Any],
    body: str,
    helpers: str,
    setup: tuple[str, ...] = (),
) -> Any:
    """Make the operation on items whose counters are x0 + i, with x1 the counter's upper half, x2
    the key."""
    # A guard limits the kernel to one item at a time: these functions are long.
    return lazy("pygpu._src.codegen.kernels.elementwise").Operation(
        name,
        (_U64, _U64, _U64, *inputs),
        (out,),
        body,
        helpers,
        index=True,
        guard="1",
        setup=setup,
    )


@cache
def operation(name: str, real: np.dtype[Any], out: np.dtype[Any], count: int) -> Operation:
    """Return a distribution of FUNCTIONS with *count* parameters, computed in *real*."""
    item, helpers = FUNCTIONS[name]
    code, target = dtypes.code(real), dtypes.code(out)
    given = "".join(f"PG_UNUSED const pg_real {'abc'[k]} = x{k + 3}; " for k in range(count))
    if name in WHOLE:  # a number too large for the dtype becomes its maximum
        most = min(int(np.iinfo(out).max), (1 << 63) - 1)
        value = f"const pg_real v = {item}; y0 = v < PG_R({float(most)!r}) ? "
        words = f"(pg_u64){most >> 32}u << 32 | {most & 0xFFFFFFFF}u"
        value += f"(pg_{target})(pg_i64)v : (pg_{target})({words});"
    else:
        value = f"y0 = {item};"
    body = f"pg_draws d; pg_draws_start(&d, x0 + (pg_u64)i, x1, &keys); {value}"
    setup = "pg_philox_keys keys; pg_draws_keys(&keys, x2);", f"{given}{_SETUPS.get(name, '')}"
    made: Operation = _made(
        f"random_{name}_{code}_{target}", (real,) * count, out, body, needed(helpers, code), setup
    )
    return made


_AT = """\
const pg_u64 at = x0 + (pg_u64)i / {items}u, c_high = x1, k_low = x2;
const int j = (int)((pg_u64)i % {items}u);
pg_words c, k;
c.v[0] = (pg_u32)at; c.v[1] = (pg_u32)(at >> 32);
c.v[2] = (pg_u32)c_high; c.v[3] = (pg_u32)(c_high >> 32);
k.v[0] = (pg_u32)k_low; k.v[1] = (pg_u32)(k_low >> 32); k.v[2] = k.v[3] = 0;
pg_words w = pg_philox(c, k);
"""


@cache
def dense_operation(kind: str, real: np.dtype[Any]) -> tuple[Operation, int]:
    """Return a kind of random_source.distribution() with arrays as parameters, which gives the
    same numbers as its own kernel, item by item; and how many items share a counter."""
    code = dtypes.code(real)
    items, before, item = distribution(kind, code)
    body = _AT.format(items=items)
    below = "<=" if kind in ("pareto", "power") else "<"
    item = f"scale {below} 0 ? PG_NAN_{code.upper()} : {item}"
    body += f"PG_UNUSED const pg_{code} scale = x3, shift = x4; {before} y0 = {item};"
    helpers = BLOCKS["philox"] + NATIVE + UNIT + functions(code)
    return _made(f"random_dense_{kind}_{code}", (real, real), real, body, helpers), items


@cache
def bounded_operation(out: np.dtype[Any], endpoint: bool) -> tuple[Operation, int]:
    """Return integers from x3 to x4, exclusive or inclusive; and how many items share a counter."""
    code = dtypes.code(out)
    items = 2 if code[1:] == "64" else 4
    wide = np.dtype(np.uint64 if out.kind == "u" else np.int64)
    last = "(pg_u64)x4" if endpoint else "(pg_u64)x4 - 1u"
    body = f"const pg_u64 shift = (pg_u64)x3, scale = {last} - shift;\n"
    body += _AT.format(items=items)
    bits = 128 // items
    item = f"pg_bounded{bits}(pg_word{bits}(w, j), (pg_u{bits})scale, at, j, c_high, k_low)"
    body += f"y0 = (pg_{code})(shift + {item});"
    helpers = BLOCKS["philox"] + BOUNDED
    name = f"random_bounded_{code}_{endpoint}"
    return _made(name, (wide, wide), out, body, helpers), items
