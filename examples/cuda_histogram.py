"""A histogram by an ElementwiseKernel with atomic additions, and its running sums by a scan."""

import numpy as np

import pygpu.cuda.autoinit  # noqa: F401
from pygpu.cuda.curandom import XORWOWRandomNumberGenerator, seed_getter_uniform
from pygpu.cuda.elementwise import ElementwiseKernel
from pygpu.cuda.gpuarray import zeros
from pygpu.cuda.scan import InclusiveScanKernel

BINS, LOW, HIGH = 60, -3.0, 3.0

count = ElementwiseKernel(
    "float *x, int *bins, float low, float per_bin, int n_bins",
    """
    int k = (int)floorf((x[i] - low) * per_bin);
    atomicAdd(bins + min(max(k, 0), n_bins - 1), 1);
    """,
    name="histogram",
)
x = XORWOWRandomNumberGenerator(seed_getter_uniform).gen_normal(100_000, np.float32)
bins = zeros(BINS, np.int32)
count(x, bins, LOW, BINS / (HIGH - LOW), BINS, range=slice(0, x.size))

host = np.clip(np.floor((x.get() - np.float32(LOW)) * np.float32(10)), 0, BINS - 1).astype(int)
assert np.array_equal(bins.get(), np.bincount(host, minlength=BINS))
for height in bins.get()[::4]:
    print("#" * (int(height) // 100))

cumulative = InclusiveScanKernel(np.int32, "a + b")(bins)
assert cumulative.get()[-1] == x.size
middle = np.searchsorted(cumulative.get(), x.size / 2)
print(f"median near {LOW + (HIGH - LOW) * middle / BINS:.1f}")
