"""Kernels for few items, in which a single group does what takes several launches for many items:
the number of results is counted on the device, and the host reads it afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from .gather import true_text

DType = np.dtype[Any]
GROUP = 256  # work-items; one on a CPU
FEW = 1024  # the most items for such a group
ROOM = 1024  # the most bins that it counts


def _share(lanes: int) -> str:
    """Declare the range of items of this work-item, one of *lanes*: from first to before end."""
    if lanes == 1:
        return "    pg_i32 id = 0, first = 0, end = (pg_i32)n;\n"
    return f"""\
    pg_i32 id = (pg_i32)PG_LOCAL_ID(0), each = ((pg_i32)n + {lanes - 1}) / {lanes}, first = id * each;
    pg_i32 end = first + each < (pg_i32)n ? first + each : (pg_i32)n;
"""


def _chosen(condition: str, put: str, lanes: int) -> str:
    """*put* for each selected item i, with *at*: how many are before it; *all*: how many there
    are."""
    ranks = """\
    pg_u32 at = 0, all = sum;
"""
    if lanes > 1:
        ranks = f"""\
    PG_LOCAL pg_u32 sums[{lanes}];
    pg_u32 mine = sum;
    sums[id] = sum;
    for (pg_i32 d = 1; d < {lanes}; d <<= 1) {{
        PG_BARRIER;
        pg_u32 left = id >= d ? sums[id - d] : 0;
        PG_BARRIER;
        sum += left;
        sums[id] = sum;
    }}
    PG_BARRIER;
    pg_u32 at = sum - mine, all = sums[{lanes - 1}];
"""
    return f"""\
    pg_u32 sum = 0;
    for (pg_i32 i = first; i < end; i++)
        sum += {condition} ? 1 : 0;
{ranks}    for (pg_i32 i = first; i < end; i++) {{
        {put}
    }}
    if (id == 0)
        count[0] = all;
"""


def gather_source(mask: DType, items: DType, lanes: int) -> str:
    """The kernel ``select_items``: the selected items, and their number."""
    m, t = dtypes.storage_type(mask), dtypes.storage_type(items)
    true = true_text(mask, "mask", "i")
    return f"""\
{dtypes.declare(items)}PG_KERNEL void select_items(PG_ARRAY_IN({m}, mask), PG_ARRAY_IN({t}, x), PG_ARRAY({t}, out), PG_ARRAY(pg_i64, count), pg_i64 n)
{{
    PG_START_IN({m}, mask); PG_START_IN({t}, x); PG_START({t}, out); PG_START(pg_i64, count);
{_share(lanes)}{_chosen(true, f"if ({true}) out[at++] = x[i];", lanes)}}}
"""


def nonzero_source(mask: DType, ndim: int, rows: bool, lanes: int) -> str:
    """The kernel ``nonzero``: indices of the true items along each axis, a row of n for each axis, or
    (not rows) a row for each item."""
    m, true = dtypes.storage_type(mask), true_text(mask, "mask", "i")
    lines = [f"if ({true}) {{", "pg_i64 rest = i;"]
    for k in range(ndim - 1, 0, -1):
        to = f"out[at + {k} * n]" if rows else f"out[at * {ndim} + {k}]"
        lines.append(f"{to} = rest % n{k}; rest /= n{k};")
    lines.append(f"out[{'at' if rows else f'at * {ndim}'}] = rest; at++; }}")
    more = "".join(f", pg_i64 n{k}" for k in range(1, ndim))
    return f"""\
