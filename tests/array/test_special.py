"""pygpu.special against SciPy: each function by its name in user kernels, and the ways to them
(arrays, scipy.special itself, Python kernels)."""

from __future__ import annotations

import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from pygpu import special
from pygpu._src.array.routines.special import call, of_scipy
from pygpu._src.codegen.special import FUNCTIONS, expression
from pygpu._src.jit import emit
from pygpu._src.user_kernels.elementwise import Elementwise
from pygpu._src.user_kernels.language import CUDA, OPENCL

scipy_special = pytest.importorskip("scipy.special")

pytestmark = pytest.mark.sampled(3)

INF, NAN = np.inf, np.nan


def powers(seed, low, high, n=80):
    """10 to numbers between low and high."""
    return 10 ** np.random.default_rng(seed).uniform(low, high, n)


def uniform(seed, low, high, n=80):
    return np.random.default_rng(seed).uniform(low, high, n)


# Units in the last place by which results may differ from SciPy's, where it is not 16 (4, and what
# users' kernels, whose products and sums may be contracted, add): by SciPy's own
# errors (erfc, erfcx, dawsn, boxcox near 0), and near the zeros of an oscillating function, where
# the difference counts in units of the function's size.
ULPS = {
    "beta": 200,
    "betaln": 3000,
    "betainc": 800,
    "betaincc": 800,
    "betaincinv": 400,
    "betainccinv": 400,
    "cosm1": 5000,
    "dawsn": 120,
    "digamma": 64,
    "erfc": 300,
    "erfcx": 400,
    "exp1": 32,
    "expi": 300,
    "expn": 40,
    "gammainc": 400,
    "gammaincc": 200,
    "gammaincinv": 400,
    "gammainccinv": 400,
    "gammaln": 40,
    "log_ndtr": 1500,
    "loggamma": 40,
    "ndtr": 2000,
    "polygamma": 20,
    "psi": 64,
    "riemann_zeta": 200,
    "zeta": 40,
    "zetac": 200,
    "ndtri_exp": 20000,
    "cotdg": 64,
    "kolmogorov": 64,
    "erfi": 500,
    "wrightomega": 32,
    "binom": 200,
    "poch": 100,
    **dict.fromkeys(["chdtr", "gdtr", "pdtrc"], 800),
    **dict.fromkeys(["chdtrc", "gdtrc", "pdtr"], 200),
    **dict.fromkeys(["chdtri", "gdtrix", "pdtri", "fdtri", "stdtrit"], 400),
    **dict.fromkeys(["stdtr", "fdtr", "fdtrc", "bdtr", "bdtrc", "nbdtr", "nbdtrc"], 800),
    **dict.fromkeys(["bdtri", "nbdtri"], 100),
    **dict.fromkeys(["hyp0f1", "hyp1f1", "hyp2f1"], 20000),  # near zeros, by SciPy's errors
    "spherical_in": 64,
    "spherical_in_d": 64,
    "spherical_kn": 100,
    "spherical_kn_d": 100,
    "spherical_jn_d": 600,
    "erfinv": 8,
    "erfcinv": 8,
    "ndtri": 8,
    "kl_div": 5000,  # SciPy subtracts
    "kn": 200,
    "yn": 100,
    "iv": 200,
    "ive": 200,
    "kv": 200,
    "kve": 200,
}
TAILS = frozenset("gammainc gammaincc chdtr chdtrc gdtr gdtrc pdtr pdtrc".split())
# relative to the largest value beside a zero, for functions that oscillate
OSCILLATING = {
    **dict.fromkeys(["spherical_jn", "spherical_yn", "spherical_yn_d"], 1e-14),
    **dict.fromkeys(["j0", "j1", "y0", "y1"], 1e-15),
    **dict.fromkeys(["jv", "jn", "yv"], 4e-14),
    **dict.fromkeys(["eval_chebyt", "eval_chebyu", "eval_legendre", "legendre_p"], 1e-14),
    **dict.fromkeys(["eval_chebyc", "eval_chebys", "eval_sh_legendre"], 1e-14),
    **dict.fromkeys(["eval_sh_chebyt", "eval_sh_chebyu", "eval_gegenbauer"], 4e-14),
    **dict.fromkeys(["sindg", "cosdg", "ellipj", "sinc"], 1e-15),
}
RELATIVE = dict.fromkeys(["eval_hermite", "eval_hermitenorm", "eval_laguerre"], 1e-9)
RELATIVE |= dict.fromkeys(["eval_genlaguerre", "eval_jacobi", "eval_sh_jacobi"], 1e-12)
# where SciPy has NaN for a limit, or a limit for what is not defined
NOT_COMPARED = {
    "expi": lambda x: x > 709,
    "i0": lambda x: np.abs(x) > 709,
    "i1": lambda x: np.abs(x) > 709,
    "j0": np.isinf,
    "j1": np.isinf,
    "y0": np.isinf,
    "y1": np.isinf,
    "rgamma": lambda x: ~(np.abs(x) < 170),
    "log_ndtr": lambda x: x > 37,
    "spence": np.isinf,
    "exp10": lambda x: x < -307,
    "expit": lambda x: x < -708,
    "gammaln": lambda x: (np.abs(x - 1) < 0.01) | (np.abs(x - 2) < 0.02),
    "zetac": lambda x: x > 126,
    **dict.fromkeys(["sindg", "cosdg", "tandg"], np.isinf),
    "cotdg": lambda x: np.isinf(x) | (np.abs(x) < 10),  # where SciPy subtracts from 90
    "stdtrit": lambda p: p == 0,  # which is inf in SciPy
    "stdtr": lambda t: np.abs(t) < 1e-6,  # which is 0.5 in SciPy
    "loggamma": lambda x: (np.abs(x - 1) < 0.01) | (np.abs(x - 2) < 0.02),
}

