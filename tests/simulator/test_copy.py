"""Copies and fills of plain memory, in one, two and three dimensions, against NumPy."""

import ctypes
from ctypes import byref

import numpy as np
import pytest
from simulator.sim_driver import INVALID_CONTEXT, INVALID_VALUE, PER_THREAD, fails

HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4

SIDE = "XInBytes Y Z LOD MemoryType Host Device Array Context Pitch Height".split()
C = {"MemoryType": ctypes.c_int, "Host": ctypes.c_void_p, "Device": ctypes.c_ulonglong}
C |= {"Array": ctypes.c_void_p, "Context": ctypes.c_void_p}


class Memcpy2D(ctypes.Structure):
    _fields_ = [
        (side + name, C.get(name, ctypes.c_size_t))
        for side in ("src", "dst")
        for name in SIDE
        if name not in ("Z", "LOD", "Context", "Height")
    ] + [("WidthInBytes", ctypes.c_size_t), ("Height", ctypes.c_size_t)]


class Memcpy3D(ctypes.Structure):
    _fields_ = [
        (side + name, C.get(name, ctypes.c_size_t)) for side in ("src", "dst") for name in SIDE
    ] + [(name, ctypes.c_size_t) for name in ("WidthInBytes", "Height", "Depth")]


def test_every_kind_of_call_moves_the_bytes(cuda):
    n = 1001
    source = np.random.default_rng(1).integers(0, 256, n, dtype="u1")
    a, b = cuda.alloc(n), cuda.alloc(n)
    stream = cuda.stream()
    c = cuda.context
    up = [
        ("cuMemcpyHtoD", ()),
        ("cuMemcpyHtoDAsync", (stream,)),
        ("cuMemcpyHtoDAsync", (None,)),
        ("cuMemcpy", ()),
        ("cuMemcpyAsync", (stream,)),
        ("cuMemcpyAsync", (PER_THREAD,)),
    ]
    across = [("cuMemcpyDtoD", ()), ("cuMemcpyDtoDAsync", (stream,)), ("cuMemcpy", ())]
    down = [
        ("cuMemcpyDtoH", ()),
        ("cuMemcpyDtoHAsync", (stream,)),
        ("cuMemcpy", ()),
        ("cuMemcpyAsync", (stream,)),
    ]
    for put, put_args in up:
        for move, move_args in across:
            for take, take_args in down:
                source = np.roll(source, 1)
                out = np.zeros(n, "u1")
                getattr(cuda, put)(a, source.ctypes.data, n, *put_args)
                cuda.cuCtxSynchronize()
                getattr(cuda, move)(b, a, n, *move_args)
                getattr(cuda, take)(out.ctypes.data, b, n, *take_args)
                assert (out == source).all(), (put, move, take)
    cuda.cuMemsetD8(b, 0, n)
    cuda.cuMemcpyPeer(b, c, a, c, n)
    assert (cuda.from_device(b, n, "u1") == source).all()
    cuda.cuMemsetD8(b, 0, n)
    cuda.cuMemcpyPeerAsync(b, c, a, c, n, stream)
    cuda.cuStreamSynchronize(stream)
    assert (cuda.from_device(b, n, "u1") == source).all()
    fails(INVALID_CONTEXT, cuda.cuMemcpyPeer, b, None, a, c, n)


@pytest.mark.parametrize("size", [10, 60_000, 300_000])
def test_ordinary_memory_may_change_after_an_asynchronous_copy(cuda, kernels, size):
    """As on a GPU: what is not page-locked has been read when the call returns."""
    flags = cuda.get("cuMemHostAlloc", 8, 0)
    flag, started = (ctypes.c_int.from_address(flags + 4 * i) for i in range(2))
    flag.value = started.value = 0
    stream = cuda.stream(1)
    address, source = cuda.alloc(size), np.full(size, 5, "u1")
    if size < 100_000:  # larger ones wait for the stream
        cuda.launch(kernels.wait_for, 1, 1, flags, flags + 4, stream=stream)
    cuda.cuMemcpyHtoDAsync(address, source.ctypes.data, size, stream)
    source[:] = 9
    flag.value = 1
    cuda.cuStreamSynchronize(stream)
    assert (cuda.from_device(address, size, "u1") == 5).all()


