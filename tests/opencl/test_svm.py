"""Shared virtual memory: allocation, tags, wrong objects, and when the memory is freed.

That memory is freed, and not too early, is read from the count of live allocations. Mapping and
commands are in test_svm_command.py.
"""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from opencl.memory_helpers import (
    COARSE,
    FINE,
    allocations,
    allocations_at_rest,
    becomes,
    filled,
    read,
)

import pygpu as cl
from pygpu import _opencl, tools

pytestmark = pytest.mark.usefixtures("needs_svm", "svm_freed")

SOURCE = """
kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }
kernel void copy(global const int *a, global int *b) { b[get_global_id(0)] = a[get_global_id(0)]; }
"""


@pytest.fixture(scope="module")
def prg(ctx: cl.Context) -> cl.Program:
    return cl.Program(ctx, SOURCE).build()


# ---- allocation -------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), 5, (0,), (3, 4), (2, 1, 3), np.int64(7), [4, 2]])
@pytest.mark.parametrize(
    "dtype", [np.float32, np.complex128, "S3", [("a", "i1"), ("b", "f8")], bool]
)
def test_empty_has_the_layout_of_numpy(
    ctx: cl.Context, shape: object, dtype: object, order: str
) -> None:
    array = cl.svm_empty(ctx, COARSE, shape, dtype, order)
    model = np.empty(shape, dtype, order)
    assert (array.shape, array.dtype) == (model.shape, model.dtype)
    assert array.strides == model.strides or array.size == 0
    assert isinstance(array.base, cl.SVMAllocation) and array.flags.writeable
    assert array.base.size == model.nbytes
    assert array.__array_interface__["data"][0] == array.base.svm_ptr != 0


def test_the_named_kinds(ctx: cl.Context, fine: None) -> None:
    model = np.asfortranarray(np.zeros((3, 5), np.int16))
    for array in (
        cl.csvm_empty(ctx, (3, 5), np.int16, "F"),
        cl.fsvm_empty(ctx, (3, 5), np.int16, order="F"),
        cl.csvm_empty_like(ctx, model),
        cl.fsvm_empty_like(ctx, model),
        cl.svm_empty_like(ctx, FINE, model),
    ):
        assert (array.shape, array.dtype, array.strides) == (
            model.shape,
            model.dtype,
            model.strides,
        )
    with pytest.raises(ValueError, match="contiguous"):
        cl.csvm_empty_like(ctx, model[::2])


@pytest.mark.parametrize("alignment", [None, 0, 1, 64, 128])
def test_alignment(ctx: cl.Context, alignment: int | None) -> None:
    arrays = [cl.csvm_empty(ctx, 3, np.int8, alignment=alignment) for _ in range(9)]
    assert all(array.ctypes.data % (alignment or 1) == 0 for array in arrays)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"shape": -1}, ValueError, "negative"),
        ({"shape": (2**40, 2**40)}, ValueError, "does not fit"),
        ({"shape": 2.5}, TypeError, "shape"),
        ({"dtype": object}, TypeError, "Python objects"),
        ({"order": "X"}, ValueError, "order"),
        ({"alignment": 3}, ValueError, "power of two"),
        ({"alignment": 2**40}, ValueError, "power of two"),
        ({"flags": 1 << 20}, ValueError, "svm_mem_flags"),
        ({"flags": 1 | 1 << 11}, ValueError, "SVM_FINE_GRAIN_BUFFER"),
        ({"queue": 1}, TypeError, "CommandQueue"),
        ({"ctx": None}, TypeError, "Context"),
    ],
)
def test_wrong_requests(ctx: cl.Context, change: dict, error: type, text: str) -> None:
    arguments = {"ctx": ctx, "flags": COARSE, "shape": 4, "dtype": np.int32}
    with pytest.raises(error, match=text):
        cl.svm_empty(**arguments | change)


def test_no_room_is_a_memory_error(ctx: cl.Context) -> None:
    with pytest.raises(MemoryError, match="clSVMAlloc failed") as caught:
        cl.SVMAllocation(ctx, 2**60, 0, COARSE)
    assert isinstance(caught.value, cl.MemoryError)


