"""The kernels that sort rows of contiguous items: by radix, or within one group.

Items are converted to unsigned *keys* of their size in the desired order (NaN last), and back.
With positions (argsort), equal keys keep their order: then -0.0 counts as 0.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.template import Template

DType = np.dtype[Any]
GROUP = 256
_LAST = {  # the bits of the largest value: infinity, if there is one
    "f16": "0x7c00",
    "f16b": "0x7f80",
    "f8e4m3": "0x7e",
    "f8e5m2": "0x7c",
    "f32": "0x7f800000",
    "f64": "0x7ff0000000000000",
}
SMALL = 2048  # items that one group sorts in local memory


def keys_text(dtype: DType, ties: bool) -> str:
    """Declares X, K, sort_key(x) and sort_item(key). ties: -0.0 and 0.0 have one key."""
    bits = 8 * dtype.itemsize
    sign = f"((K)1 << {bits - 1})"
    text = f"typedef pg_u{bits} X;\ntypedef pg_u{bits} K;\n"
    kind = dtypes.kind(dtype)
    if kind in "bu":
        key = item = "return x;"
    elif kind in "mM":  # NaT, the least value, goes last
        key, item = f"return (K)((x ^ {sign}) - 1);", f"return (K)((x + 1) ^ {sign});"
    elif kind == "i":
        key = item = f"return (K)(x ^ {sign});"
    else:
        infinity = _LAST[dtypes.code(dtype)]
        suffix = "UL" if bits == 64 else "U"
        zero = f"if (x == {sign}) x = 0; " if ties else ""
        nan = f"if ((K)(x & (K)~{sign}) > (K){infinity}{suffix}) x = (K)(x & (K)~{sign}); "
        key = f"{zero}{nan}return (K)(x & {sign} ? ~x : x | {sign});"
        item = f"return (K)(x & {sign} ? x ^ {sign} : ~x);"
    return f"""\
{text}PG_INLINE K sort_key(X x) {{ {key} }}
PG_INLINE X sort_item(K x) {{ {item} }}
"""


def small_source(positions: bool) -> str:
    """``small``: rows of up to SMALL items, one group each, by a bitonic network. size: a power of
    two that is at least n."""
    index = f"    PG_LOCAL pg_u16 indices[{SMALL}];\n" if positions else ""
    out = "pg_i64" if positions else "X"
    put = (
        "out[row * n + i] = (pg_i64)indices[i];"
        if positions
        else "out[row * n + i] = sort_item(keys[i]);"
    )
    more = " || (a == b && indices[i] > indices[j])" if positions else ""
    swap = "pg_u16 p = indices[i]; indices[i] = indices[j]; indices[j] = p;" if positions else ""
    fill = "indices[i] = (pg_u16)i;" if positions else ""
    return f"""\
PG_KERNEL void small(PG_ARRAY_IN(X, x), PG_ARRAY({out}, out), pg_i64 rows, pg_i64 n, pg_i32 size)
{{
    PG_LOCAL K keys[{SMALL}];
{index}    PG_START_IN(X, x); PG_START({out}, out);
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0), many = (pg_i32)PG_SIZE(0);
    for (pg_i64 row = PG_GROUP_ID(0); row < rows; row += PG_GROUPS(0)) {{
        for (pg_i32 i = id; i < size; i += many) {{
            keys[i] = i < n ? sort_key(x[row * n + i]) : (K)~(K)0;
            {fill}
        }}
        PG_BARRIER;
        for (pg_i32 width = 2; width <= size; width <<= 1)
            for (pg_i32 d = width >> 1; d > 0; d >>= 1) {{
                for (pg_i32 k = id; k < size / 2; k += many) {{
                    pg_i32 i = (k / d) * d * 2 + (k & (d - 1)), j = i + d;
                    K a = keys[i], b = keys[j];
                    int later = a > b{more};
                    if (later == ((i & width) == 0)) {{
                        keys[i] = b; keys[j] = a;
                        {swap}
                    }}
                }}
                PG_BARRIER;
            }}
        for (pg_i32 i = id; i < n; i += many) {{ {put} }}
        PG_BARRIER;
    }}
}}
"""


def pass_ends(
    positions: bool, first: bool, last: bool, count: str = "pg_u32"
) -> tuple[str, str, str, str, str]:
    """(type in, type out, expression of a key read, of an index read, statement of a write)."""
    in_type, out_type = ("X" if first else "K"), ("X" if last and not positions else "K")
    key = "sort_key(keys_in[@])" if first else "keys_in[@]"
    index = f"({count})(@ - start)" if first else "index_in[@]"
    if last and positions:
        put = "index_out[at] = (pg_i64)index;"
    elif last:
        put = "keys_out[at] = sort_item(key);"
    else:
        put = "keys_out[at] = key;" + (" index_out[at] = index;" if positions else "")
    return in_type, out_type, key, index, put


def pass_arrays(positions: bool, first: bool, last: bool, count: str = "pg_u32") -> tuple[str, str]:
    """(parameters, statements that start them) of the arrays passed between passes.

    count: the type of positions within a row, until the last pass."""
    in_type, out_type, *_ = pass_ends(positions, first, last)
    arrays = [("_IN", in_type, "keys_in")]
    if positions and not first:
        arrays.append(("_IN", count, "index_in"))
    ends = [] if last and positions else [("", out_type, "keys_out")]
    if positions:
        ends.append(("", "pg_i64" if last else count, "index_out"))
    parameters = ", ".join(
        [
            *(f"PG_ARRAY{m}({t}, {n})" for m, t, n in arrays),
            "@",
            *(f"PG_ARRAY{m}({t}, {n})" for m, t, n in ends),
        ]
    )
    starts = " ".join(f"PG_START{m}({t}, {n});" for m, t, n in [*arrays, *ends])
    return parameters, starts


def tile_items(cpu: bool) -> int:
    """Items of a tile of radix_source's kernels."""
    return 16384 if cpu else GROUP * 8


