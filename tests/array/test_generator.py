"""pygpu.random: distributions against SciPy's, NumPy's arguments and refusals, streams."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest

from pygpu import random, xp
from pygpu._src.user_kernels import distributions
from pygpu.random import Generator, Philox4x32, default_rng

stats = pytest.importorskip("scipy.stats")

pytestmark = pytest.mark.sampled(3)
COUNT = 20000


@pytest.fixture
def rng(on):
    return default_rng(17)


# ---- distributions

REAL = {
    "random": ("random", (), stats.uniform()),
    "uniform": ("uniform", (-1, 3), stats.uniform(-1, 4)),
    "normal": ("normal", (2, 3), stats.norm(2, 3)),
    "lognormal": ("lognormal", (0.5, 0.4), stats.lognorm(0.4, 0, np.exp(0.5))),
    "exponential": ("exponential", (2,), stats.expon(0, 2)),
    "laplace": ("laplace", (1, 2), stats.laplace(1, 2)),
    "logistic": ("logistic", (1, 2), stats.logistic(1, 2)),
    "gumbel": ("gumbel", (1, 2), stats.gumbel_r(1, 2)),
    "weibull": ("weibull", (1.5,), stats.weibull_min(1.5)),
    "pareto": ("pareto", (2,), stats.lomax(2)),
    "power": ("power", (2.5,), stats.powerlaw(2.5)),
    "rayleigh": ("rayleigh", (2,), stats.rayleigh(0, 2)),
    "cauchy": ("standard_cauchy", (), stats.cauchy()),
    "gamma": ("gamma", (2.5, 2), stats.gamma(2.5, 0, 2)),
    "gamma of a small shape": ("standard_gamma", (0.3,), stats.gamma(0.3)),
    "beta": ("beta", (2, 3), stats.beta(2, 3)),
    "beta of small shapes": ("beta", (0.2, 0.3), stats.beta(0.2, 0.3)),
    "chisquare": ("chisquare", (3,), stats.chi2(3)),
    "noncentral chisquare": ("noncentral_chisquare", (3, 2), stats.ncx2(3, 2)),
    "noncentral chisquare, mixed": ("noncentral_chisquare", (0.6, 2), stats.ncx2(0.6, 2)),
    "f": ("f", (3, 8), stats.f(3, 8)),
    "noncentral f": ("noncentral_f", (3, 8, 2), stats.ncf(3, 8, 2)),
    "t": ("standard_t", (3,), stats.t(3)),
    "vonmises": ("vonmises", (0, 2), stats.vonmises(2)),
    "vonmises, nearly uniform": ("vonmises", (0, 5e-4), stats.vonmises(5e-4)),
    "wald": ("wald", (1.5, 2), stats.invgauss(0.75, 0, 2)),
    "triangular": ("triangular", (-1, 0.5, 2), stats.triang(0.5, -1, 3)),
}
WHOLE = {
    "poisson, small": ("poisson", (3.5,), stats.poisson(3.5)),
    "poisson, PTRS": ("poisson", (50,), stats.poisson(50)),
    "poisson of a large mean": ("poisson", (1e6,), stats.poisson(1e6)),
    "binomial, BINV": ("binomial", (20, 0.8), stats.binom(20, 0.8)),
    "binomial, BTRS": ("binomial", (1000, 0.4), stats.binom(1000, 0.4)),
    "binomial of many": ("binomial", (10**9, 0.7), stats.binom(10**9, 0.7)),
    "geometric": ("geometric", (0.2,), stats.geom(0.2)),
    "negative binomial": ("negative_binomial", (3.5, 0.3), stats.nbinom(3.5, 0.3)),
    "hypergeometric, an urn": ("hypergeometric", (7, 5, 8), stats.hypergeom(12, 7, 8)),
    "hypergeometric, HRUA": ("hypergeometric", (70, 50, 100), stats.hypergeom(120, 70, 100)),
    "zipf": ("zipf", (2.5,), stats.zipf(2.5)),
    "logseries": ("logseries", (0.8,), stats.logser(0.8)),
}
# Kernels compile slowly: each distribution on one backend, on both those that differ in kind.
BOTH = {"random", "normal", "gamma", "vonmises", "poisson, small", "poisson, PTRS"}
BOTH |= {"binomial, BINV", "binomial, BTRS"}


def cases(table):
    return [
        pytest.param(
            backend,
            *case,
            id=f"{name}-{backend}",
            marks=() if backend == "cuda" or name in BOTH else pytest.mark.slow,
        )
        for name, case in table.items()
        for backend in ("cuda", "opencl")
    ]


def close_moments(x, law):
    """Mean and deviation, where they exist, within five standard errors."""
    mean, variance = (float(v) for v in law.stats("mv"))
    if np.isfinite(variance):
        assert abs(x.mean() - mean) < 5 * np.sqrt(variance / x.size)


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize(("make", "name", "args", "law"), cases(REAL), indirect=["make"])
def test_real_numbers_have_their_distribution(rng, name, args, law):
    found = getattr(rng, name)(*args, size=COUNT)
    assert found.dtype == np.float64 and found.shape == (COUNT,)
    x = found.get()
    assert stats.kstest(x, law.cdf).pvalue > 1e-3
    if name != "vonmises":
        close_moments(x, law)


@pytest.mark.slow
@pytest.mark.parametrize("case", REAL.values(), ids=REAL)
def test_single_precision_has_the_same_distribution(rng, case):
    name, args, law = case
    found = getattr(rng, name)(*args, size=COUNT, dtype=np.float32)
    assert found.dtype == np.float32
    assert stats.kstest(found.get().astype(np.float64), law.cdf).pvalue > 1e-3


def test_single_precision_where_it_is_hardest(rng):
    for x, law in (
        (rng.standard_normal(COUNT, np.float32), stats.norm),
        (rng.standard_gamma(2.5, COUNT, np.float32), stats.gamma(2.5)),
        (rng.vonmises(0, 1e4, COUNT, dtype=np.float32), stats.vonmises(1e4)),  # 1 - w cancels
    ):
        assert x.dtype == np.float32
        assert stats.kstest(x.get().astype(np.float64), law.cdf).pvalue > 1e-3


def chi_squared(x, law):
    """The p value of counts, in some forty bins that are likely enough."""
    low, high = int(law.ppf(1e-3)), int(law.ppf(1 - 1e-3))
    width = max(1, (high - low) // 40)
    edges = np.arange(low, high + width, width)
    chances = np.diff(np.concatenate([[0], law.cdf(edges), [1]])) * x.size
    found = np.bincount(np.searchsorted(edges, x), minlength=chances.size)
    groups = np.minimum((np.cumsum(chances) // 20).astype(int), int(chances.sum() / 20) - 1)
    sums = [np.bincount(groups, weights) for weights in (found, chances)]
    kept = sums[1] > 0
    assert kept.sum() > 2
    return stats.chisquare(sums[0][kept], sums[1][kept] * sums[0].sum() / sums[1].sum()).pvalue


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize(("make", "name", "args", "law"), cases(WHOLE), indirect=["make"])
def test_counts_have_their_distribution(rng, name, args, law):
    found = getattr(rng, name)(*args, size=COUNT)
    assert found.dtype == np.int64 and found.shape == (COUNT,)
    x = found.get()
    assert x.min() >= law.support()[0] and x.max() <= law.support()[1]
    assert chi_squared(x, law) > 1e-3
    close_moments(x, law)


@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_edges_of_parameters(rng, make):
    assert (rng.normal(3, 0, 5).get() == 3).all()
    assert (rng.gamma([0, 2], [2, 0]).get() == 0).all()
    assert (rng.poisson([0, 0.0]).get() == 0).all()
    n = rng.binomial([0, 7, 7, 10**15], [0.5, 0, 1, 1]).get()
    assert n.tolist() == [0, 0, 7, 10**15]
    state = rng.bit_generator.state
    n = rng.geometric(make(np.array([0.3, 1.0, -1.0, 2.0, np.nan, 1e-300, 5e-324]))).get()
    assert n.tolist()[1:5] == [1, -1, -1, -1] and (n[5:] == 2**63 - 1).all()
    rng.bit_generator.state = state
    assert rng.geometric(0.3, 7).get()[0] == n[0]  # log(1 - p) is computed once
    assert (rng.vonmises([1, -1], [1e9, np.inf]).get() - [1, -1] < 1e-3).all()
    assert np.isnan(rng.normal(np.nan, 1).get())


def test_results_stay_in_their_range(rng):
    for dtype in (np.float64, np.float32):
        x = rng.random(COUNT, dtype).get()
        assert x.min() >= 0 and x.max() < 1
    angles = rng.vonmises(3, 1, 1000).get()
    assert abs(angles).max() <= np.pi


# ---- integers


@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
def test_integers_are_equally_likely(rng, dtype):
    x = rng.integers(3, 9, COUNT, dtype).get()
    assert x.dtype == dtype
    assert sorted(set(x.tolist())) == [3, 4, 5, 6, 7, 8]
    assert stats.chisquare(np.bincount(x)[3:]).pvalue > 1e-3


def test_integers_are_without_bias(rng):
    """Of 3 * 2**62, a product without rejection makes one third twice as likely as the others."""
    x = rng.integers(0, 3 << 62, COUNT, np.uint64).get()
    assert stats.chisquare(np.bincount((x % 3).astype(np.int64))).pvalue > 1e-3
    assert stats.kstest(x / float(3 << 62), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_integers_of_whole_dtypes(rng):
    for dtype in (np.uint64, np.int64, np.uint32, np.int8):
        limits = np.iinfo(dtype)
        x = rng.integers(limits.min, limits.max, 4000, dtype, endpoint=True).get()
        share = (x.astype(np.float64) - limits.min) / (float(limits.max) - limits.min + 1)
        assert stats.kstest(share, "uniform").pvalue > 1e-3
    assert rng.integers(5, 5, 3, endpoint=True).get().tolist() == [5] * 3
    top = 2**64 - 1
    assert rng.integers(top, 2**64, 2, np.uint64).get().tolist() == [top] * 2
    flags = rng.integers(0, 2, 1000, bool).get()
    assert flags.dtype == bool and 400 < flags.sum() < 600


def test_bounds_may_be_arrays_anywhere(rng, make):
    high = np.array([[1], [5], [1000]])
    twin, third = copy.deepcopy(rng), copy.deepcopy(rng)
    x = rng.integers([0, -9], high).get()
    assert x.shape == (3, 2) and (x >= [0, -9]).all() and (x < high).all()
    assert (twin.integers(make(np.array([0, -9])), make(high)).get() == x).all()
    assert (third.integers(make(np.array([0, -9])), high - 1, endpoint=True).get() == x).all()
    a, b = copy.deepcopy(rng), copy.deepcopy(rng)
    same = a.integers(-5, 1000, (3, 2)).get()
    assert (b.integers([[-5, -5]], 1000, (3, 2)).get() == same).all()


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        ((5, 5), {}, "low >= high"),
        ((5, 4), {"endpoint": True}, "low > high"),
        ((7, 5), {}, "low >= high"),
        ((0,), {}, "low >= high"),
        ((0, 257), {"dtype": np.uint8}, "high is out of bounds for uint8"),
        ((-1, 5), {"dtype": np.uint64}, "low is out of bounds for uint64"),
        (([1, 7], [5, 5]), {}, "low >= high"),
    ],
)
def test_integers_refuses_what_numpy_does(rng, args, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        rng.integers(*args, **options)
    if type(args[0]) is int and len(args) == 2 and "out of bounds" not in message:
        assert f"{args[0]} and {args[1]}" in str(caught.value)
    with pytest.raises(ValueError):
        np.random.default_rng().integers(*args, **options)


# ---- the same numbers


def test_all_devices_and_parts_have_the_same_numbers(cuda_context, opencl_maker):
    """Exactly, where no function of the device's library takes part."""
    made = [default_rng([1, 2], device=d) for d in (cuda_context, opencl_maker.queue)]
    for draw in (
        lambda rng: rng.random(1001),
        lambda rng: rng.random(77, np.float32),
        lambda rng: rng.integers(0, 10**6, 99),
    ):
        first, second = (draw(rng).get() for rng in made)
        assert (first == second).all()
    for name, args in (("normal", (1, 2)), ("gamma", (0.5, 1)), ("binomial", (1000, 0.4))):
        first, second = (getattr(rng, name)(*args, size=500).get() for rng in made)
        np.testing.assert_allclose(first, second, rtol=1e-11, atol=1e-12)
    assert made[0].bit_generator.state == made[1].bit_generator.state


