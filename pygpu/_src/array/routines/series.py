"""Series of polynomials: the functions of numpy.polynomial for device arrays.

Each family is defined by its recurrence P[k+1] = (a x + b) P[k] - c P[k-1], with P[0] = 1. Values
of a series come from Clenshaw's recurrence, one launch for each coefficient; matrices of all the
polynomials of points from the recurrence itself.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import elementwise, layout, primitives, ufuncs
from pygpu._src.util.user_frame import user_stacklevel

from . import host_fallback, joining, linalg, manipulation, math


class Family(NamedTuple):
    """Polynomials by their recurrence; of(k) returns a, b and c, which make P[k+1]."""

    name: str
    of: Callable[[int], tuple[float, float, float]]


POWERS = Family("poly", lambda k: (1.0, 0.0, 0.0))
CHEBYSHEV = Family("cheb", lambda k: (2.0 if k else 1.0, 0.0, 1.0))
LEGENDRE = Family("leg", lambda k: ((2 * k + 1) / (k + 1), 0.0, k / (k + 1)))
HERMITE = Family("herm", lambda k: (2.0, 0.0, 2.0 * k))
HERMITE_E = Family("herme", lambda k: (1.0, 0.0, float(k)))
LAGUERRE = Family("lag", lambda k: (-1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1)))


def _like(call: str, *operands: Any) -> Any:
    for x in operands:
        if isinstance(x, GPUArray):
            return x
    kinds = ", ".join(type(x).__name__ for x in operands)
    raise TypeError(f"{call}: an array on a device is needed, not {kinds}; see pygpu.xp.asarray()")


def _inexact(call: str, like: Any, x: Any) -> Any:
    """Return x as a device array of floats or complex numbers."""
    array = primitives.as_array(like, x, call=call)
    if array.dtype.kind in "biu":
        kind = np.float64 if like.backend.limits.fp64 else np.float32
        array = primitives.astype(array, np.dtype(kind))
    if array.dtype.kind not in "fc":
        raise TypeError(f"{call}: numbers are needed, not {array.dtype}")
    return array


def _degree(call: str, value: Any, what: str = "deg") -> int:
    try:
        degree = operator.index(value)
    except TypeError:
        raise TypeError(f"{call}: {what} must be an integer, not {value!r}") from None
    if degree < 0:
        raise ValueError(f"{call}: {what} must be non-negative, not {degree}")
    return degree


# ---- values


@cache
def _step_operation(dtype: np.dtype[Any]) -> elementwise.Operation:
    body = "y0 = x1 + (x4 * x0 + x5) * x2 - x6 * x3;"
    return elementwise.Operation("series step", (dtype,) * 7, (dtype,), body)


def _step(x: Any, extra: Any, now: Any, before: Any, factors: tuple[float, float, float]) -> Any:
    """Return extra + (a x + b) now - c before."""
    a, b, c = factors
    operands = (x, extra, now, before)
    dtype = np.result_type(*(y.dtype for y in operands if isinstance(y, GPUArray)))
    if dtype in (np.float32, np.float64):
        (found,) = ufuncs.apply(_step_operation(dtype), [*operands, a, b, c], [None])
        return found
    found = extra + (x * a + b) * now if b else extra + x * a * now
    return found - before * c if c else found


def value(family: Family, x: Any, c: Any, tensor: bool = True) -> Any:
    """Return the values at x of the series whose coefficients are along the first axis of c;
    tensor: every series is evaluated at every point."""
    call = f"{family.name}val"
    like = _like(call, x, c)
    c = _inexact(call, like, c)
    if c.ndim == 0:
        c = c.reshape((1,))
    if c.shape[0] == 0:
        raise IndexError(f"{call}: the series has no coefficients")
    array = not isinstance(x, (bool, int, float, complex))
    if isinstance(x, (bool, int, float)):
        x = np.asarray(x, c.dtype)
    x = _inexact(call, like, x)
    if array and tensor:
        c = c.reshape((*c.shape, *(1,) * x.ndim))
    n = c.shape[0]
    now, before = c[n - 1], 0.0
    if n == 1 or family is POWERS:
        now = now + x * 0
    for k in range(n - 2, -1, -1):
        a, b, _ = family.of(k)
        now, before = _step(x, c[k], now, before, (a, b, family.of(k + 1)[2])), now
    return now


def value_of_several(family: Family, points: Sequence[Any], c: Any) -> Any:
    """Return the values of series in several variables at points that have the same shape."""
    shapes = {np.shape(x) if not isinstance(x, GPUArray) else x.shape for x in points}
    if len(shapes) != 1:
        raise ValueError(f"{family.name}val: the coordinates are incompatible: shapes {shapes}")
    first, *others = points
    c = value(family, first, c)
    for x in others:
        c = value(family, x, c, tensor=False)
    return c


def grid(family: Family, points: Sequence[Any], c: Any) -> Any:
    """Return the values of series in several variables at all combinations of the points."""
    for x in points:
        c = value(family, x, c)
    return c


# ---- matrices, fits


def vander(family: Family, x: Any, deg: Any) -> Any:
    """Return the polynomials of degrees 0 to deg at each point, along a new last axis."""
    call = f"{family.name}vander"
    degree = _degree(call, deg)
    x = _inexact(call, _like(call, x), x)
    if x.ndim == 0:
        x = x.reshape((1,))
    rows = primitives.empty(x, (degree + 1, *x.shape), x.dtype)
    rows[0] = x * 0 + 1
    for k in range(degree):
        rows[k + 1] = _step(x, 0.0, rows[k], rows[k - 1] if k else 0.0, family.of(k))
    return manipulation.moveaxis(rows, 0, -1)


def vander_of_several(family: Family, points: Sequence[Any], deg: Sequence[Any]) -> Any:
    """Return products of polynomials of each coordinate, along one new last axis."""
    call = f"{family.name}vander{len(points)}d"
    if len(deg) != len(points):
        raise ValueError(f"{call}: {len(points)} degrees are needed, not {len(deg)}")
    like = _like(call, *points)
    found: Any = None
    for x, degree in zip(points, deg, strict=True):
        one = vander(family, primitives.as_array(like, x, call=call), degree)
        if found is None:
            found = one
        else:
            found = manipulation.expand_dims(found, -1) * manipulation.expand_dims(one, -2)
            found = found.reshape((*found.shape[:-2], found.shape[-2] * found.shape[-1]))
    return found


def _chosen(call: str, deg: Any) -> tuple[int, Any]:
    """Return the greatest degree, and the degrees in order if there are several."""
    degrees = np.asarray(deg.get() if isinstance(deg, GPUArray) else deg)  # type: ignore[attr-defined]
    if degrees.ndim > 1 or degrees.dtype.kind not in "iu" or degrees.size == 0:
        raise TypeError(f"{call}: deg must be an int or non-empty 1-D array of int")
    if degrees.min() < 0:
        raise ValueError(f"{call}: expected deg >= 0")
    return int(degrees.max()), None if degrees.ndim == 0 else np.sort(degrees)


def fit(
    family: Family, x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None
) -> Any:
    """Return the least-squares series; y may have a column for each of several."""
    call = f"{family.name}fit"
    like = _like(call, x, y, w)
    x, y = (_inexact(call, like, a) for a in (x, y))
    most, degrees = _chosen(call, deg)
    if x.ndim != 1:
        raise TypeError(f"{call}: expected 1D vector for x")
    if x.size == 0:
        raise TypeError(f"{call}: expected non-empty vector for x")
    if y.ndim not in (1, 2):
        raise TypeError(f"{call}: expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError(f"{call}: expected x and y to have same length")
    left = vander(family, x, most)
    if degrees is not None:
        left = left[:, degrees]
    if w is not None:
        w = _inexact(call, like, w)
        if w.ndim != 1:
            raise TypeError(f"{call}: expected 1D vector for w")
        if w.shape[0] != x.shape[0]:
            raise TypeError(f"{call}: expected x and w to have same length")
        left = left * w[:, None]
        y = y * (w[:, None] if y.ndim == 2 else w)
    rcond = x.size * np.finfo(x.dtype).eps if rcond is None else rcond
    square = (left.conj() * left).real if left.dtype.kind == "c" else left * left
    scale = ufuncs.call("sqrt", (square._reduce("sum", 0),))
    scale = joining.choose(call, scale == 0, scale.dtype.type(1), scale)
    found, residuals, rank, singular = linalg.lstsq(left / scale, y, rcond)
    found = (found.T / scale).T
    if degrees is not None:
        every = primitives.empty(found, (most + 1, *found.shape[1:]), found.dtype).fill(0)
        every[degrees] = found
        found = every
    if full:
        return found, [residuals, rank, singular, rcond]
    if int(rank if isinstance(rank, int) else rank.item()) != left.shape[1]:
        warnings.warn(
            f"{call}: the fit may be poorly conditioned",
            np.exceptions.RankWarning,
            stacklevel=user_stacklevel(),
        )
    return found


# ---- coefficients of powers


def _along(call: str, c: Any, axis: Any) -> tuple[Any, int]:
    """Return the coefficients along the first axis, in new memory, and which axis that was."""
    c = _inexact(call, _like(call, c), c)
    c = c.reshape((1,)) if c.ndim == 0 else c
    moved_axis = layout.normalize_axis(operator.index(axis), c.ndim)
    return manipulation.moveaxis(c, moved_axis, 0)._copy(order="C"), moved_axis


def _column(like: Any, numbers: Any) -> Any:
    """Return numbers in the real dtype of an array, along its first axis."""
    kind = np.empty(0, like.dtype).real.dtype
    return like._from_host(np.asarray(numbers, kind).reshape((-1,) + (1,) * (like.ndim - 1)))


def derivative(c: Any, m: Any = 1, scl: Any = 1, axis: Any = 0) -> Any:
    """Return the coefficients of a derivative with respect to x / scl."""
    count = _degree("polyder", m, "m")
    c, moved_axis = _along("polyder", c, axis)
    dtype = c.dtype
    if count and count >= c.shape[0]:
        c = c[:1] * 0
    for _ in range(count if count < c.shape[0] or c.shape[0] > 1 else 0):
        c = primitives.astype(c[1:] * scl * _column(c, np.arange(1, c.shape[0])), dtype)
    return manipulation.moveaxis(c, 0, moved_axis)


def integral(c: Any, m: Any = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: Any = 0) -> Any:
    """Return the coefficients of an integral from lbnd, plus the constants k."""
    count = _degree("polyint", m, "m")
    constants = list(k) if np.iterable(k) else [k]
    if len(constants) > count:
        raise ValueError("polyint: Too many integration constants")
    for name, number in (("lbnd", lbnd), ("scl", scl)):
        if np.ndim(number) != 0:
            raise ValueError(f"polyint: {name} must be a scalar.")
    c, moved_axis = _along("polyint", c, axis)
    for constant in (constants + [0] * count)[:count]:
        n, rest = c.shape[0], c.shape[1:]
        c = primitives.astype(c * scl, c.dtype)
        if n == 1 and not bool((c != 0)._reduce("any", None).item()):
            c = c + constant
            continue
        whole = primitives.empty(c, (n + 1, *rest), c.dtype)
        whole[0] = 0
        whole[1:] = c / _column(c, np.arange(1, n + 1))
        whole[0] = constant - value(POWERS, lbnd, whole) if lbnd else whole[0] + constant
        c = whole
    return manipulation.moveaxis(c, 0, moved_axis)


def _trimmed(c: Any) -> Any:
    """Return the coefficients without zeros of the highest powers; at least one is left."""
    if bool((c[-1:] != 0)._reduce("any", None).item()):
        return c
    kept = np.flatnonzero(c.get())
    return c[: int(kept[-1]) + 1 if kept.size else 1]


def _series(call: str, *operands: Any) -> list[Any]:
    like = _like(call, *operands)
    found = [_inexact(call, like, x) for x in operands]
    found = [x.reshape((1,)) if x.ndim == 0 else x for x in found]
    if any(x.ndim != 1 for x in found):
        raise ValueError(f"{call}: Coefficient array is not 1-d")
    if any(x.size == 0 for x in found):
        raise ValueError(f"{call}: Coefficient array is empty")
    return [_trimmed(x) for x in found]


def add(ufunc: str, c1: Any, c2: Any) -> Any:
    """Return the sum or the difference of two series."""
    a, b = _series(f"poly{ufunc[:3]}", c1, c2)
    size = max(a.size, b.size)
    wide = [primitives.empty(x, (size,), x.dtype).fill(0) for x in (a, b)]
    for whole, part in zip(wide, (a, b), strict=True):
        whole[: part.size] = part
    return _trimmed(ufuncs.call(ufunc, tuple(wide)))


def product(c1: Any, c2: Any) -> Any:
    """Return the product of two polynomials."""
    a, b = _series("polymul", c1, c2)
    return _trimmed(math.table()["convolve"](a, b))


def roots(c: Any) -> Any:
    """Return the roots of a polynomial, by NumPy on the host."""
    like = _like("polyroots", c)
    return host_fallback.compute(like, np.polynomial.polynomial.polyroots, c)
