"""Fill, migrate, markers and barriers."""

from __future__ import annotations

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags
COMPLETE = cl.command_execution_status.COMPLETE


@pytest.fixture(scope="module")
def queue(ctx):
    return cl.CommandQueue(ctx)


def contents(queue, buffer):
    result = np.empty(buffer.size, np.uint8)
    cl.enqueue_copy(queue, result, buffer)
    return result


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16, 32, 64, 128])
@pytest.mark.parametrize(("first", "n"), [(0, 1), (0, 7), (1, 1), (3, 5), (7, 1)])
def test_fill(ctx, queue, length, first, n):
    pattern = np.arange(1, length + 1, dtype=np.uint8)
    total = 8 * length
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(total, 255, np.uint8))
    expected = np.full(total, 255, np.uint8)
    expected[first * length : (first + n) * length] = np.tile(pattern, n)
    cl.enqueue_fill_buffer(queue, buffer, pattern, first * length, n * length).wait()
    assert (contents(queue, buffer) == expected).all()
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(total, 255, np.uint8))
    event = cl.enqueue_fill(
        queue,
        buffer,
        pattern.tobytes(),
        n * length,
        offset=first * length,
        wait_for=[cl.enqueue_marker(queue)],
    )
    assert isinstance(event, cl.Event)
    assert (contents(queue, buffer) == expected).all()


@pytest.mark.parametrize(
    "pattern",
    [
        np.float32(1.5),
        np.float64("nan"),
        np.int8(-1),
        np.complex128(1 - 2j),
        np.array([1, 2], np.uint16),
        np.array(3),
        np.True_,
        b"ab",
        bytearray(4),
    ],
    ids=repr,
)
def test_forms_of_a_pattern(ctx, queue, pattern):
    data = (
        np.asarray(pattern).tobytes()
        if isinstance(pattern, (np.ndarray, np.generic))
        else bytes(pattern)
    )
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 5 * len(data))
    cl.enqueue_fill_buffer(queue, buffer, pattern, 0, buffer.size)
    assert contents(queue, buffer).tobytes() == data * 5


def test_the_pattern_is_copied_at_once(ctx, queue):
    gate = cl.UserEvent(ctx)
    pattern = np.full(1, 5, np.uint8)
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 100)
    cl.enqueue_fill_buffer(queue, buffer, pattern, 0, 100, wait_for=[gate])
    pattern[:] = 9
    del pattern
    gate.set_status(0)
    assert (contents(queue, buffer) == 5).all()


@pytest.mark.parametrize(
    ("pattern", "offset", "size", "error"),
    [
        (b"", 0, 4, ValueError), (b"abc", 0, 6, ValueError), (bytes(256), 0, 256, ValueError),
        (bytes(5), 0, 5, ValueError), (b"abcd", 2, 4, ValueError), (b"abcd", 0, 6, ValueError),
        (b"a", 0, 129, ValueError), (b"a", 128, 1, ValueError), (b"a", 129, 0, ValueError),
        (b"a", 2**63 - 1, 2**63 - 1, ValueError), (b"a", -1, 4, ValueError),
        (b"a", 0, -4, ValueError), (b"a", 0, 2**65, OverflowError), (b"a", 1.0, 4, TypeError),
        (b"a", 0, "4", TypeError), ("abcd", 0, 4, TypeError), (3, 0, 4, TypeError),
        (None, 0, 4, TypeError), (np.zeros(4, np.uint8)[::2], 0, 4, ValueError),
        (np.array([None]), 0, 8, TypeError),
    ],
)  # fmt: skip
def test_wrong_patterns_offsets_and_sizes_are_refused(ctx, queue, pattern, offset, size, error):
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(128, 7, np.uint8))
    with pytest.raises(error, match="enqueue_fill"):
        cl.enqueue_fill_buffer(queue, buffer, pattern, offset, size)
    with pytest.raises(error):
        cl.enqueue_fill(queue, buffer, pattern, size, offset=offset)
    assert (contents(queue, buffer) == 7).all()


def test_nothing_to_fill(ctx, queue):
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(8, 7, np.uint8))
    for offset in (0, 8):
        cl.enqueue_fill_buffer(queue, buffer, b"abcd", offset, 0).wait()
    assert (contents(queue, buffer) == 7).all()


