"""datetime64 and timedelta64 in kernels and ufuncs, against NumPy."""

import itertools
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu._src.codegen import dates
from pygpu._src.jit.source import KernelError

NAT = np.iinfo("i8").min


def column(dtype: str) -> np.ndarray:
    """Numbers of both signs, zeros and NaT."""
    rng = np.random.default_rng(7)
    found = rng.integers(-1000, 1000, 60)
    found[::7], found[1::11] = NAT, 0
    return found.view(dtype)


def same(got: np.ndarray, want: np.ndarray) -> bool:
    if got.dtype != want.dtype:
        return False
    if want.dtype.kind in "mM":
        return bool((got.view("i8") == want.view("i8")).all())
    return np.array_equal(got, want, equal_nan=want.dtype.kind == "f")


@pytest.fixture(params=["opencl", "cuda"])
def target(request: Any, opencl_maker: Any, cuda_context: Any) -> str:
    return str(request.param)


def of_durations(i, a, b, x, y, z, sign, whole, ratio, less, same):  # type: ignore[no-untyped-def]
    x[0, i], x[1, i], x[2, i] = a[i] + b[i], a[i] - b[i], a[i] % b[i]
    x[3, i], x[4, i], x[5, i] = np.minimum(a[i], b[i]), np.fmax(a[i], b[i]), max(a[i], b[i])
    y[0, i], y[1, i], sign[i] = -a[i], abs(a[i]), np.sign(a[i])
    z[0, i], z[1, i] = a[i] * 3, 2.5 * a[i]
    z[2, i], z[3, i], z[4, i], z[5, i] = a[i] / -2, a[i] // 3, a[i] / 1.7, a[i] / 0
    whole[i], ratio[i] = a[i] // b[i], a[i] / b[i]
    less[i], same[i] = a[i] < b[i], a[i] == b[i]


