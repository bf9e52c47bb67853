"""Functions of Python that kernels may call, found by the object to which a name refers."""

from __future__ import annotations

import ast
import builtins
import cmath
import math
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes, ufunc_loops

from .. import emit
from ..ir import Value, tuple_of
from ..types import WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Scalar, join
from ..walk.constants import constant
from ..walk.context import FunctionContext
from ..walk.conversions import cast, dtype_of
from ..walk.date_operations import any_date
from ..walk.items import length_value
from ..walk.operators import binary, call_ufunc
from ..walk.registry import HANDLERS, Args, Handler, Kwargs, WrongCall, count, find, finds, handles
from ..walk.stores import ufunc_of_arrays
from ..walk.truth import truth_of_value
from .printing import emit_print

_MATH = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "cbrt": "cbrt",
    "copysign": "copysign",
    "cos": "cos",
    "cosh": "cosh",
    "degrees": "degrees",
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "fabs": "fabs",
    "fmod": "fmod",
    "log10": "log10",
    "log1p": "log1p",
    "log2": "log2",
    "nextafter": "nextafter",
    "pow": "power",
    "radians": "radians",
    "sin": "sin",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "tan": "tan",
    "tanh": "tanh",
}
_CMATH = "acos acosh asin asinh atan atanh cos cosh exp log10 sin sinh sqrt tan tanh".split()


@finds
def _numpy(obj: Any) -> Handler | None:
    """Return the handler of a ufunc or of a scalar type."""
    if isinstance(obj, np.ufunc) and obj.__name__ in ufunc_loops.NAMES:
        name = obj.__name__
        return lambda fc, node, args, kwargs: _ufunc(fc, node, name, args, kwargs)
    is_class = isinstance(obj, type) and issubclass(obj, np.generic)
    if is_class or isinstance(getattr(obj, "dtype", obj), np.dtype):
        try:
            dtype = np.dtype(obj if is_class else getattr(obj, "dtype", obj))
        except TypeError:
            return None
        return lambda fc, node, args, kwargs: _scalar_type(
            fc, node, dtype, args, kwargs, wraps=not is_class or fc.unit.widens
        )
    return None


def _scalar_type(
    fc: FunctionContext,
    node: ast.Call,
    dtype: np.dtype[Any],
    args: Args,
    kwargs: Kwargs,
    wraps: bool,
) -> Value:
    if dtype.kind == "c" and len(args) == 2:
        return _make_complex(fc, node, args, Scalar(dtype))
    count(dtype.name, args, kwargs, 1, 1)
    return cast(fc, node, args[0], dtype, node, wraps)


def _ufunc(fc: FunctionContext, node: ast.Call, name: str, args: Args, kwargs: Kwargs) -> Value:
    ufunc: np.ufunc = getattr(np, name)
    if "out" in kwargs and len(args) == ufunc.nin:
        args = [*args, *(kwargs["out"].items if kwargs["out"].is_tuple else [kwargs["out"]])]
        kwargs = {k: v for k, v in kwargs.items() if k != "out"}
    if len(args) == ufunc.nin + ufunc.nout and not kwargs:
        ufunc_of_arrays(fc, node, name, args[: ufunc.nin], args[ufunc.nin :])
        return args[ufunc.nin]
    count(f"numpy.{name}", args, kwargs, ufunc.nin, ufunc.nin)
    found = call_ufunc(fc, node, name, args, strong=True)
    several = tuple_of(found)
    return found[0] if len(found) == 1 else several


def _in_float(fc: FunctionContext, node: ast.AST, value: Value) -> Value:
    """Convert an argument of a function of math: integers become Python floats."""
    value = fc.as_number(value, node)
    if value.dtype.kind in "biu":
        fc.need_dtype(np.dtype("f8"), node)
        if value.is_const:
            return constant(fc, float(value.const), node)
        return Value(WEAK_FLOAT, emit.convert(value, WEAK_FLOAT))
    if value.dtype.kind == "c":
        raise WrongCall("a real number is needed; use cmath for complex numbers")
    return value


