"""Dask over device arrays: importing this module registers what Dask needs.

>>> import dask.array as da, pygpu.dask                                        # doctest: +SKIP
>>> with dask.config.set({"array.backend": "pygpu"}):                          # doctest: +SKIP
...     x = da.random.default_rng(1).normal(size=10_000_000, chunks=1_000_000)
>>> float(x.std().compute())                                                   # doctest: +SKIP

Sizes for the scheduler, tokens without copying contents, messages between workers, the array
backend "pygpu", which creates chunks on the device; and :class:`DeviceOfWorker`, which gives each
worker a device of its own.
"""

from __future__ import annotations

from ._src.interop.dask import ArrayBackend, DeviceOfWorker, LimitedDevice

__all__ = ["ArrayBackend", "DeviceOfWorker", "LimitedDevice"]
