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
from typing import Any as _Any

from ..version import VERSION, VERSION_STATUS, VERSION_TEXT

__all__ = ["VERSION", "VERSION_STATUS", "VERSION_TEXT"]

_SUBMODULES = {
    "autoinit",
    "autoprimaryctx",
    "characterize",
    "compiler",
    "debug",
    "devices",
    "dtypes",
    "driver",
    "enums",
    "errors",
    "loader",
    "kernel",
    "nvrtc",
    "tools",
}

# Numba's names, and the modules that have them.
_LAZY = {
    **dict.fromkeys(
        "activemask all_sync any_sync atomic ballot_sync blockDim blockIdx brev clz const ffs fma "
        "grid gridDim gridsize jit laneid local popc selp shared shfl_down_sync shfl_sync "
        "shfl_up_sync shfl_xor_sync syncthreads syncthreads_and syncthreads_count syncthreads_or "
        "syncwarp threadIdx threadfence threadfence_block threadfence_system warpsize".split(),
        "kernel",
    ),
    **dict.fromkeys(
        "DeviceNDArray as_cuda_array close current_context default_stream detect device_array "
        "device_array_like event event_elapsed_time get_current_device gpus is_available "
        "is_cuda_array list_devices managed_array mapped_array pinned pinned_array select_device "
        "stream synchronize to_device".split(),
        "devices",
    ),
    **dict.fromkeys(("Reduce", "reduce"), ".pykernel.cuda_reduce"),
}
__all__ += list(_LAZY)


def __getattr__(name: str) -> _Any:
    if name in _LAZY:
        value = getattr(_import_module(f".{_LAZY[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_SUBMODULES} - {"_import_module", "_Any"})
