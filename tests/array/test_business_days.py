"""Business days of device arrays, against NumPy."""

import numpy as np
import pytest

RNG = np.random.default_rng(5)
DAYS = RNG.integers(-400, 400, 60).astype("M8[D]")
ENDS = RNG.integers(-400, 400, 60).astype("M8[D]")
OFFSETS = RNG.integers(-50, 50, 60)
HOLIDAYS = np.concatenate([RNG.integers(-60, 60, 70), [0, -1, 2]]).astype("M8[D]")
HOLED = np.where(np.arange(60) % 9 == 4, np.datetime64("NaT"), DAYS)
CALENDARS = {
    "week": {},
    "holidays": {"holidays": HOLIDAYS},
    "one day": {"weekmask": "Mon", "holidays": HOLIDAYS},
    "a gap": {"weekmask": [1, 1, 0, 1, 1, 1, 0], "holidays": ["1970-01-01", "NaT"]},
    "all days": {"weekmask": "1111111", "holidays": HOLIDAYS},
    "calendar": {"busdaycal": np.busdaycalendar("Fri Sat", HOLIDAYS)},
}
ROLLS = "nat forward following backward preceding modifiedfollowing modifiedpreceding".split()


def same(got, want):
    want = np.asarray(want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got.get(), want)


@pytest.mark.parametrize("options", CALENDARS.values(), ids=CALENDARS)
def test_calendars(make, options):
    same(np.is_busday(make(HOLED), **options), np.is_busday(HOLED, **options))
    same(np.busday_count(make(DAYS), make(ENDS), **options), np.busday_count(DAYS, ENDS, **options))
    for roll in ROLLS:
        got = np.busday_offset(make(HOLED), make(OFFSETS), roll, **options)
        same(got, np.busday_offset(HOLED, OFFSETS, roll, **options))
    works = DAYS[np.is_busday(DAYS, **options)]
    same(np.busday_offset(make(works), -3, **options), np.busday_offset(works, -3, **options))


def test_operands_and_shapes(make):
    there = make(DAYS)
    same(np.is_busday(there, holidays=make(HOLIDAYS)), np.is_busday(DAYS, holidays=HOLIDAYS))
    same(np.busday_count("1970-02-01", there), np.busday_count("1970-02-01", DAYS))
    same(np.busday_count(there, np.datetime64("1970-02-01")), np.busday_count(DAYS, "1970-02-01"))
    same(np.is_busday(there[::-7]), np.is_busday(DAYS[::-7]))
    same(np.is_busday(there[:0]), np.is_busday(DAYS[:0]))
    same(np.is_busday(there[3]), np.is_busday(DAYS[3]))
    months = DAYS.astype("M8[M]")
    same(np.is_busday(make(months)), np.is_busday(months))
    got = np.busday_offset(make(DAYS.reshape(6, 10)), [[1], [-1], [0], [2], [7], [9]], "forward")
    want = np.busday_offset(DAYS.reshape(6, 10), [[1], [-1], [0], [2], [7], [9]], "forward")
    same(got, want)
    far = np.array([10**12, -(10**12)], "M8[D]")
    same(
        np.busday_offset(make(far), np.array([10**9, -(10**9)]), "nat"),
        np.busday_offset(far, np.array([10**9, -(10**9)]), "nat"),
    )
    out = make(np.zeros(60, bool))
    assert np.is_busday(there, out=out) is out
    same(out, np.is_busday(DAYS))


REFUSED = {
    "NaT": (np.busday_count, (HOLED, DAYS), {}, ValueError, "NaT"),
    "NaT to roll": (np.busday_offset, (HOLED, 1), {}, ValueError, "NaT"),
    "weekend": (np.busday_offset, (DAYS, 1), {}, ValueError, "Non-business"),
    "roll": (np.busday_offset, (DAYS, 1, "up"), {}, ValueError, "up"),
    "hours": (np.is_busday, (DAYS.astype("M8[h]"),), {}, TypeError, "astype"),
    "numbers": (np.is_busday, (OFFSETS,), {}, TypeError, "int64"),
    "offsets": (np.busday_offset, (DAYS, OFFSETS / 2), {}, TypeError, "astype"),
    "no day": (np.is_busday, (DAYS,), {"weekmask": "0000000"}, ValueError, "weekmask"),
    "both": (
        np.is_busday,
        (DAYS,),
        {"weekmask": "1111100", "busdaycal": np.busdaycalendar()},
        ValueError,
        "both",
    ),
    "shapes": (np.busday_count, (DAYS, DAYS[:3]), {}, ValueError, "broadcast"),
    "out": (np.is_busday, (DAYS,), {"out": np.zeros(9, bool)}, ValueError, "shape"),
    "dtype": (np.busday_count, (DAYS, DAYS), {"out": np.zeros(60, "i4")}, TypeError, "int64"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_wrong_dates_rolls_and_outs_are_refused(make, case):
    call, args, options, error, message = case
    with pytest.raises(error):
        call(*args, **options)
    with pytest.raises(error, match=message):
        call(
            *(make(x) if isinstance(x, np.ndarray) else x for x in args),
            **{k: make(v) if isinstance(v, np.ndarray) else v for k, v in options.items()},
        )
