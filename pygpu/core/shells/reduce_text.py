"""The kernels of a reduction: over rows (the reduced items of a result lie side by side, or anywhere),
over columns (those of neighbouring results do), and the pass that joins the parts of each result.

The text of an operation (see :mod:`reduce_ops`) comes before; arrays are operands ``x`` and, if the
operation has two, ``y``; ``w`` is a mask. Where a result is computed in *segments* parts, by that many
groups, the parts go to scratch memory as red_acc and ``red_final`` joins them, always in the same
order: results are the same in every run.

Every kernel takes the operands, then n_out, n_red (numbers of results, and of items in each),
segments, the lengths of the kept axes but the first, of the reduced axes but the first, and for each
operand its strides along these axes (kept, then reduced) [bytes].
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import dtypes
from ..reduce_ops import Operation

__all__ = ["GROUP", "Form", "cpu_columns", "final_source", "source"]

GROUP = 256  # work-items of a group on a GPU
UNROLL = 4  # vectors that a work-item of a GPU has on their way
CPU_LANES = 16  # accumulators side by side, for the compiler to make vectors of
CPU_BLOCK = 32  # items for each of them before they are joined
CPU_ITEMS = 2048  # items that red_block() is given at a time
# Parts are joined as neighbours of equal length, like the digits of a binary number carry: a sum of n
# parts goes through log2(n) roundings, and not n.
CPU_SUMS = """\
#define RED_SUMS 64
PG_INLINE void red_push(red_acc *sums, pg_i64 pushed, red_acc part)
{
    int top = 0;
    for (pg_i64 bits = pushed; bits != 0; bits &= bits - 1)
        top++;
    for (; pushed & 1; pushed >>= 1)
        part = red_join(sums[--top], part);
    sums[top] = part;
}
PG_INLINE red_acc red_total(red_acc *sums, pg_i64 pushed)
{
    int top = 0;
    for (; pushed != 0; pushed &= pushed - 1)
        top++;
    red_acc total = top > 0 ? sums[--top] : red_none();
    while (top > 0) {
        top--;
        total = red_join(sums[top], total);
    }
    return total;
}
"""
CPU_COLUMNS = 16384  # bytes of accumulators at a time: the longer the stretches, the faster


@dataclass(frozen=True)
class Form:
    """Which of the kernels it is.

    columns: kernel over columns, else over rows. kept, reduced: numbers of axes, at least 1. vector:
    items in one access, along the reduced axis of rows, along the kept axis of columns; 1 if they
    are not neighbours in all operands. dense: they are neighbours. masked: there is an operand w.
    parts: results go to scratch memory as red_acc. initial: there is an initial value. small: indices
    of the reduced axes fit into 32 bits.
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


def _names(op: Operation) -> list[str]:
    return ["x", "y", *(f"x{k}" for k in range(2, len(op.inputs)))][: len(op.inputs)]


def _operands(op: Operation, form: Form) -> list[tuple[str, str]]:
    """(name, storage type) of what is read."""
    found = [(n, dtypes.storage_type(d)) for n, d in zip(_names(op), op.inputs, strict=True)]
    return [*found, ("w", "pg_b8")] if form.masked else found


def _parameters(op: Operation, form: Form) -> str:
    lines = [f"PG_ARRAY_IN({t}, {n})" for n, t in _operands(op, form)]
    lines.append("PG_ARRAY(red_acc, parts)" if form.parts else f"PG_ARRAY({_out(op)}, out)")
    lines.append("pg_i64 n_out, pg_i64 n_red, pg_i64 segments, pg_i32 lanes")
    lines += [f"pg_i64 kept{k}" for k in range(1, form.kept)]
    lines += [f"pg_i64 reduced{k}" for k in range(1, form.reduced)]
    for name, _ in _operands(op, form):
        lines += [f"pg_i64 {name}_k{k}" for k in range(form.kept)]
        lines += [f"pg_i64 {name}_r{k}" for k in range(form.reduced)]
    lines += [f"pg_i64 out_k{k}" for k in range(form.kept)]
    return ", ".join([*lines, *_finish_parameters(op, form.initial)])


