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


KINDS = [Numbers, Picture, OneDevice, Named]


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


def test_new_and_init(ctx):
    class Mine(cl.Context):
        def __new__(cls, *args):
            return super().__new__(cls)

        def __init__(self, devices, name):
            super().__init__(devices)

    assert Mine(ctx.devices, "a").num_devices == len(ctx.devices)


@pytest.mark.parametrize("kind", KINDS)
def test_what_init_did_not_make_is_refused(ctx, queue, kind):
    hollow = kind(None)
    host, buffer = np.zeros(4, np.float32), cl.Buffer(ctx, READ_WRITE, 64)
    kernel = cl.Program(ctx, "kernel void f(global int *x) {}").build().f
    uses = [
        lambda: hollow.get_info(0x1080),
        lambda: cl.Buffer(hollow, READ_WRITE, 64),
        lambda: cl.CommandQueue(hollow),
        lambda: cl.Program(hollow, "kernel void f() {}"),
        lambda: cl.UserEvent(hollow),
        lambda: cl.svm_empty(hollow, 1, 8, np.float32),
        lambda: cl.get_supported_image_formats(hollow, READ_WRITE, cl.mem_object_type.IMAGE2D),
        lambda: cl.enqueue_copy(queue, hollow, host),
        lambda: cl.enqueue_copy(queue, host, hollow),
        lambda: cl.enqueue_copy(queue, buffer, hollow),
        lambda: cl.enqueue_copy(hollow, buffer, host),
        lambda: cl.enqueue_fill_buffer(queue, hollow, np.int32(1), 0, 4),
        lambda: cl.enqueue_fill_buffer(hollow, buffer, np.int32(1), 0, 4),
        lambda: cl.enqueue_marker(hollow),
        lambda: cl.enqueue_migrate_mem_objects(queue, [hollow]),
        lambda: kernel(hollow, (1,), None, buffer),
        lambda: kernel(queue, (1,), None, hollow),
        lambda: kernel.set_arg(0, hollow),
        lambda: cl.tools.ImmediateAllocator(hollow),
        lambda: cl.array.zeros(hollow, 4, np.float32),
        lambda: hollow[0:4],
    ]
    for use in uses:
        with pytest.raises((cl.LogicError, TypeError, AttributeError)):
            use()
    repr(hollow)
    for name in sorted(dir(kind)):
        if name.startswith("__") or name == "from_int_ptr":  # which believes any number
            continue
        with contextlib.suppress(cl.LogicError, AttributeError):
            value = getattr(hollow, name)
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
