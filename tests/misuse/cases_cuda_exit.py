"""CUDA: the process ends while something is still going on: status 0, no word, in time."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
import threading
import time
from typing import Any

import numpy as np
from cases_cuda_context import everything
from cuda_env import ANY, SOURCE, Env, cuda
from harness import case, check, tolerate

from pygpu import _cuda
from pygpu.cuda import gpuarray
from pygpu.cuda.compiler import SourceModule

KEPT: list[Any] = []


@case(alone=True, limit=10)
def work_pending(env: Env) -> None:
    KEPT.append(env.spin(env.stream, 30000))
    memory = env.memory()
    cuda.memcpy_dtoh_async(np.zeros(64, np.float32), memory, env.stream)


@case(alone=True, limit=20)
def kernels_that_never_end(env: Env) -> None:
    """Whatever would wait for them when it is dropped: memory, modules, contexts."""
    if not _cuda._is_simulator():
        return  # what a GPU does with such a kernel is not for a test to find out
    for barrier in ("", "__syncthreads();"):
        if barrier:
            KEPT.append(env.device.make_context())
        source = f"__global__ void k(volatile int *a) {{ while (!a[0]) {{ {barrier} }} }}"
        module, stream, pool = SourceModule(source), cuda.Stream(), cuda.PageLockedMemoryPool()
        array = cuda.matrix_to_array(env.host.reshape(8, 8), "C")
        a, locked = cuda.to_device(np.zeros(1, np.int32)), pool.allocate(1, np.int32)
        kernel = module.get_function("k")
        KEPT.extend([module, stream, pool, array, a, locked, cuda.pagelocked_zeros(64, np.float32)])
        KEPT.append(cuda.mem_alloc_async(64, stream))
        atexit.register(cuda.memcpy_htod_async, a, locked)
        atexit.register(kernel, a, block=(32, 1, 1), stream=stream)


@case(alone=True, limit=10)
def work_pending_and_all_kept(env: Env) -> None:
    KEPT.extend([env, env.spin(env.stream, 30000), cuda.Event().record(env.stream), env.memory()])


@case(alone=True, limit=10)
def a_host_function_pending(env: Env) -> None:
    gate = threading.Event()
    KEPT.append(gate)
    cuda.launch_host_func(env.stream, gate.wait, 1)
    cuda.launch_host_func(env.stream, KEPT.append, 1)


@case(alone=True, limit=15)
def a_host_function_that_does_not_end(env: Env) -> None:
    cuda.launch_host_func(env.stream, time.sleep, 3)
    time.sleep(0.1)


@case(alone=True, limit=10)
def host_functions_for_ever(env: Env) -> None:
    for _ in range(300):
        cuda.launch_host_func(env.stream, time.sleep, 0.01)


@case(alone=True, limit=10)
def pools_and_arrays_alive(env: Env) -> None:
    pool, locked = cuda.DeviceMemoryPool(), cuda.PageLockedMemoryPool()
    KEPT.extend([pool, locked, pool.allocate(1000), locked.allocate(64, np.float32)])
    KEPT.append(cuda.managed_empty(64, np.float32, mem_flags=1))
    KEPT.append(cuda.pagelocked_empty(64, np.float32))
    KEPT.append(cuda.register_host_memory(cuda.aligned_empty(4096, np.uint8)))
    KEPT.append(cuda.TextureObject(cuda.matrix_to_array(env.host.reshape(8, 8), "C")))


@case(alone=True, limit=10)
def contexts_on_the_stack(env: Env) -> None:
    for _ in range(3):
        KEPT.append(env.device.make_context())
        KEPT.append(env.memory())
    for _ in range(5):
        env.context.push()
    env.device.make_context()


@case(alone=True, limit=10)
def objects_in_a_cycle(env: Env) -> None:
    cycle: dict[str, Any] = {"memory": env.memory(), "stream": cuda.Stream(), "env": env}
    cycle["self"] = cycle


@case(alone=True, limit=10)
def a_capture_that_nobody_ends(env: Env) -> None:
    KEPT.extend([cuda.Stream(), env.memory()])
    KEPT[0].begin_capture()
    env.add1(KEPT[1], block=(64, 1, 1), stream=KEPT[0])


@case(alone=True, limit=10)
def daemon_threads_at_work(env: Env) -> None:
    def work() -> None:
        env.context.push()
        stream = cuda.Stream()
        while True:
            env.add1(env.memory(), block=(64, 1, 1), stream=stream)
            stream.synchronize()

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.2)


@case(alone=True, limit=10)
def a_daemon_thread_waiting(env: Env) -> None:
    env.spin(env.stream, 200000)
    threading.Thread(target=env.stream.synchronize, daemon=True).start()
    time.sleep(0.1)


@case(alone=True, limit=10)
def use_in_atexit(env: Env) -> None:
    atexit.register(env.healthy)
    atexit.register(lambda: cuda.launch_host_func(env.stream, KEPT.append, 1))


class Late:
    """Uses CUDA when it is finalized, which may be when the interpreter is half gone."""

    def __init__(self, env: Env) -> None:
        self.memory, self.stream, self.free = env.memory(), env.stream, cuda.mem_alloc

    def __del__(self) -> None:
        self.memory.free()
        self.stream.synchronize()
        self.free(64)


@case(alone=True, limit=10)
def use_in_a_finalizer(env: Env) -> None:
    KEPT.append(Late(env))
    sys.modules["pygpu_kept"] = Late(env)  # type: ignore[assignment]


@case(alone=True, limit=10, rc=7)
def sys_exit_with_work_pending(env: Env) -> None:
    KEPT.append(env.spin(env.stream, 30000))
    os._exit(7)


@case(alone=True, limit=10)
def a_kernel_that_failed(env: Env) -> None:
    env.kernel("wild")(np.intp(8), block=(1, 1, 1))
    KEPT.extend([env, env.stream])


@case(alone=True, limit=20)
def everything_alive(env: Env) -> None:
    """Work pending, contexts on the stack, host functions, graphs that run, page-locked memory."""
    for _ in range(2):
        env.device.make_context()
        kept = everything(env)
        for _ in range(20):
            kept["run"].launch(kept["stream"])
        spin = kept["module"].get_function("spin")
        spin(np.int32(20000), cuda.mem_alloc(4), block=(1, 1, 1), stream=kept["stream"])
        cuda.launch_host_func(kept["stream"], KEPT.append, kept)
        host = cuda.pagelocked_zeros(64, np.float32)
        cuda.memcpy_htod_async(kept["memory"], host, kept["stream"])
        cuda.memcpy_dtoh_async(kept["locked"], kept["memory"], kept["stream"])
        array = gpuarray.to_gpu(env.host)
        KEPT.extend([kept, host, array, array + 1, cuda.In(env.host)])
    sys.modules["pygpu_kept"] = KEPT  # type: ignore[assignment]


@case(alone=True, limit=20)
def a_graph_with_a_host_function_running(env: Env) -> None:
    stream = cuda.Stream()
    stream.begin_capture()
    for _ in range(3):
        cuda.launch_host_func(stream, time.sleep, 0.2)
    run = stream.end_capture().instantiate()
    for _ in range(5):
        run.launch(stream)
    KEPT.extend([run, stream])


@case(alone=True, limit=20)
def threads_that_outlive_the_main_one(env: Env) -> None:
    """They are not daemons, so the interpreter waits for them, and they can still use CUDA."""

    def work() -> None:
        time.sleep(0.3)
        env.context.push()
        KEPT.append(env.memory())
        env.add1(KEPT[-1], block=(64, 1, 1))
        check(env.read(KEPT[-1])[0] >= 1, "a launch no longer works")
        env.device.make_context()

    for _ in range(4):
        threading.Thread(target=work).start()


@case(alone=True, limit=20, rc=3)
def sys_exit_with_all_kept(env: Env) -> None:
    KEPT.extend([env, everything(env), env.spin(env.stream, 30000)])
    threading.Timer(0.2, os._exit, (3,)).start()


@case(alone=True, limit=20)
def names_cleared_by_hand(env: Env) -> None:
    KEPT.extend([env, everything(env)])

    def clear() -> None:
        for name in [n for n in sys.modules if n.split(".")[0] == "pygpu"]:
            del sys.modules[name]
        _cuda.__dict__.clear()
        cuda.__dict__.clear()

    atexit.register(clear)


def imported_again(env: Env, old: dict[str, Any]) -> None:
    """A new import works, and meets objects of an *old* one."""
    new = importlib.import_module("pygpu.cuda.driver")
    compiler = importlib.import_module("pygpu.cuda.compiler")
    arrays = importlib.import_module("pygpu.cuda.gpuarray")
    new.Device(0).retain_primary_context().push()
    memory, back = new.to_device(env.host), np.zeros_like(env.host)
    add1 = compiler.SourceModule(SOURCE).get_function("add1")
    add1(memory, block=(64, 1, 1))
    new.memcpy_dtoh(back, memory)
    check(np.array_equal(back, env.host + 1), "the module imported again does not work")
    check(np.array_equal((arrays.to_gpu(env.host) + 1).get(), back), "its arrays neither")
    # Objects of the old import are foreign here: refused, or an address; never misread.
    for use in (
        lambda: new.memcpy_dtoh(back, old["memory"]),
        lambda: add1(old["memory"], block=(64, 1, 1)),
        lambda: add1(memory, block=(64, 1, 1), stream=old["stream"]),
        lambda: new.Event().record(old["stream"]),
        lambda: new.TextureObject(old["array"]),
        lambda: old["add1"](memory, block=(64, 1, 1)),
    ):
        with tolerate((*ANY, new.Error)):
            use()
    new.Context.synchronize()
    new.Context.pop()


@case(alone=True, limit=30)
def modules_dropped_and_imported_again(env: Env) -> None:
    old = everything(env)
    for _ in range(3):
        for name in [n for n in sys.modules if n.split(".")[0] == "pygpu"]:
            del sys.modules[name]
        gc.collect()
        imported_again(env, old)
    env.healthy()
    check(env.read(old["memory"])[5] >= 5, "objects of the first import no longer work")


@case(alone=True, limit=30)
def modules_reloaded(env: Env) -> None:
    old = env.memory()
    for module in (cuda, _cuda, importlib.import_module("pygpu.cuda")):
        importlib.reload(module)
    env.healthy()
    check(np.array_equal(env.read(old), env.host), "objects made before no longer work")
    check(isinstance(cuda.mem_alloc(4), cuda.DeviceAllocation), "classes and objects disagree")
