"""UserEvent: a gate that the program opens, once."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from opencl.memory_helpers import becomes

import pygpu as cl

mf = cl.mem_flags
status = cl.command_execution_status


@pytest.fixture
def queue(ctx):
    return cl.CommandQueue(ctx)


def test_states(ctx):
    event = cl.UserEvent(ctx)
    assert isinstance(event, cl.Event)
    assert event.command_execution_status == status.SUBMITTED
    assert event.context == ctx and event.command_queue is None
    assert event.command_type == cl.command_type.USER
    event.set_status(status.COMPLETE)
    assert event.command_execution_status == status.COMPLETE
    event.wait()
    cl.wait_for_events([event])


def test_holds_commands_back(ctx, queue):
    gate = cl.UserEvent(ctx)
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(4, np.uint8))
    event = cl.enqueue_fill_buffer(queue, buffer, b"\7", 0, 4, wait_for=[gate])
    queue.flush()
    assert event.command_execution_status > status.RUNNING
    gate.set_status(status.COMPLETE)
    host = np.zeros(4, np.uint8)
    cl.enqueue_copy(queue, host, buffer)
    assert host.tolist() == [7] * 4


def test_several_gates(ctx, queue):
    gates = [cl.UserEvent(ctx) for _ in range(20)]
    event = cl.enqueue_marker(queue, gates)
    for gate in gates:
        queue.flush()
        assert event.command_execution_status > status.COMPLETE
        gate.set_status(0)
    event.wait()


@pytest.mark.parametrize("code", [-1, -5, -9999, -(2**31)])
def test_failure(ctx, queue, code):
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    gate.set_status(code)
    assert gate.command_execution_status == code
    for waited in (gate, event):
        with pytest.raises(cl.Error) as caught:
            waited.wait()
        assert caught.value.code == cl.status_code.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    assert event.command_execution_status < 0
    queue.finish()
    with pytest.raises(cl.Error):
        cl.wait_for_events([event])


@pytest.mark.parametrize("code", [-1, -5, -9999, -(2**31)])
def test_the_event_itself_has_failed(ctx, queue, code):
    """Whatever becomes of the commands that wait for it."""
    gate, calls = cl.UserEvent(ctx), []
    gate.set_callback(status.COMPLETE, calls.append)
    gate.set_status(code)
    gate.set_callback(status.COMPLETE, calls.append)
    assert gate.command_execution_status == code
    assert gate.get_info(cl.event_info.COMMAND_EXECUTION_STATUS) == code
    failed = cl.status_code.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    for action in (
        gate.wait,
        lambda: cl.wait_for_events([gate]),
        lambda: cl.enqueue_marker(queue, [gate]),
    ):
        with pytest.raises(cl.Error, match=str(code)) as caught:
            action()
        assert caught.value.code == failed
    end = time.monotonic() + 30
    while len(calls) < 2 and time.monotonic() < end:
        time.sleep(0.001)
    assert calls == [code] * 2


def test_once_only(ctx):
    for first in (0, -3):
        event = cl.UserEvent(ctx)
        event.set_status(first)
        for second in (0, -1):
            with pytest.raises(cl.LogicError, match="only once") as caught:
                event.set_status(second)
            assert caught.value.code == cl.status_code.INVALID_OPERATION
        assert event.command_execution_status == first


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (1, ValueError),
        (3, ValueError),
        (2**31, ValueError),
        (-(2**31) - 1, ValueError),
        (2**70, OverflowError),
        ("0", TypeError),
        (None, TypeError),
        (0.0, TypeError),
    ],
)
def test_wrong_status(ctx, value, error):
    event = cl.UserEvent(ctx)
    with pytest.raises(error, match="UserEvent.set_status"):
        event.set_status(value)
    event.set_status(np.int8(0))


def test_wrong_context():
    for wrong in (None, 3, "ctx"):
        with pytest.raises(TypeError, match="context"):
            cl.UserEvent(wrong)
    with pytest.raises(TypeError):
        cl.UserEvent()


def test_dropped_without_a_status_it_fails(ctx, queue):
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    queue.flush()
    del gate
    gc.collect()
    with pytest.raises(cl.Error):
        event.wait()


def test_set_by_another_thread(ctx, queue):
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    threading.Timer(0.05, gate.set_status, [0]).start()
    event.wait()
    assert gate.command_execution_status == 0


def test_many_threads_set_one_status(ctx):
    for _ in range(20):
        event, outcomes, barrier = cl.UserEvent(ctx), [], threading.Barrier(4)

        def work(event=event, outcomes=outcomes, barrier=barrier):
            barrier.wait()
            try:
                event.set_status(0)
                outcomes.append("set")
            except cl.LogicError:
                outcomes.append("refused")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["refused"] * 3 + ["set"]


def test_callbacks(ctx):
    event, calls = cl.UserEvent(ctx), []
    event.set_callback(status.COMPLETE, calls.append)
    event.set_status(0)
    end = time.monotonic() + 30
    while not calls and time.monotonic() < end:
        time.sleep(0.001)
    assert calls == [0]


def test_a_subclass(ctx):
    class Gate(cl.UserEvent):
        note = "mine"

    gate = Gate(ctx)
    gate.set_status(0)
    assert gate.note == "mine"
    gate.wait()


def test_the_end_of_a_program_with_commands_that_wait(ctx):
    code = (
        "import numpy as np, pygpu as cl\n"
        "ctx = cl.create_some_context(interactive=False)\n"
        "queue = cl.CommandQueue(ctx)\n"
        "gate = cl.UserEvent(ctx)\n"
        "buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 64)\n"
        "host = np.zeros(64, np.uint8)\n"
        "event = cl.enqueue_copy(queue, host, buffer, is_blocking=False, wait_for=[gate])\n"
        "queue.flush()\n"
        "print('end')\n"
    )
    result = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


def run_alone(code):
    """In a process of its own, which a driver may end."""
    head = (
        "import random, threading, pygpu as cl\n"
        "ctx = cl.create_some_context(interactive=False)\n"
        "buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 65536)\n"
        "rng = random.Random(0)\n"
    )
    result = subprocess.run(
        [sys.executable, "-P", "-c", head + code + "print('end')\n"],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (result.returncode, result.stdout) == (0, "end\n"), result.stderr


@pytest.mark.usefixtures("ctx")
def test_failures_and_successes_by_turns_with_events_dropped():
    """PoCL aborts the process here if failed events are released as soon as they are dropped."""
    run_alone(
        "queue = cl.CommandQueue(ctx)\n"
        "for i in range(300):\n"
        "    gate, kept = cl.UserEvent(ctx), []\n"
        "    for k in range(rng.randrange(1, 5)):\n"
        "        event = cl.enqueue_fill_buffer(\n"
        "            queue, buffer, b'a', 0, 1024, [gate] if k == 0 else None)\n"
        "        if rng.random() < 0.5:\n"
        "            kept.append(event)\n"
        "    del event\n"
        "    outcome = rng.random()\n"
        "    if outcome < 0.6:\n"
        "        gate.set_status(-1 if outcome < 0.3 else 0)\n"
        "    del gate\n"
        "    if rng.random() < 0.3:\n"
        "        queue.finish()\n"
        "queue.finish()\n"
    )


@pytest.mark.usefixtures("ctx")
def test_a_command_fails_while_the_others_that_it_waits_for_complete():
    """PoCL's threads start such a command at times, and crash."""
    run_alone(
        "one, two = cl.CommandQueue(ctx), cl.CommandQueue(ctx)\n"
        "for i in range(1000):\n"
        "    gate = cl.UserEvent(ctx)\n"
        "    for _ in range(rng.randrange(1, 4)):\n"
        "        other = cl.enqueue_fill_buffer(two, buffer, b'a', 0, rng.choice([64, 65536]))\n"
        "    try:\n"
        "        held = cl.enqueue_fill_buffer(one, buffer, b'b', 0, 64, [gate, other])\n"
        "    except cl.Error:  # behind what failed before: NVIDIA's driver lets it fail, too\n"
        "        assert 'NVIDIA' in ctx.devices[0].platform.name\n"
        "        two.finish()\n"
        "        continue\n"
        "    behind = cl.enqueue_fill_buffer(one, buffer, b'c', 0, 64)\n"
        "    across = cl.enqueue_fill_buffer(two, buffer, b'd', 0, 64, [behind])\n"
        "    del held, behind, across\n"
        "    for _ in range(rng.randrange(300)):\n"
        "        pass\n"
        "    gate.set_status(-1)\n"
        "one.finish()\n"
        "two.finish()\n"
    )


