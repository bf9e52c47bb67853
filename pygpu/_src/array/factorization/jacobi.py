"""Eigenvalues of large Hermitian matrices on GPUs with warps, by Jacobi rotations of blocks
(pygpu/_src/codegen/kernels/block_jacobi.py has the references).

The matrices of a stack are handled one after another.
"""

from __future__ import annotations

from math import frexp, inf, nan, prod, sqrt
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pygpu._src.array import primitives
from pygpu._src.array.matmul import diagonal, matmul
from pygpu._src.array.reduction import reduce
from pygpu._src.array.sort import argsort
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import block_jacobi as text
from pygpu._src.codegen.kernels.matrix_group import Group
from pygpu._src.runtime import kernel_cache

from .launches import NO_EIGENVALUES

SWEEPS = 40  # at most
_WIDEST = {"f": 120, "d": 1000}  # exponents of scales


class Launch:
    """A kernel that is launched again and again on the same arrays with other numbers."""

    def __init__(
        self,
        group: Group,
        name: str,
        source: Any,
        groups: int,
        reads: list[Any],
        writes: list[Any],
        kind: bool = False,
    ) -> None:
        like = writes[0]
        self.backend, self.queue = like.backend, like._queue()
        self.kernel = kernel_cache.get(
            self.backend,
            ("factorization", name, group, kind),
            lambda: (source(), name),
            {"warps"},
            exact=False,
        )
        self.groups, self.size = groups, group.size
        self.reads, self.writes = reads, writes
        self.memory = [y for x in (*reads, *writes) for y in self.backend.arguments(x)]

    def ordered(self, *numbers: int) -> None:
        """Launch after all that the arrays wait for."""
        like = self.writes[0]
        primitives.launch(
            like, self.kernel, self.groups, self.size, self.reads, self.writes, numbers
        )

    def follow(self, *numbers: int) -> None:
        """Launch on a queue that keeps the order, after another launch for the same arrays."""
        arguments = [*self.memory, *numbers]
        self.backend.launch(self.kernel, self.queue, self.groups, self.size, arguments)