def _real(op: Operation) -> str:
    return "pg_f64" if dtypes.needs_fp64(op.number, op.out) else "pg_f32"


def _finish_parameters(op: Operation, initial: bool) -> list[str]:
    lines = [f"pg_i64 count, {_real(op)} ddof"]
    if initial:
        part = {"c64": "pg_f32", "c128": "pg_f64"}.get(dtypes.code(op.number))
        lines.append(
            f"{part} initial_re, {part} initial_im"
            if part
            else f"{dtypes.compute_type(op.number)} initial"
        )
    return lines + [f"{t} {n}" for t, n in zip(op.scalars, _scalars(op), strict=True)]


def _out(op: Operation) -> str:
    return dtypes.storage_type(op.out)


def _finish(op: Operation, initial: bool, acc: str, where: str) -> str:
    begin = ""
    if initial:
        code = dtypes.code(op.number)
        value = f"pg_{code}_make(initial_re, initial_im)" if code[0] == "c" else "initial"
        begin = f"{acc} = red_begin({acc}, {value}); "
    target = f"(PG_GLOBAL {_out(op)} *)((PG_GLOBAL char *)out + ({where}))"
    return f"{begin}red_store({target}, {acc}, count, ddof);"


def _unravel(names: list[str], prefix: str, count: int, index: str, type_: str) -> str:
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


def _reduced_axes(form: Form) -> int:
    return form.reduced


def _load(op: Operation, name: str, pointer: str, index: str = "0") -> str:
    dtype = op.inputs[_names(op).index(name)]
    return dtypes.load(dtype, pointer, index)


def _pointer(name: str, type_: str, offset: str) -> str:
    return f"((PG_GLOBAL const {type_} *)((PG_GLOBAL const char *){name} + ({offset})))"


def _scalars(op: Operation) -> list[str]:
    """The names of the operation's own parameters."""
    return [f"scalar{k}" for k in range(len(op.scalars))]


def _item(op: Operation, form: Form, acc: str, loads: dict[str, str], index: str) -> str:
    """The statement that takes one item in; *loads* are expressions by operand."""
    args = ", ".join([*(loads[n] for n in _names(op)), index, *_scalars(op)])
    statement = f"{acc} = red_item({acc}, {args});"
    return f"if ({loads['w']}) {statement}" if form.masked else statement


def _at_macros(op: Operation, form: Form) -> str:
    """RED_TAKE(acc, r): one item, at index r of the reduced ones, of the row at x_row, ..."""
    operands = _operands(op, form)
    names = [n for n, _ in operands]
    index = "pg_u32" if form.small else "pg_i64"
    lines = []
    if form.dense and not form.columns:
        loads = {n: (f"x_row[{'r'}]" if n == "w" else _load(op, n, f"{n}_row", "r")) for n in names}
        if "w" in loads:
            loads["w"] = "w_row[r]"
        lines.append(f"    {_item(op, form, 'acc', loads, 'r')}")
    else:
        for n, _ in operands:
            lines.append(f"    pg_i64 {n}_at = 0;")
        lines.append("    " + _unravel(names, "reduced", form.reduced, "r", index))
        loads = {}
        for n, t in operands:
            pointer = f"((PG_GLOBAL const {t} *)((PG_GLOBAL const char *){n}_row + {n}_at))"
            loads[n] = f"*{pointer}" if n == "w" else _load(op, n, pointer)
        lines.append(f"    {_item(op, form, 'acc', loads, 'r')}")
    params = ", ".join(f"PG_GLOBAL const {t} *{n}_row" for n, t in operands)
    strides = "".join(f", pg_i64 {n}_r{k}" for n in names for k in range(form.reduced))
    axes = "".join(f", pg_i64 reduced{k}" for k in range(1, form.reduced))
    scalars = "".join(f", {t} {n}" for t, n in zip(op.scalars, _scalars(op), strict=True))
    body = "\n".join(lines)
    return f"""\
PG_INLINE red_acc red_take(red_acc acc, pg_i64 r, {params}{strides}{axes}{scalars})
{{
{body}
    return acc;
}}
"""


