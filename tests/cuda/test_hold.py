"""Host memory that asynchronous copies use: kept until they are done, many small ones together."""

import gc
import weakref

import numpy as np
import pytest
from cuda.stream_gate import Gate, run_in_threads

import pygpu.cuda.driver as cuda
from pygpu import _cuda

pytestmark = pytest.mark.usefixtures("context")

MANY = 40  # more than are kept together
LARGE = 256 * 1024


def queue_copies(memory, stream, n=MANY, size=16):
    """Queues n copies of arrays that only the copies keep; weak references to the arrays."""
    gone = []
    for i in range(n):
        source = np.full(size, i + 1, np.uint8)
        gone.append(weakref.ref(source))
        cuda.memcpy_htod_async(int(memory) + i * size, source, stream)
    return gone


def kept(references):
    gc.collect()
    return sum(reference() is not None for reference in references)


@pytest.mark.parametrize("wait", ["stream", "context", "event"])
@pytest.mark.parametrize("default", [False, True])
def test_small_copies_keep_their_memory(balance, wait, default):
    stream = None if default else cuda.Stream()
    memory = cuda.mem_alloc(MANY * 16)
    with Gate(stream):
        references = queue_copies(memory, stream)
        assert kept(references) == MANY
        junk = [np.zeros(16, np.uint8) for _ in range(100)]  # would take their place
        event = cuda.Event()
        event.record(stream)
    if wait == "stream" and not default:
        stream.synchronize()
    elif wait == "event":
        event.synchronize()
    else:
        cuda.Context.synchronize()
    cuda.Context.synchronize()
    assert kept(references) == 0
    expected = np.repeat(np.arange(1, MANY + 1, dtype=np.uint8), 16)
    assert (cuda.from_device(memory, MANY * 16, np.uint8) == expected).all()
    del junk


def test_results_in_memory_that_is_dropped(balance):
    stream, memory = cuda.Stream(), cuda.to_device(bytes(range(200)))
    with Gate(stream):
        results = [cuda.pagelocked_empty(5, np.uint8) for _ in range(MANY)]
        for i, result in enumerate(results):
            cuda.memcpy_dtoh_async(result, int(memory) + i * 5, stream)
        last = results[-1]
        del results, result
    stream.synchronize()
    assert last.tolist() == [195, 196, 197, 198, 199]


def test_one_array_again_and_again(balance):
    """The memory of one loop does not pile up, and one wait lets go of it."""
    stream, memory = cuda.Stream(), cuda.mem_alloc(16)
    source = np.zeros(16, np.uint8)
    gone = weakref.ref(source)
    for _ in range(1000):
        cuda.memcpy_htod_async(memory, source, stream)
    stream.synchronize()
    del source
    assert kept([gone]) == 0


def test_few_driver_calls():
    stream, memory = cuda.Stream(), cuda.mem_alloc(16)
    source = cuda.pagelocked_zeros(16, np.uint8)
    _cuda._call_counts(True)
    for _ in range(320):
        cuda.memcpy_htod_async(memory, source, stream)
    counts = _cuda._call_counts(True)
    stream.synchronize()
    assert counts["cuMemcpyHtoDAsync"] == 320
    assert counts["cuEventRecord"] <= 20


def test_streams_in_turn(balance):
    """Each copy on another stream than the one before; one stream is held back."""
    slow, quick, memory = cuda.Stream(), cuda.Stream(), cuda.mem_alloc(2 * MANY * 16)
    with Gate(slow):
        references = []
        for i in range(MANY):
            for n, stream in enumerate((slow, quick)):
                references += queue_copies(int(memory) + (2 * i + n) * 16, stream, 1)
        assert kept(references[::2]) == MANY
    slow.synchronize()
    quick.synchronize()
    cuda.Context.synchronize()
    assert kept(references) == 0


