"""Arithmetic of kernels: operators and NumPy's ufuncs of numbers."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Value, tuple_of
from ..source import KernelError
from ..types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, DateType, Scalar, join, scalar_type
from . import date_operations
from .constants import constant
from .context import FunctionContext
from .index_checks import raised_exception, report
from .optional import unwrapped
from .registry import visits_expression
from .truth import truth_of

BINARY: dict[type, tuple[str, Callable[..., Any], str]] = {
    ast.Add: ("add", operator.add, "+"),
    ast.Sub: ("subtract", operator.sub, "-"),
    ast.Mult: ("multiply", operator.mul, "*"),
    ast.Div: ("true_divide", operator.truediv, "/"),
    ast.FloorDiv: ("floor_divide", operator.floordiv, "//"),
    ast.Mod: ("remainder", operator.mod, "%"),
    ast.Pow: ("power", operator.pow, "**"),
    ast.LShift: ("left_shift", operator.lshift, "<<"),
    ast.RShift: ("right_shift", operator.rshift, ">>"),
    ast.BitAnd: ("bitwise_and", operator.and_, "&"),
    ast.BitOr: ("bitwise_or", operator.or_, "|"),
    ast.BitXor: ("bitwise_xor", operator.xor, "^"),
}
_KEEPS_SIGN = {
    "add",
    "multiply",
    "floor_divide",
    "remainder",
    "right_shift",
    "left_shift",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "power",
}
_MAY_WRAP = {"add", "left_shift", "multiply", "power"}  # may wrap around to a negative number
_EXACT = set(
    "absolute ceil conjugate copysign fabs floor fmax fmin maximum minimum negative positive rint "
    "sign trunc".split()
)
_DIVISIONS = {"floor_divide", "remainder", "true_divide"}
_LINE = 60  # operations of a long sum per statement
_WEAK_DTYPES = {np.dtype("?"), np.dtype("i8"), np.dtype("f8"), np.dtype("c16")}


@visits_expression(ast.BinOp)
def binary_operation(fc: FunctionContext, node: ast.BinOp) -> Value:
    chain = [node]  # a + b + c + ...: without recursion for each
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    value = fc.expr(chain[-1].left)
    for n, part in enumerate(reversed(chain)):
        value = binary(fc, part, part.op, value, fc.expr(part.right))
        if n % _LINE == _LINE - 1 and not fc.conditional and isinstance(value.type, Scalar):
            value = fc.keep(value)  # compilers support some 250 nested brackets
    return value


def binary(fc: FunctionContext, node: ast.AST, op: ast.operator, a: Value, b: Value) -> Value:
    if date_operations.any_date(a, b) and type(op) in BINARY:
        return call_ufunc(fc, node, BINARY[type(op)][0], [a, b])[0]
    result = _binary(fc, node, op, a, b)
    return fc.ranges.computed(result, BINARY[type(op)][0], a, b)


def _binary(fc: FunctionContext, node: ast.AST, op: ast.operator, a: Value, b: Value) -> Value:
    if type(op) not in BINARY:
        raise fc.source.error("@ is not supported in kernels; write the loops", node)
    name, python, sign = BINARY[type(op)]
    if a.is_tuple and b.is_tuple and name == "add":
        items = [*a.items, *b.items]
        return tuple_of(items)
    a = fc.as_number(a, getattr(node, "left", node))
    b = fc.as_number(b, getattr(node, "right", getattr(node, "value", node)))
    if fc.unit.widens:
        a, b = _widened(fc, node, name, a, b)
    if a.is_const and b.is_const:
        try:
            with np.errstate(all="ignore"):
                return constant(fc, python(a.const, b.const), node)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise fc.source.error(f"{sign}: {error}", node) from None
    if name == "power":
        return _power(fc, node, a, b)
    if fc.unit.divides and name in _DIVISIONS and not (b.is_const and b.const != 0):
        b = _not_zero(fc, node, b)
    assert isinstance(a.type, Scalar) and isinstance(b.type, Scalar)
    if a.is_weak and b.is_weak:
        return _weak_binary(fc, node, name, sign, a, b)
    nonneg = a.nonneg and b.nonneg and name in _KEEPS_SIGN
    if name == "remainder" and b.nonneg:
        nonneg = True
    result = call_ufunc(fc, node, name, [a, b])[0]
    assert isinstance(result.type, Scalar)
    if name in _MAY_WRAP and result.type.dtype.kind == "i":
        nonneg = False
    result.nonneg = result.nonneg or nonneg
    return result


def _not_zero(fc: FunctionContext, node: ast.AST, b: Value) -> Value:
    """Return a divisor, with a check that reports 0."""
    assert isinstance(b.type, Scalar)
    about = report(fc, raised_exception(fc, ZeroDivisionError, "division by zero", node))
    kind, name = emit.c_type(b.type), f"pgc_divisor_{dtypes.code(b.type.dtype)}"
    fc.unit.need(b.type.dtype)
    fc.unit.definitions.setdefault(
        name,
        f"PG_INLINE {kind} {name}({kind} x, PG_GLOBAL pg_i32 *e, pg_i32 k, pg_i64 b, pg_i64 t, "
        f"pg_i32 site)\n{{ if (!{emit.truth(Value(b.type, 'x'))}) pgc_bad(e, k, b, t, site, 0, 0); "
        "return x; }\n",
    )
    return fc.ranges.copied(Value(b.type, f"{name}({b.text}, {about})", nonneg=b.nonneg), b)


def _widened(
    fc: FunctionContext, node: ast.AST, name: str, a: Value, b: Value
) -> tuple[Value, Value]:
    """Convert the operands of arithmetic as Numba does: integers of less than 64 bits become
    int64, or uint64 if both are unsigned. For programs that were written for Numba."""
    assert isinstance(a.type, Scalar) and isinstance(b.type, Scalar)
    kinds = a.type.dtype.kind + b.type.dtype.kind
    strong = [t.dtype for t in (a.type, b.type) if not t.weak]
    if not strong or not set(kinds) <= set("biu") or strong == [np.dtype("u8")]:
        return a, b
    if kinds == "bb" and name.startswith("bitwise"):
        return a, b
    unsigned = len(strong) == 2 and kinds != "bb" and "i" not in kinds
    if name.endswith("_shift"):
        unsigned = kinds[0] == "u"
    to = np.dtype("u8" if unsigned else "i8")
    return _as_wide(fc, node, a, to), _as_wide(fc, node, b, to)


def _as_wide(fc: FunctionContext, node: ast.AST, value: Value, to: np.dtype[Any]) -> Value:
    assert isinstance(value.type, Scalar)
    if value.type.weak or value.type.dtype == to:
        return value
    if value.is_const:
        return constant(fc, np.array(value.const).astype(to)[()], node)
    t = Scalar(to)
    nonneg = value.nonneg or value.type.dtype.kind in "bu"
    nonneg = nonneg and value.type.dtype.itemsize < 8
    return fc.ranges.copied(
        Value(t, emit.convert(value, t), nonneg=nonneg or to.kind == "u"), value
    )


def _weak_binary(
    fc: FunctionContext, node: ast.AST, name: str, sign: str, a: Value, b: Value
) -> Value:
    """Compute with two Python numbers, by Python's rules."""
    assert isinstance(a.type, Scalar) and isinstance(b.type, Scalar)
    t = join(a.type, b.type)
    if t == WEAK_BOOL and name not in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        t = WEAK_INT
    nonneg = a.nonneg and b.nonneg and name in _KEEPS_SIGN
    if t == WEAK_INT:
        x, y = emit.convert(a, t), emit.convert(b, t)
        if name in ("add", "subtract", "multiply"):
            return Value(t, f"({x} {sign} {y})", nonneg=nonneg)
        positive = b.is_const and b.const > 0
        if name in ("floor_divide", "remainder") and a.nonneg and positive:
            c = "/" if name == "floor_divide" else "%"
            return Value(t, f"({x} {c} {y})", nonneg=True)
        if name == "true_divide":
            t = WEAK_FLOAT
            fc.need_dtype(t.dtype, node)
        if name == "remainder" and b.nonneg:
            nonneg = True
    a, b = Value(t, emit.convert(a, t), a.const), Value(t, emit.convert(b, t), b.const)
    try:
        loop, _ = emit.resolve(name, [a, b])
        texts = emit.ufunc_results(fc.unit, name, [a, b], loop)
    except TypeError:
        raise fc.source.error(
            f"{sign} is not defined for {a.type} and {b.type} on devices", node
        ) from None
    return Value(t, texts[0], nonneg=nonneg)


