"""A stack of images larger than the device, smoothed and searched for spots by map_overlap.

python dask_images.py [IMAGES [SIZE]]          Needs: pip install ".[dask]"
"""

import sys

import dask
import dask.array as da
import numpy as np

import pygpu.dask  # noqa: F401  (registers the backend)
from pygpu import xp

images = int(sys.argv[1]) if len(sys.argv) > 1 else 4
size = int(sys.argv[2]) if len(sys.argv) > 2 else 96
rng = np.random.default_rng(4)
SPOTS = rng.integers(8, size - 8, (12, 2))


def take(block_info=None):
    """Some images, as a camera would give them: noise and spots."""
    shape = block_info[None]["chunk-shape"]
    number = block_info[None]["chunk-location"][0]
    noise = np.random.default_rng(number).normal(0, 0.05, shape).astype(np.float32)
    y, x = np.mgrid[:size, :size]
    for row, column in SPOTS:
        noise += np.exp(-((y - row) ** 2 + (x - column) ** 2) / 8).astype(np.float32)
    return noise


def smooth(stack):
    """Weights 1 2 1 along the rows and columns of each image; the edges come along and go."""
    rows = stack[:, :-2] + 2 * stack[:, 1:-1] + stack[:, 2:]
    return (rows[:, :, :-2] + 2 * rows[:, :, 1:-1] + rows[:, :, 2:]) / 16


def is_spot(stack):
    """Where a pixel is the brightest of the nine around it, and bright."""
    rows = xp.maximum(xp.maximum(stack[:, :-2], stack[:, 1:-1]), stack[:, 2:])
    around = xp.maximum(xp.maximum(rows[:, :, :-2], rows[:, :, 1:-1]), rows[:, :, 2:])
    middle = stack[:, 1:-1, 1:-1]
    return (middle == around) & (middle > 0.6)


with dask.config.set(scheduler="synchronous"):
    chunks = ((1,) * images, (size,), (size,))
    stack = da.map_blocks(take, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0, 0), "f4"))
    stack = stack.to_backend("pygpu").rechunk((1, -(-size // 2), size))  # halves of images
    edge = {"depth": (0, 1, 1), "boundary": "nearest", "trim": False, "meta": stack._meta}
    smoothed = stack.map_overlap(smooth, dtype=np.float32, **edge)
    found = smoothed.map_overlap(is_spot, dtype=bool, **edge)
    counts = found.sum(axis=(1, 2)).compute().get()

    host = np.pad(take(block_info={None: {"chunk-shape": (1, size, size), "chunk-location": (0,)}}),
                  ((0, 0), (1, 1), (1, 1)), "edge")  # fmt: skip
    np.testing.assert_allclose(smoothed[0].compute().get(), smooth(host)[0], rtol=1e-5, atol=1e-5)
print(f"spots found in each image on {xp.default_device()}: {counts}; there are {len(SPOTS)}")
assert (abs(counts - len(SPOTS)) <= 3).all()
