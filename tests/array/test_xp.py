"""pygpu.xp: the array API standard's names, signatures and results."""

from __future__ import annotations

import importlib
import inspect
import math
import warnings

import numpy as np
import pytest

import pygpu as cl
from pygpu import xp
from pygpu.xp import v2024_12

# Names of the standard, version 2025.12, by its chapters.
STANDARD = """
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril
triu zeros zeros_like astype can_cast finfo iinfo isdtype result_type __array_namespace_info__ abs
acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor
floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2
log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply negative
nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh square sqrt
subtract tan tanh trunc take take_along_axis matmul matrix_transpose tensordot vecdot
broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll
squeeze stack tile unstack argmax argmin count_nonzero nonzero searchsorted where unique_all
unique_counts unique_inverse unique_values argsort sort cumulative_sum cumulative_prod max mean min
prod std sum var all any diff e inf nan newaxis pi bool int8 int16 int32 int64 uint8 uint16 uint32
uint64 float32 float64 complex64 complex128 __array_api_version__ broadcast_shapes isin
""".split()
LINALG = """
cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power
matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot
vector_norm
""".split()
FFT = """
fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift
""".split()


def same(got, want, rtol=1e-6):
    want = np.asarray(want)
    assert isinstance(got, cl.GPUArray)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got.get(), want, rtol=rtol, atol=1e-6)


def test_all_names_of_the_standard_exist():
    for module, names in ((xp, STANDARD), (xp.linalg, LINALG), (xp.fft, FFT)):
        assert [n for n in names if not hasattr(module, n)] == []
    assert [n for n in xp.__all__ if not hasattr(xp, n)] == []
    assert xp.__array_api_version__ == "2025.12"
    assert (xp.newaxis, math.isnan(xp.nan), xp.inf) == (None, True, math.inf)
    undocumented = [
        n for n in xp.__all__ if callable(getattr(xp, n)) and not getattr(xp, n).__doc__
    ]
    assert undocumented == []


def test_names_of_cupy_that_are_elsewhere():
    for name, place in xp._ELSEWHERE.items():
        module, _, attribute = place.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute)
        with pytest.raises(AttributeError, match=f"'{name}'; use {place}"):
            getattr(xp, name)


def test_elementwise_functions_are_the_ufuncs(monkeypatch, on):
    """By name: each is given NumPy's ufunc of that name, whose results other tests look at."""
    from pygpu._src.array import ufuncs
    from pygpu.xp._elementwise import __all__ as names

    called = []
    monkeypatch.setattr(ufuncs, "call", lambda name, operands: called.append((name, len(operands))))
    x = xp.asarray([1.0, 2.0])
    for name in names:
        if name in ("clip", "real", "imag", "conj"):
            continue
        function = getattr(xp, name)
        parameters = inspect.signature(function).parameters.values()
        count = sum(p.kind is p.POSITIONAL_ONLY for p in parameters) or 1  # round(a)
        function(*[x] * count)
        ufunc, operands = called.pop()
        numpy_function = np.rint if name == "round" else getattr(np, name, getattr(np, ufunc))
        assert (numpy_function.__name__, numpy_function.nin) in ((ufunc, count), ("divide", 2))
        assert operands == count
        if count == 2:
            function(x, 2.5), function(2.5, x)
            with pytest.raises(TypeError, match=f"{name}: at least one operand must be an array"):
                function([1, 2], 2)
        called.clear()
        with np.errstate(all="ignore"):
            got, want = (f(*[1] * count) for f in (function, getattr(np, name, numpy_function)))
        assert (type(got), got) == (type(want), want) and not called
        with pytest.raises(TypeError):
            function(x1=x, x2=x) if count == 2 else function(x=x)


def test_whole_numbers_stay(on):
    x = xp.asarray([1, -2, 3], dtype=xp.int16)
    for function in (xp.ceil, xp.floor, xp.trunc, xp.round):
        same(function(x), np.array([1, -2, 3], np.int16))
    same(xp.round(xp.asarray([0.5, 1.5, -0.5], dtype=xp.float32)), np.float32([0, 2, -0.0]))


