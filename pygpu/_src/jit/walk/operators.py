"""Operators of kernels: arithmetic, comparisons, truth. Part of the function compiler."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from .. import emit, ranges
from ..ir import Value, wide_enough
from ..source import KernelError
from ..types import (
    BOOL,
    WEAK_BOOL,
    WEAK_FLOAT,
    WEAK_INT,
    ArrayType,
    RecordType,
    Scalar,
    TupleType,
    join,
)
from .index_checks import is_integer, together
from .records import Records

__all__ = ["FUNCTIONS", "Operators"]

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
# Those of the module operator; of numbers, which cannot change in place, iadd is add.
FUNCTIONS: dict[Any, type] = {f: op for op, (_, f, _) in (_BINARY | _COMPARE).items()}
FUNCTIONS |= {
    getattr(operator, "i" + f.__name__.strip("_")): op for op, (_, f, _) in _BINARY.items()
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
_MAY_WRAP = {"add", "left_shift", "multiply", "power"}  # around, to a negative number
_EXACT = set(
    "absolute ceil conjugate copysign fabs floor fmax fmin maximum minimum negative positive rint "
    "sign trunc".split()
)
_LINE = 60  # operations of a long sum in one statement
_WEAK_DTYPES = {np.dtype("?"), np.dtype("i8"), np.dtype("f8"), np.dtype("c16")}


class Operators(Records):
    """Methods of the function compiler; *self* is one."""

    collection: Callable[[ast.expr], Value]

    def on_BinOp(self, node: ast.BinOp) -> Value:
        chain = [node]  # a + b + c + ...: without a call of Python for each
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        value = self.expr(chain[-1].left)
        for n, part in enumerate(reversed(chain)):
            value = self.binary(part, part.op, value, self.expr(part.right))
            if n % _LINE == _LINE - 1 and not self.conditional and value.is_scalar:
                value = self.keep(value)  # compilers take some 250 brackets in brackets
        return value

    def binary(self, node: ast.AST, op: ast.operator, a: Value, b: Value) -> Value:
        result = self._binary(node, op, a, b)
        return self.computed(result, _BINARY[type(op)][0], a, b)

    def _binary(self, node: ast.AST, op: ast.operator, a: Value, b: Value) -> Value:
        if type(op) not in _BINARY:
            raise self.source.error("@ is not supported in kernels; write the loops", node)
        name, python, sign = _BINARY[type(op)]
        if a.is_tuple and b.is_tuple and name == "add":
            items = [*a.items, *b.items]
            return Value(TupleType(tuple(v.type for v in items)), items=items)
        a = self.as_number(a, getattr(node, "left", node))
        b = self.as_number(b, getattr(node, "right", getattr(node, "value", node)))
        if self.unit.widens:
            a, b = self.widened(node, name, a, b)
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
        assert isinstance(result.type, Scalar)
        if name in _MAY_WRAP and result.type.dtype.kind == "i":
            nonneg = False
        result.nonneg = result.nonneg or nonneg
        return result

    def widened(self, node: ast.AST, name: str, a: Value, b: Value) -> tuple[Value, Value]:
        """The operands of arithmetic as Numba has them: integers of less than 64 bits as int64, or
        as uint64 if both are unsigned. It is for programs that were written for it."""
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
        return self._as_wide(node, a, to), self._as_wide(node, b, to)

    def _as_wide(self, node: ast.AST, value: Value, to: np.dtype[Any]) -> Value:
        assert isinstance(value.type, Scalar)
        if value.type.weak or value.type.dtype == to:
            return value
        if value.is_const:
            return self.constant(np.array(value.const).astype(to)[()], node)
        t = Scalar(to)
        nonneg = value.nonneg or value.type.dtype.kind in "bu"
        nonneg = nonneg and value.type.dtype.itemsize < 8
        return self.copied(Value(t, emit.convert(value, t), nonneg=nonneg or to.kind == "u"), value)

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
            value = Value(t, f"{name}({a.text})")
        else:
            value = self._products(node, a, exponent)
        if a.is_weak or a.type.dtype.kind != "i":
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
        kind = value.type.dtype.kind
        if self.unit.widens and not value.is_weak and kind in "iu":
            value = self._as_wide(node, value, np.dtype(f"{kind}8"))
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
            zero = self.constant(0, node)
            return self.computed(Value(WEAK_INT, f"(-{value.text})"), "subtract", zero, value)
        result = self.ufunc(node, name, [value])[0]
        result.nonneg = name == "positive" and value.nonneg
        return result

    def on_Compare(self, node: ast.Compare) -> Value:
        left = self.expr(node.left)
        texts: list[str] = []
        facts: list[Any] = []
        is_weak = True
        entered = 0
        for i, (op, right_node) in enumerate(zip(node.ops, node.comparators)):
            is_in = isinstance(op, (ast.In, ast.NotIn))
            right = self.collection(right_node) if is_in else self.expr(right_node)
            if i + 1 < len(node.ops) and right.is_scalar and not right.is_const:
                once = right
                if not right.text.isidentifier():  # it is used twice
                    temp = self.temp(f"{emit.c_type(right.type)} ")  # type: ignore[arg-type]
                    was = right
                    once = Value(right.type, f"({temp} = {right.text})", nonneg=right.nonneg)
                    right = Value(right.type, temp, nonneg=right.nonneg)
                    self.copied(once, was), self.copied(right, was)
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
                facts.append(value.facts)
            if not entered:
                entered = 1
                self.conditional += 1
            left = right
        self.conditional -= entered
        if not texts:
            return self.constant(True if is_weak else np.True_, node)
        text = texts[0] if len(texts) == 1 else f"({' && '.join(texts)})"
        result = Value(WEAK_BOOL if is_weak else BOOL, text)
        result.facts = together(facts, True)
        return result

    def compare(self, node: ast.AST, op: ast.cmpop, a: Value, b: Value) -> Value:
        result = self._compare(node, op, a, b)
        return self.tested(result, _COMPARE[type(op)][0], a, b) if type(op) in _COMPARE else result

    def _compare(self, node: ast.AST, op: ast.cmpop, a: Value, b: Value) -> Value:
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
                raise self.source.error(
                    "`in` is supported for numbers in tuples, lists and sets", node
                )
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
            return self.constant(python(a.const, b.const), node)
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
                    return self.constant(np.bool_(python(*pair)), node)
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
            with self.only_if(first, is_and):
                second = self.as_number(self.expr(part), part, "a truth value")
            self.conditional -= 1
            assert isinstance(first.type, Scalar) and isinstance(second.type, Scalar)
            t = join(first.type, second.type)
            if t.dtype.kind == "b":
                sign = "&&" if is_and else "||"
                facts = together([first.facts, second.facts], is_and)
                first = Value(t, f"({first.text} {sign} {emit.convert(second, BOOL)})")
                first.facts = facts
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
        with self.only_if(test):
            a = self.expr(node.body)
            one = self.range_of(a) if self.unit.checks and is_integer(a) else None
        with self.only_if(test, False):
            b = self.expr(node.orelse)
            two = self.range_of(b) if self.unit.checks and is_integer(b) else None
        self.conditional -= 1
        found = self.choose(node, test.text, a, b)
        if one is not None and two is not None and is_integer(found):
            found.range = self.wrapped(ranges.join(one, two), found)
        return found

    def choose(self, node: ast.AST, test: str, a: Value, b: Value) -> Value:
        """``a if test else b``"""
        t = join(a.type, b.type)
        if t is None or (a.is_object and not a.const == b.const):
            raise self.source.error(
                f"the two values have different types: {a.type} and {b.type}", node
            )
        if isinstance(t, Scalar):
            t = wide_enough(t, a, b)
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
