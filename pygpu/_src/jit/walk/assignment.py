"""Assignments: to names, items, fields, and several targets."""

from __future__ import annotations

import ast
from typing import Any

from .. import emit
from ..ir import Value, tuple_of
from ..types import ArrayType, RecordType, Scalar
from .context import FunctionContext
from .date_operations import as_stored
from .index_checks import Checked
from .indexing import view_or_item
from .items import load
from .names import assign_name, read_name, read_variable
from .operators import binary
from .records import by_bytes, field_dtype, field_name, field_value, is_aligned, record_at
from .registry import visits_expression, visits_statement
from .sequences import unpack
from .stores import check_broadcast, fill, finished, loop_over, only_inside, store, writable


@visits_statement(ast.Assign)
def assignment(fc: FunctionContext, node: ast.Assign) -> None:
    value = fc.expr(node.value)
    if len(node.targets) > 1:
        value = fc.keep(value)
    for target in node.targets:
        assign(fc, target, value)


@visits_statement(ast.AnnAssign)
def annotated_assignment(fc: FunctionContext, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(fc, node.target, fc.expr(node.value))


@visits_expression(ast.NamedExpr)
def named_expression(fc: FunctionContext, node: ast.NamedExpr) -> Value:
    if fc.branches or fc.conditional:
        raise fc.source.error(
            "an assignment inside of a conditional expression, or on the right of and/or, is not "
            "supported; use an if statement",
            node,
        )
    value = fc.expr(node.value)
    assign(fc, node.target, value)
    value = read_variable(fc, fc.vars.key_of(node.target, stored=True), node.target)
    return fc.keep(value) if fc.vars.renewed.get(node.target.id, 0) > 1 else value


def assign(fc: FunctionContext, target: ast.expr, value: Value) -> None:
    """Assign to a name, an item, or several of them."""
    if isinstance(target, ast.Name):
        if any(_mentions(fc, i, target) for i in value.items):
            value = fc.keep(value)
        assign_name(fc, target, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        if any(isinstance(t, ast.Starred) for t in target.elts):
            plain, value = _starred(fc, target, value)
            return assign(fc, plain, value)
        items = unpack(fc, value, target, len(target.elts))
        if len(items) != len(target.elts):
            raise fc.source.error(
                f"cannot unpack {len(items)} values into {len(target.elts)} names", target
            )
        if any(not isinstance(t, ast.Name) for t in target.elts) or any(
            _mentions(fc, item, t)
            for i, t in enumerate(target.elts)
            for item in items[i + 1 :]
            if isinstance(t, ast.Name)
        ):
            items = [fc.keep(item) for item in items]
        for t, item in zip(target.elts, items):
            assign(fc, t, item)
    elif isinstance(target, ast.Subscript):
        _store_item(fc, target, value)
    elif isinstance(target, ast.Attribute):
        store_field(fc, target, fc.value(target.value), target.attr, value)
    else:
        raise fc.source.error("starred assignment is not supported", target)


def _starred(fc: FunctionContext, target: Any, value: Value) -> tuple[ast.Tuple, Value]:
    """Rewrite ``a, *b, c = value`` as ``a, b, c``, where b is the tuple of the items in between."""
    starred = [i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)]
    if not value.is_tuple:
        raise fc.source.error(
            f"only a tuple can be unpacked into a starred name, not {value.type}", target
        )
    items, before = list(value.items), starred[0]
    after = len(target.elts) - before - 1
    if len(items) < before + after:
        raise fc.source.error(
            f"cannot unpack {len(items)} values into at least {before + after} names", target
        )
    end = len(items) - after
    middle = items[before:end]
    rest = tuple_of(middle)
    items[before:end] = [rest]
    elements = [t.value if isinstance(t, ast.Starred) else t for t in target.elts]
    plain = ast.copy_location(ast.Tuple(elements, ast.Store()), target)
    return plain, tuple_of(items)


def _mentions(fc: FunctionContext, value: Value, target: ast.Name) -> bool:
    """Whether the source of a value reads the variable of a target."""
    v = fc.vars.by_key.get(fc.vars.key_of(target, stored=True))
    if v is None:
        return False
    return any(v.cname in text for text in _texts_of(value))


def _texts_of(value: Value) -> list[str]:
    found = [value.text, *value.shape, *(value.strides or ())]
    for item in value.items:
        found += _texts_of(item)
    return found


def _store_item(fc: FunctionContext, target: ast.Subscript, value: Value) -> None:
    """Handle ``array[...] = value``."""
    array = fc.value(target.value)
    name = field_name(fc, array, target.slice)
    if name is not None:
        store_field(fc, target, array, name, value)
        return
    if not array.is_array:
        raise fc.source.error(f"items of {array.type} cannot be assigned", target)
    writable(fc, array, target)
    found = view_or_item(fc, array, target)
    if isinstance(found, Value):
        fill(fc, found, value, target)
        return
    store(fc, array, found[0], found[1], value, target)


def store_field(fc: FunctionContext, target: ast.expr, value: Value, name: str, new: Value) -> None:
    """Handle ``record.name = new``, or for all records of an array."""
    if not value.is_record and not (value.is_array and value.dtype.names):
        raise fc.source.error("attributes cannot be assigned in kernels", target)
    writable(fc, value, target)
    dtype, offset = field_dtype(fc, value, name, target)
    if dtype.shape or (value.is_array and value.shape):
        fill(fc, field_value(fc, value, name, target), new, target)
        return
    t = value.type
    if isinstance(t, ArrayType):
        value = record_at(fc, t, value.text, "0")
        t = value.type
    assert isinstance(t, RecordType)
    one = ArrayType(dtype, 1, True, t.space)
    fc.unit.need(one.dtype)
    address = f"({value.text} + {offset})" if offset else value.text
    if dtype.names or is_aligned(t, one.dtype, offset):
        store(
            fc, Value(one, shape=["1"]), f"(({emit.pointer_type(one)}){address})", "0", new, target
        )
        return
    if one.date is not None or new.is_date:
        text = as_stored(fc, one.date, new, target)
    else:
        text = emit.convert(fc.as_number(new, target, "a number"), Scalar(dtype))
    fc.emit(f"{by_bytes(fc, 'store', t, one.dtype)}({address}, {text});")


# ---- augmented assignments


@visits_statement(ast.AugAssign)
def augmented_assignment(fc: FunctionContext, node: ast.AugAssign) -> None:
    if isinstance(node.target, ast.Subscript):
        _augment_item(fc, node)
        return
    if isinstance(node.target, ast.Attribute):
        record = fc.keep(fc.value(node.target.value))
        old = field_value(fc, record, node.target.attr, node.target)
        new = binary(fc, node, node.op, old, fc.expr(node.value))
        store_field(fc, node.target, record, node.target.attr, new)
        return
    assert isinstance(node.target, ast.Name)
    value = binary(fc, node, node.op, read_name(fc, node.target), fc.expr(node.value))
    assign_name(fc, node.target, value)


def _augment_item(fc: FunctionContext, node: ast.AugAssign) -> None:
    """Handle ``array[i] += value``: the index is evaluated once."""
    target = node.target
    assert isinstance(target, ast.Subscript)
    array = fc.value(target.value)
    name = field_name(fc, array, target.slice)
    if name is not None:
        array = fc.keep(array)
        old = field_value(fc, array, name, target)
        new = binary(fc, node, node.op, old, fc.expr(node.value))
        store_field(fc, target, array, name, new)
        return
    if not array.is_array:
        raise fc.source.error(f"items of {array.type} cannot be assigned", target)
    writable(fc, array, target)
    found = view_or_item(fc, array, target)
    if isinstance(found, Value):
        other = fc.keep(fc.expr(node.value))

        def change(view: Value, at: Any) -> None:
            pointer, index = at([])
            item = load(fc, other, *at([other])) if other.is_array else other
            new = binary(fc, node, node.op, load(fc, view, pointer, index), item)
            store(fc, view, pointer, index, new, node)

        check_broadcast(fc, found, other, target)
        loop_over(fc, fc.keep(found), change, node.value)
        return
    pointer, index = found
    if isinstance(index, Checked):
        _augment_checked(fc, array, pointer, index, node)
        return
    assert isinstance(array.type, ArrayType)
    kind = emit.pointer_type(array.type)
    address = fc.temp(kind)
    fc.emit(f"{address} = {pointer} + {index};" if index != "0" else f"{address} = {pointer};")
    old = fc.in_order(load(fc, array, address, "0"))
    value = fc.expr(node.value)
    store(fc, array, address, "0", binary(fc, node, node.op, old, value), node)


def _augment_checked(
    fc: FunctionContext, array: Value, pointer: str, index: Checked, node: ast.AugAssign
) -> None:
    """The same if the index may be out of bounds: the value is computed anyway."""
    assert isinstance(array.type, ArrayType)
    index = Checked(fc.stable(index), index.strided)
    checked = load(fc, array, pointer, index)
    old = fc.in_order(checked)
    value = finished(fc, fc.expr(node.value))
    (pointer, at), end = only_inside(fc, array.type, pointer, index)
    address = fc.temp(emit.pointer_type(array.type))
    fc.emit(f"{address} = {pointer} + {at};" if at != "0" else f"{address} = {pointer};")
    if old is checked:  # the value does not modify it: no second check
        old = load(fc, array, address, "0")
    store(fc, array, address, "0", binary(fc, node, node.op, old, value), node)
    end()
