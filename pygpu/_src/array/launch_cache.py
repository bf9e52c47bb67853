"""Passes launches to C, so that the next such call needs no Python code.

A call is cached in the backend's KernelTable: by the kinds of its operands if they are contiguous
and have the same shape, whatever that is, else by their shapes and strides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pygpu import _array
from pygpu._src.codegen import dtypes
from pygpu._src.runtime import kernel_cache

from . import elementwise
from .chain_operations import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygpu._src.runtime.backend import Backend

# In the operands of a step: the new result, and the first of the scratch arrays.
RESULT = _array._PLAN_RESULT
SCRATCH = _array._PLAN_FIRST_SCRATCH


class Call(NamedTuple):
    """An operation by name on operands, as ``_array._call()`` takes it. out: the array passed for
    the result; ufunc: NumPy's, if it is one."""

    name: str
    operands: tuple[Any, ...]
    out: Any = None
    ufunc: Any = None

    def keep(
        self,
        backend: Backend,
        launch: elementwise.Launch,
        operation: elementwise.Operation,
        outs: Sequence[Any],
    ) -> None:
        """Cache the call, which was launched as an elementwise operation for these outputs."""
        if kernel_cache.is_compiling(launch.kernel):
            launch.kernel.call_when_launched(lambda: self.keep(backend, launch, operation, outs))
            return
        launch = launch.but(kernel=kernel_cache.compiled(launch.kernel))
        out = outs[0]
        arrays = [x for x in self.operands if isinstance(x, _array.GPUArray)]
        kinds = [_kind(x) for x in self.operands]
        # The table supports NumPy's own number dtypes; plans also support ml_dtypes' and dates.
        narrow = any(
            dtypes.is_of_ml_dtypes(x.dtype) or x.dtype.kind in "mM" for x in (*arrays, out)
        )
        if (
            len(outs) != 1
            or not (arrays or self.out is not None)
            or (None in kinds and not (narrow and _plans_support(self.operands)))
            or len(kinds) > _array._CALL_MAX
        ):
            return
        if not _converts_exactly(self, operation) or dtypes.kind(out.dtype) not in "biufcmM":
            return
        table = backend.table
        names = (self.name,) if self.ufunc is None else (self.name, self.ufunc)
        dense = (
            not narrow
            and launch.dense
            and all(x._c_contiguous and x.shape == out.shape for x in (*arrays, out))
        )
        if dense and out.dtype == operation.outputs[0]:
            key = ("call", self.name, *kinds)
            dtype = backend.kernels.get(key)
            if dtype is None:
                backend.kernels[key] = out.dtype
                rule = elementwise.rule(backend, launch.memory, operation)
                chained = number_of(operation, out.dtype)
                for name in names:
                    table.add(name, tuple(kinds), launch.kernel, out.dtype, *rule, chained)
            if dtype is None or dtype == out.dtype:  # float64 equals None
                return  # otherwise, arrays of another dtype were filled with such a number first
        n = len(self.operands)
        chained = number_of(operation, out.dtype)
        registers = [n if self.out is not None else RESULT, *range(n)]
        steps = (
            step(
                backend, launch.kernel, launch.groups, launch.group_size, registers, launch.numbers
            ),
        )
        result = None if self.out is not None else out
        for name in names:
            table.plans.add(name, 0, self.operands, self.out, result, steps, op=chained)


def step(
    backend: Backend,
    kernel: Any,
    groups: int | tuple[int, ...],
    size: int | tuple[int, ...],
    operands: Sequence[int],
    numbers: Sequence[Any],
    whole: bool = False,
) -> tuple[Any, ...]:
    """Return a launch in the form for Plans.add()."""
    groups = (groups,) if isinstance(groups, int) else tuple(groups)
    local = (size,) if isinstance(size, int) else tuple(size)
    if backend.name == "opencl":
        sizes = tuple(n * s for n, s in zip(groups, local, strict=True))
    else:
        sizes, local = groups, (*local, 1, 1)[:3]
    return kernel, sizes, local, tuple(operands), tuple(numbers), whole


def _kind(operand: Any) -> int | None:
    """Return an operand's part of the table's key, None if the fast path does not support it."""
    if isinstance(operand, _array.GPUArray):
        return (
            operand.dtype.num
            if operand.dtype.num < _array._KIND_INT and operand.dtype.kind in "biufc"
            else None
        )
    if type(operand) in (int, float):
        return _array._KIND_INT if type(operand) is int else _array._KIND_FLOAT
    if isinstance(operand, np.generic) and operand.dtype.kind in "iuf":
        return _array._KIND_SCALAR + operand.dtype.num if operand.dtype.num < 13 else None
    return None


def _plans_support(operands: Sequence[Any]) -> bool:
    """Whether plans support all operands."""
    return all(
        _kind(x) is not None
        or (isinstance(x, _array.GPUArray) and dtypes.kind(x.dtype) in "biufcmM")
        for x in operands
    )


def _converts_exactly(call: Call, operation: elementwise.Operation) -> bool:
    """Whether a launch converts the numbers among the operands exactly as as_scalar() would."""
    for operand, computed in zip(call.operands, operation.inputs, strict=True):
        if isinstance(operand, _array.GPUArray):
            continue
        if call.name == "power" or computed.kind in "bc" or dtypes.is_narrow(computed):
            return False  # narrow floats: numbers are rounded first
        if isinstance(operand, np.generic) and operand.dtype != computed:
            return False
        if isinstance(operand, float) and computed.kind in "iu":
            return False  # an assignment truncates it, but a launch refuses it
    return True


def run_cached(name: str, *operands: Any, out: Any = None) -> Any:
    """Run a cached call and return its result, else None."""
    return _array._call(name, *operands, out=out)
