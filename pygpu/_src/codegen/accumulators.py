"""The accumulators of reductions, as source of the common language.

An :class:`Operation` defines the accumulator (the type ``red_acc``), how an item is added to it,
how two accumulators are joined, and which result is stored. The kernels around it are in
:mod:`.kernels.reduction`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

from pygpu._src.util.frozen import Frozen

from . import dtypes

DType = np.dtype[Any]


class Operation(Frozen):
    """One reduction for given dtypes.

    text: declares ``red_acc``, ``red_none()`` (for no items), ``red_item(acc, x[, y], i)`` (adds
    an item with index i among the reduced ones), ``red_join(a, b)``, for sums and similar
    ``red_begin(acc, value)`` (joins an initial value), and ``red_store(out, acc, number, count,
    ddof)``, which stores the result at out[0]. acc_bytes: an upper bound of the size of a red_acc,
    which is stored in scratch memory between two launches. inputs: dtypes of the operands. number:
    the type of items and intermediate results, and of the parameter ``initial``. plain: a red_acc
    is a number. block: if not empty, declares ``red_block(acc, x_row, start, n)`` for CPUs: it
    adds the n items x_row[start], ..., in a form that a compiler can vectorize, for operations
    whose single steps it cannot.
    """

    key: tuple[Any, ...]
    text: str
    acc_bytes: int
    inputs: tuple[DType, ...]
    out: DType
    number: DType
    features: frozenset[str]
    plain: bool
    block: str
    scalars: tuple[str, ...] = ()  # types of additional parameters of red_item()


_LIMITS: dict[str, tuple[str, str]] = {  # lowest, highest
    "b8": ("0", "1"),
    "i8": ("-128", "127"),
    "u8": ("0", "255"),
    "i16": ("-32768", "32767"),
    "u16": ("0", "65535"),
    "i32": ("(-2147483647 - 1)", "2147483647"),
    "u32": ("0", "4294967295U"),
    "i64": ("(-0x7fffffffffffffffL - 1)", "0x7fffffffffffffffL"),
    "u64": ("0", "0xffffffffffffffffUL"),
    "t64": ("(-0x7fffffffffffffffL)", "0x7fffffffffffffffL"),  # NaT is less than all of these
    **dict.fromkeys(("f16", "f16b", "f8e4m3", "f8e5m2"), ("-PG_INF_F32", "PG_INF_F32")),
    "f32": ("-PG_INF_F32", "PG_INF_F32"),
    "f64": ("-PG_INF_F64", "PG_INF_F64"),
}


def _isnan(code: str, x: str) -> str:
    if code[0] == "c":
        return f"(({x}).re != ({x}).re || ({x}).im != ({x}).im)"
    return f"({x} != {x})" if code[0] == "f" else "0"


def _make(code: str, re: str, im: str) -> str:
    return f"pg_{code}_make({re}, {im})" if code[0] == "c" else re


def _sum_like(kind: str, x: DType, number: DType) -> tuple[str, str, str, str]:
    """Return (type, none, item as a red_acc, join) of sums and products."""
    code = dtypes.code(number)
    value = dtypes.cast("x", x, number)
    if code[0] == "c":
        none = "pg_C_make(-ZERO, -ZERO)".replace("pg_C", f"pg_{code}").replace(
            "ZERO", "0.0f" if code == "c64" else "0.0"
        )
        return f"pg_{code}", none, value, f"pg_{code}_add(a, b)"
    if code[0] == "f":
        kind_type = dtypes.compute_type(number)
        zero = "-0.0f" if kind_type == "pg_f32" else "-0.0"
        none = zero if kind == "sum" else f"({kind_type})1"
        return kind_type, none, value, "a + b" if kind == "sum" else "a * b"
    if code == "t64":
        return "pg_i64", "0", value, "pg_t64_add(a, b)"
    # signed sums wrap around as unsigned ones, for which that is defined
    bits = 1 if code == "b8" else int(code[1:])
    acc = "pg_u64" if bits == 64 else "pg_u32"
    wide = f"({acc})(pg_i64)({value})" if code[0] == "i" else f"({acc})({value})"
    if code == "b8":
        return "pg_u32", "0" if kind == "sum" else "1", wide, "a | b" if kind == "sum" else "a & b"
    return acc, "0" if kind == "sum" else "1", wide, "a + b" if kind == "sum" else "a * b"


def _plain(acc: str, none: str, item: str, join: str, parameters: str = "X x") -> str:
    return f"""\