def _take(op: Operation, form: Form, acc: str, index: str) -> str:
    names = [n for n, _ in _operands(op, form)]
    rows = ", ".join(f"{n}_row" for n in names)
    strides = "".join(f", {n}_r{k}" for n in names for k in range(form.reduced))
    axes = "".join(f", reduced{k}" for k in range(1, form.reduced))
    scalars = "".join(f", {n}" for n in _scalars(op))
    return f"{acc} = red_take({acc}, {index}, {rows}{strides}{axes}{scalars});"


def _start(op: Operation, form: Form) -> str:
    lines = [f"PG_START_IN({t}, {n});" for n, t in _operands(op, form)]
    lines.append("PG_START(red_acc, parts);" if form.parts else f"PG_START({_out(op)}, out);")
    return " ".join(lines)


def _rows_of(op: Operation, form: Form, index: str) -> str:
    """Declares x_row, ... of result *index*, and out_at."""
    operands = _operands(op, form)
    names = [n for n, _ in operands]
    moved = [*names, *([] if form.parts else ["out"])]
    lines = [" ".join(f"pg_i64 {n}_at = 0;" for n in moved)]
    lines.append("{ " + _unravel(moved, "kept", form.kept, index, "pg_i64") + " }")
    lines += [f"PG_GLOBAL const {t} *{n}_row = {_pointer(n, t, n + '_at')};" for n, t in operands]
    return "\n        ".join(lines)


def _result(op: Operation, form: Form, acc: str, index: str, segment: str) -> str:
    if form.parts:
        place = (
            f"({segment}) * n_out + ({index})"
            if form.columns
            else f"({index}) * segments + ({segment})"
        )
        return f"parts[{place}] = {acc};"
    return _finish(op, form.initial, acc, "out_at")


def _vectors(op: Operation, form: Form) -> str:
    if form.vector == 1:
        return ""
    types = dict.fromkeys(t for _, t in _operands(op, form))
    return "".join(f"PG_DECLARE_VECTOR({t}, {form.vector})\n" for t in types)


def _vector_loads(op: Operation, form: Form, index: str, v: str, item: str) -> dict[str, str]:
    loads = {}
    for n, _ in _operands(op, form):
        element = f"{n}_v{v}.item[{item}]"
        if n != "w" and dtypes.code(op.inputs[_names(op).index(n)]) == "f16":
            element = f"RED_HALF({element})"
        loads[n] = element
    return loads


