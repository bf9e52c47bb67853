"""Every kernel of products, by shapes that choose it, against sums in extended precision."""

import numpy as np
import pytest

from pygpu._src.array import matmul as products
from pygpu._src.array import products as plans
from pygpu._src.codegen.kernels import matmul_tiles
from tests.array.test_reduction import host

pytestmark = pytest.mark.sampled(3)

# m, k, n: small matrices, tiles, tiles of parts of k, one row, primes and ones.
SHAPES = {
    "one": (1, 1, 1),
    "small": (7, 5, 11),
    "tile": (64, 32, 64),
    "odd tile": (67, 41, 71),
    "one product": (40, 1, 33),
    "parts": (20, 3001, 18),
    "row": (1, 1030, 37),
    "wide row": (1, 7, 5003),
    "column": (131, 97, 1),
    "long row": (3, 9001, 1),
    "very long row": (20, 70_001, 1),
    "flat": (17, 2, 300),
}


def operand(dtype, shape, seed):
    a = host(dtype, shape, seed)
    return a % 10 if a.dtype.kind in "iu" else a


def check(got, a, b):
    """Half a unit for the result, and one of the sums' precision for each product."""
    got = got.get()
    number = np.result_type(a.dtype, b.dtype)
    assert got.dtype == number and got.shape == (a[..., :, :1] @ b[..., :1, :]).shape
    if number.kind not in "fc":
        np.testing.assert_array_equal(got, a @ b)
        return
    wide = np.clongdouble if number.kind == "c" else np.longdouble
    want = a.astype(wide) @ b.astype(wide)
    size = np.abs(a).astype(np.longdouble) @ np.abs(b).astype(np.longdouble)
    sums = np.finfo(np.float32 if number.char == "e" else number)
    own = np.finfo(number)
    bound = (a.shape[-1] + 2) * sums.eps * size + own.eps * np.abs(want) + own.smallest_subnormal
    assert (np.abs(got - want) <= bound).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f", "D", "e"])
def test_shapes(make, dtype, shape):
    m, k, n = SHAPES[shape]
    a, b = operand(dtype, (m, k), 0), operand(dtype, (k, n), 1)
    check(make(a) @ make(b), a, b)


@pytest.mark.parametrize("shape", ["odd tile", "parts", "row"])
@pytest.mark.parametrize("dtype", ["?", "h"])
def test_integers_wrap_and_bools_are_joined(make, dtype, shape):
    m, k, n = SHAPES[shape]
    a, b = host(dtype, (m, k), 0), host(dtype, (k, n), 1)
    check(make(a) @ make(b), a, b)


@pytest.mark.parametrize("shape", ["small", "odd tile", "row"])
@pytest.mark.parametrize("turned", ["a", "b", "ab"])
def test_transposed_operands(make, shape, turned):
    m, k, n = SHAPES[shape]
    a, b = host("f", (m, k), 0), host("f", (k, n), 1)
    x = make(np.ascontiguousarray(a.T)).T if "a" in turned else make(a)
    y = make(np.ascontiguousarray(b.T)).T if "b" in turned else make(b)
    check(x @ y, a, b)


@pytest.mark.parametrize("shape", ["small", "odd tile", "row", "column", "parts"])
def test_what_lies_beyond_the_edges_is_not_read_into_results(make, shape):
    m, k, n = SHAPES[shape]
    a, b = np.full((m + 9, k + 7), np.nan, "f"), np.full((k + 5, n + 3), np.inf, "f")
    a[4 : m + 4, 3 : k + 3], b[1 : k + 1, 2 : n + 2] = host("f", (m, k)), host("f", (k, n), 1)
    x, y = make(a)[4 : m + 4, 3 : k + 3], make(b)[1 : k + 1, 2 : n + 2]
    check(x @ y, a[4 : m + 4, 3 : k + 3], b[1 : k + 1, 2 : n + 2])
    out = make(np.full((m + 2, n + 2), 7, "f"))
    products.matmul(x, y, out[1:-1, 1:-1])
    edges = out.get()
    edges[1:-1, 1:-1] = 7
    assert (edges == 7).all()


