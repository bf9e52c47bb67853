"""Elementwise kernels: one expression, any dtypes, any strides, any number of axes.

An :class:`Operation` says what is computed from the values x0, x1, ... and stored from y0, y1, ...;
:func:`run` finds or makes the kernel that suits how the operands lie in memory, and launches it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import row_tiles as tiles_text
from pygpu._src.runtime import kernel_cache as kernels
from pygpu._src.util.frozen import Frozen

from . import layout

if TYPE_CHECKING:
    from pygpu._src.runtime.backend import Backend

__all__ = ["Launch", "Operation", "prepare", "run", "start", "text"]

_PLAIN = {"pg_b8": "pg_u8", "pg_f16": "pg_u16"}  # as vectors in memory
_WIDE = 1 << 31  # beyond this, indices have 64 bits
TILES = True  # whether GPUs do rows by a kernel of their own


class Operation(Frozen):
    """What happens to each item.

    name: for the kernel's name and key; with the dtypes it must tell everything, or *key* what
    else. body: statements; x0, x1, ... are variables of the compute types of *inputs*, and y0, y1,
    ... are to be set, of the compute types of *outputs*. The operands in memory may have other
    dtypes: they are converted. helpers: functions that body calls. index: body uses ``i``, the
    number of the item in C order (pg_i64). guard: if given, an expression; where it is 0 nothing is
    stored.
    """

    name: str
    inputs: tuple[np.dtype[Any], ...]
    outputs: tuple[np.dtype[Any], ...]
    body: str
    helpers: str = ""
    features: frozenset[str] = frozenset()
    index: bool = False
    key: Hashable = None
    guard: str = ""


def _names(operation: Operation) -> list[str]:
    return [f"y{i}" for i in range(len(operation.outputs))] + [
        f"x{i}" for i in range(len(operation.inputs))
    ]


def _kernel_name(operation: Operation) -> str:
    return "pg_run_" + "".join(c if c.isalnum() else "_" for c in operation.name)


def _read(item: str, stored: np.dtype[Any], computed: np.dtype[Any]) -> str:
    """An item in memory as a value of the compute type of *computed*; float16 is computed as float,
    so other numbers are rounded first."""
    value = dtypes.cast(item, stored, computed)
    if dtypes.code(computed) == "f16" and dtypes.code(stored) not in ("f16", "b8", "i8", "u8"):
        value = f"pg_from_f16(pg_to_f16({value}))"
    return value


def text(
    operation: Operation,
    memory: tuple[np.dtype[Any] | None, ...],
    ndim: int,
    wide: bool,
    vector: int = 1,
    rows: str = "",
) -> tuple[str, str]:
    """The kernel's text and name.

    memory: dtype in memory of each operand, outputs first; None for an input that is a scalar
    argument of its compute type. ndim: 0 if all arrays are contiguous, else the number of axes.
    wide: indices of strided walks have 64 bits. vector: items that a work-item reads and writes as
    one piece where all arrays are aligned to it. rows: for CPUs, a walk row by row, whose inner
    loop the compiler can vectorize; a letter for each array: along the last axis its items lie side
    by side ("c"), are one ("b") or lie anyhow ("s").
    """
    loop = (*operation.outputs, *operation.inputs)
    names = _names(operation)
    n_out = len(operation.outputs)
    parameters, starts, before, after, loads, stores = [], [], [], [], [], []
    unpack, pack, row_starts = [], [], []  # in the kernels for vectors, for rows
    arrays: list[tuple[str, np.dtype[Any]]] = []
    for i, (name, stored, computed) in enumerate(zip(names, memory, loop)):
        kind = dtypes.compute_type(computed)
        if stored is None:
            parameters.append(f"{kind} {name}_")
            before.append(f"PG_UNUSED const {kind} {name} = {name}_;")
            unpack.append(before[-1])
            continue
        storage = dtypes.storage_type(stored)
        arrays.append((name, stored))
        macro, const = ("", "") if i < n_out else ("_IN", "const ")
        parameters.append(f"PG_ARRAY{macro}({storage}, {name}_p)")
        starts.append(f"PG_START{macro}({storage}, {name}_p);")
        pointer, index = f"{name}_p", "i"
        letter = rows[len(arrays) - 1] if rows else ""
        if rows:
            pointer, index = (f"{name}_r", "k" if letter == "c" else "0")
            place = " + ".join(f"k{axis} * {name}_s{axis}" for axis in range(ndim - 1))
            kind_of = f"PG_GLOBAL {const}{storage} *"
            row_starts.append(
                f"{kind_of}{name}_r = ({kind_of})((PG_GLOBAL {const}char *){name}_p + ({place}));"
            )
            if letter == "s":
                pointer = f"{name}_q"
                step = f"(PG_GLOBAL {const}char *){name}_r + k * {name}_s{ndim - 1}"
                before.append(f"{kind_of}{name}_q = ({kind_of})({step});")
        elif ndim:
            pointer, index = f"{name}_q", "0"
            offset = " + ".join(f"k{axis} * {name}_s{axis}" for axis in range(ndim))
            before.append(
                f"PG_GLOBAL {const}{storage} *{name}_q = (PG_GLOBAL {const}{storage} *)"
                f"((PG_GLOBAL {const}char *){name}_p + ({offset}));"
            )
        vectors = f"PG_VECTOR({_PLAIN.get(storage, storage)}, {vector})"
        if i < n_out:
            before.append(f"{kind} {name};")
            unpack.append(f"{kind} {name};")
            after.append(dtypes.store(stored, pointer, index, name, computed))
            loads.append(f"{vectors} {name}_v;")
            pack.append(dtypes.store(stored, f"{name}_v.item", "k", name, computed))
            stores.append(f"*(PG_GLOBAL {vectors} *)({name}_p + first) = {name}_v;")
        else:
            value = _read(dtypes.load(stored, pointer, index), stored, computed)
            before.append(f"PG_UNUSED const {kind} {name} = {value};")
            loads.append(
                f"const {vectors} {name}_v = *(PG_GLOBAL const {vectors} *)({name}_p + first);"
            )
            value = _read(dtypes.load(stored, f"{name}_v.item", "k"), stored, computed)
            unpack.append(f"PG_UNUSED const {kind} {name} = {value};")
    if operation.guard:
        after = [f"if ({operation.guard}) {{", *after, "}"]
    walk: list[str] = []
    integer, unsigned = ("pg_i64", "pg_u64") if wide else ("pg_i32", "pg_u32")
    if ndim:
        parameters += [f"{integer} n{axis}" for axis in range(1, ndim)]
        parameters += [f"{integer} {name}_s{axis}" for name, _ in arrays for axis in range(ndim)]
        rest = f"({unsigned}){'row' if rows else 'i'}"
        for axis in reversed(range(1, ndim - 1 if rows else ndim)):
            walk.append(f"const {unsigned} r{axis} = {rest} / ({unsigned})n{axis};")
            walk.append(
                f"const {integer} k{axis} = ({integer})({rest} - r{axis} * ({unsigned})n{axis});"
            )
            rest = f"r{axis}"
        walk.append(f"const {integer} k0 = ({integer})({rest});")
    parameters.append("pg_i64 n")
    name = _kernel_name(operation)

    def block(indent: int, *lines: str) -> str:
        return ("\n" + " " * indent).join(lines)

    one = [*([] if rows else walk), *before, "{", operation.body, "}", *after]
    declarations = dtypes.declare(*(d for d in (*memory, *loop) if d is not None))
    if rows:
        inner = f"""\
    PG_FOR(row, n / n{ndim - 1}) {{
        {block(8, *walk, *row_starts)}
        PG_INDEPENDENT
        for ({integer} k = 0; k < n{ndim - 1}; k++) {{
            {block(12, *one)}
        }}
    }}
