"""enqueue_copy with buffers: every form of host memory, offsets, ends, lifetimes."""

from __future__ import annotations

import array as std_array
import ctypes
import gc
import mmap
import threading
import time
import weakref

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags
COMPLETE = cl.command_execution_status.COMPLETE


@pytest.fixture(scope="module")
def queue(ctx):
    return cl.CommandQueue(ctx)


def filled(ctx, n):
    """A buffer of n bytes 0, 1, ..., and the same on the host."""
    host = (np.arange(n) % 251).astype(np.uint8)
    return cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=host), host


def contents(queue, buffer):
    result = np.empty(buffer.size, np.uint8)
    cl.enqueue_copy(queue, result, buffer)
    return result


# ---- what is copied


DTYPES = [
    "?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16", "S3",
    "U2", "V5", "M8[s]", "m8[ns]", ">i4", ">f8", [("a", "i1"), ("b", "f8")],
    [("x", "f4", (2, 2)), ("y", "M8[D]")],
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 3, 4)], ids=str)
def test_round_trip_of_every_dtype(ctx, queue, dtype, shape):
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(1)
    raw = rng.integers(0, 256, (int(np.prod(shape)) * dtype.itemsize,), dtype=np.uint8)
    if dtype.kind == "U":
        raw = np.array(["ab"] * int(np.prod(shape)), dtype).view(np.uint8)
    host = raw.view(dtype).reshape(shape)
    for order in "CF":
        source = np.asarray(host, order=order)
        buffer = cl.Buffer(ctx, mf.READ_WRITE, max(source.nbytes, 1))
        cl.enqueue_copy(queue, buffer, source)
        result = np.zeros_like(source, order=order)
        event = cl.enqueue_copy(queue, result, buffer)
        assert event.command_execution_status == COMPLETE
        assert result.tobytes("A") == source.tobytes("A")
        assert contents(queue, buffer).tobytes() == source.tobytes("A")


def test_nan_and_negative_zero_arrive_bit_for_bit(ctx, queue):
    bits = np.array([0x7FF8000000000001, 0xFFF0000000000001, 0x8000000000000000, 1], np.uint64)
    buffer = cl.Buffer(ctx, mf.READ_WRITE, bits.nbytes)
    cl.enqueue_copy(queue, buffer, bits.view(np.float64))
    result = np.empty(4)
    cl.enqueue_copy(queue, result, buffer)
    assert (result.view(np.uint64) == bits).all()


def host_forms(n):
    """(writable memory of n bytes, how to read it as bytes)"""
    numpy = np.zeros(n, np.uint8)
    misaligned = np.zeros(n + 3, np.uint8)[3:]
    view = np.zeros((2, n), np.uint8)[1]
    array = std_array.array("B", bytes(n))
    mapped = mmap.mmap(-1, n)
    return [
        numpy, misaligned, view, bytearray(n), memoryview(bytearray(n)), array,
        (ctypes.c_ubyte * n)(), mapped, memoryview(bytearray(2 * n))[n:],
        np.zeros(n, np.int8).view(np.recarray), np.zeros((n, 1), np.uint8),
        np.ma.zeros(n, np.uint8).data,
    ]  # fmt: skip


@pytest.mark.parametrize("k", range(12))
@pytest.mark.parametrize("blocking", [True, False])
def test_forms_of_host_memory(ctx, queue, k, blocking):
    n = 4096
    buffer, expected = filled(ctx, n)
    form = host_forms(n)[k]
    cl.enqueue_copy(queue, form, buffer, is_blocking=blocking).wait()
    assert bytes(form) == expected.tobytes()
    other = cl.Buffer(ctx, mf.READ_WRITE, n)
    cl.enqueue_copy(queue, other, form, is_blocking=blocking).wait()
    assert (contents(queue, other) == expected).all()


def test_misaligned_floats(ctx, queue):
    raw = np.zeros(8 * 100 + 1, np.uint8)
    host = raw[1:].view(np.float64)
    assert not host.flags.aligned
    host[:] = np.arange(100)
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=host)
    result = np.zeros(8 * 100 + 3, np.uint8)[3:].view(np.float64)
    cl.enqueue_copy(queue, result, buffer)
    assert (result == np.arange(100)).all()


