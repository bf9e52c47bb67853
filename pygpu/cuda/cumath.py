"""Mathematical functions on arrays of CUDA, by PyCUDA's names: ``sin(array)`` is a new array.

Each takes ``out=``, an array for the result, and ``stream=``. Integers are converted to float16,
float32 or float64 as NumPy's functions do; complex arrays have the exponential, logarithms, the
square root and the circular and hyperbolic functions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from pygpu._src.array.cuda_functions import stream_of
from pygpu._src.user_kernels import functions

from . import driver

__all__ = [
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "fabs",
    "floor",
    "fmod",
    "frexp",
    "ldexp",
    "log",
    "log10",
    "modf",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


def _function(name: str) -> Callable[..., Any]:
    def function(
        array: Any, stream_or_out: Any = None, *, out: Any = None, stream: Any = None
    ) -> Any:
        if stream_or_out is not None:
            warnings.warn(
                f"{name}: please use the keyword arguments out and stream",
                DeprecationWarning,
                stacklevel=2,
            )
            if isinstance(stream_or_out, driver.Stream):
                stream = stream_or_out
            else:
                out = stream_or_out
        return functions.apply(name, array, stream_of(stream, name), out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"{name} of each item. out: an array for the result; stream: None for the array's."
    )
    return function


acos, asin, atan = _function("acos"), _function("asin"), _function("atan")
ceil, floor, fabs = _function("ceil"), _function("floor"), _function("fabs")
exp, log, log10, sqrt = (_function(name) for name in ("exp", "log", "log10", "sqrt"))
sin, cos, tan = _function("sin"), _function("cos"), _function("tan")
sinh, cosh, tanh = _function("sinh"), _function("cosh"), _function("tanh")


def fmod(arg: Any, mod: Any, stream: Any = None) -> Any:
    """The remainder of arg / mod, with the sign of arg."""
    return functions.binary("fmod", arg, mod, stream_of(stream, "fmod"))


def ldexp(significand: Any, exponent: Any, stream: Any = None) -> Any:
    """significand * 2**exponent; fractions of exponents are dropped."""
    return functions.binary("ldexp", significand, exponent, stream_of(stream, "ldexp"))


def frexp(arg: Any, stream: Any = None) -> tuple[Any, Any]:
    """(significands, exponents) with ``arg == significand * 2**exponent``, significands from 0.5
    to 1. Both have the dtype of arg."""
    return functions.split("frexp", arg, stream_of(stream, "frexp"))


def modf(arg: Any, stream: Any = None) -> tuple[Any, Any]:
    """(fractions, whole numbers), with the sign of arg."""
    return functions.split("modf", arg, stream_of(stream, "modf"))