def test_an_item_depends_on_its_index_alone(rng, make):
    """Not on how many there are, on strides, or on whether parameters are numbers or arrays."""
    state = rng.bit_generator.state

    def again(name, *args, **options):
        rng.bit_generator.state = state
        return getattr(rng, name)(*args, **options).get()

    whole = again("gamma", 0.5, 2, 1000)
    assert (again("gamma", 0.5, 2, 10) == whole[:10]).all()
    assert (again("gamma", make(np.full(1000, 0.5)), 2) == whole).all()
    out = make(np.zeros((10, 200)))[:, ::2]
    assert (again("gamma", 0.5, 2, out=out) == whole.reshape(10, 100)).all()
    rng.bit_generator.state = state
    parts = [rng.gamma(0.5, 2, n).get() for n in (1, 0, 499, 500)]
    assert (np.concatenate(parts) == whole).all()
    z = again("normal", 1, 2, (7, 3))
    np.testing.assert_allclose(again("normal", [1, 1, 1], 2, (7, 3)), z, rtol=1e-14)
    assert (again("normal", 1, 2, out=make(np.zeros((14, 3)))[::2]) == z).all()
    in_fortran = make(np.zeros((3, 7))).T
    np.testing.assert_allclose(again("normal", [1, 1, 1], 2, out=in_fortran), z, rtol=1e-14)


