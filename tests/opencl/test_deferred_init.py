"""Subclasses whose __init__ takes other arguments and makes the object by super().__init__()."""

import contextlib
import gc

import numpy as np
import pytest

import pygpu as cl

READ_WRITE = cl.mem_flags.READ_WRITE


class Numbers(cl.Buffer):
    def __init__(self, make, n=8):
        self.n = n
        if make is not None:
            super().__init__(make, READ_WRITE, size=4 * n)


class Picture(cl.Image):
    def __init__(self, make, name="x"):
        self.name = name
        if make is not None:
            kind = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
            super().__init__(make, READ_WRITE, kind, shape=(8, 4))


class OneDevice(cl.Context):
    def __init__(self, make, name="x"):
        self.name = name
        if make is not None:
            super().__init__([make.devices[0]])


class Named(cl.CommandQueue):
    def __init__(self, make, name="x"):
        self.name = name
        if make is not None:
            profiling = cl.command_queue_properties.PROFILING_ENABLE
            cl.CommandQueue.__init__(self, make, properties=profiling)


class Squares(cl.Kernel):
    def __init__(self, make, name="x"):
        self.label = name
        if make is not None:
            text = "kernel void square(global int *x) { int i = get_global_id(0); x[i] = i * i; }"
            super().__init__(cl.Program(make, text).build(), "square")


class Gate(cl.UserEvent):
    def __init__(self, make, name="x"):
        self.name = name
        if make is not None:
            super().__init__(make)


class Later(cl.tools.DeferredAllocator):
    def __init__(self, make, name="x"):
        self.name = name
        if make is not None:
            super().__init__(make)


class Now(cl.tools.ImmediateAllocator):
    def __init__(self, make, name="x"):
        self.name = name
        if make is not None:
            super().__init__(cl.CommandQueue(make))


class Pool(cl.tools.MemoryPool):
    def __init__(self, make, name="x"):
        self.name = name
        if make is not None:
            super().__init__(Later(make))


class Scratch(cl.LocalMemory):
    def __init__(self, make, n=4):
        self.n = n
        if make is not None:
            super().__init__(4 * n)


class Nearest(cl.Sampler):
    def __init__(self, make, name="x"):
        self.name = name
        if make is not None:
            super().__init__(make, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)


class Tagged(cl.SVM):
    def __init__(self, make, array=None):
        self.name = "x"
        if make is not None:
            super().__init__(array if array is not None else np.zeros(8, np.float32))


class Shared(cl.SVMAllocation):
    def __init__(self, make, n=8):
        self.n = n
        if make is not None:
            super().__init__(make, 4 * n, 0, cl.svm_mem_flags.READ_WRITE)


class SharedSource(cl.tools.SVMAllocator):
    def __init__(self, make, name="x"):
        self.name = name
        if make is not None:
            super().__init__(make)


class SharedPool(cl.tools.SVMPool):
    def __init__(self, make, name="x"):
        self.name = name
        if make is not None:
            super().__init__(SharedSource(make))


class Pixel(cl.ImageFormat):
    def __init__(self, make, name="x"):
        if make is not None:
            super().__init__(cl.channel_order.RGBA, cl.channel_type.FLOAT)


KINDS = [Numbers, Picture, OneDevice, Named, Squares, Gate, Later, Now, Pool, Scratch, Nearest]
KINDS += [Tagged, Shared, SharedSource, SharedPool, Pixel]


def test_buffers(ctx, queue, balance):
    buffer = Numbers(make=ctx, n=4)
    values = np.arange(4, dtype=np.float32)
    cl.enqueue_copy(queue, buffer, values)
    found = np.empty(4, np.float32)
    cl.enqueue_copy(queue, found, buffer)
    assert (found == values).all() and (buffer.n, buffer.size) == (4, 16)
    buffer.__init__(ctx, 100)  # a second time: the object stays what it is
    assert buffer.size == 16


