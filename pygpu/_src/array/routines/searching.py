"""NumPy's functions that select items by conditions, remove them, or find their positions."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import (
    advanced_indexing,
    layout,
    masks,
    matmul,
    primitives,
    single_group,
    sort,
    ufuncs,
)
from pygpu._src.codegen import dtypes

from . import joining, manipulation, sets


def _on_device(like: Any, x: Any, dtype: Any = None) -> Any:
    if isinstance(x, (list, tuple)) and any(isinstance(item, GPUArray) for item in x):
        return joining.stack([_on_device(like, item, dtype) for item in x])
    return primitives.as_array(like, x, dtype)


# ---- by conditions


def _argwhere(a: Any) -> Any:
    if a.ndim == 0:
        return _argwhere(manipulation.atleast(1, [a]))[:, :0]
    if 0 < a.size <= single_group.FEW and dtypes.computes(a.dtype):
        return single_group.nonzero(a, False)[0]
    return joining.stack(masks.nonzero(a), 1)


def _where(condition: Any, *choices: Any) -> Any:
    if not choices:
        return advanced_indexing.nonzero(condition)
    if len(choices) != 2:
        raise ValueError("either both or neither of x and y should be given")
    condition, *choices = map(_no_list, (condition, *choices))  # type: ignore[assignment]
    if int in map(type, choices):
        choices = _wrapped(*choices), _wrapped(*choices[::-1])
    return joining.choose("where", condition, *choices)


def _no_list(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def _wrapped(x: Any, other: Any) -> Any:
    """Return an int as NumPy before 2.5 converts it beside an array of integers, where it does not
    fit."""
    if np.lib.NumpyVersion(np.__version__) >= "2.5.0":  # OverflowError
        return x
    kind = getattr(other, "dtype", None)
    if type(x) is not int or kind is None or kind.kind not in "iu":
        return x
    limits = np.iinfo(kind)
    if limits.min <= x <= limits.max or not -(1 << 63) <= x < 1 << 64:
        return x
    return int(np.asarray(x).astype(kind))


def _flatnonzero(a: Any) -> Any:
    return advanced_indexing.nonzero(primitives.flat(a))[0]


def _compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    chosen = primitives.as_array(a, condition, np.bool_, "compress")
    if chosen.ndim != 1:
        raise ValueError(f"condition must be a 1-d array, not one of {chosen.ndim} dimensions")
    (where,) = advanced_indexing.nonzero(chosen)
    return advanced_indexing.take(a, where, axis, out)


def _extract(condition: Any, arr: Any) -> Any:
    like = arr if isinstance(arr, GPUArray) else condition
    condition, arr = _on_device(like, condition), _on_device(like, arr)
    (where,) = advanced_indexing.nonzero(primitives.flat(condition))
    return advanced_indexing.take(primitives.flat(arr), where)


def _place(arr: Any, mask: Any, vals: Any) -> None:
    mask, vals = (
        primitives.astype(_on_device(arr, mask), np.dtype(np.bool_)),
        _on_device(arr, vals, arr.dtype),
    )
    if mask.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    if not np.can_cast(vals.dtype, arr.dtype, "safe"):
        raise TypeError(f"place: items of {vals.dtype} do not fit into {arr.dtype} by rule 'safe'")
    (where,) = advanced_indexing.nonzero(primitives.flat(mask))
    if where.size and vals.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    if where.size:
        advanced_indexing.put(arr, where, vals)


def _putmask(a: Any, mask: Any, values: Any) -> None:
    kind = None if hasattr(values, "dtype") else a.dtype  # for numbers and lists, as in NumPy
    mask, values = _on_device(a, mask), _on_device(a, values, kind)
    if mask.size != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    if not np.can_cast(values.dtype, a.dtype, "same_kind"):
        raise TypeError(f"putmask: items of {values.dtype} do not fit into {a.dtype}")
    if a.size and values.size:
        values = _resize(values, a.shape)
        a[...] = joining.choose("putmask", mask.reshape(a.shape), values, a)


def _as_shaped(to: Any, a: Any) -> Any:
    """Broadcast as in an assignment, where leading axes of length 1 may be too many."""
    while a.ndim > to.ndim and a.shape[0] == 1:
        a = a[0]
    return manipulation.broadcast_to(a, to.shape)


def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if not isinstance(dst, GPUArray):
        host = src.get()
        where = where.get() if isinstance(where, GPUArray) else where  # type: ignore[attr-defined]
        np.copyto(dst, host, casting, where)
        return
    to: Any = dst
    plain = isinstance(src, (bool, int, float, complex))  # e.g. a float of any size
    given = np.result_type(to.dtype, src) if plain else _on_device(to, src).dtype
    if not np.can_cast(given, to.dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {given!r} to {to.dtype!r} according to the rule "
            f"{casting!r}"
        )
    if where is True:
        to[...] = src
        return
    kind = where.dtype if hasattr(where, "dtype") else np.asarray(where).dtype
    if kind != np.bool_:
        raise TypeError(f"copyto: where must be a mask of booleans, not of {kind}")
    src = _as_shaped(to, primitives.astype(_on_device(to, src), to.dtype))
    where = _as_shaped(to, _on_device(to, where, np.bool_))
    to[...] = joining.choose("copyto", where, src, to)


def _choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    arrays = [a, *choices]
    like = next(x for x in arrays if isinstance(x, GPUArray))
    dtype = np.result_type(*(x.dtype if hasattr(x, "dtype") else x for x in choices))
    a, *picked = manipulation.broadcast_arrays(*(_on_device(like, x) for x in arrays))
    if a.dtype.kind not in "biu":
        raise TypeError(f"choose: the indices must be integers, not of {a.dtype}")
    a = primitives.astype(a, np.dtype(np.int8)) if a.dtype.kind == "b" else a
    n = len(picked)
    if mode == "wrap":
        a = a % n
    elif mode == "clip":
        a = joining.clip(a, 0, n - 1)
    elif mode != "raise":
        raise ValueError(f"choose: mode must be 'raise', 'wrap' or 'clip', not {mode!r}")
    elif a.size and a.dtype.kind == "i" and a._reduce("min", None).item() < 0:
        raise ValueError("invalid entry in choice array")
    table = joining.stack([primitives.astype(x, dtype) for x in picked])
    try:
        found = advanced_indexing.take_along_axis(table, a.reshape((1, *a.shape)), 0)[0]
    except IndexError:
        raise ValueError("invalid entry in choice array") from None
    if out is None:
        return found
    out[...] = found
    return out


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    if any(c.dtype.kind != "b" for c in condlist):
        raise TypeError("select: conditions must be boolean arrays")
    if default is None:
        raise TypeError("select: default must be a number or an array, not None")
    choicelist = [_no_list(x) for x in choicelist]
    items = [*choicelist, default]
    dtype = np.result_type(*(x.dtype if hasattr(x, "dtype") else x for x in items))
    like = next(x for x in (*condlist, *items) if isinstance(x, GPUArray))
    result = (
        _on_device(like, np.asarray(default).astype(dtype)) if np.ndim(default) == 0 else default
    )
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        choice = primitives.astype(_on_device(like, choice), dtype)
        result = joining.choose("select", _on_device(like, condition), choice, result)
    return primitives.astype(result, dtype)


def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **options: Any) -> Any:
    if isinstance(condlist, GPUArray):
        conditions: Any = condlist
        condlist = (
            list(manipulation.unstack(conditions)) if conditions.ndim > x.ndim else [conditions]
        )
    elif not isinstance(condlist, (list, tuple)) or isinstance(condlist[0], (bool, np.bool_)):
        condlist = [condlist]
    conditions = [primitives.astype(_on_device(x, c), np.dtype(np.bool_)) for c in condlist]
    if len(funclist) == len(conditions) + 1:
        other = conditions[0]
        for c in conditions[1:]:
            other = other | c
        conditions.append(~other)
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    y = primitives.empty(x, x.shape, x.dtype).fill(0)
    for condition, function in zip(conditions, funclist):
        y[condition] = function(x[condition], *args, **options) if callable(function) else function
    return y


def _part_is(part: str) -> Callable[..., Any]:
    """Implement numpy.iscomplex, isreal."""

    def call(x: Any) -> Any:
        if x.dtype.kind != "c":
            return primitives.empty(x, x.shape, np.bool_).fill(part == "isreal")
        return x.imag == 0 if part == "isreal" else x.imag != 0

    return call


def _infinite(sign: float) -> Callable[..., Any]:
    def call(x: Any, out: Any = None) -> Any:
        if x.dtype.kind in "cmM":
            raise TypeError(f"isposinf, isneginf: real numbers are needed, not {x.dtype}")
        outs = None if out is None else (out,)
        if dtypes.kind(x.dtype) != "f":
            return ufuncs.call("not_equal", (x, x), outs)
        return ufuncs.call("equal", (x, x.dtype.type(sign)), outs)

    return call


# ---- sorting, and distinct items


def _sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    sort.check_kind(kind, stable)
    return sort.sort(a, axis, order)


def _argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    sort.check_kind(kind, stable)
    return sort.argsort(a, axis, order)


def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    **options: Any,
) -> Any:
    return_index, return_inverse = bool(return_index), bool(return_inverse)
    return_counts = bool(return_counts)  # keys of kernels
    if axis is not None and ar.ndim == 1:
        axis = layout.normalize_axis(axis, 1)
    elif axis is not None:
        return sets.unique_rows(ar, axis, return_index, return_inverse, return_counts)
    return sort.unique(ar, return_index, return_inverse, return_counts, equal_nan=equal_nan)


# ---- diagonals


def _diag(v: Any, k: int = 0) -> Any:
    if v.ndim == 2:
        return matmul.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.size + abs(k)
    result = primitives.empty(v, (n, n), v.dtype).fill(0)
    if v.size:
        matmul.diagonal(result, k)[...] = v
    return result


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    n, stride, blocks = min(a.shape), sum(a.strides), 0
    if a.ndim == 2 and wrap:  # after each square block and a row between, it begins again
        blocks, rest = divmod(a.shape[0], a.shape[1] + 1)
        n = min(rest, a.shape[1])
    whole = blocks * a.shape[1]
    if np.ndim(val):
        val = _resize(_on_device(a, val), (whole + n,))
    below = blocks * (a.shape[1] + 1) * a.strides[0]
    for diagonal, first in (
        (a._view((blocks, a.shape[1]), (below // max(blocks, 1), stride), a.offset), 0),
        (a._view((n,), (stride,), a.offset + below if n else a.offset), whole),
    ):
        if diagonal.size:
            items = val[first : first + diagonal.size] if np.ndim(val) else val
            diagonal[...] = items.reshape(diagonal.shape) if np.ndim(val) else items
            primitives.changed(a, diagonal)


# ---- insertion and removal


def _resize(a: Any, new_shape: Any) -> Any:
    shape = layout.as_shape(new_shape, "resize")
    n = int(np.prod(shape, dtype=object))
    if a.size == 0 or n == 0:
        return primitives.empty(a, shape, a.dtype).fill(0)
    flat = manipulation.tile(primitives.flat(a), -(-n // a.size))  # a copy in any case
    return flat[:n].reshape(shape)


def _delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    if axis is None:
        arr, axis = primitives.flat(arr), 0
    axis = layout.normalize_axis(axis, arr.ndim)
    wanted = obj.get() if isinstance(obj, GPUArray) else obj  # type: ignore[attr-defined]
    kept = np.delete(np.arange(arr.shape[axis]), wanted)
    return advanced_indexing.take(arr, kept, axis)


def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Compute the order of items by NumPy's function for positions, then take them."""
    if axis is None:
        arr, axis = primitives.flat(arr), 0
    axis, n = layout.normalize_axis(axis, arr.ndim), arr.shape[axis]
    wanted: Any = obj.get() if isinstance(obj, GPUArray) else obj  # type: ignore[attr-defined]
    if isinstance(wanted, slice):
        wanted = np.arange(*wanted.indices(n))
    wanted = np.asarray(wanted)
    if wanted.dtype.kind == "b":
        (wanted,) = np.nonzero(wanted)
    if wanted.size == 0 and wanted.dtype.kind == "f":
        wanted = wanted.astype(np.int64)
    values = _on_device(arr, values)
    if values.dtype != arr.dtype:
        values = values.astype(arr.dtype)
    values = values.reshape((1,) * (arr.ndim - values.ndim) + values.shape)
    if wanted.ndim == 0:
        values = manipulation.moveaxis(values, 0, axis)
    many = values.shape[axis] if wanted.size == 1 else wanted.size
    fresh = n + np.arange(many)
    order = np.insert(np.arange(n), wanted if wanted.size != 1 else wanted.item(), fresh)
    shape = (*arr.shape[:axis], many, *arr.shape[axis + 1 :])
    both = joining.concatenate([arr, manipulation.broadcast_to(values, shape)], axis)
    return advanced_indexing.take(both, order, axis)


