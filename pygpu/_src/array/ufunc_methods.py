"""Ufuncs of two operands applied to items sequentially, like a loop: reduce, accumulate, reduceat
and at of any ufunc, including those that are not associative.

A work-item processes a run of items in order, and rounds each step to the result's dtype, as NumPy
does. Runs of at() are the items for the same position, found by a stable sort; if the order does
not matter, they are split into pieces, so that one position may get all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels.elementwise import Operation
from pygpu._src.runtime import kernel_cache

from . import advanced_indexing, layout, primitives, reduction, sort, ufuncs
from .routines import joining, manipulation

# those whose items may be joined in any order
_FREE = frozenset(
    "add multiply maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and "
    "bitwise_or bitwise_xor gcd lcm".split()
)
_PIECE = 1024  # items of a split run that a work-item joins


def _loop(name: str, dtype: Any, wanted: Any) -> Any:
    """Return the Operation that joins items of a dtype. Raises what NumPy raises."""
    ufunc = getattr(np, name)
    options = {} if wanted is None else {"signature": (np.dtype(wanted), None, None)}
    loop = ufunc.resolve_dtypes((None, dtype, None), casting="unsafe", reduction=True, **options)
    return ufuncs.operation_for(name, tuple(loop[:2]), (loop[2],))


def _step(operation: Any, cell: np.dtype[Any], item: np.dtype[Any], value: str) -> str:
    """Statements that join an item from memory to the value of ``cell``."""
    (a, b), (number,) = operation.inputs, operation.outputs
    loaded = dtypes.from_bits(item, "item")
    so_far = dtypes.cast(dtypes.load(cell, "cell", "0"), cell, a)
    return (
        f"{{ const {dtypes.storage_type(item)} item = {value}; "
        f"PG_UNUSED const {dtypes.compute_type(a)} x0 = {so_far}; "
        f"PG_UNUSED const {dtypes.compute_type(b)} x1 = {dtypes.cast(loaded, item, b)}; "
        f"{dtypes.compute_type(number)} y0; {{ {operation.body} }} "
        f"{dtypes.store(cell, 'cell', '0', 'y0', number)} }}"
    )


def _begin(cell: np.dtype[Any], item: np.dtype[Any], value: str) -> str:
    """Statements that set ``cell`` to an item from memory."""
    store = dtypes.store(cell, "cell", "0", dtypes.from_bits(item, "first"), item)
    return f"{{ const {dtypes.storage_type(item)} first = {value}; {store} }}"


def _kernel(backend: Any, key: Any, operation: Any, text: str, *kinds: np.dtype[Any]) -> Any:
    every = (*operation.inputs, *operation.outputs, *kinds)
    dtypes.require(backend, operation.name, *every, dates=True)
    names = tuple(d.str if dtypes.is_date(d) else dtypes.code(d) for d in every)
    return kernel_cache.get(
        backend,
        ("fold", operation.name, operation.key, names, key),
        lambda: (operation.helpers + text, "fold"),
        operation.features | dtypes.features(*every),
    )


def _rows(
    operation: Any, x: Any, y: Any, n: int, starts: Any = None, each: bool = False,
    begun: bool = False, mask: Any = None,
) -> None:  # fmt: skip
    """Fold rows of n items, contiguous like y. starts: the beginnings of segments, each of which
    gives a result; each: every item gives one. begun: y has the initial values. mask: which items
    are folded (for begun ones)."""
    cell = y.dtype
    many = 1 if starts is None else starts.size
    item, out = dtypes.storage_type(x.dtype), dtypes.storage_type(cell)
    of = "PG_ARRAY_IN(pg_i64, starts), " if starts is not None else ""
    of += "PG_ARRAY_IN(pg_b8, mask), " if mask is not None else ""
    where = "pg_i64 k = 0, end = n;"
    if starts is not None:
        where = (
            "const pg_i64 s = g % segments; "
            "pg_i64 k = starts[s], end = s + 1 < segments ? starts[s + 1] : n; "
            "if (end <= k) end = k + 1;"
        )
    position = "row * n + k" if each else "g"
    text = f"""\
