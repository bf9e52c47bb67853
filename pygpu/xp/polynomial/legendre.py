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
