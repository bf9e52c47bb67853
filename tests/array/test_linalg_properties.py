"""Linear algebra of any shapes, strides, dtypes and values against NumPy's, drawn by hypothesis.

Sides are drawn from a few numbers, because each kernel of a size takes its time to compile.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pygpu.linalg

LinAlgError = np.linalg.LinAlgError
SIDES = (0, 1, 2, 3, 5, 17, 24)
STACKS: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (2, 3), (0,))
quick = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
long = settings(quick, max_examples=600)


@pytest.fixture(autouse=True)
def _on_the_device(monkeypatch):
    """By our kernels; what is computed on the host fails, except arrays without items."""
    monkeypatch.setenv("PYGPU_LINALG", "own")


def values(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind in "biu":
        return rng.integers(0, 2 if kind == "b" else 9, shape).astype(dtype)
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if kind == "c" else a).astype(dtype)


@st.composite
def views(draw, shape: tuple[int, ...], dtype: str) -> tuple[np.ndarray, Callable[[Any], Any]]:
    """An array in whose memory a view of this shape is found, and the function that takes it:
    axes in any order, with gaps, backwards, or repeated."""
    order = draw(st.permutations(range(len(shape))))
    steps = draw(
        st.lists(st.sampled_from([1, 1, 2, -1, -2]), min_size=len(shape), max_size=len(shape))
    )
    stretched = [k for k, n in enumerate(shape) if n > 1 and draw(st.integers(0, 9)) == 0]
    stored = tuple(1 if k in stretched else shape[k] * abs(steps[k]) for k in order)
    back = tuple(int(k) for k in np.argsort(order))
    key = tuple(slice(None, None, 1 if k in stretched else steps[k]) for k in range(len(shape)))

    def view(x: Any) -> Any:
        return np.broadcast_to(x.transpose(back)[key], shape)

    return values(stored, dtype, draw(st.integers(0, 9))), view


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """The result, or the error, of which only the type counts."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*args)
    except (LinAlgError, TypeError, ValueError) as error:
        return error


def numbers(result: Any) -> list[np.ndarray]:
    results = result if isinstance(result, tuple) else (result,)
    return [x.get() if hasattr(x, "get") else np.asarray(x) for x in results]


