"""Conversions of numbers in kernels to another dtype."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Value
from ..types import Scalar, as_dtype
from .constants import constant
from .context import FunctionContext
from .date_operations import to_dtype
from .registry import WrongCall


def cast(
    fc: FunctionContext,
    node: ast.AST,
    value: Value,
    dtype: np.dtype[Any],
    call: ast.AST,
    wraps: bool = False,
) -> Value:
    """Handle ``numpy.float32(value)`` and similar calls. wraps: a constant that does not fit an
    integer type is taken modulo its range, as in Numba's types and C; NumPy's types raise."""
    if value.is_date and dtype.kind in "iu":
        return to_dtype(fc, value, dtype, node)
    value = fc.as_number(value, node)
    fc.need_dtype(dtype, call)
    t = Scalar(dtype)
    if value.is_const:
        try:
            with np.errstate(all="ignore"):
                const = value.const
                if wraps and dtype.kind in "iu" and isinstance(const, int):
                    const &= (1 << dtype.itemsize * 8) - 1
                    const = np.array(const, np.uint64).astype(dtype)[()]
                return constant(fc, dtype.type(const), node)
        except (OverflowError, TypeError) as error:
            raise WrongCall(str(error)) from None
    text = emit.convert(value, t)
    if value.type != t:
        text = dtypes.rounded(dtype, text)
    was: Any = value.type
    if was.weak and was.dtype.kind == "c" != dtype.kind:
        raise WrongCall(f"numpy.{dtype}() cannot convert a complex number; use z.real")
    # Otherwise it may wrap around.
    holds = (was.weak and not wraps) or np.can_cast(was.dtype, dtype)
    result = Value(t, text, nonneg=(value.nonneg and holds) or dtype.kind in "bu")
    return fc.ranges.copied(result, value) if holds or dtype.kind == "i" else result


def item_type(fc: FunctionContext, value: Value, node: ast.AST) -> np.dtype[Any]:
    """Return the dtype of the items of a kernel's own array: numbers or records."""
    named = getattr(value.const, "dtype", value.const) if value.is_object else None
    if isinstance(named, np.dtype) and named.names and not named.hasobject:
        fc.unit.need(named)
        return named
    dtype = dtype_of(fc, value, node)
    fc.need_dtype(dtype, node)
    return dtype


def dtype_of(fc: FunctionContext, value: Value, node: ast.AST) -> np.dtype[Any]:
    """Return the dtype that an argument names."""
    if value.is_object:
        try:
            return as_dtype(value.const)
        except TypeError as error:
            raise fc.source.error(str(error), node) from None
    raise fc.source.error(f"a dtype is needed, not {value.type}", node)