def _gpu_rows(op: Operation, form: Form) -> str:
    operands = _operands(op, form)
    v, unroll = form.vector, UNROLL
    sums = min(v, 4)
    main = ""
    if v > 1:
        aligned = " && ".join(
            f"PG_ALIGNED({n}_row, sizeof(PG_VECTOR({t}, {v})))" for n, t in operands
        )
        reads = "\n".join(
            f"                    PG_VECTOR({t}, {v}) {n}_v[{unroll}];" for n, t in operands
        )
        fetch = " ".join(
            f"{n}_v[u] = *(PG_GLOBAL const PG_VECTOR({t}, {v}) *)({n}_row + t + (u * lanes + lane) * {v});"
            for n, t in operands
        )
        taken = _item(
            op,
            form,
            f"accs[k % {sums}]",
            _vector_loads(op, form, "", "[u]", "k"),
            f"t + (u * lanes + lane) * {v} + k",
        )
        one_reads = " ".join(
            f"PG_VECTOR({t}, {v}) {n}_v[1]; "
            f"{n}_v[0] = *(PG_GLOBAL const PG_VECTOR({t}, {v}) *)({n}_row + r);"
            for n, t in operands
        )
        one_taken = _item(
            op, form, f"accs[k % {sums}]", _vector_loads(op, form, "", "[0]", "k"), "r + k"
        )
        main = f"""\
            if ({aligned}) {{
                for (; t + tile <= n_red; t += step) {{
{reads}
                    PG_UNROLL for (int u = 0; u < {unroll}; u++) {{ {fetch} }}
                    PG_UNROLL for (int u = 0; u < {unroll}; u++)
                        PG_UNROLL for (int k = 0; k < {v}; k++) {{ {taken} }}
                }}
                if (t < n_red) {{
                    pg_i64 r = t + lane * {v};
                    for (; r + {v} <= n_red; r += lanes * {v}) {{
                        {one_reads}
                        PG_UNROLL for (int k = 0; k < {v}; k++) {{ {one_taken} }}
                    }}
                    for (pg_i64 end = r + {v} < n_red ? r + {v} : n_red; r < end; r++) {{ {_take(op, form, "accs[0]", "r")} }}
                }}
                t = n_red;
            }}
"""
    return f"""\
PG_KERNEL void red_rows({_parameters(op, form)})
{{
    PG_LOCAL red_acc sums[{GROUP}];
    {_start(op, form)}
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0), lane = id & (lanes - 1), row = id / lanes;
    pg_i64 rows = {GROUP} / lanes, tile = (pg_i64)lanes * {v * unroll}, step = tile * segments;
    pg_i64 total = ((n_out + rows - 1) / rows) * segments;
    for (pg_i64 g = PG_GROUP_ID(0); g < total; g += PG_GROUPS(0)) {{
        pg_i64 segment = g % segments, o = g / segments * rows + row;
        red_acc accs[{sums}];
        PG_UNROLL for (int k = 0; k < {sums}; k++)
            accs[k] = red_none();
        if (o < n_out) {{
        {_rows_of(op, form, "o")}
            pg_i64 t = segment * tile;
{main}            for (; t < n_red; t += step) {{
                pg_i64 end = t + tile < n_red ? t + tile : n_red;
                for (pg_i64 r = t + lane; r < end; r += lanes) {{ {_take(op, form, "accs[0]", "r")} }}
            }}
        }}
        PG_UNROLL for (int k = 1; k < {sums}; k++)
            accs[0] = red_join(accs[0], accs[k]);
        sums[id] = accs[0];
        for (pg_i32 d = lanes >> 1; d > 0; d >>= 1) {{
            PG_BARRIER;
            if (lane < d)
                sums[id] = red_join(sums[id], sums[id + d]);
        }}
        if (lane == 0 && o < n_out) {{
            red_acc acc = sums[id];
            {_out_at(op, form, "o")}
            {_result(op, form, "acc", "o", "segment")}
        }}
        PG_BARRIER;
    }}
}}
"""


def _out_at(op: Operation, form: Form, index: str) -> str:
    if form.parts:
        return ""
    return "pg_i64 out_at = 0; { " + _unravel(["out"], "kept", form.kept, index, "pg_i64") + " }"


