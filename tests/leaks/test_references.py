"""A call leaves the references to its arguments, and to what it compares, as they were.

A reference too few crashes much later, in a collection of garbage or wherever the memory is used
again; one too many is a leak. Both show at once in the counts before and after some repeats, and a
leak of what a call makes itself in the number of the interpreter's pieces of memory.
"""

from __future__ import annotations

import gc
import sys
import time
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from array_fixtures import Maker, cuda_context, make, opencl_maker  # noqa: F401

import pygpu
import pygpu as cl
from pygpu import _cuda, _opencl, xp

REPEATS = 50

Case = tuple[Callable[[], object], Sequence[object]]
"""What is repeated, and the objects whose references are counted."""


def check(
    call: Callable[[], object], watched: Sequence[object], settle: Callable[[], object]
) -> None:
    """Repeat a call; *settle* waits for the device and drops what was kept until then."""

    def counts() -> list[int]:
        found: list[int] = []
        for _ in range(100):  # a driver's threads let go of a command a little after it is done
            settle()
            last, found = found, [sys.getrefcount(item) for item in watched]
            if found == last:
                break
            time.sleep(0.005)
        return found

    for _ in range(5):
        call()
    before, rounds = counts(), []
    for _ in range(12):  # caches grow at first, and commands are let go of a little later
        blocks = sys.getallocatedblocks()
        for _ in range(REPEATS):
            call()
        after = counts()
        grown = sys.getallocatedblocks() - blocks
        changed = [
            (old, new, type(item), item)
            for item, old, new in zip(watched, before, after)
            # Caches of arrays have references to dtypes, too.
            if abs(new - old) >= (REPEATS if isinstance(item, np.dtype) else 1)
        ]
        if not changed and grown < REPEATS:
            return
        rounds.append((grown, changed))
        before = after
    pytest.fail(f"pieces of memory more, and counts changed, after each {REPEATS} calls: {rounds}")


def refused(kind: type[BaseException], call: Callable[[], object]) -> None:
    """Call what must raise, without pytest.raises(), which keeps the exception."""
    try:
        call()
    except kind:
        return
    raise AssertionError("a mistake was accepted")


# ---- arrays, on both backends --------------------------------------------------------------------

module_value = 4567.5


class Settings:
    of_class = 5678.5

    def __init__(self) -> None:
        self.of_object = 3456.5


def guards(on: Maker) -> Case:
    captured, items, settings = 1234.5, [2345.5], Settings()

    @pygpu.kernel
    def k(out: Any, x: Any) -> None:
        out[0] = captured + items[0] + settings.of_object + Settings.of_class + module_value + x

    out, x = on(np.zeros(1)), 6789.5
    values = [captured, items[0], settings.of_object, Settings.of_class, module_value]
    return lambda: k[1, 1](out, x), [*values, items, settings, Settings, out, out.base_data, x, k]


def guards_of_a_ufunc(on: Maker) -> Case:
    captured, items, settings = 1234.5, [2345.5], Settings()

    @pygpu.vectorize(target=on.name)
    def f(x: Any) -> Any:
        return x + captured + items[0] + settings.of_object + module_value

    x = on(np.zeros(2))
    return lambda: f(x), [captured, items[0], settings.of_object, module_value, x, f]


def numbers_of_a_kernel(on: Maker) -> Case:
    @pygpu.kernel
    def k(out: Any, i: Any, x: Any, n: Any) -> None:
        out[i] = x + n

    out, i, x, n = on(np.zeros(2000)), 1000, np.float32(1.5), np.int64(10**12)
    return lambda: k[(1,), (1,)](out, i, x, n), [out, i, x, n, k]


def a_kernel_that_is_refused(on: Maker) -> Case:
    @pygpu.kernel
    def k(out: Any, i: Any) -> None:
        out[i] = 1

    out, wrong, many = on(np.zeros(4)), object(), [10**30]
    k[1, 1](out, 1)

    def call() -> None:
        refused(Exception, lambda: k[1, 1](out, wrong))
        refused(Exception, lambda: k[1, 1](out, many[0]))
        refused(Exception, lambda: k[1, 1](wrong))
        refused(Exception, lambda: k[wrong, 1](out, 1))

    return call, [out, wrong, many[0], k]


def a_fused_function(on: Maker) -> Case:
    captured = 1234.5

    @pygpu.fuse
    def f(a: Any, x: Any) -> Any:
        return {"sum": (a * x + captured).sum(), "all": [a + module_value, a[1:]]}

    a, x = on(np.ones(300)), 2345.5
    return lambda: f(a, x), [a, a.base_data, x, captured, module_value, f]


