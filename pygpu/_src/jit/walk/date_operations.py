"""Conversions of dates and durations. Arithmetic on them is that of ufuncs: see operators.py."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from pygpu._src.codegen.dates import common_unit, convertible
from pygpu._src.codegen.dtypes import is_date

from .. import emit
from ..ir import MISSING, Value
from ..types import WEAK_INT, DateType, Scalar
from .context import FunctionContext
from .optional import unwrapped

_INT64 = Scalar(np.dtype("i8"))


def any_date(*values: Value) -> bool:
    """Whether one of the values is a date or a duration."""
    return any(isinstance(unwrapped(v).type, DateType) for v in values)


def hint_of_units(a: DateType, b: DateType) -> str:
    """The error message for two operands whose units have no fixed ratio, or one too large."""
    durations = (np.dtype("m" + t.date.str[2:]) for t in (a, b))
    if common_unit(*durations) is not None:
        return ""
    return (
        f"; {a} and {b} have no unit in common in kernels; convert one of them with astype() "
        "before the launch"
    )


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
        raise fc.source.error(f"{t} cannot be converted to {date}", node)
    if not convertible(t.date, date):
        raise fc.source.error(
            f"{t} cannot be converted to {date} in kernels; convert it with astype() before the "
            "launch",
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
    raise fc.source.error(
        f"{value.type} can be converted to int64 or another unit, not to {dtype}", node
    )


def constant_parts(*values: Value) -> tuple[Any, ...] | None:
    """Return the Python objects of all values; None if one is not known."""
    found = tuple(v.const for v in values)
    return None if any(c is MISSING for c in found) else found
