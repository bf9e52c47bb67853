"""Structured arrays on devices, against NumPy: fields, comparison, assignment, order."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu

PLAIN = np.dtype([("a", "i4"), ("b", "f8")])  # b lies at odd addresses
ALIGNED = np.dtype([("a", "i4"), ("b", "f8")], align=True)
NESTED = np.dtype([("t", "M8[s]"), ("p", [("x", "f4", (2,)), ("y", "i2")]), ("s", "S3")])

RECORDS = np.array([(1, 2.5), (0, 3.5), (1, 1.5), (-1, np.nan), (1, 2.5)], PLAIN)
TREE = np.array(
    [
        ("2020-01-02", ([1, 2], 5), b"ab"),
        ("NaT", ([0, 0], 1), b""),
        ("2020-01-02", ([1, -2], 5), b"abc"),
        ("2019-07-01", ([3, 2], -5), b"z"),
        ("2020-01-02", ([1, 2], 5), b"aa"),
    ],
    NESTED,
)
ALL = {"plain": RECORDS, "aligned": RECORDS.astype(ALIGNED), "nested": TREE}


def host(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return tuple(map(host, x))
    return x.get() if hasattr(x, "get") else x


def same(got: Any, wanted: Any) -> None:
    got = host(got)
    if isinstance(wanted, tuple):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            same(one, other)
        return
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.names is None:
        np.testing.assert_array_equal(got, wanted)
        return
    for name in wanted.dtype.names:  # not the bytes between them
        same(got[name], wanted[name])


def agree(make: Any, function: Callable[..., Any], *arrays: np.ndarray) -> None:
    try:
        wanted = function(*arrays)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error) if type(error) is ValueError else TypeError):
            function(*map(make, arrays))
        return
    same(function(*map(make, arrays)), wanted)


MOVES: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x[1],
    "slice": lambda x: x[::-2],
    "mask": lambda x: x[x[x.dtype.names[0]] == x[x.dtype.names[0]][0]],
    "take": lambda x: x.take([4, 0, 2]),
    "concatenate": lambda x: np.concatenate([x, x[1:]]),
    "stack": lambda x: np.stack([x, x]),
    "roll": lambda x: np.roll(x, 1),
    "repeat": lambda x: np.repeat(x, 2),
    "where": lambda x: np.where(np.arange(5) % 2 == 0, x, x[::-1]),
    "copy": lambda x: x[::2].copy(),
    "zeros_like": np.zeros_like,
    "reshape": lambda x: x[:4].reshape(2, 2).T.ravel(),
}


@pytest.mark.sampled(opencl=0, cuda=1)
@pytest.mark.parametrize("name", MOVES)
def test_records_are_moved_unchanged(make: Any, name: str) -> None:
    if name == "where":  # whose condition is on the device, too
        for items in ALL.values():
            even = np.arange(5) % 2 == 0
            agree(make, lambda x, e: np.where(e, x, x[::-1]), items, even)
        return
    for items in ALL.values():
        agree(make, MOVES[name], items)


@pytest.mark.parametrize("kind", ALL)
def test_fields_are_views(make: Any, kind: str) -> None:
    items = ALL[kind]
    there = make(items)
    first = items.dtype.names[0]
    same(there[first], items[first])
    there[first][1:3] = there[first][0]
    wanted = items.copy()
    wanted[first][1:3] = wanted[first][0]
    same(there, wanted)
    if kind == "nested":
        same(there["p"]["x"], wanted["p"]["x"])
        same(there["p"]["y"][::2], wanted["p"]["y"][::2])
    with pytest.raises(ValueError, match="no field"):
        there["missing"]
    with pytest.raises((IndexError, ValueError), match="no field"):
        make(np.arange(3))[["a"]]


def test_views_of_several_fields(make: Any) -> None:
    there, wanted = make(RECORDS), RECORDS.copy()
    same(there[["b"]], wanted[["b"]])
    same(there[["b", "a"]], wanted[["b", "a"]])
    with pytest.raises(KeyError):
        there[["a", "missing"]]


@pytest.mark.parametrize("key", [slice(1, 3), slice(None), [0, 3], 2], ids=str)
def test_other_fields_keep_their_values(make: Any, key: Any) -> None:
    there, wanted = make(RECORDS), RECORDS.copy()
    for x in (there, wanted):
        view = x[["b"]]
        view[key] = np.array((7.5,), [("b", "f8")])
    same(there, wanted)


ASSIGNED = {
    "tuple": (9, 9.5),
    "number": 5,
    "records": np.array([(8, 1.0), (9, 2.0)], PLAIN),
    "other types": np.array([(8.0, 1), (9.0, 2)], [("x", "f4"), ("y", "i2")]),
    "record": RECORDS[0],
    "list": [(3, 1.0), (4, 2.0)],
}


@pytest.mark.parametrize("name", ASSIGNED)
def test_assignment(make: Any, name: str) -> None:
    for key in (slice(1, 3), [0, 2]):
        there, wanted = make(RECORDS), RECORDS.copy()
        there[key] = ASSIGNED[name]
        wanted[key] = ASSIGNED[name]
        same(there, wanted)


def test_assignment_from_the_device(make: Any) -> None:
    other = np.array([(8.0, 1), (9.0, 2)], [("x", "f4"), ("y", "i2")])
    there, wanted = make(RECORDS), RECORDS.copy()
    there[1:3] = make(other)
    wanted[1:3] = other
    same(there, wanted)
    with pytest.raises(TypeError, match="cannot convert"):
        there[:2] = make(np.zeros(2, [("x", "f4")]))


@pytest.mark.parametrize(
    "dtype",
    [ALIGNED, [("a", "f4"), ("b", "f4")], [("x", "f8"), ("y", "i8")], [("a", "f4")], "i8"],
    ids=str,
)
def test_conversion(make: Any, dtype: Any) -> None:
    items = RECORDS[:3]
    agree(make, lambda x: x.astype(dtype), items)


# ---- comparison


@pytest.mark.sampled(opencl=0, cuda=1)
@pytest.mark.parametrize("kind", ALL)
def test_comparison_is_that_of_all_fields(make: Any, kind: str) -> None:
    items = ALL[kind]
    other = items[::-1].copy()
    agree(make, lambda x, y: x == y, items, other)
    agree(make, lambda x, y: x != y, items, other)
    same(make(items) == items[0], items == items[0])
    agree(make, lambda x: x == x[2], items)
    agree(make, lambda x: x[:, None] != x[None], items)
    agree(make, lambda x: np.array_equal(x, x), items)


def test_comparison_with_other_kinds(make: Any) -> None:
    there = make(RECORDS)
    floats = np.array([(1, 2.5)], [("a", "f4"), ("b", "f8")])
    same(there == make(floats), RECORDS == floats)
    with pytest.raises(TypeError, match="common dtype"):
        there == make(floats.astype([("c", "f4"), ("b", "f8")]))  # noqa: B015
    with pytest.raises(TypeError, match="non-void"):
        there == 5  # noqa: B015
    with pytest.raises(TypeError, match="no order"):
        there < there  # noqa: B015, PLR0124


def test_comparison_where_a_mask_says(make: Any) -> None:
    other = RECORDS[::-1].copy()
    mask = np.arange(RECORDS.size) % 2 == 0
    for function, wanted in ((np.equal, RECORDS == other), (np.not_equal, RECORDS != other)):
        out = make(~wanted)
        assert function(make(RECORDS), make(other), out=out, where=make(mask)) is out
        same(out, np.where(mask, wanted, ~wanted))


# ---- order


@pytest.mark.parametrize("kind", ALL)
def test_sort_is_lexicographic(make: Any, kind: str) -> None:
    items = ALL[kind]
    agree(make, np.sort, items)
    agree(make, lambda x: np.argsort(x, kind="stable"), items)
    for name in items.dtype.names:
        agree(make, lambda x, name=name: np.sort(x, order=name), items)
    agree(make, lambda x: np.argsort(x, order=list(x.dtype.names)[::-1], kind="stable"), items)


def test_sort_along_axes_and_in_place(make: Any) -> None:
    items = np.zeros((3, 4), PLAIN)
    items["a"] = np.random.default_rng(0).integers(0, 3, (3, 4))
    items["b"] = np.random.default_rng(1).integers(0, 3, (3, 4))
    agree(make, lambda x: np.sort(x, 0, order="b"), items)
    agree(make, lambda x: np.sort(x, None), items)

    def in_place(x: Any) -> Any:
        x.sort(order=["b", "a"])
        return x

    same(in_place(make(items)), in_place(items.copy()))
    same(make(items).argsort(order="b"), items.argsort(order="b", kind="stable"))


@pytest.mark.parametrize("order", ["missing", ["a", "a"]], ids=str)
def test_orders_that_are_none(make: Any, order: Any) -> None:
    with pytest.raises(ValueError, match="field name"):
        np.sort(make(RECORDS), order=order)
    with pytest.raises(ValueError, match="no fields"):
        np.sort(make(np.arange(3)), order="a")


@pytest.mark.sampled(opencl=0, cuda=1)
@pytest.mark.parametrize("kind", ALL)
def test_sets_and_searches(make: Any, kind: str) -> None:
    items = ALL[kind]
    if kind != "nested":
        items = items[[0, 1, 2, 4]]  # without a NaN, which is not itself
    agree(make, np.unique, items)
    ordered = np.sort(items)
    agree(make, lambda x, y: np.searchsorted(x, y), ordered, items)
    agree(make, lambda x, y: np.searchsorted(x, y, "right"), ordered, items)


def test_distinct_records_with_indices_inverse_and_counts(make: Any) -> None:
    items = RECORDS[[0, 1, 2, 4]]
    agree(make, lambda x: np.unique(x, True, True, True), items)
    agree(make, lambda x: np.isin(x, x[1:3]), items)


@pytest.mark.parametrize("shape", [(0,), ()])
def test_empty_and_scalar(make: Any, shape: tuple[int, ...]) -> None:
    items = np.zeros(shape, PLAIN)
    agree(make, lambda x: x == x, items)
    if shape:
        agree(make, np.sort, items)
        agree(make, np.unique, items)


def test_what_records_do_not_have(make: Any) -> None:
    for function in (lambda x: x + x, lambda x: x.sum(), lambda x: x.max(), lambda x: -x):
        with pytest.raises(TypeError):
            function(make(RECORDS))


def test_files_and_text(make: Any) -> None:
    there = make(RECORDS)
    assert "('a', '<i4')" in repr(there)
    assert there.tolist()[:2] == RECORDS.tolist()[:2]
    file = io.BytesIO()
    with pygpu.allow_host_copies():
        np.save(file, there)
    file.seek(0)
    same(np.load(file), RECORDS)


def test_other_byte_order_is_converted(make: Any) -> None:
    host = np.array([(1, 2), (3, 4)], [("a", ">i4"), ("b", "<i2")])
    assert make(host).dtype == np.dtype([("a", "i4"), ("b", "i2")])
    assert make(host).get().tolist() == host.tolist()