REAL = np.array(
    [0.0, -0.0, INF, -INF, NAN, 1, -1, 2, -2, 0.5, -0.5, 0.25, 0.75, 1e-300, 1e-20, -1e-20, 1e-8]
    + [-1e-8, 3, -3, 10, -10.5, 33.5, -33.5, 100, -100.5, 170.6, 172, 700, -700, 720, -720]
    + [*np.random.default_rng(1).normal(size=60), *uniform(2, 0, 1, 60), *powers(3, -8, 2, 60)]
    + [*-powers(4, -8, 2, 60)]
)


def grid(first, second):
    return tuple(np.array(x).ravel() for x in np.meshgrid(first, second))


def joined(*cases):
    return tuple(np.concatenate(columns) for columns in zip(*cases, strict=True))


POSITIVE = powers(5, -2, 2)
ORDERS = np.array([0.0, 1, 2, 0.5, -0.5, 1.25, -1.75, -3, 7, 20.5, 50.3])
POINTS = np.array([1e-8, 0.1, 1, 1.9, 2.1, 5, 12.5, 26, 60.5, 300])
PAIRS = {
    "bessel": joined(grid(ORDERS, POINTS), (np.array([2.0, NAN, 1]), np.array([NAN, 1, 0.0]))),
    "gammainc": joined(
        (powers(6, -2, 3), POSITIVE),
        (np.array([25.0, 150, 150, 300, 1e6]), np.array([27.0, 140, 150, 310, 1000100])),
        grid([0.5, 1, 3, INF], [0.0, -1, NAN, 1e-300]),
        (np.array([0.0, 0, -1, 2]), np.array([0.0, 1, 1, INF])),
    ),
    "inverse": joined(
        (powers(7, -1, 3), uniform(8, 0, 1)),
        (np.array([2.0, 3, 0.5]), np.array([1e-100, 1e-10, 1 - 1e-12])),
        grid([0.5, 3], [0.0, 1, NAN]),
    ),
    "beta": joined((POSITIVE, powers(9, -2, 2)), grid([0.5, -0.5, 30], [0.25, 1, 40])),
    "zeta": joined((uniform(10, 1.01, 30), POSITIVE), grid([1.0, 2, 3, 0.5], [2.5, -0.5, 0])),
    "other": grid([0.0, -0.0, 1, 2.5, -3, 1e-20, NAN, 0.7], [0.0, 1, 2.4, -0.5, 1e-12, 0.71, NAN]),
    "boxcox": grid([0.1, 1, 2.5, 70, 1e-9], [0.0, 1, -0.5, 2, 1e-4, 0.3]),
}
CHOSEN = {
    **dict.fromkeys("jv jn yv iv ive kv kve".split(), "bessel"),
    **dict.fromkeys("gammainc gammaincc".split(), "gammainc"),
    **dict.fromkeys("gammaincinv gammainccinv".split(), "inverse"),
    **dict.fromkeys("beta betaln".split(), "beta"),
    **dict.fromkeys("boxcox boxcox1p inv_boxcox inv_boxcox1p".split(), "boxcox"),
    "zeta": "zeta",
    **dict.fromkeys("chdtr chdtrc pdtr pdtrc".split(), "gammainc"),
    **dict.fromkeys("chdtri pdtri stdtrit".split(), "inverse"),
    **dict.fromkeys("bdtr bdtrc bdtri nbdtr nbdtrc nbdtri".split(), "trials"),
}
TRIPLES = joined(
    (powers(11, -1, 2, 150), powers(12, -1, 2, 150), uniform(13, 0.01, 0.99, 150)),
    tuple(np.array(x, float) for x in ([1, 2, 3, 4], [2, 1, NAN, 5], [0, 1, 0.5, NAN])),
)

