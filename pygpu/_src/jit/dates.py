"""datetime64 and timedelta64 in kernels: numbers of 64 bits whose unit is part of their type.

NaT is the least integer; what is computed from it is NaT, as in NumPy. Two units are converted to
the finer one, by a factor that is known when the kernel is compiled.
"""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np

__all__ = ["HELPERS", "common_unit", "conversion", "is_date", "stored"]

_INT64 = np.dtype("i8")
_NAT = "(-9223372036854775807 - 1)"
# Attoseconds; years and months are no number of them.
_LINEAR = {"W": 604800, "D": 86400, "h": 3600, "m": 60, "s": 1}
_SIZES = {name: seconds * 10**18 for name, seconds in _LINEAR.items()}
_SIZES |= {name: 10 ** (15 - 3 * i) for i, name in enumerate(("ms", "us", "ns", "ps", "fs", "as"))}
_MONTHS = {"Y": 12, "M": 1}

HELPERS = {
    "pgd_add": "PG_INLINE pg_i64 pgd_add(pg_i64 x, pg_i64 y)\n"
    f"{{ return x == {_NAT} || y == {_NAT} ? {_NAT} : (pg_i64)((pg_u64)x + (pg_u64)y); }}\n",
    "pgd_subtract": "PG_INLINE pg_i64 pgd_subtract(pg_i64 x, pg_i64 y)\n"
    f"{{ return x == {_NAT} || y == {_NAT} ? {_NAT} : (pg_i64)((pg_u64)x - (pg_u64)y); }}\n",
    "pgd_multiply": "PG_INLINE pg_i64 pgd_multiply(pg_i64 x, pg_i64 y)\n"
    f"{{ return x == {_NAT} || y == {_NAT} ? {_NAT} : (pg_i64)((pg_u64)x * (pg_u64)y); }}\n",
    "pgd_divide": "PG_INLINE pg_i64 pgd_divide(pg_i64 x, pg_i64 y)\n"
    f"{{ return x == {_NAT} || y == {_NAT} || y == 0 ? {_NAT} : x / y; }}\n",
    "pgd_floor": "PG_INLINE pg_i64 pgd_floor(pg_i64 x, pg_i64 y)\n"
    f"{{ /* the quotient of two durations */\n    if (x == {_NAT} || y == {_NAT} || y == 0)"
    " return 0;\n    return x / y - (x % y != 0 && (x < 0) != (y < 0)); }\n",
    "pgd_remainder": "PG_INLINE pg_i64 pgd_remainder(pg_i64 x, pg_i64 y)\n"
    f"{{ if (x == {_NAT} || y == {_NAT} || y == 0) return {_NAT};\n"
    "    const pg_i64 r = x % y; return r != 0 && (r < 0) != (y < 0) ? r + y : r; }\n",
    "pgd_from_float": "PG_INLINE pg_i64 pgd_from_float(pg_f64 x)\n"
    "{ return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (pg_i64)x : "
    f"{_NAT}; }}\n",
    "pgd_multiply_float": "PG_INLINE pg_i64 pgd_multiply_float(pg_i64 x, pg_f64 y)\n"
    f"{{ return x == {_NAT} ? {_NAT} : pgd_from_float((pg_f64)x * y); }}\n",
    "pgd_divide_float": "PG_INLINE pg_i64 pgd_divide_float(pg_i64 x, pg_f64 y)\n"
    f"{{ return x == {_NAT} ? {_NAT} : pgd_from_float((pg_f64)x / y); }}\n",
    "pgd_ratio": "PG_INLINE pg_f64 pgd_ratio(pg_i64 x, pg_i64 y)\n"
    f"{{ return x == {_NAT} || y == {_NAT} ? PG_NAN_F64 : (pg_f64)x / (pg_f64)y; }}\n",
    "pgd_negative": "PG_INLINE pg_i64 pgd_negative(pg_i64 x) { return (pg_i64)(0 - (pg_u64)x); }\n",
    "pgd_absolute": "PG_INLINE pg_i64 pgd_absolute(pg_i64 x)\n"
    f"{{ return x == {_NAT} || x >= 0 ? x : -x; }}\n",
    "pgd_float_sign": "PG_INLINE pg_f64 pgd_float_sign(pg_i64 x) "
    f"{{ return x == {_NAT} ? PG_NAN_F64 : (pg_f64)((x > 0) - (x < 0)); }}\n",
    "pgd_sign": "PG_INLINE pg_i64 pgd_sign(pg_i64 x) { return (x > 0) - (x < 0); }\n",
    "pgd_equal": "PG_INLINE pg_b8 pgd_equal(pg_i64 x, pg_i64 y)\n"
    f"{{ return x == y && x != {_NAT}; }}\n",
    "pgd_less": "PG_INLINE pg_b8 pgd_less(pg_i64 x, pg_i64 y)\n"
    f"{{ return x < y && x != {_NAT}; }}\n",
    "pgd_less_equal": "PG_INLINE pg_b8 pgd_less_equal(pg_i64 x, pg_i64 y)\n"
    f"{{ return x <= y && x != {_NAT}; }}\n",
    "pgd_minimum": "PG_INLINE pg_i64 pgd_minimum(pg_i64 x, pg_i64 y) { return x < y ? x : y; }\n",
    "pgd_maximum": "PG_INLINE pg_i64 pgd_maximum(pg_i64 x, pg_i64 y)\n"
    f"{{ return x == {_NAT} || y == {_NAT} ? {_NAT} : x > y ? x : y; }}\n",
    "pgd_fmin": "PG_INLINE pg_i64 pgd_fmin(pg_i64 x, pg_i64 y)\n"
    f"{{ return x == {_NAT} ? y : y == {_NAT} || x < y ? x : y; }}\n",
    "pgd_fmax": "PG_INLINE pg_i64 pgd_fmax(pg_i64 x, pg_i64 y) { return x > y ? x : y; }\n",
    "pgd_isnat": f"PG_INLINE pg_b8 pgd_isnat(pg_i64 x) {{ return x == {_NAT}; }}\n",
    "pgd_scale": "PG_INLINE pg_i64 pgd_scale(pg_i64 x, pg_i64 up, pg_i64 down)\n"
    f"{{ /* to another unit: x * up / down, rounded down */\n    if (x == {_NAT}) return x;\n"
    "    x = (pg_i64)((pg_u64)x * (pg_u64)up);\n"
    "    return x / down - (x % down != 0 && x < 0); }\n",
}


