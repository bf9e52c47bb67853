"""Mean and variance of an array that need not fit on the device: chunks come, are summed, and go.

python dask_statistics.py [GIB [CHUNK_MIB]]          Needs: pip install ".[dask]"
"""

import sys

import dask
import dask.array as da

import pygpu.dask  # noqa: F401  (registers the backend)
from pygpu import xp

gib = float(sys.argv[1]) if len(sys.argv) > 1 else 0.03
chunk_mib = float(sys.argv[2]) if len(sys.argv) > 2 else min(256, 1024 * gib / 8)
count, chunk = int(gib * 2**30) // 8, int(chunk_mib * 2**20) // 8

with dask.config.set({"array.backend": "pygpu", "scheduler": "synchronous"}):
    x = da.random.default_rng(7).normal(3, 2, size=count, chunks=chunk)
    # One after the other, each chunk is made again: less memory than computing both at once.
    mean, variance = (float(value.compute()) for value in (x.mean(), x.var()))
print(f"{x.nbytes / 2**30:.2f} GiB in {x.npartitions} chunks on {xp.default_device()}:")
print(f"mean {mean:.4f}, variance {variance:.4f}")
assert abs(mean - 3) < 10 / count**0.5 and abs(variance - 4) < 30 / count**0.5
