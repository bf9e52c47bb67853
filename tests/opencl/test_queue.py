"""CommandQueue: construction, properties, finish, context manager, information."""

from __future__ import annotations

import gc
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags
properties = cl.command_queue_properties


def test_construction(ctx, device):
    queue = cl.CommandQueue(ctx)
    assert queue.context is ctx and queue.device == device == ctx.devices[0]
    assert queue.properties == 0
    assert cl.CommandQueue(ctx, device).device is device
    assert cl.CommandQueue(context=ctx, device=None, properties=None).properties == 0
    assert cl.CommandQueue(ctx, properties=0).properties == 0
    assert queue.reference_count >= 1
    assert repr(queue).startswith("<pygpu.CommandQueue")


def test_properties(ctx, device):
    both = properties.PROFILING_ENABLE | properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    for wanted in (properties.PROFILING_ENABLE, properties.OUT_OF_ORDER_EXEC_MODE_ENABLE, both):
        if wanted & ~device.queue_properties:
            with pytest.raises(cl.LogicError):
                cl.CommandQueue(ctx, properties=wanted)
            continue
        assert cl.CommandQueue(ctx, properties=wanted).properties == wanted
        assert cl.CommandQueue(ctx, device, np.uint64(wanted)).properties == wanted


def test_properties_as_a_list(ctx, device):
    names = cl.queue_properties
    lists = [
        [names.PROPERTIES, properties.PROFILING_ENABLE],
        (names.PROPERTIES, properties.PROFILING_ENABLE, 0), iter([names.PROPERTIES, 0]), [], [0],
    ]  # fmt: skip
    old = "OpenCL 1" in device.version
    for given, expected in zip(
        lists, (properties.PROFILING_ENABLE, properties.PROFILING_ENABLE, 0, 0, 0)
    ):
        if old and given not in ([], [0]):
            with pytest.raises(cl.LogicError, match="needs OpenCL 2.0"):
                cl.CommandQueue(ctx, properties=given)
            continue
        queue = cl.CommandQueue(ctx, properties=given)
        assert queue.properties == expected
    if not old:
        queue = cl.CommandQueue(ctx, properties=lists[0])
        event = cl.enqueue_marker(queue)
        event.wait()
        assert event.profile.end > 0


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (-1, OverflowError), (2**64, OverflowError), (1 << 40, cl.LogicError), ("1", TypeError),
        (1.0, TypeError), ([1], cl.LogicError), ([1, 2, 3], cl.LogicError), (["a", 1], TypeError),
        ([None, 1], TypeError), ([0x1093, 2**64], OverflowError), ([4] * 40, cl.LogicError),
        ([12345, 1], cl.LogicError), pytest.param(object(), TypeError, id="object"),
    ],
    ids=lambda given: "object" if type(given) is object else str(given),
)  # fmt: skip
def test_wrong_properties(ctx, given, error):
    with pytest.raises(error):
        cl.CommandQueue(ctx, properties=given)


def test_wrong_arguments(ctx, device):
    for args in [
        (),
        (None,),
        (3,),
        (device,),
        (ctx, 3),
        (ctx, ctx),
        (ctx, "gpu"),
        (ctx, device, 0, 0),
        (ctx, [device]),
    ]:
        with pytest.raises(TypeError):
            cl.CommandQueue(*args)
    with pytest.raises(TypeError, match="unexpected keyword"):
        cl.CommandQueue(ctx, flags=3)


def test_a_device_that_is_not_of_the_context(ctx, device):
    others = [
        d
        for p in cl.get_platforms()
        for d in p.get_devices()
        if d != device and d not in ctx.devices
    ]
    if not others:
        pytest.skip("there is only one device")
    with pytest.raises(cl.LogicError, match="is not a device of"):
        cl.CommandQueue(ctx, others[0])


def test_context_is_kept(device):
    ctx = cl.Context([device])
    gone = weakref.ref(ctx)
    queue = cl.CommandQueue(ctx)
    del ctx
    gc.collect()
    assert gone() is queue.context
    queue.finish()
    del queue
    gc.collect()
    assert gone() is None


def test_finish_and_flush(ctx):
    queue = cl.CommandQueue(ctx)
    queue.finish()
    queue.flush()
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 1 << 20)
    events = [cl.enqueue_fill_buffer(queue, buffer, b"a", 0, 1 << 20) for _ in range(10)]
    queue.finish()
    assert all(e.command_execution_status == 0 for e in events)
    assert queue.finish() is None and queue.flush() is None


def test_finish_waits_for_all_commands_of_an_out_of_order_queue(ctx, device):
    wanted = properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    if not device.queue_properties & wanted:
        pytest.skip("the device has no out-of-order queues")
    queue = cl.CommandQueue(ctx, properties=wanted)
    program = cl.Program(
        ctx,
        "__kernel void spin(__global int *n, int k)\n"
        "{ int s = n[0]; for (int i = 0; i < k; i++) s = s * 5 + 1; *n = s; }",
    ).build()
    buffers = [cl.Buffer(ctx, mf.READ_WRITE, 4) for _ in range(10)]
    events = [program.spin(queue, (1,), None, b, 1000000) for b in buffers]
    queue.finish()
    assert all(e.command_execution_status == 0 for e in events)


