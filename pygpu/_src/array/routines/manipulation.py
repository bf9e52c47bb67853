"""NumPy's functions that rearrange: flip, roll, repeat, tile, broadcast_to, tril, meshgrid, ...

Where possible, results are views (flip, moveaxis, expand_dims, broadcast_to, split); the others
take one or a few copies on the device. Views of broadcast_to() are read-only, as NumPy's.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import elementwise, layout, primitives, ufuncs
from pygpu._src.codegen import dtypes

from . import joining

_I64 = np.dtype(np.int64)


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return nonnegative axes, which may be repeated."""
    if axis is None:
        return tuple(range(ndim))
    items = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(layout.normalize_axis(k, ndim) for k in items)


# ---- views


def expand_dims(a: Any, axis: Any = 0) -> Any:
    """Insert axes of length 1 at these positions of the result. Raises np.exceptions.AxisError."""
    items = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = a.ndim + len(items)
    new_axes = layout.normalize_axes(tuple(items), ndim)
    shape, strides = iter(a.shape), iter(a.strides)
    new = [(1, 0) if k in new_axes else (next(shape), next(strides)) for k in range(ndim)]
    return a._view(tuple(n for n, _ in new), tuple(s for _, s in new), a.offset)


def atleast(n: int, arrays: Sequence[Any]) -> Any:
    """Implement numpy.atleast_1d, 2d or 3d."""
    results = []
    for a in arrays:
        if n == 3 and a.ndim < 3:
            a = a.reshape((1, 1, 1) if a.ndim == 0 else (1, *a.shape, 1)[-3:])
            if a.ndim == 2:
                a = expand_dims(a, 0)
        while a.ndim < n:
            a = expand_dims(a, 0)
        results.append(a)
    return results[0] if len(results) == 1 else tuple(results)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Move the axes *source* to the positions *destination*, keeping the order of the others."""
    old = _axes(source, a.ndim) if source is not None else ()
    new = _axes(destination, a.ndim) if destination is not None else ()
    if len(set(old)) != len(old) or len(set(new)) != len(new):
        raise ValueError("moveaxis: an axis is named twice")
    if len(old) != len(new):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    order = [k for k in range(a.ndim) if k not in old]
    for to, axis in sorted(zip(new, old)):
        order.insert(to, axis)
    return a.transpose(order)


def flip(a: Any, axis: Any = None) -> Any:
    """A view in reverse order along axes, all by default."""
    flipped = range(a.ndim) if axis is None else layout.normalize_axes(axis, a.ndim)
    return a[tuple(slice(None, None, -1 if k in flipped else None) for k in range(a.ndim))]


def rot90(a: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Rotate by k quarter turns from the first of the axes to the second."""
    one, two = (layout.normalize_axis(x, a.ndim) for x in axes)
    if one == two:
        raise ValueError("Axes must be different.")
    k %= 4
    if k == 0:
        return a[...]
    if k == 2:
        return flip(a, (one, two))
    return flip(a, two).swapaxes(one, two) if k == 1 else flip(a.swapaxes(one, two), two)


def broadcast_to(a: Any, shape: Any) -> Any:
    """Return a view with another shape, in which items occur at several places. It is read-only:
    layout.check_writable()."""
    shape = layout.as_shape(shape, "broadcast_to")
    return a._view(shape, layout.broadcast_strides(a.shape, a.strides, shape), a.offset)


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """Return a view with the windows of an array as its last axes."""
    window = layout.as_shape(window_shape, "sliding_window_view")
    axes = range(x.ndim) if axis is None else axis
    axes = tuple(
        layout.normalize_axis(k, x.ndim) for k in (axes if hasattr(axes, "__len__") else (axes,))
    )
    if len(window) != len(axes):
        raise ValueError(
            f"Must provide window_shape for all dimensions of `x`; got {len(window)} window_shape "
            f"elements and `x.ndim` is {x.ndim}."
            if axis is None
            else f"Must provide matching length window_shape and axis; got {len(window)} "
            f"window_shape elements and {len(axes)} axes elements."
        )
    shape = list(x.shape)
    for k, length in zip(axes, window, strict=True):
        shape[k] -= length - 1
        if shape[k] < 1 and (length > 1 or shape[k] < 0):
            raise ValueError("window shape cannot be larger than input array shape")
    strides = (*x.strides, *(x.strides[k] for k in axes))
    return x._view((*shape, *window), strides, x.offset)


