"""Series of powers of x, from the lowest: numpy.polynomial.polynomial for device arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pygpu._src.array.routines import series as _series

if TYPE_CHECKING:
    from pygpu.xp._types import GPUArray

__all__ = [
    "polyadd",
    "polyder",
    "polyfit",
    "polygrid2d",
    "polygrid3d",
    "polyint",
    "polymul",
    "polyroots",
    "polysub",
    "polyval",
    "polyval2d",
    "polyval3d",
    "polyvander",
    "polyvander2d",
    "polyvander3d",
]

_FAMILY = _series.POWERS


def polyval(x: Any, c: Any, tensor: bool = True) -> GPUArray[Any]:
    """The values at x of series with coefficients along the first axis of c; tensor: of every
    series at every point, else the shapes are broadcast."""
    result: GPUArray[Any] = _series.value(_FAMILY, x, c, tensor)
    return result


def polyval2d(x: Any, y: Any, c: Any) -> GPUArray[Any]:
    """The values at points (x, y) of series in two variables."""
    result: GPUArray[Any] = _series.value_of_several(_FAMILY, (x, y), c)
    return result


def polyval3d(x: Any, y: Any, z: Any, c: Any) -> GPUArray[Any]:
    """The values at points (x, y, z) of series in three variables."""
    result: GPUArray[Any] = _series.value_of_several(_FAMILY, (x, y, z), c)
    return result


def polygrid2d(x: Any, y: Any, c: Any) -> GPUArray[Any]:
    """The values of series in two variables at every combination of x and y."""
    result: GPUArray[Any] = _series.grid(_FAMILY, (x, y), c)
    return result


def polygrid3d(x: Any, y: Any, z: Any, c: Any) -> GPUArray[Any]:
    """The values of series in three variables at every combination of x, y and z."""
    result: GPUArray[Any] = _series.grid(_FAMILY, (x, y, z), c)
    return result


def polyvander(x: Any, deg: int) -> GPUArray[Any]:
    """The polynomials of degrees 0 to deg at each point, along a new last axis."""
    result: GPUArray[Any] = _series.vander(_FAMILY, x, deg)
    return result


def polyvander2d(x: Any, y: Any, deg: Sequence[int]) -> GPUArray[Any]:
    """The products of a polynomial of x and one of y, along a new last axis."""
    result: GPUArray[Any] = _series.vander_of_several(_FAMILY, (x, y), deg)
    return result


def polyvander3d(x: Any, y: Any, z: Any, deg: Sequence[int]) -> GPUArray[Any]:
    """The products of polynomials of x, y and z, along a new last axis."""
    result: GPUArray[Any] = _series.vander_of_several(_FAMILY, (x, y, z), deg)
    return result


def polyfit(
    x: Any,
    y: Any,
    deg: int | Sequence[int],
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
) -> Any:
    """The least-squares series of a degree, or of the polynomials whose degrees are given; full:
    and [residuals, rank, singular values, rcond]."""
    return _series.fit(_FAMILY, x, y, deg, rcond, full, w)


def polyadd(c1: Any, c2: Any) -> GPUArray[Any]:
    """The sum, without zeros of the highest powers."""
    result: GPUArray[Any] = _series.add("add", c1, c2)
    return result


def polysub(c1: Any, c2: Any) -> GPUArray[Any]:
    """The difference, without zeros of the highest powers."""
    result: GPUArray[Any] = _series.add("subtract", c1, c2)
    return result


def polymul(c1: Any, c2: Any) -> GPUArray[Any]:
    """The product, without zeros of the highest powers."""
    result: GPUArray[Any] = _series.product(c1, c2)
    return result


def polyder(c: Any, m: int = 1, scl: float = 1, axis: int = 0) -> GPUArray[Any]:
    """The m-th derivative; each is multiplied by scl."""
    result: GPUArray[Any] = _series.derivative(c, m, scl, axis)
    return result


def polyint(
    c: Any, m: int = 1, k: Any = (), lbnd: float = 0, scl: float = 1, axis: int = 0
) -> GPUArray[Any]:
    """The m-th integral from lbnd, with the constants k; each is multiplied by scl."""
    result: GPUArray[Any] = _series.integral(c, m, k, lbnd, scl, axis)
    return result


def polyroots(c: Any) -> GPUArray[Any]:
    """The roots, computed by NumPy on the host."""
    result: GPUArray[Any] = _series.roots(c)
    return result
