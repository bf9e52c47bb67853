"""Cumulative sums and products along an axis, for arrays of any strides.

NVIDIA's GPUs scan long rows in a single pass over memory, which adds floating-point numbers in an
order that depends on the progress of groups: the last bits of such results may differ between
runs. On other devices a running group is not guaranteed to progress while another waits for it, so
rows are split into parts whose sums are computed first; those results, and those of integers, are
always the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu import _array
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.accumulators import _number_of_acc, _size, _sum_like
from pygpu._src.codegen.kernels import decoupled_lookback
from pygpu._src.codegen.kernels import scan as scan_text
from pygpu._src.runtime import kernel_cache

from . import layout, primitives
from .launch_cache import RESULT, SCRATCH, step
from .reduction import _check_out, _result_dtypes

if TYPE_CHECKING:
    from pygpu._src.runtime.backend import Backend, Limits

DType = np.dtype[Any]


def _operation(kind: str, x: DType, number: DType, out: DType) -> tuple[str, int]:
    """Return (source before the kernels, bytes of a scan_t)."""
    acc, none, item, join = _sum_like(kind, x, number)
    if number.kind == "c" and kind == "prod":
        code = dtypes.code(number)
        none, join = f"pg_{code}_make(1, 0)", f"pg_{code}_mul(a, b)"
    value = dtypes.load(x, "p", "0")
    store = dtypes.store(out, "p", "0", _number_of_acc(number, "v"), number)
    text = f"""\
