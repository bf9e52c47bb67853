"""Set functions: which items are among others, and the distinct items of sorted arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import layout, primitives, sort, ufuncs
from pygpu._src.array.advanced_indexing import nonzero, put_along_axis, take, take_along_axis
from pygpu._src.array.scan import scan
from pygpu._src.codegen import dtypes

from . import joining, manipulation

_MAX_COMPARED = 16


def isin(element: Any, test: Any, invert: bool = False, kind: Any = None) -> Any:
    """Whether each item of *element* is among those of *test*; either may be a number. NaN never
    is. kind: NumPy's, which is only checked."""
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: {kind!r}. Please use None, 'sort' or 'table'.")
    like = element if isinstance(element, GPUArray) else test
    arrays = []
    for x in (element, test):
        if not isinstance(x, GPUArray):
            wide = np.result_type(like.dtype, x) if np.ndim(x) == 0 else None
            x = primitives.as_array(like, np.asarray(x, wide), call="isin")
        arrays.append(x)
    a, b = arrays
    ufuncs.same_device("isin", [a, b])
    if kind == "table" and (a.dtype.kind not in "biu" or b.dtype.kind not in "biu"):
        raise ValueError(
            "isin: kind='table' is for bools and integers, not "
            f"{a.dtype} and {b.dtype}; pass 'sort' or None"
        )
    dtype = np.result_type(a.dtype, b.dtype)
    b = primitives.flat(b)
    if b.size == 0 or a.size == 0:
        return primitives.empty(a, a.shape, np.bool_).fill(invert)
    name = "not_equal" if invert else "equal"
    if b.size <= _MAX_COMPARED or dtype.kind == "c":
        found = ufuncs.call(name, (manipulation.expand_dims(a, a.ndim), b))
        return found._reduce("all" if invert else "any", a.ndim)
    if dtype.type is not np.void:
        dtypes.require(a.backend, "isin", dtype, dates=True)
    ordered = sort.sort(primitives.astype(b, dtype))
    a = primitives.astype(a, dtype)
    at = sort.searchsorted(ordered, a)
    return ufuncs.call(name, (a, take(ordered, at, mode="clip")))


def union1d(a: Any, b: Any) -> Any:
    """Return the sorted distinct items of both."""
    return sort.unique(manipulation.concat([a, b], None))


def intersect1d(a: Any, b: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the sorted distinct items common to both; return_indices: also their first
    positions."""
    like = a if isinstance(a, GPUArray) else b
    a, b = primitives.as_array(like, a), primitives.as_array(like, b)
    if assume_unique:
        a, b = primitives.flat(a), primitives.flat(b)
    elif return_indices:
        a, at_a = sort.unique(a, return_index=True)
        b, at_b = sort.unique(b, return_index=True)
    else:
        a, b = sort.unique(a), sort.unique(b)
    both = manipulation.concat([a, b])
    if not return_indices:
        ordered = sort.sort(both)
        if ordered.size < 2:
            return ordered[:0]
        same = ufuncs.call("equal", (ordered[1:], ordered[:-1]))
        return take(ordered, nonzero(same)[0], mode="clip")
    # Stable, so that common items come from the first array, then from b.
    order = sort.argsort(both)
    ordered = take(both, order)
    (kept,) = nonzero(ufuncs.call("equal", (ordered[1:], ordered[:-1])))
    of_a, of_b = take(order, kept, mode="clip"), take(order, kept + 1, mode="clip") - a.size
    found = take(ordered, kept, mode="clip")
    if assume_unique:
        return found, of_a, of_b
    return found, take(at_a, of_a, mode="clip"), take(at_b, of_b, mode="clip")


def setxor1d(a: Any, b: Any, assume_unique: bool = False) -> Any:
    """Return the sorted items that are in one of both; assume_unique: those that differ from their
    neighbours in the sorted items of both, as NumPy."""
    like = a if isinstance(a, GPUArray) else b
    a, b = primitives.as_array(like, a), primitives.as_array(like, b)
    if assume_unique:
        a, b = primitives.flat(a), primitives.flat(b)
    else:
        a, b = sort.unique(a), sort.unique(b)
    ordered = sort.sort(manipulation.concat([a, b]))
    if ordered.size == 0:
        return ordered
    differ = primitives.empty(ordered, (ordered.size + 1,), np.bool_).fill(True)
    differ[1:-1] = ufuncs.call("not_equal", (ordered[1:], ordered[:-1]))
    alone = ufuncs.call("logical_and", (differ[1:], differ[:-1]))
    return take(ordered, nonzero(alone)[0], mode="clip")


def setdiff1d(a: Any, b: Any, assume_unique: bool = False) -> Any:
    """Return the sorted distinct items of the first that are not in the second; assume_unique:
    keep the order."""
    if not isinstance(a, GPUArray):
        a = primitives.as_array(b, a)
    a = primitives.flat(a) if assume_unique else sort.unique(a)
    (kept,) = nonzero(isin(a, b, True))
    return take(a, kept, mode="clip")


def unique_rows(a: Any, axis: int, index: bool, inverse: bool, counts: bool) -> Any:
    """Implement numpy.unique along an axis: the distinct rows, in order. It sorts as often as a
    row has items."""
    if not dtypes.computes(a.dtype):
        raise TypeError(f"unique: a device does not sort dtype {a.dtype}")
    axis = layout.normalize_axis(axis, a.ndim)
    turned = manipulation.moveaxis(a, axis, 0)
    n = turned.shape[0]
    rows = turned.reshape((n, a.size // n if a.size else 0))
    if rows.dtype.kind in "fc":
        rows = rows + rows.dtype.type(0)  # -0.0 becomes 0.0, since the sort distinguishes them
    order = joining.arange_into(primitives.empty(a, (n,), np.int64), 0, 1)
    for k in reversed(range(rows.shape[1])):
        order = take_along_axis(order, sort.argsort(take(rows[:, k], order)), 0)
    ordered = take(rows, order, 0)
    first = primitives.empty(a, (n,), np.bool_).fill(True)
    if n > 1:
        differ = ufuncs.call("not_equal", (ordered[1:], ordered[:-1]))
        first[1:] = differ._reduce("any", 1)
    (starts,) = nonzero(first)
    where = take(order, starts)
    results = [take(a, where, axis)]
    if index:
        results.append(where)
    if inverse:
        number = primitives.empty(a, (n,), np.int64)
        if n:
            put_along_axis(number, order, scan("cumsum", first, 0, dtype=np.int64) - 1, 0)
        results.append(number)
    if counts:
        end = primitives.as_array(a, np.full(1 if n else 0, n))
        results.append(joining.diff(manipulation.concat([starts, end])))
    return results[0] if len(results) == 1 else tuple(results)
