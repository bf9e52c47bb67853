"""Functions of dates and durations in kernels: 64-bit numbers of a unit, of which the lowest is NaT.

What 64 bits do not hold is NaT: NumPy raises OverflowError there since 2.5, for which a launch would
have to be waited for. Dates are those of the proleptic Gregorian calendar:
a day is the number of days since 1970-01-01, a month that of months since January 1970.
"""

from __future__ import annotations

# 400 years have 146097 days and begin on a 1st of March: then the leap day is the last of a year.
# 719468 days are from 0000-03-01 to 1970-01-01. The first of the month m of such a year is its day
# (153 * m + 2) / 5, since five months from March or August on have 153 days.
_TEXT = """\
#define PG_NAT ((pg_i64)((pg_u64)1 << 63))
PG_INLINE pg_i64 pg_t64_floor(pg_i64 a, pg_i64 b) /* a / b for b > 0, towards the past */
{
    pg_i64 q = a / b;
    return q - (a % b < 0);
}
PG_INLINE pg_i64 pg_t64_add(pg_i64 a, pg_i64 b)
{
    const pg_i64 sum = (pg_i64)((pg_u64)a + (pg_u64)b);
    return a == PG_NAT || b == PG_NAT || ((a ^ sum) & (b ^ sum)) < 0 ? PG_NAT : sum;
}
PG_INLINE pg_i64 pg_t64_subtract(pg_i64 a, pg_i64 b)
{
    const pg_i64 rest = (pg_i64)((pg_u64)a - (pg_u64)b);
    return a == PG_NAT || b == PG_NAT || ((a ^ b) & (a ^ rest)) < 0 ? PG_NAT : rest;
}
PG_INLINE pg_i64 pg_t64_multiply(pg_i64 a, pg_i64 by) /* a duration, and a number */
{
    const pg_i64 product = (pg_i64)((pg_u64)a * (pg_u64)by);
    const pg_u64 size = (pg_u64)(a < 0 ? ~a : a) | (pg_u64)(by < 0 ? ~by : by);
    if (a == PG_NAT || (size >> 31 != 0 && by != 0 && by != -1 && product / by != a))
        return PG_NAT;
    return product;
}
PG_INLINE pg_i64 pg_t64_scale(pg_i64 v, pg_i64 by, pg_i64 over)
{
    v = pg_t64_multiply(v, by);
    return v == PG_NAT ? v : pg_t64_floor(v, over);
}
PG_INLINE pg_i64 pg_t64_day(pg_i64 month) /* its first */
{
    pg_i64 year, m, era, y;
    if (month == PG_NAT || month > 303000000000000000 || month < -303000000000000000)
        return PG_NAT;
    month = (pg_i64)((pg_u64)month - 2); /* since March 1970 */
    year = pg_t64_floor(month, 12);
    m = month - 12 * year;
    era = pg_t64_floor(year + 1970, 400);
    y = year + 1970 - 400 * era;
    return (pg_i64)((pg_u64)era * 146097 + (pg_u64)(365 * y + y / 4 - y / 100 + (153 * m + 2) / 5)
                    - 719468);
}
PG_INLINE pg_i64 pg_t64_month(pg_i64 day)
{
    pg_i64 era, d, y, m;
    if (day == PG_NAT)
        return day;
    era = pg_t64_floor(day, 146097);
    d = day - 146097 * era + 719468; /* 719468 = 4 * 146097 + 135080 */
    era += d / 146097;
    d %= 146097;
    y = (d - d / 1460 + d / 36524 - d / 146096) / 365;
    d -= 365 * y + y / 4 - y / 100;
    m = (5 * d + 2) / 153;
    return 12 * (400 * era + y - 1970) + m + 2;
}
PG_INLINE pg_i64 pg_t64_from_f32(pg_f32 v)
{
    return v >= -9223372036854775808.0f && v < 9223372036854775808.0f ? (pg_i64)v : PG_NAT;
}
"""

_DOUBLE = """\
PG_INLINE pg_i64 pg_t64_from_f64(pg_f64 v)
{
    return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (pg_i64)v : PG_NAT;
}
"""


def date_functions(fp64: bool) -> str:
    """Their declarations. fp64: also that of double."""
    return _TEXT + (_DOUBLE if fp64 else "")
