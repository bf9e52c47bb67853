"""Types of numpy.linalg's functions for arrays on a device: a function that keeps the dtype keeps
the class too."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.linalg import LinAlgError as LinAlgError
from numpy.typing import DTypeLike, NDArray

from pygpu.xp._types import (
    ArrayT,
    DType,
    Floating,
    GPUArray,
    Index,
    InexactT,
    NumberT,
    ScalarT,
)
from pygpu.xp.linalg import EighResult as _EighResult
from pygpu.xp.linalg import QRResult as _QRResult
from pygpu.xp.linalg import SlogdetResult as _SlogdetResult
from pygpu.xp.linalg import SVDResult as _SVDResult

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

_Any: TypeAlias = GPUArray[Any]
_Inexact: TypeAlias = GPUArray[np.inexact[Any]]  # real where all values are
_Operand: TypeAlias = GPUArray[Any] | NDArray[Any]  # at least one is on a device
_Precision: TypeAlias = Literal["highest", "tf32", "bf16x3", "bf16x9"]
_Axis: TypeAlias = int | tuple[int, ...] | None
_Axes: TypeAlias = int | tuple[int | Sequence[int], int | Sequence[int]]
_Order: TypeAlias = float | Literal["fro", "f", "nuc"] | None
_Tolerance: TypeAlias = float | GPUArray[Any] | NDArray[Any] | None

class _EigResult(NamedTuple):
    eigenvalues: _Inexact
    eigenvectors: _Inexact

# ---- factorizations

@overload
def cholesky(a: InexactT, /, *, upper: bool = False) -> InexactT: ...
@overload
def cholesky(a: _Any, /, *, upper: bool = False) -> Floating: ...
@overload
def qr(a: InexactT, mode: Literal["reduced", "complete"] = "reduced") -> _QRResult[InexactT]: ...
@overload
def qr(a: InexactT, mode: Literal["r"]) -> InexactT: ...
@overload
def qr(a: InexactT, mode: Literal["raw"]) -> tuple[InexactT, InexactT]: ...
@overload
def qr(a: _Any, mode: Literal["reduced", "complete"] = "reduced") -> _QRResult[Floating]: ...
@overload
def qr(a: _Any, mode: Literal["r"]) -> Floating: ...
@overload
def qr(a: _Any, mode: Literal["raw"]) -> tuple[Floating, Floating]: ...
@overload
def svd(
    a: InexactT, full_matrices: bool = True, compute_uv: Literal[True] = True,
    hermitian: bool = False,
) -> _SVDResult[InexactT]: ...
@overload
def svd(
    a: _Any, full_matrices: bool = True, compute_uv: Literal[True] = True,
    hermitian: bool = False,
) -> _SVDResult[Floating]: ...
@overload
def svd(
    a: _Any, full_matrices: bool = True, *, compute_uv: Literal[False],
    hermitian: bool = False,
) -> Floating: ...
@overload
def svd(
    a: _Any, full_matrices: bool, compute_uv: Literal[False], hermitian: bool = False,
) -> Floating: ...
def svdvals(x: _Any, /) -> Floating: ...
@overload
def eigh(a: InexactT, UPLO: Literal["L", "U", "l", "u"] = "L") -> _EighResult[InexactT]: ...
@overload
def eigh(a: _Any, UPLO: Literal["L", "U", "l", "u"] = "L") -> _EighResult[Floating]: ...
def eigvalsh(a: _Any, UPLO: Literal["L", "U", "l", "u"] = "L") -> Floating: ...
def eig(a: _Any) -> _EigResult: ...
def eigvals(a: _Any) -> _Inexact: ...
@overload
def solve(a: InexactT, b: InexactT) -> InexactT: ...
@overload
def solve(a: _Operand, b: _Operand) -> _Any: ...
@overload
def inv(a: InexactT) -> InexactT: ...
@overload
def inv(a: _Any) -> Floating: ...
@overload
def slogdet(a: InexactT) -> _SlogdetResult[InexactT]: ...
@overload
def slogdet(a: _Any) -> _SlogdetResult[Floating]: ...
@overload
def det(a: InexactT) -> InexactT: ...
@overload
def det(a: _Any) -> Floating: ...

# ---- what is built on them

@overload
def pinv(
    a: InexactT, rcond: _Tolerance = None, hermitian: bool = False, *, rtol: _Tolerance = ...,
) -> InexactT: ...
@overload
def pinv(
    a: _Any, rcond: _Tolerance = None, hermitian: bool = False, *, rtol: _Tolerance = ...,
) -> Floating: ...
def matrix_rank(
    A: _Any, tol: _Tolerance = None, hermitian: bool = False, *, rtol: _Tolerance = None,
) -> Index: ...
def cond(x: _Any, p: _Order = None) -> Floating: ...
@overload
def lstsq(
    a: InexactT, b: InexactT, rcond: float | None = None
) -> tuple[InexactT, Floating, int, Floating]: ...
@overload
def lstsq(
    a: _Operand, b: _Operand, rcond: float | None = None
) -> tuple[_Any, Floating, int, Floating]: ...
@overload
def tensorsolve(a: InexactT, b: InexactT, axes: Sequence[int] | None = None) -> InexactT: ...
@overload
def tensorsolve(a: _Operand, b: _Operand, axes: Sequence[int] | None = None) -> _Any: ...
@overload
def tensorinv(a: InexactT, ind: int = 2) -> InexactT: ...
@overload
def tensorinv(a: _Any, ind: int = 2) -> Floating: ...

# ---- products

@overload
def matmul(x1: ArrayT, x2: ArrayT, /, *, precision: _Precision | None = None) -> ArrayT: ...
@overload
def matmul(x1: _Operand, x2: _Operand, /, *, precision: _Precision | None = None) -> _Any: ...
def precision(name: _Precision) -> AbstractContextManager[None]: ...
@overload
def multi_dot(arrays: Sequence[ArrayT], *, out: ArrayT | None = None) -> ArrayT: ...
@overload
def multi_dot(arrays: Sequence[_Operand], *, out: _Any | None = None) -> _Any: ...
def matrix_power(a: ArrayT, n: int) -> ArrayT: ...
@overload
def outer(x1: NumberT, x2: NumberT, /) -> NumberT: ...
@overload
def outer(x1: _Operand, x2: _Operand, /) -> _Any: ...
@overload
def tensordot(x1: NumberT, x2: NumberT, /, *, axes: _Axes = 2) -> NumberT: ...
@overload
def tensordot(x1: _Operand, x2: _Operand, /, *, axes: _Axes = 2) -> _Any: ...
@overload
def vecdot(x1: NumberT, x2: NumberT, /, *, axis: int = -1) -> NumberT: ...
@overload
def vecdot(x1: _Operand, x2: _Operand, /, *, axis: int = -1) -> _Any: ...
@overload
def cross(x1: NumberT, x2: NumberT, /, *, axis: int = -1) -> NumberT: ...
@overload
def cross(x1: _Operand, x2: _Operand, /, *, axis: int = -1) -> _Any: ...
def diagonal(x: ArrayT, /, *, offset: int = 0) -> ArrayT: ...
@overload
def trace(x: InexactT, /, *, offset: int = 0, dtype: None = None) -> InexactT: ...
@overload
def trace(x: _Any, /, *, offset: int = 0, dtype: DType[ScalarT]) -> GPUArray[ScalarT]: ...
@overload
def trace(x: _Any, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> _Any: ...
def matrix_transpose(x: ArrayT, /) -> ArrayT: ...

# ---- norms

def vector_norm(
    x: _Any, /, *, axis: _Axis = None, keepdims: bool = False, ord: float | None = 2,
) -> Floating: ...
def matrix_norm(x: _Any, /, *, keepdims: bool = False, ord: _Order = "fro") -> Floating: ...
def norm(
    x: _Any, ord: _Order = None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False,
) -> Floating: ...