NUMBERS = np.random.default_rng(14).integers(1, 40, 60)
TRIALS = joined(
    (np.floor(NUMBERS * uniform(15, 0, 1, 60)), NUMBERS.astype(float), uniform(16, 0, 1, 60)),
    tuple(np.array(x, float) for x in ([0, 3, -1, 5, 2], [7, 3, 4, 4, 4], [0.3, 0.2, 0.5, 0.5, 2])),
)


HYP2F1 = ((45, 0.1, 5), (46, 0.1, 5), (47, 1, 10), (48, -30, 1))
WHOLE = (  # parameters and sums of parameters that are integers, and the ends of the interval
    *((1, 1, 2, 0.95), (0.5, 1.5, 3, 0.99), (2, 3, 4, 0.97), (-3, 2.5, 1.5, -7), (-12, 3, 2, 0.8)),
    *((1.5, 2.5, 4.5, 1), (1, 2, 2.5, 1), (1, 2, -1, 0.5), (2, 3, 3, 0.3), (0, 1, 2, 9)),
    *((1, 2, 3, 0), (1, 1, 2, -1), (1, 2, 3, -1e6), (NAN, 1, 1, 0.5), (-2, 1, -3, 0.5)),
)
HYPERGEOMETRIC = {
    "hyp0f1": (uniform(40, -5, 50), uniform(41, -100, 100)),
    "hyp1f1": (uniform(42, -10, 10, 150), uniform(43, 0.1, 10, 150), uniform(44, -60, 60, 150)),
    "hyp2f1": joined(
        tuple(uniform(k, low, high, 60) for k, low, high in HYP2F1),
        tuple(np.array(x, float) for x in zip(*WHOLE)),
    ),
}


def arguments(name):
    kinds = FUNCTIONS[name].kinds
    if name in HYPERGEOMETRIC:
        return HYPERGEOMETRIC[name]
    if kinds == "x":
        return (REAL,)
    if kinds == "xxx":
        return TRIALS if CHOSEN.get(name) == "trials" else TRIPLES
    if kinds == "xx":
        return PAIRS[CHOSEN.get(name, "other")]
    orders = np.array([0, 1, 2, 3, 5, 12, 30, 60] if name == "expn" else [0, 1, 2, 3, 5, 12, 30])
    points = (
        [0.05, 0.3, 0.7, 0.9, 1.5, 3.2, 7.7, NAN]
        if "eval" not in name
        else [*(-0.95, -0.4, 0.0, 0.05, 0.3, 0.7, 0.9, 1, NAN)]
    )
    n, x = grid(orders, points)
    others = [uniform(20 + k, 0.2, 3, n.size) for k in range(len(kinds) - 2)]
    return n.astype(np.int64), *others, x.astype(float)


def expected(name, args):
    with np.errstate(all="ignore"):
        if name == "riemann_zeta":
            return scipy_special.zeta(*args)
        if name == "legendre_p":
            return scipy_special.eval_legendre(*args)
        if name == "sinc":
            return np.sinc(*args)
        if name == "softplus":
            return np.logaddexp(0, *args)
        if name[:9] == "spherical":
            return getattr(scipy_special, name.removesuffix("_d"))(*args, name[-2:] == "_d")
        return getattr(scipy_special, name)(*args)


