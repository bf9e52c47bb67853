"""The kernels of a scan along one axis: y[i] = x[0] o ... o x[i] in every row.

A text before them declares ``X``, ``Y`` (storage types), ``scan_t``, ``scan_none()``, ``scan_join(a,
b)``, ``scan_load(pointer)`` and ``scan_store(pointer, value)``. Rows are counted over the kept axes;
their lengths but the first's and each operand's strides along them are parameters, then the operands'
strides along the scanned axis [bytes].

* ``scan_lanes``: a work-item for each row, or for each of *segments* parts of it: for CPUs, and where
  neighbouring rows lie side by side;
* ``scan_groups``: a work-group for each row or part, in tiles;
* ``scan_sums``: what the parts sum up to, first, if there are several;
* ``scan_lookback`` (CUDA): a group for each tile, which looks for the sum of what comes before among
  the tiles before it (Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back",
  2016): every item is read once and written once. Tiles are numbered as groups begin, so all before a
  tile are running or done, and CUDA lets running groups go on.
"""

from __future__ import annotations

__all__ = ["GROUP", "groups_source", "lanes_source", "lookback_source"]

GROUP = 256
LOOKBACK_VECTORS = 8  # a thread's, times 8 warps: two sums for each thread of a warp


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
    lines.append("PG_GLOBAL const char *x_row = (PG_GLOBAL const char *)x + x_at;")
    lines.append(_Y_ROW)
    return "\n        ".join(lines)


_Y_ROW = "PG_GLOBAL char *y_row = (PG_GLOBAL char *)y + y_at;"
_LOAD = "scan_load((PG_GLOBAL const X *)(x_row + ({i}) * x_step))"
_STORE = "scan_store((PG_GLOBAL Y *)(y_row + ({i}) * y_step), {v});"


def lanes_source(kept: int, sums: bool) -> str:
    """scan_lanes, and scan_sums for it if wanted."""
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


