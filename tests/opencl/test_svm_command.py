"""Shared virtual memory: mapping, copies, fills, migration, and failures of the driver.

Contents are compared with NumPy.
"""

from __future__ import annotations

import signal
import threading
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from opencl.memory_helpers import (
    COARSE,
    allocations,
    allocations_at_rest,
    becomes,
    filled,
    read,
)

import pygpu as cl
from pygpu import _opencl

pytestmark = pytest.mark.usefixtures("needs_svm", "svm_freed")

SOURCE = """
kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }
kernel void copy(global const int *a, global int *b) { b[get_global_id(0)] = a[get_global_id(0)]; }
"""


@pytest.fixture(scope="module")
def prg(ctx: cl.Context) -> cl.Program:
    return cl.Program(ctx, SOURCE).build()


# ---- mapping ----------------------------------------------------------------------------


def test_map_run_map(ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program) -> None:
    values = np.random.default_rng(1).integers(-1000, 1000, (6, 7), np.int32)
    svm = cl.SVM(cl.csvm_empty(ctx, (6, 7), np.int32))
    with svm.map_rw(queue) as array:
        assert array is svm.mem
        array[...] = values
    cl.Kernel(prg, "add")(queue, (42,), None, svm, np.int32(11))
    mapped = svm.map_ro(queue)
    assert (mapped.svm, mapped.queue) == (svm, queue) and isinstance(mapped.event, cl.Event)
    assert np.array_equal(mapped.array, values + 11)
    assert mapped.event.command_type == cl.command_type.SVM_MAP
    event = mapped.release()
    assert event.command_type == cl.command_type.SVM_UNMAP and mapped.svm is None
    with pytest.raises(cl.LogicError, match="already released"):
        mapped.release()


def test_map_of_an_allocation_is_bytes(ctx: cl.Context, queue: cl.CommandQueue) -> None:
    allocation = cl.SVMAllocation(ctx, 16, 0, COARSE)
    with allocation.map(queue, flags=cl.map_flags.WRITE_INVALIDATE_REGION) as array:
        array[...] = range(16)
    with allocation.map_ro(queue, size=5) as array:
        assert array.dtype == np.uint8 and array.tolist() == [0, 1, 2, 3, 4]
    with cl.SVM(np.asarray(allocation).view(np.int32)).map(
        queue, cl.map_flags.READ, size=8
    ) as array:
        assert array.tolist() == list(range(8))


def test_a_dropped_map_is_unmapped(ctx: cl.Context, queue: cl.CommandQueue) -> None:
    svm = cl.SVM(cl.csvm_empty(ctx, 4, np.int32))
    _opencl._call_counts(True)
    for _ in range(3):
        svm.map_rw(queue)
    with svm.map_rw(queue):
        pass
    inside = svm.map_rw(queue)
    with inside:
        inside.release()
    counts = _opencl._call_counts()
    assert counts["clEnqueueSVMMap"] == counts["clEnqueueSVMUnmap"] == 5


def test_map_waits_for_events(ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program) -> None:
    svm, gate, other = (
        filled(ctx, queue, np.zeros(4, np.int32)),
        cl.UserEvent(ctx),
        cl.CommandQueue(ctx),
    )
    done = cl.Kernel(prg, "add")(other, (4,), None, svm, np.int32(1), wait_for=[gate])
    mapped = svm.map_ro(queue, is_blocking=False, wait_for=[done])
    assert mapped.event.command_execution_status != cl.command_execution_status.COMPLETE
    gate.set_status(0)
    mapped.event.wait()
    assert mapped.array.tolist() == [1, 1, 1, 1]
    mapped.release(other, wait_for=[done]).wait()


@pytest.mark.parametrize(
    "flags", [0, 8, cl.map_flags.READ | cl.map_flags.WRITE_INVALIDATE_REGION, -1, "r"]
)
def test_wrong_map_flags(ctx: cl.Context, queue: cl.CommandQueue, flags: object) -> None:
    with pytest.raises((ValueError, OverflowError, TypeError)):
        cl.SVM(cl.csvm_empty(ctx, 4, np.int32)).map(queue, flags=flags)


