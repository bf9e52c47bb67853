"""matmul, vecdot, matvec and vecmat of NumPy, with their options."""

import numpy as np
import pytest

A = np.arange(24.0).reshape(2, 3, 4)
B = np.arange(8.0).reshape(2, 4) + 1j


def same(work, make, *hosts):
    wanted = work(*hosts)
    found = work(*map(make, hosts))
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found.get(), wanted)


def test_dtype_is_obeyed(make):
    a = np.arange(6, dtype=np.int16).reshape(2, 3) * 200
    same(lambda x: np.matmul(x, x.T, dtype="f8"), make, a)
    same(lambda x: np.matmul(x, x.T, signature="qq->q"), make, a)
    with pytest.raises(TypeError, match="complex128"):
        np.matmul(make(B), make(B.T), dtype="f8")


def test_axes(make):
    same(lambda a, b: np.matmul(a, b, axes=[(0, 1), (1, 0), (0, 1)]), make, A[0], A[1])
    same(lambda a, b: np.matmul(a, b, axes=[(0, 2), (2, 0), (0, 1)]), make, A, A)
    same(lambda a, b: np.matmul(a, b, axes=[(1, 2), (0,), (0,)]), make, A, B[0])
    same(lambda a: np.vecdot(a, a, axis=0), make, A)
    same(lambda a: np.vecdot(a, a, axis=1, keepdims=True), make, A)


@pytest.mark.skipif(not hasattr(np, "matvec"), reason="NumPy before 2.2 has no matvec")
def test_matvec_vecmat(make):
    same(lambda a, b: np.matvec(a, b), make, A, B)
    same(lambda a, b: np.vecmat(b, a), make, A.swapaxes(1, 2), B)
    with pytest.raises(ValueError, match="do not fit"):
        np.matvec(make(A), make(B[:, :3]))


def test_operands_of_the_host(make):
    np.testing.assert_allclose((make(A[0]) @ A[1].T).get(), A[0] @ A[1].T)
    np.testing.assert_allclose((A[0] @ make(A[1].T)).get(), A[0] @ A[1].T)
    out = make(np.zeros((3, 3), complex))
    assert np.matmul(make(A[0]), A[1].T, out=out, casting="same_kind") is out
    np.testing.assert_allclose(out.get(), A[0] @ A[1].T)


def test_wrong_axes_and_operands_of_matmul_are_refused(make):
    a = make(A[0])
    with pytest.raises(TypeError, match="axis can only be used"):
        np.matmul(a, a.T, axis=0)
    with pytest.raises(ValueError, match="enough dimensions"):
        np.matmul(a, 2)
    with pytest.raises(ValueError, match="axes"):
        np.matmul(a, a.T, axes=[(0,), (0, 1), (0, 1)])
