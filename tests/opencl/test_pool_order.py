"""Memory pools: a block freed with work pending is handed to another owner only after that work.

Commands on several queues are held back by user events.
"""

from __future__ import annotations

import gc
import random
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from opencl.memory_helpers import address, becomes, make_pool

import pygpu as cl
from pygpu import _opencl, tools

pytestmark = pytest.mark.usefixtures("nothing_left")

SOURCE = """
kernel void set(global int *a, int n) { a[get_global_id(0)] = n; }
kernel void put(global int *a, global int *b) { b[get_global_id(0)] = a[get_global_id(0)]; }
"""
IN_ORDER, OUT_OF_ORDER = 0, cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE


@pytest.fixture(scope="module")
def prg(ctx: cl.Context) -> cl.Program:
    return cl.Program(ctx, SOURCE).build()


def launch(
    prg: cl.Program, queue: cl.CommandQueue, memory: object, value: int, **kwargs: object
) -> cl.Event:
    """Sets all of *memory* to *value* with a kernel that does not outlive the call."""
    return cl.Kernel(prg, "set")(queue, (1000,), None, memory, np.int32(value), **kwargs)


def contents(queue: cl.CommandQueue, memory: object) -> set[int]:
    host = np.zeros(memory.size, np.uint8)
    cl.enqueue_copy(queue, host, memory)
    return set(host[:4000].view(np.int32).tolist())


def is_done(event: cl.Event) -> bool:
    return event.command_execution_status <= cl.command_execution_status.COMPLETE


def test_one_queue_costs_no_driver_call(
    prg: cl.Program, queue: cl.CommandQueue, pool: tools.MemoryPool
) -> None:
    kernel = cl.Kernel(prg, "set")
    launch(prg, queue, pool(4000), 0)
    _opencl._call_counts(True)
    for value in range(10):
        launch(prg, queue, pool(4000), value)
    counts = _opencl._call_counts()
    assert counts["clEnqueueNDRangeKernel"] == 10
    assert not {
        name
        for name in counts
        if "Marker" in name or "Barrier" in name or "SVMAlloc" in name or "CreateBuffer" in name
    }

    def calls_of_a_pool_in_use() -> dict[str, int]:
        launch(prg, queue, pool(4000), 0)
        _opencl._call_counts(True)
        for _ in range(10):
            pool(4000)
        return _opencl._call_counts()

    # Again if events of earlier launches were let go beside it.
    assert becomes(lambda: calls_of_a_pool_in_use() == {})
    del kernel


@pytest.mark.parametrize("second", [IN_ORDER, OUT_OF_ORDER])
@pytest.mark.parametrize("first", [IN_ORDER, OUT_OF_ORDER])
def test_the_next_owner_on_another_queue_waits(
    ctx: cl.Context, prg: cl.Program, pool: tools.MemoryPool, first: int, second: int
) -> None:
    one, two = cl.CommandQueue(ctx, properties=first), cl.CommandQueue(ctx, properties=second)
    gate = cl.UserEvent(ctx)
    memory = pool(4000)
    where = address(memory)
    before = launch(prg, one, memory, 1, wait_for=[gate])
    del memory
    memory = pool(4000)
    assert address(memory) == where
    after = launch(prg, two, memory, 2)
    two.flush()
    time.sleep(0.05)
    assert not is_done(before) and not is_done(after), (
        "the new owner did not wait for the one before"
    )
    gate.set_status(0)
    after.wait()
    assert is_done(before)
    assert contents(two, memory) == {2}


def test_an_out_of_order_queue_waits_for_itself(
    ctx: cl.Context, prg: cl.Program, pool: tools.MemoryPool
) -> None:
    queue, gate = cl.CommandQueue(ctx, properties=OUT_OF_ORDER), cl.UserEvent(ctx)
    before = launch(prg, queue, pool(4000), 1, wait_for=[gate])
    memory = pool(4000)
    after = launch(prg, queue, memory, 2)
    queue.flush()
    time.sleep(0.05)
    assert not is_done(before) and not is_done(after)
    gate.set_status(0)
    after.wait()
    assert contents(queue, memory) == {2}


def test_one_owner_on_many_queues(ctx: cl.Context, prg: cl.Program, pool: tools.MemoryPool) -> None:
    """More queues than fit in place; each new queue of the next owner waits for all of them."""
    queues = [cl.CommandQueue(ctx) for _ in range(12)]
    gates = [cl.UserEvent(ctx) for _ in queues]
    memory = pool(4000)
    for queue, gate in zip(queues, gates):
        launch(prg, queue, memory, 1, wait_for=[gate])
    del memory
    memory = pool(4000)
    new = [cl.CommandQueue(ctx), queues[5]]
    after = [launch(prg, queue, memory, 2) for queue in new]
    for queue in new:
        queue.flush()
    for gate in gates:
        time.sleep(0.01)
        assert not any(is_done(event) for event in after)
        gate.set_status(0)
    cl.wait_for_events(after)
    assert contents(new[0], memory) == {2}


