"""How much memory of a device is used by arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

from pygpu._src.util.public import publish

from .backends import backend_of

__all__ = ["MemoryInfo", "memory_info"]


class MemoryInfo(NamedTuple):
    """Memory in bytes. total: of the device. free: what the driver can still allocate, None if it
    does not report that (OpenCL). in_use: by live arrays from the default pool. held: additionally
    kept by that pool for new arrays; it is released when memory runs out."""

    total: int
    free: int | None
    in_use: int
    held: int


def memory_info(of: Any = None) -> MemoryInfo:
    """The memory of a device, and how much of it arrays use.

    of: an array, a CommandQueue or Context of OpenCL, a Stream or Context of CUDA; None is the
    current CUDA context. Raises TypeError for anything else.
    """
    backend = backend_of(of)
    pool = backend.pool
    in_use, managed = int(pool.active_bytes), int(pool.managed_bytes)
    free: int | None
    if backend.name == "cuda":
        from pygpu import _cuda

        from .cuda.backend import _current

        with _current(backend.context):
            free, total = _cuda.mem_get_info()
    else:
        free, total = None, backend.device.global_mem_size
    return MemoryInfo(int(total), free, in_use, max(managed - in_use, 0))


publish(globals(), ["memory_info"], "pygpu")
