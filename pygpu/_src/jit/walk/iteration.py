"""Iterables of a kernel's for loops: ranges, arrays, tuples, and enumerate(), zip() and
reversed() of these."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import emit
from ..ir import Method, Value
from ..types import VOID, WEAK_INT, ArrayType, ObjectType, join
from .assignment import assign
from .attributes import product_text
from .constants import constant
from .context import FunctionContext
from .items import item_address, load, moved
from .sequences import collection
from .slices import slice_view


class Range(NamedTuple):
    """The integers of range(start, stop, step)."""

    start: Value
    stop: Value
    step: Value


class Items(NamedTuple):
    """Any other iterable. length: the source of the number of items. assign: assigns the item with
    a number, a text, to a target."""

    length: str
    assign: Callable[[str, ast.expr], None]


class Unrolled(NamedTuple):
    """The items of a tuple with different types: the loop's body is written once for each."""

    items: list[Value]


def iteration(fc: FunctionContext, node: ast.expr) -> Range | Items | Unrolled:
    """Return the iterable of a for loop."""
    if isinstance(node, ast.Call):
        function = fc.expr(node.func)
        target = function.const if function.is_object else None
        if _is_range(target):
            return _range(fc, node)
        if target is enumerate or target is zip or target is reversed:
            return _iterable(fc, node)
    value = collection(fc, node)
    if value.is_tuple and (not value.items or _common(value.items) is None):
        return Unrolled(list(fc.keep(value).items))
    return _iterable(fc, node, value)


def _common(items: Any) -> Any:
    """Return a common type for all items; None if there is none."""
    common = items[0].type if items else VOID
    for one in items[1:]:
        common = None if common is None else join(common, one.type)
    return None if isinstance(common, ObjectType) else common


def _is_range(called: Any) -> bool:
    return called is range or getattr(called, "is_range", False)


def _range(fc: FunctionContext, node: ast.Call) -> Range:
    if node.keywords or not 1 <= len(node.args) <= 3:
        raise fc.source.error("range() takes 1 to 3 numbers", node)
    args = [fc.expr(a) for a in node.args]
    for value in args:
        if not value.is_scalar or value.dtype.kind not in "iub":
            raise fc.source.error(
                f"range() takes integers, not {value.type}; convert it with int(...)", node
            )
    zero, one = constant(fc, 0, node), constant(fc, 1, node)
    if len(args) == 1:
        return Range(zero, args[0], one)
    return Range(args[0], args[1], args[2] if len(args) == 3 else one)


def _iterable(fc: FunctionContext, node: ast.expr, value: Value | None = None) -> Items:
    if isinstance(node, ast.Call) and value is None:
        found = _called_iterable(fc, node)
        if found is not None:
            return found
    value = collection(fc, node) if value is None else value
    if isinstance(value.const, Method) and value.const.name == "flat":
        return _flat_items(fc, value.const.value)
    if isinstance(node, ast.Set) and not all(item.is_const for item in value.items):
        raise fc.source.error(
            "the order of a set is known only if its items are constant; use a tuple", node
        )
    if isinstance(value.type, ArrayType) and value.type.ndim >= 1:
        array = fc.keep(value)

        def item(counter: str, target: ast.expr) -> None:
            index = Value(WEAK_INT, counter, nonneg=True)
            fc.ranges.counts(counter, array.shape[0])
            t = array.type
            assert isinstance(t, ArrayType)
            if t.ndim == 1:
                found = load(fc, array, *item_address(fc, array, [index], node))
            else:
                given = [index] + [ast.Slice()] * (t.ndim - 1)
                found = slice_view(fc, array, given, node)
            assign(fc, target, found)

        return Items(array.shape[0], item)
    if value.is_tuple:
        items = fc.keep(value).items  # the loop may change their operands
        if _common(items) is None:
            raise fc.source.error("the items of the tuple have no common type", node)

        def choose(counter: str, target: ast.expr) -> None:
            for k, one in enumerate(items):
                fc.emit(f"{'} else ' if k else ''}if ({counter} == {k}) {{")
                fc.indent += 1
                assign(fc, target, one)
                fc.indent -= 1
            if items:
                fc.emit("}")

        return Items(str(len(items)), choose)
    hint = ""
    if value.is_object and isinstance(value.const, (list, set, dict)):
        hint = "; make it a tuple or a NumPy array"
    raise fc.source.error(f"a loop over {value.type} is not supported{hint}", node)


