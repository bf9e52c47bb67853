"""Host memory that the driver knows: page-locked, aligned, managed and registered arrays."""

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest
from cuda.stream_gate import Gate

import pygpu.cuda.driver as cuda
from pygpu import _cuda

pytestmark = pytest.mark.usefixtures("context")

KINDS = {
    "pagelocked": cuda.PagelockedHostAllocation,
    "aligned": cuda.AlignedHostAllocation,
    "managed": cuda.ManagedAllocation,
}
DTYPES = [*"?bBhHiIlLqQefdFDg", "S7", "U3", "M8[s]", ">i4", [("a", "i1"), ("b", "f8")]]


def empty(kind: str, *args, **kwargs) -> np.ndarray:
    return getattr(cuda, f"{kind}_empty")(*args, **kwargs)


def zeros(kind: str, *args, **kwargs) -> np.ndarray:
    return getattr(cuda, f"{kind}_zeros")(*args, **kwargs)


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    return request.param


# ---- making --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(balance, kind, dtype):
    a = zeros(kind, (3, 5), dtype)
    assert type(a) is np.ndarray and a.dtype == np.dtype(dtype) and a.shape == (3, 5)
    assert a.tobytes() == bytes(15 * a.itemsize)
    assert a.flags.writeable and a.flags.aligned and not a.flags.owndata
    assert type(a.base) is KINDS[kind] and a.base.size == a.nbytes
    a.view(np.uint8)[...] = 7
    assert a.tobytes() == b"\7" * a.nbytes


