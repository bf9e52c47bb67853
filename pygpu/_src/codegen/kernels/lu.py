"""Kernels of LU factorization with partial pivoting, and its uses: solutions, inverses,
determinants. Each work-group has one matrix.

On GPUs, rows and columns of the factors are computed in Crout's order, in which each item is one
sum (Golub and Van Loan, Matrix computations, section 3.2); on CPUs by outer products. Inverses as
in LAPACK: that of the upper factor, then X L = U^-1 (Du Croz and Higham, Stability of methods for
matrix inversion, 1992, method D).
"""

from __future__ import annotations

from .matrix_group import Group, copy_in, copy_out, kernel, prelude

# Turns the rows of a matrix of n columns, and further columns next to it, into L and U, and L^-1 P
# times the columns. order: the original number of each row. Returns whether a pivot was 0; *odd
# counts swaps.
_FACTOR = """\
PG_INLINE int lin_lu(LIN_MEM lin_t *a, LIN_ORDER pg_i32 *order, int n, int columns, int pitch, int *odd)
{
    int singular = 0;
    LIN_FOR(i, 0, n) order[i] = i;
    LIN_SYNC;
    for (int k = 0; k < n; k++) {
#ifndef LIN_SERIAL
        LIN_FOR(i, k, n) {
            lin_t sum = a[i * pitch + k];
            LIN_UNROLL_4 for (int j = 0; j < k; j++)
                sum = lin_minus(sum, a[i * pitch + j], a[j * pitch + k]);
            a[i * pitch + k] = sum;
        }
        LIN_SYNC;
#endif
        int pivot = k;
        lin_r most = lin_size(a[k * pitch + k]);
        LIN_UNROLL_4 for (int i = k + 1; i < n; i++) {
            lin_r size = lin_size(a[i * pitch + k]);
            if (size > most) {
                most = size;
                pivot = i;
            }
        }
        LIN_SYNC;
        if (pivot != k) {
            *odd ^= 1;
            LIN_FOR(j, 0, columns) {
                lin_t other = a[pivot * pitch + j];
                a[pivot * pitch + j] = a[k * pitch + j];
                a[k * pitch + j] = other;
            }
            if (LIN_ID == 0) {
                int row = order[pivot];
                order[pivot] = order[k];
                order[k] = row;
            }
            LIN_SYNC;
        }
        if (most == (lin_r)0)
            singular = 1;
#ifdef LIN_SERIAL
        if (most == (lin_r)0)
            continue;
        for (int i = k + 1; i < n; i++) {
            lin_t factor = lin_div(a[i * pitch + k], a[k * pitch + k]);
            a[i * pitch + k] = factor;
            PG_INDEPENDENT for (int j = k + 1; j < columns; j++)
                a[i * pitch + j] = lin_minus(a[i * pitch + j], factor, a[k * pitch + j]);
        }
#else
        if (most != (lin_r)0) {
            lin_t by = a[k * pitch + k];
            LIN_FOR(i, k + 1, n) a[i * pitch + k] = lin_div(a[i * pitch + k], by);
        }
        LIN_FOR(j, k + 1, columns) {
            lin_t sum = a[k * pitch + j];
            LIN_UNROLL_4 for (int i = 0; i < k; i++)
                sum = lin_minus(sum, a[k * pitch + i], a[i * pitch + j]);
            a[k * pitch + j] = sum;
        }
        LIN_SYNC;
#endif
    }
    return singular;
}
"""

