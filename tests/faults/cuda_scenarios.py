"""Short ordinary uses of pygpu.cuda that together reach every driver function, checking results.

A scenario makes and drops all that it counts: afterwards, as many driver handles are alive as
before.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu import _cuda
from pygpu.cuda.compiler import SourceModule, compile

SOURCE = """
__constant__ float factor;
__device__ float total[4];
__global__ void scale(float *a, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] *= by + factor;
}
"""
N = 64
SCENARIOS: dict[str, Callable[[Base], None]] = {}


class Base:
    """What scenarios share."""

    def __init__(self) -> None:
        warnings.simplefilter("ignore")
        self.device = cuda.Device(0)
        self.context = self.device.retain_primary_context()
        self.context.push()
        self.other = cuda.Device(cuda.Device.count() - 1).retain_primary_context()
        for default in (self.other, None):
            _cuda.Context._set_default(default)  # former ones are kept
        self.cubin = compile(SOURCE, cache_dir=False)
        self.module = SourceModule(SOURCE)
        self.scale = self.module.get_function("scale")
        self.host = np.arange(N, dtype=np.float32)
        self.linkable = compile(SOURCE, options=["-rdc=true"], target="ptx", cache_dir=False)
        self._lender: subprocess.Popen[str] | None = None
        self._lent = ""

    def ipc_handles(self) -> tuple[bytes, bytes]:
        """Handles of memory (N floats) and of an event, which a process of ours owns."""
        if self._lender is None:
            self._lender = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", LENDER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert self._lender.stdout is not None
            self._lent = self._lender.stdout.readline()
        memory, event = self._lent.split()
        return bytes.fromhex(memory), bytes.fromhex(event)


LENDER = """
import sys
import numpy as np
import pygpu.cuda.driver as cuda

memory = cuda.to_device(np.arange(64, dtype=np.float32))
event = cuda.Event(cuda.event_flags.INTERPROCESS | cuda.event_flags.DISABLE_TIMING)
print(cuda.mem_get_ipc_handle(memory).hex(), event.ipc_handle().hex(), flush=True)
sys.stdin.read()
"""


def scenario(function: Callable[[Base], None]) -> Callable[[Base], None]:
    SCENARIOS[function.__name__] = function
    return function


def same(got: np.ndarray, wanted: np.ndarray) -> None:
    assert (got == wanted).all(), f"{got} instead of {wanted}"


def surely(undo: Callable[[], Any]) -> None:
    """Call what undoes something; once more, if it fails once."""
    try:
        undo()
    except cuda.Error:
        undo()
        raise


def in_thread(function: Callable[[], Any]) -> None:
    """Call it in another thread; what it raises is raised here."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors.pop()


@scenario
def device(base: Base) -> None:
    assert cuda.Device.count() >= 1
    device = cuda.Device(0)
    assert device.name() and device.uuid() and device.total_memory()
    assert cuda.Device(device.pci_bus_id()) == device
    assert device.compute_capability() and device.warp_size == 32
    device.can_access_peer(device)
    if cuda.Device.count() > 1:
        device.get_p2p_attribute(cuda.p2p_attribute.ACCESS_SUPPORTED, cuda.Device(1))
    cuda.mem_get_info()


@scenario
def contexts(base: Base) -> None:
    made = base.device.make_context()
    try:
        made.get_api_version()
        cuda.Context.set_limit(cuda.limit.STACK_SIZE, 2048)
        assert cuda.Context.get_limit(cuda.limit.STACK_SIZE) >= 2048
        cuda.Context.set_cache_config(cuda.func_cache.PREFER_NONE)
        cuda.Context.get_cache_config()
        cuda.Context.set_shared_config(cuda.shared_config.FOUR_BYTE_BANK_SIZE)
        cuda.Context.get_shared_config()
        cuda.Context.get_stream_priority_range()
        made.push()
        cuda.Context.pop()
        assert cuda.Context.get_device() == base.device
        cuda.Context.synchronize()
    finally:
        made.detach()


@scenario
def foreign_contexts(base: Base) -> None:
    driver = ctypes.CDLL(_cuda._library())
    made, popped = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuCtxCreate_v2(ctypes.byref(made), 0, 0) == 0
    try:
        assert cuda.Context.get_current().handle == made.value
        memory = cuda.to_device(base.host)
        same(cuda.from_device_like(memory, base.host), base.host)
        del memory
    finally:
        driver.cuCtxPopCurrent_v2(ctypes.byref(popped))
        driver.cuCtxDestroy_v2(made)


@scenario
def primary_contexts(base: Base) -> None:
    assert base.device.retain_primary_context() == base.context
    other = cuda.Device(cuda.Device.count() - 1).retain_primary_context()
    other.push()
    surely(other.detach)


