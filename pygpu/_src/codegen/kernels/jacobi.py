"""The kernel of singular values with one matrix per work-group: one-sided Jacobi rotations of
pairs of columns until all are orthogonal.

Hestenes, Inversion of matrices by biorthogonalization (1958); Golub and Van Loan, Matrix
computations, section 8.6.3; tolerance as Drmac and Veselic, New fast and accurate Jacobi SVD
algorithm (2008). The pairs of a round have no column in common (a round-robin tournament, as Brent
and Luk, 1985), so each work-item rotates its own pairs, and waits once per round.
"""

from __future__ import annotations

from .matrix_group import Group, copy_in, kernel, prelude

_ROTATE = """\
/* The rotation of two columns with squared norms pp and qq and product pq: 1 - cosine, and the sine
   times the phase of the product. Returns whether they are orthogonal already. */
PG_INLINE int lin_rotation(lin_r pp, lin_r qq, lin_t pq, lin_r limit, lin_r *h, lin_t *s)
{
    lin_r size = lin_abs(pq);
    if (!(size > limit * sqrt(pp) * sqrt(qq)) || !(pp > LIN_NOTHING) || !(qq > LIN_NOTHING))
        return 1;
    lin_r zeta = (qq - pp) / ((lin_r)2 * size);
    lin_r t = (lin_r)1 / (fabs(zeta) + sqrt((lin_r)1 + zeta * zeta));
    if (fabs(zeta) > LIN_FAR)
        t = (lin_r)0.5 / fabs(zeta);
    if (zeta < (lin_r)0)
        t = -t;
    lin_r c = (lin_r)1 / sqrt((lin_r)1 + t * t), sine = t * c;
    *h = sine * sine / ((lin_r)1 + c);
    *s = lin_scale(lin_scale(pq, (lin_r)1 / size), sine);
    return 0;
}
/* With 1 - cosine, small angles lose nothing to the cosine's rounding (Rutishauser, 1966). */
PG_INLINE void lin_rotate(LIN_MEM lin_t *x, int p, int q, int rows, int pitch, lin_r h, lin_t s)
{
    lin_t back = lin_conj(s);
    LIN_UNROLL_4 for (int i = 0; i < rows; i++) {
        lin_t left = x[LIN_AT(i, p)], right = x[LIN_AT(i, q)];
        x[LIN_AT(i, p)] = lin_sub(left, lin_plus(lin_scale(left, h), back, right));
        x[LIN_AT(i, q)] = lin_add(right, lin_sub(lin_mul(s, left), lin_scale(right, h)));
    }
}
/* Whether the columns p and q were orthogonal; else they are rotated, in v as well. */
PG_INLINE int lin_pair(LIN_MEM lin_t *a, LIN_MEM lin_t *v, int p, int q, int m, int n, int pitch, int across, lin_r limit)
{
    lin_r pp = (lin_r)0, qq = (lin_r)0, h;
    lin_t pq = lin_of((lin_r)0), s;
    LIN_UNROLL_4 for (int i = 0; i < m; i++) {
        lin_t left = a[LIN_AT(i, p)], right = a[LIN_AT(i, q)];
        pp += lin_square(left);
        qq += lin_square(right);
        pq = lin_plus(pq, lin_conj(left), right);
    }
    if (lin_rotation(pp, qq, pq, limit, &h, &s))
        return 1;
    lin_rotate(a, p, q, m, pitch, h, s);
    LIN_V(lin_rotate(v, p, q, n, across, h, s);)
    return 0;
}
/* Returns whether it did not converge. */
PG_INLINE int lin_jacobi(LIN_MEM lin_t *a, LIN_MEM lin_t *v, int m, int n, int pitch, int across, PG_LOCAL_PTR lin_r *parts)
{
    lin_r limit = LIN_EPS * sqrt((lin_r)m);
    int even = n + (n & 1), turns = even - 1;
    for (int sweep = 0; sweep < 60; sweep++) {
        lin_r rotated = (lin_r)0;
        for (int round = 0; round < turns; round++) {
            LIN_FOR(k, 0, even / 2) {
                int p = k ? (round + k) % turns : even - 1, q = (round - k + turns) % turns;
                if (p > q) {
                    int other = p;
                    p = q;
                    q = other;
                }
                if (q < n && !lin_pair(a, v, p, q, m, n, pitch, across, limit))
                    rotated = (lin_r)1;
            }
            LIN_SYNC;
        }
        if (lin_largest(rotated, parts) == (lin_r)0)
            return 0;
    }
    return 1;
}
"""

