"""Functions of arrays in both modules: joining, selecting, extrema, products, ranges."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np

from pygpu import _array
from pygpu._array import GPUArray
from pygpu._src.array import (
    elementwise,
    launch_cache,
    layout,
    operators,
    ufuncs,
)
from pygpu._src.codegen import dtypes
from pygpu._src.util.lazy import lazy


def _first_array(*candidates: Any) -> Any:
    return next((a for a in candidates if isinstance(a, GPUArray)), None)


def binary(name: str, a: Any, b: Any, out: Any = None, queue: Any = None) -> Any:
    """Call a ufunc of two operands, of which one may be a number; for two numbers, returns NumPy's
    result."""
    if queue is None:
        result = launch_cache.run_cached(name, a, b, out=out)
        if result is not None:
            return result
    like = _first_array(a, b, out)
    if like is None:
        return getattr(np, name)(a, b)
    a, b = ufuncs.to_operand(a, like), ufuncs.to_operand(b, like)
    if a is NotImplemented or b is NotImplemented:
        raise TypeError(f"{name}: operands must be arrays or numbers")
    return ufuncs.call(name, (a, b), None if out is None else (out,), queue=queue)


@lru_cache(maxsize=256)
def _choose_operation(
    criterion: np.dtype[Any], dtype: np.dtype[Any], positive: bool
) -> elementwise.Operation:
    code = dtypes.code(criterion)
    if code[0] == "c":
        test = "x0.re > 0" if positive else "x0.re != 0 || x0.im != 0"
    else:
        test = "x0 > 0" if positive else "x0 != 0"
    return elementwise.Operation(
        "if_positive" if positive else "where",
        (criterion, dtype, dtype),
        (dtype,),
        # read both values first; otherwise a CPU branches on each item and cannot use vectors
        f"y0 = {test} ? x1 : x2;"
        if dtypes.computes(dtype)
        else f"if ({test}) y0 = x1; else y0 = x2;",
    )


def choose(
    call: str,
    criterion: Any,
    then: Any,
    otherwise: Any,
    out: Any = None,
    queue: Any = None,
    positive: bool = False,
) -> Any:
    """Select items of *then* where the criterion is true (or positive), else of *otherwise*."""
    name = "if_positive" if positive else "where"
    if queue is None:
        result = launch_cache.run_cached(name, criterion, then, otherwise, out=out)
        if result is not None:
            return result
    like = _first_array(criterion, then, otherwise, out)
    if like is None:
        return np.where(np.asarray(criterion) > 0 if positive else criterion, then, otherwise)
    operands = [ufuncs.to_operand(x, like) for x in (criterion, then, otherwise)]
    if any(x is NotImplemented for x in operands):
        raise TypeError(f"{call}: operands must be arrays or numbers")
    arrays = [x for x in operands if isinstance(x, GPUArray)]
    ufuncs.same_device(call, arrays if out is None else [*arrays, out])
    structs = [x.dtype for x in arrays[1:] if not dtypes.computes(x.dtype)]
    dtype = structs[0] if structs else dtypes.result_type(*operands[1:])
    kind = operands[0].dtype if hasattr(operands[0], "dtype") else np.asarray(operands[0]).dtype
    shape = layout.broadcast_shapes(*(a.shape for a in arrays))
    given = out
    if out is None:
        out = ufuncs.empty_like_operands(arrays[0], arrays, shape, dtype, queue)
    elif layout.broadcast_shapes(shape, out.shape) != out.shape:
        raise ValueError(f"{call}: out must have shape {shape}, not {out.shape}")
    apart = [ufuncs.without_overlap(x, [out]) for x in operands]
    call_made = None
    if given is None or all(x is y for x, y in zip(apart, operands, strict=True)):
        call_made = launch_cache.Call(name, tuple(operands), given)
    if out.size:
        operation = _choose_operation(kind, dtype, positive)
        elementwise.run(operation, [out], apart, out.shape, queue, call=call_made)
    return out


# ---- joining


def concatenate(
    arrays: Sequence[Any],
    axis: int = 0,
    make: Callable[[tuple[int, ...], np.dtype[Any]], Any] | None = None,
) -> Any:
    """Join arrays along an axis. make(shape, dtype): allocates the result."""
    if not isinstance(arrays, Iterable):
        raise TypeError(f"concatenate: needs a sequence of arrays, not {type(arrays).__name__}")
    arrays = list(arrays)
    if not arrays:
        raise ValueError("concatenate: need at least one array to concatenate")
    for array in arrays:
        if not hasattr(array, "backend"):
            kind = type(array).__name__
            raise TypeError(f"concatenate: arrays on the device are needed, not {kind}")
    first = arrays[0]
    ufuncs.same_device("concatenate", arrays)
    if first.ndim == 0:
        raise ValueError("concatenate: zero-dimensional arrays cannot be concatenated; use stack")
    axis = layout.normalize_axis(layout.axis_argument(axis), first.ndim)

    def other_lengths(array: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = array.shape
        return shape[:axis] + shape[axis + 1 :]

    for i, array in enumerate(arrays):
        if array.ndim != first.ndim:
            raise ValueError(
                "concatenate: all arrays must have the same number of axes: array 0 has "
                f"{first.ndim}, and array {i} has {array.ndim}"
            )
        if other_lengths(array) != other_lengths(first):
            raise ValueError(
                f"concatenate: the shapes may differ only along axis {axis}: array 0 has "
                f"{first.shape}, and array {i} has {array.shape}"
            )
    if all(a.dtype == first.dtype for a in arrays):
        dtype = first.dtype
    else:
        dtype = np.result_type(*(a.dtype for a in arrays))
    total = builtins.sum(a.shape[axis] for a in arrays)
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    result = first._new(shape, dtype) if make is None else make(shape, dtype)
    at, strides = 0, result.strides
    for array in arrays:
        n = array.shape[axis]
        if make is None:
            to = (*shape[:axis], n, *shape[axis + 1 :])
            result._view(to, strides, result.offset + at * strides[axis])._copy_from(array)
        else:
            result[(slice(None),) * axis + (slice(at, at + n),)] = array
        at += n
    return result


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Join arrays of the same shape along a new axis."""
    if not isinstance(arrays, Iterable):
        raise TypeError(f"stack: a sequence of arrays is needed, not {type(arrays).__name__}")
    arrays = list(arrays)
    if not arrays:
        raise ValueError("stack: need at least one array to stack")
    for i, array in enumerate(arrays):
        if not isinstance(array, GPUArray):
            raise TypeError(f"stack: an array on the device is needed, not {type(array).__name__}")
        if array.shape != arrays[0].shape:
            raise ValueError(
                f"stack: the arrays must have the same shape: array 0 has {arrays[0].shape}, "
                f"and array {i} has {array.shape}"
            )
    axis = layout.normalize_axis(axis, arrays[0].ndim + 1)
    key = (slice(None),) * axis + (None,)
    return concatenate([a[key] for a in arrays], axis)