def test_blocks_of_the_counter_are_philox(rng):
    """The known answer of Random123, as bits of a number."""
    rng.bit_generator.state = {
        "bit_generator": "Philox4x32",
        "state": {"key": 0, "stream": 0, "position": 0},
    }
    expected = np.array([0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]) >> 8
    assert (rng.random(4, np.float32).get() * 2**24 == expected).all()


# ---- streams


def test_streams_of_spawn_differ_and_are_determined(rng):
    first, again = (
        [child.random(100).get() for child in default_rng(5).spawn(3)] for _ in range(2)
    )
    assert np.array_equal(first, again)
    assert np.unique(np.concatenate([*first, default_rng(5).random(100).get()])).size == 400
    keys = {str(child.bit_generator.state) for child in default_rng(5).spawn(1000)}
    assert len(keys) == 1000


def test_seeds(rng):
    sequence = np.random.SeedSequence(9)
    a, b = default_rng(9).random(5).get(), default_rng(sequence).random(5).get()
    assert (a == b).all()
    assert (default_rng().random(5).get() != default_rng().random(5).get()).any()
    assert default_rng(rng) is rng
    bits = Philox4x32(3)
    assert default_rng(bits).bit_generator is bits
    for wrong in (np.random.default_rng(1), np.random.PCG64(1)):
        with pytest.raises(TypeError, match="of NumPy draws on the host"):
            default_rng(wrong)
    with pytest.raises(ValueError):
        default_rng(-1)
    with pytest.raises(TypeError, match="Philox4x32"):
        Generator(np.random.PCG64(1))


