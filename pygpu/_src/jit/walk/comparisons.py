"""Comparisons: of numbers and tuples, ``is``, ``in``."""

from __future__ import annotations

import ast
import enum
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import emit
from ..ir import Value, as_enum
from ..types import BOOL, WEAK_BOOL, Scalar, join
from .constants import constant
from .context import FunctionContext
from .date_operations import any_date
from .known_ranges import together
from .operators import BINARY, call_ufunc
from .optional import is_there, unwrapped
from .registry import visits_expression
from .sequences import collection

_COMPARE: dict[type, tuple[str, Callable[..., Any], str]] = {
    ast.Lt: ("less", operator.lt, "<"),
    ast.LtE: ("less_equal", operator.le, "<="),
    ast.Gt: ("greater", operator.gt, ">"),
    ast.GtE: ("greater_equal", operator.ge, ">="),
    ast.Eq: ("equal", operator.eq, "=="),
    ast.NotEq: ("not_equal", operator.ne, "!="),
}
# Those of the module operator; numbers are immutable, so iadd is add.
FUNCTIONS: dict[Any, type] = {f: op for op, (_, f, _) in (BINARY | _COMPARE).items()}
FUNCTIONS |= {
    getattr(operator, "i" + f.__name__.strip("_")): op for op, (_, f, _) in BINARY.items()
}


@visits_expression(ast.Compare)
def comparison(fc: FunctionContext, node: ast.Compare) -> Value:
    left = fc.expr(node.left)
    texts: list[str] = []
    facts: list[Any] = []
    is_weak = True
    entered = 0
    for i, (op, right_node) in enumerate(zip(node.ops, node.comparators)):
        is_in = isinstance(op, (ast.In, ast.NotIn))
        right = collection(fc, right_node) if is_in else fc.expr(right_node)
        if i + 1 < len(node.ops) and right.is_date:
            right = once = fc.keep(right) if not fc.conditional else right
            value = compare(fc, node, op, left, right)
        elif i + 1 < len(node.ops) and right.is_scalar and not right.is_const:
            once, right = _used_twice(fc, right)
            value = compare(fc, node, op, left, once)
        else:
            value = compare(fc, node, op, left, right)
        is_weak = is_weak and value.is_weak
        if value.is_const:
            if not value.const:
                if not texts:
                    fc.conditional -= entered
                    return value
                texts.append("0")
                break
        else:
            texts.append(value.text)
            facts.append(value.facts)
        if not entered:
            entered = 1
            fc.conditional += 1
        left = right
    fc.conditional -= entered
    if not texts:
        return constant(fc, True if is_weak else np.True_, node)
    text = texts[0] if len(texts) == 1 else f"({' && '.join(texts)})"
    result = Value(WEAK_BOOL if is_weak else BOOL, text)
    result.facts = together(facts, True)
    return result


def _used_twice(fc: FunctionContext, value: Value) -> tuple[Value, Value]:
    """Return a number for its first use in an expression, and for its second one."""
    if value.is_const or value.text.isidentifier() or not value.is_scalar:
        return value, value
    assert isinstance(value.type, Scalar)
    temp = fc.temp(f"{emit.c_type(value.type)} ")
    once = Value(value.type, f"({temp} = {value.text})", nonneg=value.nonneg)
    again = Value(value.type, temp, nonneg=value.nonneg)
    return fc.ranges.copied(once, value), fc.ranges.copied(again, value)


def compare(fc: FunctionContext, node: ast.AST, op: ast.cmpop, a: Value, b: Value) -> Value:
    if type(op) in _COMPARE and any_date(a, b):
        return call_ufunc(fc, node, _COMPARE[type(op)][0], [a, b])[0]
    result = _compare(fc, node, op, a, b)
    return fc.ranges.tested(result, _COMPARE[type(op)][0], a, b) if type(op) in _COMPARE else result


def _compare(fc: FunctionContext, node: ast.AST, op: ast.cmpop, a: Value, b: Value) -> Value:
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identity(fc, node, op, a, b)
    if isinstance(op, (ast.In, ast.NotIn)):
        return _membership(fc, node, op, a, b)
    a, b = unwrapped(a), unwrapped(b)
    if (a.is_enum or b.is_enum) and isinstance(op, (ast.Eq, ast.NotEq)):
        return _members(fc, node, isinstance(op, ast.Eq), a, b)
    name, python, sign = _COMPARE[type(op)]
    if a.is_const and b.is_const:
        try:
            return constant(fc, python(a.const, b.const), node)
        except TypeError as error:  # of complex numbers, for example
            raise fc.source.error(str(error), node) from None
    if a.is_tuple and b.is_tuple:
        if name in ("equal", "not_equal"):
            return _compare_tuples(fc, node, name, a, b)
        return _order_tuples(fc, node, op, a, b)
    a, b = fc.as_number(a, node), fc.as_number(b, node)
    assert isinstance(a.type, Scalar) and isinstance(b.type, Scalar)
    for x, y, swapped in ((a, b, False), (b, a, True)):
        if type(x.const) is int and y.dtype.kind in "iu" and not y.is_weak:
            limits = np.iinfo(y.dtype)
            if not limits.min <= x.const <= limits.max:
                sample = 0
                pair = (sample, x.const) if swapped else (x.const, sample)
                return constant(fc, np.bool_(python(*pair)), node)
    if a.is_weak and b.is_weak:
        t = join(a.type, b.type)
        if t.dtype.kind != "c":
            one, two = emit.convert(a, t), emit.convert(b, t)
            return Value(WEAK_BOOL, f"({one} {sign} {two})")
    kinds = {a.type.dtype.kind, b.type.dtype.kind}
    if "c" in kinds and name not in ("equal", "not_equal"):
        raise fc.source.error(f"{sign} is not defined for complex numbers", node)
    result = call_ufunc(fc, node, name, [a, b])[0]
    return Value(BOOL, result.text)


