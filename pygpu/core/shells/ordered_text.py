"""The kernels of reductions and scans by any associative function: items are joined in their order.

A text before them declares ``X``, ``Y`` (storage types of what is read and written), ``T`` (compute
type), ``ord_item(x)``, ``ord_join(a, b)`` and ``ord_store(pointer, value)``. Nothing is assumed to be
neutral: a stretch of no items has no value, and none is ever joined.

* ``ord_walk``: a work-item for each result, or for each of *segments* parts of it: on CPUs, and where
  the items of neighbouring results lie side by side;
* ``ord_tile``: a work-group for a part of a row, or for several short rows. Its items come into local
  memory; each work-item joins a run of neighbours, then of what was left, until there is one for each row;
* ``ord_scan``: a work-group (on CPUs a work-item) for each row, or for each part of it, whose
  predecessors' result is at hand.

ord_walk takes x and y, the numbers of results, of items in each, of segments, the lengths of the kept
axes but the first, of the reduced axes but the first, the strides of x along these axes and of y along
the kept ones [bytes]; ord_tile x and y, the numbers of results and of items in each, y's stride from
segment to segment, the logarithm of a segment's length, lengths and strides of the kept axes. Groups of
ord_tile are counted by rows along 0, by segments along 1 and 2.
"""

from __future__ import annotations

__all__ = ["GROUP", "run_length", "scan_source", "tile_source", "walk_source"]

GROUP = 256
TILE_BYTES = 40 << 10  # of local memory, so that a unit has several groups
ONCE = 4  # loads that a work-item of ord_tile has under way
LATER = 3  # after the first run come runs of 1 << LATER


def _unravel(names: list[str], prefix: str, count: int, index: str) -> str:
    """Statements that add the offsets of *index* to ``<name>_at``; the last axis is the fastest."""
    key = prefix[0]
    lines = [f"pg_i64 rest = {index};"]
    for k in range(count - 1, 0, -1):
        lines.append(f"pg_i64 left{k} = rest / {prefix}{k}, i{k} = rest - left{k} * {prefix}{k};")
        lines.append(f"rest = left{k};")
        lines += [f"{n}_at += i{k} * {n}_{key}{k};" for n in names]
    lines += [f"{n}_at += rest * {n}_{key}0;" for n in names]
    return "{ " + " ".join(lines) + " }"


def _parameters(kept: int, reduced: int, initial: str) -> str:
    lines = ["PG_ARRAY_IN(X, x), PG_ARRAY(Y, y)", "pg_i64 n_out, pg_i64 n_red, pg_i64 segments"]
    lines += [f"pg_i64 kept{k}" for k in range(1, kept)]
    lines += [f"pg_i64 reduced{k}" for k in range(1, reduced)]
    lines += [f"pg_i64 x_k{k}" for k in range(kept)]
    lines += [f"pg_i64 x_r{k}" for k in range(reduced)]
    lines += [f"pg_i64 y_k{k}" for k in range(kept)]
    return ", ".join([*lines, *([initial] if initial else [])])


def _write(kept: int, parts: bool, begin: str) -> str:
    """Statements that store ``acc``, the result of part *segment* of row *o*."""
    if parts:
        return "ord_store(y + o * segments + segment, acc);"
    return (
        f"pg_i64 y_at = 0; {_unravel(['y'], 'kept', kept, 'o')} {begin}"
        "ord_store((PG_GLOBAL Y *)((PG_GLOBAL char *)y + y_at), acc);"
    )


_START = "PG_START_IN(X, x); PG_START(Y, y);"