def of_dates(i, a, b, d, x, y, less, more, other):  # type: ignore[no-untyped-def]
    x[i] = a[i] - b[i]
    y[0, i], y[1, i], y[2, i] = a[i] + d[i], d[i] + a[i], a[i] - d[i]
    y[3, i], y[4, i], y[5, i] = np.maximum(a[i], b[i]), np.fmin(a[i], b[i]), a[i] + 3
    less[i], more[i], other[i] = a[i] <= b[i], a[i] > b[i], a[i] != b[i]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_durations_agree_with_numpy(target: str) -> None:
    @pygpu.kernel(backend=target)
    def k(a, b, x, y, z, sign, whole, ratio, less, same):  # type: ignore[no-untyped-def]
        of_durations(pygpu.grid(1), a, b, x, y, z, sign, whole, ratio, less, same)

    a, b = column("m8[25s]"), column("m8[2m]")[::-1].copy()
    n, unit = a.size, (a + b).dtype
    x, y, z = np.zeros((6, n), unit), np.zeros((2, n), a.dtype), np.zeros((6, n), a.dtype)
    sign, whole, ratio = np.zeros_like(np.sign(a)), np.zeros(n, "i8"), np.zeros(n)
    less, equal = np.zeros((2, n), bool)
    k[1, n](a, b, x, y, z, sign, whole, ratio, less, equal)
    assert same(
        x, np.array([a + b, a - b, a % b, np.minimum(a, b), np.fmax(a, b), np.maximum(a, b)])
    )
    assert same(y, np.array([-a, abs(a)])) and same(sign, np.sign(a))
    assert same(z, np.array([a * 3, 2.5 * a, a / -2, a // 3, a / 1.7, a / 0]))
    assert same(whole, a // b) and same(ratio, a / b)
    assert same(less, a < b) and same(equal, a == b)
    assert np.isnat(x).any() and equal.any() == (a == b).any()


def test_dates_agree_with_numpy(target: str) -> None:
    @pygpu.kernel(backend=target)
    def k(a, b, d, x, y, less, more, other):  # type: ignore[no-untyped-def]
        of_dates(pygpu.grid(1), a, b, d, x, y, less, more, other)

    a, b, d = column("M8[s]"), column("M8[s]")[::-1].astype("M8[m]"), column("m8[h]")
    n = a.size
    x, y = np.zeros(n, "m8[s]"), np.zeros((6, n), a.dtype)
    less, more, other = np.zeros((3, n), bool)
    k[1, n](a, b, d, x, y, less, more, other)
    assert same(x, a - b)
    want = [a + d, d + a, a - d, np.maximum(a, b), np.fmin(a, b), a + 3]
    assert same(y, np.array(want))
    assert same(less, a <= b) and same(more, a > b) and same(other, a != b)


def test_kernels_of_arrays_and_numbers(target: str) -> None:
    @pygpu.kernel(backend=target)
    def k(start, end, step, delta, late, moved):  # type: ignore[no-untyped-def]
        i = pygpu.grid(1)
        if i < start.size:
            delta[i] = end[i] - start[i]
            late[i] = np.isnat(start[i]) or start[i] > np.datetime64("2020-02-01")
            moved[i] = start[i] + step if start[i] < end[i] else np.datetime64("NaT")

    start = np.array(["2020-01-31", "NaT", "2020-03-01", "1969-12-31"], "M8[D]")
    end = start.astype("M8[h]") + np.array([5, 5, -30, 0], "m8[h]")
    delta, late = np.zeros(4, "m8[h]"), np.zeros(4, bool)
    moved = np.zeros(4, "M8[D]")
    step = np.timedelta64(-36, "h")
    k[1, 4](start, end, step, delta, late, moved)
    assert same(delta, end - start)
    assert late.tolist() == [False, True, True, False]
    want = np.where(start < end, start + step, np.datetime64("NaT")).astype("M8[D]")
    assert same(moved, want)


def test_local_arrays_device_functions_and_tuples(target: str) -> None:
    def span(pair):  # type: ignore[no-untyped-def]
        first, last = pair
        return last - first, abs(first - last)

    holidays = np.array(["2021-01-01", "2021-12-25"], "M8[D]")

    @pygpu.kernel(backend=target)
    def k(out, ints):  # type: ignore[no-untyped-def]
        own = np.empty(2, holidays.dtype)
        own[:] = holidays
        own[0] += np.timedelta64(ints[0], "W")
        a, b = span((own[1], own[0]))
        out[0], out[1] = a, b
        out[2] = max(a, b) // 2
        ints[1] = own[0].astype(np.int64)
        ints[2] = out[2] / np.timedelta64(1, "D")
        for day in holidays:
            ints[3] += day.view(np.int64)

    out, ints = np.zeros(3, "m8[h]"), np.array([2, 0, 0, 0])
    k[1, 1](out, ints)
    first, last = holidays[0] + np.timedelta64(2, "W"), holidays[1]
    want = np.array([first - last, last - first, (last - first) // 2]).astype("m8[h]")
    # halves of days are cut before they become hours
    assert same(out, want)
    days = holidays.view("i8")
    assert ints.tolist() == [2, days[0] + 14, (last - first).view("i8") // 2, days.sum()]


def test_parts_of_a_statement_are_read_in_order(target: str) -> None:
    def later(d):  # type: ignore[no-untyped-def]
        d[0] += np.timedelta64(10, "D")
        return d[0]

    @pygpu.kernel(backend=target)
    def k(d, out):  # type: ignore[no-untyped-def]
        out[0] = d[0] - later(d)
        later(d)
        d[1:] = d[0]

    d, out = np.zeros(3, "M8[D]"), np.zeros(1, "m8[D]")
    k[1, 1](d, out)
    assert out.view("i8")[0] == -10 and d.view("i8").tolist() == [20, 20, 20]


def test_chains_and_membership(target: str) -> None:
    @pygpu.kernel(backend=target)
    def k(a, out):  # type: ignore[no-untyped-def]
        out[0] = a[0] < a[1] < np.datetime64("2021-01-01")
        out[1] = not (a[1] - a[0])
        out[2] = a[0] in (a[1], np.datetime64("2020-01-01"))
        out[3] = a[1] in (a[0], np.datetime64("NaT"))

    out = np.zeros(4, bool)
    k[1, 1](np.array(["2020-01-01", "2020-01-03"], "M8[D]"), out)
    assert out.tolist() == [True, False, True, False]


def test_vectorize_with_signatures_converts_to_their_units(target: str) -> None:
    day, hours = np.dtype("M8[D]"), np.dtype("m8[h]")

    @pygpu.vectorize([(np.dtype("M8[h]"), np.dtype("M8[h]"))], target=target)
    def between(a, b):  # type: ignore[no-untyped-def]
        return b - a

    a = np.array(["2020-01-31", "NaT"], day)
    b = np.array(["2020-02-01T03", "2020-02-01T03"], "M8[h]")
    assert same(between(a, b), (b - a).astype(hours))
    out = np.zeros(2, hours)
    assert between(a, b, out=out) is out and same(out, b - a)
    assert between(a[0], b[0]) == b[0] - a[0]
    with pytest.raises(TypeError, match=r"cannot be an array of timedelta64\[m\]"):
        between(a, b, out=np.zeros(2, "m8[m]"), casting="unsafe")
    with pytest.raises(TypeError, match="no loop for arguments"):
        between(a, np.zeros(2))


def test_vectorize_of_device_arrays(make: Any) -> None:
    a = np.array([5, NAT, -7], "i8").view("m8[s]")
    double = pygpu.vectorize(lambda x: x * 2)
    made = double(make(a))
    assert made.dtype == a.dtype and same(made.get(), a * 2)


def test_guvectorize(target: str) -> None:
    day, delta = np.dtype("M8[D]"), np.dtype("m8[D]")
    from pygpu._src.jit.signature import as_type

    @pygpu.guvectorize([(as_type(day)[:], as_type(delta)[:])], "(n)->()", target=target)
    def longest(x, out):  # type: ignore[no-untyped-def]
        out[0] = x[1] - x[0]
        for i in range(1, x.size):
            out[0] = np.fmax(out[0], x[i] - x[i - 1])

    x = np.array([[1, 5, 3], [NAT, 4, 20]], "i8").view(day)
    assert longest(x).tolist() == np.array([4, 16], delta).tolist()
    out = np.zeros(2, delta)
    assert longest(x, out) is out and out.tolist() == np.array([4, 16], delta).tolist()


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda d, o: np.sqrt(d[0]), "sqrt"),
        (lambda d, o: d[0] + d[0], "add"),
        (lambda d, o: d[0] & d[0], "bitwise_and"),
        (lambda d, o: -d[0], "negative"),
        (lambda d, o: d.sum(), "sum"),
        (lambda d, o: o[d[0]], "an index"),
        (lambda d, o: np.sum(d), "takes no datetime64"),
        (lambda d, o: o.fill(d[0]), "cannot be stored"),
        (lambda d, o: range(d[0]), "."),
        (lambda d, o: d[0] + np.timedelta64(1, "M"), "no unit in common"),
        (lambda d, o: d[0].astype(np.float32), "can be converted to int64"),
        (lambda d, o: d.fill(1.5), "cannot be stored"),
    ],
)
def test_what_has_no_meaning_is_refused(function: Any, text: str, opencl_maker: Any) -> None:
    k = pygpu.kernel(function)
    with pytest.raises(KernelError, match=text):
        k[1, 1](np.zeros(1, "M8[D]"), np.zeros(1))


def test_units_without_a_fixed_factor_are_distinguished() -> None:
    def convertible(a: str, b: str) -> bool:
        return dates.convertible(np.dtype(a), np.dtype(b))

    assert not convertible("m8[s]", "m8") and convertible("m8", "m8[s]")
    assert not convertible("m8[D]", "m8[as]")  # too large
    assert not convertible(f"m8[{2**31 - 1}W]", f"m8[{2**31 - 2}ns]")
    assert not convertible("m8[D]", "M8[D]") and not convertible("M8[D]", "m8[D]")
    for a, b in itertools.permutations(("m8[Y]", "m8[D]", "m8[M]"), 2):
        assert convertible(a, b) == ("m8[D]" not in (a, b))
        assert convertible(a.upper(), b.upper())  # by the calendar
    assert "2500L, 1L" in dates.convert("x", np.dtype("m8[25s]"), np.dtype("m8[10ms]"))
    assert "7L, 120L" in dates.convert("x", np.dtype("m8[7s]"), np.dtype("m8[2m]"))


def test_dates_in_months_and_days_follow_the_calendar(target: str) -> None:
    @pygpu.kernel(backend=target)
    def k(month, day, late, first, of):  # type: ignore[no-untyped-def]
        i = pygpu.grid(1)
        late[i] = month[i] < day[i] and np.isfinite(day[i])
        first[i] = month[i]
        of[i] = day[i]

    month = np.array(["2020-02", "1969-12", "2000-03", "NaT"], "M8[M]")
    day = np.array(["2020-02-29", "1969-12-01", "NaT", "1900-03-01"], "M8[D]")
    late, first, of = np.zeros(4, bool), np.zeros(4, "M8[D]"), np.zeros(4, "M8[M]")
    k[1, 4](month, day, late, first, of)
    assert late.tolist() == [True, False, False, False]
    assert same(first, month.astype("M8[D]")) and same(of, day.astype("M8[M]"))


def test_numba_signatures_of_dates(cuda_context: Any) -> None:
    from pygpu._src.jit import signature

    days = signature.NPDatetime("D")

    @cuda.jit(signature.void(days[:], signature.NPTimedelta("D"), signature.NPTimedelta("D")[:]))
    def k(a, low, out):  # type: ignore[no-untyped-def]
        out[0] = a[1] - a[0] + low

    out = np.zeros(1, "m8[D]")
    k[1, 1](np.array([1, 4], "i8").view("M8[D]"), np.timedelta64(1, "W"), out)
    assert out[0] == np.timedelta64(10, "D")
    with pytest.raises(TypeError, match="No matching definition"):
        k[1, 1](np.array([1, 4]), np.timedelta64(1, "W"), out)


def test_fields_of_records(target: str) -> None:
    fields = [("v", "i1"), ("day", "M8[D]"), ("wait", "m8[h]", 2)]
    for align in (False, True):  # loaded and stored by bytes, or whole

        @pygpu.kernel(backend=target)
        def k(r, out):  # type: ignore[no-untyped-def]
            first = r[0].day
            for i in range(r.size):
                out[i] = r[i].day - first
                r[i].day += np.timedelta64(2, "D")

        r = np.zeros(3, np.dtype(fields[: 2 + align], align=align))
        r["day"] = np.array(["2020-02-28", "2021-01-01", "NaT"], "M8[D]")
        wanted = r["day"].copy()
        out = np.zeros(3, "m8[D]")
        k[1, 1](r, out)
        assert out[:2].tolist() == (wanted - wanted[0])[:2].tolist() and np.isnat(out[2])
        assert r["day"][:2].tolist() == (wanted + 2)[:2].tolist() and np.isnat(r["day"][2])


def test_reductions(make: Any) -> None:
    later = pygpu.vectorize(target=make.name)(lambda a, b: a if a > b else b)
    total = pygpu.vectorize(target=make.name)(lambda a, b: a + b)
    days = np.array([[3, 1], [5, 2]], "M8[D]")
    waits = np.array([[3, 1], [5, "NaT"]], "m8[ms]")
    assert (later.reduce(days, axis=1) == days.max(1)).all()
    assert (later.accumulate(make(days)).get() == np.maximum.accumulate(days)).all()
    found = total.reduce(waits, axis=0)
    assert found.dtype == "m8[ms]" and found[0] == np.timedelta64(8, "ms") and np.isnat(found[1])
    assert total.reduce(waits[0], initial=np.timedelta64(1, "s")) == np.timedelta64(1004, "ms")
    with pytest.raises(TypeError, match="cannot use operands with types"):
        total.reduce(days)
    with pytest.raises(TypeError, match="cannot cast the result"):
        later.reduce(days, out=np.zeros(2, int))
