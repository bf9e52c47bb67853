"""Series of probabilists' Hermite polynomials: numpy.polynomial.hermite_e on devices."""

from __future__ import annotations

from pygpu._src.array.routines import series as _series

from . import _families

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

_of = _families.functions(_series.HERMITE_E, __name__)
hermeval = _of.val
hermeval2d = _of.val2d
hermeval3d = _of.val3d
hermegrid2d = _of.grid2d
hermegrid3d = _of.grid3d
hermevander = _of.vander
hermevander2d = _of.vander2d
hermevander3d = _of.vander3d
hermefit = _of.fit
