"""Device memory of other libraries by ``__cuda_array_interface__``, and checks of their claims.

A wrong claim would read or destroy other memory, or end the context. So the description must
follow the protocol, and all of its items must be in memory that the driver knows.
"""

from __future__ import annotations

import importlib
import operator
import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pygpu._src.codegen.dtypes import native

from . import layout

_TYPE = re.compile(r"[<>|=]?[a-zA-Z][0-9]+(\[[0-9a-zA-Z]*\])?")
_PLAIN = {np.dtype(c).str: np.dtype(c) for c in "?bBhHiIlLqQefdFD"}  # the most common dtypes
_MOST = 1 << 62  # bytes
_LEGACY = 1  # the handle of CUDA's default stream


class InterfaceError(BufferError, TypeError):
    """A ``__cuda_array_interface__`` violates the protocol."""


class ForeignArray(NamedTuple):
    """A checked ``__cuda_array_interface__``; strides of C order if it has none."""

    address: int
    read_only: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    stream: int | None


@cache
def _cuda() -> Any:
    return importlib.import_module("pygpu._cuda")


def _index(value: Any, what: str) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise InterfaceError(f"{what} is {value!r}, not an int")
    try:
        return operator.index(value)
    except TypeError:
        raise InterfaceError(f"{what} is {value!r}, not an int") from None


def _ints(value: Any, what: str) -> tuple[int, ...]:
    if not isinstance(value, (tuple, list)):
        raise InterfaceError(f"{what} is {value!r}, not a tuple of ints")
    return tuple([n if type(n) is int else _index(n, what) for n in value])


def _dtype_of(shown: dict[str, Any]) -> np.dtype[Any]:
    text = shown["typestr"]
    if type(text) is str and text in _PLAIN:
        return _PLAIN[text]
    if not isinstance(text, str) or _TYPE.fullmatch(text) is None:
        raise InterfaceError(f"'typestr' is {text!r}, not a string such as '<f4'")
    try:
        dtype = np.dtype(text)
        if dtype.kind == "V" and shown.get("descr"):
            dtype = np.dtype([tuple(field) for field in shown["descr"]])
        if dtype.itemsize != np.dtype(text).itemsize:
            raise InterfaceError(f"'descr' has {dtype.itemsize} bytes, and 'typestr' is {text!r}")
        dtype = native(dtype, "'typestr'")
    except InterfaceError:
        raise
    except (TypeError, ValueError) as error:
        raise InterfaceError(f"'typestr' is {text!r}: {error}") from None
    if dtype.itemsize == 0:
        raise InterfaceError(f"'typestr' is {text!r}: items of 0 bytes")
    return dtype


def _address_of(shown: dict[str, Any]) -> tuple[int, bool]:
    data = shown["data"]
    if not isinstance(data, tuple) or len(data) != 2:
        raise InterfaceError(f"'data' is {data!r}, not (address, read-only)")
    address = 0 if data[0] is None else _index(data[0], "the address in 'data'")
    if not 0 <= address < 1 << 64:
        raise InterfaceError(f"the address in 'data' is {address}, not from 0 to 2**64 - 1")
    if not isinstance(data[1], (bool, np.bool_, int)):
        raise InterfaceError(f"'data' is {data!r}, whose second item is not a bool")
    return address, bool(data[1])


def _stream_of(shown: dict[str, Any]) -> int | None:
    stream = shown.get("stream")
    if stream is None:
        return None
    stream = _index(stream, "'stream'")
    if not 0 < stream < 1 << 64:
        raise InterfaceError(
            f"'stream' is {stream}: 1 is the default stream, 2 the thread's own, and others are "
            "handles"
        )
    return stream


def read(shown: Any, call: str) -> ForeignArray:
    """Read a ``__cuda_array_interface__``. Raises InterfaceError, whose message begins with
    *call*, if it violates the protocol."""
    try:
        return _read(shown)
    except InterfaceError as error:
        raise InterfaceError(f"{call}: {error}") from None


