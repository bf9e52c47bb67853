"""The array API standard: one function, written once, on NumPy and on a device.

Fits a polynomial by gradient descent. `x.__array_namespace__()` is numpy for NumPy's arrays and
pygpu.xp for those on a device.
"""

import numpy as np

import pygpu.xp as xp


def fit(x, y, degree, steps=200):
    """Coefficients of the polynomial that is nearest to the points, highest power last."""
    lib = x.__array_namespace__()
    powers = lib.stack([x**k for k in range(degree + 1)], axis=1)
    matrix = lib.matmul(lib.matrix_transpose(powers), powers) / x.shape[0]
    goal = lib.matmul(lib.matrix_transpose(powers), y) / x.shape[0]
    found = lib.zeros(degree + 1, dtype=x.dtype, device=x.device)
    for _ in range(steps):
        found = found - 0.8 * (lib.matmul(matrix, found) - goal)
    return found


x = np.linspace(-1, 1, 500)
y = 0.5 - x + 2 * x**2
on_host = fit(x, y, 2)
on_device = fit(xp.asarray(x), xp.asarray(y), 2)
print("on", on_device.device, on_device)
np.testing.assert_allclose(on_device.get(), on_host, rtol=1e-9)
np.testing.assert_allclose(on_host, [0.5, -1, 2], atol=1e-2)
