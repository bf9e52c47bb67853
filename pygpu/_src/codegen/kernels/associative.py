"""The kernels of reductions and scans by any associative function, which join items in order.

A text before them declares ``X``, ``Y`` (storage types of input and output), ``T`` (compute type),
``ord_item(x)``, ``ord_join(a, b)`` and ``ord_store(pointer, value)``. There need not be a neutral
element: an empty stretch has no value, and is never joined.

* ``ord_walk``: a work-item per result, or per each of its *segments* parts: on CPUs, and where the
  items of neighbouring results are adjacent;
* ``ord_row``: a work-group per row, or per part of it. Tiles of adjacent items are read by wide
  loads. The items of each load are joined to a value in local memory, each work-item joins a run
  of these, then neighbours are joined in a tree. The same source serves rows of any length, the
  results of parts, and initial values, and it is short: NVRTC takes five milliseconds for a loop,
  ten for a 64-bit division;
* ``ord_tile``: a work-group for several short rows, whose items are copied to local memory;
* ``ord_scan``: a work-group (on CPUs a work-item) per row, or per part whose predecessors' result
  is known.

ord_walk and ord_tile take x and y, the numbers of results, of items in each, of segments, the
lengths of the kept axes except the first, of the reduced axes except the first, the strides of x
along these axes and of y along the kept ones [bytes], then parameters specific to the kernel. The
others document theirs.
"""

from __future__ import annotations

from pygpu._src.codegen.template import Template

GROUP = 256


