"""What Python's functions and formats do with arrays without axes, such as sums: as with NumPy's
numbers; and arguments that NumPy refuses or treats in its own way."""

from __future__ import annotations

import math
import operator
import pickle

import numpy as np
import pytest

from pygpu import xp
from pygpu._src.array.device import is_simulator

METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen "
    "weibull linear median_unbiased normal_unbiased lower higher midpoint nearest".split()
)
QUICK = ("inverted_cdf", "hazen")


@pytest.mark.parametrize(
    "value", [np.float64(2.567), np.float32(-2.5), np.int64(7), np.uint8(255), np.float64(-1250.0)]
)
def test_rounding_and_formats_are_those_of_numbers(make, value):
    a = make(np.asarray(value))
    assert round(a) == round(value) and type(round(a)) is int
    assert round(a, None) == round(value, None)
    for digits in (2, 0, -2, np.int8(1)):
        got = round(a, digits)
        assert got.dtype == value.dtype and got.get() == round(value, digits)
    assert math.trunc(a) == int(value) and math.floor(a) == math.floor(value)
    assert math.ceil(a) == math.ceil(value)
    assert [x.get() for x in divmod(a, 2)] == list(divmod(value, 2))
    assert f"{a:.3f} {a:>12} {a:e}" == f"{value:.3f} {value:>12} {value:e}"
    old = "%.2f %d"  # a form of its own, which calls __float__ and __int__
    assert old % (a, a) == old % (value, value)
    assert complex(a) == complex(value) and float(a) == float(value) and int(a) == int(value)
    assert pickle.loads(pickle.dumps(a)).get() == value
    if value.dtype.kind in "iu":
        assert (
            operator.index(a) == value and list(range(300))[a] == value and f"{a:d}" == str(value)
        )


def test_what_is_not_one_real_number_is_refused(make):
    for bad in ([1.5], [1.0, 2.0], [], True, 1j):
        a = make(np.asarray(bad))
        for call in (lambda a=a: round(a, 1), lambda a=a: round(a), lambda a=a: math.trunc(a)):
            with pytest.raises(TypeError, match="one real number without axes"):
                call()
    with pytest.raises(TypeError, match="format specifications"):
        f"{make(np.zeros(2)):.2f}"
    assert f"{make(np.zeros(2))}" == "[0. 0.]"
    for wrong, error in ((np.nan, ValueError), (np.inf, OverflowError)):
        for call in (round, math.trunc, math.floor, int):
            with pytest.raises(error):
                call(make(np.asarray(wrong)))


def test_sets_whose_items_are_said_to_be_unique(make):
    """Repeats then count as in NumPy's sorted neighbours."""
    for a, b in (
        ([1, 2, 2, 3], [2, 4]),
        ([1, 1, 1], [1]),
        ([3, 3, 1, 2], [2, 3, 3, 3]),
        ([], [1.0, 1.0]),
        ([1, np.nan, np.nan], [np.nan]),
    ):
        a, b = np.asarray(a), np.asarray(b)
        for name in ("setxor1d", "intersect1d"):
            for unique in (True, False):
                got = getattr(xp, name)(make(a), make(b), assume_unique=unique)
                wanted = getattr(np, name)(a, b, assume_unique=unique)
                np.testing.assert_array_equal(got.get(), wanted, strict=True)
    a, b = np.array([[3, 1], [7, 5]]), np.array([5, 3, 9])
    got = xp.intersect1d(make(a), make(b), True, return_indices=True)
    for g, w in zip(got, np.intersect1d(a, b, True, return_indices=True), strict=True):
        np.testing.assert_array_equal(g.get(), w)


