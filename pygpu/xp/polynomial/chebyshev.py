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

chebval: _families.Value
chebval2d: _families.OfTwo
chebval3d: _families.OfThree
chebgrid2d: _families.OfTwo
chebgrid3d: _families.OfThree
chebvander: _families.Vander
chebvander2d: _families.VanderOfTwo
chebvander3d: _families.VanderOfThree
chebfit: _families.Fit
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
