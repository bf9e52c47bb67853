"""The kernel of eigenvalues of Hermitian matrices with one matrix per work-group: by reflectors to
tridiagonal form (Golub and Van Loan, Matrix computations, section 8.3.1), then implicit QL with
Wilkinson's shift (Dubrulle, Martin and Wilkinson, The implicit QL algorithm, 1968).

One work-item sweeps over the tridiagonal matrix and stores its rotations; then all of them rotate
the rows of the eigenvectors.
"""

from __future__ import annotations

from .householder import REFLECTORS
from .matrix_group import Group, copy_in, copy_out, kernel, prelude

_TRIDIAGONAL = """\
/* a becomes the vectors of n - 1 reflectors in its columns; d and e: the tridiagonal matrix. */
PG_INLINE void lin_tridiagonal(LIN_MEM lin_t *a, LIN_MEM lin_t *taus, LIN_MEM lin_t *w, LIN_MEM lin_r *d, LIN_MEM lin_r *e, int n, int pitch, PG_LOCAL_PTR lin_r *parts)
{
    for (int k = 0; k < n - 1; k++) {
        LIN_MEM lin_t *v = a + (k + 1) * pitch + k, *b = v + 1;
        int rows = n - k - 1;
        lin_r beta, sum = (lin_r)0;
        lin_t tau = lin_reflector(v, rows, pitch, &beta, parts);
        LIN_SYNC;
        if (LIN_ID == 0) {
            v[0] = lin_of((lin_r)1);
            taus[k] = tau;
            e[k] = beta;
        }
        LIN_SYNC;
        LIN_FOR(i, 0, rows) {
            lin_t total = lin_of((lin_r)0);
            LIN_UNROLL_4 for (int j = 0; j < rows; j++)
                total = lin_plus(total, b[i * pitch + j], v[j * pitch]);
            total = lin_mul(tau, total);
            w[i] = total;
            sum += lin_re(lin_mul(tau, lin_mul(lin_conj(total), v[i * pitch])));
        }
        lin_r minus = (lin_r)-0.5 * lin_sum(sum, parts);
        LIN_FOR(i, 0, rows) w[i] = lin_plus(w[i], lin_of(minus), v[i * pitch]);
        LIN_SYNC;
        LIN_FOR(i, 0, rows) {
            lin_t mine = v[i * pitch], its = w[i];
            LIN_UNROLL_4 for (int j = 0; j < rows; j++) {
                lin_t item = lin_minus(b[i * pitch + j], mine, lin_conj(w[j]));
                b[i * pitch + j] = lin_minus(item, its, lin_conj(v[j * pitch]));
            }
        }
        LIN_SYNC;
    }
    LIN_FOR(i, 0, n) d[i] = lin_re(a[i * pitch + i]);
    LIN_SYNC;
}
"""

_QL = """\
/* One sweep of QL from row l of the part that ends at row m. The rotations of rows i and i + 1 come
   to cosines[i] and sines[i]. Returns the last i. */
PG_INLINE int lin_sweep(LIN_MEM lin_r *d, LIN_MEM lin_r *e, LIN_MEM lin_r *cosines, LIN_MEM lin_r *sines, int l, int m)
{
    lin_r g = (d[l + 1] - d[l]) / ((lin_r)2 * e[l]);
    lin_r r = hypot(g, (lin_r)1);
    g = d[m] - d[l] + e[l] / (g + (g < (lin_r)0 ? -r : r));
    lin_r s = (lin_r)1, c = (lin_r)1, p = (lin_r)0;
    int i = m - 1;
    for (; i >= l; i--) {
        lin_r f = s * e[i], b = c * e[i];
        r = sqrt(f * f + g * g);
        e[i + 1] = r;
        if (r == (lin_r)0) {
            d[i + 1] -= p;
            e[m] = (lin_r)0;
            return i + 1;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + (lin_r)2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        cosines[i] = c;
        sines[i] = s;
    }
    d[l] -= p;
    e[l] = g;
    e[m] = (lin_r)0;
    return l;
}
/* The eigenvalues come to d, the vectors to the columns of z if it is there. Returns whether it did
   not converge. */
PG_INLINE int lin_ql(LIN_MEM lin_r *d, LIN_MEM lin_r *e, LIN_MEM lin_r *cosines, LIN_MEM lin_r *sines, PG_LOCAL_PTR pg_i32 *where, LIN_MEM lin_t *z, int n, int pitch)
{
    if (LIN_ID == 0)
        e[n - 1] = (lin_r)0;
    LIN_SYNC;
    for (int l = 0, round = 0; l < n;) {
        if (LIN_ID == 0) {
            int m = l;
            for (; m < n - 1; m++) {
                lin_r size = fabs(e[m]);
                if (size <= LIN_EPS * (fabs(d[m]) + fabs(d[m + 1])) || size <= LIN_EPS * LIN_EPS)
                    break;
            }
            where[0] = m;
            where[1] = m == l ? m : lin_sweep(d, e, cosines, sines, l, m);
        }
        LIN_SYNC;
        int m = where[0];
        LIN_ROTATE;
        LIN_SYNC;
        if (m == l) {
            l++;
            round = 0;
        } else if (++round > 60)
            return 1;
    }
    return 0;
}
"""