SHAPES = [0, 1, 7, (), (0,), (4,), [2, 3], (2, 3, 4), (3, 0, 2), np.int64(3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_shapes_and_orders(balance, kind, shape, order):
    a = zeros(kind, shape, np.float32, order)
    expected = np.zeros(shape, np.float32, order)
    assert a.shape == expected.shape and (a.size == 0 or a.strides == expected.strides)
    assert a.flags.c_contiguous == expected.flags.c_contiguous
    assert a.flags.f_contiguous == expected.flags.f_contiguous
    a[...] = 5
    assert (a == 5).all()


def test_like_another_array(balance, kind):
    for other in (
        np.ones((2, 3), np.int16),
        np.ones((2, 3), np.int16, order="F"),
        np.ones((), "S3"),
        np.ones((0, 2)),
    ):
        for name in ("empty_like", "zeros_like"):
            a = getattr(cuda, f"{kind}_{name}")(other)
            assert (a.shape, a.dtype) == (other.shape, other.dtype)
            assert a.size == 0 or a.strides == other.strides
            assert name == "empty_like" or a.tobytes() == bytes(a.nbytes)
    strided = np.ones((4, 4))[::2, ::2]
    with pytest.raises(ValueError, match="could not detect array order"):
        getattr(cuda, f"{kind}_empty_like")(strided)
    for wrong in (None, [1, 2], 5):
        with pytest.raises(TypeError, match=f"{kind}_zeros_like: array must be an ndarray"):
            getattr(cuda, f"{kind}_zeros_like")(wrong)
    asked = []

    class NoShape:
        dtype = property(lambda self: asked.append("dtype"))  # no code runs with an exception set

    with pytest.raises(TypeError, match="array must be an ndarray"):
        getattr(cuda, f"{kind}_zeros_like")(NoShape())
    assert asked == []


def test_wrong_arguments(kind):
    for shape in (-1, (2, -1), "ab", None, 1.5, (1.5,), [[1]]):
        with pytest.raises((TypeError, ValueError), match="shape"):
            empty(kind, shape, np.int8)
    for order in ("K", "A", "", "CC", 1, b"C"):
        with pytest.raises(ValueError, match="order must be 'C' or 'F'"):
            empty(kind, 1, np.int8, order)
    for dtype in ("O", [("a", "O")], "(2,3)i4"):
        with pytest.raises(TypeError, match="dtype"):
            empty(kind, 1, dtype)
    with pytest.raises(TypeError):
        empty(kind, 1, "no such type")
    for shape in ((2**40, 2**40), 2**62, (2**31, 2**31, 2**31)):
        with pytest.raises(ValueError, match="does not fit"):
            empty(kind, shape, np.float64)
    with pytest.raises(ValueError, match="entries"):
        empty(kind, (1,) * 65, np.int8)
    with pytest.raises(TypeError):
        empty(kind, 1)
    with pytest.raises(TypeError):
        empty(kind, 1, np.int8, "C", 0, 0)


def test_too_large(kind):
    with pytest.raises(MemoryError):
        empty(kind, 1 << 58, np.uint8)


def test_keywords(balance, kind):
    last = {"alignment": 64} if kind == "aligned" else {"mem_flags": 1}
    assert empty(kind, shape=3, dtype=np.int8, order="C", **last).shape == (3,)
    like = getattr(cuda, f"{kind}_zeros_like")
    assert like(np.zeros(3, np.int8), **last).shape == (3,)
    for wrong in ("x", -1, 2**63 if kind == "aligned" else 2**33):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            empty(kind, 3, np.int8, "C", wrong)


@pytest.mark.parametrize("alignment", [1, 2, 16, 4096, 65536])
def test_alignment(balance, alignment):
    for size in (1, 100, 4097):
        a = cuda.aligned_zeros(size, np.uint8, alignment=alignment)
        assert a.ctypes.data % alignment == 0
        a[:] = 1
    for wrong in (0, 3, 4095):
        with pytest.raises(cuda.LogicError, match="power of two"):
            cuda.aligned_empty(1, np.uint8, alignment=wrong)


def test_names_of_pycuda():
    assert cuda.HostAllocation is cuda.PagelockedHostAllocation
    for name in ("Pagelocked", "Aligned", "Registered", "Pooled"):
        found = [t for n, t in vars(cuda).items() if n.startswith(name) and "Host" in n]
        assert found and all(issubclass(t, cuda.HostPointer) for t in found)
    assert issubclass(cuda.ManagedAllocation, cuda.DeviceAllocation)


# ---- what it is for ------------------------------------------------------------------------------


def test_copies(balance, kind):
    a = zeros(kind, (10, 10), np.int32)
    a[...] = np.arange(100).reshape(10, 10)
    memory = cuda.to_device(a)
    b = zeros(kind, (10, 10), np.int32)
    stream = cuda.Stream()
    cuda.memcpy_dtoh_async(b, memory, stream)
    stream.synchronize()
    assert (a == b).all()


def test_flags_and_addresses(balance):
    flags = cuda.host_alloc_flags
    wanted = flags.PORTABLE | flags.DEVICEMAP
    a = cuda.pagelocked_empty(16, np.uint8, mem_flags=wanted)
    told = ctypes.c_uint()
    driver = ctypes.CDLL(_cuda._library())
    assert driver.cuMemHostGetFlags(ctypes.byref(told), ctypes.c_void_p(a.ctypes.data)) == 0
    assert a.base.get_flags() == told.value
    assert told.value & flags.DEVICEMAP  # NVIDIA's driver 580 leaves out PORTABLE
    assert told.value & wanted == wanted or not _cuda._is_simulator()
    address = a.base.get_device_pointer()
    cuda.memset_d8(address, 3, 16)
    cuda.Context.synchronize()
    assert (a == 3).all()
    with pytest.raises(cuda.LogicError, match="cuMemHostAlloc failed"):
        cuda.pagelocked_empty(1, np.int8, mem_flags=1 << 20)
    with pytest.raises(cuda.LogicError, match="cuMemHostGetDevicePointer"):
        cuda.aligned_empty(1, np.int8).base.get_device_pointer()


def test_managed_memory_is_used_by_both(balance):
    a = cuda.managed_empty((4, 4), np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    a[...] = 1
    assert int(a.base) == a.base.get_device_pointer() == a.ctypes.data
    cuda.memset_d32(a.base, 0x40000000, 8)
    cuda.Context.synchronize()
    assert a.ravel().tolist() == [2.0] * 8 + [1.0] * 8
    b = np.empty(4, np.float32)
    cuda.memcpy_dtoh(b, a[1:])
    assert (b == 2).all()


def test_managed_flags(balance):
    for flags in (0, 1, 2):
        assert cuda.managed_zeros(4, np.int8, "C", flags).sum() == 0
    with pytest.raises(cuda.LogicError, match="cuMemAllocManaged failed.*mem_flags = 77"):
        cuda.managed_zeros(4, np.int8, "C", 77)
    a = cuda.managed_zeros(4, np.int8)
    stream = cuda.Stream()
    a.base.attach(cuda.mem_attach_flags.SINGLE, stream)
    stream.synchronize()
    a.base.attach(cuda.mem_attach_flags.GLOBAL)
    a.base.attach(mem_flags=cuda.mem_attach_flags.HOST, stream=None)
    cuda.Context.synchronize()
    elsewhere = cuda.Device(0).make_context()
    foreign = cuda.Stream()
    elsewhere.pop()
    for flags, where, wrong in (
        (99, None, "mem_flags = 99"),
        (0, stream, "mem_flags = 0"),
        (4, None, "needs a stream"),
        (1, foreign, "another context"),
    ):
        with pytest.raises(cuda.LogicError, match=f"ManagedAllocation.attach failed.*{wrong}"):
            a.base.attach(flags, where)
    del foreign
    elsewhere.detach()
    with pytest.raises(TypeError):
        a.base.attach(1, True)
    with pytest.raises(TypeError):
        a.base.attach("x")


def test_names_that_are_not_dtypes():
    for call in (cuda.pagelocked_empty, cuda.aligned_zeros):
        with pytest.raises(TypeError, match=f"{call.__name__}: dtype: data type 'what' not"):
            call(4, "what")


def test_more_than_the_machine_has():
    """It is refused by us: a driver that tries has the process ended by Linux."""
    pool = cuda.PageLockedMemoryPool()
    before = cuda._handle_counts() if hasattr(cuda, "_handle_counts") else None
    for make in (lambda n: cuda.pagelocked_empty(n, "V4096"), lambda n: pool.allocate(n, "V4096")):
        with pytest.raises(cuda.MemoryError, match="page-locked memory, but the machine has"):
            make(2**38)  # a PiB
    with pytest.raises(MemoryError):
        cuda.managed_empty(2**38, "V4096")
    if before is not None:  # pools of other tests' arrays may have given back theirs
        after = cuda._handle_counts()
        assert not {kind: n for kind, n in after.items() if n > before.get(kind, 0)}
    assert cuda.pagelocked_zeros(2**26 + 1, np.int8)[-1] == 0  # enough to be looked at


# ---- the end -------------------------------------------------------------------------------------


def test_arrays_and_views_keep_it(balance, kind):
    a = empty(kind, 100, np.int32)
    gone = weakref.ref(a.base)
    view = a[10:20]
    del a
    gc.collect()
    view[:] = 5
    assert gone() is not None
    del view
    assert gone() is None


@pytest.mark.parametrize("shape", [(), 1, (3, 4)])
def test_free_makes_the_array_empty(balance, kind, shape):
    a = empty(kind, shape, np.float64)
    base = a.base
    base.free()
    assert a.size == (1 if shape == () else 0)
    assert a.sum() == 0
    a[...] = 1  # touches nothing that is gone
    assert repr(base) == f"<{type(base).__name__} freed>"
    with pytest.raises(cuda.LogicError, match="already freed"):
        base.free()
    for name in ("get_device_pointer", "get_flags", "__int__"):
        if hasattr(base, name):
            with pytest.raises(cuda.LogicError, match="already freed"):
                getattr(base, name)()


def test_views_survive_free(balance, kind):
    a = zeros(kind, 1000, np.int32)
    view = a[500:]
    a.base.free()
    assert a.size == 0
    del a
    gc.collect()
    view[:] = 3
    assert view.sum() == 1500


def test_free_after_the_array(balance, kind):
    a = empty(kind, 10, np.int32)
    base = a.base
    del a
    base.free()
    with pytest.raises(cuda.LogicError, match="already freed"):
        base.free()


def test_a_pending_copy_keeps_it():
    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    memory = cuda.to_device(bytes(1000))
    a = cuda.pagelocked_zeros(1000, np.uint8)
    a[:] = 9
    gone = weakref.ref(a.base)
    with Gate(stream):
        cuda.memcpy_htod_async(memory, a, stream)
        del a
        gc.collect()
        assert gone() is not None
    stream.synchronize()
    cuda.Context.synchronize()
    assert gone() is None
    assert (cuda.from_device(memory, 1000, np.uint8) == 9).all()


def test_dropped_in_another_thread(balance, kind):
    arrays = [empty(kind, 10, np.int8) for _ in range(5)]
    thread = threading.Thread(target=arrays.clear)
    thread.start()
    thread.join()


# ---- registered ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", "CF")
def test_registered_memory(balance, order):
    a = np.asarray(cuda.aligned_zeros((64, 64), np.float32), order=order)
    a = np.asfortranarray(np.zeros((64, 64), np.float32)) if order == "F" else a
    r = cuda.register_host_memory(a)
    assert type(r.base) is cuda.RegisteredHostMemory and r.base.size == a.nbytes
    assert (r.shape, r.dtype, r.strides) == (a.shape, a.dtype, a.strides)
    assert r.ctypes.data == a.ctypes.data
    r[3, 4] = 5
    assert a[3, 4] == 5
    memory = cuda.to_device(np.ones(64 * 64, np.float32))
    stream = cuda.Stream()
    cuda.memcpy_dtoh_async(r, memory, stream)
    stream.synchronize()
    assert (a == 1).all()
    r.base.unregister()
    assert (r == 1).all()  # it is still that memory
    with pytest.raises(cuda.LogicError, match="already freed"):
        r.base.unregister()


def test_registered_memory_keeps_its_array(balance):
    a = np.ones(1 << 16, np.uint8)
    r = cuda.register_host_memory(a, cuda.mem_host_register_flags.DEVICEMAP)
    gone = weakref.ref(a)
    cuda.memset_d8(r.base.get_device_pointer(), 7, 1 << 16)
    cuda.Context.synchronize()
    del a
    gc.collect()
    assert (r == 7).all() and gone() is not None
    del r
    assert gone() is None


def test_registering_twice(balance):
    a = np.ones(1 << 16, np.uint8)
    r = cuda.register_host_memory(a)
    with pytest.raises(cuda.LogicError, match="cuMemHostRegister failed"):
        cuda.register_host_memory(a)
    del r
    cuda.register_host_memory(a).base.unregister()


def test_a_read_only_array_stays_read_only(balance):
    a = np.ones(1 << 16, np.uint8)
    a.flags.writeable = False
    assert not cuda.register_host_memory(a).flags.writeable


@pytest.mark.parametrize("wrong", [None, b"abc", bytearray(3), [1], 5])
def test_only_arrays_are_registered(wrong):
    with pytest.raises(TypeError, match="register_host_memory.*must be an ndarray"):
        cuda.register_host_memory(wrong)


def test_arrays_that_cannot_be_registered():
    for wrong in (np.zeros((4, 4))[::2], np.zeros(0), np.zeros(3, object)):
        with pytest.raises(ValueError, match="register_host_memory"):
            cuda.register_host_memory(wrong)


@pytest.mark.parametrize(
    "function, use",
    [
        ("cuMemHostAlloc", lambda: cuda.pagelocked_empty(4, np.int8)),
        ("cuMemAllocManaged", lambda: cuda.managed_empty(4, np.int8)),
        ("cuMemHostRegister", lambda: cuda.register_host_memory(np.zeros(1 << 16, np.int8))),
        ("cuMemHostGetFlags", lambda: cuda.pagelocked_empty(4, np.int8).base.get_flags()),
    ],
)
@pytest.mark.parametrize("code, error", [(1, cuda.LogicError), (2, MemoryError)])
def test_failures_of_the_driver(balance, function, use, code, error):
    use()
    _cuda._fault(function, code, times=2)
    try:
        with pytest.raises(error, match=f"{function} failed"):
            use()
    finally:
        _cuda._fault(None, 0)


def test_memory_comes_back_after_a_collection(balance):
    class Cycle:
        pass

    cycle = Cycle()
    cycle.self, cycle.array = cycle, cuda.pagelocked_empty(4, np.int8)
    gone = weakref.ref(cycle)
    gc.disable()
    try:
        del cycle
        _cuda._fault("cuMemHostAlloc", 2)
        assert cuda.pagelocked_empty(4, np.int8).shape == (4,)
        assert gone() is None
    finally:
        gc.enable()
        _cuda._fault(None, 0)
