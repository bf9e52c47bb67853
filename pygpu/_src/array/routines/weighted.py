"""Weights of items: for averages, quantiles and covariances."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import advanced_indexing, layout, primitives, sort, ufuncs
from pygpu._src.array.scan import scan
from pygpu._src.util.user_frame import user_stacklevel

from . import joining, manipulation, statistics


def spread(weights: Any, a: Any, axis: Any) -> Any:
    """Broadcast weights, whose axes correspond to the named axes in order, to all axes of the
    array."""
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = layout.normalize_axes(axis, a.ndim)
    if weights.shape != tuple(a.shape[k] for k in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis")
    turned = weights.transpose(tuple(sorted(range(len(axes)), key=axes.__getitem__)))
    shape = tuple(n if k in axes else 1 for k, n in enumerate(a.shape))
    return manipulation.broadcast_to(turned.reshape(shape), a.shape)


def _any(condition: Any) -> bool:
    return bool(condition._reduce("any", None).item())


def _rows(a: Any, axes: tuple[int, ...]) -> Any:
    """Return the array with these axes first, as one."""
    rest = [k for k in range(a.ndim) if k not in axes]
    moved = a.transpose([*axes, *rest]) if a.ndim else a
    return moved.reshape((-1, *(a.shape[k] for k in rest)))


def quantile(a: Any, q: Any, axis: Any, out: Any, weights: Any, method: str, keepdims: bool) -> Any:
    """Implement numpy.quantile with weights: the first item up to which the sum of weights, in
    order of the items, is a share q of all."""
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    if a.dtype.kind not in "fiu":
        raise TypeError(f"quantile: items of {a.dtype} have no weighted quantiles")
    wanted = np.asarray(q.get() if isinstance(q, GPUArray) else q)  # type: ignore[attr-defined]
    if wanted.size and not (wanted.min() >= 0 and wanted.max() <= 1):
        raise ValueError("Quantiles must be in the range [0, 1]")
    weights = spread(primitives.as_array(a, weights, call="quantile"), a, axis)
    if _any(weights < 0):
        raise ValueError("Weights must be non-negative.")
    axes = layout.normalize_axes(axis, a.ndim, "quantile")
    rows, shares = _rows(a, axes), _rows(weights, axes)
    n, rest = rows.shape[0], rows.shape[1:]
    if n == 0:
        raise IndexError("quantile: the array has no items")
    order = sort.argsort(rows, 0)
    rows, shares = (advanced_indexing.take_along_axis(x, order, 0) for x in (rows, shares))
    cdf = scan("cumsum", shares, 0, dtype=np.dtype(np.float64))
    cdf = cdf / cdf[-1:]
    cdf = joining.choose("quantile", cdf == 0, -1.0, cdf)  # items without weight are not found
    indices = primitives.empty(rows, (wanted.size, *rest), np.int64)
    for k, share in enumerate(wanted.ravel().tolist()):
        indices[k] = (cdf < share)._reduce("count_nonzero", 0)
    indices = ufuncs.call("minimum", (indices, n - 1))
    found = advanced_indexing.take_along_axis(rows, indices, 0)
    if rows.dtype.kind == "f":
        found = joining.choose(
            "quantile", ufuncs.call("isnan", (rows[-1],)), rows.dtype.type(np.nan), found
        )
    found = found.reshape((*wanted.shape, *rest))
    return statistics.store_in(
        out, statistics.with_kept_axes(found, a, axes, keepdims, wanted.ndim)
    )


def _observed(name: str, given: Any, x: Any) -> Any:
    """Return one kind of weights of numpy.cov as an array on the device, None if not given."""
    if given is None:
        return None
    found = primitives.astype(primitives.as_array(x, given, call="cov"), np.dtype(np.float64))
    if name == "fweights" and _any(found != ufuncs.call("rint", (found,))):
        raise TypeError("fweights must be integer")
    if found.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if found.size != x.shape[1]:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if found.size and _any(found < 0):
        raise ValueError(f"{name} cannot be negative")
    return found


def observations(x: Any, fweights: Any, aweights: Any, ddof: int) -> tuple[Any, Any, float]:
    """Return for numpy.cov, with a variable in each row of *x*: its rows less their means, the
    weights of observations (None: 1), and by what the sums of products are divided."""
    counts, aweights = _observed("fweights", fweights, x), _observed("aweights", aweights, x)
    w = counts if aweights is None else aweights if counts is None else counts * aweights
    factor: float
    if w is None:
        mean, factor = x._reduce("mean", 1, keepdims=True), x.shape[1] - ddof
    else:
        total = w._reduce("sum", None)
        factor = total.item()
        if factor == 0:
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        mean = (x * w)._reduce("sum", 1, keepdims=True) / total
        if ddof and aweights is not None:
            factor -= ddof * (w * aweights)._reduce("sum", None).item() / factor
        elif ddof:
            factor -= ddof
    if factor <= 0:
        warnings.warn(
            "Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=user_stacklevel()
        )
        factor = 0.0
    return x - mean, w, factor
