"""Counter-based random numbers in the common language: Philox 4x32-10, Threefry 4x32-20, Sobol.

A block of four 32-bit words is a function of a counter and a key, so item i of an array depends
only on i, key and counter, on every device. Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E.
Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11 (2011).
"""

from __future__ import annotations

import re

from .random_functions import NATIVE, UNIT, functions

_TYPES = "typedef struct { pg_u32 v[4]; } pg_words;\n"

_PHILOX = """\
typedef struct { pg_u32 a[10], b[10]; } pg_philox_keys; /* of each round */
PG_INLINE void pg_philox_schedule(pg_words k, pg_philox_keys *keys)
{
    PG_UNROLL
    for (int round = 0; round < 10; round++) {
        keys->a[round] = k.v[0] + (pg_u32)round * 0x9E3779B9u;
        keys->b[round] = k.v[1] + (pg_u32)round * 0xBB67AE85u;
    }
}
PG_INLINE pg_words pg_philox_rounds(pg_words c, const pg_philox_keys *keys)
{
    PG_UNROLL
    for (int round = 0; round < 10; round++) {
        pg_u64 a = (pg_u64)0xD2511F53u * c.v[0], b = (pg_u64)0xCD9E8D57u * c.v[2];
        pg_words next;
        next.v[0] = (pg_u32)(b >> 32) ^ c.v[1] ^ keys->a[round];
        next.v[1] = (pg_u32)b;
        next.v[2] = (pg_u32)(a >> 32) ^ c.v[3] ^ keys->b[round];
        next.v[3] = (pg_u32)a;
        c = next;
    }
    return c;
}
PG_INLINE pg_words pg_philox(pg_words c, pg_words k)
{
    pg_philox_keys keys;
    pg_philox_schedule(k, &keys);
    return pg_philox_rounds(c, &keys);
}
"""

_ROTATIONS = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))


def _threefry() -> str:
    """Unrolled, because arrays and loops keep compilers from vectorizing blocks."""
    lines = [f"pg_u32 k{j} = k.v[{j}];" for j in range(4)]
    lines.append("pg_u32 k4 = 0x1BD11BDAu ^ k0 ^ k1 ^ k2 ^ k3;")
    lines += [f"pg_u32 x{j} = c.v[{j}] + k{j};" for j in range(4)]
    for step in range(20):
        a, b = ("x1", "x3") if step % 2 == 0 else ("x3", "x1")
        r, s = _ROTATIONS[step % 8]
        lines.append(f"PG_MIX({a}, {b}, {r}, {s})")
        if step % 4 == 3:
            n = step // 4 + 1
            lines += [f"x{j} += k{(n + j) % 5};" for j in range(4)]
            lines.append(f"x3 += {n};")
    body = "\n    ".join(lines)
    return f"""\
#define PG_ROTATE(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define PG_MIX(a, b, r, s) \\
    x0 += a; a = PG_ROTATE(a, r); a ^= x0; x2 += b; b = PG_ROTATE(b, s); b ^= x2;
PG_INLINE pg_words pg_threefry(pg_words c, pg_words k)
{{
    {body}
    pg_words result;
    result.v[0] = x0; result.v[1] = x1; result.v[2] = x2; result.v[3] = x3;
    return result;
}}
"""


BLOCKS = {"philox": _TYPES + _PHILOX, "threefry": _TYPES + _threefry()}

_SOBOL = """\
PG_INLINE pg_W pg_sobol(PG_GLOBAL const pg_W *directions, pg_u64 index)
{
    pg_u64 gray = index ^ (index >> 1);
    pg_W x = 0;
    for (int bit = 0; gray != 0 && bit < (int)(8 * sizeof(pg_W)); bit++, gray >>= 1)
        if (gray & 1)
            x ^= directions[bit];
    return x;
}
"""

_NORMAL32 = """\
pg_f32 z[4];
pg_normal32(w.v[0], w.v[1], scale, z);
pg_normal32(w.v[2], w.v[3], scale, z + 2);
"""
_NORMAL64 = """\
pg_f64 z[2];
pg_normal64(w.v[0], w.v[1], w.v[2], w.v[3], scale, z);
"""

