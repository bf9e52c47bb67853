"""Narrow floats that neither language converts: bfloat16, float8_e4m3fn and float8_e5m2.

Each is described by a :class:`Format`, from which two functions are generated:
``pg_from_CODE(bits)``, a float, and ``pg_to_CODE(x)``, rounded to nearest, ties to even. They
produce the same bits as ml_dtypes, including NaN. The bits of floats are processed as integers, so
that devices that flush subnormal numbers convert them as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Format(NamedTuple):
    """A sign, an exponent and a fraction, from the highest bit down.

    storage: the type of its bits. fraction: number of fraction bits. bias: of the exponent. inf:
    the bits of infinity, None for a format that has NaN instead. largest: the bits of the largest
    number. nan: those of a NaN.
    """

    storage: str
    fraction: int
    bias: int
    inf: int | None
    largest: int
    nan: int


FORMATS = {
    "f16b": Format("pg_u16", 7, 127, 0x7F80, 0x7F7F, 0x7FC0),
    "f8e4m3": Format("pg_u8", 3, 7, None, 0x7E, 0x7F),
    "f8e5m2": Format("pg_u8", 2, 15, 0x7C, 0x7B, 0x7E),
}

# The exponent of bfloat16 is that of float.
_BFLOAT = """\
PG_INLINE pg_f32 pg_from_f16b(pg_u16 bits) { return PG_FROM_BITS_F32((pg_u32)bits << 16); }
PG_INLINE pg_u16 pg_to_f16b(pg_f32 x)
{
    const pg_u32 u = PG_BITS_F32(x);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (pg_u16)(u >> 16 & 0x8000u | 0x7fc0u);
    return (pg_u16)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
"""


def _from(code: str, form: Format) -> str:
    """Numbers below the least exponent are multiples of the least positive number."""
    shift = 23 - form.fraction
    # 2 ** (1 - bias - fraction), by its exponent
    unit = f"PG_FROM_BITS_F32({127 + 1 - form.bias - form.fraction}u << 23)"
    last = form.largest + 1 if form.inf is None else form.inf
    special = f"0x7f800000u | (magnitude > {last:#x}u ? 0x400000u : 0u)"
    if form.inf is None:
        special = "0x7fc00000u"
    return f"""\
PG_INLINE pg_f32 pg_from_{code}({form.storage} bits)
{{
    const pg_u32 magnitude = bits & 0x7fu, sign = (pg_u32)(bits & 0x80u) << 24;
    pg_u32 u = (magnitude << {shift}) + ({127 - form.bias}u << 23);
    if (magnitude < {1 << form.fraction}u)
        u = PG_BITS_F32((pg_f32)(pg_i32)magnitude * {unit});
    else if (magnitude >= {last:#x}u)
        u = {special};
    return PG_FROM_BITS_F32(sign | u);
}}
"""


def _to(code: str, form: Format) -> str:
    """Numbers below the least exponent are rounded by adding the float whose last bit is the least
    positive number: the lowest bits of the sum are the multiple."""
    shift = 23 - form.fraction
    least = f"{128 - form.bias}u << 23"  # the least float whose exponent the format has
    magic = f"{127 + 1 - form.bias - form.fraction + 23}u << 23"
    over = form.nan if form.inf is None else form.inf
    return f"""\
PG_INLINE {form.storage} pg_to_{code}(pg_f32 x)
{{
    const pg_u32 bits = PG_BITS_F32(x), u = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
    pg_u32 magnitude;
    if (u > 0x7f800000u)
        magnitude = {form.nan:#x}u;
    else if (u < ({least})) {{
        magnitude = PG_BITS_F32(PG_FROM_BITS_F32(u) + PG_FROM_BITS_F32({magic})) - ({magic});
    }} else {{
        magnitude = u - ({127 - form.bias}u << 23);
        magnitude = (magnitude + {(1 << (shift - 1)) - 1:#x}u + (magnitude >> {shift} & 1u)) >> {shift};
        if (magnitude > {form.largest:#x}u)
            magnitude = {over:#x}u;
    }}
    return ({form.storage})(sign | magnitude);
}}
"""


def narrow_functions(features: Iterable[str]) -> str:
    """The functions of the formats among *features*."""
    wanted = set(features)
    text = _BFLOAT if "f16b" in wanted else ""
    for code, form in FORMATS.items():
        if code in wanted and code != "f16b":
            text += _from(code, form) + _to(code, form)
    return text
