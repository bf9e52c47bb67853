"""Memory pools: bins and statistics against a model, reuse, lack of memory.

Bins are compared with the closed form in exact integers. The order between owners is in
test_pool_order.py.
"""

import gc
import io
import random
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import pygpu.cuda.driver as cuda
from pygpu import _cuda
from pygpu.cuda import tools

pytestmark = pytest.mark.usefixtures("context")

NON_BLOCKING = cuda.stream_flags.NON_BLOCKING


def bin_number(size: int, bits: int = 4) -> int:
    exponent = max(size.bit_length() - 1, 0)
    shifted = size >> (exponent - bits) if exponent >= bits else size << (bits - exponent)
    return exponent << bits | shifted & ((1 << bits) - 1)


def statistics(pool) -> tuple[int, int, int, int]:
    return pool.held_blocks, pool.active_blocks, pool.managed_bytes, pool.active_bytes


@pytest.fixture(params=["device", "host"])
def pool(request):
    made = cuda.DeviceMemoryPool() if request.param == "device" else cuda.PageLockedMemoryPool()
    yield made
    made.stop_holding()


def take(pool, size: int):
    if isinstance(pool, cuda.DeviceMemoryPool):
        return pool.allocate(size)
    return pool.allocate(size, np.uint8)


def address(memory) -> int:
    return memory.ctypes.data if isinstance(memory, np.ndarray) else int(memory)


# ---- bins ----------------------------------------------------------------------------------------


def test_bins(pool):
    sizes = [*range(300), *(2**e + d for e in range(8, 63) for d in (-1, 0, 1))]
    sizes += [random.Random(1).randrange(2**63) for _ in range(2000)]
    for size in sizes:
        number = pool.bin_number(size)
        assert number == bin_number(size)
        block = pool.alloc_size(number)
        assert block >= size and pool.bin_number(block) == number
        assert bin_number(block + 1) != number
        assert size < 32 or block - size <= size / 16
    for known in ((1000, 1023), (1024, 1087), (10**6, 1015807), (0, 1), (1, 1)):
        assert pool.alloc_size(pool.bin_number(known[0])) == known[1]


def test_bins_wrongly(pool):
    for call in (pool.bin_number, pool.alloc_size):
        with pytest.raises((ValueError, OverflowError)):
            call(-1)
        with pytest.raises(TypeError):
            call("1")
    with pytest.raises(ValueError, match="no bin"):
        pool.alloc_size(64 << 4)


def test_bitlog2():
    assert cuda.bitlog2(0) == 0
    for n in (1, 2, 3, 255, 256, 2**40, 2**62 + 1):
        assert cuda.bitlog2(n) == n.bit_length() - 1
    assert tools.bitlog2 is cuda.bitlog2
    for wrong in (-1, "x", None, 2**64):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            cuda.bitlog2(wrong)


# ---- reuse ---------------------------------------------------------------------------------------


def test_statistics_follow_a_model(balance, pool):
    rng = random.Random(7)
    active: list[tuple[object, int]] = []
    held: dict[int, int] = {}
    for step in range(600):
        if active and rng.random() < 0.5:
            size = active.pop(rng.randrange(len(active)))[1]
            held[bin_number(size)] = held.get(bin_number(size), 0) + 1
        else:
            size = rng.choice([0, 1, 17, 1000, 1010, 5000, rng.randrange(20000)])
            active.append((take(pool, size), size))
            number = bin_number(size)
            if held.get(number):
                held[number] -= 1
        if step % 97 == 0:
            pool.free_held()
            held.clear()
        managed = sum(pool.alloc_size(n) * count for n, count in held.items())
        managed += sum(pool.alloc_size(bin_number(size)) for _, size in active)
        assert statistics(pool) == (
            sum(held.values()),
            len(active),
            managed,
            sum(size for _, size in active),
        )
    active.clear()


def test_a_block_is_used_again(balance, pool):
    memory = take(pool, 1000)
    first = address(memory)
    del memory
    for size in (1000, 993, 1023):  # of one bin
        memory = take(pool, size)
        assert address(memory) == first
        del memory
    assert address(take(pool, 2000)) != first
    memory, other = take(pool, 1000), take(pool, 1000)
    assert address(other) != address(memory) == first


