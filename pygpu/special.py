"""scipy.special for arrays on a device: the same names, arguments and results.

>>> from pygpu import special, xp
>>> x = xp.asarray([0.5, 1.0, 4.0])
>>> special.gamma(x).get().round(6).tolist()
[1.772454, 1.0, 6.0]

They are called as NumPy's ufuncs are, with ``out=``, ``where=`` and ``dtype=`` (float32 or
float64). Results are float32 for float32, float16 and small integers, float64 otherwise. Some take
complex numbers as well.
scipy.special's own functions called with an array on a device are these. Accuracy, limits and the
use in kernels: docs/arrays/special.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pygpu._src.array import ufuncs
from pygpu._src.array.routines.special import call, keep, log_softmax, logsumexp, softmax
from pygpu._src.codegen.fastpath import public_functions as _public_functions

if TYPE_CHECKING:
    from pygpu._array import GPUArray
    from pygpu._src.array.special_types import (
        Binary,
        Four,
        Pair,
        Plane,
        PlaneBinary,
        PlaneQuaternary,
        PlaneTernary,
        Quadruple,
        Quaternary,
        Spherical,
        Ternary,
        Unary,
    )

__all__ = [
    "agm",
    "airy",
    "airye",
    "bdtr",
    "bdtrc",
    "bdtri",
    "bei",
    "beip",
    "ber",
    "berp",
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "binom",
    "boxcox",
    "boxcox1p",
    "cbrt",
    "chdtr",
    "chdtrc",
    "chdtri",
    "comb",
    "cosdg",
    "cosm1",
    "cotdg",
    "dawsn",
    "digamma",
    "ellipe",
    "ellipeinc",
    "ellipj",
    "ellipk",
    "ellipkinc",
    "ellipkm1",
    "elliprc",
    "elliprd",
    "elliprf",
    "elliprg",
    "elliprj",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "eval_chebyc",
    "eval_chebys",
    "eval_chebyt",
    "eval_chebyu",
    "eval_gegenbauer",
    "eval_genlaguerre",
    "eval_hermite",
    "eval_hermitenorm",
    "eval_jacobi",
    "eval_laguerre",
    "eval_legendre",
    "eval_sh_chebyt",
    "eval_sh_chebyu",
    "eval_sh_jacobi",
    "eval_sh_legendre",
    "exp1",
    "exp10",
    "exp2",
    "expi",
    "expit",
    "expm1",
    "expn",
    "exprel",
    "factorial",
    "fdtr",
    "fdtrc",
    "fdtri",
    "fresnel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammaln",
    "gammasgn",
    "gdtr",
    "gdtrc",
    "gdtrix",
    "h1vp",
    "h2vp",
    "hankel1",
    "hankel1e",
    "hankel2",
    "hankel2e",
    "huber",
    "hyp0f1",
    "hyp1f1",
    "hyp2f1",
    "hyperu",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "inv_boxcox",
    "inv_boxcox1p",
    "iv",
    "ive",
    "ivp",
    "j0",
    "j1",
    "jn",
    "jv",
    "jve",
    "jvp",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kei",
    "keip",
    "kelvin",
    "ker",
    "kerp",
    "kl_div",
    "kn",
    "kolmogi",
    "kolmogorov",
    "kv",
    "kve",
    "kvp",
    "lambertw",
    "legendre_p",
    "log1p",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "lpmv",
    "modstruve",
    "multigammaln",
    "nbdtr",
    "nbdtrc",
    "nbdtri",
    "ndtr",
    "ndtri",
    "ndtri_exp",
    "owens_t",
    "pdtr",
    "pdtrc",
    "pdtri",
    "perm",
    "poch",
    "polygamma",
    "powm1",
    "pseudo_huber",
    "psi",
    "radian",
    "rel_entr",
    "rgamma",
    "round",
    "shichi",
    "sici",
    "sinc",
    "sindg",
    "smirnov",
    "smirnovi",
    "softmax",
    "softplus",
    "spence",
    "sph_harm_y",
    "sph_legendre_p",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
    "stdtr",
    "stdtrit",
    "struve",
    "tandg",
    "tklmbda",
    "voigt_profile",
    "wofz",
    "wrightomega",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "yn",
    "yv",
    "yve",
    "yvp",
    "zeta",
    "zetac",
]


def _one(name: str, what: str, method: str = "") -> Any:
    def function(x: Any, /, out: Any = None, *, where: Any = True, dtype: Any = None) -> Any:
        return call(name, (x,), out, where=where, dtype=dtype)

    return _named(function, name, what, method)


def _two(name: str, what: str, method: str = "") -> Any:
    def function(
        a: Any, b: Any, /, out: Any = None, *, where: Any = True, dtype: Any = None
    ) -> Any:
        return call(name, (a, b), out, where=where, dtype=dtype)

    return _named(function, name, what, method)


def _three(name: str, what: str, method: str = "") -> Any:
    def function(
        a: Any, b: Any, x: Any, /, out: Any = None, *, where: Any = True, dtype: Any = None
    ) -> Any:
        return call(name, (a, b, x), out, where=where, dtype=dtype)

    return _named(function, name, what, method)


def _four(name: str, what: str, method: str = "") -> Any:
    def function(
        a: Any, b: Any, c: Any, x: Any, /, out: Any = None, *, where: Any = True, dtype: Any = None
    ) -> Any:
        return call(name, (a, b, c, x), out, where=where, dtype=dtype)

    return _named(function, name, what, method)


def _named(function: Any, name: str, what: str, method: str) -> Any:
    function.__name__ = function.__qualname__ = name
    source = f"\n\nMethod: {method}." if method else ""
    function.__doc__ = f"{what}.{source}"
    keep(function, name)
    return function


erf: Plane = _one(
    "erf",
    "The error function, 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x",
    "Cephes's rational functions (S. L. Moshier, 1984)",
)
erfc: Plane = _one(
    "erfc",
    "1 - erf(x), without cancellation",
    "Cephes's rational functions, with exp(-x**2) in two parts",
)
erfcx: Plane = _one("erfcx", "exp(x**2) * erfc(x)", "Cephes's rational functions")
erfinv: Unary = _one(
    "erfinv",
    "The x with erf(x) = y",
    "DLMF 7.17.2 and AMS 55 26.2.23, then Halley's steps",
)
erfcinv: Unary = _one(
    "erfcinv",
    "The x with erfc(x) = y",
    "DLMF 7.17.2 and AMS 55 26.2.23, then Halley's steps",
)
ndtr: Plane = _one("ndtr", "The standard normal distribution function", "erf and erfc")
ndtri: Unary = _one("ndtri", "The inverse of ndtr", "erfcinv")
log_ndtr: Unary = _one("log_ndtr", "The logarithm of ndtr", "erfcx below -1")
dawsn: Plane = _one(
    "dawsn",
    "Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x",
    "DLMF 7.6.3, Rybicki's sum (1989), DLMF 7.12.1",
)
gamma: Plane = _one(
    "gamma",
    "The gamma function",
    "Cephes: a rational function on [2, 3], Stirling's series, reflection",
)
rgamma: Plane = _one("rgamma", "1/gamma(x), 0 at the poles", "gamma")
gammasgn: Unary = _one("gammasgn", "The sign of gamma(x)")
gammaln: Unary = _one(
    "gammaln",
    "The logarithm of abs(gamma(x))",
    "Cephes; Taylor's series at 1, AMS 55 6.1.33",
)
loggamma: Plane = _one("loggamma", "The logarithm of gamma(x), NaN below 0", "gammaln")
digamma: Plane = _one(
    "digamma",
    "The derivative of gammaln",
    "Boost's rational function on [1, 2], the asymptotic series, reflection",
)
psi: Plane = _one("psi", "The same as digamma")
polygamma: Binary = _two(
    "polygamma",
    "polygamma(n, x): the n-th derivative of digamma",
    "zeta, DLMF 5.15.1",
)
beta: Binary = _two(
    "beta",
    "beta(a, b): gamma(a) * gamma(b) / gamma(a + b)",
    "Lanczos's sum, as in Boost",
)
betaln: Binary = _two(
    "betaln",
    "betaln(a, b): the logarithm of abs(beta(a, b))",
    "Stirling's and Lanczos's sums",
)
gammainc: Binary = _two(
    "gammainc",
    "gammainc(a, x): the regularized lower incomplete gamma function",
    "DLMF 8.11.4; Temme's uniform expansion (1979) near x = a; Lanczos's factor",
)
gammaincc: Binary = _two(
    "gammaincc",
    "gammaincc(a, x): the regularized upper incomplete gamma function",
    "DLMF 8.7.3, the fraction 8.9.2, Temme's uniform expansion (1979)",
)
gammaincinv: Binary = _two(
    "gammaincinv",
    "gammaincinv(a, p): the x with gammainc(a, x) = p",
    "Wilson and Hilferty (1931), then Newton's steps in a bracket",
)
gammainccinv: Binary = _two(
    "gammainccinv",
    "gammainccinv(a, q): the x with gammaincc(a, x) = q",
    "Wilson and Hilferty (1931), then Newton's steps in a bracket",
)
betainc: Ternary = _three(
    "betainc",
    "betainc(a, b, x): the regularized incomplete beta function",
    "DLMF 8.17.7 and the fraction 8.17.22, Lanczos's factor as in Boost",
)
betaincc: Ternary = _three(
    "betaincc",
    "betaincc(a, b, x): 1 - betainc(a, b, x), without cancellation",
    "as betainc",
)
betaincinv: Ternary = _three(
    "betaincinv",
    "betaincinv(a, b, p): the x with betainc(a, b, x) = p",
    "Newton's steps in a bracket, in logit(x)",
)
betainccinv: Ternary = _three(
    "betainccinv",
    "betainccinv(a, b, q): the x with betaincc(a, b, x) = q",
    "Newton's steps in a bracket, in logit(x)",
)
j0: Unary = _one(
    "j0",
    "The Bessel function of the first kind of order 0",
    "Cephes's rational functions",
)
j1: Unary = _one(
    "j1",
    "The Bessel function of the first kind of order 1",
    "Cephes's rational functions",
)
jn: PlaneBinary = _two("jn", "jn(v, x): the same as jv")
jv: PlaneBinary = _two(
    "jv",
    "jv(v, x): the Bessel function of the first kind of real order",
    "Temme's series (1975), Steed's fractions, DLMF 10.17.3; of complex numbers by iv and kv",
)
y0: Unary = _one(
    "y0",
    "The Bessel function of the second kind of order 0",
    "Cephes's rational functions",
)
y1: Unary = _one(
    "y1",
    "The Bessel function of the second kind of order 1",
    "Cephes's rational functions",
)
yn: Binary = _two(
    "yn",
    "yn(n, x): the Bessel function of the second kind of integer order",
    "the recurrence from y0 and y1",
)
yv: PlaneBinary = _two(
    "yv", "yv(v, x): the Bessel function of the second kind of real order", "as jv"
)
i0: Unary = _one(
    "i0",
    "The modified Bessel function of the first kind of order 0",
    "Cephes's Chebyshev sums",
)
i0e: Unary = _one("i0e", "exp(-abs(x)) * i0(x)", "Cephes's Chebyshev sums")
i1: Unary = _one(
    "i1",
    "The modified Bessel function of the first kind of order 1",
    "Cephes's Chebyshev sums",
)
i1e: Unary = _one("i1e", "exp(-abs(x)) * i1(x)", "Cephes's Chebyshev sums")
iv: PlaneBinary = _two(
    "iv",
    "iv(v, x): the modified Bessel function of the first kind of real order",
    "Temme's series (1975), Steed's fraction, DLMF 10.40.1",
)
ive: PlaneBinary = _two("ive", "ive(v, x): exp(-abs(x.real)) * iv(v, x)", "as iv")
k0: Unary = _one(
    "k0",
    "The modified Bessel function of the second kind of order 0",
    "Cephes's Chebyshev sums",
)
k0e: Unary = _one("k0e", "exp(x) * k0(x)", "Cephes's Chebyshev sums")
k1: Unary = _one(
    "k1",
    "The modified Bessel function of the second kind of order 1",
    "Cephes's Chebyshev sums",
)
k1e: Unary = _one("k1e", "exp(x) * k1(x)", "Cephes's Chebyshev sums")
kn: Binary = _two(
    "kn",
    "kn(n, x): the modified Bessel function of the second kind of integer order",
    "the recurrence from k0 and k1",
)
kv: PlaneBinary = _two(
    "kv",
    "kv(v, x): the modified Bessel function of the second kind of real order",
    "as iv",
)
kve: PlaneBinary = _two("kve", "kve(v, x): exp(x) * kv(v, x)", "as iv")
expit: Unary = _one("expit", "The logistic function, 1 / (1 + exp(-x))")
logit: Unary = _one("logit", "log(p / (1 - p))")
log_expit: Unary = _one("log_expit", "The logarithm of expit")
xlogy: PlaneBinary = _two("xlogy", "xlogy(x, y): x * log(y), 0 where x is 0")
xlog1py: PlaneBinary = _two("xlog1py", "xlog1py(x, y): x * log1p(y), 0 where x is 0")
entr: Unary = _one("entr", "-x * log(x), -inf below 0")
rel_entr: Binary = _two("rel_entr", "rel_entr(x, y): x * log(x / y), inf outside the domain")
kl_div: Binary = _two("kl_div", "kl_div(x, y): x * log(x / y) - x + y, inf outside the domain")
huber: Binary = _two("huber", "huber(delta, r): Huber's loss function")
pseudo_huber: Binary = _two(
    "pseudo_huber",
    "pseudo_huber(delta, r): the smooth approximation of Huber's loss function",
)
exprel: Unary = _one("exprel", "(exp(x) - 1) / x")
cosm1: Unary = _one("cosm1", "cos(x) - 1, without cancellation")
exp10: Unary = _one("exp10", "10**x")
sinc: Unary = _one("sinc", "sin(pi * x) / (pi * x)")
boxcox: Binary = _two("boxcox", "boxcox(x, lmbda): (x**lmbda - 1) / lmbda, and log(x) for 0")
boxcox1p: Binary = _two("boxcox1p", "boxcox1p(x, lmbda): boxcox(1 + x, lmbda)")
inv_boxcox: Binary = _two("inv_boxcox", "inv_boxcox(y, lmbda): the x with boxcox(x, lmbda) = y")
inv_boxcox1p: Binary = _two(
    "inv_boxcox1p",
    "inv_boxcox1p(y, lmbda): the x with boxcox1p(x, lmbda) = y",
)
exp1: Plane = _one("exp1", "The exponential integral E1, NaN below 0", "as expn")
expi: Plane = _one("expi", "The exponential integral Ei", "DLMF 6.6.2 and 6.12.2")
expn: Binary = _two(
    "expn",
    "expn(n, x): the generalized exponential integral of order n",
    "DLMF 8.19.8 and the fraction 8.19.17",
)
ellipk: Unary = _one(
    "ellipk",
    "The complete elliptic integral of the first kind of the parameter m",
    "Cephes (Hastings's form)",
)
ellipkm1: Unary = _one("ellipkm1", "ellipk(1 - p), accurate near m = 1", "Cephes (Hastings's form)")
ellipe: Unary = _one(
    "ellipe",
    "The complete elliptic integral of the second kind of the parameter m",
    "Cephes (Hastings's form)",
)
spence: Unary = _one(
    "spence",
    "The dilogarithm, the integral of log(t) / (1 - t) from 1 to x",
    "Cephes's rational function",
)
fresnel: Pair = _one("fresnel", "(S, C): the Fresnel integrals", "Cephes's rational functions")
sici: Pair = _one("sici", "(Si, Ci): the sine and cosine integrals", "Cephes's rational functions")
shichi: Pair = _one(
    "shichi",
    "(Shi, Chi): the hyperbolic sine and cosine integrals",
    "power series, Cephes's Chebyshev sums, expi beyond 88",
)
eval_legendre: Binary = _two(
    "eval_legendre",
    "eval_legendre(n, x): Legendre's polynomial of degree n",
    "the recurrence AMS 55 22.7.10",
)
eval_chebyt: Binary = _two(
    "eval_chebyt",
    "eval_chebyt(n, x): Chebyshev's polynomial of the first kind of degree n",
    "the recurrence AMS 55 22.7.4",
)
eval_chebyu: Binary = _two(
    "eval_chebyu",
    "eval_chebyu(n, x): Chebyshev's polynomial of the second kind of degree n",
    "the recurrence AMS 55 22.7.5",
)
eval_hermite: Binary = _two(
    "eval_hermite",
    "eval_hermite(n, x): Hermite's polynomial (physicists') of degree n",
    "the recurrence AMS 55 22.7.13",
)
eval_hermitenorm: Binary = _two(
    "eval_hermitenorm",
    "eval_hermitenorm(n, x): Hermite's polynomial (probabilists') of degree n",
    "the recurrence AMS 55 22.7.14",
)
eval_laguerre: Binary = _two(
    "eval_laguerre",
    "eval_laguerre(n, x): Laguerre's polynomial of degree n",
    "the recurrence AMS 55 22.7.12",
)
cbrt: Unary = _one("cbrt", "The cube root")
exp2: Unary = _one("exp2", "2**x")
expm1: Plane = _one("expm1", "exp(x) - 1, without cancellation")
log1p: Plane = _one("log1p", "log(1 + x), without cancellation")
round: Unary = _one("round", "The nearest integer, of two the even one")
sindg: Unary = _one(
    "sindg", "The sine of degrees, exact at multiples of 30", "turned to -45 to 45 degrees, exactly"
)
cosdg: Unary = _one(
    "cosdg",
    "The cosine of degrees, exact at multiples of 30",
    "turned to -45 to 45 degrees, exactly",
)
tandg: Unary = _one("tandg", "The tangent of degrees", "turned to -90 to 90 degrees, exactly")
cotdg: Unary = _one("cotdg", "The cotangent of degrees", "turned to -90 to 90 degrees, exactly")
ndtri_exp: Unary = _one(
    "ndtri_exp", "The x with log_ndtr(x) = y", "Newton's steps on log_ndtr, ndtri near 0"
)
kolmogorov: Unary = _one(
    "kolmogorov",
    "The limit of the survival function of Kolmogorov's statistic",
    "the theta series for large and small x (DLMF 20.7.32)",
)
wrightomega: Unary = _one(
    "wrightomega",
    "The w with w + log(w) = x",
    "the steps of Lawrence, Corless and Jeffrey (2012), Halley's below 1",
)
erfi: Plane = _one("erfi", "-i erf(i x), the integral of 2 exp(t**2) / sqrt(pi)", "dawsn")
zetac: Unary = _one(
    "zetac", "Riemann's zeta function minus 1, without cancellation for x > 1", "as zeta"
)
chdtr: Binary = _two(
    "chdtr",
    "chdtr(v, x): the chi-squared distribution function of v degrees of freedom",
    "gammainc",
)
chdtrc: Binary = _two("chdtrc", "chdtrc(v, x): 1 - chdtr(v, x), without cancellation", "gammaincc")
chdtri: Binary = _two("chdtri", "chdtri(v, p): the x with chdtrc(v, x) = p", "gammainccinv")
pdtr: Binary = _two(
    "pdtr",
    "pdtr(k, m): the probability of at most k events, Poisson-distributed with mean m",
    "gammaincc",
)
pdtrc: Binary = _two("pdtrc", "pdtrc(k, m): 1 - pdtr(k, m), without cancellation", "gammainc")
pdtri: Binary = _two("pdtri", "pdtri(k, y): the mean m with pdtr(k, m) = y", "gammainccinv")
stdtr: Binary = _two(
    "stdtr", "stdtr(df, t): Student's distribution function", "betainc and betaincc"
)
stdtrit: Binary = _two("stdtrit", "stdtrit(df, p): the t with stdtr(df, t) = p", "betaincinv")
agm: Binary = _two("agm", "agm(a, b): the arithmetic-geometric mean")
powm1: Binary = _two("powm1", "powm1(x, y): x**y - 1, without cancellation", "expm1 near 0")
binom: Binary = _two(
    "binom", "binom(x, y): the binomial coefficient, of real arguments", "products, beta"
)
poch: Binary = _two(
    "poch", "poch(z, m): Pochhammer's symbol, gamma(z + m) / gamma(z)", "products, gamma, gammaln"
)
elliprc: Binary = _two(
    "elliprc", "elliprc(x, y): Carlson's degenerate elliptic integral R_C", "DLMF 19.6.15"
)
ellipkinc: Binary = _two(
    "ellipkinc",
    "ellipkinc(phi, m): the incomplete elliptic integral of the first kind",
    "elliprf, DLMF 19.25.5",
)
ellipeinc: Binary = _two(
    "ellipeinc",
    "ellipeinc(phi, m): the incomplete elliptic integral of the second kind",
    "elliprf and elliprd, DLMF 19.25.9 and 19.25.10",
)
jve: PlaneBinary = _two("jve", "jve(v, z): exp(-abs(z.imag)) * jv(v, z)", "as jv")
yve: PlaneBinary = _two("yve", "yve(v, z): exp(-abs(z.imag)) * yv(v, z)", "as yv")
eval_chebyc: Binary = _two("eval_chebyc", "eval_chebyc(n, x): 2 * eval_chebyt(n, x / 2)")
eval_chebys: Binary = _two("eval_chebys", "eval_chebys(n, x): eval_chebyu(n, x / 2)")
eval_sh_chebyt: Binary = _two("eval_sh_chebyt", "eval_sh_chebyt(n, x): eval_chebyt(n, 2 * x - 1)")
eval_sh_chebyu: Binary = _two("eval_sh_chebyu", "eval_sh_chebyu(n, x): eval_chebyu(n, 2 * x - 1)")
eval_sh_legendre: Binary = _two(
    "eval_sh_legendre", "eval_sh_legendre(n, x): eval_legendre(n, 2 * x - 1)"
)
gdtr: Ternary = _three(
    "gdtr", "gdtr(a, b, x): the gamma distribution function of rate a and shape b", "gammainc"
)
gdtrc: Ternary = _three(
    "gdtrc", "gdtrc(a, b, x): 1 - gdtr(a, b, x), without cancellation", "gammaincc"
)
gdtrix: Ternary = _three("gdtrix", "gdtrix(a, b, p): the x with gdtr(a, b, x) = p", "gammaincinv")
bdtr: Ternary = _three(
    "bdtr", "bdtr(k, n, p): the probability of at most k successes in n trials", "betaincc"
)
bdtrc: Ternary = _three(
    "bdtrc", "bdtrc(k, n, p): 1 - bdtr(k, n, p), without cancellation", "betainc"
)
bdtri: Ternary = _three("bdtri", "bdtri(k, n, y): the p with bdtr(k, n, p) = y", "betainccinv")
nbdtr: Ternary = _three(
    "nbdtr", "nbdtr(k, n, p): the probability of at most k failures before n successes", "betainc"
)
nbdtrc: Ternary = _three(
    "nbdtrc", "nbdtrc(k, n, p): 1 - nbdtr(k, n, p), without cancellation", "betaincc"
)
nbdtri: Ternary = _three("nbdtri", "nbdtri(k, n, y): the p with nbdtr(k, n, p) = y", "betaincinv")
fdtr: Ternary = _three(
    "fdtr", "fdtr(dfn, dfd, x): the distribution function of F", "betainc and betaincc"
)
fdtrc: Ternary = _three(
    "fdtrc",
    "fdtrc(dfn, dfd, x): 1 - fdtr(dfn, dfd, x), without cancellation",
    "betainc and betaincc",
)
fdtri: Ternary = _three(
    "fdtri", "fdtri(dfn, dfd, p): the x with fdtr(dfn, dfd, x) = p", "betaincinv"
)
elliprf: Ternary = _three(
    "elliprf",
    "elliprf(x, y, z): Carlson's elliptic integral R_F",
    "duplication (B. C. Carlson, 1995)",
)
elliprd: Ternary = _three(
    "elliprd",
    "elliprd(x, y, z): Carlson's elliptic integral R_D",
    "duplication (B. C. Carlson, 1995)",
)
elliprg: Ternary = _three(
    "elliprg", "elliprg(x, y, z): Carlson's elliptic integral R_G", "R_F and R_D, DLMF 19.21.10"
)
radian: Ternary = _three("radian", "radian(d, m, s): degrees, minutes and seconds in radians")
eval_gegenbauer: Ternary = _three(
    "eval_gegenbauer",
    "eval_gegenbauer(n, alpha, x): Gegenbauer's polynomial of degree n",
    "the recurrence AMS 55 22.7.3",
)
eval_genlaguerre: Ternary = _three(
    "eval_genlaguerre",
    "eval_genlaguerre(n, alpha, x): the associated Laguerre polynomial of degree n",
    "the recurrence AMS 55 22.7.12",
)
eval_jacobi: Quaternary = _four(
    "eval_jacobi",
    "eval_jacobi(n, alpha, beta, x): Jacobi's polynomial of degree n",
    "the recurrence AMS 55 22.7.1",
)
eval_sh_jacobi: Quaternary = _four(
    "eval_sh_jacobi",
    "eval_sh_jacobi(n, p, q, x): Jacobi's polynomial on [0, 1], divided by binom(2 * n + p - 1, n)",
    "as eval_jacobi",
)
ellipj: Quadruple = _two(
    "ellipj",
    "ellipj(u, m): (sn, cn, dn, ph), Jacobi's elliptic functions and the amplitude",
    "the arithmetic-geometric mean, DLMF 22.20",
)


def zeta(x: Any, q: Any = None, out: Any = None, *, where: Any = True, dtype: Any = None) -> Any:
    """Hurwitz's zeta function, the sum of (k + q)**-x over k >= 0; without q Riemann's.

    Method: the Euler-Maclaurin sum, DLMF 25.11.28; Cephes's rational function and reflection for
    Riemann's below 1.
    """
    if q is None:
        return call("riemann_zeta", (x,), out, where=where, dtype=dtype)
    return call("zeta", (x, q), out, where=where, dtype=dtype)


keep(zeta, "zeta")


wofz: Plane = _one(
    "wofz",
    "Faddeeva's function, exp(-z**2) * erfc(-i z), always complex",
    "G. P. M. Poppe, C. M. J. Wijers, Algorithm 680 (1990)",
)


def lambertw(z: Any, k: Any = 0, tol: float = 1e-8) -> Any:
    """The w with w * exp(w) = z, on the k-th branch; always complex. tol is not used: results have
    all digits.

    Method: Halley's steps (R. Corless, G. Gonnet, D. Hare, D. Jeffrey, D. Knuth, 1996).
    """
    return call("lambertw", (z, k))


keep(lambertw, "lambertw")


def softplus(x: Any, /, out: Any = None, *, where: Any = True, dtype: Any = None) -> Any:
    """log(1 + exp(x)), without overflow and cancellation."""
    return call("softplus", (x,), out, where=where, dtype=dtype)


keep(softplus, "softplus")


legendre_p: Binary = _two(
    "legendre_p", "legendre_p(n, z): Legendre's polynomial of degree n", "as eval_legendre"
)


hankel1: PlaneBinary = _two(
    "hankel1",
    "hankel1(v, z): the Hankel function of the first kind, jv + 1j * yv, always complex",
    "kv, DLMF 10.27.8; jv and yv for real z",
)
hankel2: PlaneBinary = _two(
    "hankel2",
    "hankel2(v, z): the Hankel function of the second kind, jv - 1j * yv, always complex",
    "as hankel1",
)
hankel1e: PlaneBinary = _two(
    "hankel1e", "hankel1e(v, z): exp(-1j * z) * hankel1(v, z)", "kv, DLMF 10.27.8"
)
hankel2e: PlaneBinary = _two(
    "hankel2e", "hankel2e(v, z): exp(1j * z) * hankel2(v, z)", "as hankel1e"
)
airy: Four = _one(
    "airy",
    "(Ai, Ai', Bi, Bi'): the Airy functions and their derivatives",
    "DLMF 9.4 near 0, Bessel functions of orders 1/3 and 2/3, DLMF 9.6",
)
airye: Four = _one(
    "airye",
    "(Ai, Ai', Bi, Bi') times exp(z1), exp(z1), exp(-abs(z1.real)), exp(-abs(z1.real)), with z1 "
    "= 2/3 * z * sqrt(z)",
    "as airy",
)


def _spherical(name: str, what: str) -> Any:
    def function(n: Any, z: Any, derivative: bool = False) -> Any:
        return call(f"{name}_d" if derivative else name, (n, z))

    text = f"{name}(n, z): the {what} of order n, or its derivative"
    return _named(
        function, name, text, "the recurrence DLMF 10.51; of complex numbers by order n + 1/2"
    )


spherical_jn: Spherical = _spherical("spherical_jn", "spherical Bessel function of the first kind")
spherical_yn: Spherical = _spherical("spherical_yn", "spherical Bessel function of the second kind")
spherical_in: Spherical = _spherical(
    "spherical_in", "modified spherical Bessel function of the first kind"
)
spherical_kn: Spherical = _spherical(
    "spherical_kn", "modified spherical Bessel function of the second kind"
)
hyp0f1: PlaneBinary = _two(
    "hyp0f1",
    "hyp0f1(b, z): the confluent hypergeometric limit function, of real b and real or complex z",
    "the series, jv and iv, DLMF 10.16.9 and 10.39.9",
)
hyp1f1: PlaneTernary = _three(
    "hyp1f1",
    "hyp1f1(a, b, z): Kummer's confluent hypergeometric function M, of real a and b and real or "
    "complex z",
    "the series, DLMF 13.7.1 and 13.7.2, Kummer's transformation, the recurrence 13.3.1 (compared "
    "by J. Pearson, S. Olver, M. Porter, 2017)",
)
hyp2f1: PlaneQuaternary = _four(
    "hyp2f1",
    "hyp2f1(a, b, c, z): Gauss's hypergeometric function, of real parameters and real or complex "
    "z; on the cut, complex z beyond 1, the sign of the imaginary zero chooses the side",
    "the series, DLMF 15.8.1, 15.8.4 and 15.8.10, the recurrence 15.5.11, and for complex z "
    "Taylor's series of the equation 15.10.1 (compared by J. Pearson, S. Olver, M. Porter, 2017)",
)
ber: Unary = _one(
    "ber",
    "Kelvin's function ber, the real part of iv(0, x * exp(pi i / 4))",
    "DLMF 10.65, iv and kv of complex numbers beyond 4",
)
bei: Unary = _one(
    "bei",
    "Kelvin's function bei, the imaginary part of iv(0, x * exp(pi i / 4))",
    "DLMF 10.65, iv and kv of complex numbers beyond 4",
)
ker: Unary = _one(
    "ker",
    "Kelvin's function ker, the real part of kv(0, x * exp(pi i / 4))",
    "DLMF 10.65, iv and kv of complex numbers beyond 4",
)
kei: Unary = _one(
    "kei",
    "Kelvin's function kei, the imaginary part of kv(0, x * exp(pi i / 4))",
    "DLMF 10.65, iv and kv of complex numbers beyond 4",
)
berp: Unary = _one(
    "berp",
    "The derivative of ber",
    "DLMF 10.65, iv and kv of complex numbers beyond 4",
)
beip: Unary = _one(
    "beip",
    "The derivative of bei",
    "DLMF 10.65, iv and kv of complex numbers beyond 4",
)
kerp: Unary = _one(
    "kerp",
    "The derivative of ker",
    "DLMF 10.65, iv and kv of complex numbers beyond 4",
)
keip: Unary = _one(
    "keip",
    "The derivative of kei",
    "DLMF 10.65, iv and kv of complex numbers beyond 4",
)
kolmogi: Unary = _one(
    "kolmogi",
    "The x with kolmogorov(x) = p",
    "bisection",
)
smirnov: Binary = _two(
    "smirnov",
    "smirnov(n, d): how likely the greatest one-sided deviation of n samples is d or more",
    "its sum, whose terms are powers of pairs of numbers or Loader's probabilities",
)
smirnovi: Binary = _two("smirnovi", "smirnovi(n, p): the d with smirnov(n, d) = p", "bisection")
struve: Binary = _two(
    "struve",
    "struve(v, x): Struve's function H of real order",
    "DLMF 11.2.1 with terms of two numbers each, 11.6.1",
)
modstruve: Binary = _two(
    "modstruve",
    "modstruve(v, x): the modified Struve function L of real order",
    "DLMF 11.2.2, 11.6.2",
)
owens_t: Binary = _two(
    "owens_t",
    "owens_t(h, a): Owen's T function",
    "Gauss's rule of 40 points; ndtr for abs(a) > 1",
)
tklmbda: Binary = _two(
    "tklmbda",
    "tklmbda(x, lmbda): the distribution function of Tukey's lambda distribution",
    "bisection of the quantile",
)
hyperu: Ternary = _three(
    "hyperu",
    "hyperu(a, b, x): Tricomi's confluent hypergeometric function U",
    "the integral DLMF 13.4.4, the recurrence 13.3.7",
)
voigt_profile: Ternary = _three(
    "voigt_profile",
    "voigt_profile(x, sigma, gamma): a normal and a Cauchy density convolved",
    "wofz",
)
lpmv: Ternary = _three(
    "lpmv",
    "lpmv(m, v, x): the associated Legendre function of integer order and real degree",
    "DLMF 14.3.1, 14.10.3",
)
sph_legendre_p: Ternary = _three(
    "sph_legendre_p",
    "sph_legendre_p(n, m, theta): the spherical Legendre function, normalized",
    "a recurrence in the degree",
)
elliprj: Quaternary = _four(
    "elliprj",
    "elliprj(x, y, z, p): Carlson's elliptic integral R_J",
    "duplication (B. C. Carlson, 1995), DLMF 19.20.14",
)


def kelvin(x: Any) -> tuple[Any, Any, Any, Any]:
    """(Be, Ke, Be', Ke'): Kelvin's functions as complex numbers, ber + i bei, ker + i kei, and
    their derivatives."""
    be, ke = ber(x) + 1j * bei(x), ker(x) + 1j * kei(x)
    return be, ke, berp(x) + 1j * beip(x), kerp(x) + 1j * keip(x)


def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any) -> Any:
    """The spherical harmonic of degree n and order m at the polar angle theta and the azimuth
    phi."""
    return sph_legendre_p(n, m, theta) * ufuncs.call("exp", (1j * m * phi,))


def multigammaln(a: Any, d: int) -> Any:
    """The logarithm of the multivariate gamma function of dimension d, for a > (d - 1) / 2."""
    if not isinstance(d, (int, np.integer)) or d < 1:
        raise ValueError("d should be a positive integer (dimension)")
    total = gammaln(a)
    for k in range(1, int(d)):
        total = total + gammaln(a - 0.5 * k)
    return total + d * (d - 1) * 0.25 * math.log(math.pi)


def _inexact(call: str, exact: bool) -> None:
    if exact:
        raise TypeError(
            f"{call}: exact=True needs integers of any size; use scipy.special on the host"
        )


def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """The number of combinations of N things taken k at a time, as floats; 0 unless 0 <= k <= N."""
    _inexact("comb", exact)
    if repetition:
        N = N + k - 1
    return binom(N, k) * ((k >= 0) & (N >= k))


def perm(N: Any, k: Any, exact: bool = False) -> Any:
    """The number of permutations of N things taken k at a time, as floats; 0 unless
    0 <= k <= N."""
    _inexact("perm", exact)
    ordered = (k >= 0) & (N >= k)
    return poch((N - k) * ordered + 1, k * ordered) * ordered


def factorial(n: Any, exact: bool = False) -> Any:
    """gamma(n + 1), 0 below 0, as floats."""
    _inexact("factorial", exact)
    return gamma((n >= 0) * n + 1) * (n >= 0)


class _Derivative(Protocol):
    def __call__(self, v: Any, z: Any, n: int = 1) -> GPUArray[Any]: ...


def _derivative(function: Any, signs: float, what: str, formula: str) -> _Derivative:
    def derivative(v: Any, z: Any, n: int = 1) -> GPUArray[Any]:
        if not isinstance(n, (int, np.integer)) or n < 0:
            raise ValueError(f"{derivative.__name__}: n must be an integer of at least 0, not {n}")
        total = function(v - n, z) if n else function(v, z)
        for k in range(1, int(n) + 1):
            total = total + signs**k * math.comb(n, k) * function(v - n + 2 * k, z)
        result: GPUArray[Any] = total * ((-1.0) ** n if what == "kv" else 1.0) / 2.0**n
        return result

    derivative.__name__ = derivative.__qualname__ = {"hankel1": "h1vp", "hankel2": "h2vp"}.get(
        what, f"{what}p"
    )
    derivative.__doc__ = f"The n-th derivative of {what}(v, z) in z.\n\nMethod: {formula}."
    return derivative


jvp: _Derivative = _derivative(jv, -1.0, "jv", "DLMF 10.6.7")
yvp: _Derivative = _derivative(yv, -1.0, "yv", "DLMF 10.6.7")
ivp: _Derivative = _derivative(iv, 1.0, "iv", "DLMF 10.29.5")
kvp: _Derivative = _derivative(kv, 1.0, "kv", "DLMF 10.29.5")
h1vp: _Derivative = _derivative(hankel1, -1.0, "hankel1", "DLMF 10.6.7")
h2vp: _Derivative = _derivative(hankel2, -1.0, "hankel2", "DLMF 10.6.7")

_public_functions(globals(), __all__)
