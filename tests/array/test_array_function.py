"""NumPy's functions called with device arrays."""

import warnings

import numpy as np
import pytest

from tests.array.test_reduce import host


def same(got, want):
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got.get(), want, rtol=1e-5, atol=1e-5)


def test_on_the_device(make):
    a = host("f4", (40, 30))
    device = make(a)
    same(np.sum(device, axis=1), np.sum(a, axis=1))
    same(np.max(device, 0), np.max(a, 0))
    same(np.argmin(device), np.argmin(a))
    same(np.cumsum(device, 1), np.cumsum(a, 1))
    same(np.sort(device, axis=1), np.sort(a, axis=1))
    same(np.argsort(device, axis=1), np.argsort(a, axis=1))
    same(np.where(device > 0, device, 0), np.where(a > 0, a, np.float32(0)))
    same(np.nonzero(device > 0)[1], np.nonzero(a > 0)[1])
    same(np.take(device, [1, 3], 1), np.take(a, [1, 3], 1))
    same(np.compress(a[0] > 0, device, 1), np.compress(a[0] > 0, a, 1))
    same(np.einsum("ij,kj->ik", device, device), np.einsum("ij,kj->ik", a, a))
    same(np.dot(device, device.T), np.dot(a, a.T))
    same(np.inner(device, device), np.inner(a, a))
    same(np.trace(device), np.trace(a))
    same(np.concatenate([device, device], 1), np.concatenate([a, a], 1))
    same(np.transpose(device), a.T)
    assert np.shape(device) == a.shape and np.size(device, 0) == 40


def test_on_the_host_with_one_warning(make, monkeypatch):
    from pygpu.core import host as on_host
    from pygpu.libraries import loading

    for name in ("CUFFT", "CUSOLVER"):
        monkeypatch.setenv(f"PYGPU_{name}_LIBRARY", "none")
    loading.forget()
    monkeypatch.setattr(on_host, "_warned", False)
    a = host("f8", (5, 5)) + 5 * np.eye(5)
    b = host("f8", 5)
    with pytest.warns(UserWarning, match="numpy.linalg.solve is computed by NumPy on the") as seen:
        same(np.linalg.solve(make(a), make(b)), np.linalg.solve(a, b))
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(np.linalg.solve(make(a), b), np.linalg.solve(a, b))
        q, r = np.linalg.qr(make(a))
        same(np.dot(q, r), a)
        same(np.fft.fft(make(b)), np.fft.fft(b))
        out = make(np.zeros(5, np.complex128))
        assert np.fft.ifft(make(b), out=out) is out
        same(out, np.fft.ifft(b))
        same(np.linalg.eig(make(a + a.T)).eigenvalues, np.linalg.eig(a + a.T).eigenvalues)
    monkeypatch.undo()
    loading.forget()


def test_what_there_is_not(make):
    with pytest.raises(TypeError, match="no implementation found"):
        np.polyfit(make(np.ones(3)), make(np.ones(3)), 1)


def test_quantiles_have_the_dtype_of_numpys(make):
    a = np.arange(12, dtype=np.float32) ** 1.5
    x = make(a)
    for q in (30, [10, 50], np.float32([20, 80]), np.float64(30)):
        same(np.percentile(x, q), np.asarray(np.percentile(a, q)))
        shares = np.float32(q) / 100 if isinstance(q, np.ndarray) else np.divide(q, 100).tolist()
        same(np.quantile(x, shares), np.asarray(np.quantile(a, shares)))


def test_numbers_have_no_order(make):
    x = make(np.float32(3))
    with pytest.raises(np.exceptions.AxisError):
        np.sort(x)
    assert np.argsort(x).get().tolist() == [0]
    assert np.sort(x, axis=None).get().tolist() == [3]
