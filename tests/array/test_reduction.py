"""Reductions against NumPy: axes, dtypes, strides, masks, NaN, empty arrays."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pygpu._src.array.reduction import dot, reduce

SHAPES = [(1,), (7,), (70001,), (3, 5000), (5000, 3), (40, 1000), (2, 3, 4, 5), (300, 1, 64)]


def host(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) > 0.4
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    values = rng.standard_normal(shape)
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def expected(kind, a, **options):
    """NumPy's result; of float16 calculated in float32, as NumPy rounds each step of some sums."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if a.dtype == np.float16 and kind in ("sum", "prod", "mean", "var", "std"):
            result = getattr(np, kind)(a.astype(np.float32), **options)
            return np.asarray(result).astype(np.float16)
        return np.asarray(getattr(np, kind)(a, **options))


def check(kind, device, a, **options):
    got = reduce(kind, device, **options)
    host_options = dict(options)
    if hasattr(options.get("where"), "get"):
        host_options["where"] = options["where"].get()
    want = expected(kind, a, **host_options)
    assert got.dtype == want.dtype and got.shape == want.shape
    got = got.get()
    if got.dtype.kind not in "fc" or kind in ("min", "max", "ptp"):
        np.testing.assert_array_equal(got, want)
        return
    axis = options.get("axis")
    count = a.size // max(want.size, 1)
    scale = np.abs(a.astype(np.complex128 if a.dtype.kind == "c" else float)).sum(
        axis, keepdims=options.get("keepdims", False)
    )
    eps = np.finfo(want.dtype).eps
    if kind == "sum" and not np.isnan(want).any():
        # as good as pairwise sums: far below count * eps
        assert np.all(np.abs(got - want) <= eps * (np.log2(count + 1) + 8) * (scale + 1) + eps)
    else:
        np.testing.assert_allclose(got, want, rtol=64 * eps, atol=64 * eps)


@pytest.mark.sampled(opencl=2)
@pytest.mark.parametrize("kind", ["sum", "max", "argmin"])
def test_axes(make, kind):
    for shape in SHAPES:
        a = host("f4", shape)
        device = make(a)
        for axis in (None, *range(len(shape))):
            check(kind, device, a, axis=axis)
            check(kind, device, a, axis=axis, keepdims=True)


def test_several_axes_and_strides(make):
    a = host("f4", (6, 40, 9, 30))
    device = make(a)
    for axis in ((0, 2), (1, 3), (0, 1, 2, 3), (-1, -4), ()):
        check("sum", device, a, axis=axis)
    views = [
        (slice(None, None, -1), slice(3, None, 2)),
        (0, slice(None), slice(None, None, -2)),
        (Ellipsis, slice(None, None, -1)),
        (slice(2, 2),),
    ]
    for view in views:
        part, device_part = a[view], device[view]
        for axis in (None, 0, part.ndim - 1):
            check("sum", device_part, part, axis=axis)
    fortran = make(np.asfortranarray(a[0, :, :, 0]))
    for axis in (None, 0, 1):
        check("sum", fortran, a[0, :, :, 0], axis=axis)
        check("argmin", fortran, a[0, :, :, 0], axis=axis)


@pytest.mark.sampled(opencl=2)
@pytest.mark.parametrize("dtype", ["i1", "u8", "f2", "D"])
def test_dtypes(make, dtype):
    a = host(dtype, (37, 211), 1)
    device = make(a)
    check("sum", device, a)
    check("max", device, a, axis=1)
    check("argmax", device, a, axis=1)
    if dtype == "D":
        for kind in ("prod", "mean", "var", "any"):
            check(kind, device, a, axis=1)
    elif dtype == "i1":
        for kind in ("prod", "mean", "var", "ptp"):
            check(kind, device, a, axis=1)


def test_truth_and_counts(make):
    for a in (np.zeros((3, 300), bool), np.ones((3, 300), bool), host("?", (3, 300))):
        device = make(a)
        for kind in ("any", "all", "count_nonzero", "sum"):
            check(kind, device, a, axis=1)
    a = np.array([0.0, -0.0, np.nan, 0.0], np.float32)
    for kind in ("any", "all", "count_nonzero"):
        check(kind, make(a), a)


