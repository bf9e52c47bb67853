"""``numba.cuda.testing``: what programs' own tests use of it."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

__all__ = [
    "CUDATestCase",
    "cc_X_or_above",
    "skip_on_cudasim",
    "skip_unless_cudasim",
    "unittest",
    "xfail_unless_cudasim",
]


class CUDATestCase(unittest.TestCase):
    """A test case; the warnings of Numba about performance are off in its tests."""

    def setUp(self) -> None:
        from pygpu.compat import numba_config as config

        self._settings = config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY
        config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = 0

    def tearDown(self) -> None:
        from pygpu.compat import numba_config as config

        config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY = self._settings


def skip_on_cudasim(reason: str) -> Callable[[Any], Any]:
    """Skips nothing: Numba's simulator, which runs kernels as Python, is not there."""
    return lambda test: test


def skip_unless_cudasim(reason: str) -> Callable[[Any], Any]:
    """Skips the test; see skip_on_cudasim."""
    return unittest.skip(reason)


def xfail_unless_cudasim(test: Any) -> Any:
    """A test that is expected to fail; see skip_on_cudasim."""
    return unittest.expectedFailure(test)


def cc_X_or_above(major: int, minor: int) -> bool:
    """Whether the current device has this compute capability, or a later one."""
    from pygpu.cuda import get_current_device

    found: tuple[int, int] = get_current_device().compute_capability
    return found >= (major, minor)
