"""Memory pools: a block freed with work pending is handed to another owner only after that work.

Work on streams is held back by a gate.
"""

import gc
import threading

import numpy as np
import pytest
from cuda.stream_gate import Gate

import pygpu.cuda.driver as cuda
from pygpu import _cuda

pytestmark = pytest.mark.usefixtures("context")

NON_BLOCKING = cuda.stream_flags.NON_BLOCKING


def two_streams() -> list[cuda.Stream]:
    """Streams that the driver orders with nothing."""
    return [cuda.Stream(NON_BLOCKING) for _ in range(2)]


def handed_over(pool, size, first_use, second_use):
    """A block goes from one owner to the next; its first byte before anybody used it."""
    memory = pool.allocate(size)
    place = int(cuda.mem_get_address_range(memory)[0])
    first_use(memory)
    del memory
    memory = pool.allocate(size)
    assert cuda.mem_get_address_range(memory)[0] == place
    second_use(memory)
    return memory


@pytest.mark.parametrize("flags", [0, NON_BLOCKING])
@pytest.mark.parametrize("next_flags", [0, NON_BLOCKING])
def test_the_next_owner_on_another_stream_comes_after(balance, flags, next_flags):
    pool = cuda.DeviceMemoryPool()
    first, second = cuda.Stream(flags), cuda.Stream(next_flags)
    out = cuda.pagelocked_zeros(4, np.uint8)
    gate = Gate(first)
    with gate:
        memory = handed_over(
            pool,
            4,
            lambda m: cuda.memset_d8_async(m, 1, 4, first),
            lambda m: cuda.memset_d8_async(m, 2, 4, second),
        )
        cuda.memcpy_dtoh_async(out, memory, second)
        assert not second.is_done()
    second.synchronize()
    first.synchronize()
    assert out.tolist() == [2] * 4
    assert bytes(cuda.from_device(memory, 4, np.uint8)) == b"\2" * 4


def test_nothing_is_asked_of_the_driver_on_one_stream(balance):
    pool = cuda.DeviceMemoryPool()
    for stream in (None, cuda.Stream(), cuda.Stream(NON_BLOCKING)):
        cuda.memset_d8_async(pool.allocate(4), 0, 4, stream)
        _cuda._call_counts(reset=True)
        for _ in range(5):
            cuda.memset_d8_async(pool.allocate(4), 0, 4, stream)
        counts = _cuda._call_counts(reset=True)
        assert counts["cuMemsetD8Async"] == 5
        assert not {"cuEventRecord", "cuStreamWaitEvent", "cuMemAlloc"} & set(counts)


def test_the_default_stream_and_ordinary_ones_need_no_events(balance):
    pool, stream = cuda.DeviceMemoryPool(), cuda.Stream()
    cuda.memset_d8_async(pool.allocate(4), 0, 4)
    _cuda._call_counts(reset=True)
    for _ in range(3):
        cuda.memset_d8_async(pool.allocate(4), 0, 4, stream)
        cuda.memset_d8_async(pool.allocate(4), 0, 4)
    assert "cuEventRecord" not in _cuda._call_counts(reset=True)


def test_from_the_default_stream_to_one_that_does_not_wait_for_it(balance):
    pool, free_running, ordinary = cuda.DeviceMemoryPool(), cuda.Stream(NON_BLOCKING), cuda.Stream()
    with Gate(ordinary):  # the default stream waits for this one
        memory = handed_over(
            pool,
            4,
            lambda m: cuda.memset_d8_async(m, 1, 4),
            lambda m: cuda.memset_d8_async(m, 2, 4, free_running),
        )
        assert not free_running.is_done()
    cuda.Context.synchronize()
    assert bytes(cuda.from_device(memory, 4, np.uint8)) == b"\2" * 4


def test_copies_that_wait_come_after_the_former_owner(balance):
    pool, stream = cuda.DeviceMemoryPool(), cuda.Stream(NON_BLOCKING)
    memory = pool.allocate(4)
    gate = Gate(stream)
    cuda.memset_d8_async(memory, 1, 4, stream)
    del memory
    memory = pool.allocate(4)
    timer = threading.Timer(0.05, gate.open)
    timer.start()
    cuda.memcpy_htod(memory, b"abcd")
    stream.synchronize()
    assert bytes(cuda.from_device(memory, 4, np.uint8)) == b"abcd"


def test_all_streams_of_the_former_owner_count(balance):
    pool = cuda.DeviceMemoryPool()
    streams = [cuda.Stream(NON_BLOCKING) for _ in range(12)]
    last = cuda.Stream(NON_BLOCKING)
    memory = pool.allocate(4)
    for stream in streams:
        cuda.memset_d8_async(memory, 1, 4, stream)
        stream.synchronize()
    gates = [Gate(stream) for stream in streams]
    del memory
    cuda.memset_d8_async(pool.allocate(4), 2, 4, last)
    for n, gate in enumerate(gates):
        assert not last.is_done(), n
        gate.open()
    last.synchronize()


def test_an_owner_that_did_nothing_hands_on_the_order(balance):
    pool, first, second = cuda.DeviceMemoryPool(), *two_streams()
    with Gate(first):
        cuda.memset_d8_async(pool.allocate(4), 1, 4, first)
        for _ in range(3):
            pool.allocate(4)
        cuda.memset_d8_async(pool.allocate(4), 2, 4, second)
        assert not second.is_done()
    second.synchronize()


