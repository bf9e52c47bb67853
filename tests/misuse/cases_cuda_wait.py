"""CUDA: Ctrl-C in every wait, waits in threads, events that never come."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from cuda_env import ANY, Env, cuda
from harness import case, check, expect, soon, within

ONE = (1, 1, 1)


def interrupted(env: Env, wait: Callable[[], Any], stream: Any = None) -> None:
    """A host function keeps the stream back; SIGINT comes; the wait ends at once."""
    gate = threading.Event()
    cuda.launch_host_func(stream, gate.wait, 60)
    timer = soon(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        with within(3, "the interrupt"), expect(KeyboardInterrupt):
            try:
                wait()
            except KeyboardInterrupt as error:
                raise KeyboardInterrupt("as wanted") from error
    finally:
        timer.cancel()
        gate.set()
    cuda.Context.synchronize()


@case(alone=True, limit=20)
def interrupt_of_a_stream(env: Env) -> None:
    interrupted(env, env.stream.synchronize, env.stream)
    env.healthy()


@case(alone=True, limit=20)
def interrupt_of_an_event(env: Env) -> None:
    interrupted(env, lambda: cuda.Event().record(env.stream).synchronize(), env.stream)
    env.healthy()


@case(alone=True, limit=20)
def interrupt_of_the_context(env: Env) -> None:
    interrupted(env, cuda.Context.synchronize, env.stream)
    env.healthy()


@case(alone=True, limit=20)
def interrupt_of_copies(env: Env) -> None:
    memory, host = env.memory(), env.host.copy()
    interrupted(env, lambda: cuda.memcpy_dtoh(host, memory))
    interrupted(env, lambda: cuda.memcpy_htod(memory, host))
    interrupted(env, lambda: cuda.from_device(memory, 4, np.float32))
    env.healthy()


@case(alone=True, limit=20)
def interrupt_of_a_timed_launch(env: Env) -> None:
    memory = env.memory()
    interrupted(env, lambda: env.add1(memory, block=ONE, time_kernel=True))
    env.healthy()


@case(alone=True, limit=20)
def interrupt_of_a_launch_that_copies_back(env: Env) -> None:
    host = env.host.copy()
    wait = lambda: env.add1(cuda.InOut(host), block=ONE, stream=env.stream)  # noqa: E731
    gate = threading.Event()
    cuda.launch_host_func(env.stream, gate.wait, 60)
    timer = soon(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with within(3, "the interrupt"):
        try:
            wait()
        except KeyboardInterrupt:
            pass
        else:
            check(False, "the launch was not interrupted")
    timer.cancel()
    gate.set()
    cuda.Context.synchronize()
    env.healthy()


@case(alone=True, limit=20)
def a_handler_that_raises_in_a_wait(env: Env) -> None:
    class Stop(Exception):
        pass

    def handler(*_: object) -> None:
        raise Stop("from the handler")

    signal.signal(signal.SIGALRM, handler)
    gate = threading.Event()
    cuda.launch_host_func(env.stream, gate.wait, 60)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    with expect(Stop, "from the handler"):
        env.stream.synchronize()
    gate.set()
    env.stream.synchronize()
    env.healthy()


@case
def times_of_events(env: Env) -> None:
    first, second = cuda.Event(), cuda.Event()
    with expect(cuda.LogicError, "recorded"):
        second.time_since(first)
    untimed = cuda.Event(cuda.event_flags.DISABLE_TIMING).record().synchronize()
    first.record()
    with expect(cuda.LogicError, "DISABLE_TIMING"):
        first.time_till(untimed)
    for wrong in (None, 5, env.stream, "x"):
        with expect(ANY):
            first.time_till(wrong)
        with expect(ANY):
            env.stream.wait_for_event(wrong)
    check(cuda.Event().query(), "an event that was never recorded is not done")
    check(cuda.Event().synchronize() is not None, "synchronize gives the event")


@case
def waits_of_many_threads(env: Env) -> None:
    gate = threading.Event()
    cuda.launch_host_func(env.stream, gate.wait, 60)
    event = cuda.Event().record(env.stream)
    ended: list[int] = []

    def wait(number: int) -> None:
        env.context.push()
        (env.stream.synchronize if number % 2 else event.synchronize)()
        ended.append(number)
        env.context.pop()

    threads = [threading.Thread(target=wait, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    check(not ended, "a wait ended too soon")
    gate.set()
    for thread in threads:
        thread.join(30)
    check(sorted(ended) == list(range(8)), "a wait did not end")
