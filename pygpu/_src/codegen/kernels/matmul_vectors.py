"""Products of a row and a matrix, which take as long as reading the matrix.

If the matrix is contiguous along the summed axis, some work-items read a line of it together; if
it is contiguous along the result's axis, each reads a part of every line. The sums of the
work-items that share a result are added up in local memory in the order of a tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.template import Template

from . import matmul
from .matmul import Kinds


class Reading(NamedTuple):
    """along: whether the matrix is contiguous along the summed axis; group: work-items; lanes:
    those of them that share a result; vector: items of the matrix that are read at once; turns:
    how many such reads are in flight; row: items of the row read at once; loose: vectors may begin
    at any item's address, as on CPUs."""

    along: bool
    group: int
    lanes: int
    vector: int
    turns: int
    row: int
    loose: bool = False

    @property
    def results(self) -> int:
        """Results per group."""
        return self.group // self.lanes * (1 if self.along else self.vector)


_KERNEL = Template("""\
${arithmetic}typedef struct PG_ALIGN($a_bytes) { $a_stored item[$row]; } mat_a_vector;
typedef struct PG_ALIGN($b_bytes) { $b_stored item[$vector]; } mat_b_vector;
PG_KERNEL void PG_BOUNDS($group, 1) product($parameters)
{
    $start
    $local
    int id = (int)PG_LOCAL_ID(0), lane = $lane, line = $line;
    for (pg_i64 g = PG_GROUP_ID(0); g < total; g += PG_GROUPS(0)) {
        $find
        pg_i64 n0 = tile * $results + line * $each;
        mat_t acc[$sums];
        PG_UNROLL for (int i = 0; i < $sums; i++)
            acc[i] = mat_none();
        pg_i64 n = n0 < N ? n0 : N - $each;
        PG_GLOBAL const char *from = from_b + n * b_n;
        $read
        $join
    }
}
""")

_ALONG = Template("""\
pg_i64 k = lane * $vector;
        if ($aligned) {
            for (; k - lane * $vector + $step <= depth; k += $step) {
                mat_b_vector y[$turns];
                PG_UNROLL for (int u = 0; u < $turns; u++)
                    y[u] = *(PG_GLOBAL const mat_b_vector *)(from + (k + u * $stride) * b_k);
                PG_UNROLL for (int u = 0; u < $turns; u++) {
                    $row_vector
                    PG_UNROLL for (int j = 0; j < $vector; j++)
                        acc[u * $vector + j] = mat_add(acc[u * $vector + j], $x, $y);
                }
            }
            for (; k + ${vector} - 1 < depth; k += $stride) {
                mat_b_vector y[1];
                y[0] = *(PG_GLOBAL const mat_b_vector *)(from + k * b_k);
                const int u = 0;
                $row_vector
                PG_UNROLL for (int j = 0; j < $vector; j++)
                    acc[j] = mat_add(acc[j], $x, $y);
            }
        }
        for (; k < depth; k += $stride)
            PG_UNROLL for (int j = 0; j < $vector; j++)
                if (k + j < depth)
                    acc[j] = mat_add(acc[j], $x_single, $y_single);
        $tree
        mat_t sum = acc[0];""")

_ACROSS = Template("""\
pg_i64 k = lane;
        if ($aligned)
            for (; k + $last < depth; k += $step) {
                mat_b_vector y[$turns];
                PG_UNROLL for (int u = 0; u < $turns; u++)
                    y[u] = *(PG_GLOBAL const mat_b_vector *)(from + (k + u * $lanes) * b_k);
                PG_UNROLL for (int u = 0; u < $turns; u++) {
                    mat_t x = $x;
                    PG_UNROLL for (int j = 0; j < $vector; j++)
                        acc[j] = mat_add(acc[j], x, $y);
                }
            }
        for (; k < depth; k += $lanes) {
            mat_t x = $x_single;
            PG_UNROLL for (int j = 0; j < $vector; j++)
                acc[j] = mat_add(acc[j], x, $y_single);
        }""")


def _join(kinds: Kinds, of: Reading) -> str:
    """Add up the sums of the lanes, and store the result."""
    value, each = ("sum", "") if of.along else ("acc[j]", f" * {of.vector} + j")
    loop = "" if of.along else f"PG_UNROLL for (int j = 0; j < {of.vector}; j++) "
    column = "n0" if of.along else "(n0 + j)"
    item = f"((PG_GLOBAL {kinds.stored} *)(to + {column} * o_n))"
    if of.lanes == 1:
        return f"if (n0 < N) {loop}{{ {kinds.store(item, '0', value)} }}"
    lines = [f"PG_BARRIER; {loop}sums[id{each}] = {value};"]
    apart = of.lanes // 2
    at = "id" if of.along else f"id * {of.vector} + j"
    step = 1 if of.along else of.group // of.lanes * of.vector
    while apart:
        lines.append(
            f"PG_BARRIER; if (lane < {apart}) {loop}"
            f"sums[{at}] = mat_join(sums[{at}], sums[{at} + {apart * step}]);"
        )
        apart //= 2
    lines.append(f"if (lane == 0 && n0 < N) {loop}{{ {kinds.store(item, '0', f'sums[{at}]')} }}")
    return "\n        ".join(lines)


