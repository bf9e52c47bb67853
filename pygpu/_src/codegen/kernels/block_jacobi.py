"""Kernels of eigenvalues and singular values of large matrices on GPUs, by Jacobi rotations of
pairs of blocks of columns: each round rotates all blocks by pairs.

Golub and Van Loan, Matrix computations, sections 8.5.6 and 8.6.3 (block Jacobi procedures); the
pairs of a round are a round-robin tournament (Brent and Luk, 1985). Eigenvalues: a pair is
rotated as in eigh_rows.py, by one sweep, and its rotations are applied to the rest of the matrix
from both sides: two launches per round. Singular values: the products of the columns of a
pair are such a matrix, and only columns are rotated (Hestenes, 1958): three launches.
"""

from __future__ import annotations

from .eigh_rows import jacobi_text
from .matrix_group import Group, kernel, prelude

GROUP = 64  # work-items that rotate a block, each 1/8 of its rows and columns

_BLOCK_ROWS = """\
#define LIN_WIDTH $width
#define LIN_N (2 * LIN_WIDTH)
#define LIN_PITCH (LIN_N + 1)
/* Where row i of a pair of blocks is in the matrix, in a round of so many blocks. */
PG_INLINE pg_i64 lin_row(int pair, int i, int round, int blocks)
{
    int turns = blocks - 1, block;
    if (i < LIN_WIDTH)
        block = pair ? (round + pair) % turns : blocks - 1;
    else
        block = (round - pair + turns) % turns;
    return (pg_i64)block * LIN_WIDTH + i % LIN_WIDTH;
}
"""

_PAIRS = """\
    int blocks = 2 * (int)count;
    for (pg_i64 base = PG_GROUP_ID(0) * $teams; base < count; base += PG_GROUPS(0) * $teams) {
        pg_i64 g = base + LIN_WARP;
        int there = g < count, pair = there ? (int)g : 0;
        lin_t r[LIN_N], v[LIN_N];
        pg_i64 mine = lin_row(pair, LIN_ID, (int)round, blocks);
        for (int i = 0; i < LIN_N; i++)
            a[i * LIN_PITCH + LIN_ID] = x[lin_row(pair, i, (int)round, blocks) * size + mine];
        LIN_SYNC;
        int beside = 0;
        PG_UNROLL for (int j = 0; j < LIN_N; j++) {
            r[j] = j <= LIN_ID ? a[LIN_ID * LIN_PITCH + j] : lin_conj(a[j * LIN_PITCH + LIN_ID]);
            r[j] = j == LIN_ID ? lin_of(lin_re(r[j])) : r[j];
            v[j] = lin_of(j == LIN_ID ? (lin_r)1 : (lin_r)0);
            beside |= j != LIN_ID && !(lin_size(r[j]) == (lin_r)0);
        }
        if (pg_warp_vote(beside))
            lin_sweep(r, v, LIN_FIRST, hs, ss);
        PG_UNROLL for (int j = 0; j < LIN_N; j++) a[LIN_ID * LIN_PITCH + j] = r[j];
        LIN_SYNC;
        for (int i = 0; i < LIN_N && there; i++)
            x[lin_row(pair, i, (int)round, blocks) * size + mine] = a[i * LIN_PITCH + LIN_ID];
        LIN_SYNC;
$store_vectors
    }"""


def _block_rows(group: Group, width: int) -> str:
    first = f"#define LIN_FIRST ((int)(PG_LOCAL_ID(0) % 32) / {group.threads} * {group.threads})\n"
    return first + _BLOCK_ROWS.replace("$width", str(width))


_STORE_VECTORS = """\
        PG_UNROLL for (int j = 0; j < LIN_N; j++) a[LIN_ID * LIN_PITCH + j] = v[j];
        LIN_SYNC;
        for (int i = 0; i < LIN_N && there; i++)
            turns[(g * LIN_N + i) * LIN_N + LIN_ID] = a[i * LIN_PITCH + LIN_ID];
        LIN_SYNC;"""


def _body(text: str, group: Group) -> str:
    return text.replace("$teams", str(group.warps)).replace("$store_vectors", _STORE_VECTORS)


def pairs_source(group: Group, width: int, within: bool) -> str:
    """``lin_pairs``: one sweep for each pair of blocks of a round; within: also within the blocks.
    turns: the vectors of each pair."""
    local = [f"lin_r hs[{width}]", f"lin_t ss[{width}]"]
    writes = ["lin_t x", "lin_t turns"]
    numbers = ["round", "size"]
    body = _body(_PAIRS, group)
    text = prelude(group) + _block_rows(group, width) + jacobi_text(group, True, halves=not within)
    return text + kernel(group, "lin_pairs", [], writes, numbers, local, body)


