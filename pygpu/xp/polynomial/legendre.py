"""Series of Legendre polynomials: numpy.polynomial.legendre for device arrays."""

from __future__ import annotations

from pygpu._src.array.routines import series as _series

from . import _families

__all__ = [
    "legfit",
    "leggrid2d",
    "leggrid3d",
    "legval",
    "legval2d",
    "legval3d",
    "legvander",
    "legvander2d",
    "legvander3d",
]

legval: _families.Value
legval2d: _families.OfTwo
legval3d: _families.OfThree
leggrid2d: _families.OfTwo
leggrid3d: _families.OfThree
legvander: _families.Vander
legvander2d: _families.VanderOfTwo
legvander3d: _families.VanderOfThree
legfit: _families.Fit
(
    legval,
    legval2d,
    legval3d,
    leggrid2d,
    leggrid3d,
    legvander,
    legvander2d,
    legvander3d,
    legfit,
) = _families.functions(_series.LEGENDRE, __name__)
