"""NumPy's functions that ignore NaNs: sums, means, extremes, medians and quantiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import advanced_indexing, primitives, ufuncs
from pygpu._src.array.scan import scan

from . import joining, statistics
from .narrow import in_float32

_NoValue: Any = getattr(np, "_NoValue", None)


def _passed_options(options: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in options.items() if v is not _NoValue}


def _replace_nan(a: Any, value: Any) -> Any:
    """Replace NaNs in the array by *value*."""
    if a.dtype.kind not in "fc":
        return a
    where = ufuncs.call("isnan", (a,))
    return joining.choose("nan_to_num", where, a.dtype.type(value), a)


def _reduction(kind: str, instead: Any) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, **options: Any) -> Any:
        options = _passed_options(options | {"dtype": dtype, "out": out})
        options = {k: v for k, v in options.items() if v is not None or k == "where"}
        if a.dtype.kind in "mM" and kind in ("max", "min"):
            return getattr(np, "f" + kind).reduce(a, axis, **options)
        if a.dtype.kind == "f" and kind in ("max", "min") and "initial" not in options:
            where = ufuncs.call("isnan", (a,))
            empty = where._reduce("all", axis, keepdims=bool(options.get("keepdims", False)))
            result = _replace_nan(a, instead)._reduce(kind, axis, **options)
            result = joining.choose("nan" + kind, empty, a.dtype.type(np.nan), result)
            return _store(result, out)
        return _replace_nan(a, instead)._reduce(kind, axis, **options)

    def extreme(a: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
        return call(a, axis, None, out, **options)

    return extreme if kind in ("max", "min") else call


def _store(result: Any, out: Any) -> Any:
    return statistics.store_in(out, result)


def _make_arg_extremum(kind: str, instead: float) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
        if a.dtype.kind == "f":
            empty = ufuncs.call("isnan", (a,))._reduce("all", axis)
            if bool(empty._reduce("any", None).item()):
                raise ValueError("All-NaN slice encountered")
        options = (
            _passed_options(options | {"out": out}) if out is not None else _passed_options(options)
        )
        return _replace_nan(a, instead)._reduce(kind, axis, **options)

    return call


def _make_cumulative(kind: str, instead: int) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return scan(kind, _replace_nan(a, instead), axis, dtype=dtype, out=out)

    return call


def _count(a: Any, axis: Any, keepdims: bool = False) -> Any:
    """Count the items that are not NaN, as numbers that divide without a change of dtype."""
    present = ufuncs.call("logical_not", (ufuncs.call("isnan", (a,)),))
    many = present._reduce("sum", axis, keepdims=keepdims)
    real = np.empty(0, a.dtype).real.dtype
    return primitives.astype(many, real)


def _mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
    **options: Any,
) -> Any:  # fmt: skip
    keepdims, options = _keepdims(keepdims), _passed_options(options)
    _check_inexact(a, dtype, out)
    a, options = _apply_where("nanmean", a, options)
    if a.dtype.kind not in "fc":
        return a._reduce("mean", axis, dtype=dtype, out=out, keepdims=keepdims, **options)
    total = _replace_nan(a, 0)._reduce("sum", axis, dtype=dtype, keepdims=keepdims)
    mean = ufuncs.call("divide", (total, _count(a, axis, keepdims)))
    return _store(primitives.astype(mean, total.dtype), out)


def _check_inexact(a: Any, dtype: Any, out: Any) -> None:
    if a.dtype.kind in "fc":
        if dtype is not None and np.dtype(dtype).kind not in "fc":
            raise TypeError("If a is inexact, then dtype must be inexact")
        if out is not None and out.dtype.kind not in "fc":
            raise TypeError("If a is inexact, then out must be inexact")


def _keepdims(keepdims: Any) -> bool:
    return keepdims is not _NoValue and bool(keepdims)


def _apply_where(call: str, a: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the array and the option ``where`` of a mean; for floats, unselected items are NaN
    instead."""
    others = [name for name in options if name != "where"]
    if others:
        raise TypeError(f"{call}: {', '.join(others)} is not supported for arrays on a device")
    if a.dtype.kind in "fc" and options:
        a = joining.choose(call, options.pop("where"), a, a.dtype.type(np.nan))
    return a, options


def _make_variance(root: bool) -> Callable[..., Any]:
    """nanvar, nanstd."""
    name = "nanstd" if root else "nanvar"

    def call(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
        keepdims: Any = False, **options: Any,
    ) -> Any:  # fmt: skip
        keep = _keepdims(keepdims)
        options = _passed_options(options)
        if "correction" in options:
            if ddof != 0:
                raise ValueError("ddof and correction can't be provided simultaneously.")
            ddof = options.pop("correction")
        _check_inexact(a, dtype, out)
        a, options = _apply_where(name, a, options)
        if a.dtype.kind not in "fc":
            options.update(dtype=dtype, out=out, ddof=ddof, keepdims=keep)
            return a._reduce("std" if root else "var", axis, **options)
        away = a - _mean(a, axis, dtype, keepdims=True)
        # only original NaNs: the NaN of inf - inf counts
        away = joining.choose(name, ufuncs.call("isnan", (a,)), away.dtype.type(0), away)
        square = (away.conj() * away).real if a.dtype.kind == "c" else away * away
        many = _count(a, axis, keep) - square.dtype.type(ddof)
        many = joining.choose(name, many > 0, many, square.dtype.type(np.nan))
        result = square._reduce("sum", axis, keepdims=keep) / many
        result = result if dtype is None else primitives.astype(result, np.dtype(dtype))
        return _store(ufuncs.call("sqrt", (result,)) if root else result, out)

    return call


