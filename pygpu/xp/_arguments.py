"""Checks of arguments that the functions of the namespace share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import GPUArray

__all__ = ["give_methods", "need_arrays", "on_device"]


def need_arrays(call: str, *arrays: Any) -> None:
    """Raises TypeError for what is not an array on a device."""
    for x in arrays:
        if not isinstance(x, GPUArray):
            raise TypeError(
                f"{call}: {type(x).__name__} is not an array on a device; see pygpu.xp.asarray()"
            )


def _is_on_device(x: Any, depth: int = 2) -> bool:
    """Whether x is an array on a device, stands for one in pygpu.fuse, or contains one."""
    if isinstance(x, GPUArray):
        return True
    if isinstance(x, (list, tuple)):
        return depth > 0 and any(_is_on_device(item, depth - 1) for item in x)
    return hasattr(type(x), "__array_function__") and not isinstance(x, (np.ndarray, np.generic))


def on_device(name: str, numpys: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's for calls with an array on a device, which it dispatches to pygpu."""

    def function(*args: Any, **options: Any) -> Any:
        if not any(map(_is_on_device, args)) and not any(map(_is_on_device, options.values())):
            kinds = ", ".join(type(x).__name__ for x in (*args, *options.values())) or "nothing"
            raise TypeError(
                f"{name}: an array on a device is needed, not {kinds}; see pygpu.xp.asarray()"
            )
        return numpys(*args, **options)

    function.__name__ = name.rpartition(".")[2]
    function.__qualname__ = name
    function.__module__ = "pygpu.xp"
    function.__doc__ = f"NumPy's {name} with arrays on a device; numpy.{name} describes it."
    function.__wrapped__ = numpys  # type: ignore[attr-defined]  # for inspect.signature()
    if isinstance(numpys, np.ufunc) and numpys.nin == 2 and numpys.nout == 1:
        give_methods(function, name, numpys)
    return function


def give_methods(function: Callable[..., Any], name: str, ufunc: np.ufunc) -> None:
    """Give a function the methods of a ufunc of two operands."""
    methods = vars(function)
    for method in ("accumulate", "at", "outer", "reduce", "reduceat"):
        methods[method] = on_device(f"{name}.{method}", getattr(ufunc, method))
