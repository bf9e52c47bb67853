"""The kernels of Cholesky factorization (Golub and Van Loan, Matrix computations, section 4.2).

With one matrix per work-group: by columns, each item a sum. With a row per work-item, in registers
and for matrices of up to 32 rows: by outer products, of which each column goes through local
memory.
"""

from __future__ import annotations

from .matrix_group import Group, copy_in, kernel, prelude
from .matrix_rows import STORE, each, rows_prelude

_FACTOR = """\
/* The lower triangle becomes L. Returns whether a pivot was not positive; NaN goes through, as in
   LAPACK. Goes on after such a pivot: PoCL 7.1 executed a loop that is left early twice. */
PG_INLINE int lin_cholesky(LIN_MEM lin_t *a, int n, int pitch)
{
    int failed = 0;
    for (int k = 0; k < n; k++) {
        LIN_FOR(i, k, n) {
            lin_t sum = a[i * pitch + k];
            LIN_UNROLL_4 for (int j = 0; j < k; j++)
                sum = lin_minus(sum, a[i * pitch + j], lin_conj(a[k * pitch + j]));
            a[i * pitch + k] = sum;
        }
        LIN_SYNC;
        lin_r pivot = lin_re(a[k * pitch + k]);
        LIN_SYNC;
        failed |= pivot <= (lin_r)0;
        pivot = sqrt(pivot);
        LIN_FOR(i, k, n) {
            a[i * pitch + k] = i == k ? lin_of(pivot) : lin_scale(a[i * pitch + k], (lin_r)1 / pivot);
        }
        LIN_SYNC;
    }
    return failed;
}
"""


def cholesky_source(group: Group) -> str:
    """``lin_cholesky_each``: L in the lower triangle; if *upper* is not 0, its adjoint, computed
    from the upper one."""
    body = """\
    int pitch = (int)n | 1;
    LIN_EACH {
        if (upper)
            lin_in(a, x + g * x_step, (int)n, (int)n, pitch, x_across, x_down);
        else
            lin_in(a, x + g * x_step, (int)n, (int)n, pitch, x_down, x_across);
        LIN_SYNC;
        if (upper) {
            LIN_FOR(i, 0, (int)n) {
                for (int j = 0; j < i; j++)
                    a[i * pitch + j] = lin_conj(a[i * pitch + j]);
            }
            LIN_SYNC;
        }
        if (lin_cholesky(a, (int)n, pitch)) {
            if (LIN_ID == 0)
                report[0] = 1;
        }
        PG_GLOBAL lin_t *to = out + g * n * n;
        lin_t zero = lin_of((lin_r)0);
        if (upper) {
            LIN_ITEMS((int)n, (int)n, to[i * (int)n + j] = j >= i ? lin_conj(a[j * pitch + i]) : zero;)
        } else {
            LIN_ITEMS((int)n, (int)n, to[i * (int)n + j] = j <= i ? a[i * pitch + j] : zero;)
        }
        LIN_SYNC;
    }"""
    numbers = ["n", "upper", "x_step", "x_down", "x_across"]
    writes = ["lin_t out", "pg_i64 report"]
    text = prelude(group) + copy_in() + _FACTOR
    return text + kernel(group, "lin_cholesky_each", ["lin_t x"], writes, numbers, [], body)


_BY_ROWS = """\
/* The row of a positive definite matrix becomes the row of L. Returns whether a pivot was not
   positive; NaN goes through. column: two columns, used in turn. */
PG_INLINE int lin_cholesky_rows(lin_t *r, PG_LOCAL_PTR lin_t *column)
{
    int failed = 0;
    PG_UNROLL for (int k = 0; k < LIN_N; k++) {
        PG_LOCAL_PTR lin_t *items = column + (k & 1) * LIN_N;
        items[LIN_ID] = r[k];
        LIN_SYNC;
        lin_r pivot = lin_re(items[k]);
        failed |= pivot <= (lin_r)0;
        pivot = sqrt(pivot);
        lin_r inverse = (lin_r)1 / pivot;
        r[k] = LIN_ID == k ? lin_of(pivot) : lin_scale(r[k], inverse);
        lin_t factor = lin_scale(r[k], inverse);
        PG_UNROLL for (int j = k + 1; j < LIN_N; j++)
            r[j] = lin_minus(r[j], factor, lin_conj(items[j]));
    }
    return failed;
}
"""


def rows_source(group: Group) -> str:
    """``lin_cholesky_each`` with a row per work-item."""
    body = f"""\
{each(group, "(upper ? x_across : x_down)", "(upper ? x_down : x_across)")}
        if (upper) {{
            PG_UNROLL for (int j = 0; j < LIN_N; j++) r[j] = lin_conj(r[j]);
        }}
        if (lin_cholesky_rows(r, column) && LIN_ID == 0 && there)
            report[0] = 1;
        LIN_SYNC;
        PG_UNROLL for (int j = 0; j < LIN_N; j++) {{
            int at = upper ? j * (LIN_N + 1) + LIN_ID : LIN_ID * (LIN_N + 1) + j;
            a[at] = j > LIN_ID ? lin_of((lin_r)0) : upper ? lin_conj(r[j]) : r[j];
        }}
        LIN_SYNC;
{STORE}
        LIN_SYNC;
    }}"""
    numbers = ["n", "upper", "x_step", "x_down", "x_across"]
    local = [f"lin_t column[{2 * group.threads}]"]
    text = rows_prelude(group, group.threads) + _BY_ROWS
    writes = ["lin_t out", "pg_i64 report"]
    return text + kernel(group, "lin_cholesky_each", ["lin_t x"], writes, numbers, local, body)
