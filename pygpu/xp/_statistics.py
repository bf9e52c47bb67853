"""The standard's reductions, running sums, sorting, searching and sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from pygpu._src.array import advanced_indexing, layout
from pygpu._src.array import results as _named
from pygpu._src.array import sort as _sort
from pygpu._src.array.reduction import reduce as _reduce
from pygpu._src.array.routines import (
    joining,
    manipulation,
    sets,
    statistics,
    table,
)
from pygpu._src.util.overloads import overloads_of

from ._arguments import need_arrays

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike

    from ._types import (
        ArrayT,
        Axis,
        Bool,
        DType,
        Floating,
        FloatingT,
        GPUArray,
        Index,
        InexactT,
        Mask,
        Number,
        NumberT,
        Operand,
        ScalarT,
        Signed,
        Unsigned,
    )
else:
    from .._array import GPUArray

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "isin",
    "max",
    "mean",
    "min",
    "nonzero",
    "prod",
    "searchsorted",
    "sort",
    "std",
    "sum",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "var",
    "where",
]


def all(
    a: GPUArray[Any],
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Mask | None = None,
) -> Bool:  # noqa: A001
    """Whether all items are true, over axes."""
    need_arrays("all", a)
    result: Bool = _reduce("all", a, axis, out=out, keepdims=keepdims, where=where)
    return result


def any(
    a: GPUArray[Any],
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Mask | None = None,
) -> Bool:  # noqa: A001
    """Whether any item is true, over axes."""
    need_arrays("any", a)
    result: Bool = _reduce("any", a, axis, out=out, keepdims=keepdims, where=where)
    return result


def max(
    a: ArrayT,
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Number | None = None,
    where: Mask | None = None,
) -> ArrayT:  # noqa: A001
    """The greatest item over axes; NaN if there is one."""
    need_arrays("max", a)
    result: ArrayT = _reduce(
        "max", a, axis, out=out, keepdims=keepdims, initial=initial, where=where
    )
    return result


def min(
    a: ArrayT,
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Number | None = None,
    where: Mask | None = None,
) -> ArrayT:  # noqa: A001
    """The least item over axes; NaN if there is one."""
    need_arrays("min", a)
    result: ArrayT = _reduce(
        "min", a, axis, out=out, keepdims=keepdims, initial=initial, where=where
    )
    return result


@overload
def sum(
    a: InexactT,
    axis: Axis = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
    initial: Number | None = None,
    where: Mask | None = None,
) -> InexactT: ...
@overload
def sum(
    a: Signed,
    axis: Axis = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
    initial: Number | None = None,
    where: Mask | None = None,
) -> GPUArray[np.int64]: ...
@overload
def sum(
    a: Unsigned,
    axis: Axis = None,
    dtype: None = None,
    out: None = None,
    keepdims: bool = False,
    initial: Number | None = None,
    where: Mask | None = None,
) -> GPUArray[np.uint64]: ...
@overload
def sum(
    a: GPUArray[Any],
    axis: Axis = None,
    *,
    dtype: DType[ScalarT],
    out: None = None,
    keepdims: bool = False,
    initial: Number | None = None,
    where: Mask | None = None,
) -> GPUArray[ScalarT]: ...
@overload
def sum(
    a: GPUArray[Any],
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    initial: Number | None = None,
    where: Mask | None = None,
) -> GPUArray[Any]: ...
def sum(  # noqa: A001
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Number | None = None,
    where: Mask | None = None,
) -> Any:
    """Sums over axes; of small integers in int64 or uint64."""
    need_arrays("sum", a)
    return _reduce(
        "sum", a, axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where
    )


@overloads_of(sum)
def prod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Number | None = None,
    where: Mask | None = None,
) -> Any:
    """Products over axes; of small integers in int64 or uint64."""
    need_arrays("prod", a)
    return _reduce(
        "prod", a, axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where
    )


@overload
def mean(
    a: InexactT,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Mask | None = None,
) -> InexactT: ...
@overload
def mean(
    a: GPUArray[Any],
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Mask | None = None,
) -> Floating: ...
def mean(
    a: Any,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Mask | None = None,
) -> Any:
    """Arithmetic means over axes."""
    need_arrays("mean", a)
    return _reduce("mean", a, axis, dtype=dtype, out=out, keepdims=keepdims, where=where)


def _deviation(
    call: str,
    a: Any,
    axis: Axis,
    ddof: float,
    correction: float | None,
    mean: Any,
    options: dict[str, Any],
) -> Any:
    """The number of items less ddof, or correction by the standard's name, divides the sums."""
    need_arrays(call, a)
    if correction is not None:
        if ddof != 0:
            raise ValueError(f"{call}: ddof and correction are two names of one argument; give one")
        ddof = correction
    if mean is not None:
        return statistics.about_mean(call, a, axis, ddof=ddof, mean=mean, **options)
    return _reduce(call, a, axis, ddof=ddof, **options)


