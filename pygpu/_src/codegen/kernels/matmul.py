"""The kernel of matrix products of our own: any dtype that computes, any strides, batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.accumulators import _number_of_acc
from pygpu._src.codegen.template import Template

__all__ = ["CPU_COLUMNS", "CPU_ROWS", "GROUP", "source"]

DType = np.dtype[Any]
GROUP = 256
CPU_ROWS, CPU_COLUMNS = 4, 64  # of the block that a work-item of a CPU computes


def _arithmetic(x: DType, y: DType, number: DType) -> str:
    """mat_t, mat_none, MAT_A(value), MAT_B(value), MAT_ADD(acc, a, b): acc += a * b."""
    code = dtypes.code(number)
    a, b = dtypes.cast("v", x, number), dtypes.cast("v", y, number)
    if code[0] == "c":
        acc, none = f"pg_{code}", f"pg_{code}_make(0, 0)"
        add = "acc.re += a.re * b.re - a.im * b.im; acc.im += a.re * b.im + a.im * b.re;"
    elif code == "b8":
        acc, none, add = "pg_u32", "0", "acc |= a & b;"
    elif code[0] in "iu":  # signed ones wrap as unsigned ones
        acc, none, add = f"pg_u{max(int(code[1:]), 32)}", "0", "acc += a * b;"
    else:
        acc, none, add = dtypes.compute_type(number), "0", "acc += a * b;"
    kinds = (dtypes.compute_type(x), dtypes.compute_type(y))
    return f"""\
