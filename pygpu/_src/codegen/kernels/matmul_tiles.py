"""Matrix products on GPUs: a group computes a tile of the result, each work-item a block of it.

Operands go through local memory in steps along the summed axis. A step's items are loaded from
global memory into registers while those of the previous step are multiplied, and stored in the
other half of local memory, so that one barrier per step suffices (Volkov and Demmel, "Benchmarking
GPUs to tune dense linear algebra", SC 2008; Nath, Tomov and Dongarra, "An improved MAGMA GEMM for
Fermi GPUs", 2010). A work-item's block consists of pieces of 16 bytes, and the work-items of a
warp are arranged in two dimensions, so that reading a step's items takes few accesses without bank
conflicts.

Rows and columns beyond the matrices are computed from the last ones, and not stored; only items
beyond the end of the summed axis must be zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.template import Template

from . import matmul
from .matmul import DType, Kinds


class Tile(NamedTuple):
    """rows, columns: of a group's tile; deep: of a step along the summed axis; each_row,
    each_column: of a work-item's block; resident: concurrent groups per unit, which limits the
    registers per work-item; zigzag: whether neighbours in a warp are pairs of rows instead of a
    row's columns, with which some tiles read local memory faster."""

    rows: int
    columns: int
    deep: int
    each_row: int
    each_column: int
    resident: int = 1
    zigzag: int = 0

    @property
    def group(self) -> int:
        return self.rows // self.each_row * (self.columns // self.each_column)


class Side(NamedTuple):
    """How an operand is read. along: whether adjacent items are those of the summed axis; vector:
    how many of them are read at once if their address allows it."""

    along: bool
    vector: int


