"""datetime64 and timedelta64 in kernels: conversions between units, and the loops of ufuncs.

Memory and variables hold int64; a kernel does not know the unit, and one serves all of them. A
conversion is text between the load and the computation, so that operands of different units need no
copies. :mod:`.prelude.calendar` has the functions that are called.
"""

from __future__ import annotations

from functools import cache
from math import gcd
from typing import Any

import numpy as np

DType = np.dtype[Any]

# attoseconds of the units that are multiples of each other; and months
_PARTS = {
    "as": 1,
    "fs": 10**3,
    "ps": 10**6,
    "ns": 10**9,
    "us": 10**12,
    "ms": 10**15,
    "s": 10**18,
    "m": 60 * 10**18,
    "h": 3600 * 10**18,
    "D": 86400 * 10**18,
    "W": 7 * 86400 * 10**18,
}
_MONTHS = {"M": 1, "Y": 12}
_DAY = _PARTS["D"]
_CYCLE = 146097  # days of 4800 months


def unit_of(dtype: DType) -> tuple[str, int]:
    """("s", 25) of datetime64[25s]; ("generic", 1) if it has none."""
    return np.datetime_data(dtype)


def _check(unit: str, to: str) -> None:
    """Raise OverflowError for units that NumPy finds too far apart."""
    sizes = sorted(_PARTS.get(name, _DAY) for name in (unit, to))
    if sizes[1] // sizes[0] >= 1 << 56:
        coarse, fine = (to, unit) if (_rank(unit) > _rank(to)) else (unit, to)
        raise OverflowError(
            "Integer overflow while computing the conversion factor between NumPy datetime units "
            f"{coarse} and {fine}"
        )


def _rank(unit: str) -> int:
    return ("Y", "M", *reversed(_PARTS)).index(unit)


def _scale(value: str, a: tuple[int, int], b: tuple[int, int]) -> str:
    """*value*, in a, as a number of b: both are fractions."""
    by, over = a[0] * b[1], a[1] * b[0]
    common = gcd(by, over)
    if by == over:
        return value
    by, over = by // common, over // common
    if max(by, over) >= 1 << 63:
        raise OverflowError("Integer overflow while computing the factor between two date units")
    return f"pg_t64_scale({value}, {by}L, {over}L)"


@cache
def _template(source: DType, target: DType) -> str:
    (unit, many), (to, each) = unit_of(source), unit_of(target)
    if source.kind != target.kind or "generic" in (unit, to) or source == target:
        return "@"  # as numbers are converted
    _check(unit, to)
    if unit in _PARTS and to in _PARTS:
        return _scale("@", (many * _PARTS[unit], 1), (each * _PARTS[to], 1))
    if unit in _MONTHS and to in _MONTHS:
        return _scale("@", (many * _MONTHS[unit], 1), (each * _MONTHS[to], 1))
    if target.kind == "m":  # by the mean length of a month
        if unit in _MONTHS:
            mean = many * _MONTHS[unit] * _CYCLE * _DAY, 4800
            return _scale("@", mean, (each * _PARTS[to], 1))
        mean = each * _MONTHS[to] * _CYCLE * _DAY, 4800
        return _scale("@", (many * _PARTS[unit], 1), mean)
    if unit in _MONTHS:
        months = _scale("@", (many * _MONTHS[unit], 1), (1, 1))
        return _scale(f"pg_t64_day({months})", (_DAY, 1), (each * _PARTS[to], 1))
    days = _scale("@", (many * _PARTS[unit], 1), (_DAY, 1))
    return _scale(f"pg_t64_month({days})", (1, 1), (each * _MONTHS[to], 1))


def convert(value: str, source: DType, target: DType) -> str:
    """An expression of a date or duration as one of another unit. One as the other, and one without
    a unit, keeps its number. Raises OverflowError where the units are too far apart."""
    return _template(source, target).replace("@", value)


def convertible(source: DType, target: DType) -> bool:
    """Whether NumPy and a kernel store a date or duration of the one unit as one of the other."""
    try:
        convert("", source, target)
    except OverflowError:
        return False
    return np.can_cast(source, target, "same_kind")


def common_unit(a: DType, b: DType) -> DType | None:
    """The dtype to which two dates, or two durations, can be converted; None if there is none."""
    try:
        found = np.promote_types(a, b)
    except (TypeError, OverflowError):
        return None
    return found if convertible(a, found) and convertible(b, found) else None