def _math_handler(name: str, function: Any) -> Handler:
    ufunc = _MATH[name]
    nin = getattr(np, ufunc).nin

    def handler(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(f"math.{name}", args, kwargs, nin, nin)
        args = [_in_float(fc, node, a) for a in args]
        if all(a.is_const for a in args):
            try:
                return constant(fc, function(*(a.const for a in args)), node)
            except (ArithmeticError, ValueError) as error:
                raise WrongCall(f"math.{name}: {error}") from None
        return call_ufunc(fc, node, ufunc, args)[0]

    return handler


for _name in _MATH:
    _function = getattr(math, _name, None)
    if _function is not None:
        HANDLERS[_function] = _math_handler(_name, _function)


def _cmath_handler(ufunc: str) -> Handler:
    def handler(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(f"cmath.{node.func}", args, kwargs, 1, 1)
        return call_ufunc(fc, node, ufunc, [_in_complex(fc, node, args[0])])[0]

    return handler


def _in_complex(fc: FunctionContext, node: ast.AST, value: Value) -> Value:
    value = fc.as_number(value, node)
    kind = value.dtype.kind
    if kind == "c":
        return value
    t = Scalar(np.dtype("c8")) if value.type == Scalar(np.dtype("f4")) else WEAK_COMPLEX
    fc.need_dtype(t.dtype, node)
    return Value(t, emit.convert(value, t))


for _name in _CMATH:
    HANDLERS[getattr(cmath, _name)] = _cmath_handler(_MATH.get(_name, _name))


@handles(math.log, cmath.log)
def _log(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("log", args, kwargs, 1, 2)
    is_complex = fc.expr(node.func).const is cmath.log
    args = [(_in_complex if is_complex else _in_float)(fc, node, a) for a in args]
    logs = [call_ufunc(fc, node, "log", [a])[0] for a in args]
    if len(logs) == 1:
        return logs[0]
    return binary(fc, node, ast.Div(), *logs)


def _rounded(name: str) -> Handler:
    def handler(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(f"math.{name}", args, kwargs, 1, 1)
        value = fc.as_number(args[0], node)
        if value.dtype.kind in "biu":
            return _int(fc, node, args, kwargs)
        text = call_ufunc(fc, node, name, [_in_float(fc, node, value)])[0].text
        return Value(WEAK_INT, f"((pg_i64){text})", nonneg=value.nonneg)

    return handler


HANDLERS[math.floor] = _rounded("floor")
HANDLERS[math.ceil] = _rounded("ceil")
HANDLERS[math.trunc] = _rounded("trunc")


def _predicate(name: str) -> Handler:
    def handler(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(name, args, kwargs, 1, 1)
        value = fc.as_number(args[0], node)
        if value.dtype.kind in "biu":
            return constant(fc, name == "isfinite", node)
        found = call_ufunc(fc, node, name, [value])[0]
        return Value(WEAK_BOOL, found.text)

    return handler


for _name in ("isnan", "isinf", "isfinite"):
    HANDLERS[getattr(math, _name)] = HANDLERS[getattr(cmath, _name)] = _predicate(_name)


@handles(math.hypot)
def _hypot(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("math.hypot", args, kwargs, 2, 2)
    return call_ufunc(fc, node, "hypot", [_in_float(fc, node, a) for a in args])[0]


@handles(math.remainder)
def _remainder(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("math.remainder", args, kwargs, 2, 2)
    args = [_in_float(fc, node, a) for a in args]
    t = call_ufunc(fc, node, "fmod", args)[0].type
    assert isinstance(t, Scalar)
    texts = [emit.convert(a, t) for a in args]
    return Value(t, f"remainder({', '.join(texts)})")


def _c_function(name: str) -> Handler:
    """Make the handler of a function that both languages have, but NumPy does not."""

    def handler(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(f"math.{name}", args, kwargs, 1, 1)
        value = _in_float(fc, node, args[0])
        t = value.type
        assert isinstance(t, Scalar)
        if t.dtype.itemsize == 2:
            t = Scalar(np.dtype("f4"))
        return Value(t, f"{name}({emit.convert(value, t)})")

    return handler


for _name in ("erf", "erfc", "lgamma"):
    HANDLERS[getattr(math, _name)] = _c_function(_name)
HANDLERS[math.gamma] = _c_function("tgamma")


@handles(math.fsum, math.prod)
def _sum(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    product = fc.expr(node.func).const is math.prod
    start = kwargs.pop("start", None) or constant(fc, int(product), node)
    name = "math.prod" if product else "sum"
    count(name, args, kwargs, 1, 1 if product else 2)
    if not args[0].is_tuple:
        raise WrongCall(f"{name}() is supported for tuples only; write a loop over the array")
    total = args[1] if len(args) == 2 else start
    for item in args[0].items:
        total = binary(fc, node, ast.Mult() if product else ast.Add(), total, item)
    return total


@handles(math.gcd)
def _gcd(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("math.gcd", args, kwargs, 2, 2)
    found = call_ufunc(fc, node, "gcd", args)[0]
    found.nonneg = True
    return found


@handles(math.modf, math.frexp)
def _parts(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    name = "modf" if fc.expr(node.func).const is math.modf else "frexp"
    count(f"math.{name}", args, kwargs, 1, 1)
    found = call_ufunc(fc, node, name, [_in_float(fc, node, args[0])])
    return tuple_of(found)


@handles(math.ldexp)
def _ldexp(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("math.ldexp", args, kwargs, 2, 2)
    return call_ufunc(fc, node, "ldexp", [_in_float(fc, node, args[0]), args[1]])[0]


@handles(cmath.phase, np.angle)
def _phase(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("phase", args, kwargs, 1, 1)
    z = _in_complex(fc, node, args[0])
    assert isinstance(z.type, Scalar)
    name = dtypes.code(z.type.dtype)
    fc.unit.need(z.type.dtype)
    return Value(
        Scalar(np.dtype("f4" if name == "c64" else "f8"), z.is_weak), f"pg_{name}_arg({z.text})"
    )


# ---- Python's own


@handles(builtins.int)
def _int(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("int", args, kwargs, 0, 1)
    if not args:
        return constant(fc, 0, node)
    value = fc.as_number(args[0], node)
    if value.dtype.kind == "c":
        raise WrongCall("int() cannot convert a complex number; use z.real")
    if value.is_const:
        try:
            return constant(fc, int(value.const), node)
        except (ValueError, OverflowError) as error:
            raise WrongCall(str(error)) from None
    made = Value(WEAK_INT, emit.convert(value, WEAK_INT), nonneg=value.nonneg)
    result: Value = fc.ranges.copied(made, value)
    return result


@handles(builtins.float)
def _float(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("float", args, kwargs, 0, 1)
    if not args:
        return constant(fc, 0.0, node)
    if args[0].is_object and isinstance(args[0].const, str):
        try:
            return constant(fc, float(args[0].const), node)
        except ValueError as error:
            raise WrongCall(str(error)) from None
    value = fc.as_number(args[0], node)
    if value.dtype.kind == "c":
        raise WrongCall("float() cannot convert a complex number; use z.real")
    if value.is_const:
        return constant(fc, float(value.const), node)
    if not fc.unit.fp64:
        return Value(value.type, value.text)
    return Value(WEAK_FLOAT, emit.convert(value, WEAK_FLOAT))


@handles(builtins.bool)
def _bool(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("bool", args, kwargs, 1, 1)
    value = fc.as_number(args[0], node)
    if value.is_const:
        return constant(fc, bool(value.const), node)
    return Value(WEAK_BOOL, emit.truth(value))


@handles(np.dtype)
def _dtype(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    """A dtype, which exists only while compiling: ``numpy.dtype("float32")``."""
    count("numpy.dtype", args, kwargs, 1, 1)
    return constant(fc, dtype_of(fc, args[0], node), node)


@handles(builtins.complex)
def _complex(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("complex", args, kwargs, 1, 2)
    if all(a.is_const for a in args):
        return constant(fc, complex(*(a.const for a in args)), node)
    strong = [a.dtype for a in args if a.is_scalar and not a.is_weak]
    t = WEAK_COMPLEX
    if strong and all(d.itemsize <= 4 and dtypes.kind(d) == "f" or d == "c8" for d in strong):
        t = Scalar(np.dtype("c8"))
    return _make_complex(fc, node, args, t)


def _make_complex(fc: FunctionContext, node: ast.AST, args: list[Value], t: Scalar) -> Value:
    fc.need_dtype(t.dtype, node)
    args = [fc.as_number(a, node) for a in args]
    if len(args) == 1:
        return Value(t, emit.convert(args[0], t))
    if any(a.dtype.kind == "c" for a in args):
        raise WrongCall("complex() takes one number, or two real ones")
    part = Scalar(np.dtype("f4" if t.dtype.itemsize == 8 else "f8"))
    texts = [emit.convert(a, part) for a in args]
    return Value(t, f"pg_{dtypes.code(t.dtype)}_make({', '.join(texts)})")


@handles(builtins.abs)
def _abs(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("abs", args, kwargs, 1, 1)
    if args[0].is_date:
        return call_ufunc(fc, node, "absolute", args)[0]
    value = fc.as_number(args[0], node)
    if value.is_const:
        return constant(fc, abs(value.const), node)
    if value.type == WEAK_BOOL:
        value = Value(WEAK_INT, emit.convert(value, WEAK_INT))
    found = call_ufunc(fc, node, "absolute", [value])[0]
    found.nonneg = found.type == WEAK_INT or found.nonneg
    return found


def _extreme(name: str) -> Handler:
    sign = "<" if name == "min" else ">"

    def handler(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        if len(args) == 1 and args[0].is_tuple:
            args = list(args[0].items)
        count(name, args, kwargs, 1, 1000)
        if any_date(*args):  # NaT wins, as in numpy.minimum
            best, full = args[0], f"{name}imum"
            for other in args[1:]:
                best = call_ufunc(fc, node, full, [best, other])[0]
            return best
        best = fc.as_number(args[0], node)
        for other in args[1:]:
            other = fc.as_number(other, node)
            if best.is_const and other.is_const:
                best = constant(fc, (min if name == "min" else max)(best.const, other.const), node)
                continue
            t = join(best.type, other.type)
            if t.dtype.kind == "c":
                raise WrongCall(f"{name}() is not supported for complex numbers")
            fc.need_dtype(t.dtype, node)
            full = f"pgu_{name}_{dtypes.code(t.dtype)}"
            kind = emit.c_type(t)
            fc.unit.definitions.setdefault(
                full,
                f"PG_INLINE {kind} {full}({kind} x0, {kind} x1) "
                f"{{ return x1 {sign} x0 ? x1 : x0; }}\n",
            )
            both = best.nonneg and other.nonneg
            one = best.nonneg or other.nonneg
            text = f"{full}({emit.convert(best, t)}, {emit.convert(other, t)})"
            made = Value(t, text, nonneg=one if name == "max" and t.dtype.kind in "iu" else both)
            best = fc.ranges.computed(made, "minimum" if name == "min" else "maximum", best, other)
        return best

    return handler


def _of_python(name: str, of_items: Handler) -> Handler:
    """Python's function for one array, as an iterable of numbers, or the other handler for other
    arguments."""

    def handler(
        fc: FunctionContext, node: ast.Call, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        if len(args) == 1 and not kwargs and args[0].is_array and len(args[0].shape) == 1:
            of_array = find(getattr(np, name))
            assert of_array is not None
            return of_array(fc, node, args, kwargs)
        return of_items(fc, node, args, kwargs)

    return handler


def _of_items(is_all: bool) -> Handler:
    """``any`` or ``all`` of a tuple."""
    name = "all" if is_all else "any"

    def handler(
        fc: FunctionContext, node: ast.Call, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        if len(args) != 1 or kwargs or not args[0].is_tuple:
            raise WrongCall(f"{name}() takes a tuple or an array of one dimension in kernels")
        texts = []
        for item in args[0].items:
            found = truth_of_value(fc, item, node)
            if not found.is_const:
                texts.append(found.text)
            elif bool(found.const) != is_all:
                return constant(fc, not is_all, node)
        if not texts:
            return constant(fc, is_all, node)
        result = truth_of_value(fc, constant(fc, True, node), node)
        return Value(result.type, f"({(' && ' if is_all else ' || ').join(texts)})")

    return handler


HANDLERS[builtins.sum] = _of_python("sum", _sum)
HANDLERS[builtins.min] = _of_python("min", _extreme("min"))
HANDLERS[builtins.max] = _of_python("max", _extreme("max"))
HANDLERS[builtins.any] = _of_python("any", _of_items(False))
HANDLERS[builtins.all] = _of_python("all", _of_items(True))


@handles(builtins.round)
def _round(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("round", args, kwargs, 1, 2)
    value = fc.as_number(args[0], node)
    if all(a.is_const for a in args):
        return constant(fc, round(*(a.const for a in args)), node)
    if len(args) == 1 or (args[1].is_object and args[1].const is None):
        if value.dtype.kind in "biu":
            return _int(fc, node, [value], {})
        text = call_ufunc(fc, node, "rint", [value])[0].text
        return Value(WEAK_INT, f"((pg_i64){text})", nonneg=value.nonneg)
    digits = args[1]
    if fc.unit.widens and dtypes.kind(value.dtype) == "f" and value.dtype.itemsize < 8:
        # In double precision, as in Numba.
        wide = Value(WEAK_FLOAT, emit.convert(value, WEAK_FLOAT))
        single = value.type
        assert isinstance(single, Scalar)
        return Value(single, emit.convert(_round(fc, node, [wide, digits], {}), single))
    if not digits.is_const:
        return _round_to(fc, node, value, fc.as_number(digits, node))
    if not isinstance(digits.const, (int, np.integer)):
        raise WrongCall(f"the number of digits must be an integer, not {digits.const!r}")
    if value.dtype.kind in "biu":
        if digits.const < 0:
            raise WrongCall("round() of an integer to a negative number of digits is not supported")
        return _int(fc, node, [value], {}) if value.dtype.kind == "b" else value
    scale = constant(fc, float(10.0 ** abs(int(digits.const))), node)
    up, down = (ast.Mult(), ast.Div()) if digits.const >= 0 else (ast.Div(), ast.Mult())
    scaled = binary(fc, node, up, value, scale)
    return binary(fc, node, down, call_ufunc(fc, node, "rint", [scaled])[0], scale)


# By a product with a power of ten, as for a constant number of digits. Powers up to 10**22 are
# exact; numbers that the product makes infinite have no digits so far from the point.
_ROUND = """\
PG_INLINE {t} {name}({t} x, pg_i64 n)
{{
    {t} scale = 1, scaled;
    for (pg_i64 k = n < 0 ? -n : n; k > 0 && !isinf(scale); k--) scale *= 10;
    if (n < 0) return isinf(scale) ? x * 0 : ({t})(rint(x / scale) * scale);
    scaled = x * scale;
    return isfinite(scaled) ? ({t})(rint(scaled) / scale) : x;
}}
"""


def _round_to(fc: FunctionContext, node: ast.Call, value: Value, digits: Value) -> Value:
    """``round(x, n)`` for n that is known only on the device."""
    if digits.dtype.kind not in "iu":
        raise WrongCall(f"the number of digits must be an integer, not {digits.type}")
    t = value.type
    assert isinstance(t, Scalar)
    if dtypes.kind(t.dtype) != "f":
        raise WrongCall(f"round() of {t} needs a constant number of digits")
    fc.need_dtype(t.dtype, node)
    name = f"pgu_round_{dtypes.code(t.dtype)}"
    fc.unit.definitions.setdefault(name, _ROUND.format(t=emit.c_type(t), name=name))
    text = f"{name}({value.text}, {emit.convert(digits, WEAK_INT)})"
    return Value(t, dtypes.rounded(t.dtype, text))


@handles(builtins.divmod)
def _divmod(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("divmod", args, kwargs, 2, 2)
    items = [binary(fc, node, op, *args) for op in (ast.FloorDiv(), ast.Mod())]
    return tuple_of(items)


@handles(builtins.pow)
def _pow(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("pow", args, kwargs, 2, 2)
    return binary(fc, node, ast.Pow(), *args)


@handles(builtins.len)
def _len(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("len", args, kwargs, 1, 1)
    value = args[0]
    if value.is_tuple:
        return constant(fc, len(value.items), node)
    if value.is_array and value.shape:
        return length_value(value.shape[0])
    raise WrongCall(f"len() is not supported for {value.type}")


@handles(builtins.tuple)
def _tuple(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("tuple", args, kwargs, 1, 1)
    if args[0].is_tuple:
        return args[0]
    raise WrongCall("tuple() is supported for tuples only")


_CLASSES: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def _class_of(value: Value) -> type:
    """Return the class of a value in Python."""
    if value.is_tuple:
        return tuple
    if value.is_array:
        return np.ndarray
    if value.is_object or value.origin is not None:
        return type(value.const if value.origin is None else value.origin)
    if isinstance(value.type, Scalar):
        return _CLASSES[value.type.dtype.kind] if value.is_weak else value.type.dtype.type
    raise WrongCall(f"isinstance() is not supported for {value.type}")


@handles(builtins.isinstance)
def _isinstance(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    """Decided when the kernel is compiled. A float64, and with Numba's rules an int64, is also an
    instance of Python's class of its kind."""
    count("isinstance", args, kwargs, 2, 2)
    given = [v.const for v in (args[1].items if args[1].is_tuple else [args[1]])]
    if not all(isinstance(one, type) for one in given):
        raise WrongCall("isinstance() takes classes")
    found = _class_of(args[0])
    is_one = any(issubclass(found, one) for one in given)
    if fc.unit.widens and issubclass(found, np.generic):  # Numba has one type per kind
        is_one = is_one or _CLASSES.get(dtypes.kind(np.dtype(found))) in given
    return constant(fc, is_one, node)


HANDLERS[builtins.print] = emit_print
