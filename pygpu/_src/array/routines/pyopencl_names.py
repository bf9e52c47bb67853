"""Functions of arrays under PyOpenCL's names; users find them in :mod:`pygpu.array`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pygpu._src.array import ufuncs
from pygpu._src.array.methods import ArrayBase
from pygpu._src.codegen.fastpath import public_functions
from pygpu._src.util.overloads import overloads_of
from pygpu._src.util.public import publish

from . import joining

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, SupportsIndex, TypeAlias, TypeVar

    from numpy.typing import DTypeLike

    from pygpu import _opencl
    from pygpu._src.array.array_types import _Axes, _DType, _Indices, _Operand
    from pygpu._src.array.opencl_array import Array
    from pygpu._src.runtime.opencl.types import WaitList

    _ArrayT = TypeVar("_ArrayT", bound=Array[Any])
    _NumberT = TypeVar("_NumberT", bound=Array[np.number[Any]])
    _InexactT = TypeVar("_InexactT", bound=Array[np.inexact[Any]])
    _ScalarT = TypeVar("_ScalarT", bound=np.generic)
    _Signed: TypeAlias = Array[np.signedinteger[Any] | np.bool_]
    _Unsigned: TypeAlias = Array[np.unsignedinteger[Any]]
    _Allocator: TypeAlias = Callable[[int], Any] | None
    _Initial: TypeAlias = complex | np.generic | None
    _Queue: TypeAlias = _opencl.CommandQueue | None
    _Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
    _Slice: TypeAlias = "slice[Any, Any, Any] | None"

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


def on_queue(a: Any, queue: Any, wait_for: Any = None) -> Any:
    """Return *a* with its commands on *queue*, if given, after the events *wait_for*."""
    return a._on_queue(queue, wait_for) if isinstance(a, ArrayBase) else a


def _array(call: str, a: Any, queue: Any = None, wait_for: Any = None, part: Any = None) -> Any:
    """The same for an argument that must be an array; part: a slice of its flat items."""
    if not isinstance(a, ArrayBase):
        raise TypeError(
            f"{call}: needs an array on the device, not {type(a).__name__}; copy it there with "
            "to_device()"
        )
    return (a if part is None else a.ravel()[part])._on_queue(queue, wait_for)


def _arrays(call: str, arrays: Any, queue: Any, wait_for: Any = None) -> list[Any]:
    """The same for a sequence of arrays."""
    if not isinstance(arrays, Iterable):
        raise TypeError(f"{call}: needs a sequence of arrays, not {type(arrays).__name__}")
    return [_array(call, a, queue, wait_for) for a in arrays]


# ---- selecting and joining


def concatenate(
    arrays: Iterable[_ArrayT], axis: int = 0, queue: _Queue = None, allocator: _Allocator = None
) -> _ArrayT:
    """Join arrays along an axis."""
    arrays = _arrays("concatenate", arrays, queue)
    make = None
    if allocator is not None and arrays:
        first = arrays[0]

        def make(shape: tuple[int, ...], dtype: Any) -> Any:
            return type(first)(first.queue, shape, dtype, allocator=allocator)

    result: _ArrayT = joining.concatenate(arrays, axis, make)
    return result


def stack(arrays: Iterable[_ArrayT], axis: int = 0, queue: _Queue = None) -> _ArrayT:
    """Join arrays of the same shape along a new axis."""
    result: _ArrayT = joining.stack(_arrays("stack", arrays, queue), axis)
    return result


def hstack(arrays: Iterable[_ArrayT], queue: _Queue = None) -> _ArrayT:
    """Join arrays along the last axis."""
    arrays = _arrays("hstack", arrays, queue)
    if not arrays:
        raise ValueError("need at least one array to hstack")
    result: _ArrayT = joining.concatenate(arrays, arrays[0].ndim - 1)
    return result


def take(
    a: _ArrayT,
    indices: _Indices,
    out: _ArrayT | None = None,
    queue: _Queue = None,
    wait_for: WaitList = None,
) -> _ArrayT:
    """Return the items of the flat array *a* with these *indices*."""
    result: _ArrayT = _array("take", a, queue, wait_for).take(on_queue(indices, queue), out=out)
    return result


def multi_take(
    arrays: Sequence[_ArrayT],
    indices: _Indices,
    out: Sequence[_ArrayT] | None = None,
    queue: _Queue = None,
) -> list[_ArrayT]:
    """Return the items with the same indices of several arrays."""
    return joining.multi_take(_arrays("multi_take", arrays, queue), on_queue(indices, queue), out)


def multi_put(
    arrays: Sequence[_ArrayT],
    dest_indices: _Indices,
    dest_shape: _Shape | None = None,
    out: Sequence[_ArrayT] | None = None,
    queue: _Queue = None,
    wait_for: WaitList = None,
) -> list[_ArrayT]:
    """Set the items *dest_indices* of several arrays."""
    arrays = _arrays("multi_put", arrays, queue, wait_for)
    return joining.multi_put(arrays, on_queue(dest_indices, queue), dest_shape, out)


def multi_take_put(
    arrays: Sequence[_ArrayT],
    dest_indices: _Indices,
    src_indices: _Indices,
    dest_shape: _Shape | None = None,
    out: Sequence[_ArrayT] | None = None,
    queue: _Queue = None,
    src_offsets: Sequence[int] | None = None,
) -> list[_ArrayT]:
    """Take items of several arrays and set items of others."""
    arrays = _arrays("multi_take_put", arrays, queue)
    where_to, where_from = on_queue(dest_indices, queue), on_queue(src_indices, queue)
    return joining.multi_take_put(arrays, where_to, where_from, dest_shape, out, src_offsets)


@overload
def if_positive(
    criterion: Array[Any],
    then_: _ArrayT,
    else_: _ArrayT,
    out: _ArrayT | None = None,
    queue: _Queue = None,
) -> _ArrayT: ...
@overload
def if_positive(
    criterion: Array[Any],
    then_: _Operand,
    else_: _Operand,
    out: Array[Any] | None = None,
    queue: _Queue = None,
) -> Array[Any]: ...
def if_positive(criterion: Any, then_: Any, else_: Any, out: Any = None, queue: Any = None) -> Any:
    """Items of *then_* where the criterion is positive, else of *else_*."""
    return joining.choose("if_positive", criterion, then_, else_, out, queue, positive=True)


@overload
def where(
    condition: Array[Any], x: _ArrayT, y: _ArrayT, out: _ArrayT | None = None, queue: _Queue = None
) -> _ArrayT: ...
@overload
def where(
    condition: Array[Any],
    x: _Operand,
    y: _Operand,
    out: Array[Any] | None = None,
    queue: _Queue = None,
) -> Array[Any]: ...
def where(condition: Any, x: Any, y: Any, out: Any = None, queue: Any = None) -> Any:
    """Items of *x* where the condition is true, else of *y*."""
    return joining.choose("where", condition, x, y, out, queue)


@overload
def maximum(
    a: _ArrayT, b: _ArrayT | int, out: _ArrayT | None = None, queue: _Queue = None
) -> _ArrayT: ...
@overload
def maximum(
    a: _Operand, b: _Operand, out: Array[Any] | None = None, queue: _Queue = None
) -> Array[Any]: ...
def maximum(a: Any, b: Any, out: Any = None, queue: Any = None) -> Any:
    """The greater of two items, NaN if one is."""
    return joining.binary("maximum", a, b, out, queue)


@overloads_of(maximum)
def minimum(a: Any, b: Any, out: Any = None, queue: Any = None) -> Any:
    """The smaller of two items, NaN if one is."""
    return joining.binary("minimum", a, b, out, queue)


def logical_and(
    x1: _Operand, x2: _Operand, /, out: Array[np.bool_] | None = None, queue: _Queue = None
) -> Array[np.bool_]:
    """Whether both items are not zero."""
    result: Array[np.bool_] = joining.binary("logical_and", x1, x2, out, queue)
    return result


def logical_or(
    x1: _Operand, x2: _Operand, /, out: Array[np.bool_] | None = None, queue: _Queue = None
) -> Array[np.bool_]:
    """Whether one of the items is not zero."""
    result: Array[np.bool_] = joining.binary("logical_or", x1, x2, out, queue)
    return result


def logical_not(
    x: Array[Any], /, out: Array[np.bool_] | None = None, queue: _Queue = None
) -> Array[np.bool_]:
    """Whether the item is zero."""
    if not isinstance(x, ArrayBase):
        return np.logical_not(x)
    result: Array[np.bool_] = ufuncs.call(
        "logical_not", (x,), None if out is None else (out,), queue=queue
    )
    return result


def diff(
    array: _ArrayT, queue: _Queue = None, allocator: _Allocator = None, n: int = 1, axis: int = -1
) -> _ArrayT:
    """Differences of neighbours."""
    result: _ArrayT = joining.diff(on_queue(array, queue), n, axis)
    if allocator is None:
        return result
    moved = type(result)(result.queue, result.shape, result.dtype, allocator=allocator)
    moved._copy_from(result)
    return moved


def reshape(a: _ArrayT, shape: _Shape) -> _ArrayT:
    """See Array.reshape()."""
    return a.reshape(shape)


def transpose(a: _ArrayT, axes: Sequence[int] | None = None) -> _ArrayT:
    """See Array.transpose()."""
    return a.transpose() if axes is None else a.transpose(axes)


# ---- reductions


@overload
def sum(
    a: _InexactT,
    dtype: None = None,
    queue: _Queue = None,
    slice: _Slice = None,
    initial: _Initial = ...,
    *,
    axis: _Axes = None,
) -> _InexactT: ...
@overload
def sum(
    a: _Signed,
    dtype: None = None,
    queue: _Queue = None,
    slice: _Slice = None,
    initial: _Initial = ...,
    *,
    axis: _Axes = None,
) -> Array[np.int64]: ...
@overload
def sum(
    a: _Unsigned,
    dtype: None = None,
    queue: _Queue = None,
    slice: _Slice = None,
    initial: _Initial = ...,
    *,
    axis: _Axes = None,
) -> Array[np.uint64]: ...
@overload
def sum(
    a: Array[Any],
    dtype: _DType[_ScalarT],
    queue: _Queue = None,
    slice: _Slice = None,
    initial: _Initial = ...,
    *,
    axis: _Axes = None,
) -> Array[_ScalarT]: ...
@overload
def sum(
    a: Array[Any],
    dtype: DTypeLike | None = None,
    queue: _Queue = None,
    slice: _Slice = None,
    initial: _Initial = ...,
    *,
    axis: _Axes = None,
) -> Array[Any]: ...
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
    summed = _array("sum", a, queue, part=slice)
    return summed._reduce("sum", axis, dtype=dtype, initial=start)


def any(a: Array[Any], queue: _Queue = None, wait_for: WaitList = None) -> Array[np.bool_]:
    """Whether any item is not zero."""
    result: Array[np.bool_] = _array("any", a, queue, wait_for)._reduce("any", None)
    return result


def all(a: Array[Any], queue: _Queue = None, wait_for: WaitList = None) -> Array[np.bool_]:
    """Whether all items are not zero."""
    result: Array[np.bool_] = _array("all", a, queue, wait_for)._reduce("all", None)
    return result


def min(a: _ArrayT, queue: _Queue = None, initial: _Initial = _NoValue) -> _ArrayT:
    """The least item."""
    if not isinstance(a, ArrayBase):
        return np.asarray(a)[()]
    start = None if initial is _NoValue else initial
    result: _ArrayT = on_queue(a, queue)._reduce("min", None, initial=start)
    return result


def max(a: _ArrayT, queue: _Queue = None, initial: _Initial = _NoValue) -> _ArrayT:
    """The greatest item."""
    if not isinstance(a, ArrayBase):
        return np.asarray(a)[()]
    start = None if initial is _NoValue else initial
    result: _ArrayT = on_queue(a, queue)._reduce("max", None, initial=start)
    return result


@overload
def dot(
    a: _NumberT, b: _NumberT, dtype: None = None, queue: _Queue = None, slice: _Slice = None
) -> _NumberT: ...
@overload
def dot(
    a: Array[Any],
    b: Array[Any],
    dtype: DTypeLike | None = None,
    queue: _Queue = None,
    slice: _Slice = None,
) -> Array[Any]: ...
def dot(a: Any, b: Any, dtype: Any = None, queue: Any = None, slice: Any = None) -> Any:
    """numpy.dot; slice: of that part of the flat arrays."""
    a, b = (_array("dot", x, queue, part=slice) for x in (a, b))
    return joining.dot(a, b, dtype)


@overloads_of(dot)
def vdot(a: Any, b: Any, dtype: Any = None, queue: Any = None, slice: Any = None) -> Any:
    """numpy.vdot: the sum of conj(a) * b over the flat arrays."""
    a, b = (_array("vdot", x, queue, part=slice) for x in (a, b))
    return joining.dot(a, b, dtype, conjugate=True)


def subset_dot(
    subset: Array[Any],
    a: Array[Any],
    b: Array[Any],
    dtype: DTypeLike | None = None,
    queue: _Queue = None,
    slice: _Slice = None,
) -> Array[Any]:
    """dot() of the items that *subset*, an array of indices, names."""
    where = _array("subset_dot", subset, queue, part=slice)
    result: Array[Any] = joining.subset(
        "dot", where, on_queue(a, queue), on_queue(b, queue), dtype=dtype
    )
    return result


def subset_min(
    subset: Array[Any], a: _ArrayT, queue: _Queue = None, slice: _Slice = None
) -> _ArrayT:
    """The least of the items that *subset* names."""
    result: _ArrayT = joining.subset(
        "min", _array("subset_min", subset, queue, part=slice), on_queue(a, queue)
    )
    return result


def subset_max(
    subset: Array[Any], a: _ArrayT, queue: _Queue = None, slice: _Slice = None
) -> _ArrayT:
    """The greatest of the items that *subset* names."""
    result: _ArrayT = joining.subset(
        "max", _array("subset_max", subset, queue, part=slice), on_queue(a, queue)
    )
    return result


@overload
def cumsum(
    a: _ArrayT,
    output_dtype: None = None,
    queue: _Queue = None,
    wait_for: WaitList = None,
    *,
    return_event: Literal[False] = False,
) -> _ArrayT: ...
@overload
def cumsum(
    a: Array[Any],
    output_dtype: DTypeLike | None = None,
    queue: _Queue = None,
    wait_for: WaitList = None,
    *,
    return_event: Literal[False] = False,
) -> Array[Any]: ...
@overload
def cumsum(
    a: Array[Any],
    output_dtype: DTypeLike | None = None,
    queue: _Queue = None,
    wait_for: WaitList = None,
    *,
    return_event: Literal[True],
) -> tuple[_opencl.Event, Array[Any]]: ...
def cumsum(
    a: Any,
    output_dtype: DTypeLike | None = None,
    queue: Any = None,
    wait_for: Any = None,
    *,
    return_event: bool = False,
) -> Any:
    """Running sums of the flat array; return_event: (event, array)."""
    a = _array("cumsum", a, queue, wait_for)
    result = a.cumsum(dtype=a.dtype if output_dtype is None else output_dtype)
    if return_event:
        return (result.events or [result.backend.event(result.queue)])[-1], result
    return result


publish(globals(), __all__, "pygpu.array")
public_functions(globals(), __all__)
