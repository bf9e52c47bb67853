"""numpy.linalg for arrays on a device.

Products, norms, powers and what is built on them are kernels (or cuBLAS); factorizations are
by kernels too, cuSOLVER's for large matrices where it is there, or NumPy's on the host
(factorizations.py says which). What is built on a factorization (pinv,
cond, lstsq, ...) is computed here from it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pygpu._src.array import layout, primitives, ufuncs
from pygpu._src.array import matmul as _matmul
from pygpu._src.array import precision as precisions
from pygpu._src.array.factorization.launches import (
    INDEFINITE,
    NO_EIGENVALUES,
    SINGULAR,
    name_of,
    run_cached,
)
from pygpu._src.array.precision import precision
from pygpu._src.array.reduction import reduce
from pygpu._src.codegen.fastpath import public_functions
from pygpu._src.util.public import publish

from . import factorizations, host_fallback, joining, manipulation

try:
    from numpy.linalg import _linalg as _numpy
except ImportError:  # NumPy 1
    from numpy.linalg import linalg as _numpy  # type: ignore[attr-defined, no-redef]

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "precision",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


def _array(like: Any, *values: Any) -> list[Any]:
    """Arrays beside the first device array among all of these."""
    first = next(x for x in (like, *values) if primitives.is_array(x))
    return [primitives.as_array(first, x) for x in (like, *values)]


def _square(call: str, a: Any) -> None:
    if a.ndim < 2:
        raise LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def _matrix(a: Any) -> None:
    if a.ndim < 2:
        raise LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )


def _on_host(a: Any, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """NumPy's function. On a device that is the host's own CPU nothing is missing: LAPACK was
    chosen as the faster one, so there is no warning."""
    options["quiet"] = a.backend.limits.is_cpu
    return host_fallback.compute(a, function, *args, **options)


# ---- factorizations


def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """The triangular L with a = L L^H (upper: U with a = U^H U) of positive definite matrices."""
    cached = run_cached(name_of("cholesky", upper), (a,), (), INDEFINITE)
    if cached is not None:
        return cached
    _square("cholesky", a)
    if factorizations.where("cholesky", a) == "host":
        return _on_host(a, np.linalg.cholesky, a, upper=upper)
    return factorizations.cholesky(a, upper)


def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthogonal and triangular factors. mode: "reduced", "complete", "r" or "raw"."""
    _matrix(a)
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    if mode == "raw" or factorizations.where("qr", a) == "host":
        return _on_host(a, np.linalg.qr, a, mode)
    q, r = factorizations.qr(a, mode)
    return r if mode == "r" else _numpy.QRResult(q, r)


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Singular values, in descending order, and (compute_uv) vectors U and V^H."""
    _matrix(a)
    if factorizations.where("svd", a) == "host":
        return _on_host(a, np.linalg.svd, a, full_matrices, compute_uv, hermitian)
    found = factorizations.svd(a, full_matrices, compute_uv)
    return _numpy.SVDResult(*found) if compute_uv else found[1]


def svdvals(x: Any, /) -> Any:
    """Singular values, in descending order."""
    return svd(x, compute_uv=False)


def eigh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues, in ascending order, and eigenvectors of symmetric or Hermitian matrices, of
    which one triangle is read."""
    _square("eigh", a)
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    cached = _cached_eigh(a, UPLO, True)
    if cached is not None:
        return _numpy.EighResult(*cached)
    if factorizations.where("eigh", a) == "host":
        return _on_host(a, np.linalg.eigh, a, UPLO)
    return _numpy.EighResult(*factorizations.eigh(a, UPLO.upper(), True))