def test_what_a_pooled_allocation_is(balance):
    pool = cuda.DeviceMemoryPool()
    memory = pool.allocate(1000)
    assert isinstance(memory, cuda.PooledDeviceAllocation)
    assert len(memory) == memory.size == 1000
    assert repr(memory) == f"<PooledDeviceAllocation of 1000 bytes at {int(memory):#x}>"
    memory = pool.allocate(size=np.int64(996))
    assert len(memory) == 996
    cuda.memcpy_htod(memory, bytes(range(250)) * 3)
    assert (cuda.from_device(memory, 250, np.uint8) == np.arange(250)).all()
    with pytest.raises(cuda.LogicError, match="997 bytes end past the 996"):
        cuda.memcpy_htod(memory, bytes(997))
    assert memory.__cuda_array_interface__["shape"] == (996,)
    assert len(pool.allocate(0)) == 0 and not pool.allocate(0)


def test_what_a_pooled_array_is(balance):
    pool = cuda.PageLockedMemoryPool(cuda.PageLockedAllocator(cuda.host_alloc_flags.PORTABLE))
    a = pool.allocate((3, 5), np.float32, order="F")
    assert a.shape == (3, 5) and a.flags.f_contiguous and a.flags.writeable
    assert isinstance(a.base, cuda.PooledHostAllocation) and len(a.base) == 60
    a[...] = 4
    assert (cuda.from_device_like(cuda.to_device(a), a) == 4).all()
    assert pool.allocate((0, 3), np.int8).shape == (0, 3)
    for wrong in ((-1, np.int8), (3, "O"), (3, np.int8, "K"), ((2**40, 2**40), np.int8)):
        with pytest.raises((TypeError, ValueError), match=r"PageLockedMemoryPool\.allocate"):
            pool.allocate(*wrong)
    assert cuda.PageLockedAllocator().flags == 0
    for wrong in ("x", -1, 2**32):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            cuda.PageLockedAllocator(wrong)
    with pytest.raises(TypeError, match="allocator must be a PageLockedAllocator"):
        cuda.PageLockedMemoryPool(5)


def test_free(balance):
    pool = cuda.DeviceMemoryPool()
    memory = pool.allocate(100)
    first = int(memory)
    memory.free()
    assert statistics(pool)[:2] == (1, 0)
    other = pool.allocate(100)
    assert int(other) == first and repr(memory) == "<PooledDeviceAllocation freed>"
    for use in (
        memory.free,
        lambda: int(memory),
        lambda: cuda.memset_d8(memory, 0, 1),
        lambda: memory.bind_to_stream(),
        lambda: memory.as_buffer(1),
    ):
        with pytest.raises(cuda.LogicError, match="already freed"):
            use()
    assert statistics(pool)[:2] == (0, 1)
    del other


def test_free_of_host_memory(balance):
    pool = cuda.PageLockedMemoryPool()
    a = pool.allocate(100, np.uint8)
    view, first = a[50:], a.ctypes.data
    a.base.free()
    assert a.size == 0
    with pytest.raises(cuda.LogicError, match="already freed"):
        a.base.free()
    other = pool.allocate(100, np.uint8)  # not the one that the view still shows
    assert other.ctypes.data != first
    view[:] = 1
    del a, view
    assert pool.held_blocks == 1


def test_stop_holding(balance, pool):
    kept, dropped = take(pool, 100), take(pool, 200)
    del dropped
    pool.stop_holding()
    assert statistics(pool)[0] == 0 and pool.active_blocks == 1
    del kept
    assert statistics(pool) == (0, 0, 0, 0)
    again = take(pool, 100)
    assert pool.active_blocks == 1
    del again


def test_a_pool_lives_as_long_as_its_blocks(balance, pool):
    own = type(pool)()
    memory = take(own, 100)
    gone = weakref.ref(own)
    del own
    assert gone() is not None
    del memory
    assert gone() is None


def test_weak_references_do_not_see_the_next_owner(balance):
    pool = cuda.DeviceMemoryPool()
    memory = pool.allocate(100)
    ended = []
    gone = weakref.ref(memory, ended.append)
    del memory
    other = pool.allocate(100)
    assert gone() is None and ended == [gone]
    assert weakref.ref(other)() is other


def test_a_subclass(balance):
    class Counting(cuda.DeviceMemoryPool):
        def __init__(self, start: int, *, by: int = 1) -> None:
            super().__init__()
            self.count, self.by = start, by

        def allocate(self, size):
            self.count += self.by
            return super().allocate(size)

    pool = Counting(5, by=2)
    pool.last = pool.allocate(10)  # a cycle
    assert pool.count == 7
    gone = weakref.ref(pool)
    del pool
    gc.collect()
    assert gone() is None

    class Host(cuda.PageLockedMemoryPool):
        def __init__(self, more):
            super().__init__(cuda.PageLockedAllocator(1))
            self.more = more

    assert Host(3).allocate(3, np.int8).shape == (3,)
    with pytest.raises(TypeError):
        cuda.DeviceMemoryPool(5)