def _sort_complex(a: Any) -> Any:
    found = sort.sort(a)
    if found.dtype.kind == "c":
        return found
    return found.astype(np.complex64 if found.dtype.char in "bhBH" else np.complex128)


def _trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = layout.normalize_axes(axis, filt.ndim)
    found = np.zeros((filt.ndim, 0), np.int64)
    if filt.size:
        found = np.array([indices.get() for indices in advanced_indexing.nonzero(filt)])
    selection = [slice(None)] * filt.ndim
    for k in axes:
        if found.shape[1] == 0:
            selection[k] = slice(0, 0)
            continue
        first, last = found[k].min(), found[k].max()
        selection[k] = slice(first if "f" in trim else None, last + 1 if "b" in trim else None)
    return filt[tuple(selection)]


# ---- positions


def _unravel_index(indices: Any, shape: Any, order: str | None = "C") -> tuple[Any, ...]:
    shape = layout.as_shape(shape, "unravel_index")
    order = layout.as_order("unravel_index", order, among="CF")
    n = int(np.prod(shape, dtype=object))
    if indices.dtype.kind not in "iu":
        raise TypeError("only int indices permitted")
    if indices.size:
        low, high = (indices._reduce(k, None).item() for k in ("min", "max"))
        if low < 0 or high >= n:
            wrong = low if low < 0 else high
            raise ValueError(f"index {wrong} is out of bounds for array with size {n}")
    rest, found = primitives.astype(indices, np.int64), []
    for length in shape if order == "F" else reversed(shape):
        found.append(rest % length)
        rest = rest // length
    return tuple(found if order == "F" else reversed(found))


