"""Kernels that move items by index arrays, and that gather the items selected by a mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.template import Template

DType = np.dtype[Any]
GROUP = 256
TILE = 4096  # items of a mask per group
CPU_TILE = 32768


Indices = Sequence[tuple[str, str]]  # (code of the dtype, mode) of each index array


def _move_arrays(to: str, source: str, indices: Indices, checked: bool) -> tuple[str, str]:
    """(parameters, statements that start them)"""
    types = [(f"pg_{code}", f"i{j}") for j, (code, _) in enumerate(indices)]
    parameters = [f"PG_ARRAY_IN({t}, {n})" for t, n in ((source, "source"), *types)]
    parameters.append(f"PG_ARRAY({to}, to)")
    start = [f"PG_START({to}, to); PG_START_IN({source}, source);"]
    start += [f"PG_START_IN({t}, {n});" for t, n in types]
    if checked:
        parameters.append("PG_ARRAY(pg_i64, bad)")
        start.append("PG_START(pg_i64, bad);")
    return ", ".join(parameters), " ".join(start)


def _move_walk(indices: Indices, ndim: int, index: str) -> list[str]:
    """Find to_at, source_at and the values i0_v, ... of index arrays for item i."""
    walk = [f"{index} rest = ({index})i;"]
    for k in range(ndim - 1, 0, -1):
        walk.append(f"{index} left{k} = rest / ({index})n{k};")
        walk.append(f"pg_i64 k{k} = (pg_i64)(rest - left{k} * ({index})n{k}); rest = left{k};")
    walk.append("pg_i64 k0 = (pg_i64)rest;")

    def offset(name: str) -> str:
        return " + ".join(f"k{k} * {name}_s{k}" for k in range(ndim))

    walk += [f"pg_i64 {name}_at = {offset(name)};" for name in ("to", "source")]
    for j, (code, _) in enumerate(indices):
        address = f"(PG_GLOBAL const char *)i{j} + ({offset(f'i{j}')})"
        walk.append(f"pg_i64 i{j}_v = (pg_i64)*(PG_GLOBAL const pg_{code} *)({address});")
    return walk


def _follow(j: int, mode: str, side: str, checked: bool) -> list[str]:
    """Bring index *j* into its bounds, and add its offset.

    Negative ones are recognized by their sign bit: Mesa's llvmpipe (22.3) compares 64-bit numbers that
    were converted from 32 bits as if they had no sign, if the other number is a constant.
    """
    if mode == "raise":
        bad = f"bad[0] = {j + 1}; bad[1] = i{j}_v; continue;" if checked else "continue;"
        lines = [f"if (i{j}_v < -length{j} || i{j}_v >= length{j}) {{ {bad} }}"]
        lines.append(f"i{j}_v += length{j} & i{j}_v >> 63;")
    elif mode == "wrap":
        lines = [f"i{j}_v %= length{j}; i{j}_v += length{j} & i{j}_v >> 63;"]
    else:
        lines = [f"i{j}_v = (i{j}_v >= length{j} ? length{j} - 1 : i{j}_v) & ~(i{j}_v >> 63);"]
    return [*lines, f"{side}_at += i{j}_v * step{j};"]


def _move_item(to: DType, source: DType) -> str:
    """The statement that moves the item at source_at to to_at."""
    types = dtypes.storage_type(to), dtypes.storage_type(source)
    target = f"(PG_GLOBAL {types[0]} *)((PG_GLOBAL char *)to + to_at)"
    address = f"(PG_GLOBAL const {types[1]} *)((PG_GLOBAL const char *)source + source_at)"
    if to == source:
        return f"*{target} = *{address};"
    return dtypes.store(to, f"({target})", "0", dtypes.load(source, f"({address})", "0"), source)


def move_source(
    to: DType,
    source: DType,
    indices: Indices,
    ndim: int,
    small: bool,
    into: bool,
    checked: bool,
) -> str:
    """The kernel ``move``: for all items of a shape, to[...] = source[...].

    Each operand has strides along the shape's axes [bytes]. Index arrays, (code of the dtype,
    mode) each, add item * step to the offset of one side: of *to* if *into*, else of *source*.
    Modes are "raise" (negative indices count from the end), "wrap" and "clip". checked: an index
    out of bounds is not used, but written to ``bad``: [its number + 1, its value] as pg_i64.
    """
    types = dtypes.storage_type(to), dtypes.storage_type(source)
    arrays, start = _move_arrays(*types, indices, checked)
    parameters = [arrays, "pg_i64 n", *(f"pg_i64 n{k}" for k in range(1, ndim))]
    for name in ("to", "source", *(f"i{j}" for j in range(len(indices)))):
        parameters += [f"pg_i64 {name}_s{k}" for k in range(ndim)]
    parameters += [f"pg_i64 step{j}, pg_i64 length{j}" for j in range(len(indices))]
    walk = _move_walk(indices, ndim, "pg_u32" if small else "pg_i64")
    for j, (_, mode) in enumerate(indices):
        walk += _follow(j, mode, "to" if into else "source", checked)
    body = "\n        ".join(walk)
    return f"""\
{dtypes.declare(to, source)}PG_KERNEL void move({", ".join(parameters)})
{{
    {start}
    PG_FOR(i, n) {{
        {body}
        {_move_item(to, source)}
    }}
}}
"""


def true_text(dtype: DType, pointer: str, index: str) -> str:
    """Whether an item of a mask is true."""
    value = dtypes.load(dtype, pointer, index)
    if dtype.kind == "c":
        return f"({pointer}[{index}].re != 0 || {pointer}[{index}].im != 0)"
    return f"({value} != 0)"


def count_source(mask: DType, cpu: bool) -> str:
    """The kernel ``count``: stores how many items of each tile are true in counts[tile]."""
    m = dtypes.storage_type(mask)
    vector = f"PG_DECLARE_VECTOR({m}, 16)\n" if mask.itemsize == 1 else ""
    head = f"""\
{vector}PG_KERNEL void count(PG_ARRAY_IN({m}, mask), PG_ARRAY(pg_i64, counts), pg_i64 n, pg_i64 tiles)
{{
    PG_START_IN({m}, mask); PG_START(pg_i64, counts);
"""
    if cpu:
        return f"""\
{head}    for (pg_i64 tile = PG_ID(0); tile < tiles; tile += PG_IDS(0)) {{
        pg_i64 i = tile * {CPU_TILE}, end = i + {CPU_TILE} < n ? i + {CPU_TILE} : n;
        pg_i64 sum = 0;
        while (i < end) {{
            pg_u32 part = 0;
            pg_i64 stop = i + 4096 < end ? i + 4096 : end;
            for (; i < stop; i++)
                part += {true_text(mask, "mask", "i")};
            sum += part;
        }}
        counts[tile] = sum;
    }}
}}
"""
    fetch, true = "", true_text(mask, "mask", "i + k")
    if mask.itemsize == 1:
        fetch = f"PG_VECTOR({m}, 16) items = *(PG_GLOBAL const PG_VECTOR({m}, 16) *)(mask + i);"
        true = true_text(mask, "items.item", "k")
    return f"""\
{head}    PG_LOCAL pg_u32 sums[{GROUP}];
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0);
    for (pg_i64 tile = PG_GROUP_ID(0); tile < tiles; tile += PG_GROUPS(0)) {{
        pg_i64 i = tile * {TILE} + id * 16, end = i + 16 < n ? i + 16 : n;
        pg_u32 sum = 0;
        if (i + 16 <= n && PG_ALIGNED(mask, 16)) {{
            {fetch}
            PG_UNROLL for (int k = 0; k < 16; k++)
                sum += {true};
        }} else {{
            for (; i < end; i++)
                sum += {true_text(mask, "mask", "i")};
        }}
        sums[id] = sum;
        for (pg_i32 d = {GROUP // 2}; d > 0; d >>= 1) {{
            PG_BARRIER;
            if (id < d)
                sums[id] += sums[id + d];
        }}
        if (id == 0)
            counts[tile] = sums[0];
        PG_BARRIER;
    }}
}}
"""


def written(vectors: int) -> str:
    """Write the selected items of a tile in order. The counts of the vectors before this
    work-item's, and of all, are 16-bit parts of *before* and *whole*."""
    return f"""\
        PG_UNROLL for (int k = 0; k < {vectors}; k++) {{
            pg_i32 at = at_k + (pg_i32)((before >> (16 * k)) & 0xffff);
            PG_UNROLL for (int j = 0; j < 4; j++)
                if ((flags >> (k * 4 + j)) & 1)
                    stage[at++] = v[k][j];
            at_k += (pg_i32)((whole >> (16 * k)) & 0xffff);
        }}
        PG_BARRIER;
        for (pg_i32 i = id; i < many; i += {GROUP})
            out[base + i] = stage[i];
        PG_BARRIER;
"""


