"""More of NumPy's functions for device arrays: those that rearrange, compare sets, make arrays
like another one, or are short combinations of others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import (
    gufunc,
    layout,
    primitives,
    results,
    sort,
    ufuncs,
)
from pygpu._src.array.scan import scan
from pygpu._src.codegen import dtypes

from . import (
    business_days,
    einsum,
    grids,
    joining,
    manipulation,
    math,
    nanfunctions,
    padding,
    polynomials,
    searching,
    sets,
    special,
    statistics,
    weighted,
)
from .narrow import in_float32

_NoValue: Any = getattr(np, "_NoValue", None)
# methods of quantiles that take items as they are
_WITHOUT_DIFFERENCES = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
_UFUNC_OPTIONS = ("casting", "dtype", "order", "subok")


def _like(value: Any) -> Callable[..., Any]:
    """Implement numpy.empty_like (value None), zeros_like, ones_like."""

    def make(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None,
             **options: Any) -> Any:  # fmt: skip
        if value:
            return _full_like(a, value, dtype, order, subok, shape)
        array = _empty_like(a, dtype, order, subok, shape)
        return array if value is None else array.fill(0)  # for any dtype

    return make


def _empty_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Any:
    kind = a.dtype if dtype is None else np.dtype(dtype)
    size = a.shape if shape is None else layout.as_shape(shape)
    strides = None
    if order == "F" or (order in ("K", "A") and a._f_contiguous and not a._c_contiguous):
        strides = layout.f_strides(size, kind.itemsize)
    return primitives.empty(a, size, kind, strides)


def _full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    **options: Any,
) -> Any:
    array = _empty_like(a, dtype, order, subok, shape)
    if dtypes.is_date(array.dtype) and isinstance(fill_value, (float, np.floating)):
        fill_value = np.asarray(fill_value).astype(array.dtype)  # as copies in NumPy convert it
    array[...] = fill_value
    return array


def diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = _NoValue, append: Any = _NoValue
) -> Any:
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:  # as in NumPy, which then adds nothing
        return a
    axis = layout.normalize_axis(axis, a.ndim)
    parts = [a]
    for at, extra in ((0, prepend), (len(parts), append)):
        if extra is not _NoValue and extra is not None:
            extra = primitives.as_array(a, extra)
            if extra.ndim == 0:
                one = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
                extra = manipulation.broadcast_to(extra, one)
            parts.insert(at if at == 0 else len(parts), extra)
    if len(parts) > 1:
        a = joining.concatenate(parts, axis)
    return joining.diff(a, n, axis)


def _together(*items: Any) -> list[Any]:
    """Arrays on the device of the first array among the items."""
    like = next(x for x in items if primitives.is_array(x))
    return [x if primitives.is_array(x) else primitives.as_array(like, x) for x in items]


def _clip(
    a: Any, a_min: Any = _NoValue, a_max: Any = _NoValue, out: Any = None, **options: Any
) -> Any:
    if (a_min is not _NoValue or a_max is not _NoValue) and options.keys() & {"min", "max"}:
        raise ValueError("clip: limits are named either a_min and a_max or min and max")
    low = options.get("min") if a_min is _NoValue else a_min
    high = options.get("max") if a_max is _NoValue else a_max
    for option in options.keys() - {"min", "max", "where", *_UFUNC_OPTIONS}:
        raise TypeError(f"clip: {option}= is not supported for arrays on a device")
    dtype = options.get("dtype")
    if dtype is not None:
        casting = options.get("casting", "same_kind")
        a = primitives.astype(
            a, ufuncs.resolve("positive", (a.dtype, None), casting, np.dtype(dtype))[0]
        )
        low, high = (x if x is None else _cast(x, a, casting) for x in (low, high))
    low, high = (np.asarray(x) if isinstance(x, (list, tuple)) else x for x in (low, high))
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    where = options.get("where", True)
    if low is None and high is None:
        result = ufuncs.call("positive", (a,), None if out is None else (out,), where=where)
    else:
        result = joining.clip(a, low, high, out, where)
    order = options.get("order", "K")
    return result._copy(order=order) if out is None and order in ("C", "F") else result


def _cast(x: Any, like: Any, casting: Any) -> Any:
    """Convert a limit to an array of the dtype of another one."""
    kind = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
    plain = isinstance(x, (bool, int, float, complex))
    if not plain and not np.can_cast(kind, like.dtype, casting):
        raise TypeError(f"clip: cannot cast from {kind} to {like.dtype} with rule {casting!r}")
    return x if plain else primitives.astype(primitives.as_array(like, x), like.dtype)


def _cumulative(kind: str) -> Callable[..., Any]:
    def call(
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        x = manipulation.atleast(1, [x])
        if isinstance(axis, tuple):
            raise ValueError("accumulate does not allow multiple axes")
        if axis is None:
            if x.ndim > 1:
                raise ValueError("For arrays which have more than one dimension axis is required.")
            axis = 0
        if not include_initial:
            return scan(kind, x, axis, dtype=dtype, out=out)
        axis = layout.normalize_axis(axis, x.ndim)
        dtype = _running_dtype(x.dtype) if dtype is None else np.dtype(dtype)
        shape = (*x.shape[:axis], x.shape[axis] + 1, *x.shape[axis + 1 :])
        result = primitives.empty(x, shape, dtype) if out is None else out
        before = (slice(None),) * axis
        result[(*before, slice(None, 1))] = 0 if kind == "cumsum" else 1
        if x.shape[axis]:
            result[(*before, slice(1, None))] = scan(kind, x, axis, dtype=dtype)
        return result

    return call


cumulative_sum = _cumulative("cumsum")
cumulative_prod = _cumulative("cumprod")


def _running_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of cumulative sums of items of a dtype."""
    zero: np.generic = np.sum(np.empty(0, dtype))
    return zero.dtype