def vector_width(acc: DType) -> int:
    """Items that a work-item reads from local memory in one access, of 16 bytes."""
    return max(16 // acc.itemsize, 1)


def pad(side: Side, acc: DType) -> int:
    """Unused items after a step's row in local memory, against bank conflicts."""
    return vector_width(acc) if side.along else 0


def local_bytes(tile: Tile, acc: DType) -> int:
    """The most local memory per group."""
    return 2 * tile.deep * (tile.rows + tile.columns + 2 * vector_width(acc)) * acc.itemsize


_KERNEL = Template("""\
${arithmetic}typedef $offset mat_off;
typedef $piece_type mat_piece;
typedef struct PG_ALIGN($a_bytes) { $a_stored item[$a_vector]; } mat_a_vector;
typedef struct PG_ALIGN($b_bytes) { $b_stored item[$b_vector]; } mat_b_vector;
typedef struct PG_ALIGN($o_bytes) { $o_stored item[$o_vector]; } mat_o_vector;
#define MAT_READ(to, k) \\
    PG_UNROLL for (int i = 0; i < $a_pieces; i++) \\
        x[to][i]$whole = a_now[(k) * $a_step + i * $lanes_down]$whole; \\
    PG_UNROLL for (int i = 0; i < $b_pieces; i++) \\
        y[to][i]$whole = b_now[(k) * $b_step + i * $lanes_across]$whole;
#define MAT_MULTIPLY(of) \\
    PG_UNROLL for (int r = 0; r < $each_row; r++) \\
        PG_UNROLL for (int c = 0; c < $each_column; c++) \\
            acc[r][c] = mat_add(acc[r][c], x[of][r / $vector_width].item[r % $vector_width], y[of][c / $vector_width].item[c % $vector_width]);
PG_KERNEL void PG_BOUNDS($group, $resident) product($parameters)
{
    $start
    PG_LOCAL mat_piece a_part[2 * $a_half];
    PG_LOCAL mat_piece b_part[2 * $b_half];
    PG_UNUSED PG_LOCAL_PTR mat_t *a_items = (PG_LOCAL_PTR mat_t *)a_part;
    PG_UNUSED PG_LOCAL_PTR mat_t *b_items = (PG_LOCAL_PTR mat_t *)b_part;
    int id = (int)PG_LOCAL_ID(0), lane = id % $lanes, warp = id / $lanes;
    int m_at = warp / $warps_across * $warp_rows + $row_lane * $vector_width;
    int n_at = warp % $warps_across * $warp_columns + $column_lane * $vector_width;
    for (pg_i64 g = PG_GROUP_ID(0); g < total; g += PG_GROUPS(0)) {
        $find
        pg_i64 m0 = tile / across * $rows, n0 = tile % across * $columns;
        mat_t acc[$each_row][$each_column];
        PG_UNROLL for (int r = 0; r < $each_row; r++)
            PG_UNROLL for (int c = 0; c < $each_column; c++)
                acc[r][c] = mat_none();
        $a_declarations
        $b_declarations
        mat_piece x[2][$a_pieces], y[2][$b_pieces];
        PG_UNROLL for (int i = 0; i < $a_pieces * $vector_width; i++)
            x[1][i / $vector_width].item[i % $vector_width] = mat_none();
        PG_UNROLL for (int i = 0; i < $b_pieces * $vector_width; i++)
            y[1][i / $vector_width].item[i % $vector_width] = mat_none();
        int now = 0;
        PG_LOCAL_PTR mat_piece *a_now = a_part, *b_now = b_part;
        PG_ROLLED for (pg_i64 left = depth;; left -= $deep) {
            if (left > 0) {
                $fetch
                a_tile += $deep * a_k; b_tile += $deep * b_k;
            }
            if (left < depth)
                PG_ROLLED for (int k = 0; k < $deep; k += $together) {
                    PG_UNROLL for (int q = 0; q < $together; q += 2) {
                        MAT_MULTIPLY(1)
                        MAT_READ(1, q + 1)
                        MAT_MULTIPLY(0)
                        if (q + 2 < $together || k + $together < $deep) {
                            MAT_READ(0, q + 2)
                        }
                    }
                    a_now += $together * $a_step; b_now += $together * $b_step;
                }
            if (left <= 0)
                break;
            now = 1 - now;
            $put
            PG_BARRIER;
            a_now = a_part + now * $a_half + m_at / $vector_width;
            b_now = b_part + now * $b_half + n_at / $vector_width;
            MAT_READ(0, 0)
        }
        MAT_MULTIPLY(1)
        PG_BARRIER;
        PG_UNUSED int o_wide = PG_ALIGNED(to, $o_bytes) && o_m % $o_bytes == 0;
        PG_UNROLL for (int r = 0; r < $each_row; r++) {
            pg_i64 m = m0 + m_at + r / $vector_width * $row_step + r % $vector_width;
            if (m < M)
                PG_UNROLL for (int i = 0; i < $b_pieces; i++) {
                    pg_i64 n = n0 + n_at + i * $column_step;
                    PG_GLOBAL char *at = to + m * o_m + n * o_n;
                    $store
                }
        }
    }
}
""")


class _Operand:
    """The source that copies an operand's tiles to local memory."""

    def __init__(self, name: str, dtype: DType, side: Side, wide: int, tile: Tile, acc: DType):
        self.name, self.dtype, self.side, self.wide = name, dtype, side, wide
        self.axis, self.length = ("m", "M") if name == "a" else ("n", "N")
        self.group, self.deep, self.vector_width = tile.group, tile.deep, vector_width(acc)
        self.line = wide + pad(side, acc)
        self.stored = dtypes.storage_type(dtype)
        self.vectors = wide * tile.deep // side.vector
        self.slots = -(-self.vectors // tile.group)

    def _slots(self, body: str) -> str:
        """A loop over a work-item's vectors: number v of the tile, at o along the result's axis
        and k."""
        some = self.vectors % self.group != 0
        check = f"if (v < {self.vectors}) " if some else ""
        fast = (self.deep if self.side.along else self.wide) // self.side.vector
        together, apart = f"v % {fast} * {self.side.vector}", f"v / {fast}"
        k, o = (together, apart) if self.side.along else (apart, together)
        return (
            f"PG_UNROLL for (int s = 0; s < {self.slots}; s++) {{ int v = id + s * {self.group}; "
            f"PG_UNUSED int k = {k}, o = {o}; {check}{{ {body} }} }}"
        )

    def declarations(self) -> str:
        """Declare x_next, a slot's items; x_off, where a slot's items are in the tile [bytes];
        x_tile, where the tile's items are; x_wide, whether vectors are aligned."""
        x, axis, vector = self.name, self.axis, self.side.vector
        size = vector * self.dtype.itemsize
        last = 1 if self.side.along else vector
        apart = f"{x}_{axis}" if self.side.along else f"{x}_k"
        body = (
            f"pg_i64 at = {axis}0 + o < {self.length} ? o : {self.length} - {last} - {axis}0; "
            f"{x}_off[s] = (mat_off)(at * {x}_{axis} + k * {x}_k);"
        )
        return (
            f"mat_{x}_vector {x}_next[{self.slots}]; mat_off {x}_off[{self.slots}];\n        "
            f"PG_GLOBAL const char *{x}_tile = from_{x} + {axis}0 * {x}_{axis};\n        "
            f"PG_UNUSED int {x}_wide = PG_ALIGNED({x}_tile, {size}) && {apart} % {size} == 0;\n        "
            + self._slots(body)
        )

    def fetch(self, part: str) -> str:
        """Load the tile's items into x_next. part: "wide", "single", or "rest" where some of them
        are beyond the end of the summed axis, whose length is a multiple of the vector's."""
        x, vector = self.name, self.side.vector
        if part == "wide":
            at = f"({x}_tile + {x}_off[s])"
            return self._slots(f"{x}_next[s] = *(PG_GLOBAL const mat_{x}_vector *){at};")
        item = f"((PG_GLOBAL const {self.stored} *)({x}_tile + {x}_off[s]))[j]"
        load = f"PG_UNROLL for (int j = 0; j < {vector}; j++) {x}_next[s].item[j] = {item};"
        if part == "single":
            return self._slots(load)
        none = "0"
        if self.dtype.kind == "c":
            none = f"pg_{dtypes.code(self.dtype)}_make(0, 0)"
        clear = f"PG_UNROLL for (int j = 0; j < {vector}; j++) {x}_next[s].item[j] = {none};"
        return self._slots(f"if (k < left) {{ {load} }} else {{ {clear} }}")

    def put(self, now: str) -> str:
        """Store x_next in local memory."""
        x, vector = self.name, self.side.vector
        half = self.line * self.deep
        value = f"mat_{x}({dtypes.load(self.dtype, f'{x}_next[s].item', '@')})"
        if self.side.along or vector % self.vector_width:
            at = f"{now} * {half} + "
            at += f"(k + j) * {self.line} + o" if self.side.along else f"k * {self.line} + o + j"
            body = f"{x}_items[{at}] = {value.replace('@', 'j')};"
            return self._slots(f"PG_UNROLL for (int j = 0; j < {vector}; j++) {body}")
        at = (
            f"{now} * {half // self.vector_width} + (k * {self.line} + o) / {self.vector_width} + i"
        )
        item = value.replace("@", f"i * {self.vector_width} + j")
        return self._slots(
            f"PG_UNROLL for (int i = 0; i < {vector // self.vector_width}; i++) {{ mat_piece p; "
            f"PG_UNROLL for (int j = 0; j < {self.vector_width}; j++) p.item[j] = {item}; "
            f"{x}_part[{at}] = p; }}"
        )


def _together(tile: Tile, acc: DType) -> int:
    """How many steps of the sum the innermost loop has, an even number. All of them for the tiles
    of large products (float32 is 1.17 times as fast so, on an H200); for the others some 256
    multiplications, of doubles 128, as more only take longer to compile."""
    if tile.rows * tile.columns * acc.itemsize >= 1 << 16:
        return tile.deep
    each = tile.each_row * tile.each_column * (acc.itemsize // 4 * (2 if acc.kind == "c" else 1))
    return min(max(256 // each // 2 * 2, 2), tile.deep)


def _fetch(a: _Operand, b: _Operand, deep: int) -> str:
    """Load both operands' next step: all of it by vectors, if they are aligned and it is not the
    last one, or item by item."""
    condition, sides = f"left >= {deep}", (a, b)
    vectors = [x for x in sides if x.side.vector > 1]
    condition = " && ".join([condition, *(f"{x.name}_wide" for x in vectors)])
    fast = " ".join(x.fetch("wide" if x in vectors else "single") for x in sides)
    return f"if ({condition}) {{ {fast} }} else {{ {a.fetch('rest')} {b.fetch('rest')} }}"


def _store(kinds: Kinds, vector: int, width: int) -> str:
    """Store acc[r][i * width ...], width items. vector: how many are adjacent, 1 or width."""
    at, check = ("at + j * o_n", "if (n + j < N) ") if vector == 1 else ("at", "")
    item, index = f"((PG_GLOBAL {kinds.stored} *)({at}))", "0" if vector == 1 else "j"
    value = f"acc[r][i * {width} + j]"
    loop = f"PG_UNROLL for (int j = 0; j < {width}; j++)"
    single = f"{loop} {check}{{ {kinds.store(item, index, value)} }}"
    if vector == 1:
        return single
    return (
        f"if (n < N) {{ if (o_wide) {{ mat_o_vector w; {loop} {{ {kinds.store('w.item', 'j', value)} }} "
        f"*(PG_GLOBAL mat_o_vector *)at = w; }} else {{ {single} }} }}"
    )


def _lanes(tile: Tile, width: int) -> dict[str, Any]:
    """How the lanes of a warp divide its part of a tile."""
    lanes = min(32, tile.group)
    across = min(8 if tile.each_row <= tile.each_column else 4, tile.columns // tile.each_column)
    across = max(across, lanes * tile.each_row // tile.rows)
    down = lanes // across
    row_lane, column_lane = f"lane / {across}", f"lane % {across}"
    if tile.zigzag and down >= 2:
        row_lane = f"(lane / {2 * across} * 2 + lane % 2)"
        column_lane = f"(lane / 2 % {across})"
    return {
        "lanes": lanes,
        "row_lane": row_lane,
        "column_lane": column_lane,
        "lanes_across": across,
        "lanes_down": down,
        "warps_across": tile.columns // (across * tile.each_column),
        "warp_rows": down * tile.each_row,
        "warp_columns": across * tile.each_column,
        "row_step": down * width,
        "column_step": across * width,
    }


def source(kinds: Kinds, tile: Tile, a: Side, b: Side, out_vector: int, far: bool) -> str:
    """``product``: out[m, n] = sum over k of a[m, k] * b[n, k], for each item of the stack, by
    groups of tile.group work-items.

    out_vector: items of the result that are stored at once, if they are adjacent along n and their
    address allows it. far: offsets inside a tile need 64 bits.
    """
    acc = matmul.acc_dtype(kinds.number)
    width = vector_width(acc)
    x = _Operand("a", kinds.x, a, tile.rows, tile, acc)
    y = _Operand("b", kinds.y, b, tile.columns, tile, acc)
    kind = f"struct PG_ALIGN({width * acc.itemsize}) {{ mat_t item[{width}]; }}"
    whole = ""
    if acc.char == "f":  # measured: NVIDIA's OpenCL reads these faster than structs
        kind, whole = "union { float4 vector; mat_t item[4]; }", ".vector"
    stored_bytes = (acc if kinds.parts else kinds.out).itemsize
    return _KERNEL.fill(
        _lanes(tile, width),
        arithmetic=matmul.arithmetic(kinds),
        parameters=matmul.parameters(kinds),
        start=matmul.start(kinds),
        find=matmul.find(kinds),
        offset="pg_i64" if far else "pg_i32",
        vector_width=width,
        piece_type=kind,
        whole=whole,
        a_bytes=a.vector * kinds.x.itemsize,
        b_bytes=b.vector * kinds.y.itemsize,
        o_bytes=out_vector * stored_bytes,
        a_vector=a.vector,
        b_vector=b.vector,
        o_vector=out_vector,
        a_stored=x.stored,
        b_stored=y.stored,
        o_stored=kinds.stored,
        a_line=x.line,
        b_line=y.line,
        a_step=x.line // width,
        b_step=y.line // width,
        together=_together(tile, acc),
        a_half=x.line * tile.deep // width,
        b_half=y.line * tile.deep // width,
        a_pieces=tile.each_row // width,
        b_pieces=tile.each_column // width,
        group=tile.group,
        resident=tile.resident,
        rows=tile.rows,
        columns=tile.columns,
        deep=tile.deep,
        each_row=tile.each_row,
        each_column=tile.each_column,
        a_declarations=x.declarations(),
        b_declarations=y.declarations(),
        fetch=_fetch(x, y, tile.deep),
        put=f"{x.put('now')}\n            {y.put('now')}",
        store=_store(kinds, out_vector, width),
    )
