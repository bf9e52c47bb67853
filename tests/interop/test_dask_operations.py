"""dask.array's operations over chunks on a device, beside NumPy, with every warning an error."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")

import pygpu.dask  # noqa: E402, F401
from pygpu import xp  # noqa: E402
from pygpu._array import GPUArray  # noqa: E402

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)
H = rng.standard_normal((24, 18))
G = rng.standard_normal((24, 18))
Z = H + 1j * G
WHOLE = rng.integers(0, 10, (24, 18))
V = rng.standard_normal(40)
SQUARE = rng.standard_normal((16, 16))
POSITIVE = SQUARE @ SQUARE.T + 16 * np.eye(16)
TALL = rng.standard_normal((60, 5))
CUBE = rng.standard_normal((6, 8, 10))
HOLES = np.where(H > 1, np.nan, H)


class Chunks:
    """The arrays above in chunks on the device."""

    def __init__(self):
        self.h, self.g, self.z, self.whole, self.holes = (
            self.put(a, (8, 9)) for a in (H, G, Z, WHOLE, HOLES)
        )
        self.v, self.tall, self.cube = self.put(V, 10), self.put(TALL, (20, 5)), self.put(CUBE, 4)
        self.square, self.positive = self.put(SQUARE, (8, 8)), self.put(POSITIVE, (8, 8))
        self.rows = self.h.rechunk((8, 18))

    def put(self, a, chunks):
        return da.from_array(xp.asarray(a), chunks=chunks, asarray=False)


def _product(factors):
    first, *rest = factors
    for factor in rest:
        first = first @ factor
    return first


def _svd(d):
    u, s, vh = da.linalg.svd(d.tall)
    return (u * s) @ vh


def _masked(d):
    x = d.h.copy()
    x[x > 0] = 0
    return x


def _percentile_of_dask():  # which are estimates
    with dask.config.set({"array.backend": "numpy"}):
        return da.percentile(da.from_array(V, 10), [25, 50]).compute()


# What Dask needed of pygpu: run by default. name: (of Dask, of NumPy)
NEEDED = {
    "argmin of all": (lambda d: da.argmin(d.h, axis=None), lambda: H.argmin()),
    "percentile": (lambda d: da.percentile(d.v, [25, 50]), _percentile_of_dask),
    "tril": (lambda d: da.tril(d.square), lambda: np.tril(SQUARE)),
    "full_like": (lambda d: da.full_like(d.h, 3), lambda: np.full_like(H, 3)),
    "zeros_like": (lambda d: da.zeros_like(d.h), lambda: np.zeros_like(H)),
    "histogramdd": (
        lambda d: da.histogramdd(d.tall, bins=[2] * 5, range=[(-2, 2)] * 5)[0],
        lambda: np.histogramdd(TALL, [2] * 5, [(-2, 2)] * 5)[0],
    ),
    "unique": (lambda d: da.unique(d.whole), lambda: np.unique(WHOLE)),
    "unique, indices": (
        lambda d: da.unique(d.whole, return_index=True)[1],
        lambda: np.unique(WHOLE, return_index=True)[1],
    ),
    "unique, counts": (
        lambda d: da.unique(d.whole, return_counts=True)[1],
        lambda: np.unique(WHOLE, return_counts=True)[1],
    ),
    "sliding windows": (
        lambda d: da.lib.stride_tricks.sliding_window_view(d.v, 4).sum(-1),
        lambda: np.lib.stride_tricks.sliding_window_view(V, 4).sum(-1),
    ),
    "cholesky": (
        lambda d: da.linalg.cholesky(d.positive, lower=True),
        lambda: np.linalg.cholesky(POSITIVE),
    ),
    "solve, positive definite": (
        lambda d: da.linalg.solve(d.positive, d.square, assume_a="pos"),
        lambda: np.linalg.solve(POSITIVE, SQUARE),
    ),
    "solve_triangular": (
        lambda d: da.linalg.solve_triangular(da.triu(d.positive), d.square),
        lambda: np.linalg.solve(np.triu(POSITIVE), SQUARE),
    ),
    "ravel_multi_index": (
        lambda d: da.ravel_multi_index(d.put(np.array([[1, 2], [3, 4]]), 2), (24, 18)),
        lambda: np.ravel_multi_index(np.array([[1, 2], [3, 4]]), (24, 18)),
    ),
}
MORE = {
    "lstsq": (
        lambda d: da.linalg.lstsq(d.tall, d.tall[:, 0])[0],
        lambda: np.linalg.lstsq(TALL, TALL[:, 0])[0],
    ),
    "unique of float32": (
        lambda d: da.unique(d.whole.astype("f4"), return_counts=True)[0],
        lambda: np.unique(WHOLE.astype("f4")),
    ),
    "unique, inverse": (
        lambda d: da.unique(d.whole.ravel(), return_inverse=True)[1],
        lambda: np.unique(WHOLE.ravel(), return_inverse=True)[1],
    ),
    "histogram2d": (
        lambda d: da.histogram2d(d.v, d.v[::-1], bins=4, range=((-2, 2), (-2, 2)))[0],
        lambda: np.histogram2d(V, V[::-1], 4, ((-2, 2), (-2, 2)))[0],
    ),
    "add": (lambda d: d.h + d.g, lambda: H + G),
    "a row": (lambda d: d.h * d.h[0], lambda: H * H[0]),
    "numbers": (lambda d: (2 * d.h + 1) ** 2 / 3, lambda: (2 * H + 1) ** 2 / 3),
    "exp": (lambda d: da.exp(d.h), lambda: np.exp(H)),
    "where": (lambda d: da.where(d.h > 0, d.h, d.g), lambda: np.where(H > 0, H, G)),
    "clip": (lambda d: da.clip(d.h, -1, 1), lambda: np.clip(H, -1, 1)),
    "complex": (lambda d: d.z.real + d.z.imag * d.z.conj(), lambda: Z.real + Z.imag * Z.conj()),
    "divmod": (lambda d: da.divmod(d.whole, 3)[1], lambda: WHOLE % 3),
    "modf": (lambda d: da.modf(d.h)[0], lambda: np.modf(H)[0]),
    "sum": (lambda d: d.h.sum(axis=1, keepdims=True), lambda: H.sum(axis=1, keepdims=True)),
    "mean": (lambda d: d.h.mean(axis=0), lambda: H.mean(axis=0)),
    "std": (lambda d: d.h.std(), lambda: H.std()),
    "var": (lambda d: d.h.var(axis=0, ddof=1), lambda: H.var(axis=0, ddof=1)),
    "moment": (lambda d: da.moment(d.h, 3, axis=0), lambda: ((H - H.mean(0)) ** 3).mean(0)),
    "max and min": (lambda d: d.h.max(axis=1) - d.h.min(axis=1), lambda: np.ptp(H, axis=1)),
    "any": (lambda d: (d.h > 2).any(axis=0), lambda: (H > 2).any(axis=0)),
    "argmax": (lambda d: d.h.argmax(axis=0), lambda: H.argmax(axis=0)),
    "nansum": (lambda d: da.nansum(d.holes, axis=0), lambda: np.nansum(HOLES, axis=0)),
    "nanmean": (lambda d: da.nanmean(d.holes, axis=1), lambda: np.nanmean(HOLES, axis=1)),
    "nanstd": (lambda d: da.nanstd(d.holes), lambda: np.nanstd(HOLES)),
    "nanargmax": (lambda d: da.nanargmax(d.holes, axis=0), lambda: np.nanargmax(HOLES, axis=0)),
    "median": (lambda d: da.median(d.h, axis=0), lambda: np.median(H, axis=0)),
    "quantile": (lambda d: da.quantile(d.h, 0.3, axis=0), lambda: np.quantile(H, 0.3, axis=0)),
    "cumsum": (lambda d: d.h.cumsum(axis=0), lambda: H.cumsum(axis=0)),
    "cumsum by a tree": (
        lambda d: da.cumsum(d.h, axis=1, method="blelloch"),
        lambda: H.cumsum(axis=1),
    ),
    "topk": (lambda d: da.topk(d.v, 5), lambda: np.sort(V)[::-1][:5]),
    "argtopk": (lambda d: da.argtopk(d.v, 5), lambda: np.argsort(V)[::-1][:5]),
    "matmul": (lambda d: d.h @ d.g.T, lambda: H @ G.T),
    "tensordot": (
        lambda d: da.tensordot(d.cube, d.cube, axes=((1, 2), (1, 2))),
        lambda: np.tensordot(CUBE, CUBE, axes=((1, 2), (1, 2))),
    ),
    "einsum": (lambda d: da.einsum("ij,kj->ik", d.h, d.g), lambda: H @ G.T),
    "outer": (lambda d: da.outer(d.v, d.v), lambda: np.outer(V, V)),
    "reshape": (lambda d: d.h.reshape(4, 6, 18), lambda: H.reshape(4, 6, 18)),
    "transpose": (lambda d: da.transpose(d.cube, (2, 0, 1)), lambda: CUBE.transpose(2, 0, 1)),
    "rechunk": (lambda d: d.h.rechunk((5, 7)) + 1, lambda: H + 1),
    "block": (lambda d: da.block([[d.h, d.g], [d.g, d.h]]), lambda: np.block([[H, G], [G, H]])),
    "stack": (lambda d: da.stack([d.h, d.g]), lambda: np.stack([H, G])),
    "a slice": (lambda d: d.h[2:20:3, ::-1], lambda: H[2:20:3, ::-1]),
    "indices": (lambda d: d.h[[1, 5, 3]], lambda: H[[1, 5, 3]]),
    "a mask": (lambda d: d.v[d.v > 0], lambda: V[V > 0]),
    "vindex": (lambda d: d.h.vindex[[1, 2, 3], [4, 5, 6]], lambda: H[[1, 2, 3], [4, 5, 6]]),
    "assignment": (_masked, lambda: np.where(H > 0, 0, H)),
    "roll": (lambda d: da.roll(d.h, 3, axis=1), lambda: np.roll(H, 3, axis=1)),
    "repeat": (lambda d: da.repeat(d.h, 2, axis=0), lambda: np.repeat(H, 2, axis=0)),
    "pad": (lambda d: da.pad(d.h, 2, mode="reflect"), lambda: np.pad(H, 2, mode="reflect")),
    "diff": (lambda d: da.diff(d.h, axis=0), lambda: np.diff(H, axis=0)),
    "gradient": (lambda d: da.gradient(d.h, axis=0), lambda: np.gradient(H, axis=0)),
    "diag": (lambda d: da.diag(d.v), lambda: np.diag(V)),
    "trace": (lambda d: d.square.trace(), lambda: SQUARE.trace()),
    "meshgrid": (lambda d: da.meshgrid(d.v, d.v)[0], lambda: np.meshgrid(V, V)[0]),
    "histogram": (
        lambda d: da.histogram(d.h, bins=8, range=(-3, 3))[0],
        lambda: np.histogram(H, 8, (-3, 3))[0],
    ),
    "digitize": (
        lambda d: da.digitize(d.v, np.array([-1.0, 0, 1])),
        lambda: np.digitize(V, [-1.0, 0, 1]),
    ),
    "bincount": (
        lambda d: da.bincount(d.whole.ravel(), weights=d.h.ravel(), minlength=10),
        lambda: np.bincount(WHOLE.ravel(), H.ravel(), 10),
    ),
    "isin": (lambda d: da.isin(d.whole, [1, 2, 3]), lambda: np.isin(WHOLE, [1, 2, 3])),
    "argwhere": (lambda d: da.argwhere(d.v > 0), lambda: np.argwhere(V > 0)),
    "count_nonzero": (
        lambda d: da.count_nonzero(d.h > 0, axis=0),
        lambda: np.count_nonzero(H > 0, axis=0),
    ),
    "choose": (lambda d: da.choose(d.whole % 2, [d.h, d.g]), lambda: np.choose(WHOLE % 2, [H, G])),
    "select": (
        lambda d: da.select([d.h > 1, d.h < -1], [d.h, d.g], 0),
        lambda: np.select([H > 1, H < -1], [H, G], 0),
    ),
    "piecewise": (
        lambda d: da.piecewise(d.h, [d.h < 0, d.h >= 0], [-1, 1]),
        lambda: np.piecewise(H, [H < 0, H >= 0], [-1, 1]),
    ),
    "average": (
        lambda d: da.average(d.h, axis=1, weights=d.h[0] ** 2),
        lambda: np.average(H, axis=1, weights=H[0] ** 2),
    ),
    "cov": (lambda d: da.cov(d.tall.T), lambda: np.cov(TALL.T)),
    "corrcoef": (lambda d: da.corrcoef(d.tall.T), lambda: np.corrcoef(TALL.T)),
    "isclose": (lambda d: da.isclose(d.h, d.h + 1e-12), lambda: np.isclose(H, H + 1e-12)),
    "map_overlap": (
        lambda d: d.h.map_overlap(lambda x: np.roll(x, 1, 0) - x, depth=1, boundary="periodic"),
        lambda: np.roll(H, 1, 0) - H,
    ),
    "coarsen": (
        lambda d: da.coarsen(np.mean, d.h, {0: 2, 1: 3}),
        lambda: H.reshape(12, 2, 6, 3).mean((1, 3)),
    ),
    "nan_to_num": (lambda d: da.nan_to_num(d.holes), lambda: np.nan_to_num(HOLES)),
    "fft": (lambda d: da.fft.fft(d.rows), lambda: np.fft.fft(H)),
    "irfft": (lambda d: da.fft.irfft(da.fft.rfft(d.rows)), lambda: H),
    "fft2": (lambda d: da.fft.fft2(d.h.rechunk((24, 18))), lambda: np.fft.fft2(H)),
    "norm": (lambda d: da.linalg.norm(d.h, axis=1), lambda: np.linalg.norm(H, axis=1)),
    "qr": (lambda d: _product(da.linalg.qr(d.tall)), lambda: TALL),
    "svd": (_svd, lambda: TALL),
    "svd_compressed": (
        lambda d: da.linalg.svd_compressed(d.tall, 5, n_power_iter=2, seed=1)[1],
        lambda: np.linalg.svd(TALL, compute_uv=False),
    ),
    "insert": (
        lambda d: da.append(da.insert(d.v, 2, 5.0, axis=0), d.v),
        lambda: np.append(np.insert(V, 2, 5.0), V),
    ),
    "unravel_index": (
        lambda d: da.unravel_index(d.put(np.arange(10), 5), (24, 18))[1],
        lambda: np.unravel_index(np.arange(10), (24, 18))[1],
    ),
}


@pytest.fixture
def chunks(request):
    before = xp.set_default_device(request.param)
    with (
        dask.config.set({"array.backend": "pygpu", "scheduler": "synchronous"}),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        yield Chunks()
    xp.set_default_device(before)


def compare(chunks, cases):
    failed = []
    for name, (of_dask, of_numpy) in cases.items():
        try:
            got, want = of_dask(chunks).compute(), np.asarray(of_numpy())
            assert isinstance(got, GPUArray) and got.device == xp.default_device()
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_allclose(got.get(), want, rtol=1e-9, atol=1e-10)
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("chunks", ["opencl"], indirect=True)
def test_operations_that_need_pygpus_part(chunks):
    compare(chunks, NEEDED)


@pytest.mark.slow  # many kernels
@pytest.mark.parametrize("chunks", ["opencl", "cuda"], indirect=True)
def test_operations(chunks):
    assert len(NEEDED | MORE) >= 57
    compare(chunks, NEEDED | MORE)


@pytest.mark.parametrize("chunks", ["opencl"], indirect=True)
def test_a_singular_triangle_is_an_error(chunks):
    lower = np.tril(POSITIVE)
    lower[9, 9] = 0
    solved = da.linalg.solve_triangular(chunks.put(lower, (8, 8)), chunks.square, lower=True)
    with pytest.raises(np.linalg.LinAlgError, match="A is singular"):
        solved.compute()


def test_chunks_on_the_host_are_dasks_own():
    with dask.config.set({"array.backend": "numpy", "scheduler": "synchronous"}):
        x = da.from_array(WHOLE, chunks=(8, 9))
        values, counts = dask.compute(*da.unique(x, return_counts=True))
        assert isinstance(values, np.ndarray) and counts.sum() == WHOLE.size
        p = da.from_array(POSITIVE, chunks=(8, 8))
        assert np.allclose(
            da.linalg.cholesky(p, lower=True).compute(), np.linalg.cholesky(POSITIVE)
        )
        t = da.from_array(TALL, chunks=(20, 5))
        counts = da.histogramdd(t, bins=[2] * 5, range=[(-2, 2)] * 5)[0].compute()
        assert (counts == np.histogramdd(TALL, [2] * 5, [(-2, 2)] * 5)[0]).all()
