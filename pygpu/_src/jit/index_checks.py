"""Checks of indices in kernels.

Where an index is in a known range (see :mod:`ranges`), the launch compares the range with the
lengths, and the kernel's text has no check. What is left is checked where it is used: an access out
of bounds is left out (what is read is 0), and the first one is written into a record, the memory
behind ``pg_error``, of which words are told here and at :mod:`report`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pygpu import _array
from pygpu._src.codegen import dtypes
from pygpu._src.util.frozen import Frozen

from . import emit, ranges
from .ir import Value
from .ranges import Range
from .types import WEAK_INT, ArrayType, Scalar, TupleType, Type

__all__ = ["IMPLICIT", "PLACES", "SCRATCH", "Checked", "Checks", "Site", "is_integer", "together"]

SCRATCH = 64  # where in the record records out of bounds are read and written [bytes]
SCRATCH_BYTES = _array._RECORD_BYTES - SCRATCH

# Texts of which a fact can be kept: of variables and of what is the same all the time.
_STEADY = re.compile(r"[\w\s()+\-*/%<>&|]+")
_VERSION = re.compile(r"__\d+$")  # see FunctionCompiler.rebind
_CALL = re.compile(r"\b(?!PG_|pg_[iu]\d+\b)\w+\s*\(")

_HELPERS = {
    # Words: the site, whether somebody has it, the kernel, two of the index, of the length, of
    # the block and of the thread, see PLACES.
    "pgc_bad": """\
