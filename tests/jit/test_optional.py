"""Values in kernels that may be None, and loops over items of several types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu.pykernel import KernelError


def sign(x):
    if x > 0:
        return 1
    elif x <= 0:
        return -1


def find(a, wanted):
    for i in range(a.size):
        if a[i] == wanted:
            return i


def row(m, i):
    if i < 2:
        return m[i]
    return None


def pair(n):
    if n == 1:
        return 1, 2.5


@pygpu.kernel
def optional(out, a, m):
    i = cuda.grid(1)
    if i >= a.size:
        return
    out[i, 0] = sign(a[i]) * 2
    at = find(a, i)
    if at is None:
        out[i, 1] = -7
    else:
        out[i, 1] = at
    least = None
    for j in range(i):
        if least is None or a[j] < least:
            least = a[j]
    out[i, 2] = least if least is not None else 99
    one = row(m, i)
    if one is not None:
        out[i, 3] = one[1] + one.size
    both = pair(i)
    if both:  # not None
        p, q = both
        out[i, 4] = p + q * 2
    if at:  # neither None nor 0
        out[i, 5] = 1


def test_functions_that_return_on_some_ways_only(make: Any) -> None:
    a, m = np.array([3, -1, 5, 0, 2, 2], np.float32), np.arange(20, dtype=np.float32).reshape(5, 4)
    out = make(np.zeros((6, 6), np.int32))
    optional[2, 4](out, make(a), make(m))
    wanted = np.zeros((6, 6), np.int32)
    for i in range(6):
        at = find(a, i)
        wanted[i, 0] = 2 * sign(a[i])
        wanted[i, 1] = -7 if at is None else at
        wanted[i, 2] = a[:i].min() if i else 99
        wanted[i, 3] = 0 if row(m, i) is None else row(m, i)[1] + 4
        wanted[i, 4] = 6 if i == 1 else 0
        wanted[i, 5] = bool(at)
    assert out.get().tolist() == wanted.tolist()


def test_ufuncs_return_a_number_on_all_paths() -> None:
    with pytest.raises(KernelError, match="may end without return"):
        pygpu.jit(sign).inspect_source(np.dtype("f4"))


@pygpu.kernel
def mixed(out, items):
    n = 0
    for item in items:
        if item.size == 3:
            continue
        out[n] = item[0] * 2 + item.dtype.itemsize
        n += 1
        if n == 3:
            break
    else:
        out[7] = 1
    for function in (math.sqrt, math.fabs):
        out[n] = function(out[0])
        n += 1
    for a, b in ((1, 2.5), (2.5, 1)):
        out[n] = a - b
        n += 1


def test_loops_over_items_of_several_types(make: Any) -> None:
    items = [
        np.array([2], np.int32),
        np.ones(3, np.float32),
        np.array([2.5], np.float32),
        np.array([7, 1], np.uint8),
        np.array([9], np.int16),
    ]
    out = make(np.zeros(8, np.float32))
    mixed[1, 1](out, tuple(map(make, items)))
    wanted = [8, 9, 15, math.sqrt(8), 8, -1.5, 1.5, 0]
    np.testing.assert_allclose(out.get(), wanted, rtol=1e-6)
    mixed[1, 1](out, tuple(map(make, items[:2])))
    assert out.get()[[0, 7]].tolist() == [8, 1]


@pygpu.kernel
def reassigns(out, items):
    for item in items:
        item = item[0]
        out[0] += item


def test_such_items_have_names_of_their_own(make: Any) -> None:
    items = make(np.ones(1, np.float32)), make(np.ones((1, 1), np.float32))
    with pytest.raises(KernelError, match="names that nothing else is assigned to"):
        reassigns[1, 1](make(np.zeros(1, np.float32)), items)
