"""Attributes: of objects, arrays, records, tuples and numbers."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from .. import emit, ranges
from ..ir import Method, Value
from ..types import WEAK_INT, ArrayType, DateType, ObjectType, Scalar, TupleType
from .constants import constant, guard_attribute
from .context import FunctionContext
from .items import length_value
from .records import field_value
from .registry import visits_expression

_METHODS = frozenset(
    "all any argmax argmin astype copy dot fill flatten item max mean min prod ravel reshape std "
    "sum var view".split()
)


@visits_expression(ast.Attribute)
def attribute(fc: FunctionContext, node: ast.Attribute) -> Value:
    value = fc.value(node.value)
    name = node.attr
    if value.is_object:
        try:
            found = getattr(value.const, name)
        except AttributeError as error:
            raise fc.source.error(str(error), node) from None
        emitter = getattr(found, "emit_value", None)
        if emitter is not None:
            result: Value = emitter(fc, node)
            return result
        guard_attribute(fc, value.const, name, found)
        return constant(fc, found, node)
    if value.is_record or (value.is_array and name in (value.dtype.names or ())):
        return field_value(fc, value, name, node)
    if value.is_array:
        return _array_attribute(fc, value, name, node)
    if isinstance(value.type, TupleType) and name in value.type.names:
        return value.items[value.type.names.index(name)]
    if value.origin is not None and hasattr(value.origin, name):
        return constant(fc, getattr(value.origin, name), node)
    if isinstance(value.type, DateType):
        if name == "dtype":
            return constant(fc, value.type.date, node)
        if name in ("astype", "view"):
            return Value(ObjectType(Method(name, value)), const=Method(name, value))
    if value.is_scalar:
        assert isinstance(value.type, Scalar)
        if name == "dtype":
            return constant(fc, value.type.dtype, node)
        if name == "real" or (name == "imag" and value.type.dtype.kind == "c"):
            if value.type.dtype.kind != "c":
                return value
            part = np.dtype("f4" if value.type.dtype.itemsize == 8 else "f8")
            letter = "re" if name == "real" else "im"
            return Value(Scalar(part, value.is_weak), f"({value.text}).{letter}")
        if name == "imag":
            return Value(value.type, emit.literal(0, value.type.dtype))
        if name in ("ndim", "size", "shape"):
            return constant(fc, {"ndim": 0, "size": 1, "shape": ()}[name], node)
        if name in ("conjugate", "conj", "item", "astype", "bit_count"):
            return Value(ObjectType(Method(name, value)), const=Method(name, value))
    raise fc.source.error(f"{value.type} has no attribute {name!r} in kernels", node)


def _array_attribute(fc: FunctionContext, value: Value, name: str, node: ast.AST) -> Value:
    assert isinstance(value.type, ArrayType)
    if name == "shape":
        items = [length_value(n) for n in value.shape]
        return Value(TupleType((WEAK_INT,) * len(items)), items=items)
    if name == "size":
        size = length_value(product_text(value.shape))
        if fc.unit.checks and value.shape:
            found = fc.ranges.length_range(value.shape[0])
            for n in value.shape[1:]:
                found = ranges.of_operation("multiply", found, fc.ranges.length_range(n))
            size.range = found
        return size
    if name == "ndim":
        return constant(fc, value.type.ndim, node)
    if name == "dtype":
        return constant(fc, value.type.item_dtype, node)
    if name == "itemsize":
        return constant(fc, value.type.dtype.itemsize, node)
    if name == "nbytes":
        return length_value(product_text([*value.shape, str(value.type.dtype.itemsize)]))
    if name == "strides":
        items = [Value(WEAK_INT, s) for s in emit.strides_of(value)]
        return Value(TupleType((WEAK_INT,) * len(items)), items=items)
    if name == "T":
        t = ArrayType(value.type.item_dtype, value.type.ndim, value.type.ndim < 2, value.type.space)
        strides = None if t.contiguous else list(reversed(emit.strides_of(value)))
        if value.type.ndim < 2:
            return value
        return Value(t, value.text, shape=list(reversed(value.shape)), strides=strides)
    if name in _METHODS:
        return constant(fc, Method(name, value), node)
    if name == "flat":
        return _flat(fc, value, node)
    if name in ("real", "imag"):
        return _part(fc, value, name, node)
    hint = "; write a loop over its items" if hasattr(np.ndarray, name) else ""
    raise fc.source.error(f"an array has no {name!r} in kernels{hint}", node)


def _flat(fc: FunctionContext, value: Value, node: ast.AST) -> Value:
    """Handle ``array.flat``: a one-dimensional view if possible, else for loops only."""
    t = value.type
    assert isinstance(t, ArrayType)
    if t.ndim == 1:
        return value
    if not t.contiguous:
        return constant(fc, Method("flat", value), node)
    size = product_text(value.shape)
    return Value(ArrayType(t.item_dtype, 1, True, t.space), value.text, shape=[size])


def _part(fc: FunctionContext, value: Value, name: str, node: ast.AST) -> Value:
    """Handle ``array.real`` and ``array.imag``: views of complex numbers."""
    t = value.type
    assert isinstance(t, ArrayType)
    if t.dtype.kind != "c":
        if name == "real":
            return value
        raise fc.source.error(f"{t} has no imaginary part", node)
    part = np.dtype("f4" if t.dtype.itemsize == 8 else "f8")
    kind = ArrayType(part, t.ndim, False, t.space)
    pointer = f"(({emit.pointer_type(kind)}){value.text})"
    if name == "imag":
        pointer = f"({pointer} + 1)"
    return Value(kind, pointer, shape=value.shape, strides=emit.strides_of(value))


def view_as(fc: FunctionContext, value: Value, dtype: np.dtype[Any], node: ast.AST) -> Value:
    """Handle ``array.view(dtype)``: the same bytes as items of another dtype."""
    t = value.type
    assert isinstance(t, ArrayType)
    old, new = t.dtype.itemsize, dtype.itemsize
    kind = ArrayType(dtype, t.ndim, t.contiguous, t.space)
    shape = list(value.shape)
    if old != new:
        if not t.ndim or not t.contiguous:
            raise fc.source.error(
                f"view(): items of {t} become items of another size only in contiguous arrays "
                "of at least one dimension",
                node,
            )
        last = shape[-1]
        if last.isdigit():
            if int(last) * old % new:
                raise fc.source.error(
                    f"view(): {int(last) * old} bytes are not a multiple of the size of {dtype}",
                    node,
                )
            shape[-1] = str(int(last) * old // new)
        else:
            shape[-1] = f"({last} * {old} / {new})"
    pointer = f"(({emit.pointer_type(kind)}){value.text})"
    if fc.unit.checks and old != new:
        found = ranges.of_operation("multiply", fc.ranges.length_range(last), (old, old))
        fc.ranges.known[shape[-1]] = ranges.of_operation("floor_divide", found, (new, new))
    return Value(kind, pointer, shape=shape, strides=value.strides)


def product_text(texts: Any) -> str:
    """Return the source of the product of lengths."""
    found = list(texts) or ["1"]
    if all(t.isdigit() for t in found):
        result = 1
        for t in found:
            result *= int(t)
        return str(result)
    return found[0] if len(found) == 1 else f"({' * '.join(found)})"