typedef {dtypes.storage_type(x)} X;
typedef {dtypes.storage_type(out)} Y;
typedef {acc} scan_t;
PG_INLINE scan_t scan_none(void) {{ return {none}; }}
PG_INLINE scan_t scan_join(scan_t a, scan_t b) {{ return {join}; }}
#define SCAN_VALUE {dtypes.compute_type(x)} x = {value}; return {item};
#define SCAN_PUT {store}
PG_INLINE scan_t scan_load(PG_GLOBAL const X *p) {{ SCAN_VALUE }}
PG_INLINE void scan_store(PG_GLOBAL Y *p, scan_t v) {{ SCAN_PUT }}
"""
    return text, number.itemsize if number.kind == "c" else _size(acc)


def scan(kind: str, a: Any, axis: int | None = None, *, dtype: Any = None, out: Any = None) -> Any:
    """Compute "cumsum" or "cumprod" along an axis; None: of all items in C order, in one axis.

    dtype as for reductions: small integers become int64 or uint64. Raises np.exceptions.AxisError,
    ValueError for an out of another shape, TypeError for one that cannot hold the result.
    """
    if dtype is None and out is None:
        cached = _array._reduce(kind, axis, False, a)
        if cached is not None:
            return cached
    plain = dtype is None and out is None and a._is_aligned and (axis is not None or a.ndim == 1)
    extra = _array._axes(axis, False) if plain else -1
    a = a._aligned()
    call, kind = kind, kind.removeprefix("cum")
    dtype = None if dtype is None else dtypes.native(dtype, call)
    number, result_dtype = _result_dtypes(kind, a, dtype, out)
    dtypes.require(a.backend, call, a.dtype, number, dates=True)
    if layout.axis_argument(axis) is None:
        if a.ndim != 1:
            a = primitives.flat(a)
        axis = 0
    elif a.ndim == 0:
        layout.normalize_axis(axis, 1, call)
        a = primitives.reshape(a, (1,))
        axis = 0
    axis = layout.normalize_axis(axis, a.ndim)
    if out is None:
        out = primitives.empty(a, a.shape, result_dtype)
    else:
        _check_out(call, out, a.shape, result_dtype, a)
        if dtypes.is_date(a.dtype) and out.dtype != result_dtype:
            out[...] = scan(call, a, axis, dtype=dtype)  # in another unit
            return out
    primitives.warn_of_real(a.dtype, number)
    if a.size == 0:
        return out
    if out.base_data is a.base_data and not layout.same_elements(
        (a.offset, a.shape, a.strides), (out.offset, out.shape, out.strides)
    ):
        a = a.copy()
    steps, scratch = _run(kind, a, axis, number, out)
    if extra >= 0 and steps:
        a.backend.table.plans.add(call, extra, (a,), None, out, steps, scratch)
    return out


def _look_back(
    kernel: Any,
    a: Any,
    out: Any,
    rows: int,
    tiles: int,
    size: int,
    shape: decoupled_lookback.Shape,
    n: int,
    layout_numbers: Sequence[int],
) -> None:
    """Launch scan_lookback, which needs memory for the states of its tiles."""
    backend: Backend = a.backend
    total = rows * tiles
    nbytes = 16 + 2 * size * total if size <= 8 else 32 + 4 * (total + 4) + 2 * size * total
    state = primitives.scratch(a, nbytes)
    cleared = 16 + (2 * size * total if size <= 8 else 4 * total)
    state._set_event(backend.fill(a.queue, state.base_data, 0, cleared))
    groups = min(total, backend.limits.units * shape.groups)
    numbers = [rows, n, tiles, *layout_numbers]
    primitives.launch(a, kernel, groups, shape.group, [a], [out, state], numbers)


def _shares(limits: Limits, lanes: bool, rows: int, n: int) -> tuple[int, int, int]:
    """Return (parts of a row, groups, group size) of scan_lanes or scan_groups."""
    units = limits.units
    if limits.is_cpu:
        workers = max(min(units * 4, rows * n // limits.share), 1)
        segments = 1 if rows >= workers else -(-workers // rows)
        return segments, min(rows * segments, workers), 1
    group = scan_text.GROUP
    if lanes:
        segments = max(min(-(-units * 1024 // rows), n // 64, 256), 1)
        return segments, min(-(-rows * segments // group), 1 << 20), group
    segments = 1
    if rows < units * 4:
        segments = max(min(-(-units * 8 // rows), n // 8192), 1)
    return segments, min(rows * segments, 1 << 20), group


def _run(kind: str, a: Any, axis: int, number: DType, out: Any) -> tuple[Any, Any]:
    """Launch. Returns the arguments of Plans.add() that repeat it, empty if impossible."""
    backend: Backend = a.backend
    n = a.shape[axis]
    kept_shape, (x_kept, y_kept) = layout.collapse(
        *(t[:axis] + t[axis + 1 :] for t in (a.shape, a.strides, out.strides))
    )
    rows = prod(kept_shape)
    x_step, y_step = a.strides[axis], out.strides[axis]
    text, size = _operation(kind, a.dtype, number, out.dtype)
    features = dtypes.features(a.dtype, number, out.dtype)
    dense = n == 1 or (x_step == a.itemsize and y_step == out.itemsize)
    layout_numbers = [*kept_shape[1:], *x_kept, *y_kept, x_step, y_step]
    key = (kind, *map(dtypes.unitless, (a.dtype, number, out.dtype)), len(kept_shape))
    units, cpu = backend.limits.units, backend.limits.is_cpu
    kept = len(kept_shape)
    vector = max(16 // max(out.itemsize, a.itemsize, size), 1)
    shape = decoupled_lookback.CHOSEN[backend.name, size <= 4]
    tile = shape.group * shape.vectors * vector
    # OpenCL cannot convert halves from registers.
    warps = backend.limits.warps and not (backend.name == "opencl" and "half" in features)
    if warps and dense and n > tile and rows < units * 8:
        kernel = kernel_cache.get(
            backend,
            ("scan_lookback", shape, *key),
            lambda: (
                text + scan_text.lookback_source(kept, size, vector, shape),
                "scan_lookback",
            ),
            features | {"atomics", "warps"},
        )
        _look_back(kernel, a, out, rows, -(-n // tile), size, shape, n, layout_numbers)
        return (), ()
    lanes = cpu or n <= 64 or (not dense and rows > 1)
    segments, groups, group_size = _shares(backend.limits, lanes, rows, n)
    sums = segments > 1
    name = "scan_lanes" if lanes else "scan_groups"

    def make(wanted: str) -> Any:
        source = (
            scan_text.lanes_source(kept, sums)
            if lanes
            else scan_text.groups_source(kept, sums, size)
        )
        return kernel_cache.get(
            backend, (wanted, name, *key, sums), lambda: (text + source, wanted), features
        )

    numbers = [rows, n, segments, *layout_numbers]
    if not sums:
        primitives.launch(a, make(name), groups, group_size, [a], [out], numbers)
        return (step(backend, make(name), groups, group_size, [0, RESULT], numbers),), ()
    parts = primitives.scratch(a, size * rows * segments)
    primitives.launch(a, make("scan_sums"), groups, group_size, [a, out], [parts], numbers)
    primitives.launch(a, make(name), groups, group_size, [a], [out, parts], numbers)
    steps = (
        step(backend, make("scan_sums"), groups, group_size, [0, RESULT, SCRATCH], numbers),
        step(backend, make(name), groups, group_size, [0, RESULT, SCRATCH], numbers),
    )
    return steps, ((np.dtype(np.uint8), size * rows * segments),)
