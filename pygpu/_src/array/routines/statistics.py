"""Functions based on sorting: medians, quantiles, partitions, histograms, counts, digitize."""

from __future__ import annotations

import builtins
import operator
from math import prod
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import (
    layout,
    primitives,
    single_group,
    sort,
    ufunc_methods,
    ufuncs,
)
from pygpu._src.array.advanced_indexing import take
from pygpu._src.codegen import dtypes

from . import histogram_bins, joining, manipulation


def about_mean(
    kind: str, a: Any, axis: Any = None, *, mean: Any, dtype: Any = None, out: Any = None,
    ddof: float = 0, keepdims: bool = False, where: Any = None,
) -> Any:  # fmt: skip
    """Compute numpy.var or numpy.std about a mean that the caller has, which must broadcast with
    the array."""
    if isinstance(mean, (list, tuple, np.ndarray)):
        mean = primitives.as_array(a, mean, call=kind)
    apart = a - mean
    squares = apart.real**2 + apart.imag**2 if apart.dtype.kind == "c" else apart * apart
    result = squares.dtype if dtype is None else np.dtype(dtype)
    if dtype is None and a.dtype.kind in "iub":
        result = np.dtype(np.float64 if a.backend.limits.fp64 else np.float32)
    wide = np.dtype(np.float32) if result == np.float16 else result
    total = squares._reduce("sum", axis, dtype=wide, keepdims=keepdims, where=where)
    if where is None or where is True:
        axes = layout.normalize_axes(axis, a.ndim, kind)
        found = total / max(prod(a.shape[k] for k in axes) - ddof, 0)
    else:
        mask = where if isinstance(where, GPUArray) else primitives.as_array(a, where, call=kind)
        many = manipulation.broadcast_to(mask, a.shape)._reduce(
            "count_nonzero", axis, keepdims=keepdims
        )
        found = total / ufuncs.call("maximum", (many - ddof, 0))
    found = primitives.astype(ufuncs.call("sqrt", (found,)) if kind == "std" else found, result)
    if out is None:
        return found
    out[...] = found
    return out


def sorted_rows(
    call: str, a: Any, axis: Any, keep_integers: bool = False, kinds: str = "fiub"
) -> tuple[Any, tuple[int, ...]]:
    """Return sorted items with the reduced axes first, as one axis; and these axes. Integers become
    floating-point numbers unless *keep_integers*."""
    if a.dtype.kind not in kinds:
        raise TypeError(f"{call}: dtype {a.dtype} has no order of this kind")
    axes = layout.normalize_axes(axis, a.ndim, call)
    if a.dtype.kind in "iub" and not keep_integers:
        a = a.astype(np.float64 if a.backend.limits.fp64 else np.float32)
    rest = [k for k in range(a.ndim) if k not in axes]
    shape = tuple(a.shape[k] for k in rest)
    moved = a.transpose([*axes, *rest]) if a.ndim else a
    rows = moved.reshape((prod(a.shape[k] for k in axes), *shape))
    return sort.sort(rows, 0), axes


def with_kept_axes(
    result: Any, a: Any, axes: tuple[int, ...], keepdims: bool, front: int = 0
) -> Any:
    """Return the result with axes of length 1 for the reduced ones, after *front* others."""
    if not keepdims:
        return result
    lead = result.shape[:front]
    rest = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
    return result.reshape((*lead, *rest))


def _nan_where_nan(result: Any, last: Any) -> Any:
    return joining.choose("quantile", ufuncs.call("isnan", (last,)), _nan(result.dtype), result)


def _nan(dtype: np.dtype[Any]) -> Any:
    """Return the NaN of a dtype, or its NaT."""
    return dtype.type("NaT" if dtypes.is_date(dtype) else np.nan)


