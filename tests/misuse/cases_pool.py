"""Pools and allocators: nonsense sizes, blocks freed with work pending, allocators that fail."""

from __future__ import annotations

import gc
from typing import Any

from harness import CALLER, MF, Boom, Env, case, check, cl, expect, np, skip, tolerate, within

HOST = (*CALLER, cl.Error, MemoryError)


def pool_of(env: Env) -> Any:
    return cl.tools.MemoryPool(cl.tools.ImmediateAllocator(env.queue))


@case
def sizes_that_make_no_sense(env: Env) -> None:
    pool = pool_of(env)
    for allocate in (
        pool,
        pool.allocate,
        cl.tools.ImmediateAllocator(env.queue),
        cl.tools.DeferredAllocator(env.ctx),
    ):
        for size in (-1, 2**62, 2**63, 2**64, "64", None, 1.5, object(), [64]):
            with expect(HOST):
                allocate(size)
        with tolerate(HOST):
            allocate(0)
        with expect(TypeError):
            allocate()
    for number in (-1, 2**32, 2**64, "x", None, 1.5):
        with tolerate(HOST):
            pool.alloc_size(number)
        with tolerate(HOST):
            pool.bin_number(number)


@case
def pools_of_odd_things(env: Env) -> None:
    for allocator in (5, "x", object(), env.queue, env.ctx, cl.Buffer):
        with expect((*CALLER, cl.Error)):
            cl.tools.MemoryPool(allocator).allocate(64)
    with expect(TypeError):
        cl.tools.MemoryPool()
    for bits in (-1, 0, 100, 2**32, 2**64, "x", None):
        with tolerate(HOST):
            cl.tools.MemoryPool(cl.tools.ImmediateAllocator(env.queue), bits).allocate(1000)
    for allocator in (cl.tools.ImmediateAllocator, cl.tools.DeferredAllocator):
        for thing in (None, 5, "x", env.dev):
            with expect(TypeError):
                allocator(thing)
        for flags in (-1, 2**40, 2**64, "x"):
            with tolerate(HOST):
                allocator(
                    env.queue if allocator is cl.tools.ImmediateAllocator else env.ctx, flags
                )(64)


@case
def release_twice(env: Env) -> None:
    pool = pool_of(env)
    block = pool.allocate(1000)
    block.release()
    with expect((ValueError, cl.LogicError)):
        block.release()
    check(
        pool.active_blocks == 0 and pool.held_blocks == 1, "a double release changed the statistics"
    )
    one, two = pool.allocate(1000), pool.allocate(1000)
    check(one.int_ptr != two.int_ptr, "a block was handed out twice")


@case
def use_after_release(env: Env) -> None:
    pool = pool_of(env)
    for use in (lambda b: cl.enqueue_copy(env.queue, env.host.copy(), b),
                lambda b: cl.enqueue_copy(env.queue, b, env.host),
                lambda b: env.kernel("add1")(env.queue, (1,), None, b),
                lambda b: cl.enqueue_fill_buffer(env.queue, b, np.int32(1), 0, 64),
                lambda b: b.size):  # fmt: skip
        block = pool.allocate(1000)
        block.release()
        with expect((ValueError, cl.LogicError), "released"):
            use(block)


@case
def blocks_outlive_the_pool(env: Env) -> None:
    pool = pool_of(env)
    block = pool.allocate(256)
    del pool
    gc.collect()
    cl.enqueue_copy(env.queue, block, env.host)
    check(np.array_equal(env.read(block, n=64), env.host), "a block lost its memory with its pool")
    block.release()


@case
def block_freed_before_its_launch(env: Env) -> None:
    pool = pool_of(env)
    gate, slow, fast = cl.UserEvent(env.ctx), env.queue, cl.CommandQueue(env.ctx)
    block = pool.allocate(256)
    env.kernel("add1")(slow, (64,), None, block, wait_for=[gate])
    del block
    env.forget()
    gc.collect()
    # The old launch is still waiting; its block must not serve another queue before it is done.
    with within(8, "allocating while an old block is pending"):
        new = pool.allocate(256)
        cl.enqueue_copy(fast, new, env.host, is_blocking=False)
    gate.set_status(0)
    slow.finish()
    fast.finish()
    check(np.array_equal(env.read(new, n=64), env.host), "the old launch wrote into the new block")


