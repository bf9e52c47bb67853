"""Functions of arrays as PyOpenCL names them; users find them in :mod:`pygpu.array`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import functions, ufuncs
from .methods import ArrayBase

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "all",
    "any",
    "concatenate",
    "cumsum",
    "diff",
    "dot",
    "hstack",
    "if_positive",
    "logical_and",
    "logical_not",
    "logical_or",
    "max",
    "maximum",
    "min",
    "minimum",
    "multi_put",
    "multi_take",
    "multi_take_put",
    "reshape",
    "stack",
    "subset_dot",
    "subset_max",
    "subset_min",
    "sum",
    "take",
    "transpose",
    "vdot",
    "where",
]

_NoValue: Any = object()


# ---- choosing and joining


def concatenate(arrays: Any, axis: int = 0, queue: Any = None, allocator: Any = None) -> Any:
    """One array after the other along an axis."""
    arrays = list(arrays)
    if queue is None and allocator is None:
        return functions.concatenate(arrays, axis)
    first = arrays[0]

    def make(shape: tuple[int, ...], dtype: Any) -> Any:
        return type(first)(
            queue or first.queue, shape, dtype, allocator=allocator or first.allocator
        )

    return functions.concatenate(arrays, axis, make)


def stack(arrays: Any, axis: int = 0, queue: Any = None) -> Any:
    """Arrays of one shape along a new axis."""
    return functions.stack(arrays, axis)


def hstack(arrays: Any, queue: Any = None) -> Any:
    """One array after the other along the last axis."""
    arrays = list(arrays)
    if not arrays:
        raise ValueError("need at least one array to hstack")
    return functions.concatenate(arrays, arrays[0].ndim - 1)


def take(a: Any, indices: Any, out: Any = None, queue: Any = None, wait_for: Any = None) -> Any:
    """The items of the flat array *a* that *indices* name."""
    return a.take(indices, out=out)


def multi_take(arrays: Any, indices: Any, out: Any = None, queue: Any = None) -> Any:
    """The same items of several arrays."""
    return functions.multi_take(arrays, indices, out)


def multi_put(
    arrays: Any,
    dest_indices: Any,
    dest_shape: Any = None,
    out: Any = None,
    queue: Any = None,
    wait_for: Any = None,
) -> Any:
    """Set the items *dest_indices* of several arrays."""
    return functions.multi_put(arrays, dest_indices, dest_shape, out)


def multi_take_put(
    arrays: Any,
    dest_indices: Any,
    src_indices: Any,
    dest_shape: Any = None,
    out: Any = None,
    queue: Any = None,
    src_offsets: Any = None,
) -> Any:
    """Take items of several arrays and set items of others."""
    return functions.multi_take_put(arrays, dest_indices, src_indices, dest_shape, out, src_offsets)


def if_positive(criterion: Any, then_: Any, else_: Any, out: Any = None, queue: Any = None) -> Any:
    """Items of *then_* where the criterion is positive, else of *else_*."""
    return functions.choose("if_positive", criterion, then_, else_, out, queue, positive=True)


def where(condition: Any, x: Any, y: Any, out: Any = None, queue: Any = None) -> Any:
    """Items of *x* where the condition is true, else of *y*."""
    return functions.choose("where", condition, x, y, out, queue)


def maximum(a: Any, b: Any, out: Any = None, queue: Any = None) -> Any:
    """The greater of two items, NaN if one is."""
    return functions.binary("maximum", a, b, out, queue)


def minimum(a: Any, b: Any, out: Any = None, queue: Any = None) -> Any:
    """The smaller of two items, NaN if one is."""
    return functions.binary("minimum", a, b, out, queue)


def logical_and(x1: Any, x2: Any, /, out: Any = None, queue: Any = None) -> Any:
    """Whether both items are not zero."""
    return functions.binary("logical_and", x1, x2, out, queue)


def logical_or(x1: Any, x2: Any, /, out: Any = None, queue: Any = None) -> Any:
    """Whether one of the items is not zero."""
    return functions.binary("logical_or", x1, x2, out, queue)


def logical_not(x: Any, /, out: Any = None, queue: Any = None) -> Any:
    """Whether the item is zero."""
    if not isinstance(x, ArrayBase):
        return np.logical_not(x)
    return ufuncs.call("logical_not", (x,), None if out is None else (out,), queue=queue)


def diff(array: Any, queue: Any = None, allocator: Any = None, n: int = 1, axis: int = -1) -> Any:
    """Differences of neighbours."""
    return functions.diff(array, n, axis)


def reshape(a: Any, shape: Any) -> Any:
    """See Array.reshape()."""
    return a.reshape(shape)


def transpose(a: Any, axes: Any = None) -> Any:
    """See Array.transpose()."""
    return a.transpose() if axes is None else a.transpose(axes)


# ---- reductions


def _sliced(a: Any, part: Any) -> Any:
    return a if part is None else a.ravel()[part]


def sum(
    a: Any,
    dtype: DTypeLike | None = None,
    queue: Any = None,
    slice: Any = None,
    initial: Any = _NoValue,
    *,
    axis: Any = None,
) -> Any:
    """The sum, as numpy.sum; slice: of that part of the flat array."""
    start = None if initial is _NoValue else initial
    return _sliced(a, slice)._reduce("sum", axis, dtype=dtype, initial=start)


def any(a: Any, queue: Any = None, wait_for: Any = None) -> Any:
    """Whether any item is not zero."""
    return a._reduce("any", None)


def all(a: Any, queue: Any = None, wait_for: Any = None) -> Any:
    """Whether all items are not zero."""
    return a._reduce("all", None)


def min(a: Any, queue: Any = None, initial: Any = _NoValue) -> Any:
    """The least item."""
    if not isinstance(a, ArrayBase):
        return np.asarray(a)[()]
    return a._reduce("min", None, initial=None if initial is _NoValue else initial)


def max(a: Any, queue: Any = None, initial: Any = _NoValue) -> Any:
    """The greatest item."""
    if not isinstance(a, ArrayBase):
        return np.asarray(a)[()]
    return a._reduce("max", None, initial=None if initial is _NoValue else initial)


def dot(
    a: Any, b: Any, dtype: DTypeLike | None = None, queue: Any = None, slice: Any = None
) -> Any:
    """numpy.dot; slice: of that part of the flat arrays."""
    return functions.dot(_sliced(a, slice), _sliced(b, slice), dtype)


def vdot(
    a: Any, b: Any, dtype: DTypeLike | None = None, queue: Any = None, slice: Any = None
) -> Any:
    """numpy.vdot: the sum of conj(a) * b over the flat arrays."""
    return functions.dot(_sliced(a, slice), _sliced(b, slice), dtype, conjugate=True)


def subset_dot(
    subset: Any,
    a: Any,
    b: Any,
    dtype: DTypeLike | None = None,
    queue: Any = None,
    slice: Any = None,
) -> Any:
    """dot() of the items that *subset*, an array of indices, names."""
    return functions.subset("dot", _sliced(subset, slice), a, b, dtype=dtype)


def subset_min(subset: Any, a: Any, queue: Any = None, slice: Any = None) -> Any:
    """The least of the items that *subset* names."""
    return functions.subset("min", _sliced(subset, slice), a)


def subset_max(subset: Any, a: Any, queue: Any = None, slice: Any = None) -> Any:
    """The greatest of the items that *subset* names."""
    return functions.subset("max", _sliced(subset, slice), a)


def cumsum(
    a: Any,
    output_dtype: DTypeLike | None = None,
    queue: Any = None,
    wait_for: Any = None,
    *,
    return_event: bool = False,
) -> Any:
    """Running sums of the flat array; return_event: (event, array)."""
    result = a.cumsum(dtype=a.dtype if output_dtype is None else output_dtype)
    if return_event:
        return (result.events or [result.backend.event(result.queue)])[-1], result
    return result
