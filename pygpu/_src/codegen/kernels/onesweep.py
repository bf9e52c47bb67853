"""Sorting one long row by 8-bit digits, each in one pass over memory, for devices with warps
(codegen/prelude/warp.py): Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix
Sort for GPUs", 2022.

``histogram`` counts all digits of all keys at once, ``starts`` sums the counts, and ``sweep``
moves the keys by one digit. It is one kernel for all passes; its argument ``ends`` says whether a
pass is the first or the last (:data:`FIRST`, :data:`LAST`). Each tile finds where its digits begin
by looking back at the tiles before it. A tile publishes its digit counts before it ranks its keys,
so that others seldom wait for it.

state: a ticket and 3 unused words, then 256 words for each tile: two bits of state (1 the tile's
own count, 2 the sum up to its end), 30 bits of the number. So there must be fewer than 2**30
items.
"""

from __future__ import annotations

from pygpu._src.codegen.template import Template
from pygpu._src.util.frozen import Frozen

from . import radix_sort

COUNT_GROUP = 256  # work-items of histogram and starts
FIRST, LAST = 1, 2  # bits of a sweep's argument ``ends``: which passes this one is
_COPIES = 4  # copies of the counts, so that fewer work-items of a warp update the same one


class Shape(Frozen):
    """Of a sweep: work-items per group (at least 256), items of each, groups per unit. match: how
    the work-items of a warp find those with the same digit, "vote" (by a vote for each bit) or
    "or" (each sets its bit in a word of the digit)."""

    group: int
    each: int
    groups: int
    match: str


# The fastest of 26 (keys) and 12 (with positions) on an H200, 64 Mi items of 4 bytes, by CUDA; of
# 11 and 6 by OpenCL, whose compiler does not know the number of groups per unit.
CHOSEN = {
    ("cuda", False): Shape(384, 18, 3, "or"),
    ("cuda", True): Shape(256, 18, 3, "vote"),
    ("opencl", False): Shape(256, 20, 3, "vote"),
    ("opencl", True): Shape(256, 18, 3, "vote"),
}
WIDE = Shape(256, 12, 4, "or")  # of 5, for float64


def shape_of(language: str, size: int, positions: bool) -> Shape:
    """Return the shape for keys of so many bytes, with or without the positions of items."""
    return CHOSEN[language, positions] if size <= 4 else WIDE


# The kernels; the sweep by its phases.
_HISTOGRAM = Template("""\
PG_DECLARE_VECTOR($in_type, $vector)
PG_KERNEL void histogram(PG_ARRAY_IN($in_type, keys_in), PG_ARRAY(pg_u32, sums), pg_i64 n)
{
    PG_LOCAL pg_u32 found[$counters];
    PG_START_IN($in_type, keys_in); PG_START(pg_u32, sums);
    int id = (int)PG_LOCAL_ID(0);
    PG_ROLLED for (int i = id; i < $counters; i += $count_group)
        found[i] = 0;
    PG_BARRIER;
    int aligned = PG_ALIGNED(keys_in, sizeof(PG_VECTOR($in_type, $vector)));
    for (pg_i64 i = PG_ID(0) * $vector; i < n; i += PG_IDS(0) * $vector) {
        if (aligned && i + $vector <= n) {
            PG_VECTOR($in_type, $vector) items = *(PG_GLOBAL const PG_VECTOR($in_type, $vector) *)(keys_in + i);
            PG_UNROLL for (int k = 0; k < $vector; k++) {
                K key = $fetch;
                $count
            }
        } else {
            PG_ROLLED for (int k = 0; k < $vector && i + k < n; k++) {
                K key = $one_key;
                $count
            }
        }
    }
    PG_BARRIER;
    PG_ROLLED for (int i = id; i < $bins; i += $count_group) {
        pg_u32 sum = 0;
        PG_UNROLL for (int c = 0; c < $copies; c++)
            sum += found[i * $copies + c];
        if (sum)
            pg_atomic_add_u32(&sums[i], sum);
    }
}
""")

_STARTS = """\
PG_KERNEL void starts(PG_ARRAY(pg_u32, sums))
{
    PG_LOCAL pg_u32 scanned[256];
    PG_START(pg_u32, sums);
    int id = (int)PG_LOCAL_ID(0);
    pg_u32 mine = sums[PG_GROUP_ID(0) * 256 + id], sum = mine;
    scanned[id] = mine;
    PG_ROLLED for (int d = 1; d < 256; d <<= 1) {
        PG_BARRIER;
        pg_u32 left = id >= d ? scanned[id - d] : 0;
        PG_BARRIER;
        sum += left;
        scanned[id] = sum;
    }
    sums[PG_GROUP_ID(0) * 256 + id] = sum - mine;
}
"""

