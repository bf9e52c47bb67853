"""A Generator's methods for ranges and sequences: integers, bytes, choices, permutations, and
multivariate distributions."""

from __future__ import annotations

import operator
import warnings
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.array import advanced_indexing, layout
from pygpu._src.codegen import dtypes
from pygpu._src.runtime import kernel_cache

from . import distributions, random_arguments
from .random_arguments import OnDevice

if TYPE_CHECKING:
    from .generator import Generator

_I64, _U64 = np.dtype(np.int64), np.dtype(np.uint64)


# ---- integers


def _bound(name: str, value: Any, device: Any) -> Any:
    """Return a bound of integers() as an int, a host array of Python ints, or a device array."""
    if type(value) is int:
        return value
    if isinstance(value, OnDevice):
        if value.backend is not device.backend:
            raise ValueError(f"integers: {name} is on {value.device}, the generator on {device}")
        if value.dtype.kind not in "biu":
            raise TypeError(f"integers: {name} must be of integers, not {value.dtype}")
        return value
    try:
        return operator.index(value)
    except TypeError:
        host = np.asarray(value)
    if host.dtype.kind == "f" and np.all(host == np.floor(host)) and np.all(np.isfinite(host)):
        host = host.astype(object)
    if host.size == 0:
        return host.astype(object)
    if host.dtype.kind not in "biuO":
        raise TypeError(f"integers: {name} must be an integer or an array of them, not {value!r}")
    whole = np.vectorize(lambda x: int(operator.index(int(x))), otypes=[object])(host)
    return int(whole[()]) if whole.ndim == 0 else whole


