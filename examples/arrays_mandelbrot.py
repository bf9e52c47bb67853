"""The Mandelbrot set: array code that pygpu turns into few kernels, and a picture of it."""

import matplotlib.pyplot as plt
import numpy as np

from pygpu import xp

WIDTH, HEIGHT, LIMIT = 480, 320, 60

x = xp.linspace(-2.2, 0.8, WIDTH, dtype=xp.float32)
y = xp.linspace(1, -1, HEIGHT, dtype=xp.float32)[:, None]
c = x + 1j * y  # a row and a column: broadcast to the picture
z = xp.zeros_like(c)
steps = xp.zeros(c.shape, dtype=xp.int32)
for _ in range(LIMIT):
    inside = z.real * z.real + z.imag * z.imag <= 4
    steps += inside
    z = xp.where(inside, z * z + c, z)

picture = steps.get()
assert picture[HEIGHT // 2, WIDTH * 22 // 30] == LIMIT  # the origin belongs to the set
assert picture[0, 0] < 5
print(
    f"{WIDTH} x {HEIGHT} points on {steps.device.name}: {np.mean(picture == LIMIT):.1%} in the set"
)

plt.figure(figsize=(6, 4), layout="constrained")
plt.imshow(np.sqrt(picture), extent=(-2.2, 0.8, -1, 1), cmap="magma")
plt.show()
