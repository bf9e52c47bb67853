"""The largest singular values of a tall matrix by subspace iteration, with little to send.

python dask_subspace.py [ROWS [COLUMNS [WORKERS]]]          Needs: pip install ".[dask]"
A round is one task for each worker: it reads all rows that the worker has, and COLUMNS * 8 numbers
go to each other worker. All of them then compute the same orthonormal columns.
With WORKERS there is a process for each, and each has a device in turn.
"""

import sys

import dask
import numpy as np
from dask.distributed import Client, LocalCluster

import pygpu.dask
from pygpu import xp

ROWS, COLUMNS, WORKERS = (*map(int, sys.argv[1:]), *(4000, 64, 0)[len(sys.argv) - 1 :])
RANK, ROUNDS = 8, 4
VALUES = np.array([90.0, 50.0, 20.0, 5.0])


@dask.delayed
def share_of_rows(number, shares):
    """Rows of a matrix with known singular values: orthogonal columns times values times rows."""
    rows = xp.arange(number, ROWS, shares, dtype=xp.float64)[:, None] + 0.5
    left = xp.cos(xp.pi / ROWS * rows * xp.arange(1.0, 5.0)) * (2 / ROWS) ** 0.5
    right = np.linalg.qr(np.random.default_rng(3).normal(size=(COLUMNS, 4)))[0].T
    return left @ xp.asarray(right * VALUES[:, None])


def orthonormal(parts):
    """Columns that span those of the sum: the same ones wherever they are computed, as rounding
    does not choose their signs."""
    q, r = xp.linalg.qr(sum(parts[1:], parts[0]))
    return xp.where(xp.linalg.diagonal(r) < 0, -q, q)


@dask.delayed
def product(a, parts):
    x = orthonormal(parts)
    return a.T @ (a @ x)


@dask.delayed
def projected(a, parts):
    y = a @ orthonormal(parts)
    return y.T @ y


def run():
    shares = dask.persist(*(share_of_rows(n, max(WORKERS, 2)) for n in range(max(WORKERS, 2))))
    parts = [xp.asarray(np.random.default_rng(5).normal(size=(COLUMNS, RANK)))]
    for _ in range(ROUNDS):
        parts = [product(share, parts) for share in shares]
    squares = sum(dask.compute(*(projected(share, parts) for share in shares)))
    found = np.sqrt(np.linalg.eigvalsh(squares.get())[::-1][:4])
    print(f"{ROWS} x {COLUMNS} on {xp.default_device()}: {np.array2string(found, precision=6)}")
    assert np.allclose(found, VALUES, rtol=1e-6)


if __name__ == "__main__":
    if WORKERS:
        dask.config.set({"distributed.worker.preload": ["pygpu.dask"]})
        with LocalCluster(n_workers=WORKERS, threads_per_worker=1) as cluster, Client(cluster) as c:
            c.register_plugin(pygpu.dask.DeviceOfWorker())
            run()
    else:
        with dask.config.set(scheduler="synchronous"):
            run()
