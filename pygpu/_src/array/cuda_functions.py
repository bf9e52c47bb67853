"""Functions of GPUArrays under PyCUDA's names: selecting, joining, and reductions of whole arrays.

stream: for the work; None for the arrays'. allocator: for the result.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pygpu import _cuda
from pygpu._src.codegen.fastpath import public_functions
from pygpu._src.util.overloads import overloads_of
from pygpu._src.util.public import publish

from . import ufuncs
from .methods import ArrayBase
from .routines import joining

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import SupportsIndex, TypeAlias, TypeVar

    from numpy.typing import DTypeLike

    from .array_types import _DType, _Indices, _Operand
    from .cuda_array import GPUArray

    _T = TypeVar("_T")
    _ArrayT = TypeVar("_ArrayT", bound=GPUArray[Any])
    _NumberT = TypeVar("_NumberT", bound=GPUArray[np.number[Any]])
    _InexactT = TypeVar("_InexactT", bound=GPUArray[np.inexact[Any]])
    _ScalarT = TypeVar("_ScalarT", bound=np.generic)
    _Signed: TypeAlias = GPUArray[np.signedinteger[Any] | np.bool_]
    _Unsigned: TypeAlias = GPUArray[np.unsignedinteger[Any]]
    _Allocator: TypeAlias = Callable[[int], Any] | None
    _Stream: TypeAlias = _cuda.Stream | None
    _Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]

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
    """Return the Stream for an argument *stream*; None for the default stream. Raises TypeError
    for anything else."""
    return None if stream is None else _cuda.Stream._of(stream, call)


def _array(a: Any, call: str, stream: Any = None) -> Any:
    """Return the array, with its work on *stream* if given."""
    if not isinstance(a, ArrayBase):
        raise TypeError(
            f"{call}: a GPUArray is needed, not {type(a).__name__}; use to_gpu() for host arrays"
        )
    return a if stream is None else a._on_queue(stream_of(stream, call))


def _on(a: Any, call: str, stream: Any) -> Any:
    return a if stream is None else _array(a, call, stream)


def _arrays(arrays: Any, call: str, stream: Any) -> Any:
    return arrays if stream is None else [_array(a, call, stream) for a in arrays]


def placed(result: _T, allocator: Any) -> _T:
    """Return the result, in an allocator's memory if one was given."""
    if allocator is None:
        return result
    array: Any = result
    copy = type(array)(array.shape, array.dtype, allocator, stream=array.queue)
    copy._copy_from(array)
    made: _T = copy
    return made


# ---- selecting and joining


def concatenate(arrays: Sequence[_ArrayT], axis: int = 0, allocator: _Allocator = None) -> _ArrayT:
    """Join arrays along an existing axis."""
    make = None
    if allocator is not None and isinstance(arrays, Iterable):
        arrays = list(arrays)

        def make(shape: tuple[int, ...], dtype: Any) -> Any:
            return type(arrays[0])(shape, dtype, allocator)

    result: _ArrayT = joining.concatenate(arrays, axis, make)
    return result


def stack(arrays: Sequence[_ArrayT], axis: int = 0, allocator: _Allocator = None) -> _ArrayT:
    """Join arrays of the same shape along a new axis."""
    result: _ArrayT = placed(joining.stack(arrays, axis), allocator)
    return result


def take(
    a: _ArrayT, indices: _Indices, out: _ArrayT | None = None, stream: _Stream = None
) -> _ArrayT:
    """Return the items of the flat array *a* with these *indices*."""
    result: _ArrayT = _array(a, "take", stream).take(indices, out=out)
    return result


def multi_take(
    arrays: Sequence[_ArrayT],
    indices: _Indices,
    out: Sequence[_ArrayT] | None = None,
    stream: _Stream = None,
) -> list[_ArrayT]:
    """Return the items with the same indices of several arrays."""
    return joining.multi_take(_arrays(arrays, "multi_take", stream), indices, out)


def multi_take_put(
    arrays: Sequence[_ArrayT],
    dest_indices: _Indices,
    src_indices: _Indices,
    dest_shape: _Shape | None = None,
    out: Sequence[_ArrayT] | None = None,
    stream: _Stream = None,
    src_offsets: Sequence[int] | None = None,
) -> list[_ArrayT]:
    """Take items of several arrays and set items of others."""
    arrays = _arrays(arrays, "multi_take_put", stream)
    return joining.multi_take_put(arrays, dest_indices, src_indices, dest_shape, out, src_offsets)