@pytest.mark.parametrize("shape", ["small", "odd tile", "long row"])
def test_nans_stay_in_their_rows(make, shape):
    m, k, n = SHAPES[shape]
    a, b = host("f", (m, k)), host("f", (k, n), 1)
    a[m // 2, k - 1] = np.nan
    got = np.isnan((make(a) @ make(b)).get())
    assert got[m // 2].all() and got.sum() == n


@pytest.mark.parametrize("shape", ["small", "odd tile", "column"])
def test_negative_and_zero_strides(make, shape):
    m, k, n = SHAPES[shape]
    a, b = host("f", (2 * m, k)), host("f", (k, 1), 1)
    x, y = make(a)[::-2, ::-1], make(b)
    wide = np.broadcast_to(b, (k, n))
    check(x @ y._view((k, n), (y.strides[0], 0), y.offset), a[::-2, ::-1], wide)


def test_items_that_are_not_at_vectors_addresses(make):
    flat = host("f", 1 + 64 * 64)
    a = flat[1:].reshape(64, 64)
    check(make(flat)[1:].reshape(64, 64) @ make(a), a, a)
    out = make(np.zeros(1 + 64 * 64, "f"))
    products.matmul(make(a), make(a), out[1:].reshape(64, 64))
    np.testing.assert_array_equal(out.get()[1:], (make(a) @ make(a)).get().ravel())


@pytest.mark.parametrize(
    "left, right",
    [
        ((5, 4, 4), (5, 4, 4)),
        ((3, 1, 20, 30), (4, 30, 18)),
        ((2, 3, 1, 40), (3, 40, 9)),
        ((2, 18, 2500), (2500, 3)),
    ],
)
def test_stacks(make, left, right):
    a, b = host("f", left), host("f", right, 1)
    check(make(a) @ make(b), a, b)
    check(make(a)[::-1] @ make(b), a[::-1], b)


def test_a_result_in_another_dtype(make):
    a, b = host("f", (20, 3001)), host("f", (3001, 18), 1)
    out = make(np.zeros((18, 20), "d"))
    products.matmul(make(a), make(b), out.T)
    np.testing.assert_allclose(out.get().T, a.astype("d") @ b, rtol=1e-5, atol=1e-3)
    assert (out.get() == out.get().astype("f")).all()  # it is computed in float32


@pytest.mark.parametrize("shape", ["odd tile", "parts", "very long row"])
def test_results_are_the_same_each_time(make, shape):
    m, k, n = SHAPES[shape]
    a, b = host("f", (m, k)), host("f", (k, n), 1)
    x, y = make(a), make(b)
    first = x @ y
    check(first, a, b)
    for _ in range(20):  # from the second on by the launch cache, in memory used before
        np.testing.assert_array_equal((x @ y).get(), first.get())


@pytest.mark.parametrize("shape", ["odd tile", "parts", "very long row"])
def test_launches_of_products_of_any_size_are_cached(make, shape, monkeypatch):
    m, k, n = SHAPES[shape]
    a, b = host("f", (m, k)), host("f", (k, n), 1)
    x, y = make(a), make(b)
    if products._library(x, np.dtype("f"), make(np.zeros((m, n), "f"))) is not None:
        pytest.skip("needs a machine without cuBLAS and CLBlast, which are asked first")
    check(x @ y, a, b)
    monkeypatch.setattr(plans, "product", None)
    check(x @ y, a, b)
    check(make(2 * a) @ y, 2 * a, b)


def test_a_tile_fits_the_device():
    choice = plans.choose(4096, 4096, 4096, 1, 4, 8, 64, 8192)
    assert choice.tile.group <= 64
    assert matmul_tiles.local_bytes(choice.tile, np.dtype("f")) <= 8192
    with pytest.raises(RuntimeError, match="no tile"):
        plans.choose(4096, 4096, 4096, 1, 4, 8, 4, 8192)


@pytest.mark.parametrize("itemsize", [4, 8, 16])
def test_short_results_are_computed_in_parts(itemsize):
    assert plans.choose(64, 16, 200_000, 1, itemsize, 132, 1024, 49152).parts > 100
    assert plans.choose(4096, 4096, 4096, 1, itemsize, 132, 1024, 49152).parts == 1


@pytest.mark.parametrize("itemsize", [4, 8, 16])
def test_all_tiles_compute_the_same(make, itemsize):
    """Each tile of the table, and a step beyond the end of the summed axis."""
    x = make(np.zeros(1, "f"))
    if x.backend.limits.is_cpu:
        pytest.skip("needs a device that is not a CPU: those use panels, which test_shapes covers")
    dtype = {4: "f", 8: "d", 16: "D"}[itemsize]
    a, b = host(dtype, (65, 33)), host(dtype, (33, 66), 1)
    x, y = make(a), make(b)
    try:
        for tuned in plans._TILES[itemsize]:
            plans.set_choice(plans.Choice(tuned.tile, 1))
            x.backend.table.plans.clear()
            check(products.matmul(x, y), a, b)
    finally:
        plans.set_choice(None)