PG_KERNEL void fold(PG_ARRAY_IN({item}, x), {of}PG_ARRAY({out}, y), pg_i64 rows, pg_i64 n,
                    pg_i64 segments)
{{
    PG_START_IN({item}, x); PG_START({out}, y);
    {"PG_START_IN(pg_i64, starts);" if starts is not None else ""}
    {"PG_START_IN(pg_b8, mask);" if mask is not None else ""}
    PG_FOR(g, rows * segments) {{
        const pg_i64 row = g / segments;
        {out} cell[1];
        {where}
        {"cell[0] = y[g];" if begun else _begin(cell, x.dtype, "x[row * n + k]")}
        {"" if begun else (f"y[{position}] = cell[0]; " if each else "") + "k++;"}
        for (; k < end; k++) {{
            {"if (!mask[row * n + k]) continue;" if mask is not None else ""}
            {_step(operation, cell, x.dtype, "x[row * n + k]")}
            {f"y[{position}] = cell[0];" if each else ""}
        }}
        {"" if each else "y[g] = cell[0];"}
    }}
}}
"""
    key = ("rows", starts is None, each, begun, mask is None)
    kernel = _kernel(x.backend, key, operation, text, x.dtype, cell)
    rows = x.size // n if n else y.size
    groups, size = kernel_cache.grid(x.backend, max(rows * many, 1))
    reads = [b for b in (x, starts, mask) if b is not None]
    primitives.launch(x, kernel, groups, size, reads, [y], [rows, n, many])


def _last(a: Any, axis: int) -> Any:
    """Return a copy or view in C order with *axis* last."""
    return primitives.c_order(manipulation.moveaxis(a, axis, -1))._aligned()


def _placed(result: Any, axis: int, out: Any, call: str) -> Any:
    """Return the result with its last axis moved to *axis*; in *out* if given."""
    result = manipulation.moveaxis(result, -1, axis)
    if out is None:
        return result if axis == result.ndim - 1 else result._copy(order="C")
    if out.shape != result.shape:
        raise ValueError(f"{call}: out must have shape {result.shape}, not {out.shape}")
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(f"{call}: cannot cast from {result.dtype} to {out.dtype}")
    out._copy_from(result)
    return out


def accumulate(name: str, a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    """Implement numpy.ufunc.accumulate, from left to right."""
    if a.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    axis = layout.normalize_axis(axis, a.ndim, f"{name}.accumulate")
    operation = _loop(name, a.dtype, dtype)
    rows = _last(a, axis)
    result = primitives.empty(a, rows.shape, operation.outputs[0])
    if result.size:
        _rows(operation, rows, result, rows.shape[-1], each=True)
    return _placed(result, axis, out, f"{name}.accumulate")


def reduce(
    name: str, a: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any
) -> Any:
    """Implement numpy.ufunc.reduce, from left to right. initial, where: None for none."""
    ufunc = getattr(np, name)
    if axis is None or (a.ndim == 0 and axis in (0, -1)):
        axes = tuple(range(a.ndim))
    else:
        axes = layout.normalize_axes(axis, a.ndim, name)
    operation = _loop(name, a.dtype, dtype)
    if len(axes) > 1 and ufunc.identity is None and name not in _FREE:
        raise ValueError(
            f"reduction operation '{name}' is not reorderable, so at most one axis may be specified"
        )
    kept = [k for k in range(a.ndim) if k not in axes]
    n = prod(a.shape[k] for k in axes)
    shape = tuple(a.shape[k] for k in kept)
    rows = primitives.c_order(a.transpose([*kept, *axes]) if a.ndim else a)._aligned()
    mask = None
    if where is not None:
        mask = np.broadcast_to(reduction.where_mask(name, a, where, a.shape), a.shape)
        mask = primitives.c_order(mask.transpose([*kept, *axes]) if a.ndim else mask)
    if initial is None and (n == 0 or mask is not None or name == "hypot"):  # it changes one item
        initial = ufunc.identity
        if initial is None and mask is not None:
            raise reduction.no_identity(name)
        if initial is None and prod(shape):
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    result = primitives.empty(a, shape, operation.outputs[0])
    if initial is not None:
        primitives.fill(result, initial)
    if result.size and n:
        _rows(operation, rows, result, n, begun=initial is not None, mask=mask)
    if keepdims:
        result = result.reshape(tuple(1 if k in axes else m for k, m in enumerate(a.shape)))
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(f"{name}.reduce: out must have shape {result.shape}, not {out.shape}")
    out._copy_from(result)
    return out


def reduceat(name: str, a: Any, indices: Any, axis: Any, dtype: Any, out: Any) -> Any:
    """Implement numpy.ufunc.reduceat. Indices on the device are copied to the host, which waits
    for them."""
    if a.ndim == 0:
        raise TypeError("cannot reduceat on a scalar")
    axis = layout.normalize_axis(axis, a.ndim, f"{name}.reduceat")
    given = indices.get() if isinstance(indices, GPUArray) else indices  # type: ignore[attr-defined]
    host = np.asarray(given)
    if host.size == 0:
        host = host.astype(np.int64)
    if host.ndim != 1 or host.dtype.kind not in "iub":
        raise TypeError(f"{name}.reduceat: indices must be integers along one axis")
    host = host.astype(np.int64)
    n = a.shape[axis]
    for k in host[(host < 0) | (host >= n)][:1]:
        raise IndexError(f"index {k} out-of-bounds in {name}.reduceat [0, {n})")
    operation = _loop(name, a.dtype, dtype)
    number = operation.outputs[0]
    if name == "add" and number.kind in "fc" and a.backend.limits.fp64 and number.itemsize < 16:
        wide = np.dtype("f8" if number.kind == "f" else "c16")  # for the precision of long sums
        operation = ufuncs.operation_for("add", (wide, wide), (wide,))
    rows = _last(a, axis)
    result = primitives.empty(a, (*rows.shape[:-1], host.size), operation.outputs[0])
    if result.size and name in _FREE and host.size * _PIECE < n:
        _segments(name, rows, host, result)
    elif result.size:
        _rows(operation, rows, result, n, a._from_host(host))
    return _placed(primitives.astype(result, number), axis, out, f"{name}.reduceat")


def _segments(name: str, rows: Any, starts: Any, result: Any) -> None:
    """Run a separate reduction for each of a few long segments."""
    ends = [*starts[1:], rows.shape[-1]]
    for s, (start, end) in enumerate(zip(starts.tolist(), ends, strict=True)):
        part = rows[..., start : max(int(end), start + 1)]
        options = {"dtype": result.dtype} if name in ("add", "multiply") else {}
        result[..., s] = getattr(np, name).reduce(part, axis=-1, **options)


# ---- at


def at(name: str, a: Any, indices: Any, b: Any = None) -> None:
    """Implement numpy.ufunc.at: ``a[indices] = ufunc(a[indices], b)`` each time an item is
    selected."""
    ufunc = getattr(np, name)
    if ufunc.nout != 1 or ufunc.nin > 2 or (ufunc.nin == 2) != (b is not None):
        raise TypeError(
            f"{name}.at needs a function of one result, with a second operand if it has two inputs"
        )
    key = indices if isinstance(indices, tuple) else (indices,)
    if any(isinstance(k, GPUArray) and k.dtype.kind not in "iub" for k in key):
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    chosen: Any = a[indices]
    if b is not None:
        b = _operand_of_at(name, a, b, chosen.shape)
    if not _repeats(key):
        inputs = (chosen,) if b is None else (chosen, b)
        target = chosen if chosen.base_data is a.base_data else None
        made = primitives.empty(a, chosen.shape, a.dtype)
        changed = ufuncs.call(name, inputs, (made,), casting="unsafe")
        if target is None:
            advanced_indexing.setitem(a, indices, changed)
        else:
            target._copy_from(changed)
            primitives.changed(a, target)
        return
    kinds = (a.dtype, a.dtype) if b is None else (a.dtype, ufuncs.kind_of(b), a.dtype)
    loop = ufuncs.resolve(name, kinds, "unsafe")
    operation = ufuncs.operation_for(name, loop[: ufunc.nin], loop[ufunc.nin :])
    if chosen.size:
        _at_repeated(name, operation, loop, a, indices, b, chosen.shape)


def _operand_of_at(name: str, a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    """Return the second operand of ufunc.at, for selected items of this shape."""
    b = primitives.as_array(a, b) if not isinstance(b, (bool, int, float, complex)) else b
    if primitives.is_array(b) and a._shares_memory(b):
        b = b._copy()
    try:
        fits = layout.broadcast_shapes(getattr(b, "shape", ()), shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{name}.at: array is not broadcastable to correct shape")
    return b


def _at_repeated(
    name: str,
    operation: Operation,
    loop: Sequence[np.dtype[Any]],
    a: Any,
    indices: Any,
    b: Any,
    shape: tuple[int, ...],
) -> None:
    """Implement ufunc.at if an item may be selected several times: sorting the positions groups the
    operations on each item."""
    kind = np.dtype(np.uint32 if a.size < 1 << 32 else np.int64)
    numbers = joining.arange_into(primitives.empty(a, (a.size,), kind), 0, 1).reshape(a.shape)
    positions = primitives.flat(numbers[indices])
    order = sort.argsort(positions)
    positions = primitives.astype(advanced_indexing.take(positions, order, mode="clip"), np.int64)
    if b is None:
        values, step = order, 0
    elif not isinstance(b, GPUArray):
        values, step = primitives.as_array(a, np.asarray(b, loop[1])), 0
    else:
        step = 0 if b.size == 1 else 1
        values = primitives.flat(b if step == 0 else manipulation.broadcast_to(b, shape))
        values = primitives.c_order(values)._aligned()
    target = primitives.c_order(a)
    if target.base_data is a.base_data and target.offset == a.offset:
        target = a
    free = name in _FREE and len({*loop, a.dtype}) == 1 and b is not None
    if free and positions.size > 64 * _PIECE:
        starts = _heads(positions, True)
        parts = primitives.empty(a, starts.shape, a.dtype)
        _runs(operation, values, order, starts, None, parts, positions.size, step)
        positions = advanced_indexing.take(positions, starts, mode="clip")
        values, step = parts, 1
        order = joining.arange_into(primitives.empty(a, parts.shape, np.dtype(np.int64)), 0, 1)
    _runs(
        operation, values, order, _heads(positions, False), positions, target, positions.size, step
    )
    if target is not a:
        a._copy_from(target)


def _repeats(key: tuple[Any, ...]) -> bool:
    """Whether an index may select an item several times: only integer arrays can."""
    for k in key:
        if k is None or k is Ellipsis or isinstance(k, (slice, bool, np.bool_)):
            continue
        if layout._is_int(k):
            continue
        if (k.dtype if hasattr(k, "dtype") else np.asarray(k).dtype).kind != "b":
            return True
    return False


def _heads(positions: Any, cut: bool) -> Any:
    """Return where runs of equal, sorted positions begin; cut: at most _PIECE long."""
    n = positions.size
    first = primitives.empty(positions, (n,), np.bool_)
    primitives.fill(first, True)
    if n > 1:
        rest = first[1:]
        ufuncs.call("not_equal", (positions[1:], positions[:-1]), (rest,))
        primitives.changed(first, rest)
    if cut:
        every = first[::_PIECE]
        primitives.fill(every, True)
        primitives.changed(first, every)
    return advanced_indexing.nonzero(first)[0]


def _runs(
    operation: Any, values: Any, order: Any, starts: Any, positions: Any, y: Any, n: int, step: int
) -> None:
    """Fold the values of each run, in the order of *order*: into y[positions], or into y[run]."""
    cell = y.dtype
    item, out = dtypes.storage_type(values.dtype), dtypes.storage_type(cell)
    value = "x[order[k] * step]"
    if len(operation.inputs) == 1:  # applied as often as its position is selected
        (number,), (result,) = operation.inputs, operation.outputs
        loaded = dtypes.cast(dtypes.load(cell, "cell", "0"), cell, number)
        join = (
            f"{{ PG_UNUSED const {dtypes.compute_type(number)} x0 = {loaded}; "
            f"{dtypes.compute_type(result)} y0; {{ {operation.body} }} "
            f"{dtypes.store(cell, 'cell', '0', 'y0', result)} }}"
        )
    else:
        join = _step(operation, cell, values.dtype, value)
    into = positions is not None
    begin = "cell[0] = y[positions[k]];" if into else _begin(cell, values.dtype, value) + " k++;"
    parameter = "PG_ARRAY_IN(pg_i64, positions), " if into else ""
    text = f"""\
PG_KERNEL void fold(PG_ARRAY_IN({item}, x), PG_ARRAY_IN(pg_i64, order),
                    PG_ARRAY_IN(pg_i64, starts), {parameter}
                    PG_ARRAY({out}, y), pg_i64 n, pg_i64 runs, pg_i64 step)
{{
    PG_START_IN({item}, x); PG_START_IN(pg_i64, order); PG_START_IN(pg_i64, starts);
    {"PG_START_IN(pg_i64, positions);" if into else ""} PG_START({out}, y);
    PG_FOR(g, runs) {{
        {out} cell[1];
        pg_i64 k = starts[g];
        const pg_i64 end = g + 1 < runs ? starts[g + 1] : n;
        {"const pg_i64 position = positions[k];" if into else "const pg_i64 position = g;"}
        {begin}
        for (; k < end; k++)
            {join}
        y[position] = cell[0];
    }}
}}
"""
    key = ("runs", into)
    kernel = _kernel(y.backend, key, operation, text, values.dtype, cell)
    groups, size = kernel_cache.grid(y.backend, starts.size)
    reads = [values, order, starts, *([positions] if into else [])]
    primitives.launch(y, kernel, groups, size, reads, [y], [n, starts.size, step])