PG_KERNEL void nonzero(PG_ARRAY_IN({m}, mask), PG_ARRAY(pg_i64, out), PG_ARRAY(pg_i64, count), pg_i64 n{more})
{{
    PG_START_IN({m}, mask); PG_START(pg_i64, out); PG_START(pg_i64, count);
{_share(lanes)}{_chosen(true, " ".join(lines), lanes)}}}
"""


def _differ(dtype: DType, equal_nan: bool) -> str:
    """Whether the items at i and i - 1 of the order differ, so that a set has both."""
    code = dtypes.code(dtype)
    if code[0] == "c":
        a, b = (f"x[AT({i})]" for i in ("i", "i - 1"))
        text = f"!pg_{code}_eq({a}, {b})"
        nan = "({0}.re != {0}.re || {0}.im != {0}.im)"
    else:
        a, b = (dtypes.load(dtype, "x", f"AT({i})") for i in ("i", "i - 1"))
        text, nan = f"{a} != {b}", "({0} != {0})"
    if not equal_nan and code == "t64":
        text = f"{text} || {a} == PG_NAT"
    if equal_nan and code[0] in "fc":
        text += f" && !({nan.format(a)} && {nan.format(b)})"
    return f"(i == 0 || ({text}))"


def distinct_source(
    dtype: DType, index: bool, inverse: bool, counts: bool, equal_nan: bool, lanes: int
) -> str:
    """The kernel ``distinct``: items that differ from the previous one, in an order. With it
    (index or inverse), the input has the places that sort x; without it, x is sorted. Results are
    those of numpy.unique, in the same order."""
    t = dtypes.storage_type(dtype)
    ordered = index or inverse
    outs = [
        name for name, on in zip(("index", "inverse", "counts"), (index, inverse, counts)) if on
    ]
    parameters = [f"PG_ARRAY_IN({t}, x)"]
    start = [f"PG_START_IN({t}, x);"]
    if ordered:
        parameters.append("PG_ARRAY_IN(pg_i64, order)")
        start.append("PG_START_IN(pg_i64, order);")
    for type_, name in ((t, "out"), *(("pg_i64", name) for name in (*outs, "count"))):
        parameters.append(f"PG_ARRAY({type_}, {name})")
        start.append(f"PG_START({type_}, {name});")
    put = [f"if ({_differ(dtype, equal_nan)}) {{ out[at] = x[AT(i)];"]
    put += ["index[at] = AT(i);"] if index else []
    put += ["starts[at] = i;"] if counts else []
    put.append("at++; }")
    put += ["inverse[AT(i)] = (pg_i64)at - 1;"] if inverse else []
    tail = ""
    if counts:
        start.append(f"PG_LOCAL pg_i32 starts[{FEW}];")
        tail = f"""\
    PG_BARRIER;
    for (pg_i32 j = id; j < (pg_i32)all; j += {lanes})
        counts[j] = (j + 1 < (pg_i32)all ? starts[j + 1] : (pg_i32)n) - starts[j];
"""
    return f"""\
#define AT(i) {"order[i]" if ordered else "i"}
PG_KERNEL void distinct({", ".join(parameters)}, pg_i64 n)
{{
    {" ".join(start)}
{_share(lanes)}{_chosen(_differ(dtype, equal_nan), " ".join(put), lanes)}{tail}}}
"""


def bincount_source(dtype: DType, weights: bool, lanes: int) -> str:
    """The kernel ``bins``: how often each number from 0 to the greatest occurs (or the sums of
    their weights), if none is negative and all are below ROOM; and the least and the greatest."""
    t, w = dtypes.storage_type(dtype), "pg_f64" if weights else "pg_i64"
    add = "weights[i]" if weights else "1"
    parameter = "PG_ARRAY_IN(pg_f64, weights), " if weights else ""
    more = "PG_START_IN(pg_f64, weights); " if weights else ""
    load = f"(pg_i64){dtypes.load(dtype, 'x', 'i')}"
    return f"""\
PG_KERNEL void bins(PG_ARRAY_IN({t}, x), {parameter}PG_ARRAY({w}, out), PG_ARRAY(pg_i64, range), pg_i64 n)
{{
    PG_LOCAL pg_i64 lows[{lanes}], highs[{lanes}];
    PG_START_IN({t}, x); {more}PG_START({w}, out); PG_START(pg_i64, range);
{_share(lanes)}    pg_i64 low = {load.replace("[i]", "[0]")}, high = low;
    for (pg_i32 i = first; i < end; i++) {{
        pg_i64 v = {load};
        low = v < low ? v : low;
        high = v > high ? v : high;
    }}
    lows[id] = low;
    highs[id] = high;
    PG_BARRIER;
    for (pg_i32 k = 0; k < {lanes}; k++) {{
        low = lows[k] < low ? lows[k] : low;
        high = highs[k] > high ? highs[k] : high;
    }}
    if (id == 0) {{
        range[0] = low;
        range[1] = high;
    }}
    if (low < 0 || high >= {ROOM})
        return;
    for (pg_i32 b = id; b <= (pg_i32)high; b += {lanes}) {{
        {w} sum = 0;
        for (pg_i32 i = 0; i < (pg_i32)n; i++)
            if ({load} == b)
                sum += {add};
        out[b] = sum;
    }}
}}
"""


def histogram_source(dtype: DType) -> str:
    """The kernel ``histogram``: how many items are in each bin, given edges of their dtype; the
    last bin includes its upper edge."""
    t = dtypes.storage_type(dtype)
    v = dtypes.load(dtype, "x", "i")
    low, high = dtypes.load(dtype, "edges", "b"), dtypes.load(dtype, "edges", "b + 1")
    compute = dtypes.compute_type(dtype)
    return f"""\
PG_KERNEL void histogram(PG_ARRAY_IN({t}, x), PG_ARRAY_IN({t}, edges), PG_ARRAY(pg_i64, out), pg_i64 n, pg_i64 bins)
{{
    PG_START_IN({t}, x); PG_START_IN({t}, edges); PG_START(pg_i64, out);
    PG_FOR(b, bins) {{
        {compute} low = {low}, high = {high};
        pg_i64 sum = 0;
        for (pg_i32 i = 0; i < (pg_i32)n; i++) {{
            {compute} v = {v};
            sum += v >= low && (v < high || (b == bins - 1 && v <= high)) ? 1 : 0;
        }}
        out[b] = sum;
    }}
}}
"""
