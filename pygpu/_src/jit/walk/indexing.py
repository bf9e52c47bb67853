"""Subscripts: of arrays, tuples, records and constant objects."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ..ir import Value, tuple_of
from ..types import ArrayType
from .conditionals import choose
from .constants import constant, guard_item
from .context import FunctionContext
from .index_checks import need_helper, raised_exception, report
from .items import index_text, item_address, load
from .records import field_name, field_value
from .registry import visits_expression
from .slices import slice_view


@visits_expression(ast.Subscript)
def subscript(fc: FunctionContext, node: ast.Subscript) -> Value:
    value = fc.value(node.value)
    if value.is_tuple:
        return _tuple_item(fc, value, node)
    name = field_name(fc, value, node.slice)
    if name is not None:
        return field_value(fc, value, name, node)
    if value.is_object:
        index = fc.expr(node.slice)
        try:
            if index.is_const:
                item = value.const[index.const]
                guard_item(fc, value.const, index.const, item)
                return constant(fc, item, node)
        except (TypeError, KeyError, IndexError) as error:
            raise fc.source.error(str(error), node) from None
    if not value.is_array:
        hint = ""
        if value.is_object and isinstance(value.const, (list, dict)):
            hint = (
                " by what is not constant; make it a NumPy array, or pass an array as an argument"
            )
        elif value.is_object and callable(value.const):
            hint = ", which cannot launch kernels: launch it from the host, or call the function"
        raise fc.source.error(f"{value.type} cannot be indexed in kernels{hint}", node)
    found = view_or_item(fc, value, node)
    if isinstance(found, Value):
        return found
    return fc.in_order(load(fc, value, *found))


def _tuple_item(fc: FunctionContext, value: Value, node: ast.Subscript) -> Value:
    if isinstance(node.slice, ast.Slice):
        ends = [
            None if e is None else fc.expr(e).const
            for e in (node.slice.lower, node.slice.upper, node.slice.step)
        ]
        if not all(e is None or isinstance(e, int) for e in ends):
            raise fc.source.error("slices of tuples must be constant", node)
        items = list(value.items)[slice(*ends)]
        return tuple_of(items)
    index = fc.expr(node.slice)
    if index.is_const and isinstance(index.const, (int, np.integer)):
        try:
            return value.items[int(index.const)]
        except IndexError:
            raise fc.source.error("tuple index out of range", node) from None
    index = fc.as_number(index, node, "an index")
    if not value.items:
        raise fc.source.error("tuple index out of range", node)
    n = str(len(value.items))
    text = index_text(fc, index, n, node)
    if fc.unit.checks and not fc.ranges.is_within(index, len(value.items)):
        about = report(fc, raised_exception(fc, IndexError, "tuple index out of range", node))
        text = f"{need_helper(fc, 'pgc_in')}({text}, {n}, {about})"
    i = fc.stable(text)
    found = value.items[-1]
    for k in reversed(range(len(value.items) - 1)):
        found = choose(fc, node, f"({i} == {k})", value.items[k], found)
    return found


def view_or_item(fc: FunctionContext, value: Value, node: ast.Subscript) -> Value | tuple[str, str]:
    """Return a Value for a slice; (pointer, index) for an item."""
    assert isinstance(value.type, ArrayType)
    parts = _indices(node.slice)
    given: list[Any] = []
    for part in parts:
        if isinstance(part, ast.Slice):
            given.append(part)
            continue
        item = fc.value(part)
        if item.is_tuple:
            given += item.items
        else:
            given.append(item)
    axes = sum(not (isinstance(g, Value) and g.is_object and g.const in (None, ...)) for g in given)
    ndim = value.type.ndim
    if axes > ndim:
        raise fc.source.error(f"{axes} indices for an array of {ndim} dimensions", node)
    dots = [g for g in given if isinstance(g, Value) and g.is_object and g.const is ...]
    if len(dots) > 1:
        raise fc.source.error("an index can only have one ellipsis", node)
    full = ast.Slice()
    if not dots:
        given += [full] * (ndim - axes)
    else:
        at = next(i for i, g in enumerate(given) if g is dots[0])
        given[at : at + 1] = [full] * (ndim - axes)
    if ndim == axes and all(isinstance(g, Value) and g.is_scalar for g in given):
        return item_address(fc, value, given, node)
    return slice_view(fc, value, given, node)


def _indices(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]
