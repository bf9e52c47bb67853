"""Few items, which one group takes: against NumPy, at the sizes where that begins and ends."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytestmark = pytest.mark.sampled(3)

SIZES = (1, 33, 255, 257, 1024, 1025)


def sample(n: int, dtype: str) -> np.ndarray:
    host = np.random.default_rng(n).integers(0, 7, n).astype(dtype)
    if host.dtype.kind in "fc" and n > 2:
        host[::5] = np.nan
        host[1::9] = -0.0
    return host


@pytest.mark.parametrize("dtype", ["?", "f2", "c16"])
def test_unique(make, dtype):
    for n in SIZES:
        a = sample(n, dtype)
        x = make(a)
        for flags in ((), (False, False, True), (True, True, True)):
            for equal_nan in (True, False) if (n, dtype) == (33, "f2") else (True,):
                wanted = np.unique(a, *flags, equal_nan=equal_nan)
                wanted = wanted if flags else (wanted,)
                for _ in range(2):
                    found = np.unique(x, *flags, equal_nan=equal_nan)
                    for b, c in zip(found if flags else (found,), wanted, strict=True):
                        assert b.dtype == c.dtype and b.shape == c.shape
                        np.testing.assert_array_equal(b.get(), c)
    a = sample(24, dtype).reshape(2, 3, 4)
    for view in (slice(None), np.s_[:, ::-1, ::2]):
        for b, c in zip(*(np.unique(z[view], return_inverse=True) for z in (make(a), a))):
            np.testing.assert_array_equal(b.get(), c)


@pytest.mark.parametrize("dtype", ["?", "f4", "c8"])
def test_indices_of_nonzero_items(make, dtype):
    for shape in ((1,), (33,), (1024,), (1025,), (4, 4), (3, 2, 5), (2, 1, 3, 2), (9, 0)):
        a = sample(int(np.prod(shape)), dtype).reshape(shape)
        for b in (a, a.T, a[::-1]):
            x = make(a).T if b.shape == a.T.shape and b is not a else make(b.copy())
            b = x.get()
            for _ in range(2):
                for found, wanted in zip(np.nonzero(x), np.nonzero(b), strict=True):
                    assert found.dtype == wanted.dtype
                    np.testing.assert_array_equal(found.get(), wanted)
                np.testing.assert_array_equal(np.argwhere(x).get(), np.argwhere(b))


@pytest.mark.parametrize("dtype", ["?", "u1", "i8"])
def test_bincount(make, dtype):
    for n in SIZES:
        a, w = sample(n, dtype), np.random.default_rng(1).random(n)
        for given, weights in ((a, None), (a, w), (a[::-1], w[::-1]), (a, w.astype("f4"))):
            for minlength in (0, 3, 40):
                wanted = np.bincount(given.astype(np.int64), weights, minlength)
                for _ in range(2):
                    there = None if weights is None else make(weights)
                    found = np.bincount(make(given), there, minlength)
                    assert found.dtype == wanted.dtype
                    np.testing.assert_allclose(found.get(), wanted, rtol=1e-13)


def test_bins_that_are_too_many_or_negative(make):
    for a in ([3, 1, 5000], [1023, 0], [1024, 0], [2]):
        np.testing.assert_array_equal(np.bincount(make(np.array(a))).get(), np.bincount(a))
    with pytest.raises(ValueError, match="negative"):
        np.bincount(make(np.array([3, -1, 2])))


@pytest.mark.parametrize("dtype", ["?", "u8", "f4"])
def test_histogram(make, dtype):
    for n in SIZES:
        a = np.random.default_rng(n).integers(0, 50, n).astype(dtype)
        for bins, range_ in ((10, None), (7, (3, 40)), ([0, 1, 5, 5, 20], None), (1, (0, 1))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy's, of bools
                wanted = np.histogram(a, bins, range_)
            for _ in range(2):
                found = np.histogram(make(a), bins, range_)
                for b, c in zip(found, wanted):
                    np.testing.assert_array_equal(b.get(), c)
    with_nan = np.array([1, np.nan, 2, 3], np.float32)
    found = np.histogram(make(with_nan), 3, (0, 3))[0].get()
    np.testing.assert_array_equal(found, np.histogram(with_nan, 3, (0, 3))[0])


def test_launches(make):
    """What docs/arrays/index.md says of few items."""
    x = make(np.array([3, 1, 3, 2], np.int32))
    mask = x == 3
    for most, call in (
        (2, lambda: np.unique(x)),
        (2, lambda: np.unique(x, return_index=True, return_inverse=True, return_counts=True)),
        (1, lambda: np.nonzero(mask)),
        (1, lambda: np.argwhere(mask)),
        (1, lambda: x[mask]),
    ):
        call()
        launches, copies = make.calls(call)
        assert launches <= most and len(copies) <= 1


@pytest.mark.parametrize("dtype", ["i4", "f4", "?"])
def test_pad(make, dtype):
    for shape in ((5,), (1,), (2, 3), (3, 1, 2)):
        a = (np.arange(np.prod(shape)) * 3 % 11).astype(dtype).reshape(shape)
        x = make(a)
        for width in (2, (0, 3), (3, 0), (7, 9), 0):
            for mode in ("edge", "reflect", "symmetric", "wrap", "constant"):
                kinds = ("even",) if dtype == "?" or mode not in ("reflect", "symmetric") else ()
                for kind in kinds or ("even", "odd"):
                    options = {"reflect_type": kind} if kind == "odd" else {}
                    for key in (..., np.s_[::-1]):
                        wanted = np.pad(a[key], width, mode, **options)
                        found = np.pad(x[key], width, mode, **options)
                        assert found.dtype == wanted.dtype
                        np.testing.assert_allclose(found.get(), wanted, rtol=1e-6)
    with pytest.raises(ValueError, match="empty axis"):
        np.pad(make(np.zeros((2, 0))), 1, "edge")
    values = {"constant_values": ((1, 2), (3, 3))}
    a = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(np.pad(make(a), 2, **values).get(), np.pad(a, 2, **values))


def test_einsum_again(make):
    """What is kept is of the layout: other strides, shapes and dtypes are others."""
    r = np.random.default_rng(0)
    a, b, s, t = (r.random(shape) for shape in ((3, 4), (4, 5), (3, 3), (2, 3, 4)))
    few = r.integers(0, 5, (3, 4)).astype("i1")
    cases = [
        ("ij,jk", a, b), ("ij,jk->ik", a, b), ("ii", s), ("ii->i", s), ("ij->ji", a),
        ("ij->ij", a), ("ij->", a), ("ij,ij->", a, a), ("...j,jk->...k", t, b),
        ("ijk,ijk->k", t, t), ("i,j->ij", a[0], b[0]), ("ij,jk,kl->il", a, b, b.T),
        ("ij,ij->ij", few, few), ("ij->j", few), ("ij->i", few > 1), ("ij,j", a, b[:, 0]),
        ("ij,kj->ik", a, a), ("iij->j", r.random((3, 3, 2))), ("ij,jk", few, b),
    ]  # fmt: skip
    for subscripts, *operands in cases:
        for turned in (False, True):
            there = [make(np.asfortranarray(x) if turned else x.copy()) for x in operands]
            for optimize in (False, True, True):
                wanted = np.einsum(subscripts, *operands)
                found = np.einsum(subscripts, *there, optimize=optimize)
                assert found.dtype == wanted.dtype and found.shape == np.shape(wanted)
                assert all(found is not x for x in there)
                np.testing.assert_allclose(found.get(), wanted, rtol=1e-12)
    np.testing.assert_allclose(np.einsum("ij,jk", a, make(b)).get(), a @ b)
