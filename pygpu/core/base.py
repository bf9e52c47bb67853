"""What the arrays of both backends have in common, on top of the C header."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _array
from . import dtypes, elementwise, layout, operators

__all__ = ["ArrayBase"]

_COPY = "y0 = x0;"


class ArrayBase(_array.GPUArray):
    """Methods of pygpu.array.Array and pygpu.cuda.gpuarray.GPUArray."""

    __array_priority__ = 100

    # ---- what the layers below ask for

    def _new(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        strides: tuple[int, ...] | None = None,
        queue: Any = None,
    ) -> Any:
        """A new array without contents beside this one: same class, backend, queue, allocator.
        strides without gaps."""
        array = type(self).__new__(type(self))
        nbytes = dtype.itemsize
        for n in shape:
            nbytes *= n
        backend, allocator = self.backend, self.allocator
        data = backend.allocate(nbytes, allocator, queue or self.queue)
        array._init(backend, queue or self.queue, data, 0, shape, strides, dtype, allocator)
        return array

    def _from_host(self, host: np.ndarray) -> Any:
        """A copy of a host array beside this one."""
        host = _contiguous(host, "array")
        strides = host.strides if host.flags.f_contiguous else None
        array = self._new(host.shape, dtypes.native(host.dtype), strides)
        self.backend.to_device(array.queue, array.base_data, 0, host)
        return array

    def _shares_memory(self, other: Any) -> bool:
        """Whether both lie in one memory object. Different objects over one memory (sub-buffers)
        are not seen."""
        return self.base_data is other.base_data

    def _wait_list(self, queue: Any, arrays: Sequence[Any]) -> list[Any] | None:
        """Events that a command on *queue* must wait for."""
        backend = self.backend
        waits: list[Any] = []
        ordered = backend.is_ordered(queue)
        for array in arrays:
            if array.queue != queue or not ordered:
                if backend.name == "opencl":
                    waits += array.events
                elif array.queue != queue:
                    backend.order(queue, array.queue)
        return waits or None

    def _run(
        self,
        operation: elementwise.Operation,
        outs: Sequence[Any],
        operands: Sequence[Any],
        shape: tuple[int, ...],
        queue: Any = None,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Launch an elementwise operation after the operands' events; outs get its event."""
        queue = queue or outs[0].queue
        backend = self.backend
        every = [*outs, *(a for a in operands if isinstance(a, _array.GPUArray))]
        waits = self._wait_list(queue, every)
        if wait_for:
            waits = [*(waits or ()), *wait_for]
        event = elementwise.run(backend, queue, operation, (*outs, *operands), shape, waits)
        if event is not None:
            if backend.is_ordered(queue):
                for out in outs:
                    out._set_event(event)
            else:
                for array in every:
                    array.events.append(event)
        return event

    # ---- copies

    def _copy_from(self, other: Any, queue: Any = None) -> None:
        """Set all items from an array (or number) that broadcasts to this one, converted."""
        dtype = other.dtype if isinstance(other, _array.GPUArray) else self.dtype
        operation = elementwise.Operation("copy", (dtype,), (dtype,), _COPY)
        self._run(operation, [self], [other], self.shape, queue)

    def copy(self, queue: Any = None) -> Any:
        """A copy, in the same order of axes if there are no gaps, else in C order."""
        strides = layout.keep_order_strides(self.shape, self.strides, self.itemsize)
        new = self._new(self.shape, self.dtype, strides, queue)
        if self._c_contiguous or self._f_contiguous:
            queue = queue or self.queue
            event = self.backend.copy(
                queue,
                new.base_data,
                0,
                self.base_data,
                self.offset,
                self.nbytes,
                wait_for=self._wait_list(queue, [self]),
            )
            new._set_event(event)
        else:
            new._copy_from(self, queue)
        return new

    def _contiguous(self) -> Any:
        """This array, or a copy in C order if it has gaps."""
        if self._c_contiguous or self._f_contiguous:
            return self
        new = self._new(self.shape, self.dtype)
        new._copy_from(self)
        return new

    def _get(self, ary: np.ndarray | None, queue: Any, blocking: bool) -> tuple[np.ndarray, Any]:
        source = self._contiguous()
        queue = queue or self.queue
        if ary is None:
            order = "C" if source._c_contiguous else "F"
            ary = np.empty(self.shape, self.dtype, order)
            host = ary
        else:
            if ary.dtype != self.dtype:
                raise TypeError(f"get: the array has dtype {ary.dtype}, and {self.dtype} is needed")
            if ary.size != self.size:
                raise ValueError(f"get: the array has shape {ary.shape}, not {self.shape}")
            same = (
                ary.flags.c_contiguous if source._c_contiguous else ary.flags.f_contiguous
            ) and ary.shape == self.shape
            host = (
                ary
                if same
                else np.empty(self.shape, self.dtype, "C" if source._c_contiguous else "F")
            )
        event = self.backend.to_host(
            queue,
            host,
            source.base_data,
            source.offset,
            blocking=blocking or host is not ary,
            wait_for=self._wait_list(queue, [source]),
        )
        if host is not ary:
            ary[...] = host.reshape(ary.shape)
        return ary, event


def _contiguous(host: np.ndarray, call: str) -> np.ndarray:
    """The array itself if it lies without gaps in C or Fortran order, else a copy in C order."""
    dtypes.native(host.dtype, call)
    if host.flags.c_contiguous or host.flags.f_contiguous:
        return host
    return np.ascontiguousarray(host)


assert operators