PG_INLINE pg_i64 pgc_bad(PG_GLOBAL pg_i32 *e, pg_i32 k, pg_i64 b, pg_i64 t, pg_i32 site,
    pg_i64 i, pg_i64 n)
{
#ifdef PYGPU_SIMCUDA_H /* the simulator's atomicCAS() makes threads of what would be a loop */
    if (__sync_bool_compare_and_swap(e + 1, 0, 1)) {
#else
    if (pg_atomic_cas_i32(e + 1, 0, 1) == 0) {
#endif
        e[2] = k;
        e[4] = (pg_i32)i; e[5] = (pg_i32)(i >> 32);
        e[6] = (pg_i32)n; e[7] = (pg_i32)(n >> 32);
        e[8] = (pg_i32)b; e[9] = (pg_i32)(b >> 32);
        e[10] = (pg_i32)t; e[11] = (pg_i32)(t >> 32);
#ifdef PYGPU_SIMCUDA_H
        __atomic_store_n(e, site, __ATOMIC_RELEASE);
#else
        PG_FENCE;
        e[0] = site;
#endif
    }
    return -1;
}
""",
    "pgc_in": """\
PG_INLINE pg_i64 pgc_in(pg_i64 i, pg_i64 n, PG_GLOBAL pg_i32 *e, pg_i32 k, pg_i64 b, pg_i64 t,
    pg_i32 site)
{ /* an index that is not negative, or -1 */
    return (pg_u64)i < (pg_u64)n ? i : pgc_bad(e, k, b, t, site, i, n);
}
""",
    "pgc_wrap": """\
PG_INLINE pg_i64 pgc_wrap(pg_i64 i, pg_i64 n, PG_GLOBAL pg_i32 *e, pg_i32 k, pg_i64 b, pg_i64 t,
    pg_i32 site)
{ /* an index from the begin or the end as one from the begin, or -1 */
    pg_i64 from = i < 0 ? i + n : i;
    return (pg_u64)from < (pg_u64)n ? from : pgc_bad(e, k, b, t, site, i, n);
}
""",
    "pgc_row": """\
PG_INLINE pg_i64 pgc_row(pg_i64 i, pg_i64 n, pg_i64 j) { return i < 0 || j < 0 ? -1 : i * n + j; }
""",
    "pgc_far": """\
PG_INLINE pg_i64 pgc_far(pg_i64 at, pg_i64 i, pg_i64 step)
{ /* bytes from the first item, or -2**63 */
    return at == PGC_NONE || i < 0 ? PGC_NONE : at + i * step;
}
""",
}
# Who a thread is. The kernel finds it out, not a function: the simulator runs kernels as loops of
# which no function asks.
PLACES = {
    "pg_block": "PG_GROUP_ID(0) | (pg_i64)PG_GROUP_ID(1) << 32 | (pg_i64)PG_GROUP_ID(2) << 48",
    "pg_thread": "PG_LOCAL_ID(0) | (pg_i64)PG_LOCAL_ID(1) << 20 | (pg_i64)PG_LOCAL_ID(2) << 40",
}
IMPLICIT = ("pg_error", "pg_kernel", *PLACES)
_NONE = "(-9223372036854775807 - 1)"


_MAY_OVERFLOW = ("add", "subtract", "multiply", "left_shift")
ALL = "all"  # among sites: no range can be relied on


class Site(Frozen):
    """An index that is checked. place: of the file and line; text: the array; axis: of it."""

    function: str
    place: str
    text: str
    axis: int
    ndim: int
    column: int

    @property
    def key(self) -> tuple[Any, ...]:
        return self.function, self.place, self.column, self.text, self.axis


class Checked(str):
    """The text of an index that is negative where it would be out of bounds. strided: bytes, which
    are -2**63 then; else items."""

    strided: bool

    def __new__(cls, text: str, strided: bool) -> Checked:
        made = super().__new__(cls, text)
        made.strided = strided
        return made

    def outside(self, text: str) -> str:
        """Whether a variable with its value is out of bounds."""
        return f"{text} == {_NONE}" if self.strided else f"{text} < 0"


class Checks:
    """Methods of the function compiler; *self* is one."""

    unit: emit.Unit
    source: Any
    conditional: int
    kernel: bool
    arg_types: tuple[Type, ...]
    parameters: list[str]
    vars: dict[str, Any]
    emit: Callable[[str], None]
    stable: Callable[[str], str]
    need_implicit: Callable[[str, str, str], None]
    given_ranges: Sequence[Any]  # of a device function: see ranges_of
    wild: set[str]  # variables that may be what overflowed, whatever their signs say
    changed: bool

    def begin_ranges(self) -> None:
        """What is known at the begin of a walk, by the text that stands for it."""
        self.known: dict[str, Range] = {}
        self.less: set[tuple[str, str]] = set()  # texts of which the first is less
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
        for n, (name, t) in enumerate(zip(self.parameters, self.arg_types)):
            if self.kernel:
                self._begin_argument(self.vars[name].cname, t, n)
            elif self.given_ranges:
                self._begin_given(self.vars[name].cname, t, self.given_ranges[n])

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
        """What a device function is told of an argument: the range of an integer, those of an
        array's lengths, for each item of a tuple."""
        if value.is_tuple:
            return tuple(map(self.ranges_of, value.items))
        if value.is_array:
            return tuple(map(self.length_range, value.shape))
        if isinstance(value.type, Scalar) and value.type.dtype.kind in "iu":
            return self.range_of(value)
        return None

    # ---- ranges

    def range_of(self, value: Value) -> Range:
        """The range of an integer."""
        if value.is_const and isinstance(value.const, (int, np.integer)):
            return int(value.const), int(value.const)
        found = value.range or ranges.UNKNOWN
        known = self.known.get(value.text)
        if known is not None:
            found = ranges.meet(known, found)
        assert isinstance(value.type, Scalar)
        dtype = value.type.dtype
        if dtype.kind == "b":
            return 0, 1
        if dtype.itemsize < 4:  # more is larger than most arrays
            limits = np.iinfo(dtype)
            found = (
                int(limits.min) if found[0] is None else found[0],
                int(limits.max) if found[1] is None else found[1],
            )
        sure = value.nonneg and value.range is None and value.text not in self.wild
        if (sure or dtype.kind == "u") and not ranges._is_nonneg(found[0]):
            found = (0 if found[0] is None else ranges.most(found[0], 0), found[1])
        return found

    def length_range(self, text: str) -> Range:
        if text.isdigit():
            return int(text), int(text)
        found = self.known.get(text, ranges.UNKNOWN)
        return (0 if found[0] is None else found[0]), found[1]

    def computed(self, result: Value, name: str, a: Value, b: Value) -> Value:
        """*result* with the range that an operation on two integers gives it."""
        if self.unit.checks and all(is_integer(v) for v in (result, a, b)):
            one, two = self.operand_range(a, result), self.operand_range(b, result)
            found = ranges.of_operation(name, one, two)
            if name in _MAY_OVERFLOW and not result.is_const:
                found = self._without_overflow(found)
            result.range = self.wrapped(found, result)
        return result

    def _without_overflow(self, found: Range) -> Range:
        """A range that holds if launches find that 64 bits hold its ends; if one is not known, the
        number may be anything."""
        if found[0] is None or found[1] is None:
            return ranges.UNKNOWN
        if self.unit.tests is None or ALL in self.unit.forced:
            return found if type(found[0]) is type(found[1]) is int else ranges.UNKNOWN
        for end in found:
            if _may_be_large(end):
                self.unit.tests.setdefault((-1, ranges.most(end, 0)), set()).add(ALL)
        return found

    def operand_range(self, value: Value, other: Value) -> Range:
        """The range of a number that is converted to the type of another one, if it is weak."""
        found = self.range_of(value)
        weak = value.is_weak and not value.is_const and not other.is_weak
        return self.wrapped(found, other) if weak else found

    def wrapped(self, found: Range, value: Value) -> Range:
        """A range as a number of the value's type has it."""
        assert isinstance(value.type, Scalar)
        dtype = value.type.dtype
        if dtype == np.dtype("i8") or dtype.kind == "b":
            return found
        limits = np.iinfo(dtype)
        return ranges.within(found, int(limits.min), min(int(limits.max), (1 << 63) - 1))

    def copied(self, result: Value, value: Value) -> Value:
        """*result*, which is *value* in another integer type."""
        if self.unit.checks and is_integer(result) and is_integer(value):
            if value.type.dtype == np.dtype("u8") != result.type.dtype:  # type: ignore[union-attr]
                result.nonneg = False  # it may have become negative
                return result
            result.range = self.wrapped(self.range_of(value), result)
        return result

    # ---- what statements tell

    def note(self, cname: str, t: Type, value: Value) -> None:
        """A variable was set to a value."""
        if not self.unit.checks:
            return
        known: dict[str, Range] = {}
        less: set[tuple[str, str]] = set()
        self._note(cname, t, value, known, less)  # of what was before, as in i += 1
        self.forget(cname)
        self.known |= known
        self.less |= less
        for text, found in known.items():
            if found[0] is None and text not in self.wild:
                self.wild.add(text)
                self.changed = True

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

    def forget(self, cname: str) -> None:
        """A variable is not any more what it was."""
        self.known = {text: r for text, r in self.known.items() if cname not in text}
        self.less = {(a, b) for a, b in self.less if cname not in a and cname not in b}

    def forget_stored(self, *nodes: Any) -> None:
        """All variables that statements assign: before a loop, whose end comes before its begin."""
        if not self.unit.checks:
            return
        for node in nodes:
            for name in stored(node):
                v = self.vars.get(name)
                if v is not None:
                    self.forget(_VERSION.sub("", v.cname))

    def taken(self, test: Value, way: bool) -> None:
        """From here on, a test was true, or false."""
        if self.unit.checks:
            for text, found in test.facts[0 if way else 1]:
                if isinstance(found, str):
                    self.less.add((text, found))
                else:
                    old = self.known.get(text, ranges.UNKNOWN)
                    self.known[text] = ranges.meet(old, found)

    def state(self) -> Any:
        return dict(self.known), set(self.less)

    def restore(self, state: Any) -> None:
        self.known, self.less = dict(state[0]), set(state[1])

    def merge(self, one: Any, other: Any) -> None:
        """After two ways that come together. None: it does not come there."""
        if one is None or other is None:
            self.restore(one or other or self.state())
            return
        both = one[0].keys() & other[0].keys()
        self.known = {text: ranges.join(one[0][text], other[0][text]) for text in both}
        self.less = one[1] & other[1]

    @contextmanager
    def only_if(self, test: Value, way: bool = True) -> Iterator[None]:
        """What is evaluated if a test was true, or false."""
        state = self.state() if self.unit.checks else None
        self.taken(test, way)
        yield
        if state is not None:
            self.restore(state)

    def tested(self, result: Value, name: str, a: Value, b: Value) -> Value:
        """The result of a comparison, with what it tells of the two."""
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
        """What a <name> b tells of a."""
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
        """A text stands for indices of an axis of length *n*."""
        if self.unit.checks:
            self.known[text] = 0, ranges.add(self.length_range(n)[1], -1)
            self.less.add((text, n))

    def count_range(
        self, item: Value, start: Value, stop: Value, step: Value, node: ast.AST
    ) -> None:
        """What is known of the counter of a loop over a range; *node* is the loop."""
        if not self.unit.checks:
            return
        first, end = self.range_of(start), self.range_of(stop)
        up = step.nonneg or (step.is_const and step.const > 0)
        if up:
            item.range = first[0], ranges.add(end[1], -1)
            text = emit.convert(stop, WEAK_INT)
            changes = [v.cname for name in stored(node) if (v := self.vars.get(name)) is not None]
            if _STEADY.fullmatch(text) and not _CALL.search(text):
                if not any(_VERSION.sub("", cname) in text for cname in changes):
                    self.less.add((item.text, text))
        elif step.is_const:
            item.range = ranges.add(end[0], 1), first[1]

    # ---- indices

    def proven(self, value: Value, n: str, site: Site) -> bool:
        """Whether an index needs no check in the kernel: it is in an axis of length *n*, or in a
        range that each launch compares with it."""
        low, high = self.range_of(value)
        length = self.length_range(n)[0]
        text = emit.convert(value, WEAK_INT)
        tests: list[tuple[Any, Any]] = []
        if (text, n) not in self.less:
            if high is None:
                return False
            tests.append((high, length))
        if not ranges._is_nonneg(low):
            if low is None:
                return False
            tests.append((ranges.minus(ranges.add(length, 1)), low))  # it counts from the end
        needed = []
        for test in tests:
            known = ranges.certainly_less(*test)
            forced = not {site.key, ALL}.isdisjoint(self.unit.forced)
            if known is False or (known is None and forced):
                return False
            if known is None:
                needed.append(test)
        found = self.unit.tests
        if needed and found is None:
            return False
        for test in needed:
            assert found is not None
            found.setdefault(test, set()).add(site.key)
        return True

    def site(self, node: Any, axis: int, ndim: int) -> Site:
        array = getattr(node, "value", None)
        if isinstance(node, ast.Call) and node.args:
            array = node.args[0]
        text = ast.unparse(array) if isinstance(array, ast.expr) else "an array"
        if not isinstance(node, (ast.Subscript, ast.Call)):
            text = ast.unparse(node) if isinstance(node, ast.expr) else "an array"
        line = getattr(node, "lineno", 1) + self.source.first
        place = f"{self.source.filename}:{line}"
        column = getattr(node, "col_offset", 0)
        return Site(self.source.name, place, text, axis, ndim, column)

    def checked_index(self, value: Value, n: str, site: Site) -> str:
        """The text of an index that is -1 where it is out of bounds, and reported then."""
        assert isinstance(value.type, Scalar)
        number = self.unit.number_of(site)
        self.need_implicit("pg_error", "PG_GLOBAL pg_i32 *pg_error", "")
        self.need_implicit("pg_kernel", "pg_i32 pg_kernel", "")
        for name, text in PLACES.items():
            self.need_implicit(name, f"pg_i64 {name}", f"pg_i64 {name} = {text};")
        self.need("pgc_bad")
        plain = value.nonneg or value.type.dtype.kind == "u"
        name = self.need("pgc_in" if plain else "pgc_wrap")
        about = f"pg_error, pg_kernel, pg_block, pg_thread, {number}"
        return f"{name}({emit.convert(value, WEAK_INT)}, {n}, {about})"

    def need(self, name: str) -> str:
        self.unit.features.add("atomics")
        self.unit.texts.setdefault(name, _HELPERS[name].replace("PGC_NONE", _NONE))
        return name

    def joined(self, t: ArrayType, texts: Sequence[str], value: Value) -> Checked:
        """Indices of all axes as one."""
        if t.contiguous:
            text = texts[0]
            for i, n in zip(texts[1:], value.shape[1:]):
                text = f"{self.need('pgc_row')}({text}, {n}, {i})"
            return Checked(text, False)
        text = "0"
        for i, step in zip(texts, emit.strides_of(value)):
            text = f"{self.need('pgc_far')}({text}, {i}, {step})"
        return Checked(text, True)

    def checked_load(self, t: ArrayType, pointer: str, index: Checked) -> str:
        """The item at a place, 0 if it is out of bounds."""
        kind, code = emit.pointer_type(t), dtypes.code(t.dtype)
        name = f"pgc_load_{t.space}_{code}{'_far' if index.strided else ''}"
        place = self.place_text(t, "p", "at", index.strided)
        zero = emit.literal(0, t.dtype)
        self.unit.texts.setdefault(
            name,
            f"PG_INLINE {dtypes.compute_type(t.dtype)} {name}({kind}p, pg_i64 at)\n"
            f"{{ if ({index.outside('at')}) return {zero}; "
            f"return {dtypes.load(t.dtype, *place)}; }}\n",
        )
        return f"{name}({pointer}, {index})"

    def place_text(self, t: ArrayType, pointer: str, at: str, strided: bool) -> tuple[str, str]:
        if not strided:
            return pointer, at
        kind = emit.pointer_type(t)
        char = kind.replace(dtypes.storage_type(t.dtype), "char")
        return f"(({kind})(({char}){pointer} + {at}))", "0"

    def checked_record(self, t: ArrayType, pointer: str, index: Checked) -> str:
        """The address of a record, that of memory for it if it is out of bounds: of the report's,
        or of the array's begin where that is in another address space."""
        kind = emit.pointer_type(t)
        char = kind.replace(dtypes.storage_type(t.dtype), "char")
        name = f"pgc_record_{t.space}_{t.dtype.itemsize}{'_far' if index.strided else ''}"
        step = "at" if index.strided else f"at * {t.dtype.itemsize}"
        elsewhere = "p"
        if t.space == "global" and t.dtype.itemsize <= SCRATCH_BYTES:
            elsewhere = f"({char})e + {SCRATCH}"
        self.unit.texts.setdefault(
            name,
            f"PG_INLINE {char}{name}({char}p, pg_i64 at, PG_GLOBAL pg_i32 *e)\n"
            f"{{ return {index.outside('at')} ? {elsewhere} : p + {step}; }}\n",
        )
        return f"{name}(({char}){pointer}, {index}, pg_error)"

    def checked_atomic(self, t: ArrayType, function: str, count: int, index: Checked) -> str:
        """A function that does an atomic operation, or gives 0 if it is out of bounds."""
        kind, number = emit.pointer_type(t), dtypes.compute_type(t.dtype)
        name = f"pgc_{function}{'_far' if index.strided else ''}"
        pointer, at = self.place_text(t, "p", "at", index.strided)
        place = pointer if at == "0" else f"{pointer} + {at}"
        names = [f"x{i}" for i in range(count)]
        declared = "".join(f", {number} {n}" for n in names)
        self.unit.texts.setdefault(
            name,
            f"PG_INLINE {number} {name}({kind}p, pg_i64 at{declared})\n"
            f"{{ if ({index.outside('at')}) return 0; "
            f"return {function}({', '.join([place, *names])}); }}\n",
        )
        return name


def is_integer(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.dtype.kind in "iu"


def together(facts: Sequence[Any], is_and: bool) -> Any:
    """What is known by several tests that must all be true, or of which one must be."""
    if len(facts) == 1:
        return facts[0]
    all_of_them = [fact for one in facts for fact in one[0 if is_and else 1]]
    return (all_of_them, ()) if is_and else ((), all_of_them)


def _is_wider(to: Scalar, of: Scalar) -> bool:
    return to.dtype == np.dtype("i8") and of.dtype != np.dtype("u8")


def _may_be_large(end: Any) -> bool:
    """Whether 64 bits may not hold an end: it has products, but one of blocks and threads, or a
    number that was an argument."""
    if type(end) is not tuple:
        return type(end) is int and abs(end) >= 1 << 31
    if end[0] in ("groups", "size", "shape", "value"):
        return bool(end[0] == "value")
    if end[0] == "*":
        return not all(map(_is_of_the_grid, end[1:]))
    return any(map(_may_be_large, end[1:]))


def _is_of_the_grid(end: Any) -> bool:
    """Whether it is made of blocks or threads and small numbers, without a product."""
    if type(end) is int:
        return abs(end) < 1 << 16
    return end[0] in ("groups", "size") or (end[0] == "+" and all(map(_is_of_the_grid, end[1:])))


def stored(node: Any) -> set[str]:
    """The names that statements assign."""
    nodes = node if isinstance(node, list) else [node]
    return {
        inner.id
        for one in nodes
        for inner in ast.walk(one)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, (ast.Store, ast.Del))
    }
