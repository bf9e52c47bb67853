"""Constant memory: a filter's weights, written from the host, read by all threads at once.

python examples/cuda_constant_memory.py
"""

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
__constant__ float weights[9];

__global__ void smooth(const float *in, float *out, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    float sum = 0;
    for (int k = 0; k < 9; k++) {
        int j = i + k - 4;
        sum += weights[k] * (j < 0 || j >= n ? 0.0f : in[j]);
    }
    if (i < n)
        out[i] = sum;
}
"""
N = 10_000

module = SourceModule(SOURCE)
smooth = module.get_function("smooth")
address, size = module.get_global("weights")
assert size == 9 * 4

signal = np.random.default_rng(0).standard_normal(N).astype(np.float32)
for width in (1.0, 2.0):
    weights = np.exp(-((np.arange(9) - 4) ** 2) / (2 * width**2)).astype(np.float32)
    weights /= weights.sum()
    cuda.memcpy_htod(address, weights)
    out = np.empty_like(signal)
    smooth(cuda.In(signal), cuda.Out(out), np.int32(N), block=(128, 1, 1), grid=(-(-N // 128), 1))
    assert np.allclose(out, np.convolve(signal, weights, "same"), atol=1e-5)
    print(f"width {width}: standard deviation {signal.std():.3f} becomes {out.std():.3f}")

try:
    cuda.memcpy_htod(address, np.zeros(10, np.float32))
except cuda.LogicError as error:
    print("one too many:", error)