# Functions of a uniform number u in (0, 1], by inversion, or in (0, 1) if an end would be infinite
# ("inner"), or of the random words themselves.
_INVERTED = {
    "exponential": "scale * fabs(unit_log(u))",
    "rayleigh": "radius(u, scale)",
    "weibull": "scale == 0 ? scale : pow(fabs(unit_log(u)), 1 / scale)",
    "pareto": "expm1(fabs(unit_log(u)) / scale)",
    "power": "pow(u, 1 / scale)",
    "gumbel": "shift - scale * log(-unit_log(inner))",
    "logistic": "shift + scale * (unit_log(inner) - unit_log(1 - inner))",
    "laplace": "shift + scale * laplace(words)",
    "cauchy": "shift + scale * cauchy(words)",
}


# The numbers y of a block of bounded integers: in one test, because almost none is drawn again.
_BOUNDED_BLOCK = """\
pg_uWORD y[ITEMS];
int again = 0;
SHORTPG_UNROLL
for (int j = 0; j < ITEMS; j++)
    again |= pg_scaledWORD(pg_wordWORD(w, j), (pg_uWORD)scale + 1u, &y[j]) < (pg_uWORD)surplus;
PG_ROLLED
for (int turn = 0; again && turn < ITEMS; turn++) { /* by selection: registers have no index */
    pg_uWORD x = pg_wordWORD(w, 0);
    PG_UNROLL
    for (int j = 1; j < ITEMS; j++)
        x = turn == j ? pg_wordWORD(w, j) : x;
    x = pg_boundedWORD(x, (pg_uWORD)scale, at, turn, c_high, k_low);
    PG_UNROLL
    for (int j = 0; j < ITEMS; j++)
        y[j] = turn == j ? x : y[j];
}
"""
# Nearly all ranges of 64-bit integers have fewer than 2**32 of them.
_SHORT = """\
if (scale < 0xFFFFFFFFu) {
    PG_UNROLL
    for (int j = 0; j < ITEMS; j++) {
        const pg_u64 low = (pg_u64)w.v[2 * j + 1] * ((pg_u32)scale + 1u);
        const pg_u64 high = (pg_u64)w.v[2 * j] * ((pg_u32)scale + 1u) + (low >> 32);
        y[j] = high >> 32;
        again |= (pg_u32)high == 0u && (pg_u32)low < (pg_u32)surplus;
    }
} else
    """


def _inverted(kind: str, code: str) -> str:
    bits = code[1:]
    words = "w.v[2 * j], w.v[2 * j + 1]" if code == "f64" else "w.v[j]"
    names = r"\b(log|unit_log|radius|laplace|cauchy)\b"
    formula = re.sub(names, rf"pg_\g<1>{bits}", _INVERTED[kind])
    formula = re.sub(r"\bu\b", f"pg_open{bits}(words)", formula)
    formula = re.sub(r"\binner\b", f"pg_inner{bits}(words)", formula)
    return formula.replace("words", words)


