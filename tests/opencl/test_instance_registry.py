"""Objects that are found by their handle instead of made again; in a process of its own, as nothing
is found while another test counts driver calls."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref

import pytest

import pygpu as cl
from pygpu import _opencl


def cases() -> None:
    platform = next(p for p in cl.get_platforms() if p.get_devices())
    device = platform.get_devices()[0]
    ctx = cl.Context([device])
    queue = cl.CommandQueue(ctx)
    assert any(p is platform for p in cl.get_platforms())
    assert platform.get_devices()[0] is device
    assert cl.Platform.from_int_ptr(platform.int_ptr) is platform
    assert cl.Device.from_int_ptr(device.int_ptr) is device and ctx.devices[0] is device

    event = cl.enqueue_marker(queue)
    assert event.command_queue is queue and event.context is ctx
    buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 64)
    assert cl.Buffer.from_int_ptr(buffer.int_ptr).context is ctx

    # Objects of handles that are given as numbers have a reference of their own.
    other = cl.Context.from_int_ptr(ctx.int_ptr)
    assert other is not ctx and other == ctx and other.devices == [device]
    count = other.reference_count
    twin = cl.CommandQueue.from_int_ptr(queue.int_ptr)
    assert twin is not queue and twin == queue and twin.context is ctx and twin.device is device
    del other
    assert ctx.reference_count == count - 1

    # One that was finished by its block warns of later use; who asks its events did nothing wrong.
    with cl.CommandQueue(ctx) as short:
        event = cl.enqueue_marker(short)
    again = event.command_queue
    assert again == short and again is not short
    cl.enqueue_marker(again).wait()

    # Gone objects are not found, not even while they go.
    lone = cl.CommandQueue(ctx)
    event = cl.enqueue_marker(lone)
    event.wait()
    seen = []
    watch = weakref.ref(lone, lambda _: seen.append(event.command_queue))
    number = id(lone)
    del lone
    assert len(seen) == 1 and isinstance(seen[0], cl.CommandQueue) and watch() is None
    assert id(seen[0]) != number
    cl.enqueue_marker(seen.pop()).wait()
    queue_of_released(event, platform, ctx)

    # Objects made by an __init__ of a program's own.
    class Mine(cl.Context):
        def __init__(self, name: str) -> None:
            super().__init__([device])
            self.name = name

    class MyQueue(cl.CommandQueue):
        def __init__(self, context: cl.Context) -> None:
            super().__init__(context)

    mine = Mine("x")
    my_queue = MyQueue(mine)
    event = cl.enqueue_marker(my_queue)
    assert event.context is mine and event.command_queue is my_queue
    event.wait()
    del my_queue, mine
    gc.collect()
    assert type(event.context) is cl.Context
    queue_of_released(event, platform, event.context)

    # Parts of a device come and go.
    equally = cl.device_partition_property.EQUALLY
    if equally in device.partition_properties:
        part = device.create_sub_devices([equally, 1])[0]
        assert cl.Device.from_int_ptr(part.int_ptr) is not part

    # finish() needs a command of its own only where commands may have come by another way.
    queue, plain = cl.CommandQueue(ctx), cl.CommandQueue(ctx)
    cl.enqueue_marker(plain)
    plain.finish()
    assert cl.enqueue_marker(plain).command_queue is plain
    plain.finish()
    handle = queue.int_ptr
    _opencl._call_counts(reset=True)
    plain.finish()
    assert _opencl._call_counts(reset=True) == {"clFinish": 1}
    queue.finish()
    assert "clFinish" not in _opencl._call_counts(reset=True)
    assert cl.CommandQueue.from_int_ptr(handle) == queue  # while calls are counted: made anew


def queue_of_released(event: cl.Event, platform: cl.Platform, context: cl.Context) -> None:
    """Of an event whose queue nobody has any more: all drivers but Intel's keep it."""
    if "Intel" in platform.name:
        with pytest.raises(cl.LogicError, match="INVALID_COMMAND_QUEUE.*released"):
            _ = event.command_queue
    else:
        again = event.command_queue
        assert type(again) is cl.CommandQueue and again.context == context


def test_objects_by_their_handles():
    command = [
        sys.executable,
        "-W",
        "error",
        "-c",
        "from opencl.test_instance_registry import cases; cases()",
    ]
    path = [__file__.rsplit("opencl", 1)[0], *filter(None, [os.environ.get("PYTHONPATH")])]
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(path))
    done = subprocess.run(command, env=env, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