@pytest.mark.parametrize("size", [17, -1, 2**63])
def test_map_past_the_end(ctx: cl.Context, queue: cl.CommandQueue, size: int) -> None:
    with pytest.raises((ValueError, OverflowError)):
        cl.SVMAllocation(ctx, 16, 0, COARSE).map_ro(queue, size=size)


def test_as_buffer(ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program) -> None:
    svm = filled(ctx, queue, np.arange(8, dtype=np.int32))
    buffer = svm.as_buffer(ctx)
    assert (buffer.size, buffer.flags) == (32, cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR)
    assert svm.as_buffer(ctx, flags=cl.mem_flags.READ_ONLY, size=8).size == 8
    cl.Kernel(prg, "add")(queue, (8,), None, buffer, np.int32(3))
    assert np.array_equal(read(queue, buffer), np.arange(8) + 3)
    with pytest.raises(ValueError):
        svm.as_buffer(ctx, size=33)
    before = allocations_at_rest()
    del svm
    assert allocations() == before, "the buffer lost its memory"


# ---- commands ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 7, 4096, 300_001])
def test_copies(ctx: cl.Context, queue: cl.CommandQueue, n: int) -> None:
    values = np.random.default_rng(n).integers(0, 256, n).astype(np.uint8)
    one, two = (cl.SVM(cl.csvm_empty(ctx, n, np.uint8)) for _ in range(2))
    event = cl.enqueue_copy(queue, one, values)
    assert event.command_type == cl.command_type.SVM_MEMCPY and event.command_execution_status == 0
    cl.enqueue_copy(queue, two, one)
    back = np.zeros(n, np.uint8)
    cl.enqueue_copy(queue, back, two)
    assert np.array_equal(back, values)


def test_host_side_of_a_copy(ctx: cl.Context, queue: cl.CommandQueue) -> None:
    svm = filled(ctx, queue, np.zeros(4, np.uint8))
    cl.enqueue_copy(queue, svm, b"wxyz")
    target = bytearray(4)
    cl.enqueue_copy(queue, target, svm)
    assert target == b"wxyz"
    constant = np.zeros(4, np.uint8)
    constant.flags.writeable = False
    for wrong, error in (
        (b"wxyz", BufferError),
        (constant, ValueError),
        (np.zeros(8, np.uint8)[::2], ValueError),
    ):
        with pytest.raises(error):
            cl.enqueue_copy(queue, wrong, svm)
    with pytest.raises(TypeError):
        cl.enqueue_copy(queue, svm, np.array([None]))
    with pytest.raises(TypeError):
        cl.enqueue_copy(queue, svm, constant, src_offset=1)
    assert target == b"wxyz"


@pytest.mark.parametrize("blocking", [True, False])
def test_copy_between_host_arrays(queue: cl.CommandQueue, blocking: bool) -> None:
    """OpenCL allows host memory on both sides, so a tag is enough."""
    a, b = np.zeros(8), np.arange(8.0)
    cl.enqueue_copy(queue, cl.SVM(a), b, is_blocking=blocking).wait()
    assert np.array_equal(a, b)
    cl.enqueue_copy(queue, a, cl.SVM(b[::-1].copy()), is_blocking=blocking).wait()
    assert np.array_equal(a, b[::-1])
    with pytest.raises(TypeError, match="enqueue_copy"):
        cl.enqueue_copy(queue, a, b)


def test_sizes_of_a_copy(ctx: cl.Context, queue: cl.CommandQueue) -> None:
    svm = filled(ctx, queue, np.arange(8, dtype=np.uint8))
    short = np.full(12, 99, np.uint8)
    with pytest.raises(ValueError, match="byte_count"):
        cl.enqueue_copy(queue, short, svm)
    cl.enqueue_copy(queue, short, svm, byte_count=3)
    assert short[:5].tolist() == [0, 1, 2, 99, 99]
    cl.enqueue_copy(queue, short, svm, byte_count=0)
    for wrong in (9, -1, 2**64):
        with pytest.raises((ValueError, OverflowError)):
            cl.enqueue_copy(queue, short, svm, byte_count=wrong)
    with pytest.raises(cl.RuntimeError, match="MEM_COPY_OVERLAP"):
        cl.enqueue_copy(queue, svm, svm)
    with pytest.raises(cl.RuntimeError, match="MEM_COPY_OVERLAP"):
        cl.enqueue_copy(queue, cl.SVM(svm.mem[:5]), cl.SVM(svm.mem[3:]))
    cl.enqueue_copy(queue, cl.SVM(svm.mem[:4]), cl.SVM(svm.mem[4:]))
    assert read(queue, svm, np.uint8).tolist() == [4, 5, 6, 7, 4, 5, 6, 7]