def test_sizes_of_nothing(cuda):
    address = cuda.alloc(4)
    cuda.cuMemcpyHtoD(address, None, 0)
    cuda.cuMemcpyDtoH(None, address, 0)
    cuda.cuMemsetD8(address, 0, 0)
    cuda.cuMemsetD2D8(address, 0, 0, 0, 5)


@pytest.mark.parametrize(
    "offset, size", [(0, 1001), (1, 1000), (1000, 1), (999, 2), (0, 2**64 - 1), (5, 2**63)]
)
def test_past_the_end(cuda, offset, size):
    address, host = cuda.alloc(1000), np.zeros(2000, "u1")
    for call, args in [
        ("cuMemcpyHtoD", (address + offset, host.ctypes.data, size)),
        ("cuMemcpyDtoH", (host.ctypes.data, address + offset, size)),
        ("cuMemcpyDtoD", (address + offset, address, size)),
        ("cuMemcpyHtoDAsync", (address + offset, host.ctypes.data, size, None)),
        ("cuMemsetD8", (address + offset, 1, size)),
    ]:
        assert fails(INVALID_VALUE, getattr(cuda, call), *args)


def test_addresses_that_are_none(cuda):
    address, host = cuda.alloc(1000), np.zeros(1000, "u1")
    p = host.ctypes.data
    assert "not a device address" in fails(INVALID_VALUE, cuda.cuMemcpyHtoD, p, p, 10)
    assert "not a device address" in fails(INVALID_VALUE, cuda.cuMemcpyDtoH, p, p, 10)
    assert "NULL" in fails(INVALID_VALUE, cuda.cuMemcpyDtoH, None, address, 10)
    assert "NULL" in fails(INVALID_VALUE, cuda.cuMemcpyHtoD, 0, p, 10)
    assert "can be read" in fails(INVALID_VALUE, cuda.cuMemcpyHtoD, address, 0x10, 10)
    assert "can be read" in fails(INVALID_VALUE, cuda.cuMemcpy, address, 2**47 - 4096, 10)
    constant = ctypes.cast(cuda.library.cuInit, ctypes.c_void_p).value  # code
    assert "can be written" in fails(INVALID_VALUE, cuda.cuMemcpyDtoH, constant, address, 10)
    guarded = cuda.alloc(1 << 20)
    fails(INVALID_VALUE, cuda.cuMemcpy, address, guarded + (1 << 20), 10)
    cuda.cuMemFree(guarded)
    fails(INVALID_VALUE, cuda.cuMemcpy, address, guarded, 10)
    small = cuda.alloc(100)
    cuda.cuMemFree(small)
    assert "freed" in fails(INVALID_VALUE, cuda.cuMemcpy, address, small, 10)
    cuda.cuMemFree(address)
    assert "freed" in fails(INVALID_VALUE, cuda.cuMemcpyHtoD, address, p, 10)


