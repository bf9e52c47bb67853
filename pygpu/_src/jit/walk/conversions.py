"""Numbers of kernels as numbers of another dtype."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Value
from ..types import Scalar
from .registry import WrongCall

__all__ = ["cast"]


def cast(
    fc: Any,
    node: ast.AST,
    value: Value,
    dtype: np.dtype[Any],
    call: ast.AST,
    wraps: bool = False,
) -> Value:
    """``numpy.float32(value)`` and the like. wraps: a constant that an integer type does not hold
    is taken modulo its range, as Numba's types do, and C; NumPy's raise."""
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
                return fc.constant(dtype.type(const), node)
        except (OverflowError, TypeError) as error:
            raise WrongCall(str(error)) from None
    text = emit.convert(value, t)
    if dtypes.code(dtype) == "f16" and value.type != t:
        text = f"pg_from_f16(pg_to_f16({text}))"
    was: Any = value.type
    if was.weak and was.dtype.kind == "c" != dtype.kind:
        raise WrongCall(f"numpy.{dtype}() of a complex number")
    holds = (was.weak and not wraps) or np.can_cast(was.dtype, dtype)  # else it may wrap
    result = Value(t, text, nonneg=(value.nonneg and holds) or dtype.kind in "bu")
    return fc.copied(result, value) if holds or dtype.kind == "i" else result