def test_host_memory_of_a_pending_copy_stays(ctx: cl.Context, queue: cl.CommandQueue) -> None:
    svm, gate = filled(ctx, queue, np.zeros(1000, np.int32)), cl.UserEvent(ctx)
    source = np.arange(1000, dtype=np.int32)
    alive = weakref.ref(source)
    event = cl.enqueue_copy(queue, svm, source, is_blocking=False, wait_for=[gate])
    del source
    others = [np.full(1000, -1, np.int32) for _ in range(50)]
    assert alive() is not None
    gate.set_status(0)
    event.wait()
    assert np.array_equal(read(queue, svm), np.arange(1000))
    assert becomes(lambda: alive() is None)
    assert len(others) == 50


def test_a_blocking_copy_lets_other_threads_run(ctx: cl.Context, queue: cl.CommandQueue) -> None:
    svm, gate = filled(ctx, queue, np.zeros(4, np.int32)), cl.UserEvent(ctx)
    timer = threading.Timer(0.1, gate.set_status, (0,))  # would never run with the GIL kept
    timer.start()
    cl.enqueue_copy(queue, np.zeros(4, np.int32), svm, wait_for=[gate])
    timer.join()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timers")
@pytest.mark.parametrize("call", ["copy", "map"])
def test_ctrl_c_ends_the_wait(ctx: cl.Context, queue: cl.CommandQueue, call: str) -> None:
    svm, gate, host = (
        filled(ctx, queue, np.arange(4, dtype=np.int32)),
        cl.UserEvent(ctx),
        np.zeros(4, np.int32),
    )

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            if call == "copy":
                cl.enqueue_copy(queue, host, svm, wait_for=[gate])
            else:
                svm.map_ro(queue, wait_for=[gate])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    gate.set_status(0)
    queue.finish()
    assert call == "map" or host.tolist() == [0, 1, 2, 3], "the copy goes on"


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16, 32, 64, 128])
def test_fill(ctx: cl.Context, queue: cl.CommandQueue, length: int) -> None:
    pattern = np.random.default_rng(length).integers(0, 256, length).astype(np.uint8)
    svm = filled(ctx, queue, np.zeros(512, np.uint8))
    event = cl.enqueue_svm_memfill(queue, svm, pattern, byte_count=length * 3)
    assert event.command_type == cl.command_type.SVM_MEMFILL
    expected = np.zeros(512, np.uint8)
    expected[: length * 3] = np.tile(pattern, 3)
    assert np.array_equal(read(queue, svm, np.uint8), expected)
    cl.enqueue_svm_memfill(queue, svm.mem, pattern.tobytes())
    assert np.array_equal(read(queue, svm, np.uint8), np.tile(pattern, 512 // length))


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        (b"", 8),
        (b"abc", 9),
        (bytes(256), 256),
        (np.int32(1), 6),
        (np.int32(1), 516),
        (np.int32(1), -4),
        (np.int32(1), 2**64 - 4),
    ],
)
def test_wrong_fills(ctx: cl.Context, queue: cl.CommandQueue, pattern: object, count: int) -> None:
    svm = filled(ctx, queue, np.arange(512).astype(np.uint8))
    with pytest.raises((ValueError, OverflowError)):
        cl.enqueue_svm_memfill(queue, svm, pattern, count)
    with pytest.raises(ValueError, match="address"):
        cl.enqueue_svm_memfill(queue, cl.SVM(svm.mem[1:9]), np.int64(1))
    with pytest.raises(TypeError):
        cl.enqueue_svm_memfill(queue, svm, 1)
    cl.enqueue_svm_memfill(queue, svm, b"a", 0)
    assert np.array_equal(read(queue, svm, np.uint8), np.arange(512).astype(np.uint8))