def test_copies_and_pickles_go_on_alike(rng):
    rng.random(7)
    twins = copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))
    shared = copy.copy(rng)
    found = rng.integers(0, 1000, 50).get()
    for twin in twins:
        assert twin.device == rng.device
        assert (twin.integers(0, 1000, 50).get() == found).all()
    assert shared.bit_generator is rng.bit_generator
    named = default_rng(1, device="opencl")
    assert pickle.loads(pickle.dumps(named)).device == xp.as_device("opencl")


def test_state_can_be_read_and_set(rng):
    state = rng.bit_generator.state
    x = rng.random(5).get()
    rng.bit_generator.state = state
    assert (rng.random(5).get() == x).all()
    rng.bit_generator.state = state
    rng.bit_generator.advance(1)
    assert (rng.random(3).get() == x[2:]).all()
    parts = {"key": 1, "stream": 2, "position": 1 << 64}
    for wrong, error in (
        (5, TypeError),
        ({"bit_generator": "PCG64"}, ValueError),
        ({"bit_generator": "Philox4x32", "state": parts}, ValueError),
    ):
        with pytest.raises(error):
            rng.bit_generator.state = wrong
    rng.bit_generator.state = {**state, "state": {**parts, "position": (1 << 64) - 1}}
    assert rng.random(6).shape == (6,)
    assert rng.bit_generator.state["state"] == {**parts, "position": 2}


# ---- sizes, results, refusals


def test_numbers_do_not_depend_on_where_the_counter_carries(on):
    """Kernels count in 32 bits where that suffices: the same numbers come piece by piece."""
    for method, args, dtype in (("random", (), np.float32), ("integers", (1000,), np.int32)):
        whole = default_rng(17)
        whole.bit_generator.advance((1 << 32) - 3)
        expected = getattr(whole, method)(*args, size=24, dtype=dtype).get()
        parts = default_rng(17)
        parts.bit_generator.advance((1 << 32) - 3)
        got = [getattr(parts, method)(*args, size=4, dtype=dtype).get() for _ in range(6)]
        np.testing.assert_array_equal(np.concatenate(got), expected)


