"""The kernels of a reduction for CPUs, see reduction.py: a work-item processes long stretches of
items, with independent accumulators that a compiler can vectorize."""

from __future__ import annotations

from pygpu._src.codegen.accumulators import Operation

from .reduction_parts import (
    Form,
    load_of,
    operands_of,
    out_at_of,
    parameters_of,
    result_of,
    rows_of,
    start_of,
    take_at,
    take_item,
    unravel_at,
)

CPU_LANES = 16  # independent accumulators, for the compiler to vectorize
# Sets of them at a time in long rows: a single one would wait for its own last addition.
CPU_CHAINS = 4
CPU_BLOCK = 64  # items per accumulator before they are joined
CPU_TAIL = 32  # items that are processed one by one before they are joined
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
CPU_COLUMNS = 16384  # bytes of accumulators at a time: longer stretches are faster


def rows_source(op: Operation, form: Form) -> str:
    """One work-item per segment of a range of results; lanes is not used."""
    main = ""
    if op.block and form.dense:
        taken = "red_push(sums, pushed++, red_block(red_none(), x_row, r, (int)n));"
        if op.key[0] in ("argmin", "argmax"):  # most blocks have no better item and are left early
            taken = (
                "sums[0] = red_block(pushed ? sums[0] : red_none(), x_row, r, (int)n); pushed = 1;"
            )
        main = f"""\
            for (; r < end; r += {CPU_ITEMS}) {{
                pg_i64 n = end - r < {CPU_ITEMS} ? end - r : {CPU_ITEMS};
                {taken}
            }}
"""
    elif op.plain and form.dense:
        main = _lanes(op, form, CPU_CHAINS) + _lanes(op, form, 1)
    return f"""\
PG_KERNEL void red_rows({parameters_of(op, form)})
{{
    {start_of(op, form)}
    pg_i64 workers = PG_IDS(0) / segments, each = (n_out + workers - 1) / workers;
    pg_i64 segment = PG_ID(0) % segments, o = PG_ID(0) / segments * each;
    pg_i64 last = o + each < n_out ? o + each : n_out;
    pg_i64 length = (n_red / segments + {CPU_LANES}) / {CPU_LANES} * {CPU_LANES};
    pg_i64 start = segment * length, end = start + length < n_red ? start + length : n_red;
    for (; o < last; o++) {{
        {rows_of(op, form, "o")}
        red_acc sums[RED_SUMS];
        pg_i64 r = start, pushed = 0;
        {{
{main}        }}
        while (r < end) {{
            red_acc part = red_none();
            pg_i64 stop = r + {CPU_TAIL} < end ? r + {CPU_TAIL} : end;
            for (; r < stop; r++) {{ {take_at(op, form, "part", "r")} }}
            red_push(sums, pushed++, part);
        }}
        red_acc acc = red_total(sums, pushed);
        {result_of(op, form, "acc", "o", "segment")}
    }}
}}
"""


def _lanes(op: Operation, form: Form, chains: int) -> str:
    """Process the items of a row in blocks of CPU_LANES times *chains* (a power of two)
    accumulators, as long as there are enough."""
    width = CPU_LANES * chains
    accs = [f"accs{c}" for c in range(chains)]
    each = f"for (int k = 0; k < {CPU_LANES}; k++)"
    takes = "\n                    ".join(
        f"{each} {{ {take_at(op, form, f'{acc}[k]', f'r + {CPU_LANES * c} + k')} }}"
        for c, acc in enumerate(accs)
    )
    joins = []
    while len(accs) > 1:
        half = len(accs) // 2
        joins += [f"{a}[k] = red_join({a}[k], {b}[k]);" for a, b in zip(accs, accs[half:])]
        accs = accs[:half]
    return f"""\
            while (r + {width} <= end) {{
                red_acc {", ".join(f"accs{c}[{CPU_LANES}]" for c in range(chains))};
                pg_i64 n = (end - r) / {width};
                {each} {{ {" ".join(f"accs{c}[k] = red_none();" for c in range(chains))} }}
                if (n > {CPU_BLOCK})
                    n = {CPU_BLOCK};
                for (; n > 0; n--, r += {width}) {{
                    {takes}
                }}
                {f"{each} {{ {' '.join(joins)} }}" if joins else ""}
                for (int d = {CPU_LANES // 2}; d > 0; d >>= 1)
                    for (int k = 0; k < d; k++)
                        accs0[k] = red_join(accs0[k], accs0[k + d]);
                red_push(sums, pushed++, accs0[0]);
            }}
"""


def columns_source(op: Operation, form: Form) -> str:
    """One work-item per segment of a stretch of neighbouring results; vector is not used."""
    operands = operands_of(op, form)
    names = [n for n, _ in operands]
    index = "pg_u32" if form.small else "pg_i64"
    width = cpu_columns(op)
    offsets = " ".join(f"pg_i64 {n}_at = 0;" for n in names)
    unravel = unravel_at(names, "reduced", form.reduced, "r", index)
    rows = "\n            ".join(
        f"PG_GLOBAL const {t} *{n}_line = "
        f"(PG_GLOBAL const {t} *)((PG_GLOBAL const char *){n}_row + {n}_at);"
        for n, t in operands
    )
    loads = {n: "w_line[k]" if n == "w" else load_of(op, n, f"{n}_line", "k") for n in names}
    inner = f"kept{form.kept - 1}" if form.kept > 1 else "n_out"
    return f"""\
PG_KERNEL void red_columns({parameters_of(op, form)})
{{
    {start_of(op, form)}
    pg_i64 across = ({inner} + {width - 1}) / {width}, tiles = n_out / {inner} * across;
    pg_i64 length = (n_red + segments - 1) / segments;
    for (pg_i64 g = PG_ID(0); g < tiles * segments; g += PG_IDS(0)) {{
        pg_i64 segment = g / tiles, tile = g % tiles;
        pg_i64 o = tile / across * {inner} + tile % across * {width};
        pg_i64 m = {inner} - tile % across * {width};
        pg_i64 start = segment * length, end = start + length < n_red ? start + length : n_red;
        int columns = (int)(m < {width} ? m : {width});
        {rows_of(op, form, "o")}
        red_acc accs[{width}];
        for (int k = 0; k < columns; k++)
            accs[k] = red_none();
        for (pg_i64 r = start; r < end; r++) {{
            {offsets} {unravel}
            {rows}
            if (columns == {width}) {{
                for (int k = 0; k < {width}; k++) {{ {take_item(op, form, "accs[k]", loads, "r")} }}
            }} else {{
                for (int k = 0; k < columns; k++) {{ {take_item(op, form, "accs[k]", loads, "r")} }}
            }}
        }}
        for (int k = 0; k < columns; k++) {{
            {out_at_of(form, "(o + k)").replace("out_at", "out_here") if not form.parts else ""}
            {result_of(op, form, "accs[k]", "(o + k)", "segment").replace("out_at", "out_here")}
        }}
    }}
}}
"""


def cpu_columns(op: Operation) -> int:
    """Results that a work-item of the kernel over columns computes at a time."""
    return CPU_COLUMNS // op.acc_bytes if op.plain else 256
