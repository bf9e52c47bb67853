"""Finds the backend of an object, and loads it at first use."""

from __future__ import annotations

from typing import Any

from .backend import Backend


def backend_of(obj: Any) -> Backend:
    """Return the backend of a CommandQueue, an OpenCL Context (its first device), a CUDA Stream or
    Context, or an array; of the current CUDA context for None. Raises TypeError for anything else.
    """
    backend = getattr(obj, "backend", None)  # an array's
    if isinstance(backend, Backend):
        return backend
    from pygpu import _opencl

    if isinstance(obj, (_opencl.CommandQueue, _opencl.Context)):
        from .opencl import backend as opencl

        return opencl.backend_of(obj)
    from pygpu import _cuda

    if obj is None or isinstance(obj, (_cuda.Stream, _cuda.Context)):
        from .cuda import backend as cuda

        return cuda.backend_of(obj)
    raise TypeError(
        "a CommandQueue or Context of OpenCL, a Stream or Context of CUDA or an array is needed, "
        f"not {type(obj).__name__}"
    )
