"""The kernels of a reduction: over rows (the reduced items of a result are adjacent, or have any
stride), over columns (the items of neighbouring results are adjacent), and the pass that joins the
parts of each result.

The source of an operation (see :mod:`pygpu._src.codegen.accumulators`) precedes them; arrays are
operands ``x`` and, if the operation has two, ``y``; ``w`` is a mask. If a result is computed in
*segments* parts, by that many groups, the parts are stored in scratch memory as red_acc and
``red_final`` joins them, always in the same order: results are the same in every run.

Every kernel takes the operands, then n_out, n_red (numbers of results, and of items in each),
segments, the lengths of the kept axes except the first, of the reduced axes except the first, and
for each operand its strides along these axes (kept, then reduced) [bytes].
"""

from __future__ import annotations

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.accumulators import Operation
from pygpu._src.codegen.template import Template

from . import reduction_cpu
from .reduction_parts import (
    COLUMN_JOIN,
    ROWS,
    Form,
    finish_of,
    finish_parameters,
    names_of,
    operands_of,
    out_at_of,
    out_type,
    parameters_of,
    result_of,
    rows_of,
    start_of,
    take_at,
    take_function,
    take_item,
    unravel_at,
)

GROUP = 256  # work-items per group on a GPU
UNROLL = 4  # vectors that a GPU's work-item has in flight


def _vectors(op: Operation, form: Form) -> str:
    if form.vector == 1:
        return ""
    types = dict.fromkeys(t for _, t in operands_of(op, form))
    return "".join(f"PG_DECLARE_VECTOR({t}, {form.vector})\n" for t in types)


def _vector_loads(op: Operation, form: Form, v: str) -> dict[str, str]:
    loads = {}
    for n, _ in operands_of(op, form):
        element = f"{n}_v{v}.item[k]"
        dtype = None if n == "w" else op.inputs[names_of(op).index(n)]
        if dtype is not None and dtypes.is_narrow(dtype):
            half = dtypes.code(dtype) == "f16"
            element = f"RED_HALF({element})" if half else dtypes.from_bits(dtype, element)
        loads[n] = element
    return loads


_ROW_VECTORS = Template("""\
            if ($aligned) {
                for (; t + tile <= n_red; t += step) {
$reads
                    PG_UNROLL for (int u = 0; u < $unroll; u++) { $fetch }
                    PG_UNROLL for (int u = 0; u < $unroll; u++)
                        PG_UNROLL for (int k = 0; k < $v; k++) { $taken }
                }
                if (t < n_red) {
                    pg_i64 r = t + lane * $v;
                    PG_ROLLED for (; r + $v <= n_red; r += lanes * $v) {
                        $one_reads
                        PG_UNROLL for (int k = 0; k < $v; k++) { $one_taken }
                    }
                    PG_ROLLED for (pg_i64 end = r + $v < n_red ? r + $v : n_red; r < end; r++) { $take_one }
                }
                t = n_red;
            }
""")


def _gpu_rows(op: Operation, form: Form) -> str:
    operands = operands_of(op, form)
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
        taken = take_item(
            op,
            form,
            f"accs[k % {sums}]",
            _vector_loads(op, form, "[u]"),
            f"t + (u * lanes + lane) * {v} + k",
        )
        one_reads = " ".join(
            f"PG_VECTOR({t}, {v}) {n}_v[1]; "
            f"{n}_v[0] = *(PG_GLOBAL const PG_VECTOR({t}, {v}) *)({n}_row + r);"
            for n, t in operands
        )
        one_taken = take_item(
            op, form, f"accs[k % {sums}]", _vector_loads(op, form, "[0]"), "r + k"
        )
        main = _ROW_VECTORS.fill(
            aligned=aligned,
            reads=reads,
            unroll=unroll,
            fetch=fetch,
            v=v,
            taken=taken,
            one_reads=one_reads,
            one_taken=one_taken,
            take_one=take_at(op, form, "accs[0]", "r"),
        )
    return ROWS.fill(
        name="red_rows",
        parameters=parameters_of(op, form),
        group=GROUP,
        start=start_of(op, form),
        stretch=v * unroll,
        sums=sums,
        rows=rows_of(op, form, "o"),
        main=main,
        take_one=take_at(op, form, "accs[0]", "r"),
        out_at=out_at_of(form, "o"),
        result=result_of(op, form, "acc", "o", "segment"),
    )


_FETCH_COLUMN = Template("""\
PG_INLINE PG_VECTOR($t, $v) red_fetch_$n(PG_GLOBAL const $t *row, pg_i64 at, int aligned)
{
    PG_GLOBAL const $t *p = (PG_GLOBAL const $t *)((PG_GLOBAL const char *)row + at);
    PG_VECTOR($t, $v) r;
    if (aligned)
        r = *(PG_GLOBAL const PG_VECTOR($t, $v) *)p;
    else
        PG_UNROLL for (int k = 0; k < $v; k++)
            r.item[k] = p[k];
    return r;
}
""")