# ---- by index, several arrays at once


def _outputs(call: str, arrays: Sequence[Any], out: Any) -> list[Any]:
    if not isinstance(out, (list, tuple)):
        raise TypeError(f"{call}: out must be a list of arrays, not {type(out).__name__}")
    for k, one in enumerate(out):
        if not isinstance(one, GPUArray):
            kind = type(one).__name__
            raise TypeError(f"{call}: out[{k}] must be an array on the device, not {kind}")
    if len(out) != len(arrays):
        raise ValueError(f"{call}: out and arrays must have the same length")
    return list(out)


def multi_take(arrays: Sequence[Any], indices: Any, out: Any = None) -> list[Any]:
    """Return the items with the same indices of several arrays."""
    if out is not None:
        out = _outputs("multi_take", arrays, out)
        return [a.take(indices, out=one) for a, one in zip(arrays, out)]
    several = lazy("pygpu._src.array.advanced_indexing").IndexedCopies(indices)
    results = [_taken(several, a) for a in arrays]
    several.raise_if_invalid()
    return results


def _taken(several: Any, a: Any) -> Any:
    """Call a.take(), for which an array on the device learns later whether the indices were
    valid."""
    return several.take(a) if isinstance(a, GPUArray) else a.take(several.indices)


def _targets(call: str, arrays: Sequence[Any], shape: Any, out: Any) -> list[Any]:
    if out is not None:
        outs = _outputs(call, arrays, out)
        if any(o.dtype != a.dtype for o, a in zip(outs, arrays)):
            raise TypeError("arrays and out must have the same dtype")
        return outs
    if shape is None:
        raise ValueError("dest_shape is needed where out is not given")
    return [a._new(layout.as_shape(shape, "dest_shape"), a.dtype) for a in arrays]


