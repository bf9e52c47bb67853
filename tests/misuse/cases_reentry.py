"""Code of a program that runs in the middle of a call and takes away what the call uses.

The processes of these cases fill freed memory with a pattern (PYTHONMALLOC=debug).
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable
from typing import Any

from harness import ANY, MF, Env, case, check, cl, expect, np

from pygpu import array
from pygpu.tools import ImmediateAllocator, MemoryPool, VectorArg

SOURCE = """
kernel void put(int n, long at, global float *a) { a[at] = n; }
kernel void one(global float *a, long at) { a[at / sizeof(float)] = 1; }
"""


class Index:
    """An int that does something when it is read."""

    def __init__(self, value: int, act: Callable[[], object]) -> None:
        self.value, self.act = value, act

    def __index__(self) -> int:
        self.act()
        return self.value


class Last:
    """Does something when it goes."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def __del__(self) -> None:
        self.act()


def kernel(env: Env, name: str) -> Any:
    """A kernel of its own."""
    return cl.Kernel(cl.Program(env.ctx, SOURCE).build(), name)


@case
def types_declared_while_arguments_are_read(env: Env) -> None:
    put, memory = kernel(env, "put"), env.buffer()
    types = [VectorArg(np.float32, "a", with_offset=True), None]

    def declare() -> None:
        with expect(cl.LogicError, "being called"):
            put.set_scalar_arg_dtypes(types)

    put(env.queue, (1,), None, Index(7, declare), 3, memory)
    put.set_args(Index(8, declare), 4, memory)
    cl.enqueue_nd_range_kernel(env.queue, put, (1,), None)
    check(env.read(memory)[:6].tolist() == [0, 1, 2, 7, 8, 5], "another place was written")


@case(leaves=True)
def types_that_are_wrong_change_nothing(env: Env) -> None:
    one = kernel(env, "one")
    one.set_scalar_arg_dtypes([VectorArg(np.float32, "a", with_offset=True)])
    items = array.to_device(env.queue, np.zeros(4, np.float32))
    for types in ([None] * 3, [None, "no dtype"], [np.int32] * 3):
        with expect((cl.LogicError, TypeError)):
            one.set_scalar_arg_dtypes(types)
        one(env.queue, (1,), None, items[1:])
        check(items.get().tolist() == [0, 1, 0, 0], "other arguments were read")


@case
def host_memory_outlives_the_buffer_for_its_array(env: Env) -> None:
    n = 1 << 20
    flags = MF.READ_WRITE | MF.USE_HOST_PTR
    buffer = cl.Buffer(env.ctx, flags, hostbuf=np.ones(n, np.float32))
    items = buffer.get_host_array(n, np.float32)
    buffer.release()
    gc.collect()
    check(items.sum() == n, "the array lost its memory")
    buffer = cl.Buffer(env.ctx, flags, hostbuf=np.ones(n, np.float32))
    items = buffer.get_host_array((Index(n, buffer.release),), np.float32)
    gc.collect()
    check(items.sum() == n, "the array lost its memory")


@case
def garbage_releases_the_buffer_of_a_region(env: Env) -> None:
    thresholds = gc.get_threshold()
    for _ in range(20):
        buffer = env.buffer(4096)
        loop: list[Any] = [Last(buffer.release)]
        loop.append(loop)
        gc.set_threshold(1)
        try:
            with contextlib.suppress(*ANY):
                del loop
                buffer.get_sub_region(0, 64)
        finally:
            gc.set_threshold(*thresholds)
        gc.collect()


@case
def memory_runs_out_while_a_pool_goes(env: Env) -> None:
    class Slotted(MemoryPool):
        __slots__ = ("last",)

    def fill() -> None:
        with contextlib.suppress(*ANY):
            cl.Buffer(env.ctx, MF.READ_WRITE, 1 << 60)

    pool = Slotted(ImmediateAllocator(env.queue))
    pool.allocate(10)
    pool.last = Last(fill)
    del pool
    fill()


@case(leaves=True)  # the arrays' pool
def an_array_gets_other_memory_while_a_kernel_is_called(env: Env) -> None:
    host = np.arange(64, dtype=np.float32)
    left, right = (array.to_device(env.queue, host) for _ in range(2))
    right.events.append(Last(lambda: right.events.clear()))
    right.events.append(Last(lambda: setattr(right, "events", [])))
    with contextlib.suppress(*ANY):
        right._set_event(None)
    right.events = []
    check(np.array_equal((left + right).get(), host + host), "the sum is wrong")


@case(leaves=True)
def garbage_changes_the_table_of_kernels(env: Env) -> None:
    host = np.arange(64, dtype=np.float32)
    items = array.to_device(env.queue, host)
    table = items.backend.table
    check(np.array_equal((items + items).get(), host + host), "the sum is wrong")
    thresholds = gc.get_threshold()
    number = iter(range(10**6))

    def grow() -> None:
        for _ in range(200):
            table.add(("reentry", next(number)), (11,), None, np.dtype("f4"), 1, 1, 1)

    for k in range(8):
        loop: list[Any] = [Last(grow)]
        loop.append(loop)
        gc.set_threshold(1)
        try:
            del loop
            made = items[: k + 1] + items[: k + 1]
        finally:
            gc.set_threshold(*thresholds)
        check(np.array_equal(made.get(), 2 * host[: k + 1]), "the sum is wrong")
