"""numpy.pad: borders around an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._src.array import (
    advanced_indexing,
    launch_cache,
    layout,
    primitives,
    ufuncs,
)
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import pad as pad_text
from pygpu._src.runtime import kernel_cache

from . import joining, manipulation, statistics

_REPEATED = ("edge", "reflect", "symmetric", "wrap")
_REDUCED = ("maximum", "mean", "median", "minimum")
_OPTIONS = {
    "constant": "constant_values",
    "linear_ramp": "end_values",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
} | dict.fromkeys(_REDUCED, "stat_length")


def _pairs(given: Any, ndim: int) -> Any:
    """Return (before, after) for each axis."""
    return np.broadcast_to(np.asarray(given), (ndim, 2)).tolist()


def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """Implement numpy.pad. A mode that is a function gets each vector, a view on the device."""
    if callable(mode):
        return _pad_by_function(array, _widths(pad_width, array.ndim), mode, options)
    is_supported = (
        mode in _OPTIONS or mode in (*_REPEATED, "empty") if isinstance(mode, str) else False
    )
    if not is_supported:
        if isinstance(mode, str):
            raise ValueError(f"pad: mode {mode!r} is not supported")
        raise TypeError(f"pad: mode {mode!r} is not supported for arrays on a device")
    wrong = set(options) - {_OPTIONS.get(mode)}
    if wrong:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {wrong}")
    widths = _widths(pad_width, array.ndim)
    if array.ndim == 0:
        return array._copy()
    if mode in _REPEATED:
        kind = options.get("reflect_type", "even")
        if kind == "even" or not any(map(any, widths)):
            return _pad_by_indices(array, widths, mode)
        if kind != "odd" or array.dtype.kind == "b":
            raise ValueError(f"pad: reflect_type {kind!r} of {array.dtype} is not supported")
        for axis, width in enumerate(widths):
            array = _reflect_odd(array, axis, width, mode)
        return array
    given = _pairs(options.get(_OPTIONS.get(mode, ""), 0), array.ndim) if options else None
    value = given[0][0] if given else 0
    if mode == "constant" and (not given or all(x == value for pair in given for x in pair)):
        return _pad_constant(array, widths, value)
    for axis, width in enumerate(widths):
        if width == [0, 0]:
            continue
        if mode == "empty":
            borders: list[Any] = [None, None]
        elif mode == "constant":
            borders = (
                [array.dtype.type(x) for x in given[axis]] if given else [array.dtype.type(0)] * 2
            )
        elif array.shape[axis] == 0:
            raise ValueError(
                f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
            )
        elif mode == "linear_ramp":
            ends = given[axis] if given else [0, 0]
            borders = [_ramp(array, axis, n, end, k) for k, (n, end) in enumerate(zip(width, ends))]
        else:
            lengths = given[axis] if given else [None, None]
            borders = [_statistic(mode, array, axis, n, k) for k, n in enumerate(lengths)]
        array = _add_borders(array, axis, width, borders)
    return array


def _pad_by_function(
    array: Any, widths: list[list[int]], function: Any, options: dict[str, Any]
) -> Any:
    """Call function(vector, widths, axis, options) for the vectors along each axis in turn; it
    writes to their ends."""
    padded = _pad_constant(array, widths, 0)
    for axis in range(padded.ndim):
        vectors = manipulation.moveaxis(padded, axis, -1)
        for index in np.ndindex(vectors.shape[:-1]):
            function(vectors[index], tuple(widths[axis]), axis, options)
    return padded


def _widths(given: Any, ndim: int) -> list[list[int]]:
    if isinstance(given, dict):
        pairs: list[Any] = [(0, 0)] * ndim
        for axis, width in given.items():
            pairs[layout.normalize_axis(axis, ndim)] = np.broadcast_to(width, 2)
        given = pairs
    widths = np.asarray(given)
    if widths.dtype.kind not in "iu" and widths.size:
        raise TypeError("`pad_width` must be of integral type.")
    if (widths < 0).any():
        raise ValueError("index can't contain negative values")
    return _pairs(widths, ndim) if ndim else []


def _pad_constant(array: Any, widths: list[list[int]], value: Any) -> Any:
    """Return a copy surrounded by items with one value."""
    shape = tuple(n + sum(width) for n, width in zip(array.shape, widths))
    wide = primitives.empty(array, shape, array.dtype)
    if wide.size > array.size:
        wide.fill(array.dtype.type(value) if value else 0)
    start = sum(width[0] * stride for width, stride in zip(widths, wide.strides))
    inner = wide._view(array.shape, wide.strides, wide.offset + start)
    inner._copy_from(array)
    primitives.changed(wide, inner)
    return wide


_NAMES: set[str] = set()  # names of cached launches
_MOST = 256  # names are never removed


def _pad_by_indices(array: Any, widths: list[list[int]], mode: str) -> Any:
    """Repeat items in the order of the mode, in one launch."""
    for axis, (n, width) in enumerate(zip(array.shape, widths)):
        if n == 0 and any(width):
            raise ValueError(
                f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
            )
    name, given = f"pad {mode} {widths}", array
    if name in _NAMES:
        cached = array.backend.table.plans.run(name, array)
        if cached is not None:
            return cached
    array = array._aligned()
    shape = tuple(n + sum(width) for n, width in zip(array.shape, widths))
    out = primitives.empty(array, shape, array.dtype)
    if out.size == 0:
        return out
    backend, dtype, ndim = array.backend, array.dtype, array.ndim
    moved = np.dtype(f"u{dtype.itemsize}") if dtype.itemsize in (1, 2, 4, 8) else dtype
    if dtype.kind not in "biuf" or dtype.itemsize not in (1, 2, 4, 8):
        moved = np.dtype(f"V{dtype.itemsize}")
    key = ("pad", mode, moved, ndim)
    kernel = kernel_cache.get(backend, key, lambda: (pad_text.source(moved, ndim, mode), "pad"))
    numbers = [out.size]
    for m, n, width, stride in zip(shape, array.shape, widths, array.strides):
        numbers += [m, n, width[0], stride]
    groups, size = kernel_cache.grid(backend, out.size)
    primitives.launch(array, kernel, groups, size, [array], [out], numbers)
    if array is given and (name in _NAMES or len(_NAMES) < _MOST):
        _NAMES.add(name)
        again = launch_cache.step(backend, kernel, groups, size, (0, launch_cache.RESULT), numbers)
        backend.table.plans.add(name, 0, (array,), None, out, (again,))
    return out


def _reflect_odd(array: Any, axis: int, width: list[int], mode: str) -> Any:
    """Reflect items at the outermost ones along an axis, also in value: 2 * edge - item."""
    n = array.shape[axis]
    if n == 0 and any(width):
        raise ValueError(
            f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
        )
    x = np.arange(-width[0], n + width[1])
    period = max(2 * (n - 1), 1) if mode == "reflect" else 2 * n
    rounds, index = np.divmod(x, period)
    turned = index >= n
    index = np.where(turned, (period if mode == "reflect" else period - 1) - index, index)
    index = np.clip(index, 0, n - 1)
    items = advanced_indexing.take(array, index, axis)
    first, last = (advanced_indexing.take(array, [k], axis) for k in (0, n - 1))
    if array.dtype.kind in "iu":
        kind = array.dtype
    elif dtypes.is_date(array.dtype):
        kind = np.dtype(np.int64)
    else:
        kind = np.empty(0, array.dtype).real.dtype
    spread = [1] * array.ndim
    spread[axis] = x.size

    def factor(values: Any) -> Any:
        return array._from_host(values.astype(kind).reshape(spread))

    more = factor(2 * rounds) * (last - first) + factor(2 * turned) * last
    return primitives.astype(items * factor(1 - 2 * turned) + more, array.dtype)


def _add_borders(array: Any, axis: int, width: list[int], borders: list[Any]) -> Any:
    """Return a copy between two borders along an axis; None: a border that is left
    uninitialized."""
    before, n = width[0], array.shape[axis]
    shape = list(array.shape)
    shape[axis] += sum(width)
    wide = primitives.empty(array, tuple(shape), array.dtype)
    lead = (slice(None),) * axis
    wide[(*lead, slice(before, before + n))] = array
    for part, border, many in (
        (slice(None, before), borders[0], before),
        (slice(before + n, None), borders[1], width[1]),
    ):
        if many and border is not None:
            wide[(*lead, part)] = border
    return wide


def _ramp(array: Any, axis: int, n: int, end: Any, after: int) -> Any:
    """Return n items from an end value to the outermost item, in float64 as numpy.linspace."""
    edge = array[(slice(None),) * axis + (slice(-1, None) if after else slice(0, 1),)]
    kind = np.result_type(array.dtype, np.float64)
    if not array.backend.limits.fp64 and array.dtype.itemsize <= 4:
        kind = np.dtype(np.float32)
    shape = [1] * array.ndim
    shape[axis] = n
    steps = np.arange(n)[::-1] if after else np.arange(n)
    step = array._from_host(steps.astype(kind).reshape(shape))
    values = (primitives.astype(edge, kind) - kind.type(end)) / kind.type(max(n, 1)) * step
    values = values + kind.type(end)
    return ufuncs.call("floor", (values,)) if array.dtype.kind in "iu" else values


def _statistic(mode: str, array: Any, axis: int, length: Any, after: int) -> Any:
    """Return a statistic of the outermost items, of which there are *length*, None: all."""
    n = array.shape[axis]
    many = n if length is None else min(int(length), n)
    if many < 0:
        raise ValueError("index can't contain negative values")
    if many == 0 and mode in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    lead = (slice(None),) * axis
    part = array[(*lead, slice(n - many, None) if after else slice(0, many))]
    if mode == "median":
        found = statistics.median(part, axis, keepdims=True)
    else:
        found = part._reduce(
            {"maximum": "max", "minimum": "min"}.get(mode, mode), axis, keepdims=True
        )
    if array.dtype.kind in "iu" and mode in ("mean", "median"):
        found = joining.round(found)
    return found
