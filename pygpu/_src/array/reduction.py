"""Reductions of arrays: sums, extrema, means, variances, truth, positions, inner products.

:func:`reduce` takes an array of any strides and gives NumPy's result, in one or two launches. Sums
are sums of many short ones, so their error grows like that of NumPy's pairwise sums; the same
array gives the same bits in every run on the same device.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from pygpu import _array
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.accumulators import Operation, operation
from pygpu._src.codegen.accumulators import fused as fuse_operation
from pygpu._src.codegen.kernels import reduction, reduction_cpu
from pygpu._src.codegen.kernels.reduction import GROUP
from pygpu._src.codegen.kernels.reduction_parts import Form
from pygpu._src.runtime import kernel_cache
from pygpu._src.util.frozen import Frozen

from . import elementwise, launch_cache, layout, primitives
from .chain_operations import number_of_reduction

if TYPE_CHECKING:
    from pygpu._src.runtime.backend import Backend, Limits


# Concurrent groups per unit; the comments give shares of an H200's copy rate:
RESIDENT = 6  # max 0.95, sum over the first axis 0.93; 0.93 and 0.89 by 8
RESIDENT_SEVERAL = 8  # of several operands: dot 1.03, 0.95 by 6
RESIDENT_PAIRS = 4  # of accumulators that are not numbers, and long vectors: argmax 0.89, 0.86 by 3
RESIDENT_LARGE = 3  # of larger ones: var 0.82, 0.64 by 4
_OF_UNIT = ("sum", "min", "max", "mean", "std", "ptp")  # those that return times
_ORDERED = ("argmin", "argmax")  # those for which the index of an item matters
_NAMES = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum"}


class _Plan(Frozen):
    """The launches for arrays of a given layout: the first, and the final one if needed."""

    kernel: Any
    groups: int
    group_size: int
    numbers: tuple[Any, ...]
    parts_bytes: int
    final: Any = None
    final_groups: int = 0
    final_numbers: tuple[Any, ...] = ()
    flips: tuple[int, ...] = ()


def _result_dtypes(kind: str, a: Any, dtype: Any, out: Any) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return (dtype of the calculation, dtype of the result)."""
    given = None if dtype is None else dtypes.native(dtype, kind)
    x: np.dtype[Any] = a.dtype
    if dtypes.is_date(x):
        return _result_of_dates(kind, x, given)
    if given is not None and dtypes.is_date(given):
        raise TypeError(
            f"{kind}: numbers are not reduced as {given}; convert with .astype({given})"
        )
    if kind in ("sum", "prod"):
        if given is None and out is not None:  # its dtype counts like an operand's
            return np.result_type(x, out.dtype), out.dtype
        if given is None:
            given = x
            if x.kind in "bi" and x.itemsize < 8:
                given = np.dtype(np.int64)
            elif x.kind == "u" and x.itemsize < 8:
                given = np.dtype(np.uint64)
        return given, given
    if kind in ("mean", "var", "std"):
        if given is None:
            given = np.dtype(np.float64) if x.kind in "biu" else x
            if kind == "mean" and out is not None and dtypes.kind(out.dtype) in "fc":
                given = np.result_type(given, out.dtype)
                return given, out.dtype if dtypes.kind(given) == dtypes.kind(out.dtype) else given
        if kind != "mean" and given.kind == "c":
            return given, np.dtype(f"f{given.itemsize // 2}")
        if given.kind in "biu":  # the dtype in which NumPy divides
            return np.dtype(np.float64), given if kind == "mean" else np.dtype(np.float64)
        return given, given
    if given is not None and kind in ("min", "max"):
        return given, given
    if kind in ("any", "all"):
        return x, np.dtype(np.bool_)
    if kind in ("argmin", "argmax", "count_nonzero"):
        return x, np.dtype(np.int64)
    return x, x


