"""datetime64 and timedelta64 on devices, against NumPy: NaT, extremes, units, layouts, operands."""

from __future__ import annotations

import datetime
import io
import operator
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from one_program import Packed, block

import pygpu
from pygpu._src.array import ufuncs
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels.elementwise import Operation
from pygpu._src.codegen.ufunc_loops import NAMES
from pygpu._src.runtime import kernel_cache

pytestmark = pytest.mark.sampled(3)

LOWEST = -(2**63)  # NaT
LAST = 2**63 - 1
NUMBERS = np.array(
    [LOWEST, 0, 1, -1, 7, -7, 2, -2, 86400, -86401, 2**62, -(2**62), LAST, LOWEST + 1], np.int64
)
FLOATS = np.array([0.0, -0.0, 1.5, -2.5, np.nan, np.inf, -np.inf, 1e300, 3.0, 1e-3])
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
DATES = np.array(["2020-01-03", "NaT", "1969-05-05", "2021-12-31", "2020-01-03"], "M8[D]")
KNOWN = np.array(["2020-01-03", "2021-01-01", "1969-05-05", "2000-02-29"], "M8[D]")
SPANS = np.array([7, -7, 4, 0, 7], "m8[s]")
HOLED = np.array([7, -7, "NaT", 0, 12], "m8[s]")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """NumPy warns of divisions by zero and of NaT."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def host(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return tuple(map(host, x))
    return x.get() if hasattr(x, "get") else x


def same(got: Any, wanted: Any) -> None:
    """The same dtype, shape and bits; NaNs are all the same."""
    got = host(got)
    if isinstance(wanted, tuple):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            same(one, other)
        return
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.kind in "mM":
        got, wanted = (np.ascontiguousarray(x).view("i8") for x in (got, wanted))
    np.testing.assert_array_equal(got, wanted)


def agree(make: Any, function: Callable[..., Any], *arrays: np.ndarray) -> None:
    """The function of device arrays gives what it gives of NumPy's, or raises the like."""
    try:
        wanted = function(*arrays)
    except (TypeError, ValueError, OverflowError) as error:
        with pytest.raises(TypeError if isinstance(error, TypeError) else type(error)):
            function(*map(make, arrays))
        return
    same(function(*map(make, arrays)), wanted)


# ---- ufuncs

OPERANDS = ("M8[s]", "m8[s]", "M8[D]", "m8[15m]", "m8", "i8", "i4", "u8", "?", "f8", "f4")


def operand(kind: str, numbers: np.ndarray) -> np.ndarray:
    return np.resize(FLOATS, numbers.shape) if kind == "f8" else numbers.view(kind)


def programs() -> Iterator[tuple[str, tuple[str, ...], Operation]]:
    """Each loop with a date or duration, once for all units."""
    seen = set()
    for name in dict.fromkeys(NAMES):
        ufunc = getattr(np, name, None)
        for kinds in product(
            ("M8[s]", "m8[s]", "i8", "f8"), repeat=0 if ufunc is None else ufunc.nin
        ):
            try:
                loop = ufuncs.resolve(name, (*map(np.dtype, kinds), *(None,) * ufunc.nout))
            except TypeError:
                continue
            key = name, tuple(map(dtypes.code, loop))
            given = tuple(d.str[1:] for d in loop[: ufunc.nin])
            if "t64" in key[1][: ufunc.nin] and given == kinds and key not in seen:
                seen.add(key)
                yield name, kinds, ufuncs.operation_for(name, loop[: ufunc.nin], loop[ufunc.nin :])


