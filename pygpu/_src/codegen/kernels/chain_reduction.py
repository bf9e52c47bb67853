"""The kernel of a chain of elementwise steps that ends with a reduction: it computes the items,
stores results of steps that are still needed, and reduces.

Its results equal those of the chain's own kernel followed by those of :mod:`.reduction`, to the
bit: work-items process the items in the same order as if they read them from memory. The
reduction's Form, lanes and segments determine that order. Only for GPUs.

Parameters: arrays to write, operands in order (arrays, numbers), the result or its parts, then
n_out, n_red, segments, lanes, the lengths of the kept axes except the first, of the reduced axes
except the first, for each array its strides along these axes (kept, then reduced), those of the
result along the kept axes [bytes], count and ddof.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.accumulators import Operation
from pygpu._src.codegen.template import Template
from pygpu._src.util.frozen import Frozen

from .reduction import GROUP, UNROLL
from .reduction_parts import (
    COLUMN_JOIN,
    ROWS,
    Form,
    finish_of,
    finish_parameters,
    out_type,
    unravel_at,
)

DType = np.dtype[Any]


class Steps(Frozen):
    """The computation of y0, y1, ... of dtypes *outputs*, and of the reduced *value* of dtype
    *of*, by the statements *body* from the operands x0, x1, ... (*inputs*; None in *vectors* and
    *stored* marks a number). vectors: for outputs, then inputs, whether a work-item may move
    several of its items in one access.
    """

    body: str
    value: str
    of: DType
    inputs: tuple[DType, ...]
    is_array: tuple[bool, ...]
    outputs: tuple[DType, ...]
    vectors: tuple[bool, ...]
    helpers: str
    still: tuple[tuple[bool, ...], ...] = ()  # of each array, which of its strides are 0
    short: int = 0  # the length of rows that a work-item reduces alone, without a loop
    index: str = "pg_i64"  # the type of the results' numbers

    @property
    def arrays(self) -> list[tuple[str, DType, bool]]:
        """(name, dtype, whether in vectors) of outputs, then of inputs that are arrays."""
        names = [f"y{i}" for i in range(len(self.outputs))]
        names += [f"x{i}" for i in range(len(self.inputs))]
        kept = [*([True] * len(self.outputs)), *self.is_array]
        every = zip(names, (*self.outputs, *self.inputs), self.vectors, kept, strict=True)
        return [(name, dtype, vector) for name, dtype, vector, array in every if array]


def _pointer(name: str) -> str:
    """Of an array's storage type; const for an input."""
    return "PG_GLOBAL " if name[0] == "y" else "PG_GLOBAL const "


def _type(dtype: DType) -> str:
    return dtypes.storage_type(dtype)


def _strides(name: str, form: Form) -> list[str]:
    """The variables of an array's strides."""
    kept = [f"{name}_k{k}" for k in range(form.kept)]
    return kept + [f"{name}_r{k}" for k in range(form.reduced)]


def _zeros(form: Form, steps: Steps) -> set[str]:
    """The strides that are 0. As constants they let the compiler read an item once for a loop."""
    names = [_strides(name, form) for name, _, _ in steps.arrays]
    pairs = zip(names, steps.still, strict=False)
    return {s for of, still in pairs for s, zero in zip(of, still, strict=True) if zero}


def _parameters(op: Operation, form: Form, steps: Steps) -> str:
    lines = [f"PG_ARRAY({_type(d)}, y{i}_p)" for i, d in enumerate(steps.outputs)]
    for i, (dtype, array) in enumerate(zip(steps.inputs, steps.is_array, strict=True)):
        kind = dtypes.compute_type(dtype)
        lines.append(f"PG_ARRAY_IN({_type(dtype)}, x{i}_p)" if array else f"{kind} x{i}_n")
    lines.append("PG_ARRAY(red_acc, parts)" if form.parts else f"PG_ARRAY({out_type(op)}, out)")
    lines.append("pg_i64 n_out, pg_i64 n_red, pg_i64 segments, pg_i32 lanes")
    lines += [f"pg_i64 kept{k}" for k in range(1, form.kept)]
    lines += [f"pg_i64 reduced{k}" for k in range(1, form.reduced)]
    zero = _zeros(form, steps)
    for name, _, _ in steps.arrays:
        lines += [f"pg_i64 {s}_" if s in zero else f"pg_i64 {s}" for s in _strides(name, form)]
    lines += [f"pg_i64 out_k{k}" for k in range(form.kept)]
    return ", ".join([*lines, *finish_parameters(op, False)])