def _power(fc: FunctionContext, node: ast.AST, a: Value, b: Value) -> Value:
    assert isinstance(a.type, Scalar) and isinstance(b.type, Scalar)
    if b.is_const and b.is_weak and isinstance(b.const, int) and dtypes.kind(a.dtype) in "ifcu":
        if 2 <= b.const <= 4:
            return _small_power(fc, node, a, b.const)
        if b.const < 0 and a.type.dtype.kind in "iu":
            if not a.is_weak:
                raise fc.source.error(
                    "integers to negative integer powers are not allowed, as in NumPy; "
                    "convert the base to float",
                    node,
                )
            a = Value(WEAK_FLOAT, emit.convert(a, WEAK_FLOAT))
    if a.is_weak and b.is_weak:
        return _weak_binary(fc, node, "power", "**", a, b)
    if b.is_const and b.type.dtype.kind == "f" and b.const == 0.5:
        out = emit.resolve("power", [a, b])[0][2]
        if out.kind == "f" and out.itemsize >= 4:
            return _root(fc, a, scalar_type(out))
    return call_ufunc(fc, node, "power", [a, b])[0]


def _root(fc: FunctionContext, a: Value, t: Scalar) -> Value:
    """Compute a ** 0.5, by the square root, which is exact and faster: devices' pow is not. Unlike
    sqrt, pow gives 0.0 for -0.0 and infinity for both infinities."""
    kind, name = emit.c_type(t), f"pgu_root_{dtypes.code(t.dtype)}"
    fc.unit.need(t.dtype)
    fc.unit.definitions.setdefault(
        name,
        f"PG_INLINE {kind} {name}({kind} x)\n"
        f"{{ return isinf(x) ? fabs(x) : sqrt(x) + ({kind})0; }}\n",
    )
    return Value(t, f"{name}({emit.convert(a, t)})")


