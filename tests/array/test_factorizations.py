"""Factorizations by kernels of pygpu, one matrix or a stack: residuals and orthogonality beside
those of LAPACK in the same precision."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pygpu.linalg
from pygpu._src.array.factorization import blocked, each

pytestmark = pytest.mark.sampled(3)

LinAlgError = np.linalg.LinAlgError
SIDES = (1, 2, 3, 5, 16, 17, 31, 32, 33, 63, 64)


@pytest.fixture(autouse=True)
def _on_the_device(monkeypatch):
    """By our kernels only; that nothing is computed on the host."""
    monkeypatch.setenv("PYGPU_LINALG", "own")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*computed by NumPy on the host")
        yield


def random(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    return a.astype(dtype)


def adjoint(a: np.ndarray) -> np.ndarray:
    return a.swapaxes(-1, -2).conj()


def hermitian(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    a = random(shape, dtype, seed)
    return ((a + adjoint(a)) / 2).astype(dtype)


def errors(got: Any, want: Any, like: np.ndarray) -> float:
    """The norm of a difference in units of rounding of *like*, to its norm."""
    wide = np.result_type(like.dtype, np.float64)
    got, want = np.asarray(got, wide), np.asarray(want, wide)
    scale = np.abs(like).max(initial=0) or 1.0  # norms of very large and small ones
    size = np.linalg.norm((like.astype(wide) / scale).ravel()) or 1.0
    difference = np.linalg.norm(((got - want) / scale).ravel())
    return float(difference / (np.finfo(like.dtype).eps * size))


def product(*factors: np.ndarray) -> np.ndarray:
    """In the precision of the factors' double, so that it adds no error."""
    wide = np.result_type(factors[0].dtype, np.float64)
    result = factors[0].astype(wide)
    for factor in factors[1:]:
        result = result @ factor.astype(wide)
    return result


def skewness(q: np.ndarray) -> float:
    """How far from orthonormal the columns are."""
    gram = product(adjoint(q), q)
    eps = np.finfo(q.dtype).eps
    return float(np.linalg.norm((gram - np.eye(q.shape[-1])).ravel()) / eps)


def within(found: float, n: int) -> None:
    """LAPACK's errors are a few times sqrt(n) units here: twice these."""
    assert found <= 8 + 4 * n**0.5 * max(n**0.25, 1), found


def check_solve(make: Any, a: np.ndarray, b: np.ndarray) -> None:
    x = np.linalg.solve(make(a), make(b)).get()
    want = np.linalg.solve(a.astype(np.result_type(a, np.float64)), b)
    assert x.shape == want.shape and x.dtype == a.dtype
    rounded = float(np.linalg.norm(a)) * float(np.linalg.norm(x))
    residual = np.linalg.norm((product(a, x) - b).ravel()) / (np.finfo(a.dtype).eps * rounded)
    assert residual <= 4, residual


def check_qr(make: Any, a: np.ndarray, mode: str) -> None:
    n = max(a.shape[-2:])
    q, r = (x.get() for x in np.linalg.qr(make(a), mode))
    want = np.linalg.qr(a, mode)
    assert q.shape == want[0].shape and r.shape == want[1].shape and r.dtype == a.dtype
    assert (np.triu(r) == r).all()
    within(errors(product(q, r), a, a), n)
    within(skewness(q) / n**0.5, n)
    alone = np.linalg.qr(make(a), "r").get()
    assert np.allclose(alone, r[..., : alone.shape[-2], :], rtol=1e-5, atol=0)


def check_eigh(make: Any, a: np.ndarray, part: str = "L") -> None:
    n = a.shape[-1]
    values, vectors = (x.get() for x in np.linalg.eigh(make(a), part))
    want = np.linalg.eigvalsh(a.astype(np.result_type(a, np.float64)))
    assert vectors.dtype == a.dtype and (np.diff(values, axis=-1) >= 0).all()
    within(errors(values, want, want.astype(values.dtype)), n)
    within(errors(product(vectors * values[..., None, :], adjoint(vectors)), a, a), n)
    within(skewness(vectors) / n**0.5, n)
    within(
        errors(np.linalg.eigvalsh(make(a), part).get(), want, want.astype(a.dtype.char.lower())), n
    )


