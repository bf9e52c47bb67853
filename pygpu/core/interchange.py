"""Other libraries' memory as arrays: DLPack and ``__cuda_array_interface__``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import Device, as_device

__all__ = ["from_dlpack"]


def from_dlpack(x: Any, *, device: Device | None = None, copy: bool | None = None) -> Any:
    """An array of what *x* exports by ``__dlpack__``."""
    if copy is False:
        raise ValueError("from_dlpack: this needs a copy, and copy=False was given")
    return as_device(device).put(np.from_dlpack(x))
