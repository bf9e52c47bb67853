"""Whether the tests of several GPUs can have them."""

from __future__ import annotations

from functools import cache

from pygpu import _cuda
from pygpu._src.drivers import cuda_loader


@cache
def two_gpus() -> bool:
    """Whether there are two NVIDIA GPUs; the simulator is not started for it."""
    if not cuda_loader.has_gpu(_cuda):
        return False
    _cuda.init()
    return not _cuda._is_simulator() and _cuda.Device.count() > 1