def test_copies_onto_themselves(cuda):
    data = np.arange(1000, dtype="u1")
    address = cuda.to_device(data)
    cuda.cuMemcpyDtoD(address + 1, address, 999)
    assert (cuda.from_device(address, 1000, "u1")[1:] == data[:-1]).all()


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_fills(cuda, bits):
    dtype = f"u{bits // 8}"
    value = 0x87654321 & (2**bits - 1)
    expected = np.zeros((9, 32), dtype)
    address = cuda.to_device(expected)
    suffix = f"D{bits}"
    getattr(cuda, f"cuMemset{suffix}")(address, value, 5)
    expected.reshape(-1)[:5] = value
    stream = cuda.stream()
    getattr(cuda, f"cuMemset{suffix}Async")(address + expected[:2].nbytes, value, 7, stream)
    expected[2, :7] = value
    cuda.cuStreamSynchronize(stream)
    pitch = expected[0].nbytes
    getattr(cuda, f"cuMemsetD2{suffix}")(address + 3 * pitch, pitch, value, 11, 2)
    expected[3:5, :11] = value
    getattr(cuda, f"cuMemsetD2{suffix}Async")(address + 8 * pitch, pitch, value, 32, 1, stream)
    expected[8] = value
    cuda.cuStreamSynchronize(stream)
    assert (cuda.from_device(address, expected.shape, dtype) == expected).all()
    if bits > 8:
        fails(INVALID_VALUE, getattr(cuda, f"cuMemset{suffix}"), address + 1, 0, 1)
    fails(INVALID_VALUE, getattr(cuda, f"cuMemsetD2{suffix}"), address, pitch - 4, 0, 32, 2)
    fails(INVALID_VALUE, getattr(cuda, f"cuMemsetD2{suffix}"), address, pitch, 0, 32, 10)
    fails(INVALID_VALUE, getattr(cuda, f"cuMemset{suffix}"), address, 0, 2**63)


