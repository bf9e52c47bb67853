"""Factorizations by cuSOLVER, with NumPy's shapes, dtypes and errors.

Libraries count in Fortran's order, arrays lie in C order. The transposed matrix in C order is the
matrix in Fortran's, so what is handed over is a copy of the transposed array, and a result is a
view of what came back, transposed.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pygpu._src.array import layout, primitives, ufuncs
from pygpu._src.array.matmul import diagonal
from pygpu._src.array.reduction import reduce

from . import manipulation

__all__ = [
    "cholesky",
    "determinant",
    "eigh",
    "identity",
    "inv",
    "qr",
    "solve",
    "svd",
    "usable",
]


def usable(*arrays: Any) -> bool:
    """Whether these are factored on their device. Raises TypeError for what NumPy refuses."""
    for a in arrays:
        if a.dtype.char not in "fdFD" and a.dtype.kind not in "biu":
            raise TypeError(f"array type {a.dtype.name} is unsupported in linalg")
    ufuncs.same_device("linalg", list(arrays))
    if arrays[0].backend.name != "cuda" or any(a.size == 0 for a in arrays):
        return False
    from pygpu._src.array.routines import cusolver

    return cusolver.LIBRARY.available()


def _lib() -> Any:
    from pygpu._src.array.routines import cusolver

    return cusolver


def _dtype(*arrays: Any) -> np.dtype[Any]:
    kinds = [a.dtype if a.dtype.kind in "fc" else np.dtype("f8") for a in arrays]
    return np.result_type(*kinds)


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(dtype.char.lower())


def _columns(a: Any, dtype: np.dtype[Any], turned: bool = True) -> Any:
    """A copy for the library: (count, columns, rows) in C order."""
    view = a.mT if turned else a
    copy = primitives.empty(a, view.shape, dtype)
    copy._copy_from(view)
    return primitives.reshape(copy, (prod(view.shape[:-2]), *view.shape[-2:]))


def _stack(a: Any, shape: tuple[int, ...]) -> Any:
    """What came back, as the matrices of an array with these axes before them."""
    return primitives.reshape(a, (*shape, *a.shape[1:])).mT


def _check(infos: Any, message: str) -> None:
    if reduce("any", infos, None):
        raise LinAlgError(message)


def identity(a: Any) -> Any:
    """Unit matrices of the shape and dtype of *a*."""
    new = primitives.empty(a, a.shape, a.dtype)
    primitives.fill(new, 0)
    primitives.fill(diagonal(new, 0, -2, -1), 1)
    return new


def solve(a: Any, b: Any) -> Any:
    """numpy.linalg.solve."""
    dtype = _dtype(a, b)
    right = b[:, None] if b.ndim == 1 else b
    stack = layout.broadcast_shapes(a.shape[:-2], right.shape[:-2])
    n, k = right.shape[-2:]
    matrices = _columns(manipulation.broadcast_to(a, (*stack, n, n)), dtype)
    sides = _columns(manipulation.broadcast_to(right, (*stack, n, k)), dtype)
    pivots, infos = _lib().lu(matrices)
    _check(infos, "Singular matrix")
    _lib().lu_solve(matrices, pivots, sides)
    x = _stack(sides, stack)
    return x[..., 0] if b.ndim == 1 else x


def inv(a: Any) -> Any:
    """numpy.linalg.inv."""
    dtype = _dtype(a)
    matrices = _columns(a, dtype)
    sides = identity(matrices)
    pivots, infos = _lib().lu(matrices)
    _check(infos, "Singular matrix")
    _lib().lu_solve(matrices, pivots, sides)
    return _stack(sides, a.shape[:-2])


def determinant(a: Any) -> tuple[Any, Any]:
    """(signs of the permutations, diagonals) of the triangular factor."""
    dtype = _dtype(a)
    matrices = _columns(a, dtype)
    pivots, _ = _lib().lu(matrices)
    n = a.shape[-1]
    unmoved = primitives.as_array(a, np.arange(1, n + 1, dtype=np.int32))
    swaps = reduce("count_nonzero", pivots != unmoved, -1)
    signs = (1 - 2 * (swaps % 2)).astype(dtype)
    shape = a.shape[:-2]
    diagonals = diagonal(matrices, 0, -2, -1)
    return primitives.reshape(signs, shape), primitives.reshape(diagonals, (*shape, n))


def cholesky(a: Any, upper: bool) -> Any:
    """numpy.linalg.cholesky."""
    matrices = _columns(a, _dtype(a))
    _check(_lib().cholesky(matrices, upper), "Matrix is not positive definite")
    return manipulation.triangle(_stack(matrices, a.shape[:-2]), 0, upper)


def qr(a: Any, mode: str) -> tuple[Any, Any]:
    """(Q or None, R) of numpy.linalg.qr in the modes reduced, complete and r."""
    dtype = _dtype(a)
    m, n = a.shape[-2:]
    stack = a.shape[:-2]
    matrices = _columns(a, dtype)
    k = m if mode == "complete" else min(m, n)
    q = None
    if mode != "r":
        q = primitives.empty(a, (matrices.shape[0], k, m), dtype)
        primitives.fill(q, 0)
    _lib().qr(matrices, q)
    r = manipulation.triangle(_stack(matrices, stack)[..., :k, :], 0, True)
    return None if q is None else _stack(q, stack), r


def svd(a: Any, full: bool, vectors: bool) -> tuple[Any, Any, Any]:
    """(U, S, V^H), of which the first and last are None without vectors."""
    dtype = _dtype(a)
    stack, (m, n) = a.shape[:-2], a.shape[-2:]
    wide = m < n  # the library wants tall matrices: the factors of the transposed one
    matrices = _columns(a, dtype, not wide)
    count, small, large = matrices.shape
    values = primitives.empty(a, (count, small), _real(dtype))
    left = right = None
    if vectors:
        left = primitives.empty(a, (count, large if full else small, large), dtype)
        right = primitives.empty(a, (count, small, small), dtype)
    infos = _lib().svd(matrices, values, left, right, full)
    _check(infos, "SVD did not converge")
    s = primitives.reshape(values, (*stack, small))
    if left is None or right is None:
        return None, s, None
    u, vh = _stack(left, stack), _stack(right, stack)
    return (vh.mT, s, u.mT) if wide else (u, s, vh)


def eigh(a: Any, part: str, vectors: bool) -> tuple[Any, Any]:
    """(values, vectors) of numpy.linalg.eigh; without vectors, those are undefined."""
    dtype = _dtype(a)
    matrices = _columns(a, dtype)
    values = primitives.empty(a, matrices.shape[:2], _real(dtype))
    infos = _lib().eigh(matrices, values, vectors, part == "U")
    _check(infos, "Eigenvalues did not converge")
    stack = a.shape[:-2]
    return primitives.reshape(values, (*stack, a.shape[-1])), _stack(matrices, stack)
