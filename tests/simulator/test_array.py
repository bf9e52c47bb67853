"""Arrays: their shapes and formats, and copies of their bytes."""

import ctypes
from ctypes import byref

import numpy as np
import pytest
from simulator.sim_driver import INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, fails
from simulator.test_stream import Gate

FORMATS = {1: "u1", 2: "u2", 3: "u4", 8: "i1", 9: "i2", 10: "i4", 16: "f2", 32: "f4"}
LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8


class Descriptor(ctypes.Structure):
    _fields_ = [
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
    ]


class Descriptor3D(ctypes.Structure):
    _fields_ = [
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("flags", ctypes.c_uint),
    ]


def make(cuda, width, height=0, depth=0, format=32, channels=1, flags=0):
    return cuda.get(
        "cuArray3DCreate", byref(Descriptor3D(width, height, depth, format, channels, flags))
    )


def fill(cuda, array, values):
    cuda.cuMemcpyHtoA(array, 0, values.ctypes.data, values.nbytes)


def read(cuda, array, shape, dtype):
    out = np.zeros(shape, dtype)
    cuda.cuMemcpyAtoH(out.ctypes.data, array, 0, out.nbytes)
    return out


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("shape", [(7,), (5, 7), (3, 5, 7)])
def test_every_format_and_shape_holds_its_bytes(cuda, format, channels, shape):
    rng = np.random.default_rng(format * channels)
    values = rng.integers(0, 100, (*shape, channels)).astype(FORMATS[format])
    array = make(cuda, *reversed(shape), format=format, channels=channels)
    fill(cuda, array, values)
    assert (read(cuda, array, values.shape, values.dtype) == values).all()
    back = Descriptor3D()
    cuda.cuArray3DGetDescriptor(byref(back), array)
    wanted = [*reversed(shape), 0, 0][:3]
    assert [back.width, back.height, back.depth] == wanted
    assert (back.format, back.channels, back.flags) == (format, channels, 0)
    cuda.cuArrayDestroy(array)


def test_descriptors_of_two_dimensions(cuda):
    array = cuda.get("cuArrayCreate", byref(Descriptor(9, 4, 8, 2)))
    back = Descriptor()
    cuda.cuArrayGetDescriptor(byref(back), array)
    assert (back.width, back.height, back.format, back.channels) == (9, 4, 8, 2)


def test_parts_of_arrays(cuda):
    values = np.arange(100, dtype="f4")
    a, b = make(cuda, 100), make(cuda, 100)
    device = cuda.to_device(values)
    cuda.cuMemcpyDtoA(a, 0, device, 400)
    cuda.cuMemcpyAtoA(b, 40, a, 80, 200)
    cuda.cuMemcpyHtoA(b, 0, values[50:].ctypes.data, 40)
    cuda.cuMemsetD8(device, 0, 400)
    cuda.cuMemcpyAtoD(device, b, 20, 160)
    expected = np.concatenate([values[55:60], values[20:55], np.zeros(60, "f4")])
    assert (cuda.from_device(device, 100, "f4") == expected).all()
    stream, out = cuda.stream(), np.zeros(10, "f4")
    cuda.cuMemcpyHtoAAsync(a, 0, values[7:].ctypes.data, 40, stream)
    cuda.cuMemcpyAtoHAsync(out.ctypes.data, a, 0, 40, stream)
    cuda.cuStreamSynchronize(stream)
    assert (out == values[7:17]).all()


def test_past_the_end(cuda):
    array, host = make(cuda, 10, 10), np.zeros(1000, "u1")
    for offset, size in ((0, 401), (400, 1), (2**64 - 4, 4), (4, 2**64 - 4)):
        assert "past the end" in fails(
            INVALID_VALUE, cuda.cuMemcpyHtoA, array, offset, host.ctypes.data, size
        )
        assert "past the end" in fails(
            INVALID_VALUE, cuda.cuMemcpyAtoA, array, 0, array, offset, size
        )
    cuda.cuMemcpyHtoA(array, 400, None, 0)


@pytest.mark.parametrize(
    "case",
    [
        dict(width=0),
        dict(width=131073),
        dict(width=5, height=65537),
        dict(width=5, depth=5),
        dict(width=16385, height=1, depth=1),
        dict(width=4, channels=3),
        dict(width=4, channels=0),
        dict(width=4, format=0),
        dict(width=4, format=5),
        dict(width=4, flags=0x1000),
        dict(width=4, height=4, flags=LAYERED),
        dict(width=4, height=5, depth=6, flags=CUBEMAP),
        dict(width=4, height=4, depth=5, flags=CUBEMAP),
        dict(width=4, height=4, depth=2049, flags=LAYERED),
        dict(width=2**63, height=2**62),
    ],
    ids=str,
)
def test_arrays_that_are_none(cuda, case):
    before = cuda.mem_info()
    assert fails(INVALID_VALUE, make, cuda, **{"height": 0} | case)
    assert cuda.mem_info() == before


def test_what_the_simulator_lacks(cuda):
    assert "half" in fails(NOT_SUPPORTED, make, cuda, 4, 4, format=0xB0)
    fails(NOT_SUPPORTED, make, cuda, 4, 4, flags=0x10)


def test_layers_and_cubes(cuda):
    for shape, flags in (
        ((4, 0, 3), LAYERED),
        ((4, 4, 6), CUBEMAP),
        ((4, 4, 12), CUBEMAP | LAYERED),
        ((4, 4, 5), LAYERED | SURFACE),
    ):
        array = make(cuda, *shape, flags=flags)
        n = shape[0] * max(shape[1], 1) * shape[2]
        values = np.arange(n, dtype="f4")
        fill(cuda, array, values)
        assert (read(cuda, array, n, "f4") == values).all()


def test_arrays_count_as_memory(cuda):
    before = cuda.mem_info()[0]
    array = make(cuda, 1024, 1024)
    assert before - cuda.mem_info()[0] == 4 << 20
    cuda.cuArrayDestroy(array)
    assert cuda.mem_info()[0] == before
    fails(INVALID_HANDLE, cuda.cuArrayDestroy, array)
    fails(INVALID_HANDLE, cuda.cuMemcpyHtoA, array, 0, np.zeros(1).ctypes.data, 4)
    fails(INVALID_HANDLE, cuda.cuArrayGetDescriptor, byref(Descriptor()), array)
    fails(OUT_OF_MEMORY, make, cuda, 16384, 16384, 16384, 32, 4)


def test_an_array_lives_as_long_as_copies_of_it_are_queued(cuda, kernels):
    import threading

    array, values, stream = make(cuda, 1000), np.arange(1000, dtype="f4"), cuda.stream(1)
    device = cuda.alloc(4000)
    gate = Gate(cuda, kernels, stream)
    cuda.cuMemcpyHtoAAsync(array, 0, values.ctypes.data, 4000, stream)
    timer = threading.Timer(0.05, gate.open)
    timer.start()
    cuda.cuArrayDestroy(array)  # waits
    timer.join()
    cuda.cuMemFree(device)
