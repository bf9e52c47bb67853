"""Copies: host and device, device and device, between contexts; what is checked and waited for."""

import gc
import signal
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from cuda.stream_gate import Gate, opened_by, run_in_threads

import pygpu.cuda.driver as cuda
from pygpu import _cuda

pytestmark = pytest.mark.usefixtures("context")

DTYPES = [
    *"?bBhHiIlLqQefdFD",
    "S7",
    "U3",
    "M8[s]",
    "m8[ns]",
    ">i4",
    "V5",
    [("a", "i1"), ("b", "f8")],
]
SHAPES = [(), (1,), (0,), (7,), (3, 5), (2, 0, 3), (2, 3, 4), (1, 1, 1, 1), (1000, 333)]


def sample(shape: tuple[int, ...], dtype: object) -> np.ndarray:
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    data = np.random.default_rng(size + 1).integers(1, 120, size).astype(np.uint8)
    return np.frombuffer(data.tobytes() or b"", dtype).reshape(shape).copy()


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# ---- there and back ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(balance, dtype):
    a = sample((5, 3), dtype)
    memory = cuda.to_device(a)
    assert memory.size == a.nbytes
    b = np.zeros_like(a)
    cuda.memcpy_dtoh(b, memory)
    assert same(a, b)
    assert same(a, cuda.from_device(memory, a.shape, a.dtype))
    assert same(a, cuda.from_device_like(memory, a))
    stream = cuda.Stream()
    cuda.memset_d8(memory, 0, a.nbytes)
    cuda.memcpy_htod_async(memory, a, stream)
    b = np.zeros_like(a)
    cuda.memcpy_dtoh_async(b, memory, stream)
    stream.synchronize()
    assert same(a, b)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("order", "CF")
def test_every_shape(balance, shape, order):
    a = np.asarray(sample(shape, np.float32), order=order)
    memory = cuda.mem_alloc(a.nbytes)
    cuda.memcpy_htod(memory, a)
    b = np.zeros_like(a)
    cuda.memcpy_dtoh(b, memory)
    assert (a == b).all()
    assert (cuda.from_device(memory, shape, np.float32, order) == a).all()
    assert (cuda.from_device_like(memory, a) == a).all()


@pytest.mark.parametrize(
    "buffer",
    [b"abcd", bytearray(b"ab"), memoryview(b"abc"), np.float32(1.5), np.array(3), b"", np.ones(3)],
)
def test_every_host_buffer(balance, buffer):
    size = memoryview(buffer).nbytes
    memory = cuda.mem_alloc(size)
    cuda.memcpy_htod(memory, buffer)
    out = bytearray(size)
    cuda.memcpy_dtoh(out, memory)
    assert bytes(out) == bytes(memoryview(buffer).tobytes())
    assert bytes(cuda.from_device(cuda.to_device(buffer), size, np.uint8)) == bytes(out)


def test_subclasses_of_ndarray(balance):
    class Special(np.ndarray):
        pass

    a = np.array([[1.0, 2.0], [3.0, 4.0]]).view(Special)
    memory = cuda.to_device(a)
    cuda.memcpy_htod(memory, a)
    b = np.zeros_like(a)
    cuda.memcpy_dtoh(b, memory)
    assert (a == b).all()


@pytest.mark.parametrize("size", [1, 63, 64, 65, 65535, 65536, 65537, 3_000_001])
def test_small_and_large(balance, size):
    a = np.random.default_rng(size).integers(0, 256, size).astype(np.uint8)
    memory = cuda.to_device(a)
    assert (cuda.from_device(memory, size, np.uint8) == a).all()


def test_to_an_address_inside(balance):
    memory = cuda.to_device(np.zeros(16, np.uint8))
    cuda.memcpy_htod(int(memory) + 3, b"xyz")
    assert bytes(cuda.from_device(memory, 8, np.uint8)) == b"\0\0\0xyz\0\0"
    out = bytearray(2)
    cuda.memcpy_dtoh(out, int(memory) + 4)
    assert out == b"yz"


