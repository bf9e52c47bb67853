"""Dask over arrays on a device: what does not fit there at once is done in chunks.

Each chunk is made on the device when its turn comes; the sums of all are combined there as well.
Needs: pip install dask
"""

import dask
import dask.array as da
import numpy as np

import pygpu.xp as xp


def chunk(block, block_info=None):
    """Numbers of this chunk, on the device."""
    rows, columns = block_info[None]["chunk-shape"]
    first = block_info[None]["array-location"][0][0]
    angle = xp.linspace(0, 1, columns, dtype=xp.float32)
    phase = xp.arange(first, first + rows, dtype=xp.float32)
    return xp.sin(angle * phase[:, None])


shape, chunks = (2000, 200), (500, 200)
with dask.config.set(scheduler="synchronous"):
    x = da.zeros(shape, chunks=chunks).map_blocks(
        chunk, dtype=np.float32, meta=xp.empty((0, 0), dtype=xp.float32)
    )
    mean = x.mean(axis=1).compute()
    largest = (x[::7] ** 2).sum(axis=0).max().compute()
print("chunks of", type(mean).__name__, "on", mean.device, "largest sum", float(largest))
want = np.sin(np.linspace(0, 1, 200, dtype="f4") * np.arange(2000, dtype="f4")[:, None])
np.testing.assert_allclose(mean.get(), want.mean(axis=1), atol=1e-4)
np.testing.assert_allclose(float(largest), (want[::7] ** 2).sum(axis=0).max(), rtol=1e-4)
