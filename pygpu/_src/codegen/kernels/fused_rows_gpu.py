"""The kernel of :mod:`.fused_rows` for GPUs.

*lanes* work-items share a row, and a group does one or several rows at a time. A work-item reads
*vector* adjacent items in one access, *units* times. If that covers a whole row, the row is read
once: values that several stages need, and values computed from it, stay in registers. Longer rows
are read once for each reduction and once for the results, mostly from a cache. Partial results are
exchanged within warps if the device has them, else through local memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.util.frozen import Frozen

from .elementwise import _PLAIN
from .fused_rows import Item, Plan, Stage, parameters, row_pointers, unique_names

_WARP = 32
_GROUP = 128  # work-items, at least
_WORDS = 48  # 32-bit registers for values that are kept
_MOST = 32  # items per work-item
_LARGEST = 512  # work-items per group
_BUSY = 1024  # work-items per unit, for good occupancy
_RESIDENT = 1  # groups per unit for which the registers must suffice


class Geometry(Frozen):
    """lanes: work-items per row. group: per group. vector: adjacent items that are read in one
    access. units: such accesses per work-item. covers_row: they cover a whole row. warps: the dialect's
    warp functions are available."""

    lanes: int
    group: int
    vector: int
    units: int
    covers_row: bool
    warps: bool


def _ceil_power(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()


def geometry(
    plan: Plan, rows: int, length: int, vector: int, units: int, largest: int, warps: bool
) -> Geometry:
    """vector: what memory allows. units: of the device. largest: the largest group."""
    largest = min(largest, _LARGEST)
    each = max(min(_MOST, _WORDS // max(_words(plan), 1)) // vector * vector, vector)
    lanes = _ceil_power(-(-length // each))
    covers_row = lanes <= largest
    if covers_row:
        short = _ceil_power(-(-length // (2 * vector)))
        lanes = max(lanes, min(short, _WARP))
        while lanes * 2 * vector <= length and rows * lanes < units * _BUSY and lanes < 256:
            lanes *= 2
        lanes = min(lanes, largest)
        each = -(-length // (lanes * vector))
    else:
        lanes, each = min(256, largest), max(8 // vector, 1)
    group = min(max(lanes, _GROUP), largest)
    return Geometry(lanes, group, vector, each, covers_row, warps and lanes <= group)


def _sections(plan: Plan) -> list[tuple[int, ...]]:
    """The nodes with a value per item that each stage needs, and finally the results."""
    found = [(stage.wanted,) if stage.operation is not None else () for stage in plan.stages]
    full = [k for (_, _, is_full), k in zip(plan.outputs, plan.node_ids, strict=True) if is_full]
    return [*found, tuple(full)]


class _Schedule:
    """Which node is computed in which section, and which are kept for later ones."""

    def __init__(self, plan: Plan, keep: bool) -> None:
        items = {item.number: item for item in plan.items}
        self.computes: list[list[Item]] = []
        self.reused: dict[int, list[int]] = {}  # node: first and last section
        made: dict[int, int] = {}
        for section, wanted in enumerate(_sections(plan)):
            found: set[int] = set()
            waiting = list(wanted)
            while waiting:
                k = waiting.pop()
                if k not in items or k in found:
                    continue
                if keep and k in made:
                    self.reused.setdefault(k, [made[k], section])[1] = section
                    continue
                found.add(k)
                waiting += items[k].inputs
            for k in found:
                made.setdefault(k, section)
            self.computes.append([items[k] for k in sorted(found)])


def _words(plan: Plan) -> int:
    """The most registers per item between two sections."""
    schedule = _Schedule(plan, True)
    size = {item.number: -(-_compute_size(item.dtype) // 4) for item in plan.items}
    most = 1
    for section in range(len(schedule.computes)):
        live = [k for k, (first, last) in schedule.reused.items() if first <= section < last]
        most = max(most, sum(size[k] for k in live))
    return most


def _compute_size(dtype: np.dtype[np.generic]) -> int:
    return 4 if dtypes.code(dtype) == "f16" else dtype.itemsize


class _Writer:
    """Writes the source of a kernel."""

    def __init__(self, plan: Plan, form: Geometry, letters: str, dense: str) -> None:
        self.plan, self.form, self.dense = plan, form, dense
        self.letters = {k: c for (k, _), c in zip(plan.arrays, letters, strict=True)}
        self.kinds = dict(plan.arrays)
        self.schedule = _Schedule(plan, form.covers_row)
        self.vectors = {  # arrays and results that are moved in vectors: their units
            **{f"a{k}": self._unit(d) for k, d in plan.arrays if self.letters[k] == "c"},
            **{
                f"y{i}": self._unit(d)
                for i, (_, d, full) in enumerate(plan.outputs)
                if full and dense[i] == "c"
            },
        }

    @staticmethod
    def _unit(dtype: np.dtype[np.generic]) -> str:
        storage = dtypes.storage_type(dtype)
        return _PLAIN.get(storage, storage)

    # ---- items

    def is_here(self, item: str) -> str:
        """Whether the row has an item; a constant if all are there."""
        if self.form.covers_row:
            return f"(u < {self.form.units - 1} || {item} < length)"
        return f"{item} < length"

    def over(self, body: str, before: Sequence[str] = (), after: Sequence[str] = ()) -> str:
        """A loop over the items of a work-item: i is the first of a vector, i + j one of them.
        before, after: moves of all vectors, as by move()."""
        f = self.form
        lines = [
            *before,
            f"""\
