"""pygpu.fusion.on() with OpenCL's arrays: events, queues, kernels and memory that a program uses by
itself come after what was deferred."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pygpu as cl
import pygpu.array as cl_array
from pygpu import _opencl
from pygpu._src.array import chains

F = np.float32
RAW = "__kernel void twice(__global float *x) { int i = get_global_id(0); x[i] = 2 * x[i]; }"


@pytest.fixture
def queue(opencl_maker):
    return opencl_maker.queue


@pytest.fixture(params=[1, 2], ids=["on", "late"])
def fused(request):
    chains.set_mode(request.param, wait=True, often=1, wait_us=2_000_000)
    yield
    chains.set_from_environment()


@pytest.fixture
def late():
    chains.set_mode(2, wait=True, often=1, wait_us=2_000_000)
    yield
    chains.set_from_environment()


def rand(n=32, seed=1):
    return np.random.default_rng(seed).uniform(-2, 2, n).astype(F)


def launched() -> int:
    now = chains.counts()
    return now["fused"] + now["unfused"]


def both(x):
    """Operations that a chain takes, on the device and on the host."""
    return (x + 1) * 3 - x


def deferred(x):
    """The same, of which something waits now.

    Nothing does while a user event is pending anywhere in the process. One that another test left
    behind ends after a collection, in a thread that stops the driver's threads first: on a busy
    machine that takes seconds."""
    end = time.monotonic() + 60
    while True:
        chains.flush()
        before = chains.counts()
        y = both(x)
        now = chains.counts()
        waits = now["deferred"] > before["deferred"]
        if waits and all(now[name] == before[name] for name in ("fused", "unfused")):
            return y
        if time.monotonic() > end:
            pending = _opencl._user_events_pending()
            pytest.fail(f"nothing was deferred; {pending} user events are pending")
        gc.collect()
        time.sleep(0.005)


def test_reading_events_launches_and_gives_the_event(queue, fused):
    x = cl_array.to_device(queue, rand())
    y = deferred(x)
    (event,) = y.events
    assert isinstance(event, cl.Event)
    event.wait()
    assert event.command_execution_status == cl.command_execution_status.COMPLETE
    np.testing.assert_array_equal(y.get(), both(rand()))


def test_views_share_the_event_of_the_launch(queue, late):
    x = cl_array.to_device(queue, rand())
    (x + 1)[:] * 2  # so that all is known
    y = x + 1
    view = y[:]
    before = launched()
    z = view * 2
    assert launched() == before  # making and using a view launches nothing
    assert view.events is y.events
    assert len(y.events) == 1
    np.testing.assert_array_equal(z.get(), (rand() + 1) * 2)


def test_a_list_of_events_that_a_program_keeps_is_never_behind(queue, late):
    x = cl_array.to_device(queue, rand())
    events = x.events
    x += 1
    assert len(events) == 1
    last = events[0]
    x += 1
    assert events[0] != last
    assert x.events is events
    np.testing.assert_array_equal(x.get(), rand() + 1 + 1)


def test_another_queue_waits_for_the_launch(queue, fused):
    other = cl.CommandQueue(queue.context)
    x = cl_array.to_device(queue, rand())
    y = deferred(x)
    z = y.with_queue(other) * 2
    np.testing.assert_array_equal(z.get(other), both(rand()) * 2)


def test_a_copy_on_another_queue_after_an_event(queue, fused):
    other = cl.CommandQueue(queue.context)
    x = cl_array.to_device(queue, rand())
    y = deferred(x)
    got = np.empty(32, F)
    cl.enqueue_copy(other, got, y.data, wait_for=y.events)
    np.testing.assert_array_equal(got, both(rand()))


def test_a_marker_comes_after_what_was_deferred(queue, fused):
    x = cl_array.to_device(queue, rand())
    y = deferred(x)
    before = launched()
    event = cl.enqueue_marker(queue)
    assert launched() > before
    event.wait()
    got = np.empty(32, F)
    cl.enqueue_copy(cl.CommandQueue(queue.context), got, y.data)
    np.testing.assert_array_equal(got, both(rand()))


@pytest.mark.parametrize("method", ["flush", "finish"])
def test_flush_and_finish_launch(queue, fused, method):
    x = cl_array.to_device(queue, rand())
    y = deferred(x)
    before = launched()
    getattr(queue, method)()
    assert launched() > before
    np.testing.assert_array_equal(y.get(), both(rand()))


def test_a_raw_kernel_reads_and_writes_in_order(queue, fused):
    kernel = cl.Program(queue.context, RAW).build().twice
    x = cl_array.to_device(queue, rand())
    y = deferred(x)
    kernel(queue, (32,), None, y.data)
    kernel(queue, (32,), None, x.data)
    z = both(x)
    np.testing.assert_array_equal(y.get(), both(rand()) * 2)
    np.testing.assert_array_equal(z.get(), both(rand() * 2))


def test_a_kernel_whose_arguments_were_set_before(queue, fused):
    kernel = cl.Program(queue.context, RAW).build().twice
    x = cl_array.to_device(queue, rand())
    y = deferred(x)
    kernel.set_args(y.data)
    cl.enqueue_nd_range_kernel(queue, kernel, (32,), None)
    np.testing.assert_array_equal(y.get(), both(rand()) * 2)


def test_the_kernel_of_a_deferred_operation_is_launched_itself(queue, late):
    """It finds the trap; the deferred launch needs the same kernel, which must not be locked."""
    x, y = cl_array.to_device(queue, rand()), cl_array.to_device(queue, rand())
    given = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 128)
    z = cl_array.Array(queue, (32,), F, data=given)  # never part of a chain
    z.fill(1)
    for _ in range(3):
        x += y
        z += y
    np.testing.assert_array_equal(x.get(), rand() + rand() + rand() + rand())
    np.testing.assert_array_equal(z.get(), 1 + rand() + rand() + rand())


def test_a_region_of_the_memory(queue, fused):
    n = 4096
    x = cl_array.to_device(queue, rand(n))
    y = deferred(x)
    half = y.data.get_sub_region(2 * n, 2 * n)
    kernel = cl.Program(queue.context, RAW).build().twice
    kernel(queue, (n // 2,), None, half)
    y += 1
    expected = both(rand(n))
    expected[n // 2 :] *= 2
    kernel(queue, (n // 2,), None, half)
    expected += 1
    expected[n // 2 :] *= 2
    np.testing.assert_array_equal(y.get(), expected)


def test_memory_whose_handle_is_known_takes_no_part(queue, late):
    x = cl_array.to_device(queue, rand())
    y = x + 1
    before = launched()
    handle = y.base_data.int_ptr
    assert launched() == before + 1
    before = chains.counts()["deferred"]
    y += 1
    assert chains.counts()["deferred"] == before
    got = np.empty(32, F)
    cl.enqueue_copy(queue, got, cl.Buffer.from_int_ptr(handle))
    np.testing.assert_array_equal(got, rand() + 1 + 1)


def test_releasing_memory_launches_what_uses_it(queue, late):
    x = cl_array.to_device(queue, rand())
    y = x + 1
    x.base_data.release()
    np.testing.assert_array_equal(y.get(), rand() + 1)


def test_mapped_memory(queue, fused):
    x = cl_array.to_device(queue, rand())
    y = deferred(x)
    flags = cl.map_flags.READ | cl.map_flags.WRITE
    host, _ = cl.enqueue_map_buffer(queue, y.data, flags, 0, (32,), F)
    np.testing.assert_array_equal(host, both(rand()))
    host[...] = 5
    host.base.release(queue)
    np.testing.assert_array_equal(both(y).get(), np.full(32, 13, F))


def test_fills_and_copies_come_in_order(queue, fused):
    x = cl_array.to_device(queue, rand())
    y = deferred(x)
    x.fill(7)
    z = both(x)
    cl.enqueue_copy(queue, x.data, rand(seed=9))
    np.testing.assert_array_equal(y.get(), both(rand()))
    np.testing.assert_array_equal(z.get(), both(np.full(32, 7, F)))
    np.testing.assert_array_equal(x.get(), rand(seed=9))


def test_a_queue_out_of_order_takes_no_part(queue, late):
    try:
        mixed = cl.CommandQueue(
            queue.context,
            properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE,
        )
    except cl.Error:
        pytest.skip("the device has no queues out of order")
    x = cl_array.to_device(mixed, rand())
    before = chains.counts()["deferred"]
    y = both(x)
    assert chains.counts()["deferred"] == before
    np.testing.assert_array_equal(y.get(), both(rand()))


def test_nothing_is_deferred_behind_a_user_event(queue, late):
    x = cl_array.to_device(queue, rand())
    both(x)
    gate = cl.UserEvent(queue.context)
    before = chains.counts()["deferred"]
    y = both(x)
    assert chains.counts()["deferred"] == before
    gate.set_status(cl.command_execution_status.COMPLETE)
    np.testing.assert_array_equal(y.get(), both(rand()))


def test_a_queue_that_was_left_takes_no_part(queue, late):
    with cl.CommandQueue(queue.context) as other:
        x = cl_array.to_device(other, rand())
        y = both(x)
    np.testing.assert_array_equal(y.get(queue), both(rand()))


def test_two_queues_in_turn(queue, fused):
    queues = [queue, cl.CommandQueue(queue.context)]
    arrays = [cl_array.to_device(q, rand(seed=i)) for i, q in enumerate(queues)]
    for _ in range(5):
        results = [both(a) for a in arrays]
    for i, result in enumerate(results):
        assert result.queue == queues[i]
        np.testing.assert_array_equal(result.get(), both(rand(seed=i)))


def test_a_failed_launch_is_the_next_commands_error(queue, late):
    x = cl_array.to_device(queue, rand())
    y = deferred(x)
    _opencl._fault("clEnqueueNDRangeKernel", -5, 1, 10)
    try:
        with pytest.raises(cl.Error, match="clEnqueueNDRangeKernel"):
            y.get()
    finally:
        _opencl._fault(None, 0)
    np.testing.assert_array_equal(both(x).get(), both(rand()))


def test_events_after_a_failed_launch_are_none(queue, late):
    x = cl_array.to_device(queue, rand())
    y = deferred(x)
    _opencl._fault("clEnqueueNDRangeKernel", -5, 1, 10)
    try:
        assert y.events == []
    finally:
        _opencl._fault(None, 0)
    with pytest.raises(cl.Error, match="clEnqueueNDRangeKernel"):
        queue.finish()
    queue.finish()


def test_dropped_results_give_their_memory_back(queue, late):
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue))
    x = cl_array.to_device(queue, rand(1 << 14), allocator=pool)
    chains.flush()
    before = pool.active_bytes
    for _ in range(20):
        y = both(x)
        del y
    chains.flush()
    assert pool.active_bytes == before


def test_both_backends_in_turn(queue, cuda_context, fused):
    from pygpu.cuda import gpuarray

    cuda_context.push()
    try:
        x, y = cl_array.to_device(queue, rand()), gpuarray.to_gpu(rand(seed=2))
        for _ in range(4):
            a = x + 1
            b = y + 1
            a = a * 3 - x
            b = b * 3 - y
        np.testing.assert_array_equal(a.get(), both(rand()))
        np.testing.assert_array_equal(b.get(), both(rand(seed=2)))
    finally:
        type(cuda_context).pop()


def test_threads_with_queues_of_their_own(queue, fused):
    wrong = []

    def work(seed):
        mine = cl.CommandQueue(queue.context)
        x = cl_array.to_device(mine, rand(seed=seed))
        for _ in range(40):
            y = both(x)
            event = cl.enqueue_marker(mine)
            event.wait()
            if not np.array_equal(y.get(), both(rand(seed=seed))):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forked_child_has_nothing_deferred(queue, late):
    x = cl_array.to_device(queue, rand())
    y = x + 1
    for use in (y.get, lambda: x + 1, lambda: y * 2):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                use()
                text = "no error"
            except BaseException as error:
                text = f"{type(error).__name__}: {error}"
            os.write(write, text.encode()[:1000])
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            text = pipe.read()
        assert os.waitpid(child, 0)[1] == 0
        assert text.startswith("RuntimeError") and "was forked" in text
    np.testing.assert_array_equal(y.get(), rand() + 1)


def test_at_the_interpreters_end():
    program = """
import numpy as np, pygpu as cl, pygpu.array as ca
from pygpu._src.array import chains
chains.set_mode(2)
queue = cl.CommandQueue(cl.create_some_context(interactive=False))
x = ca.to_device(queue, np.ones(10, np.float32))
y = (x + 1) * 2
y = (x + 1) * 2
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_events_know_their_queue_while_work_is_deferred(late, queue):
    x = cl_array.to_device(queue, rand())
    event = cl.enqueue_marker(queue)
    y = deferred(x)
    assert event.command_queue is queue and event.context is queue.context
    assert (y.get() == both(x.get())).all()
