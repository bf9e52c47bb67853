"""Functions of kernels that call themselves, on CUDA; OpenCL has no recursion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pygpu import cuda, kernel
from pygpu.pykernel import KernelError

pytestmark = pytest.mark.usefixtures("cuda_context")


@cuda.jit(device=True)
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@cuda.jit(device=True)
def gcd(a, b):
    if b:
        return gcd(b, a % b)  # before its type is known
    return a


@cuda.jit(device=True)
def is_even(n):
    return is_odd(n - 1) if n else True


@cuda.jit(device=True)
def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@cuda.jit(device=True)
def first(n):
    return second(n - 1)


@cuda.jit(device=True)
def second(n):
    if n < 0:
        return n - 0.5
    return first(n - 2)


@cuda.jit(device=True)
def sort(a, low, high):
    if low >= high:
        return
    split = low
    for j in range(low, high):
        if a[j] < a[high]:
            a[j], a[split] = a[split], a[j]
            split += 1
    a[high], a[split] = a[split], a[high]
    sort(a, low, split - 1)
    sort(a, split + 1, high)


@cuda.jit(device=True)
def halves(n):
    if n <= 0:
        return 0, 1.0
    count, rest = halves(n - 1)
    return count + n, rest / 2


@cuda.jit(device=True)
def widens(n):
    if n > 3:
        return 1
    return widens(n + 0.5) + 0.25


def test_recursive_functions() -> None:
    @cuda.jit
    def compute(out, even, a, pairs):
        i = cuda.grid(1)
        out[i, 0], out[i, 1], even[i] = fib(i), gcd(48, 6 * i), is_even(i)
        if i == 0:
            sort(a, 0, a.size - 1)
        count, rest = halves(i)
        pairs[i] = count + rest + first(i)
        out[i, 2] = 4 * widens(i)

    n = 9
    out, even, pairs = np.zeros((n, 3), np.int64), np.zeros(n, bool), np.zeros(n)
    a = np.random.default_rng(1).integers(0, 50, 40)
    wanted = np.sort(a)
    compute[1, n](out, even, a, pairs)
    assert out[:, 0].tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21]
    assert out[:, 1].tolist() == [math.gcd(48, 6 * i) for i in range(n)]
    assert even.tolist() == [i % 2 == 0 for i in range(n)]
    assert a.tolist() == wanted.tolist()
    assert pairs.tolist() == [i * (i + 1) / 2 + 0.5**i + first(i) for i in range(n)]
    assert out[:5, 2].tolist() == [11, 9, 7, 5, 4]


@cuda.jit(device=True)
def endless(x):
    return endless(x)


@cuda.jit(device=True)
def grows(x):
    return grows((x, 1))


@cuda.jit(device=True)
def result_grows(n):
    if n == 0:
        return (1,)
    return (2, result_grows(n - 1))


def tuple_grows(n):
    if n == 0:
        return None
    return n, tuple_grows(n - 1)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (endless, "runaway recursion: endless"),
        (grows, "calls itself with too many different argument types"),
        (result_grows, "returns .* in one place and"),
        (tuple_grows, "Return type of recursive function does not converge"),
    ],
)
def test_recursion_without_a_type_is_refused(function: Any, message: str) -> None:
    @cuda.jit
    def run(out):
        function(3)

    with pytest.raises(KernelError, match=message):
        run[1, 1](np.zeros(1))


def test_a_kernel_cannot_call_itself() -> None:
    @cuda.jit
    def again(out):
        again(out)

    with pytest.raises(KernelError, match="again is a kernel, which cannot call itself"):
        again[1, 1](np.zeros(1))


def test_opencl_has_no_recursion(opencl_maker: Any) -> None:
    @kernel
    def run(out):
        out[0] = fib(5)

    with pytest.raises(KernelError, match="OpenCL has no recursion"):
        run[1, 1](opencl_maker(np.zeros(1, np.int32)))
