"""Managed memory: one array for host and device, without copies.

python examples/cuda_managed.py
"""

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
__global__ void collatz(const int *start, int *steps, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n)
        return;
    int count = 0;
    for (long long x = start[i]; x != 1; x = x % 2 ? 3 * x + 1 : x / 2)
        count++;
    steps[i] = count;
}
"""
N = 10_000

collatz = SourceModule(SOURCE).get_function("collatz")
start = cuda.managed_empty(N, np.int32)  # mem_flags=mem_attach_flags.GLOBAL
steps = cuda.managed_zeros(N, np.int32)
start[:] = np.arange(1, N + 1)  # the host writes

collatz(start, steps, np.int32(N), block=(256, 1, 1), grid=(-(-N // 256), 1))
cuda.Context.synchronize()  # before the host looks again

longest = int(steps.argmax())  # the host reads
print(f"{start[longest]} takes the most steps below {N}: {steps[longest]}")
assert (start[longest], steps[longest]) == (6171, 261)

# The same array goes into copies, and NumPy's functions write to it.
steps.sort()
copied = np.empty_like(steps)
cuda.memcpy_dtoh(copied, steps)
assert (copied == steps).all() and copied[-1] == 261