def _start(op: Operation, form: Form, steps: Steps) -> str:
    lines = [
        f"PG_START{'' if n[0] == 'y' else '_IN'}({_type(d)}, {n}_p);" for n, d, _ in steps.arrays
    ]
    lines.append("PG_START(red_acc, parts);" if form.parts else f"PG_START({out_type(op)}, out);")
    lines += [f"const pg_i64 {s} = 0; (void){s}_; (void){s};" for s in sorted(_zeros(form, steps))]
    return " ".join(lines)


def _rows(form: Form, steps: Steps) -> str:
    """Declare ``<name>_row``, where the items of result *o* begin."""
    names = [n for n, _, _ in steps.arrays]
    lines = [" ".join(f"pg_i64 {n}_at = 0;" for n in names)]
    lines.append("{ " + unravel_at(names, "kept", form.kept, "o", steps.index) + " }")
    for n in names:
        char = f"({_pointer(n)}char *){n}_p"
        lines.append(f"{_pointer(n)}char *{n}_row = {char} + {n}_at;")
    return "\n        ".join(lines)


def _item(form: Form, steps: Steps, acc: str, given: dict[str, str], k: str = "0") -> str:
    """Process the item at index *r* (a variable) of a row, the *k*-th column from the row's.
    given: expressions for operands that were read, and places for results that are stored later."""
    index = "pg_u32" if form.small else "pg_i64"
    left = [(n, d) for n, d, _ in steps.arrays if n not in given]
    lines = []
    if left:
        lines.append(" ".join(f"pg_i64 {n}_at = 0;" for n, _ in left))
        names = [n for n, _ in left]
        lines.append("{ " + unravel_at(names, "reduced", form.reduced, "r", index) + " }")
    across = f" + {k} * {{}}_k{form.kept - 1}" if k != "0" else ""
    for n, d in left:
        address = f"{n}_row + {n}_at{across.format(n)}"
        lines.append(f"{_pointer(n)}{_type(d)} *{n}_i = ({_pointer(n)}{_type(d)} *)({address});")
    for i, (dtype, array) in enumerate(zip(steps.inputs, steps.is_array, strict=True)):
        n = f"x{i}"
        value = given.get(n, f"{n}_i[0]") if array else f"{n}_n"
        lines.append(f"PG_UNUSED const {dtypes.compute_type(dtype)} {n} = {value};")
    lines += [f"{dtypes.compute_type(d)} y{i};" for i, d in enumerate(steps.outputs)]
    lines.append(steps.body)
    lines += [f"{given.get(f'y{i}', f'y{i}_i[0]')} = y{i};" for i in range(len(steps.outputs))]
    lines.append(f"{acc} = red_item({acc}, {steps.value}, r);")
    return "{ " + "\n            ".join(lines) + " }"


def _result(op: Operation, form: Form, index: str, segment: str, of_index: str) -> str:
    if form.parts:
        by_row = f"({index}) * segments + ({segment})"
        part_index = f"({segment}) * n_out + ({index})" if form.columns else by_row
        return f"parts[{part_index}] = acc;"
    unravelled = unravel_at(["out"], "kept", form.kept, index, of_index)
    at = f"pg_i64 out_at = 0; {{ {unravelled} }}"
    return f"{at} {finish_of(op, False, 'acc')}"


_ROW_VECTORS = Template("""\
            if (o * n_red % $v == 0) {
                for (; t + tile <= n_red; t += step) {
                    PG_UNROLL for (int b = 0; b < $unroll; b += $block) {
                        $declared
                        $fetched
                        PG_UNROLL for (int u = 0; u < $block; u++) {
                            pg_i64 first = t + ((b + u) * lanes + lane) * $v;
                            PG_UNROLL for (int k = 0; k < $v; k++) {
                                pg_i64 r = first + k;
                                $taken
                            }
                            $put
                        }
                    }
                }
                if (t < n_red) {
                    pg_i64 q = t + lane * $v;
                    for (; q + $v <= n_red; q += lanes * $v)
                        PG_UNROLL for (int k = 0; k < $v; k++) {
                            pg_i64 r = q + k;
                            $one
                        }
                    for (pg_i64 r = q, end = q + $v < n_red ? q + $v : n_red; r < end; r++)
                        $last
                }
                t = n_red;
            }
""")


