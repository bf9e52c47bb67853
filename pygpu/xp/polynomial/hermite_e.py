"""Series of probabilists' Hermite polynomials: numpy.polynomial.hermite_e on devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pygpu._src.array.routines import series as _series

if TYPE_CHECKING:
    from pygpu.xp._types import GPUArray

__all__ = [
    "hermefit",
    "hermegrid2d",
    "hermegrid3d",
    "hermeval",
    "hermeval2d",
    "hermeval3d",
    "hermevander",
    "hermevander2d",
    "hermevander3d",
]

_FAMILY = _series.HERMITE_E


def hermeval(x: Any, c: Any, tensor: bool = True) -> GPUArray[Any]:
    """The values at x of series with coefficients along the first axis of c; tensor: of every
    series at every point, else the shapes are broadcast."""
    result: GPUArray[Any] = _series.value(_FAMILY, x, c, tensor)
    return result


def hermeval2d(x: Any, y: Any, c: Any) -> GPUArray[Any]:
    """The values at points (x, y) of series in two variables."""
    result: GPUArray[Any] = _series.value_of_several(_FAMILY, (x, y), c)
    return result


def hermeval3d(x: Any, y: Any, z: Any, c: Any) -> GPUArray[Any]:
    """The values at points (x, y, z) of series in three variables."""
    result: GPUArray[Any] = _series.value_of_several(_FAMILY, (x, y, z), c)
    return result


def hermegrid2d(x: Any, y: Any, c: Any) -> GPUArray[Any]:
    """The values of series in two variables at every combination of x and y."""
    result: GPUArray[Any] = _series.grid(_FAMILY, (x, y), c)
    return result


def hermegrid3d(x: Any, y: Any, z: Any, c: Any) -> GPUArray[Any]:
    """The values of series in three variables at every combination of x, y and z."""
    result: GPUArray[Any] = _series.grid(_FAMILY, (x, y, z), c)
    return result


def hermevander(x: Any, deg: int) -> GPUArray[Any]:
    """The polynomials of degrees 0 to deg at each point, along a new last axis."""
    result: GPUArray[Any] = _series.vander(_FAMILY, x, deg)
    return result


def hermevander2d(x: Any, y: Any, deg: Sequence[int]) -> GPUArray[Any]:
    """The products of a polynomial of x and one of y, along a new last axis."""
    result: GPUArray[Any] = _series.vander_of_several(_FAMILY, (x, y), deg)
    return result


def hermevander3d(x: Any, y: Any, z: Any, deg: Sequence[int]) -> GPUArray[Any]:
    """The products of polynomials of x, y and z, along a new last axis."""
    result: GPUArray[Any] = _series.vander_of_several(_FAMILY, (x, y, z), deg)
    return result


def hermefit(
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