def _isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    like = a if isinstance(a, GPUArray) else b
    plain = (int, float, complex)
    a = ufuncs.to_operand(a if isinstance(a, plain) else primitives.as_array(like, a), like)
    if isinstance(b, int):  # a difference of floats, since that of unsigned items wraps around
        b = float(b)
    elif hasattr(b, "dtype") or not isinstance(b, plain):
        b = primitives.as_array(like, b)
        b = primitives.astype(b, np.result_type(b.dtype, 1.0))
    finite = np.isfinite(b)
    close = (abs(a - b) <= atol + rtol * abs(b)) & finite
    close |= a == b
    if equal_nan:
        close |= (a != a) & (b != b)
    return close


def _array_equal(a: Any, b: Any, equal_nan: bool = False) -> bool:
    like: Any = a if isinstance(a, GPUArray) else b
    if np.shape(a) != np.shape(b):
        return False
    a, b = primitives.as_array(like, a), primitives.as_array(like, b)
    same = a == b
    if equal_nan:
        same |= (a != a) & (b != b)
    return bool(same._reduce("all", None).item())


def _nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    result = x._copy() if copy else x
    if x.dtype.kind == "c":
        for part in (result.real, result.imag):
            _nan_to_num(part, False, nan, posinf, neginf)
        return result
    if dtypes.kind(x.dtype) == "f":
        limits = np.finfo(x.dtype) if x.dtype.num < 256 else sys.modules["ml_dtypes"].finfo(x.dtype)
        for test, value in (
            (np.isnan(x), nan),
            (x == np.inf, limits.max if posinf is None else posinf),
            (x == -np.inf, limits.min if neginf is None else neginf),
        ):
            if np.ndim(value):
                numpys: Any = np.copyto
                numpys(result, value, where=test)
            else:
                result[test] = value
    return result


def _i0(x: Any) -> Any:
    wide = x.dtype.kind in "biu" and x.backend.limits.fp64
    found = special.call("i0", (x.astype(float) if wide else x,))
    return primitives.astype(found, x.dtype) if x.dtype == np.float16 else found


def _angle(z: Any, deg: bool = False) -> Any:
    angle = np.arctan2(z.imag, z.real) if z.dtype.kind == "c" else np.arctan2(0, z)
    return np.degrees(angle) if deg else angle


