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

hermval: _families.Value
hermval2d: _families.OfTwo
hermval3d: _families.OfThree
hermgrid2d: _families.OfTwo
hermgrid3d: _families.OfThree
hermvander: _families.Vander
hermvander2d: _families.VanderOfTwo
hermvander3d: _families.VanderOfThree
hermfit: _families.Fit
(
    hermval,
    hermval2d,
    hermval3d,
    hermgrid2d,
    hermgrid3d,
    hermvander,
    hermvander2d,
    hermvander3d,
    hermfit,
) = _families.functions(_series.HERMITE, __name__)
