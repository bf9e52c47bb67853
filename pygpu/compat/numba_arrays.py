"""Device arrays as programs for Numba expect them, where pygpu's own answer is another one."""

from __future__ import annotations

from typing import Any

from pygpu._src.array.cuda_array import GPUArray
from pygpu._src.jit.cuda_arrays import DeviceNDArray
from pygpu._src.jit.signature import ArrayType, as_type

__all__ = ["install"]


def install() -> None:
    """From now on device arrays of this process are true if they have items, as lists are, their
    stream is 0 if it is the default one, and their ``__cuda_array_interface__`` has no strides if
    they are contiguous, and no stream if it is the default one. Single records are views of them,
    so that their fields can be set."""
    cls: Any = DeviceNDArray
    cls.__bool__ = _has_items
    cls._gives_records = True
    cls._numba_type_ = property(_type)
    cls.stream = property(_stream, doc=GPUArray.stream.__doc__)
    cls.__cuda_array_interface__ = property(_interface)


def _has_items(self: Any) -> bool:
    return len(self) > 0


def _type(self: Any) -> Any:
    """The type of the array in signatures; of a record its own."""
    if not self.ndim:
        return as_type(self.dtype)
    layout = "C" if self._c_contiguous else "F" if self._f_contiguous else "A"
    return ArrayType(self.dtype, self.ndim, layout)


def _stream(self: Any) -> Any:
    return 0 if self.queue is None else self.queue


def _interface(self: Any) -> dict[str, Any]:
    found: dict[str, Any] = GPUArray.__cuda_array_interface__.fget(self)  # type: ignore[attr-defined]
    if self._c_contiguous:
        found["strides"] = None
    if self.queue is None:
        found["stream"] = None
    return found