def as_strided(x: Any, shape: Any = None, strides: Any = None) -> Any:
    """Return a view with any shape and strides (bytes), which must stay within the memory."""
    shape = x.shape if shape is None else layout.as_shape(shape, "as_strided")
    strides = x.strides if strides is None else layout.as_strides(strides, shape, "as_strided")
    layout.check_memory("as_strided", x.base_data, x.offset, shape, strides, x.dtype.itemsize)
    return x._view(shape, strides, x.offset)


def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    """Return views with one shape; host arrays are copied."""
    like = next(a for a in arrays if isinstance(a, GPUArray))
    arrays = tuple(primitives.as_array(like, a, call="broadcast_arrays") for a in arrays)
    shape = layout.broadcast_shapes(*(a.shape for a in arrays))
    return tuple(broadcast_to(a, shape) for a in arrays)


def unstack(a: Any, axis: int = 0) -> tuple[Any, ...]:
    """Views without an axis, one for each index along it."""
    if a.ndim == 0:
        raise ValueError("unstack: the array must have at least one axis")
    axis = layout.normalize_axis(axis, a.ndim)
    return tuple(a[(slice(None),) * axis + (i,)] for i in range(a.shape[axis]))


def split(a: Any, parts: Any, axis: int = 0, uneven: bool = True) -> list[Any]:
    """Implement numpy.array_split (numpy.split if not uneven): views of parts along an axis."""
    axis = layout.normalize_axis(axis, a.ndim)
    n = a.shape[axis]
    if hasattr(parts, "__len__") and np.ndim(parts) != 0:
        ends = [0, *map(operator.index, parts), n]
    else:
        if not uneven and n % parts:  # as in NumPy, before it checks the number
            raise ValueError("array split does not result in an equal division")
        many = int(parts)
        if many < 1:
            raise ValueError("number sections must be larger than 0.")
        size, more = divmod(n, many)
        ends = [0]
        for k in range(many):
            ends.append(ends[-1] + size + (k < more))
    before = (slice(None),) * axis
    return [a[(*before, slice(i, j))] for i, j in zip(ends, ends[1:])]


def split_by_name(call: str, a: Any, parts: Any) -> list[Any]:
    """Implement numpy.hsplit, vsplit and dsplit: numpy.split along the corresponding axis."""
    fewest = {"hsplit": 1, "vsplit": 2, "dsplit": 3}[call]
    if a.ndim < fewest:
        raise ValueError(f"{call} only works on arrays of {fewest} or more dimensions")
    axis = {"hsplit": min(1, a.ndim - 1), "vsplit": 0, "dsplit": 2}[call]
    return split(a, parts, axis, False)


# ---- copies