def walk_source(kept: int, reduced: int, parts: bool, initial: str, begin: str) -> str:
    """ord_walk. parts: y is an array of (n_out, segments) parts. initial: the parameters of an
    initial value; begin: the statement that joins it to ``acc``."""
    if reduced == 1:
        step = "row += x_r0;"
        begin_at = "row += start * x_r0;"
        item = "ord_item(*(PG_GLOBAL const X *)row)"
        next_item = "acc = ord_join(acc, ord_item(*(PG_GLOBAL const X *)row));"
    else:
        step = begin_at = ""
        place = f"pg_i64 x_at = 0; {_unravel(['x'], 'reduced', reduced, 'r')}"
        item = "ord_at(row, start ROW)"
        next_item = "acc = ord_join(acc, ord_at(row, r ROW));"
        names = [f"reduced{k}" for k in range(1, reduced)] + [f"x_r{k}" for k in range(reduced)]
        given = "".join(f", {n}" for n in names)
        item, next_item = item.replace(" ROW", given), next_item.replace(" ROW", given)
    helper = ""
    if reduced > 1:
        helper = f"""\
PG_INLINE T ord_at(PG_GLOBAL const char *row, pg_i64 r{"".join(f", pg_i64 {n}" for n in names)})
{{
    {place}
    return ord_item(*(PG_GLOBAL const X *)(row + x_at));
}}
"""
    return f"""\
{helper}PG_KERNEL void ord_walk({_parameters(kept, reduced, initial)})
{{
    {_START}
    pg_i64 each = (n_red + segments - 1) / segments;
    PG_FOR(g, n_out * segments) {{
        pg_i64 o = g % n_out, segment = g / n_out, start = segment * each;
        pg_i64 end = start + each < n_red ? start + each : n_red;
        pg_i64 x_at = 0;
        {_unravel(["x"], "kept", kept, "o")}
        PG_GLOBAL const char *row = (PG_GLOBAL const char *)x + x_at;
        {begin_at}
        T acc = {item};
        for (pg_i64 r = start + 1; r < end; r++) {{
            {step}
            {next_item}
        }}
        {_write(kept, parts, begin)}
    }}
}}
"""


def run_length(acc_size: int, local_bytes: int) -> int:
    """How many items of *acc_size* bytes a work-item of ord_tile joins at first: a power of two."""
    run = 32
    while run > 1 and GROUP * ((run + 1) * acc_size + 8) > min(local_bytes, TILE_BYTES):
        run //= 2
    return run


def tile_source(kept: int, run: int, initial: str, begin: str) -> str:
    """ord_tile. run: see run_length(). It is short, as NVRTC takes three milliseconds for a loop and
    ten for a division of 64 bits; so one text serves long rows, short ones and the parts of rows."""
    parameters = [
        "PG_ARRAY_IN(X, x), PG_ARRAY(Y, y)",
        "pg_i64 n_out, pg_i64 n_red, pg_i64 y_step, pg_i32 shift",
        *(f"pg_i64 kept{k}" for k in range(1, kept)),
        *(f"pg_i64 {name}_k{k}" for name in "xy" for k in range(kept)),
        *([initial] if initial else []),
    ]
    return f"""\
#define ORD_GROUP {GROUP}
#define ORD_RUN {run}
#define ORD_BITS {run.bit_length() - 1}
#define ORD_ONCE {min(ONCE, run)}
#define ORD_PLACE(i) ((i) + (i) / ORD_RUN)
PG_KERNEL void ord_tile({", ".join(parameters)})
{{
    PG_LOCAL T tile[ORD_GROUP * (ORD_RUN + 1)];
    PG_LOCAL pg_i64 from[ORD_GROUP];
    {_START}
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0), width = 1 << shift;
    pg_i32 rows = shift < ORD_BITS ? ORD_GROUP : (ORD_GROUP * ORD_RUN) >> shift;
    pg_i64 segment = PG_GROUP_ID(1) + (pg_i64)PG_GROUP_ID(2) * PG_GROUPS(1), start = segment << shift;
    pg_i64 first = (pg_i64)PG_GROUP_ID(0) * rows;
    pg_i32 here = n_out - first < rows ? (pg_i32)(n_out - first) : rows;
    pg_i32 n = n_red - start < width ? (pg_i32)(n_red - start) : width;
    if (id < here) {{
        pg_i64 x_at = start * (pg_i64)sizeof(X);
        {_unravel(["x"], "kept", kept, "first + id")}
        from[id] = x_at;
    }}
    PG_BARRIER;
    pg_i32 used = here > 1 ? here << shift : n;
    PG_ROLLED for (pg_i32 p = id; p < used; p += ORD_GROUP * ORD_ONCE) {{
        T v[ORD_ONCE];
        PG_UNROLL for (int u = 0; u < ORD_ONCE; u++) {{
            pg_i32 slot = p + u * ORD_GROUP, i = slot & (width - 1), r = slot >> shift;
            PG_GLOBAL const char *row = (PG_GLOBAL const char *)x + from[r < here ? r : 0];
            v[u] = ord_item(((PG_GLOBAL const X *)row)[i < n ? i : 0]);
        }}
        PG_UNROLL for (int u = 0; u < ORD_ONCE; u++)
            tile[ORD_PLACE(p) + u * ORD_PLACE(ORD_GROUP)] = v[u];
    }}
    PG_ROLLED for (pg_i32 done = 0; done < shift; done += done > 0 ? {LATER} : ORD_BITS) {{
        PG_BARRIER;
        pg_i32 bits = shift - done, most = done > 0 ? {LATER} : ORD_BITS, run = bits < most ? bits : most;
        pg_i32 s = id << run, count = ((n + (1 << done) - 1) >> done) - (s & ((1 << bits) - 1));
        T acc;
        if (s >> bits < here && count > 0) {{
            PG_LOCAL_PTR T *mine = tile + ORD_PLACE(s);
            if (count > 1 << run)
                count = 1 << run;
            acc = mine[0];
            PG_ROLLED for (pg_i32 k = 1; k < count; k++)
                acc = ord_join(acc, mine[k]);
        }}
        PG_BARRIER;
        if (s >> bits < here && count > 0)
            tile[ORD_PLACE(id)] = acc;
    }}
    if (id < here) {{
        T acc = tile[ORD_PLACE(id)];
        pg_i64 y_at = segment * y_step;
        {_unravel(["y"], "kept", kept, "first + id")} {begin}
        ord_store((PG_GLOBAL Y *)((PG_GLOBAL char *)y + y_at), acc);
    }}
}}
"""


