"""Indexing: ints, slices, Ellipsis and newaxis make views; arrays and lists of ints or bools are
handled in `advanced_indexing.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.codegen.fastpath import fastpath, public_methods
from pygpu._src.util.lazy import lazy

from . import layout
from .base import ArrayCore, _ScalarT_co
from .primitives import warn_of_real
from .ufuncs import same_device, without_overlap


@public_methods
class Indexing(ArrayCore[_ScalarT_co]):
    """``a[...]``, ``a[...] = b``, ``len(a)``, iteration."""

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        equal: Any = self == value  # False for a value that arrays are not compared with
        return bool(equal if isinstance(equal, bool) else equal.any())

    def _basic(self, key: Any) -> tuple[Any, list[tuple[int, Any]]]:
        """Return the view for the basic part of an index, and the rest of it."""
        if isinstance(key, str):
            return self._field(key), []
        if type(key) is list and key and type(key[0]) is str:
            return lazy("pygpu._src.array.structured").view_of_fields(self, key), []
        index = layout.parse_index(self.shape, self.strides, key)
        return (
            self._view(index.shape, index.strides, self.offset + index.offset),
            index.advanced,
        )

    def _field(self, name: str) -> Any:
        fields = self.dtype.fields
        if fields is None or name not in fields:
            if fields is None:
                raise IndexError(f"the dtype {self.dtype} has no field {name!r}: it has no fields")
            raise ValueError(f"the dtype {self.dtype} has no field of name {name!r}")
        dtype, offset = fields[name][:2]
        shape, strides = self.shape, self.strides
        if dtype.subdtype is not None:
            dtype, inner = dtype.subdtype
            shape, strides = shape + inner, strides + layout.c_strides(inner, dtype.itemsize)
        return self._view(shape, strides, self.offset + offset, dtype)

    @fastpath("getitem")
    def __getitem__(self, key: Any) -> Any:
        if type(key) in (list, np.ndarray) or (
            type(key) is type(self)
            and key.ndim
            and (key.dtype.kind in "iu" or key.shape == self.shape)
        ):
            if type(key) is not list or not key or type(key[0]) is not str:
                return lazy("pygpu._src.array.advanced_indexing").getitem(self, key)
        view, advanced = self._basic(key)
        if advanced:
            return lazy("pygpu._src.array.advanced_indexing").getitem(self, key)
        return view

    @fastpath("setitem")
    def __setitem__(self, key: Any, value: Any) -> None:
        self.setitem(key, value)

    def __delitem__(self, key: Any) -> None:
        raise ValueError("cannot delete array elements; numpy.delete() makes an array without them")

    def setitem(self, subscript: Any, value: Any, queue: Any = None, wait_for: Any = None) -> Any:
        """Set ``a[subscript] = value`` on a queue, after the events *wait_for*.

        value: an array on the device or the host, or a number; it broadcasts to the items, and is
        converted to the array's dtype as by astype(). Raises IndexError, ValueError, TypeError.
        """
        layout.check_writable(self, "setitem")
        if isinstance(value, GPUArray):
            warn_of_real(value.dtype, self.dtype)
        if type(subscript) is type(self) and subscript.ndim and queue is None and wait_for is None:
            return lazy("pygpu._src.array.advanced_indexing").setitem(self, subscript, value)
        view, advanced = self._basic(subscript)
        if advanced:
            return lazy("pygpu._src.array.advanced_indexing").setitem(
                self._on_queue(queue, wait_for), subscript, value
            )
        if isinstance(value, GPUArray):
            same_device("setitem", [self, value])
            value = _fitted(value, view.shape)
            if queue is None and wait_for is None and _is_same(view, value):
                return None  # a[key] += b has already written the items
            value = without_overlap(value, [view])
        elif not isinstance(value, (int, float, complex, np.generic)):
            if view.dtype.kind in "mM":
                value = _as_dates(value, view.dtype)
            if isinstance(value, (tuple, list)) and view.dtype.names is not None:
                value = np.array(value, view.dtype)  # one record, or several
            host = np.asarray(value)
            if host.dtype.kind == "O":
                raise TypeError(
                    f"setitem: a {type(value).__name__} is neither an array nor a number"
                )
            whole = host.shape == view.shape and host.dtype == view.dtype and wait_for is None
            if whole and not (view.dtype.names and _has_gaps(view.dtype)):
                return view._set(host, queue, True, "setitem")
            value = host[()] if host.ndim == 0 else _fitted(self._from_host(host), view.shape)
        elif isinstance(value, complex) and view.dtype.kind not in "bc":
            raise TypeError(f"setitem: cannot convert a complex number to {view.dtype}")
        return view._copy_from(value, queue, wait_for)

    def _place_items(self, value: Any) -> None:
        """Set ``self[...] = value`` for a device array or a number of any dtype."""
        if self.size:
            self._copy_from(value)


def _has_gaps(dtype: np.dtype[Any]) -> bool:
    gaps: bool = lazy("pygpu._src.array.structured").has_gaps(dtype)
    return gaps


def _as_dates(value: Any, dtype: np.dtype[Any]) -> Any:
    """Convert strings, None and datetime objects to an array of dates or durations."""
    host = np.asarray(value)
    return host.astype(dtype) if host.dtype.kind in "OUS" else host


def _is_same(view: Any, value: Any) -> bool:
    """Whether both are the same items of the same memory."""
    return bool(
        view.base_data is value.base_data
        and view.offset == value.offset
        and view.dtype == value.dtype
        and view.shape == value.shape
        and view.strides == value.strides
    )


def _fitted(value: Any, shape: tuple[int, ...]) -> Any:
    """Return a value without its additional leading axes of length 1, as in NumPy's assignment."""
    have = value.shape
    while len(have) > len(shape) and have[0] == 1:
        have = have[1:]
    if have != value.shape:
        value = value._view(have, value.strides[len(value.shape) - len(have) :], value.offset)
    try:
        layout.broadcast_strides(value.shape, value.strides, shape)
    except ValueError:
        raise ValueError(
            f"could not broadcast input array from shape {layout.plain(value.shape)} into shape "
            f"{layout.plain(shape)}"
        ) from None
    return value
