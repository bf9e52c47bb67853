"""Checks of indices in kernels.

If an index is in a known range (:mod:`known_ranges`), the launch compares the range with the
lengths, and the kernel has no check. All others are checked in the kernel: an access out of bounds
is skipped (reads give 0), and the first one is written into a record, the memory behind
``pg_error``. Its words are described here and in :mod:`pygpu._src.jit.check_report`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pygpu import _array
from pygpu._src.codegen import dtypes
from pygpu._src.util.frozen import Frozen

from .. import emit, ranges
from ..ir import Value
from ..types import WEAK_INT, ArrayType, Scalar
from .context import FunctionContext
from .known_ranges import ALL

SCRATCH = 64  # offset in the record for reads and writes of records out of bounds [bytes]
SCRATCH_BYTES = _array._RECORD_BYTES - SCRATCH
_HELPERS = {
    # Words: the site, whether the record is taken, the kernel, two each for the index, the length,
    # the block and the thread, see THREAD_IDENTITY.
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
# The identity of a thread. The kernel computes it rather than a function, because the simulator
# runs kernels as loops only if no function asks for it.
THREAD_IDENTITY = {
    "pg_block": "PG_GROUP_ID(0) | (pg_i64)PG_GROUP_ID(1) << 32 | (pg_i64)PG_GROUP_ID(2) << 48",
    "pg_thread": "PG_LOCAL_ID(0) | (pg_i64)PG_LOCAL_ID(1) << 20 | (pg_i64)PG_LOCAL_ID(2) << 40",
}
IMPLICIT = ("pg_error", "pg_kernel", *THREAD_IDENTITY)
_NONE = "(-9223372036854775807 - 1)"


class Site(Frozen):
    """A checked index. location: its file and line; text: the array's; axis: the array's axis."""

    function: str
    location: str
    text: str
    axis: int
    ndim: int
    column: int

    @property
    def key(self) -> tuple[Any, ...]:
        return self.function, self.location, self.column, self.text, self.axis


class RaisedException(str):
    """An exception that a kernel raises; as a string, it has everything that distinguishes it from
    others. function: its name if the message begins with it and the thread, as in Numba."""

    kind: type[Exception]
    args: tuple[Any, ...]
    location: str
    function: str

    def __new__(
        cls, kind: type[Exception], args: tuple[Any, ...], location: str, function: str = ""
    ) -> RaisedException:
        text = f"{kind.__module__}.{kind.__qualname__}{args!r} {location} {function}"
        made = super().__new__(cls, text)
        made.kind, made.args, made.location, made.function = kind, args, location, function
        return made


class Checked(str):
    """The source of an index that is negative if it is out of bounds. strided: in bytes, -2**63
    then; otherwise in items."""

    strided: bool

    def __new__(cls, text: str, strided: bool) -> Checked:
        made = super().__new__(cls, text)
        made.strided = strided
        return made

    def outside(self, text: str) -> str:
        """Whether a variable with this value is out of bounds."""
        return f"{text} == {_NONE}" if self.strided else f"{text} < 0"


def raised_exception(
    fc: FunctionContext, kind: type[Exception], message: str, node: Any
) -> RaisedException:
    """Return a Python exception that an operation of the kernel raises."""
    location = f"{fc.source.filename}:{getattr(node, 'lineno', 1) + fc.source.first}"
    return RaisedException(kind, (message,), location)


def is_proven(fc: FunctionContext, value: Value, n: str, site: Site) -> bool:
    """Whether an index needs no check in the kernel: it is within an axis of length *n*, or in a
    range that each launch compares with it."""
    low, high = fc.ranges.range_of(value)
    length = fc.ranges.length_range(n)[0]
    text = emit.convert(value, WEAK_INT)
    tests: list[tuple[Any, Any]] = []
    if (text, n) not in fc.ranges.less:
        if high is None:
            return False
        tests.append((high, length))
    if not ranges._is_nonneg(low):
        if low is None:
            return False
        tests.append((ranges.minus(ranges.add(length, 1)), low))  # it counts from the end
    needed = []
    for test in tests:
        if None in test:  # an end is too long
            return False
        proven = ranges.certainly_less(*test)
        forced = not {site.key, ALL}.isdisjoint(fc.unit.forced)
        if proven is False or (proven is None and forced):
            return False
        if proven is None:
            needed.append(test)
    found = fc.unit.tests
    if needed and found is None:
        return False
    for test in needed:
        assert found is not None
        found.setdefault(test, set()).add(site.key)
    return True


def site_of(fc: FunctionContext, node: Any, axis: int, ndim: int) -> Site:
    array = getattr(node, "value", None)
    if isinstance(node, ast.Call) and node.args:
        array = node.args[0]
    text = ast.unparse(array) if isinstance(array, ast.expr) else "an array"
    if not isinstance(node, (ast.Subscript, ast.Call)):
        text = ast.unparse(node) if isinstance(node, ast.expr) else "an array"
    line = getattr(node, "lineno", 1) + fc.source.first
    location = f"{fc.source.filename}:{line}"
    column = getattr(node, "col_offset", 0)
    return Site(fc.source.name, location, text, axis, ndim, column)


def checked_index(fc: FunctionContext, value: Value, n: str, site: Site) -> str:
    """Return the source of an index that is -1, and reported, if it is out of bounds."""
    assert isinstance(value.type, Scalar)
    about = report(fc, site)
    plain = value.nonneg or value.type.dtype.kind == "u"
    name = need_helper(fc, "pgc_in" if plain else "pgc_wrap")
    return f"{name}({emit.convert(value, WEAK_INT)}, {n}, {about})"


def report(fc: FunctionContext, what: Any) -> str:
    """Return the arguments for pgc_bad(): who found what."""
    number = fc.unit.number_of(what)
    fc.need_implicit("pg_error", "PG_GLOBAL pg_i32 *pg_error", "")
    fc.need_implicit("pg_kernel", "pg_i32 pg_kernel", "")
    for name, text in THREAD_IDENTITY.items():
        fc.need_implicit(name, f"pg_i64 {name}", f"pg_i64 {name} = {text};")
    need_helper(fc, "pgc_bad")
    return f"pg_error, pg_kernel, pg_block, pg_thread, {number}"


def need_helper(fc: FunctionContext, name: str) -> str:
    fc.unit.features.add("atomics")
    fc.unit.definitions.setdefault(name, _HELPERS[name].replace("PGC_NONE", _NONE))
    return name


def flat_index(fc: FunctionContext, t: ArrayType, texts: Sequence[str], value: Value) -> Checked:
    """Combine the indices of all axes."""
    if t.contiguous:
        text = texts[0]
        for i, n in zip(texts[1:], value.shape[1:]):
            text = f"{need_helper(fc, 'pgc_row')}({text}, {n}, {i})"
        return Checked(text, False)
    text = "0"
    for i, step in zip(texts, emit.strides_of(value)):
        text = f"{need_helper(fc, 'pgc_far')}({text}, {i}, {step})"
    return Checked(text, True)


def checked_load(fc: FunctionContext, t: ArrayType, pointer: str, index: Checked) -> str:
    """Return the item at an index, 0 if it is out of bounds."""
    kind, code = emit.pointer_type(t), dtypes.code(t.dtype)
    name = f"pgc_load_{t.space}_{code}{'_far' if index.strided else ''}"
    item = item_source(t, "p", "at", index.strided)
    zero = emit.literal(0, t.dtype)
    fc.unit.definitions.setdefault(
        name,
        f"PG_INLINE {dtypes.compute_type(t.dtype)} {name}({kind}p, pg_i64 at)\n"
        f"{{ if ({index.outside('at')}) return {zero}; "
        f"return {dtypes.load(t.dtype, *item)}; }}\n",
    )
    return f"{name}({pointer}, {index})"


def item_source(t: ArrayType, pointer: str, at: str, strided: bool) -> tuple[str, str]:
    if not strided:
        return pointer, at
    kind = emit.pointer_type(t)
    char = kind.replace(dtypes.storage_type(t.dtype), "char")
    return f"(({kind})(({char}){pointer} + {at}))", "0"


def checked_record(fc: FunctionContext, t: ArrayType, pointer: str, index: Checked) -> str:
    """Return the address of a record, or if it is out of bounds that of spare memory: the
    report's, or the array's start if that is in another address space."""
    kind = emit.pointer_type(t)
    char = kind.replace(dtypes.storage_type(t.dtype), "char")
    name = f"pgc_record_{t.space}_{t.dtype.itemsize}{'_far' if index.strided else ''}"
    step = "at" if index.strided else f"at * {t.dtype.itemsize}"
    elsewhere = "p"
    if t.space == "global" and t.dtype.itemsize <= SCRATCH_BYTES:
        elsewhere = f"({char})e + {SCRATCH}"
    fc.unit.definitions.setdefault(
        name,
        f"PG_INLINE {char}{name}({char}p, pg_i64 at, PG_GLOBAL pg_i32 *e)\n"
        f"{{ return {index.outside('at')} ? {elsewhere} : p + {step}; }}\n",
    )
    return f"{name}(({char}){pointer}, {index}, pg_error)"


def checked_atomic(
    fc: FunctionContext, t: ArrayType, function: str, count: int, index: Checked
) -> str:
    """Return a function that does an atomic operation, or returns 0 if it is out of bounds."""
    kind, number = emit.pointer_type(t), dtypes.compute_type(t.dtype)
    name = f"pgc_{function}{'_far' if index.strided else ''}"
    pointer, at = item_source(t, "p", "at", index.strided)
    address = pointer if at == "0" else f"{pointer} + {at}"
    names = [f"x{i}" for i in range(count)]
    declared = "".join(f", {number} {n}" for n in names)
    fc.unit.definitions.setdefault(
        name,
        f"PG_INLINE {number} {name}({kind}p, pg_i64 at{declared})\n"
        f"{{ if ({index.outside('at')}) return 0; "
        f"return {function}({', '.join([address, *names])}); }}\n",
    )
    return name
