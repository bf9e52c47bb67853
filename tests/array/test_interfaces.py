"""What PyOpenCL and PyCUDA programs ask of arrays; kernels that take them; order of commands."""

from __future__ import annotations

import numpy as np
import pytest

import pygpu as cl
from pygpu._src.array import interchange

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
SOURCE = """
__kernel void twice(__global float *a, int n)
{
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) a[i] *= 2;
}"""


@pytest.fixture
def cla(opencl_maker):
    import pygpu.array as module

    return module


@pytest.fixture
def gpuarray(cuda_context):
    cuda_context.push()
    import pygpu.cuda.gpuarray as module

    yield module
    type(cuda_context).pop()


def test_opencl_array(cla, opencl_maker):
    queue = opencl_maker.queue
    a = cla.Array(queue, (2, 3), np.float32, order="F")
    assert a.strides == (4, 8) and a.flags.f_contiguous and a.flags.forc
    assert (a.context, a.queue, a.ndim, a.size, a.nbytes) == (queue.context, queue, 2, 6, 24)
    assert a.data is a.base_data and a.offset == 0
    b = cla.to_device(queue, A)
    part = b[1]
    assert part.offset == 48 and part.base_data is b.base_data
    with pytest.raises(cla.ArrayHasOffsetError):
        part.data  # noqa: B018
    assert repr(cla.to_device(queue, A[0, 0])) == "cl.Array([0., 1., 2., 3.], dtype=float32)"
    lost = b.with_queue(None)
    assert "without queue" in repr(lost) and lost.queue is None
    with pytest.raises(ValueError, match="with_queue"):
        lost + 1
    np.testing.assert_array_equal((lost.with_queue(queue) + b).get(), 2 * A)
    np.testing.assert_array_equal(lost.get(queue), A)
    host, event = b.get_async()
    event.wait()
    np.testing.assert_array_equal(host, A)
    mapped = b.map_to_host(queue)
    assert (mapped == A).all()
    del mapped
    for shape in (5, (5,), np.int64(5), [5]):
        assert cla.zeros(queue, shape, np.int8).get().tolist() == [0] * 5
    assert cla.arange(queue, 1, 10, 3, dtype=np.int32).get().tolist() == [1, 4, 7]
    with pytest.raises(TypeError, match="dtype"):
        cla.arange(queue, 5)
    with pytest.raises(TypeError, match="cq"):
        cla.Array("queue", 5, np.float32)
    with pytest.raises(ValueError):
        cla.Array(queue, (2, -1), np.float32)
    with pytest.raises(ValueError, match="memory"):
        cla.Array(queue, 7, np.float32, data=a.data)
    over = cla.Array(queue, 2, np.float32, data=b.base_data, offset=8, strides=(4,))
    assert over.get().tolist() == [2, 3]
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue))
    c = cla.to_device(queue, A, allocator=pool)
    assert (c + c).allocator is pool and pool.active_blocks >= 1
    assert cla.empty_like(c).shape == A.shape and (cla.zeros_like(c).get() == 0).all()


def test_opencl_kernels_take_arrays(cla, opencl_maker):
    queue = opencl_maker.queue
    kernel = cl.Program(queue.context, SOURCE).build().twice
    a = cla.to_device(queue, A)
    a.add_event(kernel(queue, (4,), None, a, a.size))
    np.testing.assert_array_equal((a + 0).get(), 2 * A)
    with pytest.raises(ValueError, match="offset"):
        kernel(queue, (4,), None, a[1], 12)


def test_order_of_queues(cla, opencl_maker):
    """Operations wait for what other queues do to their operands, until a user event lets them."""
    context = opencl_maker.queue.context
    out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    one, two = cl.CommandQueue(context), cl.CommandQueue(context, properties=out_of_order)
    gate = cl.UserEvent(context)
    a = cla.to_device(one, A)
    a.setitem(..., 5, wait_for=[gate])
    b = a.with_queue(two)
    c = b + 1
    d = c * 2
    c += 1
    e = (a + d.with_queue(one)) - c.with_queue(one)
    assert e.events and c.events
    gate.set_status(0)
    assert (e.get() == 5 + 12 - 7).all()
    a.finish()
    assert a.events == []


