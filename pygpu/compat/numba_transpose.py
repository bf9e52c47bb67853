"""``numba.cuda.kernels.transpose``"""

from __future__ import annotations

from typing import Any

from pygpu._src.jit.cuda_arrays import current_context
from pygpu._src.runtime.cuda.streams import stream_of
from pygpu.compat.numba_arrays import DeviceNDArray

__all__ = ["transpose"]


def transpose(a: Any, b: Any = None) -> Any:
    """Copy the transposed matrix *a* to *b*, by default a new array with rows of *a* as columns.

    Returns b. The work is ordered on the stream of *a*, as that of its other operations."""
    if a.ndim != 2:
        raise ValueError(f"transpose: a matrix is needed, not an array of {a.ndim} dimensions")
    if b is None:
        current_context()
        b = DeviceNDArray((a.shape[1], a.shape[0]), a.dtype)
    if b.shape != (a.shape[1], a.shape[0]):
        raise ValueError(f"transpose: b has shape {b.shape}, and needs {(a.shape[1], a.shape[0])}")
    b._copy_from(a.T, stream_of(getattr(a, "stream", 0) or 0, "transpose"))
    return b