@scenario
def threads(base: Base) -> None:
    """Where no context is current, and waits need not hear signals."""

    def work() -> None:
        memory, stream = cuda.to_device(base.host), cuda.Stream()
        cuda.memset_d8_async(memory, 0, 4, stream)
        cuda.Event().record(stream).synchronize()
        stream.synchronize()
        same(cuda.from_device_like(memory, base.host), base.host)

    in_thread(work)


@scenario
def default_contexts(base: Base) -> None:
    """A thread whose context was made current by default follows the default device."""
    memory = cuda.to_device(base.host)

    def work() -> None:
        _cuda.Context._set_default(base.other)
        cuda.memset_d8(cuda.mem_alloc(4), 0, 4)
        _cuda.Context._set_default(base.context)
        base.scale(memory, np.float32(2), np.int32(N), block=(32, 1, 1), grid=(2, 1))

    try:
        in_thread(work)
    finally:
        _cuda.Context._set_default(None)
    same(cuda.from_device_like(memory, base.host), 2 * base.host)


@scenario
def peers(base: Base) -> None:
    memory, stream, n = cuda.to_device(base.host), cuda.Stream(), base.host.nbytes
    second = cuda.Device(cuda.Device.count() - 1).retain_primary_context()
    second.push()
    try:
        other = cuda.mem_alloc(n)
        if second.get_device() != base.device and second.get_device().can_access_peer(base.device):
            cuda.Context.enable_peer_access(base.context)
            surely(lambda: cuda.Context.disable_peer_access(base.context))
    finally:
        surely(cuda.Context.pop)
    cuda.memcpy_peer(other, memory, n)
    cuda.memcpy_peer_async(other, memory, n, stream=stream)
    stream.synchronize()
    copy = cuda.Memcpy3DPeer()
    copy.set_src_device(memory)
    copy.set_dst_device(other)
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = n
    copy.height = copy.depth = copy.src_height = copy.dst_height = 1
    copy()
    copy(stream)
    stream.synchronize()
    cuda.Context.synchronize()
    second.push()
    try:
        same(cuda.from_device_like(other, base.host), base.host)
        del other
    finally:
        surely(cuda.Context.pop)


@scenario
def other_processes(base: Base) -> None:
    if cuda.Device(0).name().startswith("CPU simulator"):  # where each of them is refused
        event = cuda.Event(cuda.event_flags.DISABLE_TIMING)
        for use in (
            lambda: cuda.mem_get_ipc_handle(cuda.mem_alloc(64)),
            lambda: cuda.IPCMemoryHandle(bytes(64)),
            lambda: cuda.Event.from_ipc_handle(bytes(64)),
            lambda: event.ipc_handle(),
        ):
            with contextlib.suppress(cuda.LogicError):
                use()
        return
    memory_handle, event_handle = base.ipc_handles()
    memory = cuda.IPCMemoryHandle(memory_handle)
    same(cuda.from_device_like(memory, base.host), base.host)
    memory.close()
    assert cuda.Event.from_ipc_handle(event_handle).query()
    assert len(cuda.mem_get_ipc_handle(cuda.mem_alloc(64))) == 64
    mine = cuda.Event(cuda.event_flags.INTERPROCESS | cuda.event_flags.DISABLE_TIMING)
    assert len(mine.ipc_handle()) == 64


@scenario
def streams(base: Base) -> None:
    stream, other = cuda.Stream(), cuda.Stream(priority=0)
    start, end = cuda.Event(), cuda.Event()
    start.record(stream)
    other.wait_for_event(start)
    end.record(other).synchronize()
    assert end.query() and end.time_since(start) >= 0
    stream.synchronize()
    assert other.is_done()
    assert stream.flags == 0 and stream.priority == 0


@scenario
def copies(base: Base) -> None:
    a, b = cuda.mem_alloc(base.host.nbytes), cuda.to_device(base.host)
    cuda.memcpy_htod(a, base.host)
    cuda.memcpy_dtod(b, a, base.host.nbytes)
    same(cuda.from_device_like(b, base.host), base.host)
    cuda.memcpy_dtoh(out := np.empty_like(base.host), int(a))
    same(out, base.host)
    cuda.mem_get_address_range(a)
    a.free()


@scenario
def asynchronous(base: Base) -> None:
    stream = cuda.Stream()
    a, b = cuda.mem_alloc(base.host.nbytes), cuda.mem_alloc(base.host.nbytes)
    cuda.memcpy_htod_async(a, base.host, stream)
    cuda.memcpy_dtod_async(b, a, base.host.nbytes, stream)
    out = np.empty_like(base.host)
    cuda.memcpy_dtoh_async(out, b, stream)
    stream.synchronize()
    same(out, base.host)


