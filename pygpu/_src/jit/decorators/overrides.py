"""``__array_ufunc__`` of arguments, NumPy's protocol for ufuncs of other kinds of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._array import GPUArray

_PLAIN = (GPUArray, np.generic, bool, int, float, complex, list, tuple)


def _has_method(obj: Any) -> bool:
    if type(obj) is np.ndarray or isinstance(obj, _PLAIN):
        return False
    method = getattr(type(obj), "__array_ufunc__", np.ndarray.__array_ufunc__)
    # CuPy's knows only its own ufuncs; its arrays are used by their interface.
    return method is not np.ndarray.__array_ufunc__ and not hasattr(obj, "__cuda_array_interface__")


def has_override(args: Sequence[Any], out: Any) -> bool:
    """Whether an operand has an ``__array_ufunc__`` of its own."""
    if any(map(_has_method, args)):
        return True
    return out is not None and any(map(_has_method, out if isinstance(out, tuple) else (out,)))


def call_override(ufunc: Any, args: Sequence[Any], out: Any, options: dict[str, Any]) -> Any:
    """Return what the operands' ``__array_ufunc__`` do for a call. Raises TypeError if all of them
    return NotImplemented."""
    outs = tuple(args[ufunc.nin :])
    if out is not None:
        outs = out if isinstance(out, tuple) else (out,)
    inputs = args[: ufunc.nin]
    given = {name: value for name, value in options.items() if value is not None}
    if any(o is not None for o in outs):
        given["out"] = outs
    found: list[Any] = []
    for obj in filter(_has_method, (*inputs, *outs)):
        if type(obj) in map(type, found):
            continue
        # Subclasses before their bases, otherwise from left to right.
        at = next((i for i, o in enumerate(found) if isinstance(obj, type(o))), len(found))
        found.insert(at, obj)
    for obj in found:
        method = type(obj).__array_ufunc__
        if method is None:
            raise TypeError(f"{ufunc._name}: {type(obj).__name__} does not support ufuncs")
        result = method(obj, ufunc, "__call__", *inputs, **given)
        if result is not NotImplemented:
            return result
    kinds = ", ".join(type(o).__name__ for o in found)
    raise TypeError(f"{ufunc._name}: not implemented for operands of type {kinds}")