def test_creation(on):
    assert xp.zeros((2, 3)).dtype == xp.float64 and xp.zeros(3).shape == (3,)
    same(xp.ones((2, 0), dtype=xp.int8), np.ones((2, 0), np.int8))
    same(xp.full((2, 2), 7), np.full((2, 2), 7))
    assert [xp.full(1, v).dtype for v in (True, 1, 1.0, 1j)] == [
        xp.bool,
        xp.int64,
        xp.float64,
        xp.complex128,
    ]
    x = xp.asarray([[1, 2], [3, 4]], dtype=xp.uint8)
    same(xp.full_like(x, 3, dtype=xp.float32), np.full((2, 2), 3, np.float32))
    same(xp.zeros_like(x), np.zeros((2, 2), np.uint8))
    assert xp.empty_like(x.T).shape == (2, 2) and xp.ones_like(x, dtype=xp.bool).dtype == xp.bool
    for k in (-3, -1, 0, 1, 4):
        same(xp.eye(3, 4, k=k), np.eye(3, 4, k=k))
    for args in ((5,), (2, 5), (5, 2, -1), (0, 1, 0.3), (3, 3)):
        same(xp.arange(*args), np.arange(*args))
    same(xp.arange(3, dtype=xp.complex64), np.arange(3, dtype=np.complex64))
    with pytest.raises(ValueError, match="step"):
        xp.arange(1, 2, 0)
    with pytest.raises(ValueError, match="negative"):
        xp.ones((2, -1))


def test_linspace(on):
    for args in ((0, 1, 7), (0.1, -5.3, 11), (2, 2, 3), (0, 1, 1), (1, 3, 0), (0, 5e-324, 3)):
        for endpoint in (True, False):
            got = xp.linspace(*args, endpoint=endpoint)
            assert got.get().tolist() == np.linspace(*args, endpoint=endpoint).tolist()
    same(xp.linspace(0, 10, 4, dtype=xp.int32), np.linspace(0, 10, 4, dtype=np.int32))
    same(xp.linspace(1j, 2 - 3j, 5), np.linspace(1j, 2 - 3j, 5))


