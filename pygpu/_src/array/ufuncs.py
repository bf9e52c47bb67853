"""NumPy's ufuncs on device arrays: types by NumPy's own rules, one kernel per loop.

:func:`call` does what ``numpy.add(a, b, out=..., where=..., dtype=...)`` does. The expression of
each ufunc is in :mod:`pygpu._src.codegen.ufunc_loops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.ufunc_loops import expression
from pygpu._src.runtime.backend import differ
from pygpu._src.util.lazy import lazy

from . import elementwise, launch_cache, layout

_WEAK = (int, float, complex)
_COMPARE = {"less": -1, "less_equal": -1, "greater": 1, "greater_equal": 1, "equal": 0}
_SWAPPED = {"less": "greater", "less_equal": "greater_equal", "greater": "less"}


@lru_cache(maxsize=4096)
def resolve(
    name: str,
    operands: tuple[Any, ...],
    casting: str = "same_kind",
    dtype: Any = None,
    signature: tuple[Any, ...] | None = None,
) -> tuple[np.dtype[Any], ...]:
    """Return the dtypes of the loop that NumPy uses: inputs, then outputs.

    operands: a dtype for each input and output, None for an output that is not given, or the class
    int, float or complex for a Python number. dtype: of the calculation, as in ``ufunc(dtype=)``;
    signature: those of the loop, None where unspecified. Raises what NumPy raises.
    """
    ufunc = getattr(np, name)
    if dtype is not None:
        signature = (None,) * ufunc.nin + (dtype,) * ufunc.nout
    options = {} if signature is None else {"signature": signature}
    if casting in ("no", "equiv", "safe") and any(isinstance(o, type) for o in operands):
        # NumPy 2.4's resolve_dtypes ends the process if it refuses a Python number
        loop = ufunc.resolve_dtypes(operands, casting="unsafe", **options)
        for given, kind in zip(operands, loop, strict=True):
            if casting == "equiv" and isinstance(given, type):  # NumPy allows it under "no"
                raise TypeError(
                    f"{name}: cannot cast Python {given.__name__} to {kind} under the casting rule "
                    f"{casting!r}"
                )
        pairs = zip(operands, loop, strict=True)
        operands = tuple(k if isinstance(o, type) else o for o, k in pairs)
    return tuple(ufunc.resolve_dtypes(operands, casting=casting, **options))


@lru_cache(maxsize=4096)
def operation_for(
    name: str, inputs: tuple[np.dtype[Any], ...], outputs: tuple[np.dtype[Any], ...]
) -> elementwise.Operation:
    """Return the Operation of a ufunc's loop. Raises TypeError if devices do not support it."""
    found = expression(name, tuple(dtypes.code(d) for d in inputs))
    if found is None:
        kinds = ", ".join(str(d) for d in inputs)
        raise TypeError(f"{name}: there is no loop for {kinds} on devices")
    body, helpers = found
    return elementwise.Operation(name, inputs, outputs, body, helpers)


def signature_of(ufunc: np.ufunc, given: Any) -> tuple[Any, ...]:
    """Convert the argument of ``ufunc(signature=)`` ("ff->f", or dtypes) to :func:`resolve`'s
    form."""
    items: Any = given
    if isinstance(given, str):
        left, arrow, right = given.partition("->")
        items = (*left, *right) if arrow else (given,)
    elif not isinstance(given, tuple):
        items = (given,)
    kinds = tuple(None if item is None else np.dtype(item) for item in items)
    if len(kinds) == 1:
        raise TypeError(f"{ufunc.__name__}: pass dtype= instead of a signature of one dtype")
    if len(kinds) != ufunc.nargs:
        raise ValueError(
            f"{ufunc.__name__}: signature must have {ufunc.nargs} dtypes, not {len(kinds)}"
        )
    return kinds


def mask_of(name: str, where: Any, like: Any) -> Any:
    """Return the device array of ``where=``; None if it is true everywhere."""
    if where is True or where is None:
        return None
    if not isinstance(where, GPUArray):
        where = np.asarray(where)
        if where.dtype == bool:
            where = like._from_host(where)
    if where.dtype != bool:
        raise TypeError(
            f"{name}: where must be an array of bools: cannot cast array data from "
            f"{where.dtype!r} to dtype('bool') according to the rule 'safe'"
        )
    return where


