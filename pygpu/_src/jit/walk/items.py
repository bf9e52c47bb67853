"""Items of arrays: their addresses, and loads."""

from __future__ import annotations

import ast

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Value
from ..types import WEAK_INT, ArrayType
from .context import FunctionContext
from .index_checks import Checked, checked_index, checked_load, flat_index, is_proven, site_of
from .records import record_at


def length_value(text: str) -> Value:
    if text.isdigit():
        return Value(WEAK_INT, text, const=int(text), nonneg=True)
    return Value(WEAK_INT, text, nonneg=True)


def index_text(fc: FunctionContext, value: Value, n: str, node: ast.AST) -> str:
    """Return an index as a nonnegative pg_i64, for an axis of length *n*."""
    if not value.is_scalar or value.dtype.kind not in "iu":
        if value.is_scalar and value.dtype.kind == "b":
            raise fc.source.error("a bool is not an index in kernels; use int()", node)
        raise fc.source.error(f"an index must be an integer, not {value.type}", node)
    if value.is_const:
        i = int(value.const)
        if n.isdigit() and not -int(n) <= i < int(n):
            raise fc.source.error(f"index {i} is out of bounds for length {n}", node)
        return str(i) if i >= 0 else str(int(n) + i) if n.isdigit() else f"({n} - {-i})"
    text = emit.convert(value, WEAK_INT)
    if value.nonneg or value.dtype.kind == "u":
        return text
    return f"{fc.unit.helper('pg_wrap')}({text}, {n})"


def load(fc: FunctionContext, value: Value, pointer: str, index: str) -> Value:
    """Return the item at an index."""
    assert isinstance(value.type, ArrayType)
    dtype = value.type.dtype
    fc.unit.need(dtype)
    if not dtypes.is_numeric(dtype):
        return record_at(fc, value.type, pointer, index)
    if isinstance(index, Checked):
        text = checked_load(fc, value.type, pointer, index)
    else:
        text = dtypes.load(dtype, pointer, index)
    return Value(value.type.item_type, text, nonneg=dtype.kind in "bu")


def item_address(
    fc: FunctionContext, value: Value, given: list[Value], node: ast.AST
) -> tuple[str, str]:
    t = value.type
    assert isinstance(t, ArrayType)
    texts = [index_text(fc, g, n, node) for g, n in zip(given, value.shape)]
    if not texts:
        return value.text, "0"
    if fc.unit.checks:
        checked = [
            check_axis(fc, g, n, node, i, t.ndim)
            for i, (g, n) in enumerate(zip(given, value.shape))
        ]
        if any(checked):
            return value.text, flat_index(fc, t, [c or i for c, i in zip(checked, texts)], value)
    if t.contiguous:
        text = texts[0]
        for i, n in zip(texts[1:], value.shape[1:]):
            text = f"({text} * {n} + {i})"
        return value.text, text
    offset = " + ".join(f"{i} * {s}" for i, s in zip(texts, emit.strides_of(value)))
    return moved(t, value.text, offset), "0"


def check_axis(
    fc: FunctionContext, value: Value, n: str, node: ast.AST, axis: int, ndim: int
) -> str | None:
    """Return the source of an index that the kernel must check; None for others."""
    site = site_of(fc, node, axis, ndim)
    return None if is_proven(fc, value, n, site) else checked_index(fc, value, n, site)


def moved(t: ArrayType, pointer: str, offset: str) -> str:
    """Return the pointer plus *offset* bytes."""
    kind = emit.pointer_type(t)
    char = kind.replace(dtypes.storage_type(t.dtype), "char")
    return f"(({kind})(({char}){pointer} + ({offset})))"
