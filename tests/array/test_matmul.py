"""Products of matrices and tensors against NumPy."""

import numpy as np
import pytest

from pygpu._src.array import matmul as products
from pygpu._src.array.routines import einsum
from tests.array.test_reduction import host


def small(dtype, shape, seed=0):
    a = host(dtype, shape, seed)
    return a % 10 if a.dtype.kind in "iu" else a


def check(got, want):
    assert got.shape == want.shape and got.dtype == want.dtype
    if want.dtype.kind in "fc":
        eps = np.finfo(want.dtype).eps
        np.testing.assert_allclose(got.get(), want, rtol=200 * eps, atol=200 * eps)
    else:
        np.testing.assert_array_equal(got.get(), want)


def test_shapes(make):
    cases = [
        ((3, 4), (4, 5)),
        ((1, 1), (1, 1)),
        ((65, 130), (130, 67)),
        ((4,), (4,)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((2, 1, 3, 4), (5, 4, 6)),
        ((7, 3, 4), (4, 2)),
        ((3, 0), (0, 4)),
        ((0, 3), (3, 4)),
        ((4,), (6, 4, 3)),
    ]
    for shape_a, shape_b in cases:
        a, b = host("f4", shape_a), host("f4", shape_b, 1)
        check(products.matmul(make(a), make(b)), a @ b)


def test_strides(make):
    a, b = host("f4", (40, 60)), host("f4", (50, 60), 1)
    check(make(a) @ make(b).T, a @ b.T)
    check(
        make(a)[::2, ::-3] @ make(b)[:20, 5].reshape(20, 1), a[::2, ::-3] @ b[:20, 5].reshape(20, 1)
    )
    out = make(np.zeros((50, 40), np.float32))
    assert products.matmul(make(a), make(b).T, out.T).shape == (40, 50)
    np.testing.assert_allclose(out.get(), (a @ b.T).T, rtol=1e-4, atol=1e-4)
    square = host("f4", (9, 9))
    device = make(square)
    products.matmul(device, device, device)
    np.testing.assert_allclose(device.get(), square @ square, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "D"])
def test_dtypes(make, dtype):
    a, b = small(dtype, (19, 33)), small(dtype, (33, 18), 1)
    got, want = products.matmul(make(a), make(b)), a @ b
    if dtype == "f2":  # NumPy's sums are rounded at each step
        want = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    check(got, want)


def test_mixed_dtypes(make):
    a, b = small("i4", (5, 6)), small("f4", (6, 7))
    check(products.matmul(make(a), make(b)), a @ b)


def test_a_large_one(make):
    a, b = host("f4", (520, 33)), host("f4", (33, 515), 1)
    check(products.matmul(make(a), make(b)), a @ b)


def test_wrong_shapes(make):
    a = make(np.zeros((3, 4), np.float32))
    with pytest.raises(ValueError, match="different lengths"):
        products.matmul(a, a)
    with pytest.raises(ValueError, match="enough dimensions"):
        products.matmul(a, make(np.float32(3)))
    with pytest.raises(ValueError, match="out must be"):
        products.matmul(a, a.T, make(np.zeros(3, np.float32)))


def test_tensordot_outer_trace_diagonal(make):
    a, b = host("f4", (3, 4, 5)), host("f4", (4, 3, 2), 1)
    check(
        products.tensordot(make(a), make(b), ([1, 0], [0, 1])), np.tensordot(a, b, ([1, 0], [0, 1]))
    )
    check(products.tensordot(make(a), make(b), 0), np.tensordot(a, b, 0))
    check(products.tensordot(make(a[0]), make(a[1].T), 1), np.tensordot(a[0], a[1].T, 1))
    check(products.outer(make(a[0, 0]), make(b[0, 0])), np.outer(a[0, 0], b[0, 0]))
    for offset in (-5, -2, 0, 1, 7):
        check(products.diagonal(make(a), offset, 2, 0), np.diagonal(a, offset, 2, 0))
        check(products.trace(make(a), offset, 1, 2), np.trace(a, offset, 1, 2))


@pytest.mark.parametrize(
    "subscripts, shapes",
    [
        ("ij,jk->ik", [(3, 4), (4, 5)]),
        ("ij,jk", [(3, 4), (4, 5)]),
        ("ii", [(4, 4)]),
        ("ii->i", [(4, 4)]),
        ("ijk->kj", [(2, 3, 4)]),
        ("i,j->ij", [(3,), (4,)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("...ij,...j->...i", [(2, 3, 4), (4,)]),
        ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]),
        ("i,i,i->", [(6,), (6,), (6,)]),
        ("ij,ij->j", [(3, 4), (3, 4)]),
    ],
)
def test_einsum(make, subscripts, shapes):
    arrays = [host("f4", shape, i) for i, shape in enumerate(shapes)]
    check(einsum.einsum(subscripts, *map(make, arrays)), np.asarray(np.einsum(subscripts, *arrays)))


def test_einsum_says_what_is_wrong(make):
    a = make(np.zeros((3, 4), np.float32))
    for subscripts in ("ij,jk", "i", "ij->k", "ij->ii"):
        with pytest.raises(ValueError):
            einsum.einsum(subscripts, a)
    with pytest.raises(ValueError, match="lengths"):
        einsum.einsum("ij,ij", a, a.T)


def test_einsum_of_lists(make):
    a = np.arange(6.0).reshape(2, 3)
    x = make(a)
    for labels in (([0, 1], [1, 0]), ([1, 0],), ([..., 1], [...])):
        same_as = np.asarray(np.einsum(a, *labels))
        np.testing.assert_array_equal(einsum.einsum(x, *labels).get(), same_as)
    got = einsum.einsum(x, [0, 1], x, [2, 1], [0, 2])
    np.testing.assert_array_equal(got.get(), a @ a.T)
    for wrong in ([0, 52], [0, -1]):
        with pytest.raises(ValueError, match="not within the valid range"):
            einsum.einsum(x, wrong)
