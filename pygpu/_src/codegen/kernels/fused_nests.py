"""The kernel of a fused function with nested loops (see ``pygpu/_src/array/trace_nests.py``): for
each row of the results, a loop over a long axis, whose values are reduced.

On a GPU the work-items of a warp share rows: each does some iterations of the loop, for one or two
rows at once, and they exchange their sums. On a CPU a work-item does whole rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.accumulators import Operation
from pygpu._src.util.frozen import Frozen

from .fused_rows import unique_names

DType = np.dtype[Any]
GROUP = 128
LANES = 32  # the most work-items that share rows: those of a warp
_BAKED = 64  # strides [bytes] up to this are constants in the source
# Iterations that are counted in 32 bits, as are the offsets by constant strides.
_MOST_SHORT = 1 << 24
_PARTS = 16  # independent accumulators on a CPU
_BLOCK = 1024  # iterations before these are joined


class Sum(Frozen):
    """A reduction in the loop, by the operation with this number. value: the variable that is
    reduced. name: of the result."""

    operation: int
    name: str
    value: str


class Plan(Frozen):
    """A nest. lines: statements for a row, in the loop, after it. outputs: (row of the work-item,
    result, variable, its strides and indices in the result). large: the axes of the results that
    are rows. length: iterations of the loop. each: rows per work-item. lanes: work-items that
    share rows on a GPU."""

    arrays: tuple[tuple[int, DType], ...]
    numbers: tuple[tuple[int, DType], ...]
    results: tuple[DType, ...]
    lines: tuple[tuple[str, ...], ...]
    operations: tuple[Operation, ...]
    sums: tuple[Sum, ...]
    outputs: tuple[tuple[int, int, str, tuple[tuple[str, Any], ...]], ...]
    shapes: tuple[tuple[int, ...], ...]
    shape: tuple[int, ...]
    large: tuple[bool, ...]
    length: int
    each: int
    lanes: int
    helpers: str
    features: frozenset[str]
    computed: tuple[DType, ...]

    @property
    def number_dtypes(self) -> tuple[DType, ...]:
        return tuple(d for _, d in self.numbers)

    @property
    def names(self) -> list[str]:
        """The names of arrays and results in the kernel."""
        return [*(f"a{k}" for k, _ in self.arrays), *(f"y{i}" for i in range(len(self.results)))]


def sum_of(terms: Sequence[tuple[str, Any]]) -> str:
    return " + ".join(f"{stride} * {at}" for stride, at in terms)


def store(operation: Operation, number: int, name: str, length: int, ddof: float) -> str:
    """Compute the result *name* from the accumulator acc_<name>."""
    kind, stored = dtypes.compute_type(operation.out), dtypes.storage_type(operation.out)
    count = "length" if length > 64 else str(length)
    return (
        f"{kind} {name}; {{ {stored} result[1]; "
        f"red{number}_store(result, acc_{name}, {count}, {float(ddof)!r}f); "
        f"{name} = {dtypes.load(operation.out, 'result', '0')}; }}"
    )


def baked(strides: Sequence[int]) -> tuple[int | None, ...]:
    """Which strides are constants in the source."""
    return tuple(s if abs(s) <= _BAKED else None for s in strides)


def source(plan: Plan, strides: Sequence[tuple[int | None, ...]], cpu: bool, warps: bool) -> str:
    """The kernel ``fused_nest``. strides: of each array and result, None for parameters."""
    parameters, starts, defines = [], [], []
    for k, d in plan.arrays:
        parameters.append(f"PG_ARRAY_IN({dtypes.storage_type(d)}, a{k})")
        starts.append(f"PG_START_IN({dtypes.storage_type(d)}, a{k});")
    for i, d in enumerate(plan.results):
        parameters.append(f"PG_ARRAY({dtypes.storage_type(d)}, y{i})")
        starts.append(f"PG_START({dtypes.storage_type(d)}, y{i});")
    for k, d in plan.numbers:
        kind = dtypes.compute_type(d)
        parameters.append(f"{kind} number{k}")
        starts.append(f"PG_UNUSED const {kind} v{k} = number{k};")
    parameters += ["pg_i64 rows", "pg_i64 length"]
    rows = [axis for axis, large in enumerate(plan.large) if large]
    parameters += [f"pg_i64 n{axis}" for axis in rows[1:]]
    for name, its in zip(plan.names, strides, strict=True):
        for axis, stride in enumerate(its):
            if stride is None:
                parameters.append(f"pg_i64 {name}_s{axis}")
            else:
                defines.append(f"PG_UNUSED const pg_i32 {name}_s{axis} = {stride};")
    text = "".join(unique_names(operation.text, i) for i, operation in enumerate(plan.operations))
    text += "" if cpu or not warps else _exchanges(len(plan.operations))
    bounds = f"PG_BOUNDS({GROUP}, 1) " if warps and not cpu else ""
    local = (
        ""
        if cpu or warps or plan.lanes == 1
        else "".join(
            f"    PG_LOCAL red{i}_acc sums{i}[{GROUP}];\n" for i in range(len(plan.operations))
        )
    )
    body = _cpu(plan, rows) if cpu else _gpu(plan, rows, warps)
    return f"""\
{text}{plan.helpers}PG_KERNEL void {bounds}fused_nest({", ".join(parameters)})
{{
{local}    {" ".join(starts)}
    {" ".join(defines)}
{body}
}}
"""


def _exchanges(operations: int) -> str:
    return "".join(
        f"""\
