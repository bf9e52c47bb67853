"""Sorting against NumPy: dtypes, axes, lengths, NaN, -0.0, stability."""

import numpy as np
import pytest

from pygpu._src.array import sort
from tests.array.test_reduction import host

pytestmark = pytest.mark.sampled(3)


def values(dtype, shape):
    a = host(dtype, shape)
    if a.dtype.kind == "f":
        a = (a * 3).round(1).astype(dtype)  # many equal ones
        flat = a.reshape(-1)
        for step, value in ((17, np.nan), (19, -np.nan), (23, -0.0), (29, np.inf), (31, -np.inf)):
            flat[::step] = value
    return a


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f4", "i8", "f8"])
def test_sort(make, dtype):
    cases = [((1,), 0), ((77,), 0), ((3, 700), 1), ((40000,), 0), ((9, 2500), -1), ((2500, 9), 0)]
    for shape, axis in cases if dtype == "f4" else cases[1:4]:
        a = values(dtype, shape)
        device = make(a)
        np.testing.assert_array_equal(sort.sort(device, axis).get(), np.sort(a, axis))
        order = sort.argsort(device, axis)
        assert order.dtype == np.int64
        np.testing.assert_array_equal(order.get(), np.argsort(a, axis, kind="stable"))


@pytest.mark.parametrize("n", [1 << 14, 3 * 6912, 3 * 6912 + 1])
def test_keys_that_are_the_greatest_fill_no_gap(make, n):
    """One long row ends with a partial tile, which its kernel fills up with greatest keys."""
    a = np.full(n, -1, np.int32)
    a[:: n // 7] = np.iinfo(np.int32).max
    for keys in (a, a.view(np.uint32)):
        np.testing.assert_array_equal(sort.sort(make(keys)).get(), np.sort(keys))
        order = sort.argsort(make(keys)).get()
        np.testing.assert_array_equal(order, np.argsort(keys, kind="stable"))


def test_flat_empty_and_wrong(make):
    a = values("f4", (20, 30))
    np.testing.assert_array_equal(sort.sort(make(a), None).get(), np.sort(a, None))
    assert sort.sort(make(np.zeros((3, 0), np.float32))).shape == (3, 0)
    with pytest.raises(np.exceptions.AxisError):
        sort.sort(make(a), 2)


def test_complex(make):
    a = (values("f4", 3000) + 0j).astype(np.complex64)
    a.imag = values("f4", 6000)[::2]
    np.testing.assert_array_equal(sort.argsort(make(a)).get(), np.argsort(a, kind="stable"))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(make, side):
    for dtype in ("f4", "i4"):
        a, v = np.sort(values(dtype, 1000)), values(dtype, (30, 4))
        got = sort.searchsorted(make(a), make(v), side)
        np.testing.assert_array_equal(got.get(), np.searchsorted(a, v, side))
    b = values("f4", 1000)
    order = np.argsort(b, kind="stable")
    got = sort.searchsorted(make(b), v.astype(np.float32), side, make(order))
    np.testing.assert_array_equal(got.get(), np.searchsorted(b, v.astype(np.float32), side, order))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_of_complex_numbers(make, side):
    rng = np.random.default_rng(5)
    v = (rng.integers(-1, 3, 60) + 1j * rng.integers(-1, 2, 60)).astype("c8").reshape(6, 10)
    v[0, :3] = complex(np.nan, 1), complex(1, np.nan), complex(-0.0, -0.0)
    a = np.sort(v.ravel())
    for wanted in (v, v[:0], v.real.astype("i4"), 1 + 1j):
        found = np.searchsorted(make(a), make(wanted) if np.ndim(wanted) else wanted, side)
        np.testing.assert_array_equal(found.get(), np.searchsorted(a, wanted, side))


def test_unique(make):
    for a in (
        values("i1", (30, 40)),
        values("f4", 500),
        np.zeros(0, np.float32),
        np.zeros(1, np.float32),
    ):
        every = sort.unique(make(a), True, True, True)
        want = np.unique(a, True, True, True)
        for name, got, expected in zip(
            ("values", "index", "inverse", "counts"), every, want, strict=True
        ):
            if name == "inverse" and a.dtype.kind == "f":
                keep = ~np.isnan(a)  # NumPy gives NaN numbers of their own
                np.testing.assert_array_equal(got.get()[keep], expected[keep])
            else:
                np.testing.assert_array_equal(got.get(), expected)
        np.testing.assert_array_equal(sort.unique(make(a)).get(), np.unique(a))


def test_rows_of_all_small_lengths(make):
    """One group sorts a row; a CPU does so only while that is quicker than sorting by radix."""
    rng = np.random.default_rng(5)
    for rows, n in ((1, 1), (3, 2), (20, 64), (9, 65), (8, 512), (9, 512), (1, 513)):
        a = rng.integers(-3, 4, (rows, n)).astype(np.float32)
        for _ in range(2):
            np.testing.assert_array_equal(sort.sort(make(a)).get(), np.sort(a))
            places = sort.argsort(make(a)).get()
            np.testing.assert_array_equal(places, np.argsort(a, kind="stable"))


def test_counts_and_positions_of_64_bits_as_for_rows_of_2_to_the_32_items(make, monkeypatch):
    monkeypatch.setattr(sort, "_WIDE", 1)
    used = []
    radix_source = sort.radix_sort.radix_source

    def seen(*args):
        used.append(args[-1])
        return radix_source(*args)

    monkeypatch.setattr(sort.radix_sort, "radix_source", seen)
    h = host(np.int32, 2 * 2500).reshape(2, 2500)
    x = make(h)
    assert (sort.sort(x).get() == np.sort(h, kind="stable")).all()
    assert (sort.argsort(x).get() == np.argsort(h, kind="stable")).all()
    assert used and all(used)
