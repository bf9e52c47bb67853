"""Matrix products on CPUs: packed panels that stay in the caches, and a block in vector registers.

After Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (ACM TOMS 34,
2008). A work-item computes a tile of the result. For each stretch of the summed axis it packs the
tile's part of b into panels as wide as the block, then rows of a into panels as high as the block;
the innermost loop reads both sequentially. A panel of b stays in the L1 cache, the packed rows of
a in the L2 cache. Between two stretches, sums are stored in memory of the work-item's own. Rows
of a that are multiplied by one or two panels only are read where they are.

The source is OpenCL C only, because it uses its vector types.
"""

from __future__ import annotations

from typing import NamedTuple

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.template import Template

from . import matmul
from .matmul import Kinds


class Blocking(NamedTuple):
    """lanes: real numbers per vector; high: rows, and wide: vectors of the block in registers;
    deep: length of a stretch of the summed axis; rows: rows of a that are packed at once; direct:
    none are packed."""

    lanes: int
    high: int
    wide: int
    deep: int
    rows: int
    direct: bool = False

    @property
    def columns(self) -> int:
        """Of the block in registers."""
        return self.lanes * self.wide


_KERNEL = Template("""\
${arithmetic}typedef $real mat_real;
typedef $real$lanes mat_lanes;
#ifdef POCL_DEVICE_ADDRESS_BITS /* whose prefetch() does nothing */
#define MAT_FETCH(pointer) __builtin_prefetch((const void *)(size_t)(pointer))
#else
#define MAT_FETCH(pointer)
#endif
PG_INLINE void mat_block($operand, PG_GLOBAL const mat_real *y, int depth, PG_GLOBAL mat_real *sums, pg_i64 line, int first)
{
    $fetch
    $lines
    $zero
    for (int k = 0; k < depth; k++) {
        $multiply
        $step; y += $y_step;
    }
    if (!first) {
        $more
    }
    $keep
}
PG_KERNEL void product($parameters)
{
    $start
    PG_START(mat_real, memory);
    PG_GLOBAL mat_real *x_panels = memory + PG_ID(0) * each;
    PG_GLOBAL mat_real *y_panels = x_panels + $rows * $deep * $planes;
    PG_GLOBAL mat_real *sums = y_panels + tile_columns * $deep * $planes;
    pg_i64 line = tile_columns * $planes;
    for (pg_i64 g = PG_ID(0); g < total; g += PG_IDS(0)) {
        $find
        pg_i64 m0 = tile / across * tile_rows, n0 = tile % across * tile_columns;
        int many = (int)(M - m0 < tile_rows ? M - m0 : tile_rows);
        int wide = (int)(N - n0 < tile_columns ? N - n0 : tile_columns);
        for (pg_i64 k0 = 0; k0 < depth; k0 += $deep) {
            int deep = (int)(depth - k0 < $deep ? depth - k0 : $deep);
            for (int n = 0; n < wide; n += $columns) {
                PG_GLOBAL mat_real *to_panel = y_panels + (pg_i64)n * deep * $planes;
                int some = wide - n < $columns ? wide - n : $columns;
                PG_GLOBAL const char *from = from_b + (n0 + n) * b_n + k0 * b_k;
                $pack_b
            }
            for (int m1 = 0; m1 < many; m1 += $rows) {
                int rows = many - m1 < $rows ? many - m1 : $rows;
                $pack_rows
                for (int n = 0; n < wide; n += $columns)
                    for (int m = 0; m < rows; m += $high)
                        mat_block($argument, y_panels + (pg_i64)n * deep * $planes, deep,
                                  sums + (m1 + m) * line + n * $planes, line, k0 == 0);
            }
        }
        for (int r = 0; r < many; r++) {
            PG_GLOBAL char *row = to + (m0 + r) * o_m + n0 * o_n;
            if (o_n == $stored_bytes)
                for (int n = 0; n < wide; n++) {
                    $load_sum
                    $store_dense
                }
            else
                PG_ROLLED for (int n = 0; n < wide; n++) {
                    $load_sum
                    $store
                }
        }
    }
}
""")

_PACK_ROWS = Template("""\
for (int m = 0; m < rows; m += $high) {
                    PG_GLOBAL mat_real *to_panel = x_panels + (pg_i64)m * deep * $planes;
                    int some = rows - m < $high ? rows - m : $high;
                    PG_GLOBAL const char *from = from_a + (m0 + m1 + m) * a_m + k0 * a_k;
                    $pack
                }""")

