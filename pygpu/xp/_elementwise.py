"""The standard's elementwise functions: NumPy's ufuncs by the standard's names."""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pygpu._src.array import ufuncs
from pygpu._src.array.routines import joining
from pygpu._src.codegen.ufunc_loops import STANDARD_NAMES
from pygpu._src.util.overloads import overloads_of

from ._arguments import NUMBERS, give_methods

if TYPE_CHECKING:
    from ._types import (
        Absolute,
        Arithmetic,
        ArrayT,
        Bitwise,
        Comparison,
        Division,
        GPUArray,
        Number,
        Operand,
        Same,
        Test,
        Transcendental,
    )
else:
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


def _unary(name: str, text: str) -> Any:
    ufunc = STANDARD_NAMES.get(name, name)

    def function(x: Any, /, out: Any = None, **options: Any) -> Any:
        if isinstance(x, NUMBERS):
            return getattr(np, ufunc)(x, out=out, **options)
        operands = _operands(name, x)
        if out is None and not options:
            return ufuncs.call(ufunc, operands)
        return getattr(np, ufunc)(*operands, out=out, **options)

    return _finish(function, name, text)


def _integers_unchanged(name: str, text: str) -> Any:
    """Of integers, which they leave as they are."""
    ufunc = STANDARD_NAMES.get(name, name)

    def function(x: Any, /, out: Any = None, **options: Any) -> Any:
        if isinstance(x, NUMBERS):
            return getattr(np, ufunc)(x, out=out, **options)
        operands = _operands(name, x)
        used = "positive" if x.dtype.kind in "iu" else ufunc
        if out is None and not options:
            return ufuncs.call(used, operands)
        return getattr(np, used)(*operands, out=out, **options)

    return _finish(function, name, text)