@pytest.mark.parametrize("wrong", [-1, "5", None, 2.0, 2**64])
def test_wrong_sizes(wrong):
    with pytest.raises(
        (TypeError, ValueError, OverflowError), match="DeviceMemoryPool.allocate: size"
    ):
        cuda.DeviceMemoryPool().allocate(wrong)


def test_trace(capsys, balance):
    pool = cuda.DeviceMemoryPool()
    pool.set_trace(True)
    memory = pool.allocate(1000)
    del memory
    memory = pool.allocate(1000)
    pool.set_trace(False)
    del memory
    pool.allocate(1000)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and "new block" in lines[0] and "held block" in lines[1]


def test_threads(balance, pool):
    failed = []

    def work(n: int) -> None:
        try:
            rng = random.Random(n)
            kept = []
            for _ in range(300):
                kept.append(take(pool, rng.randrange(3000)))
                if len(kept) > 5:
                    kept.pop(rng.randrange(len(kept)))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and pool.active_blocks == 0
    pool.free_held()
    assert statistics(pool) == (0, 0, 0, 0)


# ---- lack of memory ------------------------------------------------------------------------------


def test_no_room(balance, pool):
    with pytest.raises(cuda.MemoryError, match="asked for"):
        take(pool, 1 << 60)
    assert statistics(pool) == (0, 0, 0, 0)


def test_held_memory_is_given_up_for_others(balance):
    pool = cuda.DeviceMemoryPool()
    free = cuda.mem_get_info()[0]
    memory = pool.allocate(free // 2)
    del memory
    assert pool.held_blocks == 1
    other = cuda.mem_alloc(free // 4 * 3)
    assert pool.held_blocks == 0 and pool.managed_bytes == 0
    del other
    memory = pool.allocate(free // 2)
    del memory
    second = cuda.DeviceMemoryPool()
    assert second.allocate(free // 4 * 3).size and pool.held_blocks == 0


@pytest.mark.parametrize("function, make", [("cuMemAlloc", 0), ("cuMemHostAlloc", 1)])
def test_failures_of_the_driver(balance, function, make):
    pool = (cuda.DeviceMemoryPool, cuda.PageLockedMemoryPool)[make]()
    _cuda._fault(function, 1)
    try:
        with pytest.raises(cuda.LogicError, match=f"{function} failed"):
            take(pool, 10)
    finally:
        _cuda._fault(None, 0)
    assert statistics(pool) == (0, 0, 0, 0)
    take(pool, 10)


# ---- DebugMemoryPool, exit -----------------------------------------------------------------------


def test_debug_pool(balance):
    log = io.StringIO()
    pool = tools.DebugMemoryPool(interactive=False, logfile=log)
    assert isinstance(pool, tools.DeviceMemoryPool)
    memory = pool.allocate(1000)
    other = pool.allocate(3000)
    text = log.getvalue()
    assert "Allocation of size 1000" in text and "Allocation of size 3000" in text
    assert "test_debug_pool" in text and "(1000 bytes): 1x" in text
    del memory
    pool.allocate(10)
    assert "(1000 bytes)" not in log.getvalue()[len(text) :]
    del other


def test_debug_pool_that_asks(balance, monkeypatch, capsys):
    answers = iter(["", "my place", "", ""])
    monkeypatch.setattr("builtins.input", lambda prompt="": next(answers))
    pool = tools.DebugMemoryPool(logfile=sys.stderr)
    for _ in range(2):
        pool.allocate(100)
    assert capsys.readouterr().err.count("at: my place") == 2


@pytest.mark.parametrize("way", ["pool", "block", "cycle", "thread", "stream", "host"])
def test_memory_that_is_left_at_exit(way):
    program = f"""
import threading, sys
import numpy as np
import pygpu.cuda.driver as cuda
pool, host = cuda.DeviceMemoryPool(), cuda.PageLockedMemoryPool()
way = {way!r}
held = pool.allocate(100)
stream = cuda.Stream()
cuda.memset_d8_async(held, 1, 100, stream)
kept, array = pool.allocate(200), host.allocate(100, np.int8)
if way != "block":
    del held
if way == "cycle":
    kept_list = [kept, pool, array]
    kept_list.append(kept_list)
    sys.modules["kept"] = kept_list
if way == "thread":
    def hold():
        kept = pool.allocate(50)
        threading.Event().wait()
    threading.Thread(target=hold, daemon=True).start()
if way == "stream":
    cuda.memcpy_htod_async(kept, np.zeros(200, np.int8), stream)
if way == "host":
    del pool, kept
print("end")
"""
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")