def test_allocations_without_bytes(
    ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program
) -> None:
    """As PyOpenCL has them: they can be made, passed, copied, mapped and released."""
    pool = tools.SVMPool(tools.SVMAllocator(ctx))
    makers = (lambda: cl.SVMAllocation(ctx, 0, 0, COARSE), tools.SVMAllocator(ctx), pool)
    for make in makers:
        empty = make(0) if make is not makers[0] else make()
        assert empty.size == 0 and empty.svm_ptr
        nothing = np.empty(0, np.uint8)
        cl.enqueue_copy(queue, empty, nothing)
        cl.enqueue_copy(queue, nothing, empty)
        cl.enqueue_svm_memfill(queue, empty, np.int32(3)).wait()
        with empty.map_rw(queue) as mapped:
            assert mapped.size == 0
        with pytest.raises(ValueError, match="bytes"):
            cl.enqueue_copy(queue, empty, np.empty(3, np.uint8))
        target = cl.svm_empty(ctx, COARSE, 1, np.int32)
        prg.copy(queue, (0,), None, empty, cl.SVM(target), allow_empty_ndrange=True).wait()
        empty.release()
        with pytest.raises(cl.LogicError, match="released"):
            cl.enqueue_copy(queue, nothing, empty)
    cl.SVMAllocation(ctx, 0, 0, COARSE, queue=queue).enqueue_release().wait()


def test_allocation_without_an_array(ctx: cl.Context, queue: cl.CommandQueue) -> None:
    one = cl.SVMAllocation(ctx, 12, 0, COARSE)
    two = cl.SVMAllocation(ctx, 1, 4, COARSE, queue=queue)
    assert one == one and one != two and len({one, two, one}) == 2
    assert (one.size, two.size) == (12, 1) and one.svm_ptr and two.svm_ptr
    for size in (-1, 2**63, "1", None):
        with pytest.raises((ValueError, OverflowError, TypeError)):
            cl.SVMAllocation(ctx, size, 0, COARSE)
    assert one._queue is None and two._queue is queue
    bytes_ = np.asarray(one)
    assert (bytes_.dtype, bytes_.shape, bytes_.base) == (np.uint8, (12,), one)
    assert one.buf.ctypes.data == one.svm_ptr and one.buf.base is one
    alive = weakref.ref(one)
    del one, bytes_
    assert alive() is None


def test_interface_of_an_allocation(ctx: cl.Context) -> None:
    interface = {"version": 3, "typestr": "<f4", "shape": (2, 3), "strides": (4, 8)}
    array = np.asarray(cl.SVMAllocation(ctx, 24, 0, COARSE, _interface=interface))
    assert (array.dtype, array.shape, array.strides) == (np.float32, (2, 3), (4, 8))
    assert "data" not in interface


# ---- SVM --------------------------------------------------------------------------------


def test_the_tag(ctx: cl.Context) -> None:
    array = cl.csvm_empty(ctx, 10, np.int32)
    tag, part = cl.SVM(array), cl.SVM(array[4:])
    assert tag.mem is array and tag.size == 40 and tag.svm_ptr == array.base.svm_ptr
    assert (part.size, part.svm_ptr) == (24, tag.svm_ptr + 16)
    assert tag.buf.shape == (40,) and tag != cl.SVM(array) and tag == tag
    assert cl.SVM(memoryview(array)[2:]).svm_ptr == tag.svm_ptr + 8


@pytest.mark.parametrize(
    ("mem", "error"),
    [
        (b"abc", BufferError),
        ([1, 2], TypeError),
        (np.zeros((4, 4))[:, ::2], ValueError),
        (np.array([None]), TypeError),
        (None, TypeError),
    ],
)
def test_what_cannot_be_tagged(mem: object, error: type) -> None:
    with pytest.raises(error):
        cl.SVM(mem)


def test_a_tag_of_a_tag(ctx: cl.Context) -> None:
    with pytest.raises(TypeError):
        cl.SVM(cl.SVM(cl.csvm_empty(ctx, 1, np.int32)))


def test_host_memory_as_kernel_argument(
    device: cl.Device, ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program
) -> None:
    array = np.arange(8, dtype=np.int32)
    kernel = cl.Kernel(prg, "add")
    if device.svm_capabilities & cl.device_svm_capabilities.FINE_GRAIN_SYSTEM:
        kernel(queue, (8,), None, cl.SVM(array), np.int32(5))
        queue.finish()
        assert np.array_equal(array, np.arange(8) + 5)
    else:
        with pytest.raises(cl.LogicError, match="FINE_GRAIN_SYSTEM"):
            kernel(queue, (8,), None, cl.SVM(array), np.int32(5))
        for call in (
            cl.enqueue_svm_memfill,
            lambda q, s, p: s.map_rw(q),
            lambda q, s, p: cl.enqueue_svm_migrate_mem(q, [s]),
        ):
            with pytest.raises(cl.LogicError, match="FINE_GRAIN_SYSTEM"):
                call(queue, cl.SVM(array), np.int32(0))


# ---- wrong objects ----------------------------------------------------------------------


