"""The kernel of a fused function over rows: several reductions over the last axis, their operands,
and what is computed from their results, in one launch.

On a CPU a work-item does one row after another: the source is in this module.
:mod:`.fused_rows_gpu` has the one for GPUs.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.accumulators import Operation
from pygpu._src.util.frozen import Frozen

DType = np.dtype[Any]
_LANES = 16  # independent accumulators on a CPU
_BLOCK = 1024  # items before these are joined: sums of many items stay precise


class Item(Frozen):
    """A value for each item of a row: the variable v<number>. statement: computes it from those of
    *inputs*; empty if it is an array's."""

    number: int
    dtype: DType
    inputs: tuple[int, ...]
    statement: str


class Stage(Frozen):
    """A step for a row: a *statement* once, or, if *operation* is given, a reduction of the
    variable v<wanted> of all items, whose result is the variable *name*."""

    statement: str = ""
    operation: Operation | None = None
    wanted: int = -1
    name: str = ""
    ddof: float = 0.0


class Plan(Frozen):
    """A kernel over rows. arrays: (number of the variable, dtype) of each; numbers: the same, for
    arguments; outputs: (variable, its dtype, whether there is one per item), whose numbers are
    *node_ids*; items: in an order in which they can be computed."""

    arrays: tuple[tuple[int, DType], ...]
    numbers: tuple[tuple[int, DType], ...]
    outputs: tuple[tuple[str, DType, bool], ...]
    node_ids: tuple[int, ...]
    stages: tuple[Stage, ...]
    items: tuple[Item, ...]
    helpers: str
    features: frozenset[str]
    computed: tuple[DType, ...]

    @property
    def number_dtypes(self) -> tuple[DType, ...]:
        return tuple(d for _, d in self.numbers)


def unique_names(text: str, number: int) -> str:
    """A reduction's source with unique names."""
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


def _computed(
    plan: Plan, wanted: tuple[int, ...], letters: dict[int, str], index: str
) -> list[str]:
    """Statements that compute these variables of an item."""
    items = {item.number: item for item in plan.items}
    found: set[int] = set()
    waiting = list(wanted)
    while waiting:
        k = waiting.pop()
        if k in items and k not in found:
            found.add(k)
            waiting += items[k].inputs
    lines = []
    for k in sorted(found):
        if items[k].statement:
            lines.append(items[k].statement)
        elif letters[k] != "b":
            lines.append(_load(k, items[k].dtype, letters[k], index))
    return lines


def _reduction(plan: Plan, stage: Stage, number: int, letters: dict[int, str]) -> str:
    operation = stage.operation
    assert operation is not None
    p = f"red{number}"

    def take(acc: str, index: str) -> str:
        body = "\n            ".join(_computed(plan, (stage.wanted,), letters, index))
        return f"{{ {body}\n            {acc} = {p}_item({acc}, v{stage.wanted}, {index}); }}"

    kind = dtypes.compute_type(operation.out)
    stored = dtypes.storage_type(operation.out)
    join = f"for (int d = {_LANES // 2}; d > 0; d >>= 1) for (int k = 0; k < d; k++) part[k] = {p}_join(part[k], part[k + d]);"
    ddof = repr(float(stage.ddof))
    return f"""\
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
        {kind} {stage.name};
        {{
            {stored} result[1];
            {p}_store(result, acc{number}, length, {ddof}f);
            {stage.name} = {dtypes.load(operation.out, "result", "0")};
        }}
"""


def _names(plan: Plan) -> list[str]:
    return [f"a{k}" for k, _ in plan.arrays] + [f"y{i}" for i in range(len(plan.outputs))]