def _cached_eigh(a: Any, part: str, vectors: bool) -> tuple[Any, Any] | None:
    """Return (eigenvalues, eigenvectors if wanted) by a cached launch."""
    if a.dtype.char not in "fdFD":
        return None
    out = primitives.empty(a, a.shape, a.dtype) if vectors else None
    name = name_of("eigh", part.upper() == "U", vectors)
    values = run_cached(name, (a,), () if out is None else (out,), NO_EIGENVALUES)
    return None if values is None else (values, out)


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of symmetric or Hermitian matrices, in ascending order."""
    _square("eigvalsh", a)
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    cached = _cached_eigh(a, UPLO, False)
    if cached is not None:
        return cached[0]
    if factorizations.where("eigh", a) == "host":
        return _on_host(a, np.linalg.eigvalsh, a, UPLO)
    return factorizations.eigh(a, UPLO.upper(), False)[0]


def eig(a: Any) -> Any:
    """Eigenvalues and eigenvectors of any square matrices: by NumPy on the host."""
    _square("eig", a)
    return host_fallback.compute(a, np.linalg.eig, a)


def eigvals(a: Any) -> Any:
    """Eigenvalues of any square matrices: by NumPy on the host."""
    _square("eigvals", a)
    return host_fallback.compute(a, np.linalg.eigvals, a)


def solve(a: Any, b: Any) -> Any:
    """The x of a x = b. b: one vector (one axis), or matrices."""
    if primitives.is_array(a) and primitives.is_array(b):
        cached = run_cached(name_of("solve"), (a, b), (), SINGULAR)
        if cached is not None:
            return cached
    a, b = _array(a, b)
    _square("solve", a)
    n = a.shape[-1]
    if b.ndim == 0 or b.shape[0 if b.ndim == 1 else -2] != n:
        raise ValueError(f"solve: shapes {a.shape} and {b.shape} do not match")
    if factorizations.where("lu", a, b) == "host":
        return _on_host(a, np.linalg.solve, a, b)
    return factorizations.solve(a, b)


def inv(a: Any) -> Any:
    """Inverse matrices."""
    cached = run_cached(name_of("inv"), (a,), (), SINGULAR)
    if cached is not None:
        return cached
    _square("inv", a)
    if factorizations.where("lu", a) == "host":
        return _on_host(a, np.linalg.inv, a)
    return factorizations.inv(a)


def slogdet(a: Any) -> Any:
    """Signs, and logarithms of absolute values, of determinants."""
    _square("slogdet", a)
    if factorizations.where("lu", a) == "host":
        return _on_host(a, np.linalg.slogdet, a)
    return _numpy.SlogdetResult(*factorizations.slogdet(a))


def det(a: Any) -> Any:
    """Determinants."""
    cached = run_cached(name_of("det", False), (a,))
    if cached is not None:
        return cached
    _square("det", a)
    if factorizations.where("lu", a) == "host":
        return _on_host(a, np.linalg.det, a)
    return factorizations.determinant(a)


# ---- what is built on them


def _adjoint(a: Any) -> Any:
    return a.mT.conj() if a.dtype.kind == "c" else a.mT


def _limit(values: Any, shape: tuple[int, ...], relative: Any) -> Any:
    """What singular values must be above: a part of the largest one."""
    if relative is None:
        relative = max(shape[-2:]) * np.finfo(values.dtype).eps
    largest = reduce("max", values, -1, keepdims=True)
    if primitives.is_array(relative) or np.ndim(relative):
        relative = primitives.as_array(values, relative)[..., None]
        return largest * relative
    return largest * values.dtype.type(relative)


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Any:
    """Pseudo-inverses. Singular values at most rcond (rtol) times the largest count as zero."""
    _matrix(a)
    if factorizations.where("svd", a) == "host":
        options = {} if rtol is np._NoValue else {"rtol": rtol}
        return _on_host(a, np.linalg.pinv, a, rcond, hermitian, **options)
    if rcond is None:
        rcond = 1e-15 if rtol is np._NoValue else rtol
    u, s, vh = svd(a, full_matrices=False)
    large = s > _limit(s, a.shape, rcond)
    inverse = large / ufuncs.call("add", (s * large, ~large))
    return _adjoint(vh) @ (inverse.astype(s.dtype, copy=False)[..., None] * _adjoint(u))


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """How many singular values are above tol, or above rtol times the largest one."""
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if A.ndim < 2:
        return reduce("any", A, None).astype(np.intp)
    s = svdvals(A)
    limit = _limit(s, A.shape, rtol) if tol is None else tol
    if primitives.is_array(limit) and tol is not None and limit.ndim:
        limit = limit[..., None]
    return reduce("count_nonzero", s > limit, -1)


def cond(x: Any, p: Any = None) -> Any:
    """Condition numbers: by singular values (p None, 2, -2), else norm(x) * norm(inv(x)). Infinity
    for singular matrices."""
    _matrix(x)
    if x.size == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if p in (None, 2, -2):
        s = svdvals(x)
        found = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        found = matrix_norm(x, ord=p) * matrix_norm(_inverse_or_nan(x), ord=p)
    undefined = ufuncs.call("isnan", (x,))._reduce("any", (-2, -1))
    return joining.choose("cond", ufuncs.call("isnan", (found,)) > undefined, np.inf, found)


def _inverse_or_nan(x: Any) -> Any:
    """Inverse matrices, of NaN for each singular one."""
    try:
        return inv(x)
    except LinAlgError:
        if x.ndim == 2:
            kind = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
            return primitives.empty(x, x.shape, kind).fill(np.nan)
    matrices = x.reshape((-1, *x.shape[-2:]))
    return joining.stack([_inverse_or_nan(one) for one in matrices]).reshape(x.shape)


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """(x, residuals, rank, singular values) of the least squares solution of a x = b."""
    a, b = _array(a, b)
    if a.ndim != 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    if factorizations.where("svd", a, b) == "host":
        return _on_host(a, np.linalg.lstsq, a, b, rcond)
    m, n = a.shape
    u, s, vh = svd(a, full_matrices=False)
    if rcond is None:
        rcond = np.finfo(s.dtype).eps * max(m, n)
    large = s > _limit(s, a.shape, s.dtype.type(rcond))
    inverse = (large / ufuncs.call("add", (s * large, ~large))).astype(s.dtype, copy=False)
    right = b if b.ndim == 2 else b[:, None]
    x = _adjoint(vh) @ (inverse[:, None] * (_adjoint(u) @ right))
    rank = int(reduce("count_nonzero", large, None).get())
    if rank == n and m > n:
        residuals = reduce("sum", abs(right - a @ x) ** 2, 0)
    else:
        residuals = primitives.empty(s, (0,), s.dtype)
    return x if b.ndim == 2 else x[:, 0], residuals, rank, s


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """The x of tensordot(a, x, x.ndim) = b."""
    a, b = _array(a, b)
    if axes is not None:
        order = [k for k in range(a.ndim) if k not in axes] + list(axes)
        a = a.transpose(order)
    shape = a.shape[-(a.ndim - b.ndim) :]
    n = prod(shape)
    if a.size != n**2:
        raise LinAlgError(
            "Input arrays must satisfy the requirement "
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return primitives.reshape(solve(primitives.reshape(a, (n, n)), primitives.flat(b)), shape)


def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse for tensordot(a, x, ind)."""
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = (*a.shape[ind:], *a.shape[:ind])
    n = prod(a.shape[ind:])
    return primitives.reshape(inv(primitives.reshape(a, (prod(a.shape[:ind]), n))), shape)


