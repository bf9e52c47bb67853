"""The standard's reductions, running sums, sorting, searching and sets."""

from __future__ import annotations

from typing import Any

from pygpu._src.array import advanced_indexing, layout
from pygpu._src.array import results as _named
from pygpu._src.array import sort as _sort
from pygpu._src.array.reduction import reduce as _reduce
from pygpu._src.array.routines import (
    joining,
    manipulation,
    sets,
    table,
)

from .._array import GPUArray
from ._arguments import need_arrays

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

_Axis = int | tuple[int, ...] | None


def all(x: Any, /, *, axis: _Axis = None, keepdims: bool = False) -> Any:  # noqa: A001
    """Whether all items are true, over axes."""
    need_arrays("all", x)
    return _reduce("all", x, axis, keepdims=keepdims)


def any(x: Any, /, *, axis: _Axis = None, keepdims: bool = False) -> Any:  # noqa: A001
    """Whether any item is true, over axes."""
    need_arrays("any", x)
    return _reduce("any", x, axis, keepdims=keepdims)


def max(x: Any, /, *, axis: _Axis = None, keepdims: bool = False) -> Any:  # noqa: A001
    """The greatest item over axes; NaN if there is one."""
    need_arrays("max", x)
    return _reduce("max", x, axis, keepdims=keepdims)


def min(x: Any, /, *, axis: _Axis = None, keepdims: bool = False) -> Any:  # noqa: A001
    """The least item over axes; NaN if there is one."""
    need_arrays("min", x)
    return _reduce("min", x, axis, keepdims=keepdims)


def sum(  # noqa: A001
    x: Any, /, *, axis: _Axis = None, dtype: Any = None, keepdims: bool = False
) -> Any:
    """Sums over axes; of small integers in int64 or uint64."""
    need_arrays("sum", x)
    return _reduce("sum", x, axis, dtype=dtype, keepdims=keepdims)


def prod(x: Any, /, *, axis: _Axis = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Products over axes; of small integers in int64 or uint64."""
    need_arrays("prod", x)
    return _reduce("prod", x, axis, dtype=dtype, keepdims=keepdims)


def mean(x: Any, /, *, axis: _Axis = None, keepdims: bool = False) -> Any:
    """Arithmetic means over axes."""
    need_arrays("mean", x)
    return _reduce("mean", x, axis, keepdims=keepdims)


def var(x: Any, /, *, axis: _Axis = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Variances over axes; the sums are divided by the number of items less the correction."""
    need_arrays("var", x)
    return _reduce("var", x, axis, ddof=correction, keepdims=keepdims)


def std(x: Any, /, *, axis: _Axis = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Standard deviations over axes."""
    need_arrays("std", x)
    return _reduce("std", x, axis, ddof=correction, keepdims=keepdims)


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first greatest item along an axis, of the flat array for None."""
    need_arrays("argmax", x)
    return _reduce("argmax", x, axis, keepdims=keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first least item along an axis, of the flat array for None."""
    need_arrays("argmin", x)
    return _reduce("argmin", x, axis, keepdims=keepdims)


def count_nonzero(x: Any, /, *, axis: _Axis = None, keepdims: bool = False) -> Any:
    """How many items are not zero, over axes."""
    need_arrays("count_nonzero", x)
    return _reduce("count_nonzero", x, axis, keepdims=keepdims)


def cumulative_sum(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
) -> Any:
    """Running sums along an axis; include_initial: after a zero."""
    need_arrays("cumulative_sum", x)
    return table.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


def cumulative_prod(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
) -> Any:
    """Running products along an axis; include_initial: after a one."""
    need_arrays("cumulative_prod", x)
    return table.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along an axis, n times."""
    need_arrays("diff", x)
    return table.diff(x, n, axis, prepend, append)


# ---- sorting and searching


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """A sorted copy along an axis."""
    need_arrays("sort", x)
    found = _sort.sort(x, axis)
    return manipulation.flip(found, axis) if descending and x.ndim else found


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The indices that sort along an axis; equal items keep their order."""
    need_arrays("argsort", x)
    if not descending or x.ndim == 0:
        return _sort.argsort(x, axis)
    axis = layout.normalize_axis(axis, x.ndim)
    backwards = _sort.argsort(manipulation.flip(x, axis), axis)
    return (x.shape[axis] - 1) - manipulation.flip(backwards, axis)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any | None = None) -> Any:
    """Where items of x2 belong in the sorted array x1."""
    need_arrays("searchsorted", x1)
    return _sort.searchsorted(x1, x2, side, sorter)


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """Indices of the items that are not zero, an array for each axis."""
    need_arrays("nonzero", x)
    return advanced_indexing.nonzero(x)


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """Items of x1 where the condition is true, else of x2."""
    need_arrays("where", condition)
    return joining.choose("where", condition, x1, x2)


# ---- sets


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Which items of x1 are among those of x2."""
    if not isinstance(x1, GPUArray):  # one of them may be a number
        need_arrays("isin", x2)
    return sets.isin(x1, x2, invert)


def unique_all(x: Any, /) -> _named.UniqueAllResult:
    """The distinct items, their first indices, the inverse indices, and their counts."""
    need_arrays("unique_all", x)
    return table.unique_parts(x, ("index", "inverse", "counts"))


def unique_counts(x: Any, /) -> _named.UniqueCountsResult:
    """The distinct items, and how often they are there."""
    need_arrays("unique_counts", x)
    return table.unique_parts(x, ("counts",))


def unique_inverse(x: Any, /) -> _named.UniqueInverseResult:
    """The distinct items, and which one each item is."""
    need_arrays("unique_inverse", x)
    return table.unique_parts(x, ("inverse",))


def unique_values(x: Any, /) -> Any:
    """The distinct items."""
    need_arrays("unique_values", x)
    return table.unique_parts(x, ())