@pytest.mark.parametrize("n", [1, 2, 3, 127, 128, 4095, 4096, 4097, 1 << 20, (1 << 24) + 7])
def test_buffers_of_any_size_are_copied_both_ways(ctx, queue, n):
    buffer, expected = filled(ctx, n)
    assert (contents(queue, buffer) == expected).all()
    cl.enqueue_copy(queue, buffer, expected[::-1].copy())
    assert (contents(queue, buffer) == expected[::-1]).all()


def test_offsets_past_two_gigabytes(ctx, device, queue):
    size = (1 << 31) + (1 << 20)
    if device.max_mem_alloc_size < size or device.global_mem_size < 4 * size:
        pytest.skip("the device has too little memory for a buffer of 2 GiB")
    buffer = cl.Buffer(ctx, mf.READ_WRITE, size)
    host = np.arange(1000, dtype=np.int32)
    for offset in ((1 << 31) - 2000, (1 << 31) + 4, size - 4000):
        cl.enqueue_copy(queue, buffer, host, dst_offset=offset)
        result = np.empty_like(host)
        cl.enqueue_copy(queue, result, buffer, src_offset=offset)
        assert (result == host).all()
    buffer.release()


def test_empty_copies_do_nothing_but_wait(ctx, queue):
    buffer, expected = filled(ctx, 16)
    for empty in (np.empty(0), np.empty((3, 0)), b"", bytearray(), np.empty((0, 5), order="F")):
        if not isinstance(empty, bytes):
            cl.enqueue_copy(queue, empty, buffer).wait()
        cl.enqueue_copy(queue, buffer, empty).wait()
        cl.enqueue_copy(queue, buffer, empty, dst_offset=16, is_blocking=False).wait()
        with pytest.raises(ValueError):
            cl.enqueue_copy(queue, buffer, empty, dst_offset=17)
    assert (contents(queue, buffer) == expected).all()
    other = cl.Buffer(ctx, mf.READ_WRITE, 16)
    cl.enqueue_copy(queue, other, buffer, byte_count=0).wait()
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_copy(queue, buffer, np.empty(0), wait_for=[gate], is_blocking=False)
    queue.flush()
    assert event.command_execution_status > COMPLETE
    gate.set_status(0)
    event.wait()


# ---- offsets and ends


@pytest.mark.parametrize(("offset", "n"), [(0, 100), (1, 99), (37, 10), (99, 1), (0, 1)])
@pytest.mark.parametrize("blocking", [True, False])
def test_offsets(ctx, queue, offset, n, blocking):
    buffer, expected = filled(ctx, 100)
    result = np.zeros(n, np.uint8)
    cl.enqueue_copy(queue, result, buffer, src_offset=offset, is_blocking=blocking).wait()
    assert (result == expected[offset : offset + n]).all()
    new = np.full(n, 200, np.uint8)
    cl.enqueue_copy(queue, buffer, new, dst_offset=offset, is_blocking=blocking).wait()
    expected[offset : offset + n] = 200
    assert (contents(queue, buffer) == expected).all()
    cl.enqueue_copy(queue, buffer, new, device_offset=np.int64(offset))  # an older name
    cl.enqueue_copy(queue, result, buffer, device_offset=offset)
    assert (result == 200).all()


@pytest.mark.parametrize(
    ("offset", "n", "error"),
    [
        (0, 101, ValueError),
        (1, 100, ValueError),
        (100, 1, ValueError),
        (101, 1, ValueError),
        (2**63 - 1, 2, ValueError),
        (2**64, 1, OverflowError),
        (2**64 - 1, 10, OverflowError),
        (-1, 1, ValueError),
        (1.0, 1, TypeError),
        ("0", 1, TypeError),
        (None, 1, TypeError),
    ],
)
def test_past_the_end(ctx, queue, offset, n, error):
    buffer, expected = filled(ctx, 100)
    host = np.full(n, 7, np.uint8)
    for blocking in (True, False):
        with pytest.raises(error, match="enqueue_copy"):
            cl.enqueue_copy(queue, buffer, host, dst_offset=offset, is_blocking=blocking)
        with pytest.raises(error, match="enqueue_copy"):
            cl.enqueue_copy(queue, host, buffer, src_offset=offset, is_blocking=blocking)
        with pytest.raises(error):
            _opencl._enqueue_write_buffer(queue, buffer, host, offset, None, blocking)
        with pytest.raises(error):
            _opencl._enqueue_read_buffer(queue, buffer, host, offset, None, blocking)
    assert (host == 7).all()
    assert (contents(queue, buffer) == expected).all()