_COMPLETE = """\
/* Instead of column j, which is nothing, one that is orthogonal to all that are something, or come
   before it: of a unit vector what they leave of it (twice is enough). */
PG_INLINE void lin_complete(LIN_MEM lin_t *a, LIN_MEM lin_t *h, LIN_MEM const lin_r *norms, int j, int m, int n, int pitch, PG_LOCAL_PTR lin_r *parts)
{
    LIN_FOR(i, 0, m) {
        lin_r sum = (lin_r)0;
        for (int c = 0; c < n; c++)
            sum += norms[c] > (lin_r)0 || c < j ? lin_square(a[LIN_AT(i, c)]) : (lin_r)0;
        h[n + i] = lin_of(sum);
    }
    LIN_SYNC;
    int unit = 0;
    for (int i = 1; i < m; i++)
        unit = lin_re(h[n + i]) < lin_re(h[n + unit]) ? i : unit;
    LIN_FOR(i, 0, m) a[LIN_AT(i, j)] = lin_of(i == unit ? (lin_r)1 : (lin_r)0);
    LIN_SYNC;
    for (int turn = 0; turn < 3; turn++) {
        LIN_FOR(c, 0, n) {
            lin_t sum = lin_of((lin_r)0);
            if (c != j && (norms[c] > (lin_r)0 || c < j)) {
                for (int i = 0; i < m; i++)
                    sum = lin_plus(sum, lin_conj(a[LIN_AT(i, c)]), a[LIN_AT(i, j)]);
            }
            h[c] = sum;
        }
        LIN_SYNC;
        lin_r size = (lin_r)0;
        LIN_FOR(i, 0, m) {
            lin_t item = a[LIN_AT(i, j)];
            for (int c = 0; c < n; c++) {
                if (c != j && (norms[c] > (lin_r)0 || c < j))
                    item = lin_minus(item, a[LIN_AT(i, c)], h[c]);
            }
            a[LIN_AT(i, j)] = item;
            size += lin_square(item);
        }
        size = lin_sum(size, parts);
        LIN_FOR(i, 0, m) a[LIN_AT(i, j)] = lin_scale(a[LIN_AT(i, j)], (lin_r)1 / sqrt(size));
        LIN_SYNC;
    }
}
"""

_LOAD = """\
#ifdef LIN_SERIAL
        lin_in(a, x + g * x_step, (int)n, (int)m, pitch, x_across, x_down);
#else
        lin_in(a, x + g * x_step, (int)m, (int)n, pitch, x_down, x_across);
#endif
        LIN_SYNC;
        lin_r scale = lin_scaling(a, LIN_ROWS, LIN_COLUMNS, pitch, parts);
        if (scale < (lin_r)0) {
            if (LIN_ID == 0)
                report[0] = 1;
            scale = (lin_r)0;
        }
        LIN_FOR(i, 0, LIN_ROWS) {
            for (int j = 0; j < LIN_COLUMNS; j++) {
                int at = i * pitch + j;
                a[at] = scale == (lin_r)0 ? lin_of(scale) : lin_scale(a[at], scale);
            }
        }
        LIN_V(LIN_FOR(i, 0, (int)n) {
            for (int j = 0; j < (int)n; j++)
                v[i * across + j] = lin_of(i == j ? (lin_r)1 : (lin_r)0);
        })
        LIN_SYNC;"""

