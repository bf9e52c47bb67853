"""Factorizations with NumPy's shapes, dtypes and errors, and the choice of where they are
computed: by pygpu's kernels, by cuSOLVER, or by NumPy on the host.

cuSOLVER uses Fortran order, arrays are in C order. The transposed matrix in C order is the matrix
in Fortran order, so the library gets a copy of the transposed array, and a result is a transposed
view of what it returns.
"""

from __future__ import annotations

import os
from math import prod
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pygpu._src.array import layout, primitives, ufuncs
from pygpu._src.array.matmul import diagonal, matmul
from pygpu._src.array.reduction import reduce
from pygpu._src.codegen import dtypes

from . import joining, manipulation

_CHOICES = ("auto", "own", "cusolver", "host")
_SMALL = 64  # sides of matrices up to which a group is fast
# Larger matrices, of which a group takes one each: up to these sides if single, or in stacks.
_ALONE = {"eigh": 192, "svd": 128}
_IN_STACKS = 256
_STACK = 16  # matrices for which a launch with a group each pays


def where(kind: str, *arrays: Any) -> str:
    """Return "each" (a group each), "blocked" (kernels for a large matrix), "cusolver" or "host"
    for factorizations of the first array. kind: "lu", "cholesky", "qr", "eigh" or "svd".

    Raises TypeError for dtypes that NumPy refuses.
    """
    for a in arrays:
        if a.dtype.char not in "fdFD" and a.dtype.kind not in "biu":
            raise TypeError(f"array type {a.dtype.name} is unsupported in linalg")
    ufuncs.same_device("linalg", list(arrays))
    choice = os.environ.get("PYGPU_LINALG", "auto")
    if choice not in _CHOICES:
        raise ValueError(f"PYGPU_LINALG={choice}: it must be one of {', '.join(_CHOICES)}")
    if choice == "host" or any(x.size == 0 for x in arrays):
        return "host"
    library = choice != "own" and _library(arrays[0].backend)
    if choice == "cusolver":
        if not library:
            raise RuntimeError("PYGPU_LINALG=cusolver: cuSOLVER was not found")
        return "cusolver"
    if dtypes.needs_fp64(_dtype(*arrays)) and not arrays[0].backend.limits.fp64:
        return "host"
    return _choose(kind, arrays[0], library, choice == "own")


def _library(backend: Any) -> bool:
    if backend.name != "cuda":
        return False
    from pygpu._src.array.routines import cusolver

    return cusolver.LIBRARY.available()


def _choose(kind: str, a: Any, library: bool, own: bool) -> str:
    large, small = max(a.shape[-2:]), min(a.shape[-2:])
    count = prod(a.shape[:-2])
    side = small if kind == "svd" or count >= _STACK else large  # for svd: of R
    if side <= _SMALL and (not library or count >= 4):
        return "each"
    if library:
        return "cusolver"
    if a.backend.limits.is_cpu and not own and count < _STACK:
        return "host"  # the same memory, and LAPACK's blocks fit its caches
    if large <= _IN_STACKS and count >= _STACK:
        return "each"
    if kind in _ALONE and large <= _ALONE[kind]:
        return "each"
    if kind in _ALONE and not (own and a.backend.limits.warps):
        return "host"  # rotations by blocks must be asked for: see docs/arrays/linalg_fft.md
    return "blocked"


def _lib() -> Any:
    from pygpu._src.array.routines import cusolver

    return cusolver


def _each() -> Any:
    from pygpu._src.array.factorization import each

    return each


def _blocked() -> Any:
    from pygpu._src.array.factorization import blocked

    return blocked


def _jacobi_blocks() -> Any:
    from pygpu._src.array.factorization import jacobi

    return jacobi


def _columns_jacobi() -> Any:
    from pygpu._src.array.factorization import column_jacobi

    return column_jacobi


def _dtype(*arrays: Any) -> np.dtype[Any]:
    kinds = [a.dtype if a.dtype.kind in "fc" else np.dtype("f8") for a in arrays]
    return np.result_type(*kinds)


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(dtype.char.lower())


def _cast(a: Any, *others: Any) -> Any:
    return primitives.astype(a, _dtype(a, *others))


def _columns(a: Any, dtype: np.dtype[Any], turned: bool = True) -> Any:
    """Make a copy for the library: (count, columns, rows) in C order."""
    view = a.mT if turned else a
    copy = primitives.empty(a, view.shape, dtype)
    copy._copy_from(view)
    return primitives.reshape(copy, (prod(view.shape[:-2]), *view.shape[-2:]))


def _stack(a: Any, shape: tuple[int, ...]) -> Any:
    """Return the library's result as the matrices of an array with these leading axes."""
    return primitives.reshape(a, (*shape, *a.shape[1:])).mT


def _check(infos: Any, message: str) -> None:
    if reduce("any", infos, None):
        raise LinAlgError(message)


def identity(a: Any) -> Any:
    """Return identity matrices of the shape and dtype of *a*."""
    new = primitives.empty(a, a.shape, a.dtype)
    primitives.fill(new, 0)
    primitives.fill(diagonal(new, 0, -2, -1), 1)
    return new