def _vectors_of(steps: Steps) -> list[tuple[str, DType]]:
    return [(n, d) for n, d, vector in steps.arrays if vector]


def _block(steps: Steps, unroll: int) -> int:
    """How many vectors of each operand a work-item has in flight."""
    return {0: unroll, 1: unroll, 2: unroll // 2}.get(len(_vectors_of(steps)), unroll // 4)


def _unit(dtype: DType) -> str:
    """The type of a vector's items: bools are bytes there."""
    return "pg_u8" if _type(dtype) == "pg_b8" else _type(dtype)


def _fetched(block: int, index: str, fetch: str) -> str:
    """Read so many vectors at the indices *r*; nothing if there are none to read."""
    if not fetch:
        return ""
    return f"PG_UNROLL for (int u = 0; u < {block}; u++) {{ pg_i64 r = {index}; {fetch} }}"


def _gpu_rows(op: Operation, form: Form, steps: Steps) -> str:
    v = form.vector
    sums = min(v, 4)
    main, last = "", _item(form, steps, "accs[0]", {})
    if v > 1:
        moved = _vectors_of(steps)
        block = _block(steps, UNROLL)
        declared = " ".join(f"PG_VECTOR({_unit(d)}, {v}) {n}_v[{block}];" for n, d in moved)
        fetch = " ".join(
            f"{n}_v[u] = *(PG_GLOBAL const PG_VECTOR({_unit(d)}, {v}) *)"
            f"({n}_row + r * (pg_i64)sizeof({_type(d)}));"
            for n, d in moved
            if n[0] == "x"
        )
        put = " ".join(
            f"*(PG_GLOBAL PG_VECTOR({_unit(d)}, {v}) *)"
            f"({n}_row + first * (pg_i64)sizeof({_type(d)})) = {n}_v[u];"
            for n, d in moved
            if n[0] == "y"
        )
        given = {n: f"{n}_v[u].item[k]" for n, _ in moved}
        main = _ROW_VECTORS.fill(
            v=v,
            unroll=UNROLL,
            block=block,
            declared=declared,
            fetched=_fetched(block, f"t + ((b + u) * lanes + lane) * {v}", fetch),
            taken=_item(form, steps, f"accs[k % {sums}]", given),
            put=put,
            one=_item(form, steps, f"accs[k % {sums}]", {}),
            last=last,
        )
    return ROWS.fill(
        name="chain_rows",
        parameters=_parameters(op, form, steps),
        group=GROUP,
        start=_start(op, form, steps),
        stretch=v * UNROLL,
        sums=sums,
        rows=_rows(form, steps),
        main=main,
        take_one=last,
        out_at="",
        result=_result(op, form, "o", "segment", steps.index),
    )


_COLUMNS = Template(
    """\
PG_KERNEL void chain_columns($parameters)
{
    PG_LOCAL red_acc sums[$group];
    $start
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0), x_lane = id & (lanes - 1), deep_id = id / lanes;
    pg_i32 deep = $group / lanes;
    pg_i64 width = (pg_i64)lanes * $v, tile = (pg_i64)deep * $unroll, step = tile * segments;
    pg_i64 across = (n_out + width - 1) / width, total = across * segments;
    for (pg_i64 g = PG_GROUP_ID(0); g < total; g += PG_GROUPS(0)) {
        pg_i64 segment = g / across, o = (g % across) * width + x_lane * $v;
        red_acc accs[$v];
        PG_UNROLL for (int k = 0; k < $v; k++)
            accs[k] = red_none();
        if (o < n_out) {
        $rows
            pg_i64 t = segment * tile;
            for (; t + tile <= n_red; t += step) {
                PG_UNROLL for (int b = 0; b < $unroll; b += $block) {
                    $declared
                    $fetched
                    PG_UNROLL for (int u = 0; u < $block; u++) {
                        pg_i64 r = t + (b + u) * deep + deep_id;
                        (void)r; /* not every chain uses it */
                        PG_UNROLL for (int k = 0; k < $v; k++) $taken
                        $put
                    }
                }
            }
            for (pg_i64 r = t + deep_id; r < n_red; r += deep)
                PG_UNROLL for (int k = 0; k < $v; k++) $last
        }
"""
    + COLUMN_JOIN
)


def _gpu_columns(op: Operation, form: Form, steps: Steps) -> str:
    v, unroll = form.vector, 8 if op.plain else 4
    index = "pg_u32" if form.small else "pg_i64"
    moved = _vectors_of(steps) if v > 1 else []
    block = _block(steps, unroll)

    def at(names: list[str]) -> str:
        zero = " ".join(f"pg_i64 {n}_at = 0;" for n in names)
        return zero + " { " + unravel_at(names, "reduced", form.reduced, "r", index) + " }"

    reads = [(n, d) for n, d in moved if n[0] == "x"]
    writes = [(n, d) for n, d in moved if n[0] == "y"]
    fetch = " ".join(
        f"{n}_v[u] = *(PG_GLOBAL const PG_VECTOR({_unit(d)}, {v}) *)({n}_row + {n}_at);"
        for n, d in reads
    )
    put = " ".join(
        f"*(PG_GLOBAL PG_VECTOR({_unit(d)}, {v}) *)({n}_row + {n}_at) = {n}_v[u];"
        for n, d in writes
    )
    given = {n: f"{n}_v[u].item[k]" for n, _ in moved}
    return _COLUMNS.fill(
        parameters=_parameters(op, form, steps),
        group=GROUP,
        start=_start(op, form, steps),
        v=v,
        unroll=unroll,
        block=block,
        rows=_rows(form, steps),
        declared=" ".join(f"PG_VECTOR({_unit(d)}, {v}) {n}_v[{block}];" for n, d in moved),
        fetched=_fetched(
            block,
            "t + (b + u) * deep + deep_id",
            f"{at([n for n, _ in reads])} {fetch}" if reads else "",
        ),
        taken=_item(form, steps, "accs[k]", given, "k"),
        put=f"{{ {at([n for n, _ in writes])} {put} }}" if writes else "",
        last=_item(form, steps, "accs[k]", {}, "k"),
        out_at="",
        result=_result(op, form, "(o + k)", "segment", steps.index),
    )


_SHORT = Template("""\
PG_KERNEL void chain_short($parameters)
{
    $start
    (void)n_red; (void)segments; (void)lanes;
    for (pg_i64 o = PG_ID(0); o < n_out; o += PG_IDS(0)) {
        red_acc accs[$sums];
        PG_UNROLL for (int k = 0; k < $sums; k++)
            accs[k] = red_none();
        $rows
        $items
        PG_UNROLL for (int k = 1; k < $sums; k++)
            accs[0] = red_join(accs[0], accs[k]);
        red_acc acc = accs[0];
        $result
    }
}
""")


def _gpu_short(op: Operation, form: Form, steps: Steps) -> str:
    """Rows of a few items, each by one work-item: what _gpu_rows() does with them, in its
    order."""
    v, n = form.vector, steps.short
    sums = min(v, 4)
    whole = n // v * v if v > 1 else 0  # items that are taken by vectors, in rows that allow it

    def loop(begin: int, end: int, acc: str) -> str:
        item = _item(form, steps, acc, {})
        return f"PG_UNROLL for (pg_i64 r = {begin}; r < {end}; r++) {item}"

    items = loop(0, n, "accs[0]")
    if whole:
        by_vectors = f"{loop(0, whole, f'accs[r % {sums}]')} {loop(whole, n, 'accs[0]')}"
        items = f"if (o * {n} % {v} == 0) {{ {by_vectors} }} else {{ {items} }}"
    return _SHORT.fill(
        parameters=_parameters(op, form, steps),
        start=_start(op, form, steps),
        sums=sums,
        rows=_rows(form, steps),
        items=items,
        result=_result(op, form, "o", "0", steps.index),
    )


def source(op: Operation, form: Form, steps: Steps) -> tuple[str, str]:
    """Return (source without the dialect's prefix, name) of the kernel."""
    vectors = ""
    if form.vector > 1:
        units = dict.fromkeys(_unit(d) for _, d in _vectors_of(steps))
        vectors = "".join(f"PG_DECLARE_VECTOR({unit}, {form.vector})\n" for unit in units)
    if steps.short:
        return op.text + steps.helpers + _gpu_short(op, form, steps), "chain_short"
    make = _gpu_columns if form.columns else _gpu_rows
    text = op.text + steps.helpers + vectors + make(op, form, steps)
    return text, "chain_columns" if form.columns else "chain_rows"