_SWEEP = Template("""\
PG_KERNEL void PG_BOUNDS($group, $resident) sweep($parameters, PG_ARRAY(pg_u32, state), pg_i64 n, pg_i32 shift, pg_i32 ends)
{
    PG_LOCAL pg_u32 ticket;
    PG_LOCAL pg_u32 found[$warps * 256]; /* by warp and digit */
    PG_LOCAL pg_u32 target[256]; /* of a digit, in all, less where it begins in the tile */
    PG_LOCAL pg_u32 parts[8];
    PG_LOCAL pg_u64 room[$room];
    $sorted_indices
    PG_START_IN(K, keys_in); PG_START_IN(pg_u32, sums); PG_START(K, keys_out); PG_START(pg_u32, state); $starts
    PG_LOCAL_PTR K *keys = (PG_LOCAL_PTR K *)room;
    int id = (int)PG_LOCAL_ID(0), lane = id & 31, warp = id >> 5;
    pg_u32 below = (1u << lane) - 1u;
    if (id == 0)
        ticket = pg_atomic_add_u32(state, 1u);
    PG_UNROLL for (int w = 0; w < 8; w++)
        found[w * $group + id] = 0;
    $clear_marks
    PG_BARRIER;
""")

_LOAD = Template("""\
    pg_i64 tile = ticket, from = tile * $tile;
    int many = (int)(n - from < $tile ? n - from : $tile), mine_from = warp * $stretch + lane;
    K mine[$each];
    $indices
    pg_u32 rank[$each];
    volatile PG_LOCAL_PTR pg_u32 *row = found + warp * 256;
    $marks
    if (many == $tile) {
        PG_UNROLL for (int k = 0; k < $each; k++) {
            int there = mine_from + k * 32;
            mine[k] = keys_in[from + there];
            $read_index
        }
    } else { /* a tile's missing keys are the greatest ones, behind all others */
        K greatest = ends & $first ? sort_item((K)~(K)0) : (K)~(K)0;
        PG_UNROLL for (int k = 0; k < $each; k++) {
            int at = mine_from + k * 32, there = at < many ? at : many - 1;
            mine[k] = keys_in[from + there];
            $read_index
            mine[k] = at < many ? mine[k] : greatest;
        }
    }
    if (ends & $first) {
        PG_UNROLL for (int k = 0; k < $each; k++)
            mine[k] = sort_key(mine[k]);
    }
    PG_UNROLL for (int k = 0; k < $each; k++)
        pg_local_atomic_add_u32(&found[warp * 256 + (int)((pg_u32)(mine[k] >> shift) & 255u)], 1u);
    PG_BARRIER;
""")

_COUNT = Template("""\
    volatile PG_GLOBAL pg_u32 *known = state + 4;
    pg_u32 count = 0, sum = 0;
    if (id < 256) {
        PG_UNROLL for (int w = 0; w < $warps; w++)
            count += found[w * 256 + id];
        if (id == 255)
            count -= (pg_u32)($tile - many);
        known[tile * 256 + id] = (tile == 0 ? 2u : 1u) << 30 | count;
        sum = count;
        PG_UNROLL for (int d = 1; d < 32; d <<= 1) {
            pg_u32 left = pg_warp_up(sum, d);
            if (lane >= d)
                sum += left;
        }
        if (lane == 31)
            parts[warp] = sum;
    }
    PG_BARRIER;
    pg_u32 lower = sum - count;
    if (id < 256) {
        PG_UNROLL for (int w = 0; w < 8; w++)
            if (w < warp)
                lower += parts[w];
        pg_u32 next = lower;
        PG_UNROLL for (int w = 0; w < $warps; w++) {
            pg_u32 part = found[w * 256 + id];
            found[w * 256 + id] = next;
            next += part;
        }
    }
    PG_BARRIER;
""")

_ORDER = Template("""\
    PG_UNROLL for (int k = 0; k < $each; k++) {
        pg_u32 digit = (pg_u32)(mine[k] >> shift) & 255u;
        $match
        rank[k] = old + (pg_u32)pg_popc(same & below);
        if ((same >> lane) == 1) {
            ${clear_mark}row[digit] = old + (pg_u32)pg_popc(same);
        }
        pg_warp_sync();
    }
    $marks_end
    PG_UNROLL for (int k = 0; k < $each; k++) {
        keys[rank[k]] = mine[k];
        $store_index
    }
""")

_LOOK_BACK = Template("""\
    if (id < 256) {
        pg_u32 others = 0;
        for (pg_i64 t = tile - 1; t >= 0;) {
            pg_u32 word[4];
            PG_UNROLL for (int k = 0; k < 4; k++)
                word[k] = t - k >= 0 ? known[(t - k) * 256 + id] : 2u << 30;
            int done = 0;
            PG_UNROLL for (int k = 0; k < 4; k++) {
                if (done == 0) {
                    if (word[k] >> 30 == 0u) {
                        done = 1; /* look again */
                    } else {
                        others += word[k] & 0x3fffffffu;
                        t--;
                        if (word[k] >> 30 == 2u)
                            done = 2;
                    }
                }
            }
            if (done == 2)
                break;
        }
        if (tile > 0)
            known[tile * 256 + id] = 2u << 30 | (others + count);
        target[id] = sums[(shift >> 3) * 256 + id] + others - lower;
    }
""")

