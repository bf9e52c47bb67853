"""DeviceAllocation: its making and end, what others see of it; addresses; stream-ordered memory."""

import ctypes
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
from cuda.stream_gate import Gate

import pygpu.cuda.driver as cuda
from pygpu import _cuda

pytestmark = pytest.mark.usefixtures("context")


def read(memory: object, n: int) -> bytes:
    out = np.empty(n, np.uint8)
    cuda.memcpy_dtoh(out, memory)
    return out.tobytes()


# ---- making --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 4, 511, 4096, 1 << 20, np.int64(16), np.uint8(5), True])
def test_an_allocation(balance, size):
    memory = cuda.mem_alloc(size)
    assert memory.size == size
    assert int(memory) == memory.__index__() == memory.__long__() > 0
    assert repr(memory) == f"<DeviceAllocation of {int(size)} bytes at {int(memory):#x}>"
    pattern = np.arange(size, dtype=np.uint8)
    cuda.memcpy_htod(memory, pattern)
    assert read(memory, int(size)) == pattern.tobytes()


def test_nothing_at_all(balance):
    memory = cuda.mem_alloc(0)
    assert (memory.size, int(memory)) == (0, 0)
    cuda.memcpy_htod(memory, b"")
    cuda.memset_d32(memory, 1, 0)
    with pytest.raises(cuda.LogicError, match="dest is the address 0, which is not memory"):
        cuda.memcpy_htod(memory, b"x")
    memory.free()


@pytest.mark.parametrize("wrong", [None, "4", 4.0, [4], np.float32(4), b"4"])
def test_a_size_is_an_integer(wrong):
    with pytest.raises(TypeError, match="mem_alloc: bytes must be an integer"):
        cuda.mem_alloc(wrong)


@pytest.mark.parametrize("wrong", [-1, -(2**40), 2**63, 2**64, 10**30])
def test_sizes_out_of_range(wrong):
    with pytest.raises((ValueError, OverflowError), match="mem_alloc: bytes"):
        cuda.mem_alloc(wrong)


def test_keywords():
    assert cuda.mem_alloc(bytes=8).size == 8
    for wrong in ((), (1, 2)):
        with pytest.raises(TypeError, match="mem_alloc"):
            cuda.mem_alloc(*wrong)


def test_it_is_not_made_by_its_type():
    for name in ("DeviceAllocation", "ManagedAllocation", "PooledDeviceAllocation", "HostPointer"):
        with pytest.raises(TypeError, match="cannot create"):
            getattr(cuda, name)()


def test_like_an_array(balance):
    for array in (np.zeros((3, 5), np.float32), np.zeros(0), np.zeros((4, 4))[::2, ::2]):
        assert cuda.mem_alloc_like(array).size == array.nbytes
    with pytest.raises(TypeError, match="nbytes"):
        cuda.mem_alloc_like([1, 2])


@pytest.mark.parametrize("width, height", [(1, 1), (100, 7), (4096, 3), (4097, 2)])
@pytest.mark.parametrize("access", [4, 8, 16])
def test_pitched(balance, width, height, access):
    memory, pitch = cuda.mem_alloc_pitch(width, height, access)
    assert pitch >= width and pitch % access == 0
    assert memory.size == pitch * height
    data = np.random.default_rng(1).integers(0, 256, memory.size).astype(np.uint8)
    cuda.memcpy_htod(memory, data)
    assert read(memory, memory.size) == data.tobytes()


@pytest.mark.parametrize("wrong", [(0, 1, 4), (1, 0, 4), (1, 1, 0), (1, 1, 3), (1, 1, 32)])
def test_pitched_wrongly(wrong):
    with pytest.raises(ValueError, match="cuMemAllocPitch failed"):
        cuda.mem_alloc_pitch(*wrong)


def test_free_and_total_memory(balance):
    free, total = cuda.mem_get_info()
    assert 0 < free <= total
    assert total == cuda.Device(0).total_memory()
    for _ in range(50):  # other processes may give memory back meanwhile
        free = cuda.mem_get_info()[0]
        memory = cuda.mem_alloc(64 << 20)
        less = free - cuda.mem_get_info()[0]
        del memory
        if less >= 60 << 20:
            break
    assert less >= 60 << 20


