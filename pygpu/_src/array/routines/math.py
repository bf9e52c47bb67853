"""NumPy's functions of sampled values: convolution, interpolation, derivatives and integrals,
polynomials, covariances, products of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import (
    advanced_indexing,
    layout,
    matmul,
    primitives,
    sort,
    ufuncs,
)
from pygpu._src.array.scan import scan

from . import joining, manipulation, weighted

# NumPy 2.5 no longer has products of two-dimensional vectors.
_NO_FLAT_CROSS = np.lib.NumpyVersion(np.__version__) >= "2.5.0"
# NumPy's versions before 2.2 take one row as one variable, whatever rowvar= says.
_TURNS_ONE_ROW = np.lib.NumpyVersion(np.__version__) >= "2.2.0"


def _arrays(call: str, *operands: Any) -> list[Any]:
    """Convert operands to arrays on the device of the first device array."""
    like = next(x for x in operands if isinstance(x, GPUArray))
    found = [primitives.as_array(like, x, call=call) for x in operands]
    ufuncs.same_device(call, found)
    return found


# ---- convolution


def _convolved(call: str, a: Any, v: Any, mode: str, backwards: bool) -> Any:
    """Compute sums of a[k - j] * v[j] over j; mode as for numpy.convolve. *v* is not the longer
    one, or (backwards) the two were exchanged."""
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError(f"{call}: arrays must have one axis, not {a.ndim} and {v.ndim}")
    n, m = a.size, v.size
    if n == 0 or m == 0:
        raise ValueError(f"{call}: arrays must not be empty")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{call}: mode must be 'full', 'same' or 'valid', not {mode!r}")
    dtype = np.result_type(a.dtype, v.dtype)
    if mode == "full":
        first, many = 0, n + m - 1
    elif mode == "same":
        first, many = (m // 2 if backwards else (m - 1) // 2), n
    else:
        first, many = m - 1, n - m + 1
    wide = primitives.empty(a, (n + 2 * (m - 1),), dtype).fill(0)
    wide[m - 1 : m - 1 + n] = a
    windows = wide._view((many, m), (dtype.itemsize,) * 2, wide.offset + first * dtype.itemsize)
    turned = primitives.astype(v, dtype)[::-1]
    sums = matmul.matmul(windows, turned)
    if dtype.kind in "fc":  # zeros beside the ends would be multiplied with NaN
        for rows in (range(max(min(m - 1 - first, many), 0)), range(max(n - first, 0), many)):
            if rows:
                edge = slice(rows[0], rows[-1] + 1)
                at = first + np.arange(rows[0], rows[-1] + 1)[:, None] + np.arange(1 - m, 1)
                inside = primitives.as_array(a, (at >= 0) & (at < n))
                zero = primitives.as_array(a, np.zeros((), dtype))
                there = joining.choose(call, inside, windows[edge] * turned, zero)
                sums[edge] = there._reduce("sum", 1)
    return sums


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = manipulation.atleast(1, _arrays("convolve", a, v))
    if v.size > a.size:
        a, v = v, a
    return _convolved("convolve", a, v, mode, False)


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = _arrays("correlate", a, v)
    if a.ndim == v.ndim == 1 and v.size > a.size:
        return _convolved("correlate", v.conj()[::-1], a, mode, True)
    return _convolved("correlate", a, v.conj()[::-1], mode, False)


# ---- between samples


def _on_line(left: Any, right: Any, y0: Any, y1: Any, width: Any) -> Any:
    """Interpolate at distances from two samples: from the other one where the first gives NaN, as
    beside infinities."""
    slope = (y1 - y0) / width
    result = slope * left + y0
    result = joining.choose("interp", ufuncs.call("isnan", (result,)), slope * right + y1, result)
    level = ufuncs.call("isnan", (result,)) & (y0 == y1)
    return joining.choose("interp", level, y0, result)


def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    x, xp, fp = _arrays("interp", x, xp, fp)
    if xp.ndim != 1 or fp.ndim != 1 or xp.size != fp.size:
        raise ValueError("interp: fp and xp must have one axis of the same length")
    if xp.size == 0:
        raise ValueError("array of sample points is empty")
    for name, array in (("x", x), ("xp", xp)):
        if array.dtype.kind not in "biuf":
            raise TypeError(f"interp: {name} must be of real numbers, not of {array.dtype}")
    if fp.dtype.kind not in "biufc":
        raise TypeError(f"interp: fp must be of numbers, not of {fp.dtype}")
    kind = np.dtype(np.complex128 if fp.dtype.kind == "c" else np.float64)
    x, xp, fp = (
        primitives.astype(x, np.float64),
        primitives.astype(xp, np.float64),
        primitives.astype(fp, kind),
    )
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = x % period, xp % period
        order = sort.argsort(xp)
        xp, fp = advanced_indexing.take(xp, order), advanced_indexing.take(fp, order)
        xp = joining.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = joining.concatenate([fp[-1:], fp, fp[:1]])
    n = xp.size
    at = ufuncs.call("subtract", (sort.searchsorted(xp, x, "right"), 1))
    at = joining.clip(at, 0, max(n - 2, 0))
    next_ = ufuncs.call("minimum", (at + 1, n - 1))
    x0, y0 = advanced_indexing.take(xp, at), advanced_indexing.take(fp, at)
    x1, y1 = advanced_indexing.take(xp, next_), advanced_indexing.take(fp, next_)
    width = x1 - x0
    width = joining.choose("interp", width == 0, 1.0, width)
    if kind.kind == "c":
        result = primitives.empty(x, x.shape, kind)
        result.real[...] = _on_line(x - x0, x - x1, y0.real, y1.real, width)
        result.imag[...] = _on_line(x - x0, x - x1, y0.imag, y1.imag, width)
    else:
        result = _on_line(x - x0, x - x1, y0, y1, width)
    result = joining.choose("interp", x == x0, y0, result)  # exact, also next to infinities
    result = joining.choose("interp", x == x1, y1, result)
    last, first = fp[n - 1], fp[0]
    after = last if right is None else kind.type(right)
    before = first if left is None else kind.type(left)
    result = joining.choose("interp", x > xp[n - 1], after, result)
    result = joining.choose("interp", x < xp[0], before, result)
    return joining.choose("interp", ufuncs.call("isnan", (x,)), kind.type(np.nan), result)


def _gradient(f: Any, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f = next(iter(_arrays("gradient", f)))
    if f.dtype.kind == "b":
        raise TypeError("gradient: booleans have no differences; use .astype(float)")
    if f.dtype.kind == "M":
        f = f.view(np.dtype(f.dtype.str.replace("M8", "m8")))
    elif f.dtype.kind not in "fcm":
        f = primitives.astype(f, np.float64)
    axes = tuple(range(f.ndim)) if axis is None else layout.normalize_axes(axis, f.ndim, "gradient")
    given = [np.asarray(x.get() if isinstance(x, GPUArray) else x) for x in spacing]  # type: ignore[attr-defined]
    if not given:
        given = [np.asarray(1.0)] * len(axes)
    elif len(given) == 1 and given[0].ndim == 0:
        given *= len(axes)
    if len(given) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    results = [
        _slope(f, k, _steps(f, f.shape[k], x), edge_order)
        for k, x in zip(axes, given, strict=True)
        if _is_long_enough(f.shape[k], edge_order)
    ]
    return results[0] if len(axes) == 1 else tuple(results)


def _is_long_enough(n: int, edge_order: int) -> bool:
    if n < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
    return True


def _steps(f: Any, n: int, x: np.ndarray) -> np.ndarray:
    """Return the distances of n items, one if all are the same; x: the distance, or the position
    of each item."""
    if x.ndim > 1 or (x.ndim == 1 and x.size != n):
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if x.ndim == 1:  # positions that are durations count as numbers, as in NumPy
        x = np.diff(x.astype(np.float64) if x.dtype.kind in "biufm" else x)
        x = x[0] if (x == x[0]).all() else x
    if x.dtype.kind != "m":
        return np.asarray(x if x.dtype.kind == "c" else x.astype(np.float64))
    if x.ndim or f.dtype.kind != "m":
        raise TypeError(
            f"gradient: distances of {x.dtype} between items of {f.dtype} are not supported; "
            "divide the positions by a duration, to make them numbers"
        )
    return np.asarray(x / np.ones((), f.dtype))


def _slope(f: Any, axis: int, steps: np.ndarray, edge_order: int) -> Any:
    """Compute the derivative along an axis."""
    n, given = f.shape[axis], f.dtype
    if steps.dtype.kind == "c" and given.kind == "f":
        f = primitives.astype(f, np.result_type(given, np.complex64))
    f = manipulation.moveaxis(f, axis, 0)
    real = np.dtype(float) if given.kind == "m" else np.empty(0, given).real.dtype
    kind = np.result_type(real, np.complex64) if steps.dtype.kind == "c" else real
    out = primitives.empty(f, f.shape, f.dtype)

    def factor(values: Any) -> Any:
        if np.ndim(values) == 0:
            return kind.type(values)
        return f._from_host(np.asarray(values, kind).reshape((-1,) + (1,) * (f.ndim - 1)))

    if steps.ndim == 0:
        out[1:-1] = (f[2:] - f[:-2]) / factor(2.0 * steps)
    else:
        a, b = steps[:-1], steps[1:]
        out[1:-1] = (
            factor(-b / (a * (a + b))) * f[:-2]
            + factor((b - a) / (a * b)) * f[1:-1]
            + factor(a / (b * (a + b))) * f[2:]
        )
    a, b = steps.flat[0], steps.flat[-1]
    if edge_order == 1:
        out[0] = (f[1] - f[0]) / factor(a)
        out[n - 1] = (f[n - 1] - f[n - 2]) / factor(b)
    else:
        first, last = _edge_factors(steps)
        out[0] = _weighted(f[:3], map(factor, first))
        out[n - 1] = _weighted(f[n - 3 :], map(factor, last))
    out = out.real._copy() if out.dtype.kind == "c" and given.kind == "f" else out
    return manipulation.moveaxis(out, 0, axis)


def _weighted(items: Any, factors: Any) -> Any:
    one, two, three = factors
    return one * items[0] + two * items[1] + three * items[2]


def _edge_factors(steps: np.ndarray) -> tuple[Any, Any]:
    """Return the factors of the first three items, and of the last three, of the derivatives of
    second order at the ends."""
    if steps.ndim == 0:
        outer, middle, inner = 1.5 / steps, 2.0 / steps, 0.5 / steps
        return (-outer, middle, -inner), (inner, -middle, outer)
    a, b = steps[0], steps[1]
    first = -(2.0 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b))
    a, b = steps[-2], steps[-1]
    last = b / (a * (a + b)), -(b + a) / (a * b), (2.0 * b + a) / (b * (a + b))
    return first, last


def _trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    if x is None:
        y, step = next(iter(_arrays("trapezoid", y))), dx
    else:
        y, x = _arrays("trapezoid", y, x)
        step = joining.diff(x) if x.ndim == 1 else joining.diff(x, 1, axis)
        if x.ndim == 1:
            one = [1] * y.ndim
            one[axis] = step.size
            step = step.reshape(tuple(one))
    axis = layout.normalize_axis(axis, y.ndim)
    lead = (slice(None),) * axis
    pair = y[(*lead, slice(1, None))] + y[(*lead, slice(None, -1))]
    return (step * pair / 2.0)._reduce("sum", axis)


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    steps = joining.diff(primitives.flat(ary))
    parts = [to_begin, steps, to_end]
    for part in (to_begin, to_end):
        if part is not None and not np.can_cast(
            np.asanyarray(part).dtype if not isinstance(part, GPUArray) else part.dtype,
            ary.dtype,
            "same_kind",
        ):
            raise TypeError("ediff1d: dtypes of to_end and to_begin must fit the array's")
    there = [primitives.as_array(ary, x, ary.dtype) for x in parts if x is not None]
    return manipulation.concat(there, None)


def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * np.pi) -> Any:
    axis = layout.normalize_axis(axis, p.ndim)
    steps = joining.diff(p, 1, axis)
    discont = period / 2 if discont is None else discont
    whole = p.dtype.kind in "iu" and isinstance(period, (int, np.integer))
    high: Any = period // 2 if whole else period / 2
    edge = (period % 2 == 0) if whole else True
    turned = ufuncs.call("remainder", (steps + high, period)) - high
    if edge:
        back = (turned == -high) & (steps > 0)
        turned = joining.choose("unwrap", back, high, turned)
    more = turned - steps
    more = joining.choose("unwrap", abs(steps) < discont, 0, more)
    result = primitives.empty(p, p.shape, np.result_type(p.dtype, more.dtype))
    result[...] = p
    later = (slice(None),) * axis + (slice(1, None),)
    result[later] = p[later] + scan("cumsum", more, axis)
    return result


# ---- polynomials


def _polyval(p: Any, x: Any) -> Any:
    like = p if isinstance(p, GPUArray) else x
    x = primitives.as_array(like, x)
    factors: Any = p if isinstance(p, GPUArray) else np.asarray(p)
    if factors.ndim == 0:
        raise TypeError("polyval: the coefficients must have at least one axis")
    dtype = np.result_type(factors.dtype, x.dtype)
    y = primitives.empty(x, x.shape, dtype).fill(0)
    for k in range(factors.shape[0]):
        y = y * x + factors[k]
    return y


def _vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    many = x.size if N is None else int(N)
    dtype = np.promote_types(x.dtype, int)
    powers = primitives.empty(x, (x.size, many), dtype)
    if powers.size:
        powers[:, :1] = 1
        powers[:, 1:] = x[:, None]
        powers = scan("cumprod", powers, 1, dtype=dtype)
    return powers if increasing else manipulation.flip(powers, 1)._copy(order="C")


def _sinc(x: Any) -> Any:
    y = np.pi * joining.choose("sinc", x == 0, 1e-20, x)
    return ufuncs.call("sin", (y,)) / y


# ---- samples of several variables, vectors


def _cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    given = _arrays("cov", m) if y is None else _arrays("cov", m, y)
    if any(a.ndim > 2 for a in given):
        raise ValueError("cov: arrays have at most two axes")
    kind = np.result_type(*(a.dtype for a in given), np.float64) if dtype is None else dtype
    rows = []
    for k, a in enumerate(given):
        turn = not rowvar and a.ndim == 2 and (a.shape[0] != 1 or (k == 0 and _TURNS_ONE_ROW))
        rows.append(primitives.astype(manipulation.atleast(2, [a.T if turn else a]), kind))
    x = rows[0] if len(rows) == 1 else joining.concatenate(rows, 0)
    less = (0 if bias else 1) if ddof is None else int(ddof)
    x, w, n = weighted.observations(x, fweights, aweights, less)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = float(np.true_divide(1, n))
    other = x if w is None else primitives.astype(x * w, x.dtype)
    return (matmul.matmul(x, other.T.conj()) * share).squeeze()


def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = _cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    scale = ufuncs.call("sqrt", (matmul.diagonal(c).real,))
    c = c / scale[:, None] / scale[None, :]
    if c.dtype.kind != "c":
        return joining.clip(c, -1, 1)
    for part in (c.real, c.imag):
        part[...] = joining.clip(part, -1, 1)
    return c


def _cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _arrays("cross", a, b)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("At least one array has zero dimension")
    a, b = manipulation.moveaxis(a, axisa, -1), manipulation.moveaxis(b, axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product (dimension must be 2 or 3)")
    if _NO_FLAT_CROSS and (a.shape[-1] != 3 or b.shape[-1] != 3):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{a.shape[-1]} and {b.shape[-1]} dimensional instead."
        )
    (a0, a1, *a2), (b0, b1, *b2) = ([x[..., k] for k in range(x.shape[-1])] for x in (a, b))
    last = a0 * b1 - a1 * b0
    if not a2 and not b2:
        return last
    if a2 and b2:
        parts = [a1 * b2[0] - a2[0] * b1, a2[0] * b0 - a0 * b2[0], last]
    elif b2:
        parts = [a1 * b2[0], -(a0 * b2[0]), last]
    else:
        parts = [-(a2[0] * b1), a2[0] * b0, last]
    return manipulation.moveaxis(joining.stack(parts, -1), -1, axisc)


def _kron(a: Any, b: Any) -> Any:
    a, b = _arrays("kron", a, b)
    ndim = max(a.ndim, b.ndim)
    one, two = ((1,) * (ndim - x.ndim) + x.shape for x in (a, b))
    a = a.reshape([n for k in one for n in (k, 1)])
    b = b.reshape([n for k in two for n in (1, k)])
    return (a * b).reshape([n * k for n, k in zip(one, two)])


def table() -> dict[str, Callable[..., Any]]:
    """Return NumPy's names and their implementations."""
    return {
        "convolve": _convolve,
        "corrcoef": _corrcoef,
        "correlate": _correlate,
        "cov": _cov,
        "cross": _cross,
        "ediff1d": _ediff1d,
        "gradient": _gradient,
        "interp": _interp,
        "kron": _kron,
        "polyval": _polyval,
        "sinc": _sinc,
        "trapezoid": _trapezoid,
        "unwrap": _unwrap,
        "vander": _vander,
    }
