"""Expressions of kernels: their types and texts. Half of :class:`infer.FunctionCompiler`."""

from __future__ import annotations

import ast
import inspect
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from . import emit
from .ir import Value
from .records import Records
from .source import KernelError, python_function
from .types import (
    BOOL,
    VOID,
    WEAK_BOOL,
    WEAK_FLOAT,
    WEAK_INT,
    ArrayType,
    ObjectType,
    RecordType,
    Scalar,
    TupleType,
    join,
    weak,
)

__all__ = ["Expressions", "NotYet"]

_BINARY: dict[type, tuple[str, Callable[..., Any], str]] = {
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
_COMPARE: dict[type, tuple[str, Callable[..., Any], str]] = {
    ast.Lt: ("less", operator.lt, "<"),
    ast.LtE: ("less_equal", operator.le, "<="),
    ast.Gt: ("greater", operator.gt, ">"),
    ast.GtE: ("greater_equal", operator.ge, ">="),
    ast.Eq: ("equal", operator.eq, "=="),
    ast.NotEq: ("not_equal", operator.ne, "!="),
}
_NOT_SUPPORTED = {
    "List": "lists are not supported; use a tuple, or an array of the caller's",
    "ListComp": "comprehensions are not supported; write a loop",
    "SetComp": "comprehensions are not supported; write a loop",
    "DictComp": "comprehensions are not supported; write a loop",
    "GeneratorExp": "generators are not supported; write a loop",
    "Dict": "dictionaries are not supported",
    "Set": "sets are not supported",
    "Lambda": "a function inside of a kernel is not supported; define it outside",
    "Await": "coroutines are not supported",
    "Yield": "generators are not supported",
    "YieldFrom": "generators are not supported",
    "JoinedStr": "strings are not supported; print() takes several arguments",
    "Starred": "starred expressions are not supported",
}


class NotYet(Exception):
    """An expression uses a variable whose type is not known in this walk."""

    def __init__(self, error: KernelError) -> None:
        self.error = error


class Expressions(Records):
    WEAK_INT = WEAK_INT

    # What FunctionCompiler has.
    implicit: dict[str, None]
    vars: dict[str, Any]
    stores: dict[str, int]
    parameters: list[str]
    used_before: set[str]
    changed: bool
    _variable_value: Callable[..., Value]

    def begin_walk(self) -> None:
        """Forget the text of the last walk."""
        self.lines: list[str] = []
        self.indent = 1
        self.temps: list[tuple[str, str, str]] = []
        self.counters = 0
        self.conditional = 0  # inside of an expression that may not be evaluated
        self.flags = [""]
        self.const_locals: dict[str, Value] = {}
        self.assigned: set[str] = set()

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def counter(self) -> str:
        self.counters += 1
        return f"i_{self.counters}"

    def temp(self, kind: str, size: str = "") -> str:
        """A new temporary variable of C type *kind*."""
        name = f"t_{len(self.temps) + 1}"
        self.temps.append((name, kind, size))
        return name

    def stable(self, text: str) -> str:
        """A text that is computed once: in a temporary variable unless it is a number."""
        if text.strip("()-").isdigit():
            return text
        temp = self.temp("pg_i64 ")
        self.emit(f"{temp} = {text};")
        return temp

    def statement_only(self, node: ast.AST, what: str) -> None:
        """Refuse an expression that needs statements where it may not be evaluated at all."""
        if self.conditional:
            raise self.source.error(
                f"{what} inside of a conditional expression, or on the right of and/or, is not "
                "supported; use an if statement",
                node,
            )

    def need_implicit(self, name: str, parameter: str, local: str) -> None:
        """The function needs something of the kernel around it."""
        self.unit.implicit[name] = parameter, local
        self.implicit[name] = None

    # ---- dispatch

    def expr(self, node: ast.expr) -> Value:
        method = getattr(self, f"on_{type(node).__name__}", None)
        if method is None:
            kind = type(node).__name__
            raise self.source.error(
                _NOT_SUPPORTED.get(kind, f"{kind} is not supported in kernels"), node
            )
        found: Value = method(node)
        return found

    def number(self, node: ast.expr, what: str = "a number") -> Value:
        """An expression that must be a number."""
        value = self.expr(node)
        return self.as_number(value, node, what)

    def as_number(self, value: Value, node: ast.AST, what: str = "a number") -> Value:
        if not value.is_scalar:
            hint = ""
            if value.is_array:
                hint = "; arithmetic is on items: a[i]"
            elif value.is_object and isinstance(value.const, str):
                hint = "; strings are only supported in print()"
            raise self.source.error(f"{what} is needed, not {value.type}{hint}", node)
        return value

    def test(self, node: ast.expr) -> Value:
        """The truth of an expression, as a bool."""
        if isinstance(node, ast.BoolOp):
            texts: list[str] = []
            is_and = isinstance(node.op, ast.And)
            self_conditional = 0
            for part in node.values:
                value = self.test(part)
                if not self_conditional:
                    self.conditional += 1
                    self_conditional = 1
                if value.is_const:
                    if bool(value.const) != is_and:  # decides
                        if not texts:
                            self.conditional -= 1
                            return self.constant(not is_and, node)
                        texts.append("0" if is_and else "1")
                        break
                    continue
                texts.append(value.text)
            self.conditional -= 1
            if not texts:
                return self.constant(is_and, node)
            return Value(WEAK_BOOL, f"({(' && ' if is_and else ' || ').join(texts)})")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value = self.test(node.operand)
            if value.is_const:
                return self.constant(not value.const, node)
            return Value(WEAK_BOOL, f"!{value.text}")
        value = self.expr(node)
        if value.is_const:
            return self.constant(bool(value.const), node)
        if value.is_tuple:
            return self.constant(bool(value.items), node)
        value = self.as_number(value, node, "a truth value")
        return Value(WEAK_BOOL, emit.truth(value))

    # ---- names and constants

    def constant(self, obj: Any, node: ast.AST) -> Value:
        """The value of a Python object that is known now."""
        kind = type(obj)
        if kind in (bool, int, float, complex):
            t = weak(kind)
            if kind is int and not -(1 << 63) <= obj < 1 << 64:
                return Value(t, const=obj)
            text = emit.literal(obj, np.dtype("u8") if kind is int and obj >= 1 << 63 else t.dtype)
            self.unit.need(t.dtype)
            return Value(t, text, const=obj, nonneg=kind is int and obj >= 0)
        if isinstance(obj, np.generic) and dtypes.is_numeric(obj.dtype):
            self.need_dtype(obj.dtype, node)
            text = emit.literal(obj, obj.dtype)
            nonneg = obj.dtype.kind in "biu" and bool(obj >= 0)  # type: ignore[operator]
            return Value(Scalar(obj.dtype), text, const=obj, nonneg=nonneg)
        if isinstance(obj, tuple):
            items = [self.constant(item, node) for item in obj]
            names = getattr(obj, "_fields", ())
            return Value(TupleType(tuple(v.type for v in items), names), items=items)
        if isinstance(obj, np.ndarray):
            return self.table(obj, node)
        return Value(ObjectType(obj), const=obj)

    def table(self, array: np.ndarray, node: ast.AST) -> Value:
        """A constant array: part of the program."""
        self.need_dtype(array.dtype, node)
        if array.nbytes > 65536:
            raise self.source.error(
                f"a constant array of {array.nbytes} bytes is too large (at most 65536); pass it "
                "as an argument",
                node,
            )
        if not dtypes.is_numeric(array.dtype) or array.dtype.kind == "c":
            raise self.source.error(f"constant arrays of {array.dtype} are not supported", node)
        key = ("table", array.dtype.str, array.shape, array.tobytes())
        storage = dtypes.storage_type(array.dtype)
        known = self.unit.functions.get(key)
        if known is None:
            known = self.unit.functions[key] = self.unit.unique("pgk_table")
            flat = array.ravel()
            if array.dtype.char == "e":
                items = [str(bits) for bits in flat.view(np.uint16).tolist()]
            else:
                items = [emit.literal(x, array.dtype) for x in flat]
            body = ", ".join(items or ["0"])
            self.unit.texts[known] = (
                f"PG_TABLE {storage} {known}[{max(len(items), 1)}] = {{{body}}};\n"
            )
        t = ArrayType(array.dtype, array.ndim, True, "constant")
        return Value(t, known, shape=[str(n) for n in array.shape])

    def need_dtype(self, dtype: np.dtype[Any], node: ast.AST) -> None:
        self.unit.need(dtype)
        if not self.unit.fp64 and dtypes.needs_fp64(dtype):
            raise self.source.error(
                f"the device has no double precision, and this is {dtype}; convert operands with "
                "numpy.float32()",
                node,
            )

    def on_Constant(self, node: ast.Constant) -> Value:
        return self.constant(node.value, node)

    def on_Name(self, node: ast.Name) -> Value:
        name = node.id
        v = self.vars.get(name)
        if v is not None or name in self.stores:
            if name in self.const_locals:
                return self.const_locals[name]
            early = name not in self.assigned and name not in self.parameters
            if v is None or v.type is None or (early and len(self.flags) == 1):
                error = self.source.error(f"{name} is used before anything is assigned to it", node)
                raise NotYet(error) if len(self.flags) > 1 else error
            if early:
                if name not in self.used_before:  # in a loop, before the line that sets it
                    self.used_before.add(name)
                    self.changed = True
            return self._variable_value(v.type, v.cname, v.nonneg)
        found, value, place = self.source.resolve(name)
        if not found:
            raise self.source.error(f"name {name!r} is not defined", node)
        if place is not None and not isinstance(
            value, (types.ModuleType, types.BuiltinFunctionType)
        ):
            self.unit.guards[id(place), name] = place, name, value
        return self.constant(value, node)

    def on_NamedExpr(self, node: ast.NamedExpr) -> Value:
        self.statement_only(node, "an assignment")
        value = self.expr(node.value)
        self.assign(node.target, value)
        return self.expr(ast.copy_location(ast.Name(node.target.id, ast.Load()), node))

    def on_Tuple(self, node: ast.Tuple) -> Value:
        items: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                items += self.unpack(self.expr(element.value), element)
            else:
                items.append(self.expr(element))
        return Value(TupleType(tuple(v.type for v in items)), items=items)

    def unpack(self, value: Value, node: ast.AST, count: int | None = None) -> list[Value]:
        """The items of a tuple, or the first *count* of an array with one axis."""
        if value.is_tuple:
            return list(value.items)
        if value.is_array and count is not None and len(value.shape) == 1:
            places = [self.constant(i, node) for i in range(count)]
            return [self.load(value, *self.item_place(value, [i], node)) for i in places]
        raise self.source.error(f"{value.type} cannot be unpacked", node)

    # ---- attributes

    def on_Attribute(self, node: ast.Attribute) -> Value:
        value = self.expr(node.value)
        name = node.attr
        if value.is_object:
            try:
                found = getattr(value.const, name)
            except AttributeError as error:
                raise self.source.error(str(error), node) from None
            emitter = getattr(found, "emit_value", None)
            if emitter is not None:
                result: Value = emitter(self, node)
                return result
            return self.constant(found, node)
        if value.is_record or (value.is_array and name in (value.type.dtype.names or ())):  # type: ignore[union-attr]
            return self.field(value, name, node)
        if value.is_array:
            return self.array_attribute(value, name, node)
        if isinstance(value.type, TupleType) and name in value.type.names:
            return value.items[value.type.names.index(name)]
        if value.is_scalar:
            assert isinstance(value.type, Scalar)
            if name == "dtype":
                return self.constant(value.type.dtype, node)
            if name == "real" or (name == "imag" and value.type.dtype.kind == "c"):
                if value.type.dtype.kind != "c":
                    return value
                part = np.dtype("f4" if value.type.dtype.itemsize == 8 else "f8")
                letter = "re" if name == "real" else "im"
                return Value(Scalar(part, value.is_weak), f"({value.text}).{letter}")
            if name == "imag":
                return Value(value.type, emit.literal(0, value.type.dtype))
            if name in ("ndim", "size", "shape"):
                return self.constant({"ndim": 0, "size": 1, "shape": ()}[name], node)
            if name in ("conjugate", "conj", "item", "astype"):
                return Value(ObjectType(_Method(name, value)), const=_Method(name, value))
        raise self.source.error(f"{value.type} has no attribute {name!r} in kernels", node)

    # ---- operators

    def on_BinOp(self, node: ast.BinOp) -> Value:
        left = self.expr(node.left)
        right = self.expr(node.right)
        return self.binary(node, node.op, left, right)

    def binary(self, node: ast.AST, op: ast.operator, a: Value, b: Value) -> Value:
        if type(op) not in _BINARY:
            raise self.source.error("@ is not supported in kernels; write the loops", node)
        name, python, sign = _BINARY[type(op)]
        if a.is_tuple and b.is_tuple and name == "add":
            items = [*a.items, *b.items]
            return Value(TupleType(tuple(v.type for v in items)), items=items)
        a = self.as_number(a, getattr(node, "left", node))
        b = self.as_number(b, getattr(node, "right", getattr(node, "value", node)))
        if a.is_const and b.is_const:
            try:
                with np.errstate(all="ignore"):
                    return self.constant(python(a.const, b.const), node)
            except (ArithmeticError, TypeError, ValueError) as error:
                raise self.source.error(f"{sign}: {error}", node) from None
        if name == "power":
            return self.power(node, a, b)
        assert isinstance(a.type, Scalar) and isinstance(b.type, Scalar)
        if a.is_weak and b.is_weak:
            return self.weak_binary(node, name, sign, a, b)
        nonneg = a.nonneg and b.nonneg and name in _KEEPS_SIGN
        if name == "remainder" and b.nonneg:
            nonneg = True
        result = self.ufunc(node, name, [a, b])[0]
        result.nonneg = result.nonneg or nonneg
        return result

    def weak_binary(self, node: ast.AST, name: str, sign: str, a: Value, b: Value) -> Value:
        """Of two Python numbers, by Python's rules."""
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
                self.need_weak(t, node)
            if name == "remainder" and b.nonneg:
                nonneg = True
        a, b = Value(t, emit.convert(a, t), a.const), Value(t, emit.convert(b, t), b.const)
        try:
            loop, _ = emit.resolve(name, [a, b])
            texts = emit.operate(self.unit, name, [a, b], loop)
        except TypeError:
            raise self.source.error(
                f"{sign} is not defined for {a.type} and {b.type} on devices", node
            ) from None
        return Value(t, texts[0], nonneg=nonneg)

    def need_weak(self, t: Scalar, node: ast.AST) -> None:
        self.need_dtype(t.dtype, node)

    def power(self, node: ast.AST, a: Value, b: Value) -> Value:
        assert isinstance(a.type, Scalar) and isinstance(b.type, Scalar)
        if b.is_const and b.is_weak and isinstance(b.const, int) and a.type.dtype.kind in "ifcu":
            if 2 <= b.const <= 4:
                return self.small_power(node, a, b.const)
            if b.const < 0 and a.type.dtype.kind in "iu":
                if not a.is_weak:
                    raise self.source.error(
                        "integers to negative integer powers are not allowed, as in NumPy; "
                        "convert the base to float",
                        node,
                    )
                a = Value(WEAK_FLOAT, emit.convert(a, WEAK_FLOAT))
        if a.is_weak and b.is_weak:
            return self.weak_binary(node, "power", "**", a, b)
        return self.ufunc(node, "power", [a, b])[0]

    def small_power(self, node: ast.AST, a: Value, exponent: int) -> Value:
        """A power as products."""
        assert isinstance(a.type, Scalar)
        if not emit._SIMPLE.fullmatch(a.text):
            t = a.type
            name = f"pgu_power_{dtypes.code(t.dtype)}_{exponent}"
            if name not in self.unit.texts:
                x = Value(Scalar(t.dtype), "x0")
                product = self._products(node, x, exponent)
                kind = emit.c_type(t)
                body = emit.convert(product, Scalar(t.dtype))
                self.unit.texts[name] = f"PG_INLINE {kind} {name}({kind} x0) {{ return {body}; }}\n"
            return Value(t, f"{name}({a.text})", nonneg=exponent % 2 == 0 or a.nonneg)
        value = self._products(node, a, exponent)
        value.nonneg = a.nonneg or exponent % 2 == 0
        return value

    def _products(self, node: ast.AST, x: Value, exponent: int) -> Value:
        multiply = ast.Mult()
        square = self.binary(node, multiply, x, x)
        if exponent == 2:
            return square
        if exponent == 3:
            return self.binary(node, multiply, square, x)
        name = f"pgu_power_{dtypes.code(x.type.dtype)}_2"  # type: ignore[union-attr]
        kind = emit.c_type(x.type)  # type: ignore[arg-type]
        one = Value(x.type, "x0")
        text = self.binary(node, multiply, one, one).text
        self.unit.texts.setdefault(
            name, f"PG_INLINE {kind} {name}({kind} x0) {{ return {text}; }}\n"
        )
        return Value(x.type, f"{name}({name}({x.text}))")

    def ufunc(
        self, node: ast.AST, name: str, values: Sequence[Value], strong: bool = False
    ) -> list[Value]:
        """NumPy's ufunc of numbers. strong: results of Python numbers are NumPy's."""
        values = [self.as_number(v, node) for v in values]
        try:
            loop, all_weak = emit.resolve(name, values)
            for dtype in loop:
                self.need_dtype(dtype, node)
            texts = emit.operate(self.unit, name, values, loop)
        except KernelError:
            raise
        except (TypeError, OverflowError) as error:
            kinds = " and ".join(str(v.type) for v in values)
            message = str(error).splitlines()[0]
            raise self.source.error(f"{name}({kinds}): {message}", node) from None
        outs = loop[len(values) :]
        if name not in _EXACT:  # float16 is rounded after each operation, as NumPy does
            texts = [
                f"pg_from_f16(pg_to_f16({text}))" if dtypes.code(d) == "f16" else text
                for d, text in zip(outs, texts)
            ]
        is_weak = all_weak and not strong
        return [
            Value(
                Scalar(d, is_weak and d in _WEAK_DTYPES),
                text,
                nonneg=d.kind in "bu",
            )
            for d, text in zip(outs, texts)
        ]

    def on_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.test(node)
        value = self.number(node.operand)
        assert isinstance(value.type, Scalar)
        if value.is_const:
            python: dict[Any, Any] = {
                ast.USub: operator.neg,
                ast.UAdd: operator.pos,
                ast.Invert: operator.invert,
            }
            try:
                return self.constant(python[type(node.op)](value.const), node)
            except TypeError as error:
                raise self.source.error(str(error), node) from None
        if value.type == WEAK_BOOL:
            value = Value(WEAK_INT, emit.convert(value, WEAK_INT), nonneg=True)
        name = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert"}[type(node.op)]
        if value.type == WEAK_INT and name == "negative":
            return Value(WEAK_INT, f"(-{value.text})")
        result = self.ufunc(node, name, [value])[0]
        result.nonneg = name == "positive" and value.nonneg
        return result

    def on_Compare(self, node: ast.Compare) -> Value:
        left = self.expr(node.left)
        texts: list[str] = []
        is_weak = True
        entered = 0
        for i, (op, right_node) in enumerate(zip(node.ops, node.comparators)):
            right = self.expr(right_node)
            if i + 1 < len(node.ops) and right.is_scalar and not right.is_const:
                once = right
                if not right.text.isidentifier():  # it is used twice
                    temp = self.temp(f"{emit.c_type(right.type)} ")  # type: ignore[arg-type]
                    once = Value(right.type, f"({temp} = {right.text})", nonneg=right.nonneg)
                    right = Value(right.type, temp, nonneg=right.nonneg)
                value = self.compare(node, op, left, once)
            else:
                value = self.compare(node, op, left, right)
            is_weak = is_weak and value.is_weak
            if value.is_const:
                if not value.const:
                    if not texts:
                        self.conditional -= entered
                        return value
                    texts.append("0")
                    break
            else:
                texts.append(value.text)
            if not entered:
                entered = 1
                self.conditional += 1
            left = right
        self.conditional -= entered
        if not texts:
            return self.constant(True, node)
        text = texts[0] if len(texts) == 1 else f"({' && '.join(texts)})"
        return Value(WEAK_BOOL if is_weak else BOOL, text)

    def compare(self, node: ast.AST, op: ast.cmpop, a: Value, b: Value) -> Value:
        if isinstance(op, (ast.Is, ast.IsNot)):
            if a.is_const and b.is_const:
                same = a.const is b.const
            elif (a.is_object and a.const is None) or (b.is_object and b.const is None):
                same = False
            else:
                raise self.source.error("`is` is only supported with None", node)
            return self.constant(same == isinstance(op, ast.Is), node)
        if isinstance(op, (ast.In, ast.NotIn)):
            if not b.is_tuple or not a.is_scalar:
                raise self.source.error("`in` is supported for tuples of numbers only", node)
            a = self.keep(a) if not self.conditional else a
            texts = []
            for item in b.items:
                found = self.compare(node, ast.Eq(), a, item)
                if found.is_const and found.const:
                    return self.constant(isinstance(op, ast.In), node)
                if not found.is_const:
                    texts.append(found.text)
            if not texts:
                return self.constant(isinstance(op, ast.NotIn), node)
            text = f"({' || '.join(texts)})"
            return Value(WEAK_BOOL, text if isinstance(op, ast.In) else f"!{text}")
        name, python, sign = _COMPARE[type(op)]
        if a.is_const and b.is_const:
            return self.constant(bool(python(a.const, b.const)), node)
        if a.is_tuple and b.is_tuple and name in ("equal", "not_equal"):
            return self.compare_tuples(node, name, a, b)
        a, b = self.as_number(a, node), self.as_number(b, node)
        assert isinstance(a.type, Scalar) and isinstance(b.type, Scalar)
        for x, y, swapped in ((a, b, False), (b, a, True)):
            if type(x.const) is int and y.type.dtype.kind in "iu" and not y.is_weak:  # type: ignore[union-attr]
                limits = np.iinfo(y.type.dtype)  # type: ignore[union-attr]
                if not limits.min <= x.const <= limits.max:
                    sample = 0
                    pair = (sample, x.const) if swapped else (x.const, sample)
                    return self.constant(bool(python(*pair)), node)
        if a.is_weak and b.is_weak:
            t = join(a.type, b.type)
            if t.dtype.kind != "c":
                one, two = emit.convert(a, t), emit.convert(b, t)
                return Value(WEAK_BOOL, f"({one} {sign} {two})")
        kinds = {a.type.dtype.kind, b.type.dtype.kind}
        if "c" in kinds and name not in ("equal", "not_equal"):
            raise self.source.error(f"{sign} is not defined for complex numbers", node)
        result = self.ufunc(node, name, [a, b])[0]
        return Value(BOOL, result.text)

    def compare_tuples(self, node: ast.AST, name: str, a: Value, b: Value) -> Value:
        if len(a.items) != len(b.items):
            return self.constant(name == "not_equal", node)
        texts = []
        for x, y in zip(a.items, b.items):
            found = self.compare(node, ast.Eq(), x, y)
            if found.is_const and not found.const:
                return self.constant(name == "not_equal", node)
            if not found.is_const:
                texts.append(found.text)
        if not texts:
            return self.constant(name == "equal", node)
        text = f"({' && '.join(texts)})"
        return Value(WEAK_BOOL, text if name == "equal" else f"!{text}")

    def on_BoolOp(self, node: ast.BoolOp) -> Value:
        first = self.expr(node.values[0])
        rest = node.values[1:]
        is_and = isinstance(node.op, ast.And)
        for part in rest:
            if first.is_const:
                if bool(first.const) != is_and:
                    return first
                first = self.expr(part)
                continue
            first = self.as_number(first, node, "a truth value")
            self.conditional += 1
            second = self.as_number(self.expr(part), part, "a truth value")
            self.conditional -= 1
            assert isinstance(first.type, Scalar) and isinstance(second.type, Scalar)
            t = join(first.type, second.type)
            if t.dtype.kind == "b":
                sign = "&&" if is_and else "||"
                first = Value(t, f"({first.text} {sign} {emit.convert(second, BOOL)})")
                continue
            self.need_dtype(t.dtype, node)
            temp = self.temp(f"{emit.c_type(first.type)} ")  # type: ignore[arg-type]
            kept = Value(first.type, temp)
            truth = emit.truth(Value(first.type, f"({temp} = {first.text})"))
            one, two = emit.convert(second, t), emit.convert(kept, t)
            if not is_and:
                one, two = two, one
            first = Value(t, f"({truth} ? {one} : {two})", nonneg=first.nonneg and second.nonneg)
        return first

    def on_IfExp(self, node: ast.IfExp) -> Value:
        test = self.test(node.test)
        if test.is_const:
            return self.expr(node.body if test.const else node.orelse)
        self.conditional += 1
        a, b = self.expr(node.body), self.expr(node.orelse)
        self.conditional -= 1
        return self.choose(node, test.text, a, b)

    def choose(self, node: ast.AST, test: str, a: Value, b: Value) -> Value:
        """``a if test else b``"""
        t = join(a.type, b.type)
        if t is None or (a.is_object and not a.const == b.const):
            raise self.source.error(
                f"the two values have different types: {a.type} and {b.type}", node
            )
        if isinstance(t, Scalar):
            self.need_dtype(t.dtype, node)
            text = f"({test} ? {emit.convert(a, t)} : {emit.convert(b, t)})"
            return Value(t, text, nonneg=a.nonneg and b.nonneg)
        if isinstance(t, RecordType):
            return Value(t, f"({test} ? {a.text} : {b.text})")
        if isinstance(t, TupleType):
            items = [self.choose(node, test, x, y) for x, y in zip(a.items, b.items)]
            return Value(t, items=items)
        if isinstance(t, ArrayType):
            pick = [f"({test} ? {x} : {y})" for x, y in zip(a.shape, b.shape)]
            strides = None
            if not t.contiguous:
                pairs = zip(emit.strides_of(a), emit.strides_of(b))
                strides = [f"({test} ? {x} : {y})" for x, y in pairs]
            return Value(t, f"({test} ? {a.text} : {b.text})", shape=pick, strides=strides)
        return a

    # ---- calls

    def on_Call(self, node: ast.Call) -> Value:
        function = self.expr(node.func)
        if not function.is_object:
            raise self.source.error(f"{function.type} cannot be called", node.func)
        target = function.const
        if isinstance(target, _Method):
            return self.method(node, target)
        args: list[Value] = []
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                args += self.unpack(self.expr(arg.value), arg)
            else:
                args.append(self.expr(arg))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.source.error("** is not supported in calls", node)
            kwargs[keyword.arg] = self.expr(keyword.value)
        return self.call(node, target, args, kwargs)

    def call(
        self, node: ast.Call, target: Any, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        from .builtins import find

        emitter = getattr(target, "emit_call", None)
        handler = emitter if emitter is not None else find(target)
        if handler is not None:
            try:
                result: Value = handler(self, node, args, kwargs)
            except _WrongCall as error:
                raise self.source.error(str(error), node) from None
            return result
        inner = python_function(target)
        if inner is None:
            raise self.source.error(f"{_describe(target)} cannot be called in a kernel", node.func)
        return self.call_function(node, inner, args, kwargs, getattr(target, "src", None))

    def call_function(
        self,
        node: ast.Call,
        function: types.FunctionType,
        args: list[Value],
        kwargs: dict[str, Value],
        src: str | None = None,
    ) -> Value:
        """A call of a device function."""
        from .infer import flat_types

        try:
            bound = inspect.signature(function).bind(*args, **kwargs)
        except TypeError as error:
            raise self.source.error(f"{function.__name__}(): {error}", node) from None
        bound.apply_defaults()
        values = []
        for value in bound.arguments.values():
            if isinstance(value, tuple) and (not value or isinstance(value[0], Value)):
                raise self.source.error("*args are not supported in device functions", node)
            if isinstance(value, dict):
                raise self.source.error("**kwargs are not supported in device functions", node)
            values.append(value if isinstance(value, Value) else self.constant(value, node))
        arg_types = tuple(v.type for v in values)
        made = self.device_function(node, function, arg_types, src)
        texts: list[str] = []
        for value, t in zip(values, arg_types):
            texts += emit.arguments(value, t)
        for name in made.implicit:
            self.implicit[name] = None
            texts.append(name)
        if isinstance(made.result, Scalar):
            return Value(made.result, f"{made.name}({', '.join(texts)})")
        if made.result == VOID:
            return Value(VOID, f"{made.name}({', '.join(texts)})")
        self.statement_only(node, "a call of a function that returns a tuple")
        parts = []
        for t in flat_types(made.result):
            temp = self.temp(f"{emit.c_type(t)} ")
            texts.append(f"&{temp}")
            parts.append(Value(t, temp))
        self.emit(f"{made.name}({', '.join(texts)});")
        return _rebuild(made.result, iter(parts))

    def device_function(
        self, node: ast.AST, function: types.FunctionType, arg_types: Any, src: str | None
    ) -> Any:
        from . import compiler

        key = (function, arg_types)
        if any(f.__code__ is function.__code__ for f in self.unit.stack):
            raise self.source.error(
                f"{function.__name__} calls itself; devices have no recursion, write a loop", node
            )
        return self.unit.functions.get(key) or compiler.device_function(
            self.unit, function, arg_types, src
        )

    def method(self, node: ast.Call, method: _Method) -> Value:
        """A method of a number."""
        value = method.value
        if method.name in ("conjugate", "conj"):
            return self.ufunc(node, "conjugate", [value])[0]
        if method.name == "item":
            assert isinstance(value.type, Scalar)
            kind = weak(
                {"b": bool, "i": int, "u": int, "f": float, "c": complex}[value.type.dtype.kind]
            )
            return Value(kind, emit.convert(value, kind), nonneg=value.nonneg)
        from .builtins import cast

        return cast(self, node, value, self.dtype_of(self.expr(node.args[0]), node), node)

    def item_type(self, value: Value, node: ast.AST) -> np.dtype[Any]:
        """The dtype of the items of a kernel's own array: of numbers or of records."""
        named = getattr(value.const, "dtype", value.const) if value.is_object else None
        if isinstance(named, np.dtype) and named.names and not named.hasobject:
            self.unit.need(named)
            return named
        dtype = self.dtype_of(value, node)
        self.need_dtype(dtype, node)
        return dtype

    def dtype_of(self, value: Value, node: ast.AST) -> np.dtype[Any]:
        """The dtype that an argument names."""
        from .types import as_dtype

        if value.is_object:
            try:
                return as_dtype(value.const)
            except TypeError as error:
                raise self.source.error(str(error), node) from None
        raise self.source.error(f"a dtype is needed, not {value.type}", node)


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
_EXACT = set(
    "absolute ceil conjugate copysign fabs floor fmax fmin maximum minimum negative positive rint "
    "sign trunc".split()
)
_WEAK_DTYPES = {np.dtype("?"), np.dtype("i8"), np.dtype("f8"), np.dtype("c16")}


class _WrongCall(Exception):
    """What a builtin was given does not fit; the message tells."""


class _Method:
    """A method of a number, before it is called."""

    def __init__(self, name: str, value: Value) -> None:
        self.name = name
        self.value = value


def _describe(obj: Any) -> str:
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    module = getattr(obj, "__module__", None)
    if name is None:
        return repr(obj)
    return f"{module}.{name}" if module and module != "builtins" else str(name)


def _rebuild(t: Any, parts: Any) -> Value:
    if isinstance(t, TupleType):
        return Value(t, items=[_rebuild(item, parts) for item in t.items])
    found: Value = next(parts)
    return found
