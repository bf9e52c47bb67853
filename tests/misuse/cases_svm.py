"""Shared virtual memory: released, foreign, too small."""

from __future__ import annotations

import gc
from typing import Any

from harness import CALLER, Env, case, check, cl, expect, np, skip, tolerate, within

HOST = (*CALLER, BufferError, cl.Error, MemoryError)
GONE = (ValueError, TypeError, cl.LogicError)


def shared(env: Env, n: int = 64) -> Any:
    """An SVM array of *n* float32, 0, 1, 2, ..."""
    if not env.dev.svm_capabilities:
        skip("the device has no SVM")
    array = cl.csvm_empty(env.ctx, (n,), np.float32)
    cl.enqueue_copy(env.queue, cl.SVM(array), np.arange(n, dtype=np.float32))
    return array


def block(env: Env, size: int = 256, **kwargs: Any) -> Any:
    """An SVM allocation of *size* bytes."""
    if not env.dev.svm_capabilities:
        skip("the device has no SVM")
    return cl.SVMAllocation(env.ctx, size, 0, cl.svm_mem_flags.READ_WRITE, **kwargs)


@case
def sizes_that_make_no_sense(env: Env) -> None:
    block(env)
    for size in (-1, 2**62, 2**63, 2**64, "64", None, 1.5, object()):
        with expect(HOST):
            cl.SVMAllocation(env.ctx, size, 0, cl.svm_mem_flags.READ_WRITE)
    for align in (-1, 3, 2**40, 2**64, "x", None):
        with expect(HOST):
            cl.SVMAllocation(env.ctx, 64, align, cl.svm_mem_flags.READ_WRITE)
    for flags in (-1, 2**40, 2**64, "x", None):
        with expect(HOST):
            cl.SVMAllocation(env.ctx, 64, 0, flags)
    for context in (None, 5, env.queue):
        with expect(TypeError):
            cl.SVMAllocation(context, 64, 0, cl.svm_mem_flags.READ_WRITE)


@case
def arrays_that_make_no_sense(env: Env) -> None:
    shared(env)
    for shape in (
        (-1,),
        (2**32, 2**32),
        (2**62,),
        "ab",
        None,
        (1.5,),
        (None,),
        (2**64,),
        (1,) * 100,
    ):
        with expect(HOST):
            cl.csvm_empty(env.ctx, shape, np.float32)
    for dtype in (object, "nonsense", [("a", object)], 5):
        with expect(HOST):
            cl.csvm_empty(env.ctx, (4,), dtype)
    for order in ("X", 5, None):
        with tolerate(HOST):
            cl.csvm_empty(env.ctx, (4,), np.float32, order=order)
    for shape in ((0,), (4, 0)):
        with tolerate(HOST):
            check(
                cl.csvm_empty(env.ctx, shape, np.float32).size == 0, "an empty array is not empty"
            )


@case
def use_after_release(env: Env) -> None:
    uses = [
        lambda a: cl.enqueue_copy(env.queue, env.host.copy(), a),
        lambda a: cl.enqueue_copy(env.queue, a, env.host),
        lambda a: env.kernel("add1")(env.queue, (1,), None, a),
        lambda a: cl.enqueue_svm_memfill(env.queue, a, np.int32(1), 64),
        lambda a: a.map_rw(env.queue).__enter__(),
        lambda a: cl.enqueue_svm_migrate_mem(env.queue, [a], 0),
        lambda a: a.svm_ptr,
        lambda a: a.size,
        lambda a: a.buf,
    ]  # fmt: skip
    for number, use in enumerate(uses):
        allocation = block(env)
        allocation.release()
        with tolerate(GONE) as caught:
            use(allocation)
        check(caught or number in (6, 7), f"use {number} of a released allocation passed")
    allocation = block(env)
    allocation.release()
    with expect(GONE):
        allocation.release()
    with expect(GONE):
        allocation.enqueue_release(env.queue)


@case
def array_outlives_its_allocation(env: Env) -> None:
    array = shared(env, 4096)
    base = array.base
    while base is not None and not hasattr(base, "release"):
        base = getattr(base, "base", None) or getattr(base, "obj", None)
    if base is None:
        skip("an SVM array whose base can be released")
    with tolerate(HOST):
        base.release()
    others = [shared(env, 4096) for _ in range(20)]
    for other in others:
        other[:] = -7
    with tolerate(HOST):
        check(not (array == -7).any(), "the array shows memory of another allocation")


