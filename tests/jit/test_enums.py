"""Members of an Enum that are known only on the device."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu._src.jit.source import KernelError


class Color(enum.Enum):
    red = 1
    green = "g"
    blue = 3
    rouge = 1  # red


class Other(enum.Enum):
    red = 1


def pick(p, q):
    if q:
        return Color.blue
    return Color.red if p else Color.green


def compare(o, f):
    c = pick(f[0], f[1])
    o[0], o[1], o[2] = c == Color.red, c is Color.green, c != Color.blue
    o[3], o[4], o[5] = c == Other.red, c == 3, c is not Color.rouge
    d = Color.green
    if f[0]:
        d = c
    o[6], o[7] = d is c, d in (Color.red, Color.blue)


@pytest.mark.parametrize("backend", ["opencl", "cuda"])
def test_members_are_compared_as_in_python(
    backend: str, opencl_maker: Any, cuda_context: Any
) -> None:
    k = pygpu.kernel(backend=backend)(compare)
    for bits in range(4):
        f = np.array([bits & 1, bits >> 1], bool)
        found, want = np.zeros((2, 8), bool)
        k[1, 1](found, f)
        compare(want, f)
        assert (found == want).all(), f


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda a: pick(a[0], a[1]) + 1, "a number is needed, not member of Color"),
        (lambda a: pick(a[0], a[1]).value, "has no attribute 'value'"),
        (lambda a: a.fill(pick(a[0], a[1])), "a number is needed, not member of Color"),
        (lambda a: Color.red if a[0] else Other.red, "the two values have different types"),
        (lambda a: pick(a[0], a[1]) < Color.red, "a number is needed|not supported"),
        (lambda a: a[pick(a[0], a[1])], "an index is needed|an index must"),
    ],
)
def test_members_are_not_numbers(function: Any, text: str, opencl_maker: Any) -> None:
    k = pygpu.kernel(backend="opencl")(function)
    with pytest.raises(KernelError, match=text):
        k[1, 1](np.zeros(2, bool))


class Level(enum.IntEnum):
    low = 1
    high = 1000


def test_members_of_int_enums_are_compared_with_known_ones(cuda_context: Any) -> None:
    @pygpu.kernel(backend="cuda")
    def k(o, a):
        o[0], o[1] = a is Level.high, Level.low is not a
        o[2], o[3] = Level.low is Level.low, Level.low is Level.high

    found = np.zeros(4, bool)
    k[1, 1](found, Level.high)
    assert found.tolist() == [True, True, True, False]
    two = pygpu.kernel(backend="cuda")(lambda o, a, b: o.fill(a is b))
    with pytest.raises(KernelError, match="use =="):
        two[1, 1](found, Level.high, Level.high)
