"""The array API standard's version 2024.12: :mod:`pygpu.xp` with lists where that version has them.

``x.__array_namespace__(api_version="2024.12")`` is this module. What version 2025.12 added is here
too, as the standard allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import xp as _latest
from . import *  # noqa: F403
from . import __all__ as _names

if TYPE_CHECKING:
    from ._types import ArrayT, Device

__all__ = list(_names)
__array_api_version__ = "2024.12"


class __array_namespace_info__(  # type: ignore[no-redef]  # noqa: N801
    _latest.__array_namespace_info__
):
    """The standard's inspection interface."""

    def devices(self) -> list[Device]:  # type: ignore[override]
        """All devices."""
        return list(super().devices())


def broadcast_arrays(*arrays: ArrayT) -> list[ArrayT]:
    """Views of one shape."""
    return list(_latest.broadcast_arrays(*arrays))


def meshgrid(
    *arrays: ArrayT, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[ArrayT]:
    """Coordinates of a grid, from those along each axis."""
    return list(_latest.meshgrid(*arrays, copy=copy, sparse=sparse, indexing=indexing))
