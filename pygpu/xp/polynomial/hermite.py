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