def _read_along(
    kinds: Kinds, of: Reading, values: dict[str, Any], row: Callable[[str], str]
) -> str:
    """The loop of work-items that read along the summed axis."""
    stride, sums = of.lanes * of.vector, of.turns * of.vector
    single = f"((PG_GLOBAL const {dtypes.storage_type(kinds.y)} *)(from + (k + j) * b_k))"
    at = f"k + u * {stride}"
    x, row_vector, aligned = row(f"{at} + j"), "", []
    if of.vector > 1 and not of.loose:
        aligned.append(f"PG_ALIGNED(from, {of.vector * kinds.y.itemsize})")
    if of.row > 1 and not of.loose:
        aligned.append(f"PG_ALIGNED(from_a, {of.row * kinds.x.itemsize})")
    if of.row > 1:
        row_vector = f"mat_a_vector x = *(PG_GLOBAL const mat_a_vector *)(from_a + ({at}) * a_k);"
        x = f"mat_a({dtypes.load(kinds.x, 'x.item', 'j')})"
    return _ALONG.fill(
        values,
        step=of.turns * stride,
        stride=stride,
        aligned=" && ".join(aligned) or "1",
        row_vector=row_vector,
        x=x,
        x_single=row("k + j"),
        y_single=f"mat_b({dtypes.load(kinds.y, single, '0')})",
        sums=sums,
        tree=_tree(sums),
    )


def _tree(sums: int) -> str:
    """Adds up a work-item's sums in pairs, which compilers turn into vector instructions."""
    lines = []
    while sums > 1:
        half = (sums + 1) // 2
        lines.append(
            f"PG_UNROLL for (int i = 0; i < {sums // 2}; i++) "
            f"acc[i] = mat_join(acc[i], acc[i + {half}]);"
        )
        sums = half
    return "\n        ".join(lines)


def _read_across(
    kinds: Kinds, of: Reading, values: dict[str, Any], row: Callable[[str], str]
) -> str:
    """The loop of work-items that read several neighbouring columns."""
    single = f"((PG_GLOBAL const {dtypes.storage_type(kinds.y)} *)(from + k * b_k + j * b_n))"
    b_bytes = of.vector * kinds.y.itemsize
    aligned = "1"
    if of.vector > 1 and not of.loose:
        aligned = f"PG_ALIGNED(from, {b_bytes}) && b_k % {b_bytes} == 0"
    return _ACROSS.fill(
        values,
        last=(of.turns - 1) * of.lanes,
        step=of.turns * of.lanes,
        aligned=aligned,
        x=row(f"k + u * {of.lanes}"),
        x_single=row("k"),
        y_single=f"mat_b({dtypes.load(kinds.y, single, '0')})",
    )


def source(kinds: Kinds, of: Reading) -> str:
    """``product`` of one row a and any number of columns b[n], by groups of of.group work-items; a
    tile has of.results of them."""
    xs, ys = dtypes.storage_type(kinds.x), dtypes.storage_type(kinds.y)
    b_bytes, a_bytes = of.vector * kinds.y.itemsize, of.row * kinds.x.itemsize

    def row(k: str) -> str:
        return f"mat_a({dtypes.load(kinds.x, f'((PG_GLOBAL const {xs} *)(from_a + ({k}) * a_k))', '0')})"

    values = {
        "vector": of.vector,
        "turns": of.turns,
        "lanes": of.lanes,
        "y": f"mat_b({dtypes.load(kinds.y, 'y[u].item', 'j')})",
    }
    threads = of.group // of.lanes
    sums = of.turns * of.vector if of.along else of.vector
    read = (_read_along if of.along else _read_across)(kinds, of, values, row)
    return _KERNEL.fill(
        arithmetic=matmul.arithmetic(kinds),
        parameters=matmul.parameters(kinds),
        start=matmul.start(kinds),
        find=matmul.find(kinds),
        local=""
        if of.lanes == 1
        else f"PG_LOCAL mat_t sums[{of.group * (1 if of.along else of.vector)}];",
        lane=f"id % {of.lanes}" if of.along else f"id / {threads}",
        line=f"id / {of.lanes}" if of.along else f"id % {threads}",
        results=of.results,
        each=1 if of.along else of.vector,
        sums=sums,
        group=of.group,
        vector=of.vector,
        row=of.row,
        a_bytes=kinds.x.itemsize if of.loose else a_bytes,
        b_bytes=kinds.y.itemsize if of.loose else b_bytes,
        a_stored=xs,
        b_stored=ys,
        read=read,
        join=_join(kinds, of),
    )