def operators(on: Maker) -> Case:
    a, b, x, n = on(np.ones(300)), on(np.ones(300)), 1234.5, np.float64(2345.5)

    def call() -> None:
        c = a + b * x - n
        c += b
        c *= 1.5
        _ = c == a, -c, c.sum(), c.sum(axis=0), abs(c), c**2, x / (c + 1e4)

    return call, [a, b, a.base_data, b.base_data, x, n, a.dtype, a.shape]


def ufuncs(on: Maker) -> Case:
    a, b, out = on(np.ones(300)), on(np.ones(300)), on(np.zeros(300))
    mask, outs = on(np.arange(300) % 2 == 0), (on(np.zeros(300)),)

    def call() -> None:
        np.add(a, b, out=out)
        np.add(a, b, out=outs)
        np.multiply(a, b, out=out, where=mask)
        xp.sin(a, out=out)
        xp.where(mask, a, b)
        np.add.reduce(a)
        np.sqrt(a)

    return call, [a, b, out, mask, outs, outs[0], out.base_data]


def slices(on: Maker) -> Case:
    a, b = on(np.ones((40, 50))), on(np.zeros((40, 50)))
    keys = [slice(500, 2000), (slice(None, None, -1), 7), (Ellipsis, None), np.int64(3)]

    def call() -> None:
        for key in keys:
            _ = a[key]
        b[1:3] = a[1:3]
        b[5] = 2.5
        _ = a.T, a.reshape(2000), a.ravel(), a.view(np.int64), a.squeeze(), a[a > 0.5], a[[1, 2]]

    return call, [a, b, a.base_data, a.dtype, *keys]


def copies(on: Maker) -> Case:
    a, host, target = on(np.ones(300)), np.ones(300), np.empty(300)

    def call() -> None:
        a.set(host)
        a.get(target) if on.name == "cuda" else a.get(ary=target)
        a.get()
        a.copy()
        a.astype(np.float32)
        a.fill(2.5)
        a.fill(0)
        on(host)
        xp.empty_like(a)
        xp.zeros_like(a)

    return call, [a, a.base_data, host, target, a.dtype, np.dtype(np.float32)]


def an_allocator(on: Maker) -> Case:
    pool = on(np.ones(1)).copy
    inner = on.backend.allocate

    def allocate(size: int) -> Any:
        return inner(size, None)

    a = on(np.ones(300), allocator=allocate)
    return lambda: (a + a, a.copy(), a[2:] + 1), [allocate, a, a.base_data, pool]


def dlpack(on: Maker) -> Case:
    a = on(np.ones(300))

    def call() -> None:
        xp.from_dlpack(a)
        a.__dlpack__()
        a.__dlpack__(max_version=(1, 0))

    return call, [a, a.base_data, a.dtype]


def refused_operands(on: Maker) -> Case:
    a, small = on(np.ones(300)), on(np.ones(300, np.uint8))
    wrong, key, n = object(), (5000, 6000), 1000

    def call() -> None:
        refused(TypeError, lambda: a + wrong)
        refused(IndexError, lambda: a[key])
        refused(IndexError, lambda: a[wrong])
        refused(OverflowError, lambda: small + n)
        refused(Exception, lambda: a.get(wrong))
        refused(Exception, lambda: a.set(wrong))
        refused(Exception, lambda: a.astype(wrong))
        refused(Exception, lambda: a.reshape(n))
        refused(Exception, lambda: np.add(a, a, out=wrong))
        refused(Exception, lambda: np.add(a, a, wrong))
        refused(Exception, lambda: xp.from_dlpack(wrong))

    return call, [a, small, wrong, key, *key, n]


def a_failing_allocator(on: Maker) -> Case:
    error = MemoryError("no more")
    a = on(np.ones(300))

    def allocate(size: int) -> Any:
        raise error

    a.allocator = allocate

    def call() -> None:
        refused(MemoryError, lambda: a + a)
        refused(MemoryError, a.copy)
        error.__traceback__ = error.__context__ = None

    return call, [a, allocate, error, a.base_data]


