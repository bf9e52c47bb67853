"""Reductions and scans of arrays by any associative function, which need not be commutative.

Items are joined in C order of the reduced axes: ``f(f(a, b), f(c, d))`` may be computed for
``f(f(f(a, b), c), d)``, but never f(b, a). The function does not need a neutral element. Arrays
may have any strides; the same array gives the same bits in every run on the same device.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import associative
from pygpu._src.codegen.kernels.associative import GROUP
from pygpu._src.runtime import kernel_cache
from pygpu._src.util.frozen import Frozen
from pygpu._src.util.lazy import lazy

from . import layout, primitives
from .elementwise import as_scalar

if TYPE_CHECKING:
    from pygpu._src.runtime.backend import Backend

DType = np.dtype[Any]


class Function(Frozen):
    """An associative function of two values of *dtype*, whose result has the same dtype.

    name: for messages. text: helper functions of the common language; join: statements that set
    ``r`` from ``a`` and ``b``, all of the compute type of dtype. key: distinguishes text and join
    from those of every other function. reduction_name: "sum", "prod", "max" or "min" if the
    function equals that one, whose kernels may join items in any order; nan then propagates.
    """

    name: str
    dtype: DType
    text: str
    join: str
    key: Hashable
    features: frozenset[str] = frozenset()
    reduction_name: str | None = None


def _item(x: DType, number: DType) -> str:
    return dtypes.cast(dtypes.from_bits(x, "x"), x, number)


def _text(function: Function, x: DType, y: DType) -> str:
    number = function.dtype
    kind = dtypes.compute_type(number)
    return f"""\
{function.text}typedef {dtypes.storage_type(x)} X;
typedef {dtypes.storage_type(y)} Y;
typedef {dtypes.storage_type(number)} P;
typedef {kind} T;
PG_INLINE T ord_join(T a, T b)
{{
    T r;
    {function.join}
    return r;
}}
PG_INLINE T ord_item(X x) {{ return {_item(x, number)}; }}
PG_INLINE T ord_part(P x) {{ return {_item(number, number)}; }}
PG_INLINE void ord_store(PG_GLOBAL Y *p, T v) {{ {dtypes.store(y, "p", "0", "v", number)} }}
"""


def _initial_text(number: DType) -> tuple[str, str]:
    """Return the parameters of an initial value, and an expression for it."""
    code = dtypes.code(number)
    if code[0] == "c":
        part = "pg_f32" if code == "c64" else "pg_f64"
        return f"{part} initial_re, {part} initial_im", f"pg_{code}_make(initial_re, initial_im)"
    return f"{dtypes.compute_type(number)} initial", "initial"


def _begin_text(number: DType) -> tuple[str, str]:
    """Return the parameters of an initial value, and the statement that joins it to ``acc``."""
    parameters, value = _initial_text(number)
    return parameters, f"acc = ord_join({value}, acc);"


def _initial_args(value: Any, number: DType) -> list[Any]:
    if number.kind == "c":
        part = np.float32 if number.itemsize == 8 else np.float64
        z = complex(value)
        return [part(z.real), part(z.imag)]
    return [as_scalar(value, number)]


def _features(function: Function, *others: DType) -> frozenset[str]:
    return function.features | dtypes.features(function.dtype, *others)


class _Plan(Frozen):
    """One launch; parts: (rows, segments) of partial results for a second launch, or None."""

    kernel: Any
    groups: int | tuple[int, ...]
    group_size: int | tuple[int, ...]
    numbers: tuple[Any, ...]
    begins: bool = False  # whether the kernel takes an initial value and a flag for it
    parts: tuple[int, int] | None = None
    kept: int = 1  # number of kept axes in the kernel

    def arguments(self, initial: Any, number: DType) -> tuple[Any, ...]:
        if self.begins:
            value = _initial_args(0 if initial is None else initial, number)
            return (*self.numbers, *value, int(initial is not None))
        begin = [] if initial is None else _initial_args(initial, number)
        return (*self.numbers, *begin)


def reduce(
    function: Function,
    a: Any,
    axes: tuple[int, ...],
    out: Any,
    initial: Any = None,
    least: int = 1,
) -> None:
    """Reduce the array *a* over *axes* into *out*, an array of the kept axes in order.

    initial: the first number, as for Python's functools.reduce; None for none. least: the least
    number of kept axes in the kernel, so that a compiled one can be used. Raises ValueError if
    there is nothing to reduce and no initial value.
    """
    a = a._aligned()
    kept = tuple(k for k in range(a.ndim) if k not in axes)
    number = function.dtype
    dtypes.require(a.backend, function.name, a.dtype, number, out.dtype, dates=True)
    if prod(a.shape[k] for k in axes) == 0:
        if initial is None:
            raise ValueError(
                f"zero-size array to reduction operation {function.name}: shape {a.shape} has no "
                f"items to reduce along {axes}; give an initial value"
            )
        if out.size == 0:
            return
        primitives.fill(out, initial)
        return
    if out.size == 0:
        return
    if function.reduction_name is not None:
        lazy("pygpu._src.array.reduction").reduce(
            function.reduction_name, a, axes, dtype=number, out=out, initial=initial
        )
        return
    form = (function.key, number, out.dtype, out.strides, initial is not None, least)
    key = ("ordered", a.dtype, a.shape, a.strides, axes, *form)
    plan = a.backend.kernels.get(key)
    if plan is None:
        plan = _plan(function, a, kept, axes, out, initial is not None, least)
        kernel_cache.keep_plan(a.backend, "ordered plans", key, plan)
    if plan is _COPY:  # the items of a result are far apart
        order = (*kept, *axes)
        view = a._view(
            tuple(a.shape[k] for k in order), tuple(a.strides[k] for k in order), a.offset
        )
        dense = primitives.empty(a, view.shape, a.dtype)
        dense._copy_from(view)
        reduce(function, dense, tuple(range(len(kept), a.ndim)), out, initial)
        return
    if plan.parts is None:
        numbers = plan.arguments(initial, number)
        primitives.launch(a, plan.kernel, plan.groups, plan.group_size, [a], [out], numbers)
        return
    parts = primitives.empty(a, plan.parts, number)
    numbers = plan.arguments(None, number)
    primitives.launch(a, plan.kernel, plan.groups, plan.group_size, [a], [parts], numbers)
    _join_parts(function, parts, out, initial, plan.kept)


def _join_parts(function: Function, parts: Any, out: Any, initial: Any, kept: int) -> None:
    """Reduce the parts of each result, an array with two axes, into *out*. kept: see reduce()'s
    least."""
    flat = out if out.ndim == 1 else _flat_out(out)
    if flat is None:
        dense = primitives.empty(out, out.shape, out.dtype)
        flat = dense._view((out.size,), (out.itemsize,), 0)
        reduce(function, parts, (1,), flat, initial, kept)
        out._copy_from(dense)
    else:
        reduce(function, parts, (1,), flat, initial, kept)
        primitives.changed(out, flat)


def _flat_out(out: Any) -> Any:
    strides = layout.reshape_strides(out.shape, out.strides, out.itemsize, (out.size,))
    return None if strides is None else out._view((out.size,), strides, out.offset)


_COPY: Any = "copy"
RESIDENT = 32  # groups with parts of rows per unit, which runs some of them at once
ALONE = 4  # groups with a single row, however short, that a unit may get


def _plan(
    function: Function,
    a: Any,
    kept_axes: tuple[int, ...],
    axes: tuple[int, ...],
    out: Any,
    initial: bool,
    least: int,
) -> Any:
    limits = a.backend.limits
    kept_shape, (x_kept, y_kept) = layout.collapse_in_order(
        tuple(a.shape[k] for k in kept_axes),
        tuple(a.strides[k] for k in kept_axes),
        tuple(out.strides),
    )
    red_shape, (x_red,) = layout.collapse_in_order(
        tuple(a.shape[k] for k in axes), tuple(a.strides[k] for k in axes)
    )
    n_out, n_red = prod(kept_shape), prod(red_shape)
    size = a.dtype.itemsize
    beside = n_out >= 64 and 0 < abs(x_kept[-1]) <= 16  # neighbouring results are adjacent
    if not limits.is_cpu and len(red_shape) == 1 and x_red == (size,):
        each = associative.chunk(size, limits.local_bytes, max(function.dtype.itemsize, 4))
        if n_red * 2 > GROUP * each or n_out <= limits.units * ALONE:
            more = max(least - len(kept_shape), 0)
            layout_numbers = ((1,) * more + kept_shape, (0,) * more + x_kept, (0,) * more + y_kept)
            return _row_plan(function, a, out, n_red, *layout_numbers)
        if n_red >= 8:
            return _tile_plan(function, a, out, n_red, each, kept_shape, x_kept, y_kept)
    if not limits.is_cpu and not beside and n_red >= 64:
        return _COPY
    if limits.is_cpu:
        workers = max(min(limits.units * 4, n_out * n_red >> 12), 1)
    else:
        workers = limits.units * 1024
    segments = max(min(workers // n_out, n_red // 32), 1)
    segments = -(-n_red // -(-n_red // segments))
    groups, group_size = kernel_cache.grid(a.backend, n_out * segments)
    if limits.is_cpu:
        groups = min(workers, n_out * segments)
    parts = segments > 1
    begin = ("", "") if parts or not initial else _begin_text(function.dtype)
    kept, reduced = len(kept_shape), len(red_shape)
    kernel = _kernel(
        function,
        a,
        function.dtype if parts else out.dtype,
        ("ord_walk", kept, reduced, parts, begin),
        lambda: associative.walk_source(kept, reduced, parts, *begin),
    )
    numbers = (n_out, n_red, segments, *kept_shape[1:], *red_shape[1:], *x_kept, *x_red, *y_kept)
    shape = (n_out, segments) if parts else None
    return _Plan(kernel, groups, group_size, numbers, parts=shape)


def _row_plan(
    function: Function,
    a: Any,
    out: Any,
    n_red: int,
    kept_shape: tuple[int, ...],
    x_kept: tuple[int, ...],
    y_kept: tuple[int, ...],
) -> _Plan:
    """Plan a work-group per row, or per part of it."""
    number, n_out, kept = function.dtype, prod(kept_shape), len(kept_shape)
    size, limits = a.dtype.itemsize, a.backend.limits
    loads = associative.row_loads(size, limits.local_bytes, max(number.itemsize, 4))
    tile = associative.row_items(size, loads)
    tiles = -(-n_red // tile)
    length = -(-tiles // max(min(limits.units * RESIDENT // n_out, tiles), 1)) * tile
    segments = -(-n_red // length)  # none of the parts is empty
    parts = segments > 1
    if parts:
        y_kept = layout.c_strides((*kept_shape, segments), number.itemsize)[:-1]
    initial = _initial_text(number)
    kernel = _kernel(
        function,
        a,
        number if parts else out.dtype,
        ("ord_row", kept),
        lambda: associative.row_source(kept, loads, size, *initial),
        quick=True,
    )
    numbers = (n_red, length, number.itemsize, *kept_shape[1:], *x_kept, *y_kept)
    shape = (n_out, segments) if parts else None
    return _Plan(kernel, (n_out, segments), (GROUP, 1), numbers, True, parts=shape, kept=kept)


def _tile_plan(
    function: Function,
    a: Any,
    out: Any,
    n_red: int,
    each: int,
    kept_shape: tuple[int, ...],
    x_kept: tuple[int, ...],
    y_kept: tuple[int, ...],
) -> _Plan:
    """Plan a work-group for several rows."""
    n_out, kept, size = prod(kept_shape), len(kept_shape), a.dtype.itemsize
    initial = _initial_text(function.dtype)
    kernel = _kernel(
        function,
        a,
        out.dtype,
        ("ord_tile", kept),
        lambda: associative.tile_source(kept, each, size, *initial),
        quick=True,
    )
    lanes = min(primitives.power_of_two(-(-n_red // each)), GROUP)
    dense = int(x_kept == (n_red * size,))
    numbers = (n_out, n_red, lanes, dense, *kept_shape[1:], *x_kept, *y_kept)
    return _Plan(kernel, -(-n_out // (GROUP // lanes)), GROUP, numbers, True)


def _kernel(
    function: Function,
    a: Any,
    y: DType,
    key: tuple[Any, ...],
    make: Callable[[], str],
    quick: bool = False,
) -> Any:
    return kernel_cache.get(
        a.backend,
        ("ordered", function.key, function.dtype, a.dtype, y, key),
        lambda: (_text(function, a.dtype, y) + make(), key[0]),
        _features(function, a.dtype, y),
        quick=quick,
    )


def scan(function: Function, a: Any, axis: int, out: Any) -> None:
    """Compute out[i] = a[0] o ... o a[i] along *axis*, for an array *out* of the same shape."""
    a = a._aligned()
    backend: Backend = a.backend
    number = function.dtype
    dtypes.require(backend, function.name, a.dtype, number, out.dtype, dates=True)
    if a.size == 0:
        return
    if function.reduction_name in ("sum", "prod"):
        kind = f"cum{function.reduction_name}"
        lazy("pygpu._src.array.scan").scan(kind, a, axis, dtype=number, out=out)
        return
    n = a.shape[axis]
    kept_shape, (x_kept, y_kept) = layout.collapse_in_order(
        *(t[:axis] + t[axis + 1 :] for t in (a.shape, a.strides, out.strides))
    )
    rows, limits = prod(kept_shape), backend.limits
    if limits.is_cpu:
        most = max(min(limits.units * 4 // rows, n // 1024), 1)
        length = -(-n // most)
    else:
        most = max(min(limits.units * 4 // rows, n // 4096), 1)
        length = -(-n // (most * GROUP)) * GROUP
    segments = -(-n // length)
    carried = segments > 1
    kept = len(kept_shape)
    kernel = kernel_cache.get(
        backend,
        ("ordered scan", function.key, number, a.dtype, out.dtype, kept, carried),
        lambda: (
            _text(function, a.dtype, out.dtype)
            + associative.scan_source(kept, carried, limits.is_cpu),
            "ord_scan",
        ),
        _features(function, a.dtype, out.dtype),
    )
    layout_numbers = [*kept_shape[1:], *x_kept, *y_kept, a.strides[axis], out.strides[axis]]
    numbers = [rows, n, segments, length, *layout_numbers]
    groups = min(rows * segments, 1 << 20)
    size = 1 if limits.is_cpu else GROUP
    if not carried:
        primitives.launch(a, kernel, groups, size, [a], [out], numbers)
        return
    # The parts except the last, each reduced, then scanned: the prefixes of the second, the
    # third...
    parts = primitives.empty(a, (rows, segments), number)
    whole = segments - 1
    order = [k for k in range(a.ndim) if k != axis]
    lead = tuple(a.shape[k] for k in order)
    view = a._view(
        (*lead, whole, length),
        (*(a.strides[k] for k in order), length * a.strides[axis], a.strides[axis]),
        a.offset,
    )
    sums = primitives.empty(a, (*lead, whole), number)
    reduce(function, view, (a.ndim,), sums)
    scanned = parts._view((*lead, whole), layout.c_strides((*lead, segments), number.itemsize), 0)
    scan(function, sums, len(lead), scanned)
    parts.events = scanned.events
    _launch_carried(a, kernel, groups, size, parts, out, numbers)


def _launch_carried(
    a: Any, kernel: Any, groups: int, size: int, parts: Any, out: Any, numbers: list[Any]
) -> None:
    """Launch with the parts, which are read, after the arrays that are written."""
    queue = a._queue()
    args = [a.base_data, a.offset, out.base_data, out.offset, parts.base_data, parts.offset]
    waits = a.backend.wait_list(queue, [a, parts, out])
    event = a.backend.launch(kernel, queue, groups, size, [*args, *numbers], wait_for=waits)
    a.backend.note_event(queue, event, [out], [a, parts])
