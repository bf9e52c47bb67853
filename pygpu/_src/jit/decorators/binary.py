"""Reductions and scans by functions of two numbers: shared by ufuncs' methods and `reduce`."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from pygpu._src.array import associative, layout, primitives
from pygpu._src.array.ufuncs import is_array
from pygpu._src.codegen import dtypes

from . import device
from .target import Target, resolve_target

DType = np.dtype[Any]
_REDUCTION_NAMES = {
    (function.__code__.co_code, function.__code__.co_names): name
    for name, functions in {
        "sum": (lambda a, b: a + b,),
        "prod": (lambda a, b: a * b,),
        "max": (
            lambda a, b: max(a, b),
            lambda a, b: max(b, a),
            lambda a, b: a if a > b else b,
            lambda a, b: a if a >= b else b,
            lambda a, b: b if b > a else a,
            lambda a, b: b if b >= a else a,
            lambda a, b: b if a < b else a,
            lambda a, b: b if a <= b else a,
            lambda a, b: a if b < a else b,
            lambda a, b: a if b <= a else b,
        ),
        "min": (
            lambda a, b: min(a, b),
            lambda a, b: min(b, a),
            lambda a, b: a if a < b else b,
            lambda a, b: a if a <= b else b,
            lambda a, b: b if b < a else a,
            lambda a, b: b if b <= a else a,
            lambda a, b: b if a > b else a,
            lambda a, b: b if a >= b else a,
            lambda a, b: a if b > a else b,
            lambda a, b: a if b >= a else b,
        ),
    }.items()
    for function in functions
}


def closure(func: Any, number: DType, backend: Any) -> DType:
    """Return the dtype that the function accepts and returns, by promotion from that of the
    items."""
    for _ in range(8):
        results = device.compile(func, (number, number), backend).results
        if len(results) != 1:
            raise TypeError(
                f"{_name(func)}: a reduction needs a function with one result, not {len(results)}"
            )
        joined = np.result_type(number, results[0])
        if joined == number:
            return number
        number = joined
    raise TypeError(f"{_name(func)}: its result always has a larger dtype than its parameters")


def _name(func: Any) -> str:
    return str(getattr(func, "__name__", "function"))


def function(func: Any, number: DType, backend: Any) -> associative.Function:
    """Return the function for values of one dtype. Raises TypeError if its result is of another
    kind."""
    compiled = device.compile(func, (number, number), backend)
    if len(compiled.results) != 1:
        raise TypeError(f"{_name(func)}: a reduction needs a function with one result")
    (of,) = compiled.results
    is_date = number.kind in "mM"
    if is_date:  # joined as int64
        if of != number:
            raise TypeError(f"{_name(func)}: its result is {of}, but its parameters are {number}")
        number = of = np.dtype("i8")
    kind = dtypes.compute_type(of)
    join = f"{kind} q; {compiled.call(['q'], ['a', 'b'])} r = {dtypes.cast('q', of, number)};"
    name = _reduction_name(func) if number.kind != "b" and not is_date else None
    return associative.Function(
        _name(func), number, compiled.text, join, compiled.key, compiled.features, name
    )


def _dtype_of(kind: str, dtype: DType) -> DType:
    """Return the dtype in which an array's sum(), prod(), max() and min() compute."""
    if kind in ("sum", "prod") and dtype.kind in "biu" and dtype.itemsize < 8:
        return np.dtype(np.uint64 if dtype.kind == "u" else np.int64)
    return dtype


def _reduction_name(func: Any) -> str | None:
    if not isinstance(func, FunctionType):
        return None
    code = func.__code__
    if code.co_argcount != 2 or code.co_nlocals != 2 or code.co_freevars or code.co_flags & 0x2C:
        return None
    if any(name in func.__globals__ for name in code.co_names):  # a different max
        return None
    return _REDUCTION_NAMES.get((code.co_code, code.co_names))


# Further functions that are associative. Those of NumPy's module, called as np.NAME(a, b).
_ASSOCIATIVE = {
    function.__code__.co_code
    for function in (
        lambda a, b: a & b,
        lambda a, b: a | b,
        lambda a, b: a ^ b,
        lambda a, b: a and b,
        lambda a, b: a or b,
    )
}
_NUMPY_CALL = (lambda a, b: np.add(a, b)).__code__.co_code
_NUMPY_ASSOCIATIVE = frozenset(
    "add multiply maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor logical_and "
    "logical_or logical_xor gcd lcm hypot logaddexp logaddexp2".split()
)


def is_associative(func: Any) -> bool:
    """Whether the function is one of those known to be associative (sums of floating-point numbers
    up to rounding)."""
    if _reduction_name(func) is not None:
        return True
    if not isinstance(func, FunctionType):
        return False
    code = func.__code__
    if code.co_argcount != 2 or code.co_nlocals != 2 or code.co_freevars or code.co_flags & 0x2C:
        return False
    if code.co_code in _ASSOCIATIVE and not code.co_names:
        return True
    if code.co_code != _NUMPY_CALL or len(code.co_names) != 2:
        return False
    module, name = code.co_names
    return func.__globals__.get(module) is np and name in _NUMPY_ASSOCIATIVE


