"""Kernels for factorizing large matrices by blocks of columns; the remaining work is matrix
products.

Golub and Van Loan, Matrix computations, sections 3.2.11 (LU by blocks), 4.2.9 (Cholesky) and 5.2.3
(reflectors by blocks); the triangle of the latter as LAPACK's larft (Schreiber and Van Loan, A
storage-efficient WY representation, 1989).
"""

from __future__ import annotations

from .householder import REFLECTORS
from .matrix_group import Group, kernel, prelude

WIDTH = 32  # columns per block

_HIGHEST = """\
/* Of the sizes that work-items bring, the largest, and the first row that has it. */
PG_INLINE int lin_pivot(lin_r *most, int row, PG_LOCAL_PTR lin_r *parts, PG_LOCAL_PTR pg_i32 *rows)
{
#ifdef LIN_SERIAL
    return row;
#else
    parts[LIN_ID] = *most;
    rows[LIN_ID] = row;
    LIN_SYNC;
    for (int middle = LIN_THREADS / 2; middle; middle /= 2) {
        if (LIN_ID < middle) {
            lin_r its = parts[LIN_ID + middle];
            int its_row = rows[LIN_ID + middle];
            if (its > parts[LIN_ID] || (its == parts[LIN_ID] && its_row < rows[LIN_ID])) {
                parts[LIN_ID] = its;
                rows[LIN_ID] = its_row;
            }
        }
        LIN_SYNC;
    }
    row = rows[0];
    *most = parts[0];
    LIN_SYNC;
    return row;
#endif
}
"""

_UPDATE = f"""\
#ifndef LIN_SERIAL
/* a -= left factor for these rows and columns: {WIDTH} neighbouring work-items have one row, and each
   a column and its factor. A few rows are read before they are written, as a write might change what
   the next read finds. */
PG_INLINE void lin_update(LIN_MEM lin_t *a, LIN_MEM const lin_t *left, lin_t factor, int from, int rows, int first, int columns, int pitch)
{{
    int j = LIN_ID % {WIDTH}, apart = LIN_THREADS / {WIDTH};
    if (j < first || j >= columns)
        return;
    for (int i = from + LIN_ID / {WIDTH}; i < rows; i += LIN_AHEAD * apart) {{
        lin_t item[LIN_AHEAD], its[LIN_AHEAD];
        PG_UNROLL for (int u = 0; u < LIN_AHEAD; u++) {{
            pg_i64 at = (pg_i64)(i + u * apart < rows ? i + u * apart : i) * pitch;
            item[u] = a[at + j];
            its[u] = left[at];
        }}
        PG_UNROLL for (int u = 0; u < LIN_AHEAD; u++) {{
            if (i + u * apart < rows)
                a[(pg_i64)(i + u * apart) * pitch + j] = lin_minus(item[u], its[u], factor);
        }}
    }}
}}
#endif
"""


def _update(group: Group) -> str:
    return f"#define LIN_AHEAD {4 if group.code == 'c128' else 8}\n{_UPDATE}"


_LU = f"""\
    PG_LOCAL lin_r parts[LIN_THREADS];
    PG_LOCAL pg_i32 rows[LIN_THREADS];
    PG_LOCAL lin_t top[{WIDTH}];
    LIN_MEM lin_t *a = x + first * (pitch + 1);
    int high = (int)(n - first), wide = (int)width, step = (int)pitch;
    for (int k = 0; k < wide; k++) {{
        lin_r most = (lin_r)-1;
        int pivot = k;
        LIN_FOR(i, k, high) {{
            lin_r size = lin_size(a[(pg_i64)i * step + k]);
            if (size > most) {{
                most = size;
                pivot = i;
            }}
        }}
        pivot = lin_pivot(&most, pivot, parts, rows);
        if (LIN_ID == 0) {{
            swaps[first + k] = (pg_i32)first + pivot;
            if (most == (lin_r)0)
                report[0] = 1;
        }}
        LIN_FOR(j, 0, wide) {{
            lin_t mine = a[(pg_i64)k * step + j];
            if (pivot != k) {{
                lin_t other = a[(pg_i64)pivot * step + j];
                a[(pg_i64)pivot * step + j] = mine;
                a[(pg_i64)k * step + j] = other;
                mine = other;
            }}
            top[j] = mine;
        }}
        LIN_SYNC;
        if (most == (lin_r)0)
            continue;
        LIN_FOR(i, k + 1, high) {{
            LIN_MEM lin_t *row = a + (pg_i64)i * step;
            row[k] = lin_div(row[k], top[k]);
#ifdef LIN_SERIAL
            PG_INDEPENDENT for (int j = k + 1; j < wide; j++)
                row[j] = lin_minus(row[j], row[k], top[j]);
#endif
        }}
        LIN_SYNC;
#ifndef LIN_SERIAL
        lin_update(a, a + k, top[LIN_ID % {WIDTH}], k + 1, high, k + 1, wide, step);
        LIN_SYNC;
#endif
    }}"""


