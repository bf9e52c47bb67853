"""Operands of vectorize, guvectorize and reduce: arrays and numbers on the host or a device."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._array import GPUArray
from pygpu._src.array import elementwise, layout, primitives, ufuncs
from pygpu._src.array.ufuncs import is_array
from pygpu._src.runtime.backends import backend_of

from ..source import KernelError, OperandError
from .options import check_options
from .target import Target, resolve_target

DType = np.dtype[Any]


def check_ufunc_options(
    call: str, decorator: Any, options: dict[str, Any], target: str | None
) -> None:
    """Refuse unknown options of a decorator, and those that ask for Python on a GPU."""
    if options:
        check_options(call, decorator, options)
    if target == "cuda" and options.get("nopython") is False:
        raise TypeError("nopython flag must be True")


def stream_of(queue: Any, stream: Any, name: str) -> Any:
    """Return the stream or queue of a call; Numba's stream 0 is the default one."""
    if queue is not None and stream is not None:
        raise TypeError(f"{name}: pass either queue or stream, not both")
    chosen = stream if queue is None else queue
    if chosen is None or (isinstance(chosen, int) and chosen == 0):
        return None
    if hasattr(chosen, "__cuda_stream__"):
        from pygpu._src.runtime.cuda import streams

        return streams.stream_of(chosen, name)
    try:
        backend_of(chosen)
    except TypeError:
        raise TypeError(
            f"{name}: {'stream' if queue is None else 'queue'} must be a Stream of CUDA or a "
            f"CommandQueue of OpenCL, not {type(chosen).__name__}"
        ) from None
    return chosen


def operand(obj: Any, name: str) -> Any:
    """Convert an argument to a device array, a host array or a number."""
    if isinstance(obj, (GPUArray, np.ndarray, np.generic, bool, int, float, complex)):
        if isinstance(obj, np.ma.MaskedArray):
            raise TypeError(
                f"{name}: a masked array would lose its mask; pass a.filled(value), or a.data and "
                "where=~a.mask"
            )
        return obj
    if hasattr(obj, "__cuda_array_interface__"):
        from .target import from_interface

        return from_interface(obj)
    try:
        found = np.asarray(obj)
    except ValueError:
        raise OperandError(
            f"{name}: {reprlib.repr(obj)} is not an array: its parts have different lengths"
        ) from None
    if found.dtype.hasobject or found.dtype.kind in "SU":
        raise TypeError(f"{name}: {type(obj).__name__} is neither an array nor a number")
    return found


def input_operand(obj: Any, name: str) -> Any:
    """The same for an operand that is only read: a host array in the other byte order is
    converted."""
    found = operand(obj, name)
    if isinstance(found, (np.ndarray, np.generic)) and not found.dtype.isnative:
        return found.astype(found.dtype.newbyteorder("="))
    return found


def array_like(obj: Any, what: str) -> Any:
    """Convert an argument to an array, on the host or on a device. what: for messages."""
    try:
        found = operand(obj, what)
    except TypeError:
        raise KernelError(
            f"{what} must be array-like, with numbers as items, not {reprlib.repr(obj)}"
        ) from None
    return found if isinstance(found, GPUArray) else np.asarray(found)


def array_or_none(obj: Any, name: str) -> Any:
    if isinstance(obj, (list, tuple)):
        raise TypeError(
            f"{name}: an output must be an array, not {reprlib.repr(obj)}, in which results "
            "cannot be stored"
        )
    found = None if obj is None else operand(obj, name)
    if found is not None and not isinstance(found, (GPUArray, np.ndarray)):
        raise TypeError(f"{name}: an output must be an array, not {type(obj).__name__}")
    return found


def as_mask(mask: Any, name: str) -> Any:
    dtype = mask.dtype if hasattr(mask, "dtype") else np.asarray(mask).dtype
    if dtype != np.bool_:
        raise TypeError(f"{name}: where must be an array of bools, not of {dtype}")
    return mask


def where_of(owner: Any, operands: Sequence[Any]) -> tuple[Any, Target | None]:
    """Return the backend of a call, and the place if all operands are on the host."""
    for a in operands:
        if is_array(a):
            return a.backend, None
    here = resolve_target(owner.target)
    return here.backend, here


def numbers(operands: list[Any], operation: Any) -> list[Any]:
    """Convert numbers to the dtypes of the loop. Raises OverflowError for an int that does not
    fit."""
    return [
        a if is_array(a) else elementwise.as_scalar(a, d)
        for a, d in zip(operands, operation.inputs)
    ]


def keep_order(shape: tuple[int, ...], inputs: list[Any], dtype: DType) -> Any:
    """Return the strides of a result if all its operands are in Fortran order, else None."""
    full = [a for a in inputs if isinstance(a, np.ndarray) and a.shape == shape]
    if len(shape) > 1 and full and all(a.flags.f_contiguous for a in full):
        if not all(a.flags.c_contiguous for a in full):
            return layout.f_strides(shape, dtype.itemsize)
    return None


def select(where: Any, array: Any, neutral: Any, name: str) -> Any:
    """Return the array with *neutral* where a mask is false."""
    array, where = operand(array, name), as_mask(operand(where, name), name)
    if is_array(array):
        mask = primitives.as_array(array, where, np.bool_, name)
        made = primitives.empty(array, array.shape, array.dtype)
        primitives.fill(made, neutral)
        ufuncs.call("positive", [array], [made], where=mask)
        return made
    return np.where(where, array, np.asarray(array).dtype.type(neutral))


def undecorated(function: Any) -> Any:
    """Return the Python function behind a decorated device function."""
    return getattr(function, "py_func", function)
