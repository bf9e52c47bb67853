"""Reductions at the end of chains (:mod:`.chains`): their numbers, and the launches of a kernel
that computes, stores and reduces.

A reduction processes its items in the order of its separate kernel (``_geometry()`` of
:mod:`.reduction`), so the result has the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from pygpu._src.codegen import accumulators, dtypes
from pygpu._src.codegen.kernels import chain_reduction
from pygpu._src.runtime import kernel_cache

from . import layout, reduction
from .chain_operations import FIRST_REDUCTION, REDUCTIONS

if TYPE_CHECKING:
    from pygpu._src.codegen.kernels.reduction_parts import Form
    from pygpu._src.runtime.backend import Backend

_SHORT = 8  # items of rows that a work-item reduces alone


class Launches(NamedTuple):
    """Kernel, groups and numbers of the fused launch; the same for the one that joins parts, or
    None."""

    kernel: Any
    groups: int
    numbers: tuple[Any, ...]
    join: tuple[Any, int, tuple[Any, ...]] | None


def _c_strides(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def _in_c_order(array: Any) -> bool:
    expected = _c_strides(array.shape, array.itemsize)
    return all(
        n == 1 or s == t for n, s, t in zip(array.shape, array.strides, expected, strict=True)
    )


def _is_vector(form: Form, array: Any, kept: tuple[int, ...], reduced: tuple[int, ...]) -> bool:
    """Whether a work-item can move form.vector items of an array in one access at every
    position."""
    unit = form.vector * array.itemsize
    along, rest = (kept[-1], (*kept[:-1], *reduced)) if form.columns else (reduced[0], kept)
    if not form.columns and len(reduced) != 1:
        return False
    aligned = array.offset % unit == 0 and all(s % unit == 0 for s in rest)
    return unit <= 16 and along == array.itemsize and aligned


# Body, value, dtypes of the inputs, helpers, features, key.
StepTexts: TypeAlias = tuple[str, str, tuple[np.dtype[Any], ...], str, frozenset[str], str]


def _steps(
    steps: StepTexts,
    reduced: np.dtype[Any],
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    moved: Sequence[bool],
    still: tuple[tuple[bool, ...], ...],
    short: int,
    index_fits_32: bool,
) -> chain_reduction.Steps:
    """Return what the kernel computes before it reduces. moved: for each array, whether in
    vectors. index_fits_32: the indices of results fit into 32 bits."""
    body, value, input_dtypes, helpers, _, _ = steps
    vectors = iter(moved)
    return chain_reduction.Steps(
        body,
        value,
        reduced,
        input_dtypes,
        tuple(p is not None for p in inputs),
        tuple(p.dtype for p in outputs),
        tuple(next(vectors) if p is not None else False for p in (*outputs, *inputs)),
        helpers,
        still,
        short,
        "pg_u32" if index_fits_32 else "pg_i64",
    )


def _kernel(
    backend: Backend,
    op: accumulators.Operation,
    form: Form,
    of: chain_reduction.Steps,
    steps: StepTexts,
    features: set[str],
) -> Any:
    """Return the kernel, compiled if needed."""
    return kernel_cache.get(
        backend,
        (
            *("chain reduction", op.key, form, steps[-1], of.is_array, of.vectors, of.still),
            *(of.short, of.index),
        ),
        lambda: chain_reduction.source(op, form, of),
        {*op.features, *features},
    )


def _kept_strides(out: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the result's strides along the axes that are not reduced."""
    strides: tuple[int, ...] = out.strides
    if len(strides) == len(shape):  # keepdims
        return tuple(s for k, s in enumerate(strides) if k not in axes)
    return strides


def prepare(
    backend: Backend,
    number: int,
    shape: tuple[int, ...],
    reduced_layout: Any,
    out: Any,
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    steps: StepTexts,
) -> Launches | None:
    """Return the launches for the reduction with this number, of a value whose own array would be
    at *reduced_layout*, into *out*. outputs, inputs: layouts of arrays, None for numbers. Returns
    None if its separate kernel must be used."""
    kind, axes, calculated = REDUCTIONS[number - FIRST_REDUCTION]
    arrays = [*outputs, *(p for p in inputs if p is not None)]
    used = (reduced_layout.dtype, *(p.dtype for p in arrays))
    if backend.limits.is_cpu or np.float16 in used or not _in_c_order(reduced_layout):
        return None
    out_strides = _kept_strides(out, shape, axes)
    virtual = _c_strides(shape, reduced_layout.itemsize)
    op = accumulators.operation(kind, (reduced_layout.dtype,), calculated, out.dtype)
    kept_shape, kept, red_shape, red, flips = reduction._walks(
        kind, shape, (virtual,), axes, out_strides
    )
    at = [reduced_layout.itemsize], [reduced_layout.offset]
    form, lanes, groups, segments = reduction._geometry(
        backend, op, kept_shape, kept, red_shape, red, *at, False, False
    )
    strides = [layout.broadcast_strides(p.shape, p.strides, shape) for p in arrays]
    all_kept, by_kept, all_red, by_red, all_flips = reduction._walks(
        kind, shape, (virtual, *strides), axes, out_strides
    )
    if any((*flips, *all_flips)) or (form.columns and all_kept[-1] % form.vector):
        return None
    joint = form.but(kept=len(all_kept), reduced=len(all_red))
    walks = list(zip(by_kept[1:-1], by_red[1:], strict=True))
    moved = [_is_vector(joint, p, k, r) for p, (k, r) in zip(arrays, walks, strict=True)]
    n_out, n_red = prod(kept_shape), prod(red_shape)
    alone = lanes == segments == 1 and not form.columns and n_red <= _SHORT
    still = tuple(tuple(n == 0 for n in (*k, *r)) for k, r in walks)
    variant = still, n_red if alone else 0, n_out < 1 << 31
    of = _steps(steps, reduced_layout.dtype, outputs, inputs, moved, *variant)
    numbers = (
        *(n_out, n_red, segments, lanes),
        *(*all_kept[1:], *all_red[1:]),
        *(n for k, r in walks for n in (*k, *r)),
        *by_kept[-1],
        *_finish(shape, axes),
    )
    kernel = _kernel(backend, op, joint, of, steps, {*steps[-2], *dtypes.features(*used)})
    if not form.parts:
        return Launches(kernel, groups, numbers, None)
    final, count, given = reduction._final(backend, op, form, n_out, segments, len(kept_shape))
    final = kernel_cache.compiled(final)
    rest = (*given, *kept_shape[1:], *kept[-1], *_finish(shape, axes))
    return Launches(kernel, groups, numbers, (final, count, rest))


def _finish(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, float]:
    """Return the number of items per result, and ddof."""
    return prod(shape[k] for k in axes), 0.0
