"""Wait lists, wait_for_events and interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from opencl.memory_helpers import quiet

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags
status = cl.command_execution_status


@pytest.fixture
def queue(ctx):
    return cl.CommandQueue(ctx)


def test_wait_for_events(ctx, queue):
    cl.wait_for_events([])
    cl.wait_for_events(())
    events = [cl.enqueue_marker(queue) for _ in range(30)]
    cl.wait_for_events(events)
    cl.wait_for_events(iter(events))
    cl.wait_for_events(events * 3)
    assert all(e.command_execution_status == status.COMPLETE for e in events)


def test_events_of_several_contexts(ctx, device, queue):
    other = cl.CommandQueue(cl.Context([device]))
    cl.wait_for_events([cl.enqueue_marker(queue), cl.enqueue_marker(other)])


@pytest.mark.parametrize(
    "wrong",
    [3, "events", [3], [None], object(), b"a", [[]]],
    ids=lambda wrong: "object" if type(wrong) is object else repr(wrong),
)
def test_mistakes(queue, wrong):
    with pytest.raises(TypeError, match="wait_for_events"):
        cl.wait_for_events(wrong)
    with pytest.raises(TypeError, match="wait_for"):
        cl.enqueue_marker(queue, wait_for=wrong)


def test_a_failure_does_not_hide_that_others_run(ctx, queue):
    """All are waited for, then the first error is raised."""
    bad, gate = cl.UserEvent(ctx), cl.UserEvent(ctx)
    bad.set_status(-5)
    last = cl.enqueue_marker(queue, [gate])
    threading.Timer(0.1, gate.set_status, [0]).start()
    with pytest.raises(cl.Error, match="OUT_OF_RESOURCES"):
        cl.wait_for_events([bad, last])
    assert last.command_execution_status == status.COMPLETE


def test_a_failed_event_in_a_wait_list_is_refused_by_every_command(ctx, queue):
    """PoCL would accept it and wait for ever."""
    bad = cl.UserEvent(ctx)
    bad.set_status(-1)
    behind = cl.UserEvent(ctx)
    failed_marker = cl.enqueue_marker(queue, [behind])
    behind.set_status(-1)
    buffer, host = cl.Buffer(ctx, mf.READ_WRITE, 16), np.zeros(16, np.uint8)
    program = cl.Program(ctx, "__kernel void nothing(void) {}").build()
    rect = dict(buffer_origin=(0,), host_origin=(0,), region=(4,))
    for event in (bad, failed_marker):
        commands = [
            lambda w: cl.enqueue_copy(queue, host, buffer, wait_for=w),
            lambda w: cl.enqueue_copy(queue, buffer, host, wait_for=w, is_blocking=False),
            lambda w: cl.enqueue_copy(queue, host, buffer, wait_for=w, **rect),
            lambda w: cl.enqueue_copy(queue, buffer, host, wait_for=w, **rect),
            lambda w: cl.enqueue_copy(queue, cl.Buffer(ctx, mf.READ_WRITE, 16), buffer, wait_for=w),
            lambda w: cl.enqueue_fill_buffer(queue, buffer, b"a", 0, 4, w),
            lambda w: cl.enqueue_map_buffer(
                queue, buffer, cl.map_flags.READ, 0, (4,), np.uint8, wait_for=w
            ),
            lambda w: cl.enqueue_marker(queue, w),
            lambda w: cl.enqueue_barrier(queue, w),
            lambda w: cl.enqueue_migrate_mem_objects(queue, [buffer], 0, w),
            lambda w: program.nothing(queue, (1,), None, wait_for=w),
        ]
        for command in commands:
            with pytest.raises(cl.Error) as caught:
                command([event])
            assert caught.value.code == cl.status_code.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    queue.finish()


def test_long_wait_lists(ctx, queue):
    """Longer than the list on the C stack."""
    for n in (7, 8, 9, 100):
        gates = [cl.UserEvent(ctx) for _ in range(n)]
        event = cl.enqueue_marker(queue, wait_for=gates)
        for gate in reversed(gates):
            assert event.command_execution_status > 0
            gate.set_status(0)
        event.wait()


def test_a_list_that_its_own_iterator_changes(ctx, queue):
    class Shrinking(list):
        def __iter__(self):
            while self:
                yield self.pop()

    events = Shrinking(cl.enqueue_marker(queue) for _ in range(5))
    cl.enqueue_marker(queue, wait_for=events).wait()


def test_events_from_another_thread_and_queue(ctx):
    results = []

    def work():
        own = cl.CommandQueue(ctx)
        results.append(cl.enqueue_marker(own, [gate]))
        own.flush()

    gate = cl.UserEvent(ctx)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    queue = cl.CommandQueue(ctx)
    last = cl.enqueue_marker(queue, results)
    assert last.command_execution_status > 0
    gate.set_status(0)
    last.wait()


def test_a_driver_without_callbacks_is_polled(ctx, queue):
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    _opencl._call_counts(True)
    event.set_callback(0, lambda s: None)
    if "clSetEventCallback" not in _opencl._call_counts():
        gate.set_status(0)
        pytest.skip("a driver is in use that is never asked to call back (NVIDIA's)")
    threading.Timer(0.1, gate.set_status, [0]).start()
    _opencl._fault("clSetEventCallback", cl.status_code.INVALID_VALUE, 1, 1)
    try:
        event.wait()
        assert _opencl._fault_hits() == 1
    finally:
        _opencl._fault(None, 0)
    assert event.command_execution_status == 0


@pytest.mark.parametrize("thread", [False, True])
def test_a_driver_that_fails_to_wait(ctx, queue, thread):
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    caught = []

    def wait():
        try:
            event.wait()
        except cl.Error as error:
            caught.append(error.code)

    quiet()  # events of other tests are let go by asking for their state, too
    _opencl._fault("clWaitForEvents" if thread else "clGetEventInfo", -6, 1, 1)
    try:
        if thread:
            other = threading.Thread(target=wait)
            other.start()
            other.join()
        else:
            wait()
    finally:
        _opencl._fault(None, 0)
    assert caught == [-6]
    gate.set_status(0)
    event.wait()


# ---- signals


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal to itself as on Unix")
@pytest.mark.parametrize("what", ["event", "events", "finish", "read", "map"])
def test_interrupt(ctx, queue, what):
    buffer, host = (
        cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(64, 9, np.uint8)),
        np.zeros(64, np.uint8),
    )
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    calls = {
        "event": event.wait,
        "events": lambda: cl.wait_for_events([event]),
        "finish": queue.finish,
        "read": lambda: cl.enqueue_copy(queue, host, buffer),
        "map": lambda: cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 0, (64,), np.uint8),
    }
    with pytest.raises(KeyboardInterrupt):  # else it waits for ever
        threading.Timer(0.15, os.kill, [os.getpid(), signal.SIGINT]).start()
        calls[what]()
    gate.set_status(0)
    queue.finish()
    event.wait()
    cl.enqueue_copy(queue, host, buffer)
    assert (host == 9).all()


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal to itself as on Unix")
def test_other_signals_are_handled_and_waiting_goes_on(ctx, queue):
    gate, seen = cl.UserEvent(ctx), []
    event = cl.enqueue_marker(queue, [gate])
    old = signal.signal(signal.SIGUSR1, lambda *args: seen.append(1))
    try:
        threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGUSR1]).start()
        threading.Timer(0.3, gate.set_status, [0]).start()
        event.wait()
    finally:
        signal.signal(signal.SIGUSR1, old)
    assert seen == [1]


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal to itself as on Unix")
def test_memory_of_an_interrupted_copy_stays(ctx, queue):
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(64, 9, np.uint8))
    gate, host = cl.UserEvent(ctx), bytearray(64)
    cl.enqueue_copy(queue, host, buffer)  # so that the next begins at once, under valgrind too
    host[:] = bytes(64)
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        cl.enqueue_copy(queue, host, buffer, wait_for=[gate])
    with pytest.raises(BufferError):
        host.append(1)
    gate.set_status(0)
    queue.finish()
    end = time.monotonic() + 30
    while len(host) == 64 and time.monotonic() < end:
        try:
            host.append(1)
        except BufferError:
            time.sleep(0.005)
    assert host == b"\x09" * 64 + b"\1"


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal to itself as on Unix")
def test_a_program_that_is_interrupted_ends(ctx):
    code = (
        "import os, signal, threading, pygpu as cl\n"
        "ctx = cl.create_some_context(interactive=False)\n"
        "queue = cl.CommandQueue(ctx)\n"
        "gate = cl.UserEvent(ctx)\n"
        "event = cl.enqueue_marker(queue, [gate])\n"
        "threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()\n"
        "event.wait()\n"
    )
    result = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == -signal.SIGINT and "KeyboardInterrupt" in result.stderr
