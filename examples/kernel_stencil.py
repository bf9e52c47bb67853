"""A stencil with shared memory: each block loads its part and the neighbours once."""

import numpy as np

import pygpu

THREADS, RADIUS = 128, 3
WEIGHTS = np.array([1, 6, 15, 20, 15, 6, 1], np.float32) / 64


@pygpu.kernel
def smooth(x, y):
    part = pygpu.shared.array(THREADS + 2 * RADIUS, np.float32)
    weights = pygpu.const.array_like(WEIGHTS)
    t, i, n = pygpu.threadIdx.x, pygpu.grid(1), len(x)
    for k in range(t, len(part), THREADS):
        place = pygpu.blockIdx.x * THREADS + k - RADIUS
        part[k] = x[min(max(place, 0), n - 1)]
    pygpu.syncthreads()
    if i < n:
        total = np.float32(0)
        for k in range(2 * RADIUS + 1):
            total += weights[k] * part[t + k]
        y[i] = total


x = np.random.default_rng(3).random(10_000, dtype=np.float32)
y = np.zeros_like(x)
smooth[-(-x.size // THREADS), THREADS](x, y)

expected = np.convolve(np.pad(x, RADIUS, "edge"), WEIGHTS, "valid")
assert np.allclose(y, expected, atol=1e-6)
print(f"largest difference from NumPy: {abs(y - expected).max():.1e}")