def _result_of_dates(
    kind: str, x: np.dtype[Any], dtype: np.dtype[Any] | None
) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Implement _result_dtypes() for dates and durations. Raises what NumPy raises."""
    if dtype is not None and dtype != x:
        raise TypeError(
            f"{kind}: dtype= {dtype} for items of {x} is not supported; convert with .astype()"
        )
    ufunc = {"sum": np.add, "prod": np.multiply, "mean": np.add, "ptp": np.subtract}.get(kind)
    if kind in ("var", "std"):
        raise TypeError(
            f"{kind}: squares of {x} have no dtype; divide by a unit first, as in "
            "x / numpy.timedelta64(1, 's')"
        )
    if ufunc is not None:
        return x, ufunc.resolve_dtypes((x, x, None))[2]
    if kind in ("any", "all"):
        return x, np.dtype(np.bool_)
    return x, np.dtype(np.int64) if kind in ("argmin", "argmax", "count_nonzero") else x


_NO_FREEDOM = "Degrees of freedom <= 0 for slice"


def _empty_result(kind: str, dtype: np.dtype[Any], initial: Any) -> Any:
    """Return the result of no items, to be stored as *dtype*."""
    if kind in ("argmin", "argmax"):
        raise ValueError(f"attempt to get {kind} of an empty sequence")
    if kind in ("min", "max"):
        if initial is None:
            raise ValueError(
                f"zero-size array to reduction operation {_NAMES[kind]} which has no identity"
            )
        return initial
    if kind == "ptp":
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    if kind in ("mean", "var", "std"):
        primitives.warn_of_few("Mean of empty slice." if kind == "mean" else _NO_FREEDOM)
        if dtypes.is_date(dtype):
            return np.timedelta64("NaT")
        return np.nan if dtypes.kind(dtype) in "fc" else 0
    if kind in ("prod", "all"):
        return 1 if initial is None else initial
    return 0 if initial is None else initial


def _is_filled(kind: str, out: Any, count: int, initial: Any) -> bool:
    """Fill a result that is known without a kernel. count: the number of items per result. Returns
    whether it was known."""
    if kind in ("any", "all") and initial is not None:
        if bool(initial) == (kind == "any"):  # it determines the result
            primitives.fill(out, bool(initial))
            return True
        initial = None
    if count == 0:
        primitives.fill(out, _empty_result(kind, out.dtype, initial))
        return True
    return bool(out.size == 0)


def where_mask(kind: str, a: Any, where: Any, shape: tuple[int, ...]) -> Any:
    """Return the mask of a reduction of *a*, which has this shape, as an array on its device."""
    mask = primitives.as_array(a, where, np.bool_, kind)
    if mask.dtype != np.bool_:
        raise TypeError(f"{kind}: where must be an array of bools, not of {mask.dtype}")
    if layout.broadcast_shapes(shape, mask.shape) != shape:
        raise ValueError(f"{kind}: where of shape {mask.shape} does not fit shape {shape}")
    return mask


def reduce(
    kind: str,
    a: Any,
    axis: Any = None,
    *,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    ddof: float = 0,
) -> Any:
    """Reduce an array over some axes (None: all), like NumPy's function with that name.

    kind: sum prod min max ptp argmin argmax any all mean var std count_nonzero. where: a mask, an
    array or a bool, that is broadcast to the array's shape. Raises ValueError for reductions that
    need at least one item, np.exceptions.AxisError, TypeError for unsupported dtypes.
    """
    if dtype is None and out is None and initial is None and where is None and ddof == 0:
        cached = _array._reduce(kind, axis, keepdims, a)
        if cached is not None:
            return cached
    given, axis_given, out_given = dtype, layout.axis_argument(axis), out
    found = _in_other_dtype(kind, a, axis, dtype, out, keepdims, where, ddof, initial)
    if found is not None:
        return found
    a = a._aligned()
    shape, ndim = a.shape, a.ndim
    where = None if where is True or (isinstance(where, np.bool_) and where) else where
    free = where is not None or kind not in ("mean", "var", "std")
    if ndim == 0 and free and isinstance(axis, SupportsIndex) and operator.index(axis) in (0, -1):
        axis = axis_given = None  # NumPy accepts it
    if kind in _ORDERED and axis is not None:
        axis = (layout.normalize_axis(axis, ndim),)
    axes = layout.normalize_axes(axis, ndim)
    kept = tuple([n for k, n in enumerate(shape) if k not in axes])
    full = tuple([1 if k in axes else n for k, n in enumerate(shape)])
    number, result_dtype = _result_dtypes(kind, a, dtype, out)
    _check(kind, a, number, out, where, initial)
    dtypes.require(a.backend, kind, a.dtype, number, dates=True)
    wanted = full if keepdims else kept
    if out is None:
        out = primitives.empty(a, wanted, result_dtype)
    else:
        _check_out(kind, out, wanted, result_dtype, a)
    mask = None if where is None else where_mask(kind, a, where, shape)
    if _is_filled(kind, out, prod([shape[k] for k in axes]), initial):
        return out
    initial = None if kind in ("any", "all") else initial
    if kind in ("min", "max") and dtype is not None and number != a.dtype:
        a = primitives.astype(a, number)
    operands, call = [a] if mask is None else [a, mask], None
    if given is None and out_given is None and initial is None and where is None and ddof == 0:
        call = kind, _array._axes(axis_given, keepdims)
    strides, masked = out.strides, mask is not None
    if masked and kind == "sum" and number.kind in "fc" and initial is None:
        initial = 0  # not -0.0, which the sum of no items would be
    if keepdims:
        strides = tuple([s for k, s in enumerate(strides) if k not in axes])
    return _run(kind, operands, shape, axes, number, out, strides, masked, initial, ddof, call)


def no_identity(name: str) -> ValueError:
    """The exception for where= without initial= of a ufunc."""
    return ValueError(
        f"reduction operation '{name}' does not have an identity, so to use a where mask one has "
        "to specify 'initial'"
    )


def without_initial(kind: str, a: Any, options: dict[str, Any]) -> None:
    """Remove initial=None, which asks for a reduction without an identity, and raise what NumPy
    raises if one is needed. kind: of reduce(), or the name of a ufunc."""
    if options.get("initial", 0) is not None:
        return
    del options["initial"]
    name = _NAMES.get(kind, kind)
    if options.get("where", True) is not True:
        raise no_identity(name)
    axes = layout.normalize_axes(options.get("axis", 0), a.ndim) if a.ndim else ()
    kept = [n for k, n in enumerate(a.shape) if k not in axes]
    if 0 not in kept and 0 in a.shape:
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")


def _check(kind: str, a: Any, number: np.dtype[Any], out: Any, where: Any, initial: Any) -> None:
    if kind == "ptp" and a.dtype.kind == "b":
        raise TypeError("ptp: numpy boolean subtract is not defined; use .astype(numpy.int8)")
    if where is not None and initial is None and kind in ("min", "max"):
        raise no_identity(_NAMES[kind])
    if kind in ("sum", "prod", "mean", "var", "std"):
        primitives.warn_of_real(a.dtype, number)
        if out is not None and kind in ("sum", "prod"):
            primitives.warn_of_real(number, out.dtype)


def _check_out(kind: str, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any], a: Any) -> None:
    if not primitives.is_array(out) or out.backend is not a.backend:
        raise TypeError(f"{kind}: out must be an array on the same device")
    if out.shape != shape:
        raise ValueError(f"{kind}: out must have shape {shape}, not {out.shape}")
    layout.check_writable(out, kind)
    if kind in _ORDERED:
        if not np.can_cast(out.dtype, dtype):
            raise TypeError(f"{kind}: out must be of {dtype} or a smaller integer dtype")
    elif not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"{kind}: cannot cast the result from {dtype} to {out.dtype} with casting rule "
            "'same_kind'"
        )


def _flipped(operands: Sequence[Any], flips: Sequence[int]) -> list[Any]:
    """Return the operands as views with these offsets in bytes, for axes that are processed
    backwards."""
    return [
        x._view(x.shape, x.strides, x.offset + flip) if flip else x
        for x, flip in zip(operands, flips, strict=True)
    ]


def _count(kind: str, lengths: Sequence[int], ddof: float) -> int:
    """Return the number of items of each result, and warn if it leaves a variance undefined."""
    count = prod(lengths)
    if count <= ddof and kind in ("var", "std"):
        primitives.warn_of_few(_NO_FREEDOM)
    return count


def _run(
    kind: str,
    operands: list[Any],
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    number: np.dtype[Any],
    out: Any,
    out_strides: tuple[int, ...],
    masked: bool,
    initial: Any,
    ddof: float,
    call: tuple[str, int] | None = None,
    op: Operation | None = None,
    scalars: Sequence[Any] = (),
) -> Any:
    """Launch for operands that are broadcast to *shape*. call: (name, extra) under which C may
    cache the launch. op, scalars: the operation and its numbers, if not determined by *kind*."""
    a = operands[0]
    backend: Backend = a.backend
    strides = tuple(layout.broadcast_strides(x.shape, x.strides, shape) for x in operands)
    key = (
        "reduce",
        kind if op is None else op.key,
        tuple(x.dtype for x in operands),
        number,
        out.dtype,
        shape,
        strides,
        tuple(x.offset % 32 for x in operands),
        axes,
        out_strides,
        masked,
        initial is not None,
    )
    plan: _Plan | None = backend.kernels.get(key)
    if plan is None:
        of = kind, operands, shape, strides, axes, number
        plan = _make_plan(backend, *of, out, out_strides, masked, initial, op)
        if not kernel_cache.is_compiling(plan.kernel, plan.final):
            kernel_cache.keep_plan(backend, "reduce plans", key, plan)
    finish = [-1 if masked else _count(kind, [shape[k] for k in axes], ddof), float(ddof)]
    if initial is not None:
        finish += _initial(initial, number)
    finish += scalars
    if any(plan.flips):
        operands = _flipped(operands, plan.flips)
    target = out if not plan.parts_bytes else primitives.scratch(a, plan.parts_bytes)
    primitives.launch(
        a, plan.kernel, plan.groups, plan.group_size, operands, [target], [*plan.numbers, *finish]
    )
    size = 1 if backend.limits.is_cpu else GROUP
    if plan.final is not None:
        numbers = [*plan.final_numbers, *finish]
        primitives.launch(a, plan.final, plan.final_groups, size, [target], [out], numbers)
    if call is not None:
        alone = op is None and len(operands) == 1 and dtypes.is_numeric(number)
        chained = number_of_reduction(kind, axes, number) if alone else 0
        _cache_launch(backend, call, plan, operands, out, finish, size, chained)
    return out


def _cache_launch(
    backend: Backend,
    call: tuple[str, int],
    plan: _Plan,
    operands: list[Any],
    out: Any,
    finish: list[Any],
    size: int,
    chained: int,
) -> None:
    """Cache the launch for C, if it can repeat it."""
    name, extra = call
    if extra < 0 or any(plan.flips):
        return
    for kernel in (plan.final, plan.kernel):
        if kernel_cache.is_compiling(kernel):
            kernel.call_when_launched(
                lambda: _cache_launch(backend, call, plan, operands, out, finish, size, chained)
            )
            return
    kernel, final = kernel_cache.compiled(plan.kernel), kernel_cache.compiled(plan.final)
    plan = plan.but(kernel=kernel, final=final)
    n = len(operands)
    result = launch_cache.RESULT
    target = launch_cache.SCRATCH if plan.parts_bytes else result
    numbers = [*plan.numbers, *finish]
    registers = [*range(n), target]
    steps = [
        launch_cache.step(backend, plan.kernel, plan.groups, plan.group_size, registers, numbers)
    ]
    if plan.final is not None:
        numbers = [*plan.final_numbers, *finish]
        steps.append(
            launch_cache.step(
                backend, plan.final, plan.final_groups, size, [target, result], numbers
            )
        )
    scratch = ((np.dtype(np.uint8), plan.parts_bytes),) if plan.parts_bytes else ()
    backend.table.plans.add(
        name, extra, tuple(operands), None, out, tuple(steps), scratch, op=chained
    )


def _initial(value: Any, number: np.dtype[Any]) -> list[Any]:
    if primitives.is_array(value):
        value = value.get()[()]
    if number.kind == "c":
        part = np.float32 if number.itemsize == 8 else np.float64
        z = complex(value)
        return [part(z.real), part(z.imag)]
    return [elementwise.as_scalar(value, number)]


def _walks(
    kind: str,
    shape: tuple[int, ...],
    strides: tuple[tuple[int, ...], ...],
    axes: tuple[int, ...],
    out_strides: tuple[int, ...],
) -> tuple[Any, Any, Any, Any, tuple[int, ...]]:
    """Return (lengths of the kept axes, strides of the operands and of the result along them, the
    same of the reduced axes, offsets of the operands' first items), with as few axes as
    possible."""
    keep = [k for k in range(len(shape)) if k not in axes]
    kept_shape, kept = layout.collapse(
        tuple(shape[k] for k in keep), *(tuple(s[k] for k in keep) for s in strides), out_strides
    )
    if kind in _ORDERED:
        reduced_shape, reduced = layout.collapse_in_order(
            tuple(shape[k] for k in axes), *(tuple(s[k] for k in axes) for s in strides)
        )
        flips = (0,) * len(strides)
    else:
        reduced_shape, reduced, flips = _unordered(shape, strides, axes)
    return kept_shape, kept, reduced_shape, reduced, flips


def _make_plan(
    backend: Backend,
    kind: str,
    operands: Sequence[Any],
    shape: tuple[int, ...],
    strides: tuple[tuple[int, ...], ...],
    axes: tuple[int, ...],
    number: np.dtype[Any],
    out: Any,
    out_strides: tuple[int, ...],
    masked: bool,
    initial: Any,
    op: Operation | None = None,
) -> _Plan:
    kept_shape, kept, reduced_shape, reduced, flips = _walks(
        kind, shape, strides, axes, out_strides
    )
    n_out, n_red = prod(kept_shape), prod(reduced_shape)
    if op is None:
        inputs = tuple(x.dtype for x in operands[: len(operands) - masked])
        op = operation(kind, inputs, number, out.dtype, masked)
    cpu = backend.limits.is_cpu
    form, lanes, groups, segments = _geometry(
        backend,
        op,
        kept_shape,
        kept,
        reduced_shape,
        reduced,
        [x.dtype.itemsize for x in operands],
        [x.offset + f for x, f in zip(operands, flips)],
        masked,
        initial is not None,
    )
    strides_of = (n for k, r in zip(kept, reduced) for n in (*k, *r))
    axes_numbers = [*kept_shape[1:], *reduced_shape[1:], *strides_of, *kept[-1]]
    if form.parts:
        _final_kernel(backend, op, form, len(kept_shape), kernel_cache.start)
    kernel = kernel_cache.later(
        backend,
        ("reduce", op.key, form),
        lambda: (reduction.source(op, form, cpu), "red_columns" if form.columns else "red_rows"),
        op.features,
    )
    numbers = (n_out, n_red, segments, lanes, *axes_numbers)
    size = 1 if cpu else GROUP
    if not form.parts:
        return _Plan(kernel, groups, size, numbers, 0, flips=flips)
    final, final_groups, final_numbers = _final(backend, op, form, n_out, segments, len(kept_shape))
    return _Plan(
        kernel,
        groups,
        size,
        numbers,
        op.acc_bytes * n_out * segments,
        final,
        final_groups,
        (*final_numbers, *kept_shape[1:], *kept[-1]),
        flips,
    )


def _final_kernel(
    backend: Backend, op: Operation, form: Form, n_kept: int, find: Callable[..., Any]
) -> Any:
    """Get the kernel that joins parts of results, by kernel_cache.later() or start()."""
    cpu = backend.limits.is_cpu
    return find(
        backend,
        ("reduce final", op.key, n_kept, form.initial),
        lambda: (reduction.final_source(op, n_kept, form.initial, cpu), "red_final"),
        op.features,
    )


def _final(
    backend: Backend, op: Operation, form: Form, n_out: int, segments: int, n_kept: int
) -> tuple[Any, int, tuple[int, ...]]:
    """Return (kernel, groups, numbers) of the launch that joins the parts of *n_out* results."""
    cpu = backend.limits.is_cpu
    kernel = _final_kernel(backend, op, form, n_kept, kernel_cache.later)
    by_out, by_part = (1, n_out) if form.columns else (segments, 1)
    if cpu:
        lanes, groups = 1, min(kernel_cache.grid(backend, n_out * segments)[0], n_out)
    else:
        split = n_out < 4096 or not form.columns
        lanes = min(primitives.power_of_two(segments), GROUP) if split else 1
        groups = min(-(-n_out * lanes // GROUP), 1 << 20)
    return kernel, groups, (n_out, segments, by_out, by_part, lanes)


def _unordered(
    shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...], axes: tuple[int, ...]
) -> tuple[tuple[int, ...], list[tuple[int, ...]], tuple[int, ...]]:
    """Return reduced axes whose order does not matter, in ascending order of memory, and the
    resulting offset of each operand's first item [bytes]."""
    flips = [0] * len(strides)
    walked = [list(s[k] for k in axes) for s in strides]
    for position, k in enumerate(axes):
        if all(s[k] <= 0 for s in strides) and any(s[k] < 0 for s in strides):
            for i, s in enumerate(strides):
                flips[i] += (shape[k] - 1) * s[k]
                walked[i][position] = -s[k]
    joined, reduced = layout.collapse(tuple(shape[k] for k in axes), *map(tuple, walked))
    return joined, reduced, tuple(flips)


def _geometry(
    backend: Backend,
    op: Operation,
    kept_shape: tuple[int, ...],
    kept: list[tuple[int, ...]],
    reduced_shape: tuple[int, ...],
    reduced: list[tuple[int, ...]],
    sizes: list[int],
    offsets: list[int],
    masked: bool,
    initial: bool,
) -> tuple[Form, int, int, int]:
    """Return (form, lanes, groups, segments)."""
    limits = backend.limits
    n_out, n_red = prod(kept_shape), prod(reduced_shape)
    dense_rows = len(reduced_shape) == 1 and all(r == (s,) for r, s in zip(reduced, sizes))
    dense_columns = all(k[-1] == s for k, s in zip(kept, sizes))
    columns = (
        not dense_rows
        and kept_shape[-1] > 1
        and (dense_columns or (not limits.is_cpu and 0 < abs(kept[0][-1]) < abs(reduced[0][-1])))
    )
    dense = dense_columns if columns else dense_rows
    vector = max(16 // max(sizes), 1) if dense and not limits.is_cpu else 1
    if columns:
        vector = min(vector, 4)
        steps = [
            s % (vector * size) == 0
            for k, r, size in zip(kept, reduced, sizes)
            for s in (*k[:-1], *r)
        ]
        if not (
            all(steps)
            and all(o % (vector * size) == 0 for o, size in zip(offsets, sizes))
            and kept_shape[-1] % vector == 0
        ):
            vector = 1
    if limits.is_cpu:
        groups, segments = _cpu_geometry(limits, columns, op, kept_shape, n_red)
        lanes = 1
    else:
        lanes, groups, segments = _gpu_geometry(limits.units, columns, op, n_out, n_red, vector)
    form = Form(
        columns=columns,
        kept=len(kept_shape),
        reduced=len(reduced_shape),
        vector=vector,
        dense=dense,
        masked=masked,
        parts=segments > 1,
        initial=initial,
        small=n_red < 1 << 31,
    )
    return form, lanes, groups, segments


def _gpu_geometry(
    units: int, columns: bool, op: Operation, n_out: int, n_red: int, vector: int
) -> tuple[int, int, int]:
    if columns:
        lanes = min(32, primitives.power_of_two(-(-n_out // vector)))
        across = -(-n_out // (lanes * vector))
        tiles = n_red // (GROUP // lanes * 8)
    else:
        lanes = min(GROUP, primitives.power_of_two(-(-n_red // (2 * vector))))
        across = -(-n_out // (GROUP // lanes))
        tiles = n_red // (lanes * vector * 4)
    # as many groups as can run concurrently, given their registers
    if op.acc_bytes > 32:
        resident = RESIDENT_LARGE
    elif not op.plain or vector > 4:
        resident = RESIDENT_PAIRS
    else:
        resident = RESIDENT if len(op.inputs) == 1 else RESIDENT_SEVERAL
    resident *= units
    segments = 1
    if across < resident:
        segments = max(min(resident // across, tiles // 2), 1)
    return lanes, min(across * segments, 1 << 20), segments


def _cpu_geometry(
    limits: Limits, columns: bool, op: Operation, kept_shape: tuple[int, ...], n_red: int
) -> tuple[int, int]:
    n_out = prod(kept_shape)
    workers = max(min(limits.units * 4, n_out * n_red // limits.share), 1)
    if columns:
        tiles = n_out // kept_shape[-1] * -(-kept_shape[-1] // reduction_cpu.cpu_columns(op))
        segments = max(min(-(-workers // tiles), n_red // (limits.share >> 9)), 1)
        return min(tiles * segments, workers), segments
    segments = 1 if n_out >= workers else -(-workers // n_out)
    return (min(workers, n_out) if segments == 1 else n_out * segments), segments


def _in_other_dtype(
    kind: str, a: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, where: Any, ddof: float,
    initial: Any,
) -> Any:  # fmt: skip
    """NumPy's mean in an integer dtype, whose sum wraps around, variances in integers or complex
    numbers, and results in another unit of time; None for other dtypes."""
    if out is not None and not primitives.is_array(out):
        raise TypeError(f"{kind}: out must be an array on the device, not {type(out).__name__}")
    if out is not None and kind in ("mean", "var") and not dtypes.is_date(a.dtype):
        made = _result_dtypes(kind, a, dtype, None)[1]
        if not np.can_cast(made, out.dtype, "same_kind"):  # NumPy casts them to any dtype
            found = reduce(kind, a, axis, dtype=dtype, keepdims=keepdims, where=where, ddof=ddof)
            primitives.warn_of_real(made, out.dtype)
            _check_out(kind, out, found.shape, out.dtype, a)
            out[...] = found
            return out
    if out is not None and dtypes.is_date(a.dtype) and kind in _OF_UNIT:
        if kind == "mean" and out.dtype.kind == "m" == a.dtype.kind:
            a = primitives.astype(a, out.dtype)  # a mean in seconds has no milliseconds
        found = reduce(kind, a, axis, dtype=dtype, keepdims=keepdims, where=where, initial=initial)
        _check_out(kind, out, found.shape, found.dtype, a)
        out[...] = found  # which may have another unit
        return out
    if dtype is None or kind not in ("mean", "var", "std"):
        return None
    dtype = dtypes.native(dtype, kind)
    if kind == "mean":
        found = _integer_mean(a, axis, dtype, keepdims, where)
    elif dtype.kind in "biu" or (dtype.kind == "f" and a.dtype.kind == "c"):
        found = _variance_about(kind, a, axis, dtype, keepdims, where, ddof)
    elif dtype.kind == "c":
        real = None if a.dtype.kind == "c" else np.dtype(f"f{dtype.itemsize // 2}")
        found = reduce(kind, a, axis, dtype=real, keepdims=keepdims, where=where, ddof=ddof)
        found = primitives.astype(found, dtype)
    else:
        return None
    if out is None or found is None:
        return found
    out[...] = found
    return out


def _integer_mean(a: Any, axis: Any, dtype: Any, keepdims: bool, where: Any) -> Any:
    axes = layout.normalize_axes(axis, a.ndim)
    n = prod(a.shape[k] for k in axes)
    if dtype.kind not in "biu" or n == 0 or (where is not None and where is not True):
        return None
    total = a._reduce("sum", axes, dtype=dtype, keepdims=keepdims)
    return primitives.astype(total / n, dtype)


def _variance_about(
    kind: str, a: Any, axis: Any, dtype: Any, keepdims: bool, where: Any, ddof: float
) -> Any:
    """NumPy's variance about a mean in another dtype: one in integers, as the result, is rounded
    towards zero; one of complex numbers in real ones is the mean's real part."""
    axes = layout.normalize_axes(axis, a.ndim)
    n = prod(a.shape[k] for k in axes)
    if where is not None and where is not True:
        raise TypeError(f"{kind}: where= of {a.dtype} is not supported with dtype={dtype}")
    mean = primitives.astype(a._reduce("sum", axes, dtype=dtype, keepdims=True) / n, dtype)
    apart = a - mean
    squares = apart.real**2 + apart.imag**2 if apart.dtype.kind == "c" else apart * apart
    total = squares._reduce("sum", axes, dtype=dtype, keepdims=keepdims)
    found = total / max(n - ddof, 0)
    return primitives.astype(found**0.5 if kind == "std" else found, dtype)


def dot(kind: str, a: Any, b: Any, axis: int, dtype: np.dtype[Any], out: Any = None) -> Any:
    """Compute sums over *axis* of a * b in one pass, for shapes that broadcast; "vdot": conj(a) *
    b."""
    given = out
    shape = layout.broadcast_shapes(a.shape, b.shape)
    axis = layout.normalize_axis(axis, len(shape))
    kept = shape[:axis] + shape[axis + 1 :]
    dtypes.require(a.backend, kind, a.dtype, b.dtype, dtype)
    if out is None:
        out = primitives.empty(a, kept, dtype)
    else:
        _check_out(kind, out, kept, dtype, a)
    if out.size == 0:
        return out
    if shape[axis] == 0:
        primitives.fill(out, 0)
        return out
    operands = [a._aligned(), b._aligned()]
    call = None
    plain = given is None and dtype == np.result_type(a.dtype, b.dtype)
    if plain and len(shape) == 1 and a.ndim == b.ndim == 1:
        call = kind, _array._axes(None, False)
    return _run(kind, operands, shape, (axis,), dtype, out, out.strides, False, None, 0, call)


def fused(
    step: elementwise.Operation,
    name: str,
    kind: str,
    operands: Sequence[Any],
    axis: Any,
    dtype: Any,
    keepdims: bool,
    ddof: float,
) -> Any:
    """Reduce the results of an elementwise Operation on arrays and numbers, in one pass. name: of
    the call, for caching. There must be items."""
    arrays = [x._aligned() for x in operands if primitives.is_array(x)]
    backend = arrays[0].backend
    shape = layout.broadcast_shapes(*(x.shape for x in arrays))
    ndim = len(shape)
    item = _Item(step.outputs[0])
    extra = _array._axes(axis, keepdims)
    if kind in _ORDERED and axis is not None:
        axis = (layout.normalize_axis(axis, ndim),)
    axes = layout.normalize_axes(axis, ndim)
    number, result_dtype = _result_dtypes(kind, item, dtype, None)
    _check(kind, item, number, None, None, None)
    dtypes.require(backend, kind, *step.inputs, *step.outputs, number)
    if kind in ("min", "max") and number != item.dtype:
        raise TypeError(f"fuse: {kind} does not support dtype=; convert with .astype() first")
    kept = tuple(n for k, n in enumerate(shape) if k not in axes)
    full = tuple(1 if k in axes else n for k, n in enumerate(shape))
    out = primitives.empty(arrays[0], full if keepdims else kept, result_dtype)
    strides = tuple(s for k, s in enumerate(out.strides) if not keepdims or k not in axes)
    are_arrays = tuple(primitives.is_array(x) for x in operands)
    scalars = [
        elementwise.as_scalar(x, d)
        for x, d, array in zip(operands, step.inputs, are_arrays, strict=True)
        if not array
    ]
    op = fuse_operation(operation(kind, (item.dtype,), number, result_dtype), step, are_arrays)
    call = (name, extra) if not scalars and all(x is y for x, y in zip(arrays, operands)) else None
    return _run(
        kind, arrays, shape, axes, number, out, strides, False, None, ddof, call, op, scalars
    )


class _Item(Frozen):
    """An operand of a reduction other than an array."""

    dtype: np.dtype[Any]
