"""Tuples, and unpacking into several names."""

from __future__ import annotations

import ast

from ..ir import Value, tuple_of
from .constants import constant
from .context import FunctionContext
from .items import item_address, load
from .optional import unwrapped
from .registry import visits_expression


@visits_expression(ast.Tuple)
def tuple_display(fc: FunctionContext, node: ast.Tuple | ast.List) -> Value:
    items: list[Value] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            items += unpack(fc, fc.expr(element.value), element)
        else:
            items.append(fc.expr(element))
    return tuple_of(items)


def collection(fc: FunctionContext, node: ast.expr) -> Value:
    """Return the operand of ``in``, or of ``for ... in``, which nothing else can access: lists and
    sets are tuples there, as in CPython."""
    if isinstance(node, ast.List):
        return tuple_display(fc, node)
    if isinstance(node, ast.Set):
        values = [fc.expr(element) for element in node.elts]
        if all(v.is_scalar and v.is_const for v in values):
            # Each evaluated once, in Python's order.
            return constant(fc, tuple(frozenset(v.const for v in values)), node)
        return tuple_of(values)
    value = fc.value(node)
    if value.is_object and type(value.const) is frozenset:
        return constant(fc, tuple(value.const), node)
    return value


def unpack(
    fc: FunctionContext, value: Value, node: ast.AST, count: int | None = None
) -> list[Value]:
    """Return the items of a tuple, or the first *count* of an array with one axis."""
    value = unwrapped(value)
    if value.is_tuple:
        return list(value.items)
    if value.is_array and count is not None and len(value.shape) == 1:
        indices = [constant(fc, i, node) for i in range(count)]
        return [load(fc, value, *item_address(fc, value, [i], node)) for i in indices]
    raise fc.source.error(f"{value.type} cannot be unpacked", node)
