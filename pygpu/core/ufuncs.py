"""NumPy's ufuncs on device arrays: types by NumPy's own rules, one kernel per loop.

:func:`call` does what ``numpy.add(a, b, out=..., where=..., dtype=...)`` does. What a ufunc computes
is an expression in :mod:`ufunc_table`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes, elementwise, layout
from .ufunc_table import expression, result_codes

if TYPE_CHECKING:
    from .._array import GPUArray

__all__ = ["call", "empty_like_operands", "operation_for", "resolve", "to_operand"]

_WEAK = (int, float, complex)


@lru_cache(maxsize=4096)
def resolve(name: str, operands: tuple[Any, ...], casting: str = "same_kind") -> tuple[Any, ...]:
    """The dtypes of the loop that NumPy takes: inputs, then outputs.

    operands: a dtype for each input and output, None for an output that is not given, or the class
    int, float or complex for a Python number. Raises what NumPy raises.
    """
    ufunc = getattr(np, name)
    return tuple(ufunc.resolve_dtypes(operands, casting=casting))


@lru_cache(maxsize=4096)
def operation_for(
    name: str, inputs: tuple[np.dtype[Any], ...], outputs: tuple[np.dtype[Any], ...]
) -> elementwise.Operation:
    """The Operation of a ufunc's loop. Raises TypeError if devices have none for these dtypes."""
    codes = tuple(dtypes.code(d) for d in inputs)
    found = expression(name, codes)
    if found is None:
        kinds = ", ".join(str(d) for d in inputs)
        raise TypeError(f"{name}: there is no loop for {kinds} on devices")
    body, helpers, features = found
    return elementwise.Operation(
        name,
        inputs,
        outputs,
        body,
        helpers,
        frozenset(features) | dtypes.features(*inputs, *outputs),
    )


def is_array(obj: Any) -> bool:
    from .._array import GPUArray

    return isinstance(obj, GPUArray)


def to_operand(obj: Any, like: GPUArray) -> Any:
    """An operand of a ufunc beside the device array *like*: a device array, or a number (Python's or
    NumPy's). Host arrays are copied to the device. NotImplemented for anything else."""
    if is_array(obj) or isinstance(obj, (bool, int, float, complex, np.generic)):
        return obj
    if isinstance(obj, np.ndarray):
        return obj[()] if obj.ndim == 0 else like._from_host(obj)
    return NotImplemented


def _dtype_of(operand: Any) -> Any:
    if is_array(operand):
        return operand.dtype
    if isinstance(operand, bool):
        return np.dtype(bool)
    if isinstance(operand, np.generic):
        return operand.dtype
    for kind in _WEAK:
        if isinstance(operand, kind):
            return kind
    raise TypeError(f"{type(operand).__name__} is not an operand of a ufunc")


def _check_places(name: str, arrays: Sequence[GPUArray]) -> None:
    first = arrays[0].backend
    for array in arrays[1:]:
        if array.backend is not first:
            raise ValueError(
                f"{name}: the arrays are on different devices or in different contexts "
                f"({first!r}, {array.backend!r}); move one with "
                "pygpu.array.to_device(queue, array.get())"
            )


def empty_like_operands(
    first: GPUArray, arrays: Sequence[GPUArray], shape: tuple[int, ...], dtype: np.dtype[Any]
) -> GPUArray:
    """A new array for a result: in Fortran order if all operands that fill the shape are."""
    full = [a for a in arrays if a.shape == shape]
    if not full or all(a._c_contiguous for a in full) or len(shape) < 2:
        return first._new(shape, dtype)
    if all(a._f_contiguous for a in full):
        return first._new(shape, dtype, layout.f_strides(shape, dtype.itemsize))
    order = next((a for a in full if 0 not in a.strides), None)
    if order is None:
        return first._new(shape, dtype)
    return first._new(shape, dtype, layout.keep_order_strides(shape, order.strides, dtype.itemsize))


def _place(array: GPUArray) -> tuple[int, Any, Any, int]:
    return array.offset, array.shape, array.strides, array.itemsize


def _disjoint(operand: Any, outs: Sequence[GPUArray]) -> Any:
    """The operand, or a copy of it if writing an output would change items before they are read."""
    if not is_array(operand):
        return operand
    for out in outs:
        if (
            out is not operand
            and out._shares_memory(operand)
            and layout.may_overlap(_place(out), _place(operand))
            and not (
                layout.same_elements(_place(out)[:3], _place(operand)[:3])
                and out.itemsize == operand.itemsize
            )
        ):
            return operand.copy()
    return operand


def call(
    name: str,
    inputs: Sequence[Any],
    out: Sequence[GPUArray | None] | None = None,
    *,
    where: GPUArray | bool = True,
    dtype: Any = None,
    casting: str = "same_kind",
    queue: Any = None,
) -> Any:
    """What the ufunc *name* of NumPy does. Returns the output, or a tuple of them.

    inputs: device arrays and numbers, at least one array; out: arrays to write to, whose shape the
    operands must broadcast to. where: a bool array; elements where it is false keep their value.
    """
    ufunc = getattr(np, name)
    outs = [None] * ufunc.nout if out is None else list(out)
    given = [o for o in outs if o is not None]
    arrays = [a for a in inputs if is_array(a)]
    first = (arrays or given)[0]
    mask = where if is_array(where) else None
    _check_places(name, [*arrays, *given, *([mask] if mask is not None else [])])
    kinds = [_dtype_of(a) for a in inputs]
    kinds += [None if o is None else o.dtype for o in outs]
    if dtype is not None:
        kinds = [np.dtype(dtype)] * len(inputs) + kinds[len(inputs) :]
    loop = resolve(name, tuple(kinds), casting)
    loop_in, loop_out = loop[: len(inputs)], loop[len(inputs) :]
    backend = first.backend
    dtypes.require(backend, name, *loop)
    shape = layout.broadcast_shapes(
        *(a.shape for a in arrays), *([mask.shape] if mask is not None else [])
    )
    for o in given:
        if layout.broadcast_shapes(shape, o.shape) != o.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {o.shape} doesn't match the "
                f"broadcast shape {shape}"
            )
        shape = o.shape
    if where is False:
        raise ValueError(f"{name}: where=False computes nothing")
    operation = operation_for(name, loop_in, loop_out)
    operands = [_disjoint(a, given) for a in inputs]
    results = [
        empty_like_operands(first, arrays, shape, d) if o is None else o
        for o, d in zip(outs, loop_out, strict=True)
    ]
    if mask is not None:
        operation = _masked(operation)
        operands += [_disjoint(mask, given), *results]
    first._run(operation, results, operands, shape, queue)
    return results[0] if len(results) == 1 else tuple(results)


@lru_cache(maxsize=1024)
def _masked(operation: elementwise.Operation) -> elementwise.Operation:
    """The operation with a mask and the old values as further inputs."""
    n = len(operation.inputs)
    keep = " ".join(f"y{i} = x{n + 1 + i};" for i in range(len(operation.outputs)))
    return elementwise.Operation(
        operation.name + "_where",
        (*operation.inputs, np.dtype(bool), *operation.outputs),
        operation.outputs,
        f"if (x{n}) {{ {operation.body} }} else {{ {keep} }}",
        operation.helpers,
        operation.features,
    )


def result_dtypes(name: str, inputs: tuple[np.dtype[Any], ...]) -> tuple[np.dtype[Any], ...]:
    """The dtypes of a loop's results."""
    return tuple(
        dtypes.from_code(c) for c in result_codes(name, tuple(dtypes.code(d) for d in inputs))
    )