class Place:
    """A byte volume (depth, rows, pitch) of one memory type, filled with random bytes."""

    def __init__(self, cuda, kind, seed, shape=(5, 7, 48)):
        self.cuda, self.kind = cuda, kind
        self.value = np.random.default_rng(seed).integers(0, 256, shape, dtype="u1")
        if kind == HOST:
            self.value = self.value.copy()
        elif kind == ARRAY:
            depth, rows, pitch = shape
            descriptor = (ctypes.c_size_t * 5)(pitch // 4, rows, depth, 3 | 1 << 32, 0)
            self.array = cuda.get("cuArray3DCreate", descriptor)
            copy = Memcpy3D(
                srcMemoryType=HOST, srcHost=self.value.ctypes.data, srcPitch=pitch, srcHeight=rows
            )
            copy.dstMemoryType, copy.dstArray = ARRAY, self.array
            copy.WidthInBytes, copy.Height, copy.Depth = pitch, rows, depth
            cuda.cuMemcpy3D(byref(copy))
        else:
            self.address = cuda.to_device(self.value)

    def fields(self, side, three):
        depth, rows, pitch = self.value.shape
        fields = {"MemoryType": self.kind, "Pitch": pitch}
        if three:
            fields["Height"] = rows
        if self.kind == HOST:
            fields["Host"] = self.value.ctypes.data
        elif self.kind == ARRAY:
            fields["Array"] = self.array
        else:
            fields["Device"] = self.address
        return {side + name: value for name, value in fields.items()}

    def read(self):
        if self.kind == HOST:
            return self.value
        if self.kind != ARRAY:
            return self.cuda.from_device(self.address, self.value.shape, "u1")
        out = np.zeros_like(self.value)
        depth, rows, pitch = out.shape
        copy = Memcpy3D(dstMemoryType=HOST, dstHost=out.ctypes.data, dstPitch=pitch, dstHeight=rows)
        copy.srcMemoryType, copy.srcArray = ARRAY, self.array
        copy.WidthInBytes, copy.Height, copy.Depth = pitch, rows, depth
        self.cuda.cuMemcpy3D(byref(copy))
        return out


KINDS = [HOST, DEVICE, ARRAY, UNIFIED]


@pytest.mark.parametrize("to", KINDS, ids=["to-host", "to-device", "to-array", "to-unified"])
@pytest.mark.parametrize("source", KINDS, ids=["host", "device", "array", "unified"])
@pytest.mark.parametrize(
    "call", ["cuMemcpy3D", "cuMemcpy3DAsync", "cuMemcpy3DPeer", "cuMemcpy3DPeerAsync"]
)
def test_boxes(cuda, call, source, to):
    src, dst = Place(cuda, source, 1), Place(cuda, to, 2, (6, 9, 64))
    expected = dst.read().copy()
    stream = cuda.stream()
    copy = Memcpy3D(**src.fields("src", True), **dst.fields("dst", True))
    if "Peer" in call:
        copy.srcContext = copy.dstContext = cuda.context
    copy.srcXInBytes, copy.srcY, copy.srcZ = 8, 1, 2
    copy.dstXInBytes, copy.dstY, copy.dstZ = 4, 3, 1
    copy.WidthInBytes, copy.Height, copy.Depth = 20, 5, 3
    args = (stream,) if "Async" in call else ()
    getattr(cuda, call)(byref(copy), *args)
    cuda.cuStreamSynchronize(stream)
    expected[1:4, 3:8, 4:24] = src.value[2:5, 1:6, 8:28]
    assert (dst.read() == expected).all()


@pytest.mark.parametrize("to", KINDS, ids=["to-host", "to-device", "to-array", "to-unified"])
@pytest.mark.parametrize("source", KINDS, ids=["host", "device", "array", "unified"])
@pytest.mark.parametrize("call", ["cuMemcpy2D", "cuMemcpy2DUnaligned", "cuMemcpy2DAsync"])
def test_rectangles(cuda, call, source, to):
    src, dst = Place(cuda, source, 3, (1, 7, 48)), Place(cuda, to, 4, (1, 9, 64))
    expected = dst.read().copy()
    stream = cuda.stream()
    copy = Memcpy2D(**src.fields("src", False), **dst.fields("dst", False))
    copy.srcXInBytes, copy.srcY, copy.dstXInBytes, copy.dstY = 12, 2, 40, 1
    copy.WidthInBytes, copy.Height = 24, 5
    getattr(cuda, call)(byref(copy), *((stream,) if "Async" in call else ()))
    cuda.cuStreamSynchronize(stream)
    expected[0, 1:6, 40:64] = src.value[0, 2:7, 12:36]
    assert (dst.read() == expected).all()


class TestWrongBoxes:
    @pytest.fixture
    def copy(self, cuda):
        self.src, self.dst = Place(cuda, DEVICE, 1), Place(cuda, DEVICE, 2)
        copy = Memcpy3D(**self.src.fields("src", True), **self.dst.fields("dst", True))
        copy.WidthInBytes, copy.Height, copy.Depth = 48, 7, 5
        cuda.cuMemcpy3D(byref(copy))
        return copy

    @pytest.mark.parametrize(
        "field, value, words",
        [
            ("srcPitch", 47, "pitch"),
            ("dstPitch", 0, "pitch"),
            ("srcHeight", 6, "height"),
            ("srcZ", 1, "past the end"),
            ("dstY", 1, "height"),
            ("srcXInBytes", 1, "pitch"),
            ("Depth", 6, "past the end"),
            ("Depth", 2**62, "address space"),
            ("srcLOD", 1, "level"),
            ("srcMemoryType", 0, "memory_type"),
            ("dstMemoryType", 5, "memory_type"),
            ("srcDevice", 0, "NULL"),
            ("srcZ", 2**60, "address space"),
            ("dstPitch", 2**60, "address space"),
        ],
    )
    def test_say_what_is_wrong(self, cuda, copy, field, value, words):
        setattr(copy, field, value)
        assert words in fails(INVALID_VALUE, cuda.cuMemcpy3D, byref(copy))
        assert (self.dst.read() == self.src.value).all()

    def test_empty_ones_do_nothing(self, cuda, copy):
        for field in ("WidthInBytes", "Height", "Depth"):
            empty = Memcpy3D.from_buffer_copy(copy)
            setattr(empty, field, 0)
            cuda.cuMemcpy3D(byref(empty))

    def test_null(self, cuda):
        fails(INVALID_VALUE, cuda.cuMemcpy3D, None)
        fails(INVALID_VALUE, cuda.cuMemcpy2D, None)