def check_svd(make: Any, a: np.ndarray, full: bool = False) -> None:
    n = max(a.shape[-2:])
    u, s, vh = (x.get() for x in np.linalg.svd(make(a), full))
    shapes = [x.shape for x in np.linalg.svd(a, full)]
    want = np.linalg.svd(a.astype(np.result_type(a, np.float64)), compute_uv=False)
    assert [u.shape, s.shape, vh.shape] == shapes and u.dtype == a.dtype
    assert (s >= 0).all() and (np.diff(s, axis=-1) <= 0).all()
    within(errors(s, want, want.astype(s.dtype)), n)
    k = s.shape[-1]
    within(errors(product(u[..., :k] * s[..., None, :], vh[..., :k, :]), a, a), n)
    within(skewness(u) / n**0.5, n)
    within(skewness(adjoint(vh)) / n**0.5, n)
    within(
        errors(
            np.linalg.svd(make(a), compute_uv=False).get(), want, want.astype(a.dtype.char.lower())
        ),
        n,
    )


def check_lu(make: Any, a: np.ndarray) -> None:
    wide = a.astype(np.result_type(a, np.float64))
    n = a.shape[-1]
    sign, logarithm = (x.get() for x in np.linalg.slogdet(make(a)))
    want = np.linalg.slogdet(wide)
    tolerance = 100 * n * np.finfo(a.dtype).eps * float(np.max(np.linalg.cond(wide)))
    assert np.allclose(sign, want[0], atol=tolerance)
    assert np.allclose(logarithm, want[1], rtol=tolerance, atol=tolerance)
    with np.errstate(over="ignore"):  # some are above the largest number
        want = np.linalg.det(wide).astype(a.dtype)
    if np.isfinite(want).all():
        assert np.allclose(np.linalg.det(make(a)).get(), want, rtol=tolerance)
    inverse = np.linalg.inv(make(a)).get()
    size = float(np.linalg.norm(a)) * float(np.linalg.norm(inverse))
    residual = np.linalg.norm((product(a, inverse) - np.eye(n)).ravel())
    assert residual <= (4 + n / 16) * np.finfo(a.dtype).eps * size


def check_cholesky(make: Any, a: np.ndarray) -> None:
    a = (adjoint(a) @ a + np.eye(a.shape[-1])).astype(a.dtype)
    n = a.shape[-1]
    for upper in (False, True):
        factor = pygpu.linalg.cholesky(make(a), upper=upper).get()
        assert ((np.triu if upper else np.tril)(factor) == factor).all()
        both = (adjoint(factor), factor) if upper else (factor, adjoint(factor))
        within(errors(product(*both), a, a), n)


def sizes_and_dtypes(sizes, quick):
    """All combinations; those that are not among the quick ones are slow, as each is compiled."""
    return [
        pytest.param(n, dtype, marks=[] if f"{n}{dtype}" in quick else [pytest.mark.slow])
        for n in sizes
        for dtype in "fdFD"
    ]


@pytest.mark.sampled(opencl=2)
@pytest.mark.parametrize("n, dtype", sizes_and_dtypes([1, 5, 32, 63], {"1f", "5F", "32d", "63D"}))
def test_small_matrices(make, n, dtype):
    a = random((3, n, n), dtype)
    check_solve(make, a, random((3, n, 2), dtype, 1))
    check_lu(make, a)
    check_cholesky(make, a)


@pytest.mark.sampled(opencl=2, cuda=4)
@pytest.mark.parametrize("n, dtype", sizes_and_dtypes([1, 4, 31], {"1d", "4f", "4D", "31F"}))
def test_small_orthogonal_factors(make, n, dtype):
    for shape in ((2, n, n), (2, n + 3, n), (2, n, n + 2)):
        for mode in ("reduced", "complete"):
            check_qr(make, random(shape, dtype), mode)
        check_svd(make, random(shape, dtype), shape[1] != n + 3)
    for part in "LU":
        check_eigh(make, hermitian((2, n, n), dtype), part)


@settings(max_examples=12, deadline=None)
@given(
    n=st.sampled_from(SIDES),
    stack=st.sampled_from([(), (1,), (7,), (2, 3), (0,)]),
    sides=st.sampled_from([None, 1, 9]),
    steps=st.tuples(st.sampled_from([1, 2, -1]), st.sampled_from([1, -2])),
    seed=st.integers(0, 99),
)
def test_any_stack_and_strides(opencl_maker, n, stack, sides, steps, seed):
    make = opencl_maker
    whole = random((*stack, 2 * n, 2 * n), "d", seed)
    a = whole[..., :: steps[0], :: steps[1]][..., :n, :n]
    x = make(whole)[..., :: steps[0], :: steps[1]][..., :n, :n]
    assert np.allclose(np.linalg.det(x).get(), np.linalg.det(a))
    assert np.allclose(np.linalg.det(x.mT).get(), np.linalg.det(a))
    b = random((n,) if sides is None else (n, sides), "d", seed + 1)
    got, want = np.linalg.solve(x, make(b)).get(), np.linalg.solve(a, b)
    assert got.shape == want.shape
    scale = np.abs(want).max(initial=1) * (np.linalg.cond(a).max() if a.size else 1)
    assert np.abs(got - want).max(initial=0) <= 1e-13 * n * scale


