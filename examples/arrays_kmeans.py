"""Clusters of points by k-means: distances, nearest centres and new centres without a loop."""

import matplotlib.pyplot as plt
import numpy as np

from pygpu import xp

K, EACH = 5, 2000

random = np.random.default_rng(3)
truth = np.array([[0, 0], [6, 1], [1, 7], [-6, 2], [3, -6]], np.float32)
host = (truth[:, None, :] + random.normal(scale=0.7, size=(K, EACH, 2))).reshape(-1, 2)
points = xp.asarray(host.astype(np.float32))
centres = points[::EACH].copy() + 0.5  # a first guess: one point of each cluster
numbers = xp.asarray(np.arange(K))

steps = 0
while steps < 20:
    steps += 1
    # |p - c|^2 = |p|^2 - 2 p c + |c|^2, of which the first part is the same for all centres
    distance = (centres * centres).sum(axis=1) - 2 * (points @ centres.T)
    nearest = distance.argmin(axis=1)
    member = (nearest[:, None] == numbers).astype(np.float32)
    new = (member.T @ points) / member.sum(axis=0)[:, None]
    moved = float(abs(new - centres).max().get())
    centres = new
    if moved < 1e-4:
        break

found = centres.get()
order = [int(np.argmin(((found - c) ** 2).sum(axis=1))) for c in truth]
print(f"{steps} steps; centres", *(f"({x:.2f}, {y:.2f})" for x, y in found[order]))
assert sorted(order) == list(range(K))
assert np.abs(found[order] - truth).max() < 0.1
sizes = member.sum(axis=0).get()
assert sizes.sum() == K * EACH and np.abs(sizes - EACH).max() < 50

plt.scatter(*host.T, s=2, c=nearest.get(), cmap="tab10")
plt.plot(*found.T, "k+", markersize=14)
plt.show()