# ---- loops of ufuncs

_SIGN_IS_FLOAT = "m->d" in np.sign.types  # of a duration: since NumPy 2.5, where that of NaT is NaN
_NAT = ("x0 == PG_NAT", "x0 == PG_NAT || x1 == PG_NAT")
_SAME = {  # of operands that are all dates or durations
    "less": "x0 != PG_NAT && x0 < x1",  # NaT is the lowest
    "less_equal": "x0 != PG_NAT && x0 <= x1",
    "greater": "x1 != PG_NAT && x0 > x1",
    "greater_equal": "x1 != PG_NAT && x0 >= x1",
    "equal": "x0 == x1 && x0 != PG_NAT",
    "not_equal": "x0 != x1 || x0 == PG_NAT",
    "add": "pg_t64_add(x0, x1)",
    "subtract": "pg_t64_subtract(x0, x1)",
    "maximum": f"{_NAT[1]} ? PG_NAT : x0 > x1 ? x0 : x1",
    "minimum": "x0 < x1 ? x0 : x1",
    "fmax": "x0 > x1 ? x0 : x1",
    "fmin": "x0 == PG_NAT || (x1 != PG_NAT && x1 < x0) ? x1 : x0",
    "negative": "(pg_i64)((pg_u64)0 - (pg_u64)x0)",  # NaT stays what it is
    "absolute": "x0 < 0 ? (pg_i64)((pg_u64)0 - (pg_u64)x0) : x0",
    "positive": "x0",
    "sign": f"{_NAT[0]} ? PG_NAN_F64 : (pg_f64)((x0 > 0) - (x0 < 0))"
    if _SIGN_IS_FLOAT
    else "(x0 > 0) - (x0 < 0)",
    "isnat": _NAT[0],
    "isnan": _NAT[0],
    "isfinite": "x0 != PG_NAT",
    "isinf": "0",
    "true_divide": f"{_NAT[1]} ? PG_NAN_F64 : (pg_f64)x0 / (pg_f64)x1",
    "floor_divide": f"x1 == 0 || {_NAT[1]} ? 0 : x1 < 0 ? "
    "pg_t64_floor((pg_i64)((pg_u64)0 - (pg_u64)x0), -x1) : pg_t64_floor(x0, x1)",
}
_REST = (  # x1 == -1 divides everything
    f"pg_i64 r = PG_NAT; if (x1 != 0 && !({_NAT[1]})) {{ r = x1 == -1 ? 0 : x0 % x1; "
    "if (r != 0 && (r < 0) != (x1 < 0)) r += x1; }"
)
_BY_INTEGER = {
    "multiply": "pg_t64_multiply(x0, x1)",
    "true_divide": "x0 == PG_NAT || x1 == 0 ? PG_NAT : x1 == -1 ? -x0 : x0 / x1",
}
_BY_FLOAT = {
    "multiply": "x0 == PG_NAT ? x0 : pg_t64_from_f64((pg_f64)x0 * x1)",
    "true_divide": "x0 == PG_NAT ? x0 : pg_t64_from_f64((pg_f64)x0 / x1)",
}


def expression(name: str, codes: tuple[str, ...]) -> tuple[str, str] | None:
    """As that of :mod:`.ufunc_loops`, for loops with a date or duration. Quotients of a duration
    and a number are cut off, floor_divide's too, as NumPy's are."""
    text = _SAME.get(name)
    if name in ("remainder", "divmod"):
        quotient = _SAME["floor_divide"]
        put = "y0 = r;" if name == "remainder" else f"y0 = {quotient}; y1 = r;"
        return (f"{_REST} {put}", "") if set(codes) == {"t64"} else None
    if set(codes) != {"t64"}:
        name = "true_divide" if name == "floor_divide" else name
        swapped = codes[1] == "t64"
        if swapped and name != "multiply":
            return None
        other = codes[0] if swapped else codes[1]
        text = {"i64": _BY_INTEGER, "f64": _BY_FLOAT}.get(other, {}).get(name)
        if swapped and text is not None:
            text = text.replace("x0", "@").replace("x1", "x0").replace("@", "x1")
    return None if text is None else (f"y0 = {text};", "")