def test_stacks_that_broadcast(make):
    a, b = random((4, 1, 3, 3), "d"), random((2, 3, 2), "d", 1)
    got = np.linalg.solve(make(a), make(b)).get()
    assert np.allclose(got, np.linalg.solve(a, b))
    many = random((1000, 4, 4), "f")
    assert np.allclose(product(many, np.linalg.inv(make(many)).get()), np.eye(4), atol=0.1)


def test_integers_are_doubles(make):
    a = np.array([[2, 1], [1, 3]])
    assert np.linalg.det(make(a)).dtype == np.float64
    assert np.allclose(np.linalg.inv(make(a)).get(), np.linalg.inv(a))
    assert np.allclose(np.linalg.eigvalsh(make(a)).get(), np.linalg.eigvalsh(a))


@pytest.mark.sampled(cuda=0)
@pytest.mark.parametrize(
    ("n", "dtype"),
    [
        pytest.param(n, dtype, marks=[] if (n, dtype) == (33, "d") else [pytest.mark.slow])
        for n in (33, 65, 100)
        for dtype in "dF"
    ],
)
def test_blocks(make, n, dtype):
    """Large matrices, and small ones by the same kernels."""
    if make.name == "cuda" and n == 100:
        n, dtype = 64, "d"  # a simulated group of 1024 is slow
    a, b = random((2, n, n), dtype), random((n, 3), dtype, 1)
    x = blocked.solve(make(a), make(b)).get()
    size = np.finfo(dtype).eps * np.linalg.norm(a) * np.linalg.norm(x)
    assert np.linalg.norm((product(a, x) - b).ravel()) <= 4 * size
    inverse = blocked.inverse(make(a)).get()
    size = np.finfo(dtype).eps * np.linalg.norm(a) * np.linalg.norm(inverse)
    assert np.linalg.norm((product(a, inverse) - np.eye(n)).ravel()) <= 4 * size
    spd = (adjoint(a) @ a + np.eye(n)).astype(dtype)
    lower, upper = (blocked.cholesky(make(spd), k).get() for k in (False, True))
    within(errors(product(lower, adjoint(lower)), spd, spd), n)
    within(errors(product(adjoint(upper), upper), spd, spd), n)
    for shape, mode in (((n, n), "reduced"), ((n + 40, n), "complete"), ((n, n + 40), "reduced")):
        c = random(shape, dtype)
        q, r = (v.get() for v in blocked.qr(make(c), mode))
        assert (q.shape, r.shape) == tuple(v.shape for v in np.linalg.qr(c, mode))
        within(errors(product(q, r), c, c), n)
        within(skewness(q) / n**0.5, n)


def test_large_matrices_by_name(make):
    n = 70
    a = random((n, n), "d") + n * np.eye(n)
    x = make(a)
    assert np.allclose(np.linalg.slogdet(x)[1].get(), np.linalg.slogdet(a)[1])
    check_solve(make, a, random((n,), "d"))
    check_qr(make, a, "reduced")
    check_cholesky(make, a)
    if make.name == "opencl":
        check_eigh(make, hermitian((n, n), "d"))
        check_svd(make, a)


def hard_matrices(n: int) -> dict[str, np.ndarray]:
    """Symmetric ones, of which LAPACK's errors are relative to the norm."""
    i = np.arange(n)
    q = np.linalg.qr(random((n, n), "d"))[0]
    return {
        "hilbert": 1.0 / (1 + i + i[:, None]),
        "graded": 10.0 ** -(i + i[:, None] + np.abs(i - i[:, None])),
        "repeated": q @ np.diag(np.repeat([1.0, 2.0, 3.0], n)[:n]) @ q.T,
        "signs": q @ np.diag(np.where(i % 2, 1.0, -1.0)) @ q.T,
        "diagonal": np.diag(np.where(i % 3, i - 4.0, 0)),
        "zero": np.zeros((n, n)),
        "ones": np.ones((n, n)),
        "huge": 1e200 * (q + q.T),
        "tiny": 1e-200 * (q + q.T),
        "anti": np.fliplr(np.eye(n)),
    }


