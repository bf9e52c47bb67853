"""Polynomials as arrays of coefficients, from the highest power down: numpy.polyfit and others."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import advanced_indexing, primitives, ufuncs

from . import host_fallback, linalg, math


def _both(call: str, *operands: Any) -> list[Any]:
    """Return the operands as device arrays with one axis."""
    like = next(x for x in operands if isinstance(x, GPUArray))
    found = [primitives.as_array(like, x, call=call) for x in operands]
    if any(x.ndim > 1 for x in found):
        raise ValueError(f"{call}: the coefficients of a polynomial have one axis")
    return [x.reshape((1,)) if x.ndim == 0 else x for x in found]


def _padded(a: Any, size: int) -> Any:
    """Return the coefficients after leading zeros."""
    wide = primitives.empty(a, (size,), a.dtype).fill(0)
    wide[size - a.size :] = a
    return wide


def _sum(name: str, ufunc: str) -> Callable[..., Any]:
    def call(a1: Any, a2: Any) -> Any:
        a, b = _both(name, a1, a2)
        size = max(a.size, b.size)
        return ufuncs.call(ufunc, (_padded(a, size), _padded(b, size)))

    return call


def _polymul(a1: Any, a2: Any) -> Any:
    a, b = (_without_leading_zeros(x) for x in _both("polymul", a1, a2))
    return math.table()["convolve"](a, b)


def _without_leading_zeros(a: Any) -> Any:
    """Return the coefficients from the first that is not zero, or a zero."""
    if a.size < 2 or bool((a[:1] != 0)._reduce("any", None).item()):
        return a
    indices = advanced_indexing.nonzero(a)[0]
    return a[int(indices[0]) :] if indices.size else a[-1:]


def _powers(a: Any, count: int, first: int = 0) -> Any:
    """Return count + first - 1, ..., first, on the device of an array."""
    return primitives.as_array(a, np.arange(count + first - 1, first - 1, -1))


def _polyder(p: Any, m: int = 1) -> Any:
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    (p,) = _both("polyder", p)
    for _ in range(int(m)):
        p = p[:-1] * _powers(p, max(p.size - 1, 0), 1)
    return p


def _polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    (p,) = _both("polyint", p)
    constants = np.zeros(m) if k is None else np.atleast_1d(np.asarray(k))
    if constants.size == 1 and m > 1:
        constants = np.repeat(constants, m)
    if constants.size < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for step in range(int(m)):
        whole = p / _powers(p, p.size, 1)
        dtype = np.result_type(whole.dtype, constants.dtype)
        p = primitives.empty(p, (whole.size + 1,), dtype)
        p[:-1] = whole
        p[-1:] = constants[step].item()
    return p


def _host(name: str, *operands: Any) -> Any:
    """Compute a function whose steps need each other, of few coefficients, by NumPy."""
    like = next(x for x in operands if isinstance(x, GPUArray))
    return host_fallback.compute(like, getattr(np, name), *operands)


def polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    """Implement numpy.polyfit: the least-squares polynomial of a degree."""
    order = int(deg) + 1
    like = next(a for a in (x, y, w) if isinstance(a, GPUArray))
    x, y = (primitives.as_array(like, a, call="polyfit") + 0.0 for a in (x, y))
    if order < 1:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    if rcond is None:
        rcond = x.size * np.finfo(x.dtype).eps
    left = math.table()["vander"](x, order)
    right = y
    if w is not None:
        w = primitives.as_array(x, w, call="polyfit") + 0.0
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
        left = left * w[:, None]
        right = right * (w[:, None] if right.ndim == 2 else w)
    scale = ufuncs.call("sqrt", ((left * left)._reduce("sum", 0),))
    found, residuals, rank, singular = linalg.lstsq(left / scale, right, rcond)
    found = (found.T / scale).T
    rank = int(rank if isinstance(rank, int) else rank.item())
    if rank != order and not full:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=4)
    if full:
        return found, residuals, rank, singular, rcond
    if not cov:
        return found
    left = left / scale
    spread = linalg.inv(left.T @ left) / (scale[:, None] * scale[None, :])
    if isinstance(cov, str) and cov == "unscaled":
        factor: Any = 1
    else:
        if x.size <= order:
            raise ValueError(
                "the number of data points must exceed order to scale the covariance matrix"
            )
        factor = residuals / (x.size - order)
    if y.ndim == 1:
        return found, spread * factor
    return found, spread[:, :, None] * factor


def table() -> dict[str, Callable[..., Any]]:
    """Return NumPy's functions and their implementations."""
    return {
        "poly": lambda seq_of_zeros: _host("poly", seq_of_zeros),
        "polyadd": _sum("polyadd", "add"),
        "polyder": _polyder,
        "polydiv": lambda u, v: _host("polydiv", u, v),
        "polyfit": polyfit,
        "polyint": _polyint,
        "polymul": _polymul,
        "polysub": _sum("polysub", "subtract"),
        "roots": lambda p: _host("roots", p),
    }
