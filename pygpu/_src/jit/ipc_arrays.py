"""Device arrays of other processes, under the names of ``numba.cuda``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from pygpu import _cuda
from pygpu._src.array.cuda_array import GPUArray
from pygpu._src.runtime.backends import backend_of


class _Bytes(NamedTuple):
    """The bytes of a handle, under the name of the driver's struct."""

    reserved: bytes


class IpcHandle:
    """A handle for a range of device memory, which can be pickled and opened in another process.

    base: the memory, which must exist as long as others use it; None in other processes. handle:
    the driver's, of the allocation in which the range begins at *offset*; size: of the range
    [bytes]. array_class: of the arrays that it makes.
    """

    array_class: Any = GPUArray

    def __init__(self, base: Any, handle: Any, size: int, offset: int = 0) -> None:
        self.base = base
        self.handle = _Bytes(bytes(getattr(handle, "reserved", handle)))
        self.size = size
        self.offset = offset
        self._opened: Any = None

    def __reduce__(self) -> Any:
        return IpcHandle, (None, self.handle.reserved, self.size, self.offset)

    def open(self, context: Any = None) -> int:
        """Return the address of the range in this process. Raises ValueError if it is open."""
        if self._opened is not None:
            raise ValueError("IpcHandle is already opened")
        backend_of(None)
        self._opened = _cuda.IPCMemoryHandle(bytearray(self.handle.reserved))
        return int(self._opened) + self.offset

    open_direct = open_staged = open

    def open_array(self, context: Any, shape: Any, dtype: Any, strides: Any = None) -> Any:
        """Return the range as an array, valid until close()."""
        address = self.open(context)
        return self.array_class(
            shape, np.dtype(dtype), gpudata=address, strides=strides, base=self._opened
        )

    def close(self) -> None:
        """Release the memory; arrays over it are unusable then. Raises ValueError if it is not
        open."""
        if self._opened is None:
            raise ValueError("IpcHandle not opened")
        opened, self._opened = self._opened, None
        opened.close()


class IpcArrayHandle:
    """A handle for a device array; as a context manager it yields the array."""

    def __init__(self, ipc_handle: IpcHandle, array_desc: dict[str, Any]) -> None:
        self._ipc_handle = ipc_handle
        self._array_desc = array_desc

    def open(self) -> Any:
        """Return the array in this process, valid until close()."""
        return self._ipc_handle.open_array(None, **self._array_desc)

    def close(self) -> None:
        """Release the memory of the opened array."""
        self._ipc_handle.close()

    def __enter__(self) -> Any:
        return self.open()

    def __exit__(self, *exc: object) -> None:
        self.close()


def ipc_handle(memory: Any, base: Any = None) -> IpcHandle:
    """Make a handle for a MemoryPointer: an address and a size."""
    address = int(memory.device_pointer_value)
    begin, _ = _cuda.mem_get_address_range(address)
    handle = _cuda.mem_get_ipc_handle(address)
    return IpcHandle(memory if base is None else base, handle, memory.size, address - begin)


@contextmanager
def open_ipc_array(
    handle: Any, shape: Any, dtype: Any, strides: Any = None, offset: int = 0
) -> Iterator[Any]:
    """Open the array of a 64-byte handle for the with block."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    opened = IpcHandle(None, handle, size, offset)
    array = opened.open_array(None, shape, dtype, strides)
    try:
        yield array
    finally:
        opened.close()