def uses(
    ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program, svm: cl.SVMPointer
) -> list[Callable[[], object]]:
    """Every way to use *svm*, each a call."""
    host = np.zeros(svm.size, np.uint8)
    return [
        lambda: cl.Kernel(prg, "add")(queue, (1,), None, svm, np.int32(1)),
        lambda: cl.enqueue_copy(queue, host, svm),
        lambda: cl.enqueue_copy(queue, svm, host),
        lambda: cl.enqueue_svm_memfill(queue, svm, b"a"),
        lambda: cl.enqueue_svm_migrate_mem(queue, [svm]),
        lambda: svm.map_rw(queue),
        lambda: svm.as_buffer(ctx),
        lambda: _opencl._enqueue_svm_unmap(queue, svm),
    ]


def test_memory_of_another_context(
    device: cl.Device, queue: cl.CommandQueue, ctx: cl.Context, prg: cl.Program
) -> None:
    other = cl.Context([device])
    for svm in (cl.SVM(cl.csvm_empty(other, 4, np.int32)), cl.SVMAllocation(other, 16, 0, COARSE)):
        for use in uses(ctx, queue, prg, svm):
            with pytest.raises(cl.LogicError, match="context"):
                use()
    with pytest.raises(cl.LogicError, match="context"):
        cl.SVMAllocation(other, 16, 0, COARSE, queue=queue)
    with pytest.raises(cl.LogicError, match="context"):
        svm.bind_to_queue(queue)
    with pytest.raises(cl.LogicError, match="context"):
        svm.enqueue_release(queue)


def test_use_after_release(ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program) -> None:
    allocation = cl.SVMAllocation(ctx, 16, 0, COARSE)
    array = cl.csvm_empty(ctx, 4, np.int32)
    tag = cl.SVM(array)
    kernel = cl.Kernel(prg, "add")
    kernel(queue, (4,), None, tag, np.int32(1))
    queue.finish()
    calls = [*uses(ctx, queue, prg, allocation), *uses(ctx, queue, prg, tag)]
    array[:] = 5
    allocation.release()
    array.base.release()
    for call in (
        *calls,
        lambda: allocation.svm_ptr,
        lambda: allocation.buf,
        lambda: np.asarray(allocation),
        lambda: cl.SVM(array),
        lambda: allocation.bind_to_queue(queue),
        lambda: allocation.enqueue_release(queue),
        allocation.release,
        array.base.release,
        lambda: kernel(queue, (4,), None, tag, np.int32(1)),
        lambda: cl.enqueue_nd_range_kernel(queue, kernel, (4,), None),
    ):
        with pytest.raises(cl.LogicError, match="released"):
            call()
    assert array.tolist() == [5, 5, 5, 5], "an array over released memory must stay readable"


def test_a_released_allocation_is_freed_with_its_last_array(ctx: cl.Context) -> None:
    before = allocations_at_rest()
    array = cl.csvm_empty(ctx, 4, np.int32)
    view = array[1:].view(np.uint8)
    array.base.release()
    del array
    assert allocations() == before + 1
    del view
    assert allocations() == before
    bare = cl.SVMAllocation(ctx, 16, 0, COARSE)
    bare.release()
    assert allocations() == before


# ---- when memory is freed ---------------------------------------------------------------


def test_memory_stays_while_a_kernel_runs(ctx: cl.Context, prg: cl.Program) -> None:
    """Dropped at once, freed late, on an in-order queue, an out-of-order one, and two."""
    out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    for properties in ([0], [out_of_order], [0, 0], [0, out_of_order]):
        queues = [cl.CommandQueue(ctx, properties=p) for p in properties]
        out = cl.SVM(cl.csvm_empty(ctx, 64, np.int32))
        before, gate = allocations_at_rest(), cl.UserEvent(ctx)
        source = filled(ctx, queues[0], np.arange(64, dtype=np.int32))
        done = [
            cl.Kernel(prg, "copy")(queue, (64,), None, source, out, wait_for=[gate])
            for queue in queues
        ]
        del source  # waiting here would last for ever, as the gate is shut
        others = [filled(ctx, cl.CommandQueue(ctx), np.full(64, -1, np.int32)) for _ in range(20)]
        assert allocations() == before + 21, "freed with commands pending"
        gate.set_status(0)
        cl.wait_for_events(done)
        assert np.array_equal(read(queues[0], out), np.arange(64))
        del others
        assert becomes(lambda: allocations() <= before)  # noqa: B023


def test_enqueue_release(ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program) -> None:
    before, gate = allocations_at_rest(), cl.UserEvent(ctx)
    allocation = cl.SVMAllocation(ctx, 64, 0, COARSE)
    with pytest.raises(cl.LogicError, match="not bound to one"):
        allocation.enqueue_release()
    allocation.bind_to_queue(queue)
    cl.Kernel(prg, "add")(queue, (16,), None, allocation, np.int32(1))
    event = allocation.enqueue_release(wait_for=[gate])
    assert event.command_type == cl.command_type.SVM_FREE
    assert allocations() == before + 1
    with pytest.raises(cl.LogicError, match="released"):
        allocation.enqueue_release()
    gate.set_status(0)
    event.wait()
    assert becomes(lambda: allocations() <= before)