def user_kernels(on: Maker) -> Case:
    a, b, x = on(np.ones(300, np.float32)), on(np.ones(300, np.float32)), 1234.5
    if on.name == "opencl":
        from pygpu.elementwise import ElementwiseKernel

        k: Any = ElementwiseKernel(
            on.queue.context, "float *a, float *b, float x", "a[i] = b[i] + x"
        )
    else:
        from pygpu.cuda.elementwise import ElementwiseKernel as Elementwise

        k = Elementwise("float *a, float *b, float x", "a[i] = b[i] + x")
    return lambda: k(a, b, x), [a, b, x, a.base_data, k]


def named(*cases: Callable[..., Case], slow: Sequence[Callable[..., Case]] = ()) -> Any:
    """The parameter *case*; the slow ones compile several kernels."""
    rows = [pytest.param(case, id=case.__name__) for case in cases]
    rows += [pytest.param(case, id=case.__name__, marks=pytest.mark.slow) for case in slow]
    return pytest.mark.parametrize("case", rows)


@named(
    guards,
    numbers_of_a_kernel,
    copies,
    an_allocator,
    dlpack,
    refused_operands,
    a_failing_allocator,
    slow=[
        guards_of_a_ufunc,
        a_kernel_that_is_refused,
        a_fused_function,
        operators,
        ufuncs,
        slices,
        user_kernels,
    ],
)
def test_arrays(make: Maker, case: Callable[[Maker], Case]) -> None:  # noqa: F811
    def settle() -> None:
        make.backend.synchronize(make.queue)
        gc.collect()

    call, watched = case(make)
    check(call, watched, settle)


# ---- OpenCL --------------------------------------------------------------------------------------

SOURCE = """
kernel void axpy(float s, global const float *x, global float *y)
{ size_t i = get_global_id(0); y[i] += s * x[i]; }
kernel void local_sum(local float *part, global float *y) { part[0] = y[0]; y[1] = part[0]; }
"""


class OpenCL:
    """A queue of its own, a program and buffers."""

    def __init__(self, device: cl.Device) -> None:
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context)
        self.program = cl.Program(self.context, SOURCE).build()
        flags = cl.mem_flags.READ_WRITE
        self.x, self.y = (cl.Buffer(self.context, flags, 4096) for _ in range(2))
        self.host = np.ones(1024, np.float32)

    def settle(self) -> None:
        self.queue.finish()
        cl.enqueue_marker(self.queue).wait()  # the first command after drops what was kept
        gc.collect()


def launches(on: OpenCL) -> Case:
    axpy, s, sizes, local = on.program.axpy, np.float32(1.5), (1000,), (10,)
    event, options = cl.enqueue_marker(on.queue), {"global_offset": (1,)}
    wait_for = [event]

    def call() -> None:
        axpy(on.queue, sizes, local, s, on.x, on.y)
        axpy(on.queue, sizes, None, 2.5, on.y, on.x, wait_for=wait_for)
        axpy(on.queue, sizes, None, s, on.y, on.x, **options)
        axpy.set_args(s, on.x, on.y)
        axpy.set_arg(0, s)
        cl.enqueue_nd_range_kernel(on.queue, axpy, sizes, local, wait_for=wait_for)

    return call, [axpy, s, sizes, *sizes, event, wait_for, options, on.x, on.y, on.queue]


def local_memory(on: OpenCL) -> Case:
    k, part = on.program.local_sum, cl.LocalMemory(64)
    return lambda: k(on.queue, (1,), (1,), part, on.y), [k, part, on.y, on.queue]


def refused_launches(on: OpenCL) -> Case:
    axpy, s, wrong, many = on.program.axpy, np.float32(1.5), object(), 10**400
    event = cl.enqueue_marker(on.queue)

    def call() -> None:
        refused(cl.LogicError, lambda: axpy(on.queue, (8,), None, s, on.x, wrong))
        refused(OverflowError, lambda: axpy(on.queue, (8,), None, many, on.x, on.y))
        refused(TypeError, lambda: axpy(on.queue, (8,), None, s, on.x))
        refused(TypeError, lambda: axpy(wrong, (8,), None, s, on.x, on.y))
        refused(TypeError, lambda: axpy(on.queue, wrong, None, s, on.x, on.y))
        refused(OverflowError, lambda: axpy(on.queue, (many,), None, s, on.x, on.y))
        refused(
            TypeError, lambda: axpy(on.queue, (8,), None, s, on.x, on.y, wait_for=[event, wrong])
        )
        refused(TypeError, lambda: axpy(on.queue, (8,), None, s, on.x, on.y, unknown=wrong))
        refused(cl.LogicError, lambda: axpy.set_arg(many % 7 + 9, wrong))

    return call, [axpy, s, wrong, many, event, on.x, on.y, on.queue]


