"""The kernels of a scan along one axis: y[i] = x[0] o ... o x[i] in every row.

A text before them declares ``X``, ``Y`` (storage types), ``scan_t``, ``scan_none()``,
``scan_join(a, b)``, ``scan_load(pointer)`` and ``scan_store(pointer, value)``. Rows are counted
over the kept axes; the parameters are their lengths except the first, each operand's strides along
them, then the operands' strides along the scanned axis [bytes].

* ``scan_lanes``: a work-item per row, or per each of its *segments* parts: for CPUs, and where
  neighbouring rows are adjacent;
* ``scan_groups``: a work-group per row or part, in tiles;
* ``scan_sums``: the sums of the parts, which runs first if there are several;
* ``scan_lookback``: on devices with warps, in one pass; see decoupled_lookback.py.
"""

from __future__ import annotations

from pygpu._src.codegen.template import Template

from . import decoupled_lookback

GROUP = 256


def _parameters(kept: int) -> str:
    lines = [f"pg_i64 kept{k}" for k in range(1, kept)]
    for name in ("x", "y"):
        lines += [f"pg_i64 {name}_k{k}" for k in range(kept)]
    return ", ".join([*lines, "pg_i64 x_step, pg_i64 y_step"])


def _rows(kept: int, index: str) -> str:
    """Declares x_row and y_row of row *index*, as pointers to bytes."""
    lines = [f"pg_i64 x_at = 0, y_at = 0, rest = {index};"]
    for k in range(kept - 1, 0, -1):
        lines.append(f"pg_i64 left{k} = rest / kept{k}, i{k} = rest - left{k} * kept{k};")
        lines.append(f"rest = left{k}; x_at += i{k} * x_k{k}; y_at += i{k} * y_k{k};")
    lines.append("x_at += rest * x_k0; y_at += rest * y_k0;")
    lines.append("PG_UNUSED PG_GLOBAL const char *x_row = (PG_GLOBAL const char *)x + x_at;")
    lines.append(_Y_ROW)
    return "\n        ".join(lines)


_Y_ROW = "PG_UNUSED PG_GLOBAL char *y_row = (PG_GLOBAL char *)y + y_at;"
_LOAD = "scan_load((PG_GLOBAL const X *)(x_row + ({i}) * x_step))"
_STORE = "scan_store((PG_GLOBAL Y *)(y_row + ({i}) * y_step), {v});"


def lanes_source(kept: int, sums: bool) -> str:
    """scan_lanes, and scan_sums for it if requested."""
    parameters = "PG_ARRAY_IN(X, x), PG_ARRAY(Y, y), {}pg_i64 rows, pg_i64 n, pg_i64 segments, "
    parts = "PG_ARRAY(scan_t, parts), " if sums else ""
    start = "PG_START_IN(X, x); PG_START(Y, y);" + (" PG_START(scan_t, parts);" if sums else "")
    where = f"""\
    for (pg_i64 g = PG_ID(0); g < rows * segments; g += PG_IDS(0)) {{
        pg_i64 segment = g / rows, row = g % rows, length = (n + segments - 1) / segments;
        pg_i64 i = segment * length, end = i + length < n ? i + length : n;
        {_rows(kept, "row")}
"""
    text = ""
    if sums:
        text = f"""\
PG_KERNEL void scan_sums({parameters.format(parts)}{_parameters(kept)})
{{
    {start.replace(" PG_START(Y, y);", "")}
{where.replace(_Y_ROW, "")}        scan_t lanes[16];
        for (int k = 0; k < 16; k++)
            lanes[k] = scan_none();
        for (; i + 16 <= end; i += 16)
            for (int k = 0; k < 16; k++)
                lanes[k] = scan_join(lanes[k], {_LOAD.format(i="i + k")});
        for (; i < end; i++)
            lanes[0] = scan_join(lanes[0], {_LOAD.format(i="i")});
        for (int k = 1; k < 16; k++)
            lanes[0] = scan_join(lanes[0], lanes[k]);
        parts[segment * rows + row] = lanes[0];
    }}
}}
"""
    before = (
        "for (pg_i64 s = 0; s < segment; s++) sum = scan_join(sum, parts[s * rows + row]);"
        if sums
        else ""
    )
    return f"""\
{text}PG_KERNEL void scan_lanes({parameters.format(parts)}{_parameters(kept)})
{{
    {start}
{where}        scan_t sum = scan_none();
        {before}
        for (; i + 4 <= end; i += 4) {{
            scan_t a = {_LOAD.format(i="i")}, b = {_LOAD.format(i="i + 1")};
            scan_t c = {_LOAD.format(i="i + 2")}, d = {_LOAD.format(i="i + 3")};
            sum = scan_join(sum, a); {_STORE.format(i="i", v="sum")}
            sum = scan_join(sum, b); {_STORE.format(i="i + 1", v="sum")}
            sum = scan_join(sum, c); {_STORE.format(i="i + 2", v="sum")}
            sum = scan_join(sum, d); {_STORE.format(i="i + 3", v="sum")}
        }}
        for (; i < end; i++) {{
            sum = scan_join(sum, {_LOAD.format(i="i")});
            {_STORE.format(i="i", v="sum")}
        }}
    }}
}}
"""