def test_address_range(balance):
    memory = cuda.mem_alloc(1000)
    base = int(memory)
    for place in (memory, base, base + 999, np.uint64(base + 1)):
        assert cuda.mem_get_address_range(place) == (base, 1000)
    with pytest.raises(cuda.LogicError, match="cuMemGetAddressRange"):
        cuda.mem_get_address_range(16)


# ---- the end -------------------------------------------------------------------------------------


def test_use_after_free(balance):
    memory = cuda.mem_alloc(16)
    memory.free()
    assert repr(memory) == "<DeviceAllocation freed>"
    uses = {
        "DeviceAllocation.free": memory.free,
        "DeviceAllocation.__int__": lambda: int(memory),
        "memcpy_htod": lambda: cuda.memcpy_htod(memory, b"x"),
        "memcpy_dtoh": lambda: cuda.memcpy_dtoh(bytearray(1), memory),
        "memcpy_dtod": lambda: cuda.memcpy_dtod(memory, memory, 1),
        "memcpy_htod_async": lambda: cuda.memcpy_htod_async(memory, b"x"),
        "memset_d8": lambda: cuda.memset_d8(memory, 0, 1),
        "DeviceAllocation.as_buffer": lambda: memory.as_buffer(1),
        "DeviceAllocation.__dlpack__": memory.__dlpack__,
        "__cuda_array_interface__": lambda: memory.__cuda_array_interface__,
        "mem_get_address_range": lambda: cuda.mem_get_address_range(memory),
        "mem_get_ipc_handle": lambda: cuda.mem_get_ipc_handle(memory),
    }
    for call, use in uses.items():
        with pytest.raises(cuda.LogicError, match=f"{call} failed.*was already freed"):
            use()


def test_dropping_gives_the_memory_back(balance):
    _cuda._call_counts(reset=True)
    for _ in range(50):
        cuda.mem_alloc(32 << 20)
    counts = _cuda._call_counts(reset=True)
    assert counts["cuMemAlloc"] == counts["cuMemFree"] == 50


def test_dropped_in_another_thread(balance):
    memories = [cuda.mem_alloc(100) for _ in range(10)]
    thread = threading.Thread(target=memories.clear)
    thread.start()
    thread.join()


def test_dropped_while_another_context_is_current(balance):
    memory = cuda.mem_alloc(100)
    other = cuda.Device(0).make_context()
    try:
        del memory
        assert cuda.Context.get_current() == other
    finally:
        other.detach()


def test_of_a_context_that_is_gone(balance):
    other = cuda.Device(0).make_context()
    kept = [
        cuda.mem_alloc(16),
        cuda.pagelocked_empty(4, np.int8),
        cuda.mem_alloc_async(16),
        cuda.managed_zeros(4, np.int8),
    ]
    memory, pool = kept[0], cuda.DeviceMemoryPool()
    pooled = pool.allocate(10)
    other.detach()
    for use in (
        lambda: int(memory),
        lambda: cuda.memcpy_htod(memory, b"x"),
        lambda: pool.allocate(10),
        lambda: cuda.memset_d8(pooled, 0, 1),
        lambda: kept[1].base.get_device_pointer(),
    ):
        with pytest.raises(cuda.LogicError, match="context"):
            use()
    memory.free()


def test_out_of_memory(balance):
    with pytest.raises(
        cuda.MemoryError, match=r"cuMemAlloc failed: out of memory - asked for \d+ bytes"
    ):
        cuda.mem_alloc(1 << 60)
    with pytest.raises(MemoryError):
        cuda.mem_alloc(1 << 60)


def test_out_of_memory_collects_garbage_and_tries_again(balance):
    class Cycle:
        pass

    cycle = Cycle()
    cycle.self, cycle.memory = cycle, cuda.mem_alloc(1000)
    gone = weakref.ref(cycle)
    gc.disable()
    try:
        del cycle
        _cuda._fault("cuMemAlloc", 2)
        assert cuda.mem_alloc(16).size == 16
        assert _cuda._fault_hits() == 1
        assert gone() is None
    finally:
        gc.enable()
        _cuda._fault(None, 0)


