"""Functions and lambdas that are defined in a kernel, and small parts of the language of numba."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu.pykernel import KernelError, compile_function

RECORD = np.dtype([("a", "i4"), ("b", "f4")])


class Color(enum.Enum):
    RED = "r"
    BLUE = 2


def test_functions_in_a_kernel_see_its_variables(make: Any) -> None:
    @pygpu.kernel
    def outer(o, x):
        scale = x * 2
        hidden = 5

        def shifted(y, by=3):
            hidden = y + by  # another variable than the kernel's
            return hidden + scale

        def write(i, value):
            o[i] = value

        square = lambda y: y * y  # noqa: E731
        write(0, shifted(1))
        scale = x * 4  # looked up when it is called
        write(1, shifted(1, by=square(2)))
        write(2, hidden)

    out = make(np.zeros(3, np.float32))
    outer[1, 1](out, np.float32(1.5))
    assert out.get().tolist() == [7, 11, 5]


def passed_with_a_variable(x):
    def add(y):
        return x + y

    def apply(f):
        return f(1)

    return apply(add)


def with_a_computed_default(x):
    def add(y, z=x):
        return y + z

    return add(1)


@pytest.mark.parametrize(
    "function, message",
    [
        (passed_with_a_variable, "add uses variables of the function that it is defined in (x)"),
        (with_a_computed_default, "must be constant"),
    ],
)
def test_captured_variables_and_computed_defaults_are_refused(function: Any, message: str) -> None:
    with pytest.raises(KernelError) as caught:
        compile_function(function, [np.float32])
    assert message in str(caught.value)


def test_limits_classes_bits_and_identity(make: Any) -> None:
    @pygpu.kernel
    def parts(o, x, n, r, other):
        color = Color.RED
        o[0] = np.finfo(np.float32).eps
        o[1] = np.iinfo(np.int16).max + np.iinfo(n).bits
        o[2] = isinstance(x, np.float32) and isinstance(3, (int, float))
        o[3] = isinstance((1, 2), list) or isinstance(n, np.floating)
        o[4] = n.bit_count() + (7).bit_count()
        o[5] = color is Color.RED and color is not Color.BLUE
        o[6] = o is o and o is not other
        o[7] = r[0][1]
        r[0][0] = 9
        o[8] = r[0].a

    out = make(np.zeros(9, np.float32))
    arguments = np.float32(2), np.int32(-5), make(np.array([(1, 2.5)], RECORD))
    parts[1, 1](out, *arguments, make(np.zeros(9, np.float32)))
    eps = np.finfo(np.float32).eps
    assert out.get().tolist() == [eps, 32767 + 32, 1, 0, 2 + 3, 1, 1, 2.5, 9]


def test_fma_of_literals(make: Any) -> None:
    @pygpu.kernel
    def product(o):
        o[0] = cuda.fma(2, 3, 4.5)

    out = make(np.zeros(1))
    product[1, 1](out)
    assert out.get()[0] == 10.5