# The counts of this work-item's vectors, and their sums over all up to it, 16 bits each.
_SCANNED = """\
        pg_u64 mine = 0;
        PG_UNROLL for (int k = 0; k < $vectors; k++) {
            pg_u32 f = (flags >> (k * 4)) & 15;
            mine |= (pg_u64)((f & 1) + ((f >> 1) & 1) + ((f >> 2) & 1) + (f >> 3)) << (16 * k);
        }
        scanned[id] = mine;
        pg_u64 sum = mine;
        for (pg_i32 d = 1; d < $group; d <<= 1) {
            PG_BARRIER;
            pg_u64 left = id >= d ? scanned[id - d] : 0;
            PG_BARRIER;
            sum += left;
            scanned[id] = sum;
        }
        PG_BARRIER;
"""

_STAGED = Template(
    """\
    PG_LOCAL pg_u64 scanned[$group];
    PG_LOCAL $t stage[$tile];
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0);
    int aligned = PG_ALIGNED(mask, 4) && PG_ALIGNED(x, 4 * sizeof($t));
    for (pg_i64 tile = PG_GROUP_ID(0); tile < tiles; tile += PG_GROUPS(0)) {
        pg_i64 base = tile == 0 ? 0 : ends[tile - 1], first = tile * $tile;
        pg_i32 many = (pg_i32)(ends[tile] - base);
        if (many == 0)
            continue;
        $t v[$vectors][4];
        pg_u32 flags = 0; /* of items first + k * $four_groups + id * 4 + j, in bit k * 4 + j */
        if (aligned && first + $tile <= n) {
            PG_UNROLL for (int k = 0; k < $vectors; k++) {
                pg_i64 i = first + k * $four_groups + id * 4;
                $fetch
                PG_VECTOR($t, 4) four = *(PG_GLOBAL const PG_VECTOR($t, 4) *)(x + i);
                PG_UNROLL for (int j = 0; j < 4; j++) {
                    v[k][j] = four.item[j];
                    flags |= (pg_u32)$true << (k * 4 + j);
                }
            }
        } else {
            PG_UNROLL for (int k = 0; k < $vectors; k++)
                PG_UNROLL for (int j = 0; j < 4; j++) {
                    pg_i64 i = first + k * $four_groups + id * 4 + j;
                    if (i < n) {
                        v[k][j] = x[i];
                        flags |= (pg_u32)$true_i << (k * 4 + j);
                    }
                }
        }
        /* four counts of at most 4 * $group each in 16 bits of a sum, scanned together */
"""
    + _SCANNED
    + """\
        pg_u64 whole = scanned[$last], before = sum - mine;
        pg_i32 at_k = 0;
$written    }
}
"""
)


