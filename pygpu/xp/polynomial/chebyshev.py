"""Series of Chebyshev polynomials (of the first kind): numpy.polynomial.chebyshev on devices."""

from __future__ import annotations

from pygpu._src.array.routines import series as _series

from . import _families

__all__ = [
    "chebfit",
    "chebgrid2d",
    "chebgrid3d",
    "chebval",
    "chebval2d",
    "chebval3d",
    "chebvander",
    "chebvander2d",
    "chebvander3d",
]

(
    chebval,
    chebval2d,
    chebval3d,
    chebgrid2d,
    chebgrid3d,
    chebvander,
    chebvander2d,
    chebvander3d,
    chebfit,
) = _families.functions(_series.CHEBYSHEV, __name__)