def test_to_device_takes_what_is_not_contiguous_in_c_order(balance):
    a = np.arange(24, dtype=np.int16).reshape(4, 6)
    for b in (a.T, a[::2], a[:, ::-1], a[1:3, 2:4], np.asfortranarray(a)):
        assert (cuda.from_device(cuda.to_device(b), b.shape, b.dtype) == b).all()
    view = memoryview(bytes(range(10)))[::3]
    assert bytes(cuda.from_device(cuda.to_device(view), 4, np.uint8)) == bytes([0, 3, 6, 9])


def test_from_device_like_keeps_the_order_of_axes(balance):
    a = np.arange(24, dtype=np.int32).reshape(2, 3, 4).transpose(1, 0, 2)
    memory = cuda.to_device(np.arange(24, dtype=np.int32))
    b = cuda.from_device_like(memory, a)
    assert b.strides == a.strides and (a == b).all()


# ---- what is refused -----------------------------------------------------------------------------


def test_past_the_end(balance):
    memory = cuda.to_device(b"0123456789")
    other = cuda.mem_alloc(100)
    inside = int(memory) + 8
    calls = {
        "memcpy_htod": lambda: cuda.memcpy_htod(memory, bytes(11)),
        "memcpy_htod ": lambda: cuda.memcpy_htod(inside, bytes(3)),
        "memcpy_dtoh": lambda: cuda.memcpy_dtoh(bytearray(11), memory),
        "memcpy_dtoh ": lambda: cuda.memcpy_dtoh(bytearray(3), inside),
        "memcpy_htod_async": lambda: cuda.memcpy_htod_async(memory, bytes(11)),
        "memcpy_dtoh_async": lambda: cuda.memcpy_dtoh_async(bytearray(11), memory),
        "memcpy_dtod": lambda: cuda.memcpy_dtod(memory, other, 11),
        "memcpy_dtod ": lambda: cuda.memcpy_dtod(other, memory, 11),
        "memcpy_dtod_async": lambda: cuda.memcpy_dtod_async(other, inside, 3),
        "memcpy_peer": lambda: cuda.memcpy_peer(other, memory, 11),
        "memcpy_peer_async": lambda: cuda.memcpy_peer_async(memory, other, 11),
        "from_device": lambda: cuda.from_device(memory, 11, np.uint8),
        "from_device ": lambda: cuda.from_device(memory, 2**61, np.uint8),
        "from_device_like": lambda: cuda.from_device_like(memory, np.zeros(11, np.uint8)),
    }
    for call, use in calls.items():
        with pytest.raises(cuda.LogicError, match=f"{call.strip()} failed.*end past the"):
            use()
        with pytest.raises(ValueError):
            use()
    assert bytes(cuda.from_device(memory, 10, np.uint8)) == b"0123456789"


STRIDED = np.arange(20, dtype=np.float32).reshape(4, 5)


@pytest.mark.parametrize(
    "array", [STRIDED[::2], STRIDED[:, 1:3], STRIDED[::-1], np.broadcast_to(STRIDED[0], (2, 5))]
)
def test_not_contiguous(array):
    memory = cuda.mem_alloc(200)
    for call in (cuda.memcpy_htod, cuda.memcpy_htod_async):
        with pytest.raises(ValueError, match="is not contiguous"):
            call(memory, array)
    out = array.copy() if not array.flags.writeable else array
    if not out.flags.c_contiguous:
        for call in (cuda.memcpy_dtoh, cuda.memcpy_dtoh_async):
            with pytest.raises(ValueError, match="is not contiguous"):
                call(out, memory)


def test_a_destination_is_writable():
    memory = cuda.mem_alloc(8)
    frozen = np.zeros(2, np.float32)
    frozen.flags.writeable = False
    for call in (cuda.memcpy_dtoh, cuda.memcpy_dtoh_async):
        with pytest.raises(ValueError, match="read-only"):
            call(frozen, memory)
        for wrong in (b"abcd", memoryview(b"abcd"), np.float32(1)):
            with pytest.raises((BufferError, ValueError, TypeError)):
                call(wrong, memory)
    cuda.memcpy_htod(memory, frozen)  # as a source it is welcome


@pytest.mark.parametrize("wrong", [None, 5, "text", [1, 2], object(), {}])
def test_no_host_memory(wrong):
    memory = cuda.mem_alloc(8)
    for use in (
        lambda: cuda.memcpy_htod(memory, wrong),
        lambda: cuda.memcpy_htod_async(memory, wrong),
        lambda: cuda.memcpy_dtoh(wrong, memory),
        lambda: cuda.memcpy_dtoh_async(wrong, memory),
        lambda: cuda.to_device(wrong),
    ):
        with pytest.raises(TypeError, match="host memory"):
            use()