@pytest.mark.parametrize("name", hard_matrices(3))
def test_hard_matrices(make, name):
    a = hard_matrices(12)[name]
    a = (a + a.T) / 2
    check_eigh(make, a)
    check_svd(make, a)
    check_svd(make, np.concatenate((a, a[:5])), True)
    check_qr(make, a, "complete")
    assert np.allclose(np.linalg.pinv(make(a), 1e-10).get(), np.linalg.pinv(a, 1e-10), rtol=1e-3)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_single_precision_near_its_limits(make, scale):
    a = (scale * random((9, 9), "d")).astype("f")
    check_svd(make, a)
    check_eigh(make, a + a.T)
    check_qr(make, a, "reduced")


def test_determinants_beyond_the_range_in_between(make):
    a = np.diag([1e200, 1e200, 1e-200, 1e-199, -1.0])
    assert np.allclose(np.linalg.det(make(a)).get(), -10.0)
    assert np.linalg.det(make(1e300 * np.eye(3))).get() == np.inf
    assert np.linalg.det(make(np.diag([1e-310, 1e10]))).get() == pytest.approx(1e-300)
    sign, logarithm = np.linalg.slogdet(make(np.zeros((3, 3))))
    assert sign.get() == 0 and logarithm.get() == -np.inf


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_triangular_systems(make, upper, dtype):
    n = 70  # three blocks
    rng = np.random.default_rng(3)
    a = rng.standard_normal((n, n)) / n + np.eye(n)
    b = rng.standard_normal((n, 3))
    a, b = (x.astype(dtype) * (1 + 0.5j if dtype == "c16" else 1) for x in (a, b))
    a, b = a.astype(dtype), b.astype(dtype)
    triangle = np.triu(a) if upper else np.tril(a)
    for sides in (b, b[:, 0]):
        x = blocked.triangular(make(a), make(sides), upper).get()  # the other triangle is not read
        assert x.dtype == dtype and x.shape == sides.shape
        want = np.linalg.solve(triangle.astype("c16"), sides)
        assert abs(x - want).max() < 100 * np.finfo(dtype).eps * abs(want).max()
    a[40, 40] = 0
    with pytest.raises(np.linalg.LinAlgError, match="zero on its diagonal"):
        blocked.triangular(make(a), make(b), upper)
    with pytest.raises(ValueError, match="does not fit"):
        blocked.triangular(make(a), make(b[:5]), upper)


def test_singular_matrices_raise(make):
    """Also if only one of a stack is singular, and nothing is wrong afterwards."""
    good = random((5, 4, 4), "d")
    bad = good.copy()
    bad[3, :, 1] = 0
    for function in (np.linalg.inv, lambda x: np.linalg.solve(x, x[0])):
        with pytest.raises(LinAlgError, match="Singular matrix"):
            function(make(bad))
        function(make(good))
    assert np.linalg.det(make(bad)).get()[3] == 0
    with pytest.raises(LinAlgError, match="not positive definite"):
        np.linalg.cholesky(make(-np.eye(3)))
    for solve in (blocked.solve, each.solve):
        with pytest.raises(LinAlgError, match="Singular matrix"):
            solve(make(np.ones((40, 40))), make(np.ones((40, 1))))
    with pytest.raises(LinAlgError, match="not positive definite"):
        blocked.cholesky(make(np.diag(np.arange(40.0)[::-1] - 1)), False)


def test_repeated_calls_are_one_launch_with_the_same_results_and_errors(make, monkeypatch):
    good = hermitian((3, 4, 4), "d") + 9 * np.eye(4)
    bad = good.copy()
    bad[1] = 0
    x, y, b = make(good), make(bad), make(random((4,), "d"))
    calls = {
        "cholesky": ((), "not positive definite"),
        "inv": ((), "Singular matrix"),
        "solve": ((b,), "Singular matrix"),
        "det": ((), ""),
        "qr": (("r",), ""),
        "eigvalsh": (("U",), ""),
    }
    for name, (rest, message) in calls.items():
        function = getattr(pygpu.linalg, name)
        first = function(x, *rest).get()
        launches, copies = make.calls(lambda: function(x, *rest))  # noqa: B023
        assert launches == 1
        if make.name == "cuda":
            assert not copies  # the flag is in memory of the host
        for _ in range(2):
            if message:
                with pytest.raises(LinAlgError, match=message):
                    function(y, *rest)
            np.testing.assert_array_equal(function(x, *rest).get(), first)
            assert function(x, *rest).shape == first.shape
    monkeypatch.setenv("PYGPU_LINALG", "elsewhere")
    with pytest.raises(ValueError, match="PYGPU_LINALG=elsewhere"):
        pygpu.linalg.inv(x)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite(make, value):
    a = np.eye(3)
    a[1, 1] = value
    x = make(a)
    for function in (np.linalg.svd, np.linalg.cond):
        with pytest.raises(LinAlgError, match="did not converge"):
            function(x)
    assert not np.isfinite(np.linalg.det(x).get())
    assert not np.isfinite(np.linalg.qr(x)[1].get()).all()
    assert np.isfinite(np.linalg.solve(x, make(np.ones(3))).get()).sum() <= 3
    assert not np.isfinite(np.linalg.cholesky(x).get()).all()