def _hermitian(a: Any, upper: bool, power: int, size: int) -> tuple[Any, Any]:
    """Return (2^power times the matrix, the identity) with so many rows and columns."""
    x, z = (primitives.empty(a, (size, size), a.dtype) for _ in range(2))
    group = Group(dtypes.code(a.dtype), 128, 0, 0, True)
    down, across = (s // a.itemsize for s in a.strides)
    groups = min(-(-size * size // 512), 1 << 16)
    source = text.hermitian_source
    launch = Launch(group, "lin_hermitian", lambda: source(group), groups, [a], [x, z])
    launch.ordered(1, 0, a.shape[0], int(upper), size, power, down, across)
    return x, z


def _rotate(x: Any, z: Any, vectors: bool, width: int) -> None:
    """Rotate until x is diagonal; z is multiplied by the vectors."""
    size = x.shape[0]
    pairs = size // (2 * width)
    code, side = dtypes.code(x.dtype), 2 * width
    turns = primitives.empty(x, (pairs, side, side), x.dtype)
    items = side * (side + 1)
    group = Group(code, side, items, 32 // side, True)
    groups = -(-pairs // group.warps)
    first, solve = (
        Launch(
            group,
            "lin_pairs",
            lambda: text.pairs_source(group, width, within),  # noqa: B023
            groups,
            [],
            [x, turns],
            within,
        )
        for within in (True, False)
    )
    team = Group(code, text.GROUP, items, 0, True)
    above = pairs * (pairs - 1) // 2
    groups = above + pairs * pairs * vectors
    turn = Launch(
        team,
        "lin_rotate_blocks",
        lambda: text.rotate_source(team, width),
        groups,
        [turns],
        [x, z],
    )
    rounds = 2 * pairs - 1
    limit = np.finfo(x.dtype).eps * rounds**0.5 * _norm(x)
    ordered = x.backend.is_ordered(solve.queue)
    for _ in range(SWEEPS):
        for k in range(rounds):
            follow = ordered and 1 < k < rounds - 1
            pick = solve if k else first
            (pick.follow if follow else pick.ordered)(pairs, 0, k, size)
            if groups:
                (turn.follow if follow else turn.ordered)(pairs, 0, k, size, above)
        rest = x._copy()
        ones = diagonal(rest, 0, 0, 1)
        primitives.fill(ones, 0)
        primitives.changed(rest, ones)
        if _norm(rest) <= limit:  # the rest is for _refined()
            return
    raise LinAlgError(NO_EIGENVALUES)


def _one(a: Any, upper: bool, vectors: bool) -> tuple[Any, Any]:
    from pygpu._src.array.routines import manipulation

    n = a.shape[0]
    width = width_of(a)
    size = -(-n // (2 * width)) * 2 * width
    most = largest(manipulation.triangle(a, 0, upper))
    if not most < inf:
        lost = primitives.empty(a, (n, n), a.dtype)
        primitives.fill(lost, nan)
        values = primitives.empty(a, (n,), a.dtype.char.lower())
        primitives.fill(values, nan)
        return values, lost
    power = scaling(a, most)
    x, z = _hermitian(a, upper, power, size)
    matrix = x._copy()._view((n, n), x.strides, 0)
    _rotate(x, z, True, width)
    values, z = _refined(matrix, primitives.c_order(z._view((n, n), z.strides, z.offset)), vectors)
    order = argsort(values)
    values = values.take(order) * values.dtype.type(2.0**-power)
    return values, z.take(order, 1) if vectors else None


def _real(a: Any) -> Any:
    return a.real if a.dtype.kind == "c" else a


def _refined(a: Any, z: Any, vectors: bool) -> tuple[Any, Any]:
    """Return (values, vectors) with the errors of products instead of those of all rotations: a
    step of Ogita and Aishima, Iterative refinement for symmetric eigenvalue decomposition (2018).
    """
    adjoint = adjoint_of(z)
    products, gram = matmul(adjoint, matmul(a, z)), matmul(adjoint, z)
    values = _real(diagonal(products, 0, 0, 1)) / _real(diagonal(gram, 0, 0, 1))
    if not vectors:
        return values, None
    one = values.dtype.type(1)
    products, gram = products + adjoint_of(products), gram + adjoint_of(gram)  # twice of each
    unit = diagonal(gram, 0, 0, 1)
    unit -= 2 * one
    primitives.changed(gram, unit)
    both, gaps = values + values[:, None], values - values[:, None]
    rest = products - gram * (both / 2)  # zero if the vectors diagonalize the matrix
    small = one * (np.finfo(a.dtype).eps ** 0.5 / 4)  # so that its square is nothing
    far = abs(rest) < abs(gaps) * small
    turn = np.where(far, rest / np.where(far, gaps, one), 0 * one)  # antisymmetric
    return values, z + matmul(z, (turn - gram / 2) / 2)


def adjoint_of(a: Any) -> Any:
    """Return the adjoint of a matrix."""
    return a.mT.conj() if a.dtype.kind == "c" else a.mT


def _norm(a: Any) -> float:
    return sqrt(float(reduce("sum", abs(a) ** 2, None).get()))


def largest(a: Any) -> float:
    """Return the largest absolute value of real and imaginary parts; NaN counts as infinite."""
    parts = (a.real, a.imag) if a.dtype.kind == "c" else (a,)
    most = [float(reduce("max", abs(x), None).get()) for x in parts]
    return inf if any(x != x for x in most) else max(most)


def scaling(a: Any, most: float) -> int:
    """Return the power of two by which the largest value comes near 1."""
    widest = _WIDEST[a.dtype.char.lower()]
    return max(min(-frexp(most)[1], widest), -widest) if most else 0


def width_of(a: Any) -> int:
    """Return the columns of a block: as many as registers hold twice."""
    return 8 if a.dtype.char == "D" else 16


def eigh(a: Any, upper: bool, vectors: bool) -> tuple[Any, Any]:
    """Return (eigenvalues, vectors or None) of a stack of Hermitian matrices."""
    n, stack = a.shape[-1], a.shape[:-2]
    if not stack:
        return _one(primitives.c_order(a), upper, vectors)
    count = prod(stack)
    flat = primitives.reshape(a, (count, n, n))
    values = primitives.empty(a, (count, n), a.dtype.char.lower())
    out = primitives.empty(a, (count, n, n), a.dtype) if vectors else None
    for i in range(count):
        found = _one(primitives.c_order(flat[i]), upper, vectors)
        values[i] = found[0]
        if out is not None:
            out[i] = found[1]
    values = primitives.reshape(values, (*stack, n))
    return values, None if out is None else primitives.reshape(out, a.shape)
