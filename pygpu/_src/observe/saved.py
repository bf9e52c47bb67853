"""Saves what a call may overwrite, so that it can be repeated with the original contents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pygpu import _cuda, _opencl
from pygpu._array import GPUArray
from pygpu._src.runtime.backends import backend_of

from .work import Work

_DEEP = 3


class Saved:
    """The contents of arrays and memory among *values*, including those in containers.

    Saved are device arrays, allocations, buffers, writable NumPy arrays, and the arrays of In, Out
    and InOut.
    """

    def __init__(self, values: Iterable[Any], works: list[Work]) -> None:
        self._works = works
        self._back: list[Callable[[], Any]] = []
        self._seen: set[int] = set()
        for value in values:
            self._keep(value, _DEEP)

    def restore(self) -> None:
        """Restore the contents."""
        for put in self._back:
            put()

    def _keep(self, value: Any, depth: int) -> None:
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        put = self._restorer(value)
        if put is not None:
            self._back.append(put)
        elif depth and isinstance(value, dict):
            for item in value.values():
                self._keep(item, depth - 1)
        elif depth and isinstance(value, (list, tuple)):
            for item in value:
                self._keep(item, depth - 1)
        elif isinstance(value, _cuda.ArgumentHandler):
            self._keep(value.array, depth)

    def _restorer(self, value: Any) -> Callable[[], Any] | None:
        """Return a function that restores the value's contents; None if it cannot be written to."""
        if isinstance(value, GPUArray):
            array: Any = value
            copy = array.copy()
            return lambda: array.__setitem__(Ellipsis, copy)
        if isinstance(value, np.ndarray):
            return self._host(value) if value.flags.writeable else None
        if isinstance(value, _opencl.Buffer):
            return self._buffer(value)
        if isinstance(value, _cuda.DeviceAllocation):
            return self._allocation(value)
        return None

    def _host(self, array: np.ndarray) -> Callable[[], Any]:
        copy = array.copy()
        return lambda: array.__setitem__(Ellipsis, copy)

    def _buffer(self, buffer: Any) -> Callable[[], Any]:
        queue = next((q for b, q in self._works if b.context == buffer.context), None)
        if queue is None:
            raise TypeError(
                "autotune: no queue is known on which a Buffer can be copied and restored; pass a "
                "CommandQueue as an argument, or restore=() if nothing has to be"
            )
        copy = backend_of(queue).allocate(buffer.size)
        _opencl.enqueue_copy(queue, copy, buffer, byte_count=buffer.size)
        return lambda: _opencl.enqueue_copy(queue, buffer, copy, byte_count=buffer.size)

    def _allocation(self, memory: Any) -> Callable[[], Any]:
        start, size = _cuda.mem_get_address_range(memory)
        size -= int(memory) - start
        copy = _cuda.mem_alloc(size)
        _cuda.memcpy_dtod(copy, memory, size)
        return lambda: _cuda.memcpy_dtod(memory, copy, size)
