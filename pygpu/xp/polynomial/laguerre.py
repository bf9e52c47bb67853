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

_of = _families.functions(_series.LAGUERRE, __name__)
lagval = _of.val
lagval2d = _of.val2d
lagval3d = _of.val3d
laggrid2d = _of.grid2d
laggrid3d = _of.grid3d
lagvander = _of.vander
lagvander2d = _of.vander2d
lagvander3d = _of.vander3d
lagfit = _of.fit