def multi_put(
    arrays: Sequence[Any], dest_indices: Any, dest_shape: Any = None, out: Any = None
) -> list[Any]:
    """Set the same items of several new (or given) arrays; an array with one item sets them all."""
    targets = _targets("multi_put", arrays, dest_shape, out)
    several = lazy("pygpu._src.array.advanced_indexing").IndexedCopies(dest_indices)
    for array, target in zip(arrays, targets):
        several.put(target, array)
    several.raise_if_invalid()
    return targets


def multi_take_put(
    arrays: Sequence[Any],
    dest_indices: Any,
    src_indices: Any,
    dest_shape: Any = None,
    out: Any = None,
    src_offsets: Any = None,
) -> list[Any]:
    """Set ``target[dest_indices] = array[src_indices + offset]`` for each array."""
    for name, indices in (("src_indices", src_indices), ("dest_indices", dest_indices)):
        if not hasattr(indices, "backend"):
            kind = type(indices).__name__
            raise TypeError(f"multi_take_put: {name} must be an array on the device, not {kind}")
    if src_indices.shape != dest_indices.shape or src_indices.ndim != 1:
        raise ValueError("src_indices and dest_indices must be 1-d and of the same shape")
    if src_indices.dtype != dest_indices.dtype:
        raise TypeError("src_indices and dest_indices must have the same dtype")
    if src_offsets is not None and len(src_offsets) != len(arrays):
        raise ValueError("src_indices and src_offsets must have the same length")
    targets = _targets("multi_take_put", arrays, dest_shape, out)
    advanced_indexing = lazy("pygpu._src.array.advanced_indexing")
    puts, takes = (
        advanced_indexing.IndexedCopies(dest_indices),
        advanced_indexing.IndexedCopies(src_indices),
    )
    for i, (array, target) in enumerate(zip(arrays, targets)):
        if src_offsets is None:
            items = _taken(takes, array)
        else:
            items = array.take(src_indices + src_offsets[i])
        puts.put(target, items)
    takes.raise_if_invalid()
    puts.raise_if_invalid()
    return targets


def subset(name: str, indices: Any, *arrays: Any, dtype: Any = None) -> Any:
    """Reduce the items with these *indices* of arrays: sum, min, max, dot."""
    for a in arrays:
        if not isinstance(a, GPUArray):
            raise TypeError(
                f"subset_{name}: an array on the device is needed, not {type(a).__name__}"
            )
    several = lazy("pygpu._src.array.advanced_indexing").IndexedCopies(indices)
    parts = [several.take(a) for a in arrays]
    if name == "dot":
        result = dot(parts[0], parts[1], dtype=dtype)
    elif dtype is not None:
        result = parts[0]._reduce(name, None, dtype=dtype)
    else:
        result = parts[0]._reduce(name, None)
    several.raise_if_invalid()  # while the device computes
    return result


# ---- products