def check(name, args, got, wanted):
    """As near as ULPS and OSCILLATING say; for float32 within 4 units of the rounded value."""
    left_out = NOT_COMPARED.get(name, lambda x: np.zeros(x.shape, bool))(args[-1])
    got, wanted = got[~left_out], wanted[~left_out]
    narrow = got.dtype == np.float32
    given = [a[~left_out] for a in args]
    with np.errstate(all="ignore"):
        wanted = wanted.astype(got.dtype)
        finite = np.isfinite(wanted)
        assert (np.isfinite(got) == finite).all(), (
            name,
            *(a[np.isfinite(got) != finite] for a in given),
        )
        np.testing.assert_array_equal(got[~finite], wanted[~finite], err_msg=name)
        got, wanted = got[finite], wanted[finite]
        unit = np.spacing(np.maximum(np.abs(wanted), np.finfo(got.dtype).tiny))
        allowed = (4 if narrow else ULPS.get(name, 16)) * unit
        if name in TAILS:  # exponentials of large numbers, whose digits SciPy loses
            with np.errstate(divide="ignore"):
                logarithm = np.where(wanted == 0, 0, np.log(np.abs(wanted)))
            allowed = np.maximum(allowed, 16 * np.abs(logarithm) * unit)
        if name in OSCILLATING:
            allowed = np.maximum(allowed, OSCILLATING[name] * np.maximum(1, np.abs(wanted)))
        if name in RELATIVE:
            allowed = np.maximum(allowed, RELATIVE[name] * np.abs(wanted))
        allowed = np.maximum(allowed, np.finfo(got.dtype).tiny)  # results that underflow
        apart = np.abs(got.astype(float) - wanted.astype(float))
        worst = np.argmax(apart / allowed)
        at = [a[finite][worst] for a in given]
        assert apart[worst] <= allowed[worst], (
            name,
            at,
            got[worst],
            wanted[worst],
            apart[worst] / unit[worst],
        )


def by_name(make, names, args):
    """The functions in one kernel, called by their names with double and float."""
    kinds = FUNCTIONS[names[0]].kinds
    parameters = [f"{'long' if k == 'n' else 'double'} *a{j}" for j, k in enumerate(kinds)]
    if make.name == "cuda":
        parameters = [p.replace("long ", "long long ") for p in parameters]
    calls = [f"a{j}[i]" for j in range(len(kinds))]
    narrow = [c if k == "n" else f"(float){c}" for c, k in zip(calls, kinds)]
    operation = ";\n".join(
        f"y{j}[i] = pg_{n}({', '.join(calls)}); z{j}[i] = pg_{n}({', '.join(narrow)})"
        for j, n in enumerate(names)
    )
    parameters += [f"double *y{j}, float *z{j}" for j in range(len(names))]
    language = OPENCL if make.name == "opencl" else CUDA
    kernel = Elementwise(language, ", ".join(parameters), operation, f"special_{kinds}")
    inputs = [make(a) for a in args]
    wide = [make(np.zeros(args[0].size)) for _ in names]
    short = [make(np.zeros(args[0].size, np.float32)) for _ in names]
    outs = [x for pair in zip(wide, short) for x in pair]
    kernel((*inputs, *outs))
    return [(y.get(), z.get()) for y, z in zip(wide, short)]


ALIASES = "psi jn jve yve legendre_p".split()
RELATIVES = (  # in test_special_relatives.py
    "ber bei ker kei berp beip kerp keip kolmogi struve modstruve owens_t tklmbda hyperu "
    "voigt_profile lpmv sph_legendre_p elliprj smirnov smirnovi".split()
)


def groups():
    found = {}
    for name, function in FUNCTIONS.items():
        if len(function.texts) == 1 and name not in (*ALIASES, *RELATIVES):
            size = name if name in HYPERGEOMETRIC else arguments(name)[0].size
            found.setdefault((function.kinds, CHOSEN.get(name), size), []).append(name)
    return list(found.values())


@pytest.mark.sampled(opencl=3)
@pytest.mark.filterwarnings("ignore:non-integer arg n:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:floating point number truncated:RuntimeWarning")
@pytest.mark.parametrize("names", groups(), ids=lambda names: names[0])
def test_values_are_scipys(make, names):
    if not make.backend.limits.fp64:
        pytest.skip("the device has no double precision")
    args = arguments(names[0])
    results = by_name(make, names, args)
    rounded = tuple(a if a.dtype == np.int64 else a.astype(np.float32).astype(float) for a in args)
    for name, (wide, narrow) in zip(names, results, strict=True):
        check(name, args, wide, expected(name, args))
        check(name, rounded, narrow, expected(name, rounded))


