"""What sorting gives: medians, quantiles, partitions, histograms, counts, digitize."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import GPUArray
from . import functions, layout, manipulate, sort, ufuncs, work
from .index import take

__all__ = [
    "bincount",
    "digitize",
    "histogram",
    "kept",
    "median",
    "partition",
    "quantile",
    "sorted_rows",
]


def sorted_rows(call: str, a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """Sorted items, the axes that are reduced as the first one; and those axes."""
    if a.dtype.kind not in "fiub":
        raise TypeError(f"{call}: dtype {a.dtype} has no order of this kind")
    axes = layout.normalize_axes(axis, a.ndim, call)
    if a.dtype.kind in "iub":
        a = a.astype(np.float64 if a.backend.limits.fp64 else np.float32)
    rest = [k for k in range(a.ndim) if k not in axes]
    shape = tuple(a.shape[k] for k in rest)
    moved = a.transpose([*axes, *rest]) if a.ndim else a
    n = a.size // max(int(np.prod(shape, dtype=object)), 1) if a.size else 0
    rows = moved.reshape((n, *shape))
    return sort.sort(rows, 0), axes


def kept(result: Any, a: Any, axes: tuple[int, ...], keepdims: bool, front: int = 0) -> Any:
    """The result with axes of length 1 for those that were reduced, after *front* others."""
    if not keepdims:
        return result
    lead = result.shape[:front]
    rest = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
    return result.reshape((*lead, *rest))


def _nan_where_nan(result: Any, last: Any) -> Any:
    return functions.choose(
        "quantile", ufuncs.call("isnan", (last,)), result.dtype.type(np.nan), result
    )


def median(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """numpy.median: NaN where there is one."""
    rows, axes = sorted_rows("median", a, axis)
    n = rows.shape[0]
    if n == 0:
        result = work.empty(rows, rows.shape[1:], rows.dtype).fill(np.nan)
    else:
        low, high = rows[(n - 1) // 2], rows[n // 2]
        result = low if n % 2 else (low + high) * rows.dtype.type(0.5)
        result = _nan_where_nan(result, rows[-1])
    return _given(kept(result, a, axes, keepdims), out)


def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, *, method: str = "linear",
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """numpy.quantile of method "linear": NaN where there is one."""
    if method != "linear":
        raise TypeError(f"quantile: method {method!r} is not there, 'linear' is")
    wanted = np.asarray(q.get() if isinstance(q, GPUArray) else q, np.float64)  # type: ignore[attr-defined]
    if wanted.size and not (wanted.min() >= 0 and wanted.max() <= 1):
        raise ValueError("Quantiles must be in the range [0, 1]")
    rows, axes = sorted_rows("quantile", a, axis)
    if not isinstance(q, (int, float)):  # arrays and lists count in the result's dtype
        given = q.dtype if isinstance(q, GPUArray) else np.asarray(q).dtype
        rows = work.astype(rows, np.result_type(rows.dtype, given))
    n, rest = rows.shape[0], rows.shape[1:]
    if n == 0:
        result = work.empty(rows, (*wanted.shape, *rest), rows.dtype).fill(np.nan)
    else:
        place = wanted.ravel() * (n - 1)
        first = np.floor(place).astype(np.int64)
        share = (place - first).astype(rows.dtype).reshape((-1,) + (1,) * len(rest))
        low, high = take(rows, first, 0), take(rows, np.minimum(first + 1, n - 1), 0)
        step = high - low
        near, far = rows._from_host(share), rows._from_host(1 - share)
        result = functions.choose("quantile", near < 0.5, low + step * near, high - step * far)
        result = _nan_where_nan(result, rows[-1]).reshape((*wanted.shape, *rest))
    return _given(kept(result, a, axes, keepdims, wanted.ndim), out)


def _given(result: Any, out: Any) -> Any:
    if out is None:
        return result
    out[...] = result
    return out


def partition(a: Any, kth: Any, axis: int | None = -1, positions: bool = False) -> Any:
    """numpy.partition or argpartition: everything is sorted, which is a partition for any kth."""
    n = a.size if axis is None else a.shape[layout.normalize_axis(axis, a.ndim)]
    for k in np.atleast_1d(kth):
        if not -n <= k < n:
            raise ValueError(f"kth(={k}) out of bounds ({n})")
    return sort.argsort(a, axis) if positions else sort.sort(a, axis)


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """numpy.digitize: the bin of each item; bins go up or down."""
    like = x if isinstance(x, GPUArray) else bins
    x, edges = work.as_array(like, x), work.as_array(like, bins)
    host = edges.get()
    steps = np.diff(host)
    side = "left" if right else "right"
    if (steps >= 0).all():
        return sort.searchsorted(edges, x, side)
    if not (steps <= 0).all():
        raise ValueError("bins must be monotonically increasing or decreasing")
    turned = manipulate.flip(edges)._copy(order="C")
    return host.size - sort.searchsorted(turned, x, side)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any]:
    """numpy.histogram without weights: counts (or densities), and edges; both on the device."""
    if weights is not None:
        raise TypeError("histogram: weights are not supported for an array on a device")
    a = work.flat(a)
    if isinstance(bins, str):
        raise TypeError("histogram: bins must be a number or edges for an array on a device")
    if np.ndim(bins) == 0 and not isinstance(bins, GPUArray):
        if range is None and a.size:
            range = a._reduce("min", None).item(), a._reduce("max", None).item()
        kind = a.dtype if a.dtype.kind == "f" else np.dtype(float)
        edges = np.histogram_bin_edges(np.empty(0, kind), int(bins), range)
    else:
        edges = np.asarray(bins.get() if isinstance(bins, GPUArray) else bins)  # type: ignore[attr-defined]
        if edges.ndim != 1 or (np.diff(edges) < 0).any():
            raise ValueError("`bins` must increase monotonically, when an array")
    kind = np.result_type(a.dtype, edges.dtype)
    there = work.as_array(a, edges)
    exact = work.as_array(a, edges.astype(kind)) if kind != edges.dtype else there
    ordered = sort.sort(a)
    places = sort.searchsorted(ordered, exact)
    places[-1:] = sort.searchsorted(ordered, exact[-1:], "right")
    counts = functions.diff(places)
    if density:
        counted = counts._reduce("sum", None)
        return counts / work.astype(functions.diff(there), np.dtype(float)) / counted, there
    return counts, there


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """numpy.bincount without weights; the host waits for the greatest item."""
    if weights is not None:
        raise TypeError("bincount: weights are not supported for an array on a device")
    if x.ndim != 1 or x.dtype.kind not in "iub":
        raise ValueError("bincount: an array of integers with one axis is needed")
    top = -1
    if x.size:
        if x._reduce("min", None).item() < 0:
            raise ValueError("'list' argument must have no negative elements")
        top = int(x._reduce("max", None).item())
    n = max(top + 1, int(minlength))
    edges = functions.arange_into(work.empty(x, (n + 1,), np.int64), 0, 1)
    if x.size == 0:
        return edges[1:] * 0
    return functions.diff(sort.searchsorted(sort.sort(work.astype(x, np.int64)), edges))
