"""A scan of long contiguous rows in one pass over memory, for devices with warps (warp_text.py).

A group takes tile after tile, and looks for the sum of what comes before a tile among the tiles before
it (Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016): every item
is read once and written once. Tiles are numbered as they are taken, so those before one are done, or
held by running groups that come to them without waiting for a later one. A group has the items of its
next tile on their way while it looks back.

The text before it is that of scan_text.py.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GROUP", "Shape", "shape_of", "source"]

GROUP = 256


@dataclass(frozen=True)
class Shape:
    """vectors: of 16 bytes of the result, that a work-item holds of a tile, at most 8. ahead: the
    next tile is read before the look-back. groups: that a unit holds."""

    vectors: int
    ahead: bool
    groups: int


CHOSEN = Shape(4, True, 3)


def shape_of(size: int) -> Shape:
    """The shape for a scan_t of so many bytes."""
    return CHOSEN


_HELPERS = """\
typedef union { scan_t value; pg_u32 word[sizeof(scan_t) / 4]; } scan_words;
PG_INLINE scan_t scan_up(scan_t v, int d)
{
    scan_words w;
    w.value = v;
    PG_UNROLL for (int k = 0; k < (int)(sizeof(scan_t) / 4); k++)
        w.word[k] = pg_warp_up(w.word[k], d);
    return w.value;
}
PG_INLINE scan_t scan_down(scan_t v, int d)
{
    scan_words w;
    w.value = v;
    PG_UNROLL for (int k = 0; k < (int)(sizeof(scan_t) / 4); k++)
        w.word[k] = pg_warp_down(w.word[k], d);
    return w.value;
}
"""

# How a tile says what it knows: 0 nothing, 1 its own sum, 2 the sum of all up to its end.
_PACKED = """\
PG_INLINE void scan_tell(PG_GLOBAL pg_u32 *state, pg_i64 total, pg_i64 tile, pg_u32 flag, scan_t value)
{
    scan_words w;
    w.value = value;
    ((volatile PG_GLOBAL pg_u64 *)(state + 4))[tile] = (pg_u64)flag << 32 | w.word[0];
}
PG_INLINE pg_u32 scan_ask(PG_GLOBAL pg_u32 *state, pg_i64 total, pg_i64 tile, scan_t *value)
{
    pg_u64 both = ((volatile PG_GLOBAL pg_u64 *)(state + 4))[tile];
    scan_words w;
    w.word[0] = (pg_u32)both;
    *value = w.value;
    return (pg_u32)(both >> 32);
}
"""

_APART = """\
typedef union { scan_t value; pg_u64 word[sizeof(scan_t) / 8]; } scan_longs;
PG_INLINE PG_GLOBAL scan_t *scan_values(PG_GLOBAL pg_u32 *state, pg_i64 total, pg_u32 flag)
{
    return (PG_GLOBAL scan_t *)(state + 4 + (total + 3) / 4 * 4) + (flag == 2 ? total : 0);
}
PG_INLINE void scan_tell(PG_GLOBAL pg_u32 *state, pg_i64 total, pg_i64 tile, pg_u32 flag, scan_t value)
{
    scan_values(state, total, flag)[tile] = value;
    PG_DEVICE_FENCE;
    ((volatile PG_GLOBAL pg_u32 *)(state + 4))[tile] = flag;
}
PG_INLINE pg_u32 scan_ask(PG_GLOBAL pg_u32 *state, pg_i64 total, pg_i64 tile, scan_t *value)
{
    pg_u32 flag = ((volatile PG_GLOBAL pg_u32 *)(state + 4))[tile];
    if (flag != 0) {
        PG_DEVICE_FENCE;
        volatile PG_GLOBAL pg_u64 *from =
            (volatile PG_GLOBAL pg_u64 *)(scan_values(state, total, flag) + tile);
        scan_longs w;
        PG_UNROLL for (int k = 0; k < (int)(sizeof(scan_t) / 8); k++)
            w.word[k] = from[k];
        *value = w.value;
    }
    return flag;
}
"""

_LOOK_BACK = """\
PG_INLINE scan_t scan_before(PG_GLOBAL pg_u32 *state, pg_i64 total, pg_i64 first, pg_i64 t, int lane)
{
    scan_t prefix = scan_none();
    for (pg_i64 near = t - 1; near >= 0; near -= 128) {
        /* each thread asks four tiles in a row: 128 in the time of one */
        scan_t value[4];
        pg_u32 flag[4];
        int missing;
        do {
            missing = 0;
            PG_UNROLL for (int k = 0; k < 4; k++) {
                pg_i64 other = near - 4 * lane - k;
                value[k] = scan_none();
                flag[k] = other < 0 ? 2u : scan_ask(state, total, first + other, &value[k]);
            }
            /* what lies behind the first whole sum need not be known */
            int here = flag[0] == 2 || flag[1] == 2 || flag[2] == 2 || flag[3] == 2;
            pg_u32 wholes = pg_warp_vote(here);
            int needed = wholes == 0 || lane < pg_ffs(wholes);
            int open = 1;
            PG_UNROLL for (int k = 0; k < 4; k++) {
                if (open && flag[k] == 0)
                    missing = needed;
                if (flag[k] == 2)
                    open = 0;
            }
        } while (pg_warp_vote(missing) != 0);
        scan_t far = value[0];
        int open = flag[0] != 2;
        PG_UNROLL for (int k = 1; k < 4; k++) {
            if (open)
                far = scan_join(value[k], far);
            if (flag[k] == 2)
                open = 0;
        }
        pg_u32 wholes = pg_warp_vote(!open);
        if (wholes != 0 && lane >= pg_ffs(wholes))
            far = scan_none();
        PG_UNROLL for (int d = 1; d < 32; d <<= 1) {
            scan_t more = scan_down(far, d);
            if (lane + d < 32)
                far = scan_join(more, far);
        }
        prefix = scan_join(far, prefix);
        if (wholes != 0)
            break;
    }
    return prefix;
}
"""


def source(parameters: str, rows: str, size: int, vector: int, shape: Shape) -> str:
    """scan_lookback. parameters: the kernel's last; rows: statements that declare x_row and y_row of
    a row; size: bytes of a scan_t; vector: items in one access."""
    many = shape.vectors
    tile = GROUP * vector * many
    helpers = _HELPERS + (_PACKED if size == 4 else _APART) + _LOOK_BACK
    scan_warp = """\
