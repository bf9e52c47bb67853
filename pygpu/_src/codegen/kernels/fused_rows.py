"""The kernel of a fused function over rows: several reductions over the last axis, what they reduce,
and what is computed from their results, in one launch.

A group (on a CPU a work-item) does a row after the other. On a GPU, several short rows share a
group, *lanes* work-items each; these keep the items of a row in registers if each has few. The items
of longer rows are read once for each reduction and once for the results: after the first time they
come from a cache.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.accumulators import Operation
from pygpu._src.util.frozen import Frozen

__all__ = ["GROUP", "Plan", "Stage", "geometry", "source"]

DType = np.dtype[Any]
GROUP = 256  # work-items of a group on a GPU
MOST_KEPT = 8  # items of a row that a work-item of a GPU keeps
_LANES = 16  # accumulators side by side on a CPU
_BLOCK = 1024  # items that they take before they are joined: sums of many items stay precise


class Stage(Frozen):
    """What happens in a row: a *statement* once, or, if *operation* is given, a reduction.

    items: statements for each item, that set *value* from the arrays *reads* (numbers of
    variables). The reduction's result is the variable *name*.
    """

    statement: str = ""
    operation: Operation | None = None
    items: tuple[str, ...] = ()
    reads: tuple[int, ...] = ()
    value: str = ""
    name: str = ""
    ddof: float = 0.0


class Plan(Frozen):
    """A kernel over rows. arrays: (number of the variable, dtype) of each; numbers: the same, of
    arguments; outputs: (variable, its dtype, whether there is one for each item)."""

    arrays: tuple[tuple[int, DType], ...]
    numbers: tuple[tuple[int, DType], ...]
    outputs: tuple[tuple[str, DType, bool], ...]
    stages: tuple[Stage, ...]
    items: tuple[str, ...]  # for the results that have one for each item
    reads: tuple[int, ...]
    helpers: str
    features: frozenset[str]
    computed: tuple[DType, ...]

    @property
    def number_dtypes(self) -> tuple[DType, ...]:
        return tuple(d for _, d in self.numbers)


def geometry(rows: int, length: int, units: int, cpu: bool) -> tuple[int, int, int]:
    """(lanes, groups, group size)."""
    if cpu:
        return 1, max(min(rows, units * 4), 1), 1
    lanes = 1
    while lanes < GROUP and lanes * 4 < length:
        lanes *= 2  # then a work-item has two to four items
    together = GROUP // lanes
    return lanes, min(-(-rows // together), 1 << 20), GROUP


def kept_items(length: int, lanes: int, cpu: bool) -> int:
    """How many items of a row a work-item keeps; 0: none."""
    each = -(-length // lanes)
    return each if not cpu and each <= MOST_KEPT else 0


def _own(text: str, number: int) -> str:
    """A reduction's text with names of its own."""
    text = re.sub(r"\bred_", f"red{number}_", text)
    text = re.sub(r"\b([XY])\b", rf"\g<1>{number}_", text)
    begin = text.index(f"PG_INLINE void red{number}_store")
    return text[:begin] + text[begin:].replace("PG_GLOBAL ", "")


def _load(k: int, dtype: DType, letter: str, index: str) -> str:
    kind = dtypes.compute_type(dtype)
    if letter == "s":
        pointer = f"((PG_GLOBAL const {dtypes.storage_type(dtype)} *)((PG_GLOBAL const char *)a{k}_row + ({index}) * a{k}_step))"
        return f"const {kind} v{k} = {dtypes.load(dtype, pointer, '0')};"
    return f"const {kind} v{k} = {dtypes.load(dtype, f'a{k}_row', index)};"


def _over_items(loads: list[str], body: str, each: int, condition: str = "") -> str:
    """A loop of a GPU over the items i of a row. each: of those that are kept; 0: none are."""
    if not each:
        before = f"if ({condition}) " if condition else ""
        inner = "\n            ".join(loads)
        return f"{before}for (pg_i64 i = lane; i < length; i += lanes) {{ {inner} {body} }}"
    condition = f" && {condition}" if condition else ""
    return f"""\
PG_UNROLL for (int u = 0; u < {each}; u++) {{
            const pg_i64 i = lane + u * lanes;
            if (i < length{condition}) {{ {" ".join(loads)} {body} }}
        }}"""


def _item_loads(
    reads: tuple[int, ...], kinds: dict[int, DType], letters: dict[int, str], index: str, each: int
) -> list[str]:
    return [
        f"const {dtypes.compute_type(kinds[k])} v{k} = kept{k}[u];"
        if each
        else _load(k, kinds[k], letters[k], index)
        for k in reads
        if letters[k] != "b"
    ]


