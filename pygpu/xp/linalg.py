"""The standard's extension linalg: NumPy's functions on device arrays, which say by a warning if
one is computed on the host."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, overload

import numpy as np

from pygpu._src.array import matmul as _matmul
from pygpu._src.array import ufuncs
from pygpu._src.array.reduction import reduce as _reduce

from ._arguments import need_arrays
from ._linear import matmul, matrix_transpose, tensordot, vecdot

LinAlgError = np.linalg.LinAlgError

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import DTypeLike

    from ._types import (
        ArrayT,
        ComplexFloating,
        DType,
        Floating,
        GPUArray,
        Index,
        InexactT,
        NumberT,
        ScalarT,
        Signed,
        Unsigned,
    )

    _Tolerance: TypeAlias = float | GPUArray[Any] | None

_T = TypeVar("_T")
_linalg: Any = np.linalg  # whose functions answer arrays of a device by __array_function__

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


class EigResult(NamedTuple):
    """Of eig()."""

    eigenvalues: ComplexFloating
    eigenvectors: ComplexFloating


class EighResult(NamedTuple, Generic[_T]):
    """Of eigh()."""

    eigenvalues: Floating
    eigenvectors: _T


class QRResult(NamedTuple, Generic[_T]):
    """Of qr()."""

    Q: _T
    R: _T


class SlogdetResult(NamedTuple, Generic[_T]):
    """Of slogdet()."""

    sign: _T
    logabsdet: Floating


class SVDResult(NamedTuple, Generic[_T]):
    """Of svd()."""

    U: _T
    S: Floating
    Vh: _T


def cholesky(a: InexactT, /, *, upper: bool = False) -> InexactT:
    """The triangular factor L (upper: its transpose conjugated) of positive definite matrices."""
    need_arrays("cholesky", a)
    lower = _linalg.cholesky(a)
    result: InexactT = lower.mT.conj() if upper else lower
    return result


@overload
def cross(x1: NumberT, x2: NumberT, /, *, axis: int = -1) -> NumberT: ...
@overload
def cross(x1: GPUArray[Any], x2: GPUArray[Any], /, *, axis: int = -1) -> GPUArray[Any]: ...
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross products of vectors of three items along an axis."""
    need_arrays("cross", x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"cross: both arrays must have 3 items along axis {axis}")
    from ._manipulation import broadcast_arrays, stack

    dtype = np.result_type(x1.dtype, x2.dtype)
    a, b = broadcast_arrays(x1.astype(dtype, copy=False), x2.astype(dtype, copy=False))
    key: list[Any] = [slice(None)] * a.ndim
    parts: list[tuple[Any, Any]] = []
    for i in range(3):
        key[axis] = i
        parts.append((a[tuple(key)], b[tuple(key)]))
    (a0, b0), (a1, b1), (a2, b2) = parts
    return stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=axis)


def det(a: InexactT) -> InexactT:
    """Determinants."""
    need_arrays("det", a)
    result: InexactT = _linalg.det(a)
    return result


def diagonal(x: ArrayT, /, *, offset: int = 0) -> ArrayT:
    """The diagonals of the last two axes, as a view."""
    need_arrays("diagonal", x)
    result: ArrayT = _matmul.diagonal(x, offset, -2, -1)
    return result