_ROTATE = """\
#define LIN_TILE (LIN_N / 8)
/* c += a b or a^H b, for the items of a work-item: every 8th row and column. */
PG_INLINE void lin_product(lin_t *c, PG_LOCAL_PTR const lin_t *a, int down, int across, int conjugate, PG_LOCAL_PTR const lin_t *b)
{
    int row = LIN_ID / 8, column = LIN_ID % 8;
    LIN_UNROLL_4 for (int k = 0; k < LIN_N; k++) {
        lin_t left[LIN_TILE], right[LIN_TILE];
        PG_UNROLL for (int e = 0; e < LIN_TILE; e++) {
            left[e] = a[(row + 8 * e) * down + k * across];
            left[e] = conjugate ? lin_conj(left[e]) : left[e];
            right[e] = b[k * LIN_PITCH + column + 8 * e];
        }
        PG_UNROLL for (int i = 0; i < LIN_TILE; i++)
            PG_UNROLL for (int j = 0; j < LIN_TILE; j++)
                c[i * LIN_TILE + j] = lin_plus(c[i * LIN_TILE + j], left[i], right[j]);
    }
}
PG_INLINE void lin_clear(lin_t *c)
{
    PG_UNROLL for (int e = 0; e < LIN_TILE * LIN_TILE; e++) c[e] = lin_of((lin_r)0);
}
PG_INLINE void lin_put(PG_LOCAL_PTR lin_t *to, const lin_t *c)
{
    int row = LIN_ID / 8, column = LIN_ID % 8;
    PG_UNROLL for (int i = 0; i < LIN_TILE; i++)
        PG_UNROLL for (int j = 0; j < LIN_TILE; j++)
            to[(row + 8 * i) * LIN_PITCH + column + 8 * j] = c[i * LIN_TILE + j];
}
"""

# Groups: first those of the blocks *above* the diagonal, then those of the vectors.
_ROTATE_BODY = """\
    int pairs = (int)count, blocks = 2 * pairs, step = (int)round, j = LIN_ID % LIN_N;
    int here = (int)PG_GROUP_ID(0), vectors = here >= (int)above, low, high;
    if (vectors) {
        low = (here - (int)above) / pairs;
        high = (here - (int)above) % pairs;
    } else { /* low < high: the pairs below *high* come first */
        high = (int)((1.0f + sqrt(1.0f + 8.0f * (float)here)) / 2.0f);
        while (high * (high - 1) / 2 > here)
            high--;
        while (high * (high + 1) / 2 <= here)
            high++;
        low = here - high * (high - 1) / 2;
    }
    PG_GLOBAL lin_t *m = vectors ? z : x;
    lin_t c[LIN_TILE * LIN_TILE];
    pg_i64 column = lin_row(high, j, step, blocks);
    for (int i = LIN_ID / LIN_N; i < LIN_N; i += $rows) {
        pg_i64 row = vectors ? (pg_i64)low * LIN_N + i : lin_row(low, i, step, blocks);
        a[i * LIN_PITCH + j] = m[row * size + column];
        b[i * LIN_PITCH + j] = turns[((pg_i64)high * LIN_N + i) * LIN_N + j];
    }
    LIN_SYNC;
    lin_clear(c);
    lin_product(c, a, LIN_PITCH, 1, 0, b);
    LIN_SYNC;
    lin_put(a, c);
    if (!vectors) {
        for (int i = LIN_ID / LIN_N; i < LIN_N; i += $rows)
            b[i * LIN_PITCH + j] = turns[((pg_i64)low * LIN_N + i) * LIN_N + j];
        LIN_SYNC;
        lin_clear(c);
        lin_product(c, b, 1, LIN_PITCH, 1, a);
        LIN_SYNC;
        lin_put(a, c);
    }
    LIN_SYNC;
    for (int i = LIN_ID / LIN_N; i < LIN_N; i += $rows) {
        pg_i64 row = vectors ? (pg_i64)low * LIN_N + i : lin_row(low, i, step, blocks);
        m[row * size + column] = a[i * LIN_PITCH + j];
    }
    if (!vectors) { /* and below the diagonal */
        column = lin_row(low, j, step, blocks);
        for (int i = LIN_ID / LIN_N; i < LIN_N; i += $rows)
            x[lin_row(high, i, step, blocks) * size + column] = lin_conj(a[j * LIN_PITCH + i]);
    }"""