typedef {acc} red_acc;
PG_INLINE red_acc red_none(void) {{ return {none}; }}
PG_INLINE red_acc red_join(red_acc a, red_acc b) {{ return {join}; }}
PG_INLINE red_acc red_item(red_acc a, {parameters}, pg_i64 i)
{{
    red_acc b = {item};
    return {join};
}}
"""


def _begin(number: DType, item: str) -> str:
    """Define red_begin for an initial value *v* of dtype *number*; *item* converts it to a
    red_acc."""
    return f"""\
PG_INLINE red_acc red_begin(red_acc a, {dtypes.compute_type(number)} v)
{{
    red_acc b = {item};
    return red_join(b, a);
}}
"""


def _store(value: str, number: DType, out: DType, before: str = "") -> str:
    real = "pg_f64" if dtypes.needs_fp64(number, out) else "pg_f32"
    stored = dtypes.storage_type(out)
    return f"""\
PG_INLINE void red_store(PG_GLOBAL {stored} *out, red_acc a, pg_i64 count, pg_real ddof)
{{
    {before}{dtypes.store(out, "out", "0", value, number)}
}}
""".replace("pg_real", real)


def _number_of_acc(number: DType, value: str) -> str:
    """Return a sum's accumulator as a value of *number*'s compute type."""
    code = dtypes.code(number)
    if code == "b8":
        return f"(pg_b8)({value} != 0)"
    return f"(pg_{code})({value})" if code[0] in "iu" else value


def _divide(number: DType, value: str, by: str) -> str:
    code = dtypes.code(number)
    if code[0] == "c":
        part = "pg_f32" if code == "c64" else "pg_f64"
        return f"pg_{code}_make(({value}).re / ({part})({by}), ({value}).im / ({part})({by}))"
    if code == "t64":
        return f"{value} == PG_NAT || {by} == 0 ? PG_NAT : {value} / ({by})"
    return f"{value} / ({dtypes.compute_type(number)})({by})"


def _size(acc: str) -> int:
    """Return the bytes of a type of the common language."""
    code = acc.removeprefix("pg_")
    return 1 if code == "b8" else int(code[1:]) // 8


def _sum(kind: str, x: DType, number: DType, out: DType) -> tuple[str, int]:
    if kind == "prod" and number.kind == "c":
        return _complex_product(x, number, out)
    acc, none, item, join = _sum_like("sum" if kind == "mean" else kind, x, number)
    text = _plain(acc, none, item, join)
    text += _begin(number, _sum_like(kind, number, number)[2].replace("x", "v"))
    value = _number_of_acc(number, "a")
    if kind == "mean":
        value = _divide(number, value, "count")
    return text + _store(value, number, out), _size(acc)


def _complex_product(x: DType, number: DType, out: DType) -> tuple[str, int]:
    """The empty product is not 1, because 1 * z is not z if z has an infinite part."""
    code = dtypes.code(number)
    text = f"""\
typedef struct {{ pg_{code} v; pg_i32 some; }} red_acc;
PG_INLINE red_acc red_none(void) {{ red_acc a; a.v = pg_{code}_make(1, 0); a.some = 0; return a; }}
PG_INLINE red_acc red_join(red_acc a, red_acc b)
{{
    if (!a.some)
        return b;
    if (b.some)
        a.v = pg_{code}_mul(a.v, b.v);
    return a;
}}
PG_INLINE red_acc red_item(red_acc a, X x, pg_i64 i)
{{
    red_acc b;
    b.v = {dtypes.cast("x", x, number)};
    b.some = 1;
    return red_join(a, b);
}}
PG_INLINE red_acc red_begin(red_acc a, pg_{code} v)
{{
    red_acc b;
    b.v = v;
    b.some = 1;
    return red_join(b, a);
}}
"""
    return text + _store("a.v", number, out), 32


def _mean_of_some(x: DType, number: DType, out: DType) -> tuple[str, int]:
    """The mean if the number of items is known only at the end."""
    acc, none, item, join = _sum_like("sum", x, number)
    text = f"""\