def _read(shown: Any) -> ForeignArray:
    if not isinstance(shown, dict):
        raise InterfaceError(f"a dict is needed, not {type(shown).__name__}")
    missing = [key for key in ("shape", "typestr", "data") if key not in shown]
    if missing:
        raise InterfaceError(f"missing: {', '.join(map(repr, missing))}")
    version = _index(shown.get("version", 3), "'version'")
    if version < 2:
        raise InterfaceError(f"'version' is {version}: versions 2 and 3 are supported")
    if shown.get("mask") is not None:
        raise InterfaceError("arrays with a mask are not supported")
    shape = _ints(shown["shape"], "'shape'")
    dtype = _dtype_of(shown)
    size = dtype.itemsize
    for n in shape:
        if n < 0:
            raise InterfaceError(f"'shape' is {shape}: a length is negative")
        size *= max(n, 1)
    if size >= _MOST or len(shape) > layout.MAX_DIMS:
        raise InterfaceError(f"'shape' is {shape}, which is larger than any memory")
    strides = shown.get("strides")
    if strides is None:
        strides = layout.c_strides(shape, dtype.itemsize)
    else:
        strides = _ints(strides, "'strides'")
        if len(strides) != len(shape):
            raise InterfaceError(f"{len(strides)} strides for {len(shape)} axes")
        if any(not -_MOST < s < _MOST for s in strides):
            raise InterfaceError(f"'strides' are {strides}, which is farther than memory can reach")
    address, read_only = _address_of(shown)
    if address == 0 and 0 not in shape:
        raise InterfaceError("the address is 0, but the array has items")
    return ForeignArray(address, read_only, shape, strides, dtype, _stream_of(shown))


def check_alignment(
    call: str, address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any
) -> None:
    """Raise BufferError for numbers at addresses from which a device cannot read them."""
    size = dtype.alignment
    if size > 1 and 0 not in shape:
        if address % size or any(s % size for n, s in zip(shape, strides) if n > 1):
            raise BufferError(
                f"{call}: items of {dtype} at {address:#x} with strides {strides} are not at "
                f"multiples of {size} bytes"
            )


def check_range(
    call: str, address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any
) -> int | None:
    """Raise BufferError unless all items are in one range of memory that the driver knows. Returns
    the number of the device that owns the memory; None for the current context's, for host memory,
    and if there are no items."""
    low, high = layout.byte_bounds(shape, strides, dtype.itemsize)
    if low == high:
        return None
    begin, end = address + low, address + high
    allocation = None
    if 0 < begin and end < 1 << 64:
        allocation = _cuda()._memory_range(begin, end - begin)
    if allocation is None:
        raise BufferError(
            f"{call}: items lie at {begin:#x} to {end:#x}, which is not memory of the CUDA driver "
            "that pygpu uses"
        )
    start, size, device = allocation
    if begin < start or end > start + size:
        raise BufferError(
            f"{call}: items lie at {begin:#x} to {end:#x}, outside of their allocation, which is "
            f"at {start:#x} to {start + size:#x}"
        )
    check_alignment(call, address, shape, strides, dtype)
    found: int | None = device
    return found


def check_current(call: str, shown: ForeignArray) -> None:
    """Raise BufferError for memory that kernels of the current context cannot use."""
    found = check_range(call, shown.address, shown.shape, shown.strides, shown.dtype)
    if found is None:
        return
    cuda = _cuda()
    other = cuda.Device(found)
    if not cuda.Context.get_device().can_access_peer(other):
        raise BufferError(
            f"{call}: the memory at {shown.address:#x} is of device {found} ({other.name()}), and "
            f"the current context's device cannot reach it"
        )


def wait_for(backend: Any, queue: Any, handle: int | None) -> None:
    """Make a queue (None: the default stream) wait for another library's stream."""
    if handle is None or handle == (_LEGACY if queue is None else queue.handle):
        return
    theirs = None if handle == _LEGACY else _cuda().Stream.from_handle(handle)
    event = backend.event(theirs)
    if queue is None:
        event.synchronize()
    else:
        queue.wait_for_event(event)
