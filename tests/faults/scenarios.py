"""Short ordinary uses of pygpu that together reach every driver function, checking results.

A scenario makes and drops all that it counts: afterwards, as many driver handles are alive as
before. It takes a `Base` with a context and a queue that outlive it. What a device lacks is left
out, so that scenarios run everywhere.
"""

from __future__ import annotations

import contextlib
import gc
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import pygpu as cl

MF = cl.mem_flags
N = 64
SOURCE = """
kernel void add1(global float *a) { a[get_global_id(0)] += 1; }
kernel void axpy(float s, global const float *x, global float *y)
{ size_t i = get_global_id(0); y[i] += s * x[i]; }
kernel void scratch(local float *s, global float *out)
{ s[get_local_id(0)] = 7; out[get_global_id(0)] = s[get_local_id(0)]; }
"""
IMAGE_SOURCE = """
kernel void texel(read_only image2d_t image, sampler_t s, global float *out)
{ out[0] = read_imagef(image, s, (int2)(0, 0)).x; }
"""

SCENARIOS: dict[str, Callable[[Base], None]] = {}


class Base:
    """What scenarios share."""

    def __init__(self) -> None:
        warnings.simplefilter("ignore")
        self.ctx = cl.create_some_context(interactive=False)
        self.dev = self.ctx.devices[0]
        self.queue = cl.CommandQueue(self.ctx)
        source = SOURCE + (IMAGE_SOURCE if self.dev.image_support else "")
        self.prg = cl.Program(self.ctx, source).build()
        self.host = np.arange(N, dtype=np.float32)

    def buffer(self) -> Any:
        """A buffer with 0, 1, 2, ..."""
        return cl.Buffer(self.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=self.host)

    def kernel(self, name: str) -> Any:
        """A kernel of its own: those that a program keeps hold their last arguments."""
        return cl.Kernel(self.prg, name)

    def holds(self, buffer: Any, wanted: np.ndarray) -> None:
        """*buffer* holds *wanted*."""
        got = np.zeros_like(wanted)
        cl.enqueue_copy(self.queue, got, buffer)
        assert np.array_equal(got, wanted), got


def scenario(function: Callable[[Base], None]) -> Callable[[Base], None]:
    """Register a scenario under its name."""
    SCENARIOS[function.__name__] = function
    return function


def ask(thing: Any) -> None:
    """Read every property; a driver may refuse what it doesn't know, and a fault counts as such
    a refusal."""
    for name in dir(type(thing)):
        if name.startswith("_") or name in ("profile",):
            continue
        try:
            value = getattr(thing, name)
        except (cl.LogicError, AttributeError, NotImplementedError):
            continue
        del value


@scenario
def platforms_and_devices(b: Base) -> None:
    for platform in cl.get_platforms():
        assert platform.name
        for device in platform.get_devices():
            assert device.name and device.platform == platform and repr(device)
    assert b.dev.max_work_group_size > 0


@scenario
def information(b: Base) -> None:
    for thing in (b.dev.platform, b.dev, b.ctx, b.queue, b.prg, b.kernel("add1"), b.buffer()):
        ask(thing)


@scenario
def timers(b: Base) -> None:
    # A platform without timers refuses both, and a fault looks like such a refusal.
    with contextlib.suppress(cl.Error):
        assert b.dev.host_timer() >= 0
    with contextlib.suppress(cl.Error):
        assert len(b.dev.device_and_host_timer()) == 2


@scenario
def sub_devices(b: Base) -> None:
    equally = cl.device_partition_property.EQUALLY
    if b.dev.max_compute_units < 2 or equally not in b.dev.partition_properties:
        return
    subs = b.dev.create_sub_devices([equally, 1])
    ctx = cl.Context([subs[0]])
    queue = cl.CommandQueue(ctx, subs[0])
    cl.enqueue_marker(queue).wait()
    assert cl.Device.from_int_ptr(subs[0].int_ptr) == subs[0]
    del subs


@scenario
def contexts(b: Base) -> None:
    ctx = cl.Context([b.dev], properties=[(cl.context_properties.PLATFORM, b.dev.platform)])
    assert ctx.devices == [b.dev]
    platform = [(cl.context_properties.PLATFORM, b.dev.platform)]
    by_type = cl.Context(dev_type=cl.device_type.ALL, properties=platform)
    assert by_type.num_devices >= 1
    assert cl.Context.from_int_ptr(ctx.int_ptr) == ctx
    cl.create_some_context(interactive=False)