typedef struct {{ {acc} v; pg_i64 n; }} red_acc;
PG_INLINE red_acc red_none(void) {{ red_acc a; a.v = {none}; a.n = 0; return a; }}
PG_INLINE {acc} red_add({acc} a, {acc} b) {{ return {join}; }}
PG_INLINE red_acc red_join(red_acc a, red_acc b)
{{
    a.v = red_add(a.v, b.v);
    a.n += b.n;
    return a;
}}
PG_INLINE red_acc red_item(red_acc a, X x, pg_i64 i)
{{
    a.v = red_add(a.v, {item});
    a.n++;
    return a;
}}
"""
    return text + _store(_divide(number, "a.v", "a.n"), number, out), 32


def _extremum(kind: str, x: DType, out: DType) -> tuple[str, int]:
    code = dtypes.code(x)
    acc = dtypes.compute_type(x)
    less = "min" in kind
    if code[0] == "c":
        real = "F32" if code == "c64" else "F64"
        sign = "" if less else "-"
        none = f"pg_{code}_make({sign}PG_INF_{real}, {sign}PG_INF_{real})"
        first = f"pg_{code}_lt(a, b)" if less else f"pg_{code}_lt(b, a)"
        join = f"{_isnan(code, 'a')} ? a : {_isnan(code, 'b')} ? b : {first} ? a : b"
    else:
        none = f"({acc}){_LIMITS[code][1 if less else 0]}"
        first = "a < b" if less else "a > b"
        join = f"{first} || a != a ? a : b" if code[0] == "f" else f"{first} ? a : b"
        if code == "t64" and not less:  # NaT, the least value, wins
            join = f"a == PG_NAT || (b != PG_NAT && {first}) ? a : b"
    text = _plain(acc, none, "x", join) + _begin(x, "v") + _store("a", x, out)
    return text, _size(acc)


def _peak_to_peak(x: DType, out: DType) -> tuple[str, int]:
    code, acc = dtypes.code(x), dtypes.compute_type(x)
    lowest, highest = _LIMITS[code] if code[0] != "c" else ("", "")
    if code[0] == "c":
        real = "F32" if code == "c64" else "F64"
        highest = f"pg_{code}_make(PG_INF_{real}, PG_INF_{real})"
        lowest = f"pg_{code}_make(-PG_INF_{real}, -PG_INF_{real})"
        lt, nan = (
            f"pg_{code}_lt(a, b)",
            _isnan(code, "a") + " ? a : " + _isnan(code, "b") + " ? b : ",
        )
        low, high = f"{nan}{lt} ? a : b", f"{nan}{lt} ? b : a"
        value = f"pg_{code}_sub(a.high, a.low)"
    else:
        nan = " || a != a" if code[0] == "f" else ""
        low, high = f"a < b{nan} ? a : b", f"a > b{nan} ? a : b"
        highest, lowest = f"({acc}){highest}", f"({acc}){lowest}"
        unsigned = f"pg_u{code[1:]}" if code[0] in "iu" else acc
        value = f"({acc})(({unsigned})a.high - ({unsigned})a.low)"
        if code == "t64":  # where a.low is NaT if there is one
            value = "pg_t64_subtract(a.high, a.low)"
    text = f"""\
typedef struct {{ {acc} low, high; }} red_acc;
PG_INLINE red_acc red_none(void) {{ red_acc a; a.low = {highest}; a.high = {lowest}; return a; }}
PG_INLINE {acc} red_low({acc} a, {acc} b) {{ return {low}; }}
PG_INLINE {acc} red_high({acc} a, {acc} b) {{ return {high}; }}
PG_INLINE red_acc red_join(red_acc a, red_acc b)
{{
    a.low = red_low(a.low, b.low);
    a.high = red_high(a.high, b.high);
    return a;
}}
PG_INLINE red_acc red_item(red_acc a, X x, pg_i64 i)
{{
    a.low = red_low(a.low, x);
    a.high = red_high(a.high, x);
    return a;
}}
"""
    return text + _store(value, x, out), 32


def _position(kind: str, x: DType, out: DType) -> tuple[str, int]:
    """argmin and argmax: the first position of the least or greatest item, or of a NaN."""
    code, acc = dtypes.code(x), dtypes.compute_type(x)
    p, q = ("b", "a") if kind == "argmin" else ("a", "b")
    if code[0] == "c":
        before = f"pg_{code}_lt({p}.v, {q}.v)"
        equal = f"pg_{code}_eq(a.v, b.v)"
        zero = f"pg_{code}_make(0, 0)"
    else:
        before, equal, zero = f"{p}.v < {q}.v", "a.v == b.v", "0"
    if code == "t64" and kind == "argmax":  # NaT, the least value, wins
        before = "a.v != PG_NAT && (b.v == PG_NAT || a.v < b.v)"
    nans = ""
    if code[0] in "fc":
        nans = f"""\
    int a_nan = {_isnan(code, "a.v")}, b_nan = {_isnan(code, "b.v")};
    if (a_nan || b_nan)
        return a_nan && (!b_nan || a.i < b.i) ? a : b;
