"""Indexing with arrays: masks and integers, for reading and assignment; take, put, nonzero and
others.

Places and results are NumPy's. Integer indices are checked: those from the host before anything is
launched; those on the device by the kernel that uses them, which costs a synchronization. If
several indices select the same item, it is undefined which of the values it gets.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import gather
from pygpu._src.runtime import kernel_cache
from pygpu._src.util.lazy import lazy

from . import launch_cache, layout, primitives
from .index_errors import Report
from .launch_cache import RESULT, step
from .masks import compress, moved, nonzero

__all__ = [
    "IndexedCopies",
    "getitem",
    "nonzero",
    "put",
    "put_along_axis",
    "setitem",
    "take",
    "take_along_axis",
]

Shape = tuple[int, ...]
_AXIS_TYPES = (int, type(None))


class _AxisIndex:
    """An index array along an axis of a view: strides over the result's shape [bytes], length of
    the indexed axis and its stride, and whether the kernel must check it."""

    __slots__ = ("array", "axis", "checked", "length", "mode", "step", "strides")

    def __init__(
        self,
        array: Any,
        strides: Shape,
        step: int,
        length: int,
        axis: int,
        checked: bool,
        mode: str,
    ) -> None:
        self.array = array
        self.strides = strides
        self.step = step
        self.length = length
        self.axis = axis
        self.checked = checked
        self.mode = mode


def _move(
    to: Any,
    to_strides: Shape,
    source: Any,
    source_strides: Shape,
    shape: Shape,
    axis_indices: list[_AxisIndex],
    into: bool,
    report: Report | None = None,
) -> tuple[Any, int, int, list[Any]] | None:
    """to[...] = source[...] for all items of *shape*; the indices belong to *to* if into, else to
    *source*. Returns the launch: the kernel, groups, their size, numbers."""
    if prod(shape) == 0:
        _check_indices(axis_indices)
        return None
    side = to if into else source
    backend = side.backend
    strides = [to_strides, source_strides, *(p.strides for p in axis_indices)]
    flat, flat_strides = layout.collapse(shape, *strides)
    n = prod(flat)
    checked = any(p.checked for p in axis_indices)
    to_type, source_type = moved(to.dtype, source.dtype)
    indices = tuple((dtypes.code(p.array.dtype), p.mode) for p in axis_indices)
    key = ("move", to_type, source_type, indices, len(flat), n < 1 << 31, into, checked)
    kernel = kernel_cache.get(
        backend,
        key,
        lambda: (
            gather.move_source(
                to_type, source_type, indices, len(flat), n < 1 << 31, into, checked
            ),
            "move",
        ),
        dtypes.features(to_type, source_type),
    )
    numbers: list[Any] = [n, *flat[1:]]
    for s in flat_strides:
        numbers += s
    for p in axis_indices:
        numbers += (p.step, p.length)
    groups, size = kernel_cache.grid(backend, n)
    reads = [source, *(p.array for p in axis_indices)]
    if not checked:
        primitives.launch(side, kernel, groups, size, reads, [to], numbers)
        return kernel, groups, size, numbers
    report = report or Report(side)
    primitives.launch(side, kernel, groups, size, reads, [to, report.array], numbers)
    number, value = report.read()
    if number:
        axis_index = axis_indices[number - 1]
        _out_of_bounds(value, axis_index.axis, axis_index.length)
    return kernel, groups, size, numbers


def _check_indices(axis_indices: list[_AxisIndex]) -> None:
    """Check the indices as the kernel would, when nothing is moved."""
    for axis_index in axis_indices:
        if axis_index.checked and axis_index.array.size:
            for kind in ("min", "max"):
                value = axis_index.array._reduce(kind, None).item()
                if not -axis_index.length <= value < axis_index.length:
                    _out_of_bounds(value, axis_index.axis, axis_index.length)


def _out_of_bounds(value: int, axis: int, length: int) -> None:
    raise IndexError(f"index {value} is out of bounds for axis {axis} with size {length}")


def _index_array(a: Any, item: Any, length: int, axis: int, mode: str) -> tuple[Any, bool]:
    """Return (index array on the device, whether it must be checked there)."""
    if primitives.is_array(item):
        if item.dtype.kind not in "iu":
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
        return primitives.as_array(a, item, call="index"), mode == "raise"
    host = np.asarray(item)
    if host.size == 0 and not hasattr(item, "dtype"):
        host = host.astype(np.int64)
    if host.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if host.size and mode == "raise":
        low, high = int(host.min()), int(host.max())
        if low < -length or high >= length:
            wrong = low if low < -length else high
            _out_of_bounds(wrong, axis, length)
    # Our own copy, so that the transfer need not be waited for.
    host = np.array(host, np.int64, order="C")
    array = primitives.empty(a, host.shape, np.int64)
    if host.size:
        array._set_event(a.backend.to_device(a.queue, array.base_data, 0, host, blocking=False))
    return array, False


class _AdvancedIndex:
    """An index expression with arrays: the view, the indices, the shape of the selection."""

    def __init__(self, a: Any, key: Any) -> None:
        items = list(key) if isinstance(key, tuple) else [key]
        items = [np.asarray(i) if layout._is_int(i) else i for i in items]
        found = layout.parse_index(a.shape, a.strides, tuple(items))
        self.view = a._view(found.shape, found.strides, a.offset + found.offset)
        view_shape = list(found.shape)
        arrays: list[tuple[int | None, Any, bool]] = []  # (axis of the view, indices, checked)
        begins, ends = [axis for axis, _ in found.advanced], []  # axes of the view
        for axis, item in found.advanced:
            ends.append(axis + layout.axes_of(item))
            if not hasattr(item, "dtype"):
                item = np.asarray(item) if not isinstance(item, bool) else np.bool_(item)
                if item.size == 0 and item.dtype.kind == "f":
                    item = item.astype(np.int64)
            if item.dtype.kind == "b":
                shape = tuple(item.shape)
                if shape == ():
                    truth = bool(item.get()) if primitives.is_array(item) else bool(item)
                    arrays.append((None, np.zeros(int(truth), np.int64), False))
                    continue
                for k, n in enumerate(shape):
                    if n not in (0, view_shape[axis + k]):  # length 0 selects nothing
                        raise IndexError(
                            "boolean index did not match indexed array along axis "
                            f"{axis + k}; size of axis is {view_shape[axis + k]} but size of "
                            f"corresponding boolean axis is {n}"
                        )
                where = nonzero(item) if primitives.is_array(item) else np.nonzero(item)
                arrays += [(axis + k, w, False) for k, w in enumerate(where)]
            else:
                arrays.append((axis, item, True))
        self._arrange(a, arrays, begins, ends, tuple(view_shape), found.between)

    def _arrange(
        self,
        a: Any,
        arrays: list[tuple[int | None, Any, bool]],
        begins: list[int],
        ends: list[int],
        view_shape: Shape,
        between: bool,
    ) -> None:
        shapes = [tuple(item.shape) for _, item, _ in arrays]
        try:
            index_shape = layout.broadcast_shapes(*shapes)
        except ValueError:
            raise IndexError(
                "shape mismatch: indexing arrays could not be broadcast together with shapes "
                + " ".join(str(s).replace(" ", "") for s in shapes)
            ) from None
        used = [axis for axis, _, _ in arrays if axis is not None]
        # adjacent: each begins where the previous one ended; a bool has a position but no axis, and
        # an ellipsis separates its neighbours even if it stands for no axis
        together = not between and all(a == b for a, b in zip(ends, begins[1:]))
        first = begins[0] if together else 0
        rest = [k for k in range(len(view_shape)) if k not in used]
        before = [k for k in rest if together and k < first]
        after = [k for k in rest if k not in before]
        self.shape = (
            tuple(view_shape[k] for k in before) + index_shape + tuple(view_shape[k] for k in after)
        )
        strides = self.view.strides
        self.strides = (
            tuple(strides[k] for k in before)
            + (0,) * len(index_shape)
            + tuple(strides[k] for k in after)
        )
        pad, tail = (0,) * len(before), (0,) * len(after)
        self.axis_indices = []
        for axis, item, check in arrays:
            if axis is None:
                continue
            length = view_shape[axis]
            array, checked = _index_array(a, item, length, axis, "raise")
            spread = layout.broadcast_strides(array.shape, array.strides, index_shape)
            self.axis_indices.append(
                _AxisIndex(
                    array,
                    pad + spread + tail,
                    strides[axis],
                    length,
                    axis,
                    checked and check,
                    "raise",
                )
            )


def _full_mask(a: Any, key: Any) -> Any:
    """Return the mask on the device if the key is a single one for the whole array."""
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    if isinstance(key, (list, tuple)) or not hasattr(key, "dtype"):
        return None
    if key.dtype.kind != "b" or tuple(key.shape) != a.shape or a.ndim == 0:
        return None
    return primitives.as_array(a, key)


def getitem(a: Any, key: Any) -> Any:
    """Return a[key], a new array, for a key with arrays, lists or bools."""
    if a.ndim and a.shape[0]:
        there = np.asarray(key) if type(key) is list and key else key
        if type(there) in (np.ndarray, type(a)) and there.dtype.kind in "iu":
            return take(a, there, 0)
    mask = _full_mask(a, key)
    if mask is not None:
        return compress(a, mask)
    a = a._aligned()
    found = _AdvancedIndex(a, key)
    out = primitives.empty(a, found.shape, a.dtype)
    _move(out, out.strides, found.view, found.strides, found.shape, found.axis_indices, False)
    return out


def setitem(a: Any, key: Any, value: Any) -> None:
    """Set a[key] = value for a key with arrays, lists or bools."""
    if a.dtype.names is not None and lazy("pygpu._src.array.structured").has_gaps(a.dtype):
        lazy("pygpu._src.array.structured").set_items(a, key, value)
        return
    if a.dtype.names is not None and isinstance(value, (tuple, list)):
        value = np.array(value, a.dtype)  # one record, or several
    mask = _full_mask(a, key)
    single = np.ndim(value) == 0 if not primitives.is_array(value) else value.size == 1
    if mask is not None and single:
        _set_where(a, mask, value)
        return
    report, plans, source = None, a.backend.table.plans, value
    if type(key) is type(value) is type(a) and key.dtype.kind in "iu" and key.ndim:
        if value.base_data is not a.base_data:
            report = Report(a)
            if plans.run("put there", a, key, value, report.array) is not None:
                number, wrong = report.read()
                if number:
                    _out_of_bounds(wrong, 0, a.shape[0])
                return
    found = _AdvancedIndex(a, key)
    if not primitives.is_array(value):
        given = np.asarray(value)
        if given.dtype.kind in "mM" and a.dtype.kind not in "mM":
            raise TypeError(f"cannot convert {given.dtype} to {a.dtype}")
        if given.dtype == a.dtype:
            value = given
        elif isinstance(value, np.generic):
            value = given.astype(a.dtype)
        else:  # NumPy converts, and refuses inf and 1j, which are not ints
            converted = np.empty(given.shape, a.dtype)
            converted[...] = value
            value = converted
    if not primitives.is_array(value) and value.ndim == 0 and dtypes.computes(a.dtype):
        number, value = value[()], primitives.empty(a, (), a.dtype)
        value._copy_from(number)  # a launch; a copy from the host would wait
    value = primitives.as_array(a, value)
    shape = value.shape
    while len(shape) > len(found.shape) and shape[0] == 1:
        value = primitives.reshape(value, shape[1:])
        shape = value.shape
    try:
        strides = layout.broadcast_strides(shape, value.strides, found.shape)
    except ValueError:
        raise ValueError(
            f"shape mismatch: value array of shape {shape} could not be broadcast to indexing "
            f"result of shape {found.shape}"
        ) from None
    if value.base_data is a.base_data:
        value = value.copy()
        strides = layout.broadcast_strides(shape, value.strides, found.shape)
    launched = _move(
        found.view, found.strides, value, strides, found.shape, found.axis_indices, True, report
    )
    primitives.changed(a, found.view)
    if report is not None and launched is not None and value is source:
        again = step(a.backend, *launched[:3], (2, 1, 0, 3), launched[3])
        operands = (a, key, value, report.array)
        plans.add("put there", 0, operands, None, None, (again,), (), (0,))


def _set_where(a: Any, mask: Any, value: Any) -> None:
    from . import elementwise

    if a.size == 0 or launch_cache.run_cached("set where", mask, value, a, out=a) is not None:
        return
    dtype, given = a.dtype, (mask, value, a)
    operation = elementwise.Operation(
        "set where", (np.dtype(np.bool_), dtype, dtype), (dtype,), "y0 = x0 ? x1 : x2;"
    )
    if primitives.is_array(value):
        value = primitives.reshape(value, ())
    elif not isinstance(value, (bool, int, float, complex, np.generic)):
        value = np.asarray(value)[()]
    if not primitives.is_array(value) and dtype.kind == "V":
        value = primitives.as_array(a, np.asarray(value, dtype))
    call = launch_cache.Call("set where", given, a) if value is given[1] else None
    elementwise.run(operation, [a], [mask, value, a], a.shape, call=call)


def _as_integers(indices: Any) -> Any:
    """Return indices of take(), which are numbers also where they are booleans, as integers."""
    if isinstance(indices, bool):
        return int(indices)
    if isinstance(indices, float):
        indices = np.float64(indices)
    kind = getattr(indices, "dtype", None)
    if kind is None or kind.kind in "iu":
        return indices
    if kind.kind == "b":
        return indices.astype(np.int64)
    raise TypeError(
        f"Cannot cast array data from {kind!r} to dtype('int64') according to the rule 'safe'"
    )


def take(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Any:
    """Implement numpy.take: the items with these indices along an axis (None: of the flat
    array)."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"take: mode must be 'raise', 'wrap' or 'clip', not {mode!r}")
    name, report, given, plans = "", None, a, a.backend.table.plans
    if out is None and mode == "raise" and type(indices) is type(a) and type(axis) in _AXIS_TYPES:
        name, report = f"take {axis}", Report(a)
        cached = plans.run(name, a, indices, report.array)
        if cached is not None:
            number, value = report.read()
            if number:
                flat = axis is None
                _out_of_bounds(value, *((0, a.size) if flat else (axis % a.ndim, a.shape[axis])))
            return cached
    elif out is None and mode == "raise" and not primitives.is_array(indices):
        name = f"take there {axis}"  # indices from the host are checked there
    a = a._aligned()
    if layout.axis_argument(axis) is None:
        a, axis = primitives.flat(a), 0
    if a.ndim == 0:
        a = primitives.reshape(a, (1,))
    axis = layout.normalize_axis(axis, a.ndim)
    length = a.shape[axis]
    array, checked = _index_array(a, _as_integers(indices), length, axis, mode)
    if name and report is None:
        cached = plans.run(name, given, array)
        if cached is not None:
            return cached
    if length == 0 and array.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    shape = a.shape[:axis] + array.shape + a.shape[axis + 1 :]
    if out is None:
        out = primitives.empty(a, shape, a.dtype)
    elif not primitives.is_array(out):
        raise TypeError(f"take: out must be an array on the device, not {type(out).__name__}")
    elif out.shape != shape or out.dtype != a.dtype:
        raise ValueError(f"take: out must have shape {shape} and dtype {a.dtype}")
    elif out._shares_memory(a) or out._shares_memory(array):
        out._copy_from(take(a, array, axis, mode=mode))
        return out
    strides = a.strides[:axis] + (0,) * array.ndim + a.strides[axis + 1 :]
    spread = (0,) * axis + array.strides + (0,) * (a.ndim - axis - 1)
    axis_index = _AxisIndex(array, spread, a.strides[axis], length, axis, checked, mode)
    launched = _move(out, out.strides, a, strides, shape, [axis_index], False, report)
    same = a.base_data is given.base_data and a.offset == given.offset
    if name and launched is not None and same and array._is_aligned:
        kernel, groups, size, numbers = launched
        operands: tuple[Any, ...] = (given, array)
        if report is not None:
            operands = (given, array, report.array)
        slots = (0, 1, RESULT, 2)[: len(operands) + 1]
        steps = (step(a.backend, kernel, groups, size, slots, numbers),)
        plans.add(name, 0, operands, None, out, steps)
    return out