def _identity(fc: FunctionContext, node: ast.AST, op: ast.cmpop, a: Value, b: Value) -> Value:
    """Handle ``a is b``."""
    for one, other in ((a, b), (b, a)):
        if one.is_optional and other.is_none:
            there = is_there(one).text
            return Value(WEAK_BOOL, there if isinstance(op, ast.IsNot) else f"!{there}")
    if a.is_enum or b.is_enum:
        return _members(fc, node, isinstance(op, ast.Is), a, b)
    if a.is_none and b.is_none:
        same = True
    elif a.is_const and b.is_const:
        same = a.const is b.const
        if _is_member(a) and _is_member(b):
            same = a.origin is b.origin
        elif _is_member(a) or _is_member(b):  # a number whose class is not known here
            same = a.const == b.const
    elif a.is_none or b.is_none:
        same = False
    elif a.is_array and b.is_array:
        return _same_memory(fc, node, op, a, b)
    elif _differ(a, b):
        same = False
    elif a.is_scalar and a.text == b.text and a.text.isidentifier():
        same = True  # the same variable
    elif _is_member(a) != _is_member(b):  # the other one is taken to be of that class
        return compare(fc, node, ast.Eq() if isinstance(op, ast.Is) else ast.NotEq(), a, b)
    else:
        raise fc.source.error("`is` is not supported for numbers; use ==", node)
    return constant(fc, same == isinstance(op, ast.Is), node)


def _is_member(value: Value) -> bool:
    """Whether it is a known member of an IntEnum; one that is not known is a number in kernels."""
    return isinstance(value.origin, enum.IntEnum)


def _members(fc: FunctionContext, node: ast.AST, same: bool, a: Value, b: Value) -> Value:
    """Whether two members of Enums, one of which is known only on the device, are the same."""
    a, b = as_enum(a), as_enum(b)
    if a.type != b.type:
        return constant(fc, not same, node)
    return Value(WEAK_BOOL, f"({a.text} {'==' if same else '!='} {b.text})")


def _membership(fc: FunctionContext, node: ast.AST, op: ast.cmpop, a: Value, b: Value) -> Value:
    """Handle ``a in b``."""
    if not b.is_tuple or not (a.is_scalar or a.is_enum or a.is_date):
        raise fc.source.error("`in` is supported for numbers in tuples, lists and sets", node)
    a = fc.keep(a) if not fc.conditional else a
    texts = []
    for item in b.items:
        found = compare(fc, node, ast.Eq(), a, item)
        if found.is_const and found.const:
            return constant(fc, isinstance(op, ast.In), node)
        if not found.is_const:
            texts.append(found.text)
    if not texts:
        return constant(fc, isinstance(op, ast.NotIn), node)
    text = f"({' || '.join(texts)})"
    return Value(WEAK_BOOL, text if isinstance(op, ast.In) else f"!{text}")


def _differ(a: Value, b: Value) -> bool:
    """Whether two values cannot be the same object."""
    kinds = [(v.is_scalar, v.is_array, v.is_record, v.is_tuple, v.is_object) for v in (a, b)]
    return kinds[0] != kinds[1]


def _same_memory(fc: FunctionContext, node: ast.AST, op: ast.cmpop, a: Value, b: Value) -> Value:
    """Handle ``a is b`` for arrays: whether they have the same address and shape."""
    is_it = isinstance(op, ast.Is)
    if a.type != b.type:
        return constant(fc, not is_it, node)
    pairs = [(a.text, b.text), *zip(a.shape, b.shape)]
    pairs += zip(emit.strides_of(a), emit.strides_of(b))
    texts = [f"{x} == {y}" for x, y in pairs if x != y]
    if not texts:
        return constant(fc, is_it, node)
    text = f"({' && '.join(texts)})"
    return Value(WEAK_BOOL, text if is_it else f"!{text}")


def _compare_tuples(fc: FunctionContext, node: ast.AST, name: str, a: Value, b: Value) -> Value:
    if len(a.items) != len(b.items):
        return constant(fc, name == "not_equal", node)
    texts = []
    for x, y in zip(a.items, b.items):
        found = compare(fc, node, ast.Eq(), x, y)
        if found.is_const and not found.const:
            return constant(fc, name == "not_equal", node)
        if not found.is_const:
            texts.append(found.text)
    if not texts:
        return constant(fc, name == "equal", node)
    text = f"({' && '.join(texts)})"
    return Value(WEAK_BOOL, text if name == "equal" else f"!{text}")


def _order_tuples(fc: FunctionContext, node: ast.AST, op: ast.cmpop, a: Value, b: Value) -> Value:
    """Compare the first items that differ; if there are none, the lengths."""
    _, python, _ = _COMPARE[type(op)]
    text = str(int(python(len(a.items), len(b.items))))
    for x, y in [*zip(a.items, b.items)][::-1]:
        pairs = zip(_used_twice(fc, x), _used_twice(fc, y))
        parts = [compare(fc, node, o, *two) for o, two in zip((ast.NotEq(), op), pairs)]
        differ, first = (str(int(v.const)) if v.is_const else v.text for v in parts)
        text = f"({differ} ? {first} : {text})"
    return Value(WEAK_BOOL, text)
