"""Short ordinary uses of pygpu.cuda that together reach every driver function, checking results.

A scenario makes and drops all that it counts: afterwards, as many driver handles are alive as
before.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

import pygpu.cuda.driver as cuda
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
        self.cubin = compile(SOURCE, cache_dir=False)
        self.module = SourceModule(SOURCE)
        self.scale = self.module.get_function("scale")
        self.host = np.arange(N, dtype=np.float32)
        self.simulated = "simulator" in self.device.name()


def scenario(function: Callable[[Base], None]) -> Callable[[Base], None]:
    SCENARIOS[function.__name__] = function
    return function


def same(got: np.ndarray, wanted: np.ndarray) -> None:
    assert (got == wanted).all(), f"{got} instead of {wanted}"


@scenario
def device(base: Base) -> None:
    assert cuda.Device.count() >= 1
    device = cuda.Device(0)
    assert device.name() and device.uuid() and device.total_memory()
    assert cuda.Device(device.pci_bus_id()) == device
    assert device.compute_capability() and device.warp_size == 32
    device.can_access_peer(device)
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
        cuda.Context.get_stream_priority_range()
        made.push()
        cuda.Context.pop()
        assert cuda.Context.get_device() == base.device
        cuda.Context.synchronize()
    finally:
        made.detach()


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
    executable.launch(stream)
    stream.synchronize()
    same(cuda.from_device_like(memory, base.host), 2 * base.host)


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
