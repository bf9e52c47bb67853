"""The enumerations of the CUDA driver: `device_attribute.WARP_SIZE` and others."""

from __future__ import annotations

from pygpu._cuda import _enumerations
from pygpu._src.drivers.enumerations import Enumeration, cuda_classes

__all__ = ["Enumeration"]

_classes = cuda_classes(_enumerations)
globals().update(_classes)
__all__ += list(_classes)