_WRITE = Template("""\
    $last_mask
    PG_BARRIER;
    _Pragma("unroll 6") for (int k = 0; k < $each; k++) { /* all of them compile slowly */
        int i = k * $group + id;
        if (i < many) {
            K key = keys[i];
            pg_u32 at = target[(pg_u32)(key >> shift) & 255u] + (pg_u32)i;
            $put
        }
    }
}
""")

_VOTE = """\
pg_u32 same = 0xffffffffu;
        PG_UNROLL for (int bit = 0; bit < 8; bit++) {
            int set = (int)(digit & (1u << bit));
            pg_u32 ones = pg_warp_vote(set);
            same &= set ? ones : ~ones;
        }
        pg_u32 old = row[digit];
        pg_warp_sync();"""

_OR = """\
pg_local_atomic_or_u32(&marks[digit], 1u << lane);
        pg_warp_sync();
        pg_u32 same = marks[digit], old = row[digit];
        pg_warp_sync();"""

_CLEAR_MARKS = Template(
    "PG_UNROLL for (int w = 0; w < 8; w++) ((PG_LOCAL_PTR pg_u32 *)room)[w * $group + id] = 0;"
)
_READ_INDEX = f"index[k] = ends & {FIRST} ? (pg_u32)(from + there) : index_in[from + there];"
# Not a condition, for which compilers would copy the whole loop
_PUT_KEY = "keys_out[at] = (K)(key ^ ((key ^ sort_item(key)) & last));"
_LAST_MASK = f"const K last = ends & {LAST} ? (K)~(K)0 : (K)0;"
_PUT_INDEX = f"""\
if (ends & {LAST}) {{
                ((PG_GLOBAL pg_i64 *)index_out)[at] = (pg_i64)sorted_indices[i];
            }} else {{
                keys_out[at] = key;
                index_out[at] = sorted_indices[i];
            }}"""
_MARKS = "volatile PG_LOCAL_PTR pg_u32 *marks = (PG_LOCAL_PTR pg_u32 *)room + warp * 256;"


def _histogram(in_type: str, key: str, size: int) -> str:
    vector, bins = max(16 // size, 1), size * 256
    count = (
        f"PG_UNROLL for (int p = 0; p < {size}; p++)\n                    "
        f"pg_local_atomic_add_u32(&found[(p * 256 + (int)((key >> (8 * p)) & 255)) * {_COPIES} "
        f"+ (id & {_COPIES - 1})], 1u);"
    )
    return _HISTOGRAM.fill(
        in_type=in_type,
        vector=vector,
        counters=bins * _COPIES,
        count_group=COUNT_GROUP,
        fetch=key.replace("keys_in[@]", "items.item[k]"),
        count=count,
        one_key=key.replace("@", "i + k"),
        bins=bins,
        copies=_COPIES,
    )


def _sweep(positions: bool, size: int, shape: Shape) -> str:
    group, each, warps = shape.group, shape.each, shape.group // 32
    tile, voted = group * each, shape.match == "vote"
    words = tile * size // 4 if voted else max(tile * size // 4, warps * 256)
    arrays = [("_IN", "K", "keys_in"), ("_IN", "pg_u32", "sums"), ("", "K", "keys_out")]
    if positions:
        arrays.insert(1, ("_IN", "pg_u32", "index_in"))
        arrays.append(("", "pg_u32", "index_out"))

    def placed(text: str) -> str:
        return text if positions else ""

    values = {
        "group": group,
        "each": each,
        "warps": warps,
        "tile": tile,
        "stretch": each * 32,
        "resident": shape.groups,
        "room": (words + 1) // 2,
        "first": FIRST,
        "last": LAST,
        "parameters": ", ".join(f"PG_ARRAY{m}({t}, {x})" for m, t, x in arrays),
        "starts": placed("PG_START_IN(pg_u32, index_in); PG_START(pg_u32, index_out);"),
        "put": _PUT_INDEX if positions else _PUT_KEY,
        "last_mask": "" if positions else _LAST_MASK,
        "sorted_indices": placed(f"PG_LOCAL pg_u32 sorted_indices[{tile}];"),
        "indices": placed(f"pg_u32 index[{each}];"),
        "read_index": placed(_READ_INDEX),
        "store_index": placed("sorted_indices[rank[k]] = index[k];"),
        "match": _VOTE if voted else _OR,
        "clear_mark": "" if voted else "marks[digit] = 0; ",
        "clear_marks": "" if voted else _CLEAR_MARKS.fill(group=group),
        "marks": "" if voted else _MARKS,
        "marks_end": "" if voted else "PG_BARRIER;",
    }
    phases = (_SWEEP, _LOAD, _COUNT, _ORDER, _LOOK_BACK, _WRITE)
    return "".join(phase.fill(values) for phase in phases)


def count_source(positions: bool, only: bool, size: int) -> str:
    """The kernels ``histogram`` and ``starts``, for keys of *size* bytes. only: whether there is a
    single pass."""
    in_type, _, key, *_ = radix_sort.pass_ends(positions, True, only)
    return _histogram(in_type, key, size) + _STARTS


def source(positions: bool, size: int, shape: Shape) -> str:
    """The kernel ``sweep`` of a pass over keys of *size* bytes, the same for each pass."""
    return _sweep(positions, size, shape)
