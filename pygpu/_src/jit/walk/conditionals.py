"""Expressions with parts that may not be evaluated: ``and``, ``or``, ``a if test else b``."""

from __future__ import annotations

import ast

from .. import emit, ranges
from ..ir import Value, as_enum, wide_enough
from ..types import BOOL, VOID, ArrayType, OptionalType, RecordType, Scalar, TupleType, join
from .context import FunctionContext
from .known_ranges import is_integer, together
from .names import UnboundName
from .optional import as_optional
from .registry import visits_expression
from .truth import truth_of


@visits_expression(ast.BoolOp)
def boolean_operation(fc: FunctionContext, node: ast.BoolOp) -> Value:
    first = fc.expr(node.values[0])
    rest = node.values[1:]
    is_and = isinstance(node.op, ast.And)
    for part in rest:
        if first.is_const:
            if bool(first.const) != is_and:
                return first
            first = fc.expr(part)
            continue
        first = fc.as_number(first, node, "a truth value")
        fc.conditional += 1
        with fc.ranges.only_if(first, is_and):
            second = fc.as_number(fc.expr(part), part, "a truth value")
        fc.conditional -= 1
        assert isinstance(first.type, Scalar) and isinstance(second.type, Scalar)
        kind, t = first.type, join(first.type, second.type)
        if t.dtype.kind == "b":
            sign = "&&" if is_and else "||"
            facts = together([first.facts, second.facts], is_and)
            first = Value(t, f"({first.text} {sign} {emit.convert(second, BOOL)})")
            first.facts = facts
            continue
        fc.need_dtype(t.dtype, node)
        temp = fc.temp(f"{emit.c_type(kind)} ")
        kept = Value(first.type, temp)
        truth = emit.truth(Value(first.type, f"({temp} = {first.text})"))
        one, two = emit.convert(second, t), emit.convert(kept, t)
        if not is_and:
            one, two = two, one
        first = Value(t, f"({truth} ? {one} : {two})", nonneg=first.nonneg and second.nonneg)
    return first


@visits_expression(ast.IfExp)
def conditional_expression(fc: FunctionContext, node: ast.IfExp) -> Value:
    test = truth_of(fc, node.test)
    if test.is_const:
        return fc.expr(node.body if test.const else node.orelse)
    if id(node) in fc.as_statements:
        return _in_statements(fc, node, test)
    depth = fc.conditional
    if depth == 0:
        fc.outermost = node
    fc.conditional += 1
    early: UnboundName | None = None  # in a recursive call before its type is known
    with fc.ranges.only_if(test):
        try:
            a = fc.expr(node.body)
        except UnboundName as error:
            early, a, fc.conditional = error, Value(VOID), depth + 1
        one = fc.ranges.range_of(a) if fc.unit.checks and is_integer(a) else None
    with fc.ranges.only_if(test, False):
        try:
            b = fc.expr(node.orelse)
        except UnboundName as error:
            if early is not None:
                raise
            early, a, b, fc.conditional = error, Value(VOID), a, depth + 1
        two = fc.ranges.range_of(b) if fc.unit.checks and is_integer(b) else None
    fc.conditional -= 1
    if depth == 0:
        fc.outermost = None
    if early is not None:
        fc.postpone(early)
        return b
    found = choose(fc, node, test.text, a, b)
    if one is not None and two is not None and is_integer(found):
        found.range = fc.ranges.wrapped(ranges.join(one, two), found)
    return found


def _in_statements(fc: FunctionContext, node: ast.IfExp, test: Value) -> Value:
    """Handle ``a if test else b`` where a or b needs statements, such as a call that returns a
    tuple."""
    test = fc.keep(test)
    fc.branches += 1
    kept = []
    for part, line in (node.body, f"if ({test.text}) {{"), (node.orelse, "} else {"):
        fc.emit(line)
        fc.indent += 1
        with fc.ranges.only_if(test, part is node.body):
            kept.append(fc.keep(fc.expr(part)))
        fc.indent -= 1
    fc.emit("}")
    fc.branches -= 1
    return choose(fc, node, test.text, *kept)


def choose(fc: FunctionContext, node: ast.AST, test: str, a: Value, b: Value) -> Value:
    """Handle ``a if test else b``."""
    if a.is_none != b.is_none:  # `x if test else None`
        a, b = (Value(VOID) if v.is_none else v for v in (a, b))
    if a.type != b.type:
        a, b = as_enum(a), as_enum(b)
    t = join(a.type, b.type)
    if t is None or (a.is_object and not a.const == b.const):
        raise fc.source.error(f"the two values have different types: {a.type} and {b.type}", node)
    if isinstance(t, Scalar):
        t = wide_enough(t, a, b)
        fc.need_dtype(t.dtype, node)
        text = f"({test} ? {emit.convert(a, t)} : {emit.convert(b, t)})"
        return Value(t, text, nonneg=a.nonneg and b.nonneg)
    if isinstance(t, RecordType):
        return Value(t, f"({test} ? {a.text} : {b.text})")
    if isinstance(t, OptionalType):
        a, b = as_optional(t, a), as_optional(t, b)
    if isinstance(t, TupleType):
        items = [choose(fc, node, test, x, y) for x, y in zip(a.items, b.items)]
        return Value(t, items=items)
    if isinstance(t, ArrayType):
        pick = [f"({test} ? {x} : {y})" for x, y in zip(a.shape, b.shape)]
        strides = None
        if not t.contiguous:
            pairs = zip(emit.strides_of(a), emit.strides_of(b))
            strides = [f"({test} ? {x} : {y})" for x, y in pairs]
        return Value(t, f"({test} ? {a.text} : {b.text})", shape=pick, strides=strides)
    return a
