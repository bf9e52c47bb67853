"""The tutorial: an array goes to the device, a kernel doubles it, and it comes back.

python examples/cuda_tutorial.py
"""

import numpy as np

import pygpu.cuda.autoinit  # makes a context current; without it the first call would
import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

print("on", pygpu.cuda.autoinit.device.name())
a = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)

# 1. Memory of the device, and a copy of the array in it.
a_gpu = cuda.mem_alloc(a.nbytes)
cuda.memcpy_htod(a_gpu, a)

# 2. A kernel, in CUDA C++. Each of its threads does one element.
module = SourceModule("""
__global__ void double_them(float *a)
{
    int i = threadIdx.x + threadIdx.y * 4;
    a[i] *= 2;
}
""")
double_them = module.get_function("double_them")

# 3. A launch: one block of 4 x 4 threads.
double_them(a_gpu, block=(4, 4, 1))

# 4. The result, which waits until the kernel is done.
doubled = np.empty_like(a)
cuda.memcpy_dtoh(doubled, a_gpu)
print(a, "doubled is", doubled, sep="\n")
assert (doubled == 2 * a).all()
