"""Factorizations of stacks of matrices, each by one work-group: one launch for a whole stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pygpu._src.array import layout, primitives
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import cholesky as cholesky_text
from pygpu._src.codegen.kernels import eigh as eigh_text
from pygpu._src.codegen.kernels import eigh_rows, lu_registers
from pygpu._src.codegen.kernels import householder as householder_text
from pygpu._src.codegen.kernels import jacobi as jacobi_text
from pygpu._src.codegen.kernels import lu as lu_text
from pygpu._src.codegen.kernels.matrix_group import Group
from pygpu._src.runtime import kernel_cache

from .launches import (
    INDEFINITE,
    NO_EIGENVALUES,
    NO_SINGULAR_VALUES,
    SINGULAR,
    Failure,
    cache_launch,
    name_of,
    run_cached,
)

_SIZES = (4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 181, 256)
_CPU_BYTES = 1 << 18  # for a matrix in a CPU's local memory, which is ordinary memory
_SPARE = 2048  # bytes of local memory for everything but the matrix
_GROUPS = 1 << 20
_SIDES_HELD = 8  # right sides that a row in registers may have
_REGISTERS = 576  # bytes of a row that a work-item holds in registers
_WARPS = 4  # per group, each with a matrix


class Call(NamedTuple):
    """A call that one launch computes, for launches.cache_launch()."""

    name: tuple[Any, ...]
    operands: Sequence[Any]
    result: Any


class _Stack:
    """Matrices in a kernel's form: a stack with one axis [strides in items]."""

    __slots__ = ("array", "strides")

    def __init__(self, array: Any, step: int) -> None:
        item = array.itemsize
        self.array = array
        self.strides = (step // item, array.strides[-2] // item, array.strides[-1] // item)


def _broadcast(array: Any, stack: tuple[int, ...]) -> Any:
    strides = layout.broadcast_strides(array.shape[:-2], array.strides[:-2], stack)
    return array._view((*stack, *array.shape[-2:]), (*strides, *array.strides[-2:]), array.offset)


def _stacks(arrays: Sequence[Any], stack: tuple[int, ...]) -> list[_Stack]:
    """Return the arrays, broadcast to a stack; copies where their strides need more than one
    axis."""
    views = [_broadcast(x._aligned(), stack) for x in arrays]
    views = [x if _has_item_strides(x) else primitives.c_order(x) for x in views]
    shape, strides = layout.collapse_in_order(stack, *(x.strides[:-2] for x in views))
    if len(shape) > 1:
        views = [primitives.c_order(x) for x in views]
        shape, strides = layout.collapse_in_order(stack, *(x.strides[:-2] for x in views))
    return [_Stack(x, s[0]) for x, s in zip(views, strides, strict=True)]


def _has_item_strides(array: Any) -> bool:
    """Whether its strides are multiples of an item."""
    return not any(s % array.itemsize for s in array.strides)


def _group(backend: Any, dtype: np.dtype[Any], side: int, items: int) -> Group:
    """Return the group for matrices with rows or columns of *side* items, with *items* in total."""
    limits = backend.limits
    if limits.is_cpu:
        threads, room = 1, min(limits.local_bytes // 2, _CPU_BYTES)
    else:
        threads = 32 if side <= 32 else 64 if side <= 64 else 128 if side <= 128 else 256
        threads = min(threads, 1 << (limits.group_size.bit_length() - 1))
        room = limits.local_bytes
    sizes = [n * (n + 1) + 8 * n for n in _SIZES]
    found = next((size for size in sizes if size >= items), 0)
    if found * dtype.itemsize > room - _SPARE:
        found = items if items * dtype.itemsize <= room - _SPARE else 0
    if not found and not limits.is_cpu:
        threads = min(max(threads, 256), 1 << (limits.group_size.bit_length() - 1))
    warps = 0
    if limits.warps and threads == 32 and found:
        warps = max(min((room - _SPARE) // (found * dtype.itemsize + 1024), _WARPS), 1)
    return Group(dtypes.code(dtype), threads, found, warps, limits.warps)


def _registers(like: Any, n: int, sides: int) -> Group | None:
    """Return the group whose work-items hold a row each with so many right sides, if the registers
    suffice."""
    limits = like.backend.limits
    threads = max(primitives.power_of_two(n), 4)
    if limits.is_cpu or not limits.warps or n > 32:
        return None
    wide = threads + (threads if sides < 0 else sides)
    if wide * like.itemsize > _REGISTERS:
        return None
    items = threads * (threads + 1)
    if (items + 3 * wide + 2 * threads) * like.itemsize * (128 // threads) > limits.local_bytes:
        return None
    return Group(dtypes.code(like.dtype), threads, items, 128 // threads, True)


def _sides(n: int) -> int:
    """Right sides of a kernel for n."""
    return primitives.power_of_two(n)


def _rows(n: int) -> int:
    """Items of an array in local memory for n rows."""
    return max(primitives.power_of_two(n), 16)


def _run(
    like: Any,
    group: Group,
    key: tuple[Any, ...],
    make: Callable[[], str],
    name: str,
    count: int,
    items: int,
    reads: Sequence[_Stack],
    writes: Sequence[Any],
    numbers: Sequence[int],
    call: Call | None = None,
) -> None:
    """Launch a kernel for *count* matrices. items: of one in memory."""
    backend = like.backend
    kernel = kernel_cache.get(
        backend,
        ("factorization", name, group, *key),
        lambda: (make(), name),
        {"warps"} if backend.limits.warps else (),
        exact=False,
    )
    most = backend.limits.units * 8 if group.serial or not group.items else _GROUPS
    groups = min(-(-count // max(group.warps, 1)), most)
    outs = list(writes)
    if not group.items:
        size = groups * items * reads[0].array.itemsize
        outs.append(primitives.scratch(like, size))
    strides = [s for x in reads for s in x.strides]
    arrays = [x.array for x in reads]
    every = [count, items, *numbers, *strides]
    primitives.launch(like, kernel, groups, group.size, arrays, outs, every)
    if call is not None and group.items:
        cache_launch(*call, kernel, groups, group.size, arrays, outs, every)


def _pitch(n: int) -> int:
    return n | 1


def solve(a: Any, b: Any) -> Any:
    """Solve a x = b for matrices of the same dtype, in stacks that broadcast. b may be one
    vector."""
    given, vector = (a, b), b.ndim == 1
    if vector:
        b = b[:, None]
    n, sides = b.shape[-2:]
    stack = layout.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    items = n * _pitch(n + sides)
    held = _registers(a, n, _sides(sides)) if sides <= _SIDES_HELD else None
    group = held or _group(a.backend, a.dtype, n, items)
    out = primitives.empty(a, (*stack, n, sides), a.dtype)
    result = out[..., 0] if vector else out
    failure = Failure(a)
    _run(
        a,
        group,
        ("held", _sides(sides)) if held else (_rows(n),),
        lambda: (
            lu_registers.solve_source(group, _sides(sides))
            if held
            else lu_text.solve_source(group, _rows(n))
        ),
        "lin_solve",
        prod(stack),
        items,
        _stacks((a, b), stack),
        [out, failure.array],
        [n, sides],
        Call(name_of("solve"), given, result),
    )
    failure.check(SINGULAR)
    return result


def inverse(a: Any) -> Any:
    """Return the inverses of a stack."""
    n = a.shape[-1]
    items = n * _pitch(n) + n
    held = _registers(a, n, -1)
    group = held or _group(a.backend, a.dtype, n, items)
    out = primitives.empty(a, a.shape, a.dtype)
    failure = Failure(a)
    _run(
        a,
        group,
        ("held",) if held else (_rows(n),),
        lambda: (
            lu_registers.inverse_source(group) if held else lu_text.inverse_source(group, _rows(n))
        ),
        "lin_inverse",
        prod(a.shape[:-2]),
        items,
        _stacks((a,), a.shape[:-2]),
        [out, failure.array],
        [n],
        Call(name_of("inv"), (a,), out),
    )
    failure.check(SINGULAR)
    return out


def determinant(a: Any, logarithm: bool) -> Any:
    """Return the determinants of a stack, or (signs, logarithms of their absolute values)."""
    n = a.shape[-1]
    items = n * _pitch(n)
    held = _registers(a, n, 0)
    group = held or _group(a.backend, a.dtype, n, items)
    stack = a.shape[:-2]
    outs = [primitives.empty(a, stack, a.dtype)]
    if logarithm:
        outs.append(primitives.empty(a, stack, a.dtype.char.lower()))
    _run(
        a,
        group,
        ("held", logarithm) if held else (_rows(n), logarithm),
        lambda: (
            lu_registers.determinant_source(group, logarithm)
            if held
            else lu_text.determinant_source(group, _rows(n), logarithm)
        ),
        "lin_determinant",
        prod(stack),
        items,
        _stacks((a,), stack),
        outs,
        [n],
        Call(name_of("det", logarithm), (a,), outs[0]),
    )
    return tuple(outs) if logarithm else outs[0]


def cholesky(a: Any, upper: bool) -> Any:
    """Return the lower factors of a stack, or the upper ones."""
    n = a.shape[-1]
    items = n * _pitch(n)
    held = _registers(a, n, 0)
    group = held or _group(a.backend, a.dtype, n, items)
    out = primitives.empty(a, a.shape, a.dtype)
    failure = Failure(a)
    _run(
        a,
        group,
        ("held",) if held else (),
        lambda: (cholesky_text.rows_source if held else cholesky_text.cholesky_source)(group),
        "lin_cholesky_each",
        prod(a.shape[:-2]),
        items,
        _stacks((a,), a.shape[:-2]),
        [out, failure.array],
        [n, int(upper)],
        Call(name_of("cholesky", upper), (a,), out),
    )
    failure.check(INDEFINITE)
    return out


def qr(a: Any, mode: str) -> tuple[Any, Any]:
    """Return (Q or None, R) of numpy.linalg.qr in the modes reduced, complete and r."""
    m, n = a.shape[-2:]
    k = m if mode == "complete" else min(m, n)
    wide = 0 if mode == "r" else k
    stack = a.shape[:-2]
    q = primitives.empty(a, (*stack, m, k), a.dtype) if wide else None
    name = name_of("qr", mode)
    cached = run_cached(name, (a,), () if q is None else (q,))
    if cached is not None:
        return q, cached
    items = m * _pitch(max(n, wide)) + min(m, n)
    group = _group(a.backend, a.dtype, max(n, wide), items)
    r = primitives.empty(a, (*stack, k, n), a.dtype)
    _run(
        a,
        group,
        (bool(wide),),
        lambda: householder_text.qr_source(group, bool(wide)),
        "lin_qr",
        prod(stack),
        items,
        _stacks((a,), stack),
        [r] if q is None else [r, q],
        [m, n, k, wide],
        Call(name, (a,), r),
    )
    return q, r


def eigh(a: Any, upper: bool, vectors: bool) -> tuple[Any, Any]:
    """Return (eigenvalues, vectors or None) of a stack of Hermitian matrices."""
    n = a.shape[-1]
    items = n * _pitch(n) + 6 * n
    held = _registers(a, n, -1)
    group = held or _group(a.backend, a.dtype, n, items)
    stack = a.shape[:-2]
    values = primitives.empty(a, (*stack, n), a.dtype.char.lower())
    out = primitives.empty(a, a.shape, a.dtype) if vectors else None
    failure = Failure(a)
    _run(
        a,
        group,
        ("held", eigh_rows.columns_of(n), vectors) if held else (_rows(n), vectors),
        lambda: (
            eigh_rows.eigh_rows_source(group, eigh_rows.columns_of(n), vectors)
            if held
            else eigh_text.eigh_source(group, vectors, _rows(n))
        ),
        "lin_eigh",
        prod(stack),
        items,
        _stacks((a,), stack),
        [values, *([] if out is None else [out]), failure.array],
        [n, int(upper)],
        Call(name_of("eigh", upper, vectors), (a,), values),
    )
    failure.check(NO_EIGENVALUES)
    return values, out


def svd(a: Any, vectors: bool) -> tuple[Any, Any, Any]:
    """Return (U, singular values, V) of a stack of matrices with at least as many rows as columns,
    with U of the same shape; (None, values, None) without vectors."""
    m, n = a.shape[-2:]
    stack = a.shape[:-2]
    outs = []
    if vectors:
        outs = [primitives.empty(a, (*stack, rows, n), a.dtype) for rows in (m, n)]
    name = name_of("svd", vectors)
    values = run_cached(name, (a,), outs, NO_SINGULAR_VALUES)
    if values is not None:
        return (outs[0], values, outs[1]) if vectors else (None, values, None)
    items = max(m * _pitch(n), n * _pitch(m)) + (n * _pitch(n) if vectors else 0) + 2 * n + m
    group = _group(a.backend, a.dtype, (n + 1) // 2, items)
    values = primitives.empty(a, (*stack, n), a.dtype.char.lower())
    failure = Failure(a)
    _run(
        a,
        group,
        (_rows(n), vectors),
        lambda: jacobi_text.svd_source(group, vectors, _rows(n)),
        "lin_svd",
        prod(stack),
        items,
        _stacks((a,), stack),
        [values, *outs, failure.array],
        [m, n],
        Call(name, (a,), values),
    )
    failure.check(NO_SINGULAR_VALUES)
    return (outs[0], values, outs[1]) if vectors else (None, values, None)