def test_images(device, ctx):
    if not device.image_support:
        pytest.skip("the device has no images")
    picture = Picture(ctx, name="a")
    assert (picture.name, picture.width, picture.height) == ("a", 8, 4)


def test_contexts_and_queues(ctx, balance):
    context = OneDevice(ctx, name="a")
    assert context.devices == ctx.devices[:1] and context.name == "a"
    with Named(context, "b") as queue:
        buffer = Numbers(context, 2)
        cl.enqueue_fill_buffer(queue, buffer, np.int32(7), 0, 8).wait()
        found = np.empty(2, np.int32)
        cl.enqueue_copy(queue, found, buffer)
        assert found.tolist() == [7, 7] and queue.name == "b"
        assert queue.properties & cl.command_queue_properties.PROFILING_ENABLE
    del context, buffer, queue
    gc.collect()


def test_kernels(ctx, queue, balance):
    square = Squares(make=ctx, name="a")
    buffer, found = cl.Buffer(ctx, READ_WRITE, 16), np.empty(4, np.int32)
    square(queue, (4,), None, buffer)
    cl.enqueue_copy(queue, found, buffer)
    assert found.tolist() == [0, 1, 4, 9]
    square.set_args(buffer)
    cl.enqueue_nd_range_kernel(queue, square, (4,), None).wait()
    assert (square.label, square.function_name, square.num_args) == ("a", "square", 1)
    more = [Squares(ctx, str(i)) for i in range(3)]  # all kernels are in a list, wherever they lie
    del more[1], square
    gc.collect()
    more[1](queue, (4,), None, buffer)
    queue.finish()


def test_user_events(ctx, queue, balance):
    gate = Gate(ctx, name="a")
    event = cl.enqueue_marker(queue, wait_for=[gate])
    queue.flush()
    assert gate.command_execution_status != cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    event.wait()
    assert gate.name == "a"
    gate.itself = gate  # a cycle, which the collector finds
    del gate, event
    gc.collect()


def test_pools_and_allocators(ctx, queue, balance):
    pools = [Pool(ctx, name) for name in "abc"]  # all pools are in a list, wherever they lie
    del pools[1]
    for allocate in (Later(ctx, "a"), Now(ctx, "a"), *pools):
        buffer = allocate(100)
        cl.enqueue_fill_buffer(queue, buffer, np.uint8(7), 0, 100).wait()
        found = np.empty(100, np.uint8)
        cl.enqueue_copy(queue, found, buffer)
        assert (found == 7).all()
    assert [pool.name for pool in pools] == ["a", "c"] and pools[0].held_blocks == 1
    del buffer
    with pytest.raises(cl.LogicError, match="not made yet"):
        cl.tools.MemoryPool(Later(None))
    with pytest.raises(cl.LogicError, match="not made yet"):
        Pool(None)(4)
    with pytest.raises(cl.LogicError, match="not made yet"):
        Later(None)(4)


def test_arrays_in_a_pool(ctx, queue):
    pool = Pool(ctx, "a")
    array = cl.array.zeros(queue, 10, np.float32, allocator=pool)
    assert array.get().tolist() == [0] * 10 and pool.active_blocks == 1


def test_shared_memory(device, ctx, queue, balance):
    if not device.svm_capabilities:
        pytest.skip("the device has no shared virtual memory")
    values = np.arange(8, dtype=np.float32)
    found = np.empty(8, np.float32)
    array = cl.svm_empty(ctx, cl.svm_mem_flags.READ_WRITE, 8, np.float32)
    pool = SharedPool(ctx)
    for memory in (Shared(ctx, n=8), Tagged(ctx, array), SharedSource(ctx)(32), pool.allocate(32)):
        cl.enqueue_copy(queue, memory, values)
        cl.enqueue_copy(queue, found, memory)
        assert (found == values).all() and memory.size == 32
    del memory, array
    gc.collect()