def test_wrong_objects(ctx, device, queue):
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 8)
    for wrong in (np.zeros(8, np.uint8), None, 3):
        with pytest.raises(TypeError):
            cl.enqueue_fill_buffer(queue, wrong, b"a", 0, 8)
        with pytest.raises(TypeError):
            cl.enqueue_fill(queue, wrong, b"a", 8)
    with pytest.raises(TypeError, match="queue"):
        cl.enqueue_fill_buffer(buffer, buffer, b"a", 0, 8)
    foreign = cl.Buffer(cl.Context([device]), mf.READ_WRITE, 8)
    with pytest.raises(cl.LogicError, match="another context"):
        cl.enqueue_fill_buffer(queue, foreign, b"a", 0, 8)
    buffer.release()
    with pytest.raises(cl.LogicError, match="released"):
        cl.enqueue_fill_buffer(queue, buffer, b"a", 0, 8)


def test_a_failed_fill_names_the_drivers_function(queue, ctx):
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 8)
    _opencl._fault("clEnqueueFillBuffer", cl.status_code.OUT_OF_RESOURCES)
    try:
        with pytest.raises(cl.RuntimeError) as caught:
            cl.enqueue_fill_buffer(queue, buffer, b"a", 0, 8)
    finally:
        _opencl._fault(None, 0)
    assert caught.value.routine == "clEnqueueFillBuffer"


# ---- migrate


def test_migrate(ctx, device, queue):
    data = np.arange(10, dtype=np.uint8)
    buffers = [cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=data) for _ in range(3)]
    flags = cl.mem_migration_flags
    for args in [
        (buffers,),
        (tuple(buffers), flags.HOST),
        (iter(buffers), 0, None),
        (buffers[:1], flags.CONTENT_UNDEFINED),
        ([],),
        (buffers * 20,),
    ]:
        event = cl.enqueue_migrate_mem_objects(queue, *args)
        event.wait()
        assert event.command_execution_status == COMPLETE
    assert (contents(queue, buffers[1]) == data).all()
    for wrong in (3, [3], [None], buffers[0], [buffers, buffers], None, "ab"):
        with pytest.raises(TypeError):
            cl.enqueue_migrate_mem_objects(queue, wrong)
    with pytest.raises(cl.LogicError, match="another context"):
        cl.enqueue_migrate_mem_objects(queue, [cl.Buffer(cl.Context([device]), mf.READ_WRITE, 4)])
    buffers[2].release()
    with pytest.raises(cl.LogicError, match="released"):
        cl.enqueue_migrate_mem_objects(queue, buffers)


# ---- markers and barriers


@pytest.mark.parametrize("function", ["enqueue_marker", "enqueue_barrier"])
def test_markers_and_barriers(ctx, queue, function):
    enqueue = getattr(cl, function)
    enqueue(queue).wait()
    gate = cl.UserEvent(ctx)
    event = enqueue(queue, [gate])
    later = enqueue(queue, wait_for=(event,))
    queue.flush()
    assert event.command_execution_status > COMPLETE and later.command_execution_status > COMPLETE
    gate.set_status(COMPLETE)
    later.wait()
    assert event.command_execution_status == COMPLETE
    for wrong in (3, [3], "x"):
        with pytest.raises(TypeError, match=f"{function}: wait_for"):
            enqueue(queue, wrong)
    with pytest.raises(TypeError, match="queue"):
        enqueue(ctx)


def test_marker_comes_after_all_commands(ctx, device):
    wanted = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    if not device.queue_properties & wanted:
        pytest.skip("the device has no out-of-order queues")
    queue = cl.CommandQueue(ctx, properties=wanted)
    gate = cl.UserEvent(ctx)
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 4)
    waiting = cl.enqueue_fill_buffer(queue, buffer, b"a", 0, 4, wait_for=[gate])
    marker = cl.enqueue_marker(queue)
    barrier = cl.enqueue_barrier(queue)
    behind = cl.enqueue_fill_buffer(queue, buffer, b"b", 0, 4)
    queue.flush()
    assert all(e.command_execution_status > COMPLETE for e in (marker, barrier, behind))
    gate.set_status(0)
    cl.wait_for_events([marker, barrier, behind])
    assert waiting.command_execution_status == COMPLETE
    assert (contents(queue, buffer) == ord("b")).all()


def test_peer_to_peer_copy_needs_the_extension(device, ctx, queue):
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 4)
    if "cl_amd_copy_buffer_p2p" in device.extensions:
        pytest.skip("the device has cl_amd_copy_buffer_p2p")
    with pytest.raises(cl.LogicError, match="cl_amd_copy_buffer_p2p"):
        cl.enqueue_copy_buffer_p2p_amd(device.platform, queue, buffer, buffer)
    with pytest.raises(TypeError, match="platform"):
        cl.enqueue_copy_buffer_p2p_amd(device, queue, buffer, buffer)
    with pytest.raises(cl.LogicError, match="byte_count"):
        cl.enqueue_copy_buffer_p2p_amd(device.platform, queue, buffer, buffer, 5)
