"""Calls with dates and durations: how they are made, and which functions accept them."""

from __future__ import annotations

import ast
import builtins
from typing import Any

import numpy as np

from ..ir import Value
from ..types import ArrayType, DateType, OptionalType, TupleType
from ..walk.constants import constant
from ..walk.context import FunctionContext
from ..walk.date_operations import constant_parts, date_of
from ..walk.operators import call_ufunc
from ..walk.registry import Args, Kwargs, WrongCall, handles


@handles(np.datetime64, np.timedelta64)
def _make(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    """``np.timedelta64(n, "s")``: from constants, or from a whole number of units."""
    made: Any = fc.expr(node.func).const
    if kwargs or not 1 <= len(args) <= 2:
        raise WrongCall(f"numpy.{made.__name__}() takes a number, or text, and a unit in kernels")
    parts = constant_parts(*args)
    try:
        if parts is not None:
            return constant(fc, made(*parts), node)
        unit = args[1].const if len(args) == 2 else None
        if not isinstance(unit, str):
            raise WrongCall(f"numpy.{made.__name__}(): the unit must be a constant in kernels")
        dtype = np.dtype(f"{'M' if made is np.datetime64 else 'm'}8[{unit}]")
    except (TypeError, ValueError) as error:
        raise WrongCall(str(error)) from None
    return date_of(fc, args[0], dtype, node)


@handles(np.isnat)
def _isnat(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    if len(args) != 1 or kwargs or not args[0].is_date:
        raise WrongCall("numpy.isnat() takes one datetime64 or timedelta64")
    return call_ufunc(fc, node, "isnat", args)[0]


_TAKE_DATES = frozenset(
    (np.datetime64, np.timedelta64, np.isnat, np.where, np.reshape, np.ravel, np.int64, np.uint64)
) | frozenset((builtins.min, builtins.max, builtins.abs, builtins.len, builtins.isinstance))
_TAKE_ARRAYS = frozenset((np.empty_like, np.zeros_like, np.full_like, builtins.enumerate))
_TAKE_ARRAYS |= frozenset((builtins.zip, builtins.range, np.full))


def _holds_date(t: Any) -> bool:
    if isinstance(t, (TupleType, OptionalType)):
        return any(map(_holds_date, t.items))
    return isinstance(t, DateType) or (isinstance(t, ArrayType) and t.date is not None)


def refused(target: Any, args: Any) -> str | None:
    """Return why a function of kernels does not accept the arguments, if one is a date or a
    duration."""
    if not any(_holds_date(v.type) for v in args):
        return None
    try:
        if target in _TAKE_DATES or target in _TAKE_ARRAYS:
            return None
    except TypeError:
        pass
    if isinstance(target, np.ufunc) or getattr(target, "takes_dates", False):
        return None
    name = getattr(target, "__name__", None) or repr(target)
    return f"{name}() takes no datetime64 or timedelta64 in kernels; view them as int64"
