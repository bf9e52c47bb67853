"""Kernels for masks of bytes on devices with warps (:mod:`pygpu._src.codegen.prelude.warp`):
``marks`` converts a mask to bits and counts them, ``gather`` stores the selected items next to
each other.

A mask is read once, and its bits, an eighth of its size, once more. The group that ends last adds
up the counts, so one launch suffices before the host learns how many there are. A tile of
:data:`TILE` items belongs to a warp of ``marks`` and to a group of ``gather``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.template import Template

from .gather import GROUP, TILE, written

__all__ = ["GROUP", "TILE", "gather_source", "layout", "marks_source"]

DType = np.dtype[Any]
_RESIDENT = {1: 6, 2: 6, 4: 6, 8: 4}  # groups per unit, by the bytes of an item


def layout(tiles: int) -> tuple[int, int, int, int]:
    """The layout of the results of ``marks`` (bits, ends of tiles, counts of tiles): (tiles with
    space, offset of the ends, offset of the last one, total) [bytes]."""
    room = -(-tiles // 128) * 128
    bits = room * (TILE // 8)
    return room, bits, bits + 8 * (tiles - 1), bits + 12 * room


_MARKS = Template("""\
PG_DECLARE_VECTOR(pg_u32, 4)
PG_KERNEL void PG_BOUNDS($group, 4) marks(PG_ARRAY_IN($m, mask), PG_ARRAY(pg_u16, bits), PG_ARRAY(pg_u32, done), pg_i64 n, pg_i64 tiles, pg_i64 room)
{
    PG_START_IN($m, mask); PG_START(pg_u16, bits); PG_START(pg_u32, done);
    PG_LOCAL pg_u32 last;
    PG_LOCAL pg_i64 sums[$warps];
    PG_GLOBAL pg_i64 *ends = (PG_GLOBAL pg_i64 *)(bits + room * $words);
    PG_GLOBAL pg_u32 *counts = (PG_GLOBAL pg_u32 *)(ends + room);
    int id = (int)PG_LOCAL_ID(0), lane = id & 31, warp = id >> 5;
    pg_i64 tile = PG_ID(0) / 32, first = tile * $tile;
    if (tile < tiles) {
        pg_u32 sum = 0;
        if (first + $tile <= n && PG_ALIGNED(mask, 16)) {
            PG_GLOBAL const PG_VECTOR(pg_u32, 4) *from = (PG_GLOBAL const PG_VECTOR(pg_u32, 4) *)(mask + first);
            PG_VECTOR(pg_u32, 4) v[$vectors];
            PG_UNROLL for (int k = 0; k < $vectors; k++)
                v[k] = from[k * 32 + lane];
            PG_UNROLL for (int k = 0; k < $vectors; k++) {
                pg_u32 set = 0;
                PG_UNROLL for (int j = 0; j < 4; j++) {
                    pg_u32 w = v[k].item[j]; /* the highest bit of each byte that is not 0, then side by side */
                    w = ((w & 0x7f7f7f7fu) + 0x7f7f7f7fu | w) & 0x80808080u;
                    set |= ((w >> 7) * 0x01020408u >> 24 & 15) << (4 * j);
                }
                bits[tile * $words + k * 32 + lane] = (pg_u16)set;
                sum += (pg_u32)pg_popc(set);
            }
            PG_UNROLL for (int d = 1; d < 32; d <<= 1) {
                pg_u32 left = pg_warp_up(sum, (pg_u32)d);
                if (lane >= d)
                    sum += left;
            }
        } else {
            PG_ROLLED for (int k = 0; k < $tile; k += 32) {
                pg_i64 i = first + k + lane;
                pg_u32 set = pg_warp_vote(i < n && mask[i] != 0);
                if (lane < 2)
                    bits[tile * $words + k / 16 + lane] = (pg_u16)(set >> (16 * lane));
                sum += (pg_u32)pg_popc(set);
            }
        }
        if (lane == 31) {
            counts[tile] = sum;
            PG_DEVICE_FENCE;
        }
    }
    PG_BARRIER;
    if (id == 0)
        last = pg_atomic_add_u32(done, 1u) == PG_GROUPS(0) - 1;
    PG_BARRIER;
    if (!last)
        return;
""")

_LAST_GROUP = Template("""\
    PG_DEVICE_FENCE; /* the last group adds up: a stretch of tiles for each warp, 4 a lane at a time */
    int all = (int)tiles, stretch = (all + $four_groups_less) / $four_groups * 32, begin = warp * stretch;
    int end = begin + stretch < (all + 3) / 4 ? begin + stretch : (all + 3) / 4;
    pg_i64 carry = 0;
    PG_GLOBAL const PG_VECTOR(pg_u32, 4) *fours = (PG_GLOBAL const PG_VECTOR(pg_u32, 4) *)counts;
    pg_u32 mine = 0;
    _Pragma("unroll 4") for (int i = begin + lane; i < end; i += 32) {
        PG_VECTOR(pg_u32, 4) v = fours[i];
        PG_UNROLL for (int j = 0; j < 4; j++)
            mine += i * 4 + j < all ? v.item[j] : 0;
    }
    PG_UNROLL for (int d = 1; d < 32; d <<= 1) {
        pg_u32 left = pg_warp_up(mine, (pg_u32)d);
        if (lane >= d)
            mine += left;
    }
    if (lane == 31)
        sums[warp] = (pg_i64)mine;
    PG_BARRIER;
    PG_ROLLED for (int w = 0; w < warp; w++)
        carry += sums[w];
    PG_VECTOR(pg_u32, 4) v, next = fours[begin + lane < end ? begin + lane : 0];
    PG_ROLLED for (int i = begin; i < end; i += 32) {
        v = next;
        next = fours[i + 32 + lane < end ? i + 32 + lane : 0];
        PG_UNROLL for (int j = 0; j < 4; j++) {
            if (i + lane >= end || (i + lane) * 4 + j >= all)
                v.item[j] = 0;
            if (j > 0)
                v.item[j] += v.item[j - 1];
        }
        pg_u32 sum = v.item[3];
        PG_UNROLL for (int d = 1; d < 32; d <<= 1) {
            pg_u32 left = pg_warp_up(sum, (pg_u32)d);
            if (lane >= d)
                sum += left;
        }
        pg_i64 before = carry + (pg_i64)(sum - v.item[3]);
        if (i + lane < end)
            PG_UNROLL for (int j = 0; j < 4; j++)
                ends[(i + lane) * 4 + j] = before + (pg_i64)v.item[j];
        carry += (pg_i64)pg_warp_all(sum);
    }
    if (id == 0)
        *done = 0;
}
""")


def marks_source(mask: DType) -> str:
    """The kernel ``marks``: bits of n bytes, how many of each tile are set, and (pg_i64) how many
    up to the end of each tile. ``done`` is zero before and after."""
    m = dtypes.storage_type(mask)
    vectors = TILE // 512
    return _MARKS.fill(
        group=GROUP, m=m, warps=GROUP // 32, words=TILE // 16, tile=TILE, vectors=vectors
    ) + _LAST_GROUP.fill(four_groups_less=GROUP * 4 - 1, four_groups=GROUP * 4)


def gather_source(items: DType) -> str:
    """The kernel ``gather``: stores x's items with set bits next to each other."""
    t = dtypes.storage_type(items)
    vectors = TILE // GROUP // 4
    return f"""\
{dtypes.declare(items)}PG_DECLARE_VECTOR({t}, 4)
PG_KERNEL void PG_BOUNDS({GROUP}, {_RESIDENT.get(items.itemsize, 4)}) gather(PG_ARRAY_IN(pg_u32, bits), PG_ARRAY_IN({t}, x), PG_ARRAY({t}, out), pg_i64 n, pg_i64 tiles, pg_i64 room)
{{
    PG_START_IN(pg_u32, bits); PG_START_IN({t}, x); PG_START({t}, out);
    PG_GLOBAL const pg_i64 *ends = (PG_GLOBAL const pg_i64 *)(bits + room * {TILE // 32});
    PG_LOCAL pg_u64 totals[{GROUP // 32}];
    PG_LOCAL {t} stage[{TILE}];
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0), lane = id & 31, warp = id >> 5;
    int aligned = PG_ALIGNED(x, 4 * sizeof({t}));
    for (pg_i64 tile = PG_GROUP_ID(0); tile < tiles; tile += PG_GROUPS(0)) {{
        pg_i64 base = tile == 0 ? 0 : ends[tile - 1], first = tile * {TILE};
        pg_i32 many = (pg_i32)(ends[tile] - base);
        if (many == 0)
            continue;
        {t} v[{vectors}][4];
        pg_u32 flags = 0; /* of items first + k * {GROUP * 4} + id * 4 + j, in bit k * 4 + j */
        PG_UNROLL for (int k = 0; k < {vectors}; k++)
            flags |= ((bits[tile * {TILE // 32} + k * {GROUP // 8} + id / 8] >> (id % 8 * 4)) & 15) << (k * 4);
        if (aligned && first + {TILE} <= n && many >= {TILE // 4}) {{
            PG_UNROLL for (int k = 0; k < {vectors}; k++) {{
                PG_VECTOR({t}, 4) four = ((PG_GLOBAL const PG_VECTOR({t}, 4) *)(x + first))[k * {GROUP} + id];
                PG_UNROLL for (int j = 0; j < 4; j++)
                    v[k][j] = four.item[j];
            }}
        }} else {{ /* also where few are wanted: whole sectors need not be read */
            PG_UNROLL for (int k = 0; k < {vectors}; k++)
                PG_UNROLL for (int j = 0; j < 4; j++)
                    if ((flags >> (k * 4 + j)) & 1)
                        v[k][j] = x[first + k * {GROUP * 4} + id * 4 + j];
        }}
        /* four counts of at most 4 * {GROUP} each in 16 bits of two sums, scanned together */
        pg_u32 low = (pg_u32)pg_popc(flags & 15) | (pg_u32)pg_popc(flags & 240) << 16;
        pg_u32 high = (pg_u32)pg_popc(flags & 3840) | (pg_u32)pg_popc(flags & 61440) << 16;
        pg_u32 sum_low = low, sum_high = high;
        PG_UNROLL for (int d = 1; d < 32; d <<= 1) {{
            pg_u32 left_low = pg_warp_up(sum_low, (pg_u32)d), left_high = pg_warp_up(sum_high, (pg_u32)d);
            if (lane >= d) {{
                sum_low += left_low;
                sum_high += left_high;
            }}
        }}
        if (lane == 31)
            totals[warp] = (pg_u64)sum_high << 32 | sum_low;
        PG_BARRIER;
        pg_u64 whole = 0, before = (pg_u64)(sum_high - high) << 32 | (sum_low - low);
        PG_UNROLL for (int w = 0; w < {GROUP // 32}; w++) {{
            pg_u64 total = totals[w];
            whole += total;
            if (w < warp)
                before += total;
        }}
        pg_i32 at_k = 0;
{written(vectors)}    }}
}}
"""
