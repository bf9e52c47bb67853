"""Kernels see what has changed outside of them; names, sizes and copies of kernels."""

from __future__ import annotations

import copy
import functools
import pickle
import sys
import types
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda

X = np.array([-7, -3, 0, 1, 9], np.int64)


class Settings:
    scale = 2


class Point:
    def __init__(self) -> None:
        self.offset = 10


module = types.ModuleType("own_module")
module.power = 3  # type: ignore[attr-defined]
point = Point()


@pygpu.kernel
def attributes(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * Settings.scale * module.power + point.offset


@pygpu.jit
def helper(x):
    return x + 1


def test_attributes(make: Any) -> None:
    """Attributes of classes, modules and objects are looked at by every call."""
    x, out = make(X), make(np.zeros(5, np.int64))
    launch = attributes[1, 32]

    def check() -> None:
        for _ in range(2):
            launch(x, out)
            right = X * Settings.scale * module.power + point.offset
            assert (out.get() == right).all()

    check()
    for owner, name, value in (
        (Settings, "scale", 5),
        (module, "power", -2),
        (point, "offset", 1 << 40),
        (Settings, "scale", np.int32(7)),
    ):
        before = getattr(owner, name)
        setattr(owner, name, value)
        try:
            check()
        finally:
            setattr(owner, name, before)
    check()


def test_lambdas(make: Any) -> None:
    out = make(np.zeros(5, np.int64))
    kernel = pygpu.kernel(lambda x, out: cuda.atomic.add(out, cuda.grid(1), x[cuda.grid(1)]))
    kernel[1, 5](make(X), out)
    assert (out.get() == X).all()


def test_long(make: Any) -> None:
    """Sums of many terms, of which compilers refuse so many brackets, and many lines."""
    terms = 700
    text = (
        "def f(x, out):\n    i = cuda.grid(1)\n    if i < out.size:\n"
        f"        t = x[i]{' + x[i] * 2' * terms}\n"
        f"        out[i] = t if t > 5 else x[i]{' - 1' * 40}\n"
    )
    space: dict[str, Any] = {"cuda": cuda}
    exec(text, space)
    out = make(np.zeros(5, np.int64))
    pygpu.kernel(space["f"], src=text)[1, 32](make(X), out)
    total = X * (1 + 2 * terms)
    assert (out.get() == np.where(total > 5, total, X - 40)).all()


def test_too_deep() -> None:
    for inner in ("-" * 3000 + "x", "abs(" * 400 + "x" + ")" * 400):
        text = f"def f(x):\n    return {inner}\n"
        with pytest.raises((pygpu.KernelError, SyntaxError), match="nested"):  # by Python, or here
            pygpu.pykernel.compile_function(_function(text), [np.float64], src=text)


def _function(text: str) -> Any:
    """Its code is not needed: only the text is."""

    def f(x):
        return x

    return f


def test_copies() -> None:
    """Kernels and device functions are pickled by name, as functions are."""
    for one in (attributes, helper):
        assert pickle.loads(pickle.dumps(one)) is one
        assert copy.deepcopy(one) is one is copy.copy(one)
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(pygpu.kernel(attributes.py_func))


def test_no_functions() -> None:
    for wrong in (functools.partial(helper, 1), Point, print):
        with pytest.raises(pygpu.KernelError, match=r"cuda\.jit: a Python function is needed"):
            cuda.jit(wrong)


module_value = 4567.5


class Factor:
    factor = 1.0


def test_items_and_attributes_that_are_assigned_anew(make: Any) -> None:
    """Lists, dictionaries and objects that a function names, whose items or attributes change."""
    numbers, named, settings = [1.0, 2.0], {"a": [1.0]}, Factor()

    @pygpu.vectorize(target=make.name)
    def f(x: Any) -> Any:
        return x + numbers[-2] + named["a"][0] + settings.factor

    @pygpu.kernel
    def k(out: Any) -> None:
        out[0] = numbers[0] + settings.factor

    x, out = make(np.zeros(2)), make(np.zeros(1))

    def both() -> Any:
        k[1, 1](out)
        return f(x).get().tolist(), out.get().tolist()

    for _ in range(2):
        assert both() == ([3, 3], [2])
    numbers[0] = 5.0
    assert both() == ([7, 7], [6])
    named["a"][0] = 2.0
    assert both() == ([8, 8], [6])
    named["a"] = [4.0]
    settings.factor = 3.0
    assert both() == ([12, 12], [8])
    del numbers[0]
    with pytest.raises(pygpu.KernelError, match="list index out of range"):
        f(x)


def test_launches_leave_the_references_to_what_they_name_alone(make: Any) -> None:
    """Repeated launches compare what a kernel names with the values it was compiled for."""
    captured, items, settings = 1234.5, [2345.5], Factor()
    settings.factor = 3456.5

    @pygpu.vectorize(target=make.name)
    def f(x: Any) -> Any:
        return x + captured + items[0] + settings.factor + module_value

    @pygpu.kernel
    def k(out: Any) -> None:
        out[0] = captured + items[0] + settings.factor + module_value

    x, out = make(np.zeros(2)), make(np.zeros(1))

    def references() -> list[int]:
        values = (captured, items[0], settings.factor, module_value)
        return [sys.getrefcount(value) for value in values]

    for _ in range(3):
        f(x)
        k[1, 1](out)
    before = references()
    for _ in range(20):
        f(x)
        k[1, 1](out)
    assert references() == before
    assert out.get()[0] == captured + items[0] + settings.factor + module_value
