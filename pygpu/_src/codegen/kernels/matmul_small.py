"""Products of small matrices, many per launch: a work-item computes a block directly from memory.

The caches hold the data that a matrix's work-items share, so local memory would gain nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.template import Template

from . import matmul
from .matmul import Kinds


class Block(NamedTuple):
    """rows, columns: per work-item; vector: items of b that are read at once; dense: whether the
    block's items of the result are adjacent; wide: block numbers need 64 bits; loose: vectors may
    begin at the address of any item, as on CPUs, and the last block of a row overlaps the one
    before it and recomputes some of its columns."""

    rows: int
    columns: int
    vector: int
    dense: bool
    wide: bool
    loose: bool = False


_KERNEL = Template("""\
${arithmetic}typedef $index mat_index;
typedef struct PG_ALIGN($b_bytes) { $b_stored item[$vector]; } mat_b_vector;
typedef struct PG_ALIGN($o_bytes) { $o_stored item[$columns]; } mat_o_vector;
PG_KERNEL void product($parameters)
{
    $start
    PG_FOR(block, total) {
        mat_index g = (mat_index)block;
        $find
        pg_i64 m0 = tile / (mat_index)across * $rows, n0 = tile % (mat_index)across * $columns;
        $shift
        PG_GLOBAL const char *rows[$rows];
        PG_UNROLL for (int r = 0; r < $rows; r++)
            rows[r] = from_a + (m0 + r < M ? m0 + r : M - 1) * a_m;
        PG_GLOBAL const char *columns[$loads];
        PG_UNROLL for (int c = 0; c < $loads; c++) {
            pg_i64 n = n0 + c * $vector;
            columns[c] = from_b + (n < N ? n : N - $vector) * b_n;
        }
        PG_UNUSED int b_wide = $b_aligned;
        mat_t acc[$rows][$columns];
        PG_UNROLL for (int r = 0; r < $rows; r++)
            PG_UNROLL for (int c = 0; c < $columns; c++)
                acc[r][c] = mat_none();
        for (int k = 0; k < (int)depth; k++) {
            mat_t x[$rows];
            mat_b_vector y[$loads];
            PG_UNROLL for (int r = 0; r < $rows; r++) {
                x[r] = $x;
                rows[r] += a_k;
            }
            PG_UNROLL for (int c = 0; c < $loads; c++) {
                $fetch
                columns[c] += b_k;
            }
            PG_UNROLL for (int r = 0; r < $rows; r++)
                PG_UNROLL for (int c = 0; c < $columns; c++)
                    acc[r][c] = mat_add(acc[r][c], x[r], $y);
        }
        PG_UNUSED int o_wide = $o_aligned;
        PG_UNROLL for (int r = 0; r < $rows; r++)
            if (m0 + r < M) {
                PG_GLOBAL char *at = to + (m0 + r) * o_m + n0 * o_n;
                $store
            }
    }
}
""")


def source(kinds: Kinds, of: Block) -> str:
    """``product``; a tile is a block."""
    ys, bytes_ = dtypes.storage_type(kinds.y), of.vector * kinds.y.itemsize
    single = (
        f"PG_UNROLL for (int j = 0; j < {of.vector}; j++) "
        f"y[c].item[j] = ((PG_GLOBAL const {ys} *)columns[c])[j];"
    )
    if of.vector > 1:
        single = f"if (b_wide) y[c] = *(PG_GLOBAL const mat_b_vector *)columns[c]; else {single}"
    address = f"(PG_GLOBAL {kinds.stored} *)(at + j * o_n)"
    store = (
        f"PG_UNROLL for (int j = 0; j < {of.columns}; j++) if (n0 + j < N) "
        f"{{ {kinds.store(f'({address})', '0', 'acc[r][j]')} }}"
    )
    if of.dense and of.columns > 1:
        store = (
            f"if (o_wide) {{ mat_o_vector w; PG_UNROLL for (int j = 0; j < {of.columns}; j++) "
            f"{{ {kinds.store('w.item', 'j', 'acc[r][j]')} }} "
            f"*(PG_GLOBAL mat_o_vector *)at = w; }} else {{ {store} }}"
        )
    item = dtypes.load(kinds.y, f"y[c / {of.vector}].item", f"c % {of.vector}")
    row = f"((PG_GLOBAL const {dtypes.storage_type(kinds.x)} *)rows[r])"
    out_bytes = (matmul.acc_dtype(kinds.number) if kinds.parts else kinds.out).itemsize
    o_bytes = of.columns * out_bytes if of.dense else 1
    return _KERNEL.fill(
        arithmetic=matmul.arithmetic(kinds),
        parameters=matmul.parameters(kinds),
        start=matmul.start(kinds),
        find=matmul.find(kinds, "mat_index"),
        index="pg_i64" if of.wide else "pg_u32",
        rows=of.rows,
        columns=of.columns,
        vector=of.vector,
        shift=f"if (n0 > N - {of.columns}) n0 = N - {of.columns};" if of.loose else "",
        loads=of.columns // of.vector,
        b_bytes=kinds.y.itemsize if of.loose else bytes_,
        o_bytes=out_bytes if of.loose else o_bytes,
        b_aligned="1" if of.loose else f"PG_ALIGNED(from_b, {bytes_}) && b_k % {bytes_} == 0",
        o_aligned="1" if of.loose else f"PG_ALIGNED(to, {o_bytes}) && o_m % {o_bytes} == 0",
        b_stored=ys,
        o_stored=kinds.stored,
        x=f"mat_a({dtypes.load(kinds.x, row, '0')})",
        y=f"mat_b({item})",
        fetch=single,
        store=store,
    )
