"""Elementwise operations that may be steps of a chain, and the numbers by which C knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pygpu._src.codegen import dtypes

if TYPE_CHECKING:
    from pygpu._src.codegen.kernels.elementwise import Operation

__all__ = ["OPERATIONS", "number_of"]

_MOST = 1 << 16

OPERATIONS: list[Operation] = []  # that of number n at n - 1
_numbers: dict[Operation, int] = {}


def number_of(operation: Operation) -> int:
    """The number by which C knows an operation; 0 if it takes no part in chains."""
    if operation.index or operation.guard or len(operation.outputs) != 1:
        return 0
    if not all(map(dtypes.is_numeric, (*operation.inputs, *operation.outputs))):
        return 0
    number = _numbers.get(operation)
    if number is None:
        if len(OPERATIONS) >= _MOST:
            return 0
        OPERATIONS.append(operation)
        number = _numbers.setdefault(operation, len(OPERATIONS))
    return number