def _keep(plan: Plan, letters: dict[int, str], each: int) -> list[str]:
    """Statements that read the items of a row."""
    lines = []
    for k, dtype in plan.arrays:
        if letters[k] == "b":
            continue
        kind = dtypes.compute_type(dtype)
        load = _load(k, dtype, letters[k], "i").removeprefix(f"const {kind} v{k} = ")
        lines.append(f"        {kind} kept{k}[{each}];")
        lines.append("        " + _over_items([], f"kept{k}[u] = {load}", each))
    return lines


def _reduction(
    plan: Plan, stage: Stage, number: int, letters: dict[int, str], cpu: bool, each: int
) -> str:
    operation = stage.operation
    assert operation is not None
    kinds = dict(plan.arrays)

    def take(acc: str, index: str) -> str:
        loads = _item_loads(stage.reads, kinds, letters, index, 0)
        body = "\n            ".join([*loads, *stage.items])
        return f"{{ {body}\n            {acc} = {p}_item({acc}, {stage.value}, {index}); }}"

    p = f"red{number}"
    kind = dtypes.compute_type(operation.out)
    stored = dtypes.storage_type(operation.out)
    if cpu:
        join = f"for (int d = {_LANES // 2}; d > 0; d >>= 1) for (int k = 0; k < d; k++) part[k] = {p}_join(part[k], part[k + d]);"
        text = f"""\
        {p}_acc acc{number} = {p}_none();
        for (pg_i64 start = 0; start < length; start += {_BLOCK}) {{
            pg_i64 end = start + {_BLOCK} < length ? start + {_BLOCK} : length, i = start;
            {p}_acc part[{_LANES}];
            for (int k = 0; k < {_LANES}; k++) part[k] = {p}_none();
            for (; i + {_LANES} <= end; i += {_LANES})
                for (int k = 0; k < {_LANES}; k++) {take("part[k]", "(i + k)")}
            for (; i < end; i++) {take("part[0]", "i")}
            {join}
            acc{number} = {p}_join(acc{number}, part[0]);
        }}
"""
    else:
        taken = f"acc{number} = {p}_item(acc{number}, {stage.value}, i);"
        loads = _item_loads(stage.reads, kinds, letters, "i", each)
        loop = _over_items([*loads, *stage.items], taken, each)
        text = f"""\
        {p}_acc acc{number} = {p}_none();
        {loop}
        sums{number}[id] = acc{number};
        for (pg_i32 d = lanes >> 1; d > 0; d >>= 1) {{
            PG_BARRIER;
            if (lane < d)
                sums{number}[id] = {p}_join(sums{number}[id], sums{number}[id + d]);
        }}
        PG_BARRIER;
        acc{number} = sums{number}[id - lane];
"""
    ddof = repr(float(stage.ddof))
    return f"""\
{text}        {kind} {stage.name};
        {{
            {stored} result[1];
            {p}_store(result, acc{number}, length, {ddof}f);
            {stage.name} = {dtypes.load(operation.out, "result", "0")};
        }}
"""


def _parameters(plan: Plan, kept: int, names: list[str]) -> tuple[str, str]:
    """(parameters of the kernel, statements that begin with them)."""
    parameters = [f"PG_ARRAY_IN({dtypes.storage_type(d)}, a{k})" for k, d in plan.arrays]
    starts = [f"PG_START_IN({dtypes.storage_type(d)}, a{k});" for k, d in plan.arrays]
    for i, (_, d, _) in enumerate(plan.outputs):
        parameters.append(f"PG_ARRAY({dtypes.storage_type(d)}, y{i})")
        starts.append(f"PG_START({dtypes.storage_type(d)}, y{i});")
    for k, d in plan.numbers:
        kind = dtypes.compute_type(d)
        parameters.append(f"{kind} number{k}")
        starts.append(f"PG_UNUSED const {kind} v{k} = number{k};")
    parameters += ["pg_i64 rows", "pg_i64 length", "pg_i32 lanes"]
    parameters += [f"pg_i64 n{axis}" for axis in range(1, kept)]
    for name in names:
        parameters += [f"pg_i64 {name}_s{axis}" for axis in range(kept)] + [f"pg_i64 {name}_step"]
    return ", ".join(parameters), "\n    ".join(starts)