def _gpu_columns(op: Operation, form: Form) -> str:
    """lanes work-items side by side with vector columns each, the others along the rows."""
    operands = _operands(op, form)
    v, unroll = form.vector, 8 if op.plain else 4
    index = "pg_u32" if form.small else "pg_i64"
    names = [n for n, _ in operands]
    if v > 1:
        reads = " ".join(f"PG_VECTOR({t}, {v}) {n}_v[{unroll}];" for n, t in operands)
        fetch = " ".join(
            f"{n}_v[u] = red_fetch_{n}({n}_row, {n}_at, aligned);" for n, _ in operands
        )
    else:
        reads = " ".join(f"struct {{ {t} item[1]; }} {n}_v[{unroll}];" for n, t in operands)
        fetch = " ".join(
            f"{n}_v[u].item[0] = *(PG_GLOBAL const {t} *)((PG_GLOBAL const char *){n}_row + {n}_at);"
            for n, t in operands
        )
    fetchers = ""
    if v > 1:
        for n, t in operands:
            fetchers += f"""\
PG_INLINE PG_VECTOR({t}, {v}) red_fetch_{n}(PG_GLOBAL const {t} *row, pg_i64 at, int aligned)
{{
    PG_GLOBAL const {t} *p = (PG_GLOBAL const {t} *)((PG_GLOBAL const char *)row + at);
    PG_VECTOR({t}, {v}) r;
    if (aligned)
        r = *(PG_GLOBAL const PG_VECTOR({t}, {v}) *)p;
    else
        PG_UNROLL for (int k = 0; k < {v}; k++)
            r.item[k] = p[k];
    return r;
}}
"""
    pieces = " && ".join(f"PG_ALIGNED({n}, sizeof(PG_VECTOR({t}, {v})))" for n, t in operands)
    aligned = f"    int aligned = {pieces};\n" if v > 1 else ""
    offsets = " ".join(f"pg_i64 {n}_at = 0;" for n in names)
    unravel = _unravel(names, "reduced", form.reduced, "r", index)
    taken = _item(
        op, form, "accs[k]", _vector_loads(op, form, "", "[u]", "k"), "t + u * deep + deep_id"
    )
    last = _item(op, form, "accs[k]", _vector_loads(op, form, "", "[u]", "k"), "r")
    return f"""\
{fetchers}PG_KERNEL void red_columns({_parameters(op, form)})
{{
    PG_LOCAL red_acc sums[{GROUP}];
    {_start(op, form)}
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0), x_lane = id & (lanes - 1), deep_id = id / lanes, deep = {GROUP} / lanes;
    pg_i64 width = (pg_i64)lanes * {v}, tile = (pg_i64)deep * {unroll}, step = tile * segments;
    pg_i64 total = ((n_out + width - 1) / width) * segments;
{aligned}    for (pg_i64 g = PG_GROUP_ID(0); g < total; g += PG_GROUPS(0)) {{
        pg_i64 segment = g / ((n_out + width - 1) / width);
        pg_i64 o = (g % ((n_out + width - 1) / width)) * width + x_lane * {v};
        red_acc accs[{v}];
        PG_UNROLL for (int k = 0; k < {v}; k++)
            accs[k] = red_none();
        if (o < n_out) {{
        {_rows_of(op, form, "o")}
            pg_i64 t = segment * tile;
            for (; t + tile <= n_red; t += step) {{
                {reads}
                PG_UNROLL for (int u = 0; u < {unroll}; u++) {{
                    pg_i64 r = t + u * deep + deep_id;
                    {offsets} {unravel}
                    {fetch}
                }}
                PG_UNROLL for (int u = 0; u < {unroll}; u++)
                    PG_UNROLL for (int k = 0; k < {v}; k++) {{ {taken} }}
            }}
            for (pg_i64 r = t + deep_id; r < n_red; r += deep) {{
                {reads.replace(f"[{unroll}]", "[1]")}
                const int u = 0;
                {offsets} {unravel}
                {fetch}
                PG_UNROLL for (int k = 0; k < {v}; k++) {{ {last} }}
            }}
        }}
        PG_UNROLL for (int k = 0; k < {v}; k++) {{
            PG_BARRIER;
            sums[id] = accs[k];
            for (pg_i32 d = deep >> 1; d > 0; d >>= 1) {{
                PG_BARRIER;
                if (deep_id < d)
                    sums[id] = red_join(sums[id], sums[id + d * lanes]);
            }}
            if (deep_id == 0 && o < n_out) {{
                red_acc acc = sums[id];
                {_out_at(op, form, "(o + k)")}
                {_result(op, form, "acc", "(o + k)", "segment")}
            }}
        }}
        PG_BARRIER;
    }}
}}
"""


