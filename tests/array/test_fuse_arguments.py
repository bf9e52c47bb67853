"""Fused functions called by name, with defaults, and with containers of arrays."""

from __future__ import annotations

import dataclasses
import sys
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu.fusion import Untraceable

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
Y = X[::-1] + 3
Layer = namedtuple("Layer", "w b")
SCALE = 2.0


@dataclasses.dataclass
class State:
    layer: Layer
    t: float
    name: str = "s"


@dataclasses.dataclass(frozen=True)
class Settings:
    rate: float = 0.5
    shape: tuple[int, ...] = (6, 4)


def same(got: Any, wanted: Any) -> None:
    """The same containers, with arrays of the same items."""
    assert type(got) is type(wanted)
    if dataclasses.is_dataclass(wanted):
        got, wanted = vars(got), vars(wanted)
    if isinstance(wanted, dict):
        assert list(got) == list(wanted)
        got, wanted = list(got.values()), list(wanted.values())
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            same(one, other)
    elif hasattr(wanted, "backend"):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got.get(), wanted.get(), rtol=1e-6)
    else:
        assert got == wanted


def test_names_and_defaults(opencl_maker):
    traced = []

    @pygpu.fuse
    def f(x, *, eps=0.25, mode=None, center=True):
        traced.append(mode)
        y = x - 0.5 if center else x
        return y + eps if mode is None else y * 2 if mode == "two" else y

    x = opencl_maker(X)
    for _ in range(2):
        for options in ({}, {"eps": 1.0}, {"eps": 2.0}, {"mode": "".join(("t", "wo"))},
                        {"center": False, "mode": "x"}, {"mode": "x"}):  # fmt: skip
            same(f(x, **options), f.plain(x, **options))
    assert len(traced) - 12 == 5  # eps is one variant, whatever its value
    same(f(x=x), f.plain(x))


def test_calls_by_position_run_no_python(make):
    @pygpu.fuse
    def f(x, y, *, eps=0.25):
        return x * y + eps

    x, y = make(X), make(Y)
    f(x, y)
    frames = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, arg: event == "call" and frames.append(frame.f_code))
    f(x, y)
    sys.setprofile(before)
    assert [c for c in frames if "fusion" in c.co_filename] == []


def test_containers(make):
    runs = []

    @pygpu.fuse
    def step(state, grads, settings=Settings(), *more, **named):
        runs.append(1)
        layer = Layer(*(p - settings.rate * g for p, g in zip(state.layer, grads["g"])))
        total = sum(m * SCALE for m in more) if more else None
        views = {k: v.reshape(settings.shape) for k, v in named.items()}
        return State(layer, state.t + 1, state.name), [total, views], "done"

    x, y = make(X), make(Y)
    calls = [
        (Settings(0.5), (), {}),
        (Settings(0.5), (), {}),
        (Settings(0.25, (3, 8)), (x, y), {"b": y, "a": x}),
        (Settings(0.25, (3, 8)), (x, y), {"b": y, "a": x}),
    ]
    for i, (settings, more, named) in enumerate(calls):
        args = State(Layer(x, y), float(i)), {"g": [y, x]}, settings, *more
        same(step(*args, **named), step.plain(*args, **named))
    assert len(runs) - len(calls) == 2


def test_globals_of_inner_functions_are_watched(opencl_maker, monkeypatch):
    f = pygpu.fuse(lambda *xs: sum(x * SCALE for x in xs))
    x = opencl_maker(X)
    assert np.allclose(f(x, x).get(), X * 4)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert np.allclose(f(x, x).get(), X * 6)


def test_a_dataclass_with_a_fused_method(opencl_maker):
    @dataclasses.dataclass
    class Line:
        slope: Any
        offset: float

        def __post_init__(self):
            self.factor = 2  # no field

        @pygpu.fuse
        def __call__(self, x):
            return (self.slope * x + self.offset) * self.factor

    line, x = Line(opencl_maker(X), 1.0), opencl_maker(Y)
    for factor, offset in ((2, 1.0), (3, 2.0)):
        line.factor, line.offset = factor, offset
        assert np.allclose(line(x).get(), (X * Y + offset) * factor)


def test_items_are_written_in_arrays_and_not_in_containers(make):
    @pygpu.fuse
    def inside(arrays):
        arrays[0] += 1
        arrays[1][0] = 7

    for _ in range(2):
        x, y = make(X), make(Y)
        inside([x, y])
        assert np.array_equal(x.get(), X + 1) and (y.get()[0] == 7).all()

    @pygpu.fuse
    def outside(state):
        state.t = state.t + 1
        return state.layer.w * 2

    with pytest.raises(Untraceable, match="items of an argument of type State"):
        outside(State(Layer(make(X), make(Y)), 0.0))


def test_values_that_look_equal(opencl_maker):
    sign = pygpu.fuse(lambda x, z: x * 0 + np.copysign(1, z), static="z")
    x = opencl_maker(np.ones(3, np.float32))
    assert [float(sign(x, z).get()[0]) for z in (0.0, -0.0, 0, True)] == [1, -1, 1, 1]
    shaped = pygpu.fuse(lambda x, shape: x.reshape(shape), static="shape")
    shape = [4, 6]
    assert shaped(opencl_maker(X), shape).shape == (4, 6)
    shape[:] = [6, 4]
    assert shaped(opencl_maker(X), shape).shape == (6, 4)
    assert pygpu.fuse(lambda x, shape: x.reshape(shape))(opencl_maker(X), (8, 3)).shape == (8, 3)
    with pytest.raises(TypeError, match="type set is not an array or a number"):
        pygpu.fuse(lambda x, s: x * 2)(x, {1})


def test_more_arrays_than_c_compares(opencl_maker):
    double = pygpu.fuse(lambda arrays: [a * 2 for a in arrays[-3:]])
    host = np.ones(3, np.float32)
    for _ in range(2):
        arrays = [opencl_maker(host * i) for i in range(70)]
        assert [float(a.get()[0]) for a in double(arrays)] == [134, 136, 138]
