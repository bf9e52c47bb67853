"""Sorting one long row by digits of 8 bits, each in one pass over memory, for devices with warps
(warp_text.py): Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs",
2022.

``histogram`` counts all digits of all keys at once, ``starts`` sums them up, and ``sweep`` moves the
keys by one digit, each tile finding where its digits begin by looking back at the tiles before it.

state: first a ticket and 3 words unused, then 256 words for each tile: two bits of what is known (1 the
tile's own count, 2 the sum up to its end), 30 of number. So there must be fewer than 2**30 items.
"""

from __future__ import annotations

from ..frozen import Frozen
from . import sort_text

__all__ = ["COUNT_GROUP", "Shape", "shape_of", "source"]

COUNT_GROUP = 256  # work-items of histogram and starts
_COPIES = 4  # of the counts, so that fewer work-items of a warp count in one place


class Shape(Frozen):
    """Of a sweep: work-items of a group (256 at least), items of each, groups that a unit holds.
    apart: tiles that are full are ranked by code of their own, without a look at where they end."""

    group: int
    each: int
    groups: int
    apart: bool


# The quickest of eight (keys) and four (with positions) on an H200, 64 Mi items of 4 bytes; OpenCL's
# compiler is not told how many groups a unit shall hold, and takes more registers.
CHOSEN = {
    ("cuda", False): Shape(512, 12, 2, True),
    ("cuda", True): Shape(256, 16, 3, False),
    ("opencl", False): Shape(256, 14, 4, True),
    ("opencl", True): Shape(256, 16, 3, True),
}
WIDE = Shape(256, 9, 3, False)


def shape_of(language: str, size: int, positions: bool) -> Shape:
    """The shape for keys of so many bytes, with the positions of items or without."""
    return CHOSEN[language, positions] if size <= 4 else WIDE