_ROTATE = """\
        LIN_FOR(i, 0, n) { \\
            LIN_MEM lin_t *row = z + i * pitch; \\
            lin_t before = row[m]; \\
            int last = where[1]; \\
            for (int k = m - 1; k >= last; k--) { \\
                lin_t item = row[k]; \\
                lin_r c = cosines[k], s = sines[k]; \\
                row[k + 1] = lin_add(lin_scale(item, s), lin_scale(before, c)); \\
                before = lin_sub(lin_scale(item, c), lin_scale(before, s)); \\
            } \\
            row[last] = before; \\
        }"""

_LOAD = """\
        lin_in(a, x + g * x_step, (int)n, (int)n, pitch, x_down, x_across);
        LIN_SYNC;
        LIN_FOR(i, 0, (int)n) { /* the other triangle, and a real diagonal */
            for (int j = 0; j < i; j++) {
                if (upper)
                    a[i * pitch + j] = lin_conj(a[j * pitch + i]);
                else
                    a[j * pitch + i] = lin_conj(a[i * pitch + j]);
            }
            a[i * pitch + i] = lin_of(lin_re(a[i * pitch + i]));
        }
        LIN_SYNC;
        lin_r scale = lin_scaling(a, (int)n, (int)n, pitch, parts), lost = (lin_r)0;
        if (scale < (lin_r)0) { /* infinite items, or NaN */
            lost = (lin_r)PG_NAN_F32;
            scale = (lin_r)0;
        }
        LIN_FOR(i, 0, (int)n) {
            for (int j = 0; j < (int)n; j++)
                a[i * pitch + j] = scale == (lin_r)0 ? lin_of(scale) : lin_scale(a[i * pitch + j], scale);
        }
        LIN_SYNC;"""

_FORM = """\
        LIN_FOR(i, 0, (int)n) { /* the vectors one column on, beside the first unit vector */
            for (int j = (int)n - 1; j > 0; j--)
                a[i * pitch + j] = i ? a[i * pitch + j - 1] : lin_of((lin_r)0);
            a[i * pitch] = lin_of(i ? (lin_r)0 : (lin_r)1);
        }
        LIN_SYNC;
        lin_form(a + pitch + 1, taus, (int)n - 1, (int)n - 1, (int)n - 1, pitch);"""


_LOSE = """\
        if (lost != lost) {
            LIN_FOR(i, 0, (int)n) {
                for (int j = 0; j < (int)n; j++)
                    a[i * pitch + j] = lin_of(lost);
            }
        }"""


def eigh_source(group: Group, vectors: bool, rows: int) -> str:
    """``lin_eigh``: eigenvalues in ascending order, and eigenvectors."""
    store = copy_out("to", "n", "n", "a[i * pitch + j]", "order[j]")
    body = f"""\
    int pitch = (int)n | 1;
    LIN_MEM lin_t *taus = a + n * pitch, *w = taus + n;
    LIN_MEM lin_r *d = (LIN_MEM lin_r *)(w + n), *e = d + n, *cosines = e + n, *sines = cosines + n;
    LIN_EACH {{
{_LOAD}
        lin_tridiagonal(a, taus, w, d, e, (int)n, pitch, parts);
{_FORM if vectors else ""}
        if (lin_ql(d, e, cosines, sines, where, a, (int)n, pitch)) {{
            if (LIN_ID == 0)
                report[0] = 1;
        }}
        LIN_FOR(j, 0, (int)n) {{
            int rank = 0;
            for (int i = 0; i < (int)n; i++)
                rank += d[i] < d[j] || (d[i] == d[j] && i < j);
{"            order[j] = rank;" if vectors else ""}
            values[g * n + rank] = scale == (lin_r)0 ? lost : d[j] / scale;
        }}
{_LOSE if vectors else ""}
        LIN_SYNC;
{"        PG_GLOBAL lin_t *to = out + g * n * n;" if vectors else ""}
{store if vectors else ""}
        LIN_SYNC;
    }}"""
    numbers = ["n", "upper", "x_step", "x_down", "x_across"]
    writes = ["lin_r values", *(["lin_t out"] if vectors else []), "pg_i64 report"]
    rotate = f"#define LIN_ROTATE \\\n{_ROTATE}\n" if vectors else "#define LIN_ROTATE\n"
    text = prelude(group) + copy_in() + REFLECTORS + _TRIDIAGONAL + rotate + _QL
    local = [
        *([f"pg_i32 order[{rows}]"] * vectors),
        f"lin_r parts[{group.threads}]",
        "pg_i32 where[2]",
    ]
    return text + kernel(group, "lin_eigh", ["lin_t x"], writes, numbers, local, body)