def test_an_owner_that_did_nothing_passes_the_wait_on(
    ctx: cl.Context, prg: cl.Program, pool: tools.MemoryPool
) -> None:
    one, two, gate = cl.CommandQueue(ctx), cl.CommandQueue(ctx), cl.UserEvent(ctx)
    launch(prg, one, pool(4000), 1, wait_for=[gate])
    for _ in range(3):
        pool(4000)
    memory = pool(4000)
    after = launch(prg, two, memory, 2)
    time.sleep(0.05)
    assert not is_done(after)
    gate.set_status(0)
    after.wait()
    assert contents(two, memory) == {2}


def test_a_chain_of_owners(ctx: cl.Context, prg: cl.Program, pool: tools.MemoryPool) -> None:
    queues, gate = (
        [cl.CommandQueue(ctx, properties=p) for p in (IN_ORDER, OUT_OF_ORDER, IN_ORDER) * 4],
        cl.UserEvent(ctx),
    )
    events = [
        launch(prg, queue, pool(4000), i, wait_for=[gate] if i == 0 else None)
        for i, queue in enumerate(queues)
    ]
    for queue in queues:
        queue.flush()
    time.sleep(0.05)
    assert not any(is_done(event) for event in events)
    assert (pool.held_blocks, pool.active_blocks) == (1, 0)
    gate.set_status(0)
    cl.wait_for_events(events)
    assert contents(queues[0], pool(4000)) == {len(queues) - 1}


@pytest.mark.parametrize("command", ["write", "read", "copy", "fill", "map", "migrate"])
def test_every_command_waits(
    ctx: cl.Context, prg: cl.Program, pool: tools.MemoryPool, command: str
) -> None:
    one, two, gate = cl.CommandQueue(ctx), cl.CommandQueue(ctx), cl.UserEvent(ctx)
    launch(prg, one, pool(4000), 1, wait_for=[gate])
    memory = pool(4000)
    svm = isinstance(memory, cl.SVMPointer)
    host = np.full(memory.size, 5, np.uint8)
    other = pool(4000)
    if command == "write":
        event = cl.enqueue_copy(two, memory, host, is_blocking=False)
    elif command == "read":
        event = cl.enqueue_copy(two, host, memory, is_blocking=False)
    elif command == "copy":
        event = cl.enqueue_copy(two, other, memory, **({"is_blocking": False} if svm else {}))
    elif command == "fill":
        event = cl.enqueue_fill(two, memory, np.uint8(3), memory.size)
    elif command == "map":
        if svm:
            mapped = memory.map_ro(two, is_blocking=False)
            event = mapped.event
        else:
            mapped, event = cl.enqueue_map_buffer(
                two, memory, cl.map_flags.READ, 0, 4000, np.uint8, is_blocking=False
            )
    elif svm:
        if "OpenCL 2.0" in ctx.devices[0].version:
            pytest.skip("the device has OpenCL 2.0, migration of shared memory came with 2.1")
        event = cl.enqueue_svm_migrate_mem(two, [memory])
    else:
        event = cl.enqueue_migrate_mem_objects(two, [memory])
    two.flush()
    time.sleep(0.05)
    assert not is_done(event)
    gate.set_status(0)
    event.wait()
    if command == "read":
        assert set(host[:4000].view(np.int32).tolist()) == {1}, (
            "read before the write of the former owner"
        )


def test_bound_memory_waits(ctx: cl.Context, prg: cl.Program, pool: tools.MemoryPool) -> None:
    """bind_to_queue stands for commands that pygpu does not see."""
    one, two, gate = cl.CommandQueue(ctx), cl.CommandQueue(ctx), cl.UserEvent(ctx)
    memory = pool(4000)
    memory.bind_to_queue(one)
    marker = cl.enqueue_marker(one, wait_for=[gate])
    memory.unbind_from_queue()
    del memory
    after = launch(prg, two, pool(4000), 2)
    time.sleep(0.05)
    assert not is_done(after)
    gate.set_status(0)
    cl.wait_for_events([after, marker])