PG_UNROLL for (int d = 1; d < 32; d <<= 1) {
                scan_t other = scan_up(sum, d);
                if (lane >= d)
                    sum = scan_join(other, sum);
            }"""
    fetch = f"""\
if (tile < total) {{
            pg_i64 row = tile / tiles, t = tile - row * tiles;
        {rows}
            PG_GLOBAL const X *from = (PG_GLOBAL const X *)x_row + t * {tile};
            pg_i64 left = n - t * {tile};
            (void)y_row;
            if (left >= {tile} && PG_ALIGNED(from, sizeof(PG_VECTOR(X, {vector})))) {{
                PG_UNROLL for (int j = 0; j < {many}; j++)
                    in[j] = ((PG_GLOBAL const PG_VECTOR(X, {vector}) *)from)[j * {GROUP} + id];
            }} else {{
                PG_UNROLL for (int j = 0; j < {many}; j++)
                    PG_UNROLL for (int k = 0; k < {vector}; k++) {{
                        pg_i64 at = (j * {GROUP} + id) * {vector} + k;
                        if (at < left)
                            in[j].item[k] = from[at];
                    }}
            }}
        }}"""
    early = fetch.replace("tile < total", "next < total").replace("tile / tiles", "next / tiles")
    early = early.replace("t = tile -", "t = next -")
    early, late = (early, "") if shape.ahead else ("", early)
    return f"""\