def run_in_one_kernel(make: Any, todo: list[tuple[str, Operation, tuple[Any, ...], Any]]) -> None:
    """Check (what, operation, operands, results) by one program, which is quicker to compile."""
    sources, results = Packed(), Packed()
    text, checks, features = "", [], set()
    for what, operation, given, wanted in todo:
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        places = [results.add(np.zeros(w.shape, w.dtype)) for w in wanted]
        text += block(operation, places + [sources.add(x) for x in given])
        checks.append((what, given, wanted, places))
        features |= dtypes.features(*operation.inputs, *operation.outputs)
    text = f"""
PG_KERNEL void loops(PG_ARRAY_IN(pg_u8, in), PG_ARRAY(pg_u8, out), pg_i64 n)
{{
    PG_START_IN(pg_u8, in);
    PG_START(pg_u8, out);
    {text}
}}
"""
    x, y = make(sources.bytes()), make(results.bytes())
    backend = x.backend
    compiled = backend.compile(kernel_cache.source(backend, text, features), backend.dialect.exact)
    args = (*backend.arguments(x), *backend.arguments(y), todo[0][2][0].size)
    y._set_event(backend.launch(compiled.kernel("loops"), x.queue, 2, 32, args))
    whole = y.get()
    for what, given, wanted, places in checks:
        for expected, at in zip(wanted, places, strict=True):
            got = whole[at : at + expected.nbytes].view(expected.dtype)
            fine = (got == expected) | ((got != got) & (expected != expected))
            for k in np.flatnonzero(~fine)[:1]:
                shown = tuple(x[k] for x in given)
                pytest.fail(f"{what} of {shown} gives {got[k]}, not {expected[k]}")


def overflows(ufunc: Any, *items: Any) -> bool:
    """Whether NumPy 2.5 and later raises, and older NumPy wraps around."""
    exact = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul}
    counts = [x.astype("i8") if x.dtype.kind in "mM" else x for x in items]
    if ufunc.__name__ not in exact or any(x.dtype.kind == "f" for x in counts):
        return False
    if any(np.isnat(x) for x in items if x.dtype.kind in "mM"):
        return False
    return abs(exact[ufunc.__name__](*map(int, counts))) >= 1 << 63


def with_nat(ufunc: Any, given: tuple[Any, ...]) -> Any:
    """The ufunc's results, with NaT for those that 64 bits do not hold."""
    over = np.array([overflows(ufunc, *items) for items in zip(*given)])
    if not over.any():
        return ufunc(*given)
    first = int(np.flatnonzero(~over)[0])
    wanted = ufunc(*(np.where(over, x[first], x) for x in given))
    wanted[over] = "NaT"
    return wanted


def test_every_loop(make: Any) -> None:
    a, b = (x.ravel() for x in np.meshgrid(NUMBERS, NUMBERS))
    todo = []
    for name, kinds, operation in programs():
        ufunc = getattr(np, name)
        given = tuple(operand(kind, x) for kind, x in zip(kinds, (a, b)))
        todo.append((f"{name} {kinds}", operation, given, with_nat(ufunc, given)))
    assert len(todo) > 35
    # the texts are one for both backends: each is run on one of them, which saves half the time
    run_in_one_kernel(make, todo[::3] if make.name == "opencl" else todo[1::3] + todo[2::3])


def test_result_types_of_ufuncs_and_what_they_refuse(make: Any) -> None:
    there = {kind: make(np.zeros(0, kind)) for kind in OPERANDS}
    for name in dict.fromkeys(NAMES):
        ufunc = getattr(np, name, None)
        for kinds in product(OPERANDS, repeat=0 if ufunc is None else ufunc.nin):
            if not any(kind[0] in "mM" for kind in kinds):
                continue
            try:
                wanted = ufunc(*(np.zeros(0, kind) for kind in kinds))
            except TypeError:
                with pytest.raises(TypeError):
                    ufunc(*(there[kind] for kind in kinds))
            else:
                same(ufunc(*(there[kind] for kind in kinds)), wanted)