"""
    x_first, y_first = ("x", "a.v") if kind == "argmin" else ("a.v", "x")
    if code[0] == "c":
        sooner = f"pg_{code}_lt({x_first}, {y_first})"
        old_nan, new_nan = _isnan(code, "a.v"), _isnan(code, "x")
        sooner = f"{new_nan} ? !{old_nan} : !{old_nan} && {sooner}"
    else:
        sooner = f"{x_first} < {y_first}" + (" || (x != x && a.v == a.v)" * (code[0] == "f"))
        if code == "t64" and kind == "argmax":
            sooner = "a.v != PG_NAT && (x == PG_NAT || a.v < x)"
    text = f"""\
typedef struct {{ pg_i64 i; {acc} v; }} red_acc;
PG_INLINE red_acc red_none(void) {{ red_acc a; a.v = {zero}; a.i = -1; return a; }}
PG_INLINE red_acc red_join(red_acc a, red_acc b)
{{
    if (a.i < 0 || b.i < 0)
        return a.i < 0 ? b : a;
{nans}    return ({before}) || ({equal} && b.i < a.i) ? b : a;
}}
PG_INLINE red_acc red_item(red_acc a, X x, pg_i64 i) /* i is above those before */
{{
    if (a.i < 0 || ({sooner})) {{
        a.v = x;
        a.i = i;
    }}
    return a;
}}
"""
    return text + _store("a.i", np.dtype(np.int64), out), 32


def _truth(kind: str, x: DType, out: DType) -> tuple[str, int]:
    true = "((x).re != 0 || (x).im != 0)" if x.kind == "c" else "(x != 0)"
    if kind == "count_nonzero":
        text = _plain("pg_i64", "0", f"{true} ? 1 : 0", "a + b")
        return text + _store("a", np.dtype(np.int64), out), 8
    none, join = ("0", "a | b") if kind == "any" else ("1", "a & b")
    text = _plain("pg_u32", none, f"{true} ? 1 : 0", join)
    return text + _store("(pg_b8)a", np.dtype(np.bool_), out), 4


def _variance(kind: str, x: DType, number: DType, out: DType) -> tuple[str, int]:
    """Welford's means and squares, joined according to Chan, Golub and LeVeque (1983). Means are
    stored relative to an item, so that a variance far below the squares of the items does not
    vanish."""
    code = dtypes.code(number)
    real = {"c64": "pg_f32", "c128": "pg_f64"}.get(code) or dtypes.compute_type(number)
    value = dtypes.cast("x", x, number)
    parts = ["re", "im"] if code[0] == "c" else ["re"]
    each = [f"({value}).{p}" if code[0] == "c" else value for p in parts]
    fields = ", ".join(f"{p}, {p}_zero" for p in parts)
    none = " ".join(f"a.{p} = 0; a.{p}_zero = 0;" for p in parts)
    begin = " ".join(f"a.{p}_zero = {v};" for p, v in zip(parts, each, strict=True))
    step = "".join(
        f"""\
    {real} x{p} = {v} - a.{p}_zero, d{p} = x{p} - a.{p};
    a.{p} += d{p} / a.n;
    a.m2 += d{p} * (x{p} - a.{p});
"""
        for p, v in zip(parts, each, strict=True)
    )
    join = "".join(
        f"""\
    {real} d{p} = (b.{p}_zero - a.{p}_zero) + (b.{p} - a.{p});
    a.{p} += d{p} * share;
    a.m2 += d{p} * d{p} * (b.n * rest);
"""
        for p in parts
    )
    result = "sqrt(value)" if kind == "std" else "value"
    by = f"({real})(count < 0 ? a.n : ({real})count) - ({real})ddof"
    before = f"""\
{real} divisor = {by};
    {real} value = a.m2 / (divisor > 0 ? divisor : 0);
    """
    text = f"""\