def _staged(mask: DType, items: DType) -> str:
    """The rest of ``compact`` for a GPU: four vectors of four items per work-item, gathered in
    local memory, so that a group reads and writes adjacent items."""
    t = dtypes.storage_type(items)
    vectors = TILE // GROUP // 4
    if mask.itemsize == 1:
        fetch = "PG_VECTOR(pg_u8, 4) marks = *(PG_GLOBAL const PG_VECTOR(pg_u8, 4) *)(mask + i);"
        true = true_text(mask, "marks.item", "j")
    else:
        fetch, true = "", true_text(mask, "mask", "i + j")
    return _STAGED.fill(
        group=GROUP,
        t=t,
        tile=TILE,
        vectors=vectors,
        four_groups=GROUP * 4,
        fetch=fetch,
        true=true,
        true_i=true_text(mask, "mask", "i"),
        last=GROUP - 1,
        written=written(vectors),
    )


_CPU_COMPACT = Template("""\
$head    for (pg_i64 tile = PG_ID(0); tile < tiles; tile += PG_IDS(0)) {
        pg_i64 first = tile * $cpu_tile, end = first + $cpu_tile < n ? first + $cpu_tile : n;
        pg_i64 at = tile == 0 ? 0 : ends[tile - 1], stop = ends[tile];
        if (stop == at)
            continue;
        for (pg_i64 i = first; i < end && at < stop; i++) {
            $put
            at += $true_i;
        }
    }
}
""")