def median(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Implement numpy.median: NaN if there is a NaN."""
    if out is not None and a.dtype.kind == "m" == out.dtype.kind:
        a = primitives.astype(a, out.dtype)  # the mean of two items is in its unit
    rows, axes = sorted_rows("median", a, axis, kinds="fiubcm")
    n = rows.shape[0]
    if n == 0:
        primitives.warn_of_few("Mean of empty slice.")
        result = primitives.empty(rows, rows.shape[1:], rows.dtype).fill(_nan(rows.dtype))
    else:
        low, high = rows[(n - 1) // 2], rows[n // 2]
        if n % 2:
            result = low
        elif rows.dtype.kind == "m":
            result = (low + high) / 2
        else:
            result = (low + high) * rows.dtype.type(0.5)
        result = _nan_where_nan(result, rows[-1])
    return store_in(out, with_kept_axes(result, a, axes, keepdims))


# For methods of linear interpolation, the parts of an item before and after that quantiles of n
# items span.
_LINES = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
_ROUNDED: dict[str, Any] = {"lower": np.floor, "higher": np.ceil, "nearest": np.around}
_STEPS = ("inverted_cdf", "closest_observation")
METHODS = ("linear", "midpoint", "averaged_inverted_cdf", *_LINES, *_ROUNDED, *_STEPS)


def quantile_positions(method: str, n: Any, q: Any) -> tuple[Any, Any]:
    """Return the positions of quantiles among n sorted items: the item before, and the weight of
    the one after it, None: zero."""
    if method in _ROUNDED:
        return _ROUNDED[method]((n - 1) * q).astype(np.int64), None
    if method == "linear" and q.dtype.kind in "iub":
        return (n - 1) * q.astype(np.int64), None
    if method in ("linear", "midpoint"):
        position = (n - 1) * q
    elif method in _LINES:
        low, high = _LINES[method]
        position = n * q + (low + q * (1 - low - high)) - 1
    else:
        position = n * q - (1.5 if method == "closest_observation" else 1)
    first = np.floor(position)
    exact = position == first
    if method in _STEPS:
        is_exact = exact & (first % 2 == 1) if method == "closest_observation" else exact
        return np.clip(first + ~is_exact, 0, n - 1).astype(np.int64), None
    share = position - first
    if method == "midpoint":
        share = np.where(exact, 0.0, 0.5)
    elif method == "averaged_inverted_cdf":
        share = np.where(exact, 0.5, 1.0)
    outside = (position < 0) | (position >= n - 1)
    return np.clip(first, 0, n - 1).astype(np.int64), np.where(outside, 0.0, share)


def check_shares(shares: Any, scale: int = 1) -> None:
    """Raise ValueError for quantiles outside [0, 1], percentiles (scale 100) outside [0, 100]."""
    if shares.size and not (shares.min() >= 0 and shares.max() <= scale):
        name = "Quantiles" if scale == 1 else "Percentiles"
        raise ValueError(f"{name} must be in the range [0, {scale}]")


def gives_items(method: str) -> bool:
    """Whether quantiles are items, without arithmetic."""
    return method in _ROUNDED or method in _STEPS


def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, *, method: str = "linear",
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """Implement numpy.quantile for any method: NaN if there is a NaN."""
    if method not in METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {sorted(METHODS)}")
    number = type(q) in (int, float)
    wanted: Any = np.asarray(q.get() if isinstance(q, GPUArray) else q)  # type: ignore[attr-defined]
    given = wanted.dtype
    ends = method == "linear" and given.kind in "iub"  # 0 and 1: items, without interpolation
    if number and a.dtype.kind == "f" and not ends:
        wanted = wanted.astype(np.float64 if method == "linear" else a.dtype)
    elif method == "linear" and given.kind == "f":
        wanted = wanted.astype(np.float64)
    check_shares(wanted)
    keep_integers = gives_items(method) or (method == "linear" and wanted.dtype.kind in "iub")
    rows, axes = sorted_rows("quantile", a, axis, keep_integers, "fiubmM")
    if (
        not number and not keep_integers and not dtypes.is_date(rows.dtype)
    ):  # the dtypes of arrays and lists count for the result's
        own = a.dtype if a.dtype.kind in "iu" and given.kind == "f" else rows.dtype
        rows = primitives.astype(rows, np.result_type(own, given))
    n, rest = rows.shape[0], rows.shape[1:]
    if n == 0:
        raise IndexError("quantile: there are no items")
    result = _between(rows, *quantile_positions(method, n, wanted.ravel()))
    if rows.dtype.kind in "fmM":
        result = _nan_where_nan(result, rows[-1])
    result = result.reshape((*wanted.shape, *rest))
    return store_in(out, with_kept_axes(result, a, axes, keepdims, wanted.ndim))


def _between(rows: Any, first: Any, share: Any) -> Any:
    """Return items of sorted rows, interpolated with their successors by a share (None: not),
    stacked."""
    n, rest = rows.shape[0], rows.shape[1:]
    after = np.minimum(first + 1, n - 1)
    kind = np.float64 if dtypes.is_date(rows.dtype) else rows.dtype
    if first.size == 1:  # the most common call: nothing needs to be copied to the device
        low, high = rows[int(first[0])], rows[int(after[0])]
        if share is None:
            return low._copy()
        part = share.astype(kind)[0]
        step = high - low
        return low + step * part if part < 0.5 else high - step * (1 - part)
    low = take(rows, first, 0)
    if share is None:
        return low
    high = take(rows, after, 0)
    share = share.astype(kind).reshape((-1,) + (1,) * len(rest))
    step = high - low
    near, far = rows._from_host(share), rows._from_host(1 - share)
    return joining.choose("quantile", near < 0.5, low + step * near, high - step * far)


def store_in(out: Any, result: Any) -> Any:
    """Return the result, or *out* after setting it to the result."""
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(f"output array has wrong shape {out.shape}: {result.shape} is needed")
    out[...] = result
    return out


def partition(
    a: Any, kth: Any, axis: int | None = -1, kind: Any = "introselect", order: Any = None, *,
    positions: bool = False,
) -> Any:  # fmt: skip
    """Implement numpy.partition or argpartition by sorting everything, which is a partition for
    any kth."""
    if not isinstance(kind, str):
        raise TypeError(f"select kind must be str, not {type(kind).__name__}")
    if kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got {kind!r})")
    n = a.size if axis is None else a.shape[layout.normalize_axis(axis, a.ndim)]
    for k in np.atleast_1d(kth):
        if a.size and not -n <= k < n:  # NumPy does not look at it if there are no items
            raise ValueError(f"kth(={k}) out of bounds ({n})")
    return sort.argsort(a, axis, order) if positions else sort.sort(a, axis, order)


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Implement numpy.digitize: the bin of each item; bins increase or decrease."""
    like = x if isinstance(x, GPUArray) else bins
    x, edges = primitives.as_array(like, x), primitives.as_array(like, bins)
    if x.dtype.kind == "c":
        raise TypeError("digitize: x may not be complex")
    host = edges.get()
    side = "left" if right else "right"
    # Compared, because differences of unsigned items are never negative. NaN, which is greater than
    # all numbers here, may be at either end: the first two that differ tell which.
    differ = np.flatnonzero(host[1:] != host[:-1])[:1]
    increasing = not differ.size or host[differ[0] + 1] > host[differ[0]]
    if (host[1:] < host[:-1] if increasing else host[1:] > host[:-1]).any():
        raise ValueError("bins must be monotonically increasing or decreasing")
    if increasing:
        return sort.searchsorted(edges, x, side)
    turned = manipulation.flip(edges)._copy(order="C")
    return host.size - sort.searchsorted(turned, x, side)


def bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> np.ndarray:
    """Implement numpy.histogram_bin_edges, on the host."""
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError("histogram: bins cannot be estimated for weighted items; give a number")
        bins, range = histogram_bins.estimate(a, bins, range)
    if np.ndim(bins) == 0 and not isinstance(bins, GPUArray):
        try:
            count = operator.index(bins)
        except TypeError:
            raise TypeError(
                f"histogram: bins must be an integer, a string or edges, not {bins!r}"
            ) from None
        if range is None and a.size:
            range = a._reduce("min", None).item(), a._reduce("max", None).item()
            if a.dtype.kind == "f":  # the dtype in which NumPy computes the edges
                range = tuple(map(a.dtype.type, range))
        kind = a.dtype if a.dtype.kind == "f" else np.dtype(float)
        return np.histogram_bin_edges(np.empty(0, kind), count, range)
    edges: np.ndarray = np.asarray(bins.get() if isinstance(bins, GPUArray) else bins)  # type: ignore[attr-defined]
    if edges.ndim != 1 or (edges[1:] < edges[:-1]).any():
        raise ValueError("`bins` must increase monotonically, when an array")
    return edges


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any]:
    """Implement numpy.histogram: counts (or sums of weights, or densities), and edges; both on the
    device."""
    if weights is not None:
        weights = primitives.as_array(a, weights)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = primitives.flat(weights)
    a = primitives.flat(a)
    edges = bin_edges(a, bins, range, weights)
    kind = np.result_type(a.dtype, edges.dtype)
    there = primitives.as_array(a, edges)
    exact = primitives.as_array(a, edges.astype(kind)) if kind != edges.dtype else there
    small = (
        0 < a.size <= single_group.FEW and 2 <= edges.size <= single_group.FEW and kind.kind != "c"
    )
    if weights is None and small:
        counts = single_group.histogram(primitives.astype(primitives.c_order(a), kind), exact)
    elif weights is None:
        ordered = sort.sort(a)
        positions = sort.searchsorted(ordered, exact)
        positions[-1:] = sort.searchsorted(ordered, exact[-1:], "right")
        counts = joining.diff(positions)
    else:
        counts = _weighted_counts(a, exact, weights)
    if density:
        counted = counts._reduce("sum", None)
        return counts / primitives.astype(joining.diff(there), np.dtype(float)) / counted, there
    return counts, there


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, tuple[Any, ...]]:
    """Implement numpy.histogramdd: counts of points, or sums of their weights, and the edges of
    each axis."""
    if isinstance(sample, GPUArray):
        points: Any = sample
        points = manipulation.atleast(2, [points]).T if points.ndim < 2 else points
        columns = [points[:, k] for k in builtins.range(points.shape[1])]
    else:
        like = next(x for x in sample if isinstance(x, GPUArray))
        columns = [primitives.flat(primitives.as_array(like, x)) for x in sample]
    many = len(columns)
    given = list(bins) if hasattr(bins, "__len__") else [bins] * many
    if len(given) != many:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    limits = [None] * many if range is None else list(range)
    if len(limits) != many:
        raise ValueError("range argument must have one entry per dimension")
    first = columns[0]
    bin_index: Any = None
    edges, inner = [], []
    for column, count, limit in zip(columns, given, limits, strict=True):
        host = bin_edges(column, count, limit)
        there = primitives.as_array(first, host)
        slot = sort.searchsorted(there, column, "right")
        last = ufuncs.call("equal", (column, there[-1:]))
        slot = joining.choose("histogramdd", last, host.size - 1, slot)
        bin_index = slot if bin_index is None else bin_index * (host.size + 1) + slot
        edges.append(there)
        inner.append(host.size + 1)
    counts = bincount(bin_index, weights, int(np.prod(inner)))
    counts = primitives.astype(counts.reshape(tuple(inner)), np.dtype(float))
    counts = counts[(slice(1, -1),) * many]._copy(order="C")
    if density:
        total = counts._reduce("sum", None)
        for axis, there in enumerate(edges):
            widths = joining.diff(there)
            counts = counts / widths.reshape(
                tuple(widths.size if k == axis else 1 for k in builtins.range(many))
            )
        counts = counts / total
    return counts, tuple(edges)


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any, Any]:
    """Implement numpy.histogram2d."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, (across, along) = histogramdd([x, y], bins, range, density, weights)
    return counts, across, along


def _weighted_counts(a: Any, edges: Any, weights: Any) -> Any:
    """Return sums of weights by bin, without the slots before and after all bins."""
    many = edges.size
    slot = sort.searchsorted(edges, a, "right")
    last = ufuncs.call("equal", (a, edges[-1:]))
    slot = joining.choose("histogram", last, many - 1, slot)
    sums = primitives.empty(a, (many + 1,), weights.dtype).fill(0)
    ufunc_methods.at("add", sums, slot, weights)
    return sums[1:many]._copy(order="C")


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Implement numpy.bincount; the host waits for the greatest item."""
    if x.dtype.kind not in "iub":
        raise TypeError(f"bincount: {x.dtype} is not cast to integers: use .astype(np.int64)")
    if x.ndim != 1:
        raise ValueError("bincount: an array of integers with one axis is needed")
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if weights is not None:
        weights = primitives.as_array(x, weights)
        if not np.can_cast(weights.dtype, np.float64, "safe"):
            raise TypeError(
                f"Cannot cast array data from {weights.dtype!r} to dtype('float64') according to "
                "the rule 'safe'"
            )
        if weights.shape != x.shape:
            raise ValueError("The weights and list don't have the same length.")
        dtypes.require(x.backend, "bincount", np.dtype(np.float64))
        weights = primitives.astype(weights, np.dtype(np.float64))
    top = -1
    if (
        0 < x.size <= single_group.FEW and x.dtype.char not in "LQ"
    ):  # whose greatest values do not fit int64
        counts = single_group.bincount(x, weights, minlength)
        if counts is not None:
            return counts
    if x.dtype.kind == "b":  # it would be a mask
        x = primitives.astype(x, np.dtype(np.uint8))
    if x.size:
        if x._reduce("min", None).item() < 0:
            raise ValueError("'list' argument must have no negative elements")
        top = int(x._reduce("max", None).item())
        if top >= np.iinfo(np.int64).max:
            raise ValueError(f"bincount: {top} is too large for a number of bins")
    n = max(top + 1, minlength)
    if weights is not None:
        sums = primitives.empty(x, (n,), np.float64).fill(0)
        if x.size:
            ufunc_methods.at("add", sums, x, weights)
        return sums
    edges = joining.arange_into(primitives.empty(x, (n + 1,), np.int64), 0, 1)
    if x.size == 0:
        return edges[1:] * 0
    return joining.diff(sort.searchsorted(sort.sort(primitives.astype(x, np.int64)), edges))
