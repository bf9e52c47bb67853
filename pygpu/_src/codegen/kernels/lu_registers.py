"""The kernels of LU factorization of matrices of up to 32 rows on GPUs: each work-item holds a row
in its registers, and rows are not moved.

The right sides are further columns of the rows, so that elimination is also forward substitution
(Golub and Van Loan, Matrix computations, section 3.4). A matrix has 4 to 32 work-items; those of a
warp wait only for each other; the pivot's row goes through local memory. Candidates for the pivot
are compared by at least the first 14 bits of their absolute values, so factors may exceed 1 by
2^-13.
"""

from __future__ import annotations

from .lu import NEAR_ONE, diagonal_text
from .matrix_group import Group, kernel
from .matrix_rows import STORE, each, exchange_text, rows_prelude

_ELIMINATE = """\
#define LIN_W $w
/* The size of a candidate, and which row it is: the higher, the better. */
PG_INLINE pg_u32 lin_key(lin_t item, int lane)
{
    return ((pg_u32)$bits & ~63u) | 32u | (31u - (pg_u32)lane);
}
/* r: a row of the matrix, s: of the right sides. Each step moves the columns on by one, so that
   the pivot's is always the first, and loops over steps stay short; after all of them each is where it
   was. Then the work-item whose *turn* is k has row k of U. Returns whether a pivot was 0. */
PG_INLINE int lin_eliminate(lin_t *r, lin_t *s, int *turn, PG_LOCAL_PTR lin_t *row)
{
    int singular = 0;
    *turn = -1;
    PG_ROLLED for (int k = 0; k < LIN_N; k++) {
        pg_u32 best = *turn < 0 ? lin_key(r[0], LIN_ID) : 0u;
        PG_UNROLL for (int i = 1; i < LIN_N; i *= 2) {
            pg_u32 its = pg_warp_xor(best, i);
            best = its > best ? its : best;
        }
        LIN_SYNC;
        if (LIN_ID == (int)(31u - (best & 31u))) {
            *turn = k;
            PG_UNROLL for (int j = 0; j < LIN_N; j++) row[j] = r[j];
            PG_UNROLL for (int j = 0; j < LIN_W - LIN_N; j++) row[LIN_N + j] = s[j];
        }
        LIN_SYNC;
        lin_t pivot = row[0], first = r[0], factor = lin_of((lin_r)0);
        if (lin_size(pivot) == (lin_r)0)
            singular = 1;
        else if (*turn < 0)
            factor = lin_div(first, pivot);
        PG_UNROLL for (int j = 1; j < LIN_N; j++) r[j - 1] = lin_minus(r[j], factor, row[j]);
        r[LIN_N - 1] = first;
        PG_UNROLL for (int j = 0; j < LIN_W - LIN_N; j++) s[j] = lin_minus(s[j], factor, row[LIN_N + j]);
    }
    return singular;
}
PG_INLINE void lin_substitute(lin_t *r, lin_t *s, int turn, PG_LOCAL_PTR lin_t *row)
{
    LIN_SYNC;
    PG_ROLLED for (int k = LIN_N - 1; k >= 0; k--) {
        PG_LOCAL_PTR lin_t *pivot_row = row + (k & 1) * (LIN_W - LIN_N);
        lin_t last = r[LIN_N - 1];
        PG_UNROLL for (int j = LIN_N - 1; j > 0; j--) r[j] = r[j - 1];
        r[0] = last;
        if (turn == k) {
            PG_UNROLL for (int j = 0; j < LIN_W - LIN_N; j++) {
                s[j] = lin_div(s[j], last);
                pivot_row[j] = s[j];
            }
        }
        LIN_SYNC;
        if (turn < k) {
            PG_UNROLL for (int j = 0; j < LIN_W - LIN_N; j++) s[j] = lin_minus(s[j], last, pivot_row[j]);
        }
    }
}
"""


def _text(group: Group, wide: int) -> str:
    n = group.threads
    bits = "PG_BITS_F32(lin_size(item))"
    if group.real == "f64":
        bits = "(PG_BITS_F64(lin_size(item)) >> 32)"
    text = _ELIMINATE.replace("$w", str(wide)).replace("$bits", bits)
    return rows_prelude(group, n) + text