def commands(on: OpenCL) -> Case:
    event, pattern = cl.enqueue_marker(on.queue), np.float32(1.5)
    wait_for, part = (event,), np.ones(10, np.float32)

    def call() -> None:
        cl.enqueue_copy(on.queue, on.x, on.host)
        cl.enqueue_copy(on.queue, on.host, on.x, wait_for=wait_for)
        cl.enqueue_copy(on.queue, part, on.x, is_blocking=False).wait()
        cl.enqueue_copy(on.queue, on.y, on.x, wait_for=wait_for)
        cl.enqueue_fill_buffer(on.queue, on.x, pattern, 0, 4096, wait_for=wait_for)
        array, _ = cl.enqueue_map_buffer(
            on.queue, on.x, cl.map_flags.READ, 0, (10,), np.float32, wait_for=wait_for
        )
        array.base.release(on.queue, wait_for)
        cl.enqueue_barrier(on.queue, wait_for)
        cl.wait_for_events(wait_for)
        cl.enqueue_migrate_mem_objects(on.queue, (on.x, on.y))
        _ = on.x[1024:2048], on.x.get_info(cl.mem_info.SIZE), event.profile

    return call, [event, wait_for, pattern, part, on.host, on.x, on.y, on.queue, on.context]


def callbacks(on: OpenCL) -> Case:
    done: list[int] = []
    user = cl.command_execution_status.COMPLETE

    def call() -> None:
        event = cl.UserEvent(on.context)
        event.set_callback(user, done.append)
        marker = cl.enqueue_marker(on.queue, wait_for=[event])
        event.set_status(user)
        marker.wait()
        while done[-1:] != [user]:
            pass
        done.clear()

    return call, [done, on.context, on.queue]


def shared_memory(on: OpenCL) -> Case:
    if not on.queue.device.svm_capabilities:
        pytest.skip("the device has no shared virtual memory")
    array = cl.csvm_empty(on.context, 1024, np.float32)
    svm, axpy = cl.SVM(array), on.program.axpy

    def call() -> None:
        axpy(on.queue, (8,), None, 1.5, svm, on.y)
        cl.enqueue_copy(on.queue, svm, on.host)
        with svm.map_rw(on.queue):
            pass
        cl.enqueue_svm_memfill(on.queue, svm, np.float32(1))
        cl.csvm_empty(on.context, 16, np.float32)

    return call, [array, svm, on.host, on.y, on.queue, on.context]


def pools(on: OpenCL) -> Case:
    allocator = cl.tools.ImmediateAllocator(on.queue)
    pool = cl.tools.MemoryPool(allocator)
    return lambda: (pool(1000), pool.allocate(5000)), [allocator, pool, on.queue, on.context]


def programs(on: OpenCL) -> Case:
    name, key = "axpy", "no such kernel"

    def call() -> None:
        _ = on.program.axpy, getattr(on.program, name), on.program.all_kernels()
        refused(AttributeError, lambda: getattr(on.program, key))
        cl.Kernel(on.program, name)
        refused(cl.LogicError, lambda: cl.Kernel(on.program, key))
        cl.Program(on.context, SOURCE)

    return call, [name, key, on.program, on.program.axpy, on.context]


@named(
    launches, local_memory, refused_launches, commands, callbacks, shared_memory, pools, programs
)
def test_opencl(opencl_maker: Maker, case: Callable[[OpenCL], Case]) -> None:  # noqa: F811
    on = OpenCL(opencl_maker.queue.device)
    call, watched = case(on)
    check(call, watched, on.settle)


# ---- CUDA ----------------------------------------------------------------------------------------

CUDA_SOURCE = """
__global__ void axpy(float s, const float *x, float *y)
{ y[threadIdx.x] += s * x[threadIdx.x]; }
"""


class CUDA:
    """A kernel, memory and a stream."""

    def __init__(self) -> None:
        from pygpu.cuda import driver
        from pygpu.cuda.compiler import SourceModule

        self.driver: Any = driver
        self.module = SourceModule(CUDA_SOURCE, no_extern_c=False)
        self.axpy = self.module.get_function("axpy")
        self.x, self.y = driver.mem_alloc(4096), driver.mem_alloc(4096)
        self.stream = driver.Stream()
        self.host = np.ones(1024, np.float32)

    def settle(self) -> None:
        self.driver.Context.synchronize()
        gc.collect()