def test_an_address_given_as_a_number(balance):
    """Streams that only got int(memory) are ordered by the default stream."""
    pool, first, second = cuda.DeviceMemoryPool(), cuda.Stream(), cuda.Stream(NON_BLOCKING)
    with Gate(first):
        memory = handed_over(
            pool,
            4,
            lambda m: cuda.memset_d8_async(int(m), 1, 4, first),
            lambda m: cuda.memset_d8_async(m, 2, 4, second),
        )
        assert not second.is_done()
    cuda.Context.synchronize()
    assert bytes(cuda.from_device(memory, 4, np.uint8)) == b"\2" * 4
    # And the other way: the next owner gives its address to an ordinary stream.
    with Gate(second):
        cuda.memset_d8_async(memory, 3, 4, second)
        del memory
        memory = pool.allocate(4)
        cuda.memset_d8_async(int(memory), 4, 4, first)
        assert not first.is_done()
    cuda.Context.synchronize()
    assert bytes(cuda.from_device(memory, 4, np.uint8)) == b"\4" * 4


def test_bind_to_stream(balance):
    pool, first, second = cuda.DeviceMemoryPool(), *two_streams()
    with Gate(first):
        memory = pool.allocate(4)
        memory.bind_to_stream(first)
        del memory
        memory = pool.allocate(4)
        memory.bind_to_stream(stream=second)
        cuda.memset_d8_async(int(memory), 2, 4, second)
        assert not second.is_done()
    second.synchronize()
    memory.bind_to_stream()
    with pytest.raises(TypeError, match="stream"):
        memory.bind_to_stream("x")


def test_streams_of_other_libraries(balance):
    pool, stream, other = cuda.DeviceMemoryPool(), cuda.Stream(NON_BLOCKING), cuda.Stream()
    gate = Gate(stream)
    cuda.memset_d8_async(pool.allocate(4), 1, 4, stream.handle)  # a number, not a Stream
    threading.Timer(0.05, gate.open).start()
    memory = pool.allocate(4)
    cuda.memset_d8_async(memory, 2, 4, other)  # waits for the whole context
    assert gate.passed.is_set()
    other.synchronize()
    stream.synchronize()
    assert bytes(cuda.from_device(memory, 4, np.uint8)) == b"\2" * 4


def test_a_stream_that_is_dropped_still_counts(balance):
    pool, second = cuda.DeviceMemoryPool(), cuda.Stream(NON_BLOCKING)
    first = cuda.Stream(NON_BLOCKING)
    gate = Gate(first)
    cuda.memset_d8_async(pool.allocate(4), 1, 4, first)
    del first
    gc.collect()
    cuda.memset_d8_async(pool.allocate(4), 2, 4, second)
    # A tool (compute-sanitizer) may let these calls wait until the gate gives up.
    assert not second.is_done() or gate.passed.is_set()
    gate.open()
    second.synchronize()


def test_failures_while_ordering(balance):
    pool, first, second = cuda.DeviceMemoryPool(), *two_streams()
    for function in ("cuEventCreate", "cuEventRecord", "cuStreamWaitEvent"):
        cuda.memset_d8_async(pool.allocate(4), 1, 4, first)
        memory = pool.allocate(4)
        _cuda._fault(function, 1)
        try:
            with pytest.raises(cuda.LogicError, match=f"{function} failed"):
                cuda.memset_d8_async(memory, 2, 4, second)
        finally:
            _cuda._fault(None, 0)
        cuda.memset_d8_async(memory, 2, 4, second)
        second.synchronize()


def test_page_locked_memory_is_not_reused_under_a_copy():
    pool, stream = cuda.PageLockedMemoryPool(), cuda.Stream(NON_BLOCKING)
    memory = cuda.mem_alloc(100)
    a = pool.allocate(100, np.uint8)
    a[:] = 5
    place = a.ctypes.data
    with Gate(stream):
        cuda.memcpy_htod_async(memory, a, stream)
        del a
        b = pool.allocate(100, np.uint8)
        assert b.ctypes.data != place
        b[:] = 6
    stream.synchronize()
    assert (cuda.from_device(memory, 100, np.uint8) == 5).all()
    cuda.Context.synchronize()
    assert pool.held_blocks == 1
    del b


def test_a_graph_keeps_pooled_memory(balance):
    pool, stream = cuda.DeviceMemoryPool(), cuda.Stream()
    memory = pool.allocate(4)
    place = int(memory)
    stream.begin_capture()
    cuda.memset_d8_async(memory, 3, 4, stream)
    del memory
    graph = stream.end_capture()
    others = [pool.allocate(4), pool.allocate(4)]
    assert place not in map(int, others)
    del graph
    assert int(pool.allocate(4)) == place


def test_a_stream_that_is_captured_waits_for_the_former_owner(balance):
    """What a graph does cannot depend on what was queued outside of it, so the host waits."""
    pool, first, second = cuda.DeviceMemoryPool(), *two_streams()
    gate = Gate(first)
    cuda.memset_d8_async(pool.allocate(4), 1, 4, first)
    memory = pool.allocate(4)
    second.begin_capture()
    threading.Timer(0.05, gate.open).start()
    cuda.memset_d8_async(memory, 2, 4, second)
    assert gate.passed.is_set()
    graph = second.end_capture().instantiate()
    graph.launch(second)
    second.synchronize()
    assert bytes(cuda.from_device(memory, 4, np.uint8)) == b"\2" * 4


def test_a_block_whose_stream_is_being_captured_is_not_handed_out(balance):
    pool, stream = cuda.DeviceMemoryPool(), cuda.Stream(NON_BLOCKING)
    memory = pool.allocate(4)
    place = cuda.mem_get_address_range(memory)[0]
    cuda.memset_d8_async(memory, 1, 4, stream)
    del memory
    stream.begin_capture()
    other = pool.allocate(4)
    assert cuda.mem_get_address_range(other)[0] != place
    stream.end_capture()
    assert cuda.mem_get_address_range(pool.allocate(4))[0] == place
