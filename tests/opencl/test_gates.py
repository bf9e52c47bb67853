"""Failed user events on drivers that run what waits for them all the same, as Intel's does.

There the commands behind a failed user event report the failure although the driver does not.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags
OUT_OF_ORDER = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
COMPLETE = cl.command_execution_status.COMPLETE
FAILED = cl.status_code.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST


@pytest.fixture(autouse=True)
def gated(device):
    """Treats every driver as Intel's is treated without being asked."""
    _opencl._gate_user_events("Intel" not in device.platform.name)
    yield
    _opencl._gate_user_events(False)


@pytest.fixture
def buffer(ctx):
    return cl.Buffer(ctx, mf.READ_WRITE, 64)


@pytest.fixture(params=["in order", "out of order"])
def queue(request, ctx, device):
    properties = OUT_OF_ORDER if request.param == "out of order" else 0
    if properties & ~device.queue_properties:
        pytest.skip("the device has no out-of-order queues")
    return cl.CommandQueue(ctx, properties=properties)


def fails(function, code=-5):
    """*code* is the user event's status."""
    with pytest.raises(cl.Error, match=str(code)) as caught:
        function()
    assert caught.value.code == FAILED


def test_a_command_that_waits_for_a_failed_user_event_fails(ctx, queue, buffer):
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_fill(queue, buffer, b"\1", 64, wait_for=[gate])
    gate.set_status(-5)
    fails(event.wait)
    fails(lambda: cl.wait_for_events([event]))
    assert event.command_execution_status == -5
    assert event.get_info(cl.event_info.COMMAND_EXECUTION_STATUS) == -5
    queue.finish()
    fails(lambda: cl.enqueue_marker(queue, [event]))


def test_what_waits_for_such_a_command_fails_too(ctx, queue, buffer):
    gate, other = cl.UserEvent(ctx), cl.UserEvent(ctx)
    events = [cl.enqueue_marker(queue, [gate])]
    for _ in range(5):
        events.append(cl.enqueue_fill(queue, buffer, b"\1", 64, wait_for=[events[-1], other]))
    unaffected = cl.enqueue_marker(queue, [other])  # but by the order of an in-order queue
    other.set_status(COMPLETE)
    gate.set_status(-5)
    for event in events:
        fails(event.wait)
    if queue.properties & OUT_OF_ORDER:
        unaffected.wait()


def test_the_failure_that_is_reported_is_the_first_one(ctx, queue):
    gates = [cl.UserEvent(ctx) for _ in range(20)]
    event = cl.enqueue_marker(queue, gates)
    gates[7].set_status(-7)
    for gate in gates:
        if gate is not gates[7]:
            gate.set_status(COMPLETE)
    fails(event.wait, -7)


def test_a_user_event_that_succeeds_lets_commands_succeed(ctx, queue, buffer):
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_fill(queue, buffer, b"\3", 64, wait_for=[gate])
    gate.set_status(COMPLETE)
    event.wait()
    cl.enqueue_marker(queue, [event, gate]).wait()
    assert event.command_execution_status == COMPLETE


def test_a_user_event_that_is_dropped_without_a_status_counts_as_failed(ctx, queue):
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    del gate
    fails(event.wait, -1)


@pytest.mark.parametrize("what", ["copy", "map", "kernel", "svm"])
def test_a_command_of_each_kind_fails(ctx, queue, buffer, device, what):
    gate, host = cl.UserEvent(ctx), np.zeros(64, np.uint8)
    if what == "copy":
        event = cl.enqueue_copy(queue, host, buffer, is_blocking=False, wait_for=[gate])
    elif what == "map":
        array, event = cl.enqueue_map_buffer(
            queue, buffer, cl.map_flags.READ, 0, 64, np.uint8, wait_for=[gate], is_blocking=False
        )
    elif what == "kernel":
        kernel = cl.Program(ctx, "kernel void k(global int *p) { p[0] = 1; }").build().k
        event = kernel(queue, (1,), None, buffer, wait_for=[gate])
    else:
        if not device.svm_capabilities:
            pytest.skip("the device has no shared virtual memory")
        memory = cl.SVMAllocation(ctx, 64, 0, cl.svm_mem_flags.READ_WRITE, queue=queue)
        event = cl.enqueue_svm_memfill(queue, memory, b"\1", wait_for=[gate])
    gate.set_status(-5)
    fails(event.wait)
    queue.finish()