def parameters(plan: Plan, kept: int) -> tuple[str, str]:
    """(parameters of the kernel, statements that begin with them)."""
    found = [f"PG_ARRAY_IN({dtypes.storage_type(d)}, a{k})" for k, d in plan.arrays]
    starts = [f"PG_START_IN({dtypes.storage_type(d)}, a{k});" for k, d in plan.arrays]
    for i, (_, d, _) in enumerate(plan.outputs):
        found.append(f"PG_ARRAY({dtypes.storage_type(d)}, y{i})")
        starts.append(f"PG_START({dtypes.storage_type(d)}, y{i});")
    for k, d in plan.numbers:
        kind = dtypes.compute_type(d)
        found.append(f"{kind} number{k}")
        starts.append(f"PG_UNUSED const {kind} v{k} = number{k};")
    found += ["pg_i64 rows", "pg_i64 length"]
    found += [f"pg_i64 n{axis}" for axis in range(1, kept)]
    for name in _names(plan):
        found += [f"pg_i64 {name}_s{axis}" for axis in range(kept)] + [f"pg_i64 {name}_step"]
    return ", ".join(found), "\n    ".join(starts)


def row_pointers(plan: Plan, kept: int, letter: dict[int, str]) -> list[str]:
    """Find a row, and read its values that are not per item."""
    lines, rest = [], "row"
    for axis in reversed(range(1, kept)):
        lines.append(
            f"        const pg_i64 k{axis} = {rest} % n{axis}, r{axis} = {rest} / n{axis};"
        )
        rest = f"r{axis}"
    lines.append(f"        const pg_i64 k0 = {rest};")
    kinds = [(dtypes.storage_type(d), "const ") for _, d in plan.arrays]
    kinds += [(dtypes.storage_type(d), "") for _, d, _ in plan.outputs]
    for name, (kind, const) in zip(_names(plan), kinds, strict=True):
        offset = " + ".join(f"k{axis} * {name}_s{axis}" for axis in range(kept))
        pointer = f"PG_GLOBAL {const}{kind} *"
        lines.append(
            f"        PG_UNUSED {pointer}{name}_row = ({pointer})((PG_GLOBAL {const}char *){name} + {offset});"
        )
    lines += [
        "        PG_UNUSED " + _load(k, d, "c", "0") for k, d in plan.arrays if letter[k] == "b"
    ]
    return lines


def _results(plan: Plan, letter: dict[int, str], dense: str) -> list[str]:
    """Statements that store the results."""
    each: list[str] = []
    once: list[str] = []
    wanted: list[int] = []
    for i, (value, dtype, of_items) in enumerate(plan.outputs):
        pointer = f"y{i}_row"
        if of_items and dense[i] != "c":
            pointer = f"((PG_GLOBAL {dtypes.storage_type(dtype)} *)((PG_GLOBAL char *)y{i}_row + i * y{i}_step))"
        index = "i" if of_items and dense[i] == "c" else "0"
        (each if of_items else once).append(dtypes.store(dtype, pointer, index, value))
        if of_items:
            wanted.append(plan.node_ids[i])
    lines = [f"        {{ {' '.join(once)} }}"] if once else []
    if each:
        inner = "\n            ".join([*_computed(plan, tuple(wanted), letter, "i"), *each])
        lines.append(
            f"        for (pg_i64 i = 0; i < length; i++) {{\n            {inner}\n        }}"
        )
    return lines


def cpu_source(plan: Plan, kept: int, letters: str, dense: str) -> str:
    """The kernel ``fused_rows``. kept: axes of the rows. letters, dense: for each array and
    result, "c" if the items of a row are adjacent, "b" if they are the same, "s" otherwise."""
    letter = {k: c for (k, _), c in zip(plan.arrays, letters, strict=True)}
    head, start = parameters(plan, kept)
    reductions = [s.operation for s in plan.stages if s.operation is not None]
    text = [unique_names(operation.text, i) for i, operation in enumerate(reductions)]
    body = row_pointers(plan, kept, letter)
    number = 0
    for stage in plan.stages:
        if stage.operation is None:
            body.append(f"        {stage.statement}")
        else:
            body.append(_reduction(plan, stage, number, letter))
            number += 1
    body += _results(plan, letter, dense)
    inner = "\n".join(body)
    return f"""\
{"".join(text)}{plan.helpers}PG_KERNEL void fused_rows({head})
{{
    {start}
    const pg_i64 each = (rows + PG_IDS(0) - 1) / PG_IDS(0);
    pg_i64 row = PG_ID(0) * each;
    const pg_i64 last = row + each < rows ? row + each : rows;
    for (; row < last; row++) {{
{inner}
    }}
}}
"""
