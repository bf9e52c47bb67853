"""What NVIDIA's driver needs, on any driver: fills by wide patterns, large commands cut in pieces.

In these tests large is more than 1 KiB, and what fills can reach is the first 32 KiB of a buffer.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

import pygpu as cl
import pygpu.array
from pygpu import _opencl

mf = cl.mem_flags
OUT_OF_ORDER = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
FILL, COPY = "clEnqueueFillBuffer", "clEnqueueCopyBuffer"


@pytest.fixture
def queue(ctx):
    return cl.CommandQueue(ctx)


@pytest.fixture
def small_pieces():
    """Commands of at most 1 KiB."""
    _opencl._set_piece(1024)
    yield
    _opencl._set_piece(0)


@pytest.fixture
def wide_patterns():
    """Patterns are widened, and nothing is cut."""
    _opencl._set_piece(1 << 30)
    yield
    _opencl._set_piece(0)


@pytest.fixture
def short_reach():
    """Fills may write the first 32 KiB of a buffer, those of 1 and 2 bytes the first 8 KiB."""
    _opencl._set_piece(1024, 32768)
    yield
    _opencl._set_piece(0)


def put(queue, n):
    """A buffer of n bytes of 0xee."""
    host = np.full(n, 0xEE, np.uint8)
    return cl.Buffer(queue.context, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=host)


def get(queue, buffer):
    result = np.empty(buffer.size, np.uint8)
    cl.enqueue_copy(queue, result, buffer)
    return result


def calls(function):
    """How many commands of each kind *function* gives the driver: {name: count}."""
    _opencl._call_counts(reset=True)
    function()
    counts = _opencl._call_counts()
    names = (FILL, COPY, "clEnqueueSVMMemFill", "clEnqueueSVMMemcpy")
    return {name: counts[name] for name in names if counts.get(name)}


def settled(before):
    """Waits until there are as many handles as before: some go when the driver calls back."""
    for _ in range(2000):
        if _opencl._handle_counts() == before:
            return
        time.sleep(0.01)
    assert _opencl._handle_counts() == before


def check_fill(queue, length, offset, size, total):
    pattern = np.arange(7, 7 + length, dtype=np.uint8)
    expected = np.full(total, 0xEE, np.uint8)
    expected[offset : offset + size] = np.tile(pattern, size // length)
    buffer = put(queue, total)
    cl.enqueue_fill_buffer(queue, buffer, pattern, offset, size).wait()
    assert (get(queue, buffer) == expected).all()


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16, 32, 64, 128])
@pytest.mark.parametrize("start", [0, 1, 3, 16])
@pytest.mark.parametrize("many", [1, 7, 4097, 5003])
@pytest.mark.parametrize("piece", [0, 1024, 1 << 30])
def test_a_fill_of_any_width_and_alignment_writes_exactly_its_range(
    queue, length, start, many, piece
):
    _opencl._set_piece(piece)
    try:
        check_fill(queue, length, start * length, many * length, (start + many + 20) * length)
    finally:
        _opencl._set_piece(0)


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16, 32, 64, 128])
@pytest.mark.parametrize("place", [4096, 8192, 28672, 32768, 50000])
def test_a_fill_writes_exactly_its_range_wherever_the_reach_ends(queue, short_reach, length, place):
    for start in {max(place // length + d, 0) for d in (-33, -1, 0, 1)}:
        for many in (1, 3, 40, 4801 // length):
            check_fill(queue, length, start * length, many * length, (start + many + 9) * length)


@pytest.mark.parametrize(
    ("length", "offset", "size", "expected"),
    [
        (1, 8187, 5, {FILL: 1}),
        (1, 8188, 5, {FILL: 1, COPY: 1}),  # another buffer is filled and copied
        (2, 8182, 10, {FILL: 1}),
        (2, 8182, 12, {FILL: 1, COPY: 1}),
        (4, 32760, 8, {FILL: 1}),
        (4, 32760, 12, {FILL: 1, COPY: 1}),
        (4, 0, 33000, {FILL: 32, COPY: 1}),
        (16, 32768, 40960, {FILL: 1, COPY: 1 + 36}),
        (1, 24577, 10000, {FILL: 8, COPY: 2 + 1}),
        (1, 28601, 5000, {FILL: 4, COPY: 1 + 1}),
    ],
)
def test_what_a_fill_cannot_reach_is_copied(queue, short_reach, length, offset, size, expected):
    buffer = put(queue, 80000)
    pattern = np.arange(1, length + 1, dtype=np.uint8)
    assert calls(lambda: cl.enqueue_fill_buffer(queue, buffer, pattern, offset, size)) == expected
    found = get(queue, buffer)
    assert (found[offset : offset + size] == np.resize(pattern, size)).all()
    assert (found[:offset] == 0xEE).all() and (found[offset + size :] == 0xEE).all()


def test_the_origin_of_a_region_counts_towards_the_reach(queue, short_reach):
    buffer = put(queue, 50000)
    region = buffer.get_sub_region(40960, 5000)
    fill = lambda: cl.enqueue_fill_buffer(queue, region, np.uint8(7), 3, 5)  # noqa: E731
    assert calls(fill) == {FILL: 1, COPY: 1}
    found = get(queue, buffer)
    assert (found[40963:40968] == 7).all() and (found == 0xEE).sum() == 50000 - 5


@pytest.mark.parametrize(
    ("offset", "size", "expected"),
    [
        (0, 65536, {FILL: 1}),
        (4, 65536, {FILL: 1}),
        (1, 65536, {FILL: 1, COPY: 2}),
        (0, 65537, {FILL: 1, COPY: 1}),
        (0, 1001, {FILL: 1}),
    ],
)
def test_a_large_fill_of_one_byte_is_one_wide_fill_and_a_copy_for_each_ragged_end(
    queue, wide_patterns, offset, size, expected
):
    buffer = put(queue, 70000)
    fill = lambda: cl.enqueue_fill_buffer(queue, buffer, np.uint8(5), offset, size)  # noqa: E731
    assert calls(fill) == expected
    assert (get(queue, buffer)[offset : offset + size] == 5).all()


@pytest.mark.parametrize("properties", [None, OUT_OF_ORDER])
def test_the_event_of_a_fill_in_pieces_stands_for_all(device, ctx, small_pieces, properties):
    if properties and not device.queue_properties & OUT_OF_ORDER:
        pytest.skip("the device has no out-of-order queues")
    queue = cl.CommandQueue(ctx, properties=properties)
    buffer, gate = put(queue, 5000), cl.UserEvent(ctx)
    event = cl.enqueue_fill_buffer(queue, buffer, np.uint32(1), 0, 5000, wait_for=[gate])
    assert event.command_execution_status > cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    event.wait()
    assert (get(queue, buffer).view(np.uint32) == 1).all()


def test_a_large_copy_between_buffers_is_cut(queue, small_pieces):
    source = np.arange(5003, dtype=np.uint16)
    a = cl.Buffer(queue.context, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=source)
    b = put(queue, source.nbytes + 9)
    copy = lambda: cl.enqueue_copy(queue, b, a, dst_offset=6, byte_count=source.nbytes)  # noqa: E731
    assert calls(copy) == {COPY: 10}
    found = get(queue, b)
    assert (found[6:-3].view(np.uint16) == source).all()
    assert (found[:6] == 0xEE).all() and (found[-3:] == 0xEE).all()


def test_large_fills_and_copies_of_shared_memory_are_cut(queue, small_pieces, needs_svm):
    a, b = (cl.SVMAllocation(queue.context, 5003, 0, cl.svm_mem_flags.READ_WRITE) for _ in range(2))
    fill = lambda: cl.enqueue_svm_memfill(queue, a, np.uint8(9))  # noqa: E731
    # 4 of 1024 and the rest of the middle; the tail is copied
    assert calls(fill) == {"clEnqueueSVMMemFill": 5, "clEnqueueSVMMemcpy": 1}
    copy = lambda: cl.enqueue_copy(queue, b, a)  # noqa: E731
    assert calls(copy) == {"clEnqueueSVMMemcpy": 5}
    found = np.empty(5003, np.uint8)
    cl.enqueue_copy(queue, found, b)
    assert (found == 9).all()


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_piece_that_cannot_be_enqueued_is_an_error_and_leaks_nothing(
    queue, small_pieces, fault, failing
):
    buffer = put(queue, 3000)
    before = _opencl._handle_counts()
    fault(FILL, -6, failing)
    with pytest.raises(cl.RuntimeError, match=FILL):
        cl.enqueue_fill_buffer(queue, buffer, np.uint32(1), 0, 3000)
    queue.finish()
    assert _opencl._handle_counts() == before
    cl.enqueue_fill_buffer(queue, buffer, np.uint32(2), 0, 3000)
    assert (get(queue, buffer).view(np.uint32) == 2).all()


@pytest.mark.parametrize(
    ("routine", "failing"), [("clCreateBuffer", 1), (FILL, 1), (COPY, 1), (COPY, 2)]
)
def test_a_far_fill_that_cannot_be_enqueued_is_an_error_and_leaks_nothing(
    queue, short_reach, fault, routine, failing
):
    buffer = put(queue, 50000)
    before = _opencl._handle_counts()
    fault(routine, cl.status_code.OUT_OF_RESOURCES, failing)
    with pytest.raises(cl.RuntimeError, match=FILL):
        cl.enqueue_fill_buffer(queue, buffer, np.uint32(1), 36000, 9000)
    queue.finish()
    settled(before)
    cl.enqueue_fill_buffer(queue, buffer, np.uint32(2), 36000, 9000)
    assert (get(queue, buffer)[36000:45000].view(np.uint32) == 2).all()


@pytest.mark.parametrize("properties", [None, OUT_OF_ORDER])
@pytest.mark.parametrize("status", [cl.command_execution_status.COMPLETE, -5])
def test_a_far_fill_behind_a_user_event_leaves_nothing(
    device, ctx, short_reach, properties, status
):
    if properties and not device.queue_properties & OUT_OF_ORDER:
        pytest.skip("the device has no out-of-order queues")
    queue = cl.CommandQueue(ctx, properties=properties)
    buffer = put(queue, 50000)
    before = _opencl._handle_counts()
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_fill_buffer(queue, buffer, np.uint32(1), 36000, 9000, wait_for=[gate])
    assert event.command_execution_status > cl.command_execution_status.COMPLETE
    gate.set_status(status)
    if status == cl.command_execution_status.COMPLETE:
        event.wait()
        assert (get(queue, buffer)[36000:45000].view(np.uint32) == 1).all()
    else:
        with pytest.raises(cl.Error):
            event.wait()
    del event, gate
    settled(before)


def test_large_arrays_are_zeroed_in_pieces(queue, small_pieces):
    zeros = pygpu.array.zeros(queue, 12345, np.uint8)
    assert calls(lambda: pygpu.array.zeros(queue, 12345, np.uint8)) == {FILL: 13, COPY: 1}
    assert not zeros.get().any()
    assert not pygpu.array.zeros_like(zeros + 1).get().any()
