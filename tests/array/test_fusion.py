"""Fused functions give what the plain ones give, by one launch; what cannot be traced says so."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu.fusion import Fused, Untraceable

A = (np.arange(60, dtype=np.float32).reshape(5, 12) - 20) / 7
B = np.linspace(-2, 3, 12, dtype=np.float32)
FACTOR = 2.5


def same(fused: Any, *args: Any) -> Any:
    """The fused function's results, which must be the plain one's bits."""
    got, wanted = fused(*args), fused.plain(*args)
    for x, y in zip(*((r if isinstance(r, tuple) else (r,)) for r in (got, wanted)), strict=True):
        if not hasattr(y, "backend"):
            assert type(x) is type(y) and x == y
            continue
        assert (x.dtype, x.shape, type(x)) == (y.dtype, y.shape, type(y))
        assert x.get().tobytes() == y.get().tobytes()
    return got


@pygpu.fuse
def mixed(a, b, s, n):
    """Everything that is not a reduction."""
    c = np.where(a < b, a * s - 1, abs(b) // 2 + n)
    d = np.clip(c, -1, 2).astype(np.float64) / 3 + np.maximum(a, 0.5) ** 2
    return d - np.sqrt(b * b) + (a > 0) * np.exp(-n) + FACTOR


@pytest.mark.sampled(opencl=0)
def test_the_bits_of_the_plain_function(make):
    a, b = make(A), make(B)
    same(mixed, a, b, 1.5, 2)
    program = mixed._find((a, b, 1.5, 2))
    same(mixed, a, b, -0.25, 7)  # the numbers change, the kernel does not
    assert mixed._find((a, b, -0.25, 7)) is program is not None
    same(mixed, a[:, ::-2], b[::2], 1.5, 2)
    same(mixed, a.T, make(A.T.astype("f8")), 1.5, 2)
    same(mixed, make(A.astype(np.int16)), make(B.astype(np.int32)), 2, 3)
    same(mixed, make(A.astype(np.float16)), make(B.astype(np.float16)), 1.3, 2)
    same(mixed, make(A[:0]), b, 1.5, 2)
    same(mixed, make(A[0, 0]), make(B[:1]), np.float32(1.5), 2)


@pytest.mark.usefixtures("unfused")
def test_one_launch(make):
    a, b = make(A), make(B)
    for _ in range(2):
        mixed(a, b, 1.5, 2)
    assert make.calls(lambda: mixed(a, b, 0.5, 3)) == (1, [])
    total = pygpu.fuse(lambda a, b: ((a - b) ** 2).sum(1))
    big = make(np.ones((3, 100000), np.float32))
    half = make(np.float32(0.5))
    for _ in range(2):
        total(big, half)
    launches, copies = make.calls(lambda: total(big, half))
    assert 1 <= launches <= 2 and not copies


def test_reductions(make):
    a, b, i = make(A), make(B), make((A * 5).astype(np.int8))
    for function in (
        lambda a, b, i: (a * b - 1).sum(),
        lambda a, b, i: np.sum(a * b, axis=0, keepdims=True),
        lambda a, b, i: (i * 3).sum(axis=(0, 1)),
        lambda a, b, i: np.abs(a - b).max(1),
        lambda a, b, i: (a > b).any(-1),
        lambda a, b, i: (a + i).argmin(1),
        lambda a, b, i: (a * 2).mean(0, dtype=np.float64),
        lambda a, b, i: np.var(a / 3, ddof=1),
        lambda a, b, i: np.add.reduce(a + i),
    ):
        got, wanted = pygpu.fuse(function)(a, b, i), function(a, b, i)
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        assert np.allclose(got.get(), wanted.get(), rtol=1e-6)
        host = function(A, B, (A * 5).astype(np.int8))
        assert np.allclose(got.get(), host, rtol=1e-5)
    scaled = pygpu.fuse(lambda a, s: (a * s).sum(1))
    for s in (2.0, 0.5, 3, np.float64(2)):
        assert np.allclose(scaled(a, s).get(), (A * s).sum(1), rtol=1e-5, atol=1e-4)
    rows = make(np.zeros((3, 0), np.float32))
    assert (scaled(rows, 2.0).get() == 0).all() and scaled(rows, 2.0).shape == (3,)
    assert np.allclose(scaled(make(A.T), 2.0).get(), (A.T * 2).sum(1), rtol=1e-5, atol=1e-4)
    with pytest.raises(np.exceptions.AxisError):
        pygpu.fuse(lambda a: a.sum(2) if True else a)(a)


@pytest.mark.usefixtures("unfused")
def test_several_results(make):
    a, b = make(A), make(B)
    both = pygpu.fuse(lambda a, b, s: (a + b, a * b, b * s, s + 1, "text"))
    same(both, a, b, 2.0)
    sum_, x, y, number, word = both(a, b, 3)
    assert x.shape == (5, 12) and y.shape == (12,) and number == 4 and word == "text"
    assert make.calls(lambda: both(a, b, 3))[0] == 2  # one for each shape


def test_what_changes_is_seen(make):
    """Globals and closures that are rebound, other types, numbers that become others' types."""
    global FACTOR
    a = make(B)
    step = 1.0
    function = pygpu.fuse(lambda a: a * FACTOR + step)
    assert np.allclose(function(a).get(), B * 2.5 + 1)
    try:
        FACTOR = 4
        assert np.allclose(function(a).get(), B * 4 + 1)
        step = -1
        assert np.allclose(function(a).get(), B * 4 - 1)
    finally:
        FACTOR = 2.5
    power = pygpu.fuse(lambda a, n: a + 2**n)
    for n in (3, -2, 3):
        assert np.allclose(power(a, n).get(), B + 2.0**n)
    small = make(np.arange(4, dtype=np.int8))
    assert (pygpu.fuse(lambda a, n: a < n)(small, 3).get() == [1, 1, 1, 0]).all()
    assert pygpu.fuse(lambda a, n: a < n)(small, 300).get().all()
    with pytest.raises(OverflowError):
        pygpu.fuse(lambda a, n: a + n)(small, 300)