@pytest.fixture
def two(make):
    """A float32 array of 3 rows and 5 columns that is not contiguous, and its host copy."""
    host = np.linspace(0.1, 4, 15, dtype=np.float32).reshape(5, 3).T
    return make(np.ascontiguousarray(host.T)).T, host


def test_arrays_are_called_as_by_ufuncs(make, two):
    x, host = two
    wanted = scipy_special.gammaln(host)
    for function in (special.gammaln, scipy_special.gammaln):
        result = function(x)
        assert type(result) is type(x) and result.dtype == np.float32
        np.testing.assert_allclose(result.get(), wanted, rtol=1e-6, atol=1e-7)
    out = make(np.full((3, 5), 7.0, np.float32))
    mask = host > 1
    assert special.gammaln(x, out=out, where=make(mask)) is out
    np.testing.assert_allclose(out.get(), np.where(mask, wanted, 7), rtol=1e-6, atol=1e-7)
    assert scipy_special.gammaln(x, out=out) is out
    np.testing.assert_allclose(out.get(), wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(special.gammaln(x).get(), wanted, rtol=1e-6, atol=1e-7)  # by C
    assert special.gammaln(x[:0]).shape == (0, 5)


def test_dtypes_are_scipys(make):
    for dtype in (np.int16, np.int32, np.float32):
        host = np.array([1, 0, 1], dtype)
        assert special.entr(make(host)).dtype == scipy_special.entr(host).dtype, dtype
        wanted = np.float32 if dtype == np.float32 else np.float64
        assert special.xlogy(make(host), 2.0).dtype == wanted  # Python's numbers are weak
    assert special.erf(make(np.ones(2, np.float16))).dtype == np.float32
    assert special.erf(make(np.array([1.0])), dtype=np.float32).dtype == np.float32
    kinds = make(np.array([1, 2], np.int64)), make(np.array([[0.5], [2]], np.float32))
    assert special.kn(*kinds).dtype == np.float32 and special.kn(*kinds).shape == (2, 2)
    assert special.kn(2.0, kinds[1]).dtype == np.float32


def test_operands_are_broadcast_and_converted(make):
    column = np.array([[0.5], [2.5]])
    row = np.array([0.25, 1.0, 3.0])
    got = scipy_special.gammainc(make(column), row)
    np.testing.assert_allclose(got.get(), scipy_special.gammainc(column, row), rtol=1e-14)
    got = special.zeta(make(row + 1))
    np.testing.assert_allclose(got.get(), scipy_special.zeta(row + 1), rtol=1e-14)
    np.testing.assert_allclose(scipy_special.zeta(make(row + 1), 1.0).get(), got.get(), rtol=1e-14)


def test_functions_of_two_results(make):
    x = np.array([-2.0, 0.0, 0.5, 5.0, 100.0, NAN])
    with np.errstate(all="ignore"):
        for name in ("sici", "shichi", "fresnel"):
            pair = getattr(scipy_special, name)(make(x))
            for got, wanted in zip(pair, getattr(scipy_special, name)(x), strict=True):
                np.testing.assert_allclose(got.get(), wanted, rtol=4e-14)
    outs = make(np.zeros(6)), make(np.zeros(6))
    assert special.sici(make(x), out=outs)[1] is outs[1]
    np.testing.assert_allclose(outs[0].get(), scipy_special.sici(x)[0], rtol=1e-14)


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize("axis", [0, None, (0, 1)])
def test_softmax_and_logsumexp(make, axis):
    host = np.array([[0.0, -1, 3], [1000, 1000, -INF], [1e-20, -700, -700]])
    x = make(host)
    for name in ("softmax", "log_softmax", "logsumexp"):
        wanted = getattr(scipy_special, name)(host, axis=axis)
        np.testing.assert_allclose(getattr(special, name)(x, axis=axis).get(), wanted, rtol=1e-14)
    b = np.array([1.0, -2, 0.5])
    got, sign = special.logsumexp(x, axis=axis, b=b, keepdims=True, return_sign=True)
    wanted = scipy_special.logsumexp(host, axis=axis, b=b, keepdims=True, return_sign=True)
    np.testing.assert_allclose(got.get(), wanted[0], rtol=1e-14)
    np.testing.assert_array_equal(sign.get(), wanted[1])
    empty = special.logsumexp(make(np.array([-INF, -INF])))
    assert empty.item() == -INF


def test_softmax_and_logsumexp_of_integers_complex_numbers_and_nothing(make):
    for name in ("softmax", "log_softmax", "logsumexp"):
        got = getattr(special, name)(make(np.array([1, 2])))
        assert got.dtype == np.float64
        np.testing.assert_allclose(got.get(), getattr(scipy_special, name)([1, 2]), rtol=1e-14)
        assert getattr(special, name)(make(np.array([1, 2], np.uint8))).dtype == np.float32
    assert special.logsumexp(make(np.zeros((0, 3))), axis=0).get().tolist() == [-INF] * 3
    z, b = np.array([[1 + 2j, 3], [1e3, 1e3 - 1j]]), np.array([2.0, -1])
    for options in ({}, {"b": b, "return_sign": True}):
        wanted = scipy_special.logsumexp(z, axis=1, **options)
        got = special.logsumexp(make(z), axis=1, **options)
        got = [x.get() for x in got] if options else got.get()
        np.testing.assert_allclose(got, wanted, rtol=1e-13)


def test_python_kernels_call_them(make):
    import pygpu

    @pygpu.kernel
    def k(x, y, n):
        for i in range(x.shape[0]):
            y[i] = scipy_special.erfinv(x[i]) + special.kn(n, x[i]) + special.sici(x[i])[1]

    x = np.linspace(0.1, 0.9, 7)
    y = make(np.zeros(7))
    k[1, 1](make(x), y, 3)
    wanted = scipy_special.erfinv(x) + scipy_special.kn(3, x) + scipy_special.sici(x)[1]
    np.testing.assert_allclose(y.get(), wanted, rtol=1e-13)


def test_python_kernels_have_what_long_functions_call():
    """A kernel keeps the helpers that it finds by their names, also those not to be inlined."""
    for name, function in FUNCTIONS.items():
        for code in ("f64", "c128") if function.plane else ("f64",):
            body, helpers = expression(name, code, True)
            unit = emit.Unit("cuda")
            unit.definitions.update(helpers)
            text = unit.text(body)
            defined = re.findall(r"^PG_\w+ .*?\b(pgs_\w+)[(\[]", text, re.M)
            assert set(re.findall(r"\bpgs_\w+", text)) == set(defined), (name, code)


def test_airy_functions(make):
    x = np.concatenate([uniform(30, -25, 25), [0.0, -0.0, 1, -1, 1.0000001, 1e-300, 100, NAN]])
    for name in ("airy", "airye"):
        found = getattr(special, name)(make(x))
        for got, wanted in zip(found, getattr(scipy_special, name)(x), strict=True):
            near = np.where(x < 0, 2e-13, 0) + 3e-13 * np.abs(wanted)  # which oscillate below 0
            fine = (np.abs(got.get() - wanted) <= near) | (np.isnan(got.get()) & np.isnan(wanted))
            assert fine.all(), (name, x[~fine], got.get()[~fine], wanted[~fine])
    z = powers(31, -1, 1.5) * np.exp(1j * uniform(32, -np.pi, np.pi))
    for name in ("airy", "airye") if make.name == "cuda" else ("airy",):
        found = getattr(special, name)(make(z))
        for got, wanted in zip(found, getattr(scipy_special, name)(z), strict=True):
            np.testing.assert_allclose(got.get(), wanted, rtol=3e-13)


def test_bessel_functions_of_complex_numbers(make):
    """Beside the cuts, at the switches between methods, and of both signs of the order."""
    angles = np.concatenate([uniform(33, -np.pi, np.pi, 60), [1e-9, 3.14159, -3.14159, 1.5708]])
    z = np.concatenate([powers(34, -2, 2, 60), [2, 2.0001, 1.999, 25]]) * np.exp(1j * angles)
    z = np.concatenate([z, [-2.0, complex(-2, -0.0), 3j, -25j, 30]])
    v = np.resize([0.0, 1, 0.5, -0.5, 2.75, -3, 12.3, -1.2, 30], z.size)
    x, order = make(z), make(v)
    names = "jv yv iv kv jve yve ive kve hankel1 hankel2 hankel1e hankel2e".split()
    for name in names if make.name == "cuda" else ["jv"]:  # one text; PoCL compiles slowly
        wanted = getattr(scipy_special, name)(v, z)
        got = getattr(special, name)(order, x)
        assert got.dtype == np.complex128
        here = np.isfinite(wanted)
        apart = np.abs(got.get() - wanted)[here]
        assert (apart <= 1e-13 * np.abs(wanted[here])).all(), (name, apart.argmax())
    narrow = scipy_special.jv(v.astype(np.float32), x.astype(np.complex64))
    assert narrow.dtype == np.complex64
    with pytest.raises(TypeError, match="jv: real numbers are needed for the order, not complex"):
        special.jv(x, x)


def test_hankel_functions_of_real_numbers_are_complex(make):
    x = np.array([0.3, 2, 9, 60])
    for name in ("hankel1", "hankel2e"):
        got = getattr(special, name)(1, make(x))
        assert got.dtype == np.complex128
        np.testing.assert_allclose(got.get(), getattr(scipy_special, name)(1, x), rtol=1e-14)


def test_spherical_bessel_functions_of_complex_numbers(make):
    n = np.resize([0, 1, 2, 7, 20], 60)
    z = powers(35, -1, 1.7, 60) * np.exp(1j * uniform(36, -np.pi, np.pi, 60))
    names = ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn")
    for name in names if make.name == "cuda" else names[:1]:
        ours, theirs = getattr(special, name), getattr(scipy_special, name)
        for derivative in (False, True):
            got = ours(make(n), make(z), derivative).get()
            np.testing.assert_allclose(got, theirs(n, z, derivative), rtol=1e-12)
    got = special.spherical_jn(make(n), 2.5, derivative=True).get()
    np.testing.assert_allclose(got, scipy_special.spherical_jn(n, 2.5, True), rtol=1e-13)


# Relative to the absolute value: SciPy's own errors (1e-13 of the error functions), and near zeros.
PLANE = {"loggamma": 2e-14, "digamma": 4e-14, "exp1": 1e-12, "expi": 3e-14, "lambertw": 2e-14}
PLANE |= {"log1p": 2e-15, "expm1": 4e-15, "xlogy": 2e-15, "xlog1py": 2e-15}
IN_THE_PLANE = [
    name
    for name, function in FUNCTIONS.items()
    if function.plane and name != "psi" and name[:4] not in ("airy", "sphe") and not function.orders
]


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize("name", IN_THE_PLANE)
def test_complex_values_are_scipys(make, name):
    rng = np.random.default_rng(27)  # the same numbers whichever tests ran before
    turned = 10 ** rng.uniform(-3, 1.5, 200) * np.exp(1j * rng.uniform(-np.pi, np.pi, 200))
    z = np.concatenate(
        [turned, [1, 2, 0.5, -0.5, 3j, -4j, -2.5 + 1e-9j, -0.3678, 1e-200, -40 + 1j, 1.6j - 3.1]]
    )
    args = (z, z[::-1].copy()) if name.startswith("xlog") else (z,)
    with np.errstate(all="ignore"):
        wanted = getattr(scipy_special, name)(*args)
        got = getattr(special, name)(*map(make, args))
        compared = np.isfinite(wanted) & (np.abs(wanted) < 1e300)
    assert got.dtype == np.complex128
    apart = np.abs(got.get()[compared] - wanted[compared])
    size = np.abs(wanted[compared])
    assert np.all(apart <= PLANE.get(name, 1.5e-13) * size), name
    assert np.isnan(getattr(special, name)(*(make(np.array([NAN * 1j])) for _ in args)).get()).all()


def test_branches_and_narrow_complex_numbers(make):
    z = np.array([-0.3, -0.2 + 0.1j, 3, -1 - 2j], np.complex64)
    for k in (-1, 1, 5):
        wanted = scipy_special.lambertw(z.astype(complex), k)
        for got in (special.lambertw(make(z), k), scipy_special.lambertw(make(z), k)):
            assert got.dtype == np.complex64
            np.testing.assert_allclose(got.get(), wanted, rtol=3e-7)
    assert special.wofz(make(z.real.copy())).dtype == np.complex64
    assert special.erf(make(z.real.copy()), dtype=np.complex128).dtype == np.complex128
    with pytest.raises(TypeError, match="lambertw: the second argument must be an integer"):
        special.lambertw(make(z), 0.5)


def test_python_kernels_call_complex_functions(make):
    import pygpu

    @pygpu.kernel
    def k(z, w, n):
        for i in range(z.shape[0]):
            w[i] = special.loggamma(z[i]) + scipy_special.lambertw(z[i], n)

    z = np.array([1 + 2j, -0.5 + 0.1j, 3 - 1j])
    w = make(np.zeros(3, complex))
    k[1, 1](make(z), w, 2)
    wanted = scipy_special.loggamma(z) + scipy_special.lambertw(z, 2)
    np.testing.assert_allclose(w.get(), wanted, rtol=1e-13)


def test_refusals_say_what_is_needed(make):
    x = make(np.array([1.0, 2.0]))
    with pytest.raises(TypeError, match="erf: at least one operand must be an array on a device"):
        special.erf(1.0)
    with pytest.raises(TypeError, match="ndtri: real numbers are needed, not complex"):
        special.ndtri(make(np.array([1j])))
    with pytest.raises(TypeError, match=r"kn: the first argument must be an integer.*astype"):
        special.kn(x, x)
    with pytest.raises(TypeError, match="kn: the first argument must be an integer, not float"):
        special.kn(1.5, x)
    with pytest.raises(TypeError, match="jv takes 2 arguments, not 1"):
        call("jv", (x,))
    with pytest.raises(TypeError, match="out must be an array on the device"):
        special.erf(x, out=np.zeros(2))
    with pytest.raises(TypeError, match="cannot store float64 in out of dtype int32"):
        special.erf(x, out=make(np.zeros(2, np.int32)))
    with pytest.raises(TypeError, match="dtype must be float32 or float64"):
        special.erf(x, dtype=np.int32)
    with pytest.raises(TypeError, match="sici: out must be a tuple of 2 arrays"):
        special.sici(x, out=x)
    with pytest.raises(TypeError, match="softmax: an array on a device is needed"):
        special.softmax([1.0])
    with pytest.raises(TypeError):
        scipy_special.bdtrik(1.0, x, x)  # which is not among these


def test_orders_beyond_the_limit_are_nan(make):
    x = make(np.array([1.0, 2.0]))
    assert np.isnan(special.eval_hermite(10**12, x).get()).all()
    assert np.isnan(special.jv(1e7, x).get()).all()
    assert np.isnan(special.betainc(1e16, 1e16, 0.5 * x).get()).all()


def test_jacobis_functions(make):
    u, m = np.array([-9.0, 0, 0.3, 2.5, 7, NAN]), np.array([0.9, 0.5, 0, 1, 0.3, 0.5])
    for got, wanted in zip(special.ellipj(make(u), make(m)), scipy_special.ellipj(u, m)):
        np.testing.assert_allclose(got.get(), wanted, rtol=1e-13, atol=1e-15)


def test_the_inverse_of_log_ndtr_inverts(make):
    """Also where it is large, and SciPy's has twelve digits."""
    y = -(10.0 ** np.linspace(-10, 10, 41))
    x = special.ndtri_exp(make(y)).get()
    np.testing.assert_allclose(scipy_special.log_ndtr(x), y, rtol=2e-14)


def test_the_documentation_has_each_name_of_scipy():
    text = (Path(__file__).parents[2] / "docs/arrays/special.md").read_text()
    here, beside = text.split("## Functions of SciPy that are missing")
    tables = ["\n".join(x for x in part.splitlines() if x[:1] == "|") for part in (here, beside)]
    here, beside = (set(re.findall(r"\w+", " ".join(re.findall("`([^`]*)`", t)))) for t in tables)
    names = {name for name in scipy_special.__all__ if not name.endswith("_roots")}
    names = {name for name in names if not name.startswith("roots_") and name != "test"}
    assert names & set(special.__all__) <= here
    assert names - set(special.__all__) <= beside
    assert not beside & set(special.__all__) - {"jv", "yv", "iv", "kv", "binom", "poch", "gamma"}


def test_every_name_is_scipys():
    for name in special.__all__:
        function = getattr(special, name)
        assert hasattr(scipy_special, name), name
        assert function.__module__ == "pygpu.special" and function.__doc__
        assert pickle.loads(pickle.dumps(function)) is function
        ufunc = getattr(scipy_special, name)
        if isinstance(ufunc, np.ufunc) and name != "kelvin":
            assert FUNCTIONS[of_scipy(ufunc)].texts == FUNCTIONS[name].texts
            assert ufunc.nin == len(FUNCTIONS[name].kinds), name
    slopes = {f"spherical_{kind}n_d" for kind in "jyik"}
    assert set(FUNCTIONS) - set(special.__all__) == {"riemann_zeta"} | slopes
    assert of_scipy(np.sin) is None and of_scipy(math.erf) is None
