"""Functions of GPUArrays by PyCUDA's names: choosing, joining and reductions of whole arrays.

stream: of the work; None for the arrays'. allocator: for the result.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu import _cuda

from . import ufuncs
from .methods import ArrayBase
from .routines import joining

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "all",
    "any",
    "concatenate",
    "dot",
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
    "subset_sum",
    "sum",
    "take",
    "transpose",
    "where",
]


def stream_of(stream: Any, call: str) -> Any:
    """The Stream for an argument *stream*; None for the default stream. Raises TypeError for what
    is not a stream."""
    return None if stream is None else _cuda.Stream._of(stream, call)


def _array(a: Any, call: str, stream: Any = None) -> Any:
    """The array, with its work on *stream* if one is given."""
    if not isinstance(a, ArrayBase):
        raise TypeError(
            f"{call}: a GPUArray is needed, not {type(a).__name__}; use to_gpu() for host arrays"
        )
    return a if stream is None else a._on_queue(stream_of(stream, call))


def _on(a: Any, call: str, stream: Any) -> Any:
    return a if stream is None else _array(a, call, stream)


def _arrays(arrays: Any, call: str, stream: Any) -> Any:
    return arrays if stream is None else [_array(a, call, stream) for a in arrays]


def placed(result: Any, allocator: Any) -> Any:
    """The result, in memory of an allocator if one was given."""
    if allocator is None:
        return result
    copy = type(result)(result.shape, result.dtype, allocator, stream=result.queue)
    copy._copy_from(result)
    return copy


# ---- choosing and joining


def concatenate(arrays: Any, axis: int = 0, allocator: Any = None) -> Any:
    """One array after the other along an axis."""
    if allocator is None or not isinstance(arrays, Iterable):
        return joining.concatenate(arrays, axis)
    arrays = list(arrays)
    return joining.concatenate(
        arrays, axis, lambda shape, dtype: type(arrays[0])(shape, dtype, allocator)
    )


def stack(arrays: Any, axis: int = 0, allocator: Any = None) -> Any:
    """Arrays of one shape along a new axis."""
    return placed(joining.stack(arrays, axis), allocator)


def take(a: Any, indices: Any, out: Any = None, stream: Any = None) -> Any:
    """The items of the flat array *a* that *indices* name."""
    return _array(a, "take", stream).take(indices, out=out)


def multi_take(arrays: Any, indices: Any, out: Any = None, stream: Any = None) -> Any:
    """The same items of several arrays."""
    return joining.multi_take(_arrays(arrays, "multi_take", stream), indices, out)


def multi_take_put(
    arrays: Any,
    dest_indices: Any,
    src_indices: Any,
    dest_shape: Any = None,
    out: Any = None,
    stream: Any = None,
    src_offsets: Any = None,
) -> Any:
    """Take items of several arrays and set items of others."""
    arrays = _arrays(arrays, "multi_take_put", stream)
    return joining.multi_take_put(arrays, dest_indices, src_indices, dest_shape, out, src_offsets)


def multi_put(
    arrays: Any, dest_indices: Any, dest_shape: Any = None, out: Any = None, stream: Any = None
) -> Any:
    """Set the items *dest_indices* of several arrays."""
    return joining.multi_put(_arrays(arrays, "multi_put", stream), dest_indices, dest_shape, out)


def transpose(a: Any, axes: Any = None) -> Any:
    """See GPUArray.transpose()."""
    a = _array(a, "transpose")
    return a.transpose() if axes is None else a.transpose(axes)


def reshape(a: Any, *shape: Any, **kwargs: Any) -> Any:
    """See GPUArray.reshape()."""
    return _array(a, "reshape").reshape(*shape, **kwargs)


def if_positive(criterion: Any, then_: Any, else_: Any, out: Any = None, stream: Any = None) -> Any:
    """Items of *then_* where the criterion is positive, else of *else_*."""
    stream = stream_of(stream, "if_positive")
    return joining.choose("if_positive", criterion, then_, else_, out, stream, positive=True)


def where(criterion: Any, then_: Any, else_: Any, out: Any = None, stream: Any = None) -> Any:
    """Items of *then_* where the criterion is true, else of *else_*."""
    stream = stream_of(stream, "where")
    return joining.choose("where", criterion, then_, else_, out, stream)


def maximum(a: Any, b: Any, out: Any = None, stream: Any = None) -> Any:
    """The greater of two items, NaN if one is."""
    return joining.binary("maximum", a, b, out, stream_of(stream, "maximum"))


def minimum(a: Any, b: Any, out: Any = None, stream: Any = None) -> Any:
    """The smaller of two items, NaN if one is."""
    return joining.binary("minimum", a, b, out, stream_of(stream, "minimum"))


def logical_and(x1: Any, x2: Any, /, out: Any = None, *, allocator: Any = None) -> Any:
    """Whether both items are not zero."""
    return placed(joining.binary("logical_and", x1, x2, out), allocator)


def logical_or(x1: Any, x2: Any, /, out: Any = None, *, allocator: Any = None) -> Any:
    """Whether one of the items is not zero."""
    return placed(joining.binary("logical_or", x1, x2, out), allocator)


def logical_not(x: Any, /, out: Any = None, *, allocator: Any = None) -> Any:
    """Whether the item is zero."""
    if not isinstance(x, ArrayBase):
        return np.logical_not(x)
    return placed(ufuncs.call("logical_not", (x,), None if out is None else (out,)), allocator)


# ---- reductions


def sum(a: Any, dtype: DTypeLike | None = None, stream: Any = None, allocator: Any = None) -> Any:
    """The sum, as numpy.sum."""
    return placed(_array(a, "sum", stream)._reduce("sum", None, dtype=dtype), allocator)


def any(a: Any, stream: Any = None, allocator: Any = None) -> Any:
    """Whether any item is not zero."""
    return placed(_array(a, "any", stream)._reduce("any", None), allocator)


def all(a: Any, stream: Any = None, allocator: Any = None) -> Any:
    """Whether all items are not zero."""
    return placed(_array(a, "all", stream)._reduce("all", None), allocator)


def min(a: Any, stream: Any = None) -> Any:
    """The least item."""
    return _array(a, "min", stream)._reduce("min", None)


def max(a: Any, stream: Any = None) -> Any:
    """The greatest item."""
    return _array(a, "max", stream)._reduce("max", None)


def dot(
    a: Any, b: Any, dtype: DTypeLike | None = None, stream: Any = None, allocator: Any = None
) -> Any:
    """numpy.dot."""
    return placed(joining.dot(_on(a, "dot", stream), b, dtype), allocator)


def subset_sum(
    subset: Any, a: Any, dtype: DTypeLike | None = None, stream: Any = None, allocator: Any = None
) -> Any:
    """The sum of the items that *subset*, an array of indices, names."""
    return placed(
        joining.subset("sum", subset, _on(a, "subset_sum", stream), dtype=dtype), allocator
    )


def subset_dot(
    subset: Any,
    a: Any,
    b: Any,
    dtype: DTypeLike | None = None,
    stream: Any = None,
    allocator: Any = None,
) -> Any:
    """dot() of the items that *subset* names."""
    return placed(
        joining.subset("dot", subset, _on(a, "subset_dot", stream), b, dtype=dtype), allocator
    )


def subset_min(subset: Any, a: Any, stream: Any = None) -> Any:
    """The least of the items that *subset* names."""
    return joining.subset("min", subset, _on(a, "subset_min", stream))


def subset_max(subset: Any, a: Any, stream: Any = None) -> Any:
    """The greatest of the items that *subset* names."""
    return joining.subset("max", subset, _on(a, "subset_max", stream))