def is_array(obj: Any) -> bool:
    """Whether it is an array on a device."""
    return isinstance(obj, GPUArray)


def to_operand(obj: Any, like: Any) -> Any:
    """Return an operand of a ufunc for the device array *like*: a device array, or a number or
    date (Python's or NumPy's). Host arrays are copied to the device. NotImplemented for anything
    else.
    """
    if isinstance(obj, (GPUArray, bool, int, float, complex, np.generic)):
        return obj
    if isinstance(obj, np.ndarray):
        return obj[()] if obj.ndim == 0 else like._from_host(obj)
    if isinstance(obj, date):
        return np.datetime64(obj)
    return np.timedelta64(obj) if isinstance(obj, timedelta) else NotImplemented


def kind_of(operand: Any) -> Any:
    """Return the type by which NumPy promotes an operand."""
    if isinstance(operand, (GPUArray, np.generic)):
        return operand.dtype
    if isinstance(operand, bool):
        return np.dtype(bool)
    for kind in _WEAK:
        if isinstance(operand, kind):
            return kind
    raise TypeError(f"{type(operand).__name__} is not an operand of a ufunc")


def same_device(name: str, arrays: Sequence[Any]) -> None:
    """Raise ValueError if the arrays are not all in one context and on one device."""
    first = arrays[0].backend
    for array in arrays[1:]:
        if array.backend is not first:
            raise differ(name, first, array.backend)


def empty_like_operands(
    first: Any,
    arrays: Sequence[Any],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    queue: Any = None,
) -> Any:
    """Make an array for a result: its axes have the memory order of the operands' axes. queue: of
    the command, which becomes the result's if the operands have none."""
    if queue is not None and first.queue is None and first.backend.name == "opencl":
        first = first.with_queue(queue)
    if len(shape) < 2 or all(a._c_contiguous for a in arrays if a.shape == shape):
        return first._new(shape, dtype)
    full = [a for a in arrays if a.shape == shape]
    if all(a._f_contiguous for a in full):
        return first._new(shape, dtype, layout.f_strides(shape, dtype.itemsize))
    order = next((a.strides for a in full if 0 not in a.strides), None)
    if order is None:
        return first._new(shape, dtype)
    return first._new(shape, dtype, layout.keep_order_strides(shape, order, dtype.itemsize))


def _memory_layout(array: Any) -> tuple[int, Any, Any, int]:
    return array.offset, array.shape, array.strides, array.itemsize


def without_overlap(operand: Any, outs: Sequence[Any]) -> Any:
    """Return the operand, or a copy if writing an output would change items before they are
    read."""
    if not isinstance(operand, GPUArray):
        return operand
    for out in outs:
        if out is operand or not out._shares_memory(operand):
            continue
        there, here = _memory_layout(out), _memory_layout(operand)
        if layout.may_overlap(there, here) and not (
            layout.same_elements(there[:3], here[:3]) and there[3] == here[3]
        ):
            copied: Any = operand
            return copied._copy()
    return operand


def _is_negative(exponent: Any) -> bool:
    return isinstance(exponent, (int, np.integer)) and int(exponent) < 0


def _out_of_range_comparison(name: str, inputs: Sequence[Any]) -> bool | None:
    """Return the truth of a comparison of an integer array with a Python int that its dtype cannot
    hold: the same for all items. None for any other comparison."""
    a, b = inputs
    if isinstance(b, GPUArray) and not isinstance(a, GPUArray):
        a, b, name = b, a, _SWAPPED.get(name, "less" if name == "greater" else name)
        name = {"greater_equal": "less_equal", "less_equal": "greater_equal"}.get(name, name)
    if type(b) is not int or a.dtype.kind not in "iu":
        return None
    limits = np.iinfo(a.dtype)
    if limits.min <= b <= limits.max:
        return None
    if name in ("equal", "not_equal"):
        return name == "not_equal"
    return (b > limits.max) == name.startswith("less")