def _small_power(fc: FunctionContext, node: ast.AST, a: Value, exponent: int) -> Value:
    """Compute a power as products."""
    assert isinstance(a.type, Scalar)
    if not emit._SIMPLE.fullmatch(a.text):
        t = a.type
        name = f"pgu_power_{dtypes.code(t.dtype)}_{exponent}"
        if name not in fc.unit.definitions:
            x = Value(Scalar(t.dtype), "x0")
            product = _products(fc, node, x, exponent)
            kind = emit.c_type(t)
            body = emit.convert(product, Scalar(t.dtype))
            fc.unit.definitions[name] = f"PG_INLINE {kind} {name}({kind} x0) {{ return {body}; }}\n"
        value = Value(t, f"{name}({a.text})")
    else:
        value = _products(fc, node, a, exponent)
    if a.is_weak or a.type.dtype.kind != "i":
        value.nonneg = a.nonneg or exponent % 2 == 0
    return value


def _products(fc: FunctionContext, node: ast.AST, x: Value, exponent: int) -> Value:
    multiply = ast.Mult()
    square = binary(fc, node, multiply, x, x)
    if exponent == 2:
        return square
    if exponent == 3:
        return binary(fc, node, multiply, square, x)
    name = f"pgu_power_{dtypes.code(x.dtype)}_2"
    assert isinstance(x.type, Scalar)
    kind = emit.c_type(x.type)
    one = Value(x.type, "x0")
    text = binary(fc, node, multiply, one, one).text
    fc.unit.definitions.setdefault(
        name, f"PG_INLINE {kind} {name}({kind} x0) {{ return {text}; }}\n"
    )
    return Value(x.type, f"{name}({name}({x.text}))")


def call_ufunc(
    fc: FunctionContext, node: ast.AST, name: str, values: Sequence[Value], strong: bool = False
) -> list[Value]:
    """NumPy's ufunc of numbers and dates. strong: results of Python numbers are NumPy's."""
    values = [v if v.is_date else fc.as_number(v, node) for v in map(unwrapped, values)]
    try:
        loop, all_weak = emit.resolve(name, values)
        for dtype in loop:
            fc.need_dtype(dtype, node)
        texts = emit.ufunc_results(fc.unit, name, values, loop)
    except KernelError:
        raise
    except (TypeError, OverflowError) as error:
        kinds = " and ".join(str(v.type) for v in values)
        message = str(error).splitlines()[0]
        dates = [v.type for v in values if isinstance(v.type, DateType)]
        hint = date_operations.hint_of_units(*dates) if len(dates) == 2 else ""
        raise fc.source.error(f"{name}({kinds}): {message}{hint}", node) from None
    outs = loop[len(values) :]
    if name not in _EXACT:  # narrow floats are rounded after each operation, as NumPy does
        texts = [dtypes.rounded(d, text) for d, text in zip(outs, texts)]
    is_weak = all_weak and not strong
    return [
        Value(
            Scalar(d, True) if is_weak and d in _WEAK_DTYPES else scalar_type(d),
            text,
            nonneg=d.kind in "bu",
        )
        for d, text in zip(outs, texts)
    ]


@visits_expression(ast.UnaryOp)
def unary_operation(fc: FunctionContext, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        return truth_of(fc, node)
    given = fc.value(node.operand)
    if given.is_date:
        names: dict[type, str] = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert"}
        return call_ufunc(fc, node, names[type(node.op)], [given])[0]
    value = fc.as_number(given, node.operand)
    assert isinstance(value.type, Scalar)
    kind = value.type.dtype.kind
    if fc.unit.widens and not value.is_weak and kind in "iu":
        value = _as_wide(fc, node, value, np.dtype(f"{kind}8"))
    if value.is_const:
        python: dict[Any, Any] = {
            ast.USub: operator.neg,
            ast.UAdd: operator.pos,
            ast.Invert: operator.invert,
        }
        try:
            return constant(fc, python[type(node.op)](value.const), node)
        except TypeError as error:
            raise fc.source.error(str(error), node) from None
    if value.type == WEAK_BOOL:
        value = Value(WEAK_INT, emit.convert(value, WEAK_INT), nonneg=True)
    name = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert"}[type(node.op)]
    if value.type == WEAK_INT and name == "negative":
        zero = constant(fc, 0, node)
        return fc.ranges.computed(Value(WEAK_INT, f"(-{value.text})"), "subtract", zero, value)
    result = call_ufunc(fc, node, name, [value])[0]
    result.nonneg = name == "positive" and value.nonneg
    return result
