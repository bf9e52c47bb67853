"""The kernels of reductions and scans by any associative function: items are joined in their order.

A text before them declares ``X``, ``Y`` (storage types of what is read and written), ``T`` (compute
type), ``ord_item(x)``, ``ord_join(a, b)`` and ``ord_store(pointer, value)``. Nothing is assumed to be
neutral: a stretch of no items has no value, and none is ever joined.

* ``ord_walk``: a work-item for each result, or for each of *segments* parts of it: on CPUs, and where
  the items of neighbouring results lie side by side;
* ``ord_tile``: a work-group for a tile of neighbouring items, or for several short rows. Items come by
  wide loads into local memory, each work-item joins a run of them, then neighbours are joined in a tree;
* ``ord_scan``: a work-group (on CPUs a work-item) for each row, or for each part of it, whose
  predecessors' result is at hand.

Every kernel takes x and y, the numbers of results, of items in each, of segments, the lengths of the
kept axes but the first, of the reduced axes but the first, the strides of x along these axes and of
y along the kept ones [bytes], then what the kernel says itself.
"""

from __future__ import annotations

__all__ = ["GROUP", "scan_source", "tile_source", "walk_source"]

GROUP = 256


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


def chunk(size: int, local_bytes: int, acc_size: int) -> int:
    """How many items of *size* bytes a work-item of ord_tile joins by itself: a power of two."""
    for nbytes in (128, 64, 32):
        if GROUP * (nbytes + max(size, 4) + acc_size) <= local_bytes:
            return max(nbytes // size, 1)
    return 1


def tile_source(
    kept: int, each: int, size: int, whole: bool, parts: bool, initial: str, begin: str
) -> str:
    """ord_tile. each: see chunk(). whole: a group works on one row, else each of its rows has
    *lanes* work-items and at most lanes * each items."""
    vector = max(min(16 // size, each), 1)
    loads = each // vector
    pitch = each + max(4 // size, 1)
    unroll = "PG_UNROLL " if each <= 32 else ""
    if whole:
        where = """\
            pg_i64 at = t + (pg_i64)(u * ORD_GROUP + id) * ORD_VECTOR, most = end;
            PG_GLOBAL const X *from = row + at;"""
    else:
        where = f"""\
            pg_i32 place = (u * ORD_GROUP + id) * ORD_VECTOR, width = lanes * ORD_EACH;
            pg_i64 o = g * rows + place / width, at = place & (width - 1), most = n_red, x_at = 0;
            if (o >= n_out)
                at = most;
            else
                {_unravel(["x"], "kept", kept, "o")}
            PG_GLOBAL const X *from = (PG_GLOBAL const X *)((PG_GLOBAL const char *)x + x_at) + at;"""
    load = f"""\
        PG_VECTOR(X, ORD_VECTOR) v[{loads}];
        PG_UNROLL for (int u = 0; u < {loads}; u++) {{
{where}
            if (at + ORD_VECTOR <= most && PG_ALIGNED(from, sizeof(PG_VECTOR(X, ORD_VECTOR)))) {{
                v[u] = *(PG_GLOBAL const PG_VECTOR(X, ORD_VECTOR) *)from;
            }} else {{
                PG_UNROLL for (int k = 0; k < ORD_VECTOR; k++)
                    if (at + k < most)
                        v[u].item[k] = from[k];
            }}
        }}
        PG_UNROLL for (int u = 0; u < {loads}; u++) {{
            pg_i32 place = (u * ORD_GROUP + id) * ORD_VECTOR;
            PG_UNROLL for (int k = 0; k < ORD_VECTOR; k++)
                tile[place / ORD_EACH * ORD_PITCH + place % ORD_EACH + k] = v[u].item[k];
        }}
        PG_BARRIER;
"""
    join = f"""\
        T acc;
        if (count > 0) {{
            acc = ord_item(tile[id * ORD_PITCH]);
            if (count >= ORD_EACH) {{
                {unroll}for (int k = 1; k < ORD_EACH; k++)
                    acc = ord_join(acc, ord_item(tile[id * ORD_PITCH + k]));
            }} else {{
                for (int k = 1; k < count; k++)
                    acc = ord_join(acc, ord_item(tile[id * ORD_PITCH + k]));
            }}
            sums[id] = acc;
        }}
        for (pg_i32 d = 1; d < ORD_LANES; d <<= 1) {{
            PG_BARRIER;
            if ((lane & (2 * d - 1)) == 0 && lane + d < used)
                sums[id] = ord_join(sums[id], sums[id + d]);
        }}
"""
    if whole:
        body = f"""\
    for (pg_i64 g = PG_GROUP_ID(0); g < n_out * segments; g += PG_GROUPS(0)) {{
        pg_i64 o = g / segments, segment = g % segments, x_at = 0;
        pg_i64 tiles = (n_red + ORD_GROUP * ORD_EACH - 1) / (ORD_GROUP * ORD_EACH);
        pg_i64 length = (tiles + segments - 1) / segments * ORD_GROUP * ORD_EACH, start = segment * length;
        pg_i64 end = start + length < n_red ? start + length : n_red;
        {_unravel(["x"], "kept", kept, "o")}
        PG_GLOBAL const X *row = (PG_GLOBAL const X *)((PG_GLOBAL const char *)x + x_at);
        T sum;
        for (pg_i64 t = start; t < end; t += ORD_GROUP * ORD_EACH) {{
{load}
        pg_i64 left = end - t - (pg_i64)id * ORD_EACH;
        pg_i32 count = left < ORD_EACH ? (pg_i32)(left < 0 ? 0 : left) : ORD_EACH;
        pg_i32 used = end - t < ORD_GROUP * ORD_EACH ? (pg_i32)((end - t + ORD_EACH - 1) / ORD_EACH) : ORD_GROUP;
{join}
        if (id == 0)
            sum = t == start ? sums[0] : ord_join(sum, sums[0]);
        PG_BARRIER;
        }}
        if (id == 0) {{
            T acc = sum;
            {_write(kept, parts, begin)}
        }}
    }}
"""
    else:
        body = f"""\
    pg_i64 rows = ORD_GROUP / lanes;
    for (pg_i64 g = PG_GROUP_ID(0); g * rows < n_out; g += PG_GROUPS(0)) {{
{load}
        pg_i64 left = n_red - (pg_i64)lane * ORD_EACH;
        pg_i32 count = left < ORD_EACH ? (pg_i32)(left < 0 ? 0 : left) : ORD_EACH;
        pg_i32 used = (pg_i32)((n_red + ORD_EACH - 1) / ORD_EACH);
{join}
        pg_i64 o = g * rows + id / lanes;
        if (lane == 0 && o < n_out) {{
            acc = sums[id];
            {_write(kept, False, begin)}
        }}
        PG_BARRIER;
    }}
"""
    lanes = "" if whole else ", pg_i32 lanes"
    return f"""\
#define ORD_GROUP {GROUP}
#define ORD_EACH {each}
#define ORD_PITCH {pitch}
#define ORD_VECTOR {vector}
#define ORD_LANES {GROUP if whole else "lanes"}
PG_DECLARE_VECTOR(X, ORD_VECTOR)
PG_KERNEL void ord_tile({_parameters(kept, 1, initial)}{lanes})
{{
    PG_LOCAL X tile[ORD_GROUP * ORD_PITCH];
    PG_LOCAL T sums[ORD_GROUP];
    {_START}
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0), lane = {"id" if whole else "id & (lanes - 1)"};
{body}}}
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