def test_objects_and_odd_dtypes():
    memory = cuda.mem_alloc(80)
    for dtype in ("O", [("a", "O")]):
        array = np.zeros(3, dtype)
        for use in (
            lambda a=array: cuda.memcpy_htod(memory, a),
            lambda a=array: cuda.memcpy_dtoh(a, memory),
            lambda a=array: cuda.to_device(a),
            lambda a=array: cuda.from_device(memory, 1, a.dtype),
            lambda a=array: cuda.from_device_like(memory, a),
        ):
            with pytest.raises(TypeError):
                use()


def test_from_device_arguments():
    memory = cuda.to_device(np.arange(6, dtype=np.int16))
    assert cuda.from_device(memory, (2, 3), "i2").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert cuda.from_device(memory, [2, np.int64(3)], "i2", "F").tolist() == [[0, 2, 4], [1, 3, 5]]
    assert cuda.from_device(memory, shape=6, dtype="i2", order="C")[5] == 5
    for wrong in (((-1,), "i2"), ((2,), "i2", "K"), ((2,), "i2", 3), ((2**40, 2**40), "i2")):
        with pytest.raises(ValueError, match="from_device"):
            cuda.from_device(memory, *wrong)
    with pytest.raises(TypeError):
        cuda.from_device(memory, (2,), "nonsense")
    with pytest.raises(TypeError):
        cuda.from_device(memory, "ab", "i2")


def test_the_wrong_way_round():
    memory, array = cuda.mem_alloc(8), np.zeros(2, np.float32)
    with pytest.raises(TypeError, match="src must be host memory, not DeviceAllocation"):
        cuda.memcpy_htod(array, memory)
    with pytest.raises(TypeError, match="dest must be host memory, not DeviceAllocation"):
        cuda.memcpy_dtoh(memory, array)
    with pytest.raises(TypeError, match="this ndarray is in host memory"):
        cuda.memcpy_htod(array, array)


def test_null_is_not_memory():
    with pytest.raises(cuda.LogicError, match="is the address 0"):
        cuda.memcpy_htod(0, b"1234")
    cuda.memcpy_htod(0, b"")


def test_an_address_that_was_not_allocated():
    with pytest.raises(cuda.LogicError):
        cuda.memcpy_htod(4096, b"1234")


# ---- device to device ----------------------------------------------------------------------------


@pytest.mark.parametrize("copy", [cuda.memcpy_dtod, cuda.memcpy_dtod_async])
def test_device_to_device(balance, copy):
    a, b = cuda.to_device(bytes(range(100))), cuda.to_device(bytes(100))
    copy(int(b) + 10, int(a) + 20, 30)
    copy(b, a, 0)
    copy(dest=b, src=a, size=np.int32(5))
    cuda.Context.synchronize()
    expected = bytearray(100)
    expected[10:40] = bytes(range(20, 50))
    expected[:5] = bytes(range(5))
    assert bytes(cuda.from_device(b, 100, np.uint8)) == bytes(expected)


def test_overlap():
    a = cuda.to_device(bytes(100))
    for dest, src in ((0, 10), (10, 0), (1, 0)):
        with pytest.raises(cuda.LogicError, match="overlap"):
            cuda.memcpy_dtod(int(a) + dest, int(a) + src, 20)
    cuda.memcpy_dtod(int(a) + 20, a, 20)
    cuda.memcpy_dtod(a, a, 100)


@pytest.mark.parametrize("copy", [cuda.memcpy_peer, cuda.memcpy_peer_async])
def test_between_contexts(balance, copy):
    here = cuda.Context.get_current()
    a = cuda.to_device(b"0123456789")
    there = cuda.Device(0).make_context()
    try:
        b = cuda.to_device(bytes(10))
        copy(b, a, 10)
        cuda.Context.synchronize()
        assert bytes(cuda.from_device(b, 10, np.uint8)) == b"0123456789"
        copy(int(b) + 5, int(a), 5, there, here)
        copy(b, a, 2, dest_context=there, src_context=None)
        cuda.Context.synchronize()
        assert bytes(cuda.from_device(b, 10, np.uint8)) == b"0123401234"
        with pytest.raises(TypeError, match="dest_context must be a Context"):
            copy(b, a, 1, 5)
        with pytest.raises(TypeError, match="src_context must be a Context"):
            copy(b, a, 1, there, "x")
        del b
    finally:
        there.detach()
    with pytest.raises(cuda.LogicError, match="destroyed"):
        copy(a, cuda.to_device(b"x"), 1, there)


