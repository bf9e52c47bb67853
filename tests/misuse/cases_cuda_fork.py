"""CUDA: children of fork() get exceptions, and leave the parent's driver alone."""

from __future__ import annotations

import atexit
import gc
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from cuda_env import Env, cuda
from harness import case, check


def in_child(action: Callable[[], Any]) -> int:
    """The exit status of a forked child: 0 if the action raises an error that tells of the fork."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        status = 4
        try:
            action()
            status = 3
        except cuda.Error as error:
            status = 0 if "fork" in str(error) else 5
        except BaseException:
            status = 6
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@case(alone=True, limit=20)
def every_call_in_a_child(env: Env) -> None:
    memory, event = env.memory(), cuda.Event()
    for name, action in {
        "alloc": lambda: cuda.mem_alloc(64),
        "copy": lambda: cuda.memcpy_dtoh(np.empty_like(env.host), memory),
        "launch": lambda: env.add1(memory, block=(64, 1, 1)),
        "stream": cuda.Stream,
        "synchronize": cuda.Context.synchronize,
        "stream wait": env.stream.synchronize,
        "event": event.record,
        "push": env.context.push,
        "device": lambda: cuda.Device(0),
        "host": lambda: cuda.pagelocked_empty(4, np.float32),
        "function": lambda: cuda.launch_host_func(env.stream, print),
        "module": lambda: cuda.module_from_buffer(b"\x7fELF" + b"\0" * 100),
    }.items():
        status = in_child(action)
        check(status == 0, f"{name}: the child ended with {status}")
    env.healthy()


@case(alone=True, limit=20)
def a_child_that_drops_everything(env: Env) -> None:
    kept: list[Any] = [env.memory(), cuda.Stream(), cuda.DeviceMemoryPool().allocate(64)]
    kept.append(env.spin(env.stream))

    def drop() -> None:
        kept.clear()
        gc.collect()
        cuda.mem_alloc(4)

    check(in_child(drop) == 0, "the child ended badly")
    env.healthy()
    check(np.array_equal(env.read(kept[0]), env.host), "the parent's memory is gone")


@case(alone=True, limit=20)
def a_child_that_exits(env: Env) -> None:
    """With its exit handlers and finalizers, and a host function pending in the parent."""
    memory = env.memory()
    cuda.launch_host_func(env.stream, sum, [1])
    pid = os.fork()
    if pid == 0:
        del memory
        gc.collect()
        atexit._run_exitfuncs()
        os._exit(0)
    check(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "the child crashed")
    check(np.array_equal(env.read(memory), env.host), "the parent's memory is gone")