def test_what_kernels_take(device, ctx, queue):
    text = """kernel void f(global int *x, local int *y) {
        int i = get_local_id(0); y[i] = i; barrier(CLK_LOCAL_MEM_FENCE);
        x[i] = y[(i + 1) % get_local_size(0)]; }"""
    buffer, found = cl.Buffer(ctx, READ_WRITE, 16), np.empty(4, np.int32)
    kernel = cl.Program(ctx, text).build().f
    kernel(queue, (4,), (4,), buffer, Scratch(ctx, n=4))
    cl.enqueue_copy(queue, found, buffer)
    assert found.tolist() == [1, 2, 3, 0]
    with pytest.raises(cl.LogicError, match="not made yet"):
        kernel(queue, (4,), (4,), buffer, Scratch(None))
    if device.image_support:
        sampler = Nearest(ctx, "a")
        assert sampler.name == "a" and sampler.filter_mode == cl.filter_mode.NEAREST
    pixel = Pixel(ctx)
    assert pixel == cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)


def test_classes_that_only_the_driver_makes(ctx, queue):
    """They can be subclassed, for the methods; nothing makes an object of such a class."""
    made = [cl.Platform, cl.Device, cl.Event, cl.NannyEvent, cl.MemoryMap, cl.MemoryObject]
    for kind in [*made, cl.SVMPointer, cl.tools.PooledBuffer, cl.tools.PooledSVM]:
        mine = type("Mine", (kind,), {"twice": lambda self: 2})
        with pytest.raises(TypeError):
            mine()


def test_attributes_of_objects(device, ctx, queue):
    """What can be given attributes in PyOpenCL; Event cannot there either."""
    buffer = cl.Buffer(ctx, READ_WRITE, 16)
    mapped = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 0, (4,), np.float32)[0].base
    kernel = cl.Program(ctx, "kernel void f(global int *x) {}").build().f
    objects = [device, device.platform, ctx, queue, buffer, mapped, kernel, kernel.program]
    if device.image_support:
        objects.append(Nearest.__base__(ctx, False, 0x1132, 0x1140))
    gate = cl.UserEvent(ctx)
    gate.set_status(0)
    for thing in [*objects, gate]:
        thing.note = thing  # a cycle
        assert thing.note is thing
        del thing.note
    with pytest.raises(AttributeError):
        cl.enqueue_marker(queue).note = 1


def test_new_and_init(ctx):
    class Mine(cl.Context):
        def __new__(cls, *args):
            return super().__new__(cls)

        def __init__(self, devices, name):
            super().__init__(devices)

    assert Mine(ctx.devices, "a").num_devices == len(ctx.devices)