def lu_source(group: Group) -> str:
    """``lin_lu_block``: factor columns *first* to first + width of a square matrix with gaps
    between its rows, from row *first* on. swaps: the row with which each was swapped."""
    return (
        prelude(group)
        + _update(group)
        + _HIGHEST
        + kernel(
            group,
            "lin_lu_block",
            [],
            ["lin_t x", "pg_i32 swaps", "pg_i64 report"],
            ["n", "first", "width", "pitch"],
            [],
            _LU,
            matrix=False,
        )
    )


_SWAP = """\
    PG_FOR(c, columns) {
        if (c < first || c >= first + width) {
            for (int j = 0; j < (int)width; j++) {
                pg_i64 row = first + j, other = swaps[row];
                if (other != row) {
                    lin_t item = x[row * pitch + c];
                    x[row * pitch + c] = x[other * pitch + c];
                    x[other * pitch + c] = item;
                }
            }
        }
    }"""


def swap_source(group: Group) -> str:
    """``lin_swap_rows``: swap the rows of the columns outside the block, as its pivots require."""
    numbers = ["first", "width", "columns", "pitch"]
    text = kernel(
        group, "lin_swap_rows", ["pg_i32 swaps"], ["lin_t x"], numbers, [], _SWAP, matrix=False
    )
    return prelude(group) + text


_TRIANGULAR = f"""\
    PG_LOCAL lin_t part[{WIDTH * WIDTH}];
    int wide = (int)width;
    LIN_FOR(e, 0, {WIDTH * WIDTH}) {{
        int i = e / {WIDTH}, j = e % {WIDTH};
        lin_t item = lin_of(i == j ? (lin_r)1 : (lin_r)0);
        if (i < wide && j <= i && (j < i || !unit))
            item = t[t_at + i * t_down + j * t_across];
        part[e] = conjugate ? lin_conj(item) : item;
    }}
    LIN_SYNC;
    for (pg_i64 c = PG_ID(0); c < columns; c += PG_IDS(0)) {{
        lin_t y[{WIDTH}];
        PG_GLOBAL lin_t *b = x + x_at + c * x_across;
        LIN_UNROLL for (int i = 0; i < {WIDTH}; i++) y[i] = i < wide ? b[i * x_down] : lin_of((lin_r)0);
        LIN_UNROLL for (int i = 0; i < {WIDTH}; i++) {{
            lin_t sum = y[i];
            LIN_UNROLL for (int j = 0; j < i; j++) sum = lin_minus(sum, part[i * {WIDTH} + j], y[j]);
            y[i] = unit ? sum : lin_div(sum, part[i * {WIDTH + 1}]);
        }}
        LIN_UNROLL for (int i = 0; i < {WIDTH}; i++) {{
            if (i < wide)
                b[i * x_down] = y[i];
        }}
    }}"""


def triangular_source(group: Group) -> str:
    """``lin_triangular``: x = t^-1 x for a lower triangle of at most WIDTH columns; also for an
    upper one, from its end with negative strides. Each work-item handles a column of x."""
    numbers = ["width", "columns", "unit", "conjugate", "t_at", "t_down", "t_across"]
    numbers += ["x_at", "x_down", "x_across"]
    reads, writes = ["lin_t t"], ["lin_t x"]
    unroll = f"#define LIN_UNROLL {'' if group.serial else 'PG_UNROLL'}\n"
    text = kernel(group, "lin_triangular", reads, writes, numbers, [], _TRIANGULAR, matrix=False)
    return prelude(group) + unroll + text


