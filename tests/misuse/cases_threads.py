"""Threads that share objects, with a switch at nearly every bytecode."""

from __future__ import annotations

import gc
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from harness import MF, Env, case, check, cl, np, tolerate


def together(*works: Callable[[], Any]) -> list[BaseException]:
    """Run *works* on threads of their own with rapid switching; return what they raised."""
    errors: list[BaseException] = []

    def guard(work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=guard, args=(w,)) for w in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(old)
    return errors


def no_error(errors: list[BaseException]) -> None:
    check(not errors, f"{len(errors)} threads failed, first {errors[:1]!r}")


@case(limit=30)
def one_kernel_twelve_arguments(env: Env) -> None:
    kernel, wrong = cl.Kernel(env.prg, "twelve"), [0]

    def work(seed: int) -> Callable[[], None]:
        queue, out = cl.CommandQueue(env.ctx), env.out()

        def run() -> None:
            dice = random.Random(seed)
            result = np.zeros(11, np.int32)
            for _ in range(500):
                values = [dice.randrange(2**30) for _ in range(11)]
                kernel(queue, (1,), None, out, *map(np.int32, values))
                cl.enqueue_copy(queue, result, out)
                wrong[0] += result.tolist() != values

        return run

    no_error(together(*[work(i) for i in range(4)]))
    check(wrong[0] == 0, f"{wrong[0]} of 2000 launches had another thread's arguments")


@case(limit=30)
def one_kernel_set_args_and_calls(env: Env) -> None:
    kernel, buffers = cl.Kernel(env.prg, "add1"), [env.buffer() for _ in range(8)]

    def setting() -> None:
        for i in range(2000):
            kernel.set_args(buffers[i % 8])

    def calling() -> None:
        queue = cl.CommandQueue(env.ctx)
        for i in range(1000):
            kernel(queue, (64,), None, buffers[i % 8])
            cl.enqueue_nd_range_kernel(queue, kernel, (64,), None)
        queue.finish()

    no_error(together(setting, calling, setting, calling))


@case(limit=30)
def release_against_copy(env: Env) -> None:
    buffers: list[Any] = []
    target = np.zeros(64, np.float32)

    def copying() -> None:
        queue = cl.CommandQueue(env.ctx)
        mine = np.zeros(64, np.float32)
        for buffer in buffers:
            with tolerate((ValueError, cl.LogicError)):
                cl.enqueue_copy(queue, mine, buffer)

    def releasing() -> None:
        for buffer in buffers:
            buffer.release()

    for _ in range(5):
        buffers[:] = [env.buffer() for _ in range(100)]
        no_error(together(copying, releasing, copying))
    check(not target.any(), "an array that nobody copied to was written")


@case(limit=30)
def release_against_launch_and_info(env: Env) -> None:
    kernel, buffers = cl.Kernel(env.prg, "add1"), [env.buffer() for _ in range(300)]

    def launching() -> None:
        queue = cl.CommandQueue(env.ctx)
        for buffer in buffers:
            with tolerate((ValueError, cl.LogicError)):
                kernel(queue, (64,), None, buffer)
        queue.finish()

    def asking() -> None:
        for buffer in buffers:
            with tolerate((ValueError, cl.LogicError)):
                _ = buffer.size, buffer.context, buffer.reference_count

    def releasing() -> None:
        for buffer in buffers:
            buffer.release()

    no_error(together(launching, asking, releasing))


@case(limit=30)
def release_twice_from_threads(env: Env) -> None:
    buffers, released = [env.buffer() for _ in range(300)], []

    def work() -> None:
        for buffer in buffers:
            with tolerate((ValueError, cl.LogicError)) as caught:
                buffer.release()
            if not caught:
                released.append(buffer)

    no_error(together(work, work, work))
    check(len(released) == 300, f"{len(released)} of 300 buffers were released once")


@case(limit=30)
def programs_built_together(env: Env) -> None:
    prg = cl.Program(env.ctx, "kernel void k(global int *a) { a[0] = 42; }")

    def work() -> None:
        with tolerate((cl.Error,)):
            prg.build()
        mine = cl.Program(
            env.ctx, f"kernel void k{threading.get_ident() % 1000}(global int *a) {{ }}"
        )
        mine.build()
        with tolerate((cl.Error, AttributeError)):
            _ = prg.k

    no_error(together(*[work] * 4))


@case(limit=30)
def kernel_looked_up_together(env: Env) -> None:
    prg = cl.Program(env.ctx, "kernel void k(global int *a) { a[0] = 42; }").build()
    seen: list[Any] = []

    def work() -> None:
        for _ in range(200):
            seen.append(prg.k)

    no_error(together(*[work] * 4))
    check(len(seen) == 800, "a lookup got lost")


@case(limit=30)
def queue_shared(env: Env) -> None:
    buffer = env.out()

    def work() -> None:
        for _ in range(200):
            env.kernel("nothing")(env.queue, (1,), None)
            cl.enqueue_fill_buffer(env.queue, buffer, np.int32(5), 0, 256)
            env.queue.flush()
            env.queue.finish()

    no_error(together(*[work] * 4))
    check((env.read(buffer, np.int32) == 5).all(), "a fill went wrong")