def source(plan: Plan, kept: int, letters: str, dense: str, cpu: bool, each: int = 0) -> str:
    """The kernel ``fused_rows``. kept: axes of the rows. each: see kept_items(). letters, dense: for each array and result,
    "c" if the items of a row are neighbours, "b" if they are one, "s" otherwise."""
    letter = {k: c for (k, _), c in zip(plan.arrays, letters, strict=True)}
    names = [f"a{k}" for k, _ in plan.arrays] + [f"y{i}" for i in range(len(plan.outputs))]
    parameters, start = _parameters(plan, kept, names)
    reductions = [s for s in plan.stages if s.operation is not None]
    text = [_own(s.operation.text, i) for i, s in enumerate(reductions) if s.operation is not None]
    shared = (
        ""
        if cpu
        else "".join(f"    PG_LOCAL red{i}_acc sums{i}[{GROUP}];\n" for i in range(len(reductions)))
    )
    body = _row(plan, kept, letter, names)
    body += _keep(plan, letter, each) if each else []
    number = 0
    for stage in plan.stages:
        if stage.operation is None:
            body.append(f"        {stage.statement}")
        else:
            body.append(_reduction(plan, stage, number, letter, cpu, each))
            number += 1
    body += _results(plan, letter, dense, cpu, each)
    inner = "\n".join(body)
    if cpu:
        loop = """\
    const pg_i64 each = (rows + PG_IDS(0) - 1) / PG_IDS(0);
    pg_i64 row = PG_ID(0) * each;
    const pg_i64 last = row + each < rows ? row + each : rows;
    for (; row < last; row++) {"""
    else:
        loop = f"""\
    const pg_i32 id = (pg_i32)PG_LOCAL_ID(0), lane = id & (lanes - 1);
    const pg_i64 together = {GROUP} / lanes, rounds = (rows + together - 1) / together;
    for (pg_i64 g = PG_GROUP_ID(0); g < rounds; g += PG_GROUPS(0)) {{
        pg_i64 row = g * together + id / lanes;
        const int is_row = row < rows;
        row = is_row ? row : rows - 1; /* everybody meets at the barriers */"""
        inner += "\n        PG_BARRIER;"
    return f"""\
{"".join(text)}{plan.helpers}PG_KERNEL void fused_rows({parameters})
{{
{shared}    {start}
{loop}
{inner}
    }}
}}
"""


def _row(plan: Plan, kept: int, letter: dict[int, str], names: list[str]) -> list[str]:
    """Statements that find a row, and read what it has one of."""
    lines, rest = [], "row"
    for axis in reversed(range(1, kept)):
        lines.append(
            f"        const pg_i64 k{axis} = {rest} % n{axis}, r{axis} = {rest} / n{axis};"
        )
        rest = f"r{axis}"
    lines.append(f"        const pg_i64 k0 = {rest};")
    kinds = [(dtypes.storage_type(d), "const ") for _, d in plan.arrays]
    kinds += [(dtypes.storage_type(d), "") for _, d, _ in plan.outputs]
    for name, (kind, const) in zip(names, kinds, strict=True):
        offset = " + ".join(f"k{axis} * {name}_s{axis}" for axis in range(kept))
        pointer = f"PG_GLOBAL {const}{kind} *"
        lines.append(
            f"        PG_UNUSED {pointer}{name}_row = ({pointer})((PG_GLOBAL {const}char *){name} + {offset});"
        )
    lines += [
        "        PG_UNUSED " + _load(k, d, "c", "0") for k, d in plan.arrays if letter[k] == "b"
    ]
    return lines


def _results(plan: Plan, letter: dict[int, str], dense: str, cpu: bool, kept: int) -> list[str]:
    """Statements that store the results."""
    kinds = dict(plan.arrays)
    each: list[str] = []
    once: list[str] = []
    for i, (value, dtype, of_items) in enumerate(plan.outputs):
        pointer = f"y{i}_row"
        if of_items and dense[i] != "c":
            pointer = f"((PG_GLOBAL {dtypes.storage_type(dtype)} *)((PG_GLOBAL char *)y{i}_row + i * y{i}_step))"
        index = "i" if of_items and dense[i] == "c" else "0"
        (each if of_items else once).append(dtypes.store(dtype, pointer, index, value))
    lines = []
    if once:
        condition = "" if cpu else "if (is_row && lane == 0) "
        lines.append(f"        {condition}{{ {' '.join(once)} }}")
    if each:
        statements = [*_item_loads(plan.reads, kinds, letter, "i", kept), *plan.items]
        if cpu:
            inner = "\n            ".join([*statements, *each])
            loop = f"for (pg_i64 i = 0; i < length; i++) {{\n            {inner}\n        }}"
        else:
            loop = _over_items(statements, " ".join(each), kept, "is_row")
        lines.append(f"        {loop}")
    return lines
