"""Whole functions as programs: reductions in the middle, views, assignments, products, and what
they are called with, against the plain function and NumPy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pygpu
from pygpu import xp
from pygpu.fusion import Untraceable

pytestmark = pytest.mark.sampled(3)

RNG = np.random.default_rng(7)
X = RNG.normal(size=(6, 35)).astype(np.float32)
V = RNG.normal(size=35).astype(np.float32)


def on_host(result: Any) -> list[Any]:
    items = result if isinstance(result, (tuple, list)) else [result]
    return [x.get() if hasattr(x, "backend") else np.asarray(x) for x in items]


def agree(make: Any, function: Callable[..., Any], *hosts: Any, calls: int = 3) -> Any:
    """The fused function gives what NumPy gives, and leaves in its arguments what NumPy leaves."""
    fused = pygpu.fuse(function)
    before = [h.copy() if isinstance(h, np.ndarray) else h for h in hosts]
    wanted = [np.asarray(w) for w in on_host(function(*before))]
    arrays: tuple[Any, ...] = ()
    for _ in range(calls):
        arrays = tuple(make(h.copy()) if isinstance(h, np.ndarray) else h for h in hosts)
        got = on_host(fused(*arrays))
        assert len(got) == len(wanted)
        for a, b in zip(got, wanted, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            assert np.allclose(a, b, rtol=1e-4, atol=1e-4, equal_nan=True)
        for array, host in zip(arrays, before, strict=True):
            if isinstance(host, np.ndarray):
                assert np.allclose(array.get(), host, rtol=1e-4, atol=1e-4)
    return fused, arrays


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def softmax_by_new_axis(x):
    e = np.exp(x - np.max(x, axis=-1)[:, None])
    return e / np.expand_dims(e.sum(-1), -1)


def layer_norm(x, scale):
    centered = x - x.mean(axis=-1, keepdims=True)
    variance = (centered**2).mean(axis=-1, keepdims=True)
    return centered / np.sqrt(variance + 1e-5) * scale


def standardize(x):
    return (x - x.mean()) / x.std()


def several(x):
    return x.sum(), (x * x).sum(1), x.max(0), x.argmin(1), (x > 0).any()


def product(x):
    return (x @ x.T) * 2, np.matmul(x, x.T).sum(1)


def sorted_and_summed(x):
    return np.sort(x + 1, axis=1) * 2, np.cumsum(x * 2, axis=1)[:, -1]


def of_shape(x):
    return x / x.size + x.shape[0] + len(x) + x.ndim, x.reshape(-1)[::2], x.T + 1


def constants(x):
    return x + np.zeros_like(x), np.ones_like(x) * 3, np.full_like(x, 2.5)[1:] + x[1:]


def n_body(x):
    p = x[:, :3]
    d = p[None, :, :] - p[:, None, :]
    r = (d * d).sum(-1) + np.float32(0.01)
    return (d / (r * np.sqrt(r))[..., None]).sum(1)


def taken(x):
    order = np.argsort(x[0])
    return np.take(x, order, axis=1) * 2, x[:, order], np.concatenate([x, x + 1])


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize(
    "function",
    [
        softmax,
        softmax_by_new_axis,
        standardize,
        several,
        product,
        sorted_and_summed,
        of_shape,
        constants,
        n_body,
        taken,
    ],
)
def test_functions(make, function):
    agree(make, function, X)
    if function is not product:
        agree(make, function, np.asfortranarray(X), calls=2)


def test_layer_norm(make):
    agree(make, layer_norm, X, V)
    agree(make, layer_norm, X.astype(np.float64), V.astype(np.float64))


@pytest.mark.parametrize(("function", "most"), [(softmax, 1), (softmax_by_new_axis, 1)])
def test_rows_are_one_launch(make, function, most):
    fused, arrays = agree(make, function, X)
    launches, copies = make.calls(lambda: fused(*arrays))
    assert (launches, copies) == (most, [])


def test_a_prologue_and_an_epilogue_need_no_separate_launches(make):
    fused, arrays = agree(make, layer_norm, X, V)
    assert make.calls(lambda: fused(*arrays)) == (1, [])
    fused, arrays = agree(make, standardize, X)
    assert make.calls(lambda: fused(*arrays))[0] <= 5  # a mean and a deviation are two at most


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (300, 2), (5, 3000), (2, 3, 40), (4,)])
def test_rows_of_any_length(make, shape):
    x = np.random.default_rng(8).normal(size=shape).astype(np.float32)

    def rows(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True), x.mean(-1) * 2, x.argmax(-1)

    agree(make, rows, x)


def test_rows_of_other_dtypes(make):
    for dtype in (np.float16, np.float64, np.int32):
        x = (np.random.default_rng(9).normal(size=(4, 30)) * 4).astype(dtype)
        fused = pygpu.fuse(lambda x: (x - x.max(1, keepdims=True)) * x.sum(1, keepdims=True))
        wanted = fused.plain(x)
        for _ in range(2):
            got = fused(make(x))
            assert got.dtype == wanted.dtype
            assert np.allclose(got.get(), wanted, rtol=1e-2, atol=0.3)


# ---- assignments


def heat(u):
    u[1:-1, 1:-1] += np.float32(0.2) * (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    )


def scaled(u):
    old = u * 2
    view = u[1:]
    u *= 3
    view[0] = 7
    return old, view + 1, u.T


def shifted(u):
    u[1:] = u[:-1]
    u[:, 0] = 5
    return u.sum()


def filled(u):
    out = np.zeros_like(u)
    out[1:-1] = u[2:]
    out[0] += 1
    twice = out * 2
    out[:] = 4
    return out, twice


def same_twice(u):
    a, b = u * 2, u * 2
    a[0] = 0
    b += 1
    return a, b


def of_a_view(u):
    copy = u.copy()
    u.T[0] = copy[:, 1]
    copy[u > 0] = 1
    return copy


def by_value(u):
    value = u * 2 + 1
    u[:] = value
    u += 1
    return value


def through_ufuncs(u):
    np.add(u, 1, out=u)
    np.copyto(u[0], u[1])
    u.sort(axis=0)
    return u - 1


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize(
    "function",
    [heat, scaled, shifted, filled, same_twice, of_a_view, by_value, through_ufuncs],
)
def test_assignments(make, function):
    def returning(u):
        result = function(u)
        return u.sum() if result is None else result

    agree(make, returning, X)


def test_a_function_without_a_result(make):
    u = make(X.copy())
    assert pygpu.fuse(heat)(u) is None
    wanted = X.copy()
    heat(wanted)
    assert np.allclose(u.get(), wanted, rtol=1e-5, atol=1e-5)


def test_heat_is_two_launches(make):
    fused, arrays = pygpu.fuse(heat), (make(X.copy()),)
    for _ in range(3):
        fused(*arrays)
    assert make.calls(lambda: fused(*arrays))[0] == 2


def test_aliased_arguments(make):
    def add(x, y):
        x[1:] += y[:-1]
        return x * 2

    host = X.copy()
    wanted = add(host, host)
    fused = pygpu.fuse(add)
    for _ in range(2):
        x = make(X.copy())
        assert np.allclose(fused(x, x).get(), wanted, rtol=1e-5)
        assert np.allclose(x.get(), host, rtol=1e-5)
    x, y = make(X.copy()), make(X.copy())  # and afterwards apart
    apart = X.copy()
    assert np.allclose(fused(x, y).get(), add(apart, X), rtol=1e-5)
    assert np.allclose(y.get(), X)
    whole = make(np.arange(8, dtype=np.float32))
    wanted = np.arange(8, dtype=np.float32)
    add(wanted[:6], wanted[2:])
    fused(whole[:6], whole[2:])
    assert np.allclose(whole.get(), wanted)


def test_an_exception_midway_leaves_what_plain_code_leaves(make):
    def fails(x):
        x += 1
        raise KeyError("midway")

    x = make(X.copy())
    with pytest.raises(KeyError):
        pygpu.fuse(fails)(x)
    assert np.allclose(x.get(), X + 1)


def test_what_cannot_be_traced_changes_nothing(make):
    def branches(x):
        x += 1
        return x if x.sum() > 0 else -x

    x = make(X.copy())
    with pytest.raises(Untraceable, match="true"):
        pygpu.fuse(branches)(x)
    assert np.array_equal(x.get(), X)


def test_wrong_shapes_and_types(make):
    x = make(X)
    with pytest.raises(ValueError, match="broadcast"):
        pygpu.fuse(lambda x: x + x[:3])(x)

    def into(x):
        x[0] = x[:, 0]

    with pytest.raises(ValueError, match="broadcast"):
        pygpu.fuse(into)(x)

    def integers(x):
        x += 0.5

    with pytest.raises(TypeError, match="cast"):
        pygpu.fuse(integers)(make(np.arange(4)))
    with pytest.raises(IndexError):
        pygpu.fuse(lambda x: x[9] + 1)(x)
    with pytest.raises(np.exceptions.AxisError):
        pygpu.fuse(lambda x: x.sum(5) + 1)(x)


# ---- arguments


def test_other_layouts_and_dtypes_between_calls(make):
    fused = pygpu.fuse(softmax)
    for host in (X, X[:, ::2], X[::-1], X.T, X[:2, :1], X.astype(np.float64), X):
        base = make(np.ascontiguousarray(host))
        assert np.allclose(fused(base).get(), softmax(host), rtol=1e-4, atol=1e-6)
    strided = make(X)
    for view, host in ((strided[:, 1::2], X[:, 1::2]), (strided.T, X.T), (strided[::-1], X[::-1])):
        assert np.allclose(fused(view).get(), softmax(host), rtol=1e-4, atol=1e-6)


def test_empty_and_0d(make):
    agree(make, lambda x: (x * 2).sum(0) + 1, X[:0])
    agree(make, lambda x: x[1:] * 2, X[:, :0])
    agree(make, lambda x: (x.sum() + 1, x[None] * 2), np.float32(3) * np.ones((), np.float32))
    with pytest.raises(ValueError, match="zero-size"):
        pygpu.fuse(lambda x: x.max() + 1)(make(X[:0]))


def test_results_that_are_arguments_or_views(make):
    fused = pygpu.fuse(lambda x: (x, x[1:], x.T, x))
    for _ in range(2):
        x = make(X)
        same, view, turned, again = fused(x)
        assert same is x is again
        assert view.base_data is x.base_data is turned.base_data
        assert np.array_equal(view.get(), X[1:]) and np.array_equal(turned.get(), X.T)


def test_a_global_that_is_rebound(make):
    global RATE
    fused = pygpu.fuse(lambda x: (x - x.mean(1, keepdims=True)) * RATE)
    x = make(X)
    try:
        for RATE in (2.0, 3.0):  # noqa: B007
            assert np.allclose(fused(x).get(), fused.plain(X), atol=1e-5)
    finally:
        RATE = 2.0


RATE = 2.0


def test_numbers_change_between_calls(make):
    def temperature(x, t, n):
        e = np.exp((x - x.max(1, keepdims=True)) / t)
        return e / e.sum(1, keepdims=True) + n

    fused = pygpu.fuse(temperature)
    x = make(X)
    for t, n in ((1.0, 0), (0.5, 3), (2.0, -1), (np.float32(4), 2)):
        assert np.allclose(fused(x, t, n).get(), temperature(X, t, n), rtol=1e-4, atol=1e-5)


def test_threads_call_one_function(make, request):
    context = request.getfixturevalue("cuda_context") if make.name == "cuda" else None
    fused = pygpu.fuse(softmax)
    rng = np.random.default_rng(10)
    hosts = [rng.normal(size=(n, 20)).astype(np.float32) for n in (3, 4, 5, 6)]
    wrong: list[Any] = []

    def work(host: Any) -> None:
        try:
            if context is not None:  # each thread has its own stack of contexts
                context.push()
            x = make(host)
            for _ in range(10):
                assert np.allclose(fused(x).get(), softmax(host), rtol=1e-4, atol=1e-6)
            del x
            if context is not None:
                context.pop()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(h,)) for h in hosts]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("make", ["cuda"], indirect=True)
def test_arrays_of_two_devices(make, opencl_maker):
    fused = pygpu.fuse(lambda a, b: a.sum() + b)
    with pytest.raises(ValueError, match="different devices"):
        fused(make(X), opencl_maker(X))


@pytest.mark.sampled(opencl=0)
def test_names_of_pygpu_xp(on):
    def function(x):
        e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
        weights = xp.arange(35, dtype=xp.float32) + xp.zeros((35,), dtype=xp.float32)
        return (
            e / xp.sum(e, axis=1, keepdims=True),
            xp.where(x > 0, xp.floor(x), x) * weights,
            xp.cumulative_sum(x, axis=1),
            xp.matmul(x, xp.permute_dims(x, (1, 0))),
            xp.astype(xp.argmax(x, axis=1), xp.int32) + 1,
            xp.std(x, axis=0, correction=1),
            xp.concat([x, x + 1], axis=0),
        )

    x = on(X)
    fused = pygpu.fuse(function)
    for _ in range(2):
        for a, b in zip(fused(x), function(x), strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            assert np.allclose(a.get(), b.get(), rtol=1e-4, atol=1e-4)


def test_xp_outside_of_functions_is_not_changed(on):
    x = on(X)
    assert np.allclose(xp.exp(x).get(), np.exp(X), rtol=1e-5)
    with pytest.raises(TypeError, match="array on a device"):
        xp.exp(3)


# ---- random functions

UNARY: list[Callable[[Any], Any]] = [
    lambda x: -x,
    lambda x: np.abs(x) + 1,
    lambda x: np.tanh(x),
    lambda x: x[::-1],
    lambda x: x[..., ::-1],
    lambda x: x[:, :1] + x,
    lambda x: x - x.max(axis=1, keepdims=True),
    lambda x: x + x.mean(axis=0),
    lambda x: x / (np.abs(x).sum() + 1),
    lambda x: np.cumsum(x, axis=1),
    lambda x: np.sort(x, axis=0),
    lambda x: x.astype(np.float64).astype(np.float32),
    lambda x: np.where(x > 0, x, x.min()),
    lambda x: x.T.copy().T,
    lambda x: x.mean(1)[:, None] * x,
]


@st.composite
def programs(draw: Any) -> Any:
    """Statements over variables 0 to 2: the first two are arguments."""
    count = draw(st.integers(1, 8))
    one = st.tuples(
        st.sampled_from(["unary", "binary", "inplace", "set", "view", "row"]),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(0, len(UNARY) - 1),
    )
    return draw(st.lists(one, min_size=count, max_size=count))


def run(statements: Any, a: Any, b: Any) -> Any:
    v = [a, b, a + b]
    for kind, i, j, k in statements:
        if kind == "unary":
            v[i] = UNARY[k](v[j])
        elif kind == "binary":
            v[i] = v[i] * 0.5 + v[j]
        elif kind == "inplace":
            v[i] += v[j] * 0.25
        elif kind == "set":
            v[i][1:] = v[j][:-1] * 0.5
        elif kind == "view":
            v[i][:, k % 3 :] = v[j][:, : v[j].shape[1] - k % 3]
        else:
            v[i][k % 3] = v[j].sum(0)
    return v[0] + 0, v[1] * 1, v[2] + 1, v[0].sum()


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(programs())
def test_random_functions(make, statements):
    x, y = X[:4, :6].copy(), X[2:6, 6:12].copy()

    def function(a, b):
        return run(statements, a, b)

    hosts = x.copy(), y.copy()
    with np.errstate(all="ignore"):
        wanted = function(*hosts)
    if not all(np.all(np.abs(w) < 1e6) for w in wanted):
        return
    fused = pygpu.fuse(function)
    for _ in range(2):
        a, b = make(x), make(y)
        got = fused(a, b)
        for g, w in zip((*got, a, b), (*wanted, *hosts), strict=True):
            assert np.allclose(g.get(), w, rtol=1e-3, atol=1e-3)
