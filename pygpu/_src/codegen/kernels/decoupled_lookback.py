"""A scan of long contiguous rows in one pass over memory, for devices with warps
(codegen/prelude/warp.py).

Decoupled look-back (Merrill and Garland, "Single-pass parallel prefix scan with decoupled
look-back", 2016): tiles are numbered in the order in which groups take them, and the prefix of a
tile is found by looking at the tiles before it, so every item is read once and written once.

Groups are persistent. In each step a group publishes the sum of one tile, then looks back for the
tile of the previous step, which by then need not wait for other sums, and writes that; meanwhile
the next tile's items are loaded. No group waits for a later tile, because a group publishes the
sums of its tiles in order.

The text before it is that of scan.py.
"""

from __future__ import annotations

from pygpu._src.codegen.template import Template
from pygpu._src.util.frozen import Frozen


class Shape(Frozen):
    """group: work-items. vectors: how many of 16 bytes of the result (or of the input, if that is
    larger) a work-item has per tile. groups: per unit. ask: how many times 32 tiles are queried at
    once. Between two steps a tile's items are in local memory."""

    group: int
    vectors: int
    groups: int
    ask: int


# By language, and whether a sum has at most 4 bytes: the fastest of 31 (CUDA) and 15 (OpenCL) for
# float32, of 4 for int64 and float64 together, on an H200, 64 Mi items.
CHOSEN = {
    ("cuda", True): Shape(512, 5, 2, 2),
    ("cuda", False): Shape(256, 8, 2, 4),
    ("opencl", True): Shape(256, 10, 2, 4),
    ("opencl", False): Shape(256, 8, 2, 4),
}


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
PG_INLINE scan_t scan_warp(scan_t sum, int lane)
{
    PG_UNROLL for (int d = 1; d < 32; d <<= 1) {
        scan_t other = scan_up(sum, d);
        if (lane >= d)
            sum = scan_join(other, sum);
    }
    return sum;
}
"""

# The state of a tile: 0 nothing, 1 its own sum, 2 the sum of everything up to its end.
_PACKED = """\
PG_INLINE void scan_publish(PG_GLOBAL pg_u32 *state, pg_u32 total, pg_u32 tile, pg_u32 flag, scan_t value)
{
    scan_words w;
    w.value = value;
    ((volatile PG_GLOBAL pg_u64 *)(state + 4))[tile] = (pg_u64)flag << 32 | w.word[0];
}
PG_INLINE pg_u32 scan_ask(PG_GLOBAL pg_u32 *state, pg_u32 total, pg_u32 tile, scan_t *value)
{
    pg_u64 both = ((volatile PG_GLOBAL pg_u64 *)(state + 4))[tile];
    scan_words w;
    w.word[0] = (pg_u32)both;
    *value = w.value;
    return (pg_u32)(both >> 32);
}
"""

# 16 bytes at once, which NVIDIA's GPUs do not split. A processor may: there, the flag is stored
# separately while the sum changes.
_PAIRED = """\
typedef union { scan_t value; pg_u64 word; } scan_long;
PG_INLINE void scan_publish(PG_GLOBAL pg_u32 *state, pg_u32 total, pg_u32 tile, pg_u32 flag, scan_t value)
{
    volatile PG_GLOBAL pg_u64 *to = (volatile PG_GLOBAL pg_u64 *)(state + 4) + 2 * (pg_i64)tile;
    scan_long w;
    w.value = value;
#ifdef PYGPU_SIMULATOR
    to[0] = 0;
    PG_DEVICE_FENCE;
    to[1] = w.word;
    PG_DEVICE_FENCE;
    to[0] = flag;
#else
    PG_ASM("st.volatile.global.v2.u64 [%0], {%1, %2};"
                     : : "l"((pg_u64)to), "l"((pg_u64)flag), "l"(w.word) : "memory");
#endif
}
PG_INLINE pg_u32 scan_ask(PG_GLOBAL pg_u32 *state, pg_u32 total, pg_u32 tile, scan_t *value)
{
    volatile PG_GLOBAL pg_u64 *from = (volatile PG_GLOBAL pg_u64 *)(state + 4) + 2 * (pg_i64)tile;
    scan_long w;
    pg_u64 flag;
#ifdef PYGPU_SIMULATOR
    flag = from[0];
    PG_DEVICE_FENCE;
    w.word = from[1];
    PG_DEVICE_FENCE;
    if (from[0] != flag)
        flag = 0;
#else
    PG_ASM("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(flag), "=l"(w.word) : "l"((pg_u64)from) : "memory");
#endif
    *value = w.value;
    return (pg_u32)flag;
}
"""

_APART = """\
typedef union { scan_t value; pg_u64 word[sizeof(scan_t) / 8]; } scan_longs;
PG_INLINE PG_GLOBAL scan_t *scan_values(PG_GLOBAL pg_u32 *state, pg_u32 total, pg_u32 flag)
{
    return (PG_GLOBAL scan_t *)(state + 4 + ((pg_i64)total + 3) / 4 * 4) + (flag == 2 ? total : 0);
}
PG_INLINE void scan_publish(PG_GLOBAL pg_u32 *state, pg_u32 total, pg_u32 tile, pg_u32 flag, scan_t value)
{
    scan_values(state, total, flag)[tile] = value;
    PG_DEVICE_FENCE;
    ((volatile PG_GLOBAL pg_u32 *)(state + 4))[tile] = flag;
}
PG_INLINE pg_u32 scan_ask(PG_GLOBAL pg_u32 *state, pg_u32 total, pg_u32 tile, scan_t *value)
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

# The sum of everything before tile t of a row whose first tile is *first*; called by the whole
# warp.
_LOOK_BACK = """\
PG_INLINE scan_t scan_before(PG_GLOBAL pg_u32 *state, pg_u32 total, pg_u32 first, int t, int lane)
{
    scan_t prefix = scan_none();
    for (int near = t - 1; near >= 0;) {
        scan_t value[SCAN_ASK];
        pg_u32 flag[SCAN_ASK];
        PG_UNROLL for (int k = 0; k < SCAN_ASK; k++) {
            int other = near - 32 * k - lane;
            value[k] = scan_none();
            flag[k] = other < 0 ? 2u : scan_ask(state, total, first + (pg_u32)other, &value[k]);
        }
        scan_t far = scan_none();
        int known = 0, found = 0; /* words of 32 that are joined; whether one reached a whole sum */
        PG_UNROLL for (int k = 0; k < SCAN_ASK; k++) {
            pg_u32 wholes = pg_warp_vote(flag[k] == 2), open = pg_warp_vote(flag[k] == 0);
            /* what lies behind the first whole sum need not be known */
            pg_u32 needed = wholes == 0 ? 0xffffffffu : wholes ^ (wholes - 1);
            if (known == k && !found && (open & needed) == 0) {
                if ((needed >> lane) & 1)
                    far = scan_join(value[k], far);
                known = k + 1;
                found = wholes != 0;
            }
        }
        if (known > 0) {
            PG_UNROLL for (int d = 1; d < 32; d <<= 1) {
                scan_t more = scan_down(far, d);
                if (lane + d < 32)
                    far = scan_join(more, far);
            }
            prefix = scan_join(far, prefix);
        }
        if (found)
            break;
        near -= 32 * known;
    }
    return prefix;
}
"""


_FETCH = Template("""\
        if (next < total) {
            $locate_next
            PG_GLOBAL const X *from = (PG_GLOBAL const X *)x_row + t * $tile;
            pg_i64 left = n - t * $tile;
            if (left >= $tile && PG_ALIGNED(from, sizeof($vector_type))) {
                PG_UNROLL for (int j = 0; j < $many; j++)
                    in[j] = ((PG_GLOBAL const $vector_type *)from)[j * $group + id];
            } else {
                PG_UNROLL for (int j = 0; j < $many; j++) {
                    $vector_type some;
                    PG_UNROLL for (int k = 0; k < $vector; k++) {
                        pg_i64 at = (pg_i64)(j * $group + id) * $vector + k;
                        if (at < left)
                            some.item[k] = from[at];
                    }
                    in[j] = some;
                }
            }
            (void)y_row;
        }
""")

_TYPES = Template("""\
PG_DECLARE_VECTOR(X, $vector)
typedef struct PG_ALIGN(sizeof(Y) * $vector) { Y item[$vector]; } scan_out;
typedef struct PG_ALIGN(sizeof(scan_t) * $vector) { scan_t item[$vector]; } scan_piece;
PG_INLINE scan_t scan_value(const X *p) { SCAN_VALUE }
PG_INLINE void scan_put(Y *p, scan_t v) { SCAN_PUT }
""")

_BEGIN = Template("""\
${text}PG_KERNEL void PG_BOUNDS($group, $resident) scan_lookback($parameters)
{
    PG_LOCAL pg_u32 ticket;
    PG_LOCAL scan_t sums[$three_steps]; /* of warps by vectors; of three steps */
    PG_LOCAL scan_t shared_prefix;
    PG_START_IN(X, x); PG_START(Y, y); PG_START(pg_u32, state);
    int id = (int)PG_LOCAL_ID(0), lane = id & 31, warp = id >> 5;
    pg_u32 total = (pg_u32)(rows * tiles), last, now, next; /* tiles of the steps before, now, next */
    $vector_type in[$many];
    PG_LOCAL scan_piece held[$held_items]; /* nobody but who wrote an item reads it */
    scan_t v[$many][$vector], whole = scan_none();
    if (id == 0)
        ticket = pg_atomic_add_u32(state, 1u);
    PG_BARRIER;
    next = ticket;
    PG_BARRIER;
    if (id == 0)
        ticket = pg_atomic_add_u32(state, 1u);
$load
    PG_BARRIER;
    now = next;
    next = ticket;
    last = total;
    for (int part = 0; last < total || now < total; part = part == 2 ? 0 : part + 1) {
        PG_LOCAL_PTR scan_t *parts = sums + part * $stretch;
""")

_TAKE = Template("""\
        if (now < total) {
            $locate_now
            pg_i64 left = n - t * $tile;
            if (left >= $tile) {
                PG_UNROLL for (int j = 0; j < $many; j++) {
                    $vector_type some = in[j];
                    PG_UNROLL for (int k = 0; k < $vector; k++)
                        v[j][k] = scan_value(&some.item[k]);
                }
            } else {
                PG_UNROLL for (int j = 0; j < $many; j++) {
                    $vector_type some = in[j];
                    PG_UNROLL for (int k = 0; k < $vector; k++) {
                        pg_i64 at = (pg_i64)(j * $group + id) * $vector + k;
                        v[j][k] = scan_none();
                        if (at < left)
                            v[j][k] = scan_value(&some.item[k]);
                    }
                }
            }
        }
""")

_JOIN = Template("""\
$load
        if (now < total) {
            PG_UNROLL for (int j = 0; j < $many; j++) {
                PG_UNROLL for (int k = 1; k < $vector; k++)
                    v[j][k] = scan_join(v[j][k - 1], v[j][k]);
                scan_t sum = scan_warp(v[j][$last_item], lane), before = scan_up(sum, 1);
                if (lane == 31)
                    parts[j * $warps + warp] = sum;
                if (lane > 0)
                    PG_UNROLL for (int k = 0; k < $vector; k++)
                        v[j][k] = scan_join(before, v[j][k]);
            }
        }
""")

_TELL = Template("""\
        PG_BARRIER;
        if (warp == 0) {
            scan_t mine = scan_none();
            if (now < total) {
                scan_t low[$each], sum = scan_none();
                PG_UNROLL for (int k = 0; k < $each; k++) {
                    low[k] = sum;
                    if ($each * lane + k < $sums)
                        sum = scan_join(sum, parts[$each * lane + k]);
                }
                sum = scan_warp(sum, lane);
                scan_t others = scan_up(sum, 1);
                if (lane == 0)
                    others = scan_none();
                PG_UNROLL for (int k = 0; k < $each; k++)
                    parts[$each * lane + k] = scan_join(others, low[k]);
                if (lane == 31)
                    scan_publish(state, total, now, now % (pg_u32)tiles == 0 ? 2 : 1, sum);
                mine = sum;
            }
            if (last < total) {
                int t = (int)(last % (pg_u32)tiles);
                scan_t prefix = scan_before(state, total, last - (pg_u32)t, t, lane);
                if (lane == 0)
                    shared_prefix = prefix;
                pg_warp_sync();
                if (lane == 31 && t > 0)
                    scan_publish(state, total, last, 2, scan_join(shared_prefix, whole));
            }
            whole = mine;
        }
        if (id == $last_warp)
            ticket = next < total ? pg_atomic_add_u32(state, 1u) : total;
        PG_BARRIER;
""")

_WRITE = Template("""\
        if (last < total) {
            $locate_last
            PG_LOCAL_PTR scan_t *old = sums + (part == 0 ? 2 : part - 1) * $stretch;
            PG_GLOBAL Y *to = (PG_GLOBAL Y *)y_row + t * $tile;
            pg_i64 left = n - t * $tile;
            int aligned = left >= $tile && PG_ALIGNED(to, sizeof(scan_out));
            PG_UNROLL for (int j = 0; j < $many; j++) {
                scan_t before = scan_join(shared_prefix, old[j * $warps + warp]);
                if (aligned) {
                    scan_out out;
                    PG_UNROLL for (int k = 0; k < $vector; k++)
                        scan_put(&out.item[k], scan_join(before, $held));
                    ((PG_GLOBAL scan_out *)to)[j * $group + id] = out;
                } else {
                    PG_UNROLL for (int k = 0; k < $vector; k++) {
                        pg_i64 at = (pg_i64)(j * $group + id) * $vector + k;
                        if (at < left)
                            scan_store(to + at, scan_join(before, $held));
                    }
                }
            }
        }
        PG_UNROLL for (int j = 0; j < $many; j++)
            PG_UNROLL for (int k = 0; k < $vector; k++)
                $held = v[j][k];
        last = now;
        now = next;
        next = ticket;
    }
    (void)y_step; (void)x_step;
}
""")


def source(parameters: str, rows: str, size: int, vector: int, shape: Shape) -> str:
    """scan_lookback. parameters: the kernel's last ones; rows: statements that declare x_row and
    y_row of a row; size: bytes of a scan_t; vector: items per access."""
    many, group, warps = shape.vectors, shape.group, shape.group // 32
    tile, sums = group * vector * many, many * warps
    each = -(-sums // 32)  # sums per work-item of a warp
    text = _HELPERS + {4: _PACKED, 8: _PAIRED}.get(size, _APART)
    text += _LOOK_BACK.replace("SCAN_ASK", str(shape.ask))
    vector_type = f"PG_VECTOR(X, {vector})"
    held = f"held[j * {group} + id].item[k]"

    def locate(number: str) -> str:
        return f"""\
pg_i64 row = rows == 1 ? 0 : (pg_i64)({number} / (pg_u32)tiles), t = {number} - row * tiles;
            {rows}"""

    load = _FETCH.fill(
        locate_next=locate("next"),
        tile=tile,
        vector_type=vector_type,
        many=many,
        group=group,
        vector=vector,
    )
    return (
        _TYPES.fill(vector=vector)
        + _BEGIN.fill(
            vector=vector,
            text=text,
            group=group,
            resident=shape.groups,
            parameters=parameters,
            three_steps=3 * each * 32,
            vector_type=vector_type,
            many=many,
            held_items=group * many,
            load=load,
            stretch=each * 32,
        )
        + _TAKE.fill(
            vector=vector,
            group=group,
            vector_type=vector_type,
            many=many,
            locate_now=locate("now"),
            tile=tile,
        )
        + _JOIN.fill(vector=vector, many=many, load=load, last_item=vector - 1, warps=warps)
        + _TELL.fill(each=each, sums=sums, last_warp=group - 32)
        + _WRITE.fill(
            vector=vector,
            group=group,
            many=many,
            stretch=each * 32,
            tile=tile,
            warps=warps,
            locate_last=locate("last"),
            held=held,
        )
    )
