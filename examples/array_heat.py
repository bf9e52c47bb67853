"""Heat in a rod: slices of one array, on OpenCL and on CUDA by the same function.

python examples/array_heat.py
"""

import warnings

import numpy as np

import pygpu as cl
import pygpu.array
from pygpu.cuda import gpuarray


def cool(rod, steps: int):
    """The temperatures after so many steps; both ends stay as they are."""
    for _ in range(steps):
        rod[1:-1] += 0.25 * (rod[2:] - 2 * rod[1:-1] + rod[:-2])
    return rod


start = np.zeros(101, np.float32)
start[50] = 100

queue = cl.CommandQueue(cl.create_some_context(interactive=False))
on_opencl = cool(pygpu.array.to_device(queue, start), 200).get()

warnings.simplefilter("ignore")  # that there may be no GPU, and the simulator stands in
import pygpu.cuda.autoinit  # noqa: E402, F401

on_cuda = cool(gpuarray.to_gpu(start), 200).get()
on_host = cool(start.copy(), 200)

assert np.allclose(on_opencl, on_host) and np.allclose(on_cuda, on_host)
print(f"hottest after 200 steps: {on_host.max():.2f}, heat kept: {on_host.sum():.2f} of 100")
