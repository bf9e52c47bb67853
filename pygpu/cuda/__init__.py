"""CUDA for Python programs: what PyCUDA offers, under its names.

A program written for `pycuda.X` runs after replacing that by `pygpu.cuda.X`:

    import numpy as np
    import pygpu.cuda.autoinit
    import pygpu.cuda.driver as cuda
    from pygpu.cuda.compiler import SourceModule

Without an NVIDIA GPU the CPU simulator stands in for the driver; see docs/simulator.md. Importing
loads no driver; the first call that needs one does.
"""

from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

from ..version import VERSION, VERSION_STATUS, VERSION_TEXT

__all__ = ["VERSION", "VERSION_STATUS", "VERSION_TEXT"]

_SUBMODULES = {
    "autoinit",
    "autoprimaryctx",
    "characterize",
    "compiler",
    "debug",
    "dtypes",
    "driver",
    "enums",
    "errors",
    "loader",
    "nvrtc",
    "tools",
}


def __getattr__(name: str) -> _ModuleType:
    if name in _SUBMODULES:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