def test_moments(make):
    a = (host("f4", (5, 20000), 2) + 1000).astype(np.float32)  # a variance far below the squares
    device = make(a)
    for ddof in (0, 1, 1.5):
        got = reduce("var", device, 1, ddof=ddof).get()
        np.testing.assert_allclose(got, a.astype(np.float64).var(1, ddof=ddof), rtol=1e-5)
    got = reduce("std", device, 0).get()
    np.testing.assert_allclose(got, a.astype(np.float64).std(0), rtol=1e-5)
    check("mean", device, a)
    small = make(a[:, :1])
    np.testing.assert_array_equal(reduce("var", small, 1, ddof=1).get(), np.full(5, np.nan))
    integers = host("i2", 1000)
    check("mean", make(integers), integers)
    check("mean", make(integers), integers, dtype=np.float32)


def test_nan(make):
    for at in (0, 5, 4321, 9999):
        a = host("f4", 10000)
        a[at] = np.nan
        a[7777] = np.nan
        for shape in ((10000,), (100, 100)):
            device = make(a.reshape(shape))
            for kind in ("sum", "max", "argmin"):
                for axis in (None, 0)[: len(shape)]:
                    check(kind, device, a.reshape(shape), axis=axis)
    a = np.full(300, -np.inf, np.float32)
    check("max", make(a), a)
    check("argmin", make(a), a)
    zero = reduce("sum", make(np.full(5, -0.0, np.float32))).get()
    assert zero == 0 and np.signbit(zero)


def test_first_of_equals(make):
    a = np.zeros((50, 400), np.float32)
    a[:, 123::50] = -1
    device = make(a)
    for axis in (None, 0, 1):
        check("argmin", device, a, axis=axis)


def test_accumulators(make):
    check("sum", make(np.full(100000, 127, np.int8)), np.full(100000, 127, np.int8))
    a = np.full(70000, 2**31 - 1, np.int32)
    assert reduce("sum", make(a)).get() == int(a.sum(dtype=np.int64))
    ones = np.full(1 << 20, 0.1, np.float32)
    assert abs(float(reduce("sum", make(ones)).get()) / float(ones.astype(float).sum()) - 1) < 1e-6


def test_long_sums_on_a_cpu(opencl_maker):
    """Parts are joined in a tree: one after the other, the equal ones would round the same way."""
    if not opencl_maker.backend.limits.is_cpu:
        pytest.skip("the OpenCL device is not a CPU: work-items have few items at this size")
    a = np.full((1 << 22) + 5, 0.1, np.float32)
    exact = float(a[0]) * a.size
    for x in (opencl_maker(a), opencl_maker(a.reshape(7, -1)), opencl_maker(a)[::-1]):
        assert abs(float(reduce("sum", x).get()) / exact - 1) < 1e-6
    x = opencl_maker(np.tile(a[: 1 << 20], 2).reshape(2, -1))
    np.testing.assert_allclose(reduce("sum", x, 1).get(), float(a[0]) * (1 << 20), rtol=1e-6)
    a[1 << 21] = 5
    assert int(reduce("argmax", opencl_maker(a)).get()) == 1 << 21
    np.testing.assert_allclose(reduce("var", opencl_maker(a)).get(), a.var(dtype=float), rtol=1e-5)


def test_mask_initial_out_dtype(make):
    a = host("f4", (30, 700))
    device, mask = make(a), make(a > 0)
    for axis in (None, 0, 1):
        check("sum", device, a, axis=axis, where=mask)
        check("sum", device, a, axis=axis, initial=10.0)
    check("max", device, a, axis=1, where=mask, initial=0.5)
    check("mean", device, a, axis=1, where=mask)
    row = make(a[0] > 0)
    check("sum", device, a, axis=0, where=row)
    out = make(np.zeros(30, np.float64))
    assert reduce("sum", device, 1, out=out) is out
    np.testing.assert_allclose(out.get(), a.sum(1, dtype=np.float64), rtol=1e-6)
    check("sum", make(host("i4", 100)), host("i4", 100), dtype=np.int32)
    with pytest.raises(ValueError, match="identity"):
        reduce("max", device, where=mask)
    with pytest.raises(ValueError, match="out must have shape"):
        reduce("sum", device, 0, out=out)
    with pytest.raises(TypeError, match="same_kind"):
        reduce("max", device, 1, out=make(np.zeros(30, np.int32)))