typedef union {{ red{i}_acc value; pg_u32 words[(sizeof(red{i}_acc) + 3) / 4]; }} red{i}_words;
PG_INLINE red{i}_acc red{i}_xor(red{i}_acc a, int d)
{{
    red{i}_words x;
    x.value = a;
    PG_UNROLL for (int k = 0; k < (int)(sizeof x / 4); k++)
        x.words[k] = pg_warp_xor(x.words[k], d);
    return x.value;
}}
"""
        for i in range(operations)
    )


def _indices(rows: list[int], row: str, number: int) -> list[str]:
    """Statements that find the indices of a row."""
    lines, rest = [], row
    for axis in reversed(rows[1:]):
        lines.append(
            f"const pg_i64 k{axis}_{number} = {rest} % n{axis}, "
            f"r{axis}_{number} = {rest} / n{axis};"
        )
        rest = f"r{axis}_{number}"
    return [*lines, f"const pg_i64 k{rows[0]}_{number} = {rest};"]


def _puts(plan: Plan, condition: str) -> list[str]:
    lines = []
    for row, i, variable, terms in plan.outputs:
        dtype = plan.results[i]
        storage = dtypes.storage_type(dtype)
        address = f"(PG_GLOBAL char *)y{i} + ({sum_of(terms) or '0'})"
        put = dtypes.store(dtype, f"((PG_GLOBAL {storage} *)({address}))", "0", variable)
        lines.append(f"{condition.replace('ROW', str(row))}{{ {put} }}")
    return lines


def _block(lines: Sequence[str], indent: int) -> str:
    return ("\n" + " " * indent).join(lines)


def _gpu(plan: Plan, rows: list[int], warps: bool) -> str:
    lanes, each = plan.lanes, plan.each
    together = GROUP // lanes
    begin = []
    for i in range(each):
        begin.append(f"const int is_row{i} = first + {i} < rows;")
        begin.append(f"const pg_i64 row{i} = is_row{i} ? first + {i} : rows - 1;")
        begin += _indices(rows, f"row{i}", i)
    begin += plan.lines[0]
    begin += [f"red{s.operation}_acc acc_{s.name} = red{s.operation}_none();" for s in plan.sums]
    turn = [
        *plan.lines[1],
        *(f"acc_{s.name} = red{s.operation}_item(acc_{s.name}, {s.value}, j);" for s in plan.sums),
    ]
    end = []
    for s in plan.sums if lanes > 1 else ():
        p, a = f"red{s.operation}", f"acc_{s.name}"
        if warps:
            end.append(
                f"PG_UNROLL for (int d = 1; d < {lanes}; d <<= 1) {{ const {p}_acc other = "
                f"{p}_xor({a}, d); {a} = lane & d ? {p}_join(other, {a}) : {p}_join({a}, other); }}"
            )
            continue
        sums = f"sums{s.operation}"
        end.append(
            f"{sums}[id] = {a}; for (pg_i32 d = {lanes // 2}; d > 0; d >>= 1) {{ PG_BARRIER; "
            f"if (lane < d) {sums}[id] = {p}_join({sums}[id], {sums}[id + d]); }} PG_BARRIER; "
            f"{a} = {sums}[id - lane]; PG_BARRIER;"
        )
    end += plan.lines[2]
    end += _puts(plan, "if (lane == 0 && is_rowROW) ")
    turns = "pg_i32" if plan.length <= _MOST_SHORT else "pg_i64"
    return f"""\
    const pg_i32 id = (pg_i32)PG_LOCAL_ID(0), lane = id & {lanes - 1};
    const pg_i64 rounds = (rows + {together * each - 1}) / {together * each};
    for (pg_i64 g = PG_GROUP_ID(0); g < rounds; g += PG_GROUPS(0)) {{
        const pg_i64 first = (g * {together} + id / {lanes}) * {each};
        {_block(begin, 8)}
        for ({turns} j = lane; j < length; j += {lanes}) {{
            {_block(turn, 12)}
        }}
        {_block(end, 8)}
    }}"""


def _cpu(plan: Plan, rows: list[int]) -> str:
    begin = [*_indices(rows, "row", 0), *plan.lines[0]]
    accs, parts, joins = [], [], []
    for s in plan.sums:
        p, a = f"red{s.operation}", f"acc_{s.name}"
        accs.append(f"{p}_acc {a} = {p}_none();")
        parts.append(
            f"{p}_acc part_{s.name}[{_PARTS}]; "
            f"for (int k = 0; k < {_PARTS}; k++) part_{s.name}[k] = {p}_none();"
        )
        joins.append(
            f"for (int d = {_PARTS // 2}; d > 0; d >>= 1) for (int k = 0; k < d; k++) "
            f"part_{s.name}[k] = {p}_join(part_{s.name}[k], part_{s.name}[k + d]); "
            f"{a} = {p}_join({a}, part_{s.name}[0]);"
        )

    def turn(index: str, part: str) -> str:
        takes = [
            f"part_{s.name}[{part}] = red{s.operation}_item(part_{s.name}[{part}], {s.value}, j);"
            for s in plan.sums
        ]
        return _block([f"const pg_i64 j = {index};", *plan.lines[1], *takes], 20)

    return f"""\
    const pg_i64 each = (rows + PG_IDS(0) - 1) / PG_IDS(0);
    const pg_i64 start = PG_ID(0) * each, last = start + each < rows ? start + each : rows;
    for (pg_i64 row = start; row < last; row++) {{
        {_block([*begin, *accs], 8)}
        for (pg_i64 block = 0; block < length; block += {_BLOCK}) {{
            const pg_i64 end = block + {_BLOCK} < length ? block + {_BLOCK} : length;
            pg_i64 t = block;
            {_block(parts, 12)}
            for (; t + {_PARTS} <= end; t += {_PARTS})
                for (int k = 0; k < {_PARTS}; k++) {{
                    {turn("t + k", "k")}
                }}
            for (; t < end; t++) {{
                    {turn("t", "0")}
            }}
            {_block(joins, 12)}
        }}
        {_block([*plan.lines[2], *_puts(plan, "")], 8)}
    }}"""
