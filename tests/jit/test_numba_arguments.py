"""Arguments, hints and warnings as numba.cuda has them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from pygpu import cuda, vectorize
from pygpu.errors import LogicError


@cuda.jit("void(int32[:], int32)")
def first(out, x):
    out[0] = x


def test_numbers_are_cut_to_the_declared_type() -> None:
    out = cuda.to_device(np.zeros(1, np.int32))
    found = []
    for x in (5, 6, 0xFFFFFFFF, -(2**31) - 1, np.uint32(0xFFFFFFFE)):
        first[1, 1](out, x)
        found.append(int(out.copy_to_host()[0]))
    assert found == [5, 6, -1, 2**31 - 1, -2]


def test_arrays_of_the_same_bits_are_read_as_declared() -> None:
    out = cuda.to_device(np.zeros(1, np.uint32))
    first[1, 1](out, -1)
    assert out.copy_to_host()[0] == 0xFFFFFFFF
    with pytest.raises(TypeError, match="No matching definition"):
        first[1, 1](cuda.to_device(np.zeros(1, np.float32)), 1)


def test_launch_bounds_are_enforced() -> None:
    @cuda.jit(launch_bounds=32)
    def k(out):
        out[cuda.threadIdx.x] = 1

    out = cuda.to_device(np.zeros(64, np.int32))
    with pytest.raises(LogicError, match="launch_bounds"):
        k[1, (8, 8)](out)
    k[1, 32](out)
    assert out.copy_to_host().sum() == 32


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.complex128])
def test_cache_hints_load_and_store_items(dtype: type) -> None:
    @cuda.jit
    def k(x, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            cuda.stwt(out, (i, 0), cuda.ldcg(x, i) + cuda.ldcs(x, i - 1))
            cuda.stcs(out, (i, 1), cuda.ldcv(x, i))

    x = np.arange(1, 6).astype(dtype)
    out = cuda.to_device(np.zeros((5, 2), dtype))
    k[1, 8](cuda.to_device(x), out)
    assert (out.copy_to_host() == np.stack([x + np.roll(x, 1), x], 1)).all()


def test_setitem_and_bind_take_a_stream() -> None:
    stream = cuda.stream()
    a = cuda.to_device(np.zeros(4))
    a.setitem(slice(1, 3), 7, stream=stream)
    stream.synchronize()
    assert a.copy_to_host().tolist() == [0, 7, 7, 0]
    assert a.bind(stream).stream is not None


PROGRAM = """
import warnings
import numpy as np
from numba import config, cuda
from numba.cuda import float32, int32, void, vectorize, guvectorize, HAS_NUMBA, CUSource
from numba.cuda import types, testing
from numba.cuda.core.errors import NumbaPerformanceWarning
from numba.cuda.np.numpy_support import from_dtype
from numba.cuda.misc.special import literal_unroll
from numba.cuda.kernels.transpose import transpose

@cuda.jit
def k(x):
    x[0] = 1

def given(function):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function()
    assert all(w.category is NumbaPerformanceWarning for w in found)
    assert all(w.filename == "<string>" for w in found), found
    return [str(w.message).split()[0] for w in found]

a = cuda.to_device(np.arange(6.0).reshape(2, 3))
print(given(lambda: k[1, 32](np.zeros(1))))
print(given(lambda: k[1, 64](a[0])))
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
print(given(lambda: k[1, 96](cuda.mapped_array(1))))
cuda.config.CUDA_WARN_ON_IMPLICIT_COPY = 0
print(given(lambda: k[1, 128](np.zeros(1))))
assert isinstance(float32, types.Type) and types.complex64.underlying_float == float32
assert from_dtype(np.int32) == int32
assert (transpose(a).copy_to_host() == a.copy_to_host().T).all()
"""


def test_warnings_about_performance_follow_the_settings() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pygpu.compat", "-c", PROGRAM], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["['Grid', 'Host']", "['Grid']", "[]", "[]"]


@pytest.mark.parametrize("stream", ["s", 1.5, [0], np.zeros(1)], ids=repr)
def test_streams_that_are_none(stream) -> None:
    """Each call says that it was given something else than a stream."""
    a, event = cuda.to_device(np.arange(4)), cuda.event()
    add = cuda.reduce(lambda x, y: x + y)
    for name, call in {
        "to_device": lambda: cuda.to_device(np.arange(4), stream=stream),
        "device_array": lambda: cuda.device_array(4, stream=stream),
        "copy_to_host": lambda: a.copy_to_host(stream=stream),
        "copy_to_device": lambda: a.copy_to_device(np.arange(4), stream=stream),
        "setitem": lambda: a.setitem(0, 1, stream=stream),
        "bind": lambda: a.bind(stream),
        "Event.wait": lambda: event.wait(stream),
        "Event.record": lambda: event.record(stream),
        "first": lambda: first[1, 1, stream](np.zeros(1, np.int32), 1),
        "<lambda>": lambda: add(a, stream=stream),
    }.items():
        with pytest.raises(TypeError, match=f"{name}.*stream.*, not {type(stream).__name__}"):
            call()
    assert a.copy_to_host().tolist() == [0, 1, 2, 3]


def test_arrays_that_are_none() -> None:
    a = cuda.to_device(np.arange(4))
    with pytest.raises(TypeError, match="copy_to_host: ary must be an ndarray, not int"):
        a.copy_to_host(5)
    with pytest.raises(TypeError, match="to_device: to must be a device array, not ndarray"):
        cuda.to_device(np.arange(4), to=np.zeros(4))
    with pytest.raises(TypeError, match="event_elapsed_time: evtstart must be an Event, not int"):
        cuda.event_elapsed_time(5, cuda.event())
    with pytest.raises(NotImplementedError, match="pinned_array: strides="):
        cuda.pinned_array(4, strides=(16,))
    for call in (cuda.device_array, cuda.pinned_array, cuda.mapped_array, cuda.managed_array):
        with pytest.raises(TypeError, match=f"{call.__name__}: dtype: data type 'what' not"):
            call(4, "what")


def test_dtypes_that_are_none() -> None:
    double = cuda.reduce(lambda x, y: x + y)
    with pytest.raises(TypeError, match="<lambda>: dtype: data type 'what' not understood"):
        double(np.arange(4), dtype="what")
    for name in ("__call__", "reduce"):
        with pytest.raises(TypeError, match="add: dtype: data type 'what' not understood"):
            getattr(add, name)(*[np.arange(4.0)] * (2 if name == "__call__" else 1), dtype="what")


@vectorize(["float64(float64, float64)"], target="cuda")
def add(x, y):
    return x + y


def test_ints_that_are_too_large() -> None:
    out = cuda.to_device(np.zeros(1, np.int32))
    for number in (1 << 200, 3, 1 << 63, -(1 << 63) - 1):  # after 3, launched from C
        if number == 3:
            first[1, 1](out, number)
            continue
        with pytest.raises(OverflowError, match=f"first: argument x: {number} does not fit into"):
            first[1, 1](out, number)
    assert out.copy_to_host()[0] == 3
