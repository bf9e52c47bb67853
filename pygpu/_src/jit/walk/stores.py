"""Stores to arrays: an item, all items of a view, the outputs of a ufunc."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Value
from ..types import VOID, WEAK_INT, ArrayType, RecordType, Scalar
from .constants import constant
from .context import FunctionContext
from .date_operations import as_stored
from .index_checks import Checked, item_source
from .items import item_address, load
from .operators import call_ufunc
from .records import store_record


def writable(fc: FunctionContext, array: Value, node: ast.AST) -> None:
    """Refuse an array, or a record, that is part of the program."""
    if isinstance(array.type, (ArrayType, RecordType)) and array.type.space == "constant":
        raise fc.source.error("a constant array cannot be written", node)


def store(
    fc: FunctionContext, array: Value, pointer: str, index: str, value: Value, node: ast.AST
) -> None:
    assert isinstance(array.type, ArrayType)
    if value.type == VOID:
        raise fc.source.error("None cannot be stored: the function returns nothing", node)
    if isinstance(index, Checked):
        value = finished(fc, value)
        inside, end = only_inside(fc, array.type, pointer, index)
        store(fc, array, *inside, value, node)
        end()
        return
    if not dtypes.is_numeric(array.type.dtype):
        store_record(fc, array.type, pointer, index, value, node)
        return
    if array.type.date is not None or value.is_date:
        text = as_stored(fc, array.type.date, value, node)
        fc.emit(f"{pointer}[{index}] = {emit.strip_parentheses(text)};")
        return
    value = fc.as_number(value, node, "a number")
    assert isinstance(value.type, Scalar)
    dtype, of = array.type.dtype, value.type.dtype
    if of.kind == "c" and dtype.kind != "c":
        raise fc.source.error(f"a complex number cannot be stored in {dtype}", node)
    if value.is_const:
        try:
            text, of = emit.convert(value, Scalar(dtype)), dtype
        except OverflowError as error:
            raise fc.source.error(str(error), node) from None
    else:
        text = value.text
    fc.unit.need(dtype, of)
    fc.emit(dtypes.store(dtype, pointer, index, emit.strip_parentheses(text), of))


def finished(fc: FunctionContext, value: Value) -> Value:
    """Return a value whose source calls no function that may wait for other threads."""
    return fc.keep(value) if isinstance(value.type, Scalar) and "pgf_" in value.text else value


def only_inside(
    fc: FunctionContext, t: ArrayType, pointer: str, index: Checked
) -> tuple[tuple[str, str], Callable[[], None]]:
    """Begin statements that run only if an index is in bounds; return what ends them."""
    at = fc.stable(index)
    fc.emit(f"if (!({index.outside(at)})) {{")
    fc.indent += 1

    def end() -> None:
        fc.indent -= 1
        fc.emit("}")

    return item_source(t, pointer, at, index.strided), end


def check_broadcast(fc: FunctionContext, view: Value, value: Value, node: ast.AST) -> None:
    """Refuse what is neither a number nor an array with at most the axes of the view."""
    if isinstance(value.type, Scalar):
        return
    assert isinstance(view.type, ArrayType)
    if not isinstance(value.type, ArrayType) or value.type.ndim > view.type.ndim:
        raise fc.source.error(f"{value.type} cannot be assigned to {view.type}", node)


def fill(fc: FunctionContext, view: Value, value: Value, node: ast.AST) -> None:
    """Set all items of a view: to a number, or to those of another array, which is broadcast."""
    check_broadcast(fc, view, value, node)
    other = fc.keep(value)

    def set_item(view: Value, at: Any) -> None:
        pointer, index = at([])
        item = load(fc, other, *at([other])) if other.is_array else other
        store(fc, view, pointer, index, item, node)

    source = ast.Name(f"what {ast.unparse(node)} is set to", ast.Load())
    loop_over(fc, fc.keep(view), set_item, ast.copy_location(source, node))


def ufunc_of_arrays(
    fc: FunctionContext, node: ast.AST, name: str, inputs: list[Value], outs: list[Value]
) -> None:
    """Handle NumPy's ufuncs of arrays with outputs: ``np.sin(a, b)`` sets all items of b."""
    if not all(v.is_array for v in outs):
        raise fc.source.error(f"the outputs of numpy.{name}() must be arrays", node)
    for out in outs:
        writable(fc, out, node)
        for value in (*inputs, *outs):
            check_broadcast(fc, out, value, node)
    kept = [fc.keep(v) for v in (*inputs, *outs)]

    def body(view: Value, at: Any) -> None:
        items = [load(fc, v, *at([v])) if v.is_array else v for v in kept[: len(inputs)]]
        found = call_ufunc(fc, node, name, items)
        for out, value in zip(kept[len(inputs) :], map(fc.keep, found)):
            pointer, index = at([out])
            store(fc, out, pointer, index, value, node)

    loop_over(fc, kept[len(inputs)], body, node)


def loop_over(
    fc: FunctionContext,
    view: Value,
    body: Callable[[Value, Any], None],
    node: ast.AST | None = None,
) -> None:
    """Write loops over all items of a view; body gets the view and a function that returns places
    in it, or in another array."""
    counters = []
    zero = constant(fc, 0, node or fc.source.node)
    for n in view.shape:
        counter = fc.counter()
        counters.append(Value(WEAK_INT, counter, nonneg=True))
        fc.emit(f"for (pg_i64 {counter} = 0; {counter} < {n}; {counter}++) {{")
        fc.ranges.counts(counter, n)
        fc.indent += 1

    def at(other: list[Value]) -> tuple[str, str]:
        array = other[0] if other else view
        indices = counters[len(counters) - len(array.shape) :]
        if other:
            indices = [zero if n == "1" else i for n, i in zip(array.shape, indices)]
        return item_address(fc, array, indices, node or fc.source.node)

    body(view, at)
    for _ in view.shape:
        fc.indent -= 1
        fc.emit("}")
