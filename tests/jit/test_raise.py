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


def rows(x, by, out):
    for i in range(x.shape[0]):
        assert x[i] < 50
        if x[i] < 0:
            raise ValueError("negative")
        out[i] = x[i] * by


def test_ufuncs_raise_after_the_other_items(make: Any) -> None:
    """As Numba's on the host: the items that raise become 0, those after them keep their value."""
    roots = pygpu.vectorize("f4(f4)", target=make.name)(root)
    x, out = np.array([4, -1, 9], "f4"), np.full(3, 7, "f4")
    with pytest.raises(ValueError) as caught:
        roots(x, out)
    assert caught.value.args == ("negative", 7)
    assert "thread" in caught.value.__notes__[0]
    assert out.tolist() == [2, 0, 3]
    assert roots(np.array([4, 16], "f4")).tolist() == [2, 4]
    assert roots(np.float32(9)) == 3
    assert roots(make(x[::2])).get().tolist() == [2, 3]
    with pytest.raises(TypeError, match="where"):
        roots(x, where=x > 0)
    with pytest.raises(ValueError, match="negative"):
        pygpu.vectorize(target=make.name)(lambda a: root(a))(-2.0)

    times = pygpu.guvectorize("(i4[:], i4, i4[:])", "(n),()->(n)", target=make.name)(rows)
    a, b = np.array([[1, 2, -3, 4], [5, 6, 7, 8]], "i4"), np.full((2, 4), 9, "i4")
    with pytest.raises(ValueError, match="negative"):
        times(a, 2, b)
    assert b.tolist() == [[2, 4, 9, 9], [10, 12, 14, 16]]
    with pytest.raises(AssertionError, match=r"x\[i\] < 50"):
        times(np.array([60], "i4"), 2)
    assert times(a[1], 2).tolist() == [10, 12, 14, 16]


def test_reductions_do_not_raise(make: Any) -> None:
    def joined(a, b):  # type: ignore[no-untyped-def]
        if a < 0:
            raise ValueError("negative")
        return a + b

    with pytest.raises(KernelError, match="reductions cannot report exceptions"):
        pygpu.vectorize(target=make.name)(joined).reduce(np.arange(3))


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
def test_raising_what_is_not_constant_is_refused(function: Any, message: str) -> None:
    with pytest.raises(KernelError) as caught:
        compile_function(function, [np.float32])
    assert message in str(caught.value)