def test_methods_and_what_is_shown(make):
    class Spring:
        def __init__(self, k):
            self.k = k

        @pygpu.fuse
        def force(self, x):
            return -self.k * x

    x = make(np.arange(3, dtype=np.float32))
    soft, stiff = Spring(1), Spring(10)
    for _ in range(2):
        assert (soft.force(x).get() == [0, -1, -2]).all()
        assert (stiff.force(x).get() == [0, -10, -20]).all()
    assert repr(Spring.force).endswith("Spring.force(self, x)>")


def test_static_arguments_and_keywords(make):
    @pygpu.fuse(static=("power", "flip"))
    def f(a, power, flip=False, scale=1.0):
        result = a
        for _ in range(power - 1):
            result = result * a
        return -result * scale if flip else result * scale

    a = make(B)
    assert np.allclose(f(a, 3).get(), B**3, rtol=1e-5)
    assert np.allclose(f(a, power=2, flip=True, scale=2).get(), -(B**2) * 2, rtol=1e-5)
    assert f.__name__ == "f" and isinstance(f, Fused)
    assert pygpu.fuse(lambda s: s + 1)(2) == 3  # no array: the function itself
    with pytest.raises(TypeError):
        f(a)
    with pytest.raises(ValueError, match="no argument"):
        pygpu.fuse(lambda a: a, static="b")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, s: a if (a > 0) else -a, "whether a value is true"),
        (lambda a, s: a * 2 if s > 1 else a, "static"),
        (lambda a, s: a[:s] + 1, "static"),
        (lambda a, s: np.repeat(a, s), "static"),
        (lambda a, s: a[a > 0], "shape"),
        (lambda a, s: np.nonzero(a), "shape"),
        (lambda a, s: np.unique(a), "shape"),
        (lambda a, s: a + a.get(), r"\.get"),
        (lambda a, s: a.item(), r"\.item"),
        (lambda a, s: np.asarray(a) + 1, "NumPy array"),
        (lambda a, s: float(a) + 1, "number"),
        (lambda a, s: a + "b", "operand"),
        (lambda a, s: {1}, "returns"),
        (lambda a, s: iter((a, s)), "returns"),
    ],
)
def test_what_cannot_be_traced(opencl_maker, function, message):
    a = opencl_maker(B)
    with pytest.raises(Untraceable, match=message):
        pygpu.fuse(function)(a, 2)


def test_arrays_that_are_not_arguments(opencl_maker):
    a, other = opencl_maker(B), opencl_maker(B)
    with pytest.raises(Untraceable, match="argument"):
        pygpu.fuse(lambda a: a + other)(a)
    with pytest.raises(TypeError, match="copy it to the device"):
        pygpu.fuse(lambda a, b: a + b)(a, B)
    with pytest.raises(ValueError, match="broadcast"):
        pygpu.fuse(lambda a, b: a + b)(a, opencl_maker(B[:5]))


@pygpu.fuse
def _of_the_module(x):
    return x + 1


def test_copies_and_pickles_as_a_function():
    assert pickle.loads(pickle.dumps(_of_the_module)) is _of_the_module
    assert copy.copy(_of_the_module) is copy.deepcopy(_of_the_module) is _of_the_module
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(pygpu.fuse(lambda x: x))