def rotate_source(group: Group, width: int) -> str:
    """``lin_rotate_blocks``: rotate the other blocks of a matrix, and the columns of z if there are
    groups for them, by what lin_pairs found."""
    body = _ROTATE_BODY.replace("$rows", str(GROUP // (2 * width)))
    local = [f"lin_t b[{2 * width * (2 * width + 1)}]"]
    text = prelude(group) + _block_rows(group, width) + _ROTATE
    writes = ["lin_t x", "lin_t z"]
    return text + kernel(
        group, "lin_rotate_blocks", ["lin_t turns"], writes, ["round", "size", "above"], local, body
    )


_GRAM = """\
    int pairs = (int)count, blocks = 2 * pairs, step = (int)round, j = LIN_ID % LIN_N;
    int pair = (int)PG_GROUP_ID(0) % pairs, part = (int)PG_GROUP_ID(0) / pairs;
    pg_i64 column = lin_row(pair, j, step, blocks);
    lin_t c[LIN_TILE * LIN_TILE];
    lin_clear(c);
    for (pg_i64 first = part * LIN_N; first < rows; first += parts * LIN_N) {
        for (int i = LIN_ID / LIN_N; i < LIN_N; i += $rows)
            a[i * LIN_PITCH + j] = z[(first + i) * size + column];
        LIN_SYNC;
        lin_product(c, a, 1, LIN_PITCH, 1, a);
        LIN_SYNC;
    }
    lin_put(a, c);
    LIN_SYNC;
    for (int i = LIN_ID / LIN_N; i < LIN_N; i += $rows)
        grams[((pg_i64)PG_GROUP_ID(0) * LIN_N + i) * LIN_N + j] = a[i * LIN_PITCH + j];"""


def gram_source(group: Group, width: int) -> str:
    """``lin_gram_blocks``: the products of the columns of each pair of blocks, in so many parts."""
    body = _GRAM.replace("$rows", str(GROUP // (2 * width)))
    text = prelude(group) + _block_rows(group, width) + _ROTATE
    numbers = ["round", "size", "rows", "parts"]
    return text + kernel(group, "lin_gram_blocks", ["lin_t z"], ["lin_t grams"], numbers, [], body)


_COLUMN_PAIRS = """\
    for (pg_i64 base = PG_GROUP_ID(0) * $teams; base < count; base += PG_GROUPS(0) * $teams) {
        pg_i64 g = base + LIN_WARP;
        int there = g < count;
        lin_t r[LIN_N], v[LIN_N];
        PG_UNROLL for (int j = 0; j < LIN_N; j++) {
            r[j] = lin_of((lin_r)0);
            v[j] = lin_of(j == LIN_ID ? (lin_r)1 : (lin_r)0);
        }
        for (pg_i64 part = 0; part < parts && there; part++) {
            PG_GLOBAL const lin_t *from = grams + (part * count + g) * LIN_N * LIN_N + LIN_ID;
            PG_UNROLL for (int j = 0; j < LIN_N; j++) r[j] = lin_add(r[j], lin_conj(from[j * LIN_N]));
        }
        lin_r mine = lin_re(r[0]);
        PG_UNROLL for (int j = 1; j < LIN_N; j++) mine = j == LIN_ID ? lin_re(r[j]) : mine;
        squares[LIN_ID] = mine;
        LIN_SYNC;
        lin_r most = (lin_r)0; /* the largest cosine */
        PG_UNROLL for (int j = 0; j < LIN_N; j++) {
            lin_r both = sqrt(squares[j]) * sqrt(squares[LIN_ID]), size = lin_abs(r[j]);
            if (j != LIN_ID && squares[j] > LIN_NOTHING && squares[LIN_ID] > LIN_NOTHING && size > most * both)
                most = size / both;
        }
        LIN_SYNC;
        most = lin_largest(most, squares);
        if (pg_warp_vote(most > LIN_EPS))
            lin_sweep(r, v, LIN_FIRST, hs, ss);
        if (there && LIN_ID == 0)
            cosines[round * count + g] = most;
$store_vectors
    }"""


def column_pairs_source(group: Group, width: int, within: bool) -> str:
    """``lin_column_pairs``: rotations, by one sweep, that make the columns of each pair of blocks
    more orthogonal; within: also those within a block. cosines: the largest one of each pair before."""
    n = 2 * width
    local = [f"lin_r squares[{n}]", f"lin_r hs[{width}]", f"lin_t ss[{width}]"]
    body = _body(_COLUMN_PAIRS, group)
    # Squared norms of columns that are nothing beside the largest item.
    nothing = "#define LIN_NOTHING (LIN_EPS * LIN_EPS / (lin_r)256)\n"
    text = prelude(group) + _block_rows(group, width) + nothing
    text += jacobi_text(group, True, relative=True, halves=not within)
    writes, numbers = ["lin_t turns", "lin_r cosines"], ["round", "parts"]
    return text + kernel(group, "lin_column_pairs", ["lin_t grams"], writes, numbers, local, body)


_HERMITIAN = """\
    lin_r scale = ldexp((lin_r)1, (int)power);
    PG_FOR(e, size * size) {
        pg_i64 i = e / size, j = e - i * size;
        lin_t item = lin_of((lin_r)0);
        if (i < n && j < n) {
            int there = upper ? i <= j : i >= j;
            item = there ? from[i * down + j * across] : lin_conj(from[j * down + i * across]);
            item = i == j ? lin_of(lin_re(item)) : item;
        }
        x[e] = lin_scale(item, scale);
        z[e] = lin_of(i == j ? (lin_r)1 : (lin_r)0);
    }"""


def hermitian_source(group: Group) -> str:
    """``lin_hermitian``: 2^power times the Hermitian matrix of a triangle, with zeros after the
    last rows and columns, and the identity matrix."""
    numbers = ["n", "upper", "size", "power", "down", "across"]
    reads, writes = ["lin_t from"], ["lin_t x", "lin_t z"]
    return prelude(group) + kernel(
        group, "lin_hermitian", reads, writes, numbers, [], _HERMITIAN, matrix=False
    )