def test_one_launch_for_each_operation(cla, opencl_maker):
    a = cla.to_device(opencl_maker.queue, A)
    b = a + a  # compiled now
    column = a[:, :1, :1]
    b = a + column
    cl._opencl._call_counts(True)
    try:
        b = a + a
        b += a
        b = a + column
        calls = cl._opencl._call_counts(False)
    finally:
        cl._opencl._call_counts(False)
    assert calls["clEnqueueNDRangeKernel"] == 3
    assert not any("Read" in name or "Write" in name or "Map" in name for name in calls)


def test_given_memory(gpuarray):
    """All of the array must lie in it, whether it is an allocation, pooled memory or an address."""
    from pygpu.cuda import driver, tools

    pool = tools.DeviceMemoryPool()
    for memory in driver.mem_alloc(64), pool.allocate(64):
        for gpudata, first in (memory, 0), (int(memory) + 8, 8):
            driver.memset_d8(memory, 0, 64)
            a = gpuarray.GPUArray((2, 3), np.float32, gpudata=gpudata, order="F")
            assert a.strides == (4, 8) and a.ptr == int(memory) + first
            a.set(np.asfortranarray(A[0, :2, :3]))
            assert (a.T.get() == A[0, :2, :3].T).all()
            whole = driver.from_device(memory, 16, np.float32)
            assert (whole[first // 4 :][:6] == A[0, :2, :3].T.ravel()).all()
            assert not whole[: first // 4].any() and not whole[first // 4 + 6 :].any()
            with pytest.raises(ValueError, match="GPUArray: gpudata: items lie from byte"):
                gpuarray.GPUArray((17,), np.float32, gpudata=gpudata)
        assert gpuarray.GPUArray((0,), np.float32, gpudata=memory).size == 0
    for wrong in "x", 2.5, [1]:
        with pytest.raises(TypeError, match="GPUArray: gpudata must be device memory or an addr"):
            gpuarray.GPUArray((4,), np.float32, gpudata=wrong)


def test_what_kernels_take(gpuarray):
    """The memory itself, the address of a view inside it, and nothing without items; parts of
    complex numbers are such views."""
    z = gpuarray.to_gpu(A[0, 0] + 1j)
    assert z.gpudata is z.base_data and int(z.gpudata) == z.ptr
    assert int(z[1:].gpudata) == int(z.gpudata) + z.itemsize == z[1:].ptr
    assert int(z.imag.gpudata) == int(z.gpudata) + z.itemsize // 2
    assert (z.real.get() == A[0, 0]).all() and (z.imag.get() == 1).all()
    assert z[:0].gpudata is None and gpuarray.empty((0, 3), np.int8).gpudata is None
    assert z.mem_size == z.size == A.shape[2] and z.nbytes == z.mem_size * z.itemsize
    for name in ("gpudata", "mem_size", "itemsize", "nbytes"):
        with pytest.raises(AttributeError):
            setattr(z, name, 1)


def test_memory_of_a_programs_own_class(gpuarray):
    """As reikna's temporary arrays have it: its address is what int() gives."""
    from pygpu.cuda import driver

    class Memory:
        def __init__(self, size):
            self.allocation, self.size = driver.mem_alloc(size), size

        def __int__(self):
            return int(self.allocation)

    memory = Memory(64)
    a = gpuarray.GPUArray((4,), np.float32, gpudata=int(memory) + 16)
    a.base_data = memory
    assert a.base_data is memory and a.ptr == int(memory) + 16
    with pytest.raises(ValueError, match="items lie up to byte 68"):
        gpuarray.GPUArray((17,), np.float32).base_data = memory


def test_cuda_array(gpuarray):
    from pygpu.cuda import driver

    a = gpuarray.GPUArray((2, 3), np.float32, order="F")
    assert a.strides == (4, 8) and a.mem_size == 6 and a.ptr == int(a.gpudata)
    b = gpuarray.to_gpu(A)
    assert repr(b).replace(" ", "") == f"cuda.GPU{repr(A).capitalize()}".replace(" ", "")
    assert str(b[0]) == str(A[0])
    part = b[1]
    assert part.ptr == b.ptr + 48 and int(part.gpudata) == part.ptr
    interface = part[:, ::2].__cuda_array_interface__
    assert interface["shape"] == (3, 2) and interface["strides"] == (16, 8)
    assert interface["data"] == (part.ptr, False) and interface["typestr"] == "<f4"
    again = gpuarray.GPUArray((3, 4), np.float32, base=b, gpudata=part.ptr)
    np.testing.assert_array_equal((again + 1).get(), A[1] + 1)
    assert again.base is b
    assert gpuarray.GPUArray((0,), np.float32).gpudata is None
    assert gpuarray.zeros((2, 2)).dtype == np.float64 and (gpuarray.ones(3, "f4").get() == 1).all()
    np.testing.assert_array_equal(b.get(pagelocked=True), A)
    stream = driver.Stream()
    c = gpuarray.to_gpu_async(A, stream=stream)
    host = c.get_async(stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(host, A)
    np.testing.assert_array_equal(c.astype(np.float32, stream).get(), A)
    assert gpuarray.arange(0, 3, dtype=np.float32).get().tolist() == [0, 1, 2]
    assert b._block[1:] == (1, 1) and b._grid[1] == 1
    assert gpuarray.vec.float3.names == ("x", "y", "z")
    assert gpuarray.vec.make_int2(1, 2)["y"] == 2
    moved = b.with_stream(stream)
    np.testing.assert_array_equal((moved + moved).get(), 2 * A)


def test_cuda_kernels_take_arrays(gpuarray):
    from pygpu.cuda.compiler import SourceModule

    kernel = SourceModule(
        "__global__ void twice(float *a, int n) { if (threadIdx.x < n) a[threadIdx.x] *= 2; }"
    ).get_function("twice")
    a = gpuarray.to_gpu(A)
    for array in (a[1], a[1].gpudata):  # with and without the object
        kernel(array, 12, block=(32, 1, 1))
    kernel.prepare("Pi").prepared_call((1, 1), (32, 1, 1), a.gpudata, 12)
    want = A.copy()
    want[0] *= 2
    want[1] *= 4
    np.testing.assert_array_equal(a.get(), want)


def test_backends_do_not_mix(cla, opencl_maker, gpuarray):
    with pytest.raises(ValueError, match="different"):
        opencl_maker(A) + gpuarray.to_gpu(A)


def test_old_answers_of_the_aliases(make):
    """Programs for PyOpenCL and PyCUDA may rely on the dtype of comparisons."""
    a = make(A[0, 0])
    assert (a > 1).dtype == bool  # whose kernel is remembered for the next such comparison
    for answer, dtype in ((np.int8, np.int8), ("same", np.float32)):
        old = type("Old", (type(a),), {"_comparison_dtype": answer})
        b = a._view(a.shape, a.strides, a.offset, None, old)
        for _ in range(2):
            result = b > 1
            assert result.dtype == dtype and result.get().tolist() == [0, 0, 1, 1]
            assert type(b + b) is old


ALIASES = """
import numpy as np, pygpu.compat, warnings
warnings.simplefilter("ignore")
pygpu.compat.install()
import pyopencl as cl, pyopencl.array as cla, pygpu.array
queue = cl.CommandQueue(cl.create_some_context(interactive=False))
a = cla.to_device(queue, np.arange(4, dtype=np.float32))
assert (a > 1).dtype == np.int8 and (2 * a > 1).dtype == np.int8 and (a + 1).dtype == np.float32
assert isinstance(pygpu.array.zeros(queue, 3, np.int8), cla.Array) and not isinstance(3, cla.Array)
assert isinstance(a, pygpu.array.Array) and not isinstance(a, type("Mine", (cla.Array,), {}))
import pycuda.autoinit, pycuda.gpuarray as gpuarray
b = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
assert (b > 1).dtype == np.float32 and isinstance(b + b, gpuarray.GPUArray)
from pyopencl.array import *
assert to_device is cla.to_device and if_positive is pygpu.array.if_positive
print("fine")
"""


def test_aliases_of_other_packages(cla, gpuarray):
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-P", "-c", ALIASES], capture_output=True, text=True, timeout=200
    )
    assert done.stdout == "fine\n", done.stderr


class Shown:
    """Another library's array: it has the protocols, and no buffer."""

    def __init__(self, array):
        self.array = array
        if hasattr(array, "__cuda_array_interface__"):
            self.__cuda_array_interface__ = array.__cuda_array_interface__


class Capsules:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("kind", [Shown, Capsules])
def test_to_gpu_copies_arrays_of_other_libraries(gpuarray, kind):
    theirs = gpuarray.to_gpu(A)
    for function in (gpuarray.to_gpu, gpuarray.to_gpu_async):
        ours = function(kind(theirs))
        theirs.fill(0)
        assert type(ours) is gpuarray.GPUArray and ours.get().tolist() == A.tolist()
        theirs.set(A)


def test_numbas_to_device_shares_arrays_of_other_libraries(gpuarray):
    from pygpu import cuda

    theirs = gpuarray.to_gpu(A)
    ours = cuda.to_device(Shown(theirs))
    ours[0] = 7
    assert theirs.get()[0].tolist() == ours.copy_to_host()[0].tolist() == [[7] * 4] * 3


def test_to_device_refuses_arrays_of_other_libraries(cla, opencl_maker, gpuarray):
    for theirs in (Shown(gpuarray.to_gpu(A)), Capsules(gpuarray.to_gpu(A))):
        with pytest.raises(TypeError, match=r"to_device: a host array is needed.*xp.asarray\(\)"):
            cla.to_device(opencl_maker.queue, theirs)
    with pytest.raises(RuntimeError, match="object arrays"):
        cla.to_device(opencl_maker.queue, object())


@pytest.mark.parametrize("how", ["empty __init__", "__new__"])
def test_arrays_that_were_not_initialized_say_so(make, how):
    class Mine(type(make(A))):
        def __init__(self):
            pass

    uninitialized = Mine() if how == "empty __init__" else Mine.__new__(Mine)
    for use in (
        lambda: uninitialized + 1,
        lambda: uninitialized.get(),
        lambda: uninitialized.sum(),
        lambda: np.sin(uninitialized),
        lambda: uninitialized == uninitialized,
        lambda: uninitialized.device,
        lambda: uninitialized.__dlpack__(),
        lambda: uninitialized.copy(),
    ):
        with pytest.raises(AttributeError, match=r"no memory: __init__\(\) of its class was"):
            use()
    assert not hasattr(uninitialized, "__cuda_array_interface__")
    with pytest.raises(ValueError, match=r"none: __init__\(\) was not called"):
        make(A) + uninitialized


@pytest.fixture
def failing(cuda_context):
    """Lets the next call of a driver's function answer a status."""
    from pygpu import _cuda

    yield _cuda._fault
    _cuda._fault(None, 0)


ASK_OF_ADDRESSES = {
    "from_cuda_array": lambda g, a: interchange.from_cuda_array(Shown(a)),
    "GPUArray": lambda g, a: g.GPUArray(a.shape, a.dtype, gpudata=int(a.gpudata)),
    "a pointer of cuda.jit": lambda g, a: _pointer_view(int(a.gpudata)),
}  # fmt: skip


def _pointer_view(address):
    from pygpu._src.jit.decorators.arguments import pointer_view

    return pointer_view("x", address, np.dtype(np.float32))


@pytest.mark.parametrize("ask", ASK_OF_ADDRESSES.values(), ids=ASK_OF_ADDRESSES)
def test_a_dead_context_is_not_taken_for_an_unknown_address(gpuarray, failing, ask):
    array = gpuarray.to_gpu(A)
    failing("cuMemGetAddressRange", 700, 1, 9)
    with pytest.raises(cl.LogicError, match=r"illegal memory access.*restart the kernel"):
        ask(gpuarray, array)


def test_an_unknown_address_is_refused(gpuarray):
    shown = Shown(gpuarray.to_gpu(A))
    shown.__cuda_array_interface__["data"] = (1 << 40) + 4096, False
    with pytest.raises(BufferError, match="not memory of the CUDA driver"):
        interchange.from_cuda_array(shown)


def test_backends_of_one_device_differ(opencl_maker, gpuarray):
    from pygpu.cuda import driver
    from pygpu.elementwise import ElementwiseKernel

    device = opencl_maker.queue.device
    arrays = [cl.array.to_device(cl.CommandQueue(cl.Context([device])), A) for _ in range(2)]
    with pytest.raises(ValueError, match="different contexts") as caught:
        ElementwiseKernel(arrays[0].context, "float *x, float *y", "x[i] = y[i]")(*arrays)
    for array in arrays:
        assert f"{array.backend!r}" in str(caught.value)
    contexts = [driver.Device(0).make_context() for _ in range(2)]
    texts = {repr(gpuarray.to_gpu(A).backend)}
    driver.Context.pop()
    texts.add(repr(gpuarray.to_gpu(A).backend))
    driver.Context.pop()
    assert len(texts) == 2 and all("cuda:0, context 0x" in text for text in texts), contexts
