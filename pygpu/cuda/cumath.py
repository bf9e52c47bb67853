"""Mathematical functions on arrays of CUDA, by PyCUDA's names: ``sin(array)`` is a new array.

Each takes ``out=``, an array for the result, and ``stream=``. Integers are converted to float16,
float32 or float64 as NumPy's functions do; complex arrays have the exponential, logarithms, the
square root and the circular and hyperbolic functions.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, overload

from pygpu._src.array.cuda_functions import stream_of
from pygpu._src.codegen.fastpath import public_functions as _public_functions
from pygpu._src.user_kernels import functions
from pygpu._src.util.overloads import overloads_of

from . import driver

if TYPE_CHECKING:
    from pygpu._src.user_kernels.function_types import (
        CUDAFunction,
        Floating,
        GPUArray,
        InexactT,
        Number,
        Stream,
    )

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


def _function(name: str) -> Any:
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


acos: CUDAFunction = _function("acos")
asin: CUDAFunction = _function("asin")
atan: CUDAFunction = _function("atan")
ceil: CUDAFunction = _function("ceil")
cos: CUDAFunction = _function("cos")
cosh: CUDAFunction = _function("cosh")
exp: CUDAFunction = _function("exp")
fabs: CUDAFunction = _function("fabs")
floor: CUDAFunction = _function("floor")
log: CUDAFunction = _function("log")
log10: CUDAFunction = _function("log10")
sin: CUDAFunction = _function("sin")
sinh: CUDAFunction = _function("sinh")
sqrt: CUDAFunction = _function("sqrt")
tan: CUDAFunction = _function("tan")
tanh: CUDAFunction = _function("tanh")


@overload
def fmod(arg: InexactT, mod: InexactT | float, stream: Stream = None) -> InexactT: ...
@overload
def fmod(arg: float, mod: InexactT, stream: Stream = None) -> InexactT: ...
@overload
def fmod(
    arg: GPUArray[Any] | Number, mod: GPUArray[Any] | Number, stream: Stream = None
) -> Floating: ...
def fmod(arg: Any, mod: Any, stream: Any = None) -> Any:
    """The remainder of arg / mod, with the sign of arg."""
    return functions.binary("fmod", arg, mod, stream_of(stream, "fmod"))


@overload
def ldexp(
    significand: InexactT, exponent: GPUArray[Any] | Number, stream: Stream = None
) -> InexactT: ...
@overload
def ldexp(
    significand: GPUArray[Any] | Number, exponent: GPUArray[Any] | Number, stream: Stream = None
) -> Floating: ...
def ldexp(significand: Any, exponent: Any, stream: Any = None) -> Any:
    """significand * 2**exponent; fractions of exponents are dropped."""
    return functions.binary("ldexp", significand, exponent, stream_of(stream, "ldexp"))


@overload
def frexp(arg: InexactT, stream: Stream = None) -> tuple[InexactT, InexactT]: ...
@overload
def frexp(arg: GPUArray[Any], stream: Stream = None) -> tuple[Floating, Floating]: ...
def frexp(arg: Any, stream: Any = None) -> tuple[Any, Any]:
    """(significands, exponents) with ``arg == significand * 2**exponent``, significands from 0.5
    to 1. Both have the dtype of arg."""
    return functions.split("frexp", arg, stream_of(stream, "frexp"))


@overloads_of(frexp)
def modf(arg: Any, stream: Any = None) -> tuple[Any, Any]:
    """(fractions, whole numbers), with the sign of arg."""
    return functions.split("modf", arg, stream_of(stream, "modf"))


_public_functions(globals(), __all__)
