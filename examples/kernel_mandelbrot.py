"""The Mandelbrot set by a kernel in Python, on whatever device host arrays go to."""

import numpy as np

import pygpu

WIDTH, HEIGHT, LIMIT = 78, 30, 60


@pygpu.jit
def escapes(c, limit):
    """After how many steps z*z + c leaves the circle of radius 2."""
    z = 0j
    for i in range(limit):
        if z.real * z.real + z.imag * z.imag >= 4:
            return i
        z = z * z + c
    return limit


@pygpu.kernel
def mandelbrot(left, top, step, image, limit):
    x, y = pygpu.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        image[y, x] = escapes(complex(left + x * step, top - 2 * y * step), limit)


image = np.zeros((HEIGHT, WIDTH), np.int32)
blocks = (-(-WIDTH // 16), -(-HEIGHT // 16))
mandelbrot[blocks, (16, 16)](-2.2, 1.2, 0.04, image, LIMIT)

for row in image:
    print("".join(" .:-=+*#%@"[min(n, LIMIT - 1) * 10 // LIMIT] for n in row))
assert image[HEIGHT // 2, 55] == LIMIT  # near 0
assert escapes(complex(-2.2, 1.2), LIMIT) == image[0, 0]  # on the host it is the plain function
