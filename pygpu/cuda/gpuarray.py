"""Arrays on a CUDA device: NumPy's interface, PyCUDA's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu.core import layout
from pygpu.core.backend import backend_of
from pygpu.core.base import ArrayBase, _contiguous
from pygpu.core.dtypes import native

__all__ = ["GPUArray", "to_gpu"]


class GPUArray(ArrayBase):
    """An array in the memory of a CUDA device."""

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        allocator: Any = None,
        base: Any = None,
        gpudata: Any = None,
        strides: Any = None,
        order: str = "C",
    ) -> None:
        backend = backend_of(None)
        dtype = native(dtype, "GPUArray")
        shape = layout.as_shape(shape, "GPUArray")
        if strides is None and order == "F":
            strides = layout.f_strides(shape, dtype.itemsize)
        if gpudata is None:
            nbytes = dtype.itemsize * int(np.prod(shape, dtype=object))
            gpudata = backend.allocate(nbytes, allocator)
        self._init(backend, None, gpudata, 0, shape, strides, dtype, allocator)

    def get(self, ary: np.ndarray | None = None) -> np.ndarray:
        """The contents as a host array."""
        return self._get(ary, None, True)[0]


def to_gpu(ary: np.ndarray, allocator: Any = None) -> GPUArray:
    """A copy of a host array on the device."""
    ary = _contiguous(np.asarray(ary), "to_gpu")
    order = "C" if ary.flags.c_contiguous else "F"
    result = GPUArray(ary.shape, ary.dtype, allocator, order=order)
    result.backend.to_device(None, result.base_data, 0, ary)
    return result
