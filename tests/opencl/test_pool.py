"""Memory pools and allocators: bins, statistics, reuse, lack of memory.

Bins are compared with the closed form in exact integers; statistics with a model of the pool in
Python. The order between owners is in test_pool_order.py.
"""

from __future__ import annotations

import functools
import gc
import random
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from opencl.memory_helpers import (
    address,
    becomes,
    make_pool,
)

import pygpu as cl
from pygpu import _opencl, tools

pytestmark = pytest.mark.usefixtures("nothing_left")

SOURCE = """
kernel void set(global int *a, int n) { a[get_global_id(0)] = n; }
kernel void put(global int *a, global int *b) { b[get_global_id(0)] = a[get_global_id(0)]; }
"""
KINDS = ("buffer", "svm")


@pytest.fixture(scope="module")
def prg(ctx: cl.Context) -> cl.Program:
    return cl.Program(ctx, SOURCE).build()


def statistics(pool: tools.MemoryPool | tools.SVMPool) -> tuple[int, int, int, int]:
    return pool.held_blocks, pool.active_blocks, pool.managed_bytes, pool.active_bytes


# ---- bins -------------------------------------------------------------------------------


def closed_form(size: int, bits: int) -> tuple[int, int]:
    """(bin, block size): the highest bit and *bits* more, and the largest size that shares them."""
    exponent = max(size.bit_length() - 1, 0)
    first = size * 2**bits // 2**exponent
    largest = ((first | 1 << bits) + 1) * 2**exponent - 1  # in units of 2**-bits
    return exponent << bits | first % 2**bits, max(largest // 2**bits, 1)


@pytest.mark.parametrize("bits", [0, 1, 2, 4, 7, 12])
def test_bins(ctx: cl.Context, queue: cl.CommandQueue, bits: int) -> None:
    pool, rng = make_pool("buffer", ctx, queue, bits), random.Random(bits)
    sizes = [
        *range(5000),
        *(2**k + d for k in range(13, 63) for d in (-1, 0, 1)),
        *(rng.getrandbits(rng.randrange(1, 63)) for _ in range(5000)),
    ]
    for size in sizes:
        number, block = closed_form(size, bits)
        assert pool.bin_number(size) == number, size
        assert pool.alloc_size(number) == block, size
        assert block >= size
        assert block <= max(size * (1 + 2**-bits), 1), "more waste than promised"


@pytest.mark.parametrize(
    ("size", "block"),
    [(0, 1), (1, 1), (31, 31), (32, 33), (1000, 1023), (1024, 1087), (10**6, 1015807)],
)
def test_sizes_that_programs_know(
    ctx: cl.Context, queue: cl.CommandQueue, size: int, block: int
) -> None:
    pool = make_pool("buffer", ctx, queue)
    assert pool.alloc_size(pool.bin_number(size)) == block
    assert pool.allocate(size).size == block


@pytest.mark.parametrize("bits", [-1, 13, 64, 2**70, 1.5, None])
def test_wrong_bits(ctx: cl.Context, queue: cl.CommandQueue, bits: object) -> None:
    with pytest.raises((ValueError, OverflowError, TypeError)):
        tools.MemoryPool(tools.ImmediateAllocator(queue), bits)


def test_wrong_bins(pool: tools.MemoryPool) -> None:
    for call, value in (
        (pool.bin_number, -1),
        (pool.bin_number, 2**63),
        (pool.alloc_size, 64 << 4),
        (pool.alloc_size, -1),
        (pool.alloc_size, "1"),
    ):
        with pytest.raises((ValueError, OverflowError, TypeError)):
            call(value)


# ---- statistics and reuse ---------------------------------------------------------------


def test_a_block_comes_back(pool: tools.MemoryPool) -> None:
    first = pool.allocate(1000)
    assert statistics(pool) == (0, 1, 1023, 1000)
    where = address(first)
    del first
    assert statistics(pool) == (1, 0, 1023, 0)
    second = pool(1010)  # the same bin
    assert address(second) == where and statistics(pool) == (0, 1, 1023, 1010)
    third, fourth = pool(size=1010), pool.allocate(size=2000)
    assert len({address(m) for m in (second, third, fourth)}) == 3
    assert statistics(pool) == (0, 3, 1023 * 2 + 2047, 1010 * 2 + 2000)
    second.release()
    assert statistics(pool) == (1, 2, 1023 * 2 + 2047, 1010 + 2000)
    pool.free_held()
    assert statistics(pool) == (0, 2, 1023 + 2047, 1010 + 2000)
    pool.stop_holding()
    del third
    assert statistics(pool) == (0, 1, 2047, 2000)
    fourth.release()
    assert statistics(pool) == (0, 0, 0, 0)
    assert statistics(pool) == (0, 0, 0, 0) and pool(5) is not None


@pytest.mark.parametrize("seed", range(3))
def test_statistics_against_a_model(pool: tools.MemoryPool, seed: int) -> None:
    rng, held, active = random.Random(seed), [], []
    for step in range(2000):
        if active and rng.random() < 0.5:
            size, memory = active.pop(rng.randrange(len(active)))
            held.append(closed_form(size, 4)[1])
            if rng.random() < 0.3:
                memory.release()
            del memory
        elif rng.random() < 0.01:
            pool.free_held()
            held.clear()
        else:
            size = rng.randrange(2 ** rng.randrange(1, 14))
            active.append((size, pool.allocate(size)))
            block = closed_form(size, 4)[1]
            if block in held:
                held.remove(block)
        if step % 50 == 0:
            sizes = [size for size, _ in active]
            managed = sum(held) + sum(closed_form(size, 4)[1] for size in sizes)
            assert statistics(pool) == (len(held), len(active), managed, sum(sizes))
    assert len({address(memory) for _, memory in active}) == len(active), "one block, two owners"


def test_no_bytes(ctx: cl.Context, queue: cl.CommandQueue, pool: tools.MemoryPool) -> None:
    nothing = pool.allocate(0)
    assert address(nothing) and statistics(pool) == (0, 1, 1, 0)
    assert tools.ImmediateAllocator(queue)(0) is None and tools.DeferredAllocator(ctx)(0) is None


def test_objects_are_fresh(pool: tools.MemoryPool) -> None:
    """The next owner sees nothing of the attributes and weak references of the one before."""
    first = pool.allocate(100)
    first.name = "first"
    gone: list[object] = []
    reference = weakref.ref(first, gone.append)
    del first
    assert reference() is None and gone == [reference]
    second = pool.allocate(100)
    assert not hasattr(second, "name") and weakref.getweakrefcount(second) == 0
    assert gc.is_tracked(second)
    second.loop = second
    alive = weakref.ref(second)
    del second
    assert pool.active_blocks == 1
    gc.collect()
    assert alive() is None and statistics(pool)[:2] == (1, 0)


def test_release(pool: tools.MemoryPool) -> None:
    memory = pool.allocate(100)
    memory.release()
    assert statistics(pool)[:2] == (1, 0)
    for call in (memory.release, functools.partial(address, memory)):
        with pytest.raises(cl.LogicError, match="released"):
            call()
    other = pool.allocate(100)
    assert statistics(pool)[:2] == (0, 1)
    del memory, call
    assert statistics(pool)[:2] == (0, 1), "a released object gave its block back once more"
    assert address(other)


def test_a_handle_of_another_library(ctx: cl.Context, queue: cl.CommandQueue) -> None:
    """It belongs to no pool."""
    buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 64)
    for release in (True, False):
        memory = tools.PooledBuffer.from_int_ptr(buffer.int_ptr)
        assert memory.size == 64 and memory == cl.Buffer.from_int_ptr(buffer.int_ptr)
        memory.bind_to_queue(queue)
        cl.enqueue_fill(queue, memory, np.int32(1), 64).wait()
        if release:
            memory.release()
            with pytest.raises(cl.LogicError, match="released"):
                memory.release()
    del memory
    assert becomes(lambda: buffer.reference_count == 1)


