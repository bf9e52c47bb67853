"""The operators of arrays, called by the C slots."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu import _array
from pygpu._src.util.lazy import lazy

from . import ufuncs


def operate(name: str, out: Any, a: Any, b: Any = None) -> Any:
    """Compute ``a OP b``, ``OP a`` (b is None) or, with out, ``a OP= b``. Returns NotImplemented
    to leave it to the other operand's class."""
    if b is None and name in _UNARY:
        return ufuncs.call_uncached(name, (a,))
    first: Any = a if isinstance(a, _array.GPUArray) else b
    operands = (ufuncs.to_operand(a, first), ufuncs.to_operand(b, first))
    if operands[0] is NotImplemented or operands[1] is NotImplemented:
        if b is None and name in ("equal", "not_equal"):
            if type(first)._comparison_dtype is not None:
                # A class with the results of another package.
                return name == "not_equal"
            empty = lazy("pygpu._src.array.primitives").empty
            return empty(first, first.shape, np.bool_).fill(name == "not_equal")
        return NotImplemented
    if name == "matmul":
        return matmul(*operands, out=out)
    if name == "power" and type(b) in (int, float) and first is a and a.dtype.kind in "fc":
        special = _POWERS.get(b)  # as NumPy does
        if special is not None:
            return ufuncs.call(special, (a,), None if out is None else (out,))
    # The slot has searched C's cache for the operands as they were.
    call = ufuncs.call_uncached if operands[0] is a and operands[1] is b else ufuncs.call
    try:
        result = call(name, operands, None if out is None else (out,))
    except TypeError:
        if not _differ(name, operands):
            raise
        shapes = (x.shape for x in operands if isinstance(x, _array.GPUArray))
        empty = lazy("pygpu._src.array.primitives").empty
        shape = lazy("pygpu._src.array.layout").broadcast_shapes(*shapes)
        result = empty(first, shape, np.bool_).fill(name == "not_equal")
    old = type(first)._comparison_dtype
    if old is not None and name in _COMPARISONS:
        return result.astype(first.dtype if old == "same" else old)
    return result


def _differ(name: str, operands: Any) -> bool:
    """Whether ``==`` or ``!=`` compares a date with a value that is never equal to one."""
    kinds = tuple(map(ufuncs.kind_of, operands))
    if name not in ("equal", "not_equal") or not any(
        isinstance(kind, np.dtype) and kind.kind in "mM" for kind in kinds
    ):
        return False
    try:
        ufuncs.resolve(name, (*kinds, None))
    except TypeError:
        return True
    return False


def matmul(a: Any, b: Any, out: Any = None) -> Any:
    """Compute ``a @ b`` as numpy.matmul; host arrays are copied to the device."""
    like: Any = a if isinstance(a, _array.GPUArray) else b
    a, b = ufuncs.to_operand(a, like), ufuncs.to_operand(b, like)
    if not (isinstance(a, _array.GPUArray) and isinstance(b, _array.GPUArray)):
        raise ValueError(
            "matmul: Input operand does not have enough dimensions (numbers have none)"
        )
    return lazy("pygpu._src.array.matmul").matmul(a, b, out)


_POWERS = {2: "square", 1: "positive", 0.5: "sqrt", -1: "reciprocal"}
_UNARY = frozenset(("negative", "positive", "absolute", "invert"))
_COMPARISONS = frozenset(("less", "less_equal", "equal", "not_equal", "greater", "greater_equal"))
_array._set_operate(operate)
