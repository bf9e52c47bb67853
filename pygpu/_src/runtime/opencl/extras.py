"""Small functions of PyOpenCL's top level that few programs need."""

from __future__ import annotations

import os
import warnings
from typing import NamedTuple

from pygpu._opencl import Context, Platform

__all__ = ["DeviceTopologyAmd", "enable_debugging", "get_cl_header_version"]


class DeviceTopologyAmd(NamedTuple):
    """Where a device sits on the PCI bus."""

    bus: int = 0
    device: int = 0
    function: int = 0

    @property
    def type(self) -> int:
        """The bus: as in PyOpenCL, which calls it so too."""
        return self.bus


def get_cl_header_version() -> tuple[int, int]:
    """The newest OpenCL version whose names pygpu defines; pygpu is built without headers."""
    return (3, 0)


def enable_debugging(platform_or_context: Platform | Context) -> None:
    """Let AMD's CPU driver run kernels in one thread, as gdb needs it; programs are built with -g.

    Must come before a context is used. Other platforms have nothing to switch on, and get a
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