_GROUP_SUMS = Template("""\
PG_KERNEL void scan_sums($parameters$row_parameters)
{
    PG_LOCAL scan_t sums[$group];
    $start
$where        scan_t part = scan_none(), more[4];
        for (int k = 0; k < 4; k++)
            more[k] = scan_none();
        for (; i + $four_groups <= end; i += $four_groups)
            PG_UNROLL for (int k = 0; k < 4; k++)
                more[k] = scan_join(more[k], $load_k);
        for (i += id; i < end; i += $group)
            part = scan_join(part, $load);
        part = scan_join(scan_join(part, more[0]), scan_join(more[1], scan_join(more[2], more[3])));
$tree        if (id == 0)
            parts[g] = sums[0];
        PG_BARRIER;
    }
}
""")

_GROUPS = Template("""\
${text}PG_KERNEL void scan_groups($parameters$row_parameters)
{
    PG_LOCAL scan_t sums[$group];
    PG_LOCAL scan_t items[$room];
    $start
$where        scan_t carry = scan_none();
$before        for (; i < end; i += $tile) {
            PG_UNROLL for (int k = 0; k < $each; k++) {
                pg_i32 at = k * $group + id;
                scan_t item = scan_none();
                if (i + at < end)
                    item = $load;
                items[at + at / 16] = item;
            }
            PG_BARRIER;
            scan_t mine[$each];
            scan_t sum = scan_none();
            PG_UNROLL for (int k = 0; k < $each; k++) {
                pg_i32 at = id * $each + k;
                sum = k == 0 ? items[at + at / 16] : scan_join(sum, items[at + at / 16]);
                mine[k] = sum;
            }
            sums[id] = sum;
            PG_ROLLED for (pg_i32 d = 1; d < $group; d <<= 1) {
                PG_BARRIER;
                scan_t left = scan_none();
                if (id >= d)
                    left = sums[id - d];
                PG_BARRIER;
                if (id >= d)
                    sums[id] = scan_join(left, sums[id]);
            }
            PG_BARRIER;
            scan_t first = carry;
            if (id > 0)
                first = scan_join(carry, sums[id - 1]);
            carry = scan_join(carry, sums[$last]);
            PG_UNROLL for (int k = 0; k < $each; k++) {
                pg_i32 at = id * $each + k;
                items[at + at / 16] = scan_join(first, mine[k]);
            }
            PG_BARRIER;
            PG_UNROLL for (int k = 0; k < $each; k++) {
                pg_i32 at = k * $group + id;
                if (i + at < end) {
                    $store
                }
            }
            PG_BARRIER;
        }
    }
}
""")


def groups_source(kept: int, sums: bool, size: int) -> str:
    """scan_groups, and scan_sums for it if requested; *size*: bytes of a scan_t."""
    each = max(64 // size, 2)  # items per work-item: 16 KiB of local memory for the tile
    parameters = "PG_ARRAY_IN(X, x), PG_ARRAY(Y, y), {}pg_i64 rows, pg_i64 n, pg_i64 segments, "
    parts = "PG_ARRAY(scan_t, parts), " if sums else ""
    start = "PG_START_IN(X, x); PG_START(Y, y);" + (" PG_START(scan_t, parts);" if sums else "")
    tile = GROUP * each
    where = f"""\
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0);
    for (pg_i64 g = PG_GROUP_ID(0); g < rows * segments; g += PG_GROUPS(0)) {{
        pg_i64 row = g / segments, segment = g % segments;
        pg_i64 length = ((n + segments - 1) / segments + {tile - 1}) / {tile} * {tile};
        pg_i64 i = segment * length, end = i + length < n ? i + length : n;
        {_rows(kept, "row")}
"""
    tree = f"""\
        sums[id] = part;
        for (pg_i32 d = {GROUP // 2}; d > 0; d >>= 1) {{
            PG_BARRIER;
            if (id < d)
                sums[id] = scan_join(sums[id], sums[id + d]);
        }}
        PG_BARRIER;
"""
    text = before = ""
    if sums:
        text = _GROUP_SUMS.fill(
            parameters=parameters.format(parts),
            row_parameters=_parameters(kept),
            group=GROUP,
            start=start.replace(" PG_START(Y, y);", ""),
            where=where.replace(_Y_ROW, ""),
            four_groups=GROUP * 4,
            load_k=_LOAD.format(i=f"i + k * {GROUP} + id"),
            load=_LOAD.format(i="i"),
            tree=tree,
        )
        before = f"""\
        scan_t part = scan_none();
        for (pg_i64 s = id; s < segment; s += {GROUP})
            part = scan_join(part, parts[row * segments + s]);
{tree}        carry = sums[0];
        PG_BARRIER;
"""
    return _GROUPS.fill(
        text=text,
        parameters=parameters.format(parts),
        row_parameters=_parameters(kept),
        group=GROUP,
        room=tile + tile // 16,
        start=start,
        where=where,
        before=before,
        tile=tile,
        each=each,
        load=_LOAD.format(i="i + at"),
        last=GROUP - 1,
        store=_STORE.format(i="i + at", v="items[at + at / 16]"),
    )


def lookback_source(kept: int, size: int, vector: int, shape: decoupled_lookback.Shape) -> str:
    """scan_lookback, for rows of contiguous items. size: bytes of a scan_t; vector: items per
    access."""
    parameters = (
        "PG_ARRAY_IN(X, x), PG_ARRAY(Y, y), PG_ARRAY(pg_u32, state), pg_i64 rows, pg_i64 n, "
        "pg_i64 tiles, "
    )
    return decoupled_lookback.source(
        parameters + _parameters(kept), _rows(kept, "row"), size, vector, shape
    )