def _check_numbers(inputs: Sequence[Any], loop: Sequence[np.dtype[Any]]) -> None:
    """Raise OverflowError for a Python int that does not fit the loop's type."""
    for number, computed in zip(inputs, loop, strict=True):
        if type(number) is int and computed.kind in "iu":
            computed.type(number)


def call(
    name: str,
    inputs: Sequence[Any],
    out: Sequence[Any] | None = None,
    *,
    where: Any = True,
    dtype: Any = None,
    casting: str = "same_kind",
    queue: Any = None,
    signature: Any = None,
) -> Any:
    """Call the ufunc *name* of NumPy. Returns the output, or a tuple of them.

    inputs: device arrays and numbers (see :func:`to_operand`), at least one array among inputs and
    outputs. out: arrays to write to, to whose shape the operands must broadcast; None for a new
    one. where: a bool array; items where it is false keep their value. signature: the dtypes of the
    loop, as numpy.ufunc takes them.
    """
    plain = where is True and dtype is None and signature is None and casting == "same_kind"
    if plain and queue is None and (out is None or len(out) == 1):
        cached = launch_cache.run_cached(name, *inputs, out=None if out is None else out[0])
        if cached is not None:
            return cached
    return call_uncached(name, inputs, out, where, dtype, casting, queue, signature)


def call_uncached(
    name: str,
    inputs: Sequence[Any],
    out: Sequence[Any] | None = None,
    where: Any = True,
    dtype: Any = None,
    casting: str = "same_kind",
    queue: Any = None,
    signature: Any = None,
) -> Any:
    """Do what call() does, for a call that is not in C's cache of launches."""
    plain = where is True and dtype is None and signature is None and casting == "same_kind"
    ufunc, asked = getattr(np, name), name
    outs: list[Any] = [None] * ufunc.nout if out is None else list(out)
    given = [o for o in outs if o is not None]
    _check_outputs(name, given)
    arrays = [a for a in inputs if isinstance(a, GPUArray)]
    mask = mask_of(name, where, (arrays or given)[0])
    every = [*arrays, *given] if mask is None else [*arrays, *given, mask]
    first = every[0]
    same_device(name, every)
    kinds = [kind_of(a) for a in inputs] + [None if o is None else o.dtype for o in outs]
    if name in _COMPARE or name == "not_equal":
        if any(isinstance(d, np.dtype) and d.type is np.void for d in kinds[:2]):
            return _compare_records(name, inputs, out, where)
        truth = _out_of_range_comparison(name, inputs)
        if truth is not None:
            inputs = [np.bool_(truth), np.bool_(True)]
            kinds[:2] = [np.dtype(bool)] * 2
            name = "equal"
    if signature is not None:
        if dtype is not None:
            raise TypeError(f"{name}: cannot specify both 'signature' and 'dtype'")
        signature = signature_of(ufunc, signature)
    kind = None if dtype is None else np.dtype(dtype)
    loop = resolve(name, tuple(kinds), casting, kind, signature)
    loop_in, loop_out = loop[: len(inputs)], loop[len(inputs) :]
    backend = first.backend
    dtypes.require(backend, name, *loop, dates=True)
    if name == "power" and loop_in[0].kind in "iu" and _is_negative(inputs[1]):
        raise ValueError("Integers to negative integer powers are not allowed.")
    call = None
    if plain and len(outs) == 1 and name == asked:
        call = launch_cache.Call(name, tuple(inputs), outs[0], ufunc)
    operation = operation_for(name, loop_in, loop_out)
    results = apply(operation, inputs, outs, mask, queue, call, arrays)
    if results[0].size == 0:  # nothing was launched, and no number was converted
        _check_numbers(inputs, loop_in)
    return results[0] if len(results) == 1 else tuple(results)


def _check_outputs(name: str, outs: Sequence[Any]) -> None:
    for o in outs:
        if not isinstance(o, GPUArray):
            raise TypeError(f"{name}: out must be an array on the device, not {type(o).__name__}")
        layout.check_writable(o, name)


