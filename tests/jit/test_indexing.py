"""Arrays in kernels: constants of all dtypes, views of other dtypes, shapes from arguments, records
of no dimensions; rounding to a number of digits that the device knows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu._src.jit import signature

RECORD = np.dtype([("a", "i4"), ("b", "f4"), ("c", "i2", (3,))])
COMPLEX = (np.arange(5) - 2.5j * np.arange(5)).astype(np.complex64)
RECORDS = np.array([(1, 2.5, (3, 4, 5)), (-6, 7, (8, 9, -10))], RECORD)


def test_constant_arrays_of_complex_numbers_and_records(make: Any) -> None:
    @pygpu.kernel
    def read(z, numbers, whole):
        i = cuda.grid(1)
        table, records = cuda.const.array_like(COMPLEX), cuda.const.array_like(RECORDS)
        if i < table.size:
            z[i] = table[i] * table[-1]
        if i < records.shape[0]:
            numbers[i] = records[i].a + records[i]["b"] + records[i].c[2]
            whole[i] = records[i]

    z, numbers, whole = np.zeros(5, "c8"), np.zeros(2, "f4"), np.zeros(2, RECORD)
    out = [make(a) for a in (z, numbers, whole)]
    read[1, 8](*out)
    assert np.allclose(out[0].get(), COMPLEX * COMPLEX[-1])
    assert out[1].get().tolist() == [8.5, -9]
    assert (out[2].get() == RECORDS).all()


def test_constant_arrays_of_strings_are_refused(make: Any) -> None:
    table = np.array(["a"])

    @pygpu.kernel
    def read(x):
        x[0] = table[0]

    with pytest.raises(pygpu.KernelError, match=r"constant arrays of <U1 are not supported"):
        read[1, 1](make(np.zeros(1, np.float32)))


def test_view(make: Any) -> None:
    """Items of the same bytes, of the same, a smaller and a larger size, also to be written."""

    @pygpu.kernel
    def view(x, bits, halves, whole):
        i = cuda.grid(1)
        same, small, large = x.view(np.int32), x.view(np.int16), x.view(np.uint64)
        if i < same.size:
            bits[i] = same[i]
        if i < small.shape[0]:
            halves[i] = small[i]
        if i < len(large):
            whole[i] = large[i]

    @pygpu.kernel
    def clear_signs(x):
        i = cuda.grid(1)
        if i < x.shape[1]:
            for row in range(2):
                x.view(np.uint32)[row, i] &= 0x7FFFFFFF
                x[row, i] += 1

    x = np.random.default_rng(5).normal(size=10).astype(np.float32)
    out = [make(np.zeros(n, t)) for n, t in ((10, "i4"), (20, "i2"), (5, "u8"))]
    view[1, 32](make(x), *out)
    for found, dtype in zip(out, ("i4", "i2", "u8")):
        assert (found.get() == x.view(dtype)).all()
    y = make(x.reshape(2, 5))
    clear_signs[1, 32](y)
    assert (y.get() == abs(x.reshape(2, 5)) + 1).all()
    strided = make(x)[::2]
    same = pygpu.kernel(clear_signs_of_one)
    same[1, 32](strided)
    assert (strided.get() == abs(x[::2])).all()


def clear_signs_of_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x.view(np.uint32)[i] &= 0x7FFFFFFF


def test_wrong_views(make: Any) -> None:
    @pygpu.kernel
    def strided(x, out):
        out[0] = x[::2].view(np.int16)[0]

    @pygpu.kernel
    def uneven(out):
        out[0] = cuda.local.array(3, np.int16).view(np.int32)[0]

    @pygpu.kernel
    def nothing(x, out):
        out[0] = x.view()[0]

    x, out = make(np.zeros(4, np.float32)), make(np.zeros(1, np.int32))
    for function, args, message in (
        (strided, (x, out), "only in contiguous arrays"),
        (uneven, (out,), "6 bytes are not a multiple of the size of int32"),
        (nothing, (x, out), "takes a dtype"),
    ):
        with pytest.raises(pygpu.KernelError, match=message) as found:
            function[1, 1](*args)
        assert "^" in str(found.value) and "test_indexing.py" in str(found.value)


def reverse(n, x):
    t = cuda.threadIdx.x
    found = cuda.shared.array(n, np.int32)
    found[t] = x[t]
    cuda.syncthreads()
    return found[n - 1 - t]


def total(shape, x):
    found = cuda.local.array(shape, np.float32)
    for i in range(shape[0]):
        for j in range(shape[1]):
            found[i, j] = x + i * shape[1] + j
    result = np.float32(0)
    for i in range(shape[0]):
        for j in range(shape[1]):
            result += found[i, j]
    return result


def deeper(n, x):
    return reverse(n, x)


def test_shapes_from_known_arguments(make: Any) -> None:
    """A device function is compiled for the number that it is given, where it needs to know it."""

    @pygpu.kernel
    def use(x, y, z):
        t = cuda.threadIdx.x
        y[t] = reverse(16, x)
        z[t] = total((2, 3), t) - total((1, 2), t) + deeper(16, x) - reverse(16, x)

    @pygpu.kernel
    def unknown(x, n):
        x[0] = reverse(n, x)

    x, y, z = np.arange(16, dtype=np.int32), np.zeros(16, np.int32), np.zeros(16, np.float32)
    out = make(y), make(z)
    use[1, 16](make(x), *out)
    assert (out[0].get() == x[::-1]).all()
    assert (out[1].get() == 6 * x + 15 - 2 * x - 1).all()
    with pytest.raises(pygpu.KernelError, match="must be constant"):
        unknown[1, 1](make(x), 16)


def test_records_of_no_dimensions(make: Any) -> None:
    @pygpu.kernel
    def copy(record, out):
        out[1] = record

    out = make(np.zeros(2, RECORD))
    copy[1, 1](make(RECORDS[1:].reshape(())), out)
    assert out.get()[1] == RECORDS[1] and out.get()[0] == np.zeros((), RECORD)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_digits_that_the_device_knows(make: Any, dtype: str) -> None:
    @pygpu.kernel
    def digits(x, n, out, last):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = round(x[i], n[i])
            last[i] = round(x[i], i - 400)

    x = (np.random.default_rng(1).random(64) * 1000 - 500).astype(dtype)
    n = np.arange(64) % 7 - 3
    out, last = make(np.zeros_like(x)), make(np.ones_like(x))
    digits[2, 32](make(x), make(n), out, last)
    expected = [np.round(a, b) for a, b in zip(x, n.tolist())]
    assert np.allclose(out.get(), expected, rtol=4 * np.finfo(dtype).eps)
    assert (last.get() == 0).all()
    x = np.array([1.5, np.inf, -np.inf, np.nan, 3e30], dtype)
    for many in (5, 300, 2**62):
        out = make(np.zeros_like(x))
        digits[1, 8](make(x), make(np.full(5, many)), out, make(np.zeros_like(x)))
        assert np.allclose(out.get(), x, equal_nan=True)


def test_remainder(make: Any) -> None:
    @pygpu.kernel
    def remainder(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = math.remainder(x[i], y[i])

    x, y = np.random.default_rng(2).normal(size=(2, 50)) * 10
    out = make(np.zeros(50))
    remainder[2, 32](make(x), make(y), out)
    assert out.get().tolist() == [math.remainder(a, b) for a, b in zip(x, y)]


def test_tuples_in_signatures() -> None:
    void, f4, i8 = signature.void, signature.TYPES["float32"], signature.TYPES["int64"]

    @cuda.jit(void(f4[:, :], signature.UniTuple(i8, 2)))
    def place(a, where):
        a[where] = where[0] - where[1]

    found = np.zeros((3, 4), np.float32)
    place[1, 1](found, (1, 3))
    assert found[1, 3] == -2
    for wrong in ((1, 2, 3), 1, (1.5, 2)):
        with pytest.raises(TypeError, match="the signature says"):
            place[1, 1](found, wrong)


class Foreign:
    """What another library's array shows."""

    def __init__(self, array: Any, **more: Any) -> None:
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **more}