def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *,
             keepdims: Any = _NoValue) -> Any:  # fmt: skip
    keep = keepdims is not _NoValue and bool(keepdims)
    if weights is None:
        mean = a._reduce("mean", axis, keepdims=keep)
        if not returned:
            return mean
        return mean, primitives.empty(mean, mean.shape, mean.dtype).fill(a.size / mean.size)
    weights = weighted.spread(primitives.as_array(a, weights), a, axis)
    kinds = (a.dtype, weights.dtype) + ((np.dtype(float),) if a.dtype.kind in "biu" else ())
    dtype = np.result_type(*kinds)
    many = weights._reduce("sum", axis, dtype=dtype, keepdims=keep)
    if bool((many == 0)._reduce("any", None).item()):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    mean = ufuncs.call("multiply", (a, weights), dtype=dtype)._reduce("sum", axis, keepdims=keep)
    return (mean / many, many) if returned else mean / many


def _einsum(
    subscripts: Any, *operands: Any, out: Any = None, dtype: Any = None, order: str = "K",
    casting: Any = "safe", optimize: Any = False,
) -> Any:  # fmt: skip
    if dtype is not None:
        for x in operands:
            if isinstance(x, GPUArray) and not np.can_cast(x.dtype, dtype, casting):
                raise TypeError(
                    f"einsum: cannot cast an operand of {x.dtype} to {np.dtype(dtype)} with rule "
                    f"{casting!r}"
                )
        operands = tuple(x.astype(dtype, copy=False) for x in operands)
    return einsum.einsum(subscripts, *operands, out=out, optimize=optimize)


def _einsum_path(*operands: Any, optimize: Any = "greedy") -> Any:
    """Plan from shapes alone."""
    shapes = [
        np.broadcast_to(np.empty((), x.dtype), x.shape) if isinstance(x, GPUArray) else x
        for x in operands
    ]
    return np.einsum_path(*shapes, optimize=optimize)


def _apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    found, ndim = a, a.ndim
    for axis in np.atleast_1d(np.asarray(axes)).tolist():
        positive_axis = axis + ndim if axis < 0 else axis
        result = func(found, positive_axis)
        if result.ndim != found.ndim:
            result = manipulation.expand_dims(result, positive_axis)
            if result.ndim != found.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        found = result
    return found


def _rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """Move the axis before *start*, which counts from the end if it is negative."""
    n = a.ndim
    axis = layout.normalize_axis(axis, n)
    before = layout.normalize_axis(start, n) if start < 0 else layout.normalize_axis(start, n + 1)
    return manipulation.moveaxis(a, axis, before - (before > axis))


def _plain(value: Any) -> Any:
    return value.dtype if isinstance(value, GPUArray) else value


def _quantile(scale: int) -> Callable[..., Any]:
    """Implement numpy.quantile (1) or percentile (100)."""

    def call(
        a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
        method: str = "linear", keepdims: Any = False, **options: Any,
    ) -> Any:  # fmt: skip
        shares: Any = q.get() if isinstance(q, GPUArray) else q  # type: ignore[attr-defined]
        if scale == 100:
            statistics.check_shares(np.asarray(shares), 100)
            plain = type(shares) in (int, float)
            shares = shares / 100 if plain else np.asarray(np.true_divide(shares, 100))
        if a.dtype.kind == "b" and method not in _WITHOUT_DIFFERENCES:
            raise TypeError("quantile: booleans have no differences; use .astype(numpy.int8)")
        weights = options.get("weights")
        keep = bool(keepdims)
        if weights is not None:
            return weighted.quantile(a, shares, axis, out, weights, method, keep)
        return statistics.quantile(a, shares, axis, out, method=method, keepdims=keep)

    return call


def _unique(*wanted: str) -> Callable[..., Any]:
    """Implement numpy.unique_all and related functions: all NaNs are distinct."""

    def call(x: Any, /) -> Any:
        return unique_parts(x, wanted)

    return call


def unique_parts(x: Any, wanted: tuple[str, ...]) -> Any:
    options = {f"return_{name}": name in wanted for name in ("index", "inverse", "counts")}
    found = sort.unique(x, **options, equal_nan=False)
    if len(wanted) == 0:
        return found
    if len(wanted) == 3:
        return results.UniqueAllResult(*found)
    if wanted == ("counts",):
        return results.UniqueCountsResult(*found)
    return results.UniqueInverseResult(*found)