# ---- order and waiting ---------------------------------------------------------------------------


def test_a_copy_waits_for_the_default_stream_and_ordinary_ones(balance):
    stream = cuda.Stream()
    memory = cuda.to_device(bytes(4))
    source = b"abcd"
    gate = Gate(stream)
    cuda.memcpy_htod_async(memory, source, stream)
    opened_by(gate, 0.05)
    out = bytearray(4)
    cuda.memcpy_dtoh(out, memory)
    assert out == source


def test_async_copies_return_at_once_and_in_order(balance):
    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    memory = cuda.mem_alloc(4)
    host = cuda.pagelocked_zeros(4, np.uint8)
    with Gate(stream):
        cuda.memcpy_htod_async(memory, b"abcd", stream)
        cuda.memset_d8_async(int(memory) + 1, 0x7A, 2, stream)
        cuda.memcpy_dtoh_async(host, memory, stream)
        assert not stream.is_done()
        assert host.tobytes() == bytes(4)
    stream.synchronize()
    assert host.tobytes() == b"azzd"


def test_host_memory_is_kept_until_the_copy_is_done():
    stream = cuda.Stream()
    memory = cuda.to_device(bytes(1000))
    source = np.full(1000, 3, np.uint8)
    gone = weakref.ref(source)
    with Gate(stream):
        cuda.memcpy_htod_async(memory, source, stream)
        del source
        gc.collect()
        assert gone() is not None
        junk = [np.full(1000, n, np.uint8) for n in range(50)]  # would take its place
    stream.synchronize()
    assert (cuda.from_device(memory, 1000, np.uint8) == 3).all()
    cuda.Context.synchronize()
    assert gone() is None
    del junk


def test_a_bytearray_cannot_change_its_size_under_a_copy():
    stream = cuda.Stream()
    memory, data = cuda.to_device(bytes(10)), bytearray(10)
    with Gate(stream):
        cuda.memcpy_htod_async(memory, data, stream)
        with pytest.raises(BufferError):
            data.extend(b"x")
    stream.synchronize()
    cuda.Context.synchronize()
    data.extend(b"x")


def test_a_copy_that_waits_can_be_interrupted():
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach only the main thread")
    stream = cuda.Stream()
    memory = cuda.mem_alloc(4)
    gate = Gate(stream)

    class Alarm(Exception):
        pass

    def handler(*_: object) -> None:
        raise Alarm

    old = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    begin = time.monotonic()
    try:
        with pytest.raises(Alarm):
            cuda.memcpy_dtoh(bytearray(4), memory)
        assert time.monotonic() - begin < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        gate.open()
    stream.synchronize()


def test_other_threads_run_while_a_copy_waits():
    memory = cuda.mem_alloc(4)
    gate = Gate(cuda.Stream())
    ran = threading.Event()

    def other() -> None:
        ran.set()
        gate.open()

    thread = threading.Thread(target=other)
    thread.start()
    cuda.memcpy_dtoh(bytearray(4), memory)
    thread.join()
    assert ran.is_set()


def test_memory_that_is_freed_during_a_copy(balance):
    """Another thread frees what a waiting copy uses: an error or a result, never stale memory."""
    stream = cuda.Stream()
    for _ in range(5):
        memory = cuda.to_device(bytes(1000))
        gate = Gate(stream)

        def free(memory=memory) -> None:
            time.sleep(0.01)
            memory.free()  # the driver waits for what is queued

        thread = threading.Thread(target=free)
        thread.start()
        opened_by(gate, 0.03)
        out = bytearray(1000)
        try:
            cuda.memcpy_dtoh(out, memory)
        except cuda.LogicError as error:
            assert "already freed" in str(error)
        thread.join()
        assert out == bytes(1000)