_VALUES = """\
        LIN_FOR(j, 0, (int)n) {
            lin_r sum = (lin_r)0;
            for (int i = 0; i < (int)m; i++)
                sum += lin_square(a[LIN_AT(i, j)]);
            norms[j] = sum > LIN_NOTHING ? sqrt(sum) : (lin_r)0;
        }
        LIN_SYNC;
        LIN_FOR(j, 0, (int)n) {
            int rank = 0;
            for (int i = 0; i < (int)n; i++)
                rank += norms[i] > norms[j] || (norms[i] == norms[j] && i < j);
            LIN_V(order[j] = rank;)
            values[g * n + rank] = scale == (lin_r)0 ? scale : norms[j] / scale;
        }
        LIN_SYNC;"""

_VECTORS = """\
        LIN_FOR(j, 0, (int)n) {
            if (norms[j] > (lin_r)0) {
                for (int i = 0; i < (int)m; i++)
                    a[LIN_AT(i, j)] = lin_scale(a[LIN_AT(i, j)], (lin_r)1 / norms[j]);
            }
        }
        LIN_SYNC;
        for (int j = 0; j < (int)n; j++) {
            if (norms[j] == (lin_r)0)
                lin_complete(a, h, norms, j, (int)m, (int)n, pitch, parts);
        }
        PG_GLOBAL lin_t *to_u = left + g * m * n, *to_v = right + g * n * n;
        LIN_ITEMS((int)m, (int)n, to_u[i * (int)n + order[j]] = a[LIN_AT(i, j)];)
        int keep = pitch;
        pitch = across;
        LIN_ITEMS((int)n, (int)n, to_v[i * (int)n + order[j]] = v[LIN_AT(i, j)];)
        pitch = keep;"""

_LAYOUT = """\
#define LIN_NOTHING (LIN_LEAST / LIN_EPS)
#define LIN_FAR ((lin_r)1 / LIN_EPS)
#ifdef LIN_SERIAL /* columns lie in one piece */
#define LIN_AT(i, j) ((j) * pitch + (i))
#define LIN_ROWS (int)n
#define LIN_COLUMNS (int)m
#else
#define LIN_AT(i, j) ((i) * pitch + (j))
#define LIN_ROWS (int)m
#define LIN_COLUMNS (int)n
#endif
"""


def svd_source(group: Group, vectors: bool, columns: int) -> str:
    """``lin_svd`` for matrices with at least as many rows as columns: singular values in
    descending order, the left and right vectors as columns."""
    body = f"""\
    int pitch = LIN_COLUMNS | 1, across = (int)n | 1;
    LIN_MEM lin_t *v = a + LIN_ROWS * pitch, *h = v{" + n * across" if vectors else ""};
    LIN_MEM lin_r *norms = (LIN_MEM lin_r *)(h + n + m);
    LIN_EACH {{
{_LOAD}
        if (lin_jacobi(a, v, (int)m, (int)n, pitch, across, parts)) {{
            if (LIN_ID == 0)
                report[0] = 1;
        }}
{_VALUES}
{_VECTORS if vectors else ""}
        LIN_SYNC;
    }}"""
    numbers = ["m", "n", "x_step", "x_down", "x_across"]
    writes = ["lin_r values", *(["lin_t left", "lin_t right"] * vectors), "pg_i64 report"]
    keep = "#define LIN_V(...) __VA_ARGS__\n" if vectors else "#define LIN_V(...)\n"
    text = prelude(group) + copy_in() + _LAYOUT + keep + _ROTATE + _COMPLETE * vectors
    local = [*([f"pg_i32 order[{columns}]"] * vectors), f"lin_r parts[{group.threads}]"]
    return text + kernel(group, "lin_svd", ["lin_t x"], writes, numbers, local, body)
