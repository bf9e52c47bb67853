"""Elementwise kernels: one expression, any dtypes, any strides, any number of axes.

An :class:`Operation` defines the computation; :func:`run` finds or makes the kernel that suits the
operands' layout, and launches it. :mod:`codegen.kernels.elementwise` has the source.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.runtime import kernel_cache
from pygpu._src.util.frozen import Frozen
from pygpu._src.util.lazy import lazy

from . import layout, pending

if TYPE_CHECKING:
    from pygpu._src.codegen.kernels.elementwise import Operation as Operation
    from pygpu._src.runtime.backend import Backend

    from . import launch_cache

__all__ = ["Launch", "Operation", "prepare", "rule", "run", "start"]

_WIDE = 1 << 31  # beyond this size, indices have 64 bits
TILES = True  # whether GPUs use a special kernel for rows
GROUPS_PER_UNIT = 64  # work-groups of a unit, in long functions of an index


def __getattr__(name: str) -> Any:
    """Return Operation, whose module is imported when the first one is made."""
    if name == "Operation":
        found = globals()[name] = lazy("pygpu._src.codegen.kernels.elementwise").Operation
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _vector(backend: Backend, memory: Sequence[np.dtype[Any] | None]) -> int:
    """Return how many items of a contiguous kernel are one access: 16 bytes of the largest."""
    arrays = [d for d in memory if d is not None]
    if backend.limits.is_cpu or not all(map(dtypes.computes, arrays)):
        return 1
    return max(16 // max(d.itemsize for d in arrays), 1)


def _features(operation: Operation, memory: Sequence[np.dtype[Any] | None]) -> set[str]:
    found = dtypes.features(*operation.inputs, *operation.outputs, *filter(None, memory))
    return found | operation.features


class Launch(Frozen):
    """A launch of an elementwise kernel, which takes the operands, then *numbers*.

    dense: all arrays are contiguous, and the kernel works for any number of items. memory: the
    dtype in memory of each operand, None for a number.
    """

    kernel: Any
    groups: int | tuple[int, ...]
    group_size: int | tuple[int, ...]
    numbers: tuple[int, ...]
    memory: tuple[np.dtype[Any] | None, ...]
    dense: bool


def run(
    operation: Operation,
    outs: Sequence[Any],
    operands: Sequence[Any],
    shape: tuple[int, ...],
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    call: launch_cache.Call | None = None,
) -> Any:
    """Launch an operation for all items of *shape*, after the events of all operands and those of
    *wait_for*. Returns its event.

    outs: arrays of that shape, which do not share memory with inputs, unless item by item; queue:
    by default the first one's. operands: the inputs, arrays (of any strides; they may be broadcast)
    and Python or NumPy numbers. call: the call for which the launch is cached.
    """
    first: Any = outs[0]
    backend = first.backend
    read = [x for x in operands if hasattr(x, "base_data")]
    if not all(x._is_aligned for x in (*outs, *read)):
        return _run_aligned(operation, outs, operands, shape, queue, wait_for)
    queue = first._queue(queue)
    waits = backend.wait_list(queue, [*outs, *read])
    if wait_for:
        waits = [*(waits or ()), *first._events_of(wait_for)]
    every = (*outs, *operands)
    # Long functions may take a compiler seconds: Ctrl-C must be able to stop it.
    get = kernel_cache.get if operation.helpers else kernel_cache.later
    launch = prepare(backend, operation, every, shape, get)
    event = start(backend, queue, launch, operation, every, waits)
    if call is not None and waits is None and queue is first.queue:
        call.keep(backend, launch, operation, outs)
    backend.note_event(queue, event, outs, read)
    return event


def _run_aligned(
    operation: Operation,
    outs: Sequence[Any],
    operands: Sequence[Any],
    shape: tuple[int, ...],
    queue: Any,
    wait_for: Sequence[Any] | None,
) -> Any:
    """Implement run() with copies of arrays whose items kernels cannot read in place."""
    inputs = [x._aligned(queue, wait_for) if hasattr(x, "base_data") else x for x in operands]
    targets = [x if x._is_aligned else x._new(x.shape, x.dtype, None, queue) for x in outs]
    event = run(operation, targets, inputs, shape, queue, wait_for)
    for out, target in zip(outs, targets):
        if out is not target:
            event = out._copy_bytes(target, queue)
    return event


def start(
    backend: Backend,
    queue: Any,
    launch: Launch,
    operation: Operation,
    operands: Sequence[Any],
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """Launch what was prepared for these operands."""
    args: list[Any] = []
    memory: list[Any] = []
    loop = (*operation.outputs, *operation.inputs)
    for operand, stored, computed in zip(operands, launch.memory, loop, strict=True):
        if stored is None:
            args.append(as_scalar(operand, computed))
        else:
            args += backend.arguments(operand)
            memory.append(operand.base_data)
    args += launch.numbers
    return pending.launch(
        backend, launch.kernel, queue, launch.groups, launch.group_size, args, memory, wait_for
    )


def prepare(
    backend: Backend,
    operation: Operation,
    operands: Sequence[Any],
    shape: tuple[int, ...],
    get: Callable[..., Any] = kernel_cache.get,
) -> Launch:
    """Return the kernel for these operands, compiled if needed, and its launch. With
    kernel_cache.later() for *get*, it may still be Compiling."""
    n = prod(shape)
    arrays = [operand for operand in operands if hasattr(operand, "base_data")]
    memory = tuple(x.dtype if hasattr(x, "base_data") else None for x in operands)
    strides = [layout.broadcast_strides(a.shape, a.strides, shape) for a in arrays]
    if operation.index:
        flat_shape, flat = shape or (1,), [s or (0,) for s in strides]
        if all(layout.flags(shape, s, a.itemsize)[0] for s, a in zip(strides, arrays)):
            flat_shape, flat = (n,), [(a.itemsize,) for a in arrays]
    else:
        flat_shape, flat = layout.collapse(shape, *strides)
    contiguous = n <= 1 or (
        len(flat_shape) == 1 and all(s == (a.itemsize,) for s, a in zip(flat, arrays))
    )
    ndim = 0 if contiguous else len(flat_shape)
    wide = n >= _WIDE or any(
        high - low >= _WIDE
        for low, high in (
            layout.byte_bounds(flat_shape, s, a.itemsize) for s, a in zip(flat, arrays)
        )
    )
    rows = ""
    if backend.limits.is_cpu and ndim > 1 and not operation.index:
        last = flat_shape[-1]
        if last >= 16 and n // last >= 4 * backend.limits.units:
            rows = "".join(
                "c" if s[-1] == a.itemsize else "s" if s[-1] else "b" for s, a in zip(flat, arrays)
            )
    anyhow = operation.index or operation.guard
    if TILES and ndim > 1 and not backend.limits.is_cpu and not anyhow:
        tiled = _tiles(backend, operation, memory, flat_shape, flat, arrays, wide, get)
        if tiled is not None:
            return tiled
    kernel = get_kernel(backend, operation, memory, ndim, wide, rows, get)
    numbers: list[int] = []
    if ndim:
        numbers += flat_shape[1:]
        for s in flat:
            numbers += s
    numbers.append(n)
    per_group, most, size = rule(backend, memory if ndim == 0 else (), operation)
    groups = min(-(-n // per_group), most) if n else 0
    return Launch(kernel, groups, size, tuple(numbers), memory, ndim == 0)


def _tiles(
    backend: Backend,
    operation: Operation,
    memory: tuple[np.dtype[Any] | None, ...],
    shape: tuple[int, ...],
    strides: Sequence[tuple[int, ...]],
    arrays: Sequence[Any],
    wide: bool,
    get: Callable[..., Any],
) -> Launch | None:
    """Return the launch of the kernel over rows, if the last axis is suitable."""
    length = shape[-1]
    letters = "".join(
        "c" if s[-1] == a.itemsize else "s" if s[-1] else "b" for s, a in zip(strides, arrays)
    )
    outs = len(operation.outputs)
    if length < 32 or "s" in letters or "b" in letters[:outs]:
        return None
    if not all(a is None or dtypes.computes(a) for a in memory):
        return None
    vector = max(16 // max(a.itemsize for a, c in zip(arrays, letters) if c == "c"), 1)
    ndim = len(shape)
    kernel = get(
        backend,
        ("tiles", *_key(operation, memory), ndim, wide, letters, vector),
        lambda: (
            lazy("pygpu._src.codegen.kernels.row_tiles").source(
                operation, memory, ndim, wide, letters, vector
            ),
            lazy("pygpu._src.codegen.kernels.elementwise").kernel_name(operation),
        ),
        _features(operation, memory),
        quick=_is_short(operation),
    )
    rows = prod(shape[:-1])
    groups, size = lazy("pygpu._src.codegen.kernels.row_tiles").shape_of_group(rows, length, vector)
    numbers = [*shape[1:], *(step for s in strides for step in s), rows]
    return Launch(kernel, groups, size, tuple(numbers), memory, False)


def _key(operation: Operation, memory: tuple[np.dtype[Any] | None, ...]) -> tuple[Any, ...]:
    computed = operation.outputs + operation.inputs
    return (
        operation.name,
        operation.key,
        tuple(map(dtypes.code, computed)),
        tuple(map(dtypes.memory_code, memory, computed)),
    )


def rule(
    backend: Backend, memory: Sequence[np.dtype[Any] | None], operation: Operation
) -> tuple[int, int, int]:
    """Return kernels.rule() of the kernel for contiguous operands of these dtypes in memory, or for
    strided ones, none."""
    per_group, most, size = kernel_cache.rule(backend, _vector(backend, memory) if memory else 1)
    if operation.index and operation.guard and backend.limits.warps:
        # Long functions: what is the same for all items is computed by fewer work-items.
        most = min(most, backend.limits.units * GROUPS_PER_UNIT)
    return per_group, most, size


def get_kernel(
    backend: Backend,
    operation: Operation,
    memory: tuple[np.dtype[Any] | None, ...],
    ndim: int,
    wide: bool,
    rows: str = "",
    get: Callable[..., Any] = kernel_cache.get,
) -> Any:
    """Return the kernel, compiled if needed.

    ndim: 0 if all arrays are contiguous, else the number of axes. wide: strided indices have 64
    bits. rows: for processing row by row on a CPU, a letter for each array; see rows_source().
    """
    wide = wide and ndim > 0  # contiguous loops always count in 64 bits

    def text_of(one: Operation, stored: tuple[np.dtype[Any] | None, ...]) -> str:
        text = lazy("pygpu._src.codegen.kernels.elementwise")
        vector = 1 if one.guard else _vector(backend, stored)
        made: str
        if rows:
            made = text.rows_source(one, stored, ndim, wide, rows)
        elif ndim:
            made = text.strided_source(one, stored, ndim, wide)
        elif vector > 1:
            made = text.vector_source(one, stored, vector)
        else:
            made = text.flat_source(one, stored)
        return made

    def key_of(one: Operation, stored: tuple[np.dtype[Any] | None, ...]) -> tuple[Any, ...]:
        return ("elementwise", *_key(one, stored), ndim, wide, rows)

    def make() -> kernel_cache.Made:
        name = lazy("pygpu._src.codegen.kernels.elementwise").kernel_name
        text = text_of(operation, memory)
        names: dict[Hashable, str] = {}
        # Compilers of CPUs spend most of their time on the language's built-in functions, whatever
        # the program is: one is made for the operations that are likely to follow.
        if backend.name == "opencl" and backend.limits.is_cpu and memory[0] == operation.outputs[0]:
            for other in _related(operation):
                stored = (other.outputs[0], *memory[1:])
                if key_of(other, stored) not in backend.kernels:
                    text += text_of(other, stored)
                    names[key_of(other, stored)] = name(other)
        return text, name(operation), names

    return get(
        backend,
        key_of(operation, memory),
        make,
        _features(operation, memory),
        quick=_is_short(operation),
    )


def _is_short(operation: Operation) -> bool:
    """Whether the kernel is compiled quickly: one expression per item, for which memory is the
    limit. What a compiler skips then are copies of the loop for each case, not the expression.
    Functions of double precision are limited by arithmetic: sin, pow were slower by 4 to 7 %. But
    those of many long functions would take several seconds."""
    if "PG_NOINLINE" in operation.helpers:
        return True
    long = operation.helpers or operation.index or operation.guard or operation.key
    double = any(d in (np.float64, np.complex128) for d in operation.inputs)
    return not (long or (double and "(" in operation.body))


def _related(operation: Operation) -> list[Operation]:
    """Return the other operations of a ufunc's family, for the same inputs."""
    loops = lazy("pygpu._src.codegen.ufunc_loops")
    codes = tuple(map(dtypes.code, operation.inputs))
    found: list[Operation] = []
    for name, body, out in loops.related(operation.name, codes, operation.body):
        kinds = operation.inputs, (dtypes.from_code(out),)
        make = lazy("pygpu._src.codegen.kernels.elementwise").Operation
        found.append(make(name, *kinds, body))
    return found


def as_scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    """Convert a number to a kernel's argument of the compute type of *dtype*, as NumPy does.

    Raises OverflowError for a Python int that does not fit, and for inf as an integer; ValueError
    for NaN as an integer; TypeError for a Python complex number as a real one."""
    if dtypes.is_narrow(dtype):
        return np.float32(dtype.type(value))
    if dtype.kind == "b":
        return np.uint8(bool(value))
    if isinstance(value, int) and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"Python integer {value} out of bounds for {dtype.name}")
    if dtypes.is_date(dtype):
        date = np.empty((), dtype)
        date[...] = value  # also from text or a datetime object
        return date.view(np.int64)[()]
    if isinstance(value, np.generic):
        if dtypes.kind(value.dtype) not in "biufc":
            raise TypeError(f"cannot convert {value!r} to {dtype}")
        return value.astype(dtype)
    box = np.empty((), dtype)
    box[...] = value  # raises what an assignment raises
    return box[()]