def is_date(dtype: Any) -> bool:
    """Whether it is a dtype of dates or durations."""
    return isinstance(dtype, np.dtype) and dtype.kind in "mM"


def stored(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What memory holds of a dtype: int64 of dates, of others these themselves."""
    return _INT64 if dtype.kind in "mM" else dtype


def common_unit(a: np.dtype[Any], b: np.dtype[Any], kind: str) -> np.dtype[Any] | None:
    """The dtype of kind "m" or "M" whose unit two dates or durations have in common; None if there
    is none that a kernel can convert both to."""
    try:
        found = np.promote_types(_of_kind(a, "m"), _of_kind(b, "m"))
    except (TypeError, OverflowError):
        return None
    if conversion(a, found) is None or conversion(b, found) is None:
        return None
    return _of_kind(found, kind)


def _of_kind(dtype: np.dtype[Any], kind: str) -> np.dtype[Any]:
    return np.dtype(kind + dtype.str[2:])


def conversion(a: np.dtype[Any], b: np.dtype[Any]) -> tuple[int, int] | None:
    """By what a number in the unit of *a* is multiplied, and then divided, to be one in the unit of
    *b*; None if that depends on the date, or is too large."""
    (one, n, *_), (two, m, *_) = np.datetime_data(a), np.datetime_data(b)
    if "generic" in (one, two):  # NaT, and numbers without a unit
        return (1, 1) if one == "generic" else None
    sizes = _MONTHS if one in _MONTHS else _SIZES
    if two not in sizes:
        return None
    up, down = n * sizes[one], m * sizes[two]
    common = gcd(up, down)
    up, down = up // common, down // common
    return (up, down) if max(up, down) < 1 << 63 else None
