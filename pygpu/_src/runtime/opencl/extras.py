"""Rarely used functions of PyOpenCL's top level."""

from __future__ import annotations

import os
import warnings
from typing import NamedTuple

from pygpu._opencl import Context, Platform
from pygpu._src.util.public import publish

__all__ = ["DeviceTopologyAmd", "enable_debugging", "get_cl_header_version"]


class DeviceTopologyAmd(NamedTuple):
    """The position of a device on the PCI bus."""

    bus: int = 0
    device: int = 0
    function: int = 0

    @property
    def type(self) -> int:
        """Return the bus, under PyOpenCL's name."""
        return self.bus


def get_cl_header_version() -> tuple[int, int]:
    """Return the newest OpenCL version whose names pygpu defines; pygpu is built without
    headers."""
    return (3, 0)


def enable_debugging(platform_or_context: Platform | Context) -> None:
    """Make AMD's CPU driver run kernels in one thread, as gdb needs, and build programs with -g.

    Must be called before a context is used. Other platforms have no such mode, and cause a
    warning.
    """
    platform = (
        platform_or_context.devices[0].platform
        if isinstance(platform_or_context, Context)
        else platform_or_context
    )
    if "AMD Accelerated" in platform.name:
        os.environ["CPU_MAX_COMPUTE_UNITS"] = "1"
    else:
        warnings.warn(
            f"enable_debugging: nothing to switch on for the platform '{platform.name}'",
            stacklevel=2,
        )


publish(globals(), __all__, "pygpu")
