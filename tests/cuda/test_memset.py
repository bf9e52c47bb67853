"""Fills: every width, whole and in rows, against NumPy; sizes, alignment, values, streams."""

import numpy as np
import pytest
from cuda.stream_gate import Gate

import pygpu.cuda.driver as cuda
from pygpu import _cuda

pytestmark = pytest.mark.usefixtures("context")

BITS = (8, 16, 32)
ASYNC = ("", "_async")


def whole(bits: int, suffix: str):
    return getattr(cuda, f"memset_d{bits}{suffix}")


def rows(bits: int, suffix: str):
    return getattr(cuda, f"memset_d2d{bits}{suffix}")


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("suffix", ASYNC)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 100, 65537])
@pytest.mark.parametrize("start", [0, 4])
def test_whole(balance, bits, suffix, size, start):
    dtype = np.dtype(f"u{bits // 8}")
    expected = np.random.default_rng(size).integers(0, 200, size * dtype.itemsize + 16).astype("u1")
    memory = cuda.to_device(expected)
    value = 0x81828384 >> (32 - bits)
    whole(bits, suffix)(int(memory) + start, value, size)
    cuda.Context.synchronize()
    expected[start : start + size * dtype.itemsize] = np.full(size, value, dtype).view("u1")
    assert (cuda.from_device(memory, expected.size, np.uint8) == expected).all()


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("suffix", ASYNC)
@pytest.mark.parametrize("width, height", [(0, 3), (3, 0), (1, 1), (5, 1), (1, 7), (3, 4), (8, 5)])
def test_rows(balance, bits, suffix, width, height):
    dtype = np.dtype(f"u{bits // 8}")
    expected = np.arange(8 * 7, dtype=dtype).reshape(7, 8)
    memory = cuda.to_device(expected)
    rows(bits, suffix)(memory, expected.strides[0], 77, width, height)
    cuda.Context.synchronize()
    expected[:height, :width] = 77
    assert (cuda.from_device_like(memory, expected) == expected).all()


@pytest.mark.parametrize("bits", BITS)
def test_patterns_of_each_width_are_written(balance, bits):
    memory = cuda.mem_alloc(4)
    dtype = f"i{bits // 8}"
    for value in (0, 1, -1, 2**bits - 1, -(2 ** (bits - 1)), np.uint8(255), True):
        whole(bits, "")(memory, value, 1)
        got = cuda.from_device(memory, 1, dtype)[0]
        assert int(got) % 2**bits == int(value) % 2**bits
    for value in (2**bits, -(2 ** (bits - 1)) - 1, 2**70):
        for call in (whole(bits, ""), whole(bits, "_async")):
            with pytest.raises(OverflowError, match="data"):
                call(memory, value, 1)
    for value in (1.0, "1", None):
        with pytest.raises(TypeError, match="data must be an integer"):
            whole(bits, "")(memory, value, 1)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("suffix", ASYNC)
def test_past_the_end(balance, bits, suffix):
    memory = cuda.mem_alloc(64)
    width = bits // 8
    with pytest.raises(cuda.LogicError, match="end past the 64"):
        whole(bits, suffix)(memory, 0, 64 // width + 1)
    with pytest.raises(cuda.LogicError, match="end past the 4"):
        whole(bits, suffix)(int(memory) + 60, 0, 4 // width + 1)
    with pytest.raises(cuda.LogicError, match="end past the 64"):
        rows(bits, suffix)(memory, 16, 0, 16 // width, 5)
    rows(bits, suffix)(memory, 16, 0, 16 // width, 4)
    with pytest.raises(cuda.LogicError, match="pitch = 8 is less than"):
        rows(bits, suffix)(memory, 8, 0, 16 // width, 2)
    for huge in (2**62, 2**63 - 1):
        with pytest.raises((ValueError, OverflowError)):
            whole(bits, suffix)(memory, 0, huge)
        with pytest.raises((ValueError, OverflowError)):
            rows(bits, suffix)(memory, huge, 0, huge, huge)
    with pytest.raises(ValueError, match="size must not be negative"):
        whole(bits, suffix)(memory, 0, -1)


@pytest.mark.parametrize("bits", (16, 32))
def test_alignment(bits):
    memory = cuda.mem_alloc(64)
    with pytest.raises(cuda.LogicError, match=f"multiple of {bits // 8} bytes"):
        whole(bits, "")(int(memory) + 1, 0, 1)
    with pytest.raises(cuda.LogicError, match="and pitch must be a multiple"):
        rows(bits, "")(memory, 17, 0, 1, 2)


def test_streams(balance):
    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    memory = cuda.to_device(bytes(4))
    with Gate(stream):
        cuda.memset_d8_async(memory, 7, 4, stream)
        cuda.memset_d2d8_async(memory, 2, 9, 1, 2, stream=stream)
        assert not stream.is_done()
        assert bytes(cuda.from_device(memory, 4, np.uint8)) == bytes(4)
    stream.synchronize()
    assert bytes(cuda.from_device(memory, 4, np.uint8)) == b"\x09\x07\x09\x07"
    with pytest.raises(TypeError, match="stream"):
        cuda.memset_d8_async(memory, 7, 4, "x")


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("suffix", ASYNC)
@pytest.mark.parametrize("flat", [True, False])
def test_failures_of_the_driver(balance, bits, suffix, flat):
    memory = cuda.mem_alloc(64)
    name = f"cuMemsetD{'' if flat else '2D'}{bits}{'Async' if suffix else ''}"
    _cuda._fault(name, 1)
    try:
        with pytest.raises(cuda.LogicError, match=f"{name} failed"):
            if flat:
                whole(bits, suffix)(memory, 0, 4)
            else:
                rows(bits, suffix)(memory, 16, 0, 2, 2)
    finally:
        _cuda._fault(None, 0)


def test_keywords(balance):
    memory = cuda.mem_alloc(16)
    cuda.memset_d32(dest=memory, data=1, size=4)
    cuda.memset_d2d32(dest=memory, pitch=8, data=1, width=2, height=2)
    with pytest.raises(TypeError):
        cuda.memset_d32(memory, 1)
    with pytest.raises(TypeError):
        cuda.memset_d32(memory, 1, 4, None)
    with pytest.raises(TypeError, match="device memory"):
        cuda.memset_d32(np.zeros(4), 1, 4)
