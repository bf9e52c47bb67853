"""Estimates of a suitable number of bins for a histogram, from reductions on the device.

The rules are those of NumPy's ``bins="auto"`` and its other names: Sturges (1926), Doane (1976),
Scott (1979), Freedman and Diaconis (1981), Stone (1984).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._src.array import primitives, sort
from pygpu._src.util.user_frame import user_stacklevel

_MOST_EDGES = 1 << 18  # that are searched for at once


def _item(a: Any, kind: str) -> Any:
    """Reduce the array to a NumPy scalar."""
    return a._reduce(kind, None).get()[()]


def _distance(high: Any, low: Any) -> Any:
    """Return high - low; that of signed integers as an unsigned one, which cannot overflow."""
    kind = np.result_type(high, low)
    if kind.kind != "i":
        return np.subtract(high, low, dtype=kind)
    unsigned = np.dtype(f"u{kind.itemsize}")
    high, low = np.asarray(high, kind), np.asarray(low, kind)
    return np.subtract(high, low, casting="unsafe", dtype=unsigned)


def _extent(a: Any) -> Any:
    return _distance(_item(a, "max"), _item(a, "min"))


def _sqrt(a: Any, ends: Any) -> Any:
    return _extent(a) / np.sqrt(a.size)


def _sturges(a: Any, ends: Any) -> Any:
    return _extent(a) / (np.log2(a.size) + 1.0)


def _rice(a: Any, ends: Any) -> Any:
    return _extent(a) / (2.0 * a.size ** (1.0 / 3))


def _scott(a: Any, ends: Any) -> Any:
    return (24.0 * np.pi**0.5 / a.size) ** (1.0 / 3.0) * _item(a, "std")


def _freedman_diaconis(a: Any, ends: Any) -> Any:
    numpys: Any = np.percentile
    upper, lower = numpys(a, [75, 25]).get()
    return 2.0 * (upper - lower) * a.size ** (-1.0 / 3.0)


def _auto(a: Any, ends: Any) -> Any:
    width = max(_freedman_diaconis(a, ends), _sqrt(a, ends) / 2)
    return min(width, _sturges(a, ends))


def _doane(a: Any, ends: Any) -> Any:
    n, spread = a.size, _item(a, "std")
    if n <= 2 or not spread > 0:
        return 0.0
    skewness = _item(((a - _item(a, "mean")) / spread) ** 3, "mean")
    error = np.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    return _extent(a) / (1.0 + np.log2(n) + np.log2(1.0 + np.absolute(skewness) / error))


def _stone(a: Any, ends: Any) -> Any:
    """Minimize the estimate of the integrated squared error; a is sorted once for all numbers of
    bins."""
    n, extent = a.size, _extent(a)
    if n <= 1 or extent == 0:
        return 0
    most = max(100, int(np.sqrt(n)))
    ordered = sort.sort(a)
    losses: list[Any] = []
    while len(losses) < most:
        first = len(losses) + 1
        many = min(max(_MOST_EDGES // (first + 1), 1), most - len(losses))
        losses += _losses(ordered, range(first, first + many), ends, extent)
    best = int(np.argmin(losses)) + 1
    if best == most:
        warnings.warn(
            f"histogram: bins='stone' tries at most {most} bins for {n} items, and more may fit "
            "better; give a number of bins",
            RuntimeWarning,
            stacklevel=user_stacklevel(),
        )
    return extent / best


def _losses(ordered: Any, numbers: range, ends: Any, extent: Any) -> list[Any]:
    """Return Stone's estimate for each number of bins."""
    n = ordered.size
    none = np.empty(0, ordered.dtype if ordered.dtype.kind == "f" else float)
    edges = [np.histogram_bin_edges(none, bins, ends) for bins in numbers]
    kind = np.result_type(ordered.dtype, edges[0].dtype)
    lasts = np.cumsum([x.size for x in edges]) - 1
    there = primitives.as_array(ordered, np.concatenate(edges).astype(kind))
    positions = sort.searchsorted(ordered, there).get()
    upper = primitives.as_array(ordered, np.asarray([x[-1] for x in edges]).astype(kind))
    positions[lasts] = sort.searchsorted(ordered, upper, "right").get()
    losses = []
    for bins, found in zip(numbers, np.split(positions, lasts[:-1] + 1), strict=True):
        shares = np.diff(found) / n
        losses.append((2 - (n + 1) * shares.dot(shares)) / (extent / bins))
    return losses


_RULES: dict[str, Callable[[Any, Any], Any]] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "rice": _rice,
    "scott": _scott,
    "sqrt": _sqrt,
    "stone": _stone,
    "sturges": _sturges,
}


def estimate(a: Any, rule: str, ends: Any) -> tuple[int, Any]:
    """Return a number of bins for the items, and the ends of the first and the last bin. ends:
    those, if they are given; otherwise None."""
    if rule not in _RULES:
        raise ValueError(f"{rule!r} is not a valid estimator for `bins`; use one of {list(_RULES)}")
    if a.dtype.kind not in "biuf":
        raise TypeError(f"histogram: real numbers are needed, not {a.dtype}")
    if a.dtype.kind == "b":
        a = primitives.astype(a, np.dtype(np.uint8))
    if ends is not None:
        low, high = ends
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        if a.size:
            a = a[(a >= low) & (a <= high)]
    elif a.size == 0:
        low, high = 0, 1
    else:
        low, high = _item(a, "min"), _item(a, "max")
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"histogram: the range of items, from {low} to {high}, is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    width = _RULES[rule](a, (low, high)) if a.size else 0
    if not width:
        return 1, (low, high)
    if a.dtype.kind in "iu" and width < 1:
        width = 1
    return int(np.ceil(_distance(high, low) / width)), (low, high)
