"""The kernel of eigenvalues of Hermitian matrices of up to 32 rows on GPUs, by Jacobi rotations
from both sides: each work-item holds a row of the matrix, and one of the eigenvectors, in its
registers.

Golub and Van Loan, Matrix computations, section 8.5; the pairs of a round have no column in common
(Brent and Luk, The solution of singular-value and symmetric eigenvalue problems on multiprocessor
arrays, 1985). A pair's columns are registers j and N - 1 - j: after each round all columns but the
first move on by one register, so that no register is chosen by a number, and after N - 1 rounds
each is where it was. If the first half of the columns stays, and the second half moves, N / 2 rounds
rotate all pairs between them.
"""

from __future__ import annotations

from .matrix_group import Group, kernel
from .matrix_rows import STORE, each, exchange_text, rows_prelude

_JACOBI = """\
#define LIN_PAIRS (LIN_N / 2)
PG_INLINE lin_t lin_less(lin_t x, lin_r part)
{
    $less
}
/* The rotation of two columns with diagonal items pp and qq and item pq: 1 - cosine, and the sine
   times the phase of pq. Returns the tangent times the size of pq, by which the diagonal changes. */
PG_INLINE lin_r lin_rotation(lin_r pp, lin_r qq, lin_t pq, lin_r *h, lin_t *s)
{
    lin_r size = lin_abs(pq);
    *h = (lin_r)0;
    *s = lin_of((lin_r)0);
    if (!($turns))
        return (lin_r)0;
    lin_r zeta = (qq - pp) / ((lin_r)2 * size);
    lin_r t = (lin_r)1 / (fabs(zeta) + sqrt((lin_r)1 + zeta * zeta));
    if (zeta < (lin_r)0)
        t = -t;
    lin_r c = (lin_r)1 / sqrt((lin_r)1 + t * t), sine = t * c;
    *h = sine * sine / ((lin_r)1 + c);
    *s = lin_scale(pq, sine / size);
    return t * size;
}
/* One sweep: N - LIN_FIXED rounds, each of which rotates all rows and columns by pairs. r: a row of the
   matrix, v: of the vectors. first: the work-item of the warp with the first row. hs, ss: the
   rotations of a round. */
PG_INLINE void lin_sweep(lin_t *r, lin_t *v, int first, PG_LOCAL_PTR lin_r *hs, PG_LOCAL_PTR lin_t *ss)
{
    int at = LIN_ID < LIN_N ? LIN_ID : 0; /* the register of this row's diagonal item */
    PG_ROLLED for (int round = 0; round < LIN_N - LIN_FIXED; round++) {
        int other = LIN_N - 1 - at, left = at < other, pair = left ? at : other;
        int its = other - round; /* the row that had its diagonal item there at first */
        its = other < LIN_FIXED ? other : its < LIN_FIXED ? its + LIN_N - LIN_FIXED : its;
        int lane = first + (LIN_ID < LIN_N ? its : LIN_ID);
        lin_t low = r[0], high = r[LIN_N - 1];
        PG_UNROLL for (int k = 1; k < LIN_PAIRS; k++) {
            low = k == pair ? r[k] : low;
            high = k == pair ? r[LIN_N - 1 - k] : high;
        }
        lin_t item = left ? low : high, beside = left ? high : low;
        lin_r mine = lin_re(item), theirs = lin_real_from(mine, lane), h;
        lin_t across = lin_from(beside, lane), s;
        lin_r change = lin_rotation(left ? mine : theirs, left ? theirs : mine, left ? beside : across, &h, &s);
        if (left && LIN_ID < LIN_N) {
            hs[pair] = h;
            ss[pair] = s;
        }
        LIN_SYNC;
        PG_UNROLL for (int k = 0; k < LIN_PAIRS; k++) { /* columns */
            lin_r by = hs[k];
            lin_t to = ss[k], back = lin_conj(to), p = r[k], q = r[LIN_N - 1 - k];
            r[k] = lin_minus(lin_less(p, by), back, q);
            r[LIN_N - 1 - k] = lin_plus(lin_less(q, by), to, p);
            if (LIN_VECTORS) {
                p = v[k];
                q = v[LIN_N - 1 - k];
                v[k] = lin_minus(lin_less(p, by), back, q);
                v[LIN_N - 1 - k] = lin_plus(lin_less(q, by), to, p);
            }
        }
        lin_t turn = left ? lin_sub(lin_of((lin_r)0), s) : lin_conj(s);
        PG_UNROLL for (int j = 0; j < LIN_N; j++) { /* rows */
            lin_t partner = lin_from(r[j], lane);
            r[j] = lin_plus(lin_less(r[j], h), turn, partner);
        }
        low = lin_of(left ? mine - change : (lin_r)0);
        high = lin_of(left ? (lin_r)0 : mine + change);
        PG_UNROLL for (int k = 0; k < LIN_PAIRS; k++) {
            r[k] = k == pair ? low : r[k];
            r[LIN_N - 1 - k] = k == pair ? high : r[LIN_N - 1 - k];
        }
        lin_t last = r[LIN_N - 1];
        PG_UNROLL for (int j = LIN_N - 1; j > LIN_FIXED; j--) r[j] = r[j - 1];
        r[LIN_FIXED] = last;
        if (LIN_VECTORS) {
            last = v[LIN_N - 1];
            PG_UNROLL for (int j = LIN_N - 1; j > LIN_FIXED; j--) v[j] = v[j - 1];
            v[LIN_FIXED] = last;
        }
        at = at < LIN_FIXED ? at : at == LIN_N - 1 ? LIN_FIXED : at + 1;
        LIN_SYNC;
    }
}
/* Sweeps until the items beside the diagonal are nothing beside the norm, for all matrices of the
   warp. Returns whether it did not converge. */
PG_INLINE int lin_diagonalize(lin_t *r, lin_t *v, int first, int sweeps, PG_LOCAL_PTR lin_r *hs, PG_LOCAL_PTR lin_t *ss, PG_LOCAL_PTR lin_r *parts)
{
    PG_ROLLED for (int sweep = 0; sweep < sweeps; sweep++) {
        lin_r beside = (lin_r)0, all = (lin_r)0;
        PG_UNROLL for (int j = 0; j < LIN_N; j++) {
            lin_r square = lin_square(r[j]);
            all += square;
            beside += j == LIN_ID ? (lin_r)0 : square;
        }
        beside = lin_sum(LIN_ID < LIN_N ? beside : (lin_r)0, parts);
        all = lin_sum(LIN_ID < LIN_N ? all : (lin_r)0, parts);
        if (!pg_warp_vote(beside > LIN_EPS * LIN_EPS / (lin_r)16 * all))
            return 0;
        lin_sweep(r, v, first, hs, ss);
    }
    return 1;
}
"""