def dot(a: Any, b: Any, dtype: Any = None, out: Any = None, conjugate: bool = False) -> Any:
    """Implement numpy.dot (numpy.vdot with conjugate): sums over the last axis of *a* and the
    second to last of *b*; numbers are multiplied."""
    if dtype is None and out is None:
        cached = _array._reduce("vdot" if conjugate else "dot", None, False, a, b)
        if cached is not None:
            return cached
    reduce = lazy("pygpu._src.array.reduction")
    like = _first_array(a, b, out)
    a, b = ufuncs.to_operand(a, like), ufuncs.to_operand(b, like)
    if a is NotImplemented or b is NotImplemented:
        raise TypeError("dot: operands must be arrays or numbers")
    if out is not None:
        _check_product_out(a, b, dtype, out)
    if conjugate:
        flat = lazy("pygpu._src.array.primitives").flat
        a, b = flat(a), flat(b)
        if a.size != b.size:
            raise ValueError("cannot reshape: vdot needs as many items in both arrays")
    if getattr(a, "ndim", 0) == 0 or getattr(b, "ndim", 0) == 0:
        a, b = (x if hasattr(x, "dtype") else np.asarray(x)[()] for x in (a, b))  # not weak
        return ufuncs.call("multiply", (a, b), None if out is None else (out,))
    kind = np.dtype(dtype) if dtype is not None else np.result_type(a.dtype, b.dtype)
    if a.ndim == 1 and b.ndim == 1:
        if a.size != b.size:
            raise ValueError(f"shapes {a.shape} and {b.shape} not aligned: {a.size} != {b.size}")
        return reduce.dot("vdot" if conjugate else "dot", a, b, 0, kind, out)
    if a.ndim <= 2 and b.ndim <= 2:
        return operators.matmul(a, b, out)
    product = lazy("pygpu._src.array.matmul").tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))
    if out is None:
        return product
    out._copy_from(product)
    return out


def _check_product_out(a: Any, b: Any, dtype: Any, out: Any) -> None:
    """Refuse what numpy.dot does: out must have the result's dtype and shape, in C order."""
    a, b = (x if hasattr(x, "dtype") else np.asarray(x) for x in (a, b))
    if a.ndim == 0 or b.ndim == 0:
        shape = a.shape + b.shape
    elif a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        return  # which the product refuses
    else:
        shape = a.shape[:-1] + b.shape[:-2] + (b.shape[-1:] if b.ndim > 1 else ())
    wanted = np.dtype(dtype) if dtype is not None else np.result_type(a.dtype, b.dtype)
    if not isinstance(out, _array.GPUArray):
        raise TypeError(f"dot: out must be an array on the device, not {type(out).__name__}")
    if out.dtype != wanted or out.shape != shape or not out.flags.c_contiguous:
        order = "" if out.flags.c_contiguous else " that is not in C order"
        raise ValueError(
            f"dot: out must have dtype {wanted} and shape {shape}, in C order, not {out.dtype} and "
            f"{out.shape}{order}; numpy.matmul casts"
        )


# ---- elementwise


def _within(dtype: np.dtype[Any], low: Any, high: Any) -> tuple[Any, Any]:
    """Return limits without ints that no item of a dtype of integers can pass, and that do not fit
    it."""
    limits = np.iinfo(dtype)
    if type(low) is int and low < limits.min:
        low = None
    if type(high) is int and high > limits.max:
        high = None
    return low, high