def _local(group: Group, wide: int) -> list[str]:
    return [f"lin_t row[{max(wide, 2 * (wide - group.threads))}]"]


def _each(group: Group) -> str:
    return f"""\
{each(group)}
        int turn;
        lin_t s[LIN_W > LIN_N ? LIN_W - LIN_N : 1];
"""


_SYSTEM = ["n", "sides", "x_step", "x_down", "x_across", "b_step", "b_down", "b_across"]
_ONE = ["n", "x_step", "x_down", "x_across"]


def solve_source(group: Group, sides: int) -> str:
    """``lin_solve``: out = a^-1 b, with at most *sides* columns."""
    wide = group.threads + sides
    body = f"""\
{_each(group)}
        PG_UNROLL for (int j = 0; j < {sides}; j++)
            s[j] = LIN_ID < (int)n && j < (int)sides && there
                ? b[g * b_step + LIN_ID * b_down + j * b_across] : lin_of((lin_r)0);
        if (lin_eliminate(r, s, &turn, row) && LIN_ID == 0)
            report[0] = 1;
        lin_substitute(r, s, turn, row);
        PG_UNROLL for (int j = 0; j < {sides}; j++) {{
            if (turn < (int)n && j < (int)sides && there)
                out[(g * n + turn) * sides + j] = s[j];
        }}
        LIN_SYNC;
    }}"""
    reads, writes = ["lin_t x", "lin_t b"], ["lin_t out", "pg_i64 report"]
    local = _local(group, wide)
    return _text(group, wide) + kernel(group, "lin_solve", reads, writes, _SYSTEM, local, body)


def inverse_source(group: Group) -> str:
    """``lin_inverse``: with the identity matrix as right sides."""
    wide = 2 * group.threads
    body = f"""\
{_each(group)}
        PG_UNROLL for (int j = 0; j < LIN_N; j++)
            s[j] = lin_of(LIN_ID == j ? (lin_r)1 : (lin_r)0);
        if (lin_eliminate(r, s, &turn, row) && LIN_ID == 0)
            report[0] = 1;
        lin_substitute(r, s, turn, row);
        PG_UNROLL for (int j = 0; j < LIN_N; j++) a[turn * (LIN_N + 1) + j] = s[j];
        LIN_SYNC;
{STORE}
        LIN_SYNC;
    }}"""
    local, writes = _local(group, wide), ["lin_t out", "pg_i64 report"]
    text = kernel(group, "lin_inverse", ["lin_t x"], writes, _ONE, local, body)
    return _text(group, wide) + text


_PRODUCT = """\
/* The product of the items of a matrix's work-items, as a number near 1 and a power of two. */
PG_INLINE lin_t lin_product(lin_t item, int *power)
{
    int lane = (int)(PG_LOCAL_ID(0) % 32);
    *power = lin_near_one(&item);
    PG_UNROLL for (int i = 1; i < LIN_N; i *= 2) {
        item = lin_mul(item, lin_from(item, lane ^ i));
        *power += (int)pg_warp_xor((pg_u32)*power, i);
    }
    *power += lin_near_one(&item);
    return item;
}
"""


def determinant_source(group: Group, logarithm: bool) -> str:
    """``lin_determinant``: the product of the diagonal, whose sign is the parity of the order of
    rows."""
    body = f"""\
{_each(group)}
        lin_eliminate(r, s, &turn, row);
        keys[LIN_ID] = (pg_u32)turn;
        LIN_SYNC;
        int odd = 0, power;
        lin_t item = r[0];
        PG_ROLLED for (int i = 0; i < LIN_ID; i++) odd ^= (int)keys[i] > turn;
        PG_UNROLL for (int i = 1; i < LIN_N; i++) item = i == turn ? r[i] : item;
        lin_t product = lin_product(odd ? lin_scale(item, (lin_r)-1) : item, &power);
        if (LIN_ID == 0 && there) {{
{diagonal_text(logarithm)}
        }}
        LIN_SYNC;
    }}"""
    writes = ["lin_t out", *(["lin_r logs"] if logarithm else [])]
    local = [f"pg_u32 keys[{group.threads}]", *_local(group, group.threads)]
    text = _text(group, group.threads) + exchange_text(group) + NEAR_ONE + _PRODUCT
    return text + kernel(group, "lin_determinant", ["lin_t x"], writes, _ONE, local, body)
