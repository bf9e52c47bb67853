"""Prepared calls: the types of a kernel's arguments declared once; what one launch costs the host.

python examples/cuda_prepared.py
"""

import time

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
__global__ void add(float *out, const float *a, const float *b, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        out[i] = a[i] + b[i];
}
"""
N, LAUNCHES = 1000, 200

add = SourceModule(SOURCE).get_function("add").prepare("PPPi")
a, b = np.random.default_rng(0).random((2, N), np.float32)
out = cuda.mem_alloc(a.nbytes)
a_gpu, b_gpu = cuda.to_device(a), cuda.to_device(b)
grid, block = ((N + 255) // 256, 1), (256, 1, 1)

add.prepared_call(grid, block, out, a_gpu, b_gpu, N)
assert np.array_equal(cuda.from_device_like(out, a), a + b)

stream = cuda.Stream()
for name, launch in {
    "plain": lambda: add(out, a_gpu, b_gpu, N, grid=grid, block=block),
    "prepared": lambda: add.prepared_call(grid, block, out, a_gpu, b_gpu, N),
    "prepared, on a stream": lambda: add.prepared_async_call(
        grid, block, stream, out, a_gpu, b_gpu, N
    ),
}.items():
    start = time.perf_counter()
    for _ in range(LAUNCHES):
        launch()
    print(f"{name:22} {1e6 * (time.perf_counter() - start) / LAUNCHES:6.2f} us a launch")
    cuda.Context.synchronize()

seconds = add.prepared_timed_call(grid, block, out, a_gpu, b_gpu, N)
print(f"the kernel itself      {1e6 * seconds():6.2f} us")
assert np.array_equal(cuda.from_device_like(out, a), a + b)