def clip(a: Any, low: Any = None, high: Any = None, out: Any = None, where: Any = True) -> Any:
    """Limit items to [low, high]; None for no limit. where: as of ufuncs."""
    if low is None and high is None:
        if out is None:
            return a._copy()
        out[...] = a
        return out
    target = None if out is None else (out,)
    if a.dtype.kind in "iu" and int in (type(low), type(high)):
        low, high = _within(a.dtype, low, high)
        if low is None and high is None:
            return ufuncs.call("positive", (a,), target, where=where)
    if high is None:
        return ufuncs.call("maximum", (a, ufuncs.to_operand(low, a)), target, where=where)
    if low is not None:
        a = ufuncs.call("maximum", (a, ufuncs.to_operand(low, a)))
    return ufuncs.call("minimum", (a, ufuncs.to_operand(high, a)), target, where=where)


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Round to *decimals* digits, halves to even; integers are unchanged."""
    target = None if out is None else (out,)
    decimals = operator.index(decimals)
    if a.dtype.kind == "c" and decimals:  # by parts: a product with a complex factor mixes them
        result = a._copy() if out is None else out
        if result.dtype.kind != "c":
            raise TypeError(f"round: cannot store {a.dtype} in out of dtype {result.dtype}")
        result.real[...] = round(a.real, decimals)
        result.imag[...] = round(a.imag, decimals)
        return result
    if a.dtype.kind in "iub":
        if decimals >= 0:
            return ufuncs.call("positive" if a.dtype.kind != "b" else "rint", (a,), target)
        scale = 10**-decimals
        if scale > np.iinfo(a.dtype).max:
            return ufuncs.call("multiply", (a, 0), target)
        return ufuncs.call(
            "multiply", (ufuncs.call("rint", (a / scale,)).astype(a.dtype), scale), target
        )
    if decimals == 0:
        return ufuncs.call("rint", (a,), target)
    scale = float(np.power(10.0, min(abs(decimals), 400)))
    if decimals > 0:
        return ufuncs.call("true_divide", (ufuncs.call("rint", (a * scale,)), scale), target)
    return ufuncs.call("multiply", (ufuncs.call("rint", (a / scale,)), scale), target)


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """Return differences of neighbours along an axis, n times."""
    axis = layout.normalize_axis(axis, a.ndim)
    before = (slice(None),) * axis
    name = "not_equal" if a.dtype.kind == "b" else "subtract"
    for _ in range(min(n, a.shape[axis])):  # then nothing is left
        a = ufuncs.call(name, (a[(*before, slice(1, None))], a[(*before, slice(None, -1))]))
    return a


# ---- ranges


def arange_plan(call: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Return (start, step, n, dtype, whether the dtype was given) of ``arange([start,] stop[,
    step])``."""
    dtype = options.pop("dtype", None)
    if args and isinstance(args[-1], np.dtype):
        if dtype is not None:
            raise ValueError(f"{call}: may not specify 'dtype' by position and keyword")
        dtype, args = args[-1], args[:-1]
    if len(args) > 3:
        raise ValueError(f"{call}: too many arguments")
    given = dict(zip(("stop",) if len(args) == 1 else ("start", "stop", "step"), args))
    for name in ("start", "stop", "step"):
        if name in options:
            if name in given:
                raise ValueError(f"{call}: may not specify '{name}' by position and keyword")
            given[name] = options.pop(name)
    if options:
        raise ValueError(f"{call}: unexpected keyword argument '{next(iter(options))}'")
    if given.get("stop") is None:
        raise ValueError(f"{call}: stop argument required")
    start, stop, step = given.get("start") or 0, given["stop"], given.get("step", 1)
    step = 1 if step is None else step
    explicit = dtype is not None
    dtype = dtypes.native(dtype, call) if explicit else None
    if has_dates(dtype, given.values()):
        return (*_dates_plan(call, given.get("start"), stop, given.get("step"), dtype), explicit)
    dtype = dtype if explicit else np.array([start, stop, step]).dtype
    if step == 0:
        raise ValueError(f"{call}: step must not be 0")
    try:
        n = builtins.max(ceil((stop - start) / step), 0)
    except TypeError:
        types = ", ".join(type(x).__name__ for x in (start, stop, step))
        raise TypeError(f"{call}: start, stop and step must be numbers, not {types}") from None
    return start, step, n, dtype, explicit


def has_dates(dtype: Any, numbers: Iterable[Any]) -> bool:
    """Whether a range consists of dates or durations."""
    if dtype is not None and np.dtype(dtype).kind in "mM":
        return True
    return any(isinstance(x, (np.datetime64, np.timedelta64, date, timedelta)) for x in numbers)