def multi_put(
    arrays: Sequence[_ArrayT],
    dest_indices: _Indices,
    dest_shape: _Shape | None = None,
    out: Sequence[_ArrayT] | None = None,
    stream: _Stream = None,
) -> list[_ArrayT]:
    """Set the items *dest_indices* of several arrays."""
    return joining.multi_put(_arrays(arrays, "multi_put", stream), dest_indices, dest_shape, out)


def transpose(a: _ArrayT, axes: Sequence[int] | None = None) -> _ArrayT:
    """See GPUArray.transpose()."""
    a = _array(a, "transpose")
    return a.transpose() if axes is None else a.transpose(axes)


def reshape(a: _ArrayT, *shape: _Shape, **kwargs: Any) -> _ArrayT:
    """See GPUArray.reshape()."""
    result: _ArrayT = _array(a, "reshape").reshape(*shape, **kwargs)
    return result


@overload
def if_positive(
    criterion: GPUArray[Any],
    then_: _ArrayT,
    else_: _ArrayT,
    out: _ArrayT | None = None,
    stream: _Stream = None,
) -> _ArrayT: ...
@overload
def if_positive(
    criterion: GPUArray[Any],
    then_: _Operand,
    else_: _Operand,
    out: GPUArray[Any] | None = None,
    stream: _Stream = None,
) -> GPUArray[Any]: ...
def if_positive(criterion: Any, then_: Any, else_: Any, out: Any = None, stream: Any = None) -> Any:
    """Items of *then_* where the criterion is positive, else of *else_*."""
    stream = stream_of(stream, "if_positive")
    return joining.choose("if_positive", criterion, then_, else_, out, stream, positive=True)


@overloads_of(if_positive)
def where(criterion: Any, then_: Any, else_: Any, out: Any = None, stream: Any = None) -> Any:
    """Items of *then_* where the criterion is true, else of *else_*."""
    stream = stream_of(stream, "where")
    return joining.choose("where", criterion, then_, else_, out, stream)


@overload
def maximum(
    a: _ArrayT, b: _ArrayT | int, out: _ArrayT | None = None, stream: _Stream = None
) -> _ArrayT: ...
@overload
def maximum(
    a: _Operand, b: _Operand, out: GPUArray[Any] | None = None, stream: _Stream = None
) -> GPUArray[Any]: ...
def maximum(a: Any, b: Any, out: Any = None, stream: Any = None) -> Any:
    """The greater of two items, NaN if one is."""
    return joining.binary("maximum", a, b, out, stream_of(stream, "maximum"))


@overloads_of(maximum)
def minimum(a: Any, b: Any, out: Any = None, stream: Any = None) -> Any:
    """The smaller of two items, NaN if one is."""
    return joining.binary("minimum", a, b, out, stream_of(stream, "minimum"))


def logical_and(
    x1: _Operand,
    x2: _Operand,
    /,
    out: GPUArray[np.bool_] | None = None,
    *,
    allocator: _Allocator = None,
) -> GPUArray[np.bool_]:
    """Whether both items are not zero."""
    return placed(joining.binary("logical_and", x1, x2, out), allocator)


def logical_or(
    x1: _Operand,
    x2: _Operand,
    /,
    out: GPUArray[np.bool_] | None = None,
    *,
    allocator: _Allocator = None,
) -> GPUArray[np.bool_]:
    """Whether one of the items is not zero."""
    return placed(joining.binary("logical_or", x1, x2, out), allocator)


def logical_not(
    x: GPUArray[Any], /, out: GPUArray[np.bool_] | None = None, *, allocator: _Allocator = None
) -> GPUArray[np.bool_]:
    """Whether the item is zero."""
    if not isinstance(x, ArrayBase):
        return np.logical_not(x)
    return placed(ufuncs.call("logical_not", (x,), None if out is None else (out,)), allocator)


# ---- reductions