@case(limit=30)
def one_event_waited_for_by_many(env: Env) -> None:
    for _ in range(20):
        gate = cl.UserEvent(env.ctx)
        event = cl.enqueue_marker(env.queue, wait_for=[gate])

        def open_gate(gate: Any = gate) -> None:
            time.sleep(0.01)
            gate.set_status(0)

        no_error(
            together(
                event.wait,
                gate.wait,
                open_gate,
                event.wait,
                lambda e=event: cl.wait_for_events([e]),
            )
        )


@case(limit=30)
def user_event_set_by_many(env: Env) -> None:
    for _ in range(50):
        gate, won = cl.UserEvent(env.ctx), []

        def work(gate: Any = gate, won: list[int] = won) -> None:
            with tolerate() as caught:
                gate.set_status(0)
            if not caught:
                won.append(1)

        no_error(together(*[work] * 4))
        check(len(won) == 1, f"set_status succeeded {len(won)} times")


@case(limit=30)
def mapped_and_unmapped_together(env: Env) -> None:
    # A buffer each: PoCL 3.1 itself crashes where queues map and unmap one buffer at a time.
    buffers = [env.buffer() for _ in range(3)]
    flags = cl.map_flags.READ

    def work(buffer: Any) -> None:
        for _ in range(100):
            view, _event = cl.enqueue_map_buffer(env.queue, buffer, flags, 0, (64,), np.float32)
            check(view[63] == 63, "a map shows something else")
            view.base.release(env.queue)
            with tolerate():
                view.base.release(env.queue)

    no_error(together(*[lambda b=b: work(b) for b in buffers]))
    env.queue.finish()
    check(all(b.map_count == 0 for b in buffers), "a map is left")


@case(limit=30)
def one_map_released_by_many(env: Env) -> None:
    for _ in range(50):
        buffer = env.buffer()
        view = cl.enqueue_map_buffer(env.queue, buffer, cl.map_flags.READ, 0, (64,), np.float32)[0]

        def work(view: Any = view) -> None:
            with tolerate():
                view.base.release(env.queue)

        no_error(together(*[work] * 3))
        env.queue.finish()
        check(buffer.map_count == 0, "the map is left")


@case(limit=30)
def pool_shared(env: Env) -> None:
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(env.queue))

    def work(seed: int) -> Callable[[], None]:
        def run() -> None:
            dice, held = random.Random(seed), []
            for _ in range(500):
                held.append(pool.allocate(dice.randrange(1, 100_000)))
                if len(held) > 10:
                    held.pop(dice.randrange(10)).release()
                if dice.random() < 0.02:
                    pool.free_held()
            pool.free_held()

        return run

    no_error(together(*[work(i) for i in range(4)]))
    gc.collect()
    check(pool.active_blocks == 0, f"{pool.active_blocks} blocks are still active")
    pool.stop_holding()


@case(limit=30)
def objects_dropped_by_other_threads(env: Env) -> None:
    box: list[Any] = []
    done = threading.Event()

    def making() -> None:
        for i in range(300):
            buffer = env.buffer()
            event = cl.enqueue_copy(env.queue, np.zeros(64, np.float32), buffer, is_blocking=False)
            box.append(
                (
                    buffer,
                    event,
                    cl.UserEvent(env.ctx) if i % 7 == 0 else None,
                    buffer.get_sub_region(0, 128),
                )
            )
        done.set()

    def dropping() -> None:
        while not done.is_set() or box:
            if box:
                box.pop()
            gc.collect(0)

    no_error(together(making, dropping))
    env.queue.finish()


@case(limit=30)
def contexts_made_together(env: Env) -> None:
    def work() -> None:
        for _ in range(10):
            ctx = cl.Context([env.dev])
            queue = cl.CommandQueue(ctx)
            cl.Buffer(ctx, MF.READ_WRITE, 64)
            queue.finish()

    no_error(together(*[work] * 4))


@case(limit=30)
def collector_against_launches(env: Env) -> None:
    buffer, stop = env.buffer(), threading.Event()

    def launching() -> None:
        for _ in range(500):
            env.kernel("add1")(env.queue, (64,), None, buffer)
        env.queue.finish()
        stop.set()

    def collecting() -> None:
        while not stop.is_set():
            gc.collect()

    no_error(together(launching, collecting))
    check(
        np.array_equal(env.read(buffer), env.host + 500), "launches went wrong under the collector"
    )


@case(limit=30)
def thread_ends_with_work_pending(env: Env) -> None:
    gate, target = cl.UserEvent(env.ctx), np.zeros(64, np.float32)

    def work() -> None:
        cl.enqueue_copy(env.queue, target, env.buffer(), is_blocking=False, wait_for=[gate])

    no_error(together(work))
    gc.collect()
    gate.set_status(0)
    env.queue.finish()
    check(np.array_equal(target, env.host), "the thread's copy went wrong")


@case(alone=True, limit=30)
def driver_loaded_by_many_threads(env: Env) -> None:
    def work() -> None:
        for platform in cl.get_platforms():
            _ = [d.name for d in platform.get_devices()]

    no_error(together(*[work] * 8))