def _shapes() -> dict[str, Callable[..., Any]]:
    """Return functions that arrange items: join, split, repeat, rotate."""
    m = manipulation
    return {
        "append": lambda arr, values, axis=None: m.concat(_together(arr, values), axis),
        "array_split": lambda a, parts, axis=0: m.split(a, parts, axis),
        "atleast_1d": lambda *arrays: m.atleast(1, _together(*arrays)),
        "atleast_2d": lambda *arrays: m.atleast(2, _together(*arrays)),
        "atleast_3d": lambda *arrays: m.atleast(3, _together(*arrays)),
        "block": m.block,
        "broadcast_arrays": lambda *arrays, subok=False: m.broadcast_arrays(*arrays),
        "broadcast_to": lambda a, shape, subok=False: m.broadcast_to(a, shape),
        "column_stack": lambda arrays: m.join(arrays, "column_stack"),
        "concatenate": m.concat,
        "dsplit": lambda a, parts: m.split_by_name("dsplit", a, parts),
        "dstack": lambda arrays: m.join(arrays, "dstack"),
        "expand_dims": m.expand_dims,
        "flip": m.flip,
        "fliplr": lambda a: m.flip(a, 1),
        "flipud": lambda a: m.flip(a, 0),
        "hsplit": lambda a, parts: m.split_by_name("hsplit", a, parts),
        "hstack": lambda arrays, **options: m.join(arrays, "hstack", **options),
        "matrix_transpose": lambda a, /: a.mT,
        "meshgrid": lambda *arrays, copy=True, sparse=False, indexing="xy": m.meshgrid(
            arrays, indexing, copy, sparse
        ),
        "moveaxis": m.moveaxis,
        "pad": padding.pad,
        "repeat": m.repeat,
        "roll": m.roll,
        "rollaxis": _rollaxis,
        "rot90": m.rot90,
        "split": lambda a, parts, axis=0: m.split(a, parts, axis, False),
        "stack": m.stack,
        "tile": m.tile,
        "tril": lambda a, k=0: m.triangle(a, k),
        "triu": lambda a, k=0: m.triangle(a, k, True),
        "unstack": lambda x, /, *, axis=0: m.unstack(x, axis),
        "vsplit": lambda a, parts: m.split_by_name("vsplit", a, parts),
        "vstack": lambda arrays, **options: m.join(arrays, "vstack", **options),
    }


def _statistics() -> dict[str, Callable[..., Any]]:
    """Return functions of distributions of items, and of arrays as sets."""
    return {
        "argpartition": lambda a, kth, axis=-1, kind="introselect", order=None: (
            statistics.partition(a, kth, axis, kind, order, positions=True)
        ),
        "average": _average,
        "bincount": lambda x, /, weights=None, minlength=0: statistics.bincount(
            x, weights, minlength
        ),
        "cumulative_prod": cumulative_prod,
        "cumulative_sum": cumulative_sum,
        "diff": diff,
        "digitize": statistics.digitize,
        "histogram": statistics.histogram,
        "histogram2d": statistics.histogram2d,
        "histogramdd": statistics.histogramdd,
        "histogram_bin_edges": lambda a, *args, **options: primitives.as_array(
            a, statistics.bin_edges(primitives.flat(a), *args, **options)
        ),
        "intersect1d": sets.intersect1d,
        "isin": lambda a, b, assume_unique=False, invert=False, *, kind=None: sets.isin(
            a, b, invert, kind
        ),
        "median": in_float32(
            lambda a, axis=None, out=None, overwrite_input=False, keepdims=False: statistics.median(
                a, axis, out, keepdims=bool(keepdims)
            )
        ),
        "partition": statistics.partition,
        "percentile": in_float32(_quantile(100)),
        "quantile": in_float32(_quantile(1)),
        "setdiff1d": sets.setdiff1d,
        "union1d": sets.union1d,
        "unique_all": _unique("index", "inverse", "counts"),
        "unique_counts": _unique("counts"),
        "unique_inverse": _unique("inverse"),
        "unique_values": _unique(),
    }


