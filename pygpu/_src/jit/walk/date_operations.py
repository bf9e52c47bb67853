"""Arithmetic and comparisons of dates and durations, by the rules of NumPy's ufuncs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen.dates import SIGN_IS_FLOAT

from .. import emit
from ..dates import common_unit, conversion, is_date
from ..ir import MISSING, Value
from ..types import BOOL, WEAK_FLOAT, WEAK_INT, DateType, Scalar
from .context import FunctionContext
from .optional import unwrapped

__all__ = ["OPERATIONS", "any_date", "as_stored", "date_of", "operate", "same_unit"]

_TRUE = Scalar(np.dtype(bool))
_INT64, _FLOAT64 = Scalar(np.dtype("i8")), Scalar(np.dtype("f8"))
_COMPARISONS = {
    "equal": ("pgd_equal", False, False),  # helper, whether the operands are swapped, negated
    "not_equal": ("pgd_equal", False, True),
    "less": ("pgd_less", False, False),
    "less_equal": ("pgd_less_equal", False, False),
    "greater": ("pgd_less", True, False),
    "greater_equal": ("pgd_less_equal", True, False),
}
_UNARY = ("positive", "negative", "absolute", "sign", "isnat")
_CHOICES = ("minimum", "maximum", "fmin", "fmax")
_DIVISIONS = ("true_divide", "floor_divide", "remainder")
OPERATIONS = frozenset(
    (*_COMPARISONS, *_UNARY, *_CHOICES, *_DIVISIONS, "add", "subtract", "multiply", "divmod")
)


def any_date(*values: Value) -> bool:
    """Whether one of the values is a date or a duration."""
    return any(isinstance(unwrapped(v).type, DateType) for v in values)


def operate(fc: FunctionContext, node: ast.AST, name: str, values: Sequence[Value]) -> list[Value]:
    """Compute the results of NumPy's ufunc *name* for operands that include a date or a
    duration."""
    values = list(map(unwrapped, values))
    found = None
    if len(values) == 1 and name in _UNARY:
        found = _unary(fc, name, values[0])
    elif len(values) == 2 and name == "divmod":
        both = [operate(fc, node, n, values)[0] for n in ("floor_divide", "remainder")]
        return both
    elif len(values) == 2 and all(v.is_date or v.is_scalar for v in values):
        found = _binary(fc, node, name, *values)
    if found is None:
        kinds = ", ".join(str(v.type) for v in values)
        raise fc.source.error(f"{name}({kinds}): NumPy and kernels have no such operation", node)
    return [found]


def _unary(fc: FunctionContext, name: str, value: Value) -> Value | None:
    t = value.type
    assert isinstance(t, DateType)
    if name == "isnat":
        return Value(BOOL, _call(fc, "isnat", value.text))
    if t.date.kind == "M":
        return None
    if name == "positive":
        return value
    if name == "sign" and SIGN_IS_FLOAT:
        return Value(_FLOAT64, _call(fc, "float_sign", value.text))
    return Value(t, _call(fc, name, value.text))


def _call(fc: FunctionContext, name: str, *texts: str) -> str:
    return f"{fc.unit.helper(f'pgd_{name}')}({', '.join(texts)})"


def _kinds(*values: Value) -> str:
    """Return the kinds of the operands: "Mm" for a date and a duration, "i" and "f" for numbers."""
    found = ""
    for value in values:
        t = value.type
        assert isinstance(t, Scalar)
        found += (
            t.date.kind
            if isinstance(t, DateType)
            else {"u": "i", "b": "i"}.get(t.dtype.kind, t.dtype.kind)
        )
    return found


def _binary(fc: FunctionContext, node: ast.AST, name: str, a: Value, b: Value) -> Value | None:
    kinds = _kinds(a, b)
    if name in ("add", "subtract"):
        return _sum(fc, node, name, a, b, kinds)
    if name in _COMPARISONS or name in _CHOICES:
        a, b = _integers_as_durations(fc, a, b, kinds)
        if _kinds(a, b) not in ("mm", "MM"):
            return None
        t, x, y = same_unit(fc, node, a, b)
        if name in _CHOICES:
            return Value(t, _call(fc, name, x, y))
        helper, swaps, negated = _COMPARISONS[name]
        text = _call(fc, helper[4:], *((y, x) if swaps else (x, y)))
        return Value(BOOL, f"!{text}" if negated else text)
    if name == "multiply":
        if kinds in ("im", "fm"):
            a, b = b, a
        return _scaled(fc, node, name, a, b) if kinds in ("im", "fm", "mi", "mf") else None
    if name in _DIVISIONS and kinds == "mm":
        _, x, y = same_unit(fc, node, a, b)
        if name == "true_divide":
            fc.need_dtype(_FLOAT64.dtype, node)
            return Value(_FLOAT64, _call(fc, "ratio", x, y))
        if name == "floor_divide":
            return Value(_INT64, _call(fc, "floor", x, y))
        t = same_unit(fc, node, a, b)[0]
        return Value(t, _call(fc, "remainder", x, y))
    if name in _DIVISIONS[:2] and kinds in ("mi", "mf"):
        return _scaled(fc, node, "divide", a, b)
    return None


def _integers_as_durations(
    fc: FunctionContext, a: Value, b: Value, kinds: str
) -> tuple[Value, Value]:
    """As in NumPy, treat an integer beside a duration as a duration of the same unit."""
    if kinds == "mi":
        return a, Value(a.type, emit.convert(b, WEAK_INT))
    if kinds == "im":
        return Value(b.type, emit.convert(a, WEAK_INT)), b
    return a, b


def _sum(
    fc: FunctionContext, node: ast.AST, name: str, a: Value, b: Value, kinds: str
) -> Value | None:
    if "i" in kinds:
        date = next(v.type for v in (a, b) if isinstance(v.type, DateType))
        unit = DateType(np.dtype("m" + date.date.str[2:]))
        a, b = (v if v.is_date else Value(unit, emit.convert(v, WEAK_INT)) for v in (a, b))
        kinds = _kinds(a, b)
    results = {"mm": "m", "Mm": "M", "mM": "M"} if name == "add" else {"mm": "m", "Mm": "M"}
    result = "m" if (name, kinds) == ("subtract", "MM") else results.get(kinds)
    if result is None:
        return None
    t, x, y = same_unit(fc, node, a, b, result)
    return Value(t, _call(fc, name, x, y))


def _scaled(fc: FunctionContext, node: ast.AST, name: str, a: Value, b: Value) -> Value:
    """Multiply or divide a duration by a number."""
    if _kinds(b) == "i":
        return Value(a.type, _call(fc, name, a.text, emit.convert(b, WEAK_INT)))
    fc.need_dtype(_FLOAT64.dtype, node)
    fc.unit.helper("pgd_from_float")
    return Value(a.type, _call(fc, f"{name}_float", a.text, emit.convert(b, WEAK_FLOAT)))


def same_unit(
    fc: FunctionContext, node: ast.AST, a: Value, b: Value, kind: str = ""
) -> tuple[DateType, str, str]:
    """Return the type of *kind* in the common unit of two dates or durations, and their sources in
    it."""
    assert isinstance(a.type, DateType) and isinstance(b.type, DateType)
    found = common_unit(a.type.date, b.type.date, kind or a.type.date.kind)
    if found is None:
        raise fc.source.error(
            f"{a.type} and {b.type} have no unit in common in kernels; convert one of them "
            "with astype() before the launch",
            node,
        )
    unit = found.str[2:]
    x, y = (
        emit.convert(v, DateType(np.dtype(t.date.kind + unit)))
        for v, t in ((a, a.type), (b, b.type))
    )
    return DateType(found), x, y


def as_stored(fc: FunctionContext, date: np.dtype[Any] | None, value: Value, node: ast.AST) -> str:
    """Return the source of a value for an item of dtype *date*, None for a number's."""
    value = unwrapped(value)
    if date is not None and value.is_scalar and value.dtype.kind in "biu":
        return emit.convert(value, WEAK_INT)  # as a number in the unit, as in NumPy
    if date is not None and isinstance(value.type, DateType) and value.type.date.kind == date.kind:
        return date_of(fc, value, date, node).text
    to = "a number" if date is None else str(date)
    hint = "; view it as int64" if date is None else ""
    raise fc.source.error(f"{value.type} cannot be stored as {to}{hint}", node)