def _cpu_rows(op: Operation, form: Form) -> str:
    """A work-item for each segment of a range of results; lanes is not used."""
    main = ""
    if op.block and form.dense:
        taken = "red_push(sums, pushed++, red_block(red_none(), x_row, r, (int)n));"
        if op.key[0] in ("argmin", "argmax"):  # most blocks have nothing better and are left early
            taken = "sums[0] = red_block(pushed ? sums[0] : red_none(), x_row, r, (int)n); pushed = 1;"
        main = f"""\
            for (; r < end; r += {CPU_ITEMS}) {{
                pg_i64 n = end - r < {CPU_ITEMS} ? end - r : {CPU_ITEMS};
                {taken}
            }}
"""
    elif op.plain and form.dense:
        main = f"""\
            while (r + {CPU_LANES} <= end) {{
                red_acc accs[{CPU_LANES}];
                pg_i64 n = (end - r) / {CPU_LANES};
                for (int k = 0; k < {CPU_LANES}; k++)
                    accs[k] = red_none();
                if (n > {CPU_BLOCK})
                    n = {CPU_BLOCK};
                for (; n > 0; n--, r += {CPU_LANES})
                    for (int k = 0; k < {CPU_LANES}; k++) {{ {_take(op, form, "accs[k]", "r + k")} }}
                for (int d = {CPU_LANES // 2}; d > 0; d >>= 1)
                    for (int k = 0; k < d; k++)
                        accs[k] = red_join(accs[k], accs[k + d]);
                red_push(sums, pushed++, accs[0]);
            }}
"""
    return f"""\
PG_KERNEL void red_rows({_parameters(op, form)})
{{
    {_start(op, form)}
    pg_i64 workers = PG_IDS(0) / segments, each = (n_out + workers - 1) / workers;
    pg_i64 segment = PG_ID(0) % segments, o = PG_ID(0) / segments * each;
    pg_i64 last = o + each < n_out ? o + each : n_out;
    pg_i64 length = (n_red / segments + {CPU_LANES}) / {CPU_LANES} * {CPU_LANES};
    pg_i64 start = segment * length, end = start + length < n_red ? start + length : n_red;
    for (; o < last; o++) {{
        {_rows_of(op, form, "o")}
        red_acc sums[RED_SUMS];
        pg_i64 r = start, pushed = 0;
        {{
{main}        }}
        while (r < end) {{
            red_acc part = red_none();
            pg_i64 stop = r + {CPU_BLOCK} < end ? r + {CPU_BLOCK} : end;
            for (; r < stop; r++) {{ {_take(op, form, "part", "r")} }}
            red_push(sums, pushed++, part);
        }}
        red_acc acc = red_total(sums, pushed);
        {_result(op, form, "acc", "o", "segment")}
    }}
}}
"""


def _cpu_columns(op: Operation, form: Form) -> str:
    """A work-item for each segment of a stretch of neighbouring results; vector is not used."""
    operands = _operands(op, form)
    names = [n for n, _ in operands]
    index = "pg_u32" if form.small else "pg_i64"
    width = cpu_columns(op)
    offsets = " ".join(f"pg_i64 {n}_at = 0;" for n in names)
    unravel = _unravel(names, "reduced", form.reduced, "r", index)
    rows = "\n            ".join(
        f"PG_GLOBAL const {t} *{n}_line = "
        f"(PG_GLOBAL const {t} *)((PG_GLOBAL const char *){n}_row + {n}_at);"
        for n, t in operands
    )
    loads = {n: "w_line[k]" if n == "w" else _load(op, n, f"{n}_line", "k") for n in names}
    inner = f"kept{form.kept - 1}" if form.kept > 1 else "n_out"
    return f"""\
PG_KERNEL void red_columns({_parameters(op, form)})
{{
    {_start(op, form)}
    pg_i64 across = ({inner} + {width - 1}) / {width}, tiles = n_out / {inner} * across;
    pg_i64 length = (n_red + segments - 1) / segments;
    for (pg_i64 g = PG_ID(0); g < tiles * segments; g += PG_IDS(0)) {{
        pg_i64 segment = g / tiles, tile = g % tiles;
        pg_i64 o = tile / across * {inner} + tile % across * {width};
        pg_i64 m = {inner} - tile % across * {width};
        pg_i64 start = segment * length, end = start + length < n_red ? start + length : n_red;
        int columns = (int)(m < {width} ? m : {width});
        {_rows_of(op, form, "o")}
        red_acc accs[{width}];
        for (int k = 0; k < {width}; k++)
            accs[k] = red_none();
        for (pg_i64 r = start; r < end; r++) {{
            {offsets} {unravel}
            {rows}
            if (columns == {width}) {{
                for (int k = 0; k < {width}; k++) {{ {_item(op, form, "accs[k]", loads, "r")} }}
            }} else {{
                for (int k = 0; k < columns; k++) {{ {_item(op, form, "accs[k]", loads, "r")} }}
            }}
        }}
        for (int k = 0; k < columns; k++) {{
            {_out_at(op, form, "(o + k)").replace("out_at", "out_here") if not form.parts else ""}
            {_result(op, form, "accs[k]", "(o + k)", "segment").replace("out_at", "out_here")}
        }}
    }}
}}
"""