def eig(a: GPUArray[Any]) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices, always complex; by NumPy on the host."""
    need_arrays("eig", a)
    return EigResult(*(_complex(a, found) for found in _linalg.eig(a)))


def eigh(a: InexactT, UPLO: str = "L") -> EighResult[InexactT]:  # noqa: N803
    """Eigenvalues, in ascending order, and eigenvectors of symmetric or Hermitian matrices, of
    which the lower ("L") or the upper ("U") triangle is read."""
    need_arrays("eigh", a)
    return EighResult(*_linalg.eigh(a, UPLO))


def eigvals(a: GPUArray[Any]) -> ComplexFloating:
    """Eigenvalues of square matrices, always complex; by NumPy on the host."""
    need_arrays("eigvals", a)
    result: ComplexFloating = _complex(a, _linalg.eigvals(a))
    return result


def eigvalsh(a: GPUArray[Any], UPLO: str = "L") -> Floating:  # noqa: N803
    """Eigenvalues of symmetric or Hermitian matrices, in ascending order; see eigh()."""
    need_arrays("eigvalsh", a)
    result: Floating = _linalg.eigvalsh(a, UPLO)
    return result


def inv(a: InexactT) -> InexactT:
    """Inverse matrices."""
    need_arrays("inv", a)
    result: InexactT = _linalg.inv(a)
    return result


def matrix_norm(
    x: GPUArray[Any], /, *, keepdims: bool = False, ord: int | float | str = "fro"
) -> Floating:
    """Norms of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf."""
    need_arrays("matrix_norm", x)
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        values = svdvals(x)
        kind = {"nuc": "sum", 2: "max", -2: "min"}[ord]
        result = _reduce(kind, values, -1)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = _reduce("sum", abs(x), -2 if abs(ord) == 1 else -1)
        result = _reduce("max" if ord > 0 else "min", sums, -1)
    else:
        raise ValueError(f"matrix_norm: ord must be 'fro', 'nuc', 1, 2 or inf, not {ord!r}")
    norms: Floating = result[..., None, None] if keepdims else result
    return norms


@overload
def matrix_power(a: InexactT, n: int) -> InexactT: ...
@overload
def matrix_power(a: GPUArray[Any], n: int) -> GPUArray[Any]: ...
def matrix_power(a: Any, n: int) -> Any:
    """Matrices to the power of an integer."""
    need_arrays("matrix_power", a)
    return _linalg.matrix_power(a, n)


def matrix_rank(
    A: GPUArray[Any],
    tol: _Tolerance = None,
    hermitian: bool = False,
    *,
    rtol: _Tolerance = None,
) -> Index:
    """How many singular values are above tol, or above rtol times the largest. hermitian changes
    nothing."""
    need_arrays("matrix_rank", A)
    if tol is not None:
        ranks: Index = _linalg.matrix_rank(A, tol, rtol=rtol)
        return ranks
    values = svdvals(A)
    if rtol is None:
        rtol = max(A.shape[-2:]) * float(np.finfo(values.dtype).eps)
    limit = _reduce("max", values, -1, keepdims=True)
    given: Any = rtol
    tolerance = given[..., None] if hasattr(given, "ndim") and given.ndim else given
    result: Index = _reduce("count_nonzero", values > limit * tolerance, -1)
    return result


@overload
def outer(x1: NumberT, x2: NumberT, /) -> NumberT: ...
@overload
def outer(x1: GPUArray[Any], x2: GPUArray[Any], /) -> GPUArray[Any]: ...
def outer(x1: Any, x2: Any, /) -> Any:
    """Products of each item of one vector with each of another."""
    need_arrays("outer", x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError("outer: both arrays must have one axis")
    return _matmul.outer(x1, x2)


@overload
def pinv(
    a: InexactT, rcond: _Tolerance = None, hermitian: bool = False, *, rtol: _Tolerance = None
) -> InexactT: ...
@overload
def pinv(
    a: GPUArray[Any], rcond: _Tolerance = None, hermitian: bool = False, *, rtol: _Tolerance = None
) -> GPUArray[Any]: ...
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Pseudo-inverses. Singular values of at most rtol times the largest count as zero; rcond is
    NumPy's older name of rtol. hermitian changes nothing."""
    need_arrays("pinv", a)
    if rcond is not None:
        if rtol is not None:
            raise ValueError("pinv: rcond and rtol are two names of one argument; give one")
        rtol = rcond
    if rtol is None:
        rtol = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps)
    return _linalg.pinv(a, rtol)


@overload
def qr(a: ArrayT, mode: Literal["r"]) -> ArrayT: ...
@overload
def qr(a: InexactT, mode: Literal["raw"]) -> tuple[InexactT, InexactT]: ...
@overload
def qr(a: InexactT, mode: Literal["reduced", "complete"] = "reduced") -> QRResult[InexactT]: ...
def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthogonal and triangular factors. mode: "reduced" or "complete", or "r" for R alone, or
    "raw" for LAPACK's reflections and their factors (h, tau), which the host computes."""
    need_arrays("qr", a)
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"qr: mode must be 'reduced', 'complete', 'r' or 'raw', not {mode!r}")
    found = _linalg.qr(a, mode)
    return found if mode in ("r", "raw") else QRResult(*found)


def slogdet(a: InexactT) -> SlogdetResult[InexactT]:
    """Signs, and logarithms of absolute values, of determinants."""
    need_arrays("slogdet", a)
    return SlogdetResult(*_linalg.slogdet(a))


@overload
def solve(a: InexactT, b: InexactT) -> InexactT: ...
@overload
def solve(a: GPUArray[Any], b: GPUArray[Any]) -> GPUArray[Any]: ...
def solve(a: Any, b: Any) -> Any:
    """Solve a @ x = b for x: a vector (one axis), or matrices."""
    need_arrays("solve", a, b)
    need_arrays("solve", a)
    if b.ndim == 1:
        return _linalg.solve(a, b[:, None])[..., 0]
    return _linalg.solve(a, b)