# ---- buffer to buffer


@pytest.mark.parametrize(
    ("src", "dst", "count"),
    [
        (0, 0, None),
        (0, 0, 60),
        (10, 5, 20),
        (99, 0, 1),
        (0, 59, None),
        (40, 0, None),
        (3, 3, -1),
        (0, 0, 0),
        (100, 60, None),
    ],
)
def test_between_buffers(ctx, queue, src, dst, count):
    source, expected = filled(ctx, 100)
    target = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(60, 255, np.uint8))
    name = "dst_offset" if src % 2 else "dest_offset"  # an older name
    cl.enqueue_copy(queue, target, source, src_offset=src, byte_count=count, **{name: dst}).wait()
    n = min(100 - src, 60 - dst) if count in (None, -1) else count
    wanted = np.full(60, 255, np.uint8)
    wanted[dst : dst + n] = expected[src : src + n]
    assert (contents(queue, target) == wanted).all()
    assert (contents(queue, source) == expected).all()


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"byte_count": 61}, ValueError), ({"byte_count": 101}, ValueError),
        ({"src_offset": 101}, ValueError), ({"dst_offset": 61}, ValueError),
        ({"src_offset": 50, "byte_count": 51}, ValueError),
        ({"dst_offset": 50, "byte_count": 11}, ValueError), ({"byte_count": -2}, ValueError),
        ({"byte_count": 2**64}, OverflowError), ({"byte_count": 1.5}, TypeError),
        ({"src_offset": 2**63 - 1}, ValueError), ({"is_blocking": True}, TypeError),
        ({"origin": (0,)}, TypeError), ({"wait_for": 3}, TypeError),
    ],
)  # fmt: skip
def test_between_buffers_refused(ctx, queue, keywords, error):
    source, expected = filled(ctx, 100)
    target = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(60, np.uint8))
    with pytest.raises(error):
        cl.enqueue_copy(queue, target, source, **keywords)
    assert not contents(queue, target).any()


def test_within_a_buffer(ctx, queue):
    buffer, expected = filled(ctx, 100)
    cl.enqueue_copy(queue, buffer, buffer, src_offset=0, dst_offset=50, byte_count=50)
    expected[50:] = expected[:50]
    assert (contents(queue, buffer) == expected).all()
    for src, dst, n in [(0, 49, 50), (10, 0, 11), (0, 0, 1), (0, 0, 100)]:
        with pytest.raises(cl.RuntimeError, match="overlap") as caught:
            cl.enqueue_copy(queue, buffer, buffer, src_offset=src, dst_offset=dst, byte_count=n)
        assert caught.value.code == cl.status_code.MEM_COPY_OVERLAP
    assert (contents(queue, buffer) == expected).all()


