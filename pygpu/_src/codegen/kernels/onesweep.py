"""Sorting one long row by digits of 8 bits, each in one pass over memory, for devices with warps
(codegen/prelude/warp.py): Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs",
2022.

``histogram`` counts all digits of all keys at once, ``starts`` sums them up, and ``sweep`` moves the
keys by one digit, each tile finding where its digits begin by looking back at the tiles before it. A tile
counts its digits and tells the counts before it ranks its keys, so that others seldom wait for it.

state: first a ticket and 3 words unused, then 256 words for each tile: two bits of what is known (1 the
tile's own count, 2 the sum up to its end), 30 of number. So there must be fewer than 2**30 items.
"""

from __future__ import annotations

from pygpu._src.util.frozen import Frozen

from . import radix_sort as sort_text

__all__ = ["COUNT_GROUP", "Shape", "shape_of", "source"]

COUNT_GROUP = 256  # work-items of histogram and starts
_COPIES = 4  # of the counts, so that fewer work-items of a warp count in one place


class Shape(Frozen):
    """Of a sweep: work-items of a group (256 at least), items of each, groups that a unit holds.
    match: how the work-items of a warp find those with the same digit, "vote" (by a vote for each bit)
    or "or" (each sets its bit in a word of the digit)."""

    group: int
    each: int
    groups: int
    match: str


# The quickest of 26 (keys) and 12 (with positions) on an H200, 64 Mi items of 4 bytes, by CUDA; of 11 and 6
# by OpenCL, whose compiler is not told how many groups a unit shall hold.
CHOSEN = {
    ("cuda", False): Shape(384, 18, 3, "or"),
    ("cuda", True): Shape(256, 18, 3, "vote"),
    ("opencl", False): Shape(256, 20, 3, "vote"),
    ("opencl", True): Shape(256, 18, 3, "vote"),
}
WIDE = Shape(256, 12, 4, "or")  # of 5, for float64


def shape_of(language: str, size: int, positions: bool) -> Shape:
    """The shape for keys of so many bytes, with the positions of items or without."""
    return CHOSEN[language, positions] if size <= 4 else WIDE


