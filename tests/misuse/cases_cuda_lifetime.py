"""CUDA: objects dropped, freed and used afterwards, while work still needs them."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
from cuda_env import Env, cuda
from harness import case, check, expect, within

from pygpu.cuda.compiler import SourceModule

ONE = (1, 1, 1)


def uses(env: Env, memory: Any) -> list[Any]:
    """What can be done with memory."""
    host = np.zeros(4, np.float32)
    return [
        lambda: env.add1(memory, block=ONE),
        lambda: cuda.memcpy_htod(memory, host),
        lambda: cuda.memcpy_dtoh(host, memory),
        lambda: cuda.memcpy_htod_async(memory, host, env.stream),
        lambda: cuda.memset_d8(memory, 0, 1),
        lambda: cuda.memcpy_dtod(env.memory(), memory, 4),
        lambda: int(memory),
        lambda: memory.__cuda_array_interface__,
        lambda: memory.__dlpack__(),
        lambda: memory.as_buffer(4),
        lambda: cuda.from_device(memory, 1, np.float32),
        lambda: memory.free(),
        lambda: cuda.InOut(host) and env.add1(memory, block=ONE, stream=env.stream),
    ]


@case
def memory_after_free(env: Env) -> None:
    pool = cuda.DeviceMemoryPool()
    for memory in (cuda.mem_alloc(64), pool.allocate(64), cuda.mem_alloc_async(64, env.stream)):
        memory.free()
        for use in uses(env, memory):
            with expect(cuda.LogicError, "freed"):
                use()
        check("freed" in repr(memory), "repr does not say that it is freed")
    pool.free_held()


@case
def memory_freed_with_work_pending(env: Env) -> None:
    """Each free of memory that running work uses: the work ends, the numbers are right."""
    for _ in range(3):
        out = env.spin(env.stream)
        out.free()
        memory = env.memory()
        env.add1(memory, block=(64, 1, 1), stream=env.stream)
        back = np.empty_like(env.host)
        cuda.memcpy_dtoh_async(back, memory, env.stream)
        memory.free()
        env.stream.synchronize()
        check(np.array_equal(back, env.host + 1), "the copy was spoilt")


@case
def host_memory_of_pending_copies(env: Env) -> None:
    env.spin(env.stream)
    memory = cuda.mem_alloc(1 << 20)
    for k in range(20):  # each array is dropped at once
        cuda.memcpy_htod_async(memory, np.full(1 << 18, k, np.float32), env.stream)
    gc.collect()
    filler = [np.full(1 << 18, -1, np.float32) for _ in range(20)]
    env.stream.synchronize()
    check((env.read(memory, 1 << 18) == 19).all(), "the last array was not copied")
    del filler


@case
def a_bytearray_of_a_pending_copy(env: Env) -> None:
    env.spin(env.stream)
    data, memory = bytearray(b"x" * 4096), cuda.mem_alloc(4096)
    cuda.memcpy_htod_async(memory, data, env.stream)
    with expect(BufferError):
        data.extend(b"y" * 10**6)
    env.stream.synchronize()
    cuda.Context.synchronize()
    cuda.memcpy_dtoh(data, memory)
    check(data == b"x" * 4096, "the copy was spoilt")


@case
def streams_and_events_dropped_with_work_pending(env: Env) -> None:
    memory = env.memory()
    with within(2, "dropping streams"):
        for _ in range(20):
            stream, event = cuda.Stream(), cuda.Event()
            env.add1(memory, block=(64, 1, 1), stream=stream)
            event.record(stream)
            env.stream.wait_for_event(event)
            del stream, event
    cuda.Context.synchronize()


@case
def modules_dropped_with_work_pending(env: Env) -> None:
    memory = cuda.mem_alloc(4)
    for k in range(3):
        module = SourceModule(f"__global__ void store(int *a) {{ *a = {k}; }}")
        store = module.get_function("store")
        env.spin(env.stream)
        store(memory, block=ONE, stream=env.stream)
        del module, store
        gc.collect()
        env.stream.synchronize()
        check(env.read(memory, 1, np.int32)[0] == k, "the kernel did not run")


@case
def a_function_outlives_its_module(env: Env) -> None:
    store = SourceModule("__global__ void store(int *a) { *a = 42; }").get_function("store")
    pointer, _ = env.module.module.get_global("table")
    gc.collect()
    memory = cuda.mem_alloc(4)
    store(memory, block=ONE)
    check(env.read(memory, 1, np.int32)[0] == 42, "the launch went wrong")
    cuda.memcpy_htod(pointer, np.ones(4, np.float32))


@case
def host_memory_after_free(env: Env) -> None:
    for make in (
        lambda: cuda.pagelocked_empty(64, np.float32),
        lambda: cuda.aligned_empty(64, np.float32),
        lambda: cuda.managed_empty(64, np.float32, mem_flags=1),
        lambda: cuda.PageLockedMemoryPool().allocate(64, np.float32),
    ):
        array = make()
        array[:] = 1
        base = array.base
        base.free()
        check(array.size == 0, "the array still shows the memory")
        with expect(cuda.LogicError):
            base.free()
        with expect((cuda.LogicError, AttributeError)):
            base.get_device_pointer()
    array = cuda.register_host_memory(cuda.aligned_empty(4096, np.uint8))
    array.base.unregister()
    with expect(cuda.LogicError):
        array.base.unregister()


@case
def views_of_freed_managed_memory(env: Env) -> None:
    managed = cuda.managed_empty((8, 8), np.float32, mem_flags=1)
    view = managed[2:, ::2]
    managed.base.free()
    view[:] = 5  # the memory stays as long as the view
    check((view == 5).all(), "the view is broken")


@case
def textures_keep_their_arrays(env: Env) -> None:
    array = cuda.matrix_to_array(env.host.reshape(8, 8), "C")
    texture = cuda.TextureObject(array)
    array.free()
    check(texture.handle != 0, "the texture lost its handle")
    del array
    gc.collect()
    del texture


@case
def pools_dropped_and_stopped(env: Env) -> None:
    pool = cuda.DeviceMemoryPool()
    block = pool.allocate(1000)
    pool.stop_holding()
    del pool
    gc.collect()
    cuda.memset_d8(block, 7, 1000)
    check((env.read(block, 1000, np.uint8) == 7).all(), "the block lost its memory")
    del block
    locked = cuda.PageLockedMemoryPool()
    array = locked.allocate(64, np.float32)
    del locked
    gc.collect()
    array[:] = 3
    check((array == 3).all(), "the array lost its memory")


@case
def graphs_keep_what_they_use(env: Env) -> None:
    memory = env.memory()
    stream = cuda.Stream()
    stream.begin_capture()
    env.add1(memory, block=(64, 1, 1), stream=stream)
    cuda.memcpy_htod_async(memory, env.host * 3, stream)
    graph = stream.end_capture()
    run = graph.instantiate()
    address = int(memory)
    del memory, graph
    gc.collect()
    filler = [cuda.mem_alloc(256) for _ in range(20)]
    run.launch(stream)
    stream.synchronize()
    check(np.array_equal(env.read(address), env.host * 3), "the graph lost its memory")
    run.launch(stream)
    del run, filler


@case
def a_linker_is_used_up(env: Env) -> None:
    linker = cuda.Linker()
    linked = False
    try:  # a driver may make a module of nothing
        linked = linker.link_module() is not None
    except cuda.Error as error:
        check(str(error), "no message")
    if linked:
        with expect(cuda.Error, "make another one"):
            linker.link_module()
        with expect(cuda.Error, "make another one"):
            linker.add_data(b"x", cuda.jit_input_type.PTX)
    del linker
    for wrong in (b"", b"junk", "x", None, 5):
        with expect((cuda.Error, TypeError, ValueError)):
            cuda.Linker().add_data(wrong, cuda.jit_input_type.PTX)