def test_finish_in_a_thread(ctx):
    queue = cl.CommandQueue(ctx)
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    order = []
    thread = threading.Thread(target=lambda: (queue.finish(), order.append("finished")))
    thread.start()
    order.append("set")
    gate.set_status(0)
    thread.join()
    assert order == ["set", "finished"] and event.command_execution_status == 0


def test_finish_after_a_failure_does_not_raise(ctx):
    queue = cl.CommandQueue(ctx)
    gate = cl.UserEvent(ctx)
    cl.enqueue_marker(queue, [gate])
    gate.set_status(-1)
    queue.finish()


@pytest.mark.parametrize("in_thread", [False, True])
def test_finish_that_fails(ctx, in_thread, balance):
    queue, codes = cl.CommandQueue(ctx), []

    def finish():
        try:
            queue.finish()
        except cl.Error as error:
            codes.append((error.code, error.routine))

    for routine in ["clFinish"] if in_thread else ["clEnqueueMarkerWithWaitList", "clFlush"]:
        cl.enqueue_marker(queue)  # where nothing is waited for, the driver is asked at once
        _opencl._fault(routine, cl.status_code.OUT_OF_RESOURCES)
        try:
            if in_thread:
                thread = threading.Thread(target=finish)
                thread.start()
                thread.join()
            else:
                finish()
        finally:
            _opencl._fault(None, 0)
    assert codes == [(-5, "clFinish")] * (1 if in_thread else 2)
    queue.finish()


def test_as_a_context_manager(ctx):
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 4)
    with cl.CommandQueue(ctx) as queue:
        event = cl.enqueue_fill_buffer(queue, buffer, b"a", 0, 4)
    assert event.command_execution_status == 0
    with pytest.warns(cl.CommandQueueUsedAfterExit, match="enqueue_fill_buffer"):
        cl.enqueue_fill_buffer(queue, buffer, b"a", 0, 4).wait()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(cl.CommandQueueUsedAfterExit):
            cl.enqueue_marker(queue)
    with pytest.raises(ZeroDivisionError):
        with cl.CommandQueue(ctx) as queue:
            event = cl.enqueue_fill_buffer(queue, buffer, b"a", 0, 4)
            raise ZeroDivisionError
    assert event.command_execution_status == 0


def test_finalize_marks_a_queue_as_done(ctx):
    queue = cl.CommandQueue(ctx)
    queue._finalize()
    with pytest.warns(cl.CommandQueueUsedAfterExit):
        cl.enqueue_marker(queue).wait()


def test_equality_and_handles(ctx):
    a, b = cl.CommandQueue(ctx), cl.CommandQueue(ctx)
    twin = cl.CommandQueue.from_int_ptr(a.int_ptr)
    assert twin == a and hash(twin) == hash(a) and a != b
    assert twin.context == ctx and twin.device == a.device and twin.properties == a.properties
    count = a.reference_count
    del a
    gc.collect()
    cl.enqueue_marker(twin).wait()
    end = time.monotonic() + 5  # PoCL releases a command a little after it is done
    while twin.reference_count != count - 1 and time.monotonic() < end:
        time.sleep(0.001)
    assert twin.reference_count == count - 1
    for wrong, error in [(0, ValueError), (-1, OverflowError), ("x", TypeError)]:
        with pytest.raises(error):
            cl.CommandQueue.from_int_ptr(wrong)


def test_reference_taken_over(ctx):
    gc.collect()
    before = _opencl._handle_counts()["queue"]
    queue = cl.CommandQueue(ctx)
    count = queue.reference_count
    again = cl.CommandQueue.from_int_ptr(queue.int_ptr, retain=True)
    assert queue.reference_count == count + 1
    del again
    assert queue.reference_count == count
    del queue
    assert _opencl._handle_counts()["queue"] == before


def test_attributes_and_subclasses(ctx):
    class Named(cl.CommandQueue):
        def __init__(self, context, name):
            self.name = name

        def __new__(cls, context, name):
            return super().__new__(cls, context)

    queue = Named(ctx, "mine")
    queue.extra = [queue]  # a cycle
    assert queue.name == "mine"
    cl.enqueue_marker(queue).wait()
    gone = weakref.ref(queue)
    del queue
    gc.collect()
    assert gone() is None


def test_dropped_with_commands_in_flight(ctx, balance):
    for _ in range(5):
        queue = cl.CommandQueue(ctx)
        buffer = cl.Buffer(ctx, mf.READ_WRITE, 1 << 16)
        for _ in range(10):
            event = cl.enqueue_fill_buffer(queue, buffer, b"a", 0, 1 << 16)
        del queue, buffer
    event.wait()
    del event


def test_creation_that_fails(ctx, device, balance):
    routine = (
        "clCreateCommandQueue"
        if "OpenCL 1" in device.version
        else "clCreateCommandQueueWithProperties"
    )
    for code, error, times in [(-30, cl.LogicError, 1), (-6, cl.Error, 2), (-4, cl.MemoryError, 2)]:
        _opencl._fault(routine, code, 1, times)
        try:
            with pytest.raises(error) as caught:
                cl.CommandQueue(ctx)
        finally:
            _opencl._fault(None, 0)
        assert caught.value.code == code
        del caught