_LOAD = """\
        /* one triangle, and 0 beyond the last row */
        lin_r most = (lin_r)0, total = (lin_r)0;
        PG_UNROLL for (int j = 0; j < LIN_N; j++) {
            int low = upper ? LIN_ID <= j : j <= LIN_ID;
            lin_t item = lin_of((lin_r)0);
            if (LIN_ID < (int)n && j < (int)n && there)
                item = low ? r[j] : lin_conj(a[j * (LIN_N + 1) + LIN_ID]);
            r[j] = j == LIN_ID ? lin_of(lin_re(item)) : item;
            lin_r size = lin_size(r[j]);
            most = size > most ? size : most;
            total += size - size;
        }
        most = lin_largest(most, parts);
        total = lin_sum(total, parts);
        lin_r scale = most == (lin_r)0 ? (lin_r)1 : lin_unit(most);
        int lost = !(most <= LIN_MOST) || !(total == (lin_r)0); /* infinite items, or NaN */
        PG_UNROLL for (int j = 0; j < LIN_N; j++) {
            r[j] = lost ? lin_of((lin_r)0) : lin_scale(r[j], scale);
            v[j] = lin_of(j == LIN_ID ? (lin_r)1 : (lin_r)0);
        }
        LIN_SYNC;
"""

_ORDER = """\
        lin_r value = lin_re(r[0]);
        PG_UNROLL for (int j = 1; j < LIN_N; j++) value = j == LIN_ID ? lin_re(r[j]) : value;
        parts[LIN_ID] = value;
        LIN_SYNC;
        int rank = 0;
        for (int j = 0; j < (int)n; j++)
            rank += parts[j] < value || (parts[j] == value && j < LIN_ID);
        if (LIN_VECTORS)
            order[LIN_ID] = rank;
        lin_r nothing = (lin_r)PG_NAN_F32;
        if (LIN_ID < (int)n && there)
            values[g * n + rank] = lost ? nothing : value / scale;
        LIN_SYNC;
"""

_GATHER = """\
        PG_UNROLL for (int j = 0; j < LIN_N; j++) {
            if (LIN_ID < (int)n && j < (int)n)
                a[LIN_ID * (LIN_N + 1) + order[j]] = lost ? lin_of(nothing) : v[j];
        }
        LIN_SYNC;
"""


def columns_of(n: int) -> int:
    """Columns of a kernel for matrices with n."""
    return max(-(-n // 4) * 4, 4)


def jacobi_text(group: Group, vectors: bool, relative: bool = False, halves: bool = False) -> str:
    """lin_diagonalize() and what it needs. halves: a sweep rotates only pairs of a column
    of the first half and one of the second. relative: also items that are small beside the largest
    one, which is near 1, are rotated away if they are large beside those on the diagonal, which
    count as 0 up to LIN_NOTHING."""
    less = "return x - part * x;"
    if group.code[0] == "c":
        less = "return lin_make(x.re - part * x.re, x.im - part * x.im);"
    turns = "size > LIN_EPS * LIN_EPS"
    if relative:
        turns = "size > LIN_EPS * sqrt(pp) * sqrt(qq) && pp > LIN_NOTHING && qq > LIN_NOTHING"
    text = _JACOBI.replace("$turns", turns).replace("$less", less)
    fixed = "LIN_PAIRS" if halves else "1"
    head = f"#define LIN_VECTORS {int(vectors)}\n#define LIN_FIXED {fixed}\n"
    return head + exchange_text(group) + text


def eigh_rows_source(group: Group, columns: int, vectors: bool) -> str:
    """``lin_eigh``: eigenvalues in ascending order, and eigenvectors. columns: columns_of(n)."""
    body = f"""\
{each(group)}
        lin_t v[LIN_N];
{_LOAD}
        if (lin_diagonalize(r, v, LIN_FIRST, 40, hs, ss, parts) && LIN_ID == 0 && there)
            report[0] = 1;
{_ORDER}
{_GATHER + STORE if vectors else ""}
        LIN_SYNC;
    }}"""
    numbers = ["n", "upper", "x_step", "x_down", "x_across"]
    writes = ["lin_r values", *(["lin_t out"] if vectors else []), "pg_i64 report"]
    threads = group.threads
    local = [
        f"pg_i32 order[{threads}]",
        f"lin_r parts[{threads}]",
        f"lin_r hs[{columns // 2}]",
        f"lin_t ss[{columns // 2}]",
    ]
    first = f"#define LIN_FIRST ((int)(PG_LOCAL_ID(0) % 32) / {threads} * {threads})\n"
    text = rows_prelude(group, columns) + first + jacobi_text(group, vectors)
    return text + kernel(group, "lin_eigh", ["lin_t x"], writes, numbers, local, body)
