"""Arguments of a Generator's methods: parameters, sizes, dtypes, results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import numpy as np

from pygpu import _array
from pygpu._src.array import layout
from pygpu._src.array.device import Device
from pygpu._src.codegen.dtypes import native

OnDevice: Any = _array.GPUArray  # of either backend
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)

# For each parameter: which values are invalid, and NumPy's message. For numbers and arrays.
CHECKS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "any": (lambda x: x != x and False, ""),
    "not negative": (lambda x: x < 0, "{0} < 0"),
    "positive": (lambda x: x <= 0, "{0} <= 0"),
    "positive number": (lambda x: (x <= 0) | (x != x), "{0} <= 0 or {0} is NaN"),
    "probability": (
        lambda x: (x < 0) | (x > 1) | (x != x),
        "{0} < 0, {0} > 1 or {0} is NaN",
    ),
    "possible": (lambda x: (x <= 0) | (x > 1) | (x != x), "{0} <= 0, {0} > 1 or {0} contains NaNs"),
    "below 1": (lambda x: (x < 0) | (x >= 1) | (x != x), "{0} < 0, {0} >= 1 or {0} is NaN"),
    "above 1": (lambda x: (x <= 1) | (x != x), "{0} <= 1 or {0} is NaN"),
    "mean": (lambda x: (x < 0) | (x != x), "{0} < 0 or {0} is NaN"),
    "count": (lambda x: (x < 0) | (x != x) | (x == inf), "{0} < 0"),
}


def check(call: str, name: str, value: Any, rule: str) -> None:
    """Raise ValueError if a number, or an item of a host array, is invalid."""
    if rule == "any":
        return
    wrong, message = CHECKS[rule]
    bad = wrong(value)
    if bad if isinstance(bad, bool) else np.any(bad):
        shown = f": {value}" if isinstance(bad, bool) else ""
        raise ValueError(f"{call}: {message.format(name)}{shown}")


def parameter(call: str, name: str, value: Any, rule: str, device: Device) -> Any:
    """Return a parameter as a float, a host array, or a device array; checked, unless it is on the
    device, since it is not copied from there."""
    if type(value) is float or type(value) is int:
        value = float(value)
        check(call, name, value, rule)
        return value
    if isinstance(value, OnDevice):
        if value.backend is not device.backend:
            raise ValueError(
                f"{call}: {name} is on {value.device}, and the generator on {device}; move it with "
                ".to_device()"
            )
        if value.dtype.kind not in "biuf":
            raise TypeError(f"{call}: {name} must be of real numbers, not {value.dtype}")
        return value
    host = np.asarray(value)
    if host.dtype.kind not in "biuf":
        kind = host.dtype if host.dtype != object else type(value).__name__
        raise TypeError(f"{call}: {name} must be of real numbers, not {kind}")
    host = host.astype(_F64)
    found = float(host) if host.ndim == 0 else host
    check(call, name, found, rule)
    return found


def shape_of(size: Any, values: Sequence[Any], out: Any, call: str) -> tuple[int, ...]:
    """Return the shape of a result from size=, the parameters and out=."""
    shape = None if size is None else layout.as_shape(size, call)
    if out is not None:
        if not isinstance(out, OnDevice):
            raise TypeError(f"{call}: out must be an array on the device, not {type(out).__name__}")
        if shape is not None and shape != out.shape:
            raise ValueError("size must match out.shape when used together")
        shape = out.shape
    shapes = [v.shape for v in values if not isinstance(v, (float, int))]
    if not shapes:
        return () if shape is None else shape
    try:
        whole = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(
            f"{call}: shape mismatch: parameters of shapes {shapes} cannot be broadcast together"
        ) from None
    if shape is None:
        return whole
    try:
        fits = np.broadcast_shapes(shape, whole) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"Output size {shape} is not compatible with broadcast dimensions of inputs {whole}."
        )
    return shape


def real_dtype(dtype: Any, out: Any, device: Device, call: str) -> np.dtype[Any]:
    """Return float32 or float64: dtype, or out's, or the device's default."""
    if dtype is None:
        if out is None:
            return _F64 if device.backend.limits.fp64 else _F32
        dtype = getattr(out, "dtype", None)
    found = native(dtype, call)
    if found not in (_F32, _F64):
        raise TypeError(f"Unsupported dtype {found!r} for {call}; use float32 or float64")
    return found


def integer_dtype(dtype: Any, out: Any, call: str, small: bool = False) -> np.dtype[Any]:
    """Return an integer dtype, by default int64. small: allow any integer dtype, and bool."""
    if dtype is None:
        dtype = np.int64 if out is None else getattr(out, "dtype", None)
    found = native(dtype, call)
    fits = found.kind in "biu" if small else found.kind in "iu" and found.itemsize >= 4
    if not fits or not found.isnative:
        kinds = "integers or bool" if small else "int32, uint32, int64 or uint64"
        raise TypeError(f"Unsupported dtype {found!r} for {call}; use {kinds}")
    return found


def result(
    out: Any, shape: tuple[int, ...], dtype: np.dtype[Any], device: Device, call: str
) -> Any:
    """Return the array to fill: *out*, or a new one."""
    if out is None:
        return device.empty(shape, dtype)
    if not isinstance(out, OnDevice):
        raise TypeError(f"{call}: out must be an array on the device, not {type(out).__name__}")
    if out.backend is not device.backend:
        raise ValueError(f"{call}: out is on {out.device}, and the generator on {device}")
    if out.dtype != dtype:
        raise TypeError(
            f"Supplied output array has the wrong type. Expected {dtype}, got {out.dtype}"
        )
    return out


def new(device: Device, host: Any) -> Any:
    """Copy a host array to the device."""
    return device.put(np.asarray(host))
