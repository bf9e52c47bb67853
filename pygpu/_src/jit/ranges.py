"""Ranges of integers in a kernel, whose ends are computed at launch.

An end is an int, a tuple of an operation, or None if nothing is known. The leaves are values that
launches know: ("value", n) is the argument n, ("shape", n, axis) a length of it, ("groups", d) and
("size", d) are blocks and threads per block along d. :func:`holds` computes with Python's ints,
src/array/launcher.c with 64 bits; a test that overflows there counts as false.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pygpu import _array

Range = tuple[Any, Any]
UNKNOWN: Range = (None, None)
_MOST = 40  # parts of an end; a longer one is dropped

_LEAVES = ("value", "shape", "groups", "size")
_CODES = {
    "value": _array._TEST_VALUE,
    "shape": _array._TEST_SHAPE,
    "groups": _array._TEST_GROUPS,
    "size": _array._TEST_SIZE,
    "+": _array._TEST_ADD,
    "*": _array._TEST_TIMES,
    "//": _array._TEST_FLOOR,
    "min": _array._TEST_MIN,
    "max": _array._TEST_MAX,
    "fits": _array._TEST_FITS,
    "-": _array._TEST_MINUS,
}


def _size(end: Any) -> int:
    if type(end) is not tuple or end[0] in _LEAVES:
        return 1
    return 1 + sum(_size(part) for part in end[1:])


def _limited(end: Any) -> Any:
    return None if _size(end) > _MOST else end


def add(a: Any, b: Any) -> Any:
    """Return a + b; constants are kept as the last part of a sum."""
    if a is None or b is None:
        return None
    if type(a) is int and type(b) is int:
        return a + b
    if type(a) is int:
        a, b = b, a
    if type(b) is int:
        if b == 0:
            return a
        if a[0] == "+" and type(a[2]) is int:
            return add(a[1], a[2] + b)
        return "+", a, b
    return _limited(("+", a, b))


def minus(a: Any) -> Any:
    if a is None or type(a) is int:
        return None if a is None else -a
    return a[1] if a[0] == "-" else ("-", a)


def times(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return None
    if type(a) is int and type(b) is int:
        return a * b
    if a == 1 or b == 1:
        return b if a == 1 else a
    return _limited(("*", a, b))


def minimum(a: Any, b: Any) -> Any:
    """Return min(a, b), for which one known end suffices: None is greater than everything."""
    if a is None or b is None or a == b:
        return b if a is None else a
    if type(a) is int and type(b) is int:
        return min(a, b)
    return _limited(("min", a, b))


def maximum(a: Any, b: Any) -> Any:
    """Return max(a, b); None is less than everything."""
    if a is None or b is None or a == b:
        return b if a is None else a
    if type(a) is int and type(b) is int:
        return max(a, b)
    return _limited(("max", a, b))


def intersection(a: Range, b: Range) -> Range:
    """Return the intersection; *a* if its text is too long."""
    low, high = maximum(a[0], b[0]), minimum(a[1], b[1])
    return a[0] if low is None else low, a[1] if high is None else high


def join(a: Range, b: Range) -> Range:
    """Return the union."""
    low = None if a[0] is None or b[0] is None else minimum(a[0], b[0])
    high = None if a[1] is None or b[1] is None else maximum(a[1], b[1])
    return low, high


def _is_nonneg(end: Any) -> bool:
    """Whether an end is already known to be nonnegative."""
    if type(end) is int:
        return end >= 0
    if end is None or end[0] in ("value", "-"):
        return False
    if end[0] == "max":
        return any(map(_is_nonneg, end[1:]))
    if end[0] == "fits":
        return _is_nonneg(end[1])
    return end[0] in _LEAVES or all(map(_is_nonneg, end[1:]))


def _product(a: Range, b: Range) -> Range:
    if _is_nonneg(a[0]) and _is_nonneg(b[0]):
        return times(a[0], b[0]), times(a[1], b[1])
    if None in a or None in b:
        return UNKNOWN
    parts = [times(x, y) for x in a for y in b]
    if None in parts:
        return UNKNOWN
    low = high = parts[0]
    for part in parts[1:]:
        low, high = minimum(low, part), maximum(high, part)
        if low is None or high is None:
            return UNKNOWN
    return low, high


def _quotient(a: Range, by: int) -> Range:
    def divided(end: Any) -> Any:
        if end is None or type(end) is int:
            return None if end is None else end // by
        return _limited(("//", end, by))

    return (a if by == 1 else (divided(a[0]), divided(a[1]))) if by > 0 else UNKNOWN


def _remainder(a: Range, b: Range) -> Range:
    """Return a % b; 0 for b = 0."""
    if not _is_nonneg(b[0]):
        return UNKNOWN
    high = None if b[1] is None else maximum(add(b[1], -1), 0)
    return 0, minimum(high, a[1]) if _is_nonneg(a[0]) else high


def of_operation(name: str, a: Range, b: Range) -> Range:
    """Return the range of the result of NumPy's ufunc *name* for two integers."""
    number = b[0] if type(b[0]) is int and b[0] == b[1] else None
    if name == "add":
        return add(a[0], b[0]), add(a[1], b[1])
    if name == "subtract":
        return add(a[0], minus(b[1])), add(a[1], minus(b[0]))
    if name == "multiply":
        return _product(a, b)
    if name == "remainder":
        return _remainder(a, b)
    if name == "floor_divide":
        if number is not None:
            return _quotient(a, number)
        return (0, a[1]) if _is_nonneg(a[0]) and _is_nonneg(b[0]) else UNKNOWN
    if name == "right_shift" and number is not None and 0 <= number < 63:
        return _quotient(a, 1 << number)
    if name == "left_shift" and number is not None and 0 <= number < 63:
        return times(a[0], 1 << number), times(a[1], 1 << number)
    if name == "bitwise_and":
        ends = [r[1] for r in (a, b) if _is_nonneg(r[0])]
        return (0, minimum(ends[0], ends[-1])) if ends else UNKNOWN
    if name in ("minimum", "maximum"):
        chosen = minimum if name == "minimum" else maximum
        both_low, both_high = None not in (a[0], b[0]), None not in (a[1], b[1])
        if name == "minimum":
            return chosen(a[0], b[0]) if both_low else None, chosen(a[1], b[1])
        return chosen(a[0], b[0]), chosen(a[1], b[1]) if both_high else None
    return UNKNOWN