@scenario
def queues(b: Base) -> None:
    for properties in (0, cl.command_queue_properties.PROFILING_ENABLE,
                       [cl.queue_properties.PROPERTIES,
                        cl.command_queue_properties.PROFILING_ENABLE]):  # fmt: skip
        queue = cl.CommandQueue(b.ctx, b.dev, properties=properties)
        queue.flush()
        queue.finish()
        assert cl.CommandQueue.from_int_ptr(queue.int_ptr) == queue
    with cl.CommandQueue(b.ctx) as queue:
        cl.enqueue_marker(queue)
    try:
        b.ctx.set_default_device_command_queue(b.dev, queue)
    except cl.Error as error:
        of_the_host = error.code == cl.status_code.INVALID_COMMAND_QUEUE  # what the queue is
        if b.dev.queue_on_device_max_size and not of_the_host:
            raise


@scenario
def buffers(b: Base) -> None:
    buffer = b.buffer()
    assert buffer.size == 256 and buffer.context == b.ctx
    region = buffer.get_sub_region(0, 128)
    assert buffer[0:64].size == 64 and region.associated_memobject is not None
    assert cl.Buffer.from_int_ptr(buffer.int_ptr) == buffer
    host = np.zeros(N, np.float32)
    used = cl.Buffer(b.ctx, MF.READ_WRITE | MF.USE_HOST_PTR, hostbuf=host)
    assert used.get_host_array((N,), np.float32).shape == (N,)
    del host
    region.release()


@scenario
def blocking_copies(b: Base) -> None:
    buffer, other = b.buffer(), cl.Buffer(b.ctx, MF.READ_WRITE, 256)
    cl.enqueue_copy(b.queue, buffer, b.host + 5)
    cl.enqueue_copy(b.queue, other, buffer).wait()
    b.holds(other, b.host + 5)


@scenario
def pending_copies(b: Base) -> None:
    buffer, got = b.buffer(), np.zeros(N, np.float32)
    write = cl.enqueue_copy(b.queue, buffer, b.host + 3, is_blocking=False)
    read = cl.enqueue_copy(b.queue, got, buffer, is_blocking=False, wait_for=[write])
    read.wait()
    assert np.array_equal(got, b.host + 3), got
    cl.enqueue_copy(b.queue, np.zeros(N, np.float32), buffer, is_blocking=False)
    b.queue.finish()


@scenario
def rectangles(b: Base) -> None:
    buffer, got = b.buffer(), np.zeros((4, 4), np.float32)
    where = {
        "buffer_origin": (0, 0, 0),
        "host_origin": (0, 0, 0),
        "region": (16, 4, 1),
        "buffer_pitches": (32, 256),
    }
    cl.enqueue_copy(b.queue, got, buffer, **where)
    assert np.array_equal(got, b.host.reshape(8, 8)[:4, :4]), got
    cl.enqueue_copy(b.queue, buffer, got, **where)
    other = cl.Buffer(b.ctx, MF.READ_WRITE, 64)
    cl.enqueue_copy(b.queue, other, buffer, src_origin=(0, 0, 0), dst_origin=(0, 0, 0),
                    region=(16, 4, 1),
                    src_pitches=(32, 256), dst_pitches=(16, 64))  # fmt: skip
    b.holds(other, got.ravel())


@scenario
def fills(b: Base) -> None:
    buffer = b.buffer()
    cl.enqueue_fill_buffer(b.queue, buffer, np.float32(2), 0, 128)
    cl.enqueue_fill(b.queue, buffer, np.float32(3), 128, offset=128)
    b.holds(buffer, np.repeat(np.float32([2, 3]), 32))


@scenario
def maps(b: Base) -> None:
    buffer = b.buffer()
    view, event = cl.enqueue_map_buffer(b.queue, buffer, cl.map_flags.WRITE, 0, (N,), np.float32)
    view[:] = 9
    view.base.release(b.queue).wait()
    b.holds(buffer, np.full(N, 9, np.float32))
    view, event = cl.enqueue_map_buffer(
        b.queue, buffer, cl.map_flags.READ, 0, (N,), np.float32, is_blocking=False
    )
    event.wait()
    with view.base:
        assert view[0] == 9
    view, event = cl.enqueue_map_buffer(b.queue, buffer, cl.map_flags.READ, 0, (N,), np.float32)
    del view, event  # unmapped when the view goes
    b.queue.finish()


