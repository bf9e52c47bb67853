"""A histogram in Python: atomic additions, first in the block's shared memory, then in all."""

import numpy as np

import pygpu.cuda.autoinit  # noqa: F401
from pygpu import cuda

BINS = 32


@cuda.jit
def histogram(values, low, per_bin, counts):
    own = cuda.shared.array(BINS, np.int32)
    for k in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        own[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), len(values), cuda.gridsize(1)):
        k = int((values[i] - low) * per_bin)
        assert 0 <= k < BINS, "values are between low and high"
        cuda.atomic.add(own, k, 1)
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        cuda.atomic.add(counts, k, own[k])


values = cuda.to_device(np.random.default_rng(1).normal(0, 0.6, 20_000).clip(-2, 1.99))
counts = cuda.to_device(np.zeros(BINS, np.int32))
histogram[16, 128](values, -2, BINS / 4, counts)

host = counts.copy_to_host()
assert (host == np.histogram(values.copy_to_host(), BINS, (-2, 2))[0]).all()
for count in host[::2]:
    print("#" * (count // 25))