@overload
def sum(
    a: _InexactT, dtype: None = None, stream: _Stream = None, allocator: _Allocator = None
) -> _InexactT: ...
@overload
def sum(
    a: _Signed, dtype: None = None, stream: _Stream = None, allocator: _Allocator = None
) -> GPUArray[np.int64]: ...
@overload
def sum(
    a: _Unsigned, dtype: None = None, stream: _Stream = None, allocator: _Allocator = None
) -> GPUArray[np.uint64]: ...
@overload
def sum(
    a: GPUArray[Any], dtype: _DType[_ScalarT], stream: _Stream = None, allocator: _Allocator = None
) -> GPUArray[_ScalarT]: ...
@overload
def sum(
    a: GPUArray[Any],
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator = None,
) -> GPUArray[Any]: ...
def sum(a: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> Any:
    """The sum, as numpy.sum."""
    return placed(_array(a, "sum", stream)._reduce("sum", None, dtype=dtype), allocator)


def any(
    a: GPUArray[Any], stream: _Stream = None, allocator: _Allocator = None
) -> GPUArray[np.bool_]:
    """Whether any item is not zero."""
    return placed(_array(a, "any", stream)._reduce("any", None), allocator)


def all(
    a: GPUArray[Any], stream: _Stream = None, allocator: _Allocator = None
) -> GPUArray[np.bool_]:
    """Whether all items are not zero."""
    return placed(_array(a, "all", stream)._reduce("all", None), allocator)


def min(a: _ArrayT, stream: _Stream = None) -> _ArrayT:
    """The least item."""
    result: _ArrayT = _array(a, "min", stream)._reduce("min", None)
    return result


def max(a: _ArrayT, stream: _Stream = None) -> _ArrayT:
    """The greatest item."""
    result: _ArrayT = _array(a, "max", stream)._reduce("max", None)
    return result


@overload
def dot(
    a: _NumberT,
    b: _NumberT,
    dtype: None = None,
    stream: _Stream = None,
    allocator: _Allocator = None,
) -> _NumberT: ...
@overload
def dot(
    a: GPUArray[Any],
    b: GPUArray[Any],
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator = None,
) -> GPUArray[Any]: ...
def dot(a: Any, b: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> Any:
    """numpy.dot."""
    return placed(joining.dot(_on(a, "dot", stream), b, dtype), allocator)


@overload
def subset_sum(
    subset: GPUArray[Any],
    a: _InexactT,
    dtype: None = None,
    stream: _Stream = None,
    allocator: _Allocator = None,
) -> _InexactT: ...
@overload
def subset_sum(
    subset: GPUArray[Any],
    a: _Signed,
    dtype: None = None,
    stream: _Stream = None,
    allocator: _Allocator = None,
) -> GPUArray[np.int64]: ...
@overload
def subset_sum(
    subset: GPUArray[Any],
    a: _Unsigned,
    dtype: None = None,
    stream: _Stream = None,
    allocator: _Allocator = None,
) -> GPUArray[np.uint64]: ...
@overload
def subset_sum(
    subset: GPUArray[Any],
    a: GPUArray[Any],
    dtype: _DType[_ScalarT],
    stream: _Stream = None,
    allocator: _Allocator = None,
) -> GPUArray[_ScalarT]: ...
@overload
def subset_sum(
    subset: GPUArray[Any],
    a: GPUArray[Any],
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator = None,
) -> GPUArray[Any]: ...
def subset_sum(
    subset: Any, a: Any, dtype: Any = None, stream: Any = None, allocator: Any = None
) -> Any:
    """The sum of the items that *subset*, an array of indices, names."""
    return placed(
        joining.subset("sum", subset, _on(a, "subset_sum", stream), dtype=dtype), allocator
    )


def subset_dot(
    subset: GPUArray[Any],
    a: GPUArray[Any],
    b: GPUArray[Any],
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator = None,
) -> GPUArray[Any]:
    """dot() of the items that *subset* names."""
    return placed(
        joining.subset("dot", subset, _on(a, "subset_dot", stream), b, dtype=dtype), allocator
    )


def subset_min(subset: GPUArray[Any], a: _ArrayT, stream: _Stream = None) -> _ArrayT:
    """The least of the items that *subset* names."""
    result: _ArrayT = joining.subset("min", subset, _on(a, "subset_min", stream))
    return result


def subset_max(subset: GPUArray[Any], a: _ArrayT, stream: _Stream = None) -> _ArrayT:
    """The greatest of the items that *subset* names."""
    result: _ArrayT = joining.subset("max", subset, _on(a, "subset_max", stream))
    return result


publish(globals(), __all__, "pygpu.cuda.gpuarray")
public_functions(globals(), __all__)
