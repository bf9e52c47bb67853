"""In, Out, InOut and handlers of one's own."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from pygpu import _cuda
from pygpu.cuda import driver as cuda

SOURCE = """
__global__ void twice(float *out, const float *in, int n)
{ int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) out[i] = 2 * in[i]; }
__global__ void add_one(float *x, int n)
{ int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) x[i] += 1; }
"""


@pytest.mark.parametrize("n", [1, 31, 1000])
@pytest.mark.parametrize("streamed", [False, True, "non-blocking"])
def test_in_out(kernels, n, streamed):
    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING if streamed != True else 0)  # noqa: E712
    x, y = np.random.default_rng(n).random(n, np.float32), np.zeros(n, np.float32)
    more = {"block": (128, 1, 1), "grid": ((n + 127) // 128, 1)}
    if streamed:
        more["stream"] = stream
    kernels.get_function("twice")(cuda.Out(y), cuda.In(x), np.int32(n), **more)
    np.testing.assert_array_equal(y, 2 * x)
    before = x.copy()
    kernels.get_function("add_one")(cuda.InOut(x), np.int32(n), **more)
    np.testing.assert_array_equal(x, before + 1)


def test_a_handler_is_used_again(kernels):
    x = np.zeros(4, np.float32)
    handler = cuda.InOut(x)
    assert handler.array is x and handler.dev_alloc is None
    add_one = kernels.get_function("add_one")
    add_one(handler, 4, block=(4, 1, 1))
    memory = handler.dev_alloc
    assert int(memory) == int(handler.get_device_alloc())
    add_one(handler, 4, block=(4, 1, 1))
    assert handler.dev_alloc is memory
    assert x.tolist() == [2.0] * 4


def test_kinds(kernels):
    x = np.zeros(1)
    assert isinstance(cuda.InOut(x), cuda.In)
    for kind in (cuda.In, cuda.Out, cuda.InOut):
        assert issubclass(kind, cuda.ArgumentHandler)
        assert isinstance(kind(ary=x), cuda.ArgumentHandler)
        with pytest.raises(TypeError):
            kind()
    assert not hasattr(cuda.In(x), "post_call")
    assert hasattr(cuda.Out(x), "post_call")
    cuda.In(x).note = "attributes of the user"


def test_time_kernel(kernels):
    x = np.zeros(4, np.float32)
    seconds = kernels.get_function("add_one")(cuda.InOut(x), 4, block=(4, 1, 1), time_kernel=True)
    assert seconds > 0 and x.tolist() == [1.0] * 4


def test_subclasses(kernels):
    calls = []

    class Own(cuda.ArgumentHandler):
        def __init__(self, ary, note):
            super().__init__(ary)
            self.note = note

        def get_device_alloc(self):
            calls.append("alloc")
            return super().get_device_alloc()

        def pre_call(self, stream):
            calls.append(("pre", stream))
            cuda.memcpy_htod(self.dev_alloc, self.array)

        def post_call(self, stream):
            calls.append(("post", stream))
            cuda.memcpy_dtoh(self.array, self.dev_alloc)

    class Noted(cuda.InOut):
        def pre_call(self, stream):
            calls.append("noted")
            super().pre_call(stream)

    x, y = np.zeros(4, np.float32), np.ones(4, np.float32)
    kernels.get_function("add_one")(Own(x, "note"), 4, block=(4, 1, 1))
    assert calls == ["alloc", ("pre", None), ("post", None)]
    assert x.tolist() == [1.0] * 4
    calls.clear()
    kernels.get_function("twice")(cuda.Out(x), Noted(y), 4, block=(4, 1, 1))
    assert calls == ["noted"] and x.tolist() == [2.0] * 4


def test_a_handler_without_post_call_does_not_wait(kernels):
    class Quiet(cuda.ArgumentHandler):
        pass

    handler = Quiet(np.zeros(4, np.float32))
    cuda.memset_d8(handler.get_device_alloc(), 0, 16)
    kernels.get_function("add_one")(handler, 4, block=(4, 1, 1))
    result = np.empty(4, np.float32)
    cuda.memcpy_dtoh(result, handler.dev_alloc)
    assert result.tolist() == [1.0] * 4


def test_errors_of_subclasses(kernels):
    class Pre(cuda.In):
        def pre_call(self, stream):
            raise KeyError("pre")

    class Post(cuda.InOut):
        def post_call(self, stream):
            raise KeyError("post")

    class Alloc(cuda.In):
        def get_device_alloc(self):
            return "memory"

    class NoInit(cuda.In):
        def __init__(self):
            pass

    add_one, x = kernels.get_function("add_one"), np.zeros(4, np.float32)
    for kind in (Pre, Post):
        with pytest.raises(KeyError, match=kind.__name__.lower()):
            add_one(kind(x), 4, block=(4, 1, 1))
    with pytest.raises(TypeError, match="expected a pointer, but .*Alloc returned a str"):
        add_one(Alloc(x), 4, block=(4, 1, 1))
    with pytest.raises(TypeError, match="__init__"):
        add_one(NoInit(), 4, block=(4, 1, 1))


def test_wrong_arrays(kernels):
    add_one = kernels.get_function("add_one")
    for kind in (cuda.In, cuda.Out, cuda.InOut):
        with pytest.raises(TypeError, match="could not determine array length of '<class 'int'>'"):
            add_one(kind(3), 4, block=(4, 1, 1))
        with pytest.raises(ValueError, match="contiguous"):
            add_one(kind(np.zeros(8, np.float32)[::2]), 4, block=(4, 1, 1))
        with pytest.raises((TypeError, ValueError)):
            add_one(kind(np.array([None])), 1, block=(4, 1, 1))
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    for kind in (cuda.Out, cuda.InOut):
        with pytest.raises((BufferError, ValueError), match="(?i)read-?only|writable"):
            add_one(kind(frozen), 4, block=(4, 1, 1))
    with pytest.raises((BufferError, TypeError, ValueError)):
        add_one(cuda.Out(bytes(16)), 4, block=(4, 1, 1))
    add_one(cuda.In(frozen), 4, block=(4, 1, 1))
    add_one(cuda.In(bytes(16)), 4, block=(4, 1, 1))
    add_one(cuda.InOut(bytearray(16)), 4, block=(4, 1, 1))


def test_no_items(kernels):
    empty = np.zeros(0, np.float32)
    kernels.get_function("add_one")(cuda.InOut(empty), 0, block=(4, 1, 1))


def test_fortran_order(kernels):
    x = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    before = x.copy()
    kernels.get_function("add_one")(cuda.InOut(x), 12, block=(12, 1, 1))
    np.testing.assert_array_equal(x, before + 1)


def test_a_device_allocation_that_is_too_small(kernels):
    handler = cuda.In(np.zeros(100, np.float32))
    handler.dev_alloc = cuda.mem_alloc(4)
    with pytest.raises(cuda.LogicError, match="400 bytes"):
        kernels.get_function("add_one")(handler, 1, block=(1, 1, 1))


def test_handlers_in_the_function_s_own_context(kernels):
    x = np.zeros(4, np.float32)
    other = cuda.Device(0).make_context()
    try:
        kernels.get_function("add_one")(cuda.InOut(x), 4, block=(4, 1, 1))
        assert cuda.Context.get_current() == other
        with pytest.raises(TypeError):
            kernels.get_function("add_one")(cuda.InOut(x), "4", block=(4, 1, 1))
        assert cuda.Context.get_current() == other
    finally:
        other.detach()
    assert x.tolist() == [1.0] * 4


def test_memory_goes_with_the_handler(kernels, balance):
    for _ in range(3):
        handler = cuda.InOut(np.zeros(4, np.float32))
        kernels.get_function("add_one")(handler, 4, block=(4, 1, 1))
        handler.cycle = handler
        ref = weakref.ref(handler)
        del handler
        gc.collect()
        assert ref() is None


@pytest.mark.parametrize(
    "routine", ["cuMemAlloc", "cuMemcpyHtoD", "cuLaunchKernel", "cuMemcpyDtoH"]
)
def test_faults(kernels, balance, routine):
    x = np.zeros(4, np.float32)
    add_one = kernels.get_function("add_one")
    add_one(cuda.InOut(x), 4, block=(4, 1, 1))
    _cuda._fault(routine, 719, times=9)
    try:
        with pytest.raises(cuda.LaunchError, match=routine):
            add_one(cuda.InOut(x), 4, block=(4, 1, 1))
    finally:
        _cuda._fault(None, 0)
    add_one(cuda.InOut(x), 4, block=(4, 1, 1))
    assert x.tolist() == [2.0] * 4 or routine == "cuMemcpyDtoH"


def test_inout_is_both():
    assert issubclass(cuda.InOut, cuda.In) and issubclass(cuda.InOut, cuda.Out)
    assert not issubclass(cuda.In, cuda.Out) and not hasattr(cuda.In, "post_call")
