"""Structured arrays: comparison and assignment by fields, as in NumPy.

Memory holds whole records, which kernels that move items treat as bytes. Operations on the
contents of records use views of their fields, one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pygpu._array import GPUArray

from . import layout, primitives

DType = np.dtype[Any]
Call = Callable[[str, Sequence[Any]], Any]


def has_records(dtype: DType) -> bool:
    """Whether items are records or raw bytes, other than those of ml_dtypes."""
    return dtype.type is np.void


def has_gaps(dtype: DType) -> bool:
    """Whether a record has bytes that belong to no field, as in a view of some fields."""
    if dtype.fields is None:
        return dtype.subdtype is not None and has_gaps(dtype.subdtype[0])
    parts = [dtype.fields[name][0] for name in dtype.names or ()]
    used = sum(part.itemsize for part in parts)
    return used < dtype.itemsize or any(map(has_gaps, parts))


def view_of_fields(a: Any, names: list[str]) -> Any:
    """Return a[["x", "y"]]: a view of records with some of the fields."""
    if a.dtype.names is None:
        raise IndexError(f"the dtype {a.dtype} has no field {names[0]!r}: it has no fields")
    return a._view(a.shape, a.strides, a.offset, a.dtype[names])


# ---- comparison


def compare(
    call: Call, name: str, operands: Sequence[Any], outs: Sequence[Any] | None, where: Any
) -> Any:
    """numpy.equal or not_equal of records: of all fields, or of any. call: does that of a field.
    where: the items of outs that are set."""
    like: Any = next(x for x in operands if isinstance(x, GPUArray))
    arrays = [x if isinstance(x, GPUArray) else like._from_host(np.asarray(x)) for x in operands]
    kinds = [a.dtype for a in arrays]
    if not all(map(has_records, kinds)):
        raise TypeError("Cannot compare structured or void to non-void arrays.")
    try:
        np.result_type(*kinds)
    except TypeError:
        raise TypeError(
            "Cannot compare structured arrays unless they have a common dtype. I.e. "
            "`np.result_type(arr1, arr2)` must be defined."
        ) from None
    shape = layout.broadcast_shapes(*(a.shape for a in arrays))
    spread = [
        a._view(shape, layout.broadcast_strides(a.shape, a.strides, shape), a.offset)
        for a in arrays
    ]
    found = _compared(call, name, *spread)
    if outs is None or outs[0] is None:
        return found
    np.copyto(outs[0], found, where=where)
    return outs[0]


def _compared(call: Call, name: str, a: Any, b: Any) -> Any:
    """Compare items of two arrays of the same shape."""
    if a.dtype.names is None:
        return _compared_bytes(call, name, a, b)
    join = "logical_and" if name == "equal" else "logical_or"
    found = None
    for left, right in zip(a.dtype.names, b.dtype.names, strict=True):
        x, y = a._field(left), b._field(right)
        if has_records(x.dtype) or x.dtype.kind in "SU":
            part = _compared(call, name, x, y)
        else:
            part = call(name, (x, y))
        if part.ndim > a.ndim:  # a field of several items
            axes = tuple(range(a.ndim, part.ndim))
            part = part._reduce("all" if name == "equal" else "any", axes)
        found = part if found is None else call(join, (found, part))
    if found is None:  # there are no fields
        return primitives.empty(a, a.shape, np.bool_).fill(name == "equal")
    return found


def _compared_bytes(call: Call, name: str, a: Any, b: Any) -> Any:
    if a.dtype.itemsize != b.dtype.itemsize:
        raise TypeError(f"{name}: strings of {a.dtype} and {b.dtype} differ in length")
    part = call(name, (a._bytes(), b._bytes()))
    return part._reduce("all" if name == "equal" else "any", a.ndim)


# ---- assignment


def assign(to: Any, source: Any, queue: Any = None, wait_for: Any = None) -> Any:
    """Set records from those of another array, field by field in order, or all fields from an
    array of another kind. Returns the last event."""
    names, others = to.dtype.names, source.dtype.names
    if names is None or (others is not None and len(names) != len(others)):
        if names is None and others is not None and len(others) == 1:
            return to._copy_from(source._field(others[0]), queue, wait_for)
        raise TypeError(f"cannot convert items of {source.dtype} to {to.dtype}")
    shape = to.shape
    whole = layout.broadcast_strides(source.shape, source.strides, shape)
    source = source._view(shape, whole, source.offset)
    event = None
    for k, name in enumerate(names):
        view = to._field(name)
        part = source if others is None else source._field(others[k])
        while others is None and part.ndim < view.ndim:
            part = part._view((*part.shape, 1), (*part.strides, 0), part.offset)
        event = view._copy_from(part, queue, wait_for)
        primitives.changed(to, view)
    return event


def set_items(a: Any, key: Any, value: Any) -> None:
    """Set a[key] = value field by field, if records of *a* have bytes outside the fields."""
    if not isinstance(value, GPUArray):
        given = value if isinstance(value, (np.ndarray, np.void)) else np.array(value, a.dtype)
        value = a._from_host(np.asarray(given))
    if len(value.dtype.names or ()) != len(a.dtype.names):
        raise TypeError(f"setitem: cannot convert items of {value.dtype} to {a.dtype}")
    for name, other in zip(a.dtype.names, value.dtype.names, strict=True):
        view = a._field(name)
        if view._is_aligned:
            view[key] = value._field(other)
            primitives.changed(a, view)
            continue
        field = view._copy(order="C")  # kernels can only write whole, aligned items
        field[key] = value._field(other)
        view._copy_bytes(field)
        primitives.changed(a, view)