def test_many_threads_copy(balance):
    def work(n: int) -> None:
        a = np.full(5000, n, np.int32)
        memory = cuda.mem_alloc(a.nbytes)
        for _ in range(50):
            cuda.memcpy_htod(memory, a)
            assert (cuda.from_device_like(memory, a) == n).all()

    run_in_threads(work, 4)


def test_a_thread_without_a_context_can_copy(balance):
    memory = cuda.mem_alloc(4)
    out = bytearray(4)

    def work() -> None:
        cuda.memcpy_htod(memory, b"1234")
        cuda.memcpy_dtoh(out, memory)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert out == b"1234"


@pytest.mark.parametrize("stream", ["x", 1.5, object(), b"1", []])
def test_wrong_streams(stream):
    memory, host = cuda.mem_alloc(4), bytearray(4)
    for use in (
        lambda: cuda.memcpy_htod_async(memory, host, stream),
        lambda: cuda.memcpy_dtoh_async(host, memory, stream),
        lambda: cuda.memcpy_dtod_async(memory, memory, 4, stream),
        lambda: cuda.memcpy_peer_async(memory, memory, 4, None, None, stream),
    ):
        with pytest.raises(TypeError, match="stream must be a Stream"):
            use()


COPIES = {
    "cuMemcpyHtoD": lambda d, h: cuda.memcpy_htod(d, h),
    "cuMemcpyDtoH": lambda d, h: cuda.memcpy_dtoh(h, d),
    "cuMemcpyHtoDAsync": lambda d, h: cuda.memcpy_htod_async(d, h),
    "cuMemcpyDtoHAsync": lambda d, h: cuda.memcpy_dtoh_async(h, d),
    "cuMemcpyDtoD": lambda d, h: cuda.memcpy_dtod(d, int(d) + 4, 4),
    "cuMemcpyDtoDAsync": lambda d, h: cuda.memcpy_dtod_async(d, int(d) + 4, 4),
    "cuMemcpyPeer": lambda d, h: cuda.memcpy_peer(d, int(d) + 4, 4),
    "cuMemcpyPeerAsync": lambda d, h: cuda.memcpy_peer_async(d, int(d) + 4, 4),
}


@pytest.mark.parametrize("function", COPIES)
def test_failures_of_the_driver(balance, function):
    memory, host = cuda.mem_alloc(8), bytearray(8)
    references = sys.getrefcount(host)
    _cuda._fault(function, 1)
    try:
        with pytest.raises(cuda.LogicError, match=f"{function} failed"):
            COPIES[function](memory, host)
    finally:
        _cuda._fault(None, 0)
    assert sys.getrefcount(host) == references
    COPIES[function](memory, host)


# ---- in graphs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["stream", "handle", "joined"])
def test_a_graph_keeps_what_its_copies_use(balance, by):
    """Also where the stream is given as a number, or takes part because it waits for an event."""
    first, second = cuda.Stream(), cuda.Stream()
    source, memory, other = np.full(100, 3, np.uint8), cuda.mem_alloc(100), cuda.mem_alloc(100)
    out = cuda.pagelocked_zeros(100, np.uint8)
    kept = [weakref.ref(source), weakref.ref(memory), weakref.ref(other)]
    first.begin_capture()
    stream: object = first
    if by == "handle":
        stream = first.handle
    elif by == "joined":
        second.wait_for_event(cuda.Event().record(first))
        stream = second
    cuda.memcpy_htod_async(memory, source, stream)
    cuda.memset_d8_async(memory, 7, 10, stream)
    cuda.memcpy_dtod_async(other, memory, 100, stream)
    copy = cuda.Memcpy2D()
    copy.set_src_device(other)
    copy.set_dst_host(out)
    copy.width_in_bytes, copy.height = 100, 1
    copy(stream=stream)
    if by == "joined":
        first.wait_for_event(cuda.Event().record(second))
    graph = first.end_capture()
    del source, memory, other, copy
    gc.collect()
    assert all(ref() is not None for ref in kept)
    assert not out.any()
    graph.instantiate().launch(first)
    first.synchronize()
    assert out.tolist() == [7] * 10 + [3] * 90
    del graph
    cuda.Context.synchronize()
    gc.collect()
    assert [ref() for ref in kept] == [None] * 3