PG_DECLARE_VECTOR(X, {vector})
typedef struct PG_ALIGN(sizeof(Y) * {vector}) {{ Y item[{vector}]; }} scan_out;
PG_INLINE scan_t scan_value(const X *p) {{ SCAN_VALUE }}
PG_INLINE void scan_put(Y *p, scan_t v) {{ SCAN_PUT }}
{helpers}PG_KERNEL void PG_BOUNDS({GROUP}, {shape.groups}) scan_lookback({parameters})
{{
    PG_LOCAL pg_u32 ticket;
    PG_LOCAL scan_t sums_of[128];
    PG_LOCAL scan_t prefix_of[2];
    PG_START_IN(X, x); PG_START(Y, y); PG_START(pg_u32, state);
    int id = (int)PG_LOCAL_ID(0), lane = id & 31, warp = id >> 5, turn = 0;
    pg_i64 total = rows * tiles;
    if (id == 0)
        ticket = pg_atomic_add_u32(state, 1u);
    PG_BARRIER;
    pg_i64 tile = ticket;
    PG_BARRIER;
    PG_VECTOR(X, {vector}) in[{many}];
    {fetch}
    while (tile < total) {{
        /* of two turns at once: no group-wide wait is needed between them */
        PG_LOCAL_PTR scan_t *sums = sums_of + 64 * turn, *shared_prefix = prefix_of + turn;
        turn ^= 1;
        pg_u32 taken = 0;
        if (id == 0)
            taken = pg_atomic_add_u32(state, 1u);
        pg_i64 row = tile / tiles, t = tile - row * tiles, left = n - t * {tile};
        scan_t v[{many}][{vector}], before[{many}];
        if (left >= {tile}) {{
            PG_UNROLL for (int j = 0; j < {many}; j++)
                PG_UNROLL for (int k = 0; k < {vector}; k++)
                    v[j][k] = scan_value(&in[j].item[k]);
        }} else {{
            PG_UNROLL for (int j = 0; j < {many}; j++)
                PG_UNROLL for (int k = 0; k < {vector}; k++) {{
                    pg_i64 at = (j * {GROUP} + id) * {vector} + k;
                    v[j][k] = at < left ? scan_value(&in[j].item[k]) : scan_none();
                }}
        }}
        PG_UNROLL for (int j = 0; j < {many}; j++) {{
            PG_UNROLL for (int k = 1; k < {vector}; k++)
                v[j][k] = scan_join(v[j][k - 1], v[j][k]);
            scan_t sum = v[j][{vector - 1}];
            {scan_warp}
            if (lane == 31)
                sums[j * 8 + warp] = sum;
            before[j] = scan_up(sum, 1);
            if (lane == 0)
                before[j] = scan_none();
        }}
        if (id >= {8 * many} && id < 64)
            sums[id] = scan_none();
        if (id == 0)
            ticket = taken;
        PG_BARRIER;
        pg_i64 next = ticket;
        {early}
        if (warp == 0) {{
            scan_t low = sums[2 * lane], sum = scan_join(low, sums[2 * lane + 1]);
            {scan_warp}
            scan_t others = scan_up(sum, 1);
            if (lane == 0)
                others = scan_none();
            sums[2 * lane] = others;
            sums[2 * lane + 1] = scan_join(others, low);
            if (lane == 31)
                scan_tell(state, total, tile, t == 0 ? 2 : 1, sum);
            scan_t prefix = scan_before(state, total, row * tiles, t, lane);
            if (lane == 0)
                *shared_prefix = prefix;
            pg_warp_sync();
            if (lane == 31 && t > 0)
                scan_tell(state, total, tile, 2, scan_join(*shared_prefix, sum));
        }}
        {late}
        PG_BARRIER;
        {rows}
        PG_GLOBAL Y *to = (PG_GLOBAL Y *)y_row + t * {tile};
        (void)x_row;
        PG_UNROLL for (int j = 0; j < {many}; j++) {{
            scan_t first = scan_join(scan_join(*shared_prefix, sums[j * 8 + warp]), before[j]);
            PG_UNROLL for (int k = 0; k < {vector}; k++)
                v[j][k] = scan_join(first, v[j][k]);
        }}
        if (left >= {tile} && PG_ALIGNED(to, sizeof(scan_out))) {{
            PG_UNROLL for (int j = 0; j < {many}; j++) {{
                scan_out out;
                PG_UNROLL for (int k = 0; k < {vector}; k++)
                    scan_put(&out.item[k], v[j][k]);
                ((PG_GLOBAL scan_out *)to)[j * {GROUP} + id] = out;
            }}
        }} else {{
            PG_UNROLL for (int j = 0; j < {many}; j++)
                PG_UNROLL for (int k = 0; k < {vector}; k++) {{
                    pg_i64 at = (j * {GROUP} + id) * {vector} + k;
                    if (at < left)
                        scan_store(to + at, v[j][k]);
                }}
        }}
        tile = next;
    }}
    (void)y_step; (void)x_step;
}}
"""