def negative(a: Range) -> Range:
    return minus(a[1]), minus(a[0])


def within(a: Range, low: int, high: int) -> Range:
    """Return the range of a number whose type holds *low* to *high*, and wraps around."""

    def fits(end: Any) -> Any:
        if type(end) is int:
            return end if low <= end <= high else None
        return ("fits", end, low, high)

    if a[0] is None or a[1] is None:
        return low, high
    ends = fits(a[0]), fits(a[1])
    return (low, high) if None in ends else ends


# ---- tests


def certainly_less(a: Any, b: Any) -> bool | None:
    """Whether a < b for every launch; None if that depends."""
    if type(a) is int and type(b) is int:
        return a < b
    if type(a) is tuple and a[0] == "min" and any(certainly_less(x, b) for x in a[1:]):
        return True
    if type(a) is int and a < 0 and _is_nonneg(b):
        return True
    base, more = (a[1], a[2]) if _is_sum(a) else (a, 0)
    base_b, more_b = (b[1], b[2]) if _is_sum(b) else (b, 0)
    return more < more_b if base == base_b else None


def _is_sum(end: Any) -> bool:
    return type(end) is tuple and end[0] == "+" and type(end[2]) is int


def holds(test: tuple[Any, Any], leaf: Callable[[tuple[Any, ...]], int]) -> bool:
    """Whether the first end is less than the second. leaf: returns the values that a launch
    knows."""
    try:
        return _value(test[0], leaf) < _value(test[1], leaf)
    except OverflowError:
        return False


def _value(end: Any, leaf: Callable[[tuple[Any, ...]], int]) -> int:
    if type(end) is int:
        return end
    what = end[0]
    if what in _LEAVES:
        return leaf(end)
    a = _value(end[1], leaf)
    if what == "-":
        found = -a
    elif what == "fits":
        if not end[2] <= a <= end[3]:
            raise OverflowError
        found = a
    else:
        b = _value(end[2], leaf)
        if what == "+":
            found = a + b
        elif what == "*":
            found = a * b
        elif what == "//":
            found = a // b
        else:
            found = min(a, b) if what == "min" else max(a, b)
    if not -(1 << 63) <= found < 1 << 63:
        raise OverflowError
    return found


def program(tests: Sequence[tuple[Any, Any]]) -> tuple[int, ...] | None:
    """Return the tests as a stack program for src/array/launch_tests.c.

    None: it cannot represent some numbers, or the arguments are not plain ones."""
    found: list[int] = []

    def write(end: Any) -> bool:
        if type(end) is int:
            found.extend((_array._TEST_CONSTANT, end))
            return -(1 << 63) <= end < 1 << 63
        what = end[0]
        if what in _LEAVES:
            found.extend((_CODES[what], *end[1:]))
            return all(type(n) is int for n in end[1:])
        if not all(map(write, end[1:2] if what == "fits" else end[1:])):
            return False
        found.append(_CODES[what])
        if what == "fits":
            found.extend(end[2:])
            low, high = end[2:]
            return bool(-(1 << 63) <= low and high < 1 << 63)
        return True

    for low, high in tests:
        if not (write(low) and write(high)):
            return None
        found.append(_array._TEST_LESS)
    return tuple(found)
