"""The largest singular values of a tall matrix, by random projections: it is read in row chunks.

python dask_svd.py [ROWS [COLUMNS]]          Needs: pip install ".[dask]"
"""

import sys

import dask
import dask.array as da
import numpy as np

import pygpu.dask  # noqa: F401  (registers the backend)
from pygpu import xp

rows = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
columns = int(sys.argv[2]) if len(sys.argv) > 2 else 64
values = np.array([90.0, 50.0, 20.0, 5.0])

with dask.config.set({"array.backend": "pygpu", "scheduler": "synchronous"}):
    # A matrix whose singular values are known: orthogonal columns times values times rows.
    rng = da.random.default_rng(2)
    left, _ = da.linalg.qr(rng.normal(size=(rows, 4), chunks=(-(-rows // 4), 4)))
    right = np.linalg.qr(np.random.default_rng(3).normal(size=(columns, 4)))[0].T * values[:, None]
    a = (left @ da.from_array(right, chunks=right.shape).to_backend("pygpu")).persist()

    u, found, v = da.linalg.svd_compressed(a, k=4, n_power_iter=1, seed=rng)
    found = found.compute()
print(f"{rows} x {columns} on {xp.default_device()}: {np.array2string(found.get(), precision=6)}")
assert np.allclose(found.get(), values, rtol=1e-6)
