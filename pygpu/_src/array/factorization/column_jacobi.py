"""Singular values of large matrices on GPUs with warps, by Jacobi rotations of blocks of columns
(pygpu/_src/codegen/kernels/block_jacobi.py has the references).

The matrices of a stack are handled one after another.
"""

from __future__ import annotations

from math import inf, prod
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pygpu._src.array import primitives, ufuncs
from pygpu._src.array.matmul import diagonal, matmul
from pygpu._src.array.reduction import reduce
from pygpu._src.array.sort import argsort
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import block_jacobi as text
from pygpu._src.codegen.kernels.matrix_group import Group

from . import blocked
from .jacobi import SWEEPS, Launch, adjoint_of, largest, scaling, width_of
from .launches import NO_SINGULAR_VALUES

_CLOSE = 1e-2  # cosines from which they are seen to become small at once
_GROUPS = 512  # at least so many shall multiply columns, if there are enough rows


def _orthogonalize(z: Any, rows: int, width: int) -> None:
    """Rotate the columns of z until its first rows have orthogonal columns."""
    size = z.shape[1]
    pairs, side, code = size // (2 * width), 2 * width, dtypes.code(z.dtype)
    parts = min(max(_GROUPS // pairs, 1), rows // side)
    grams = primitives.empty(z, (parts * pairs, side, side), z.dtype)
    turns = primitives.empty(z, (pairs, side, side), z.dtype)
    rounds = 2 * pairs - 1
    cosines = primitives.empty(z, (rounds, pairs), z.dtype.char.lower())
    items = side * (side + 1)
    group = Group(code, side, items, 32 // side, True)
    team = Group(code, text.GROUP, items, 0, True)
    multiply = Launch(
        team,
        "lin_gram_blocks",
        lambda: text.gram_source(team, width),
        pairs * parts,
        [z],
        [grams],
    )
    first, solve = (
        Launch(
            group,
            "lin_column_pairs",
            lambda: text.column_pairs_source(group, width, within),  # noqa: B023
            -(-pairs // group.warps),
            [grams],
            [turns, cosines],
            within,
        )
        for within in (True, False)
    )
    turn = Launch(
        team,
        "lin_rotate_blocks",
        lambda: text.rotate_source(team, width),
        z.shape[0] // side * pairs,
        [turns],
        [z, z],
    )
    ordered = z.backend.is_ordered(solve.queue)
    limit = np.finfo(z.dtype).eps * rows**0.5
    for _ in range(SWEEPS):
        for k in range(rounds):
            follow = ordered and 1 < k < rounds - 1
            (multiply.follow if follow else multiply.ordered)(pairs, 0, k, size, rows, parts)
            pick = solve if k else first
            (pick.follow if follow else pick.ordered)(pairs, 0, k, parts)
            (turn.follow if follow else turn.ordered)(pairs, 0, k, size, 0)
        most = cosines.get().max()  # before
        if most <= limit or (most <= _CLOSE and _cosine(z[:rows]) <= 8 * limit):
            return  # the rest is for _refined()
    raise LinAlgError(NO_SINGULAR_VALUES)


def _cosine(w: Any) -> float:
    """Return the largest cosine of columns that are something."""
    gram = matmul(adjoint_of(w), w)
    ones = _ones(gram)
    squares = (ones.real if w.dtype.kind == "c" else ones)._copy()
    primitives.fill(ones, 0)
    primitives.changed(gram, ones)
    nothing = np.finfo(w.dtype).eps ** 2 / 256  # LIN_NOTHING
    one = squares.dtype.type(1)
    sizes = np.where(squares > one * nothing, ufuncs.call("sqrt", (squares,)), one * inf)
    return float(reduce("max", abs(gram) / sizes / sizes[:, None], None).get())


def _ones(a: Any) -> Any:
    return diagonal(a, 0, 0, 1)


def _polished(q: Any) -> Any:
    """Return nearly orthonormal columns with the errors of products."""
    gram = matmul(adjoint_of(q), q)
    ones = _ones(gram)
    ones -= ones.dtype.type(3)
    primitives.changed(gram, ones)
    return matmul(q, gram * gram.dtype.type(-0.5))


def _completed(u: Any, rank: int) -> Any:
    """Return the columns, of which those from *rank* on are replaced by orthonormal ones."""
    n = u.shape[0]
    rng = np.random.default_rng(0)
    other = rng.standard_normal((n, n - rank)).astype(u.dtype)
    completed = u._copy()
    completed[:, rank:] = primitives.as_array(u, other)
    q = blocked.qr(completed, "reduced")[0]
    completed[:, rank:] = q[:, rank:]
    return completed


def _refined(a: Any, u: Any, v: Any) -> tuple[Any, Any, Any]:
    """Return (U, singular values, V) with the errors of products: as Ogita and Aishima, Iterative
    refinement for singular value decomposition based on matrix multiplication (2020)."""
    u, v = _polished(u), _polished(v)
    products = matmul(adjoint_of(u), matmul(a, v))
    values = _ones(products)
    values = (values.real if a.dtype.kind == "c" else values)._copy()
    off = products
    ones = _ones(off)
    primitives.fill(ones, 0)
    primitives.changed(off, ones)
    one = values.dtype.type(1)
    rows, gaps = values[:, None], values - values[:, None]
    other = adjoint_of(off)
    small = one * (np.finfo(a.dtype).eps ** 0.5 / 8)  # so that its square is nothing
    far = abs(off) + abs(other) < abs(gaps) * small
    gaps, both = np.where(far, gaps, one), np.where(far, values + rows, one)
    left = np.where(far, (off * values + other * rows) / both / gaps, 0 * one)
    right = np.where(far, (off * rows + other * values) / both / gaps, 0 * one)
    return u + matmul(u, left), values, v + matmul(v, right)


def _one(a: Any, vectors: bool) -> tuple[Any, Any, Any]:
    n, width = a.shape[0], width_of(a)
    size = -(-n // (2 * width)) * 2 * width
    most = largest(a)
    if not most < inf:
        raise LinAlgError(NO_SINGULAR_VALUES)
    power = scaling(a, most)
    scale = np.dtype(a.dtype.char.lower()).type(2.0**power)
    a = a * scale
    z = primitives.empty(a, (2 * size, size), a.dtype)
    primitives.fill(z, 0)
    z[:n, :n] = a
    ones = _ones(z[size:])
    primitives.fill(ones, 1)
    primitives.changed(z, ones)
    _orthogonalize(z, size, width)
    w = z[:n, :n]
    values = ufuncs.call("sqrt", (reduce("sum", abs(w) ** 2, 0),))
    order = argsort(-values)
    values = values.take(order)
    if not vectors:
        return None, values / scale, None
    found = values.get()
    rank = int((found > np.finfo(a.dtype).eps / 4 * found[0]).sum())
    u, v = w.take(order, 1), z[size : size + n, :n].take(order, 1)
    u = u / np.where(values > 0, values, values.dtype.type(1))
    if rank < n:
        u = _completed(u, rank)
    u, values, v = _refined(a, u, v)
    return u, abs(values) / scale, v


def svd(a: Any, vectors: bool) -> tuple[Any, Any, Any]:
    """Return (U, singular values, V) of a stack of square matrices; (None, values, None) without
    vectors."""
    n, stack = a.shape[-1], a.shape[:-2]
    if not stack:
        return _one(primitives.c_order(a), vectors)
    count = prod(stack)
    flat = primitives.reshape(a, (count, n, n))
    values = primitives.empty(a, (count, n), a.dtype.char.lower())
    u, v = (primitives.empty(a, (count, n, n), a.dtype) for _ in range(2))
    for i in range(count):
        found = _one(primitives.c_order(flat[i]), vectors)
        values[i] = found[1]
        if vectors:
            u[i], v[i] = found[0], found[2]
    values = primitives.reshape(values, (*stack, n))
    if not vectors:
        return None, values, None
    return primitives.reshape(u, a.shape), values, primitives.reshape(v, a.shape)
