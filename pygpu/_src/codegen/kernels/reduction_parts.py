"""Common parts of a reduction's kernels: which kernel it is, its parameters, reading and adding an
item, and storing a result. See reduction.py."""

from __future__ import annotations

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.accumulators import Operation
from pygpu._src.codegen.template import Template
from pygpu._src.util.frozen import Frozen


class Form(Frozen):
    """The variant of the kernel.

    columns: kernel over columns, else over rows. kept, reduced: numbers of axes, at least 1.
    vector: items per access, along the reduced axis of rows, along the kept axis of columns; 1 if
    they are not adjacent in all operands. dense: they are adjacent. masked: there is an operand w.
    parts: results are stored in scratch memory as red_acc. initial: there is an initial value.
    small: indices of the reduced axes fit into 32 bits.
    """

    columns: bool
    kept: int
    reduced: int
    vector: int
    dense: bool
    masked: bool
    parts: bool
    initial: bool
    small: bool


def names_of(op: Operation) -> list[str]:
    return ["x", "y", *(f"x{k}" for k in range(2, len(op.inputs)))][: len(op.inputs)]


def operands_of(op: Operation, form: Form) -> list[tuple[str, str]]:
    """(name, storage type) of the operands."""
    found = [(n, dtypes.storage_type(d)) for n, d in zip(names_of(op), op.inputs, strict=True)]
    return [*found, ("w", "pg_b8")] if form.masked else found


def parameters_of(op: Operation, form: Form) -> str:
    lines = [f"PG_ARRAY_IN({t}, {n})" for n, t in operands_of(op, form)]
    lines.append("PG_ARRAY(red_acc, parts)" if form.parts else f"PG_ARRAY({out_type(op)}, out)")
    lines.append("pg_i64 n_out, pg_i64 n_red, pg_i64 segments, pg_i32 lanes")
    lines += [f"pg_i64 kept{k}" for k in range(1, form.kept)]
    lines += [f"pg_i64 reduced{k}" for k in range(1, form.reduced)]
    for name, _ in operands_of(op, form):
        lines += [f"pg_i64 {name}_k{k}" for k in range(form.kept)]
        lines += [f"pg_i64 {name}_r{k}" for k in range(form.reduced)]
    lines += [f"pg_i64 out_k{k}" for k in range(form.kept)]
    return ", ".join([*lines, *finish_parameters(op, form.initial)])


def real_type(op: Operation) -> str:
    return "pg_f64" if dtypes.needs_fp64(op.number, op.out) else "pg_f32"


def finish_parameters(op: Operation, initial: bool) -> list[str]:
    lines = [f"pg_i64 count, {real_type(op)} ddof"]
    if initial:
        part = {"c64": "pg_f32", "c128": "pg_f64"}.get(dtypes.code(op.number))
        lines.append(
            f"{part} initial_re, {part} initial_im"
            if part
            else f"{dtypes.compute_type(op.number)} initial"
        )
    return lines + [f"{t} {n}" for t, n in zip(op.scalars, scalars_of(op), strict=True)]


def out_type(op: Operation) -> str:
    return dtypes.storage_type(op.out)


def finish_of(op: Operation, initial: bool, acc: str) -> str:
    begin = ""
    if initial:
        code = dtypes.code(op.number)
        value = f"pg_{code}_make(initial_re, initial_im)" if code[0] == "c" else "initial"
        begin = f"{acc} = red_begin({acc}, {value}); "
    target = f"(PG_GLOBAL {out_type(op)} *)((PG_GLOBAL char *)out + (out_at))"
    return f"{begin}red_store({target}, {acc}, count, ddof);"