@overload
def var(
    a: FloatingT,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    where: Mask | None = None,
    mean: Any = None,
) -> FloatingT: ...
@overload
def var(
    a: GPUArray[Any],
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    where: Mask | None = None,
    mean: Any = None,
) -> Floating: ...
def var(
    a: Any,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    where: Mask | None = None,
    mean: Any = None,
) -> Any:
    """Variances over axes; the sums are divided by the number of items less the correction."""
    options = dict(dtype=dtype, out=out, keepdims=keepdims, where=where)
    return _deviation("var", a, axis, ddof, correction, mean, options)


@overloads_of(var)
def std(
    a: Any,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
    where: Mask | None = None,
    mean: Any = None,
) -> Any:
    """Standard deviations over axes."""
    options = dict(dtype=dtype, out=out, keepdims=keepdims, where=where)
    return _deviation("std", a, axis, ddof, correction, mean, options)


def argmax(
    a: GPUArray[Any], axis: int | None = None, out: Any = None, *, keepdims: bool = False
) -> Index:
    """The index of the first greatest item along an axis, of the flat array for None."""
    need_arrays("argmax", a)
    result: Index = _reduce("argmax", a, axis, out=out, keepdims=keepdims)
    return result


def argmin(
    a: GPUArray[Any], axis: int | None = None, out: Any = None, *, keepdims: bool = False
) -> Index:
    """The index of the first least item along an axis, of the flat array for None."""
    need_arrays("argmin", a)
    result: Index = _reduce("argmin", a, axis, out=out, keepdims=keepdims)
    return result


def count_nonzero(a: GPUArray[Any], axis: Axis = None, keepdims: bool = False) -> Index:
    """How many items are not zero, over axes."""
    need_arrays("count_nonzero", a)
    result: Index = _reduce("count_nonzero", a, axis, keepdims=keepdims)
    return result


@overload
def cumulative_sum(
    x: InexactT,
    /,
    axis: int | None = None,
    dtype: None = None,
    include_initial: bool = False,
    out: Any = None,
) -> InexactT: ...
@overload
def cumulative_sum(
    x: Signed,
    /,
    axis: int | None = None,
    dtype: None = None,
    include_initial: bool = False,
    out: Any = None,
) -> GPUArray[np.int64]: ...
@overload
def cumulative_sum(
    x: Unsigned,
    /,
    axis: int | None = None,
    dtype: None = None,
    include_initial: bool = False,
    out: Any = None,
) -> GPUArray[np.uint64]: ...
@overload
def cumulative_sum(
    x: GPUArray[Any],
    /,
    axis: int | None = None,
    *,
    dtype: DType[ScalarT],
    include_initial: bool = False,
    out: Any = None,
) -> GPUArray[ScalarT]: ...
@overload
def cumulative_sum(
    x: GPUArray[Any],
    /,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
    out: Any = None,
) -> GPUArray[Any]: ...
def cumulative_sum(
    x: Any,
    /,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
    out: Any = None,
) -> Any:
    """Running sums along an axis; include_initial: after a zero."""
    need_arrays("cumulative_sum", x)
    return table.cumulative_sum(x, axis=axis, dtype=dtype, out=out, include_initial=include_initial)


@overloads_of(cumulative_sum)
def cumulative_prod(
    x: Any,
    /,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
    out: Any = None,
) -> Any:
    """Running products along an axis; include_initial: after a one."""
    need_arrays("cumulative_prod", x)
    return table.cumulative_prod(
        x, axis=axis, dtype=dtype, out=out, include_initial=include_initial
    )


def diff(
    a: ArrayT, n: int = 1, axis: int = -1, prepend: ArrayT | None = None,
    append: ArrayT | None = None,
) -> ArrayT:  # fmt: skip
    """Differences of neighbours along an axis, n times."""
    need_arrays("diff", a)
    result: ArrayT = table.diff(a, n, axis, prepend, append)
    return result


