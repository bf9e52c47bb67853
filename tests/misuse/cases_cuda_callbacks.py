"""CUDA: Python functions that streams call, and objects that call back during a call."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any

import numpy as np
from cuda_env import ANY, Env, cuda
from harness import Boom, Liar, case, check, expect, within

from pygpu import _cuda

ONE = (1, 1, 1)


def reported(action: Any) -> list[BaseException]:
    """What goes to sys.unraisablehook meanwhile."""
    seen: list[BaseException] = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda info: seen.append(info.exc_value)
    try:
        action()
    finally:
        sys.unraisablehook = hook
    return seen


@case
def host_functions_that_raise(env: Env) -> None:
    called: list[int] = []

    def fail(error: BaseException) -> None:
        called.append(1)
        raise error

    def run() -> None:
        for error in (Boom("one"), SystemExit(3), KeyboardInterrupt("two"), StopIteration()):
            cuda.launch_host_func(env.stream, fail, error)
        cuda.launch_host_func(env.stream, called.append, 2)
        env.stream.synchronize()

    seen = reported(run)
    check(called == [1, 1, 1, 1, 2], f"{called} were called")
    check([type(e) for e in seen] == [Boom, SystemExit, KeyboardInterrupt, StopIteration],
          f"{seen} were reported")  # fmt: skip


@case
def what_is_no_host_function(env: Env) -> None:
    for wrong in ((), (env.stream,), (env.stream, 5), (env.stream, None), ("x", print), (5, print),
                  (env.context, print), (None, "print")):  # fmt: skip
        with expect(ANY):
            cuda.launch_host_func(*wrong)


@case
def a_host_function_that_uses_cuda(env: Env) -> None:
    """Which the driver forbids: an error or a result, no hang, no crash."""
    seen: list[Any] = []

    def use() -> None:
        try:
            seen.append(cuda.mem_get_info())
        except cuda.Error as error:
            seen.append(str(error))

    with within(5, "the function"):
        cuda.launch_host_func(env.stream, use)
        env.stream.synchronize()
    check(len(seen) == 1, "the function did not end")


@case
def a_host_function_that_waits_for_another_one(env: Env) -> None:
    """NVIDIA's driver calls one function after the other, so the wait may be in vain; it ends."""
    other, done = cuda.Stream(cuda.stream_flags.NON_BLOCKING), threading.Event()
    first = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    answers: list[bool] = []
    with within(5, "the two"):
        cuda.launch_host_func(first, lambda: answers.append(done.wait(1.5)))
        cuda.launch_host_func(other, done.set)
        first.synchronize()
        other.synchronize()
    check(done.is_set() and len(answers) == 1, "a function did not run")
    check(answers == [True] or not _cuda._is_simulator(), "the second function had to wait")


@case
def host_functions_and_a_full_queue(env: Env) -> None:
    """The function needs the GIL, which nobody keeps behind a full queue."""
    gate, memory, called = threading.Event(), env.memory(), []
    cuda.launch_host_func(env.stream, gate.wait, 60)
    cuda.launch_host_func(env.stream, called.append, 1)
    timer = threading.Timer(0.5, gate.set)
    timer.start()
    host = env.host.copy()
    for _ in range(3000):
        cuda.memset_d8_async(memory, 1, 16, env.stream)
        cuda.memcpy_htod_async(memory, host, env.stream)
        cuda.Event().record(env.stream)
        env.add1(memory, block=ONE, stream=env.stream)
    env.stream.synchronize()
    check(called == [1], "the function was not called")


@case
def host_functions_keep_and_drop_their_arguments(env: Env) -> None:
    class Witness:
        pass

    gone: list[int] = []
    witness = Witness()
    import weakref

    weakref.finalize(witness, gone.append, 1)
    cuda.launch_host_func(env.stream, lambda *a: None, witness)
    del witness
    env.stream.synchronize()
    cuda.Context.synchronize()
    gc.collect()
    cuda._cuda._handle_counts() if hasattr(cuda, "_cuda") else cuda.Event().record().synchronize()
    check(gone == [1], "the argument is still kept")


class FreesIt:
    """Its address is asked for while the call has begun: it frees the memory then."""

    def __init__(self, memory: Any) -> None:
        self.memory, self.address = memory, int(memory)

    @property
    def gpudata(self) -> int:
        if self.memory is not None:
            self.memory.free()
            self.memory = None
        return self.address


@case
def arguments_that_free_each_other(env: Env) -> None:
    memory = env.memory()
    with expect(ANY):
        env.kernel("axpy")(1, memory, FreesIt(memory), 4, block=ONE)
        raise ValueError("both were converted before the memory went")
    cuda.Context.synchronize()


class Evil:
    """Its special methods raise, lie or drop objects."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    @property
    def gpudata(self) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@case
def objects_with_odd_addresses(env: Env) -> None:
    for answer in (Boom("here"), "x", 1.5, None, [], object(), -1, 2**64, env.host, Evil(Evil(5))):
        with expect((*ANY, Boom)):
            cuda.memcpy_htod(Evil(answer), env.host)
    endless = Evil(None)
    endless.answer = endless
    for use in (lambda: cuda.memcpy_htod(endless, env.host), lambda: env.add1(endless, block=ONE)):
        with expect((*ANY, RecursionError)):
            use()

    class Interface:
        def __init__(self, answer: Any) -> None:
            self.__cuda_array_interface__ = answer

    address = int(env.memory())
    good = (address, False)
    for answer in ({}, None, 5, {"data": 5}, {"data": ()}, {"data": ("x", False)},
                   {"data": (-1, 0)}, {"data": good, "stream": 0}, {"data": good, "stream": "x"},
                   {"data": good, "stream": 2**70}):  # fmt: skip
        with expect(ANY):
            env.add1(Interface(answer), block=ONE)
    with expect((*ANY, Boom)):
        env.add1(Liar(index=Boom("index")), block=ONE)
        raise ValueError("a Liar is not a pointer, or is refused")


@case
def handlers_of_the_users(env: Env) -> None:
    class Bad(cuda.InOut):
        def pre_call(self, stream: Any) -> None:
            raise Boom("pre")

    class Late(cuda.InOut):
        def post_call(self, stream: Any) -> None:
            raise Boom("post")

    host = env.host.copy()
    with expect(Boom, "pre"):
        env.add1(Bad(host), block=ONE)
    with expect(Boom, "post"):
        env.add1(Late(host), block=ONE)
    check(np.array_equal(host, env.host), "the array was written")


@case
def occupancy_callbacks(env: Env) -> None:
    for answer in (Boom("here"), "x", -1, 2**70, None, 1.5):

        def shared(block: int, answer: Any = answer) -> Any:
            if isinstance(answer, BaseException):
                raise answer
            return answer

        with expect((*ANY, Boom)):
            env.add1.suggest_block(shared=shared)