def same_form(got: Any, want: Any) -> bool:
    """Whether both are results, of one shape and dtype; the same error raises no question."""
    if isinstance(want, Exception) or isinstance(got, Exception):
        assert type(got) is type(want), (got, want)
        return False
    for g, w in zip(numbers(got), numbers(want), strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
    return True


def near(got: Any, want: Any, dtype: Any, scale: Any = 1.0) -> None:
    eps = np.finfo(np.result_type(dtype, np.float32)).eps
    wide = np.result_type(got, want, np.float64)
    difference = np.abs(np.asarray(got, wide) - want)
    assert (difference <= 200 * eps * np.maximum(scale, 1)).all(), float(difference.max())


@st.composite
def products(draw):
    m, k, n = (draw(st.sampled_from([*SIDES, 33])) for _ in range(3))
    stack = draw(st.sampled_from(STACKS))
    left = stack[draw(st.integers(0, len(stack))) :]
    right = tuple(1 if draw(st.booleans()) else x for x in stack)
    dtypes = [draw(st.sampled_from(["f", "d", "F", "D", "e", "i4", "u1", "?"])) for _ in "ab"]
    if draw(st.booleans()):
        dtypes[1] = dtypes[0]
    a, b = (*left, m, k), (*right, k, n)
    if draw(st.integers(0, 3)) == 0:
        a = (k,)
    if draw(st.integers(0, 3)) == 0:
        b = (k,)
    return draw(views(a, dtypes[0])), draw(views(b, dtypes[1]))


def check_product(make: Any, pair: Any) -> None:
    (left, of_left), (right, of_right) = pair
    a, b = of_left(left), of_right(right)
    x, y = of_left(make(left)), of_right(make(right))
    got, want = outcome(np.matmul, x, y), outcome(np.matmul, a, b)
    if not same_form(got, want):
        return
    number = np.result_type(a, b)
    if number.kind in "biu":
        np.testing.assert_array_equal(numbers(got)[0], want)
        return
    wide = np.result_type(number, np.float64)
    exact = np.matmul(a.astype(wide), b.astype(wide))
    size = np.matmul(abs(a).astype("d"), abs(b).astype("d"))
    eps = np.finfo(number).eps
    error = np.abs(numbers(got)[0] - exact)
    assert (error <= (2 + a.shape[-1]) * eps * size + np.finfo(number).smallest_subnormal).all()


@given(pair=products())
@quick
def test_any_product(opencl_maker, pair):
    check_product(opencl_maker, pair)


@pytest.mark.slow
@given(pair=products())
@long
def test_any_product_at_length(make, pair):
    check_product(make, pair)


@st.composite
def matrices(draw):
    """(a function's name, its view of a matrix or stack, how the matrix is changed)."""
    name = draw(st.sampled_from(sorted(FUNCTIONS)))
    n = draw(st.sampled_from(SIDES))
    m = draw(st.sampled_from(SIDES)) if name in TALL else n
    dtype = draw(st.sampled_from(["f", "d", "F", "D", "i4", "?", "e"]))
    stack = () if name == "lstsq" else draw(st.sampled_from(STACKS))
    what = draw(st.sampled_from(["any", "any", "zero", "low rank", "nan", "inf"]))
    return name, draw(views((*stack, m, n), dtype)), what


def prepared(name: str, whole: np.ndarray, what: str) -> np.ndarray:
    """The memory of a view with such values."""
    whole = whole.copy()
    if whole.dtype.kind == "f" or whole.dtype.kind == "c":
        if what in ("nan", "inf") and whole.size:
            whole.flat[whole.size // 2] = float(what)
        if what == "low rank":
            whole[...] = 1
    if what == "zero":
        whole[...] = 0
    return whole


def _hermitian(a: Any) -> Any:
    return a + np.swapaxes(a, -1, -2).conj()


def _positive(a: np.ndarray) -> np.ndarray:
    """Of a random matrix, one that is positive definite; others may not be."""
    n = a.shape[-1]
    return a @ np.swapaxes(a, -1, -2).conj() + (n * np.eye(n)).astype(a.dtype)


def _sizes(a: np.ndarray, n: int = 1) -> Any:
    return (np.abs(a).max(initial=0) + 1) * max(a.shape) * n


def check_inv(a: np.ndarray, got: Any, want: Any) -> None:
    scale = _sizes(a.astype("D")) * _sizes(want)
    near(got @ a, np.eye(a.shape[-1]), want.dtype, scale)


def check_solve(a: np.ndarray, got: Any, want: Any) -> None:
    near(a @ got, a[..., :1], want.dtype, _sizes(a.astype("D")) * _sizes(want))


def check_values(a: np.ndarray, got: Any, want: Any) -> None:
    near(got, want, want.dtype, _sizes(a.astype("D")))


def check_determinant(a: np.ndarray, got: Any, want: Any) -> None:
    n = a.shape[-1]
    near(got, want, want.dtype, n * max(n, 1) ** (n / 2) * float(_sizes(a.astype("D"))) ** n)


def check_pinv(a: np.ndarray, got: Any, want: Any) -> None:
    near(a @ got @ a, a, want.dtype, _sizes(a.astype("D")) ** 2 * _sizes(want))


def check_qr(a: np.ndarray, got: Any, want: Any) -> None:
    q, r = got
    near(q @ r, a, r.dtype, _sizes(a.astype("D")))
    near(np.swapaxes(q, -1, -2).conj() @ q, np.eye(q.shape[-1]), r.dtype, max(a.shape))


def check_svd(a: np.ndarray, got: Any, want: Any) -> None:
    u, s, vh = got
    near((u * s[..., None, :]) @ vh, a, s.dtype, _sizes(a.astype("D")))
    near(s, want[1], s.dtype, _sizes(a.astype("D")))
    near(np.swapaxes(u, -1, -2).conj() @ u, np.eye(u.shape[-1]), s.dtype, max(a.shape))


def check_eigh(a: np.ndarray, got: Any, want: Any) -> None:
    values, vectors = got
    near(a @ vectors, vectors * values[..., None, :], values.dtype, _sizes(a.astype("D")))
    near(values, want[0], values.dtype, _sizes(a.astype("D")))


def check_cholesky(a: np.ndarray, got: Any, want: Any) -> None:
    near(got @ np.swapaxes(got, -1, -2).conj(), a, want.dtype, _sizes(a.astype("D")))


# What makes a function's matrix, the function, and the check of results with finite items.
FUNCTIONS: dict[str, tuple[Any, Any, Any]] = {
    "inv": (None, np.linalg.inv, check_inv),
    "solve": (None, lambda a: np.linalg.solve(a, a[..., :1]), check_solve),
    "det": (None, np.linalg.det, check_determinant),
    "cholesky": (_positive, np.linalg.cholesky, check_cholesky),
    "qr": (None, np.linalg.qr, check_qr),
    "svd": (None, lambda a: np.linalg.svd(a, False), check_svd),
    "svdvals": (None, lambda a: np.linalg.svd(a, compute_uv=False), check_values),
    "eigh": (_hermitian, np.linalg.eigh, check_eigh),
    "eigvalsh": (_hermitian, np.linalg.eigvalsh, check_values),
    "pinv": (None, np.linalg.pinv, check_pinv),
    "lstsq": (None, lambda a: np.linalg.lstsq(a, a[:, :1], rcond=None)[0], check_solve),
}
TALL = ("qr", "svd", "svdvals", "pinv", "lstsq")


def check_factorization(make: Any, case: Any) -> None:
    name, (whole, view), what = case
    prepare, function, check = FUNCTIONS[name]
    memory = prepared(name, whole, what)
    a, x = view(memory), view(make(memory))
    if prepare is not None:
        with np.errstate(all="ignore"):
            a = prepare(a)
        x = make(np.ascontiguousarray(a))
    got, want = outcome(function, x), outcome(function, a)
    finite = bool(np.isfinite(a.astype("D")).all())
    ill = finite and name in ("inv", "solve") and a.size and what != "any"
    if not finite or ill or _uncertain(name, a):
        return  # whether it raises is a matter of rounding: it ended, that is all
    if same_form(got, want) and a.size:
        results = numbers(got)
        if name == "lstsq" and a.shape[0] > np.linalg.matrix_rank(a.astype("d")):
            near(results[0], numbers(want)[0], a.dtype, _sizes(a.astype("D")) ** 2)
            return
        answers = numbers(want)
        one = len(results) == 1
        check(a, results[0] if one else results, answers[0] if one else answers)


def _uncertain(name: str, a: np.ndarray) -> bool:
    """Whether a matrix is so near to a singular one that rounding decides what happens."""
    if name not in ("inv", "solve", "pinv", "lstsq") or not a.size or a.dtype.char == "e":
        return False
    wide = np.linalg.svd(a.astype("D"), compute_uv=False)
    return bool((wide[..., -1] <= 1e-3 * wide[..., 0]).any())


@given(case=matrices())
@settings(quick, max_examples=15)
def test_any_factorization(opencl_maker, case):
    check_factorization(opencl_maker, case)


@pytest.mark.slow
@given(case=matrices())
@long
def test_any_factorization_at_length(make, case):
    check_factorization(make, case)


@pytest.mark.parametrize("function", ["inv", "det", "svd", "eigh", "qr", "cholesky"])
def test_half_precision_is_refused_as_by_numpy(opencl_maker, function):
    x = opencl_maker(np.eye(3, dtype=np.float16))
    with pytest.raises(TypeError, match="float16 is unsupported"):
        getattr(pygpu.linalg, function)(x)


@pytest.mark.parametrize("dtype", ["f", "d", "u1"])
@pytest.mark.parametrize("n", [3, 11, 24])
def test_stacks_whose_blocks_overlap(opencl_maker, n, dtype):
    """On a CPU the last block of a row begins before the end of the one before."""
    a = values((7, n, n), dtype, n)
    got = (opencl_maker(a) @ opencl_maker(a)[::-1]).get()
    size = n * float(np.abs(a).max()) ** 2 if dtype in "fd" else 0
    assert np.abs(got.astype("d") - (a @ a[::-1])).max() <= 2e-6 * size
