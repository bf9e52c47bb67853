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

_of = _families.functions(_series.CHEBYSHEV, __name__)
chebval = _of.val
chebval2d = _of.val2d
chebval3d = _of.val3d
chebgrid2d = _of.grid2d
chebgrid3d = _of.grid3d
chebvander = _of.vander
chebvander2d = _of.vander2d
chebvander3d = _of.vander3d
chebfit = _of.fit
