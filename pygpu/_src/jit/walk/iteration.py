"""What a for loop of a kernel runs over: ranges, arrays, tuples, and enumerate(), zip() and
reversed() of these."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .. import emit
from ..ir import Value
from ..types import WEAK_INT, ArrayType, ObjectType, join
from .index_checks import Checks

__all__ = ["Iteration"]


class Iteration(Checks):
    """Methods of the function compiler; *self* is one."""

    expr: Callable[[ast.expr], Value]
    collection: Callable[[ast.expr], Value]
    assign: Callable[[ast.expr, Value], None]
    keep: Callable[[Value], Value]
    constant: Callable[[Any, ast.AST], Value]
    load: Callable[..., Value]
    item_place: Callable[..., tuple[str, str]]
    slice_view: Callable[..., Value]

    def iteration(self, node: ast.expr) -> tuple[str, Any]:
        """What a for loop runs over: ("range", (start, stop, step)), or ("items", (length,
        function that assigns the item of a number to a target))."""
        if isinstance(node, ast.Call):
            function = self.expr(node.func)
            target = function.const if function.is_object else None
            if target is range or getattr(target, "is_range", False):
                if node.keywords or not 1 <= len(node.args) <= 3:
                    raise self.source.error("range() takes 1 to 3 numbers", node)
                args = [self.expr(a) for a in node.args]
                for value in args:
                    if not value.is_scalar or value.type.dtype.kind not in "iub":  # type: ignore[union-attr]
                        raise self.source.error(f"range() of {value.type}", node)
                zero, one = self.constant(0, node), self.constant(1, node)
                if len(args) == 1:
                    return "range", (zero, args[0], one)
                return "range", (args[0], args[1], args[2] if len(args) == 3 else one)
        return "items", self.iterable(node)

    def iterable(self, node: ast.expr) -> tuple[str, Callable[[str, ast.expr], None]]:
        """The number of items, and what assigns one of them to a target."""
        if isinstance(node, ast.Call):
            found = self.called_iterable(node)
            if found is not None:
                return found
        value = self.collection(node)
        if isinstance(node, ast.Set) and not all(item.is_const for item in value.items):
            raise self.source.error(
                "the order of a set is known only if its items are; use a tuple", node
            )
        if value.is_array and value.type.ndim >= 1:  # type: ignore[union-attr]
            array = self.keep(value)

            def item(counter: str, target: ast.expr) -> None:
                index = Value(WEAK_INT, counter, nonneg=True)
                self.counts(counter, array.shape[0])
                t = array.type
                assert isinstance(t, ArrayType)
                if t.ndim == 1:
                    found = self.load(array, *self.item_place(array, [index], node))
                else:
                    given = [index] + [ast.Slice()] * (t.ndim - 1)
                    found = self.slice_view(array, given, node)
                self.assign(target, found)

            return array.shape[0], item
        if value.is_tuple:
            items = self.keep(value).items  # the loop may change what they are computed from
            common = items[0].type if items else None
            for one in items[1:]:
                common = join(common, one.type)
            if items and (common is None or isinstance(common, ObjectType)):
                raise self.source.error("the items of the tuple have no common type", node)

            def choose(counter: str, target: ast.expr) -> None:
                for k, one in enumerate(items):
                    self.emit(f"{'} else ' if k else ''}if ({counter} == {k}) {{")
                    self.indent += 1  # type: ignore[attr-defined]
                    self.assign(target, one)
                    self.indent -= 1  # type: ignore[attr-defined]
                if items:
                    self.emit("}")

            return str(len(items)), choose
        raise self.source.error(f"a loop over {value.type} is not supported", node)

    def called_iterable(self, node: ast.Call) -> tuple[str, Callable[[str, ast.expr], None]] | None:
        """enumerate(), zip(), reversed(), and range() inside of them; None for other calls."""
        function = self.expr(node.func)
        called = function.const if function.is_object else None
        if called is enumerate and 1 <= len(node.args) + len(node.keywords) <= 2 and node.args:
            return self._enumerated(node)
        if called is zip and node.args and not node.keywords:
            parts = [self.iterable(a) for a in node.args]
            shortest = parts[0][0]
            for length, _ in parts[1:]:
                if length != shortest:
                    shortest = self.stable(f"({length} < {shortest} ? {length} : {shortest})")

            def each(counter: str, where: ast.expr) -> None:
                if not isinstance(where, ast.Tuple) or len(where.elts) != len(parts):
                    raise self.source.error(f"zip() gives {len(parts)} values", where)
                for part, (_, choose_one) in zip(where.elts, parts):
                    choose_one(counter, part)

            return shortest, each
        if called is reversed and len(node.args) == 1 and not node.keywords:
            if isinstance(node.args[0], ast.Set):
                raise self.source.error("a set cannot be reversed", node.args[0])
            length, choose = self.iterable(node.args[0])
            last = self.stable(f"({length} - 1)")
            return length, lambda counter, where: choose(f"({last} - {counter})", where)
        if called is range or getattr(called, "is_range", False):
            _, (start, _stop, step) = self.iteration(node)
            return self._range_as_items(start, _stop, step, node)
        return None

    def _enumerated(self, node: ast.Call) -> tuple[str, Callable[[str, ast.expr], None]]:
        first = node.args[1:] + [k.value for k in node.keywords if k.arg == "start"]
        if node.keywords and not first:
            raise self.source.error("enumerate() takes an iterable and start", node)
        start = self.expr(first[0]) if first else self.constant(0, node)
        if not start.is_scalar or start.type.dtype.kind not in "iu":  # type: ignore[union-attr]
            raise self.source.error(f"enumerate() from {start.type}", node)
        begin = self.stable(emit.convert(start, WEAK_INT))
        length, choose = self.iterable(node.args[0])

        def numbered(counter: str, where: ast.expr) -> None:
            if not isinstance(where, ast.Tuple) or len(where.elts) != 2:
                raise self.source.error("enumerate() gives two values", where)
            text = counter if begin == "0" else f"({begin} + {counter})"
            self.assign(where.elts[0], Value(WEAK_INT, text, nonneg=start.nonneg))
            choose(counter, where.elts[1])

        return length, numbered

    def _range_as_items(
        self, start: Value, stop: Value, step: Value, node: ast.AST
    ) -> tuple[str, Callable[[str, ast.expr], None]]:
        if not step.is_const or step.const == 0:
            raise self.source.error("the step of this range() must be a constant, not 0", node)
        by = int(step.const)
        low = self.stable(emit.convert(start, WEAK_INT))
        high = emit.convert(stop, WEAK_INT)
        far = f"({high} - {low})" if by > 0 else f"({low} - {high})"
        far = self.stable(far)
        length = self.stable(f"({far} > 0 ? ({far} - 1) / {abs(by)} + 1 : 0)")
        up = start.nonneg and by > 0

        def item(counter: str, target: ast.expr) -> None:
            text = f"({low} + {counter} * {by})" if by > 0 else f"({low} - {counter} * {-by})"
            self.assign(target, Value(WEAK_INT, text, nonneg=up))

        return length, item