"""
    elif vector == 1:
        inner = f"""\
    PG_INDEPENDENT
    PG_FOR(i, n) {{
        {block(8, *one)}
    }}
"""
    else:
        types = dict.fromkeys(_PLAIN.get(t, t) for t in (dtypes.storage_type(d) for _, d in arrays))
        declarations += "".join(f"PG_DECLARE_VECTOR({t}, {vector})\n" for t in types)
        aligned = " && ".join(f"PG_ALIGNED({a}_p, sizeof(*{a}_p) * {vector})" for a, _ in arrays)
        inner = f"""\
    const int aligned = {aligned};
    PG_FOR(part, (n + {vector - 1}) / {vector}) {{
        const pg_i64 first = part * {vector};
        if (aligned && first + {vector} <= n) {{
            {block(12, *loads)}
            PG_UNROLL
            for (int k = 0; k < {vector}; k++) {{
                {block(16, *(["const pg_i64 i = first + k;"] if operation.index else []), *unpack)}
                {{
                {operation.body}
                }}
                {block(16, *pack)}
            }}
            {block(12, *stores)}
        }} else {{
            PG_ROLLED
            for (pg_i64 i = first; i < n && i < first + {vector}; i++) {{
                {block(16, *one)}
            }}
        }}
    }}
"""
    head = f"PG_KERNEL void {name}({', '.join(parameters)})"
    return (
        declarations + operation.helpers + f"{head}\n{{\n    {' '.join(starts)}\n{inner}}}\n",
        name,
    )


def _vector(backend: Backend, memory: Sequence[np.dtype[Any] | None]) -> int:
    """How many items of a contiguous kernel are one piece of memory: 16 bytes of the largest."""
    arrays = [d for d in memory if d is not None]
    if backend.limits.is_cpu or not all(map(dtypes.is_numeric, arrays)):
        return 1
    return max(16 // max(d.itemsize for d in arrays), 1)


def _features(operation: Operation, memory: Sequence[np.dtype[Any] | None]) -> set[str]:
    found = dtypes.features(*operation.inputs, *operation.outputs, *filter(None, memory))
    return found | operation.features


class Launch(Frozen):
    """A launch of an elementwise kernel, which takes the operands, then *numbers*.

    dense: all arrays are contiguous, and the kernel is good for any number of items. memory: as
    text() has it.
    """

    kernel: Any
    groups: int | tuple[int, ...]
    group_size: int | tuple[int, ...]
    numbers: tuple[int, ...]
    memory: tuple[np.dtype[Any] | None, ...]
    dense: bool


def run(
    backend: Backend,
    queue: Any,
    operation: Operation,
    operands: Sequence[Any],
    shape: tuple[int, ...],
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """Launch *operation* for all items of *shape*. Returns the event.

    operands: outputs first; arrays (of any strides; inputs may be broadcast, outputs have the
    shape) and, for inputs, Python or NumPy numbers. Outputs must not share memory with inputs,
    unless item by item. Which events of the operands to wait for is the caller's business.
    """
    launch = prepare(backend, operation, operands, shape)
    return start(backend, queue, launch, operation, operands, wait_for)


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
    loop = (*operation.outputs, *operation.inputs)
    for operand, stored, computed in zip(operands, launch.memory, loop, strict=True):
        if stored is None:
            args.append(as_scalar(operand, computed))
        else:
            args += backend.arguments(operand)
    args += launch.numbers
    return backend.launch(
        launch.kernel, queue, launch.groups, launch.group_size, args, wait_for=wait_for
    )


def prepare(
    backend: Backend, operation: Operation, operands: Sequence[Any], shape: tuple[int, ...]
) -> Launch:
    """The kernel for these operands, compiled if need be, and how it is launched."""
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
        tiled = _tiles(backend, operation, memory, flat_shape, flat, arrays, wide)
        if tiled is not None:
            return tiled
    kernel = get_kernel(backend, operation, memory, ndim, wide, rows)
    numbers: list[int] = []
    if ndim:
        numbers += flat_shape[1:]
        for s in flat:
            numbers += s
    numbers.append(n)
    per_group, most, size = rule(backend, memory) if ndim == 0 else kernels.rule(backend)
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
) -> Launch | None:
    """The launch of the kernel over rows, if the last axis suits it."""
    length = shape[-1]
    letters = "".join(
        "c" if s[-1] == a.itemsize else "s" if s[-1] else "b" for s, a in zip(strides, arrays)
    )
    outs = len(operation.outputs)
    if length < 32 or "s" in letters or "b" in letters[:outs]:
        return None
    if not all(a is None or dtypes.is_numeric(a) for a in memory):
        return None
    vector = max(16 // max(a.itemsize for a, c in zip(arrays, letters) if c == "c"), 1)
    ndim = len(shape)
    name = _kernel_name(operation)
    kernel = kernels.get(
        backend,
        ("tiles", *_key(operation, memory), ndim, wide, letters, vector),
        lambda: (
            tiles_text.source(operation, memory, ndim, wide, letters, vector, name),
            name,
        ),
        _features(operation, memory),
    )
    rows = prod(shape[:-1])
    groups, size = tiles_text.shape_of_group(rows, length, vector)
    numbers = [*shape[1:], *(step for s in strides for step in s), rows]
    return Launch(kernel, groups, size, tuple(numbers), memory, False)


def _key(operation: Operation, memory: tuple[np.dtype[Any] | None, ...]) -> tuple[Any, ...]:
    return (
        operation.name,
        operation.key,
        tuple(map(dtypes.code, operation.outputs + operation.inputs)),
        tuple(None if d is None else dtypes.code(d) for d in memory),
    )


def rule(backend: Backend, memory: Sequence[np.dtype[Any] | None]) -> tuple[int, int, int]:
    """kernels.rule() of the kernel for contiguous operands of these dtypes in memory."""
    return kernels.rule(backend, _vector(backend, memory))


def get_kernel(
    backend: Backend,
    operation: Operation,
    memory: tuple[np.dtype[Any] | None, ...],
    ndim: int,
    wide: bool,
    rows: str = "",
) -> Any:
    """The kernel, compiled if need be."""
    wide = wide and ndim > 0  # contiguous loops always count in 64 bits
    one = ndim > 0 or bool(operation.guard)  # item by item
    key = (
        "elementwise",
        *_key(operation, memory),
        ndim,
        wide,
        rows,
    )
    return kernels.get(
        backend,
        key,
        lambda: text(operation, memory, ndim, wide, 1 if one else _vector(backend, memory), rows),
        _features(operation, memory),
    )


def as_scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    """A number as a kernel's argument of the compute type of *dtype*, converted as NumPy does.

    Raises OverflowError for a Python int that does not fit, and for inf as an integer; ValueError
    for NaN as an integer; TypeError for a Python complex number as a real one."""
    if dtype.kind == "f" and dtype.itemsize == 2:
        return np.float32(np.float16(value))
    if dtype.kind == "b":
        return np.uint8(bool(value))
    if isinstance(value, int) and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"Python integer {value} out of bounds for {dtype.name}")
    if isinstance(value, np.generic):
        if value.dtype.kind not in "biufc":
            raise TypeError(f"a {value.dtype} is not converted to {dtype}")
        return value.astype(dtype)
    box = np.empty((), dtype)
    box[...] = value  # with the refusals of an assignment
    return box[()]