_SUBSTITUTE = """\
/* Solve U x = y for the columns beside U. */
PG_INLINE void lin_back(LIN_MEM lin_t *a, int n, int columns, int pitch)
{
#ifdef LIN_SERIAL
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            lin_t factor = a[i * pitch + k];
            PG_INDEPENDENT for (int j = n; j < columns; j++)
                a[i * pitch + j] = lin_minus(a[i * pitch + j], factor, a[k * pitch + j]);
        }
        for (int j = n; j < columns; j++)
            a[i * pitch + j] = lin_div(a[i * pitch + j], a[i * pitch + i]);
    }
#else
    if (columns - n >= 8) {
        LIN_FOR(j, n, columns) {
            for (int i = n - 1; i >= 0; i--) {
                lin_t sum = a[i * pitch + j];
                LIN_UNROLL_4 for (int k = i + 1; k < n; k++)
                    sum = lin_minus(sum, a[i * pitch + k], a[k * pitch + j]);
                a[i * pitch + j] = lin_div(sum, a[i * pitch + i]);
            }
        }
        LIN_SYNC;
        return;
    }
    for (int k = n - 1; k >= 0; k--) {
        if (LIN_ID < columns - n)
            a[k * pitch + n + LIN_ID] = lin_div(a[k * pitch + n + LIN_ID], a[k * pitch + k]);
        LIN_SYNC;
        LIN_FOR(i, 0, k) {
            lin_t factor = a[i * pitch + k];
            for (int j = n; j < columns; j++)
                a[i * pitch + j] = lin_minus(a[i * pitch + j], factor, a[k * pitch + j]);
        }
        LIN_SYNC;
    }
#endif
}
"""

_INVERT = """\
/* From L and U, (L U)^-1. */
PG_INLINE void lin_invert(LIN_MEM lin_t *a, LIN_MEM lin_t *column, int n, int pitch)
{
    for (int j = 0; j < n; j++) { /* U^-1 */
        LIN_FOR(i, 0, j + 1) column[i] = a[i * pitch + j];
        LIN_SYNC;
        lin_t inverse = lin_div(lin_of((lin_r)1), column[j]);
        LIN_FOR(i, 0, j) {
            lin_t sum = lin_of((lin_r)0);
            LIN_UNROLL_4 for (int k = i; k < j; k++)
                sum = lin_minus(sum, a[i * pitch + k], column[k]);
            a[i * pitch + j] = lin_mul(sum, inverse);
        }
        if (LIN_ID == 0)
            a[j * pitch + j] = inverse;
        LIN_SYNC;
    }
    for (int j = n - 2; j >= 0; j--) { /* X L = U^-1 */
        LIN_FOR(i, j + 1, n) {
            column[i] = a[i * pitch + j];
            a[i * pitch + j] = lin_of((lin_r)0);
        }
        LIN_SYNC;
        LIN_FOR(i, 0, n) {
            lin_t sum = a[i * pitch + j];
            LIN_UNROLL_4 for (int k = j + 1; k < n; k++)
                sum = lin_minus(sum, a[i * pitch + k], column[k]);
            a[i * pitch + j] = sum;
        }
        LIN_SYNC;
    }
}
"""


def _order(n: int) -> list[str]:
    """Local memory for the order of at most n rows."""
    return [f"pg_i32 order[{n}]"]


def factor_text() -> str:
    return _FACTOR.replace("LIN_ORDER", "PG_LOCAL_PTR")


def solve_source(group: Group, rows: int) -> str:
    """``lin_solve``: out = a^-1 b. rows: the most."""
    body = f"""\
    int pitch = (int)(n + sides) | 1, odd = 0;
    LIN_EACH {{
        lin_in(a, x + g * x_step, (int)n, (int)n, pitch, x_down, x_across);
        lin_in(a + n, b + g * b_step, (int)n, (int)sides, pitch, b_down, b_across);
        LIN_SYNC;
        if (lin_lu(a, order, (int)n, (int)(n + sides), pitch, &odd)) {{
            if (LIN_ID == 0)
                report[0] = 1;
        }}
        lin_back(a, (int)n, (int)(n + sides), pitch);
        PG_GLOBAL lin_t *to = out + g * n * sides;
{copy_out("to", "n", "sides", "a[i * pitch + (int)n + j]")}
        LIN_SYNC;
    }}"""
    numbers = ["n", "sides", "x_step", "x_down", "x_across", "b_step", "b_down", "b_across"]
    text = prelude(group) + copy_in() + factor_text() + _SUBSTITUTE
    reads, writes = ["lin_t x", "lin_t b"], ["lin_t out", "pg_i64 report"]
    return text + kernel(group, "lin_solve", reads, writes, numbers, _order(rows), body)