def concat(
    arrays: Sequence[Any],
    axis: int | None = 0,
    out: Any = None,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Any:
    """Implement numpy.concatenate; axis None: of the flat arrays."""
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument")
    arrays = list(arrays)
    like = next((a for a in arrays if isinstance(a, GPUArray)), None)
    if like is not None:  # host arrays are copied to its device
        arrays = [primitives.as_array(like, a, call="concatenate") for a in arrays]
    if axis is None:
        arrays, axis = [primitives.flat(a) for a in arrays], 0
    if out is None and dtype is None:
        return joining.concatenate(arrays, axis)
    if out is not None and not isinstance(out, GPUArray):
        raise TypeError("concatenate: out must be an array on the device")
    there: Any = out
    kind = dtypes.native(dtype, "concatenate") if there is None else there.dtype
    for a in arrays:
        if not np.can_cast(a.dtype, kind, casting):
            raise TypeError(
                f"Cannot cast array data from {a.dtype!r} to {kind!r} according to the rule "
                f"{casting!r}"
            )

    def make(shape: tuple[int, ...], _: Any) -> Any:
        if there is None:
            return primitives.empty(arrays[0], shape, kind)
        if there.shape != shape:
            raise ValueError(f"Output array is the wrong shape: {there.shape}, not {shape}")
        return there

    if there is not None:
        arrays = [a._copy() if there._shares_memory(a) else a for a in arrays]
    return joining.concatenate(arrays, axis, make)


def stack(arrays: Sequence[Any], axis: int = 0, out: Any = None, **options: Any) -> Any:
    """Implement numpy.stack."""
    arrays = list(arrays)
    if out is None and not options:
        like = next((a for a in arrays if isinstance(a, GPUArray)), None)
        if like is not None:  # host arrays are copied to its device
            arrays = [primitives.as_array(like, a, call="stack") for a in arrays]
        return joining.stack(arrays, axis)
    if not arrays:
        raise ValueError("need at least one array to stack")
    like = next((a for a in arrays if isinstance(a, GPUArray)), out)
    arrays = [primitives.as_array(like, a, call="stack") for a in arrays]
    if any(a.shape != arrays[0].shape for a in arrays):
        raise ValueError("all input arrays must have the same shape")
    axis = layout.normalize_axis(axis, arrays[0].ndim + 1)
    return concat([expand_dims(a, axis) for a in arrays], axis, out, **options)


def join(arrays: Sequence[Any], kind: str, **options: Any) -> Any:
    """Implement numpy.hstack, vstack, dstack or column_stack. options: dtype and casting of the
    first two."""
    like = next(a for a in arrays if isinstance(a, GPUArray))
    arrays = [primitives.as_array(like, a, call=kind) for a in arrays]
    if kind == "column_stack":
        return concat([expand_dims(atleast(1, [a]), 1) if a.ndim < 2 else a for a in arrays], 1)
    n = {"hstack": 1, "vstack": 2, "dstack": 3}[kind]
    parts = [atleast(n, [a]) for a in arrays]
    axis = 0 if n == 2 or (n == 1 and parts[0].ndim == 1) else n - 1 or 1
    return concat(parts, axis, **options)


def block(arrays: Any) -> Any:
    """Implement numpy.block: nested lists of arrays, the innermost joined along the last axis."""
    leaves: list[Any] = []
    depths: set[int] = set()

    def visit(x: Any, depth: int) -> None:
        if isinstance(x, tuple):
            raise TypeError("block: arrays must be nested in lists, not in tuples")
        if not isinstance(x, list):
            leaves.append(x)
            depths.add(depth)
            return
        if not x:
            raise ValueError("block: a list of arrays is empty")
        for part in x:
            visit(part, depth + 1)

    visit(arrays, 0)
    if len(depths) != 1:
        raise ValueError("block: lists of arrays are nested to different depths")
    like = next(x for x in leaves if isinstance(x, GPUArray))
    there = iter([primitives.as_array(like, x, call="block") for x in leaves])
    ndim = max(*(np.ndim(x) for x in leaves), depths.pop(), 0)

    def joined(x: Any, axis: int) -> Any:
        if isinstance(x, list):
            return concat([joined(part, axis + 1) for part in x], axis)
        a = next(there)
        return a.reshape((1,) * (ndim - a.ndim) + a.shape)

    depth = 0
    x = arrays
    while isinstance(x, list):
        x, depth = x[0], depth + 1
    result = joined(arrays, ndim - depth)
    return result._copy(order="C") if depth == 0 else result


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Repeat each item (or row along an axis). repeats: a number, or one per item, on the host or
    the device; in the latter case the host waits for their sum."""
    if layout.axis_argument(axis) is None or a.ndim == 0:
        a, axis = primitives.flat(a), axis or 0
    axis = layout.normalize_axis(axis, a.ndim)
    n = a.shape[axis]
    if isinstance(repeats, GPUArray):
        counts: Any = repeats
    else:
        counts = np.asarray(repeats)
    if counts.dtype.kind not in "iub":
        raise TypeError(f"repeat: repeats must be integers, not {counts.dtype}")
    if counts.size == 1 and not isinstance(counts, GPUArray):
        many = int(counts.reshape(()))
        if many < 0:
            raise ValueError("repeats may not contain negative values.")
        shape = (*a.shape[: axis + 1], many, *a.shape[axis + 1 :])
        strides = (*a.strides[: axis + 1], 0, *a.strides[axis + 1 :])
        wide = a._view(shape, strides, a.offset)
        return wide.reshape((*shape[:axis], n * many, *shape[axis + 2 :]), copy=True)
    if counts.ndim > 1 or counts.size not in (1, n):
        raise ValueError(f"repeat: {counts.shape} repeats for {n} items")
    from pygpu._src.array.advanced_indexing import take

    if isinstance(counts, GPUArray):
        return take(a, _repeated_indices(counts, n), axis)
    if (counts < 0).any():
        raise ValueError("repeats may not contain negative values.")
    return take(a, np.repeat(np.arange(n), counts), axis)


def _repeated_indices(counts: Any, n: int) -> Any:
    """Compute numpy.repeat(numpy.arange(n), counts) on the device."""
    from pygpu._src.array.scan import scan
    from pygpu._src.array.sort import searchsorted

    many = broadcast_to(primitives.flat(counts), (n,))
    if n == 0:
        return primitives.empty(counts, (0,), np.int64)
    if many.dtype.kind == "i" and bool((many < 0)._reduce("any", None)):
        raise ValueError("repeats may not contain negative values.")
    ends = scan("cumsum", many, 0, dtype=np.int64)
    total = int(ends[-1].item())
    positions = joining.arange_into(primitives.empty(counts, (total,), np.int64), 0, 1)
    return searchsorted(ends, positions, "right")


def tile(a: Any, reps: Any) -> Any:
    """Repeat the array along each axis as *reps* says."""
    try:
        times: tuple[int, ...] = (operator.index(reps),)
    except TypeError:
        times = tuple(operator.index(r) for r in reps)
    ndim = max(a.ndim, len(times))
    while a.ndim < ndim:
        a = expand_dims(a, 0)
    times = (1,) * (ndim - len(times)) + times
    shape = tuple(n * r for n, r in zip(a.shape, times))
    if prod(shape) == 0:
        return primitives.empty(a, layout.as_shape(shape, "tile"), a.dtype)
    wide_shape = tuple(x for n, r in zip(a.shape, times) for x in (r, n))
    wide_strides = tuple(x for s in a.strides for x in (0, s))
    kept = [k for k, n in enumerate(wide_shape) if n != 1]
    wide = a._view(
        tuple(wide_shape[k] for k in kept), tuple(wide_strides[k] for k in kept), a.offset
    )
    return wide.reshape(shape, copy=True)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Shift items along axes; those that leave at one end re-enter at the other."""
    if isinstance(shift, GPUArray) and shift.ndim == 1:
        shift = shift.get().tolist()  # type: ignore[attr-defined]
    if axis is None:
        flat = primitives.flat(a)
        return roll(flat, shift, 0).reshape(a.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    if len(axes) == 1:
        axes = tuple(axes) * len(shifts)
    elif len(shifts) == 1:
        shifts = tuple(shifts) * len(axes)
    if len(axes) != len(shifts):
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    by = [0] * a.ndim
    for k, s in zip(_axes(tuple(axes), a.ndim), shifts):
        by[k] += operator.index(s)
    parts: list[tuple[tuple[slice, ...], tuple[slice, ...]]] = [((), ())]
    for n, s in zip(a.shape, by):
        s = s % n if n else 0
        slices = [(slice(None), slice(None))]
        if s:
            slices = [(slice(s, None), slice(None, -s)), (slice(None, s), slice(-s, None))]
        parts = [((*to, x), (*source, y)) for to, source in parts for x, y in slices]
    if len(parts) == 1:
        return a._copy(order="C")
    out = primitives.empty(a, a.shape, a.dtype)
    for to, source in parts:
        out[to] = a[source]
    return out


def meshgrid(
    arrays: Sequence[Any], indexing: str = "xy", copy: bool = True, sparse: bool = False
) -> tuple[Any, ...]:
    """Implement numpy.meshgrid of arrays with at most one axis; sparse: not broadcast over the
    others' axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(arrays)
    like = next((a for a in arrays if isinstance(a, GPUArray)), None)
    flat = [primitives.flat(primitives.as_array(like, a, call="meshgrid")) for a in arrays]
    shape = [a.size for a in flat]
    grids = []
    for k, a in enumerate(flat):
        wide = a._view((*(1,) * k, a.size, *(1,) * (n - k - 1)), None, a.offset)
        if a.strides[0] != a.itemsize:
            wide = a._view(wide.shape, (*(0,) * k, a.strides[0], *(0,) * (n - k - 1)), a.offset)
        grid = wide if sparse else broadcast_to(wide, tuple(shape))
        if indexing == "xy" and n > 1:
            grid = grid.swapaxes(0, 1)
        grids.append(grid._copy(order="C") if copy else grid)
    return tuple(grids)


# ---- by position


def _zero(dtype: np.dtype[Any]) -> str:
    code = dtypes.code(dtype)
    return f"pg_{code}_make(0, 0)" if code[0] == "c" else f"({dtypes.compute_type(dtype)})0"


@lru_cache(maxsize=64)
def _triangle_operation(dtype: np.dtype[Any], upper: bool) -> elementwise.Operation:
    test = "column >= row + x3" if upper else "column <= row + x3"
    body = (
        "const pg_i64 rest = i / x2, column = i - rest * x2, row = rest - rest / x1 * x1; "
        f"if ({test}) y0 = x0; else y0 = {_zero(dtype)};"
    )
    return elementwise.Operation(
        "triu" if upper else "tril", (dtype, _I64, _I64, _I64), (dtype,), body, index=True
    )


def triangle(a: Any, k: int = 0, upper: bool = False) -> Any:
    """Implement numpy.tril or triu: zeros above or below diagonal k of the last two axes."""
    if a.ndim == 0:
        raise TypeError(f"{'triu' if upper else 'tril'}: an array without axes has no triangle")
    if a.ndim == 1:  # becomes each row of a square, as in NumPy
        a = broadcast_to(a, (a.size, a.size))
    dtypes.require(a.backend, "triu" if upper else "tril", a.dtype, dates=True)
    out = primitives.empty(a, a.shape, a.dtype)
    if out.size:
        rows, columns = a.shape[-2:]
        k = max(min(operator.index(k), columns), -rows)
        numbers = [rows, columns, k]
        elementwise.run(_triangle_operation(a.dtype, upper), [out], [a, *numbers], a.shape)
    return out


def eye_into(array: Any, k: int = 0) -> Any:
    """Fill an array in C order with two axes with zeros, and ones on diagonal k."""
    array.fill(0)
    rows, columns = array.shape
    down, right = max(-k, 0), max(k, 0)
    n = min(rows - down, columns - right)
    if n > 0:
        size = array.itemsize
        first = array.offset + (down * columns + right) * size
        diagonal = array._view((n,), ((columns + 1) * size,), first)
        diagonal._copy_from(1)
        primitives.changed(array, diagonal)
    return array


@lru_cache(maxsize=8)
def _linspace_operation(dtype: np.dtype[Any], zero_step: bool, last: bool) -> elementwise.Operation:
    kind = dtypes.compute_type(dtype)
    if zero_step:  # the step underflowed to 0: divide later
        value = f"(({kind})i / x3) * x1 + x0"
    else:
        value = f"({kind})i * x1 + x0"
    body = f"y0 = {value};" + (" if (i == (pg_i64)x3 && i > 0) { y0 = x2; }" if last else "")
    return elementwise.Operation(
        f"linspace {zero_step} {last}", (dtype,) * 4, (dtype,), body, index=True
    )


def linspace_into(array: Any, start: float, stop: float, endpoint: bool = True) -> Any:
    """Fill a real array of one axis with evenly spaced numbers, rounded as by numpy.linspace."""
    n = array.size
    if n == 0:
        return array
    wide = np.dtype(np.float64 if array.backend.limits.fp64 else np.float32)
    number = wide.type
    parts = max(n - 1 if endpoint else n, 1)
    with np.errstate(all="ignore"):
        delta = number(stop) - number(start)
        step = delta / number(parts)
    zero_step = bool(step == 0)
    operation = _linspace_operation(wide, zero_step, endpoint and n > 1)
    target = array
    if array.dtype.kind in "iub":
        target = primitives.empty(array, array.shape, wide)
    elementwise.run(
        operation,
        [target],
        [number(start), delta if zero_step else step, number(stop), number(parts)],
        array.shape,
    )
    if target is not array:
        array._copy_from(ufuncs.call("floor", (target,)))
    return array