def distribution(kind: str, code: str) -> tuple[int, str, str]:
    """Return (items per block, statements before, expression of item j) from the words ``w``.

    kind: "uniform" (shift + scale * [0, 1)), "bits", "integer" (shift + [0, scale)), "bounded"
    (shift + [0, scale], without bias), "normal" (shift + scale * z), "log_normal" or a key of
    _INVERTED. code: of the item's type, as returned by :func:`pygpu._src.codegen.dtypes.code`.
    """
    if kind == "bounded":
        word = "64" if code[1:] == "64" else "32"
        before = _BOUNDED_BLOCK.replace("SHORT", _SHORT if word == "64" else "")
        before = before.replace("WORD", word).replace("ITEMS", str(128 // int(word)))
        return 128 // int(word), before, f"(pg_{code})((pg_u64)shift + y[j])"
    if kind in _INVERTED:
        return (2 if code == "f64" else 4), "", _inverted(kind, code)
    if kind == "bits":
        if code[1:] == "64":
            return 2, "", f"(pg_{code})((pg_u64)w.v[2 * j] << 32 | w.v[2 * j + 1])"
        return 4, "", f"(pg_{code})w.v[j]"
    if kind == "integer":  # the upper half of a product of 64 random bits and the range
        return (
            2,
            "",
            f"(pg_{code})(shift + (pg_i64)pg_below((pg_u64)w.v[2 * j] << 32 | w.v[2 * j + 1], "
            "scale))",
        )
    double = code == "f64"
    if kind == "uniform":
        unit = "pg_unit64(w.v[2 * j], w.v[2 * j + 1])" if double else "pg_unit32(w.v[j])"
        return (2 if double else 4), "", f"shift + scale * {unit}"
    before = _NORMAL64 if double else _NORMAL32
    item = "shift + z[j]"
    if kind == "log_normal":
        item = f"exp({item})"
    return (2 if double else 4), before, item


_BELOW = """\
PG_INLINE pg_u64 pg_below(pg_u64 x, pg_u64 n)
{
    pg_u64 low = (x & 0xFFFFFFFFu) * (n & 0xFFFFFFFFu), a = (x >> 32) * (n & 0xFFFFFFFFu);
    pg_u64 b = (x & 0xFFFFFFFFu) * (n >> 32), c = (x >> 32) * (n >> 32);
    pg_u64 middle = (low >> 32) + (a & 0xFFFFFFFFu) + (b & 0xFFFFFFFFu);
    return c + (a >> 32) + (b >> 32) + (middle >> 32);
}
"""


# Without bias: D. Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019).
# The upper half of a product of a random word and the range; a word whose lower half is in the
# surplus of 2**bits modulo the range is drawn again, from counters that no other item uses.
_BOUNDED = """\
PG_INLINE pg_words pg_again(pg_u64 at, int j, pg_u32 times, pg_u64 c_high, pg_u64 k_low)
{
    pg_words c, k;
    c.v[0] = (pg_u32)at; c.v[1] = (pg_u32)(at >> 32); c.v[2] = (pg_u32)c_high;
    c.v[3] = (pg_u32)(c_high >> 32) + (times << 16 | (pg_u32)(j + 1));
    k.v[0] = (pg_u32)k_low; k.v[1] = (pg_u32)(k_low >> 32); k.v[2] = k.v[3] = 0;
    return pg_philox(c, k);
}
PG_INLINE pg_u32 pg_word32(pg_words w, int j)
{ return w.v[j]; }
PG_INLINE pg_u64 pg_word64(pg_words w, int j)
{ return (pg_u64)w.v[2 * j] << 32 | w.v[2 * j + 1]; }
/* the upper half of a product, or the word itself for n = 2**bits, and the lower half */
PG_INLINE pg_u32 pg_scaled32(pg_u32 x, pg_u32 n, pg_u32 *high)
{
    const pg_u64 product = (pg_u64)x * n;
    *high = n == 0u ? x : (pg_u32)(product >> 32);
    return (pg_u32)product;
}
PG_INLINE pg_u64 pg_scaled64(pg_u64 x, pg_u64 n, pg_u64 *high)
{
    *high = n == 0u ? x : pg_below(x, n);
    return x * n;
}
PG_INLINE pg_u32 pg_bounded32(pg_u32 x, pg_u32 most, pg_u64 at, int j, pg_u64 c_high, pg_u64 k_low)
{
    const pg_u32 n = most + 1u;
    if (n == 0u)
        return x;
    pg_u64 product = (pg_u64)x * n;
    if ((pg_u32)product < n) {
        const pg_u32 surplus = (0u - n) % n;
        for (pg_u32 times = 0; (pg_u32)product < surplus; times++) {
            pg_words w = pg_again(at, j, times, c_high, k_low);
            product = (pg_u64)w.v[0] * n;
        }
    }
    return (pg_u32)(product >> 32);
}
PG_INLINE pg_u64 pg_bounded64(pg_u64 x, pg_u64 most, pg_u64 at, int j, pg_u64 c_high, pg_u64 k_low)
{
    const pg_u64 n = most + 1u;
    if (n == 0u)
        return x;
    if (x * n < n) {
        const pg_u64 surplus = (0u - n) % n;
        for (pg_u32 times = 0; x * n < surplus; times++) {
            pg_words w = pg_again(at, j, times, c_high, k_low);
            x = (pg_u64)w.v[0] << 32 | w.v[1];
        }
    }
    return pg_below(x, n);
}
"""
BOUNDED = _BELOW + _BOUNDED

# The counter of a block; c_low and c_high are parameters of the kernel. If only its lowest word
# changes, the compiler moves two of the 20 products of Philox out of the loop.
_COUNTER = """\
PG_UNUSED const pg_u64 at = c_low + (pg_u64)({block});
        pg_words c;
        c.v[0] = (pg_u32)c_low + (pg_u32)({block}); c.v[1] = {second};
        c.v[2] = (pg_u32)c_high; c.v[3] = {fourth};"""
_CARRIED = """
        if (at < c_low) {
            const pg_u64 high = c_high + 1u;
            c.v[2] = (pg_u32)high; c.v[3] = (pg_u32)(high >> 32);
        }"""


def _counter(block: str, carries: bool, in_keys: bool = False) -> str:
    """in_keys: the keys contain the second and the fourth word."""
    second = f"(pg_u32)({'at' if carries else 'c_low'} >> 32)"
    fourth = "(pg_u32)(c_high >> 32)"
    if in_keys:
        second = fourth = "0u"
    text = _COUNTER.format(block=block, second=second, fourth=fourth)
    return text + (_CARRIED if carries else "")


_WHOLE = ("integer", "bounded")
_SIDE_BY_SIDE = 64  # blocks at a time


# The first round adds words of the counter and of the key: those that all blocks share are added
# before the loop.
_KEYS = """\
    pg_philox_keys keys;
    pg_philox_schedule(k, &keys);
    {folded}
    PG_UNROLL
    for (int round = 0; round < 10; round++) {{
        PG_OPAQUE(keys.a[round]);
        PG_OPAQUE(keys.b[round]);
    }}
"""
_FOLDED = "keys.a[0] ^= (pg_u32)(c_low >> 32); keys.b[0] ^= (pg_u32)(c_high >> 32);"


def blocks_at_once(kind: str, code: str) -> int:
    """How many blocks a work-item of a GPU makes in a turn of its loop: two where it has constants
    to load in each turn, a twentieth of the instructions."""
    return 2 if kind == "normal" and code == "f32" else 1


def _blocks_one_by_one(
    generator: str, code: str, items: int, before: str, item: str, carries: bool, sides: int
) -> str:
    """For GPUs: full blocks, in stores of 16 bytes, and then the others: one at the end, or all of
    an unaligned array. Tests in the first loop would cost a tenth of the rate. sides: in so many
    parts of the array at once."""
    each = min(items, 128 // int(code[1:])) if code[0] != "b" else items
    vector = f"PG_VECTOR(pg_{code}, {each})"
    many = items // each
    philox = generator == "philox"
    folded = philox and not carries
    block_words = "pg_philox_rounds(c, &keys)" if philox else f"pg_{generator}(c, k)"
    index = "pg_i64" if carries else "pg_u32"

    def loop(first: str, end: str, store: str, sides: int) -> str:
        return f"""\
    for ({index} turn = ({index})({first} + PG_ID(0)); turn < ({index})({end});
         turn += ({index})PG_IDS(0)) {{
        PG_UNROLL
        for (int side = 0; side < {sides}; side++) {{
        const {index} block = turn + ({index})side * ({index})part;
        {_counter("block", carries, folded)}
        pg_words w = {block_words};
        {before}
        {vector} items[{many}];
        PG_UNROLL
        for (int j = 0; j < {items}; j++)
            items[j / {each}].item[j % {each}] = {item};
        {store}
        }}
    }}
"""

    whole = f"""\
PG_UNROLL
        for (int j = 0; j < {many}; j++)
            ((PG_GLOBAL {vector} *)out)[(pg_i64)block * {many} + j] = items[j];"""
    rest = f"""\
PG_UNROLL
        for (int j = 0; j < {items}; j++)
            if ((pg_i64)block * {items} + j < n)
                out[(pg_i64)block * {items} + j] = items[j / {each}].item[j % {each}];"""
    return f"""\
    const int aligned = PG_ALIGNED(out, sizeof({vector}));
    const pg_i64 part = aligned ? n / {items * sides} : 0;
{_KEYS.format(folded=_FOLDED if folded else "") if philox else ""}\
{loop("0", "part", whole, sides)}{loop(f"{sides} * part", "blocks", rest, 1)}"""


def _blocks_side_by_side(generator: str, items: int, before: str, item: str, carries: bool) -> str:
    """For CPUs: the words of many blocks first, in a loop that a compiler can vectorize."""

    def store(j: str, bound: str) -> str:
        return f"{bound}out[first + lane * {items} + {j}] = {item};"

    def loop(body: str) -> str:
        return f"""\
for (int lane = 0; lane < {_SIDE_BY_SIDE}; lane++) {{
                PG_UNUSED const pg_u64 at = c_low + (pg_u64)(part * {_SIDE_BY_SIDE} + lane);
                pg_words w;
                w.v[0] = w0[lane]; w.v[1] = w1[lane]; w.v[2] = w2[lane]; w.v[3] = w3[lane];
                {before}
                PG_UNROLL
                for (int j = 0; j < {items}; j++)
                    {body}
            }}"""

    return f"""\
    PG_FOR(part, (blocks + {_SIDE_BY_SIDE - 1}) / {_SIDE_BY_SIDE}) {{
        pg_u32 w0[{_SIDE_BY_SIDE}], w1[{_SIDE_BY_SIDE}], w2[{_SIDE_BY_SIDE}], w3[{_SIDE_BY_SIDE}];
        PG_INDEPENDENT
        for (int lane = 0; lane < {_SIDE_BY_SIDE}; lane++) {{
        {_counter(f"part * {_SIDE_BY_SIDE} + lane", carries)}
            pg_words w = pg_{generator}(c, k);
            w0[lane] = w.v[0]; w1[lane] = w.v[1]; w2[lane] = w.v[2]; w3[lane] = w.v[3];
        }}
        const pg_i64 first = part * {_SIDE_BY_SIDE * items};
        if (first + {_SIDE_BY_SIDE * items} <= n) {{
            {loop(store("j", ""))}
        }} else {{
            {loop(store("j", f"if (first + lane * {items} + j < n) "))}
        }}
    }}
"""


def fill_text(
    generator: str, kind: str, code: str, cpu: bool = False, carries: bool = False
) -> tuple[str, str]:
    """Return the source and the name of the kernel that fills an array of n items.

    Its arguments: the array, four words of the counter, four of the key, scale, shift, and n.
    carries: the counter's lowest word may overflow, or the number of blocks and of work-items be
    2**32 or more in all.
    """
    items, before, item = distribution(kind, code)
    scale = "pg_u64" if kind in _WHOLE else "pg_f64" if code == "f64" else "pg_f32"
    shift = "pg_i64" if kind in _WHOLE else scale
    bounded = kind == "bounded"
    helpers = BOUNDED if bounded else _BELOW
    start = ""
    if bounded:
        word = "pg_u64" if items == 2 else "pg_u32"
        start = f"const {word} count = ({word})scale + 1u, surplus = "
        start += f"count == 0u ? 0u : (({word})0u - count) % count;"
    name = f"pg_{generator}_{kind}_{code}"
    if cpu:
        blocks = _blocks_side_by_side(generator, items, before, item, carries)
    else:
        sides = blocks_at_once(kind, code)
        blocks = _blocks_one_by_one(generator, code, items, before, item, carries, sides)
    text = f"""\
{BLOCKS[generator]}{NATIVE}{UNIT}{functions(code)}{helpers}PG_DECLARE_VECTOR(pg_{code}, {min(items, 128 // int(code[1:]))})
PG_KERNEL void {name}(PG_ARRAY(pg_{code}, out), pg_u64 c_low, pg_u64 c_high, pg_u64 k_low,
                      pg_u64 k_high, {scale} scale, {shift} shift, pg_i64 n)
{{
    PG_START(pg_{code}, out);
    const pg_i64 blocks = (n + {items - 1}) / {items};
    pg_words k;
    k.v[0] = (pg_u32)k_low; k.v[1] = (pg_u32)(k_low >> 32);
    k.v[2] = (pg_u32)k_high; k.v[3] = (pg_u32)(k_high >> 32);
    {start}
{blocks}}}
"""
    return text, name


# Numbers of one item, as many as it needs: of type pg_real, whose literals are PG_R(...). Words
# are selected, because registers have no index.
_DRAWS = """\
typedef struct { pg_words c, w; const pg_philox_keys *keys; int left; } pg_draws;
PG_INLINE void pg_draws_keys(pg_philox_keys *keys, pg_u64 key)
{
    pg_words k;
    k.v[0] = (pg_u32)key; k.v[1] = (pg_u32)(key >> 32); k.v[2] = k.v[3] = 0;
    pg_philox_schedule(k, keys);
    PG_UNROLL
    for (int round = 0; round < 10; round++) {
        PG_OPAQUE(keys->a[round]);
        PG_OPAQUE(keys->b[round]);
    }
}
PG_INLINE void pg_draws_start(pg_draws *d, pg_u64 low, pg_u64 high, const pg_philox_keys *keys)
{
    d->left = 0;
    d->keys = keys;
    d->c.v[0] = (pg_u32)low; d->c.v[1] = (pg_u32)(low >> 32);
    d->c.v[2] = (pg_u32)high; d->c.v[3] = (pg_u32)(high >> 32);
}
PG_INLINE void pg_draws_fill(pg_draws *d, int count)
{
    if (d->left == 0) {
        d->c.v[3] += 1u << 16; /* far from the counters of other items and other arrays */
        d->w = pg_philox_rounds(d->c, d->keys);
        d->left = count;
    }
    d->left--;
}
"""
_DRAWS_OF = {
    "f64": """\
typedef pg_f64 pg_real;
#define PG_R(x) x
#define pg_log(x) pg_log64(x)
#define pg_draws_upper(d) (d->left ? d->w.v[2] : d->w.v[0])
#define pg_draws_lower(d) (d->left ? d->w.v[3] : d->w.v[1])
PG_INLINE pg_f64 pg_next_normal(pg_draws *d) /* G. E. P. Box, M. E. Muller (1958) */
{
    pg_f64 z[2];
    pg_draws_fill(d, 2);
    const pg_u32 a = pg_draws_upper(d), b = pg_draws_lower(d);
    pg_draws_fill(d, 2);
    pg_normal64(a, b, pg_draws_upper(d), pg_draws_lower(d), 1.0, z);
    return z[0];
}
PG_INLINE pg_f64 pg_next_unit(pg_draws *d) /* (0, 1] */
{
    pg_draws_fill(d, 2);
    return pg_open64(pg_draws_upper(d), pg_draws_lower(d));
}
PG_INLINE pg_f64 pg_next_inner(pg_draws *d) /* (0, 1) */
{
    pg_draws_fill(d, 2);
    return pg_inner64(pg_draws_upper(d), pg_draws_lower(d));
}
""",
    "f32": """\
typedef pg_f32 pg_real;
#define PG_R(x) x##f
#define pg_log(x) pg_log32(x)
PG_INLINE pg_u32 pg_draws_word(const pg_draws *d)
{
    const pg_u32 first = d->left & 1 ? d->w.v[1] : d->w.v[0];
    const pg_u32 second = d->left & 1 ? d->w.v[3] : d->w.v[2];
    return d->left & 2 ? second : first;
}
PG_INLINE pg_f32 pg_next_normal(pg_draws *d)
{
    pg_f32 z[2];
    pg_draws_fill(d, 4);
    const pg_u32 a = pg_draws_word(d);
    pg_draws_fill(d, 4);
    pg_normal32(a, pg_draws_word(d), 1.0f, z);
    return z[0];
}
PG_INLINE pg_f32 pg_next_unit(pg_draws *d)
{
    pg_draws_fill(d, 4);
    return pg_open32(pg_draws_word(d));
}
PG_INLINE pg_f32 pg_next_inner(pg_draws *d)
{
    pg_draws_fill(d, 4);
    return pg_inner32(pg_draws_word(d));
}
""",
}


def draws(code: str) -> str:
    """Philox and the functions that draw the numbers for one item, of type "f32" or "f64"."""
    return f"{BLOCKS['philox']}{NATIVE}{UNIT}{functions(code)}{_DRAWS}{_DRAWS_OF[code]}"


POISSON = """\
typedef struct { pg_real limit, b, a, alpha, vr, log_mean; } pg_poisson_terms; /* of a mean */
PG_INLINE pg_poisson_terms pg_poisson_setup(pg_real mean)
{
    pg_poisson_terms t = {PG_R(0.0), PG_R(0.0), PG_R(0.0), PG_R(0.0), PG_R(0.0), PG_R(0.0)};
    if (mean < PG_R(10.0)) {
        t.limit = exp(-mean);
    } else {
        t.b = PG_R(0.931) + PG_R(2.53) * sqrt(mean);
        t.a = PG_R(-0.059) + PG_R(0.02483) * t.b;
        t.alpha = PG_R(1.1239) + PG_R(1.1328) / (t.b - PG_R(3.4));
        t.vr = PG_R(0.9277) - PG_R(3.6224) / (t.b - PG_R(2.0));
        t.log_mean = log(mean);
    }
    return t;
}
PG_INLINE pg_real pg_poisson(pg_draws *d, pg_real mean, pg_poisson_terms t)
{
    if (!(mean > PG_R(0.0)))
        return PG_R(0.0);
    if (mean < PG_R(10.0)) { /* products of uniform numbers */
        pg_real product = pg_next_unit(d), k = PG_R(0.0);
        while (product > t.limit) {
            product *= pg_next_unit(d);
            k += PG_R(1.0);
        }
        return k;
    }
    /* W. Hoermann, "The transformed rejection method for generating Poisson random variables"
     * (1993), PTRS */
    for (;;) {
        pg_real u = pg_next_unit(d) - PG_R(0.5), v = pg_next_unit(d), us = PG_R(0.5) - fabs(u);
        pg_real k = floor((PG_R(2.0) * t.a / us + t.b) * u + mean + PG_R(0.43));
        if (us >= PG_R(0.07) && v <= t.vr)
            return k;
        if (k < PG_R(0.0) || (us < PG_R(0.013) && v > us))
            continue;
        if (log(v * t.alpha / (t.a / (us * us) + t.b))
            <= -mean + k * t.log_mean - lgamma(k + PG_R(1.0)))
            return k;
    }
}
"""


def poisson_text(code: str, in_place: bool) -> tuple[str, str]:
    """Return the source and the name of the kernel that fills an array with Poisson-distributed
    numbers; *in_place*: with the means that it contains. Its arguments: the array, n, counter,
    key, the mean."""
    name = f"pg_poisson_{code}_{int(in_place)}"
    setup = "const pg_poisson_terms terms = pg_poisson_setup(mean);"
    text = f"""\
{draws("f64")}{POISSON}
PG_KERNEL void {name}(PG_ARRAY(pg_{code}, out), pg_i64 n, pg_u64 c_low, pg_u64 c_high,
                      pg_u64 k_low, pg_f64 mean)
{{
    PG_START(pg_{code}, out);
    pg_philox_keys keys;
    pg_draws_keys(&keys, k_low);
    {"" if in_place else setup}
    PG_FOR(i, n) {{
        pg_u64 low = c_low + (pg_u64)i, high = c_high + (low < c_low ? 1 : 0);
        pg_draws d;
        pg_draws_start(&d, low, high, &keys);
        {f"mean = (pg_f64)out[i]; {setup}" if in_place else ""}
        out[i] = (pg_{code})pg_poisson(&d, mean, terms);
    }}
}}
"""
    return text, name


def sobol_text(kind: str, code: str, word: str, scrambled: bool) -> tuple[str, str]:
    """Return the source and the name of the kernel for quasirandom numbers in CUDA: item i is
    number start + i / dims of dimension i % dims.

    Its arguments: the array, n, direction numbers, scramble constants (unused if not scrambled),
    dims, start, scale, shift.
    """
    bits = word[1:]
    real = "pg_f32" if code == "f32" else "pg_f64"
    if kind == "bits":
        item = f"(pg_{code})(x >> {int(bits) - int(code[1:])})"  # the upper bits are the best
    else:
        shift = {"32f32": 8, "32f64": 0, "64f32": 40, "64f64": 11}[bits + code]
        digits = int(bits) - shift
        item = f"(({real})(x >> {shift}) + ({real})0.5) * ({real}){2.0**-digits!r}"
        if code == "f32":
            item = f"({real})(x >> {shift}) * ({real}){2.0**-digits!r}"
            if kind != "uniform":
                item = (
                    f"(({real})(x >> {shift + 1}) + ({real})0.5) * ({real}){2.0 ** (1 - digits)!r}"
                )
        if kind != "uniform":
            item = f"shift + scale * normcdfinv({item})"
        if kind == "log_normal":
            item = f"exp({item})"
    name = f"pg_sobol_{kind}_{code}_{word}_{int(scrambled)}"
    text = f"""\
{_SOBOL.replace("pg_W", f"pg_{word}")}
PG_KERNEL void {name}(PG_ARRAY(pg_{code}, out), pg_i64 n, PG_ARRAY_IN(pg_{word}, directions),
                      PG_ARRAY_IN(pg_{word}, scramble), pg_i64 dims, pg_u64 start,
                      pg_f64 scale_, pg_f64 shift_)
{{
    PG_START(pg_{code}, out);
    PG_START_IN(pg_{word}, directions);
    {f"PG_START_IN(pg_{word}, scramble);" if scrambled else ""}
    const {real} scale = ({real})scale_, shift = ({real})shift_;
    (void)scale; (void)shift;
    PG_FOR(i, n) {{
        const pg_i64 d = i % dims;
        pg_{word} x = pg_sobol(directions + d * {bits}, start + (pg_u64)(i / dims));
        {"x ^= scramble[d];" if scrambled else ""}
        out[i] = {item};
    }}
}}
"""
    return text, name
