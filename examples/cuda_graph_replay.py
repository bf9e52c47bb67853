"""A simulation of many small steps, recorded once as a graph and replayed by one call each.

python examples/cuda_graph_replay.py
"""

import time

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
__global__ void diffuse(float *to, const float *from, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        to[i] = 0.25f * from[max(i - 1, 0)] + 0.5f * from[i] + 0.25f * from[min(i + 1, n - 1)];
}
"""
N, STEPS, REPLAYS = 512, 20, 10


def on_host(x: np.ndarray) -> np.ndarray:
    for _ in range(STEPS * REPLAYS):
        wide = np.pad(x, 1, mode="edge")
        x = np.float32(0.25) * wide[:-2] + np.float32(0.5) * x + np.float32(0.25) * wide[2:]
    return x


diffuse = SourceModule(SOURCE).get_function("diffuse")
first = np.zeros(N, np.float32)
first[N // 2] = N
here, there = cuda.to_device(first), cuda.to_device(first)
result = np.empty_like(first)
stream = cuda.Stream()


def queue_steps() -> None:
    for _ in range(STEPS // 2):
        diffuse(there, here, N, block=256, grid=N // 256, stream=stream)
        diffuse(here, there, N, block=256, grid=N // 256, stream=stream)


stream.begin_capture()
queue_steps()
cuda.memcpy_dtoh_async(result, here, stream)
run = stream.end_capture().instantiate()
run.upload(stream)

start = time.perf_counter()
for _ in range(REPLAYS):
    run.launch(stream)
replayed = time.perf_counter() - start
stream.synchronize()
assert np.allclose(result, on_host(first), atol=1e-3)

start = time.perf_counter()
for _ in range(REPLAYS):
    queue_steps()
launched = time.perf_counter() - start
stream.synchronize()
print(f"host time for {STEPS} steps: {1e6 * launched / REPLAYS:.1f} us by launches, ", end="")
print(f"{1e6 * replayed / REPLAYS:.1f} us by a graph")
