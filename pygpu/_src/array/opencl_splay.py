"""Sizes of launches over many items, as in PyOpenCL."""

from __future__ import annotations

from typing import Any

from pygpu._opencl import Device
from pygpu.constants import device_type


def splay(
    device: Any, n: int, kernel_specific_max_wg_size: int | None = None
) -> tuple[tuple[int], tuple[int]]:
    """Return (global size, local size) for a kernel on n items: for many items, each work-item
    processes several. kernel_specific_max_wg_size: the largest local size [work-items] that the
    kernel allows."""
    if not isinstance(device, Device):
        raise TypeError(f"splay: device must be a Device, not {type(device).__name__}")
    largest = min(device.max_work_group_size, kernel_specific_max_wg_size or 1 << 30)
    units = device.max_compute_units
    if device.type & device_type.CPU:
        local = 1
        groups = min(4 * units, max(n >> 10, 1))
    else:
        local = min(largest, 256 if n >= 256 else 32)
        groups = max(min(-(-n // local), 32 * units), 1)
    return (groups * local,), (local,)