@scenario
def other_commands(b: Base) -> None:
    marker = cl.enqueue_marker(b.queue)
    cl.enqueue_barrier(b.queue, wait_for=[marker])
    cl.enqueue_migrate_mem_objects(b.queue, [b.buffer()]).wait()
    cl.wait_for_events([marker, cl.enqueue_marker(b.queue, wait_for=[marker])])


@scenario
def launches(b: Base) -> None:
    x, y = b.buffer(), b.buffer()
    b.kernel("axpy")(b.queue, (N,), None, 2.0, x, y)
    b.kernel("add1")(b.queue, (8,), (8,), y, g_times_l=True).wait()
    b.holds(y, 3 * b.host + 1)
    b.kernel("scratch")(b.queue, (8,), (8,), cl.LocalMemory(32), y)
    kernel = cl.Kernel(b.prg, "add1")
    kernel.set_args(x)
    kernel.set_arg(0, x)
    cl.enqueue_nd_range_kernel(b.queue, kernel, (N,), None, wait_for=[cl.enqueue_marker(b.queue)])
    b.kernel("add1")(b.queue, (0,), None, x, allow_empty_ndrange=True)
    b.holds(x, b.host + 1)


@scenario
def kernels(b: Base) -> None:
    kernel = cl.Kernel(b.prg, "axpy")
    assert kernel.num_args == 3 and kernel.function_name == "axpy"
    assert kernel.get_arg_info(0, cl.kernel_arg_info.NAME) == "s"
    assert kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, b.dev) > 0
    try:
        kernel.get_sub_group_info(
            b.dev, cl.kernel_sub_group_info.MAX_SUB_GROUP_SIZE_FOR_NDRANGE, [8]
        )
    except cl.Error as error:
        if error.code not in (-59, -30):
            raise
    assert cl.Kernel.from_int_ptr(kernel.int_ptr) == kernel
    assert cl.Program.from_int_ptr(b.prg.int_ptr) == b.prg
    assert len(cl.Program(b.ctx, SOURCE).build().all_kernels()) == 3
    try:
        kernel.clone()
    except cl.Error as error:
        if error.code not in (-59, -30):
            raise


@scenario
def programs(b: Base) -> None:
    prg = cl.Program(b.ctx, SOURCE + "/* programs */").build("-DA=1", cache_dir=False)
    assert prg.get_build_info(b.dev, cl.program_build_info.STATUS) == 0
    assert "axpy" in prg.kernel_names
    buffer = b.buffer()
    prg.add1(b.queue, (N,), None, buffer)
    b.holds(buffer, b.host + 1)


@scenario
def failing_builds(b: Base) -> None:
    try:
        cl.Program(b.ctx, "kernel void k() { nonsense; }").build(cache_dir=False)
    except cl.RuntimeError:
        pass
    else:
        raise AssertionError("nonsense was compiled")


@scenario
def compiled_and_linked(b: Base) -> None:
    header = cl.Program(b.ctx, "#define ANSWER 42\n")
    main = cl.Program(
        b.ctx, '#include "a.h"\nint f(void); kernel void k(global int *a) { a[0] = ANSWER + f(); }'
    )
    part = cl.Program(b.ctx, "int f(void) { return 1; }")
    main.compile(headers=[("a.h", header)])
    part.compile()
    prg = cl.link_program(b.ctx, [main, part])
    out = cl.Buffer(b.ctx, MF.READ_WRITE, 4)
    prg.k(b.queue, (1,), None, out)
    b.holds(out, np.array([43], np.int32))


@scenario
def binaries(b: Base) -> None:
    [binary] = b.prg.get_info(cl.program_info.BINARIES)
    prg = cl.Program(b.ctx, [b.dev], [binary]).build()
    buffer = b.buffer()
    prg.add1(b.queue, (N,), None, buffer)
    b.holds(buffer, b.host + 1)


@scenario
def intermediate_language(b: Base) -> None:
    # The SPIR-V of a kernel that stores specialization constant 7: valid where IL is known, refused
    # elsewhere; both ways through the driver.
    words = (
        0x7230203, 0x10000, 0, 9, 0, 0x20011, 4, 0x20011, 5, 0x20011, 6, 0x3000e, 2, 2, 0x4000f,
        6, 5, 102, 0x40047, 8, 1, 7, 0x20013, 1, 0x40015, 2, 32, 0, 0x40020, 3, 5, 2, 0x40021, 4,
        1, 3, 0x40032, 2, 8, 5, 0x50036, 1, 5, 0, 4, 0x30037, 3, 6, 0x200f8, 7, 0x5003e, 6, 8, 2,
        4, 0x100fd, 0x10038,
    )  # fmt: skip
    try:
        prg = cl.Program(b.ctx, np.array(words, np.uint32).tobytes())
        prg.set_specialization_constant(7, np.int32(1))
        prg.build()
    except (cl.Error, AttributeError):
        pass
    try:
        cl.create_program_with_built_in_kernels(b.ctx, [b.dev], "no_such_kernel")
    except cl.Error:
        pass