def test_asarray(on):
    same(xp.asarray([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]], np.int64))
    same(xp.asarray(2.5), np.float64(2.5))
    same(xp.asarray(2**63), np.uint64(2**63))
    same(xp.asarray([]), np.array([]))
    same(xp.asarray(memoryview(b"abc")), np.frombuffer(b"abc", np.uint8))
    same(xp.asarray(np.float32([1, 2])[::-1]), np.float32([2, 1]))
    x = xp.asarray([1, 2], dtype=xp.float32)
    assert xp.asarray(x) is x and xp.asarray(x, copy=False) is x
    copied = xp.asarray(x, copy=True)
    copied[0] = 9
    same(x, np.float32([1, 2]))
    same(xp.asarray([x[0], x[1], 3]), np.array([1, 2, 3.0]))
    same(xp.asarray(x, dtype=xp.int8), np.int8([1, 2]))
    for bad, error in (("abc", TypeError), (object(), TypeError), ([[1], [1, 2]], ValueError)):
        with pytest.raises(error):
            xp.asarray(bad)
    for itself in ([1], [x[0]]):
        itself.append(itself)
        with pytest.raises(ValueError, match="inhomogeneous"):
            xp.asarray(itself)
    same(xp.asarray([[x[0], 5], (6, x[1])]), np.array([[1, 5], [6, 2.0]]))
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(np.ones(3), copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(x, dtype=xp.int8, copy=False)


def test_rearranging(on):
    a = np.arange(24).reshape(2, 3, 4)
    x = xp.asarray(a)
    same(xp.permute_dims(x, (2, 0, 1)), a.transpose(2, 0, 1))
    same(xp.moveaxis(x, (0, 1), (-1, 0)), np.moveaxis(a, (0, 1), (-1, 0)))
    same(xp.expand_dims(x, axis=-2), np.expand_dims(a, -2))
    for axis in (None, 0, (0, -1)):
        same(xp.flip(x, axis=axis), np.flip(a, axis))
    for shift, axis in ((5, None), (-1, 1), ((1, 2), (0, 2)), ((1, 1), 0), (0, 0), (7, (0, 1))):
        same(xp.roll(x, shift, axis=axis), np.roll(a, shift, axis))
    same(xp.roll(x[:, :0], 1, axis=1), a[:, :0])
    for repeats, axis in ((2, None), (0, 0), (3, 1), ([1, 0, 2], 1)):
        same(xp.repeat(x, repeats, axis=axis), np.repeat(a, repeats, axis))
    same(xp.repeat(x, xp.asarray([1, 0, 2]), axis=1), np.repeat(a, [1, 0, 2], 1))
    same(xp.repeat(x, xp.asarray([2]), axis=2), np.repeat(a, 2, 2))
    for reps in ((2,), (1, 2, 1, 2), (2, 0, 1), ()):
        same(xp.tile(x, reps), np.tile(a, reps))
    same(xp.concat([x, x[:1]]), np.concatenate([a, a[:1]]))
    same(xp.concat([x, xp.ones(2)], axis=None), np.concatenate([a.ravel(), np.ones(2)]))
    same(xp.stack([x, x], axis=-1), np.stack([a, a], -1))
    for i, part in enumerate(xp.unstack(x, axis=1)):
        same(part, a[:, i])
    same(xp.broadcast_to(x[:1, :, :1], (5, 2, 3, 4)), np.broadcast_to(a[:1, :, :1], (5, 2, 3, 4)))
    one, two = xp.broadcast_arrays(x[0], x[:, :1])
    same(one, np.broadcast_to(a[0], (2, 3, 4)))
    same(two, np.broadcast_to(a[:, :1], (2, 3, 4)))
    assert xp.broadcast_shapes((3, 1), (4,)) == (3, 4)
    for k in (-9, -2, 0, 1, 9):
        same(xp.tril(x, k=k), np.tril(a, k))
        same(xp.triu(x[0, 0], k=k), np.triu(a[0, 0], k))
        same(xp.triu(x[:, ::-1, ::2], k=k), np.triu(a[:, ::-1, ::2], k))
    for indexing in ("xy", "ij"):
        grids = xp.meshgrid(x[0, 0], x[1, :, 1], indexing=indexing)
        for got, want in zip(grids, np.meshgrid(a[0, 0], a[1, :, 1], indexing=indexing)):
            same(got, want)
    same(xp.squeeze(x[:1], 0), a[0])
    same(xp.reshape(x, (4, 6), copy=True), a.reshape(4, 6))
    for bad in (
        lambda: xp.squeeze(x, 0),
        lambda: xp.expand_dims(x, axis=4),
        lambda: xp.repeat(x, -1),
        lambda: xp.repeat(x, [1, 2], axis=1),
        lambda: xp.repeat(x, xp.asarray([1, -1, 0]), axis=1),
        lambda: xp.moveaxis(x, (0, 0), (1, 2)),
        lambda: xp.broadcast_to(x, (2, 3, 5)),
        lambda: xp.unstack(x[0, 0, 0]),
        lambda: xp.meshgrid(x, x[0], indexing="no"),
        lambda: xp.diff(x, n=-1),
    ):
        with pytest.raises(ValueError):
            bad()


def test_some_results(on):
    """Of each chapter one, in one dtype; the slow tests below look at the rest."""
    a = np.array([[3, 1, 2, 1], [0, 5, 4, 5]])
    x = xp.asarray(a)
    same(xp.sum(x, axis=1), a.sum(1))
    same(xp.cumulative_sum(x, axis=1, include_initial=True)[:, 1:], a.cumsum(1))
    assert xp.argsort(x, axis=1, descending=True).get().tolist() == [[0, 2, 1, 3], [1, 3, 2, 0]]
    same(xp.isin(x, xp.asarray([1, 5]), invert=True), np.isin(a, [1, 5], invert=True))
    same(xp.diff(x, prepend=x[:, :1]), np.diff(a, prepend=a[:, :1]))
    same(xp.vecdot(x, x), np.vecdot(a, a))
    same(xp.where(x > 2, x, 0), np.where(a > 2, a, 0))
    same(xp.where(x > 2)[1], np.where(a > 2)[1])
    same(xp.diff(x, 2), np.diff(a, 2))
    with pytest.raises(ValueError, match="where: pass both"):
        xp.where(x > 2, x)
    same(xp.clip(x, 1, 4), a.clip(1, 4))
    same(xp.fft.fftshift(x), np.fft.fftshift(a))
    same(np.roll(x, 1, 1), np.roll(a, 1, 1))


@pytest.mark.slow
def test_reductions_and_runs(on):
    a = np.array([[1, -2, 3], [0, 5, 6]], np.int8)
    x = xp.asarray(a)
    same(xp.sum(x), a.sum())
    same(xp.sum(x, axis=0, dtype=xp.float32, keepdims=True), a.sum(0, "f4", keepdims=True))
    same(xp.max(x, axis=(0, 1)), a.max())
    same(xp.count_nonzero(x, axis=1), np.count_nonzero(a, axis=1))
    same(xp.argmin(x, axis=1, keepdims=True), a.argmin(1, keepdims=True))
    f = xp.astype(x, xp.float64)
    same(xp.var(f, axis=1, correction=1), a.astype("f8").var(1, ddof=1))
    same(xp.cumulative_sum(x, axis=1, include_initial=True), [[0, 1, -1, 2], [0, 0, 5, 11]])
    same(xp.cumulative_sum(x[0]), np.cumsum(a[0]))
    same(xp.cumulative_prod(x[1]), np.cumprod(a[1]))
    same(xp.cumulative_sum(x[:, :0], axis=1, include_initial=True), np.zeros((2, 1), int))
    with pytest.raises(ValueError, match="axis"):
        xp.cumulative_sum(x)
    same(xp.diff(x, axis=0), np.diff(a, axis=0))
    same(
        xp.diff(x, prepend=x[:, :1], append=x[:, 1:], n=2),
        np.diff(a, 2, prepend=a[:, :1], append=a[:, 1:]),
    )
    same(xp.clip(x, 0, 4), a.clip(0, 4))
    same(xp.clip(x, -1000, 3), a.clip(-128, 3))
    same(xp.clip(x, max=xp.asarray(2, dtype=xp.int8)), a.clip(max=np.int8(2)))
    same(xp.clip(x), a)
    for limits in ((0, 1j), (1j, None), (None, xp.asarray(1j))):
        with pytest.raises(TypeError, match="clip: (min|max) is complex, and x of int8"):
            xp.clip(x, *limits)
    same(xp.where(x > 0, x, 0), np.where(a > 0, a, np.int8(0)))


@pytest.mark.slow
def test_order_and_sets(on):
    a = np.array([3.0, 1.0, 2.0, 1.0, 3.0])
    x = xp.asarray(a)
    same(xp.sort(x, descending=True), np.sort(a)[::-1])
    assert xp.argsort(x, descending=True).get().tolist() == [0, 4, 2, 1, 3]  # equal ones in order
    assert xp.argsort(x).get().tolist() == [1, 3, 2, 0, 4]
    same(xp.searchsorted(xp.sort(x), x, side="right"), np.searchsorted(np.sort(a), a, "right"))
    for name in ("all", "counts", "inverse", "values"):
        got, want = getattr(xp, f"unique_{name}")(x), getattr(np, f"unique_{name}")(a)
        if name == "values":
            got, want = (got,), (want,)
        else:
            assert got._fields == want._fields
        for one, two in zip(got, want):
            same(one, two)
    assert xp.unique_values(xp.asarray([np.nan, 1.0, np.nan])).shape == (3,)
    for test in ([1.0, 7.0], [], list(range(20)), [np.nan], [1j]):
        with np.errstate(all="ignore"):
            same(xp.isin(x, xp.asarray(test)), np.isin(a, test))
            same(xp.isin(x, xp.asarray(test), invert=True), np.isin(a, test, invert=True))
    same(xp.isin(x, 3.0), np.isin(a, 3.0))


@pytest.mark.slow
def test_products(on):
    a, b = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(4, 3) - 3j
    x, y = xp.asarray(a), xp.asarray(b)
    same(xp.matmul(x, y), a @ b)
    same(xp.vecdot(y, x[0, :, None], axis=0), np.vecdot(b, a[0, :, None], axis=0))
    same(np.vecdot(y.T, x), np.vecdot(b.T, a))
    same(xp.tensordot(x, y, axes=1), np.tensordot(a, b, 1))
    same(xp.linalg.outer(x[0], x[1]), np.outer(a[0], a[1]))
    same(xp.linalg.cross(x[:, :3], x[0, 1:]), np.cross(a[:, :3], a[0, 1:]))
    same(xp.linalg.trace(x, offset=1), np.trace(a, 1))
    same(xp.linalg.diagonal(x, offset=-1), np.diagonal(a, -1))
    square = xp.matmul(x, xp.matrix_transpose(x))
    same(xp.linalg.matrix_power(square, 5), np.linalg.matrix_power(a @ a.T, 5))
    same(xp.linalg.matrix_power(square, 0), np.eye(3))
    with pytest.raises(TypeError, match="exponent must be an integer"):
        xp.linalg.matrix_power(square, 1.5)
    with pytest.raises(np.linalg.LinAlgError, match="must be square"):
        xp.linalg.matrix_power(square[:2], 2)
    for order in (0, 1, 2, 3, np.inf, -np.inf):
        want = np.linalg.vector_norm(a, axis=0, ord=order)
        same(xp.linalg.vector_norm(x, axis=0, ord=order), want)
    for order in ("fro", 1, -1, np.inf):
        want = np.linalg.matrix_norm(a, ord=order, keepdims=True)
        same(xp.linalg.matrix_norm(x, ord=order, keepdims=True), want)


@pytest.mark.slow
def test_extensions(on):
    """Wherever they are computed."""
    a = np.array([[4.0, 1, 2], [1, 3, 0], [2, 0, 5]])
    x = xp.asarray(a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        same(xp.linalg.solve(x, x[0]), np.linalg.solve(a, a[0]))
        same(xp.linalg.inv(x), np.linalg.inv(a))
        same(xp.linalg.det(x), np.linalg.det(a))
        same(xp.linalg.cholesky(x, upper=True), np.linalg.cholesky(a).T)
        assert xp.linalg.eigh(x)._fields == ("eigenvalues", "eigenvectors")
        assert xp.linalg.qr(x)._fields == ("Q", "R")
        assert xp.linalg.slogdet(x)._fields == ("sign", "logabsdet")
        u, s, vh = xp.linalg.svd(x)
        same((u * s) @ vh, a)
        same(xp.linalg.svdvals(x), np.linalg.svdvals(a))
        same(xp.linalg.matrix_rank(x), np.int64(3))
        same(xp.linalg.matrix_norm(x, ord=2), np.linalg.matrix_norm(a, ord=2))
        same(xp.fft.fft(x), np.fft.fft(a))
        same(xp.fft.rfft(xp.astype(x, xp.float32)), np.fft.rfft(a).astype("c8"))
        same(xp.fft.irfft(xp.fft.rfft(x), n=3), a)
        same(xp.fft.fftn(x, s=(2, 2)), np.fft.fftn(a, s=(2, 2), axes=(0, 1)))
    for n in (1, 2, 5, 6):
        same(xp.fft.fftfreq(n, d=0.5), np.fft.fftfreq(n, 0.5))
        same(xp.fft.rfftfreq(n, dtype=xp.float32), np.fft.rfftfreq(n).astype("f4"))
    same(xp.fft.fftshift(x), np.fft.fftshift(a))
    same(xp.fft.ifftshift(x, axes=1), np.fft.ifftshift(a, axes=1))
    whole = np.array([[2, 1], [1, 3]])
    same(xp.linalg.det(xp.asarray(whole)), np.linalg.det(whole))
    same(xp.fft.fft(xp.asarray(whole)), np.fft.fft(whole))


def test_dtypes():
    assert xp.isdtype(xp.int8, "signed integer") and xp.isdtype(xp.int8, ("bool", "integral"))
    assert not xp.isdtype(xp.float32, "integral") and xp.isdtype(xp.float32, xp.float32)
    with pytest.raises(ValueError, match="kind"):
        xp.isdtype(xp.int8, "integers")
    assert type(xp.finfo(xp.float32).eps) is float and xp.finfo(xp.complex64).dtype == xp.float32
    assert (xp.iinfo(xp.uint8).max, xp.iinfo("int16").min) == (255, -32768)
    for function, wrong in ((xp.finfo, xp.int8), (xp.iinfo, xp.float32)):
        with pytest.raises(TypeError, match="dtype is needed"):
            function(wrong)
    assert xp.result_type(xp.int8, xp.uint8) == xp.int16 and xp.result_type(xp.int8, 1) == xp.int8
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.float64, xp.float32)


def test_array_is_of_the_namespace(on):
    x = xp.asarray([1 + 2j])
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2025.12") is xp
    with pytest.raises(ValueError, match="2030.*pass '2021.12', .*'2024.12' or '2025.12'"):
        x.__array_namespace__(api_version="2030.12")
    with pytest.raises(TypeError, match=r"real\(x\)"):
        xp.astype(x, xp.float32)
    assert xp.result_type(x, xp.float32) == xp.complex128
    assert xp.astype(x, xp.complex128, copy=False) is x


@pytest.mark.parametrize("version", ["2021.12", "2022.12", "2023.12", "2024.12"])
def test_older_versions_of_the_standard_on_request(on, version):
    old = xp.ones(2).__array_namespace__(api_version=version)
    assert old is v2024_12 and old.__array_api_version__ == "2024.12"
    assert [n for n in xp.__all__ if not hasattr(old, n)] == []


def test_sequences_of_arrays_are_tuples_and_were_lists(on):
    a, b = np.arange(3), np.arange(2)
    x, y = xp.asarray(a), xp.asarray(b)
    for space, kind in ((xp, tuple), (v2024_12, list)):
        grids = space.meshgrid(x, y, indexing="ij")
        spread = space.broadcast_arrays(x, y[:, None])
        assert type(grids) is type(spread) is kind
        for got, want in zip(grids, np.meshgrid(a, b, indexing="ij"), strict=True):
            same(got, want)
        for got, want in zip(spread, np.broadcast_arrays(a, b[:, None]), strict=True):
            same(got, want)
        assert space.broadcast_arrays() == space.meshgrid() == kind()
        devices = space.__array_namespace_info__().devices()
        assert type(devices) is kind and xp.default_device() in devices


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("turn", [0.0, 1.0], ids=["real eigenvalues", "complex eigenvalues"])
def test_eigenvalues_are_complex_in_the_precision_of_the_matrices(on, dtype, turn):
    a = np.array([[[2, -turn], [1, 2]], [[1, 0], [0, 3]]], dtype)
    x = xp.asarray(a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # by NumPy on the host
        found, alone = xp.linalg.eig(x), xp.linalg.eigvals(x)
    assert found._fields == ("eigenvalues", "eigenvectors")
    values, vectors = found
    kind = np.result_type(a.dtype, np.complex64)
    assert values.dtype == vectors.dtype == alone.dtype == kind
    assert values.device == vectors.device == x.device and vectors.shape == (2, 2, 2)
    same(xp.matmul(xp.astype(x, kind), vectors), (vectors * values[:, None, :]).get())
    same(alone, values.get())


def test_scalars_are_searched_for(on):
    x = xp.asarray([1.0, 3.0, 3.0, 5.0], dtype=xp.float32)
    same(xp.searchsorted(x, 3), np.int64(1))
    same(xp.searchsorted(x, 3.5, side="right"), np.int64(3))
    for wrong in ("a", object(), None):
        with pytest.raises(TypeError, match="searchsorted: v must hold numbers"):
            xp.searchsorted(x, wrong)


def test_axes_by_tuples_and_from_the_end(on):
    a = np.arange(6).reshape(2, 3)
    x = xp.asarray(a)
    same(xp.permute_dims(x, (-1, 0)), a.T)
    same(xp.expand_dims(x, axis=(0, -1)), a[None, :, :, None])
    for wrong in ((0, 0), (0, -4)):
        with pytest.raises(ValueError, match="duplicate value in 'axis'"):
            xp.expand_dims(x, axis=wrong)
    with pytest.raises(IndexError, match="out of bounds"):
        xp.expand_dims(x, axis=(0, 4))


@pytest.mark.parametrize("dtype", ["S4", {}, "int32", "complex64"])
def test_frequencies_are_real_floating(on, dtype):
    for function in (xp.fft.fftfreq, xp.fft.rfftfreq):
        with pytest.raises(TypeError, match="dtype"):
            function(4, dtype=dtype)


def test_more_differences_than_items(on):
    x = xp.asarray([[1, 4, 9]])
    for n in (3, 10**30):
        same(xp.diff(x, n=n), np.zeros((1, 0), np.int64))


def test_device(on):
    device = xp.default_device()
    x = xp.ones(3)
    assert x.device == device == xp.as_device(device) and hash(x.device) == hash(device)
    assert x.device.kind == on.name and x.device.backend is on.backend
    assert x.device.driver_device == on.backend.device and repr(device).startswith("<Device ")
    assert xp.zeros_like(x, device=x.device).device == device
    assert x.to_device(device) is x and device != "cuda"
    info = xp.__array_namespace_info__()
    assert info.default_device() == device and device in info.devices()
    assert info.default_dtypes(device=device)["real floating"] in (xp.float32, xp.float64)
    assert set(info.dtypes(kind="bool")) == {"bool"}
    assert set(info.dtypes(kind=("bool", "unsigned integer"))) >= {"uint8", "bool"}
    assert {n: d for n, d in info.dtypes(device=device).items() if d.name != n} == {}
    assert info.capabilities()["boolean indexing"] is True
    with pytest.raises(ValueError, match="no such OpenCL platform"):
        xp.as_device("opencl:nothing of this name")
    with pytest.raises(ValueError, match="it must be"):
        xp.as_device("fpga")
    with pytest.raises(TypeError, match="Device"):
        xp.as_device(3)


def test_two_devices(opencl_maker, cuda_context):
    one, two = xp.as_device(opencl_maker.queue), xp.as_device(cuda_context)
    assert one != two and xp.as_device("cuda:0") == two
    a = xp.arange(5, device=one)
    b = a.to_device(two)
    assert b.device == two and b.get().tolist() == [0, 1, 2, 3, 4]
    assert xp.asarray(b, device=one).device == one
    for mixed in (
        lambda: a + b,
        lambda: xp.concat([a, b]),
        lambda: xp.where(a > 1, a, b),
        lambda: xp.isin(a, b),
        lambda: xp.matmul(a, b),
        lambda: xp.take(a, b),
    ):
        with pytest.raises(ValueError, match=r"copy one with \.to\("):
            mixed()
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(b, device=one, copy=False)


@pytest.mark.slow
def test_numpys_functions(on):
    """The same work, by NumPy's names."""
    a = np.array([[1.0, np.nan, 3.0], [4.0, np.inf, -6.0]])
    x = xp.asarray(a)
    for function, *args in (
        (np.roll, 1),
        (np.flip, 0),
        (np.fliplr,),
        (np.rot90,),
        (np.rot90, 3),
        (np.tile, (2, 1)),
        (np.repeat, 2, 0),
        (np.expand_dims, (0, 2)),
        (np.nansum, 0),
        (np.nanmax, 1),
        (np.nan_to_num,),
        (np.zeros_like,),
        (np.full_like, 3),
        (np.tril,),
        (np.atleast_3d,),
        (np.isclose, a),
        (np.broadcast_to, (2, 2, 3)),
        (np.append, a),
    ):
        same(function(x, *args), function(a, *args))
    for got, want in zip(np.array_split(x, 2, 1), np.array_split(a, 2, 1), strict=True):
        same(got, want)
    same(np.hstack([x, x]), np.hstack([a, a]))
    same(np.hstack([x[0], x[1]]), np.hstack([a[0], a[1]]))
    same(np.vstack([x[0], x[1]]), np.vstack([a[0], a[1]]))
    same(np.dstack([x, x]), np.dstack([a, a]))
    same(np.column_stack([x[0], x[1]]), np.column_stack([a[0], a[1]]))
    same(np.average(x[:, 0], weights=x[:, 0]), np.average(a[:, 0], weights=a[:, 0]))
    same(np.intersect1d(x[0], x[1] + 1), np.intersect1d(a[0], a[1] + 1))
    same(np.setdiff1d(x[:, 0], x[1:, 0]), np.setdiff1d(a[:, 0], a[1:, 0]))
    assert np.array_equal(x, x, equal_nan=True) and not np.array_equal(x, x)
    assert np.allclose(x, a, equal_nan=True) and not np.iscomplexobj(x)
    assert np.result_type(x, np.complex64) == np.complex128 and np.can_cast(x.dtype, "f8")


@pytest.mark.slow
def test_statistics_by_sorting(on):
    rng = np.random.default_rng(1)
    a = rng.normal(size=(5, 4, 6)).astype("f4")
    a[2, 1, 3] = np.nan
    x = xp.asarray(a)
    whole = rng.integers(0, 9, (7, 3))
    y = xp.asarray(whole)
    for axis in (None, 0, (0, 2), -1):
        same(np.median(x, axis=axis), np.median(a, axis=axis))
        same(np.median(y, axis=axis if axis != (0, 2) else (0, 1)), np.median(
            whole, axis=axis if axis != (0, 2) else (0, 1)))  # fmt: skip
        for q in (0.3, [0, 0.5, 1], [[0.25, 0.8]]):
            got, want = np.quantile(x, q, axis=axis), np.quantile(a, q, axis=axis)
            np.testing.assert_allclose(got.get(), want, rtol=1e-5)
            assert got.shape == want.shape
    same(np.percentile(y, 40, axis=0, keepdims=True), np.percentile(whole, 40, 0, keepdims=True))
    with pytest.raises(ValueError, match="range"):
        np.quantile(x, 1.5)
    flat = a[0].ravel()
    for bins, limits in ((5, None), (4, (-1, 1)), ([-1, 0, 0.5, 3], None)):
        got, want = np.histogram(x[0], bins, limits), np.histogram(flat, bins, limits)
        assert (got[0].get() == want[0]).all()
        np.testing.assert_allclose(got[1].get(), want[1], rtol=1e-6)
    same(np.bincount(y[:, 0], minlength=4), np.bincount(whole[:, 0], minlength=4))
    for edges in ([1, 3, 5], [5, 3, 1]):
        for right in (False, True):
            same(np.digitize(y, edges, right), np.digitize(whole, edges, right))
    same(np.partition(y[:, 0], 2)[2], np.partition(whole[:, 0], 2)[2])
    for mode in ("edge", "reflect", "symmetric", "wrap"):
        same(np.pad(y, ((1, 2), (0, 2)), mode), np.pad(whole, ((1, 2), (0, 2)), mode))
    same(np.pad(y, 1, constant_values=7), np.pad(whole, 1, constant_values=7))
    for got, want in (
        (np.asarray([1.5, 2], like=x), np.array([1.5, 2])),
        (np.array(y, like=x), whole),
        (np.full((2, 2), 3, like=x), np.full((2, 2), 3)),
        (np.arange(1, 7, 2, like=x), np.arange(1, 7, 2)),
        (np.eye(2, 3, like=x), np.eye(2, 3)),
        (np.concatenate([y[0], whole[0]]), np.concatenate([whole[0], whole[0]])),
    ):
        same(got, want)