def date_of(fc: FunctionContext, value: Value, date: np.dtype[Any], node: ast.AST) -> Value:
    """Convert a date or duration, or a whole number of its unit, to another unit."""
    if value.is_scalar and value.dtype.kind in "biu":
        return Value(DateType(date), emit.convert(value, WEAK_INT))
    t, to = value.type, DateType(date)
    if not isinstance(t, DateType):
        raise fc.source.error(f"{t} does not become {date}", node)
    if conversion(t.date, date) is None or t.date.kind != date.kind:
        raise fc.source.error(
            f"{t} does not become {date} in kernels: convert it with astype() before the launch",
            node,
        )
    return Value(to, emit.convert(value, to))


def to_dtype(fc: FunctionContext, value: Value, dtype: np.dtype[Any], node: ast.AST) -> Value:
    """Handle ``date.astype(dtype)`` and ``date.view(dtype)``."""
    if is_date(dtype):
        return date_of(fc, value, dtype, node)
    if dtype.kind in "iu" and dtype.itemsize == 8:
        one = Value(_INT64, value.text)
        return one if dtype.kind == "i" else Value(Scalar(dtype), emit.convert(one, Scalar(dtype)))
    raise fc.source.error(f"{value.type} becomes int64 or another unit, not {dtype}", node)


def constant_parts(*values: Value) -> tuple[Any, ...] | None:
    """Return the Python objects of all values; None if one is not known."""
    found = tuple(v.const for v in values)
    return None if any(c is MISSING for c in found) else found