@pytest.mark.parametrize(
    "method",
    [pytest.param(m, marks=[] if m in QUICK else [pytest.mark.slow]) for m in METHODS],
)
@pytest.mark.filterwarnings("ignore:All-NaN slice")
def test_quantiles_that_ignore_nan(make, method):
    rng = np.random.default_rng(5)
    for dtype in (np.float64, np.float32):
        x = rng.normal(size=(4, 10)).astype(dtype)
        x[rng.random(x.shape) < 0.3] = np.nan
        x[2], x[1] = np.nan, np.arange(10)
        for q in (0.1, [0.0, 0.25, 0.5, 1.0]):
            for axis, keepdims in ((1, True), (None, False)):
                wanted = np.nanquantile(x, q, axis, method=method, keepdims=keepdims)
                got = xp.nanquantile(make(x), q, axis, method=method, keepdims=keepdims)
                tiny = 1e-12 if dtype == np.float64 else 1e-5
                np.testing.assert_allclose(got.get(), wanted, rtol=tiny, atol=tiny)
                assert got.dtype == wanted.dtype
    got = xp.nanpercentile(make(x), 30, method=method)
    np.testing.assert_allclose(got.get(), np.nanpercentile(x, 30, method=method), rtol=1e-5)


def test_quantiles_of_unknown_methods_are_refused(make):
    x = make(np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="'middle' is not a valid method"):
        xp.nanquantile(x, 0.5, method="middle")
    with pytest.raises(TypeError, match="nanquantile: weights= is not supported"):
        xp.nanquantile(x, 0.5, method="inverted_cdf", weights=x)


def test_the_result_of_dot_must_fit(make):
    """numpy.dot takes nothing but the result's own dtype and shape, in C order."""
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    good = make(np.zeros((2, 4)))
    assert xp.dot(make(a), make(b), out=good) is good and (good.get() == a @ b).all()
    for bad in (
        np.zeros((2, 4), np.float32),
        np.zeros((2, 4), complex),
        np.zeros((2, 4), int),
        np.zeros((4, 2)),
        np.zeros(8),
        np.zeros((2, 4), order="F"),
    ):
        with pytest.raises(ValueError, match="dot: out must have dtype float64 and shape"):
            xp.dot(make(a), make(b), out=make(bad))
        with pytest.raises(ValueError, match="out"):
            np.dot(a, b, out=bad)
    v, cube = np.arange(3.0), np.arange(24.0).reshape(2, 3, 4)
    for left, right in ((v, v), (a, v), (a, cube), (a, np.asarray(2.0)), (v, b)):
        wanted = np.asarray(np.dot(left, right))
        out = make(np.zeros_like(wanted))
        xp.dot(make(left), make(right), out=out)
        np.testing.assert_allclose(out.get(), wanted)
        with pytest.raises(ValueError, match="dot: out"):
            xp.dot(make(left), make(right), out=make(np.zeros((*wanted.shape, 1))))


@pytest.mark.filterwarnings("ignore:numpy.linalg.qr is computed by NumPy")
def test_the_reflections_of_qr(make):
    a = np.random.default_rng(3).normal(size=(4, 3))
    h, tau = xp.linalg.qr(make(a), mode="raw")
    for got, wanted in zip((h, tau), np.linalg.qr(a, mode="raw"), strict=True):
        np.testing.assert_allclose(got.get(), wanted, atol=1e-13)
    with pytest.raises(ValueError, match="mode must be .*'raw', not 'fast'"):
        xp.linalg.qr(make(a), mode="fast")


def test_polynomials_of_the_host_take_device_arrays(make):
    p, x = np.poly1d([1.0, -3.0, 2.0]), np.array([0.0, 1.0, 5.0])
    for got in (xp.polyval(p, make(x)), p(make(x))):
        np.testing.assert_allclose(got.get(), p(x))


def test_nans_keep_their_sign_in_conversions(make):
    kinds = (np.float16, np.float32, np.float64)
    for source in kinds:
        x = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf], source)
        for target in kinds:
            got = make(x).astype(target).get()
            if make.backend.name == "opencl" or is_simulator():  # an NVIDIA GPU has one NaN
                np.testing.assert_array_equal(np.signbit(got), np.signbit(x))
            np.testing.assert_array_equal(got, x.astype(target))