def test_use_after_release(
    ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program, pool: tools.MemoryPool
) -> None:
    memory, host = pool.allocate(16), np.zeros(4, np.int32)
    kernel = cl.Kernel(prg, "set")
    kernel(queue, (4,), None, memory, np.int32(1))
    memory.release()
    for call in (
        lambda: cl.enqueue_copy(queue, host, memory),
        lambda: cl.enqueue_copy(queue, memory, host),
        lambda: cl.enqueue_fill(queue, memory, np.int32(0), 16),
        lambda: kernel(queue, (4,), None, memory, np.int32(1)),
        lambda: cl.enqueue_nd_range_kernel(queue, kernel, (4,), None),
        lambda: memory.bind_to_queue(queue),
    ):
        with pytest.raises(cl.LogicError, match="released"):
            call()


def test_memory_outlives_its_pool(
    ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program, pool: tools.MemoryPool
) -> None:
    memory = pool.allocate(64)
    del pool
    gc.collect()
    cl.Kernel(prg, "set")(queue, (16,), None, memory, np.int32(7))
    host = np.zeros(memory.size, np.uint8)
    cl.enqueue_copy(queue, host, memory)
    assert np.array_equal(host[:64].view(np.int32), np.full(16, 7))


@pytest.mark.parametrize("size", [-1, 1.5, "5", None, 2**63, 2**62])
def test_wrong_sizes(pool: tools.MemoryPool, size: object) -> None:
    before = statistics(pool)
    with pytest.raises((ValueError, TypeError, OverflowError, cl.Error)):
        pool.allocate(size)
    with pytest.raises((ValueError, TypeError, OverflowError, cl.Error)):
        pool(size)
    assert statistics(pool) == before
    assert pool.allocate(np.int64(5)) is not None