def _line(low: Any, high: Any, part: Any) -> Any:
    step = high - low
    near, far = low + step * part, high - step * (1 - part)
    return joining.choose("nanquantile", part < 0.5, near, far)


def _mean_of_two(low: Any, high: Any, part: Any) -> Any:
    """Return a median, which does not subtract infinities."""
    mean = (low + high) / 2 if low.dtype.kind == "m" else (low + high) * 0.5
    return joining.choose("nanmedian", part > 0, mean, low)


def _quantile(
    call: str, a: Any, q: Any, axis: Any, out: Any, keepdims: bool,
    between: Callable[[Any, Any, Any], Any] = _line, method: str = "linear",
) -> Any:  # fmt: skip
    """Compute quantiles of the items of each row that are not NaN; q: a host array."""
    if between is _mean_of_two and a.dtype.kind in "biu":
        return statistics.median(a, axis, out, keepdims=keepdims)
    if a.dtype.kind not in ("fmc" if between is _mean_of_two else "fm"):
        return statistics.quantile(a, q, axis, out, keepdims=keepdims)
    rows, axes = statistics.sorted_rows(call, a, axis, kinds="fiubmc")  # NaNs are last
    n, rest = rows.shape[0], rows.shape[1:]
    nothing = rows.dtype.type("NaT" if rows.dtype.kind == "m" else "nan")
    found = primitives.empty(rows, (q.size, *rest), rows.dtype).fill(nothing)
    if n and found.size:
        last = ufuncs.call("logical_not", (ufuncs.call("isnan", (rows,)),))._reduce("sum", 0) - 1
        last = ufuncs.call("maximum", (last, 0))  # for rows with only NaNs, which give NaN
        kind = np.float64 if rows.backend.limits.fp64 else np.float32
        for k, share in enumerate(q.ravel()):
            if method != "linear":
                many = primitives.astype(last + 1, share.dtype if share.dtype.kind == "f" else kind)
                first, part = statistics.quantile_positions(method, many, share)
                first = primitives.astype(first, np.int64)
            else:
                position = last * kind(share)
                first = primitives.astype(ufuncs.call("floor", (position,)), np.int64)
                part = position - first
            if part is not None and rows.dtype.kind != "m":
                part = primitives.astype(part, np.empty(0, rows.dtype).real.dtype)
            after = ufuncs.call("minimum", (first + 1, last))
            low = advanced_indexing.take_along_axis(rows, first.reshape((1, *rest)), 0)[0]
            # 0 and 1 of the linear method are items, without interpolation
            if part is None or (method == "linear" and q.dtype.kind in "iub"):
                found[k] = low
                continue
            high = advanced_indexing.take_along_axis(rows, after.reshape((1, *rest)), 0)[0]
            found[k] = between(low, high, part)
    found = found.reshape((*q.shape, *rest))
    return _store(statistics.with_kept_axes(found, a, axes, keepdims, q.ndim), out)


def _quantiles(call: str, scale: int) -> Callable[..., Any]:
    def run(
        a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
        method: str = "linear", keepdims: Any = False, **options: Any,
    ) -> Any:  # fmt: skip
        shares = np.asarray(q.get() if isinstance(q, GPUArray) else q)  # type: ignore[attr-defined]
        statistics.check_shares(shares, scale)
        if a.size == 0:  # as in NumPy, whose shape then ignores the shares
            return _mean(a, axis, None, out, keepdims)
        if a.dtype.kind in "biu" and options.get("weights") is None:  # which have no NaN
            function: Any = np.quantile if scale == 1 else np.percentile
            return function(a, q, axis, out, method=method, keepdims=_keepdims(keepdims))
        if method not in statistics.METHODS:
            raise ValueError(
                f"{method!r} is not a valid method. Use one of: {sorted(statistics.METHODS)}"
            )
        if options.get("weights") is not None:
            raise TypeError(f"{call}: weights= is not supported for arrays of floats on a device")
        whole = scale == 1 and shares.dtype.kind in "iub"
        item = statistics.gives_items(method)
        if type(q) not in (int, float) and a.dtype.kind == "f" and not whole and not item:
            # Their dtype counts for the result.
            a = primitives.astype(a, np.result_type(a.dtype, shares.dtype))
        if method != "linear" and type(q) in (int, float) and a.dtype.kind == "f":
            shares = np.asarray(np.true_divide(q, a.dtype.type(scale)), a.dtype)
        elif not whole:
            shares = shares / np.float64(scale)
        return _quantile(call, a, shares, axis, out, _keepdims(keepdims), method=method)

    return run


def _median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> Any:
    return _quantile("nanmedian", a, np.asarray(0.5), axis, out, _keepdims(keepdims), _mean_of_two)


def table() -> dict[str, Callable[..., Any]]:
    """Return NumPy's names and their implementations."""
    functions: dict[str, Callable[..., Any]] = {
        "nanargmax": _make_arg_extremum("argmax", -np.inf),
        "nanargmin": _make_arg_extremum("argmin", np.inf),
        "nancumprod": _make_cumulative("cumprod", 1),
        "nancumsum": _make_cumulative("cumsum", 0),
        "nanmax": _reduction("max", -np.inf),
        "nanmean": _mean,
        "nanmedian": _median,
        "nanmin": _reduction("min", np.inf),
        "nanpercentile": _quantiles("nanpercentile", 100),
        "nanprod": _reduction("prod", 1),
        "nanquantile": _quantiles("nanquantile", 1),
        "nanstd": _make_variance(True),
        "nansum": _reduction("sum", 0),
        "nanvar": _make_variance(False),
    }
    return {name: in_float32(function) for name, function in functions.items()}