@pytest.mark.usefixtures("ctx")
def test_many_commands_fail_long_before_it_is_their_turn():
    """PoCL looks at them then, and aborts the process if they were released."""
    run_alone(
        "one, two = cl.CommandQueue(ctx), cl.CommandQueue(ctx)\n"
        "large = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 1 << 22)\n"
        "for i in range(3000):\n"
        "    cl.enqueue_fill_buffer(two, large, b'a', 0, 1 << 22)\n"
        "for i in range(800):\n"
        "    gate = cl.UserEvent(ctx)\n"
        "    held = cl.enqueue_fill_buffer(one, buffer, b'b', 0, 64, [gate])\n"
        "    for k in range(3):\n"
        "        cl.enqueue_fill_buffer(two, buffer, b'd', 0, 64, [held])\n"
        "    del held\n"
        "    gate.set_status(-1)\n"
        "one.finish()\n"
        "two.finish()\n"
        "cl.enqueue_fill_buffer(two, buffer, b'a', 0, 64).wait()\n"
    )


@pytest.mark.usefixtures("ctx")
def test_threads_let_events_fail_at_full_speed():
    run_alone(
        "queues = [cl.CommandQueue(ctx) for _ in range(4)]\n"
        "def work(k):\n"
        "    rng = random.Random(k)\n"
        "    for _ in range(200):\n"
        "        gate = cl.UserEvent(ctx)\n"
        "        other = cl.enqueue_fill_buffer(queues[k - 1], buffer, b'a', 0, 4096)\n"
        "        events = [cl.enqueue_fill_buffer(queues[k], buffer, b'b', 0, 64, [gate, other])]\n"
        "        try:\n"
        "            cl.enqueue_fill_buffer(queues[k - 2], buffer, b'c', 0, 64, events)\n"
        "        except cl.Error:\n"
        "            pass\n"
        "        if rng.random() < 0.8:\n"
        "            gate.set_status(rng.choice([-1, -1, 0]))\n"
        "        del gate\n"
        "        if rng.random() < 0.2:\n"
        "            queues[k].finish()\n"
        "threads = [threading.Thread(target=work, args=[k]) for k in range(4)]\n"
        "for thread in threads:\n"
        "    thread.start()\n"
        "for thread in threads:\n"
        "    thread.join()\n"
        "for queue in queues:\n"
        "    queue.finish()\n"
    )