def scan_source(kept: int, carried: bool, cpu: bool) -> str:
    """ord_scan. carried: parts[row * segments + s] is the result of all up to part s, of dtype T's
    storage; y has the strides y_k* and y_r0. Parts have *length* items."""
    parameters = ["PG_ARRAY_IN(X, x), PG_ARRAY(Y, y)"]
    if carried:
        parameters.append("PG_ARRAY_IN(P, parts)")
    parameters.append("pg_i64 rows, pg_i64 n, pg_i64 segments, pg_i64 length")
    parameters += [f"pg_i64 kept{k}" for k in range(1, kept)]
    parameters += [f"pg_i64 {n}_k{k}" for n in "xy" for k in range(kept)]
    parameters.append("pg_i64 x_step, pg_i64 y_step")
    start = _START + (" PG_START_IN(P, parts);" if carried else "")
    carry = (
        "T carry; pg_i32 some = 0;\n        if (segment > 0) "
        "{ carry = ord_part(parts[row * segments + segment - 1]); some = 1; }"
        if carried
        else "T carry; pg_i32 some = 0;"
    )
    load = "ord_item(*(PG_GLOBAL const X *)(x_row + ({i}) * x_step))"
    store = "ord_store((PG_GLOBAL Y *)(y_row + ({i}) * y_step), {v});"
    if cpu:
        work = f"""\
        for (; i < end; i++) {{
            T item = {load.format(i="i")};
            carry = some ? ord_join(carry, item) : item;
            some = 1;
            {store.format(i="i", v="carry")}
        }}
"""
    else:
        work = f"""\
        for (; i < end; i += {GROUP}) {{
            pg_i32 m = end - i < {GROUP} ? (pg_i32)(end - i) : {GROUP};
            T mine;
            if (id < m) {{
                mine = {load.format(i="i + id")};
                if (id == 0 && some)
                    mine = ord_join(carry, mine);
                sums[id] = mine;
            }}
            for (pg_i32 d = 1; d < {GROUP}; d <<= 1) {{
                PG_BARRIER;
                T other;
                if (id >= d && id < m)
                    other = sums[id - d];
                PG_BARRIER;
                if (id >= d && id < m) {{
                    mine = ord_join(other, mine);
                    sums[id] = mine;
                }}
            }}
            PG_BARRIER;
            if (id < m) {{ {store.format(i="i + id", v="mine")} }}
            carry = sums[m - 1];
            some = 1;
            PG_BARRIER;
        }}
"""
    begin = "" if cpu else f"PG_LOCAL T sums[{GROUP}];\n    "
    mine = "" if cpu else "pg_i32 id = (pg_i32)PG_LOCAL_ID(0);"
    loop = (
        "PG_FOR(g, rows * segments)"
        if cpu
        else "for (pg_i64 g = PG_GROUP_ID(0); g < rows * segments; g += PG_GROUPS(0))"
    )
    return f"""\
PG_KERNEL void ord_scan({", ".join(parameters)})
{{
    {begin}{start}
    {mine}
    {loop} {{
        pg_i64 row = g / segments, segment = g % segments, i = segment * length;
        pg_i64 end = i + length < n ? i + length : n, x_at = 0, y_at = 0;
        {_unravel(["x", "y"], "kept", kept, "row")}
        PG_GLOBAL const char *x_row = (PG_GLOBAL const char *)x + x_at;
        PG_GLOBAL char *y_row = (PG_GLOBAL char *)y + y_at;
        {carry}
{work}    }}
}}
"""
