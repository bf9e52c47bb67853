"""In, Out and InOut: host arrays as arguments, copied to the device and back by the call itself.

python examples/cuda_inout.py
"""

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
// One step of Newton's method for the cube root of each x; how far it went is noted.
__global__ void improve(const double *x, double *root, double *change, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) {
        double better = (2 * root[i] + x[i] / (root[i] * root[i])) / 3;
        change[i] = better - root[i];
        root[i] = better;
    }
}
"""
N = 1000

improve = SourceModule(SOURCE).get_function("improve")
x = np.linspace(1, 100, N)
root = np.ones(N)
change = np.empty(N)

steps = 0
while not steps or abs(change).max() > 1e-12:
    improve(
        cuda.In(x),  # copied to the device before the launch
        cuda.InOut(root),  # to the device, and back
        cuda.Out(change),  # back; what was in it is not read
        np.int32(N),
        block=(128, 1, 1),
        grid=(-(-N // 128), 1),
    )
    steps += 1
assert np.allclose(root**3, x, rtol=1e-12)
print(f"{N} cube roots in {steps} steps, the last of at most {abs(change).max():.1e}")

# What is used again and again is better kept on the device: the call stays as it is.
x_gpu, root_gpu = cuda.to_device(x), cuda.to_device(np.ones(N))
change_gpu = cuda.mem_alloc(x.nbytes)
for _ in range(steps):
    improve(x_gpu, root_gpu, change_gpu, np.int32(N), block=128, grid=-(-N // 128))
assert (cuda.from_device_like(root_gpu, root) == root).all()