def _binary(name: str, text: str) -> Any:
    ufunc = STANDARD_NAMES.get(name, name)

    def function(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> Any:
        if isinstance(x1, NUMBERS) and isinstance(x2, NUMBERS):
            return getattr(np, ufunc)(x1, x2, out=out, **options)
        operands = _operands(name, x1, x2)
        if out is None and not options:
            return ufuncs.call(ufunc, operands)
        return getattr(np, ufunc)(*operands, out=out, **options)

    give_methods(function, name, getattr(np, ufunc))
    return _finish(function, name, text)


def _finish(function: Callable[..., Any], name: str, text: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "pygpu.xp"
    function.__doc__ = text
    return function


abs: Absolute = _unary("abs", "Absolute values.")  # noqa: A001
acos: Transcendental = _unary("acos", "Inverse cosine.")
acosh: Transcendental = _unary("acosh", "Inverse hyperbolic cosine.")
asin: Transcendental = _unary("asin", "Inverse sine.")
asinh: Transcendental = _unary("asinh", "Inverse hyperbolic sine.")
atan: Transcendental = _unary("atan", "Inverse tangent.")
atanh: Transcendental = _unary("atanh", "Inverse hyperbolic tangent.")
bitwise_invert: Same = _unary("bitwise_invert", "Each bit the other way.")
ceil: Same = _integers_unchanged("ceil", "The least integers that are not below.")
cos: Transcendental = _unary("cos", "Cosine.")
cosh: Transcendental = _unary("cosh", "Hyperbolic cosine.")
exp: Transcendental = _unary("exp", "Powers of e.")
expm1: Transcendental = _unary("expm1", "exp(x) - 1, precise for small x.")
floor: Same = _integers_unchanged("floor", "The greatest integers that are not above.")
isfinite: Test = _unary("isfinite", "Whether neither infinite nor NaN.")
isinf: Test = _unary("isinf", "Whether infinite.")
isnan: Test = _unary("isnan", "Whether NaN.")
log: Transcendental = _unary("log", "Natural logarithm.")
log10: Transcendental = _unary("log10", "Logarithm to base 10.")
log1p: Transcendental = _unary("log1p", "log(1 + x), precise for small x.")
log2: Transcendental = _unary("log2", "Logarithm to base 2.")
logical_not: Test = _unary("logical_not", "Whether zero, or false.")
negative: Same = _unary("negative", "The opposite.")
positive: Same = _unary("positive", "A copy.")
reciprocal: Same = _unary("reciprocal", "1 / x.")
sign: Same = _unary("sign", "-1, 0 or 1; of complex numbers x / abs(x).")
signbit: Test = _unary("signbit", "Whether the sign bit is set.")
sin: Transcendental = _unary("sin", "Sine.")
sinh: Transcendental = _unary("sinh", "Hyperbolic sine.")
sqrt: Transcendental = _unary("sqrt", "Square root.")
square: Same = _unary("square", "x * x.")
tan: Transcendental = _unary("tan", "Tangent.")
tanh: Transcendental = _unary("tanh", "Hyperbolic tangent.")
trunc: Same = _integers_unchanged("trunc", "The integers next to zero.")

add: Arithmetic = _binary("add", "Sums.")
atan2: Division = _binary("atan2", "The angle of (x2, x1).")
bitwise_and: Bitwise = _binary("bitwise_and", "Bits that both have.")
bitwise_left_shift: Bitwise = _binary("bitwise_left_shift", "x1 * 2**x2.")
bitwise_or: Bitwise = _binary("bitwise_or", "Bits that one has.")
bitwise_right_shift: Bitwise = _binary("bitwise_right_shift", "x1 // 2**x2.")
bitwise_xor: Bitwise = _binary("bitwise_xor", "Bits that one alone has.")
copysign: Division = _binary("copysign", "x1 with the sign of x2.")
divide: Division = _binary("divide", "Quotients.")
equal: Comparison = _binary("equal", "x1 == x2.")
floor_divide: Arithmetic = _binary("floor_divide", "The greatest integers not above the quotients.")
greater: Comparison = _binary("greater", "x1 > x2.")
greater_equal: Comparison = _binary("greater_equal", "x1 >= x2.")
hypot: Division = _binary("hypot", "The length of (x1, x2).")
less: Comparison = _binary("less", "x1 < x2.")
less_equal: Comparison = _binary("less_equal", "x1 <= x2.")
logaddexp: Division = _binary("logaddexp", "log(exp(x1) + exp(x2)).")
logical_and: Comparison = _binary("logical_and", "Whether both are true.")
logical_or: Comparison = _binary("logical_or", "Whether one is true.")
logical_xor: Comparison = _binary("logical_xor", "Whether one alone is true.")
maximum: Arithmetic = _binary("maximum", "The greater ones; NaN if one is.")
minimum: Arithmetic = _binary("minimum", "The lesser ones; NaN if one is.")
multiply: Arithmetic = _binary("multiply", "Products.")
nextafter: Division = _binary("nextafter", "The number next to x1, towards x2.")
not_equal: Comparison = _binary("not_equal", "x1 != x2.")
pow: Arithmetic = _binary("pow", "x1 to the power of x2.")  # noqa: A001
remainder: Arithmetic = _binary("remainder", "What floor_divide() leaves, with the sign of x2.")
subtract: Arithmetic = _binary("subtract", "Differences.")


@overload
def round(a: ArrayT, decimals: int = 0, out: ArrayT | None = None) -> ArrayT: ...
@overload
def round(a: Number, decimals: int = 0, out: None = None) -> Any: ...
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:  # noqa: A001
    """The nearest numbers with so many decimals, halves to even."""
    if isinstance(a, NUMBERS):
        return np.round(a, decimals, out)
    operands = _operands("round", a)
    if decimals == 0 and out is None:
        return ufuncs.call("positive" if a.dtype.kind in "iu" else "rint", operands)
    return joining.round(a, decimals, out)


@overload
def conj(x: ArrayT, /, out: ArrayT | None = None) -> ArrayT: ...
@overload
def conj(x: Number, /, out: None = None) -> Any: ...
def conj(x: Any, /, out: Any = None) -> Any:
    """Complex conjugates; of real numbers a copy."""
    if not isinstance(x, NUMBERS):
        (x,) = _operands("conj", x)
    return np.conjugate(x, out=out)


@overload
def real(  # type: ignore[overload-overlap]
    val: GPUArray[np.complex64],
) -> GPUArray[np.float32]: ...
@overload
def real(val: GPUArray[np.complex128]) -> GPUArray[np.float64]: ...
@overload
def real(val: ArrayT) -> ArrayT: ...
@overload
def real(val: Number) -> Any: ...
def real(val: Any) -> Any:
    """The real parts, as a view."""
    if isinstance(val, NUMBERS):
        return np.real(val)
    (val,) = _operands("real", val)
    return val.real


@overloads_of(real)
def imag(val: Any) -> Any:
    """The imaginary parts, as a view; zeros for real arrays."""
    if isinstance(val, NUMBERS):
        return np.imag(val)
    (val,) = _operands("imag", val)
    return val.imag


_UNSET: Any = np._NoValue
_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def _kind_of(limit: Any) -> int:
    """The place of a limit's kind of numbers in the order of promotion."""
    dtype = limit.dtype if hasattr(limit, "dtype") else np.result_type(limit)
    return _KINDS.get(dtype.kind, 0)


@overload
def clip(
    a: ArrayT,
    a_min: Operand | None = ...,
    a_max: Operand | None = ...,
    out: ArrayT | None = None,
    *,
    min: Operand | None = ...,
    max: Operand | None = ...,
    **options: Any,
) -> ArrayT: ...
@overload
def clip(
    a: Number,
    a_min: Number | None = ...,
    a_max: Number | None = ...,
    *,
    min: Number | None = ...,
    max: Number | None = ...,
    **options: Any,
) -> Any: ...
def clip(
    a: Any,
    a_min: Any = _UNSET,
    a_max: Any = _UNSET,
    out: Any = None,
    *,
    min: Any = _UNSET,
    max: Any = _UNSET,
    **options: Any,
) -> Any:
    """Items limited to [a_min, a_max], which may be named min and max; None for no limit. The dtype
    is that of a, but NumPy's common one where a limit is of another kind, as 0.5 is for integers.

    Raises TypeError for a complex limit of real items."""
    low, high = (_limit(*both) for both in (("min", a_min, min), ("max", a_max, max)))
    if all(isinstance(x, (*NUMBERS, NoneType)) for x in (a, low, high)):
        return np.clip(a, low, high, out, **options)
    (a,) = _operands("clip", a)
    for name, limit in (("min", low), ("max", high)):
        if limit is not None and _kind_of(limit) == 3 and a.dtype.kind != "c":
            raise TypeError(
                f"clip: {name} is complex, and x of {a.dtype}: the result has the dtype of x; "
                "convert x by astype() first"
            )
    if options:  # dtype, casting
        return np.clip(a, low, high, out, **options)
    above = [x for x in (low, high) if x is not None and _kind_of(x) > _KINDS.get(a.dtype.kind, 3)]
    if not above:
        low, high = _within(a, [_of_dtype(a, low), _of_dtype(a, high)])
    made: Any = joining.clip(a, low, high, out)
    if not above and out is None and made.dtype != a.dtype:
        made = made.astype(a.dtype)
    return made


def _limit(name: str, numpys: Any, standards: Any) -> Any:
    """The limit, which NumPy calls a_min or a_max, and the standard min or max."""
    if numpys is not _UNSET and standards is not _UNSET:
        raise TypeError(f"clip: a_{name} and {name} are two names of one argument; give one")
    given = standards if numpys is _UNSET else numpys
    if isinstance(given, (list, tuple)):
        return np.asarray(given)
    return None if given is _UNSET else given


def _of_dtype(a: Any, limit: Any) -> Any:
    """A limit on the device in the dtype of a, if that is the smaller one of the same kind."""
    if isinstance(limit, GPUArray):
        other: Any = limit
        if np.result_type(a.dtype, other.dtype) != a.dtype:
            return other.astype(a.dtype)
    return limit


def _within(x: Any, limits: list[Any]) -> list[Any]:
    """Python ints that the dtype of x cannot hold limit nothing, or everything."""
    if x.dtype.kind not in "iu":
        return limits
    info = np.iinfo(x.dtype)
    low, high = int(info.min), int(info.max)
    return [sorted((low, v, high))[1] if type(v) is int else v for v in limits]
