"""Fused functions whose small reductions are inside of large ones, and kernels over whole rows."""

from __future__ import annotations

import numpy as np
import pytest

import pygpu

R = np.random.default_rng(5)


def step(p, v, masses):
    """Gravity between all pairs; two results of the shape of p."""
    d = p[None, :, :] - p[:, None, :]
    r = np.sum(d * d, 2) + 0.01
    moved = v + np.sum(d * (masses[None, :] / (r * np.sqrt(r)))[:, :, None], 1) * 0.001
    return p + moved * 0.001, moved


def nearest(x, y):
    """The nearest of y for each of x, and how far it is."""
    d = ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)
    return d.argmin(1), np.sqrt(d.min(1)) * 2


def nearest_by_product(x, y):
    """The same by a product of matrices."""
    d = np.sum(x * x, 1)[:, None] - 2 * (x @ y.T) + (y * y).sum(1)[None]
    return d.argmin(1), d.min(1), (x.dot(y.T) > 0).sum(1)


def check(function, arrays, make, tolerance=1e-5):
    fused, on_device = pygpu.fuse(function), [make(a) for a in arrays]
    with np.errstate(all="ignore"):
        wanted = function(*arrays)
    for _ in range(2):
        got = fused(*on_device)
        for g, w in zip(got, wanted, strict=True):
            assert (g.dtype, g.shape) == (w.dtype, w.shape)
            np.testing.assert_allclose(g.get(), w, rtol=tolerance, atol=tolerance)
    return fused, on_device


@pytest.mark.parametrize("n", [1, 37])
def test_all_pairs(make, n):
    arrays = [R.normal(size=s).astype("f4") for s in ((n, 3), (n, 3), (n,))]
    check(step, arrays, make)


@pytest.mark.parametrize("busy", [0, 512])
def test_nearest_by_products_of_matrices(make, monkeypatch, busy):
    """Work-items that do whole rows, and some that share one."""
    monkeypatch.setattr("pygpu._src.array.trace_nests._BUSY", busy)
    x, y = R.normal(size=(70, 5)).astype("f4"), R.normal(size=(40, 5)).astype("f4")
    fused, arrays = check(nearest_by_product, [x, y], make)
    assert make.backend.limits.is_cpu or make.calls(lambda: fused(*arrays))[0] <= 2
    check(nearest_by_product, [x.astype("f8")[::-1], y.astype("f8")], make)


def test_products_that_are_written_later(make):
    def function(x, y):
        d = x @ y
        y[0] = 0
        e = np.matmul(x, y)
        return d.max(1), e.max(1), d, (x @ y[:, :2]).argmin(0), (x[:1] @ y).argmax(1) + 1

    x, y = R.normal(size=(37, 4)).astype("f4"), R.normal(size=(4, 40)).astype("f4")
    fused = pygpu.fuse(function)
    for _ in range(2):
        got = fused(make(x), make(y))
        for g, w in zip(got, function(x, y.copy()), strict=True):
            np.testing.assert_allclose(g.get(), w, rtol=1e-4, atol=1e-5)


def test_a_deep_expression_in_a_loop(make):
    """Deeper than a kernel's text or Python's stack would allow."""

    def function(x, y):
        d = ((x[:, None, :] - y[None, :, :]) ** 2).sum(2)
        for _ in range(300):
            d = d * 0.5 + 1
        return d.sum(1)

    x, y = R.normal(size=(5, 3)).astype("f4"), R.normal(size=(36, 3)).astype("f4")
    got = pygpu.fuse(function)(make(x), make(y)).get()
    np.testing.assert_allclose(got, function(x, y), rtol=1e-5)


@pytest.mark.usefixtures("unfused")
def test_all_pairs_are_one_launch(make):
    arrays = [R.normal(size=s).astype("f4") for s in ((70, 3), (70, 3), (70,))]
    fused, on_device = check(step, arrays, make)
    assert make.calls(lambda: fused(*on_device)) == (1, [])


def test_all_pairs_of_views_in_double_precision(make):
    p, v, m = (R.normal(size=s) for s in ((3, 80), (41, 6), (82,)))
    fused = pygpu.fuse(step)
    got = fused(make(p).T[::-2][:40], make(v)[1:, ::2], make(m)[2:][::2])
    wanted = step(p.T[::-2][:40], v[1:, ::2], m[2:][::2])
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(g.get(), w, rtol=1e-12)


def test_nearest_of_others_with_nan(make):
    x, y = R.normal(size=(35, 5)).astype("f4"), R.normal(size=(50, 5)).astype("f4")
    check(nearest, [x, y], make)
    y[17, 2] = np.nan
    check(nearest, [x, y], make)
    check(nearest, [(x * 9).astype("i4"), (np.nan_to_num(y) * 9).astype("i4")], make)


def test_empty_pairs(make):
    none = [np.zeros(s, np.float32) for s in ((0, 3), (0, 3), (0,))]
    check(step, none, make)


def rows(x, scale):
    """Three stages that need what those before have computed."""
    e = np.exp(x - x.max(-1, keepdims=True))
    s = e / e.sum(-1, keepdims=True) * scale
    return s - s.mean(-1, keepdims=True), (e * x).sum(-1), x.argmax(-1)


@pytest.mark.parametrize("length", [1, 64, 1000])
def test_rows_of_many_lengths(make, length):
    x = R.normal(size=(9, length)).astype("f4")
    check(rows, [x, R.normal(size=length).astype("f4")], make, 1e-4)


def test_rows_that_begin_anywhere(make):
    """Vectors of items need rows that begin at multiples of their size."""
    whole = R.normal(size=(8, 203)).astype("f4")
    scale = R.normal(size=200).astype("f4")
    for begin in (0, 1, 3):
        view = np.s_[1:, begin : begin + 200]
        fused = pygpu.fuse(rows)
        for g, w in zip(
            fused(make(whole)[view], make(scale)), rows(whole[view], scale), strict=True
        ):
            np.testing.assert_allclose(g.get(), w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["f2", "c8", "?"])
def test_rows_of_dtypes(make, dtype):
    x = (R.normal(size=(5, 72)) * 3).astype(dtype)

    def function(x):
        total = x.sum(-1, keepdims=True)
        return x * total, (x == total).any(-1)

    check(function, [x], make, 2e-2 if dtype == "f2" else 1e-5)


def test_all_items_of_a_row_get_the_same_zero(make):
    x = np.where(np.arange(64) % 3, np.float32(0.0), np.float32(-0.0)) * np.ones((4, 1), np.float32)
    got = pygpu.fuse(lambda x: 1 / (x.max(-1, keepdims=True) + x * 0))(make(x)).get()
    each = pygpu.fuse(lambda x: np.copysign(np.ones_like(x), x.max(-1, keepdims=True)))(
        make(x)
    ).get()
    assert np.isinf(got).all()
    assert all(len(set(row)) == 1 for row in each)