def test_a_queue_that_was_dropped(ctx: cl.Context, prg: cl.Program, pool: tools.MemoryPool) -> None:
    gate, queues = cl.UserEvent(ctx), _opencl._handle_counts()["queue"]
    before = launch(prg, cl.CommandQueue(ctx), pool(4000), 1, wait_for=[gate])
    other = cl.CommandQueue(ctx)
    memory = pool(4000)
    after = launch(prg, other, memory, 2)
    time.sleep(0.05)
    assert not is_done(after)
    gate.set_status(0)
    cl.wait_for_events([before, after])
    assert contents(other, memory) == {2}
    del memory, other, before, after
    pool.free_held()
    gc.collect()
    assert becomes(lambda: _opencl._handle_counts()["queue"] == queues)  # a marker may hold it


def test_dropping_never_waits(ctx: cl.Context, prg: cl.Program, pool: tools.MemoryPool) -> None:
    queue, gate = cl.CommandQueue(ctx), cl.UserEvent(ctx)
    event = launch(prg, queue, memory := pool(4000), 1, wait_for=[gate])
    del memory
    pool.free_held()
    launch(prg, queue, pool(4000), 1)
    pool.stop_holding()
    del pool, queue
    gc.collect()  # waiting for the kernel would last for ever, as the gate is shut
    gate.set_status(0)
    event.wait()


def test_fine_grained_memory_is_idle_when_handed_out(
    device: cl.Device, ctx: cl.Context, prg: cl.Program
) -> None:
    """The host may write to it at once, and no command of the next owner could wait."""
    if not device.svm_capabilities & cl.device_svm_capabilities.FINE_GRAIN_BUFFER:
        pytest.skip(f"{device.name} has no fine-grained shared virtual memory")
    flags = cl.svm_mem_flags.READ_WRITE | cl.svm_mem_flags.SVM_FINE_GRAIN_BUFFER
    pool, queue, gate = (
        tools.SVMPool(tools.SVMAllocator(ctx, flags=flags)),
        cl.CommandQueue(ctx),
        cl.UserEvent(ctx),
    )
    memory = pool(4000)
    where = address(memory)
    event = launch(prg, queue, memory, 1, wait_for=[gate])
    del memory
    other = pool(4000)
    assert address(other) != where
    gate.set_status(0)
    event.wait()
    assert becomes(lambda: pool.held_blocks == 1)
    assert address(pool(4000)) == where


def test_cycles_are_collected(device: cl.Device, pool: tools.MemoryPool) -> None:
    before = _opencl._handle_counts()
    svm = isinstance(pool, tools.SVMPool)
    for attach in ("context", "queue", "memory"):
        context = cl.Context([device])
        queue = cl.CommandQueue(context)
        own = make_pool("svm" if svm else "buffer", context, queue)
        for _ in range(2):
            own(100).bind_to_queue(queue)
        memory = own(200)
        memory.bind_to_queue(queue)
        target = {"context": context, "queue": queue, "memory": memory}[attach]
        target.loop = [own, memory]
        del context, queue, own, memory, target
    gc.collect()
    assert becomes(lambda: _opencl._handle_counts() == before)


def test_threads(ctx: cl.Context, prg: cl.Program, pool: tools.MemoryPool) -> None:
    """Each thread fills memory on its own queue and reads it back: nobody else may write to it."""
    errors: list[object] = []

    def work(number: int) -> None:
        queue, rng, kernel = cl.CommandQueue(ctx), random.Random(number), cl.Kernel(prg, "set")
        try:
            for i in range(60):
                memory = pool(rng.choice((4000, 4090)))
                value = number * 1000 + i
                kernel(queue, (1000,), None, memory, np.int32(value))
                found = contents(queue, memory)
                if found != {value}:
                    errors.append((number, value, found))
                del memory
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert errors == [] and pool.active_blocks == 0 and pool.active_bytes == 0


@pytest.mark.parametrize(
    "routine", ["clEnqueueMarkerWithWaitList", "clEnqueueBarrierWithWaitList", "clFlush"]
)
def test_an_order_that_cannot_be_made(
    ctx: cl.Context, prg: cl.Program, pool: tools.MemoryPool, fault: Callable, routine: str
) -> None:
    one, two, gate = cl.CommandQueue(ctx), cl.CommandQueue(ctx), cl.UserEvent(ctx)
    event = launch(prg, one, pool(4000), 1, wait_for=[gate])
    memory = pool(4000)
    fault(routine, -5)
    with pytest.raises(cl.RuntimeError, match=routine):
        launch(prg, two, memory, 2)
    fault(None, 0)
    after = launch(prg, two, memory, 2)
    time.sleep(0.05)
    assert not is_done(after), "the order was forgotten"
    gate.set_status(0)
    cl.wait_for_events([event, after])
    assert contents(two, memory) == {2}