_NUMBERS = ["n", "x_step", "x_down", "x_across"]


def inverse_source(group: Group, rows: int) -> str:
    """``lin_inverse``: stores the columns of (L U)^-1 in the places from which the rows came."""
    body = """\
    int pitch = (int)n | 1, odd = 0;
    LIN_EACH {
        lin_in(a, x + g * x_step, (int)n, (int)n, pitch, x_down, x_across);
        LIN_SYNC;
        if (lin_lu(a, order, (int)n, (int)n, pitch, &odd)) {
            if (LIN_ID == 0)
                report[0] = 1;
        }
        lin_invert(a, a + n * pitch, (int)n, pitch);
        PG_GLOBAL lin_t *to = out + g * n * n;
        LIN_ITEMS((int)n, (int)n, to[i * (int)n + order[j]] = a[i * pitch + j];)
        LIN_SYNC;
    }"""
    text = prelude(group) + copy_in() + factor_text() + _INVERT
    writes = ["lin_t out", "pg_i64 report"]
    return text + kernel(group, "lin_inverse", ["lin_t x"], writes, _NUMBERS, _order(rows), body)


NEAR_ONE = """\
/* Scales an item to near 1 by a power of two, if one can, and returns the exponent taken out. */
PG_INLINE int lin_near_one(lin_t *item)
{
    lin_r size = lin_size(*item);
    int exponent = 0;
    if (size > (lin_r)0 && size <= LIN_MOST) {
        frexp(size, &exponent);
        int middle = exponent / 2; /* in two steps: 2^-exponent may overflow */
        *item = lin_scale(lin_scale(*item, ldexp((lin_r)1, -middle)), ldexp((lin_r)1, middle - exponent));
    }
    return exponent;
}
"""

_PRODUCT = """\
/* The product of the diagonal, as a number near 1 and a power of two. */
PG_INLINE lin_t lin_diagonal(LIN_MEM const lin_t *a, int n, int pitch, int odd, int *power)
{
    lin_t product = lin_of(odd ? (lin_r)-1 : (lin_r)1);
    *power = 0;
    for (int i = 0; i < n; i++) {
        lin_t item = a[i * pitch + i];
        *power += lin_near_one(&item);
        product = lin_mul(product, item);
        *power += lin_near_one(&product);
    }
    return product;
}
"""

_DETERMINANT = """\
            int middle = power / 2;
            out[g] = lin_scale(lin_scale(product, ldexp((lin_r)1, middle)), ldexp((lin_r)1, power - middle));"""

_LOGARITHM = """\
            lin_r size = lin_abs(product);
            out[g] = size == (lin_r)0 ? lin_of((lin_r)0) : lin_scale(product, (lin_r)1 / size);
            logs[g] = log(size) + (lin_r)power * (lin_r)0.693147180559945309417;"""


def diagonal_text(logarithm: bool) -> str:
    """Statements that store the determinant, or its sign and logarithm, of *product* and
    *power*."""
    return _LOGARITHM if logarithm else _DETERMINANT


def determinant_source(group: Group, rows: int, logarithm: bool) -> str:
    """``lin_determinant``: determinants, or their signs and the logarithms of their absolute
    values."""
    body = f"""\
    int pitch = (int)n | 1;
    LIN_EACH {{
        int odd = 0;
        lin_in(a, x + g * x_step, (int)n, (int)n, pitch, x_down, x_across);
        LIN_SYNC;
        lin_lu(a, order, (int)n, (int)n, pitch, &odd);
        if (LIN_ID == 0) {{
            int power;
            lin_t product = lin_diagonal(a, (int)n, pitch, odd, &power);
{diagonal_text(logarithm)}
        }}
        LIN_SYNC;
    }}"""
    text = prelude(group) + copy_in() + factor_text() + NEAR_ONE + _PRODUCT
    writes = ["lin_t out", *(["lin_r logs"] if logarithm else [])]
    return text + kernel(
        group, "lin_determinant", ["lin_t x"], writes, _NUMBERS, _order(rows), body
    )
