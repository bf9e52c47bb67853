"""Known ranges of a function's integers during the walk.

A variable, or an expression with a constant value, is in a range whose ends are computed at launch
(:mod:`pygpu._src.jit.ranges`). Statements change what is known, by text: a test holds in its
branch, and an assignment invalidates everything that mentions the variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import emit, ranges
from ..ir import Value
from ..ranges import Range
from ..types import WEAK_INT, ArrayType, Scalar, TupleType, Type

# Texts about which a fact can be recorded: of variables and constant expressions.
_STEADY = re.compile(r"[\w\s()+\-*/%<>&|]+")
_CALL = re.compile(r"\b(?!PG_|pg_[iu]\d+\b)\w+\s*\(")
_MAY_OVERFLOW = ("add", "subtract", "multiply", "left_shift")
ALL = "all"  # among sites: no range is reliable


class KnownRanges:
    """The ranges of texts, and which of them are less than others.

    known: the ranges by text. less: pairs of texts of which the first is less than the second.
    wild: variables that may have overflowed, whatever their signs suggest. given: for a device
    function, the ranges of its arguments, see ranges_of.
    """

    def __init__(self, unit: emit.Unit, given: Sequence[Any]) -> None:
        self.unit = unit
        self.given = given
        self.wild: set[str] = set()

    def begin_walk(self, arguments: Sequence[tuple[str, Type]], kernel: bool) -> None:
        """Set the ranges at the start of a walk. arguments: names in C and types."""
        self.known: dict[str, Range] = {}
        self.less: set[tuple[str, str]] = set()
        if not self.unit.checks:
            return
        for d in range(3):
            groups, size = ("groups", d), ("size", d)
            everywhere = ranges.times(groups, size)
            for text, low, end in (
                (f"((pg_i64)PG_LOCAL_ID({d}))", 0, ranges.add(size, -1)),
                (f"((pg_i64)PG_GROUP_ID({d}))", 0, ranges.add(groups, -1)),
                (f"PG_ID({d})", 0, ranges.add(everywhere, -1)),
                (f"((pg_i64)PG_SIZE({d}))", size, size),
                (f"((pg_i64)PG_GROUPS({d}))", groups, groups),
                (f"PG_IDS({d})", everywhere, everywhere),
            ):
                self.known[text] = low, end
        for n, (cname, t) in enumerate(arguments):
            if kernel:
                self._begin_argument(cname, t, n)
            elif self.given:
                self._begin_given(cname, t, self.given[n])

    def _begin_argument(self, cname: str, t: Type, where: Any) -> None:
        if isinstance(t, Scalar) and t.dtype.kind in "iu":
            self.known[cname] = ("value", where), ("value", where)
        elif isinstance(t, ArrayType):
            for axis in range(t.ndim):
                n = ("shape", where, axis)
                self.known[f"{cname}_n{axis}"] = n, n
        elif isinstance(t, TupleType):
            path = where if isinstance(where, tuple) else (where,)
            for i, item in enumerate(t.items):
                self._begin_argument(f"{cname}_{i}", item, (*path, i))

    def _begin_given(self, cname: str, t: Type, given: Any) -> None:
        if isinstance(t, Scalar):
            if given is not None:
                self.known[cname] = given
        elif isinstance(t, ArrayType):
            for axis, one in enumerate(given):
                if one is not None:
                    self.known[f"{cname}_n{axis}"] = one
        elif isinstance(t, TupleType):
            for i, (item, one) in enumerate(zip(t.items, given)):
                self._begin_given(f"{cname}_{i}", item, one)

    def ranges_of(self, value: Value) -> Any:
        """Return the ranges of an argument of a device function: of an integer, of an array's
        lengths, of each item of a tuple."""
        if value.is_tuple:
            return tuple(map(self.ranges_of, value.items))
        if value.is_array:
            return tuple(map(self.length_range, value.shape))
        if isinstance(value.type, Scalar) and value.type.dtype.kind in "iu":
            return self.range_of(value)
        return None

    # ---- ranges

    def is_within(self, index: Value, n: int) -> bool:
        """Whether an index is known to be one of *n* items, counted from either end."""
        low, high = self.range_of(index)
        return isinstance(low, int) and isinstance(high, int) and -n <= low and high < n

    def range_of(self, value: Value) -> Range:
        """Return the range of an integer."""
        if value.is_const and isinstance(value.const, (int, np.integer)):
            return int(value.const), int(value.const)
        found = value.range or ranges.UNKNOWN
        known = self.known.get(value.text)
        if known is not None:
            found = ranges.intersection(known, found)
        assert isinstance(value.type, Scalar)
        dtype = value.type.dtype
        if dtype.kind == "b":
            return 0, 1
        if dtype.itemsize < 4:  # larger values exceed most arrays
            limits = np.iinfo(dtype)
            found = (
                int(limits.min) if found[0] is None else found[0],
                int(limits.max) if found[1] is None else found[1],
            )
        sure = value.nonneg and value.range is None and value.text not in self.wild
        if (sure or dtype.kind == "u") and not ranges._is_nonneg(found[0]):
            found = (0 if found[0] is None else ranges.maximum(found[0], 0), found[1])
        return found

    def length_range(self, text: str) -> Range:
        if text.isdigit():
            return int(text), int(text)
        found = self.known.get(text, ranges.UNKNOWN)
        return (0 if found[0] is None else found[0]), found[1]

    def computed(self, result: Value, name: str, a: Value, b: Value) -> Value:
        """Return *result* with the range that an operation on two integers gives it."""
        if self.unit.checks and all(is_integer(v) for v in (result, a, b)):
            one, two = self.operand_range(a, result), self.operand_range(b, result)
            found = ranges.of_operation(name, one, two)
            if name in _MAY_OVERFLOW and not result.is_const:
                found = self._without_overflow(found)
            result.range = self.wrapped(found, result)
        return result

    def _without_overflow(self, found: Range) -> Range:
        """Return a range that is valid if launches find that its ends fit 64 bits; if an end is
        unknown, the number may be anything."""
        if found[0] is None or found[1] is None:
            return ranges.UNKNOWN
        if self.unit.tests is None or ALL in self.unit.forced:
            return found if type(found[0]) is type(found[1]) is int else ranges.UNKNOWN
        tests = [(-1, ranges.maximum(end, 0)) for end in found if _may_be_large(end)]
        if any(high is None for _, high in tests):  # too long
            return ranges.UNKNOWN
        for test in tests:
            self.unit.tests.setdefault(test, set()).add(ALL)
        return found

    def operand_range(self, value: Value, other: Value) -> Range:
        """Return the range of a number that is converted to the type of another one, if it is
        weak."""
        found = self.range_of(value)
        weak = value.is_weak and not value.is_const and not other.is_weak
        return self.wrapped(found, other) if weak else found

    def wrapped(self, found: Range, value: Value) -> Range:
        """Return a range as wrapped by the value's type."""
        assert isinstance(value.type, Scalar)
        dtype = value.type.dtype
        if dtype == np.dtype("i8") or dtype.kind == "b":
            return found
        limits = np.iinfo(dtype)
        return ranges.within(found, int(limits.min), min(int(limits.max), (1 << 63) - 1))

    def copied(self, result: Value, value: Value) -> Value:
        """Return *result*, which is *value* in another integer type."""
        if self.unit.checks and is_integer(result) and is_integer(value):
            if value.dtype == np.dtype("u8") != result.dtype:
                result.nonneg = False  # it may have become negative
                return result
            result.range = self.wrapped(self.range_of(value), result)
        return result

    # ---- effects of statements

    def note(self, cname: str, t: Type, value: Value) -> bool:
        """Record that a variable was set to a value. Returns whether the next walk must know more
        about it."""
        known: dict[str, Range] = {}
        less: set[tuple[str, str]] = set()
        self._note(cname, t, value, known, less)  # about the previous value, as in i += 1
        self.invalidate(cname)
        self.known |= known
        self.less |= less
        wild = {text for text, found in known.items() if found[0] is None} - self.wild
        self.wild |= wild
        return bool(wild)

    def _note(self, cname: str, t: Type, value: Value, known: Any, less: Any) -> None:
        if isinstance(t, Scalar):
            if t.dtype.kind not in "iu" or not is_integer(value):
                return
            assert isinstance(value.type, Scalar)
            if value.is_const or value.type.dtype == t.dtype or _is_wider(t, value.type):
                known[cname] = self.range_of(value)
            less |= {(cname, b) for a, b in self.less if a == value.text and cname not in b}
        elif isinstance(t, ArrayType):
            for i, n in enumerate(value.shape):
                known[f"{cname}_n{i}"] = self.length_range(n)
                less |= {(a, f"{cname}_n{i}") for a, b in self.less if b == n and cname not in a}
        elif isinstance(t, TupleType):
            for i, (item, part) in enumerate(zip(t.items, value.items)):
                self._note(f"{cname}_{i}", item, part, known, less)

    def invalidate(self, cname: str) -> None:
        """Drop what is known of a variable."""
        self.known = {text: r for text, r in self.known.items() if cname not in text}
        self.less = {(a, b) for a, b in self.less if cname not in a and cname not in b}

    def taken(self, test: Value, outcome: bool) -> None:
        """Record that a test was true, or false, from here on."""
        if self.unit.checks:
            for text, found in test.facts[0 if outcome else 1]:
                if isinstance(found, str):
                    self.less.add((text, found))
                else:
                    old = self.known.get(text, ranges.UNKNOWN)
                    self.known[text] = ranges.intersection(old, found)

    def state(self) -> Any:
        return dict(self.known), set(self.less)

    def restore(self, state: Any) -> None:
        self.known, self.less = dict(state[0]), set(state[1])

    def merge(self, one: Any, other: Any) -> None:
        """Merge two branches. None: the branch does not get here."""
        if one is None or other is None:
            self.restore(one or other or self.state())
            return
        both = one[0].keys() & other[0].keys()
        self.known = {text: ranges.join(one[0][text], other[0][text]) for text in both}
        self.less = one[1] & other[1]

    @contextmanager
    def only_if(self, test: Value, outcome: bool = True) -> Iterator[None]:
        """Inside the ``with`` block, use the ranges that hold if a test is true, or false."""
        state = self.state() if self.unit.checks else None
        self.taken(test, outcome)
        yield
        if state is not None:
            self.restore(state)

    def tested(self, result: Value, name: str, a: Value, b: Value) -> Value:
        """Return the result of a comparison, with the facts about both operands."""
        if self.unit.checks and is_integer(a) and is_integer(b):
            swap = {"less": "greater", "less_equal": "greater_equal"}
            swap |= {new: old for old, new in swap.items()}
            other = {"less": "greater_equal", "greater_equal": "less"}
            other |= {"greater": "less_equal", "less_equal": "greater", "equal": "", "": ""}
            result.facts = tuple(
                [*self._facts(how, a, b), *self._facts(swap.get(how, how), b, a)]
                for how in (name, other.get(name, "equal" if name == "not_equal" else ""))
            )
        return result

    def _facts(self, name: str, a: Value, b: Value) -> list[Any]:
        """Return the facts about a that follow from ``a <name> b``."""
        text = a.text
        if a.is_const or not _STEADY.fullmatch(text) or _CALL.search(text):
            return []
        assert isinstance(a.type, Scalar)
        assert isinstance(b.type, Scalar)
        if (a.type.dtype == np.dtype("u8")) != (b.type.dtype == np.dtype("u8")) and not b.is_const:
            return []
        low, high = self.operand_range(b, a)
        if name == "less":
            found: list[Any] = [(text, (None, ranges.add(high, -1)))]
            if not _CALL.search(b.text) and _STEADY.fullmatch(b.text) and a.type.dtype.kind == "i":
                found.append((emit.convert(a, WEAK_INT), emit.convert(b, WEAK_INT)))
            return found
        if name == "less_equal":
            return [(text, (None, high))]
        if name == "greater":
            return [(text, (ranges.add(low, 1), None))]
        if name == "greater_equal":
            return [(text, (low, None))]
        return [(text, (low, high))] if name == "equal" else []

    def counts(self, text: str, n: str) -> None:
        """Record that a text stands for indices of an axis of length *n*."""
        if self.unit.checks:
            self.known[text] = 0, ranges.add(self.length_range(n)[1], -1)
            self.less.add((text, n))

    def count_range(
        self, item: Value, start: Value, stop: Value, step: Value, stored: Sequence[str]
    ) -> None:
        """Return the range of the counter of a loop over a range. stored: the C names of the
        variables that the loop assigns."""
        first, end = self.range_of(start), self.range_of(stop)
        up = step.nonneg or (step.is_const and step.const > 0)
        if up:
            item.range = first[0], ranges.add(end[1], -1)
            text = emit.convert(stop, WEAK_INT)
            if _STEADY.fullmatch(text) and not _CALL.search(text):
                if not any(cname in text for cname in stored):
                    self.less.add((item.text, text))
        elif step.is_const:
            item.range = ranges.add(end[0], 1), first[1]


