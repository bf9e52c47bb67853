"""CUDA: objects of one thread in others, and dropped there."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from cuda_env import ANY, SOURCE, Env, cuda
from harness import case, check

from pygpu.cuda.compiler import SourceModule


def together(n: int, work: Callable[[int], Any]) -> list[BaseException]:
    """Run work(0) ... work(n - 1) at once; what they raised."""
    errors: list[BaseException] = []
    start = threading.Barrier(n)

    def run(number: int) -> None:
        start.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    check(not any(thread.is_alive() for thread in threads), "a thread hangs")
    return errors


@case(limit=30)
def launches_without_a_context(env: Env) -> None:
    """A thread with an empty stack uses the primary context."""
    memories = [env.memory() for _ in range(6)]

    def work(number: int) -> None:
        for _ in range(50):
            env.add1(memories[number], block=(64, 1, 1))
        check(np.array_equal(env.read(memories[number]), env.host + 50), "wrong numbers")

    errors = together(6, work)
    check(not errors, f"{errors[:1]}")


@case(limit=30)
def frees_in_other_threads(env: Env) -> None:
    objects: list[Any] = []
    for _ in range(50):
        kept = [env.memory(), cuda.Stream(), cuda.Event(), cuda.DeviceMemoryPool()]
        objects.append([*kept, cuda.pagelocked_empty(4, np.float32), cuda.mem_alloc_async(64)])
    check(not together(4, lambda k: [objects.pop().clear() for _ in range(12)]), "it failed")
    objects.clear()
    gc.collect()


@case(limit=30)
def one_free_for_many_threads(env: Env) -> None:
    for _ in range(20):
        memory, host = env.memory(), env.host.copy()

        def work(number: int, memory: Any = memory, host: Any = host) -> None:
            for _ in range(5):
                try:
                    if number == 0:
                        memory.free()
                    elif number == 1:
                        cuda.memcpy_dtoh(np.empty_like(host), memory)
                    elif number == 2:
                        env.add1(memory, block=(64, 1, 1))
                    else:
                        cuda.memcpy_htod_async(memory, host, env.stream)
                except ANY as error:
                    check("freed" in str(error), str(error))

        errors = together(4, work)
        check(not errors, f"{errors[:1]}")
    cuda.Context.synchronize()


@case(limit=30)
def one_pool_for_many_threads(env: Env) -> None:
    pool, locked = cuda.DeviceMemoryPool(), cuda.PageLockedMemoryPool()

    def work(number: int) -> None:
        stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
        for k in range(60):
            block, host = pool.allocate(256), locked.allocate(64, np.float32)
            cuda.memset_d32_async(block, number * 1000 + k, 64, stream)
            cuda.memcpy_dtoh_async(host, block, stream)
            if k % 7 == 0:
                pool.free_held()
            stream.synchronize()
            check((host.view(np.int32) == number * 1000 + k).all(), "memory of another thread")
            if k % 5 == 0:
                del block

    errors = together(6, work)
    check(not errors, f"{errors[:1]}")
    pool.free_held()
    locked.free_held()


@case(limit=30)
def one_box_and_one_stream_for_many_threads(env: Env) -> None:
    copy, memories = cuda.Memcpy2D(), [env.memory(), env.memory()]
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 16
    copy.height = 4
    host = np.zeros(64, np.float32)

    def work(number: int) -> None:
        for k in range(100):
            try:
                if number % 2:
                    copy.set_src_host(host)
                    copy.set_dst_device(memories[k % 2])
                copy(env.stream) if k % 3 else copy()
            except ANY as error:
                check(str(error), "no message")

    errors = together(4, work)
    check(not errors, f"{errors[:1]}")
    cuda.Context.synchronize()


@case(limit=30)
def contexts_made_and_destroyed_in_threads(env: Env) -> None:
    def work(number: int) -> None:
        for _ in range(5):
            made = env.device.make_context()
            memory, stream = env.memory(), cuda.Stream()
            cuda.memset_d8_async(memory, number, 256, stream)
            cuda.memcpy_dtoh_async(host := np.zeros(256, np.uint8), memory, stream)
            stream.synchronize()
            check((host == number).all(), "memory of another thread")
            made.detach()

    errors = together(4, work)
    check(not errors, f"{errors[:1]}")


@case(limit=30)
def a_context_destroyed_under_other_threads(env: Env) -> None:
    for _ in range(5):
        made = env.device.make_context()
        memory, add1 = env.memory(), None
        cuda.Context.pop()
        stop = threading.Event()

        def work(number: int, made: Any = made, memory: Any = memory, stop: Any = stop) -> None:
            if number == 0:
                stop.wait(0.02)
                made.push()
                made.detach()
                stop.set()
                return
            while not stop.is_set():
                try:
                    cuda.memcpy_dtoh(np.empty(64, np.float32), memory)
                except ANY as error:
                    check(str(error), "no message")

        errors = together(3, work)
        check(not errors, f"{errors[:1]}")
        del memory, add1, made
    gc.collect()


@case(limit=60)
def everything_shared_by_eight_threads(env: Env) -> None:
    """One stream, module, function, pool, event and context, each used by all as it comes."""
    made = env.device.make_context()
    module, stream, pool = SourceModule(SOURCE), cuda.Stream(), cuda.DeviceMemoryPool()
    event, locked = cuda.Event(), cuda.PageLockedMemoryPool()
    cuda.Context.pop()

    def work(number: int) -> None:
        for k in range(25):
            made.push()
            axpy, block = module.get_function("axpy"), pool.allocate(256)
            host = locked.allocate(64, np.float32)
            host[:] = number
            cuda.memcpy_htod_async(block, host, stream)
            axpy(np.float32(1), block, block, np.int32(64), block=(64, 1, 1), stream=stream)
            event.record(stream)
            stream.wait_for_event(event)
            module.get_global("table")
            back = np.empty(64, np.float32)
            cuda.memcpy_dtoh_async(back, block, stream)
            event.synchronize() if k % 2 else stream.synchronize()
            stream.synchronize()
            check((back == 2 * number).all(), f"{back[:4]} instead of {2 * number}")
            if k % 5 == 0:
                pool.free_held()
            cuda.Context.pop()
        check(cuda.Context.get_current() is None, "a context of another thread is current")

    errors = together(8, work)
    check(not errors, f"{errors[:1]}")
    pool.stop_holding()
    made.push()
    made.detach()


@case(limit=60)
def contexts_pushed_and_popped_by_eight_threads(env: Env) -> None:
    """Each thread has its own stack, whatever the others do with the same contexts."""
    contexts = [env.device.make_context() for _ in range(3)]
    memories = [env.memory() for _ in contexts]
    for _ in contexts:
        cuda.Context.pop()

    def work(number: int) -> None:
        random = np.random.default_rng(number)
        stack: list[int] = []
        for _ in range(150):
            if stack and random.random() < 0.45:
                cuda.Context.pop()
                stack.pop()
            else:
                stack.append(int(random.integers(3)))
                contexts[stack[-1]].push()
            current = cuda.Context.get_current()
            check(current == (contexts[stack[-1]] if stack else None), "another's context")
            k = int(random.integers(3))  # of any context, not only of the current one
            check(np.array_equal(env.read(memories[k]), env.host), "another's memory")
            while not stack and cuda.Context.get_current() is not None:
                cuda.Context.pop()  # the read has made the primary one current
        for _ in stack:
            cuda.Context.pop()
        try:
            while True:
                cuda.Context.pop()  # the primary one, and once more than there are
        except cuda.LogicError as error:
            check("no context is current" in str(error), str(error))

    errors = together(8, work)
    check(not errors, f"{errors[:1]}")
    memories.clear()
    for made in contexts:
        made.push()
        made.detach()


@case(limit=60)
def one_context_detached_by_eight_threads(env: Env) -> None:
    for _ in range(5):
        made = env.device.make_context()
        memory, stream = env.memory(), cuda.Stream()
        cuda.Context.pop()
        won: list[int] = []

        def work(
            number: int, made: Any = made, memory: Any = memory, stream: Any = stream,
            won: list[int] = won,
        ) -> None:  # fmt: skip
            try:
                made.push()
                cuda.memset_d8_async(memory, number, 4, stream)
                made.detach()
                won.append(number)
            except ANY as error:
                check(str(error), "no message")

        errors = together(8, work)
        check(not errors and len(won) >= 1, f"{errors[:1]} {won}")
        check(not made.is_alive, "it is alive")
        del memory, stream, made
    gc.collect()


@case(limit=60)
def one_graph_for_eight_threads(env: Env) -> None:
    memory, stream = cuda.to_device(np.zeros(64, np.float32)), cuda.Stream()
    stream.begin_capture()
    env.add1(memory, block=(64, 1, 1), stream=stream)
    run = stream.end_capture().instantiate()

    def work(number: int) -> None:
        mine = cuda.Stream()
        for k in range(20):
            run.launch(mine if k % 2 else stream)
        mine.synchronize()

    errors = together(8, work)
    check(not errors, f"{errors[:1]}")
    cuda.Context.synchronize()
    # Launches of one graph never run at once (they are one after another), so none is lost.
    check((env.read(memory) == 160).all(), f"{env.read(memory)[:4]}")


@case(limit=60)
def sources_compiled_by_eight_threads(env: Env) -> None:
    def work(number: int) -> None:
        for k in range(3):  # two threads want the same text at the same time
            text = f"__global__ void k(int *a) {{ a[0] = {1000 * (number // 2) + k}; }}"
            out = cuda.to_device(np.zeros(1, np.int32))
            SourceModule(text).get_function("k")(out, block=(1, 1, 1))
            check(env.read(out, 1, np.int32)[0] == 1000 * (number // 2) + k, "another's code")

    errors = together(8, work)
    check(not errors, f"{errors[:1]}")
