"""Checks of arguments that the functions of the namespace share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import GPUArray

__all__ = ["NUMBERS", "give_methods", "need_arrays", "on_device"]

# Elementwise functions of these alone are NumPy's: np.sqrt(2.0) in a program needs no device.
NUMBERS = (int, float, complex, np.generic)
_OF_NUMBERS = frozenset(
    (
        "allclose angle fix i0 isclose iscomplex isneginf isposinf isreal nan_to_num real_if_close "
        "sinc "
    ).split()
)
# About shapes, dtypes and indices, for which lists and numbers will do, too.
_OF_HOST_VALUES = frozenset(
    (
        "iscomplexobj isfortran isrealobj ix_ min_scalar_type ndim ravel_multi_index shape size "
        "unravel_index "
    ).split()
)


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
            elementwise = isinstance(numpys, np.ufunc) or name in _OF_NUMBERS
            if name in _OF_HOST_VALUES or (
                elementwise and args and all(isinstance(x, NUMBERS) for x in args)
            ):
                return numpys(*args, **options)
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
