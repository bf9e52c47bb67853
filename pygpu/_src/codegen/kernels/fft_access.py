"""How transform kernels read and write lines: conversions, zero padding, halves of Hermitian
lines, chirps, and tables of roots of unity.

The half-length transform of 2h real numbers is that of h complex ones z[j] = x[2j] + i x[2j+1],
after which X[k] = A + w B with A = (Z[k] + conj(Z[h-k])) / 2, B = (Z[k] - conj(Z[h-k])) / 2i and w
= exp(-2 pi i k / 2h): Cooley, Lewis and Welch, The fast Fourier transform algorithm: programming
considerations in the calculation of sine, cosine and Laplace transforms (1970).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pygpu._src.codegen import dtypes

DType = np.dtype[Any]
# A table stores so many roots of unity directly; more are computed as products of two.
DIRECT = 1 << 12


class Side(NamedTuple):
    """The array that a kernel reads, or the one that it writes.

    kind: how items of the complex line are stored. "plain": as items; "pairs": as two real ones;
    "half": computed from two items of the first half of a Hermitian line of even length;
    "hermitian": as an item of that half, or the conjugate of one, for odd lengths. lines_first:
    neighbouring work-items process neighbouring lines. unit: the stride is the item's size. limit:
    there may be fewer items (when reading: zeros follow), or fewer are wanted. swap: exchange real
    and imaginary parts, which makes a transform the inverse one. before: the same, before the
    factor. factor: "chirp" or "filter", a table whose items multiply.
    """

    dtype: DType
    kind: str = "plain"
    lines_first: bool = False
    unit: bool = True
    limit: bool = False
    conj: bool = False
    swap: bool = False
    before: bool = False
    factor: str = ""


class Segment(NamedTuple):
    """A part of a kernel's table. kind: "stage" (p = the stage's width, q = its radix), "roots" (p of
    them), "coarse" and "fine" (the roots of p, by q bits), "turns" (the factors of q numbers of p
    columns, those of a number together), "chirp" (of p), "filter" (of a chirp of p, transformed, q
    items)."""

    kind: str
    p: int
    q: int = 0

    @property
    def size(self) -> int:
        if self.kind == "stage":
            return self.p * (self.q - 1)
        if self.kind == "coarse":
            return -(-self.p >> self.q) if self.p % (1 << self.q) == 0 else (self.p >> self.q) + 1
        if self.kind == "fine":
            return 1 << self.q
        if self.kind == "turns":
            return self.p * self.q
        return self.q if self.kind == "filter" else self.p


def root_segments(n: int) -> list[Segment]:
    """The parts of the table that roots() of n needs."""
    if n <= DIRECT:
        return [Segment("roots", n)]
    bits = (n.bit_length() + 1) // 2
    return [Segment("coarse", n, bits), Segment("fine", n, bits)]


def roots(name: str, n: int, offsets: dict[Segment, int]) -> str:
    """``fft_root_NAME(table, m)``: exp(-2 pi i m / n) for 0 <= m < n. A large table would need as
    much memory traffic as the data, so the root is then the product of a root and one near 1,
    whose difference from 1 is stored, to lose little by rounding."""
    head = f"PG_INLINE fft_complex fft_root_{name}(PG_GLOBAL const fft_complex *table, pg_u32 m)\n"
    if n <= DIRECT:
        return f"{head}{{\n    return table[{offsets[Segment('roots', n)]} + m];\n}}\n"
    coarse, fine = root_segments(n)
    return f"""{head}{{
    fft_complex a = table[{offsets[coarse]} + (m >> {coarse.q})];
    fft_complex b = table[{offsets[fine]} + (m & {(1 << coarse.q) - 1})];
    fft_complex w;
    w.re = a.re + (a.re * b.re - a.im * b.im);
    w.im = a.im + (a.re * b.im + a.im * b.re);
    return w;
}}
"""


def _pointer(side: Side, index: str, *, const: bool) -> str:
    storage = dtypes.storage_type(side.dtype)
    kind = f"PG_GLOBAL {'const ' if const else ''}{storage} *"
    if side.unit:
        return f"(({kind})p + ({index}))"
    return f"(({kind})(p + ({index}) * step))"


def _read(side: Side, index: str, real: DType) -> tuple[str, str]:
    """Expressions for the parts of an item."""
    text = dtypes.load(side.dtype, _pointer(side, index, const=True), "0")
    if side.dtype.kind == "c":
        return f"{text}.re", f"{text}.im"
    if dtypes.code(side.dtype) == "f16" and real.itemsize == 4:
        return text, "0"
    return f"(fft_real)({text})", "0"


def _fetch(side: Side, name: str, index: str) -> str:
    """Declare the complex number *name*: an item, or zero after the end."""
    code = "c64" if side.dtype.char in "efF" else "c128"
    real = np.dtype("f4" if code == "c64" else "f8")
    x, y = _read(side, index, real)
    if side.dtype.kind == "c":
        item = dtypes.load(side.dtype, _pointer(side, index, const=True), "0")
        get = f"pg_{dtypes.code(side.dtype)} item = {item}; {name}.re = (fft_real)item.re; "
        get += f"{name}.im = (fft_real)item.im;"
    else:
        get = f"{name}.re = {x}; {name}.im = {y};"
    if side.limit:
        get = f"if (({index}) < have) {{ {get} }}"
    else:
        get = f"{{ {get} }}"
    return f"fft_complex {name}; {name}.re = 0; {name}.im = 0; {get}"


def load_function(
    side: Side, whole: int, table: dict[str, int], chirp: int, suffix: str = ""
) -> str:
    """``fft_load(p, i, step, have, table)``: read number i of the line at p. whole: the length of
    the real line. table: the position of the chirp, of that length, in the table. suffix: of the
    function's name."""
    lines = []
    if side.kind == "plain":
        lines.append(_fetch(side, "v", "i"))
    elif side.kind == "pairs":
        real = "f32" if side.dtype.char in "ef" else "f64"
        lines.append(f"fft_complex v; {_fetch(side, 'first', '2 * i')}")
        lines.append(f"{_fetch(side, 'second', '2 * i + 1')}")
        plain = "v.re = first.re; v.im = second.re;"
        lines.append(plain)
        if side.unit and not side.limit and dtypes.code(side.dtype) == real:
            lines = [
                "fft_complex v; PG_GLOBAL const fft_real *q = (PG_GLOBAL const fft_real *)p + 2 * i;",
                "if (PG_ALIGNED(p, sizeof(fft_complex))) v = *(PG_GLOBAL const fft_complex *)q;",
                "else { v.re = q[0]; v.im = q[1]; }",
            ]
    elif side.kind == "hermitian":
        lines.append(f"fft_index k = i <= {whole // 2} ? i : {whole} - i;")
        lines.append(_fetch(side, "v", "k"))
        lines.append("if (i == 0) v.im = 0;")
        lines.append(f"if (i > {whole // 2}) v.im = -v.im;")
    else:
        half = whole // 2
        lines.append(_fetch(side, "a", "i"))
        lines.append(_fetch(side, "b", f"{half} - i"))
        lines.append("if (i == 0) { a.im = 0; b.im = 0; }")
        if side.conj:
            lines.append("a.im = -a.im; b.im = -b.im;")
        # Z = (a + conj(b)) + i conj(w) (a - conj(b))
        lines.append("fft_complex w = fft_root_whole(table, (pg_u32)i), d, v;")
        lines.append("d.re = a.re - b.re; d.im = a.im + b.im;")
        lines.append("v.re = (a.re + b.re) - (w.re * d.im - w.im * d.re);")
        lines.append("v.im = (a.im - b.im) + (w.re * d.re + w.im * d.im);")
    if side.conj and side.kind != "half":
        lines.append("v.im = -v.im;")
    if side.swap:
        lines.append("{ fft_real t = v.re; v.re = v.im; v.im = t; }")
    if side.factor:
        lines.append(_times(table[side.factor]))
        zero = "fft_complex zero; zero.re = 0; zero.im = 0; return zero;"
        lines.insert(0, f"if (i >= {chirp}) {{ {zero} }}")
    body = "\n    ".join(lines)
    return f"""\
PG_INLINE fft_complex fft_load{suffix}(PG_GLOBAL const char *p, fft_index i, fft_index step,
                                 fft_index have, PG_GLOBAL const fft_complex *table)
{{
    {body}
    return v;
}}
"""


