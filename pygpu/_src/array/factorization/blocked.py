"""Factorizations of large matrices by blocks of columns: each block by one work-group, the rest by
products (pygpu/_src/codegen/kernels/blocked.py has the references).

The matrices of a stack are factored one after another.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pygpu._src.array import layout, primitives, ufuncs
from pygpu._src.array.index_errors import Report
from pygpu._src.array.matmul import diagonal, matmul
from pygpu._src.array.reduction import reduce
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import blocked as text
from pygpu._src.codegen.kernels import cholesky as cholesky_text
from pygpu._src.codegen.kernels.matrix_group import Group
from pygpu._src.runtime import kernel_cache

from .launches import INDEFINITE, SINGULAR, Failure

WIDTH = text.WIDTH
_THREADS = 1024  # of the group that handles a block of columns
_COLUMNS = 64  # work-items with a column each


def _group(like: Any, threads: int, items: int = 0) -> Group:
    limits = like.backend.limits
    most = limits.group_size if limits.warps else min(limits.group_size, 256)
    threads = 1 if limits.is_cpu else min(threads, 1 << (most.bit_length() - 1))
    return Group(dtypes.code(like.dtype), threads, items, 0, limits.warps)


def _launch(
    like: Any,
    group: Group,
    name: str,
    make: Callable[[Group], str],
    groups: int,
    reads: list[Any],
    writes: list[Any],
    numbers: list[int],
) -> None:
    kernel = kernel_cache.get(
        like.backend,
        ("factorization", name, group),
        lambda: (make(group), name),
        {"warps"} if like.backend.limits.warps else (),
        exact=False,
    )
    primitives.launch(like, kernel, groups, group.size, reads, writes, [1, 0, *numbers])


def part(a: Any, rows: tuple[int, int], columns: tuple[int, int]) -> Any:
    """Return rows and columns of a matrix as a view."""
    down, across = a.strides
    shape = (rows[1] - rows[0], columns[1] - columns[0])
    return a._view(shape, a.strides, a.offset + rows[0] * down + columns[0] * across)


def _matrix(a: Any, i: int) -> Any:
    """Return matrix i of a stack with one axis."""
    return a._view(a.shape[1:], a.strides[1:], a.offset + i * a.strides[0])


def _subtract(a: Any, view: Any, product: Any) -> None:
    """view -= product, where *view* is a part of *a*."""
    ufuncs.call("subtract", (view, product), (view,))
    primitives.changed(a, view)


def _stack_of(a: Any, columns: int) -> Any:
    """Make a stack with one axis for the matrices of *a* and further columns next to them."""
    return primitives.empty(a, (prod(a.shape[:-2]), a.shape[-2], columns), a.dtype)


def _copy(source: Any, stack: tuple[int, ...], work: Any, columns: tuple[int, int]) -> None:
    """Copy the matrices of *source*, broadcast to a stack, to these columns of *work*."""
    target = work._view(
        (*stack, work.shape[1], columns[1] - columns[0]),
        (*layout.c_strides(stack, work.strides[0]), *work.strides[1:]),
        work.offset + columns[0] * work.strides[2],
    )
    strides = layout.broadcast_strides(source.shape[:-2], source.strides[:-2], stack)
    shape = (*stack, *source.shape[-2:])
    target._copy_from(source._view(shape, (*strides, *source.strides[-2:]), source.offset))
    primitives.changed(work, target)


# ---- LU


def _swap_rows(a: Any, swaps: Any, first: int, width: int) -> None:
    group = _group(a, 128)
    columns = a.shape[1]
    groups = max(min(-(-columns // group.threads), 1 << 16), 1)
    if group.serial:
        groups = min(columns, a.backend.limits.units)
    numbers = [first, width, columns, a.strides[0] // a.itemsize]
    _launch(a, group, "lin_swap_rows", text.swap_source, groups, [swaps], [a], numbers)


def _triangular(
    t: Any,
    at: tuple[int, int],
    x: Any,
    width: int,
    columns: int,
    x_strides: tuple[int, int],
    x_at: int,
    *,
    upper: bool = False,
    unit: bool = False,
    conjugate: bool = False,
) -> None:
    """Solve with a triangle of *t* at a row and column for columns of *x* [strides in items]."""
    down, across = (s // t.itemsize for s in t.strides)
    t_at = at[0] * down + at[1] * across
    x_down, x_across = x_strides
    if upper:
        t_at += (width - 1) * (down + across)
        x_at += (width - 1) * x_down
        down, across, x_down = -down, -across, -x_down
    group = _group(x, _COLUMNS)
    groups = max(min(-(-columns // group.threads), 1 << 16), 1)
    if group.serial:
        groups = min(columns, x.backend.limits.units)
    numbers = [
        width,
        columns,
        int(unit),
        int(conjugate),
        t_at,
        down,
        across,
        x_at,
        x_down,
        x_across,
    ]
    name = "lin_triangular"
    _launch(x, group, name, text.triangular_source, groups, [t], [x], numbers)


def _factor(a: Any, n: int, swaps: Any, failure: Failure | Report) -> None:
    """Factor the first n columns of n rows; the other columns are multiplied by L^-1 P."""
    columns = a.shape[1]
    pitch = a.strides[0] // a.itemsize
    for first in range(0, n, WIDTH):
        end = min(first + WIDTH, n)
        width = end - first
        writes = [a, swaps, failure.array]
        numbers = [n, first, width, pitch]
        _launch(a, _group(a, _THREADS), "lin_lu_block", text.lu_source, 1, [], writes, numbers)
        _swap_rows(a, swaps, first, width)
        if end == columns:
            continue
        x_at = first * pitch + end
        at = first, first
        _triangular(a, at, a, width, columns - end, (pitch, 1), x_at, unit=True)
        if end < n:
            product = matmul(part(a, (end, n), (first, end)), part(a, (first, end), (end, columns)))
            _subtract(a, part(a, (end, n), (end, columns)), product)


def _substitute(a: Any, n: int) -> None:
    """Solve with the upper triangle of the first n columns for the others."""
    columns = a.shape[1]
    pitch = a.strides[0] // a.itemsize
    for first in reversed(range(0, n, WIDTH)):
        end = min(first + WIDTH, n)
        at = first, first
        x_at = first * pitch + n
        _triangular(a, at, a, end - first, columns - n, (pitch, 1), x_at, upper=True)
        if first:
            product = matmul(part(a, (0, first), (first, end)), part(a, (first, end), (n, columns)))
            _subtract(a, part(a, (0, first), (n, columns)), product)


def triangular(a: Any, b: Any, upper: bool) -> Any:
    """Solve with a triangle of one matrix for a vector or the columns of a matrix, by blocks.

    Raises LinAlgError if there is a zero on the diagonal.
    """
    n = a.shape[0]
    if a.ndim != 2 or a.shape[1] != n or b.ndim not in (1, 2) or b.shape[0] != n:
        raise ValueError(f"a triangle of shape {a.shape} does not fit a right side of {b.shape}")
    if not reduce("all", diagonal(a, 0, 0, 1), None):
        raise LinAlgError("A is singular: there is a zero on its diagonal")
    columns = b.shape[1] if b.ndim == 2 else 1
    dtype = np.result_type(a.dtype, b.dtype)
    dtype = dtype if dtype.char in "fdFD" else np.dtype(np.float64)
    a = primitives.astype(a, dtype)
    work = primitives.reshape(primitives.astype(b, dtype)._copy(order="C"), (n, columns))
    for first in reversed(range(0, n, WIDTH)) if upper else range(0, n, WIDTH):
        end = min(first + WIDTH, n)
        at = first, first
        _triangular(a, at, work, end - first, columns, (columns, 1), first * columns, upper=upper)
        rows = (0, first) if upper else (end, n)
        if rows[0] < rows[1]:
            product = matmul(part(a, rows, (first, end)), part(work, (first, end), (0, columns)))
            _subtract(work, part(work, rows, (0, columns)), product)
    return primitives.reshape(work, b.shape)


def _swaps(a: Any, count: int, n: int) -> Any:
    return primitives.empty(a, (count, n), np.int32)


def _row(a: Any, i: int) -> Any:
    return a._view(a.shape[1:], a.strides[1:], a.offset + i * a.strides[0])


def _each_of(work: Any, do: Callable[[Any, int], None]) -> None:
    for i in range(work.shape[0]):
        matrix = _matrix(work, i)
        do(matrix, i)
        primitives.changed(work, matrix)


def factors(a: Any) -> tuple[Any, Any]:
    """Return (L and U of each matrix, swapped rows) of a stack with one axis."""
    n = a.shape[-1]
    work = _stack_of(a, n)
    _copy(a, a.shape[:-2], work, (0, n))
    swaps = _swaps(a, work.shape[0], n)
    report = Report(a)  # which nobody reads

    def do(matrix: Any, i: int) -> None:
        row = _row(swaps, i)
        _factor(matrix, n, row, report)
        primitives.changed(swaps, row)

    _each_of(work, do)
    return work, swaps


def _solved(work: Any, n: int) -> None:
    failure = Failure(work)

    def do(matrix: Any, i: int) -> None:
        _factor(matrix, n, _row(_swaps(matrix, 1, n), 0), failure)
        _substitute(matrix, n)

    _each_of(work, do)
    failure.check(SINGULAR)


def _answer(work: Any, stack: tuple[int, ...], columns: tuple[int, int]) -> Any:
    """Return columns of the matrices as an array without gaps."""
    count, n, _ = work.shape
    shape = (count, n, columns[1] - columns[0])
    view = work._view(shape, work.strides, work.offset + columns[0] * work.strides[2])
    return primitives.reshape(primitives.c_order(view), (*stack, *shape[1:]))


def solve(a: Any, b: Any) -> Any:
    """Solve a x = b for matrices of the same dtype, in stacks that broadcast."""
    n, sides = b.shape[-2:]
    stack = layout.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    work = primitives.empty(a, (prod(stack), n, n + sides), a.dtype)
    _copy(a, stack, work, (0, n))
    _copy(b, stack, work, (n, n + sides))
    _solved(work, n)
    return _answer(work, stack, (n, n + sides))


def inverse(a: Any) -> Any:
    """Return the inverses of a stack."""
    n = a.shape[-1]
    stack = a.shape[:-2]
    work = _stack_of(a, 2 * n)
    _copy(a, stack, work, (0, n))
    unit = work._view((work.shape[0], n, n), work.strides, work.offset + n * work.strides[2])
    primitives.fill(unit, 0)
    ones = diagonal(unit, 0, -2, -1)
    primitives.fill(ones, 1)
    primitives.changed(work, ones)
    _solved(work, n)
    return _answer(work, stack, (n, 2 * n))


# ---- Cholesky


def _adjoint(a: Any) -> Any:
    return a.mT.conj() if a.dtype.kind == "c" else a.mT


def _factor_positive(a: Any, failure: Failure) -> None:
    """Replace the lower triangle by L."""
    n = a.shape[0]
    pitch = a.strides[0] // a.itemsize
    items = WIDTH * (WIDTH | 1)
    group = _group(a, 32, items)._replace(warps=int(a.backend.limits.warps))
    for first in range(0, n, WIDTH):
        end = min(first + WIDTH, n)
        width = end - first
        block = part(a, (first, end), (first, end))
        factor = primitives.empty(a, (width, width), a.dtype)
        numbers = [width, 0, 0, pitch, 1]
        make, name = cholesky_text.cholesky_source, "lin_cholesky_each"
        _launch(a, group, name, make, 1, [block], [factor, failure.array], numbers)
        block._copy_from(factor)
        primitives.changed(a, block)
        if end == n:
            continue
        x_at = end * pitch + first
        _triangular(a, (first, first), a, width, n - end, (1, pitch), x_at, conjugate=True)
        panel = part(a, (end, n), (first, end))
        _subtract(a, part(a, (end, n), (end, n)), matmul(panel, _adjoint(panel)))


def cholesky(a: Any, upper: bool) -> Any:
    """Return the lower factors of a stack, or the upper ones."""
    from pygpu._src.array.routines import manipulation

    n = a.shape[-1]
    stack = a.shape[:-2]
    work = _stack_of(a, n)
    _copy(_adjoint(a) if upper else a, stack, work, (0, n))
    failure = Failure(a)
    _each_of(work, lambda matrix, i: _factor_positive(matrix, failure))
    failure.check(INDEFINITE)
    found = primitives.reshape(work, (*stack, n, n))
    if upper:
        found = _adjoint(found)
    return manipulation.triangle(found, 0, upper)


# ---- QR


def _reflect(a: Any, view: Any, vectors: Any, triangle: Any) -> None:
    """Compute view = (1 - V T V^H) view, where *view* is a part of *a*."""
    inner = matmul(triangle, matmul(_adjoint(vectors), view))
    _subtract(a, view, matmul(vectors, inner))


def _factor_orthogonal(a: Any) -> list[tuple[int, Any, Any]]:
    """Factor m x n matrices, leaving R; returns for each block the column where it begins, its V
    and its T."""
    m, n = a.shape
    pitch = a.strides[0] // a.itemsize
    rank = min(m, n)
    taus = primitives.empty(a, (rank,), a.dtype)
    blocks = []
    for first in range(0, rank, WIDTH):
        end = min(first + WIDTH, rank)
        width = end - first
        vectors = primitives.empty(a, (m - first, width), a.dtype)
        numbers = [m, first, width, pitch]
        writes = [a, vectors, taus]
        _launch(a, _group(a, _THREADS), "lin_qr_block", text.qr_source, 1, [], writes, numbers)
        triangle = primitives.empty(a, (width, width), a.dtype)
        gram = matmul(_adjoint(vectors), vectors)
        group = _group(a, WIDTH, 1)
        make = text.triangle_source
        _launch(a, group, "lin_triangle", make, 1, [gram, taus], [triangle], [first, width])
        blocks.append((first, vectors, triangle))
        if end < n:
            _reflect(a, part(a, (first, m), (end, n)), vectors, _adjoint(triangle))
    return blocks


def _orthogonal(q: Any, blocks: list[tuple[int, Any, Any]]) -> None:
    """Return the first columns of the product of the reflectors."""
    m, columns = q.shape
    primitives.fill(q, 0)
    ones = diagonal(q)
    primitives.fill(ones, 1)
    primitives.changed(q, ones)
    for first, vectors, triangle in reversed(blocks):
        _reflect(q, part(q, (first, m), (first, columns)), vectors, triangle)


def qr(a: Any, mode: str) -> tuple[Any, Any]:
    """Return (Q or None, R) of numpy.linalg.qr in the modes reduced, complete and r."""
    from pygpu._src.array.routines import manipulation

    m, n = a.shape[-2:]
    stack = a.shape[:-2]
    k = m if mode == "complete" else min(m, n)
    work = _stack_of(a, n)
    _copy(a, stack, work, (0, n))
    q = None if mode == "r" else primitives.empty(a, (work.shape[0], m, k), a.dtype)

    def do(matrix: Any, i: int) -> None:
        blocks = _factor_orthogonal(matrix)
        if q is not None:
            target = _matrix(q, i)
            _orthogonal(target, blocks)
            primitives.changed(q, target)

    _each_of(work, do)
    r = work._view((work.shape[0], k, n), work.strides, work.offset)
    r = manipulation.triangle(primitives.reshape(r, (*stack, k, n)), 0, True)
    return None if q is None else primitives.reshape(q, (*stack, m, k)), r
