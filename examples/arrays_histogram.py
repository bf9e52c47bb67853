"""Histograms three ways: comparing with edges, sorting and searching, and an atomic kernel.

python arrays_histogram.py [--backend opencl|cuda]
"""

import sys

import numpy as np

import pygpu as cl

BACKEND = "cuda" if sys.argv[1:] == ["--backend", "cuda"] else "opencl"
if BACKEND == "cuda":
    import pygpu.cuda.autoinit  # noqa: F401
    from pygpu.cuda.elementwise import ElementwiseKernel
    from pygpu.cuda.gpuarray import to_gpu as to_device
else:
    from pygpu.array import to_device as to_queue
    from pygpu.elementwise import ElementwiseKernel

    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)

    def to_device(host):
        return to_queue(queue, host)


BINS, N = 16, 1 << 17
x = to_device(np.random.default_rng(5).beta(2, 5, N).astype(np.float32))
want = np.histogram(x.get(), bins=BINS, range=(0, 1))[0]

# 1. Which pairs of item and bin belong together: N * BINS comparisons, little memory traffic.
bins = to_device(np.arange(BINS, dtype=np.int32))
compared = ((x * BINS).astype(np.int32)[:, None] == bins).sum(axis=0)

# 2. In order, each bin is a stretch between two edges.
edges = to_device(np.linspace(0, 1, BINS + 1, dtype=np.float32))
searched = np.diff(np.searchsorted(np.sort(x), edges))

# 3. One work-item for each number counts in memory that all share.
counts = to_device(np.zeros(BINS, np.int32))
arguments = "float *x, int *counts, int bins"
if BACKEND == "cuda":
    kernel = ElementwiseKernel(arguments, "atomicAdd(&counts[(int)(x[i] * bins)], 1)")
else:
    kernel = ElementwiseKernel(context, arguments, "atomic_inc(&counts[(int)(x[i] * bins)])")
kernel(x, counts, BINS)

for name, found in (("compared", compared), ("searched", searched), ("counted", counts)):
    print(f"{name:9}", found.get().tolist())
    assert (found.get() == want).all()