def _dates_plan(call: str, start: Any, stop: Any, step: Any, dtype: Any) -> tuple[Any, ...]:
    """Return (start, step, n, dtype) for dates or durations; start and step are counts of the
    unit."""
    what = None if dtype is None else np.dtype(dtype)
    ends: list[Any] = [None if x is None else _as_date(x, what) for x in (start, stop, step)]
    kinds = [x.dtype for x in ends if x is not None]
    is_date = any(kind.kind == "M" for kind in kinds) or (what is not None and what.kind == "M")
    if what is None or np.datetime_data(what)[0] == "generic":
        what = np.result_type(*(k for k in kinds if k.kind in "mM"), *("m8",) * (not is_date))
        if is_date:
            unit = [np.dtype(k.str.replace("m8", "M8")) for k in kinds if k.kind in "mM"]
            what = np.result_type(*unit)
    length = np.dtype(what.str.replace("M8", "m8"))
    if is_date and (start is None or (ends[0] is not None and ends[0].dtype.kind != "M")):
        raise ValueError(f"{call}: requires both a start and a stop for dates")
    first = 0 if ends[0] is None else _count(ends[0], what)
    by = 1 if ends[2] is None else _count(ends[2], length)
    last = ends[1]
    if is_date and last.dtype.kind != "M":  # a duration after the start
        last = first + _count(last, length)
    else:
        last = _count(last, what)
    if by == 0:
        raise ValueError(f"{call}: step must not be 0")
    lowest = np.iinfo(np.int64).min
    if lowest in (first, last, by):
        raise ValueError(f"{call}: cannot use a NaT (not-a-time) datetime value")
    return first, by, len(range(first, last, by)), what


def _as_date(x: Any, dtype: np.dtype[Any] | None) -> Any:
    """Convert to a number, or a NumPy date or duration; strings by the dtype."""
    if isinstance(x, str):
        return np.datetime64(x) if dtype is None else np.array(x, dtype)[()]
    if isinstance(x, date):
        return np.datetime64(x)
    return np.timedelta64(x) if isinstance(x, timedelta) else np.asarray(x)[()]


def _count(x: Any, dtype: np.dtype[Any]) -> int:
    box = np.empty((), dtype)
    box[...] = x
    return int(box.view(np.int64)[()])


@lru_cache(maxsize=64)
def _arange_operation(dtype: np.dtype[Any]) -> elementwise.Operation:
    kind = dtypes.compute_type(dtype)
    return elementwise.Operation(
        "arange", (dtype, dtype), (dtype,), f"y0 = ({kind})(x0 + ({kind})i * x1);", index=True
    )


def arange_into(array: Any, start: Any, step: Any, queue: Any = None) -> Any:
    """Fill a 1-d array with start, start + step, ... rounded as by numpy.arange."""
    dtype = array.dtype
    if array.size == 0:
        return array
    if dtype.kind in "cb":
        real = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else np.dtype("i1")
        array._copy_from(arange_into(array._new(array.shape, real), start, step, queue), queue)
        return array
    # the step is the difference of the first two, both converted: 1 for 0.5, 1.25, ... as integers
    first: Any = []
    if array.size > 1 and dtype.kind not in "mM":
        first = np.arange(start, start + 2 * step, step, dtype=dtype)[:2]
    if len(first) == 2 and dtype.kind in "fiu":
        with np.errstate(over="ignore"):  # small integers wrap around
            start, step = first[0], first[1] - first[0]
    elif dtype.kind in "iu":
        start, step = (np.asarray(x).astype(dtype)[()] for x in (start, step))
    if queue is not None or launch_cache.run_cached("arange", start, step, out=array) is None:
        call = launch_cache.Call("arange", (start, step), array) if queue is None else None
        operation = _arange_operation(dtype)
        elementwise.run(operation, [array], [start, step], array.shape, queue, call=call)
    return array
