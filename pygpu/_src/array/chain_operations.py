"""Elementwise operations that can be steps of a chain, and the numbers by which C identifies
them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.util.lazy import lazy

if TYPE_CHECKING:
    from pygpu._src.codegen.kernels.elementwise import Operation

_MOST = 1 << 16
_CODES = "?bBhHiIlLqQfdgFDG"  # for the dtypes with the numbers from 0; float16 has 23
FIRST_REDUCTION = 1 << 20  # CHAIN_REDUCTIONS in src/array/chain.h

OPERATIONS: list[Operation] = []  # operation number n is at n - 1
_numbers: dict[Operation, int] = {}
# (kind, axes, dtype of the calculation) of number n is at n - FIRST_REDUCTION
REDUCTIONS: list[tuple[str, tuple[int, ...], np.dtype[Any]]] = []
_numbers_of_reductions: dict[tuple[str, tuple[int, ...], np.dtype[Any]], int] = {}


def number_of(operation: Operation, stored: np.dtype[Any]) -> int:
    """Return the number by which C identifies an operation whose result is stored as this dtype; 0
    if it cannot be part of a chain."""
    if operation.index or operation.guard or len(operation.outputs) != 1:
        return 0
    kinds = (*operation.inputs, *operation.outputs, stored)
    if not all(map(dtypes.is_numeric, kinds)) or any(map(dtypes.is_of_ml_dtypes, kinds)):
        return 0
    if operation.outputs[0] != stored:
        if operation.name != "copy" or np.float16 in (stored, *operation.inputs):
            return 0
        operation = _conversion(operation.inputs[0], stored)
    number = _numbers.get(operation)
    if number is None:
        if len(OPERATIONS) >= _MOST:
            return 0
        OPERATIONS.append(operation)
        number = _numbers.setdefault(operation, len(OPERATIONS))
    return number


def number_of_copy(number: int) -> int:
    """The same for the operation that copies items of a dtype, by the dtype's number in NumPy."""
    dtype = np.dtype(_CODES[number]) if number < len(_CODES) else np.dtype(np.float16)
    operation: Operation = lazy("pygpu._src.codegen.kernels.elementwise").Operation(
        "copy", (dtype,), (dtype,), "y0 = x0;"
    )
    return number_of(operation, dtype)


def number_of_reduction(kind: str, axes: tuple[int, ...], calculated: np.dtype[Any]) -> int:
    """Return the number by which C identifies a reduction that can end a chain; 0 if it cannot."""
    if not axes:
        return 0
    key = kind, axes, calculated
    number = _numbers_of_reductions.get(key)
    if number is None:
        if len(REDUCTIONS) >= _MOST:
            return 0
        REDUCTIONS.append(key)
        number = _numbers_of_reductions.setdefault(key, FIRST_REDUCTION + len(REDUCTIONS) - 1)
    return number


def _conversion(source: np.dtype[Any], target: np.dtype[Any]) -> Operation:
    """Return the operation of a kernel that copies items to another dtype."""
    body = f"y0 = {dtypes.cast('x0', source, target)};"
    made: Operation = lazy("pygpu._src.codegen.kernels.elementwise").Operation(
        "convert", (source,), (target,), body
    )
    return made