class IndexedCopies:
    """take() and put() for several arrays with the same indices. raise_if_invalid() reads once
    whether their kernels found an index out of bounds; until then results may be incomplete."""

    def __init__(self, indices: Any) -> None:
        self.indices = indices
        self.report: Report | None = None
        self.again: list[Any] = []  # to repeat them one by one if an index was wrong

    def _run(self, name: str, a: Any, *operands: Any) -> Any:
        """Return the result of a cached plan; None if there is none."""
        if type(self.indices) is not type(a):
            return None
        report = self.report
        if report is None:
            report = self.report = Report(a)
        if report.array.backend is not a.backend:
            return None
        return a.backend.table.plans.run(name, a, self.indices, *operands, report.array)

    def take(self, a: Any) -> Any:
        """take() of the flat array."""
        cached = self._run("take None", a)
        if cached is None:
            return take(a, self.indices)
        self.again.append(lambda: take(a, self.indices))
        return cached

    def put(self, a: Any, values: Any) -> None:
        """put() of *values*."""
        indices = self.indices
        alike = type(values) is type(a) is type(indices) and a.ndim == values.ndim == 1
        if not alike or indices.ndim != 1 or values.size not in (1, indices.size):
            put(a, indices, values)
            return
        if values.base_data is a.base_data or self._run("put there", a, values) is None:
            setitem(a, indices, values)
            return
        self.again.append(lambda: setitem(a, indices, values))

    def raise_if_invalid(self) -> None:
        """Raise IndexError if an index was out of bounds."""
        if self.again and self.report is not None and self.report.read()[0]:
            for one in self.again:
                one()