_GPU_COMPACT = Template(
    """\
$head    PG_LOCAL pg_u64 scanned[$group];
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0);
    for (pg_i64 tile = PG_GROUP_ID(0); tile < tiles; tile += PG_GROUPS(0)) {
        pg_i64 base = tile == 0 ? 0 : ends[tile - 1];
        pg_i64 first = tile * $tile;
        if (ends[tile] == base)
            continue;
        pg_u32 flags = 0; /* of items first + k * $four_groups + id * 4 + j, in bit k * 4 + j */
        PG_UNROLL for (int k = 0; k < $vectors; k++)
            PG_UNROLL for (int j = 0; j < 4; j++) {
                pg_i64 i = first + k * $four_groups + id * 4 + j;
                if (i < n && $true_i)
                    flags |= 1u << (k * 4 + j);
            }
        /* four counts of at most 4 * 256 each in 16 bits of two sums, scanned together */
"""
    + _SCANNED
    + """\
        pg_u64 whole = scanned[$last];
        pg_u64 before = sum - mine;
        pg_i64 at_k = base;
        PG_UNROLL for (int k = 0; k < $vectors; k++) {
            pg_i64 at = at_k + (pg_i64)((before >> (16 * k)) & 0xffff);
            PG_UNROLL for (int j = 0; j < 4; j++)
                if ((flags >> (k * 4 + j)) & 1) {
                    pg_i64 i = first + k * $four_groups + id * 4 + j;
                    $put
                    at++;
                }
            at_k += (pg_i64)((whole >> (16 * k)) & 0xffff);
        }
        PG_BARRIER;
    }
}
"""
)


def compact_source(mask: DType, items: DType | None, ndim: int, cpu: bool, staged: bool) -> str:
    """The kernel ``compact``: stores the selected items next to each other, or (items None) their
    indices along each of ndim axes, one row of out per axis. ends[tile]: how many are true up to a
    tile's end. staged: a GPU gathers items in local memory (TILE of them and 2 KiB fit)."""
    m = dtypes.storage_type(mask)
    out = "pg_i64" if items is None else dtypes.storage_type(items)
    parameters = [f"PG_ARRAY_IN({m}, mask)", "PG_ARRAY_IN(pg_i64, ends)"]
    if items is not None:
        parameters.append(f"PG_ARRAY_IN({out}, x)")
    parameters += [f"PG_ARRAY({out}, out)", "pg_i64 n, pg_i64 tiles, pg_i64 found"]
    parameters += [f"pg_i64 n{k}" for k in range(1, ndim)]
    start = f"PG_START_IN({m}, mask); PG_START_IN(pg_i64, ends); PG_START({out}, out);"
    if items is not None:
        start += f" PG_START_IN({out}, x);"
        put = "out[at] = x[i];"
    else:
        lines = ["pg_i64 rest = i;"]
        for k in range(ndim - 1, 0, -1):
            lines.append(
                f"{{ pg_i64 left = rest / n{k}; out[at + {k} * found] = rest - left * n{k}; rest = left; }}"
            )
        put = " ".join([*lines, "out[at] = rest;"])
    declared = dtypes.declare(*([] if items is None else [items]))
    if items is not None and staged:
        declared += f"PG_DECLARE_VECTOR({out}, 4)\n"
        if mask.itemsize == 1 and out != "pg_u8":
            # Bools are bytes, which is the same type in OpenCL.
            declared += "PG_DECLARE_VECTOR(pg_u8, 4)\n"
    head = f"""\
{declared}PG_KERNEL void compact({", ".join(parameters)})
{{
    {start}
"""
    if cpu:
        return _CPU_COMPACT.fill(
            head=head, cpu_tile=CPU_TILE, put=put, true_i=true_text(mask, "mask", "i")
        )
    if items is not None and staged:
        return head + _staged(mask, items)
    # four items per work-item at a time, adjacent across work-items: reads are coalesced
    return _GPU_COMPACT.fill(
        head=head,
        group=GROUP,
        tile=TILE,
        four_groups=GROUP * 4,
        vectors=TILE // GROUP // 4,
        true_i=true_text(mask, "mask", "i"),
        last=GROUP - 1,
        put=put,
    )