_AHEAD = 8  # steps along the summed axis before which lines are fetched to the cache
_PACK = Template("""\
if (some == $width && $apart == $size)
                    for (int k = 0; k < deep; k++, from += $along) {
                        $fetch
                        for (int i = 0; i < $width; i++) {
                            $dense
                        }
                    }
                else if (some == $width)
                    PG_ROLLED for (int k = 0; k < deep; k++, from += $along)
                        PG_UNROLL for (int i = 0; i < $width; i++) {
                            $strided
                        }
                else
                    PG_ROLLED for (int k = 0; k < deep; k++, from += $along)
                        PG_ROLLED for (int i = 0; i < $width; i++) {
                            mat_t value = mat_none();
                            if (i < some)
                                value = $value;
                            $put
                        }""")


def _pack(kinds: Kinds, name: str, width: int, planes: int) -> str:
    """Pack a panel of *width* rows of a, or columns of b, and *deep* along the summed axis;
    missing ones are zero."""
    dtype = kinds.x if name == "a" else kinds.y
    apart, along = ("a_m", "a_k") if name == "a" else ("b_n", "b_k")
    stored = dtypes.storage_type(dtype)
    if planes == 1:
        put = f"to_panel[k * {width} + i] = value;"
    else:
        put = (
            f"to_panel[k * {2 * width} + i] = value.re; "
            f"to_panel[k * {2 * width} + {width} + i] = value.im;"
        )

    def value(pointer: str, index: str) -> str:
        return f"mat_{name}({dtypes.load(dtype, pointer, index)})"

    dense = value(f"((PG_GLOBAL const {stored} *)from)", "i")
    strided = value(f"((PG_GLOBAL const {stored} *)(from + i * {apart}))", "0")
    return _PACK.fill(
        width=width,
        apart=apart,
        along=along,
        size=dtype.itemsize,
        dense=f"mat_t value = {dense}; {put}",
        strided=f"mat_t value = {strided}; {put}",
        value=strided,
        put=put,
        fetch=" ".join(
            f"MAT_FETCH(from + {_AHEAD} * {along} + {at});"
            for at in range(0, width * dtype.itemsize, 64)
        ),
    )