@case
def allocation_dropped_while_in_use(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    event = env.kernel("add1")(env.queue, (64,), None, cl.SVM(shared(env)), wait_for=[gate])
    with within(5, "dropping an SVM array that a command uses"):
        gc.collect()
    others = [cl.csvm_empty(env.ctx, (64,), np.float32) for _ in range(50)]
    for other in others:
        other[:] = 5
    gate.set_status(0)
    event.wait()
    check(all((o == 5).all() for o in others), "the launch wrote another allocation")


@case
def argument_dropped_between_set_and_launch(env: Env) -> None:
    kernel = cl.Kernel(env.prg, "add1")
    kernel.set_arg(0, cl.SVM(shared(env)))
    gc.collect()
    others = [cl.csvm_empty(env.ctx, (64,), np.float32) for _ in range(50)]
    for other in others:
        other[:] = 5
    cl.enqueue_nd_range_kernel(env.queue, kernel, (64,), None).wait()
    check(all((o == 5).all() for o in others), "the launch wrote another allocation")


@case
def copies_out_of_range(env: Env) -> None:
    array = shared(env)
    for dest, src in (
        (cl.SVM(array), np.zeros(65, np.float32)),
        (np.zeros(65, np.float32), cl.SVM(array)),
    ):
        with expect(HOST):
            cl.enqueue_copy(env.queue, dest, src)
    for count in (257, -1, 2**63, 2**64, "x"):
        with expect(HOST):
            cl.enqueue_copy(env.queue, env.host.copy(), cl.SVM(array), byte_count=count)
        with expect(HOST):
            cl.enqueue_copy(env.queue, cl.SVM(array), env.host, byte_count=count)
    frozen = np.zeros(64, np.float32)
    frozen.setflags(write=False)
    for dest in (frozen, b"\0" * 256, np.zeros(64, object), np.zeros(128, np.float32)[::2]):
        with expect(HOST):
            cl.enqueue_copy(env.queue, dest, cl.SVM(array))
    check(np.array_equal(array, env.host), "a refused copy wrote something")


@case
def fills_out_of_range(env: Env) -> None:
    array = shared(env)
    for pattern, count in ((np.int32(1), 257), (np.int32(1), 260), (np.int32(1), -4),
                           (np.int32(1), 2**63), (np.int32(1), 6),
                           (np.zeros(3, np.uint8), 6), (b"", 4), ("x", 4), (None, 4),
                           (np.int32(1), "x"),
                           (np.array([object()]), 8), (np.int32(1), 2**64)):  # fmt: skip
        with expect(HOST):
            cl.enqueue_svm_memfill(env.queue, cl.SVM(array), pattern, count)
    check(np.array_equal(array, env.host), "a refused fill wrote something")


@case
def memory_of_another_context(env: Env) -> None:
    if not env.dev.svm_capabilities:
        skip("the device has no SVM")
    array = cl.csvm_empty(env.other, (64,), np.float32)
    foreign = cl.SVM(array)
    allocation = cl.SVMAllocation(env.other, 256, 0, cl.svm_mem_flags.READ_WRITE)
    for thing in (foreign, allocation):
        for use in (lambda t: env.kernel("add1")(env.queue, (64,), None, t),
                    lambda t: cl.enqueue_svm_memfill(env.queue, t, np.int32(0), 64),
                    lambda t: cl.enqueue_svm_migrate_mem(env.queue, [t], 0),
                    lambda t: cl.enqueue_copy(env.queue, t, env.host)):  # fmt: skip
            with expect((ValueError, cl.LogicError), "context"):
                use(thing)


@case
def ordinary_memory_as_shared(env: Env) -> None:
    shared(env)
    fine = cl.device_svm_capabilities.FINE_GRAIN_SYSTEM
    if env.dev.svm_capabilities & fine:
        skip("a device without system SVM")
    for host in (env.host, bytearray(64)):
        with expect(HOST):
            env.kernel("add1")(env.queue, (1,), None, cl.SVM(host))
    for host in (None, 5, "x", object(), np.zeros(4, object)):
        with expect(HOST):
            env.kernel("add1")(env.queue, (1,), None, cl.SVM(host))


@case
def maps_of_odd_kinds(env: Env) -> None:
    array = shared(env)
    svm = cl.SVM(array)
    with expect(HOST):
        svm.map(env.queue)
    for flags in (-1, 2**40, 2**64, "x", None):
        with expect(HOST):
            svm.map(env.queue, flags=flags).release()
    for queue in (None, 5, env.ctx, env.other_queue):
        with expect(HOST):
            svm.map_rw(queue).release()
    mapping = svm.map_rw(env.queue)
    mapping.release()
    with tolerate(GONE):
        mapping.release()
    mapping = svm.map_rw(env.queue)
    del svm, array, mapping
    gc.collect()
    env.queue.finish()


@case
def migrate_of_odd_things(env: Env) -> None:
    shared(env)
    for things in (None, 5, [None], [5], [env.buffer()], "ab", cl.SVM(shared(env))):
        with expect(HOST):
            cl.enqueue_svm_migrate_mem(env.queue, things, 0)
    with tolerate(HOST):
        cl.enqueue_svm_migrate_mem(env.queue, [], 0)


@case
def queues_bound_and_unbound(env: Env) -> None:
    allocation = block(env, queue=env.queue)
    with tolerate(HOST):
        allocation.unbind_from_queue()
        allocation.unbind_from_queue()
    for queue in (None, 5, env.ctx, env.other_queue):
        with tolerate(HOST):
            allocation.bind_to_queue(queue)
    with tolerate(HOST):
        allocation.bind_to_queue(env.queue)
    with tolerate(HOST):
        allocation.enqueue_release(env.other_queue)
    with tolerate(HOST):
        allocation.enqueue_release(env.queue, [cl.enqueue_marker(env.queue)])
    env.queue.finish()
