"""Series of Laguerre polynomials: numpy.polynomial.laguerre for device arrays."""

from __future__ import annotations

from pygpu._src.array.routines import series as _series

from . import _families

__all__ = [
    "lagfit",
    "laggrid2d",
    "laggrid3d",
    "lagval",
    "lagval2d",
    "lagval3d",
    "lagvander",
    "lagvander2d",
    "lagvander3d",
]

lagval: _families.Value
lagval2d: _families.OfTwo
lagval3d: _families.OfThree
laggrid2d: _families.OfTwo
laggrid3d: _families.OfThree
lagvander: _families.Vander
lagvander2d: _families.VanderOfTwo
lagvander3d: _families.VanderOfThree
lagfit: _families.Fit
(
    lagval,
    lagval2d,
    lagval3d,
    laggrid2d,
    laggrid3d,
    lagvander,
    lagvander2d,
    lagvander3d,
    lagfit,
) = _families.functions(_series.LAGUERRE, __name__)