def test_a_blocking_copy_raises(ctx, queue, buffer):
    gate, host = cl.UserEvent(ctx), np.zeros(64, np.uint8)
    timer = threading.Timer(0.05, gate.set_status, [-5])
    timer.start()
    fails(lambda: cl.enqueue_copy(queue, host, buffer, wait_for=[gate]))
    timer.join()


def test_a_callback_gets_the_failed_status(ctx, queue):
    gate, statuses, called = cl.UserEvent(ctx), [], threading.Event()
    event = cl.enqueue_marker(queue, [cl.enqueue_marker(queue, [gate])])
    event.set_callback(COMPLETE, lambda status: (statuses.append(status), called.set()))
    gate.set_status(-5)
    queue.flush()
    assert called.wait(20)
    assert statuses == [-5]


def test_set_status_can_be_repeated_after_the_driver_refused_it(ctx, queue, fault):
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    fault("clSetUserEventStatus", -6)
    with pytest.raises(cl.RuntimeError, match="clSetUserEventStatus"):
        gate.set_status(-5)
    assert gate.command_execution_status > COMPLETE
    gate.set_status(COMPLETE)
    event.wait()


def test_hundreds_of_user_events_leave_no_handles(ctx, queue, nothing_left):
    for i in range(300):
        gate = cl.UserEvent(ctx)
        event = cl.enqueue_marker(queue, [gate])
        last = cl.enqueue_marker(queue, [event, gate])
        gate.set_status(-5 if i % 2 else COMPLETE)
        if i % 2:
            fails(last.wait)
        else:
            last.wait()
    queue.finish()


def test_what_an_in_order_queue_holds_behind_it_fails_and_what_comes_later_does_not(
    ctx, queue, buffer
):
    if queue.properties & OUT_OF_ORDER:
        pytest.skip("the queue has no order")
    host = np.zeros(64, np.uint8)
    kernel = cl.Program(ctx, "kernel void k(global int *p) { p[0] = 1; }").build().k
    before = cl.enqueue_fill(queue, buffer, b"\1", 64)
    gate, other = cl.UserEvent(ctx), cl.UserEvent(ctx)
    behind = [cl.enqueue_marker(queue, [gate])]
    behind += [cl.enqueue_fill(queue, buffer, b"\2", 64), kernel(queue, (1,), None, buffer)]
    behind += [cl.enqueue_copy(queue, host, buffer, is_blocking=False)]
    behind += [cl.enqueue_marker(queue, [other]), cl.enqueue_barrier(queue)]
    other.set_status(COMPLETE)
    gate.set_status(-5)
    for event in behind:
        fails(event.wait)
    before.wait()
    cl.enqueue_fill(queue, buffer, b"\3", 64).wait()
    cl.enqueue_copy(queue, host, buffer)
    assert (host == 3).all()


def test_commands_do_not_wait_for_the_user_event_of_one_that_was_refused(ctx, queue):
    gate, gone = cl.UserEvent(ctx), cl.Buffer(ctx, mf.READ_WRITE, 64)
    gone.release()
    with pytest.raises(cl.LogicError):
        cl.enqueue_copy(queue, np.zeros(64, np.uint8), gone, is_blocking=False, wait_for=[gate])
    cl.enqueue_marker(queue).wait()
    gate.set_status(-5)
    cl.enqueue_marker(queue).wait()


def test_commands_behind_it_in_an_in_order_queue_fail_whatever_they_wait_for(ctx, queue):
    gate = cl.UserEvent(ctx)
    done = [cl.enqueue_marker(queue) for _ in range(20)]
    behind = [cl.enqueue_marker(queue, [gate])]
    for n in (0, 1, 7, 8, 9, 20):
        behind.append(cl.enqueue_marker(queue, done[:n]))
    gate.set_status(-5)
    for event in behind[:1] if queue.properties & OUT_OF_ORDER else behind:
        fails(event.wait)
    queue.finish()