@pytest.mark.usefixtures("ctx")
def test_memory_is_allocated_on_a_queue_that_fails():
    """PoCL aborts the process if nobody holds the event of such a command."""
    run_alone(
        "queue = cl.CommandQueue(ctx)\n"
        "allocate = cl.tools.ImmediateAllocator(queue)\n"
        "for i in range(100):\n"
        "    gate = cl.UserEvent(ctx)\n"
        "    cl.enqueue_fill_buffer(queue, buffer, b'a', 0, 64, [gate])\n"
        "    memory = allocate(4096), allocate(64)\n"
        "    cl.enqueue_fill_buffer(queue, memory[0], b'a', 0, 64)\n"
        "    if i % 2:\n"
        "        gate.set_status(-1)\n"
        "queue.finish()\n"
    )


@pytest.mark.usefixtures("ctx")
@pytest.mark.parametrize(
    "properties", [0, cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE]
)
def test_a_queue_is_of_use_after_a_failure(properties):
    """Intel's runtime crashes when an out-of-order queue is used or released after one."""
    run_alone(
        "for i in range(10):\n"
        f"    queue, gate = cl.CommandQueue(ctx, properties={properties:d}), cl.UserEvent(ctx)\n"
        "    cl.enqueue_fill_buffer(queue, buffer, b'a', 0, 64)\n"
        "    cl.enqueue_fill_buffer(queue, buffer, b'b', 0, 64, [gate])\n"
        "    queue.flush()\n"
        "    if i % 2:\n"
        "        gate.set_status(-1)\n"
        "    else:\n"
        "        del gate\n"
        "    cl.enqueue_fill_buffer(queue, buffer, b'c', 0, 64)\n"
        "    queue.finish()\n"
        "    cl.enqueue_fill_buffer(queue, buffer, b'c', 0, 64).wait()\n"
    )


@pytest.mark.usefixtures("ctx")
def test_out_of_order_queues_are_dropped_at_full_speed():
    """Intel's runtime hangs at times if one is released while its last command is taken apart."""
    run_alone(
        "out = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE\n"
        "kernel = cl.Program(ctx, 'kernel void f(global int *a) { a[get_global_id(0)] = 1; }')\n"
        "kernel = kernel.build().f\n"
        "for i in range(300):\n"
        "    queue = cl.CommandQueue(ctx, properties=out)\n"
        "    gate = cl.UserEvent(ctx)\n"
        "    kernel(queue, (1000,), None, buffer, wait_for=[gate])\n"
        "    last = kernel(queue, (1000,), None, buffer)\n"
        "    gate.set_status(0)\n"
        "    last.wait()\n"
    )