@scenario
def peer_copy(b: Base) -> None:
    try:
        cl.enqueue_copy_buffer_p2p_amd(b.dev.platform, b.queue, b.buffer(), b.buffer()).wait()
    except cl.LogicError:  # an extension that few platforms have
        pass


@scenario
def built_in_kernels(b: Base) -> None:
    # PoCL makes the program, and has no kernels in it.
    for name in filter(None, b.dev.built_in_kernels.split(";")):
        try:
            cl.create_program_with_built_in_kernels(b.ctx, [b.dev], name)
        except cl.Error:
            pass


@scenario
def compiler_unloaded(b: Base) -> None:
    cl.unload_platform_compiler(b.dev.platform)
    cl.Program(b.ctx, SOURCE + "/* unloaded */").build(cache_dir=False)


@scenario
def cached_builds(b: Base) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            prg = cl.Program(b.ctx, SOURCE + "/* cached */").build(cache_dir=folder)
            buffer = b.buffer()
            prg.add1(b.queue, (N,), None, buffer)
            b.holds(buffer, b.host + 1)


@scenario
def images(b: Base) -> None:
    if not b.dev.image_support:
        return
    form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
    assert form in cl.get_supported_image_formats(b.ctx, MF.READ_WRITE, cl.mem_object_type.IMAGE2D)
    host = np.arange(256, dtype=np.float32).reshape(8, 8, 4)
    image = cl.create_image(
        b.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, form, shape=(8, 8), hostbuf=host
    )
    place, got = {"origin": (0, 0), "region": (8, 8)}, np.zeros_like(host)
    ask(image)
    cl.enqueue_copy(b.queue, got, image, **place)
    assert np.array_equal(got, host)
    cl.enqueue_copy(b.queue, image, host + 1, **place)
    other, buffer = (
        cl.create_image(b.ctx, MF.READ_WRITE, form, shape=(8, 8)),
        cl.Buffer(b.ctx, MF.READ_WRITE, 1024),
    )
    cl.enqueue_copy(b.queue, other, image, src_origin=(0, 0), dest_origin=(0, 0), region=(8, 8))
    cl.enqueue_copy(b.queue, buffer, other, offset=0, **place)
    cl.enqueue_copy(b.queue, image, buffer, offset=0, **place)
    b.holds(buffer, host.ravel() + 1)
    cl.enqueue_fill_image(b.queue, image, np.float32([1, 2, 3, 4]), (0, 0), (8, 8))
    read = cl.map_flags.READ
    view = cl.enqueue_map_image(b.queue, image, read, (0, 0), (8, 8), (8, 8, 4), np.float32)[0]
    assert view[7, 7, 3] == 4
    view.base.release(b.queue)
    cl.image_from_array(b.ctx, host, 4)


@scenario
def samplers(b: Base) -> None:
    if not b.dev.image_support:
        return
    sampler = cl.Sampler(b.ctx, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)
    ask(sampler)
    assert cl.Sampler.from_int_ptr(sampler.int_ptr) == sampler
    form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
    image, out = (
        cl.create_image(b.ctx, MF.READ_WRITE, form, shape=(8, 8)),
        cl.Buffer(b.ctx, MF.READ_WRITE, 4),
    )
    cl.enqueue_fill_image(b.queue, image, np.float32([5, 0, 0, 0]), (0, 0), (8, 8))
    b.kernel("texel")(b.queue, (1,), None, image, sampler, out)
    b.holds(out, np.float32([5]))


@scenario
def pipes(b: Base) -> None:
    try:
        pipe = cl.Pipe(b.ctx, MF.READ_WRITE | MF.HOST_NO_ACCESS, 4, 16)
    except cl.Error:
        return
    assert pipe.packet_size == 4 and pipe.max_packets == 16
    ask(pipe)


