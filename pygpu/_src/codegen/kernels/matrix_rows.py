"""The common parts of kernels that hold matrices of up to 32 rows in registers: a row for each of
4 to 32 work-items, so that a warp has one matrix or several.
"""

from __future__ import annotations

from .matrix_group import Group, prelude

_ROWS = """\
/* A row of a matrix with n rows, and of the unit matrix after them. */
PG_INLINE void lin_rows(lin_t *r, LIN_MEM lin_t *a, PG_GLOBAL const lin_t *from, int n, pg_i64 down, pg_i64 across, int there)
{
    if (LIN_ID < n && there) {
        pg_i64 apart = across <= down ? down : across, next = across <= down ? across : down;
        LIN_UNROLL_4 for (int i = 0; i < n; i++) {
            int at = across <= down ? i * (LIN_N + 1) + LIN_ID : LIN_ID * (LIN_N + 1) + i;
            a[at] = from[i * apart + LIN_ID * next];
        }
    }
    LIN_SYNC;
    PG_UNROLL for (int j = 0; j < LIN_N; j++)
        r[j] = LIN_ID < n && j < n && there ? a[LIN_ID * (LIN_N + 1) + j]
            : lin_of(LIN_ID == j ? (lin_r)1 : (lin_r)0);
    LIN_SYNC;
}
"""

STORE = """\
        if (LIN_ID < (int)n && there) {
            LIN_UNROLL_4 for (int i = 0; i < (int)n; i++)
                out[(g * n + i) * n + LIN_ID] = a[i * (LIN_N + 1) + LIN_ID];
        }"""
"""Writes the matrix in local memory to out."""

_EXCHANGE = """\
/* The items of another work-item of the warp. */
PG_INLINE lin_r lin_real_from(lin_r x, int lane)
{
    $real
}
PG_INLINE lin_t lin_from(lin_t x, int lane)
{
    $item
}
"""
_F32 = "return PG_FROM_BITS_F32(pg_warp_from(PG_BITS_F32(x), lane));"
_F64 = """\
pg_u64 bits = PG_BITS_F64(x);
    pg_u32 low = pg_warp_from((pg_u32)bits, lane), high = pg_warp_from((pg_u32)(bits >> 32), lane);
    return PG_FROM_BITS_F64((pg_u64)high << 32 | low);"""


def exchange_text(group: Group) -> str:
    """lin_real_from() and lin_from(): items of another work-item of the warp."""
    item = "return lin_real_from(x, lane);"
    if group.code[0] == "c":
        item = "return lin_make(lin_real_from(x.re, lane), lin_real_from(x.im, lane));"
    real = _F64 if group.real == "f64" else _F32
    return _EXCHANGE.replace("$real", real).replace("$item", item)


def rows_prelude(group: Group, columns: int) -> str:
    """The text before a kernel's functions. columns: LIN_N, the most that a row has."""
    return prelude(group) + f"#define LIN_N {columns}\n" + _ROWS


def each(group: Group, down: str = "x_down", across: str = "x_across") -> str:
    """The head of the loop over matrices, which loads rows to *r*. All matrices of a group do the
    same iterations, so that all work-items reach each LIN_SYNC; *there* is 0 for those after the
    last one."""
    teams = group.warps
    return f"""\
    for (pg_i64 base = PG_GROUP_ID(0) * {teams}; base < count; base += PG_GROUPS(0) * {teams}) {{
        pg_i64 g = base + LIN_WARP;
        int there = g < count;
        lin_t r[LIN_N];
        lin_rows(r, a, x + (there ? g : 0) * x_step, (int)n, {down}, {across}, there);
"""
