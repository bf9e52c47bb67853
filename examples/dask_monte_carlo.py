"""The price of an option on a mean of prices, by simulation: tasks on one device, or on many.

python dask_monte_carlo.py [TASKS [PATHS [WORKERS]]]          Needs: pip install ".[dask]"
With WORKERS there is a process for each, and each has a device in turn.
"""

import sys

import dask
from dask.distributed import Client, LocalCluster

import pygpu.dask
import pygpu.random
from pygpu import xp

TASKS, PATHS, WORKERS = (*map(int, sys.argv[1:]), *(4, 20_000, 0)[len(sys.argv) - 1 :])
START, STRIKE, RATE, VOLATILITY, YEARS, STEPS = 100.0, 100.0, 0.05, 0.2, 1.0, 16


@dask.delayed
def simulate(task):
    """Sum and sum of squares of what the option pays on so many paths."""
    rng = pygpu.random.default_rng([11, task])  # other numbers in each task
    dt = YEARS / STEPS
    steps = rng.normal((RATE - VOLATILITY**2 / 2) * dt, VOLATILITY * dt**0.5, size=(STEPS, PATHS))
    mean_price = START * xp.mean(xp.exp(xp.cumulative_sum(steps, axis=0)), axis=0)
    paid = xp.exp(xp.asarray(-RATE * YEARS)) * xp.maximum(mean_price - STRIKE, 0)
    return float(xp.sum(paid)), float(xp.sum(paid * paid))


def run():
    sums = dask.compute(*(simulate(task) for task in range(TASKS)))
    total, squares = (sum(part) for part in zip(*sums))
    count = TASKS * PATHS
    price = total / count
    error = ((squares / count - price**2) / count) ** 0.5
    print(f"{count} paths: {price:.3f} +- {error:.3f}")
    assert abs(price - 6.0580) < 5 * error  # with the geometric mean as control variate, 4e6 paths


if __name__ == "__main__":
    if WORKERS:
        dask.config.set({"distributed.worker.preload": ["pygpu.dask"]})
        with LocalCluster(n_workers=WORKERS, threads_per_worker=1) as cluster, Client(cluster) as c:
            c.register_plugin(pygpu.dask.DeviceOfWorker())
            run()
    else:
        with dask.config.set(scheduler="synchronous"):
            run()