def unravel_at(names: list[str], prefix: str, count: int, index: str, type_: str) -> str:
    """Statements that add the offsets of *index* along axes to ``<name>_at``; the last axis varies
    fastest."""
    key = prefix[0]
    if count == 1:
        return " ".join(f"{n}_at += (pg_i64)({index}) * {n}_{key}0;" for n in names)
    lines = [f"{type_} rest = ({type_})({index});"]
    for k in range(count - 1, 0, -1):
        lines.append(f"{type_} left{k} = rest / ({type_}){prefix}{k};")
        lines.append(
            f"pg_i64 i{k} = (pg_i64)(rest - left{k} * ({type_}){prefix}{k}); rest = left{k};"
        )
        lines += [f"{n}_at += i{k} * {n}_{key}{k};" for n in names]
    lines += [f"{n}_at += (pg_i64)rest * {n}_{key}0;" for n in names]
    return " ".join(lines)


def load_of(op: Operation, name: str, pointer: str, index: str = "0") -> str:
    dtype = op.inputs[names_of(op).index(name)]
    return dtypes.load(dtype, pointer, index)


def pointer_to(name: str, type_: str, offset: str) -> str:
    return f"((PG_GLOBAL const {type_} *)((PG_GLOBAL const char *){name} + ({offset})))"


def scalars_of(op: Operation) -> list[str]:
    """The names of the operation's own parameters."""
    return [f"scalar{k}" for k in range(len(op.scalars))]


def take_item(op: Operation, form: Form, acc: str, loads: dict[str, str], index: str) -> str:
    """The statement that adds one item; *loads* are expressions by operand."""
    args = ", ".join([*(loads[n] for n in names_of(op)), index, *scalars_of(op)])
    statement = f"{acc} = red_item({acc}, {args});"
    return f"if ({loads['w']}) {statement}" if form.masked else statement


def take_function(op: Operation, form: Form) -> str:
    """RED_TAKE(acc, r): adds one item, with index r among the reduced ones, of the row at x_row,
    ..."""
    operands = operands_of(op, form)
    names = [n for n, _ in operands]
    index = "pg_u32" if form.small else "pg_i64"
    lines = []
    if form.dense and not form.columns:
        loads = {
            n: (f"x_row[{'r'}]" if n == "w" else load_of(op, n, f"{n}_row", "r")) for n in names
        }
        if "w" in loads:
            loads["w"] = "w_row[r]"
        lines.append(f"    {take_item(op, form, 'acc', loads, 'r')}")
    else:
        for n, _ in operands:
            lines.append(f"    pg_i64 {n}_at = 0;")
        lines.append("    " + unravel_at(names, "reduced", form.reduced, "r", index))
        loads = {}
        for n, t in operands:
            pointer = f"((PG_GLOBAL const {t} *)((PG_GLOBAL const char *){n}_row + {n}_at))"
            loads[n] = f"*{pointer}" if n == "w" else load_of(op, n, pointer)
        lines.append(f"    {take_item(op, form, 'acc', loads, 'r')}")
    params = ", ".join(f"PG_GLOBAL const {t} *{n}_row" for n, t in operands)
    strides = "".join(f", pg_i64 {n}_r{k}" for n in names for k in range(form.reduced))
    axes = "".join(f", pg_i64 reduced{k}" for k in range(1, form.reduced))
    scalars = "".join(f", {t} {n}" for t, n in zip(op.scalars, scalars_of(op), strict=True))
    body = "\n".join(lines)
    return f"""\
PG_INLINE red_acc red_take(red_acc acc, pg_i64 r, {params}{strides}{axes}{scalars})
{{
{body}
    return acc;
}}
"""


def take_at(op: Operation, form: Form, acc: str, index: str) -> str:
    names = [n for n, _ in operands_of(op, form)]
    rows = ", ".join(f"{n}_row" for n in names)
    strides = "".join(f", {n}_r{k}" for n in names for k in range(form.reduced))
    axes = "".join(f", reduced{k}" for k in range(1, form.reduced))
    scalars = "".join(f", {n}" for n in scalars_of(op))
    return f"{acc} = red_take({acc}, {index}, {rows}{strides}{axes}{scalars});"


