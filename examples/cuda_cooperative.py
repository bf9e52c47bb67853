"""A cooperative launch: all blocks run at once, and can wait for each other inside a kernel.

python examples/cuda_cooperative.py
"""

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// The sum of x: a sum for each block first, and when all are there, the sum of those.
extern "C" __global__ void sum(const float *x, int n, float *of_blocks, float *result)
{
    __shared__ float space[64];
    float mine = 0;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
        mine += x[i];
    space[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x; i++)
            mine += space[i];
        of_blocks[blockIdx.x] = mine;
    }
    cg::this_grid().sync();
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        *result = 0;
        for (int i = 0; i < gridDim.x; i++)
            *result += of_blocks[i];
    }
}
"""
BLOCK = 64

device = cuda.Device(0)
total = SourceModule(SOURCE, no_extern_c=True).get_function("sum")
most = device.multiprocessor_count * total.max_active_blocks(BLOCK)
grid = min(most, 8)
x = np.arange(10_000, dtype=np.float32) % 7
result = np.zeros(1, np.float32)
total(
    cuda.In(x),
    x.size,
    cuda.mem_alloc(4 * grid),
    cuda.Out(result),
    block=BLOCK,
    grid=grid,
    cooperative=True,
)
assert result[0] == x.sum()
print(f"{grid} blocks of at most {most}: the sum is {result[0]:.0f}")
