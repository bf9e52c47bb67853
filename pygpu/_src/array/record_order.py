"""The order of records: lexicographic, by stable sorts from the last field to the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pygpu._src.util.lazy import lazy

from . import advanced_indexing, layout, primitives, ufuncs

DType = np.dtype[Any]
Argsort = Callable[[Any, Any], Any]
_joining = lazy("pygpu._src.array.routines.joining")


def _columns(a: Any, names: Sequence[str] | None = None) -> Iterator[Any]:
    """Yield arrays of the shape of *a* by which its items are ordered, the most significant
    first."""
    dtype = a.dtype
    if dtype.names is not None:
        for name in dtype.names if names is None else names:
            kind, offset = dtype.fields[name][:2]
            if kind.subdtype is None:
                yield from _columns(a._field(name))
            else:  # several items are compared by their bytes, as in NumPy
                whole = np.dtype(f"V{kind.itemsize}")
                yield from _columns(a._view(a.shape, a.strides, a.offset + offset, whole))
    elif dtype.type is np.void or dtype.kind in "SU":
        width = 4 if dtype.kind == "U" else 1
        parts = a._bytes().view(np.dtype(f"u{width}")) if width > 1 else a._bytes()
        for k in range(parts.shape[-1]):
            yield parts[..., k]
    else:
        yield a._aligned()


def _names(dtype: DType, order: Any) -> Sequence[str] | None:
    """Return all fields, those of *order* first."""
    if order is None:
        return None
    if dtype.names is None:
        raise ValueError("Cannot specify order when the array has no fields.")
    wanted = [order] if isinstance(order, str) else list(order)
    for name in wanted:
        if name not in dtype.names:
            raise ValueError(f"unknown field name: {name}")
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"duplicate field names in order={order!r}")
    return [*wanted, *(name for name in dtype.names if name not in wanted)]


def argsort(by_key: Argsort, a: Any, axis: int | None = -1, order: Any = None) -> Any:
    """Return the indices that sort records along an axis: equal fields are ordered by the next
    field, and finally by position. by_key: sorts by one field, stable."""
    names = _names(a.dtype, order)
    if axis is None:
        a, axis = primitives.flat(a), -1
    if a.ndim == 0:
        layout.normalize_axis(axis, 1)
        return primitives.as_array(a, np.zeros(1, np.int64))
    axis = layout.normalize_axis(axis, a.ndim)
    found = None
    for key in reversed(list(_columns(a, names))):
        if found is None:
            found = by_key(key, axis)
        else:
            ranked = advanced_indexing.take_along_axis(key, found, axis)
            again = by_key(ranked, axis)
            found = advanced_indexing.take_along_axis(found, again, axis)
    if found is None:  # without fields there is no order
        found = by_key(primitives.empty(a, a.shape, np.uint8).fill(0), axis)
    return found


def sort(by_key: Argsort, a: Any, axis: int | None = -1, order: Any = None) -> Any:
    """Return a copy sorted as by argsort()."""
    if axis is None:
        a, axis = primitives.flat(a), -1
    layout.normalize_axis(axis, a.ndim)
    return advanced_indexing.take_along_axis(a, argsort(by_key, a, axis, order), axis)


def searchsorted(order: Callable[[Any], Any], a: Any, v: Any, side: str) -> Any:
    """Implement numpy.searchsorted by *order*, a stable argsort: the positions in the order of
    both, minus their own number."""
    dtype = np.result_type(a.dtype, v.dtype)
    items, wanted = (primitives.flat(primitives.astype(x, dtype)) for x in (a, v))
    left = side == "left"
    both = _joining.concatenate([wanted, items] if left else [items, wanted])
    ranked = order(both)  # stable: among equal ones, those of the first part come first
    many = wanted.size
    here = ufuncs.call("less", (ranked, many)) if left else None
    if here is None:
        here = ufuncs.call("greater_equal", (ranked, items.size))
    (at,) = advanced_indexing.nonzero(here)  # in the order of their values
    whose = advanced_indexing.take(ranked, at, mode="clip")
    if not left:
        whose = ufuncs.call("subtract", (whose, items.size))
    count = _joining.arange_into(primitives.empty(a, (many,), np.int64), 0, 1)
    out = primitives.empty(a, (many,), np.int64)
    if many:
        advanced_indexing.put_along_axis(out, whose, ufuncs.call("subtract", (at, count)), 0)
    return primitives.reshape(out, v.shape)