@scenario
def shared_memory(b: Base) -> None:
    if not b.dev.svm_capabilities:
        return
    array = cl.csvm_empty(b.ctx, (N,), np.float32)
    svm = cl.SVM(array)
    cl.enqueue_copy(b.queue, svm, b.host)
    cl.enqueue_svm_migrate_mem(b.queue, [svm], 0).wait()
    b.kernel("add1")(b.queue, (N,), None, svm)
    with svm.map_rw(b.queue) as view:
        assert view[3] == 4
        view[:] = 5
    cl.enqueue_svm_memfill(b.queue, svm, np.float32(6), 128)
    got = np.zeros(N, np.float32)
    cl.enqueue_copy(b.queue, got, svm)
    assert got[0] == 6 and got[63] == 5, got
    block = cl.SVMAllocation(b.ctx, 256, 0, cl.svm_mem_flags.READ_WRITE, queue=b.queue)
    cl.enqueue_svm_memfill(b.queue, block, np.float32(6), 128)
    block.enqueue_release(b.queue).wait()
    other = cl.SVMAllocation(b.ctx, 256, 0, cl.svm_mem_flags.READ_WRITE)
    other.release()


@scenario
def pools(b: Base) -> None:
    for allocator in (cl.tools.ImmediateAllocator(b.queue), cl.tools.DeferredAllocator(b.ctx)):
        pool = cl.tools.MemoryPool(allocator)
        one, two = pool.allocate(256), pool.allocate(1000)
        cl.enqueue_copy(b.queue, one, b.host)
        b.holds(one, b.host)
        one.release()
        del two
        again = pool.allocate(256)
        queue = cl.CommandQueue(b.ctx)
        cl.enqueue_fill_buffer(queue, again, np.int32(1), 0, 256)
        queue.finish()
        del again
        pool.free_held()
        pool.stop_holding()


@scenario
def shared_memory_pools(b: Base) -> None:
    if not b.dev.svm_capabilities:
        return
    pool = cl.tools.SVMPool(
        cl.tools.SVMAllocator(b.ctx, flags=cl.svm_mem_flags.READ_WRITE, queue=b.queue)
    )
    block = pool(256)
    cl.enqueue_copy(b.queue, block, b.host)
    block.release()
    pool(256).release()
    pool.stop_holding()


@scenario
def events(b: Base) -> None:
    queue = cl.CommandQueue(b.ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
    event = b.kernel("add1")(queue, (N,), None, b.buffer())
    event.wait()
    assert event.profile.end >= event.profile.start and event.command_execution_status == 0
    ask(event)
    assert cl.Event.from_int_ptr(event.int_ptr) == event
    cl.wait_for_events([event, cl.enqueue_marker(queue)])


@scenario
def callbacks(b: Base) -> None:
    seen: list[int] = []
    event = cl.enqueue_marker(b.queue)
    event.set_callback(cl.command_execution_status.COMPLETE, seen.append)
    event.wait()
    deadline = time.monotonic() + 20
    while not seen and time.monotonic() < deadline:
        time.sleep(0.001)
    assert seen == [0], seen


@scenario
def user_events(b: Base) -> None:
    gate, buffer = cl.UserEvent(b.ctx), b.buffer()
    event = b.kernel("add1")(b.queue, (N,), None, buffer, wait_for=[gate])
    try:
        gate.set_status(cl.command_execution_status.COMPLETE)
    finally:
        del gate  # where set_status failed, dropping it must let the launch end
    event.wait()
    b.holds(buffer, b.host + 1)


@scenario
def user_events_dropped(b: Base) -> None:
    queue = cl.CommandQueue(b.ctx)
    event = cl.enqueue_marker(queue, wait_for=[cl.UserEvent(b.ctx)])
    gc.collect()
    deadline = time.monotonic() + 20
    while event.command_execution_status > 0:
        assert time.monotonic() < deadline, "commands behind a dropped user event never end"
        time.sleep(0.001)


@scenario
def out_of_order(b: Base) -> None:
    try:
        queue = cl.CommandQueue(
            b.ctx, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        )
    except cl.Error:
        return
    buffer = b.buffer()
    first = b.kernel("add1")(queue, (N,), None, buffer)
    cl.enqueue_barrier(queue)
    b.kernel("add1")(queue, (N,), None, buffer, wait_for=[first])
    queue.finish()
    b.holds(buffer, b.host + 2)


@scenario
def other_threads(b: Base) -> None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            event = b.kernel("add1")(b.queue, (N,), None, b.buffer())
            event.wait()
            b.queue.finish()
            cl.wait_for_events([event])
            cl.enqueue_copy(b.queue, np.zeros(N, np.float32), b.buffer())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if errors:
        raise errors.pop()
