"""Series of powers of x, from the lowest: numpy.polynomial.polynomial for device arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygpu._src.array.routines import series as _series

from . import _families

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

polyval: _families.Value
polyval2d: _families.OfTwo
polyval3d: _families.OfThree
polygrid2d: _families.OfTwo
polygrid3d: _families.OfThree
polyvander: _families.Vander
polyvander2d: _families.VanderOfTwo
polyvander3d: _families.VanderOfThree
polyfit: _families.Fit
(
    polyval,
    polyval2d,
    polyval3d,
    polygrid2d,
    polygrid3d,
    polyvander,
    polyvander2d,
    polyvander3d,
    polyfit,
) = _families.functions(_series.POWERS, __name__)


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