@pytest.mark.parametrize("dtype", ["f", "D"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_eigenvalues_of_what_is_not_finite_are_nan(make, dtype, value, n):
    a = np.stack([random((n, n), dtype, seed) for seed in range(3)])
    a += np.swapaxes(a, 1, 2).conj()
    want = np.linalg.eigvalsh(a[::2])
    a[1, n // 2, n // 2] = value
    w, v = np.linalg.eigh(make(a))
    assert np.isnan(w.get()[1]).all() and np.isnan(v.get()[1]).all()
    tolerance = 1e-4 if dtype == "f" else 1e-12
    np.testing.assert_allclose(w.get()[::2], want, atol=tolerance * n)
    np.testing.assert_array_equal(np.linalg.eigvalsh(make(a)).get()[1], w.get()[1])
    assert np.isfinite(v.get()[::2]).all()


@pytest.mark.parametrize("make", ["opencl"], indirect=True)
def test_a_cpu_that_computes_on_the_host_does_not_warn(make, monkeypatch):
    monkeypatch.setattr("pygpu._src.array.routines.host_fallback._warned", False)
    a = random((70, 70), "d")
    x = make(a)
    if not x.backend.limits.is_cpu:
        pytest.skip("needs an OpenCL device that is a CPU")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(np.linalg.inv(x).get(), np.linalg.inv(a), rtol=1e-7)
        assert np.linalg.cond(x).get() > 1
    with pytest.warns(UserWarning, match="numpy.linalg.eigvals is computed by NumPy on the host"):
        np.linalg.eigvals(x)


@pytest.mark.sampled(opencl=0)
def test_what_is_built_on_them(make):
    a = random((9, 4), "d") @ random((4, 6), "d", 1)  # of rank 4
    x = make(a)
    assert np.linalg.matrix_rank(x).get() == 4
    assert np.allclose(np.linalg.pinv(x).get(), np.linalg.pinv(a))
    b = random((9, 2), "d", 2)
    got, want = np.linalg.lstsq(x, make(b)), np.linalg.lstsq(a, b)
    assert got[2] == want[2] == 4
    assert np.allclose(got[0].get(), want[0]) and np.allclose(got[3].get(), want[3])
    c = random((8, 5, 5), "d")
    for order in (None, 2, -2, 1, np.inf, "fro"):
        assert np.allclose(np.linalg.cond(make(c), order).get(), np.linalg.cond(c, order))


@pytest.mark.parametrize("rows", [70, 500])
def test_tall_least_squares(make, rows):
    a, b = random((rows, 7), "d"), random((rows,), "d", 1)
    got, want = np.linalg.lstsq(make(a), make(b)), np.linalg.lstsq(a, b)
    assert np.allclose(got[0].get(), want[0]) and np.allclose(got[1].get(), want[1])


def test_the_environment_chooses(make, monkeypatch):
    x = make(np.eye(3))
    monkeypatch.setenv("PYGPU_LINALG", "elsewhere")
    with pytest.raises(ValueError, match=r"PYGPU_LINALG=elsewhere: it must be one of auto, own"):
        np.linalg.inv(x)
    monkeypatch.setenv("PYGPU_LINALG", "host")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        launches, copies = make.calls(lambda: np.linalg.inv(x))
    assert launches == 0 and len(copies) == 2


def test_a_stack_is_one_launch(make):
    x = make(random((50, 6, 6), "f"))
    np.linalg.inv(x)
    assert make.calls(lambda: np.linalg.inv(x))[0] == 1
    np.linalg.svd(x)
    assert make.calls(lambda: np.linalg.svd(x))[0] == 1