def behind_a_failure(command, queue, *args):
    """A command where others before it have failed: it works at once on PoCL and Intel's runtime.
    On other drivers it may fail with them, and works when the queue was finished."""
    try:
        command(queue, *args).wait()
    except cl.Error:
        name = queue.device.platform.name
        assert "Portable" not in name and "Intel" not in name
        queue.finish()
        command(queue, *args).wait()


@pytest.mark.parametrize("how", ["set", "dropped"])
@pytest.mark.parametrize("then", ["copy", "finish", "command"])
def test_a_queue_keeps_its_order_over_a_failure(ctx, queue, how, then):
    """PoCL forgets what comes before the command that failed."""
    source = (
        "kernel void slow(global int *a) { volatile int x = 0;"
        "    for (int i = 0; i < 5000000; i++) x += i; a[0] += 1; }"
    )
    slow = cl.Program(ctx, source).build().slow
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(4, np.int32))
    for wanted in (8, 16):
        gate, events = cl.UserEvent(ctx), []
        for _ in range(8):
            events.append(slow(queue, (1,), None, buffer))
        events.append(cl.enqueue_fill_buffer(queue, buffer, b"\0", 0, 16, [gate]))
        events.append(cl.enqueue_fill_buffer(queue, buffer, b"\0", 0, 16))
        if how == "set":
            gate.set_status(-1)
        del gate
        host = np.zeros(4, np.int32)
        if then == "copy":
            while events[-1].command_execution_status > 0:
                time.sleep(0.001)
            behind_a_failure(cl.enqueue_copy, queue, host, buffer)
            assert host[0] == wanted
        elif then == "finish":
            queue.finish()
        else:
            while events[-1].command_execution_status > 0:
                time.sleep(0.001)
            behind_a_failure(cl.enqueue_marker, queue)  # which does not wait
            cl.wait_for_events(events[:8])
        assert [event.command_execution_status for event in events[:8]] == [0] * 8
        assert [event.command_execution_status < 0 for event in events[8:]] == [True] * 2
        behind_a_failure(cl.enqueue_copy, queue, host, buffer)
        assert host[0] == wanted


def test_commands_after_a_dropped_event_do_not_fail(ctx, queue):
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 64)
    for _ in range(100):
        cl.enqueue_fill_buffer(queue, buffer, b"a", 0, 64, [cl.UserEvent(ctx)])
        behind_a_failure(cl.enqueue_fill_buffer, queue, buffer, b"b", 0, 64)
    host = np.zeros(64, np.uint8)
    cl.enqueue_copy(queue, host, buffer)
    assert (host == ord("b")).all()


def test_a_dropped_event_fails_however_often_the_driver_refuses(ctx, queue, fault, nothing_left):
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    queue.flush()
    fault("clSetUserEventStatus", -6, 1, 13)  # more than one attempt makes
    with pytest.raises(cl.Error, match="clSetUserEventStatus"):
        gate.set_status(0)
    del gate
    assert becomes(lambda: event.command_execution_status < 0), "waits for nobody, for ever"


def kept_events(rounds, commands, finish):
    """Let *commands* fail in each of *rounds*; return how many events were kept at most."""
    code = f"""
import pygpu as cl
ctx = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(ctx)
most = 0
for i in range({rounds}):
    gate = cl.UserEvent(ctx)
    kept = [cl.enqueue_marker(queue, [gate]) for _ in range({commands})]
    cl._opencl._fault("clSetUserEventStatus", -6)
    try:
        gate.set_status(-5)
    except cl.Error:
        gate.set_status(-5)
    del gate, kept
    if {finish}:
        cl._opencl._fault("clFlush", -6)
        for _ in range(2):
            try:
                queue.finish()
            except cl.Error:
                pass
    most = max(most, cl._opencl._kept_events())
assert cl._opencl._handle_counts()["event"] == 0
print(most)
"""
    result = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=100
    )
    assert result.returncode == 0, result.stderr
    return int(result.stdout)


@pytest.mark.usefixtures("ctx")
def test_failed_events_kept_for_the_driver_go_when_queues_are_finished():
    assert kept_events(80, 100, finish=True) <= 2048 + 200


@pytest.mark.usefixtures("ctx")
def test_failed_events_kept_for_the_driver_are_bounded_without_it():
    assert kept_events(60, 1000, finish=False) <= 65536
