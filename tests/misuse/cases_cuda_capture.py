"""CUDA: what spoils a capture, and graphs that do not fit."""

from __future__ import annotations

import gc
import threading

import numpy as np
from cuda_env import ANY, Env, cuda
from harness import case, check, expect

ONE = (1, 1, 1)


@case
def captures_that_are_spoilt(env: Env) -> None:
    memory, host = env.memory(), env.host.copy()
    for mode in (cuda.stream_capture_mode.RELAXED, cuda.stream_capture_mode.GLOBAL):
        for spoil in (
            lambda s: s.synchronize(),
            lambda s: cuda.Context.synchronize(),
            lambda s: cuda.Event().record(s).synchronize(),
            lambda s: env.add1(cuda.InOut(host), block=ONE, stream=s),
            lambda s: env.add1(memory, block=ONE, stream=s, time_kernel=True),
            lambda s: s.begin_capture(),
            lambda s: s.is_done(),
        ):
            stream = cuda.Stream()
            stream.begin_capture(mode)
            env.add1(memory, block=ONE, stream=stream)
            try:
                spoil(stream)
            except (*ANY, AssertionError) as error:  # PyCUDA's, of time_kernel
                check(str(error), "no message")
            try:
                stream.end_capture().instantiate().launch()
            except cuda.Error as error:
                check(str(error), "no message")
            cuda.Context.synchronize()
            check(not stream.is_capturing, "the stream is still being captured")
            env.add1(memory, block=ONE, stream=stream)
            stream.synchronize()


@case
def ends_without_beginnings(env: Env) -> None:
    for _ in range(2):
        with expect(cuda.LogicError, "begin_capture"):
            env.stream.end_capture()
    for wrong in (-1, 3, 2**32, "x", None, 1.5):
        with expect(ANY):
            env.stream.begin_capture(wrong)
    check(not env.stream.is_capturing, "the stream is being captured")


@case
def a_stream_dropped_while_captured(env: Env) -> None:
    memory = env.memory()
    for _ in range(3):
        stream = cuda.Stream()
        stream.begin_capture()
        env.add1(memory, block=(64, 1, 1), stream=stream)
        del stream
        gc.collect()
    env.healthy()


@case
def a_capture_that_is_joined_and_not_rejoined(env: Env) -> None:
    first, second, event, memory = cuda.Stream(), cuda.Stream(), cuda.Event(), env.memory()
    first.begin_capture()
    event.record(first)
    second.wait_for_event(event)
    env.add1(memory, block=ONE, stream=second)
    with expect(cuda.Error):
        first.end_capture()
    with expect(cuda.LogicError):
        second.end_capture()
    for stream in (first, second):
        check(not stream.is_capturing, "the stream is still being captured")
        stream.synchronize()


@case
def a_capture_ended_by_another_thread(env: Env) -> None:
    stream, errors = cuda.Stream(), []
    stream.begin_capture(cuda.stream_capture_mode.THREAD_LOCAL)

    def end() -> None:
        env.context.push()
        try:
            stream.end_capture()
        except cuda.Error as error:
            errors.append(str(error))
        finally:
            env.context.pop()

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    check(errors and "thread" in errors[0], f"{errors} were raised")
    try:  # the driver may have ended it
        stream.end_capture()
    except cuda.LogicError as error:
        check("cuStreamEndCapture" in str(error), f"{error} was raised")
    check(not stream.is_capturing, "the stream is still being captured")
    memory = env.memory()
    stream.begin_capture()
    env.add1(memory, block=(64, 1, 1), stream=stream)
    stream.end_capture().instantiate().launch(stream)
    check(np.array_equal(env.read(memory), env.host + 1), "the next capture is spoilt")


@case
def graphs_that_do_not_fit(env: Env) -> None:
    memory, stream = env.memory(), cuda.Stream()

    def captured(n: int) -> cuda.Graph:
        stream.begin_capture()
        for _ in range(n):
            env.add1(memory, block=(64, 1, 1), stream=stream)
        return stream.end_capture()

    run = captured(1).instantiate()
    with expect(cuda.LogicError, "differs"):
        run.update(captured(2))
    for wrong in (None, 5, "x", run, stream):
        with expect(ANY):
            run.update(wrong)
        with expect(ANY):
            run.launch(wrong) if wrong is not None and wrong is not stream else run.update(None)
    run.launch(stream)
    stream.synchronize()
    check(np.array_equal(env.read(memory), env.host + 1), "the graph is spoilt")
    with expect(ANY):
        captured(1).debug_dot("/nowhere/none/graph.dot")
    for wrong in (None, 5, "\0", b"\0"):
        with expect(ANY):
            captured(1).debug_dot(wrong)


@case
def memory_freed_while_captured(env: Env) -> None:
    memory, stream, pool = env.memory(), cuda.Stream(), cuda.DeviceMemoryPool()
    block = pool.allocate(256)
    stream.begin_capture()
    env.add1(memory, block=(64, 1, 1), stream=stream)
    cuda.memset_d8_async(block, 1, 256, stream)
    memory.free()
    block.free()
    other = pool.allocate(256)  # not the same, as the graph has that
    graph = stream.end_capture()
    cuda.memset_d8(other, 9, 256)
    try:
        graph.instantiate().launch(stream)
        stream.synchronize()
    except cuda.Error as error:
        check(str(error), "no message")
    check((env.read(other, 256, np.uint8) == 9).all(), "the graph wrote to memory of others")
