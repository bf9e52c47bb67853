"""Code of a program that runs in the middle of a call and takes away what the call uses.

The processes of these cases fill freed memory with a pattern (PYTHONMALLOC=debug).
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

from harness import ANY, MF, Env, case, check, cl, expect, np, skip

from pygpu import array
from pygpu.tools import ImmediateAllocator, MemoryPool, VectorArg

SOURCE = """
kernel void set(global int *a, int n) { a[0] = n; }
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


@contextlib.contextmanager
def garbage(act: Callable[[], object], after: int = 0) -> Iterator[None]:
    """*act* runs when garbage is collected: once *after* more objects were made, if tuples of one
    item are no longer made of those that went (3.11 collects then; later ones do between lines)."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.disable()
    loop: list[Any] = [Last(act)]
    loop.append(loop)
    del loop
    kept = [(k,) for k in range(3000)]
    gc.set_threshold(gc.get_count()[0] + after, 10, 10)
    gc.enable()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        del kept
        gc.collect()


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
def an_array_s_events_go_while_one_is_set(env: Env) -> None:
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


@case(leaves=True)
def an_array_gets_other_memory_while_a_kernel_is_called(env: Env) -> None:
    for k in range(12):
        host = np.arange(8 * k + 8, dtype=np.float32)
        items, other = (
            array.Array(env.queue, host.size, np.float32, data=env.buffer(host.nbytes))
            for _ in range(2)
        )
        items.set(host)
        other.set(host + 100)
        with garbage(lambda i=items, o=other: setattr(i, "base_data", o.base_data), k):
            made = items + items
        found = made.get()
        wanted = (2 * host, 2 * host + 200)
        check(any(np.array_equal(found, w) for w in wanted), "the sum is wrong")


@case
def an_attribute_takes_the_place_of_a_kernel_that_is_looked_for(env: Env) -> None:
    program = cl.Program(env.ctx, SOURCE).build()
    asked = [0]

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            asked[0] += 1
            if asked[0] < 4:
                _ = program.set
            return str.__eq__(self, other)

    _ = program.set
    setattr(program, Name("set"), 3)
    _ = [bytearray(200) for _ in range(100)]
    check(program.set == 3, "the attribute is another one")
    named = getattr(program, Name("put"))
    check(named is program.put, "the kernel is another one")


@case
def a_program_is_built_while_it_is_made_again(env: Env) -> None:
    class Later(cl.Program):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)

    binary = cl.Program(env.ctx, SOURCE).build().get_info(cl.program_info.BINARIES)[0]
    for at_once in (True, False):
        program = Later(env.ctx, SOURCE)
        thread = threading.Thread(target=program.build, args=(["-DNEVER_SEEN"],))

        class Binaries:
            def __iter__(self, thread: Any = thread, wait: bool = at_once) -> Any:
                thread.start()
                thread.join(None if wait else 0.01)
                return iter([binary])

        with contextlib.suppress(*ANY):
            program.__init__(env.ctx, env.ctx.devices[:1], Binaries())
        thread.join()
        memory = env.buffer()
        program.set(env.queue, (1,), None, memory, np.int32(7))
        check(env.read(memory).view(np.int32)[0] == 7, "the kernel was not run")


@case
def arguments_change_while_a_kernel_is_cloned(env: Env) -> None:
    first = kernel(env, "set")
    memory, other = env.buffer(), env.buffer()
    if env.dev.version.split()[1] < "2.1":
        skip("the device has no OpenCL 2.1, from which on kernels are cloned")
    first.set_args(memory, np.int32(5))
    with garbage(lambda: first.set_args(other, np.int32(6))):
        clone = first.clone()
    clone(env.queue, (1,), None, other, np.int32(6))
    check(env.read(other).view(np.int32)[0] == 6, "the clone wrote elsewhere")
    check(env.read(memory)[0] == 0, "the clone wrote elsewhere")


@case
def an_image_keeps_the_memory_of_its_buffer(env: Env) -> None:
    format_ = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
    pool = MemoryPool(ImmediateAllocator(env.queue))
    buffer = pool.allocate(4096)
    with contextlib.suppress(cl.Error):
        image = cl.Image(env.ctx, MF.READ_WRITE, format_, shape=(64,), buffer=buffer)
        before = buffer.int_ptr
        del buffer
        check(pool.allocate(4096).int_ptr != before, "the pool gave the memory to somebody else")
        del image
        check(pool.allocate(4096).int_ptr == before, "the memory did not come back")
        buffer = env.buffer(4096)
        with garbage(buffer.release), expect(cl.LogicError, "released"):
            cl.Image(env.ctx, MF.READ_WRITE, format_, shape=(64,), buffer=buffer)


@case
def memory_is_unbound_while_it_is_released(env: Env) -> None:
    if not env.dev.svm_capabilities:
        skip("the device has no SVM")
    memory = cl.SVMAllocation(
        env.ctx, 64, 0, cl.svm_mem_flags.READ_WRITE, queue=cl.CommandQueue(env.ctx)
    )

    def unbind() -> Iterator[Any]:
        memory.unbind_from_queue()
        gc.collect()
        yield from ()

    memory.enqueue_release(wait_for=unbind()).wait()