def _unravel(names: list[str], prefix: str, count: int, index: str) -> str:
    """Statements that add the offsets of *index* to ``<name>_at``; the last axis varies fastest."""
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
        offsets = f"pg_i64 x_at = 0; {_unravel(['x'], 'reduced', reduced, 'r')}"
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
    {offsets}
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
    """How many items of *size* bytes a work-item of ord_tile joins alone: a power of two."""
    for nbytes in (128, 64, 32):
        if GROUP * (nbytes + max(size, 4) + acc_size + 8) + 16 <= local_bytes:
            return max(nbytes // size, 1)
    return 1


def _tile_defines(each: int, size: int) -> str:
    return f"""\
#define ORD_GROUP {GROUP}
#define ORD_EACH {each}
#define ORD_PITCH {each + max(4 // size, 1)}
#define ORD_VECTOR {_vector(each, size)}
PG_DECLARE_VECTOR(X, ORD_VECTOR)
"""


def _offsets(kept: int) -> list[str]:
    lengths = [f"pg_i64 kept{k}" for k in range(1, kept)]
    return lengths + [f"pg_i64 {n}_k{k}" for n in "xy" for k in range(kept)]


def _vector(each: int, size: int) -> int:
    return max(min(16 // size, each), 1)


def row_loads(size: int, local_bytes: int, acc_size: int) -> int:
    """How many wide loads of items of *size* bytes a work-item of ord_row has in flight: a power
    of two, as many as load 128 bytes and at most 32 items, each of which is a join in the
    source."""
    loads = min(8, 2 * size)
    while loads > 1 and GROUP * (loads + 2) * acc_size > local_bytes:
        loads //= 2
    return loads


def row_items(size: int, loads: int) -> int:
    """How many items a group of ord_row processes at once."""
    return GROUP * loads * _vector(16, size)


_ROW = Template("""\
#define ORD_GROUP $group
#define ORD_LOADS $loads
#define ORD_PITCH $pitch
#define ORD_VECTOR $vector
#define ORD_VALUES (ORD_GROUP * ORD_LOADS)
PG_DECLARE_VECTOR(X, ORD_VECTOR)
PG_KERNEL void ord_row($parameters, pg_i32 begin)
{
    PG_LOCAL T values[ORD_GROUP * ORD_PITCH];
    PG_LOCAL T sums[ORD_GROUP];
    $start
    pg_u32 id = PG_LOCAL_ID(0), part = PG_GROUP_ID(1);
    pg_i64 x_at = 0, y_at = part * y_part;
    $unravel
    PG_GLOBAL const X *row = (PG_GLOBAL const X *)((PG_GLOBAL const char *)x + x_at);
    pg_i64 past = PG_PAST(row, sizeof(X) * ORD_VECTOR) / sizeof(X);
    pg_i64 t = part * length - past;
    if (t < 0)
        t = 0;
    pg_i64 end = part + 1 < PG_GROUPS(1) ? (part + 1) * length - past : n_red;
    PG_LOCAL_PTR T *to = values + id / ORD_LOADS * ORD_PITCH + id % ORD_LOADS;
    PG_LOCAL_PTR T *mine = values + id * ORD_PITCH;
    T sum = $value;
    pg_i32 some = begin, n;
    PG_ROLLED for (; t < end; t += n) {
        PG_GLOBAL const X *from = row + t;
        pg_i32 m = ORD_VECTOR - (pg_i32)(PG_PAST(from, sizeof(X) * ORD_VECTOR) / sizeof(X));
        pg_u32 left = end - t < ORD_VALUES * ORD_VECTOR ? (pg_u32)(end - t) : ORD_VALUES * ORD_VECTOR;
        if (m == ORD_VECTOR && left >= ORD_VECTOR) {
            m = left / ORD_VECTOR;
            n = m * ORD_VECTOR;
            PG_VECTOR(X, ORD_VECTOR) v[ORD_LOADS];
            PG_UNROLL for (int u = 0; u < ORD_LOADS; u++) {
                pg_u32 i = u * ORD_GROUP + id;
                v[u] = ((PG_GLOBAL const PG_VECTOR(X, ORD_VECTOR) *)from)[i < (pg_u32)m ? i : 0];
            }
            PG_BARRIER;
            PG_UNROLL for (int u = 0; u < ORD_LOADS; u++) {
                T acc = ord_item(v[u].item[0]);
                PG_UNROLL for (int k = 1; k < ORD_VECTOR; k++)
                    acc = ord_join(acc, ord_item(v[u].item[k]));
                to[u * (ORD_GROUP / ORD_LOADS * ORD_PITCH)] = acc;
            }
        } else {
            if ((pg_i32)left < m)
                m = left;
            n = m;
            if ((pg_i32)id < m)
                *to = ord_item(from[id]);
        }
        PG_BARRIER;
        pg_i32 count = m - (pg_i32)id * ORD_LOADS;
        if (count > 0) {
            T acc = mine[0];
            PG_ROLLED for (pg_i32 k = 1; k < ORD_LOADS && k < count; k++)
                acc = ord_join(acc, mine[k]);
            sums[id] = acc;
        }
        PG_ROLLED for (pg_u32 d = 1; d < ORD_GROUP; d <<= 1) {
            PG_BARRIER;
            pg_u32 at = id * 2 * d;
            if ((at + d) * ORD_LOADS < (pg_u32)m)
                sums[at] = ord_join(sums[at], sums[at + d]);
        }
        if (id == 0)
            sum = some ? ord_join(sum, sums[0]) : sums[0];
        some = 1;
    }
    if (id == 0)
        ord_store((PG_GLOBAL Y *)((PG_GLOBAL char *)y + y_at), sum);
}
""")


def row_source(kept: int, loads: int, size: int, initial: str, value: str) -> str:
    """ord_row. loads: see row_loads(). initial: the parameters of an initial value, which always
    exist, and value: an expression for it; it is joined if *begin* is not 0. Groups are counted by
    rows along dimension 0, and along dimension 1 by parts of *length* items, whose results are
    y_part bytes apart.

    All parts except the first begin at a multiple of a wide load. The items of each load are
    joined to one value, which is stored in local memory; each of the few items before the first
    load and after the last one is a value itself. A work-item without a load repeats the first.
    The barrier between loads and stores keeps all loads of a tile in flight at once.
    """
    lines = ["PG_ARRAY_IN(X, x), PG_ARRAY(Y, y)", "pg_i64 n_red, pg_i64 length, pg_i64 y_part"]
    lines += _offsets(kept)
    return _ROW.fill(
        group=GROUP,
        loads=loads,
        pitch=loads + 1,
        vector=_vector(16, size),
        parameters=", ".join([*lines, initial]),
        start=_START,
        unravel=_unravel(["x", "y"], "kept", kept, "PG_GROUP_ID(0)"),
        value=value,
    )


_TILE = Template("""\
$defines#define ORD_PLACE(q) ((q) + (q) / ORD_EACH * (ORD_PITCH - ORD_EACH))
PG_KERNEL void ord_tile($parameters, pg_i32 begin)
{
    PG_LOCAL X tile[ORD_PLACE(ORD_GROUP * ORD_EACH + ORD_VECTOR)];
    PG_LOCAL T sums[ORD_GROUP];
    PG_LOCAL pg_i64 at[ORD_GROUP];
    $start
    pg_u32 id = PG_LOCAL_ID(0), row = id / lanes, lane = id % lanes, rows = ORD_GROUP / lanes, past = 0;
    pg_i64 first = (pg_i64)PG_GROUP_ID(0) * rows, x_at = 0, y_at = 0;
    if (n_out - first < rows)
        rows = (pg_u32)(n_out - first);
    $unravel
    at[id] = x_at;
    PG_BARRIER;
    pg_u32 n = rows * n_red;
    if (dense) {
        PG_GLOBAL const X *from = (PG_GLOBAL const X *)((PG_GLOBAL const char *)x + at[0]);
        past = (pg_u32)(PG_PAST(from, sizeof(X) * ORD_VECTOR) / sizeof(X));
        from -= past;
        n += past;
        pg_u32 q = n / ORD_VECTOR * ORD_VECTOR + id;
        PG_VECTOR(X, ORD_VECTOR) v[$loads];
        PG_UNROLL for (pg_u32 u = 0; u < $loads; u++) {
            pg_u32 i = u * ORD_GROUP + id;
            if ((i > 0 || past == 0) && i < n / ORD_VECTOR)
                v[u] = ((PG_GLOBAL const PG_VECTOR(X, ORD_VECTOR) *)from)[i];
        }
        PG_UNROLL for (pg_u32 u = 0; u < $loads; u++) {
            pg_u32 i = u * ORD_GROUP + id, to = ORD_PLACE(i * ORD_VECTOR);
            if ((i > 0 || past == 0) && i < n / ORD_VECTOR)
                PG_UNROLL for (int k = 0; k < ORD_VECTOR; k++)
                    tile[to + k] = v[u].item[k];
        }
        if (past > 0 && id >= past && id < ORD_VECTOR && id < n)
            tile[id] = from[id];
        if (q < n && (q >= ORD_VECTOR || past == 0))
            tile[ORD_PLACE(q)] = from[q];
    } else {
        PG_ROLLED for (pg_u32 p = id; p < n; p += ORD_GROUP) {
            pg_u32 r = p / n_red;
            tile[ORD_PLACE(p)] = ((PG_GLOBAL const X *)((PG_GLOBAL const char *)x + at[r]))[p - r * n_red];
        }
    }
    PG_BARRIER;
    pg_i32 count = row < rows ? n_red - (pg_i32)lane * ORD_EACH : 0, used = (n_red + ORD_EACH - 1) / ORD_EACH;
    if (count > 0) {
        if (count > ORD_EACH)
            count = ORD_EACH;
        past += row * n_red + lane * ORD_EACH;
        T acc = ord_item(tile[ORD_PLACE(past)]);
        PG_ROLLED for (pg_i32 k = 1; k < count; k++)
            acc = ord_join(acc, ord_item(tile[ORD_PLACE(past + k)]));
        sums[id] = acc;
    }
    PG_ROLLED for (pg_i32 d = 1; d < lanes; d <<= 1) {
        PG_BARRIER;
        if (row < rows && (lane & (2 * d - 1)) == 0 && (pg_i32)lane + d < used)
            sums[id] = ord_join(sums[id], sums[id + d]);
    }
    PG_BARRIER;
    if (id < rows) {
        T acc = sums[id * lanes];
        if (begin)
            acc = ord_join($value, acc);
        ord_store((PG_GLOBAL Y *)((PG_GLOBAL char *)y + y_at), acc);
    }
}
""")


def tile_source(kept: int, each: int, size: int, initial: str, value: str) -> str:
    """ord_tile. each: see chunk(); initial and value as for row_source(). Each of a group's rows
    has *lanes* work-items and at most lanes * each items. dense: rows are adjacent, so that a
    group's rows are one stretch of memory, which wide loads read except for a few items at its
    ends.
    """
    loads = each // _vector(each, size)
    lines = ["PG_ARRAY_IN(X, x), PG_ARRAY(Y, y)"]
    lines += ["pg_i64 n_out, pg_i32 n_red, pg_i32 lanes, pg_i32 dense"]
    lines += _offsets(kept)
    return _TILE.fill(
        defines=_tile_defines(each, size),
        parameters=", ".join([*lines, initial]),
        start=_START,
        unravel=_unravel(["x", "y"], "kept", kept, "first + id"),
        loads=loads,
        value=value,
    )


_GROUP_STEPS = Template("""\
        for (; i < end; i += $group) {
            pg_i32 m = end - i < $group ? (pg_i32)(end - i) : $group;
            T mine;
            if (id < m) {
                mine = $load;
                if (id == 0 && some)
                    mine = ord_join(carry, mine);
                sums[id] = mine;
            }
            for (pg_i32 d = 1; d < $group; d <<= 1) {
                PG_BARRIER;
                T other;
                if (id >= d && id < m)
                    other = sums[id - d];
                PG_BARRIER;
                if (id >= d && id < m) {
                    mine = ord_join(other, mine);
                    sums[id] = mine;
                }
            }
            PG_BARRIER;
            if (id < m) { $store }
            carry = sums[m - 1];
            some = 1;
            PG_BARRIER;
        }
""")

_SCAN = Template("""\
PG_KERNEL void ord_scan($parameters)
{
    $begin$start
    $mine
    $loop {
        pg_i64 row = g / segments, segment = g % segments, i = segment * length;
        pg_i64 end = i + length < n ? i + length : n, x_at = 0, y_at = 0;
        $unravel
        PG_GLOBAL const char *x_row = (PG_GLOBAL const char *)x + x_at;
        PG_GLOBAL char *y_row = (PG_GLOBAL char *)y + y_at;
        $carry
$work    }
}
""")


def scan_source(kept: int, carried: bool, cpu: bool) -> str:
    """ord_scan. carried: parts[row * segments + s] is the result of everything up to part s, in
    T's storage type; y has the strides y_k* and y_r0. Parts have *length* items."""
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
        work = _GROUP_STEPS.fill(
            group=GROUP, load=load.format(i="i + id"), store=store.format(i="i + id", v="mine")
        )
    begin = "" if cpu else f"PG_LOCAL T sums[{GROUP}];\n    "
    mine = "" if cpu else "pg_i32 id = (pg_i32)PG_LOCAL_ID(0);"
    loop = (
        "PG_FOR(g, rows * segments)"
        if cpu
        else "for (pg_i64 g = PG_GROUP_ID(0); g < rows * segments; g += PG_GROUPS(0))"
    )
    return _SCAN.fill(
        parameters=", ".join(parameters),
        begin=begin,
        start=start,
        mine=mine,
        loop=loop,
        unravel=_unravel(["x", "y"], "kept", kept, "row"),
        carry=carry,
        work=work,
    )