def test_conversion_between_units(make: Any) -> None:
    rng = np.random.default_rng(0)
    edges = [LOWEST, 0, 1, -1, 11, 12, -12, -13, 59, 60, 365, -365, 1461, 10956, 10957, -146098]
    numbers = np.r_[edges, rng.integers(-5000, 5000, 80)].astype("i8")
    names = (*UNITS, "7D", "15m", "5M")
    near = [*zip(names, names[1:]), *zip(names[1:], names)]
    near += [(a, b) for a in ("Y", "M", "5M") for b in ("D", "h", "s", "7D")]
    near += [(b, a) for a, b in near[-12:]] + [("7D", "15m"), ("15m", "h"), ("ns", "W")]
    todo = []
    for kind, (source, target) in product("Mm", near):
        x, to = numbers.view(f"{kind}8[{source}]"), np.dtype(f"{kind}8[{target}]")
        try:
            wanted = x.astype(to)
        except OverflowError:  # too far apart
            continue
        body = f"y0 = {dtypes.cast('x0', x.dtype, to)};"
        operation = Operation("convert", (x.dtype,), (to,), body)
        todo.append((f"{x.dtype} to {to}", operation, (x,), wanted))
    assert len(todo) > 70
    run_in_one_kernel(make, todo[::3] if make.name == "opencl" else todo[1::3] + todo[2::3])


def test_operands_of_several_units(make: Any) -> None:
    dates, spans = NUMBERS[1:9].view("M8[D]"), NUMBERS[:8].view("m8[h]")
    agree(make, lambda x, y: x + y, dates, spans)
    agree(make, lambda x, y: x - y, dates, dates.astype("M8[M]"))
    agree(make, lambda x, y: x < y, spans, spans.astype("m8[15m]"))
    agree(make, lambda x, y: x / y, spans, np.arange(8).view("m8[15m]"))