@pytest.mark.parametrize("kind", KINDS)
def test_what_init_did_not_make_is_refused(ctx, queue, kind):
    uninitialized = kind(None)
    host, buffer = np.zeros(4, np.float32), cl.Buffer(ctx, READ_WRITE, 64)
    kernel = cl.Program(ctx, "kernel void f(global int *x) {}").build().f
    uses = [
        lambda: uninitialized.get_info(0x1080),
        lambda: cl.Buffer(uninitialized, READ_WRITE, 64),
        lambda: cl.CommandQueue(uninitialized),
        lambda: cl.Program(uninitialized, "kernel void f() {}"),
        lambda: cl.UserEvent(uninitialized),
        lambda: cl.svm_empty(uninitialized, 1, 8, np.float32),
        lambda: cl.get_supported_image_formats(
            uninitialized, READ_WRITE, cl.mem_object_type.IMAGE2D
        ),
        lambda: cl.enqueue_copy(queue, uninitialized, host),
        lambda: cl.enqueue_copy(queue, host, uninitialized),
        lambda: cl.enqueue_copy(queue, buffer, uninitialized),
        lambda: cl.enqueue_copy(uninitialized, buffer, host),
        lambda: cl.enqueue_fill_buffer(queue, uninitialized, np.int32(1), 0, 4),
        lambda: cl.enqueue_fill_buffer(uninitialized, buffer, np.int32(1), 0, 4),
        lambda: cl.enqueue_marker(uninitialized),
        lambda: cl.enqueue_migrate_mem_objects(queue, [uninitialized]),
        lambda: kernel(uninitialized, (1,), None, buffer),
        lambda: kernel(queue, (1,), None, uninitialized),
        lambda: kernel.set_arg(0, uninitialized),
        lambda: cl.tools.ImmediateAllocator(uninitialized),
        lambda: cl.array.zeros(uninitialized, 4, np.float32),
        lambda: uninitialized[0:4],
        lambda: uninitialized(queue, (1,), None),
        lambda: uninitialized(queue, (1,), None, buffer, wait_for=None),
        lambda: cl.enqueue_nd_range_kernel(queue, uninitialized, (1,), None),
        lambda: cl.enqueue_task(queue, uninitialized),
        lambda: uninitialized(64),
        lambda: cl.tools.MemoryPool(uninitialized),
        lambda: cl.tools.SVMPool(uninitialized),
        lambda: cl.enqueue_marker(queue, wait_for=[uninitialized]),
        lambda: cl.enqueue_copy(queue, buffer, host, wait_for=[uninitialized]),
        lambda: cl.wait_for_events([uninitialized]),
        lambda: uninitialized.profile.start,
        lambda: cl.enqueue_svm_memfill(queue, uninitialized, np.uint8(1)),
        lambda: cl.Image(ctx, READ_WRITE, uninitialized, shape=(4, 4)),
        lambda: uninitialized.itemsize,
    ]
    for use in uses:
        with pytest.raises((cl.Error, TypeError, AttributeError)):
            use()
    repr(uninitialized)
    for name in sorted(dir(kind)):
        if name.startswith("__") or name == "from_int_ptr":  # which believes any number
            continue
        with contextlib.suppress(cl.LogicError, AttributeError):
            value = getattr(uninitialized, name)
            for args in [(), (0,), (0, 4), (ctx.devices[0], queue), ((4,), np.float32)]:
                if callable(value):
                    with contextlib.suppress(Exception):
                        value(*args)


def test_calls_that_a_program_puts_its_own_before(ctx, queue, monkeypatch):
    """As profilers do, which count launches and memory."""
    kernel = cl.Program(ctx, "kernel void f(global int *x, int n) { *x = n; }").build().f
    calls, sizes = [], []
    launch, make = cl.Kernel.__call__, cl.Buffer.__init__

    def count(self, *args, **kwargs):
        calls.append((self.function_name, len(args), sorted(kwargs)))
        return launch(self, *args, **kwargs)

    def measure(self, *args, **kwargs):
        make(self, *args, **kwargs)
        sizes.append(self.size)

    found = np.zeros(1, np.int32)
    with monkeypatch.context() as patch:
        patch.setattr(cl.Kernel, "__call__", count)
        patch.setattr(cl.Buffer, "__init__", measure)
        buffer = cl.Buffer(ctx, READ_WRITE, size=4)
        cl.Buffer(ctx, READ_WRITE, 8)
        kernel(queue, (1,), None, buffer, 5)
        kernel(queue, (1,), None, buffer, n := 7, wait_for=[], global_offset=None)
        cl.enqueue_copy(queue, found, buffer)
        with pytest.raises(TypeError, match="arguments"):
            kernel(queue, (1,), None, buffer)
    assert found[0] == n and sizes == [4, 8]
    assert calls == [("f", 5, []), ("f", 5, ["global_offset", "wait_for"]), ("f", 4, [])]
    cl.Buffer(ctx, READ_WRITE, 16)
    kernel(queue, (1,), None, buffer, 6)
    cl.enqueue_copy(queue, found, buffer)
    assert found[0] == 6 and len(calls) == 3 and len(sizes) == 2
