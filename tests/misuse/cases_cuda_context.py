"""CUDA: contexts that are destroyed, popped too often, foreign, and everything made in them."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
from cuda_env import ANY, SOURCE, Env, cuda
from harness import case, check, expect

from pygpu.cuda.compiler import SourceModule

ONE = (1, 1, 1)


def everything(env: Env) -> dict[str, Any]:
    """One object of each kind in the current context."""
    stream, memory = cuda.Stream(), env.memory()
    stream.begin_capture()
    cuda.memset_d8_async(memory, 0, 4, stream)
    graph = stream.end_capture()
    module = SourceModule(SOURCE)
    array = cuda.matrix_to_array(env.host.reshape(8, 8), "C")
    pool = cuda.DeviceMemoryPool()  # whose context is that of the first allocation
    pool.allocate(64)
    return {
        "stream": stream, "memory": memory, "graph": graph, "run": graph.instantiate(),
        "module": module, "add1": module.get_function("add1"), "array": array,
        "texture": cuda.TextureObject(array), "event": cuda.Event(),
        "pool": pool, "block": cuda.DeviceMemoryPool().allocate(64),
        "locked": cuda.pagelocked_empty(4, np.float32), "ordered": cuda.mem_alloc_async(64, stream),
        "managed": cuda.managed_empty(4, np.float32, mem_flags=1), "linker": cuda.Linker(),
    }  # fmt: skip


def uses(env: Env, old: dict[str, Any]) -> dict[str, Any]:
    """What can be tried with each of them."""
    host = env.host.copy()
    found = {
        "stream.synchronize": old["stream"].synchronize,
        "stream.is_done": old["stream"].is_done,
        "stream.capture": old["stream"].begin_capture,
        "event.record": old["event"].record,
        "event.record on": lambda: old["event"].record(old["stream"]),
        "event.synchronize": old["event"].synchronize,
        "event.query": old["event"].query,
        "event.time": lambda: old["event"].time_since(old["event"]),
        "wait": lambda: env.stream.wait_for_event(old["event"]),
        "launch": lambda: old["add1"](old["memory"], block=ONE),
        "launch with new memory": lambda: old["add1"](env.memory(), block=ONE),
        "launch of old memory": lambda: env.add1(old["memory"], block=ONE),
        "launch on old stream": lambda: env.add1(env.memory(), block=ONE, stream=old["stream"]),
        "attribute": lambda: old["add1"].num_regs,
        "occupancy": lambda: old["add1"].max_active_blocks(32),
        "function": lambda: old["module"].get_function("axpy"),
        "global": lambda: old["module"].get_global("table"),
        "graph": old["graph"].instantiate,
        "nodes": old["graph"].nodes,
        "run": old["run"].launch,
        "run on new": lambda: old["run"].launch(env.stream),
        "copy to": lambda: cuda.memcpy_htod(old["memory"], host),
        "copy from": lambda: cuda.memcpy_dtoh(host, old["memory"]),
        "copy async": lambda: cuda.memcpy_htod_async(env.memory(), host, old["stream"]),
        "block": lambda: cuda.memset_d8(old["block"], 0, 4),
        "ordered": lambda: cuda.memset_d8(old["ordered"], 0, 4),
        "pool": lambda: old["pool"].allocate(64),
        "array": old["array"].get_descriptor,
        "new texture": lambda: cuda.TextureObject(old["array"]),
        "linker": lambda: old["linker"].add_data(b"x", cuda.jit_input_type.PTX),
        "free async": lambda: cuda.mem_free_async(old["ordered"]),
    }
    if "locked" in old:
        found["locked"] = lambda: old["locked"].base.get_device_pointer()
    return found


def after_detach(env: Env, *leave_out: str) -> None:
    """Everything made in a context, used when that is gone; host memory keeps its content."""
    made = env.device.make_context()
    old = everything(env)
    for name in leave_out:
        del old[name]
    for name in ("locked", "managed"):
        if name in old:
            old[name][:] = np.arange(4)
    made.detach()
    check(not made.is_alive, "the context says that it is alive")
    check(cuda.Context.get_current() == env.context, "another context is current")
    for name, use in uses(env, old).items():
        with expect(ANY):
            _ = name
            use()
    for use in (made.push, made.detach, made.get_api_version):
        with expect(cuda.LogicError):
            use()
    repr(old), repr(made), hash(made)
    for name in ("locked", "managed"):
        if name in old:
            view = old[name][1:]
            check(np.array_equal(old.pop(name), np.arange(4)), f"{name}: other numbers")
            view[:] = 7  # keeps the memory alone
            check((view == 7).all(), f"{name}: the view lost its memory")
    old.clear()
    gc.collect()


@case(limit=60)
def everything_after_detach(env: Env) -> None:
    after_detach(env)


@case(limit=60)
def everything_after_detach_without_host_memory(env: Env) -> None:
    after_detach(env, "locked", "managed")


@case(limit=30)
def host_memory_of_a_detached_context(env: Env) -> None:
    """Arrays stay, whoever has them; other threads find that the context is gone."""
    made = env.device.make_context()
    pool = cuda.PageLockedMemoryPool()
    arrays = [
        cuda.pagelocked_zeros((), np.float32),
        cuda.pagelocked_zeros(1 << 17, np.float32),
        cuda.managed_zeros(5, np.float32, mem_flags=1),
        cuda.register_host_memory(cuda.aligned_zeros(4096, np.uint8)),
        pool.allocate(64, np.float32),
    ]
    del pool
    inside, go = threading.Event(), threading.Event()
    found: list[str] = []

    def other() -> None:
        made.push()
        inside.set()
        go.wait(20)
        for use in (env.memory, cuda.Stream, cuda.Context.synchronize, cuda.Context.get_device):
            try:
                use()
            except cuda.Error as error:
                found.append(str(error))
        cuda.Context.pop()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(20)
    spin, out = SourceModule(SOURCE).get_function("spin"), cuda.mem_alloc(4)
    spin(np.int32(3000), out, block=ONE)
    made.detach()
    go.set()
    thread.join()
    check(len(found) == 4, f"only {found} in a thread whose context is gone")
    check(cuda.Context.get_current() == env.context, "another context is current")
    env.healthy()
    while arrays:
        array = arrays.pop()
        array[...] = 3
        check((array == 3).all(), "other numbers")
        array.base.free() if hasattr(array.base, "free") else None
        del array
        gc.collect()
    env.healthy()


@case(limit=60)
def everything_in_a_context_that_is_not_current(env: Env) -> None:
    """Objects work in their own context, whatever is current, or say what is wrong."""
    made = env.device.make_context()
    old = everything(env)
    cuda.Context.pop()
    old["add1"](old["memory"], block=(64, 1, 1))
    made.synchronize()
    for name, use in uses(env, old).items():
        _ = name
        if name == "stream.capture":
            continue
        try:
            use()
        except ANY as error:
            check(str(error), f"{name}: no message")
    old.clear()
    gc.collect()
    check(cuda.Context.get_current() == env.context, "another context is current")
    made.push()
    made.detach()


@case(limit=30)
def objects_dropped_after_their_context(env: Env) -> None:
    for _ in range(3):
        made = env.device.make_context()
        old = everything(env)
        spin, out = old["module"].get_function("spin"), cuda.mem_alloc(4)
        spin(np.int32(3000), out, block=ONE, stream=old["stream"])
        made.detach()
        del made
        gc.collect()
        old.clear()
        gc.collect()


@case
def pops_and_pushes(env: Env) -> None:
    while cuda.Context.get_current() is not None:
        cuda.Context.pop()
    with expect(cuda.LogicError, "no context is current"):
        cuda.Context.pop()
    with expect(cuda.LogicError):
        cuda.Context.attach()
    check(cuda.Context.get_current() is None, "a context is current")
    memory = env.memory()  # makes the primary context current
    check(np.array_equal(env.read(memory), env.host), "the memory is broken")
    cuda.Context.pop()
    for _ in range(40):
        env.context.push()
    for _ in range(39):
        cuda.Context.pop()


@case
def a_context_on_the_stack_twice(env: Env) -> None:
    made = env.device.make_context()
    made.push()
    env.context.push()
    made.push()
    made.detach()
    while cuda.Context.get_current() != env.context or made.is_alive:
        cuda.Context.pop()
    del made
    gc.collect()
    with expect(ANY):
        while True:  # to the bottom
            cuda.Context.pop()
    env.context.push()


@case
def a_context_dropped_while_current(env: Env) -> None:
    env.device.make_context()
    gc.collect()
    memory = env.memory()
    check(np.array_equal(env.read(memory), env.host), "the context went while it was current")
    del memory
    current = cuda.Context.get_current()
    check(current != env.context, "the context went while it was current")
    current.detach()


@case
def settings(env: Env) -> None:
    for limit, value in ((99, 1), (-1, 1), ("x", 1), (cuda.limit.STACK_SIZE, -1), (None, None)):
        with expect(ANY):
            cuda.Context.set_limit(limit, value)
    for wrong in (99, -1, "x", None):
        with expect(ANY):
            cuda.Context.get_limit(wrong)
        with expect(ANY):
            cuda.Context.set_cache_config(wrong if wrong != 99 else 2**40)
    for wrong in (None, 5, "x", env.stream):
        with expect(ANY):
            cuda.Context.enable_peer_access(wrong)
        with expect(ANY):
            cuda.memcpy_peer(env.memory(), env.memory(), 4, wrong if wrong is not None else 5)
    for wrong in (-1, 99, 2**40, "x", 1.5, None):
        with expect(ANY):
            cuda.Device(wrong)
    with expect(ANY):
        env.device.make_context(2**31)


@case(alone=True, limit=20)
def a_kernel_fails(env: Env) -> None:
    """Every call says so, nothing crashes, what is dropped goes, the process ends well."""
    old = everything(env)
    old["stream"].synchronize()
    env.kernel("wild")(np.intp(8), block=ONE)
    with expect(cuda.Error, "illegal memory access", "wild"):
        cuda.Context.synchronize()
    for name, use in uses(env, old).items():
        try:
            use()
        except ANY as error:
            check(str(error), f"{name}: no message")
    old.clear()
    gc.collect()
    with expect(cuda.Error, "illegal memory access"):
        cuda.mem_alloc(64)
        cuda.Context.synchronize()