typedef {acc} mat_t;
PG_INLINE mat_t mat_none(void) {{ return {none}; }}
PG_INLINE mat_t mat_a({kinds[0]} v) {{ return (mat_t){a}; }}
PG_INLINE mat_t mat_b({kinds[1]} v) {{ return (mat_t){b}; }}
PG_INLINE mat_t mat_add(mat_t acc, mat_t a, mat_t b) {{ {add} return acc; }}
""".replace("(mat_t)pg_c", "pg_c").replace("return (mat_t)v;", "return v;")


_CPU = Template("""\
$head    for (pg_i64 g = PG_ID(0); g < total; g += PG_IDS(0)) {
        $find
        pg_i64 m0 = tile / across * $rows, n0 = tile % across * $columns;
        int many = (int)(M - m0 < $rows ? M - m0 : $rows);
        int wide = (int)(N - n0 < $columns ? N - n0 : $columns);
        mat_t acc[$rows][$columns];
        for (int r = 0; r < $rows; r++)
            for (int c = 0; c < $columns; c++)
                acc[r][c] = mat_none();
        if (many == $rows && wide == $columns) {
            for (pg_i64 k = 0; k < K; k++)
                for (int r = 0; r < $rows; r++) {
                    mat_t value = $a;
                    for (int c = 0; c < $columns; c++)
                        acc[r][c] = mat_add(acc[r][c], value, $b);
                }
        } else {
            for (pg_i64 k = 0; k < K; k++)
                for (int r = 0; r < many; r++) {
                    mat_t value = $a;
                    for (int c = 0; c < wide; c++)
                        acc[r][c] = mat_add(acc[r][c], value, $b);
                }
        }
        for (int r = 0; r < many; r++)
            for (int c = 0; c < wide; c++) { $store }
    }
}
""")

_GPU = Template("""\
$head    PG_LOCAL mat_t a_part[$deep][$side + 1];
    PG_LOCAL mat_t b_part[$deep][$side + 1];
    int id = (int)PG_LOCAL_ID(0), x = id % 16, y = id / 16;
    for (pg_i64 g = PG_GROUP_ID(0); g < total; g += PG_GROUPS(0)) {
        $find
        pg_i64 m0 = tile / across * $side, n0 = tile % across * $side;
        mat_t acc[$each][$each];
        PG_UNROLL for (int r = 0; r < $each; r++)
            PG_UNROLL for (int c = 0; c < $each; c++)
                acc[r][c] = mat_none();
        for (pg_i64 k0 = 0; k0 < K; k0 += $deep) {
            for (int i = id; i < $items; i += $group) {
                int k = i % $deep, m = i / $deep; /* rows of a are walked along k */
                mat_t value = mat_none();
                if (m0 + m < M && k0 + k < K)
                    value = $a;
                a_part[k][m] = value;
            }
            for (int i = id; i < $items; i += $group) {
                int n = i % $side, k = i / $side;
                mat_t value = mat_none();
                if (n0 + n < N && k0 + k < K)
                    value = $b;
                b_part[k][n] = value;
            }
            PG_BARRIER;
            PG_UNROLL for (int k = 0; k < $deep; k++) {
                mat_t left[$each], right[$each];
                PG_UNROLL for (int r = 0; r < $each; r++) {
                    left[r] = a_part[k][r * 16 + y];
                    right[r] = b_part[k][r * 16 + x];
                }
                PG_UNROLL for (int r = 0; r < $each; r++)
                    PG_UNROLL for (int c = 0; c < $each; c++)
                        acc[r][c] = mat_add(acc[r][c], left[r], right[c]);
            }
            PG_BARRIER;
        }
        PG_UNROLL for (int r = 0; r < $each; r++)
            PG_UNROLL for (int c = 0; c < $each; c++) {
                pg_i64 m = m0 + r * 16 + y, n = n0 + c * 16 + x;
                if (m < M && n < N) { $store }
            }
    }
}
""")


def _parameters(xs: str, ys: str, os: str, batch: int) -> str:
    lines = [f"PG_ARRAY_IN({xs}, a)", f"PG_ARRAY_IN({ys}, b)", f"PG_ARRAY({os}, out)"]
    lines.append("pg_i64 M, pg_i64 N, pg_i64 K, pg_i64 across, pg_i64 tiles, pg_i64 total")
    lines += [f"pg_i64 n{k}" for k in range(1, batch)]
    for name in ("a", "b", "o"):
        lines += [f"pg_i64 {name}_b{k}" for k in range(batch)]
        lines.append(f"pg_i64 {name}_row, pg_i64 {name}_col")
    return ", ".join(lines)


def _find(batch: int) -> str:
    """Statements that find the tile, and the matrices from_a, from_b and to, of group *g*."""
    lines = ["pg_i64 rest = g / tiles, tile = g % tiles, a_at = 0, b_at = 0, o_at = 0;"]
    for k in range(batch - 1, 0, -1):
        lines.append(f"{{ pg_i64 left = rest / n{k}, i = rest - left * n{k}; rest = left;")
        lines.append(f"a_at += i * a_b{k}; b_at += i * b_b{k}; o_at += i * o_b{k}; }}")
    lines.append("a_at += rest * a_b0; b_at += rest * b_b0; o_at += rest * o_b0;")
    lines.append(
        "PG_GLOBAL const char *from_a = (PG_GLOBAL const char *)a + a_at;"
        " PG_GLOBAL const char *from_b = (PG_GLOBAL const char *)b + b_at;"
        " PG_GLOBAL char *to = (PG_GLOBAL char *)out + o_at;"
    )
    return "\n        ".join(lines)


class _Items:
    """How items of the three matrices are read and written. dense: rows of b and out have no
    gaps."""

    def __init__(self, x: DType, y: DType, number: DType, out: DType, dense: bool) -> None:
        self.x, self.y, self.number, self.out, self.dense = x, y, number, out, dense

    def _pointer(self, const: str, dtype: DType, row: str, column: str, index: str) -> str:
        type_ = f"PG_GLOBAL {const}{dtypes.storage_type(dtype)} *"
        if self.dense:
            return f"(({type_})({row}) + ({index}))"
        return f"(({type_})({row} + ({index}) * {column}))"

    def a(self, m: str, k: str) -> str:
        place = f"from_a + ({m}) * a_row + ({k}) * a_col"
        pointer = f"((PG_GLOBAL const {dtypes.storage_type(self.x)} *)({place}))"
        return f"mat_a({dtypes.load(self.x, pointer, '0')})"

    def b(self, k: str, n: str) -> str:
        pointer = self._pointer("const ", self.y, f"from_b + ({k}) * b_row", "b_col", n)
        return f"mat_b({dtypes.load(self.y, pointer, '0')})"

    def store(self, m: str, n: str, acc: str) -> str:
        pointer = self._pointer("", self.out, f"to + ({m}) * o_row", "o_col", n)
        return dtypes.store(self.out, pointer, "0", _number_of_acc(self.number, acc), self.number)


def source(
    x: DType, y: DType, number: DType, out: DType, batch: int, each: int, dense: bool, cpu: bool
) -> str:
    """``product``: out[m, n] = sum over k of a[m, k] * b[k, n], for each item of the batch axes.

    each: a work-item of a GPU computes each x each items, its group 16 times as many each way.
    dense: rows of b and of out have no gaps. Parameters: the arrays, M, N, K, tiles along N and along
    both, batches, lengths of batch axes but the first, strides [bytes] of a, b and out along the batch
    axes, then along their own two.
    """
    xs, ys, os = (dtypes.storage_type(d) for d in (x, y, out))
    items = _Items(x, y, number, out, dense)
    head = f"""\
{_arithmetic(x, y, number)}PG_KERNEL void product({_parameters(xs, ys, os, batch)})
{{
    PG_START_IN({xs}, a); PG_START_IN({ys}, b); PG_START({os}, out);
"""
    if cpu:
        return _CPU.fill(
            head=head,
            find=_find(batch),
            rows=CPU_ROWS,
            columns=CPU_COLUMNS,
            a=items.a("m0 + r", "k"),
            b=items.b("k", "n0 + c"),
            store=items.store("m0 + r", "n0 + c", "acc[r][c]"),
        )
    side = 16 * each
    deep = 16 if each <= 4 else 8
    return _GPU.fill(
        head=head,
        deep=deep,
        side=side,
        find=_find(batch),
        each=each,
        items=side * deep,
        group=GROUP,
        a=items.a("m0 + m", "k0 + k"),
        b=items.b("k0 + k", "n0 + n"),
        store=items.store("m", "n", "acc[r][c]"),
    )
