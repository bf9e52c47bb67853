"""CUDA for Python programs: what PyCUDA offers, under its names.

A program written for `pycuda.X` runs once that is replaced with `pygpu.cuda.X`::

    import numpy as np
    import pygpu.cuda.autoinit
    import pygpu.cuda.driver as cuda
    from pygpu.cuda.compiler import SourceModule

Without an NVIDIA GPU, the CPU simulator replaces the driver; see docs/simulator/index.md. Importing
does not load a driver; the first call that needs one does.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ..version import VERSION, VERSION_STATUS, VERSION_TEXT  # noqa: F401

if _TYPE_CHECKING:
    from pygpu._src.cuda_kernel_types import *  # noqa: F403

_SUBMODULES = {
    "autoinit", "autoprimaryctx", "bf16", "cg", "characterize", "compiler", "cumath", "curandom",
    "debug", "driver", "dtypes", "elementwise", "errors", "fp16", "gpuarray", "libdevice", "random",
    "reduction", "scan", "tools",
}  # fmt: skip

_NUMBA = ("decorators.cuda_kernel", "cuda_arrays", "decorators.cuda_reduce")
"""The modules of pygpu._src.jit that have Numba's names."""


def _numba_names() -> dict[str, _Any]:
    found: dict[str, _Any] = {}
    for home in _NUMBA:
        module = _import_module(f"pygpu._src.jit.{home}")
        found |= {name: getattr(module, name) for name in module.__all__}
    return found


def __getattr__(name: str) -> _Any:
    if name in _SUBMODULES:
        return _import_module(f".{name}", __name__)
    if name == "__all__":  # of `import *`
        return ["VERSION", "VERSION_STATUS", "VERSION_TEXT", *_numba_names()]
    if not name.startswith("_"):
        for home in _NUMBA:  # those behind the one that has the name are not imported
            module = _import_module(f"pygpu._src.jit.{home}")
            if name in module.__all__:
                found = globals()[name] = getattr(module, name)
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    # Without those whose import initializes CUDA: TAB in Python's shell gets every name it lists.
    listed = _SUBMODULES - {"autoinit", "autoprimaryctx"}
    return sorted({*globals(), *_numba_names(), *listed})
