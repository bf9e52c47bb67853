"""Vector types: made of numbers and of shorter vectors, read by their letters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu._src.jit.calls.vectors import VECTORS


def total(v):
    return v.x + v.y + v.z + v.w


@pygpu.kernel
def use(x, out, ints):
    i = cuda.grid(1)
    if i >= x.size:
        return
    pair = cuda.float32x2(x[i], 2)
    v = cuda.float4(pair, pair)
    out[i, 0] = total(v)
    w = cuda.float64x3(1, pair)
    a, b, c = w
    out[i, 1] = a * 100 + b * 10 + c + w[2]
    if i % 2:
        v = cuda.float32x4(v.w, v.z, v.y, v.x)
    out[i, 2] = v.x
    n = cuda.uchar4(250, 260, -1, i)
    ints[i, 0] = n.x + n.y
    ints[i, 1] = n.z
    m = cuda.int32x2(x[i], len(n))
    ints[i, 2] = m.x * m.y
    copy = cuda.short3(cuda.int16x3(1, 2, 3))
    ints[i, 3] = copy.z


def test_use(make: Any) -> None:
    x = np.array([0.5, 1.5, -2.75, 7], np.float32)
    out, ints = make(np.zeros((4, 3))), make(np.zeros((4, 4), np.int32))
    use[1, 32](make(x), out, ints)
    odd = np.arange(4) % 2 == 1
    right = [2 * x + 4, 100 + 10 * x + 4, np.where(odd, 2, x)]
    assert np.array_equal(out.get(), np.transpose(right))
    n = (250 + 4) % 256  # of uint8: 260 and -1 wrap
    assert np.array_equal(ints.get(), [[n, 255, int(v) * 4, 3] for v in x.tolist()])


def test_all_vector_types_of_numba_exist() -> None:
    """All of Numba's, under both kinds of names."""
    assert len({id(t) for t in VECTORS.values()}) == 40
    for name in ("int8x1", "uint64x4", "float32x3", "float64x4", "ulonglong2", "double4", "char1"):
        assert getattr(cuda, name) is VECTORS[name]
    assert cuda.float4 is cuda.float32x4 and repr(cuda.uint3) == "uint32x3"
    with pytest.raises(TypeError, match=r"float32x4\(\) can only be called in a kernel"):
        cuda.float4(1, 2, 3, 4)


def test_wrong_components_of_vectors_are_refused() -> None:
    def few(x):
        return cuda.float4(x, x).x

    def many(x):
        return cuda.float32x2(cuda.float32x2(x, x), x).x

    def sets(x):
        v = cuda.float32x2(x, x)
        v.x = 3
        return v.y

    for f, message in (
        (few, r"float32x4\(\) takes 4 numbers, 2 given"),
        (many, r"float32x2\(\) takes 2 numbers, 3 given"),
        (sets, "attributes cannot be assigned"),
    ):
        with pytest.raises(pygpu.KernelError, match=message):
            pygpu.pykernel.compile_function(f, [np.float32])
