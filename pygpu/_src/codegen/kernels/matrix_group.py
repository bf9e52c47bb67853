"""The common parts of factorization kernels with one matrix per work-group.

The matrix is in the group's local memory, or, if it is too large, in a part of *work* in global
memory. Item (i, j) is a[i * pitch + j]; the pitch is odd, so neither rows nor columns conflict in a
bank. On a CPU a group is a single work-item, which does all iterations of LIN_FOR, and LIN_SYNC is
empty.

===========================  ====================================================================
lin_t, lin_r                 an item, and its real part
LIN_MEM                      the address space of the matrix
LIN_FOR(i, from, to)         a loop whose iterations are distributed over a group's work-items
LIN_SYNC                     a barrier: makes their writes visible to all of them
LIN_EACH                     a loop over the matrices of a group: *g* is the number of one
===========================  ====================================================================
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from pygpu._src.codegen.template import Template


class Group(NamedTuple):
    """code: of the dtype ("f32", "c128", ...). threads: work-items per matrix; 1 on CPUs. items:
    of local memory per matrix, 0 if it is in global memory. warps: if not 0, each matrix has a
    warp, and a group has so many of them, which do not wait for each other. bounds: PG_BOUNDS is
    available."""

    code: str
    threads: int
    items: int
    warps: int
    bounds: bool

    @property
    def real(self) -> str:
        return {"c64": "f32", "c128": "f64"}.get(self.code, self.code)

    @property
    def size(self) -> int:
        """Work-items per group."""
        return self.threads * max(self.warps, 1)

    @property
    def serial(self) -> bool:
        return self.threads == 1


_REAL = """\
typedef pg_$r lin_r;
typedef pg_$r lin_t;
PG_INLINE lin_t lin_of(lin_r x) { return x; }
PG_INLINE lin_r lin_re(lin_t a) { return a; }
PG_INLINE lin_r lin_im(lin_t a) { return (lin_r)0; }
PG_INLINE lin_t lin_conj(lin_t a) { return a; }
PG_INLINE lin_t lin_add(lin_t a, lin_t b) { return a + b; }
PG_INLINE lin_t lin_sub(lin_t a, lin_t b) { return a - b; }
PG_INLINE lin_t lin_mul(lin_t a, lin_t b) { return a * b; }
PG_INLINE lin_t lin_scale(lin_t a, lin_r s) { return a * s; }
PG_INLINE lin_t lin_plus(lin_t c, lin_t a, lin_t b) { return c + a * b; }
PG_INLINE lin_t lin_minus(lin_t c, lin_t a, lin_t b) { return c - a * b; }
PG_INLINE lin_t lin_div(lin_t a, lin_t b) { return a / b; }
PG_INLINE lin_r lin_size(lin_t a) { return fabs(a); }
PG_INLINE lin_r lin_abs(lin_t a) { return fabs(a); }
PG_INLINE lin_r lin_square(lin_t a) { return a * a; }
"""

_COMPLEX = """\
typedef pg_$r lin_r;
typedef pg_$t lin_t;
PG_INLINE lin_t lin_make(lin_r re, lin_r im) { lin_t z; z.re = re; z.im = im; return z; }
PG_INLINE lin_t lin_of(lin_r x) { return lin_make(x, (lin_r)0); }
PG_INLINE lin_r lin_re(lin_t a) { return a.re; }
PG_INLINE lin_r lin_im(lin_t a) { return a.im; }
PG_INLINE lin_t lin_conj(lin_t a) { return lin_make(a.re, -a.im); }
PG_INLINE lin_t lin_add(lin_t a, lin_t b) { return lin_make(a.re + b.re, a.im + b.im); }
PG_INLINE lin_t lin_sub(lin_t a, lin_t b) { return lin_make(a.re - b.re, a.im - b.im); }
PG_INLINE lin_t lin_mul(lin_t a, lin_t b)
{
    return lin_make(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
PG_INLINE lin_t lin_scale(lin_t a, lin_r s) { return lin_make(a.re * s, a.im * s); }
PG_INLINE lin_t lin_plus(lin_t c, lin_t a, lin_t b)
{
    return lin_make(c.re + a.re * b.re - a.im * b.im, c.im + a.re * b.im + a.im * b.re);
}
PG_INLINE lin_t lin_minus(lin_t c, lin_t a, lin_t b)
{
    return lin_make(c.re - a.re * b.re + a.im * b.im, c.im - a.re * b.im - a.im * b.re);
}
PG_INLINE lin_t lin_div(lin_t a, lin_t b)
{
    if (fabs(b.re) >= fabs(b.im)) {
        lin_r ratio = b.im / b.re, scale = (lin_r)1 / (b.re + b.im * ratio);
        return lin_make((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
    }
    lin_r ratio = b.re / b.im, scale = (lin_r)1 / (b.im + b.re * ratio);
    return lin_make((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);
}
PG_INLINE lin_r lin_size(lin_t a) { return fabs(a.re) + fabs(a.im); }
PG_INLINE lin_r lin_abs(lin_t a) { return hypot(a.re, a.im); }
PG_INLINE lin_r lin_square(lin_t a) { return a.re * a.re + a.im * a.im; }
"""

_LIMITS = {
    "f32": {"eps": "1.1920929e-7f", "least": "1.17549435e-38f", "most": "3.402823466e38f"},
    "f64": {
        "eps": "2.220446049250313e-16",
        "least": "2.2250738585072014e-308",
        "most": "1.7976931348623157e308",
    },
}

_TEAM = Template("""\
#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT ON
#endif
$serial
#ifndef PG_BOUNDS
#define PG_BOUNDS(size, groups)
#endif
#define LIN_EPS $eps
#define LIN_LEAST $least
#define LIN_MOST $most
#define LIN_MEM $memory
#define LIN_ID $id
#define LIN_SYNC $sync
#define LIN_FOR(i, from, to) for (int i = (from) + LIN_ID; i < (to); i += $threads)
#ifdef LIN_SERIAL
#define LIN_UNROLL_4
#else
#define LIN_UNROLL_4 _Pragma("unroll 4")
#endif
#define LIN_WARP $warp
#define LIN_EACH $each
#define LIN_THREADS $threads
/* The sum, or the largest, of what the work-items bring. */
PG_INLINE lin_r lin_sum(lin_r mine, PG_LOCAL_PTR lin_r *parts)
{
#ifdef LIN_SERIAL
    return mine;
#else
    parts[LIN_ID] = mine;
    LIN_SYNC;
    for (int middle = LIN_THREADS / 2; middle; middle /= 2) {
        if (LIN_ID < middle)
            parts[LIN_ID] += parts[LIN_ID + middle];
        LIN_SYNC;
    }
    mine = parts[0];
    LIN_SYNC;
    return mine;
#endif
}
PG_INLINE lin_r lin_largest(lin_r mine, PG_LOCAL_PTR lin_r *parts)
{
#ifdef LIN_SERIAL
    return mine;
#else
    parts[LIN_ID] = mine;
    LIN_SYNC;
    for (int middle = LIN_THREADS / 2; middle; middle /= 2) {
        if (LIN_ID < middle && parts[LIN_ID + middle] > parts[LIN_ID])
            parts[LIN_ID] = parts[LIN_ID + middle];
        LIN_SYNC;
    }
    mine = parts[0];
    LIN_SYNC;
    return mine;
#endif
}
/* A power of two by which a number comes near 1, if it is one. */
PG_INLINE lin_r lin_unit(lin_r size)
{
    int exponent;
    frexp(size, &exponent);
    exponent = exponent > $widest ? $widest : exponent < -$widest ? -$widest : exponent;
    return ldexp((lin_r)1, -exponent);
}
/* The same for the largest of the rows' items: 0 if all are 0, negative if one is infinite or NaN. */
PG_INLINE lin_r lin_scaling(LIN_MEM const lin_t *a, int rows, int columns, int pitch, PG_LOCAL_PTR lin_r *parts)
{
    lin_r most = (lin_r)0, total = (lin_r)0;
    LIN_FOR(i, 0, rows) {
        for (int j = 0; j < columns; j++) {
            lin_r size = lin_size(a[i * pitch + j]);
            most = size > most ? size : most;
            total += size - size;
        }
    }
    most = lin_largest(most, parts);
    total = lin_sum(total, parts);
    if (!(most <= LIN_MOST) || !(total == (lin_r)0))
        return (lin_r)-1;
    return most == (lin_r)0 ? most : lin_unit(most);
}
""")


def prelude(group: Group) -> str:
    """The text before a kernel's functions."""
    real = group.real
    text = _COMPLEX if group.code[0] == "c" else _REAL
    memory = "PG_LOCAL_PTR" if group.items else "PG_GLOBAL"
    sync = "PG_BARRIER" if group.items else "PG_BARRIER_GLOBAL"
    each = "for (pg_i64 g = PG_GROUP_ID(0); g < count; g += PG_GROUPS(0))"
    lane = "(int)PG_LOCAL_ID(0)"
    if group.warps:
        sync, lane = "pg_warp_sync()", f"(int)(PG_LOCAL_ID(0) % {group.threads})"
        each = (
            f"for (pg_i64 g = PG_GROUP_ID(0) * {group.warps} + LIN_WARP; g < count; "
            f"g += PG_GROUPS(0) * {group.warps})"
        )
    head = text.replace("$r", real).replace("$t", group.code)
    return head + _TEAM.fill(
        _LIMITS[real],
        memory=memory,
        id="0" if group.serial else lane,
        each=each,
        warp=f"(PG_LOCAL_ID(0) / {group.threads})" if group.warps else "0",
        sync="" if group.serial else sync,
        threads=group.threads,
        serial="#define LIN_SERIAL 1" if group.serial else "",
        widest="120" if real == "f32" else "1000",
    )


def _local(group: Group, array: str) -> str:
    """The declaration of an array in local memory, such as "lin_t a[8]", for each matrix of a
    group."""
    if not group.warps:
        return f"PG_LOCAL {array};"
    kind, name, length, _ = re.split(r"[\[\] ]", array)
    return (
        f"PG_LOCAL {kind} all_{name}[{int(length) * group.warps}]; "
        f"PG_LOCAL_PTR {kind} *{name} = all_{name} + LIN_WARP * {length};"
    )


def kernel(
    group: Group,
    name: str,
    reads: Sequence[str],
    writes: Sequence[str],
    numbers: Sequence[str],
    local: Sequence[str],
    body: str,
    matrix: bool = True,
) -> str:
    """A kernel. reads, writes: "type name" of arrays; the last that is written is *work*, if the
    matrices are in global memory. numbers: pg_i64 each, after *count* and *room*, the items of a
    matrix there. local: arrays of local memory, such as "lin_r parts[32]". matrix: if False, *a*
    and *work* do not exist."""
    arrays = [*(("_IN", x) for x in reads), *(("", x) for x in writes)]
    if matrix and not group.items:
        arrays.append(("", "lin_t work"))
    parameters = [f"PG_ARRAY{kind}({', '.join(x.split())})" for kind, x in arrays]
    parameters += [f"pg_i64 {name}" for name in ("count", "room", *numbers)]
    starts = " ".join(f"PG_START{kind}({', '.join(x.split())});" for kind, x in arrays)
    declaration = _local(group, f"lin_t a[{group.items}]")
    if not group.items:
        declaration = "PG_GLOBAL lin_t *a = work + (pg_i64)PG_GROUP_ID(0) * room;"
    if not matrix:
        declaration = ""
    bounds = f"PG_BOUNDS({group.size}, 1) " if group.bounds else ""
    lines = "\n    ".join([declaration, *(_local(group, x) for x in local)])
    return f"""\
PG_KERNEL void {bounds}{name}({", ".join(parameters)})
{{
    {starts}
    {lines}
{body}
}}
"""


_COPY_IN = """\
/* Loops over rows and columns; columns are adjacent in memory. */
#ifdef LIN_SERIAL
#define LIN_ITEMS(rows, columns, ...) \\
    for (int i = 0; i < (rows); i++) \\
        for (int j = 0; j < (columns); j++) { __VA_ARGS__ }
#else
#define LIN_ITEMS(rows, columns, ...) \\
    if (2 * (columns) > LIN_THREADS) { \\
        LIN_UNROLL_4 for (int i = 0; i < (rows); i++) { LIN_FOR(j, 0, columns) { __VA_ARGS__ } } \\
    } else \\
        LIN_FOR(e, 0, (rows) * (columns)) { int i = e / (columns), j = e - i * (columns); __VA_ARGS__ }
#endif
PG_INLINE void lin_in(LIN_MEM lin_t *a, PG_GLOBAL const lin_t *from, int rows, int columns, int pitch, pg_i64 down, pg_i64 across)
{
    if (across <= down) {
        LIN_ITEMS(rows, columns, a[i * pitch + j] = from[i * down + j * across];)
    } else {
        LIN_ITEMS(columns, rows, a[j * pitch + i] = from[j * down + i * across];)
    }
}
"""


def copy_in() -> str:
    """lin_in(a, from, rows, columns, pitch, down, across): a matrix of any strides [items]; and
    LIN_ITEMS for copy_out()."""
    return _COPY_IN


def copy_out(to: str, rows: str, columns: str, value: str, column: str = "j") -> str:
    """A statement: *value* of (i, j) for all items of a matrix without gaps, at a column of (j)."""
    return f"""\
        LIN_ITEMS((int){rows}, (int){columns}, {to}[i * (int){columns} + {column}] = {value};)"""