@scenario
def fills(base: Base) -> None:
    stream = cuda.Stream()
    a = cuda.mem_alloc(256)
    for fill, dtype in ((cuda.memset_d8, "u1"), (cuda.memset_d16, "u2"), (cuda.memset_d32, "u4")):
        fill(a, 7, 16)
        same(cuda.from_device(a, (16,), dtype), np.full(16, 7, dtype))
    cuda.memset_d8_async(a, 1, 16, stream)
    cuda.memset_d16_async(a, 1, 16, stream)
    cuda.memset_d32_async(a, 9, 16, stream)
    stream.synchronize()
    same(cuda.from_device(a, (16,), "u4"), np.full(16, 9, "u4"))
    pitched, pitch = cuda.mem_alloc_pitch(16, 4, 4)
    cuda.memset_d2d8(pitched, pitch, 1, 16, 4)
    cuda.memset_d2d16(pitched, pitch, 1, 8, 4)
    cuda.memset_d2d32(pitched, pitch, 5, 4, 4)
    cuda.memset_d2d8_async(pitched, pitch, 5, 1, 1, stream)
    cuda.memset_d2d16_async(pitched, pitch, 5, 1, 1, stream)
    cuda.memset_d2d32_async(pitched, pitch, 5, 1, 1, stream)
    stream.synchronize()
    same(cuda.from_device(pitched, (4,), "u4"), np.full(4, 5, "u4"))


@scenario
def boxes(base: Base) -> None:
    stream = cuda.Stream()
    host = np.arange(32, dtype=np.uint8).reshape(4, 8)
    pitched, pitch = cuda.mem_alloc_pitch(8, 4, 4)
    copy = cuda.Memcpy2D()
    copy.set_src_host(host)
    copy.set_dst_device(pitched)
    copy.src_pitch, copy.dst_pitch = 8, pitch
    copy.width_in_bytes, copy.height = 8, 4
    copy(aligned=True)
    copy(aligned=False)
    copy(stream)
    stream.synchronize()
    back = np.zeros((4, 8), np.uint8)
    copy = cuda.Memcpy3D()
    copy.set_src_device(pitched)
    copy.set_dst_host(back)
    copy.src_pitch, copy.dst_pitch, copy.src_height, copy.dst_height = pitch, 8, 4, 4
    copy.width_in_bytes, copy.height, copy.depth = 8, 4, 1
    copy()
    same(back, host)
    copy(stream)
    stream.synchronize()


