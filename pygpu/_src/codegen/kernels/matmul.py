"""The common parts of the kernels of matrix products: arithmetic, parameters, and finding a
matrix.

The kernels are in matmul_tiles.py (GPUs), matmul_panels.py (CPUs) and matmul_vectors.py (one
column). All of them accept any dtype that computes, any strides, and stacks of matrices. The first
axis of a stack is that of the parts into which the summed axis is split; usually there is one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.accumulators import _number_of_acc
from pygpu._src.codegen.template import Template

DType = np.dtype[Any]
GROUP = 256


class Kinds(NamedTuple):
    """The dtypes of a, b, the sums and the result, and the number of axes of the stack.

    parts: sums are stored as they are, to be added up by join_source().
    """

    x: DType
    y: DType
    number: DType
    out: DType
    batch: int
    parts: bool = False

    @property
    def stored(self) -> str:
        """The type of the result's items in memory."""
        return acc_type(self.number) if self.parts else dtypes.storage_type(self.out)

    def store(self, pointer: str, index: str, acc: str) -> str:
        """Return a statement that stores a sum."""
        if self.parts:
            return f"{pointer}[{index}] = {acc};"
        value = _number_of_acc(self.number, acc)
        return dtypes.store(self.out, pointer, index, value, self.number)


def acc_type(number: DType) -> str:
    """The type of sums. Signed integers wrap around as unsigned ones."""
    code = dtypes.code(number)
    if code == "b8":
        return "pg_u32"
    if code[0] in "iu":
        return f"pg_u{max(int(code[1:]), 32)}"
    return dtypes.compute_type(number)


def acc_dtype(number: DType) -> DType:
    """The dtype of acc_type()."""
    return dtypes.from_code(acc_type(number).removeprefix("pg_"))


_ADD_COMPLEX = """\
acc.re += a.re * b.re; acc.im += a.re * b.im; acc.re -= a.im * b.im; acc.im += a.im * b.re;"""


def arithmetic(kinds: Kinds) -> str:
    """Define mat_t, mat_none(), mat_a(value), mat_b(value), mat_add(acc, a, b): acc + a * b, and
    mat_join(acc, more): acc + more. A product and its sum are rounded once if the device can do
    that."""
    number = kinds.number
    code = dtypes.code(number)
    a, b = dtypes.cast("v", kinds.x, number), dtypes.cast("v", kinds.y, number)
    acc, none, cast = acc_type(number), "0", "(mat_t)"
    add, join = "acc += a * b;", "acc += more;"
    if code[0] == "c":
        none, cast = f"pg_{code}_make(0, 0)", ""
        add, join = _ADD_COMPLEX, "acc.re += more.re; acc.im += more.im;"
    elif code == "b8":
        add, join = "acc |= a & b;", "acc |= more;"
    values = (dtypes.compute_type(kinds.x), dtypes.compute_type(kinds.y))
    return f"""\
#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT ON
#endif
#ifndef PG_BOUNDS
#define PG_BOUNDS(size, groups)
#endif
typedef {acc} mat_t;
PG_INLINE mat_t mat_none(void) {{ return {none}; }}
PG_INLINE mat_t mat_a({values[0]} v) {{ return {cast}{a}; }}
PG_INLINE mat_t mat_b({values[1]} v) {{ return {cast}{b}; }}
PG_INLINE mat_t mat_add(mat_t acc, mat_t a, mat_t b) {{ {add} return acc; }}
PG_INLINE mat_t mat_join(mat_t acc, mat_t more) {{ {join} return acc; }}
""".replace("return (mat_t)v;", "return v;")


def parameters(kinds: Kinds, own: tuple[str, ...] = ()) -> str:
    """The parameters: the arrays; a kernel's own; M, N, K; the length of a part of K; tiles along
    N and per matrix; tiles of all matrices; lengths of the stack's axes except the first; strides
    [bytes] of a, b and out along the stack's axes, then along their own two, that of K last for
    both a and b."""
    xs, ys = dtypes.storage_type(kinds.x), dtypes.storage_type(kinds.y)
    lines = [
        f"PG_ARRAY_IN({xs}, a)",
        f"PG_ARRAY_IN({ys}, b)",
        f"PG_ARRAY({kinds.stored}, out)",
        *own,
    ]
    lines.append("pg_i64 M, pg_i64 N, pg_i64 K, pg_i64 part")
    lines.append("pg_i64 across, pg_i64 tiles, pg_i64 total")
    lines += [f"pg_i64 n{k}" for k in range(1, kinds.batch)]
    for name, own in (("a", ("m", "k")), ("b", ("n", "k")), ("o", ("m", "n"))):
        lines += [f"pg_i64 {name}_b{k}" for k in range(kinds.batch)]
        lines += [f"pg_i64 {name}_{axis}" for axis in own]
    return ", ".join(lines)


