"""CUDA: children of fork() get exceptions, and leave the parent's driver alone."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from cases_cuda_context import everything, uses
from cuda_env import SOURCE, Env, cuda
from harness import Missed, case, check, in_child

from pygpu import _cuda
from pygpu.cuda import curandom, gpuarray
from pygpu.cuda.compiler import SourceModule


def refused(action: Callable[[], Any]) -> None:
    """*action* raises an error that tells of the fork."""
    try:
        action()
    except cuda.Error as error:
        assert "fork" in str(error), error
    else:
        raise AssertionError("an object of the parent worked in the child")


@case(alone=True, limit=30)
def every_call_in_a_child(env: Env) -> None:
    memory, event = env.memory(), cuda.Event()
    old = everything(env)
    calls = {
        **uses(env, old),
        "alloc": lambda: cuda.mem_alloc(64),
        "alloc async": lambda: cuda.mem_alloc_async(64),
        "copy": lambda: cuda.memcpy_dtoh(np.empty_like(env.host), memory),
        "launch": lambda: env.add1(memory, block=(64, 1, 1)),
        "launch that copies": lambda: env.add1(cuda.InOut(env.host), block=(64, 1, 1)),
        "stream": cuda.Stream,
        "synchronize": cuda.Context.synchronize,
        "stream wait": env.stream.synchronize,
        "event": event.record,
        "push": env.context.push,
        "make": env.device.make_context,
        "device": lambda: cuda.Device(0),
        "free memory": cuda.mem_get_info,
        "managed": lambda: cuda.managed_empty(4, np.float32, mem_flags=1),
        "host": lambda: cuda.pagelocked_empty(4, np.float32),
        "register": lambda: cuda.register_host_memory(cuda.aligned_empty(4096, np.uint8)),
        "function": lambda: cuda.launch_host_func(env.stream, print),
        "module": lambda: cuda.module_from_buffer(b"\x7fELF" + b"\0" * 100),
        "source": lambda: SourceModule("__global__ void of_a_child() {}"),
        "cached source": lambda: SourceModule(SOURCE),
        "to_gpu": lambda: gpuarray.to_gpu(env.host),
        "random": lambda: curandom.rand((4,)),
    }
    del calls["linker"]  # which has not asked the driver for anything yet
    del calls["free async"]  # to free is what dropping does: nothing, there
    calls["pool"] = lambda: old["pool"].allocate(10**6)  # it holds blocks of 64 bytes

    def ask() -> None:
        for name, action in calls.items():
            try:
                refused(action)
            except BaseException as error:
                raise AssertionError(f"{name}: {error!r}") from error

    in_child(ask)
    env.healthy()


def walk(objects: list[Any]) -> None:
    """Read each attribute of *objects* and call what needs no argument, or takes one of them."""
    for thing in objects:
        for ask in (repr, hash, str, bool, int, len):
            with contextlib.suppress(Exception):
                ask(thing)
        for name in dir(thing):
            if name in ("__class__", "__reduce__", "__reduce_ex__"):
                continue
            for arguments in ((), (objects[0],), (64,), (objects[1], 4)):
                with contextlib.suppress(Exception):
                    value = getattr(thing, name)
                    if callable(value):
                        value(*arguments)


@case(alone=True, limit=60)
def a_child_that_touches_anything(env: Env) -> None:
    """Every name of every object and of the module: errors, never a crash or a wait."""
    old = everything(env)
    array = gpuarray.to_gpu(env.host)
    out = array + array
    objects = [env.memory(), env.host.copy(), *old.values(), env.context, env.device, env.add1]
    objects += [env.stream, array, out, cuda.Memcpy2D(), cuda.DeviceMemoryPool, cuda.Context]
    if not _cuda._is_simulator():  # NVIDIA's driver has taken its host memory away from the child
        objects = [x for x in objects if not isinstance(x, np.ndarray) or x.base is None]

    def touch() -> None:
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
            walk([*objects, cuda])
        refused(lambda: (array + out).get())
        refused(lambda: gpuarray.sum(array).get())

    in_child(touch, 60)
    env.healthy()
    check(np.array_equal(array.get(), env.host), "the parent's array is gone")
    check(np.array_equal(out.get(), env.host * 2), "the parent's result is gone")


@case(alone=True, limit=30)
def a_child_that_ends_in_the_usual_way(env: Env) -> None:
    KEPT.extend([everything(env), env, gpuarray.to_gpu(env.host), env.spin(env.stream)])
    env.device.make_context()
    atexit.register(cuda.Context.pop)
    child = os.fork()
    if child == 0:
        atexit.unregister(cuda.Context.pop)
        ctypes.pythonapi.Py_Exit(0)  # exit handlers, the teardown of all modules
    deadline = time.monotonic() + 60
    while not (done := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < deadline:
        time.sleep(0.01)
    if not done[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise Missed("HANG", "the child did not end")
    check(done[1] == 0, f"the child ended with wait status {done[1]}")
    check(np.array_equal(KEPT[2].get(), env.host), "the parent's memory is gone")
    cuda.Context.get_current().detach()
    atexit.unregister(cuda.Context.pop)


@case(alone=True, limit=20)
def a_child_that_forks_again(env: Env) -> None:
    in_child(lambda: in_child(lambda: refused(env.stream.synchronize)))
    env.healthy()


@case(alone=True, limit=60)
def forks_while_others_work(env: Env) -> None:
    """No lock of ours is left taken for the child, whatever other threads were doing."""
    stop, memory, pool = threading.Event(), env.memory(), cuda.DeviceMemoryPool()
    locked = cuda.PageLockedMemoryPool()
    gpuarray.to_gpu(env.host) + 1  # Python itself waits for ever if a fork comes in an import

    def work() -> None:
        env.context.push()
        stream = cuda.Stream()
        while not stop.is_set():
            env.add1(memory, block=(64, 1, 1), stream=stream)
            block, host = pool.allocate(256), locked.allocate(64, np.float32)
            cuda.memcpy_dtoh_async(host, block, stream)
            del block
            gpuarray.to_gpu(env.host) + 1
            pool.free_held()
            stream.synchronize()

    def use() -> None:
        refused(lambda: env.add1(memory, block=(64, 1, 1)))
        refused(lambda: cuda.memcpy_dtoh(np.empty_like(env.host), memory))
        refused(lambda: pool.allocate(10**6))
        refused(lambda: locked.allocate(10**6, np.float32))
        refused(lambda: gpuarray.to_gpu(env.host) + 1)
        refused(env.stream.synchronize)
        pool.free_held()
        gc.collect()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            in_child(use)
            time.sleep(0.01)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    env.healthy()


@case(alone=True, limit=20)
def a_fork_in_a_host_function(env: Env) -> None:
    done: list[Any] = []

    def fork() -> None:
        try:
            in_child(lambda: refused(env.stream.synchronize))
            done.append(None)
        except BaseException as error:
            done.append(error)

    cuda.launch_host_func(env.stream, fork)
    env.stream.synchronize()
    check(done == [None], f"forking in a host function: {done}")
    env.healthy()


def pool_task(n: int) -> str:
    """What a worker of a forked pool meets."""
    try:
        KEPT[0].stream.synchronize()
    except cuda.Error as error:
        return str(error)
    return f"worked {n}"


KEPT: list[Any] = []


@case(alone=True, limit=30)
def a_forked_pool(env: Env) -> None:
    KEPT.append(env)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        answers = pool.map_async(pool_task, range(4)).get(60)
    check(all("fork" in a for a in answers), f"forked workers answered {answers}")
    env.healthy()


@case(alone=True, limit=60)
def a_fork_before_the_first_use(env: Env) -> None:
    """What only imported pygpu may use CUDA on both sides."""
    text = """
import os
import numpy as np
import pygpu.cuda.driver as cuda
pid = os.fork()
import pygpu.cuda.autoinit
memory = cuda.to_device(np.arange(4))
assert cuda.from_device(memory, 4, np.int64).tolist() == [0, 1, 2, 3]
if pid:
    assert os.waitpid(pid, 0)[1] == 0
"""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", text], capture_output=True, text=True,
        timeout=100,
    )  # fmt: skip
    check(done.returncode == 0 and not done.stderr, f"{done.returncode} {done.stderr[-500:]}")


@case(alone=True, limit=20)
def a_child_that_drops_everything(env: Env) -> None:
    kept: list[Any] = [env.memory(), cuda.Stream(), cuda.DeviceMemoryPool().allocate(64)]
    kept.append(env.spin(env.stream))

    def drop() -> None:
        kept.clear()
        gc.collect()
        refused(lambda: cuda.mem_alloc(4))

    in_child(drop)
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