def _times(offset: int) -> str:
    return (
        f"{{ fft_complex f = table[{offset} + i]; fft_real t = v.re * f.re - v.im * f.im; "
        "v.im = v.re * f.im + v.im * f.re; v.re = t; }"
    )


def store_function(side: Side, table: dict[str, int], scaled: bool, suffix: str = "") -> str:
    """``fft_store(p, i, step, have, scale, table, v)``: store v as number i of the line at p; skip
    those from *have* on. suffix: of the function's name."""
    lines = []
    if side.limit:
        lines.append("if (i >= have) return;")
    swap = "{ fft_real t = v.re; v.re = v.im; v.im = t; }"
    if side.before:
        lines.append(swap)
    if side.factor:
        lines.append(_times(table[side.factor]))
    if side.swap:
        lines.append(swap)
    if scaled:
        lines.append("v.re *= scale; v.im *= scale;")
    if side.conj:
        lines.append("v.im = -v.im;")
    wide = "f32" if side.dtype.char in "efF" else "f64"
    of = np.dtype("f4" if wide == "f32" else "f8")
    if side.kind == "pairs":
        first, second = (_pointer(side, k, const=False) for k in ("2 * i", "2 * i + 1"))
        stores = dtypes.store(side.dtype, first, "0", "v.re", of)
        stores += " " + dtypes.store(side.dtype, second, "0", "v.im", of)
        if side.unit and dtypes.code(side.dtype) == wide:
            lines.append(
                "if (PG_ALIGNED(p, sizeof(fft_complex))) ((PG_GLOBAL fft_complex *)p)[i] = v;"
            )
            lines.append(f"else {{ {stores} }}")
        else:
            lines.append(stores)
    elif side.dtype.kind == "c":
        lines.append(f"*{_pointer(side, 'i', const=False)} = v;")
    else:
        lines.append(dtypes.store(side.dtype, _pointer(side, "i", const=False), "0", "v.re", of))
    body = "\n    ".join(lines)
    return f"""\
PG_INLINE void fft_store{suffix}(PG_GLOBAL char *p, fft_index i, fft_index step, fft_index have,
                         fft_real scale, PG_GLOBAL const fft_complex *table, fft_complex v)
{{
    {body}
}}
"""
