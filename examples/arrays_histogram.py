"""Histograms three ways: comparing with edges, sorting and searching, and an atomic kernel."""

import matplotlib.pyplot as plt
import numpy as np

import pygpu
from pygpu import xp

BINS, N = 16, 1 << 17
x = xp.asarray(np.random.default_rng(5).beta(2, 5, N).astype(np.float32))
want = np.histogram(x.get(), bins=BINS, range=(0, 1))[0]

# 1. Which pairs of item and bin belong together: N * BINS comparisons, little memory traffic.
compared = ((x * BINS).astype(np.int32)[:, None] == xp.arange(BINS)).sum(axis=0)

# 2. In order, each bin is a stretch between two edges.
edges = xp.linspace(0, 1, BINS + 1, dtype=xp.float32)
searched = np.diff(np.searchsorted(np.sort(x), edges))


# 3. One thread for each number counts in memory that all share.
@pygpu.kernel
def count(x, counts):
    i = pygpu.grid(1)
    if i < len(x):
        pygpu.atomic.add(counts, int(x[i] * len(counts)), 1)


counts = xp.zeros(BINS, dtype=xp.int32)
count.forall(N)(x, counts)

for name, found in (("compared", compared), ("searched", searched), ("counted", counts)):
    print(f"{name:9}", found.get().tolist())
    assert (found.get() == want).all()

plt.stairs(counts.get(), edges.get(), fill=True)
plt.gca().set(xlabel="x", ylabel="numbers in a bin")
plt.show()