def test_arrays_of_other_libraries(cuda_context: Any) -> None:
    host = np.arange(6.0).reshape(2, 3)
    foreign = Foreign(cuda.to_device(host), stream=1)
    double = pygpu.vectorize(["float64(float64)"], target="cuda")(lambda x: x + x)
    assert (double(foreign).copy_to_host() == host * 2).all()
    shown = foreign.__cuda_array_interface__
    found = cuda.from_cuda_array_interface(shown, owner=foreign)
    assert (found.copy_to_host() == host).all() and found.base is foreign
    assert (cuda.as_cuda_array(foreign)[1].copy_to_host() == host[1]).all()
    for wrong in ({}, None, {"shape": (1,), "typestr": "<f8", "data": ()}):
        with pytest.raises(TypeError, match="from_cuda_array_interface: desc"):
            cuda.from_cuda_array_interface(wrong)
    with pytest.raises(NotImplementedError, match="Mask"):
        cuda.from_cuda_array_interface({**shown, "mask": foreign})


def test_loops_over_iterables(make: Any) -> None:
    """enumerate() from a number, zip() and reversed() inside of each other, and ranges there."""

    @pygpu.kernel
    def loops(a, n, step, out):
        for k, (u, v) in enumerate(zip(a, reversed(a)), start=n):
            out[k] = u * 10 + v
        total = 0
        for i, (j, v) in zip(range(9, 0, -2), enumerate(a[1:])):
            total = total * 2 + i * j + v
        for i in reversed(range(2, 9, 3)):
            total = total * 3 + i
        out[0] = total
        count = 0
        for _ in range(0, 10, step):  # with a step of 0 Python raises; here nothing is done
            count += 1
        out[1] = count

    a = np.arange(1, 5)
    for step, count in ((0, 0), (3, 4), (-1, 0)):
        out = make(np.zeros(8, np.int64))
        loops[1, 1](make(a), 3, step, out)
        total = 0
        for i, (j, v) in zip(range(9, 0, -2), enumerate(a[1:])):
            total = total * 2 + i * j + v
        for i in reversed(range(2, 9, 3)):
            total = total * 3 + i
        assert out.get().tolist() == [total, count, 0, 14, 23, 32, 41, 0]


def test_starred_assignment(make: Any) -> None:
    @pygpu.kernel
    def starred(t, out):
        first, *rest = t
        *most, (a, b) = rest
        out[0] = first + len(rest) + len(most)
        out[1] = most[0] * 10 + a * b

    out = make(np.zeros(2))
    starred[1, 1]((1, 2, (3, 4)), out)
    assert out.get().tolist() == [4, 32]

    @pygpu.kernel
    def too_few(t, out):
        a, b, *c = t
        out[0] = a + b

    with pytest.raises(pygpu.KernelError, match="cannot unpack 1 values into at least 2 names"):
        too_few[1, 1]((1,), out)
