"""Series of Hermite polynomials of physics: numpy.polynomial.hermite for device arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pygpu._src.array.routines import series as _series

if TYPE_CHECKING:
    from pygpu.xp._types import GPUArray

__all__ = [
    "hermfit",
    "hermgrid2d",
    "hermgrid3d",
    "hermval",
    "hermval2d",
    "hermval3d",
    "hermvander",
    "hermvander2d",
    "hermvander3d",
]

_FAMILY = _series.HERMITE


def hermval(x: Any, c: Any, tensor: bool = True) -> GPUArray[Any]:
    """The values at x of series with coefficients along the first axis of c; tensor: of every
    series at every point, else the shapes are broadcast."""
    result: GPUArray[Any] = _series.value(_FAMILY, x, c, tensor)
    return result


def hermval2d(x: Any, y: Any, c: Any) -> GPUArray[Any]:
    """The values at points (x, y) of series in two variables."""
    result: GPUArray[Any] = _series.value_of_several(_FAMILY, (x, y), c)
    return result


def hermval3d(x: Any, y: Any, z: Any, c: Any) -> GPUArray[Any]:
    """The values at points (x, y, z) of series in three variables."""
    result: GPUArray[Any] = _series.value_of_several(_FAMILY, (x, y, z), c)
    return result


def hermgrid2d(x: Any, y: Any, c: Any) -> GPUArray[Any]:
    """The values of series in two variables at every combination of x and y."""
    result: GPUArray[Any] = _series.grid(_FAMILY, (x, y), c)
    return result


def hermgrid3d(x: Any, y: Any, z: Any, c: Any) -> GPUArray[Any]:
    """The values of series in three variables at every combination of x, y and z."""
    result: GPUArray[Any] = _series.grid(_FAMILY, (x, y, z), c)
    return result


def hermvander(x: Any, deg: int) -> GPUArray[Any]:
    """The polynomials of degrees 0 to deg at each point, along a new last axis."""
    result: GPUArray[Any] = _series.vander(_FAMILY, x, deg)
    return result


def hermvander2d(x: Any, y: Any, deg: Sequence[int]) -> GPUArray[Any]:
    """The products of a polynomial of x and one of y, along a new last axis."""
    result: GPUArray[Any] = _series.vander_of_several(_FAMILY, (x, y), deg)
    return result


def hermvander3d(x: Any, y: Any, z: Any, deg: Sequence[int]) -> GPUArray[Any]:
    """The products of polynomials of x, y and z, along a new last axis."""
    result: GPUArray[Any] = _series.vander_of_several(_FAMILY, (x, y, z), deg)
    return result


def hermfit(
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