class Holder:
    """An array of another library, by either protocol."""

    def __init__(self, name: str, value: Any) -> None:
        setattr(self, name, value)


def cuda_launches(on: CUDA) -> Case:
    s, block, grid = np.float32(1.5), (32, 1, 1), (1, 1)
    gpudata = Holder("gpudata", on.x)
    data = {"data": (int(on.x), False), "shape": (1024,), "typestr": "<f4", "version": 3}
    interface = Holder("__cuda_array_interface__", data)

    def call() -> None:
        on.axpy(s, on.x, on.y, block=block, grid=grid)
        on.axpy(2.5, on.x, on.y, block=block, grid=grid, stream=on.stream)
        on.axpy(s, gpudata, interface, block=block)
        on.axpy(s, on.x, on.y, block=block, shared=16, time_kernel=True)

    return call, [s, block, grid, gpudata, data, interface, on.x, on.y, on.stream, on.axpy]


def handlers(on: CUDA) -> Case:
    s, block, kinds = np.float32(0.5), (32, 1, 1), (on.driver.In, on.driver.InOut, on.driver.Out)
    kept = on.driver.InOut(on.host)

    def call() -> None:
        for kind in kinds:
            on.axpy(s, on.x, kind(on.host), block=block)
        on.axpy(s, kept, on.y, block=block, stream=on.stream)
        repr(kept)

    return call, [s, block, kept, on.host, on.x, on.stream, on.axpy]


def prepared_calls(on: CUDA) -> Case:
    types, s, block, grid = ("f", "P", np.intp), 1.5, (32, 1, 1), (1, 1)

    def call() -> None:
        on.axpy.prepare(types)
        on.axpy.prepared_call(grid, block, s, on.x, on.y)
        on.axpy.prepared_async_call(grid, block, on.stream, s, on.x, on.y, shared_size=16)
        on.axpy.prepared_timed_call(grid, block, s, on.x, on.y)()

    return call, [types, s, block, grid, on.x, on.y, on.stream, on.axpy]


def refused_cuda_launches(on: CUDA) -> Case:
    s, block, wrong, many = np.float32(1.5), (32, 1, 1), object(), 10**30
    on.axpy.prepare("fPP")

    def call() -> None:
        refused(TypeError, lambda: on.axpy(s, on.x, wrong, block=block))
        refused(OverflowError, lambda: on.axpy(s, on.x, many, block=block))
        refused(TypeError, lambda: on.axpy(s, on.x, block=block))
        refused(Exception, lambda: on.axpy(s, on.x, on.y, block=wrong))
        refused(Exception, lambda: on.axpy(s, on.x, on.y, block=block, grid=wrong))
        refused(Exception, lambda: on.axpy(s, on.x, on.y, block=block, stream=wrong))
        refused(ValueError, lambda: on.axpy(s, on.x, on.y, block=block, unknown=wrong))
        refused(Exception, lambda: on.axpy(s, on.driver.In(wrong), on.y, block=block))
        refused(Exception, lambda: on.axpy.prepared_call((1, 1), block, s, wrong, on.y))
        refused(Exception, lambda: on.axpy.prepare(wrong))

    return call, [s, block, wrong, many, on.x, on.y, on.axpy]


def cuda_commands(on: CUDA) -> Case:
    event, target = on.driver.Event(), np.empty(1024, np.float32)

    def call() -> None:
        on.driver.memcpy_htod(on.x, on.host)
        on.driver.memcpy_dtoh(target, on.x)
        on.driver.memcpy_dtod(on.y, on.x, 4096)
        on.driver.memcpy_htod_async(on.x, on.host, on.stream)
        on.driver.memcpy_dtoh_async(target, on.x, on.stream)
        on.driver.memset_d32(on.x, 0, 1000)
        event.record(on.stream)
        on.stream.wait_for_event(event)
        on.stream.synchronize()
        event.synchronize()
        _ = on.x.as_buffer(64), on.driver.to_device(on.host), on.module.get_global

    return call, [event, target, on.host, on.x, on.y, on.stream]


def host_functions(on: CUDA) -> Case:
    done: list[object] = []
    item = object()

    def call() -> None:
        on.driver.launch_host_func(on.stream, done.append, item)
        on.stream.synchronize()
        done.clear()

    return call, [done, item, on.stream]