def is_integer(value: Value) -> bool:
    return value.is_scalar and value.dtype.kind in "iu"


def together(facts: Sequence[Any], is_and: bool) -> Any:
    """Return the ranges that follow from several tests all of which, or one of which, is true."""
    if len(facts) == 1:
        return facts[0]
    all_of_them = [fact for one in facts for fact in one[0 if is_and else 1]]
    return (all_of_them, ()) if is_and else ((), all_of_them)


def _is_wider(to: Scalar, of: Scalar) -> bool:
    return to.dtype == np.dtype("i8") and of.dtype != np.dtype("u8")


def _may_be_large(end: Any) -> bool:
    """Whether an end may not fit 64 bits: it has products other than one of blocks and threads, or
    a number that was an argument."""
    if type(end) is not tuple:
        return type(end) is int and abs(end) >= 1 << 31
    if end[0] in ("groups", "size", "shape", "value"):
        return bool(end[0] == "value")
    if end[0] == "*":
        return not all(map(_is_of_the_grid, end[1:]))
    return any(map(_may_be_large, end[1:]))


def _is_of_the_grid(end: Any) -> bool:
    """Whether it consists of blocks or threads and small numbers, without a product."""
    if type(end) is int:
        return abs(end) < 1 << 16
    return end[0] in ("groups", "size") or (end[0] == "+" and all(map(_is_of_the_grid, end[1:])))
