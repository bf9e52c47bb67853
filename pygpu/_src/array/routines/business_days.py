"""Business days: numpy.is_busday, busday_count and busday_offset on devices.

Dates are counted by weeks, from a Thursday, day 0 of datetime64: the number of weekdays of the mask
before a date, and the date of a weekday of a given number, have closed forms. The holidays before a
date are found by a binary search, and the weekday of a business day of a given number by another
one, among the numbers of weekdays before each holiday that are business days.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import elementwise, layout, primitives, sort, ufuncs

from . import joining

_DAY = np.dtype("M8[D]")
_I64 = np.dtype(np.int64)
_ROLLS = (
    "raise nat forward following backward preceding modifiedfollowing modifiedpreceding"
).split()

# x0: a number of days or of weekdays; x1: bits of the weekdays, of which bit 0 is Thursday
_WEEK = """
pg_i64 week = x0 / {size}, rest = x0 - week * {size};
if (rest < 0) {{
    week -= 1;
    rest += {size};
}}
"""
_BODIES = {
    "weekdays before": _WEEK.format(size=7)
    + "y0 = week * x2; for (int k = 0; k < rest; k++) y0 += x1 >> k & 1;",
    "weekday of number": _WEEK.format(size="x2")
    + "y0 = 7 * week; while (rest >= (x1 >> (y0 - 7 * week) & 1)) "
    + "rest -= x1 >> (y0++ - 7 * week) & 1;",
    "is weekday": _WEEK.format(size=7) + "y0 = x1 >> rest & 1;",
}


@cache
def _operation(name: str) -> elementwise.Operation:
    numbers = (_I64, _I64) if name == "is weekday" else (_I64, _I64, _I64)
    out = np.dtype(bool) if name == "is weekday" else _I64
    return elementwise.Operation(name, numbers, (out,), _BODIES[name])


class _Calendar(NamedTuple):
    """Weekdays and holidays, as numpy.busdaycalendar checks and orders them."""

    bits: int
    size: int  # business days of a week without holidays
    holidays: Any  # int64 on the device; None: none
    skipped: Any  # for each holiday, how many business days are before it

    def days_before(self, dates: Any) -> Any:
        """Return the number of business days from day 0 to each date, without it."""
        (count,) = ufuncs.apply(
            _operation("weekdays before"), [dates, self.bits, self.size], [None]
        )
        return count if self.holidays is None else count - sort.searchsorted(self.holidays, dates)

    def dates_of(self, numbers: Any) -> Any:
        """Return the business day before which there are *numbers* of them since day 0."""
        if self.holidays is not None:
            numbers = numbers + sort.searchsorted(self.skipped, numbers, "right")
        (dates,) = ufuncs.apply(
            _operation("weekday of number"), [numbers, self.bits, self.size], [None]
        )
        return dates

    def has(self, dates: Any) -> Any:
        """Return whether each date is a business day."""
        (works,) = ufuncs.apply(_operation("is weekday"), [dates, self.bits], [None])
        if self.holidays is not None:
            left, right = (sort.searchsorted(self.holidays, dates, s) for s in ("left", "right"))
            works = works & (left == right)
        return works


def _calendar(like: Any, weekmask: Any, holidays: Any, busdaycal: Any) -> _Calendar:
    if busdaycal is not None:
        if weekmask is not None or holidays is not None:
            raise ValueError(
                "Cannot supply both the weekmask/holidays and the busdaycal parameters"
            )
        if not isinstance(busdaycal, np.busdaycalendar):
            raise TypeError(
                f"busdaycal must be a numpy.busdaycalendar, not {type(busdaycal).__name__}"
            )
    else:
        options = {} if weekmask is None else {"weekmask": weekmask}
        if holidays is not None:
            options["holidays"] = holidays.get() if isinstance(holidays, GPUArray) else holidays  # type: ignore[attr-defined]
        busdaycal = np.busdaycalendar(**options)
    week = np.roll(busdaycal.weekmask, -3)  # it begins on Monday
    bits, size = int(np.packbits(week, bitorder="little")[0]), int(week.sum())
    days = busdaycal.holidays.view(np.int64)
    if not days.size:
        return _Calendar(bits, size, None, None)
    weeks, rest = np.divmod(days, 7)
    before = weeks * size + np.concatenate([[0], np.cumsum(week)])[rest]
    skipped = before - np.arange(days.size)
    return _Calendar(bits, size, *(primitives.as_array(like, x) for x in (days, skipped)))


def _like(*operands: Any) -> Any:
    return next(x for x in operands if isinstance(x, GPUArray))


def _dates(call: str, like: Any, dates: Any) -> Any:
    """Return the dates as an array of days on the device."""
    if not isinstance(dates, GPUArray):
        given = np.asarray(dates)
        dates = primitives.as_array(like, given if given.dtype.kind == "M" else given.astype(_DAY))
    if dates.dtype.kind != "M" or not np.can_cast(dates.dtype, _DAY, "safe"):
        raise TypeError(
            f"{call}: dates of {dates.dtype} are not cast to datetime64[D]; use "
            '.astype("datetime64[D]")'
        )
    return primitives.astype(dates, _DAY)


def _stored(call: str, result: Any, out: Any) -> Any:
    if out is None:
        return result
    if not isinstance(out, GPUArray):
        raise TypeError(f"{call}: out must be an array on the device, not {type(out).__name__}")
    target: Any = out
    if target.shape != result.shape or not np.can_cast(result.dtype, target.dtype, "safe"):
        error = ValueError if target.shape != result.shape else TypeError
        raise error(
            f"{call}: out must have the shape {result.shape} and the dtype {result.dtype}, not "
            f"{target.shape} and {target.dtype}"
        )
    target[...] = result
    return target


def _any(truths: Any) -> bool:
    return bool(truths.size and truths._reduce("any", None).item())


def is_busday(
    dates: Any, weekmask: Any = None, holidays: Any = None, busdaycal: Any = None, out: Any = None
) -> Any:
    """Implement numpy.is_busday; NaT is none."""
    like = _like(dates, holidays, out)
    dates = _dates("is_busday", like, dates)
    calendar = _calendar(like, weekmask, holidays, busdaycal)
    works = calendar.has(dates.view(_I64)) & ~ufuncs.call("isnat", (dates,))
    return _stored("is_busday", works, out)


def busday_count(
    begindates: Any, enddates: Any, weekmask: Any = None, holidays: Any = None,
    busdaycal: Any = None, out: Any = None,
) -> Any:  # fmt: skip
    """Implement numpy.busday_count: negative if the end is before the beginning."""
    like = _like(begindates, enddates, holidays, out)
    first, last = (_dates("busday_count", like, x) for x in (begindates, enddates))
    calendar = _calendar(like, weekmask, holidays, busdaycal)
    layout.broadcast_shapes(first.shape, last.shape)
    if any(_any(ufuncs.call("isnat", (x,))) for x in (first, last)):
        raise ValueError(
            "Cannot compute a business day count with a NaT (not-a-time) date: leave those out, "
            "as by x[~np.isnat(x)]"
        )
    first, last = first.view(_I64), last.view(_I64)
    back = first > last  # then the days after the end are counted, up to the beginning
    first, last = first + back, last + back
    count = calendar.days_before(last) - calendar.days_before(first)
    return _stored("busday_count", count, out)


def _rolled(calendar: _Calendar, dates: Any, roll: str) -> Any:
    """Return business days near the dates."""
    before = calendar.days_before(dates)
    forward = roll in ("forward", "following", "modifiedfollowing")
    works = calendar.has(dates)
    # The first one on or after the date has that number; the one before it is the last one on or
    # before a date that is none.
    later = calendar.dates_of(before)
    if forward and not roll.startswith("modified"):
        return later
    earlier = calendar.dates_of(before - ~works)
    if not roll.startswith("modified"):
        return earlier
    near, other = (later, earlier) if forward else (earlier, later)
    months = [x.view(_DAY).astype("M8[M]") for x in (near, dates)]
    return joining.choose("busday_offset", months[0] == months[1], near, other)


def busday_offset(
    dates: Any, offsets: Any, roll: Any = "raise", weekmask: Any = None, holidays: Any = None,
    busdaycal: Any = None, out: Any = None,
) -> Any:  # fmt: skip
    """Implement numpy.busday_offset: roll dates to business days, then move by *offsets* of
    them."""
    call = "busday_offset"
    if not isinstance(roll, str):
        raise TypeError(f"{call}: roll must be a string, not {type(roll).__name__}")
    if roll not in _ROLLS:
        raise ValueError(f"{call}: Invalid business day roll parameter {roll!r}: use {_ROLLS}")
    like = _like(dates, offsets, holidays, out)
    days = _dates(call, like, dates)
    steps = offsets if isinstance(offsets, GPUArray) else primitives.as_array(like, offsets)
    if not np.can_cast(steps.dtype, _I64, "safe"):
        raise TypeError(f"{call}: offsets of {steps.dtype} are not cast to int64; use .astype(int)")
    steps = primitives.astype(steps, _I64)
    calendar = _calendar(like, weekmask, holidays, busdaycal)
    layout.broadcast_shapes(days.shape, steps.shape)
    nothing = ufuncs.call("isnat", (days,))
    numbers = days.view(_I64)
    if roll in ("raise", "nat"):
        works = calendar.has(numbers)
        if roll == "raise" and _any(nothing):
            raise ValueError(f"NaT input in {call}: use roll='nat', or leave it out")
        if roll == "raise" and _any(~works):
            raise ValueError(f"Non-business day date in {call}: use another roll=")
        nothing = nothing | ~works
    else:
        numbers = _rolled(calendar, numbers, roll)
    moved = calendar.dates_of(calendar.days_before(numbers) + steps)
    found = joining.choose(call, nothing, np.iinfo(np.int64).min, moved)
    return _stored(call, found.view(_DAY), out)