def test_pickle_and_copy():
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(cuda.mem_alloc(1))


# ---- others --------------------------------------------------------------------------------------


def test_array_interface(balance):
    memory = cuda.mem_alloc(24)
    interface = memory.__cuda_array_interface__
    assert interface["version"] == 3
    assert interface["shape"] == (24,) and interface["typestr"] == "|u1"
    assert interface["data"] == (int(memory), False)
    assert interface["strides"] is None and interface["stream"] == 1


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [
        ("tensor", DLTensor),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


def pointer_of(capsule: object, name: bytes) -> int:
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return api.PyCapsule_GetPointer(capsule, name)


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("consumed", [False, True])
def test_dlpack(balance, versioned, consumed):
    memory = cuda.mem_alloc(40)
    address = int(memory)
    name = b"dltensor_versioned" if versioned else b"dltensor"
    capsule = memory.__dlpack__(max_version=(1, 1) if versioned else None)
    kind = Versioned if versioned else Managed
    made = kind.from_address(pointer_of(capsule, name))
    tensor = made.tensor
    assert tensor.data == address and tensor.byte_offset == 0
    assert (tensor.device_type, tensor.device_id) == memory.__dlpack_device__() == (2, 0)
    assert (tensor.ndim, tensor.shape[0], tensor.strides[0]) == (1, 40, 1)
    assert (tensor.code, tensor.bits, tensor.lanes) == (1, 8, 1)
    if versioned:
        assert (made.major, made.flags) == (1, 0)
    gone = weakref.ref(memory)
    del memory
    assert gone() is not None
    if consumed:  # the consumer renames the capsule and calls the deleter when it is done
        api = ctypes.pythonapi
        api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
        used = b"used_" + name
        api.PyCapsule_SetName(capsule, used)
        del capsule
        assert gone() is not None
        made.deleter(ctypes.addressof(made))
    else:
        del capsule
    assert gone() is None


def test_dlpack_keeps_the_memory_after_free(balance):
    memory = cuda.mem_alloc(1 << 20)
    address = int(memory)
    capsule = memory.__dlpack__(stream=-1)
    memory.free()
    assert cuda.mem_get_address_range(address) == (address, 1 << 20)
    del capsule
    with pytest.raises(cuda.LogicError):
        cuda.mem_get_address_range(address)


def test_dlpack_arguments():
    memory = cuda.mem_alloc(8)
    stream = cuda.Stream()
    for given in (None, -1, 1, 2, stream.handle):
        memory.__dlpack__(stream=given)
    memory.__dlpack__(dl_device=(2, 0), copy=False)
    memory.__dlpack__(copy=None, max_version=(0, 8))
    with pytest.raises(BufferError, match="device"):
        memory.__dlpack__(dl_device=(1, 0))
    with pytest.raises(BufferError, match="copy"):
        memory.__dlpack__(copy=True)
    with pytest.raises(ValueError, match="stream"):
        memory.__dlpack__(stream=-2)
    with pytest.raises(TypeError):
        memory.__dlpack__(stream="x")
    with pytest.raises(TypeError):
        memory.__dlpack__(1)


def test_dlpack_of_managed_memory(balance):
    array = cuda.managed_zeros(8, np.int8)
    assert array.base.__dlpack_device__() == (13, 0)
    array.base.__dlpack__()


def test_as_buffer(balance):
    array = cuda.managed_zeros(16, np.uint8)  # the host may read this one
    memory = array.base
    view = memory.as_buffer(8, offset=4)
    assert view.nbytes == 8 and not view.readonly
    array[:] = range(16)
    assert bytes(view) == bytes(range(4, 12))
    view[0] = 77
    assert array[4] == 77
    assert memory.as_buffer(0, 16).nbytes == 0
    for wrong in ((17,), (1, 16), (2**62, 2**62), (8, 9)):
        with pytest.raises(cuda.LogicError, match="as_buffer"):
            memory.as_buffer(*wrong)
    with pytest.raises(ValueError):
        memory.as_buffer(-1)


def test_a_buffer_keeps_its_memory(balance):
    memory = cuda.mem_alloc(1 << 20)
    view = memory.as_buffer(10)
    _cuda._call_counts(reset=True)
    memory.free()  # takes effect when the view is gone
    with pytest.raises(cuda.LogicError):
        int(memory)
    del memory
    assert "cuMemFree" not in _cuda._call_counts()
    view.release()
    del view
    assert _cuda._call_counts(reset=True)["cuMemFree"] == 1


# ---- PointerHolderBase ---------------------------------------------------------------------------


class Holder(cuda.PointerHolderBase):
    def __init__(self, pointer: object) -> None:
        super().__init__()
        self.pointer = pointer

    def get_pointer(self) -> object:
        return self.pointer


def test_a_class_of_ones_own(balance):
    memory = cuda.mem_alloc(16)
    for holder in (Holder(int(memory)), Holder(memory), Holder(Holder(memory))):
        cuda.memcpy_htod(holder, bytes(range(16)))
        assert read(holder, 16) == bytes(range(16))
        assert int(holder) == holder.__index__() == holder.__long__() == int(memory)
        assert holder.as_buffer(4, 12).nbytes == 4
        with pytest.raises(cuda.LogicError, match="17 bytes end past the 16"):
            cuda.memcpy_htod(holder, bytes(17))
        with pytest.raises(cuda.LogicError, match="as_buffer"):
            holder.as_buffer(17)


def test_a_class_that_gives_no_pointer():
    class Without(cuda.PointerHolderBase):
        pass

    for call in (int, lambda h: cuda.memcpy_htod(h, b"x"), lambda h: h.as_buffer(1)):
        with pytest.raises(NotImplementedError, match="Without.get_pointer"):
            call(Without())
        with pytest.raises(TypeError):
            call(Holder("x"))
        with pytest.raises(TypeError):
            call(Holder(None))
    endless = Holder(None)
    endless.pointer = endless
    with pytest.raises(TypeError, match="without an address"):
        cuda.memcpy_htod(endless, b"x")
    endless.pointer = None

    class Failing(cuda.PointerHolderBase):
        def get_pointer(self):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cuda.memcpy_htod(Failing(), b"x")


def test_a_holder_in_a_cycle_is_collected():
    holder = Holder(0)
    holder.me = holder
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None


def test_what_counts_as_an_address(balance):
    memory = cuda.mem_alloc(8)

    class ByInterface:
        __cuda_array_interface__ = memory.__cuda_array_interface__

    class ByGpudata:
        gpudata = memory

    class ByPtr:
        ptr = int(memory)

    class ByIndex:
        def __index__(self):
            return int(memory)

    for way in (ByInterface(), ByGpudata(), ByPtr(), ByIndex(), np.uint64(int(memory))):
        cuda.memcpy_htod(way, b"12345678")
        assert read(way, 8) == b"12345678"
        with pytest.raises(cuda.LogicError, match="9 bytes end past the 8"):
            cuda.memcpy_htod(way, bytes(9))
    array = cuda.managed_zeros(8, np.uint8)
    cuda.memcpy_htod(array[4:], b"abcd")
    assert array.tobytes() == b"\0\0\0\0abcd"
    with pytest.raises(cuda.LogicError, match="5 bytes end past the 4"):
        cuda.memcpy_htod(array[4:], b"abcde")


@pytest.mark.parametrize("wrong", [None, 1.5, "x", b"x", [1], object(), np.zeros(1, np.int64)])
def test_what_does_not(wrong):
    with pytest.raises(TypeError, match="memcpy_htod: dest must be device memory"):
        cuda.memcpy_htod(wrong, b"x")


def test_broken_interfaces():
    class Broken:
        __cuda_array_interface__ = {"shape": (1,)}

    with pytest.raises(TypeError, match="no address"):
        cuda.memcpy_htod(Broken(), b"x")
    for wrong in (-1, 2**64):
        with pytest.raises(OverflowError):
            cuda.memcpy_htod(wrong, b"x")


# ---- in the order of a stream --------------------------------------------------------------------


def test_stream_ordered_memory(balance):
    stream = cuda.Stream()
    memory = cuda.mem_alloc_async(64, stream)
    assert memory.size == 64 and isinstance(memory, cuda.DeviceAllocation)
    out = np.empty(64, np.uint8)
    cuda.memset_d8_async(memory, 9, 64, stream)
    cuda.memcpy_dtoh_async(out, memory, stream)
    cuda.mem_free_async(memory)
    with pytest.raises(cuda.LogicError, match="freed"):
        cuda.memset_d8_async(memory, 9, 64, stream)
    with pytest.raises(cuda.LogicError, match="freed"):
        cuda.mem_free_async(memory)
    stream.synchronize()
    assert (out == 9).all()


def test_stream_ordered_memory_comes_back(balance):
    stream = cuda.Stream()
    _cuda._call_counts(reset=True)
    for n in range(20):
        memory = cuda.mem_alloc_async(8 << 20, stream)
        cuda.memset_d32_async(memory, n, 2 << 20, stream)
    del memory
    stream.synchronize()
    counts = _cuda._call_counts(reset=True)
    assert counts["cuMemAllocAsync"] == counts["cuMemFreeAsync"] == 20


def test_another_stream_comes_after_the_allocation_and_before_the_free(balance):
    first, second = (cuda.Stream(cuda.stream_flags.NON_BLOCKING) for _ in range(2))
    with Gate(first):
        memory = cuda.mem_alloc_async(16, first)
        done = cuda.Event()
        cuda.memset_d8_async(memory, 1, 16, second)
        done.record(second)
        assert not done.query()
    second.synchronize()
    out = cuda.pagelocked_zeros(16, np.uint8)
    with Gate(second) as gate:
        cuda.memcpy_dtoh_async(out, memory, second)
        cuda.mem_free_async(memory)
        freed = cuda.Event().record(first)
        assert not freed.query()
        gate.open()
        first.synchronize()
        assert (out == 1).all()


def test_stream_ordered_sizes_and_wrong_arguments(balance):
    assert cuda.mem_alloc_async(0).size == 0
    with pytest.raises(TypeError, match="stream"):
        cuda.mem_alloc_async(4, "x")
    with pytest.raises(TypeError, match="mem_alloc_async"):
        cuda.mem_alloc_async("4")
    with pytest.raises(TypeError, match="mem_alloc_async"):
        cuda.mem_free_async(cuda.mem_alloc(4))
    with pytest.raises(TypeError, match="mem_alloc_async"):
        cuda.mem_free_async(4)
    with pytest.raises(cuda.MemoryError, match="cuMemAllocAsync"):
        cuda.mem_alloc_async(1 << 60)


@pytest.mark.parametrize(
    "function, use",
    [
        ("cuMemAlloc", lambda: cuda.mem_alloc(4)),
        ("cuMemAllocPitch", lambda: cuda.mem_alloc_pitch(4, 4, 4)),
        ("cuMemGetInfo", cuda.mem_get_info),
        ("cuMemGetAddressRange", lambda: cuda.mem_get_address_range(cuda.mem_alloc(4))),
        ("cuMemAllocAsync", lambda: cuda.mem_alloc_async(4)),
    ],
)
@pytest.mark.parametrize("code, error", [(1, cuda.LogicError), (999, cuda.Error), (2, MemoryError)])
def test_failures_of_the_driver(balance, function, use, code, error):
    use()
    _cuda._fault(function, code, times=2)
    try:
        with pytest.raises(error, match=f"{function} failed"):
            use()
    finally:
        _cuda._fault(None, 0)


def test_memory_that_cannot_be_freed_is_not_a_crash():
    memory, ordered = cuda.mem_alloc(4), cuda.mem_alloc_async(4)
    _cuda._fault("cuMemFree", 1)
    try:
        del memory
    finally:
        _cuda._fault(None, 0)
    _cuda._fault("cuMemFreeAsync", 1)
    try:
        del ordered  # then it is freed the other way
    finally:
        _cuda._fault(None, 0)