# ---- products


def matmul(x1: Any, x2: Any, /, *, precision: str | None = None) -> Any:
    """``x1 @ x2``. precision: "highest", "tf32", "bf16x3" or "bf16x9", as of the context of that
    name; None: that of the context."""
    if precision is None:
        return _matmul.matmul(*_array(x1, x2))
    precisions.check("matmul", precision)
    with precisions.precision(precision):
        return _matmul.matmul(*_array(x1, x2))


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """The product of several matrices, in the cheapest order."""
    arrays = _array(*arrays)
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    first, last = arrays[0], arrays[-1]
    chain = [first[None, :] if first.ndim == 1 else first, *arrays[1:-1]]
    chain.append(last[:, None] if last.ndim == 1 else last)
    if any(x.ndim != 2 for x in chain):
        raise LinAlgError("multi_dot: arrays must have two axes, the first and the last one or two")
    p = [x.shape[0] for x in chain] + [chain[-1].shape[1]]
    n = len(chain)
    cost: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(n)}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j] = min(
                (cost[i, k][0] + cost[k + 1, j][0] + p[i] * p[k + 1] * p[j + 1], k)
                for k in range(i, j)
            )

    def multiplied(i: int, j: int) -> Any:
        if i == j:
            return chain[i]
        k = cost[i, j][1]
        return _matmul.matmul(multiplied(i, k), multiplied(k + 1, j))

    shape = (*first.shape[:-1], *last.shape[1:])
    result = primitives.reshape(multiplied(0, n - 1), shape)
    if out is None:
        return result
    out[...] = result
    return out


def matrix_power(a: Any, n: Any) -> Any:
    """Square matrices to the power of an integer."""
    _square("matrix_power", a)
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if n == 0:
        return factorizations.identity(a)
    if n < 0:
        a, n = inv(a), -n
    result: Any = None
    base = a
    while n:
        if n & 1:
            result = base if result is None else _matmul.matmul(result, base)
        n >>= 1
        if n:
            base = _matmul.matmul(base, base)
    return a._copy() if result is a else result


