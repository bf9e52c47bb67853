"""Sorting along an axis: sort, argsort, searchsorted, unique. All sorts are stable.

The order is NumPy's: NaN comes last, complex numbers are ordered by real part, then imaginary
part. sort() puts -0.0 before 0.0, which NumPy considers equal, and returns NaN without their sign.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import onesweep, radix_sort
from pygpu._src.runtime import kernel_cache
from pygpu._src.util.lazy import lazy

from . import elementwise, layout, primitives, single_group, ufuncs
from .advanced_indexing import nonzero, take, take_along_axis
from .launch_cache import RESULT, step
from .masks import compress, start_compress
from .scan import scan

if TYPE_CHECKING:
    from pygpu._src.runtime.backend import Backend


_SMALL_KEYS = 30  # bits of a count in onesweep's states
_WIDE = 1 << 32  # from this many items per row on, counts and positions have 64 bits


def _rows_last(a: Any, axis: int) -> Any:
    """Return a copy or view in C order with *axis* last."""
    order = [k for k in range(a.ndim) if k != axis] + [axis]
    shape = tuple(a.shape[k] for k in order)
    strides = tuple(a.strides[k] for k in order)
    view = a._view(shape, strides, a.offset)
    if layout.flags(shape, strides, a.itemsize)[0]:
        return view
    copy = primitives.empty(a, shape, a.dtype)
    copy._copy_from(view)
    return copy


def _back(rows: Any, axis: int) -> Any:
    """Move the last axis back, in C order."""
    if axis == rows.ndim - 1:
        return rows
    order = list(range(rows.ndim - 1))
    order.insert(axis, rows.ndim - 1)
    view = rows._view(
        tuple(rows.shape[k] for k in order), tuple(rows.strides[k] for k in order), rows.offset
    )
    out = primitives.empty(rows, view.shape, rows.dtype)
    out._copy_from(view)
    return out


def check_kind(kind: Any, stable: Any = None) -> None:
    """Raise what NumPy raises for a wrong algorithm of sorting; all are the same stable one
    here."""
    if kind is not None and stable is not None:
        raise ValueError("sort: pass only one of kind= and stable=")
    if kind is not None and not isinstance(kind, str):
        raise TypeError(f"sort kind must be str, not {type(kind).__name__}")
    if kind is not None and (not kind or kind[0] not in "qhsmQHSM"):
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")


def sort(a: Any, axis: int | None = -1, order: Any = None) -> Any:
    """Return a sorted copy along an axis (None: of the flat array). order: fields of records to
    compare first. Raises np.exceptions.AxisError."""
    if order is not None:
        return lazy("pygpu._src.array.record_order").sort(argsort, a, axis, order)
    return _sorted(a, axis, False)


def argsort(a: Any, axis: int | None = -1, order: Any = None) -> Any:
    """Return the int64 indices that sort along an axis; equal items keep their order."""
    if order is not None:
        return lazy("pygpu._src.array.record_order").argsort(argsort, a, axis, order)
    return _sorted(a, axis, True)


def _sorted(a: Any, axis: int | None, positions: bool) -> Any:
    call = "argsort" if positions else "sort"
    name = f"{call} {axis}" if axis is None or type(axis) is int else ""
    cached = a.backend.table.plans.run(name, a)
    if cached is not None:
        return cached
    given = a
    a = a._aligned()
    if not dtypes.computes(a.dtype):
        if a.dtype.type is np.void:
            records = lazy("pygpu._src.array.record_order")
            return (records.argsort if positions else records.sort)(argsort, a, axis)
        raise TypeError(f"{call}: a device does not sort dtype {a.dtype}")
    if axis is None:
        a, axis = primitives.flat(a), -1
    elif positions:
        layout.axis_argument(axis)
    if a.ndim == 0:
        layout.normalize_axis(axis, 1 if positions else 0)  # as in NumPy
        return primitives.as_array(a, np.zeros(1, np.int64))
    axis = layout.normalize_axis(axis, a.ndim)
    if a.size == 0:
        return primitives.empty(a, a.shape, np.int64 if positions else a.dtype)
    if a.dtype.kind == "c":
        order = _complex_order(a, axis)
        return order if positions else take_along_axis(a, order, axis)
    rows = _rows_last(a, axis)
    out = primitives.empty(a, rows.shape, np.int64 if positions else a.dtype)
    n = rows.shape[-1]
    again = _sort_rows(rows, out, prod(rows.shape[:-1]), n, positions)
    if again is not None and name and axis == given.ndim - 1:
        if rows.base_data is given.base_data and rows.offset == given.offset:
            a.backend.table.plans.add(name, 0, (given,), None, out, (again,))
    return _back(out, axis)


def _sort_rows(x: Any, out: Any, rows: int, n: int, positions: bool) -> tuple[Any, ...] | None:
    """Returns the step of Plans.add() that repeats it, None if it takes several."""
    backend: Backend = x.backend
    cpu = backend.limits.is_cpu  # where radix sort is faster, except for its launches
    if n <= radix_sort.SMALL and (not cpu or n <= 64 or (n <= 512 and rows <= 8)):
        dtype = x.dtype
        kernel = _kernel(
            backend, dtype, positions, "small", (), lambda: radix_sort.small_source(positions)
        )
        size = primitives.power_of_two(n)
        group = 1 if cpu else max(min(size // 2, radix_sort.GROUP), 32)
        groups = min(rows, backend.limits.units * 4 if cpu else 1 << 20)
        primitives.launch(x, kernel, groups, group, [x], [out], [rows, n, size])
        return step(backend, kernel, groups, group, (0, RESULT), [rows, n, size])
    elif backend.limits.warps and n < 1 << _SMALL_KEYS and rows <= 8 and n >= 1 << 14:
        for row in range(rows):
            x_row = x._view((n,), None, x.offset + row * n * x.itemsize)
            out_row = out._view((n,), None, out.offset + row * n * out.itemsize)
            _onesweep(backend, x_row, out_row, n, positions)
        primitives.changed(out, out_row)
    else:
        _radix(backend, x, out, rows, n, positions)
    return None


def _kernel(
    backend: Backend,
    dtype: Any,
    positions: bool,
    name: str,
    key: tuple[Any, ...],
    text: Any,
    features: tuple[str, ...] = (),
    find: Callable[..., Any] = kernel_cache.get,
) -> Any:
    """Return the kernel *name* for keys of a dtype, in a source identified by *key*."""
    kind = "u" if dtype.kind == "b" else dtypes.code(dtype)
    return find(
        backend,
        ("sort", name, kind, dtype.itemsize, positions, key),
        lambda: (radix_sort.keys_text(dtype, positions) + text(), name),
        features,
    )


def _passes(
    x: Any, out: Any, n_all: int, passes: int, positions: bool, index_bytes: int = 4
) -> Any:
    """Return (reads, writes, first, last) of each pass, from x to out by scratch memory."""
    size = x.itemsize
    keys = [primitives.scratch(x, n_all * size) for _ in range(min(passes - 1, 2))]
    index_buffers = [
        primitives.scratch(x, n_all * index_bytes) for _ in range(len(keys) if positions else 0)
    ]
    reads: list[Any] = [x]
    for p in range(passes):
        last = p == passes - 1
        if last:
            writes = [out]
        else:
            writes = [keys[p % 2], *index_buffers[p % 2 : p % 2 + 1]]
        yield reads, writes, p == 0, last
        reads = writes


def _radix(backend: Backend, x: Any, out: Any, rows: int, n: int, positions: bool) -> None:
    cpu = backend.limits.is_cpu
    bits = 8 if cpu else 4
    passes = x.itemsize * 8 // bits
    tiles = -(-n // radix_sort.tile_items(cpu))
    if cpu:
        groups, size = min(rows * tiles, backend.limits.units * 4), 1
    else:
        groups, size = min(rows * tiles, 1 << 20), radix_sort.GROUP
    wide = n >= _WIDE
    number = np.dtype(np.uint64 if wide else np.uint32)
    counts = primitives.empty(x, (rows, (1 << bits) * tiles), number)
    ends = primitives.empty(x, counts.shape, number)
    steps = _passes(x, out, rows * n, passes, positions, number.itemsize)
    for p, (reads, writes, first, last) in enumerate(steps):

        def text(first: bool = first, last: bool = last) -> str:
            return radix_sort.radix_source(positions, first, last, cpu, wide)

        numbers = [rows, n, tiles, p * bits]
        count = _kernel(backend, x.dtype, positions, "count", (first, last, wide), text)
        primitives.launch(x, count, groups, size, reads[:1], [counts], numbers)
        scan("cumsum", counts, 1, dtype=number, out=ends)
        scatter = _kernel(backend, x.dtype, positions, "scatter", (first, last, wide), text)
        primitives.launch(x, scatter, groups, size, [*reads, ends], writes, numbers)


def _onesweep(backend: Backend, x: Any, out: Any, n: int, positions: bool) -> None:
    size, group = x.itemsize, onesweep.COUNT_GROUP
    shape = onesweep.shape_of(backend.name, size, positions)
    tiles = -(-n // (shape.each * shape.group))

    features, only = ("atomics", "warps"), size == 1

    def counting(name: str) -> Any:
        text = partial(onesweep.count_source, positions, only, size)
        return _kernel(backend, x.dtype, positions, name, (only,), text, features)

    def sweeping(find: Any) -> Any:
        text = partial(onesweep.source, positions, size, shape)
        return _kernel(backend, x.dtype, positions, "sweep", (shape,), text, features, find)

    sweeping(kernel_cache.start)
    sums = primitives.scratch(x, size * 256 * 4)
    sums._set_event(backend.fill(x.queue, sums.base_data, 0, size * 256 * 4))
    blocks = min(-(-n // (group * 16)), backend.limits.units * 16)
    primitives.launch(x, counting("histogram"), blocks, group, [x], [sums], [n])
    primitives.launch(x, counting("starts"), size, group, [], [sums])
    sweep = sweeping(kernel_cache.get)
    for p, (reads, writes, first, last) in enumerate(_passes(x, out, n, size, positions)):
        state = primitives.scratch(x, 16 + tiles * 1024)
        state._set_event(backend.fill(x.queue, state.base_data, 0, 16 + tiles * 1024))
        if positions:  # every pass has the same parameters; what it does not use is anything
            reads = [reads[0], sums] if first else reads
            writes = [state, out] if last else writes
        ends = (onesweep.FIRST if first else 0) | (onesweep.LAST if last else 0)
        numbers = [n, 8 * p, ends]
        primitives.launch(x, sweep, tiles, shape.group, [*reads, sums], [*writes, state], numbers)


def _part(a: Any, name: str) -> Any:
    """The real or imaginary part of a complex array, a view."""
    real = np.dtype(f"f{a.itemsize // 2}")
    return a._view(a.shape, a.strides, a.offset + (a.itemsize // 2 if name == "imag" else 0), real)


def _complex_order(a: Any, axis: int) -> Any:
    """Sort by imaginary part, then (stable) by real part, then by which parts are NaN."""
    real, imag = _part(a, "real"), _part(a, "imag")
    order = argsort(imag, axis)
    order = take_along_axis(order, argsort(take_along_axis(real, order, axis), axis), axis)
    kind = primitives.empty(a, a.shape, np.uint8)
    operation = elementwise.Operation(
        "nan kind",
        (real.dtype, real.dtype),
        (np.dtype(np.uint8),),
        "y0 = (pg_u8)((x0 != x0 ? 2 : 0) + (x1 != x1 ? 1 : 0));",
    )
    elementwise.run(operation, [kind], [real, imag], a.shape)
    return take_along_axis(order, argsort(take_along_axis(kind, order, axis), axis), axis)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Implement numpy.searchsorted: the positions of v in the sorted array a, int64.

    side: "left" or "right" of equal items. v may be a number or a host array. Raises ValueError.
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', not {side!r}")
    if a.ndim != 1:
        raise ValueError(f"searchsorted: the sorted array must have one axis, not {a.ndim}")
    a = a._aligned()
    if sorter is not None:
        if np.ndim(sorter) != 1:
            raise TypeError(f"searchsorted: sorter must have one axis, not {np.ndim(sorter)}")
        if np.size(sorter) != a.size:
            raise ValueError(
                f"searchsorted: sorter has {np.size(sorter)} indices for {a.size} items"
            )
        a = take(a, sorter)
    if not primitives.is_array(v) and not isinstance(v, (int, float, complex, np.generic)):
        v = ufuncs.to_operand(v, a) if isinstance(v, (date, timedelta)) else np.asarray(v)
        if a.dtype.type is not np.void and dtypes.kind(v.dtype) not in "biufcmM":
            raise TypeError(f"searchsorted: v must hold numbers, not items of dtype {v.dtype}")
    records = lazy("pygpu._src.array.record_order")
    if a.dtype.type is np.void:
        v = primitives.as_array(a, v, call="searchsorted")
        return records.searchsorted(lambda both: records.argsort(argsort, both), a, v, side)
    dtype = dtypes.result_type(a, v)
    v = primitives.as_array(a, v, dtype, "searchsorted")
    if dtype.kind == "c":
        return records.searchsorted(argsort, primitives.astype(a, dtype), v, side)
    values = [primitives.astype(b._aligned(), dtype) for b in (a, v)]
    x, wanted = (
        b if layout.flags(b.shape, b.strides, b.itemsize)[0] else _rows_last(b, b.ndim - 1)
        for b in values
    )
    out = primitives.empty(a, v.shape, np.int64)
    kernel = _kernel(a.backend, dtype, True, "search", (), radix_sort.search_source)
    groups, size = kernel_cache.grid(a.backend, max(out.size, 1))
    if out.size:
        numbers = [x.size, out.size, int(side == "right")]
        primitives.launch(a, kernel, groups, size, [x, wanted], [out], numbers)
    return out


def _firsts_kernel(
    backend: Backend, dtype: np.dtype[Any], equal_nan: bool, find: Callable[..., Any]
) -> Any:
    return find(
        backend,
        ("sort", "firsts", dtype, equal_nan),
        lambda: (radix_sort.firsts_source(dtype, equal_nan), "firsts"),
        dtypes.features(dtype),
    )


def _is_first(a: Any, equal_nan: bool) -> Any:
    """Return, for each of the sorted items of *a*, whether it is the first of equal ones."""
    n, size = a.size, a.itemsize
    first = primitives.empty(a, (n,), np.bool_)
    if n and a.dtype.type is not np.void:
        kernel = _firsts_kernel(a.backend, a.dtype, equal_nan, kernel_cache.get)
        groups, group = kernel_cache.grid(a.backend, n)
        primitives.launch(a, kernel, groups, group, [a], [first], [n])
    elif n:
        head = first._view((1,), None, first.offset)
        primitives.fill(head, True)
        primitives.changed(first, head)
    if n > 1 and a.dtype.type is np.void:
        left = a._view((n - 1,), (size,), a.offset)
        right = a._view((n - 1,), (size,), a.offset + size)
        rest = first._view((n - 1,), (1,), first.offset + 1)
        rest._copy_from(ufuncs.call("not_equal", (left, right)))
        primitives.changed(first, rest)
    return first


def _inverse(first: Any, order: Any) -> Any:
    """Return, for each item, its index among the distinct ones."""
    inverse = primitives.empty(first, first.shape, np.int64)
    if first.size:
        from .advanced_indexing import put_along_axis

        number = scan("cumsum", first, 0, dtype=np.int64)
        operation = elementwise.Operation(
            "less one", (number.dtype,), (number.dtype,), "y0 = x0 - 1;"
        )
        elementwise.run(operation, [number], [number], first.shape)
        put_along_axis(inverse, order, number, 0)
    return inverse


def _counts(starts: Any, n: int) -> Any:
    """Return how many of *n* sorted items are between each of *starts* and the next."""
    many = starts.size
    counts = primitives.empty(starts, (many,), np.int64)
    if many:
        ends = primitives.empty(starts, (many + 1,), np.int64)
        head = ends._view((many,), (8,), ends.offset)
        head._copy_from(starts)
        primitives.changed(ends, head)
        last = ends._view((1,), (8,), ends.offset + 8 * many)
        primitives.fill(last, n)
        primitives.changed(ends, last)
        i64 = np.dtype(np.int64)
        operation = elementwise.Operation("less", (i64, i64), (i64,), "y0 = x0 - x1;")
        left, right = (ends._view((many,), (8,), ends.offset + k) for k in (0, 8))
        elementwise.run(operation, [counts], [right, left], (many,))
    return counts


def unique(
    a: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    equal_nan: bool = True,
) -> Any:
    """Return the sorted distinct items of an array, as numpy.unique without an axis."""
    shape, n = a.shape, a.size
    if 0 < n <= single_group.FEW and a.dtype.type is not np.void:
        positions = return_index or return_inverse
        flat = a if a.ndim == 1 else primitives.flat(a)
        order = argsort(flat) if positions else None
        items = primitives.c_order(flat) if positions else sort(flat)
        found = single_group.distinct(
            items, order, return_index, return_inverse, return_counts, equal_nan
        )
        if return_inverse:
            found[1 + return_index] = primitives.reshape(found[1 + return_index], shape)
        return found[0] if len(found) == 1 else tuple(found)
    a = primitives.flat(a)
    order = None
    if a.size and a.dtype.type is not np.void:
        _firsts_kernel(a.backend, a.dtype, equal_nan, kernel_cache.start)
        if not (return_index or return_counts):
            start_compress(a.backend, a.dtype)
    if return_index or return_inverse:
        order = argsort(a)
        s = take(a, order, mode="clip")
    else:
        s = sort(a)
    first = _is_first(s, equal_nan)
    if not (return_index or return_counts):
        results = [compress(s, first)]
    else:
        (starts,) = nonzero(first)
        results = [take(s, starts, mode="clip")]
    if return_index:
        results.append(take(order, starts, mode="clip"))
    if return_inverse:
        results.append(primitives.reshape(_inverse(first, order), shape))
    if return_counts:
        results.append(_counts(starts, n))
    return results[0] if len(results) == 1 else tuple(results)
