"""Fail each Python allocation of uses of CUDA: cuda_memory_worker.py RESULTS FIRST STEP [FROM]

Walks every STEP-th use from FIRST on, as memory_worker does; a trial's number is 1000 times that of
the use and the number of the allocation. A use calls C alone, as far as it can: Python's and
NumPy's own failures are not what is tested.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any, TextIO

import memory_worker
import numpy as np
from cuda_scenarios import Base, N
from memory_worker import attempt, settle, tell

import pygpu.cuda.driver as cuda
from pygpu import _cuda

QUIET = 12
"""So many successes in a row mean that there are no more allocations than that."""


def prepare(base: Base) -> dict[str, Callable[[], Any]]:
    """The actions, with all they need made before."""
    host, got, nbytes = base.host, np.empty_like(base.host), base.host.nbytes
    a, b = cuda.to_device(host), cuda.to_device(host)
    stream, other = cuda.Stream(), cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    event = cuda.Event()
    scale, one, n = base.scale, np.float32(1), np.int32(N)
    block, grid = (N, 1, 1), (1, 1)
    prepared = base.module.get_function("scale").prepare("Pfi")
    pool = cuda.DeviceMemoryPool()
    locked = cuda.PageLockedMemoryPool(cuda.PageLockedAllocator())
    page = cuda.aligned_empty(4096, np.uint8)
    managed_flags = cuda.mem_attach_flags.GLOBAL
    image = np.arange(16, dtype=np.float32).reshape(4, 4)
    array = cuda.matrix_to_array(image, "C")
    line = cuda.ArrayDescriptor()
    line.width, line.height = 4, 0
    line.format, line.num_channels = cuda.array_format.FLOAT, 1
    row = cuda.Array(line)
    drawn = cuda.ArrayDescriptor3D()
    drawn.width, drawn.height, drawn.depth = 4, 4, 0
    drawn.format, drawn.num_channels = cuda.array_format.FLOAT, 1
    drawn.flags = cuda.array3d_flags.SURFACE_LDST
    canvas = cuda.Array(drawn)
    box = cuda.Memcpy2D()
    box.src_pitch = box.dst_pitch = box.width_in_bytes = 16
    box.height = 4
    seen: list[int] = []
    stream.begin_capture()
    scale(a, one, n, block=block, stream=stream)
    graph = stream.end_capture()
    executable = graph.instantiate()
    multiprocessors = cuda.device_attribute.MULTIPROCESSOR_COUNT
    f32, text = np.dtype(np.float32), "__global__ void shift(int *a) { *a += 1; }"

    class Interface:
        __cuda_array_interface__ = {**a.__cuda_array_interface__, "typestr": "<f4", "shape": (N,)}

    class Address:
        gpudata = int(a)

    def capture() -> None:
        stream.begin_capture()
        try:
            scale(a, one, n, block=block, stream=stream)
            cuda.memcpy_htod_async(a, host, stream)
        finally:
            made = stream.end_capture()
        made.instantiate().launch(stream)

    # Made before: CPython 3.12 and 3.13 drop the code of a lambda that they have no memory for.
    refused = (
        lambda: scale(a, one, block=block),
        lambda: scale(a, "x", n, block=block),
        lambda: scale(a, one, 2**40, block=block),
        lambda: scale(a, one, n, block=(4096, 1, 1)),
        lambda: scale(a, one, n, block=block, blok=3),
        lambda: cuda.memcpy_htod(int(a) + 8, host),
        lambda: cuda.mem_alloc(-1),
        lambda: base.module.get_function("none"),
    )

    def refusals() -> None:
        for action in refused:
            try:
                action()
            except (TypeError, ValueError, OverflowError, cuda.LogicError):
                pass

    def across() -> None:
        for used in (stream, other):
            memory = pool.allocate(nbytes)
            cuda.memset_d8_async(memory, 1, 4, used)
            memory.free()

    def context() -> None:
        made = base.device.make_context()
        made.detach()

    def managed() -> None:
        made = cuda.managed_empty(N, f32, mem_flags=managed_flags)
        scale(made, one, n, block=block)
        cuda.Context.synchronize()
        made.base.free()

    actions = {
        "device": lambda: (
            cuda.Device(0).name(), cuda.Device.count(), base.device.pci_bus_id(),
            base.device.uuid(), base.device.total_memory(), base.device.compute_capability(),
            base.device.get_attributes(), base.device.warp_size,
            base.device.get_attribute(multiprocessors), repr(base.device),
        ),
        "context": context,
        "memory": lambda: (
            cuda.mem_alloc(64), cuda.mem_alloc_pitch(16, 4, 4), cuda.mem_get_info(),
            cuda.mem_get_address_range(a), repr(a), a.as_buffer(16), cuda.mem_alloc_like(host),
        ),
        "copies": lambda: (
            cuda.memcpy_htod(a, host), cuda.memcpy_dtod(b, a, nbytes), cuda.memcpy_dtoh(got, b),
            cuda.to_device(host), cuda.from_device(a, (N,), f32), cuda.from_device_like(a, host),
        ),
        "asynchronous": lambda: (
            cuda.memcpy_htod_async(a, host, stream), cuda.memcpy_dtod_async(b, a, 64, stream),
            cuda.memcpy_dtoh_async(got, b, stream), cuda.memcpy_htod_async(a, bytes(64), stream),
            stream.synchronize(),
        ),
        "numbers": lambda: (
            cuda.memcpy_htod(int(a), host), cuda.memcpy_dtoh(got, Interface()),
            scale(int(a), 1, N, block=64), scale(Interface(), one, n, block=[64], grid=[1]),
            scale(Address(), one, n, block=(np.int64(64), 1, 1)),
        ),
        "fills": lambda: (
            cuda.memset_d8(a, 1, 16), cuda.memset_d32_async(a, 1, 16, stream),
            cuda.memset_d2d16(a, 32, 1, 8, 2), stream.synchronize(),
        ),
        "boxes": lambda: (
            cuda.Memcpy3D(), box.set_src_host(image), box.set_dst_device(a), box(),
            box(stream), stream.synchronize(),
        ),
        "peers": lambda: cuda.memcpy_peer(a, b, 64),
        "launch": lambda: (
            scale(a, one, n, block=block, grid=grid), scale(a, 1.0, N, block=block, stream=stream),
            scale(a, one, n, block=block, cooperative=True),
        ),
        "prepared": lambda: (
            prepared.prepare("Pfi"), prepared.prepared_call(grid, block, a, 1, N),
            prepared.prepared_async_call(grid, block, stream, a, 1, N),
            prepared.prepared_timed_call(grid, block, a, 1, N)(),
            scale(a, one, n, block=block, time_kernel=True),
        ),
        "handlers": lambda: scale(cuda.InOut(got), one, n, block=block, stream=stream),
        "refusals": refusals,
        "attributes": lambda: (
            scale.num_regs, scale.shared_size_bytes, scale.set_cache_config(0), repr(scale),
            base.module.get_function("scale"), base.module.get_global("factor"),
        ),
        "occupancy": lambda: (
            scale.max_active_blocks(64), scale.suggest_block(), scale.available_shared(1, 64),
            scale.suggest_block(shared=abs),
        ),
        "host": lambda: (
            cuda.pagelocked_empty((4, 4), f32), cuda.pagelocked_zeros_like(image),
            cuda.aligned_zeros(64, np.uint8), cuda.pagelocked_empty(4, f32).base.get_flags(),
        ),
        "registered": lambda: cuda.register_host_memory(page).base.unregister(),
        "managed": managed,
        "events": lambda: (
            event.record(stream), event.synchronize(), cuda.Event().record().query(),
            stream.wait_for_event(event), repr(event),
        ),
        "streams": lambda: (
            cuda.Stream().synchronize(), cuda.Stream(priority=0).is_done(), repr(stream),
            stream.__cuda_stream__(), cuda.Stream.from_handle(stream.handle) == stream,
        ),
        "host_function": lambda: (
            cuda.launch_host_func(stream, seen.append, 1), stream.synchronize(),
        ),
        "graph": lambda: (
            capture(), executable.launch(stream), graph.clone().nodes(),
            executable.update(graph), cuda.Graph(), stream.synchronize(),
        ),
        "ordered": lambda: (
            cuda.mem_free_async(cuda.mem_alloc_async(64, stream), other), stream.synchronize(),
            other.synchronize(),
        ),
        "pool": lambda: (
            (held := cuda.DeviceMemoryPool()).allocate(64), held.allocate(64).free(),
            int(held.allocate(100000)), repr(held), held.free_held(),
        ),
        "host_pool": lambda: (locked.allocate((4, 4), f32), locked.free_held()),
        "pool_across_streams": across,
        "arrays": lambda: (
            cuda.Array(line), array.get_descriptor(), cuda.memcpy_htoa(row, 0, image[1]),
            cuda.memcpy_atoh(got[:4], row, 0), cuda.matrix_to_array(image, "F"),
        ),
        "texture": lambda: cuda.TextureObject(array).resource,
        "surface": lambda: cuda.SurfaceObject(canvas),
        "module": lambda: (
            cuda.module_from_buffer(base.cubin).get_function("scale")(a, one, n, block=block)
        ),
        "linker": lambda: (
            (linker := cuda.Linker()).add_data(base.linkable, cuda.jit_input_type.PTX, "a"),
            linker.link_module(),
        ),
        "exchange": lambda: (
            a.__cuda_array_interface__, a.__dlpack_device__(), a.__dlpack__(), stream.handle,
        ),
        "compile": lambda: _cuda._nvrtc_compile(text, "kernel.cu", (), (), (), ("shift",)),
    }  # fmt: skip
    return actions


def walk(stream: TextIO, use: int, name: str, action: Callable[[], Any], n: int) -> int:
    """All allocations from n on; how many of them failed the use."""
    import _testcapi

    for _ in range(3):
        action()
    cuda.Context.synchronize()
    before = settle(memory_worker.handles())
    quiet = failed = 0
    while quiet < QUIET:
        tell(stream, step="try", number=1000 * use + n, name=name)
        error = attempt(_testcapi, action, n)
        quiet = quiet + 1 if error is None else 0
        failed += error is not None
        # The interpreter's own frames fail like this, where no memory is left for them.
        frame = isinstance(error, SystemError) and "error return without exception" in str(error)
        if error is not None and not isinstance(error, MemoryError) and not frame:
            wrong = f"{type(error).__name__}: {str(error)[:300]}"
            tell(stream, step="wrong", number=n, name=name, wrong=wrong)
        error = None
        cuda.Context.synchronize()
        after = settle(before)
        if after != before:
            wrong = f"handles before {before}, after {after}"
            tell(stream, step="wrong", number=n, name=name, wrong=wrong)
            before = after
        n += 1
    action()
    return failed


def main() -> None:
    path, first, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    start = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    with open(path, "a") as stream:
        tell(stream, step="start")
        actions = prepare(Base())
        gc.collect()
        gc.freeze()  # as memory_worker.run()
        failed = {}
        for use, (name, action) in enumerate(actions.items()):
            if use % step == first and use >= start // 1000:
                begin = start % 1000 if use == start // 1000 else 0
                failed[name] = walk(stream, use, name, action, begin)
        tell(stream, step="done", failed=failed, all=list(actions))


if __name__ == "__main__":
    memory_worker.hooks = _cuda
    main()