# ---- sorting and searching


def sort(
    a: ArrayT,
    axis: int | None = -1,
    kind: str | None = None,
    order: str | Sequence[str] | None = None,
    *,
    descending: bool = False,
    stable: bool = True,
) -> ArrayT:
    """A sorted copy along an axis."""
    need_arrays("sort", a)
    _sort.check_kind(kind)
    found = _sort.sort(a, axis, order)
    along = -1 if axis is None else axis
    result: ArrayT = manipulation.flip(found, along) if descending and found.ndim else found
    return result


def argsort(
    a: GPUArray[Any],
    axis: int | None = -1,
    kind: str | None = None,
    order: str | Sequence[str] | None = None,
    *,
    descending: bool = False,
    stable: bool = True,
) -> Index:
    """The indices that sort along an axis; equal items keep their order."""
    need_arrays("argsort", a)
    _sort.check_kind(kind)
    result: Index
    if not descending or a.ndim == 0:
        result = _sort.argsort(a, axis, order)
        return result
    if axis is None:
        a, axis = a.ravel(), 0
    axis = layout.normalize_axis(axis, a.ndim)
    backwards = _sort.argsort(manipulation.flip(a, axis), axis, order)
    result = (a.shape[axis] - 1) - manipulation.flip(backwards, axis)
    return result


def searchsorted(
    a: GPUArray[Any], v: Operand, side: str = "left", sorter: GPUArray[Any] | None = None
) -> Index:
    """Where items of v belong in the sorted array a."""
    need_arrays("searchsorted", a)
    result: Index = _sort.searchsorted(a, v, side, sorter)
    return result


def nonzero(a: GPUArray[Any]) -> tuple[Index, ...]:
    """Indices of the items that are not zero, an array for each axis."""
    need_arrays("nonzero", a)
    return advanced_indexing.nonzero(a)


@overload
def where(condition: Bool, x1: ArrayT, x2: ArrayT, /) -> ArrayT: ...
@overload
def where(condition: Bool, x1: NumberT, x2: int, /) -> NumberT: ...
@overload
def where(condition: Bool, x1: int, x2: NumberT, /) -> NumberT: ...
@overload
def where(condition: Bool, x1: InexactT, x2: float, /) -> InexactT: ...
@overload
def where(condition: Bool, x1: float, x2: InexactT, /) -> InexactT: ...
@overload
def where(condition: GPUArray[Any], x1: Operand, x2: Operand, /) -> GPUArray[Any]: ...
@overload
def where(condition: GPUArray[Any], x1: None = None, x2: None = None, /) -> tuple[Index, ...]: ...
def where(condition: Any, x1: Any = None, x2: Any = None, /) -> Any:
    """Items of x1 where the condition is true, else of x2.

    The standard has no call with the condition alone: as NumPy's, it is nonzero(condition).
    """
    need_arrays("where", condition)
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError("where: pass both x1 and x2 to choose from, or neither")
    return joining.choose("where", condition, x1, x2)


# ---- sets


def isin(
    element: Operand,
    test_elements: Operand,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Bool:
    """Which items of element are among those of test_elements. assume_unique and kind do not
    change the result."""
    if not isinstance(element, GPUArray):  # one of them may be a number
        need_arrays("isin", test_elements)
    result: Bool = sets.isin(element, test_elements, invert, kind)
    return result


def unique_all(x: ArrayT) -> _named.UniqueAllResult[ArrayT]:
    """The distinct items, their first indices, the inverse indices, and their counts."""
    need_arrays("unique_all", x)
    result: _named.UniqueAllResult[ArrayT] = table.unique_parts(x, ("index", "inverse", "counts"))
    return result


def unique_counts(x: ArrayT) -> _named.UniqueCountsResult[ArrayT]:
    """The distinct items, and how often they are there."""
    need_arrays("unique_counts", x)
    result: _named.UniqueCountsResult[ArrayT] = table.unique_parts(x, ("counts",))
    return result


def unique_inverse(x: ArrayT) -> _named.UniqueInverseResult[ArrayT]:
    """The distinct items, and which one each item is."""
    need_arrays("unique_inverse", x)
    result: _named.UniqueInverseResult[ArrayT] = table.unique_parts(x, ("inverse",))
    return result


def unique_values(x: ArrayT) -> ArrayT:
    """The distinct items."""
    need_arrays("unique_values", x)
    result: ArrayT = table.unique_parts(x, ())
    return result
