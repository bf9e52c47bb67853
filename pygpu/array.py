"""Arrays on an OpenCL device: NumPy's interface, PyOpenCL's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import layout
from .core.backend import backend_of
from .core.base import ArrayBase, _contiguous
from .core.dtypes import native

__all__ = ["Array", "to_device"]


class Array(ArrayBase):
    """An array in the memory of an OpenCL device."""

    def __init__(
        self,
        cq: Any,
        shape: Any,
        dtype: Any,
        order: str = "C",
        allocator: Any = None,
        data: Any = None,
        offset: int = 0,
        strides: Any = None,
        events: Any = None,
    ) -> None:
        backend = backend_of(cq)
        dtype = native(dtype, "Array")
        shape = layout.as_shape(shape, "Array")
        if strides is None and order == "F":
            strides = layout.f_strides(shape, dtype.itemsize)
        if data is None:
            nbytes = dtype.itemsize * int(np.prod(shape, dtype=object))
            data = backend.allocate(nbytes, allocator, cq)
        self._init(backend, cq, data, offset, shape, strides, dtype, allocator)
        if events:
            self.events = events

    def get(self, queue: Any = None, ary: np.ndarray | None = None) -> np.ndarray:
        """The contents as a host array."""
        return self._get(ary, queue, True)[0]


def to_device(queue: Any, ary: np.ndarray, allocator: Any = None) -> Array:
    """A copy of a host array on the device."""
    ary = _contiguous(np.asarray(ary), "to_device")
    order = "C" if ary.flags.c_contiguous else "F"
    result = Array(queue, ary.shape, ary.dtype, order, allocator)
    event = result.backend.to_device(queue, result.base_data, 0, ary)
    result._set_event(event)
    return result