def test_shapes(rng, make):
    assert rng.random().shape == rng.gamma(2).shape == rng.integers(5).shape == ()
    assert isinstance(rng.random(), type(make(np.zeros(1))))
    assert rng.random((2, 0, 3)).shape == rng.gamma(2, size=(2, 0, 3)).shape == (2, 0, 3)
    assert rng.gamma([1, 2], [[1], [2], [3]]).shape == (3, 2)
    assert rng.gamma([1, 2], size=(4, 2)).shape == (4, 2)
    assert rng.gamma([]).shape == (0,)
    assert rng.gamma(make(np.float64(2))).shape == ()
    with pytest.raises(ValueError, match="not compatible with broadcast dimensions"):
        rng.gamma([1, 2], size=3)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        rng.gamma([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="negative dimensions"):
        rng.random(-1)


def test_out(rng, make):
    for out in (make(np.zeros(6)), make(np.zeros(6, np.float32))):
        for call in (rng.random, rng.standard_normal):
            assert call(out=out) is out
            assert np.unique(out.get()).size == 6
    means = make(np.full(5, 1e6))
    assert rng.normal(means, 1, out=means) is means
    assert abs(means.get() - 1e6).max() < 7
    for wrong, error in (
        ({"out": make(np.zeros(6)), "size": 5}, ValueError),
        ({"out": make(np.zeros(6)), "dtype": np.float32}, TypeError),
        ({"out": make(np.zeros(6, np.int32))}, TypeError),
        ({"out": np.zeros(6)}, TypeError),
        ({"dtype": np.float16}, TypeError),
        ({"dtype": np.complex64}, TypeError),
    ):
        with pytest.raises(error):
            rng.random(**wrong)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("exponential", -1),
        ("rayleigh", -1),
        ("weibull", -1),
        ("pareto", 0),
        ("power", 0),
        ("normal", -1),
        ("laplace", -1),
        ("gumbel", -1),
        ("logistic", -1),
        ("lognormal", -1),
        ("gamma", -1),
        ("uniform", -1),
    ],
)
@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_wrong_parameters_on_the_device_give_nan(rng, make, name, wrong):
    first = (1.0,) if name == "gamma" else (0.0,) if name in LOCATED else ()
    x = getattr(rng, name)(*first, make(np.array([wrong, 2.0, np.nan]))).get()
    assert np.isnan(x).tolist() == [True, False, True]


LOCATED = {"normal", "laplace", "gumbel", "logistic", "lognormal", "uniform"}


@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_counts_of_other_dtypes(rng, make):
    x = rng.poisson(40, 1000, dtype=np.uint32)
    assert x.dtype == np.uint32 and abs(x.get().mean() - 40) < 1
    with pytest.raises(ValueError, match="lam value too large"):
        rng.poisson(2.0**31, dtype=np.int32)
    huge = rng.poisson(make(np.array([2.0**32, -1.0, np.nan])), dtype=np.int32).get()
    assert huge.tolist() == [2**31 - 1, -1, -1]
    with pytest.raises(TypeError, match="int32"):
        rng.poisson(1, dtype=np.int8)


