"""Memory pools: thousands of temporary arrays on two streams, and only a few blocks ever made.

python examples/cuda_pools.py
"""

import time

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule
from pygpu.cuda.tools import DeviceMemoryPool

SOURCE = """
__global__ void add(const int *a, int n, int *b)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    b[i] = a[i] + n;
}
"""
N, STEPS = 10_240, 500

add = SourceModule(SOURCE).get_function("add")
start = np.random.default_rng(0).integers(0, 1000, N).astype(np.int32)
first = cuda.to_device(start)
streams = [cuda.Stream(), cuda.Stream()]


def chain(allocate) -> np.ndarray:
    """Adds 0, 1, ..., STEPS - 1, each into new memory; the one before is dropped meanwhile."""
    memory = first
    for n in range(STEPS):
        result = allocate(start.nbytes)
        add(memory, np.int32(n), result, block=(256, 1, 1), grid=(N // 256, 1), stream=streams[0])
        memory = result
    streams[0].synchronize()
    return cuda.from_device_like(memory, start)


pool = DeviceMemoryPool()
expected = start + sum(range(STEPS))
for name, allocate in {"mem_alloc": cuda.mem_alloc, "pool": pool.allocate}.items():
    begin = time.perf_counter()
    assert (chain(allocate) == expected).all()
    print(f"{name:10} {1e6 * (time.perf_counter() - begin) / STEPS:7.2f} us a step")
blocks = pool.held_blocks
print(f"{STEPS} temporaries of {start.nbytes} bytes lived in {blocks} blocks")
assert blocks == 2 and pool.managed_bytes == blocks * pool.alloc_size(pool.bin_number(4 * N))

# Memory that one stream still uses is given to the other: its work comes later by itself.
outputs = []
for n in range(8):
    memory = pool.allocate(start.nbytes)
    host = cuda.pagelocked_empty(N, np.int32)
    stream = streams[n % 2]
    add(first, np.int32(n), memory, block=(256, 1, 1), grid=(N // 256, 1), stream=stream)
    cuda.memcpy_dtoh_async(host, memory, stream)
    outputs.append(host)
    del memory
cuda.Context.synchronize()
assert all((host == start + n).all() for n, host in enumerate(outputs))
assert pool.held_blocks == 2