typedef struct {{ {real} n, {fields}, m2; }} red_acc;
PG_INLINE red_acc red_none(void) {{ red_acc a; a.n = 0; a.m2 = 0; {none} return a; }}
PG_INLINE red_acc red_join(red_acc a, red_acc b)
{{
    {real} n = a.n + b.n;
    if (a.n == 0)
        return b;
    if (b.n == 0)
        return a;
    {real} share = b.n / n, rest = a.n / n;
    a.m2 += b.m2;
{join}    a.n = n;
    return a;
}}
PG_INLINE red_acc red_item(red_acc a, X x, pg_i64 i)
{{
    if (a.n == 0) {{ {begin} }}
    a.n += 1;
{step}    return a;
}}
"""
    real_dtype = np.dtype({"c64": "f4", "c128": "f8"}.get(code, number))
    return text + _store(result, real_dtype, out, before), 48


def _dot(kind: str, x: DType, y: DType, number: DType, out: DType) -> tuple[str, int]:
    code = dtypes.code(number)
    a, b = dtypes.cast("x", x, number), dtypes.cast("y", y, number)
    acc, none, _, join = _sum_like("sum", number, number)
    if code[0] == "c":
        if kind == "vdot":
            a = f"pg_{code}_conj({a})"
        item = f"pg_{code}_mul({a}, {b})"
    elif code == "b8":
        item = f"({a} & {b})"
    elif code[0] in "iu":
        item = f"({acc})(pg_i64)({a}) * ({acc})(pg_i64)({b})"
    else:
        item = f"{a} * {b}"
    text = _plain(acc, none, item, join, "X x, Y y")
    return text + _store(_number_of_acc(number, "a"), number, out), _size(acc)


_BLOCK = """\
PG_INLINE red_acc red_block(red_acc acc, PG_GLOBAL const STORED *x_row, pg_i64 start, int n)
{
    NUMBER lanes[16];
    x_row += start;
BODY}
"""

_VARIANCE_BLOCK = """\
    int m = n / 16 * 16;
    red_acc part;
    NUMBER zero = LOAD(0);
    part.re_zero = zero;
    for (int k = 0; k < 16; k++)
        lanes[k] = 0;
    for (int i = 0; i < m; i += 16)
        for (int k = 0; k < 16; k++)
            lanes[k] += LOAD(i + k) - zero;
    part.re = 0;
    for (int k = 0; k < 16; k++)
        part.re += lanes[k];
    for (int i = m; i < n; i++)
        part.re += LOAD(i) - zero;
    part.n = n;
    part.re /= n;
    for (int k = 0; k < 16; k++)
        lanes[k] = 0;
    for (int i = 0; i < m; i += 16)
        for (int k = 0; k < 16; k++) {
            NUMBER d = LOAD(i + k) - zero - part.re;
            lanes[k] += d * d;
        }
    part.m2 = 0;
    for (int k = 0; k < 16; k++)
        part.m2 += lanes[k];
    for (int i = m; i < n; i++) {
        NUMBER d = LOAD(i) - zero - part.re;
        part.m2 += d * d;
    }
    return red_join(acc, part);
"""

_POSITION_BLOCK = """\
    int m = n / 16 * 16;
    NUMBER best = LOAD(0);
    for (int k = 0; k < 16; k++)
        lanes[k] = best;
    for (int i = 0; i < m; i += 16)
        for (int k = 0; k < 16; k++) {
            NUMBER x = LOAD(i + k);
            lanes[k] = x BETTER lanes[k]ISNAN(x) ? x : lanes[k];
        }
    for (int i = m; i < n; i++) {
        NUMBER x = LOAD(i);
        lanes[0] = x BETTER lanes[0]ISNAN(x) ? x : lanes[0];
    }
    for (int k = 0; k < 16; k++)
        best = lanes[k] BETTER bestISNAN(lanes[k]) ? lanes[k] : best;
    if (acc.i >= 0 && !(best BETTER acc.v)NOTNAN)
        return acc;
    for (int i = 0; i < n; i++) {
        NUMBER x = LOAD(i);
        if (x == bestBOTHNAN)
            return red_item(acc, x, start + i);
    }
    return acc;