def test_nothing(make):
    for shape, axis in (((0,), None), ((0, 3), 0), ((3, 0), 1), ((0, 3), 1), ((2, 0, 0), 1)):
        a = np.zeros(shape, np.float32)
        device = make(a)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for kind in ("sum", "prod", "any", "all", "count_nonzero", "mean", "var"):
                check(kind, device, a, axis=axis)
            for kind in ("min", "argmax"):
                try:
                    want = getattr(np, kind)(a, axis=axis)
                except ValueError as error:
                    with pytest.raises(ValueError, match=str(error).split(" to ")[0]):
                        reduce(kind, device, axis)
                else:
                    assert reduce(kind, device, axis).shape == want.shape
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        reduce("mean", make(np.zeros(0, np.float32)))


def test_wrong_axes(make):
    device = make(np.zeros((3, 4), np.float32))
    with pytest.raises(np.exceptions.AxisError):
        reduce("sum", device, 2)
    with pytest.raises(ValueError, match="duplicate"):
        reduce("sum", device, (0, -2))


def test_same_bits_in_every_run(make):
    a = host("f4", 300001)
    device = make(a)
    first = reduce("sum", device).get().tobytes()
    assert all(reduce("sum", device).get().tobytes() == first for _ in range(5))


def test_dot(make):
    a, b = host("f4", 100001), host("f4", 100001, 1)
    got = dot("dot", make(a), make(b), 0, np.dtype(np.float32)).get()
    np.testing.assert_allclose(got, np.dot(a.astype(float), b), rtol=1e-4)
    z, w = host("F", 999), host("F", 999, 1)
    got = dot("vdot", make(z), make(w), 0, np.dtype(np.complex64)).get()
    np.testing.assert_allclose(got, np.vdot(z, w), rtol=1e-4)
    m, n = host("i4", (20, 50)) % 100, host("i4", (1, 50)) % 100
    got = dot("dot", make(m), make(n), 1, np.dtype(np.int32)).get()
    np.testing.assert_array_equal(got, (m * n).sum(1, dtype=np.int32))


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    shape=st.lists(st.integers(1, 90), min_size=1, max_size=3),
    axis=st.integers(-3, 2) | st.none(),
    seed=st.integers(0, 99),
)
def test_any_shape(make, shape, axis, seed):
    a = host("f4", shape, seed)
    if axis is not None:
        axis = axis % len(shape)
    check("sum", make(a), a, axis=axis)


def test_axis_of_no_axes(make):
    d = make(np.float32(5))
    for name in ("sum", "max", "argmin", "all"):
        for axis in (0, -1):
            assert getattr(d, name)(axis=axis).get() == getattr(np.array(5.0), name)(axis=axis)
    for axis in (1, (0,)):
        with pytest.raises(np.exceptions.AxisError):
            d.sum(axis=axis)
    with pytest.warns(RuntimeWarning, match="Mean of empty"):
        assert make(np.zeros(0, np.int16)).mean(dtype=np.int16).get() == 0


@pytest.mark.parametrize("axis", [1 << 31, 1 << 63, -(1 << 70), (0, 1 << 70)])
def test_axes_beyond_every_integer(make, axis):
    a = make(np.zeros((2, 3), np.float32))
    for name in ("sum", "max", "any", "mean", "std"):
        with pytest.raises(np.exceptions.AxisError, match="out of bounds"):
            getattr(a, name)(axis)
    if not isinstance(axis, tuple):
        for name in ("argmax", "cumsum", "sort"):
            with pytest.raises(np.exceptions.AxisError, match="out of bounds"):
                getattr(a, name)(axis)


@pytest.mark.sampled(opencl=6)
@pytest.mark.parametrize("dtype", ["f2", "i4", "u1", "f4", "f8", "c8"])
def test_out_of_another_dtype(make, dtype):
    """Items were converted to it before they were added, not their sum."""
    for items in ([0.6, 0.6, 0.9], np.float32([0.1, 0.2]), np.int8([100, 100]), [1.5 + 2j, 1]):
        a = np.asarray(items)
        for kind in ("sum", "prod"):
            wanted, out = np.zeros((), dtype), make(np.zeros((), dtype))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                getattr(np, kind)(a, out=wanted)
                assert getattr(np, kind)(make(a), out=out) is out
            np.testing.assert_allclose(out.get(), wanted, rtol=1e-3 if dtype == "f2" else 1e-6)
    wanted, out = np.zeros(()), make(np.zeros(()))
    a = np.float32([0.6, 0.6, 0.9])
    np.mean(a, out=wanted)
    np.mean(make(a), out=out)
    np.testing.assert_allclose(out.get(), wanted, rtol=1e-14)
    assert np.nanmean(make(a), dtype="f2").dtype == np.float16
