"""The operators of arrays, as the C slots ask for them."""

from __future__ import annotations

from typing import Any

from .. import _array
from . import elementwise, ufuncs

__all__ = ["operate"]


def operate(name: str, out: Any, a: Any, b: Any = None) -> Any:
    """``a OP b``, ``OP a`` (b is None) or, with out, ``a OP= b``. NotImplemented leaves it to the
    other operand's class."""
    if b is None and name in _UNARY:
        result = ufuncs.call(name, (a,))
        _remember(name, (a,), result)
        return result
    first: Any = a if isinstance(a, _array.GPUArray) else b
    operands = (ufuncs.to_operand(a, first), ufuncs.to_operand(b, first))
    if operands[0] is NotImplemented or operands[1] is NotImplemented:
        if b is None and name in ("equal", "not_equal"):
            return name == "not_equal"
        return NotImplemented
    if name == "matmul":
        return ufuncs.matmul(*operands, out=out)
    if name == "power" and type(b) in (int, float) and first is a and a.dtype.kind in "fc":
        special = _POWERS.get(b)  # as NumPy does
        if special is not None:
            return ufuncs.call(special, (a,), None if out is None else (out,))
    result = ufuncs.call(name, operands, None if out is None else (out,))
    _remember(name, operands, result)
    old = type(first)._comparison_dtype
    if old is not None and name in _COMPARISONS:
        return result.astype(first.dtype if old == "same" else old)
    return result


def _kind(operand: Any) -> int | None:
    """An operand in the key of the table, None for what the fast path does not take."""
    if isinstance(operand, _array.GPUArray):
        return (
            operand.dtype.num if operand.dtype.num < 32 and operand.dtype.kind in "biufc" else None
        )
    return {int: 32, float: 33}.get(type(operand))


def _remember(name: str, operands: tuple[Any, ...], result: Any) -> None:
    """Let the C slots launch the next such operation themselves."""
    kinds = [_kind(x) for x in operands]
    arrays: list[Any] = [x for x in operands if isinstance(x, _array.GPUArray)]
    if None in kinds or isinstance(result, tuple) or type(arrays[0])._comparison_dtype is not None:
        return
    if not all(x._c_contiguous and x.shape == result.shape for x in (*arrays, result)):
        return
    backend = arrays[0].backend
    known = ("operator", name, *kinds)
    if known in backend.kernels:
        return
    numbers = len(operands) - len(arrays)
    if numbers and (name == "power" or arrays[0].dtype.kind == "c"):
        return
    types = tuple(x.dtype if isinstance(x, _array.GPUArray) else type(x) for x in operands)
    loop = ufuncs.resolve(name, (*types, None))
    loop_in, loop_out = loop[: len(operands)], loop[len(operands) :]
    if numbers and any(d.num == 23 or d.kind in "bc" for d in loop_in):
        return  # float16, whose numbers are rounded first, bool, complex
    operation = ufuncs.operation_for(name, loop_in, loop_out)
    memory = loop_out + tuple(x.dtype if isinstance(x, _array.GPUArray) else None for x in operands)
    kernel = elementwise.get_kernel(backend, operation, memory, 0, False)
    backend.kernels[known] = kernel
    backend.table.add(
        name,
        kinds[0],
        kinds[1] if len(kinds) > 1 else 63,
        kernel,
        loop_out[0],
        *elementwise.rule(backend, memory),
    )


_POWERS = {2: "square", 1: "positive", 0.5: "sqrt", -1: "reciprocal"}
_UNARY = frozenset(("negative", "positive", "absolute", "invert"))
_COMPARISONS = frozenset(("less", "less_equal", "equal", "not_equal", "greater", "greater_equal"))
_array._set_operate(operate)