def source(positions: bool, first: bool, last: bool, size: int, shape: Shape) -> str:
    """The three kernels, for keys of *size* bytes."""
    group, each, warps = shape.group, shape.each, shape.group // 32
    tile, passes = group * each, size
    _, _, key, index, put = sort_text.pass_ends(positions, first, last)
    in_type = "X" if first else "K"
    parameters, starts = sort_text.pass_arrays(positions, first, last)
    parameters = parameters.replace("@", "PG_ARRAY_IN(pg_u32, sums)")
    index = index.replace(" - start", "")
    vector = max(16 // size, 1)
    fetch = key.replace("keys_in[@]", "items.item[k]")
    count = (
        f"PG_UNROLL for (int p = 0; p < {passes}; p++)\n                    "
        f"pg_local_atomic_add_u32(&found[(p * 256 + (int)((key >> (8 * p)) & 255)) * {_COPIES} "
        f"+ (id & {_COPIES - 1})], 1u);"
    )
    bit = "same &= pg_warp_vote(set) ^ (pg_u32)(set - 1);"
    if not shape.apart:
        bit = "pg_u32 ones = pg_warp_vote(set); same &= set ? ones : ~ones;"
    rank = f"""\
        PG_UNROLL for (int k = 0; k < {each}; k++) {{{{
            pg_u32 digit = (pg_u32)(mine[k] >> shift) & 255u, same = 0xffffffffu;
            PG_UNROLL for (int bit = 0; bit < 8; bit++) {{{{
                int set = (int)((digit >> bit) & 1u);
                {bit}
            }}}}
{{more}}            pg_u32 before = same & ((1u << lane) - 1u), old = row[digit];
            pg_warp_sync();
            rank[k] = old + (pg_u32)pg_popc(before);
            if ({{mine}})
                row[digit] = old + (pg_u32)pg_popc(same);
            pg_warp_sync();
        }}}}
"""
    rank_end = f"""\
            int at = warp * {each * 32} + k * 32 + lane;
            same &= pg_warp_vote(at < many);
"""
    ranks = rank.format(more=rank_end, mine="before == 0 && at < many")
    if shape.apart:
        ranks = f"""\
    if (many == {tile}) {{
{rank.format(more="", mine="before == 0")}    }} else {{
{ranks}    }}
"""
    return f"""\
PG_DECLARE_VECTOR({in_type}, {vector})
PG_KERNEL void histogram(PG_ARRAY_IN({in_type}, keys_in), PG_ARRAY(pg_u32, sums), pg_i64 n)
{{
    PG_LOCAL pg_u32 found[{passes * 256 * _COPIES}];
    PG_START_IN({in_type}, keys_in); PG_START(pg_u32, sums);
    int id = (int)PG_LOCAL_ID(0);
    for (int i = id; i < {passes * 256 * _COPIES}; i += {COUNT_GROUP})
        found[i] = 0;
    PG_BARRIER;
    int aligned = PG_ALIGNED(keys_in, sizeof(PG_VECTOR({in_type}, {vector})));
    for (pg_i64 i = PG_ID(0) * {vector}; i < n; i += PG_IDS(0) * {vector}) {{
        if (aligned && i + {vector} <= n) {{
            PG_VECTOR({in_type}, {vector}) items = *(PG_GLOBAL const PG_VECTOR({in_type}, {vector}) *)(keys_in + i);
            PG_UNROLL for (int k = 0; k < {vector}; k++) {{
                K key = {fetch};
                {count}
            }}
        }} else {{
            for (int k = 0; k < {vector} && i + k < n; k++) {{
                K key = {key.replace("@", "i + k")};
                {count}
            }}
        }}
    }}
    PG_BARRIER;
    for (int i = id; i < {passes * 256}; i += {COUNT_GROUP}) {{
        pg_u32 sum = 0;
        PG_UNROLL for (int c = 0; c < {_COPIES}; c++)
            sum += found[i * {_COPIES} + c];
        if (sum)
            pg_atomic_add_u32(&sums[i], sum);
    }}
}}
PG_KERNEL void starts(PG_ARRAY(pg_u32, sums))
{{
    PG_LOCAL pg_u32 scanned[256];
    PG_START(pg_u32, sums);
    int id = (int)PG_LOCAL_ID(0);
    pg_u32 mine = sums[PG_GROUP_ID(0) * 256 + id], sum = mine;
    scanned[id] = mine;
    for (int d = 1; d < 256; d <<= 1) {{
        PG_BARRIER;
        pg_u32 left = id >= d ? scanned[id - d] : 0;
        PG_BARRIER;
        sum += left;
        scanned[id] = sum;
    }}
    sums[PG_GROUP_ID(0) * 256 + id] = sum - mine;
}}
PG_KERNEL void PG_BOUNDS({group}, {shape.groups}) sweep({parameters}, PG_ARRAY(pg_u32, state), pg_i64 n, pg_i32 shift)
{{
    PG_LOCAL pg_u32 ticket;
    PG_LOCAL pg_u32 found[{warps} * 256]; /* by warp and digit */
    PG_LOCAL pg_u32 begin[256]; /* of a digit, in the tile */
    PG_LOCAL pg_i64 target[256]; /* of a digit, in all, less begin */
    PG_LOCAL pg_u32 parts[8];
    PG_LOCAL K keys[{tile}];
    {f"PG_LOCAL pg_u32 places[{tile}];" if positions else ""}
    PG_START_IN(pg_u32, sums); PG_START(pg_u32, state); {starts}
    int id = (int)PG_LOCAL_ID(0), lane = id & 31, warp = id >> 5;
    if (id == 0)
        ticket = pg_atomic_add_u32(state, 1u);
    PG_UNROLL for (int w = 0; w < 8; w++)
        found[w * {group} + id] = 0;
    PG_BARRIER;
    pg_i64 tile = ticket, from = tile * {tile};
    int many = (int)(n - from < {tile} ? n - from : {tile});
    K mine[{each}];
    {f"pg_u32 index[{each}];" if positions else ""}
    pg_u32 rank[{each}];
    PG_UNROLL for (int k = 0; k < {each}; k++) {{
        int at = warp * {each * 32} + k * 32 + lane;
        mine[k] = (K)~(K)0;
        {"index[k] = 0;" if positions else ""}
        if (at < many) {{
            mine[k] = {key.replace("@", "from + at")};
            {f"index[k] = {index.replace('@', '(from + at)')};" if positions else ""}
        }}
    }}
    volatile PG_LOCAL_PTR pg_u32 *row = found + warp * 256;
    /* what lies beyond the end has digits of its own, which nobody counts */
{ranks}    PG_BARRIER;
    volatile PG_GLOBAL pg_u32 *known = state + 4;
    pg_u32 count = 0, sum = 0;
    if (id < 256) {{
        PG_UNROLL for (int w = 0; w < {warps}; w++) {{
            pg_u32 part = found[w * 256 + id];
            found[w * 256 + id] = count;
            count += part;
        }}
        known[tile * 256 + id] = (tile == 0 ? 2u : 1u) << 30 | count;
        sum = count;
        PG_UNROLL for (int d = 1; d < 32; d <<= 1) {{
            pg_u32 left = pg_warp_up(sum, d);
            if (lane >= d)
                sum += left;
        }}
        if (lane == 31)
            parts[warp] = sum;
    }}
    PG_BARRIER;
    pg_u32 lower = sum - count;
    if (id < 256) {{
        PG_UNROLL for (int w = 0; w < 8; w++)
            if (w < warp)
                lower += parts[w];
        begin[id] = lower;
    }}
    PG_BARRIER;
    PG_UNROLL for (int k = 0; k < {each}; k++) {{
        int at = warp * {each * 32} + k * 32 + lane;
        if (at < many) {{
            pg_u32 digit = (pg_u32)(mine[k] >> shift) & 255u;
            pg_u32 place = begin[digit] + found[warp * 256 + digit] + rank[k];
            keys[place] = mine[k];
            {"places[place] = index[k];" if positions else ""}
        }}
    }}
    if (id < 256) {{
        pg_u32 others = 0;
        for (pg_i64 t = tile - 1; t >= 0;) {{
            pg_u32 word[4];
            PG_UNROLL for (int k = 0; k < 4; k++)
                word[k] = t - k >= 0 ? known[(t - k) * 256 + id] : 2u << 30;
            int done = 0;
            PG_UNROLL for (int k = 0; k < 4; k++) {{
                if (done == 0) {{
                    if (word[k] >> 30 == 0u) {{
                        done = 1; /* look again */
                    }} else {{
                        others += word[k] & 0x3fffffffu;
                        t--;
                        if (word[k] >> 30 == 2u)
                            done = 2;
                    }}
                }}
            }}
            if (done == 2)
                break;
        }}
        if (tile > 0)
            known[tile * 256 + id] = 2u << 30 | (others + count);
        target[id] = (pg_i64)sums[(shift >> 3) * 256 + id] + others - lower;
    }}
    PG_BARRIER;
    PG_UNROLL for (int k = 0; k < {each}; k++) {{
        int i = k * {group} + id;
        if (i < many) {{
            K key = keys[i];
            {"pg_u32 index = places[i];" if positions else ""}
            pg_i64 at = target[(pg_u32)(key >> shift) & 255u] + i;
            {put}
        }}
    }}
}}
"""