def source(positions: bool, first: bool, last: bool, size: int, shape: Shape) -> str:
    """The three kernels, for keys of *size* bytes."""
    group, each, warps = shape.group, shape.each, shape.group // 32
    tile = group * each
    _, _, key, index, put = sort_text.pass_ends(positions, first, last)
    in_type = "X" if first else "K"
    parameters, starts = sort_text.pass_arrays(positions, first, last)
    parameters = parameters.replace("@", "PG_ARRAY_IN(pg_u32, sums)")
    index = index.replace(" - start", "")
    vector = max(16 // size, 1)
    passes = size
    fetch = key.replace("keys_in[@]", "items.item[k]")
    count = (
        f"PG_UNROLL for (int p = 0; p < {passes}; p++)\n                    "
        f"pg_local_atomic_add_u32(&found[(p * 256 + (int)((key >> (8 * p)) & 255)) * {_COPIES} "
        f"+ (id & {_COPIES - 1})], 1u);"
    )
    voted = shape.match == "vote"
    words = tile * size // 4 if voted else max(tile * size // 4, warps * 256)
    if voted:
        match = """\
pg_u32 same = 0xffffffffu;
            PG_UNROLL for (int bit = 0; bit < 8; bit++) {{
                int set = (int)(digit & (1u << bit));
                pg_u32 ones = pg_warp_vote(set);
                same &= set ? ones : ~ones;
            }}
            {all}
            pg_u32 old = row[digit];
            pg_warp_sync();"""
        forget = ""
    else:
        match = """\
{some}
                pg_local_atomic_or_u32(&marks[digit], 1u << lane);
            pg_warp_sync();
            pg_u32 same = marks[digit], old = row[digit];
            pg_warp_sync();"""
        forget = "marks[digit] = 0; "
    rank = f"""\
        PG_UNROLL for (int k = 0; k < {each}; k++) {{{{
            pg_u32 digit = (pg_u32)(mine[k] >> shift) & 255u;
            {{at}}{match}
            rank[k] = old + (pg_u32)pg_popc(same & below);
            if ({{lead}}) {{{{
                {forget}row[digit] = old + (pg_u32)pg_popc(same);
            }}}}
            pg_warp_sync();
        }}}}
"""
    whole = rank.format(at="", all="", some="", lead="(same >> lane) == 1")
    ends = rank.format(
        at=f"int here = warp * {each * 32} + k * 32 + lane < many;\n            ",
        all="same &= pg_warp_vote(here);",
        some="if (here)",
        lead="here && (same >> lane) == 1",
    )
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
    PG_LOCAL pg_u32 target[256]; /* of a digit, in all, less where it begins in the tile */
    PG_LOCAL pg_u32 parts[8];
    PG_LOCAL pg_u64 room[{(words + 1) // 2}];
    {f"PG_LOCAL pg_u32 places[{tile}];" if positions else ""}
    PG_START_IN(pg_u32, sums); PG_START(pg_u32, state); {starts}
    PG_LOCAL_PTR K *keys = (PG_LOCAL_PTR K *)room;
    int id = (int)PG_LOCAL_ID(0), lane = id & 31, warp = id >> 5;
    pg_u32 below = (1u << lane) - 1u;
    if (id == 0)
        ticket = pg_atomic_add_u32(state, 1u);
    PG_UNROLL for (int w = 0; w < 8; w++)
        found[w * {group} + id] = 0;
    {"" if voted else f"PG_UNROLL for (int w = 0; w < 8; w++) ((PG_LOCAL_PTR pg_u32 *)room)[w * {group} + id] = 0;"}
    PG_BARRIER;
    pg_i64 tile = ticket, from = tile * {tile};
    int many = (int)(n - from < {tile} ? n - from : {tile});
    K mine[{each}];
    {f"pg_u32 index[{each}];" if positions else ""}
    pg_u32 rank[{each}];
    volatile PG_LOCAL_PTR pg_u32 *row = found + warp * 256;
    {"" if voted else "volatile PG_LOCAL_PTR pg_u32 *marks = (PG_LOCAL_PTR pg_u32 *)room + warp * 256;"}
    if (many == {tile}) {{
        PG_UNROLL for (int k = 0; k < {each}; k++) {{
            int at = warp * {each * 32} + k * 32 + lane;
            mine[k] = {key.replace("@", "from + at")};
            {f"index[k] = {index.replace('@', '(from + at)')};" if positions else ""}
        }}
        PG_UNROLL for (int k = 0; k < {each}; k++)
            pg_local_atomic_add_u32(&found[warp * 256 + (int)((pg_u32)(mine[k] >> shift) & 255u)], 1u);
    }} else {{
        PG_UNROLL for (int k = 0; k < {each}; k++) {{
            int at = warp * {each * 32} + k * 32 + lane;
            mine[k] = (K)~(K)0;
            {"index[k] = 0;" if positions else ""}
            if (at < many) {{
                mine[k] = {key.replace("@", "from + at")};
                {f"index[k] = {index.replace('@', '(from + at)')};" if positions else ""}
                pg_local_atomic_add_u32(&found[warp * 256 + (int)((pg_u32)(mine[k] >> shift) & 255u)], 1u);
            }}
        }}
    }}
    PG_BARRIER;
    volatile PG_GLOBAL pg_u32 *known = state + 4;
    pg_u32 count = 0, sum = 0;
    if (id < 256) {{
        PG_UNROLL for (int w = 0; w < {warps}; w++)
            count += found[w * 256 + id];
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
        pg_u32 next = lower;
        PG_UNROLL for (int w = 0; w < {warps}; w++) {{
            pg_u32 part = found[w * 256 + id];
            found[w * 256 + id] = next;
            next += part;
        }}
    }}
    PG_BARRIER;
    if (many == {tile}) {{
{whole}    }} else {{
{ends}    }}
    {"" if voted else "PG_BARRIER;"}
    if (many == {tile}) {{
        PG_UNROLL for (int k = 0; k < {each}; k++) {{
            keys[rank[k]] = mine[k];
            {"places[rank[k]] = index[k];" if positions else ""}
        }}
    }} else {{
        PG_UNROLL for (int k = 0; k < {each}; k++)
            if (warp * {each * 32} + k * 32 + lane < many) {{
                keys[rank[k]] = mine[k];
                {"places[rank[k]] = index[k];" if positions else ""}
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
        target[id] = sums[(shift >> 3) * 256 + id] + others - lower;
    }}
    PG_BARRIER;
    PG_UNROLL for (int k = 0; k < {each}; k++) {{
        int i = k * {group} + id;
        if (i < many) {{
            K key = keys[i];
            {"pg_u32 index = places[i];" if positions else ""}
            pg_u32 at = target[(pg_u32)(key >> shift) & 255u] + (pg_u32)i;
            {put}
        }}
    }}
}}
"""
