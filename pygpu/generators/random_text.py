"""Counter-based random numbers in the common language: Philox 4x32-10, Threefry 4x32-20, Sobol.

A block of four 32-bit words is a function of a counter and a key, so item i of an array depends
only on i, key and counter, on every device. Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E.
Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11 (2011).
"""

from __future__ import annotations

__all__ = ["BLOCKS", "SOBOL", "distribution", "fill_text"]

_TYPES = "typedef struct { pg_u32 v[4]; } pg_words;\n"

_PHILOX = """\
PG_INLINE pg_words pg_philox(pg_words c, pg_words k)
{
    pg_u32 k0 = k.v[0], k1 = k.v[1];
    for (int round = 0; round < 10; round++) {
        pg_u64 a = (pg_u64)0xD2511F53u * c.v[0], b = (pg_u64)0xCD9E8D57u * c.v[2];
        pg_words next;
        next.v[0] = (pg_u32)(b >> 32) ^ c.v[1] ^ k0;
        next.v[1] = (pg_u32)b;
        next.v[2] = (pg_u32)(a >> 32) ^ c.v[3] ^ k1;
        next.v[3] = (pg_u32)a;
        c = next;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}
"""

_THREEFRY = """\
#define PG_ROTATE(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define PG_MIX(a, b, r, s) \\
    x0 += a; a = PG_ROTATE(a, r); a ^= x0; x2 += b; b = PG_ROTATE(b, s); b ^= x2;
#define PG_INJECT(n) \\
    x0 += key[(n) % 5]; x1 += key[((n) + 1) % 5]; x2 += key[((n) + 2) % 5]; x3 += key[((n) + 3) %
    5] + (n);
PG_INLINE pg_words pg_threefry(pg_words c, pg_words k)
{
    pg_u32 key[5];
    key[4] = 0x1BD11BDAu;
    for (int j = 0; j < 4; j++) {
        key[j] = k.v[j];
        key[4] ^= k.v[j];
    }
    pg_u32 x0 = c.v[0] + key[0], x1 = c.v[1] + key[1], x2 = c.v[2] + key[2], x3 = c.v[3] + key[3];
    for (pg_u32 n = 1; n <= 5; n++) {
        if (n % 2) {
            PG_MIX(x1, x3, 10, 26)
            PG_MIX(x3, x1, 11, 21)
            PG_MIX(x1, x3, 13, 27)
            PG_MIX(x3, x1, 23, 5)
        } else {
            PG_MIX(x1, x3, 6, 20)
            PG_MIX(x3, x1, 17, 11)
            PG_MIX(x1, x3, 25, 10)
            PG_MIX(x3, x1, 18, 20)
        }
        PG_INJECT(n)
    }
    pg_words result;
    result.v[0] = x0; result.v[1] = x1; result.v[2] = x2; result.v[3] = x3;
    return result;
}
"""

BLOCKS = {"philox": _TYPES + _PHILOX, "threefry": _TYPES + _THREEFRY}

SOBOL = """\
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

_UNIT = """\
PG_INLINE pg_f32 pg_unit32(pg_u32 w) /* [0, 1) */
{ return (pg_f32)(w >> 8) * 5.9604644775390625e-8f; }
PG_INLINE pg_f32 pg_open32(pg_u32 w) /* (0, 1] */
{ return ((pg_f32)(w >> 8) + 1.0f) * 5.9604644775390625e-8f; }
#ifdef PG_FP64
PG_INLINE pg_f64 pg_unit64(pg_u32 a, pg_u32 b)
{ return (pg_f64)(((pg_u64)a << 32 | b) >> 11) * 1.1102230246251565e-16; }
PG_INLINE pg_f64 pg_open64(pg_u32 a, pg_u32 b)
{ return ((pg_f64)(((pg_u64)a << 32 | b) >> 11) + 1.0) * 1.1102230246251565e-16; }
#endif
"""

_NORMAL32 = """\
pg_f32 r0 = sqrt(-2.0f * log(pg_open32(w.v[0]))), r1 = sqrt(-2.0f * log(pg_open32(w.v[2])));
pg_f32 t0 = 2.0f * pg_unit32(w.v[1]), t1 = 2.0f * pg_unit32(w.v[3]);
pg_f32 z[4] = {r0 * cospi(t0), r0 * sinpi(t0), r1 * cospi(t1), r1 * sinpi(t1)};
"""
_NORMAL64 = """\
pg_f64 r = sqrt(-2.0 * log(pg_open64(w.v[0], w.v[1]))), t = 2.0 * pg_unit64(w.v[2], w.v[3]);
pg_f64 z[2] = {r * cospi(t), r * sinpi(t)};
"""


def distribution(kind: str, code: str) -> tuple[int, str, str]:
    """(items of a block, statements before, expression of item j) from the words ``w``.

    kind: "uniform" (shift + scale * [0, 1)), "bits", "integer" (shift + [0, scale)), "normal"
    (shift + scale * z), "log_normal". code: of the item's type, as :func:`pygpu.core.dtypes.code`
    gives it.
    """
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
    item = "shift + scale * z[j]"
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


def fill_text(generator: str, kind: str, code: str) -> tuple[str, str]:
    """The text and the name of the kernel that fills an array of n items.

    Its arguments: the array, n, four words of the counter, four of the key, scale and shift.
    """
    items, before, item = distribution(kind, code)
    scale = "pg_u64" if kind == "integer" else "pg_f64" if code == "f64" else "pg_f32"
    shift = "pg_i64" if kind == "integer" else scale
    name = f"pg_{generator}_{kind}_{code}"
    text = f"""\
{BLOCKS[generator]}{_UNIT}{_BELOW}PG_DECLARE_VECTOR(pg_{code}, {items})
PG_KERNEL void {name}(PG_ARRAY(pg_{code}, out), pg_i64 n, pg_u64 c_low, pg_u64 c_high,
                      pg_u64 k_low, pg_u64 k_high, {scale} scale, {shift} shift)
{{
    PG_START(pg_{code}, out);
    const pg_i64 blocks = (n + {items - 1}) / {items};
    const int aligned = PG_ALIGNED(out, sizeof(PG_VECTOR(pg_{code}, {items})));
    pg_words k;
    k.v[0] = (pg_u32)k_low; k.v[1] = (pg_u32)(k_low >> 32);
    k.v[2] = (pg_u32)k_high; k.v[3] = (pg_u32)(k_high >> 32);
    PG_FOR(block, blocks) {{
        pg_u64 low = c_low + (pg_u64)block, high = c_high + (low < c_low ? 1 : 0);
        pg_words c;
        c.v[0] = (pg_u32)low; c.v[1] = (pg_u32)(low >> 32);
        c.v[2] = (pg_u32)high; c.v[3] = (pg_u32)(high >> 32);
        pg_words w = pg_{generator}(c, k);
        {before}
        PG_VECTOR(pg_{code}, {items}) items;
        for (int j = 0; j < {items}; j++)
            items.item[j] = {item};
        pg_i64 first = block * {items};
        if (aligned && first + {items} <= n)
            ((PG_GLOBAL PG_VECTOR(pg_{code}, {items}) *)out)[block] = items;
        else
            for (int j = 0; j < {items}; j++)
                if (first + j < n)
                    out[first + j] = items.item[j];
    }}
}}
"""
    return text, name