def groups_source(kept: int, sums: bool, size: int) -> str:
    """scan_groups, and scan_sums for it if wanted; *size*: bytes of a scan_t."""
    each = max(64 // size, 2)  # items of a work-item: 16 KiB of local memory for the tile
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
        text = f"""\
PG_KERNEL void scan_sums({parameters.format(parts)}{_parameters(kept)})
{{
    PG_LOCAL scan_t sums[{GROUP}];
    {start.replace(" PG_START(Y, y);", "")}
{where.replace(_Y_ROW, "")}        scan_t part = scan_none(), more[4];
        for (int k = 0; k < 4; k++)
            more[k] = scan_none();
        for (; i + {GROUP * 4} <= end; i += {GROUP * 4})
            PG_UNROLL for (int k = 0; k < 4; k++)
                more[k] = scan_join(more[k], {_LOAD.format(i=f"i + k * {GROUP} + id")});
        for (i += id; i < end; i += {GROUP})
            part = scan_join(part, {_LOAD.format(i="i")});
        part = scan_join(scan_join(part, more[0]), scan_join(more[1], scan_join(more[2], more[3])));
{tree}        if (id == 0)
            parts[g] = sums[0];
        PG_BARRIER;
    }}
}}
"""
        before = f"""\
        scan_t part = scan_none();
        for (pg_i64 s = id; s < segment; s += {GROUP})
            part = scan_join(part, parts[row * segments + s]);
{tree}        carry = sums[0];
        PG_BARRIER;
"""
    return f"""\
{text}PG_KERNEL void scan_groups({parameters.format(parts)}{_parameters(kept)})
{{
    PG_LOCAL scan_t sums[{GROUP}];
    PG_LOCAL scan_t items[{tile + tile // 16}];
    {start}
{where}        scan_t carry = scan_none();
{before}        for (; i < end; i += {tile}) {{
            PG_UNROLL for (int k = 0; k < {each}; k++) {{
                pg_i32 at = k * {GROUP} + id;
                scan_t item = scan_none();
                if (i + at < end)
                    item = {_LOAD.format(i="i + at")};
                items[at + at / 16] = item;
            }}
            PG_BARRIER;
            scan_t mine[{each}];
            scan_t sum = scan_none();
            PG_UNROLL for (int k = 0; k < {each}; k++) {{
                pg_i32 at = id * {each} + k;
                sum = k == 0 ? items[at + at / 16] : scan_join(sum, items[at + at / 16]);
                mine[k] = sum;
            }}
            sums[id] = sum;
            for (pg_i32 d = 1; d < {GROUP}; d <<= 1) {{
                PG_BARRIER;
                scan_t left = scan_none();
                if (id >= d)
                    left = sums[id - d];
                PG_BARRIER;
                if (id >= d)
                    sums[id] = scan_join(left, sums[id]);
            }}
            PG_BARRIER;
            scan_t first = carry;
            if (id > 0)
                first = scan_join(carry, sums[id - 1]);
            carry = scan_join(carry, sums[{GROUP - 1}]);
            PG_UNROLL for (int k = 0; k < {each}; k++) {{
                pg_i32 at = id * {each} + k;
                items[at + at / 16] = scan_join(first, mine[k]);
            }}
            PG_BARRIER;
            PG_UNROLL for (int k = 0; k < {each}; k++) {{
                pg_i32 at = k * {GROUP} + id;
                if (i + at < end) {{
                    {_STORE.format(i="i + at", v="items[at + at / 16]")}
                }}
            }}
            PG_BARRIER;
        }}
    }}
}}
"""


_SHUFFLES = {
    "plain": """\
PG_INLINE scan_t scan_up(scan_t v, int d) { return __shfl_up_sync(0xffffffffu, v, d); }
PG_INLINE scan_t scan_down(scan_t v, int d) { return __shfl_down_sync(0xffffffffu, v, d); }
""",
    "complex": """\
PG_INLINE scan_t scan_up(scan_t v, int d)
{
    v.re = __shfl_up_sync(0xffffffffu, v.re, d);
    v.im = __shfl_up_sync(0xffffffffu, v.im, d);
    return v;
}
PG_INLINE scan_t scan_down(scan_t v, int d)
{
    v.re = __shfl_down_sync(0xffffffffu, v.re, d);
    v.im = __shfl_down_sync(0xffffffffu, v.im, d);
    return v;
}
""",
}

# How a tile says what it knows: 0 nothing, 1 its own sum, 2 the sum of all up to its end.
_PACKED = """\
typedef union { scan_t value; pg_u32 bits; } scan_bits;
PG_INLINE void scan_tell(pg_u32 *state, pg_i64 total, pg_i64 tile, pg_u32 flag, scan_t value)
{
    scan_bits word;
    word.value = value;
    ((volatile pg_u64 *)(state + 4))[tile] = (pg_u64)flag << 32 | word.bits;
}
PG_INLINE pg_u32 scan_ask(pg_u32 *state, pg_i64 total, pg_i64 tile, scan_t *value)
{
    pg_u64 both = ((volatile pg_u64 *)(state + 4))[tile];
    scan_bits word;
    word.bits = (pg_u32)both;
    *value = word.value;
    return (pg_u32)(both >> 32);
}
"""

_APART = """\
PG_INLINE scan_t *scan_values(pg_u32 *state, pg_i64 total, pg_u32 flag)
{
    return (scan_t *)(state + 4 + (total + 3) / 4 * 4) + (flag == 2 ? total : 0);
}
PG_INLINE void scan_tell(pg_u32 *state, pg_i64 total, pg_i64 tile, pg_u32 flag, scan_t value)
{
    scan_values(state, total, flag)[tile] = value;
    __threadfence();
    ((volatile pg_u32 *)(state + 4))[tile] = flag;
}
PG_INLINE pg_u32 scan_ask(pg_u32 *state, pg_i64 total, pg_i64 tile, scan_t *value)
{
    pg_u32 flag = ((volatile pg_u32 *)(state + 4))[tile];
    if (flag != 0) {
        __threadfence();
        *value = scan_fetch(scan_values(state, total, flag) + tile);
    }
    return flag;
}
"""

_FETCH = {
    "plain": "PG_INLINE scan_t scan_fetch(scan_t *p) { return *(volatile scan_t *)p; }\n",
    "complex": """\
PG_INLINE scan_t scan_fetch(scan_t *p)
{
    scan_t v;
    v.re = *(volatile REAL *)&p->re;
    v.im = *(volatile REAL *)&p->im;
    return v;
}
""",
}


def lookback_source(kept: int, size: int, vector: int, real: str) -> str:
    """scan_lookback for CUDA. size: bytes of a scan_t; vector: items in one access; real: the type of
    its parts if it is complex, else "". Rows are contiguous."""
    kind = "complex" if real else "plain"
    many = LOOKBACK_VECTORS
    tile = GROUP * vector * many
    helpers = _SHUFFLES[kind] + _FETCH[kind].replace("REAL", real)
    helpers += _PACKED if size == 4 else _APART
    parameters = (
        "PG_ARRAY_IN(X, x), PG_ARRAY(Y, y), PG_ARRAY(pg_u32, state), pg_i64 rows, pg_i64 n, "
        "pg_i64 tiles, "
    )
    return f"""\
PG_DECLARE_VECTOR(X, {vector})
typedef struct PG_ALIGN(sizeof(Y) * {vector}) {{ Y item[{vector}]; }} scan_out;
{helpers}PG_KERNEL void __launch_bounds__({GROUP}) scan_lookback({parameters}{_parameters(kept)})
{{
    __shared__ pg_u32 ticket;
    __shared__ scan_t sums[64];
    __shared__ scan_t shared_prefix;
    PG_START_IN(X, x); PG_START(Y, y); PG_START(pg_u32, state);
    int id = threadIdx.x, lane = id & 31, warp = id >> 5;
    if (id == 0)
        ticket = atomicAdd(state, 1u);
    __syncthreads();
    pg_i64 tile = ticket, total = rows * tiles, row = tile / tiles, t = tile - row * tiles;
    {_rows(kept, "row")}
    const X *from = (const X *)x_row + t * {tile};
    Y *to = (Y *)y_row + t * {tile};
    pg_i64 left = n - t * {tile};
    scan_t v[{many}][{vector}], before[{many}];
    if (left >= {tile} && PG_ALIGNED(from, sizeof(PG_VECTOR(X, {vector})))) {{
        PG_VECTOR(X, {vector}) in[{many}];
        PG_UNROLL for (int j = 0; j < {many}; j++)
            in[j] = ((const PG_VECTOR(X, {vector}) *)from)[j * {GROUP} + id];
        PG_UNROLL for (int j = 0; j < {many}; j++)
            PG_UNROLL for (int k = 0; k < {vector}; k++)
                v[j][k] = scan_load(&in[j].item[k]);
    }} else {{
        PG_UNROLL for (int j = 0; j < {many}; j++)
            PG_UNROLL for (int k = 0; k < {vector}; k++) {{
                int at = (j * {GROUP} + id) * {vector} + k;
                v[j][k] = at < left ? scan_load(from + at) : scan_none();
            }}
    }}
    PG_UNROLL for (int j = 0; j < {many}; j++) {{
        PG_UNROLL for (int k = 1; k < {vector}; k++)
            v[j][k] = scan_join(v[j][k - 1], v[j][k]);
        scan_t sum = v[j][{vector - 1}];
        PG_UNROLL for (int d = 1; d < 32; d <<= 1) {{
            scan_t other = scan_up(sum, d);
            if (lane >= d)
                sum = scan_join(other, sum);
        }}
        if (lane == 31)
            sums[j * 8 + warp] = sum;
        before[j] = scan_up(sum, 1);
        if (lane == 0)
            before[j] = scan_none();
    }}
    if (id >= {8 * many} && id < 64)
        sums[id] = scan_none();
    __syncthreads();
    if (warp == 0) {{
        scan_t low = sums[2 * lane], sum = scan_join(low, sums[2 * lane + 1]);
        PG_UNROLL for (int d = 1; d < 32; d <<= 1) {{
            scan_t other = scan_up(sum, d);
            if (lane >= d)
                sum = scan_join(other, sum);
        }}
        scan_t others = scan_up(sum, 1);
        if (lane == 0)
            others = scan_none();
        sums[2 * lane] = others;
        sums[2 * lane + 1] = scan_join(others, low);
        scan_t whole = scan_down(sum, 31 - lane);
        if (lane == 31)
            scan_tell(state, total, tile, t == 0 ? 2 : 1, whole);
        scan_t prefix = scan_none();
        for (pg_i64 near = t - 1; near >= 0; near -= 128) {{
            /* each thread asks four tiles in a row: 128 in the time of one */
            scan_t value[4];
            pg_u32 flag[4];
            int missing;
            do {{
                missing = 0;
                PG_UNROLL for (int k = 0; k < 4; k++) {{
                    pg_i64 other = near - 4 * lane - k;
                    value[k] = scan_none();
                    flag[k] = other < 0 ? 2u : scan_ask(state, total, row * tiles + other, &value[k]);
                }}
                /* what lies behind the first whole sum need not be known */
                int here = flag[0] == 2 || flag[1] == 2 || flag[2] == 2 || flag[3] == 2;
                pg_u32 wholes = __ballot_sync(0xffffffffu, here);
                int needed = wholes == 0 || lane < __ffs((int)wholes);
                int open = 1;
                PG_UNROLL for (int k = 0; k < 4; k++) {{
                    if (open && flag[k] == 0)
                        missing = needed;
                    if (flag[k] == 2)
                        open = 0;
                }}
            }} while (__any_sync(0xffffffffu, missing));
            scan_t far = value[0];
            int open = flag[0] != 2;
            PG_UNROLL for (int k = 1; k < 4; k++) {{
                if (open)
                    far = scan_join(value[k], far);
                if (flag[k] == 2)
                    open = 0;
            }}
            pg_u32 wholes = __ballot_sync(0xffffffffu, !open);
            if (wholes != 0 && lane >= __ffs((int)wholes))
                far = scan_none();
            PG_UNROLL for (int d = 1; d < 32; d <<= 1) {{
                scan_t more = scan_down(far, d);
                if (lane + d < 32)
                    far = scan_join(more, far);
            }}
            prefix = scan_join(far, prefix);
            if (wholes != 0)
                break;
        }}
        if (lane == 0)
            shared_prefix = prefix;
        __syncwarp();
        if (lane == 31 && t > 0)
            scan_tell(state, total, tile, 2, scan_join(shared_prefix, whole));
    }}
    __syncthreads();
    PG_UNROLL for (int j = 0; j < {many}; j++) {{
        scan_t first = scan_join(scan_join(shared_prefix, sums[j * 8 + warp]), before[j]);
        PG_UNROLL for (int k = 0; k < {vector}; k++)
            v[j][k] = scan_join(first, v[j][k]);
    }}
    if (left >= {tile} && PG_ALIGNED(to, sizeof(scan_out))) {{
        PG_UNROLL for (int j = 0; j < {many}; j++) {{
            scan_out out;
            PG_UNROLL for (int k = 0; k < {vector}; k++)
                scan_store(&out.item[k], v[j][k]);
            ((scan_out *)to)[j * {GROUP} + id] = out;
        }}
    }} else {{
        PG_UNROLL for (int j = 0; j < {many}; j++)
            PG_UNROLL for (int k = 0; k < {vector}; k++) {{
                int at = (j * {GROUP} + id) * {vector} + k;
                if (at < left)
                    scan_store(to + at, v[j][k]);
            }}
    }}
    (void)y_step; (void)x_step;
}}
"""