REFUSED = [
    ("normal", (0, -1), "scale < 0"),
    ("normal", (0, [1, -1]), "scale < 0"),
    ("uniform", (1, 0), "high - low < 0"),
    ("exponential", (-1,), "scale < 0"),
    ("gamma", (-1,), "shape < 0"),
    ("beta", (0, 1), "a <= 0"),
    ("chisquare", (0,), "df <= 0"),
    ("f", (1, 0), "dfden <= 0"),
    ("standard_t", (0,), "df <= 0"),
    ("vonmises", (0, -1), "kappa < 0"),
    ("weibull", (-1,), "a < 0"),
    ("pareto", (0,), "a <= 0"),
    ("wald", (0, 1), "mean <= 0"),
    ("triangular", (1, 0, 2), "left > mode"),
    ("triangular", (0, 3, 2), "mode > right"),
    ("triangular", (0, 0, 0), "left == right"),
    ("binomial", (-1, 0.5), "n < 0"),
    ("binomial", (1, 1.5), "p < 0, p > 1 or p is NaN"),
    ("poisson", (-1,), "lam < 0 or lam is NaN"),
    ("poisson", (1e19,), "lam value too large"),
    ("geometric", (0,), "p <= 0, p > 1 or p contains NaNs"),
    ("negative_binomial", (0, 0.5), "n <= 0"),
    ("hypergeometric", (1, 2, 4), r"ngood \+ nbad < nsample"),
    ("hypergeometric", (10**9, 2, 4), "both ngood and nbad must be less than 1000000000"),
    ("zipf", (1,), "a <= 1 or a is NaN"),
    ("logseries", (1,), "p < 0, p >= 1 or p is NaN"),
    ("dirichlet", ([1, -1],), "alpha < 0"),
    ("multinomial", (5, [0.7, 0.7, 0]), r"sum\(pvals\[:-1\]"),
    ("choice", (3, 4, False), "Cannot take a larger sample"),
    ("choice", (2, 4, True, [0.5, 0.7]), "robabilities do not sum to 1"),
    ("choice", (2, 4, True, [1.0]), "a and p must have same size"),
    ("choice", (0, 1), "a must be a positive integer"),
    ("multivariate_normal", ([0], [[1, 2]]), "cov must be 2 dimensional and square"),
    ("multivariate_hypergeometric", ([2, 2], 5), "nsample > sum"),
    ("standard_exponential", (3, None, "other"), "method"),
]


@pytest.mark.parametrize(("name", "args", "message"), REFUSED)
def test_refusals_are_numpys(opencl_maker, name, args, message):
    rng = default_rng(1, device=opencl_maker.queue)
    state = rng.bit_generator.state
    with pytest.raises(ValueError, match=message):
        getattr(rng, name)(*args)
    assert rng.bit_generator.state == state
    if name not in ("standard_exponential", "dirichlet"):  # with messages of other words
        with pytest.raises(ValueError, match=message):
            getattr(np.random.default_rng(1), name)(*args)


def test_arguments_of_other_types_are_refused(opencl_maker, cuda_context):
    rng = default_rng(1, device=opencl_maker.queue)
    for wrong in ("1", None, 1j, [1j], np.array(["a"])):
        with pytest.raises(TypeError, match="gamma: shape must be of real numbers"):
            rng.gamma(wrong)
    with pytest.raises(TypeError, match="high must be an integer"):
        rng.integers(2.5)
    elsewhere = xp.ones(3, device=cuda_context)
    for call in (
        lambda: rng.gamma(elsewhere),
        lambda: rng.random(out=elsewhere),
        lambda: rng.permutation(elsewhere),
    ):
        with pytest.raises(ValueError, match="the generator"):
            call()
    with pytest.raises(TypeError, match="on the device"):
        rng.shuffle([1, 2, 3])
    with pytest.raises(TypeError, match="shuffle: x must have an axis"):
        rng.shuffle(xp.ones((), device=elsewhere.device))


@pytest.mark.parametrize("name", [n for n in vars(np.random.Generator) if not n.startswith("_")])
def test_every_method_of_numpys_is_there(name):
    assert hasattr(random.Generator, name)


# ---- several numbers


def test_orders_and_choices(rng, make):
    assert sorted(rng.permutation(50).get().tolist()) == list(range(50))
    host = np.arange(60).reshape(3, 20)
    x = make(host)
    rng.shuffle(x, axis=1)
    columns = x.get()
    assert (columns != host).any() and (np.sort(columns[0]) == host[0]).all()
    assert (columns - columns[0] == [[0], [20], [40]]).all()
    rows = rng.permuted(host, axis=1).get()
    assert (np.sort(rows, axis=1) == host).all() and (rows - rows[0] != [[0], [20], [40]]).any()
    assert sorted(rng.permuted(make(host)).get().ravel().tolist()) == list(range(60))
    few = rng.choice(50, 20, replace=False).get()
    assert np.unique(few).size == 20 and few.min() >= 0 and few.max() < 50
    assert set(rng.choice(make(np.array([2, 4, 8])), (5, 5)).get().ravel().tolist()) <= {2, 4, 8}
    assert rng.choice(5).shape == ()
    assert len(rng.bytes(7)) == 7 and rng.bytes(0) == b"" and rng.bytes(8) != rng.bytes(8)


