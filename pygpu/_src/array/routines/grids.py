"""Grids between ends that are arrays, and bits as numbers: numpy.linspace, logspace, geomspace,
ix_, packbits, unpackbits."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import advanced_indexing, layout, primitives, ufuncs

from . import joining, manipulation


def _ends(call: str, *ends: Any) -> tuple[list[Any], np.dtype[Any]]:
    """Return the ends as device arrays of the dtype in which NumPy computes between them."""
    like = next(x for x in ends if isinstance(x, GPUArray))
    given = [x if isinstance(x, (GPUArray, int, float, complex)) else np.asarray(x) for x in ends]
    dtype = np.result_type(*(getattr(x, "dtype", x) for x in given))
    if not np.issubdtype(dtype, np.inexact):
        dtype = np.result_type(dtype, 1.0)
    found = [primitives.as_array(like, x, call=call) for x in given]
    return [primitives.astype(x, dtype) for x in found], dtype


def _samples(num: Any) -> int:
    count = operator.index(num)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    return count


def _linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    count = _samples(num)
    (start, stop), inner = _ends("linspace", start, stop)
    kind = inner if dtype is None else np.dtype(dtype)
    parts = count - 1 if endpoint else count
    delta = stop - start
    y = joining.arange_into(primitives.empty(start, (count,), np.int64), 0, 1)
    y = primitives.astype(y, inner).reshape((count,) + (1,) * delta.ndim)
    step: Any = np.nan
    if parts > 0:
        step = delta / parts
        # Where a step underflows, numbers of steps are multiplied later, as NumPy does.
        some = bool((step == 0)._reduce("any", None).item()) if step.size else False
        y = y / parts * delta if some else y * step
    else:
        y = y * delta
    y = y + start
    if endpoint and count > 1:
        y[-1] = stop
    y = manipulation.moveaxis(y, 0, axis)
    if kind.kind in "iu":
        y = ufuncs.call("floor", (y,))
    y = primitives.astype(y, kind)
    return (y, step) if retstep else y


def _logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0,
    dtype: Any = None, axis: int = 0,
) -> Any:  # fmt: skip
    like = next(x for x in (start, stop, base) if isinstance(x, GPUArray))
    if not isinstance(base, (int, float)) and np.ndim(base):
        ends = [primitives.as_array(like, x, call="logspace") for x in (start, stop, base)]
        ndim = max(x.ndim for x in ends)
        start, stop, base = (x.reshape((1,) * (ndim - x.ndim) + x.shape) for x in ends)
        base = manipulation.expand_dims(base, axis)
    elif not isinstance(start, GPUArray) and not isinstance(stop, GPUArray):
        start = primitives.as_array(like, start, call="logspace")
    y = _linspace(start, stop, num, endpoint, axis=axis)
    found = ufuncs.call("power", (ufuncs.to_operand(base, y), y))
    return found if dtype is None else primitives.astype(found, np.dtype(dtype))


def _geomspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    count = _samples(num)
    (start, stop), _ = _ends("geomspace", start, stop)
    inner = np.result_type(start.dtype, np.float64, *(() if dtype is None else (np.dtype(dtype),)))
    start, stop = (primitives.astype(x, inner) for x in (start, stop))
    if any(bool((x == 0)._reduce("any", None).item()) for x in (start, stop) if x.size):
        raise ValueError("Geometric sequence cannot include zero")
    sign = ufuncs.call("sign", (start,))
    start, stop = start / sign, stop / sign
    log_start, log_stop = (ufuncs.call("log10", (x,)) for x in (start, stop))
    y = _logspace(log_start, log_stop, count, endpoint, 10.0, inner)
    if count > 0:
        y[0] = start
        if count > 1 and endpoint:
            y[-1] = stop
    y = manipulation.moveaxis(y * sign, 0, axis)
    return y if dtype is None else primitives.astype(y, np.dtype(dtype))


def _ix(*args: Any) -> tuple[Any, ...]:
    like = next(x for x in args if isinstance(x, GPUArray))
    found = []
    for k, given in enumerate(args):
        if not hasattr(given, "dtype") and len(given) == 0:
            given = np.empty(0, np.intp)
        index = primitives.as_array(like, given, call="ix_")
        if index.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if index.dtype.kind == "b":
            (index,) = advanced_indexing.nonzero(index)
        found.append(index.reshape((1,) * k + (index.size,) + (1,) * (len(args) - k - 1)))
    return tuple(found)


def _weights(a: Any, bitorder: Any) -> Any:
    """Return the values of the bits of a byte in order."""
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    bits = np.uint8(1) << np.arange(8, dtype=np.uint8)
    return primitives.as_array(a, bits if bitorder == "little" else bits[::-1])


def _along(a: Any, axis: Any) -> tuple[Any, int | None]:
    """Return the array with the axis at the end, None: as one axis; and the axis, None then."""
    if axis is None or a.ndim == 0:
        if axis is not None:
            layout.normalize_axis(operator.index(axis), 1)
        return primitives.flat(a), None
    moved_axis = layout.normalize_axis(operator.index(axis), a.ndim)
    return manipulation.moveaxis(a, moved_axis, -1), moved_axis


def _packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> Any:
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    weights = _weights(a, bitorder)
    bits, moved_axis = _along(a, axis)
    *rest, n = bits.shape
    whole = -(-n // 8)
    set_ = primitives.empty(a, (*rest, 8 * whole), np.bool_)
    set_[..., :n] = bits != 0
    if n % 8:
        set_[..., n:] = False
    parts = primitives.astype(set_, np.dtype(np.uint8)).reshape((*rest, whole, 8)) * weights
    packed = parts._reduce("sum", -1, dtype=np.dtype(np.uint8))
    return packed if moved_axis is None else manipulation.moveaxis(packed, -1, moved_axis)


def _unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Any:
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    weights = _weights(a, bitorder)
    octets, moved_axis = _along(a, axis)
    *rest, n = octets.shape
    bits = (octets[..., None] & weights) != 0
    bits = primitives.astype(bits, np.dtype(np.uint8)).reshape((*rest, 8 * n))
    if count is not None:
        many = operator.index(count)
        if many < -8 * n:
            raise ValueError("-count larger than number of elements")
        many = many if many >= 0 else 8 * n + many
        if many > 8 * n:
            wide = primitives.empty(a, (*rest, many), np.uint8).fill(0)
            wide[..., : 8 * n] = bits
            bits = wide
        bits = bits[..., :many]
    bits = bits if moved_axis is None else manipulation.moveaxis(bits, -1, moved_axis)
    return bits._copy(order="C") if not bits._c_contiguous else bits


def table() -> dict[str, Callable[..., Any]]:
    """Return NumPy's functions and their implementations."""
    return {
        "geomspace": _geomspace,
        "ix_": _ix,
        "linspace": _linspace,
        "logspace": _logspace,
        "packbits": _packbits,
        "unpackbits": _unpackbits,
    }