def test_what_64_bits_do_not_hold_is_nat(make: Any) -> None:
    """Where NumPy 2.5 raises, and NumPy 2.4 wraps around."""
    most = (1 << 63) - 1
    spans = make(np.array([most, -most, 5, most // 1000], "m8[s]"))
    nat, there = [True, True, False, False], np.isnat
    for found in (spans + spans, spans - (-spans), spans * 2, 2 * spans, np.diff(spans, 0) * 2):
        assert there(found).get().tolist() == nat
    assert there(spans.view("M8[s]") + spans).get().tolist() == nat
    assert there(spans.astype("m8[ms]")).get().tolist() == nat
    assert there(spans.view("M8[s]").astype("M8[us]")).get().tolist() == [True, True, False, True]
    assert there(spans[[0, 2]].sum()).get()
    assert there(np.cumsum(spans[[2, 0, 2]])).get().tolist() == [False, True, True]
    assert (spans[:3] == spans[:3].astype("m8[ms]")).get().tolist() == [False, False, True]
    years = make(np.array([most, -most, 30], "M8[Y]"))
    assert there(years.astype("M8[D]")).get().tolist() == [True, True, False]


@pytest.mark.parametrize(("source", "target"), [("fs", "h"), ("s", "as"), ("M", "ps"), ("W", "fs")])
def test_units_too_far_apart_are_refused(make: Any, source: str, target: str) -> None:
    items = np.arange(3).view(f"M8[{source}]")
    with pytest.raises(OverflowError, match="conversion factor"):
        items.astype(f"M8[{target}]")
    with pytest.raises(OverflowError, match="conversion factor"):
        make(items).astype(f"M8[{target}]")


@pytest.mark.parametrize("target", ["i8", "i4", "f4", "f8", "c8", "?", "m8", "m8[ms]", "M8[s]"])
def test_conversion_of_durations_to_other_kinds(make: Any, target: str) -> None:
    agree(make, lambda x: x.astype(target), HOLED)


@pytest.mark.sampled(opencl=0, cuda=1)
@pytest.mark.parametrize("source", ["i4", "u8", "?", "f4", "f8", "c16"])
def test_conversion_of_numbers_to_dates(make: Any, source: str) -> None:
    numbers = np.array([0, 1, 5, 3]).astype(source)
    if source in ("f4", "f8"):
        numbers = FLOATS.astype(source)
    agree(make, lambda x: x.astype("M8[D]"), numbers)
    agree(make, lambda x: x.astype("m8[s]"), numbers)


SCALARS = [
    np.datetime64("2020-01-03"),
    np.datetime64("2020-01-03T05", "h"),
    np.datetime64("NaT"),
    np.timedelta64(5, "D"),
    np.timedelta64(90, "m"),
    np.timedelta64("NaT"),
    3,
    np.int16(-2),
    2.5,
    True,
]


@pytest.mark.sampled(opencl=0, cuda=1)
@pytest.mark.parametrize("operator", ["add", "subtract", "multiply", "true_divide", "floor_divide"])
def test_operators_with_scalars(make: Any, operator: str) -> None:
    ufunc = getattr(np, operator)
    for items in (DATES, HOLED):
        for scalar in SCALARS:
            agree(make, lambda x, s=scalar: ufunc(x, s), items)
            agree(make, lambda x, s=scalar: ufunc(s, x), items)


@pytest.mark.sampled(opencl=0, cuda=1)
@pytest.mark.parametrize("items", [DATES, HOLED], ids=["dates", "durations"])
def test_python_operators(make: Any, items: np.ndarray) -> None:
    hour = np.timedelta64(1, "h")
    for function in (
        lambda x: x + hour,
        lambda x: hour + x,
        lambda x: x - x,
        lambda x: x == x,
        lambda x: x != x,
        lambda x: x < x[0],
        lambda x: x >= x[0],
        lambda x: x == 5,
        lambda x: x != 5.0,
        lambda x: x == x.view("m8[s]" if x.dtype.kind == "M" else "M8[s]"),
        lambda x: x < 5,
        lambda x: -x,
        lambda x: abs(x),
        lambda x: x * 2,
        lambda x: 0.5 * x,
        lambda x: x // hour,
        lambda x: x % hour,
        lambda x: divmod(x, hour),
        lambda x: x / hour,
        lambda x: x & x,
        lambda x: x**2,
    ):
        agree(make, function, items)


def test_in_place_operators(make: Any) -> None:
    def work(x: Any) -> Any:
        x += np.timedelta64(1, "D")
        x -= 2
        return x

    for items in (DATES, DATES.astype("M8[Y]")):
        same(work(make(items)), work(items.copy()))


def test_objects_of_the_module_datetime(make: Any) -> None:
    dates = make(DATES)
    day, noon = datetime.date(2020, 1, 3), datetime.datetime(2020, 1, 3, 12)
    same(dates == day, DATES == np.datetime64(day))
    same(dates - noon, DATES - np.datetime64(noon))
    same(dates + datetime.timedelta(hours=5), DATES + np.timedelta64(datetime.timedelta(hours=5)))
    dates[0] = noon
    dates[1:3] = None
    assert host(dates).astype(str).tolist() == ["2020-01-03", "NaT", "NaT", *DATES.astype(str)[3:]]


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_scalars_and_empty_arrays(make: Any, shape: tuple[int, ...]) -> None:
    dates, spans = np.full(shape, KNOWN[0]), np.full(shape, SPANS[0])
    for function in (lambda x, y: x + y, lambda x, y: x < x, lambda x, y: y * 2, np.sort):
        if function is not np.sort:
            agree(make, function, dates, spans)
        elif shape:
            agree(make, function, dates)
    agree(make, lambda x: x.sum(), spans)
    agree(make, lambda x: x.mean(), spans)
    agree(make, lambda x: x.max(), dates)


@pytest.mark.sampled(opencl=0, cuda=1)
def test_strided_arrays(make: Any) -> None:
    grid = np.arange(60).reshape(5, 12).view("M8[D]")
    steps = np.arange(60).reshape(5, 12).view("m8[h]")
    for view in (lambda x: x[::-2, 1::3], lambda x: x.T[::2], lambda x: x[:, 3], lambda x: x[1:1]):
        agree(make, lambda x, y, view=view: view(x) + view(y), grid, steps)
        agree(make, lambda x, view=view: view(x).astype("M8[M]"), grid)
    agree(make, lambda x: x.max(0), grid)
    agree(make, lambda x: np.sort(x[:, ::-1], 0), grid)
    agree(make, lambda x: x[:, 1:5].cumsum(1), steps)


def test_results_into_other_units(make: Any) -> None:
    dates, spans = make(DATES), make(HOLED)
    out = make(np.zeros(5, "M8[ms]"))
    np.add(dates, spans, out=out)
    same(out, np.add(DATES, HOLED, out=np.zeros(5, "M8[ms]")))
    same(
        np.add(dates, spans, out=make(np.zeros(5, "M8[D]"))),
        np.add(DATES, HOLED, out=np.zeros(5, "M8[D]")),
    )
    with pytest.raises(TypeError):
        np.add(dates, spans, out=make(np.zeros(5, "m8[s]")))
    mask = np.arange(5) % 2 == 0
    kept = make(np.zeros(5, "m8[s]"))
    np.multiply(spans, 3, out=kept, where=make(mask))
    same(kept, np.multiply(HOLED, 3, out=np.zeros(5, "m8[s]"), where=mask))


# ---- reductions, order, sets

REDUCTIONS = ["min", "max", "argmin", "argmax", "ptp", "sum", "mean", "prod", "var", "std"]
REDUCTIONS += ["any", "all", "count_nonzero", "cumsum", "cumprod"]


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize("kind", REDUCTIONS)
def test_reductions(make: Any, kind: str) -> None:
    function = getattr(np, kind)
    for items in (DATES, KNOWN, HOLED, SPANS):
        agree(make, function, items)


@pytest.mark.parametrize("items", [DATES, HOLED], ids=["dates", "durations"])
def test_reductions_along_an_axis_of_many(make: Any, items: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    grid = rng.integers(-(10**9), 10**9, (7, 400)).view(items.dtype)
    grid[2, 17] = grid[2, 300] = grid[5, 0] = "NaT"
    kinds = ("min", "max", "argmin", "argmax") + (("sum", "mean") if items is HOLED else ())
    for kind in kinds:
        agree(make, lambda x, kind=kind: getattr(x, kind)(1), grid)
        agree(make, lambda x, kind=kind: getattr(x, kind)(0), grid)


def test_options_of_reductions(make: Any) -> None:
    mask = np.array([True, False, True, True, False])
    for function in (
        lambda x, m: x.sum(where=m),
        lambda x, m: x.mean(where=m),
        lambda x, m: x.sum(initial=np.timedelta64(5, "m")),
        lambda x, m: x.max(initial=0),
        lambda x, m: x.min(initial=np.timedelta64(0, "s"), where=m),
        lambda x, m: x.sum(keepdims=True),
        lambda x, m: np.add.reduce(x),
        lambda x, m: np.add.accumulate(x),
        lambda x, m: np.maximum.accumulate(x),
        lambda x, m: np.fmin.reduce(x),
        lambda x, m: np.subtract.outer(x, x[:2]),
        lambda x, m: np.add.reduceat(x, [0, 2]),
    ):
        agree(make, function, HOLED, mask)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sort": np.sort,
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "lexsort": lambda x: np.lexsort((x, x[::-1])),
    "partition": lambda x: np.sort(np.partition(x, 2)),
    "unique": np.unique,
    "unique_parts": lambda x: np.unique(x, True, True, True),
    "isin": lambda x: np.isin(x, x[1:3]),
    "searchsorted": lambda x: np.searchsorted(np.sort(x), x),
    "diff": np.diff,
    "diff_twice": lambda x: np.diff(x, 2),
    "median": np.median,
    "quantile": lambda x: np.quantile(x, 0.25),
    "percentile": lambda x: np.percentile(x, [10, 50, 90]),
    "nanmin": np.nanmin,
    "nanmax": np.nanmax,
    "clip": lambda x: np.clip(x, x[3], x[0]),
    "maximum": lambda x: np.maximum(x, x[::-1]),
    "fmin": lambda x: np.fmin(x, x[::-1]),
    "isnat": np.isnat,
    "isfinite": np.isfinite,
    "where": lambda x: np.where(np.isnat(x), x[0], x),
    "nonzero": np.nonzero,
    "array_equal": lambda x: np.array_equal(x, x),
    "array_equal_nan": lambda x: np.array_equal(x, x, equal_nan=True),
    "tril": lambda x: np.tril(np.broadcast_to(x, (5, 5))),
    "concatenate": lambda x: np.concatenate([x, x.astype(x.dtype.str.replace("[s]", "[ms]"))]),
    "stack": lambda x: np.stack([x, x]),
    "roll": lambda x: np.roll(x, 2),
    "repeat": lambda x: np.repeat(x, 2),
    "pad": lambda x: np.pad(x, 1, mode="edge"),
    "take": lambda x: np.take(x, [0, 4, 1]),
    "ones_like": np.ones_like,
    "union1d": lambda x: np.union1d(x, x[:2]),
    "cumulative_sum": lambda x: np.cumulative_sum(x[:2]),
}


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(make: Any, name: str) -> None:
    for items in (DATES, HOLED):
        agree(make, FUNCTIONS[name], items)


def test_distinct_without_equal_nat(make: Any) -> None:
    found = np.unique(make(np.concatenate([HOLED, HOLED])), equal_nan=False)
    same(found, np.array([-7, 0, 7, 12, "NaT", "NaT"], "m8[s]"))


@pytest.mark.sampled(opencl=0, cuda=1)
def test_sort_of_many(make: Any) -> None:
    items = np.random.default_rng(2).integers(-(2**62), 2**62, 5000).view("M8[ns]")
    items[::100] = "NaT"
    items[7], items[8] = LAST, LOWEST + 1
    agree(make, np.sort, items)
    agree(make, lambda x: np.argsort(x, kind="stable"), items[:3000])


# ---- making arrays, items, the host

RANGES = [
    (np.datetime64("2020-01-30"), np.datetime64("2020-02-03")),
    (np.datetime64("2020-01-01"), np.datetime64("2020-01-03"), np.timedelta64(6, "h")),
    (np.datetime64("2020-03"), 5),
    (np.datetime64("2020-01-05"), np.datetime64("2020-01-01"), np.timedelta64(-1, "D")),
    (np.timedelta64(5, "s"),),
    (np.timedelta64(1, "m"), np.timedelta64(5, "m"), np.timedelta64(30, "s")),
]


@pytest.mark.parametrize("arguments", RANGES, ids=str)
def test_arange(on: Any, arguments: tuple[Any, ...]) -> None:
    same(pygpu.xp.arange(*arguments), np.arange(*arguments))
    same(np.arange(*arguments, like=on(DATES)), np.arange(*arguments))


def test_arange_with_a_dtype(on: Any) -> None:
    xp = pygpu.xp
    same(
        xp.arange("2020-01", "2020-03", dtype="M8[D]"),
        np.arange("2020-01", "2020-03", dtype="M8[D]"),
    )
    same(xp.arange(0, 5, dtype="m8[s]"), np.arange(0, 5, dtype="m8[s]"))
    with pytest.raises(ValueError, match="NaT"):
        xp.arange(np.datetime64("NaT"), np.datetime64("2020-01-01"))
    with pytest.raises(ValueError, match="step"):
        xp.arange(np.timedelta64(1, "s"), np.timedelta64(5, "s"), np.timedelta64(0, "s"))
    with pytest.raises(ValueError, match="start"):
        xp.arange(np.datetime64("2020-01-01"))


def test_new_arrays(on: Any) -> None:
    xp = pygpu.xp
    day = np.datetime64("2020-01-01")
    same(xp.full(3, day), np.full(3, day))
    same(xp.full((2, 2), day, dtype="M8[s]"), np.full((2, 2), day, "M8[s]"))
    same(xp.zeros(2, dtype="m8[h]"), np.zeros(2, "m8[h]"))
    same(xp.ones(2, dtype="M8[D]"), np.ones(2, "M8[D]"))
    same(xp.asarray(DATES)[1], DATES[1])
    several = [day, np.datetime64("2021"), np.datetime64("NaT")]
    same(xp.asarray(several), np.array(several))
    same(xp.array([[np.timedelta64(3, "s")]]), np.array([[np.timedelta64(3, "s")]]))
    assert xp.empty(3, dtype="M8[25s]").dtype == np.dtype("M8[25s]")


@pytest.mark.parametrize(
    "value",
    [
        5,
        "2020-05-05",
        np.datetime64("2020-05-05T05:06"),
        np.timedelta64(4, "D"),
        np.array(["2001-01-01T23", "NaT"], "M8[h]"),
        np.array([3, 4]),
        ["2001-01-01", "NaT"],
        [np.datetime64("2001-01-01"), None],
        1.5,
    ],
    ids=str,
)
def test_assignment(make: Any, value: Any) -> None:
    for key in (slice(1, 3), [0, 2], np.array([False, True, True, False, False])):

        def work(x: Any, key: Any = key) -> Any:
            x[key] = value
            return x

        try:
            wanted = work(DATES.copy())
        except (TypeError, ValueError):
            with pytest.raises((TypeError, ValueError)):
                work(make(DATES))
            continue
        same(work(make(DATES)), wanted)


def test_assignment_from_the_device(make: Any) -> None:
    dates = make(DATES)
    dates[2:4] = make(np.array(["1999-12-31T23:59", "NaT"], "M8[m]"))
    dates[make(np.array([0]))] = make(np.array(["1999-12-31T23:59"], "M8[m]"))
    wanted = DATES.copy()
    wanted[0] = wanted[2] = "1999-12-31"
    wanted[3] = "NaT"
    same(dates, wanted)


def test_items_and_files(make: Any) -> None:
    dates = make(DATES)
    assert dates[0].item() == datetime.date(2020, 1, 3)
    assert dates.tolist() == DATES.tolist()
    assert "NaT" in repr(dates) and "datetime64[D]" in repr(dates)
    same(dates.view("i8"), DATES.view("i8"))
    file = io.BytesIO()
    with pygpu.allow_host_copies():
        np.save(file, dates)
    file.seek(0)
    same(np.load(file), DATES)


def test_strings_are_left_to_the_host(make: Any) -> None:
    with pytest.raises(TypeError, match=r"x\.get\(\)"):
        np.datetime_as_string(make(DATES))


def test_other_byte_order_is_converted(make: Any) -> None:
    there = make(DATES.astype(DATES.dtype.newbyteorder(">")))
    assert there.dtype == DATES.dtype
    np.testing.assert_array_equal(there.get(), DATES)


def test_what_has_no_meaning_says_what_to_do(make: Any) -> None:
    with pytest.raises(TypeError, match="view"):
        make(SPANS) @ make(SPANS)
    with pytest.raises(TypeError, match="divide by a unit"):
        make(SPANS).std()


def test_at_adds_to_dates(make: Any) -> None:
    days, steps = DATES.copy(), np.array([1, 2, 3], "m8[D]")
    there = make(days)
    np.add.at(there, make(np.array([0, 2, 0])), make(steps))
    np.add.at(days, [0, 2, 0], steps)
    same(there, days)


def test_histogram_of_durations(make: Any) -> None:
    edges = np.array([-10, 0, 5, 10], "m8[s]")
    counts, bins = np.histogram(make(SPANS), make(edges))
    same(counts, np.histogram(SPANS, edges)[0])
    same(bins, edges)


# ---- fused


def test_fused_function(make: Any) -> None:
    @pygpu.fuse
    def later(dates: Any, spans: Any) -> Any:
        return dates + 2 * spans

    @pygpu.fuse
    def to_spans(x: Any) -> Any:
        return (x + x) * np.timedelta64(1, "s")

    for _ in range(2):
        same(later(make(DATES), make(HOLED)), DATES + 2 * HOLED)
        same(to_spans(make(np.arange(3))), 2 * np.arange(3).view("m8[s]"))


def test_chains(make: Any) -> None:
    from pygpu import fusion
    from pygpu._src.array import chains

    spans, numbers = np.arange(2000).view("m8[s]"), np.arange(2000.0)
    fusion.on()
    try:
        for _ in range(3):
            x, y = make(spans), make(numbers)
            same((x + x) * (y + 1) - x, (spans + spans) * (numbers + 1) - spans)
            same((x + x < 2 * x + np.timedelta64(1, "s")).sum(), np.sum(np.ones(2000, bool)))
    finally:
        chains.set_from_environment()