def solve(a: Any, b: Any) -> Any:
    """Implement numpy.linalg.solve."""
    dtype = _dtype(a, b)
    method = where("lu", a, b)
    if method == "each":
        return _each().solve(primitives.astype(a, dtype), primitives.astype(b, dtype))
    right = b[:, None] if b.ndim == 1 else b
    if method == "blocked":
        x = _blocked().solve(primitives.astype(a, dtype), primitives.astype(right, dtype))
        return x[..., 0] if b.ndim == 1 else x
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
    """Implement numpy.linalg.inv."""
    dtype = _dtype(a)
    method = where("lu", a)
    if method != "cusolver":
        module = _each() if method == "each" else _blocked()
        return module.inverse(_cast(a))
    matrices = _columns(a, dtype)
    sides = identity(matrices)
    pivots, infos = _lib().lu(matrices)
    _check(infos, "Singular matrix")
    _lib().lu_solve(matrices, pivots, sides)
    return _stack(sides, a.shape[:-2])


def determinant(a: Any) -> Any:
    """Implement numpy.linalg.det."""
    if where("lu", a) == "each":
        return _each().determinant(_cast(a), False)
    sign, diagonals = _diagonal(a)
    return sign * reduce("prod", diagonals, -1)


def slogdet(a: Any) -> tuple[Any, Any]:
    """Return (signs, logarithms) of numpy.linalg.slogdet."""
    if where("lu", a) == "each":
        found: tuple[Any, Any] = _each().determinant(_cast(a), True)
        return found
    sign, diagonals = _diagonal(a)
    signs = sign * reduce("prod", ufuncs.call("sign", (diagonals,)), -1)
    return signs, reduce("sum", ufuncs.call("log", (abs(diagonals),)), -1)


def _diagonal(a: Any) -> tuple[Any, Any]:
    """Return (signs of the permutations, diagonals) of the triangular factor."""
    dtype = _dtype(a)
    n = a.shape[-1]
    if where("lu", a) == "blocked":
        matrices, pivots = _blocked().factors(_cast(a))
    else:
        matrices = _columns(a, dtype)
        pivots, _ = _lib().lu(matrices)
        pivots = pivots - 1
    unmoved = primitives.as_array(a, np.arange(n, dtype=np.int32))
    swaps = reduce("count_nonzero", pivots != unmoved, -1)
    signs = (1 - 2 * (swaps % 2)).astype(dtype)
    shape = a.shape[:-2]
    diagonals = diagonal(matrices, 0, -2, -1)
    return primitives.reshape(signs, shape), primitives.reshape(diagonals, (*shape, n))


def cholesky(a: Any, upper: bool) -> Any:
    """Implement numpy.linalg.cholesky."""
    method = where("cholesky", a)
    if method != "cusolver":
        found = (_each() if method == "each" else _blocked()).cholesky(_cast(a), upper)
        return found
    matrices = _columns(a, _dtype(a))
    _check(_lib().cholesky(matrices, upper), "Matrix is not positive definite")
    return manipulation.triangle(_stack(matrices, a.shape[:-2]), 0, upper)


def qr(a: Any, mode: str) -> tuple[Any, Any]:
    """Return (Q or None, R) of numpy.linalg.qr in the modes reduced, complete and r."""
    method = where("qr", a)
    if method != "cusolver":
        module = _each() if method == "each" else _blocked()
        factors: tuple[Any, Any] = module.qr(_cast(a), mode)
        return factors
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
    """Return (U, S, V^H); without vectors, the first and last are None."""
    if where("svd", a) != "cusolver":
        return _jacobi(_cast(a), full, vectors)
    dtype = _dtype(a)
    stack, (m, n) = a.shape[:-2], a.shape[-2:]
    wide = m < n  # the library requires tall matrices: use the factors of the transposed one
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


def _adjoint(a: Any) -> Any:
    return a.mT.conj() if a.dtype.kind == "c" else a.mT


def _jacobi(a: Any, full: bool, vectors: bool) -> tuple[Any, Any, Any]:
    """Compute svd() by kernels: of R, if there are many more rows than columns, U must be
    complete, or the kernels are those for large square matrices."""
    m, n = a.shape[-2:]
    if m < n:
        v, values, u = _jacobi(a.mT, full, vectors)
        return (u.mT, values, v.mT) if vectors else (None, values, None)
    full = full and vectors and m > n
    q = None
    blocks = where("svd", a) == "blocked"
    if full or m > (n if blocks else 2 * n):
        mode = "complete" if full else "reduced" if vectors else "r"
        q, r = qr(a, mode)
        a = r[..., :n, :]
        blocks = where("svd", a) == "blocked"
    u, values, v = (_columns_jacobi() if blocks else _each()).svd(a, vectors)
    if not vectors:
        return None, values, None
    if q is not None:
        left = matmul(q[..., :n], u)
        u = joining.concatenate((left, q[..., n:]), -1) if full else left
    return u, values, _adjoint(v)


def eigh(a: Any, part: str, vectors: bool) -> tuple[Any, Any]:
    """Return (values, vectors) of numpy.linalg.eigh; without vectors, those are undefined."""
    method = where("eigh", a)
    if method != "cusolver":
        module = _each() if method == "each" else _jacobi_blocks()
        found: tuple[Any, Any] = module.eigh(_cast(a), part == "U", vectors)
        return found
    dtype = _dtype(a)
    matrices = _columns(a, dtype)
    values = primitives.empty(a, matrices.shape[:2], _real(dtype))
    infos = _lib().eigh(matrices, values, vectors, part == "U")
    _check(infos, "Eigenvalues did not converge")
    stack = a.shape[:-2]
    return primitives.reshape(values, (*stack, a.shape[-1])), _stack(matrices, stack)
