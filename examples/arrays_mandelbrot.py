"""The Mandelbrot set by an ElementwiseKernel, written to a PNG file without any imaging library."""

import struct
import sys
import zlib

import numpy as np

import pygpu as cl
from pygpu.array import Array, to_device
from pygpu.elementwise import ElementwiseKernel

WIDTH, HEIGHT, LIMIT = 480, 320, 200

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)

iterate = ElementwiseKernel(
    context,
    "int *count, float *re, float *im, int limit",
    """
    float x = 0, y = 0;
    int k = 0;
    while (k < limit && x * x + y * y <= 4) {
        float next = x * x - y * y + re[i];
        y = 2 * x * y + im[i];
        x = next;
        k++;
    }
    count[i] = k;
    """,
    name="mandelbrot",
)
re = to_device(queue, np.linspace(-2.2, 0.8, WIDTH, dtype=np.float32))
im = to_device(queue, np.linspace(1, -1, HEIGHT, dtype=np.float32)[:, None])
count = Array(queue, (HEIGHT, WIDTH), np.int32)
iterate(count, re, im, LIMIT)  # a row and a column: broadcast to the picture
picture = count.get()
assert picture[HEIGHT // 2, WIDTH * 22 // 30] == LIMIT  # the origin belongs to the set
assert picture[0, 0] < 5


def png(gray: np.ndarray) -> bytes:
    """A grayscale PNG file of an array of uint8."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    height, width = gray.shape
    rows = b"".join(b"\0" + row.tobytes() for row in gray)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


data = png((255 * np.sqrt(picture / LIMIT)).astype(np.uint8))
if len(sys.argv) > 1:  # python arrays_mandelbrot.py mandelbrot.png
    with open(sys.argv[1], "wb") as file:
        file.write(data)
share = (picture == LIMIT).mean()
print(f"{WIDTH} x {HEIGHT} points, {share:.1%} in the set, {len(data)} bytes of PNG")
