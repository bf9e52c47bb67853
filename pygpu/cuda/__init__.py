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
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ..version import VERSION, VERSION_STATUS, VERSION_TEXT

if _TYPE_CHECKING:
    from ..pykernel.cuda_reduce import (
        Reduce as Reduce,
    )
    from ..pykernel.cuda_reduce import (
        reduce as reduce,
    )
    from .devices import (
        DeviceNDArray as DeviceNDArray,
    )
    from .devices import (
        as_cuda_array as as_cuda_array,
    )
    from .devices import (
        close as close,
    )
    from .devices import (
        current_context as current_context,
    )
    from .devices import (
        default_stream as default_stream,
    )
    from .devices import (
        defer_cleanup as defer_cleanup,
    )
    from .devices import (
        detect as detect,
    )
    from .devices import (
        device_array as device_array,
    )
    from .devices import (
        device_array_like as device_array_like,
    )
    from .devices import (
        event as event,
    )
    from .devices import (
        event_elapsed_time as event_elapsed_time,
    )
    from .devices import (
        external_stream as external_stream,
    )
    from .devices import (
        get_current_device as get_current_device,
    )
    from .devices import (
        gpus as gpus,
    )
    from .devices import (
        is_available as is_available,
    )
    from .devices import (
        is_cuda_array as is_cuda_array,
    )
    from .devices import (
        legacy_default_stream as legacy_default_stream,
    )
    from .devices import (
        list_devices as list_devices,
    )
    from .devices import (
        managed_array as managed_array,
    )
    from .devices import (
        mapped_array as mapped_array,
    )
    from .devices import (
        per_thread_default_stream as per_thread_default_stream,
    )
    from .devices import (
        pinned as pinned,
    )
    from .devices import (
        pinned_array as pinned_array,
    )
    from .devices import (
        select_device as select_device,
    )
    from .devices import (
        stream as stream,
    )
    from .devices import (
        synchronize as synchronize,
    )
    from .devices import (
        to_device as to_device,
    )
    from .kernel import (
        activemask as activemask,
    )
    from .kernel import (
        all_sync as all_sync,
    )
    from .kernel import (
        any_sync as any_sync,
    )
    from .kernel import (
        atomic as atomic,
    )
    from .kernel import (
        ballot_sync as ballot_sync,
    )
    from .kernel import (
        blockDim as blockDim,
    )
    from .kernel import (
        blockIdx as blockIdx,
    )
    from .kernel import (
        brev as brev,
    )
    from .kernel import (
        cbrt as cbrt,
    )
    from .kernel import (
        clz as clz,
    )
    from .kernel import (
        const as const,
    )
    from .kernel import (
        ffs as ffs,
    )
    from .kernel import (
        fma as fma,
    )
    from .kernel import (
        grid as grid,
    )
    from .kernel import (
        gridDim as gridDim,
    )
    from .kernel import (
        gridsize as gridsize,
    )
    from .kernel import (
        jit as jit,
    )
    from .kernel import (
        laneid as laneid,
    )
    from .kernel import (
        lanemask_lt as lanemask_lt,
    )
    from .kernel import (
        local as local,
    )
    from .kernel import (
        match_all_sync as match_all_sync,
    )
    from .kernel import (
        match_any_sync as match_any_sync,
    )
    from .kernel import (
        nanosleep as nanosleep,
    )
    from .kernel import (
        popc as popc,
    )
    from .kernel import (
        selp as selp,
    )
    from .kernel import (
        shared as shared,
    )
    from .kernel import (
        shfl_down_sync as shfl_down_sync,
    )
    from .kernel import (
        shfl_sync as shfl_sync,
    )
    from .kernel import (
        shfl_up_sync as shfl_up_sync,
    )
    from .kernel import (
        shfl_xor_sync as shfl_xor_sync,
    )
    from .kernel import (
        syncthreads as syncthreads,
    )
    from .kernel import (
        syncthreads_and as syncthreads_and,
    )
    from .kernel import (
        syncthreads_count as syncthreads_count,
    )
    from .kernel import (
        syncthreads_or as syncthreads_or,
    )
    from .kernel import (
        syncwarp as syncwarp,
    )
    from .kernel import (
        threadfence as threadfence,
    )
    from .kernel import (
        threadfence_block as threadfence_block,
    )
    from .kernel import (
        threadfence_system as threadfence_system,
    )
    from .kernel import (
        threadIdx as threadIdx,
    )
    from .kernel import (
        warpsize as warpsize,
    )

__all__ = [
    "DeviceNDArray",
    "Reduce",
    "VERSION",
    "VERSION_STATUS",
    "VERSION_TEXT",
    "activemask",
    "all_sync",
    "any_sync",
    "as_cuda_array",
    "atomic",
    "ballot_sync",
    "blockDim",
    "blockIdx",
    "brev",
    "cbrt",
    "close",
    "clz",
    "const",
    "current_context",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "event",
    "event_elapsed_time",
    "external_stream",
    "ffs",
    "fma",
    "get_current_device",
    "gpus",
    "grid",
    "gridDim",
    "gridsize",
    "is_available",
    "is_cuda_array",
    "legacy_default_stream",
    "jit",
    "laneid",
    "lanemask_lt",
    "list_devices",
    "local",
    "match_all_sync",
    "match_any_sync",
    "nanosleep",
    "managed_array",
    "mapped_array",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "popc",
    "reduce",
    "select_device",
    "selp",
    "shared",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "stream",
    "synchronize",
    "syncthreads",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "syncwarp",
    "threadIdx",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
    "to_device",
    "warpsize",
]

_SUBMODULES = {
    "autoinit",
    "autoprimaryctx",
    "cg",
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
    "random",
    "tools",
}

# Numba's names, and the modules that have them.
_LAZY = {
    **dict.fromkeys(
        "activemask all_sync any_sync atomic ballot_sync blockDim blockIdx brev cbrt clz "
        "const ffs fma grid gridDim gridsize jit laneid lanemask_lt local match_all_sync "
        "match_any_sync nanosleep popc selp shared shfl_down_sync shfl_sync shfl_up_sync "
        "shfl_xor_sync syncthreads syncthreads_and syncthreads_count syncthreads_or syncwarp "
        "threadfence threadfence_block threadfence_system threadIdx warpsize".split(),
        "kernel",
    ),
    **dict.fromkeys(
        "as_cuda_array close current_context default_stream defer_cleanup detect device_array "
        "device_array_like DeviceNDArray event event_elapsed_time external_stream "
        "get_current_device gpus is_available is_cuda_array legacy_default_stream "
        "list_devices managed_array mapped_array per_thread_default_stream pinned "
        "pinned_array select_device stream synchronize to_device".split(),
        "devices",
    ),
    **dict.fromkeys(("Reduce", "reduce"), ".pykernel.cuda_reduce"),
}


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