_REFLECT_BLOCK = f"""\
/* Reflect the columns after the first, of which there are at most WIDTH: neighbouring work-items have
   neighbouring columns, and {WIDTH} of them one row. */
PG_INLINE void lin_reflect_block(LIN_MEM lin_t *v, int n, int columns, int pitch, lin_t tau, PG_LOCAL_PTR lin_t *sums)
{{
#ifdef LIN_SERIAL
    for (int j = 0; j < columns; j++) {{
        lin_t sum = lin_of((lin_r)0);
        for (int i = 0; i < n; i++)
            sum = lin_plus(sum, lin_conj(v[i * pitch]), v[i * pitch + 1 + j]);
        sums[j] = lin_mul(lin_conj(tau), sum);
    }}
    for (int i = 0; i < n; i++) {{
        lin_t item = v[i * pitch];
        PG_INDEPENDENT for (int j = 0; j < columns; j++)
            v[i * pitch + 1 + j] = lin_minus(v[i * pitch + 1 + j], item, sums[j]);
    }}
#else
    int j = LIN_ID % {WIDTH}, row = LIN_ID / {WIDTH};
    lin_t sum = lin_of((lin_r)0);
    if (j < columns) {{
        for (int i = row; i < n; i += LIN_THREADS / {WIDTH})
            sum = lin_plus(sum, lin_conj(v[i * pitch]), v[i * pitch + 1 + j]);
    }}
    sums[LIN_ID] = sum;
    LIN_SYNC;
    for (int middle = LIN_THREADS / 2; middle >= {WIDTH}; middle /= 2) {{
        if (LIN_ID < middle)
            sums[LIN_ID] = lin_add(sums[LIN_ID], sums[LIN_ID + middle]);
        LIN_SYNC;
    }}
    sum = lin_mul(lin_conj(tau), sums[j]);
    lin_update(v + 1, v, sum, 0, n, 0, columns, pitch);
    LIN_SYNC;
#endif
}}
"""

_QR = """\
    PG_LOCAL lin_r parts[LIN_THREADS];
    PG_LOCAL lin_t sums[LIN_SUMS];
    int high = (int)(m - first), wide = (int)width, step = (int)pitch;
    LIN_MEM lin_t *a = x + first * (pitch + 1);
    for (int c = 0; c < wide; c++) {
        LIN_MEM lin_t *v = a + c * step + c;
        lin_r beta;
        lin_t tau = lin_reflector(v, high - c, step, &beta, parts);
        LIN_SYNC;
        if (LIN_ID == 0) {
            v[0] = lin_of((lin_r)1);
            taus[first + c] = tau;
        }
        LIN_SYNC;
        lin_reflect_block(v, high - c, wide - c - 1, step, tau, sums);
        LIN_FOR(i, 0, high) { /* the vector moves out, and leaves R */
            lin_t item = lin_of((lin_r)0);
            if (i >= c) {
                item = v[(i - c) * step];
                v[(i - c) * step] = lin_of(i == c ? beta : (lin_r)0);
            }
            vectors[i * wide + c] = item;
        }
        LIN_SYNC;
    }"""


def qr_source(group: Group) -> str:
    """``lin_qr_block``: reflectors of columns *first* to first + width, from row *first* on. R
    stays in place; the vectors are copied to an array without gaps, with ones on their diagonal
    and zeros above."""
    sums = f"#define LIN_SUMS {max(group.threads, WIDTH)}\n"
    writes = ["lin_t x", "lin_t vectors", "lin_t taus"]
    numbers = ["m", "first", "width", "pitch"]
    text = kernel(group, "lin_qr_block", [], writes, numbers, [], _QR, matrix=False)
    return prelude(group) + sums + _update(group) + REFLECTORS + _REFLECT_BLOCK + text


_TRIANGLE = f"""\
    PG_LOCAL lin_t t[{WIDTH * WIDTH}];
    int wide = (int)width;
    for (int j = 0; j < wide; j++) {{
        lin_t tau = taus[first + j];
        LIN_FOR(i, 0, wide) {{
            lin_t sum = lin_of((lin_r)0);
            for (int k = i; k < j; k++)
                sum = lin_plus(sum, t[i * {WIDTH} + k], gram[k * wide + j]);
            t[i * {WIDTH} + j] = i < j ? lin_sub(lin_of((lin_r)0), lin_mul(tau, sum))
                : i == j ? tau : lin_of((lin_r)0);
        }}
        LIN_SYNC;
    }}
    LIN_FOR(e, 0, wide * wide) out[e] = t[e / wide * {WIDTH} + e % wide];"""


def triangle_source(group: Group) -> str:
    """``lin_triangle``: the T of 1 - V T V^H = H1 H2 ..., from V^H V."""
    reads, writes = ["lin_t gram", "lin_t taus"], ["lin_t out"]
    numbers = ["first", "width"]
    text = kernel(group, "lin_triangle", reads, writes, numbers, [], _TRIANGLE, matrix=False)
    return prelude(group) + text
