"""CUDA: objects of one thread in others, and dropped there."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from cuda_env import ANY, Env, cuda
from harness import case, check


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
