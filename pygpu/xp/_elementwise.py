"""The standard's elementwise functions: NumPy's ufuncs by the standard's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._src.array import ufuncs
from pygpu._src.array.routines import joining

from .._array import GPUArray

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]

_OTHER_NAMES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "conj": "conjugate",
    "divide": "true_divide",
    "pow": "power",
    "round": "rint",
}


def _operands(call: str, *operands: Any) -> tuple[Any, ...]:
    """Device arrays and numbers; at least one is an array."""
    like = next((x for x in operands if isinstance(x, GPUArray)), None)
    if like is None:
        raise TypeError(
            f"{call}: at least one operand must be an array on a device, not "
            f"{', '.join(type(x).__name__ for x in operands)}; see pygpu.xp.asarray()"
        )
    found = tuple(ufuncs.to_operand(x, like) for x in operands)
    if any(x is NotImplemented for x in found):
        wrong = next(x for x, y in zip(operands, found) if y is NotImplemented)
        raise TypeError(
            f"{call}: {type(wrong).__name__} is neither an array on a device nor a number"
        )
    return found


def _unary(name: str, text: str) -> Callable[[Any], Any]:
    ufunc = _OTHER_NAMES.get(name, name)

    def function(x: Any, /) -> Any:
        return ufuncs.call(ufunc, _operands(name, x))

    return _finish(function, name, text)


def _whole(name: str, text: str) -> Callable[[Any], Any]:
    """Of integers, which they leave as they are."""
    ufunc = _OTHER_NAMES.get(name, name)

    def function(x: Any, /) -> Any:
        operands = _operands(name, x)
        return ufuncs.call("positive" if x.dtype.kind in "iu" else ufunc, operands)

    return _finish(function, name, text)


def _binary(name: str, text: str) -> Callable[[Any, Any], Any]:
    ufunc = _OTHER_NAMES.get(name, name)

    def function(x1: Any, x2: Any, /) -> Any:
        return ufuncs.call(ufunc, _operands(name, x1, x2))

    return _finish(function, name, text)


def _finish(function: Callable[..., Any], name: str, text: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "pygpu.xp"
    function.__doc__ = text
    return function


abs = _unary("abs", "Absolute values.")  # noqa: A001
acos = _unary("acos", "Inverse cosine.")
acosh = _unary("acosh", "Inverse hyperbolic cosine.")
asin = _unary("asin", "Inverse sine.")
asinh = _unary("asinh", "Inverse hyperbolic sine.")
atan = _unary("atan", "Inverse tangent.")
atanh = _unary("atanh", "Inverse hyperbolic tangent.")
bitwise_invert = _unary("bitwise_invert", "Each bit the other way.")
ceil = _whole("ceil", "The least integers that are not below.")
cos = _unary("cos", "Cosine.")
cosh = _unary("cosh", "Hyperbolic cosine.")
exp = _unary("exp", "Powers of e.")
expm1 = _unary("expm1", "exp(x) - 1, precise for small x.")
floor = _whole("floor", "The greatest integers that are not above.")
isfinite = _unary("isfinite", "Whether neither infinite nor NaN.")
isinf = _unary("isinf", "Whether infinite.")
isnan = _unary("isnan", "Whether NaN.")
log = _unary("log", "Natural logarithm.")
log10 = _unary("log10", "Logarithm to base 10.")
log1p = _unary("log1p", "log(1 + x), precise for small x.")
log2 = _unary("log2", "Logarithm to base 2.")
logical_not = _unary("logical_not", "Whether zero, or false.")
negative = _unary("negative", "The opposite.")
positive = _unary("positive", "A copy.")
reciprocal = _unary("reciprocal", "1 / x.")
round = _whole("round", "The nearest integers, halves to even.")  # noqa: A001
sign = _unary("sign", "-1, 0 or 1; of complex numbers x / abs(x).")
signbit = _unary("signbit", "Whether the sign bit is set.")
sin = _unary("sin", "Sine.")
sinh = _unary("sinh", "Hyperbolic sine.")
sqrt = _unary("sqrt", "Square root.")
square = _unary("square", "x * x.")
tan = _unary("tan", "Tangent.")
tanh = _unary("tanh", "Hyperbolic tangent.")
trunc = _whole("trunc", "The integers next to zero.")

add = _binary("add", "Sums.")
atan2 = _binary("atan2", "The angle of (x2, x1).")
bitwise_and = _binary("bitwise_and", "Bits that both have.")
bitwise_left_shift = _binary("bitwise_left_shift", "x1 * 2**x2.")
bitwise_or = _binary("bitwise_or", "Bits that one has.")
bitwise_right_shift = _binary("bitwise_right_shift", "x1 // 2**x2.")
bitwise_xor = _binary("bitwise_xor", "Bits that one alone has.")
copysign = _binary("copysign", "x1 with the sign of x2.")
divide = _binary("divide", "Quotients.")
equal = _binary("equal", "x1 == x2.")
floor_divide = _binary("floor_divide", "The greatest integers not above the quotients.")
greater = _binary("greater", "x1 > x2.")
greater_equal = _binary("greater_equal", "x1 >= x2.")
hypot = _binary("hypot", "The length of (x1, x2).")
less = _binary("less", "x1 < x2.")
less_equal = _binary("less_equal", "x1 <= x2.")
logaddexp = _binary("logaddexp", "log(exp(x1) + exp(x2)).")
logical_and = _binary("logical_and", "Whether both are true.")
logical_or = _binary("logical_or", "Whether one is true.")
logical_xor = _binary("logical_xor", "Whether one alone is true.")
maximum = _binary("maximum", "The greater ones; NaN if one is.")
minimum = _binary("minimum", "The lesser ones; NaN if one is.")
multiply = _binary("multiply", "Products.")
nextafter = _binary("nextafter", "The number next to x1, towards x2.")
not_equal = _binary("not_equal", "x1 != x2.")
pow = _binary("pow", "x1 to the power of x2.")  # noqa: A001
remainder = _binary("remainder", "The remainder of floor_divide(), with the sign of x2.")
subtract = _binary("subtract", "Differences.")


def conj(x: Any, /) -> Any:
    """Complex conjugates; of real numbers a copy."""
    (x,) = _operands("conj", x)
    return ufuncs.call("conjugate" if x.dtype.kind == "c" else "positive", (x,))


def real(x: Any, /) -> Any:
    """The real parts, as a view."""
    (x,) = _operands("real", x)
    return x.real


def imag(x: Any, /) -> Any:
    """The imaginary parts, as a view; zeros for real arrays."""
    (x,) = _operands("imag", x)
    return x.imag


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Items limited to [min, max]; None for no limit. The dtype is that of x.

    Raises TypeError for a complex limit of real items."""
    (x,) = _operands("clip", x)
    limits = []
    for name, limit in (("min", min), ("max", max)):
        kind = getattr(getattr(limit, "dtype", None), "kind", "")
        if x.dtype.kind != "c" and (kind == "c" or isinstance(limit, complex)):
            raise TypeError(
                f"clip: {name} is complex, and x of {x.dtype}: the result has the dtype of x; "
                "convert x by astype() first"
            )
        if isinstance(limit, GPUArray):
            other: Any = limit
            if np.result_type(x.dtype, other.dtype) != x.dtype:
                other = other.astype(x.dtype)
            limit = other
        limits.append(limit)
    if limits[0] is None and limits[1] is None:
        return x._copy()
    result = joining.clip(x, *_within(x, limits))
    return result if result.dtype == x.dtype else result.astype(x.dtype)


def _within(x: Any, limits: list[Any]) -> list[Any]:
    """Python ints that the dtype of x cannot hold limit nothing, or everything."""
    if x.dtype.kind not in "iu":
        return limits
    info = np.iinfo(x.dtype)
    low, high = int(info.min), int(info.max)
    return [sorted((low, v, high))[1] if type(v) is int else v for v in limits]