@overload
def svd(
    a: InexactT,
    full_matrices: bool = True,
    compute_uv: Literal[True] = True,
    hermitian: bool = False,
) -> SVDResult[InexactT]: ...
@overload
def svd(
    a: GPUArray[Any],
    full_matrices: bool = True,
    *,
    compute_uv: Literal[False],
    hermitian: bool = False,
) -> Floating: ...
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Singular values, in descending order, and vectors, unless compute_uv is False."""
    need_arrays("svd", a)
    found = _linalg.svd(a, full_matrices, compute_uv, hermitian)
    return SVDResult(*found) if compute_uv else found


def svdvals(x: GPUArray[Any], /) -> Floating:
    """Singular values, in descending order."""
    need_arrays("svdvals", x)
    result: Floating = _linalg.svd(x, compute_uv=False)
    return result


@overload
def trace(x: InexactT, /, *, offset: int = 0, dtype: None = None) -> InexactT: ...
@overload
def trace(x: Signed, /, *, offset: int = 0, dtype: None = None) -> Index: ...
@overload
def trace(x: Unsigned, /, *, offset: int = 0, dtype: None = None) -> GPUArray[np.uint64]: ...
@overload
def trace(x: GPUArray[Any], /, *, offset: int = 0, dtype: DType[ScalarT]) -> GPUArray[ScalarT]: ...
@overload
def trace(
    x: GPUArray[Any], /, *, offset: int = 0, dtype: DTypeLike | None = None
) -> GPUArray[Any]: ...
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sums of the diagonals of the last two axes."""
    need_arrays("trace", x)
    return _reduce("sum", diagonal(x, offset=offset), -1, dtype=dtype)


def vector_norm(
    x: GPUArray[Any],
    /,
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: int | float = 2,
) -> Floating:
    """Norms of vectors over axes, of the flat array for None. ord: any number, inf or -inf."""
    need_arrays("vector_norm", x)
    where = tuple(axis) if isinstance(axis, Sequence) else axis
    if where == ():  # nothing to sum over
        return abs(x) if ord != 0 else (x != 0).astype(_real(x.dtype))
    size = abs(x) if x.dtype.kind == "c" or ord != 2 else x
    result: Floating
    if ord in (math.inf, -math.inf):
        result = _reduce("max" if ord > 0 else "min", size, where, keepdims=keepdims)
    elif ord == 0:
        count = _reduce("count_nonzero", x, where, keepdims=keepdims)
        result = count.astype(_real(x.dtype))
    elif ord == 1:
        result = _reduce("sum", size, where, keepdims=keepdims)
    elif ord == 2:
        total = _reduce("sum", ufuncs.call("square", (size,)), where, keepdims=keepdims)
        result = ufuncs.call("sqrt", (total,))
    else:
        result = _reduce("sum", size**ord, where, keepdims=keepdims) ** (1 / ord)
    return result


def _complex(x: Any, found: Any) -> Any:
    """In the complex dtype of the precision of x: NumPy's results may be real if x is."""
    return found.astype(np.result_type(x.dtype, np.complex64), copy=False)


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


# ---- NumPy's other functions


def cond(x: GPUArray[Any], p: int | float | str | None = None) -> Floating:
    """Condition numbers of matrices: norm(x, p) * norm(inv(x), p), or by singular values."""
    need_arrays("cond", x)
    result: Floating = _linalg.cond(x, p)
    return result


def lstsq(
    a: GPUArray[Any], b: GPUArray[Any], rcond: float | None = None
) -> tuple[GPUArray[Any], Floating, int, Floating]:
    """The least-squares solution of a @ x = b, the sums of squared residuals (empty if a has not
    full rank or not more rows than columns), the rank of a, and its singular values."""
    need_arrays("lstsq", a, b)
    found: tuple[GPUArray[Any], Floating, int, Floating] = _linalg.lstsq(a, b, rcond)
    return found


def multi_dot(
    arrays: Sequence[GPUArray[Any]], *, out: GPUArray[Any] | None = None
) -> GPUArray[Any]:
    """The product of several matrices, in the order that takes the fewest operations."""
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(f"multi_dot: a sequence of arrays is needed, not {type(arrays).__name__}")
    need_arrays("multi_dot", *arrays)
    result: GPUArray[Any] = _linalg.multi_dot(arrays, out=out)
    return result


def norm(
    x: GPUArray[Any],
    ord: int | float | str | None = None,
    axis: int | tuple[int, int] | None = None,
    keepdims: bool = False,
) -> Floating:
    """Norms of vectors (one axis) or matrices (two); None: of the flat array."""
    need_arrays("norm", x)
    result: Floating = _linalg.norm(x, ord, axis, keepdims)
    return result


def tensorinv(a: GPUArray[Any], ind: int = 2) -> GPUArray[Any]:
    """The inverse of a as a matrix whose rows are the first *ind* axes."""
    need_arrays("tensorinv", a)
    result: GPUArray[Any] = _linalg.tensorinv(a, ind)
    return result


def tensorsolve(
    a: GPUArray[Any], b: GPUArray[Any], axes: Sequence[int] | None = None
) -> GPUArray[Any]:
    """Solve tensordot(a, x, x.ndim) = b for x."""
    need_arrays("tensorsolve", a, b)
    result: GPUArray[Any] = _linalg.tensorsolve(a, b, axes)
    return result