def cpu_columns(op: Operation) -> int:
    """Results that a work-item of the kernel over columns computes at a time."""
    return CPU_COLUMNS // op.acc_bytes if op.plain else 256


def _half(op: Operation) -> str:
    """RED_HALF(bits): the value of a half that is not in global memory."""
    if "half" not in op.features:
        return ""
    return """\
#ifdef __OPENCL_VERSION__
PG_INLINE pg_f32 red_half(pg_f16 bits) { return vload_half(0, (const half *)&bits); }
#else
PG_INLINE pg_f32 red_half(pg_f16 bits) { return __half2float(__ushort_as_half(bits)); }
#endif
#define RED_HALF(bits) red_half(bits)
"""


def source(op: Operation, form: Form, cpu: bool) -> str:
    """The text of the kernel red_rows or red_columns, without the dialect's prefix."""
    text = op.text + _half(op) + (op.block + CPU_SUMS if cpu else "")
    if not form.columns:
        text += _at_macros(op, form)
    if cpu:
        return text + (_cpu_columns(op, form) if form.columns else _cpu_rows(op, form))
    text += _vectors(op, form)
    return text + (_gpu_columns(op, form) if form.columns else _gpu_rows(op, form))


def final_source(op: Operation, kept: int, initial: bool, cpu: bool) -> str:
    """The kernel that joins parts: part *s* of result *o* is at parts[o * by_out + s * by_part]."""
    names = ["out"]
    lines = ["PG_ARRAY_IN(red_acc, parts)", f"PG_ARRAY({_out(op)}, out)"]
    lines.append("pg_i64 n_out, pg_i64 n_parts, pg_i64 by_out, pg_i64 by_part, pg_i32 lanes")
    lines += [f"pg_i64 kept{k}" for k in range(1, kept)]
    lines += [f"pg_i64 out_k{k}" for k in range(kept)]
    lines += _finish_parameters(op, initial)
    parameters = ", ".join(lines)
    out_at = "pg_i64 out_at = 0; { " + _unravel(names, "kept", kept, "o", "pg_i64") + " }"
    start = f"PG_START_IN(red_acc, parts); PG_START({_out(op)}, out);"
    if cpu:
        body = f"""\
    PG_FOR(o, n_out) {{
        red_acc sums[RED_SUMS];
        for (pg_i64 s = 0; s < n_parts; s++)
            red_push(sums, s, parts[o * by_out + s * by_part]);
        red_acc acc = red_total(sums, n_parts);
        {out_at}
        {_finish(op, initial, "acc", "out_at")}
    }}
"""
    else:
        body = f"""\
    PG_LOCAL red_acc sums[{GROUP}];
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0), lane = id & (lanes - 1);
    pg_i64 rows = {GROUP} / lanes;
    for (pg_i64 g = PG_GROUP_ID(0); g * rows < n_out; g += PG_GROUPS(0)) {{
        pg_i64 o = g * rows + id / lanes;
        red_acc acc = red_none();
        if (o < n_out)
            for (pg_i64 s = lane; s < n_parts; s += lanes)
                acc = red_join(acc, parts[o * by_out + s * by_part]);
        sums[id] = acc;
        for (pg_i32 d = lanes >> 1; d > 0; d >>= 1) {{
            PG_BARRIER;
            if (lane < d)
                sums[id] = red_join(sums[id], sums[id + d]);
        }}
        if (lane == 0 && o < n_out) {{
            acc = sums[id];
            {out_at}
            {_finish(op, initial, "acc", "out_at")}
        }}
        PG_BARRIER;
    }}
"""
    text = op.text + (CPU_SUMS if cpu else "")
    return f"{text}PG_KERNEL void red_final({parameters})\n{{\n    {start}\n{body}}}\n"