def put(a: Any, indices: Any, values: Any, mode: str = "raise") -> None:
    """Implement numpy.put: a.flat[indices] = values, with values repeated as needed."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"put: mode must be 'raise', 'wrap' or 'clip', not {mode!r}")
    if not layout.flags(a.shape, a.strides, a.itemsize)[0]:
        copy = primitives.c_order(a)
        put(copy, indices, values, mode)
        a._copy_from(copy)
        return
    flat = a._view((a.size,), None, a.offset)
    array, checked = _index_array(a, indices, a.size, 0, mode)
    array = primitives.flat(array)
    if not primitives.is_array(values):
        values = np.asarray(values, dtype=a.dtype).ravel()
        if 1 < values.size < array.size:
            values = np.resize(values, array.size)
    values = primitives.as_array(a, values)
    values = primitives.flat(values)
    if array.size == 0 or values.size == 0:
        return
    n = array.size
    if values.size == 1:
        strides: Shape = (0,)
    elif values.size < n:
        repeat = primitives.as_array(a, np.arange(n, dtype=np.int64) % values.size)
        values = take(values, repeat, 0, mode="clip")
        strides = values.strides
    else:
        strides = values.strides
    axis_index = _AxisIndex(array, array.strides, a.itemsize, a.size, 0, checked, mode)
    _move(flat, (0,), values, strides, (n,), [axis_index], True)
    primitives.changed(a, flat)


def _take_along_operands(
    a: Any, indices: Any, axis: int | None
) -> tuple[Any, Any, int, Shape, Shape, bool]:
    if axis is None:
        a, axis = primitives.flat(a), 0
    axis = layout.normalize_axis(axis, a.ndim)
    array, checked = _index_array(a, indices, a.shape[axis], axis, "raise")
    if array.ndim != a.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    rest = a.shape[:axis] + (1,) + a.shape[axis + 1 :]
    shape = layout.broadcast_shapes(rest, array.shape)
    return a, array, axis, shape, layout.broadcast_strides(rest, a.strides, shape), checked


def take_along_axis(a: Any, indices: Any, axis: int | None = -1) -> Any:
    """Implement numpy.take_along_axis: for each position of *indices*, the item with that index on
    the axis."""
    a, array, axis, shape, rest, checked = _take_along_operands(a, indices, axis)
    rest = rest[:axis] + (0,) + rest[axis + 1 :]
    spread = layout.broadcast_strides(array.shape, array.strides, shape)
    out = primitives.empty(a, shape, a.dtype)
    axis_index = _AxisIndex(array, spread, a.strides[axis], a.shape[axis], axis, checked, "raise")
    _move(out, out.strides, a, rest, shape, [axis_index], False)
    return out


def put_along_axis(a: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    """Implement numpy.put_along_axis: the opposite of take_along_axis."""
    a, array, axis, shape, rest, checked = _take_along_operands(a, indices, axis)
    rest = rest[:axis] + (0,) + rest[axis + 1 :]
    spread = layout.broadcast_strides(array.shape, array.strides, shape)
    values = primitives.as_array(a, values, a.dtype)
    strides = layout.broadcast_strides(values.shape, values.strides, shape)
    axis_index = _AxisIndex(array, spread, a.strides[axis], a.shape[axis], axis, checked, "raise")
    _move(a, rest, values, strides, shape, [axis_index], True)