def outer(x1: Any, x2: Any, /) -> Any:
    """Products of each item of one vector with each of another."""
    x1, x2 = _array(x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are {x1.ndim=} and {x2.ndim=}."
        )
    return _matmul.outer(x1, x2)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Products summed over pairs of axes."""
    x1, x2 = _array(x1, x2)
    return _matmul.tensordot(x1, x2, axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Inner products of vectors along an axis; the first one is conjugated."""
    x1, x2 = _array(x1, x2)
    left = x1.conj() if x1.dtype.kind == "c" else x1
    product = left * x2
    return reduce("sum", product, axis, dtype=product.dtype)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross products of vectors of three items."""
    x1, x2 = _array(x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{x1.shape[axis]} and {x2.shape[axis]} dimensional instead."
        )
    a, b = (manipulation.moveaxis(x, axis, 0) for x in (x1, x2))
    parts = [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
    return manipulation.moveaxis(_stacked(parts), 0, axis)


def _stacked(parts: list[Any]) -> Any:
    from . import joining

    return joining.stack(parts, 0)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonals of the last two axes, as a view."""
    return _matmul.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sums of the diagonals of the last two axes."""
    return reduce("sum", diagonal(x, offset=offset), -1, dtype=dtype)


def matrix_transpose(x: Any, /) -> Any:
    """The last two axes swapped, as a view."""
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.mT


# ---- norms


def _floating(x: Any) -> Any:
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norms of vectors over axes, of the flat array for None. ord: a number, inf or -inf."""
    x = _floating(x)
    size = abs(x) if x.dtype.kind == "c" or ord != 2 else x
    real = size.dtype

    def over(kind: str, values: Any, **options: Any) -> Any:
        return reduce(kind, values, axis, keepdims=keepdims, **options)

    if ord == math.inf:
        return over("max", size, initial=0)  # also of nothing
    if ord == -math.inf:
        return over("min", size)
    if ord == 0:
        return over("count_nonzero", x).astype(real)
    if ord == 1:
        return over("sum", size)
    if ord is None or ord == 2:
        return ufuncs.call("sqrt", (over("sum", ufuncs.call("square", (size,))),))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    return over("sum", size**ord) ** (1 / ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norms of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf."""
    return _matrix_norm(x, ord, (-2, -1), keepdims)


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    x = _floating(x)
    rows, columns = (layout.normalize_axis(k, x.ndim) for k in axes)
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    if ord in (None, "fro", "f"):
        return vector_norm(x, axis=(rows, columns), keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        values = svdvals(manipulation.moveaxis(x, (rows, columns), (-2, -1)))
        result = reduce({"nuc": "sum", 2: "max", -2: "min"}[ord], values, -1)
    elif ord in (1, -1, math.inf, -math.inf):
        first, second = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = reduce("sum", abs(x), first)
        kind, initial = ("max", 0) if ord > 0 else ("min", None)
        result = reduce(kind, sums, second - (second > first), initial=initial)
    else:
        raise ValueError("Invalid norm order for matrices.")
    if keepdims:
        shape = [1 if k in (rows, columns) else n for k, n in enumerate(x.shape)]
        result = primitives.reshape(result, tuple(shape))
    return result


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Norms of vectors (axis an int, or an array of one axis) or matrices (two axes), of all items
    by default."""
    if axis is None:
        if ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            return vector_norm(x, keepdims=keepdims)
        if x.ndim not in (1, 2):
            raise ValueError("Improper number of dimensions to norm.")
        axis = tuple(range(x.ndim))
    elif not isinstance(axis, tuple):
        try:
            axis = (operator.index(axis),)
        except TypeError as error:
            raise TypeError("'axis' must be None, an integer or a tuple of integers") from error
    axis = layout.normalize_axes(axis, x.ndim)
    if len(axis) == 1:
        return vector_norm(x, axis=axis[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axis) == 2:
        return _matrix_norm(x, ord, axis, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def table() -> dict[Any, Callable[..., Any]]:
    """NumPy's functions, and what computes them here."""
    names = [name for name in __all__ if name != "LinAlgError" and hasattr(np.linalg, name)]
    return {getattr(np.linalg, name): globals()[name] for name in names}  # NumPy 1 has fewer


publish(globals(), __all__, "pygpu.linalg")
public_functions(globals(), __all__)
