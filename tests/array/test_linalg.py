"""numpy.linalg and numpy.fft under pygpu's names: what needs no library, and NumPy's errors."""

import inspect
import warnings

import numpy as np
import pytest

import pygpu.fft
import pygpu.linalg
from tests.array.test_reduction import host


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*computed by NumPy on the host")
        yield


def close(got, want):
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got.get(), want, rtol=1e-6, atol=1e-6)


def test_names_and_signatures():
    for ours, numpys in ((pygpu.linalg, np.linalg), (pygpu.fft, np.fft)):
        names = {n for n in dir(numpys) if not n.startswith("_")} - {"test", "helper"}
        more = {"precision"} if ours is pygpu.linalg else set()  # of pygpu's own
        assert set(ours.__all__) == names | more
        for name in names - {"LinAlgError", "fftfreq", "rfftfreq"}:
            mine, theirs = (inspect.signature(getattr(m, name)) for m in (ours, numpys))
            added = ["precision"] if (ours, name) == (pygpu.linalg, "matmul") else []
            assert list(mine.parameters) == [*theirs.parameters, *added], name
            for one, other in zip(mine.parameters.values(), theirs.parameters.values()):
                assert one.kind == other.kind, (name, one)
                if other.default is not np._NoValue:
                    assert one.default == other.default, (name, one)


def test_norms(make):
    a = host("f8", (3, 4, 5))
    x, v = make(a), make(a[0, 0])
    for order in (None, 0, 3, np.inf):
        close(np.linalg.norm(v, order), np.linalg.norm(a[0, 0], order))
    for order, axis in ((None, (0, 1)), (1, (2, 0)), (-np.inf, (0, 1)), ("nuc", (0, 2))):
        got = np.linalg.norm(x, order, axis, keepdims=True)
        close(got, np.linalg.norm(a, order, axis, keepdims=True))
    close(np.linalg.norm(x), np.linalg.norm(a))
    close(np.linalg.norm(x, axis=1), np.linalg.norm(a, axis=1))
    close(np.linalg.norm(make(a.astype(int))), np.linalg.norm(a.astype(int)))
    close(np.linalg.vector_norm(x, axis=(0, 2)), np.linalg.vector_norm(a, axis=(0, 2)))
    close(np.linalg.matrix_norm(x), np.linalg.matrix_norm(a))
    for wrong in ({"ord": "fro"}, {"axis": (0, 1, 2)}, {"ord": 1}):
        with pytest.raises(ValueError, match="[Nn]orm|norm"):
            np.linalg.norm(v if wrong == {"ord": "fro"} else x, **wrong)
    with pytest.raises(TypeError):
        np.linalg.norm(x, axis="0")


def test_products(make):
    a, b, c = host("f8", (6, 3)), host("f8", (3, 7), 1), host("f8", (7, 2), 2)
    d, e, f = make(a), make(b), make(c)
    close(np.linalg.multi_dot([d, e, f]), np.linalg.multi_dot([a, b, c]))
    close(np.linalg.multi_dot([d[0], e, f[:, 0]]), np.linalg.multi_dot([a[0], b, c[:, 0]]))
    out = make(np.zeros((6, 2)))
    assert np.linalg.multi_dot([d, e, f], out=out) is out
    close(out, a @ b @ c)
    z = host("f8", (2, 3, 3)) + 1j * host("f8", (2, 3, 3), 1)
    for n in (0, 5, -1):
        close(np.linalg.matrix_power(make(z), n), np.linalg.matrix_power(z, n))
    close(np.linalg.outer(d[0], e[0]), np.linalg.outer(a[0], b[0]))
    close(np.linalg.cross(d, e.T[:6]), np.linalg.cross(a, b.T[:6]))
    close(np.linalg.vecdot(make(z), make(z), axis=1), np.linalg.vecdot(z, z, axis=1))
    close(np.linalg.trace(make(z), offset=1), np.linalg.trace(z, offset=1))
    close(np.linalg.diagonal(make(z), offset=-1), np.linalg.diagonal(z, offset=-1))
    close(np.linalg.matrix_transpose(make(z)), np.linalg.matrix_transpose(z))
    close(np.linalg.tensordot(d, e, axes=1), np.linalg.tensordot(a, b, axes=1))
    close(np.linalg.matmul(d, e), np.linalg.matmul(a, b))
    close(pygpu.linalg.matmul(a, e), a @ b)


@pytest.mark.sampled(cuda=0)
def test_factors_wherever_they_are_computed(make):
    a = host("f8", (2, 4, 4)) + 4 * np.eye(4)
    x = make(a)
    close(pygpu.linalg.inv(x), np.linalg.inv(a))
    close(np.linalg.det(x), np.linalg.det(a))
    close(np.linalg.pinv(x), np.linalg.pinv(a))
    close(np.linalg.cond(x), np.linalg.cond(a))
    close(np.linalg.eigvalsh(x), np.linalg.eigvalsh(a))
    assert (np.linalg.matrix_rank(x).get() == 4).all()
    assert np.linalg.matrix_rank(x[0, 0]).get() == np.linalg.matrix_rank(a[0, 0])
    got, want = np.linalg.lstsq(x[0], x[1, 0]), np.linalg.lstsq(a[0], a[1, 0])
    close(got[0], want[0])
    empty = make(np.zeros((0, 3, 3)))
    assert np.linalg.inv(empty).shape == (0, 3, 3) and np.linalg.det(empty).shape == (0,)


def test_wrong_arguments(make):
    flat, wide = make(np.ones(3)), make(np.ones((2, 3)))
    for function in (np.linalg.inv, np.linalg.det, np.linalg.cholesky, np.linalg.eigh):
        with pytest.raises(np.linalg.LinAlgError, match="at least two-dimensional"):
            function(flat)
        with pytest.raises(np.linalg.LinAlgError, match="must be square"):
            function(wide)
    with pytest.raises(TypeError, match="float16 is unsupported in linalg"):
        np.linalg.inv(make(np.ones((2, 2), np.float16)))
    with pytest.raises(ValueError, match="Unrecognized mode"):
        np.linalg.qr(wide, "other")
    with pytest.raises(ValueError, match="UPLO"):
        np.linalg.eigh(make(np.eye(2)), "X")
    with pytest.raises(TypeError, match="exponent must be an integer"):
        np.linalg.matrix_power(make(np.eye(2)), 1.5)
    with pytest.raises(ValueError, match="shapes"):
        np.linalg.solve(make(np.eye(2)), flat)
    with pytest.raises(np.linalg.LinAlgError, match="[Ss]ingular"):
        np.linalg.inv(make(np.ones((2, 2))))


def test_transforms_wherever_they_are_computed(make):
    a = host("f4", (3, 8))
    close(pygpu.fft.rfft(make(a)), np.fft.rfft(a))
    close(np.fft.fft2(make(a), norm="ortho"), np.fft.fft2(a, norm="ortho"))
    close(np.fft.irfft(make(np.fft.rfft(a)), 8), np.fft.irfft(np.fft.rfft(a), 8))
    close(np.fft.fftshift(make(a), 1), np.fft.fftshift(a, 1))
    close(np.fft.ifftshift(make(a)), np.fft.ifftshift(a))
    assert (pygpu.fft.fftfreq(5) == np.fft.fftfreq(5)).all()