@cache
def _limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    return (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def _check_bounds(low: Any, high: Any, dtype: np.dtype[Any], endpoint: bool) -> None:
    """Raise ValueError if host bounds, including *high*, do not fit."""
    least, most = _limits(dtype)
    if type(low) is int and type(high) is int and least <= low <= high <= most:
        return
    host_values = [x for x in (low, high) if not isinstance(x, OnDevice)]
    if any(not isinstance(x, int) and x.size == 0 for x in host_values):
        return
    if low is not high and not isinstance(low, OnDevice) and np.any(low < least):
        raise ValueError(f"integers: low is out of bounds for {dtype}")
    if not isinstance(high, OnDevice) and np.any(high > most):
        raise ValueError(f"integers: high is out of bounds for {dtype}")
    if len(host_values) == 2:
        try:
            wrong = np.any(low > high)
        except ValueError:
            return  # they cannot be broadcast, which shape_of() reports
        if wrong:
            end = high if endpoint else high + 1  # as it was passed
            values = f": {low} and {end}" if np.ndim(low) == np.ndim(high) == 0 else ""
            raise ValueError(f"integers: low {'>' if endpoint else '>='} high{values}")


def integers(
    rng: Generator, low: Any, high: Any, size: Any, dtype: Any, endpoint: bool, out: Any
) -> Any:
    """Implement Generator.integers()."""
    device = rng.device
    dtype = random_arguments.integer_dtype(dtype, out, "integers", small=True)
    if high is None:
        low, high = 0, low
    low, high = _bound("low", low, device), _bound("high", high, device)
    on_device = isinstance(high, OnDevice)
    if not endpoint and not on_device:
        high = high - 1
    _check_bounds(low, high, dtype, endpoint)
    shape = random_arguments.shape_of(size, (low, high), out, "integers")
    out = random_arguments.result(out, shape, dtype, device, "integers")
    target = out
    if dtype.kind == "b":
        target = out._view(out.shape, out.strides, out.offset, np.dtype(np.uint8))
    if isinstance(low, int) and isinstance(high, int):
        signed = low if low < 1 << 63 else low - (1 << 64)
        rng._fill_out(target, "bounded", high - low, signed, "integers")
    else:
        operation, items = distributions.bounded_operation(target.dtype, endpoint or not on_device)
        position = rng.bit_generator._take(-(-out.size // items))
        rng._run(operation, position, (low, high), target)
    if target is not out:
        out.events = target.events
    return out


def _bits(rng: Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    words = rng.device.empty(shape, dtype)
    rng._fill_out(words, "bits", 1, 0, "bytes")
    return words


def random_bytes(rng: Generator, length: Any) -> bytes:
    """Implement Generator.bytes()."""
    n = operator.index(length)
    if n < 0:
        raise ValueError(f"bytes: length must not be negative, and is {n}")
    found: bytes = _bits(rng, (-(-n // 4),), np.dtype(np.uint32)).get().tobytes()
    return found[:n]


# ---- permutations and choices


def _order(rng: Generator, n: int) -> Any:
    """Return range(n) in random order, int64."""
    return _bits(rng, (n,), _U64).argsort().astype(_I64)


def _axis(axis: Any, ndim: int) -> int:
    """Return the axis as a nonnegative number. Raises AxisError."""
    number: int = operator.index(axis)
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim)
    return number % ndim


def _on_device(rng: Generator, x: Any, call: str) -> Any:
    if isinstance(x, OnDevice):
        if x.backend is not rng.device.backend:
            raise ValueError(f"{call}: the array is on {x.device}, the generator on {rng.device}")
        return x
    return random_arguments.new(rng.device, np.asarray(x))


def permutation(rng: Generator, x: Any, axis: Any) -> Any:
    """Implement Generator.permutation()."""
    try:
        n = operator.index(x)
    except TypeError:
        x = _on_device(rng, x, "permutation")
        if x.ndim == 0:
            raise TypeError(
                "permutation: x must be an integer or an array of 1 axis or more"
            ) from None
        axis = _axis(axis, x.ndim)
        return advanced_indexing.take(x, _order(rng, x.shape[axis]), axis)
    if n < 0:
        raise ValueError(f"permutation: x must not be negative, and is {n}")
    return _order(rng, n)


def shuffle(rng: Generator, x: Any, axis: Any) -> None:
    """Implement Generator.shuffle()."""
    if not isinstance(x, OnDevice):
        raise TypeError(
            f"shuffle: x must be an array on the device, not {type(x).__name__}; permutation() "
            "returns a shuffled copy"
        )
    if x.ndim == 0:
        raise TypeError("shuffle: x must have an axis, not be an array of one number")
    x[...] = permutation(rng, x, axis)


def permuted(rng: Generator, x: Any, axis: Any, out: Any) -> Any:
    """Implement Generator.permuted()."""
    x = _on_device(rng, x, "permuted")
    if out is not None:
        random_arguments.result(out, x.shape, x.dtype, rng.device, "permuted")
        if out.shape != x.shape:
            raise ValueError(f"permuted: out must have shape {x.shape}, not {out.shape}")
    if axis is None:
        shape = x.shape
        result = advanced_indexing.take(x.reshape(-1), _order(rng, x.size), 0).reshape(shape)
    else:
        axis = _axis(axis, x.ndim)
        indices = _bits(rng, x.shape, _U64).argsort(axis=axis)
        result = advanced_indexing.take_along_axis(x, indices, axis)
    if out is None:
        return result
    out[...] = result
    return out


def _probabilities(p: Any, n: int, rng: Generator, least: int) -> Any:
    """Return the probabilities of choice() on the device, checked if they come from the host.
    least: how many must be positive."""
    if isinstance(p, OnDevice):
        p = _on_device(rng, p, "choice")
    else:
        p = np.asarray(p, np.float64)
    if p.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if p.size != n:
        raise ValueError("a and p must have same size")
    real = random_arguments.real_dtype(None, None, rng.device, "choice")
    if isinstance(p, OnDevice):
        return p.astype(real)
    if np.isnan(p).any():
        raise ValueError("Probabilities contain NaN")
    if (p < 0).any():
        raise ValueError("Probabilities are not non-negative")
    if abs(p.sum() - 1) > 1e-8:
        raise ValueError("Probabilities do not sum to 1.")
    if np.count_nonzero(p) < least:
        raise ValueError("Fewer non-zero entries in p than size")
    return random_arguments.new(rng.device, p.astype(real))


def _indices(rng: Generator, n: int, shape: tuple[int, ...], replace: bool, p: Any) -> Any:
    """Return the indices that choice() selects, int64."""
    count = prod(shape)
    if not replace and count > n:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    if p is None and replace:
        return rng.integers(0, n, shape)
    if p is None:
        return _order(rng, n)[:count].reshape(shape)
    p = _probabilities(p, n, rng, 0 if replace else count)
    if replace:
        cdf = p.cumsum()
        cdf = cdf / cdf[-1:]
        indices = cdf.searchsorted(rng.random(shape, p.dtype), side="right")
        return indices.clip(0, n - 1).astype(_I64)
    times = rng.standard_exponential(p.shape, p.dtype) / p
    return times.argsort().astype(_I64)[:count].reshape(shape)


def choice(
    rng: Generator, a: Any, size: Any, replace: bool, p: Any, axis: Any, shuffled: bool
) -> Any:
    """Implement Generator.choice()."""
    shape: tuple[int, ...] = () if size is None else layout.as_shape(size, "choice")
    try:
        n, items = operator.index(a), None
        if n <= 0 and 0 not in shape:
            raise ValueError("a must be a positive integer unless no samples are taken")
    except TypeError:
        items = _on_device(rng, a, "choice")
        if items.ndim == 0:
            raise ValueError("a must be a sequence or an integer") from None
        axis = _axis(axis, items.ndim)
        n = items.shape[axis]
        if n == 0 and 0 not in shape:
            raise ValueError("a cannot be empty unless no samples are taken") from None
    if 0 not in shape:
        indices = _indices(rng, n, shape, replace, p)
    else:
        indices = rng.device.empty(shape, _I64)
    return indices if items is None else advanced_indexing.take(items, indices, axis)


# ---- multivariate distributions: a work-item per row of a result

_ROWS = {
    "dirichlet": (
        """\
pg_real top = -PG_INF;
        for (pg_i64 j = 0; j < length; j++) { /* logarithms: a small alpha makes numbers near 0 */
            pg_draws_start(&d, position + (pg_u64)(row * length + j), stream, &keys);
            const pg_real a = p[j];
            item[j] = a == PG_R(0.0) ? -PG_INF : PG_NAN;
            if (a > PG_R(0.0))
                item[j] = pg_log_gamma_variate(&d, a);
            top = fmax(top, item[j]);
        }
        pg_real sum = PG_R(0.0);
        for (pg_i64 j = 0; j < length; j++)
            sum += item[j] = exp(item[j] - top);
        for (pg_i64 j = 0; j < length; j++)
            item[j] /= sum;
""",
        "gamma",
    ),
    "multinomial": (
        """\
pg_real left = counts[row * n_step], rest = PG_R(1.0);
        for (pg_i64 j = 0; j < length; j++) {
            const pg_real share = p[row * p_step + j];
            pg_real k = left;
            if (j + 1 < length) {
                pg_draws_start(&d, position + (pg_u64)(row * length + j), stream, &keys);
                const pg_real p_left = share / rest;
                k = share >= rest ? left : PG_R(0.0);
                if (share > PG_R(0.0) && share < rest)
                    k = pg_binomial(&d, left, p_left, pg_binomial_setup(left, p_left));
            }
            item[j] = (pg_i64)k;
            left -= k;
            rest -= share;
        }
""",
        "binomial",
    ),
    "multivariate_hypergeometric": (
        """\
pg_real left = counts[0], rest = PG_R(0.0);
        for (pg_i64 j = 0; j < length; j++)
            rest += p[j];
        for (pg_i64 j = 0; j < length; j++) {
            pg_draws_start(&d, position + (pg_u64)(row * length + j), stream, &keys);
            rest -= p[j];
            const pg_hrua_terms terms = pg_hrua_setup(p[j], rest, left);
            const pg_real k = pg_hypergeometric(&d, p[j], rest, left, terms);
            item[j] = (pg_i64)k;
            left -= k;
        }
""",
        "hypergeometric",
    ),
}


def _row_text(name: str, real: str, code: str) -> tuple[str, str]:
    """Return the source and the name of the kernel that makes rows of a distribution."""
    body, helpers = _ROWS[name]
    kernel = f"pg_rows_{name}_{real}"
    text = distributions.needed(helpers, real)
    text += f"""\
#define PG_INF PG_INF_F{real[1:]}
PG_KERNEL void {kernel}(PG_ARRAY(pg_{code}, out), PG_ARRAY_IN(pg_{real}, p),
                        PG_ARRAY_IN(pg_{real}, counts), pg_i64 length, pg_i64 p_step,
                        pg_i64 n_step, pg_u64 position, pg_u64 stream, pg_u64 key, pg_i64 n)
{{
    PG_START(pg_{code}, out); PG_START_IN(pg_{real}, p); PG_START_IN(pg_{real}, counts);
    pg_philox_keys keys;
    pg_draws_keys(&keys, key);
    PG_FOR(row, n) {{
        PG_GLOBAL pg_{code} *item = out + row * length;
        pg_draws d;
        {body}
    }}
}}
"""
    return text, kernel


def _rows(rng: Generator, name: str, out: Any, p: Any, counts: Any, steps: tuple[int, int]) -> None:
    """Fill *out*, whose last axis is a row, from contiguous p and counts of the same real dtype."""
    backend, length = out.backend, out.shape[-1]
    position = rng.bit_generator._take(out.size)
    if out.size == 0:
        return
    real, code = dtypes.code(p.dtype), dtypes.code(out.dtype)
    target = out
    if not out._c_contiguous or not out._is_aligned or out._shares_memory(p):
        target = out._new(out.shape, out.dtype)
    key = "random rows", name, real
    kernel = kernel_cache.get(backend, key, lambda: _row_text(name, real, code))
    rows = out.size // length
    groups, size = kernel_cache.grid(backend, rows)
    args: list[Any] = []
    for array in (target, p, counts):
        args += backend.arguments(array)
    queue = target._queue()
    waits = target.backend.wait_list(queue, [target, p, counts])
    numbers = (length, *steps, *position, rows)
    event = backend.launch(kernel, queue, groups, size, [*args, *numbers], wait_for=waits)
    target.backend.note_event(queue, event, [target], [p, counts])
    if target is not out:
        out._copy_from(target)


def _real(rng: Generator, x: Any, call: str, name: str, rule: str, real: np.dtype[Any]) -> Any:
    """A checked parameter as a contiguous array on the device."""
    value = random_arguments.parameter(call, name, x, rule, rng.device)
    if isinstance(value, OnDevice):
        return value.astype(real)._dense()
    return random_arguments.new(rng.device, np.asarray(value, real))


def dirichlet(rng: Generator, alpha: Any, size: Any, dtype: Any, out: Any) -> Any:
    """Implement Generator.dirichlet()."""
    real = random_arguments.real_dtype(dtype, out, rng.device, "dirichlet")
    p = _real(rng, alpha, "dirichlet", "alpha", "not negative", real)
    if p.ndim != 1:
        raise ValueError("dirichlet: alpha must be 1-dimensional")
    shape = () if size is None else layout.as_shape(size, "dirichlet")
    if out is not None and size is None:
        shape = out.shape[:-1]
    out = random_arguments.result(out, (*shape, p.size), real, rng.device, "dirichlet")
    if out.shape != (*shape, p.size):
        raise ValueError(f"dirichlet: out must have shape {(*shape, p.size)}, not {out.shape}")
    _rows(rng, "dirichlet", out, p, p, (0, 0))
    return out


def multinomial(rng: Generator, n: Any, pvals: Any, size: Any, out: Any) -> Any:
    """Implement Generator.multinomial()."""
    device = rng.device
    distributions.check_driver("multinomial", device.backend)
    real = random_arguments.real_dtype(None, None, device, "multinomial")
    p = _real(rng, pvals, "multinomial", "pvals", "probability", real)
    if p.ndim == 0:
        raise ValueError("multinomial: pvals must have at least 1 axis, of categories")
    if not isinstance(pvals, OnDevice):
        sums = np.asarray(pvals, np.float64)[..., :-1].sum(axis=-1)
        if np.any(sums > 1 + 1e-12):
            raise ValueError("sum(pvals[:-1]) > 1.0")
    counts = _real(rng, n, "multinomial", "n", "count", real)
    shape = np.broadcast_shapes(counts.shape, p.shape[:-1])
    if size is not None:
        wanted = layout.as_shape(size, "multinomial")
        if np.broadcast_shapes(shape, wanted) != wanted:
            raise ValueError(
                f"Output size {wanted} is not compatible with broadcast dimensions of inputs "
                f"{shape}."
            )
        shape = wanted
    whole = (*shape, p.shape[-1])
    out = random_arguments.result(out, whole, _I64, device, "multinomial")
    if out.shape != whole:
        raise ValueError(f"multinomial: out must have shape {whole}, not {out.shape}")
    single = counts.size == 1, p.ndim == 1
    if not single[0]:
        counts = _spread(counts, shape)
    if not single[1]:
        p = _spread(p, whole)
    steps = 0 if single[1] else p.shape[-1], 0 if single[0] else 1
    _rows(rng, "multinomial", out, p, counts, steps)
    return out


def _spread(x: Any, shape: tuple[int, ...]) -> Any:
    """A contiguous array of this shape."""
    if x.shape == shape and x._c_contiguous:
        return x
    new = x._new(shape, x.dtype)
    new._copy_from(x)
    return new


def multivariate_hypergeometric(
    rng: Generator, colors: Any, nsample: Any, size: Any, method: str
) -> Any:
    """Implement Generator.multivariate_hypergeometric()."""
    call = "multivariate_hypergeometric"
    distributions.check_driver(call, rng.device.backend)
    if method not in ("marginals", "count"):
        raise ValueError('method must be "count" or "marginals".')
    sample = operator.index(nsample)
    if sample < 0:
        raise ValueError("nsample must be nonnegative.")
    if isinstance(colors, OnDevice):
        colors = colors.get()
    host = np.asarray(colors)
    if host.ndim != 1 or (host.size and host.dtype.kind not in "iu") or np.any(host < 0):
        raise ValueError("colors must be a one-dimensional sequence of nonnegative integers.")
    total = int(host.sum())
    if total >= 10**9:
        raise ValueError("sum(colors) must be less than 1000000000")
    if sample > total:
        raise ValueError("nsample > sum(colors)")
    real = random_arguments.real_dtype(None, None, rng.device, call)
    p = random_arguments.new(rng.device, host.astype(real))
    counts = random_arguments.new(rng.device, np.array([sample], real))
    shape = () if size is None else layout.as_shape(size, call)
    out = rng.device.empty((*shape, host.size), _I64)
    _rows(rng, call, out, p, counts, (0, 0))
    return out


def _factor(cov: np.ndarray, check_valid: str, tol: float, method: str) -> np.ndarray:
    """Return a matrix whose transpose times itself is *cov*."""
    if method == "cholesky":
        return np.ascontiguousarray(np.linalg.cholesky(cov).T)
    if method == "eigh":
        values, vectors = np.linalg.eigh(cov)
        valid = bool(np.all(values >= -tol))
        factor = (vectors * np.sqrt(np.abs(values))).T
    else:
        _, values, vectors = np.linalg.svd(cov)
        valid = np.allclose(vectors.T @ (values[:, None] * vectors), cov, rtol=tol, atol=tol)
        factor = np.sqrt(values)[:, None] * vectors
    if check_valid != "ignore" and not valid:
        message = "covariance is not symmetric positive-semidefinite."
        if check_valid == "raise":
            raise ValueError(message)
        warnings.warn(message, RuntimeWarning, stacklevel=4)
    return np.ascontiguousarray(factor)


def multivariate_normal(
    rng: Generator,
    mean: Any,
    cov: Any,
    size: Any,
    check_valid: str,
    tol: float,
    method: str,
    dtype: Any,
) -> Any:
    """Implement Generator.multivariate_normal()."""
    if method not in ("eigh", "svd", "cholesky"):
        raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
    if check_valid not in ("warn", "raise", "ignore"):
        raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
    real = random_arguments.real_dtype(dtype, None, rng.device, "multivariate_normal")
    centre, matrix = (
        np.asarray(x.get() if isinstance(x, OnDevice) else x, np.float64) for x in (mean, cov)
    )
    if centre.ndim != 1:
        raise ValueError("mean must be 1 dimensional")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if matrix.shape[0] != centre.size:
        raise ValueError("mean and cov must have same length")
    factor = _factor(matrix, check_valid, tol, method)
    shape = () if size is None else layout.as_shape(size, "multivariate_normal")
    z = rng.standard_normal((prod(shape), centre.size), real)
    terms = [random_arguments.new(rng.device, x.astype(real)) for x in (factor, centre)]
    return (z @ terms[0] + terms[1]).reshape((*shape, centre.size))