def test_what_pools_and_allocators_are_made_of(
    device: cl.Device, ctx: cl.Context, queue: cl.CommandQueue
) -> None:
    immediate, deferred = (
        tools.ImmediateAllocator(queue),
        tools.DeferredAllocator(ctx, cl.mem_flags.READ_ONLY),
    )
    assert isinstance(immediate, tools.AllocatorBase) and isinstance(deferred, tools.AllocatorBase)
    for allocator, flags in (
        (immediate, cl.mem_flags.READ_WRITE),
        (deferred, cl.mem_flags.READ_ONLY),
    ):
        buffer = allocator(10)
        assert type(buffer) is cl.Buffer and (buffer.size, buffer.flags) == (10, flags)
        assert (
            tools.MemoryPool(allocator=allocator, leading_bits_in_bin_id=3).allocate(10).flags
            == flags
        )
    for wrong in (
        lambda: tools.AllocatorBase(),
        lambda: tools.PooledBuffer(),
        lambda: tools.PooledSVM(),
        lambda: tools.MemoryPool(lambda n: None),
        lambda: tools.MemoryPool(ctx),
        lambda: tools.SVMPool(immediate),
        lambda: tools.ImmediateAllocator(ctx),
        lambda: tools.DeferredAllocator(queue),
        lambda: immediate(None),
    ):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="host memory"):
        tools.DeferredAllocator(ctx, cl.mem_flags.COPY_HOST_PTR)
    with pytest.raises(ValueError):
        immediate(-1)


def test_svm_allocator(device: cl.Device, ctx: cl.Context, queue: cl.CommandQueue) -> None:
    if not device.svm_capabilities:
        pytest.skip(f"{device.name} has no shared virtual memory")
    allocator = tools.SVMAllocator(ctx, alignment=64, queue=queue)
    allocation = allocator(100)
    assert (
        type(allocation) is cl.SVMAllocation
        and allocation.size == 100
        and allocation._queue is queue
    )
    assert allocation.svm_ptr % 64 == 0
    pooled = tools.SVMPool(allocator)(100)
    assert pooled.size == 100 and pooled._queue is queue and pooled.svm_ptr % 64 == 0
    assert pooled.buf.shape == (100,)
    with pytest.raises(ValueError):
        tools.SVMAllocator(ctx, alignment=3)
    with pytest.raises(TypeError):
        tools.MemoryPool(allocator)
    with pytest.raises(cl.LogicError, match="context"):
        tools.SVMAllocator(cl.Context([device]), queue=queue)


