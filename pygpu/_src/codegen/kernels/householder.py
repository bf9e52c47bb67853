"""Kernels with Householder reflectors and one matrix per work-group: QR, and the reflectors for
the reduction to tridiagonal form.

Golub and Van Loan, Matrix computations, sections 5.1 and 5.2; signs and scaling as LAPACK's larfg,
geqr2 and org2r.
"""

from __future__ import annotations

from .matrix_group import Group, copy_in, copy_out, kernel, prelude

REFLECTORS = """\
/* The reflector H = 1 - tau v v^H for which H^H x = beta e1, where v[0] is 1. x: n items of a column,
   which become v but for the first. Returns tau. */
PG_INLINE lin_t lin_reflector(LIN_MEM lin_t *x, int n, int pitch, lin_r *beta, PG_LOCAL_PTR lin_r *parts)
{
    lin_t alpha = x[0];
    lin_r most = (lin_r)0, sum = (lin_r)0;
    LIN_FOR(i, 1, n) {
        lin_r size = lin_size(x[i * pitch]);
        most = size > most || size != size ? size : most;
    }
    most = lin_largest(most, parts);
    if (most == (lin_r)0 && lin_im(alpha) == (lin_r)0) {
        *beta = lin_re(alpha);
        return lin_of((lin_r)0);
    }
    if (lin_size(alpha) > most)
        most = lin_size(alpha);
    lin_r scale = lin_unit(most);
    LIN_FOR(i, 1, n) sum += lin_square(lin_scale(x[i * pitch], scale));
    sum = lin_sum(sum, parts);
    alpha = lin_scale(alpha, scale);
    lin_r norm = sqrt(lin_square(alpha) + sum);
    if (lin_re(alpha) > (lin_r)0)
        norm = -norm;
    lin_t by = lin_div(lin_of((lin_r)1), lin_sub(alpha, lin_of(norm)));
    LIN_FOR(i, 1, n) x[i * pitch] = lin_mul(lin_scale(x[i * pitch], scale), by);
    *beta = norm / scale;
    LIN_SYNC;
    return lin_scale(lin_sub(lin_of(norm), alpha), (lin_r)1 / norm);
}
/* c -= tau v (v^H c) for n rows of columns. */
PG_INLINE void lin_reflect(LIN_MEM const lin_t *v, LIN_MEM lin_t *c, int n, int columns, int pitch, lin_t tau)
{
    LIN_FOR(j, 0, columns) {
        lin_t sum = c[j];
        LIN_UNROLL_4 for (int i = 1; i < n; i++)
            sum = lin_plus(sum, lin_conj(v[i * pitch]), c[i * pitch + j]);
        sum = lin_mul(tau, sum);
        c[j] = lin_sub(c[j], sum);
        LIN_UNROLL_4 for (int i = 1; i < n; i++)
            c[i * pitch + j] = lin_minus(c[i * pitch + j], v[i * pitch], sum);
    }
    LIN_SYNC;
}
/* From the vectors of k reflectors below the diagonal, the columns of their product. */
PG_INLINE void lin_form(LIN_MEM lin_t *a, LIN_MEM const lin_t *taus, int m, int columns, int k, int pitch)
{
    LIN_FOR(i, 0, m) {
        for (int j = k; j < columns; j++)
            a[i * pitch + j] = lin_of(i == j ? (lin_r)1 : (lin_r)0);
    }
    LIN_SYNC;
    for (int c = k - 1; c >= 0; c--) {
        LIN_MEM lin_t *v = a + c * pitch + c;
        lin_t tau = taus[c];
        lin_reflect(v, v + 1, m - c, columns - c - 1, pitch, tau);
        LIN_FOR(i, 0, m) {
            lin_t item = lin_of((lin_r)0);
            if (i > c)
                item = lin_sub(item, lin_mul(tau, a[i * pitch + c]));
            if (i == c)
                item = lin_sub(lin_of((lin_r)1), tau);
            a[i * pitch + c] = item;
        }
        LIN_SYNC;
    }
}
"""


def qr_source(group: Group, vectors: bool) -> str:
    """``lin_qr``: R with *height* rows, and Q with *wide* columns."""
    form = f"""\
        lin_form(a, taus, (int)m, (int)wide, k, pitch);
        PG_GLOBAL lin_t *to_q = q + g * m * wide;
{copy_out("to_q", "m", "wide", "a[i * pitch + j]")}
        LIN_SYNC;"""
    body = f"""\
    int pitch = (int)(wide > n ? wide : n) | 1, k = (int)(m < n ? m : n);
    LIN_MEM lin_t *taus = a + m * pitch;
    LIN_EACH {{
        lin_in(a, x + g * x_step, (int)m, (int)n, pitch, x_down, x_across);
        LIN_SYNC;
        for (int c = 0; c < k; c++) {{
            LIN_MEM lin_t *v = a + c * pitch + c;
            lin_r beta;
            lin_t tau = lin_reflector(v, (int)m - c, pitch, &beta, parts);
            lin_reflect(v, v + 1, (int)m - c, (int)n - c - 1, pitch, lin_conj(tau));
            if (LIN_ID == 0) {{
                v[0] = lin_of(beta);
                taus[c] = tau;
            }}
            LIN_SYNC;
        }}
        PG_GLOBAL lin_t *to = r + g * height * n;
{copy_out("to", "height", "n", "j >= i ? a[i * pitch + j] : lin_of((lin_r)0)")}
        LIN_SYNC;
{form if vectors else ""}
    }}"""
    numbers = ["m", "n", "height", "wide", "x_step", "x_down", "x_across"]
    writes = ["lin_t r", *(["lin_t q"] if vectors else [])]
    text = prelude(group) + copy_in() + REFLECTORS
    return text + kernel(
        group, "lin_qr", ["lin_t x"], writes, numbers, [f"lin_r parts[{group.threads}]"], body
    )