def test_enqueue_release_after_a_failed_command(ctx: cl.Context) -> None:
    before, gate, queue = allocations_at_rest(), cl.UserEvent(ctx), cl.CommandQueue(ctx)
    event = cl.SVMAllocation(ctx, 64, 0, COARSE).enqueue_release(queue, [gate])
    del gate  # fails what waits for it
    assert becomes(
        lambda: event.command_execution_status <= 0
    )  # Intel's driver runs it all the same
    time.sleep(0.05)
    cl.SVMAllocation(
        ctx, 64, 0, COARSE
    )  # a driver that does not tell of failures is asked at the next one
    assert becomes(lambda: allocations() <= before)


def test_memory_of_failed_commands_is_freed(ctx: cl.Context, prg: cl.Program) -> None:
    before, gate, queue = allocations_at_rest(), cl.UserEvent(ctx), cl.CommandQueue(ctx)
    for _ in range(5):
        cl.Kernel(prg, "add")(
            queue,
            (16,),
            None,
            cl.SVM(cl.csvm_empty(ctx, 16, np.int32)),
            np.int32(1),
            wait_for=[gate],
        )
    assert allocations() == before + 5
    gate.set_status(-5)
    time.sleep(0.05)
    cl.SVMAllocation(ctx, 64, 0, COARSE)
    assert becomes(lambda: allocations() <= before)


def test_bind_and_unbind(ctx: cl.Context, queue: cl.CommandQueue) -> None:
    allocation, other = cl.SVMAllocation(ctx, 64, 0, COARSE, queue=queue), cl.CommandQueue(ctx)
    allocation.bind_to_queue(other)
    assert allocation._queue is other
    allocation.unbind_from_queue()
    allocation.unbind_from_queue()
    assert allocation._queue is None
    with pytest.raises(TypeError):
        allocation.bind_to_queue(None)


def test_cycles_are_collected(device: cl.Device) -> None:
    before = _opencl._handle_counts()
    for attach in ("context", "queue", "svm"):
        context = cl.Context([device])
        queue = cl.CommandQueue(context)
        allocation = cl.SVMAllocation(context, 64, 0, COARSE, queue=queue)
        target = {"context": context, "queue": queue, "svm": allocation}[attach]
        target.loop = allocation
        del context, queue, allocation, target
    gc.collect()
    assert becomes(lambda: _opencl._handle_counts() == before)


def test_many_short_lives(ctx: cl.Context, queue: cl.CommandQueue, prg: cl.Program) -> None:
    before, add = allocations_at_rest(), cl.Kernel(prg, "add")
    for i in range(300):
        add(queue, (16,), None, cl.SVM(cl.csvm_empty(ctx, 16, np.int32)), np.int32(i))
    del add
    queue.finish()
    assert becomes(lambda: allocations() <= before)


def test_release_while_another_thread_copies(ctx: cl.Context) -> None:
    errors: list[BaseException] = []

    def copy(allocation: cl.SVMAllocation) -> None:
        queue, host = cl.CommandQueue(ctx), np.zeros(4096, np.uint8)
        try:
            for _ in range(200):
                cl.enqueue_copy(queue, host, allocation)
        except cl.LogicError as error:
            assert "released" in str(error)
        except BaseException as error:
            errors.append(error)

    for _ in range(5):
        allocation = cl.SVMAllocation(ctx, 4096, 0, COARSE)
        threads = [threading.Thread(target=copy, args=(allocation,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.005)
        allocation.release()
        for thread in threads:
            thread.join()
    assert not errors


@pytest.mark.parametrize("pooled", [False, True], ids=["allocator", "pool"])
def test_parts_of_arrays_in_shared_memory(
    ctx: cl.Context, queue: cl.CommandQueue, pooled: bool
) -> None:
    allocator = tools.SVMAllocator(ctx, queue=queue)
    memory = tools.SVMPool(allocator) if pooled else allocator
    host = np.arange(24.0).reshape(4, 6)
    x = cl.array.to_device(queue, host, allocator=memory)
    part, host_part = x[1:3], host[1:3]
    np.testing.assert_array_equal(part.get(), host_part)
    part.set(host_part * 10)
    x[3].fill(-1)
    x[0] = x[2]
    host[1:3] *= 10
    host[3], host[0] = -1, host[2]
    np.testing.assert_array_equal(x.get(), host)
    copied = part.copy()
    del x, part
    gc.collect()  # the copy has memory of its own
    np.testing.assert_array_equal(copied.get(), host[1:3])