def test_pooled_svm_under_an_array_stays(pool: tools.MemoryPool, queue: cl.CommandQueue) -> None:
    if isinstance(pool, tools.MemoryPool):
        pytest.skip("buffers have no arrays over them")
    memory = pool(16)
    with memory.map_rw(queue) as array:
        array[...] = range(16)
    memory.release()
    assert statistics(pool)[:2] == (0, 1), "handed back with an array over it"
    assert array.tolist() == list(range(16))
    del array, memory
    assert statistics(pool)[:2] == (1, 0)


def test_subclass(ctx: cl.Context, queue: cl.CommandQueue) -> None:
    class Pool(tools.MemoryPool):
        extra = 1

    pool = Pool(tools.ImmediateAllocator(queue))
    pool.attribute = 2
    memory = [pool(10), pool.allocate(10)]
    assert [m.size for m in memory] == [10, 10]
    memory.clear()
    assert statistics(pool)[:2] == (2, 0)
    with pytest.raises(AttributeError):
        pool.held_blocks = 5


def test_trace(pool: tools.MemoryPool, capsys: pytest.CaptureFixture) -> None:
    pool.set_trace(True)
    del (memory := {"m": pool(100)})["m"]
    pool(100)
    pool._set_trace(False)
    pool(100)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and "new block" in lines[0] and "held block" in lines[1]
    assert memory == {}


# ---- lack of memory ---------------------------------------------------------------------


def allocating_call(pool: tools.MemoryPool) -> str:
    return "clSVMAlloc" if isinstance(pool, tools.SVMPool) else "clCreateBuffer"


def test_held_blocks_are_freed_for_others(
    ctx: cl.Context, queue: cl.CommandQueue, pool: tools.MemoryPool, fault: Callable
) -> None:
    other = tools.MemoryPool(tools.DeferredAllocator(ctx))
    for size in (10, 100, 1000):
        pool(size)
        other(size)
    kept = other(5000)
    fault(allocating_call(pool), -4)
    memory = pool(70000)
    assert _opencl._fault_hits() == 1 and address(memory)
    assert statistics(pool) == (0, 1, closed_form(70000, 4)[1], 70000)
    assert statistics(other)[:2] == (0, 1) and kept.size >= 5000
    other(10)
    fault("clCreateBuffer", -4)
    cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 4)
    assert other.held_blocks == 0, "an ordinary buffer does not get the memory that pools hold"


def test_no_memory_at_all(pool: tools.MemoryPool, fault: Callable) -> None:
    pool(100)
    fault(allocating_call(pool), -4, times=1000)
    with pytest.raises(cl.MemoryError, match=allocating_call(pool)):
        pool(70000)
    fault(None, 0)
    assert statistics(pool) == (0, 0, 0, 0)
    assert address(pool(70000))


def test_an_allocator_that_cannot_commit(queue: cl.CommandQueue, fault: Callable) -> None:
    pool, routine = tools.MemoryPool(tools.ImmediateAllocator(queue)), "clEnqueueMigrateMemObjects"
    fault(routine, -4)
    assert pool(100).size and _opencl._fault_hits() == 1
    pool.free_held()
    for code, error in ((-4, cl.MemoryError), (-30, cl.LogicError)):
        fault(routine, code, times=1000)
        with pytest.raises(error, match=routine):
            pool(100)
        assert statistics(pool) == (0, 0, 0, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_names_the_size_that_was_asked_for(ctx, queue, kind):
    """And not that of the bin, which is larger."""
    pool, size = make_pool(kind, ctx, queue), 2**50 + 5
    with pytest.raises(cl.Error, match=rf"asked for {size} bytes\b"):
        pool.allocate(size)
