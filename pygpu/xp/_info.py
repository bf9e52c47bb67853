"""The inspection functions of the namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygpu._src.array.device import Device, as_device, default_device
from pygpu._src.array.device import devices as all_devices
from pygpu._src.array.layout import MAX_DIMS
from pygpu._src.util.public import publish

from ._dtypes import default_dtype, dtypes_of

if TYPE_CHECKING:
    import numpy as np

    from ._types import AnyDevice

__all__ = ["__array_namespace_info__"]


class __array_namespace_info__:  # noqa: N801
    """The standard's inspection interface."""

    def __repr__(self) -> str:
        return "<pygpu.xp.__array_namespace_info__()>"

    def capabilities(self) -> dict[str, bool | int]:
        """Masks as indices and shapes that depend on data: yes; at most 32 axes."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": MAX_DIMS,
        }

    def default_device(self) -> Device:
        """The device used if none is named."""
        return default_device()

    def default_dtypes(self, *, device: AnyDevice = None) -> dict[str, np.dtype[Any]]:
        """The dtypes used if none is named."""
        where = as_device(device)
        kinds = ("real floating", "complex floating", "integral", "indexing")
        return {kind: default_dtype(kind, where) for kind in kinds}

    def devices(self) -> tuple[Device, ...]:
        """All devices."""
        return tuple(all_devices())

    def dtypes(
        self, *, device: AnyDevice = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """The dtypes that a device computes with, of a kind or all."""
        return dtypes_of(as_device(device), kind)


publish(globals(), ["__array_namespace_info__"], "pygpu.xp")