_CPU_COUNT = Template("""\
    for (pg_i64 g = PG_ID(0); g < rows * tiles; g += PG_IDS(0)) {
        $where        pg_u32 found[$bins];
        for (int d = 0; d < $bins; d++)
            found[d] = 0;
        for (pg_i64 i = from; i < end; i++)
            found[($read >> shift) & $mask]++;
        for (int d = 0; d < $bins; d++)
            counts[(row * $bins + d) * tiles + tile] = found[d];
    }
}
""")

_CPU_SCATTER = Template("""\
    for (pg_i64 g = PG_ID(0); g < rows * tiles; g += PG_IDS(0)) {
        $where        pg_i64 next[$bins];
        for (int d = 0; d < $bins; d++) {
            ${slot_of_d}next[d] = start + $base;
        }
        for (pg_i64 i = from; i < end; i++) {
            K key = $read;
            $take
            pg_i64 at = next[(key >> shift) & $mask]++;
            $put
        }
    }
}
""")

_GPU_COUNT = Template("""\
    PG_LOCAL pg_u32 found[$counters];
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0);
    for (pg_i64 g = PG_GROUP_ID(0); g < rows * tiles; g += PG_GROUPS(0)) {
        $where        for (int d = 0; d < $bins; d++)
            found[d * $group + id] = 0;
        for (pg_i64 i = from + id; i < end; i += $group)
            found[(($read >> shift) & $mask) * $group + id]++;
        for (pg_i32 s = $half; s > 0; s >>= 1) {
            PG_BARRIER;
            if (id < s)
                for (int d = 0; d < $bins; d++)
                    found[d * $group + id] += found[d * $group + id + s];
        }
        PG_BARRIER;
        if (id < $bins)
            counts[(row * $bins + id) * tiles + tile] = found[id * $group];
        PG_BARRIER;
    }
}
""")

_GPU_SCATTER = Template("""\
    PG_LOCAL pg_u16 found[$counters]; /* of digit d by work-item w, at d * GROUP + w */
    PG_LOCAL pg_u32 sums[$group];
    PG_LOCAL K keys[$tile];
    $indices
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0);
    for (pg_i64 g = PG_GROUP_ID(0); g < rows * tiles; g += PG_GROUPS(0)) {
        $where        for (pg_i64 i = from + id; i < end; i += $group) {
            keys[i - from] = $read;
            $store_index
        }
        for (int d = 0; d < $bins; d++)
            found[d * $group + id] = 0;
        PG_BARRIER;
        pg_i32 many = (pg_i32)(end - from);
        for (int k = 0; k < $each; k++)
            if (id * $each + k < many)
                found[((keys[id * $each + k] >> shift) & $mask) * $group + id]++;
        PG_BARRIER;
        pg_u32 sum = 0;
        for (int d = 0; d < $bins; d++)
            sum += found[id * $bins + d];
        sums[id] = sum;
        pg_u32 mine = sum;
        for (pg_i32 s = 1; s < $group; s <<= 1) {
            PG_BARRIER;
            pg_u32 left = id >= s ? sums[id - s] : 0;
            PG_BARRIER;
            sum += left;
            sums[id] = sum;
        }
        sum -= mine;
        for (int d = 0; d < $bins; d++) {
            pg_u32 next = sum + found[id * $bins + d];
            found[id * $bins + d] = (pg_u16)sum;
            sum = next;
        }
        PG_BARRIER;
        if (id < $bins)
            sums[id] = found[id * $group]; /* where the digit begins in the tile */
        PG_BARRIER;
        for (int k = 0; k < $each; k++) {
            if (id * $each + k < many) {
                K key = keys[id * $each + k];
                $take
                pg_i32 digit = (pg_i32)((key >> shift) & $mask);
                pg_i64 rank = found[digit * $group + id]++;
                ${slot_of_digit}pg_i64 at = start + $base + rank - sums[digit];
                $put
            }
        }
        PG_BARRIER;
    }
}
""")


