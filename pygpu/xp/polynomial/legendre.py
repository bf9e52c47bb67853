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

_of = _families.functions(_series.LEGENDRE, __name__)
legval = _of.val
legval2d = _of.val2d
legval3d = _of.val3d
leggrid2d = _of.grid2d
leggrid3d = _of.grid3d
legvander = _of.vander
legvander2d = _of.vander2d
legvander3d = _of.vander3d
legfit = _of.fit