def start_of(op: Operation, form: Form) -> str:
    lines = [f"PG_START_IN({t}, {n});" for n, t in operands_of(op, form)]
    lines.append("PG_START(red_acc, parts);" if form.parts else f"PG_START({out_type(op)}, out);")
    return " ".join(lines)


def rows_of(op: Operation, form: Form, index: str) -> str:
    """Declares x_row, ... of result *index*, and out_at."""
    operands = operands_of(op, form)
    names = [n for n, _ in operands]
    moved = [*names, *([] if form.parts else ["out"])]
    lines = [" ".join(f"pg_i64 {n}_at = 0;" for n in moved)]
    lines.append("{ " + unravel_at(moved, "kept", form.kept, index, "pg_i64") + " }")
    lines += [f"PG_GLOBAL const {t} *{n}_row = {pointer_to(n, t, n + '_at')};" for n, t in operands]
    return "\n        ".join(lines)


def result_of(op: Operation, form: Form, acc: str, index: str, segment: str) -> str:
    if form.parts:
        part_index = (
            f"({segment}) * n_out + ({index})"
            if form.columns
            else f"({index}) * segments + ({segment})"
        )
        return f"parts[{part_index}] = {acc};"
    return finish_of(op, form.initial, acc)


def out_at_of(form: Form, index: str) -> str:
    if form.parts:
        return ""
    return "pg_i64 out_at = 0; { " + unravel_at(["out"], "kept", form.kept, index, "pg_i64") + " }"


# ---- shared by reductions of arrays and of chains: joining the sums of work-items ----------------

ROWS = Template("""\
PG_KERNEL void $name($parameters)
{
    PG_LOCAL red_acc sums[$group];
    $start
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0), lane = id & (lanes - 1), row = id / lanes;
    pg_i64 rows = $group / lanes, tile = (pg_i64)lanes * $stretch, step = tile * segments;
    pg_i64 total = ((n_out + rows - 1) / rows) * segments;
    for (pg_i64 g = PG_GROUP_ID(0); g < total; g += PG_GROUPS(0)) {
        pg_i64 segment = g % segments, o = g / segments * rows + row;
        red_acc accs[$sums];
        PG_UNROLL for (int k = 0; k < $sums; k++)
            accs[k] = red_none();
        if (o < n_out) {
        $rows
            pg_i64 t = segment * tile;
$main            for (; t < n_red; t += step) {
                pg_i64 end = t + tile < n_red ? t + tile : n_red;
                for (pg_i64 r = t + lane; r < end; r += lanes) { $take_one }
            }
        }
        PG_UNROLL for (int k = 1; k < $sums; k++)
            accs[0] = red_join(accs[0], accs[k]);
        sums[id] = accs[0];
        for (pg_i32 d = lanes >> 1; d > 0; d >>= 1) {
            PG_BARRIER;
            if (lane < d)
                sums[id] = red_join(sums[id], sums[id + d]);
        }
        if (lane == 0 && o < n_out) {
            red_acc acc = sums[id];
            $out_at
            $result
        }
        PG_BARRIER;
    }
}
""")

COLUMN_JOIN = """\
        PG_ROLLED for (int k = 0; k < $v; k++) {
            red_acc mine = accs[0];
            PG_UNROLL for (int j = 1; j < $v; j++) /* an index that varies would need memory */
                if (j == k)
                    mine = accs[j];
            PG_BARRIER;
            sums[id] = mine;
            for (pg_i32 d = deep >> 1; d > 0; d >>= 1) {
                PG_BARRIER;
                if (deep_id < d)
                    sums[id] = red_join(sums[id], sums[id + d * lanes]);
            }
            if (deep_id == 0 && o < n_out) {
                red_acc acc = sums[id];
                $out_at
                $result
            }
        }
        PG_BARRIER;
    }
}
"""