"""


def _block(kind: str, x: DType, number: DType) -> str:
    if x.kind == "c" or number.kind == "c" or dtypes.is_date(x):
        return ""
    load = dtypes.load(x, "x_row", "@")
    if kind in ("var", "std"):
        body = _VARIANCE_BLOCK
    elif kind in ("argmin", "argmax"):
        body, number = _POSITION_BLOCK.replace("BETTER", "<" if kind == "argmin" else ">"), x
        floating = dtypes.kind(x) == "f"
        body = re.sub(r"ISNAN\(([^()]+)\)", r" || \1 != \1" if floating else "", body)
        body = body.replace("NOTNAN", " && (best == best || acc.v != acc.v)" if floating else "")
        body = body.replace("BOTHNAN", " || (x != x && best != best)" if floating else "")
    else:
        return ""
    load = dtypes.cast(load, x, number)
    text = _BLOCK.replace("BODY", body).replace("STORED", dtypes.storage_type(x))
    text = text.replace("NUMBER", dtypes.compute_type(number))
    while "LOAD(" in text:
        before, _, rest = text.partition("LOAD(")
        index, _, rest = rest.partition(")")
        text = f"{before}({load.replace('@', index)}){rest}"
    return text


def fused(base: Operation, step: Any, arrays: tuple[bool, ...]) -> Operation:
    """Make a reduction of the results of an elementwise Operation with several operands, each an
    array or (where *arrays* says so) a number."""
    kinds = [dtypes.compute_type(d) for d in step.inputs]
    given = [f"{k} in{i}" for i, (k, array) in enumerate(zip(kinds, arrays)) if array]
    numbers = [f"{k} in{i}" for i, (k, array) in enumerate(zip(kinds, arrays)) if not array]
    start = " ".join(f"PG_UNUSED const {k} x{i} = in{i};" for i, k in enumerate(kinds))
    text = base.text.replace("red_item(", "red_item_of(")
    text += f"""\
{step.helpers}PG_INLINE red_acc red_item({", ".join(["red_acc a", *given, "pg_i64 i", *numbers])})
{{
    {start}
    {dtypes.compute_type(step.outputs[0])} y0;
    {step.body}
    return red_item_of(a, y0, i);
}}
"""
    inputs = tuple(d for d, array in zip(step.inputs, arrays) if array)
    scalars = tuple(k for k, array in zip(kinds, arrays) if not array)
    return Operation(
        ("fused", step.key, *base.key),
        text,
        base.acc_bytes,
        inputs,
        base.out,
        base.number,
        base.features | step.features | frozenset(dtypes.features(*step.inputs)),
        base.plain,
        "",
        scalars,
    )


@cache
def operation(
    kind: str, inputs: tuple[DType, ...], number: DType, out: DType, some: bool = False
) -> Operation:
    """Return the reduction *kind* of arrays of dtypes *inputs*, computed in *number*, stored as
    *out*.

    some: not all items count (there is a mask). Reductions of dates are valid for all units.
    """
    inputs = tuple(map(dtypes.unitless, inputs))
    number, out = dtypes.unitless(number), dtypes.unitless(out)
    x = inputs[0]
    if kind in ("sum", "prod") or (kind == "mean" and not some):
        text, size = _sum(kind, x, number, out)
    elif kind == "mean":
        text, size = _mean_of_some(x, number, out)
    elif kind in ("min", "max"):
        text, size = _extremum(kind, x, out)
    elif kind == "ptp":
        text, size = _peak_to_peak(x, out)
    elif kind in ("argmin", "argmax"):
        text, size = _position(kind, x, out)
    elif kind in ("any", "all", "count_nonzero"):
        text, size = _truth(kind, x, out)
    elif kind in ("var", "std"):
        text, size = _variance(kind, x, number, out)
    elif kind in ("dot", "vdot"):
        text, size = _dot(kind, x, inputs[1], number, out)
    else:
        raise ValueError(f"unknown reduction {kind!r}")
    text = f"typedef {dtypes.compute_type(x)} X;\n" + text
    if len(inputs) > 1:
        text = f"typedef {dtypes.compute_type(inputs[1])} Y;\n" + text
    key = (kind, *inputs, number, out, some)
    features = frozenset(dtypes.features(*inputs, number, out))
    block = "" if some else _block(kind, x, number)
    plain = "struct" not in text
    return Operation(key, text, size, inputs, out, number, features, plain, block)
