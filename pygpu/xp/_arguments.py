"""Checks of arguments that the functions of the namespace share."""

from __future__ import annotations

from typing import Any

from .._array import GPUArray

__all__ = ["need_arrays"]


def need_arrays(call: str, *arrays: Any) -> None:
    """Raises TypeError for what is not an array on a device."""
    for x in arrays:
        if not isinstance(x, GPUArray):
            raise TypeError(
                f"{call}: {type(x).__name__} is not an array on a device; see pygpu.xp.asarray()"
            )