def _ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: str | None = "C"
) -> Any:
    dims = layout.as_shape(dims, "ravel_multi_index")
    order = layout.as_order("ravel_multi_index", order, among="CF")
    if len(multi_index) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    if not {*modes} <= {"raise", "wrap", "clip"}:
        raise ValueError(f"ravel_multi_index: mode must be 'raise', 'wrap' or 'clip', not {mode!r}")
    like = next(x for x in multi_index if isinstance(x, GPUArray))
    found: Any = 0
    steps = list(zip(multi_index, dims, modes, strict=True))
    for index, length, how in steps if order == "C" else reversed(steps):
        index = _on_device(like, index)
        if index.dtype.kind not in "iu":
            raise TypeError("only int indices permitted")
        index = primitives.astype(index, np.int64)
        if how == "wrap":
            index = index % length
        elif how == "clip":
            index = joining.clip(index, 0, length - 1)
        elif (
            index.size
            and not 0
            <= index._reduce("min", None).item()
            <= (index._reduce("max", None).item())
            < length
        ):
            raise ValueError("invalid entry in coordinates array")
        found = found * length + index
    return found


def _diag_indices_from(arr: Any) -> tuple[Any, ...]:
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    found: tuple[Any, ...] = (_on_device(arr, np.arange(arr.shape[0])),) * arr.ndim
    return found


