"""Products of a row and a matrix of floats on CPUs, at the rate at which memory is read.

Where the matrix lies along the summed axis, four of its lines are read together, each into two
vectors of sums; where it lies along the result's axis, four lines are added to the sums at once, so
that these are loaded and stored a quarter as often: the sums stay in the first cache. Both are the
blocked loops of level 2 in Van Zee and van de Geijn, "BLIS: a framework for rapidly instantiating
BLAS functionality" (ACM TOMS 41, 2015).

The text is OpenCL C only: its vector types are what CPUs compute with.
"""

from __future__ import annotations

from typing import NamedTuple

from pygpu._src.codegen.template import Template

from . import matmul
from .matmul import Kinds

TOGETHER = 4  # lines read at once


class Lines(NamedTuple):
    """along: the matrix lies along the summed axis; lanes: real numbers of a vector, a power of two;
    results: of a tile."""

    along: bool
    lanes: int
    results: int


_KERNEL = Template("""\
${arithmetic}typedef $scalar$lanes mat_lanes;
$functions
PG_KERNEL void product($parameters)
{
    $start
    $sums
    for (pg_i64 g = PG_ID(0); g < total; g += PG_IDS(0)) {
        $find
        pg_i64 n0 = tile * $results;
        int many = (int)(N - n0 < $results ? N - n0 : $results);
        $compute
    }
}
""")

_ALONG_LINES = Template("""\
PG_INLINE void mat_lines_$count(PG_GLOBAL const mat_t *x, PG_GLOBAL const char *from, pg_i64 b_n, pg_i64 depth, mat_t *sums)
{
    $pointers
    $zero
    pg_i64 k = 0;
    for (; k + $two <= depth; k += $two) {
        mat_lanes x0 = vload$lanes(0, x + k), x1 = vload$lanes(0, x + k + $lanes);
        $both
    }
    if (k + $lanes <= depth) {
        mat_lanes x0 = vload$lanes(0, x + k);
        $single
        k += $lanes;
    }
    $sum
    for (; k < depth; k++) {
        $rest
    }
}
""")

_ALONG = Template("""\
PG_GLOBAL const mat_t *x = (PG_GLOBAL const mat_t *)from_a;
        int n = 0;
        mat_t found[$together];
        for (; n + $together <= many; n += $together) {
            mat_lines_$together(x, from_b + (n0 + n) * b_n, b_n, depth, found);
            for (int i = 0; i < $together; i++) {
                PG_GLOBAL char *at = to + (n0 + n + i) * o_n;
                $store_each
            }
        }
        for (; n < many; n++) {
            mat_lines_1(x, from_b + (n0 + n) * b_n, b_n, depth, found);
            PG_GLOBAL char *at = to + (n0 + n) * o_n;
            $store_one
        }""")

_ACROSS_LINES = Template("""\
PG_INLINE void mat_lines_$count(PG_GLOBAL const char *a, pg_i64 a_k, PG_GLOBAL const char *from, pg_i64 b_k, int many, mat_t *sums)
{
    $pointers
    $values
    int n = 0;
    for (; n + $lanes <= many; n += $lanes) {
        mat_lanes sum = vload$lanes(0, sums + n);
        $both
        vstore$lanes(sum, 0, sums + n);
    }
    for (; n < many; n++) {
        mat_t sum = sums[n];
        $rest
        sums[n] = sum;
    }
}
""")

_ACROSS = Template("""\
for (int n = 0; n < many; n++)
            sums[n] = 0;
        PG_GLOBAL const char *from = from_b + n0 * b_n;
        pg_i64 k = 0;
        for (; k + $together <= depth; k += $together)
            mat_lines_$together(from_a + k * a_k, a_k, from + k * b_k, b_k, many, sums);
        for (; k < depth; k++)
            mat_lines_1(from_a + k * a_k, a_k, from + k * b_k, b_k, many, sums);
        for (int n = 0; n < many; n++) {
            PG_GLOBAL char *at = to + (n0 + n) * o_n;
            $store
        }""")


def _joined(value: str, lanes: int, scalar: str) -> tuple[str, str]:
    """Statements that add up the lanes of the vector *value* in pairs, and the name of the sum."""
    lines = []
    while lanes > 1:
        lanes //= 2
        kind, half = f"{scalar}{lanes if lanes > 1 else ''}", f"{value}_{lanes}"
        lines.append(f"{kind} {half} = {value}.lo + {value}.hi;")
        value = half
    return " ".join(lines), value


def _along_lines(count: int, lanes: int, scalar: str) -> str:
    """``mat_lines_<count>``: sums of so many lines that lie along the summed axis."""
    each = range(count)

    def lines(text: str) -> str:
        return " ".join(text.replace("#", str(i)).replace("@", str(lanes)) for i in each)

    sums = []
    for i in each:
        adding, name = _joined(f"s{i}", lanes, scalar)
        sums.append(f"s{i} += t{i}; {adding} sums[{i}] = {name};")
    return _ALONG_LINES.fill(
        count=count,
        lanes=lanes,
        two=2 * lanes,
        pointers=lines("PG_GLOBAL const mat_t *y# = (PG_GLOBAL const mat_t *)(from + # * b_n);"),
        zero=lines("mat_lanes s# = 0, t# = 0;"),
        both=lines("s# += x0 * vload@(0, y# + k); t# += x1 * vload@(0, y# + k + @);"),
        single=lines("s# += x0 * vload@(0, y# + k);"),
        sum="\n    ".join(sums),
        rest=lines("sums[#] += x[k] * y#[k];"),
    )


def _across_lines(count: int, lanes: int) -> str:
    """``mat_lines_<count>``: adds so many lines that lie along the result's axis to the sums."""
    each = range(count)

    def lines(text: str) -> str:
        return " ".join(text.replace("#", str(i)).replace("@", str(lanes)) for i in each)

    return _ACROSS_LINES.fill(
        count=count,
        lanes=lanes,
        pointers=lines("PG_GLOBAL const mat_t *y# = (PG_GLOBAL const mat_t *)(from + # * b_k);"),
        values=lines("mat_t x# = *(PG_GLOBAL const mat_t *)(a + # * a_k);"),
        both=lines("sum += x# * vload@(0, y# + n);"),
        rest=lines("sum += x# * y#[n];"),
    )


def source(kinds: Kinds, of: Lines) -> str:
    """``product`` of one row a and any number of columns b[n]; a tile is of.results of them. All
    dtypes are one of float32 and float64; what lies along an axis has no gaps."""

    def store(value: str) -> str:
        return kinds.store(f"((PG_GLOBAL {kinds.stored} *)at)", "0", value)

    scalar = {"f": "float", "d": "double"}[kinds.number.char]
    if of.along:
        functions = _along_lines(TOGETHER, of.lanes, scalar) + _along_lines(1, of.lanes, scalar)
        compute = _ALONG.fill(
            together=TOGETHER, store_each=store("found[i]"), store_one=store("found[0]")
        )
    else:
        functions = _across_lines(TOGETHER, of.lanes) + _across_lines(1, of.lanes)
        compute = _ACROSS.fill(together=TOGETHER, store=store("sums[n]"))
    return _KERNEL.fill(
        arithmetic=matmul.arithmetic(kinds),
        scalar=scalar,
        functions=functions,
        lanes=of.lanes,
        parameters=matmul.parameters(kinds),
        start=matmul.start(kinds),
        find=matmul.find(kinds),
        sums="" if of.along else f"mat_t sums[{of.results}];",
        results=of.results,
        compute=compute,
    )