class _Block:
    """The source for the block in registers: variables s0_1re, ... are the sums of row 0, vector
    1."""

    def __init__(self, kinds: Kinds, blocking: Blocking) -> None:
        self.of, self.bool, self.x = blocking, kinds.number.kind == "b", kinds.x
        self.parts = ("re", "im") if kinds.number.kind == "c" else ("",)
        self.item = matmul.acc_dtype(kinds.number).itemsize // len(self.parts)

    def _each(self, text: str) -> str:
        """The source for each vector of sums."""
        of, planes = self.of, len(self.parts)
        lines = []
        for r in range(of.high):
            for v in range(of.wide):
                for p, part in enumerate(self.parts):
                    if planes == 1:
                        at = f"{v * of.lanes}"
                    else:
                        at = f"{(v + p * of.wide) * of.lanes}"
                    lines.append(text.format(s=f"s{r}_{v}{part}", at=f"sums + {r} * line + {at}"))
        return "\n    ".join(lines)

    def zero(self) -> str:
        return self._each("mat_lanes {s} = 0;")

    def fetch(self) -> str:
        """The sums' lines of the cache."""
        size = self.of.columns * len(self.parts) * self.item
        return " ".join(
            f"MAT_FETCH((PG_GLOBAL const char *)(sums + {r} * line) + {at});"
            for r in range(self.of.high)
            for at in range(0, size, 64)
        )

    def more(self) -> str:
        op = "|" if self.bool else "+"
        return self._each(f"{{s}} {op}= vload{self.of.lanes}(0, {{at}});")

    def keep(self) -> str:
        return self._each(f"vstore{self.of.lanes}({{s}}, 0, {{at}});")

    def multiply(self) -> str:
        of, planes = self.of, len(self.parts)
        lines = [
            f"mat_lanes y{v}{part} = vload{of.lanes}(0, y + {(v + p * of.wide) * of.lanes});"
            for v in range(of.wide)
            for p, part in enumerate(self.parts)
        ]
        for r in range(of.high):
            if of.direct:
                stored = dtypes.storage_type(self.x)
                at = f"((PG_GLOBAL const {stored} *)(line{r} + at))"
                value = f"mat_a({dtypes.load(self.x, at, '0')})"
                lines.append(f"mat_lanes x{r} = (mat_lanes)({value});")
            else:
                lines += [
                    f"mat_lanes x{r}{part} = (mat_lanes)(x[{r + p * of.high}]);"
                    for p, part in enumerate(self.parts)
                ]
            for v in range(of.wide):
                if planes == 1 and self.bool:
                    lines.append(f"s{r}_{v} |= x{r} & y{v};")
                elif planes == 1:
                    lines.append(f"s{r}_{v} += x{r} * y{v};")
                else:
                    lines.append(f"s{r}_{v}re += x{r}re * y{v}re; s{r}_{v}im += x{r}re * y{v}im;")
                    lines.append(f"s{r}_{v}re -= x{r}im * y{v}im; s{r}_{v}im += x{r}im * y{v}re;")
        return "\n        ".join(lines)

    def operand(self) -> dict[str, str]:
        """How the block gets rows of a: packed, or where they are; missing ones are the last."""
        of, planes = self.of, len(self.parts)
        if not of.direct:
            return {
                "operand": "PG_GLOBAL const mat_real *x",
                "argument": f"x_panels + (pg_i64)m * deep * {planes}",
                "lines": "",
                "step": f"x += {of.high * planes}",
            }
        lines = [
            f"PG_GLOBAL const char *line{r} = x + ({r} < some ? {r} : some - 1) * a_m;"
            for r in range(of.high)
        ]
        return {
            "operand": "PG_GLOBAL const char *x, pg_i64 a_m, pg_i64 a_k, int some",
            "argument": "from_a + (m0 + m1 + m) * a_m + k0 * a_k, a_m, a_k, rows - m",
            "lines": " ".join([*lines, "pg_i64 at = 0;"]),
            "step": "at += a_k",
        }


_OWN = ("PG_ARRAY(mat_real, memory)", "pg_i64 each, pg_i64 tile_rows, pg_i64 tile_columns")
_REAL = {
    "f32": "float",
    "f64": "double",
    "c64": "float",
    "c128": "double",
    "u32": "uint",
    "u64": "ulong",
}


def source(kinds: Kinds, blocking: Blocking) -> str:
    """``product`` with its own memory: returns also how many real numbers of it each work-item
    needs, and the size of a tile, multiples of the block's."""
    code = dtypes.code(matmul.acc_dtype(kinds.number))
    block, planes = _Block(kinds, blocking), 2 if code[0] == "c" else 1
    columns = blocking.columns
    load = "mat_t value = sums[r * line + n];"
    if planes == 2:
        at = f"r * line + n / {columns} * {2 * columns} + n % {columns}"
        load = f"mat_t value = pg_{code}_make(sums[{at}], sums[{at} + {columns}]);"
    pack = ""
    if not blocking.direct:
        values = {"high": blocking.high, "planes": planes}
        pack = _PACK_ROWS.fill(values, pack=_pack(kinds, "a", blocking.high, planes))
    return _KERNEL.fill(
        block.operand(),
        arithmetic=matmul.arithmetic(kinds),
        parameters=matmul.parameters(kinds, _OWN),
        start=matmul.start(kinds),
        find=matmul.find(kinds),
        real=_REAL[code],
        lanes=blocking.lanes,
        planes=planes,
        fetch=block.fetch(),
        zero=block.zero(),
        multiply=block.multiply(),
        more=block.more(),
        keep=block.keep(),
        y_step=columns * planes,
        rows=blocking.rows,
        deep=blocking.deep,
        high=blocking.high,
        columns=columns,
        pack_rows=pack,
        pack_b=_pack(kinds, "b", columns, planes),
        load_sum=load,
        stored_bytes=(matmul.acc_dtype(kinds.number) if kinds.parts else kinds.out).itemsize,
        store_dense=kinds.store(f"((PG_GLOBAL {kinds.stored} *)row)", "n", "value"),
        store=kinds.store(f"((PG_GLOBAL {kinds.stored} *)(row + n * o_n))", "0", "value"),
    )
