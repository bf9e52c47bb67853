"""Series of Hermite polynomials of physics: numpy.polynomial.hermite for device arrays."""

from __future__ import annotations

from pygpu._src.array.routines import series as _series

from . import _families

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

_of = _families.functions(_series.HERMITE, __name__)
hermval = _of.val
hermval2d = _of.val2d
hermval3d = _of.val3d
hermgrid2d = _of.grid2d
hermgrid3d = _of.grid3d
hermvander = _of.vander
hermvander2d = _of.vander2d
hermvander3d = _of.vander3d
hermfit = _of.fit