PG_UNROLL for (int u = 0; u < {f.units}; u++) {{
            {self.index()}
            PG_UNROLL for (int j = 0; j < {f.vector}; j++)
                if ({self.is_here("i + j")}) {{ {body} }}
        }}""",
            *after,
        ]
        text = "\n        ".join(lines)
        if f.covers_row:
            return f"{{ {text} }}"
        return f"for (pg_i64 t = 0; t < length; t += {f.lanes * f.vector * f.units}) {{\n        {text}\n        }}"

    def index(self) -> str:
        f = self.form
        kind, start = ("pg_i32", "") if f.covers_row else ("pg_i64", "t + ")
        return f"PG_UNUSED const {kind} i = {start}(lane + u * {f.lanes}) * {f.vector};"

    def move(self, by_vector: str, by_item: str) -> str:
        """Read or write all vectors of the row by the first statement or, if memory is not aligned
        for it, item by item by the second."""
        f = self.form
        return f"""\
if (vectors) {{
            PG_UNROLL for (int u = 0; u < {f.units}; u++) {{
                {self.index()}
                if ({self.is_here("i")}) {by_vector}
            }}
        }} else {{
            PG_UNROLL for (int u = 0; u < {f.units}; u++) {{
                {self.index()}
                PG_UNROLL for (int j = 0; j < {f.vector}; j++)
                    if ({self.is_here("i + j")}) {by_item}
            }}
        }}"""

    def load(self, item: Item) -> tuple[str, str]:
        """(statements before the loop over items, the statement for one) of an array's items."""
        k, dtype = item.number, item.dtype
        kind, storage = dtypes.compute_type(dtype), dtypes.storage_type(dtype)
        if self.letters[k] == "b":
            return "", ""
        if self.letters[k] == "s":
            address = f"(PG_GLOBAL const char *)a{k}_row + (i + j) * a{k}_step"
            pointer = f"((PG_GLOBAL const {storage} *)({address}))"
            return "", f"const {kind} v{k} = {dtypes.load(dtype, pointer, '0')};"
        vector_type = f"PG_VECTOR({self.vectors[f'a{k}']}, {self.form.vector})"
        moved = self.move(
            f"w{k}[u] = *(PG_GLOBAL const {vector_type} *)(a{k}_row + i);",
            f"w{k}[u].item[j] = a{k}_row[i + j];",
        )
        before = f"{vector_type} w{k}[{self.form.units}];\n        {moved}"
        return before, f"const {kind} v{k} = {dtypes.load(dtype, f'w{k}[u].item', 'j')};"

    def section(self, number: int) -> tuple[list[str], str]:
        """(statements before the loop, statements for an item) of what a section computes."""
        before, lines = [], []
        address = f"[u * {self.form.vector} + j]"
        for k, (first, last) in self.schedule.reused.items():
            if first < number <= last:
                kind = dtypes.compute_type(self.item_dtype(k))
                lines.append(f"PG_UNUSED const {kind} v{k} = kept{k}{address};")
        for item in self.schedule.computes[number]:
            if item.statement:
                lines.append(item.statement)
            else:
                fetch, line = self.load(item)
                before.append(fetch)
                lines.append(line)
            if self.schedule.reused.get(item.number, [None])[0] == number:
                lines.append(f"kept{item.number}{address} = v{item.number};")
        return [text for text in before if text], " ".join(lines)

    def item_dtype(self, number: int) -> np.dtype[np.generic]:
        return next(item.dtype for item in self.plan.items if item.number == number)

    def declarations(self) -> list[str]:
        size = self.form.units * self.form.vector
        return [
            f"        {dtypes.compute_type(self.item_dtype(k))} kept{k}[{size}];"
            for k in self.schedule.reused
        ]

    # ---- reductions

    def reduction(self, stage: Stage, section: int, number: int) -> str:
        operation = stage.operation
        assert operation is not None
        before, lines = self.section(section)
        p, a = f"red{number}", f"acc{number}"
        loop = self.over(f"{lines} {a} = {p}_item({a}, v{stage.wanted}, i + j);", before)
        kind = dtypes.compute_type(operation.out)
        ddof = repr(float(stage.ddof))
        return f"""\
        {p}_acc {a} = {p}_none();
        {loop}
{self.exchange(number)}
        {kind} {stage.name};
        {{
            {dtypes.storage_type(operation.out)} result[1];
            {p}_store(result, {a}, length, {ddof}f);
            {stage.name} = {dtypes.load(operation.out, "result", "0")};
        }}
"""

    def exchange(self, number: int) -> str:
        """Statements after which all work-items of a row have its reduction. All join in the same
        order, so all get the same bits."""
        f, p, a = self.form, f"red{number}", f"acc{number}"
        if f.lanes == 1:
            return ""
        if not f.warps:
            return f"""\
        sums{number}[id] = {a};
        for (pg_i32 d = {f.lanes // 2}; d > 0; d >>= 1) {{
            PG_BARRIER;
            if (lane < d)
                sums{number}[id] = {p}_join(sums{number}[id], sums{number}[id + d]);
        }}
        PG_BARRIER;
        {a} = sums{number}[id - lane];"""
        lines = [self.butterfly(number, min(f.lanes, _WARP))]
        if f.lanes > _WARP:
            many = f.lanes // _WARP
            lines.append(f"""\
        if ((id & {_WARP - 1}) == 0) sums{number}[id / {_WARP}] = {a};
        PG_BARRIER;
        {a} = sums{number}[(id - lane) / {_WARP} + (lane & {many - 1})];""")
            lines.append(self.butterfly(number, many))
        return "\n".join(lines)

    def butterfly(self, number: int, lanes: int) -> str:
        p, a = f"red{number}", f"acc{number}"
        return f"""\
        PG_UNROLL for (int d = 1; d < {lanes}; d <<= 1) {{
            const {p}_acc other = {p}_xor({a}, d);
            {a} = lane & d ? {p}_join(other, {a}) : {p}_join({a}, other);
        }}"""

    def functions(self) -> str:
        """The functions that move accumulators between the work-items of a warp."""
        if not self.form.warps or self.form.lanes == 1:
            return ""
        text = ""
        for i in range(self.number_of_reductions):
            p = f"red{i}"
            text += f"""\
typedef union {{ {p}_acc value; pg_u32 words[(sizeof({p}_acc) + 3) / 4]; }} {p}_words;
PG_INLINE {p}_acc {p}_xor({p}_acc a, int d)
{{
    {p}_words x;
    x.value = a;
    PG_UNROLL for (int k = 0; k < (int)(sizeof x / 4); k++)
        x.words[k] = pg_warp_xor(x.words[k], d);
    return x.value;
}}
"""
        return text

    @property
    def number_of_reductions(self) -> int:
        return sum(s.operation is not None for s in self.plan.stages)

    def local_memory(self) -> str:
        f = self.form
        size = f.group if not f.warps else f.group // _WARP if f.lanes > _WARP else 0
        if not size or f.lanes == 1:
            return ""
        return "".join(
            f"    PG_LOCAL red{i}_acc sums{i}[{size}];\n" for i in range(self.number_of_reductions)
        )

    # ---- results

    def results(self) -> str:
        once = [
            dtypes.store(dtype, f"y{i}_row", "0", value)
            for i, (value, dtype, full) in enumerate(self.plan.outputs)
            if not full
        ]
        text = f"        if (is_row && lane == 0) {{ {' '.join(once)} }}\n" if once else ""
        before, lines = self.section(len(self.plan.stages))
        puts, after = [], []
        for i, (value, dtype, full) in enumerate(self.plan.outputs):
            if not full:
                continue
            if self.dense[i] != "c":
                address = f"(PG_GLOBAL char *)y{i}_row + (i + j) * y{i}_step"
                pointer = f"((PG_GLOBAL {dtypes.storage_type(dtype)} *)({address}))"
                puts.append(f"if (is_row) {{ {dtypes.store(dtype, pointer, '0', value)} }}")
                continue
            vector_type = f"PG_VECTOR({self.vectors[f'y{i}']}, {self.form.vector})"
            before.append(f"{vector_type} z{i}[{self.form.units}];")
            puts.append(dtypes.store(dtype, f"z{i}[u].item", "j", value))
            after.append(
                self.move(
                    f"if (is_row) *(PG_GLOBAL {vector_type} *)(y{i}_row + i) = z{i}[u];",
                    f"if (is_row) y{i}_row[i + j] = z{i}[u].item[j];",
                )
            )
        if not puts:
            return text
        return text + "        " + self.over(f"{lines} {' '.join(puts)}", before, after)

    # ---- the kernel

    def body(self, kept: int) -> str:
        lines = [*row_pointers(self.plan, kept, self.letters), *self.declarations()]
        number = 0
        for section, stage in enumerate(self.plan.stages):
            if stage.operation is None:
                lines.append(f"        {stage.statement}")
            else:
                lines.append(self.reduction(stage, section, number))
                number += 1
        lines.append(self.results())
        if self.local_memory():
            lines.append("        PG_BARRIER;")
        return "\n".join(lines)

    def can_use_vectors(self) -> str:
        """The condition for moving arrays in vectors; the host has checked that rows begin alike."""
        v = self.form.vector
        if v == 1:
            return "1"
        tests = [f"PG_ALIGNED({name}, {v} * sizeof(*{name}))" for name in self.vectors]
        return " && ".join([f"length % {v} == 0", *tests])