_COUNT_HEAD = Template("""\
PG_KERNEL void count(PG_ARRAY_IN($in_type, keys_in), PG_ARRAY($number, counts), $numbers)
{
    PG_START_IN($in_type, keys_in); PG_START($number, counts);
""")

_SCATTER_HEAD = Template("""\
PG_KERNEL void scatter($parameters, $numbers)
{
    PG_START_IN($number, ends); $starts
""")

_WHERE = Template("""\
pg_i64 row = g / tiles, tile = g % tiles, start = row * n;
        pg_i64 from = start + tile * $tile;
        pg_i64 end = from + $tile < start + n ? from + $tile : start + n;
""")


def radix_source(positions: bool, first: bool, last: bool, cpu: bool, wide: bool) -> str:
    """``count`` and ``scatter`` of one digit, of 8 bits on a CPU and 4 elsewhere: counts[(row,
    digit, tile)], then their running sums within a row. wide: a row has 2**32 items or more."""
    bins, tile = (256 if cpu else 16), tile_items(cpu)
    each = tile // GROUP
    number = "pg_u64" if wide else "pg_u32"
    _, _, key, index, put = pass_ends(positions, first, last, number)
    parameters, starts = pass_arrays(positions, first, last, number)
    first_index = index.replace("@", "i")

    def placed(text: str) -> str:
        return text if positions else ""

    def slot_of(digit: str) -> str:
        return f"pg_i64 slot = (row * {bins} + {digit}) * tiles + tile;\n            "

    values = {
        "in_type": "X" if first else "K",
        "number": number,
        "numbers": "pg_i64 rows, pg_i64 n, pg_i64 tiles, pg_i32 shift",
        "parameters": parameters.replace("@", f"PG_ARRAY_IN({number}, ends)"),
        "starts": starts,
        "where": _WHERE.fill(tile=tile),
        "bins": bins,
        "mask": bins - 1,
        "group": GROUP,
        "half": GROUP // 2,
        "counters": bins * GROUP,
        "tile": tile,
        "each": each,
        "read": key.replace("@", "i"),
        "put": put,
        "slot_of_d": slot_of("d"),
        "slot_of_digit": slot_of("digit"),
        "base": f"(slot > row * {bins} * tiles ? (pg_i64)ends[slot - 1] : 0)",
        "indices": placed(f"PG_LOCAL {number} indices[{tile}];"),
        "store_index": placed(f"indices[i - from] = {first_index};"),
        "take": placed(f"{number} index = {first_index if cpu else f'indices[id * {each} + k]'};"),
    }
    count, scatter = (_CPU_COUNT, _CPU_SCATTER) if cpu else (_GPU_COUNT, _GPU_SCATTER)
    parts = (_COUNT_HEAD, count, _SCATTER_HEAD, scatter)
    return "".join(part.fill(values) for part in parts)


def search_source() -> str:
    """``search``: for each v how many items of the sorted x are less, or (right) not greater."""
    return """\
PG_KERNEL void search(PG_ARRAY_IN(X, x), PG_ARRAY_IN(X, v), PG_ARRAY(pg_i64, out), pg_i64 n, pg_i64 many, pg_i32 right)
{
    PG_START_IN(X, x); PG_START_IN(X, v); PG_START(pg_i64, out);
    PG_FOR(i, many) {
        K key = sort_key(v[i]);
        pg_i64 low = 0, high = n;
        while (low < high) {
            pg_i64 middle = low + (high - low) / 2;
            K other = sort_key(x[middle]);
            if (other < key || (right && other == key))
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = low;
    }
}
"""


def firsts_source(dtype: DType, equal_nan: bool) -> str:
    """``firsts``: whether each of the sorted items differs from the one before it."""
    code, item = dtypes.code(dtype), dtypes.storage_type(dtype)
    before, here = dtypes.load(dtype, "x", "i - 1"), dtypes.load(dtype, "x", "i")
    differ = f"!pg_{code}_eq(a, b)" if code[0] == "c" else "a != b"
    if not equal_nan and code == "t64":
        differ += " || b == PG_NAT"
    if equal_nan and code[0] in "fc":
        nan = "({0}.re != {0}.re || {0}.im != {0}.im)" if code[0] == "c" else "({0} != {0})"
        differ += f" && !({nan.format('a')} && {nan.format('b')})"
    return f"""\
PG_KERNEL void firsts(PG_ARRAY_IN({item}, x), PG_ARRAY(pg_b8, first), pg_i64 n)
{{
    PG_START_IN({item}, x); PG_START(pg_b8, first);
    PG_FOR(i, n) {{
        pg_b8 differ = 1;
        if (i > 0) {{
            {dtypes.compute_type(dtype)} a = {before}, b = {here};
            differ = {differ};
        }}
        first[i] = differ;
    }}
}}
"""