@scenario
def host_memory(base: Base) -> None:
    locked = cuda.pagelocked_empty(N, np.float32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
    locked[:] = base.host
    assert locked.base.get_device_pointer() and locked.base.get_flags() >= 0
    aligned = cuda.aligned_empty(4096, np.uint8)
    registered = cuda.register_host_memory(aligned, cuda.mem_host_register_flags.DEVICEMAP)
    registered.base.unregister()
    managed = cuda.managed_empty(N, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    managed[:] = base.host
    managed.base.attach(cuda.mem_attach_flags.GLOBAL)
    cuda.Context.synchronize()
    same(managed, locked)


@scenario
def launches(base: Base) -> None:
    module = cuda.module_from_buffer(base.cubin)
    scale = module.get_function("scale")
    pointer, size = module.get_global("factor")
    assert size == 4
    cuda.memcpy_htod(pointer, np.float32(1))
    a = base.host.copy()
    scale(cuda.InOut(a), np.float32(1), np.int32(N), block=(32, 1, 1), grid=(2, 1))
    same(a, 2 * base.host)
    scale.prepare("Pfi")
    memory = cuda.to_device(base.host)
    stream = cuda.Stream()
    scale.prepared_async_call((2, 1), (32, 1, 1), stream, memory, 1, N)
    stream.synchronize()
    assert scale.num_regs >= 0
    scale.set_cache_config(cuda.func_cache.PREFER_L1)
    scale.set_shared_config(cuda.shared_config.FOUR_BYTE_BANK_SIZE)
    scale.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024)
    scale(memory, np.float32(2), np.int32(N), block=(N, 1, 1), cooperative=True)
    same(cuda.from_device_like(memory, base.host), 6 * base.host)  # (1 + 1) * (2 + 1)


@scenario
def occupancy(base: Base) -> None:
    scale = base.scale
    assert scale.max_active_blocks(64) >= scale.max_active_blocks(64, flags=1) >= 1
    assert scale.suggest_block()[1] >= 32
    assert scale.available_shared(1, 64) > 0
    with contextlib.suppress(cuda.LogicError):  # a device without clusters
        assert scale.max_cluster_size(64) >= 1
    with contextlib.suppress(cuda.LogicError):
        assert scale.max_active_clusters(64, 2, 2) >= 0


@scenario
def linking(base: Base) -> None:
    linker = cuda.Linker()
    linker.add_data(base.linkable, cuda.jit_input_type.PTX, "scale.ptx")
    assert linker.link_module().get_function("scale").num_regs >= 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scale.ptx")
        with open(path, "wb") as file:
            file.write(base.linkable)
        linker = cuda.Linker()
        linker.add_file(path, cuda.jit_input_type.PTX)
    linker.link_module()


@scenario
def compiling(base: Base) -> None:
    source = "template<class T> __global__ void store(T *a) { *a = T(7); }"
    module = SourceModule(source, cache_dir=False, name_expressions=["store<float>"])
    out = np.zeros(1, np.float32)
    module.get_function("store<float>")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 7


@scenario
def host_functions(base: Base) -> None:
    stream, called = cuda.Stream(), []
    cuda.launch_host_func(stream, called.append, 1)
    stream.synchronize()
    assert called == [1]


@scenario
def graphs(base: Base) -> None:
    stream = cuda.Stream()
    memory = cuda.to_device(base.host)
    stream.begin_capture()
    try:
        base.scale(memory, np.float32(2), np.int32(N), block=(N, 1, 1), stream=stream)
    finally:
        graph = stream.end_capture()
    executable = graph.instantiate()
    executable.upload(stream)
    executable.launch(stream)
    stream.synchronize()
    same(cuda.from_device_like(memory, base.host), 2 * base.host)
    copy = graph.clone()
    assert [kind for _, kind in copy.nodes()] == [cuda.graph_node_type.KERNEL]
    executable.update(copy)
    with tempfile.TemporaryDirectory() as folder:
        copy.debug_dot(os.path.join(folder, "graph.dot"))
    assert not cuda.Graph().nodes() and not stream.is_capturing


@scenario
def captured_pools(base: Base) -> None:
    """Memory that a stream still uses goes to a captured one: the host waits for the first."""
    pool, apart = cuda.DeviceMemoryPool(), cuda.stream_flags.NON_BLOCKING
    first, second = cuda.Stream(apart), cuda.Stream(apart)
    block = pool.allocate(base.host.nbytes)
    cuda.memset_d8_async(block, 1, 4, first)
    del block
    block = pool.allocate(base.host.nbytes)
    second.begin_capture()
    try:
        cuda.memset_d8_async(block, 2, base.host.nbytes, second)
    finally:
        graph = second.end_capture()
    graph.instantiate().launch(second)
    second.synchronize()
    same(cuda.from_device(block, (4,), np.uint8), np.full(4, 2, np.uint8))


@scenario
def ordered_memory(base: Base) -> None:
    stream = cuda.Stream()
    memory = cuda.mem_alloc_async(base.host.nbytes, stream)
    cuda.memcpy_htod_async(memory, base.host, stream)
    out = np.empty_like(base.host)
    cuda.memcpy_dtoh_async(out, memory, stream)
    cuda.mem_free_async(memory, stream)
    stream.synchronize()
    same(out, base.host)


@scenario
def pools(base: Base) -> None:
    pool = cuda.DeviceMemoryPool()
    block = pool.allocate(base.host.nbytes)
    cuda.memcpy_htod(block, base.host)
    same(cuda.from_device_like(int(block), base.host), base.host)
    block.free()
    pool.free_held()
    locked = cuda.PageLockedMemoryPool(cuda.PageLockedAllocator())
    array = locked.allocate((N,), np.float32)
    array[:] = 1
    del array
    locked.stop_holding()


@scenario
def arrays(base: Base) -> None:
    image = np.arange(16, dtype=np.float32).reshape(4, 4)
    array = cuda.matrix_to_array(image, "C")
    assert array.get_descriptor().width == 4
    texture = cuda.TextureObject(array)
    assert texture.handle
    solid = cuda.np_to_array(np.zeros((2, 3, 4), np.float32), "C")
    assert solid.get_descriptor_3d().depth == 2
    memory = cuda.to_device(image)
    cuda.memcpy_dtoa(array, 0, memory, 16)
    cuda.memcpy_atod(memory, array, 0, 16)
    same(cuda.from_device(memory, (4,), np.float32), image[0])
    line = cuda.ArrayDescriptor()
    line.width, line.height = 4, 0
    line.format, line.num_channels = cuda.array_format.FLOAT, 1
    row, other = cuda.Array(line), cuda.Array(line)
    cuda.memcpy_htoa(row, 0, image[1])
    cuda.memcpy_atoa(other, 0, row, 0, 16)
    cuda.memcpy_atoh(back := np.zeros(4, np.float32), other, 0)
    same(back, image[1])
    drawn = cuda.ArrayDescriptor3D()
    drawn.width, drawn.height, drawn.depth = 4, 4, 0
    drawn.format, drawn.num_channels = cuda.array_format.FLOAT, 1
    drawn.flags = cuda.array3d_flags.SURFACE_LDST
    assert cuda.SurfaceObject(cuda.Array(drawn)).handle


@scenario
def profiling(base: Base) -> None:
    cuda.start_profiler()
    cuda.stop_profiler()