def _compare_records(
    name: str, inputs: Sequence[Any], out: Sequence[Any] | None, where: Any
) -> Any:
    if name not in ("equal", "not_equal"):
        raise TypeError(f"{name}: records have no order; compare a field, as a['x']")
    return lazy("pygpu._src.array.structured").compare(call, name, inputs, out, where)


def apply(
    operation: elementwise.Operation,
    inputs: Sequence[Any],
    outs: Sequence[Any],
    mask: Any = None,
    queue: Any = None,
    call: Any = None,
    arrays: Sequence[Any] | None = None,
) -> list[Any]:
    """Run an operation for all items of its operands' broadcast shape; returns the outputs.

    inputs: device arrays and numbers; outs: device arrays to write to, None for new ones; mask:
    None, or a device array of bools; items where it is false keep their value. There is at least
    one array, and all are on one device. call: under which C may cache the launch, if no operand
    is copied. arrays: those that determine the shape, if not the inputs.
    """
    if arrays is None:
        arrays = [a for a in inputs if isinstance(a, GPUArray)]
    given = [o for o in outs if o is not None]
    first: Any = [*arrays, *given, mask][0]
    shape = layout.broadcast_shapes(
        *(a.shape for a in (arrays if mask is None else [*arrays, mask]))
    )
    for o in given:
        if layout.broadcast_shapes(shape, o.shape) != o.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {o.shape} doesn't match the "
                f"broadcast shape {shape}"
            )
        shape = o.shape
    operands = [without_overlap(a, given) for a in inputs]
    results = [
        empty_like_operands(first, arrays, shape, d, queue) if o is None else o
        for o, d in zip(outs, operation.outputs, strict=True)
    ]
    stored = tuple(r.dtype for r in results)
    if stored != operation.outputs:
        operation = _rounded(operation, stored)
    if mask is not None:
        operands.append(without_overlap(mask, given))
        if stored == operation.outputs:
            operation = _masked(operation)
            operands += results
        else:  # converting old values to the loop's types and back would change them
            operation = _guarded(operation)
    if 0 not in shape:
        same = call is not None and all(x is y for x, y in zip(operands, inputs, strict=True))
        elementwise.run(operation, results, operands, shape, queue, call=call if same else None)
    return results


@lru_cache(maxsize=1024)
def _rounded(
    operation: elementwise.Operation, stored: tuple[np.dtype[Any], ...]
) -> elementwise.Operation:
    """Return the operation with its outputs of narrow floats, which kernels compute as float,
    rounded before they are converted to the stored dtype."""
    rounds = " ".join(
        f"y{i} = {dtypes.rounded(have, f'y{i}')};"
        for i, (have, to) in enumerate(zip(operation.outputs, stored, strict=True))
        if have != to and dtypes.is_narrow(have) and dtypes.kind(to) in "fc"
    )
    if not rounds:
        return operation
    body = f"{{ {operation.body} }} {rounds}"
    return operation.but(name=operation.name + "_rounded", body=body)


@lru_cache(maxsize=1024)
def _guarded(operation: elementwise.Operation) -> elementwise.Operation:
    """Return the operation with a mask as an additional input, which stores only where it is
    true."""
    return operation.but(
        name=operation.name + "_guarded",
        inputs=(*operation.inputs, np.dtype(bool)),
        guard=f"x{len(operation.inputs)}",
    )


@lru_cache(maxsize=1024)
def _masked(operation: elementwise.Operation) -> elementwise.Operation:
    """Return the operation with a mask and the old values as additional inputs."""
    n = len(operation.inputs)
    keep = " ".join(f"y{i} = x{n + 1 + i};" for i in range(len(operation.outputs)))
    return elementwise.Operation(
        operation.name + "_where",
        (*operation.inputs, np.dtype(bool), *operation.outputs),
        operation.outputs,
        f"if (x{n}) {{ {operation.body} }} else {{ {keep} }}",
        operation.helpers,
        operation.features,
        key=operation.key,
    )