def test_migrate(device: cl.Device, ctx: cl.Context, queue: cl.CommandQueue) -> None:
    one, two = (filled(ctx, queue, np.arange(n, dtype=np.int32)) for n in (5, 6))
    if "OpenCL 2.0" in device.version:
        with pytest.raises(cl.LogicError, match="2.1"):
            cl.enqueue_svm_migrate_mem(queue, [one])
        return
    event = cl.enqueue_svm_migrate_mem(queue, [one, two], cl.mem_migration_flags.HOST)
    assert event.command_type == cl.command_type.SVM_MIGRATE_MEM
    cl.enqueue_svm_migratemem(queue, (one.mem, two), 0, wait_for=[event])
    cl.enqueue_svm_migrate_mem(queue, [])
    assert np.array_equal(read(queue, one), np.arange(5)) and np.array_equal(
        read(queue, two), np.arange(6)
    )
    with pytest.raises(ValueError, match="mem_migration_flags"):
        cl.enqueue_svm_migrate_mem(queue, [one], 4)
    for wrong in (one, 5, [np.arange(3)[::2]], [None]):
        with pytest.raises((TypeError, ValueError)):
            cl.enqueue_svm_migrate_mem(queue, wrong)


def test_fine_grained_memory_needs_no_map(
    ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program, fine: None
) -> None:
    array = cl.fsvm_empty(ctx, 100, np.int32)
    array[:] = np.arange(100)
    cl.Kernel(prg, "add")(queue, (100,), None, cl.SVM(array), np.int32(-7))
    queue.finish()
    assert np.array_equal(array, np.arange(100) - 7)


# ---- failures of the driver -------------------------------------------------------------


@pytest.mark.parametrize(
    "routine",
    [
        "clEnqueueSVMMap",
        "clEnqueueSVMUnmap",
        "clEnqueueSVMMemcpy",
        "clEnqueueSVMMemFill",
        "clEnqueueSVMMigrateMem",
        "clEnqueueSVMFree",
    ],
)
def test_failing_commands(
    ctx: cl.Context, queue: cl.CommandQueue, fault: Callable, routine: str
) -> None:
    svm = filled(ctx, queue, np.arange(4, dtype=np.int32))
    mapped = svm.map_rw(queue) if routine == "clEnqueueSVMUnmap" else None
    allocation = cl.SVMAllocation(ctx, 16, 0, COARSE)
    call = {
        "clEnqueueSVMMap": lambda: svm.map_rw(queue),
        "clEnqueueSVMUnmap": lambda: mapped.release(),
        "clEnqueueSVMMemcpy": lambda: cl.enqueue_copy(queue, svm, np.zeros(4, np.int32)),
        "clEnqueueSVMMemFill": lambda: cl.enqueue_svm_memfill(queue, svm, b"a"),
        "clEnqueueSVMMigrateMem": lambda: cl.enqueue_svm_migrate_mem(queue, [svm]),
        "clEnqueueSVMFree": lambda: allocation.enqueue_release(queue),
    }[routine]
    fault(routine, -30)
    with pytest.raises(cl.LogicError, match=f"{routine} failed: INVALID_VALUE"):
        call()
    assert _opencl._fault_hits() == 1
    fault(None, 0)
    if mapped is not None:
        mapped.release()
    assert allocation.svm_ptr, "still there"
    assert read(queue, svm).tolist() == [0, 1, 2, 3]


def test_lack_of_memory_is_tried_twice(ctx: cl.Context, fault: Callable) -> None:
    fault("clSVMAlloc", -4)
    assert cl.csvm_empty(ctx, 4, np.int32).size == 4
    assert _opencl._fault_hits() == 1
    fault("clSVMAlloc", -4, times=2)
    with pytest.raises(cl.MemoryError, match="16 bytes"):
        cl.csvm_empty(ctx, 4, np.int32)


@pytest.mark.parametrize("routine", ["clEnqueueMarkerWithWaitList", "clSetEventCallback"])
def test_memory_is_freed_even_if_the_driver_refuses(
    ctx: cl.Context, prg: cl.Program, fault: Callable, routine: str
) -> None:
    before, queue = allocations_at_rest(), cl.CommandQueue(ctx)
    cl.Kernel(prg, "add")(
        queue, (16,), None, svm := filled(ctx, queue, np.arange(16, dtype=np.int32)), np.int32(1)
    )
    fault(routine, -5)
    del svm
    fault(None, 0)
    queue.finish()
    assert becomes(lambda: allocations() <= before)