def _flat_items(fc: FunctionContext, value: Value) -> Items:
    """Return the items of an array of several axes that is not contiguous."""
    array = fc.keep(value)
    t = array.type
    assert isinstance(t, ArrayType)

    def item(counter: str, target: ast.expr) -> None:
        offsets = []
        step = ""  # how many items one index of this axis covers
        for n, stride in reversed([*zip(array.shape, emit.strides_of(array))]):
            offsets.append(f"({counter}{step} % {n}) * {stride}")
            step += f" / {n}"
        pointer = moved(t, array.text, " + ".join(offsets))
        assign(fc, target, load(fc, array, pointer, "0"))

    return Items(fc.stable(product_text(array.shape)), item)


def _called_iterable(fc: FunctionContext, node: ast.Call) -> Items | None:
    """Handle enumerate(), zip(), reversed(), and range() inside them; None for other calls."""
    function = fc.expr(node.func)
    called = function.const if function.is_object else None
    if called is enumerate and 1 <= len(node.args) + len(node.keywords) <= 2 and node.args:
        return _enumerated(fc, node)
    if called is zip and node.args and not node.keywords:
        parts = [_iterable(fc, a) for a in node.args]
        shortest = parts[0][0]
        for length, _ in parts[1:]:
            if length != shortest:
                shortest = fc.stable(f"({length} < {shortest} ? {length} : {shortest})")

        def each(counter: str, where: ast.expr) -> None:
            if not isinstance(where, ast.Tuple) or len(where.elts) != len(parts):
                raise fc.source.error(f"zip() yields {len(parts)} values", where)
            for part, (_, choose_one) in zip(where.elts, parts):
                choose_one(counter, part)

        return Items(shortest, each)
    if called is reversed and len(node.args) == 1 and not node.keywords:
        if isinstance(node.args[0], ast.Set):
            raise fc.source.error("a set cannot be reversed", node.args[0])
        length, choose = _iterable(fc, node.args[0])
        last = fc.stable(f"({length} - 1)")
        return Items(length, lambda counter, where: choose(f"({last} - {counter})", where))
    if _is_range(called):
        return _range_as_items(fc, _range(fc, node), node)
    return None


def _enumerated(fc: FunctionContext, node: ast.Call) -> Items:
    first = node.args[1:] + [k.value for k in node.keywords if k.arg == "start"]
    if node.keywords and not first:
        raise fc.source.error("enumerate() takes an iterable and start", node)
    start = fc.expr(first[0]) if first else constant(fc, 0, node)
    if not start.is_scalar or start.dtype.kind not in "iu":
        raise fc.source.error(f"enumerate(): start must be an integer, not {start.type}", node)
    begin = fc.stable(emit.convert(start, WEAK_INT))
    length, choose = _iterable(fc, node.args[0])

    def numbered(counter: str, where: ast.expr) -> None:
        if not isinstance(where, ast.Tuple) or len(where.elts) != 2:
            raise fc.source.error("enumerate() yields two values", where)
        text = counter if begin == "0" else f"({begin} + {counter})"
        assign(fc, where.elts[0], Value(WEAK_INT, text, nonneg=start.nonneg))
        choose(counter, where.elts[1])

    return Items(length, numbered)


def _range_as_items(fc: FunctionContext, counted: Range, node: ast.AST) -> Items:
    start, stop, step = counted
    if not step.is_const or step.const == 0:
        raise fc.source.error("the step of this range() must be a constant, not 0", node)
    by = int(step.const)
    low = fc.stable(emit.convert(start, WEAK_INT))
    high = emit.convert(stop, WEAK_INT)
    far = f"({high} - {low})" if by > 0 else f"({low} - {high})"
    far = fc.stable(far)
    length = fc.stable(f"({far} > 0 ? ({far} - 1) / {abs(by)} + 1 : 0)")
    up = start.nonneg and by > 0

    def item(counter: str, target: ast.expr) -> None:
        text = f"({low} + {counter} * {by})" if by > 0 else f"({low} - {counter} * {-by})"
        assign(fc, target, Value(WEAK_INT, text, nonneg=up))

    return Items(length, item)