def _triangle_indices(find: Callable[..., Any]) -> Callable[..., Any]:
    def call(arr: Any, k: int = 0) -> tuple[Any, ...]:
        if arr.ndim != 2:
            raise ValueError("input array must be 2-d")
        rows, columns = find(arr.shape[0], k, arr.shape[1])
        return _on_device(arr, rows), _on_device(arr, columns)

    return call


def _real_if_close(a: Any, tol: float = 100) -> Any:
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol = tol * np.finfo(a.dtype).eps
    return a.real if bool((abs(a.imag) < tol)._reduce("all", None).item()) else a


def _lexsort(keys: Any, axis: int = -1) -> Any:
    if isinstance(keys, GPUArray) and keys.ndim == 0:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    rows = manipulation.unstack(keys) if isinstance(keys, GPUArray) else list(keys)
    if not rows:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    like = next(k for k in rows if isinstance(k, GPUArray))
    if any(np.shape(k) != like.shape for k in rows):
        raise ValueError("all keys need to be the same shape")
    if like.ndim == 0 and axis in (0, -1):  # of one item, as NumPy
        return primitives.empty(like, (), np.dtype(np.int64)).fill(0)
    order = None
    for key in (_on_device(like, k) for k in rows):
        ranked = key if order is None else advanced_indexing.take_along_axis(key, order, axis)
        found = sort.argsort(ranked, axis)
        order = found if order is None else advanced_indexing.take_along_axis(order, found, axis)
    return order


