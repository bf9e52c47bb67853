"""``raise`` in kernels: the launch raises the exception and names the thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu.pykernel import KernelError, compile_function


def root(x):
    if x < 0:
        raise ValueError("negative", 7)
    return x**0.5


@pygpu.kernel
def roots(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    if x[i] == 99:
        raise ZeroDivisionError
    out[i] = root(x[i])


def test_exceptions_name_the_thread_and_leave_the_function(make: Any) -> None:
    x, out = np.array([4, 1, 99, 9], np.float32), make(np.full(4, 5, np.float32))
    with pytest.raises(ZeroDivisionError) as caught:
        roots[2, 3](make(x), out)
    assert caught.value.args == ()
    assert "kernel roots" in caught.value.__notes__[0]
    assert "block (0, 0, 0), thread (2, 0, 0)" in caught.value.__notes__[0]
    assert out.get().tolist() == [2, 1, 5, 3]  # the other threads go on

    x[2], x[3] = 0, -1
    with pytest.raises(ValueError) as second:
        roots[2, 3](make(x), out)
    assert second.value.args == ("negative", 7)
    assert "block (1, 0, 0), thread (0, 0, 0)" in second.value.__notes__[0]

    x[3] = 16
    roots[2, 3](make(x), out)  # which does not raise what an earlier launch did
    assert out.get().tolist() == [2, 1, 0, 4]


def computed(x):
    raise ValueError(x)


def bare(x):
    raise


def no_class(x):
    raise x


@pytest.mark.parametrize(
    "function, message",
    [
        (computed, "must be constant"),
        (bare, "without an exception"),
        (no_class, "only classes of exceptions"),
    ],
)
def test_refused(function: Any, message: str) -> None:
    with pytest.raises(KernelError) as caught:
        compile_function(function, [np.float32])
    assert message in str(caught.value)