def start(kinds: Kinds) -> str:
    """The first statements of a kernel."""
    xs, ys = dtypes.storage_type(kinds.x), dtypes.storage_type(kinds.y)
    return f"PG_START_IN({xs}, a); PG_START_IN({ys}, b); PG_START({kinds.stored}, out);"


def find(kinds: Kinds, index: str = "pg_i64") -> str:
    """Find, for group g: the tile's number in its matrix, the matrices from_a, from_b and to, and
    depth, the number of products in a sum. index: the type of g."""
    lines = [f"{index} rest = g / ({index})tiles, tile = g % ({index})tiles;"]
    lines.append("pg_i64 a_at = 0, b_at = 0, o_at = 0;")
    for k in range(kinds.batch - 1, 0, -1):
        lines.append(f"{{ {index} left = rest / ({index})n{k}, i = rest - left * ({index})n{k};")
        lines.append(f"rest = left; a_at += i * a_b{k}; b_at += i * b_b{k}; o_at += i * o_b{k}; }}")
    lines.append("a_at += rest * a_b0; b_at += rest * b_b0; o_at += rest * o_b0;")
    lines.append("pg_i64 depth = K - rest * part < part ? K - rest * part : part;")
    lines.append(
        "PG_GLOBAL const char *from_a = (PG_GLOBAL const char *)a + a_at;"
        " PG_GLOBAL const char *from_b = (PG_GLOBAL const char *)b + b_at;"
        " PG_GLOBAL char *to = (PG_GLOBAL char *)out + o_at;"
    )
    return "\n        ".join(lines)


_JOIN = Template("""\
${arithmetic}PG_KERNEL void join(PG_ARRAY_IN(mat_t, sums), PG_ARRAY($stored, out), pg_i64 count, pg_i64 items, $numbers)
{
    PG_START_IN(mat_t, sums); PG_START($stored, out);
    $loop {
        mat_t acc = mat_none();
        $add
        pg_i64 rest = i, at = 0;
        $find
        PG_GLOBAL $stored *to = (PG_GLOBAL $stored *)((PG_GLOBAL char *)out + at);
        $store
    }
}
""")

_SHARED = Template("""\
PG_LOCAL mat_t shared[$group];
    int id = (int)PG_LOCAL_ID(0), lane = id / $each;
    for (pg_i64 g = PG_GROUP_ID(0); g * $each < items; g += PG_GROUPS(0))""")
_TREE = Template("""\
pg_i64 i = g * $each + id % $each;
        if (i < items)
            for (pg_i64 s = lane; s < count; s += $lanes)
                acc = mat_join(acc, sums[s * items + i]);
        PG_BARRIER;
        shared[id] = acc;
        for (int apart = ${lanes} / 2; apart > 0; apart /= 2) {
            PG_BARRIER;
            if (lane < apart)
                shared[id] = mat_join(shared[id], shared[id + apart * $each]);
        }
        if (lane > 0 || i >= items)
            continue;
        acc = shared[id];""")


def join_source(kinds: Kinds, lanes: int) -> str:
    """``join``: adds up the sums of *count* parts for each of *items* results.

    lanes: work-items that share a result, in groups of GROUP, which add their sums in a tree. With
    a single lane, it is a loop for groups of any size. Further parameters: lengths of the result's
    axes except the first, strides [bytes] of them all; the number of axes is kinds.batch + 1.
    """
    axes = kinds.batch + 1
    names = [f"n{k}" for k in range(1, axes)] + [f"o_{k}" for k in range(axes)]
    found = [
        f"{{ pg_i64 left = rest / n{k}; at += (rest - left * n{k}) * o_{k}; rest = left; }}"
        for k in range(axes - 1, 0, -1)
    ]
    plain = kinds._replace(parts=False)
    add = "for (pg_i64 s = 0; s < count; s++) acc = mat_join(acc, sums[s * items + i]);"
    shape = {"group": GROUP, "each": GROUP // lanes, "lanes": lanes}
    return _JOIN.fill(
        arithmetic=arithmetic(kinds),
        stored=plain.stored,
        numbers=", ".join(f"pg_i64 {name}" for name in names),
        loop="PG_FOR(i, items)" if lanes == 1 else _SHARED.fill(shape),
        add=add if lanes == 1 else _TREE.fill(shape),
        find=" ".join([*found, "at += rest * o_0;"]),
        store=plain.store("to", "0", "acc"),
    )