def _apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **options: Any) -> Any:
    axis = layout.normalize_axis(axis, arr.ndim)
    rows = manipulation.moveaxis(arr, axis, -1)
    shape = rows.shape[:-1]
    results = [_on_device(arr, func1d(rows[k], *args, **options)) for k in np.ndindex(*shape)]
    if not results:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    part = results[0].shape
    stacked = joining.stack(results).reshape((*shape, *part))
    new_axes = tuple(range(len(shape), stacked.ndim))
    return manipulation.moveaxis(stacked, new_axes, tuple(axis + k for k in range(len(part))))


# ---- queries


def _array_equiv(a1: Any, a2: Any) -> bool:
    like: Any = a1 if isinstance(a1, GPUArray) else a2
    a, b = _on_device(like, a1), _on_device(like, a2)
    try:
        layout.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return bool((a == b)._reduce("all", None).item())  # false for dtypes that nothing compares


def _addresses(a: Any) -> np.ndarray:
    """A host array with the layout of a, at an address of its own. Its items cannot be read."""
    shown = {"data": (2**40 + a.offset, True), "shape": a.shape, "strides": a.strides}
    shown |= {"typestr": f"|V{a.itemsize}", "version": 3}
    return np.asarray(SimpleNamespace(__array_interface__=shown))


def _memory_test(numpys: Callable[..., bool]) -> Callable[..., bool]:
    """Implement numpy.shares_memory, which is exact, or may_share_memory, which compares bounds."""

    def call(a: Any, b: Any, /, max_work: Any = None) -> bool:
        if not (isinstance(a, GPUArray) and isinstance(b, GPUArray)):
            return False
        one: Any = a
        other: Any = b
        if one.base_data is not other.base_data or one.size == 0 or other.size == 0:
            return False
        return numpys(_addresses(one), _addresses(other), max_work)

    return call


def table() -> dict[str, Callable[..., Any]]:
    """Return NumPy's names and their implementations."""
    return {
        "apply_along_axis": _apply_along_axis,
        "argsort": _argsort,
        "argwhere": _argwhere,
        "array2string": lambda a, *args, **options: np.array2string(a.get(), *args, **options),
        "array_equiv": _array_equiv,
        "array_repr": lambda arr, *args, **options: np.array_repr(arr.get(), *args, **options),
        "array_str": lambda a, *args, **options: np.array_str(a.get(), *args, **options),
        "choose": _choose,
        "compress": _compress,
        "copyto": _copyto,
        "delete": _delete,
        "diag_indices_from": _diag_indices_from,
        "diag": _diag,
        "diagflat": lambda v, k=0: _diag(primitives.flat(v), k),
        "extract": _extract,
        "fill_diagonal": _fill_diagonal,
        "flatnonzero": _flatnonzero,
        "insert": _insert,
        "iscomplex": _part_is("iscomplex"),
        "isneginf": _infinite(-np.inf),
        "isposinf": _infinite(np.inf),
        "isreal": _part_is("isreal"),
        "lexsort": _lexsort,
        "may_share_memory": _memory_test(np.may_share_memory),
        "piecewise": _piecewise,
        "place": _place,
        "putmask": _putmask,
        "ravel_multi_index": _ravel_multi_index,
        "real_if_close": _real_if_close,
        "resize": _resize,
        "select": _select,
        "setxor1d": sets.setxor1d,
        "shares_memory": _memory_test(np.shares_memory),
        "sort": _sort,
        "sort_complex": _sort_complex,
        "tril_indices_from": _triangle_indices(np.tril_indices),
        "trim_zeros": _trim_zeros,
        "triu_indices_from": _triangle_indices(np.triu_indices),
        "unique": _unique,
        "unravel_index": _unravel_index,
        "where": _where,
    }