def reduce(
    name: str,
    function_for: Callable[[DType, Any], Any],
    array: Any,
    axis: Any,
    *,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    target: str | None = None,
    queue: Any = None,
) -> Any:
    """Reduce a host or device array; the result is in the same place as the array.

    function_for: returns the function for a dtype of items and a backend.
    """
    from .operands import array_or_none, operand

    given, out = operand(array, name), array_or_none(out, name)
    host = not is_array(given)
    if host:
        given = np.asarray(given)
    axes = layout.normalize_axes(axis, given.ndim, name)
    if not host and out is None and initial is None and queue is None and given.size:
        function = function_for(given.dtype, given.backend)
        kind = function.reduction_name
        if kind is not None and function.dtype == _dtype_of(kind, given.dtype):
            return given._reduce(kind, axis, keepdims=keepdims)
    kept = tuple(n for k, n in enumerate(given.shape) if k not in axes)
    full = tuple(1 if k in axes else n for k, n in enumerate(given.shape))
    wanted = full if keepdims else kept
    if out is not None and (out.shape != wanted or isinstance(out, np.ndarray) != host):
        raise ValueError(
            f"{name}: out must have shape {wanted} and be on the {'host' if host else 'device'}, "
            f"like the array; its shape is {out.shape}"
        )
    if host:
        found = _reduce_host(
            name, function_for, given, axes, kept, out, initial, resolve_target(target)
        )
        return _to_host(found, wanted, out)
    a = given._on_queue(queue)
    function = function_for(a.dtype, a.backend)
    if out is None:
        made = primitives.empty(a, kept, function.dtype)
    else:
        _check_cast(name, function.dtype, out)
        strides = tuple(s for k, s in enumerate(out.strides) if k not in axes)
        made = out._view(kept, strides if keepdims else out.strides, out.offset)
    associative.reduce(function_for(a.dtype, a.backend), a, axes, made, initial)
    if out is not None:
        primitives.changed(out, made)
        return out
    return (
        made._view(full, _keepdims_strides(made.strides, axes, len(full)), 0) if keepdims else made
    )


def _reduce_host(
    name: str,
    function_for: Callable[[DType, Any], Any],
    given: Any,
    axes: tuple[int, ...],
    kept: tuple[int, ...],
    out: Any,
    initial: Any,
    here: Target,
) -> Any:
    """Reduce a host array to a device array of the kept axes."""
    number = function_for(given.dtype, here.backend).dtype
    if out is not None:
        _check_cast(name, number, out)
    a = here.to_device(given)
    made = here.new(kept, number)
    associative.reduce(function_for(a.dtype, a.backend), a, axes, made, initial)
    return made


def _to_host(made: Any, shape: tuple[int, ...], out: Any) -> Any:
    """Copy a result to the host, into *out* if given."""
    found = made._get(None, None, True)[0].reshape(shape)
    if out is None:
        return found if shape else found[()]
    np.copyto(out, found, casting="same_kind")
    return out


def _check_cast(name: str, number: DType, out: Any) -> None:
    if not np.can_cast(number, out.dtype, "same_kind"):
        raise TypeError(f"{name}: cannot cast the result from {number} to {out.dtype}")


def _keepdims_strides(
    strides: tuple[int, ...], axes: tuple[int, ...], ndim: int
) -> tuple[int, ...]:
    """Return strides of kept axes with those of axes of length 1 in between."""
    left = iter(strides)
    return tuple(0 if k in axes else next(left) for k in range(ndim))


def accumulate(
    name: str,
    function_for: Callable[[DType, Any], Any],
    array: Any,
    axis: int,
    *,
    out: Any = None,
    target: str | None = None,
    queue: Any = None,
) -> Any:
    """Scan a host or device array along an axis; the result is in the same place as the array."""
    from .operands import array_or_none, operand

    given, out = operand(array, name), array_or_none(out, name)
    host = not is_array(given)
    if host:
        given = np.asarray(given)
        a = resolve_target(target).to_device(given)
    else:
        a = given._on_queue(queue)
    if given.ndim == 0:
        raise TypeError(f"{name}: cannot accumulate on a scalar")
    axis = layout.normalize_axis(axis, given.ndim, name)
    function = function_for(a.dtype, a.backend)
    if out is not None:
        if out.shape != given.shape or isinstance(out, np.ndarray) != host:
            raise ValueError(
                f"{name}: out must have shape {given.shape} and be on the "
                f"{'host' if host else 'device'}, like the array; its shape is {out.shape}"
            )
        if not np.can_cast(function.dtype, out.dtype, "same_kind"):
            raise TypeError(f"{name}: cannot cast the result from {function.dtype} to {out.dtype}")
    made = out if out is not None and not host else primitives.empty(a, a.shape, function.dtype)
    if made is out and made._shares_memory(a):
        a = a.copy()
    associative.scan(function, a, axis, made)
    if not host:
        return made
    found = made._get(None, None, True)[0]
    if out is None:
        return found
    np.copyto(out, found, casting="same_kind")
    return out
