"""Numba's warnings about performance, as numba.config asks for them, and its other habits in calls:
conversions of arguments."""

from __future__ import annotations

import os
import sys
import warnings
from math import prod

import numpy as np

from pygpu._src.jit.calls import external
from pygpu._src.jit.cuda_arrays import MappedArray
from pygpu._src.jit.decorators import arguments, guvectorize, kernel
from pygpu.compat import numba_config as config
from pygpu.compat.numba_errors import NumbaPerformanceWarning

__all__ = ["install"]

_MIN_BLOCKS = 128


def install() -> None:
    """Do so from now on."""
    guvectorize.narrow_on_cuda = True
    kernel.on_configure = _warn_of_idle_units
    arguments.on_host_copy = _host_copy
    external.search_paths = _search_paths


def _search_paths() -> list[str]:
    """The folders in which linked C text finds the files that it includes."""
    return [one for one in str(config.CUDA_NVRTC_EXTRA_SEARCH_PATHS).split(os.pathsep) if one]


def _warn(text: str) -> None:
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("pygpu"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, NumbaPerformanceWarning, stacklevel=level)


def _warn_of_idle_units(grid: tuple[int, ...]) -> None:
    """Warn of fewer blocks than most GPUs have multiprocessors: the bound is Numba's."""
    blocks = prod(grid)
    if config.CUDA_LOW_OCCUPANCY_WARNINGS and blocks < _MIN_BLOCKS:
        _warn(f"Grid size {blocks} leaves multiprocessors idle: low occupancy")


def _host_copy(array: np.ndarray) -> None:
    if config.CUDA_WARN_ON_IMPLICIT_COPY and not isinstance(array, MappedArray):
        _warn(
            "Host array used in CUDA kernel will incur the copy overhead of both directions; "
            "cuda.to_device() copies it once"
        )
