"""Streams that overlap: while one piece is computed, the next is copied in and the last copied out.

python examples/cuda_overlap.py
"""

import time

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
__global__ void polish(float *x, int rounds)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    float y = x[i];
    for (int k = 0; k < rounds; k++)
        y = 0.5f * (y + x[i] / y);                  // Newton's square root
    x[i] = y;
}
"""
PIECES, PIECE, ROUNDS = 16, 1 << 16, 20

polish = SourceModule(SOURCE).get_function("polish")
data = cuda.pagelocked_empty((PIECES, PIECE), np.float32)  # ordinary memory would not overlap
data[...] = np.random.default_rng(0).uniform(1, 100, data.shape)
result = cuda.pagelocked_zeros(data.shape, data.dtype)


def run(streams: list[cuda.Stream]) -> float:
    """Milliseconds for all pieces, dealt out to the streams."""
    memories = [cuda.mem_alloc(data[0].nbytes) for _ in streams]
    start, end = cuda.Event(), cuda.Event()
    cuda.Context.synchronize()
    begin = time.perf_counter()
    start.record(streams[0])
    for n in range(PIECES):
        stream, memory = streams[n % len(streams)], memories[n % len(streams)]
        cuda.memcpy_htod_async(memory, data[n], stream)
        polish(memory, np.int32(ROUNDS), block=(256, 1, 1), grid=(PIECE // 256, 1), stream=stream)
        cuda.memcpy_dtoh_async(result[n], memory, stream)
    queued = time.perf_counter() - begin
    for stream in streams[1:]:
        streams[0].wait_for_event(cuda.Event().record(stream))
    end.record(streams[0]).synchronize()
    print(f"{len(streams)} streams: {1e3 * queued:6.2f} ms to queue", end=", ")
    return start.time_till(end)


for n_streams in (1, 2, 4):
    result[...] = 0
    print(f"{run([cuda.Stream() for _ in range(n_streams)]):7.2f} ms until done")
    assert np.allclose(result, np.sqrt(data), rtol=1e-5)