def _items() -> dict[str, Callable[..., Any]]:
    """Return functions of single items, of their dtypes, and of new arrays."""
    return {
        "allclose": lambda a, b, *args, **options: bool(
            _isclose(a, b, *args, **options)._reduce("all", None).item()
        ),
        "angle": _angle,
        "around": lambda a, decimals=0, out=None: joining.round(a, decimals, out),
        "array_equal": _array_equal,
        "busday_count": business_days.busday_count,
        "busday_offset": business_days.busday_offset,
        "is_busday": business_days.is_busday,
        "astype": lambda x, dtype, /, *, copy=True, device=None: x.astype(dtype, copy=copy),
        "apply_over_axes": _apply_over_axes,
        "can_cast": lambda a, to, casting="safe": np.can_cast(_plain(a), _plain(to), casting),
        "clip": _clip,
        "common_type": lambda *arrays: np.common_type(*(np.empty(0, x.dtype) for x in arrays)),
        "einsum": _einsum,
        "einsum_path": _einsum_path,
        "empty_like": _like(None),
        "fix": lambda x, out=None: ufuncs.call("trunc", (x,), None if out is None else (out,)),
        "full_like": _full_like,
        "i0": _i0,
        "imag": lambda a: a.imag,
        "isclose": _isclose,
        "iscomplexobj": lambda a: a.dtype.kind == "c",
        "isrealobj": lambda a: a.dtype.kind != "c",
        "min_scalar_type": lambda a, /: a.dtype if a.ndim else np.min_scalar_type(a.get()),
        "nan_to_num": _nan_to_num,
        "ones_like": _like(1),
        "real": lambda a: a.real,
        "result_type": lambda *args: np.result_type(*map(_plain, args)),
        "vecdot": gufunc.vecdot,
        "zeros_like": _like(0),
    }


def table() -> dict[Any, Callable[..., Any]]:
    """Return NumPy's functions and their implementations, without those that NumPy 1 lacks."""
    by_name = _shapes() | _statistics() | _items()
    by_name |= nanfunctions.table() | searching.table() | math.table()
    by_name |= polynomials.table() | grids.table()
    by_name["concat"] = by_name["concatenate"]
    by_name["permute_dims"] = lambda a, axes=None: (
        a.transpose() if axes is None else a.transpose(axes)
    )
    found = {getattr(np, name, None): call for name, call in by_name.items()}
    found.pop(None, None)
    return found


# ---- with like=


def _as_array(like: Any, a: Any, dtype: Any = None, copy: bool = False) -> Any:
    if isinstance(a, GPUArray):
        array: Any = a
        return array.astype(array.dtype if dtype is None else dtype, copy=copy)
    if isinstance(a, (list, tuple)) and any(isinstance(x, GPUArray) for x in a):
        return joining.stack([_as_array(like, x, dtype) for x in a])
    return like._from_host(np.asarray(a, dtype))


def makers(like: Any) -> dict[Any, Callable[..., Any]]:
    """Return NumPy's functions that make arrays, for calls with ``like=`` a device array."""

    def asarray(a: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        return _as_array(like, a, dtype, options.get("copy", False) is True)

    def array(a: Any, dtype: Any = None, *, copy: Any = True, **options: Any) -> Any:
        return _as_array(like, a, dtype, bool(copy))

    def filled(value: Any) -> Callable[..., Any]:
        def make(shape: Any, dtype: Any = None, order: str = "C", **options: Any) -> Any:
            kind = np.dtype(float if dtype is None else dtype)
            new = primitives.empty(like, layout.as_shape(shape), kind)
            return new if value is None else new.fill(value)

        return make

    def full(
        shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **options: Any
    ) -> Any:
        kind = np.asarray(fill_value).dtype if dtype is None else np.dtype(dtype)
        return primitives.empty(like, layout.as_shape(shape), kind).fill(fill_value)

    def arange(*args: Any, **options: Any) -> Any:
        options.pop("device", None)
        start, step, n, dtype, _ = joining.arange_plan("arange", args, options)
        return joining.arange_into(primitives.empty(like, (n,), dtype), start, step)

    def eye(N: int, M: Any = None, k: int = 0, dtype: Any = float, **options: Any) -> Any:
        shape = N, N if M is None else M
        return manipulation.eye_into(primitives.empty(like, shape, dtype), k)

    return {
        np.asarray: asarray,
        np.asanyarray: asarray,
        np.ascontiguousarray: asarray,
        np.array: array,
        np.empty: filled(None),
        np.zeros: filled(0),
        np.ones: filled(1),
        np.full: full,
        np.arange: arange,
        np.eye: eye,
    }