@case
def block_released_before_its_copy(env: Env) -> None:
    pool = pool_of(env)
    gate, fast = cl.UserEvent(env.ctx), cl.CommandQueue(env.ctx)
    block = pool.allocate(256)
    old = np.full(64, 7, np.float32)
    cl.enqueue_copy(env.queue, block, old, is_blocking=False, wait_for=[gate])
    block.release()
    # Not blocking: the copy may be made to wait for what is gated.
    new = pool.allocate(256)
    cl.enqueue_copy(fast, new, env.host, is_blocking=False)
    gate.set_status(0)
    env.queue.finish()
    fast.finish()
    check(np.array_equal(env.read(new, n=64), env.host), "the old copy wrote into the new block")


@case
def sub_region_keeps_its_block(env: Env) -> None:
    pool = pool_of(env)
    block = pool.allocate(4096)
    if not hasattr(block, "get_sub_region"):
        skip("sub-regions of pooled buffers")
    region = block.get_sub_region(0, 256)
    cl.enqueue_copy(env.queue, region, env.host)
    del block
    gc.collect()
    new = pool.allocate(4096)
    cl.enqueue_fill_buffer(env.queue, new, np.float32(7), 0, 4096)
    check(np.array_equal(env.read(region, n=64), env.host), "a region's block was handed out again")


@case
def kernel_argument_keeps_its_block(env: Env) -> None:
    pool = pool_of(env)
    kernel = cl.Kernel(env.prg, "add1")
    kernel.set_args(pool.allocate(256))
    gc.collect()
    new = pool.allocate(256)
    cl.enqueue_copy(env.queue, new, env.host)
    cl.enqueue_nd_range_kernel(env.queue, kernel, (64,), None)
    check(np.array_equal(env.read(new, n=64), env.host), "an argument's block was handed out again")


@case
def allocator_that_fails(env: Env) -> None:
    if not hasattr(cl.tools, "AllocatorBase"):
        skip("AllocatorBase")

    class Failing(cl.tools.AllocatorBase):
        def __call__(self, size: int) -> Any:
            raise Boom("allocator")

        def copy(self) -> Any:
            return self

        def is_deferred(self) -> bool:
            return False

        def allocate(self, size: int) -> Any:
            raise Boom("allocator")

        def free(self, mem: Any) -> None:
            raise Boom("free")

    with expect((Boom, *CALLER, cl.Error, RuntimeError)):
        cl.tools.MemoryPool(Failing()).allocate(64)


@case
def statistics_stay_true(env: Env) -> None:
    pool = pool_of(env)
    blocks = [pool.allocate(n) for n in (1, 10, 1000, 1000, 10**6)]
    check(pool.active_blocks == 5 and pool.held_blocks == 0, "five blocks are not five")
    del blocks[::2]
    gc.collect()
    check(pool.active_blocks == 2 and pool.held_blocks == 3, "a dropped block is not held")
    pool.free_held()
    check(pool.held_blocks == 0, "free_held freed not all")
    pool.stop_holding()
    blocks.clear()
    gc.collect()
    check(pool.active_blocks == 0 and pool.held_blocks == 0, "a block is held after stop_holding")
    check(pool.managed_bytes == 0 and pool.active_bytes == 0, "bytes are left")


@case
def blocks_in_cycles(env: Env) -> None:
    pool = pool_of(env)
    for _ in range(50):
        box: list[Any] = [pool.allocate(1000)]
        box.append(box)
        del box
    gc.collect()
    check(pool.active_blocks == 0, "blocks in cycles are never freed")


@case
def svm_pool(env: Env) -> None:
    if not env.dev.svm_capabilities:
        skip("the device has no SVM")
    allocator = cl.tools.SVMAllocator(env.ctx, flags=cl.svm_mem_flags.READ_WRITE, queue=env.queue)
    pool = cl.tools.SVMPool(allocator)
    for size in (-1, 2**62, 2**63, 2**64, "x", None, 1.5):
        with expect(HOST):
            pool(size)
        with expect(HOST):
            allocator(size)
    block = pool(256)
    cl.enqueue_copy(env.queue, block, env.host)
    block.release()
    with expect((ValueError, cl.LogicError)):
        block.release()
    with expect((ValueError, cl.LogicError, TypeError)):
        cl.enqueue_copy(env.queue, env.host.copy(), block)
    kept = pool(256)
    del pool, allocator
    gc.collect()
    cl.enqueue_copy(env.queue, kept, env.host)


@case
def flags_kept(env: Env) -> None:
    allocator = cl.tools.ImmediateAllocator(env.queue, MF.READ_ONLY)
    check(allocator(64).flags & MF.READ_ONLY, "the allocator lost its flags")