def test_sub_buffers(ctx, device, queue):
    align = max(device.mem_base_addr_align // 8, 1)
    buffer, expected = filled(ctx, 3 * align)
    middle = buffer[align : 2 * align]
    assert (contents(queue, middle) == expected[align : 2 * align]).all()
    cl.enqueue_copy(queue, middle, np.full(align, 9, np.uint8))
    expected[align : 2 * align] = 9
    assert (contents(queue, buffer) == expected).all()
    with pytest.raises(ValueError):
        cl.enqueue_copy(queue, np.empty(align + 1, np.uint8), middle)


# ---- what is refused


def test_host_memory_that_is_refused(ctx, queue):
    buffer, expected = filled(ctx, 100)
    read_only = np.zeros(10, np.uint8)
    read_only.flags.writeable = False
    strided = np.zeros(20, np.uint8)[::2]
    both = [
        np.zeros((4, 4), np.uint8)[:, :2],
        np.zeros((4, 4), np.uint8)[::2, ::2],
        np.zeros(10, np.uint8)[::-1],
        strided,
    ]
    for host in both:
        for blocking in (True, False):
            with pytest.raises(ValueError, match="contiguous"):
                cl.enqueue_copy(queue, host, buffer, is_blocking=blocking)
            with pytest.raises(ValueError, match="contiguous"):
                cl.enqueue_copy(queue, buffer, host, is_blocking=blocking)
    with pytest.raises(ValueError, match="read-only"):
        cl.enqueue_copy(queue, read_only, buffer)
    for host in (b"0123456789", memoryview(b"0123456789")):
        with pytest.raises((BufferError, TypeError, ValueError)):
            cl.enqueue_copy(queue, host, buffer)
    for host in (np.array([None, 1]), np.array([(1, None)], [("a", "i4"), ("b", "O")])):
        with pytest.raises(TypeError, match="Python objects"):
            cl.enqueue_copy(queue, host, buffer)
        with pytest.raises(TypeError, match="Python objects"):
            cl.enqueue_copy(queue, buffer, host)
    for host in ("text", 3, None, [1, 2], object(), 1.5):
        with pytest.raises(TypeError):
            cl.enqueue_copy(queue, buffer, host)
        with pytest.raises(TypeError):
            cl.enqueue_copy(queue, host, buffer)
    assert (contents(queue, buffer) == expected).all()


def test_broadcast_and_zero_stride_arrays_are_refused(ctx, queue):
    buffer, _ = filled(ctx, 100)
    with pytest.raises(ValueError, match="contiguous"):
        cl.enqueue_copy(queue, buffer, np.broadcast_to(np.uint8(3), (10,)))


def test_other_mistakes(ctx, device, queue):
    buffer, _ = filled(ctx, 16)
    host = np.empty(16, np.uint8)
    with pytest.raises(TypeError, match="both host"):
        cl.enqueue_copy(queue, host, host)
    with pytest.raises(TypeError, match="queue"):
        cl.enqueue_copy(None, host, buffer)
    with pytest.raises(TypeError, match="queue"):
        cl.enqueue_copy(ctx, host, buffer)
    for keywords in [
        {"offset": 3},
        {"dst_offset": 3},
        {"origin": (0, 0)},
        {"byte_count": 4},
        {"nonsense": 1},
    ]:
        with pytest.raises(TypeError, match="no keyword argument"):
            cl.enqueue_copy(queue, host, buffer, **keywords)
    for args in [(), (queue,), (queue, host), (queue, host, buffer, 3)]:
        with pytest.raises(TypeError):
            cl.enqueue_copy(*args)
    other = cl.Context([device])
    foreign = cl.Buffer(other, mf.READ_WRITE, 16)
    for pair in [(host, foreign), (foreign, host), (foreign, buffer), (buffer, foreign)]:
        with pytest.raises(cl.LogicError, match="another context"):
            cl.enqueue_copy(queue, *pair)
    buffer.release()
    for pair in [(host, buffer), (buffer, host)]:
        with pytest.raises(cl.LogicError, match="released"):
            cl.enqueue_copy(queue, *pair)


def test_keywords_by_name_only(ctx, queue):
    buffer, expected = filled(ctx, 16)
    host = np.empty(16, np.uint8)
    cl.enqueue_copy(queue, dest=host, src=buffer)
    assert (host == expected).all()
    cl.enqueue_copy(queue, host, buffer, wait_for=None, is_blocking=1)
    cl.enqueue_copy(queue, buffer, host, wait_for=[], is_blocking=np.False_).wait()


# ---- waiting, lifetimes


def test_blocking_and_not(ctx, queue):
    buffer, expected = filled(ctx, 100)
    host = np.zeros(100, np.uint8)
    event = cl.enqueue_copy(queue, host, buffer)
    assert isinstance(event, cl.NannyEvent) and event.get_ward() is None
    gate = cl.UserEvent(ctx)
    host[:] = 0
    event = cl.enqueue_copy(queue, host, buffer, is_blocking=False, wait_for=[gate])
    assert event.get_ward() is host
    queue.flush()
    assert event.command_execution_status > COMPLETE
    assert not host.any()
    gate.set_status(0)
    event.wait()
    assert event.get_ward() is None
    assert (host == expected).all()


def settled(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        gc.collect()
        time.sleep(0.005)
    return condition()


@pytest.mark.parametrize("direction", ["read", "write"])
def test_host_memory_outlives_a_pending_copy(ctx, queue, direction):
    """Event and array may both be dropped: neither waits, and the memory stays until it is done."""

    class Owner(np.ndarray):
        pass

    n = 1 << 16
    buffer, expected = filled(ctx, n)
    gate = cl.UserEvent(ctx)
    host = np.full(n, 3, np.uint8).view(Owner)
    gone = weakref.ref(host)
    pair = (host, buffer) if direction == "read" else (buffer, host)
    event = cl.enqueue_copy(queue, *pair, is_blocking=False, wait_for=[gate])
    queue.flush()
    del host, pair, event
    gc.collect()
    assert gone() is not None
    gate.set_status(0)
    queue.finish()
    assert settled(lambda: gone() is None)
    if direction == "write":
        assert (contents(queue, buffer) == 3).all()


def test_a_bytearray_cannot_be_resized_while_it_is_read(ctx, queue):
    buffer, expected = filled(ctx, 100)
    gate = cl.UserEvent(ctx)
    host = bytearray(100)
    event = cl.enqueue_copy(queue, host, buffer, is_blocking=False, wait_for=[gate])
    with pytest.raises(BufferError):
        host.append(1)
    gate.set_status(0)
    event.wait()
    assert settled(lambda: host == expected.tobytes())
    del event

    def resizable():
        try:
            host.append(1)
        except BufferError:
            return False
        return True

    assert settled(resizable)


@pytest.mark.parametrize("blocking", [True, False])
def test_wait_for_a_failed_command(ctx, queue, blocking):
    """Some drivers accept the command and never run or fail it."""
    buffer, expected = filled(ctx, 100)
    host = np.zeros(100, np.uint8)
    gate, fine = cl.UserEvent(ctx), cl.enqueue_marker(queue)
    gate.set_status(-5)
    with pytest.raises(cl.Error, match=r"wait_for\[1\] has failed with OUT_OF_RESOURCES"):
        cl.enqueue_copy(queue, host, buffer, wait_for=[fine, gate], is_blocking=blocking)
    cl.enqueue_copy(queue, host, buffer)
    assert (host == expected).all()


def test_a_command_that_fails_while_it_is_waited_for(ctx, balance):
    queue = cl.CommandQueue(ctx)
    buffer, host = cl.Buffer(ctx, mf.READ_WRITE, 100), np.zeros(100, np.uint8)
    gate = cl.UserEvent(ctx)
    threading.Timer(0.1, gate.set_status, [-5]).start()
    with pytest.raises(cl.Error) as caught:
        cl.enqueue_copy(queue, host, buffer, wait_for=[gate])
    assert caught.value.code == cl.status_code.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    del caught


def test_a_blocking_copy_lets_other_threads_run(ctx):
    queue = cl.CommandQueue(ctx)
    buffer, expected = filled(ctx, 100)
    host = np.zeros(100, np.uint8)
    gate = cl.UserEvent(ctx)
    threading.Timer(0.2, gate.set_status, [0]).start()
    cl.enqueue_copy(queue, host, buffer, wait_for=[gate])  # would hang for ever with the GIL kept
    assert (host == expected).all()
    results = []
    gate = cl.UserEvent(ctx)

    def work():
        mine = np.zeros(100, np.uint8)
        cl.enqueue_copy(cl.CommandQueue(ctx), mine, buffer, wait_for=[gate])
        results.append(mine)

    thread = threading.Thread(target=work)
    thread.start()
    gate.set_status(0)
    thread.join()
    assert (results[0] == expected).all()


def test_an_iterable_of_events_that_releases_the_buffer(ctx, queue):
    buffer, _ = filled(ctx, 100)

    def events():
        buffer.release()
        return
        yield

    with pytest.raises(cl.LogicError, match="released"):
        cl.enqueue_copy(queue, np.empty(100, np.uint8), buffer, wait_for=events())


@pytest.mark.parametrize(
    "routine", ["clEnqueueReadBuffer", "clEnqueueWriteBuffer", "clEnqueueCopyBuffer"]
)
def test_driver_failures(ctx, queue, routine):
    buffer, expected = filled(ctx, 100)
    other, _ = filled(ctx, 100)
    host = bytearray(100)
    pair = {
        "clEnqueueReadBuffer": (host, buffer),
        "clEnqueueWriteBuffer": (buffer, host),
        "clEnqueueCopyBuffer": (other, buffer),
    }[routine]
    gc.collect()
    before = _opencl._handle_counts()
    for code, error, times in [
        (-36, cl.LogicError, 1),
        (-5, cl.RuntimeError, 2),
        (-4, cl.MemoryError, 2),
    ]:
        _opencl._fault(routine, code, 1, times)
        try:
            with pytest.raises(error) as caught:
                cl.enqueue_copy(queue, *pair)
        finally:
            _opencl._fault(None, 0)
        assert caught.value.code == code and caught.value.routine == routine
    host.append(1)  # given back
    del caught
    after = _opencl._handle_counts()  # out of memory, pools of other tests' arrays give back theirs
    assert not {kind: n for kind, n in after.items() if n > before.get(kind, 0)}
    _opencl._fault(routine, cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE, 1, 1)  # once: tried again
    try:
        cl.enqueue_copy(
            queue, *((x[:100] if x is host else x) if isinstance(x, bytearray) else x for x in pair)
        ).wait()
    finally:
        _opencl._fault(None, 0)


def test_threads_copy_at_the_same_time(ctx):
    errors = []

    def work(seed):
        try:
            queue = cl.CommandQueue(ctx)
            host = np.random.default_rng(seed).integers(0, 255, 10000, dtype=np.uint8)
            buffer, result = cl.Buffer(ctx, mf.READ_WRITE, 10000), np.empty(10000, np.uint8)
            for _ in range(100):
                result[:] = 0
                cl.enqueue_copy(queue, buffer, host, is_blocking=False)
                cl.enqueue_copy(queue, result, buffer)
                assert (result == host).all()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_an_image_is_not_a_buffer(ctx, queue):
    """Some drivers copy its bytes, in an order of their own."""
    form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNSIGNED_INT8)
    image = cl.Image(ctx, cl.mem_flags.READ_WRITE, form, shape=(32, 32))
    buffer, host = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 4096), np.zeros(4, np.uint8)
    box, plain = ((0, 0), (0, 0), (2, 2)), cl._opencl
    for call in (
        lambda: cl.enqueue_fill_buffer(queue, image, np.int32(1), 0, 4),
        lambda: plain._enqueue_read_buffer(queue, image, host),
        lambda: plain._enqueue_write_buffer(queue, image, host),
        lambda: plain._enqueue_copy_buffer(queue, image, buffer, 4),
        lambda: plain._enqueue_copy_buffer(queue, buffer, image, 4),
        lambda: plain._enqueue_read_buffer_rect(queue, image, host, *box),
        lambda: plain._enqueue_write_buffer_rect(queue, image, host, *box),
        lambda: plain._enqueue_copy_buffer_rect(queue, image, buffer, *box),
        lambda: plain._enqueue_copy_buffer_rect(queue, buffer, image, *box),
    ):
        with pytest.raises(cl.LogicError, match="^enqueue_.*must be a buffer, not Image") as caught:
            call()
        assert isinstance(caught.value, TypeError)
        assert caught.value.code == cl.status_code.INVALID_MEM_OBJECT


def test_an_array_in_place_of_its_memory(queue):
    array = cl.array.to_device(queue, np.arange(4))
    for name, dest, src in (("dest", array, np.zeros(4)), ("src", np.zeros(4), array)):
        with pytest.raises(TypeError, match=rf"enqueue_copy: {name} .* not Array: pass its \.data"):
            cl.enqueue_copy(queue, dest, src)