@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_choices_by_probability(rng):
    p = np.array([0.5, 0, 0.2, 0.3])
    found = np.bincount(rng.choice(4, 5000, p=p).get(), minlength=4)
    assert found[1] == 0 and stats.chisquare(found[p > 0], 5000 * p[p > 0]).pvalue > 1e-3
    few = rng.choice(4, 3, replace=False, p=p).get()
    assert sorted(few.tolist()) == [0, 2, 3]


def test_rows(rng, make):
    n = rng.multinomial([[7], [900]], [0.2, 0.5, 0.3], (2, 3000)).get()
    assert n.shape == (2, 3000, 3) and (n.sum(-1) == [[7], [900]]).all() and n.min() >= 0
    for place, p in enumerate((0.2, 0.5, 0.3)):
        assert chi_squared(n[1, :, place], stats.binom(900, p)) > 1e-3
    d = rng.dirichlet([0.5, 2, 3], 3000).get()
    np.testing.assert_allclose(d.sum(-1), 1, rtol=1e-12)
    assert stats.kstest(d[:, 1], stats.beta(2, 3.5).cdf).pvalue > 1e-3
    tiny = rng.dirichlet(np.full(3, 1e-4), 50).get()
    np.testing.assert_allclose(tiny.sum(-1), 1)
    out = make(np.zeros((4, 6)))[:, ::2]
    assert rng.dirichlet([1, 2, 3], out=out) is out and (out.get() > 0).all()


@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_multivariate_hypergeometric(rng):
    x = rng.multivariate_hypergeometric([30, 50, 0, 20], 40, 3000).get()
    assert (x.sum(-1) == 40).all() and (x[:, 2] == 0).all()
    assert chi_squared(x[:, 1], stats.hypergeom(100, 50, 40)) > 1e-3


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_multivariate_normal(rng, method):
    cov = np.array([[2.0, 1.2], [1.2, 1.0]])
    x = rng.multivariate_normal([5, -3], cov, 8000, method=method).get()
    assert abs(x.mean(0) - [5, -3]).max() < 0.08
    np.testing.assert_allclose(np.cov(x.T), cov, atol=0.12)
    if method != "cholesky":
        with pytest.warns(RuntimeWarning, match="positive-semidefinite"):
            rng.multivariate_normal([0, 0], [[1, 2], [2, 1]], method=method)


# ---- launches


@pytest.mark.usefixtures("unfused")
def test_a_call_is_one_launch_and_needs_no_copy(rng, make):
    shapes = make(np.linspace(0.5, 3, 100))
    for call in (
        lambda: rng.random(100),
        lambda: rng.normal(1, 2, 100),
        lambda: rng.gamma(2, 3, 100),
        lambda: rng.gamma(shapes, 3),
        lambda: rng.integers(0, 9, 100),
    ):
        call()
        assert make.calls(call) == (1, [])


@pytest.mark.parametrize("name", sorted(distributions.FUNCTIONS))
def test_no_double_in_kernels_of_single_precision(name):
    """Which devices without double precision would not compile."""
    text = distributions.needed(distributions.FUNCTIONS[name][1], "f32")
    text = re.sub(r"#ifdef PG_FP64.*?#endif", "", text, flags=re.DOTALL)
    text = re.sub(r"PG_R\([^()]*\)|/\*.*?\*/", "", text, flags=re.DOTALL)
    assert "f64" not in text
    assert re.findall(r"\b\d+\.\d*(?:e-?\d+)?(?![\dfe])", text) == []


def test_the_array_namespace_has_it():
    assert xp.random is random
    with pytest.raises(AttributeError, match=r"pygpu\.xp.*nothing"):
        xp.nothing  # noqa: B018


def test_the_older_class(on):
    state, rng = random.RandomState(5), random.default_rng(5)
    got = [state.rand(2, 3), state.randn(2), state.randint(0, 9, 4), state.random_sample(),
           state.gamma(2.0, size=3)]  # fmt: skip
    want = [rng.random((2, 3)), rng.standard_normal(2), rng.integers(0, 9, 4), rng.random(),
            rng.gamma(2.0, size=3)]  # fmt: skip
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(one.get(), other.get())
    assert isinstance(state, random.Generator) and repr(state).startswith("<RandomState(Philox")
    again = pickle.loads(pickle.dumps(state))
    np.testing.assert_array_equal(again.rand(3).get(), state.rand(3).get())
    state.seed(5)
    np.testing.assert_array_equal(state.rand(2, 3).get(), got[0].get())
