"""Many small matrix products: a function of three matrices, applied to stacks of them."""

import numpy as np

import pygpu


@pygpu.guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")
def product(a, b, c):
    m, n = a.shape
    n, p = b.shape
    for i in range(m):
        for j in range(p):
            total = 0.0
            for k in range(n):
                total += a[i, k] * b[k, j]
            c[i, j] = total


# 10 000 rotations of the plane, each of them applied to the same three points.
angles = np.linspace(0, 2 * np.pi, 10_000)
turns = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
turns = np.moveaxis(turns, -1, 0)  # a view: (10000, 2, 2)
points = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
turned = product(turns, points)

assert turned.shape == (10_000, 2, 3)
assert np.allclose(turned, turns @ points)
lengths = np.hypot(turned[:, 0], turned[:, 1])
assert np.allclose(lengths, np.hypot(*points))  # rotations keep lengths
print("10000 products of 2 x 2 by 2 x 3")