def test_a_stream_that_is_dropped(balance):
    stream, memory = cuda.Stream(), cuda.mem_alloc(64)
    gate = Gate(stream)
    references = queue_copies(memory, stream, 3)
    try:
        del stream
        gc.collect()
        assert gate.passed.is_set() or kept(references) == 3
    finally:
        gate.open()
    assert gate.passed.wait(10)
    cuda.Context.synchronize()
    assert kept(references) == 0
    assert bytes(cuda.from_device(memory, 48, np.uint8)) == b"\1" * 16 + b"\2" * 16 + b"\3" * 16


def test_large_copies_are_let_go_of_by_the_next_one(balance):
    stream, memory = cuda.Stream(), cuda.mem_alloc(LARGE)
    first = queue_copies(memory, stream, 1, LARGE)
    while not stream.is_done():
        pass
    queue_copies(memory, stream, 1, LARGE)
    assert kept(first) == 0
    stream.synchronize()


def test_small_copies_of_much_memory_do_not_pile_up(balance):
    stream, memory = cuda.Stream(), cuda.mem_alloc(LARGE)
    references = []
    for _ in range(20):
        references += queue_copies(memory, stream, 4, LARGE // 4)
        while not stream.is_done():
            pass
    assert kept(references) <= 8
    stream.synchronize()


def test_before_a_capture(balance):
    """What was copied before is let go of by its own event, not by one of the graph."""
    stream, memory = cuda.Stream(), cuda.mem_alloc(64)
    with Gate(stream):
        references = queue_copies(memory, stream, 3)
    stream.begin_capture()
    cuda.memset_d8_async(memory, 7, 16, stream)
    graph = stream.end_capture()
    stream.synchronize()
    cuda.Context.synchronize()
    assert kept(references) == 0
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert bytes(cuda.from_device(memory, 16, np.uint8)) == b"\7" * 16


def test_a_context_that_goes():
    context = cuda.Device(0).make_context()
    try:
        stream, memory = cuda.Stream(), cuda.mem_alloc(64)
        references = queue_copies(memory, stream, 3)
        references += queue_copies(memory, None, 3)
        del stream, memory
    finally:
        context.pop()
        context.detach()
    assert kept(references) == 0


def test_contexts_in_turn():
    """The default stream is another one in each context."""
    here = cuda.mem_alloc(64)
    other = cuda.Device(0).make_context()
    try:
        there = cuda.mem_alloc(64)
        gate = Gate()
        references = queue_copies(there, None, 2)
        other.pop()
        more = queue_copies(here, None, 2)
        cuda.Context.synchronize()
        assert kept(references) == 2
        gate.open()
        assert gate.passed.wait(10)
        other.push()
        cuda.Context.synchronize()
        assert kept(references + more) == 0
        del there
    finally:
        gate.open()
        other.pop()
        other.detach()


def test_threads(balance):
    memory = cuda.mem_alloc(4 * MANY * 16)
    streams = [cuda.Stream() for _ in range(4)]

    def work(n):
        for _ in range(20):
            at = int(memory) + n * MANY * 16
            references = queue_copies(at, streams[n])
            streams[n].synchronize()
            got = cuda.from_device(at, MANY * 16, np.uint8)
            expected = np.repeat(np.arange(1, MANY + 1, dtype=np.uint8), 16)
            assert (got == expected).all()
            del references

    run_in_threads(work, 4)


@pytest.mark.parametrize("function", ["cuEventCreate", "cuEventRecord", "cuEventQuery"])
def test_failing_events(function):
    """Without an event the copy is waited for; nothing is lost, nothing kept for ever."""
    stream, memory = cuda.Stream(), cuda.mem_alloc(MANY * 16)
    _cuda._fault(function, 2, 1, 1000)
    try:
        references = queue_copies(memory, stream)
    finally:
        _cuda._fault(None, 0)
    stream.synchronize()
    cuda.Context.synchronize()
    assert kept(references) == 0
    expected = np.repeat(np.arange(1, MANY + 1, dtype=np.uint8), 16)
    assert (cuda.from_device(memory, MANY * 16, np.uint8) == expected).all()