_COLUMNS = Template(
    """\
${fetchers}PG_KERNEL void red_columns($parameters)
{
    PG_LOCAL red_acc sums[$group];
    $start
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0), x_lane = id & (lanes - 1), deep_id = id / lanes, deep = $group / lanes;
    pg_i64 width = (pg_i64)lanes * $v, tile = (pg_i64)deep * $unroll, step = tile * segments;
    pg_i64 total = ((n_out + width - 1) / width) * segments;
$aligned    for (pg_i64 g = PG_GROUP_ID(0); g < total; g += PG_GROUPS(0)) {
        pg_i64 segment = g / ((n_out + width - 1) / width);
        pg_i64 o = (g % ((n_out + width - 1) / width)) * width + x_lane * $v;
        red_acc accs[$v];
        PG_UNROLL for (int k = 0; k < $v; k++)
            accs[k] = red_none();
        if (o < n_out) {
        $rows
            pg_i64 t = segment * tile;
            for (; t + tile <= n_red; t += step) {
                $reads
                PG_UNROLL for (int u = 0; u < $unroll; u++) {
                    pg_i64 r = t + u * deep + deep_id;
                    $offsets $unravel
                    $fetch
                }
                PG_UNROLL for (int u = 0; u < $unroll; u++)
                    PG_UNROLL for (int k = 0; k < $v; k++) { $taken }
            }
            PG_ROLLED for (pg_i64 r = t + deep_id; r < n_red; r += deep) {
                $one_read
                const int u = 0;
                $offsets $unravel
                $fetch
                PG_UNROLL for (int k = 0; k < $v; k++) { $last }
            }
        }
"""
    + COLUMN_JOIN
)


def _gpu_columns(op: Operation, form: Form) -> str:
    """lanes adjacent work-items with vector columns each, the others along the rows."""
    operands = operands_of(op, form)
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
            fetchers += _FETCH_COLUMN.fill(t=t, v=v, n=n)
    conditions = " && ".join(f"PG_ALIGNED({n}, sizeof(PG_VECTOR({t}, {v})))" for n, t in operands)
    aligned = f"    int aligned = {conditions};\n" if v > 1 else ""
    offsets = " ".join(f"pg_i64 {n}_at = 0;" for n in names)
    unravel = unravel_at(names, "reduced", form.reduced, "r", index)
    taken = take_item(op, form, "accs[k]", _vector_loads(op, form, "[u]"), "t + u * deep + deep_id")
    last = take_item(op, form, "accs[k]", _vector_loads(op, form, "[u]"), "r")
    return _COLUMNS.fill(
        fetchers=fetchers,
        parameters=parameters_of(op, form),
        group=GROUP,
        start=start_of(op, form),
        v=v,
        unroll=unroll,
        aligned=aligned,
        rows=rows_of(op, form, "o"),
        reads=reads,
        offsets=offsets,
        unravel=unravel,
        fetch=fetch,
        taken=taken,
        one_read=reads.replace(f"[{unroll}]", "[1]"),
        last=last,
        out_at=out_at_of(form, "(o + k)"),
        result=result_of(op, form, "acc", "(o + k)", "segment"),
    )


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
    text = op.text + _half(op) + (op.block + reduction_cpu.CPU_SUMS if cpu else "")
    if not form.columns:
        text += take_function(op, form)
    if cpu:
        return text + (
            reduction_cpu.columns_source(op, form)
            if form.columns
            else reduction_cpu.rows_source(op, form)
        )
    text += _vectors(op, form)
    return text + (_gpu_columns(op, form) if form.columns else _gpu_rows(op, form))


def final_source(op: Operation, kept: int, initial: bool, cpu: bool) -> str:
    """The kernel that joins parts: part *s* of result *o* is at parts[o * by_out + s * by_part]."""
    names = ["out"]
    lines = ["PG_ARRAY_IN(red_acc, parts)", f"PG_ARRAY({out_type(op)}, out)"]
    lines.append("pg_i64 n_out, pg_i64 n_parts, pg_i64 by_out, pg_i64 by_part, pg_i32 lanes")
    lines += [f"pg_i64 kept{k}" for k in range(1, kept)]
    lines += [f"pg_i64 out_k{k}" for k in range(kept)]
    lines += finish_parameters(op, initial)
    parameters = ", ".join(lines)
    out_at = "pg_i64 out_at = 0; { " + unravel_at(names, "kept", kept, "o", "pg_i64") + " }"
    start = f"PG_START_IN(red_acc, parts); PG_START({out_type(op)}, out);"
    if cpu:
        body = f"""\
    PG_FOR(o, n_out) {{
        red_acc sums[RED_SUMS];
        for (pg_i64 s = 0; s < n_parts; s++)
            red_push(sums, s, parts[o * by_out + s * by_part]);
        red_acc acc = red_total(sums, n_parts);
        {out_at}
        {finish_of(op, initial, "acc")}
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
            {finish_of(op, initial, "acc")}
        }}
        PG_BARRIER;
    }}
"""
    text = op.text + (reduction_cpu.CPU_SUMS if cpu else "")
    return f"{text}PG_KERNEL void red_final({parameters})\n{{\n    {start}\n{body}}}\n"
