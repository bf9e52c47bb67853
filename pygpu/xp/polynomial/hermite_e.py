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

hermeval: _families.Value
hermeval2d: _families.OfTwo
hermeval3d: _families.OfThree
hermegrid2d: _families.OfTwo
hermegrid3d: _families.OfThree
hermevander: _families.Vander
hermevander2d: _families.VanderOfTwo
hermevander3d: _families.VanderOfThree
hermefit: _families.Fit
(
    hermeval,
    hermeval2d,
    hermeval3d,
    hermegrid2d,
    hermegrid3d,
    hermevander,
    hermevander2d,
    hermevander3d,
    hermefit,
) = _families.functions(_series.HERMITE_E, __name__)