def graphs(on: CUDA) -> Case:
    s, block = np.float32(0.5), (32, 1, 1)

    def call() -> None:
        on.stream.begin_capture()
        on.axpy(s, on.x, on.y, block=block, stream=on.stream)
        graph = on.stream.end_capture()
        ready = graph.instantiate()
        ready.launch(on.stream)
        ready.update(graph)
        on.stream.synchronize()

    return call, [s, block, on.x, on.y, on.stream, on.axpy]


def cuda_pools(on: CUDA) -> Case:
    pool = on.driver.pagelocked_empty, on.driver.Context.get_current()

    def call() -> None:
        array = on.driver.pagelocked_empty(100, np.float32)
        _ = array.base.get_device_pointer() if hasattr(array.base, "get_device_pointer") else 0
        on.driver.managed_empty(100, np.float32, mem_flags=on.driver.mem_attach_flags.GLOBAL)

    return call, [*pool]


@named(
    cuda_launches,
    handlers,
    prepared_calls,
    refused_cuda_launches,
    cuda_commands,
    host_functions,
    graphs,
    cuda_pools,
)
def test_cuda(cuda_context: Any, case: Callable[[CUDA], Case]) -> None:  # noqa: F811
    cuda_context.push()
    try:
        on = CUDA()
        call, watched = case(on)
        check(call, watched, on.settle)
    finally:
        type(cuda_context).pop()


# ---- all methods ---------------------------------------------------------------------------------


def methods(instance: object) -> Iterator[Callable[..., object]]:
    """Those that are written in C, bound to the object."""
    kinds = types.MethodDescriptorType, types.ClassMethodDescriptorType
    for base in type(instance).__mro__:
        if base.__module__.startswith("pygpu"):
            for name, value in vars(base).items():
                if isinstance(value, kinds) and not name.startswith("_") and name != "set_trace":
                    yield getattr(instance, name)


def opencl_objects(on: OpenCL) -> list[object]:
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(on.queue))
    image_format = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
    mapped, event = cl.enqueue_map_buffer(on.queue, on.x, cl.map_flags.READ, 0, 4, np.int8)
    objects = [on.queue, on.context, on.program, on.program.axpy, on.x, on.queue.device]
    objects += [on.queue.device.platform, event, event.profile, mapped.base, pool, pool(64)]
    objects += [cl.UserEvent(on.context), cl.LocalMemory(8), image_format]
    if on.queue.device.image_support:
        objects += [
            cl.create_image(on.context, cl.mem_flags.READ_ONLY, image_format, (4, 4)),
            cl.Sampler(on.context, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST),
        ]
    return objects


def cuda_objects(on: CUDA) -> list[object]:
    driver = on.driver
    on.stream.begin_capture()
    on.axpy(np.float32(1), on.x, on.y, block=(1, 1, 1), stream=on.stream)
    graph = on.stream.end_capture()
    host = driver.pagelocked_empty(4, np.float32).base
    objects = [on.x, on.axpy, on.stream, driver.Context.get_current(), driver.Device(0), graph]
    return [*objects, graph.instantiate(), driver.Event(), driver.InOut(on.host), host]


def check_methods(objects: Sequence[object], functions: Sequence[Any], settle: Any) -> None:
    """Nothing is kept, nor dropped, of arguments that none of these calls take."""
    wrong = [object(), 10**400, "no such name", 1234.5, [None], (object(), 2345.5)]
    called = [*functions, *(method for item in objects for method in methods(item))]
    assert len(called) > 40

    def call() -> None:
        for function in called:
            for item in wrong:
                for n in range(1, 4):
                    try:
                        function(*[item] * n)
                    except Exception:
                        pass

    call()
    watched = [*objects, *wrong, *wrong[-1]]
    settle()
    before = [sys.getrefcount(item) for item in watched]
    for _ in range(3):
        call()
    settle()
    assert [sys.getrefcount(item) for item in watched] == before


def functions_of(module: Any) -> list[Any]:
    """Its public functions, less those that change what the process does."""
    found = [value for name, value in vars(module).items() if not name.startswith("_")]
    kinds = types.BuiltinFunctionType
    return [f for f in found if isinstance(f, kinds) and "profiler" not in f.__name__]


def test_all_of_opencl(
    opencl_maker: Maker,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    on = OpenCL(opencl_maker.queue.device)
    check_methods(opencl_objects(on), functions_of(_opencl), on.settle)


def test_all_of_cuda(
    cuda_context: Any,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    cuda_context.push()
    try:
        on = CUDA()
        check_methods(cuda_objects(on), functions_of(_cuda), on.settle)
    finally:
        type(cuda_context).pop()
