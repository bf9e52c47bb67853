"""``at`` and ``reduceat`` of ufuncs: a work-item for each run of items, which joins them in order.

Items that are added to one place come one after another, as in NumPy: nothing is atomic, so any
function will do, and results are the same in each call.
"""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from pygpu._src.array import layout, primitives
from pygpu._src.array.ufuncs import is_array
from pygpu._src.codegen.dtypes import native

from ..source import KernelError, OperandError
from .guvectorize import GUFunc
from .operands import array_like, operand


def _make_at(function: Any) -> GUFunc:
    def join(start, stop, order, values, first, out):  # type: ignore[no-untyped-def]
        out[0] = first
        for j in range(start, stop):
            out[0] = function(out[0], values[order[j]])

    return GUFunc(join, (), "(),(),(m),(n),()->()", function.target)


def _make_unary_at(function: Any) -> GUFunc:
    def repeat(count, first, out):  # type: ignore[no-untyped-def]
        out[0] = first
        for _ in range(count):
            out[0] = function(out[0])

    return GUFunc(repeat, (), "(),()->()", function.target)


def _make_reduceat(function: Any) -> GUFunc:
    def fold(start, stop, values, out):  # type: ignore[no-untyped-def]
        out[0] = values[start]
        for j in range(start + 1, stop):
            out[0] = function(out[0], values[j])

    return GUFunc(fold, (), "(),(),(n)->()", function.target)


def _host_index(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(_host_index, index))
    return index.get() if is_array(index) else index


def _flat(array: Any) -> Any:
    return array.reshape(-1) if array.ndim != 1 else array


def at(function: Any, array: Any, indices: Any, values: Any, name: str) -> None:
    """array[indices] = function(array[indices], values), once for each time that an index occurs,
    in order."""
    if isinstance(array, (list, tuple)) or np.isscalar(array):
        raise TypeError(f"{name}.at: the first operand must be an array, not {array!r}")
    array = operand(array, name)
    if array.dtype.kind not in "biufcmM":
        raise KernelError(f"{name}.at: a device does not compute with dtype {array.dtype}")
    if function.nin > 2:
        raise OperandError(f"{name}.at: {name} has {function.nin} inputs, and at() needs 1 or 2")
    if (values is None) != (function.nin == 1):
        raise OperandError(
            f"{name}.at: second operand needed for ufunc"
            if values is None
            else f"{name}.at: second operand provided when ufunc is unary"
        )
    flat_indices = np.arange(array.size).reshape(array.shape)[_host_index(indices)]
    order = np.argsort(flat_indices, axis=None, kind="stable")
    runs = flat_indices.reshape(-1)[order]
    if not runs.size:
        return
    starts = np.flatnonzero(np.concatenate(([True], runs[1:] != runs[:-1])))
    stops = np.append(starts[1:], runs.size)
    target = array if array.ndim else array.reshape(1)
    where = np.unravel_index(runs[starts], target.shape)
    first = target[where]
    if function.nin == 1:
        inputs = [stops - starts]
        kernel = function._segment_kernels("at", _make_unary_at)
    else:
        values = operand(values, name)
        if not is_array(values):
            values = np.asarray(values)
        taken = np.arange(values.size).reshape(values.shape)
        taken = np.broadcast_to(taken, flat_indices.shape).reshape(-1)[order]
        inputs = [starts, stops, taken, _flat(values)]
        kernel = function._segment_kernels("at", _make_at)
    _check_cast(function, array.dtype, inputs[3:], name)
    made = (
        primitives.empty(array, first.shape, array.dtype)
        if is_array(array)
        else np.empty(first.shape, array.dtype)
    )
    if not is_array(array) and any(map(is_array, inputs)):
        raise TypeError(f"{name}.at: the first operand is on the host, and the second on a device")
    kernel(*inputs, first, out=made)
    target[where] = made


def _check_cast(function: Any, dtype: np.dtype[Any], values: list[Any], name: str) -> None:
    found = function._result_type(dtype, *(v.dtype for v in values))
    if function._nout > 1:
        raise OperandError(f"{name}.at: {name} has {function._nout} results, and at() needs 1")
    if not np.can_cast(found, dtype, "same_kind"):
        raise TypeError(f"{name}.at: cannot cast the result from {found} to {dtype}")


def _output(out: Any, call: str) -> Any:
    if out is None or is_array(out) or isinstance(out, np.ndarray):
        return out
    raise KernelError(f"{call}: output must be an array, not {out!r}")


def reduceat(
    function: Any, array: Any, indices: Any, axis: Any, dtype: Any, out: Any, name: str
) -> Any:
    """The items of array[indices[i] : indices[i + 1]] along an axis, joined, for each i; where that
    is empty, the item at indices[i]."""
    call = f"{name}.reduceat"
    given, out = array_like(array, f'{call}: "array"'), _output(out, call)
    if not given.ndim:
        raise KernelError(f'{call}: cannot reduceat on a scalar: "array" must be array-like')
    starts = array_like(_host_index(indices), f'{call}: "indices"')
    if starts.ndim > 1:
        raise KernelError(
            f'{call}: "indices" must have at most 1 dimension, and their shape is {starts.shape}'
        )
    if not starts.ndim or starts.dtype.kind not in "iu":
        raise TypeError(
            f"{call}: indices must be integers, in one dimension, not {reprlib.repr(indices)}"
        )
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        raise KernelError(f'{call}: "axis" must be an integer, not {axis!r}')
    axis = layout.normalize_axis(axis, given.ndim, name)
    n = given.shape[axis]
    wrong = starts[(starts < 0) | (starts >= n)]
    if wrong.size:
        raise IndexError(f"{name}.reduceat: index {wrong[0]} out-of-bounds in [0, {n})")
    starts = starts.astype(np.int64)
    stops = np.maximum(np.append(starts[1:], n), starts + 1)
    order = [k for k in range(given.ndim) if k != axis]
    lines = given.transpose([*order, axis])
    lines = lines.reshape(*lines.shape[:-1], 1, n)
    number = native(dtype, name) if dtype is not None else function._result_type(given.dtype, None)
    shape = tuple(given.shape[k] for k in order) + starts.shape
    back = np.argsort([*order, axis]).tolist()
    if is_array(given):
        made = primitives.empty(given, shape, number)
    else:
        made = np.empty(shape, number)
    if made.size:
        function._segment_kernels("reduceat", _make_reduceat)(starts, stops, lines, out=made)
    made = made.transpose(back)
    if out is None:
        return made
    if out.shape != made.shape or is_array(out) != is_array(made):
        raise ValueError(
            f"{name}.reduceat: out must have shape {made.shape} and be on the "
            f"{'device' if is_array(made) else 'host'}, like the array; its shape is {out.shape}"
        )
    if not np.can_cast(number, out.dtype, "same_kind"):
        raise TypeError(f"{name}.reduceat: cannot cast the result from {number} to {out.dtype}")
    out[...] = made
    return out