def source(plan: Plan, kept: int, letters: str, dense: str, form: Geometry) -> str:
    """The kernel ``fused_rows``; see :func:`.fused_rows.source`."""
    writer = _Writer(plan, form, letters, dense)
    head, start = parameters(plan, kept)
    reductions = [s.operation for s in plan.stages if s.operation is not None]
    text = "".join(unique_names(operation.text, i) for i, operation in enumerate(reductions))
    units = dict.fromkeys(writer.vectors.values())
    declared = "".join(f"PG_DECLARE_VECTOR({unit}, {form.vector})\n" for unit in units)
    bounds = f"PG_BOUNDS({form.group}, {_RESIDENT}) " if form.warps else ""
    together = form.group // form.lanes
    made = f"""\
{declared}{text}{writer.functions()}{plan.helpers}PG_KERNEL void {bounds}fused_rows({head})
{{
{writer.local_memory()}    {start}
    const pg_i32 id = (pg_i32)PG_LOCAL_ID(0), lane = id & {form.lanes - 1};
    const int vectors = {writer.can_use_vectors()};
    const pg_i64 rounds = (rows + {together - 1}) / {together};
    for (pg_i64 g = PG_GROUP_ID(0); g < rounds; g += PG_GROUPS(0)) {{
        pg_i64 row = g * {together} + id / {form.lanes};
        const int is_row = row < rows;
        row = is_row ? row : rows - 1; /* everybody meets where results are exchanged */
{writer.body(kept)}
    }}
}}
"""
    return re.sub(r"\n\s*\n", "\n", made)
