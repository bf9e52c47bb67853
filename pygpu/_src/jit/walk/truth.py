"""The truth of expressions: in ``if``, ``while``, ``not``, ``and`` and ``or``."""

from __future__ import annotations

import ast
from typing import Any

from .. import emit
from ..ir import Value
from ..types import WEAK_BOOL
from .constants import constant
from .context import FunctionContext
from .known_ranges import together
from .optional import is_there, unwrapped


def truth_of(fc: FunctionContext, node: ast.expr) -> Value:
    """The truth of an expression, as a bool."""
    if isinstance(node, ast.BoolOp):
        texts: list[str] = []
        facts: list[Any] = []
        is_and = isinstance(node.op, ast.And)
        self_conditional = 0
        before = fc.ranges.state()
        for part in node.values:
            value = truth_of(fc, part)
            fc.ranges.taken(value, is_and)
            if not self_conditional:
                fc.conditional += 1
                self_conditional = 1
            if value.is_const:
                if bool(value.const) != is_and:  # determines the result
                    if not texts:
                        fc.conditional -= 1
                        fc.ranges.restore(before)
                        return constant(fc, not is_and, node)
                    texts.append("0" if is_and else "1")
                    break
                continue
            texts.append(value.text)
            facts.append(value.facts)
        fc.conditional -= 1
        fc.ranges.restore(before)
        if not texts:
            return constant(fc, is_and, node)
        result = Value(WEAK_BOOL, f"({(' && ' if is_and else ' || ').join(texts)})")
        result.facts = together(facts, is_and)
        return result
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        value = truth_of(fc, node.operand)
        if value.is_const:
            return constant(fc, not value.const, node)
        result = Value(WEAK_BOOL, f"!{value.text}")
        result.facts = value.facts[::-1]
        return result
    return truth_of_value(fc, fc.expr(node), node)


def truth_of_value(fc: FunctionContext, value: Value, node: ast.AST) -> Value:
    """The truth of a value, as a bool."""
    if value.is_const:
        return constant(fc, bool(value.const), node)
    if value.is_optional:
        there, truth = is_there(value), truth_of_value(fc, unwrapped(value), node)
        if truth.is_const:
            return there if truth.const else truth
        return Value(WEAK_BOOL, f"({there.text} && {truth.text})")
    if value.is_none:
        return constant(fc, False, node)
    if value.is_tuple:
        return constant(fc, bool(value.items), node)
    if value.is_date and value.type.date.kind == "m":  # type: ignore[union-attr]
        return Value(WEAK_BOOL, f"({value.text} != 0)")
    value = fc.as_number(value, node, "a truth value")
    result = Value(WEAK_BOOL, emit.truth(value))
    result.facts = value.facts
    return result
