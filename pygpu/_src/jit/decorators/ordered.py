"""``reduce`` and ``accumulate`` of ufuncs whose function need not be associative: a work-item for
each result joins its items from the first to the last, so numbers are NumPy's on every device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pygpu._src.array import elementwise, layout, primitives
from pygpu._src.array.ufuncs import is_array
from pygpu._src.codegen.dtypes import is_date

from .guvectorize import GUFunc
from .operands import array_or_none, as_mask, operand

DType = np.dtype[Any]


def _make_reduce(function: Any) -> GUFunc:
    def fold(values, out):  # type: ignore[no-untyped-def]
        out[0] = values[0]
        for j in range(1, values.shape[0]):
            out[0] = function(out[0], values[j])

    return GUFunc(fold, (), "(n)->()", function.target)


def _make_reduce_from(function: Any) -> GUFunc:
    def fold(first, values, out):  # type: ignore[no-untyped-def]
        out[0] = first
        for j in range(values.shape[0]):
            out[0] = function(out[0], values[j])

    return GUFunc(fold, (), "(),(n)->()", function.target)


def _make_reduce_where(function: Any) -> GUFunc:
    def fold(first, values, chosen, out):  # type: ignore[no-untyped-def]
        out[0] = first
        for j in range(values.shape[0]):
            if chosen[j]:
                out[0] = function(out[0], values[j])

    return GUFunc(fold, (), "(),(n),(n)->()", function.target)


def _make_accumulate(function: Any) -> GUFunc:
    def scan(values, out):  # type: ignore[no-untyped-def]
        out[0] = values[0]
        for j in range(1, values.shape[0]):
            out[j] = function(out[j - 1], values[j])

    return GUFunc(scan, (), "(n)->(n)", function.target)


def _as_number(array: Any, number: DType) -> Any:
    """Return an array's items as numbers of the dtype in which a method computes."""
    return primitives.astype(array, number) if is_array(array) else array.astype(number, copy=False)


def _check_out(out: Any, shape: tuple[int, ...], number: DType, host: bool, name: str) -> None:
    if out.shape != shape or is_array(out) == host:
        raise ValueError(
            f"{name}: out must have shape {shape} and be on the {'host' if host else 'device'}, "
            f"like the array; its shape is {out.shape}"
        )
    if not np.can_cast(number, out.dtype, "same_kind"):
        raise TypeError(f"{name}: cannot cast the result from {number} to {out.dtype}")


def _moved(array: Any, axes: tuple[int, ...], reduced: tuple[int, ...]) -> Any:
    """Return the array with the axes in this order and the last, reduced ones joined to one."""
    moved = array.transpose(axes)
    kept = moved.shape[: array.ndim - len(reduced)]
    shape = (*kept, math.prod(array.shape[k] for k in reduced))
    if moved.shape == shape:
        return moved
    return primitives.reshape(moved, shape) if is_array(array) else moved.reshape(shape)


def reduce(
    function: Any,
    number: DType,
    items: DType,
    array: Any,
    axis: Any,
    name: str,
    *,
    out: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
    queue: Any,
) -> Any:
    """Join the items along axes in C order. array: on the host or on a device, as the result is.
    number: the dtype of the result; items: of the function's second parameter."""
    axes = layout.normalize_axes(axis, array.ndim, name)
    kept = tuple(k for k in range(array.ndim) if k not in axes)
    host, out = not is_array(array), array_or_none(out, name)
    shape = tuple(array.shape[k] for k in kept)
    wanted = tuple(1 if k in axes else n for k, n in enumerate(array.shape)) if keepdims else shape
    if out is not None:
        _check_out(out, wanted, number, host, name)
    count = math.prod(array.shape[k] for k in axes)
    if not count and initial is None:
        raise ValueError(
            f"zero-size array to reduction operation {name}: shape {array.shape} has no items to "
            f"reduce along {axes}; give an initial value"
        )
    lines = _as_number(_moved(array, (*kept, *axes), axes), items)
    made = np.empty(shape, number) if host else primitives.empty(array, shape, number)
    first = None if initial is None else _first(initial, number, name)
    if not made.size:
        pass
    elif where is not None:
        chosen = _mask(where, array, name)
        chosen = _moved(chosen, (*kept, *axes), axes)
        fold = function._segment_kernels("reduce where", _make_reduce_where)
        fold(first, lines, chosen, out=made, queue=queue)
    elif first is not None:
        fold = function._segment_kernels("reduce from", _make_reduce_from)
        fold(first, lines, out=made, queue=queue)
    else:
        function._segment_kernels("reduce", _make_reduce)(lines, out=made, queue=queue)
    made = made.reshape(wanted) if host else primitives.reshape(made, wanted)
    if out is None:
        return made if wanted or not host else made[()]
    out[...] = made
    return out


def _first(initial: Any, number: DType, name: str) -> Any:
    """Return an initial value as a number of this dtype."""
    if not is_date(number):
        try:
            return elementwise.as_scalar(initial, number)
        except (TypeError, ValueError):
            raise TypeError(f"{name}: initial={initial!r} is not a number") from None
    if not isinstance(initial, np.generic) or np.result_type(initial, number) != number:
        raise TypeError(f"{name}: initial={initial!r} is not a {number}")
    return initial.astype(number)


def _mask(where: Any, array: Any, name: str) -> Any:
    """Return the mask with the array's shape, where the array is."""
    mask = as_mask(operand(where, name), name)
    if is_array(array):
        mask = primitives.as_array(array, mask, np.bool_, name)
        strides = layout.broadcast_strides(mask.shape, mask.strides, array.shape)
        return mask._view(array.shape, strides, mask.offset)
    if is_array(mask):
        raise TypeError(f"{name}: the array is on the host, and where= on a device")
    return np.broadcast_to(mask, array.shape)


def accumulate(
    function: Any, number: DType, array: Any, axis: Any, name: str, *, out: Any, queue: Any
) -> Any:
    """Return the partial results along an axis."""
    if not array.ndim:
        raise TypeError(f"{name}: cannot accumulate on a scalar")
    axis = layout.normalize_axis(axis, array.ndim, name)
    host, out = not is_array(array), array_or_none(out, name)
    if out is not None:
        _check_out(out, array.shape, number, host, name)
    lines = _as_number(array, number)
    made = np.empty(array.shape, number) if host else primitives.empty(array, array.shape, number)
    if made.size:
        scan = function._segment_kernels("accumulate", _make_accumulate)
        scan(lines, out=made, axis=axis, queue=queue)
    if out is None:
        return made
    out[...] = made
    return out
